package hpsqlite

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// recorded gives a connection, and a changeset of what sql does on it.
func recorded(t *testing.T, schema, sql string) (c *Conn, changeset, patchset []byte) {
	t.Helper()
	c = open(t)
	exec(t, c, schema)
	s, err := c.NewSession("")
	if err != nil {
		if strings.Contains(err.Error(), "SQLITE_ENABLE_SESSION") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	defer s.Close()
	if !s.IsEmpty() {
		t.Error("it is not empty")
	}
	exec(t, c, sql)
	if changeset, err = s.Changeset(); err != nil {
		t.Fatal(err)
	}
	if patchset, err = s.Patchset(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.WriteChangeset(&b); err != nil || !bytes.Equal(b.Bytes(), changeset) {
		t.Error(b.Len(), err)
	}
	return c, changeset, patchset
}

func describe(t *testing.T, changeset []byte) string {
	t.Helper()
	var b strings.Builder
	for change, err := range Changes(changeset) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s", change.Op, change.Table)
		for i := range change.Columns {
			if change.Key(i) {
				b.WriteString(" key")
			}
			old, had := change.Old(i)
			now, has := change.New(i)
			if had {
				fmt.Fprintf(&b, " -%v", old)
			}
			if has {
				fmt.Fprintf(&b, " +%v", now)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

const people = "CREATE TABLE p(id INTEGER PRIMARY KEY, name, x); INSERT INTO p " +
	"VALUES(1,'a',0.5),(2,'b',x'41')"

func TestChangesAreRecordedAndMadeElsewhere(t *testing.T) {
	const sql = "UPDATE p SET name='A' WHERE id=1; DELETE FROM p WHERE id=2; INSERT INTO p " +
		"VALUES(3,NULL,'t')"
	c, changeset, patchset := recorded(t, people, sql)
	const want = "UPDATE p key -1 -a +A\nDELETE p key -2 -b -[65]\nINSERT p key +3 +<nil> +t\n"
	lines := func(s string) map[string]bool {
		m := map[string]bool{}
		for _, line := range strings.Split(s, "\n") {
			m[line] = true
		}
		return m
	}
	if got := describe(t, changeset); fmt.Sprint(lines(got)) != fmt.Sprint(lines(want)) {
		t.Errorf("changes\n%s", got)
	}
	for range Changes(changeset) {
		break
	}
	now := strings.Join(texts(t, c, "SELECT * FROM p"), " ")
	for _, set := range [][]byte{changeset, patchset} {
		other := open(t)
		exec(t, other, people)
		if err := other.ApplyChangeset(set, ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
		equal(t, "rows", strings.Join(texts(t, other, "SELECT * FROM p"), " "), now)
	}
	back, err := InvertChangeset(changeset)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ApplyChangeset(back, ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	equal(t, "undone", strings.Join(texts(t, c, "SELECT * FROM p"), " "), "1|a|0.5 2|b|A")
	both, err := ConcatChangesets(changeset, back)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "changes and their inverse", describe(t, both), "")
}

func TestConflictsAreDecidedInGo(t *testing.T) {
	_, changeset, _ := recorded(t, people, "UPDATE p SET name='A' WHERE id=1; DELETE FROM p "+
		"WHERE id=2; INSERT INTO p VALUES(3,'c',NULL)")
	start := func() *Conn {
		other := open(t)
		exec(t, other, "CREATE TABLE p(id INTEGER PRIMARY KEY, name, x); INSERT INTO p "+
			"VALUES(1,'z',0.5),(3,'y',7)")
		return other
	}
	rows := func(c *Conn) string { return strings.Join(texts(t, c, "SELECT * FROM p"), " ") }

	other := start()
	err := other.ApplyChangeset(changeset, ApplyOptions{})
	if !errors.Is(err, ErrAbort) || !strings.Contains(err.Error(), "of table p: ") {
		t.Error(err)
	}
	equal(t, "aborted", rows(other), "1|z|0.5 3|y|7")

	kinds := map[ConflictKind]string{}
	var kept *Conflict
	err = other.ApplyChangeset(changeset, ApplyOptions{Conflict: func(c *Conflict) Resolution {
		kept = c
		present, ok := c.Present(1)
		kinds[c.Kind] = fmt.Sprintf("%v %v %v", c.Op, present, ok)
		if c.Kind == ConflictNotFound {
			return Omit
		}
		return Replace
	}})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "replaced", rows(other), "1|A|0.5 3|c|-")
	equal(t, "data", kinds[ConflictData], "UPDATE z true")
	equal(t, "exists", kinds[ConflictExists], "INSERT y true")
	equal(t, "not found", kinds[ConflictNotFound], "DELETE <nil> false")
	if v, ok := kept.New(0); ok {
		t.Errorf("a conflict of the past still says %v", v)
	}

	other = start()
	err = other.ApplyChangeset(changeset,
		ApplyOptions{Filter: func(table string) bool { return table != "p" }})
	if err != nil || rows(other) != "1|z|0.5 3|y|7" {
		t.Error(err, rows(other))
	}
	for want, f := range map[string]func(*Conflict) Resolution{
		"the conflict handler of a changeset panicked: oh": func(*Conflict) Resolution { panic("oh") },
		"resolution 9": func(*Conflict) Resolution { return 9 },
	} {
		if err := other.ApplyChangeset(changeset, ApplyOptions{Conflict: f}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	var inside error
	other.ApplyChangeset(changeset, ApplyOptions{Conflict: func(*Conflict) Resolution {
		_, inside = other.Exec("DELETE FROM p")
		return Abort
	}})
	if inside == nil || !strings.Contains(inside.Error(), "must not use the connection") {
		t.Error(inside)
	}
	equal(t, "undone", rows(other), "1|z|0.5 3|y|7")

	for _, err := range Changes([]byte("T rubbish")) {
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("no changeset: %v", err)
		}
	}
}

func TestForeignKeysAreAConflictAtTheEnd(t *testing.T) {
	const schema = "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY " +
		"KEY, a REFERENCES a); INSERT INTO a VALUES(1)"
	_, changeset, _ := recorded(t, schema, "INSERT INTO b VALUES(1,1),(2,1)")
	other := open(t)
	exec(t, other, schema+"; DELETE FROM a")
	calls := 0
	err := other.ApplyChangeset(changeset, ApplyOptions{Conflict: func(c *Conflict) Resolution {
		equal(t, "kind", c.Kind, ConflictForeignKey)
		calls++
		return Abort
	}})
	if !errors.Is(err, ErrAbort) || !strings.Contains(err.Error(), "foreign keys") || calls != 1 {
		t.Error(calls, err)
	}
}

func TestSessionsCanPauseAndEndWithTheConnection(t *testing.T) {
	c, _, _ := recorded(t, people, "SELECT 1")
	s, err := c.NewSession("main", "p")
	if err != nil {
		t.Fatal(err)
	}
	s.Enable(false)
	exec(t, c, "INSERT INTO p VALUES(8,8,8)")
	s.Enable(true)
	exec(t, c, "INSERT INTO p VALUES(9,9,9)")
	set, err := s.Changeset()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "changes", describe(t, set), "INSERT p key +9 +9 +9\n")
	exec(t, c, "ATTACH ':memory:' AS old; CREATE TABLE old.p(id INTEGER PRIMARY KEY, name, x); "+
		"INSERT INTO old.p SELECT * FROM p WHERE id<9")
	d, err := c.NewSession("main", "p")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Diff("old", "p"); err != nil {
		t.Fatal(err)
	}
	set, err = d.Changeset()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "difference", describe(t, set), "INSERT p key +9 +9 +9\n")
	if err := d.Diff("old", "nope"); err != nil && !strings.Contains(err.Error(), "nope") {
		t.Error(err)
	}
	c.Close()
	if _, err := s.Changeset(); err != errSessionClosed {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
