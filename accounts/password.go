package accounts

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/sync/semaphore"
)

// Cost of argon2id, by the OWASP password storage recommendation: 19 MiB, 2 passes, 1 lane.
const (
	argonMemory = 19 * 1024
	argonTime   = 2
	argonLanes  = 1
	argonSize   = 32
)

// hashing bounds the memory that sign-ins take together.
var hashing = semaphore.NewWeighted(4)

func hashPassword(ctx context.Context, password string) (string, error) {
	salt := make([]byte, 16)
	rand.Read(salt)
	sum, err := argon(ctx, password, salt, argonMemory, argonTime, argonLanes)
	if err != nil {
		return "", err
	}
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonLanes,
		enc.EncodeToString(salt), enc.EncodeToString(sum)), nil
}

var errHash = errors.New("accounts: a stored password hash cannot be read")

// checkPassword compares with a stored hash, at the cost the hash names.
func checkPassword(ctx context.Context, password, stored string) (bool, error) {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, errHash
	}
	var memory, time uint32
	var lanes uint8
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &time, &lanes); err != nil {
		return false, errHash
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[4])
	want, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(want) != argonSize {
		return false, errHash
	}
	got, err := argon(ctx, password, salt, memory, time, lanes)
	return err == nil && subtle.ConstantTimeCompare(got, want) == 1, err
}

func argon(ctx context.Context, password string, salt []byte, memory, time uint32, lanes uint8) ([]byte, error) {
	if err := hashing.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer hashing.Release(1)
	return argon2.IDKey([]byte(password), salt, time, memory, lanes, argonSize), nil
}
