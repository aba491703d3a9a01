/*
** What a SQLite answers, as text, on whatever machine it was compiled for.
**
**    smoke FILE ROWS SQL...     makes the database, asks, changes it, asks
**    smoke FILE 0 SQL...        only asks a database that another machine made
**
** Each SQL is run first, on the connection that does all: settings.  Every
** query is asked four times, so that ours begins, keeps columns and reads them.
** A value is written with its type, a real with its bits, so that two runs are
** compared byte by byte.  Standard error gets the number of queries whose plan
** has "VECTORIZED", and with ours the number of scans that ran to their end.
**
** There are no threads of its own and no functions of the mathematical library
** in here: the first are missing on some systems, and the second differ.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sqlite3.h"

#define ROWS "WITH s(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM s WHERE x<%d) "

/* Integers of all sizes, reals up to 1e308, texts in UTF-8, NULL, a column of
** all types, blobs, overflow pages, dates; WITHOUT ROWID */
static const char *const azMake[] = {
  "CREATE TABLE t(id INTEGER PRIMARY KEY, g TEXT, i INT, r REAL, n, m, d TEXT,"
  " b BLOB, big TEXT)",
  "CREATE TABLE p(k INTEGER PRIMARY KEY, name TEXT, class INT)",
  "CREATE TABLE w(a TEXT, c INT, v REAL, PRIMARY KEY(a, c)) WITHOUT ROWID",
  "INSERT INTO t " ROWS "SELECT x, 'g\xc3\xa4\xe2\x82\xac'||(x%%97),"
  " (x*7919%%10007-5000)*(CASE x%%5 WHEN 0 THEN 1 WHEN 1 THEN 300"
  "  WHEN 2 THEN 70000 WHEN 3 THEN 90000000 ELSE 4000000000 END),"
  " (x*31%%4001)/8.0-200, CASE WHEN x%%3 THEN x%%211 END,"
  " CASE x%%6 WHEN 0 THEN x WHEN 1 THEN x/7.0 WHEN 2 THEN 'm'||(x%%50)"
  "  WHEN 3 THEN NULL WHEN 4 THEN CAST('b'||(x%%20) AS BLOB) ELSE ''||(x%%90) END,"
  " date('2019-01-01', (x%%2000)||' days'),"
  " CASE WHEN x%%4=0 THEN CAST('blob'||x AS BLOB) END,"
  " CASE WHEN x%%500=0 THEN replace(hex(zeroblob(4000)), '00', 'ab'||(x%%10))"
  "  ELSE 'short' END FROM s",
  "INSERT INTO p " ROWS "SELECT x-1, 'p'||(x*37%%211), x%%13 FROM s WHERE x<=211",
  "INSERT INTO w " ROWS "SELECT 'a'||(x%%300), x, (x%%1000)*1e305 FROM s WHERE x%%4=1",
  "CREATE INDEX t_i ON t(i)",
};

