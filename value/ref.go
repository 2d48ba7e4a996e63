package value

import "strconv"

// Ref names a resource by its id or its uuid. The zero Ref names nothing.
type Ref struct {
	ID   int64
	UUID string
}

// MarshalJSON writes the id, or without one the uuid; the zero Ref is null.
func (r Ref) MarshalJSON() ([]byte, error) {
	switch {
	case r.ID != 0:
		return strconv.AppendInt(nil, r.ID, 10), nil
	case r.UUID != "":
		return []byte(`"` + r.UUID + `"`), nil
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Ref) UnmarshalJSON(b []byte) error {
	v, err := Parse(b)
	if err != nil {
		return err
	}
	*r, _ = v.Ref()
	return nil
}
