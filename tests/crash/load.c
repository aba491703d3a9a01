/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Random transactions.
**
** Transaction number k of seed S is a function of S, k and what the database
** holds: whoever carries it out, on whatever file, gets the same contents.
** The table meta holds k, so that writers who take turns, or are killed, or
** replay what others did, all know which one is next.
**
** Tables t0, t1, ... are of four kinds (their number modulo 4): with an
** INTEGER PRIMARY KEY, which is given in no order, and two indexes; without
** one, and an index of two columns; WITHOUT ROWID; rows at the end only and
** no index.  All have columns a, s and b, so that one statement fits all.
**
** Of 64 transactions in a row the first 44 mostly insert, one row to
** thousands in as many tables as there are, so that they grow together; the
** others mostly delete and drop.  A row may have a blob of many pages.
*/
#include <stdlib.h>
#include <string.h>
#include "crash.h"

#define N_PERIOD  64         /* Transactions from one growth to the next */
#define N_GROW    44         /* Of these, how many mostly insert */

/*
** Settings that follow from the seed.  Half of the databases have a page
** cache of few pages, so that much is written before the commit.
*/
void setupInit(Setup *p, u64 iSeed){
  static const int aVacuum[] = { 0, 0, 0, 1, 2, 2 };
  static const int aPage[] = { 512, 1024, 1024, 4096, 4096, 8192, 65536 };
  static const char *const azJournal[] = {
    "delete", "truncate", "persist", "wal", "wal"
  };
  static const char *const azSecure[] = { "off", "on", "fast" };
  static const char *const azExtent[] = {
    "auto", "auto", "auto", "off", "2", "7", "32", "256"
  };
  static const int aRow[] = { 100, 1000, 4000, 12000 };
  static const int aBlob[] = { 100, 3000, 20000, 200000 };
  static const int aBulk[] = { 10, 300, 3000 };
  Rng r = rngSeed(iSeed, 1);
  memset(p, 0, sizeof(*p));
  p->iSeed = iSeed;
  p->szPage = aPage[rngBelow(&r, 7)];
  p->eVacuum = aVacuum[rngBelow(&r, 6)];
  p->zJournal = azJournal[rngBelow(&r, 5)];
  p->zSync = rngBelow(&r, 2) ? "full" :
             strcmp(p->zJournal, "wal")==0 ? "normal" : "extra";
  p->zSecure = azSecure[rngBelow(&r, 3)];
  p->zExtent = azExtent[rngBelow(&r, 8)];
  /* Files of hundreds of megabytes would leave no time for anything else */
  if( p->szPage*atoi(p->zExtent)>(256<<10) ) p->zExtent = "7";
  p->nCache = rngBelow(&r, 2) ? 10 + rngBelow(&r, 40) : -2000;
  p->nTable = 1 + rngBelow(&r, 8);
  p->nRow = aRow[rngBelow(&r, 4)];
  p->nBlob = aBlob[rngBelow(&r, 4)];
  p->nBulk = aBulk[rngBelow(&r, 3)];
  p->bVacuum = rngBelow(&r, 3)==0;
  /* Down among the pages of these small files, in one case of three */
  p->iLock = rngBelow(&r, 3)==0 ? (i64)65536*(1 + rngBelow(&r, 20)) : 0;
}

void setupPrint(FILE *out, const Setup *p){
  fprintf(out, "seed %llu: page_size %d, auto_vacuum %d, journal_mode %s,"
     " synchronous %s, secure_delete %s, hp_extent %s, cache_size %d,"
     " %d tables, %d rows, blobs to %d, bulk %d, vacuum %d, lock byte %lld\n",
     (unsigned long long)p->iSeed, p->szPage, p->eVacuum, p->zJournal,
     p->zSync, p->zSecure, p->zExtent, p->nCache, p->nTable, p->nRow,
     p->nBlob, p->nBulk, p->bVacuum, (long long)p->iLock);
}

/*
** Move the lock-byte page.  Holds for the process, and must come before a
** database is opened.
*/
void setupLockByte(const Setup *p){
  if( p->iLock==0 ) return;
  stock.test_control(SQLITE_TESTCTRL_PENDING_BYTE, (unsigned)p->iLock);
  ours.test_control(SQLITE_TESTCTRL_PENDING_BYTE, (unsigned)p->iLock);
}

