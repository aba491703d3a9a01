package hpsqlite

import (
	"os"
	"testing"
	"time"
)

func TestLocksLingerForMilliseconds(t *testing.T) {
	if !LibraryInfo().HP || os.Getenv("HPSQLITE") == "off" {
		t.Skip("only High Performance SQLite's locks linger")
	}
	c := open(t)
	exec(t, c, "CREATE TABLE t(a); INSERT INTO t VALUES(1)")
	texts(t, c, "SELECT a FROM t")
	if !lingering.Load() {
		t.Fatal("nobody is going to end what lingers")
	}
	for range 1000 {
		if !lingering.Load() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("locks linger for a second")
}
