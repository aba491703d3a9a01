package hpsqlite

/*
#include "hpgo.h"
*/
import "C"

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A Config says which database to open, and how. Its zero value, with a Path,
// is what ParseDSN makes of the path alone.
type Config struct {
	Path string // of the file; ":memory:"; or "" for a temporary database
	Mode Mode
	VFS  string // one that SQLite knows, or "" for its own

	// Cache is "shared", "private" or "". Connections to a database in memory share it if they
	// all say "shared", whoever opened them. Of a file it changes nothing: connections have
	// caches of their own, without the shared cache's locks of tables; and with High
	// Performance SQLite they share the pages that they read often all the same.
	Cache string

	// URI holds parameters that SQLite and VFSs read themselves: immutable=1, ...
	URI url.Values

	// Pragmas are carried out in order when a connection is opened, before what
	// stands in Defaults for those that are not named here.
	Pragmas []Pragma

	// NoDefaults leaves everything that Defaults sets as SQLite has it.
	NoDefaults bool

	// TxLock is how transactions begin, unless they are read-only.
	TxLock TxLock

	// BusyTimeout is how long a statement waits for another connection's lock:
	// 5 s if it is 0, not at all if it is negative.
	BusyTimeout time.Duration

	// StmtCache is how many statements a connection keeps prepared: 128 if
	// it is 0, none if it is negative.
	StmtCache int

	// Location is the zone in which times are given: the one they were stored with, or
	// UTC, if it is nil.
	Location *time.Location

	// TimeUTC stores times in UTC, so that their texts sort by time.
	TimeUTC bool
}

// A Mode says what may be done to the file.
type Mode string

// Modes, as in SQLite's URIs.
const (
	ReadWriteCreate Mode = ""       // the default
	ReadWrite       Mode = "rw"     // the file must be there
	ReadOnly        Mode = "ro"     //
	Memory          Mode = "memory" // no file
)

// A TxLock is the word behind BEGIN.
type TxLock string

// Immediate is the default: a transaction that begins deferred, reads and then
// writes fails at once if another connection has written meanwhile, whatever the busy timeout.
const (
	Immediate TxLock = ""
	Deferred  TxLock = "DEFERRED"
	Exclusive TxLock = "EXCLUSIVE"
)

// A Pragma is PRAGMA Name = Value, or PRAGMA Name if Value is empty.
type Pragma struct{ Name, Value string }

// Defaults are made when a connection is opened, because most applications want
// them and SQLite's own are older than they are. A pragma of the same name in the DSN, or
// _defaults=off, replaces them.
//
// The journal mode is only set for a file that is new: one that the connection creates, or that
// has no byte in it. Every other file keeps its own, because other programs may use the file as
// well. synchronous=NORMAL is only set where the journal mode then is WAL.
var Defaults = []Pragma{
	{"journal_mode", "wal"},
	{"synchronous", "normal"},
	{"foreign_keys", "on"},
}

const (
	defaultBusyTimeout = 5 * time.Second
	defaultStmtCache   = 128
)

// What mattn/go-sqlite3 has in place of _pragma, by its long and short names.
var aliases = map[string]string{
	"_auto_vacuum": "auto_vacuum", "_vacuum": "auto_vacuum",
	"_busy_timeout": "busy_timeout", "_timeout": "busy_timeout",
	"_cache_size":               "cache_size",
	"_case_sensitive_like":      "case_sensitive_like",
	"_cslike":                   "case_sensitive_like",
	"_defer_foreign_keys":       "defer_foreign_keys",
	"_defer_fk":                 "defer_foreign_keys",
	"_foreign_keys":             "foreign_keys",
	"_fk":                       "foreign_keys",
	"_ignore_check_constraints": "ignore_check_constraints",
	"_journal_mode":             "journal_mode",
	"_journal":                  "journal_mode",
	"_locking_mode":             "locking_mode",
	"_locking":                  "locking_mode",
	"_query_only":               "query_only",
	"_recursive_triggers":       "recursive_triggers",
	"_rt":                       "recursive_triggers",
	"_secure_delete":            "secure_delete",
	"_synchronous":              "synchronous",
	"_sync":                     "synchronous",
	"_writable_schema":          "writable_schema",
}

