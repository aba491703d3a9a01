package hpsqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestCollationsOrderTexts(t *testing.T) {
	c := open(t)
	noError(t, c.CreateCollation("backwards",
		func(a, b []byte) int { return bytes.Compare(b, a) * 1000 }))
	exec(t, c, "CREATE TABLE t(a TEXT COLLATE backwards UNIQUE); INSERT INTO t "+
		"VALUES('b'),('a'),(''),('c')")
	equal(t, "order", strings.Join(texts(t, c, "SELECT a FROM t ORDER BY a"), ","), "c,b,a,")
	equal(t, "less", oneRow(t, c, "SELECT 'a' < 'b' COLLATE backwards, a FROM t WHERE a = 'c'"), "0|c")
	if err := mustFail(t, c, "INSERT INTO t VALUES('b')"); !errors.Is(err, ErrConstraintUnique) {
		t.Error(err)
	}
	rows := c.Query("SELECT a FROM t")
	rows.Next()
	if err := c.CreateCollation("backwards", nil); !errors.Is(err, ErrBusy) {
		t.Errorf("taken away while a statement runs: %v", err)
	}
	rows.Close()
	noError(t, c.CreateCollation("backwards", nil))
	mustFail(t, c, "SELECT a FROM t ORDER BY a")
}

func TestCollationsAreCalledByTheSortersThreads(t *testing.T) {
	c := open(t)
	calls := 0
	noError(t, c.CreateCollation("counted",
		func(a, b []byte) int { calls++; return bytes.Compare(a, b) }))
	exec(t, c, "PRAGMA threads=4; PRAGMA cache_size=10")
	rows := c.Query("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE " +
		"i<50000) SELECT hex(i*7919%50021)||hex(zeroblob(40)) AS x FROM n ORDER BY x " +
		"COLLATE counted")
	last, n := "", 0
	for rows.Next() {
		if x := rows.Text(0); x < last {
			t.Fatalf("%s behind %s", x, last)
		} else {
			last = x
		}
		n++
	}
	noError(t, rows.Close())
	equal(t, "rows", n, 50000)
	if calls < n {
		t.Errorf("%d comparisons", calls)
	}
}

func TestAPanicInACollationUndoesWhatWasWritten(t *testing.T) {
	c := open(t)
	panics := false
	noError(t, c.CreateCollation("touchy", func(a, b []byte) int {
		if panics {
			panic(fs.ErrInvalid)
		}
		return bytes.Compare(a, b)
	}))
	exec(t, c, "CREATE TABLE t(a TEXT COLLATE touchy); CREATE INDEX i ON t(a); INSERT INTO t "+
		"VALUES('a'),('b'),('c')")
	for _, begin := range []string{"", "BEGIN", "SAVEPOINT s"} {
		for _, sql := range []string{"INSERT INTO t VALUES('bb')", "DELETE FROM t WHERE a='b'",
			"UPDATE t SET a='z' WHERE rowid=1", "SELECT * FROM t WHERE a='b'",
			"INSERT INTO t VALUES('q') RETURNING a"} {
			exec(t, c, begin)
			panics = true
			err := mustFail(t, c, sql)
			var p *PanicError
			if !errors.Is(err, ErrAbort) || !errors.Is(err, fs.ErrInvalid) || !errors.As(err, &p) ||
				p.Callback != "the collation touchy" {
				t.Errorf("%s %s: %v", begin, sql, err)
			}
			err = c.Query(sql).Close()
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s %s: %v", begin, sql, err)
			}
			panics = false
			if c.InTransaction() {
				if !strings.HasPrefix(sql, "SELECT") {
					t.Errorf("%s %s: the transaction is open", begin, sql)
				}
				exec(t, c, "ROLLBACK")
			}
			equal(t, begin+" "+sql, oneRow(t, c, "SELECT group_concat(a) FROM t"), "a,b,c")
			equal(t, begin+" "+sql, oneRow(t, c, "PRAGMA integrity_check"), "ok")
		}
	}
}

