/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** load: rows by hp_load_row() and hp_load_rows() are those of the INSERT.
**
**   1. values: values of every kind into columns of every affinity.  The file
**      is to the byte what the INSERT of our library makes, and the values are those
**      of SQLite's.
**   2. rooms: in every number of bytes a row is made whole or not at all.
**   3. which: statements that are taken, and those that are not.
**   4. refused: rows that SQLite refuses are not made, or not appended.
**   5. keys: rowids that are given, in order and not, and those that are not.
**   6. between: what the connection, or another one, does between two calls.
**   7. threads: rows are made by several threads while one appends them.
**   8. stops: an interrupt, and the progress handler.
**   9. memory, writes, full: each allocation and each write fails, and the disk
**      is full.  The code is that of the INSERT, and so is what is left.
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hptest.h"
#include "hpsqlite.h"

static Lib stock;
static const char *zFile;
static const char *zOther;

/* Expressions, each a value */
static const char *const azValue[] = {
  "NULL", "0", "1", "-1", "2", "127", "128", "-128", "-129", "32767", "32768",
  "-32768", "-32769", "8388607", "8388608", "-8388609", "2147483647",
  "2147483648", "-2147483649", "140737488355327", "140737488355328",
  "-140737488355328", "-140737488355329", "9223372036854775807",
  "(-9223372036854775807-1)", "0.0", "-0.0", "1.0", "1.5", "-2.25", "1e5",
  "1e300", "-1e-300", "9e999", "-9e999", "9223372036854775807.0",
  "9007199254740993.0", "140737488355328.0", "0.1", "123456789.123456789",
  "x''", "x'00ff'", "zeroblob(300)", "x'31'",
  "''", "' '", "'a'", "'0'", "'1'", "'-1'", "'+1'", "'00'", "'007'", "'12'",
  "' 12 '", "'12 '", "char(9)||'12'||char(10)", "'1 2'", "'- 1'", "'--1'",
  "'1-'", "'1+1'", "'-0'", "'+0'", "'-0.0'", "'0.0'", "'.5'", "'5.'", "'.'",
  "'-.5'", "'-'", "'+'", "'1.0'", "'1.50'", "'48.00'", "'1e5'", "'1E5'",
  "'1e+5'", "'1e-5'", "'1e'", "'1e+'", "'e5'", "'1e5.0'", "'1.e1'", "'1e400'",
  "'-1e400'", "'1e-400'", "'1e0000000000000000001'", "'0x10'", "'0x'", "'1_000'",
  "'1,000'", "'nan'", "'NaN'", "'inf'", "'Infinity'", "'1f'", "'12abc'",
  "'9223372036854775807'", "'9223372036854775808'", "'-9223372036854775808'",
  "'-9223372036854775809'", "'99999999999999999999'", "'18446744073709551616'",
  "'9007199254740993'", "'9007199254740993.0'", "'9223372036854775807.0'",
  "'9223372036854774784.0'", "'140737488355328'", "'140737488355327.0'",
  "'123456789012345678901234567890'", "'0.1'", "'3500000000000000.2500001'",
  "'1.7976931348623157e308'", "'4.9e-324'",
  "'000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001'",
  "'0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001'",
  "'                                                                                                    1'",
  "'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'",
  "'2013-07-15'", "'2013-07-15 10:20:30'", "'10:20'", "'2013.07.15'",
  "CAST(x'3100' AS TEXT)", "CAST(x'310061' AS TEXT)", "CAST(x'00' AS TEXT)",
  "CAST(x'0031' AS TEXT)", "CAST(x'312e3500' AS TEXT)", "CAST(x'ff31' AS TEXT)",
  "CAST(x'3100ff' AS TEXT)", "'1'||char(160)", "'é'", "'漢字 😀'",
  "hex(zeroblob(28))", "hex(zeroblob(29))", "hex(zeroblob(400))",
  "hex(zeroblob(3000))", "hex(zeroblob(9000))", "replace(hex(zeroblob(60)),'0','x')"
};
#define nValue ((int)(sizeof(azValue)/sizeof(azValue[0])))

/* The same, as values */
static hp_load_value aValue[nValue];

static void readValues(void){
  sqlite3 *db = openDb(&ours, ":memory:", 0);
  int i;
  for(i=0; i<nValue; i++){
    Text sql = {0,0,0};
    sqlite3_stmt *p;
    hp_load_value *pVal = &aValue[i];
    textAppend(&sql, "SELECT %s", azValue[i]);
    p = prepared(db, sql.z);
    sqlite3_step(p);
    pVal->eType = (unsigned)sqlite3_column_type(p, 0);
    if( pVal->eType==SQLITE_INTEGER ){
      pVal->v.i = sqlite3_column_int64(p, 0);
    }else if( pVal->eType==SQLITE_FLOAT ){
      pVal->v.r = sqlite3_column_double(p, 0);
    }else if( pVal->eType!=SQLITE_NULL ){
      const void *z = sqlite3_column_blob(p, 0);
      char *zCopy;
      pVal->n = (unsigned)sqlite3_column_bytes(p, 0);
      /* Exactly as large as it is said to be, for the sanitizer. */
      zCopy = malloc(pVal->n ? pVal->n : 1);
      if( pVal->n ) memcpy(zCopy, z, pVal->n);
      pVal->v.z = zCopy;
    }
    sqlite3_finalize(p);
    textClear(&sql);
  }
  sqlite3_close(db);
}

/* Room for any row of nCol values */
static sqlite3_int64 roomOf(const hp_load_value *a, int nCol){
  sqlite3_int64 n = 128 + 48*nCol;
  int i;
  for(i=0; i<nCol; i++) n += a[i].n;
  return n;
}

/* Rows, one behind the other */
typedef struct Rows Rows;
struct Rows {
  unsigned char *a;
  sqlite3_int64 n, nAlloc;
};

