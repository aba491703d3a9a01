package bench

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Sizes say how much the workloads write and read.
type Sizes struct {
	// Rows are those of simple, concurrent, bulk and group-by.
	Rows int
	// RealUsers each have RealEach articles with RealEach comments each.
	RealUsers, RealEach int
	// ComplexUsers each have ComplexArticles articles with ComplexComments comments each.
	ComplexUsers, ComplexArticles, ComplexComments int
	// ManyUsers are read ManyQueries times.
	ManyUsers   []int
	ManyQueries int
	// LargeUsers have an address of LargeBytes bytes each.
	LargeUsers int
	LargeBytes []int
	// Readers read in concurrent, each on a connection of its own; Groupers in group-by.
	Readers, Groupers []int
}

// Original are the sizes of cvilsmeier/go-sqlite-bench.
var Original = Sizes{
	Rows:      1_000_000,
	RealUsers: 100, RealEach: 20,
	ComplexUsers: 200, ComplexArticles: 100, ComplexComments: 20,
	ManyUsers: []int{10, 100, 1000}, ManyQueries: 1000,
	LargeUsers: 10_000, LargeBytes: []int{50_000, 100_000, 200_000},
	Readers: []int{2, 4, 8}, Groupers: []int{1, 2, 4, 8, 16},
}

// Short are the sizes with -short, and those of the tests.
var Short = Sizes{
	Rows:      2000,
	RealUsers: 3, RealEach: 4,
	ComplexUsers: 4, ComplexArticles: 5, ComplexComments: 6,
	ManyUsers: []int{10, 100}, ManyQueries: 5,
	LargeUsers: 20, LargeBytes: []int{50_000},
	Readers: []int{2, 4}, Groupers: []int{1, 4},
}

var rows = flag.Int("rows", 0,
	"rows of the workloads simple, concurrent, bulk and group-by; 0 is their own number")

// sizes are those that the command line asks for.
func sizes() Sizes {
	s := Original
	if testing.Short() {
		s = Short
	}
	if *rows > 0 {
		s.Rows = *rows
	}
	return s
}

// settings are those of the six workloads.
var settings = []string{"journal_mode=delete", "synchronous=full", "foreign_keys=1",
	"busy_timeout=5000"}

const schema = `CREATE TABLE users(
  id INTEGER PRIMARY KEY NOT NULL, created INTEGER NOT NULL, email TEXT NOT NULL, active INTEGER NOT NULL);
CREATE INDEX users_created ON users(created);
CREATE TABLE articles(
  id INTEGER PRIMARY KEY NOT NULL, created INTEGER NOT NULL, userId INTEGER NOT NULL REFERENCES users(id),
  text TEXT NOT NULL);
CREATE INDEX articles_created ON articles(created);
CREATE INDEX articles_userId ON articles(userId);
CREATE TABLE comments(
  id INTEGER PRIMARY KEY NOT NULL, created INTEGER NOT NULL, articleId INTEGER NOT NULL REFERENCES articles(id),
  text TEXT NOT NULL);
CREATE INDEX comments_created ON comments(created);
CREATE INDEX comments_articleId ON comments(articleId)`

const (
	insertUser    = "INSERT INTO users(id, created, email, active) VALUES(?, ?, ?, ?)"
	insertArticle = "INSERT INTO articles(id, created, userId, text) VALUES(?, ?, ?, ?)"
	insertComment = "INSERT INTO comments(id, created, articleId, text) VALUES(?, ?, ?, ?)"

	joined = `SELECT users.id, users.created, users.email, users.active,
  articles.id, articles.created, articles.userId, articles.text,
  comments.id, comments.created, comments.articleId, comments.text
FROM users LEFT JOIN articles ON articles.userId = users.id LEFT JOIN comments ON comments.articleId = articles.id`
	inOrder = " ORDER BY users.created, articles.created, comments.created"
)

var (
	selectUsers = &Query{
		SQL: "SELECT id, created, email, active FROM users ORDER BY id", Columns: "iiti",
	}
	selectJoined = &Query{SQL: joined + inOrder, Columns: "iitiiiitiiit"}
	selectUser   = &Query{SQL: joined + " WHERE users.email = ?" + inOrder, Columns: "iitiiiitiiit"}
	groupBy      = &Query{
		SQL:     "SELECT attack, count(*), sum(hp), max(name) FROM monster GROUP BY attack",
		Columns: "iiit",
	}
)

