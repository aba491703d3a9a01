// Package ncruces has github.com/ncruces/go-sqlite3 under test, behind database/sql and by its
// own API.
package ncruces

import (
	"database/sql"
	"errors"

	"github.com/hpsqlite/hpsqlite/drivers/go/bench"
	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver"
	_ "github.com/ncruces/go-sqlite3/vfs/memdb"
)

const module = "github.com/ncruces/go-sqlite3"

// Drivers are the driver behind database/sql, and its own API.
var Drivers = []bench.Driver{
	{Name: "ncruces", Module: module, Open: open, File: file},
	{Name: "ncruces-direct", Module: module, Open: openDirect, File: file},
}

// file has files of a memory database opened by the operating system, not by the memory's own VFS.
var file = []string{"vfs=os"}

// uri has a memory database shared by the driver's own VFS: its SQLite is built without shared
// cache.
func uri(s bench.Settings) string {
	if !s.Memory {
		return s.URI(s.PragmaParameters()...)
	}
	pragmas := s.WithoutExclusive().PragmaParameters()
	return bench.Settings{Path: "/monster"}.URI(append(pragmas, "vfs=memdb")...)
}

func open(s bench.Settings) (bench.DB, error) {
	db, err := sql.Open("sqlite3", uri(s))
	if err != nil {
		return nil, err
	}
	return bench.OpenSQL(db, s), nil
}

func openDirect(s bench.Settings) (bench.DB, error) {
	flags := sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE | sqlite3.OPEN_URI
	return bench.OpenPool(s, func() (bench.Conn, error) {
		c, err := sqlite3.OpenFlags(uri(s), flags)
		if err != nil {
			return nil, err
		}
		return &conn{c: c, kept: map[string]*sqlite3.Stmt{}}, nil
	})
}

// conn keeps statements, which the driver leaves to the program.
type conn struct {
	c    *sqlite3.Conn
	kept map[string]*sqlite3.Stmt
}

func (c *conn) Exec(sql string) error {
	return c.c.Exec(sql)
}

func (c *conn) Text(sql string) (string, error) {
	stmt, _, err := c.c.Prepare(sql)
	if err != nil {
		return "", err
	}
	var text string
	if stmt.Step() {
		text = stmt.ColumnText(0)
	}
	return text, errors.Join(stmt.Err(), stmt.Close())
}

func (c *conn) prepared(sql string) (*sqlite3.Stmt, error) {
	if stmt, ok := c.kept[sql]; ok {
		return stmt, nil
	}
	stmt, _, err := c.c.Prepare(sql)
	if err != nil {
		return nil, err
	}
	c.kept[sql] = stmt
	return stmt, nil
}

func bind(stmt *sqlite3.Stmt, values []bench.Value) error {
	for i, v := range values {
		var err error
		if v.IsText {
			err = stmt.BindText(i+1, v.Text)
		} else {
			err = stmt.BindInt64(i+1, v.Int)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) Select(q *bench.Query, args []bench.Value, to *bench.Totals) error {
	stmt, err := c.prepared(q.SQL)
	if err != nil {
		return err
	}
	if err := bind(stmt, args); err != nil {
		return err
	}
	for stmt.Step() {
		for i := range len(q.Columns) {
			if q.Columns[i] == 't' {
				bench.AddText(to, i, stmt.ColumnRawText(i))
			} else {
				to.Int(i, stmt.ColumnInt64(i))
			}
		}
		to.Row()
		if q.One {
			break
		}
	}
	return stmt.Reset()
}

func (c *conn) Insert(sql string, rows bench.Rows) error {
	stmt, err := c.prepared(sql)
	if err != nil {
		return err
	}
	row := make([]bench.Value, rows.Width)
	for i := range rows.Len {
		rows.Row(i, row)
		if err := bind(stmt, row); err != nil {
			return err
		}
		if err := stmt.Exec(); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) Close() error {
	var errs []error
	for _, stmt := range c.kept {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.c.Close())...)
}
