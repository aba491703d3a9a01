package hpsqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// openDB gives a sql.DB of a new database, which is closed with the test.
func openDB(t testing.TB, params ...string) *sql.DB {
	t.Helper()
	return openDSN(t, filepath.Join(t.TempDir(), "test.db")+"?"+strings.Join(params, "&"))
}

func openDSN(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("hpsqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// An execer is a sql.DB, Tx or Conn.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func must(t testing.TB, db execer, query string, args ...any) sql.Result {
	t.Helper()
	res, err := db.ExecContext(context.Background(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return res
}

// one is the only value of a query, as *any gets it.
func one(t testing.TB, db execer, query string, args ...any) (v any) {
	t.Helper()
	if err := db.QueryRowContext(context.Background(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func wantError(t testing.TB, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want an error with %q", what, err, want)
	}
}

func TestSQLParametersOfEveryType(t *testing.T) {
	db := openDB(t)
	five := 5
	type name string
	type id uint32
	for _, c := range []struct {
		arg  any
		want string
	}{
		{nil, "NULL"}, {true, "1"}, {false, "0"}, {int8(-8), "-8"},
		{uint64(math.MaxInt64), "9223372036854775807"},
		{id(7), "7"}, {name("n'n"), "'n''n'"}, {&five, "5"}, {(*int)(nil), "NULL"}, {float32(0.5), "0.5"},
		{[]byte("ab"), "X'6162'"}, {[]byte{}, "X''"}, {[]byte(nil), "NULL"}, {sql.RawBytes("r"), "X'72'"},
		{json.RawMessage(`{"a":1}`), `'{"a":1}'`}, {json.RawMessage(nil), "NULL"},
		{sql.NullString{}, "NULL"}, {sql.NullString{String: "s", Valid: true}, "'s'"},
		{sql.NullInt64{Int64: 3, Valid: true}, "3"},
		{sql.Null[float64]{V: 1.5, Valid: true}, "1.5"}, {sql.Null[uint16]{V: 9, Valid: true}, "9"},
		{sql.Null[bool]{}, "NULL"},
		{time.Second, "1000000000"}, {ZeroBlob(2), "X'0000'"},
		{time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC), "'2026-02-03 04:05:06.000007+00:00'"},
		{&sql.NullTime{}, "NULL"}, {(*sql.NullTime)(nil), "NULL"},
		{celsius(20), "'20 °C'"}, {(*celsius)(nil), "NULL"},
	} {
		equal(t, fmt.Sprintf("%T %v", c.arg, c.arg), one(t, db, "SELECT quote(?)", c.arg), any(c.want))
	}
	for _, c := range []struct {
		arg  any
		want string
	}{
		{uint64(math.MaxUint64), "18446744073709551615 is larger than SQLite's integers"},
		{[]int{1}, "cannot hold a []int"}, {struct{}{}, "cannot hold a struct {}"},
		{broken{}, "no value today"}, {sql.Out{Dest: &five}, "no output parameters"},
	} {
		_, err := db.Exec("SELECT ?", c.arg)
		wantError(t, fmt.Sprintf("%T", c.arg), err, c.want)
	}
}

type celsius float64

func (c celsius) Value() (driver.Value, error) { return fmt.Sprintf("%v °C", float64(c)), nil }

type broken struct{}

func (broken) Value() (driver.Value, error) { return nil, errors.New("no value today") }

func TestSQLParametersByNumberAndName(t *testing.T) {
	db := openDB(t)
	n := sql.Named
	for _, c := range []struct {
		sql  string
		args []any
		want string
	}{
		{"?, ?", []any{1, 2}, "12"},
		{"?2, ?1", []any{1, 2}, "21"},
		{"?, ?1", []any{1}, "11"},
		{":a, :b", []any{1, 2}, "12"},
		{":a, @a, $a", []any{n("a", 4)}, "444"},
		{":b, :a, :b", []any{n("a", 1), n("b", 2)}, "212"},
		{"?, :x, ?", []any{1, n("x", 2), 3}, "123"},
		{":x, ?", []any{n("x", 1), 2}, "12"},
		{":x, ?", []any{2, n("x", 1)}, "12"},
		{"?, ?", []any{1}, "error: 1 parameters are given, and the statement has 2"},
		{"?, ?", nil, "error: 0 parameters are given, and the statement has 2"},
		{"?", []any{1, 2}, "error: 2 parameters are given, and the statement has 1"},
		{"1", []any{1}, "error: 1 parameters are given, and the statement has 0"},
		{":a, :b", []any{n("b", 1)}, `error: parameter "a" is not given`},
		{":a, ?", []any{n("a", 1)}, `error: parameter 2 is not given`},
		{":a", []any{n("a", 1), 2}, `error: more parameters are given`},
		{":a", []any{n("c", 1)}, `error: there is no parameter "c"`},
		{"?", []any{n("c", 1)}, `error: there is no parameter "c"`},
	} {
		query := "SELECT " + strings.ReplaceAll(c.sql, ",", "||")
		check := func(how string, got string, err error) {
			if want, fails := strings.CutPrefix(c.want, "error: "); fails {
				wantError(t, how+" "+query, err, want)
			} else if err != nil || got != c.want {
				t.Errorf("%s %s: got %q, %v", how, query, got, err)
			}
		}
		var got string
		err := db.QueryRow(query, c.args...).Scan(&got)
		check("Query", got, err)
		_, err = db.Exec(query, c.args...)
		check("Exec", c.want, err)
		s, err := db.Prepare(query)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			err = s.QueryRow(c.args...).Scan(&got)
			check("Prepare", got, err)
			_, err = s.Exec(c.args...)
			check("Prepare, Exec", c.want, err)
		}
		s.Close()
	}
}

// A statement from the cache does not remember what its last user gave it.
func TestAMissingParameterIsNotTheOneBefore(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a)")
	exec(t, c, "INSERT INTO t VALUES(?)", 1)
	_, err := c.Exec("INSERT INTO t VALUES(?)")
	wantError(t, "Exec", err, "0 parameters are given")
	wantError(t, "Query", c.Query("INSERT INTO t VALUES(?)").Close(), "0 parameters are given")
	_, err = c.Exec("INSERT INTO t VALUES(?); INSERT INTO t VALUES(?)", 1)
	wantError(t, "script", err, "0 parameters are given")
	// A prepared one does: that is what Bind calls are for.
	s, err := c.Prepare("SELECT ?")
	if err != nil {
		t.Fatal(err)
	}
	s.BindInt64(1, 8)
	for range 2 {
		rows := s.Query()
		rows.Next()
		equal(t, "bound", rows.Int64(0), int64(8))
		rows.Close()
	}
	s.Close()
	s.Close()
	wantError(t, "a closed statement", s.Query(1).Close(), "the statement is closed")
}

func TestSQLTypesThatAnyGets(t *testing.T) {
	db := openDB(t)
	for _, c := range []struct {
		decl, value string
		want        any
	}{
		{"INTEGER", "7", int64(7)}, {"REAL", "7", 7.0}, {"TEXT", "7", "7"},
		{"VARCHAR(20)", "'x'", "x"}, {"BLOB", "x'00'", []byte{0}},
		{"", "7", int64(7)}, {"NUMERIC", "'1.50'", 1.5}, {"DECIMAL(10,2)", "'x'", "x"},
		{"JSON", `'{"a":1}'`, `{"a":1}`},
		{"INTEGER", "NULL", nil}, {"INTEGER", "'x'", "x"}, {"TEXT", "x'41'", []byte("A")},
		{"BOOLEAN", "1", true}, {"BOOLEAN", "0", false}, {"bool", "5", true},
		{"BOOLEAN", "NULL", nil}, {"BOOLEAN", "'yes'", "yes"},
		{"DATETIME", "'2026-01-02 03:04:05'", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		{"DATE", "'2026-01-02'", time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)},
		{"TIMESTAMP", "1700000000", time.Unix(1700000000, 0).UTC()},
		{"TIMESTAMP", "1700000000123", time.UnixMilli(1700000000123).UTC()},
		{"TIMESTAMP", "'not a time'", "not a time"}, {"DATETIME", "2460000.5", 2460000.5},
	} {
		must(t, db, "CREATE TABLE t(v "+c.decl+")")
		must(t, db, "INSERT INTO t VALUES("+c.value+")")
		if got := one(t, db, "SELECT v FROM t"); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s: got %T %v, want %T %v", c.decl, c.value, got, got, c.want, c.want)
		}
		must(t, db, "DROP TABLE t")
	}
}

func TestSQLTimesKeepTheirInstant(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip(err)
	}
	amsterdam, _ := time.LoadLocation("Europe/Amsterdam")
	db := openDB(t)
	must(t, db, "CREATE TABLE t(v DATETIME)")
	for _, want := range []time.Time{
		time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC),
		time.Date(2026, 7, 1, 12, 0, 0, 123456789, newYork),
		time.Date(1999, 12, 31, 23, 59, 59, 1, time.FixedZone("", -(11*3600+1800))),
		time.Date(1850, 1, 1, 0, 0, 0, 0, amsterdam), // 18 min 4 s or so east of Greenwich
		time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		time.Now(),
		{},
	} {
		must(t, db, "DELETE FROM t")
		must(t, db, "INSERT INTO t VALUES(?)", want)
		var got time.Time
		if err := db.QueryRow("SELECT v FROM t WHERE v = ?", want).Scan(&got); err != nil {
			t.Fatalf("%v: %v", want, err)
		}
		if !got.Equal(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	// Forms that other programs write.
	want := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, text := range []string{
		"2026-03-04 05:06:07", "2026-03-04T05:06:07", "2026-03-04T05:06:07Z", "2026-03-04 05:06:07.000Z",
		"2026-03-04 05:06:07+00:00", "2026-03-04T07:06:07+02:00", "2026-03-04 00:06:07 -0500 EST",
		"2026-03-04 05:06:07 +0000 UTC m=+0.000000001", "2026-03-04 05:06:07.000000000 +0000 UTC",
	} {
		must(t, db, "UPDATE t SET v=?", text)
		if got, ok := one(t, db, "SELECT v FROM t").(time.Time); !ok || !got.Equal(want) {
			t.Errorf("%s: %v", text, got)
		}
	}
	// Zones that times are given in and stored in.
	db = openDB(t, "_loc=America/New_York", "_time_utc=1")
	must(t, db, "CREATE TABLE t(v DATETIME)")
	must(t, db, "INSERT INTO t VALUES(?)", time.Date(2026, 7, 1, 12, 0, 0, 0, newYork))
	equal(t, "stored", one(t, db, "SELECT v||'' FROM t"), any("2026-07-01 16:00:00+00:00"))
	equal(t, "given", one(t, db, "SELECT v FROM t").(time.Time).String(),
		"2026-07-01 12:00:00 -0400 EDT")
}

func TestSQLScanIntoEverything(t *testing.T) {
	db := openDB(t)
	must(t, db, `CREATE TABLE t(i INTEGER, r REAL, s TEXT, b BLOB, n TEXT, ok BOOLEAN, at DATETIME, j JSON);
		INSERT INTO t VALUES(42, 1.5, 'text', x'0001', NULL, 1, '2026-01-02 03:04:05', '[1,2]')`)
	var (
		i  int
		u  uint8
		r  float32
		s  string
		b  []byte
		n  sql.NullString
		p  *string
		ok bool
		at time.Time
		na sql.Null[time.Time]
		j  []byte
		l  list
	)
	err := db.QueryRow("SELECT i, i, r, s, b, n, n, ok, at, at, j, j FROM t").Scan(&i, &u, &r, &s,
		&b, &n, &p, &ok, &at, &na, &j, &l)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.TrimSpace(fmt.Sprintln(i, u, r, s, b, n.Valid, p, ok, at.Year(), na.V.Year(),
		string(j), l))
	equal(t, "values", got, "42 42 1.5 text [0 1] false <nil> true 2026 2026 [1,2] [1 2]")
	for query, dest := range map[string]any{
		"SELECT 300": new(uint8), "SELECT 'x'": new(int), "SELECT NULL": new(int),
		"SELECT 1.5": new(int64),
	} {
		if err := db.QueryRow(query).Scan(dest); err == nil {
			t.Errorf("%s into %T fits", query, dest)
		}
	}
	// What Scan gave stays, whatever the buffers are used for next.
	rows, err := db.Query("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE " +
		"i<500) SELECT i, 't'||i, CAST('b'||i AS BLOB), i*1.5 FROM n")
	if err != nil {
		t.Fatal(err)
	}
	var kept [][4]any
	for rows.Next() {
		var v [4]any
		if err := rows.Scan(&v[0], &v[1], &v[2], &v[3]); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, v)
	}
	if err := rows.Err(); err != nil || len(kept) != 500 {
		t.Fatal(len(kept), err)
	}
	for i, v := range kept {
		n := i + 1
		if v[0] != int64(n) || v[1] != fmt.Sprint("t", n) ||
			string(v[2].([]byte)) != fmt.Sprint("b", n) || v[3] != float64(n)*1.5 {
			t.Fatalf("row %d: %v", n, v)
		}
	}
}

