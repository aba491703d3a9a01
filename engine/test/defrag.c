/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** PRAGMA hp_defrag (hp_defrag.c): after each slice the file holds what it held,
** and stock finds nothing wrong with it; at the end pages are in order, the file
** has not grown, and another slice writes nothing.  Errors leave what was there.
**
**    defrag STOCK [NAME]     STOCK is the unpatched library; only test NAME
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>
#include <sys/stat.h>
#include "pair.h"

static const char *zFile;

/* What a file is begun with, and what its tables are filled with */
static const char *const azBegin[] = {
  "PRAGMA page_size=512",
  "PRAGMA page_size=512; PRAGMA auto_vacuum=incremental",
  "PRAGMA page_size=512; PRAGMA auto_vacuum=full",
  "PRAGMA page_size=1024; PRAGMA journal_mode=WAL",
  "PRAGMA page_size=1024; PRAGMA auto_vacuum=incremental; PRAGMA journal_mode=WAL",
  "PRAGMA page_size=512; PRAGMA secure_delete=on",
  "PRAGMA page_size=4096; PRAGMA journal_mode=TRUNCATE",
  "PRAGMA page_size=4096; PRAGMA auto_vacuum=full; PRAGMA locking_mode=exclusive",
  "PRAGMA page_size=65536; PRAGMA journal_mode=MEMORY",
};

static const char zTables[] =
  "CREATE TABLE a(id INTEGER PRIMARY KEY, x, y); CREATE INDEX ax ON a(x);"
  "CREATE INDEX ay ON a(y COLLATE nocase, x);"
  "CREATE TABLE w(k TEXT PRIMARY KEY, v, z) WITHOUT ROWID; CREATE INDEX wv ON w(v);"
  "CREATE TABLE long(id INTEGER PRIMARY KEY, b); CREATE INDEX lb ON long(b);"
  "CREATE TABLE small(x PRIMARY KEY, y); CREATE TABLE none(x);"
  "CREATE TABLE late(x, y);";

/*
** Rows come in a random order, and tables grow one beside the other.
*/
static void fill(const Lib *pLib, sqlite3 *db, int nRow){
  Text sql = {0,0,0};
  int i;
  textAppend(&sql, "PRAGMA synchronous=OFF; BEGIN;");
  for(i=0; i<nRow; i++){
    int k = (int)((i*7919LL + 13)%100003);
    textAppend(&sql,
      "INSERT INTO a VALUES(%d,%d,'%.*s');", k, (i*31)%997, 5+k%60,
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789....");
    textAppend(&sql, "INSERT OR IGNORE INTO w VALUES('%x',%d,zeroblob(%d));", k*7, k%50, k%900);
    if( i%5==0 ){
      textAppend(&sql, "INSERT INTO long VALUES(%d,randomblob(%d));", k, i%25==0 ? 9000 : k%2500);
    }
    if( i%40==0 ) textAppend(&sql, "INSERT INTO small VALUES(%d,%d);", k, i);
  }
  textAppend(&sql, "DELETE FROM a WHERE id%%7=1; DELETE FROM long WHERE id%%3=1;"
                   "DELETE FROM w WHERE v%%5=0; DROP TABLE none; CREATE TABLE none(x);"
                   "INSERT INTO late SELECT x, y FROM a WHERE id%%5=0; COMMIT");
  runOn(pLib, db, sql.z);
  textClear(&sql);
}

/*
** A copy of the file, with its journal or log.  Locks of the process are those
** of both libraries: stock must not open a file with a log that ours has open.
*/
static const char *zCopy;
static void copyAll(void){
  static const char *const azSuffix[] = { "", "-journal", "-wal" };
  int i;
  for(i=0; i<3; i++){
    char zFrom[1000], zTo[1000];
    struct stat st;
    snprintf(zFrom, sizeof(zFrom), "%s%s", zFile, azSuffix[i]);
    snprintf(zTo, sizeof(zTo), "%s%s", zCopy, azSuffix[i]);
    unlink(zTo);
    if( stat(zFrom, &st)==0 ){
      int n;
      unsigned char *a = readFile(zFrom, &n);
      writeFile(zTo, a, n);
      free(a);
    }
  }
}

/* All that the tables say, as stock reads them with and without indexes */
static void contentsOf(const char *zFile, Text *p){
  static const char *const azSql[] = {
    "SELECT * FROM a", "SELECT x, id FROM a INDEXED BY ax WHERE x>0 ORDER BY x",
    "SELECT * FROM w", "SELECT v, k FROM w INDEXED BY wv WHERE v>0", "SELECT id, b FROM long",
    "SELECT b FROM long INDEXED BY lb WHERE b>0", "SELECT * FROM small", "SELECT rowid, * FROM late",
    "SELECT * FROM sqlite_schema",
  };
  sqlite3 *db = openDb(&stock, zFile, 0);
  unsigned i;
  for(i=0; i<sizeof(azSql)/sizeof(azSql[0]); i++) answer(&stock, db, azSql[i], p);
  stock.close(db);
}

static void contents(Text *p){
  copyAll();
  contentsOf(zCopy, p);
}

/* Is the copy of the file sound, and as it was?  What it has to say is pWant */
static void sameCopy(const Text *pWant, const char *zWhat){
  Text got = {0,0,0};
  sqlite3 *db = openDb(&stock, zCopy, 0);
  checkIntegrity(&stock, db, zWhat);
  stock.close(db);
  contentsOf(zCopy, &got);
  check(got.n==pWant->n && memcmp(got.z, pWant->z, got.n)==0, "%s: the contents differ", zWhat);
  textClear(&got);
}

/* Is the file so? */
static void same(const Text *pWant, const char *zWhat){
  copyAll();
  sameCopy(pWant, zWhat);
}

/* A slice.  Returns the error, or 0 and what it says */
static int slice(sqlite3 *db, const char *zSql, sqlite3_int64 *pnMove, sqlite3_int64 *pnLeft){
  sqlite3_stmt *pStmt = 0;
  int rc = sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0);
  *pnMove = *pnLeft = -1;
  if( rc==SQLITE_OK && (rc = sqlite3_step(pStmt))==SQLITE_ROW ){
    *pnMove = sqlite3_column_int64(pStmt, 0);
    *pnLeft = sqlite3_column_int64(pStmt, 1);
    check(sqlite3_column_count(pStmt)==2, "%d columns", sqlite3_column_count(pStmt));
    check(sqlite3_get_autocommit(db) && sqlite3_txn_state(db, "main")==SQLITE_TXN_NONE,
          "a transaction is open beside the row");
    rc = sqlite3_step(pStmt)==SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
  }
  if( rc ) rc = sqlite3_extended_errcode(db);
  sqlite3_finalize(pStmt);
  return rc;
}

