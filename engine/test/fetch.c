/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** fetch: rows by hp_row() and hp_fetch() are those that sqlite3_step() gives.
**
**   1. Queries of every shape over values of every kind, read once column by column
**      and once by hp_row() and hp_fetch(), with buffers of many sizes and many limits of rows:
**      the same rows, the same counters.
**   2. The same while the table is changed between two calls, by statements of the
**      same connection, at the same row in both.
**   3. It says that there is no row after one only where there is none.
**   4. Where hp_fetch() must stand aside: UTF-16, a shared cache, tracing, a
**      progress handler, an interrupt, an offload that is off, statements that
**      are not at a row.
**   5. Files that are damaged: the same rows up to the same error.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hptest.h"
#include "hpsqlite.h"

/* A statement that changes something once so many rows have been read */
typedef struct Change Change;
struct Change {
  int iRow;              /* After this many rows; 0: never */
  const char *zSql;
};

/* How to read */
typedef struct Way Way;
struct Way {
  int bFetch;            /* By hp_row() and hp_fetch() */
  int nBuf;              /* Bytes of its buffer */
  int mxRow;             /* Rows a call */
};

static sqlite3_int64 nFetched;   /* Rows that came by hp_fetch() */
static sqlite3_int64 nPacked;    /* Rows that came by hp_row() */
static int nEnd;                 /* Times it said that there are none */

static void appendBytes(Text *pOut, const char *zType, const void *p, int n){
  textAppend(pOut, "%s%d:", zType, n);
  textHex(pOut, p, n);
  textAppend(pOut, "|");
}

static void appendInt(Text *pOut, sqlite3_int64 v){
  textAppend(pOut, "i%lld|", (long long)v);
}

static void appendReal(Text *pOut, double r){
  sqlite3_int64 v;
  memcpy(&v, &r, sizeof(v));
  textAppend(pOut, "r%llx|", (long long)v);
}

/* The row that a statement is at */
static void appendRow(Text *pOut, sqlite3_stmt *p){
  int i, n = sqlite3_data_count(p);
  for(i=0; i<n; i++){
    switch( sqlite3_column_type(p, i) ){
      case SQLITE_INTEGER: appendInt(pOut, sqlite3_column_int64(p, i)); break;
      case SQLITE_FLOAT: appendReal(pOut, sqlite3_column_double(p, i)); break;
      case SQLITE_TEXT: {
        const void *z = sqlite3_column_text(p, i);
        appendBytes(pOut, "t", z, sqlite3_column_bytes(p, i));
        break;
      }
      case SQLITE_BLOB: {
        const void *z = sqlite3_column_blob(p, i);
        appendBytes(pOut, "b", z, sqlite3_column_bytes(p, i));
        break;
      }
      default: textAppend(pOut, "-|"); break;
    }
  }
  textAppend(pOut, "\n");
}

/* The packed row of nCol columns at aBuf[iAt].  Return its size. */
static unsigned appendPacked(
  Text *pOut, const unsigned char *aBuf, sqlite3_int64 iAt, int nCol
){
  const unsigned char *aType = &aBuf[iAt+8];
  const unsigned char *aCell = aType + (nCol+7)/8*8;
  unsigned nRow;
  int i;
  for(i=0; i<nCol; i++){
    sqlite3_int64 v;
    double r;
    unsigned aPlace[2];
    memcpy(&v, &aCell[8*i], sizeof(v));
    memcpy(&r, &aCell[8*i], sizeof(r));
    memcpy(aPlace, &aCell[8*i], sizeof(aPlace));
    switch( aType[i] ){
      case SQLITE_INTEGER: appendInt(pOut, v); break;
      case SQLITE_FLOAT: appendReal(pOut, r); break;
      case SQLITE_TEXT: appendBytes(pOut, "t", &aBuf[aPlace[0]], aPlace[1]); break;
      case SQLITE_BLOB: appendBytes(pOut, "b", &aBuf[aPlace[0]], aPlace[1]); break;
      default: textAppend(pOut, "-|"); break;
    }
  }
  textAppend(pOut, "\n");
  memcpy(&nRow, &aBuf[iAt], sizeof(nRow));
  return nRow;
}