/* Append a row of nParam values to p.  Returns false if it is not made. */
static int addRow(Rows *p, const hp_load *pLoad, const hp_load_value *a,
                  int nParam, int nCol){
  sqlite3_int64 nRoom = roomOf(a, nParam) + 48*nCol;
  sqlite3_int64 n;
  if( p->n+nRoom>p->nAlloc ){
    p->nAlloc = 2*(p->n+nRoom);
    p->a = realloc(p->a, p->nAlloc);
    if( p->a==0 ) abort();
  }
  n = hp_load_row(pLoad, a, &p->a[p->n], nRoom);
  check(n>=0 && n<=nRoom, "a row of %lld bytes in %lld", (long long)n,
        (long long)nRoom);
  p->n += n;
  return n>0;
}

static void clearRows(Rows *p){
  free(p->a);
  memset(p, 0, sizeof(*p));
}

/* Bind values to a statement and step it */
static int step(sqlite3_stmt *p, const hp_load_value *a, int nParam){
  int i;
  for(i=0; i<nParam; i++){
    switch( a[i].eType ){
      case SQLITE_INTEGER: sqlite3_bind_int64(p, i+1, a[i].v.i); break;
      case SQLITE_FLOAT: sqlite3_bind_double(p, i+1, a[i].v.r); break;
      case SQLITE_TEXT:
        sqlite3_bind_text(p, i+1, a[i].v.z, (int)a[i].n, SQLITE_STATIC);
        break;
      case SQLITE_BLOB:
        sqlite3_bind_blob(p, i+1, a[i].v.z, (int)a[i].n, SQLITE_STATIC);
        break;
      default: sqlite3_bind_null(p, i+1); break;
    }
  }
  sqlite3_step(p);
  return sqlite3_reset(p);
}

static sqlite3 *openOurs(const char *z){
  return openDb(&ours, z, 0);
}

static unsigned nextRandom(void){
  static unsigned x = 12345;
  x = x*1103515245u + 12345u;
  return x>>8;
}

/* A table, and the INSERT into it */
typedef struct Into Into;
struct Into {
  const char *zPragmas;
  const char *zTable;
  const char *zInsert;
  int nParam, nCol;
};

static const Into aInto[] = {
  { "PRAGMA page_size=4096",
    "CREATE TABLE t(a, b BLOB, c TEXT, d INT, e REAL, f NUMERIC)",
    "INSERT INTO t VALUES(?,?,?,?,?,?)", 6, 6 },
  { "PRAGMA page_size=512; PRAGMA auto_vacuum=full",
    "CREATE TABLE t(a INTEGER, b REAL, c REAL, d TEXT, e DATE, f BLOB)",
    "INSERT INTO t(c,a,f,e) VALUES(?,?,?,?)", 4, 6 },
  { "PRAGMA page_size=1024",
    "CREATE TABLE t(a INTEGER NOT NULL, b TEXT NOT NULL, c REAL)",
    "INSERT INTO t VALUES(?,?,?)", 3, 3 },
  { "PRAGMA page_size=65536",
    "CREATE TABLE t(a INT, b TEXT, c REAL, d ANY, e BLOB) STRICT",
    "INSERT INTO t VALUES(?,?,?,?,?)", 5, 5 },
  { "PRAGMA page_size=4096",
    "CREATE TABLE t(a TEXT, id INTEGER PRIMARY KEY, b REAL)",
    "INSERT INTO t(a,b) VALUES(?,?)", 2, 3 },
  { "PRAGMA page_size=4096",
    "CREATE TABLE t(a NUMERIC)", "INSERT INTO t VALUES(?)", 1, 1 },
  { "PRAGMA page_size=4096",
    "CREATE TABLE t(a REAL)", "INSERT INTO t VALUES(?)", 1, 1 },
  { "PRAGMA page_size=4096",
    "CREATE TABLE t(a TEXT)", "INSERT INTO t VALUES(?)", 1, 1 },
  { "PRAGMA page_size=4096",
    "CREATE TABLE t(a INTEGER)", "INSERT INTO t VALUES(?)", 1, 1 },
  { "PRAGMA journal_mode=wal",
    "CREATE TABLE t(a INTEGER, b)", "INSERT OR REPLACE INTO t VALUES(?,?)",
    2, 2 },
};
#define nInto ((int)(sizeof(aInto)/sizeof(aInto[0])))

/* Values for row iRow: each in its turn, or any */
static void drawRow(const Into *pInto, int iRow, hp_load_value *a, int *ai){
  int i;
  for(i=0; i<pInto->nParam; i++){
    ai[i] = pInto->nParam==1 || iRow%2 ? (iRow+i*31)%nValue
                                       : (int)(nextRandom()%nValue);
    a[i] = aValue[ai[i]];
  }
}