/* Slices until none is left.  Returns the number of pages moved */
static sqlite3_int64 all(sqlite3 *db, const Text *pWant, const char *zWhat){
  sqlite3_int64 nSum = 0, nMove, nLeft = 1;
  int nIdle = 0, nSlice = 0;
  while( nLeft>0 && nIdle<10000 ){
    int rc = slice(db, "PRAGMA hp_defrag(1000)", &nMove, &nLeft);
    check(rc==SQLITE_OK, "%s: error %d: %s", zWhat, rc, sqlite3_errmsg(db));
    if( rc ) break;
    nIdle = nMove ? 0 : nIdle+1;
    nSum += nMove;
    /* That takes longer than the slice */
    if( pWant && (longRun() || nSlice++%7==0 || nLeft==0) ) same(pWant, zWhat);
  }
  check(nLeft==0, "%s: it does not end", zWhat);
  return nSum;
}

/* The closed file: a number that changes with its bytes */
static unsigned long long bytes(void){
  int n, i;
  unsigned char *a = readFile(zFile, &n);
  unsigned long long h = (unsigned long long)n;
  for(i=0; i<n; i++) h = h*1099511628211ULL + a[i];
  free(a);
  return h;
}

/* How many leaves of table zTable are not behind the one before them?  Stock's
** dbstat is not there, so the closed file is read. */
static void order(unsigned char *a, unsigned szPage, unsigned iPage, unsigned *piLast, int *pnLeaf, int *pnBreak){
  unsigned char *p = &a[(size_t)(iPage-1)*szPage];
  unsigned char *h = iPage==1 ? &p[100] : p;
  int i, nCell = (int)get2(&h[3]);
  if( h[0]==13 || h[0]==10 ){
    if( *piLast && (iPage>*piLast+16 || *piLast>iPage+16) ) ++*pnBreak;
    *piLast = iPage;
    ++*pnLeaf;
    return;
  }
  for(i=0; i<nCell; i++) order(a, szPage, get4(&p[get2(&h[12+2*i])]), piLast, pnLeaf, pnBreak);
  order(a, szPage, get4(&h[8]), piLast, pnLeaf, pnBreak);
}
static int breaks(const char *zTree, int *pnLeaf){
  sqlite3 *db = openDb(&stock, zFile, 0);
  Text sql = {0,0,0};
  unsigned iRoot, szPage, iLast = 0;
  int n, nBreak = 0;
  unsigned char *a;
  textAppend(&sql, "SELECT rootpage FROM sqlite_schema WHERE name='%s'", zTree);
  iRoot = (unsigned)integer(&stock, db, sql.z);
  textClear(&sql);
  stock.close(db);
  a = readFile(zFile, &n);
  szPage = get2(&a[16]);
  if( szPage==1 ) szPage = 65536;
  *pnLeaf = 0;
  order(a, szPage, iRoot, &iLast, pnLeaf, &nBreak);
  free(a);
  return nBreak;
}

/* A file made by stock, scattered */
static sqlite3 *begin(const char *zBegin, int nRow){
  sqlite3 *db;
  removeDb(zFile);
  db = openDb(&stock, zFile, 0);
  runOn(&stock, db, zBegin);
  runOn(&stock, db, zTables);
  fill(&stock, db, nRow);
  stock.close(db);
  db = openDb(&ours, zFile, 0);
  execute(db, "PRAGMA synchronous=OFF");
  return db;
}

static void done(sqlite3 *db){
  check(sqlite3_close(db)==SQLITE_OK, "a statement is left");
  removeDb(zFile);
  removeDb(zCopy);
  check(sqlite3_memory_used()==0, "%lld bytes are left", sqlite3_memory_used());
}

