package parley

import _ "embed"

// Licence is the licence of this program.
//
//go:embed LICENSE
var Licence string

// ThirdParty lists what the binary is made of besides our own code, with every licence text. go test . -update rewrites
// it from the modules that cmd/parley is built from and the manifest of assets.
//
//go:embed THIRD_PARTY.md
var ThirdParty string
