package hpsqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// What ParseDSN takes opens a database, or the error says what is wrong; and its Config, read
// back, is what was asked for.
func FuzzDSN(f *testing.F) {
	for _, dsn := range []string{
		"", ":memory:", "test.db", "file:test.db", "file:a%20b?mode=rwc", "file:///x/../y.db",
		"file://localhost/x.db", "file://elsewhere/x",
		"x.db?_pragma=journal_mode(wal)&_pragma=synchronous=full",
		"x?_journal=WAL&_sync=1&_fk=on&_timeout=70&_txlock=exclusive",
		"x?_loc=auto&_time_utc=1",
		"x?_stmt_cache=0&_defaults=off&cache=shared&mode=memory", "x?vfs=unix&immutable=1&nolock=1",
		"x?_pragma=foreign_keys(1);DROP TABLE t", "x?%zz", "x?_pragma=",
		"x?_pragma='a'('b')", "x#y?mode=ro", "file:%00", "\x00", "?",
		"file:?mode=memory&cache=private", "x?_pragma=main.cache_size(-7)",
		"x?_mutex=no&_time_format=sqlite",
		"file::memory:?cache=shared&_auto_vacuum=2", "x?_pragma=encoding('UTF-16')",
		"x?_pragma=page_size(512)&_pragma=max_page_count(9)",
	} {
		f.Add(dsn)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, dsn string) {
		cfg, err := ParseDSN(dsn)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "hpsqlite: DSN ") {
				t.Errorf("%q: %v", dsn, err)
			}
			return
		}
		for _, p := range cfg.Pragmas {
			switch p.base() {
			case "temp_store_directory", "data_store_directory", "hard_heap_limit",
				"soft_heap_limit", "trusted_schema", "hp_memory", "hp_threads":
				t.Skip("of the whole process")
			}
		}
		// Whatever the name is, the file is to be in this folder.
		cfg.BusyTimeout = -1
		if !cfg.memory() && cfg.Path != "" {
			name := filepath.Base(filepath.Clean("/" + cfg.Path))
			if name == "/" || len(name) > 200 {
				t.Skip()
			}
			cfg.Path = filepath.Join(dir, name)
			defer func() {
				files, _ := filepath.Glob(filepath.Join(dir, "*"))
				for _, f := range files {
					os.Remove(f)
				}
			}()
		}
		c, err := OpenConfig(cfg)
		if err != nil {
			var e *Error
			if !strings.Contains(err.Error(), "cannot open") || !errors.As(err, &e) &&
				!strings.Contains(err.Error(), "PRAGMA") {
				t.Errorf("%q: %v", dsn, err)
			}
			return
		}
		defer c.Close()
		if got := texts(t, c, "SELECT 1"); len(got) != 1 || got[0] != "1" {
			t.Errorf("%q: %v", dsn, got)
		}
		if _, err := c.Settings(); err != nil {
			t.Errorf("%q: %v", dsn, err)
		}
	})
}

