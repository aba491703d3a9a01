package hpsqlite

// #include "hpgo.h"
import "C"

import (
	"context"
	"time"
)

// A watch interrupts its connection's statements when a context is done, from
// begin to end. An interrupt that comes too late, or before the
// statement has begun, does nothing in SQLite: so it is repeated until
// end, and never comes after it.
type watch struct {
	conn  *Conn
	ctx   context.Context
	stop  func() bool
	round uint64 // of begin and end; guarded by conn.mu
	rests bool   // the statement is not being stepped; guarded by conn.mu
}

// begin returns the context's error if it is done already.
func (w *watch) begin(ctx context.Context) error {
	if ctx.Done() == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w.conn.mu.Lock()
	w.round++
	w.rests = false
	round := w.round
	w.conn.mu.Unlock()
	w.ctx = ctx
	w.stop = context.AfterFunc(ctx, func() { w.interrupt(round) })
	return nil
}

func (w *watch) interrupt(round uint64) {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		w.conn.mu.Lock()
		if w.round != round || w.conn.h == nil {
			w.conn.mu.Unlock()
			return
		}
		if !w.rests {
			C.hpgo_interrupt(w.conn.h, 1)
		}
		w.conn.mu.Unlock()
		time.Sleep(pause)
	}
}

// rest keeps the context from interrupting: an interrupt ends all statements of the connection, and
// another one may be running while this one's rows are read. It reports whether the
// context is done; then the statement has to be reset, which alone undoes an interrupt.
func (w *watch) rest() (done bool) {
	if w.stop == nil {
		return false
	}
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	w.rests = true
	if w.ctx.Err() == nil {
		return false
	}
	C.hpgo_interrupt(w.conn.h, 0)
	return true
}

// resume is called before the statement goes on. It reports whether the context is done.
func (w *watch) resume() (done bool) {
	if w.stop == nil {
		return false
	}
	if w.ctx.Err() != nil {
		return true
	}
	w.conn.mu.Lock()
	w.rests = false
	w.conn.mu.Unlock()
	return false
}

func (w *watch) end() {
	if w.stop == nil {
		w.ctx = nil
		return
	}
	if !w.stop() {
		w.conn.mu.Lock()
		w.round++
		if w.conn.h != nil {
			C.hpgo_interrupt(w.conn.h, 0)
		}
		w.conn.mu.Unlock()
	}
	w.stop = nil
	w.ctx = nil
}

// reason is the watched context's error, if it is done.
func (w *watch) reason() error {
	if w == nil || w.ctx == nil {
		return nil
	}
	return w.ctx.Err()
}
