/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** drivers STOCK [threads]: the outermost loop of a statement goes from row found to
** row found (hp_piece.c).
**
**    answers     Statements of all kinds run on ours and on the library STOCK, on files
**                with the same tables.  The two must say the same: rows, order, errors.
**    changes     UPDATE, DELETE and INSERT, with triggers, foreign keys, RETURNING and
**                conflicts, some of them of the table that is scanned.  Afterwards all
**                tables, and what the connection counts, must be the same.
**    between     Between two rows the application writes: to rows ahead, to rows that
**                have been found, to others; rolls back; writes to a blob.  Each row
**                is what stock's is.
**    calls       Functions of the application write, fail, and count how often they
**                are called.
**    interrupts  The progress handler or another thread stops a scan.
**    damage      Bytes of the file are changed.
**    finds       Correlated sub-selects look their groups up (hp_find.c): keys of all
**                types, writes between rows, errors.
**    scalars     Sub-selects that have one value for all rows.
**    sets        The values of IN (SELECT ...), in any order.
**    top groups  Groups that are first by an aggregate.
**    looks       Rows of a join are left out that have no partner.
**    early       A search for rows ends early, after sets of IN have been read.
**    threads     Four workers.  Runs under ThreadSanitizer.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pair.h"

typedef sqlite3_int64 i64;

static const char zTables[] =
  "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b REAL, c TEXT, d);"
  "WITH RECURSIVE n(k) AS (VALUES(1) UNION ALL SELECT k+1 FROM n WHERE k<900)"
  " INSERT INTO t SELECT k*2, k*37%101, k*0.25, 'text '||(k*7%50), CASE k%9 WHEN 0 THEN"
  "  NULL WHEN 1 THEN k WHEN 2 THEN zeroblob(300+k) ELSE 'd'||k END FROM n;"
  "CREATE INDEX tb ON t(b);"
  "CREATE TABLE u(id INTEGER PRIMARY KEY, t INTEGER, x TEXT);"
  "INSERT INTO u SELECT id/2, id*13%700, 'x'||(a%10) FROM t WHERE id<600;"
  "CREATE INDEX ut ON u(t);"
  "CREATE TABLE log(n INTEGER, z TEXT);";

/* Begin a test: new databases, with the tables and zMore */
static void begin(const char *zMore){
  pairTables(zTables, zMore);
}

/* Statement zSql on both.  zSql[0]: '+' ours has to take it over, '-' to refuse it,
** '?' neither is said */
static void same(const char *zSql){
  char eWay = *zSql++;
  if( eWay!='?' ) check(isTaken(adb[0], zSql)==(eWay=='+'), "%s: %s",
                        eWay=='+' ? "not taken over" : "taken over", zSql);
  pairSame(zSql);
}

/* All tables, and what the connection counts */
static void sameTables(const char *zAfter){
  static const char *const az[] = {
    "?SELECT changes(), total_changes(), last_insert_rowid()",
    "?SELECT * FROM t NOT INDEXED", "?SELECT b, rowid FROM t ORDER BY b, rowid",
    "?SELECT * FROM u NOT INDEXED", "?SELECT t, rowid FROM u ORDER BY t, rowid",
    "?SELECT rowid, * FROM log",
  };
  unsigned i;
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++) same(az[i]);
  checkIntegrity(&ours, adb[0], zAfter);
}

static void testAnswers(void){
  static const char *const az[] = {
    "+SELECT * FROM t WHERE a=7",
    "+SELECT id, d FROM t WHERE c LIKE '%xt 1%' AND +b>100",
    "+SELECT c FROM t WHERE a<0",
    "+SELECT id FROM t WHERE a>=0",
    "+SELECT id FROM t WHERE a BETWEEN 5 AND 9 LIMIT 4",
    "+SELECT id FROM t WHERE a BETWEEN 5 AND 9 LIMIT 5 OFFSET 11",
    "+SELECT id FROM t WHERE a IN (3,5,77) ORDER BY c, id",
    "+SELECT DISTINCT c FROM t WHERE a>90 LIMIT 3",
    "+SELECT id FROM t WHERE a>90 ORDER BY id LIMIT 3",
    "+SELECT t.id, u.id, x FROM t JOIN u ON u.t=t.id WHERE t.a=11",
    "+SELECT t.id, u.id, x FROM t LEFT JOIN u ON u.t=t.id AND u.x>'x3' WHERE t.a<4",
    "+SELECT t.id, u.id FROM t LEFT JOIN u ON u.t=t.id AND t.a=3 WHERE t.c='text 7'",
    "+SELECT t.id, u.id FROM t CROSS JOIN u ON u.t=t.id WHERE t.a+u.id=100 AND t.a>50",
    "+SELECT id FROM t WHERE a=5 AND EXISTS(SELECT 1 FROM u WHERE u.t=t.id AND x<>'x1')",
    "+SELECT id, (SELECT count(*) FROM u WHERE u.t=t.id) FROM t WHERE a%50=3",
    "+SELECT id FROM t WHERE a=5 UNION SELECT id FROM u WHERE x='x5'",
    "+SELECT id FROM t WHERE a<9 EXCEPT SELECT id FROM t WHERE c LIKE '%3'",
    "+SELECT id FROM t WHERE a=5 UNION ALL SELECT id FROM u WHERE x='x5' LIMIT 9",
    "+SELECT * FROM (SELECT id, c FROM t WHERE a=6 LIMIT 20) WHERE c<>'text 3'",
    "+SELECT id, row_number() OVER (ORDER BY +b DESC) FROM t WHERE a<8",
    "+SELECT count(*) FROM u WHERE id IN (SELECT id FROM t WHERE a>95)",
    "+WITH w AS MATERIALIZED (SELECT id, a FROM t WHERE c='text 21') SELECT w.id, v.id"
      " FROM w JOIN w AS v ON v.a=w.a",
    "+SELECT (SELECT b FROM t WHERE a=50), (SELECT max(b) FROM t WHERE c=u.x) FROM u"
      " WHERE id<3",
    "+SELECT id FROM t WHERE a=4 AND typeof(d)='text'",
    "+SELECT id, length(d) FROM t WHERE d IS NULL OR (a>90 AND length(d)>500)",
    "+VALUES(1) UNION ALL SELECT id FROM t WHERE a=9 AND 1",
    "?SELECT id FROM t WHERE a=9 AND 0",
    "+SELECT id FROM t WHERE a=9 AND (SELECT count(*) FROM u WHERE u.t=t.id)=0",
    /* The end of a range that SQLite looks for */
    "-SELECT id FROM t WHERE id>50 AND id<70",
    "-SELECT id FROM t WHERE b=7.5",
    "-SELECT id FROM t",
    "-SELECT x, t.id FROM u RIGHT JOIN t ON u.t=t.id WHERE t.a=3",
    /* A term that may fail where SQLite tests it first.  One that fails is among them */
    "?SELECT id FROM t WHERE abs(d+0)>=0 AND a=3",
    "?SELECT id FROM t WHERE a=3 AND abs(-9223372036854775807-(a<>4))>0",
    "?SELECT id FROM t WHERE a<>4 AND abs(-9223372036854775807-(a=4))>0",
    "?SELECT id FROM t WHERE a>500 AND id>(SELECT sum(9223372036854775807) FROM u)",
    "?SELECT id FROM t WHERE id>(SELECT sum(9223372036854775807) FROM u) AND a>500",
    "?SELECT id, abs(-9223372036854775807-(id>900)) FROM t WHERE a<3",
    "?SELECT id FROM t WHERE a=3 AND random()<>0 AND c<>'text 9'",
  };
  unsigned i;
  int k;
  begin("");
  for(k=0; k<2; k++){
    for(i=0; i<sizeof(az)/sizeof(az[0]); i++) same(az[i]);
    /* Within a transaction that has written */
    if( k ) break;
    both("PRAGMA cache_size=5; BEGIN; UPDATE t SET a=a+1 WHERE id%7=0; INSERT INTO t SELECT id+5000, 7, b, c, d"
         " FROM t WHERE id<90; DELETE FROM t WHERE id BETWEEN 300 AND 450");
  }
  both("ROLLBACK");
  end("answers");
}

static const char *const azChange[] = {
  "+DELETE FROM t WHERE a=7",
  "+DELETE FROM t WHERE a>=7 AND a<40",
  "+DELETE FROM t WHERE c LIKE 'text 1%'",
  "+DELETE FROM t WHERE a>=0",
  "+UPDATE t SET a=a+1 WHERE a>90",
  "+UPDATE t SET c=c||hex(zeroblob(200)) WHERE a%3=1 AND +b<200",
  "+UPDATE t SET c='', d=NULL WHERE a%3=1",
  "+UPDATE t SET b=b+100 WHERE a<50",
  "+UPDATE t SET id=id+10000 WHERE a=5",
  "+UPDATE t SET id=id+1 WHERE a<>5",
  "+UPDATE OR REPLACE t SET id=id+2 WHERE a<40",
  "+UPDATE OR IGNORE t SET id=id+2 WHERE a<40",
  "+UPDATE t SET id=id+2 WHERE a<40",
  "?UPDATE t SET a=(SELECT count(*) FROM u WHERE u.t=t.id) WHERE c='text 3'",
  "?DELETE FROM t WHERE a IN (1,2,3) AND id NOT IN (SELECT t FROM u)",
  "+UPDATE t SET a=9 WHERE a=4 RETURNING id, a, c",
  "+DELETE FROM t WHERE a BETWEEN 6 AND 9 RETURNING id, (SELECT count(*) FROM t)",
  "+INSERT INTO t SELECT id+1, a, b, c, d FROM t WHERE a=3",
  "+INSERT INTO t SELECT id+1, a, b, c, d FROM t WHERE a=3 OR a=4 ON CONFLICT DO UPDATE"
    " SET a=a+100 WHERE t.a<50",
  "+REPLACE INTO t SELECT id+2, a, b, c, d FROM t WHERE a=12",
  "+INSERT INTO log SELECT id, c FROM t WHERE a=12",
  "+CREATE TABLE made AS SELECT * FROM t WHERE a<20",
  "?UPDATE t SET a=u.id FROM u WHERE u.t=t.id AND t.a>40",
  "+UPDATE t SET c='gone' WHERE a=7 AND b>(SELECT min(id) FROM u WHERE u.t<t.a)",
  };

