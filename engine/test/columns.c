/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Columns that are kept in memory are those of the file, in the state that the
** transaction sees.
**
** Run with HPSQLITE_TEST=force,columns=force: each scan keeps what it reads, and reads what
** is kept.  Each query is run by the executor and by SQLite's code in the same transaction.
** Other processes are this program, called with a file and SQL.
*/
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

static const char *zSelf;
static const char zKept[] = "runs of leaves whose columns were in memory";

/*
** Tests of many kinds of values take every other one unless FULL is set: one way of working the even ones,
** and the one with several workers the odd ones.  This is the first.
*/
static unsigned firstKind(void){
  const char *z = getenv("HPSQLITE_TEST");
  return !longRun() && z && strstr(z, "threads=4");
}

/* Let another process do zSql to zFile.  It must not fail. */
static void elsewhere(const char *zFile, const char *zSql){
  int status = -1;
  pid_t pid = fork();
  if( pid==0 ){
    execl(zSelf, zSelf, zFile, zSql, (char*)0);
    _exit(3);
  }
  waitpid(pid, &status, 0);
  check(status==0, "another process fails with %d: %s", status, zSql);
}
static int child(const char *zFile, const char *zSql){
  sqlite3 *db = openDb(&ours, zFile, 0);
  int rc;
  sqlite3_busy_timeout(db, 5000);
  rc = sqlite3_exec(db, zSql, 0, 0, 0);
  if( rc ) fprintf(stderr, "%s: %s\n", zSql, sqlite3_errmsg(db));
  sqlite3_close(db);
  return rc!=0;
}

/* The queries of most tests: numbers, texts, groups by both, rowids, filters */
static const char *const azScan[] = {
  "SELECT g, count(*), sum(n), min(n), max(n), total(r), count(s) FROM t GROUP BY g",
  "SELECT s, count(*), sum(id), max(r), min(length(s)) FROM t GROUP BY s",
  "SELECT count(*), sum(n), sum(id) FROM t WHERE n>50 AND s LIKE '%1%'",
  "SELECT count(*), group_concat(typeof(x)||quote(x)) FROM t WHERE id%37=0",
  /* Places of rows: the first ones of an order, those that pass, one of each */
  "SELECT id, n, s, x FROM t WHERE n>100 ORDER BY r DESC, id LIMIT 20",
  "SELECT id, quote(x), n FROM t WHERE n=77",
  "SELECT DISTINCT g, length(s) FROM t",
  /* The smallest and the largest values */
  "SELECT count(*), sum(id) FROM t WHERE n>=999",
  "SELECT count(*), sum(id) FROM t WHERE n<=0",
  "SELECT count(*), sum(id) FROM t WHERE s>='text 9'",
  "SELECT count(*), sum(id) FROM t WHERE s<='text 0' AND r>9.98",
  /* Records that are made of values: sorted, the first ones of each partition, put aside */
  "SELECT s, x, n, id, g FROM t WHERE n<900 ORDER BY s, n DESC, id",
  "SELECT g, id, quote(x), s, r FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY n DESC)"
  " AS k FROM t) WHERE k<=3",
  "SELECT g, s, n FROM (SELECT *, rank() OVER (PARTITION BY s, g ORDER BY n) AS k FROM t) WHERE k=1",
  "SELECT t.g, count(*), sum(o.n), sum(t.id), max(t.r), min(o.s), max(t.x) FROM t JOIN t AS o"
  " ON o.id=t.n WHERE t.s>'text 3' GROUP BY t.g",
  /* No columns at all */
  "SELECT count(*) FROM t",
};
#define N_SCAN ((int)(sizeof(azScan)/sizeof(azScan[0])))

static sqlite3 *opened(const char *zFile){
  sqlite3 *db = openDb(&ours, zFile, SQLITE_OPEN_URI);
  sqlite3_busy_timeout(db, 5000);
  return db;
}

/* The queries give what SQLite's code gives, now and once more */
static void same(sqlite3 *db, const char *zWhat){
  int bOwn = sqlite3_get_autocommit(db);
  int i;
  if( bOwn ) execute(db, "BEGIN");
  for(i=0; i<N_SCAN; i++){
    sameAnswer(db, azScan[i], 2, zWhat);
  }
  if( bOwn ) execute(db, "ROLLBACK");
}

/* A connection as users have it: nothing is forced */
static sqlite3 *plain(const char *zFile){
  sqlite3 *db = opened(zFile);
  execute(db, "PRAGMA hp_columns=auto");
  return db;
}

/* Does zSql find columns of runs in memory?  Their number */
static sqlite3_int64 foundBy(sqlite3 *db, const char *zSql){
  sqlite3_int64 n = counted(db, zKept);
  Text out = {0,0,0};
  answer(&ours, db, zSql, &out);
  textClear(&out);
  return counted(db, zKept)-n;
}
static sqlite3_int64 found(sqlite3 *db){
  return foundBy(db, "SELECT sum(n)+count(s) FROM t");
}

static const char zTable[] =
  "CREATE TABLE t(id INTEGER PRIMARY KEY, g INT, n INT, r REAL, s TEXT, x);"
  "INSERT INTO t SELECT value, value%7, value*7919%1000, value%1000/100.0, 'text '||(value%50),"
  "  CASE value%5 WHEN 0 THEN value WHEN 1 THEN value/8.0 WHEN 2 THEN 'x'||value"
  "    WHEN 3 THEN NULL ELSE randomblob(value%9) END"
  "  FROM " SERIES("6000") ";";

/* A fresh file with the table, and a connection to it */
static sqlite3 *made(const char *zFile, const char *zPragmas){
  return freshDb(opened, zFile, zPragmas, zTable);
}

/* A fresh file after zFormat, SQL with %s for zValue, and a connection to it */
static sqlite3 *madeOf(const char *zFile, const char *zFormat, const char *zValue){
  Text sql = {0,0,0};
  sqlite3 *db;
  removeDb(zFile);
  db = opened(zFile);
  textAppend(&sql, zFormat, zValue);
  execute(db, sql.z);
  textClear(&sql);
  return db;
}

/* Texts of n bytes that zFunc makes, of which every m-th has another byte in one place */
#define NO_DATE(M,N,FUNC,UNIT) \
  "substr("FUNC"('1990-01-01', '+'||value||' "UNIT"'), 1, iif(value%"#M", "#N", value%"#N"))" \
  "||iif(value%"#M", '', iif(value%2, ':', '/')||substr('1990-01-01 10:10:10', value%"#N"+2, "#N"-1-value%"#N"))"

/*
** Values of all kinds, in all forms of segments and at their limits, come back to the bit.
*/
static void testForms(void){
  static const char *const azValue[] = {
    "value", "5", "value%200", "value*300", "value*70000", "value*99999999999",
    "CASE value%2 WHEN 0 THEN 9223372036854775807 ELSE -9223372036854775807-1 END",
    "-value", "iif(value%3, value, NULL)", "NULL", "value%100/100.0", "value/10000.0",
    "CASE value%9 WHEN 0 THEN -0.0 ELSE 0.5 END", "1e308*value", "value/3.0", "1e15+value/8.0",
    "iif(value%2, value, value/4.0)", "iif(value%2, value<<40, value/4.0)",
    "iif(value%2, 4503599627370497+value, 0.25)", "iif(value%4, value/3.0, NULL)",
    "'same'", "'a'||(value%10)", "'a'||(value%255)", "'a'||(value%300)", "'text '||value", "''",
    "iif(value%7, 'b'||(value%3), NULL)", "iif(value%7, 'b'||value, x'00ff')",
    "iif(value%2, 'a', x'61')", "printf('%.*c', value%190, 'y')",
    "CASE value%4 WHEN 0 THEN 'z'||value WHEN 1 THEN value WHEN 2 THEN 0.5 END", "x''",
    "zeroblob(value%4)", "'1234567'||(value%11)", "'12345678'||(value%11)",
    /* All bytes, and all but one; beside NULL, and texts */
    "unhex(printf('%02x', value*7%256))", "unhex(printf('%02x', value*7%255))", "iif(value%7, unhex(printf('%02x', value%256)), NULL)",
    "iif(value%3, char(65+value%26), unhex(printf('%02x', value%200)))",
    /* Few texts of which each is no date at another place */
    NO_DATE(500, 10, "date", "days"), NO_DATE(501, 10, "date", "days"), NO_DATE(499, 10, "date", "days"),
    NO_DATE(499, 19, "datetime", "minutes"), NO_DATE(503, 19, "datetime", "minutes"), NO_DATE(505, 19, "datetime", "minutes"),
  };
  static const char *const azAsk[] = {
    "SELECT count(*), group_concat(typeof(v)||':'||quote(v)) FROM t",
    "SELECT v, typeof(v), count(*), max(id) FROM t GROUP BY v",
    "SELECT sum(id), group_concat(quote(v)) FROM t WHERE id%11=3",
    "SELECT count(v), min(v), max(v), total(v), sum(length(v)) FROM t",
    "SELECT r, typeof(r), count(*) FROM t GROUP BY r",
  };
  const char *zFile = temporaryFile("forms.db");
  unsigned i, k;
  for(i=firstKind(); i<sizeof(azValue)/sizeof(azValue[0]); i+=longRun() ? 1 : 2){
    sqlite3 *db = madeOf(zFile,
      "PRAGMA page_size=1024; CREATE TABLE t(id INTEGER PRIMARY KEY, v, r REAL);"
      "INSERT INTO t SELECT value, v, CASE WHEN typeof(v) IN ('text','blob') THEN 1 ELSE v END"
      "  FROM (SELECT value, %s AS v FROM " SERIES("3000") ");", azValue[i]);
    for(k=0; k<sizeof(azAsk)/sizeof(azAsk[0]); k++){
      sameAnswer(db, azAsk[k], 3, azValue[i]);
    }
    check(counted(db, zKept)>0, "columns of %s are kept", azValue[i]);
    sqlite3_close(db);
  }
}