func TestHooksAreTold(t *testing.T) {
	c := open(t)
	var told []string
	tell := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
	want := func(what string, list ...string) {
		t.Helper()
		equal(t, what, strings.Join(told, "; "), strings.Join(list, "; "))
		told = nil
	}
	exec(t, c, "CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE TEMP TABLE u(a)")
	noError(t, c.SetUpdateHook(func(op Op, schema, table string, rowid int64) {
		tell("%v %s.%s %d", op, schema, table, rowid)
	}))
	noError(t, c.SetCommitHook(func() error { tell("commit"); return nil }))
	noError(t, c.SetRollbackHook(func() { tell("rollback") }))
	noError(t, c.SetWALHook(func(schema string, pages int) error {
		tell("wal %s %t", schema, pages > 0)
		return nil
	}))
	exec(t, c, "INSERT INTO t VALUES(1, 2), (5, 6)")
	want("insert", "INSERT main.t 1", "INSERT main.t 5", "commit", "wal main true")
	exec(t, c, "BEGIN; UPDATE t SET b=0 WHERE a=5; DELETE FROM t WHERE a=1; INSERT INTO u "+
		"VALUES(1); ROLLBACK")
	want("a transaction", "UPDATE main.t 5", "DELETE main.t 1", "INSERT temp.u 1", "rollback")
	noError(t, c.SetUpdateHook(nil))
	noError(t, c.SetCommitHook(nil))
	noError(t, c.SetRollbackHook(nil))
	noError(t, c.SetWALHook(nil))
	exec(t, c, "BEGIN; DELETE FROM t; ROLLBACK; DELETE FROM t")
	want("no hooks")
	noError(t, c.SetRollbackHook(func() { tell("rollback") }))
	exec(t, c, "BEGIN; INSERT INTO t VALUES(7, 8)")
	noError(t, c.Close())
	want("an open transaction at Close", "rollback")
}

func TestACommitHookMayRefuse(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a)")
	refuse := errors.New("closed on Sundays")
	noError(t, c.SetCommitHook(func() error { return refuse }))
	for _, sql := range []string{"INSERT INTO t VALUES(1)", "BEGIN; INSERT INTO t VALUES(1); COMMIT"} {
		if err := mustFail(t, c, sql); !errors.Is(err, refuse) ||
			!errors.Is(err, ErrConstraintCommitHook) {
			t.Error(err)
		}
	}
	equal(t, "rows", oneRow(t, c, "SELECT count(*) FROM t"), "0")
	noError(t, c.SetCommitHook(func() error { panic("in the hook") }))
	if err := mustFail(t, c, "INSERT INTO t VALUES(1)"); !strings.Contains(err.Error(),
		"the commit hook panicked: in the hook") {
		t.Error(err)
	}
	noError(t, c.SetCommitHook(nil))
	exec(t, c, "INSERT INTO t VALUES(1)")
}

func TestAutomaticCheckpointsGoOnWithAWALHook(t *testing.T) {
	c := open(t)
	exec(t, c, "PRAGMA wal_autocheckpoint=10; CREATE TABLE t(a)")
	most := 0
	noError(t, c.SetWALHook(func(_ string, pages int) error { most = max(most, pages); return nil }))
	for range 100 {
		exec(t, c, "INSERT INTO t VALUES(zeroblob(10000))")
	}
	if most < 10 || most > 40 {
		t.Errorf("%d pages in the log", most)
	}
	noError(t, c.SetWALHook(nil))
	equal(t, "the setting is back", oneRow(t, c, "PRAGMA wal_autocheckpoint"), "10")
	// The hook may use the connection, and its error is the statement's.
	fail := errors.New("no replica")
	noError(t, c.SetWALHook(func(string, int) error {
		return errors.Join(fail, c.Query("SELECT * FROM t").Close())
	}))
	if err := mustFail(t, c, "DELETE FROM t"); !errors.Is(err, fail) {
		t.Error(err)
	}
	equal(t, "it is committed", oneRow(t, c, "SELECT count(*) FROM t"), "0")
	noError(t, c.SetWALHook(func(string, int) error { panic(fail) }))
	if err := mustFail(t, c, "INSERT INTO t VALUES(1)"); !errors.Is(err, fail) {
		t.Error(err)
	}
}

