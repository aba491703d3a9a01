package hpsqlite

import "unsafe"

// database/sql takes values as interfaces, and to make one of an integer, a real
// or a string allocates: 8 or 16 bytes, for every value. Boxes does that for
// some dozens at a time. A value is written once and never again, so that who keeps it, as
// Scan into an *any does, keeps what it was; with it stays the array that it
// is in, of which boxSize is therefore small.
type boxes struct {
	ints    []int64
	floats  []float64
	strings []string
}

const boxSize = 64

// Strings that are longer are boxed one by one: who keeps one does not keep dozens, and what their
// bytes take makes up for it.
const longString = 256

// An eface is how an interface without methods is laid out. There is no other way
// to have one point into an array.
type eface struct {
	typ, data unsafe.Pointer
}

func typeOf(v any) unsafe.Pointer { return (*eface)(unsafe.Pointer(&v)).typ }

var (
	intType    = typeOf(int64(0))
	floatType  = typeOf(float64(0))
	stringType = typeOf("")
)

func (b *boxes) int64(v int64) (boxed any) {
	if uint64(v) < 256 {
		return v // Go has these ready
	}
	if len(b.ints) == cap(b.ints) {
		b.ints = make([]int64, 0, boxSize)
	}
	b.ints = append(b.ints, v)
	*(*eface)(unsafe.Pointer(&boxed)) = eface{intType, unsafe.Pointer(&b.ints[len(b.ints)-1])}
	return boxed
}

func (b *boxes) float64(v float64) (boxed any) {
	if len(b.floats) == cap(b.floats) {
		b.floats = make([]float64, 0, boxSize)
	}
	b.floats = append(b.floats, v)
	*(*eface)(unsafe.Pointer(&boxed)) = eface{floatType, unsafe.Pointer(&b.floats[len(b.floats)-1])}
	return boxed
}

func (b *boxes) string(v string) (boxed any) {
	if len(v) > longString {
		return v
	}
	if len(b.strings) == cap(b.strings) {
		b.strings = make([]string, 0, boxSize)
	}
	b.strings = append(b.strings, v)
	*(*eface)(unsafe.Pointer(&boxed)) = eface{stringType, unsafe.Pointer(&b.strings[len(b.strings)-1])}
	return boxed
}
