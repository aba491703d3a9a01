/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Preallocation (hp_extent.c): trees that grow together stay in order, and
** the file is a file that stock SQLite wrote, as far as stock can tell.
**
**    extent STOCK     STOCK is the unpatched library
*/
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

static Lib stock;
static const char *zFile;          /* The database that is tested */
static const char *zOther;         /* Another one */

/* Stock finds nothing wrong with the file */
static void checkFile(const char *zWhat){
  sqlite3 *db = openDb(&stock, zFile, 0);
  checkIntegrity(&stock, db, zWhat);
  stock.close(db);
}

/* Leaf pages of tree zTree that do not follow the one before in the file */
static int gaps(const char *zTree, const char *zType, int *pnPage){
  sqlite3 *db = openDb(&stock, zFile, 0);
  sqlite3_stmt *pStmt = 0;
  Text sql = {0,0,0};
  sqlite3_int64 iLast = -1;
  int nGap = 0;
  *pnPage = 0;
  textAppend(&sql, "SELECT pageno FROM dbstat WHERE name='%s' AND pagetype='%s'"
                   " ORDER BY path", zTree, zType);
  if( stock.prepare(db, sql.z, -1, &pStmt, 0)!=SQLITE_OK ) exit(2);
  while( stock.step(pStmt)==SQLITE_ROW ){
    sqlite3_int64 iPg = stock.int64(pStmt, 0);
    nGap += iPg!=iLast+1;
    iLast = iPg;
    ++*pnPage;
  }
  stock.finalize(pStmt);
  stock.close(db);
  textClear(&sql);
  return nGap;
}

static void create(const Lib *pLib, sqlite3 *db, int nTree){
  Text sql = {0,0,0};
  int i;
  for(i=0; i<nTree; i++){
    textAppend(&sql, "CREATE TABLE t%d(id INTEGER PRIMARY KEY, a, b);", i);
  }
  runOn(pLib, db, sql.z);
  textClear(&sql);
}

/*
** Insert nRow rows of nByte bytes into t0, t1, ... in turn, nCommit to a
** transaction.
*/
static void grow(
  const Lib *pLib, sqlite3 *db,
  int nTree, int nRow, int nByte, int nCommit
){
  int i;
  Text sql = {0,0,0};
  for(i=0; i<nRow; i++){
    if( i%nCommit==0 ) textAppend(&sql, "BEGIN;");
    textAppend(&sql, "INSERT INTO t%d(a,b) VALUES(%d,zeroblob(%d));",
               i%nTree, i, nByte);
    if( i%nCommit==nCommit-1 || i==nRow-1 ){
      textAppend(&sql, "COMMIT;");
      runOn(pLib, db, sql.z);
      sql.n = 0;
    }
  }
  textClear(&sql);
}

/* Open a database that is there */
static sqlite3 *reopen(const Lib *pLib, const char *zName){
  sqlite3 *db = openDb(pLib, zName, 0);
  runOn(pLib, db, "PRAGMA synchronous=OFF");
  return db;
}

/* Make a database anew, with nTree empty tables */
static sqlite3 *fresh(
  const Lib *pLib, const char *zName,
  const char *zPragmas, int nTree
){
  sqlite3 *db;
  removeDb(zName);
  db = reopen(pLib, zName);
  runOn(pLib, db, zPragmas);
  create(pLib, db, nTree);
  return db;
}

