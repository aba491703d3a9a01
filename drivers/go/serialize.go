package hpsqlite

/*
#include <string.h>
#include "hpgo.h"

#if defined(__GNUC__)
extern unsigned char *sqlite3_serialize(sqlite3*, const char*, sqlite3_int64*,
                                        unsigned int) __attribute__((weak));
extern int sqlite3_deserialize(sqlite3*, const char*, unsigned char*,
                               sqlite3_int64, sqlite3_int64, unsigned)
                               __attribute__((weak));
#endif

static int hpgo_has_serialize(void){
  return sqlite3_serialize!=0 && sqlite3_deserialize!=0;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"
)

// Serialize gives the bytes that a file of the database would have, uncommitted changes of this
// connection left out if it is a file's. schema is main if empty. The bytes are the caller's.
func (c *Conn) Serialize(schema string) (image []byte, err error) {
	err = c.serialize(schema, func(b []byte) error {
		image = append(make([]byte, 0, len(b)), b...)
		return nil
	})
	return image, err
}

// SerializeTo writes what Serialize gives, straight from SQLite's memory.
func (c *Conn) SerializeTo(w io.Writer, schema string) (n int64, err error) {
	err = c.serialize(schema, func(b []byte) error {
		m, err := w.Write(b)
		n = int64(m)
		return err
	})
	return n, err
}

// serialize calls f with the image, which is there until f returns.
func (c *Conn) serialize(schema string, f func([]byte) error) error {
	if err := c.usable(); err != nil {
		return err
	}
	if C.hpgo_has_serialize() == 0 {
		return without("serialize (SQLITE_OMIT_DESERIALIZE)")
	}
	if err := c.until.reason(); err != nil {
		return err
	}
	name, err := schemaName(schema)
	if err != nil {
		return err
	}
	size := C.sqlite3_int64(-1)
	// Where the database is such an image itself, it is not copied.
	if p := C.sqlite3_serialize(c.db(), name, &size, C.SQLITE_SERIALIZE_NOCOPY); p != nil {
		return f(unsafe.Slice((*byte)(p), size))
	}
	size = -1
	p := C.sqlite3_serialize(c.db(), name, &size, 0)
	switch {
	case p == nil && size == 0:
		return f(nil)
	case p == nil && size < 0:
		return fmt.Errorf("hpsqlite: there is no database %q, or it cannot be read", schema)
	case p == nil:
		return ErrNoMem
	}
	defer C.sqlite3_free(unsafe.Pointer(p))
	return f(unsafe.Slice((*byte)(p), size))
}

// Deserialize makes an image, such as Serialize gives, the database schema of this
// connection, in memory; main if it is empty. What was there before is closed and,
// if it was a file, left as it is. The image is copied, and the copy can be
// written to and grow.
//
// The connection must not be in a transaction. That the image is damaged may show only when it
// is read.
func (c *Conn) Deserialize(schema string, image []byte) error {
	if err := c.mayDeserialize(image); err != nil {
		return err
	}
	p := C.sqlite3_malloc64(C.sqlite3_uint64(max(len(image), 1)))
	if p == nil {
		return ErrNoMem
	}
	b := unsafe.Slice((*byte)(p), len(image))
	copy(b, image)
	// In memory there is no write-ahead log, so an image of a file that has one could not be opened.
	if walImage(b) {
		b[18], b[19] = 1, 1
	}
	return c.deserialize(schema, p, len(image),
		C.SQLITE_DESERIALIZE_FREEONCLOSE|C.SQLITE_DESERIALIZE_RESIZEABLE)
}

// DeserializeReadOnly is Deserialize without a copy: the database is read where image is, which
// must not change until the connection is closed. It fits data that are
// part of the program, by go:embed. The image must not be of a database in WAL mode;
// VACUUM INTO makes one that is not.
func (c *Conn) DeserializeReadOnly(schema string, image []byte) error {
	if err := c.mayDeserialize(image); err != nil {
		return err
	}
	if walImage(image) {
		return errors.New("hpsqlite: the image is of a database in WAL mode, which cannot be " +
			"read in memory: use Deserialize, or make the image from a file that VACUUM INTO wrote")
	}
	if len(image) == 0 {
		return errors.New("hpsqlite: the image is empty")
	}
	p := unsafe.Pointer(unsafe.SliceData(image))
	c.pinned.Pin(unsafe.SliceData(image))
	return c.deserialize(schema, p, len(image), C.SQLITE_DESERIALIZE_READONLY)
}

func walImage(image []byte) bool { return len(image) >= 100 && (image[18] == 2 || image[19] == 2) }

func (c *Conn) mayDeserialize(image []byte) error {
	switch {
	case c.h == nil:
		return errClosed
	case C.hpgo_has_serialize() == 0:
		return without("deserialize (SQLITE_OMIT_DESERIALIZE)")
	case int64(len(image)) > math.MaxInt32*int64(65536):
		return ErrTooBig
	case len(image) > 0 && (len(image) < 512 || string(image[:16]) != "SQLite format 3\x00"):
		return &Error{Code: ErrNotADB, Message: "the image is not that of a database", Offset: -1}
	case !c.autocommit:
		return errors.New("hpsqlite: a database cannot be replaced in a transaction")
	}
	return c.until.reason()
}

func (c *Conn) deserialize(schema string, p unsafe.Pointer, n int, flags C.uint) error {
	name, err := schemaName(schema)
	if err != nil {
		if flags&C.SQLITE_DESERIALIZE_FREEONCLOSE != 0 {
			C.sqlite3_free(p)
		}
		return err
	}
	// SQLite frees what it has been given, also when it fails.
	rc := Code(C.sqlite3_deserialize(c.db(), name, (*C.uchar)(p), C.sqlite3_int64(n),
		C.sqlite3_int64(n), flags))
	if rc != codeOK {
		return c.error(rc, "", nil)
	}
	return nil
}
