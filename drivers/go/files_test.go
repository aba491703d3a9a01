package hpsqlite

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The tests that need another process run this test again in it, with what is to be done in
// HPSQLITE_TEST_ROLE.
func TestAnotherProcess(t *testing.T) {
	role, path, _ := strings.Cut(os.Getenv("HPSQLITE_TEST_ROLE"), " ")
	switch role {
	case "lock": // until its input ends
		c, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		exec(t, c, "BEGIN IMMEDIATE; INSERT INTO t VALUES('other')")
		os.Stdout.WriteString("locked\n")
		io.Copy(io.Discard, os.Stdin)
		exec(t, c, "COMMIT")
		c.Close()
	case "full": // where no file may be larger than a megabyte
		var old syscall.Rlimit
		syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old)
		limit := syscall.Rlimit{Cur: 1 << 20, Max: old.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		c, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		exec(t, c, "CREATE TABLE t(a); INSERT INTO t VALUES('before')")
		_, err = c.Exec("INSERT INTO t VALUES(randomblob(4000000))")
		if !errors.Is(err, ErrFull) && !errors.Is(err, ErrIO) {
			t.Errorf("a full disk: %v", err)
		}
		rows := c.Query("INSERT INTO t VALUES(randomblob(4000000)) RETURNING 1")
		for rows.Next() {
		}
		if err := rows.Close(); !errors.Is(err, ErrFull) && !errors.Is(err, ErrIO) {
			t.Errorf("a full disk: %v", err)
		}
		s, err := c.Prepare("INSERT INTO t VALUES(?)")
		if err != nil {
			t.Fatal(err)
		}
		big := strings.Repeat("x", 10_000)
		if _, err := s.ExecMany(1000, func(i int) { s.BindText(1, big) }); !errors.Is(err,
			ErrFull) && !errors.Is(err, ErrIO) {
			t.Errorf("a full disk: %v", err)
		}
		equal(t, "in a transaction", c.InTransaction(), false)
		equal(t, "what was there", strings.Join(texts(t, c, "SELECT a FROM t"), " "), "before")
		equal(t, "whole", texts(t, c, "PRAGMA integrity_check")[0], "ok")
	}
}

func inAnotherProcess(t *testing.T, role string) *osexec.Cmd {
	t.Helper()
	cmd := osexec.Command(os.Args[0], "-test.run=^TestAnotherProcess$", "-test.count=1")
	cmd.Env = append(os.Environ(), "HPSQLITE_TEST_ROLE="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestAnotherProcessHasTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	db := openDSN(t, path+"?_busy_timeout=30000")
	must(t, db, "CREATE TABLE t(a)")
	other := inAnotherProcess(t, "lock "+path)
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatal(line, err)
	}
	impatient := openDSN(t, path+"?_busy_timeout=0")
	if _, err := impatient.Exec("INSERT INTO t VALUES('me')"); !errors.Is(err, ErrBusy) {
		t.Errorf("without waiting: %v", err)
	}
	if _, err := impatient.Begin(); !errors.Is(err, ErrBusy) {
		t.Errorf("without waiting: %v", err)
	}
	equal(t, "readers go on", one(t, impatient, "SELECT count(*) FROM t"), any(int64(0)))
	// Who waits gets its turn.
	waited := make(chan error)
	go func() {
		tx, err := db.Begin()
		if err == nil {
			_, err = tx.Exec("INSERT INTO t VALUES('me')")
			err = errors.Join(err, tx.Commit())
		}
		waited <- err
	}()
	in.Close()
	if err := <-waited; err != nil {
		t.Errorf("waiting: %v", err)
	}
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
	equal(t, "order", one(t, db, "SELECT group_concat(a, ' ') FROM t"), any("other me"))
}

