package bench

import (
	"slices"
	"strings"
	"testing"
)

// Test checks at a small size that each driver gives the right rows for all patterns and workloads.
func Test(t *testing.T, drivers []Driver) {
	for _, d := range drivers {
		t.Run("driver="+d.Name, func(t *testing.T) {
			for _, p := range Patterns {
				t.Run("pattern="+p.Name, func(t *testing.T) { testPattern(t, d, p) })
			}
			for _, w := range workloads(Short) {
				for _, part := range w.parts {
					t.Run("workload="+w.name+"/"+part.name, func(t *testing.T) { testWork(t, d, part) })
				}
			}
		})
	}
}

func testPattern(t *testing.T, d Driver, p Pattern) {
	folder := t.TempDir()
	err := readAsPattern(t, d, p, folder)
	why, cannot := d.Cannot[p.Name]
	switch {
	case cannot && err == nil:
		t.Errorf("can do it, though it is said that it cannot: %s", why)
	case cannot:
		t.Skipf("%s: %v", why, err)
	case err != nil:
		t.Error(err)
	}
}

func readAsPattern(t *testing.T, d Driver, p Pattern, folder string) error {
	db, err := p.open(d, folder)
	if err != nil {
		return err
	}
	defer db.Close()
	told, err := p.inForce(d, db, folder)
	if err != nil {
		return err
	}
	t.Log(told)
	for _, setting := range p.expected() {
		if !slices.Contains(told, setting) {
			t.Errorf("%s is not in force", setting)
		}
	}
	for _, goroutines := range []int{1, 3 * Conns} {
		for _, read := range []reader{newByID(true), newAll(true)} {
			if err := parallel(4*goroutines, goroutines, read, db); err != nil {
				return err
			}
		}
	}
	return nil
}

// expected is what has to be in force, as it is told.
func (p Pattern) expected() []string {
	var all []string
	if !p.Copy {
		all = append(all, "readonly=on")
	}
	if p.WAL {
		all = append(all, "immutable="+onOff(p.Settings.Immutable))
	}
	read := map[string]string{"synchronous=off": "synchronous=0", "temp_store=memory": "temp_store=2"}
	for _, pragma := range p.Settings.Pragmas {
		name, _, hasValue := strings.Cut(pragma, "=")
		switch {
		case !hasValue:
		case name == "journal_mode" && p.Settings.Immutable:
			// The log is left unread.
		case name == "locking_mode" && p.Copy:
			// Memory may be shared in a way that does without it.
		case read[pragma] != "":
			all = append(all, read[pragma])
		default:
			all = append(all, pragma)
		}
	}
	return all
}

func testWork(t *testing.T, d Driver, w work) {
	var err error
	if w.query == nil {
		nothing := func() {}
		err = w.write(d, t.TempDir(), nothing, nothing)
	} else {
		err = w.filled(d, t.TempDir(), w.query)
	}
	if err != nil {
		t.Error(err)
	}
}
