package bench

import (
	_ "embed"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Settings say how a database is to be opened. A driver takes each in its own way, or not at
// all: what was in force is read back by [inForce].
type Settings struct {
	// Path is the file; with Memory there is none.
	Path string
	// Memory wants a database in memory that all connections share.
	Memory      bool
	SharedCache bool
	ReadOnly    bool
	Immutable   bool
	// NoMutex has SQLite not guard a connection against use by two threads at a time.
	NoMutex bool
	// Pragmas are set on each connection, in this order: "synchronous=off", or only "optimize".
	Pragmas []string
	// Conns is the largest number of connections; 0 is [Conns].
	Conns int
}

// Limit is the largest number of connections.
func (s Settings) Limit() int {
	if s.Conns == 0 {
		return Conns
	}
	return s.Conns
}

// WithoutExclusive is for memory that connections share by a VFS instead of a cache: exclusive
// locking would keep all but one of them out.
func (s Settings) WithoutExclusive() Settings {
	s.Pragmas = slices.DeleteFunc(slices.Clone(s.Pragmas), func(pragma string) bool {
		return pragma == "locking_mode=exclusive"
	})
	return s
}

// URI is the name of the database with those settings that are parameters of SQLite's own URIs,
// and after them some that only the driver knows.
func (s Settings) URI(own ...string) string {
	name := &url.URL{Path: s.Path}
	uri := "file:" + name.EscapedPath()
	if s.Memory {
		uri = "file::memory:"
	}
	var parameters []string
	if s.SharedCache || s.Memory {
		parameters = append(parameters, "cache=shared")
	}
	if s.ReadOnly {
		parameters = append(parameters, "mode=ro")
	}
	if s.Immutable {
		parameters = append(parameters, "immutable=1")
	}
	parameters = append(parameters, own...)
	if len(parameters) == 0 {
		return uri
	}
	return uri + "?" + strings.Join(parameters, "&")
}

// PragmaParameters are the pragmas as parameters of a URI, in the spelling that
// modernc.org/sqlite began: _pragma=synchronous(off).
func (s Settings) PragmaParameters() []string {
	var parameters []string
	for _, pragma := range s.Pragmas {
		name, value, hasValue := strings.Cut(pragma, "=")
		if hasValue {
			name += "(" + value + ")"
		}
		parameters = append(parameters, "_pragma="+url.QueryEscape(name))
	}
	return parameters
}

// pragmas are read back, and told where they are not what SQLite has by itself.
var pragmas = []struct{ name, own string }{
	{"journal_mode", ""}, {"synchronous", ""},
	{"mmap_size", "0"}, {"locking_mode", "normal"}, {"temp_store", "0"}, {"cache_size", "-2000"},
	{"analysis_limit", "0"}, {"foreign_keys", "0"}, {"page_size", "4096"},
}

// inForce reads back the version and the pragmas of a connection, as name=value without spaces.
func inForce(d Driver, db DB) ([]string, error) {
	version, err := db.Text("SELECT sqlite_version()")
	if err != nil {
		return nil, err
	}
	all := []string{"sqlite=" + version}
	if version := d.version(); version != "" {
		all = append(all, "version="+version)
	}
	if hp, err := db.Text("SELECT hp_version()"); err == nil {
		all = append(all, "hp="+strings.ReplaceAll(hp, " ", "_"))
	}
	for _, pragma := range pragmas {
		value, err := db.Text("PRAGMA " + pragma.name)
		if err != nil {
			return nil, fmt.Errorf("PRAGMA %s: %w", pragma.name, err)
		}
		// A database in memory has no mmap_size.
		if value != pragma.own && value != "" {
			all = append(all, pragma.name+"="+value)
		}
	}
	return all, nil
}

//go:embed go.mod
var modules string

// version is that of the driver's module; "" of one that is not built from a released version.
func (d Driver) version() string {
	for line := range strings.Lines(modules) {
		word := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(word) > 1 && word[0] == d.Module {
			return word[1]
		}
	}
	return ""
}

// tell prints what is in force, in a line that tools which read benchmarks pass over. It stands
// before the lines of the benchmarks that it is of.
func tell(d Driver, what string, told []string) {
	fmt.Printf("# in force: driver=%s %s %s\n", d.Name, what, strings.Join(told, " "))
}
