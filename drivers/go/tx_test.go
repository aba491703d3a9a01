package hpsqlite

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestResetEndsWhatIsOpenAndSaysWhat(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a); INSERT INTO t VALUES('x'), ('y')")
	if err := c.Reset(); err != nil {
		t.Error(err)
	}
	c.Query("SELECT a FROM t WHERE a>''").Next()
	if _, err := c.OpenBlob("", "t", "a", 1, false); err != nil {
		t.Fatal(err)
	}
	exec(t, c, "BEGIN; INSERT INTO t VALUES('z')")
	err := c.Reset()
	for _, want := range []string{"rows of \"SELECT a FROM t", "a blob", "a transaction"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if err := c.Reset(); err != nil {
		t.Error(err)
	}
	equal(t, "rows", texts(t, c, "SELECT count(*) FROM t")[0], "2")
}

func TestTxKeepsAllOrNothing(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a)")
	insert := func(v int) { exec(t, c, "INSERT INTO t VALUES(?)", v) }
	rows := func() string { return strings.Join(texts(t, c, "SELECT a FROM t ORDER BY 1"), " ") }
	stop := errors.New("stop")

	err := c.Tx(func() error {
		insert(1)
		if err := c.Tx(func() error { insert(2); return stop }); err != stop {
			t.Errorf("a savepoint: %v", err)
		}
		return c.Tx(func() error { insert(3); return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", rows(), "1 3")
	if err := c.Tx(func() error { insert(4); return stop }); err != stop {
		t.Error(err)
	}
	func() {
		defer func() { equal(t, "panic", recover(), any(stop)) }()
		c.Tx(func() error { insert(5); panic(stop) })
	}()
	if err := c.Tx(func() error { insert(6); exec(t, c, "ROLLBACK"); return nil }); err == nil ||
		!strings.Contains(err.Error(), "was ended inside") {
		t.Error(err)
	}
	left := c.Query("SELECT 1")
	err = c.Tx(func() error { insert(7); c.Query("SELECT a FROM t").Next(); return nil })
	if err == nil || !strings.Contains(err.Error(), "rows were not closed") {
		t.Error(err)
	}
	left.Close()
	c.Reset()
	ctx, cancel := context.WithCancel(context.Background())
	end := c.Until(ctx)
	if err := c.Tx(func() error { insert(8); cancel(); return nil }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if c.InTransaction() {
		t.Error("the transaction is still open")
	}
	if _, err := c.Exec("SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("the context has been forgotten: %v", err)
	}
	end()
	equal(t, "rows", rows(), "1 3")
}

func TestSnapshotSeesOneState(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a)")
	other, err := OpenConfig(c.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	err = c.Snapshot(func() error {
		equal(t, "before", texts(t, c, "SELECT count(*) FROM t")[0], "0")
		exec(t, other, "INSERT INTO t VALUES(1)")
		equal(t, "meanwhile", texts(t, c, "SELECT count(*) FROM t")[0], "0")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "after", texts(t, c, "SELECT count(*) FROM t")[0], "1")
}