/* Files of all kinds, slice by slice */
static void testKinds(void){
  unsigned i;
  for(i=0; i<sizeof(azBegin)/sizeof(azBegin[0]); i++){
    sqlite3 *db = begin(azBegin[i], i==8 ? 6000 : i>=6 ? 2500 : 1500);
    Text want = {0,0,0};
    sqlite3_int64 nPage = integer(&ours, db, "PRAGMA page_count");
    sqlite3_int64 nFree = integer(&ours, db, "PRAGMA freelist_count");
    sqlite3_int64 nMove, nLeft, nNow;
    unsigned long long h;
    int nLeaf, nBreak, rc;
    contents(&want);
    /* Few pages a slice */
    execute(db, "PRAGMA cache_size=60");
    nMove = all(db, &want, azBegin[i]);
    check(nMove>nPage/3, "%s: %lld of %lld pages moved", azBegin[i], nMove, nPage);
    nNow = integer(&ours, db, "PRAGMA page_count");
    check(nNow<=nPage-nFree, "%s: %lld pages, %lld of them free, became %lld",
          azBegin[i], nPage, nFree, nNow);
    check(integer(&ours, db, "PRAGMA freelist_count")==0, "%s: pages are free", azBegin[i]);
    execute(db, "PRAGMA locking_mode=normal; PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite3_close(db);
    nBreak = breaks("a", &nLeaf);
    check(nBreak<=1+nLeaf/100, "%s: %d of %d leaves of a table", azBegin[i], nBreak, nLeaf);
    nBreak = breaks("ay", &nLeaf);
    check(nBreak<=1+nLeaf/100, "%s: %d of %d leaves of an index", azBegin[i], nBreak, nLeaf);
    /* Again: nothing */
    h = bytes();
    db = openDb(&ours, zFile, 0);
    rc = slice(db, "PRAGMA hp_defrag", &nMove, &nLeft);
    if( rc==SQLITE_OK && nMove==1 && nLeft==0 ){
      /* Slices end by the clock.  On a busy machine the plan of another run has
      ** put one page elsewhere, once in some hundred runs; but not again */
      sqlite3_close(db);
      h = bytes();
      db = openDb(&ours, zFile, 0);
      rc = slice(db, "PRAGMA hp_defrag", &nMove, &nLeft);
    }
    check(rc==SQLITE_OK && nMove==0 && nLeft==0,
          "%s: again: error %d, %lld moved, %lld left", azBegin[i], rc, nMove, nLeft);
    sqlite3_close(db);
    check(h==bytes(), "%s: again: the file has changed", azBegin[i]);
    /* And SQLite goes on with it */
    db = openDb(&stock, zFile, 0);
    runOn(&stock, db, "DELETE FROM a WHERE id%3=0; UPDATE w SET z=zeroblob(700) WHERE v%3=1;"
                      "DELETE FROM long WHERE id%2=0; INSERT INTO late SELECT * FROM late");
    checkIntegrity(&stock, db, azBegin[i]);
    stock.close(db);
    textClear(&want);
    done(openDb(&ours, zFile, 0));
  }
}

/* Files of few pages, or none */
static void testEdges(void){
  static const char *const azSql[] = {
    "", "CREATE TABLE t(x)", "CREATE TABLE t(x); DROP TABLE t",
    "CREATE TABLE t(x); CREATE TABLE u(x); DROP TABLE t; CREATE TABLE v(x)",
    "CREATE TABLE t(x); INSERT INTO t VALUES(zeroblob(100000))",
    "CREATE TABLE u(x); INSERT INTO u VALUES(zeroblob(100000)); CREATE TABLE t(x);"
      " INSERT INTO t VALUES(zeroblob(50000)); DROP TABLE u",
    "CREATE TABLE u(x); INSERT INTO u VALUES(zeroblob(600000)); CREATE TABLE t(x);"
      " INSERT INTO t VALUES(zeroblob(50000)); DELETE FROM u",
    "CREATE TABLE t(x) STRICT;",
    "CREATE VIRTUAL TABLE r USING rtree(a,b,c); INSERT INTO r VALUES(1,2,3)",
    "CREATE VIEW v AS SELECT 1; CREATE TABLE t(x); CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
  };
  static const char *const azPragma[] = { "PRAGMA page_size=512",
    "PRAGMA page_size=512; PRAGMA auto_vacuum=full", "PRAGMA page_size=512; PRAGMA auto_vacuum=incremental" };
  unsigned i, k;
  for(i=0; i<sizeof(azSql)/sizeof(azSql[0]); i++) for(k=0; k<3; k++){
    sqlite3 *db;
    sqlite3_int64 nMove, nLeft, nPage;
    removeDb(zFile);
    db = openDb(&ours, zFile, 0);
    execute(db, azPragma[k]);
    sqlite3_exec(db, azSql[i], 0, 0, 0);
    nPage = integer(&ours, db, "PRAGMA page_count");
    all(db, 0, azSql[i]);
    checkIntegrity(&ours, db, azSql[i]);
    check(integer(&ours, db, "PRAGMA page_count")<=nPage || nPage==0, "%s: the file grew", azSql[i]);
    check(slice(db, "PRAGMA hp_defrag(1)", &nMove, &nLeft)==0 && nMove==0 && nLeft==0, "%s: again", azSql[i]);
    done(db);
  }
}

static int code(sqlite3 *db, const char *zSql, const char *zMsg){
  sqlite3_int64 nMove, nLeft;
  int rc = slice(db, zSql, &nMove, &nLeft);
  check(zMsg==0 || strcmp(sqlite3_errmsg(db), zMsg)==0, "%s: %s", zSql, sqlite3_errmsg(db));
  return rc;
}

/* Where there can be no slice */
static void testRefused(void){
  sqlite3 *db = begin(azBegin[0], 400), *db2;
  sqlite3_stmt *pStmt;
  sqlite3_blob *pBlob;
  sqlite3_int64 nMove, nLeft;
  Text want = {0,0,0};
  contents(&want);
  execute(db, "BEGIN");
  check(code(db, "PRAGMA hp_defrag", "cannot defragment from within a transaction")==SQLITE_ERROR, "BEGIN");
  check(sqlite3_txn_state(db, "main")==SQLITE_TXN_NONE, "a transaction has begun");
  execute(db, "ROLLBACK; SAVEPOINT s");
  check(code(db, "PRAGMA hp_defrag(5)", "cannot defragment from within a transaction")==SQLITE_ERROR, "SAVEPOINT");
  execute(db, "RELEASE s");
  pStmt = prepared(db, "SELECT * FROM a");
  sqlite3_step(pStmt);
  check(code(db, "PRAGMA hp_defrag", "cannot defragment - SQL statements in progress")==SQLITE_ERROR, "SELECT");
  sqlite3_finalize(pStmt);
  check(sqlite3_blob_open(db, "main", "long", "b",
        integer(&ours, db, "SELECT id FROM long LIMIT 1"), 0, &pBlob)==SQLITE_OK, "blob");
  check(code(db, "PRAGMA hp_defrag", "cannot defragment - SQL statements in progress")==SQLITE_ERROR, "blob");
  sqlite3_blob_close(pBlob);
  check(code(db, "PRAGMA hp_defrag(0)", "hp_defrag takes 1 to 60000 milliseconds")==SQLITE_ERROR, "0");
  check(code(db, "PRAGMA hp_defrag(-3)", 0)==SQLITE_ERROR, "-3");
  check(code(db, "PRAGMA hp_defrag('x')", 0)==SQLITE_ERROR, "x");
  check(code(db, "PRAGMA hp_defrag(60001)", 0)==SQLITE_ERROR, "60001");
  execute(db, "PRAGMA query_only=1");
  check(code(db, "PRAGMA hp_defrag", 0)==SQLITE_READONLY, "query_only");
  execute(db, "PRAGMA query_only=0");
  db2 = openDb(&ours, zFile, 0);
  execute(db2, "BEGIN IMMEDIATE");
  check(code(db, "PRAGMA hp_defrag", "database is locked")==SQLITE_BUSY, "another one writes");
  execute(db2, "ROLLBACK; BEGIN; SELECT * FROM a");
  check(code(db, "PRAGMA hp_defrag", "database is locked")==SQLITE_BUSY, "another one reads");
  execute(db2, "COMMIT");
  same(&want, "refused");
  sqlite3_close(db2);
  check(sqlite3_open_v2(zFile, &db2, SQLITE_OPEN_READONLY, 0)==SQLITE_OK, "open");
  check(code(db2, "PRAGMA hp_defrag", "attempt to write a readonly database")==SQLITE_READONLY, "read only");
  sqlite3_close(db2);
  /* In memory, and in temporary files, there is nothing to do */
  check(sqlite3_open(":memory:", &db2)==SQLITE_OK, "open");
  execute(db2, "CREATE TABLE t(x); CREATE TEMP TABLE u(x)");
  check(slice(db2, "PRAGMA hp_defrag", &nMove, &nLeft)==0 && nMove==0 && nLeft==0, "in memory");
  check(slice(db2, "PRAGMA temp.hp_defrag", &nMove, &nLeft)==0 && nMove==0 && nLeft==0, "temp");
  /* An attached one, by its name */
  {
    Text sql = {0,0,0};
    textAppend(&sql, "ATTACH '%s' AS other", zFile);
    execute(db2, sql.z);
    textClear(&sql);
  }
  do{
    check(slice(db2, "PRAGMA other.hp_defrag=20", &nMove, &nLeft)==SQLITE_OK, "attached");
  }while( nLeft>0 );
  check(slice(db, "PRAGMA main.hp_defrag", &nMove, &nLeft)==0 && nMove==0 && nLeft==0, "done by another one");
  sqlite3_close(db2);
  same(&want, "attached");
  textClear(&want);
  done(db);
}

/* Others write between the slices, and read beside them */
static void testOthers(void){
  int k;
  for(k=0; k<4; k++){
    const char *zBegin = azBegin[k==0 ? 0 : k==1 ? 3 : k==2 ? 4 : 1];
    const Lib *pOther;
    sqlite3 *db = begin(zBegin, 1200), *db2, *db3 = 0;
    sqlite3_stmt *pRead = 0;
    sqlite3_int64 nMove, nLeft = 1, nSum = 0, nRead = 0, nRows;
    int i;
    Text want = {0,0,0};
    execute(db, "PRAGMA cache_size=40");
    pOther = k==1 || k==2 ? &ours : &stock;
    db2 = openDb(pOther, zFile, 0);
    runOn(pOther, db2, "PRAGMA synchronous=OFF");
    nRows = integer(pOther, db2, "SELECT count(*) FROM long");
    if( k==1 || k==2 ){
      /* A reader of the log keeps its snapshot */
      db3 = openDb(&ours, zFile, 0);
      pRead = prepared(db3, "SELECT id, b FROM long");
      sqlite3_step(pRead);
      nRead++;
    }
    for(i=0; nLeft>0 && i<3000; i++){
      int rc = slice(db, "PRAGMA hp_defrag(100)", &nMove, &nLeft);
      check(rc==SQLITE_OK, "%s: error %d", zBegin, rc);
      nSum += nMove;
      if( i<60 && i%2 ){
        Text sql = {0,0,0};
        switch( i%9 ){
          case 1: textAppend(&sql, "INSERT INTO a SELECT id+200000+%d, x, y FROM a WHERE id%%97=%d", i*1000000, i); break;
          case 3: textAppend(&sql, "DELETE FROM a WHERE id%%83=%d", i); break;
          case 5: textAppend(&sql, "UPDATE w SET z=zeroblob(%d) WHERE v=%d", i*40, i); break;
          case 7: textAppend(&sql, "CREATE TABLE t%d(x); INSERT INTO t%d SELECT b FROM long LIMIT 5", i, i); break;
          default: textAppend(&sql, "DELETE FROM long WHERE id%%31=%d", i); break;
        }
        runOn(pOther, db2, sql.z);
        textClear(&sql);
        if( i%10==5 ) execute(db, "INSERT INTO small VALUES(randomblob(20), 7)");
      }
      if( longRun() || i%4==0 || nLeft==0 ) checkIntegrity(pOther, db2, zBegin);
    }
    check(nLeft==0 && nSum>100, "%s: %lld moved, %lld left", zBegin, nSum, nLeft);
    if( pRead ){
      while( sqlite3_step(pRead)==SQLITE_ROW ) nRead++;
      check(nRead==nRows, "a reader saw %lld rows of %lld: %s", nRead, nRows, sqlite3_errmsg(db3));
      sqlite3_finalize(pRead);
      sqlite3_close(db3);
    }
    pOther->close(db2);
    contents(&want);
    same(&want, zBegin);
    textClear(&want);
    done(db);
  }
}

/* Each request for memory fails, once or from then on */
static void testMemory(void){
  int bForEver, k;
  failMemory(1);
  for(bForEver=0; bForEver<2; bForEver++) for(k=0; k<3; k++){
    const char *zBegin = azBegin[k==0 ? 0 : k==1 ? 4 : 5];
    sqlite3 *db = begin(zBegin, 250);
    Text want = {0,0,0};
    sqlite3_int64 nMove, nLeft = 1;
    int n, nFailed = 0;
    contents(&want);
    sqlite3_close(db);
    fault.nFailed = 1;
    for(n=0; n<3000 && fault.nFailed; n+=(n<120 || longRun() ? 1 : 7)){
      int i, rc = SQLITE_OK;
      db = openDb(&ours, zFile, 0);
      sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, (void*)0, 0, 0);
      execute(db, "PRAGMA synchronous=OFF; PRAGMA cache_size=200; SELECT * FROM small");
      fault.nLeft = n;
      fault.bForEver = bForEver;
      fault.nFailed = 0;
      for(i=0; i<3 && rc==SQLITE_OK; i++){
        rc = slice(db, "PRAGMA hp_defrag", &nMove, &nLeft);
      }
      fault.nLeft = -1;
      nFailed += rc!=SQLITE_OK;
      check(rc==SQLITE_OK || rc==SQLITE_NOMEM || rc==SQLITE_IOERR_NOMEM, "allocation %d: error %d", n, rc);
      if( rc || n%16==0 ) same(&want, "an allocation failed");
      sqlite3_close(db);
    }
    check(nFailed>30, "%d allocations failed", nFailed);
    db = openDb(&ours, zFile, 0);
    all(db, 0, "after failed allocations");
    same(&want, "after failed allocations");
    textClear(&want);
    done(db);
  }
  failMemory(0);
}

