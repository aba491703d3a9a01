package bench

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// Goroutines are how many read at a time.
var Goroutines = []int{1, 100, 1000}

// SelectByID has goroutines read one row of 1000 by its key:
// BenchmarkSelectByID/driver=NAME/pattern=P1/goroutines=100.
func SelectByID(b *testing.B, drivers []Driver) {
	patternBenchmarks(b, drivers, newByID)
}

// SelectAll has goroutines read all 1000 rows.
func SelectAll(b *testing.B, drivers []Driver) {
	patternBenchmarks(b, drivers, newAll)
}

func patternBenchmarks(b *testing.B, drivers []Driver, newReader func(deep bool) reader) {
	for _, d := range drivers {
		b.Run("driver="+d.Name, func(b *testing.B) {
			for _, p := range Patterns {
				b.Run("pattern="+p.Name, func(b *testing.B) {
					if why, cannot := d.Cannot[p.Name]; cannot {
						b.Skip(why)
					}
					folder := b.TempDir()
					db, err := p.open(d, folder)
					if err != nil {
						b.Fatal(err)
					}
					defer db.Close()
					told, err := p.inForce(d, db, folder)
					if err != nil {
						b.Fatal(err)
					}
					tell(d, "pattern="+p.Name, told)
					for _, n := range Goroutines {
						b.Run(fmt.Sprintf("goroutines=%d", n), func(b *testing.B) {
							// All connections are opened before the clock runs.
							if err := parallel(2*n, n, newReader(false), db); err != nil {
								b.Fatal(err)
							}
							b.ReportAllocs()
							b.ResetTimer()
							if err := parallel(b.N, n, newReader(false), db); err != nil {
								b.Fatal(err)
							}
						})
					}
				})
			}
		})
	}
}

// reader makes for a goroutine what it does for operation number i.
type reader func(db DB) func(i int) error

func newByID(deep bool) reader {
	want := make([]Totals, monsters)
	for i := range want {
		row := Monster(i)
		want[i].Deep = deep
		want[i].Add(row[:]...)
	}
	return func(db DB) func(int) error {
		args := make([]Value, 1)
		got := &Totals{Deep: deep}
		return func(i int) error {
			// Neighbours in time are not neighbours in the table.
			row := i * 617 % monsters
			args[0].Int = int64(row + 1)
			got.reset()
			if err := db.Select(ByID, args, got); err != nil {
				return err
			}
			return got.is(&want[row])
		}
	}
}

func newAll(deep bool) reader {
	want := Totals{Deep: deep}
	for i := range monsters {
		row := Monster(i)
		want.Add(row[:]...)
	}
	return func(db DB) func(int) error {
		got := &Totals{Deep: deep}
		return func(int) error {
			got.reset()
			if err := db.Select(SelectMonsters, nil, got); err != nil {
				return err
			}
			return got.is(&want)
		}
	}
}

// parallel does n operations in this many goroutines, which take them in turn, and gives the
// first error.
func parallel(n, goroutines int, each reader, db DB) error {
	var (
		next  atomic.Int64
		group sync.WaitGroup
		once  sync.Once
		first error
	)
	for range goroutines {
		group.Go(func() {
			do := each(db)
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					once.Do(func() { first = err })
					next.Store(int64(n))
					return
				}
			}
		})
	}
	group.Wait()
	return first
}
