package hpsqlite

/*
#include "hpgo.h"
*/
import "C"

import (
	"math"
	"unsafe"
)

// Rows are the rows of a query, one after the other:
//
//	rows := stmt.Query(42)
//	for rows.Next() {
//		fmt.Println(rows.Int64(0), rows.Text(1))
//	}
//	if err := rows.Close(); err != nil { … }
//
// They come from SQLite many at a time, packed into one buffer, where columns are
// looked up when they are asked for. Reading a row allocates nothing but the
// strings and byte slices that Text and Bytes copy.
//
// Rows belong to their statement and are used again by its next query: they must
// not be touched after Close.
type Rows struct {
	s     *Stmt
	buf   []byte   // what C packed, see hpgo.h
	types []uint8  // of the row's columns, in buf; nil if there is no row
	words []uint64 // the row's columns, in buf
	cells int      // from a row's beginning to its cells
	next  int      // in buf, the row after it
	left  int      // rows in buf from next on
	cols  int      // columns of a row

	open    bool // begun and not closed
	more    bool // SQLite is not at the end: the statement has to be reset
	pending bool // SQLite is at a row that found no room
	slow    bool
	batch   int // rows that the next call brings at most
	count   int // rows fetched
	err     error
}

// begin carries out the statement and fetches the first row. If it was a single one
// when last carried out, SQLite is asked at once whether there is another.
func (r *Rows) begin() {
	s := r.s
	if s.small == nil {
		s.small = newBuffer(smallBuffer)
	}
	r.buf = s.small
	r.open, r.more, r.pending, r.slow = true, true, false, false
	r.err, r.count, r.left = nil, 0, 0
	r.noRow()
	first := 1
	if s.single {
		first = 2
	}
	r.batch = 32
	r.fetch(s.numParams, first)
}

// noRow has whoever asks for a column get a panic, as for any index out of range.
func (r *Rows) noRow() { r.types, r.words = nil, nil }

// fail makes rows that there are none of.
func (r *Rows) fail(err error) {
	r.open, r.more, r.left, r.err = true, false, 0, err
	r.noRow()
}

const (
	goOn        = C.HPGO_MORE
	goOnPending = C.HPGO_PENDING
)

// fetch has C begin or go on, and reads what it brought.
func (r *Rows) fetch(args, most int) {
	s := r.s
	for {
		s.runC(args, most, r.buf, r.slow)
		out := (*C.hpgo_out)(unsafe.Pointer(unsafe.SliceData(r.buf)))
		r.left = int(out.nRow)
		r.count += r.left
		r.next = int(unsafe.Sizeof(*out))
		r.slow = out.bSlow != 0
		r.pending = out.bPending != 0
		r.more = out.rc == C.SQLITE_ROW
		s.conn.autocommit = out.bAuto != 0
		if out.bLinger != 0 {
			lingers()
		}
		if int(out.nPrepared) != s.prepared {
			// The columns may be others now.
			s.prepared = int(out.nPrepared)
			s.columns = nil
		}
		r.cols = int(out.nCol)
		s.numCols = r.cols
		r.cells = 8 + (r.cols+7)&^7
		if !r.more {
			r.ended(Code(out.rc))
		}
		if !r.pending || r.left > 0 {
			if r.more && s.watch.rest() {
				r.cancelled()
			}
			return
		}
		// One row alone is larger than the buffer.
		need := int(out.nNeed)
		r.giveBuffer()
		r.buf = newBuffer(need + need/4)
		args, most = goOnPending, 1
	}
}

// cancelled ends rows whose context is done while SQLite is not being called.
func (r *Rows) cancelled() {
	r.more, r.left = false, 0
	r.noRow()
	r.err = &Error{Code: ErrInterrupt, Message: "interrupted", SQL: r.s.sql, Offset: -1, cause: r.s.watch.reason()}
	r.reset()
}

// ended is called when SQLite has no more rows and has reset the statement.
func (r *Rows) ended(rc Code) {
	s := r.s
	if rc != codeDone {
		r.err = s.conn.error(rc, s.sql, &s.watch)
	}
	s.single = r.count <= 1
	r.idle()
}

// idle is called when the statement has been reset.
func (r *Rows) idle() {
	s := r.s
	if s.args.far {
		C.sqlite3_clear_bindings(s.stmt())
		s.args.gone()
	}
	s.watch.end()
}

// maxColumns is SQLite's own limit (SQLITE_MAX_COLUMN can not be set higher).
const maxColumns = 32767

// Next goes to the next row, the first time to the first. It says false when there
// is none, or an error.
func (r *Rows) Next() bool {
	if r.left == 0 && !r.refill() {
		return false
	}
	r.left--
	row := unsafe.Add(unsafe.Pointer(unsafe.SliceData(r.buf)), r.next)
	cols := r.cols
	r.next += int(*(*uint32)(row))
	r.types = (*[maxColumns]uint8)(unsafe.Add(row, 8))[:cols:cols]
	r.words = (*[maxColumns]uint64)(unsafe.Add(row, r.cells))[:cols:cols]
	return true
}

