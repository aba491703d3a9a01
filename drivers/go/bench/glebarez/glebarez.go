// Package glebarez has github.com/glebarez/go-sqlite under test.
package glebarez

import (
	"database/sql"

	_ "github.com/glebarez/go-sqlite"
	"github.com/hpsqlite/hpsqlite/drivers/go/bench"
)

const module = "github.com/glebarez/go-sqlite"

// Drivers are the driver as it is.
var Drivers = []bench.Driver{{Name: "glebarez", Module: module, Open: open}}

func open(s bench.Settings) (bench.DB, error) {
	db, err := sql.Open("sqlite", s.URI(s.PragmaParameters()...))
	if err != nil {
		return nil, err
	}
	return bench.OpenSQL(db, s), nil
}