/*
** Filters that are computed from codes: columns of all forms, compared with constants of all kinds
** within their values and beyond, and with each other.
*/
static void testFilters(void){
  static const char *const azValue[] = {
    "value%200", "value*300-400000", "value*70000", "-5", "iif(value%5, value%90, NULL)",
    "value%1000/100.0", "value/10000.0-0.1", "iif(value%4, value, value/4.0)", "value<<52",
    "iif(value%6, value%300/10.0, NULL)", "9007199254740991+value", "1e15+value%100",
    "'a'||(value%10)", "iif(value%7, 'b'||(value%30), NULL)", "'same'", "'Text '||(value%3)",
    "iif(value%7, 'b'||(value%3), x'6231')", "'text '||value", "value%5||''",
    "date('1999-07-01', '+'||(value%2500)||' days')", "date('0001-01-01', '+'||value||' years')",
    "date('2000-01-01', '+'||(value%40)||' days')", "printf('%04d-%02d-%02d', value%9, value%16, value%32)",
    "iif(value%3, date('2020-01-01', '+'||value||' days'), NULL)",
    "iif(value%500, date('2020-01-01', '+'||value||' days'), 'not a date')",
    "printf('19%02d-%02d-%02d', value%90, value%18, value%30)",
    "date('1899-10-01', '+'||(value%250)||' days')", "date('1900-01-01', '+'||(value%250)||' days')",
    "date('2155-08-01', '+'||(value%250)||' days')", "date('2155-01-01', '+'||(value%365)||' days')",
    "date('1900-01-01', '+'||(value*7919%93000)||' days')", "value*7919%1000000/1e6", "value/1e5-0.005",
    "value/1e7", "datetime('2024-02-28', '+'||(value*7919%90000)||' seconds')",
    "datetime('1999-12-31', '+'||(value*7919%86400*9000)||' seconds')",
    "iif(value%5, datetime('2026-11-27', '+'||value*60||' seconds'), NULL)",
    "printf('%04d-%02d-%02dT%02d:%02d:%02d', 1900+value%60, value%16, value%32, value%32, value%64, value*7%64)",
    "printf('2000-01-01%s%02d:00:%02d', iif(value%700, ' ', 'T'), value%33, value%65)",
    "datetime('1899-12-31', '+'||(value*7919%86400*900)||' seconds')",
  };
  static const char *const azConst[] = {
    "5", "77.7", "-400000", "9007199254740993", "0.05", "1e300", "-9223372036854775808", "0", "1e15+3",
    "'a3'", "'A3'", "'b1'", "''", "'2001-05-09'", "'0001-15-31'", "'2020-07'", "'2001-05-09 10:00'", "'5'",
    "x'6231'", "NULL", "'1904-03-01'", "'9999-12-31'", "'2020-16-01'", "-0.0",
    "'2024-02-28 12:00:00'", "'2024-02-28T12:00:00'", "'2000-06-01'", "'2000-01-01 17:00:2'", "'1931-15-31T31:63:63'",
    "'2026-11-27 00:07:00x'", "'2026-11-27 99'",
  };
  static const char *const azOp[] = { "=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT" };
  static const char *const azMore[] = {
    "v IN (5, 77, 0.05, 'a3', 'b1', '2001-05-09')", "v NOT IN ('a1', 'b2', 7, 'same')",
    "v IN (5, 6, 7, 77, -1e300, 40.0)", "v IN (0.05, 5)", "v NOT IN (3, 70000, NULL, -400000)", "v IN (-9223372036854775808, 9e15)",
    "v IN (1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33)", "v IN (-0.0, 9007199254740993, 1e15)", "v IN (NULL, NULL, NULL)",
    "d IN ('2001-05-09', '2001-05-10', '1999-07-01')", "d NOT IN ('2020-01-02', '2020-1-2', '2020-01-02 ', NULL)",
    "v IN ('2024-02-28 12:00:00', '2024-02-28T12:00:00')", "c IN ('2001-05-09', 'A3', '5')", "v IN ('2001-05-09', 2001)",
    "v IN ('a1', NULL)", "v LIKE 'A%'", "v LIKE '%3'", "v LIKE '%-28 1%'", "v BETWEEN '2024-02-28' AND '2024-02-28 20'", "v NOT LIKE '_1'", "v GLOB '*-05-*'",
    "v BETWEEN 3 AND 60", "v BETWEEN '2001' AND '2003-01-31'", "v<w", "v>=w", "v=w", "v IS w",
    "v IS NOT w", "d<'2003-01-01' AND d>='2000-02-02'", "d<e", "d<>e AND v>1", "NOT (v<5 OR v>'b')",
    "v>1 AND v<'b2' AND id>100", "v AND id%2", "v IS NULL", "v||'' < 'b'", "v+1<50 AND v>3", "c>'a2'",
    "c='A3' AND v<>'x'", "CASE WHEN v>5 THEN id%2 ELSE id%3 END", "upper(v)='A3'", "length(v)>2 AND v<>5",
  };
  const char *zFile = temporaryFile("filters.db");
  unsigned i, k, m;
  for(i=firstKind(); i<sizeof(azValue)/sizeof(azValue[0]); i+=longRun() ? 1 : 2){
    Text sql = {0,0,0};
    sqlite3 *db = madeOf(zFile,
      "PRAGMA page_size=1024;"
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w, d DATE, e DATE, c TEXT COLLATE NOCASE);"
      "INSERT INTO t(id, v, d, c) SELECT value, v, v, v FROM (SELECT value, %s AS v FROM "
      SERIES("1500") "); UPDATE t SET w=o.v, e=o.v FROM t AS o WHERE o.id=t.id*7%%1500+1;", azValue[i]);
    for(k=0; k<sizeof(azConst)/sizeof(azConst[0]); k++){
      for(m=0; m<sizeof(azOp)/sizeof(azOp[0]); m++){
        /* Each operator meets each constant, in a third of the kinds of values */
        if( !longRun() && (i/2+k+m)%3 ) continue;
        sql.n = 0;
        textAppend(&sql, "SELECT count(*), sum(id), min(v), max(d) FROM t WHERE %s%s %s",
                   (k+m)%5 ? "v " : "id>90 AND d ", azOp[m], azConst[k]);
        sameAnswer(db, sql.z, 1, azValue[i]);
      }
    }
    for(k=0; k<sizeof(azMore)/sizeof(azMore[0]); k++){
      sql.n = 0;
      textAppend(&sql, "SELECT count(*), sum(id), group_concat(id%%10) FROM t WHERE %s", azMore[k]);
      sameAnswer(db, sql.z, 2, azValue[i]);
    }
    check(counted(db, zKept)>0, "columns of %s are kept", azValue[i]);
    sqlite3_close(db);
    textClear(&sql);
  }
}

/* Has each run but one leaf, or a leaf several batches?  Then there is nothing to mend */
static int leafRuns(void){
  const char *z = getenv("HPSQLITE_TEST");
  return z && (strstr(z, "run=1") || strstr(z, "batch=3"));
}

/*
** Keys of groups that small numbers stand for: texts of dictionaries and integers of small ranges, as
** they come to be more and other ones from batch to batch.
*/
static void testKeys(void){
  static const char *const azKey[] = {
    "'w'||(value*7919%100)", "iif(value%11, 'n'||(value%7), NULL)", "'same'", "'W'||char(97+value%5)||char(65+value%3)",
    "iif(value%2, 'ab', 'AB')", "'more '||(value/90)", "printf('%.*c', value%90, 'l')", "'a long text that is '||(value%40)",
    "value%13-6", "value/40-100", "iif(value%9, value%5, NULL)", "NULL", "(value/3000)*1000000", "value<<50",
    "-9223372036854775807-(value%2)", "9223372036854775807-value%90",
    "iif(value<4000, 'text', value%8)", "iif(value%50, 'x'||(value%3), x'7831')", "x'00'||char(65+value%20)", "value%10/4.0",
    "iif(value>4000, 'text'||(value%3), value%8)", "20000-value/3-value%2", "iif(value<3000, NULL, 'late'||(value%4))", "char(65+value%26)", "''",
  };
  static const char *const azAsk[] = {
    "SELECT v, count(*), sum(id), min(id) FROM t GROUP BY v", "SELECT v, w, count(*), sum(n) FROM t GROUP BY v, w",
    "SELECT w, v, max(n), id FROM t WHERE v<>'w7' OR n%3 GROUP BY w, v", "SELECT c, count(*), min(c) FROM t GROUP BY c",
    "SELECT c, v, total(n) FROM t WHERE c>'a' GROUP BY c, v", "SELECT v, w, g, count(*) FROM t GROUP BY v, w, g",
    "SELECT g, w, v, c, sum(id) FROM t WHERE n>100 GROUP BY g, w, v, c",
    "SELECT g, w, v, c, id%2, count(*) FROM t GROUP BY 1, 2, 3, 4, 5", "SELECT v, length(v), count(DISTINCT n) FROM t GROUP BY v",
    "SELECT v, count(DISTINCT w), max(v) FROM t GROUP BY v, g HAVING count(*)>3", "SELECT upper(v), count(*), v FROM t GROUP BY 1",
    "SELECT v, group_concat(id%7) FROM t WHERE id%5=0 GROUP BY v", "SELECT DISTINCT v, w FROM t",
    "SELECT v, count(*) FILTER (WHERE w>'m'), avg(n) FROM t GROUP BY v ORDER BY 3 DESC, 1 LIMIT 5",
    "SELECT w, sum(k) FROM (SELECT w, v, count(*) AS k FROM t GROUP BY w, v) GROUP BY w",
    "SELECT n, g, count(*), sum(id) FROM t GROUP BY n, g", "SELECT g, n, max(v), min(w) FROM t WHERE id%5 GROUP BY g, n",
    "SELECT t.v, count(*), sum(o.n) FROM t JOIN t AS o ON o.id=t.n WHERE t.w<>'x' GROUP BY t.v",
  };
  const unsigned nKey = sizeof(azKey)/sizeof(azKey[0]);
  const char *zFile = temporaryFile("keys.db");
  unsigned i, k;
  for(i=firstKind(); i<nKey; i+=longRun() ? 1 : 2){
    Text sql = {0,0,0};
    sqlite3 *db;
    removeDb(zFile);
    db = opened(zFile);
    textAppend(&sql, "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w, c TEXT COLLATE NOCASE, g INT, n INT);"
      "INSERT INTO t SELECT value, %s, %s, %s, value%%6, value*7919%%1000 FROM " SERIES("9000"),
      azKey[i], azKey[(i*5+1)%nKey], azKey[(i*7+3)%nKey]);
    execute(db, sql.z);
    for(k=0; k<sizeof(azAsk)/sizeof(azAsk[0]); k++) sameAnswer(db, azAsk[k], 2, azKey[i]);
    execute(db, "UPDATE t SET v='new '||id, w=v WHERE id%900=5; PRAGMA hp_memory=150000");
    for(k=i/2%2; k<sizeof(azAsk)/sizeof(azAsk[0]); k+=2) sameAnswer(db, azAsk[k], 2, azKey[i]);
    check(counted(db, zKept)>0, "columns of %s are kept", azKey[i]);
    check(counted(db, "wrote to a file")>0, "groups were forgotten");
    sqlite3_close(db);
    textClear(&sql);
  }
}

