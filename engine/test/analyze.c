/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** ANALYZE (hp_analyze.c, hp_prefix.c) and PRAGMA foreign_key_check
** (hp_orphans.c): the rows of sqlite_stat1 are stock's to the byte, and so are
** the rows about orphans and their order; and it is the executor that has counted
** them, where it can.
**
**    analyze STOCK [NAME]    STOCK is the unpatched library; only test NAME
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pair.h"

static const char zScan[] = "indexes analyzed by a scan";
static const char zCheck[] = "tables whose foreign keys a scan has checked";

/* Rows of all types, with equal values, NULLs, what collations take for equal,
** and texts that need overflow pages */
#define ROWS(T,N) \
  "INSERT INTO " T "(a,b,c,d,e,k) SELECT" \
  " CASE value%7 WHEN 0 THEN NULL WHEN 1 THEN value%90*1.5 WHEN 2 THEN value%90" \
  "   WHEN 3 THEN (value*7919)%1000*1000003 WHEN 4 THEN -value" \
  "   WHEN 5 THEN 'text'||(value%50) ELSE CAST(x'00ff'||(value%40) AS BLOB) END," \
  " (value*7919)%97," \
  " CASE value%4 WHEN 0 THEN 'Abc'||(value%20) WHEN 1 THEN 'aBC'||(value%20)" \
  "   WHEN 2 THEN 'abc'||(value%20)||'  ' ELSE NULL END," \
  " CASE value%5 WHEN 0 THEN value%31 WHEN 1 THEN value%60/4.0 WHEN 2 THEN -0.0" \
  "   WHEN 3 THEN 1e15+value%9 ELSE NULL END," \
  " CASE value%11 WHEN 0 THEN printf('%.*c',value%900,'x') ELSE (value%300)||'y' END," \
  " CASE WHEN value%3 THEN value END" \
  " FROM " SERIES(N) ";"

static const char zTables[] =
  "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b INT, c TEXT, d REAL, e, k UNIQUE);"
  "CREATE TABLE w(id INTEGER, a, b INT, c TEXT, d REAL, e, k, n INTEGER NOT NULL"
  " DEFAULT 1, PRIMARY KEY(b, e COLLATE nocase DESC)) WITHOUT ROWID;"
  "CREATE TABLE v(k TEXT PRIMARY KEY, a, b, c, d, e) WITHOUT ROWID;"
  "CREATE TABLE plain(x, y); CREATE TABLE none(x); CREATE INDEX nonei ON none(x);"
  ROWS("t", "2500") "INSERT OR IGNORE INTO w(id,a,b,c,d,e,k) SELECT id,a,b,coalesce(c,''),d,e,k FROM t;"
  "INSERT INTO v SELECT k||'key',a,b,c,d,e FROM t WHERE k IS NOT NULL;"
  "INSERT INTO plain SELECT a,b FROM t LIMIT 500;";

/* A sign: it is left to SQLite */
static const char *const azIndex[] = {
  "t(a)", "t(b)", "t(b DESC, c)", "t(c COLLATE nocase, b)", "t(c COLLATE rtrim DESC)",
  "t(d)", "t(d DESC, a DESC, b)", "t(e)", "t(e, c, b, a, d, id)", "t(c, a, c COLLATE nocase)",
  "t(abs(b)%10, c||e, substr(e,1,3))", "t(d*1.0, +d)", "t(a) WHERE a IS NOT NULL",
  "t(b, typeof(b)) WHERE length(c)>4", "-t(b) WHERE b<0",
  "UNIQUE t(id)", "UNIQUE t(k DESC)", "UNIQUE t(id, b)", "UNIQUE t(k, a)",
  "w(c)", "w(b, a)", "w(e COLLATE binary, c)", "w(d) WHERE c>'Abc1'", "v(b DESC, c)", "v(k, a)", "UNIQUE v(k)",
  "plain(x) WHERE y%2",
};
#define N_INDEX ((int)(sizeof(azIndex)/sizeof(azIndex[0])))

/* Indexes of the tables alone: t.k, w and v */
#define N_OWN 3

