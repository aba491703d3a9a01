package hpsqlite

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBlobIsReadAndWrittenInParts(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a, b); INSERT INTO t VALUES(1, zeroblob(100000)), (2, x'0102'), "+
		"(3, NULL)")
	want := bytes.Repeat([]byte("0123456789"), 10_000)
	b, err := c.OpenBlob("", "t", "b", 1, true)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "size", b.Size(), int64(100_000))
	if n, err := io.Copy(b, bytes.NewReader(want)); err != nil || n != 100_000 {
		t.Fatal(n, err)
	}
	b.Seek(0, io.SeekStart)
	if err := iotest.TestReader(b, want); err != nil {
		t.Error(err)
	}
	if _, err := b.WriteAt([]byte("xyz"), 99_998); err == nil ||
		!strings.Contains(err.Error(), "keeps its size") {
		t.Error(err)
	}
	if _, err := b.Seek(-1, io.SeekStart); err == nil {
		t.Error("a place before the beginning")
	}
	p := make([]byte, 10)
	if n, err := b.ReadAt(p, 99_995); n != 5 || err != io.EOF || string(p[:5]) != "56789" {
		t.Error(n, err)
	}
	if n, err := b.ReadAt(p, 1<<40); n != 0 || err != io.EOF {
		t.Error(n, err)
	}
	if err := b.Reopen(2); err != nil {
		t.Fatal(err)
	}
	if all, err := io.ReadAll(b); err != nil || string(all) != "\x01\x02" {
		t.Error(all, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := b.Read(p); err == nil {
		t.Error("a closed blob is read")
	}
	equal(t, "value", texts(t, c, "SELECT b=? FROM t WHERE a=1", want)[0], "1")
}

func TestBlobErrorsAreClear(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE t(a UNIQUE, b); INSERT INTO t VALUES(1, 'text'), (2, NULL)")
	for _, try := range []struct {
		schema, table, column string
		rowid                 int64
		want                  string
	}{
		{"", "t", "b", 7, "no such rowid: 7"},
		{"", "t", "b", 2, "cannot open value of type null"},
		{"", "t", "nope", 1, `no such column: "nope"`},
		{"", "nope", "b", 1, "no such table: main.nope"},
		{"elsewhere", "t", "b", 1, "no such table: elsewhere.t"},
		{"", "t", "a", 1, "indexed column"},
		{"", "t\x00", "b", 1, "a NUL byte"},
	} {
		if _, err := c.OpenBlob(try.schema, try.table, try.column, try.rowid, true); err == nil ||
			!strings.Contains(err.Error(), try.want) {
			t.Errorf("%+v: %v", try, err)
		}
	}
	b, err := c.OpenBlob("", "t", "b", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Write([]byte("x")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("written though opened to be read: %v", err)
	}
	exec(t, c, "DELETE FROM t WHERE a=1")
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, ErrAbort) ||
		!strings.Contains(err.Error(), "changed or deleted") {
		t.Errorf("the row is gone: %v", err)
	}
	b.Close()

	exec(t, c, "INSERT INTO t VALUES(3, 'x')")
	open, err := c.OpenBlob("", "t", "b", 3, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := open.Read(make([]byte, 1)); err == nil {
		t.Error("read after the connection was closed")
	}
	if err := open.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.OpenBlob("", "t", "b", 3, false); err != errClosed {
		t.Error(err)
	}
}
