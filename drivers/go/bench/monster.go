package bench

import "fmt"

// monsters is the number of rows that patterns read.
const monsters = 1000

// What makes the table of monsters.
const (
	CreateMonster = "CREATE TABLE monster(id INTEGER PRIMARY KEY, " +
		"name TEXT, hp INTEGER, attack INTEGER)"
	InsertMonster = "INSERT INTO monster(id, name, hp, attack) VALUES(?, ?, ?, ?)"
)

// What reads it.
var (
	ByID = &Query{
		SQL:     "SELECT id, name, hp, attack FROM monster WHERE id = ?",
		Columns: "itii",
		One:     true,
	}
	SelectMonsters = &Query{SQL: "SELECT id, name, hp, attack FROM monster", Columns: "itii"}
)

// Monster is row number i, from 0 on.
func Monster(i int) row {
	return row{
		integer(int64(i + 1)),
		text(fmt.Sprintf("monster %07d", i+1)),
		integer(int64(10 + i*7%990)),
		integer(int64(1 + i*13%100)),
	}
}

// manyMonsters are n of them.
func manyMonsters(n int) []row {
	all := make([]row, n)
	for i := range all {
		all[i] = Monster(i)
	}
	return all
}

// makeMonsters makes a file with a table of n monsters.
func makeMonsters(d Driver, path string, wal bool, n int) error {
	s := Settings{Path: path, Conns: 1, Pragmas: []string{"synchronous=off"}}
	if wal {
		s.Pragmas = append(s.Pragmas, "journal_mode=wal")
	}
	db, err := d.Open(s)
	if err != nil {
		return err
	}
	err = db.Exec(CreateMonster)
	if err == nil {
		err = insertAll(db, InsertMonster, manyMonsters(n))
	}
	if end := db.Close(); err == nil {
		err = end
	}
	return err
}