/* Make index i, and return whether it is taken over */
static int makeIndex(int i){
  Text sql = {0,0,0};
  const char *z = azIndex[i];
  int bTaken = z[0]!='-';
  int bUnique;
  z += !bTaken;
  bUnique = strncmp(z, "UNIQUE ", 7)==0;
  textAppend(&sql, "CREATE %sINDEX i%d ON %s", bUnique ? "UNIQUE " : "", i, &z[bUnique ? 7 : 0]);
  runOn(&stock, adb[1], sql.z);
  textClear(&sql);
  return bTaken;
}

/* Ours opens a copy of stock's file */
static void copied(void){
  unsigned char *a;
  int n;
  stock.close(adb[1]);
  a = readFile(azFile[1], &n);
  removeDb(azFile[0]);
  writeFile(azFile[0], a, n);
  free(a);
  adb[0] = openDb(&ours, azFile[0], 0);
  adb[1] = openDb(&stock, azFile[1], 0);
  both("PRAGMA synchronous=OFF");
  execute(adb[0], "PRAGMA hp_offload=force");
}

/* Databases with all tables, begun by zBegin, and all indexes if bIndex.  Returns
** how many can be taken over */
static int begin(const char *zBegin, int bIndex){
  int n = N_OWN;
  int i;
  removeDb(azFile[1]);
  adb[1] = openDb(&stock, azFile[1], 0);
  runOn(&stock, adb[1], zBegin);
  runOn(&stock, adb[1], "PRAGMA synchronous=OFF; BEGIN");
  runOn(&stock, adb[1], zTables);
  for(i=0; bIndex && i<N_INDEX; i++) n += makeIndex(i);
  runOn(&stock, adb[1], "COMMIT");
  copied();
  return n;
}

/* Run zSql on both: so many loops are ours */
static void taken(const char *zSql, const char *zWhat, int n){
  sqlite3_int64 nOld = counted(adb[0], zWhat);
  pairSame(zSql);
  nOld = counted(adb[0], zWhat)-nOld;
  check(nOld==n, "%s: %d %s, not %d", zSql, (int)nOld, zWhat, n);
}
static void analyzed(const char *zSql, int n){
  taken(zSql, zScan, n);
  pairSame("SELECT rowid, tbl, idx, stat FROM sqlite_stat1");
}

/* Files of all kinds, workers one and four */
static void testSame(void){
  static const char *const azBegin[] = {
    "PRAGMA page_size=512", "PRAGMA page_size=1024; PRAGMA journal_mode=WAL",
    "PRAGMA page_size=65536", "PRAGMA page_size=512; PRAGMA auto_vacuum=full",
  };
  unsigned i;
  for(i=0; i<sizeof(azBegin)/sizeof(azBegin[0]); i++){
    int n = begin(azBegin[i], 1);
    execute(adb[0], "PRAGMA hp_threads=4");
    analyzed("ANALYZE", n);
    execute(adb[0], "PRAGMA hp_threads=1");
    analyzed("ANALYZE", n);
    analyzed("ANALYZE main", n);
    analyzed("ANALYZE t", 19);
    analyzed("ANALYZE i3", 1);
    analyzed("ANALYZE w", 5);
    analyzed("ANALYZE plain", 1);
    analyzed("ANALYZE none", 0);
    pairSame("PRAGMA integrity_check");
    end("same");
  }
}

/* Where runs meet: b-trees of every number of entries, with values that go on for
** so many of them */
static void testEdges(void){
  int n;
  begin("PRAGMA page_size=512", 0);
  execute(adb[0], "PRAGMA hp_threads=4");
  both("CREATE TABLE u(x, y, z UNIQUE); CREATE INDEX ux ON u(x); CREATE INDEX uxy ON u(x COLLATE nocase, y);"
       "CREATE INDEX uy ON u(y DESC); CREATE UNIQUE INDEX uz ON u(z DESC)");
  for(n=0; n<900; n+=(n<120 ? 1 : 17)){
    Text sql = {0,0,0};
    textAppend(&sql, "DELETE FROM u; INSERT INTO u SELECT"
               " CASE WHEN id<%d THEN NULL WHEN id%%2 THEN printf('X%%*d', %d, id/%d)"
               " ELSE printf('x%%*d', %d, id/%d) END, id/%d, CASE WHEN id>%d THEN id END FROM t LIMIT %d",
               n/3, n%40, n%13+2, n%40, n%13+2, n%29+1, n%2 ? n/2 : 0, n);
    both(sql.z);
    analyzed("ANALYZE u", n>0 ? 5 : 0);
    textClear(&sql);
  }
  both("UPDATE u SET z=NULL");
  analyzed("ANALYZE u", 5);
  end("edges");
}