/* Each write, and each read, fails */
static ssize_t (*xRealWrite)(int, const void*, size_t);
static ssize_t (*xRealPwrite)(int, const void*, size_t, off_t);
static ssize_t (*xRealPread)(int, void*, size_t, off_t);
static ssize_t faultyWrite(int fd, const void *a, size_t n){
  return fails() ? -1 : xRealWrite(fd, a, n);
}
static ssize_t faultyPwrite(int fd, const void *a, size_t n, off_t i){
  return fails() ? -1 : xRealPwrite(fd, a, n, i);
}
static ssize_t faultyPread(int fd, void *a, size_t n, off_t i){
  return fails() ? -1 : xRealPread(fd, a, n, i);
}
static void testFaults(void){
  int k;
  for(k=0; k<4; k++){
    const char *zBegin = azBegin[k%2 ? 3 : 1];
    sqlite3 *db = begin(zBegin, 250);
    Text want = {0,0,0};
    sqlite3_int64 nMove, nLeft = 1;
    int n, nFailed = 0, rc = 0;
    contents(&want);
    execute(db, "PRAGMA cache_size=20; PRAGMA hp_checkpoint=off");
    if( k<2 ){
      xRealWrite = (void*)replaceCall("write", (sqlite3_syscall_ptr)faultyWrite);
      xRealPwrite = (void*)replaceCall("pwrite", (sqlite3_syscall_ptr)faultyPwrite);
    }else{
      xRealPread = (void*)replaceCall("pread", (sqlite3_syscall_ptr)faultyPread);
    }
    for(n=0; n<2000 && (rc || nLeft>0); n+=(n<60 || longRun() ? 1 : 3)){
      int nTry;
      for(nTry=0; nTry<2; nTry++){
        fault.nLeft = n;
        fault.bForEver = n%2;
        fault.nFailed = 0;
        rc = slice(db, "PRAGMA hp_defrag", &nMove, &nLeft);
        fault.nLeft = -1;
        nFailed += rc!=SQLITE_OK;
        check(rc==SQLITE_OK || (rc&0xff)==SQLITE_IOERR || rc==SQLITE_FULL
              || ((rc&0xff)==SQLITE_CANTOPEN && k>=2), "call %d: error %d", n, rc);
      }
      if( rc || n%16==0 ) same(&want, "a call failed");
    }
    if( k<2 ){
      replaceCall("write", (sqlite3_syscall_ptr)xRealWrite);
      replaceCall("pwrite", (sqlite3_syscall_ptr)xRealPwrite);
    }else{
      replaceCall("pread", (sqlite3_syscall_ptr)xRealPread);
    }
    check(nFailed>10, "%d calls failed", nFailed);
    all(db, 0, "after failed calls");
    same(&want, "after failed calls");
    textClear(&want);
    done(db);
  }
}

