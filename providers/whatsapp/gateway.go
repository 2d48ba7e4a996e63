package whatsapp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parley/fault"
	"parley/messaging"
)

var (
	_ messaging.Gateway = (*Client)(nil)
	_ messaging.Joiner  = (*Client)(nil)
)

// Join looks at the customer's sender with the credentials phone_number_id, business_account_id and access_token.
func (c *Client) Join(ctx context.Context, n messaging.Joining) (j messaging.Joined, err error) {
	cred := credentials{n.Credentials["access_token"], n.Credentials["business_account_id"]}
	j.Ref = n.Credentials["phone_number_id"]
	var missing []fault.Field
	for _, f := range []struct{ name, value string }{{"phone_number_id", j.Ref}, {"business_account_id", cred.Account},
		{"access_token", cred.Token}} {
		if f.value == "" {
			missing = append(missing, fault.Bad("credentials."+f.name, "required"))
		}
	}
	if err := fault.Input(missing...); err != nil {
		return j, err
	}
	there, err := c.look(ctx, cred.Token, j.Ref)
	if err != nil {
		return j, err
	}
	if digits(there.Phone) != digits(n.Phone) {
		return j, fault.Input(fault.Bad("phone_number", "in"))
	}
	plain, err := json.Marshal(cred)
	if err != nil {
		return j, err
	}
	j.State = there.state()
	j.Credentials, err = c.box.Seal(plain)
	return j, err
}

func digits(phone string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, phone)
}

// number is a sender as the platform describes it.
type number struct {
	Phone   string `json:"display_phone_number"`
	Name    string `json:"verified_name"`
	Quality string `json:"quality_rating"`
	Tier    string `json:"messaging_limit_tier"`
	Status  string `json:"status"`
}

func (c *Client) look(ctx context.Context, token, ref string) (n number, err error) {
	err = c.call(ctx, token, http.MethodGet, id(ref)+"?fields=display_phone_number,verified_name,quality_rating,messaging_limit_tier,status",
		nil, &n)
	return n, err
}

var statuses = map[string]messaging.SenderStatus{
	"": messaging.SenderOnline, "CONNECTED": messaging.SenderOnline, "FLAGGED": messaging.SenderOnline, "RATE_LIMITED": messaging.SenderOnline,
	"PENDING": messaging.SenderPending, "MIGRATED": messaging.SenderOffline, "DISCONNECTED": messaging.SenderOffline,
	"OFFLINE": messaging.SenderOffline,
	"DELETED": messaging.SenderFailed, "BANNED": messaging.SenderSuspended, "RESTRICTED": messaging.SenderSuspended,
}

func (n number) state() messaging.SenderState {
	s := messaging.SenderState{DisplayName: n.Name, Quality: n.Quality}
	known := false
	if s.Status, known = statuses[n.Status]; !known {
		s.Status = messaging.SenderOffline
	}
	if !slices.Contains([]string{"GREEN", "YELLOW", "RED"}, s.Quality) {
		s.Quality = "GREEN" // not rated yet
	}
	s.Limit, s.LimitKnown = limit(n.Tier)
	return s
}

// limit reads TIER_250, TIER_10K or TIER_UNLIMITED.
func limit(tier string) (unique *int64, known bool) {
	text, ok := strings.CutPrefix(tier, "TIER_")
	if !ok {
		return nil, false
	}
	if text == "UNLIMITED" {
		return nil, true
	}
	factor := int64(1)
	if short, thousands := strings.CutSuffix(text, "K"); thousands {
		text, factor = short, 1000
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, false
	}
	n *= factor
	return &n, true
}

// Sender reports the platform's side of a sender.
func (c *Client) Sender(ctx context.Context, s messaging.Sender) (messaging.SenderState, error) {
	cred, err := c.credentials(s)
	if err != nil {
		return messaging.SenderState{}, err
	}
	n, err := c.look(ctx, cred.Token, s.CarrierRef)
	state := n.state()
	if state.DisplayName == "" {
		state.DisplayName = s.DisplayName
	}
	return state, err
}

