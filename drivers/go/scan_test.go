package hpsqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"
)

// What is scanned straight from the buffer is what database/sql makes of the value, for every
// type of value and of what it is scanned into; where scan leaves it to database/sql, it
// changes nothing.
func TestScanIsWhatDatabaseSQLDoes(t *testing.T) {
	values := []string{
		"NULL", "0", "1", "-1", "42", "300", "2147483648", "9007199254740993",
		"-9223372036854775808", "1700000000",
		"1.5", "-0.0", "1e300", "''", "'text'", "'42'", "'1.5'", "'true'", "'2026-01-02 03:04:05'",
		"x''", "x'3432'", "x'00ff'",
		"hex(zeroblob(40000))", "zeroblob(40000)",
	}
	dests := []any{
		int64(7), int(7), int32(7), int8(7), uint64(7), uint16(7), 7.5, float32(7.5), true,
		"before", []byte("before"), time.Unix(7, 0),
		sql.NullInt64{Int64: 7}, sql.NullFloat64{}, sql.NullString{String: "before"},
		sql.NullBool{}, sql.NullTime{},
		sql.Null[int]{}, sql.NullInt32{}, (*int64)(nil), (*string)(nil),
	}
	c := open(t)
	k := &sqlConn{c: c}
	direct := map[string]int{}
	for _, decl := range []string{"", "BOOLEAN", "DATETIME"} {
		for _, value := range values {
			exec(t, c, "CREATE TABLE t(v "+decl+"); INSERT INTO t VALUES("+value+")")
			rows, err := k.QueryContext(context.Background(), "SELECT v FROM t", nil)
			if err != nil {
				t.Fatal(err)
			}
			q := rows.(*sqlRows)
			if err := q.next(); err != nil {
				t.Fatal(err)
			}
			for _, before := range dests {
				name := fmt.Sprintf("%s %.30s into %T", decl, value, before)
				got, want := copyOf(before), copyOf(before)
				wantErr := convert(want.Interface(), q.value(0))
				if q.scan(0, got.Interface()) {
					direct[fmt.Sprintf("%T", before)]++
					if wantErr != nil || !reflect.DeepEqual(got.Elem().Interface(), want.Elem().Interface()) {
						t.Errorf("%s: %v, want %v, %v", name, got.Elem(), want.Elem(), wantErr)
					}
				} else if !reflect.DeepEqual(got.Elem().Interface(), before) {
					t.Errorf("%s: changed to %v", name, got.Elem())
				}
			}
			var nothing *int64
			if q.scan(0, nothing) {
				t.Error("scanned into a nil pointer")
			}
			if raw := (sql.RawBytes)(nil); q.scan(0, &raw) {
				var want []byte
				if err := convert(&want, q.value(0)); err != nil || string(raw) != string(want) ||
					(raw == nil) != (want == nil) {
					t.Errorf("%s %.30s into RawBytes: %.30q", decl, value, raw)
				}
			}
			rows.Close()
			exec(t, c, "DROP TABLE t")
		}
	}
	for _, typ := range []string{"int64", "int", "int32", "uint64", "float64", "bool", "string",
		"[]uint8", "time.Time", "sql.NullInt64", "sql.NullFloat64", "sql.NullString",
		"sql.NullBool", "sql.NullTime"} {
		if direct[typ] == 0 {
			t.Errorf("nothing is scanned straight into a %s", typ)
		}
	}
	// Beyond what database/sql converts: a JSON text.
	rows, err := k.QueryContext(context.Background(), `SELECT '{"a":1}', NULL`, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	q := rows.(*sqlRows)
	q.next()
	j, n := json.RawMessage{}, json.RawMessage{}
	if !q.scan(0, &j) || !q.scan(1, &n) || string(j) != `{"a":1}` || n != nil {
		t.Errorf("JSON: %s, %s", j, n)
	}
}

// copyOf is a pointer to a new variable with v in it.
func copyOf(v any) reflect.Value {
	p := reflect.New(reflect.TypeOf(v))
	p.Elem().Set(reflect.ValueOf(v))
	return p
}

// convert is database/sql's conversion.
func convert(dest any, value any) error {
	// Null is the one way to it before Go 1.27.
	v := reflect.ValueOf(dest).Elem()
	if s, ok := dest.(sql.Scanner); ok {
		return s.Scan(value)
	}
	switch d := dest.(type) {
	case *int64:
		return convertTo(d, value)
	case *int:
		return convertTo(d, value)
	case *int32:
		return convertTo(d, value)
	case *int8:
		return convertTo(d, value)
	case *uint64:
		return convertTo(d, value)
	case *uint16:
		return convertTo(d, value)
	case *float64:
		return convertTo(d, value)
	case *float32:
		return convertTo(d, value)
	case *bool:
		return convertTo(d, value)
	case *string:
		return convertTo(d, value)
	case *[]byte:
		return convertTo(d, value)
	case *time.Time:
		return convertTo(d, value)
	case **int64:
		return convertTo(d, value)
	case **string:
		return convertTo(d, value)
	}
	return fmt.Errorf("%v: not among the test's", v.Type())
}

func convertTo[T any](dest *T, value any) error {
	var n sql.Null[T]
	if err := n.Scan(value); err != nil {
		return err
	}
	if !n.Valid {
		switch any(dest).(type) {
		case *[]byte, **int64, **string:
		default:
			return fmt.Errorf("NULL into %T", *dest)
		}
	}
	*dest = n.V
	return nil
}
