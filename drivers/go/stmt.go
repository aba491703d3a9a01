package hpsqlite

/*
#include <stdlib.h>
#include "hpgo.h"
*/
import "C"

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
	"unsafe"
)

// A Stmt is a compiled statement of one connection. It is used by one goroutine
// at a time, and carries out one query at a time.
//
// Parameters are numbered from 1, as in SQL, columns from 0.
type Stmt struct {
	conn      *Conn
	p         handle
	sql       string
	numParams int
	numCols   int
	readonly  bool
	prepared  int      // times that SQLite prepared it again
	params    []string // names without their first character, if there are any
	columns   []column // read when asked for

	args    args
	argErr  error // what a Bind call could not take
	small   []byte
	rows    Rows
	sqlRows sqlRows
	watch   watch
	boxes   boxes

	running     bool // SQLite is being called, and calls Go
	done        C.hpgo_done
	single      bool // gave one row or none when last carried out
	ownedByRows bool // Rows.Close releases it

	cached, taken bool // may be given to the cache; is not in it
	keepsArgs     bool // no parameters are those that were set before: Prepare gave it
	lastUse       uint64
}

// smallBuffer is what the first row, or the only one, is packed into.
const smallBuffer = 1024

// release gives the statement back to the cache, or finalizes it.
func (s *Stmt) release() {
	if s.conn.h == nil {
		return
	}
	s.keepsArgs = false
	s.args.shrink()
	if !s.cached || !s.conn.cache.give(s) {
		s.finalize()
	}
}

// Close ends the statement's use; its rows are closed. The connection keeps it prepared.
func (s *Stmt) Close() error {
	if s.p == 0 || !s.taken {
		return nil
	}
	if err := s.usable(); err != nil {
		return err
	}
	s.rows.Close()
	s.args.clear()
	s.argErr = nil
	s.release()
	return nil
}

func (s *Stmt) finalize() {
	if s.p == 0 {
		return
	}
	if s.rows.open && s.rows.err == nil && (s.rows.more || s.rows.left > 0) {
		s.rows.err = errClosed
	}
	s.rows.stop()
	C.sqlite3_finalize(s.stmt())
	s.p = 0
	s.args.free()
	delete(s.conn.stmts, s)
}

// SQL is the statement's text.
func (s *Stmt) SQL() string { return s.sql }

// NumParams is the number of parameters: the largest, if they have numbers.
func (s *Stmt) NumParams() int { return s.numParams }

// ReadOnly reports whether the statement leaves the database file as it is
// (sqlite3_stmt_readonly).
func (s *Stmt) ReadOnly() bool { return s.readonly }

func (s *Stmt) readNames() {
	s.params = make([]string, s.numParams)
	for i := range s.params {
		if z := C.sqlite3_bind_parameter_name(s.stmt(), C.int(i+1)); z != nil {
			if name := C.GoString(z); name[0] != '?' {
				s.params[i] = name[1:]
			}
		}
	}
}

// ParamIndex is the number of the parameter with that name, which is given
// without :, @ or $; 0 if there is none.
func (s *Stmt) ParamIndex(name string) int {
	for i, n := range s.params {
		if n == name && n != "" {
			return i + 1
		}
	}
	return 0
}

// split takes the parameters that are this statement's from the front of args.
// Those with names stay for the next one too.
func (s *Stmt) split(args []any) (mine, rest []any) {
	n := s.numParams
	for i := range s.params {
		if s.params[i] != "" {
			n--
		}
	}
	for _, a := range args {
		if name, ok := named(a); ok {
			if s.ParamIndex(name) > 0 {
				mine = append(mine, a)
			}
			rest = append(rest, a)
		} else if n > 0 {
			mine = append(mine, a)
			n--
		} else {
			rest = append(rest, a)
		}
	}
	return mine, rest
}

func named(arg any) (string, bool) {
	switch a := arg.(type) {
	case sql.NamedArg:
		return a.Name, true
	case driver.NamedValue:
		return a.Name, a.Name != ""
	}
	return "", false
}

// idle refuses to change what a query that runs still reads.
func (s *Stmt) idle() bool {
	if s.rows.open || s.running {
		s.argErr = errRunning
		return false
	}
	return true
}

func (s *Stmt) param(i int) bool {
	if !s.idle() {
		return false
	}
	if i < 1 || i > s.numParams {
		s.argErr = fmt.Errorf("hpsqlite: there is no parameter %d: the statement has %d", i, s.numParams)
		return false
	}
	return true
}

// BindInt64 sets parameter i. As of all Bind calls, an error comes when
// the statement is carried out, and the value stays until another is set.
func (s *Stmt) BindInt64(i int, v int64) {
	if s.param(i) {
		s.args.set(i-1, cell{typ: typeInt, v: uint64(v)})
	}
}

// BindFloat64 sets parameter i. NaN is NULL, as everywhere in SQLite.
func (s *Stmt) BindFloat64(i int, v float64) {
	if s.param(i) {
		s.args.set(i-1, cell{typ: typeFloat, v: math.Float64bits(v)})
	}
}

