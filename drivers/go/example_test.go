package hpsqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	hpsqlite "github.com/hpsqlite/hpsqlite/drivers/go"
)

// What stands in README.md is here, in functions that the examples call.

func temp() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "hpsqlite")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(dir, "app.db"), func() { os.RemoveAll(dir) }
}

// inMemory calls f with a connection to an empty database.
func inMemory(f func(conn *hpsqlite.Conn) error) {
	conn, err := hpsqlite.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	if err := f(conn); err != nil {
		log.Fatal(err)
	}
}

func withDatabaseSQL(path string, ctx context.Context) error {
	db, err := sql.Open("hpsqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "CREATE TABLE note(at DATETIME, text TEXT)"); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "INSERT INTO note VALUES(?, :text)", time.Now(), sql.Named("text", "hello"))
	if err != nil {
		return err
	}
	var at time.Time
	var text string
	return db.QueryRowContext(ctx, "SELECT at, text FROM note").Scan(&at, &text)
}

func Example_databaseSQL() {
	path, remove := temp()
	defer remove()
	fmt.Println(withDatabaseSQL(path, context.Background()))
	// Output: <nil>
}

func insertMany(conn *hpsqlite.Conn, names []string) error {
	insert, err := conn.Prepare("INSERT INTO people(id, name) VALUES(?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	_, err = insert.ExecMany(len(names), func(i int) {
		insert.BindInt64(1, int64(i))
		insert.BindText(2, names[i])
	})
	return err
}

func readRows(conn *hpsqlite.Conn, w io.Writer) error {
	rows := conn.Query("SELECT id, name FROM people WHERE id >= :from", sql.Named("from", 1))
	for rows.Next() {
		id := rows.Int64(0)
		name := rows.RawText(1) // not copied: good until the next row
		fmt.Fprintf(w, "%d %s\n", id, name)
	}
	return rows.Close()
}

func whatWentWrong(err error) string {
	var e *hpsqlite.Error
	switch {
	case errors.Is(err, hpsqlite.ErrConstraintUnique):
		return "there is one already"
	case errors.Is(err, hpsqlite.ErrConstraint): // any other constraint
		return "not allowed"
	case errors.As(err, &e):
		return fmt.Sprint(e.Code, e.Message, e.Offset)
	}
	return ""
}

func Example_direct() {
	inMemory(func(conn *hpsqlite.Conn) error {
		if _, err := conn.Exec("CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT UNIQUE)"); err != nil {
			return err
		}
		fmt.Println(insertMany(conn, []string{"Ada", "Grace", "Katherine"}))
		_, err := conn.Exec("INSERT INTO people(name) VALUES('Ada')")
		fmt.Println(whatWentWrong(err))
		return readRows(conn, os.Stdout)
	})
	// Output:
	// <nil>
	// there is one already
	// 1 Grace
	// 2 Katherine
}

func printSettings(conn *hpsqlite.Conn) error {
	settings, err := conn.Settings()
	if err != nil {
		return err
	}
	fmt.Print(settings)
	return nil
}

func transfer(conn *hpsqlite.Conn) error {
	return conn.Tx(func() error {
		if _, err := conn.Exec("UPDATE account SET cents = cents - 100 WHERE id = 1"); err != nil {
			return err // nothing is kept
		}
		return conn.Tx(func() error { // a savepoint
			_, err := conn.Exec("UPDATE account SET cents = cents + 100 WHERE id = 2")
			return err
		})
	})
}

func ExampleConn_Tx() {
	inMemory(func(conn *hpsqlite.Conn) error {
		if _, err := conn.Exec("CREATE TABLE account(id INTEGER PRIMARY KEY, cents CHECK(cents>=0)); INSERT INTO account VALUES(1,150),(2,0)"); err != nil {
			return err
		}
		fmt.Println(transfer(conn))
		fmt.Println(whatWentWrong(transfer(conn)))
		return printSettings(conn)
	})
}

func within(ctx context.Context, conn *hpsqlite.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	defer conn.Until(ctx)()
	_, err := conn.Exec("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n")
	return err // errors.Is(err, context.DeadlineExceeded)
}

func ExampleConn_Until() {
	inMemory(func(conn *hpsqlite.Conn) error {
		fmt.Println(errors.Is(within(context.Background(), conn), context.DeadlineExceeded))
		return nil
	})
	// Output: true
}