func TestADiskThatIsFull(t *testing.T) {
	out, err := inAnotherProcess(t, "full "+filepath.Join(t.TempDir(), "test.db")).Output()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// The same, as SQLite itself says it.
	db := openDB(t, "_pragma=max_page_count(20)")
	db.SetMaxOpenConns(1)
	must(t, db, "CREATE TABLE t(a)")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	must(t, tx, "INSERT INTO t VALUES(1)")
	if _, err := tx.Exec("INSERT INTO t VALUES(zeroblob(1000000))"); !errors.Is(err, ErrFull) {
		t.Errorf("full: %v", err)
	}
	tx.Rollback()
	var n int
	if err := db.QueryRow("INSERT INTO t VALUES(zeroblob(1000000)) RETURNING 1").Scan(&n); !errors.Is(err, ErrFull) {
		t.Errorf("full: %v", err)
	}
	must(t, db, "INSERT INTO t VALUES(2)")
	equal(t, "rows", one(t, db, "SELECT count(*) FROM t"), any(int64(1)))
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o644)
	empty := filepath.Join(dir, "empty.db")
	os.WriteFile(empty, nil, 0o644)
	for dsn, want := range map[string]Code{
		filepath.Join(dir, "missing", "x.db"): ErrCantOpen,
		dir:                                   ErrCantOpen,
		"file:" + filepath.Join(dir, "x.db?mode=rw"): ErrCantOpen,
		"file:" + filepath.Join(dir, "y.db?mode=ro"): ErrCantOpen,
		text: ErrNotADB,
		filepath.Join(dir, "z.db") + "?vfs=nosuchvfs": ErrError,
	} {
		c, err := Open(dsn)
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", dsn, err, want)
		}
		path, _, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
		wantError(t, dsn, err, path)
		err = openDSN(t, dsn).Ping()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", dsn, err, want)
		}
	}
	must(t, openDSN(t, empty), "CREATE TABLE t(a)") // an empty file is a database
	if names, _ := filepath.Glob(filepath.Join(dir, "[xyz].db*")); len(names) > 0 {
		t.Errorf("files that nobody wanted: %v", names)
	}
}

func TestNamesOfFilesAreTakenAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"plain.db", "with space.db", "100%.db", "%41.db", "a#b.db",
		"a&b=c.db", "ä中.db", "-x.db", "a:b.db", "*", "semi;colon"} {
		c, err := Open(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		exec(t, c, "CREATE TABLE t(a)")
		equal(t, "file", texts(t, c, "SELECT file FROM pragma_database_list")[0],
			filepath.Join(dir, name))
		c.Close()
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	// A URI's path is decoded.
	c, err := Open("file:" + dir + "/of%20uri%3f.db?_fk=0#fragment")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "file", texts(t, c, "SELECT file FROM pragma_database_list")[0],
		filepath.Join(dir, "of uri?.db"))
	c.Close()
	t.Chdir(dir)
	c, err = Open("relative.db")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "file", texts(t, c, "SELECT file FROM pragma_database_list")[0],
		filepath.Join(dir, "relative.db"))
	c.Close()
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, c, "CREATE TABLE t(a); INSERT INTO t VALUES(1)")
	c.Close()
	for _, params := range []string{"?mode=ro", "?mode=ro&immutable=1", "?_immutable=1",
		"?_query_only=1"} {
		db := openDSN(t, path+params)
		equal(t, params, one(t, db, "SELECT a FROM t"), any(int64(1)))
		if _, err := db.Exec("INSERT INTO t VALUES(2)"); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", params, err)
		}
		if params == "?mode=ro" {
			tx, err := db.Begin() // not one that writes
			if err != nil {
				t.Fatal(err)
			}
			equal(t, params, one(t, tx, "SELECT a FROM t"), any(int64(1)))
			tx.Rollback()
		}
	}
	if os.Getuid() != 0 { // who may do everything may write this too
		os.Chmod(path, 0o444)
		db := openDSN(t, path)
		equal(t, "chmod", one(t, db, "SELECT a FROM t"), any(int64(1)))
		if _, err := db.Exec("INSERT INTO t VALUES(2)"); !errors.Is(err, ErrReadOnly) {
			t.Error(err)
		}
	}
}

