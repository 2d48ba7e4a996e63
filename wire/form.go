package wire

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"parley/fault"
	"parley/value"
)

// mostQuery bounds a query string, in bytes.
const mostQuery = 8 << 10

// readQuery turns a query string into an object. A blank before a digit is an unencoded plus sign.
func readQuery(raw string) (value.Value, error) {
	if len(raw) > mostQuery {
		return value.Value{}, fault.Input(fault.Own("query", fmt.Sprintf("The query string must not be longer than %d bytes.", mostQuery)))
	}
	var form value.Form
	for pair := range strings.SplitSeq(raw, "&") {
		k, v, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(k)
		if err != nil || name == "" {
			continue
		}
		place, err := form.At(name)
		if err != nil {
			return value.Value{}, err
		}
		place.Put(value.Text(queryText(v)))
	}
	return form.Object(), nil
}

func queryText(raw string) string {
	text, err := url.QueryUnescape(raw)
	if err != nil {
		text = raw
	}
	if len(text) > 1 && text[0] == ' ' && text[1] >= '0' && text[1] <= '9' {
		text = "+" + text[1:]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// size of the upload request, JSON and multipart.
const (
	maxJSON = 1 << 20
	maxForm = 22 << 20
)

// readBody takes a JSON or multipart body by its content type and says what is wrong with it as a fault.
func (x *exchange) readBody() (value.Value, error) {
	kind, _, _ := strings.Cut(x.r.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	isForm := kind == "multipart/form-data"
	limit := int64(maxJSON)
	if isForm {
		limit = maxForm
	}
	if x.r.ContentLength > limit {
		return value.Value{}, errTooLarge
	}
	body := http.MaxBytesReader(x.w, x.r.Body, limit)
	if isForm && x.route.multipart {
		return bodyFault(x.readUpload(body))
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return bodyFault(value.Value{}, err)
	}
	isJSON := kind == "" || kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
	if !isJSON && len(raw) > 0 {
		return value.Value{}, errContentType
	}
	return bodyFault(value.ParseObject(raw))
}

// readUpload reads a multipart body. Its files live as long as the exchange.
func (x *exchange) readUpload(body io.ReadCloser) (value.Value, error) {
	from := &heading{ReadCloser: body}
	x.r.Body = from
	parts, err := x.r.MultipartReader()
	if err != nil {
		return value.Value{}, err
	}
	form, err := readForm(parts, from, &x.files)
	if err == nil {
		_, err = io.Copy(io.Discard, body) // what stands behind the last part
	}
	return form, err
}
