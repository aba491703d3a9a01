/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** chains STOCK: payloads on overflow pages, which are read in runs.
**
**   1. Values of all lengths about the boundaries of pages, in databases of
**      different page sizes, reserved bytes, auto_vacuum and journal modes,
**      written in order and scattered: every way to read them must give what was
**      written, while the WAL holds some of them, while they are changed by this
**      connection, after savepoints, and after another process changed them with
**      STOCK.
**   2. The same where nothing may be read around the page cache: in memory, in
**      temporary databases, with another VFS, with changes not yet committed.
**      PRAGMA hp_stats tells which way was taken.
**   3. Chains that are damaged in each way, at the places where runs begin and
**      end, and a file that ends too early: the same rows and errors as from
**      STOCK.
**   4. Reading fails at every n-th run, and memory at every n-th allocation.
**   5. Adjacent pages are written at once as well: that fails at every n-th write,
**      a process dies with a transaction half written, a file cannot grow; STOCK
**      then finds what was committed.
*/
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

#define N_ROW     150         /* Most rows of the table */
#define MX_VALUE  700000      /* Most bytes of a value */
#define RUNS      "overflow pages read in runs"

static Lib stock;             /* The library STOCK */
static int aSize[N_ROW+1];    /* Row i: bytes of its value, -1: no such row, */
static int aVersion[N_ROW+1]; /* ... and how often it was changed */
static int nRow;              /* Rows are 1 to nRow */
static unsigned char aExpect[MX_VALUE];

/*
** The n bytes of value number i, version iVersion.
*/
static void content(unsigned char *a, int n, int i, int iVersion){
  unsigned u = i*7919 + iVersion*104729 + 1;
  int k;
  for(k=0; k<n; k++){
    u = u*1664525 + 1013904223;
    a[k] = u>>24;
  }
}

/*
** Write row i anew, n bytes long.  x, which has an index, is the value in hex, of
** short ones; y stands behind the value.
*/
static void writeRow(sqlite3 *db, int i, int n){
  sqlite3_stmt *pStmt = prepared(db,
     "INSERT OR REPLACE INTO b(id, x, v, y)"
     " VALUES(?1, CASE WHEN length(?2)<9000 THEN hex(?2) END, ?2, ?1*3)");
  aSize[i] = n;
  content(aExpect, n, i, ++aVersion[i]);
  sqlite3_bind_int(pStmt, 1, i);
  sqlite3_bind_blob(pStmt, 2, aExpect, n, SQLITE_STATIC);
  if( sqlite3_step(pStmt)!=SQLITE_DONE ){
    fprintf(stderr, "error: %s\n", sqlite3_errmsg(db));
    exit(2);
  }
  sqlite3_finalize(pStmt);
}

static void deleteRow(sqlite3 *db, int i){
  char zSql[100];
  snprintf(zSql, sizeof(zSql), "DELETE FROM b WHERE id=%d", i);
  execute(db, zSql);
  aSize[i] = -1;
}

/*
** Make the database: of rows whose payload ends up to two bytes before and after
** the end of a page, and some longer ones.
*/
static void makeRows(sqlite3 *db, int usable){
  static const int aPage[] = { 0, 1, 2, 3, 7, 8, 9, 16, 17, 65, 130 };
  int i, k, d;
  nRow = 0;
  execute(db, "CREATE TABLE b(id INTEGER PRIMARY KEY, x TEXT, v BLOB, y);"
              "CREATE INDEX bx ON b(x)");
  for(i=0; i<(int)(sizeof(aPage)/sizeof(aPage[0])); i++){
    /* Payload of a leaf: at least minLocal.  The record's header: 9 or so. */
    int nLocal = (usable-12)*32/255 - 23;
    for(d=-14; d<=2; d+=(d<-8 || d>0 ? 2 : 1)){
      k = aPage[i]*(usable-4) + nLocal + d;
      if( k<0 || k>MX_VALUE || nRow>=N_ROW-1 ) continue;
      if( aPage[i]>9 && d%3 ) continue;
      writeRow(db, ++nRow, k);
    }
  }
}

/*
** Take rows away and put others in, so that chains are in pieces.
*/
static void scatter(sqlite3 *db){
  int i;
  execute(db, "BEGIN");
  for(i=1; i<=nRow; i+=3) deleteRow(db, i);
  for(i=2; i<=nRow; i+=6) deleteRow(db, i);
  for(i=nRow; i>=1; i--){
    if( aSize[i]<0 ) writeRow(db, i, (i*7919)%20000 + (i%5==0)*50000);
  }
  execute(db, "COMMIT");
}