// With SQLite's own BEGIN what has read and then writes fails at once if someone else has written
// meanwhile, however long it would wait. With the default it waits before it reads.
func TestAReadThatTurnsToWrite(t *testing.T) {
	for _, c := range []struct {
		txlock string
		fails  bool
	}{{"", false}, {"_txlock=immediate", false}, {"_txlock=exclusive", false},
		{"_txlock=deferred", true}} {
		db := openDB(t, c.txlock)
		must(t, db, "CREATE TABLE t(n); INSERT INTO t VALUES(0)")
		const workers, rounds = 4, 25
		var failed error
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range workers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range rounds {
					err := func() error {
						tx, err := db.Begin()
						if err != nil {
							return err
						}
						defer tx.Rollback()
						var n int
						if err := tx.QueryRow("SELECT n FROM t").Scan(&n); err != nil {
							return err
						}
						if _, err := tx.Exec("UPDATE t SET n=?", n+1); err != nil {
							return err
						}
						return tx.Commit()
					}()
					if err != nil {
						mu.Lock()
						failed = err
						mu.Unlock()
					}
				}
			}()
		}
		wg.Wait()
		if !c.fails {
			if failed != nil {
				t.Errorf("%s: %v", c.txlock, failed)
			}
			equal(t, "sum", one(t, db, "SELECT n FROM t"), any(int64(workers*rounds)))
		}
	}
	// One after the other, so that it is certain.
	db := openDB(t, "_txlock=deferred")
	must(t, db, "CREATE TABLE t(n)")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	one(t, tx, "SELECT count(*) FROM t")
	must(t, db, "INSERT INTO t VALUES(1)")
	if _, err := tx.Exec("INSERT INTO t VALUES(2)"); !errors.Is(err, ErrBusySnapshot) {
		t.Errorf("deferred: %v", err)
	}
}

// A database that is deleted under a connection stays what it was for that connection.
func TestADatabaseThatIsDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	db := openDSN(t, path)
	db.SetMaxOpenConns(1)
	must(t, db, "CREATE TABLE t(a); INSERT INTO t VALUES(1)")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		os.Remove(path + suffix)
	}
	equal(t, "rows", one(t, db, "SELECT a FROM t"), any(int64(1)))
	if _, err := db.Exec("INSERT INTO t VALUES(2)"); err != nil && !errors.Is(err, ErrReadOnly) &&
		!errors.Is(err, ErrIO) {
		t.Error(err)
	}
	fresh := openDSN(t, path)
	must(t, fresh, "CREATE TABLE other(a)")
	equal(t, "a new file", one(t, fresh, "SELECT name FROM sqlite_schema"), any("other"))
}

// manyAtOnce opens a file in n goroutines, and runs script in each.
func manyAtOnce(t *testing.T, path string, n int, script string) {
	t.Helper()
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			db, err := sql.Open("hpsqlite", path)
			if err == nil {
				_, err = db.Exec(script)
				err = errors.Join(err, db.Close())
			}
			if err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
}

// Many open the same new file at once, and all make their settings.
func TestManyOpenANewFileAtOnce(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "test.db")
		manyAtOnce(t, path, 12, "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES(1)")
		equal(t, "rows", one(t, openDSN(t, path), "SELECT count(*) FROM t"), any(int64(12)))
	}
}

// databaseFile makes a file with a table t, in SQLite's own journal mode unless params say
// otherwise.
func databaseFile(t *testing.T, params ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "test.db")
	c, err := Open(path + "?_defaults=off&" + strings.Join(params, "&"))
	if err != nil {
		t.Fatal(err)
	}
	exec(t, c, "CREATE TABLE t(a); INSERT INTO t VALUES(1)")
	noError(t, c.Close())
	return path
}

