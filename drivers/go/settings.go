package hpsqlite

// #include "hpgo.h"
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// applySettings makes a new connection what its Config says.
func (c *Conn) applySettings() error {
	cfg := &c.cfg
	c.cache.most = cfg.StmtCache
	if cfg.StmtCache == 0 {
		c.cache.most = defaultStmtCache
	}
	timeout := cfg.BusyTimeout
	if timeout == 0 {
		timeout = defaultBusyTimeout
		if cfg.NoDefaults {
			timeout = 0
		}
	}
	c.SetBusyTimeout(max(timeout, 0))
	c.growMemory()
	for _, p := range cfg.Pragmas {
		if err := p.check(); err != nil {
			return err
		}
	}
	// What a new file is like is settled by the first thing that is written to it, which another
	// PRAGMA may do.
	for _, first := range []bool{true, false} {
		for _, p := range cfg.Pragmas {
			if p.shapesFile() != first {
				continue
			}
			if err := c.pragma(p); err != nil {
				return err
			}
		}
	}
	if cfg.NoDefaults {
		return nil
	}
	for _, p := range Defaults {
		if cfg.names(p.Name) || p.Name == "journal_mode" && !c.walPossible() {
			continue
		}
		err := c.pragma(p)
		if p.Name == "journal_mode" && errors.Is(err, ErrBusy) && c.until.reason() == nil {
			// Someone uses the file in its own journal mode. So can we.
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shapesFile reports whether p does nothing once there is something in the file.
func (p Pragma) shapesFile() bool {
	switch p.base() {
	case "page_size", "auto_vacuum", "encoding":
		return true
	}
	return false
}

// memoryLimit is what SQLite can allocate in one piece, all but a little.
const memoryLimit = 0x7fff0000

// growMemory lets a database in SQLite's memdb, which is in one piece, be as large as it can:
// it ends at 1 GiB by itself.
func (c *Conn) growMemory() {
	if c.cfg.inMemdb() {
		limit := C.sqlite3_int64(memoryLimit)
		C.sqlite3_file_control(c.db(), nil, C.SQLITE_FCNTL_SIZE_LIMIT, unsafe.Pointer(&limit))
	}
}

func (c *Conn) pragma(p Pragma) error {
	if p.base() == "secure_delete" && strings.EqualFold(p.Value, "default") {
		return nil // mattn/go-sqlite3's word for leaving it alone
	}
	if _, err := c.Exec(p.sql()); err != nil {
		return fmt.Errorf("%s: %w", p.sql(), err)
	}
	return nil
}

// walPossible reports whether the journal mode may be changed: there is a file, and
// it can be written.
func (c *Conn) walPossible() bool {
	main := [...]C.char{'m', 'a', 'i', 'n', 0}
	if c.cfg.memory() || c.cfg.Path == "" || c.cfg.URI.Get("immutable") != "" || c.cfg.inMemdb() {
		return false
	}
	return C.sqlite3_db_readonly(c.db(), (*C.char)(unsafe.Pointer(&main[0]))) == 0
}

// A Setting is one that is in force on a connection.
type Setting struct {
	Name   string
	Value  string // read back from SQLite
	SQLite string // what SQLite has by itself, empty if that depends on the file
	Reset  string // the DSN parameter that gives SQLite's own back, if the driver has changed it
}

// Settings are those of a connection, as SQLite says.
type Settings []Setting

// Settings reads back what is in force on the connection: what the driver has
// set and what else decides on speed and durability.
func (c *Conn) Settings() (Settings, error) {
	list := Settings{
		{"journal_mode", "", "delete", "_pragma=journal_mode(delete)"},
		{"synchronous", "", "2", "_pragma=synchronous(full)"},
		{"foreign_keys", "", "0", "_pragma=foreign_keys(off)"},
		{"busy_timeout", "", "0", "_pragma=busy_timeout(0)"},
		{"locking_mode", "", "normal", ""},
		{"cache_size", "", "-2000", ""},
		{"mmap_size", "", "0", ""},
		{"temp_store", "", "0", ""},
		{"page_size", "", "", ""},
		{"auto_vacuum", "", "", ""},
		{"query_only", "", "0", ""},
		{"wal_autocheckpoint", "", "1000", ""},
		{"hp_offload", "", "", ""},
		{"hp_threads", "", "", ""},
		{"hp_memory", "", "", ""},
		{"hp_extent", "", "", ""},
		{"hp_readahead", "", "", ""},
	}
	found := list[:0]
	for _, s := range list {
		rows := c.Query("PRAGMA " + s.Name)
		if rows.Next() {
			s.Value = rows.Text(0)
			if s.Name == "busy_timeout" {
				// The busy handler is the driver's, which the PRAGMA does not know.
				s.Value = fmt.Sprint(int(c.h.msBusy))
			}
			found = append(found, s)
		}
		if err := rows.Close(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// String is a table of the settings, with a line for those that the driver has changed that says
// how to change them back.
func (list Settings) String() string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "%-20s %s", s.Name, s.Value)
		if s.Reset != "" && s.Value != s.SQLite {
			fmt.Fprintf(&b, "  (SQLite's own: %s, by %s)", s.SQLite, s.Reset)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
