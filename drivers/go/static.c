//go:build hpsqlite_static

/* The library itself, from the folder that CGO_CFLAGS names with -I, under
** names of its own. */
#include "hpgo_names.h"
#include "sqlite3.c"