// Sent cannot say: the platform keeps no list of messages. Its callbacks name the ref.
func (c *Client) Sent(context.Context, messaging.Sender, string) (string, error) {
	return "", messaging.ErrUntold
}

type text struct {
	Body string `json:"body"`
}

type parameter struct {
	Type string `json:"type"`
	Name string `json:"parameter_name,omitempty"`
	Text string `json:"text"`
}

type component struct {
	Type       string      `json:"type"`
	Parameters []parameter `json:"parameters"`
}

type templateMessage struct {
	Name     string `json:"name"`
	Language struct {
		Code string `json:"code"`
	} `json:"language"`
	Components []component `json:"components,omitempty"`
}

type message struct {
	Product       string           `json:"messaging_product"`
	RecipientType string           `json:"recipient_type"`
	To            string           `json:"to,omitempty"`
	Recipient     string           `json:"recipient,omitempty"` // where the number is hidden
	Type          string           `json:"type"`
	Text          *text            `json:"text,omitempty"`
	Template      *templateMessage `json:"template,omitempty"`
	Ref           string           `json:"biz_opaque_callback_data"` // comes back with every callback
}

// Send hands a message over.
func (c *Client) Send(ctx context.Context, o messaging.Outgoing) (string, error) {
	cred, err := c.credentials(o.Sender)
	if err != nil {
		return "", err
	}
	m := message{Product: "whatsapp", RecipientType: "individual", To: digits(o.To), Type: "text", Ref: o.Ref}
	if m.To == "" {
		m.Recipient = o.ToID
	}
	if o.Template == nil {
		m.Text = &text{o.Text}
	} else {
		m.Type, m.Template = "template", filled(o)
	}
	var answer struct {
		Messages []struct {
			ID string `json:"id"`
		} `json:"messages"`
	}
	if err := c.call(ctx, cred.Token, http.MethodPost, id(o.Sender.CarrierRef)+"/messages", m, &answer); err != nil {
		return "", err
	}
	if len(answer.Messages) == 0 || answer.Messages[0].ID == "" {
		return "", errors.New("whatsapp: accepted without an identifier")
	}
	return answer.Messages[0].ID, nil
}

// named marks the reference of a template whose placeholders have names at the platform.
const named = "#named"

func filled(o messaging.Outgoing) *templateMessage {
	t := &templateMessage{Name: o.Template.Name}
	t.Language.Code = o.Template.Language
	if len(o.Params) == 0 {
		return t
	}
	body := component{Type: "body"}
	for i, value := range o.Params {
		p := parameter{Type: "text", Text: value}
		if strings.HasSuffix(o.Template.CarrierRef, named) && i < len(o.Template.Variables.V) {
			p.Name = o.Template.Variables.V[i]
		}
		body.Parameters = append(body.Parameters, p)
	}
	t.Components = []component{body}
	return t
}

