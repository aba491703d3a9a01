package hpsqlite

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"unsafe"
)

// pack writes rows as C does, into a buffer of n bytes, for b to take up. A []byte is a blob, a
// *string a text that is not copied.
func pack(b *batch, n int, rows ...[]any) {
	buf := newBuffer(n)
	b.buf = buf
	at := int(unsafe.Sizeof(*b.packed()))
	cols := 0
	for _, row := range rows {
		cols = len(row)
		words := at + 8 + (cols+7)&^7
		end := words + 8*cols
		far := func(i int, text *string) {
			buf[at+8+i] = typeFarText
			*(*[2]uint32)(unsafe.Pointer(&buf[words+8*i])) = [2]uint32{uint32(end), uint32(len(*text))}
			*(**byte)(unsafe.Pointer(&buf[end])) = unsafe.StringData(*text)
			end += 16
		}
		near := func(i int, typ uint8, value string) {
			buf[at+8+i] = typ
			*(*[2]uint32)(unsafe.Pointer(&buf[words+8*i])) = [2]uint32{uint32(end), uint32(len(value))}
			end = (end + copy(buf[end:], value) + 7) &^ 7
		}
		for i, value := range row {
			word := (*uint64)(unsafe.Pointer(&buf[words+8*i]))
			switch v := value.(type) {
			case nil:
				buf[at+8+i] = typeNull
			case int:
				buf[at+8+i], *word = typeInt, uint64(v)
			case float64:
				buf[at+8+i], *word = typeFloat, math.Float64bits(v)
			case string:
				near(i, typeText, v)
			case []byte:
				near(i, typeBlob, string(v))
			case *string:
				far(i, v)
			}
		}
		*(*uint32)(unsafe.Pointer(&buf[at])) = uint32(end - at)
		at = end
	}
	out := b.packed()
	for range rows {
		out.nRow++
	}
	for range cols {
		out.nCol++
	}
	b.packed()
}

func TestABatchGivesTheRowsThatWerePacked(t *testing.T) {
	var b batch
	long := "a text that stays where SQLite has it"
	pack(&b, 4096,
		[]any{-7, 1.5, "a text", []byte{1, 2, 3}, nil, "", 8, 9, 10},
		[]any{1, "12 apples", " -3.5e1x", 1e300, "x", &long, nil, nil, nil})
	equal(t, "rows", b.left, 2)
	equal(t, "columns", b.cols, 9)
	equal(t, "the type that comes", b.aheadType(1), Float)

	b.advance()
	equal(t, "types", slices.Equal(b.types, []uint8{typeInt, typeFloat, typeText, typeBlob, typeNull,
		typeText, typeInt, typeInt, typeInt}), true)
	equal(t, "an integer", int64(b.words[0]), int64(-7))
	equal(t, "the last column", int64(b.words[8]), int64(10))
	equal(t, "a text", string(b.bytes(2)), "a text")
	equal(t, "a blob", string(b.bytes(3)), "\x01\x02\x03")
	equal(t, "an empty text", len(b.bytes(5)), 0)
	equal(t, "a real as an integer", b.toInt64(1), int64(1))
	equal(t, "NULL as a real", b.toFloat64(4), 0.0)

	b.advance()
	equal(t, "left", b.left, 0)
	equal(t, "a text as an integer", b.toInt64(1), int64(12))
	equal(t, "a text as a real", b.toFloat64(2), -35.0)
	equal(t, "a large real as an integer", b.toInt64(3), int64(math.MaxInt64))
	equal(t, "the type of a text that is not copied", b.aheadType(5), Text)
	equal(t, "a text that is not copied", string(b.bytes(5)), long)
	runtime.KeepAlive(&long)

	b.drop()
	defer func() {
		if recover() == nil {
			t.Error("a column of no row was given")
		}
	}()
	b.bytes(0)
}

func TestABatchOfNoRowsHasNoTypes(t *testing.T) {
	var b batch
	pack(&b, 512)
	equal(t, "rows", b.left, 0)
	equal(t, "the type that comes", b.aheadType(0), Null)
}

func TestBatchesGrowAndShrinkWhenRowsTakeTheirTime(t *testing.T) {
	var b batch
	b.begun(nil)
	var asked []int
	for range 4 {
		asked = append(asked, b.ask())
	}
	b.slow = true
	for range 3 {
		asked = append(asked, b.ask())
	}
	equal(t, "asked", slices.Equal(asked, []int{32, 128, 512, 2048, 4096, 8192, 16384}), true)
	b.most, b.slow = 1<<20, false
	b.ask()
	equal(t, "at most", b.ask(), 1<<20)
	b.most, b.slow = 4, true
	equal(t, "at least", b.ask(), 4)
}
