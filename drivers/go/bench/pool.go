package bench

import (
	"errors"
	"sync"
)

// Conn is a connection of a driver that has an API of its own. One goroutine uses it at a time.
type Conn interface {
	Inserter
	Exec(sql string) error
	Text(sql string) (string, error)
	Select(q *Query, args []Value, to *Totals) error
	Close() error
}

// OpenPool is a database of which connections are opened as they are needed, as many as the
// settings allow. The pool is the same for all drivers with APIs of their own, and costs
// little: who gives a connection back and wants one again gets it, though others wait, because
// to have goroutines wake each other takes longer than a query.
func OpenPool(s Settings, open func() (Conn, error)) (DB, error) {
	p := &pool{open: open, more: s.Limit()}
	p.back.L = &p.mu
	conn, err := p.take()
	if err != nil {
		return nil, err
	}
	p.give(conn)
	return p, nil
}

type pool struct {
	open func() (Conn, error)
	mu   sync.Mutex
	free []Conn    // the last one was used last
	back sync.Cond // one is free again
	more int       // connections that may still be opened
	all  []Conn
}

func (p *pool) take() (Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) == 0 && p.more == 0 {
		p.back.Wait()
	}
	if n := len(p.free); n > 0 {
		conn := p.free[n-1]
		p.free = p.free[:n-1]
		return conn, nil
	}
	conn, err := p.open()
	if err != nil {
		return nil, err
	}
	p.more--
	p.all = append(p.all, conn)
	return conn, nil
}

func (p *pool) give(conn Conn) {
	p.mu.Lock()
	p.free = append(p.free, conn)
	p.back.Signal()
	p.mu.Unlock()
}

func (p *pool) Exec(sql string) error {
	conn, err := p.take()
	if err != nil {
		return err
	}
	defer p.give(conn)
	return conn.Exec(sql)
}

func (p *pool) Text(sql string) (string, error) {
	conn, err := p.take()
	if err != nil {
		return "", err
	}
	defer p.give(conn)
	return conn.Text(sql)
}

func (p *pool) Select(q *Query, args []Value, to *Totals) error {
	conn, err := p.take()
	if err != nil {
		return err
	}
	defer p.give(conn)
	return conn.Select(q, args, to)
}

func (p *pool) Transaction(do func(Inserter) error) error {
	conn, err := p.take()
	if err != nil {
		return err
	}
	defer p.give(conn)
	if err := conn.Exec("BEGIN"); err != nil {
		return err
	}
	if err := do(conn); err != nil {
		return errors.Join(err, conn.Exec("ROLLBACK"))
	}
	return conn.Exec("COMMIT")
}

func (p *pool) Close() error {
	var errs []error
	for _, conn := range p.all {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}
