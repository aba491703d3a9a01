package hpsqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"sync"
)

func init() { sql.Register("hpsqlite", &Driver{}) }

// A Driver is what is registered with database/sql as "hpsqlite".
type Driver struct{}

// Open opens one connection. database/sql uses OpenConnector.
func (d *Driver) Open(dsn string) (driver.Conn, error) {
	k, err := d.OpenConnector(dsn)
	if err != nil {
		return nil, err
	}
	return k.Connect(context.Background())
}

// OpenConnector reads the DSN, see ParseDSN.
func (d *Driver) OpenConnector(dsn string) (driver.Connector, error) {
	cfg, err := ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	return NewConnector(cfg, nil), nil
}

// A Connector makes connections for a sql.DB, see sql.OpenDB.
type Connector struct {
	cfg  Config
	init func(*Conn) error

	once   sync.Once
	anchor *Conn // keeps a database in memory while there is no other connection
	err    error
}

// NewConnector makes a connector for sql.OpenDB. Init, if not nil, is called with
// each new connection: to define functions, for instance.
//
// A database in memory is one for all connections of the connector, and lives until
// the sql.DB is closed.
func NewConnector(cfg Config, init func(*Conn) error) *Connector {
	return &Connector{cfg: cfg.SharedMemory(), init: init}
}

// Connect opens a connection.
func (k *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	if k.cfg.inMemdb() {
		k.once.Do(func() { k.anchor, k.err = OpenConfig(k.cfg) })
		if k.err != nil {
			return nil, k.err
		}
	}
	c, err := openConfig(ctx, k.cfg)
	if err != nil {
		return nil, err
	}
	if k.init != nil {
		if err := k.init(c); err != nil {
			c.Close()
			return nil, err
		}
	}
	return &sqlConn{c: c}, nil
}

// Driver is the driver.
func (k *Connector) Driver() driver.Driver { return &Driver{} }

// Close is called by sql.DB.Close.
func (k *Connector) Close() error {
	k.once.Do(func() { k.err = errClosed })
	if k.anchor == nil {
		return nil
	}
	return k.anchor.Close()
}

// Raw calls f with the connection that a sql.Conn has, for what database/sql
// cannot do. The connection must not be kept.
func Raw(conn *sql.Conn, f func(*Conn) error) error {
	return conn.Raw(func(dc any) error {
		c, ok := dc.(*sqlConn)
		if !ok {
			return fmt.Errorf("hpsqlite: the connection is another driver's, %T", dc)
		}
		return f(c.c)
	})
}

// A sqlConn is a connection as database/sql has it.
type sqlConn struct {
	c    *Conn
	args []any // of the statement that is being carried out
}

var (
	_ driver.ConnPrepareContext = (*sqlConn)(nil)
	_ driver.ConnBeginTx        = (*sqlConn)(nil)
	_ driver.ExecerContext      = (*sqlConn)(nil)
	_ driver.QueryerContext     = (*sqlConn)(nil)
	_ driver.NamedValueChecker  = (*sqlConn)(nil)
	_ driver.SessionResetter    = (*sqlConn)(nil)
	_ driver.Validator          = (*sqlConn)(nil)
	_ driver.Pinger             = (*sqlConn)(nil)
)

func (k *sqlConn) Close() error { return k.c.Close() }

func (k *sqlConn) Ping(ctx context.Context) error { return ctx.Err() }

func (k *sqlConn) IsValid() bool { return k.c.h != nil }

// ResetSession leaves a transaction alone that was begun with Exec("BEGIN"): with
// SetMaxOpenConns(1) the next Exec is in it, and programs rely on that.
func (k *sqlConn) ResetSession(context.Context) error {
	if k.c.h == nil {
		return driver.ErrBadConn
	}
	return nil
}

// CheckNamedValue lets parameters through as they are: Stmt.Query takes more types than
// database/sql would, and says what is wrong with others.
func (k *sqlConn) CheckNamedValue(v *driver.NamedValue) error {
	switch v.Value.(type) {
	case sql.Out:
		return errors.New("hpsqlite: SQLite has no output parameters")
	}
	return nil
}

// values gives parameters to Stmt, in the order that database/sql has them.
func (k *sqlConn) values(args []driver.NamedValue) []any {
	k.args = k.args[:0]
	for i := range args {
		if args[i].Name != "" {
			k.args = append(k.args, args[i])
		} else {
			k.args = append(k.args, args[i].Value)
		}
	}
	return k.args
}

// dropValues forgets the parameters, which may be large.
func (k *sqlConn) dropValues() { clear(k.args) }

func (k *sqlConn) ExecContext(ctx context.Context, sql string,
	args []driver.NamedValue) (driver.Result, error) {
	res, err := k.c.exec(ctx, sql, k.values(args))
	k.dropValues()
	if err != nil {
		return nil, err
	}
	return sqlResult(res), nil
}

