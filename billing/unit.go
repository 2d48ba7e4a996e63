package billing

import (
	"context"
	"math/big"

	"parley/accounts"
	"parley/db"
	"parley/value"
)

// unit turns costs into what an account is billed in.
type unit struct {
	kind   accounts.Kind
	minute value.Money // price of a minute of AI time, in currency
}

func (b *Billing) unit(ctx context.Context, q db.Q, owner accounts.ID) (unit, error) {
	acc, err := b.accounts.Get(ctx, q, owner)
	return unit{acc.Kind, b.accounts.PlanOf(acc).MinutePrice}, err
}

// Units is an amount of currency in what an account is billed in, at today's price.
func (b *Billing) Units(ctx context.Context, q db.Q, owner accounts.ID, money value.Money) (value.Money, error) {
	u, err := b.unit(ctx, q, owner)
	return u.of(money), err
}

// Share is the part of a whole that stands for part of of; 0 when of is 0.
func Share(whole, part, of value.Money) value.Money { return mulDiv(whole, part, of) }

const creditsPerMoney = 100

// of turns money into minutes or credits.
func (u unit) of(money value.Money) value.Money {
	if u.kind == accounts.Tenant {
		return money * creditsPerMoney
	}
	return mulDiv(money, value.MoneyUnit, u.minute)
}

// time is AI time in minutes or credits.
func (u unit) time(seconds int64) value.Money {
	if u.kind == accounts.Tenant {
		return mulDiv(value.Money(seconds)*creditsPerMoney, u.minute, 60)
	}
	return mulDiv(value.Money(seconds), value.MoneyUnit, 60)
}

// money is AI time in currency.
func (u unit) money(seconds int64) value.Money { return mulDiv(value.Money(seconds), u.minute, 60) }

// mulDiv is a × b ÷ c, rounded half away from zero; 0 when c is 0 (what is free costs nothing), which is never negative.
func mulDiv(a, b, c value.Money) value.Money {
	if c == 0 {
		return 0
	}
	n := new(big.Int).Mul(big.NewInt(int64(a)), big.NewInt(int64(b)))
	half := big.NewInt(int64(c) / 2)
	if n.Sign() < 0 {
		half.Neg(half)
	}
	return value.Money(n.Add(n, half).Quo(n, big.NewInt(int64(c))).Int64()) // Quo cuts towards zero
}
