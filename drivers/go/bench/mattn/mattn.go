// Package mattn has github.com/mattn/go-sqlite3 under test: with the SQLite inside it, or,
// built with -tags libsqlite3, with the library that the program is linked with.
package mattn

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/hpsqlite/hpsqlite/drivers/go/bench"
	"github.com/mattn/go-sqlite3"
)

const module = "github.com/mattn/go-sqlite3"

// Drivers are the driver as it is, and with the cache of statements that is off by default.
var Drivers = []bench.Driver{
	{Name: name, Module: module, Open: open()},
	{Name: name + "-cached", Module: module, Open: open("_stmt_cache_size=16")},
}

func open(own ...string) func(bench.Settings) (bench.DB, error) {
	return func(s bench.Settings) (bench.DB, error) {
		parameters := own
		if s.NoMutex {
			parameters = append([]string{"_mutex=no"}, own...)
		}
		return bench.OpenSQL(sql.OpenDB(&connector{s.URI(parameters...), s.Pragmas}), s), nil
	}
}

// connector sets pragmas by the driver's hook, since its names of databases have parameters for
// only some.
type connector struct {
	name    string
	pragmas []string
}

func (c *connector) Driver() driver.Driver {
	return &sqlite3.SQLiteDriver{ConnectHook: func(conn *sqlite3.SQLiteConn) error {
		for _, pragma := range c.pragmas {
			if _, err := conn.Exec("PRAGMA "+pragma, nil); err != nil {
				return err
			}
		}
		return nil
	}}
}

func (c *connector) Connect(context.Context) (driver.Conn, error) {
	return c.Driver().Open(c.name)
}
