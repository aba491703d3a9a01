package hpsqlite

/*
#cgo CFLAGS: -O2
#cgo noescape hpgo_open
#cgo noescape hpgo_prepare
#cgo noescape hpgo_run
#cgo noescape hpgo_exec
#cgo noescape hpgo_many
#cgo nocallback hpgo_prepare
#cgo nocallback hpgo_run
#cgo nocallback hpgo_exec
#cgo nocallback hpgo_many
#cgo nocallback hpgo_interrupt
#cgo nocallback hpgo_busy_timeout
#cgo nocallback sqlite3_malloc64
#cgo nocallback sqlite3_free
#cgo nocallback sqlite3_clear_bindings
#cgo nocallback sqlite3_get_autocommit
#include <stdlib.h>
#include "hpgo.h"
*/
import "C"

import "unsafe"

// A handle is a pointer of C's, kept as a number: nothing of Go's has to look
// at it.
type handle = C.uint64_t

// db is a connection's sqlite3, as C calls want it.
func (c *Conn) db() *C.sqlite3 { return (*C.sqlite3)(cPointer(uint64(c.h.db))) }

// stmt is a statement's sqlite3_stmt, as C calls want it.
func (s *Stmt) stmt() *C.sqlite3_stmt { return stmtOf(s.p) }

func stmtOf(h handle) *C.sqlite3_stmt { return (*C.sqlite3_stmt)(cPointer(uint64(h))) }

// cPointer gives back the pointer that a handle is. It never points to
// memory of Go's, so the rules for uintptr do not matter; going through memory
// says so to vet as well.
func cPointer(h uint64) unsafe.Pointer {
	p := uintptr(h)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// prepareC, runC, execC and manyC choose between the calls that may come back
// to Go and those that may not, which are cheaper.

func (c *Conn) prepareC(sql *C.char, n, flags int, info *C.hpgo_info) Code {
	if !c.back {
		return Code(C.hpgo_prepare(c.h.db, sql, C.int64_t(n), C.int(flags), info))
	}
	c.calls.begin()
	// A callback may make the goroutine's stack grow, and so move.
	got := new(C.hpgo_info)
	rc := Code(C.hpgo_prepare_back(c.h.db, sql, C.int64_t(n), C.int(flags), got))
	if rc == codeOK && !c.succeeded(false) {
		C.sqlite3_finalize(stmtOf(got.stmt))
		return ErrAbort
	}
	*info = *got
	return rc
}

func (s *Stmt) runC(args, maxRows int, buf []byte, slow bool) {
	var bSlow C.int
	if slow {
		bSlow = 1
	}
	p := (*C.uchar)(unsafe.SliceData(buf))
	if !s.conn.back {
		C.hpgo_run(s.p, (*C.hpgo_arg)(s.args.mem), C.int(args), p, C.int64_t(len(buf)),
			C.int(maxRows), bSlow)
		return
	}
	out := (*C.hpgo_out)(unsafe.Pointer(p))
	if err := s.usable(); err != nil {
		s.conn.calls.fail(err, false)
		*out = C.hpgo_out{rc: C.SQLITE_MISUSE, nCol: out.nCol, nPrepared: C.int32_t(s.prepared)}
		return
	}
	s.running = true
	s.conn.calls.begin()
	C.hpgo_run_back(s.p, (*C.hpgo_arg)(s.args.mem), C.int(args), p, C.int64_t(len(buf)),
		C.int(maxRows), bSlow)
	s.running = false
	if out.rc != C.SQLITE_ROW && out.rc != C.SQLITE_DONE {
		return
	}
	if s.conn.calls.unseen() {
		C.sqlite3_reset(s.stmt())
	}
	if !s.conn.succeeded(!s.readonly) {
		out.rc, out.nRow, out.bPending = C.int32_t(ErrAbort), 0, 0
		out.bAuto = C.sqlite3_get_autocommit(s.conn.db())
	}
}

func (s *Stmt) execC(done *C.hpgo_done) Code {
	if !s.conn.back {
		return Code(C.hpgo_exec(s.p, (*C.hpgo_arg)(s.args.mem), C.int(s.numParams), done))
	}
	s.running = true
	s.conn.calls.begin()
	rc := Code(C.hpgo_exec_back(s.p, (*C.hpgo_arg)(s.args.mem), C.int(s.numParams), &s.done))
	return s.came(rc, done)
}

func (s *Stmt) manyC(mem unsafe.Pointer, sets int, done *C.hpgo_done) Code {
	if !s.conn.back {
		return Code(C.hpgo_many(s.p, (*C.hpgo_arg)(mem), C.int(s.numParams), C.int64_t(sets), done))
	}
	s.running = true
	s.conn.calls.begin()
	rc := Code(C.hpgo_many_back(s.p, (*C.hpgo_arg)(mem), C.int(s.numParams), C.int64_t(sets), &s.done))
	return s.came(rc, done)
}

// came is called when SQLite has carried out the statement and may have called Go.
func (s *Stmt) came(rc Code, done *C.hpgo_done) Code {
	s.running = false
	if rc == codeOK && !s.conn.succeeded(!s.readonly) {
		rc = ErrAbort
		s.done.bAuto = C.int64_t(C.sqlite3_get_autocommit(s.conn.db()))
	}
	*done = s.done
	return rc
}