static const char *const azAsk[] = {
  "SELECT g, count(*), sum(i), min(d), max(r), avg(r) FROM t GROUP BY g ORDER BY g",
  "SELECT typeof(m), count(*), sum(m), total(m), min(m), max(m) FROM t GROUP BY 1 ORDER BY 1",
  "SELECT n, count(*), sum(r), group_concat(id%7) FROM t GROUP BY n ORDER BY n",
  "SELECT substr(d,1,7), count(DISTINCT g), sum(i%1000) FROM t GROUP BY 1 ORDER BY 1",
  "SELECT strftime('%Y', d), strftime('%m', d), count(*) FROM t GROUP BY 1, 2 ORDER BY 1, 2",
  "SELECT id, r, g FROM t ORDER BY r DESC, g, id LIMIT 60",
  "SELECT id, d, i FROM t WHERE i%11=3 ORDER BY d, i, id LIMIT 200",
  "SELECT DISTINCT n, i%3 FROM t ORDER BY 1, 2",
  "SELECT count(*), sum(length(big)), sum(length(b)) FROM t",
  "SELECT count(*) FROM t WHERE g LIKE 'G\xc3\xa4_1%' OR big LIKE '%b3ab%'",
  "SELECT count(*), sum(r) FROM t WHERE n IN (3, 5, 7, 11, 13, 17, 19) AND d>='2021'",
  "SELECT p.class, count(*), sum(t.r) FROM t JOIN p ON p.k=t.n GROUP BY 1 ORDER BY 1",
  "SELECT p.name, max(t.i) FROM t LEFT JOIN p ON p.k=t.n WHERE t.r>250"
  " GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 40",
  "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM p WHERE k=t.n AND class=4)",
  "SELECT count(*), max(r) FROM t WHERE n IN (SELECT k FROM p WHERE class<3)",
  "SELECT g, (SELECT max(name) FROM p WHERE class<7), min(i) FROM t WHERE id%9=1"
  " GROUP BY g ORDER BY g",
  "SELECT sum(v), total(v), avg(v), max(v) FROM w WHERE c<4000",
  "SELECT a, sum(v*1000), count(*) FROM w GROUP BY a ORDER BY a LIMIT 80",
  "SELECT g, median(r), percentile(i, 90), percentile_cont(r, 0.25) FROM t GROUP BY g ORDER BY g",
  "SELECT id, g, row_number() OVER (PARTITION BY g ORDER BY r, id) AS k FROM t"
  " WHERE id%13=0 ORDER BY g, k LIMIT 150",
  "SELECT * FROM (SELECT g, d, rank() OVER (PARTITION BY g ORDER BY d DESC, id) AS k FROM t)"
  " WHERE k<=2 ORDER BY g, k LIMIT 150",
  "SELECT g, group_concat(n, ';' ORDER BY r, id) FROM t WHERE id%17=4 GROUP BY g ORDER BY g",
  "SELECT CASE WHEN i<0 THEN 'neg' WHEN i<100000 THEN 'low' ELSE 'high' END AS z, count(*),"
  " sum(CASE WHEN r>0 THEN r ELSE -i/3 END), count(b) FROM t GROUP BY z ORDER BY z",
  "SELECT coalesce(n, -id%5), upper(g), count(*) FROM t WHERE d BETWEEN '2020-02' AND '2020-09'"
  " GROUP BY 1, 2 HAVING count(*)>1 ORDER BY 1, 2 LIMIT 200",
  "SELECT sum(i), sum(i*2+1), avg(i/7), sum(r*r), count(*) FROM t WHERE i BETWEEN -5000000 AND 90000000",
};
#define N_ASK ((int)(sizeof(azAsk)/sizeof(azAsk[0])))

static const char *const azChange[] = {
  "UPDATE t SET r=r+0.125, g=g||'!' WHERE id%7=2",
  "DELETE FROM t WHERE n=5 OR id%91=0",
  "CREATE TABLE u AS SELECT g, sum(r) AS s, count(*) AS c FROM t GROUP BY g",
  "INSERT INTO w SELECT g||'!', id, r FROM t WHERE id%50=1 ORDER BY d, id",
  "UPDATE p SET class=(SELECT count(*) FROM t WHERE t.n=p.k)%13 WHERE k%3=0",
};

static int nWrong = 0;

/* Run zSql, whose rows are not of interest */
static void run(sqlite3 *db, const char *zSql){
  char *zErr = 0;
  if( sqlite3_exec(db, zSql, 0, 0, &zErr)!=SQLITE_OK ){
    fprintf(stderr, "%s: %s\n", zSql, zErr ? zErr : "no error message");
    nWrong++;
  }
  sqlite3_free(zErr);
}

