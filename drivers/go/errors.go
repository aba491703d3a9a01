package hpsqlite

/*
#include <stdlib.h>
#include "hpgo.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
)

// An Error is what SQLite said.
type Error struct {
	Code    Code   // the extended code, such as ErrConstraintUnique
	Message string // SQLite's own words
	SQL     string // the statement, if there was one
	Offset  int    // where in SQL the error is, in bytes; -1 if SQLite does not say
	cause   error
}

// Error gives SQLite's message, its code, and the place in the SQL.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("hpsqlite: ")
	b.WriteString(e.Message)
	fmt.Fprintf(&b, " (%d %s)", int(e.Code), e.Code.name())
	if e.Offset >= 0 && e.Offset <= len(e.SQL) {
		fmt.Fprintf(&b, ", at byte %d of the SQL: %s", e.Offset, excerpt(e.SQL[e.Offset:]))
	}
	if e.cause != nil {
		b.WriteString(": ")
		b.WriteString(e.cause.Error())
	}
	return b.String()
}

// Is reports whether target is this error's code, or the primary code of it.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && (c == e.Code || c == e.Code.Primary())
}

// Unwrap gives the reason that is not SQLite's: of an interrupted statement
// the context's error, of a function in Go what it returned.
func (e *Error) Unwrap() error { return e.cause }

// Primary is the code's lowest byte: ErrConstraint of ErrConstraintUnique.
func (c Code) Primary() Code { return c & 0xff }

// Error gives the code's name and SQLite's words for it.
func (c Code) Error() string {
	return fmt.Sprintf("hpsqlite: %s (%d %s)", C.GoString(C.sqlite3_errstr(C.int(c))), int(c),
		c.name())
}

func (c Code) name() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	if name, ok := codeNames[c.Primary()]; ok {
		return name
	}
	return "unknown code"
}

// excerpt is the beginning of SQL, in quotes and on one line.
func excerpt(sql string) string {
	const most = 40
	cut := sql
	if len(cut) > most {
		cut = strings.ToValidUTF8(cut[:most], "") + "…"
	}
	return fmt.Sprintf("%q", cut)
}

// error makes an error of a code that a call on the connection has returned
// while w, which may be nil, was watched.
func (c *Conn) error(code Code, sql string, w *watch) error {
	e := &Error{Code: code, SQL: sql, Offset: -1}
	if db := c.db(); db != nil && Code(C.sqlite3_extended_errcode(db)) == code {
		e.Message = C.GoString(C.sqlite3_errmsg(db))
		e.Offset = int(C.sqlite3_error_offset(db))
	} else {
		e.Message = C.GoString(C.sqlite3_errstr(C.int(code)))
	}
	if cause, hard := c.calls.failure(); cause != nil {
		e.cause = cause
		if hard {
			e.Code, e.Message, e.Offset = ErrAbort, C.GoString(C.sqlite3_errstr(C.SQLITE_ABORT)), -1
		}
	} else if p := code.Primary(); p == ErrInterrupt || p == ErrBusy {
		if e.cause = w.reason(); e.cause == nil {
			e.cause = c.until.reason()
		}
	}
	return e
}

var (
	errClosed     = errors.New("hpsqlite: the connection is closed")
	errStmtClosed = errors.New("hpsqlite: the statement is closed")
	errPanic      = errors.New("hpsqlite: panic")
	errRunning    = errors.New("hpsqlite: the statement's rows are not closed yet")
)
