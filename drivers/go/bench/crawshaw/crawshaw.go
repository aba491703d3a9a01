// Package crawshaw has crawshaw.io/sqlite under test, which has an API of its own only.
package crawshaw

import (
	"strings"

	"crawshaw.io/sqlite"
	"github.com/hpsqlite/hpsqlite/drivers/go/bench"
)

const module = "crawshaw.io/sqlite"

// Drivers are the driver as it is, which keeps statements by itself.
var Drivers = []bench.Driver{{Name: "crawshaw", Module: module, Open: open}}

func open(s bench.Settings) (bench.DB, error) {
	flags := sqlite.SQLITE_OPEN_READWRITE | sqlite.SQLITE_OPEN_CREATE | sqlite.SQLITE_OPEN_URI
	if s.NoMutex {
		flags |= sqlite.SQLITE_OPEN_NOMUTEX
	}
	return bench.OpenPool(s, func() (bench.Conn, error) {
		c, err := sqlite.OpenConn(s.URI(), flags)
		if err != nil {
			return nil, err
		}
		conn := &conn{c: c}
		for _, pragma := range s.Pragmas {
			if err := conn.Exec("PRAGMA " + pragma); err != nil {
				return nil, err
			}
		}
		return conn, nil
	})
}

type conn struct {
	c *sqlite.Conn
	// text is where texts of rows are copied to.
	text []byte
}

func (c *conn) Exec(sql string) error {
	for sql = strings.TrimSpace(sql); sql != ""; {
		stmt, rest, err := c.c.PrepareTransient(sql)
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			more, err = stmt.Step()
		}
		if end := stmt.Finalize(); err == nil {
			err = end
		}
		if err != nil {
			return err
		}
		sql = strings.TrimSpace(sql[len(sql)-rest:])
	}
	return nil
}

func (c *conn) Text(sql string) (string, error) {
	stmt, _, err := c.c.PrepareTransient(sql)
	if err != nil {
		return "", err
	}
	defer stmt.Finalize()
	row, err := stmt.Step()
	if err != nil || !row {
		return "", err
	}
	return stmt.ColumnText(0), nil
}

func bind(stmt *sqlite.Stmt, values []bench.Value) {
	for i, v := range values {
		if v.IsText {
			stmt.BindText(i+1, v.Text)
		} else {
			stmt.BindInt64(i+1, v.Int)
		}
	}
}

func (c *conn) Select(q *bench.Query, args []bench.Value, to *bench.Totals) error {
	stmt, err := c.c.Prepare(q.SQL)
	if err != nil {
		return err
	}
	bind(stmt, args)
	for {
		row, err := stmt.Step()
		if err != nil || !row {
			return err
		}
		for i := range len(q.Columns) {
			if q.Columns[i] == 't' {
				bench.AddText(to, i, c.bytes(stmt, i))
			} else {
				to.Int(i, stmt.ColumnInt64(i))
			}
		}
		to.Row()
		if q.One {
			return stmt.Reset()
		}
	}
}

// bytes gives a text in a buffer that the next one overwrites: the driver's way without an
// allocation.
func (c *conn) bytes(stmt *sqlite.Stmt, column int) []byte {
	if n := stmt.ColumnLen(column); n > len(c.text) {
		c.text = make([]byte, n)
	}
	return c.text[:stmt.ColumnBytes(column, c.text)]
}

func (c *conn) Insert(sql string, rows bench.Rows) error {
	stmt, err := c.c.Prepare(sql)
	if err != nil {
		return err
	}
	row := make([]bench.Value, rows.Width)
	for i := range rows.Len {
		rows.Row(i, row)
		bind(stmt, row)
		if _, err := stmt.Step(); err != nil {
			return err
		}
		if err := stmt.Reset(); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) Close() error {
	return c.c.Close()
}