/*
** Trees that grow together, with each kind of file.  Leaves are in order but for
** some gaps, and the file is hardly larger than stock's.
*/
static void testOrder(void){
  static const struct { const char *zPragmas; int nRow; int nByte; } a[] = {
    { "PRAGMA page_size=1024", 40000, 60 },
    { "PRAGMA page_size=512; PRAGMA journal_mode=wal", 40000, 40 },
    { "PRAGMA page_size=1024; PRAGMA auto_vacuum=incremental", 40000, 60 },
    { "PRAGMA page_size=1024; PRAGMA auto_vacuum=incremental;"
      "PRAGMA journal_mode=wal", 40000, 60 },
    { "PRAGMA page_size=4096; PRAGMA secure_delete=on", 120000, 90 },
    { "PRAGMA page_size=32768; PRAGMA journal_mode=persist", 30000, 3000 },
    { "PRAGMA page_size=1024; PRAGMA journal_mode=truncate; PRAGMA cache_size=10",
      40000, 60 },
    { "PRAGMA page_size=1024; PRAGMA journal_mode=wal; PRAGMA cache_size=10",
      40000, 60 },
    { "PRAGMA page_size=1024; PRAGMA locking_mode=exclusive", 40000, 60 },
  };
  unsigned i;
  int k;
  for(i=0; i<sizeof(a)/sizeof(a[0]); i++){
    for(k=0; k<2; k++){
      sqlite3_int64 nStock, nOurs;
      int nPage, nGap;
      sqlite3 *db;
      const int nCommit = k ? 40 : 5000;
      db = fresh(&stock, zFile, a[i].zPragmas, 8);
      grow(&stock, db, 8, a[i].nRow, a[i].nByte, nCommit);
      nStock = integer(&stock, db, "PRAGMA page_count");
      stock.close(db);
      db = fresh(&ours, zFile, a[i].zPragmas, 8);
      grow(&ours, db, 8, a[i].nRow, a[i].nByte, nCommit);
      nOurs = integer(&ours, db, "PRAGMA page_count");
      sqlite3_close(db);
      checkFile(a[i].zPragmas);
      nGap = gaps("t3", "leaf", &nPage);
      check(nGap<nPage/4, "%s: %d gaps in %d leaves", a[i].zPragmas, nGap, nPage);
      check(nOurs<=nStock+nStock/14, "%s: %lld pages, stock has %lld",
            a[i].zPragmas, nOurs, nStock);
    }
  }
}

/* Does the file have the same bytes when ours and stock run zSql? */
static int sameBytes(const char *zPragmas, int nTree, int nRow, int nByte){
  unsigned char *aFile[2];
  int an[2];
  int i, bSame;
  for(i=0; i<2; i++){
    const Lib *pLib = i ? &ours : &stock;
    sqlite3 *db = fresh(pLib, zFile, zPragmas, nTree);
    grow(pLib, db, nTree, nRow, nByte, 10);
    pLib->close(db);
    aFile[i] = readFile(zFile, &an[i]);
  }
  bSame = an[0]==an[1] && memcmp(aFile[0], aFile[1], an[0])==0;
  free(aFile[0]);
  free(aFile[1]);
  return bSame;
}

/*
** Small trees have the pages that stock would give them, to the byte, and so
** have all with hp_extent=off.  A pragma that makes no sense changes nothing.
*/
static void testSmall(void){
  check(sameBytes("PRAGMA page_size=1024", 8, 8*300, 60), "eight small trees");
  check(sameBytes("PRAGMA page_size=4096", 40, 40*20, 1000), "forty small trees");
  check(sameBytes("PRAGMA page_size=1024;PRAGMA auto_vacuum=incremental", 8,
                  8*300, 60), "eight small trees with auto_vacuum");
  check(sameBytes("PRAGMA page_size=1024", 3, 3*4, 5000),
        "few rows of several pages");
  check(sameBytes("PRAGMA hp_extent=off", 4, 20000, 60), "hp_extent=off");
  check(sameBytes("PRAGMA hp_extent=off;PRAGMA hp_extent=some", 4, 20000, 60),
        "hp_extent=off and then nonsense");
  check(sameBytes("PRAGMA auto_vacuum=full", 4, 20000, 60), "auto_vacuum=full");
  check(!sameBytes("PRAGMA hp_extent=auto", 4, 20000, 60), "hp_extent=auto");
}

static void testPragma(void){
  static const char *const az[][2] = {
    { "PRAGMA hp_extent", "auto" },
    { "PRAGMA hp_extent=off", "off" }, { "PRAGMA hp_extent", "off" },
    { "PRAGMA hp_extent=32", "32" },   { "PRAGMA hp_extent=-1", "32" },
    { "PRAGMA hp_extent=99999999", "32" }, { "PRAGMA hp_extent=x", "32" },
    { "PRAGMA hp_extent=0", "off" },   { "PRAGMA hp_extent=AUTO", "auto" },
  };
  sqlite3 *db = openDb(&ours, ":memory:", 0);
  unsigned i;
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
    sqlite3_stmt *pStmt;
    const char *z = 0;
    sqlite3_prepare_v2(db, az[i][0], -1, &pStmt, 0);
    if( sqlite3_step(pStmt)==SQLITE_ROW ){
      z = (const char*)sqlite3_column_text(pStmt, 0);
    }
    check(z && strcmp(z, az[i][1])==0, "%s gives %s", az[i][0], z);
    sqlite3_finalize(pStmt);
  }
  sqlite3_close(db);
}