// ParseDSN reads a data source name: a path, or file:path, and behind a question
// mark parameters, joined by &:
//
//	mode=ro|rw|rwc|memory  cache=shared|private  vfs=NAME  immutable=1  …   SQLite's own
//	_pragma=NAME(VALUE)                 any PRAGMA, as often as wanted, also NAME=VALUE
//	_journal_mode=VALUE, _fk=VALUE, …   some of them in mattn/go-sqlite3's spelling
//	_txlock=immediate|deferred|exclusive
//	_defaults=off                       nothing of Defaults
//	_stmt_cache=N                       statements kept prepared; 0 for none
//	_loc=auto|ZONE, _timezone=ZONE      zone in which times are given
//	_time_utc=1                         times are stored in UTC
//
// A parameter that begins with an underscore and is not known is an error: so is
// one that another driver has and that cannot be done here.
func ParseDSN(dsn string) (Config, error) {
	var cfg Config
	path, query, has := strings.Cut(dsn, "?")
	if uri, ok := strings.CutPrefix(path, "file:"); ok {
		uri, _, _ = strings.Cut(uri, "#")
		if rest, ok := strings.CutPrefix(uri, "//"); ok {
			host, abs, _ := strings.Cut(rest, "/")
			if host != "" && host != "localhost" {
				return cfg, fmt.Errorf("hpsqlite: DSN %q: the file is on another machine, %q", dsn, host)
			}
			uri = "/" + abs
		}
		var err error
		if path, err = url.PathUnescape(uri); err != nil {
			return cfg, fmt.Errorf("hpsqlite: DSN %q: %w", dsn, err)
		}
	}
	if strings.IndexByte(path, 0) >= 0 {
		return cfg, fmt.Errorf("hpsqlite: DSN %q: a NUL byte in the path", dsn)
	}
	cfg.Path = path
	if !has {
		return cfg, nil
	}
	query, _, _ = strings.Cut(query, "#")
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		key, err := url.QueryUnescape(key)
		if err == nil {
			value, err = url.QueryUnescape(value)
		}
		if err == nil {
			err = cfg.parameter(key, value)
		}
		if err != nil {
			return Config{}, fmt.Errorf("hpsqlite: DSN %q: %w", dsn, err)
		}
	}
	return cfg, nil
}

func (cfg *Config) parameter(key, value string) error {
	bad := func(want string) error { return fmt.Errorf("%s=%s: it must be %s", key, value, want) }
	if name, ok := aliases[key]; ok {
		if value == "" {
			return nil
		}
		return cfg.pragma(key, Pragma{name, value})
	}
	switch key {
	case "mode":
		switch value {
		case "rwc":
			cfg.Mode = ReadWriteCreate
		case "rw", "ro", "memory":
			cfg.Mode = Mode(value)
		default:
			return bad("ro, rw, rwc or memory")
		}
	case "cache":
		if value != "shared" && value != "private" {
			return bad("shared or private")
		}
		cfg.Cache = value
	case "vfs":
		cfg.VFS = value
	case "_pragma":
		name, v, ok := strings.Cut(value, "(")
		if ok {
			if v, ok = strings.CutSuffix(strings.TrimSpace(v), ")"); !ok {
				return bad("NAME(VALUE) or NAME=VALUE")
			}
		} else {
			name, v, _ = strings.Cut(value, "=")
		}
		return cfg.pragma(key, Pragma{strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(v)})
	case "_txlock":
		switch strings.ToLower(value) {
		case "immediate":
			cfg.TxLock = Immediate
		case "deferred":
			cfg.TxLock = Deferred
		case "exclusive":
			cfg.TxLock = Exclusive
		default:
			return bad("immediate, deferred or exclusive")
		}
	case "_defaults":
		on, ok := boolean(value)
		if !ok {
			return bad("on or off")
		}
		cfg.NoDefaults = !on
	case "_stmt_cache", "_stmt_cache_size":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return bad("a number of statements")
		}
		if cfg.StmtCache = n; n == 0 {
			cfg.StmtCache = -1
		}
	case "_loc", "_timezone":
		if value == "auto" {
			value = "Local"
		}
		loc, err := time.LoadLocation(value)
		if err != nil {
			return bad("auto or a time zone: " + err.Error())
		}
		cfg.Location = loc
	case "_time_utc":
		on, ok := boolean(value)
		if !ok {
			return bad("on or off")
		}
		cfg.TimeUTC = on
	case "_time_format":
		if value != "sqlite" {
			return bad("sqlite, which is how times are stored here")
		}
	case "_mutex":
		if value != "no" && value != "full" {
			return bad("no or full")
		}
		// Connections have none: one goroutine uses one at a time.
	default:
		if strings.HasPrefix(key, "_") && key != "_immutable" {
			return fmt.Errorf("there is no parameter %s", key)
		}
		if key == "_immutable" {
			key = "immutable"
		}
		if cfg.URI == nil {
			cfg.URI = url.Values{}
		}
		cfg.URI.Add(key, value)
	}
	return nil
}

func boolean(value string) (on, ok bool) {
	switch strings.ToLower(value) {
	case "1", "on", "yes", "true":
		return true, true
	case "0", "off", "no", "false":
		return false, true
	}
	return false, false
}

func (cfg *Config) pragma(key string, p Pragma) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if p.Name == "busy_timeout" && p.Value != "" {
		ms, err := strconv.Atoi(p.Value)
		if err != nil {
			return fmt.Errorf("%s: busy_timeout is a number of milliseconds, not %q", key, p.Value)
		}
		if cfg.BusyTimeout = time.Duration(ms) * time.Millisecond; ms <= 0 {
			cfg.BusyTimeout = -1
		}
		return nil
	}
	cfg.Pragmas = append(cfg.Pragmas, p)
	return nil
}

