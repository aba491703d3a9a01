// Package bench measures Go drivers of SQLite beside one another.
//
// Each driver is a package of its own below this one, since two of them cannot be in one
// program: some register the same name with database/sql, others bring the same C symbols. Such
// a package says how the driver opens a database and reads and writes rows, as a [Driver], and
// hands that to the benchmarks here, so that all do the same work.
//
//	driver's package         this package
//	----------------         ---------------------------------------------------------------
//	Driver ────────────────► SelectByID, SelectAll   the patterns of settings, many goroutines
//	  Open(Settings) DB      Workload                six workloads, inserts, group by
//	                         Test                    the same at a small size, verified in full
//
// Rows are added up column by column as they are read ([Totals]) and the sums are compared with
// those that the data has, so a driver that gives a wrong row, or none, fails instead of being
// fast.
package bench

import (
	"fmt"
	"hash/fnv"
)

// Conns is how many connections to a database a driver may have open at a time.
const Conns = 16

// Driver is a driver under test.
type Driver struct {
	// Name stands in the names of benchmarks: driver=NAME.
	Name string
	// Module is the path of its module.
	Module string
	// Open opens a database. Connections may be opened later, when they are needed; each has
	// the settings.
	Open func(Settings) (DB, error)
	// File are parameters of the URI by which a database in memory attaches a file, where it
	// needs some.
	File []string
	// Cannot says which patterns the driver cannot do, and why. The tests hold it to that.
	Cannot map[string]string
}

// DB is an open database. Its methods may be called by many goroutines at a time.
type DB interface {
	// Exec runs statements without results, on one connection.
	Exec(sql string) error
	// Text gives the first column of the first row of a query as text; "" if there is no row.
	Text(sql string) (string, error)
	// Select runs a query with these arguments and adds its rows to the totals.
	Select(q *Query, args []Value, to *Totals) error
	// Transaction begins a transaction, has rows inserted, and commits; an error rolls back.
	Transaction(do func(Inserter) error) error
	// Close closes all connections.
	Close() error
}

// Inserter inserts rows in an open transaction.
type Inserter interface {
	// Insert runs the statement once for each row.
	Insert(sql string, rows Rows) error
}

// Query is a query of which it is known what its columns hold.
type Query struct {
	SQL string
	// Columns has a letter for each column: i for an integer, t for a text.
	Columns string
	// One says that there is at most one row, so that nobody looks for another.
	One bool
}

// Value is an argument of a statement: a text, or else an integer.
type Value struct {
	Int    int64
	Text   string
	IsText bool
}

// Rows are those that an Insert writes.
type Rows struct {
	Len, Width int
	// Row puts row number i into to, which has Width values and is used again for the next row.
	Row func(i int, to []Value)
}

// MaxColumns is the largest number of columns of a Query.
const MaxColumns = 12

// Totals are the sums of the columns of rows that were read.
type Totals struct {
	Rows    int64
	Columns [MaxColumns]int64
	// Deep has every byte of a text count, not only its length and its last byte.
	Deep bool
}

// Int adds an integer that stands in a column.
func (t *Totals) Int(column int, v int64) {
	t.Columns[column] += v
}

// AddText adds a text that stands in a column.
func AddText[T string | []byte](t *Totals, column int, text T) {
	sum := int64(len(text)) << 8
	if len(text) > 0 {
		sum += int64(text[len(text)-1])
	}
	if t.Deep {
		hash := fnv.New64a()
		hash.Write([]byte(text))
		sum += int64(hash.Sum64())
	}
	t.Columns[column] += sum
}

// Row counts a row.
func (t *Totals) Row() {
	t.Rows++
}

// Add adds what a row of these values comes to.
func (t *Totals) Add(row ...Value) {
	for i, v := range row {
		if v.IsText {
			AddText(t, i, v.Text)
		} else {
			t.Int(i, v.Int)
		}
	}
	t.Row()
}

// addTotals adds those of other rows.
func (t *Totals) addTotals(other *Totals) {
	t.Rows += other.Rows
	for i, v := range other.Columns {
		t.Columns[i] += v
	}
}

// reset forgets all rows.
func (t *Totals) reset() {
	*t = Totals{Deep: t.Deep}
}

// is tells how the totals differ from those of the data.
func (t *Totals) is(want *Totals) error {
	if *t == *want {
		return nil
	}
	if t.Rows != want.Rows {
		return fmt.Errorf("%d rows were read, and there are %d", t.Rows, want.Rows)
	}
	return fmt.Errorf("the columns of %d rows come to %v, and should to %v", t.Rows, t.Columns,
		want.Columns)
}

func integer(v int64) Value { return Value{Int: v} }

func text(v string) Value { return Value{Text: v, IsText: true} }
