package sip

import (
	"maps"
	"strings"

	"github.com/emiago/sipgo/sip"
)

// newParser is sipgo's parser with the white space that RFC 3261 §7.3.1 and §25.1 allow around parameters and inside of
// CSeq: `;  tag = x` is the tag x for everything behind it, transactions included.
func newParser() *sip.Parser {
	parsers := maps.Clone(sip.DefaultHeadersParser())
	for _, name := range []string{"from", "f", "to", "t", "contact", "m", "via", "v"} {
		parsers[name] = trimmed(parsers[name])
	}
	cseq := parsers["cseq"]
	parsers["cseq"] = func(name []byte, text string) (sip.Header, error) {
		return cseq(name, strings.Join(strings.Fields(text), " "))
	}
	return sip.NewParser(sip.WithHeadersParsers(parsers))
}

// trimmed is a parser whose header has no white space around its parameters. An error may come with a header: the first
// of several behind commas.
func trimmed(parse sip.HeaderParser) sip.HeaderParser {
	return func(name []byte, text string) (sip.Header, error) {
		h, err := parse(name, text)
		switch h := h.(type) {
		case *sip.FromHeader:
			trim(h.Params)
		case *sip.ToHeader:
			trim(h.Params)
		case *sip.ContactHeader:
			trim(h.Params)
		case *sip.ViaHeader:
			h.Host = strings.TrimSpace(h.Host)
			trim(h.Params)
		}
		return h, err
	}
}

func trim(params sip.HeaderParams) {
	for i := range params {
		params[i].K, params[i].V = strings.TrimSpace(params[i].K), strings.TrimSpace(params[i].V)
	}
}
