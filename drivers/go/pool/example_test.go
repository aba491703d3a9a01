package pool_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	hpsqlite "github.com/hpsqlite/hpsqlite/drivers/go"
	"github.com/hpsqlite/hpsqlite/drivers/go/pool"
)

func service(ctx context.Context, path string) error {
	p, err := pool.Open(path, pool.Options{})
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Migrate(ctx, []string{"CREATE TABLE hit(page TEXT PRIMARY KEY, n INTEGER)"}); err != nil {
		return err
	}
	err = p.Write(ctx, func(conn *hpsqlite.Conn) error {
		_, err := conn.Exec("INSERT INTO hit VALUES(?, 1) ON CONFLICT DO UPDATE SET n = n + 1", "/")
		return err
	})
	if err != nil {
		return err
	}
	return p.Read(ctx, func(conn *hpsqlite.Conn) error {
		rows := conn.Query("SELECT page, n FROM hit")
		for rows.Next() {
			fmt.Println(rows.Text(0), rows.Int64(1))
		}
		return rows.Close()
	})
}

func Example() {
	dir, err := os.MkdirTemp("", "pool")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := service(context.Background(), filepath.Join(dir, "app.db")); err != nil {
		log.Fatal(err)
	}
	// Output: / 1
}
