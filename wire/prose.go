package wire

// Fields are the words of parameters and fields that do not say themselves what they are, by name, or by record.name
// where a name means something else in one record: a schema of the document, or an operation for its parameters and body.
type Fields map[string]string

func (f Fields) of(record, name string) string {
	if words, ok := f[record+"."+name]; ok {
		return words
	}
	return f[name]
}

// describe puts words to everything of a document that has none.
func (f Fields) describe(doc object) {
	for _, path := range at(doc, "paths") {
		for _, op := range path.(object) {
			op := op.(object)
			record, _ := op["operationId"].(string)
			params, _ := op["parameters"].([]any)
			for _, p := range params {
				f.put(record, p.(object)["name"].(string), p)
			}
			for _, content := range at(at(op, "requestBody"), "content") {
				f.schema(record, content.(object)["schema"])
			}
		}
	}
	for name, schema := range at(at(doc, "components"), "schemas") {
		f.schema(name, schema)
	}
}

func at(o object, key string) object {
	in, _ := o[key].(object)
	return in
}

// schema describes the properties of a schema and of those inside it.
func (f Fields) schema(record string, schema any) {
	o, ok := schema.(object)
	if !ok {
		return
	}
	for name, property := range at(o, "properties") {
		f.put(record, name, property)
		f.schema(record, property)
	}
	for _, key := range []string{"items", "additionalProperties"} {
		f.schema(record, o[key])
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		some, _ := o[key].([]any)
		for _, s := range some {
			f.schema(record, s)
		}
	}
}

func (f Fields) put(record, name string, property any) {
	if o := property.(object); o["description"] == nil {
		if words := f.of(record, name); words != "" {
			o["description"] = words
		}
	}
}