/* The row that a statement is at, by hp_row() if it gives it in nBuf bytes */
static void appendRowPacked(Text *pOut, sqlite3_stmt *p, unsigned char *aBuf,
                            int nBuf){
  sqlite3_int64 iEnd = 0;
  if( hp_row(p, aBuf, nBuf, &iEnd) ){
    unsigned n = appendPacked(pOut, aBuf, 0, sqlite3_data_count(p));
    check(iEnd==n && iEnd<=nBuf, "a row of %u bytes ends at %lld", n,
          (long long)iEnd);
    nPacked++;
  }else{
    check(iEnd==0, "there is no row, and it ends at %lld", (long long)iEnd);
    appendRow(pOut, p);
  }
}

/* All rows of a query, and what its counters say in the end. */
static void readAll(sqlite3 *db, const char *zSql, Way way, Change change,
                    Text *pOut){
  sqlite3_stmt *p = prepared(db, zSql);
  int nCol = sqlite3_column_count(p);
  /* Exactly as large as it is said to be, for the sanitizer. */
  unsigned char *aBuf = malloc(way.nBuf ? way.nBuf : 1);
  int nRow = 0, bEnd = 0, rc;
  textClear(pOut);
  while( (rc = sqlite3_step(p))==SQLITE_ROW ){
    int mx = way.mxRow;
    check(!bEnd, "%s: a row after the end", zSql);
    if( way.bFetch ) appendRowPacked(pOut, p, aBuf, way.nBuf);
    else appendRow(pOut, p);
    nRow++;
    if( change.iRow>nRow && mx>change.iRow-nRow ) mx = change.iRow-nRow;
    if( way.bFetch && nRow!=change.iRow ){
      sqlite3_int64 iEnd = 0, iAt = 0;
      int n = hp_fetch(p, aBuf, way.nBuf, &iEnd, mx);
      int i;
      check(n<=mx && iEnd<=way.nBuf && (n>0)==(iEnd>0),
            "%s: %d rows in %lld bytes", zSql, n, (long long)iEnd);
      if( n<0 ){
        bEnd = 1;
        nEnd++;
        n = 0;
      }
      if( n>0 ) check(sqlite3_data_count(p)==0, "%s: columns after hp_fetch()",
                      zSql);
      for(i=0; i<n; i++) iAt += appendPacked(pOut, aBuf, iAt, nCol);
      check(iAt==iEnd, "%s: %d rows end at %lld, not %lld", zSql, n,
            (long long)iAt, (long long)iEnd);
      nRow += n;
      nFetched += n;
    }
    if( nRow==change.iRow ){
      textAppend(pOut, "rc %d\n", sqlite3_exec(db, change.zSql, 0, 0, 0));
    }
  }
  textAppend(pOut, "rc %d, %d rows, %d steps of a scan, %d instructions\n", rc,
             nRow, sqlite3_stmt_status(p, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0),
             sqlite3_stmt_status(p, SQLITE_STMTSTATUS_VM_STEP, 0));
  sqlite3_finalize(p);
  free(aBuf);
}

static const Way byStep = { 0, 0, 0 };
static const Change nothing = { 0, 0 };

