package hpsqlite

import (
	"database/sql"
	"encoding/json"
	"io"
	"math"
	"time"
)

// next goes to the next row, or says io.EOF.
func (q *sqlRows) next() error {
	if q.r.Next() {
		return nil
	}
	if err := q.r.Err(); err != nil {
		return err
	}
	return io.EOF
}

// scan copies column i of the row to dest without making an interface of it. It says
// false, and leaves dest alone, where database/sql has to convert, or to say why it cannot.
//
// From Go 1.27 on it is what Rows.Scan calls, see RowsColumnScanner.
func (q *sqlRows) scan(i int, dest any) bool {
	r := q.r
	typ, kind := r.types[i], q.kinds[i].kind
	isBytes := typ == typeBlob || typ == typeFarBlob
	isText := kind != isTime && (typ == typeText || typ == typeFarText)
	switch d := dest.(type) {
	case *int64:
		return q.scanInt(i, d)
	case *int:
		var v int64
		if d == nil || !q.scanInt(i, &v) || v != int64(int(v)) {
			return false
		}
		*d = int(v)
	case *int32:
		var v int64
		if d == nil || !q.scanInt(i, &v) || v != int64(int32(v)) {
			return false
		}
		*d = int32(v)
	case *uint64:
		var v int64
		if d == nil || !q.scanInt(i, &v) || v < 0 {
			return false
		}
		*d = uint64(v)
	case *float64:
		switch {
		case d == nil:
			return false
		case typ == typeFloat:
			*d = math.Float64frombits(r.words[i])
		case typ == typeInt && kind == plain:
			*d = float64(int64(r.words[i]))
		default:
			return false
		}
	case *bool:
		if d == nil || typ != typeInt || kind == isTime || kind == plain && r.words[i] > 1 {
			return false
		}
		*d = r.words[i] != 0
	case *string:
		if d == nil || !isText && !isBytes {
			return false
		}
		*d = string(r.bytes(i))
	case *[]byte:
		return d != nil && q.scanBytes(i, d, isText || isBytes)
	case *json.RawMessage:
		return d != nil && q.scanBytes(i, (*[]byte)(d), isText || isBytes)
	case *sql.RawBytes:
		switch {
		case d == nil:
			return false
		case typ == typeNull:
			*d = nil
		case isText || isBytes:
			*d = r.bytes(i)
		default:
			return false
		}
	case *time.Time:
		if d == nil || kind != isTime {
			return false
		}
		switch typ {
		case typeInt:
			*d = unixTime(int64(r.words[i]), r.s.conn.cfg.Location)
		case typeText, typeFarText:
			t, ok := parseTime(string(r.bytes(i)), r.s.conn.cfg.Location)
			if !ok {
				return false
			}
			*d = t
		default:
			return false
		}
	case *sql.NullInt64:
		return d != nil && q.scanNull(i, &d.Int64, &d.Valid)
	case *sql.NullFloat64:
		return d != nil && q.scanNull(i, &d.Float64, &d.Valid)
	case *sql.NullString:
		return d != nil && q.scanNull(i, &d.String, &d.Valid)
	case *sql.NullBool:
		return d != nil && q.scanNull(i, &d.Bool, &d.Valid)
	case *sql.NullTime:
		return d != nil && q.scanNull(i, &d.Time, &d.Valid)
	default:
		return false
	}
	return true
}

func (q *sqlRows) scanInt(i int, d *int64) bool {
	if d == nil || q.r.types[i] != typeInt || q.kinds[i].kind != plain {
		return false
	}
	*d = int64(q.r.words[i])
	return true
}

func (q *sqlRows) scanBytes(i int, d *[]byte, has bool) bool {
	switch {
	case q.r.types[i] == typeNull:
		*d = nil
	case has:
		b := q.r.bytes(i)
		*d = append(make([]byte, 0, len(b)), b...)
	default:
		return false
	}
	return true
}

func (q *sqlRows) scanNull(i int, value any, valid *bool) bool {
	if q.r.types[i] == typeNull || !q.scan(i, value) {
		return false
	}
	*valid = true
	return true
}