/* Write the value of a column with its type: reals as bits, blobs as bytes */
static void value(sqlite3_str *pOut, sqlite3_stmt *pStmt, int i){
  switch( sqlite3_column_type(pStmt, i) ){
    case SQLITE_INTEGER:
      sqlite3_str_appendf(pOut, "i%lld", sqlite3_column_int64(pStmt, i));
      break;
    case SQLITE_FLOAT: {
      double r = sqlite3_column_double(pStmt, i);
      sqlite3_uint64 x;
      memcpy(&x, &r, sizeof(x));
      sqlite3_str_appendf(pOut, "r%llx", x);
      break;
    }
    case SQLITE_TEXT:
      sqlite3_str_appendf(pOut, "t%s", sqlite3_column_text(pStmt, i));
      break;
    case SQLITE_BLOB: {
      const unsigned char *a = sqlite3_column_blob(pStmt, i);
      int n = sqlite3_column_bytes(pStmt, i);
      int k;
      sqlite3_str_appendall(pOut, "b");
      for(k=0; k<n; k++) sqlite3_str_appendf(pOut, "%02x", a[k]);
      break;
    }
    default:
      sqlite3_str_appendall(pOut, "null");
  }
}

/* Write all rows of zSql, or its error */
static void ask(sqlite3 *db, const char *zSql){
  sqlite3_stmt *pStmt = 0;
  int rc = sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0);
  while( rc==SQLITE_OK && (rc = sqlite3_step(pStmt))==SQLITE_ROW ){
    sqlite3_str *pOut = sqlite3_str_new(db);
    char *z;
    int i;
    for(i=0; i<sqlite3_column_count(pStmt); i++){
      if( i>0 ) sqlite3_str_appendall(pOut, "|");
      value(pOut, pStmt, i);
    }
    z = sqlite3_str_finish(pOut);
    printf("%s\n", z ? z : "no memory");
    sqlite3_free(z);
    rc = SQLITE_OK;
  }
  if( rc!=SQLITE_DONE ) printf("error %d: %s\n", rc, sqlite3_errmsg(db));
  sqlite3_finalize(pStmt);
}

/* Has the plan of zSql a step of ours? */
static int isOurs(sqlite3 *db, const char *zSql){
  char *z = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", zSql);
  sqlite3_stmt *pStmt = 0;
  int bOurs = 0;
  if( sqlite3_prepare_v2(db, z, -1, &pStmt, 0)==SQLITE_OK ){
    while( sqlite3_step(pStmt)==SQLITE_ROW ){
      const char *zStep = (const char*)sqlite3_column_text(pStmt, 3);
      if( zStep && strstr(zStep, "VECTORIZED") ) bOurs = 1;
    }
  }
  sqlite3_finalize(pStmt);
  sqlite3_free(z);
  return bOurs;
}

static void askAll(sqlite3 *db, int nTime){
  int i, k;
  for(i=0; i<N_ASK; i++){
    for(k=0; k<nTime; k++){
      printf("-- %d\n", i+1);
      ask(db, azAsk[i]);
    }
  }
}

int main(int argc, char **argv){
  sqlite3 *db = 0;
  int nRow, nOurs = 0;
  int i;
  if( argc<3 ) return 2;
  nRow = atoi(argv[2]);
  if( sqlite3_open(argv[1], &db)!=SQLITE_OK ){
    fprintf(stderr, "%s: %s\n", argv[1], sqlite3_errmsg(db));
    return 1;
  }
  for(i=3; i<argc; i++) run(db, argv[i]);
  if( nRow>0 ){
    run(db, "BEGIN");
    for(i=0; i<(int)(sizeof(azMake)/sizeof(azMake[0])); i++){
      char *z = sqlite3_mprintf(azMake[i], nRow);
      run(db, z);
      sqlite3_free(z);
    }
    run(db, "COMMIT");
  }
  for(i=0; i<N_ASK; i++) nOurs += isOurs(db, azAsk[i]);
  fprintf(stderr, "%d of %d VECTORIZED\n", nOurs, N_ASK);
  askAll(db, 4);
  if( nRow>0 ){
    for(i=0; i<(int)(sizeof(azChange)/sizeof(azChange[0])); i++){
      run(db, azChange[i]);
      printf("-- %d changes\n", sqlite3_changes(db));
    }
    askAll(db, 1);
    ask(db, "SELECT * FROM u ORDER BY g");
  }
  ask(db, "PRAGMA integrity_check");
  if( sqlite3_close(db)!=SQLITE_OK ) nWrong++;
  return nWrong>0;
}
