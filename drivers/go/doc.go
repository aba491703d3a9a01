// Package hpsqlite is SQLite for Go: a driver for database/sql, and beside it an
// interface of its own that is several times faster.
//
// With database/sql, the driver's name is "hpsqlite":
//
//	db, err := sql.Open("hpsqlite", "app.db")
//
// Directly, a connection is used by one goroutine at a time:
//
//	conn, err := hpsqlite.Open("app.db")
//	stmt, err := conn.Prepare("SELECT id, name FROM people WHERE age > ?")
//	rows := stmt.Query(30)
//	for rows.Next() {
//		fmt.Println(rows.Int64(0), rows.Text(1))
//	}
//	err = rows.Close()
//
// # What is fast about it
//
// A call from Go to C costs as much as SQLite takes for several columns of a row. So one call
// binds all parameters, steps, and brings rows packed into one buffer, as many as are quickly
// there; columns are looked up in that buffer. Reading a row allocates nothing. Statements stay
// prepared (Config.StmtCache), and ExecMany carries out many sets of parameters in a call.
//
// # Settings
//
// A connection begins with what an application wants: foreign keys checked, five seconds of
// waiting for a lock, transactions that begin IMMEDIATE, and, for a file that it creates, WAL with
// synchronous=NORMAL. A file that is there keeps its journal mode unless the DSN asks for another
// (Defaults, Config, ParseDSN). Conn.Settings reads back what is in force.
//
// # What SQLite calls
//
// Functions, aggregates, window functions, collations, and hooks can be written in Go
// (Conn.CreateFunction, Conn.CreateAggregate, Conn.CreateCollation, Conn.SetUpdateHook, …).
// They are a connection's; for all those of a sql.DB they are defined in the function that
// NewConnector takes. If one panics, the statement fails with a PanicError, and the connection
// goes on.
//
// # The library
//
// The package is linked with High Performance SQLite by pkg-config, or has it compiled in with
// the build tag hpsqlite_static; README.md says how. It works with any SQLite from 3.38 on,
// without what only ours has.
package hpsqlite
