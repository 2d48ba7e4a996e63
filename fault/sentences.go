package fault

import (
	"fmt"
	"strconv"
	"strings"
)

// sentences by rule; :f is the field, :a and :b the rule's arguments.
var sentences = map[string]string{
	"required":         "The :f field is required.",
	"required_if":      "The :f field is required when :a is :b.",
	"required_without": "The :f field is required when :a is not present.",
	"string":           "The :f field must be a string.",
	"integer":          "The :f field must be an integer.",
	"number":           "The :f field must be a number.",
	"boolean":          "The :f field must be true or false.",
	"array":            "The :f field must be an array.",
	"max.string":       "The :f field must not be greater than :a characters.",
	"max.number":       "The :f field must not be greater than :a.",
	"max.items":        "The :f field must not have more than :a items.",
	"max.file":         "The :f field must not be greater than :a kilobytes.",
	"min.string":       "The :f field must be at least :a characters.",
	"min.number":       "The :f field must be at least :a.",
	"min.items":        "The :f field must have at least :a items.",
	"between.string":   "The :f field must be between :a and :b characters.",
	"between.number":   "The :f field must be between :a and :b.",
	"in":               "The selected :f is invalid.",
	"url":              "The :f field must be a valid URL.",
	"private":          "The :f field must not point to a private or local address.",
	"email":            "The :f field must be a valid email address.",
	"uuid":             "The :f field must be a valid UUID.",
	"ip":               "The :f field must be a valid IP address.",
	"e164":             "The :f field must be a valid E.164 phone number.",
	"distinct":         "The :f field has a duplicate value.",
	"date":             "The :f field must match the format Y-m-d.",
	"clock":            "The :f field must match the format H:i.",
	"timezone":         "The :f field must be a valid timezone.",
	"pattern":          "The :f field format is invalid.",
	"taken":            "The :f has already been taken.",
	"file":             "The :f field must be a file.",
	"file.type":        "The :f field must be a file of type: :a.",
	"different":        "The :f field and :a must be different.",
	"scalar":           "The :f field must be a string, number or boolean.",
}

// Failure is one failed rule before it is put into words.
type Failure struct {
	Key  string // dotted key as the customer wrote it
	Rule string // key of the table of sentences
	A, B string // the rule's arguments
	Own  string // a sentence of the field's own, instead of the table's
}

// Sentence words a failure as the user routes do.
func Sentence(f Failure) string {
	if f.Own != "" {
		return f.Own
	}
	a := f.A
	if f.Rule == "required_if" || f.Rule == "required_without" || f.Rule == "different" {
		a = Spoken(a)
	}
	return fill(sentences[f.Rule], Spoken(f.Key), a, f.B)
}

// Terse words a failure with the bare field name, without article and full stop.
func Terse(f Failure) string {
	switch {
	case f.Own != "":
		return f.Own
	case f.Rule == "in" && f.A != "":
		return f.Key + " must be one of: " + f.A
	case f.Rule == "in":
		return f.Key + " is invalid"
	}
	text := strings.TrimSuffix(strings.TrimPrefix(sentences[f.Rule], "The "), ".")
	return fill(strings.Replace(text, ":f field", ":f", 1), f.Key, f.A, f.B)
}

func fill(text, f, a, b string) string {
	return strings.NewReplacer(":f", f, ":a", a, ":b", b).Replace(text)
}

// Spoken is a field name inside a sentence: blanks for underscores, except below an array index.
func Spoken(key string) string {
	for part := range strings.SplitSeq(key, ".") {
		if _, err := strconv.Atoi(part); err == nil {
			return key
		}
	}
	return strings.ReplaceAll(key, "_", " ")
}

// Bad is a validation error of a rule that only the room can check, in the words of the table:
// Bad("phone_number_id", "in") or Bad("name", "taken").
func Bad(key, rule string, args ...string) Field {
	f := Failure{Key: key, Rule: rule}
	if _, known := sentences[rule]; !known {
		panic(fmt.Sprintf("fault: no sentence for rule %q", rule))
	}
	if len(args) > 0 {
		f.A = args[0]
	}
	if len(args) > 1 {
		f.B = args[1]
	}
	return Field{Name: key, Sentence: Sentence(f)}
}

// Own is a validation error in a sentence of its own; :f in it is the field's name.
func Own(key, sentence string) Field {
	return Field{Name: key, Sentence: strings.ReplaceAll(sentence, ":f", Spoken(key))}
}

// Input is the answer to validation errors, nil when there are none.
func Input(fields ...Field) error {
	if len(fields) == 0 {
		return nil
	}
	return &Fault{Kind: Invalid, Fields: fields}
}
