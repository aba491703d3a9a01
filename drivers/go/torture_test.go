package hpsqlite

import (
	"context"
	"database/sql"
	"errors"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// expected says whether an error is one that cancelling, closing and locking bring about.
func expected(err error) bool {
	for _, want := range []error{nil, context.Canceled, context.DeadlineExceeded, ErrInterrupt,
		ErrBusy, sql.ErrTxDone, sql.ErrNoRows, sql.ErrConnDone} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

// settles waits until no goroutine is left that was not there before.
func settles(t *testing.T, before int) {
	t.Helper()
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before,
		buf[:runtime.Stack(buf, true)])
}

// Many goroutines use few connections, cancel, close early and leave rows unread, at random. Each
// query checks its rows; at the end the counter is what was committed, and nothing is left behind.
func TestTorture(t *testing.T) {
	goroutines, memory := runtime.NumGoroutine(), MemoryUsed()
	var committed, maybe atomic.Int64
	func() {
		db, err := sql.Open("hpsqlite",
			t.TempDir()+"/test.db?_pragma=wal_autocheckpoint(50)&_busy_timeout=200&_stmt_cache=5")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(5)
		must(t, db, "CREATE TABLE n(n); INSERT INTO n VALUES(0)")
		must(t, db, "CREATE TABLE t(id INTEGER PRIMARY KEY, s TEXT); WITH RECURSIVE n(i) AS "+
			"(VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<3000) INSERT INTO t SELECT i, "+
			"hex(zeroblob(i%50))||i FROM n")
		shared, err := db.Prepare("SELECT id, s FROM t WHERE id>=? ORDER BY id LIMIT ?")
		if err != nil {
			t.Fatal(err)
		}
		defer shared.Close()
		read := func(rows *sql.Rows, err error, first, most int) error {
			if err != nil {
				return err
			}
			defer rows.Close()
			for i := first; rows.Next(); i++ {
				var id int
				var s string
				if err := rows.Scan(&id, &s); err != nil {
					return err
				}
				if id != i || len(s) != 2*(id%50)+len(strconv.Itoa(id)) {
					t.Errorf("row %d is %d %q", i, id, s)
				}
				if i-first > most {
					return nil
				}
			}
			return rows.Err()
		}
		var wg sync.WaitGroup
		for seed := range 16 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				r := rand.New(rand.NewSource(int64(seed)))
				for range 60 {
					ctx, cancel := context.WithCancel(context.Background())
					switch r.Intn(4) {
					case 0:
						go cancel()
					case 1:
						time.AfterFunc(time.Duration(r.Intn(2000))*time.Microsecond, cancel)
					}
					first, most := 1+r.Intn(2000), r.Intn(900)
					var err error
					switch r.Intn(7) {
					case 0:
						rows, e := shared.QueryContext(ctx, first, 1000)
						err = read(rows, e, first, most)
					case 1:
						rows, e := db.QueryContext(ctx, "SELECT id, s FROM t WHERE id>="+strconv.Itoa(first%7), 0)
						if err = e; err == nil {
							t.Error("a parameter too many")
							rows.Close()
						} else if !expected(err) {
							err = nil
						}
					case 2:
						rows, e := db.QueryContext(ctx, "SELECT id, s FROM t WHERE id>="+strconv.Itoa(first%7))
						err = read(rows, e, first%7+btoi(first%7 == 0), most)
					case 3:
						_, err = db.ExecContext(ctx, "SELECT max(a.id*b.id) FROM t a, t b WHERE b.id<50")
					case 4, 5:
						err = func() error {
							tx, err := db.BeginTx(ctx, nil)
							if err != nil {
								return err
							}
							defer tx.Rollback()
							if _, err := tx.ExecContext(ctx, "UPDATE n SET n=n+1"); err != nil {
								return err
							}
							rows, err := tx.StmtContext(ctx, shared).QueryContext(ctx, first, 1000)
							if err != nil && ctx.Err() != nil {
								return ctx.Err() // database/sql may have closed the statement by then
							}
							if err := read(rows, err, first, most); err != nil {
								return err
							}
							if r.Intn(4) == 0 {
								return tx.Rollback()
							}
							maybe.Add(1)
							if err := tx.Commit(); err != nil {
								return err
							}
							committed.Add(1)
							return nil
						}()
					case 6:
						conn, e := db.Conn(ctx)
						if err = e; err == nil {
							err = Raw(conn, func(c *Conn) error {
								wg.Add(1) // one that comes late must not meet the checks at the end
								go func() {
									defer wg.Done()
									c.Interrupt()
								}()
								rows := c.Query("SELECT id, s FROM t")
								for i := 1; rows.Next() && i < most; i++ {
									if rows.Int64(0) != int64(i) {
										t.Errorf("row %d is %d", i, rows.Int64(0))
									}
								}
								return rows.Close()
							})
							if r.Intn(3) == 0 {
								conn.Raw(func(any) error { return sql.ErrConnDone })
							}
							conn.Close()
						}
					}
					if !expected(err) {
						t.Error(err)
					}
					cancel()
				}
			}()
		}
		wg.Wait()
		n := one(t, db, "SELECT n FROM n").(int64)
		if n < committed.Load() || n > maybe.Load() {
			t.Errorf("the counter is %d; %d commits succeeded, %d were tried", n, committed.Load(),
				maybe.Load())
		}
		equal(t, "whole", one(t, db, "PRAGMA integrity_check"), any("ok"))
		if committed.Load() == 0 {
			t.Error("nothing was committed")
		}
	}()
	settles(t, goroutines)
	if used := MemoryUsed(); used > memory {
		t.Errorf("SQLite has %d bytes more than before", used-memory)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// The direct interface: one goroutine works, another interrupts and cancels, a third closes.
func TestTortureOfConnections(t *testing.T) {
	goroutines, memory := runtime.NumGoroutine(), MemoryUsed()
	for seed := range 60 {
		r := rand.New(rand.NewSource(int64(seed)))
		c, err := Open(":memory:")
		if err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
					c.Interrupt()
					time.Sleep(100 * time.Microsecond)
				}
			}
		}()
		var open []*Rows
		for range 60 {
			ctx, cancel := context.WithTimeout(context.Background(),
				time.Duration(r.Intn(1000))*time.Microsecond)
			end := c.Until(ctx)
			switch r.Intn(5) {
			case 0:
				c.Exec("CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES(?)", r.Int())
			case 1:
				rows := c.Query(forever)
				for i := range int64(r.Intn(5000)) {
					if !rows.Next() {
						break
					}
					if rows.Int64(0) != i+1 {
						t.Errorf("row %d is %d", i+1, rows.Int64(0))
					}
				}
				open = append(open, rows)
			case 2:
				if err := c.Query("SELECT count(*) FROM (" + forever +
					" LIMIT 20000)").Close(); !expected(err) {
					t.Error(err)
				}
			case 3:
				if s, err := c.Prepare("INSERT INTO t VALUES(?)"); err == nil {
					s.ExecMany(r.Intn(3000), func(i int) { s.BindText(1, strconv.Itoa(i)) })
					s.Close()
				}
			case 4:
				for _, rows := range open {
					rows.Close()
				}
				open = open[:0]
			}
			cancel()
			end()
		}
		if err := c.Close(); err != nil { // with whatever is open
			t.Error(err)
		}
		c.Interrupt()
		close(stop)
		wg.Wait()
	}
	settles(t, goroutines)
	if used := MemoryUsed(); used > memory {
		t.Errorf("SQLite has %d bytes more than before", used-memory)
	}
}