/* Whoever is killed within a slice leaves what was there: the file, and its
** journal or log, as they are at each write */
static int iWriteOf, nWriteNow;
static ssize_t seenPwrite(int fd, const void *a, size_t n, off_t i){
  if( nWriteNow++==iWriteOf ) copyAll();
  return xRealPwrite(fd, a, n, i);
}
static void testKilled(void){
  int k;
  for(k=0; k<3; k++){
    const char *zBegin = azBegin[k==0 ? 0 : k==1 ? 1 : 4];
    sqlite3 *db = begin(zBegin, 250);
    Text want = {0,0,0};
    int i, nSeen = 0;
    contents(&want);
    execute(db, "PRAGMA cache_size=20; PRAGMA hp_checkpoint=off");
    xRealPwrite = (void*)replaceCall("pwrite", (sqlite3_syscall_ptr)seenPwrite);
    for(i=0; i<60; i++){
      sqlite3_int64 nMove, nLeft;
      int rc;
      nWriteNow = 0;
      iWriteOf = i;
      rc = slice(db, "PRAGMA hp_defrag", &nMove, &nLeft);
      check(rc==SQLITE_OK, "error %d", rc);
      if( nWriteNow>iWriteOf ){
        sameCopy(&want, "killed");
        nSeen++;
      }
      if( nLeft==0 ) break;
    }
    check(nSeen>=5, "killed %d times", nSeen);
    replaceCall("pwrite", (sqlite3_syscall_ptr)xRealPwrite);
    textClear(&want);
    done(db);
  }
}