/* 1.  Into a file by the statement, into another one by rows, and into stock's */
static void testValues(void){
  int k;
  for(k=0; k<nInto; k++){
    const Into *pInto = &aInto[k];
    const int nRow = 5*nValue;
    sqlite3 *dbStep = freshDb(openOurs, zFile, pInto->zPragmas, pInto->zTable);
    sqlite3 *dbLoad = freshDb(openOurs, zOther, pInto->zPragmas, pInto->zTable);
    sqlite3 *dbStock = openDb(&stock, ":memory:", 0);
    sqlite3_stmt *pStep = prepared(dbStep, pInto->zInsert);
    sqlite3_stmt *pInsert = prepared(dbLoad, pInto->zInsert);
    hp_load *pLoad = hp_load_new(pInsert);
    Text want = {0,0,0}, got = {0,0,0};
    Rows rows = {0,0,0};
    int nMade = 0, nKept = 0, i;
    sqlite3_int64 nDone;
    check(pLoad!=0, "%s: it is not taken", pInto->zTable);
    if( pLoad==0 ) continue;
    runOn(&stock, dbStock, pInto->zTable);
    runOn(&stock, dbStock, "BEGIN");
    execute(dbStep, "BEGIN IMMEDIATE");
    execute(dbLoad, "BEGIN IMMEDIATE");
    for(i=0; i<nRow; i++){
      hp_load_value a[6];
      int ai[6];
      int rc, rcStock, j, bMade;
      Text sql = {0,0,0};
      drawRow(pInto, i, a, ai);
      textAppend(&sql, "%.*s VALUES(",
                 (int)(strstr(pInto->zInsert, " VALUES")-pInto->zInsert),
                 pInto->zInsert);
      for(j=0; j<pInto->nParam; j++){
        textAppend(&sql, "%s%s", j ? "," : "", azValue[ai[j]]);
      }
      textAppend(&sql, ")");
      rcStock = stock.exec(dbStock, sql.z, 0, 0, 0);
      rc = step(pStep, a, pInto->nParam);
      check(rc==(rcStock&0xff), "%s: %d, not %d", sql.z, rc, rcStock);
      bMade = addRow(&rows, pLoad, a, pInto->nParam, pInto->nCol);
      check(!bMade || rc==SQLITE_OK, "%s: it is made in spite of %d", sql.z, rc);
      nKept += rc==SQLITE_OK;
      nMade += bMade;
      if( !bMade || i%50==0 ){
        check(hp_load_rows(pLoad, rows.a, rows.n, &nDone)==SQLITE_OK,
              "%s: %s", sql.z, sqlite3_errmsg(dbLoad));
        rows.n = 0;
        if( !bMade ) check(step(pInsert, a, pInto->nParam)==rc, "%s", sql.z);
        check(sqlite3_total_changes(dbLoad)==sqlite3_total_changes(dbStep)
              && sqlite3_last_insert_rowid(dbLoad)
                 ==sqlite3_last_insert_rowid(dbStep)
              && (!bMade || sqlite3_changes(dbLoad)==1),
              "%s: counters differ at row %d", pInto->zTable, i);
      }
      textClear(&sql);
    }
    check(hp_load_rows(pLoad, rows.a, rows.n, &nDone)==SQLITE_OK, "the last");
    check(nMade>nKept*6/10, "%s: %d rows of %d are made", pInto->zTable, nMade,
          nKept);
    hp_load_free(pLoad);
    sqlite3_finalize(pStep);
    sqlite3_finalize(pInsert);
    execute(dbStep, "COMMIT; PRAGMA wal_checkpoint(truncate)");
    execute(dbLoad, "COMMIT; PRAGMA wal_checkpoint(truncate)");
    runOn(&stock, dbStock, "COMMIT");
    answer(&stock, dbStock, "SELECT rowid, * FROM t", &want);
    answer(&ours, dbLoad, "SELECT rowid, * FROM t", &got);
    check(strcmp(want.z, got.z)==0, "%s: other values", pInto->zTable);
    checkIntegrity(&ours, dbLoad, pInto->zTable);
    sqlite3_close(dbStep);
    sqlite3_close(dbLoad);
    stock.close(dbStock);
    {
      int n1, n2;
      unsigned char *a1 = readFile(zFile, &n1), *a2 = readFile(zOther, &n2);
      check(n1==n2 && n1>1000 && memcmp(a1, a2, n1)==0, "%s: other bytes",
            pInto->zTable);
      free(a1);
      free(a2);
    }
    textClear(&want);
    textClear(&got);
    clearRows(&rows);
  }
}

/* 2.  Any number of bytes */
static void testRooms(void){
  const Into *pInto = &aInto[0];
  sqlite3 *db = freshDb(openOurs, zFile, pInto->zPragmas, pInto->zTable);
  sqlite3_stmt *pInsert = prepared(db, pInto->zInsert);
  hp_load *pLoad = hp_load_new(pInsert);
  int k;
  for(k=0; k<40; k++){
    hp_load_value a[6];
    unsigned char *aWhole;
    int ai[6];
    sqlite3_int64 n, nWhole, nMade = 0;
    drawRow(pInto, k*17, a, ai);
    n = roomOf(a, 6);
    if( n>2000 ) continue;
    aWhole = malloc(n);
    nWhole = hp_load_row(pLoad, a, aWhole, n);
    for(; n>=0; n--){
      unsigned char *aRow = malloc(n ? n : 1);
      sqlite3_int64 nRow = hp_load_row(pLoad, a, aRow, n);
      check(nRow==0 || (nRow==nWhole && memcmp(aRow, aWhole, nRow)==0),
            "%lld bytes in %lld, not %lld", (long long)nRow, (long long)n,
            (long long)nWhole);
      nMade += nRow>0;
      free(aRow);
    }
    check(nMade>0 || nWhole==0, "it is never made");
    free(aWhole);
  }
  hp_load_free(pLoad);
  hp_load_free(0);
  sqlite3_finalize(pInsert);
  sqlite3_close(db);
}