// BindText sets parameter i to a text. It is copied.
func (s *Stmt) BindText(i int, v string) {
	if s.param(i) {
		s.bytes(i-1, typeText, unsafe.StringData(v), len(v))
	}
}

// BindBytes sets parameter i to a blob, or to NULL if v is nil. It is copied.
func (s *Stmt) BindBytes(i int, v []byte) {
	if s.param(i) {
		s.blob(i-1, v)
	}
}

// BindBool sets parameter i to 1 or 0.
func (s *Stmt) BindBool(i int, v bool) {
	s.BindInt64(i, boolInt(v))
}

// BindTime sets parameter i to v as a text, see TimeFormat.
func (s *Stmt) BindTime(i int, v time.Time) {
	if s.param(i) {
		s.time(i-1, v)
	}
}

// BindNull sets parameter i to NULL.
func (s *Stmt) BindNull(i int) {
	if s.param(i) {
		s.args.set(i-1, cell{typ: typeNull})
	}
}

// BindZeroBlob sets parameter i to a blob of n zero bytes, to be written with a Blob.
func (s *Stmt) BindZeroBlob(i int, n int64) {
	if s.param(i) {
		s.args.set(i-1, cell{typ: typeZeroBlob, v: uint64(n)})
	}
}

// Bind sets all parameters, as many as there are. The values' types are Query's.
func (s *Stmt) Bind(args ...any) {
	if !s.idle() {
		return
	}
	s.args.clear()
	s.argErr = nil
	s.bind(args)
}

func (s *Stmt) bind(args []any) {
	for _, a := range args {
		if _, ok := named(a); ok {
			s.bindNamed(args)
			return
		}
	}
	if len(args) != s.numParams {
		s.argErr = fmt.Errorf("hpsqlite: %d parameters are given, and the statement has %d",
			len(args), s.numParams)
		return
	}
	for i, a := range args {
		s.value(i, a)
	}
}

// bindNamed sets those that have names by them, and what is without a name to the
// parameters that are left, in their order.
func (s *Stmt) bindNamed(args []any) {
	given := make([]bool, s.numParams)
	for _, a := range args {
		name, ok := named(a)
		if !ok {
			continue
		}
		value, found := a, false
		if a, ok := a.(sql.NamedArg); ok {
			value = a.Value
		}
		for i, n := range s.params {
			// :name, @name and $name are three parameters.
			if n == name && n != "" {
				s.value(i, value)
				given[i], found = true, true
			}
		}
		if !found {
			s.argErr = fmt.Errorf("hpsqlite: there is no parameter %q in %s", name, excerpt(s.sql))
			return
		}
	}
	i := 0
	for _, a := range args {
		if _, ok := named(a); ok {
			continue
		}
		for i < len(given) && given[i] {
			i++
		}
		if i == len(given) {
			s.argErr = fmt.Errorf("hpsqlite: more parameters are given than %s has", excerpt(s.sql))
			return
		}
		s.value(i, a)
		given[i] = true
	}
	for i, ok := range given {
		if !ok && s.argErr == nil {
			s.argErr = fmt.Errorf("hpsqlite: parameter %s is not given", s.paramName(i))
		}
	}
}

// paramName is what an error calls parameter i (from 0).
func (s *Stmt) paramName(i int) string {
	if s.params != nil && s.params[i] != "" {
		return strconv.Quote(s.params[i])
	}
	return strconv.Itoa(i + 1)
}

func (s *Stmt) bytes(i int, typ uint32, p *byte, n int) {
	if err := s.args.bytes(i, typ, p, n); err != nil {
		s.argErr = fmt.Errorf("parameter %d, %d bytes: %w", i+1, n, err)
	}
}

func (s *Stmt) blob(i int, v []byte) {
	if v == nil {
		s.args.set(i, cell{typ: typeNull})
		return
	}
	s.bytes(i, typeBlob, unsafe.SliceData(v), len(v))
}

func (s *Stmt) time(i int, v time.Time) {
	var buf [64]byte
	b := s.conn.cfg.appendTime(buf[:0], v)
	s.bytes(i, typeText, unsafe.SliceData(b), len(b))
}

