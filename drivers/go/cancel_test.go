package hpsqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// forever is a query whose rows never end, and countForever one whose only row never comes.
const (
	forever      = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) SELECT i FROM n"
	countForever = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) SELECT " +
		"count(*) FROM n"
	soon = 20 * time.Millisecond
)

// within fails the test if f does not return: what is asked for is that it does, not how quickly.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: the context does not end it", what)
	}
}

func interrupted(t *testing.T, what string, err, cause error) {
	t.Helper()
	if !errors.Is(err, cause) || !errors.Is(err, ErrInterrupt) {
		t.Errorf("%s: %v; want %v and ErrInterrupt", what, err, cause)
	}
}

// A context that is cancelled ends the statement wherever it is, and the connection, the
// only one, goes on.
func TestContextEndsTheStatementThatRuns(t *testing.T) {
	db := openDB(t)
	db.SetMaxOpenConns(1)
	must(t, db, "CREATE TABLE t(a)")
	for what, run := range map[string]func(ctx context.Context) error{
		"Exec": func(ctx context.Context) error {
			_, err := db.ExecContext(ctx, "INSERT INTO t "+countForever)
			return err
		},
		"Query before the first row": func(ctx context.Context) error {
			_, err := db.QueryContext(ctx, countForever)
			return err
		},
		"Next": func(ctx context.Context) error {
			rows, err := db.QueryContext(ctx, "SELECT 1 UNION ALL SELECT * FROM ("+countForever+")")
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
			}
			return rows.Err()
		},
		"a prepared statement": func(ctx context.Context) error {
			s, err := db.Prepare(countForever)
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = s.ExecContext(ctx)
			return err
		},
		"the second of a script": func(ctx context.Context) error {
			_, err := db.ExecContext(ctx, "SELECT 1; "+countForever+"; INSERT INTO t VALUES(1)")
			return err
		},
		"a transaction": func(ctx context.Context) error {
			tx, err := db.Begin()
			if err != nil {
				return err
			}
			defer tx.Rollback()
			must(t, tx, "INSERT INTO t VALUES(1)")
			_, err = tx.ExecContext(ctx, countForever)
			if err != nil && one(t, tx, "SELECT count(*) FROM t") != any(int64(1)) {
				t.Error("the transaction is not what it was")
			}
			return err
		},
	} {
		within(t, what, func() {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(soon, cancel)
			err := run(ctx)
			if what == "Next" && errors.Is(err, context.Canceled) {
				return // database/sql closes the rows itself, and has its own word for it
			}
			interrupted(t, what, err, context.Canceled)
		})
		within(t, what, func() {
			ctx, cancel := context.WithTimeout(context.Background(), soon)
			defer cancel()
			if err := run(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, deadline: %v", what, err)
			}
		})
		equal(t, what+": afterwards", one(t, db, "SELECT count(*) FROM t"), any(int64(0)))
	}
	// A context that is done already begins nothing.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := db.ExecContext(ctx, "INSERT INTO t VALUES(1)"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	equal(t, "rows", one(t, db, "SELECT count(*) FROM t"), any(int64(0)))
}

