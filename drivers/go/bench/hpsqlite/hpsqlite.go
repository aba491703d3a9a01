// Package hpsqlite has this project's driver under test, behind database/sql and by its own API.
package hpsqlite

import (
	"database/sql"
	"errors"

	"github.com/hpsqlite/hpsqlite/drivers/go"
	"github.com/hpsqlite/hpsqlite/drivers/go/bench"
)

// Drivers are the driver behind database/sql, and its own API.
var Drivers = []bench.Driver{
	{Name: "hpsqlite", Open: open},
	{Name: "hpsqlite-direct", Open: openDirect},
}

// dsn leaves out the driver's own settings, which are not those that are asked for.
func dsn(s bench.Settings) string {
	return s.URI(append(s.PragmaParameters(), "_defaults=off")...)
}

func open(s bench.Settings) (bench.DB, error) {
	db, err := sql.Open("hpsqlite", dsn(s))
	if err != nil {
		return nil, err
	}
	return bench.OpenSQL(db, s), nil
}

func openDirect(s bench.Settings) (bench.DB, error) {
	return bench.OpenPool(s, func() (bench.Conn, error) {
		c, err := hpsqlite.Open(dsn(s))
		if err != nil {
			return nil, err
		}
		return &conn{c: c, kept: map[string]*hpsqlite.Stmt{}}, nil
	})
}

// conn keeps its statements, as a program does that has only a few.
type conn struct {
	c    *hpsqlite.Conn
	kept map[string]*hpsqlite.Stmt
}

func (c *conn) prepared(sql string) (*hpsqlite.Stmt, error) {
	if stmt, ok := c.kept[sql]; ok {
		return stmt, nil
	}
	stmt, err := c.c.Prepare(sql)
	if err != nil {
		return nil, err
	}
	c.kept[sql] = stmt
	return stmt, nil
}

func bind(stmt *hpsqlite.Stmt, values []bench.Value) {
	for i, v := range values {
		if v.IsText {
			stmt.BindText(i+1, v.Text)
		} else {
			stmt.BindInt64(i+1, v.Int)
		}
	}
}

func (c *conn) Exec(sql string) error {
	_, err := c.c.Exec(sql)
	return err
}

func (c *conn) Text(sql string) (string, error) {
	rows := c.c.Query(sql)
	var text string
	if rows.Next() {
		text = rows.Text(0)
	}
	return text, rows.Close()
}

func (c *conn) Select(q *bench.Query, args []bench.Value, to *bench.Totals) error {
	stmt, err := c.prepared(q.SQL)
	if err != nil {
		return err
	}
	bind(stmt, args)
	rows := stmt.Query()
	for rows.Next() {
		for i := range len(q.Columns) {
			if q.Columns[i] == 't' {
				bench.AddText(to, i, rows.RawText(i))
			} else {
				to.Int(i, rows.Int64(i))
			}
		}
		to.Row()
		if q.One {
			break
		}
	}
	return rows.Close()
}

func (c *conn) Insert(sql string, rows bench.Rows) error {
	stmt, err := c.prepared(sql)
	if err != nil {
		return err
	}
	row := make([]bench.Value, rows.Width)
	_, err = stmt.ExecMany(rows.Len, func(i int) {
		rows.Row(i, row)
		bind(stmt, row)
	})
	return err
}

func (c *conn) Close() error {
	var errs []error
	for _, stmt := range c.kept {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.c.Close())...)
}