// The same settings in three spellings: SQLite's own by _pragma, as modernc.org/sqlite has it
// in both forms, and mattn/go-sqlite3's long and short names.
func TestSpellingsOfTheSameSettings(t *testing.T) {
	for _, c := range []struct {
		pragma, want string
		spellings    []string
	}{
		{"journal_mode", "truncate", []string{"_pragma=journal_mode(truncate)",
			"_pragma=journal_mode=TRUNCATE", "_journal_mode=TRUNCATE", "_journal=truncate"}},
		{"journal_mode", "wal", []string{"", "_pragma=journal_mode(WAL)", "_journal_mode=WAL"}},
		{"synchronous", "2", []string{"_pragma=synchronous(2)", "_pragma=synchronous=full",
			"_synchronous=FULL", "_sync=2"}},
		{"foreign_keys", "0", []string{"_pragma=foreign_keys(0)", "_pragma=foreign_keys=off",
			"_foreign_keys=false", "_fk=no"}},
		{"foreign_keys", "1", []string{"", "_fk=1", "_foreign_keys=yes", "_fk="}},
		{"busy_timeout", "70", []string{"_pragma=busy_timeout(70)", "_pragma=busy_timeout=70",
			"_busy_timeout=70", "_timeout=70"}},
		{"busy_timeout", "0", []string{"_busy_timeout=0", "_timeout=-1", "_defaults=off"}},
		{"auto_vacuum", "1", []string{"_pragma=auto_vacuum(full)", "_auto_vacuum=1", "_vacuum=FULL",
			"_journal=wal&_vacuum=full", "_pragma=journal_mode(delete)&_pragma=auto_vacuum(1)"}},
		{"page_size", "8192", []string{"_pragma=page_size(8192)",
			"_journal_mode=wal&_pragma=page_size=8192"}},
		{"cache_size", "-77", []string{"_pragma=cache_size(-77)", "_cache_size=-77"}},
		{"locking_mode", "exclusive", []string{"_pragma=locking_mode(exclusive)",
			"_locking_mode=EXCLUSIVE", "_locking=exclusive"}},
		{"recursive_triggers", "1", []string{"_pragma=recursive_triggers(1)",
			"_recursive_triggers=1", "_rt=true"}},
		{"ignore_check_constraints", "1", []string{"_ignore_check_constraints=1"}},
		{"query_only", "1", []string{"_query_only=yes", "_pragma=query_only(1)"}},
		{"writable_schema", "1", []string{"_writable_schema=1"}},
		{"secure_delete", "2", []string{"_secure_delete=fast", "_pragma=secure_delete(fast)"}},
	} {
		for _, params := range c.spellings {
			conn := open(t, params)
			got := texts(t, conn, "PRAGMA "+c.pragma)
			equal(t, params+" "+c.pragma, strings.Join(got, ";"), c.want)
			if c.pragma == "page_size" || c.pragma == "auto_vacuum" { // also in the file
				exec(t, conn, "CREATE TABLE t(a)")
				equal(t, params+" "+c.pragma, strings.Join(texts(t, conn, "PRAGMA "+c.pragma), ";"), c.want)
			}
		}
	}
	conn := open(t, "_case_sensitive_like=1")
	equal(t, "LIKE", texts(t, conn, "SELECT 'A' LIKE 'a'")[0], "0")
	for dsn, want := range map[string]string{
		"x?_pragma=journal_mode(wall)":   "none of delete, truncate",
		"x?_foreign_keys=maybe":          "none of 0, 1",
		"x?_sync=4":                      "none of 0, 1, 2, 3",
		"x?_busy_timeout=soon":           "a number of milliseconds",
		"x?_txlock=later":                "immediate, deferred or exclusive",
		"x?_auth&_auth_user=me":          "there is no parameter _auth",
		"x?_time_format=datetime":        "it must be sqlite",
		"x?_jurnal_mode=wal":             "there is no parameter _jurnal_mode",
		"x?_loc=Nowhere/Town":            "time zone",
		"x?mode=rwx":                     "ro, rw, rwc or memory",
		"x?_pragma=cache_size(1);select": "NAME(VALUE)",
		"file://server/x":                "another machine",
		"x?_stmt_cache=-1":               "a number of statements",
	} {
		_, err := ParseDSN(dsn)
		wantError(t, dsn, err, want)
	}
}

// A value as SQL writes it, beside the one that goes over as a parameter.
type sample struct {
	arg any
	sql string
	typ string
}

// samples makes values of every type of data: each begins with a byte that says which.
func samples(data []byte) (list []sample) {
	take := func(n int) []byte {
		n = min(n, len(data))
		b := data[:n]
		data = data[n:]
		return b
	}
	for len(data) > 0 {
		op := take(1)[0]
		switch op % 8 {
		case 0:
			list = append(list, sample{nil, "NULL", "null"})
		case 1, 2:
			var n uint64
			for _, b := range take(8) {
				n = n<<8 | uint64(b)
			}
			list = append(list, sample{int64(n), fmt.Sprintf("CAST('%d' AS INTEGER)", int64(n)), "integer"})
		case 3:
			var n uint64
			for _, b := range take(8) {
				n = n<<8 | uint64(b)
			}
			if v := math.Float64frombits(n); !math.IsNaN(v) {
				list = append(list, sample{v, "", "real"})
			} else {
				list = append(list, sample{v, "NULL", "null"})
			}
		case 4, 5:
			v := append([]byte{}, take(int(op>>3))...)
			list = append(list, sample{string(v), fmt.Sprintf("CAST(x'%x' AS TEXT)", v), "text"})
		case 6:
			v := append([]byte{}, take(int(op>>3))...)
			list = append(list, sample{v, fmt.Sprintf("x'%x'", v), "blob"})
		case 7: // a large one of few bytes
			b := take(3)
			n := 0
			for _, x := range b {
				n = n<<8 | int(x)
			}
			v := bytes.Repeat([]byte{op}, n%200_000)
			if op&8 == 0 {
				list = append(list, sample{v, "", "blob"})
			} else {
				list = append(list, sample{string(v), "", "text"})
			}
		}
	}
	return list
}