func boolInt(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// value sets parameter i (from 0) to any value that SQLite can hold.
func (s *Stmt) value(i int, arg any) {
	switch v := arg.(type) {
	case nil:
		s.args.set(i, cell{typ: typeNull})
	case int64:
		s.args.set(i, cell{typ: typeInt, v: uint64(v)})
	case int:
		s.args.set(i, cell{typ: typeInt, v: uint64(v)})
	case string:
		s.bytes(i, typeText, unsafe.StringData(v), len(v))
	case float64:
		s.args.set(i, cell{typ: typeFloat, v: math.Float64bits(v)})
	case []byte:
		s.blob(i, v)
	case bool:
		s.args.set(i, cell{typ: typeInt, v: uint64(boolInt(v))})
	case time.Time:
		s.time(i, v)
	case driver.NamedValue:
		s.value(i, v.Value)
	case ZeroBlob:
		s.args.set(i, cell{typ: typeZeroBlob, v: uint64(v)})
	case json.RawMessage:
		// A blob would be taken for SQLite's own binary JSON.
		if v == nil {
			s.args.set(i, cell{typ: typeNull})
		} else {
			s.bytes(i, typeText, unsafe.SliceData(v), len(v))
		}
	case driver.Valuer:
		s.valuer(i, v)
	default:
		s.reflected(i, arg)
	}
}

func (s *Stmt) valuer(i int, v driver.Valuer) {
	// As database/sql does: a nil pointer whose method is the value's is NULL.
	if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() &&
		r.Type().Elem().Implements(valuerType) {
		s.args.set(i, cell{typ: typeNull})
		return
	}
	got, err := v.Value()
	if err != nil {
		s.argErr = fmt.Errorf("hpsqlite: parameter %d: %w", i+1, err)
		return
	}
	if _, again := got.(driver.Valuer); again {
		if _, ok := got.(time.Time); !ok {
			s.argErr = fmt.Errorf("hpsqlite: parameter %d: Value of %T gave another Valuer, %T", i+1, v, got)
			return
		}
	}
	s.value(i, got)
}

var valuerType = reflect.TypeFor[driver.Valuer]()

// reflected takes the types that have one of the types above below them.
func (s *Stmt) reflected(i int, arg any) {
	r := reflect.ValueOf(arg)
	switch r.Kind() {
	case reflect.Pointer:
		if r.IsNil() {
			s.args.set(i, cell{typ: typeNull})
		} else {
			s.value(i, r.Elem().Interface())
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		s.args.set(i, cell{typ: typeInt, v: uint64(r.Int())})
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if r.Uint() > math.MaxInt64 {
			s.argErr = fmt.Errorf("hpsqlite: parameter %d: %d is larger than SQLite's integers, "+
				"which end at %d", i+1, r.Uint(), math.MaxInt64)
			return
		}
		s.args.set(i, cell{typ: typeInt, v: r.Uint()})
	case reflect.Float32, reflect.Float64:
		s.args.set(i, cell{typ: typeFloat, v: math.Float64bits(r.Float())})
	case reflect.Bool:
		s.args.set(i, cell{typ: typeInt, v: uint64(boolInt(r.Bool()))})
	case reflect.String:
		v := r.String()
		s.bytes(i, typeText, unsafe.StringData(v), len(v))
	case reflect.Slice:
		if r.Type().Elem().Kind() == reflect.Uint8 {
			s.blob(i, r.Bytes())
			return
		}
		fallthrough
	default:
		s.argErr = fmt.Errorf("hpsqlite: parameter %d: SQLite cannot hold a %T", i+1, arg)
	}
}

// A ZeroBlob as a parameter is a blob of so many zero bytes, which takes no memory.
type ZeroBlob int64

func (s *Stmt) closed() error {
	if s.conn.h == nil {
		return errClosed
	}
	return errStmtClosed
}

// start is what is asked before a statement is carried out.
func (s *Stmt) start(args []any) error {
	if s.p == 0 || !s.taken {
		return s.closed()
	}
	if err := s.usable(); err != nil {
		return err
	}
	if s.rows.open {
		return errRunning
	}
	if len(args) > 0 || !s.keepsArgs && s.numParams > 0 {
		s.args.clear()
		s.argErr = nil
		s.bind(args)
	}
	if err := s.argErr; err != nil {
		s.args.clear()
		s.argErr = nil
		return err
	}
	return s.conn.until.reason()
}

// Exec carries the statement out, with these parameters or, if there are none,
// with those that were set before. Rows are left unread.
func (s *Stmt) Exec(args ...any) (Result, error) {
	return s.exec(context.Background(), args)
}

func (s *Stmt) exec(ctx context.Context, args []any) (Result, error) {
	if err := s.start(args); err != nil {
		return Result{}, err
	}
	if err := s.watch.begin(ctx); err != nil {
		return Result{}, err
	}
	var done C.hpgo_done
	rc := s.execC(&done)
	if s.args.far {
		s.args.gone()
	}
	s.conn.autocommit = done.bAuto != 0
	var err error
	if rc != codeOK {
		err = s.conn.error(rc, s.sql, &s.watch)
	}
	s.watch.end()
	return Result{Changes: int64(done.nChange), RowID: int64(done.iRowid)}, err
}

// Query carries the statement out, with these parameters or, if there are none,
// with those that were set before, and gives its rows. Parameters are of the
// types that database/sql takes, and all whose underlying type is one of those. An error is
// told by the rows: Rows.Err and Rows.Close.
//
// The first row is there when Query returns, if there is one; more are then
// fetched many at a time, as long as that is quick.
func (s *Stmt) Query(args ...any) *Rows {
	return s.query(context.Background(), args)
}

func (s *Stmt) query(ctx context.Context, args []any) *Rows {
	err := s.start(args)
	if err == nil {
		err = s.watch.begin(ctx)
	}
	if err != nil {
		// Rows that are open stay as they are; and what must not be used now could not be closed.
		if s.rows.open || s.usable() != nil {
			return &Rows{err: err}
		}
		s.rows.fail(err)
		return &s.rows
	}
	s.rows.begin()
	return &s.rows
}
