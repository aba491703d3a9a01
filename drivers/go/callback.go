package hpsqlite

/*
#cgo nocallback hpgo_hooks_new
#include <stdlib.h>
#include "callback.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A PanicError is the cause of an error when a function, a hook or a collation in Go has
// panicked. The statement has failed, and the connection can be used.
type PanicError struct {
	Callback string // such as "the function reverse"
	Value    any    // what panic was called with
	Stack    []byte // as runtime/debug.Stack writes it
}

// Error says what panicked and with what, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.Callback, e.Value) }

// Unwrap gives the value that panic was called with, if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// callbacks are what a connection has when SQLite calls Go from it.
type callbacks struct {
	c     *C.hpgo_hooks
	hooks [C.HPGO_HOOKS]number
	depth int    // callbacks that run, collations not counted: those may be in other threads
	hook  string // the one that runs and must not use the connection, or empty
	gone  bool   // a callback ended its goroutine, see PanicError

	mu   sync.Mutex
	err  error // why a callback has failed
	hard bool  // SQLite could not be told, so the statement must not succeed
	some atomic.Bool

	doomed bool // what failed could not be rolled back yet, and must not be committed
}

// callsGo makes ready for callbacks. From then on the calls of C are used that may
// come back.
func (c *Conn) callsGo() error {
	if err := c.usable(); err != nil {
		return err
	}
	if c.calls == nil {
		h := C.hpgo_hooks_new(c.h)
		if h == nil {
			return ErrNoMem
		}
		c.calls = &callbacks{c: h}
		c.back = true
	}
	return nil
}

var errGone = errors.New("hpsqlite: a callback has ended its goroutine (runtime.Goexit), and " +
	"left SQLite in the middle of a statement: the connection cannot be used, and is not freed")

// usable refuses what SQLite does not allow at this moment.
func (c *Conn) usable() error {
	switch k := c.calls; {
	case c.h == nil:
		return errClosed
	case k == nil:
	case k.gone:
		return errGone
	case k.hook != "":
		return fmt.Errorf("hpsqlite: %s must not use the connection that calls it", k.hook)
	}
	return nil
}

// closable is usable for Close.
func (c *Conn) closable() error {
	switch k := c.calls; {
	case k == nil:
	case k.gone:
		return errGone
	case k.depth > 0:
		return errors.New("hpsqlite: a callback must not close the connection that calls it")
	}
	return nil
}

// usable refuses to use a statement from a function that it calls.
func (s *Stmt) usable() error {
	if s.running {
		return errInside
	}
	return s.conn.usable()
}

var errInside = errors.New("hpsqlite: a statement cannot be used by a function that it calls; " +
	"another one can, also with the same SQL")

// dropHooks rolls back what is open, which is the last that the hooks are called for, and
// takes them away. It returns what has failed in them.
func (c *Conn) dropHooks() error {
	k := c.calls
	if k == nil {
		return nil
	}
	C.hpgo_rollback(c.h.db)
	C.hpgo_hooks_free(k.c)
	err, _ := k.failure()
	for _, id := range k.hooks {
		numbers.release(id)
	}
	k.c = nil
	return err
}

// keepBusyHandler sets a busy handler in Go again when the timeout was changed or read, for which
// SQLite has but one place.
func (c *Conn) keepBusyHandler() {
	if k := c.calls; k != nil && k.hooks[C.HPGO_BUSY] != 0 {
		C.hpgo_set_hook(k.c, C.HPGO_BUSY, C.uint64_t(k.hooks[C.HPGO_BUSY]), 0)
	}
}

// fail notes why a callback has failed, for the error that comes of it. If hard, SQLite cannot
// be told: the statement is interrupted, and what it wrote is rolled back.
// It may be called in any thread.
func (k *callbacks) fail(err error, hard bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
	}
	k.some.Store(true)
	if hard && k.c != nil {
		k.hard = true
		atomic.StoreInt32((*int32)(&k.c.bFailed), 1)
		C.sqlite3_interrupt((*C.sqlite3)(cPointer(uint64(k.c.db))))
	}
}

// failure takes what fail has noted.
func (k *callbacks) failure() (err error, hard bool) {
	if k == nil || !k.some.Load() {
		return nil, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	err, hard = k.err, k.hard
	k.err, k.hard = nil, false
	k.some.Store(false)
	if hard && !k.doomed {
		atomic.StoreInt32((*int32)(&k.c.bFailed), 0)
	}
	k.doomed = false
	return err, hard
}

// succeeded is called when a call has that may have come back. It reports
// whether a callback failed that SQLite could not be told about: then the call has failed.
func (c *Conn) succeeded(wrote bool) bool {
	k := c.calls
	if !k.some.Load() {
		return true
	}
	if !k.unseen() {
		// What failed did not matter, as an error in what an OR did not need.
		k.failure()
		return true
	}
	if wrote {
		k.doomed = C.hpgo_rollback(c.h.db) != 0
	}
	return false
}

// begin forgets what failed when a statement was given up before: it is not what the next one's
// error comes from.
func (k *callbacks) begin() {
	if k.depth == 0 && k.some.Load() {
		k.failure()
	}
}

// unseen reports whether a callback has failed that SQLite could not be told about.
func (k *callbacks) unseen() bool {
	if !k.some.Load() {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.hard
}

// enter is called when SQLite calls Go, leave at the end. A hook is one that must not use the
// connection.
func (k *callbacks) enter(hook string) (before string) {
	k.depth++
	before = k.hook
	k.hook = hook
	return before
}

func (k *callbacks) leave(before string) {
	k.depth--
	k.hook = before
}

// panicked makes the error of a callback that did not come to its end. Value
// is what recover has given: nil says that the goroutine is ending.
func (k *callbacks) panicked(callback string, value any) error {
	if value == nil {
		k.gone = true
		return errGone
	}
	return &PanicError{callback, value, debug.Stack()}
}

// A number stands for something of Go's in memory of C's. There is no 0.
type number uint64

// numbers are all there are.
var numbers registry

type registry struct {
	mu     sync.Mutex
	blocks atomic.Pointer[[]*[numberBlock]any] // looked up without the lock
	used   int
	free   []number
}

const numberBlock = 256

// hold gives v a number, until release.
func (r *registry) hold(v any) number {
	r.mu.Lock()
	defer r.mu.Unlock()
	var id number
	if n := len(r.free); n > 0 {
		id = r.free[n-1]
		r.free = r.free[:n-1]
	} else {
		r.used++
		id = number(r.used)
		var blocks []*[numberBlock]any
		if p := r.blocks.Load(); p != nil {
			blocks = *p
		}
		if int(id/numberBlock) == len(blocks) {
			blocks = append(blocks[:len(blocks):len(blocks)], new([numberBlock]any))
			r.blocks.Store(&blocks)
		}
	}
	*r.at(id) = v
	return id
}

func (r *registry) at(id number) *any {
	return &(*r.blocks.Load())[id/numberBlock][id%numberBlock]
}

func (r *registry) release(id number) {
	if id == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.at(id) = nil
	r.free = append(r.free, id)
}

// held is how many numbers are in use.
func (r *registry) held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used - len(r.free)
}

//export hpgoRelease
func hpgoRelease(id C.uint64_t) { numbers.release(number(id)) }
