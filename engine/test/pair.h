/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Ours and stock side by side, for tests that include this: two libraries, each with
** a database of its own, on which the same is done.
*/
#ifndef PAIR_H
#define PAIR_H

#include <stdlib.h>
#include <string.h>
#include "hptest.h"

static Lib stock;
static const Lib *apLib[2];        /* Ours, stock */
static const char *azFile[4];      /* The database of each, and others */
static sqlite3 *adb[2];

/* Load the library zStock.  Not 0: it cannot be */
static int pairLoad(const char *zStock){
  apLib[0] = &ours;
  apLib[1] = &stock;
  return loadStock(&stock, zStock);
}

/* Run SQL on both databases */
static void both(const char *zSql){
  int i;
  for(i=0; i<2; i++) runOn(apLib[i], adb[i], zSql);
}

/*
** New databases of small pages, with what zTables and zMore make.  Stock makes
** them and ours opens a copy of the file: with sanitizers and asserts ours takes
** twenty times as long for it, which is most of the time of tests that begin often.
** A PRAGMA in place of zMore is for both connections.
*/
static inline void pairTables(const char *zTables, const char *zMore){
  int bPragma = strncmp(zMore, "PRAGMA", 6)==0;
  unsigned char *aFile;
  int i, n;
  removeDb(azFile[0]);
  removeDb(azFile[1]);
  adb[1] = openDb(apLib[1], azFile[1], 0);
  runOn(apLib[1], adb[1], "PRAGMA synchronous=OFF; PRAGMA page_size=512; BEGIN");
  runOn(apLib[1], adb[1], zTables);
  if( !bPragma ) runOn(apLib[1], adb[1], zMore);
  runOn(apLib[1], adb[1], "COMMIT");
  apLib[1]->close(adb[1]);
  aFile = readFile(azFile[1], &n);
  writeFile(azFile[0], aFile, n);
  free(aFile);
  for(i=0; i<2; i++) adb[i] = openDb(apLib[i], azFile[i], 0);
  both("PRAGMA synchronous=OFF");
  if( bPragma ) both(zMore);
}

/* End a test: nothing may be left of ours */
static inline void end(const char *zTest){
  int i;
  for(i=0; i<2; i++){
    check(apLib[i]->close(adb[i])==SQLITE_OK, "%s: a statement is left", zTest);
    removeDb(azFile[i]);
  }
  check(sqlite3_memory_used()==0, "%s: %lld bytes are left", zTest,
        sqlite3_memory_used());
}

/* Both have to say the same of zSql: rows, order, errors */
static inline void pairSame(const char *zSql){
  Text a = {0,0,0}, b = {0,0,0};
  answer(apLib[0], adb[0], zSql, &a);
  answer(apLib[1], adb[1], zSql, &b);
  check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "%s\n ours  %.600s\n stock %.600s",
        zSql, a.z, b.z);
  textClear(&a);
  textClear(&b);
}

#endif /* PAIR_H */