type list []int

func (l *list) Scan(v any) error { return json.Unmarshal([]byte(v.(string)), (*[]int)(l)) }

func TestSQLRawBytesAreTheBuffers(t *testing.T) {
	db := openDB(t)
	rows, err := db.Query("SELECT 'first', x'01' UNION ALL SELECT hex(zeroblob(40000)), " +
		"zeroblob(100000) UNION ALL SELECT 12, NULL")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var a, b sql.RawBytes
	var got []string
	for rows.Next() {
		if err := rows.Scan(&a, &b); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%.5s:%d:%d:%v", a, len(a), len(b), b == nil))
	}
	equal(t, "rows", strings.Join(got, " "), "first:5:1:false 00000:80000:100000:false 12:2:0:true")
}

func TestSQLResults(t *testing.T) {
	db := openDB(t)
	db.SetMaxOpenConns(1) // LastInsertId is a connection's
	for _, c := range []struct {
		sql           string
		rowid, change int64
	}{
		{"CREATE TABLE t(id INTEGER PRIMARY KEY, k UNIQUE, v DEFAULT 0)", 0, 0},
		{"INSERT INTO t(k) VALUES('a'),('b')", 2, 2},
		{"INSERT INTO t(id, k) VALUES(70, 'c')", 70, 1},
		{"UPDATE t SET v=1 WHERE id<3", 70, 2},
		{"UPDATE t SET v=1 WHERE id<0", 70, 0},
		{"INSERT OR IGNORE INTO t(k) VALUES('a')", 70, 0},
		{"INSERT INTO t(k) VALUES('a') ON CONFLICT(k) DO UPDATE SET v=9", 70, 1},
		{"INSERT INTO t(k) VALUES('a') ON CONFLICT(k) DO NOTHING", 70, 0},
		{"REPLACE INTO t(id, k) VALUES(5, 'a')", 5, 1},
		{"SELECT * FROM t", 5, 0},
		{"CREATE INDEX i ON t(v)", 5, 0},
		{"INSERT INTO t(k) VALUES('x') RETURNING id", 71, 1},
		{"DELETE FROM t", 71, 4},
		{"DROP TABLE t", 71, 0},
		{"", 71, 0},
		{"-- nothing", 71, 0},
	} {
		res := must(t, db, c.sql)
		rowid, err := res.LastInsertId()
		if err != nil {
			t.Fatal(err)
		}
		change, err := res.RowsAffected()
		if err != nil {
			t.Fatal(err)
		}
		if c.rowid != rowid && c.sql != "" && !strings.HasPrefix(c.sql, "--") || c.change != change {
			t.Errorf("%s: rowid %d, %d changes; want %d, %d", c.sql, rowid, change, c.rowid, c.change)
		}
	}
}