/* Writers of all kinds, with a rollback journal */
static void testJournal(const char *zMode){
  const char *zFile = temporaryFile("journal.db");
  char zPragma[60];
  sqlite3 *db, *db2;
  sqlite3_snprintf(sizeof(zPragma), zPragma, "PRAGMA page_size=1024; PRAGMA journal_mode=%s", zMode);
  db = made(zFile, zPragma);
  db2 = opened(zFile);
  same(db, "as made");
  check(found(db)>0, "%s: columns are kept", zMode);
  check(found(db2)>0, "%s: another connection finds them", zMode);
  execute(db, "UPDATE t SET n=n+1 WHERE id=3000");
  same(db, "own update");
  same(db2, "another connection's update");
  execute(db2, "DELETE FROM t WHERE id%100=0");
  same(db, "another connection's delete");
  elsewhere(zFile, "INSERT INTO t SELECT 100000+value, 1, 2, 3, '4', 5 FROM " SERIES("700") "");
  same(db, "another process's insert");
  same(db2, "another process's insert, seen by another connection");
  execute(db, "BEGIN; UPDATE t SET n=-n, s='changed' WHERE id<1000");
  same(db, "not committed");
  execute(db, "SAVEPOINT a; DELETE FROM t WHERE id<500");
  same(db, "in a savepoint");
  execute(db, "ROLLBACK TO a");
  same(db, "after the savepoint");
  execute(db, "ROLLBACK");
  same(db, "rolled back");
  same(db2, "rolled back, another connection");
  check(found(db2)>0, "%s: found after all that", zMode);
  execute(db, "PRAGMA cache_size=5; BEGIN; UPDATE t SET n=n+1; ROLLBACK");
  same(db, "spilled and rolled back");
  same(db2, "spilled and rolled back by another");
  sqlite3_close(db);
  sqlite3_close(db2);
}

/* With a journal, commits of this process drop no more than the pages that they change */
static void testCommits(const char *zMode){
  const char *zFile = temporaryFile("commits.db");
  char zPragma[60];
  sqlite3 *db, *db2, *pSmall;
  sqlite3_int64 n;
  sqlite3_snprintf(sizeof(zPragma), zPragma, "PRAGMA page_size=1024; PRAGMA journal_mode=%s", zMode);
  db = made(zFile, zPragma);
  db2 = opened(zFile);
  pSmall = opened(zFile);
  execute(pSmall, zPragma);
  execute(pSmall, "PRAGMA cache_size=10");
  same(db, "as made");
  n = found(db);
  execute(db, "UPDATE t SET n=n+1 WHERE id=3000");
  check(found(db2)>=n-1, "%s: others have not changed: %lld of %lld", zMode, found(db2), n);
  same(db2, "after another connection's commit");
  execute(db2, "UPDATE t SET n=n-1 WHERE id=1000; DELETE FROM t WHERE id=2000;"
               "UPDATE t SET s='twice' WHERE id=1001");
  execute(db, "UPDATE t SET s='third', x=1 WHERE id=999");
  check(found(db2)>=n-5, "%s: after four commits", zMode);
  same(db, "after four commits");
  /* More pages than there is memory for */
  execute(pSmall, "UPDATE t SET n=n+1 WHERE id%200=5");
  same(db, "after a commit that was written in parts");
  n = found(db);
  execute(pSmall, "BEGIN; UPDATE t SET n=n+1 WHERE id BETWEEN 5000 AND 5300; SAVEPOINT a;"
                  "UPDATE t SET n=n+1, s='not kept' WHERE id BETWEEN 100 AND 500; ROLLBACK TO a; COMMIT");
  check(found(db)>0, "%s: others are found: %lld", zMode, found(db));
  same(db, "after a savepoint was rolled back");
  execute(pSmall, "INSERT INTO t SELECT 20000+value, 1, 2, 3, 'new '||value, 5 FROM " SERIES("900"));
  same(db, "after rows were added");
  execute(pSmall, "DELETE FROM t WHERE id>20000; PRAGMA incremental_vacuum");
  same(db, "and deleted");
  /* A commit that has to wait, and is made or not */
  for(n=0; n<2; n++){
    execute(db2, "BEGIN");
    same(db2, "a reader");
    execute(db, "PRAGMA busy_timeout=0; BEGIN; UPDATE t SET n=n+7, s='later' WHERE id%100=5");
    check(ours.exec(db, "COMMIT", 0, 0, 0)==SQLITE_BUSY, "%s: a reader is there", zMode);
    same(db2, "the reader that a commit waits for");
    execute(db2, "COMMIT");
    execute(db, n ? "COMMIT" : "ROLLBACK");
    same(db2, n ? "it was made" : "it was not made");
    same(db, n ? "it was made" : "it was not made");
  }
  /* Another process in between */
  execute(db, "UPDATE t SET n=n+1 WHERE id=3100");
  elsewhere(zFile, "UPDATE t SET n=n+1 WHERE id=100");
  execute(db, "UPDATE t SET n=n+1 WHERE id=3200");
  same(db2, "after commits of both");
  execute(db, "UPDATE t SET n=n+1 WHERE id=3100");
  elsewhere(zFile, "UPDATE t SET n=n+1 WHERE id=200");
  same(db2, "after a commit, and one of another process");
  execute(db2, "VACUUM");
  same(db, "after VACUUM");
  sqlite3_close(pSmall);
  sqlite3_close(db);
  sqlite3_close(db2);
}

/* With a WAL a reader sees its own state, whatever comes after */
static void testSnapshots(void){
  const char *zFile = temporaryFile("snapshots.db");
  sqlite3 *db = made(zFile, "PRAGMA page_size=1024; PRAGMA journal_mode=wal");
  sqlite3 *aOld[4];
  int i, k;
  same(db, "as made");
  check(found(db)>0, "columns are kept");
  for(i=0; i<4; i++){
    char zSql[200];
    aOld[i] = opened(zFile);
    execute(aOld[i], "BEGIN");
    same(aOld[i], "when the snapshot is taken");
    sqlite3_snprintf(sizeof(zSql), zSql,
        "UPDATE t SET n=n+1, s='round %d' WHERE id%%%d=0; INSERT INTO t(g,n,s) VALUES(1,2,3)",
        i, 500+i);
    if( i%2 ){
      elsewhere(zFile, zSql);
    }else{
      execute(db, zSql);
    }
    same(db, "after a write");
    for(k=0; k<=i; k++) same(aOld[k], "an older snapshot");
    check(found(db)>0, "round %d: what has not changed is found", i);
    check(found(aOld[0])>=0, "round %d", i);
  }
  execute(db, "BEGIN; UPDATE t SET n=-n, s='own' WHERE id%500=1");
  same(db, "in an own transaction");
  same(aOld[2], "which an older snapshot does not see");
  execute(db, "ROLLBACK");
  same(db, "and which was rolled back");
  execute(db, "PRAGMA wal_checkpoint");
  same(db, "after a checkpoint");
  for(k=3; k>=0; k--){
    same(aOld[k], "an older snapshot, after a checkpoint");
    execute(aOld[k], "COMMIT");
    same(aOld[k], "the snapshot is over");
    sqlite3_close(aOld[k]);
  }
  sqlite3_close(db);
}

/*
** What is not in the leaves: the tail of a text on overflow pages, which alone changes, and
** the value of a column that records do not have.
*/
static void testElsewhere(void){
  const char *zFile = temporaryFile("elsewhere.db");
  sqlite3 *db;
  removeDb(zFile);
  db = opened(zFile);
  execute(db, "PRAGMA page_size=1024; PRAGMA journal_mode=wal;"
    "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, s TEXT);"
    "INSERT INTO t SELECT value, value, printf('%.*c', 5000, 'a') FROM " SERIES("300"));
  check(integer(&ours, db, "SELECT count(*) FROM t WHERE s LIKE '%b'")==0, "no text ends in b");
  execute(db, "UPDATE t SET s=substr(s,1,4999)||'b' WHERE id%2=0");
  check(integer(&ours, db, "SELECT count(*) FROM t WHERE s LIKE '%b'")==150, "half of them do");
  execute(db, "ALTER TABLE t ADD COLUMN later DEFAULT 7");
  check(integer(&ours, db, "SELECT sum(later) FROM t")==2100, "the default");
  execute(db, "PRAGMA writable_schema=on;"
    "UPDATE sqlite_schema SET sql=replace(sql, 'DEFAULT 7', 'DEFAULT 8');"
    "PRAGMA writable_schema=reset");
  check(integer(&ours, db, "SELECT sum(later) FROM t")==2400, "another default");
  sqlite3_close(db);
}

/*
** Damage a record of the file a[0..n-1]: its header does not add up, in a column that most queries do
** not read.  Returns its rowid.
*/
static int damage(unsigned char *a, int n){
  unsigned char *z;
  int iPage, iRowid;
  for(iPage=n/1024/2; a[iPage*1024]!=13; iPage++){}
  z = &a[iPage*1024 + get2(&a[iPage*1024+8])];
  while( *z & 0x80 ) z++;          /* The size of the record */
  z++;
  for(iRowid=0; *z & 0x80; z++) iRowid = iRowid<<7 | (*z & 0x7f);
  iRowid = iRowid<<7 | *z++;
  check(z[0]==7, "the header has 7 bytes: %d", z[0]);
  z[6] = 0x7f;                     /* The last column: a text of 57 bytes */
  return iRowid;
}
/*
** Columns of the leaf of a damaged record are kept, but not for a query after which SQLite's code
** reads the record.
*/
static void testDamaged(void){
  const char *zFile = temporaryFile("damaged.db");
  unsigned char *a;
  int n, iRowid;
  char zSql[120];
  sqlite3_close(made(zFile, "PRAGMA page_size=1024"));
  a = readFile(zFile, &n);
  iRowid = damage(a, n);
  writeFile(zFile, a, n);
  free(a);
  {
    sqlite3 *db = opened(zFile);
    same(db, "a damaged record");
    check(found(db)>0, "columns are kept all the same");
    sqlite3_snprintf(sizeof(zSql), zSql,
                     "SELECT id, n, x FROM t ORDER BY +id>%d, +id DESC LIMIT 3", iRowid+5);
    integer(&ours, db, "SELECT n, count(*), max(id) FROM t GROUP BY n");
    sameAnswer(db, zSql, 2, "found first");
    sqlite3_close(db);
  }
}

/*
** A record is damaged while its leaf is in memory as columns, which nobody sees.  Then another one on
** the leaf changes, so that it is read again.
*/
static void testDamagedLater(void){
  const char *zFile = temporaryFile("later.db");
  sqlite3 *db = made(zFile, "PRAGMA page_size=1024; PRAGMA journal_mode=wal");
  sqlite3 *db2;
  unsigned char *a;
  char zSql[120];
  int n, iRowid;
  execute(db, "PRAGMA wal_checkpoint(truncate)");
  a = readFile(zFile, &n);
  iRowid = damage(a, n);
  sqlite3_snprintf(sizeof(zSql), zSql,
                   "SELECT id, n, x FROM t ORDER BY +id+n*0>%d, +id DESC LIMIT 3", iRowid+5);
  sameAnswer(db, zSql, 2, "before");
  check(foundBy(db, zSql)>0, "columns are kept, and records are sound");
  writeFile(zFile, a, n);
  free(a);
  db2 = opened(zFile);
  execute(db2, "PRAGMA hp_offload=off");
  {
    char zUpdate[80];
    sqlite3_snprintf(sizeof(zUpdate), zUpdate, "UPDATE t SET n=n+1 WHERE id=%d", iRowid+1);
    execute(db2, zUpdate);
  }
  sameAnswer(db, zSql, 2, "the leaf has changed, and has a damaged record");
  sqlite3_close(db2);
  sqlite3_close(db);
}

