package db_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"parley/db"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	d, err := db.Open(ctx, "sqlite:"+filepath.Join(dir, "example.db"))
	if err != nil {
		panic(err)
	}
	defer d.Close()
	if _, err := d.Exec(ctx, `CREATE TABLE purse (name TEXT PRIMARY KEY, balance BIGINT NOT NULL)`); err != nil {
		panic(err)
	}
	err = d.Do(ctx, func(tx *db.Tx) error {
		tx.After(func() { fmt.Println("committed") })
		if _, err := tx.Exec(ctx, `INSERT INTO purse VALUES ($1, $2)`, "Ada", 10); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `UPDATE purse SET balance = balance - $1 WHERE name = $2 AND balance >= $1`, 7, "Ada")
		fmt.Println("paid:", n == 1)
		return err
	})
	if err != nil {
		panic(err)
	}
	var rich []struct{ Name string }
	if err := d.Select(ctx, &rich, `SELECT name FROM purse WHERE balance > $1`, 100); err != nil {
		panic(err)
	}
	fmt.Println("rich:", len(rich))
	// Output:
	// paid: true
	// committed
	// rich: 0
}
