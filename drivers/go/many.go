package hpsqlite

/*
#include <stdlib.h>
#include "hpgo.h"
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// manyBytes is how much is packed for one call of ExecMany.
const manyBytes = 64 << 10

// ExecMany carries the statement out n times. Before each bind is called, with
// i from 0, to set the parameters by the statement's Bind calls; those that it does
// not set are NULL. Many sets go to SQLite in one call.
//
// All is done or nothing: in a transaction of its own, or in a savepoint if one is
// open. An error says which i failed, and nothing stays of those before it.
// Result.Changes is the sum.
//
// bind is called ahead of what it binds being carried out, so it must not read what the statement
// writes.
func (s *Stmt) ExecMany(n int, bind func(i int)) (res Result, err error) {
	if err := s.start(nil); err != nil {
		return res, err
	}
	end, err := s.conn.allOrNothing()
	if err != nil {
		return res, err
	}
	returned := false
	defer func() {
		if returned {
			err = end(err)
		} else {
			end(errPanic)
		}
	}()
	m := many{s: s}
	defer m.free()
	for i := range n {
		s.args.clear()
		bind(i)
		if s.argErr != nil {
			err := fmt.Errorf("set %d: %w", i, s.argErr)
			s.args.clear()
			s.argErr = nil
			returned = true
			return res, err
		}
		if err := m.add(i); err != nil {
			returned = true
			return res, err
		}
	}
	returned = true
	if err := m.flush(n); err != nil {
		return res, err
	}
	return m.res, nil
}

// A many is a chunk of sets, in memory of C's, see hpgo_many().
type many struct {
	s    *Stmt
	mem  unsafe.Pointer
	size int
	used int
	sets int
	res  Result
}

func (m *many) free() { C.free(m.mem) }

// add packs the statement's parameters as set i.
func (m *many) add(i int) error {
	a := &m.s.args
	if a.far {
		// A large value is SQLite's to free: it goes by itself.
		if err := m.flush(i); err != nil {
			return err
		}
		r, err := m.s.Exec()
		if err != nil {
			return fmt.Errorf("set %d: %w", i, err)
		}
		m.res.Changes += r.Changes
		m.res.RowID = r.RowID
		return nil
	}
	n := cellSize + (a.used+7)&^7
	if m.used+n > m.size {
		if err := m.flush(i); err != nil {
			return err
		}
		if n > m.size {
			size := max(manyBytes, n)
			mem := C.malloc(C.size_t(size))
			if mem == nil {
				return ErrNoMem
			}
			C.free(m.mem)
			m.mem, m.size = mem, size
		}
	}
	*(*cell)(unsafe.Add(m.mem, m.used)) = cell{v: uint64(n)}
	copy(unsafe.Slice((*byte)(unsafe.Add(m.mem, m.used+cellSize)), a.used),
		unsafe.Slice((*byte)(a.mem), a.used))
	m.used += n
	m.sets++
	return nil
}

// flush carries out what is packed, the last of which is set i-1.
func (m *many) flush(i int) error {
	if m.sets == 0 {
		return nil
	}
	// Statements that are over at once do not notice an interrupt.
	if err := m.s.conn.until.reason(); err != nil {
		return err
	}
	var done C.hpgo_done
	rc := m.s.manyC(m.mem, m.sets, &done)
	first := i - m.sets
	m.used, m.sets = 0, 0
	m.res.Changes += int64(done.nChange)
	m.res.RowID = int64(done.iRowid)
	if rc != codeOK {
		return fmt.Errorf("set %d: %w", first+int(done.nSet), m.s.conn.error(rc, m.s.sql, nil))
	}
	return nil
}

// allOrNothing begins a transaction, or a savepoint in the one that is open. What it
// returns ends it: keeping what was done, or undoing it if there is an error.
func (c *Conn) allOrNothing() (end func(error) error, err error) {
	begin, keep, undo := "BEGIN IMMEDIATE", "COMMIT", []string{"ROLLBACK"}
	if !c.autocommit {
		begin, keep = "SAVEPOINT hpsqlite_many", "RELEASE hpsqlite_many"
		undo = []string{"ROLLBACK TO hpsqlite_many", keep}
	}
	if _, err := c.Exec(begin); err != nil {
		return nil, err
	}
	return func(err error) error {
		if err == nil {
			if _, err = c.Exec(keep); err == nil {
				return nil
			}
		}
		// Some errors end the transaction by themselves.
		if !c.autocommit {
			c.undo(undo...)
		}
		return err
	}, nil
}