// Values go over as parameters and come back as columns, several in a row and several rows,
// through both interfaces, and SQLite says of each what it was given.
func FuzzValues(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 3, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0, 4 + 8*3, 'a', 0,
		0xff, 6 + 8*2, 0, 1})
	f.Add([]byte{7, 0, 0x80, 0, 15, 0, 0x7f, 0xff, 7, 1, 0, 0, 15, 2, 0, 0})
	f.Add([]byte{3, 0x80, 0, 0, 0, 0, 0, 0, 0, 3, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0})
	f.Add(bytes.Repeat([]byte{4 + 8*31, 'x', 0xc3, 0x28, 0, 0xed, 0xa0, 0x80}, 60))
	c, err := Open(":memory:")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { c.Close() })
	db := openDSN(f, ":memory:")
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4000 {
			t.Skip()
		}
		list := samples(data)
		if len(list) > 40 {
			list = list[:40]
		}
		var query strings.Builder
		var args []any
		query.WriteString("SELECT n")
		for i, v := range list {
			p := "?" + strconv.Itoa(i+1)
			fmt.Fprintf(&query, ",%s,typeof(%s),hex(%s),length(CAST(%s AS BLOB))", p, p, p, p)
			if v.sql != "" {
				fmt.Fprintf(&query, ",%s IS %s", p, v.sql)
			} else {
				query.WriteString(",1")
			}
			args = append(args, v.arg)
		}
		query.WriteString(" FROM (SELECT 1 n UNION ALL SELECT 2 UNION ALL SELECT 3)")
		rows := c.Query(query.String(), args...)
		n := 0
		for ; rows.Next(); n++ {
			for i, v := range list {
				at := 1 + 5*i
				if rows.Text(at+1) != v.typ || rows.Int64(at+4) != 1 {
					t.Fatalf("%T %.40v: SQLite has %s", v.arg, v.arg, rows.Text(at+1))
				}
				var same bool
				switch want := v.arg.(type) {
				case nil:
					same = rows.IsNull(at)
				case int64:
					same = rows.Type(at) == Integer && rows.Int64(at) == want
				case float64:
					same = rows.Type(at) == Float &&
						math.Float64bits(rows.Float64(at)) == math.Float64bits(want) ||
						math.IsNaN(want) && rows.IsNull(at)
				case string:
					same = rows.Type(at) == Text && rows.Text(at) == want &&
						rows.Text(at+2) == fmt.Sprintf("%X", want)
				case []byte:
					same = rows.Type(at) == Blob && bytes.Equal(rows.RawBytes(at), want) &&
						rows.Bytes(at) != nil && rows.Text(at+2) == fmt.Sprintf("%X", want)
				}
				if !same {
					t.Fatalf("%T %.40v came back as %v %.40q", v.arg, v.arg, rows.Type(at), rows.Text(at))
				}
			}
		}
		if err := rows.Close(); err != nil || n != 3 {
			t.Fatal(n, err)
		}
		sqlRows, err := db.Query(query.String(), args...)
		if err != nil {
			t.Fatal(err)
		}
		defer sqlRows.Close()
		got := make([]any, 1+5*len(list))
		dest := make([]any, len(got))
		for i := range got {
			dest[i] = &got[i]
		}
		for sqlRows.Next() {
			if err := sqlRows.Scan(dest...); err != nil {
				t.Fatal(err)
			}
			for i, v := range list {
				got := got[1+5*i]
				var same bool
				switch want := v.arg.(type) {
				case float64:
					g, ok := got.(float64)
					same = ok && math.Float64bits(g) == math.Float64bits(want) || math.IsNaN(want) && got == nil
				case []byte:
					g, ok := got.([]byte)
					same = ok && g != nil && bytes.Equal(g, want)
				default:
					same = got == want
				}
				if !same {
					t.Fatalf("%T %.40v came back as %T %.40v", v.arg, v.arg, got, got)
				}
			}
		}
		if err := sqlRows.Err(); err != nil {
			t.Fatal(err)
		}
	})
}

