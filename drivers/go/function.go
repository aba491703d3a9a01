package hpsqlite

/*
#cgo noescape hpgo_get_aux
#cgo nocallback hpgo_get_aux
#cgo nocallback sqlite3_value_text
#cgo nocallback sqlite3_value_bytes
#cgo nocallback sqlite3_value_subtype
#include "callback.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// FuncFlags say what SQLite may do with a function. They are joined by |.
type FuncFlags int

// Flags of functions.
const (
	// Deterministic: equal arguments give equal results, so that SQLite may call it once
	// for many rows, and indexes may be made of it.
	Deterministic FuncFlags = C.SQLITE_DETERMINISTIC
	// DirectOnly: not from triggers, views, and what else stands in the database's
	// schema. For all functions that have side effects, or tell secrets.
	DirectOnly FuncFlags = C.SQLITE_DIRECTONLY
	// Innocuous: harmless from a schema of which nobody knows who wrote it
	// (PRAGMA trusted_schema=off).
	Innocuous FuncFlags = C.SQLITE_INNOCUOUS
	// ArgsJSON: the function may call Value.IsJSON.
	ArgsJSON FuncFlags = C.SQLITE_SUBTYPE
	// ResultJSON: the function may call Context.JSON.
	ResultJSON FuncFlags = 0x1000000 // SQLITE_RESULT_SUBTYPE, which old headers lack
)

// AnyArgs is the number of arguments of a function that takes any number.
const AnyArgs = -1

// A Func is a function as SQLite calls it. To read arguments and to give a result
// allocates nothing. The result is what a method of the Context was called with
// last, else NULL. An error makes the statement fail; what it wraps is found by errors.Is
// and errors.As in the statement's error, which has its Code if it is one of
// this package.
//
// Arguments, and their slices, are SQLite's, good until the function
// returns, and must not be changed.
type Func func(ctx *Context, args []Value) error

// An Aggregate is the state of an aggregate function over the rows of one group. Step is
// called for each row, Result once at the end, also if there was no row. An
// Aggregate with an Inverse method can be a window function, see Window.
//
// When a statement ends early, Result is called and what it gives is not used.
type Aggregate interface {
	Step(ctx *Context, args []Value) error
	Result(ctx *Context) error
}

// A Window is an Aggregate over a frame of rows that moves: Inverse takes away the row
// that was added first, and Result is called for each row of the query.
type Window interface {
	Aggregate
	Inverse(ctx *Context, args []Value) error
}

// CreateRawFunction defines a function of numArgs arguments, or of any number
// (AnyArgs). It replaces the one that has this name and number of arguments. It stays
// as long as the connection.
//
// f may use its connection, with other statements than those that are calling it.
// A transaction cannot be committed meanwhile. A panic in f is an error of the
// statement, see PanicError. The connection calls f in the goroutine that uses it.
//
// CreateFunction is the same for ordinary Go functions.
func (c *Conn) CreateRawFunction(name string, numArgs int, f Func, flags FuncFlags) error {
	return c.createFunction(&function{name: name, call: f}, numArgs, flags)
}

// CreateRawAggregate defines an aggregate function, as CreateRawFunction does. newState
// is called for each group.
func (c *Conn) CreateRawAggregate(name string, numArgs int, newState func() Aggregate,
	flags FuncFlags) error {
	return c.createFunction(&function{name: name,
		aggregate: func() (Aggregate, error) { return newState(), nil }}, numArgs, flags)
}

// CreateRawWindow defines an aggregate function that is a window function as
// well. newState is called for each group and for each partition.
func (c *Conn) CreateRawWindow(name string, numArgs int, newState func() Window,
	flags FuncFlags) error {
	return c.createFunction(&function{name: name, window: true,
		aggregate: func() (Aggregate, error) { return newState(), nil }}, numArgs, flags)
}

// RemoveFunction takes away a function, or an aggregate, that was defined with this number of
// arguments. SQLite's own of that name, if there is one, does not come back.
func (c *Conn) RemoveFunction(name string, numArgs int) error {
	if err := c.callsGo(); err != nil {
		return err
	}
	z, err := cName(name)
	if err != nil {
		return err
	}
	if rc := Code(C.hpgo_remove_function(c.h.db, z, C.int(numArgs))); rc != codeOK {
		return fmt.Errorf("cannot remove the function %s: %w", name, c.error(rc, "", nil))
	}
	return nil
}

// A function is what a number of SQLite's stands for.
type function struct {
	conn      *Conn
	name      string
	call      Func
	aggregate func() (Aggregate, error)
	window    bool
	idle      *Context // kept for the next call
	states    []Aggregate
	free      []uint64 // of states
}

func (c *Conn) createFunction(f *function, numArgs int, flags FuncFlags) error {
	if err := c.callsGo(); err != nil {
		return err
	}
	z, err := cName(f.name)
	if err != nil {
		return err
	}
	f.conn = c
	id := C.uint64_t(numbers.hold(f))
	var rc C.int
	switch {
	case f.aggregate == nil:
		rc = C.hpgo_create_function(c.h.db, z, C.int(numArgs), C.int(flags), id)
	default:
		rc = C.hpgo_create_aggregate(c.h.db, z, C.int(numArgs), C.int(flags), id,
			C.int(boolInt(f.window)))
	}
	// If it fails SQLite has released the number.
	if rc != 0 {
		return fmt.Errorf("cannot define the function %s: %w", f.name, c.error(Code(rc), "", nil))
	}
	return nil
}

//export hpgoFunction
func hpgoFunction(id C.uint64_t, call *C.hpgo_call) {
	f := (*numbers.at(number(id))).(*function)
	ctx := f.idle
	if ctx == nil {
		ctx = &Context{f: f}
	}
	f.idle = nil
	ctx.call = call
	k := f.conn.calls
	before := k.enter("")
	ended := false
	defer func() {
		if !ended {
			ctx.failed(k.panicked("the function "+f.name, recover()))
		}
		k.leave(before)
		ctx.call = nil
		f.idle = ctx
	}()
	if err := f.run(ctx, call); err != nil {
		ctx.failed(err)
	}
	ended = true
}

func (f *function) run(ctx *Context, call *C.hpgo_call) error {
	args := unsafe.Slice((*Value)(unsafe.Pointer(call.aArg)), int(call.nArg))
	if call.op == C.HPGO_CALL {
		return f.call(ctx, args)
	}
	state, err := f.state((*uint64)(unsafe.Pointer(call.pState)))
	if err != nil {
		if call.op == C.HPGO_FINAL {
			*(*uint64)(unsafe.Pointer(call.pState)) = 0
		}
		return err
	}
	switch call.op {
	case C.HPGO_STEP:
		return state.Step(ctx, args)
	case C.HPGO_INVERSE:
		return state.(Window).Inverse(ctx, args)
	case C.HPGO_FINAL:
		at := *(*uint64)(unsafe.Pointer(call.pState)) - 1
		f.states[at] = nil
		f.free = append(f.free, at)
	}
	return state.Result(ctx)
}

// state is an aggregate's state. C keeps its place in f.states, plus one.
func (f *function) state(place *uint64) (Aggregate, error) {
	if *place != 0 {
		return f.states[*place-1], nil
	}
	state, err := f.aggregate()
	if err != nil {
		return nil, err
	}
	if n := len(f.free); n > 0 {
		*place = f.free[n-1] + 1
		f.free = f.free[:n-1]
		f.states[*place-1] = state
	} else {
		f.states = append(f.states, state)
		*place = uint64(len(f.states))
	}
	return state, nil
}

// A Context is one call of a function. It is the function's until it returns.
type Context struct {
	f    *function
	call *C.hpgo_call
}

// Conn is the connection that calls. For what may be done with it see CreateRawFunction. The
// sql.Conn or sql.Tx that has it waits until its statement has ended, and cannot be used.
func (x *Context) Conn() *Conn { return x.f.conn }

func (x *Context) set(typ C.uint32_t, v uint64) {
	x.dropFar()
	x.call._type, x.call.v = typ, C.uint64_t(v)
}

// Null makes the result NULL.
func (x *Context) Null() { x.set(typeNull, 0) }

// Int64 makes the result an integer.
func (x *Context) Int64(v int64) { x.set(typeInt, uint64(v)) }

// Float64 makes the result a real, or NULL if v is NaN.
func (x *Context) Float64(v float64) { x.set(typeFloat, math.Float64bits(v)) }

// Bool makes the result 1 or 0.
func (x *Context) Bool(v bool) { x.Int64(boolInt(v)) }

// Text makes the result a text, which is copied.
func (x *Context) Text(v string) { x.bytes(typeText, unsafe.StringData(v), len(v)) }

// RawText makes the result a text, which is copied.
func (x *Context) RawText(v []byte) { x.bytes(typeText, unsafe.SliceData(v), len(v)) }

// Bytes makes the result a blob, which is copied, or NULL if v is nil.
func (x *Context) Bytes(v []byte) {
	if v == nil {
		x.Null()
		return
	}
	x.bytes(typeBlob, unsafe.SliceData(v), len(v))
}

// JSON makes the result a text that SQLite's JSON functions take for a value, not for a string.
// The function must be defined with ResultJSON. The text is copied and
// not checked.
func (x *Context) JSON(v []byte) {
	x.RawText(v)
	x.call.subtype = 'J'
}

// Time makes the result a text, see TimeFormat.
func (x *Context) Time(v time.Time) {
	var buf [64]byte
	x.RawText(x.f.conn.cfg.appendTime(buf[:0], v))
}

// ZeroBlob makes the result a blob of n zero bytes.
func (x *Context) ZeroBlob(n int64) { x.set(typeZeroBlob, uint64(n)) }

// Value makes the result one of the arguments, as it is.
func (x *Context) Value(v Value) { x.set(C.HPGO_ARGUMENT, v.p) }

func (x *Context) bytes(typ C.uint32_t, p *byte, n int) {
	call := x.call
	x.dropFar()
	if n <= len(call.aShort) {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&call.aShort[0])), n), unsafe.Slice(p, n))
		call._type, call.n = typ, C.uint32_t(n)
		return
	}
	if n > maxValue {
		x.failed(ErrTooBig)
		return
	}
	m := C.sqlite3_malloc64(C.sqlite3_uint64(n))
	if m == nil {
		x.failed(ErrNoMem)
		return
	}
	copy(unsafe.Slice((*byte)(m), n), unsafe.Slice(p, n))
	call._type, call.n, call.v = typ+(typeFarText-typeText), C.uint32_t(n), C.uint64_t(uintptr(m))
}

// dropFar frees a large result that another one replaces.
func (x *Context) dropFar() {
	if t := x.call._type; t == typeFarText || t == typeFarBlob {
		C.sqlite3_free(cPointer(uint64(x.call.v)))
	}
	x.call._type = typeNull
	x.call.subtype = 0
}

// failed makes the result an error. What SQLite is told is short: the cause goes to
// the caller by Conn.
func (x *Context) failed(err error) {
	x.dropFar()
	message := "the function " + x.f.name + " failed"
	n := copy(unsafe.Slice((*byte)(unsafe.Pointer(&x.call.aShort[0])), len(x.call.aShort)), message)
	x.call._type, x.call.n, x.call.v = C.HPGO_ERROR, C.uint32_t(n), C.uint64_t(codeOf(err))
	x.f.conn.calls.fail(err, false)
}

// codeOf is the code that SQLite is given for an error of Go's.
func codeOf(err error) Code {
	code := ErrError
	var e *Error
	if errors.As(err, &e) {
		code = e.Code
	} else {
		errors.As(err, &code)
	}
	switch code {
	case codeOK, codeRow, codeDone, ErrSchema:
		// These would not end the statement.
		return ErrError
	}
	return code
}

// SetAux keeps something with argument i, from 0, for the statement's next rows: what
// was made of it, such as a compiled pattern. SQLite forgets it when the argument is
// not a constant, or at any other time.
func (x *Context) SetAux(i int, v any) {
	C.hpgo_set_aux(x.call.ctx, C.int(i), C.uint64_t(numbers.hold(v)))
}

// Aux is what SetAux has kept with argument i, or nil.
func (x *Context) Aux(i int) any {
	id := C.hpgo_get_aux(x.call.ctx, C.int(i))
	if id == 0 {
		return nil
	}
	return *numbers.at(number(id))
}

// A Value is an argument of a function, or of a row that is about to be changed. It is SQLite's,
// good until the function returns.
type Value struct {
	typ uint32 // laid out as hpgo_value
	n   uint32
	v   uint64
	p   uint64
}

// Type is the type of the value.
func (v Value) Type() Type { return Type(v.typ) }

// IsNull reports whether it is NULL.
func (v Value) IsNull() bool { return v.typ == typeNull }

// Int64 is the value as an integer: 0 if it is NULL, else as CAST AS INTEGER makes it.
func (v Value) Int64() int64 {
	switch v.typ {
	case typeInt:
		return int64(v.v)
	case typeFloat:
		return floatToInt(math.Float64frombits(v.v))
	case typeNull:
		return 0
	}
	n, _ := strconv.ParseInt(numericPrefix(string(v.bytes()), false), 10, 64)
	return n
}

// Float64 is the value as a real: 0 if it is NULL, else as CAST AS REAL makes it.
func (v Value) Float64() float64 {
	switch v.typ {
	case typeFloat:
		return math.Float64frombits(v.v)
	case typeInt:
		return float64(int64(v.v))
	case typeNull:
		return 0
	}
	f, _ := strconv.ParseFloat(numericPrefix(string(v.bytes()), true), 64)
	return f
}

// Bool reports whether the value, as an integer, is not 0.
func (v Value) Bool() bool { return v.Int64() != 0 }

// RawText is the value as a text, without a copy; nil if it is NULL. It is good until the function
// returns. Of a blob it is the bytes; numbers are as CAST AS TEXT makes them.
func (v Value) RawText() []byte {
	switch v.typ {
	case typeText, typeBlob:
		return v.bytes()
	case typeInt:
		return strconv.AppendInt(nil, int64(v.v), 10)
	case typeFloat:
		p := (*C.sqlite3_value)(cPointer(v.p))
		z := C.sqlite3_value_text(p)
		return unsafe.Slice((*byte)(z), int(C.sqlite3_value_bytes(p)))
	}
	return nil
}

// RawBytes is RawText; a blob and a text are the same bytes.
func (v Value) RawBytes() []byte { return v.RawText() }

// Text is the value as a string.
func (v Value) Text() string { return string(v.RawText()) }

// Bytes is a copy of the value's bytes, nil if it is NULL.
func (v Value) Bytes() []byte {
	b := v.RawText()
	if b == nil {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}

// IsJSON reports whether the value comes from a JSON function, or from Context.JSON, and
// so is not a string for other JSON functions. The function must be defined with ArgsJSON.
func (v Value) IsJSON() bool {
	return v.typ == typeText && C.sqlite3_value_subtype((*C.sqlite3_value)(cPointer(v.p))) == 'J'
}

// Any is a copy of the value: int64, float64, string, []byte or nil.
func (v Value) Any() any {
	switch v.typ {
	case typeInt:
		return int64(v.v)
	case typeFloat:
		return math.Float64frombits(v.v)
	case typeText:
		return v.Text()
	case typeBlob:
		return v.Bytes()
	}
	return nil
}

// String is the value as it would stand in SQL, shortened.
func (v Value) String() string {
	switch v.typ {
	case typeNull:
		return "NULL"
	case typeText:
		if v.n > 40 {
			return fmt.Sprintf("a text of %d bytes", v.n)
		}
		return "'" + strings.ReplaceAll(v.Text(), "'", "''") + "'"
	case typeBlob:
		return fmt.Sprintf("a blob of %d bytes", v.n)
	}
	return v.Text()
}

func (v Value) bytes() []byte {
	if v.n == 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(cPointer(v.v)), int(v.n))
}
