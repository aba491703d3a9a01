package hpsqlite

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// noError ends the test if a definition fails.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustFail carries out SQL that must not succeed.
func mustFail(t testing.TB, c *Conn, sql string, args ...any) error {
	t.Helper()
	_, err := c.Exec(sql, args...)
	if err == nil {
		t.Fatalf("%s: no error", sql)
	}
	return err
}

func oneRow(t testing.TB, c *Conn, sql string, args ...any) string {
	t.Helper()
	rows := texts(t, c, sql, args...)
	if len(rows) != 1 {
		t.Fatalf("%s: %d rows", sql, len(rows))
	}
	return rows[0]
}

type centigrade float64

func TestOrdinaryFunctionsTakeWhatGoHas(t *testing.T) {
	c := open(t)
	zone := time.FixedZone("", 3600)
	for name, f := range map[string]any{
		"repeat":  func(s string, n int) string { return strings.Repeat(s, n) },
		"tiny":    func(n int8) int8 { return n },
		"natural": func(n uint32) uint32 { return n },
		"half":    func(f float32) float64 { return float64(f) / 2 },
		"negate":  func(b bool) bool { return !b },
		"size":    func(b []byte) int { return len(b) },
		"kind":    func(v any) string { return fmt.Sprintf("%T", v) },
		"sum3":    func(first int, rest ...int) int { return first + len(rest) },
		"orelse":  func(p *int64, n int64) int64 { return map[bool]int64{true: n}[p == nil] },
		"scanned": func(v sql.NullString) bool { return v.Valid },
		"year":    func(t time.Time) int { return t.Year() },
		"noon":    func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, zone) },
		"warm":    func(c centigrade) centigrade { return c + 1 },
		"same":    func(v Value) Value { return v },
		"void":    func() {},
		"nullint": func() *int { return nil },
		"nullstr": func() sql.NullString { return sql.NullString{} },
		"object":  func() json.RawMessage { return json.RawMessage(`{"a":[1,2]}`) },
		"onconn":  func(ctx *Context, n int) bool { return ctx.Conn() == c && n == 1 },
	} {
		noError(t, c.CreateFunction(name, f, Deterministic))
	}
	for sql, want := range map[string]string{
		"repeat('ab', 3)":    "ababab",
		"repeat('ab', '2')":  "abab",
		"repeat('ab', 2.0)":  "abab",
		"repeat(12, 2)":      "1212",
		"repeat('ab', NULL)": "-",
		"repeat('x', 100000) = replace(hex(zeroblob(50000)), '0', 'x')": "1",
		"tiny(-128)":          "-128",
		"natural(4294967295)": "4294967295",
		"half('0.5')":         "0.25",
		"negate(0)":           "1",
		"size(x'000102')":     "3",
		"size('äö')":          "4",
		"size(NULL)":          "0",
		"kind(1)||kind(1.5)||kind('')||kind(x'')||kind(NULL)": "int64float64string[]uint8<nil>",
		"sum3(1)":                        "1",
		"sum3(1, 2, 3)":                  "3",
		"orelse(NULL, 7)":                "7",
		"orelse(1, 7)":                   "0",
		"scanned(NULL)":                  "0",
		"scanned('')":                    "1",
		"year('2024-02-03 04:05:06')":    "2024",
		"noon()":                         "2026-11-22 12:00:00+01:00",
		"warm(36.5)":                     "37.5",
		"typeof(same(x'01'))||same('a')": "bloba",
		"void()":                         "-",
		"nullint()":                      "-",
		"nullstr()":                      "-",
		"json_array(object())":           `[{"a":[1,2]}]`,
		"onconn(1)":                      "1",
	} {
		equal(t, sql, oneRow(t, c, "SELECT "+sql), want)
	}
	for sql, want := range map[string]string{
		"tiny(128)":      "the function tiny: argument 1, 128, is out of range",
		"tiny('x''y')":   "argument 1, 'x''y', is not an integer",
		"tiny(1.5)":      "argument 1, 1.5, is not an integer",
		"natural(-1)":    "out of range",
		"half('1e')":     "is not a number",
		"year('sunday')": "is not a time",
		"sum3()":         "takes 1 arguments at least, and there are 0",
		"repeat('x')":    "wrong number of arguments",
	} {
		if err := mustFail(t, c, "SELECT "+sql); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestWhatIsNoFunctionIsRefused(t *testing.T) {
	c := open(t)
	for _, f := range []any{
		nil, 1, (func())(nil), func(chan int) {}, func() chan int { return nil },
		func() (int, int) { return 1, 2 }, func([]string) {}, func(map[string]int) int { return 0 },
	} {
		if c.CreateFunction("f", f, 0) == nil {
			t.Errorf("%T is taken", f)
		}
	}
	noError(t, c.CreateFunction("ok", func() {}, 0))
	if err := c.CreateFunction(strings.Repeat("n", 300), func() {}, 0); !errors.Is(err, ErrMisuse) {
		t.Errorf("a name that is too long: %v", err)
	}
	if err := c.CreateFunction("a\x00b", func() {}, 0); err == nil {
		t.Error("a NUL in the name is taken")
	}
	if err := c.CreateRawFunction("f", 5000, func(*Context, []Value) error { return nil },
		0); err == nil {
		t.Error("5000 arguments are taken")
	}
}

func TestFastFunctionsSeeValuesAsTheyAre(t *testing.T) {
	c := open(t)
	noError(t, c.CreateRawFunction("describe", AnyArgs, func(ctx *Context, args []Value) error {
		var all []string
		for _, v := range args {
			all = append(all, fmt.Sprintf("%s:%d:%g:%t:%s", v.Type(), v.Int64(), v.Float64(), v.Bool(), v))
		}
		ctx.Text(strings.Join(all, " "))
		return nil
	}, 0))
	equal(t, "values", oneRow(t, c, "SELECT describe(1, 2.5, '3x', x'34', NULL)"),
		"INTEGER:1:1:true:1 REAL:2:2.5:true:2.5 TEXT:3:3:true:'3x' BLOB:4:4:true:a blob of 1 "+
			"bytes NULL:0:0:false:NULL")
	list := strings.Repeat("?,", 999) + "?"
	noError(t, c.CreateRawFunction("last", AnyArgs, func(ctx *Context, args []Value) error {
		ctx.Value(args[len(args)-1])
		return nil
	}, 0))
	args := make([]any, 1000)
	args[999] = "the end"
	equal(t, "1000 arguments", oneRow(t, c, "SELECT last("+list+")", args...), "the end")

	// Results of every size, and those that were given up for others.
	noError(t, c.CreateRawFunction("make", 2, func(ctx *Context, args []Value) error {
		text := strings.Repeat("x", int(args[1].Int64()))
		ctx.Text(text)
		switch args[0].Text() {
		case "null":
			ctx.Null()
		case "blob":
			ctx.Bytes([]byte(text))
		case "nil":
			ctx.Bytes(nil)
		case "zero":
			ctx.ZeroBlob(args[1].Int64())
		case "error":
			return errors.New(text)
		case "nan":
			ctx.Float64(math.NaN())
		}
		return nil
	}, 0))
	for _, n := range []int{0, 1, 255, 256, 257, 5000, 300_000} {
		for kind, want := range map[string]string{
			"text": fmt.Sprintf("text|%d", n), "blob": fmt.Sprintf("blob|%d", n),
			"zero": fmt.Sprintf("blob|%d", n),
			"null": "null|-", "nil": "null|-", "nan": "null|-",
		} {
			equal(t, kind, oneRow(t, c, "SELECT typeof(m), length(m) FROM (SELECT make(?, ?) AS m)",
				kind, n), want)
		}
		mustFail(t, c, "SELECT make('error', ?)", n)
	}
	if err := mustFail(t, c, "SELECT length(make('zero', 3000000000))"); !errors.Is(err, ErrTooBig) {
		t.Error(err)
	}
}

func TestCallingAFastFunctionAllocatesNothing(t *testing.T) {
	c := open(t)
	noError(t, c.CreateRawFunction("mix", 3, func(ctx *Context, args []Value) error {
		if len(args[1].RawText()) != 5 || args[2].IsNull() {
			return errors.New("other arguments")
		}
		ctx.Int64(args[0].Int64() + 1)
		return nil
	}, Deterministic))
	s, err := c.Prepare("WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i+1 FROM n WHERE " +
		"i<999) SELECT sum(mix(i, 'hello', 2.5)) FROM n")
	noError(t, err)
	defer s.Close()
	run := func() {
		rows := s.Query()
		if !rows.Next() || rows.Int64(0) != 500500 {
			t.Fatal(rows.Err(), rows.Int64(0))
		}
		rows.Close()
	}
	run()
	if n := testing.AllocsPerRun(10, run); n > 10 {
		t.Errorf("%v allocations for 1000 calls", n)
	}
}

func TestErrorsOfFunctionsAreTheStatementsCause(t *testing.T) {
	c := open(t)
	noError(t, c.CreateFunction("load", func(name string) (string, error) {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}, 0))
	err := mustFail(t, c, "SELECT load('x')")
	var e *Error
	if !errors.As(err, &e) || e.Code != ErrError || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%#v", err)
	}
	equal(t, "message", err.Error(),
		"hpsqlite: the function load failed (1 SQLITE_ERROR): open x: file does not exist")

	noError(t, c.CreateFunction("refuse",
		func() error { return fmt.Errorf("not today: %w", ErrConstraintCheck) }, 0))
	if err := mustFail(t, c, "SELECT refuse()"); !errors.As(err, &e) || e.Code != ErrConstraintCheck {
		t.Errorf("a code of SQLite's is not the statement's: %v", err)
	}
	noError(t, c.CreateFunction("again", func() error { return ErrSchema }, 0))
	if err := mustFail(t, c, "SELECT again()"); errors.As(err, &e) && e.Code != ErrError {
		t.Errorf("SQLITE_SCHEMA would compile the statement again: %v", err)
	}
	if err := mustFail(t, c, "SELECT nope"); errors.Is(err, ErrSchema) ||
		strings.Contains(err.Error(), "not today") {
		t.Errorf("an old cause: %v", err)
	}
	noError(t, c.CreateFunction("failing", func() error { return errors.New("only mine") }, 0))
	rows := c.Query("SELECT CASE WHEN i<3 THEN i ELSE failing() END FROM (SELECT 1 AS i UNION " +
		"ALL SELECT 2 UNION ALL SELECT 3)")
	n := 0
	for rows.Next() {
		n++
	}
	if err := rows.Close(); n != 2 || err == nil || !strings.Contains(err.Error(), "only mine") {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestAPanicIsAnErrorOfTheStatement(t *testing.T) {
	c := open(t)
	noError(t, c.CreateFunction("at", func(i int) int { return []int{1, 2}[i] }, 0))
	err := mustFail(t, c, "SELECT at(5)")
	var p *PanicError
	var cause runtime.Error
	if !errors.As(err, &p) || !errors.As(err, &cause) {
		t.Fatalf("%#v", err)
	}
	equal(t, "which", p.Callback, "the function at")
	if !strings.Contains(err.Error(),
		"the function at panicked: runtime error: index out of range [5]") {
		t.Error(err)
	}
	if !bytes.Contains(p.Stack, []byte("function_test.go")) {
		t.Errorf("the stack does not lead to the function:\n%s", p.Stack)
	}
	noError(t, c.CreateFunction("boom", func() { panic(fs.ErrClosed) }, 0))
	if err := mustFail(t, c, "SELECT boom()"); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	equal(t, "the connection goes on", oneRow(t, c, "SELECT at(1)"), "2")
}

// A stackUser makes the goroutine's stack grow, and so move.
func stackUser(n int) int {
	var big [1024]byte
	big[n%1024] = 1
	if n == 0 {
		return int(big[0])
	}
	return stackUser(n-1) + int(big[n%1024])
}

func TestCallbacksMayUseAsMuchStackAsTheyLike(t *testing.T) {
	for range 20 {
		done := make(chan bool)
		go func() {
			defer close(done)
			c, err := Open(":memory:")
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if err := c.CreateFunction("deep", stackUser, 0); err != nil {
				t.Error(err)
				return
			}
			if err := c.SetAuthorizer(func(Action) Verdict { stackUser(500); return Allow }); err != nil {
				t.Error(err)
				return
			}
			exec(t, c, "CREATE TABLE t(a)")
			res, err := c.Exec("INSERT INTO t SELECT deep(2000) UNION ALL SELECT deep(4000)")
			if err != nil || res.Changes != 2 || res.RowID != 2 {
				t.Errorf("%+v, %v", res, err)
			}
			equal(t, "rows", oneRow(t, c, "SELECT count(*), min(a) FROM t"), "2|2001")
		}()
		<-done
	}
}

func TestFunctionsMayUseTheirConnection(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE price(item, euro); INSERT INTO price VALUES('tea', 3), ('cake', 4); "+
		"CREATE TABLE log(x)")
	noError(t, c.CreateFunction("price", func(ctx *Context, item string) (int64, error) {
		if _, err := ctx.Conn().Exec("INSERT INTO log VALUES(?)", item); err != nil {
			return 0, err
		}
		rows := ctx.Conn().Query("SELECT euro FROM price WHERE item = ?", item)
		rows.Next()
		return rows.Int64(0), rows.Close()
	}, 0))
	const sum = "SELECT sum(price(item)) FROM price"
	equal(t, "sum", oneRow(t, c, sum), "7")
	equal(t, "log", oneRow(t, c, "SELECT group_concat(x) FROM log"), "tea,cake")

	// The same SQL from inside is another statement.
	depth := 0
	const nested = "SELECT nested()"
	noError(t, c.CreateFunction("nested", func(ctx *Context) (string, error) {
		if depth++; depth == 5 {
			return ".", nil
		}
		rows := ctx.Conn().Query(nested)
		rows.Next()
		return "(" + rows.Text(0) + ")", rows.Close()
	}, 0))
	equal(t, "nested", oneRow(t, c, nested), "((((.))))")

	// What fails inside is the cause outside.
	noError(t, c.CreateFunction("broken", func(ctx *Context) error {
		_, err := ctx.Conn().Exec("SELECT nope")
		return err
	}, 0))
	if err := mustFail(t, c, "SELECT broken()"); !strings.Contains(err.Error(),
		"the function broken failed (1 SQLITE_ERROR): hpsqlite: no such column: nope") {
		t.Error(err)
	}
}

func TestAFunctionCannotUseTheStatementThatCallsIt(t *testing.T) {
	c := open(t)
	var s *Stmt
	var rows *Rows
	do := map[string]func() error{
		"exec":       func() error { _, err := s.Exec(); return err },
		"query":      func() error { return s.Query().Close() },
		"close":      func() error { return s.Close() },
		"many":       func() error { _, err := s.ExecMany(1, func(int) {}); return err },
		"close rows": func() error { return rows.Close() },
		"close conn": func() error { return c.Close() },
	}
	noError(t, c.CreateFunction("inside", func(what string) (string, error) {
		if err := do[what](); err != nil {
			return err.Error(), nil
		}
		return "", errors.New(what + " is allowed")
	}, 0))
	var err error
	s, err = c.Prepare("SELECT inside(?)")
	noError(t, err)
	rows = &s.rows
	for what := range do {
		s.Query(what)
		if !rows.Next() || !strings.Contains(rows.Text(0), "hpsqlite: a") {
			t.Errorf("%s: %q, %v", what, rows.Text(0), rows.Err())
		}
		noError(t, rows.Close())
		// Without rows there are none to close.
		if _, err := s.Exec(what); err != nil && what != "close rows" {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.BindText(1, "exec")
	noError(t, s.Close())
}

type total struct{ n, most int }

func (a *total) Step(n int) error {
	if n < 0 {
		return errors.New("below zero")
	}
	a.n += n
	return nil
}
func (a *total) Result() int { return a.n }

type moving struct{ total }

func (a *moving) Inverse(n int) { a.n -= n }

type lister struct{ all []string }

func (a *lister) Step(ctx *Context, args []Value) error {
	for _, v := range args {
		a.all = append(a.all, v.Text())
	}
	return nil
}

func (a *lister) Inverse(ctx *Context, args []Value) error {
	a.all = a.all[len(args):]
	return nil
}

func (a *lister) Result(ctx *Context) error {
	ctx.Text(strings.Join(a.all, "+"))
	return nil
}

func TestAggregatesHaveAStateForEachGroup(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(k, n); INSERT INTO t "+
		"VALUES('a',1),('b',10),('a',2),('b',20),('a',NULL)")
	noError(t, c.CreateAggregate("total_of", func() *total { return &total{} }, Deterministic))
	noError(t, c.CreateRawAggregate("list", AnyArgs, func() Aggregate { return &lister{} }, 0))
	equal(t, "groups", strings.Join(texts(t, c,
		"SELECT k, total_of(n), list(n, k) FROM t GROUP BY k ORDER BY k"), " "),
		"a|3|1+a+2+a++a b|30|10+b+20+b")
	equal(t, "no row", oneRow(t, c, "SELECT total_of(n), list(n) FROM t WHERE 0"), "0|")
	equal(t, "distinct", oneRow(t, c, "SELECT total_of(DISTINCT n % 10) FROM t"), "3")
	if err := mustFail(t, c, "SELECT total_of(-n) FROM t"); !strings.Contains(err.Error(),
		"below zero") {
		t.Error(err)
	}
	if err := mustFail(t, c, "SELECT total_of(n) OVER () FROM t"); !strings.Contains(err.Error(),
		"may not be used as a window function") {
		t.Error(err)
	}
	// Rows that are given up in the middle leave no state behind.
	for range 10 {
		rows := c.Query("SELECT k, total_of(n) FROM t GROUP BY k")
		rows.Next()
		rows.Close()
		mustFail(t, c, "SELECT list(n), total_of('x') FROM t")
	}
}

func TestWindowsMove(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(i INTEGER PRIMARY KEY); INSERT INTO t VALUES(1),(2),(3),(4),(5)")
	noError(t, c.CreateAggregate("moved", func() *moving { return &moving{} }, 0))
	noError(t, c.CreateRawWindow("list", 1, func() Window { return &lister{} }, 0))
	const over = " OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)"
	equal(t, "frames", strings.Join(texts(t, c, "SELECT moved(i)"+over+", list(i)"+over+" FROM t"),
		" "), "3|1+2 6|1+2+3 9|2+3+4 12|3+4+5 9|4+5")
	equal(t, "an empty frame", strings.Join(texts(t, c, "SELECT moved(i) OVER (ORDER BY i ROWS "+
		"BETWEEN 2 FOLLOWING AND 3 FOLLOWING) FROM t"), " "), "7 9 5 0 0")
	equal(t, "as an aggregate", oneRow(t, c, "SELECT moved(i), list(i) FROM t"), "15|1+2+3+4+5")
}

type panicky struct{ at string }

func (a *panicky) Step(at string) { a.at = at; a.here("step") }
func (a *panicky) Inverse(string) { a.here("inverse") }
func (a *panicky) Result() int    { a.here("result"); return 1 }
func (a *panicky) here(where string) {
	if a.at == where {
		panic("in " + where)
	}
}

func TestPanicsInAggregatesAreErrors(t *testing.T) {
	c := open(t)
	noError(t, c.CreateAggregate("panicky", func() *panicky { return &panicky{} }, 0))
	noError(t, c.CreateAggregate("unborn", func() (*panicky, error) {
		return nil,
			errors.New("no state")
	}, 0))
	noError(t, c.CreateAggregate("stillborn", func() *panicky { panic("in newState") }, 0))
	const rows = " FROM (SELECT 1 AS i UNION ALL SELECT 2 UNION ALL SELECT 3)"
	for sql, want := range map[string]string{
		"panicky('step')":   "panicked: in step",
		"panicky('result')": "panicked: in result",
		"panicky('inverse') OVER (ORDER BY i ROWS 1 PRECEDING)": "panicked: in inverse",
		"unborn('')":    "no state",
		"stillborn('')": "panicked: in newState",
	} {
		for _, from := range []string{rows, rows + " WHERE i=1"} {
			if strings.Contains(sql, "OVER") && from != rows {
				continue
			}
			if err := mustFail(t, c, "SELECT "+sql+from); !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
	if err := mustFail(t, c, "SELECT unborn('')"+rows+" WHERE 0"); !strings.Contains(err.Error(),
		"no state") {
		t.Error(err)
	}
	equal(t, "the connection goes on", oneRow(t, c, "SELECT panicky('')"+rows), "1")
}

func TestStatesThatAreNoneAreRefused(t *testing.T) {
	c := open(t)
	for _, f := range []any{nil, 1, func() {}, func(int) *total { return nil },
		func() int { return 0 }, func() (*total, int) { return nil, 0 },
		func() total { return total{} }} {
		if c.CreateAggregate("f", f, 0) == nil {
			t.Errorf("%T is taken", f)
		}
	}
}

func TestFlagsAreSQLites(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a)")
	noError(t, c.CreateFunction("steady", func(n int) int { return n }, Deterministic|Innocuous))
	noError(t, c.CreateFunction("unsteady", func(n int) int { return n }, 0))
	noError(t, c.CreateFunction("direct", func(n int) int { return n }, DirectOnly))
	exec(t, c, "CREATE INDEX i ON t(steady(a))")
	if err := mustFail(t, c, "CREATE INDEX j ON t(unsteady(a))"); !strings.Contains(err.Error(),
		"non-deterministic") {
		t.Error(err)
	}
	exec(t, c, "CREATE VIEW v AS SELECT direct(1)")
	if err := mustFail(t, c, "SELECT * FROM v"); !strings.Contains(err.Error(), "unsafe use") {
		t.Error(err)
	}
	exec(t, c, "PRAGMA trusted_schema=off; CREATE VIEW w AS SELECT steady(1); CREATE VIEW x AS "+
		"SELECT unsteady(1)")
	equal(t, "innocuous", oneRow(t, c, "SELECT * FROM w"), "1")
	mustFail(t, c, "SELECT * FROM x")
}

func TestFunctionsAreReplacedAndRemoved(t *testing.T) {
	c := open(t)
	noError(t, c.CreateFunction("f", func() int { return 0 }, 0))
	noError(t, c.CreateFunction("f", func(int) int { return 1 }, 0))
	equal(t, "by number of arguments", oneRow(t, c, "SELECT f(), f(1)"), "0|1")
	noError(t, c.CreateFunction("f", func(int) int { return 2 }, 0))
	equal(t, "replaced", oneRow(t, c, "SELECT f(), f(1)"), "0|2")
	noError(t, c.RemoveFunction("f", 1))
	mustFail(t, c, "SELECT f(1)")
	equal(t, "the other is left", oneRow(t, c, "SELECT f()"), "0")
	noError(t, c.CreateFunction("upper", func(s string) string { return "mine" }, 0))
	equal(t, "SQLite's own", oneRow(t, c, "SELECT upper('x')"), "mine")

	rows := c.Query("SELECT f() UNION ALL SELECT f()")
	rows.Next()
	noError(t, c.CreateFunction("g", func() int { return 0 }, 0))
	if err := c.CreateFunction("f", func() int { return 9 }, 0); !errors.Is(err, ErrBusy) {
		t.Errorf("replaced while it is running: %v", err)
	}
	noError(t, rows.Close())
}

func TestAuxiliaryDataStaysWithConstants(t *testing.T) {
	c := open(t)
	made := 0
	noError(t, c.CreateRawFunction("prefix", 2, func(ctx *Context, args []Value) error {
		p, _ := ctx.Aux(0).(string)
		if p == "" {
			made++
			p = args[0].Text() + "!"
			ctx.SetAux(0, p)
		}
		ctx.Text(p + args[1].Text())
		return nil
	}, 0))
	const n = 50
	list := texts(t, c, "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE "+
		"i<50) SELECT prefix('a', i) FROM n")
	equal(t, "rows", len(list), n)
	equal(t, "last", list[n-1], "a!50")
	equal(t, "made", made, 1)
}

// Not parallel to other tests: numbers are counted.
func TestNothingLeaksWhenFunctionsAreReplaced(t *testing.T) {
	before := numbers.held()
	c := open(t)
	n := 100_000
	if testing.Short() {
		n = 1000
	}
	var start, end runtime.MemStats
	for i := range n + 1000 {
		if i == 1000 {
			runtime.GC()
			runtime.ReadMemStats(&start)
		}
		noError(t, c.CreateRawFunction("f", 1, func(ctx *Context, args []Value) error {
			ctx.Int64(int64(i))
			return nil
		}, 0))
		noError(t, c.CreateCollation("c", bytes.Compare))
		noError(t, c.SetCommitHook(func() error { return nil }))
		if i%1000 == 0 {
			equal(t, "the newest", oneRow(t, c, "SELECT f(1)"), fmt.Sprint(i))
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&end)
	if grown := int64(end.HeapAlloc) - int64(start.HeapAlloc); grown > 1<<20 {
		t.Errorf("%d bytes more", grown)
	}
	equal(t, "numbers", numbers.held(), before+3)
	noError(t, c.CreateRawAggregate("g", 1, func() Aggregate { return &lister{} }, 0))
	mustFail(t, c, "SELECT g(f(1, 2))")
	noError(t, c.Close())
	equal(t, "numbers after Close", numbers.held(), before)
	if err := c.CreateFunction("f", func() {}, 0); err == nil {
		t.Error("a closed connection takes a function")
	}
}

func TestManyGoroutinesUseFunctions(t *testing.T) {
	cfg, err := ParseDSN("file:functions?mode=memory")
	noError(t, err)
	db := sql.OpenDB(NewConnector(cfg, func(c *Conn) error {
		if err := c.CreateCollation("bytewise", bytes.Compare); err != nil {
			return err
		}
		if err := c.CreateAggregate("total_of", func() *moving { return &moving{} }, 0); err != nil {
			return err
		}
		return c.CreateFunction("times", func(a, b int) (int, error) {
			if a == 13 {
				panic("unlucky")
			}
			return a * b, nil
		}, Deterministic)
	}))
	defer db.Close()
	db.SetMaxOpenConns(8)
	var wg sync.WaitGroup
	for g := range 1000 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var n int
			err := db.QueryRow("SELECT total_of(times(?, x)) FROM (SELECT 1 AS x UNION SELECT 2 "+
				"ORDER BY x COLLATE bytewise)", g%20).Scan(&n)
			var p *PanicError
			if g%20 == 13 {
				if !errors.As(err, &p) {
					t.Errorf("no panic: %v", err)
				}
			} else if err != nil || n != 3*(g%20) {
				t.Errorf("%d, %v", n, err)
			}
		}()
	}
	wg.Wait()
}
