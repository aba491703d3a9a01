// What the other clients of this suite tell and ask, from inside the process
// that runs go-sqlite3's own tests: compiled as a file of that package.

package sqlite3

import (
	"bufio"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMain takes the folder with setup.sql and queries.sql as argument, and
// leaves what it has to tell in the file facts, which ends with @end only if
// the tests came to their end.
func TestMain(m *testing.M) {
	flag.Parse()
	out, err := os.Create("facts")
	if err == nil {
		err = facts(out, flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m.Run()
	fmt.Fprintln(out, "@end")
}

func facts(out *os.File, folder string) error {
	db, err := sql.Open("sqlite3", "go.db")
	if err != nil {
		return err
	}
	defer db.Close()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "@library\t%s\n", regexp.MustCompile(`\S*libsqlite3\S*`).Find(maps))
	var source string
	if err := db.QueryRow("SELECT sqlite_source_id()").Scan(&source); err != nil {
		return err
	}
	fmt.Fprintf(out, "@source_id\t%s\n", source)
	version := "none"
	db.QueryRow("SELECT hp_version()").Scan(&version)
	fmt.Fprintf(out, "@hp_version\t%s\n", version)

	err = eachLine(filepath.Join(folder, "setup.sql"), func(_ int, sql string) error {
		_, err := db.Exec(sql)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "@plan\t%s\n", answer(db, "EXPLAIN QUERY PLAN SELECT kind, sum(qty) FROM item GROUP BY kind"))
	err = eachLine(filepath.Join(folder, "queries.sql"), func(i int, sql string) error {
		_, err := fmt.Fprintf(out, "query %d\t%s\n", i, answer(db, sql))
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "integrity\t%s\n", answer(db, "PRAGMA integrity_check"))
	return err
}

func eachLine(file string, do func(i int, line string) error) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	for i := 0; lines.Scan(); i++ {
		if err := do(i, lines.Text()); err != nil {
			return fmt.Errorf("%s: %s: %w", file, lines.Text(), err)
		}
	}
	return lines.Err()
}

// answer is all rows of a query in one line, with the type Go has for each
// value, or its error.
func answer(db *sql.DB, query string) string {
	rows, err := db.Query(query)
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err.Error()
	}
	values := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%q", columns)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err.Error()
		}
		fmt.Fprintf(&text, " %#v", values)
	}
	if err := rows.Err(); err != nil {
		fmt.Fprintf(&text, " %v", err)
	}
	return text.String()
}
