package hpsqlite

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// CreateFunction defines an ordinary Go function as a function of SQL:
//
//	conn.CreateFunction("reverse", func(s string) string { … }, hpsqlite.Deterministic)
//
// It takes as many arguments as f has parameters; if f is variadic, its fixed ones and any
// number more. The first parameter may be a *Context, which is not an argument.
//
// Parameters are integers, floats, bool, string, []byte, time.Time, any, Value, types
// whose underlying type is one of these, those with a Scan method
// (sql.NullString, …), or pointers to them. An argument is converted where nothing is lost by it:
// '12' and 12.0 are taken for an int, 'x' and 300 for an int8 are an error. NULL is
// nil; if a parameter cannot be nil, f is not called and the result is NULL, as of
// SQLite's own functions. Everything but a Value is a copy.
//
// f returns nothing, a result, an error, or both. Results are what Stmt.Query takes as
// parameters. A json.RawMessage is JSON, see Context.JSON. For errors, panics and
// the use of the connection see CreateRawFunction, which is several times as fast.
func (c *Conn) CreateFunction(name string, f any, flags FuncFlags) error {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		return fmt.Errorf("hpsqlite: the function %s is a %T, not a func", name, f)
	}
	sig, err := newSignature(v.Type(), 0, "the function "+name)
	if err != nil {
		return err
	}
	if sig.json {
		flags |= ResultJSON
	}
	call := func(ctx *Context, args []Value) error {
		return sig.call(v, ctx, args)
	}
	return c.CreateRawFunction(name, sig.numArgs(), call, flags)
}

// CreateAggregate defines an aggregate function. newState is a func that returns the state
// for one group, or the state and an error. The state is of any type that has these
// methods, with parameters and results as CreateFunction has them:
//
//	Step(arguments…)     adds a row
//	Result() T           is called at the end
//	Inverse(arguments…)  takes away the row that was added first
//
// Any of them may return an error as well. With Inverse, which is optional, it is a window
// function too, and Result is called for each row. Rows with NULL where Step's
// parameter cannot be nil are left out, as sum() does.
//
// CreateRawAggregate and CreateRawWindow are several times as fast.
func (c *Conn) CreateAggregate(name string, newState any, flags FuncFlags) error {
	build := reflect.ValueOf(newState)
	if build.Kind() != reflect.Func || build.IsNil() {
		return fmt.Errorf("hpsqlite: newState of the aggregate %s is a %T, not a func", name, newState)
	}
	t := build.Type()
	if t.NumIn() != 0 || t.NumOut() < 1 || t.NumOut() > 2 || t.NumOut() == 2 && t.Out(1) != errorType {
		return fmt.Errorf("hpsqlite: newState of the aggregate %s is a %T: it must be a func() T "+
			"or func() (T, error)", name, newState)
	}
	m := &methods{}
	for _, x := range []struct {
		name     string
		sig      **signature
		optional bool
	}{{"Step", &m.step, false}, {"Result", &m.final, false}, {"Inverse", &m.inverse, true}} {
		method, ok := t.Out(0).MethodByName(x.name)
		if !ok && x.optional {
			continue
		}
		if !ok {
			return fmt.Errorf("hpsqlite: %s, the state of the aggregate %s, has no method %s",
				t.Out(0), name, x.name)
		}
		skip := 1
		if t.Out(0).Kind() == reflect.Interface {
			skip = 0
		}
		sig, err := newSignature(method.Type, skip, x.name+" of the aggregate "+name)
		if err != nil {
			return err
		}
		*x.sig = sig
	}
	if m.final.numArgs() != 0 {
		return fmt.Errorf("hpsqlite: Result of the aggregate %s has parameters", name)
	}
	if m.inverse != nil && m.inverse.numArgs() != m.step.numArgs() {
		return fmt.Errorf("hpsqlite: Inverse of the aggregate %s has not the parameters of Step", name)
	}
	if m.final.json {
		flags |= ResultJSON
	}
	f := &function{name: name, window: m.inverse != nil}
	f.aggregate = func() (Aggregate, error) {
		out := build.Call(nil)
		if len(out) == 2 && !out[1].IsNil() {
			return nil, out[1].Interface().(error)
		}
		state := out[0]
		if state.Kind() == reflect.Interface {
			state = state.Elem()
		}
		if !state.IsValid() {
			return nil, errors.New("hpsqlite: newState has returned nil")
		}
		return newReflected(m, state), nil
	}
	return c.createFunction(f, m.step.numArgs(), flags)
}

