package hpsqlite

import (
	"math"
	"strconv"
	"strings"
)

// What CAST makes of a value, for columns that are asked for as another type than they have.

func (b *batch) toInt64(i int) int64 {
	switch b.types[i] {
	case typeFloat:
		return floatToInt(math.Float64frombits(b.words[i]))
	case typeNull:
		return 0
	}
	digits := numericPrefix(string(b.bytes(i)), false)
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil && digits != "" && n == 0 {
		return 0
	}
	return n
}

func (b *batch) toFloat64(i int) float64 {
	switch b.types[i] {
	case typeInt:
		return float64(int64(b.words[i]))
	case typeNull:
		return 0
	}
	f, _ := strconv.ParseFloat(numericPrefix(string(b.bytes(i)), true), 64)
	return f
}

func (r *Rows) toText(i int) []byte {
	switch r.types[i] {
	case typeInt:
		return strconv.AppendInt(nil, int64(r.words[i]), 10)
	case typeFloat:
		return []byte(r.s.conn.floatText(math.Float64frombits(r.words[i])))
	}
	return nil
}

// floatToInt cuts off the fraction; beyond the integers it is the outermost one.
func floatToInt(f float64) int64 {
	switch {
	case f <= math.MinInt64:
		return math.MinInt64
	case f >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(f)
}

// numericPrefix is the part of text that CAST takes for a number.
func numericPrefix(text string, real bool) string {
	text = strings.TrimLeft(text, " \t\n\v\f\r")
	i, digits := 0, 0
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		i++
	}
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i, digits = i+1, digits+1
	}
	if !real {
		if digits == 0 {
			return "0"
		}
		return text[:i]
	}
	if i < len(text) && text[i] == '.' {
		i++
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i, digits = i+1, digits+1
		}
	}
	if digits == 0 {
		return "0"
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		j := i + 1
		if j < len(text) && (text[j] == '-' || text[j] == '+') {
			j++
		}
		if j < len(text) && text[j] >= '0' && text[j] <= '9' {
			for j < len(text) && text[j] >= '0' && text[j] <= '9' {
				j++
			}
			i = j
		}
	}
	return text[:i]
}

// floatText is f as SQLite writes it.
func (c *Conn) floatText(f float64) string {
	rows := c.Query("SELECT CAST(? AS TEXT)", f)
	defer rows.Close()
	if !rows.Next() {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return rows.Text(0)
}
