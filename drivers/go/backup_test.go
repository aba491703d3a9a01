package hpsqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fill makes a database of some hundred pages.
func fill(t *testing.T, c *Conn) (count string) {
	exec(t, c, "CREATE TABLE t(a INTEGER PRIMARY KEY, b); WITH RECURSIVE n(i) AS (VALUES(1) "+
		"UNION ALL SELECT i+1 FROM n WHERE i<2000) INSERT INTO t SELECT i, zeroblob(500) FROM n")
	return texts(t, c, "SELECT count(*), sum(a) FROM t")[0]
}

func TestBackupIsOneStateOfTheDatabase(t *testing.T) {
	ctx := context.Background()
	c := open(t)
	want := fill(t, c)
	other, err := OpenConfig(c.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, yield := range []time.Duration{0, time.Microsecond} {
		dest := open(t)
		exec(t, dest, "CREATE TABLE before(a)")
		calls := 0
		err := c.BackupTo(ctx, dest, BackupOptions{Pages: 50, Yield: yield, Progress: func(done, total int) {
			if calls++; calls == 2 {
				exec(t, other, "INSERT INTO t(b) VALUES('meanwhile')")
			}
			if done > total || total < 250 {
				t.Error(done, total)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if calls < 6 {
			t.Errorf("progress was told %d times", calls)
		}
		now := texts(t, c, "SELECT count(*), sum(a) FROM t")[0]
		if yield > 0 {
			want = now
		}
		equal(t, "copy", texts(t, dest, "SELECT count(*), sum(a) FROM t")[0], want)
		equal(t, "check", texts(t, dest, "PRAGMA integrity_check")[0], "ok")
		want = now
	}
	memory, err := Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	if err := memory.BackupFrom(ctx, c, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	equal(t, "in memory", texts(t, memory, "SELECT count(*), sum(a) FROM t")[0], want)
}

func TestBackupThatIsCancelledLeavesNothing(t *testing.T) {
	c := open(t)
	fill(t, c)
	dest := open(t)
	exec(t, dest, "CREATE TABLE before(a)")
	ctx, cancel := context.WithCancel(context.Background())
	err := c.BackupTo(ctx, dest, BackupOptions{Pages: 10, Progress: func(int, int) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	equal(t, "destination", texts(t, dest, "SELECT name FROM sqlite_schema")[0], "before")
	if c.InTransaction() {
		t.Error("the source is in a transaction")
	}
	dir := t.TempDir()
	if err := c.Backup(ctx, filepath.Join(dir, "copy.db")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("left: %v", files)
	}

	exec(t, c, "BEGIN; INSERT INTO t(b) VALUES(1)")
	if err := c.BackupTo(context.Background(), dest, BackupOptions{}); err == nil ||
		!strings.Contains(err.Error(), "not committed") {
		t.Error(err)
	}
	exec(t, c, "ROLLBACK")
	if err := c.BackupTo(context.Background(), c, BackupOptions{}); err == nil {
		t.Error("a database is copied to itself")
	}

	// A lock is waited for as long as the context lets.
	dest.SetBusyTimeout(0)
	other, err := OpenConfig(dest.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	exec(t, other, "BEGIN IMMEDIATE")
	short, end := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer end()
	if err := c.BackupTo(short, dest, BackupOptions{}); !errors.Is(err, context.DeadlineExceeded) ||
		!errors.Is(err, ErrBusy) {
		t.Error(err)
	}
}

func TestBackupToAFileIsNewAndWhole(t *testing.T) {
	ctx := context.Background()
	c := open(t)
	want := fill(t, c)
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := c.Backup(ctx, path); err != nil {
		t.Fatal(err)
	}
	dest, err := Open(path + "?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer dest.Close()
	equal(t, "copy", texts(t, dest, "SELECT count(*), sum(a) FROM t")[0], want)
	if err := c.Backup(ctx, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file that is there: %v", err)
	}
	os.WriteFile(path+"2-wal", nil, 0o666)
	if err := c.Backup(ctx, path+"2"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("beside a log: %v", err)
	}
}
