package hpsqlite

/*
#cgo linux LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include "hpgo.h"

static const char *hpgo_library_path(void){
  Dl_info info;
  if( dladdr((void*)sqlite3_libversion, &info) && info.dli_fname ) return info.dli_fname;
  return "";
}
*/
import "C"

import (
	"fmt"
	"strings"
	"sync"
)

// A Library says which SQLite the program runs with.
type Library struct {
	Version  string // SQLite's, such as 3.54.1
	SourceID string
	Path     string // of the file that it was loaded from; the program's own if it is compiled in
	HP       bool   // whether it is High Performance SQLite
}

// LibraryInfo says which SQLite the program runs with. With another one than
// High Performance SQLite everything works that SQLite itself can do.
func LibraryInfo() Library {
	id := C.GoString(C.sqlite3_sourceid())
	return Library{
		Version:  C.GoString(C.sqlite3_libversion()),
		SourceID: id,
		Path:     C.GoString(C.hpgo_library_path()),
		HP:       strings.HasSuffix(id, "alt1"),
	}
}

// MemoryUsed is how many bytes SQLite has allocated, for all connections together; 0 if the
// library was compiled not to count (SQLITE_DEFAULT_MEMSTATUS=0).
func MemoryUsed() int64 { return int64(C.sqlite3_memory_used()) }

// checkLibrary refuses a library that is older than the header that the program
// was compiled with: calls may be missing from it, and structures differ.
var checkLibrary = sync.OnceValue(func() error {
	if lib := LibraryInfo(); C.sqlite3_libversion_number() < C.SQLITE_VERSION_NUMBER {
		return fmt.Errorf("hpsqlite: the program was compiled for SQLite %s, and %s is SQLite %s: "+
			"set LD_LIBRARY_PATH to the folder of High Performance SQLite's library, or install it",
			C.SQLITE_VERSION, lib.Path, lib.Version)
	}
	if C.sqlite3_threadsafe() == 0 {
		return fmt.Errorf("hpsqlite: %s was compiled with SQLITE_THREADSAFE=0, and Go programs have threads", LibraryInfo().Path)
	}
	return nil
})
