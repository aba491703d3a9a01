package main

import (
	"log"
	"os"
)

func Example() {
	dir, err := os.MkdirTemp("", "first")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chdir(dir); err != nil {
		log.Fatal(err)
	}
	main()
	// Output:
	// 1 Ada
	// 2 Grace
}
