package hpsqlite

import (
	"errors"
	"testing"
)

func TestCheckpointEmptiesTheLog(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a); INSERT INTO t VALUES(1)")
	if log, done, err := c.Checkpoint(Passive); err != nil || log == 0 || done != log {
		t.Error(log, done, err)
	}
	if log, done, err := c.Checkpoint(Truncate); err != nil || log != 0 || done != 0 {
		t.Error(log, done, err)
	}
	exec(t, c, "BEGIN; INSERT INTO t VALUES(2)")
	if _, _, err := c.Checkpoint(Full); !errors.Is(err, ErrLocked) {
		t.Errorf("in a transaction: %v", err)
	}
	exec(t, c, "COMMIT")
	other, err := OpenConfig(c.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	c.SetBusyTimeout(0)
	rows := other.Query("SELECT a FROM t")
	rows.Next()
	exec(t, c, "INSERT INTO t VALUES(3)")
	if _, _, err := c.Checkpoint(Truncate); !errors.Is(err, ErrBusy) {
		t.Errorf("with a reader: %v", err)
	}
	rows.Close()
}
