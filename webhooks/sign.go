package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const prefix = "whsec_"

// newSecret makes a signing secret: whsec_ and the base64 of 32 random bytes.
func newSecret() string {
	b := make([]byte, 32)
	rand.Read(b)
	return prefix + base64.StdEncoding.EncodeToString(b)
}

// newID makes a webhook-id: msg_ and 26 characters of time and chance.
func newID() string {
	return "msg_" + rand.Text()
}

// sign sets the headers that prove who sent body. secrets holds the present one first, then those that still count.
func sign(h http.Header, id string, at time.Time, body []byte, secrets []string) error {
	stamp := strconv.FormatInt(at.Unix(), 10)
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", stamp)
	var signatures []string
	for _, s := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, prefix))
		if err != nil {
			return fmt.Errorf("signing secret: %w", err)
		}
		signed := append([]byte(id+"."+stamp+"."), body...)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(sum(key, signed)))
	}
	h.Set("webhook-signature", strings.Join(signatures, " "))
	if len(secrets) > 0 {
		h.Set("X-Signature-256", "sha256="+hex.EncodeToString(sum([]byte(secrets[0]), body)))
	}
	return nil
}

func sum(key, data []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(data)
	return m.Sum(nil)
}
