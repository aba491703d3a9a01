package hpsqlite

/*
#cgo nocallback sqlite3_txn_state
#include "hpgo.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"
)

// A part is something of C's that belongs to a connection and must go before it.
type part interface {
	drop() error
}

func (c *Conn) add(p part) {
	if c.parts == nil {
		c.parts = make(map[part]struct{})
	}
	c.parts[p] = struct{}{}
}

func (c *Conn) dropParts() {
	for p := range c.parts {
		p.drop()
	}
}

// Reset ends what was left open on the connection: rows, blobs, and a transaction, which
// is rolled back. The error says what it was; it is nil if there was nothing. A
// connection that goes back to a pool is reset, because rows that are left open
// keep it at an old state of the database, and the write-ahead log from being
// used again.
func (c *Conn) Reset() error {
	if err := c.usable(); err != nil {
		return err
	}
	if c.autocommit && C.sqlite3_txn_state(c.db(), nil) == C.SQLITE_TXN_NONE {
		return nil
	}
	var left []string
	for s := range c.stmts {
		if s.rows.open {
			left = append(left, "the rows of "+excerpt(s.sql))
			s.rows.Close()
		}
	}
	for p := range c.parts {
		if b, ok := p.(*BlobHandle); ok {
			left = append(left, "a blob")
			b.drop()
		}
	}
	if c.InTransaction() {
		left = append(left, "a transaction")
		if err := c.undo("ROLLBACK"); err != nil {
			return err
		}
	}
	c.autocommit = true
	if left == nil {
		return nil
	}
	return fmt.Errorf("hpsqlite: left open: %s", strings.Join(left, ", "))
}

// cName is a name as C wants it, in memory of Go's: for one call only.
func cName(name string) (*C.char, error) {
	if strings.IndexByte(name, 0) >= 0 {
		return nil, fmt.Errorf("hpsqlite: a NUL byte in the name %q", name)
	}
	b := make([]byte, len(name)+1)
	copy(b, name)
	return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))), nil
}

// schemaName is cName; an empty one is main.
func schemaName(schema string) (*C.char, error) {
	if schema == "" {
		schema = "main"
	}
	return cName(schema)
}

// without is the error where the library lacks something.
func without(what string) error {
	return fmt.Errorf("hpsqlite: this SQLite library (%s) was compiled without %s",
		LibraryInfo().Path, what)
}
