/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** CREATE INDEX and REINDEX (hp_refill.c), on hp_layer.c: the entries are those that
** stock makes, to the byte; the b-tree is one that stock finds nothing wrong with,
** goes on to insert into, and deletes from; errors are stock's, and leave what stock
** leaves.
**
**    upkeep STOCK [NAME]     STOCK is the unpatched library; only test NAME
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "entries.h"

static const char zMade[] = "indexes made from sorted runs";

/* Indexes of them */
static const char *const azIndex[] = {
  "CREATE INDEX i ON t(a)",
  "CREATE INDEX i ON t(b)",
  "CREATE INDEX i ON t(b DESC, c)",
  "CREATE INDEX i ON t(c COLLATE nocase, b)",
  "CREATE INDEX i ON t(c COLLATE rtrim DESC)",
  "CREATE INDEX i ON t(d)",
  "CREATE INDEX i ON t(d DESC, a DESC, b)",
  "CREATE INDEX i ON t(e)",
  "CREATE INDEX i ON t(e, c, b, a, d)",
  "CREATE INDEX i ON t(b+d, lower(c))",
  "CREATE INDEX i ON t(abs(b)%10, c||e, substr(e,1,3))",
  "CREATE INDEX i ON t(CAST(d AS REAL), d*1.0, +d)",
  "CREATE INDEX i ON t(a) WHERE a IS NOT NULL",
  "CREATE INDEX i ON t(b) WHERE b%3=0 AND c LIKE 'a%'",
  "CREATE INDEX i ON t(b) WHERE b<0",
  "CREATE INDEX i ON t(length(e), e) WHERE typeof(a)='text'",
  "CREATE INDEX i ON t(b, typeof(b)) WHERE length(c)>4",
  "CREATE UNIQUE INDEX i ON t(b, a, c, d, e) WHERE a IS NULL OR b>990",
  "CREATE UNIQUE INDEX i ON t(e||c||b||coalesce(a,'')||coalesce(d,''))",
};

/* Run zIndex on both.  Ours is to make it itself if bMade */
static void make(const char *zIndex, int bMade){
  sqlite3_int64 n = counted(adb[0], zMade);
  pairSame(zIndex);
  check(counted(adb[0], zMade)==n+bMade, "%s: %smade from sorted runs", zIndex, bMade ? "not " : "");
}

/* Every index of every table has the entries of stock's; and again, as REINDEX */
static void testSame(void){
  unsigned i, k;
  for(i=0; i<sizeof(azTable)/sizeof(azTable[0]); i++){
    for(k=0; k<sizeof(azIndex)/sizeof(azIndex[0]); k++){
      const char *zIndex = azIndex[k];
      begin(k%2 ? "PRAGMA page_size=512" : "PRAGMA page_size=1024; PRAGMA journal_mode=WAL", azTable[i]);
      make(zIndex, 1);
      if( k%3==0 ) make("REINDEX i", 1);
      endSame(zIndex, "i");
      if( k%4==i ) storm(zIndex);
      finishPair();
    }
  }
}

/* B-trees of every number of entries, so that each level ends in each way */
static void testEdges(void){
  int n;
  begin("PRAGMA page_size=512", "CREATE TABLE t(a,b,c,d,e);");
  both("CREATE TABLE u(x)");
  for(n=0; n<700; n+=(n<150 ? 1 : 7)){
    Text sql = {0,0,0};
    int m = n%3==0 ? 0 : n%3==1 ? 80 : 97;
    textAppend(&sql, "DROP INDEX IF EXISTS k; DELETE FROM u; INSERT INTO u"
               " SELECT printf('%%0*d', %d, rowid*7919%%1000) FROM t LIMIT %d", m, n);
    both(sql.z);
    make("CREATE INDEX k ON u(x)", 1);
    checkIntegrity(&ours, adb[0], "edges");
    if( n%10==0 ){
      both("DELETE FROM u WHERE rowid%3=0");
      checkIntegrity(&ours, adb[0], "edges, rows deleted");
      both("DELETE FROM u WHERE rowid%7>0");
      checkIntegrity(&ours, adb[0], "edges, more deleted");
    }
    textClear(&sql);
  }
  both("DROP TABLE t; DROP INDEX k; CREATE INDEX k ON u(x)");
  endSame("edges", "k");
  finishPair();
}