static void testChanges(void){
  static const char *const azMore[] = {
    "",
    /* What is written to where */
    "CREATE TRIGGER t1 AFTER UPDATE ON t BEGIN INSERT INTO log VALUES(new.id, old.a); END;"
      "CREATE TRIGGER t2 AFTER DELETE ON t BEGIN INSERT INTO log VALUES(old.id, 'gone');"
      " END",
    /* ... rows ahead, which then pass or do not */
    "CREATE TRIGGER t3 AFTER UPDATE OF a ON t BEGIN UPDATE t SET a=a+1 WHERE id=new.id+20;"
      " END; CREATE TRIGGER t4 BEFORE DELETE ON t BEGIN DELETE FROM t WHERE id=old.id+34;"
      " UPDATE t SET a=7 WHERE id=old.id+200; END",
    "CREATE TRIGGER t5 AFTER INSERT ON t WHEN new.id<2000 BEGIN DELETE FROM t WHERE"
      " id=new.id+60; END",
    "CREATE TABLE child(id INTEGER PRIMARY KEY, p REFERENCES t ON DELETE CASCADE ON UPDATE"
      " CASCADE DEFERRABLE INITIALLY DEFERRED, x); INSERT INTO child SELECT k, k, k%5 FROM"
      " (SELECT id AS k FROM t WHERE id<900); PRAGMA foreign_keys=on",
    "ALTER TABLE t ADD COLUMN e AS (a*2) VIRTUAL; CREATE INDEX te ON t(e)",
    "ALTER TABLE t ADD COLUMN e DEFAULT 'none'; CREATE UNIQUE INDEX tu ON t(id, a)",
  };
  unsigned i, k;
  for(k=0; k<sizeof(azMore)/sizeof(azMore[0]); k++){
    begin("");
    both(azMore[k]);
    for(i=0; i<sizeof(azChange)/sizeof(azChange[0]); i++){
      Text sql = {0,0,0};
      const char *z = azChange[i];
      textAppend(&sql, "%s", z);
      both("BEGIN");
      if( i%3==2 ) both("UPDATE t SET c='before' WHERE id%11=0");
      if( k>0 ) sql.z[0] = '?';
      same(sql.z);
      sameTables(z);
      if( strstr(z, "made") ) same("?SELECT * FROM made");
      both("ROLLBACK");
      sameTables("ROLLBACK");
      textClear(&sql);
    }
    end("changes");
  }
}

/* Step pStmt of library i, if it has a row, and append the row */
static int step1(int i, sqlite3_stmt *pStmt, Text *p){
  int k;
  int rc = apLib[i]->step(pStmt);
  textAppend(p, "%d:", rc);
  for(k=0; rc==SQLITE_ROW && k<apLib[i]->count(pStmt); k++){
    textHex(p, apLib[i]->blob(pStmt, k), apLib[i]->bytes(pStmt, k));
    textAppend(p, "|");
  }
  textAppend(p, "\n");
  return rc;
}

static void testBetween(void){
  static const char *const azSql[] = {
    "SELECT id, a, c FROM t WHERE a<6",
    "SELECT t.id, a, u.id FROM t JOIN u ON u.t>t.id AND u.t<t.id+9 WHERE a<6",
    "SELECT id, (SELECT count(*) FROM t AS i WHERE i.a=t.a) FROM t WHERE a IN (2,4)",
    "SELECT id FROM (SELECT id, a FROM t WHERE a<9 LIMIT 60) WHERE a>3",
    "SELECT id FROM t WHERE c LIKE '%7' UNION ALL SELECT id FROM t WHERE a=3",
    "SELECT t.id, a, x FROM t JOIN u ON u.id=t.a WHERE x IN ('x1','x4')",
    "SELECT t.id, v.t, v.x FROM t JOIN u ON u.id=t.a JOIN u AS v ON v.id=u.t WHERE t.a>9 AND"
      " v.x>'x4' AND u.x<'x8'",
    "SELECT t.id, p.a FROM t CROSS JOIN u ON u.id=t.a CROSS JOIN t AS p ON p.id=u.t+t.a WHERE"
      " t.a<99 AND p.a>4",
  };
  static const char *const azWrite[] = {
    "DELETE FROM t WHERE id BETWEEN 200 AND 900",
    "UPDATE t SET a=a+1",
    "UPDATE t SET a=3 WHERE id%100=0",
    "DELETE FROM t",
    "INSERT INTO t SELECT id+1, 3, b, c||hex(zeroblob(90)), d FROM t WHERE id%8=0",
    "UPDATE t SET c=c||hex(zeroblob(300)) WHERE id<400",
    "INSERT INTO log VALUES(1,2)",
    "CREATE TABLE made(x); INSERT INTO made VALUES(1)",
    "CREATE INDEX ta ON t(a)",
    "SAVEPOINT s; UPDATE t SET a=5; ROLLBACK TO s; RELEASE s",
    "BEGIN; UPDATE t SET a=5 WHERE id>300; ROLLBACK",
    "UPDATE u SET t=t+1; DELETE FROM u WHERE id%3=0",
    "UPDATE u SET x='x4' WHERE id%2",
    "PRAGMA incremental_vacuum",
  };
  const int bLong = longRun();
  unsigned i, k;
  int n;
  for(i=0; i<sizeof(azSql)/sizeof(azSql[0]); i++){
    for(k=0; k<sizeof(azWrite)/sizeof(azWrite[0]); k++){
      for(n=1; n<34; n = bLong && n<4 ? n+1 : n*(bLong ? 2 : 4)){
        Text aRow[2] = {{0,0,0},{0,0,0}};
        int j;
        begin("");
        for(j=0; j<2; j++){
          sqlite3_stmt *pStmt = 0;
          int nRow = 0;
          apLib[j]->prepare(adb[j], azSql[i], -1, &pStmt, 0);
          while( step1(j, pStmt, &aRow[j])==SQLITE_ROW ){
            if( ++nRow%n==0 && nRow<5*n ){
              int rc = apLib[j]->exec(adb[j], azWrite[k], 0, 0, 0);
              textAppend(&aRow[j], "write %d\n", rc);
            }
          }
          apLib[j]->finalize(pStmt);
        }
        check(strcmp(aRow[0].z, aRow[1].z)==0, "%s with %s after %d rows\n ours  %.900s\n"
              " stock %.900s", azSql[i], azWrite[k], n, aRow[0].z, aRow[1].z);
        sameTables(azWrite[k]);
        textClear(&aRow[0]);
        textClear(&aRow[1]);
        end("between");
      }
    }
  }
}

/* A blob that is written to between two rows */
static void testBlob(void){
  sqlite3_stmt *pStmt;
  sqlite3_blob *pBlob = 0;
  int nRow = 0;
  begin("UPDATE t SET d=zeroblob(9)");
  pStmt = prepared(adb[0], "SELECT id FROM t WHERE d=zeroblob(9) AND a>=0");
  check(sqlite3_blob_open(adb[0], "main", "t", "d", 600, 1, &pBlob)==SQLITE_OK, "open");
  while( sqlite3_step(pStmt)==SQLITE_ROW ){
    check(sqlite3_column_int(pStmt, 0)!=600, "a row that does not pass any more");
    if( ++nRow==100 ) check(sqlite3_blob_write(pBlob, "x", 1, 0)==SQLITE_OK, "write");
  }
  check(nRow==899, "%d rows", nRow);
  sqlite3_finalize(pStmt);
  sqlite3_blob_close(pBlob);
  end("blob");
}

/* Functions of the application */
static int nCall;
static void writes(sqlite3_context *pCtx, int n, sqlite3_value **ap){
  sqlite3 *db = sqlite3_context_db_handle(pCtx);
  (void)n;
  if( ++nCall==3 ) sqlite3_exec(db, "UPDATE t SET a=5 WHERE id=1600", 0, 0, 0);
  sqlite3_result_value(pCtx, ap[0]);
}
static void testCalls(void){
  static const struct { const char *zSql; int bTaken; } a[] = {
    { "SELECT writes(id) FROM t WHERE a=5", 1 },
    { "SELECT id FROM t WHERE a=5 AND writes(id)", 0 },
    { "SELECT id FROM t WHERE writes(a)=5 AND b>1", 0 },
    { "UPDATE t SET c=writes(c) WHERE a=5", 0 },
    { "DELETE FROM t WHERE a=5 AND writes(1)", 0 },
  };
  unsigned i;
  int k;
  for(i=0; i<sizeof(a)/sizeof(a[0]); i++){
    Text right = {0,0,0};
    int nRight = 0;
    for(k=0; k<2; k++){
      Text got = {0,0,0};
      begin("");
      sqlite3_create_function(adb[0], "writes", 1, SQLITE_UTF8, 0, writes, 0, 0);
      if( k==0 ) execute(adb[0], "PRAGMA hp_offload=off");
      else check(isTaken(adb[0], a[i].zSql)==a[i].bTaken, "%d: %s", a[i].bTaken, a[i].zSql);
      nCall = 0;
      answer(&ours, adb[0], a[i].zSql, &got);
      textAppend(&got, "-- ");
      answer(&ours, adb[0], "SELECT * FROM t NOT INDEXED", &got);
      if( k==0 ){
        right = got;
        nRight = nCall;
      }else{
        check(strcmp(got.z, right.z)==0, "%s\n got   %.600s\n right %.600s", a[i].zSql,
              got.z, right.z);
        check(nCall==nRight, "%d calls, not %d: %s", nCall, nRight, a[i].zSql);
        textClear(&got);
      }
      end("calls");
    }
    textClear(&right);
  }
}

/*
** A connection with tables in an attached database, after which another one has
** been attached: it is the last of sqlite3.aDb[].
*/
static sqlite3 *attached(void){
  sqlite3 *db = openDb(&ours, ":memory:", 0);
  Text sql = {0,0,0};
  textAppend(&sql, "ATTACH ':memory:' AS a; ATTACH '%s' AS b;", azFile[0]);
  execute(db, sql.z);
  execute(db, "CREATE TABLE b.big(id INTEGER PRIMARY KEY, y INT, k INT, s TEXT);"
              "CREATE INDEX b.bigk ON big(k);"
              "INSERT INTO b.big SELECT value, value*7919%10007, value/100,"
              " 'some text that fills pages' FROM " SERIES("60000"));
  textClear(&sql);
  return db;
}

/* Between two rows the application detaches the database before ours, and
** attaching another one fails: sqlite3.aDb[] has nothing any more where ours
** was.  SQLite's own asserts do not hold then: it locks the wrong one */
static void testDetach(void){
  static const char *const az[] = {
    "SELECT id FROM b.big WHERE y%7=3",
    "SELECT k, count(*) FROM b.big GROUP BY k",
    "SELECT big.id FROM b.big WHERE y%7=3 AND k IN (SELECT k FROM b.big WHERE y=5)",
  };
  unsigned i;
  int k;
  if( sqlite3_compileoption_used("DEBUG") ) return;
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
    sqlite3_uint64 aSum[2] = { 0, 0 };
    for(k=0; k<2; k++){
      sqlite3 *db;
      sqlite3_stmt *pStmt;
      int nRow = 0;
      unlink(azFile[0]);
      db = attached();
      if( k ) execute(db, "PRAGMA hp_offload=off");
      pStmt = prepared(db, az[i]);
      while( sqlite3_step(pStmt)==SQLITE_ROW ){
        aSum[k] = aSum[k]*3 + (sqlite3_uint64)sqlite3_column_int64(pStmt, 0);
        if( ++nRow==3 ){
          execute(db, "DETACH a");
          check(sqlite3_exec(db, "ATTACH '/no/such/folder/x.db' AS c", 0, 0, 0)
                    !=SQLITE_OK, "it can be attached");
        }
      }
      check(nRow>3, "%d rows: %s", nRow, az[i]);
      check(sqlite3_finalize(pStmt)==SQLITE_OK, "%s", sqlite3_errmsg(db));
      sqlite3_close(db);
    }
    check(aSum[0]==aSum[1], "detached: %s", az[i]);
  }
  unlink(azFile[0]);
}