// Queries of all kinds, over and over, leave nothing allocated: 100,000 of them, or as many as
// HPSQLITE_TEST_QUERIES says.
func TestNothingLeaks(t *testing.T) {
	queries := 100_000
	if n, err := strconv.Atoi(os.Getenv("HPSQLITE_TEST_QUERIES")); err == nil {
		queries = n
	}
	goroutines := runtime.NumGoroutine()
	c := open(t, "_stmt_cache=4")
	exec(t, c, "CREATE TABLE t(id INTEGER PRIMARY KEY, s TEXT, b BLOB); WITH RECURSIVE n(i) AS "+
		"(VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<100) INSERT INTO t SELECT i, 's'||i, "+
		"zeroblob(i) FROM n")
	db := openDB(t)
	db.SetMaxOpenConns(1)
	must(t, db, "CREATE TABLE t(id INTEGER PRIMARY KEY, s TEXT); INSERT INTO t VALUES(1,'one')")
	big := make([]byte, farArg+1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	round := func(i int) {
		switch i % 10 {
		case 0, 1, 2: // from the cache
			rows := c.Query("SELECT s, b FROM t WHERE id=?", i%100+1)
			if !rows.Next() || rows.Text(0) != "s"+strconv.Itoa(i%100+1) {
				t.Fatal(rows.Err())
			}
			rows.Close()
		case 3: // not from the cache
			c.Query("SELECT s FROM t WHERE id=" + strconv.Itoa(i)).Close()
		case 4: // left in the middle
			rows := c.Query("SELECT * FROM t")
			rows.Next()
			rows.Close()
		case 5, 6:
			var s string
			if err := db.QueryRowContext(ctx, "SELECT s FROM t WHERE id=?", 1).Scan(&s); err != nil {
				t.Fatal(err)
			}
		case 7:
			if _, err := db.Exec("SELECT ?, ?", "text", i); err != nil {
				t.Fatal(err)
			}
		case 8: // errors
			c.Exec("SELECT nope")
			c.Exec("INSERT INTO t(id) VALUES(1)")
			db.Exec("SELECT ?")
		case 9:
			if i%1000 == 9 {
				c.Exec("SELECT length(?)", big)
				c.Query("SELECT ?, ?", big, string(big)).Close()
				c.Query("SELECT ?, ?", big).Close()
			}
		}
	}
	for i := range 3000 {
		round(i)
	}
	memory := MemoryUsed()
	rss := residentBytes()
	for i := range queries {
		round(i)
	}
	if used := MemoryUsed(); used > memory+64<<10 {
		t.Errorf("SQLite has %d bytes more after %d queries", used-memory, queries)
	}
	if now := residentBytes(); now > rss+64<<20 {
		t.Errorf("the process has %d MB more after %d queries", (now-rss)>>20, queries)
	}
	settles(t, goroutines+1) // database/sql has one of its own
}

// residentBytes is what the process has in memory; 0 where that is not known.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var pages int64
	field := 0
	for _, b := range text {
		if b == ' ' {
			field++
		} else if field == 1 {
			pages = 10*pages + int64(b-'0')
		}
	}
	return pages * int64(os.Getpagesize())
}
