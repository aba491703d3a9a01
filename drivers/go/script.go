package hpsqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A script is the rows of SQL with several statements: each that gives rows is a result
// set, and those between are carried out when the one before has been read, or with Close.
type script struct {
	sqlRows
	k    *sqlConn
	ctx  context.Context
	tail string // what has not been carried out
	args []any
	set  driver.Rows
	end  bool
}

var _ driver.RowsNextResultSet = (*script)(nil)

// queryScript carries out s and what follows up to the first that gives rows.
func (k *sqlConn) queryScript(ctx context.Context, s *Stmt, tail string,
	args []any) (driver.Rows, error) {
	p := &script{k: k, ctx: ctx, tail: tail, args: slices.Clone(args)}
	if err := p.next(s); err != nil {
		return nil, err
	}
	return p, nil
}

// next carries out s, and what follows as long as it gives no rows.
func (p *script) next(s *Stmt) error {
	for {
		if s == nil {
			// Behind the last statement is something that is none, such as a byte order mark.
			p.sqlRows, p.end = sqlRows{}, true
			return leftOver(p.args, false)
		}
		var mine []any
		mine, p.args = s.split(p.args)
		s.query(p.ctx, mine)
		rows, err := s.sqlRows.begin(s, true)
		if err != nil {
			return err
		}
		if s.rows.cols > 0 || p.tail == "" {
			p.sqlRows = s.sqlRows
			p.set = rows
			if p.tail == "" {
				p.end = true
				if err := leftOver(p.args, false); err != nil {
					rows.Close()
					return err
				}
			}
			return nil
		}
		rows.Close()
		if s, err = p.take(); err != nil {
			return err
		}
	}
}

// take is the next statement.
func (p *script) take() (*Stmt, error) {
	s, tail, err := p.k.c.take(p.tail)
	p.tail = tail
	return s, err
}

// HasNextResultSet reports whether there are more statements.
func (p *script) HasNextResultSet() bool { return !p.end }

// NextResultSet goes on with the next statement that gives rows.
func (p *script) NextResultSet() error {
	err := p.closeSet()
	if err == nil {
		var s *Stmt
		if s, err = p.take(); err == nil {
			err = p.next(s)
		}
	}
	if err != nil {
		p.end = true
	}
	return err
}

// Close carries out what was not reached, as other drivers have done by then, unless there was
// an error. Queries among it are left out: nobody reads their rows.
func (p *script) Close() error {
	if err := p.closeSet(); err != nil || p.end {
		return err
	}
	p.end = true
	for p.tail != "" {
		s, err := p.take()
		if s == nil {
			return err
		}
		var mine []any
		if mine, p.args = s.split(p.args); !s.readonly || s.numCols == 0 {
			_, err = s.exec(p.ctx, mine)
		}
		s.release()
		if err != nil {
			return err
		}
	}
	return leftOver(p.args, false)
}

func (p *script) closeSet() error {
	if p.r == nil {
		return nil
	}
	return p.sqlRows.Close()
}

// Next gives a row of the result set.
func (p *script) Next(dest []driver.Value) error {
	if p.r == nil {
		return io.EOF
	}
	return p.sqlRows.Next(dest)
}

// leftOver is the error where more parameters are given than the statements take; none says that
// there is no statement at all.
func leftOver(args []any, none bool) error {
	n := 0
	for _, a := range args {
		if _, ok := named(a); !ok {
			n++
		}
	}
	switch {
	case n == 0:
		return nil
	case none:
		return fmt.Errorf("hpsqlite: %d parameters and no statement", n)
	}
	return fmt.Errorf("hpsqlite: %d parameters more than the statements have", n)
}

// isPragma reports whether the first statement of sql is a PRAGMA.
func isPragma(sql string) bool {
	word := blank(sql)
	return len(word) > 6 && strings.EqualFold(word[:6], "PRAGMA")
}

// blank gives sql without what comes before the next statement, if that
// is nothing but blanks, semicolons and comments to the end.
func blank(sql string) string {
	rest := sql
	for {
		rest = strings.TrimLeft(rest, " \t\r\n\f;")
		switch {
		case rest == "":
			return ""
		case strings.HasPrefix(rest, "--"):
			at := strings.IndexByte(rest, '\n')
			if at < 0 {
				return ""
			}
			rest = rest[at+1:]
		case strings.HasPrefix(rest, "/*"):
			at := strings.Index(rest[2:], "*/")
			if at < 0 {
				return ""
			}
			rest = rest[2+at+2:]
		default:
			return rest
		}
	}
}
