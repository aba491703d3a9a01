//go:build libsqlite3

package mattn

const name = "mattn-libsqlite3"
