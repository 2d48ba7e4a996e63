// Package parley is the root of the program: the map of its rooms. The binary is cmd/parley.
package parley

// May says what every room may import, foundations first. Reading it from top to bottom is the shortest description of
// the system; a new arrow is added here on purpose or not at all, and one that nobody uses goes. A room is a folder at the
// root with everything below it, unless a deeper folder has a line of its own. The map in README.md is made from it.
var May = []struct{ Room, Imports string }{
	// Foundations: know nothing of customers.
	{"fault", ""},
	{"ids", ""}, // calls name campaigns, which import calls
	{"value", "fault"},
	{"safe", ""},
	{"english", ""},
	{"sentences", ""},
	{"placeholders", "value"},
	{"assets", ""},
	{"ssrf", ""},
	{"secrets", ""},
	{"db", "safe"},
	{"jobs", "db safe"},
	{"asks", "fault value safe db"},
	{"blobs", ""},
	{"events", "db"},
	{"once", "fault db"},
	{"wire", "fault value once"},
	{"audio", ""},
	{"config", "value"},

	// What customers own: each room has its types, rules and SQL.
	{"accounts", "foundations"},
	{"audit", "foundations accounts"},
	{"catalog", "foundations"},
	{"knowledge", "foundations accounts"},
	{"tools", "foundations accounts"},
	{"calendar", "foundations"},
	{"toolbox", "foundations agent"},
	{"assistants", "foundations accounts catalog toolbox"},
	{"mind", "foundations accounts agent assistants toolbox tools"},
	{"calls", "foundations accounts assistants"},
	{"billing", "foundations accounts assistants calls"},
	{"payments", "foundations accounts billing numbers"},
	{"webhooks", "foundations accounts assistants calls"},
	{"chats", "foundations accounts assistants agent mind toolbox tools"},
	{"numbers", "foundations accounts"},
	{"messaging", "foundations accounts assistants chats numbers"},
	{"campaigns", "foundations accounts assistants calls"},

	// What makes it talk.
	{"lines", "foundations"},
	{"agent", "foundations"},
	{"voice", "foundations agent lines"},
	{"recordings", "foundations calls lines"},
	{"calllog", "foundations calls voice"},
	{"switchboard", "foundations asks calllog recordings voice lines agent accounts assistants calendar calls campaigns " +
		"catalog mind numbers toolbox tools webhooks"},

	// Vendors fill roles that the rooms above define.
	{"providers", "foundations accounts agent catalog knowledge messaging numbers payments voice"},
	{"sim", "foundations accounts agent asks assistants catalog lines messaging numbers payments providers voice wire"},

	// The surface, and what puts everything together.
	{"console", "assets"},
	{"api", "foundations accounts agent asks assistants audit billing calllog calls campaigns catalog chats console knowledge " +
		"lines messaging numbers payments providers sim switchboard tools webhooks wire"},
	{"app", "foundations accounts agent api assistants asks audit billing calendar calllog calls campaigns catalog chats config console " +
		"knowledge lines messaging mind numbers payments providers recordings secrets sim switchboard toolbox tools voice webhooks once"},
	{"cmd", "foundations accounts app assistants billing catalog chats config console knowledge lines numbers " +
		"providers secrets sim switchboard voice wire"},
	{"", ""},
}
