package hpsqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"log"
	"math"
	"regexp"
	"strings"

	hpsqlite "github.com/hpsqlite/hpsqlite/drivers/go"
)

func ExampleConn_CreateFunction() {
	conn, err := hpsqlite.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	// X REGEXP Y is regexp(Y, X).
	err = conn.CreateFunction("regexp", func(pattern, text string) (bool, error) {
		return regexp.MatchString(pattern, text)
	}, hpsqlite.Deterministic)
	if err != nil {
		log.Fatal(err)
	}
	rows := conn.Query("SELECT 'gopher' REGEXP '^go', 'sqlite' REGEXP '^go'")
	for rows.Next() {
		fmt.Println(rows.Bool(0), rows.Bool(1))
	}
	if err := rows.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(conn.Query("SELECT 'x' REGEXP '('").Close())
	// Output:
	// true false
	// hpsqlite: the function regexp failed (1 SQLITE_ERROR): error parsing regexp: missing closing ): `(`
}

// The fast form reads arguments where SQLite has them, and compiles a pattern
// once for all rows.
func ExampleConn_CreateRawFunction() {
	conn, err := hpsqlite.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	match := func(ctx *hpsqlite.Context, args []hpsqlite.Value) error {
		pattern, _ := ctx.Aux(0).(*regexp.Regexp)
		if pattern == nil {
			var err error
			if pattern, err = regexp.Compile(args[0].Text()); err != nil {
				return err
			}
			ctx.SetAux(0, pattern)
		}
		ctx.Bool(pattern.Match(args[1].RawText()))
		return nil
	}
	if err := conn.CreateRawFunction("regexp", 2, match, hpsqlite.Deterministic); err != nil {
		log.Fatal(err)
	}
	rows := conn.Query("SELECT value FROM json_each('[\"go\",\"c\",\"golang\"]') WHERE value REGEXP '^go'")
	for rows.Next() {
		fmt.Println(rows.Text(0))
	}
	if err := rows.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// go
	// golang
}

// A deviation is a standard deviation of the rows seen so far, by Welford's way.
type deviation struct{ n, mean, squares float64 }

func (d *deviation) Step(x float64) {
	d.n++
	before := d.mean
	d.mean += (x - d.mean) / d.n
	d.squares += (x - before) * (x - d.mean)
}

func (d *deviation) Result() *float64 {
	if d.n == 0 {
		return nil
	}
	s := math.Sqrt(d.squares / d.n)
	return &s
}

func ExampleConn_CreateAggregate() {
	conn, err := hpsqlite.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	if err := conn.CreateAggregate("stddev", func() *deviation { return &deviation{} }, hpsqlite.Deterministic); err != nil {
		log.Fatal(err)
	}
	rows := conn.Query("SELECT stddev(column1) FROM (VALUES (2), (4), (4), (4), (5), (5), (7), (9), (NULL))")
	for rows.Next() {
		fmt.Println(rows.Float64(0))
	}
	if err := rows.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: 2
}

// With database/sql, functions are defined for each connection that the pool opens.
func ExampleNewConnector() {
	cfg, err := hpsqlite.ParseDSN(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	db := sql.OpenDB(hpsqlite.NewConnector(cfg, func(conn *hpsqlite.Conn) error {
		return conn.CreateFunction("initials", func(name string) string {
			var s strings.Builder
			for _, word := range strings.Fields(name) {
				s.WriteString(word[:1])
			}
			return s.String()
		}, hpsqlite.Deterministic)
	}))
	defer db.Close()
	var s string
	if err := db.QueryRow("SELECT initials('Dwayne Richard Hipp')").Scan(&s); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s)
	// Output: DRH
}

func ExampleConn_SetCommitHook() {
	conn, err := hpsqlite.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Exec("CREATE TABLE t(a)"); err != nil {
		log.Fatal(err)
	}
	errFrozen := errors.New("the books are closed")
	if err := conn.SetCommitHook(func() error { return errFrozen }); err != nil {
		log.Fatal(err)
	}
	_, err = conn.Exec("INSERT INTO t VALUES(1)")
	fmt.Println(errors.Is(err, errFrozen), errors.Is(err, hpsqlite.ErrConstraintCommitHook))
	// Output: true true
}

func ExampleConn_CreateCollation() {
	conn, err := hpsqlite.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	length := func(a, b []byte) int { return len(a) - len(b) }
	if err := conn.CreateCollation("length", length); err != nil {
		log.Fatal(err)
	}
	rows := conn.Query("SELECT value FROM json_each('[\"three\",\"one\",\"seventeen\"]') ORDER BY value COLLATE length DESC")
	for rows.Next() {
		fmt.Println(rows.Text(0))
	}
	if err := rows.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// seventeen
	// three
	// one
}
