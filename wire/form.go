package wire

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"parley/value"
	"strings"
	"time"
)

// formMemory is how much of an upload is kept in memory; the rest goes to temporary files.
const formMemory = 1 << 20

// readForm turns a multipart body into an object. Names such as links[0][link] and columns[] make arrays and objects.
func readForm(r *http.Request) (value.Value, error) {
	if err := r.ParseMultipartForm(formMemory); err != nil {
		if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return value.Value{}, big
		}
		return value.Value{}, value.ErrNotJSON
	}
	body := value.Value{Kind: value.KindObject}
	for name, values := range r.MultipartForm.Value {
		for _, v := range values {
			body.Plant(name, value.Text(v))
		}
	}
	for name, files := range r.MultipartForm.File {
		for _, h := range files {
			f := value.File{Name: h.Filename, ContentType: h.Header.Get("Content-Type"), Size: h.Size, Header: h}
			body.Plant(name, value.Value{Kind: value.KindFile, Digits: h.Filename, File: &f})
		}
	}
	return body, nil
}

// readQuery turns a query string into an object. A blank before a digit is an unencoded plus sign.
func readQuery(raw string) value.Value {
	q := value.Value{Kind: value.KindObject}
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
		q.Plant(name, value.Text(strings.ToValidUTF8(text, "\uFFFD")))
	}
	return q
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
func readBody(w http.ResponseWriter, r *http.Request, multipartToo bool) (value.Value, error) {
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
		return value.Value{}, errTooLarge
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
		return bodyFault(value.Value{}, err)
	}
	isJSON := kind == "" || kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
	if !isJSON && len(raw) > 0 {
		return value.Value{}, errContentType
	}
	return bodyFault(value.ParseObject(raw))
}