/*
** Ranges of rowids take runs from memory, whole ones and parts of them, whatever the rowids are, and
** after rows have changed, gone, and come.
*/
static void testRanges(const char *zMode){
  static const char *const azRowid[] = {
    "value", "value*3", "value*5-9000", "value*value", "value*1000000000000-700000000000000",
    "value+value/40*7", "value-9223372036854775807-1", "9223372036854775807-value",
  };
  static const char *const azAsk[] = {
    "SELECT count(*), sum(n), min(id), max(id) FROM t WHERE id BETWEEN %lld AND %lld",
    "SELECT count(*) FROM t WHERE id>=%lld AND id<%lld",
    "SELECT g, count(*), sum(n), max(s) FROM t WHERE id>%lld AND id<=%lld AND n%%3 GROUP BY g",
    "SELECT sum(n), min(s) FROM t WHERE id>%lld AND n<%lld",
    "SELECT sum(n), min(s), count(%lld) FROM t WHERE id<%lld",
    "SELECT id, s FROM t WHERE id BETWEEN %lld AND %lld AND n%%7=3",
    "SELECT id, s, g FROM t WHERE id BETWEEN %lld AND %lld ORDER BY n DESC, id LIMIT 9",
    "SELECT count(*), total(n) FROM t WHERE id>%lld.5 AND id<%lld.0",
  };
  static const char *const azChange[] = {
    "", "UPDATE t SET n=n+1 WHERE id%50=7", "DELETE FROM t WHERE n%11=4",
    "INSERT OR IGNORE INTO t SELECT id+1, n, g, s, z FROM t WHERE id<9223372036854775807 AND n%97=0",
    "UPDATE t SET s=s||' and more' WHERE n%31=0", "DELETE FROM t WHERE n BETWEEN 300 AND 700",
  };
  const char *zFile = temporaryFile("ranges.db");
  unsigned i, k, m, j;
  for(i=0; i<sizeof(azRowid)/sizeof(azRowid[0]); i++){
    char zSql[200];
    sqlite3_int64 nFound = 0;
    sqlite3 *db = madeOf(zFile,
      "PRAGMA page_size=1024; CREATE TABLE t(id INTEGER PRIMARY KEY, n, g, s, z);"
      "INSERT INTO t SELECT %s, value, value%%5, printf('text %%d', value%%100), printf('%%.90c', 'z')"
      " FROM " SERIES("3000"), azRowid[i]);
    sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA journal_mode=%s; PRAGMA synchronous=off", zMode);
    execute(db, zSql);
    for(k=0; k<sizeof(azChange)/sizeof(azChange[0]); k++){
      execute(db, azChange[k]);
      /* Sometimes all is in memory before, sometimes ranges keep what they read */
      if( k%2 ) foundBy(db, "SELECT sum(id), sum(n), max(g), max(s) FROM t");
      for(m=0; m<sizeof(azAsk)/sizeof(azAsk[0]); m++){
        for(j=0; j<3; j++){
          sqlite3_int64 iLow, iHigh;
          sqlite3_snprintf(sizeof(zSql), zSql, "SELECT id FROM t ORDER BY id LIMIT 1 OFFSET %d", 700*j+(int)m*90);
          iLow = integer(&ours, db, zSql);
          sqlite3_snprintf(sizeof(zSql), zSql, "SELECT id FROM t ORDER BY id LIMIT 1 OFFSET %d", 1100*j+900);
          iHigh = integer(&ours, db, zSql);
          sqlite3_snprintf(sizeof(zSql), zSql, azAsk[m], iLow+(int)m%3-1, iHigh);
          sameAnswer(db, zSql, 2, azRowid[i]);
          nFound += foundBy(db, zSql);
        }
      }
    }
    check(nFound>50, "%s: %lld runs found by ranges", azRowid[i], nFound);
    sqlite3_close(db);
  }
}

/*
** Rowids are out of order on a leaf, or beyond what the page above says.  A scan of the whole table does
** not mind, and keeps them; where a range begins and ends SQLite finds by search.
*/
static void testRangesOfDamaged(void){
  const char *zFile = temporaryFile("order.db");
  int iKind;
  for(iKind=0; iKind<3; iKind++){
    sqlite3 *db = madeOf(zFile,
      "PRAGMA page_size=1024; CREATE TABLE t(id INTEGER PRIMARY KEY, n, g, z);"
      "INSERT INTO t SELECT %s, value, value%%5, printf('%%.90c', 'z') FROM " SERIES("5000"), "value*2");
    unsigned char *a;
    int n, i, k, m;
    int nDone = 0;
    sqlite3_int64 nFound = 0;
    sqlite3_close(db);
    a = readFile(zFile, &n);
    for(i=1024; i+1024<=n; i+=1024){
      unsigned char *p = &a[i];
      if( iKind<2 ? p[0]!=13 : p[0]!=5 ) continue;
      if( iKind<2 && (get2(&p[3])<4 || (i/1024)%5) ) continue;
      if( iKind==2 ){
        /* Separators, which are the largest rowids before them */
        for(k=0; k<(int)get2(&p[3]); k++){
          unsigned char *pKey = &p[get2(&p[12+2*k])+4];
          while( *pKey & 0x80 ) pKey++;
          if( *pKey>=4 ) *pKey -= 3;
        }
      }else{
        /* Two neighbours, or the first and the last one */
        int iOther = iKind ? (int)get2(&p[3])-1 : 1;
        unsigned x = get2(&p[8]);
        put2(&p[8], get2(&p[8+2*iOther]));
        put2(&p[8+2*iOther], x);
      }
      nDone++;
    }
    check(nDone>(iKind<2 ? 3 : 0), "nothing is damaged: %d", iKind);
    writeFile(zFile, a, n);
    free(a);
    db = opened(zFile);
    for(k=0; k<2; k++){
      check(k==0 || foundBy(db, "SELECT sum(id), sum(n), max(g) FROM t")>0, "nothing is kept");
      for(m=0; m<200; m++){
        char zSql[200];
        sqlite3_snprintf(sizeof(zSql), zSql, "SELECT count(*), sum(n), max(g) FROM t WHERE id BETWEEN %d AND %d",
                         m*47, m*47+(m%3 ? 3000 : 60));
        sameAnswer(db, zSql, 2, "rowids in disorder");
        nFound += foundBy(db, zSql);
        sqlite3_snprintf(sizeof(zSql), zSql, "SELECT sum(n) FROM t WHERE id>=%d", m*47);
        sameAnswer(db, zSql, 2, "rowids in disorder");
      }
      sameAnswer(db, "SELECT sum(id), sum(n), max(g) FROM t", 3, "the whole table");
    }
    check(nFound>10, "ranges find %lld runs", nFound);
    sqlite3_close(db);
  }
}

/* A WAL that begins anew: columns outlive it, if this process sees it */
static void testRestart(void){
  const char *zFile = temporaryFile("restart.db");
  sqlite3 *db = made(zFile, "PRAGMA page_size=1024; PRAGMA journal_mode=wal");
  sqlite3 *db2 = opened(zFile);
  sqlite3_int64 n;
  same(db, "as made");
  execute(db, "PRAGMA wal_checkpoint(restart)");
  same(db, "after a restart");
  n = found(db);
  execute(db2, "UPDATE t SET n=n+1 WHERE id=10");
  execute(db2, "PRAGMA wal_checkpoint(truncate)");
  check(found(db)>=n-2, "most columns outlive a WAL: %lld of %lld", found(db), n);
  same(db, "another connection truncated the WAL");
  execute(db2, "UPDATE t SET n=n+1 WHERE id=5000");
  same(db, "first frames of the new WAL");
  execute(db2, "PRAGMA wal_checkpoint");
  execute(db2, "UPDATE t SET n=n+1 WHERE id=2500");
  check(found(db)>=n-4, "and a writer that begins anew by itself");
  same(db, "the writer began the WAL anew");
  elsewhere(zFile, "PRAGMA wal_checkpoint(truncate); UPDATE t SET n=n+1 WHERE id=700");
  same(db, "another process began the WAL anew");
  elsewhere(zFile, "UPDATE t SET n=n+5 WHERE id=800; PRAGMA wal_checkpoint(truncate);"
                   "UPDATE t SET n=n+1 WHERE id=900; PRAGMA wal_checkpoint(truncate);"
                   "UPDATE t SET n=n+1 WHERE id=1000");
  same(db2, "another process began it anew several times");
  /* Nothing was missed: one commit since, or as many as the new WAL has */
  execute(db, "PRAGMA wal_checkpoint");
  n = found(db);
  elsewhere(zFile, "UPDATE t SET n=n+1 WHERE id=1100");
  check(found(db)>=n-4, "another process began it anew: %lld were found", n);
  same(db, "another process began the WAL anew, with one commit");
  execute(db, "PRAGMA wal_checkpoint");
  n = found(db);
  elsewhere(zFile, "UPDATE t SET n=n+1 WHERE id=1200; UPDATE t SET n=n-1 WHERE id=1300");
  check(found(db)>=n-8, "with two commits: %lld were found", n);
  same(db, "another process began the WAL anew, with two commits");
  /* Commits in the WAL before it, and in a WAL in between */
  elsewhere(zFile, "UPDATE t SET n=n+1 WHERE id=1400; PRAGMA wal_checkpoint;"
                   "UPDATE t SET n=n-1 WHERE id=1500");
  same(db, "frames of the WAL before were missed");
  elsewhere(zFile, "PRAGMA wal_checkpoint; UPDATE t SET n=n+1 WHERE id=1600;"
                   "PRAGMA wal_checkpoint; UPDATE t SET n=n-1 WHERE id=1700");
  same(db, "a WAL was missed");
  same(db, "the same, another connection");
  sqlite3_close(db2);
  sqlite3_close(db);
}