/*
** Open a connection with the settings.  Stock takes no notice of the one that
** is ours.
*/
int loadOpen(
  Db *p,
  const Lib *pLib,
  const Setup *pSetup,
  const char *zFile,
  const char *zVfs
){
  int rc = dbOpen(p, pLib, zFile, zVfs);
  if( rc ) return rc;
  rc = dbRun(p, "PRAGMA page_size=%d; PRAGMA auto_vacuum=%d;"
    "PRAGMA hp_extent=%s; PRAGMA hp_offload=%s; PRAGMA cache_size=%d;"
    "PRAGMA secure_delete=%s; PRAGMA synchronous=%s; PRAGMA journal_mode=%s;"
    "PRAGMA wal_autocheckpoint=100;",
    pSetup->szPage, pSetup->eVacuum, pSetup->zExtent,
    strcmp(pSetup->zExtent, "off") ? "on" : "off", pSetup->nCache,
    pSetup->zSecure, pSetup->zSync, pSetup->zJournal);
  p->iAnswer = 0;
  return rc;
}

int loadCreate(Db *p){
  return dbRun(p, "CREATE TABLE meta(k INTEGER); INSERT INTO meta VALUES(0);");
}

/*
** The number of the last transaction, or less than 0 on an error.
*/
i64 loadCount(Db *p){
  return dbInt(p, "SELECT k FROM meta");
}

static int makeTable(Db *p, int i){
  static const char *const azSql[] = {
    "CREATE TABLE IF NOT EXISTS t%d(id INTEGER PRIMARY KEY, a, s TEXT, b);"
    "CREATE INDEX IF NOT EXISTS t%da ON t%d(a);"
    "CREATE INDEX IF NOT EXISTS t%ds ON t%d(s);",
    "CREATE TABLE IF NOT EXISTS t%d(a, s TEXT, b);"
    "CREATE INDEX IF NOT EXISTS t%dsa ON t%d(s,a);",
    "CREATE TABLE IF NOT EXISTS t%d(a, s TEXT, b, PRIMARY KEY(s,a))"
    " WITHOUT ROWID;",
    "CREATE TABLE IF NOT EXISTS t%d(id INTEGER PRIMARY KEY, a, s TEXT, b);",
  };
  char zSql[400];
  snprintf(zSql, sizeof(zSql), azSql[i%4], i, i, i, i, i);
  return dbRun(p, "%s", zSql);
}

/*
** Up to nRow rows for table i.
*/
static int insertRows(Db *p, const Setup *pSetup, Rng *r, int i, int nRow){
  i64 s = rngNext(r)>>16;
  int hasId = i%4==0;
  int nText = 1 + rngBelow(r, 60);
  /* Long blobs are rare where there are many rows, so that all of it ends */
  int nBlob = pSetup->nBlob;
  int nEvery = 2 + nBlob/400;
  char zId[100] = "";
  if( nRow>100 ) nEvery *= 8;
  if( hasId ){
    static const char *const azId[] = {
      "NULL,", "mix(%lld+i)%%1000000,", "%lld%%1000000+i,"
    };
    snprintf(zId, sizeof(zId), azId[rngBelow(r, 3)], s);
  }
  return dbRun(p,
    "WITH RECURSIVE n(i) AS (SELECT 1 WHERE (SELECT count(*) FROM t%d)<%d"
    " UNION ALL SELECT i+1 FROM n WHERE i<%d)"
    " INSERT OR REPLACE INTO t%d(%sa,s,b) SELECT %s"
    " CASE mix(%lld-i)%%9 WHEN 0 THEN %s WHEN 1 THEN mix(i)%%9999/8.0"
    "  ELSE mix(%lld+i)%%10000 END,"
    " hex(fill(%lld+i,mix(i+%lld)%%%d)),"
    " CASE WHEN mix(%lld*3+i)%%%d=0 THEN fill(i+%lld,mix(i-%lld)%%%d) END"
    " FROM n",
    i, pSetup->nRow, nRow, i, hasId ? "id," : "", zId, s, i%4==2 ? "-1" : "NULL", s, s, s, nText,
    s, nEvery, s, s, nBlob);
}

/*
** All tables grow, by a few rows each time.
*/
static int growTogether(Db *p, const Setup *pSetup, Rng *r, int nRow){
  int nEach = 1 + rngBelow(r, nRow>100 ? 100 : 4);
  int nRound = nRow/(nEach*pSetup->nTable);
  int i, j, rc = SQLITE_OK;
  if( nRound>100 ) nRound = 100;
  for(i=0; i<=nRound; i++){
    for(j=0; j<pSetup->nTable && rc==SQLITE_OK; j++){
      rc = insertRows(p, pSetup, r, j, nEach);
    }
  }
  return rc;
}

