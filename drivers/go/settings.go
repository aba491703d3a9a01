package hpsqlite

// #include "hpgo.h"
import "C"

import (
	"errors"
	"fmt"
	"slices"
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
	if err := c.pragmas(beforeFirstWrite); err != nil {
		return err
	}
	if err := c.pragmas(anyTime); err != nil {
		return err
	}
	if err := c.defaultJournal(); err != nil {
		return err
	}
	if err := c.pragmas(writesFile); err != nil {
		return err
	}
	return c.otherDefaults()
}

// A turn says when a PRAGMA of the Config is carried out. The first thing that is written to a
// new file settles what the file is like, and the file is new no longer.
type turn int

const (
	beforeFirstWrite turn = iota // without effect on a file that has something in it
	anyTime
	writesFile // after the default journal mode, which is for new files
)

func (p Pragma) turn() turn {
	switch p.base() {
	case "page_size", "auto_vacuum", "encoding":
		return beforeFirstWrite
	case "application_id", "user_version", "schema_version", "default_cache_size",
		"incremental_vacuum":
		return writesFile
	}
	return anyTime
}

// pragmas carries out those of the Config whose turn it is.
func (c *Conn) pragmas(now turn) error {
	for _, p := range c.cfg.Pragmas {
		if p.turn() != now {
			continue
		}
		if err := c.pragma(p); err != nil {
			return err
		}
	}
	return nil
}

// defaultFor gives the default of a setting that the Config leaves alone.
func (cfg *Config) defaultFor(name string) (Pragma, bool) {
	at := slices.IndexFunc(Defaults, func(p Pragma) bool { return p.base() == name })
	if at < 0 || cfg.NoDefaults || cfg.names(name) {
		return Pragma{}, false
	}
	return Defaults[at], true
}

// defaultJournal sets the journal mode of a new file. WAL stays with a file, also for other
// programs, which may not expect it: so a file that is there keeps what it has.
func (c *Conn) defaultJournal() error {
	p, ok := c.cfg.defaultFor("journal_mode")
	if !ok || !c.walPossible() {
		return nil
	}
	err := c.ifNew(func() error { return c.pragma(p) })
	if errors.Is(err, ErrBusy) && c.until.reason() == nil {
		return nil // Someone uses the file in another journal mode. So can we.
	}
	return err
}

// ifNew calls change, which may change the file, if there is nothing in the file yet. If another
// connection is faster and writes to the file first, the change is undone, without an error.
func (c *Conn) ifNew(change func() error) error {
	if C.hpgo_new_begin(c.h) == 0 {
		return nil
	}
	err := change()
	C.hpgo_new_end(c.h)
	if errors.Is(err, ErrConstraintCommitHook) {
		// SQLite has taken note of the new journal mode. It looks at the file again when it reads.
		_, err = c.pragmaInt("schema_version")
	}
	return err
}

// otherDefaults are made whatever the file is, except that synchronous=NORMAL is only made for a
// write-ahead log: with a rollback journal the database itself may be damaged if the power fails.
func (c *Conn) otherDefaults() error {
	for _, p := range Defaults {
		name := p.base()
		if _, ok := c.cfg.defaultFor(name); !ok || name == "journal_mode" {
			continue
		}
		if name == "synchronous" && p.isNormal() {
			mode, err := c.pragmaText("main.journal_mode")
			if err != nil {
				return err
			}
			if mode != "wal" {
				continue
			}
		}
		if err := c.pragma(p); err != nil {
			return err
		}
	}
	return nil
}

func (p Pragma) isNormal() bool { return p.Value == "1" || strings.EqualFold(p.Value, "normal") }

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

func (c *Conn) pragmaText(name string) (v string, err error) {
	rows := c.Query("PRAGMA " + name)
	if rows.Next() {
		v = rows.Text(0)
	}
	return v, rows.Close()
}

// walPossible reports whether the journal mode may be changed: there is a file, and
// it can be written.
func (c *Conn) walPossible() bool {
	main := [...]C.char{'m', 'a', 'i', 'n', 0}
	if c.cfg.memory() || c.cfg.Path == "" || c.cfg.inMemdb() {
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
		{"hp_columns", "", "", ""},
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
