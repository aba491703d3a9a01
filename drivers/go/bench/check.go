package bench

import (
	"slices"
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
	if !p.Copy && !slices.Contains(told, "readonly=on") {
		t.Error("the database can be written")
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