/* Pages of all sizes, with reserved bytes, auto_vacuum, free pages */
static void testFiles(void){
  static const char *const azBegin[] = {
    "PRAGMA page_size=512; PRAGMA auto_vacuum=full",
    "PRAGMA page_size=1024; PRAGMA auto_vacuum=incremental",
    "PRAGMA page_size=65536",
    "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=2",
    "PRAGMA page_size=512; PRAGMA cache_size=10",
    "PRAGMA page_size=2048; PRAGMA secure_delete=on",
    "PRAGMA page_size=1024; PRAGMA temp_store=memory",
    "PRAGMA page_size=1024; PRAGMA locking_mode=exclusive; PRAGMA journal_mode=off",
  };
  unsigned i;
  for(i=0; i<sizeof(azBegin)/sizeof(azBegin[0]); i++){
    begin(azBegin[i], azTable[i%2]);
    if( i%2 ) both("CREATE TABLE x AS SELECT * FROM t; DROP TABLE x");
    make("CREATE INDEX i ON t(e,b)", 1);
    both("DELETE FROM t WHERE b%3=0");
    make("REINDEX i", 1);
    endSame(azBegin[i], "i");
    storm(azBegin[i]);
    finishPair();
  }
}

/* What is left to SQLite, and what the executor finds too late */
static void lowerX(sqlite3_context *p, int n, sqlite3_value **ap){
  (void)n;
  sqlite3_result_value(p, ap[0]);
}
static int reverse(void *p, int n, const void *a, int m, const void *b){
  int c = memcmp(b, a, n<m ? n : m);
  (void)p;
  return c ? c : m-n;
}
static void testRefused(void){
  begin("PRAGMA page_size=1024", azTable[0]);
  sqlite3_create_function(adb[0], "lower_x", 1, SQLITE_UTF8|SQLITE_DETERMINISTIC, 0, lowerX, 0, 0);
  sqlite3_create_collation(adb[0], "reverse", SQLITE_UTF8, 0, reverse);
  execute(adb[0], "CREATE INDEX i1 ON t(lower_x(a))");
  execute(adb[0], "CREATE INDEX i2 ON t(c COLLATE reverse)");
  check(counted(adb[0], zMade)==0, "code of the application is called by workers");
  execute(adb[0], "DROP INDEX i1; DROP INDEX i2; PRAGMA hp_offload=off");
  make("CREATE INDEX i ON t(b)", 0);
  both("DROP INDEX i");
  execute(adb[0], "PRAGMA hp_offload=force");
  /* An expression that fails for some row */
  make("CREATE INDEX i ON t(abs(CASE WHEN id=2000 THEN -9223372036854775808 ELSE b END))", 0);
  pairSame("SELECT count(*) FROM sqlite_schema");
  make("CREATE INDEX i ON t(json_extract(e,'$.x'))", 0);
  pairSame("SELECT count(*) FROM sqlite_schema");
  make("CREATE INDEX i ON t(b)", 1);
  endSame("refused", "i");
  finishPair();
  begin("PRAGMA encoding=utf16", azTable[0]);
  make("CREATE INDEX i ON t(e)", 0);
  pairSame("PRAGMA integrity_check");
  sqlite3_close(adb[0]);
  finishPair();
}

/* The error, and nothing but that */
static void testUnique(void){
  static const char *const azUnique[] = {
    "CREATE UNIQUE INDEX u ON t(b)",
    "CREATE UNIQUE INDEX u ON t(c,d)",
    "CREATE UNIQUE INDEX u ON t(c COLLATE nocase, id/70)",
    "CREATE UNIQUE INDEX u ON t(b%100)",
    "CREATE UNIQUE INDEX u ON t(d)",
    "CREATE UNIQUE INDEX u ON t(a,d) WHERE a IS NULL OR d IS NULL",
  };
  unsigned i;
  begin("PRAGMA page_size=512", azTable[0]);
  both("CREATE INDEX i ON t(a)");
  for(i=0; i<sizeof(azUnique)/sizeof(azUnique[0]); i++){
    pairSame(azUnique[i]);
    check(strcmp(sqlite3_errmsg(adb[0]), "not an error")==0 || i<5, "%s: no error", azUnique[i]);
    pairSame("SELECT name FROM sqlite_schema");
    pairSame("PRAGMA freelist_count");
    checkIntegrity(&ours, adb[0], azUnique[i]);
    both("DROP INDEX IF EXISTS u");
  }
  /* The message names the columns */
  sqlite3_exec(adb[0], azUnique[1], 0, 0, 0);
  check(strcmp(sqlite3_errmsg(adb[0]), "UNIQUE constraint failed: t.c, t.d")==0,
        "message: %s", sqlite3_errmsg(adb[0]));
  /* REINDEX of an index that rows have made false */
  both("CREATE UNIQUE INDEX u ON t(id,b); PRAGMA writable_schema=on;"
       "UPDATE sqlite_schema SET sql='CREATE UNIQUE INDEX u ON t(b)' WHERE name='u';"
       "PRAGMA writable_schema=reset");
  pairSame("REINDEX u");
  pairSame("SELECT name, sql FROM sqlite_schema");
  both("PRAGMA writable_schema=on;"
       "UPDATE sqlite_schema SET sql='CREATE UNIQUE INDEX u ON t(id,b)' WHERE name='u';"
       "PRAGMA writable_schema=reset");
  endSame("unique", "i");
  finishPair();
}

