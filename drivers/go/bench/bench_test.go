package bench

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestURI(t *testing.T) {
	for _, c := range []struct {
		settings Settings
		own      []string
		want     string
	}{
		{Settings{Path: "/a/b.db"}, nil, "file:/a/b.db"},
		{Settings{Path: "/a b?.db", ReadOnly: true, SharedCache: true}, nil,
			"file:/a%20b%3F.db?cache=shared&mode=ro"},
		{Settings{Path: "/x", Immutable: true}, []string{"_mutex=no"}, "file:/x?immutable=1&_mutex=no"},
		{Settings{Memory: true}, nil, "file::memory:?cache=shared"},
	} {
		if got := c.settings.URI(c.own...); got != c.want {
			t.Errorf("%+v: %s, want %s", c.settings, got, c.want)
		}
	}
}

func TestPragmasInTheSpellingOfURIs(t *testing.T) {
	s := Settings{Pragmas: []string{"synchronous=off", "optimize"}}
	want := []string{"_pragma=synchronous%28off%29", "_pragma=optimize"}
	if got := s.PragmaParameters(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestEachPatternAddsToOneBefore(t *testing.T) {
	by := map[string]Pattern{}
	for _, p := range Patterns {
		by[p.Name] = p
		before, _, adds := strings.Cut(p.About, " + ")
		if !adds {
			continue
		}
		old, ok := by[before]
		if !ok {
			t.Errorf("%s: %q names no pattern before it", p.Name, p.About)
		}
		for _, pragma := range old.Settings.Pragmas {
			if !slices.Contains(p.Settings.Pragmas, pragma) {
				t.Errorf("%s has not %s of %s", p.Name, pragma, before)
			}
		}
	}
	if names := []string{by["P1"].Name, by["P9"].Name}; len(by) != 9 ||
		!slices.Equal(names, []string{"P1", "P9"}) {
		t.Errorf("%d patterns, with %q", len(by), names)
	}
}

func TestTheVersionOfADriverIsThatOfItsModule(t *testing.T) {
	if v := (Driver{Module: "github.com/mattn/go-sqlite3"}).version(); !strings.HasPrefix(v, "v1.") {
		t.Errorf("%q", v)
	}
	if v := (Driver{Module: "example.org/none"}).version(); v != "" {
		t.Errorf("%q", v)
	}
}

func TestTheLabKnowsAllBenchmarks(t *testing.T) {
	file, err := os.ReadFile("../../../crates/hpsqlite/src/bench/suites/go.toml")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range Patterns {
		names = append(names, p.Name)
	}
	for _, w := range workloads(Original) {
		for _, part := range w.parts {
			names = append(names, w.name+"/"+part.name)
		}
	}
	for _, name := range names {
		if !strings.Contains(string(file), `"`+name+`"`) {
			t.Errorf("the suite of the lab has no %q", name)
		}
	}
}

// liar is a driver that gives rows of its own.
type liar struct {
	DB
	give func(args []Value, to *Totals)
}

func (l liar) Select(_ *Query, args []Value, to *Totals) error {
	l.give(args, to)
	return nil
}

func TestRowsThatAreWrongAreAnError(t *testing.T) {
	right := func(args []Value, to *Totals) {
		row := Monster(int(args[0].Int) - 1)
		to.Add(row[:]...)
	}
	if err := parallel(2*monsters, 3, newByID(true), liar{give: right}); err != nil {
		t.Error(err)
	}
	for name, give := range map[string]func(args []Value, to *Totals){
		"of nothing": func([]Value, *Totals) {},
		"twice": func(args []Value, to *Totals) {
			right(args, to)
			right(args, to)
		},
		"of another monster": func(args []Value, to *Totals) {
			row := Monster(int(args[0].Int))
			to.Add(row[:]...)
		},
		"with another text of the same length": func(args []Value, to *Totals) {
			row := Monster(int(args[0].Int) - 1)
			row[1].Text = strings.ToUpper(row[1].Text)
			to.Add(row[:]...)
		},
	} {
		if err := parallel(1, 1, newByID(true), liar{give: give}); err == nil {
			t.Errorf("rows %s are not noticed", name)
		}
	}
	if err := parallel(1, 1, newAll(false), liar{give: func([]Value, *Totals) {}}); err == nil {
		t.Error("an empty table is not noticed")
	}
}

func TestTheFirstErrorEndsAllGoroutines(t *testing.T) {
	wrong := errors.New("wrong")
	var done atomic.Int64
	err := parallel(1_000_000, 4, func(DB) func(int) error {
		return func(i int) error {
			done.Add(1)
			if i == 10 {
				return wrong
			}
			return nil
		}
	}, nil)
	if err != wrong || done.Load() == 1_000_000 {
		t.Errorf("%v after %d operations", err, done.Load())
	}
}

// counted is a connection that is open.
type counted struct {
	Conn
	open *atomic.Int64
}

func (c counted) Exec(string) error { return nil }

func (c counted) Close() error {
	c.open.Add(-1)
	return nil
}

func TestAPoolOpensNoMoreThanItMay(t *testing.T) {
	var open atomic.Int64
	db, err := OpenPool(Settings{Conns: 3}, func() (Conn, error) {
		open.Add(1)
		return counted{open: &open}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = parallel(1000, 20, func(db DB) func(int) error {
		return func(int) error { return db.Exec("") }
	}, db)
	if err != nil {
		t.Error(err)
	}
	if n := open.Load(); n < 1 || n > 3 {
		t.Errorf("%d connections are open", n)
	}
	if err := db.Close(); err != nil || open.Load() != 0 {
		t.Errorf("%v, and %d connections are still open", err, open.Load())
	}
}
