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

// OpenPool is a database of which connections are opened as they are needed, as many as the settings allow. The
// pool is the same for all drivers with APIs of their own.
func OpenPool(s Settings, open func() (Conn, error)) (DB, error) {
	p := &pool{open: open, free: make(chan Conn, s.Limit()), more: s.Limit()}
	conn, err := p.take()
	if err != nil {
		return nil, err
	}
	p.give(conn)
	return p, nil
}

type pool struct {
	open func() (Conn, error)
	free chan Conn
	mu   sync.Mutex
	more int
	all  []Conn
}

func (p *pool) take() (Conn, error) {
	select {
	case conn := <-p.free:
		return conn, nil
	default:
	}
	p.mu.Lock()
	if p.more == 0 {
		p.mu.Unlock()
		return <-p.free, nil
	}
	defer p.mu.Unlock()
	conn, err := p.open()
	if err != nil {
		return nil, err
	}
	p.more--
	p.all = append(p.all, conn)
	return conn, nil
}

func (p *pool) give(conn Conn) {
	p.free <- conn
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