/* An aggregate of the application fails with a code that means something to us */
static void failsStep(sqlite3_context *pCtx, int n, sqlite3_value **ap){
  (void)n;
  if( sqlite3_value_int(ap[0])==30077 ){
    sqlite3_result_error_code(pCtx, *(int*)sqlite3_user_data(pCtx));
  }
}
static void failsFinal(sqlite3_context *pCtx){
  sqlite3_result_int(pCtx, 1);
}
static void testCodes(void){
  static const char zSql[] = "SELECT y%100, fails(id ORDER BY y) FROM b.big"
                             " GROUP BY 1 ORDER BY count(*), 1";
  static int aCode[] = { SQLITE_DONE, SQLITE_ERROR, 1234 };
  unsigned i;
  int k;
  sqlite3 *db;
  unlink(azFile[0]);
  db = attached();
  for(i=0; i<sizeof(aCode)/sizeof(aCode[0]); i++){
    int aRow[2] = { 0, 0 }, aRc[2];
    sqlite3_create_function(db, "fails", 1, SQLITE_UTF8, &aCode[i], 0, failsStep,
                            failsFinal);
    for(k=0; k<2; k++){
      sqlite3_stmt *pStmt;
      execute(db, k ? "PRAGMA hp_offload=off" : "PRAGMA hp_offload=on");
      check(isTaken(db, zSql)==(k==0), "code %d", aCode[i]);
      pStmt = prepared(db, zSql);
      while( sqlite3_step(pStmt)==SQLITE_ROW ) aRow[k]++;
      aRc[k] = sqlite3_finalize(pStmt);
    }
    check(aRow[0]==aRow[1] && aRc[0]==aRc[1], "code %d: %d rows and %d, not %d, %d",
          aCode[i], aRow[0], aRc[0], aRow[1], aRc[1]);
  }
  sqlite3_close(db);
  unlink(azFile[0]);
}

/* The progress handler stops statement i after iStop calls */
static int nLeft;
static int stops(void *p){
  (void)p;
  return --nLeft<0;
}
static void testInterrupts(void){
  unsigned i;
  int n;
  for(i=0; i<sizeof(azChange)/sizeof(azChange[0]); i++){
    begin("");
    for(n=0; n<60; n += 1+n/4){
      Text got = {0,0,0}, right = {0,0,0};
      int rc;
      nLeft = n;
      sqlite3_progress_handler(adb[0], 40, stops, 0);
      execute(adb[0], "BEGIN");
      rc = answer(&ours, adb[0], &azChange[i][1], &got);
      sqlite3_progress_handler(adb[0], 0, 0, 0);
      check(rc==SQLITE_OK || rc==SQLITE_INTERRUPT || rc==SQLITE_CONSTRAINT_PRIMARYKEY
            || rc==SQLITE_CONSTRAINT, "%d: %s", rc, azChange[i]);
      if( sqlite3_get_autocommit(adb[0])==0 ) execute(adb[0], "ROLLBACK");
      textClear(&got);
      answer(&ours, adb[0], "SELECT * FROM t", &got);
      answer(&stock, adb[1], "SELECT * FROM t", &right);
      check(strcmp(got.z, right.z)==0, "interrupted after %d: %s", n, azChange[i]);
      textClear(&got);
      textClear(&right);
    }
    checkIntegrity(&ours, adb[0], azChange[i]);
    end("interrupts");
  }
}

/* Change bytes of the file.  Rows that stock gives before it finds an error ours gives */
static void testDamage(void){
  static const char *const azSql[] = {
    "SELECT id, c FROM t WHERE a<9",
    "SELECT t.id, u.id FROM t CROSS JOIN u ON u.t=t.id WHERE a<40",
    "SELECT t.id, t.c, x FROM t CROSS JOIN u ON u.id=t.a WHERE x<'x3'",
    "UPDATE t SET c='new' WHERE a=7",
    "DELETE FROM t WHERE a=7",
  };
  unsigned iSeed;
  begin("");
  ours.close(adb[0]);
  stock.close(adb[1]);
  for(iSeed=1; iSeed<=400; iSeed++){
    int n, i, k;
    unsigned x = iSeed*2654435761u;
    unsigned char *a = readFile(azFile[1], &n);
    for(k=0; k<1+(int)(iSeed%3); k++){
      unsigned iPage = 1 + x%(n/512-1);
      x = x*1103515245u + 12345;
      a[iPage*512 + (iSeed%2 ? (x>>8)%24 : (x>>8)%512)] = (unsigned char)(x>>17);
    }
    for(i=0; i<5; i++){
      Text aText[2] = {{0,0,0},{0,0,0}};
      int j;
      for(j=0; j<2; j++){
        const char *zFile = azFile[2];
        sqlite3 *db;
        writeFile(zFile, a, n);
        db = openDb(apLib[j], zFile, 0);
        apLib[j]->exec(db, "PRAGMA cell_size_check=off", 0, 0, 0);
        answer(apLib[j], db, azSql[i], &aText[j]);
        if( i>=3 ) answer(apLib[j], db, "SELECT id, c FROM t NOT INDEXED", &aText[j]);
        apLib[j]->close(db);
        removeDb(zFile);
      }
      check(strcmp(aText[0].z, aText[1].z)==0, "damage %u: %s\n ours  %.600s\n stock %.600s",
            iSeed, azSql[i], aText[0].z, aText[1].z);
      textClear(&aText[0]);
      textClear(&aText[1]);
    }
    free(a);
  }
  for(iSeed=0; iSeed<2; iSeed++) removeDb(azFile[iSeed]);
}

/* Sub-selects for each row of t or u.  '+' has to be looked up */
static void testFinds(void){
  static const char *const az[] = {
    "+SELECT id, (SELECT count(*) FROM k WHERE k.n=t.a) FROM t WHERE id<300",
    "+SELECT id, (SELECT sum(v)+count(v) FROM k WHERE n=t.a AND v>3) FROM t WHERE id<300",
    "+SELECT id, (SELECT total(v)*t.a FROM k WHERE t.a=n) FROM t WHERE id<300",
    "+SELECT id, (SELECT avg(v)||min(z)||max(z) FROM k WHERE n=t.a) FROM t WHERE id<300",
    "+SELECT id, (SELECT max(v) FROM k WHERE n IS t.d) FROM t WHERE id<300",
    "+SELECT id, (SELECT max(v) FROM k WHERE n=t.d) FROM t WHERE id<300",
    "+SELECT id, (SELECT max(v) FROM k WHERE x=t.d) FROM t WHERE id<300",
    "+SELECT id, (SELECT max(v) FROM k WHERE x=t.b) FROM t WHERE id<300",
    "+SELECT id, (SELECT max(v) FROM k WHERE x=t.c) FROM t WHERE id<300",
    "+SELECT id, (SELECT max(v) FROM k WHERE z=t.c) FROM t WHERE id<300",
    "+SELECT id, (SELECT max(v) FROM k WHERE z=t.id) FROM t WHERE id<300",
    "+SELECT id, (SELECT max(v) FROM k WHERE z=t.c COLLATE nocase) FROM t WHERE id<300",
    "+SELECT id, (SELECT max(v) FROM k WHERE n=t.a AND z='text '||(t.id%9)) FROM t"
      " WHERE id<300",
    "+SELECT id, (SELECT max(v) FROM k WHERE n%10=t.a%10) FROM t WHERE id<300",
    "-SELECT id, (SELECT max(v) FROM k WHERE n+0=t.c) FROM t WHERE id<300",
    "+SELECT id FROM t WHERE EXISTS (SELECT 1 FROM k WHERE n=t.a AND v>80) OR id=3",
    "+SELECT id FROM t WHERE NOT EXISTS (SELECT * FROM k WHERE n=t.a AND v<80)",
    "+SELECT EXISTS (SELECT v FROM k WHERE x=t.d), id FROM t WHERE id<300",
    "+SELECT a, count(*) FROM t GROUP BY a HAVING (SELECT count(*) FROM k WHERE n=t.a)>2",
    "+SELECT sum((SELECT count(*) FROM k WHERE n=t.a)) FROM t",
    "+SELECT id FROM t WHERE id<300 ORDER BY (SELECT sum(v) FROM k WHERE n=t.a), id",
    "+SELECT (SELECT (SELECT count(*) FROM k WHERE n=u.id) FROM u WHERE u.t=t.id) FROM t",
    "+UPDATE t SET a=(SELECT count(*) FROM k WHERE n=t.a) WHERE id<200",
    "+DELETE FROM u WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=u.t AND v>20)",
    "+INSERT INTO log SELECT id, (SELECT max(z) FROM k WHERE n=t.a) FROM t WHERE id<200",
    /* It writes to what is scanned */
    "?UPDATE k SET v=(SELECT count(*) FROM k AS i WHERE i.n=k.n) WHERE n<9",
    "?DELETE FROM k WHERE (SELECT count(*) FROM k AS i WHERE i.n=k.n)>3",
    /* An error that comes late, or never */
    "?SELECT id, (SELECT sum(9223372036854775807) FROM k WHERE n=t.a AND t.id>250) FROM t",
    "+SELECT id, (SELECT sum(9223372036854775800+v) FROM k WHERE n=t.a) FROM t",
    "?SELECT id, (SELECT count(*) FROM k WHERE n=t.a AND abs(-9223372036854775807-(v>90))>0)"
      " FROM t",
    /* Not tied by equalities only */
    "-SELECT id, (SELECT count(*) FROM k WHERE n<t.a) FROM t WHERE id<60",
    "-SELECT id, (SELECT count(*) FROM k WHERE n=t.a AND v<t.id) FROM t WHERE id<60",
    "-SELECT id, (SELECT sum(v*t.a) FROM k WHERE n=t.a) FROM t WHERE id<60",
    "-SELECT id, (SELECT z FROM k WHERE n=t.a) FROM t WHERE id<60",
    "-SELECT id, (SELECT group_concat(z) FROM k WHERE n=t.a) FROM t WHERE id<60",
    "-SELECT id, (SELECT count(DISTINCT z) FROM k WHERE n=t.a) FROM t WHERE id<60",
    "+SELECT id, (SELECT count(*) FROM k WHERE z=t.d AND n||''=t.a) FROM t WHERE id<60",
  };
  static const char *const azWrite[] = {
    "INSERT INTO k VALUES(5,50,'text 5','new')", "UPDATE k SET n=n+1", "DELETE FROM k",
    "INSERT INTO log VALUES(1,1)", "SAVEPOINT s; DELETE FROM k; ROLLBACK TO s; RELEASE s",
  };
  static const char zBetween[] = "SELECT id, a, (SELECT count(*)||max(z) FROM k WHERE n=t.a),"
    " EXISTS (SELECT 1 FROM k WHERE k.n=t.a+1 AND v>5) FROM t WHERE id<90";
  static const char zHash[] = "205553494e472048415348205441424c45";  /* " USING HASH TABLE" */
  unsigned i;
  int j;
  begin("CREATE TABLE k(n INTEGER, v INTEGER, z TEXT, x);"
        "INSERT INTO k SELECT a, id%97, CASE id%5 WHEN 0 THEN upper(c) ELSE c END,"
        " CASE id%4 WHEN 0 THEN d WHEN 1 THEN b WHEN 2 THEN id ELSE CAST(id AS TEXT) END"
        " FROM t; INSERT INTO k SELECT NULL, 5, NULL, NULL FROM t WHERE id<20");
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
    Text plan = {0,0,0}, sql = {0,0,0};
    textAppend(&sql, "EXPLAIN QUERY PLAN %s", &az[i][1]);
    answer(&ours, adb[0], sql.z, &plan);
    if( az[i][0]!='?' ){
      check((strstr(plan.z, zHash)!=0)==(az[i][0]=='+'), "%s", az[i]);
    }
    textClear(&plan);
    textClear(&sql);
    both("BEGIN");
    textAppend(&sql, "?%s", &az[i][1]);
    same(sql.z);
    textClear(&sql);
    same("?SELECT * FROM k");
    sameTables(az[i]);
    both("ROLLBACK");
  }
  end("finds");
  for(i=0; i<sizeof(azWrite)/sizeof(azWrite[0]); i++){
    Text aRow[2] = {{0,0,0},{0,0,0}};
    begin("CREATE TABLE k(n INTEGER, v INTEGER, z TEXT, x);"
          "INSERT INTO k SELECT a, id%97, c, d FROM t");
    for(j=0; j<2; j++){
      sqlite3_stmt *pStmt = 0;
      int nRow = 0;
      apLib[j]->prepare(adb[j], zBetween, -1, &pStmt, 0);
      while( step1(j, pStmt, &aRow[j])==SQLITE_ROW ){
        if( ++nRow==20 ) apLib[j]->exec(adb[j], azWrite[i], 0, 0, 0);
      }
      apLib[j]->finalize(pStmt);
    }
    check(strcmp(aRow[0].z, aRow[1].z)==0, "%s after 20 rows\n ours  %.900s\n stock %.900s",
          azWrite[i], aRow[0].z, aRow[1].z);
    textClear(&aRow[0]);
    textClear(&aRow[1]);
    end("finds");
  }
}