/* Values that are equal though their bytes or their types differ */
static void testValues(void){
  begin("PRAGMA page_size=512", 0);
  both("CREATE TABLE n(x, y, z REAL);"
       "INSERT INTO n SELECT CASE value%4 WHEN 0 THEN value/8 WHEN 1 THEN value/8*1.0 WHEN 2 THEN NULL"
       "   ELSE (value/8)*1000003 END,"
       " CASE value%5 WHEN 0 THEN printf('%.*c',value/40%12+1,'a') WHEN 1 THEN printf('%.*c',value/40%12+1,'A')"
       "   WHEN 2 THEN printf('%.*c  ',value/40%12+1,'a') WHEN 3 THEN CAST(value/40 AS BLOB) ELSE '' END,"
       " CASE value%7 WHEN 0 THEN 0.0 WHEN 1 THEN -0.0 WHEN 2 THEN 1e999 WHEN 3 THEN -1e999 WHEN 4 THEN value/20"
       "   WHEN 5 THEN value/20+0.5 ELSE value/20*1e15 END FROM " SERIES("2000") ";"
       "INSERT INTO n SELECT -0.0, y, x FROM n WHERE rowid%9=0;"
       "CREATE INDEX n1 ON n(x, y); CREATE INDEX n2 ON n(y, x); CREATE INDEX n3 ON n(y COLLATE nocase, z);"
       "CREATE INDEX n4 ON n(y COLLATE rtrim, x DESC); CREATE INDEX n5 ON n(z, x); CREATE INDEX n6 ON n(x DESC, z, y);"
       "CREATE INDEX n7 ON n(+z, z*1.0, x+0.0)");
  execute(adb[0], "PRAGMA hp_threads=3");
  analyzed("ANALYZE n", 7);
  both("DELETE FROM n WHERE z>1e300 OR z<-1e300");
  analyzed("ANALYZE n", 7);
  both("UPDATE n SET y=y||printf('%.*c',40+rowid%40,'b') WHERE rowid%100<50");
  analyzed("ANALYZE n", 7);
  end("values");
}

/* In the midst of transactions */
static void testTransactions(void){
  begin("PRAGMA page_size=512; PRAGMA journal_mode=WAL", 1);
  both("BEGIN; UPDATE t SET a=b, c=c||'z', k=NULL WHERE id%3=0; DELETE FROM t WHERE id%7=0;"
       "DELETE FROM w WHERE b%2; SAVEPOINT s");
  analyzed("ANALYZE t", 19);
  analyzed("ANALYZE w", 5);
  both("ROLLBACK TO s");
  pairSame("SELECT name FROM sqlite_schema");
  analyzed("ANALYZE t", 19);
  both("COMMIT; BEGIN; DELETE FROM t");
  analyzed("ANALYZE t", 0);
  both("ROLLBACK");
  analyzed("ANALYZE t", 19);
  end("transactions");
}

/* Where else a table may be */
static void testElsewhere(void){
  int i;
  begin("PRAGMA page_size=1024", 0);
  for(i=0; i<2; i++){
    Text sql = {0,0,0};
    removeDb(azFile[2+i]);
    textAppend(&sql, "ATTACH '%s' AS o; CREATE TABLE o.x AS SELECT * FROM t; CREATE INDEX o.xi ON x(b, c)",
               azFile[2+i]);
    runOn(apLib[i], adb[i], sql.z);
    textClear(&sql);
  }
  both("ATTACH ':memory:' AS m; CREATE TABLE m.y AS SELECT * FROM t; CREATE INDEX m.yi ON y(c COLLATE nocase);"
       "CREATE TEMP TABLE z AS SELECT * FROM t; CREATE INDEX temp.zi ON z(d, a)");
  taken("ANALYZE o", zScan, 1);
  taken("ANALYZE m", zScan, 1);
  taken("ANALYZE o.x", zScan, 1);
  taken("ANALYZE o.xi", zScan, 1);
  taken("ANALYZE", zScan, N_OWN+2);
  pairSame("SELECT * FROM main.sqlite_stat1");
  pairSame("SELECT * FROM o.sqlite_stat1");
  pairSame("SELECT * FROM m.sqlite_stat1");
  taken("ANALYZE temp", zScan, 1);
  both("DETACH o; DETACH m");
  end("elsewhere");
  removeDb(azFile[2]);
  removeDb(azFile[3]);
}

