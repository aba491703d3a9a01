package main

import (
	"fmt"
	"log"

	hpsqlite "github.com/hpsqlite/hpsqlite/drivers/go"
)

func main() {
	conn, err := hpsqlite.Open("people.db")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	conn.Exec("CREATE TABLE IF NOT EXISTS people(id INTEGER PRIMARY KEY, name TEXT)")
	conn.Exec("INSERT INTO people(name) VALUES(?), (?)", "Ada", "Grace")
	rows := conn.Query("SELECT id, name FROM people WHERE id <= ?", 2)
	for rows.Next() {
		fmt.Println(rows.Int64(0), rows.Text(1))
	}
	if err := rows.Close(); err != nil {
		log.Fatal(err)
	}
}