func TestSQLReturning(t *testing.T) {
	db := openDB(t)
	must(t, db, "CREATE TABLE parent(id INTEGER PRIMARY KEY); CREATE TABLE t(id INTEGER PRIMARY "+
		"KEY, p REFERENCES parent)")
	equal(t, "id", one(t, db, "INSERT INTO t(p) VALUES(NULL) RETURNING id"), any(int64(1)))
	rows, err := db.Query("INSERT INTO t(p) VALUES(NULL),(NULL),(NULL) RETURNING id")
	if err != nil {
		t.Fatal(err)
	}
	rows.Next()
	if err := rows.Close(); err != nil { // after the first: all three are there
		t.Fatal(err)
	}
	equal(t, "rows", one(t, db, "SELECT count(*) FROM t"), any(int64(4)))
	// What is only found out at the end is told, though Scan has what it wanted.
	var id int64
	err = db.QueryRow("INSERT INTO t(p) VALUES(77) RETURNING id").Scan(&id)
	if !errors.Is(err, ErrConstraintForeignKey) {
		t.Errorf("a foreign key: %v", err)
	}
	equal(t, "rows", one(t, db, "SELECT count(*) FROM t"), any(int64(4)))
	c := open(t)
	exec(t, c, "CREATE TABLE parent(id INTEGER PRIMARY KEY); CREATE TABLE t(id INTEGER PRIMARY "+
		"KEY, p REFERENCES parent)")
	r := c.Query("INSERT INTO t(p) VALUES(77) RETURNING id")
	r.Next()
	if err := r.Close(); !errors.Is(err, ErrConstraintForeignKey) {
		t.Errorf("a foreign key: %v", err)
	}
}

