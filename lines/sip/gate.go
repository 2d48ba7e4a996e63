package sip

import (
	"strconv"
	"strings"

	"github.com/emiago/sipgo/sip"
)

// verdict of the gate on a request. The zero verdict lets it in.
type verdict struct {
	code int  // refuse with this status
	drop bool // say nothing: there is nobody to answer
}

// inspect is the gate in front of every handler: it lets through only requests whose mandatory headers
// (RFC 3261 §8.1.1) are there, once, and agree with each other.
func inspect(r *sip.Request) verdict {
	if r.Via() == nil || r.From() == nil || r.To() == nil || r.CallID() == nil || r.CSeq() == nil {
		return verdict{drop: true}
	}
	bad := verdict{code: 400, drop: r.IsAck()}
	for _, name := range []string{"from", "to", "call-id", "cseq", "max-forwards", "content-length", "content-type"} {
		if count(r, name) > 1 {
			return bad
		}
	}
	tag, _ := r.From().Params.Get("tag")
	branch, _ := r.Via().Params.Get("branch") // RFC 2543 has none
	switch {
	case r.SipVersion != "SIP/2.0":
		return verdict{code: 505, drop: r.IsAck()}
	case tag == "" || r.Via().Host == "":
		return bad
	case len(tag) > longest || len(branch) > longest || len(r.CallID().Value()) > longest:
		return bad
	case !strings.EqualFold(string(r.CSeq().MethodName), string(r.Method)) || r.CSeq().SeqNo == 0 && r.Method != sip.INVITE &&
		r.Method != sip.REGISTER && r.Method != sip.OPTIONS:
		return bad
	case count(r, "max-forwards") == 1 && (r.MaxForwards() == nil || r.MaxForwards().Val() > 255):
		return bad
	case count(r, "content-length") == 1 && (r.ContentLength() == nil || int(*r.ContentLength()) != len(r.Body())):
		return bad
	case r.Recipient.Scheme != "sip" && r.Recipient.Scheme != "sips" && r.Recipient.Scheme != "tel":
		return verdict{code: 416, drop: r.IsAck()}
	case r.CSeq().MethodName != r.Method: // the parser wrote it in capitals, but `invite` is not INVITE (RFC 3261 §7.1)
		return verdict{code: 405, drop: r.IsAck()}
	}
	return verdict{}
}

// longest tag, branch or Call-ID in bytes that we keep.
const longest = 1024

// unsupported are the extensions that a request requires and we do not have (RFC 3261 §8.2.2.3).
func unsupported(r *sip.Request) (list []string) {
	if r.IsAck() || r.Method == sip.CANCEL {
		return nil
	}
	for _, h := range r.GetHeaders("Require") {
		for _, option := range strings.Split(h.Value(), ",") {
			if option = strings.TrimSpace(option); option != "" && !strings.EqualFold(option, "timer") {
				list = append(list, option)
			}
		}
	}
	return list
}

// count is how often a header stands in the request; the parser has already written short names out.
func count(r *sip.Request, name string) (n int) {
	for _, h := range r.Headers() {
		if sip.HeaderToLower(h.Name()) == name {
			n++
		}
	}
	return n
}

// phrases are the reason phrases of the statuses we send (RFC 3261 §21).
var phrases = map[int]string{
	100: "Trying", 180: "Ringing", 183: "Session Progress", 200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
	404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout", 410: "Gone", 415: "Unsupported Media Type",
	416: "Unsupported URI Scheme", 420: "Bad Extension", 422: "Session Interval Too Small", 469: "Bad Info Package",
	480: "Temporarily Unavailable",
	481: "Call/Transaction Does Not Exist", 482: "Loop Detected", 484: "Address Incomplete", 486: "Busy Here",
	487: "Request Terminated", 488: "Not Acceptable Here", 491: "Request Pending", 500: "Server Internal Error",
	503: "Service Unavailable", 505: "Version Not Supported", 600: "Busy Everywhere", 603: "Decline", 604: "Does Not Exist Anywhere",
}

func phrase(code int) string {
	if p, ok := phrases[code]; ok {
		return p
	}
	return map[int]string{4: "Request Failure", 5: "Server Failure", 6: "Global Failure"}[code/100]
}

func statusLine(code int, reason string) string { return strconv.Itoa(code) + " " + reason }