/*
** Part of a large value is read and written in its place.
*/
static int changeBlob(Db *p, Rng *r, int i){
  const Lib *pLib = p->pLib;
  sqlite3_blob *pBlob = 0;
  char zTable[20];
  unsigned char *a;
  int n, iFrom, nPart, rc;
  i64 iRow;
  if( i%4==2 ) return SQLITE_OK;
  iRow = dbInt(p, "SELECT rowid FROM t%d WHERE length(b)>0 AND"
     " typeof(b)='blob' ORDER BY length(b) DESC, rowid LIMIT 1 OFFSET %d",
     i, rngBelow(r, 3));
  if( iRow==-2 ) return pLib->extended_errcode(p->db);
  if( iRow<0 ) return SQLITE_OK;
  snprintf(zTable, sizeof(zTable), "t%d", i);
  rc = pLib->blob_open(p->db, "main", zTable, "b", iRow, 1, &pBlob);
  if( rc==SQLITE_OK ){
    n = pLib->blob_bytes(pBlob);
    iFrom = rngBelow(r, n);
    nPart = 1 + rngBelow(r, n - iFrom);
    a = malloc(n);
    if( a==0 ) abort();
    rc = pLib->blob_read(pBlob, a, n, 0);
    if( rc==SQLITE_OK ){
      p->iAnswer = hashBytes(p->iAnswer, a, n);
      memset(a, (int)rngNext(r), n);
      rc = pLib->blob_write(pBlob, a, nPart, iFrom);
    }
    free(a);
  }
  pLib->blob_close(pBlob);
  if( rc ){
    snprintf(p->zErr, sizeof(p->zErr), "%s: error %d on a blob of %s",
             pLib->zName, rc, zTable);
  }
  return rc;
}