/*
** A table goes on in the rest of its extent when the file has been closed
** and opened again, and when stock wrote in between.
*/
static void testReopen(void){
  sqlite3 *db;
  int i, nPage, nGap;
  db = fresh(&ours, zFile, "PRAGMA page_size=1024", 4);
  sqlite3_close(db);
  for(i=0; i<400; i++){
    db = reopen(&ours, zFile);
    grow(&ours, db, 4, 100, 60, 100);
    sqlite3_close(db);
  }
  checkFile("opened 400 times");
  nGap = gaps("t1", "leaf", &nPage);
  check(nPage>500 && nGap<nPage/4, "opened 400 times: %d gaps in %d leaves",
        nGap, nPage);
  for(i=0; i<100; i++){
    const Lib *pLib = i&1 ? &ours : &stock;
    db = reopen(pLib, zFile);
    grow(pLib, db, 4, 100, 60, 100);
    if( i%10==9 ) runOn(pLib, db, "DELETE FROM t2 WHERE id%3=1");
    pLib->close(db);
    if( i%10==9 ) checkFile("ours and stock in turn");
  }
  /* Two connections at once, each with what it remembers */
  {
    sqlite3 *db1 = reopen(&ours, zFile);
    sqlite3 *db2 = reopen(&ours, zFile);
    for(i=0; i<100; i++) grow(&ours, i&1 ? db1 : db2, 4, 50, 60, 25);
    sqlite3_close(db1);
    sqlite3_close(db2);
    checkFile("two connections in turn");
  }
}

/*
** Free pages are used before the file grows.
*/
static void testFreePages(void){
  sqlite3 *db;
  sqlite3_int64 nPage, nFree;
  int i;
  db = fresh(&ours, zFile, "PRAGMA page_size=1024", 6);
  grow(&ours, db, 6, 30000, 60, 500);
  runOn(&ours, db, "DROP TABLE t5; DELETE FROM t4 WHERE id%4<>0");
  nPage = integer(&ours, db, "PRAGMA page_count");
  nFree = integer(&ours, db, "PRAGMA freelist_count");
  check(nFree>nPage/8, "%lld of %lld pages are free", nFree, nPage);
  for(i=0; i<1000; i++){
    sqlite3_int64 n, m;
    grow(&ours, db, 4, 40, 60, 40);
    n = integer(&ours, db, "PRAGMA page_count");
    m = integer(&ours, db, "PRAGMA freelist_count");
    if( n>nPage ){
      check(m<nPage/10, "the file grows while %lld of %lld pages are free", m, n);
      break;
    }
  }
  check(i>10 && i<1000, "the file grew after %d transactions", i);
  sqlite3_close(db);
  checkFile("free pages");

  db = openDb(&ours, zFile, 0);
  runOn(&ours, db, "VACUUM");
  check(integer(&ours, db, "PRAGMA freelist_count")==0, "free pages after VACUUM");
  grow(&ours, db, 4, 2000, 60, 100);
  {
    Text sql = {0,0,0};
    sqlite3 *dbCopy;
    removeDb(zOther);
    textAppend(&sql, "VACUUM INTO '%s'", zOther);
    runOn(&ours, db, sql.z);
    textClear(&sql);
    dbCopy = openDb(&stock, zOther, 0);
    check(integer(&stock, dbCopy, "PRAGMA freelist_count")==0,
          "free pages after VACUUM INTO");
    stock.close(dbCopy);
    removeDb(zOther);
  }
  sqlite3_close(db);
  checkFile("after VACUUM");
}

static unsigned iRandom = 1;
static unsigned rnd(unsigned n){
  iRandom = iRandom*1664525 + 1013904223;
  return (iRandom>>8)%n;
}