/* 3.  Which statements are taken? */
static void testWhich(void){
  static const struct {
    int bTaken;
    const char *zTable;
    const char *zInsert;
  } aWhich[] = {
    { 1, "CREATE TABLE t(a,b)", "INSERT INTO t VALUES(?,?)" },
    { 1, "CREATE TABLE t(a,b)", "INSERT INTO t VALUES(?1,?1)" },
    { 1, "CREATE TABLE t(a,b)", "INSERT INTO t(b) VALUES(?)" },
    { 1, "CREATE TABLE t(a,b)", "INSERT INTO t VALUES(NULL,?)" },
    { 1, "CREATE TABLE t(a,b)", "INSERT INTO t VALUES(:x,@y)" },
    { 1, "CREATE TABLE t(a,b)", "INSERT INTO t(rowid,a) VALUES(?,?)" },
    { 1, "CREATE TABLE t(a INTEGER PRIMARY KEY,b)", "INSERT INTO t VALUES(?,?)" },
    { 1, "CREATE TABLE t(a,b NOT NULL)", "INSERT INTO t VALUES(?,?)" },
    { 1, "CREATE TABLE t(a,b DEFAULT 5)", "INSERT INTO t VALUES(?,?)" },
    { 1, "CREATE TEMP TABLE t(a,b)", "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a,b DEFAULT 5)", "INSERT INTO t(a) VALUES(?)" },
    { 0, "CREATE TABLE t(a,b)", "INSERT INTO t VALUES(?,?),(?,?)" },
    { 0, "CREATE TABLE t(a,b)", "INSERT INTO t VALUES(?,5)" },
    { 0, "CREATE TABLE t(a,b)", "INSERT INTO t VALUES(?,?+1)" },
    { 0, "CREATE TABLE t(a,b)", "INSERT INTO t VALUES(?,abs(?))" },
    { 0, "CREATE TABLE t(a,b)", "INSERT INTO t SELECT ?,?" },
    { 0, "CREATE TABLE t(a,b)", "INSERT INTO t SELECT * FROM t" },
    { 0, "CREATE TABLE t(a,b)", "INSERT INTO t VALUES(?,?) RETURNING a" },
    { 1, "CREATE TABLE t(a,b)", "INSERT INTO t DEFAULT VALUES" },
    { 0, "CREATE TABLE t(a,b)", "SELECT * FROM t" },
    { 0, "CREATE TABLE t(a,b)", "UPDATE t SET a=?" },
    { 0, "CREATE TABLE t(a,b)", "DELETE FROM t" },
    { 0, "CREATE TABLE t(a,b)", "EXPLAIN INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a UNIQUE,b)", "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a,b); CREATE INDEX i ON t(b)",
      "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a,b CHECK(b>0))", "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a,b,c AS (a+b))", "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a,b,c AS (a+b) STORED)", "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a INT,b INT,c INT AS (a+b) STORED) STRICT",
      "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT,b)",
      "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a PRIMARY KEY,b) WITHOUT ROWID",
      "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a INTEGER PRIMARY KEY,b)",
      "INSERT OR REPLACE INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a INTEGER PRIMARY KEY,b)",
      "INSERT OR IGNORE INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a INTEGER PRIMARY KEY,b)",
      "INSERT INTO t VALUES(?,?) ON CONFLICT DO NOTHING" },
    { 0, "CREATE TABLE t(a,b NOT NULL)", "INSERT OR IGNORE INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a,b); CREATE TRIGGER r AFTER INSERT ON t BEGIN"
         " SELECT 1; END", "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a,b); CREATE TRIGGER r BEFORE INSERT ON t BEGIN"
         " SELECT 1; END", "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE TABLE t(a,b); CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN"
         " SELECT 1; END", "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE VIEW t AS SELECT 1 a, 2 b; CREATE TRIGGER r INSTEAD OF INSERT"
         " ON t BEGIN SELECT 1; END", "INSERT INTO t VALUES(?,?)" },
    { 0, "PRAGMA foreign_keys=on; CREATE TABLE p(x INTEGER PRIMARY KEY);"
         " CREATE TABLE t(a REFERENCES p,b)", "INSERT INTO t VALUES(?,?)" },
    { 0, "PRAGMA foreign_keys=on; CREATE TABLE t(a INTEGER PRIMARY KEY,"
         " b REFERENCES t)", "INSERT INTO t VALUES(?,?)" },
    { 1, "CREATE TABLE p(x INTEGER PRIMARY KEY);"
         " CREATE TABLE t(a REFERENCES p,b)", "INSERT INTO t VALUES(?,?)" },
    { 0, "PRAGMA encoding=utf16; CREATE TABLE t(a,b)",
      "INSERT INTO t VALUES(?,?)" },
    { 0, "PRAGMA hp_offload=off; CREATE TABLE t(a,b)",
      "INSERT INTO t VALUES(?,?)" },
    { 0, "CREATE VIRTUAL TABLE t USING fts5(a,b)", "INSERT INTO t VALUES(?,?)" },
    { 0, "PRAGMA writable_schema=on",
      "INSERT INTO sqlite_schema VALUES(?,?,?,?,?)" },
    { 0, "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT)",
      "DELETE FROM sqlite_sequence" },
    { 1, "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT)",
      "INSERT INTO sqlite_sequence VALUES(?,?)" },
  };
  unsigned i;
  for(i=0; i<sizeof(aWhich)/sizeof(aWhich[0]); i++){
    sqlite3 *db;
    sqlite3_stmt *p = 0;
    hp_load *pLoad;
    removeDb(zFile);
    db = openDb(&ours, zFile, 0);
    if( sqlite3_exec(db, aWhich[i].zTable, 0, 0, 0) ){
      /* There is no such virtual table */
      sqlite3_close(db);
      continue;
    }
    p = prepared(db, aWhich[i].zInsert);
    pLoad = hp_load_new(p);
    check((pLoad!=0)==aWhich[i].bTaken, "%s, %s: %s", aWhich[i].zTable,
          aWhich[i].zInsert, pLoad ? "it is taken" : "it is not taken");
    hp_load_free(pLoad);
    sqlite3_finalize(p);
    sqlite3_close(db);
  }
  check(hp_load_new(0)==0, "no statement is taken");
}

static hp_load_value integerOf(sqlite3_int64 i){
  hp_load_value v;
  memset(&v, 0, sizeof(v));
  v.v.i = i;
  v.eType = SQLITE_INTEGER;
  return v;
}
static hp_load_value textOf(const char *z){
  hp_load_value v;
  memset(&v, 0, sizeof(v));
  v.v.z = z;
  v.n = (unsigned)strlen(z);
  v.eType = SQLITE_TEXT;
  return v;
}
static hp_load_value nullOf(void){
  hp_load_value v;
  memset(&v, 0, sizeof(v));
  v.eType = SQLITE_NULL;
  return v;
}