/*
** Values change in some leaves of a run, to others that have room in the form of their segment and to
** such that do not; rows go and come.  Only these leaves are read, once, and for all columns.
*/
static const char zMended[] = "such runs with leaves that had changed";
static void testMended(const char *zMode){
  static const char *const azValue[] = {
    "value%200", "value*70000", "value*99999999999", "-5", "iif(value%5, value%90, NULL)", "value%1000/100.0",
    "iif(value%4, value, value/4.0)", "iif(value%6, value%300/10.0, NULL)", "value/3.0", "NULL",
    "iif(value%2, value, value/3.0)", "'a'||(value%10)", "iif(value%7, 'b'||(value%30), NULL)", "'same'",
    "iif(value%7, 'b'||(value%3), x'6231')", "'text '||value", "printf('%.*c', value%60, 'y')", "x'00'||(value%7)",
    "date('1999-07-01', '+'||(value%2500)||' days')", "iif(value%3, date('2020-01-01', '+'||value||' days'), NULL)",
    "date('1900-01-01', '+'||(value*7919%2500)||' days')", "value*7919%1000000/1e6",
    "datetime('2001-02-03', '+'||(value*7919%90000)||' seconds')",
    "iif(value%9, datetime('1960-02-03', '+'||(value*7919%86400*9999)||' seconds'), NULL)",
    "CASE value%4 WHEN 0 THEN 'z'||value WHEN 1 THEN value WHEN 2 THEN 0.5 END", "iif(value%2, 'a', x'61')",
    "printf('5%05d', value*7919%100003)",
  };
  static const char *const azChange[] = {
    "UPDATE t SET v=7", "UPDATE t SET v=v+1", "UPDATE t SET v=-v", "UPDATE t SET v=1<<50", "UPDATE t SET v=v<<52",
    "UPDATE t SET v=(1<<60)+1", "UPDATE t SET v=0.25", "UPDATE t SET v=-0.0", "UPDATE t SET v=1e300", "UPDATE t SET v=v/7.0",
    "UPDATE t SET v=NULL", "UPDATE t SET v=coalesce(v, 5)", "UPDATE t SET v='a3'", "UPDATE t SET v='b2', w='of another'",
    "UPDATE t SET v='quite another text'", "UPDATE t SET v=''", "UPDATE t SET v=x'61'", "UPDATE t SET v=cast(v AS TEXT)",
    "UPDATE t SET v='2001-02-03'", "UPDATE t SET v='0001-02-03'", "UPDATE t SET v='1899-12-31'", "UPDATE t SET v='1900-00-00'",
    "UPDATE t SET v='2155-15-31'", "UPDATE t SET v='2099-16-01'",
    "UPDATE t SET v='2001-02-03 04:05:06'", "UPDATE t SET v='2001-02-03T04:05:06'", "UPDATE t SET v='2001-02-03 04:05:99'",
    "UPDATE t SET v='2030-02-03 31:63:63'", "UPDATE t SET v='1899-02-03 04:05:06'", "UPDATE t SET v='2001-02-0x'",
    "UPDATE t SET v=v||'x'", "UPDATE t SET w=w||'x'", "UPDATE t SET r=r+0.5", "DELETE FROM t",
    "UPDATE t SET v=201+id%50", "UPDATE t SET v='2030-01-01'", "UPDATE t SET v='000000'", "UPDATE t SET v='zzzzzz'",
    "UPDATE t SET z=printf('%.1100c', 'y')",
  };
  static const char *const azAsk[] = {
    "SELECT count(*), group_concat(id||typeof(v)||quote(v)), total(r), max(w), max(z) FROM t",
    "SELECT count(v), min(v), max(v), sum(id) FROM t WHERE v>=0",
    "SELECT w, count(*), sum(r), min(id) FROM t GROUP BY w", "SELECT max(z), max(substr(z, 1050)) FROM t",
    "SELECT count(*), sum(id) FROM t WHERE v>200", "SELECT count(*), sum(id) FROM t WHERE v>='2029'",
    "SELECT count(*), sum(id) FROM t WHERE v<'0000001'", "SELECT count(*), sum(id) FROM t WHERE v<0",
    "SELECT count(*), sum(id) FROM t WHERE v<'1999-08-01'",
  };
  const unsigned nAsk = sizeof(azAsk)/sizeof(azAsk[0]);
  const char *zFile = temporaryFile("mended.db");
  char zSql[400];
  unsigned i, k, m;
  /* What changes is the same with a journal: a few kinds do */
  for(i=firstKind(); i<sizeof(azValue)/sizeof(azValue[0]); i+=strcmp(zMode, "wal") ? 8 : longRun() ? 1 : 2){
    sqlite3_int64 nAll = 0;
    sqlite3 *db = madeOf(zFile,
      "PRAGMA page_size=1024; CREATE TABLE t(id INTEGER PRIMARY KEY, v, w, r REAL, z);"
      "CREATE TABLE o(id INTEGER PRIMARY KEY, v, w, r REAL, z);"
      "INSERT INTO o SELECT value*2, v, 'w'||(value%%9), value/2, printf('%%.120c', 'y')"
      "  FROM (SELECT value, %s AS v FROM " SERIES("1500") ")", azValue[i]);
    sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA journal_mode=%s; PRAGMA synchronous=off", zMode);
    execute(db, zSql);
    for(k=0; k<sizeof(azChange)/sizeof(azChange[0]); k++){
      sqlite3_int64 nMended;
      execute(db, "BEGIN; DELETE FROM t; INSERT INTO t SELECT * FROM o; COMMIT");
      foundBy(db, azAsk[0]);
      foundBy(db, azAsk[0]);
      nMended = counted(db, zMended);
      sqlite3_snprintf(sizeof(zSql), zSql, "%s WHERE id%%%d=%d", azChange[k], 640+2*k, 6+2*k);
      execute(db, zSql);
      sameAnswer(db, azAsk[k%2+1], 1, zSql);
      nAll += counted(db, zMended)-nMended;
      nMended = counted(db, zMended);
      for(m=0; m<nAsk; m++) sameAnswer(db, azAsk[m], 1, zSql);
      check(counted(db, zMended)==nMended, "%s, %s: the other columns were mended, too", azValue[i], zSql);
      if( strstr(zSql, "z=") ){
        /* What changes on overflow pages does not show in the leaf */
        execute(db, "UPDATE t SET z=substr(z, 1, 1090)||'0987654321' WHERE length(z)>1000");
        sameAnswer(db, azAsk[3], 2, "overflow pages have changed");
      }
      sqlite3_snprintf(sizeof(zSql), zSql, "INSERT INTO t SELECT id+1, v, w, r, z FROM t WHERE id%%%d=4", 700+2*k);
      execute(db, zSql);
      for(m=k%2; m<nAsk; m+=2) sameAnswer(db, azAsk[m], 1, zSql);
    }
    execute(db, "ALTER TABLE t ADD COLUMN late DEFAULT 'none'");
    sameAnswer(db, "SELECT late, count(*), max(v) FROM t GROUP BY late", 2, "a column that records do not have");
    execute(db, "UPDATE t SET late=id WHERE id%500=8");
    sameAnswer(db, "SELECT late, count(*), max(v) FROM t GROUP BY late", 2, "... and some do");
    check(nAll>10 || leafRuns(), "%s: %lld runs were mended", azValue[i], nAll);
    sqlite3_close(db);
  }
}

/* A table becomes so small that scans have smaller units than those of which runs are kept */
static void testUnits(void){
  const char *zFile = temporaryFile("units.db");
  int i;
  for(i=2; i<10; i++){
    char zSql[100];
    sqlite3 *db = madeOf(zFile,
      "PRAGMA page_size=512; PRAGMA journal_mode=wal; CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b INT, c TEXT);"
      "INSERT INTO t SELECT value, value%%7, value%%11, 'text '||%s FROM " SERIES("9000"), "value");
    sameAnswer(db, "SELECT sum(a), count(*) FROM t", 3, "as made");
    sqlite3_snprintf(sizeof(zSql), zSql, "DELETE FROM t WHERE id<%d AND id%%20", i*300);
    execute(db, zSql);
    sameAnswer(db, "SELECT sum(b), count(*) FROM t", 3, zSql);
    sameAnswer(db, "SELECT sum(a), count(*) FROM t", 3, zSql);
    sameAnswer(db, "SELECT sum(a), sum(b), max(c) FROM t", 3, zSql);
    sqlite3_close(db);
  }
}

/* A snapshot in which a leaf has changed, and a later change, which others have seen before it scans */
static void testMendedBefore(void){
  static const char zSum[] = "SELECT sum(n), count(s), max(id) FROM t";
  const char *zFile = temporaryFile("before.db");
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=wal");
  sqlite3 *db2 = opened(zFile);
  sqlite3 *pOld = opened(zFile);
  execute(db, "CREATE TABLE u(k INT); INSERT INTO u SELECT value FROM " SERIES("3000"));
  sameAnswer(db, zSum, 2, "at first");
  execute(db2, "UPDATE t SET n=n+1 WHERE id=100");
  execute(pOld, "BEGIN; SELECT count(*) FROM sqlite_schema");
  execute(db2, "UPDATE t SET n=n+1 WHERE id=3000");
  sameAnswer(db, "SELECT sum(k) FROM u", 1, "another table, after both changes");
  sameAnswer(pOld, zSum, 2, "between them");
  sameAnswer(db, zSum, 2, "after both");
  sameAnswer(pOld, zSum, 1, "between them, again");
  sqlite3_close(pOld);
  sqlite3_close(db2);
  sqlite3_close(db);
}

/* After a change the leaves that have changed are read; for an older snapshot all hold */
static void testStale(void){
  const char *zFile = temporaryFile("stale.db");
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=wal");
  sqlite3 *db2 = opened(zFile);
  sqlite3 *pOld = opened(zFile);
  sqlite3_int64 nBefore, nFirst, nNext;
  int bLeaves = leafRuns();
  int i;
  execute(db, "INSERT INTO t SELECT 10000+value, value%9, value*31%1000, value/3.0, 'text '||value, 1"
              " FROM " SERIES("12000"));
  same(db, "as made");
  nBefore = found(db);
  execute(pOld, "BEGIN");
  same(pOld, "when the snapshot is taken");
  execute(db2, "UPDATE t SET n=n+1, s='changed '||id WHERE id%6000=50");
  nFirst = found(db);
  nNext = found(db);
  check((bLeaves ? nFirst<nBefore : nFirst==nBefore) && nNext==nBefore,
        "%lld runs; after a change %lld, then %lld", nBefore, nFirst, nNext);
  same(db, "some leaves have changed");
  same(pOld, "an older snapshot");
  for(i=0; i<12; i++){
    char zSql[200];
    sqlite3_snprintf(sizeof(zSql), zSql,
        "UPDATE t SET n=n+1, s='round %d' WHERE id%%7000=%d; DELETE FROM t WHERE id=%d;"
        "UPDATE t SET x=quote(x)||'longer than it was' WHERE id=%d", i, 50+i%3, 11000+i*899, 15000+i);
    execute(i%2 ? db : db2, zSql);
    check(found(db)>0 || bLeaves, "round %d: others have not", i);
    if( i%2==0 ) same(db, "more have changed");
    if( i%4==0 ) same(pOld, "a still older snapshot");
  }
  same(db, "in the end");
  sqlite3_close(pOld);
  sqlite3_close(db2);
  sqlite3_close(db);
}

