package hpsqlite

/*
#include <stdlib.h>
#include "hpgo.h"
*/
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// A Conn is a connection to a database. It is used by one goroutine at a time;
// Interrupt may be called by any.
type Conn struct {
	h   *C.hpgo_conn
	cfg Config

	back       bool       // SQLite may call Go: functions, hooks, ...
	calls      *callbacks // nil unless back
	autocommit bool       // as SQLite said last
	cache      stmtCache
	stmts      map[*Stmt]struct{} // all that are not finalized
	parts      map[part]struct{}  // blobs and so on, which end with the connection
	pinned     runtime.Pinner     // images that DeserializeReadOnly was given
	buffers    [][]byte           // for rows, of bufferSize bytes
	until      watch

	mu sync.Mutex // h is not freed while it is held; guards watches' rounds
}

// Open opens the database that dsn names, as sql.Open does; see ParseDSN.
func Open(dsn string) (*Conn, error) {
	cfg, err := ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	return OpenConfig(cfg)
}

// OpenConfig opens the database that cfg describes. Settings that cannot be
// made are an error, and nothing stays open.
func OpenConfig(cfg Config) (*Conn, error) { return openConfig(context.Background(), cfg) }

// openConfig is OpenConfig, where ctx ends waiting for locks.
func openConfig(ctx context.Context, cfg Config) (*Conn, error) {
	if err := checkLibrary(); err != nil {
		return nil, err
	}
	if cfg.Cache == "shared" {
		cfg = cfg.SharedMemory()
	}
	name, flags := cfg.name(), cfg.flags()
	zName := C.CString(name)
	defer C.free(unsafe.Pointer(zName))
	var zVFS *C.char
	if cfg.VFS != "" {
		zVFS = C.CString(cfg.VFS)
		defer C.free(unsafe.Pointer(zVFS))
	}
	var rc C.int
	h := C.hpgo_open(zName, C.int(flags), zVFS, &rc)
	if h == nil {
		return nil, ErrNoMem
	}
	c := &Conn{h: h, cfg: cfg, autocommit: true, stmts: map[*Stmt]struct{}{}}
	c.until.conn = c
	if rc != 0 {
		err := fmt.Errorf("cannot open %s: %w", cfg.Path, c.error(Code(rc), "", nil))
		c.Close()
		return nil, err
	}
	stop := c.Until(ctx)
	err := c.applySettings()
	stop()
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("cannot open %s: %w", cfg.Path, err)
	}
	return c, nil
}

// Close finalizes all statements and closes the connection. A transaction that
// is open is rolled back.
func (c *Conn) Close() error {
	if c.h == nil {
		return nil
	}
	if err := c.closable(); err != nil {
		return err
	}
	c.until.end()
	c.dropParts()
	for s := range c.stmts {
		s.finalize()
	}
	failed := c.dropHooks()
	c.mu.Lock()
	h := c.h
	c.h = nil
	c.mu.Unlock()
	defer c.pinned.Unpin()
	if rc := Code(C.hpgo_close(h)); rc != codeOK {
		return rc
	}
	return failed
}

// Interrupt makes the statements that run return ErrInterrupt as soon as
// SQLite notices. It may be called by any goroutine, also while the connection is
// being closed.
func (c *Conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.h != nil {
		C.sqlite3_interrupt(c.db())
	}
}

// Until lets ctx interrupt whatever the connection does until stop is called.
// Errors of interrupted statements are then ctx.Err() as well (errors.Is). If ctx is
// done already, statements fail at once.
func (c *Conn) Until(ctx context.Context) (stop func()) {
	c.until.end()
	if err := c.until.begin(ctx); err != nil {
		c.until.ctx = ctx
	}
	return c.until.end
}

// SetBusyTimeout sets how long a statement waits for another connection's lock.
func (c *Conn) SetBusyTimeout(d time.Duration) {
	if c.h != nil {
		C.hpgo_busy_timeout(c.h, C.int(min(d.Milliseconds(), 1<<31-1)))
		c.keepBusyHandler()
	}
}

// undo carries out what ends a failed transaction, also when the context that made it fail is
// done. It returns the first error.
func (c *Conn) undo(statements ...string) (err error) {
	ctx := c.until.ctx
	c.until.end()
	c.until.ctx = nil
	for _, sql := range statements {
		if _, err2 := c.Exec(sql); err == nil {
			err = err2
		}
	}
	if ctx != nil {
		c.Until(ctx)
	}
	return err
}

// InTransaction reports whether a transaction was begun and has not ended.
func (c *Conn) InTransaction() bool {
	return c.h != nil && C.sqlite3_get_autocommit(c.db()) == 0
}

// A Result is what a statement, or several, have changed.
type Result struct {
	Changes int64 // rows inserted, updated or deleted
	RowID   int64 // of the row that was inserted last on this connection
}

// Exec carries out all statements of sql. Parameters go to the statements in turn,
// each taking as many as it has; sql.Named ones by their names, to all. Rows are
// left unread. The Result's Changes are those of all statements together.
//
// A single statement stays prepared, see Config.StmtCache.
func (c *Conn) Exec(sql string, args ...any) (Result, error) {
	return c.exec(context.Background(), sql, args)
}

