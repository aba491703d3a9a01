package hpsqlite

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// open gives a connection to a new database, which is closed with the test.
func open(t testing.TB, params ...string) *Conn {
	t.Helper()
	c, err := Open(filepath.Join(t.TempDir(), "test.db") + "?" + strings.Join(params, "&"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// exec carries out SQL that must succeed.
func exec(t testing.TB, c *Conn, sql string, args ...any) Result {
	t.Helper()
	res, err := c.Exec(sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// texts are the rows of a query, columns joined by |, NULL as a dash.
func texts(t testing.TB, c *Conn, sql string, args ...any) []string {
	t.Helper()
	var list []string
	rows := c.Query(sql, args...)
	for rows.Next() {
		var row []string
		for i := range rows.NumColumns() {
			if rows.IsNull(i) {
				row = append(row, "-")
			} else {
				row = append(row, rows.Text(i))
			}
		}
		list = append(list, strings.Join(row, "|"))
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	return list
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %#v, want %#v", what, got, want)
	}
}

func TestValuesComeBackAsTheyWere(t *testing.T) {
	c := open(t)
	s, err := c.Prepare("SELECT ?")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	long := strings.Repeat("äöü", 40_000)
	one := func(arg any) *Rows {
		rows := s.Query(arg)
		if !rows.Next() {
			t.Fatalf("%v: no row, %v", arg, rows.Err())
		}
		return rows
	}
	for _, v := range []int64{0, 1, -1, 255, 256, math.MaxInt64, math.MinInt64} {
		rows := one(v)
		equal(t, "integer", rows.Int64(0), v)
		equal(t, "type", rows.Type(0), Integer)
		rows.Close()
	}
	for _, v := range []float64{0.5, -1e300, math.Inf(1), math.SmallestNonzeroFloat64,
		math.Copysign(0, -1)} {
		rows := one(v)
		equal(t, "real", math.Float64bits(rows.Float64(0)), math.Float64bits(v))
		equal(t, "type", rows.Type(0), Float)
		rows.Close()
	}
	for _, v := range []string{"", "a", "with \x00 inside", "\xff\xfe", "'; --", long[:farArg-1],
		long[:farArg], long} {
		rows := one(v)
		equal(t, "text", rows.Text(0), v)
		equal(t, "type", rows.Type(0), Text)
		rows.Close()
		rows = one([]byte(v))
		if !bytes.Equal(rows.Bytes(0), []byte(v)) || rows.Bytes(0) == nil {
			t.Errorf("blob of %d bytes is another", len(v))
		}
		equal(t, "type", rows.Type(0), Blob)
		rows.Close()
	}
	rows := one(nil)
	equal(t, "type", rows.Type(0), Null)
	if rows.Bytes(0) != nil || rows.Int64(0) != 0 || rows.Text(0) != "" {
		t.Error("NULL is not nothing")
	}
	rows.Close()
	rows = one(math.NaN())
	equal(t, "NaN", rows.Type(0), Null)
	rows.Close()
}

func TestRowsOfEverySizeAreWhole(t *testing.T) {
	c := open(t)
	// Sizes around the first buffer, the second, what is not copied, and beyond.
	rows := c.Query("WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i+1 FROM n WHERE i<400) " +
		"SELECT i, hex(zeroblob(i*i)), zeroblob(i*7), 'end' FROM n")
	n := int64(0)
	for ; rows.Next(); n++ {
		equal(t, "number", rows.Int64(0), n)
		if text := rows.Text(1); int64(len(text)) != 2*n*n || strings.Trim(text, "0") != "" {
			t.Fatalf("row %d: a text of %d bytes", n, len(text))
		}
		if blob := rows.Bytes(2); int64(len(blob)) != 7*n || bytes.Trim(blob, "\x00") != nil {
			t.Fatalf("row %d: a blob of %d bytes", n, len(blob))
		}
		equal(t, "last column", rows.Text(3), "end")
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", n, int64(401))
}

func TestConversionsAreThoseOfCast(t *testing.T) {
	c := open(t)
	for _, v := range []string{"'12abc'", "'  -7'", "'+5.9e1x'", "'.5'", "'abc'", "''",
		"'9223372036854775808'", "'-9223372036854775809'", "1e300", "-1e300", "2.9", "-2.9",
		"'1e5'", "'0x10'", "NULL", "1e15", "1.0", "0.1", "1e-7", "123456789012345678",
		"9007199254740993.0", "x'3132'"} {
		rows := c.Query("SELECT " + v + ", CAST(" + v + " AS INTEGER), CAST(" + v +
			" AS REAL), CAST(" + v + " AS TEXT)")
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
		equal(t, v+" as integer", rows.Int64(0), rows.Int64(1))
		equal(t, v+" as real", rows.Float64(0), rows.Float64(2))
		equal(t, v+" as text", rows.Text(0), rows.Text(3))
		rows.Close()
	}
}

func TestErrorsSayWhatAndWhere(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a UNIQUE)")
	_, err := c.Exec("SELECT nope FROM t")
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%T", err)
	}
	equal(t, "offset", e.Offset, 7)
	if !strings.Contains(err.Error(), "no such column: nope") {
		t.Error(err)
	}
	exec(t, c, "INSERT INTO t VALUES(1)")
	_, err = c.Exec("INSERT INTO t VALUES(1)")
	if !errors.Is(err, ErrConstraint) || !errors.Is(err, ErrConstraintUnique) ||
		errors.Is(err, ErrBusy) {
		t.Errorf("not a unique constraint: %v", err)
	}
	if !strings.Contains(err.Error(), "SQLITE_CONSTRAINT_UNIQUE") ||
		!strings.Contains(err.Error(), "t.a") {
		t.Error(err)
	}
	for sql, want := range map[string]string{
		"SELECT ?, ?":        "1 parameters are given, and the statement has 2",
		"SELECT 1":           "1 parameters are given, and the statement has 0",
		"SELECT 1; SELECT 2": "Query takes one statement",
		" -- nothing":        "there is no statement",
		"SELECT\x00":         "a NUL byte",
	} {
		if err := c.Query(sql, 1).Close(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", sql, err)
		}
	}
	equal(t, "the connection goes on", texts(t, c, "SELECT a FROM t")[0], "1")
}

func TestParametersHaveNumbersOrNames(t *testing.T) {
	c := open(t)
	s, err := c.Prepare("SELECT ?2, :name, ?2")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	equal(t, "parameters", s.NumParams(), 3)
	equal(t, "index", s.ParamIndex("name"), 3)
	s.BindText(2, "two")
	s.BindText(3, "three")
	rows := s.Query()
	rows.Next()
	equal(t, "columns", rows.Text(0)+rows.Text(1)+rows.Text(2), "twothreetwo")
	rows.Close()
	s.BindInt64(4, 1)
	if err := s.Query().Close(); err == nil || !strings.Contains(err.Error(), "no parameter 4") {
		t.Error(err)
	}
}

func TestStatementsAreCarriedOutOneAfterTheOther(t *testing.T) {
	c := open(t)
	res := exec(t, c, "CREATE TABLE t(a); INSERT INTO t VALUES(?),(?); /* x */ INSERT INTO t "+
		"VALUES(?); -- end", 1, 2, 3)
	equal(t, "changes", res.Changes, int64(3))
	equal(t, "rowid", res.RowID, int64(3))
	equal(t, "rows", strings.Join(texts(t, c, "SELECT a FROM t"), " "), "1 2 3")
	if _, err := c.Exec("INSERT INTO t VALUES(?); SELECT 1", 1, 2); err == nil {
		t.Error("a parameter too many is not told")
	}
}

func TestExecManyIsAllOrNothing(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)")
	s, err := c.Prepare("INSERT INTO t VALUES(?,?)")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const n = 10_000
	res, err := s.ExecMany(n, func(i int) {
		s.BindInt64(1, int64(i))
		s.BindText(2, strings.Repeat("x", i%300))
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "changes", res.Changes, int64(n))
	want := texts(t, c, "SELECT count(*), sum(length(b)), min(a), max(a) FROM t")[0]
	equal(t, "rows", want, "10000|1485000|0|9999")

	_, err = s.ExecMany(n, func(i int) { s.BindInt64(1, int64(n+5000-i)) })
	if !errors.Is(err, ErrConstraintPrimaryKey) {
		t.Fatalf("a key twice: %v", err)
	}
	exec(t, c, "BEGIN")
	_, err = s.ExecMany(2, func(i int) { s.BindInt64(1, int64(n-1)+1-int64(i)) })
	if err == nil || !strings.Contains(err.Error(), "set 1: ") {
		t.Errorf("it does not say which: %v", err)
	}
	exec(t, c, "COMMIT")
	equal(t, "rows after two failures",
		texts(t, c, "SELECT count(*), sum(length(b)), min(a), max(a) FROM t")[0], want)
}

func TestSchemaChangesShowInCachedStatements(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a); INSERT INTO t VALUES(1)")
	equal(t, "before", texts(t, c, "SELECT * FROM t")[0], "1")
	exec(t, c, "ALTER TABLE t ADD COLUMN b DEFAULT 2")
	equal(t, "after", texts(t, c, "SELECT * FROM t")[0], "1|2")
	rows := c.Query("SELECT * FROM t")
	equal(t, "names", strings.Join(rows.Columns(), " "), "a b")
	rows.Close()
}

func TestSettingsAreWhatAnApplicationWants(t *testing.T) {
	c := open(t)
	s, err := c.Settings()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"journal_mode         wal  (SQLite's own: delete, by " +
		"_pragma=journal_mode(delete))", "busy_timeout         5000", "foreign_keys         1"} {
		if !strings.Contains(s.String(), line) {
			t.Errorf("no %q in\n%s", line, s)
		}
	}
	c = open(t, "_defaults=off")
	equal(t, "journal mode", texts(t, c, "PRAGMA journal_mode")[0], "delete")
	equal(t, "foreign keys", texts(t, c, "PRAGMA foreign_keys")[0], "0")
}

func TestAStatementThatRunsIsLeftAlone(t *testing.T) {
	c := open(t)
	s, err := c.Prepare("WITH RECURSIVE n(i) AS (VALUES(?) UNION ALL SELECT i+1 FROM n WHERE " +
		"i<1000) SELECT i, 'text' FROM n")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows := s.Query(1)
	rows.Next()
	s.BindInt64(1, 500)
	if _, err := s.Exec(2); err == nil {
		t.Error("two at a time")
	}
	if err := s.Query(2).Close(); err == nil {
		t.Error("two at a time")
	}
	n := 1
	for rows.Next() {
		n++
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", n, 1000)
	// The same SQL from the connection is another statement meanwhile.
	outer := c.Query("SELECT 1")
	inner := c.Query("SELECT 1")
	if !outer.Next() || !inner.Next() {
		t.Error("no rows")
	}
	outer.Close()
	inner.Close()
}

// A bind function that panics has not asked for what was bound before.
func TestExecManyUndoesWhatAPanicLeaves(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a)")
	s, err := c.Prepare("INSERT INTO t VALUES(?)")
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { equal(t, "panic", recover(), any("mine")) }()
		s.ExecMany(20_000, func(i int) {
			if i == 10_000 {
				panic("mine")
			}
			s.BindInt64(1, int64(i))
		})
	}()
	equal(t, "rows", texts(t, c, "SELECT count(*) FROM t")[0], "0")
	equal(t, "in a transaction", c.InTransaction(), false)
}

func TestRowsEndWithTheirConnection(t *testing.T) {
	c := open(t)
	rows := c.Query("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) SELECT i FROM n")
	rows.Next()
	c.Close()
	if rows.Next() || rows.Err() == nil || rows.Close() == nil {
		t.Error("rows of a closed connection look as if they were all")
	}
	wantError(t, "Query", c.Query("SELECT 1").Close(), "the connection is closed")
	_, err := c.Exec("SELECT 1")
	wantError(t, "Exec", err, "the connection is closed")
}

// There is nothing to read before the first row and behind the last one.
func TestColumnsWithoutARowPanic(t *testing.T) {
	c := open(t)
	rows := c.Query("SELECT hex(zeroblob(40000)) UNION ALL SELECT 'b'")
	reads := func(when string) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s: there is a text", when)
			}
		}()
		rows.RawText(0)
	}
	reads("before Next")
	for rows.Next() {
	}
	reads("at the end")
	rows.Close()
	reads("after Close")
}
