package hpsqlite

/*
#include "hpgo.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// BackupOptions say how a database is copied. The zero value copies main to main.
type BackupOptions struct {
	From, To string // names of the databases on their connections; main if empty

	// Pages is how many are copied at a time: 1024 if it is 0. The context is looked at,
	// and Progress called, after each time.
	Pages int

	// Progress, if not nil, is told how many pages have been copied of how many there are.
	Progress func(done, total int)

	// Yield, if not 0, is how long to wait after each time, with the source let go. A backup
	// otherwise reads all in one transaction: in WAL mode others read and write
	// meanwhile, in the other modes they read. With Yield they write in the other
	// modes too; but when another connection has written, the copy
	// begins again.
	Yield time.Duration
}

// BackupTo copies a whole database to a connection of another, whose contents it takes the
// place of. The copy is one state of the source. Neither connection may be used meanwhile, nor
// be in a transaction of its own that has written.
//
// When a lock cannot be had within the busy timeout it is tried again, until ctx is done.
// If it ends early, for ctx or another error, the destination is what it was before.
func (c *Conn) BackupTo(ctx context.Context, dest *Conn, o BackupOptions) (err error) {
	if err := c.usable(); err != nil {
		return err
	}
	if err := dest.usable(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	from, err := schemaName(o.From)
	if err != nil {
		return err
	}
	to, err := schemaName(o.To)
	if err != nil {
		return err
	}
	if C.sqlite3_txn_state(c.db(), from) == C.SQLITE_TXN_WRITE {
		return errors.New("hpsqlite: the database has changes of its own connection that are not " +
			"committed, so it cannot be copied")
	}
	b := C.sqlite3_backup_init(dest.db(), to, c.db(), from)
	if b == nil {
		return dest.error(Code(C.sqlite3_extended_errcode(dest.db())), "", nil)
	}
	defer func() {
		rc := Code(C.sqlite3_backup_finish(b))
		if err == nil && rc != codeOK {
			err = dest.error(rc, "", nil)
		}
	}()
	if o.Yield == 0 && c.autocommit {
		// sqlite3_backup_step() leaves a transaction open that is.
		if err := c.retry(ctx, c.beginRead(o.From)); err != nil {
			return err
		}
		defer c.undo("ROLLBACK")
	}
	pages := o.Pages
	if pages <= 0 {
		pages = 1024
	}
	for {
		var done bool
		err := c.retry(ctx, func() error {
			switch rc := Code(C.sqlite3_backup_step(b, C.int(pages))); rc {
			case codeDone:
				done = true
				return nil
			case codeOK:
				return nil
			default:
				// The connections' own messages are not of this.
				return fmt.Errorf("cannot copy the database: %w", rc)
			}
		})
		if err != nil {
			return err
		}
		if o.Progress != nil {
			total := int(C.sqlite3_backup_pagecount(b))
			o.Progress(total-int(C.sqlite3_backup_remaining(b)), total)
		}
		if done {
			return nil
		}
		if err := sleep(ctx, o.Yield); err != nil {
			return err
		}
	}
}

// BackupFrom is src.BackupTo(ctx, c, o).
func (c *Conn) BackupFrom(ctx context.Context, src *Conn, o BackupOptions) error {
	return src.BackupTo(ctx, c, o)
}

// beginRead begins a transaction that sees one state of the database schema.
func (c *Conn) beginRead(schema string) func() error {
	if schema == "" {
		schema = "main"
	}
	look := "SELECT 1 FROM " + quoteName(schema) + ".sqlite_schema LIMIT 1"
	return func() error {
		if _, err := c.Exec("BEGIN"); err != nil {
			return err
		}
		_, err := c.Exec(look)
		if err != nil {
			c.undo("ROLLBACK")
		}
		return err
	}
}

// quoteName is a name as it stands in SQL.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// retry calls f until it does not fail for a lock, or ctx is done.
func (c *Conn) retry(ctx context.Context, f func() error) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := f()
		if !errors.Is(err, ErrBusy) && !errors.Is(err, ErrLocked) {
			return err
		}
		if ctxErr := sleep(ctx, pause); ctxErr != nil {
			return fmt.Errorf("%w: %w", ctxErr, err)
		}
	}
}

// sleep returns ctx's error if it is done, before d has passed or already.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Backup copies the main database to a new file, which is there when it is complete and
// on the disk, and not before. There must be no file of that name: to put a copy in the
// place of a database that may be in use, or have a log beside it, would
// damage it (fs.ErrExist).
//
// Others may read and, in WAL mode, write meanwhile; see BackupTo for more choices, and
// VACUUM INTO, by Exec, for a copy without free pages, which takes longer.
func (c *Conn) Backup(ctx context.Context, path string) (err error) {
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if _, err := os.Lstat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				err = &fs.PathError{Op: "backup", Path: path + suffix, Err: fs.ErrExist}
			}
			return fmt.Errorf("hpsqlite: %w", err)
		}
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".part-*")
	if err != nil {
		return fmt.Errorf("hpsqlite: %w", err)
	}
	temp := f.Name()
	f.Close()
	defer func() {
		if err != nil {
			os.Remove(temp)
		}
	}()
	// What is not complete is thrown away, so there is nothing to keep a journal for.
	dest, err := OpenConfig(Config{Path: temp, NoDefaults: true,
		Pragmas: []Pragma{{"journal_mode", "off"}, {"synchronous", "full"}}})
	if err != nil {
		return err
	}
	err = c.BackupTo(ctx, dest, BackupOptions{})
	if err2 := dest.Close(); err == nil {
		err = err2
	}
	if err != nil {
		return err
	}
	if err := os.Link(temp, path); err == nil {
		os.Remove(temp)
	} else if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("hpsqlite: %w", err)
	} else if err := os.Rename(temp, path); err != nil {
		// The file system has no links.
		return fmt.Errorf("hpsqlite: %w", err)
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("hpsqlite: %w", err)
	}
	defer d.Close()
	d.Sync()
	return nil
}
