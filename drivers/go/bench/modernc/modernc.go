// Package modernc has modernc.org/sqlite under test.
package modernc

import (
	"database/sql"

	"github.com/hpsqlite/hpsqlite/drivers/go/bench"
	_ "modernc.org/sqlite"
)

const module = "modernc.org/sqlite"

// Drivers are the driver as it is.
var Drivers = []bench.Driver{{Name: "modernc", Module: module, Open: open}}

func open(s bench.Settings) (bench.DB, error) {
	db, err := sql.Open("sqlite", s.URI(s.PragmaParameters()...))
	if err != nil {
		return nil, err
	}
	return bench.OpenSQL(db, s), nil
}