// methods are those of an aggregate's state.
type methods struct{ step, inverse, final *signature }

// A reflected is a state of CreateAggregate's. Its methods are looked up once, not
// for each row.
type reflected struct {
	m                     *methods
	step, inverse, result reflect.Value
}

func newReflected(m *methods, state reflect.Value) *reflected {
	r := &reflected{m: m, step: state.MethodByName("Step"), result: state.MethodByName("Result")}
	if m.inverse != nil {
		r.inverse = state.MethodByName("Inverse")
	}
	return r
}

func (r *reflected) Step(ctx *Context, args []Value) error {
	return r.m.step.call(r.step, ctx, args)
}

func (r *reflected) Inverse(ctx *Context, args []Value) error {
	return r.m.inverse.call(r.inverse, ctx, args)
}

func (r *reflected) Result(ctx *Context) error {
	return r.m.final.call(r.result, ctx, nil)
}

// A signature says how a func is called.
type signature struct {
	what     string // for errors
	context  bool   // the first parameter is a *Context
	params   []param
	rest     *param // of a variadic func
	hasValue bool   // the first result is one
	hasError bool   // the last result is an error
	json     bool
}

var (
	errorType   = reflect.TypeFor[error]()
	contextType = reflect.TypeFor[*Context]()
	valueType   = reflect.TypeFor[Value]()
	timeType    = reflect.TypeFor[time.Time]()
	anyType     = reflect.TypeFor[any]()
	jsonType    = reflect.TypeFor[json.RawMessage]()
	scannerType = reflect.TypeFor[sql.Scanner]()
)

// newSignature reads the type of a func, of which skip parameters are not looked at.
func newSignature(t reflect.Type, skip int, what string) (*signature, error) {
	s := &signature{what: what}
	for i := skip; i < t.NumIn(); i++ {
		in := t.In(i)
		if i == skip && in == contextType {
			s.context = true
			continue
		}
		last := t.IsVariadic() && i == t.NumIn()-1
		if last {
			in = in.Elem()
		}
		p, err := newParam(in)
		if err != nil {
			return nil, fmt.Errorf("hpsqlite: %s: parameter %d: %w", what, i-skip+1, err)
		}
		if last {
			s.rest = &p
		} else {
			s.params = append(s.params, p)
		}
	}
	out := t.NumOut()
	if out > 0 && t.Out(out-1) == errorType {
		s.hasError = true
		out--
	}
	switch out {
	case 0:
	case 1:
		s.hasValue = true
		s.json = t.Out(0) == jsonType
		if !storable(t.Out(0)) {
			return nil, fmt.Errorf("hpsqlite: %s: SQLite cannot hold its result, a %s", what, t.Out(0))
		}
	default:
		return nil, fmt.Errorf("hpsqlite: %s has %d results: it may have one, and an error", what,
			t.NumOut())
	}
	return s, nil
}

func (s *signature) numArgs() int {
	if s.rest != nil {
		return AnyArgs
	}
	return len(s.params)
}