/* Values of every kind in tables of every kind */
static void makeTables(sqlite3 *db, int nRow){
  char zSql[2000];
  execute(db,
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a, r REAL, s TEXT, b BLOB, n NUMERIC);"
    "CREATE TABLE w(k TEXT, v, r REAL, PRIMARY KEY(k, v)) WITHOUT ROWID;"
    "CREATE TABLE u(a, s);");
  snprintf(zSql, sizeof(zSql),
    "WITH n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<%d)"
    "INSERT INTO t SELECT i*3, CASE i%%13 WHEN 0 THEN NULL WHEN 1 THEN 0 WHEN 2"
    " THEN 1 WHEN 3 THEN -i WHEN 4 THEN i*1000 WHEN 5 THEN -i*100000 WHEN 6 THEN"
    " i*1000000000 WHEN 7 THEN -i*10000000000000 WHEN 8 THEN 9223372036854775807"
    " WHEN 9 THEN i/7.0 WHEN 10 THEN 'text'||i WHEN 11 THEN x'00ff' ELSE '' END,"
    " CASE WHEN i%%3 THEN i ELSE i/4.0 END,"
    " CASE WHEN i%%97=0 THEN hex(zeroblob(i*2)) WHEN i%%5=0 THEN NULL"
    " ELSE substr('some text that is not so short, with '||char(0,228,8364),"
    " 1, i%%50) END,"
    " CASE WHEN i%%89=0 THEN zeroblob(i*5) WHEN i%%4 THEN zeroblob(i%%9) END,"
    " i FROM n", nRow);
  execute(db, zSql);
  execute(db,
    "INSERT INTO w SELECT coalesce(s,'')||id, a, r FROM t WHERE a IS NOT NULL;"
    "INSERT INTO u SELECT a, s FROM t;"
    "ALTER TABLE u ADD COLUMN d DEFAULT 'a default';"
    "INSERT INTO u SELECT a, s, id FROM t WHERE id%7=0;"
    "CREATE INDEX ti ON t(n, a); CREATE INDEX us ON u(s);");
}

static const struct {
  const char *zSql;
  int bFetch;            /* hp_fetch() does some of it; -1: the plan decides */
} aQuery[] = {
  { "SELECT * FROM t", 1 },
  { "SELECT * FROM t ORDER BY id DESC", 1 },
  { "SELECT id, a FROM t NOT INDEXED", 1 },
  { "SELECT r, id, r, s, id FROM t", 1 },
  { "SELECT rowid FROM t NOT INDEXED", 1 },
  { "SELECT b FROM t WHERE id>300", 1 },
  { "SELECT * FROM t LIMIT 77", 1 },
  { "SELECT * FROM t LIMIT 1", 0 },
  { "SELECT * FROM t LIMIT 0", 0 },
  { "SELECT * FROM t LIMIT -1", 1 },
  { "SELECT id, s FROM t LIMIT 50 OFFSET 20", 0 },
  { "SELECT * FROM w", 1 },
  { "SELECT v FROM w ORDER BY k DESC, v DESC", 1 },
  { "SELECT * FROM u", 1 },
  { "SELECT d FROM u", 1 },
  { "SELECT rowid, d, s FROM u ORDER BY rowid DESC LIMIT 300", 1 },
  { "SELECT n, a FROM t ORDER BY n", 1 },
  { "SELECT n, a, id FROM t INDEXED BY ti", 0 },
  { "SELECT s FROM u WHERE s>'some' ORDER BY s", 1 },
  { "SELECT id+1 FROM t", 0 },
  { "SELECT 'x', id FROM t", 0 },
  { "SELECT * FROM t WHERE a>5", 0 },
  { "SELECT t.id, u.a FROM t, u WHERE u.rowid=t.id", 0 },
  { "SELECT a, count(*) FROM t GROUP BY a", 0 },
  { "SELECT * FROM (SELECT * FROM t UNION ALL SELECT * FROM t)", -1 },
  { "SELECT s FROM t ORDER BY s", 0 },
  { "SELECT * FROM t WHERE id=30", 0 },
  { "SELECT 1", 0 },
  { "VALUES(1),(2),(3)", 0 },
  { "EXPLAIN SELECT * FROM t", 0 },
  { "PRAGMA table_info(t)", 0 },
  { "INSERT INTO u SELECT a, s, 1 FROM t WHERE id<100 RETURNING rowid, a", 1 },
};

