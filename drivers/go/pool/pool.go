// Package pool shares one database among many goroutines: several connections
// read at the same time, and one writes.
//
//	p, err := pool.Open("app.db", pool.Options{})
//
//	err = p.Read(ctx, func(c *hpsqlite.Conn) error {
//		return c.Query("SELECT …").Close()
//	})
//	err = p.Write(ctx, func(c *hpsqlite.Conn) error {
//		_, err := c.Exec("INSERT …")
//		return err
//	})
//
// SQLite has one writer at a time. Programs that leave it to SQLite to find that out wait in
// its busy handler, asleep and in no order, and those that read before they write in the same
// transaction fail with SQLITE_BUSY at once. Here writers stand in a queue, in the order of
// arrival, without any waiting for locks (unless another program writes as well). What reads
// cannot write.
package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	hpsqlite "github.com/hpsqlite/hpsqlite/drivers/go"
)

// Options say how many connections there are, and what they begin with. The zero value will do.
type Options struct {
	// Readers is the most connections that read: as many as processors, and at least 4, if it is 0.
	// They are opened when they are wanted.
	Readers int

	// Init, if not nil, is called with each new connection, to define functions for instance.
	Init func(*hpsqlite.Conn) error
}

// A Pool is the connections to one database. All its methods may be called by
// any goroutine.
type Pool struct {
	readers *queue
	writer  *queue
}

// overtaking is how long a goroutine that waits for a connection that reads may see others get
// one first.
const overtaking = time.Millisecond

// ErrClosed is what a pool says that is closed, or is being closed.
var ErrClosed = errors.New("hpsqlite: the pool is closed")

// Open opens the database that dsn names, see hpsqlite.ParseDSN, with the same settings for each
// connection. With mode=ro there is none that writes. A database in memory is one for all.
func Open(dsn string, o Options) (*Pool, error) {
	cfg, err := hpsqlite.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	return OpenConfig(cfg, o)
}

// OpenConfig opens the database that cfg describes, see Open.
func OpenConfig(cfg hpsqlite.Config, o Options) (*Pool, error) {
	if cfg.Path == "" && cfg.Mode != hpsqlite.Memory {
		return nil, errors.New("hpsqlite: a temporary database belongs to one connection, so a " +
			"pool cannot have it")
	}
	// Pools share a database in memory that has a name.
	cfg.Cache = "shared"
	if cfg.Path == ":memory:" || cfg.Path == "" {
		cfg.Cache = "private"
	}
	cfg = cfg.SharedMemory()
	open := func(cfg hpsqlite.Config) func() (*hpsqlite.Conn, error) {
		return func() (*hpsqlite.Conn, error) {
			c, err := hpsqlite.OpenConfig(cfg)
			if err == nil && o.Init != nil {
				if err = o.Init(c); err != nil {
					c.Close()
				}
			}
			if err != nil {
				return nil, err
			}
			return c, nil
		}
	}
	readers := o.Readers
	if readers <= 0 {
		readers = max(runtime.GOMAXPROCS(0), 4)
	}
	reading := cfg
	reading.Mode = hpsqlite.ReadOnly
	p := &Pool{readers: newQueue(readers, overtaking, open(reading))}
	if cfg.Mode != hpsqlite.ReadOnly {
		p.writer = newQueue(1, 0, open(cfg))
	}
	// What cannot be opened is told now. The writer comes first, because it makes the file.
	for _, q := range []*queue{p.writer, p.readers} {
		if q == nil {
			continue
		}
		c, err := q.take(context.Background())
		if err != nil {
			p.Close()
			return nil, err
		}
		q.give(c, false)
	}
	return p, nil
}

