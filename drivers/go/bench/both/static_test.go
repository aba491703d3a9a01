//go:build hpsqlite_static

package both

const compiledIn = true