/*
** Read row i piece by piece, through a blob handle, as another user would:
** forward, backward, and across the ends of pages.
*/
static void checkPieces(sqlite3 *db, int i, const char *zWhat){
  static unsigned char a[MX_VALUE];
  static const int aPiece[] = { 4096, 10000, 100000, 333 };
  sqlite3_blob *pBlob = 0;
  int n = aSize[i], iPiece, iAt, rc;
  rc = sqlite3_blob_open(db, "main", "b", "v", i, 0, &pBlob);
  check(rc==SQLITE_OK && sqlite3_blob_bytes(pBlob)==n, "%s: blob %d: %d", zWhat,
        i, rc);
  if( rc ) return;
  content(aExpect, n, i, aVersion[i]);
  if( n>20000 ){
    /* From the middle first: the chain up to there is only followed */
    rc = sqlite3_blob_read(pBlob, a, n/3, n/2);
    check(rc==SQLITE_OK && memcmp(a, &aExpect[n/2], n/3)==0,
          "%s: middle of blob %d: %d", zWhat, i, rc);
  }
  for(iPiece=0; iPiece<4; iPiece++){
    int nPiece = aPiece[iPiece];
    if( n/nPiece>200 ) continue;
    for(iAt=0; iAt<n; iAt+=nPiece){
      int m = n-iAt<nPiece ? n-iAt : nPiece;
      int iFrom = iPiece==2 ? n-iAt-m : iAt;
      memset(a, 0xcc, m+1);
      rc = sqlite3_blob_read(pBlob, a, m, iFrom);
      check(rc==SQLITE_OK && memcmp(a, &aExpect[iFrom], m)==0 && a[m]==0xcc,
            "%s: blob %d from %d, %d bytes: %d", zWhat, i, iFrom, m, rc);
    }
  }
  sqlite3_blob_close(pBlob);
}

/*
** Read everything in every way.
*/
static void checkRows(sqlite3 *db, const char *zWhat){
  static const char *const azTaken[] = {
    "SELECT id%3, count(*), max(v), min(x), sum(y) FROM b GROUP BY id%3",
    "SELECT sum(length(v)), min(v), sum(y) FROM b WHERE y>9",
    "SELECT x, count(*) FROM b GROUP BY x",
  };
  sqlite3_stmt *pStmt = prepared(db, "SELECT id, v, y FROM b ORDER BY id");
  sqlite3_stmt *pOne = prepared(db, "SELECT y, substr(v, length(v)/2+1, 500)"
                                    " FROM b WHERE id=?");
  sqlite3_stmt *pKey = prepared(db, "SELECT id FROM b WHERE x=hex(?)");
  int i, n = 0, rc;
  while( (rc = sqlite3_step(pStmt))==SQLITE_ROW ){
    const void *a = sqlite3_column_blob(pStmt, 1);
    i = sqlite3_column_int(pStmt, 0);
    content(aExpect, aSize[i], i, aVersion[i]);
    check(sqlite3_column_bytes(pStmt, 1)==aSize[i]
       && (aSize[i]==0 || memcmp(a, aExpect, aSize[i])==0)
       && sqlite3_column_int(pStmt, 2)==i*3, "%s: row %d", zWhat, i);
    n++;
    sqlite3_bind_int(pOne, 1, i);
    rc = sqlite3_step(pOne);
    a = sqlite3_column_blob(pOne, 1);
    check(rc==SQLITE_ROW && sqlite3_column_int(pOne, 0)==i*3
       && sqlite3_column_bytes(pOne, 1)<=500
       && (a==0 || memcmp(a, &aExpect[aSize[i]/2],
                          sqlite3_column_bytes(pOne, 1))==0),
       "%s: part of row %d", zWhat, i);
    sqlite3_reset(pOne);
    if( aSize[i]<9000 && aSize[i]>50 ){
      sqlite3_bind_blob(pKey, 1, aExpect, aSize[i], SQLITE_STATIC);
      rc = sqlite3_step(pKey);
      check(rc==SQLITE_ROW && sqlite3_column_int(pKey, 0)==i,
            "%s: row %d by its key: %d", zWhat, i, rc);
      sqlite3_reset(pKey);
    }
  }
  check(rc==SQLITE_DONE, "%s: %d", zWhat, rc);
  for(i=1; i<=nRow; i++) n -= aSize[i]>=0;
  check(n==0, "%s: %d rows too many", zWhat, n);
  sqlite3_finalize(pStmt);
  sqlite3_finalize(pOne);
  sqlite3_finalize(pKey);
  for(i=1; i<=nRow; i+=9) if( aSize[i]>0 ) checkPieces(db, i, zWhat);
  for(i=0; i<3; i++){
    Text aText[2] = {{0,0,0},{0,0,0}};
    execute(db, "PRAGMA hp_offload=off");
    answer(&ours, db, azTaken[i], &aText[0]);
    execute(db, "PRAGMA hp_offload=force");
    answer(&ours, db, azTaken[i], &aText[1]);
    check(strcmp(aText[0].z, aText[1].z)==0, "%s: %s differs", zWhat, azTaken[i]);
    textClear(&aText[0]);
    textClear(&aText[1]);
  }
}