// workload stands in the names of benchmarks: workload=NAME.
type workload struct {
	name  string
	parts []work
}

// work is a part of a workload, which is measured by itself.
type work struct {
	// name stands in the names of benchmarks, after that of the workload: part=insert.
	name    string
	pragmas []string
	conns   int
	// schema is that of a new database.
	schema string
	// ready makes what fill writes, where that is measured: before the clock runs.
	ready func()
	// fill writes the rows; if there is no query, it is what is measured, on a new database each time.
	fill func(DB) error
	// check reads back what fill wrote, without being measured.
	check func(DB) error
	// query reads rows and verifies them.
	query func(DB) error
}

// row is one of any table.
type row = [4]Value

func user(id int, created int64, email string, active bool) row {
	return row{integer(int64(id)), integer(created), text(email), integer(boolean(active))}
}

func boolean(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func email(id int) string {
	return fmt.Sprintf("user%08d@example.com", id)
}

// users are n of them, a minute apart.
func users(n int) []row {
	all := make([]row, n)
	for i := range all {
		all[i] = user(i+1, began+int64(i)*60_000, email(i+1), true)
	}
	return all
}

// began is when the first row was made, in milliseconds.
const began = 1_696_154_400_000

func rowsOf(all []row) Rows {
	return Rows{Len: len(all), Width: len(row{}), Row: func(i int, to []Value) { copy(to, all[i][:]) }}
}

// insertAll inserts in one transaction.
func insertAll(db DB, sql string, all []row) error {
	return db.Transaction(func(to Inserter) error { return to.Insert(sql, rowsOf(all)) })
}

// once runs a query, and compares what it gives.
func once(db DB, q *Query, args []Value, want Totals) error {
	var got Totals
	if err := db.Select(q, args, &got); err != nil {
		return err
	}
	return got.is(&want)
}

// workloads are all of them at these sizes. What they write is made when the first one needs it.
func workloads(s Sizes) []workload {
	many := tableOf(func() []row { return users(s.Rows) })
	monsters := tableOf(func() []row { return manyMonsters(s.Rows) })
	return []workload{
		{"simple", simple(many)},
		{"real", realWorld(s)},
		{"complex", complexJoin(s)},
		{"many", each(s.ManyUsers, func(n int) work { return often(n, s.ManyQueries) })},
		{"large", each(s.LargeBytes, func(n int) work { return large(s.LargeUsers, n) })},
		{"concurrent", each(s.Readers, func(n int) work { return concurrent(many, n) })},
		{"bulk", []work{bulk(monsters)}},
		{"group-by", each(s.Groupers, func(n int) work { return grouping(monsters, n) })},
	}
}

// each makes a part for each number.
func each(numbers []int, part func(int) work) []work {
	var parts []work
	for _, n := range numbers {
		parts = append(parts, part(n))
	}
	return parts
}

// table is what a table is to hold, and what that comes to.
type table struct {
	rows   func() []row
	totals func() Totals
}

func tableOf(rows func() []row) table {
	rows = sync.OnceValue(rows)
	return table{rows: rows, totals: sync.OnceValue(func() Totals {
		var t Totals
		for _, r := range rows() {
			t.Add(r[:]...)
		}
		return t
	})}
}

// ready makes the rows, if they have not been made.
func (t table) ready() { t.rows() }

// reading is a workload of which only reading is measured.
func reading(name string, conns int, fill, query func(DB) error) work {
	return work{name: name, pragmas: settings, conns: conns, schema: schema, fill: fill, query: query}
}

// both is a workload of which writing and reading are measured apart.
func both(ready func(), fill, query func(DB) error) []work {
	read := reading("part=query", 1, fill, query)
	write := read
	write.name, write.ready, write.query, write.check = "part=insert", ready, nil, query
	return []work{write, read}
}

// fillUsers and queryUsers write and read the one table of several workloads.
func fillUsers(t table) func(DB) error {
	return func(db DB) error { return insertAll(db, insertUser, t.rows()) }
}

func queryUsers(t table) func(DB) error {
	return func(db DB) error { return once(db, selectUsers, nil, t.totals()) }
}

// simple inserts users in one transaction, and reads them all.
func simple(t table) []work {
	return both(t.ready, fillUsers(t), queryUsers(t))
}

// realWorld inserts each user with articles and their comments in a transaction, row by row,
// and reads them user by user by way of their addresses.
func realWorld(s Sizes) []work {
	const words = "text text text text text text text text text text text text"
	made := sync.OnceValue(func() []blog {
		return blogs(s.RealUsers, s.RealEach, s.RealEach, words, 1000)
	})
	fill := func(db DB) error {
		for _, b := range made() {
			if err := db.Transaction(b.insert); err != nil {
				return err
			}
		}
		return nil
	}
	query := func(db DB) error {
		for _, b := range made() {
			if err := once(db, selectUser, []Value{b.user[2]}, b.joined); err != nil {
				return err
			}
		}
		return nil
	}
	return both(func() { made() }, fill, query)
}

// complexJoin inserts users, articles and comments in a transaction each, and reads all in one
// join.
func complexJoin(s Sizes) []work {
	type tables struct {
		users, articles, comments []row
		joined                    Totals
	}
	made := sync.OnceValue(func() tables {
		var t tables
		for _, b := range blogs(s.ComplexUsers, s.ComplexArticles, s.ComplexComments,
			"article text", 60_000) {
			t.users = append(t.users, b.user)
			t.articles = append(t.articles, b.articles...)
			t.comments = append(t.comments, b.comments...)
			t.joined.addTotals(&b.joined)
		}
		return t
	})
	fill := func(db DB) error {
		t := made()
		if err := insertAll(db, insertUser, t.users); err != nil {
			return err
		}
		if err := insertAll(db, insertArticle, t.articles); err != nil {
			return err
		}
		return insertAll(db, insertComment, t.comments)
	}
	query := func(db DB) error { return once(db, selectJoined, nil, made().joined) }
	return both(func() { made() }, fill, query)
}

// blog is a user with articles, and the same number of comments on each.
type blog struct {
	user               row
	articles, comments []row
	// joined is what the rows come to when the three tables are joined.
	joined Totals
}

// blogs are made one after another, each row some milliseconds after the one before.
func blogs(users, articles, comments int, words string, apart int64) []blog {
	all := make([]blog, users)
	created := int64(began)
	article, comment := 0, 0
	next := func() Value {
		created += apart
		return integer(created)
	}
	for i := range all {
		b := &all[i]
		b.user = user(i+1, next().Int, email(i+1), i%2 == 1)
		for range articles {
			article++
			a := row{integer(int64(article)), next(), integer(int64(i + 1)), text(words)}
			b.articles = append(b.articles, a)
			for range comments {
				comment++
				c := row{integer(int64(comment)), next(), integer(int64(article)), text(words)}
				b.comments = append(b.comments, c)
				b.joined.Add(slices.Concat(b.user[:], a[:], c[:])...)
			}
		}
	}
	return all
}

// insert writes a blog as it comes to be: a row at a time, each by itself.
func (b *blog) insert(to Inserter) error {
	one := func(sql string, r row) error { return to.Insert(sql, rowsOf([]row{r})) }
	if err := one(insertUser, b.user); err != nil {
		return err
	}
	each := len(b.comments) / len(b.articles)
	for i, article := range b.articles {
		if err := one(insertArticle, article); err != nil {
			return err
		}
		for _, comment := range b.comments[i*each : (i+1)*each] {
			if err := one(insertComment, comment); err != nil {
				return err
			}
		}
	}
	return nil
}

// often reads some users many times.
func often(n, queries int) work {
	t := tableOf(func() []row { return users(n) })
	read := queryUsers(t)
	return reading(fmt.Sprintf("users=%d", n), 1, fillUsers(t), func(db DB) error {
		for range queries {
			if err := read(db); err != nil {
				return err
			}
		}
		return nil
	})
}

// large reads users with addresses of many bytes.
func large(n, bytes int) work {
	t := tableOf(func() []row {
		// One text for all of them: gigabytes of others would have to be in memory.
		long := strings.Repeat("a", bytes)
		all := make([]row, n)
		for i := range all {
			all[i] = user(i+1, began+int64(i)*1000, long, true)
		}
		return all
	})
	return reading(fmt.Sprintf("bytes=%d", bytes), 1, fillUsers(t), queryUsers(t))
}

// concurrent has goroutines read all users.
func concurrent(t table, goroutines int) work {
	name := fmt.Sprintf("goroutines=%d", goroutines)
	return reading(name, goroutines, fillUsers(t), together(goroutines, queryUsers(t)))
}

// together has this many goroutines run a query.
func together(goroutines int, query func(DB) error) func(DB) error {
	read := func(db DB) func(int) error {
		return func(int) error { return query(db) }
	}
	return func(db DB) error { return parallel(goroutines, goroutines, read, db) }
}

// ofMonsters is a workload on a table without indexes, with a write-ahead log.
func ofMonsters(name string, conns int, t table) work {
	return work{
		name:    name,
		pragmas: []string{"journal_mode=wal", "synchronous=normal"},
		conns:   conns,
		schema:  CreateMonster,
		fill:    func(db DB) error { return insertAll(db, InsertMonster, t.rows()) },
	}
}

// bulk writes monsters in one transaction.
func bulk(t table) work {
	w := ofMonsters("part=insert", 1, t)
	w.ready = t.ready
	w.check = func(db DB) error { return once(db, SelectMonsters, nil, t.totals()) }
	return w
}

// grouping has goroutines put monsters into a hundred groups.
func grouping(t table, goroutines int) work {
	want := sync.OnceValue(func() Totals { return grouped(t.rows()) })
	w := ofMonsters(fmt.Sprintf("goroutines=%d", goroutines), goroutines, t)
	w.query = together(goroutines, func(db DB) error { return once(db, groupBy, nil, want()) })
	return w
}

// grouped is what the rows of groupBy come to.
func grouped(all []row) Totals {
	type group struct {
		count, hp int64
		name      string
	}
	groups := map[int64]group{}
	for _, m := range all {
		g := groups[m[3].Int]
		groups[m[3].Int] = group{g.count + 1, g.hp + m[2].Int, max(g.name, m[1].Text)}
	}
	var t Totals
	for attack, g := range groups {
		t.Add(integer(attack), integer(g.count), integer(g.hp), text(g.name))
	}
	return t
}

// open makes a new database in the folder.
func (w work) open(d Driver, folder string) (DB, error) {
	db, err := d.Open(Settings{Path: filepath.Join(folder, "workload.db"), Pragmas: w.pragmas,
		Conns: w.conns})
	if err != nil {
		return nil, err
	}
	if err := db.Exec(w.schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Workload runs the workloads: BenchmarkWorkload/driver=NAME/workload=simple/part=insert. An
// operation is the whole part; of one that only reads, filling the database is not measured.
func Workload(b *testing.B, drivers []Driver) {
	all := workloads(sizes())
	for _, d := range drivers {
		b.Run("driver="+d.Name, func(b *testing.B) {
			for _, w := range all {
				b.Run("workload="+w.name, func(b *testing.B) { w.measure(b, d) })
			}
		})
	}
}

func (w workload) measure(b *testing.B, d Driver) {
	db, err := w.parts[0].open(d, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	told, err := inForce(d, db)
	if err := errors.Join(err, db.Close()); err != nil {
		b.Fatal(err)
	}
	tell(d, "workload="+w.name, told)
	for _, part := range w.parts {
		b.Run(part.name, func(b *testing.B) {
			if err := part.measure(b, d); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func (w work) measure(b *testing.B, d Driver) error {
	b.ReportAllocs()
	if w.query == nil {
		for b.Loop() {
			b.StopTimer()
			if err := w.write(d, b.TempDir(), b.StartTimer, b.StopTimer); err != nil {
				return err
			}
			b.StartTimer()
		}
		return nil
	}
	return w.filled(d, b.TempDir(), func(db DB) error {
		// All connections are open, and what is compared with is known, before the clock runs.
		if err := w.query(db); err != nil {
			return err
		}
		for b.Loop() {
			if err := w.query(db); err != nil {
				return err
			}
		}
		return nil
	})
}

// write fills a new database between the two calls, and checks what is in it.
func (w work) write(d Driver, folder string, begin, end func()) error {
	db, err := w.open(d, folder)
	if err != nil {
		return err
	}
	defer db.Close()
	w.ready()
	begin()
	err = w.fill(db)
	end()
	if err != nil {
		return err
	}
	return w.check(db)
}

// filled has something done with a database that holds the rows.
func (w work) filled(d Driver, folder string, do func(DB) error) error {
	db, err := w.open(d, folder)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := w.fill(db); err != nil {
		return err
	}
	return do(db)
}