/* What becomes of the tree, and of the file */
static void testFile(const char *zMode){
  const char *zFile = temporaryFile("file.db");
  const char *zLink = temporaryFile("link.db");
  const char *zFrom = temporaryFile("from.db");
  char zPragma[80];
  sqlite3 *db, *db2, *pFrom;
  sqlite3_backup *pBackup;
  sqlite3_snprintf(sizeof(zPragma), zPragma,
                   "PRAGMA page_size=1024; PRAGMA auto_vacuum=full; PRAGMA journal_mode=%s", zMode);
  db = made(zFile, zPragma);
  same(db, "as made");
  execute(db, "ALTER TABLE t ADD COLUMN later DEFAULT 7");
  check(integer(&ours, db, "SELECT sum(later) FROM t")==42000, "%s: values that are missing", zMode);
  check(integer(&ours, db, "SELECT sum(later) FROM t")==42000, "%s: the second time", zMode);
  same(db, "a column added");
  execute(db, "VACUUM");
  same(db, "after VACUUM");
  execute(db, "DROP TABLE t");
  execute(db, zTable);
  same(db, "a table of the same shape at the same place");
  execute(db, "DELETE FROM t WHERE id>1000");
  same(db, "truncated");
  execute(db, "INSERT INTO t SELECT 1000+value, 3, value, 4, 'new '||value, 5"
              " FROM " SERIES("5000") "");
  same(db, "and grown again");
  execute(db, "PRAGMA page_size=2048; VACUUM");
  same(db, "another page size");
  execute(db, "CREATE TABLE u(id INTEGER PRIMARY KEY, x TEXT)");
  execute(db, "INSERT INTO u SELECT value, printf('%.*c', value*20, 'z') FROM " SERIES("300") "");
  check(integer(&ours, db, "SELECT sum(length(x)) FROM u")==903000, "%s: overflow pages", zMode);
  check(integer(&ours, db, "SELECT sum(length(x)) FROM u")==903000, "%s: and again", zMode);

  removeDb(zLink);
  check(link(zFile, zLink)==0 || strcmp(zMode, "wal")==0, "a second name");
  if( strcmp(zMode, "wal") ){
    db2 = opened(zLink);
    execute(db2, "UPDATE t SET n=n+1 WHERE id=77");
    same(db2, "under another name");
    same(db, "written under another name");
    sqlite3_close(db2);
  }
  unlink(zLink);

  sqlite3_snprintf(sizeof(zPragma), zPragma, "PRAGMA page_size=%d",
                   (int)integer(&ours, db, "PRAGMA page_size"));
  pFrom = made(zFrom, zPragma);
  execute(pFrom, "UPDATE t SET n=n*2, s='from '||(id%9)");
  pBackup = sqlite3_backup_init(db, "main", pFrom, "main");
  check(pBackup!=0 && sqlite3_backup_step(pBackup, -1)==SQLITE_DONE, "backup: %s", sqlite3_errmsg(db));
  sqlite3_backup_finish(pBackup);
  sqlite3_close(pFrom);
  same(db, "a backup was written into it");

  db2 = opened(zFile);
  same(db2, "another connection");
  sqlite3_close(db2);
  execute(db, "PRAGMA journal_mode=wal");
  same(db, "now with a WAL");
  execute(db, "UPDATE t SET n=n+1 WHERE id=100; PRAGMA journal_mode=delete");
  same(db, "and without");
  execute(db, "UPDATE t SET n=n+1 WHERE id=101; PRAGMA journal_mode=wal;"
              "UPDATE t SET n=n+1 WHERE id=102");
  same(db, "and with one again");
  sqlite3_close(db);
}

/* Where the file is not read as usual */
static void testOthers(void){
  const char *zFile = temporaryFile("others.db");
  char zUri[300];
  sqlite3 *db = made(zFile, "PRAGMA page_size=1024");
  sqlite3 *db2;
  static const char *const azHow[] = {"immutable=1", "nolock=1", "mode=ro", "cache=shared", "vfs=unix-none"};
  unsigned i;
  same(db, "as made");
  for(i=0; i<sizeof(azHow)/sizeof(azHow[0]); i++){
    sqlite3_snprintf(sizeof(zUri), zUri, "file:%s?%s", zFile, azHow[i]);
    db2 = opened(zUri);
    same(db2, azHow[i]);
    execute(db, "UPDATE t SET n=n+1 WHERE id%97=0");
    same(db, "the usual way");
    sqlite3_close(db2);
    db2 = opened(zUri);
    same(db2, azHow[i]);
    sqlite3_close(db2);
  }
  execute(db, "PRAGMA locking_mode=exclusive; UPDATE t SET n=n+1 WHERE id=1");
  same(db, "with an exclusive lock");
  execute(db, "UPDATE t SET n=n+1 WHERE id=2");
  same(db, "written with an exclusive lock");
  execute(db, "PRAGMA locking_mode=normal");
  same(db, "the lock is normal again");
  sqlite3_close(db);

  /* What a connection with a shared cache reads is not committed */
  sqlite3_snprintf(zUri[0] ? (int)sizeof(zUri) : 0, zUri, "file:%s?cache=shared", zFile);
  db = opened(zUri);
  db2 = opened(zUri);
  execute(db2, "PRAGMA read_uncommitted=1");
  same(db2, "a shared cache");
  execute(db, "BEGIN; UPDATE t SET n=n+1000 WHERE id<3000");
  same(db2, "uncommitted");
  execute(db, "ROLLBACK");
  same(db2, "rolled back by the other one");
  sqlite3_close(db2);
  sqlite3_close(db);
}

/*
** What is asked once is not kept.  What is written after each scan is kept a few times, and
** then no more.  Run without columns=force.
*/
static void testHabits(void){
  const char *zFile = temporaryFile("habits.db");
  sqlite3 *db;
  sqlite3_int64 nUsed, nMost = 0;
  sqlite3_int64 aPiece[4];
  int i, nGrown = 0;
  removeDb(zFile);
  db = plain(zFile);
  execute(db, zTable);
  execute(db, "INSERT INTO t SELECT 10000+value, value, value, value/3.0, 'long text '||value, 1"
              " FROM " SERIES("60000"));
  sqlite3_close(db);
  db = plain(zFile);
  check(found(db)==0 && found(db)==0, "the first scan keeps nothing, the second has nothing");
  check((nUsed = found(db))>0, "the third finds what the second has kept");
  check(found(db)>nUsed, "the fourth finds what the third has kept");
  sqlite3_close(db);
  db = plain(zFile);
  for(i=0; i<4; i++) aPiece[i] = foundBy(db, "SELECT id FROM t WHERE n=77");
  check(aPiece[0]==0 && aPiece[1]==0 && aPiece[2]>0 && aPiece[3]>aPiece[2],
        "pieces of one scan are one time: %lld %lld %lld %lld", aPiece[0], aPiece[1], aPiece[2],
        aPiece[3]);
  sqlite3_close(db);
  db = plain(zFile);
  for(i=0; i<30; i++){
    nUsed = sqlite3_memory_used();
    check(found(db)==0, "round %d: all has changed", i);
    nGrown += sqlite3_memory_used()>nUsed+200000;
    elsewhere(zFile, "UPDATE t SET n=n+1 WHERE id=100");
  }
  check(nGrown<=2, "of 30 scans, each after a write, %d keep columns", nGrown);
  for(i=0; i<8; i++) found(db);
  check(found(db)>0, "when nobody writes any more they are kept");
  execute(db, "PRAGMA shrink_memory; PRAGMA hp_columns=300000");
  nUsed = sqlite3_memory_used();
  for(i=0; i<12; i++){
    found(db);
    nMost = sqlite3_memory_used()>nMost ? sqlite3_memory_used() : nMost;
  }
  check(found(db)>0, "some are found");
  check(nMost-nUsed<500000, "with a limit of 300000 bytes %lld are taken", nMost-nUsed);
  execute(db, "PRAGMA hp_columns=off");
  check(found(db)==0, "off");
  check(integer(&ours, db, "SELECT count(*) FROM t")==66000, "and there are answers");
  sqlite3_close(db);
}

/* count(*) knows the rows of runs that have been counted before, or whose columns are there */
static void testCounts(const char *zMode){
  static const char zCount[] = "SELECT count(*) FROM t";
  const char *zFile = temporaryFile("counts.db");
  char zPragma[50];
  sqlite3 *db, *db2;
  sqlite3_int64 nRun, nIndex;
  snprintf(zPragma, sizeof(zPragma), "PRAGMA journal_mode=%s", zMode);
  db = made(zFile, zPragma);
  db2 = opened(zFile);
  check(foundBy(db, zCount)==0, "%s: nothing has been counted", zMode);
  nRun = foundBy(db, zCount);
  check(nRun>0, "%s: what has been counted is known", zMode);
  check(found(db)==0, "%s: but no columns", zMode);
  check(found(db)==nRun && foundBy(db, zCount)==nRun, "%s: these tell the number, too", zMode);
  sameAnswer(db, zCount, 2, "counted");
  same(db, "counted");
  execute(db2, "DELETE FROM t WHERE id%3=0; INSERT INTO t(id, n) VALUES(100000, 1)");
  sameAnswer(db, zCount, 2, "after a change");
  execute(db2, "CREATE INDEX ti ON t(g)");
  foundBy(db, zCount);
  nIndex = foundBy(db, zCount);
  check(nIndex>0 && nIndex<nRun, "%s: an index is counted: %lld", zMode, nIndex);
  sameAnswer(db, zCount, 3, "by an index");
  execute(db2, "DELETE FROM t WHERE id%5=0; INSERT INTO t(id, g) VALUES(100001, 5)");
  sameAnswer(db, zCount, 3, "by an index, after a change");
  execute(db2, "DELETE FROM t");
  sameAnswer(db, zCount, 2, "empty");
  sqlite3_close(db);
  sqlite3_close(db2);
}

/*
** Sorted rows, the first rows of partitions, and rows that are put aside for a join are made of
** values in memory, whichever kind a column has.
*/
static void testRecords(void){
  static const char *const azAsk[] = {
    "SELECT s, x, n, id, r FROM t ORDER BY s, n DESC, id",
    "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY n DESC, id) AS k FROM t)"
    " WHERE k<=20",
    "SELECT x, s, k FROM (SELECT x, s, dense_rank() OVER (PARTITION BY n ORDER BY s) AS k FROM t)"
    " WHERE k<3",
    "SELECT count(*), sum(t.n+o.id), min(t.s), max(t.x), total(t.r), sum(t.id) FROM t JOIN o"
    " ON o.id=t.n WHERE t.g=5",
    "SELECT o.z, count(*), max(t.s) FROM t JOIN o ON o.id=t.id WHERE t.r>9 AND o.z<>'z4' GROUP BY o.z",
  };
  const char *zFile = temporaryFile("records.db");
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=wal");
  unsigned i;
  execute(db, "CREATE TABLE o(id INTEGER PRIMARY KEY, z);"
              "INSERT INTO o SELECT value, 'z'||(value%9) FROM " SERIES("9000") ";"
              "UPDATE t SET s=printf('%.*c', id%300, 'y') WHERE id%50=7;"
              "UPDATE t SET n=id<<(id%40) WHERE id%60=11; UPDATE t SET r=id WHERE id%3=0");
  for(i=0; i<sizeof(azAsk)/sizeof(azAsk[0]); i++){
    sameAnswer(db, azAsk[i], 3, "records");
    check(foundBy(db, azAsk[i])>0, "columns are read by %s", azAsk[i]);
    execute(db, "UPDATE t SET g=g+1, s=s||'!' WHERE id%700=3");
    sameAnswer(db, azAsk[i], 2, "records after a change");
  }
  sqlite3_close(db);
}