/*
** Rows are inserted into table j while a cursor moves over table i.
*/
static int insertWhileReading(Db *p, Rng *r, int i, int j){
  const Lib *pLib = p->pLib;
  sqlite3_stmt *pStmt = 0;
  char zSql[200];
  int rc, n;
  snprintf(zSql, sizeof(zSql),
           "SELECT a, length(s) FROM t%d WHERE a>%d", i, rngBelow(r, 10000));
  rc = pLib->prepare_v2(p->db, zSql, -1, &pStmt, 0);
  /* A row that is inserted may come up later: end after so many */
  for(n=0; rc==SQLITE_OK && n<200; n++){
    i64 a;
    rc = pLib->step(pStmt);
    if( rc!=SQLITE_ROW ) break;
    rc = SQLITE_OK;
    a = pLib->column_int64(pStmt, 0);
    p->iAnswer = hashBytes(p->iAnswer, &a, sizeof(a));
    if( n%5==0 ){
      rc = dbRun(p, "INSERT OR REPLACE INTO t%d(a,s,b)"
         " VALUES(%lld,'w'||%d,fill(%d,mix(%d)%%300))", j, a, n, n, n);
    }
  }
  pLib->finalize(pStmt);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

/*
** Questions, for their answers.
*/
static int ask(Db *p, Rng *r, int i){
  int x = rngBelow(r, 10000);
  return dbRun(p,
    "SELECT count(*), sum(a), sum(length(b)) FROM t%d;"
    "SELECT a, s, length(b) FROM t%d WHERE a>%d ORDER BY a, s LIMIT 20;"
    "SELECT s, substr(b,3000,9) FROM t%d WHERE s<'%X' ORDER BY s DESC, a"
    " LIMIT 20;"
    "SELECT count(*), max(s) FROM t%d WHERE a BETWEEN %d AND %d;",
    i, i, x, i, x, i, x, x + 1000);
}

static int oneChange(Db *p, const Setup *pSetup, Rng *r, int bGrow){
  int i = rngBelow(r, pSetup->nTable);
  i64 s = rngNext(r)>>16;
  u64 iSave;
  int nRow;
  int rc = SQLITE_OK;
  switch( rngBelow(r, 4) ){
    case 0:  nRow = 1; break;
    case 1:  nRow = 1 + rngBelow(r, 10); break;
    default: nRow = 1 + rngBelow(r, pSetup->nBulk); break;
  }
  switch( rngBelow(r, bGrow ? 14 : 20) ){
    case 0: case 1: case 2: case 3:
      return insertRows(p, pSetup, r, i, nRow);
    case 4: case 5: case 6:
      return growTogether(p, pSetup, r, nRow);
    case 7:
      return dbRun(p, "UPDATE OR REPLACE t%d SET a=mix(a+%lld)%%10000"
         " WHERE mix(a)%%%d=0", i, s, 1 + rngBelow(r, 50));
    case 8:
      return dbRun(p, "UPDATE t%d SET b=fill(%lld+a,mix(a)%%%d)"
         " WHERE mix(a-%lld)%%%d=0", i, s, pSetup->nBlob, s,
         20 + pSetup->nBlob/100);
    case 9:
      return changeBlob(p, r, i);
    case 10:
      return dbRun(p, "DELETE FROM t%d WHERE mix(a+%lld)%%%d=0", i, s,
         2 + rngBelow(r, 50));
    case 11:
      return insertWhileReading(p, r, i, rngBelow(r, pSetup->nTable));
    case 12:
      return ask(p, r, i);
    case 13:
      return dbRun(p, "UPDATE OR REPLACE t%d SET s=s||hex(fill(a,%d))"
         " WHERE a BETWEEN %d AND %d", i, rngBelow(r, 30),
         (int)(s%10000), (int)(s%10000 + rngBelow(r, 500)));
    case 14: case 15:
      return dbRun(p, "DELETE FROM t%d WHERE a>%d", i, rngBelow(r, 10000));
    case 16:
      return dbRun(p, "DELETE FROM t%d", i);
    case 17:
      return dbRun(p, "DROP TABLE t%d", i);
    case 18:
      rc = dbRun(p, "DROP INDEX IF EXISTS t%da; DROP INDEX IF EXISTS t%dsa",
                 i, i);
      if( rc==SQLITE_OK && rngBelow(r, 2) ) rc = makeTable(p, i);
      return rc;
    default:
      /* It gives a row for each page that it frees: of those no two files
      ** need to have the same number */
      iSave = p->iAnswer;
      rc = dbRun(p, "PRAGMA incremental_vacuum(%d)", rngBelow(r, 40));
      p->iAnswer = iSave;
      return rc;
  }
}

/*
** Make the tables that are missing.
*/
static int makeTables(Db *p, const Setup *pSetup){
  int i, rc = SQLITE_OK;
  for(i=0; i<pSetup->nTable && rc==SQLITE_OK; i++) rc = makeTable(p, i);
  return rc;
}

/*
** What transaction k does.
*/
static int changes(Db *p, const Setup *pSetup, Rng *r, i64 k){
  int bGrow = k%N_PERIOD<N_GROW;
  int n = 1 + rngBelow(r, 4);
  int rc = SQLITE_OK;
  while( n-- && rc==SQLITE_OK ){
    int eUndo = rngBelow(r, 6);    /* 0: roll back, 1: a savepoint, kept */
    rc = makeTables(p, pSetup);
    if( rc==SQLITE_OK && eUndo<2 ) rc = dbRun(p, "SAVEPOINT one");
    if( rc==SQLITE_OK ) rc = oneChange(p, pSetup, r, bGrow);
    if( rc==SQLITE_OK && eUndo==0 ) rc = dbRun(p, "ROLLBACK TO one");
    if( rc==SQLITE_OK && eUndo<2 ) rc = dbRun(p, "RELEASE one");
  }
  return rc;
}

/*
** Carry out the next transaction.  One of eight is first tried and rolled
** back as a whole.
*/
int loadStep(Db *p, const Setup *pSetup, void (*xLog)(int, i64)){
  Rng r;
  i64 k;
  int rc;
  while( ((rc = dbRun(p, "BEGIN IMMEDIATE"))&0xff)==SQLITE_BUSY );
  if( rc ) return rc;
  k = loadCount(p);
  if( k<0 ) return SQLITE_ERROR;
  r = rngSeed(pSetup->iSeed, 1000 + k);
  if( rngBelow(&r, 8)==0 ){
    rc = changes(p, pSetup, &r, k);
    if( rc==SQLITE_OK ) rc = dbRun(p, "ROLLBACK");
    if( rc ) return rc;
    while( ((rc = dbRun(p, "BEGIN IMMEDIATE"))&0xff)==SQLITE_BUSY );
    if( rc ) return rc;
    k = loadCount(p);
    if( k<0 ) return SQLITE_ERROR;
  }
  k++;
  r = rngSeed(pSetup->iSeed, 1000000000 + k);
  rc = changes(p, pSetup, &r, k);
  if( rc==SQLITE_OK ) rc = dbRun(p, "UPDATE meta SET k=k+1");
  if( rc ) return rc;
  if( xLog ) xLog(LOG_COMMIT, k);
  do{
    rc = dbRun(p, "COMMIT");
  }while( (rc&0xff)==SQLITE_BUSY );
  if( rc==SQLITE_OK && xLog ) xLog(LOG_DONE, k);
  return rc;
}

/*
** What cannot be done in a transaction, now and then after transaction k.
** Others may be in the way: that it does not happen then is no error.
*/
int loadAfter(Db *p, const Setup *pSetup, i64 k){
  static const char *const azMode[] = {
    "passive", "full", "restart", "truncate"
  };
  Rng r = rngSeed(pSetup->iSeed, 2000000000 + k);
  u64 iSave = p->iAnswer;
  int rc = SQLITE_OK;
  if( rngBelow(&r, 30)==0 ){
    rc = dbRun(p, "PRAGMA wal_checkpoint(%s)", azMode[rngBelow(&r, 4)]);
  }
  if( rc==SQLITE_OK && pSetup->bVacuum && rngBelow(&r, 25)==0 ){
    rc = dbRun(p, "VACUUM");
  }
  p->iAnswer = iSave;
  return (rc&0xff)==SQLITE_BUSY || (rc&0xff)==SQLITE_LOCKED ? SQLITE_OK : rc;
}