func TestAPreUpdateHookSeesBothRows(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE TABLE l(x); CREATE TRIGGER tr "+
		"AFTER UPDATE ON t BEGIN INSERT INTO l VALUES(1); END")
	var told []string
	var kept *PreUpdate
	err := c.SetPreUpdateHook(func(g *PreUpdate) {
		line := fmt.Sprintf("%v %s.%s %d→%d of %d, depth %d, blob %d:", g.Op, g.Schema, g.Table,
			g.OldRowID, g.NewRowID, g.Columns, g.Depth, g.Blob)
		for i := range g.Columns {
			before, err := g.Old(i)
			if (err == nil) != (g.Op != OpInsert) {
				t.Errorf("old value of %v: %v", g.Op, err)
			}
			after, err := g.New(i)
			if (err == nil) != (g.Op != OpDelete) {
				t.Errorf("new value of %v: %v", g.Op, err)
			}
			line += fmt.Sprintf(" %q>%q", before.Text(), after.Text())
		}
		if _, err := g.New(99); err == nil {
			t.Error("there is a column 99")
		}
		told = append(told, line)
		kept = g
	})
	if err != nil {
		if !strings.Contains(err.Error(), "was compiled without the preupdate hook") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	exec(t, c, "INSERT INTO t VALUES(1, 'one'); UPDATE t SET a=2, b='two'; DELETE FROM t")
	equal(t, "changes", strings.Join(told, "\n"), strings.Join([]string{
		`INSERT main.t 1→1 of 2, depth 0, blob -1: "">"1" "">"one"`,
		`UPDATE main.t 1→2 of 2, depth 0, blob -1: "1">"2" "one">"two"`,
		`INSERT main.l 1→1 of 1, depth 1, blob -1: "">"1"`,
		`DELETE main.t 2→2 of 2, depth 0, blob -1: "2">"" "two">""`,
	}, "\n"))
	if _, err := kept.Old(0); err == nil {
		t.Error("a change is read after its time")
	}
	if _, err := c.NewSession(""); err == nil {
		t.Error("a session beside the hook")
	}
	noError(t, c.SetPreUpdateHook(nil))
	s, err := c.NewSession("")
	if err != nil {
		t.Skip(err)
	}
	if c.SetPreUpdateHook(func(*PreUpdate) {}) == nil {
		t.Error("a hook beside the session")
	}
	s.Close()
}

func TestAnAuthorizerDecides(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a, secret); INSERT INTO t VALUES(1, 2)")
	noError(t, c.SetAuthorizer(func(a Action) Verdict {
		switch {
		case a.Code == ActionRead && a.Arg1 == "t" && a.Arg2 == "secret":
			return Ignore
		case a.Code == ActionDelete && a.Arg1 == "t" && a.Schema == "main":
			return Deny
		case a.Code == ActionFunction && a.Arg2 == "random":
			panic("at random")
		}
		return Allow
	}))
	equal(t, "ignored", oneRow(t, c, "SELECT a, secret FROM t"), "1|-")
	if err := mustFail(t, c, "DELETE FROM t"); !errors.Is(err, ErrAuth) {
		t.Error(err)
	}
	if err := mustFail(t, c, "SELECT random()"); !errors.Is(err, ErrError) &&
		!errors.Is(err, ErrAuth) || !strings.Contains(err.Error(),
		"the authorizer panicked: at random") {
		t.Error(err)
	}
	noError(t, c.SetAuthorizer(nil))
	equal(t, "allowed", oneRow(t, c, "SELECT a, secret FROM t"), "1|2")
}

const endless = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) SELECT " +
	"count(*) FROM n"