/*
** Random writing of ours and stock to a file each: the same rows after each
** transaction, whatever was rolled back.
*/
static void testRandom(const char *zPragmas, int nStep){
  sqlite3 *db = fresh(&ours, zFile, zPragmas, 5);
  sqlite3 *dbStock = fresh(&stock, zOther, zPragmas, 5);
  int i;
  runOn(&ours, db, "CREATE INDEX i0 ON t0(a,b); CREATE INDEX i1 ON t1(b,a)");
  runOn(&stock, dbStock, "CREATE INDEX i0 ON t0(a,b); CREATE INDEX i1 ON t1(b,a)");
  for(i=0; i<nStep; i++){
    Text sql = {0,0,0};
    int nOp = 1+rnd(8), bOpen = 0;
    textAppend(&sql, "BEGIN;");
    while( nOp-->0 ){
      const int t = rnd(5);
      switch( rnd(12) ){
        case 0:
          textAppend(&sql, "DELETE FROM t%d WHERE id%%%d=1;", t, 2+rnd(9));
          break;
        case 1:
          textAppend(&sql, "UPDATE t%d SET b=zeroblob(%d) WHERE id%%%d=0;", t,
                     rnd(3000), 20+rnd(90));
          break;
        case 2:
          if( bOpen==0 ) textAppend(&sql, "SAVEPOINT s;");
          bOpen = 1;
          break;
        case 3:
          if( bOpen ) textAppend(&sql, "ROLLBACK TO s;");
          break;
        case 4:
          if( bOpen ) textAppend(&sql, "RELEASE s;");
          bOpen = 0;
          break;
        case 5:
          /* Fails after some rows: a statement that is rolled back */
          textAppend(&sql, "INSERT OR IGNORE INTO t%d(id,a,b) VALUES(%d,1,x'00');",
                     t, 1+rnd(500));
          break;
        case 6:
          textAppend(&sql, "INSERT INTO t%d(a,b) VALUES(%d,zeroblob(%d));", t,
                     i, rnd(60000));
          break;
        case 7:
          if( rnd(10)==0 ){
            textAppend(&sql, "DROP TABLE t%d; CREATE TABLE t%d(id INTEGER"
                             " PRIMARY KEY, a, b);", 2+t%3, 2+t%3);
          }
          break;
        default:
          textAppend(&sql, "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1"
             " FROM n WHERE k<%d) INSERT INTO t%d(a,b) SELECT (k*7919)%%1000,"
             " hex(zeroblob(%d)) FROM n;", 1+rnd(400), t, 1+rnd(60));
      }
    }
    textAppend(&sql, rnd(4)==0 ? "ROLLBACK;" : "COMMIT;");
    if( rnd(25)==0 ) textAppend(&sql, "PRAGMA incremental_vacuum(%d);", rnd(300));
    if( rnd(60)==0 ) textAppend(&sql, "VACUUM;");
    if( rnd(20)==0 ) textAppend(&sql, "PRAGMA wal_checkpoint;");
    runOn(&ours, db, sql.z);
    runOn(&stock, dbStock, sql.z);
    textClear(&sql);
    if( i%20==19 ){
      static const char zAll[] =
         "SELECT 0,id,a,length(b) FROM t0 UNION ALL SELECT 1,id,a,length(b) FROM t1"
         " UNION ALL SELECT 2,id,a,length(b) FROM t2 UNION ALL"
         " SELECT 3,id,a,length(b) FROM t3 UNION ALL"
         " SELECT 4,id,a,length(b) FROM t4";
      Text got = {0,0,0}, right = {0,0,0};
      char zWhat[200];
      snprintf(zWhat, sizeof(zWhat), "%s: step %d", zPragmas, i);
      answer(&ours, db, zAll, &got);
      answer(&stock, dbStock, zAll, &right);
      check(strcmp(got.z, right.z)==0, "%s: other rows", zWhat);
      checkIntegrity(&ours, db, zWhat);
      textClear(&got);
      textClear(&right);
    }
  }
  sqlite3_close(db);
  stock.close(dbStock);
  checkFile(zPragmas);
  removeDb(zOther);
}

/*
** At max_page_count as many rows fit as in stock's file: reserved pages are
** used up, and then the error is stock's.
*/
static void testFull(void){
  sqlite3_int64 anRow[2];
  int i;
  for(i=0; i<2; i++){
    const Lib *pLib = i ? &ours : &stock;
    sqlite3 *db;
    int k, rc = SQLITE_OK;
    db = fresh(pLib, zFile, "PRAGMA page_size=1024; PRAGMA max_page_count=1500",
               3);
    anRow[i] = 0;
    for(k=0; rc==SQLITE_OK; k++){
      char zSql[100];
      snprintf(zSql, sizeof(zSql), "INSERT INTO t%d(a,b) VALUES(1,zeroblob(90))",
               k%3);
      rc = pLib->exec(db, zSql, 0, 0, 0);
      anRow[i] += rc==SQLITE_OK;
    }
    check(rc==SQLITE_FULL, "full: error %d", rc);
    check(integer(pLib, db, "PRAGMA page_count")==1500, "full: page_count");
    check(integer(pLib, db, "PRAGMA freelist_count")==0, "full: free pages");
    runOn(pLib, db, "DELETE FROM t0 WHERE id<100");
    runOn(pLib, db, "INSERT INTO t1(a,b) VALUES(1,zeroblob(90))");
    pLib->close(db);
    checkFile("full");
  }
  check(anRow[0]==anRow[1], "full: %lld rows, stock has %lld", anRow[1], anRow[0]);
}