// arguments converts what SQLite gives. It says false if there is a NULL that has no place.
func (s *signature) arguments(ctx *Context, args []Value) (in []reflect.Value, ok bool, err error) {
	if len(args) < len(s.params) {
		return nil, false, fmt.Errorf("hpsqlite: %s takes %d arguments at least, and there are %d",
			s.what, len(s.params), len(args))
	}
	in = make([]reflect.Value, 0, len(args)+2)
	if s.context {
		in = append(in, reflect.ValueOf(ctx))
	}
	for i, v := range args {
		p := s.rest
		if i < len(s.params) {
			p = &s.params[i]
		}
		if v.IsNull() && !p.nullable {
			return nil, false, nil
		}
		to := reflect.New(p.typ).Elem()
		if err := p.set(to, v, ctx.f.conn); err != nil {
			return nil, false, fmt.Errorf("hpsqlite: %s: argument %d, %s, %w", s.what, i+1, v, err)
		}
		in = append(in, to)
	}
	return in, true, nil
}

// call calls f, which has the signature.
func (s *signature) call(f reflect.Value, ctx *Context, args []Value) error {
	in, ok, err := s.arguments(ctx, args)
	if err != nil || !ok {
		return err
	}
	return s.result(ctx, f.Call(in))
}

func (s *signature) result(ctx *Context, out []reflect.Value) error {
	if s.hasError {
		if err, _ := out[len(out)-1].Interface().(error); err != nil {
			return err
		}
	}
	if s.hasValue {
		return ctx.any(out[0].Interface())
	}
	return nil
}

// A param is how an argument becomes a value of Go's.
type param struct {
	typ      reflect.Type
	nullable bool
	set      func(to reflect.Value, v Value, c *Conn) error
}

var (
	errNotInteger = errors.New("is not an integer")
	errRange      = errors.New("is out of range")
)

