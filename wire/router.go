package wire

import (
	"net/url"
	"slices"
	"strings"
)

// router finds routes by path segments. A fixed segment is tried before a {wildcard}; where the fixed spelling is a
// path of its own, it alone says which methods the path has.
type router struct {
	fixed map[string]*router
	any   *router
	ends  map[string]endpoint // by method
}

type endpoint struct {
	route *Route
	names []string // of the wildcards, in order
}

func (n *router) add(method, path string, route *Route) {
	var names []string
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
			if n.any == nil {
				n.any = &router{}
			}
			n = n.any
			continue
		}
		if n.fixed == nil {
			n.fixed = map[string]*router{}
		}
		if n.fixed[part] == nil {
			n.fixed[part] = &router{}
		}
		n = n.fixed[part]
	}
	if n.ends == nil {
		n.ends = map[string]endpoint{}
	}
	if _, taken := n.ends[method]; taken {
		panic("wire: two routes for " + method + " " + path)
	}
	n.ends[method] = endpoint{route, names}
}

// match finds the route for a method; without one it tells which methods the path has.
func (n *router) match(method string, parts, values []string, methods *[]string) (*Route, map[string]string) {
	if len(parts) == 0 {
		for m := range n.ends {
			*methods = append(*methods, m)
		}
		end, ok := n.ends[method]
		if !ok {
			return nil, nil
		}
		path := make(map[string]string, len(values))
		for i, name := range end.names {
			path[name] = values[i]
		}
		return end.route, path
	}
	if next := n.fixed[parts[0]]; next != nil {
		if r, path := next.match(method, parts[1:], values, methods); r != nil || len(*methods) > 0 {
			return r, path
		}
	}
	if n.any != nil {
		return n.any.match(method, parts[1:], append(slices.Clip(values), parts[0]), methods)
	}
	return nil, nil
}

// segments splits an escaped path; one trailing slash is tolerated.
func segments(escaped string) []string {
	path := strings.TrimSuffix(strings.TrimPrefix(escaped, "/"), "/")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if s, err := url.PathUnescape(p); err == nil {
			parts[i] = s
		}
	}
	return parts
}

var methodOrder = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}

// supported lists methods in their usual order, HEAD beside GET.
func supported(methods []string) string {
	if slices.Contains(methods, "GET") {
		methods = append(methods, "HEAD")
	}
	slices.SortFunc(methods, func(a, b string) int {
		return slices.Index(methodOrder, a) - slices.Index(methodOrder, b)
	})
	return strings.Join(slices.Compact(methods), ", ")
}