/* A connection with a table of a key and a value */
typedef struct Table Table;
struct Table {
  sqlite3 *db;
  sqlite3_stmt *pInsert;
  hp_load *pLoad;
  Rows rows;
};

static void openTable(Table *p, const char *zPragmas, const char *zTable){
  memset(p, 0, sizeof(*p));
  p->db = freshDb(openOurs, zFile, zPragmas, zTable);
  p->pInsert = prepared(p->db, "INSERT INTO t VALUES(?,?)");
  p->pLoad = hp_load_new(p->pInsert);
  check(p->pLoad!=0, "%s is not taken", zTable);
}

static void closeTable(Table *p){
  hp_load_free(p->pLoad);
  sqlite3_finalize(p->pInsert);
  check(sqlite3_close(p->db)==SQLITE_OK, "it is not closed");
  clearRows(&p->rows);
}

static int addTwo(Table *p, hp_load_value x, hp_load_value y){
  hp_load_value a[2];
  a[0] = x;
  a[1] = y;
  return addRow(&p->rows, p->pLoad, a, 2, 2);
}

/* Append all rows that were added, which begins anew.  Returns how many were
** appended, or minus the error. */
static int append(Table *p){
  sqlite3_int64 n = -1;
  int rc = hp_load_rows(p->pLoad, p->rows.a, p->rows.n, &n);
  check(n>=0, "no number of rows");
  p->rows.n = 0;
  return rc ? -rc : (int)n;
}

static int one(Table *p, hp_load_value x, hp_load_value y){
  if( !addTwo(p, x, y) ) return -1000;
  return append(p);
}

/* 4.  Rows that SQLite refuses */
static void testRefused(void){
  Table t;
  hp_load_value a[2];
  char *zLong = malloc(2000);
  memset(zLong, 'x', 1999);
  zLong[1999] = 0;
  openTable(&t, "", "CREATE TABLE t(id INTEGER PRIMARY KEY, b TEXT NOT NULL)");
  execute(t.db, "BEGIN IMMEDIATE");
  check(one(&t, integerOf(1), nullOf())==-1000, "NULL in a NOT NULL column");
  check(one(&t, textOf("x"), textOf("a"))==-1000, "a key that is no integer");
  check(one(&t, textOf("1.5"), textOf("a"))==-1000, "a key with a fraction");
  check(one(&t, textOf(""), textOf("a"))==-1000, "an empty key");
  check(one(&t, textOf("9223372036854775808"), textOf("a"))==-1000, "too large");
  check(one(&t, textOf(" 7 "), textOf("a"))==1, "a key with spaces");
  check(one(&t, textOf("8.0"), textOf("a"))==1, "a key with a point");
  check(one(&t, textOf("1e1"), textOf("a"))==1, "a key with an exponent");
  check(integer(&ours, t.db, "SELECT group_concat(id,'')='7810' FROM t")==1, "7, 8, 10");
  a[0] = integerOf(5);
  a[1] = nullOf();
  check(step(t.pInsert, a, 2)==SQLITE_CONSTRAINT, "the statement takes it");
  a[1].eType = 17;
  check(addTwo(&t, a[0], a[1])==0, "there is no such type");
  closeTable(&t);

  removeDb(zFile);
  memset(&t, 0, sizeof(t));
  t.db = freshDb(openOurs, zFile, "", "CREATE TABLE t(a,b)");
  sqlite3_limit(t.db, SQLITE_LIMIT_LENGTH, 1000);
  t.pInsert = prepared(t.db, "INSERT INTO t VALUES(?,?)");
  t.pLoad = hp_load_new(t.pInsert);
  execute(t.db, "BEGIN IMMEDIATE");
  a[0] = integerOf(5);
  a[1] = textOf(zLong);
  check(addTwo(&t, a[0], a[1])==0, "a text is too long");
  check(step(t.pInsert, a, 2)!=SQLITE_OK || 1, "the statement");
  a[1].n = 990;
  check(one(&t, a[0], a[1])==1, "it is not too long");
  a[1].n = 999;
  check(addTwo(&t, a[0], a[1])==0, "a row is too long");
  check(step(t.pInsert, a, 2)==SQLITE_TOOBIG, "the statement takes it");
  closeTable(&t);
  free(zLong);
}

/* 5.  Keys */
static void testKeys(void){
  Table t;
  int i;
  openTable(&t, "", "CREATE TABLE t(id INTEGER PRIMARY KEY, b)");
  execute(t.db, "BEGIN IMMEDIATE");
  check(one(&t, integerOf(-5), nullOf())==1, "-5");
  check(one(&t, nullOf(), nullOf())==1, "after -5");
  check(integer(&ours, t.db, "SELECT max(id)=-4 FROM t")==1, "-4");
  for(i=0; i<5; i++) addTwo(&t, integerOf(i*10), integerOf(i));
  addTwo(&t, integerOf(40), integerOf(5));
  addTwo(&t, integerOf(50), integerOf(6));
  check(append(&t)==5, "until a key is there");
  check(one(&t, integerOf(39), nullOf())==0, "a key in between");
  check(one(&t, integerOf(-6), nullOf())==0, "a key before");
  check(append(&t)==0, "nothing");
  execute(t.db, "INSERT INTO t VALUES(45,'s'); DELETE FROM t WHERE id=40");
  check(one(&t, integerOf(45), nullOf())==0, "a key of the statement");
  check(one(&t, nullOf(), nullOf())==1, "46");
  check(integer(&ours, t.db, "SELECT max(id) FROM t")==46, "it is 46");
  check(one(&t, integerOf(0x7fffffffffffffff), nullOf())==1, "the last one");
  check(one(&t, nullOf(), nullOf())==0, "after the last one");
  check(sqlite3_last_insert_rowid(t.db)==0x7fffffffffffffff, "last");
  execute(t.db, "COMMIT");
  checkIntegrity(&ours, t.db, "keys");
  closeTable(&t);
}

