/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Tables with rows of all types on both libraries, and the entries of their indexes,
** as they are in the files: for tests of what writes b-trees bottom up.
*/
#ifndef ENTRIES_H
#define ENTRIES_H

#include <stdio.h>
#include "tree.h"

/* Rows of all types: integers of all sizes, reals, texts short and long, blobs,
** NULLs, equal values, and what collations take for equal */
static const char zRows[] =
  "INSERT INTO t(a,b,c,d,e) SELECT"
  " CASE value%7 WHEN 0 THEN NULL WHEN 1 THEN value*1.5 WHEN 2 THEN value"
  "   WHEN 3 THEN (value*7919)%1000*1000003 WHEN 4 THEN -value"
  "   WHEN 5 THEN 'text'||value%50 ELSE x'00ff'||value END,"
  " (value*7919)%997,"
  " CASE value%3 WHEN 0 THEN 'Abc'||(value%20) WHEN 1 THEN 'aBC'||(value%20)"
  "   ELSE 'abc'||(value%20)||'  ' END,"
  " CASE value%5 WHEN 0 THEN value WHEN 1 THEN value/4.0 WHEN 2 THEN -0.0"
  "   WHEN 3 THEN 1e15+value ELSE NULL END,"
  " CASE value%11 WHEN 0 THEN printf('%.*c',value%900,'x') ELSE value||'y' END"
  " FROM " SERIES("2500");

/* What a table may be */
static const char *const azTable[] = {
  "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b INT, c TEXT, d REAL, e);",
  "CREATE TABLE t(a, b INT, c TEXT COLLATE nocase, d REAL, e,"
  " f AS (b+1), g TEXT AS (c||b) STORED);",
  "CREATE TABLE t(id INTEGER, a, b INT, c TEXT, d REAL, e,"
  " n INTEGER NOT NULL DEFAULT 1, PRIMARY KEY(b,c,e)) WITHOUT ROWID;",
};

/* The same script on two new databases.  zBegin is for the empty ones */
static inline void begin(const char *zBegin, const char *zTable){
  int i;
  for(i=0; i<2; i++){
    removeDb(azFile[i]);
    adb[i] = openDb(apLib[i], azFile[i], 0);
  }
  both(zBegin);
  both("PRAGMA synchronous=OFF");
  both("BEGIN");
  both(zTable);
  both(zRows);
  both("COMMIT");
  execute(adb[0], "PRAGMA hp_offload=force");
}

/* Index zIndex is the same in both files, which are closed.  The b-tree may not have more pages than
** stock's, or few */
static inline void sameIndex(const char *zWhat, const char *zIndex){
  Text a = {0,0,0}, b = {0,0,0};
  int nOurs, nStock, i, k;
  tree(azFile[0], zIndex, 0, &a, &nOurs);
  tree(azFile[1], zIndex, 0, &b, &nStock);
  for(i=k=0; i<a.n && i<b.n && a.z[i]==b.z[i]; i++) if( a.z[i]=='\n' ) k = i+1;
  check(a.n==b.n && i==a.n, "%s: the entries of %s differ:\n%.100s\n%.100s", zWhat, zIndex,
        i<a.n ? &a.z[k] : "", i<b.n ? &b.z[k] : "");
  check(nOurs<=nStock+nStock/50+1, "%s: %s has %d pages, stock's %d", zWhat, zIndex, nOurs, nStock);
  textClear(&a);
  textClear(&b);
}

/* Close both, and check that index zIndex is the same in both files, and that the file of ours is sound */
static inline void endSame(const char *zWhat, const char *zIndex){
  int i;
  for(i=0; i<2; i++) apLib[i]->close(adb[i]);
  sameIndex(zWhat, zIndex);
  adb[1] = openDb(&stock, azFile[0], 0);
  checkIntegrity(&stock, adb[1], zWhat);
}

/* Stock inserts into the file of ours, and deletes from it, until little is left */
static inline void storm(const char *zWhat){
  sqlite3 *db = adb[1];
  int i;
  runOn(&stock, db, "PRAGMA synchronous=OFF");
  for(i=0; i<6; i++){
    Text sql = {0,0,0};
    textAppend(&sql, "INSERT OR IGNORE INTO t(a,b,c,d,e) SELECT a, b+%d, c||%d, d+1, e||'z' FROM t"
               " WHERE b%%5=%d;"
               "DELETE FROM t WHERE (b*%d)%%4=1;"
               "UPDATE OR IGNORE t SET b=b+1000, e=substr(e,1,200) WHERE b%%7=%d;",
               i+1, i, i%5, i+1, i);
    runOn(&stock, db, sql.z);
    checkIntegrity(&stock, db, zWhat);
    textClear(&sql);
  }
  runOn(&stock, db, "DELETE FROM t WHERE b>3");
  checkIntegrity(&stock, db, zWhat);
}

static inline void finishPair(void){
  stock.close(adb[1]);
  removeDb(azFile[0]);
  removeDb(azFile[1]);
  check(sqlite3_memory_used()==0, "%lld bytes are left", sqlite3_memory_used());
}

#endif /* ENTRIES_H */
