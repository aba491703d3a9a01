package pool

import (
	"context"
	"sync"

	hpsqlite "github.com/hpsqlite/hpsqlite/drivers/go"
)

// A queue lends connections. Who waits for one gets it in the order of arrival: a
// connection that comes back goes to the first of them, and nobody overtakes.
type queue struct {
	open func() (*hpsqlite.Conn, error)

	mu      sync.Mutex
	free    []*hpsqlite.Conn // the last one came back last: its caches are warm
	unmade  int              // connections that may still be opened
	out     int              // lent, or being opened
	all     map[*hpsqlite.Conn]struct{}
	first   *waiter
	last    *waiter
	closing bool
	idle    chan struct{} // closed when closing and nothing is out
}

// A waiter is in the list from first to last, and out of it when it has been sent a grant.
type waiter struct {
	ready      chan grant
	prev, next *waiter
	queued     bool
}

// A grant is a connection, or leave to open one, or an error.
type grant struct {
	conn *hpsqlite.Conn
	err  error
}

var waiters = sync.Pool{New: func() any { return &waiter{ready: make(chan grant, 1)} }}

func newQueue(most int, open func() (*hpsqlite.Conn, error)) *queue {
	return &queue{open: open, unmade: most, all: map[*hpsqlite.Conn]struct{}{}, idle: make(chan struct{})}
}

// take waits for a connection, which has to be given back.
func (q *queue) take(ctx context.Context) (*hpsqlite.Conn, error) {
	q.mu.Lock()
	if q.closing {
		q.mu.Unlock()
		return nil, ErrClosed
	}
	if n := len(q.free); n > 0 {
		c := q.free[n-1]
		q.free = q.free[:n-1]
		q.out++
		q.mu.Unlock()
		return c, nil
	}
	if q.unmade > 0 {
		q.unmade--
		q.out++
		q.mu.Unlock()
		return q.make()
	}
	w := waiters.Get().(*waiter)
	q.push(w)
	q.mu.Unlock()
	var g grant
	select {
	case g = <-w.ready:
	case <-ctx.Done():
		q.mu.Lock()
		if w.queued {
			q.remove(w)
			q.mu.Unlock()
			waiters.Put(w)
			return nil, ctx.Err()
		}
		q.mu.Unlock()
		// It was this one's turn just now.
		g = <-w.ready
		switch {
		case g.err != nil:
		case g.conn != nil:
			q.give(g.conn, false)
		default:
			q.lost()
		}
		waiters.Put(w)
		return nil, ctx.Err()
	}
	waiters.Put(w)
	if g.conn == nil && g.err == nil {
		return q.make()
	}
	return g.conn, g.err
}

// make opens a connection, for which there is leave.
func (q *queue) make() (*hpsqlite.Conn, error) {
	c, err := q.open()
	if err != nil {
		q.lost()
		return nil, err
	}
	q.mu.Lock()
	q.all[c] = struct{}{}
	q.mu.Unlock()
	return c, nil
}

// give takes a connection back; one that is broken is closed.
func (q *queue) give(c *hpsqlite.Conn, broken bool) {
	if broken {
		q.mu.Lock()
		delete(q.all, c)
		q.mu.Unlock()
		c.Close()
		q.lost()
		return
	}
	q.mu.Lock()
	if w := q.first; w != nil {
		q.remove(w)
		w.ready <- grant{conn: c}
	} else {
		q.free = append(q.free, c)
		q.returned()
	}
	q.mu.Unlock()
}

// lost lets another connection be opened in place of one that is no more.
func (q *queue) lost() {
	q.mu.Lock()
	if w := q.first; w != nil {
		q.remove(w)
		w.ready <- grant{}
	} else {
		q.unmade++
		q.returned()
	}
	q.mu.Unlock()
}

func (q *queue) returned() {
	q.out--
	if q.closing && q.out == 0 {
		close(q.idle)
	}
}

func (q *queue) push(w *waiter) {
	w.queued = true
	if w.prev = q.last; w.prev != nil {
		w.prev.next = w
	} else {
		q.first = w
	}
	q.last = w
}

func (q *queue) remove(w *waiter) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		q.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		q.last = w.prev
	}
	w.prev, w.next, w.queued = nil, nil, false
}

// stop sends those away who wait. It says false if it was called before.
func (q *queue) stop() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closing {
		return false
	}
	q.closing = true
	for w := q.first; w != nil; w = q.first {
		q.remove(w)
		w.ready <- grant{err: ErrClosed}
	}
	if q.out == 0 {
		close(q.idle)
	}
	return true
}

// interrupt ends what the connections that are lent are doing.
func (q *queue) interrupt() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for c := range q.all {
		c.Interrupt()
	}
}

// close closes the connections, when all are back.
func (q *queue) close() error {
	var err error
	for _, c := range q.free {
		if err2 := c.Close(); err == nil {
			err = err2
		}
	}
	q.free = nil
	return err
}
