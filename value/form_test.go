package value

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/fault"
)

// TestForm puts fields in place by their names, in whatever order they come.
//
// Contract: 1.4 8.4
func TestForm(t *testing.T) {
	for names, want := range map[string]string{
		"a=1 a=2 b=3":                         `{"a":"2","b":"3"}`,
		"a[]=1 a[]=2":                         `{"a":["1","2"]}`,
		"a[1]=1 a[0]=2":                       `{"a":["2","1"]}`,
		"a[1]=1 a[]=2":                        `{"a":{"1":"2"}}`,
		"a[0]=1 a[00]=2":                      `{"a":{"0":"1","00":"2"}}`,
		"a[x]=1 a[y][z]=2 a[x]=3":             `{"a":{"x":"3","y":{"z":"2"}}}`,
		"a=1 a[b]=2":                          `{"a":{"b":"2"}}`,
		"a[b]=1 a=2":                          `{"a":"2"}`,
		"l[0][link]=u l[1][link]=v":           `{"l":[{"link":"u"},{"link":"v"}]}`,
		"l[][link]=u l[][link]=v":             `{"l":[{"link":"u"},{"link":"v"}]}`,
		"0=a 1=b":                             `{"0":"a","1":"b"}`,
		"a[b=1 []=2 c]=3":                     `{"a[b":"1","[]":"2","c]":"3"}`,
		"a" + strings.Repeat("[]", 8) + "=1":  `{"a":` + strings.Repeat("[", 8) + `"1"` + strings.Repeat("]", 8) + `}`,
		strings.Repeat("n", 200) + "=1":       `{"` + strings.Repeat("n", 200) + `":"1"}`,
		"a" + strings.Repeat("[0]", 7) + "=1": `{"a":` + strings.Repeat("[", 7) + `"1"` + strings.Repeat("]", 7) + `}`,
	} {
		var f Form
		for field := range strings.FieldsSeq(names) {
			name, text, _ := strings.Cut(field, "=")
			place, err := f.At(name)
			if err != nil {
				t.Fatalf("%s: %v", names, err)
			}
			place.Put(Text(text))
		}
		if got := string(f.Object().JSON()); got != want {
			t.Errorf("%s:\n got  %s\n want %s", names, got, want)
		}
	}
}

// TestFormBounds refuses the field that is too deep, too long or one too many, and names it.
//
// Contract: 1.4 1.10
func TestFormBounds(t *testing.T) {
	var full Form
	for i := range MostFields {
		if _, err := full.At(fmt.Sprintf("f[%d]", i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		form           *Form
		name           string
		field, because string
	}{
		{&Form{}, "a" + strings.Repeat("[]", 9), "a", "The a field must not be nested deeper than 8 levels."},
		{&Form{}, "a" + strings.Repeat("[]", 2_500_000), "a", "The name of a field must not be longer than 200 bytes."},
		{&Form{}, strings.Repeat("ä", 101), strings.Repeat("ä", 100), "The name of a field must not be longer than 200 bytes."},
		{&full, "one[x]", "one", "The request must not have more than 1000 fields."},
	} {
		_, err := c.form.At(c.name)
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok || f.Kind != fault.Invalid || f.Fields[0] != (fault.Field{Name: c.field, Sentence: c.because}) {
			t.Errorf("%.20s: %v", c.name, err)
		}
	}
}

// TestFormIsLinear takes no more than its share for each of many fields in one place.
func TestFormIsLinear(t *testing.T) {
	spent := func(fields int) float64 {
		return testing.AllocsPerRun(5, func() {
			var f Form
			for range fields {
				place, err := f.At("a[b][]")
				if err != nil {
					t.Fatal(err)
				}
				place.Put(Text("x"))
			}
			f.Object()
		})
	}
	if few, many := spent(100), spent(1000); many > 20*few {
		t.Errorf("%.0f allocations for 100 fields, %.0f for 1000", few, many)
	}
}
