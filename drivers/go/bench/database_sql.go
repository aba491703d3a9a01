package bench

import (
	"database/sql"
	"errors"
)

// OpenSQL is a database behind database/sql. Statements are not prepared beforehand, as in most
// programs: a driver may keep them.
func OpenSQL(db *sql.DB, s Settings) DB {
	db.SetMaxOpenConns(s.Limit())
	db.SetMaxIdleConns(s.Limit())
	return sqlDB{db}
}

type sqlDB struct {
	db *sql.DB
}

func (d sqlDB) Exec(text string) error {
	_, err := d.db.Exec(text)
	return err
}

func (d sqlDB) Text(query string) (string, error) {
	var text sql.NullString
	err := d.db.QueryRow(query).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return text.String, err
}

// cell is where a column is scanned to.
type cell struct {
	int  int64
	text string
}

func (d sqlDB) Select(q *Query, args []Value, to *Totals) error {
	// A program has a variable for each column; this is as many bytes in one allocation.
	row := make([]cell, len(q.Columns))
	dest := make([]any, len(row))
	for i := range row {
		if q.Columns[i] == 't' {
			dest[i] = &row[i].text
		} else {
			dest[i] = &row[i].int
		}
	}
	if q.One {
		err := d.db.QueryRow(q.SQL, boxed(args)...).Scan(dest...)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		add(to, q, row)
		return nil
	}
	rows, err := d.db.Query(q.SQL, boxed(args)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		add(to, q, row)
	}
	return rows.Err()
}

func add(to *Totals, q *Query, row []cell) {
	for i := range row {
		if q.Columns[i] == 't' {
			AddText(to, i, row[i].text)
		} else {
			to.Int(i, row[i].int)
		}
	}
	to.Row()
}

// boxed gives values as database/sql takes them.
func boxed(values []Value) []any {
	if len(values) == 0 {
		return nil
	}
	all := make([]any, len(values))
	for i, v := range values {
		if v.IsText {
			all[i] = v.Text
		} else {
			all[i] = v.Int
		}
	}
	return all
}

func (d sqlDB) Transaction(do func(Inserter) error) error {
	tx, err := d.db.Begin()
	if err != nil {
		return err
	}
	if err := do(sqlTx{tx}); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

type sqlTx struct {
	tx *sql.Tx
}

func (t sqlTx) Insert(statement string, rows Rows) error {
	stmt, err := t.tx.Prepare(statement)
	if err != nil {
		return err
	}
	defer stmt.Close()
	row := make([]Value, rows.Width)
	for i := range rows.Len {
		rows.Row(i, row)
		if _, err := stmt.Exec(boxed(row)...); err != nil {
			return err
		}
	}
	return nil
}

func (d sqlDB) Close() error {
	return d.db.Close()
}
