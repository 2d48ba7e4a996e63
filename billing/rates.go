package billing

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"parley/value"
	"strings"
)

//go:embed rates.csv
var shipped []byte

// Rate is what a destination costs.
type Rate struct {
	Prefix string // digits without the plus
	Name   string
	Call   value.Money  // per started minute
	SMS    *value.Money // per segment; nil = the general price
}

// Rates is a table by destination prefix.
type Rates struct {
	byPrefix map[string]Rate
	longest  int
}

// Shipped is the table that comes with the program.
func Shipped() *Rates {
	r, err := readRates(bytes.NewReader(shipped))
	if err != nil {
		panic(err) // compiled in, and tested
	}
	return r
}

// LoadRates reads a table from a file of comma-separated values with the head prefix,name,call,sms; lines that begin
// with # are comments. It must have a line with an empty prefix, for every other destination. An empty path is the
// shipped table.
func LoadRates(path string) (*Rates, error) {
	if path == "" {
		return Shipped(), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := readRates(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func readRates(in io.Reader) (*Rates, error) {
	c := csv.NewReader(in)
	c.Comment, c.FieldsPerRecord, c.TrimLeadingSpace = '#', 4, true
	head, err := c.Read()
	if err != nil {
		return nil, err
	}
	if strings.Join(head, ",") != "prefix,name,call,sms" {
		return nil, errors.New("the first line must be prefix,name,call,sms")
	}
	r := &Rates{byPrefix: map[string]Rate{}}
	for {
		fields, err := c.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		one, err := readRate(fields)
		if err != nil {
			line, _ := c.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if _, twice := r.byPrefix[one.Prefix]; twice {
			return nil, fmt.Errorf("prefix %q stands there twice", one.Prefix)
		}
		r.byPrefix[one.Prefix] = one
		r.longest = max(r.longest, len(one.Prefix))
	}
	if _, ok := r.byPrefix[""]; !ok {
		return nil, errors.New("no line with an empty prefix, for every other destination")
	}
	return r, nil
}

func readRate(f []string) (r Rate, err error) {
	r = Rate{Prefix: strings.TrimPrefix(f[0], "+"), Name: f[1]}
	if strings.Trim(r.Prefix, "0123456789") != "" {
		return r, fmt.Errorf("prefix %q is not digits", f[0])
	}
	if r.Call, err = price(f[2]); err != nil {
		return r, fmt.Errorf("call: %w", err)
	}
	if f[3] != "" {
		sms, err := price(f[3])
		if err != nil {
			return r, fmt.Errorf("sms: %w", err)
		}
		r.SMS = &sms
	}
	return r, nil
}

func price(s string) (value.Money, error) {
	m, err := value.ParseMoney(s)
	if err == nil && m < 0 {
		err = errors.New("below zero")
	}
	if err != nil {
		return 0, fmt.Errorf("%q: %w", s, err)
	}
	return m, nil
}

// Find is the rate of an E.164 number: that of the longest prefix.
func (r *Rates) Find(number string) Rate {
	digits := strings.TrimPrefix(number, "+")
	for n := min(len(digits), r.longest); n > 0; n-- {
		if one, ok := r.byPrefix[digits[:n]]; ok {
			return one
		}
	}
	return r.byPrefix[""]
}

// CallRate is the price of a started minute to a number through a carrier of the installation.
func (b *Billing) CallRate(number string) value.Money { return b.Rates.Find(number).Call }

// SMSPrice is the price of a segment to a number.
func (b *Billing) SMSPrice(number string) value.Money {
	if p := b.Rates.Find(number).SMS; p != nil {
		return *p
	}
	return b.Prices.SMS
}