// template is one as the platform describes it.
type template struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Language   string `json:"language"`
	Status     string `json:"status"`
	Category   string `json:"category"`
	Format     string `json:"parameter_format"`
	Rejected   string `json:"rejected_reason"`
	Components []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"components"`
}

var templateStatuses = map[string]messaging.TemplateStatus{
	"APPROVED": messaging.TemplateApproved, "PENDING": messaging.TemplatePending, "IN_APPEAL": messaging.TemplatePending,
	"REJECTED": messaging.TemplateRejected, "PAUSED": messaging.TemplatePaused, "DISABLED": messaging.TemplateDisabled,
	"PENDING_DELETION": messaging.TemplateDisabled, "DELETED": messaging.TemplateDisabled, "LIMIT_EXCEEDED": messaging.TemplateDisabled,
}

var nameInBraces = regexp.MustCompile(`\{\{\s*([a-z0-9_]+)\s*\}\}`)

func (t template) state() messaging.TemplateState {
	s := messaging.TemplateState{Ref: t.ID, Name: t.Name, Language: t.Language, Category: strings.ToLower(t.Category),
		Status: templateStatuses[t.Status]}
	if s.Status == "" {
		s.Status = messaging.TemplateDisabled
	}
	if s.Category != "marketing" && s.Category != "authentication" {
		s.Category = "utility"
	}
	if t.Rejected != "" && t.Rejected != "NONE" {
		s.RejectedFor = &t.Rejected
	}
	for _, c := range t.Components {
		switch c.Type {
		case "BODY":
			s.Body = c.Text
		case "CALL_PERMISSION_REQUEST":
			s.AsksCalls = true
		}
	}
	if t.Format == "NAMED" {
		s.Ref += named
		s.Body = nameInBraces.ReplaceAllStringFunc(s.Body, func(p string) string {
			name := nameInBraces.FindStringSubmatch(p)[1]
			if !slices.Contains(s.Variables, name) {
				s.Variables = append(s.Variables, name)
			}
			return fmt.Sprintf("{{%d}}", slices.Index(s.Variables, name)+1)
		})
	}
	return s
}

// Templates reports the platform's templates of a sender, page after page.
func (c *Client) Templates(ctx context.Context, s messaging.Sender) ([]messaging.TemplateState, error) {
	cred, err := c.credentials(s)
	if err != nil {
		return nil, err
	}
	var all []messaging.TemplateState
	for after := ""; ; {
		var page struct {
			Data   []template `json:"data"`
			Paging struct {
				Next    string `json:"next"`
				Cursors struct {
					After string `json:"after"`
				} `json:"cursors"`
			} `json:"paging"`
		}
		q := url.Values{"fields": {"id,name,language,status,category,parameter_format,rejected_reason,components"}, "limit": {"100"}}
		if after != "" {
			q.Set("after", after)
		}
		if err := c.call(ctx, cred.Token, http.MethodGet, id(cred.Account)+"/message_templates?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, t := range page.Data {
			all = append(all, t.state())
		}
		if after = page.Paging.Cursors.After; page.Paging.Next == "" || after == "" || len(all) > 10_000 {
			return all, nil
		}
	}
}

// Submit hands a new template in.
func (c *Client) Submit(ctx context.Context, s messaging.Sender, t messaging.Template) (string, error) {
	cred, err := c.credentials(s)
	if err != nil {
		return "", err
	}
	body := map[string]any{"type": "BODY", "text": t.Body}
	if len(t.Examples.V) > 0 {
		body["example"] = map[string]any{"body_text": [][]string{t.Examples.V}}
	}
	var made struct {
		ID string `json:"id"`
	}
	err = c.call(ctx, cred.Token, http.MethodPost, id(cred.Account)+"/message_templates",
		map[string]any{"name": t.Name, "language": t.Language, "category": strings.ToUpper(t.Category), "components": []any{body}}, &made)
	return made.ID, err
}

// maxFile is the largest file a customer can send.
const maxFile = 100 << 20

// File opens a file that a customer sent.
func (c *Client) File(ctx context.Context, s messaging.Sender, ref string) (io.ReadCloser, string, error) {
	cred, err := c.credentials(s)
	if err != nil {
		return nil, "", err
	}
	var there struct {
		URL  string `json:"url"`
		Type string `json:"mime_type"`
	}
	if err := c.call(ctx, cred.Token, http.MethodGet, id(ref), nil, &there); err != nil {
		return nil, "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, there.URL, nil)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Authorization", "Bearer "+cred.Token)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, "", err
	}
	switch {
	case res.StatusCode != http.StatusOK:
		err = fmt.Errorf("whatsapp: file: HTTP %d", res.StatusCode)
	case res.ContentLength > maxFile:
		err = fmt.Errorf("whatsapp: file: %d bytes are too many", res.ContentLength)
	}
	if err != nil {
		return nil, "", errors.Join(err, res.Body.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(res.Body, maxFile), res.Body}, there.Type, nil
}