// What SQLite takes for a word that it does not know is off, or what was before: a
// misspelt one would not be noticed.
var (
	switches = []string{"0", "1", "on", "off", "yes", "no", "true", "false"}
	words    = map[string][]string{
		"auto_vacuum":              {"0", "1", "2", "none", "full", "incremental"},
		"case_sensitive_like":      switches,
		"defer_foreign_keys":       switches,
		"foreign_keys":             switches,
		"ignore_check_constraints": switches,
		"journal_mode":             {"delete", "truncate", "persist", "memory", "wal", "off"},
		"locking_mode":             {"normal", "exclusive"},
		"query_only":               switches,
		"recursive_triggers":       switches,
		"secure_delete":            append([]string{"fast", "default"}, switches...),
		"synchronous":              {"0", "1", "2", "3", "off", "normal", "full", "extra"},
		"temp_store":               {"0", "1", "2", "default", "file", "memory"},
		"writable_schema":          append([]string{"reset"}, switches...),
	}
)

// base is the PRAGMA's name without a schema's, in small letters.
func (p Pragma) base() string {
	_, name, ok := strings.Cut(p.Name, ".")
	if !ok {
		name = p.Name
	}
	return strings.ToLower(name)
}

// check refuses what would be more than one PRAGMA.
func (p Pragma) check() error {
	const ofNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."
	if p.Name == "" || strings.Trim(p.Name, ofNames) != "" {
		return fmt.Errorf("%q is not the name of a PRAGMA", p.Name)
	}
	quoted := len(p.Value) >= 2 && p.Value[0] == '\'' && p.Value[len(p.Value)-1] == '\''
	if quoted && strings.Contains(strings.ReplaceAll(p.Value[1:len(p.Value)-1], "''", ""), "'") {
		quoted = false
	}
	plain := strings.Trim(p.Value, ofNames+"+-") == ""
	if !quoted && !plain || strings.IndexByte(p.Value, 0) >= 0 {
		return fmt.Errorf("PRAGMA %s: %q is neither a word or number nor in single quotes", p.Name,
			p.Value)
	}
	value := strings.ToLower(strings.Trim(p.Value, "'"))
	if known := words[p.base()]; known != nil && value != "" && !slices.Contains(known, value) {
		return fmt.Errorf("PRAGMA %s: %q is none of %s", p.Name, p.Value, strings.Join(known, ", "))
	}
	return nil
}

func (p Pragma) sql() string {
	if p.Value == "" {
		return "PRAGMA " + p.Name
	}
	return "PRAGMA " + p.Name + "=" + p.Value
}

const (
	memoryPath = C.HPGO_MEMORY
	memoryVFS  = C.HPGO_MEMORY_VFS
)

// inMemdb reports whether the database is SQLite's memdb's, which connections share.
func (cfg *Config) inMemdb() bool { return cfg.VFS == "memdb" || cfg.VFS == memoryVFS }

// memory reports whether there is no file.
func (cfg *Config) memory() bool { return cfg.Path == ":memory:" || cfg.Mode == Memory }

var memories atomic.Uint64

// SharedMemory is the Config with a name for its database in memory, so that all connections
// opened with it find the same database. It lives until the last of them is closed.
// NewConnector and the pool do this themselves. Any other Config stays as it is.
//
// With Cache "shared" the database belongs to all that have the same Path, as it does in
// SQLite; otherwise each call gives it a new name.
func (cfg Config) SharedMemory() Config {
	if !cfg.memory() || cfg.VFS != "" {
		return cfg
	}
	name := cfg.Path
	if cfg.Cache != "shared" {
		name = fmt.Sprintf("unnamed/%d", memories.Add(1))
	}
	// SQLite's memdb (hpgo_memory.c): its readers do not lock each other out table by table, as
	// in the shared cache.
	cfg.Path = memoryPath + strings.TrimPrefix(name, "/")
	cfg.VFS, cfg.Mode, cfg.Cache = memoryVFS, ReadWriteCreate, ""
	return cfg
}

// name is what SQLite opens: a URI, so that nothing in the path is taken for something else.
func (cfg *Config) name() string {
	if cfg.Path == "" && cfg.Mode != Memory {
		return ""
	}
	// As url.PathEscape, but what is a separator stays one.
	name := "file:" + (&url.URL{Path: cfg.Path}).EscapedPath()
	if strings.HasPrefix(cfg.Path, "//") {
		name = "file://" + (&url.URL{Path: cfg.Path}).EscapedPath()
	}
	if len(cfg.URI) > 0 {
		name += "?" + cfg.URI.Encode()
	}
	return name
}

func (cfg *Config) flags() int {
	flags := C.SQLITE_OPEN_URI | C.SQLITE_OPEN_NOMUTEX
	switch cfg.Mode {
	case ReadOnly:
		flags |= C.SQLITE_OPEN_READONLY
	case ReadWrite:
		flags |= C.SQLITE_OPEN_READWRITE
	case Memory:
		flags |= C.SQLITE_OPEN_READWRITE | C.SQLITE_OPEN_CREATE | C.SQLITE_OPEN_MEMORY
	default:
		flags |= C.SQLITE_OPEN_READWRITE | C.SQLITE_OPEN_CREATE
	}
	return flags
}

func (cfg *Config) names(pragma string) bool {
	return slices.ContainsFunc(cfg.Pragmas, func(p Pragma) bool { return p.base() == pragma })
}