/* What is left to SQLite */
static int reverse(void *p, int n, const void *a, int m, const void *b){
  int c = memcmp(b, a, n<m ? n : m);
  (void)p;
  return c ? c : m-n;
}
static void testRefused(void){
  int n = begin("PRAGMA page_size=1024", 1);
  both("PRAGMA analysis_limit=100");
  analyzed("ANALYZE", 0);
  both("PRAGMA analysis_limit=0");
  execute(adb[0], "PRAGMA hp_offload=off");
  analyzed("ANALYZE", 0);
  execute(adb[0], "PRAGMA hp_offload=on");
  analyzed("ANALYZE none", 0);
  execute(adb[0], "PRAGMA hp_offload=force");
  analyzed("ANALYZE", n);
  /* PRAGMA optimize has a limit of its own */
  pairSame("PRAGMA optimize(0x10002)");
  pairSame("SELECT rowid, tbl, idx, stat FROM sqlite_stat1");
  sqlite3_create_collation(adb[0], "reverse", SQLITE_UTF8, 0, reverse);
  execute(adb[0], "CREATE INDEX r ON t(c COLLATE reverse)");
  n = (int)counted(adb[0], zScan);
  execute(adb[0], "ANALYZE r");
  check(counted(adb[0], zScan)==n, "workers call a collation of the application");
  end("refused");
  begin("PRAGMA encoding=utf16", 1);
  analyzed("ANALYZE", 0);
  end("utf16");
}

/* Little memory for long keys */
static void testLong(void){
  begin("PRAGMA page_size=512", 0);
  both("CREATE TABLE l(x, y); CREATE INDEX li ON l(x, y);"
       "INSERT INTO l SELECT printf('%.*c', 30000+value%7, 'x'), value/3 FROM " SERIES("150"));
  analyzed("ANALYZE l", 1);
  execute(adb[0], "PRAGMA hp_memory=1");
  pairSame("ANALYZE l");
  pairSame("SELECT * FROM sqlite_stat1");
  end("long");
}

/* Files that are damaged from page iPage on: stock's error, or stock's rows.  The
** files are closed, and removed in the end.  SQLite looks at the sizes of all cells,
** as it would else read what is behind a page in memory: that differs from run to
** run */
static void damaged(int iPage, const char *const *azSql){
  unsigned char *a;
  unsigned x = 12345;
  int n, i, nRound = longRun() ? 1500 : 150;
  int iFirst = (iPage-1)*512;
  for(i=0; i<2; i++) apLib[i]->close(adb[i]);
  a = readFile(azFile[1], &n);
  for(i=0; i<nRound; i++){
    unsigned char *b = malloc(n);
    int k, j;
    memcpy(b, a, n);
    for(k=0; k<(int)(i%5)+1; k++){
      x = x*1103515245 + 12345;
      j = iFirst + (int)((x>>8) % (unsigned)(n-iFirst));
      if( i%2 ) j = (j & ~511) + (int)((x>>4)%12);
      b[j] = (unsigned char)(x>>16);
    }
    for(k=0; k<2; k++){
      removeDb(azFile[k]);
      writeFile(azFile[k], b, n);
      adb[k] = openDb(apLib[k], azFile[k], 0);
    }
    both("PRAGMA synchronous=OFF; PRAGMA cell_size_check=on");
    execute(adb[0], "PRAGMA hp_offload=force; PRAGMA hp_threads=4");
    for(k=0; azSql[k]; k++) pairSame(azSql[k]);
    for(k=0; k<2; k++) apLib[k]->close(adb[k]);
    free(b);
  }
  free(a);
  removeDb(azFile[0]);
  removeDb(azFile[1]);
}
static void testDamaged(void){
  static const char *const azAnalyze[] = {
    "ANALYZE t", "ANALYZE w", "SELECT tbl, idx, stat FROM sqlite_stat1", 0
  };
  /* Keys of parents that are out of order in an index SQLite may not find, and a
  ** relation does: there only the table that refers to them is damaged */
  static const char *const azCheck[] = { "PRAGMA foreign_key_check", 0 };
  int iPage;
  begin("PRAGMA page_size=512", 1);
  both("PRAGMA journal_mode=off");
  damaged(17, azAnalyze);
  begin("PRAGMA page_size=512", 0);
  both("PRAGMA journal_mode=off");
  iPage = (int)integer(&stock, adb[1], "PRAGMA page_count")+2;
  both("CREATE TABLE c(id INTEGER PRIMARY KEY, f REFERENCES t, g INT REFERENCES t(k));"
       "INSERT INTO c SELECT NULL, id, k FROM t");
  damaged(iPage, azCheck);
  /* Parents that are found by rowid: those out of order are not found */
  begin("PRAGMA page_size=512", 0);
  both("PRAGMA journal_mode=off");
  both("CREATE TABLE c(id INTEGER PRIMARY KEY, f REFERENCES t); INSERT INTO c SELECT NULL, id FROM t");
  damaged(2, azCheck);
}

