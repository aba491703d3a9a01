package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Pattern is a set of settings that readers of one table may have.
type Pattern struct {
	// Name stands in the names of benchmarks: pattern=NAME.
	Name string
	// About is what it is, in a few words.
	About string
	// WAL has the file made with a write-ahead log.
	WAL bool
	// Copy has readers read a copy of the file in memory.
	Copy     bool
	Settings Settings
}

// Patterns are those of lirlia/go-sqlite-performance, each of which adds to one before it.
var Patterns = patterns()

func patterns() []Pattern {
	const mmap = "mmap_size=268435456"
	p1 := Pattern{
		Name:     "P1",
		About:    "shared cache, read-only",
		Settings: Settings{SharedCache: true, ReadOnly: true},
	}
	more := func(p Pattern, name, about string, pragmas ...string) Pattern {
		p.Name, p.About = name, about
		p.Settings.Pragmas = append(slices.Clip(p.Settings.Pragmas), pragmas...)
		return p
	}
	p2 := more(p1, "P2", "P1 + WAL", "journal_mode=wal")
	p2.WAL = true
	p3 := more(p2, "P3", "P2 + immutable")
	p3.Settings.Immutable = true
	p4 := more(p3, "P4", "P3 + mmap of 256 MiB", mmap)
	p5 := more(p2, "P5", "P2 + mmap of 256 MiB, no mutex", mmap)
	p5.Settings.NoMutex = true
	p6 := more(p5, "P6", "P5 + exclusive locking, synchronous off", "locking_mode=exclusive",
		"synchronous=off")
	p7 := more(p6, "P7", "P6 + temp_store in memory, cache of 10000 pages", "temp_store=memory",
		"cache_size=10000")
	p8 := more(p7, "P8", "P7 + analysis limit of 1000, optimize", "analysis_limit=1000", "optimize")
	p9 := more(Pattern{Copy: true}, "P9", "copy in memory",
		"journal_mode=off", "synchronous=off", "cache_size=10000", "locking_mode=exclusive")
	p9.Settings.Memory = true
	return []Pattern{p1, p2, p3, p4, p5, p6, p7, p8, p9}
}

// open makes the table of monsters in the folder and opens it with the settings of the pattern.
func (p Pattern) open(d Driver, folder string) (DB, error) {
	path := filepath.Join(folder, "benchmark.db")
	if err := makeMonsters(d, path, p.WAL, monsters); err != nil {
		return nil, fmt.Errorf("making %s: %w", path, err)
	}
	s := p.Settings
	if !p.Copy {
		s.Path = path
		return d.Open(s)
	}
	db, err := d.Open(s)
	if err != nil {
		return nil, err
	}
	// As its authors build it, without the primary key: one row is then found by reading them all.
	file := Settings{Path: path}.URI(d.File...)
	err = db.Exec("ATTACH DATABASE '" + strings.ReplaceAll(file, "'", "''") + "' AS filedb;" +
		"CREATE TABLE monster AS SELECT * FROM filedb.monster;" +
		"DETACH DATABASE filedb")
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// inForce reads back what is in force on a connection, as name=value; what it cannot learn it
// leaves out.
func (p Pattern) inForce(d Driver, db DB, folder string) ([]string, error) {
	told, err := inForce(d, db)
	if err != nil {
		return nil, err
	}
	if !p.Copy {
		// SQLite looks at whether it may write before at which rows.
		err := db.Exec("UPDATE monster SET hp=hp WHERE 0")
		told = append(told, "readonly="+onOff(err != nil))
		if open := p.descriptors(d, folder); open > 0 {
			told = append(told, "shared_cache="+onOff(open == 1))
		}
	}
	if p.WAL {
		// Readers of a write-ahead log share its index, unless they have been told that nobody writes.
		_, err := os.Stat(filepath.Join(folder, "benchmark.db-shm"))
		told = append(told, "immutable="+onOff(err != nil))
	}
	return told, nil
}

// descriptors is how many of the process are open on the file while another connection is
// there: a shared cache has one for all. It is 0 where the system does not tell.
func (p Pattern) descriptors(d Driver, folder string) int {
	s := p.Settings
	s.Path = filepath.Join(folder, "benchmark.db")
	other, err := d.Open(s)
	if err != nil {
		return 0
	}
	defer other.Close()
	if _, err := other.Text("SELECT count(*) FROM monster"); err != nil {
		return 0
	}
	const all = "/proc/self/fd"
	entries, err := os.ReadDir(all)
	if err != nil {
		return 0
	}
	file, err := os.Stat(s.Path)
	if err != nil {
		return 0
	}
	open := 0
	for _, entry := range entries {
		// The one of the folder itself is closed by now.
		info, err := os.Stat(filepath.Join(all, entry.Name()))
		if err == nil && os.SameFile(file, info) {
			open++
		}
	}
	return open
}

func onOff(is bool) string {
	if is {
		return "on"
	}
	return "off"
}
