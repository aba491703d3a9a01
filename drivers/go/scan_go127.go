//go:build go1.27

package hpsqlite

import (
	"database/sql"
	"database/sql/driver"
	"io"
)

var (
	_ driver.RowsColumnScanner = (*sqlRows)(nil)
	_ driver.RowsColumnScanner = (*script)(nil)
)

// NextRow goes to the next row.
func (q *sqlRows) NextRow() error { return q.next() }

// NextRow goes to the next row of the result set.
func (p *script) NextRow() error {
	if p.r == nil {
		return io.EOF
	}
	return p.sqlRows.NextRow()
}

// ScanColumn copies column i to dest.
func (q *sqlRows) ScanColumn(ctx driver.ScanContext, i int, dest any) error {
	if q.scan(i, dest) {
		return nil
	}
	return sql.ConvertAssign(ctx, dest, q.value(i))
}