static void testQueries(sqlite3 *db, const char *zWhat){
  static const int aBuf[] = { 0, 100, 1000, 70000 };
  static const int aRow[] = { 1, 7, 1000000 };
  Text a = { 0, 0, 0 }, b = { 0, 0, 0 };
  int i, j, k;
  for(i=0; i<(int)(sizeof(aQuery)/sizeof(aQuery[0])); i++){
    nFetched = nPacked = 0;
    for(j=0; j<(int)(sizeof(aBuf)/sizeof(int)); j++){
      for(k=0; k<(int)(sizeof(aRow)/sizeof(int)); k++){
        Way way = { 1, aBuf[j], aRow[k] };
        execute(db, "SAVEPOINT before");
        readAll(db, aQuery[i].zSql, byStep, nothing, &a);
        execute(db, "ROLLBACK TO before");
        readAll(db, aQuery[i].zSql, way, nothing, &b);
        execute(db, "ROLLBACK TO before; RELEASE before");
        check(strcmp(a.z, b.z)==0, "%s: %s: others with %d bytes, %d rows",
              zWhat, aQuery[i].zSql, aBuf[j], aRow[k]);
      }
    }
    check((nPacked>0)==(strcmp(aQuery[i].zSql, "SELECT * FROM t LIMIT 0")!=0),
          "%s: %s: hp_row() gave %lld rows", zWhat, aQuery[i].zSql,
          (long long)nPacked);
    if( aQuery[i].bFetch<0 ) continue;
    check((nFetched>0)==aQuery[i].bFetch, "%s: %s: hp_fetch() gave %lld rows",
          zWhat, aQuery[i].zSql, (long long)nFetched);
  }
  textClear(&a);
  textClear(&b);
}

static void testChanges(sqlite3 *db){
  static const char *const azChange[] = {
    "DELETE FROM t WHERE id%2",
    "DELETE FROM t",
    "UPDATE t SET s='changed', a=a||'x' WHERE id>100",
    "UPDATE t SET id=id+1000000 WHERE id>500",
    "INSERT INTO t(s) SELECT s FROM t",
    "INSERT INTO t(id, s) SELECT id+1, s FROM t WHERE (id+1)%3",
    "DELETE FROM t WHERE id BETWEEN 100 AND 1500; PRAGMA incremental_vacuum",
    "CREATE TABLE another(x); DROP TABLE another",
    "CREATE TABLE another(x); INSERT INTO another SELECT s FROM t",
  };
  static const int aRow[] = { 1, 3, 33, 100, 333 };
  static const char *const azSql[] = {
    "SELECT * FROM t", "SELECT * FROM t ORDER BY id DESC",
    "SELECT n, a FROM t ORDER BY n", "SELECT id, s FROM t LIMIT 400",
  };
  Text a = { 0, 0, 0 }, b = { 0, 0, 0 };
  int i, j, k;
  Way way = { 1, 3000, 1000 };
  for(i=0; i<(int)(sizeof(azChange)/sizeof(char*)); i++){
    for(j=0; j<(int)(sizeof(aRow)/sizeof(int)); j++){
      for(k=0; k<(int)(sizeof(azSql)/sizeof(char*)); k++){
        Change change = { aRow[j], azChange[i] };
        execute(db, "SAVEPOINT before");
        readAll(db, azSql[k], byStep, change, &a);
        execute(db, "ROLLBACK TO before");
        readAll(db, azSql[k], way, change, &b);
        execute(db, "ROLLBACK TO before; RELEASE before");
        check(strcmp(a.z, b.z)==0, "%s, after %d rows: %s", azSql[k], aRow[j],
              azChange[i]);
      }
    }
  }
  textClear(&a);
  textClear(&b);
}

/* Rows that hp_fetch() gives in this state */
static sqlite3_int64 fetchable(sqlite3 *db){
  Text a = { 0, 0, 0 };
  Way way = { 1, 100000, 1000 };
  nFetched = 0;
  readAll(db, "SELECT id, s FROM t", way, nothing, &a);
  textClear(&a);
  return nFetched;
}

static int trace(unsigned e, void *pArg, void *p, void *x){
  (void)e; (void)p; (void)x;
  ++*(int*)pArg;
  return 0;
}

static int progress(void *pArg){
  ++*(int*)pArg;
  return 0;
}