/* Defaults and stored values of REAL columns, and what is computed of them */
static void testReals(void){
  begin("PRAGMA page_size=1024", azTable[0]);
  both("ALTER TABLE t ADD COLUMN r REAL DEFAULT 9007199254740993; ALTER TABLE t ADD COLUMN s REAL DEFAULT 3;"
       "ALTER TABLE t ADD COLUMN u REAL DEFAULT 2.5; INSERT INTO t(b,r,s,u) VALUES(1,9007199254740992.0,3.0,2.5),"
       "(2,9007199254740994,1e300,-0.0),(3,9223372036854775807,9e999,NULL),(4,140737488355328,140737488355327,7)");
  make("CREATE INDEX i ON t(s,u,d)", 1);
  pairSame("CREATE INDEX j ON t(r)");
  pairSame("CREATE INDEX k ON t(r) WHERE b>990");
  pairSame("SELECT rowid, r, typeof(r) FROM t INDEXED BY j WHERE r>0 ORDER BY r");
  pairSame("PRAGMA integrity_check");
  endSame("reals", "i");
  sameIndex("reals", "j");
  sameIndex("reals", "k");
  finishPair();
  begin("PRAGMA page_size=1024", "CREATE TABLE t(a,b,c,d REAL,e, g AS (d), h REAL AS (b), k TEXT AS (d));");
  make("CREATE INDEX i ON t(g,h,k)", 0);
  make("CREATE INDEX j ON t(b)", 0);
  make("CREATE INDEX l ON t(coalesce(g,1), k||1)", 0);
  endSame("reals of virtual columns", "i");
  sameIndex("reals of virtual columns", "l");
  finishPair();
  begin("PRAGMA page_size=1024", "CREATE TABLE t(a,b,c,d REAL,e, g AS (d), k TEXT AS (d));");
  make("CREATE INDEX i ON t(g)", 0);
  make("CREATE INDEX j ON t(b,k)", 1);
  make("CREATE INDEX l ON t(coalesce(g,1), k||1, g+0)", 1);
  endSame("reals of untyped columns", "i");
  sameIndex("reals of untyped columns", "j");
  sameIndex("reals of untyped columns", "l");
  finishPair();
}

/* The schema's own expressions are not changed by programs that are made of them */
static void testAgain(void){
  int i;
  begin("PRAGMA page_size=1024", azTable[0]);
  both("CREATE INDEX i ON t(b + (5 IN (5,6,7)), c) WHERE b > (5 IN (4,6,7,8)) + 0 AND b NOT IN (1,2,3,4)");
  for(i=0; i<3; i++){
    pairSame("REINDEX i");
    pairSame("PRAGMA integrity_check");
    both("INSERT INTO t(b,c) VALUES(77,'x')");
  }
  endSame("again", "i");
  finishPair();
}

/* The schema of a damaged file takes a table for an index */
static void testRoot(void){
  begin("PRAGMA page_size=1024", azTable[0]);
  both("CREATE INDEX i ON t(b); CREATE TABLE u AS SELECT * FROM t; PRAGMA writable_schema=on;"
       "UPDATE sqlite_schema SET rootpage=(SELECT rootpage FROM sqlite_schema WHERE name='u') WHERE name='i';"
       "PRAGMA writable_schema=reset");
  make("REINDEX i", 0);
  pairSame("SELECT count(*), sum(b) FROM u");
  apLib[0]->close(adb[0]);
  finishPair();
}

