package hpsqlite

import "errors"

// Tx carries out f in a transaction: all that f did is kept if it returns nil, and nothing of
// it if it returns an error, which Tx then returns, or panics. The transaction begins
// IMMEDIATE: it waits for its turn to write, as long as the busy timeout, and cannot fail later
// because another connection has written.
//
// If a transaction is open, by another Tx or by BEGIN, f has a savepoint in it: when f
// fails only what f did is undone.
//
// f must close the rows that it opens, and not end the transaction by itself. Both are errors,
// and nothing is kept.
func (c *Conn) Tx(f func() error) error {
	return c.tx(c.allOrNothing, f)
}

// Snapshot carries out f in a transaction that only reads, so that all queries of f see
// the database as it was at the first. It waits for nobody, and in WAL mode nobody
// waits for it. In a transaction that is open it is f alone.
func (c *Conn) Snapshot(f func() error) error {
	if c.h != nil && !c.autocommit {
		return f()
	}
	return c.tx(c.deferred, f)
}

func (c *Conn) deferred() (end func(error) error, err error) {
	if _, err := c.Exec("BEGIN"); err != nil {
		return nil, err
	}
	return func(err error) error {
		if !c.autocommit {
			if err2 := c.undo("ROLLBACK"); err == nil {
				err = err2
			}
		}
		return err
	}, nil
}

// tx calls f between begin and the end that it gives.
func (c *Conn) tx(begin func() (func(error) error, error), f func() error) error {
	if err := c.usable(); err != nil {
		return err
	}
	rows := c.openRows()
	end, err := begin()
	if err != nil {
		return err
	}
	ended := false
	defer func() {
		// f panicked, or ended its goroutine.
		if !ended && c.h != nil {
			end(errPanic)
		}
	}()
	err = f()
	ended = true
	switch {
	case c.h == nil:
		if err == nil {
			err = errClosed
		}
		return err
	case err != nil:
	case c.autocommit:
		return errors.New("hpsqlite: the transaction was ended inside of the function that was " +
			"called in it")
	case c.openRows() > rows:
		err = errors.New("hpsqlite: rows were not closed inside of the transaction that they " +
			"were opened in")
	}
	return end(err)
}

// openRows is the number of queries whose rows are not closed.
func (c *Conn) openRows() int {
	n := 0
	for s := range c.stmts {
		if s.rows.open {
			n++
		}
	}
	return n
}
