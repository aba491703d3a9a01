package pool

import (
	"context"
	"sync"
	"time"

	hpsqlite "github.com/hpsqlite/hpsqlite/drivers/go"
)

// A queue lends connections. Who waits for one gets it in the order of arrival.
//
// If overtaking is allowed, a connection that comes back is free for whoever asks first, and the
// first of those who wait is woken to ask again: to have goroutines wake each other for every
// connection takes longer than a short query does. Who has waited for longer than that allows is
// handed the next connection, as everyone is without overtaking.
type queue struct {
	open       func() (*hpsqlite.Conn, error)
	overtaking time.Duration

	mu      sync.Mutex
	free    []*hpsqlite.Conn // the last one came back last: its caches are warm
	unmade  int              // connections that may still be opened
	out     int              // lent, or being opened
	all     map[*hpsqlite.Conn]struct{}
	first   *waiter
	last    *waiter
	woken   bool // one that waited has been told to ask again, and has not yet
	closing bool
	idle    chan struct{} // closed when closing and nothing is out
}

// A waiter is in the list from first to last, and out of it when it has been sent a grant.
type waiter struct {
	ready      chan grant
	since      time.Time
	prev, next *waiter
	queued     bool
}

// A grant is a connection, or leave to open one, or word to ask again, or an error.
type grant struct {
	conn  *hpsqlite.Conn
	again bool
	err   error
}

var waiters = sync.Pool{New: func() any { return &waiter{ready: make(chan grant, 1)} }}

func newQueue(most int, overtaking time.Duration, open func() (*hpsqlite.Conn, error)) *queue {
	return &queue{open: open, overtaking: overtaking, unmade: most,
		all: map[*hpsqlite.Conn]struct{}{}, idle: make(chan struct{})}
}

// take waits for a connection, which has to be given back.
func (q *queue) take(ctx context.Context) (*hpsqlite.Conn, error) {
	var w *waiter
	for {
		c, leave, err := q.ask(&w)
		if c == nil && !leave && err == nil {
			var g grant
			if g, err = q.wait(ctx, w); g.again {
				continue
			}
			c, leave = g.conn, g.conn == nil
		}
		if w != nil {
			waiters.Put(w)
		}
		if err != nil {
			return nil, err
		}
		if leave {
			return q.make()
		}
		return c, nil
	}
}

// ask gives a connection that is free, or leave to open one, or else puts *w into the list: behind
// all, if there is none yet, and in front when it has waited before.
func (q *queue) ask(w **waiter) (c *hpsqlite.Conn, leave bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if *w != nil {
		q.woken = false
	}
	if q.closing {
		return nil, false, ErrClosed
	}
	if n := len(q.free); n > 0 {
		c = q.free[n-1]
		q.free = q.free[:n-1]
		q.out++
		q.wake()
		return c, false, nil
	}
	if q.unmade > 0 {
		q.unmade--
		q.out++
		return nil, true, nil
	}
	if *w == nil {
		*w = waiters.Get().(*waiter)
		(*w).since = time.Now()
		q.push(*w, q.last)
	} else {
		q.push(*w, nil)
	}
	return nil, false, nil
}

// wait returns what w is granted, or the context's error.
func (q *queue) wait(ctx context.Context, w *waiter) (grant, error) {
	select {
	case g := <-w.ready:
		return g, g.err
	case <-ctx.Done():
	}
	q.mu.Lock()
	if w.queued {
		q.remove(w)
		q.mu.Unlock()
		return grant{}, ctx.Err()
	}
	q.mu.Unlock()
	// It was this one's turn just now.
	switch g := <-w.ready; {
	case g.err != nil:
	case g.conn != nil:
		q.give(g.conn, false)
	case g.again:
		q.mu.Lock()
		q.woken = false
		q.wake()
		q.mu.Unlock()
	default:
		q.lost()
	}
	return grant{}, ctx.Err()
}

// wake tells the first one that waits to ask again, if a connection is free. One at a time: when it
// has asked, it wakes the next.
func (q *queue) wake() {
	if w := q.first; w != nil && !q.woken && len(q.free) > 0 {
		q.woken = true
		q.remove(w)
		w.ready <- grant{again: true}
	}
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
	if w := q.first; w != nil && (q.overtaking == 0 || time.Since(w.since) >= q.overtaking) {
		q.remove(w)
		w.ready <- grant{conn: c}
	} else {
		q.free = append(q.free, c)
		q.returned()
		q.wake()
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

// push puts w behind another one, or in front if that is nil.
func (q *queue) push(w, behind *waiter) {
	w.queued = true
	if w.prev = behind; behind != nil {
		w.next, behind.next = behind.next, w
	} else {
		w.next, q.first = q.first, w
	}
	if w.next != nil {
		w.next.prev = w
	} else {
		q.last = w
	}
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