func newParam(t reflect.Type) (param, error) {
	p := param{typ: t}
	switch {
	case t == valueType:
		p.nullable = true
		p.set = func(to reflect.Value, v Value, _ *Conn) error {
			to.Set(reflect.ValueOf(v))
			return nil
		}
		return p, nil
	case t == anyType:
		p.nullable = true
		p.set = func(to reflect.Value, v Value, _ *Conn) error {
			if got := v.Any(); got != nil {
				to.Set(reflect.ValueOf(got))
			}
			return nil
		}
		return p, nil
	case t == timeType:
		p.set = func(to reflect.Value, v Value, c *Conn) error {
			got, ok := v.time(c)
			if !ok {
				return errors.New("is not a time")
			}
			to.Set(reflect.ValueOf(got))
			return nil
		}
		return p, nil
	case reflect.PointerTo(t).Implements(scannerType):
		p.nullable = true
		p.set = func(to reflect.Value, v Value, _ *Conn) error {
			return to.Addr().Interface().(sql.Scanner).Scan(v.Any())
		}
		return p, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		elem, err := newParam(t.Elem())
		if err != nil {
			return p, err
		}
		p.nullable = true
		p.set = func(to reflect.Value, v Value, c *Conn) error {
			if v.IsNull() {
				return nil
			}
			to.Set(reflect.New(elem.typ))
			return elem.set(to.Elem(), v, c)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.set = func(to reflect.Value, v Value, _ *Conn) error {
			n, err := v.integer()
			if err == nil && to.OverflowInt(n) {
				err = errRange
			}
			to.SetInt(n)
			return err
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.set = func(to reflect.Value, v Value, _ *Conn) error {
			n, err := v.integer()
			if err == nil && (n < 0 || to.OverflowUint(uint64(n))) {
				err = errRange
			}
			to.SetUint(uint64(n))
			return err
		}
	case reflect.Float32, reflect.Float64:
		p.set = func(to reflect.Value, v Value, _ *Conn) error {
			f, err := v.real()
			to.SetFloat(f)
			return err
		}
	case reflect.Bool:
		p.set = func(to reflect.Value, v Value, _ *Conn) error {
			n, err := v.integer()
			to.SetBool(n != 0)
			return err
		}
	case reflect.String:
		p.set = func(to reflect.Value, v Value, _ *Conn) error {
			to.SetString(v.Text())
			return nil
		}
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return p, fmt.Errorf("an argument cannot be a %s", t)
		}
		p.nullable = true
		p.set = func(to reflect.Value, v Value, _ *Conn) error {
			to.SetBytes(v.Bytes())
			return nil
		}
	default:
		return p, fmt.Errorf("an argument cannot be a %s", t)
	}
	return p, nil
}

// integer is the value if it is one, however it is stored.
func (v Value) integer() (int64, error) {
	switch v.typ {
	case typeInt:
		return int64(v.v), nil
	case typeFloat:
		f := math.Float64frombits(v.v)
		if n := floatToInt(f); float64(n) == f && f < math.MaxInt64 {
			return n, nil
		}
	case typeText:
		if n, err := strconv.ParseInt(v.Text(), 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, errNotInteger
}

func (v Value) real() (float64, error) {
	switch v.typ {
	case typeInt, typeFloat:
		return v.Float64(), nil
	case typeText:
		if text := v.Text(); text != "" && numericPrefix(text, true) == text {
			return v.Float64(), nil
		}
	}
	return 0, errors.New("is not a number")
}

// time reads a time as columns that are declared to hold times are read.
func (v Value) time(c *Conn) (time.Time, bool) {
	switch v.typ {
	case typeInt:
		return unixTime(int64(v.v), c.cfg.Location), true
	case typeText:
		return parseTime(v.Text(), c.cfg.Location)
	}
	return time.Time{}, false
}

// storable reports whether values of the type can be a result.
func storable(t reflect.Type) bool {
	if t == valueType || t == timeType || t.Implements(valuerType) {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer:
		return storable(t.Elem())
	case reflect.Slice:
		return t.Elem().Kind() == reflect.Uint8
	case reflect.Interface, reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	}
	return false
}

// any makes any value the result that SQLite can hold.
func (x *Context) any(v any) error {
	switch v := v.(type) {
	case nil:
		x.Null()
	case int64:
		x.Int64(v)
	case int:
		x.Int64(int64(v))
	case string:
		x.Text(v)
	case float64:
		x.Float64(v)
	case []byte:
		x.Bytes(v)
	case bool:
		x.Bool(v)
	case time.Time:
		x.Time(v)
	case Value:
		x.Value(v)
	case ZeroBlob:
		x.ZeroBlob(int64(v))
	case json.RawMessage:
		if v == nil {
			x.Null()
		} else {
			x.JSON(v)
		}
	case driver.Valuer:
		if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() {
			x.Null()
			return nil
		}
		got, err := v.Value()
		if err != nil {
			return err
		}
		if _, again := got.(driver.Valuer); again {
			return fmt.Errorf("hpsqlite: Value of %T gave another Valuer, %T", v, got)
		}
		return x.any(got)
	default:
		return x.underlying(v)
	}
	return nil
}

// underlying takes the types that have one of those above below them.
func (x *Context) underlying(v any) error {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer:
		if r.IsNil() {
			x.Null()
			return nil
		}
		return x.any(r.Elem().Interface())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x.Int64(r.Int())
		return nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if r.Uint() > math.MaxInt64 {
			return fmt.Errorf("hpsqlite: the result, %d, is larger than SQLite's integers, which "+
				"end at %d", r.Uint(), math.MaxInt64)
		}
		x.Int64(int64(r.Uint()))
		return nil
	case reflect.Float32, reflect.Float64:
		x.Float64(r.Float())
		return nil
	case reflect.Bool:
		x.Bool(r.Bool())
		return nil
	case reflect.String:
		x.Text(r.String())
		return nil
	case reflect.Slice:
		if r.Type().Elem().Kind() == reflect.Uint8 {
			x.Bytes(r.Bytes())
			return nil
		}
	}
	return fmt.Errorf("hpsqlite: SQLite cannot hold the result, a %T", v)
}