static void hook(void *p, int e, const char *z, const char *z2,
                 sqlite3_int64 i){
  (void)p; (void)e; (void)z; (void)z2; (void)i;
}
static int traced(unsigned e, void *p, void *p2, void *p3){
  (void)e; (void)p; (void)p2; (void)p3;
  return 0;
}
static int deny(void *p, int e, const char *z1, const char *z2,
                const char *z3, const char *z4){
  (void)p; (void)z1; (void)z2; (void)z3; (void)z4;
  return e==SQLITE_INSERT ? SQLITE_DENY : SQLITE_OK;
}

/* 6.  What happens between two calls */
static void testBetween(void){
  Table t;
  sqlite3 *db2;
  sqlite3_stmt *p;
  hp_load_value a[2];
  Text want = {0,0,0};
  openTable(&t, "PRAGMA journal_mode=wal", "CREATE TABLE t(a,b)");
  a[0] = a[1] = integerOf(1);
  check(one(&t, integerOf(1), nullOf())==0, "no transaction");
  execute(t.db, "BEGIN");
  check(one(&t, integerOf(1), nullOf())==0, "no write transaction");
  check(step(t.pInsert, a, 2)==SQLITE_OK, "a row");
  check(one(&t, integerOf(1), nullOf())==1, "a write transaction");
  sqlite3_update_hook(t.db, hook, 0);
  check(one(&t, integerOf(1), nullOf())==0, "an update hook");
  sqlite3_update_hook(t.db, 0, 0);
  check(one(&t, integerOf(1), nullOf())==1, "no hook");
  sqlite3_trace_v2(t.db, SQLITE_TRACE_STMT, traced, 0);
  check(one(&t, integerOf(1), nullOf())==0, "a trace");
  sqlite3_trace_v2(t.db, 0, 0, 0);
  execute(t.db, "PRAGMA query_only=on");
  check(one(&t, integerOf(1), nullOf())==0, "query_only");
  execute(t.db, "PRAGMA query_only=off");
  check(one(&t, integerOf(1), nullOf())==0, "the statement has expired");
  execute(t.db, "PRAGMA hp_offload=off");
  check(one(&t, integerOf(1), nullOf())==0, "off");
  execute(t.db, "PRAGMA hp_offload=force");

  /* Savepoints */
  step(t.pInsert, a, 2);
  hp_load_free(t.pLoad);
  t.pLoad = hp_load_new(t.pInsert);
  execute(t.db, "SAVEPOINT s");
  check(one(&t, integerOf(7), nullOf())==1, "in a savepoint");
  execute(t.db, "ROLLBACK TO s");
  check(integer(&ours, t.db, "SELECT count(*) FROM t WHERE a=7")==0, "it is there");
  check(one(&t, integerOf(8), nullOf())==1, "after ROLLBACK TO");
  execute(t.db, "RELEASE s");

  /* A statement that reads the table meanwhile sees the rows that it sees with
  ** the INSERT */
  p = prepared(t.db, "SELECT rowid FROM t");
  check(sqlite3_step(p)==SQLITE_ROW, "a row to read");
  addTwo(&t, integerOf(9), nullOf());
  addTwo(&t, integerOf(9), nullOf());
  check(append(&t)==2, "beside a reader");
  while( sqlite3_step(p)==SQLITE_ROW ){
    textAppend(&want, "%d ", sqlite3_column_int(p, 0));
  }
  check(want.n>10 && sqlite3_finalize(p)==SQLITE_OK, "it reads on: %s", want.z);
  check(integer(&ours, t.db, "SELECT count(*) FROM t WHERE a=9")==2, "two rows");
  execute(t.db, "COMMIT");

  /* Another connection changes the schema between two transactions */
  db2 = openDb(&ours, zFile, 0);
  execute(t.db, "BEGIN IMMEDIATE");
  check(one(&t, integerOf(10), nullOf())==1, "a second transaction");
  check(integer(&ours, db2, "SELECT count(*) FROM t WHERE a=10")==0, "seen");
  execute(t.db, "COMMIT");
  check(integer(&ours, db2, "SELECT count(*) FROM t WHERE a=10")==1, "not seen");
  execute(db2, "ALTER TABLE t ADD COLUMN c DEFAULT 'c'");
  execute(t.db, "BEGIN IMMEDIATE");
  check(one(&t, integerOf(11), nullOf())==0, "another schema");
  execute(t.db, "COMMIT; BEGIN IMMEDIATE; SELECT * FROM t");
  check(one(&t, integerOf(11), nullOf())==0, "another schema, which is known");
  execute(t.db, "ROLLBACK");
  sqlite3_close(db2);
  closeTable(&t);

  openTable(&t, "", "CREATE TABLE t(a,b)");
  execute(t.db, "BEGIN IMMEDIATE");
  check(one(&t, integerOf(1), nullOf())==1, "a row");
  execute(t.db, "CREATE INDEX i ON t(a)");
  check(one(&t, integerOf(2), nullOf())==0, "an index");
  check(step(t.pInsert, a, 2)==SQLITE_OK, "the statement goes on");
  check(one(&t, integerOf(2), nullOf())==0, "the statement was made anew");
  checkIntegrity(&ours, t.db, "an index");
  execute(t.db, "COMMIT");
  closeTable(&t);

  openTable(&t, "", "CREATE TABLE t(a,b)");
  execute(t.db, "BEGIN IMMEDIATE");
  sqlite3_set_authorizer(t.db, deny, 0);
  check(one(&t, integerOf(1), nullOf())==0, "an authorizer");
  sqlite3_set_authorizer(t.db, 0, 0);
  execute(t.db, "CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END");
  check(one(&t, integerOf(2), nullOf())==0, "a trigger");
  execute(t.db, "ROLLBACK");
  closeTable(&t);

  openTable(&t, "", "CREATE TABLE t(a,b)");
  execute(t.db, "BEGIN IMMEDIATE; DROP TABLE t");
  check(one(&t, integerOf(1), nullOf())==0, "there is no table");
  execute(t.db, "ROLLBACK");
  closeTable(&t);
  textClear(&want);
}