/* Sub-selects that have one value for all rows */
static void testScalars(void){
  static const char *const az[] = {
    "+SELECT count(*), sum(b) FROM t WHERE a>(SELECT avg(a) FROM t)",
    "+SELECT count(*) FROM t WHERE +b>0.5*(SELECT max(b) FROM t)+(SELECT min(id) FROM u)",
    "+SELECT count(*) FROM t WHERE c=(SELECT c FROM t WHERE id=600) OR a=(SELECT NULL)",
    "+SELECT count(*) FROM t WHERE CASE WHEN (SELECT count(*) FROM u) THEN a<9 ELSE a>9 END",
    "+SELECT sum(CASE WHEN a>(SELECT avg(a) FROM t) THEN 1 ELSE 0 END) FROM t",
    "+SELECT count(*) FROM t WHERE a<(SELECT sum(b) FROM t)",
    "+SELECT (SELECT x FROM u WHERE id=3)||c AS z, count(*) FROM t GROUP BY z",
    "+SELECT count(*) FROM t JOIN u ON u.id=t.a WHERE t.b>(SELECT avg(b) FROM t)",
    "+SELECT id FROM t WHERE b>(SELECT avg(b) FROM t) AND a<9",
    "+SELECT id, c FROM t WHERE +b>0.9*(SELECT max(b) FROM t)",
    "+DELETE FROM t WHERE a>(SELECT avg(a) FROM t)",
    "+UPDATE t SET a=a+50 WHERE a>(SELECT avg(a) FROM t)",
    "+SELECT id FROM t WHERE +b>(SELECT avg(b) FROM t) ORDER BY c, id LIMIT 7",
    "+SELECT count(*), sum(b) FROM t WHERE a IN (SELECT id FROM u WHERE x<'x5')",
    "+SELECT count(*) FROM t WHERE a NOT IN (SELECT id FROM u WHERE x LIKE 'x%' AND id<77)",
    "+SELECT count(*) FROM t WHERE a IN (SELECT t FROM n)",
    "+SELECT count(*) FROM t WHERE a NOT IN (SELECT t FROM n)",
    "+SELECT count(*) FROM t WHERE a NOT IN (SELECT t FROM n WHERE t IS NOT NULL)",
    "+SELECT count(*) FROM t WHERE d NOT IN (SELECT t FROM n WHERE t>5000)",
    "+SELECT count(*) FROM t WHERE d IN (SELECT z FROM n)",
    "+SELECT d IN (SELECT z FROM n) AS i, d NOT IN (SELECT z FROM n WHERE z<>'') AS j,"
      " count(*) FROM t GROUP BY i, j",
    "+SELECT b IN (SELECT z FROM n) AS i, count(*) FROM t GROUP BY i",
    "+SELECT c IN (SELECT z FROM n) AS i, count(*) FROM t GROUP BY i",
    "+SELECT a||'' IN (SELECT t FROM n) AS i, count(*) FROM t GROUP BY i",
    "+SELECT c COLLATE nocase IN (SELECT z FROM n) AS i, count(*) FROM t GROUP BY i",
    "+SELECT count(*) FROM t WHERE a IN (SELECT a FROM t GROUP BY a HAVING count(*)>8)",
    "+SELECT count(*) FROM t WHERE a IN (SELECT id FROM u WHERE x>'x2' UNION SELECT 7)",
    "+SELECT count(*) FROM t JOIN u ON u.id=t.a WHERE t.c IN (SELECT c FROM t WHERE a<9)"
      " AND u.x NOT IN (SELECT z FROM n WHERE z LIKE 'x%')",
    "+SELECT id FROM t WHERE a IN (SELECT id FROM u WHERE x<'x5') AND c<>'text 3'",
    "+SELECT id FROM t WHERE a NOT IN (SELECT t FROM n WHERE t>9 OR t IS NULL)",
    "+DELETE FROM t WHERE a IN (SELECT id FROM u WHERE x<'x5')",
    "+UPDATE t SET a=a+50 WHERE a NOT IN (SELECT a FROM t WHERE b>100 AND d IS NOT NULL)",
    "?SELECT count(*) FROM t WHERE (a,b) IN (SELECT id, t FROM u WHERE x<'x5')",
    "?SELECT count(*) FROM t WHERE a>900 AND a IN (SELECT abs(-9223372036854775807-1) FROM u)",
    "?SELECT id FROM t WHERE a<9 OR a IN (SELECT id FROM u WHERE x<'x5')",
    /* The set is read once, and the scan is run for each row of u */
    "+SELECT x, (SELECT id FROM t WHERE a IN (SELECT t FROM n WHERE t<9) AND +b>u.id) FROM u",
    "+SELECT x, (SELECT c FROM t WHERE d IN (SELECT z FROM n) AND +b>u.id LIMIT 1) FROM u",
    "?SELECT DISTINCT a FROM t WHERE b>(SELECT avg(b) FROM t) OR id<9",
    "?SELECT id FROM t WHERE a<9 OR b>(SELECT avg(b) FROM t)",
    /* Errors that are raised, and that are not */
    "?SELECT count(*) FROM t WHERE a>(SELECT sum(9223372036854775807) FROM u)",
    "?SELECT count(*) FROM t WHERE a>900 AND a>(SELECT sum(9223372036854775807) FROM u)",
    "?SELECT count(*) FROM t WHERE a>900 AND a>(SELECT abs(-9223372036854775807-1) FROM u)",
    "?SELECT id FROM t WHERE a>900 AND a>(SELECT sum(9223372036854775807) FROM u)",
    "?SELECT count(*) FROM t WHERE a>(SELECT random()*0 FROM u)",
    "?SELECT count(*) FROM t WHERE a<-5 AND a>(SELECT id FROM u LIMIT 'none')",
    "?SELECT count(*) FROM t WHERE a<-5 AND a IN (SELECT id FROM u LIMIT 'none')",
    "?SELECT count(*) FROM t WHERE a<-5 AND a IN (SELECT id FROM u LIMIT 3 OFFSET 'none')",
  };
  unsigned i;
  begin("CREATE TABLE n(t INTEGER, z); INSERT INTO n SELECT id%50, CASE id%5 WHEN 0 THEN id*0.25"
        " WHEN 1 THEN CAST(id AS TEXT) WHEN 2 THEN upper(c) WHEN 3 THEN d ELSE 'x'||(a%5) END"
        " FROM t; INSERT INTO n VALUES(NULL, NULL)");
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
    both("BEGIN");
    same(az[i]);
    sameTables(az[i]);
    both("ROLLBACK");
  }
  end("scalars");
}

static const char *const azLookChange[] = {
  "+INSERT INTO t(a, b, c) SELECT t.a+1, t.b, 'new '||x FROM t JOIN u ON u.id=t.a WHERE x='x3'",
  "+INSERT INTO u(t, x) SELECT t.id, 'x3' FROM t JOIN u ON u.id=t.a WHERE x='x3'",
  "?UPDATE t SET a=u.t FROM u WHERE u.id=t.a AND x='x3'",
  "?UPDATE u SET x='x3' FROM t WHERE u.id=t.a AND t.b>200",
  "+CREATE TABLE made AS SELECT t.id, x FROM t JOIN u ON u.id=t.a WHERE x='x3'",
  "+INSERT INTO log SELECT t.id, x FROM t JOIN u ON u.id=t.a WHERE x>='x8'",
};

/* How many instructions does zSql take? */
static i64 given(const char *zSql){
  sqlite3_stmt *pStmt = prepared(adb[0], zSql);
  i64 n;
  while( sqlite3_step(pStmt)==SQLITE_ROW ){}
  n = sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_VM_STEP, 0);
  sqlite3_finalize(pStmt);
  return n;
}

/* How many instructions does zSql take, taken over or not? */
static i64 steps(int bTaken, const char *zSql){
  execute(adb[0], bTaken ? "PRAGMA hp_offload=force" : "PRAGMA hp_offload=off");
  return given(zSql);
}

