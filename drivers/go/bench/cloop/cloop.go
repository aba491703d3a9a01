// Package cloop has no driver under test: it does some of what the drivers do in C alone, by
// the calls of SQLite that a C program would use, with one call from Go for all of it. What a
// driver takes longer than this is the driver.
package cloop

/*
#cgo CFLAGS: -O2
#cgo pkg-config: sqlite3
#include <stdlib.h>
#include "cloop.h"
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// db is a database; close it.
type db struct{ p *C.sqlite3 }

// Sums is what was read: rows, the sum of their integers, the bytes of their texts.
type Sums struct{ Rows, Integers, Bytes int64 }

func open(path string) (db, error) {
	var d db
	z := C.CString(path)
	defer C.free(unsafe.Pointer(z))
	return d, d.error(C.cloop_open(z, &d.p))
}

func (d db) error(rc C.int) error {
	if rc == C.SQLITE_OK {
		return nil
	}
	return fmt.Errorf("SQLite says %d: %s", rc, C.GoString(C.sqlite3_errmsg(d.p)))
}

func (d db) exec(sql string) error {
	z := C.CString(sql)
	defer C.free(unsafe.Pointer(z))
	return d.error(C.cloop_exec(d.p, z))
}

// insert inserts monsters 1 to n by a statement with four parameters, in one transaction.
func (d db) insert(sql string, n int) error {
	z := C.CString(sql)
	defer C.free(unsafe.Pointer(z))
	return d.error(C.cloop_insert(d.p, z, C.int64_t(n)))
}

// read runs a query of monsters n times; keys, if it is not 0, is the largest of the keys that its
// parameter gets.
func (d db) read(sql string, n, keys int) (Sums, error) {
	z := C.CString(sql)
	defer C.free(unsafe.Pointer(z))
	var s C.sums
	err := d.error(C.cloop_select(d.p, z, C.int64_t(n), C.int64_t(keys), &s))
	return Sums{Rows: int64(s.nRow), Integers: int64(s.iSum), Bytes: int64(s.nByte)}, err
}

func (d db) close() error { return d.error(C.sqlite3_close(d.p)) }
