package hpsqlite

/*
#cgo noescape sqlite3_blob_read
#cgo nocallback sqlite3_blob_read
#include "hpgo.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"unsafe"
)

// A BlobHandle is one value of a row, read and written in parts, straight between SQLite's
// pages and the caller's memory. The value is a blob or a text of a table that has
// rowids. It has the size that it had when the row was written: ZeroBlob, or
// zeroblob(N) in SQL, makes room.
//
// A BlobHandle belongs to its connection, and so to one goroutine at a time, ReadAt
// included. While it is open, so is a transaction that reads, or one that
// writes; outside of BEGIN, what was written is committed when the
// connection's last blob and rows are closed.
//
// When its row is changed by other means or deleted, all calls but Reopen and Close
// fail with ErrAbort.
type BlobHandle struct {
	conn *Conn
	p    handle
	size int64
	at   int64
}

var (
	_ io.ReadWriteSeeker = (*BlobHandle)(nil)
	_ io.ReaderAt        = (*BlobHandle)(nil)
	_ io.WriterAt        = (*BlobHandle)(nil)
	_ io.Closer          = (*BlobHandle)(nil)
)

// OpenBlob opens the value of a column in the row with that rowid, to be written as well
// if write is true. schema is "main", "temp" or the name of an attached
// database; an empty one is main. The handle is closed by the caller, or with the connection.
//
// Errors are ErrError if there is no such row, table or column, or if the value is neither
// blob nor text, or if write is asked for and the column is part of an index or key.
func (c *Conn) OpenBlob(schema, table, column string, rowid int64,
	write bool) (*BlobHandle, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	zDB, err := schemaName(schema)
	if err != nil {
		return nil, err
	}
	zTable, err := cName(table)
	if err != nil {
		return nil, err
	}
	zColumn, err := cName(column)
	if err != nil {
		return nil, err
	}
	if err := c.until.reason(); err != nil {
		return nil, err
	}
	var p *C.sqlite3_blob
	rc := Code(C.sqlite3_blob_open(c.db(), zDB, zTable, zColumn, C.sqlite3_int64(rowid),
		C.int(boolInt(write)), &p))
	if rc != codeOK {
		return nil, c.error(rc, "", &c.until)
	}
	b := &BlobHandle{conn: c, p: handle(uintptr(unsafe.Pointer(p)))}
	b.size = int64(C.sqlite3_blob_bytes(p))
	c.add(b)
	return b, nil
}

func (b *BlobHandle) blob() *C.sqlite3_blob { return (*C.sqlite3_blob)(cPointer(uint64(b.p))) }

// Size is the value's length in bytes.
func (b *BlobHandle) Size() int64 { return b.size }

// Reopen goes to the same column of another row, which is much cheaper than to open it,
// and to its beginning. If it fails the handle can only be closed.
func (b *BlobHandle) Reopen(rowid int64) error {
	if b.p == 0 {
		return errBlobClosed
	}
	b.at, b.size = 0, 0
	if rc := Code(C.sqlite3_blob_reopen(b.blob(), C.sqlite3_int64(rowid))); rc != codeOK {
		return b.error(rc)
	}
	b.size = int64(C.sqlite3_blob_bytes(b.blob()))
	return nil
}

// ReadAt fills p from offset off. As io.ReaderAt says, it is io.EOF if the value ends
// before p is full; unlike there, calls must not overlap.
func (b *BlobHandle) ReadAt(p []byte, off int64) (int, error) {
	if b.p == 0 {
		return 0, errBlobClosed
	}
	if off < 0 {
		return 0, errOffset
	}
	n := min(int64(len(p)), max(b.size-off, 0))
	if n > 0 {
		rc := Code(C.sqlite3_blob_read(b.blob(), unsafe.Pointer(unsafe.SliceData(p)), C.int(n),
			C.int(off)))
		if rc != codeOK {
			return 0, b.error(rc)
		}
	}
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// WriteAt writes p at offset off. What does not fit is an error, and then nothing is
// written: the size of a value stays as it is.
func (b *BlobHandle) WriteAt(p []byte, off int64) (int, error) {
	if b.p == 0 {
		return 0, errBlobClosed
	}
	if off < 0 {
		return 0, errOffset
	}
	if int64(len(p)) > b.size-off {
		return 0, fmt.Errorf("hpsqlite: %d bytes at %d do not fit: the blob has %d, and keeps "+
			"its size", len(p), off, b.size)
	}
	if len(p) == 0 {
		return 0, nil
	}
	rc := Code(C.sqlite3_blob_write(b.blob(), unsafe.Pointer(unsafe.SliceData(p)), C.int(len(p)),
		C.int(off)))
	if rc != codeOK {
		return 0, b.error(rc)
	}
	if b.conn.back && !b.conn.succeeded(true) {
		b.conn.autocommit = !b.conn.InTransaction()
		return 0, b.conn.error(ErrAbort, "", nil)
	}
	return len(p), nil
}

// Read reads from where the last Read, Write or Seek ended.
func (b *BlobHandle) Read(p []byte) (int, error) {
	n, err := b.ReadAt(p, b.at)
	b.at += int64(n)
	if n > 0 && err == io.EOF || len(p) == 0 {
		err = nil
	}
	return n, err
}

// Write writes where the last Read, Write or Seek ended, see WriteAt.
func (b *BlobHandle) Write(p []byte) (int, error) {
	n, err := b.WriteAt(p, b.at)
	b.at += int64(n)
	return n, err
}

// Seek sets where Read and Write go on, see io.Seeker.
func (b *BlobHandle) Seek(offset int64, whence int) (int64, error) {
	if b.p == 0 {
		return 0, errBlobClosed
	}
	switch whence {
	case io.SeekCurrent:
		offset += b.at
	case io.SeekEnd:
		offset += b.size
	}
	if offset < 0 {
		return 0, errOffset
	}
	b.at = offset
	return offset, nil
}

// Close ends the handle's use. Its error is that of the commit, if there is one, see BlobHandle;
// nothing is open afterwards in any case.
func (b *BlobHandle) Close() error {
	if b.p == 0 {
		return nil
	}
	return b.drop()
}

func (b *BlobHandle) drop() error {
	rc := Code(C.sqlite3_blob_close(b.blob()))
	b.p = 0
	b.size = 0
	delete(b.conn.parts, b)
	if rc == codeOK && b.conn.back && !b.conn.succeeded(true) {
		rc = ErrAbort
	}
	if rc != codeOK {
		return b.conn.error(rc, "", nil)
	}
	return nil
}

// error reads c.autocommit again as well: some errors end the transaction.
func (b *BlobHandle) error(rc Code) error {
	b.conn.autocommit = !b.conn.InTransaction()
	if rc == ErrAbort {
		return &Error{Code: rc,
			Message: "the blob's row was changed or deleted after it was opened", Offset: -1}
	}
	return b.conn.error(rc, "", &b.conn.until)
}

var (
	errBlobClosed = errors.New("hpsqlite: the blob is closed")
	errOffset     = errors.New("hpsqlite: an offset before the blob's beginning")
)
