//go:build hpsqlite_static

package hpsqlite

// #cgo CFLAGS: -O2 -w -DHPGO_STATIC
// #cgo linux LDFLAGS: -lm -ldl -lpthread
import "C"