/*
** The log and a checkpoint agree on the size of the file, with commits of one row,
** a reader that holds the log, and a checkpoint after every commit.
*/
static void testWal(void){
  int eMode;
  for(eMode=0; eMode<4; eMode++){
    sqlite3 *db, *dbReader;
    int i;
    char zWhat[40];
    snprintf(zWhat, sizeof(zWhat), "wal: mode %d", eMode);
    db = fresh(&ours, zFile, "PRAGMA page_size=512; PRAGMA journal_mode=wal;"
                             "PRAGMA wal_autocheckpoint=0", 4);
    dbReader = openDb(&ours, zFile, 0);
    for(i=0; i<1200; i++){
      const char *zCheckpoint = 0;
      int nLog, nDone, rc;
      grow(&ours, db, 4, i%50==0 ? 400 : 4, 60, i%50==0 ? 100 : 1);
      if( eMode==1 && i%7==0 ){
        if( i>0 ) runOn(&ours, dbReader, "COMMIT");
        runOn(&ours, dbReader, "BEGIN; SELECT count(*) FROM t0");
      }
      if( eMode<=1 || i%(eMode==2 ? 13 : 97)==0 ) zCheckpoint = "main";
      if( zCheckpoint ){
        rc = sqlite3_wal_checkpoint_v2(db, zCheckpoint,
               eMode==3 ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE,
               &nLog, &nDone);
        check(rc==SQLITE_OK, "%s, step %d: checkpoint gives %d", zWhat, i, rc);
        if( rc ) break;
      }
    }
    if( eMode==1 ) runOn(&ours, dbReader, "COMMIT");
    /* As after a crash: stock recovers a copy of the file and its log */
    {
      Text sh = {0,0,0};
      sqlite3 *dbCopy;
      Text got = {0,0,0};
      removeDb(zOther);
      textAppend(&sh, "cp %s %s; cp %s-wal %s-wal", zFile, zOther, zFile, zOther);
      if( system(sh.z) ) exit(2);
      dbCopy = openDb(&stock, zOther, 0);
      answer(&stock, dbCopy, "PRAGMA wal_checkpoint(truncate);", &got);
      check(strncmp(got.z, "0", 1)==0, "%s: stock's checkpoint: %s", zWhat,
            got.z);
      checkIntegrity(&stock, dbCopy, zWhat);
      stock.close(dbCopy);
      removeDb(zOther);
      textClear(&sh);
      textClear(&got);
    }
    sqlite3_close(dbReader);
    sqlite3_close(db);
    checkFile(zWhat);
  }
}

/*
** Pages are added to the log before a commit, more than the cache holds, so that
** the log, all of which is in the file, begins anew in the middle of that.
*/
static void testSpill(void){
  sqlite3 *db = fresh(&ours, zFile,
      "PRAGMA page_size=1024; PRAGMA journal_mode=wal;"
      "PRAGMA wal_autocheckpoint=0; PRAGMA hp_extent=200;"
      "PRAGMA cache_size=150", 5);
  runOn(&ours, db, "CREATE TABLE big(a);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000)"
    " INSERT INTO big SELECT zeroblob(900) FROM n;"
    "DELETE FROM big; VACUUM; PRAGMA wal_checkpoint;");
  grow(&ours, db, 5, 200, 300, 1000);
  sqlite3_close(db);
  checkFile("spill");
}

/*
** The page of the lock byte, moved down to page 300 in both libraries.
*/
static void testLockByte(void){
  pid_t pid;
  int status = 0;
  fflush(stdout);
  pid = fork();
  if( pid==0 ){
    static const char *const az[] = {
      "PRAGMA page_size=1024",
      "PRAGMA page_size=1024;PRAGMA auto_vacuum=incremental",
      "PRAGMA page_size=512;PRAGMA journal_mode=wal",
    };
    unsigned i;
    for(i=0; i<3; i++){
      const int iPending = 300*512 + (int)i*1024;
      sqlite3 *db;
      ours.control(SQLITE_TESTCTRL_PENDING_BYTE, iPending);
      stock.control(SQLITE_TESTCTRL_PENDING_BYTE, iPending);
      db = fresh(&ours, zFile, az[i], 3);
      grow(&ours, db, 3, 9000, 60, 100);
      check(integer(&ours, db, "PRAGMA page_count")>400,
            "lock byte: too few pages");
      sqlite3_close(db);
      checkFile("lock byte");
    }
    exit(finish());
  }
  if( waitpid(pid, &status, 0)!=pid ) status = -1;
  check(status==0, "lock byte: status %d", status);
}

