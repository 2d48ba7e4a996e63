package value

// Binding is a type that reads itself from the input, for inputs whose form depends on their content.
// It reports what is wrong through b and must cope with every Value.
type Binding interface {
	Bind(b Binder, v Value)
}

// Binder reports on, and reads below, one place of the input.
type Binder interface {
	// Key is the dotted key of this place.
	Key() string
	// At is the place one key or index below.
	At(key string) Binder
	// Fail reports a failed rule of the table of sentences at this place.
	Fail(rule string, args ...string)
	// Say reports a sentence of the room's own at this place.
	Say(sentence string)
	// Failed reports whether an error stands at this place or below it.
	Failed() bool
	// Read fills dst, a pointer to a struct with the tags of an input, from the object v.
	Read(v Value, dst any)
	// Lookup finds a key of v under its own or a vendor's spelling, with white space trimmed.
	Lookup(v Value, key string) (Value, bool)
}

// Unknown in an input struct receives what stands at the top level of the body and the struct does not know.
type Unknown []Member

// Variant is one form of an element of a list whose "type" says which fields it has.
type Variant struct {
	Name   string // the value of "type"
	Fields any    // a pointer to the struct of the other fields
}