func TestSQLSeveralResultSets(t *testing.T) {
	db := openDB(t)
	all := func(query string, args ...any) (got string) {
		rows, err := db.Query(query, args...)
		if err != nil {
			return "error " + err.Error()
		}
		defer rows.Close()
		for {
			cols, _ := rows.Columns()
			got += strings.Join(cols, ",") + "("
			for rows.Next() {
				v := make([]any, len(cols))
				p := make([]any, len(cols))
				for i := range v {
					p[i] = &v[i]
				}
				if err := rows.Scan(p...); err != nil {
					return got + err.Error()
				}
				got += strings.Trim(fmt.Sprint(v), "[]") + ";"
			}
			got += ")"
			if !rows.NextResultSet() {
				break
			}
		}
		if err := rows.Err(); err != nil {
			got += " error " + err.Error()
		}
		return got
	}
	for _, c := range []struct {
		sql  string
		args []any
		want string
	}{
		{"SELECT 1 a; SELECT 2 b, 3 c", nil, "a(1;)b,c(2 3;)"},
		{"CREATE TABLE t(a); INSERT INTO t VALUES(?); SELECT a FROM t", []any{5}, "a(5;)"},
		{"SELECT ? a; -- comment\n; SELECT ? b;; ", []any{1, 2}, "a(1;)b(2;)"},
		{"SELECT :x a; SELECT :x+? b", []any{sql.Named("x", 1), 4}, "a(1;)b(5;)"},
		{"SELECT 1 a; INSERT INTO t VALUES(6); SELECT count(*) n FROM t", nil, "a(1;)n(2;)"},
		{"SELECT 1 a; \ufeff", nil, "a(1;)()"},
		{"SELECT 1 a; SELECT 1 a; SELECT 1 a", nil, "a(1;)a(1;)a(1;)"},
		{"SELECT 1 a WHERE 0; SELECT 2 b", nil, "a()b(2;)"},
	} {
		equal(t, c.sql, all(c.sql, c.args...), c.want)
	}
	for query, want := range map[string]string{
		"SELECT 1 a; SELECT nope; SELECT 3": "a(1;) error hpsqlite: no " +
			"such column: nope",
		"SELECT 1 a; INSERT INTO nope VALUES(1); SELECT 3": "a(1;) error hpsqlite: no " +
			"such table: nope",
		"SELECT 1 a; SELECT abs(-9223372036854775808) b; SELECT 3": "a(1;) error hpsqlite: integer overflow",
		"INSERT INTO t VALUES(1); SELECT nope":                     "error hpsqlite: no such column: nope",
		"SELECT ? a; SELECT 2":                                     "error hpsqlite: 0 parameters are given",
	} {
		if got := all(query); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s", query, got)
		}
	}
	// Who reads the first rows only, as QueryRow does, has the rest carried out all the same.
	equal(t, "first", one(t, db,
		"SELECT 7; INSERT INTO t VALUES(?); SELECT 1; DELETE FROM t WHERE a=5", 8), any(int64(7)))
	equal(t, "the rest", one(t, db, "SELECT group_concat(a, ' ') FROM t"), any("6 1 8"))
	var v int
	wantError(t, "the rest", db.QueryRow("SELECT 7; INSERT INTO nope VALUES(1)").Scan(&v),
		"no such table: nope")
	wantError(t, "too many", errors.New(all("SELECT 1 a; SELECT 2 b", 5)), "1 parameters more")
	equal(t, "it goes on", one(t, db, "SELECT 1"), any(int64(1)))
}