/*
** A backup is written over a database of which extents are known.
*/
static void testBackup(void){
  sqlite3 *db = fresh(&ours, zFile, "PRAGMA page_size=1024", 4);
  sqlite3 *dbFrom = fresh(&ours, zOther, "PRAGMA page_size=1024", 4);
  int i;
  for(i=0; i<6; i++){
    sqlite3_backup *p;
    grow(&ours, db, 4, 3000, 60, 100);
    grow(&ours, dbFrom, 3, 2000+500*i, 60, 100);
    p = sqlite3_backup_init(i&1 ? dbFrom : db, "main", i&1 ? db : dbFrom, "main");
    while( sqlite3_backup_step(p, 100)==SQLITE_OK ){
      grow(&ours, i&1 ? db : dbFrom, 4, 40, 60, 10);
    }
    check(sqlite3_backup_finish(p)==SQLITE_OK, "backup");
    grow(&ours, db, 4, 3000, 60, 100);
    checkFile("backup");
  }
  sqlite3_close(db);
  sqlite3_close(dbFrom);
  removeDb(zOther);
}

/*
** The free list of a hostile file: what stock makes of it or an error,
** never more.
*/
static void testHostile(int nCase){
  int i, n;
  unsigned char *a, *b;
  sqlite3 *db = fresh(&ours, zFile, "PRAGMA page_size=512", 4);
  grow(&ours, db, 4, 6000, 60, 100);
  runOn(&ours, db, "DELETE FROM t1 WHERE id BETWEEN 100 AND 400");
  sqlite3_close(db);
  a = readFile(zFile, &n);
  b = readFile(zFile, &n);
  for(i=0; i<nCase; i++){
    unsigned iTrunk = 0;
    int k, rc;
    memcpy(b, a, n);
    for(k=1+rnd(4); k>0; k--){
      /* A trunk, some way down the list, or page 1 */
      unsigned char *p = &b[32];
      int nDown = rnd(6);
      iTrunk = 0;
      while( nDown-->0 ){
        unsigned iNext = get4(p);
        if( iNext==0 || iNext>(unsigned)n/512 ) break;
        iTrunk = iNext;
        p = &b[(iNext-1)*512];
      }
      switch( rnd(4) ){
        case 0:  p[rnd(iTrunk ? 512 : 8)] = rnd(256); break;
        case 1:  p[3] = rnd(256); p[2] = rnd(n/512/256+1); break;
        case 2:  if( iTrunk ){ p[8+4*rnd(20)+3] = rnd(256); } break;
        default: if( iTrunk ){ p[4] = 0; p[6] = rnd(2); p[7] = rnd(256); }
      }
    }
    writeFile(zFile, b, n);
    db = reopen(&ours, zFile);
    for(k=0; k<400; k++){
      char zSql[100];
      snprintf(zSql, sizeof(zSql), "INSERT INTO t%d(a,b) VALUES(1,zeroblob(%d))",
               k%4, 300);
      rc = sqlite3_exec(db, zSql, 0, 0, 0);
      if( rc ) break;
    }
    check(rc==SQLITE_OK || rc==SQLITE_CORRUPT, "hostile case %d: %d", i, rc);
    check(sqlite3_close(db)==SQLITE_OK, "hostile case %d: close", i);
  }
  free(a);
  free(b);
}

/*
** auto_vacuum=FULL in between empties the free list without asking for a page.
** What stands where the trunk was looks like one to whoever still believes in
** it: values full of the number of the page that was next.
*/
static void testFullBetween(void){
  int i, k;
  for(i=0; i<4; i++){
    Text sql = {0,0,0};
    sqlite3_int64 nPage;
    sqlite3 *db;
    db = fresh(&ours, zFile,
               "PRAGMA page_size=4096; PRAGMA auto_vacuum=incremental;"
               "PRAGMA hp_extent=20", 2);
    grow(&ours, db, 1, 6000, 200, 6000);
    check(integer(&ours, db, "PRAGMA freelist_count")>4, "full between: no extent");
    runOn(&ours, db, "PRAGMA auto_vacuum=full; INSERT INTO t1(a) VALUES(1)");
    check(integer(&ours, db, "PRAGMA freelist_count")==0, "full between: free pages");
    nPage = integer(&ours, db, "PRAGMA page_count");
    textAppend(&sql, "PRAGMA auto_vacuum=incremental;"
                     "INSERT INTO t1(b) VALUES(x'%.*s", 2*i, "000000");
    for(k=0; k<60000; k++) textAppend(&sql, "%08x", (int)nPage+1);
    textAppend(&sql, "'); DELETE FROM t0 WHERE id<600");
    runOn(&ours, db, sql.z);
    grow(&ours, db, 1, 2000, 200, 2000);
    sqlite3_close(db);
    checkFile("full between");
    textClear(&sql);
  }
}

