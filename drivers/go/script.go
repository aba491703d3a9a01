package hpsqlite

import (
	"context"
	"database/sql/driver"
	"io"
	"slices"
)

// A script is the rows of SQL with several statements: each that gives rows is a result
// set, and those between are carried out when the one before has been read.
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
func (k *sqlConn) queryScript(ctx context.Context, s *Stmt, tail string, args []any) (driver.Rows, error) {
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
	if err := p.Close(); err != nil {
		p.end = true
		return err
	}
	s, err := p.take()
	if err != nil {
		p.end = true
		return err
	}
	return p.next(s)
}

// Close leaves statements that were not reached undone.
func (p *script) Close() error {
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