/* Damaged files: an error, or what stock makes of the file stays the same */
static void testDamaged(void){
  int k, i;
  for(k=0; k<3; k++){
    const char *zBegin = azBegin[k];
    sqlite3 *db = begin(zBegin, 300);
    unsigned char *aFile, *a;
    unsigned szPage = 512;
    unsigned uRand = 12345;
    int n, nCorrupt = 0;
    sqlite3_close(db);
    aFile = readFile(zFile, &n);
    a = malloc(n);
    for(i=0; i<(longRun() ? 3000 : 300); i++){
      sqlite3_int64 nMove, nLeft = 1;
      int nSlice, nHit, rc = SQLITE_OK;
      Text before = {0,0,0}, after = {0,0,0};
      memcpy(a, aFile, n);
      for(nHit=0; nHit<1+i%3; nHit++){
        unsigned iPage, iAt;
        uRand = uRand*1103515245 + 12345;
        iPage = (uRand>>8)%(n/szPage);
        uRand = uRand*1103515245 + 12345;
        /* Most of what matters is at the begin of a page, and on page 1 */
        iAt = (uRand>>8)%(i%2 ? 24 : szPage);
        if( i%10==0 ){ iPage = 0; iAt = 28 + iAt%12; }
        uRand = uRand*1103515245 + 12345;
        a[iPage*szPage+iAt] = (unsigned char)(uRand>>(i%4 ? 9 : 20)) & (i%5 ? 0xff : 0x0f);
      }
      writeFile(zFile, a, n);
      contents(&before);
      db = openDb(&ours, zFile, 0);
      sqlite3_exec(db, "PRAGMA synchronous=OFF", 0, 0, 0);
      for(nSlice=0; nLeft>0 && rc==SQLITE_OK && nSlice<2000; nSlice++){
        rc = slice(db, "PRAGMA hp_defrag(1000)", &nMove, &nLeft);
      }
      check(rc==SQLITE_OK || (rc&0xff)==SQLITE_CORRUPT || rc==SQLITE_NOTADB || rc==SQLITE_ERROR
            || rc==SQLITE_FULL || rc==SQLITE_CANTOPEN || rc==SQLITE_READONLY,
            "damage %d: error %d", i, rc);
      check(nSlice<2000, "damage %d: it does not end", i);
      nCorrupt += (rc&0xff)==SQLITE_CORRUPT;
      sqlite3_close(db);
      contents(&after);
      check(before.n==after.n && memcmp(before.z, after.z, after.n)==0,
            "damage %d: the contents differ, error %d", i, rc);
      textClear(&before);
      textClear(&after);
    }
    check(nCorrupt>10, "%s: %d files were seen to be damaged", zBegin, nCorrupt);
    free(a);
    free(aFile);
    removeDb(zFile);
  }
}

