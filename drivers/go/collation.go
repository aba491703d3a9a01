package hpsqlite

/*
#include "callback.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"
)

// A collation is what a number of SQLite's stands for.
type collation struct {
	calls   *callbacks
	name    string
	mu      sync.Mutex
	compare func(a, b []byte) int
}

// CreateCollation defines an order of texts for COLLATE, or defines it anew. compare returns a
// number below, equal to, or above 0 as a is before, equal to, or after b; bytes.Compare and
// the Compare method of a collate.Collator do. The slices are SQLite's: good until compare
// returns, and not to be changed. It must always give the same order: indexes are built on it,
// and another order makes them corrupt (REINDEX builds them again).
//
// compare must not use the connection. Where sorting is shared between threads, it is called in
// several, one at a time. If it panics, the statement fails, and a transaction that it wrote in
// is rolled back. A nil compare takes the collation away.
//
// SQLite refuses it, with ErrBusy, while statements run on the connection.
func (c *Conn) CreateCollation(name string, compare func(a, b []byte) int) error {
	if err := c.callsGo(); err != nil {
		return err
	}
	z, err := cName(name)
	if err != nil {
		return err
	}
	var id number
	if compare != nil {
		id = numbers.hold(&collation{calls: c.calls, name: name, compare: compare})
	}
	if rc := Code(C.hpgo_create_collation(c.calls.c, z, C.uint64_t(id))); rc != codeOK {
		numbers.release(id)
		return fmt.Errorf("cannot define the collation %s: %w", name, c.error(rc, "", nil))
	}
	return nil
}

//export hpgoCompare
func hpgoCompare(id C.uint64_t, n1 C.int, z1 unsafe.Pointer, n2 C.int,
	z2 unsafe.Pointer) (order C.int) {
	f := (*numbers.at(number(id))).(*collation)
	f.mu.Lock()
	ended := false
	defer func() {
		if !ended {
			f.calls.fail(f.calls.panicked("the collation "+f.name, recover()), true)
		}
		f.mu.Unlock()
	}()
	n := f.compare(unsafe.Slice((*byte)(z1), int(n1)), unsafe.Slice((*byte)(z2), int(n2)))
	ended = true
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
