// Package whatsapp sends and receives over the WhatsApp Business Cloud API (Graph API): templates, freeform text, media,
// delivery callbacks.
package whatsapp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/messaging"
	"parley/providers"
)

// CarrierName is this platform among the carriers of senders.
const CarrierName = "whatsapp_cloud"

// Config says where the platform is and how its callbacks are known.
type Config struct {
	BaseURL     string // with the version; empty = https://graph.facebook.com/v23.0
	AppSecret   string // signs callbacks; empty = none is accepted
	VerifyToken string // answers the subscription's challenge; empty = none is answered
}

// Client is the platform. It is safe for concurrent use.
type Client struct {
	Config
	box  providers.Box
	http *http.Client
}

// New makes a client. Nothing is sent yet.
func New(c Config, box providers.Box) *Client {
	if c.BaseURL == "" {
		c.BaseURL = "https://graph.facebook.com/v23.0"
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	return &Client{Config: c, box: box,
		http: &http.Client{Timeout: 30 * time.Second, Transport: http.DefaultTransport.(*http.Transport).Clone()}}
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// credentials are what a customer gives of a sender.
type credentials struct {
	Token   string `json:"access_token"`
	Account string `json:"business_account_id"` // of the WhatsApp Business Account: holds the templates
}

func (c *Client) credentials(s messaging.Sender) (cred credentials, err error) {
	plain, err := c.box.Open(s.Credentials)
	if err == nil {
		err = json.Unmarshal(plain, &cred)
	}
	if err != nil {
		return cred, fmt.Errorf("whatsapp: credentials of sender %d: %w", s.ID, err)
	}
	return cred, nil
}

// failure is what the platform answers when it refuses.
type failure struct {
	Error struct {
		Message string `json:"message"`
		Code    int    `json:"code"`
		Data    struct {
			Details string `json:"details"`
		} `json:"error_data"`
		UserMessage string `json:"error_user_msg"`
	} `json:"error"`
}

// mismatches are the codes for a template that is other there: parameter count, no such language, parameter format.
var mismatches = map[int]bool{132000: true, 132001: true, 132012: true}

func (f failure) refusal() *messaging.Refusal {
	e := f.Error
	text := e.Message
	for _, better := range []string{e.Data.Details, e.UserMessage} {
		if better != "" {
			text = better
			break
		}
	}
	return &messaging.Refusal{Code: strconv.Itoa(e.Code), Message: text, Mismatch: mismatches[e.Code]}
}

// call makes one request; a refusal is a *messaging.Refusal. Answers of 5xx say nothing about what happened.
func (c *Client) call(ctx context.Context, token, method, path string, body, answer any) error {
	var send io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		send = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.BaseURL+path, send)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		var f failure
		if json.Unmarshal(raw, &f) != nil || f.Error.Code == 0 || res.StatusCode >= 500 && f.Error.Code < 100 {
			return fmt.Errorf("whatsapp: HTTP %d", res.StatusCode)
		}
		return f.refusal()
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(raw, answer)
}

func id(s string) string { return "/" + url.PathEscape(s) }