/*
** Interior pages that are their own children: the size of the tree, multiplied
** twenty times by their number of cells, is no reason to write past a page.
*/
static void testHostileTree(void){
  int n;
  unsigned char *a, *aRoot, *aX;
  unsigned iX, nRoot, nX, k, m;
  sqlite3 *db = fresh(&stock, zFile, "PRAGMA page_size=512", 1);
  grow(&stock, db, 1, 12000, 60, 1000);
  stock.close(db);
  a = readFile(zFile, &n);
  aRoot = &a[512];
  nRoot = get2(&aRoot[3]);
  check(aRoot[0]==5 && nRoot>20, "hostile tree: root has %u cells", nRoot);
  iX = get4(&aRoot[get2(&aRoot[12+nRoot/2*2])]);
  aX = &a[(iX-1)*512];
  nX = get2(&aX[3]);
  check(aX[0]==5, "hostile tree: page %u is of type %d", iX, aX[0]);
  for(k=nRoot/2; k<nRoot/2+6; k++) put4(&aRoot[get2(&aRoot[12+2*k])], iX);
  for(k=0; k<nX; k++) put4(&aX[get2(&aX[12+2*k])], iX);
  for(k=nX; k<120; k++) memcpy(&aX[12+2*k], &aX[12], 2);
  put4(&aX[get2(&aX[12])], iX);
  for(m=9; m<70; m++){
    int rc;
    aX[4] = m;
    writeFile(zFile, a, n);
    db = reopen(&ours, zFile);
    rc = sqlite3_exec(db,
        "WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<1500)"
        "INSERT INTO t0(a,b) SELECT i, zeroblob(60) FROM c", 0, 0, 0);
    check(rc==SQLITE_OK || rc==SQLITE_CORRUPT, "hostile tree %u: %d", m, rc);
    check(integer(&ours, db, "PRAGMA page_count")<n/512+600,
          "hostile tree %u: file grew to %lld pages", m,
          integer(&ours, db, "PRAGMA page_count"));
    sqlite3_close(db);
  }
  free(a);
}

/*
** A trunk of the free list that is a leaf of its own: an error, no row.
*/
static void testHostileTrunk(void){
  int n, rc;
  unsigned char *a, *aTrunk;
  unsigned iTrunk, i;
  sqlite3_stmt *pStmt = 0;
  sqlite3 *db = fresh(&stock, zFile, "PRAGMA page_size=512", 2);
  grow(&stock, db, 2, 8000, 60, 1000);
  runOn(&stock, db, "DELETE FROM t1 WHERE id BETWEEN 200 AND 400");
  stock.close(db);
  a = readFile(zFile, &n);
  iTrunk = get4(&a[32]);
  aTrunk = &a[(iTrunk-1)*512];
  check(get4(&aTrunk[4])>=5, "hostile trunk: %u leaves", get4(&aTrunk[4]));
  put4(&aTrunk[4], 5);
  for(i=0; i<5; i++) put4(&aTrunk[8+4*i], iTrunk+i);
  writeFile(zFile, a, n);
  free(a);
  db = reopen(&ours, zFile);
  rc = sqlite3_prepare_v2(db,
      "WITH c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<500)"
      "INSERT INTO t0(a,b) SELECT i, zeroblob(60) FROM c", -1, &pStmt, 0);
  if( rc==SQLITE_OK ) rc = sqlite3_step(pStmt);
  check(rc==SQLITE_CORRUPT, "hostile trunk: %d", rc);
  sqlite3_finalize(pStmt);
  check(sqlite3_close(db)==SQLITE_OK, "hostile trunk: close");
}

/************************** memory and the disk fail **********************/

static int bFailWrites = 0;
static ssize_t (*xRealPwrite)(int, const void*, size_t, off_t);
static ssize_t faultyPwrite(int fd, const void *a, size_t n, off_t i){
  if( bFailWrites && fails() ){
    errno = ENOSPC;
    return -1;
  }
  return xRealPwrite(fd, a, n, i);
}