// refill fetches more rows. Batches grow, so that what the first rows take does
// not wait for those behind, and shrink when rows take their time.
func (r *Rows) refill() bool {
	r.noRow()
	if !r.more {
		return false
	}
	if r.s.watch.resume() {
		r.cancelled()
		return false
	}
	if len(r.buf) < bufferSize {
		r.buf = r.s.conn.takeBuffer()
	}
	args := goOn
	if r.pending {
		args = goOnPending
	}
	if r.slow {
		r.batch = max(r.batch/2, 4)
	}
	r.fetch(args, r.batch)
	r.batch = min(r.batch*4, 1<<20)
	return r.left > 0
}

// Err is what ended the rows before their end, if something did.
func (r *Rows) Err() error { return r.err }

// Close ends the query, wherever it is, and returns what Err does. It may be called
// more than once.
func (r *Rows) Close() error {
	if !r.open {
		return r.err
	}
	if err := r.s.usable(); err != nil {
		return err
	}
	r.stop()
	if s := r.s; s.ownedByRows {
		s.ownedByRows = false
		s.release()
	}
	return r.err
}

func (r *Rows) stop() {
	if r.s == nil || !r.open {
		return
	}
	r.open = false
	if r.more {
		r.more = false
		r.s.single = false
		r.reset()
	}
	r.left = 0
	r.noRow()
	r.giveBuffer()
}

// reset ends the statement before its end. INSERT … RETURNING is committed by that, or
// undone if it violates a foreign key or the disk is full.
func (r *Rows) reset() {
	s := r.s
	rc := Code(C.sqlite3_reset(s.stmt()))
	if rc == codeOK && s.conn.back && !s.conn.succeeded(!s.readonly) {
		rc = ErrAbort
	}
	if rc != codeOK {
		s.conn.autocommit = C.sqlite3_get_autocommit(s.conn.db()) != 0
		if r.err == nil {
			r.err = s.conn.error(rc, s.sql, &s.watch)
		}
	}
	r.idle()
}

func (r *Rows) giveBuffer() {
	if len(r.buf) > smallBuffer {
		r.s.conn.giveBuffer(r.buf)
	}
	r.buf = nil
}

// NumColumns is the number of columns; 0 for a statement that gives no rows.
func (r *Rows) NumColumns() int { return r.cols }

// A Type is the type of a value as it is stored.
type Type uint8

// Types of values.
const (
	Integer Type = typeInt
	Float   Type = typeFloat
	Text    Type = typeText
	Blob    Type = typeBlob
	Null    Type = typeNull
)

func (t Type) String() string {
	return [...]string{"", "INTEGER", "REAL", "TEXT", "BLOB", "NULL"}[t]
}

// Type is the type of column i's value.
func (r *Rows) Type(i int) Type { return nearType(r.types[i]) }

func nearType(t uint8) Type {
	if t >= typeFarText {
		t -= typeFarText - typeText
	}
	return Type(t)
}

// aheadType is the type of column i's value in the row that is there, or else in the next one if
// that has been fetched, or else Null.
func (r *Rows) aheadType(i int) Type {
	switch {
	case i < len(r.types):
		return nearType(r.types[i])
	case r.types == nil && r.left > 0 && i < r.cols:
		return nearType(r.buf[r.next+8+i])
	}
	return Null
}

// IsNull reports whether column i is NULL.
func (r *Rows) IsNull(i int) bool { return r.types[i] == typeNull }

// Int64 is column i as an integer: 0 if it is NULL, else as CAST AS INTEGER makes it.
func (r *Rows) Int64(i int) int64 {
	if r.types[i] == typeInt {
		return int64(r.words[i])
	}
	return r.toInt64(i)
}

// Float64 is column i as a real: 0 if it is NULL, else as CAST AS REAL makes it.
func (r *Rows) Float64(i int) float64 {
	if r.types[i] == typeFloat {
		return math.Float64frombits(r.words[i])
	}
	return r.toFloat64(i)
}

// Bool reports whether column i, as an integer, is not 0.
func (r *Rows) Bool(i int) bool { return r.Int64(i) != 0 }

// RawText is column i as a text, without a copy: it is good until the next call of
// Next or Close, and must not be changed. Numbers are copied as CAST AS TEXT makes
// them. It is nil if the value is NULL.
func (r *Rows) RawText(i int) []byte {
	switch r.types[i] {
	case typeText, typeBlob, typeFarText, typeFarBlob:
		return r.bytes(i)
	}
	return r.toText(i)
}

// RawBytes is RawText; a blob and a text are the same bytes.
func (r *Rows) RawBytes(i int) []byte { return r.RawText(i) }

// Text is column i as a string.
func (r *Rows) Text(i int) string { return string(r.RawText(i)) }

// Bytes is a copy of column i's bytes, nil if it is NULL.
func (r *Rows) Bytes(i int) []byte {
	b := r.RawText(i)
	if b == nil {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}

// bytes are those of a text or blob.
func (r *Rows) bytes(i int) []byte {
	place := (*[2]uint32)(unsafe.Pointer(&r.words[i]))
	at, end := uint(place[0]), uint(place[0])+uint(place[1])
	if r.types[i] < typeFarText {
		return r.buf[at:end:end]
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&r.buf[at])), end-at)
}