/* Queries whose program tells that a row is the last one, and some of which it
** does not */
static void testEnds(sqlite3 *db){
  static const struct { const char *zSql; int nEnd; } a[] = {
    { "SELECT * FROM t WHERE id=30", 1 },
    { "SELECT * FROM t WHERE id=31", 0 },
    { "SELECT count(*) FROM t", 1 },
    { "SELECT max(id), min(a) FROM t WHERE id>5", 1 },
    { "SELECT 1", 1 },
    { "SELECT id FROM t LIMIT 1", 1 },
    { "SELECT id FROM t ORDER BY id DESC LIMIT 3", 1 },
    { "SELECT v FROM w WHERE k='30' AND v='text10'", 1 },
    { "SELECT id FROM t WHERE n=30", 0 },
    { "SELECT id FROM t", 0 },
    { "VALUES(1),(2)", 0 },
  };
  Text x = { 0, 0, 0 };
  int i;
  for(i=0; i<(int)(sizeof(a)/sizeof(a[0])); i++){
    Way way = { 1, 4096, 1 };
    nEnd = 0;
    readAll(db, a[i].zSql, way, nothing, &x);
    check(nEnd==a[i].nEnd, "%s: the end was told %d times", a[i].zSql, nEnd);
  }
  textClear(&x);
}

static void testAside(sqlite3 *db){
  unsigned char aBuf[800];
  sqlite3_int64 iAt = 0;
  sqlite3_stmt *p = prepared(db, "SELECT id, s FROM t");
  sqlite3 *db2;
  int n = 0;
  check(fetchable(db)>0, "nothing is fetched");
  sqlite3_trace_v2(db, SQLITE_TRACE_ROW, trace, &n);
  check(fetchable(db)==0 && n>100, "rows are not traced: %d", n);
  sqlite3_trace_v2(db, 0, 0, 0);
  n = 0;
  sqlite3_progress_handler(db, 1, progress, &n);
  check(fetchable(db)==0 && n>100, "the progress handler is not called: %d", n);
  sqlite3_progress_handler(db, 0, 0, 0);
  execute(db, "PRAGMA hp_offload=off");
  check(fetchable(db)==0, "hp_offload=off, and rows are fetched");
  execute(db, "PRAGMA hp_offload=on");

  check(hp_fetch(p, aBuf, sizeof(aBuf), &iAt, 10)==0, "before the first row");
  check(hp_row(p, aBuf, sizeof(aBuf), &iAt)==0, "hp_row() before the first row");
  check(hp_row(0, aBuf, sizeof(aBuf), &iAt)==0, "hp_row() without a statement");
  check(hp_fetch(0, aBuf, sizeof(aBuf), &iAt, 10)==0, "no statement");
  sqlite3_step(p);
  check(hp_row(p, 0, sizeof(aBuf), &iAt)==0, "hp_row() without a buffer");
  check(hp_row(p, aBuf, sizeof(aBuf), 0)==0, "hp_row() without a place");
  check(hp_row(p, aBuf, 31, &iAt)==0 && iAt==0, "hp_row() without room");
  check(hp_fetch(p, 0, sizeof(aBuf), &iAt, 10)==0, "no buffer");
  check(hp_fetch(p, aBuf, sizeof(aBuf), 0, 10)==0, "no place");
  check(hp_fetch(p, aBuf, sizeof(aBuf), &iAt, 0)==0, "no rows wanted");
  check(hp_fetch(p, aBuf, sizeof(aBuf), &iAt, -1)==0, "fewer than no rows");
  iAt = 8;
  check(hp_fetch(p, aBuf, 8, &iAt, 10)==0 && iAt==8, "no room");
  check(hp_fetch(p, aBuf, sizeof(aBuf), &iAt, 2)==2, "two rows");
  check(hp_fetch(p, aBuf, sizeof(aBuf), &iAt, 2)==0, "not at a row");
  check(hp_row(p, aBuf, sizeof(aBuf), &iAt)==0, "hp_row() where there is none");
  sqlite3_interrupt(db);
  check(sqlite3_step(p)==SQLITE_INTERRUPT, "the interrupt is forgotten");
  iAt = 0;
  check(hp_fetch(p, aBuf, sizeof(aBuf), &iAt, 10)==0, "after an error");
  sqlite3_reset(p);
  sqlite3_step(p);
  sqlite3_interrupt(db);
  check(hp_fetch(p, aBuf, sizeof(aBuf), &iAt, 10)==0, "interrupted");
  sqlite3_finalize(p);

  db2 = openDb(&ours, ":memory:", SQLITE_OPEN_READWRITE);
  execute(db2, "PRAGMA encoding='UTF-16le'");
  makeTables(db2, 300);
  check(fetchable(db2)==0, "UTF-16 is fetched");
  p = prepared(db2, "SELECT 'text'");
  sqlite3_step(p);
  iAt = 0;
  check(hp_row(p, aBuf, sizeof(aBuf), &iAt)==0, "UTF-16 is packed");
  sqlite3_finalize(p);
  sqlite3_close(db2);

  sqlite3_enable_shared_cache(1);
  db2 = openDb(&ours, temporaryFile("shared.db"),
               SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE);
  sqlite3_enable_shared_cache(0);
  makeTables(db2, 300);
  check(fetchable(db2)==0, "a shared cache is fetched from");
  sqlite3_close(db2);
}