/* Rows of the outermost loop of a join that have no partner are left out: '+' SQLite takes
** twice as many instructions, '-' nothing is known of the partners, or it may not be */
static void testLooks(void){
  static const char *const az[] = {
    "+SELECT t.id, x FROM t JOIN u ON u.id=t.a WHERE x='x3'",
    "+SELECT t.id, x FROM t JOIN u ON u.id=t.a WHERE x='x3' ORDER BY c LIMIT 7",
    "+SELECT t.id, x FROM t JOIN u ON u.id=t.a WHERE x='x3' LIMIT 7 OFFSET 3",
    "+SELECT DISTINCT c FROM t JOIN u ON u.id=t.a WHERE x='x3' AND b>9.0+a*0",
    "+SELECT t.id, v.x FROM t JOIN u ON u.id=t.a JOIN u AS v ON v.id=u.t WHERE v.x='x2'",
    "+SELECT t.id, v.x FROM t JOIN u ON u.id=t.a JOIN u AS v ON v.id=u.t WHERE v.x<'x5' AND"
      " u.x>'x6' AND t.c<>'text 7'",
    "+SELECT t.id, m.y FROM t JOIN m ON m.i=t.a AND m.j=t.id%4 WHERE m.y=3",
    "-SELECT t.id, w.y FROM t JOIN w ON w.i=t.a AND w.j=t.id%4 WHERE w.y=3",
    "+SELECT t.id, u.x, v.x FROM t JOIN u ON u.id=t.a LEFT JOIN u AS v ON v.id=u.t WHERE u.x='x3'",
    "+SELECT t.id, u.x, v.x FROM t JOIN u ON u.id=t.a LEFT JOIN u AS v ON v.id=u.t WHERE u.x='x3'"
      " AND v.x IS NULL",
    "+SELECT t.id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id=t.a AND x='x3')",
    "+SELECT t.id, x FROM t JOIN u ON u.id=t.a WHERE x='x3' AND EXISTS (SELECT 1 FROM w WHERE"
      " w.i=t.a AND w.j=1)",
    "+SELECT t.id, x, (SELECT count(*) FROM w WHERE w.i=t.a) FROM t JOIN u ON u.id=t.a WHERE x='x3'",
    "+SELECT t.id, x FROM t JOIN u ON u.id=t.a WHERE x='x3' AND t.b>(SELECT max(w.y) FROM w WHERE"
      " w.i=u.id)",
    "+SELECT t.id, x FROM t JOIN u ON u.id=t.a WHERE x='x3' AND a IN (SELECT i FROM w WHERE y>20)",
    "+SELECT t.id, row_number() OVER (ORDER BY t.c) FROM t JOIN u ON u.id=t.a WHERE x='x3'",
    "+SELECT count(*) FROM (SELECT t.id FROM t JOIN u ON u.id=t.a WHERE x='x3' LIMIT 1000)",
    "+SELECT t.id, x FROM t JOIN u ON u.id=t.a AND x LIKE '%3' WHERE x>'x' UNION ALL SELECT 1, 2",
    "+SELECT t.id, v.id FROM t CROSS JOIN u ON u.id=t.a CROSS JOIN u AS v ON v.t>t.id AND"
      " v.t<t.id+3 WHERE u.x='x3'",
    /* A key of columns of two tables */
    "+SELECT t.id, m.y FROM t CROSS JOIN u ON u.id=t.a CROSS JOIN m ON m.i=u.t%50 AND m.j=t.id%4"
      " WHERE m.y<9 AND u.x<'x8'",
    "?SELECT t.id, m.y FROM t CROSS JOIN u ON u.id=t.a CROSS JOIN m ON m.i=u.id AND m.j=t.id%4"
      " WHERE m.y<9 AND t.b>30",
    "?SELECT t.id, m.y FROM t CROSS JOIN e ON e.id=t.a CROSS JOIN m ON m.i=e.x AND m.j=t.id%4"
      " WHERE m.y<9 AND t.b>30",
    /* A function that is a table is called for all rows that SQLite takes to it */
    "-SELECT t.id, value FROM t CROSS JOIN json_each(CASE t.id WHEN 900 THEN '{' ELSE '[1]' END)"
      " CROSS JOIN u ON u.id=t.a WHERE x='x3'",
    /* Affinity, collation, types */
    "?SELECT t.id FROM t JOIN s ON s.k=t.a WHERE s.z='B'",
    "?SELECT t.id FROM t JOIN s ON s.k=t.d WHERE s.z='b' COLLATE nocase",
    "?SELECT t.id FROM t JOIN s ON s.k=t.c||'' WHERE s.z>''",
    "?SELECT t.id, s.k FROM t JOIN s ON s.k=t.a COLLATE nocase WHERE s.z<>'A'",
    "?SELECT t.id, s.k FROM t JOIN s ON t.d=s.k WHERE s.z<>'A'",
    /* What may fail, or is the application's, comes to all rows that SQLite takes to it */
    "-SELECT t.id FROM t JOIN u ON u.id=t.a WHERE x='x3' AND abs(t.a-9223372036854775807-1)>0",
    "-SELECT t.id FROM t JOIN u ON u.id=t.a JOIN u AS v ON v.id=u.t WHERE v.x='x3' AND"
      " abs(u.t-9223372036854775807-1)>0",
    "-SELECT t.id FROM t JOIN u ON u.id=t.a WHERE x='x3' AND random()>=-9223372036854775807-1",
    "-SELECT t.id FROM t JOIN u ON u.id=t.a WHERE x='x3' AND t.b>=(SELECT sum(w.i) FROM w WHERE"
      " w.i=u.id)",
    /* No filter, no unique key, no rows, not the outermost loop */
    "-SELECT t.id, x FROM t JOIN u ON u.id=t.a",
    "-SELECT t.id, x FROM t CROSS JOIN u ON u.t=t.a WHERE x='x3'",
    "-SELECT t.id, x FROM t LEFT JOIN u ON u.id=t.a AND x='x3'",
    "?SELECT t.id FROM t JOIN e ON e.id=t.a WHERE e.x=1",
    "?SELECT t.id FROM t JOIN u ON u.id=t.a WHERE x='none'",
  };
  unsigned i;
  begin("CREATE TABLE w(i INTEGER, j INTEGER, y INTEGER, PRIMARY KEY(i, j)) WITHOUT ROWID;"
        "INSERT OR IGNORE INTO w SELECT a, id%4, id*7%99 FROM t;"
        "CREATE TABLE m(i INTEGER, j INTEGER, y INTEGER, UNIQUE(i, j)); INSERT INTO m SELECT * FROM w;"
        "CREATE TABLE s(k TEXT COLLATE nocase UNIQUE, z); INSERT OR IGNORE INTO s SELECT CASE id%6"
        " WHEN 0 THEN id/6 WHEN 2 THEN 'D'||id ELSE c END, CASE id%4 WHEN 0 THEN 'B' WHEN 2 THEN"
        " 'b' ELSE 'A' END FROM t; CREATE TABLE e(id INTEGER PRIMARY KEY, x)");
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
    const char *zSql = &az[i][1];
    pairSame(zSql);
    if( az[i][0]!='?' ){
      i64 nStock = steps(0, zSql);
      i64 nOurs = steps(1, zSql);
      check(az[i][0]=='+' ? nOurs*2<nStock : nOurs*10>=nStock*9, "%lld steps, SQLite %lld: %s",
            nOurs, nStock, zSql);
    }
  }
  /* Statements that change what they read */
  for(i=0; i<sizeof(azLookChange)/sizeof(azLookChange[0]); i++){
    both("BEGIN");
    same(azLookChange[i]);
    sameTables(azLookChange[i]);
    both("ROLLBACK");
  }
  end("looks");
}

/* ORDER BY an aggregate or keys, and LIMIT: '+' not all groups are given to SQLite, '-' all are */
static void testTopGroups(void){
  static const char *const az[] = {
    "+SELECT k, sum(v) FROM g GROUP BY k ORDER BY 2 DESC LIMIT 3",
    "+SELECT k, sum(v) AS s FROM g GROUP BY k ORDER BY s LIMIT 3",
    "+SELECT k, count(*), avg(v) FROM g GROUP BY k ORDER BY avg(v) DESC, k LIMIT 4 OFFSET 2",
    "+SELECT k, max(v)-min(v), v FROM g GROUP BY k ORDER BY max(v) DESC LIMIT 5",
    "+SELECT k, total(v)/2 FROM g GROUP BY k ORDER BY total(v), count(*) DESC LIMIT 1",
    "+SELECT u.x, t.a, sum(t.b) FROM t JOIN u ON u.id=t.a GROUP BY t.a ORDER BY 3 DESC LIMIT 4",
    "+SELECT * FROM (SELECT k, sum(v) FROM g GROUP BY k ORDER BY 2 DESC LIMIT 3) ORDER BY k",
    "+SELECT (SELECT k FROM g GROUP BY k ORDER BY sum(v) DESC LIMIT 1), count(*) FROM u",
    /* Equal values: further terms say, or the order of groups */
    "?SELECT k%50, count(*) FROM g GROUP BY 1 ORDER BY 2 DESC LIMIT 7",
    "?SELECT k%50, count(*) FROM g GROUP BY 1 ORDER BY 2, 1 DESC LIMIT 7",
    "?SELECT k%50, sum(v%3) FROM g GROUP BY 1 ORDER BY 2 DESC, min(v) LIMIT 9",
    "?SELECT k, count(*), sum(v)+0.0 FROM g GROUP BY k ORDER BY count(*) DESC, 3 DESC LIMIT 5",
    /* Very many are equal, and keys tell which are the first: all of them, some, others */
    "+SELECT k, v%40, n, count(*) FROM g GROUP BY k, v%40, n ORDER BY 4 DESC, k, v%40, n LIMIT 9",
    "+SELECT k, v%40, n, count(*) FROM g GROUP BY k, v%40, n ORDER BY 4 DESC, k LIMIT 9 OFFSET 5",
    "+SELECT k, v, count(*) FROM g GROUP BY k, v ORDER BY count(*) LIMIT 9",
    "+SELECT 'as long as it takes '||k AS x, v%40, count(*) FROM g GROUP BY x, v%40 ORDER BY"
      " min(v) DESC, x, v%40 LIMIT 11",
    "?SELECT 'as long as it takes '||k AS x, v%40, count(*) FROM g GROUP BY x, v%40 ORDER BY"
      " min(v) DESC, v%40, x LIMIT 11",
    "?SELECT k, v%40, count(*) FROM g GROUP BY k, v%40 ORDER BY 3 DESC, k DESC, v%40 LIMIT 9",
    "?SELECT k, v%40, count(*) FROM g GROUP BY k, v%40 ORDER BY 3 DESC, k NULLS LAST LIMIT 9",
    "?SELECT m, count(*) FROM g GROUP BY m ORDER BY 2 DESC, m COLLATE nocase LIMIT 9",
    "?SELECT m COLLATE nocase AS x, count(*) FROM g GROUP BY x ORDER BY 2 DESC, x LIMIT 9",
    "?SELECT m COLLATE nocase AS x, count(*) FROM g GROUP BY x ORDER BY 2 DESC, m LIMIT 9",
    "?SELECT k, v, count(*) FROM g GROUP BY k, v ORDER BY 3 DESC, abs(k), v LIMIT 9",
    "?SELECT k, v, count(*) FROM g GROUP BY k, v ORDER BY 3 DESC, k+0, v LIMIT 9",
    "?SELECT m, count(DISTINCT k), count(DISTINCT m||n) FROM g GROUP BY m ORDER BY 2 DESC, m LIMIT 9",
    /* Keys alone */
    "+SELECT v, k, count(*) FROM g GROUP BY v, k LIMIT 9",
    "+SELECT v, k, count(*), sum(n) FROM g GROUP BY v, k ORDER BY v, k LIMIT 9 OFFSET 20",
    "+SELECT v, k, count(*) FROM g GROUP BY v, k ORDER BY v DESC, k LIMIT 9",
    "?SELECT v, k, count(*) FROM g GROUP BY v, k ORDER BY v DESC, k DESC, 3 LIMIT 9",
    "+SELECT v, k, count(*) FROM g GROUP BY v, k ORDER BY v LIMIT 9",
    "?SELECT v, k, count(*) FROM g GROUP BY v, k ORDER BY k, v LIMIT 9",
    "?SELECT m, count(*) FROM g GROUP BY m ORDER BY m DESC NULLS FIRST LIMIT 9",
    "?SELECT v, sum(9223372036854775807/k) FROM g GROUP BY v ORDER BY v LIMIT 9",
    "?SELECT v, k, count(*) FROM g GROUP BY v, k ORDER BY v LIMIT (SELECT count(*) FROM u)-3",
    /* NULL, reals beside integers, texts, all groups or none */
    "?SELECT k, sum(n) FROM g GROUP BY k ORDER BY 2 LIMIT 12",
    "?SELECT k, sum(n) FROM g GROUP BY k ORDER BY 2 DESC LIMIT 300",
    "?SELECT k, sum(n) FROM g GROUP BY k ORDER BY 2 DESC NULLS FIRST LIMIT 12",
    "?SELECT k, sum(n) FROM g GROUP BY k ORDER BY 2 NULLS LAST LIMIT 12",
    "?SELECT k, sum(m) FROM g GROUP BY k ORDER BY 2 LIMIT 12",
    "?SELECT k, max(m), min(m) FROM g GROUP BY k ORDER BY 2, 3 LIMIT 12",
    "?SELECT k, min(m) FROM g GROUP BY k ORDER BY 2 DESC LIMIT 12",
    "?SELECT k, sum(v) FROM g GROUP BY k ORDER BY 2 LIMIT 0",
    "?SELECT k, sum(v) FROM g GROUP BY k ORDER BY 2 LIMIT -1",
    "?SELECT k, sum(v) FROM g GROUP BY k ORDER BY 2 LIMIT -1 OFFSET 5",
    "?SELECT k, sum(v) FROM g GROUP BY k ORDER BY 2 LIMIT 20000 OFFSET 2",
    "?SELECT k, sum(v) FROM g GROUP BY k ORDER BY 2 LIMIT (SELECT min(id) FROM u)+2",
    /* An error of a group that is not among the first */
    "?SELECT k, sum(v), sum(CASE k WHEN 7 THEN 9223372036854775807 ELSE 1 END) FROM g GROUP BY k"
      " ORDER BY 2 LIMIT 3",
    "-SELECT k, abs(min(v)*0-9223372036854775807-(k=7)) FROM g GROUP BY k ORDER BY sum(v) LIMIT 3",
    /* What needs all groups */
    "-SELECT k, sum(v) FROM g GROUP BY k HAVING max(v)>3 ORDER BY 2 DESC LIMIT 3",
    "?SELECT k, sum(v) FROM g GROUP BY k HAVING sum(v)>5000 ORDER BY 2 LIMIT 3",
    "-SELECT DISTINCT sum(v)%9 FROM g GROUP BY k ORDER BY sum(v)%9 LIMIT 3",
    "?SELECT k, sum(v) FROM g GROUP BY k ORDER BY k DESC LIMIT 3",
    "-SELECT k, sum(v) FROM g GROUP BY k ORDER BY -sum(v) LIMIT 3",
    "-SELECT k, group_concat(v) FROM g GROUP BY k ORDER BY sum(v) LIMIT 3",
    "?SELECT k, sum(v), rank() OVER (ORDER BY sum(v)) FROM g GROUP BY k ORDER BY 2 LIMIT 3",
    "?SELECT k, sum(v) FROM g GROUP BY k UNION SELECT 1, 2 ORDER BY 2 LIMIT 3",
    "?SELECT k, sum(v) FROM g GROUP BY k UNION ALL SELECT id, t FROM u ORDER BY 2 DESC LIMIT 3",
  };
  unsigned i;
  begin("CREATE TABLE g(k INTEGER, v INTEGER, n INTEGER, m); INSERT INTO g SELECT id%400, id*a%1009,"
        " CASE WHEN id%400>90 THEN a END, CASE id%400%5 WHEN 0 THEN c WHEN 1 THEN b WHEN 2 THEN a"
        " WHEN 3 THEN 0.0-b END FROM t; INSERT INTO g SELECT k%399, v*3%1013, n, m FROM g");
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
    const char *zSql = &az[i][1];
    i64 nAll, nFew;
    pairSame(zSql);
    if( az[i][0]=='?' ) continue;
    /* SQLite's steps for the rows are those of the query without a LIMIT, but for the sort */
    nFew = given(zSql);
    nAll = given("SELECT k, sum(v) FROM g GROUP BY k ORDER BY 2+0");
    check(az[i][0]=='+' ? nFew*2<nAll : nFew*2>=nAll, "%lld steps, for all %lld: %s", nFew, nAll,
          zSql);
  }
  end("groups that are first");
}