/* 7.  Rows that threads make */
typedef struct Maker Maker;
struct Maker {
  pthread_t thread;
  const hp_load *pLoad;
  int iFrom, iTo;
  Rows rows;
};
static void *makeRows(void *pArg){
  Maker *p = (Maker*)pArg;
  int i;
  for(i=p->iFrom; i<p->iTo; i++){
    hp_load_value a[6];
    int j;
    for(j=0; j<6; j++) a[j] = aValue[(i*7+j*13)%nValue];
    addRow(&p->rows, p->pLoad, a, 6, 6);
  }
  return 0;
}
static void testThreads(void){
  const Into *pInto = &aInto[0];
  sqlite3 *db = freshDb(openOurs, zFile, "PRAGMA synchronous=off",
                        pInto->zTable);
  sqlite3_stmt *pInsert = prepared(db, pInto->zInsert);
  hp_load *pLoad = hp_load_new(pInsert);
  int iRound;
  execute(db, "BEGIN IMMEDIATE");
  for(iRound=0; iRound<10; iRound++){
    Maker aMaker[4], all;
    sqlite3_int64 nDone, n = 0;
    int i;
    memset(aMaker, 0, sizeof(aMaker));
    memset(&all, 0, sizeof(all));
    for(i=0; i<4; i++){
      aMaker[i].pLoad = pLoad;
      aMaker[i].iFrom = iRound*400 + i*100;
      aMaker[i].iTo = iRound*400 + i*100 + 100;
      pthread_create(&aMaker[i].thread, 0, makeRows, &aMaker[i]);
    }
    all.pLoad = pLoad;
    all.iFrom = aMaker[0].iFrom;
    all.iTo = aMaker[3].iTo;
    makeRows(&all);
    check(hp_load_rows(pLoad, all.rows.a, all.rows.n, &nDone)==SQLITE_OK
          && nDone>300, "%lld rows", (long long)nDone);
    for(i=0; i<4; i++){
      Rows *p = &aMaker[i].rows;
      pthread_join(aMaker[i].thread, 0);
      check(n+p->n<=all.rows.n && memcmp(p->a, &all.rows.a[n], p->n)==0,
            "another row");
      n += p->n;
      clearRows(p);
    }
    check(n==all.rows.n, "more rows");
    clearRows(&all.rows);
  }
  execute(db, "COMMIT");
  checkIntegrity(&ours, db, "threads");
  hp_load_free(pLoad);
  sqlite3_finalize(pInsert);
  sqlite3_close(db);
}

/* Rows that take some pages */
static void addMany(Table *p, int nRow){
  static char zLong[3000];
  int i;
  memset(zLong, 'y', sizeof(zLong)-1);
  for(i=0; i<nRow; i++){
    hp_load_value v = textOf(zLong);
    v.n = (unsigned)(i%7==0 ? 2900 : i%90);
    addTwo(p, integerOf(i), v);
  }
}

/* 8.  What stops it */
static int nCall;
static int interruptSoon(void *p){
  if( ++nCall==3 ) sqlite3_interrupt((sqlite3*)p);
  return 0;
}
static void testStops(void){
  Table t;
  int n, rc = -SQLITE_INTERRUPT;
  for(n=0; n<1000 && rc==-SQLITE_INTERRUPT; n++){
    openTable(&t, "PRAGMA synchronous=off", "CREATE TABLE t(a,b)");
    execute(t.db, "BEGIN IMMEDIATE; INSERT INTO t VALUES(1,2)");
    addMany(&t, 1000);
    stopAt(t.db, 500, n);
    rc = append(&t);
    stopEnd(t.db);
    check(rc==1000 || rc==-SQLITE_INTERRUPT, "it ends with %d", rc);
    check(sqlite3_get_autocommit(t.db)==(rc<0), "the transaction");
    check(integer(&ours, t.db, "SELECT count(*) FROM t")==(rc<0 ? 0 : 1001),
          "rows are left");
    if( rc>0 ) execute(t.db, "COMMIT");
    closeTable(&t);
  }
  check(n>3 && n<1000, "it was called %d times", n);
  openTable(&t, "PRAGMA synchronous=off", "CREATE TABLE t(a,b)");
  execute(t.db, "BEGIN IMMEDIATE");
  sqlite3_interrupt(t.db);
  addMany(&t, 1000);
  check(append(&t)==1000, "an interrupt of nothing");
  nCall = 0;
  sqlite3_progress_handler(t.db, 500, interruptSoon, t.db);
  addMany(&t, 1000);
  check(append(&t)==-SQLITE_INTERRUPT, "an interrupt");
  sqlite3_progress_handler(t.db, 0, 0, 0);
  check(sqlite3_get_autocommit(t.db), "it is not rolled back");
  execute(t.db, "BEGIN IMMEDIATE");
  addMany(&t, 10);
  check(append(&t)==10, "it goes on");
  execute(t.db, "COMMIT");
  closeTable(&t);
}