/* Parents, and tables that refer to them in all affinities */
static const char *const azKey[] = {
  "INTEGER PRIMARY KEY", "INT UNIQUE", "TEXT UNIQUE", "REAL UNIQUE", "UNIQUE", "BLOB PRIMARY KEY",
  "NUMERIC UNIQUE", "TEXT COLLATE nocase UNIQUE", "TEXT COLLATE rtrim UNIQUE", "COLLATE nocase PRIMARY KEY",
};
static const char *const azType[] = { "INTEGER", "TEXT", "REAL", "", "BLOB", "NUMERIC", "TEXT COLLATE nocase" };

#define KEYS \
  "(1),(2),(3),('4'),('x'),('X '),('y'),('Yy'),(4.5),('4.50'),(x'31'),(x'41'),(NULL),(NULL)," \
  "('1.0'),('12e1'),(120),(9007199254740993),(9.0e15),('abc'),('aBc'),('abc  ')," \
  "(9223372036854775807),(-9223372036854775808),(9223372036854775807.0),(-9223372036854775808.0)," \
  "('-9223372036854775808'),('9223372036854775807'),('9223372036854775808'),(' 7'),('8 '),(7),(8),('+3'),('3x')," \
  "(1e300),(-0.0),(0),('0'),(''),('''')"

/* Delete the orphans of c on both */
static void adopt(void){
  both("DELETE FROM c WHERE rowid IN (SELECT rowid FROM pragma_foreign_key_check('c'))");
}

static void testForeign(void){
  unsigned i, k;
  for(i=0; i<sizeof(azKey)/sizeof(azKey[0]); i++){
    for(k=0; k<sizeof(azType)/sizeof(azType[0]); k++){
      Text sql = {0,0,0};
      int bPrimary = strstr(azKey[i], "PRIMARY")!=0;
      int bWithout = bPrimary && i>0;
      textAppend(&sql, "CREATE TABLE p(u, k %s)%s; CREATE TABLE c(id INTEGER PRIMARY KEY, f %s %s);",
                 azKey[i], bWithout ? " WITHOUT ROWID" : "", azType[k],
                 bPrimary ? "REFERENCES p" : "REFERENCES p(k)");
      pairTables(sql.z, "INSERT INTO c(f) VALUES" KEYS ";"
                 "INSERT OR IGNORE INTO p(k) SELECT value FROM " SERIES("400") ";");
      textClear(&sql);
      execute(adb[0], "PRAGMA hp_offload=force; PRAGMA hp_threads=4");
      both("INSERT OR IGNORE INTO p(k) VALUES(9223372036854775807),(-9223372036854775808),(0)");
      if( i>0 ){
        both("INSERT OR IGNORE INTO p(k) VALUES(1.0),('x'),('aBC'),('4.5'),(x'31'),('1.0'),"
             "('9223372036854775807'),('-9223372036854775808'),(''),('X'),(4.5)");
      }
      pairSame("PRAGMA foreign_key_check");
      /* Reals at the ends of the range of integers are looked up by SQLite */
      if( i==0 ) both("DELETE FROM p WHERE abs(k/2)>4e18");
      adopt();
      both("INSERT INTO c(f) SELECT k FROM p; INSERT INTO c(f) SELECT k FROM p");
      adopt();
      {
        sqlite3_int64 n = counted(adb[0], zCheck);
        pairSame("PRAGMA foreign_key_check");
        pairSame("PRAGMA foreign_key_check(c)");
        check(counted(adb[0], zCheck)==n+2, "%s, %s: left to SQLite", azKey[i], azType[k]);
      }
      both("DELETE FROM p WHERE k=17 OR k='17'");
      pairSame("PRAGMA foreign_key_check");
      end("foreign");
    }
  }
}