/* Change some bytes of the file, and read it both ways. */
static void testDamage(const char *zFile, int nMutation){
  int n, i, k;
  unsigned char *aFile = readFile(zFile, &n);
  unsigned char *a = malloc(n);
  const char *zDamaged = temporaryFile("damaged.db");
  unsigned u = 1;
  Text x = { 0, 0, 0 }, y = { 0, 0, 0 };
  static const char *const azSql[] = {
    "SELECT * FROM t", "SELECT * FROM t ORDER BY id DESC", "SELECT * FROM w",
    "SELECT n, a FROM t ORDER BY n", "SELECT d, a FROM u",
  };
  for(i=0; i<nMutation; i++){
    memcpy(a, aFile, n);
    for(k=0; k<1+i%20; k++){
      u = u*1664525 + 1013904223;
      a[100 + (u>>4)%(n-100)] = (unsigned char)(i%3 ? u>>24 : (u>>24)|0x80);
    }
    writeFile(zDamaged, a, n);
    for(k=0; k<(int)(sizeof(azSql)/sizeof(char*)); k++){
      Way way = { 1, i%2 ? 3000 : 100000, 1000 };
      sqlite3 *db = openDb(&ours, zDamaged, SQLITE_OPEN_READWRITE);
      sqlite3_stmt *p;
      if( sqlite3_prepare_v2(db, azSql[k], -1, &p, 0)==SQLITE_OK ){
        sqlite3_finalize(p);
        readAll(db, azSql[k], byStep, nothing, &x);
        readAll(db, azSql[k], way, nothing, &y);
        check(strcmp(x.z, y.z)==0, "mutation %d: %s", i, azSql[k]);
      }
      sqlite3_close(db);
    }
  }
  textClear(&x);
  textClear(&y);
  free(a);
  free(aFile);
}

int main(void){
  static const int aPage[] = { 512, 1024, 4096, 65536 };
  int i;
  for(i=0; i<4; i++){
    const char *zFile = temporaryFile("fetch.db");
    char zPragma[100];
    sqlite3 *db;
    removeDb(zFile);
    db = openDb(&ours, zFile, SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE);
    snprintf(zPragma, sizeof(zPragma), "PRAGMA page_size=%d;"
             "PRAGMA auto_vacuum=%d; PRAGMA journal_mode=%s", aPage[i],
             i==1 ? 2 : 0, i%2 ? "wal" : "delete");
    execute(db, zPragma);
    makeTables(db, 400);
    testQueries(db, zPragma);
    if( i<3 ) testChanges(db);
    if( i==2 ) testAside(db);
    if( i==2 ) testEnds(db);
    sqlite3_close(db);
    if( i<2 ) testDamage(zFile, 150);
  }
  return finish();
}
