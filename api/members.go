package api

import (
	"context"

	"parley/accounts"
	"parley/value"
	"parley/wire"
)

type memberOut struct {
	ID         int64       `json:"id"`
	Email      string      `json:"email"`
	Name       string      `json:"name" doc:"Empty while invited."`
	Role       string      `json:"role" rule:"oneof=owner|admin|agent|viewer"`
	Recordings bool        `json:"recordings" doc:"May hear recordings as a viewer."`
	TwoFactor  bool        `json:"two_factor"`
	LastSeenAt *value.Time `json:"last_seen_at"`
	Invited    bool        `json:"invited" doc:"Has not accepted the invitation yet."`
}

type memberList struct {
	Data []memberOut `json:"data"`
}

type memberRef struct {
	ID int64 `path:"id"`
}

type inviteIn struct {
	Email string `json:"email" rule:"required email max=255"`
	Role  string `json:"role" rule:"required oneof=owner|admin|agent|viewer"`
}

type invitedOut struct {
	memberOut
	InvitationURL string `json:"invitation_url" doc:"Accepts the invitation once within 72 hours; shown here and never again."`
}

type memberIn struct {
	ID         int64             `path:"id"`
	Role       value.Opt[string] `json:"role" rule:"oneof=owner|admin|agent|viewer"`
	Recordings value.Opt[bool]   `json:"recordings"`
}

// memberRoutes are the people of an account.
func (a *API) memberRoutes() []wire.Route {
	return []wire.Route{
		wire.On(messages, "GET /user/members", 200, a.members),
		wire.On(messages, "POST /user/members", 201, a.invite),
		wire.On(messages, "GET /user/members/{id}", 200, a.member),
		wire.On(messages, "PUT /user/members/{id}", 200, a.updateMember, wire.Find(a.findMember)),
		wire.On(messages, "DELETE /user/members/{id}", 200, a.deleteMember),
		wire.On(messages, "GET /user/audit", 200, a.audited),
	}
}

func showMember(m accounts.Member) memberOut {
	return memberOut{m.ID, m.Email, m.Name, string(m.Role), m.Recordings, m.TwoFactor, timeOrNull(m.LastSeenAt.Time()), m.Invited()}
}

func (a *API) members(ctx context.Context, _ *struct{}) (memberList, error) {
	list, err := a.Accounts.Members(ctx, a.DB, owner(ctx))
	return memberList{each(list, showMember)}, err
}

func (a *API) member(ctx context.Context, in *memberRef) (data[memberOut], error) {
	m, err := a.Accounts.Member(ctx, a.DB, owner(ctx), in.ID)
	return data[memberOut]{showMember(m)}, err
}

func (a *API) invite(ctx context.Context, in *inviteIn) (data[invitedOut], error) {
	role := accounts.Role(in.Role)
	if role == accounts.Owner && callerOf(ctx).Role != accounts.Owner {
		return data[invitedOut]{}, accounts.ErrRole
	}
	m, token, err := a.Accounts.Invite(ctx, owner(ctx), in.Email, role)
	return data[invitedOut]{invitedOut{showMember(m), wire.Origin(ctx) + "/console/invitation?invitation=" + token}}, err
}

func (a *API) findMember(ctx context.Context, in *memberIn) error {
	_, err := a.Accounts.Member(ctx, a.DB, owner(ctx), in.ID)
	return err
}

func (a *API) updateMember(ctx context.Context, in *memberIn) (data[memberOut], error) {
	change := accounts.MemberChange{Recordings: in.Recordings}
	if in.Role.Set {
		change.Role = value.Some(accounts.Role(in.Role.V))
	}
	m, err := a.Accounts.ChangeMember(ctx, owner(ctx), in.ID, callerOf(ctx).Role, change)
	return data[memberOut]{showMember(m)}, err
}

func (a *API) deleteMember(ctx context.Context, in *memberRef) (wire.Message, error) {
	return wire.Message{Message: "Member removed."}, a.Accounts.RemoveMember(ctx, owner(ctx), in.ID, callerOf(ctx).Role)
}
