package hpsqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Migrate brings the main database to the state that a program wants: it carries out those of
// steps that have not been. How many have is kept in the database (PRAGMA user_version), so
// steps are only ever added at the end. Each is SQL of any number of statements, and done
// together with its number in one transaction: it is there as a whole or not at all, and when
// several programs begin at once one does it. Without anything to do it takes no lock.
//
// A database for which more steps were done than there are is one of a newer program, and
// is refused with a *VersionError.
//
// Foreign keys are not checked while a step runs, so that a table can be made anew as
// https://sqlite.org/lang_altertable.html#otheralter says, but before it is committed if they
// were on (PRAGMA foreign_key_check). A row without its parent, also one that was so before, is
// then an error.
func Migrate(ctx context.Context, c *Conn, steps []string) (err error) {
	if c.InTransaction() {
		return errors.New("hpsqlite: Migrate begins transactions by itself, and one is open")
	}
	stop := c.Until(ctx)
	defer stop()
	version, err := c.version(len(steps))
	if err != nil || version == len(steps) {
		return err
	}
	keys, err := c.pragmaInt("foreign_keys")
	if err != nil {
		return err
	}
	if keys != 0 {
		// In a transaction it would do nothing.
		if err := c.pragma(Pragma{"foreign_keys", "off"}); err != nil {
			return err
		}
		defer func() {
			if err2 := c.undo("PRAGMA foreign_keys=on"); err == nil {
				err = err2
			}
		}()
	}
	for version < len(steps) {
		err := c.Tx(func() error {
			// Another program may have been faster.
			if version, err = c.version(len(steps)); err != nil || version == len(steps) {
				return err
			}
			if err := c.migrate(version, steps[version], keys != 0); err != nil {
				return fmt.Errorf("migration %d: %w", version+1, err)
			}
			version++
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A VersionError is that of a database to which more steps were done than the program has.
type VersionError struct {
	Database int // steps that were done to the database
	Program  int // steps that there are
}

// Error gives both numbers.
func (e *VersionError) Error() string {
	return fmt.Sprintf("hpsqlite: the database is of a newer program: it has had %d migrations, "+
		"and this program knows %d", e.Database, e.Program)
}

func (c *Conn) version(most int) (int, error) {
	v, err := c.pragmaInt("user_version")
	if err != nil {
		return 0, err
	}
	if v < 0 || v > int64(most) {
		return 0, &VersionError{Database: int(v), Program: most}
	}
	return int(v), nil
}

func (c *Conn) pragmaInt(name string) (v int64, err error) {
	rows := c.Query("PRAGMA " + name)
	if rows.Next() {
		v = rows.Int64(0)
	}
	return v, rows.Close()
}

func (c *Conn) migrate(version int, sql string, keys bool) error {
	if _, err := c.Exec(sql); err != nil {
		return err
	}
	if c.autocommit {
		return errors.New("hpsqlite: it ended the transaction that it is carried out in")
	}
	if keys {
		if err := c.checkForeignKeys(); err != nil {
			return err
		}
	}
	return c.pragma(Pragma{"user_version", strconv.Itoa(version + 1)})
}

func (c *Conn) checkForeignKeys() error {
	rows := c.Query("PRAGMA foreign_key_check")
	var first string
	n := 0
	for ; rows.Next(); n++ {
		if n == 0 {
			first = fmt.Sprintf("row %s of %s has none in %s", rows.Text(1), rows.Text(0), rows.Text(2))
		}
	}
	if err := rows.Close(); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	return &Error{Code: ErrConstraintForeignKey, Offset: -1,
		Message: fmt.Sprintf("FOREIGN KEY constraint failed: %s (%d rows in all)", first, n)}
}

// MigrationFiles reads the steps for Migrate from files whose names begin with their number,
// such as 1_people.sql or 0002-index.sql. The numbers go from 1 on without a gap. pattern is
// path.Match's.
func MigrationFiles(fsys fs.FS, pattern string) ([]string, error) {
	names, err := fs.Glob(fsys, pattern)
	if err != nil {
		return nil, fmt.Errorf("hpsqlite: %w", err)
	}
	steps := make([]string, len(names))
	by := make([]string, len(names))
	for _, name := range names {
		base := path.Base(name)
		digits := base[:len(base)-len(strings.TrimLeft(base, "0123456789"))]
		n, err := strconv.Atoi(digits)
		switch {
		case err != nil:
			return nil, fmt.Errorf("hpsqlite: the name of migration %s does not begin with its number", name)
		case n < 1 || n > len(names):
			return nil, fmt.Errorf("hpsqlite: migration %s: there are %d, numbered from 1 on", name,
				len(names))
		case by[n-1] != "":
			return nil, fmt.Errorf("hpsqlite: migrations %s and %s have the same number", by[n-1], name)
		}
		sql, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("hpsqlite: %w", err)
		}
		by[n-1], steps[n-1] = name, string(sql)
	}
	return steps, nil
}