func (k *sqlConn) QueryContext(ctx context.Context, sql string,
	args []driver.NamedValue) (driver.Rows, error) {
	s, tail, err := k.c.take(sql)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return noRows{}, leftOver(k.values(args), true)
	}
	if tail != "" {
		return k.queryScript(ctx, s, tail, k.values(args))
	}
	s.query(ctx, k.values(args))
	k.dropValues()
	return s.sqlRows.begin(s, true)
}

func (k *sqlConn) Prepare(sql string) (driver.Stmt, error) {
	return k.PrepareContext(context.Background(), sql)
}

func (k *sqlConn) PrepareContext(ctx context.Context, sql string) (driver.Stmt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := k.c.Prepare(sql)
	if err != nil {
		return nil, err
	}
	s.keepsArgs = false
	return &sqlStmt{k: k, s: s}, nil
}

func (k *sqlConn) Begin() (driver.Tx, error) {
	return k.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx begins as Config.TxLock says, unless the transaction is read-only: then it is
// deferred, and what would write fails. It is serializable, which is what the weaker levels
// allow too.
func (k *sqlConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if l := sql.IsolationLevel(opts.Isolation); l < sql.LevelDefault || l > sql.LevelSerializable {
		return nil, fmt.Errorf("hpsqlite: there is no isolation level %q: SQLite's transactions "+
			"are serializable", l)
	}
	begin := "BEGIN IMMEDIATE"
	switch {
	case opts.ReadOnly || k.c.cfg.Mode == ReadOnly:
		begin = "BEGIN"
	case k.c.cfg.TxLock == Deferred:
		begin = "BEGIN"
	case k.c.cfg.TxLock == Exclusive:
		begin = "BEGIN EXCLUSIVE"
	}
	_, err := k.c.exec(ctx, begin, nil)
	if err != nil {
		return nil, err
	}
	tx := &sqlTx{c: k.c}
	if opts.ReadOnly && k.c.cfg.Mode != ReadOnly {
		if tx.queryOnly, err = k.c.setQueryOnly(); err != nil {
			k.c.Exec("ROLLBACK")
			return nil, err
		}
	}
	return tx, nil
}

// setQueryOnly keeps the connection from writing. It says false if nothing else was allowed
// before.
func (c *Conn) setQueryOnly() (changed bool, err error) {
	rows := c.Query("PRAGMA query_only")
	was := rows.Next() && rows.Bool(0)
	if err := rows.Close(); err != nil || was {
		return false, err
	}
	_, err = c.Exec("PRAGMA query_only=1")
	return err == nil, err
}

type sqlTx struct {
	c         *Conn
	queryOnly bool // to be taken back
}

func (t *sqlTx) end(sql string) error {
	_, err := t.c.Exec(sql)
	if t.queryOnly {
		if _, err2 := t.c.Exec("PRAGMA query_only=0"); err == nil {
			err = err2
		}
	}
	return err
}

// Commit leaves nothing open: what could not be committed is rolled back, as
// database/sql does not come again.
func (t *sqlTx) Commit() error {
	err := t.end("COMMIT")
	if err != nil && t.c.InTransaction() {
		t.c.Exec("ROLLBACK")
	}
	return err
}

// Rollback is content if SQLite has rolled back already, as after a full disk.
func (t *sqlTx) Rollback() error {
	if !t.c.InTransaction() {
		if t.queryOnly {
			_, err := t.c.Exec("PRAGMA query_only=0")
			return err
		}
		return nil
	}
	return t.end("ROLLBACK")
}

type sqlResult Result

func (r sqlResult) LastInsertId() (int64, error) { return r.RowID, nil }
func (r sqlResult) RowsAffected() (int64, error) { return r.Changes, nil }

// A sqlStmt is a statement that database/sql has prepared. In a transaction it may be asked for
// again while its rows are open: then the connection carries out the same SQL once more.
type sqlStmt struct {
	k *sqlConn
	s *Stmt
}

var (
	_ driver.StmtExecContext  = (*sqlStmt)(nil)
	_ driver.StmtQueryContext = (*sqlStmt)(nil)
)

func (t *sqlStmt) Close() error { return t.s.Close() }

// NumInput leaves it to Stmt to say how many parameters are wrong: named ones
// may stand in several places.
func (t *sqlStmt) NumInput() int { return -1 }

func (t *sqlStmt) Exec(args []driver.Value) (driver.Result, error) {
	return t.ExecContext(context.Background(), namedValues(args))
}

func (t *sqlStmt) Query(args []driver.Value) (driver.Rows, error) {
	return t.QueryContext(context.Background(), namedValues(args))
}

func namedValues(args []driver.Value) []driver.NamedValue {
	list := make([]driver.NamedValue, len(args))
	for i, v := range args {
		list[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return list
}

func (t *sqlStmt) ExecContext(ctx context.Context,
	args []driver.NamedValue) (driver.Result, error) {
	if t.s.rows.open {
		return t.k.ExecContext(ctx, t.s.sql, args)
	}
	res, err := t.s.exec(ctx, t.k.values(args))
	t.k.dropValues()
	if err != nil {
		return nil, err
	}
	return sqlResult(res), nil
}

func (t *sqlStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if t.s.rows.open {
		return t.k.QueryContext(ctx, t.s.sql, args)
	}
	t.s.query(ctx, t.k.values(args))
	t.k.dropValues()
	return t.s.sqlRows.begin(t.s, false)
}

// sqlRows are a statement's rows as database/sql has them.
type sqlRows struct {
	r     *Rows
	names []string
	kinds []column
}

var (
	_ driver.Rows                           = (*sqlRows)(nil)
	_ driver.RowsColumnTypeDatabaseTypeName = (*sqlRows)(nil)
	_ driver.RowsColumnTypeScanType         = (*sqlRows)(nil)
	_ driver.RowsColumnTypeNullable         = (*sqlRows)(nil)
)

// begin is called when s.query has been; owned says that the statement is released with
// the rows.
func (q *sqlRows) begin(s *Stmt, owned bool) (driver.Rows, error) {
	r := &s.rows
	if r.err != nil && r.left == 0 {
		err := r.err
		r.Close()
		if owned {
			s.release()
		}
		return nil, err
	}
	s.ownedByRows = owned
	if s.columns == nil || q.r == nil || q.names == nil {
		q.names = s.Columns()
	}
	q.r, q.kinds = r, s.columns
	return q, nil
}

func (q *sqlRows) Columns() []string { return q.names }

func (q *sqlRows) Close() error { return q.r.Close() }

// Next gives blobs without a copy: database/sql copies them, except for
// sql.RawBytes, which is good until the next row.
func (q *sqlRows) Next(dest []driver.Value) error {
	if err := q.next(); err != nil {
		return err
	}
	for i := range dest {
		dest[i] = q.value(i)
	}
	return nil
}

// value is column i of the row.
func (q *sqlRows) value(i int) driver.Value {
	r := q.r
	s := r.s
	switch r.types[i] {
	case typeInt:
		v := int64(r.words[i])
		switch q.kinds[i].kind {
		case isTime:
			return unixTime(v, s.conn.cfg.Location)
		case isBool:
			return v != 0
		}
		return s.boxes.int64(v)
	case typeFloat:
		return s.boxes.float64(math.Float64frombits(r.words[i]))
	case typeText, typeFarText:
		text := string(r.bytes(i))
		if q.kinds[i].kind == isTime {
			if t, ok := parseTime(text, s.conn.cfg.Location); ok {
				return t
			}
		}
		return s.boxes.string(text)
	case typeBlob, typeFarBlob:
		return r.bytes(i)
	}
	return nil
}

// ColumnTypeDatabaseTypeName is the type that the column was declared with, without
// what is in parentheses.
func (q *sqlRows) ColumnTypeDatabaseTypeName(i int) string {
	word, _, _ := strings.Cut(q.kinds[i].decl, "(")
	return strings.ToUpper(strings.TrimSpace(word))
}

// ColumnTypeNullable is not known of a query's column.
func (q *sqlRows) ColumnTypeNullable(int) (nullable, ok bool) { return true, false }

// ColumnTypeScanType is what the declared type lets expect; for an expression, what its value
// in the row is that is there or comes next.
func (q *sqlRows) ColumnTypeScanType(i int) reflect.Type {
	c := q.kinds[i]
	switch c.kind {
	case isTime:
		return reflect.TypeFor[sql.NullTime]()
	case isBool:
		return reflect.TypeFor[sql.NullBool]()
	}
	decl := strings.ToUpper(c.decl)
	if decl == "" {
		decl = q.r.aheadType(i).String()
	}
	switch {
	case strings.Contains(decl, "INT"):
		return reflect.TypeFor[sql.NullInt64]()
	case strings.Contains(decl, "CHAR"), strings.Contains(decl, "CLOB"),
		strings.Contains(decl, "TEXT"):
		return reflect.TypeFor[sql.NullString]()
	case strings.Contains(decl, "BLOB"):
		return reflect.TypeFor[[]byte]()
	case strings.Contains(decl, "REAL"), strings.Contains(decl, "FLOA"),
		strings.Contains(decl, "DOUB"):
		return reflect.TypeFor[sql.NullFloat64]()
	}
	return reflect.TypeFor[any]()
}

// noRows are those of SQL without a statement.
type noRows struct{}

func (noRows) Columns() []string         { return nil }
func (noRows) Close() error              { return nil }
func (noRows) Next([]driver.Value) error { return io.EOF }