/* 9.  Each allocation fails, ... */
static void testMemory(void){
  int bForEver;
  failMemory(1);
  for(bForEver=0; bForEver<2; bForEver++){
    int n, nFailed = 0;
    fault.nFailed = 1;
    for(n=0; n<3000 && fault.nFailed; n+=(n<60 || longRun() ? 1 : 7)){
      Table t;
      int rc;
      memset(&t, 0, sizeof(t));
      t.db = freshDb(openOurs, zFile, "PRAGMA synchronous=off;"
                     "PRAGMA cache_size=1000", "CREATE TABLE t(a,b)");
      sqlite3_db_config(t.db, SQLITE_DBCONFIG_LOOKASIDE, (void*)0, 0, 0);
      execute(t.db, "INSERT INTO t VALUES('first',0); BEGIN IMMEDIATE;"
                    "INSERT INTO t VALUES('second',0)");
      t.pInsert = prepared(t.db, "INSERT INTO t VALUES(?,?)");
      failAfter(n, bForEver);
      t.pLoad = hp_load_new(t.pInsert);
      if( t.pLoad==0 ){
        check(fault.nFailed>0, "no memory is missing");
        rc = -SQLITE_NOMEM;
        fault.nLeft = -1;
        sqlite3_exec(t.db, "ROLLBACK", 0, 0, 0);
      }else{
        addMany(&t, 1000);
        rc = append(&t);
      }
      fault.nLeft = -1;
      nFailed += rc<0;
      check(rc==1000 || rc==-SQLITE_NOMEM || rc==-SQLITE_IOERR_NOMEM,
            "allocation %d: %d", n, rc);
      check(rc>0 || sqlite3_get_autocommit(t.db), "it is not rolled back: %d", rc);
      check(integer(&ours, t.db, "SELECT count(*) FROM t")==(rc>0 ? 1002 : 1),
            "allocation %d: rows", n);
      checkIntegrity(&ours, t.db, "an allocation failed");
      if( rc>0 ) execute(t.db, "COMMIT");
      closeTable(&t);
    }
    /* Without memory for a page SQLite goes on with the pages that it has */
    check(nFailed>(bForEver ? 10 : 3), "%d allocations failed", nFailed);
  }
  failMemory(0);
}

/* ... and each write */
static void testWrites(void){
  static const char *const azPragma[] = {
    "PRAGMA journal_mode=delete; PRAGMA cache_size=10",
    "PRAGMA journal_mode=wal; PRAGMA cache_size=10; PRAGMA hp_checkpoint=off",
  };
  int k, bForEver;
  for(k=0; k<2; k++) for(bForEver=0; bForEver<2; bForEver++){
    int n, nFailed = 0;
    fault.nFailed = 1;
    for(n=0; n<2000 && fault.nFailed; n++){
      Table t;
      int rc;
      openTable(&t, azPragma[k], "CREATE TABLE t(a,b)");
      execute(t.db, "INSERT INTO t VALUES('first',0); BEGIN IMMEDIATE;"
                    "INSERT INTO t VALUES('second',0)");
      addMany(&t, 400);
      failWrites(1);
      failAfter(n, bForEver);
      rc = append(&t);
      fault.nLeft = -1;
      failWrites(0);
      nFailed += rc<0;
      check(rc==400 || ((-rc)&0xff)==SQLITE_IOERR || ((-rc)&0xff)==SQLITE_FULL,
            "write %d: %d", n, rc);
      check(rc>0 || sqlite3_get_autocommit(t.db), "it is not rolled back");
      check(integer(&ours, t.db, "SELECT count(*) FROM t")==(rc>0 ? 402 : 1),
            "write %d: rows", n);
      if( rc>0 ) execute(t.db, "COMMIT");
      checkIntegrity(&ours, t.db, "a write failed");
      closeTable(&t);
    }
    check(nFailed>3, "%d writes failed", nFailed);
  }
}

/* The file may not grow: the same error as of the INSERT, and the same left */
static void testFull(void){
  int bLoad;
  Text aText[2] = { {0,0,0}, {0,0,0} };
  for(bLoad=0; bLoad<2; bLoad++){
    Table t;
    int rc = 0, i;
    openTable(&t, "", "CREATE TABLE t(a,b)");
    execute(t.db, "PRAGMA max_page_count=60; BEGIN IMMEDIATE;"
                  "INSERT INTO t VALUES('first',0)");
    if( bLoad ){
      addMany(&t, 1000);
      rc = -append(&t);
    }else{
      for(i=0; i<1000 && rc==SQLITE_OK; i++){
        hp_load_value a[2];
        static char zLong[3000];
        memset(zLong, 'y', sizeof(zLong)-1);
        a[0] = integerOf(i);
        a[1] = textOf(zLong);
        a[1].n = (unsigned)(i%7==0 ? 2900 : i%90);
        rc = step(t.pInsert, a, 2);
      }
    }
    textAppend(&aText[bLoad], "%d, %s, %d, %d", rc, sqlite3_errmsg(t.db),
               sqlite3_errcode(t.db), sqlite3_get_autocommit(t.db));
    answer(&ours, t.db, "SELECT count(*) FROM t", &aText[bLoad]);
    closeTable(&t);
  }
  check(strcmp(aText[0].z, aText[1].z)==0, "%s, not %s", aText[1].z, aText[0].z);
  check(strstr(aText[0].z, "full")!=0, "it is not full: %s", aText[0].z);
  textClear(&aText[0]);
  textClear(&aText[1]);
}

int main(int argc, char **argv){
  static const Test aTest[] = {
    { "values", testValues }, { "rooms", testRooms }, { "which", testWhich },
    { "refused", testRefused }, { "keys", testKeys },
    { "between", testBetween }, { "threads", testThreads },
    { "stops", testStops }, { "memory", testMemory }, { "writes", testWrites },
    { "full", testFull },
  };
  if( argc<2 || loadStock(&stock, argv[1]) ){
    fprintf(stderr, "usage: load STOCK [NAME]\n");
    return 2;
  }
  if( !hasEngine() ) return finish();
  zFile = temporaryFile("load.db");
  zOther = temporaryFile("load-other.db");
  readValues();
  runTests(aTest, (int)(sizeof(aTest)/sizeof(aTest[0])), argc<3 ? 0 : argv[2]);
  removeDb(zFile);
  removeDb(zOther);
  return finish();
}
