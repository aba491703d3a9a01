package hpsqlite

// #include "hpgo.h"
import "C"

// A CheckpointMode says how much a checkpoint waits for.
type CheckpointMode int

// Modes, each doing more than the one before.
const (
	// Passive does what can be done without waiting for any other connection.
	Passive CheckpointMode = C.SQLITE_CHECKPOINT_PASSIVE
	// Full copies all: it waits for the writer, and for readers of older states.
	Full CheckpointMode = C.SQLITE_CHECKPOINT_FULL
	// Restart is Full, and the next writer begins at the log's start.
	Restart CheckpointMode = C.SQLITE_CHECKPOINT_RESTART
	// Truncate is Restart, and the log's file is emptied.
	Truncate CheckpointMode = C.SQLITE_CHECKPOINT_TRUNCATE
)

// Checkpoint copies the write-ahead logs of all the connection's databases into their files.
// SQLite does so by itself (PRAGMA wal_autocheckpoint), when nobody reads an older state.
//
// log is the number of pages in the log of the main database, done how many of them have been
// copied; both are -1 if it has none. After Truncate both are 0. What other connections do not
// let be done is ErrBusy, after the busy timeout, except in Passive; a transaction of this
// connection is ErrLocked.
func (c *Conn) Checkpoint(mode CheckpointMode) (log, done int, err error) {
	if err := c.usable(); err != nil {
		return -1, -1, err
	}
	if err := c.until.reason(); err != nil {
		return -1, -1, err
	}
	var nLog, nDone C.int
	rc := Code(C.sqlite3_wal_checkpoint_v2(c.db(), nil, C.int(mode), &nLog, &nDone))
	if rc != codeOK {
		err = c.error(rc, "", &c.until)
	}
	return int(nLog), int(nDone), err
}
