package api

import (
	"encoding/base64"
	"encoding/json"

	"parley/wire"
)

// cursor writes a place in a list in a form that clients only carry around.
func cursor(place any) string {
	b, err := json.Marshal(place)
	if err != nil {
		panic(err) // places are a few numbers
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// place reads a cursor; an empty one is the start of the list.
func place[T any](c string) (at T, err error) {
	if c == "" {
		return at, nil
	}
	b, bad := base64.RawURLEncoding.DecodeString(c)
	if bad == nil && len(c) <= 512 {
		bad = json.Unmarshal(b, &at)
	}
	if bad != nil || len(c) > 512 {
		return at, wire.Invalid(wire.Bad("cursor", "in"))
	}
	return at, nil
}
