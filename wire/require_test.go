package wire

import (
	"context"
	"parley/value"
	"testing"
)

type madeIn struct {
	Name value.Opt[string]    `json:"name" rule:"max=5"`
	Tone string               `json:"tone" rule:"null=default" default:"calm"`
	Self value.Opt[value.Ref] `json:"self_id"`
}

func TestRequireAndNullDefault(t *testing.T) {
	var got *madeIn
	keep := func(_ context.Context, in *madeIn) (madeIn, error) { got = in; return *in, nil }
	send := testServer(t, Config{}, On(plain, "POST /things", 201, keep, Keyless(), Require("name")), On(plain, "PUT /things", 200, keep, Keyless()))
	for _, c := range []struct{ req, want string }{
		{"POST /api/things\n{}", `{"message":"The name field is required.","errors":{"name":["The name field is required."]}}`},
		{"POST /api/things\n{\"name\":\" \"}", `{"message":"The name field is required.","errors":{"name":["The name field is required."]}}`},
		{"PUT /api/things\n{\"name\":null}", `{"message":"The name field must be a string.","errors":{"name":["The name field must be a string."]}}`},
		{"PUT /api/things\n{\"tone\":null,\"self_id\":\"5D1C3C1E-1111-4A8F-9C43-9A3A3F0F2D11\"}", `{"name":null,"tone":"calm","self_id":"5d1c3c1e-1111-4a8f-9c43-9a3a3f0f2d11"}`},
		{"PUT /api/things\n{\"tone\":\"\",\"self_id\":\"12\"}", `{"name":null,"tone":"calm","self_id":12}`},
	} {
		if _, body, _ := send(c.req); body != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.req, body, c.want)
		}
	}
	if got.Name.Set {
		t.Error("a field that was left out is set")
	}
}
