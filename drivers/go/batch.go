package hpsqlite

/*
#include "hpgo.h"
*/
import "C"

import (
	"math"
	"unsafe"
)

// A batch is the rows that one call of C packed into a buffer, see hpgo.h, and the place in
// them. It knows nothing of where they come from.
type batch struct {
	buf   []byte
	types []uint8  // of the row's columns, in buf; nil if there is no row
	words []uint64 // the row's columns, in buf
	cells int      // from a row's beginning to its cells
	next  int      // in buf, the row after it
	left  int      // rows in buf from next on
	cols  int      // columns of a row

	pending bool // SQLite is at a row that found no room
	slow    bool // rows take their time
	most    int  // rows that the next call brings at most
}

// begun is an empty batch that is packed into buf.
func (b *batch) begun(buf []byte) {
	b.buf, b.pending, b.slow, b.most = buf, false, false, 32
	b.drop()
}

// drop leaves no row: who asks for a column gets a panic, as for any index out of range.
func (b *batch) drop() {
	b.left = 0
	b.noRow()
}

func (b *batch) noRow() { b.types, b.words = nil, nil }

// packed takes up what C has packed, and goes before the first row of it.
func (b *batch) packed() *C.hpgo_out {
	out := (*C.hpgo_out)(unsafe.Pointer(unsafe.SliceData(b.buf)))
	b.left, b.cols = int(out.nRow), int(out.nCol)
	b.next = int(unsafe.Sizeof(*out))
	b.cells = 8 + (b.cols+7)&^7
	b.slow, b.pending = out.bSlow != 0, out.bPending != 0
	return out
}

// ask is how many rows the next call brings at most. Batches grow, so that the first rows do
// not wait for those behind them, and shrink when rows take their time.
func (b *batch) ask() int {
	if b.slow {
		b.most = max(b.most/2, 4)
	}
	n := b.most
	b.most = min(n*4, 1<<20)
	return n
}

// maxColumns is SQLite's own limit (SQLITE_MAX_COLUMN can not be set higher).
const maxColumns = 32767

// advance goes to the next row, of which there is one.
func (b *batch) advance() {
	b.left--
	row := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.buf)), b.next)
	cols := b.cols
	b.next += int(*(*uint32)(row))
	b.types = (*[maxColumns]uint8)(unsafe.Add(row, 8))[:cols:cols]
	b.words = (*[maxColumns]uint64)(unsafe.Add(row, b.cells))[:cols:cols]
}

// A Type is the type of a value as it is stored.
type Type uint8

// Types of values.
const (
	Integer Type = typeInt
	Float   Type = typeFloat
	Text    Type = typeText
	Blob    Type = typeBlob
	Null    Type = typeNull
)

func (t Type) String() string {
	return [...]string{"", "INTEGER", "REAL", "TEXT", "BLOB", "NULL"}[t]
}

// Type is the type of column i's value.
func (b *batch) Type(i int) Type { return nearType(b.types[i]) }

// IsNull reports whether column i is NULL.
func (b *batch) IsNull(i int) bool { return b.types[i] == typeNull }

// Int64 is column i as an integer: 0 if it is NULL, else as CAST AS INTEGER makes it.
func (b *batch) Int64(i int) int64 {
	if b.types[i] == typeInt {
		return int64(b.words[i])
	}
	return b.toInt64(i)
}

// Float64 is column i as a real: 0 if it is NULL, else as CAST AS REAL makes it.
func (b *batch) Float64(i int) float64 {
	if b.types[i] == typeFloat {
		return math.Float64frombits(b.words[i])
	}
	return b.toFloat64(i)
}

// Bool reports whether column i, as an integer, is not 0.
func (b *batch) Bool(i int) bool { return b.Int64(i) != 0 }

func nearType(t uint8) Type {
	if t >= typeFarText {
		t -= typeFarText - typeText
	}
	return Type(t)
}

// aheadType is the type of column i's value in the row that is there, or else in the next one if
// that has been fetched, or else Null.
func (b *batch) aheadType(i int) Type {
	switch {
	case i < len(b.types):
		return nearType(b.types[i])
	case b.types == nil && b.left > 0 && i < b.cols:
		return nearType(b.buf[b.next+8+i])
	}
	return Null
}

// bytes are those of a text or blob.
func (b *batch) bytes(i int) []byte {
	place := (*[2]uint32)(unsafe.Pointer(&b.words[i]))
	at, end := uint(place[0]), uint(place[0])+uint(place[1])
	if b.types[i] < typeFarText {
		return b.buf[at:end:end]
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&b.buf[at])), end-at)
}