/* In the midst of transactions: rows that are not in the file, savepoints */
static void testTransactions(void){
  begin("PRAGMA page_size=512; PRAGMA journal_mode=WAL", azTable[0]);
  both("BEGIN; UPDATE t SET e=e||'!', b=b+1 WHERE b%10=0; DELETE FROM t WHERE b%50=3;"
       "INSERT INTO t(a,b,e) SELECT b, a, 'new'||e FROM t WHERE b%20=1; SAVEPOINT s");
  make("CREATE INDEX i ON t(e,b)", 1);
  pairSame("SELECT count(*), min(e), max(e) FROM t INDEXED BY i WHERE e>=''");
  both("ROLLBACK TO s");
  pairSame("SELECT name FROM sqlite_schema");
  checkIntegrity(&ours, adb[0], "rolled back to a savepoint");
  make("CREATE INDEX i ON t(b,e)", 1);
  both("INSERT INTO t(a,b,e) VALUES(1,2,3); RELEASE s; COMMIT");
  make("REINDEX", 1);
  both("BEGIN");
  make("REINDEX t", 1);
  both("DELETE FROM t WHERE b<5; ROLLBACK");
  endSame("transactions", "i");
  storm("transactions");
  finishPair();
}

/* Where else a table may be */
static void testElsewhere(void){
  begin("PRAGMA page_size=1024", azTable[0]);
  both("ATTACH ':memory:' AS m; CREATE TABLE m.v AS SELECT * FROM t;"
       "CREATE TEMP TABLE w AS SELECT * FROM t");
  make("CREATE INDEX m.vi ON v(e)", 1);
  make("CREATE INDEX temp.wi ON w(c,b DESC)", 1);
  pairSame("PRAGMA m.integrity_check");
  pairSame("PRAGMA temp.integrity_check");
  pairSame("SELECT count(*), sum(rowid) FROM v INDEXED BY vi WHERE e>'5'");
  pairSame("SELECT group_concat(rowid) FROM w INDEXED BY wi WHERE c='Abc7'");
  /* A shared cache takes no part, and columns that were added later have defaults */
  both("ALTER TABLE t ADD COLUMN z REAL DEFAULT 2; ALTER TABLE t ADD COLUMN y DEFAULT 'long';"
       "UPDATE t SET z=z+0.5 WHERE b%2");
  make("CREATE INDEX i ON t(z,y,b)", 1);
  endSame("elsewhere", "i");
  finishPair();
}

/* Little memory: runs go to a file */
static void testSpill(void){
  begin("PRAGMA page_size=1024", azTable[0]);
  both("INSERT INTO t(a,b,c,d,e) SELECT a,b+value,c,d,e||value FROM t, " SERIES("20"));
  execute(adb[0], "PRAGMA hp_memory=1000000");
  make("CREATE INDEX i ON t(e,b)", 1);
  check(counted(adb[0], "wrote to a file")>0, "nothing was written to a file");
  make("CREATE UNIQUE INDEX u ON t(e)", 1);
  make("CREATE UNIQUE INDEX w ON t(b)", 0);
  both("CREATE UNIQUE INDEX v ON t(e,id)");
  endSame("spill", "i");
  finishPair();
}

/* Stopped by the progress handler at its n-th call */
static void testStop(void){
  int n, nCall = 0;
  int rc = SQLITE_INTERRUPT;
  sqlite3 *db;
  begin("PRAGMA page_size=512", azTable[0]);
  db = adb[0];
  for(n=0; rc==SQLITE_INTERRUPT; n+=(n<10 ? 1 : 9)){
    stopAt(db, 500, n);
    rc = sqlite3_exec(db, "CREATE INDEX i ON t(e)", 0, 0, 0);
    nCall = stopEnd(db);
    check(rc==SQLITE_OK || rc==SQLITE_INTERRUPT, "stopped at call %d: error %d", n, rc);
    checkIntegrity(&ours, db, "stopped");
  }
  check(nCall>=2500*8/500, "the progress handler was called %d times", nCall);
  runOn(&stock, adb[1], "CREATE INDEX i ON t(e)");
  endSame("stop", "i");
  finishPair();
}

