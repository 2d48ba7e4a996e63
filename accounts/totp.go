package accounts

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"parley/db"
	"parley/fault"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"
)

// recoveryCodes is how many codes stand in for a lost second factor, each once.
const recoveryCodes = 10

var errNoBox = errors.New("accounts: nothing seals second factors here")

// BeginTOTP makes a second factor for a person; it counts once [Accounts.ConfirmTOTP] has seen a code of it. url is what
// authenticator apps read (otpauth).
func (a *Accounts) BeginTOTP(ctx context.Context, id UserID) (secret, url string, err error) {
	u, err := a.User(ctx, a.db, id)
	if err != nil {
		return "", "", err
	}
	if a.Box == nil {
		return "", "", errNoBox
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: "parley", AccountName: u.Email})
	if err != nil {
		return "", "", err
	}
	sealed, err := a.Box.Seal([]byte(key.Secret()))
	if err != nil {
		return "", "", err
	}
	n, err := a.db.Exec(ctx, `UPDATE users SET totp_new = $2 WHERE id = $1 AND totp IS NULL`, id, sealed)
	if err == nil && n == 0 {
		err = fault.New(fault.Conflict, "", "There is a second factor already: remove it first.")
	}
	return key.Secret(), key.URL(), err
}

// ConfirmTOTP begins to ask for the second factor, and makes the recovery codes, which cannot be had again.
func (a *Accounts) ConfirmTOTP(ctx context.Context, id UserID, code string) (codes []string, err error) {
	u, err := a.User(ctx, a.db, id)
	if err != nil {
		return nil, err
	}
	if u.TOTPNew == nil {
		return nil, fault.New(fault.Conflict, "", "There is no second factor to confirm.")
	}
	step, err := a.step(*u.TOTPNew, code)
	if err != nil {
		return nil, err
	}
	err = a.db.Do(ctx, func(tx *db.Tx) error {
		codes = nil
		n, err := tx.Exec(ctx, `UPDATE users SET totp = totp_new, totp_new = NULL, totp_step = $3 WHERE id = $1 AND totp_new = $2`,
			id, *u.TOTPNew, step)
		if err == nil && n == 0 {
			err = errCode
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM recovery_codes WHERE user_id = $1`, id); err != nil {
			return err
		}
		for range recoveryCodes {
			c := strings.ToLower(newSecret()[:16])
			if _, err := tx.Exec(ctx, `INSERT INTO recovery_codes (user_id, code) VALUES ($1, $2)`, id, hash(c)); err != nil {
				return err
			}
			codes = append(codes, c[:4]+"-"+c[4:8]+"-"+c[8:12]+"-"+c[12:])
		}
		return nil
	})
	return codes, err
}

// RemoveTOTP takes a person's second factor and recovery codes away.
func (a *Accounts) RemoveTOTP(ctx context.Context, id UserID) error {
	return a.db.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE users SET totp = NULL, totp_new = NULL WHERE id = $1`, id)
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM recovery_codes WHERE user_id = $1`, id)
		}
		return err
	})
}

var digits = regexp.MustCompile(`^[0-9]{6}$`)

// checkCode takes a code of the second factor, or a recovery code, once.
func (a *Accounts) checkCode(ctx context.Context, u User, code string) error {
	code = strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(code))
	if !digits.MatchString(code) {
		n, err := a.db.Exec(ctx, `DELETE FROM recovery_codes WHERE user_id = $1 AND code = $2`, u.ID, hash(code))
		if err == nil && n == 0 {
			err = errCode
		}
		return err
	}
	step, err := a.step(*u.TOTP, code)
	if err != nil {
		return err
	}
	n, err := a.db.Exec(ctx, `UPDATE users SET totp_step = $2 WHERE id = $1 AND totp_step < $2`, u.ID, step)
	if err == nil && n == 0 { // used before
		err = errCode
	}
	return err
}

// step is the 30 seconds that a code belongs to: the present ones, the ones before or the next ones (RFC 6238 5.2).
func (a *Accounts) step(sealed, code string) (int64, error) {
	if a.Box == nil {
		return 0, errNoBox
	}
	secret, err := a.Box.Open(sealed)
	if err != nil {
		return 0, err
	}
	const period = 30
	for _, skew := range []int64{0, -1, 1} {
		at := a.db.Now().Add(time.Duration(skew) * period * time.Second)
		ok, err := totp.ValidateCustom(strings.ReplaceAll(code, " ", ""), string(secret), at,
			totp.ValidateOpts{Period: period, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if ok && err == nil {
			return at.Unix() / period, nil
		}
	}
	return 0, errCode
}