// Values and rows just under, at and above the size of everything that they are packed into.
func TestSizesAtEveryBoundary(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c)")
	insert, err := c.Prepare("INSERT INTO t VALUES(?,?,?,?)")
	if err != nil {
		t.Fatal(err)
	}
	defer insert.Close()
	var sizes []int
	for _, edge := range []int{0, smallBuffer, 32768, farArg, bufferSize, manyBytes, 2 * bufferSize} {
		for d := -120; d <= 8; d += 4 {
			if edge+d >= 0 {
				sizes = append(sizes, edge+d, edge+d+1)
			}
		}
	}
	value := func(i, n int) string { return strings.Repeat(string(rune('a'+i%26)), n) }
	_, err = insert.ExecMany(len(sizes), func(i int) {
		insert.BindInt64(1, int64(i))
		insert.BindText(2, value(i, sizes[i]))
		insert.BindBytes(3, []byte(value(i+1, sizes[len(sizes)-1-i])))
		if i%3 > 0 {
			insert.BindText(4, "end")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(i int, a, b, end string) {
		t.Helper()
		want := ""
		if i%3 > 0 {
			want = "end"
		}
		if a != value(i, sizes[i]) || b != value(i+1, sizes[len(sizes)-1-i]) || end != want {
			t.Fatalf("row %d, %d bytes: got %d, %d, %q", i, sizes[i], len(a), len(b), end)
		}
	}
	rows := c.Query("SELECT id, a, b, c FROM t")
	n := 0
	for ; rows.Next(); n++ {
		check(int(rows.Int64(0)), rows.Text(1), rows.Text(2), rows.Text(3))
	}
	if err := rows.Close(); err != nil || n != len(sizes) {
		t.Fatal(n, err)
	}
	one, err := c.Prepare("SELECT id, a, b, c FROM t WHERE id=?")
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	for i := range sizes { // alone, through the smallest buffer
		rows := one.Query(i)
		if !rows.Next() {
			t.Fatal(i, rows.Err())
		}
		check(i, rows.Text(1), rows.Text(2), rows.Text(3))
		rows.Close()
	}
	// Rows of as many columns as SQLite takes, also where the types alone fill the buffer.
	for _, n := range []int{1, 7, 8, 9, 100, 112, 113, 2000} {
		var list []string
		for i := range n {
			list = append(list, strconv.Itoa(i*i))
		}
		rows := c.Query("SELECT " + strings.Join(list, ",") + " UNION ALL SELECT " +
			strings.Join(list, ","))
		for rows.Next() {
			for i := range n {
				if rows.Int64(i) != int64(i*i) {
					t.Fatalf("column %d of %d: %d", i, n, rows.Int64(i))
				}
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAValueBeyondTheLimit(t *testing.T) {
	c := open(t)
	db := openDB(t)
	exec(t, c, "CREATE TABLE t(a)")
	const most = 1_000_000_000 // SQLITE_MAX_LENGTH
	tooBig := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrTooBig) {
			t.Errorf("%s: %v", what, err)
		}
	}
	tooBig("zeroblob()", c.Query("SELECT zeroblob(?)", most+1).Close())
	tooBig("ZeroBlob", c.Query("SELECT ?", ZeroBlob(most+1)).Close())
	_, err := c.Exec("INSERT INTO t VALUES(?)", ZeroBlob(most+1))
	tooBig("ZeroBlob", err)
	_, err = db.Exec("SELECT ?", ZeroBlob(most+1))
	tooBig("ZeroBlob", err)
	equal(t, "the connection goes on", texts(t, c, "SELECT length(zeroblob(?))", most)[0],
		strconv.Itoa(most))
	if os.Getenv("HPSQLITE_TEST_LARGE") == "" {
		t.Skip("values of 1 GB: set HPSQLITE_TEST_LARGE")
	}
	large := make([]byte, most+1)
	large[0], large[most-1] = 'a', 'z'
	tooBig("a blob", c.Query("SELECT ?", large).Close())
	_, err = db.Exec("SELECT ?", large)
	tooBig("a blob", err)
	rows := c.Query("SELECT ?, 1", large[:most])
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	if got := rows.RawBytes(0); len(got) != most || got[0] != 'a' || got[most-1] != 'z' ||
		rows.Int64(1) != 1 {
		t.Errorf("%d bytes", len(got))
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	var got sql.RawBytes
	r, err := db.Query("SELECT CAST(? AS TEXT)", large[:most])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Next()
	if err := r.Scan(&got); err != nil || len(got) != most {
		t.Error(len(got), err)
	}
	runtime.KeepAlive(large)
}