// WAL stays with a file, for every program that uses it: it is not for a driver to choose.
func TestAFileThatIsThereKeepsItsJournalMode(t *testing.T) {
	path := databaseFile(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, dsn := range []string{
		path, "file:" + path, "file:" + path + "?mode=rw", path + "?mode=ro", path + "?mode=rwc",
		path + "?immutable=0",
		path + "?immutable=1", path + "?nolock=1", path + "?cache=shared", path +
			"?_busy_timeout=100", path + "?_synchronous=normal",
	} {
		c, err := Open(dsn)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, dsn, texts(t, c, "SELECT a FROM t")[0], "1")
		noError(t, c.Close())
		db := openDSN(t, dsn)
		equal(t, dsn, one(t, db, "SELECT a FROM t"), any(int64(1)))
		noError(t, db.Close())
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, after) {
			t.Fatalf("%s: a SELECT has changed the file", dsn)
		}
	}
	// In the other direction as well.
	path = databaseFile(t, "_journal_mode=wal")
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	equal(t, "journal mode", texts(t, c, "PRAGMA journal_mode")[0], "wal")
}

func TestTheJournalModeThatTheDSNAsksFor(t *testing.T) {
	for params, want := range map[string]string{
		"_journal_mode=WAL": "wal", "_journal=wal": "wal", "_pragma=journal_mode(WAL)": "wal",
		"_pragma=journal_mode=wal":       "wal",
		"_pragma=main.journal_mode(wal)": "wal", "_journal_mode=wal&_defaults=off": "wal",
		"mode=rw&_journal_mode=WAL": "wal",
		"_journal_mode=truncate":    "truncate", "_pragma=journal_mode(persist)": "persist",
	} {
		for _, path := range []string{databaseFile(t), databaseFile(t, "_journal_mode=wal")} {
			c, err := Open(path + "?" + params)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, params, texts(t, c, "PRAGMA journal_mode")[0], want)
			noError(t, c.Close())
		}
	}
}

// A file without a byte has no journal mode: it may come from os.Create or from a program that has
// opened it and not yet written.
func TestANewFileGetsWAL(t *testing.T) {
	for _, params := range []string{
		"", "mode=rwc", "_pragma=user_version(7)",
		"_pragma=application_id(7)&_pragma=page_size(512)", "_pragma=locking_mode(exclusive)",
		"immutable=0", "_synchronous=full",
	} {
		missing := filepath.Join(t.TempDir(), "missing.db")
		empty := filepath.Join(t.TempDir(), "empty.db")
		noError(t, os.WriteFile(empty, nil, 0o644))
		for _, path := range []string{missing, empty} {
			c, err := Open(path + "?" + params)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, params, texts(t, c, "PRAGMA journal_mode")[0], "wal")
			noError(t, c.Close())
			c, err = Open(path)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, params+", and later", texts(t, c, "PRAGMA journal_mode")[0], "wal")
			if strings.Contains(params, "user_version") {
				equal(t, params, texts(t, c, "PRAGMA user_version")[0], "7")
			}
			noError(t, c.Close())
		}
	}
	empty := filepath.Join(t.TempDir(), "empty.db")
	for _, params := range []string{"mode=ro", "_defaults=off", "_journal_mode=delete"} {
		noError(t, os.WriteFile(empty, nil, 0o644))
		c, err := Open(empty + "?" + params)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, params, texts(t, c, "PRAGMA journal_mode")[0], "delete")
		noError(t, c.Close())
		if info, err := os.Stat(empty); err != nil || info.Size() != 0 {
			t.Errorf("%s: %d bytes are written, %v", params, info.Size(), err)
		}
	}
}

// Between the look at an empty file and the change of its journal mode another program may write.
func TestAFileThatAnotherMakesFirstKeepsItsJournalMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	c, err := Open(path + "?_defaults=off")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	noError(t, c.ifNew(func() error {
		other, err := Open(path + "?_defaults=off")
		if err != nil {
			return err
		}
		exec(t, other, "CREATE TABLE t(a); INSERT INTO t VALUES(1)")
		noError(t, other.Close())
		return c.pragma(Pragma{"journal_mode", "wal"})
	}))
	equal(t, "journal mode", texts(t, c, "PRAGMA journal_mode")[0], "delete")
	exec(t, c, "INSERT INTO t VALUES(2)")
	equal(t, "rows", strings.Join(texts(t, c, "SELECT a FROM t"), " "), "1 2")
	file, err := os.ReadFile(path)
	if err != nil || file[18] != 1 || file[19] != 1 {
		t.Errorf("the file is in WAL mode: %v", err)
	}
	// Nothing of that is left on the connection.
	called := false
	noError(t, c.ifNew(func() error { called = true; return nil }))
	equal(t, "there is something in the file", called, false)
}

