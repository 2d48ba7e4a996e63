// Package parley is the root of the program: the map of its rooms. The binary is cmd/parley.
package parley

// May says what every room may import, foundations first. Reading it from top to bottom is the shortest description of
// the system; a new arrow is added here on purpose or not at all. A room is a folder at the root with everything below
// it, unless a deeper folder has a line of its own.
var May = []struct{ Room, Imports string }{
	// Foundations: know nothing of customers.
	{"fault", ""},
	{"value", "fault"},
	{"safe", ""},
	{"english", ""},
	{"sentences", ""},
	{"placeholders", "value"},
	{"assets", ""},
	{"ssrf", ""},
	{"secrets", ""},
	{"db", "fault safe"},
	{"jobs", "fault db safe"},
	// What processes that share a database ask each other.
	{"asks", "fault value safe db"},
	{"blobs", "fault"},
	{"events", "db"},
	{"wire", "fault value db"},
	{"audio", "assets"},
	{"config", "fault value"},

	// What customers own: each room has its types, rules and SQL.
	{"accounts", "foundations"},
	{"billing", "foundations accounts"},
	{"catalog", "foundations"},
	{"knowledge", "foundations accounts"},
	{"tools", "foundations accounts"},
	{"calendar", "foundations"},
	{"assistants", "foundations accounts catalog"},
	{"calls", "foundations accounts assistants"},
	{"webhooks", "foundations accounts"},
	{"chats", "foundations accounts assistants agent"},
	{"numbers", "foundations accounts billing"},
	{"messaging", "foundations accounts assistants billing chats numbers"},
	{"campaigns", "foundations accounts calls assistants numbers"},

	// What makes it talk.
	{"lines", "foundations"},
	{"agent", "foundations assistants tools knowledge"},
	{"voice", "foundations agent lines"},
	// What becomes of a call's sound: tapped, kept, saved after a crash, expired.
	{"recordings", "foundations calls lines"},
	// What happens in a call, written down while it goes on and shown to those who watch, anywhere.
	{"calllog", "foundations calls voice"},
	{"switchboard", "foundations asks calllog recordings voice lines agent accounts assistants billing calendar calls campaigns catalog knowledge numbers tools webhooks"},

	// Vendors fill roles that the rooms above define.
	{"providers", "foundations agent voice lines knowledge numbers messaging billing"},
	{"sim", "foundations accounts agent billing calls catalog lines messaging numbers voice"},

	// The surface, and the one place that knows everybody.
	{"console", "assets"},
	{"api", "everybody"},
	{"app", "everybody"},
	{"cmd", "everybody"},
	{"", ""},
}
