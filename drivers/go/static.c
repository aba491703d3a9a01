//go:build hpsqlite_static

/* The library itself, from the folder that CGO_CFLAGS names with -I. */
#include "sqlite3.c"
