package api

import (
	"net/http/httptest"
	"strings"
	"testing"

	"parley/accounts"
	"parley/db/dbtest"
)

// TestLimitsKnowNoSecrets names the sender of a request without what lets one in.
//
// Contract: 1.12 18.3
func TestLimitsKnowNoSecrets(t *testing.T) {
	d := dbtest.SQLite(t)
	a := &API{Deps: Deps{DB: d, Accounts: accounts.New(d, accounts.Plan{})}}
	acc, err := a.Accounts.Create(t.Context(), d, accounts.Draft{Name: "Ada", Email: "ada@p.example"})
	if err != nil {
		t.Fatal(err)
	}
	link, err := a.Accounts.Welcome(t.Context(), d, acc.ID)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := a.Accounts.Redeem(t.Context(), link, accounts.Client{})
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := a.Accounts.CreateKey(t.Context(), d, acc.ID, "test")
	if err != nil {
		t.Fatal(err)
	}
	_, secret, _ := strings.Cut(key, "|")
	names := map[string]bool{}
	for header, hidden := range map[string]string{"Cookie: " + sessionCookie + "=" + opened.Token: opened.Token, "Authorization: Bearer " + key: secret} {
		name, text, _ := strings.Cut(header, ": ")
		r := httptest.NewRequest("GET", "/api/user/me", nil)
		r.Header.Set(name, text)
		_, who, err := a.authenticate(r)
		if err != nil || who.Key == "" || names[who.Key] || strings.Contains(who.Key, hidden) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
		names[who.Key] = true
	}
}