/* Does the plan of zSql look something up in a hash table? */
static int looksUp(const char *zSql){
  Text sql = {0,0,0};
  sqlite3_stmt *pStmt;
  int bFound = 0;
  textAppend(&sql, "EXPLAIN QUERY PLAN %s", zSql);
  pStmt = prepared(adb[0], sql.z);
  while( sqlite3_step(pStmt)==SQLITE_ROW ){
    bFound |= strstr((const char*)sqlite3_column_text(pStmt, 3), " USING HASH TABLE (")!=0;
  }
  sqlite3_finalize(pStmt);
  textClear(&sql);
  return bFound;
}

/* The values of IN (SELECT ...): a join, or with correlated sub-selects, in any order */
static void testSets(void){
  static const char *const az[] = {
    "+SELECT id FROM u WHERE id IN (SELECT t.a FROM t JOIN w ON w.i=t.a AND w.j=1 WHERE t.b>50)",
    "+SELECT id FROM t WHERE a IN (SELECT t.a FROM t JOIN u ON u.id=t.a WHERE x='x3' AND t.b>9)",
    "+SELECT count(*) FROM t WHERE a NOT IN (SELECT DISTINCT u.t FROM t JOIN u ON u.id=t.a)",
    "+SELECT count(*) FROM t WHERE a NOT IN (SELECT x FROM t LEFT JOIN u ON u.id=t.a)",
    "+SELECT id FROM u WHERE (id, x) IN (SELECT t.a, y.x FROM t JOIN u AS y ON y.id=t.a)",
    "+SELECT id FROM u WHERE id IN (SELECT a FROM t WHERE b>(SELECT avg(v) FROM k WHERE n=t.a))",
    "+SELECT id FROM u WHERE id IN (SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE"
      " n=t.a AND v>90) AND b<100)",
    /* SQLite searches t, by an index or by what is in another set */
    "+SELECT id FROM u WHERE id IN (SELECT a FROM t WHERE id IN (SELECT v FROM k WHERE v<60) AND"
      " b<(SELECT sum(v) FROM k WHERE n=t.a))",
    "+SELECT id FROM u WHERE id IN (SELECT a FROM t WHERE b BETWEEN 3 AND 30 AND"
      " b<(SELECT sum(v) FROM k WHERE n=t.a AND z<>'text 9'))",
    "+SELECT id FROM u WHERE id IN (SELECT a FROM t WHERE b=30 AND"
      " b<(SELECT sum(v) FROM k WHERE n=t.a))",
    "+SELECT id FROM u WHERE id IN (SELECT t.a FROM u AS y CROSS JOIN t ON t.a=y.id WHERE"
      " y.x='x4')",
    /* What the values become */
    "+SELECT id FROM u WHERE x||'' IN (SELECT d FROM t JOIN w ON w.i=t.a AND w.j=1)",
    "?SELECT quote(v) FROM s WHERE v IN (SELECT s.v FROM s JOIN u ON u.id=s.i)",
    "?SELECT quote(t) FROM s WHERE t IN (SELECT s.v FROM s JOIN u ON u.id=s.i)",
    "?SELECT quote(t) FROM s WHERE t IN (SELECT s.r FROM s JOIN u ON u.id=s.i)",
    "?SELECT quote(i) FROM s WHERE i IN (SELECT s.v FROM s JOIN u ON u.id=s.i)",
    "?SELECT quote(v) FROM s WHERE v COLLATE nocase IN (SELECT s.t FROM s JOIN u ON u.id=s.i)",
    "?SELECT quote(t) FROM s WHERE t COLLATE nocase NOT IN (SELECT s.v FROM s JOIN u ON u.id=s.i)",
    "?SELECT quote(r) FROM s WHERE r IN (SELECT s.v FROM s JOIN u ON u.id=s.i)",
    "?SELECT quote(v) FROM s WHERE v||'' IN (SELECT DISTINCT s.t COLLATE nocase FROM s JOIN u ON"
      " u.id=s.i)",
    "?SELECT count(*) FROM s WHERE t||'' IN (SELECT DISTINCT v.t COLLATE nocase FROM s AS v WHERE"
      " i<99)",
    "?SELECT id FROM low WHERE p IN (SELECT t.c COLLATE nocase FROM t JOIN u ON u.id=t.a)",
    "?SELECT id FROM low WHERE p IN (SELECT y.p COLLATE nocase FROM low AS y JOIN u ON u.id=y.id)",
    "?SELECT id FROM u WHERE id IN (SELECT t.a FROM t, u AS y WHERE y.id=t.a LIMIT 3)",
    "?SELECT count(*) FROM u WHERE (id, 2) IN (SELECT 3, 2)",
    "?SELECT count(*) FROM u WHERE id IN (SELECT 3 WHERE EXISTS (SELECT 1 FROM k WHERE n=3))",
    "?SELECT count(*) FROM u WHERE (id, t) IN (VALUES(3, 78), (4, 5))",
    /* An empty set, NULLs in it, terms without a table */
    "+SELECT count(*) FROM u WHERE id NOT IN (SELECT t.a FROM t JOIN u AS y ON y.id=t.a WHERE"
      " t.b<0)",
    "+SELECT count(*) FROM u WHERE id NOT IN (SELECT y.t FROM t LEFT JOIN u AS y ON y.id=t.a)",
    "?SELECT count(*) FROM u WHERE id IN (SELECT t.a FROM t JOIN u AS y ON y.id=t.a WHERE 1=0)",
    /* Not all rows, or others each time */
    "?SELECT id FROM u WHERE id IN (SELECT t.a FROM t JOIN u AS y ON y.id=t.a LIMIT 3)",
    "?SELECT id FROM u WHERE id IN (SELECT t.a FROM t JOIN u AS y ON y.id=t.a WHERE t.b>u.id)",
    "?SELECT id FROM u WHERE id IN (SELECT t.a FROM t JOIN w ON w.i=t.a UNION SELECT n FROM k)",
    "?SELECT id FROM u WHERE id IN (SELECT abs(t.a+-9223372036854775807-y.t) FROM t JOIN u AS y"
      " ON y.id=t.a)",
    /* Statements that change what they read */
    "+DELETE FROM t WHERE id IN (SELECT t.id FROM t JOIN u ON u.id=t.a WHERE u.x='x2')",
    "+UPDATE t SET a=a+1 WHERE id IN (SELECT t.id FROM t JOIN u ON u.id=t.a WHERE u.x>'x5')",
    "+DELETE FROM u WHERE id IN (SELECT y.id FROM t JOIN u AS y ON y.id=t.a WHERE t.b>200)",
    "+UPDATE u SET x=x||'!' WHERE id IN (SELECT a FROM t WHERE b<(SELECT sum(v) FROM k WHERE"
      " n=t.a)) RETURNING id, x",
    "+INSERT INTO log SELECT id, x FROM u WHERE id IN (SELECT t.a FROM t JOIN w ON w.i=t.a AND"
      " w.j=2)",
  };
  unsigned i;
  begin("CREATE TABLE k(n INTEGER, v INTEGER, z TEXT); INSERT INTO k SELECT a, id%100, c FROM t"
        " WHERE id%3; CREATE TABLE w(i INTEGER, j INTEGER, y INTEGER, PRIMARY KEY(i, j)) WITHOUT"
        " ROWID; INSERT OR IGNORE INTO w SELECT a, id%4, id*7%99 FROM t;"
        "CREATE TABLE low(id INTEGER, p TEXT PRIMARY KEY); INSERT INTO low SELECT id/2, CASE id%4 WHEN 0"
        " THEN 'a' ELSE 'A' END||id/8 FROM t WHERE 1 GROUP BY 2;"
        "CREATE TABLE s(i INTEGER, v, t TEXT, r REAL); INSERT INTO s SELECT id/2, CASE id%8 WHEN 0"
        " THEN 3 WHEN 2 THEN 3.0 WHEN 4 THEN '3' ELSE -0.0 END, CASE id%10 WHEN 0 THEN '3' WHEN 2"
        " THEN '3.0' WHEN 4 THEN 'a' WHEN 6 THEN 'A' ELSE '0.0' END, id%4 FROM t;");
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
    both("BEGIN");
    check(az[i][0]!='+' || looksUp(&az[i][1]), "nothing is looked up: %s", az[i]);
    same(az[i]);
    sameTables(az[i]);
    both("ROLLBACK");
  }
  end("sets");
}

