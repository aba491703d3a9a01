//go:build !hpsqlite_static

package hpsqlite

// #cgo pkg-config: sqlite3
import "C"