/* Keys of several columns, tables without rowid, parents that are not there, the
** table itself */
static void testShapes(void){
  static const char zParents[] =
    "CREATE TABLE p(a INT, b TEXT COLLATE nocase, c, d, PRIMARY KEY(a,b), UNIQUE(c,d,a));"
    "CREATE TABLE q(a INT, b TEXT, PRIMARY KEY(b DESC,a)) WITHOUT ROWID;"
    "CREATE TABLE r(id INTEGER PRIMARY KEY, up REFERENCES r, z);"
    "CREATE TABLE x(f REFERENCES missing, g REFERENCES missing(h));"
    "CREATE TABLE y(a, b, c, FOREIGN KEY(a,b) REFERENCES p, FOREIGN KEY(b,a) REFERENCES q(b,a),"
    " FOREIGN KEY(a,c,b) REFERENCES p(a,c,d) DEFERRABLE INITIALLY DEFERRED);"
    "CREATE TABLE z(a, b, i REFERENCES r, PRIMARY KEY(b,a), FOREIGN KEY(a,b) REFERENCES p) WITHOUT ROWID;"
    "CREATE TABLE k(id INTEGER PRIMARY KEY REFERENCES r, n REAL REFERENCES r(id));"
    "CREATE TABLE g(n INT, a AS (n%20) REFERENCES r, b TEXT AS (n%20) STORED REFERENCES r(id));";
  pairTables(zParents,
    "INSERT INTO p SELECT value, 'k'||value, value/2.0, 'k'||value FROM " SERIES("600") ";"
    "INSERT INTO q SELECT a, upper(b) FROM p; INSERT INTO r SELECT a, nullif(a/2,0), b FROM p;"
    "INSERT INTO y SELECT a, upper(b), NULL FROM p; INSERT INTO y VALUES(NULL,7,8),(7,NULL,3),(NULL,NULL,NULL);"
    "INSERT INTO z SELECT a, b, a FROM p; INSERT INTO x VALUES(NULL,NULL);"
    "INSERT INTO k SELECT a, a*1.0 FROM p; INSERT INTO g(n) SELECT a FROM p WHERE a%20");
  execute(adb[0], "PRAGMA hp_offload=force; PRAGMA hp_threads=4");
  taken("PRAGMA foreign_key_check", zCheck, 6);
  taken("PRAGMA foreign_key_check(y)", zCheck, 1);
  both("INSERT INTO y SELECT a, b, a/2.0 FROM p WHERE a<50; UPDATE p SET d=upper(d) WHERE a=30");
  pairSame("PRAGMA foreign_key_check");
  both("INSERT INTO x VALUES(1,NULL),(NULL,2)");
  taken("PRAGMA foreign_key_check(x)", zCheck, 0);
  both("INSERT INTO r VALUES(9999,9999,1)");
  taken("PRAGMA foreign_key_check(r)", zCheck, 1);
  both("INSERT INTO r VALUES(10000,9998,1)");
  taken("PRAGMA foreign_key_check(r)", zCheck, 0);
  both("INSERT INTO z VALUES(1,'K1x',5),(2,'K2',NULL); INSERT INTO g VALUES(20)");
  pairSame("PRAGMA foreign_key_check");
  pairSame("PRAGMA foreign_key_check(g)");
  both("BEGIN; UPDATE q SET a=a+1 WHERE a=600; DELETE FROM r WHERE id%100=0");
  pairSame("PRAGMA foreign_key_check");
  both("ROLLBACK");
  /* Errors */
  pairSame("PRAGMA foreign_key_check(nosuch)");
  both("CREATE TABLE bad(f REFERENCES p(c))");
  pairSame("PRAGMA foreign_key_check");
  pairSame("PRAGMA foreign_key_check(bad)");
  both("DROP TABLE bad; CREATE VIEW vw AS SELECT 1 AS id; CREATE TABLE bad(f REFERENCES vw(id))");
  pairSame("PRAGMA foreign_key_check");
  both("DROP TABLE bad");
  execute(adb[0], "PRAGMA hp_memory=1");
  pairSame("PRAGMA foreign_key_check");
  execute(adb[0], "PRAGMA hp_offload=off");
  taken("PRAGMA foreign_key_check", zCheck, 0);
  end("shapes");
}