/*
** A search for rows that ends early, after another pipe has read a set of IN or a
** relation to its end: SQLite's loop goes on where the search ended.  A LIMIT that is
** a large share of the table ends it after the first run of leaves, which holds rows
** that are shorter than most, or as many as all.
*/
static void testEarly(void){
  static const char *const az[] = {
    "?SELECT id, r FROM f WHERE k IN (SELECT k FROM s) ORDER BY r LIMIT 150",
    "?SELECT id, r FROM f WHERE k IN (SELECT k FROM s) ORDER BY r DESC LIMIT 345",
    "?SELECT id, r FROM f WHERE k NOT IN (SELECT k FROM s) ORDER BY r DESC LIMIT 300",
    "?SELECT id, r FROM f WHERE k IN (SELECT k FROM s) AND r NOT IN (SELECT r FROM f WHERE"
      " id<90) ORDER BY r DESC LIMIT 345",
    "?SELECT DISTINCT k, r%2 FROM f WHERE k IN (SELECT k FROM s)",
    "?SELECT id FROM f WHERE k IN (SELECT k FROM s) AND r%2 LIMIT 2000",
    "?SELECT id, (SELECT count(*) FROM s WHERE s.k=f.k) FROM f WHERE k IN (SELECT k FROM s)"
      " ORDER BY r DESC LIMIT 345",
    "?CREATE TABLE made AS SELECT id, r FROM f WHERE k IN (SELECT k FROM s) ORDER BY r DESC"
      " LIMIT 345",
    "?INSERT INTO log SELECT id, r FROM f WHERE k IN (SELECT k FROM s) ORDER BY r LIMIT 345",
    "?DELETE FROM f WHERE id IN (SELECT id FROM f WHERE k IN (SELECT k FROM s) ORDER BY r"
      " DESC LIMIT 345)",
    "?UPDATE f SET r=-r WHERE id IN (SELECT id FROM f WHERE k IN (SELECT k FROM s) AND r%3"
      " ORDER BY r LIMIT 200)",
  };
  static const char *const azWay[] = {
    "PRAGMA hp_offload=on", "PRAGMA hp_offload=force",
    "PRAGMA hp_offload=force; PRAGMA hp_memory=20000",
  };
  unsigned i, k;
  begin("CREATE TABLE f(id INTEGER PRIMARY KEY, k INTEGER, r INTEGER, pad TEXT);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<12000)"
        " INSERT INTO f SELECT i, i%10, i*7919%20011, CASE WHEN i BETWEEN 300 AND 500 THEN"
        " hex(zeroblob(800)) ELSE 'y' END FROM n; CREATE TABLE s(k INTEGER);"
        "INSERT INTO s VALUES(1),(2),(3);");
  for(k=0; k<sizeof(azWay)/sizeof(azWay[0]); k++){
    runOn(&ours, adb[0], azWay[k]);
    /* SQLite, unless it is compiled with more, has no LIMIT there */
    both("BEGIN");
    runOn(&ours, adb[0], "DELETE FROM f WHERE k IN (SELECT k FROM s) ORDER BY r DESC LIMIT 335");
    runOn(&stock, adb[1], "DELETE FROM f WHERE id IN (SELECT id FROM f WHERE k IN (SELECT k FROM"
          " s) ORDER BY r DESC LIMIT 335)");
    same("?SELECT count(*), sum(id), sum(r) FROM f");
    both("ROLLBACK");
    for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
      both("BEGIN");
      same(az[i]);
      same("?SELECT count(*), sum(id), sum(r) FROM f");
      same("?SELECT * FROM log");
      if( strstr(az[i], "made") ) same("?SELECT * FROM made");
      both("ROLLBACK");
    }
  }
  end("early");
}