/*
** Read everything, and tell whether some of it was read in runs.
*/
static int readsRuns(sqlite3 *db, const char *zWhat){
  sqlite3_int64 n = counted(db, RUNS);
  checkRows(db, zWhat);
  return counted(db, RUNS)>n;
}

/*
** Change some rows by the library STOCK, in another process.
*/
static void changeByStock(const char *zFile, const char *zSql){
  int status = 0;
  pid_t pid = fork();
  if( pid==0 ){
    sqlite3 *db = openDb(&stock, zFile, 0);
    int rc = stock.exec(db, zSql, 0, 0, 0);
    stock.close(db);
    _exit(rc);
  }
  waitpid(pid, &status, 0);
  if( status ){
    fprintf(stderr, "error: stock cannot (%d): %s\n", WEXITSTATUS(status), zSql);
    exit(2);
  }
}

/*
** One layout: in order and scattered, at rest and while it is changed.
*/
static void checkLayout(const char *zPragma, int nReserve){
  const char *zFile = temporaryFile("chains.db");
  char zWhat[200];
  sqlite3 *db, *db2;
  int szPage, i, bWal;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  i = nReserve;
  if( i ) sqlite3_file_control(db, 0, SQLITE_FCNTL_RESERVE_BYTES, &i);
  execute(db, "PRAGMA synchronous=off");
  execute(db, zPragma);
  szPage = (int)integer(&ours, db, "PRAGMA page_size");
  bWal = strstr(zPragma, "wal")!=0;
  execute(db, "PRAGMA wal_autocheckpoint=0; BEGIN");
  makeRows(db, szPage-nReserve);
  snprintf(zWhat, sizeof(zWhat), "%s, %d reserved", zPragma, nReserve);
  /* All pages are dirty, or were written while there was no room */
  checkRows(db, zWhat);
  execute(db, "COMMIT; PRAGMA shrink_memory");
  check(readsRuns(db, zWhat), "%s: no runs", zWhat);
  if( bWal ){
    execute(db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA shrink_memory");
    check(readsRuns(db, zWhat), "%s: no runs after a checkpoint", zWhat);
  }

  /* Another connection reads as well; half of the rows are in the WAL then */
  db2 = openDb(&ours, zFile, 0);
  checkRows(db2, zWhat);
  for(i=1; i<=nRow; i+=2) if( aSize[i]>=0 ) writeRow(db, i, aSize[i]);
  strcat(zWhat, ", changed");
  check(readsRuns(db2, zWhat), "%s: no runs", zWhat);
  checkRows(db, zWhat);
  scatter(db);
  strcat(zWhat, ", scattered");
  checkRows(db2, zWhat);
  execute(db, "PRAGMA shrink_memory");
  checkRows(db, zWhat);

  /* Savepoints, and a transaction that is rolled back */
  {
    int aKeep[2][N_ROW+1];
    memcpy(aKeep[0], aSize, sizeof(aSize));
    memcpy(aKeep[1], aVersion, sizeof(aVersion));
    execute(db, "PRAGMA cache_size=20; BEGIN");
    writeRow(db, 1, 30000);
    execute(db, "SAVEPOINT a");
    writeRow(db, 2, 40000);
    checkRows(db, zWhat);
    deleteRow(db, 3);
    aSize[3] = aKeep[0][3];
    aSize[2] = aKeep[0][2];
    aVersion[2] = aKeep[1][2];
    execute(db, "ROLLBACK TO a");
    checkRows(db, zWhat);
    execute(db, "ROLLBACK");
    memcpy(aSize, aKeep[0], sizeof(aSize));
    memcpy(aVersion, aKeep[1], sizeof(aVersion));
    checkRows(db, zWhat);
  }

  /* Another process takes rows away and moves all others */
  changeByStock(zFile, "BEGIN; UPDATE b SET id=id+1000; DELETE FROM b WHERE"
                       " id%4=0; UPDATE b SET id=id-1000; COMMIT");
  for(i=4; i<=nRow; i+=4) aSize[i] = -1;
  strcat(zWhat, ", by stock");
  checkRows(db, zWhat);
  if( !bWal ){
    execute(db2, "PRAGMA mmap_size=0");
    changeByStock(zFile, "VACUUM");
    check(readsRuns(db2, zWhat), "%s: no runs after VACUUM", zWhat);
  }
  sqlite3_close(db2);
  db2 = openDb(&ours, zFile, 0);
  checkIntegrity(&ours, db2, zWhat);
  sqlite3_close(db2);
  sqlite3_close(db);
  removeDb(zFile);
}

/*
** Where SQLite's way is the only one.
*/
static void checkOthers(void){
  static const char *const azFile[] = { ":memory:", "", 0 };
  const char *zFile = temporaryFile("chains.db");
  static sqlite3_vfs other;
  sqlite3 *db;
  int i;
  for(i=0; azFile[i]; i++){
    db = openDb(&ours, azFile[i], 0);
    execute(db, "PRAGMA page_size=1024; PRAGMA cache_size=20");
    makeRows(db, 1024);
    scatter(db);
    check(!readsRuns(db, "no file"), "runs without a file");
    sqlite3_close(db);
  }
  removeDb(zFile);
  db = openDb(&ours, zFile, SQLITE_OPEN_SHAREDCACHE);
  execute(db, "PRAGMA page_size=1024");
  makeRows(db, 1024);
  {
    sqlite3 *db2 = openDb(&ours, zFile, SQLITE_OPEN_SHAREDCACHE);
    check(readsRuns(db2, "shared cache"), "shared cache: no runs");
    execute(db, "BEGIN");
    writeRow(db, 1, 5000);
    execute(db2, "PRAGMA read_uncommitted=1");
    check(!readsRuns(db2, "read uncommitted"), "runs of what was changed");
    execute(db, "COMMIT");
    sqlite3_close(db2);
  }
  execute(db, "PRAGMA mmap_size=100000000; PRAGMA shrink_memory");
  check(!readsRuns(db, "mmap"), "runs of mapped memory");
  sqlite3_close(db);
  /* A VFS that is called otherwise, but calls the functions of the built-in one,
  ** is the built-in one; other functions are not. */
  other = *sqlite3_vfs_find(0);
  other.zName = "other";
  sqlite3_vfs_register(&other, 0);
  if( sqlite3_open_v2(zFile, &db, SQLITE_OPEN_READWRITE, "other") ) exit(2);
  execute(db, "PRAGMA hp_offload=force");
  check(readsRuns(db, "copied VFS"), "copied VFS: no runs");
  sqlite3_close(db);
  if( sqlite3_open_v2(zFile, &db, SQLITE_OPEN_READWRITE, "unix-excl") ) exit(2);
  execute(db, "PRAGMA hp_offload=force");
  checkRows(db, "unix-excl");
  sqlite3_close(db);
  sqlite3_vfs_unregister(&other);
  removeDb(zFile);
}

/****************************** Damaged chains ****************************/

static const char *const azRead[] = {
  "SELECT v FROM b WHERE id=2",
  "SELECT y FROM b WHERE id=2",
  "SELECT substr(v, 9000, 700), y FROM b WHERE id=2",
  "SELECT length(v) FROM b WHERE id=2",
  "SELECT id, max(v) FROM b",
  "SELECT count(*) FROM b WHERE x>'a'",
};
#define N_READ ((int)(sizeof(azRead)/sizeof(azRead[0])))

/*
** Run azRead[] by both libraries, each on a file of the n bytes at a; if nCut is
** not zero, cut the file to so many bytes after a transaction has begun.
*/
static void compareDamaged(
  const unsigned char *a, int n,
  int nCut, const char *zWhat
){
  const char *azFile[2];
  Text aText[2][N_READ];
  int i, k;
  memset(aText, 0, sizeof(aText));
  azFile[0] = temporaryFile("chains-stock.db");
  azFile[1] = temporaryFile("chains-ours.db");
  for(i=0; i<2; i++){
    const Lib *p = i ? &ours : &stock;
    sqlite3 *db;
    writeFile(azFile[i], a, n);
    db = openDb(p, azFile[i], 0);
    p->exec(db, "BEGIN; SELECT count(*) FROM sqlite_schema", 0, 0, 0);
    if( nCut && truncate(azFile[i], nCut) ) exit(2);
    for(k=0; k<N_READ; k++) answer(p, db, azRead[k], &aText[i][k]);
    p->close(db);
    removeDb(azFile[i]);
  }
  for(k=0; k<N_READ; k++){
    check(strcmp(aText[0][k].z, aText[1][k].z)==0,
          "%s: %s\n stock %.300s\n ours  %.300s", zWhat, azRead[k],
          aText[0][k].z, aText[1][k].z);
    textClear(&aText[0][k]);
    textClear(&aText[1][k]);
  }
}

static void checkDamaged(const char *zPragma){
  const char *zFile = temporaryFile("chains.db");
  unsigned aPage[600];
  char zWhat[200];
  unsigned char *aFile, *aDamaged;
  unsigned szPage, iPg;
  sqlite3 *db;
  int i, k, nFile, n = 0;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  execute(db, zPragma);
  execute(db, "CREATE TABLE b(id INTEGER PRIMARY KEY, x TEXT, v BLOB, y)");
  writeRow(db, 1, 3000);
  writeRow(db, 2, 40000);
  writeRow(db, 3, 50000);
  writeRow(db, 4, 20000);
  deleteRow(db, 1);
  deleteRow(db, 4);
  sqlite3_close(db);
  aFile = readFile(zFile, &nFile);
  aDamaged = readFile(zFile, &nFile);
  removeDb(zFile);
  szPage = get2(&aFile[16]);

  /* Find the chain: its pages hold what row 2 holds */
  content(aExpect, 40000, 2, aVersion[2]);
  for(iPg=2; iPg<=nFile/szPage; iPg++){
    const unsigned char *a = &aFile[(iPg-1)*szPage];
    for(k=0; k<(int)szPage; k++){
      if( memcmp(&a[4], &aExpect[k], 16)==0 ) break;
    }
    if( k<(int)szPage ) break;
  }
  while( iPg && n<600 ){
    aPage[n++] = iPg;
    iPg = get4(&aFile[(iPg-1)*szPage]);
  }
  check(n>=9 && n<100, "%s: a chain of %d pages", zPragma, n);

  snprintf(zWhat, sizeof(zWhat), "%s, whole", zPragma);
  compareDamaged(aDamaged, nFile, 0, zWhat);
  for(i=0; i<n; i+=(i<3 || (i>6 && i<9) || i>=n-3 ? 1 : 3)){
    unsigned aNext[] = { 0, 1, 2, aPage[0], aPage[i], aPage[i]+2, aPage[i]-1,
      nFile/szPage, nFile/szPage+1, 0xffffffff, 0x80000000, 3, aPage[n-1] };
    unsigned char *a = &aDamaged[(aPage[i]-1)*szPage];
    for(k=0; k<(int)(sizeof(aNext)/sizeof(aNext[0])); k++){
      put4(a, aNext[k]);
      snprintf(zWhat, sizeof(zWhat), "%s, page %d of %d names %u", zPragma, i, n,
               aNext[k]);
      compareDamaged(aDamaged, nFile, 0, zWhat);
    }
    put4(a, get4(&aFile[(aPage[i]-1)*szPage]));
    for(k=-1; k<=1; k++){
      snprintf(zWhat, sizeof(zWhat), "%s, ends in page %d of %d (%d)", zPragma,
               i, n, k);
      compareDamaged(aDamaged, nFile,
          (aPage[i]-1)*szPage+(k<0 ? 0 : k==0 ? 3 : szPage/2), zWhat);
    }
  }
  free(aFile);
  free(aDamaged);
}

/******************************** Failures *******************************/

static int iFault;                 /* What fails: 4130 reading, 4131 writing */
static int onFault(int iTest){
  return iTest==iFault && fails();
}

/*
** Every n-th read of a run fails, once and from then on: SQLite's own reads give
** the answer.
*/
static void checkFaults(const char *zPragma){
  const char *zFile = temporaryFile("chains.db");
  sqlite3 *db;
  int n, bMode, nInjected = 0;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  execute(db, zPragma);
  makeRows(db, 1024);
  iFault = 4130;
  sqlite3_test_control(SQLITE_TESTCTRL_FAULT_INSTALL, onFault);
  for(bMode=0; bMode<2; bMode++){
    for(n=0; n<1000000; n = n*3/2+1){
      fault.nLeft = n;
      fault.bForEver = bMode;
      fault.nFailed = 0;
      checkRows(db, "failing reads");
      fault.nLeft = -1;
      nInjected += fault.nFailed;
      if( fault.nFailed==0 ) break;
    }
  }
  sqlite3_test_control(SQLITE_TESTCTRL_FAULT_INSTALL, 0);
  check(nInjected>10, "%s: only %d reads failed", zPragma, nInjected);
  sqlite3_close(db);
  removeDb(zFile);
}

/*
** Every n-th write of several pages fails, once and from then on: SQLite's own
** writes do the work.
*/
static void checkWrites(const char *zPragma){
  const char *zFile = temporaryFile("chains.db");
  int n, bMode, nInjected = 0;
  iFault = 4131;
  sqlite3_test_control(SQLITE_TESTCTRL_FAULT_INSTALL, onFault);
  for(bMode=0; bMode<2; bMode++){
    for(n=0; n<1000000; n = n*3+1){
      sqlite3 *db;
      removeDb(zFile);
      fault.nLeft = n;
      fault.bForEver = bMode;
      fault.nFailed = 0;
      db = openDb(&ours, zFile, 0);
      execute(db, zPragma);
      execute(db, "PRAGMA synchronous=off; PRAGMA cache_size=50; BEGIN");
      makeRows(db, 1024);
      execute(db, "COMMIT");
      scatter(db);
      writeRow(db, 5, 70000);
      fault.nLeft = -1;
      nInjected += fault.nFailed;
      checkIntegrity(&ours, db, "failing writes");
      sqlite3_close(db);
      db = openDb(&ours, zFile, 0);
      checkRows(db, "failing writes");
      sqlite3_close(db);
      if( fault.nFailed==0 ) break;
    }
  }
  sqlite3_test_control(SQLITE_TESTCTRL_FAULT_INSTALL, 0);
  check(nInjected>10, "%s: only %d writes failed", zPragma, nInjected);
  removeDb(zFile);
}

/*
** A process ends in the middle of a transaction whose pages it has written, because
** the cache was too small, or because the file could not grow any more.  Then STOCK
** rolls back or recovers, and the rows are what was committed before.
*/
static void checkCrash(const char *zPragma, int mxFile){
  const char *zFile = temporaryFile("chains.db");
  int status = 0;
  sqlite3 *db;
  pid_t pid;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  execute(db, zPragma);
  execute(db, "PRAGMA wal_autocheckpoint=0; BEGIN");
  makeRows(db, 1024);
  execute(db, "COMMIT");
  scatter(db);
  sqlite3_close(db);
  fflush(stdout);
  pid = fork();
  if( pid==0 ){
    int rc, i;
    db = openDb(&ours, zFile, 0);
    execute(db, "PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=10");
    /* Committed: row 1 is as long as it was, but otherwise */
    writeRow(db, 1, 12345);
    if( mxFile ){
      struct rlimit limit = { mxFile, mxFile };
      signal(SIGXFSZ, SIG_IGN);
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    rc = sqlite3_exec(db, "BEGIN; UPDATE b SET v=randomblob(length(v)+3000)",
                      0, 0, 0);
    for(i=0; i<3 && rc==SQLITE_OK && mxFile; i++){
      rc = sqlite3_exec(db, "INSERT INTO b(v) SELECT v FROM b", 0, 0, 0);
    }
    _exit((rc==SQLITE_OK)!=(mxFile==0));
  }
  waitpid(pid, &status, 0);
  check(status==0, "%s: the transaction ended with %d", zPragma, status);
  aSize[1] = 12345;
  aVersion[1]++;
  /* STOCK reads everything, which rolls back or recovers */
  changeByStock(zFile, "SELECT sum(length(v)) FROM b; DELETE FROM b WHERE id=2");
  aSize[2] = -1;
  db = openDb(&ours, zFile, 0);
  checkRows(db, zPragma);
  checkIntegrity(&ours, db, zPragma);
  sqlite3_close(db);
  removeDb(zFile);
}

/*
** Every n-th allocation fails.
*/
static void checkMemory(const char *zPragma){
  static const char *const azSql[] = {
    "SELECT v FROM b WHERE id=30",
    "SELECT y, substr(v,3000,10) FROM b WHERE id=31",
    "SELECT id%3, max(v), sum(y) FROM b GROUP BY id%3",
  };
  const char *zFile = temporaryFile("chains.db");
  sqlite3 *db;
  int i, n, bMode, nInjected = 0;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  execute(db, zPragma);
  makeRows(db, 1024);
  sqlite3_close(db);
  failMemory(1);
  for(i=0; i<3; i++){
    for(bMode=0; bMode<2; bMode++){
      Text right = {0,0,0};
      int bMore = 1;
      db = openDb(&ours, zFile, 0);
      answer(&ours, db, azSql[i], &right);
      for(n=0; bMore; n++){
        Text got = {0,0,0};
        int rc;
        execute(db, "PRAGMA shrink_memory");
        fault.nLeft = n;
        fault.bForEver = bMode;
        fault.nFailed = 0;
        rc = answer(&ours, db, azSql[i], &got);
        bMore = fault.nFailed>0;
        nInjected += bMore;
        fault.nLeft = -1;
        check(rc==SQLITE_NOMEM || rc==SQLITE_IOERR_NOMEM
              || strcmp(got.z, right.z)==0, "allocation %d%s: %s: %d", n,
              bMode ? " and later" : "", azSql[i], rc);
        textClear(&got);
      }
      check(sqlite3_close(db)==SQLITE_OK, "a statement is left");
      textClear(&right);
    }
  }
  failMemory(0);
  check(nInjected>50, "only %d allocations failed", nInjected);
  removeDb(zFile);
}

int main(int argc, char **argv){
  static const struct { const char *zPragma; int nReserve; } aLayout[] = {
    { "PRAGMA page_size=512", 0 },
    { "PRAGMA page_size=512; PRAGMA auto_vacuum=full", 0 },
    { "PRAGMA page_size=1024; PRAGMA journal_mode=wal", 0 },
    { "PRAGMA page_size=1024; PRAGMA auto_vacuum=incremental;"
      "PRAGMA journal_mode=wal", 40 },
    { "PRAGMA page_size=4096", 0 },
    { "PRAGMA page_size=4096; PRAGMA journal_mode=wal", 255 },
    { "PRAGMA page_size=4096; PRAGMA auto_vacuum=incremental", 12 },
    { "PRAGMA page_size=32768; PRAGMA journal_mode=wal", 0 },
    { "PRAGMA page_size=65536; PRAGMA journal_mode=truncate", 0 },
  };
  int i;
  if( argc!=2 || loadStock(&stock, argv[1]) ){
    fprintf(stderr, "usage: chains STOCK\n");
    return 2;
  }
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
  for(i=0; i<(int)(sizeof(aLayout)/sizeof(aLayout[0])); i++){
    checkLayout(aLayout[i].zPragma, aLayout[i].nReserve);
  }
  checkOthers();
  checkDamaged("PRAGMA page_size=1024");
  checkDamaged("PRAGMA page_size=2048; PRAGMA auto_vacuum=full");
  checkFaults("PRAGMA page_size=1024");
  checkFaults("PRAGMA page_size=1024; PRAGMA journal_mode=wal");
  checkWrites("PRAGMA page_size=1024");
  checkWrites("PRAGMA page_size=1024; PRAGMA journal_mode=wal");
  checkCrash("PRAGMA page_size=1024", 0);
  checkCrash("PRAGMA page_size=1024; PRAGMA auto_vacuum=incremental", 0);
  checkCrash("PRAGMA page_size=1024; PRAGMA journal_mode=wal", 0);
  checkCrash("PRAGMA page_size=1024", 3000000);
  checkCrash("PRAGMA page_size=1024; PRAGMA journal_mode=wal", 6000000);
  checkMemory("PRAGMA page_size=1024");
  checkMemory("PRAGMA page_size=1024; PRAGMA journal_mode=wal");
  return finish();
}