// With a rollback journal synchronous=NORMAL is not safe, so it comes with WAL only.
func TestSynchronousNormalComesWithWAL(t *testing.T) {
	rollback, wal := databaseFile(t), databaseFile(t, "_journal_mode=wal")
	fresh := func() string { return filepath.Join(t.TempDir(), "new.db") }
	for _, c := range []struct{ dsn, want string }{
		{fresh(), "1"}, {wal, "1"}, {rollback, "2"}, {"file:" + rollback + "?mode=rw", "2"},
		{fresh() + "?_journal_mode=delete", "2"}, {fresh() + "?_pragma=journal_mode(truncate)", "2"},
		{rollback + "?_journal_mode=persist", "2"}, {rollback + "?_synchronous=normal", "1"},
		{rollback + "?_pragma=synchronous(0)", "0"},
		{wal + "?_sync=full", "2"}, {wal + "?_defaults=off", "2"}, {fresh() + "?_synchronous=extra", "3"},
		{rollback + "?_journal_mode=wal", "1"}, // the last: it stays
	} {
		conn, err := Open(c.dsn)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, c.dsn, texts(t, conn, "PRAGMA synchronous")[0], c.want)
		equal(t, c.dsn+" foreign keys", texts(t, conn, "PRAGMA foreign_keys")[0] == "0",
			strings.Contains(c.dsn, "_defaults=off"))
		noError(t, conn.Close())
	}
}

// Many open the file of another program at once.
func TestManyOpenAFileThatIsThereAtOnce(t *testing.T) {
	path := databaseFile(t)
	manyAtOnce(t, path, 12, "INSERT INTO t VALUES(1)")
	db := openDSN(t, path)
	equal(t, "rows", one(t, db, "SELECT count(*) FROM t"), any(int64(13)))
	equal(t, "journal mode", one(t, db, "PRAGMA journal_mode"), any("delete"))
}

// Opening a file that is there wants no lock that a reader or writer of it would not give.
func TestTheDefaultJournalModeWaitsForNobody(t *testing.T) {
	path := databaseFile(t)
	c, err := Open(path + "?_defaults=off")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, lock := range []string{"BEGIN; SELECT * FROM t",
		"BEGIN IMMEDIATE; INSERT INTO t VALUES(2)"} {
		exec(t, c, lock)
		db := openDSN(t, path+"?_busy_timeout=-1")
		equal(t, "rows", one(t, db, "SELECT count(*) FROM t"), any(int64(1)))
		equal(t, "journal mode", one(t, db, "PRAGMA journal_mode"), any("delete"))
		// Who asks for it gets an error.
		if err := openDSN(t,
			path+"?_busy_timeout=1&_journal_mode=wal").PingContext(context.Background()); !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
		exec(t, c, "ROLLBACK")
	}
	// Nobody can read what is locked so. That is said when it has waited, once.
	exec(t, c, "BEGIN EXCLUSIVE")
	begin := time.Now()
	_, err = Open(path + "?_busy_timeout=200")
	if took := time.Since(begin); !errors.Is(err, ErrBusy) || took < 150*time.Millisecond {
		t.Errorf("locked: %v after %v", err, took)
	}
	exec(t, c, "ROLLBACK")
}

// Who locks a file that is still empty keeps nobody from opening it.
func TestAnEmptyFileThatIsLockedIsOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	c, err := Open(path + "?_defaults=off")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	exec(t, c, "BEGIN IMMEDIATE; CREATE TABLE t(a)")
	db := openDSN(t, path+"?_busy_timeout=50")
	equal(t, "tables", one(t, db, "SELECT count(*) FROM sqlite_schema"), any(int64(0)))
	equal(t, "synchronous", one(t, db, "PRAGMA synchronous"), any(int64(2)))
	exec(t, c, "COMMIT")
	equal(t, "journal mode", one(t, db, "PRAGMA journal_mode"), any("delete"))
}