/* Stopped by the progress handler at its n-th call */
static void testStop(void){
  static const char *const azSql[] = { "ANALYZE", "PRAGMA foreign_key_check" };
  int i, n;
  for(i=0; i<2; i++){
    int rc = SQLITE_INTERRUPT;
    int nCall = 0;
    begin("PRAGMA page_size=512", i==0);
    both("CREATE TABLE c(f REFERENCES t); INSERT INTO c SELECT id FROM t");
    for(n=0; rc==SQLITE_INTERRUPT; n+=(n<10 ? 1 : 9)){
      stopAt(adb[0], 500, n);
      rc = sqlite3_exec(adb[0], azSql[i], 0, 0, 0);
      nCall = stopEnd(adb[0]);
      check(rc==SQLITE_OK || rc==SQLITE_INTERRUPT, "%s, stopped at call %d: error %d", azSql[i], n, rc);
      if( rc ) pairSame("SELECT name FROM sqlite_schema");
    }
    check(nCall>=2500*8/500, "the progress handler was called %d times", nCall);
    both("ANALYZE");
    pairSame("SELECT rowid, tbl, idx, stat FROM sqlite_stat1");
    end("stop");
  }
}

/* Each request for memory fails, once or from then on */
static void testMemory(void){
  int bForEver, n;
  failMemory(1);
  for(bForEver=0; bForEver<2; bForEver++){
    int rc = SQLITE_NOMEM;
    begin("PRAGMA page_size=512", 0);
    both("DELETE FROM t WHERE id>400; CREATE INDEX i ON t(c COLLATE nocase, e);"
         "CREATE TABLE c(f REFERENCES t, g REFERENCES t(k)); INSERT INTO c SELECT id, k FROM t");
    for(n=0; rc==SQLITE_NOMEM || fault.nFailed>0; n+=(n<150 || longRun() ? 1 : 5)){
      failAfter(n, bForEver);
      rc = sqlite3_exec(adb[0], n%2 ? "ANALYZE t" : "PRAGMA foreign_key_check", 0, 0, 0);
      fault.nLeft = -1;
      check(rc==SQLITE_OK || rc==SQLITE_NOMEM, "allocation %d: error %d", n, rc);
    }
    check(n>20, "only %d allocations", n);
    both("DROP TABLE IF EXISTS sqlite_stat1");
    both("ANALYZE t");
    pairSame("SELECT rowid, tbl, idx, stat FROM sqlite_stat1");
    pairSame("PRAGMA foreign_key_check");
    end("memory");
  }
  failMemory(0);
}

int main(int argc, char **argv){
  static const Test aTest[] = {
    { "same", testSame }, { "edges", testEdges }, { "values", testValues },
    { "transactions", testTransactions },
    { "elsewhere", testElsewhere }, { "refused", testRefused }, { "long", testLong },
    { "damaged", testDamaged }, { "foreign", testForeign }, { "shapes", testShapes },
    { "stop", testStop }, { "memory", testMemory },
  };
  if( argc<2 || pairLoad(argv[1]) ){
    fprintf(stderr, "usage: analyze STOCK [NAME]\n");
    return 2;
  }
  if( !hasEngine() ) return finish();
  azFile[0] = temporaryFile("analyze-ours.db");
  azFile[1] = temporaryFile("analyze-stock.db");
  azFile[2] = temporaryFile("analyze-ours2.db");
  azFile[3] = temporaryFile("analyze-stock2.db");
  runTests(aTest, sizeof(aTest)/sizeof(aTest[0]), argc<3 ? 0 : argv[2]);
  return finish();
}
