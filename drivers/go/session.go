package hpsqlite

/*
#include "callback.h"
#include "hpgo_session.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"runtime/cgo"
	"unsafe"
)

// A Session records which rows a connection inserts, updates and deletes, so that the changes can
// be made elsewhere. Tables need a PRIMARY KEY; rows whose key is NULL are left out.
// It belongs to its connection, and ends with it.
//
// It needs a library with SQLite's session extension, as High Performance SQLite is.
type Session struct {
	conn *Conn
	p    handle
}

// NewSession begins to record changes of the database schema, which is main if it is empty: of
// these tables, or of all if none are named, those that are made later included.
func (c *Conn) NewSession(schema string, tables ...string) (*Session, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	if C.hpgo_has_session() == 0 {
		return nil, errNoSession()
	}
	// SQLite would take what belongs to the hook for another session.
	if c.calls != nil && c.calls.hooks[C.HPGO_PREUPDATE] != 0 {
		return nil, errPreUpdate
	}
	name, err := schemaName(schema)
	if err != nil {
		return nil, err
	}
	var p *C.sqlite3_session
	if rc := Code(C.sqlite3session_create(c.db(), name, &p)); rc != codeOK {
		return nil, rc
	}
	s := &Session{conn: c, p: handle(uintptr(unsafe.Pointer(p)))}
	c.add(s)
	if len(tables) == 0 {
		err = s.attach(nil)
	}
	for _, table := range tables {
		if err == nil {
			err = s.Attach(table)
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func errNoSession() error { return without("the session extension (SQLITE_ENABLE_SESSION)") }

var errSessionClosed = errors.New("hpsqlite: the session is closed")

func (s *Session) session() *C.sqlite3_session {
	return (*C.sqlite3_session)(cPointer(uint64(s.p)))
}

// Attach records changes of one more table.
func (s *Session) Attach(table string) error {
	name, err := cName(table)
	if err != nil {
		return err
	}
	return s.attach(name)
}

func (s *Session) attach(name *C.char) error {
	if s.p == 0 {
		return errSessionClosed
	}
	if rc := Code(C.sqlite3session_attach(s.session(), name)); rc != codeOK {
		return rc
	}
	return nil
}

// Enable goes on with recording, or pauses. Changes of rows that the session knows already
// show up even if they were made in a pause.
func (s *Session) Enable(on bool) {
	if s.p != 0 {
		C.sqlite3session_enable(s.session(), C.int(boolInt(on)))
	}
}

// SetIndirect marks the changes that follow as not the user's own, as those of triggers are.
func (s *Session) SetIndirect(on bool) {
	if s.p != 0 {
		C.sqlite3session_indirect(s.session(), C.int(boolInt(on)))
	}
}

// IsEmpty reports whether nothing has been recorded.
func (s *Session) IsEmpty() bool { return s.p == 0 || C.sqlite3session_isempty(s.session()) != 0 }

// Diff records what makes the table of the same name in another attached database into that
// of the session's database. Both need the same columns and key.
func (s *Session) Diff(from, table string) error {
	if s.p == 0 {
		return errSessionClosed
	}
	zFrom, err := cName(from)
	if err != nil {
		return err
	}
	zTable, err := cName(table)
	if err != nil {
		return err
	}
	var message *C.char
	rc := Code(C.sqlite3session_diff(s.session(), zFrom, zTable, &message))
	if rc == codeOK {
		return nil
	}
	e := &Error{Code: rc, Offset: -1, Message: C.GoString(C.sqlite3_errstr(C.int(rc)))}
	if message != nil {
		e.Message = C.GoString(message)
		C.sqlite3_free(unsafe.Pointer(message))
	}
	return e
}

// Changeset gives what has been recorded: for each row what it was and what it has become.
func (s *Session) Changeset() ([]byte, error) { return s.bytes(false) }

// Patchset is a smaller Changeset: it does not hold what values were before, so that it cannot be
// inverted, and fewer conflicts are noticed.
func (s *Session) Patchset() ([]byte, error) { return s.bytes(true) }

// WriteChangeset writes what Changeset gives, straight from SQLite's memory.
func (s *Session) WriteChangeset(w io.Writer) error { return s.write(false, w) }

// WritePatchset writes what Patchset gives, straight from SQLite's memory.
func (s *Session) WritePatchset(w io.Writer) error { return s.write(true, w) }

func (s *Session) bytes(patch bool) (b []byte, err error) {
	err = s.record(patch, func(v []byte) error {
		b = append(make([]byte, 0, len(v)), v...)
		return nil
	})
	return b, err
}

func (s *Session) write(patch bool, w io.Writer) error {
	return s.record(patch, func(v []byte) error {
		_, err := w.Write(v)
		return err
	})
}

// record calls f with the changeset, which is there until f returns.
func (s *Session) record(patch bool, f func([]byte) error) error {
	if s.p == 0 {
		return errSessionClosed
	}
	var n C.int
	var p unsafe.Pointer
	var rc Code
	if patch {
		rc = Code(C.sqlite3session_patchset(s.session(), &n, &p))
	} else {
		rc = Code(C.sqlite3session_changeset(s.session(), &n, &p))
	}
	if rc != codeOK {
		return s.conn.error(rc, "", &s.conn.until)
	}
	defer C.sqlite3_free(p)
	return f(unsafe.Slice((*byte)(p), n))
}

// Close ends the recording.
func (s *Session) Close() error {
	if s.p == 0 {
		return nil
	}
	return s.drop()
}

func (s *Session) drop() error {
	C.sqlite3session_delete(s.session())
	s.p = 0
	delete(s.conn.parts, s)
	return nil
}

// InvertChangeset gives the changeset that undoes another.
func InvertChangeset(changeset []byte) ([]byte, error) {
	if err := mayRead(changeset); err != nil {
		return nil, err
	}
	var n C.int
	var p unsafe.Pointer
	rc := Code(C.sqlite3changeset_invert(C.int(len(changeset)),
		unsafe.Pointer(unsafe.SliceData(changeset)), &n, &p))
	return ownBytes(rc, p, n)
}

// ConcatChangesets gives one changeset that does what a does and then b.
func ConcatChangesets(a, b []byte) ([]byte, error) {
	if err := mayRead(a, b); err != nil {
		return nil, err
	}
	var n C.int
	var p unsafe.Pointer
	rc := Code(C.sqlite3changeset_concat(C.int(len(a)), unsafe.Pointer(unsafe.SliceData(a)),
		C.int(len(b)), unsafe.Pointer(unsafe.SliceData(b)), &n, &p))
	return ownBytes(rc, p, n)
}

func mayRead(list ...[]byte) error {
	if C.hpgo_has_session() == 0 {
		return errNoSession()
	}
	for _, b := range list {
		if len(b) > math.MaxInt32 {
			return ErrTooBig
		}
	}
	return nil
}

func ownBytes(rc Code, p unsafe.Pointer, n C.int) ([]byte, error) {
	if rc != codeOK {
		return nil, rc
	}
	defer C.sqlite3_free(p)
	return append([]byte{}, unsafe.Slice((*byte)(p), n)...), nil
}

// An Op is what was done to a row.
type Op int

// What can be done to a row.
const (
	OpDelete Op = C.SQLITE_DELETE
	OpInsert Op = C.SQLITE_INSERT
	OpUpdate Op = C.SQLITE_UPDATE
)

func (o Op) String() string {
	switch o {
	case OpDelete:
		return "DELETE"
	case OpInsert:
		return "INSERT"
	case OpUpdate:
		return "UPDATE"
	}
	return "no change"
}

// A Change is one row of a changeset. It is good until the next one comes, or the conflict
// handler returns.
type Change struct {
	Table    string
	Op       Op
	Columns  int  // of the table
	Indirect bool // made by a trigger, or as Session.SetIndirect said

	iter handle
	key  []byte
}

// Key reports whether column i belongs to the primary key.
func (c *Change) Key(i int) bool { return c.key[i] != 0 }

// Old is what column i was before an UPDATE or DELETE: nil, an int64, float64, string or
// []byte, which are the caller's. ok is false if the changeset does not hold it, as of an
// UPDATE that leaves the column alone.
func (c *Change) Old(i int) (v any, ok bool) { return c.value(C.HPGO_OLD, i) }

// New is what column i is after an INSERT or UPDATE, as in Old.
func (c *Change) New(i int) (v any, ok bool) { return c.value(C.HPGO_NEW, i) }

func (c *Change) value(which, i int) (any, bool) {
	if i < 0 || i >= c.Columns || c.iter == 0 {
		return nil, false
	}
	var v C.uint64_t
	var n C.int
	typ := C.hpgo_change_value(c.iter, C.int(which), C.int(i), &v, &n)
	switch typ {
	case typeInt:
		return int64(v), true
	case typeFloat:
		return math.Float64frombits(uint64(v)), true
	case typeText:
		return C.GoStringN((*C.char)(cPointer(uint64(v))), n), true
	case typeBlob:
		return append([]byte{}, unsafe.Slice((*byte)(cPointer(uint64(v))), n)...), true
	case typeNull:
		return nil, true
	}
	return nil, false
}

func (c *Change) read(iter handle) error {
	var x C.hpgo_change
	if rc := Code(C.hpgo_change_read(iter, &x)); rc != codeOK {
		return rc
	}
	*c = Change{iter: iter, Op: Op(x.op), Columns: int(x.nCol), Indirect: x.bIndirect != 0}
	if x.zTable != nil {
		c.Table = C.GoString(x.zTable)
		c.key = unsafe.Slice((*byte)(x.aPk), x.nCol)
	}
	return nil
}

// Changes goes through a changeset or patchset. The last pair has an error, if there was one.
//
//	for change, err := range hpsqlite.Changes(changeset) { … }
func Changes(changeset []byte) iter.Seq2[*Change, error] {
	return func(yield func(*Change, error) bool) {
		if err := mayRead(changeset); err != nil {
			yield(nil, err)
			return
		}
		if len(changeset) == 0 {
			return
		}
		// SQLite keeps the address from call to call.
		var pin runtime.Pinner
		defer pin.Unpin()
		pin.Pin(unsafe.SliceData(changeset))
		var p *C.sqlite3_changeset_iter
		rc := Code(C.sqlite3changeset_start(&p, C.int(len(changeset)),
			unsafe.Pointer(unsafe.SliceData(changeset))))
		if rc != codeOK {
			yield(nil, rc)
			return
		}
		defer C.sqlite3changeset_finalize(p)
		var c Change
		defer func() { c.iter, c.key = 0, nil }()
		for {
			switch rc := Code(C.sqlite3changeset_next(p)); rc {
			case codeRow:
				if err := c.read(handle(uintptr(unsafe.Pointer(p)))); err != nil {
					yield(nil, err)
					return
				}
				if !yield(&c, nil) {
					return
				}
			case codeDone:
				return
			default:
				yield(nil, rc)
				return
			}
		}
	}
}

// A ConflictKind says why a change cannot be made as it is.
type ConflictKind int

// Kinds of conflicts.
const (
	ConflictData       ConflictKind = 1 // the row has other values than it had
	ConflictNotFound   ConflictKind = 2 // there is no such row
	ConflictExists     ConflictKind = 3 // there is a row with this key already
	ConflictConstraint ConflictKind = 4 // another constraint fails
	ConflictForeignKey ConflictKind = 5 // at the end, rows have no parents
)

// A Conflict is a change that cannot be made as it is.
type Conflict struct {
	Change // empty of ConflictForeignKey
	Kind   ConflictKind
}

// Present is what column i of the row is that is in the way, as in Change.Old. There is one in
// ConflictData and ConflictExists.
func (c *Conflict) Present(i int) (v any, ok bool) {
	if c.Kind != ConflictData && c.Kind != ConflictExists {
		return nil, false
	}
	return c.value(C.HPGO_CONFLICT, i)
}

// A Resolution is what to do about a conflict.
type Resolution int

// Resolutions.
const (
	Omit    Resolution = 0 // leave out this change; of ConflictForeignKey: commit nevertheless
	Replace Resolution = 1 // make it all the same; of ConflictData and ConflictExists only
	Abort   Resolution = 2 // undo all changes
)

// ApplyOptions say which changes are made, and what becomes of those that cannot be.
type ApplyOptions struct {
	// Filter says for each table whether its changes are to be made; all if it is nil.
	Filter func(table string) bool

	// Conflict decides; Abort always if it is nil. Neither of them may use the connection: its
	// methods return an error meanwhile.
	Conflict func(*Conflict) Resolution
}

// ApplyChangeset makes the changes of a changeset or patchset in the main database: all, but
// those that were left out by Filter and Conflict, or none. Tables that are not there, or have
// other columns or another key, are passed over. When it is aborted the error is ErrAbort. A
// panic of Filter or Conflict aborts and becomes an error, a *PanicError.
func (c *Conn) ApplyChangeset(changeset []byte, o ApplyOptions) error {
	if err := c.usable(); err != nil {
		return err
	}
	if err := mayRead(changeset); err != nil {
		return err
	}
	if err := c.until.reason(); err != nil {
		return err
	}
	if len(changeset) == 0 {
		return nil
	}
	if err := c.callsGo(); err != nil {
		return err
	}
	a := &apply{calls: c.calls, o: o}
	h := cgo.NewHandle(a)
	defer h.Delete()
	filter := C.int(boolInt(o.Filter != nil))
	rc := Code(C.hpgo_apply(c.h.db, C.int(len(changeset)),
		unsafe.Pointer(unsafe.SliceData(changeset)), filter, C.uintptr_t(h)))
	if rc == codeOK && c.back && !c.succeeded(true) {
		rc = ErrAbort
	}
	c.autocommit = !c.InTransaction()
	switch {
	case a.failed != nil:
		return a.failed
	case rc == ErrAbort && a.last != "", a.kind == ConflictForeignKey && rc.Primary() == ErrConstraint:
		return &Error{Code: ErrAbort, Offset: -1, Message: "the changeset was not applied: " + a.last}
	case rc != codeOK:
		return c.error(rc, "", &c.until)
	}
	return nil
}

// An apply is a call of ApplyChangeset.
type apply struct {
	calls  *callbacks
	o      ApplyOptions
	kind   ConflictKind // of the last conflict
	last   string
	failed error
}

//export hpgoFilter
func hpgoFilter(h C.uintptr_t, table *C.char) (take C.int) {
	a := cgo.Handle(h).Value().(*apply)
	if a.failed != nil {
		return 0
	}
	ended := false
	defer a.end(a.calls.enter(filterName), filterName, &ended)
	take = C.int(boolInt(a.o.Filter(C.GoString(table))))
	ended = true
	return take
}

//export hpgoConflict
func hpgoConflict(h C.uintptr_t, kind C.int, iter C.uint64_t) (what C.int) {
	a := cgo.Handle(h).Value().(*apply)
	what = C.int(Abort)
	if a.failed != nil {
		return what
	}
	conflict := Conflict{Kind: ConflictKind(kind)}
	if err := conflict.read(iter); err != nil {
		a.failed = err
		return what
	}
	defer func() { conflict.iter, conflict.key = 0, nil }()
	a.last, a.kind = conflict.String(), conflict.Kind
	if a.o.Conflict == nil {
		return what
	}
	ended := false
	defer a.end(a.calls.enter(conflictName), conflictName, &ended)
	r := a.o.Conflict(&conflict)
	ended = true
	if r == Replace && conflict.Kind != ConflictData && conflict.Kind != ConflictExists ||
		r < Omit || r > Abort {
		a.failed = fmt.Errorf("hpsqlite: resolution %d is not for this: %s", r, a.last)
		return what
	}
	return C.int(r)
}

const (
	filterName   = "the filter of a changeset"
	conflictName = "the conflict handler of a changeset"
)

// end is deferred by what C calls. Without *ended what it called has panicked.
func (a *apply) end(before, name string, ended *bool) {
	if !*ended {
		a.failed = a.calls.panicked(name, recover())
	}
	a.calls.leave(before)
}

// String says what is wrong.
func (c *Conflict) String() string {
	what := fmt.Sprintf("%s of table %s: ", c.Op, c.Table)
	switch c.Kind {
	case ConflictData:
		return what + "the row has other values than it had"
	case ConflictNotFound:
		return what + "there is no such row"
	case ConflictExists:
		return what + "there is a row with this key already"
	case ConflictConstraint:
		return what + "a constraint fails"
	}
	return "foreign keys are violated at the end"
}