/* Each request for memory fails, once or from then on */
static void testMemory(void){
  int bForEver, n;
  failMemory(1);
  for(bForEver=0; bForEver<2; bForEver++){
    int rc = SQLITE_NOMEM;
    begin("PRAGMA page_size=512", azTable[0]);
    both("DELETE FROM t WHERE id>600; CREATE INDEX i ON t(b)");
    for(n=0; rc==SQLITE_NOMEM || fault.nFailed>0; n+=(n<100 || longRun() ? 1 : 5)){
      sqlite3 *db = adb[0];
      failAfter(n, bForEver);
      rc = sqlite3_exec(db, n%2 ? "REINDEX i" : "CREATE UNIQUE INDEX k ON t(e,b)", 0, 0, 0);
      fault.nLeft = -1;
      check(rc==SQLITE_OK || rc==SQLITE_NOMEM, "allocation %d: error %d", n, rc);
      checkIntegrity(&ours, db, "an allocation failed");
      execute(db, "DROP INDEX IF EXISTS k");
    }
    check(n>20, "only %d allocations", n);
    both("REINDEX i");
    endSame("memory", "i");
    finishPair();
  }
  failMemory(0);
}

/* The file may not grow: after each number of pages */
static void testFull(void){
  int n, nFailed = 0;
  int rc = SQLITE_FULL;
  begin("PRAGMA page_size=512; PRAGMA auto_vacuum=incremental", azTable[0]);
  for(n=0; rc==SQLITE_FULL; n+=(n<20 ? 1 : 37)){
    char zSql[100];
    sqlite3_int64 nPage = integer(&ours, adb[0], "PRAGMA page_count");
    snprintf(zSql, sizeof(zSql), "PRAGMA max_page_count=%lld", nPage+n);
    execute(adb[0], zSql);
    rc = sqlite3_exec(adb[0], "CREATE INDEX i ON t(e,a)", 0, 0, 0);
    nFailed += rc==SQLITE_FULL;
    check(rc==SQLITE_OK || rc==SQLITE_FULL, "%d pages: error %d", n, rc);
    checkIntegrity(&ours, adb[0], "full");
    check(rc || nPage<integer(&ours, adb[0], "PRAGMA page_count"), "no pages");
    check(rc==SQLITE_OK || nPage==integer(&ours, adb[0], "PRAGMA page_count"), "pages are left");
  }
  check(nFailed>5, "failed %d times only", nFailed);
  runOn(&stock, adb[1], "CREATE INDEX i ON t(e,a)");
  endSame("full", "i");
  finishPair();
}

/* Each write fails */
static void testWrites(void){
  int k;
  for(k=0; k<2; k++){
    int n, rc = SQLITE_IOERR;
    begin(k ? "PRAGMA page_size=512; PRAGMA journal_mode=WAL; PRAGMA cache_size=10"
            : "PRAGMA page_size=512; PRAGMA cache_size=10", azTable[0]);
    both("CREATE INDEX i ON t(b)");
    failWrites(1);
    for(n=0; rc; n+=(n<20 || longRun() ? 1 : 23)){
      failAfter(n, n%2);
      rc = sqlite3_exec(adb[0], n%3 ? "REINDEX i" : "CREATE INDEX k ON t(e,b)", 0, 0, 0);
      fault.nLeft = -1;
      if( rc==SQLITE_OK && fault.nFailed ) rc = SQLITE_IOERR;
      check(rc==SQLITE_OK || rc==SQLITE_IOERR || rc==SQLITE_FULL, "write %d: error %d", n, rc);
      checkIntegrity(&ours, adb[0], "a write failed");
      execute(adb[0], "DROP INDEX IF EXISTS k");
    }
    failWrites(0);
    both("REINDEX i");
    endSame("writes", "i");
    finishPair();
  }
}

int main(int argc, char **argv){
  static const Test aTest[] = {
    { "same", testSame }, { "edges", testEdges }, { "files", testFiles },
    { "refused", testRefused }, { "unique", testUnique },
    { "reals", testReals }, { "again", testAgain }, { "root", testRoot },
    { "transactions", testTransactions }, { "elsewhere", testElsewhere },
    { "spill", testSpill }, { "stop", testStop }, { "memory", testMemory },
    { "full", testFull }, { "writes", testWrites },
  };
  if( argc<2 || pairLoad(argv[1]) ){
    fprintf(stderr, "usage: upkeep STOCK [NAME]\n");
    return 2;
  }
  if( !hasEngine() ) return finish();
  azFile[0] = temporaryFile("upkeep-ours.db");
  azFile[1] = temporaryFile("upkeep-stock.db");
  runTests(aTest, sizeof(aTest)/sizeof(aTest[0]), argc<3 ? 0 : argv[2]);
  return finish();
}
