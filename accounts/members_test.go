package accounts_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/accounts"
	"parley/db"
	"parley/db/dbtest"
	"parley/fault"
	"parley/value"
)

func invite(t *testing.T, a *accounts.Accounts, owner accounts.ID, email string, role accounts.Role) (accounts.Member, string) {
	t.Helper()
	m, token, err := a.Invite(t.Context(), owner, email, role)
	if err != nil {
		t.Fatal(err)
	}
	return m, token
}

func accept(ctx context.Context, a *accounts.Accounts, token, password string) (accounts.Opened, error) {
	return a.Accept(ctx, accounts.Newcomer{Token: token, Name: "Bob", Attempt: accounts.Attempt{Password: password, From: from}})
}

func TestInvitationsWorkOnceFor72Hours(t *testing.T) {
	eachManual(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		acc, _ := withPassword(t, a, d, "ada@p.example", horse)
		first, old := invite(t, a, acc.ID, "Bob@p.example", accounts.Viewer)
		again, token := invite(t, a, acc.ID, "bob@p.example", accounts.Agent)
		if !first.Invited() || first.ID != again.ID || again.Role != accounts.Agent {
			t.Error(first, again)
		}
		if _, err := accept(ctx, a, old, battery); !errors.Is(err, accounts.ErrInvitation) {
			t.Error("replaced:", err)
		}
		if _, err := accept(ctx, a, token, "password1234"); !fault.Is(err, fault.Invalid) {
			t.Error("common password:", err)
		}
		advance(t, d, 72*time.Hour-time.Second)
		o, err := accept(ctx, a, token, battery)
		if err != nil || o.Account != acc.ID || o.User.Email != "bob@p.example" {
			t.Fatal(o, err)
		}
		if c, err := a.Session(ctx, o.Token); err != nil || c.Role != accounts.Agent {
			t.Error(c, err)
		}
		if _, err := accept(ctx, a, token, battery); !errors.Is(err, accounts.ErrInvitation) {
			t.Error("twice:", err)
		}
		if _, _, err := a.Invite(ctx, acc.ID, "bob@p.example", accounts.Admin); !fault.Is(err, fault.Conflict) {
			t.Error("a member:", err)
		}
		_, late := invite(t, a, acc.ID, "eve@p.example", accounts.Viewer)
		advance(t, d, 72*time.Hour)
		if _, err := accept(ctx, a, late, battery); !errors.Is(err, accounts.ErrInvitation) {
			t.Error("late:", err)
		}
	})
}

// Whoever holds the invitation of somebody who signs in already does not become them.
func TestInvitedPeopleProveThemselves(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		acc, _ := withPassword(t, a, d, "ada@p.example", horse)
		own, bob := withPassword(t, a, d, "bob@p.example", battery)
		_, token := invite(t, a, acc.ID, "bob@p.example", accounts.Admin)
		if _, err := accept(ctx, a, token, "another long password"); err != accounts.ErrUnauthenticated {
			t.Error(err)
		}
		o, err := accept(ctx, a, token, battery)
		if err != nil || o.User.ID != bob.ID || o.Account != acc.ID {
			t.Fatal(o, err)
		}
		if err := a.Switch(ctx, o.Token, own.ID); err != nil {
			t.Error(err)
		}
		if c, err := a.Session(ctx, o.Token); err != nil || c.Account != own.ID || c.Role != accounts.Owner {
			t.Error(c, err)
		}
		other := create(t, a, d, accounts.Draft{Email: "eve@p.example"})
		if err := a.Switch(ctx, o.Token, other.ID); !fault.Is(err, fault.NotFound) {
			t.Error("into a stranger's account:", err)
		}
	})
}

func TestAccountsKeepAnOwner(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a, ctx := accounts.New(d, plan), t.Context()
		acc, ada := withPassword(t, a, d, "ada@p.example", horse)
		all, err := a.Members(ctx, d, acc.ID)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		lower := accounts.MemberChange{Role: value.Some(accounts.Admin)}
		invite(t, a, acc.ID, "bob@p.example", accounts.Owner) // not one yet
		if _, err := a.ChangeMember(ctx, acc.ID, all[0].ID, accounts.Owner, lower); err != accounts.ErrLastOwner {
			t.Error(err)
		}
		if err := a.RemoveMember(ctx, acc.ID, all[0].ID, accounts.Owner); err != accounts.ErrLastOwner {
			t.Error(err)
		}
		if err := a.RemoveUser(ctx, ada.ID); err != accounts.ErrLastOwner {
			t.Error(err)
		}
		if err := a.RemoveMember(ctx, acc.ID, all[0].ID, accounts.Admin); err != accounts.ErrRole {
			t.Error("an admin removes an owner:", err)
		}
		stranger := create(t, a, d, accounts.Draft{Email: "eve@p.example"})
		if err := a.RemoveMember(ctx, stranger.ID, all[0].ID, accounts.Owner); err != accounts.ErrNoMember {
			t.Error("a stranger removes one:", err)
		}
	})
}

// Two owners who remove each other at once leave one.
func TestLastOwnersAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := accounts.New(d, plan)
		acc, _ := withPassword(t, a, d, "ada@p.example", horse)
		email := func(round int) string { return "bob" + string(rune('a'+round)) + "@p.example" }
		var two [2]int64
		ready := func(round int) {
			_, token := invite(t, a, acc.ID, email(round), accounts.Owner)
			if _, err := accept(t.Context(), a, token, battery); err != nil {
				t.Fatal(err)
			}
			all, err := a.Members(t.Context(), d, acc.ID)
			if err != nil || len(all) != 2 {
				t.Fatal(all, err)
			}
			two = [2]int64{all[0].ID, all[1].ID}
		}
		var errs [2]error
		remove := func(n int) func(context.Context, int) {
			return func(ctx context.Context, _ int) { errs[n] = a.RemoveMember(ctx, acc.ID, two[n], accounts.Owner) }
		}
		ready(0)
		dbtest.Race(t, d, remove(0), remove(1), func(round int) {
			if all, err := a.Members(t.Context(), d, acc.ID); err != nil || len(all) != 1 || (errs[0] == nil) == (errs[1] == nil) {
				t.Fatal(round, all, err, errs)
			}
			ready(round)
		})
	})
}

// An invitation that is accepted twice at once makes one member.
func TestInvitationAcceptedTwiceAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := accounts.New(d, plan)
		acc, _ := withPassword(t, a, d, "ada@p.example", horse)
		var token string
		var m accounts.Member
		ready := func() { m, token = invite(t, a, acc.ID, "bob@p.example", accounts.Viewer) }
		var errs [2]error
		take := func(n int) func(context.Context, int) {
			return func(ctx context.Context, _ int) { _, errs[n] = accept(ctx, a, token, battery) }
		}
		ready()
		dbtest.Race(t, d, take(0), take(1), func(round int) {
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatal(round, errs)
			}
			if err := a.RemoveMember(t.Context(), acc.ID, m.ID, accounts.Owner); err != nil {
				t.Fatal(err)
			}
			if u, err := a.UserOf(t.Context(), d, "bob@p.example"); err != nil {
				t.Fatal(err)
			} else if err := a.RemoveUser(t.Context(), u.ID); err != nil {
				t.Fatal(err)
			}
			ready()
		})
	})
}