func (c *Conn) exec(ctx context.Context, sql string, args []any) (res Result, err error) {
	rest := sql
	for first := true; ; first = false {
		s, tail, err := c.take(rest)
		if err != nil {
			return res, err
		}
		if s == nil {
			return res, leftOver(args, first)
		}
		mine := args
		if tail != "" || !first {
			mine, args = s.split(args)
		} else {
			args = nil
		}
		r, err := s.exec(ctx, mine)
		s.release()
		if err != nil {
			return res, err
		}
		res.Changes += r.Changes
		res.RowID = r.RowID
		if tail == "" {
			return res, leftOver(args, false)
		}
		rest = tail
	}
}

// Query carries out sql, which is one statement, and gives its rows, which
// have to be closed. Any error is told by them: Rows.Err and Rows.Close.
//
// The statement stays prepared, see Config.StmtCache.
func (c *Conn) Query(sql string, args ...any) *Rows {
	s, tail, err := c.take(sql)
	if err == nil && s == nil {
		err = fmt.Errorf("hpsqlite: there is no statement in %s", excerpt(sql))
	}
	if err == nil && tail != "" {
		s.release()
		err = fmt.Errorf("hpsqlite: Query takes one statement, and behind the first is %s", excerpt(tail))
	}
	if err != nil {
		return &Rows{err: err}
	}
	s.ownedByRows = true
	return s.Query(args...)
}

// Prepare compiles one statement, or takes it from the connection's cache,
// where Stmt.Close puts it back.
func (c *Conn) Prepare(sql string) (*Stmt, error) {
	s, tail, err := c.take(sql)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("hpsqlite: there is no statement in %s", excerpt(sql))
	}
	if tail != "" {
		s.release()
		return nil, fmt.Errorf("hpsqlite: Prepare takes one statement, and behind the first is %s",
			excerpt(tail))
	}
	s.keepsArgs = true
	return s, nil
}

// take gives the first statement of sql, for the caller to release, and what
// is behind it. The statement is nil if there is none.
func (c *Conn) take(sql string) (*Stmt, string, error) {
	if err := c.usable(); err != nil {
		return nil, "", err
	}
	if s := c.cache.take(sql); s != nil {
		return s, "", nil
	}
	s, tail, err := c.prepare(sql)
	if s == nil || err != nil {
		return nil, "", err
	}
	return s, tail, nil
}

func (c *Conn) prepare(sql string) (*Stmt, string, error) {
	// SQLite reads to the first NUL, or to the length: an empty string has no data.
	if sql == "" {
		return nil, "", nil
	}
	if at := strings.IndexByte(sql, 0); at >= 0 {
		return nil, "", &Error{Code: ErrError, Message: "a NUL byte in the SQL", SQL: sql, Offset: at}
	}
	pragma := isPragma(sql)
	info, err := c.compile(sql, pragma)
	if err != nil {
		return nil, "", err
	}
	n := int(info.nSql)
	tail := blank(sql[n:])
	if info.stmt == 0 {
		if tail != "" {
			return c.prepare(tail)
		}
		return nil, "", nil
	}
	s := &Stmt{
		conn:      c,
		p:         info.stmt,
		sql:       sql[:n],
		numParams: int(info.nParam),
		numCols:   int(info.nCol),
		readonly:  info.bReadonly != 0,
		// Some PRAGMAs do what they do when they are prepared.
		cached: tail == "" && !pragma,
		taken:  true,
	}
	if s.cached {
		s.sql = sql
	}
	s.rows.s = s
	s.watch.conn = c
	if err := s.args.init(s.numParams); err != nil {
		s.finalize()
		return nil, "", err
	}
	if info.bNamed != 0 {
		s.readNames()
	}
	c.stmts[s] = struct{}{}
	return s, tail, nil
}

// compile has SQLite compile the first statement of sql. PRAGMA busy_timeout acts while it is
// compiled, and knows SQLite's own busy handler only: that one is in place meanwhile.
func (c *Conn) compile(sql string, pragma bool) (info C.hpgo_info, err error) {
	if pragma && strings.Contains(strings.ToLower(sql), "busy_timeout") {
		C.hpgo_pragma_before(c.h)
		defer func() {
			C.hpgo_pragma_after(c.h)
			c.keepBusyHandler()
		}()
	}
	text := (*C.char)(unsafe.Pointer(unsafe.StringData(sql)))
	rc := c.prepareC(text, len(sql), C.SQLITE_PREPARE_PERSISTENT, &info)
	if rc != codeOK {
		err = c.error(rc, sql, nil)
	}
	return info, err
}

// bufferSize is what rows are packed into once there are several: it stays in
// a processor's own cache.
const bufferSize = 64 << 10

func (c *Conn) takeBuffer() []byte {
	if n := len(c.buffers); n > 0 {
		b := c.buffers[n-1]
		c.buffers = c.buffers[:n-1]
		return b
	}
	return newBuffer(bufferSize)
}

func (c *Conn) giveBuffer(b []byte) {
	if len(b) == bufferSize && len(c.buffers) < 2 {
		c.buffers = append(c.buffers, b)
	}
}

// newBuffer gives n bytes, or a few more, on an address that is a multiple of eight.
func newBuffer(n int) []byte {
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
