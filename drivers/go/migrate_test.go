package hpsqlite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func TestMigrationsAreDoneOnceEach(t *testing.T) {
	ctx := context.Background()
	c := open(t)
	steps := []string{
		"CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(a REFERENCES a)",
		"INSERT INTO a VALUES(1); INSERT INTO b VALUES(1)",
	}
	for range 2 {
		if err := Migrate(ctx, c, steps); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "version", texts(t, c, "PRAGMA user_version")[0], "2")

	// A parent table made anew, which foreign keys would not let be dropped.
	steps = append(steps, "CREATE TABLE new(id INTEGER PRIMARY KEY, name); INSERT INTO new(id) "+
		"SELECT id FROM a; DROP TABLE a; ALTER TABLE new RENAME TO a")
	if err := Migrate(ctx, c, steps); err != nil {
		t.Fatal(err)
	}
	equal(t, "child", texts(t, c, "SELECT a FROM b")[0], "1")
	equal(t, "foreign keys", texts(t, c, "PRAGMA foreign_keys")[0], "1")

	for step, want := range map[string]string{
		"INSERT INTO a VALUES(2, 'x'); SELECT nope": "migration 4: hpsqlite: no such column: nope",
		"INSERT INTO a VALUES(2, 'x'); COMMIT":      "ended the transaction",
		"DELETE FROM a":                             "row 1 of b has none in a",
	} {
		if err := Migrate(ctx, c, append(steps[:3:3], step)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", step, err)
		}
		equal(t, "version after "+step, texts(t, c, "PRAGMA user_version")[0], "3")
		equal(t, "foreign keys after "+step, texts(t, c, "PRAGMA foreign_keys")[0], "1")
		c.Exec("DELETE FROM a WHERE id=2")
	}
	equal(t, "rows", texts(t, c, "SELECT count(*) FROM a")[0], "1")
	var version *VersionError
	if err := Migrate(ctx, c, steps[:2]); !errors.As(err, &version) || version.Database != 3 ||
		version.Program != 2 {
		t.Errorf("a database of the future: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := Migrate(ended, c, append(steps, "SELECT 1")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestMigrationFilesAreNumbered(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	steps, err := MigrationFiles(fstest.MapFS{"m/10.sql": file("j"), "m/2_b.sql": file("b"),
		"m/001-a.sql": file("a"), "m/3.sql": file("c"), "m/4.sql": file("d"),
		"m/5.sql": file("e"), "m/6.sql": file("f"), "m/7.sql": file("g"), "m/8.sql": file("h"),
		"m/9.sql": file("i")}, "m/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "steps", strings.Join(steps, ""), "abcdefghij")
	for want, fsys := range map[string]fstest.MapFS{
		"there are 2, numbered from 1 on": {"1.sql": file(""), "3.sql": file("")},
		"have the same number":            {"1.sql": file(""), "01.sql": file("")},
		"does not begin with its number":  {"one.sql": file("")},
	} {
		if _, err := MigrationFiles(fsys, "*.sql"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