/*
** The n-th allocation, or with bWrite the n-th allocation or write, fails, n = 0,
** nStep, 2*nStep ..., while rows are inserted: the transaction is there or not,
** and the next one succeeds.
*/
static void testFaults(const char *zPragmas, int bWrite, int nStep){
  Text insert = {0,0,0};
  unsigned char *aFile;
  sqlite3 *db = fresh(&ours, zOther, "PRAGMA page_size=512", 3);
  int n, i, nFile, bMore = 1, nFault = 0;
  grow(&ours, db, 3, 4500, 60, 1000);
  runOn(&ours, db, "DELETE FROM t2 WHERE id BETWEEN 300 AND 400");
  sqlite3_close(db);
  aFile = readFile(zOther, &nFile);
  textAppend(&insert, "BEGIN;");
  for(i=0; i<450; i++){
    textAppend(&insert, "INSERT INTO t%d(a,b) VALUES(1,zeroblob(%d));", i%3,
               i%50==0 ? 3000 : 60);
  }
  textAppend(&insert, "COMMIT;");
  for(n=0; bMore; n+=nStep){
    sqlite3_int64 nRow, nWas;
    int rc;
    removeDb(zFile);
    writeFile(zFile, aFile, nFile);
    db = openDb(&ours, zFile, 0);
    runOn(&ours, db, zPragmas);
    nWas = integer(&ours, db, "SELECT count(*) FROM t0");
    bFailWrites = bWrite;
    fault.nLeft = n;
    fault.bForEver = 0;
    fault.nFailed = 0;
    rc = sqlite3_exec(db, insert.z, 0, 0, 0);
    bMore = fault.nFailed>0;
    nFault += bMore;
    fault.nLeft = -1;
    bFailWrites = 0;
    if( sqlite3_get_autocommit(db)==0 ) sqlite3_exec(db, "ROLLBACK", 0, 0, 0);
    nRow = integer(&ours, db, "SELECT count(*) FROM t0");
    check(nRow==(rc ? nWas : nWas+150), "%s: fault %d: result %d, %lld rows",
          zPragmas, n, rc, nRow);
    runOn(&ours, db, insert.z);
    check(integer(&ours, db, "SELECT count(*) FROM t0")==nRow+150,
          "%s: fault %d: rows of the next transaction", zPragmas, n);
    sqlite3_close(db);
    checkFile(zPragmas);
  }
  check(nFault>10, "%s: only %d faults", zPragmas, nFault);
  removeDb(zOther);
  free(aFile);
  textClear(&insert);
}

int main(int argc, char **argv){
  const int nRandom = longRun() ? 300 : 100;
  const int nStep = longRun() ? 1 : 3;
  if( argc!=2 || loadStock(&stock, argv[1]) ){
    fprintf(stderr, "usage: extent STOCK\n");
    return 2;
  }
  failMemory(1);
  xRealPwrite = (ssize_t(*)(int, const void*, size_t, off_t))
      replaceCall("pwrite", (sqlite3_syscall_ptr)faultyPwrite);
  zFile = temporaryFile("extent.db");
  zOther = temporaryFile("extent-other.db");

  testPragma();
  testSmall();
  testOrder();
  testReopen();
  testFreePages();
  testRandom("PRAGMA page_size=1024", nRandom);
  testRandom("PRAGMA page_size=512; PRAGMA journal_mode=wal", nRandom);
  testRandom("PRAGMA page_size=512; PRAGMA auto_vacuum=incremental", nRandom);
  testRandom("PRAGMA page_size=1024; PRAGMA auto_vacuum=incremental;"
             "PRAGMA journal_mode=wal; PRAGMA cache_size=20", nRandom);
  testRandom("PRAGMA page_size=1024; PRAGMA auto_vacuum=full", nRandom/3);
  testFull();
  testWal();
  testSpill();
  testLockByte();
  testBackup();
  testFullBetween();
  testHostile(nRandom);
  testHostileTree();
  testHostileTrunk();
  testFaults("PRAGMA synchronous=off", 0, 3*nStep);
  testFaults("PRAGMA synchronous=off;PRAGMA cache_size=10", 1, nStep);
  testFaults("PRAGMA synchronous=off;PRAGMA journal_mode=wal", 0, 3*nStep);
  testFaults("PRAGMA synchronous=off;PRAGMA journal_mode=wal;PRAGMA cache_size=10",
             1, nStep);
  removeDb(zFile);
  return finish();
}
