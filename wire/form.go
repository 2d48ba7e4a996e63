package wire

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// File is an uploaded file. It may be opened several times while the request runs and is gone afterwards.
type File struct {
	Name        string // as the client called it, without folders
	ContentType string // as the client claims
	Size        int64  // bytes
	header      *multipart.FileHeader
}

// Sent reports whether a file arrived.
func (f File) Sent() bool { return f.header != nil }

// Open starts reading the file.
func (f File) Open() (multipart.File, error) { return f.header.Open() }

// formMemory is how much of an upload is kept in memory; the rest goes to temporary files.
const formMemory = 1 << 20

// readForm turns a multipart body into an object. Names such as links[0][link] and columns[] make arrays and objects.
func readForm(r *http.Request) (Value, error) {
	if err := r.ParseMultipartForm(formMemory); err != nil {
		if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return Value{}, big
		}
		return Value{}, errNotJSON
	}
	body := Value{kind: isObject}
	for name, values := range r.MultipartForm.Value {
		for _, v := range values {
			body.plant(name, Text(v))
		}
	}
	for name, files := range r.MultipartForm.File {
		for _, h := range files {
			f := File{Name: h.Filename, ContentType: h.Header.Get("Content-Type"), Size: h.Size, header: h}
			body.plant(name, Value{kind: isFile, text: h.Filename, file: &f})
		}
	}
	return body, nil
}

// readQuery turns a query string into an object. A blank before a digit is an unencoded plus sign.
func readQuery(raw string) Value {
	q := Value{kind: isObject}
	for pair := range strings.SplitSeq(raw, "&") {
		k, v, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(k)
		if err != nil || name == "" {
			continue
		}
		text, err := url.QueryUnescape(v)
		if err != nil {
			text = v
		}
		if len(text) > 1 && text[0] == ' ' && text[1] >= '0' && text[1] <= '9' {
			text = "+" + text[1:]
		}
		q.plant(name, Text(strings.ToValidUTF8(text, "\uFFFD")))
	}
	return q
}

// plant sets the value that a bracketed name points to; of a repeated plain name the last value counts.
func (v *Value) plant(name string, item Value) {
	head, rest, bracketed := strings.Cut(name, "[")
	if !bracketed || head == "" || !strings.HasSuffix(rest, "]") {
		v.put(name, item, nil)
		return
	}
	at := v.below(head)
	for part := range strings.SplitSeq(strings.TrimSuffix(rest, "]"), "][") {
		if part == "" {
			part = strconv.Itoa(len(at.members) + len(at.items))
		}
		at = at.below(part)
	}
	*at = item
	v.settle(head)
}

// below finds or makes the value under key, turning v into an object of its elements when it is an array.
func (v *Value) below(key string) *Value {
	if v.kind == isArray {
		members := make([]Member, len(v.items))
		for i, item := range v.items {
			members[i] = Member{strconv.Itoa(i), item}
		}
		*v = Value{members: members}
	}
	v.kind = isObject
	if _, ok := v.Get(key); !ok {
		v.members = append(v.members, Member{Key: key})
	}
	for i := range v.members {
		if v.members[i].Key == key {
			return &v.members[i].Value
		}
	}
	return nil
}

// settle turns objects with the keys 0, 1, 2 … below key back into arrays.
func (v *Value) settle(key string) {
	for i := range v.members {
		if v.members[i].Key == key {
			v.members[i].Value = v.members[i].Value.listed()
		}
	}
}

// listed is an array when the keys are 0, 1, 2 …, in whatever order the fields came.
func (v Value) listed() Value {
	if v.kind != isObject {
		return v
	}
	items := make([]Value, len(v.members))
	isList := len(items) > 0
	for i := range v.members {
		m := &v.members[i]
		m.Value = m.Value.listed()
		at, err := strconv.Atoi(m.Key)
		if err != nil || at < 0 || at >= len(items) || strconv.Itoa(at) != m.Key {
			isList = false
			continue
		}
		items[at] = m.Value
	}
	if isList {
		return Value{kind: isArray, items: items}
	}
	return v
}

// bodyTime is how long a client may take to send a body.
const bodyTime = 2 * time.Minute

// size of the upload request, JSON and multipart.
const (
	maxJSON = 1 << 20
	maxForm = 22 << 20
)

// drain reads what a client still sends, up to a bound: most clients look for an answer only after their last byte.
func drain(body io.Reader) {
	_, _ = io.CopyN(io.Discard, body, 4*maxForm) // the refusal stands, however much arrives
}

// readBody takes a JSON or multipart body by its content type and says what is wrong with it as a fault.
func readBody(w http.ResponseWriter, r *http.Request, multipartToo bool) (Value, error) {
	kind := strings.ToLower(strings.TrimSpace(strings.Split(r.Header.Get("Content-Type"), ";")[0]))
	isForm := kind == "multipart/form-data"
	limit := int64(maxJSON)
	if isForm {
		limit = maxForm
	}
	whole := r.Body
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTime)) // not every connection has deadlines
	defer rc.SetReadDeadline(time.Time{})            // the answer may take longer
	if r.ContentLength > limit {
		drain(whole)
		return Value{}, errTooLarge
	}
	r.Body = http.MaxBytesReader(w, whole, limit)
	if isForm && multipartToo {
		v, err := bodyFault(readForm(r))
		if errors.Is(err, errTooLarge) {
			drain(whole)
		}
		return v, err
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		drain(whole)
		return bodyFault(Value{}, err)
	}
	isJSON := kind == "" || kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
	if !isJSON && len(raw) > 0 {
		return Value{}, errContentType
	}
	return bodyFault(parseObject(raw))
}