func TestSQLColumnTypes(t *testing.T) {
	db := openDB(t)
	must(t, db, `CREATE TABLE t(i INTEGER, v VARCHAR(20), d DECIMAL(10,2), at DATETIME, ok BOOLEAN, b BLOB, x);
		INSERT INTO t VALUES(1,'v',1.5,'2026-01-01',1,x'00',NULL)`)
	rows, err := db.Query("SELECT i, v, d, at, ok, b, x, count(*) AS n, max(v), 1.5, NULL FROM t")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range types {
		got = append(got, fmt.Sprintf("%s %s %s", c.Name(), c.DatabaseTypeName(), c.ScanType()))
	}
	want := []string{
		"i INTEGER sql.NullInt64", "v VARCHAR sql.NullString", "d DECIMAL interface {}",
		"at DATETIME sql.NullTime", "ok BOOLEAN sql.NullBool",
		"b BLOB []uint8", "x  interface {}", "n  sql.NullInt64", "max(v)  sql.NullString",
		"1.5  sql.NullFloat64", "NULL  interface {}",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	// Values of those types can be scanned.
	rows.Next()
	dest := make([]any, len(types))
	for i, c := range types {
		dest[i] = reflect.New(c.ScanType()).Interface()
	}
	if err := rows.Scan(dest...); err != nil {
		t.Error(err)
	}
}

func TestSQLPreparedStatementsOutliveTheSchema(t *testing.T) {
	db := openDB(t)
	db.SetMaxOpenConns(1)
	must(t, db, "CREATE TABLE t(a); INSERT INTO t VALUES(1)")
	s, err := db.Prepare("SELECT * FROM t")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	columns := func() string {
		rows, err := s.Query()
		if err != nil {
			return err.Error()
		}
		defer rows.Close()
		cols, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rows.Next() {
			v := make([]any, len(cols))
			p := make([]any, len(cols))
			for i := range v {
				p[i] = &v[i]
			}
			if err := rows.Scan(p...); err != nil {
				t.Fatal(err)
			}
			n++
		}
		return fmt.Sprint(cols, n, rows.Err())
	}
	equal(t, "first", columns(), "[a] 1 <nil>")
	must(t, db, "ALTER TABLE t ADD COLUMN b")
	equal(t, "a column more", columns(), "[a b] 1 <nil>")
	must(t, db, "DROP TABLE t")
	if got := columns(); !strings.Contains(got, "no such table: t") {
		t.Error(got)
	}
	must(t, db, "CREATE TABLE t(x, y, z)")
	equal(t, "another table", columns(), "[x y z] 0 <nil>")
}

func TestSQLOneTransactionSeveralRows(t *testing.T) {
	db := openDB(t)
	must(t, db, "CREATE TABLE t(a INTEGER PRIMARY KEY); WITH RECURSIVE n(i) AS (VALUES(1) UNION "+
		"ALL SELECT i+1 FROM n WHERE i<300) INSERT INTO t SELECT i FROM n")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	s, err := tx.Prepare("SELECT a FROM t WHERE a>? ORDER BY a")
	if err != nil {
		t.Fatal(err)
	}
	// The same prepared statement twice, and the same text twice, at a time.
	outer, err := s.Query(0)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for outer.Next() {
		var a, b, c int
		if err := outer.Scan(&a); err != nil {
			t.Fatal(err)
		}
		if err := s.QueryRow(a - 1).Scan(&b); err != nil {
			t.Fatal(err)
		}
		if err := tx.QueryRow("SELECT a FROM t WHERE a>? ORDER BY a", a-1).Scan(&c); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("UPDATE t SET a=a WHERE a=?", a); err != nil {
			t.Fatal(err)
		}
		if a != b || a != c {
			t.Fatal(a, b, c)
		}
		sum += a
	}
	if err := outer.Err(); err != nil {
		t.Fatal(err)
	}
	equal(t, "sum", sum, 300*301/2)
	left, err := tx.Query("SELECT a FROM t")
	if err != nil {
		t.Fatal(err)
	}
	left.Next()
	if err := tx.Commit(); err != nil { // rows that someone forgot do not hinder it
		t.Fatal(err)
	}
	if left.Next() {
		t.Error("rows go on after Commit")
	}
}

func TestSQLTransactions(t *testing.T) {
	db := openDB(t, "_busy_timeout=1")
	must(t, db, "CREATE TABLE t(a)")
	ctx := context.Background()
	begin := func(opts sql.TxOptions) *sql.Tx {
		t.Helper()
		tx, err := db.BeginTx(ctx, &opts)
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	// A transaction writes from its beginning, unless it is read-only.
	tx := begin(sql.TxOptions{})
	if _, err := db.Exec("INSERT INTO t VALUES(1)"); !errors.Is(err, ErrBusy) {
		t.Errorf("two write: %v", err)
	}
	must(t, tx, "INSERT INTO t VALUES(1)")
	read := begin(sql.TxOptions{ReadOnly: true})
	equal(t, "not committed", one(t, read, "SELECT count(*) FROM t"), any(int64(0)))
	if _, err := read.Exec("INSERT INTO t VALUES(2)"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a read-only transaction writes: %v", err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	equal(t, "the same as before", one(t, read, "SELECT count(*) FROM t"), any(int64(0)))
	if err := read.Commit(); err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	must(t, db, "INSERT INTO t VALUES(3)") // the connection may write again
	must(t, db, "PRAGMA query_only=1")
	if err := begin(sql.TxOptions{ReadOnly: true}).Rollback(); err != nil {
		t.Fatal(err)
	}
	equal(t, "what was before", one(t, db, "PRAGMA query_only"), any(int64(1)))
	must(t, db, "PRAGMA query_only=0")
	// SQLite's transactions are serializable, which is enough for who asks for less.
	for _, l := range []sql.IsolationLevel{sql.LevelReadUncommitted, sql.LevelReadCommitted,
		sql.LevelRepeatableRead, sql.LevelSnapshot, sql.LevelSerializable} {
		if err := begin(sql.TxOptions{Isolation: l}).Rollback(); err != nil {
			t.Error(l, err)
		}
	}
	_, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelLinearizable})
	wantError(t, "Linearizable", err, "no isolation level")
	// A transaction that SQLite has ended by itself can be rolled back all the same.
	tx = begin(sql.TxOptions{})
	must(t, tx, "ROLLBACK")
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	tx = begin(sql.TxOptions{})
	must(t, tx, "ROLLBACK")
	wantError(t, "Commit", tx.Commit(), "no transaction is active")
	// With one connection, BEGIN and COMMIT may be statements like others.
	must(t, db, "BEGIN")
	must(t, db, "INSERT INTO t VALUES(9)")
	must(t, db, "ROLLBACK")
	equal(t, "rolled back", one(t, db, "SELECT count(*) FROM t WHERE a=9"), any(int64(0)))
}

// A commit that fails leaves nothing behind that the next one on the connection runs into.
func TestSQLCommitThatFails(t *testing.T) {
	db := openDB(t)
	db.SetMaxOpenConns(1)
	must(t, db, "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p "+
		"DEFERRABLE INITIALLY DEFERRED)")
	for range 2 {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		must(t, tx, "INSERT INTO c VALUES(1)")
		if err := tx.Commit(); !errors.Is(err, ErrConstraintForeignKey) {
			t.Errorf("Commit: %v", err)
		}
	}
	equal(t, "rows", one(t, db, "SELECT count(*) FROM c"), any(int64(0)))
}

func TestSQLConnRaw(t *testing.T) {
	db := openDB(t)
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = Raw(conn, func(c *Conn) error {
		_, err := c.Exec("CREATE TEMP TABLE mine(a); INSERT INTO mine VALUES(?)", 5)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "on the same connection", one(t, conn, "SELECT a FROM mine"), any(int64(5)))
}

func TestSQLPragmaBusyTimeoutSaysWhatIsInForce(t *testing.T) {
	db := openDB(t)
	db.SetMaxOpenConns(1)
	equal(t, "by itself", one(t, db, "PRAGMA busy_timeout"), any(int64(5000)))
	equal(t, "set", one(t, db, "PRAGMA busy_timeout = 70"), any(int64(70)))
	must(t, db, "SELECT 1; PRAGMA main.busy_timeout(80);")
	equal(t, "set in a script", one(t, db, "/* x */ pragma Busy_Timeout"), any(int64(80)))
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	Raw(conn, func(c *Conn) error {
		equal(t, "of the driver's handler", int(c.h.msBusy), 80)
		return nil
	})
}

func TestSQLMemoryIsOneDatabase(t *testing.T) {
	ctx := context.Background()
	count := func(db *sql.DB) any {
		return one(t, db, "SELECT count(*) FROM sqlite_schema")
	}
	for _, c := range []struct {
		dsn    string
		shared bool // with another sql.DB of the same DSN
	}{
		{":memory:", false}, {"file::memory:", false}, {"file:x?mode=memory", false},
		{"file::memory:?_fk=0", false},
		{"file:y?mode=memory&cache=shared", true}, {"file::memory:?cache=shared", true},
	} {
		db, other := openDSN(t, c.dsn), openDSN(t, c.dsn)
		a, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		b, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		must(t, a, "CREATE TABLE t(a)")
		must(t, b, "INSERT INTO t VALUES(1)")
		a.Close()
		b.Close()
		db.SetMaxIdleConns(0) // it does not go with the last connection
		equal(t, c.dsn, count(db), any(int64(1)))
		want := int64(0)
		if c.shared {
			want = 1
		}
		equal(t, c.dsn+", another sql.DB", count(other), any(want))
	}
}

func TestAFileIsAttachedToADatabaseInMemory(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a); INSERT INTO t VALUES(1), (2)")
	want := map[string]int{":memory:": 3, "file:attaching?mode=memory&cache=shared": 10}
	for _, dsn := range []string{":memory:", "file:attaching?mode=memory&cache=shared"} {
		db, err := sql.Open("hpsqlite", dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{"ATTACH '" + c.cfg.Path + "' AS file",
			"CREATE TABLE copy AS SELECT * FROM file.t",
			"INSERT INTO file.t SELECT a+2 FROM copy", "DETACH file",
			"PRAGMA locking_mode=EXCLUSIVE", "BEGIN; UPDATE copy SET a=9; ROLLBACK"} {
			if _, err := conn.ExecContext(t.Context(), sql); err != nil {
				t.Fatalf("%s: %s: %v", dsn, sql, err)
			}
		}
		conn.Close()
		var sum int
		if err := db.QueryRow("SELECT sum(a) FROM copy").Scan(&sum); err != nil {
			t.Fatal(err)
		}
		equal(t, dsn+": sum of the copy", sum, want[dsn])
	}
	equal(t, "rows that were written to the file", texts(t, c, "SELECT count(*) FROM t")[0], "8")
}

func TestConnectionsToMemoryShareItIfTheySayShared(t *testing.T) {
	const dsn = "file:together?mode=memory&cache=shared"
	a, err := Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	exec(t, a, "PRAGMA locking_mode=EXCLUSIVE; CREATE TABLE t(a); INSERT INTO t VALUES(7)")
	db, err := sql.Open("hpsqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRow("SELECT a FROM t").Scan(&n); err != nil || n != 7 {
		t.Errorf("got %d, %v", n, err)
	}
	alone, err := Open("file:together?mode=memory")
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	equal(t, "tables of a connection that does not say so",
		len(texts(t, alone, "SELECT name FROM sqlite_schema")), 0)
}

func TestTheCacheOfAFileIsNotShared(t *testing.T) {
	a := open(t)
	exec(t, a, "CREATE TABLE t(a); INSERT INTO t VALUES(7)")
	c, err := Open("file:" + a.cfg.Path + "?cache=shared")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b, err := Open("file:" + a.cfg.Path + "?cache=shared")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	exec(t, c, "BEGIN IMMEDIATE; UPDATE t SET a=8")
	equal(t, "what another connection reads meanwhile", texts(t, b, "SELECT a FROM t")[0], "7")
	exec(t, c, "COMMIT")
	equal(t, "and then", texts(t, b, "SELECT a FROM t")[0], "8")
}
