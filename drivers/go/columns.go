package hpsqlite

/*
#include "hpgo.h"
*/
import "C"

import "strings"

// A column is what is known of one without looking at its values.
type column struct {
	name string
	decl string // declared type, empty for expressions
	kind kind
}

// A kind is what database/sql gets for a column that is declared so.
type kind uint8

const (
	plain kind = iota
	isTime
	isBool
)

// read fills in the columns once, and again when the schema has changed.
func (s *Stmt) readColumns() []column {
	if s.columns != nil {
		return s.columns
	}
	p := s.stmt()
	n := int(C.sqlite3_column_count(p))
	s.columns = make([]column, n)
	for i := range s.columns {
		c := &s.columns[i]
		c.name = C.GoString(C.sqlite3_column_name(p, C.int(i)))
		if z := C.sqlite3_column_decltype(p, C.int(i)); z != nil {
			c.decl = C.GoString(z)
		}
		c.kind = kindOf(c.decl)
	}
	return s.columns
}

func kindOf(decl string) kind {
	word, _, _ := strings.Cut(decl, "(")
	switch strings.ToUpper(strings.TrimSpace(word)) {
	case "DATE", "DATETIME", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE",
		"TIMESTAMP WITHOUT TIME ZONE":
		return isTime
	case "BOOLEAN", "BOOL":
		return isBool
	}
	return plain
}

// Columns are the names of the columns.
func (s *Stmt) Columns() []string {
	cols := s.readColumns()
	names := make([]string, len(cols))
	for i := range cols {
		names[i] = cols[i].name
	}
	return names
}

// DeclType is the type that column i was declared with in CREATE TABLE, as it stands
// there; empty if it is an expression.
func (s *Stmt) DeclType(i int) string { return s.readColumns()[i].decl }

// Columns are the names of the columns.
func (r *Rows) Columns() []string {
	if r.s == nil {
		return nil
	}
	return r.s.Columns()
}
