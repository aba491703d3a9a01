package hpsqlite

/*
#include "hpgo.h"
*/
import "C"

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
	batch // with the columns that need no connection: Type, IsNull, Int64, Float64, Bool

	open  bool // begun and not closed
	more  bool // SQLite is not at the end: the statement has to be reset
	count int  // rows fetched
	err   error
}

// begin carries out the statement and fetches the first row. If it was a single one
// when last carried out, SQLite is asked at once whether there is another.
func (r *Rows) begin() {
	s := r.s
	if s.small == nil {
		s.small = newBuffer(smallBuffer)
	}
	r.begun(s.small)
	r.open, r.more, r.count, r.err = true, true, 0, nil
	first := 1
	if s.single {
		first = 2
	}
	r.fetch(s.numParams, first)
}

// fail makes rows that there are none of.
func (r *Rows) fail(err error) {
	r.open, r.more, r.err = true, false, err
	r.drop()
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
		out := r.packed()
		r.count += r.left
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
		s.numCols = r.cols
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
	r.more = false
	r.drop()
	r.err = &Error{Code: ErrInterrupt, Message: "interrupted", SQL: r.s.sql, Offset: -1,
		cause: r.s.watch.reason()}
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

// Next goes to the next row, the first time to the first. It says false when there
// is none, or an error.
func (r *Rows) Next() bool {
	if r.left == 0 && !r.refill() {
		return false
	}
	r.advance()
	return true
}

// refill fetches more rows.
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
	r.fetch(args, r.ask())
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
	r.drop()
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