/*
** Leaves split and become one again, so that those behind them have other places under the page
** above.  There are several units under each.
*/
static void testSplits(const char *zMode){
  static const char *const azAsk[] = {
    "SELECT count(*) FROM t", "SELECT count(*), sum(id), sum(n) FROM t", "SELECT id FROM t WHERE n=77",
    "SELECT g, count(*), max(id) FROM t WHERE id>30000 GROUP BY g",
  };
  const char *zFile = temporaryFile("splits.db");
  char zSql[400];
  sqlite3 *db, *pOld;
  int i;
  unsigned k;
  sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA journal_mode=%s", zMode);
  db = made(zFile, zSql);
  pOld = opened(zFile);
  execute(db, "INSERT INTO t SELECT 10000+value*4, value%9, value*31%1000, 0.5, hex(randomblob(170)), 1"
              " FROM " SERIES("20000"));
  for(k=0; k<sizeof(azAsk)/sizeof(azAsk[0]); k++) sameAnswer(db, azAsk[k], 3, "before");
  if( strcmp(zMode, "wal")==0 ) execute(pOld, "BEGIN; SELECT count(*) FROM t");
  for(i=0; i<10; i++){
    int iAt = 10000 + i*7919%79000;
    if( i%3==2 ){
      sqlite3_snprintf(sizeof(zSql), zSql, "DELETE FROM t WHERE id BETWEEN %d AND %d", iAt, iAt+700);
    }else{
      sqlite3_snprintf(sizeof(zSql), zSql,
          "INSERT OR IGNORE INTO t SELECT %d+value*4+1, 1, 77, 0.5, hex(randomblob(%d)), 1 FROM "
          SERIES("60"), iAt, 50+i*40);
    }
    execute(db, zSql);
    for(k=0; k<sizeof(azAsk)/sizeof(azAsk[0]); k++){
      /* So often that runs with changed leaves are read as a whole again */
      sameAnswer(db, azAsk[k], k==1 && i%2 ? 30 : 2, zSql);
      sameAnswer(pOld, azAsk[k], 1, "another connection, or an older snapshot");
    }
  }
  sqlite3_close(pOld);
  sqlite3_close(db);
}

/* A scan by pieces finds parts of what others have kept, and keeps what is whole */
static void testPieces(void){
  static const char zPieces[] = "SELECT id, n, s FROM t WHERE n=77";
  const char *zFile = temporaryFile("pieces.db");
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=wal");
  sqlite3_int64 nRun;
  execute(db, "INSERT INTO t SELECT 10000+value, value%5, value%997, value/3.0, 'text '||value, 1"
              " FROM " SERIES("90000"));
  foundBy(db, zPieces);
  nRun = foundBy(db, zPieces);
  check(nRun>0, "what a piece has kept is found");
  sameAnswer(db, zPieces, 3, "pieces");
  execute(db, "PRAGMA shrink_memory; PRAGMA journal_size_limit=-1");
  foundBy(db, "SELECT sum(n), max(id), count(s) FROM t");
  check(foundBy(db, zPieces)>=nRun, "parts of units that a scan has kept are found");
  sameAnswer(db, zPieces, 3, "after a scan");
  sameAnswer(db, "SELECT s FROM t WHERE n<3 AND g=1 LIMIT 70 OFFSET 9", 3, "that ends early");
  same(db, "after pieces");
  execute(db, "UPDATE t SET n=77 WHERE id%1000=5");
  sameAnswer(db, zPieces, 3, "after a change");
  sqlite3_close(db);
}

/* Memory is counted, and given back */
static void testMemory(void){
  const char *zFile = temporaryFile("memory.db");
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=wal");
  sqlite3 *db2;
  sqlite3_int64 nBefore, nWith;
  execute(db, "INSERT INTO t SELECT 10000+value, value, value, value/3.0, 'long text '||value, 1"
              " FROM " SERIES("60000") "");
  nBefore = sqlite3_memory_used();
  same(db, "as made");
  nWith = sqlite3_memory_used();
  check(nWith>nBefore+500000, "%lld bytes of columns are counted", nWith-nBefore);
  check(found(db)>0, "they are there");
  execute(db, "PRAGMA shrink_memory");
  check(sqlite3_memory_used()<nBefore+200000, "shrink_memory gives them back: %lld",
        sqlite3_memory_used()-nBefore);
  check(found(db)==0, "they are gone");
  db2 = opened(zFile);
  found(db2);
  check(found(db)>0 && found(db2)>0, "there again, for both");
  sqlite3_soft_heap_limit64(1000000000);
  check(found(db)>0 && found(db2)>0, "under a large soft limit, too");
  sqlite3_soft_heap_limit64(1000000);
  check(found(db)==0, "not if they are more than an eighth of it");
  found(db2);
  check(sqlite3_memory_used()<nBefore+200000, "nor is memory held: %lld", sqlite3_memory_used()-nBefore);
  sqlite3_soft_heap_limit64(0);
  found(db);
  found(db);
  check(found(db)>0, "without a limit they are");
  /* A hard limit below what is kept: SQLite alone would not have that */
  sqlite3_hard_heap_limit64(nBefore+400000);
  check(sqlite3_exec(db, "SELECT x FROM t WHERE id=(SELECT max(id) FROM t)", 0, 0, 0)==SQLITE_OK,
        "columns go when a hard limit is met: %s", sqlite3_errmsg(db));
  check(found(db)==0 && sqlite3_memory_used()<nBefore+400000, "and are not kept again");
  sqlite3_hard_heap_limit64(0);
  for(nWith=0; nWith<4; nWith++) found(db);
  check(found(db)>0, "but later they are");
  sqlite3_release_memory(1000000000);
  check(sqlite3_memory_used()<nBefore+200000, "sqlite3_release_memory() frees them");
  sqlite3_close(db2);
  sqlite3_close(db);
  check(sqlite3_memory_used()<100000, "nothing remains: %lld", sqlite3_memory_used());
}

/*
** Two files, each of whose columns fit into what may be kept, but not both.  While both are scanned
** none pushes the other out.  When one has not been scanned for long its columns give way.
*/
static void testIdle(void){
  static const char zSql[] = "SELECT count(*), sum(n), min(s), max(s) FROM t";
  static const char *const azFile[] = { "busy.db", "idle.db" };
  sqlite3 *aDb[2];
  sqlite3_int64 nAll = 0, nPart, nLeast, nUsed, n;
  int i;
  /* An eighth of that is kept: 5,000,000 bytes, of which each file takes 3 to 4 million */
  sqlite3_soft_heap_limit64(40000000);
  for(i=1; i>=0; i--){
    const char *zFile = temporaryFile(azFile[i]);
    aDb[i] = madeOf(zFile, "CREATE TABLE t(n INT, s TEXT); INSERT INTO t"
                    " SELECT value*7919%%1000, printf('%%0100d', value) FROM %s", SERIES("32000"));
    nUsed = sqlite3_memory_used();
    foundBy(aDb[i], zSql);
    if( i==1 ){
      nAll = foundBy(aDb[i], zSql);
      nUsed = sqlite3_memory_used()-nUsed;
      check(nAll>10 && nUsed>3000000, "the first file has room: %lld runs, %lld bytes", nAll, nUsed);
    }
  }
  nPart = nLeast = foundBy(aDb[0], zSql);
  check(nPart<nAll, "the second has not: %lld runs of %lld", nPart, nAll);
  for(i=0; i<100; i++){
    n = foundBy(aDb[i%2], zSql);
    check(n==(i%2 ? nAll : nPart), "round %d: those that take turns leave each other alone: %lld", i, n);
  }
  for(i=0; i<60; i++){
    n = foundBy(aDb[0], zSql);
    nLeast = n>nLeast ? n : nLeast;
  }
  check(nLeast==nPart, "one that was scanned not long ago is not idle: %lld runs", nLeast);
  for(i=0; i<10; i++) n = foundBy(aDb[0], zSql);
  check(n==nAll, "columns of an idle file give way: %lld runs of %lld", n, nAll);
  check(foundBy(aDb[1], zSql)==0, "and are gone");
  for(i=0; i<2; i++) sameAnswer(aDb[i], zSql, 2, "an idle file");
  for(i=0; i<2; i++) sqlite3_close(aDb[i]);
  sqlite3_soft_heap_limit64(0);
}

/*
** A thread meets dates of all years for the first time while its process forks.  The child then meets them,
** too, and must not wait for a thread that it does not have.  It may wait for a mutex of the
** process that such a thread had, as with SQLite: that takes no processor time, the other does.
*/
static void *datesThread(void *pFile){
  sqlite3 *db = opened((const char*)pFile);
  integer(&ours, db, "SELECT count(d), max(d), min(d||'') FROM dates");
  integer(&ours, db, "SELECT count(d), max(d), min(d||'') FROM dates");
  return 0;
}
static void testDates(void){
  const char *zFile = temporaryFile("dates.db");
  int i, nSpun = 0, nEnded = 0;
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=wal");
  execute(db, "CREATE TABLE dates AS SELECT date('1900-01-01', (value*7%93000)||' days') AS d FROM "
              SERIES("30000"));
  sqlite3_close(db);
  for(i=0; i<4; i++){
    int status = 0;
    pid_t pid = fork();
    if( pid==0 ){
      pthread_t thread;
      pid_t aChild[8];
      int k, nNow = 0, nDone = 0;
      if( pthread_create(&thread, 0, datesThread, (void*)zFile) ) _exit(99);
      usleep(500*i);
      for(k=0; k<8; k++){
        aChild[k] = fork();
        if( aChild[k]==0 ){
          struct rlimit limit = { 3, 9 };
          setrlimit(RLIMIT_CPU, &limit);
          alarm(30);
          datesThread((void*)zFile);
          _exit(0);
        }
      }
      for(k=0; k<8; k++){
        waitpid(aChild[k], &status, 0);
        nNow += WIFSIGNALED(status) && WTERMSIG(status)!=SIGALRM;
        nDone += WIFEXITED(status) && WEXITSTATUS(status)==0;
      }
      _exit(nNow*16 + nDone);
    }
    waitpid(pid, &status, 0);
    nSpun += WEXITSTATUS(status)/16;
    nEnded += WEXITSTATUS(status)%16;
  }
  check(nSpun==0, "of 32 children %d wait for a thread of their parent", nSpun);
  check(nEnded>0, "of 32 children %d ended", nEnded);
}

