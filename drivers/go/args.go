package hpsqlite

/*
#include <stdlib.h>
#include "hpgo.h"
*/
import "C"

import (
	"math"
	"unsafe"
)

// An args is one set of parameters as C reads it (hpgo.h): a cell for each,
// and behind them the bytes of texts and blobs. The memory is C's, because SQLite
// reads bound values where they are until the statement is reset.
type args struct {
	mem  unsafe.Pointer
	size int // bytes allocated
	used int // bytes in use, cells included
	n    int // parameters
	far  bool
}

// A cell is C's hpgo_arg.
type cell struct {
	typ uint32
	n   uint32
	v   uint64
}

const cellSize = int(unsafe.Sizeof(cell{}))

// Types of cells and of columns.
const (
	typeInt      = 1
	typeFloat    = 2
	typeText     = 3
	typeBlob     = 4
	typeNull     = 5
	typeFarText  = 6
	typeFarBlob  = 7
	typeZeroBlob = 8
)

// Values of this many bytes and more go into memory of their own, so that what
// a statement keeps allocated stays small.
const farArg = 1 << 16

// maxValue is SQLite's own limit of a value at most (SQLITE_MAX_LENGTH can not
// be set higher).
const maxValue = math.MaxInt32 - 1

func (a *args) init(n int) error {
	a.n = n
	if n == 0 {
		return nil
	}
	a.size = 2 * cellSize * n
	if a.mem = C.malloc(C.size_t(a.size)); a.mem == nil {
		return ErrNoMem
	}
	a.clear()
	return nil
}

func (a *args) free() {
	a.dropFar()
	C.free(a.mem)
	a.mem = nil
}

// keptArgs is how much memory a statement that nobody uses keeps for its parameters.
const keptArgs = 64 << 10

// shrink gives back large values, and memory that was needed for many at a time.
func (a *args) shrink() {
	a.dropFar()
	if a.size > keptArgs && a.size > 2*cellSize*a.n {
		mem := C.realloc(a.mem, C.size_t(2*cellSize*a.n))
		if mem != nil {
			a.mem, a.size = mem, 2*cellSize*a.n
		}
		a.clear()
	}
}

// clear makes all parameters NULL.
func (a *args) clear() {
	a.dropFar()
	for i := range a.n {
		*a.cell(i) = cell{typ: typeNull}
	}
	a.used = a.n * cellSize
}

// dropFar frees large values that SQLite has not been given.
func (a *args) dropFar() {
	if !a.far {
		return
	}
	for i := range a.n {
		if c := a.cell(i); c.typ == typeFarText || c.typ == typeFarBlob {
			C.sqlite3_free(cPointer(c.v))
			*c = cell{typ: typeNull}
		}
	}
	a.far = false
}

// gone says that SQLite has, and frees, the large values.
func (a *args) gone() {
	for i := range a.n {
		if c := a.cell(i); c.typ == typeFarText || c.typ == typeFarBlob {
			*c = cell{typ: typeNull}
		}
	}
	a.far = false
}

func (a *args) cell(i int) *cell { return (*cell)(unsafe.Add(a.mem, i*cellSize)) }

// set writes the cell of parameter i, whose large value before, if any, goes.
func (a *args) set(i int, c cell) {
	p := a.cell(i)
	if p.typ == typeFarText || p.typ == typeFarBlob {
		C.sqlite3_free(cPointer(p.v))
	}
	*p = c
}

// bytes copies a text or blob behind the cells.
func (a *args) bytes(i int, typ uint32, p *byte, n int) error {
	if n > maxValue {
		return ErrTooBig
	}
	v := unsafe.Slice(p, n)
	if n >= farArg {
		m := C.sqlite3_malloc64(C.sqlite3_uint64(n))
		if m == nil {
			return ErrNoMem
		}
		copy(unsafe.Slice((*byte)(m), n), v)
		a.set(i, cell{typ: typ + (typeFarText - typeText), n: uint32(n), v: uint64(uintptr(m))})
		a.far = true
		return nil
	}
	if a.used+n > a.size {
		if err := a.grow(n); err != nil {
			return err
		}
	}
	copy(unsafe.Slice((*byte)(unsafe.Add(a.mem, a.used)), n), v)
	a.set(i, cell{typ: typ, n: uint32(n), v: uint64(a.used)})
	a.used += n
	return nil
}

// grow makes room for n more bytes and leaves behind what cells no longer name.
func (a *args) grow(n int) error {
	live := a.n * cellSize
	for i := range a.n {
		if c := a.cell(i); c.typ == typeText || c.typ == typeBlob {
			live += int(c.n)
		}
	}
	size := 2 * (live + n)
	mem := C.malloc(C.size_t(size))
	if mem == nil {
		return ErrNoMem
	}
	used := a.n * cellSize
	copy(unsafe.Slice((*byte)(mem), used), unsafe.Slice((*byte)(a.mem), used))
	old := a.mem
	a.mem, a.size = mem, size
	for i := range a.n {
		if c := a.cell(i); c.typ == typeText || c.typ == typeBlob {
			copy(unsafe.Slice((*byte)(unsafe.Add(mem, used)), c.n),
				unsafe.Slice((*byte)(unsafe.Add(old, int(c.v))), c.n))
			c.v = uint64(used)
			used += int(c.n)
		}
	}
	a.used = used
	C.free(old)
	return nil
}
