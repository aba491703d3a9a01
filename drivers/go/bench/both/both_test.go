// Package both has mattn/go-sqlite3, with the SQLite inside it, and hpsqlite in one program.
// Both SQLites have the same names in C.
package both

import (
	"database/sql"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hpsqlite/hpsqlite/drivers/go"
	"github.com/mattn/go-sqlite3"
)

// ours and mattns are the source ids that the drivers say to run on.
func ours() string   { return hpsqlite.LibraryInfo().SourceID }
func mattns() string { _, _, id := sqlite3.Version(); return id }

// The library has names of its own when it is compiled in.
func TestEachHasItsOwnSQLite(t *testing.T) {
	if !compiledIn {
		t.Skip("hpsqlite is linked with a library: see the other test")
	}
	if ours() == mattns() || !hpsqlite.LibraryInfo().HP {
		t.Errorf("hpsqlite runs on %s, mattn on %s", ours(), mattns())
	}
	// They work side by side, on a file each: two copies of SQLite in one process must not open
	// the same.
	var wg sync.WaitGroup
	for driver, ours := range map[string]bool{"hpsqlite": true, "sqlite3": false} {
		path := filepath.Join(t.TempDir(), driver+".db")
		wg.Add(1)
		go func() {
			defer wg.Done()
			db, err := sql.Open(driver, path)
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			if _, err := db.Exec("CREATE TABLE t(a); INSERT INTO t SELECT value FROM " +
				"json_each('[1,2,3]')"); err != nil {
				t.Error(err)
			}
			var sum int
			if err := db.QueryRow("SELECT sum(a) FROM t").Scan(&sum); err != nil || sum != 6 {
				t.Errorf("%s: %d, %v", driver, sum, err)
			}
			var version string
			if err := db.QueryRow("SELECT hp_version()").Scan(&version); (err == nil) != ours {
				t.Errorf("%s: hp_version() is %q, %v", driver, version, err)
			}
		}()
	}
	wg.Wait()
}

// What is compiled into the program goes before a library. That is said before anything runs on it.
func TestTheSQLiteOfAnotherPackageIsRefused(t *testing.T) {
	if compiledIn {
		t.Skip("hpsqlite has its own: see the other test")
	}
	if ours() != mattns() {
		t.Skip("both run on what they should")
	}
	conn, err := hpsqlite.Open(":memory:")
	if err == nil {
		conn.Close()
	}
	db, err2 := sql.Open("hpsqlite", ":memory:")
	if err2 != nil {
		t.Fatal(err2)
	}
	defer db.Close()
	for _, err := range []error{err, db.Ping()} {
		if err == nil || !strings.Contains(err.Error(), "has its own SQLite") ||
			!strings.Contains(err.Error(), "-tags hpsqlite_static") {
			t.Errorf("hpsqlite runs on mattn's SQLite, and says %v", err)
		}
	}
}
