package hpsqlite

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestSerializedDatabaseIsOneInMemory(t *testing.T) {
	c := open(t)
	want := fill(t, c)
	image, err := c.Serialize("")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if n, err := c.SerializeTo(&b, "main"); err != nil || n != int64(len(image)) ||
		!bytes.Equal(b.Bytes(), image) {
		t.Error(n, err)
	}
	d, err := Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Deserialize("", image); err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", texts(t, d, "SELECT count(*), sum(a) FROM t")[0], want)
	exec(t, d, "INSERT INTO t SELECT a+1000000, b FROM t")
	equal(t, "it grows", texts(t, d, "SELECT count(*) FROM t")[0], "4000")
	if again, err := d.Serialize(""); err != nil || len(again) <= len(image) {
		t.Error(len(again), err)
	}
	if _, err := d.Serialize("nope"); err == nil {
		t.Error("there is no such database")
	}
	if err := d.Deserialize("", []byte("this is no database")); !errors.Is(err, ErrNotADB) {
		t.Error(err)
	}
	exec(t, d, "BEGIN")
	if err := d.Deserialize("", image); err == nil {
		t.Error("in a transaction")
	}
	exec(t, d, "ROLLBACK")
	if err := d.DeserializeReadOnly("", image); err == nil || !strings.Contains(err.Error(), "WAL") {
		t.Error(err)
	}
	if image, err = d.Serialize(""); err != nil {
		t.Fatal(err)
	}
	if err := d.DeserializeReadOnly("", image); err != nil {
		t.Fatal(err)
	}
	equal(t, "where it is", texts(t, d, "SELECT count(*) FROM t")[0], "4000")
	if _, err := d.Exec("DELETE FROM t"); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
}