// Read calls f with a connection that can only read, and waits for one if all are in use: in
// the order of arrival once it has waited for a millisecond. When ctx is done, waiting and the
// statements of f end with its error. Each statement sees the database as it is when it begins;
// Snapshot is for several that belong together.
//
// f must not keep the connection, and must close the rows that it opens: otherwise they are closed,
// and that is an error. It must not call Read of the same pool again: all connections might be with
// functions that wait for another.
func (p *Pool) Read(ctx context.Context, f func(*hpsqlite.Conn) error) (err error) {
	c, err := p.readers.take(ctx)
	if err != nil {
		return fmt.Errorf("waiting for a connection that reads: %w", err)
	}
	defer p.readers.end(c, &err)
	if ctx.Done() != nil {
		defer c.Until(ctx)()
	}
	return f(c)
}

// Snapshot is Read where all statements of f see the database as it is at the first.
func (p *Pool) Snapshot(ctx context.Context, f func(*hpsqlite.Conn) error) error {
	return p.Read(ctx, func(c *hpsqlite.Conn) error {
		return c.Snapshot(func() error { return f(c) })
	})
}

// Write calls f in a transaction of the connection that writes: BEGIN IMMEDIATE, and COMMIT if
// f returns nil, else ROLLBACK, also if it panics. Calls wait for each other in the order of
// arrival. When ctx is done, waiting and the statements of f end with its error and the
// transaction is rolled back; a COMMIT that has begun is not given up.
//
// What may fail by itself inside of f goes into conn.Tx, which is a savepoint there. f must not
// call Write of the same pool, which would wait for itself.
func (p *Pool) Write(ctx context.Context, f func(*hpsqlite.Conn) error) error {
	return p.Writer(ctx, func(c *hpsqlite.Conn) error {
		return c.Tx(func() error { return f(c) })
	})
}

// Writer calls f with the connection that writes, outside of a transaction: for VACUUM, a
// checkpoint, or what begins transactions by itself. It waits as Write does.
func (p *Pool) Writer(ctx context.Context, f func(*hpsqlite.Conn) error) (err error) {
	if p.writer == nil {
		return errors.New("hpsqlite: the pool was opened with mode=ro: it has no connection that writes")
	}
	c, err := p.writer.take(ctx)
	if err != nil {
		return fmt.Errorf("waiting for the connection that writes: %w", err)
	}
	defer p.writer.end(c, &err)
	if ctx.Done() != nil {
		defer c.Until(ctx)()
	}
	return f(c)
}

// Migrate is hpsqlite.Migrate on the connection that writes.
func (p *Pool) Migrate(ctx context.Context, steps []string) error {
	return p.Writer(ctx, func(c *hpsqlite.Conn) error { return hpsqlite.Migrate(ctx, c, steps) })
}

// end gives a connection back. What was left open on it is closed, and an error.
func (q *queue) end(c *hpsqlite.Conn, err *error) {
	left := c.Reset()
	if left == nil {
		q.give(c, false)
		return
	}
	if *err == nil {
		*err = left
	}
	// If that did not help, or it was closed, it is of no more use.
	q.give(c, c.Reset() != nil)
}

// Close waits until all functions that have been called have returned, and closes the
// connections. Calls that wait for a connection, and new ones, fail with ErrClosed. It must not
// be called by one of these functions.
func (p *Pool) Close() error { return p.CloseContext(context.Background()) }

// CloseContext is Close that, when ctx is done, interrupts what the functions do, until they
// return.
func (p *Pool) CloseContext(ctx context.Context) error {
	queues := []*queue{p.readers}
	if p.writer != nil {
		// Last: it is the one that can do the last checkpoint, and an in-memory database ends with it.
		queues = append(queues, p.writer)
	}
	for _, q := range queues {
		if !q.stop() {
			return ErrClosed
		}
	}
	done := ctx.Done()
	var again <-chan time.Time
	for _, q := range queues {
		for back := false; !back; {
			select {
			case <-q.idle:
				back = true
			case <-done:
				done = nil
				again = time.After(0)
			case <-again:
				// A statement that begins after an interrupt is not interrupted.
				for _, q := range queues {
					q.interrupt()
				}
				again = time.After(10 * time.Millisecond)
			}
		}
	}
	var err error
	for _, q := range queues {
		if err2 := q.close(); err == nil {
			err = err2
		}
	}
	return err
}
