package value

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Marshal writes an answer: compact, no HTML escapes, nil slices as [] and nil maps as {}.
// Everything else is as encoding/json does it.
func Marshal(v any) ([]byte, error) {
	return json.Marshal(v, marshalling)
}

// Unmarshal reads a document of ours, such as [Marshal] wrote. Everything is as encoding/json does it.
func Unmarshal(b []byte, v any) error {
	return json.Unmarshal(b, v, unmarshalling)
}

// The wording of errors is the newer one: the older reads every value twice for it.
var unmarshalling = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))

var marshalling = json.JoinOptions(jsonv1.DefaultOptionsV1(),
	json.FormatNilSliceAsNull(false), json.FormatNilMapAsNull(false), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false),
	json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, n stdjson.Number) error {
		return e.WriteValue(jsontext.Value(n))
	})))