/* Correlated sub-selects of an aggregate that is taken over: they are tables, too */
static void testSubs(void){
  static const char *const az[] = {
    "+SELECT count(*), sum(id) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND v<80)",
    "+SELECT count(*), sum(id) FROM t WHERE EXISTS (SELECT 1 FROM k WHERE n=t.a AND v>80)"
      " OR id<50",
    "+SELECT count(*) FROM t WHERE NOT EXISTS (SELECT * FROM k WHERE x=t.d)",
    "+SELECT a, count(*) FROM t WHERE NOT EXISTS (SELECT * FROM k WHERE z=t.c COLLATE nocase"
      " AND n=t.a) GROUP BY a",
    "+SELECT count(*), sum(id) FROM t WHERE b>(SELECT avg(v) FROM k WHERE n=t.a)",
    "+SELECT count(*), sum(id) FROM t WHERE b>(SELECT 0.2*avg(v)+count(*) FROM k WHERE n=t.a)",
    "+SELECT count(*), sum(id) FROM t WHERE (SELECT count(*) FROM k WHERE n=t.a)=0",
    "+SELECT count(*), sum(id) FROM t WHERE (SELECT count(*) FROM k WHERE n=t.d)<5",
    "+SELECT count(*), sum(id) FROM t WHERE (SELECT total(v) FROM k WHERE n=t.a+90) IS 0.0",
    "+SELECT count(*), sum(id) FROM t WHERE (SELECT sum(v) FROM k WHERE n=t.a+90) IS NULL",
    "+SELECT count(*), sum(id) FROM t WHERE c<(SELECT max(z) FROM k WHERE n=t.a AND v<>7)",
    "+SELECT count(*), min(id) FROM t WHERE d=(SELECT max(x) FROM k WHERE n=t.a)",
    "+SELECT count(*), min(id) FROM t WHERE d>(SELECT min(x) FROM k WHERE z=t.c)",
    "+SELECT count(*), min(id) FROM t WHERE d>(SELECT min(x) FROM k WHERE z=t.c||'')",
    "+SELECT count(*) FROM t WHERE b>(SELECT sum(v) FILTER (WHERE v>50) FROM k WHERE n=t.a)",
    "+SELECT c, sum(b) FROM t WHERE b>(SELECT min(v)+max(v) FROM k WHERE n=t.a AND z=t.c)"
      " GROUP BY c ORDER BY 2 LIMIT 9",
    "+SELECT count(*) FROM t WHERE b>(SELECT avg(v) FROM k WHERE n=t.a)"
      " AND NOT EXISTS (SELECT 1 FROM k WHERE n=t.a+1 AND v>90)"
      " AND (SELECT count(*) FROM k WHERE z=t.c)>2",
    "+SELECT count(*) FROM t WHERE a<40 AND b>(SELECT avg(v) FROM k WHERE n=t.a)"
      " AND c IN (SELECT z FROM k WHERE v>50) AND b<(SELECT max(b) FROM t)",
    "+SELECT count(*) FROM t WHERE id>500 AND a<0 AND b>(SELECT avg(v) FROM k WHERE n=t.a)",
    "+SELECT count(*) FROM t WHERE CASE WHEN a<50 THEN b>(SELECT avg(v) FROM k WHERE n=t.a)"
      " ELSE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND v>90) END",
    /* Joins: the sub-select is about a table that is looked up, or about several */
    "+SELECT x, count(*) FROM t JOIN u ON u.id=t.a WHERE NOT EXISTS (SELECT 1 FROM k"
      " WHERE n=u.t) GROUP BY x",
    "+SELECT x, sum(b) FROM t JOIN u ON u.id=t.a WHERE u.x<>'x3' AND b<(SELECT 2*avg(v)"
      " FROM k WHERE n=u.id) GROUP BY x",
    "+SELECT x, sum(b) FROM t JOIN u ON u.id=t.a WHERE b<(SELECT 2*avg(v)"
      " FROM k WHERE n=u.t AND z=t.c) GROUP BY x",
    "+SELECT x, sum(b) FROM t LEFT JOIN u ON u.id=t.a AND u.t<400 WHERE NOT EXISTS"
      " (SELECT 1 FROM k WHERE n=u.t) GROUP BY x",
    "+SELECT x, sum(b) FROM t LEFT JOIN u ON u.id=t.a WHERE ifnull(u.t,7)>(SELECT count(v)"
      " FROM k WHERE n=u.id) GROUP BY x",
    "+SELECT count(*) FROM t JOIN u ON u.id=t.a JOIN u AS w ON w.id=u.t WHERE w.x<>'x1' AND"
      " u.id+w.id>(SELECT sum(v) FROM k WHERE n=w.id)",
    "+SELECT count(*) FROM t JOIN u ON u.id=t.a WHERE (SELECT max(v) FROM k WHERE n=u.id)"
      " > (SELECT min(v) FROM k WHERE n=t.a) AND x<'x7'",
    "+SELECT count(*), x FROM t JOIN u ON u.id=(SELECT min(v) FROM k WHERE n=t.a) GROUP BY x",
    "+SELECT count(*) FROM t, w WHERE w.i=t.a AND w.j=t.id%3 AND t.b>(SELECT avg(v) FROM k"
      " WHERE n=w.i)",
    "+SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM w WHERE y=t.b)",
    "+SELECT count(*) FROM t WHERE 9>(SELECT sum(i) FROM w WHERE y=t.b)",
    /* One more comparison */
    "+SELECT count(*), sum(id) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND v<t.id)",
    "+SELECT count(*), sum(id) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND v<>t.id"
      " AND z<>'text 4')",
    "+SELECT count(*), sum(id) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND v<=b)",
    "+SELECT count(*), sum(id) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND b<v)",
    "+SELECT count(*), sum(id) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND t.b>=v)",
    "+SELECT count(*), sum(id) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND z>t.c)",
    "+SELECT count(*), sum(id) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a"
      " AND z<>t.c COLLATE nocase)",
    "+SELECT count(*), sum(id) FROM t WHERE a<50 AND EXISTS (SELECT 1 FROM k WHERE n=t.a"
      " AND v<>t.id)",
    "+SELECT count(*), sum(t.id) FROM t, u WHERE u.id=t.a AND EXISTS (SELECT 1 FROM k"
      " WHERE n=t.a AND v>u.t) AND NOT EXISTS (SELECT 1 FROM k WHERE n=u.id AND v<>t.a)",
    "+SELECT count(*), sum(t.id) FROM t, u WHERE u.id=t.a AND x='x3' AND t.b>(SELECT avg(v)"
      " FROM k WHERE n=t.a) AND EXISTS (SELECT 1 FROM t AS o WHERE o.a=t.a AND o.id<>t.id)",
    "?SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND x<>t.d)",
    "-SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND z<>t.id)",
    "-SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND v<>t.d)",
    "-SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND v<>t.b+1)",
    "-SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND v<>t.b AND"
      " v<t.id)",
    "-SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n<t.a)",
    /* Twins: sub-selects of one table by one key, whose groups are made by one scan */
    "+SELECT count(*), sum(id) FROM t WHERE b>(SELECT avg(v) FROM k WHERE n=t.a) AND b<(SELECT"
      " 9*max(v)+count(x) FROM k WHERE n=t.a)",
    "+SELECT count(*), sum(id) FROM t WHERE b>(SELECT avg(v) FROM k WHERE n=t.a AND z<'text 3') AND"
      " b<(SELECT 9*max(v)+count(x) FROM k WHERE n=t.a AND v>50 AND x IS NOT NULL)",
    "+SELECT count(*), sum(id) FROM t WHERE (SELECT count(*) FROM k WHERE n=t.a AND v<0)=(SELECT"
      " count(*) FROM k WHERE n=t.a AND z IS NULL) AND (SELECT total(v) FROM k WHERE n=t.a)>9",
    "+SELECT count(*), sum(id) FROM t WHERE (SELECT sum(v) FILTER (WHERE x>5) FROM k WHERE n=t.a AND"
      " v>40)>(SELECT sum(v) FILTER (WHERE x>5) FROM k WHERE n=t.a AND v<60)",
    "+SELECT count(*), sum(id) FROM t WHERE EXISTS (SELECT 1 FROM k WHERE n=t.a AND v<>t.id) AND NOT"
      " EXISTS (SELECT 1 FROM k WHERE n=t.a AND v<>t.id AND z<>'text 4')",
    "+SELECT count(*), sum(id) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND v>t.id AND"
      " z>'text 4') AND NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND z<t.c AND v<30) AND (SELECT"
      " min(v) FROM k WHERE n=t.a)>3",
    "+SELECT count(*), sum(id) FROM t WHERE b>(SELECT avg(v) FROM k WHERE z=t.c COLLATE nocase) AND"
      " b<(SELECT 9*max(v) FROM k WHERE z=t.c)",
    "+SELECT x, count(*) FROM t JOIN u ON u.id=t.a WHERE b>(SELECT avg(v) FROM k WHERE n=u.t) AND"
      " NOT EXISTS (SELECT 1 FROM k WHERE n=u.t AND v>u.id) AND b>(SELECT min(v) FROM k WHERE n=t.a)"
      " AND b>(SELECT min(v) FROM k WHERE n=t.a AND v>7) GROUP BY x",
    "+SELECT count(*) FROM t WHERE (SELECT count(*) FROM w WHERE i=t.a AND j=1)=1 OR (SELECT max(j)"
      " FROM w WHERE i=t.a AND j<>1)>t.b",
    "+SELECT count(*), sum(id) FROM t WHERE (SELECT max(p) FROM wp WHERE m=t.a)>0 AND (SELECT max(q)"
      " FROM wp WHERE m=t.a AND p<>3)<t.id AND NOT EXISTS (SELECT 1 FROM wp WHERE m=t.a AND p>t.id)",
    "-SELECT count(*) FROM t WHERE b>(SELECT min(o) FROM g WHERE n=t.a) AND (SELECT max(x) FROM g"
      " WHERE n=t.a)||'' LIKE '%.0'",
    /* SQLite would search an index */
    "+SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.t=t.id AND x<'x5')",
    "+SELECT count(*) FROM t WHERE b>(SELECT 3*avg(id) FROM u WHERE u.t=t.a)",
    "+SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.id=t.a AND x<'x5')",
    "+SELECT count(*) FROM t WHERE b<(SELECT min(u.t) FROM u WHERE u.id=t.a)",
    "+SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM w WHERE i=t.a AND j<>t.id)",
    "+SELECT count(*) FROM t WHERE (SELECT count(*) FROM w WHERE i=t.a AND j=1)=1",
    "?SELECT count(*) FROM t WHERE b>(SELECT max(t) FROM u WHERE u.t=t.id)",
    /* In the order of (n, o), which is not that of rowids: where aggregates show it */
    "+SELECT count(*) FROM t WHERE b>(SELECT min(o)+sum(o)+count(x) FROM g WHERE n=t.a)",
    "-SELECT count(*) FROM t WHERE (SELECT min(z) FROM g WHERE n=t.a)||'' GLOB 'T*'",
    "-SELECT count(*) FROM t WHERE (SELECT max(x) FROM g WHERE n=t.a)||'' LIKE '%.0'",
    "?SELECT count(*) FROM t WHERE (SELECT sum(r) FROM g WHERE n=t.a)=1e16",
    "+SELECT count(*) FROM t WHERE (SELECT min(z) FROM h WHERE n=t.a)||'' GLOB 'T*'",
    "+SELECT count(*) FROM t WHERE (SELECT max(x) FROM h WHERE n=t.a)||'' LIKE '%.0'",
    "+SELECT count(*) FROM t WHERE (SELECT sum(r) FROM h WHERE n=t.a)=1e16",
    /* The same twice, and within itself */
    "+SELECT count(*) FROM t WHERE b>(SELECT avg(v) FROM k WHERE n=t.a) OR"
      " b<(SELECT avg(v) FROM k WHERE n=t.a)",
    "+SELECT count(*) FROM t WHERE b>=(SELECT max(+b) FROM t AS i WHERE i.a=t.a)",
    /* The end of an index, where 0.0 and -0.0 are equal: which of them is the largest? */
    "-SELECT count(*) FROM t WHERE b>=(SELECT max(b) FROM t AS i WHERE i.a=t.a)",
    /* An error that SQLite raises, or does not come to */
    "+SELECT count(*) FROM t WHERE b>(SELECT sum(9223372036854775800+v) FROM k WHERE n=t.a)",
    "+SELECT count(*) FROM t WHERE a<-5 AND b>(SELECT sum(9223372036854775807) FROM k"
      " WHERE n=t.a)",
    "+SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a AND"
      " abs(-9223372036854775807-(v>90))>0)",
    "+SELECT count(*) FROM t WHERE b>(SELECT sum(v*1e308) FROM k WHERE n=t.a)",
    /* Left to SQLite, or to hash tables of its own */
    "-SELECT count(*) FROM t WHERE b>(SELECT avg(v) FROM k WHERE n=t.a AND v<t.id)",
    "-SELECT count(*) FROM t WHERE b>(SELECT v FROM k WHERE n=t.a)",
    "-SELECT count(*) FROM t WHERE b>(SELECT v FROM k WHERE n=t.a ORDER BY v LIMIT 1)",
    "-SELECT count(*) FROM t WHERE b>(SELECT avg(v) FROM k WHERE n=t.a GROUP BY z)",
    "-SELECT count(*) FROM t WHERE b>(SELECT avg(v) FROM k WHERE n=t.a HAVING count(*)>2)",
    "-SELECT count(*) FROM t WHERE b>(SELECT avg(v) FROM k WHERE n=t.a LIMIT 0)",
    "-SELECT count(*) FROM t WHERE b>(SELECT avg(v) FROM k WHERE n=t.a LIMIT 1 OFFSET 1)",
    "-SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM k WHERE n=t.a LIMIT 0)",
    "-SELECT count(*) FROM t WHERE EXISTS (SELECT count(*) FROM k WHERE n=t.a)",
    "-SELECT count(*) FROM t WHERE b>(SELECT avg(v) FROM k, u WHERE n=t.a AND u.id=v)",
    "-SELECT count(*) FROM t WHERE b>(SELECT count(DISTINCT v) FROM k WHERE n=t.a)",
    "-SELECT count(*) FROM t WHERE c>(SELECT group_concat(z) FROM k WHERE n=t.a)",
    "-SELECT count(*) FROM t WHERE b>(SELECT avg(v)+k.n FROM k WHERE n=t.a)",
    "-SELECT count(*) FROM t WHERE b>(SELECT avg(v+t.id) FROM k WHERE n=t.a)",
    "-SELECT count(*) FROM t WHERE b>(SELECT avg(v) FROM k WHERE n=t.a AND EXISTS"
      " (SELECT 1 FROM u WHERE u.t=k.v))",
    /* What a sub-select of a result reads is looked up by SQLite's own code */
    "?SELECT a, (SELECT count(*) FROM k WHERE n=t.a) FROM t WHERE b>(SELECT avg(v) FROM k"
      " WHERE n=t.a) GROUP BY a",
    "?SELECT sum((SELECT count(*) FROM k WHERE n=t.a)) FROM t",
  };
  unsigned i;
  begin("CREATE TABLE k(n INTEGER, v INTEGER, z TEXT, x);"
        "INSERT INTO k SELECT a, id%97, CASE id%5 WHEN 0 THEN upper(c) ELSE c END,"
        " CASE id%4 WHEN 0 THEN d WHEN 1 THEN b WHEN 2 THEN id ELSE CAST(id AS TEXT) END"
        " FROM t WHERE a%8; INSERT INTO k SELECT NULL, 5, NULL, NULL FROM t WHERE id<20;"
        "CREATE TABLE w(i INTEGER, j INTEGER, y, PRIMARY KEY(i,j)) WITHOUT ROWID;"
        "INSERT OR IGNORE INTO w SELECT a, id%3, b FROM t WHERE id%4;"
        "CREATE TABLE wp(m INTEGER, q INTEGER, p INTEGER PRIMARY KEY) WITHOUT ROWID;"
        "INSERT INTO wp SELECT a, id%700, id FROM t;"
        "CREATE TABLE g(n INTEGER, o INTEGER, z TEXT COLLATE nocase, r REAL, x);"
        "INSERT INTO g SELECT a, -id, CASE id%3 WHEN 0 THEN 'text' ELSE 'Text' END,"
        " CASE id%3 WHEN 0 THEN 1e300 WHEN 1 THEN 1e16 ELSE -1e300 END,"
        " CASE WHEN id*7%11%2 THEN 90 ELSE 90.0 END FROM t; CREATE INDEX g1 ON g(n,o,z,r,x);"
        "CREATE TABLE h AS SELECT * FROM g; CREATE INDEX h1 ON h(n)");
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++) same(az[i]);
  execute(adb[0], "PRAGMA hp_memory=300000");
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
    Text sql = {0,0,0};
    textAppend(&sql, "?%s", &az[i][1]);
    same(sql.z);
    textClear(&sql);
  }
  end("subs");
}

/* Four workers */
static void testThreads(void){
  unsigned i;
  begin("INSERT INTO t SELECT id+5000, a, b, c, d FROM t;"
        "INSERT INTO t SELECT id+10000, a, b, c, d FROM t");
  execute(adb[0], "PRAGMA hp_threads=4");
  same("+SELECT id, c FROM t WHERE a<9");
  same("+SELECT t.id, u.id FROM t CROSS JOIN u ON u.t=t.id WHERE a<40");
  same("+SELECT t.id, u.x FROM t JOIN u ON u.id=t.a WHERE x='x4' ORDER BY +b");
  for(i=0; i<sizeof(azChange)/sizeof(azChange[0]); i++){
    both("BEGIN");
    same(azChange[i]);
    both("ROLLBACK");
  }
  sameTables("threads");
  end("threads");
}

int main(int argc, char **argv){
  const char *zOnly = argc>2 ? argv[2] : "";
  int bAnswers = strcmp(zOnly, "answers")==0;
  if( strcmp(zOnly, "threads")==0 ) setenv("HPSQLITE_TEST", "threads=4,run=1", 1);
  if( argc<2 || pairLoad(argv[1]) ){
    fprintf(stderr, "usage: drivers STOCK [answers|early|threads]\n");
    return 2;
  }
  if( !hasEngine() ) return finish();
  azFile[0] = temporaryFile("drivers-ours.db");
  azFile[1] = temporaryFile("drivers-stock.db");
  azFile[2] = temporaryFile("drivers-damaged.db");
  if( strcmp(zOnly, "early")==0 ){
    testSets();
    testEarly();
    testTopGroups();
    testDetach();
    return finish();
  }
  testThreads();
  if( zOnly[0] && !bAnswers ) return finish();
  testAnswers();
  testFinds();
  testScalars();
  testSets();
  testEarly();
  testLooks();
  testTopGroups();
  testCalls();
  testDetach();
  testCodes();
  if( bAnswers ) return finish();
  testChanges();
  testBetween();
  testBlob();
  testSubs();
  testInterrupts();
  testDamage();
  return finish();
}
