package hpsqlite

/*
#include <string.h>
#include "callback.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"time"
	"unsafe"
)

// A hook is what a number in hpgo_hooks stands for.
type hook struct {
	conn *Conn
	name string
	do   any      // the func
	last [2]names // of database and table
}

// A names keeps the name that C gave last: it is mostly the same again.
type names string

func (k *names) of(z *C.char) string {
	if z == nil {
		return ""
	}
	if n := C.strlen(z); string(*k) != unsafe.String((*byte)(unsafe.Pointer(z)), int(n)) {
		*k = names(C.GoStringN(z, C.int(n)))
	}
	return string(*k)
}

var errPreUpdate = errors.New("hpsqlite: a connection has a preupdate hook or sessions, not both")

// setHook sets the hook, which is of the kind that C numbers kind, or takes it away if do is nil.
func (c *Conn) setHook(kind int, name string, do any, arg int) error {
	if err := c.callsGo(); err != nil {
		return err
	}
	var id number
	if do != nil {
		id = numbers.hold(&hook{conn: c, name: name, do: do})
	}
	if C.hpgo_set_hook(c.calls.c, C.int(kind), C.uint64_t(id), C.int(arg)) != 0 {
		numbers.release(id)
		return without(name)
	}
	numbers.release(c.calls.hooks[kind])
	c.calls.hooks[kind] = id
	return nil
}

func hookOf(id C.uint64_t) *hook { return (*numbers.at(number(id))).(*hook) }

// end is deferred by what C calls. Without *ended the hook has panicked: then hard
// says that what the caller returns does not make SQLite fail.
func (h *hook) end(before string, ended *bool, hard bool) {
	k := h.conn.calls
	if !*ended {
		k.fail(k.panicked(h.name, recover()), hard)
	}
	k.leave(before)
}

// refuses calls a hook that may forbid what SQLite is about to do, by an error or a panic.
func (h *hook) refuses() (refused C.int) {
	ended := false
	defer h.end(h.conn.calls.enter(h.name), &ended, false)
	refused = 1
	err := h.do.(func() error)()
	ended = true
	if err != nil {
		h.conn.calls.fail(err, false)
		return 1
	}
	return 0
}

// SetUpdateHook has f called after each row that this connection inserts, updates or
// deletes in a table with rowids, with the schema's name (main, temp, …), the table's,
// and the rowid. It is not called for rows that go by REPLACE or by DELETE without
// WHERE. A nil f takes the hook away.
//
// Like all hooks but the WAL hook, f must not use the connection: its methods return an error
// meanwhile. If f panics, the statement fails (PanicError) and is rolled back.
func (c *Conn) SetUpdateHook(f func(op Op, schema, table string, rowid int64)) error {
	return c.setHook(C.HPGO_UPDATE, "the update hook", orNil(f == nil, f), 0)
}

func orNil(isNil bool, f any) any {
	if isNil {
		return nil
	}
	return f
}

//export hpgoUpdate
func hpgoUpdate(id C.uint64_t, op C.int, zDB, zTable *C.char, rowid C.int64_t) {
	h := hookOf(id)
	ended := false
	defer h.end(h.conn.calls.enter(h.name), &ended, true)
	h.do.(func(Op, string, string, int64))(Op(op), h.last[0].of(zDB), h.last[1].of(zTable),
		int64(rowid))
	ended = true
}

// SetCommitHook has f called before each commit that writes. An error makes it a rollback: the
// statement fails with ErrConstraintCommitHook, and the error as its cause. For the rest see
// SetUpdateHook.
func (c *Conn) SetCommitHook(f func() error) error {
	return c.setHook(C.HPGO_COMMIT, "the commit hook", orNil(f == nil, f), 0)
}

//export hpgoCommit
func hpgoCommit(id C.uint64_t) C.int { return hookOf(id).refuses() }

// SetRollbackHook has f called after each rollback of a transaction, whatever the
// reason. For the rest see SetUpdateHook.
func (c *Conn) SetRollbackHook(f func()) error {
	return c.setHook(C.HPGO_ROLLBACK, "the rollback hook", orNil(f == nil, f), 0)
}

//export hpgoRollback
func hpgoRollback(id C.uint64_t) {
	h := hookOf(id)
	ended := false
	defer h.end(h.conn.calls.enter(h.name), &ended, true)
	h.do.(func())()
	ended = true
}

// SetWALHook has f called after each commit to a write-ahead log, with the schema's name and the
// number of pages in the log. It may use the connection. An error is that of the statement,
// which has been committed all the same. Automatic checkpoints (PRAGMA
// wal_autocheckpoint) go on as they were set before; to set them later takes the hook
// away, as in SQLite.
func (c *Conn) SetWALHook(f func(schema string, pages int) error) error {
	if err := c.callsGo(); err != nil {
		return err
	}
	pages := int(c.calls.c.nCheckpoint)
	if c.calls.hooks[C.HPGO_WAL] == 0 {
		rows := c.Query("PRAGMA wal_autocheckpoint")
		rows.Next()
		pages = int(rows.Int64(0))
		if err := rows.Close(); err != nil {
			return err
		}
		if f == nil {
			return nil
		}
	}
	return c.setHook(C.HPGO_WAL, "the WAL hook", orNil(f == nil, f), pages)
}

//export hpgoWAL
func hpgoWAL(id C.uint64_t, zDB *C.char, pages C.int) (rc C.int) {
	h := hookOf(id)
	ended := false
	defer h.end(h.conn.calls.enter(""), &ended, false)
	rc = C.SQLITE_ERROR
	err := h.do.(func(string, int) error)(h.last[0].of(zDB), int(pages))
	ended = true
	if err != nil {
		h.conn.calls.fail(err, false)
		return C.int(codeOf(err))
	}
	return C.SQLITE_OK
}

// A PreUpdate is a row that is about to be inserted, updated or deleted. It is good until
// the preupdate hook returns.
type PreUpdate struct {
	Op       Op
	Schema   string // main, temp, …
	Table    string
	OldRowID int64 // of an update or delete in a table with rowids
	NewRowID int64 // of an insert or update in a table with rowids
	Columns  int   // of the table
	Depth    int   // 0 for what the statement does itself, 1 for its triggers, and so on
	Blob     int   // column that a BlobHandle writes, which is told as a delete; else -1
	db       C.uint64_t
}

// Old is column i, from 0, as it is: of an update or delete.
func (g *PreUpdate) Old(i int) (Value, error) { return g.value(0, i) }

// New is column i, from 0, as it will be: of an insert or update.
func (g *PreUpdate) New(i int) (Value, error) { return g.value(1, i) }

func (g *PreUpdate) value(isNew, i int) (v Value, err error) {
	if g.db == 0 {
		return v, errors.New("hpsqlite: the change is over: it was the preupdate hook's until " +
			"that returned")
	}
	var got C.hpgo_value
	if rc := Code(C.hpgo_preupdate_value(g.db, C.int(isNew), C.int(i), &got)); rc != codeOK {
		return v, fmt.Errorf("column %d, %s %s: %w", i, g.Op, g.Table, rc)
	}
	return *(*Value)(unsafe.Pointer(&got)), nil
}

// SetPreUpdateHook has f called before each row that is inserted, updated or deleted, also in
// tables without rowids. An error says that the library was compiled without it. For the
// rest see SetUpdateHook.
//
// A Session records changes by the same hook of SQLite's: while one is open it is an error.
func (c *Conn) SetPreUpdateHook(f func(*PreUpdate)) error {
	for p := range c.parts {
		if _, ok := p.(*Session); ok {
			return errPreUpdate
		}
	}
	return c.setHook(C.HPGO_PREUPDATE, "the preupdate hook", orNil(f == nil, f), 0)
}

//export hpgoPreupdate
func hpgoPreupdate(id C.uint64_t, x *C.hpgo_preupdate_row) {
	h := hookOf(id)
	ended := false
	defer h.end(h.conn.calls.enter(h.name), &ended, true)
	g := &PreUpdate{
		Op: Op(x.op), Schema: h.last[0].of(x.zDb), Table: h.last[1].of(x.zTable),
		OldRowID: int64(x.iOld), NewRowID: int64(x.iNew),
		Columns: int(x.nCol), Depth: int(x.depth), Blob: int(x.iBlob), db: x.db,
	}
	defer func() { g.db = 0 }()
	h.do.(func(*PreUpdate))(g)
	ended = true
}

// An Action is something that a statement wants to do.
type Action struct {
	Code    ActionCode
	Arg1    string // what it is depends on the code, see there
	Arg2    string
	Schema  string // main, temp, …, or empty
	Trigger string // the trigger or view that does it, or empty
}

// An ActionCode is a kind of action. Behind each is what Arg1 and Arg2 are.
type ActionCode int

// Kinds of actions.
const (
	ActionCreateIndex       ActionCode = C.SQLITE_CREATE_INDEX        // index, table
	ActionCreateTable       ActionCode = C.SQLITE_CREATE_TABLE        // table
	ActionCreateTempIndex   ActionCode = C.SQLITE_CREATE_TEMP_INDEX   // index, table
	ActionCreateTempTable   ActionCode = C.SQLITE_CREATE_TEMP_TABLE   // table
	ActionCreateTempTrigger ActionCode = C.SQLITE_CREATE_TEMP_TRIGGER // trigger, table
	ActionCreateTempView    ActionCode = C.SQLITE_CREATE_TEMP_VIEW    // view
	ActionCreateTrigger     ActionCode = C.SQLITE_CREATE_TRIGGER      // trigger, table
	ActionCreateView        ActionCode = C.SQLITE_CREATE_VIEW         // view
	ActionDelete            ActionCode = C.SQLITE_DELETE              // table
	ActionDropIndex         ActionCode = C.SQLITE_DROP_INDEX          // index, table
	ActionDropTable         ActionCode = C.SQLITE_DROP_TABLE          // table
	ActionDropTempIndex     ActionCode = C.SQLITE_DROP_TEMP_INDEX     // index, table
	ActionDropTempTable     ActionCode = C.SQLITE_DROP_TEMP_TABLE     // table
	ActionDropTempTrigger   ActionCode = C.SQLITE_DROP_TEMP_TRIGGER   // trigger, table
	ActionDropTempView      ActionCode = C.SQLITE_DROP_TEMP_VIEW      // view
	ActionDropTrigger       ActionCode = C.SQLITE_DROP_TRIGGER        // trigger, table
	ActionDropView          ActionCode = C.SQLITE_DROP_VIEW           // view
	ActionInsert            ActionCode = C.SQLITE_INSERT              // table
	ActionPragma            ActionCode = C.SQLITE_PRAGMA              // pragma, its argument
	ActionRead              ActionCode = C.SQLITE_READ                // table, column
	ActionSelect            ActionCode = C.SQLITE_SELECT              //
	ActionTransaction       ActionCode = C.SQLITE_TRANSACTION         // BEGIN, COMMIT or ROLLBACK
	ActionUpdate            ActionCode = C.SQLITE_UPDATE              // table, column
	ActionAttach            ActionCode = C.SQLITE_ATTACH              // file
	ActionDetach            ActionCode = C.SQLITE_DETACH              // schema
	ActionAlterTable        ActionCode = C.SQLITE_ALTER_TABLE         // schema, table
	ActionReindex           ActionCode = C.SQLITE_REINDEX             // index
	ActionAnalyze           ActionCode = C.SQLITE_ANALYZE             // table
	ActionCreateVTable      ActionCode = C.SQLITE_CREATE_VTABLE       // table, module
	ActionDropVTable        ActionCode = C.SQLITE_DROP_VTABLE         // table, module
	ActionFunction          ActionCode = C.SQLITE_FUNCTION            // empty, function
	ActionSavepoint         ActionCode = C.SQLITE_SAVEPOINT           // BEGIN, RELEASE, ROLLBACK; name
	ActionRecursive         ActionCode = C.SQLITE_RECURSIVE           //
)

// A Verdict is what an authorizer says.
type Verdict int

// Verdicts.
const (
	Allow  Verdict = C.SQLITE_OK
	Deny   Verdict = C.SQLITE_DENY   // the statement is not compiled: ErrAuth
	Ignore Verdict = C.SQLITE_IGNORE // a column reads as NULL; anything else is not done
)

// SetAuthorizer has f asked, while a statement is compiled, about each thing that it would do.
// Statements that were compiled before are compiled again when they are used next.
// A panic denies. For the rest see SetUpdateHook.
func (c *Conn) SetAuthorizer(f func(Action) Verdict) error {
	return c.setHook(C.HPGO_AUTHORIZER, "the authorizer", orNil(f == nil, f), 0)
}

//export hpgoAuthorize
func hpgoAuthorize(id C.uint64_t, code C.int, z1, z2, zSchema, zTrigger *C.char) (verdict C.int) {
	h := hookOf(id)
	ended := false
	defer h.end(h.conn.calls.enter(h.name), &ended, false)
	verdict = C.SQLITE_DENY
	v := h.do.(func(Action) Verdict)(Action{ActionCode(code), C.GoString(z1), C.GoString(z2),
		C.GoString(zSchema), C.GoString(zTrigger)})
	ended = true
	return C.int(v)
}

// SetProgressHandler has f called again and again while a statement runs, about each n
// instructions of SQLite's. An error interrupts the statement: ErrInterrupt, with the error as
// its cause. To stop at a deadline use a context instead, see Until. For the rest see
// SetUpdateHook.
func (c *Conn) SetProgressHandler(n int, f func() error) error {
	if f != nil && n < 1 {
		return fmt.Errorf("hpsqlite: a progress handler each %d instructions", n)
	}
	return c.setHook(C.HPGO_PROGRESS, "the progress handler", orNil(f == nil, f), n)
}

//export hpgoProgress
func hpgoProgress(id C.uint64_t) C.int { return hookOf(id).refuses() }

// TraceEvents are kinds of events, joined by |.
type TraceEvents int

// Kinds of events.
const (
	TraceStmt    TraceEvents = C.SQLITE_TRACE_STMT    // a statement, or a trigger, begins
	TraceProfile TraceEvents = C.SQLITE_TRACE_PROFILE // a statement has ended; Trace.Duration
	TraceRow     TraceEvents = C.SQLITE_TRACE_ROW     // a statement gives a row
)

// A Trace is an event, good until the trace hook returns.
type Trace struct {
	Event    TraceEvents
	SQL      string        // the statement, with its parameters' names; a trigger's is a comment
	Duration time.Duration // that the statement took, with TraceProfile
	stmt     C.uint64_t
}

// ExpandedSQL is the statement with its parameters' values in their places. It is empty if
// memory or SQLite's limits do not suffice.
func (t *Trace) ExpandedSQL() string {
	if t.stmt == 0 {
		return ""
	}
	z := C.sqlite3_expanded_sql(stmtOf(t.stmt))
	defer C.sqlite3_free(unsafe.Pointer(z))
	return C.GoString(z)
}

// SetTrace has f called at these events. For the rest see SetUpdateHook.
func (c *Conn) SetTrace(events TraceEvents, f func(*Trace)) error {
	if f == nil {
		events = 0
	}
	return c.setHook(C.HPGO_TRACE, "the trace hook", orNil(f == nil, f), int(events))
}

//export hpgoTrace
func hpgoTrace(id C.uint64_t, event C.int, stmt C.uint64_t, zSQL *C.char, ns C.int64_t) {
	h := hookOf(id)
	ended := false
	defer h.end(h.conn.calls.enter(h.name), &ended, true)
	t := &Trace{Event: TraceEvents(event), SQL: h.last[0].of(zSQL), Duration: time.Duration(ns),
		stmt: stmt}
	defer func() { t.stmt = 0 }()
	h.do.(func(*Trace))(t)
	ended = true
}

// SetBusyHandler has f called when another connection has a lock that is needed, with how often
// it was called before for this lock. If it returns true the lock is tried again, else the
// statement fails with ErrBusy. f does the waiting. It is not called any more when a context is
// done. It stands in for the busy timeout, until it is taken away. For the rest see
// SetUpdateHook.
func (c *Conn) SetBusyHandler(f func(count int) bool) error {
	return c.setHook(C.HPGO_BUSY, "the busy handler", orNil(f == nil, f), 0)
}

//export hpgoBusy
func hpgoBusy(id C.uint64_t, count C.int) C.int {
	h := hookOf(id)
	ended := false
	defer h.end(h.conn.calls.enter(h.name), &ended, false)
	yes := h.do.(func(int) bool)(int(count))
	ended = true
	return C.int(boolInt(yes))
}
