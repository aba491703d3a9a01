package pool

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	hpsqlite "github.com/hpsqlite/hpsqlite/drivers/go"
)

var background = context.Background()

func open(t testing.TB, dsn string, o Options) *Pool {
	t.Helper()
	p, err := Open(dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil && err != ErrClosed {
			t.Error(err)
		}
	})
	return p
}

func file(t testing.TB) string { return filepath.Join(t.TempDir(), "pool.db") }

func write(t testing.TB, p *Pool, sql string, args ...any) {
	t.Helper()
	err := p.Write(background, func(c *hpsqlite.Conn) error {
		_, err := c.Exec(sql, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func number(c *hpsqlite.Conn, sql string) (n int64, err error) {
	rows := c.Query(sql)
	if rows.Next() {
		n = rows.Int64(0)
	}
	return n, rows.Close()
}

func read(t testing.TB, p *Pool, sql string) (n int64) {
	t.Helper()
	err := p.Read(background, func(c *hpsqlite.Conn) (err error) {
		n, err = number(c, sql)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestManyReadAndWriteAtOnce(t *testing.T) {
	for name, dsn := range map[string]string{"file": file(t), "memory": ":memory:",
		"rollback journal": file(t) + "?_pragma=journal_mode(delete)&_pragma=synchronous(off)"} {
		t.Run(name, func(t *testing.T) {
			p := open(t, dsn, Options{Readers: 3})
			write(t, p, "CREATE TABLE t(a)")
			const goroutines = 1000
			var wg sync.WaitGroup
			for i := range goroutines {
				wg.Add(1)
				go func() {
					defer wg.Done()
					ctx, cancel := context.WithCancel(background)
					defer cancel()
					err := p.Write(ctx, func(c *hpsqlite.Conn) error {
						// A read before the write is what fails without BEGIN IMMEDIATE.
						n, err := number(c, "SELECT count(*) FROM t")
						if err != nil {
							return err
						}
						_, err = c.Exec("INSERT INTO t VALUES(?)", n)
						return err
					})
					if err == nil {
						err = p.Snapshot(ctx, func(c *hpsqlite.Conn) error {
							n, err := number(c, "SELECT count(*) FROM t")
							if err != nil {
								return err
							}
							top, err := number(c, "SELECT max(a)+1 FROM t")
							if n != top {
								t.Errorf("goroutine %d: two states: %d and %d", i, n, top)
							}
							return err
						})
					}
					if err != nil {
						t.Error(err)
					}
				}()
			}
			wg.Wait()
			if n := read(t, p, "SELECT count(DISTINCT a) FROM t"); n != goroutines {
				t.Errorf("%d rows", n)
			}
		})
	}
}

func TestReadersCannotWrite(t *testing.T) {
	for _, dsn := range []string{file(t), ":memory:"} {
		p := open(t, dsn, Options{})
		write(t, p, "CREATE TABLE t(a)")
		err := p.Read(background, func(c *hpsqlite.Conn) error {
			_, err := c.Exec("INSERT INTO t VALUES(1)")
			return err
		})
		if !errors.Is(err, hpsqlite.ErrReadOnly) {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	path := file(t)
	open(t, path, Options{})
	p := open(t, path+"?mode=ro", Options{})
	if err := p.Write(background, func(*hpsqlite.Conn) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "mode=ro") {
		t.Error(err)
	}
}

func TestPoolsShareADatabaseInMemoryThatHasAName(t *testing.T) {
	for dsn, want := range map[string]int64{
		":memory:":                         0,
		"file::memory:?cache=shared":       0,
		"file:?mode=memory":                0,
		"file:pools?mode=memory":           1,
		"file:/more?mode=memory":           1,
		"file:x?mode=memory&cache=private": 1,
	} {
		p, other := open(t, dsn, Options{}), open(t, dsn, Options{})
		write(t, p, "CREATE TABLE t(a)")
		if n := read(t, other, "SELECT count(*) FROM sqlite_schema"); n != want {
			t.Errorf("%s: another pool finds %d tables, not %d", dsn, n, want)
		}
	}
}

func TestAFileIsAttachedToAPoolInMemory(t *testing.T) {
	path := file(t)
	write(t, open(t, path, Options{}), "CREATE TABLE t(a)")
	p := open(t, ":memory:", Options{})
	err := p.Writer(background, func(c *hpsqlite.Conn) error {
		_, err := c.Exec("ATTACH '" + path + "' AS file; INSERT INTO file.t VALUES(7); DETACH file")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := read(t, open(t, path, Options{}), "SELECT a FROM t"); n != 7 {
		t.Errorf("the file has %d", n)
	}
}

func TestWritersComeInTheOrderOfArrival(t *testing.T) {
	p := open(t, ":memory:", Options{})
	const n = 50
	var order []int
	var wg sync.WaitGroup
	err := p.Writer(background, func(*hpsqlite.Conn) error {
		for i := range n {
			wg.Add(1)
			go func() {
				defer wg.Done()
				p.Writer(background, func(*hpsqlite.Conn) error {
					order = append(order, i)
					return nil
				})
			}()
			waitFor(p.writer, i+1)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for i := range n {
		if order[i] != i {
			t.Fatalf("order %v", order)
		}
	}
}

// together calls f in n goroutines; the group ends with them.
func together(wg *sync.WaitGroup, n int, f func()) {
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f()
		}()
	}
}

// rests sees to it that nobody has or waits for one of the queue's connections, and that none
// is lost.
func rests(t *testing.T, q *queue, most int) {
	t.Helper()
	if q.out != 0 || q.first != nil || q.woken || len(q.free)+q.unmade != most {
		t.Errorf("%d out, %d free, %d unmade of %d, woken: %v", q.out, len(q.free), q.unmade, most,
			q.woken)
	}
}

func TestReadersAreNotOvertakenForLong(t *testing.T) {
	p := open(t, ":memory:", Options{Readers: 2})
	var got atomic.Int64
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	const most = 5
	together(&wg, 20, func() {
		for own := 0; own < most && ctx.Err() == nil; own++ {
			// They keep a connection for longer than overtaking is allowed.
			err := p.Read(ctx, func(*hpsqlite.Conn) error { time.Sleep(2 * overtaking); return nil })
			if err != nil {
				t.Error(err)
			}
			got.Add(1)
		}
	})
	// These are quick, and ask again at once.
	together(&wg, 4, func() {
		for got.Load() < 20*most && ctx.Err() == nil {
			p.Read(ctx, func(*hpsqlite.Conn) error { return nil })
		}
	})
	wg.Wait()
	if n := got.Load(); n != 20*most || len(p.readers.free) != 2 {
		t.Errorf("%d turns of %d, and %d free connections of 2", n, 20*most, len(p.readers.free))
	}
	rests(t, p.readers, 2)
}

func TestNobodyIsLostWhoIsWokenAndCancelled(t *testing.T) {
	p := open(t, ":memory:", Options{Readers: 2})
	var wg sync.WaitGroup
	var done atomic.Int64
	together(&wg, 16, func() {
		for i := range 500 {
			ctx, cancel := context.WithTimeout(background, time.Duration(i%7)*10*time.Microsecond)
			if p.Read(ctx, func(*hpsqlite.Conn) error { return nil }) == nil {
				done.Add(1)
			}
			cancel()
		}
	})
	wg.Wait()
	if n := read(t, p, "SELECT 1"); n != 1 || done.Load() == 0 {
		t.Errorf("%d after %d", n, done.Load())
	}
	rests(t, p.readers, 2)
}

// waitFor returns when n wait in the queue.
func waitFor(q *queue, n int) {
	for {
		q.mu.Lock()
		have := 0
		for w := q.first; w != nil; w = w.next {
			have++
		}
		q.mu.Unlock()
		if have == n {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}

func TestWhatFailsIsUndone(t *testing.T) {
	p := open(t, file(t), Options{})
	write(t, p, "CREATE TABLE t(a)")
	stop := errors.New("stop")
	insert := func(c *hpsqlite.Conn) {
		if _, err := c.Exec("INSERT INTO t VALUES(1)"); err != nil {
			t.Error(err)
		}
	}
	if err := p.Write(background,
		func(c *hpsqlite.Conn) error { insert(c); return stop }); err != stop {
		t.Error(err)
	}
	func() {
		defer func() {
			if recover() != stop {
				t.Error("the panic did not come through")
			}
		}()
		p.Write(background, func(c *hpsqlite.Conn) error { insert(c); panic(stop) })
	}()
	ctx, cancel := context.WithCancel(background)
	err := p.Write(ctx, func(c *hpsqlite.Conn) error {
		insert(c)
		cancel()
		_, err := number(c, "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) "+
			"SELECT count(*) FROM n")
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := p.Writer(background, func(c *hpsqlite.Conn) error {
		_, err := c.Exec("BEGIN; INSERT INTO t VALUES(1)")
		return err
	}); err == nil || !strings.Contains(err.Error(), "left open: a transaction") {
		t.Error(err)
	}
	if n := read(t, p, "SELECT count(*) FROM t"); n != 0 {
		t.Errorf("%d rows", n)
	}
	write(t, p, "INSERT INTO t VALUES(1)")
}

func TestWhatIsLeftOpenIsClosedAndTold(t *testing.T) {
	p := open(t, file(t), Options{Readers: 1})
	write(t, p, "CREATE TABLE t(a); INSERT INTO t VALUES(1),(2)")
	err := p.Read(background,
		func(c *hpsqlite.Conn) error { c.Query("SELECT a FROM t").Next(); return nil })
	if err == nil || !strings.Contains(err.Error(), "the rows of \"SELECT a FROM t\"") {
		t.Error(err)
	}
	write(t, p, "INSERT INTO t VALUES(3)")
	if n := read(t, p, "SELECT count(*) FROM t"); n != 3 {
		t.Errorf("the connection is at an old state: %d rows", n)
	}
	if err := p.Read(background, func(c *hpsqlite.Conn) error { return c.Close() }); err == nil {
		t.Error("a connection that was closed is not told")
	}
	if n := read(t, p, "SELECT count(*) FROM t"); n != 3 {
		t.Errorf("another connection: %d rows", n)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	p := open(t, ":memory:", Options{Readers: 1})
	for _, q := range []*queue{p.readers, p.writer} {
		c, err := q.take(background)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(background)
		ended := make(chan error)
		go func() { _, err := q.take(ctx); ended <- err }()
		waitFor(q, 1)
		cancel()
		if err := <-ended; err != context.Canceled {
			t.Error(err)
		}
		waitFor(q, 0)
		q.give(c, false)
		if c2, err := q.take(background); err != nil || c2 != c {
			t.Error("the connection was lost")
		}
		q.give(c, false)
	}
}

func TestTurnsAreNotLostWhenContextsEnd(t *testing.T) {
	p := open(t, ":memory:", Options{Readers: 2})
	var wg sync.WaitGroup
	together(&wg, 1000, func() {
		ctx, cancel := context.WithCancel(background)
		go cancel()
		if c, err := p.readers.take(ctx); err == nil {
			p.readers.give(c, false)
		}
	})
	wg.Wait()
	rests(t, p.readers, 2)
}

func TestCloseWaitsOrInterrupts(t *testing.T) {
	p := open(t, ":memory:", Options{})
	running, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- p.Read(background, func(c *hpsqlite.Conn) error {
			close(running)
			_, err := number(c, "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) "+
				"SELECT count(*) FROM n")
			return err
		})
	}()
	<-running
	ctx, cancel := context.WithCancel(background)
	cancel()
	if err := p.CloseContext(ctx); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, hpsqlite.ErrInterrupt) {
		t.Error(err)
	}
	if err := p.Read(background, func(*hpsqlite.Conn) error { return nil }); !errors.Is(
		err, ErrClosed) {
		t.Error(err)
	}
	if err := p.Close(); err != ErrClosed {
		t.Error(err)
	}

	p = open(t, ":memory:", Options{})
	release := make(chan struct{})
	running = make(chan struct{})
	waits := make(chan error)
	go p.Write(background, func(*hpsqlite.Conn) error { close(running); <-release; return nil })
	<-running
	go func() { waits <- p.Write(background, func(*hpsqlite.Conn) error { return nil }) }()
	waitFor(p.writer, 1)
	go func() { ended <- p.Close() }()
	if err := <-waits; !errors.Is(err, ErrClosed) {
		t.Errorf("who waits: %v", err)
	}
	select {
	case <-ended:
		t.Error("closed while a function runs")
	default:
	}
	close(release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestSettingsAreEachConnections(t *testing.T) {
	var opened atomic.Int64
	p := open(t, file(t)+"?_pragma=cache_size(77)",
		Options{Readers: 2, Init: func(*hpsqlite.Conn) error { opened.Add(1); return nil }})
	var wg sync.WaitGroup
	both := make(chan struct{})
	var inside atomic.Int64
	together(&wg, 2, func() {
		p.Read(background, func(c *hpsqlite.Conn) error {
			if inside.Add(1) == 2 {
				close(both)
			}
			<-both
			if n, err := number(c, "PRAGMA cache_size"); n != 77 || err != nil {
				t.Error(n, err)
			}
			return nil
		})
	})
	wg.Wait()
	if n := opened.Load(); n != 3 {
		t.Errorf("%d connections", n)
	}
	refuse := errors.New("refused")
	if _, err := Open(file(t),
		Options{Init: func(*hpsqlite.Conn) error { return refuse }}); err != refuse {
		t.Error(err)
	}
}

func TestTakingAReaderAllocatesNothing(t *testing.T) {
	p := open(t, file(t), Options{})
	nothing := func(*hpsqlite.Conn) error { return nil }
	if n := testing.AllocsPerRun(100, func() { p.Read(background, nothing) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRead(b *testing.B) {
	p := open(b, file(b), Options{})
	nothing := func(*hpsqlite.Conn) error { return nil }
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	for name, ctx := range map[string]context.Context{"background": background, "cancellable": ctx} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Read(ctx, nothing)
			}
		})
	}
}

func BenchmarkReadTogether(b *testing.B) {
	p := open(b, file(b), Options{})
	write(b, p, "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES(1, 2)")
	b.SetParallelism(50)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			err := p.Read(background, func(c *hpsqlite.Conn) error {
				rows := c.Query("SELECT a FROM t WHERE id=1")
				rows.Next()
				return rows.Close()
			})
			if err != nil {
				b.Error(err)
			}
		}
	})
}

func TestMigrationsOfAPool(t *testing.T) {
	p := open(t, file(t), Options{})
	if err := p.Migrate(background, []string{"CREATE TABLE t(a)",
		"INSERT INTO t VALUES(5)"}); err != nil {
		t.Fatal(err)
	}
	if n := read(t, p, "SELECT a FROM t"); n != 5 {
		t.Error(n)
	}
}
