package hpsqlite

/*
#cgo linux LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include "hpgo.h"

// The file that SQLite is in. What it returns lies there, while the address of a function
// may be that of a jump in the program.
static const char *hpgo_library_path(void){
  Dl_info info;
  if( dladdr(sqlite3_sourceid(), &info) && info.dli_fname ) return info.dli_fname;
  return "";
}

// Whether the program itself has the SQLite that the driver calls, and it is not the one
// whose header the driver was compiled with. A library that is linked statically is that one;
// otherwise it is a SQLite that another package has compiled in: the linker takes its functions
// first, for all packages.
static int hpgo_is_others(void){
  static const char here = 0;
  Dl_info lib, own;
  int inside = !dladdr(sqlite3_sourceid(), &lib)
            || !dladdr(&here, &own)
            || lib.dli_fbase==own.dli_fbase;
  return inside && strcmp(sqlite3_sourceid(), SQLITE_SOURCE_ID)!=0;
}

// Whether hp_version() is there. The mark alt1 in the source id says only that
// the library is not upstream's own: other distributors have it too.
static int hpgo_is_hp(void){
  sqlite3 *db = 0;
  sqlite3_stmt *p = 0;
  int is = sqlite3_open(":memory:", &db)==SQLITE_OK
        && sqlite3_prepare_v2(db, "SELECT hp_version()", -1, &p, 0)==SQLITE_OK;
  sqlite3_finalize(p);
  sqlite3_close(db);
  return is;
}
*/
import "C"

import (
	"fmt"
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
	return Library{
		Version:  C.GoString(C.sqlite3_libversion()),
		SourceID: C.GoString(C.sqlite3_sourceid()),
		Path:     C.GoString(C.hpgo_library_path()),
		HP:       isHP(),
	}
}

var isHP = sync.OnceValue(func() bool { return C.hpgo_is_hp() != 0 })

// MemoryUsed is how many bytes SQLite has allocated, for all connections together; 0 if the
// library was compiled not to count (SQLITE_DEFAULT_MEMSTATUS=0).
func MemoryUsed() int64 { return int64(C.sqlite3_memory_used()) }

// checkLibrary refuses a SQLite that another package has brought, and a library that is older
// than the header that the program was compiled with: calls may be missing from it, and
// structures differ.
var checkLibrary = sync.OnceValue(func() error {
	if C.hpgo_is_others() != 0 {
		return fmt.Errorf("hpsqlite: another package of this program, such as mattn/go-sqlite3, "+
			"has its own SQLite %s compiled in, which takes the place of the library that "+
			"hpsqlite was linked with (SQLite %s): build with -tags hpsqlite_static, so that "+
			"each has its own, or link that package with the library as well "+
			"(mattn/go-sqlite3: -tags libsqlite3)",
			C.GoString(C.sqlite3_libversion()), C.SQLITE_VERSION)
	}
	if lib := LibraryInfo(); C.sqlite3_libversion_number() < C.SQLITE_VERSION_NUMBER {
		return fmt.Errorf("hpsqlite: the program was compiled for SQLite %s, and %s is SQLite %s: "+
			"set LD_LIBRARY_PATH to the folder of High Performance SQLite's library, or install it",
			C.SQLITE_VERSION, lib.Path, lib.Version)
	}
	if C.sqlite3_threadsafe() == 0 {
		return fmt.Errorf("hpsqlite: %s was compiled with SQLITE_THREADSAFE=0, and Go programs "+
			"have threads", LibraryInfo().Path)
	}
	if rc := Code(C.hpgo_memory_vfs()); rc != codeOK {
		return fmt.Errorf("hpsqlite: %s has no databases in memory: %w", LibraryInfo().Path, rc)
	}
	return nil
})