func TestRowsThatNeverEndAreCancelled(t *testing.T) {
	db := openDB(t)
	within(t, "Next", func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		rows, err := db.QueryContext(ctx, forever)
		if err != nil {
			t.Error(err)
			return
		}
		defer rows.Close()
		for n := 0; rows.Next(); n++ {
			if n == 10_000 {
				cancel()
			}
		}
		if err := rows.Err(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestContextEndsWaitingForALock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	holder := openDSN(t, path)
	must(t, holder, "CREATE TABLE t(a)")
	tx, err := holder.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	db := openDSN(t, path+"?_busy_timeout=600000")
	for what, run := range map[string]func(ctx context.Context) error{
		"Begin": func(ctx context.Context) error { _, err := db.BeginTx(ctx, nil); return err },
		"Exec": func(ctx context.Context) error {
			_, err := db.ExecContext(ctx, "INSERT INTO t VALUES(1)")
			return err
		},
		"Query": func(ctx context.Context) error {
			_, err := db.QueryContext(ctx, "INSERT INTO t VALUES(1) RETURNING a")
			return err
		},
		"after PRAGMA busy_timeout": func(ctx context.Context) error {
			_, err := db.ExecContext(ctx, "PRAGMA busy_timeout=500000; INSERT INTO t VALUES(1)")
			return err
		},
	} {
		within(t, what, func() {
			ctx, cancel := context.WithTimeout(context.Background(), soon)
			defer cancel()
			err := run(ctx)
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrBusy) &&
				!errors.Is(err, ErrInterrupt) {
				t.Errorf("%s: %v", what, err)
			}
		})
		equal(t, what+": it can be read", one(t, db, "SELECT count(*) FROM t"), any(int64(0)))
	}
}

// A connection's settings may need a lock too.
func TestContextEndsOpening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	c, err := Open(path + "?_defaults=off")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	exec(t, c, "CREATE TABLE t(a); BEGIN EXCLUSIVE")
	db := openDSN(t, path+"?_busy_timeout=600000")
	within(t, "Connect", func() {
		ctx, cancel := context.WithTimeout(context.Background(), soon)
		defer cancel()
		if err := db.PingContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// Until is for what has no context of its own: the direct interface.
func TestUntilEndsExecMany(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a)")
	s, err := c.Prepare("INSERT INTO t VALUES(?)")
	if err != nil {
		t.Fatal(err)
	}
	for _, begin := range []string{"", "BEGIN; INSERT INTO t VALUES(-1)"} {
		exec(t, c, begin)
		ctx, cancel := context.WithCancel(context.Background())
		stop := c.Until(ctx)
		within(t, "ExecMany", func() {
			_, err := s.ExecMany(1<<40, func(i int) {
				s.BindInt64(1, int64(i))
				if i == 100_000 {
					cancel()
				}
			})
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		if _, err := c.Exec("SELECT 1"); !errors.Is(err, context.Canceled) {
			t.Errorf("before stop: %v", err)
		}
		stop()
		equal(t, "in a transaction", c.InTransaction(), begin != "")
		want := "0"
		if begin != "" {
			want = "1"
		}
		equal(t, "rows", texts(t, c, "SELECT count(*) FROM t")[0], want)
	}
	exec(t, c, "ROLLBACK")
	for what, run := range map[string]func() error{
		"Query": func() error { return c.Query(countForever).Close() },
		"Exec":  func() error { _, err := c.Exec(countForever); return err },
		"Next": func() error {
			rows := c.Query("SELECT 1 UNION ALL SELECT * FROM (" + countForever + ")")
			for rows.Next() {
			}
			return rows.Close()
		},
	} {
		within(t, what, func() {
			ctx, cancel := context.WithTimeout(context.Background(), soon)
			defer cancel()
			stop := c.Until(ctx)
			interrupted(t, what, run(), context.DeadlineExceeded)
			stop()
		})
		equal(t, what+": afterwards", texts(t, c, "SELECT 1")[0], "1")
	}
}

func TestInterruptFromAnotherGoroutine(t *testing.T) {
	c := open(t)
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				c.Interrupt()
			}
		}
	}()
	within(t, "Interrupt", func() {
		if err := c.Query(countForever).Close(); !errors.Is(err, ErrInterrupt) ||
			errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	close(stop)
	<-ended
	equal(t, "afterwards", texts(t, c, "SELECT 1")[0], "1")
}

// Contexts are cancelled just when statements end: what comes next on the connection, with a
// context that nobody cancels, is never hit.
func TestALateCancelHitsNothingElse(t *testing.T) {
	db := openDB(t)
	db.SetMaxOpenConns(1)
	must(t, db, "CREATE TABLE t(a INTEGER PRIMARY KEY)")
	quiet, done := context.WithCancel(context.Background())
	defer done()
	for i := range 2000 {
		ctx, cancel := context.WithCancel(context.Background())
		go cancel()
		if _, err := db.ExecContext(ctx, "INSERT INTO t VALUES(?)", i); err != nil &&
			!errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if rows, err := db.QueryContext(ctx, "SELECT a FROM t"); err == nil {
			for rows.Next() {
			}
			if err := rows.Close(); err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		} else if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(quiet, "INSERT OR REPLACE INTO t VALUES(?)", i); err != nil {
			t.Fatalf("after %d: %v", i, err)
		}
		cancel()
	}
	equal(t, "rows", one(t, db, "SELECT count(*) FROM t"), any(int64(2000)))
}

// In a transaction rows of one context are open while a statement of another runs.
func TestACancelHitsOnlyItsOwnStatement(t *testing.T) {
	c := open(t)
	k := &sqlConn{c: c}
	exec(t, c, "CREATE TABLE t(a INTEGER PRIMARY KEY); WITH RECURSIVE n(i) AS (VALUES(1) UNION "+
		"ALL SELECT i+1 FROM n WHERE i<1000) INSERT INTO t SELECT i FROM n")
	for range 50 {
		ctx, cancel := context.WithCancel(context.Background())
		s, _, err := c.take("SELECT a FROM t")
		if err != nil {
			t.Fatal(err)
		}
		rows := s.query(ctx, nil)
		rows.Next()
		time.AfterFunc(time.Millisecond, cancel)
		// It runs for a while longer than that.
		other, err := k.QueryContext(context.Background(), "SELECT count(*) FROM t a, t b", nil)
		if err != nil {
			t.Fatalf("a statement without a context: %v", err)
		}
		other.Close()
		<-ctx.Done()
		n := 0
		for rows.Next() {
			n++
		}
		if n < 998 { // else they were there before
			interrupted(t, "rows", rows.Err(), context.Canceled)
		}
		rows.Close()
		s.release()
		equal(t, "afterwards", texts(t, c, "SELECT count(*) FROM t")[0], "1000")
	}
}

func TestCancelledTransactionsAreRolledBack(t *testing.T) {
	db := openDB(t)
	db.SetMaxOpenConns(1)
	must(t, db, "CREATE TABLE t(a)")
	for range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		must(t, tx, "INSERT INTO t VALUES(1)")
		rows, err := tx.QueryContext(ctx, "SELECT a FROM t, t x, t y")
		if err == nil {
			rows.Next()
		}
		cancel()
		if err := tx.Commit(); err == nil {
			t.Error("a cancelled transaction is committed")
		} else if !errors.Is(err, context.Canceled) && !errors.Is(err, sql.ErrTxDone) {
			t.Error(err)
		}
		equal(t, "rows", one(t, db, "SELECT count(*) FROM t"), any(int64(0)))
	}
}