/*
** Settings of applications that were tuned for SQLite leave columns on; a page cache that is smaller than
** the default leaves them a smaller share.
*/
static void testTuned(const char *zMode){
  static const char *const azTuned[] = {
    "cache_size=-2000", "cache_size=-64000", "cache_size=10000", "cache_size=100", "cache_size=10",
    "cache_size=1", "cache_size=0", "mmap_size=268435456", "mmap_size=65536", "temp_store=memory",
    "journal_size_limit=1000000", "locking_mode=exclusive", "synchronous=off", "foreign_keys=on", "busy_timeout=5000", "cache_spill=off",
    "threads=4", "soft_heap_limit=200000000", "default_cache_size=3000", "secure_delete=off",
    "recursive_triggers=on", "optimize", "analysis_limit=400",
    "cache_size=-64000; PRAGMA mmap_size=30000000000; PRAGMA temp_store=memory; PRAGMA synchronous=normal",
  };
  const char *zFile = temporaryFile("tuned.db");
  char z[200];
  unsigned i;
  sqlite3_snprintf(sizeof(z), z, "PRAGMA journal_mode=%s", zMode);
  sqlite3_close(made(zFile, z));
  for(i=0; i<sizeof(azTuned)/sizeof(azTuned[0]); i++){
    sqlite3 *db = opened(zFile);
    int k;
    sqlite3_snprintf(sizeof(z), z, "PRAGMA %s", azTuned[i]);
    execute(db, z);
    same(db, z);
    for(k=0; k<4; k++) found(db);
    check(found(db)>0, "%s: no columns with %s", zMode, azTuned[i]);
    execute(db, "UPDATE t SET n=n+1 WHERE id%1000=7");
    same(db, z);
    sqlite3_close(db);
    sqlite3_soft_heap_limit64(0);
  }
}

/*
** Threads ask while others write: the sum of n is what it was, and all rows of a group
** have the text of the same round.
*/
#define N_THREAD 3
static const char *zShared;
static int bEnd;
static void *reader(void *pArg){
  sqlite3 *db = opened(zShared);
  sqlite3_int64 *pnBad = pArg;
  int n = 0;
  while( !__atomic_load_n(&bEnd, __ATOMIC_ACQUIRE) || n<3 ){
    *pnBad += integer(&ours, db,
        "SELECT count(*) FROM (SELECT g, count(DISTINCT s) AS k, sum(n) AS x FROM t GROUP BY g)"
        " WHERE k<>1 OR x<>0");
    n++;
  }
  sqlite3_close(db);
  return 0;
}
static void testThreads(const char *zMode){
  char zPragma[60];
  pthread_t aThread[N_THREAD];
  sqlite3_int64 aBad[N_THREAD] = {0};
  sqlite3 *db;
  int i;
  zShared = temporaryFile("threads.db");
  removeDb(zShared);
  db = opened(zShared);
  sqlite3_snprintf(sizeof(zPragma), zPragma, "PRAGMA journal_mode=%s; PRAGMA synchronous=off", zMode);
  execute(db, zPragma);
  execute(db, "PRAGMA wal_autocheckpoint=40;"
    "CREATE TABLE t(id INTEGER PRIMARY KEY, g INT, n INT, s TEXT);"
    "INSERT INTO t SELECT value, value%10, 0, 'round 0' FROM " SERIES("20000") "");
  bEnd = 0;
  for(i=0; i<N_THREAD; i++) pthread_create(&aThread[i], 0, reader, &aBad[i]);
  for(i=1; i<=(longRun() ? 400 : 60); i++){
    char zSql[300];
    sqlite3_snprintf(sizeof(zSql), zSql, "BEGIN IMMEDIATE;"
      "UPDATE t SET s='round %d' WHERE g=%d;"
      "UPDATE t SET n=n+1 WHERE id=%d; UPDATE t SET n=n-1 WHERE id=%d; COMMIT;",
      i, i%10, 1+i*70%19000, 1+i*70%19000+10);
    execute(db, zSql);
  }
  __atomic_store_n(&bEnd, 1, __ATOMIC_RELEASE);
  for(i=0; i<N_THREAD; i++){
    pthread_join(aThread[i], 0);
    check(aBad[i]==0, "%s: %lld groups were of several states", zMode, aBad[i]);
  }
  sqlite3_close(db);
}

/*
** Another process writes until it is killed, in the middle of anything.  Rows get and lose the same,
** so the sum stays.
*/
static void transfer(const char *zFile){
  sqlite3 *db = openDb(&ours, zFile, 0);
  int i;
  sqlite3_busy_timeout(db, 5000);
  sqlite3_exec(db, "PRAGMA wal_autocheckpoint=50; PRAGMA synchronous=off; PRAGMA cache_size=20", 0, 0, 0);
  for(i=(int)getpid();; i++){
    char zSql[300];
    sqlite3_snprintf(sizeof(zSql), zSql, "BEGIN IMMEDIATE;"
        "UPDATE t SET n=n+1, s='round %d' WHERE id%%%d=3; UPDATE t SET n=n-1, r=r+1 WHERE id%%%d=4; %s",
        i%60, 50+i%900, 50+i%900, i%5 ? "COMMIT" : "ROLLBACK");
    if( sqlite3_exec(db, zSql, 0, 0, 0) ) sqlite3_exec(db, "ROLLBACK", 0, 0, 0);
  }
}
static void testKilled(const char *zMode){
  const char *zFile = temporaryFile("killed.db");
  int nRound = longRun() ? 200 : 25;
  sqlite3_int64 nSum;
  sqlite3 *db;
  char zPragma[60];
  int i, k;
  sqlite3_snprintf(sizeof(zPragma), zPragma, "PRAGMA journal_mode=%s", zMode);
  db = made(zFile, zPragma);
  execute(db, "DELETE FROM t WHERE id>=5950");      /* As many rows are 3 as are 4, whatever the divisor */
  execute(db, "UPDATE t SET n=0");
  nSum = integer(&ours, db, "SELECT sum(n) FROM t");
  for(i=0; i<nRound; i++){
    pid_t pid = fork();
    if( pid==0 ){
      execl(zSelf, zSelf, zFile, "transfer", (char*)0);
      _exit(3);
    }
    for(k=0; k<1+i%3; k++){
      usleep(1000*(1+i*7%12));
      execute(db, "BEGIN");
      sameAnswer(db, azScan[(i+k)%N_SCAN], 1, "another process writes");
      check(integer(&ours, db, "SELECT sum(n) FROM t")==nSum, "%s, round %d: half a transaction is seen", zMode, i);
      execute(db, "COMMIT");
    }
    kill(pid, SIGKILL);
    waitpid(pid, 0, 0);
    check(integer(&ours, db, "SELECT sum(n) FROM t")==nSum, "%s, round %d: half a transaction stayed", zMode, i);
    for(k=0; k<4; k++) sameAnswer(db, azScan[(i*4+k)%N_SCAN], 2, "another process was killed");
  }
  sqlite3_close(db);
}

/* Without memory columns are not kept, and not mended, and answers are the same */
static void testFaults(void){
  const char *zFile = temporaryFile("faults.db");
  int i, k, nFailed;
  Text first = {0,0,0};
  failMemory(1);
  for(i=0; i<2000; i++){
    sqlite3 *db;
    fault.nLeft = -1;
    if( i==0 ) sqlite3_close(made(zFile, "PRAGMA page_size=1024; PRAGMA journal_mode=wal"));
    db = opened(zFile);
    execute(db, "SELECT count(*) FROM sqlite_schema");
    integer(&ours, db, azScan[0]);
    execute(db, "UPDATE t SET r=r+1 WHERE id%1500=7");
    fault.nFailed = 0;
    fault.nLeft = i;
    fault.bForEver = i%2;
    integer(&ours, db, azScan[2]);
    nFailed = fault.nFailed;
    fault.nLeft = -1;
    for(k=0; k<2; k++){
      Text text = {0,0,0};
      answer(&ours, db, azScan[2], &text);
      if( first.z==0 ) first = text;
      check(strcmp(text.z, first.z)==0, "after fault %d, time %d", i, k);
      if( first.z!=text.z ) textClear(&text);
    }
    sameAnswer(db, azScan[0], 1, "what was mended, or was not");
    sqlite3_close(db);
    if( nFailed==0 && i>20 ) break;
  }
  check(i>20 && i<2000, "all allocations have failed once: %d", i);
  textClear(&first);
  failMemory(0);
}

/* A sanitizer makes all of it five times as long: it sees one of two journal modes, unless there is time.
** The library as it is released runs both, in a way of working of its own (engine/test/run) */
#ifdef __SANITIZE_ADDRESS__
# define BOTH_MODES longRun()
#else
# define BOTH_MODES 1
#endif

int main(int argc, char **argv){
  static const char *const azMode[] = { "wal", "delete" };
  int bThreads = argc==2 && strcmp(argv[1], "threads")==0;
  int i;
  zSelf = argv[0];
  if( argc==2 && strcmp(argv[1], "habits")==0 ){
    testHabits();
    return finish();
  }
  if( argc==2 && strcmp(argv[1], "tuned")==0 ){
    testMemory();
    testIdle();
    testTuned("wal");
    testTuned("delete");
    testDates();
    return finish();
  }
  if( argc==3 && strcmp(argv[2], "transfer")==0 ) transfer(argv[1]);
  if( argc==3 ) return child(argv[1], argv[2]);
  if( argc==2 && strcmp(argv[1], "tiny")==0 ){
    testKilled("wal");
    testThreads("wal");
    testThreads("delete");
    return finish();
  }
  if( !bThreads ){
    testForms();
    testFilters();
    testKeys();
    testJournal("delete");
    testCommits("delete");
    if( BOTH_MODES ){
      testJournal("memory");
      testCommits("memory");
    }
    if( longRun() ){
      /* The same locks and counters as with "delete" */
      testJournal("truncate");
      testJournal("persist");
      testCommits("persist");
    }
    testSnapshots();
    testElsewhere();
    testDamaged();
    testDamagedLater();
    testRangesOfDamaged();
    testRestart();
    testStale();
    testUnits();
    testMendedBefore();
    testOthers();
    testPieces();
    testRecords();
    testFaults();
    for(i=0; i<(BOTH_MODES ? 2 : 1); i++){
      testRanges(azMode[i]);
      testMended(azMode[i]);
      testFile(azMode[i]);
      testCounts(azMode[i]);
      testSplits(azMode[i]);
      testKilled(azMode[i]);
    }
  }
  testThreads("wal");
  testThreads("delete");
  return finish();
}