func TestAProgressHandlerInterrupts(t *testing.T) {
	c := open(t)
	stop, calls := errors.New("enough"), 0
	noError(t, c.SetProgressHandler(1000, func() error {
		if calls++; calls == 100 {
			return stop
		}
		return nil
	}))
	if err := mustFail(t, c, endless); !errors.Is(err, ErrInterrupt) || !errors.Is(err, stop) {
		t.Error(err)
	}
	noError(t, c.SetProgressHandler(1000, func() error { panic("tired") }))
	if err := mustFail(t, c, endless); !strings.Contains(err.Error(),
		"the progress handler panicked: tired") {
		t.Error(err)
	}
	if c.SetProgressHandler(0, func() error { return nil }) == nil {
		t.Error("each 0 instructions")
	}
	noError(t, c.SetProgressHandler(0, nil))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	defer c.Until(ctx)()
	if err := mustFail(t, c, endless); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestStatementsAreTraced(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a); CREATE TABLE u(a); CREATE TRIGGER tr AFTER INSERT ON t BEGIN "+
		"INSERT INTO u VALUES(1); END")
	var told []string
	var kept *Trace
	noError(t, c.SetTrace(TraceStmt|TraceProfile|TraceRow, func(e *Trace) {
		told = append(told, fmt.Sprintf("%d %s %s %t", e.Event, e.SQL, e.ExpandedSQL(), e.Duration > 0))
		kept = e
	}))
	exec(t, c, "INSERT INTO t VALUES(?)", "x")
	equal(t, "a trigger", strings.Join(told[:2], "; "), "1 INSERT INTO t VALUES(?) INSERT INTO t "+
		"VALUES('x') false; 1 -- TRIGGER tr INSERT INTO t VALUES('x') false")
	if last := told[len(told)-1]; !strings.HasPrefix(last, "2 INSERT INTO t VALUES(?)") {
		t.Error(last)
	}
	told = nil
	oneRow(t, c, "SELECT ?", 5)
	equal(t, "a query", strings.Join(told[:2], "; "),
		"1 SELECT ? SELECT 5 false; 4 SELECT ? SELECT 5 false")
	equal(t, "after its time", kept.ExpandedSQL(), "")
	noError(t, c.SetTrace(0, nil))
	told = nil
	oneRow(t, c, "SELECT 1")
	equal(t, "no trace", len(told), 0)
}

func TestABusyHandlerWaits(t *testing.T) {
	name := filepath.Join(t.TempDir(), "busy.db")
	one, err := Open(name)
	noError(t, err)
	defer one.Close()
	two, err := Open(name)
	noError(t, err)
	defer two.Close()
	exec(t, one, "CREATE TABLE t(a); BEGIN IMMEDIATE")
	calls := 0
	noError(t, two.SetBusyHandler(func(count int) bool {
		equal(t, "count", count, calls)
		calls++
		if calls == 3 {
			exec(t, one, "COMMIT")
		}
		return true
	}))
	two.SetBusyTimeout(time.Second)
	oneRow(t, two, "PRAGMA busy_timeout")
	exec(t, two, "INSERT INTO t VALUES(1)")
	equal(t, "calls", calls, 3)

	exec(t, one, "BEGIN IMMEDIATE")
	noError(t, two.SetBusyHandler(func(int) bool { return false }))
	if err := mustFail(t, two, "INSERT INTO t VALUES(1)"); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	noError(t, two.SetBusyHandler(func(int) bool { panic("no patience") }))
	if err := mustFail(t, two, "INSERT INTO t VALUES(1)"); !errors.Is(err, ErrBusy) ||
		!strings.Contains(err.Error(), "the busy handler panicked: no patience") {
		t.Error(err)
	}
	noError(t, two.SetBusyHandler(func(int) bool { return true }))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	stop := two.Until(ctx)
	if err := mustFail(t, two, "INSERT INTO t VALUES(1)"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	stop()
	noError(t, two.SetBusyHandler(nil))
	two.SetBusyTimeout(0)
	if err := mustFail(t, two, "INSERT INTO t VALUES(1)"); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	exec(t, one, "COMMIT")
}

func TestAPanicInAHookUndoesTheStatement(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a)")
	panics := func() { panic(fs.ErrPermission) }
	for name, set := range map[string]func(on bool) error{
		"the update hook": func(on bool) error {
			hooks := map[bool]func(Op, string, string, int64){
				true: func(Op, string, string, int64) { panics() },
			}
			return c.SetUpdateHook(hooks[on])
		},
		"the preupdate hook": func(on bool) error {
			return c.SetPreUpdateHook(map[bool]func(*PreUpdate){true: func(*PreUpdate) { panics() }}[on])
		},
		"the trace hook": func(on bool) error {
			return c.SetTrace(TraceStmt, map[bool]func(*Trace){true: func(e *Trace) {
				if strings.HasPrefix(e.SQL, "INSERT") {
					panics()
				}
			}}[on])
		},
	} {
		for _, begin := range []string{"", "BEGIN"} {
			exec(t, c, begin)
			if err := set(true); err != nil {
				t.Log(err)
				exec(t, c, map[string]string{"BEGIN": "ROLLBACK"}[begin])
				continue
			}
			err := mustFail(t, c, "INSERT INTO t VALUES(1)")
			var p *PanicError
			if !errors.As(err, &p) || p.Callback != name || !errors.Is(err, fs.ErrPermission) ||
				!errors.Is(err, ErrAbort) {
				t.Errorf("%s: %v", name, err)
			}
			noError(t, set(false))
			equal(t, name+" "+begin+": transaction", c.InTransaction(), false)
			equal(t, name+" "+begin, oneRow(t, c, "SELECT count(*) FROM t"), "0")
		}
	}
	noError(t, c.SetRollbackHook(panics))
	if err := mustFail(t, c, "BEGIN; ROLLBACK"); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	exec(t, c, "BEGIN; INSERT INTO t VALUES(1)")
	if err := c.Close(); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Close: %v", err)
	}
}