func store(conn *hpsqlite.Conn, r io.Reader, size int64) error {
	res, err := conn.Exec("INSERT INTO file(content) VALUES(?)", hpsqlite.ZeroBlob(size))
	if err != nil {
		return err
	}
	blob, err := conn.OpenBlob("main", "file", "content", res.RowID, true)
	if err != nil {
		return err
	}
	if _, err := io.Copy(blob, r); err != nil {
		blob.Close()
		return err
	}
	return blob.Close()
}

func ExampleConn_OpenBlob() {
	inMemory(func(conn *hpsqlite.Conn) error {
		if _, err := conn.Exec("CREATE TABLE file(id INTEGER PRIMARY KEY, content BLOB)"); err != nil {
			return err
		}
		if err := store(conn, bytes.NewReader([]byte("a long text")), 11); err != nil {
			return err
		}
		blob, err := conn.OpenBlob("main", "file", "content", 1, false)
		if err != nil {
			return err
		}
		defer blob.Close()
		part := make([]byte, 4)
		_, err = blob.ReadAt(part, 7)
		fmt.Printf("%s of %d bytes\n", part, blob.Size())
		return err
	})
	// Output: text of 11 bytes
}

func copies(ctx context.Context, conn *hpsqlite.Conn, path string) error {
	if err := conn.Backup(ctx, path); err != nil { // a file that must not be there yet
		return err
	}
	image, err := conn.Serialize("main") // the bytes of such a file
	if err != nil {
		return err
	}
	memory, err := hpsqlite.Open(":memory:")
	if err != nil {
		return err
	}
	defer memory.Close()
	return memory.Deserialize("main", image)
}

func ExampleConn_Backup() {
	path, remove := temp()
	defer remove()
	inMemory(func(conn *hpsqlite.Conn) error {
		if _, err := conn.Exec("CREATE TABLE t(a)"); err != nil {
			return err
		}
		fmt.Println(copies(context.Background(), conn, path))
		fmt.Println(errors.Is(conn.Backup(context.Background(), path), os.ErrExist))
		return nil
	})
	// Output:
	// <nil>
	// true
}

func replicate(from, to *hpsqlite.Conn, change func() error) error {
	session, err := from.NewSession("main")
	if err != nil {
		return err
	}
	defer session.Close()
	if err := change(); err != nil {
		return err
	}
	changeset, err := session.Changeset()
	if err != nil {
		return err
	}
	return to.ApplyChangeset(changeset, hpsqlite.ApplyOptions{
		Conflict: func(c *hpsqlite.Conflict) hpsqlite.Resolution {
			log.Print(c)
			return hpsqlite.Omit
		},
	})
}

func ExampleConn_NewSession() {
	inMemory(func(from *hpsqlite.Conn) error {
		inMemory(func(to *hpsqlite.Conn) error {
			for _, conn := range []*hpsqlite.Conn{from, to} {
				if _, err := conn.Exec("CREATE TABLE t(id INTEGER PRIMARY KEY, a)"); err != nil {
					return err
				}
			}
			err := replicate(from, to, func() error {
				_, err := from.Exec("INSERT INTO t(a) VALUES('x'), ('y')")
				return err
			})
			if err != nil {
				return err
			}
			rows := to.Query("SELECT count(*) FROM t")
			for rows.Next() {
				fmt.Println(rows.Int64(0))
			}
			return rows.Close()
		})
		return nil
	})
}

// Files is what go:embed would give.
var files = fstest.MapFS{
	"migrations/1_people.sql": {Data: []byte("CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT)")},
	"migrations/2_born.sql":   {Data: []byte("ALTER TABLE people ADD COLUMN born INTEGER")},
}

func ExampleMigrate() {
	inMemory(func(conn *hpsqlite.Conn) error {
		steps, err := hpsqlite.MigrationFiles(files, "migrations/*.sql")
		if err != nil {
			return err
		}
		if err := hpsqlite.Migrate(context.Background(), conn, steps); err != nil {
			return err
		}
		rows := conn.Query("PRAGMA user_version")
		for rows.Next() {
			fmt.Println(rows.Int64(0), "migrations are done")
		}
		return rows.Close()
	})
	// Output: 2 migrations are done
}