/* Shared cache: cursors of other connections of the cache go on */
static void testShared(void){
  sqlite3 *db = begin(azBegin[0], 600), *db2;
  Text want = {0,0,0};
  sqlite3_int64 nMove, nLeft, nRow = 0, nRows;
  int bMore = 1;
  sqlite3_stmt *pStmt;
  contents(&want);
  sqlite3_close(db);
  db = openDb(&ours, zFile, SQLITE_OPEN_SHAREDCACHE);
  db2 = openDb(&ours, zFile, SQLITE_OPEN_SHAREDCACHE);
  nRows = integer(&ours, db, "SELECT count(*) FROM late");
  execute(db2, "PRAGMA read_uncommitted=1");
  pStmt = prepared(db2, "SELECT rowid, * FROM late");
  do{
    int rc = slice(db, "PRAGMA hp_defrag(20)", &nMove, &nLeft);
    check(rc==SQLITE_OK || (rc&0xff)==SQLITE_LOCKED, "error %d", rc);
    if( rc ) break;
    if( bMore && (bMore = sqlite3_step(pStmt)==SQLITE_ROW)!=0 ) nRow++;
  }while( nLeft>0 );
  while( bMore && (bMore = sqlite3_step(pStmt)==SQLITE_ROW)!=0 ) nRow++;
  check(nRow==nRows, "%lld rows of %lld", nRow, nRows);
  sqlite3_finalize(pStmt);
  all(db, 0, "shared");
  sqlite3_close(db2);
  same(&want, "shared cache");
  textClear(&want);
  done(db);
}

/* A little disorder in a file that is in order costs little */
static void testLittle(void){
  sqlite3 *db = begin("PRAGMA page_size=512", 6000);
  sqlite3_int64 nMove, nPage;
  Text want = {0,0,0};
  all(db, 0, "first");
  nPage = integer(&ours, db, "PRAGMA page_count");
  runOn(&ours, db, "INSERT INTO a VALUES(50000000,1,zeroblob(300)); UPDATE a SET y=zeroblob(400) WHERE id%2000=5");
  contents(&want);
  nMove = all(db, 0, "little");
  check(nMove<nPage/4, "%lld of %lld pages moved", nMove, nPage);
  same(&want, "little");
  textClear(&want);
  done(db);
  /* What VACUUM made is left alone */
  db = begin("PRAGMA page_size=1024", 3000);
  sqlite3_close(db);
  db = openDb(&stock, zFile, 0);
  runOn(&stock, db, "VACUUM");
  stock.close(db);
  db = openDb(&ours, zFile, 0);
  nPage = integer(&ours, db, "PRAGMA page_count");
  nMove = all(db, 0, "vacuumed");
  check(nMove<nPage/8, "behind VACUUM: %lld of %lld pages moved", nMove, nPage);
  done(db);
}

/* The interrupt; the statement prepared before the schema changed */
static void testStops(void){
  sqlite3 *db = begin(azBegin[0], 400), *db2;
  sqlite3_stmt *pStmt = prepared(db, "PRAGMA hp_defrag");
  Text want = {0,0,0};
  int n;
  db2 = openDb(&stock, zFile, 0);
  runOn(&stock, db2, "CREATE TABLE more(x); INSERT INTO more SELECT y FROM a; DROP TABLE none; CREATE TABLE none(y)");
  contents(&want);
  for(n=0; n<3; n++){
    check(sqlite3_step(pStmt)==SQLITE_ROW, "%s", sqlite3_errmsg(db));
    runOn(&stock, db2, n ? "CREATE INDEX mx ON more(x)" : "CREATE TABLE more2(x)");
    check(sqlite3_step(pStmt)==SQLITE_DONE, "%s", sqlite3_errmsg(db));
    sqlite3_reset(pStmt);
    runOn(&stock, db2, n ? "DROP INDEX mx" : "DROP TABLE more2");
  }
  check(!sqlite3_stmt_readonly(pStmt), "it writes");
  sqlite3_finalize(pStmt);
  stock.close(db2);
  all(db, &want, "other schema");
  same(&want, "other schema");
  textClear(&want);
  done(db);
}

/* A writer and a reader in threads of their own, in the same process.  Each row
** of w that the writer adds has a partner in small. */
static int bStop;
static void *writes(void *pArg){
  int *pnRow = pArg;
  sqlite3 *db = openDb(&ours, zFile, 0);
  sqlite3_busy_timeout(db, 60000);
  execute(db, "PRAGMA synchronous=OFF");
  while( !__atomic_load_n(&bStop, __ATOMIC_ACQUIRE) ){
    char zSql[300];
    snprintf(zSql, sizeof(zSql),
      "BEGIN IMMEDIATE; INSERT INTO w VALUES('new%d',-7,zeroblob(%d)); INSERT INTO small VALUES('s%d',-7);"
      "DELETE FROM a WHERE id=(SELECT min(id) FROM a WHERE id>%d); COMMIT",
      *pnRow, *pnRow*37%2000, *pnRow, *pnRow*7919%100003);
    execute(db, zSql);
    ++*pnRow;
    usleep(500);
  }
  check(sqlite3_close(db)==SQLITE_OK, "close");
  return 0;
}
static void *reads(void *pArg){
  sqlite3 *db = openDb(&ours, zFile, 0);
  sqlite3_busy_timeout(db, 60000);
  while( !__atomic_load_n(&bStop, __ATOMIC_ACQUIRE) ){
    sqlite3_int64 n = integer(&ours, db,
      "SELECT (SELECT count(*) FROM w WHERE v=-7 AND length(k)>3)-(SELECT count(*) FROM small WHERE y=-7)");
    check(n==0, "%lld rows without a partner", n);
    ++*(int*)pArg;
    usleep(500);
  }
  check(sqlite3_close(db)==SQLITE_OK, "close");
  return 0;
}
static void testThreads(void){
  int k;
  for(k=0; k<3; k++){
    sqlite3 *db = begin(azBegin[k==2 ? 1 : 3*k], 800);
    Text want = {0,0,0};
    pthread_t a[2];
    int nWrite = 0, nRead = 0, nSlice;
    sqlite3_int64 nMove, nLeft, nSum = 0;
    sqlite3_busy_timeout(db, 60000);
    bStop = 0;
    pthread_create(&a[0], 0, writes, &nWrite);
    pthread_create(&a[1], 0, reads, &nRead);
    for(nSlice=0; nSlice<150 || (nSum==0 && nSlice<5000); nSlice++){
      int rc = slice(db, nSlice<50 ? "PRAGMA hp_defrag(20)" : "PRAGMA hp_defrag(300)", &nMove, &nLeft);
      check(rc==SQLITE_OK, "slice %d: error %d", nSlice, rc);
      nSum += nMove;
      usleep(300);
    }
    __atomic_store_n(&bStop, 1, __ATOMIC_RELEASE);
    pthread_join(a[0], 0);
    pthread_join(a[1], 0);
    check(nSum>0 && nWrite>5 && nRead>5, "%lld moved, %d written, %d read", nSum, nWrite, nRead);
    contents(&want);
    all(db, 0, "threads");
    same(&want, "threads");
    textClear(&want);
    done(db);
  }
}

