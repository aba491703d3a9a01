package cloop

import (
	"path/filepath"
	"testing"

	"github.com/hpsqlite/hpsqlite/drivers/go/bench"
)

var all, byID = bench.SelectMonsters.SQL, bench.ByID.SQL

// monsters opens a database of n of them, with the settings of the workload bulk.
func monsters(t testing.TB, n int) db {
	t.Helper()
	d, err := open(filepath.Join(t.TempDir(), "c.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	for _, sql := range []string{"PRAGMA journal_mode=wal", "PRAGMA synchronous=normal",
		bench.CreateMonster} {
		if err := d.exec(sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.insert(bench.InsertMonster, n); err != nil {
		t.Fatal(err)
	}
	return d
}

// sums are those of n monsters, each of which is read this often.
func sums(n, times int) (s Sums) {
	for i := range n {
		s.Rows++
		for _, v := range bench.Monster(i) {
			s.Integers += v.Int
			s.Bytes += int64(len(v.Text))
		}
	}
	return Sums{s.Rows * int64(times), s.Integers * int64(times), s.Bytes * int64(times)}
}

func TestTheRowsAreRight(t *testing.T) {
	d := monsters(t, 1000)
	if got, err := d.read(all, 3, 0); err != nil || got != sums(1000, 3) {
		t.Errorf("%+v, want %+v; %v", got, sums(1000, 3), err)
	}
	if got, err := d.read(byID, 2000, 1000); err != nil || got != sums(1000, 2) {
		t.Errorf("%+v, want %+v; %v", got, sums(1000, 2), err)
	}
	if _, err := d.read("SELECT", 1, 0); err == nil {
		t.Error("an error is not told")
	}
}

func BenchmarkSelectByID(b *testing.B) {
	b.Run("driver=c/pattern=P2/goroutines=1", func(b *testing.B) { read(b, byID, 1000, 1) })
}

func BenchmarkSelectAll(b *testing.B) {
	b.Run("driver=c/pattern=P2/goroutines=1", func(b *testing.B) { read(b, all, 0, 1000) })
}

func read(b *testing.B, sql string, keys, rows int) {
	d := monsters(b, 1000)
	b.ResetTimer()
	got, err := d.read(sql, b.N, keys)
	if err != nil || got.Rows != int64(b.N)*int64(rows) {
		b.Errorf("%d rows; %v", got.Rows, err)
	}
}

func BenchmarkWorkload(b *testing.B) {
	b.Run("driver=c/workload=bulk/part=insert", func(b *testing.B) {
		for range b.N {
			monsters(b, 1_000_000)
		}
	})
}