func TestAPanicInAHookUndoesWhatABlobHandleWrote(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a); INSERT INTO t VALUES(x'00')")
	if err := c.SetPreUpdateHook(func(*PreUpdate) { stackUser(1000); panic(fs.ErrPermission) }); err != nil {
		t.Skip(err)
	}
	for _, begin := range []string{"", "BEGIN"} {
		exec(t, c, begin)
		b, err := c.OpenBlob("", "t", "a", 1, true)
		noError(t, err)
		if _, err := b.Write([]byte{1}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", begin, err)
		}
		b.Close()
		if c.InTransaction() {
			exec(t, c, "ROLLBACK")
		}
		equal(t, begin, oneRow(t, c, "SELECT hex(a) FROM t"), "00")
	}
}

func TestAHookCannotUseItsConnection(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a)")
	s, err := c.Prepare("SELECT 1 UNION SELECT 2")
	noError(t, err)
	rows := c.Query("SELECT 3")
	var got []error
	noError(t, c.SetUpdateHook(func(Op, string, string, int64) {
		_, err := c.Exec("SELECT 1")
		got = append(got, err, s.Query().Close(), s.Close(), rows.Close(), c.SetCommitHook(nil),
			c.CreateFunction("f", func() {}, 0), c.Close())
	}))
	exec(t, c, "INSERT INTO t VALUES(1)")
	equal(t, "attempts", len(got), 7)
	for i, err := range got {
		if err == nil || !strings.Contains(err.Error(), "the connection that calls it") {
			t.Errorf("%d: %v", i, err)
		}
	}
	noError(t, rows.Close())
	equal(t, "the statement goes on", oneRow(t, c, "SELECT count(*) FROM t"), "1")
	n := 0
	for rows := s.Query(); rows.Next(); n++ {
	}
	equal(t, "rows", n, 2)
	noError(t, s.Close())
}

func TestAGoroutineThatEndsInACallbackTakesItsConnectionAlong(t *testing.T) {
	c, err := Open(":memory:")
	noError(t, err)
	noError(t, c.CreateFunction("leave", func() { runtime.Goexit() }, 0))
	left := make(chan bool)
	go func() {
		defer close(left)
		c.Exec("SELECT leave()")
	}()
	<-left
	if _, err := c.Exec("SELECT 1"); err == nil ||
		!strings.Contains(err.Error(), "ended its goroutine") {
		t.Error(err)
	}
	if err := c.Close(); err == nil {
		t.Error("it is closed")
	}
}