/* Others write while each picture of the file is made, and overflow pages are few: they stay */
static void testQuick(void){
  sqlite3 *db, *db2;
  Text want = {0,0,0};
  sqlite3_int64 nMove, nLeft = 1, nSum = 0;
  int i, nLeaf, nBreak, nPages;
  removeDb(zFile);
  db = openDb(&stock, zFile, 0);
  runOn(&stock, db, "PRAGMA synchronous=OFF; PRAGMA page_size=512; BEGIN");
  runOn(&stock, db, zTables);
  runOn(&stock, db,
    "INSERT INTO long SELECT value, zeroblob(1500) FROM " SERIES("12") ";"
    "INSERT INTO a SELECT value*7919%40009, value%997, 'some text' FROM " SERIES("40000") ";"
    "INSERT INTO long SELECT value+100, zeroblob(1500) FROM " SERIES("12") "; COMMIT");
  stock.close(db);
  db = openDb(&ours, zFile, 0);
  execute(db, "PRAGMA synchronous=OFF");
  db2 = openDb(&stock, zFile, 0);
  for(i=0; i<100 && nSum==0; i++){
    check(slice(db, i<5 ? "PRAGMA hp_defrag(1)" : "PRAGMA hp_defrag(5000)", &nMove, &nLeft)==SQLITE_OK, "quick");
    nSum += nMove;
    runOn(&stock, db2, "INSERT INTO small VALUES(random(), 1)");
  }
  check(i>=4 && nSum>0, "%d slices, %lld moved", i, nSum);
  for(i=0; i<500 && nLeft>0; i++){
    check(slice(db, "PRAGMA hp_defrag(5000)", &nMove, &nLeft)==SQLITE_OK, "quick");
    if( i%50==0 ) checkIntegrity(&stock, db2, "quick");
  }
  check(nLeft==0, "%lld left", nLeft);
  nPages = (int)integer(&stock, db2, "PRAGMA page_count");
  stock.close(db2);
  contents(&want);
  all(db, 0, "then all");
  check(integer(&ours, db, "PRAGMA page_count")<=nPages, "it grew");
  same(&want, "quick");
  sqlite3_close(db);
  nBreak = breaks("a", &nLeaf);
  check(nBreak<=1+nLeaf/50, "%d of %d leaves", nBreak, nLeaf);
  textClear(&want);
  done(openDb(&ours, zFile, 0));
}

/* auto_vacuum=FULL, and yet there are free pages */
static void testFull(void){
  sqlite3 *db = begin(azBegin[1], 500), *db2;
  Text want = {0,0,0};
  unsigned char *a;
  int n;
  contents(&want);
  check(integer(&ours, db, "PRAGMA freelist_count")>20, "no page is free");
  sqlite3_close(db);
  /* As whoever writes the header */
  a = readFile(zFile, &n);
  put4(&a[64], 0);
  writeFile(zFile, a, n);
  free(a);
  db = openDb(&ours, zFile, 0);
  check(integer(&ours, db, "PRAGMA auto_vacuum")==1, "it is not FULL");
  all(db, 0, "full");
  check(integer(&ours, db, "PRAGMA freelist_count")==0, "pages are free");
  same(&want, "full");
  db2 = openDb(&ours, zFile, 0);
  checkIntegrity(&ours, db2, "full");
  sqlite3_close(db2);
  textClear(&want);
  done(db);
}

int main(int argc, char **argv){
  static const struct {
    const char *zName;
    void (*x)(void);
  } aTest[] = {
    { "kinds", testKinds }, { "edges", testEdges }, { "refused", testRefused },
    { "others", testOthers }, { "memory", testMemory }, { "faults", testFaults },
    { "killed", testKilled }, { "damaged", testDamaged }, { "shared", testShared },
    { "little", testLittle }, { "stops", testStops },
    { "threads", testThreads }, { "full", testFull },
    { "quick", testQuick },
  };
  unsigned i;
  if( argc<2 || pairLoad(argv[1]) ){
    fprintf(stderr, "usage: defrag STOCK [NAME]\n");
    return 2;
  }
  if( !hasEngine() ) return finish();
  zFile = temporaryFile("defrag.db");
  zCopy = temporaryFile("defrag-copy.db");
  for(i=0; i<sizeof(aTest)/sizeof(aTest[0]); i++){
    if( argc<3 || strcmp(argv[2], aTest[i].zName)==0 ) aTest[i].x();
  }
  return finish();
}
