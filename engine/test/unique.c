/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Insertions into UNIQUE indexes that wait until the statement ends
** (engine/src/bulk): a conflict ends the statement as it does in stock, at the
** same row, with the same message, whatever else is wrong with other rows, and
** in all states of a transaction.
**
**    unique STOCK [NAME]     STOCK is the unpatched library; only test NAME
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pair.h"

static const char zInOrder[] = "indexes whose entries were written in order";

/* Rows that violate nothing: value v is 1, 2, ...  Their order is that of no index */
#define SOURCE \
  "CREATE TABLE s(v INTEGER PRIMARY KEY, k INT, c TEXT, d REAL, e);" \
  "INSERT INTO s SELECT value, value*7919%20011, 'Key'||(value*31%20011), value*17%20011/4.0," \
  " CASE value%4 WHEN 0 THEN NULL WHEN 1 THEN value*13%20011 WHEN 2 THEN CAST('b'||value AS BLOB)" \
  "   ELSE printf('%.*c%d', value%300, 'x', value) END FROM " SERIES("700") ";"

/* Tables: columns k, c, d, e have a UNIQUE index each, and more */
static const char *const azTable[] = {
  "CREATE TABLE t(id INTEGER PRIMARY KEY, k INT UNIQUE, c TEXT UNIQUE, d REAL UNIQUE, e UNIQUE);",
  "CREATE TABLE t(id INTEGER PRIMARY KEY, k INT NOT NULL UNIQUE, c TEXT COLLATE nocase NOT NULL,"
  " d REAL CHECK(d<5e5), e); CREATE UNIQUE INDEX u1 ON t(c DESC, d); CREATE UNIQUE INDEX u2 ON t(e, d DESC);"
  "CREATE INDEX i1 ON t(d);",
  "CREATE TABLE t(id INTEGER, k INT, c TEXT PRIMARY KEY, d REAL, e); CREATE UNIQUE INDEX u1 ON t(k) WHERE k%3;"
  "CREATE UNIQUE INDEX u2 ON t(abs(k), lower(c)); CREATE INDEX i1 ON t(e);"
  "CREATE UNIQUE INDEX u3 ON t(c COLLATE rtrim);",
  "CREATE TABLE t(id INT, k INT, c TEXT, d REAL NOT NULL, e, PRIMARY KEY(c, k)) WITHOUT ROWID;"
  "CREATE UNIQUE INDEX u1 ON t(k); CREATE UNIQUE INDEX u2 ON t(d, e);",
};
#define N_TABLE ((int)(sizeof(azTable)/sizeof(azTable[0])))

/* Databases with table iTable, the first 200 rows of s in it */
static void begin(const char *zBegin, int iTable){
  Text sql = {0,0,0};
  textAppend(&sql, "%s %s INSERT INTO t SELECT v, k, c, d, e FROM s WHERE v<=200", azTable[iTable], SOURCE);
  pairTables(sql.z, "PRAGMA recursive_triggers=on");
  textClear(&sql);
  if( zBegin[0] ) both(zBegin);
  execute(adb[0], "PRAGMA hp_offload=force");
}

/* Run zSql on both.  Is what both say and have the same, and is ours sound? */
static void same(const char *zSql){
  pairSame(zSql);
  pairSame("SELECT changes(), total_changes(), last_insert_rowid()");
  pairSame("SELECT id, k, c, d, quote(e) FROM t ORDER BY +k, +c");
  execute(adb[0], "PRAGMA hp_offload=off");
  checkIntegrity(&ours, adb[0], zSql);
  execute(adb[0], "PRAGMA hp_offload=force");
}

/* The same; so many indexes of ours are to be written in order */
static void deferred(const char *zSql, int nIndex){
  sqlite3_int64 n = counted(adb[0], zInOrder);
  same(zSql);
  n = counted(adb[0], zInOrder) - n;
  check(n==nIndex, "%s: %d indexes were written in order, not %d", zSql, (int)n, nIndex);
}

/* Rows that are unique are inserted as ever, into all UNIQUE indexes at once */
static void testSame(void){
  static const int anIndex[] = { 4, 4, 5, 2 };
  int i;
  for(i=0; i<N_TABLE; i++){
    begin(i%2 ? "PRAGMA cache_size=10" : "PRAGMA journal_mode=wal", i);
    deferred("INSERT INTO t SELECT v, k, c, d, e FROM s WHERE v>200 AND v<=400", anIndex[i]);
    both("BEGIN; DELETE FROM t WHERE k%7=0");
    deferred("INSERT INTO t SELECT v, k, c, d, e FROM s WHERE v>400", anIndex[i]);
    both("SAVEPOINT a");
    deferred("INSERT INTO t SELECT v+5000, k+30000, c||'z', d+30000, e||v FROM s", anIndex[i]);
    both("ROLLBACK TO a");
    same("SELECT 1");
    both("COMMIT");
    /* Nothing is in the table: the index is written anew */
    both("DELETE FROM t");
    deferred("INSERT INTO t SELECT v, k, c, d, e FROM s", anIndex[i]);
    end("same");
  }
}

/*
** One row of many is wrong, or two are, at the beginning, in the middle, at the
** end: UNIQUE by a row that was there or by one of the same statement, NOT NULL,
** CHECK, a rowid, an error of an expression.
*/
static void testConflicts(void){
  static const char *const azWrong[] = {
    "k=7919", "k=(SELECT k FROM s WHERE v=%d-5)", "c=(SELECT c FROM s WHERE v=3)", "c=(SELECT c FROM s WHERE v=%d-9)",
    "c='KEY'||(31*4)", "d=(SELECT d FROM s WHERE v=2), e=(SELECT e FROM s WHERE v=2)",
    "e=(SELECT e FROM s WHERE v=%d-3), d=(SELECT d FROM s WHERE v=%d-3)", "e=NULL", "k=NULL", "c=NULL", "d=NULL", "d=1e6",
    "v=5", "k=-9223372036854775807-1", "c=c||'  '", "k=-k",
  };
  static const char *const azOr[] = { "", " OR FAIL", " OR ROLLBACK", " OR IGNORE", " OR REPLACE" };
  static const char *const azBefore[] = { "", "BEGIN", "BEGIN; UPDATE t SET id=-3 WHERE k=7919; SAVEPOINT a" };
  static const char *const azAfter[] = { "SELECT 1", "COMMIT", "ROLLBACK TO a; COMMIT" };
  static const int aiRow[] = { 205, 220, 360, 490, 600 };
  int iTable, iOr, i, k, nStep = longRun() ? 1 : 5;
  int iCase = 0;
  for(iTable=0; iTable<N_TABLE; iTable++){
    sqlite3_int64 nOrder;
    begin("", iTable);
    both("CREATE TEMP TABLE x AS SELECT * FROM s; CREATE UNIQUE INDEX temp.xv ON x(v)");
    nOrder = counted(adb[0], zInOrder);
    for(iOr=0; iOr<5; iOr++){
      for(i=0; i<(int)(sizeof(azWrong)/sizeof(azWrong[0])); i++){
        for(k=0; k<(int)(sizeof(aiRow)/sizeof(aiRow[0])); k++){
          Text sql = {0,0,0};
          int iSecond, iState, j;
          if( iCase++%nStep ) continue;
          iSecond = iCase%3;
          iState = iCase/3%3;
          both("DELETE FROM x; INSERT INTO x SELECT * FROM s WHERE v>200");
          textAppend(&sql, "UPDATE x SET ");
          textAppend(&sql, azWrong[i], aiRow[k], aiRow[k]);
          textAppend(&sql, " WHERE v=%d", aiRow[k]);
          if( iSecond ){
            int iRow = aiRow[(k+iSecond)%5]+1;
            textAppend(&sql, "; UPDATE x SET ");
            textAppend(&sql, azWrong[(i+iCase)%16], iRow, iRow);
            textAppend(&sql, " WHERE v=%d", iRow);
          }
          for(j=0; j<2; j++) apLib[j]->exec(adb[j], sql.z, 0, 0, 0);
          textClear(&sql);
          if( iState ) both(azBefore[iState]);
          textAppend(&sql, "INSERT%s INTO t SELECT v, abs(k), c, d, e FROM x ORDER BY +v", azOr[iOr]);
          same(sql.z);
          textClear(&sql);
          for(j=0; j<2; j++){
            apLib[j]->exec(adb[j], azAfter[iState], 0, 0, 0);
            apLib[j]->exec(adb[j], "ROLLBACK", 0, 0, 0);
          }
          both("DELETE FROM t; INSERT INTO t SELECT v, k, c, d, e FROM s WHERE v<=200");
        }
      }
    }
    nOrder = counted(adb[0], zInOrder) - nOrder;
    check(nOrder>20, "only %d indexes were written in order", (int)nOrder);
    end("conflicts");
  }
}

/* Statements that are left to SQLite: conflicts are expected, or somebody would hear of a rollback */
static int nRolledBack;
static void rolledBack(void *p){
  (void)p;
  nRolledBack++;
}
static void testWhich(void){
  begin("", 0);
  deferred("INSERT OR IGNORE INTO t SELECT v, k, c, d, e FROM s WHERE v BETWEEN 190 AND 240", 0);
  deferred("INSERT OR REPLACE INTO t SELECT v, k, c, d, e FROM s WHERE v BETWEEN 190 AND 300", 0);
  deferred("INSERT INTO t SELECT v, k, c, d, e FROM s WHERE v BETWEEN 190 AND 300 ON CONFLICT DO NOTHING", 0);
  deferred("INSERT INTO t SELECT v, k, c, d, e FROM s WHERE v BETWEEN 301 AND 380"
           " ON CONFLICT(k) DO UPDATE SET c=c||'u'", 0);
  deferred("INSERT INTO t SELECT v, k, c, d, e||last_insert_rowid() FROM s WHERE v BETWEEN 381 AND 440", 0);
  deferred("INSERT INTO t SELECT v, k, c, d, e||changes() FROM s WHERE v BETWEEN 441 AND 500", 0);
  deferred("UPDATE t SET k=k+100000 WHERE id>300", 0);
  deferred("INSERT OR FAIL INTO t SELECT v, k, c, d, e FROM s WHERE v BETWEEN 501 AND 560", 4);
  both("BEGIN");
  same("INSERT OR FAIL INTO t SELECT v, k, c, d, e FROM s WHERE v BETWEEN 561 AND 620");
  same("INSERT OR FAIL INTO t SELECT v+700, k+100000, c||1, d+5e4, e||v FROM s ORDER BY v%620");
  both("COMMIT");
  sqlite3_rollback_hook(adb[0], rolledBack, 0);
  deferred("INSERT INTO t SELECT v+2000, k+200000, c||2, d+1e5, v||'two' FROM s", 0);
  pairSame("INSERT INTO t SELECT v+4000, k+400000, c||4, d+2e5, (v%650)||'four' FROM s");
  check(nRolledBack==1, "%d rollbacks", nRolledBack);
  both("BEGIN");
  deferred("INSERT INTO t SELECT v+6000, k+600000, c||6, d+3e5, v||'six' FROM s", 4);
  pairSame("INSERT INTO t SELECT v+8000, k+800000, c||8, d+4e5, (v%650)||'eight' FROM s");
  both("COMMIT");
  check(nRolledBack==1, "%d rollbacks", nRolledBack);
  sqlite3_rollback_hook(adb[0], 0, 0);
  end("which");
}

/* Who else hears of a statement: it is traced once, and its keys of other tables are counted once */
static int nTraced;
static int traced(unsigned e, void *p, void *pStmt, void *x){
  (void)p;
  (void)pStmt;
  (void)x;
  nTraced += e==SQLITE_TRACE_STMT ? 1 : 1000;
  return 0;
}
static void testSeen(void){
  sqlite3_stmt *pStmt;
  int i, rc;
  begin("PRAGMA foreign_keys=on", 0);
  sqlite3_trace_v2(adb[0], SQLITE_TRACE_STMT|SQLITE_TRACE_PROFILE, traced, 0);
  rc = sqlite3_prepare_v2(adb[0], "INSERT INTO t SELECT v, k, c, d, e FROM s WHERE v>?", -1, &pStmt, 0);
  check(rc==SQLITE_OK, "prepare: %d", rc);
  for(i=0; i<2; i++){
    nTraced = 0;
    sqlite3_bind_int(pStmt, 1, i ? 200 : 100);
    rc = sqlite3_step(pStmt);
    check(rc==(i ? SQLITE_DONE : SQLITE_CONSTRAINT) && nTraced==1001, "%d: %d, traced %d", i, rc, nTraced);
    sqlite3_reset(pStmt);
    check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_RUN, 0)==i+1
          && sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_REPREPARE, 0)==0, "%d: runs", i);
  }
  sqlite3_finalize(pStmt);
  sqlite3_trace_v2(adb[0], 0, 0, 0);
  both("DELETE FROM t WHERE id>200");
  /* The legacy interface begins again, too */
  rc = sqlite3_prepare(adb[0], "INSERT INTO t SELECT v, k, c, d, e FROM s WHERE v>190", -1, &pStmt, 0);
  check(rc==SQLITE_OK && sqlite3_step(pStmt)==SQLITE_ERROR && sqlite3_finalize(pStmt)==SQLITE_CONSTRAINT, "legacy");
  pairSame("SELECT count(*), total(k) FROM t");
  end("seen");
  begin("PRAGMA foreign_keys=on", 0);
  both("CREATE TABLE o(t REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED, u UNIQUE)");
  both("BEGIN");
  same("INSERT INTO o SELECT v+5000, v%600 FROM s");
  same("INSERT INTO o SELECT v+5000, v FROM s WHERE v<400");
  same("INSERT INTO o SELECT v+6000, v+395 FROM s");
  same("COMMIT");
  same("INSERT INTO t SELECT v+5000, k+30000, c||'z', d+30000, e||v FROM s WHERE v<400");
  same("COMMIT");
  /* PRAGMA defer_foreign_keys outlives the first attempt */
  both("CREATE TABLE q(t REFERENCES t(id), u UNIQUE); PRAGMA defer_foreign_keys=on");
  same("INSERT INTO q SELECT v+9000, v%600 FROM s");
  same("INSERT INTO q SELECT v+9000, v FROM s");
  same("SELECT count(*) FROM q");
  end("seen");
}

/*
** Errors that come of no row alone: no rowid is left, the file may not grow.  A conflict before is the one to
** tell.  And without a journal nothing can be taken back.
*/
static void testLimits(void){
  int i;
  begin("", 0);
  both("CREATE TABLE a(k INTEGER PRIMARY KEY AUTOINCREMENT, b UNIQUE);"
       "INSERT INTO a VALUES(9223372036854775807-300, -1)");
  for(i=0; i<4; i++){
    static const char *const azOr[] = { "", " OR FAIL", " OR ROLLBACK", "" };
    Text sql = {0,0,0};
    textAppend(&sql, "INSERT%s INTO a(b) SELECT CASE v WHEN %d THEN -1 ELSE k+%d END FROM s", azOr[i], i==3 ? 999 : 200, i);
    same(sql.z);
    pairSame("SELECT * FROM a ORDER BY k");
    textClear(&sql);
  }
  end("limits");
  begin("", 0);
  for(i=0; i<2; i++){
    both(i ? "BEGIN" : "SELECT 1");
    execute(adb[0], "PRAGMA max_page_count=400");
    runOn(&stock, adb[1], "PRAGMA max_page_count=400");
    same("INSERT INTO t SELECT v+700, CASE v WHEN 100 THEN 7919 ELSE k+100000 END, c||7, d+1e5, hex(zeroblob(200+v)) FROM s");
    if( i ) both("COMMIT");
  }
  end("limits");
  for(i=0; i<3; i++){
    begin("PRAGMA journal_mode=off", 0);
    both("ATTACH ':memory:' AS m; PRAGMA m.journal_mode=off;"
         "CREATE TABLE m.q(a INTEGER PRIMARY KEY, b UNIQUE, c CHECK(c<>500)); CREATE INDEX m.qc ON q(c)");
    if( i ) both("BEGIN");
    pairSame("INSERT INTO q SELECT v, CASE v WHEN 200 THEN 7919*5 ELSE k END, v FROM s");
    pairSame("INSERT INTO q SELECT v+1000, k+50000, v FROM s");
    pairSame("INSERT INTO t SELECT v, CASE v WHEN 400 THEN 7919 ELSE k END, c, d, e FROM s WHERE v>200");
    if( i ) both(i==1 ? "COMMIT" : "ROLLBACK");
    pairSame("SELECT * FROM q ORDER BY b");
    pairSame("SELECT a, c FROM q INDEXED BY qc WHERE c>3");
    pairSame("SELECT id, k, c, d, quote(e) FROM t ORDER BY +k");
    pairSame("PRAGMA m.integrity_check");
    pairSame("PRAGMA main.integrity_check");
    end("limits");
  }
}

/* Little memory: entries are looked at, and written, several times in a statement */
static void testMemory(void){
#define MANY(K) "INSERT INTO t SELECT value, value*7919%1000003, printf('%.*c%d', 700, 'z', value*31%10007)," \
                " value*17%1000003/2.0, printf('%.*c%d', 600+value%50, 'y', value*17%" K ") FROM " SERIES("4000")
  begin("", 0);
  execute(adb[0], "PRAGMA hp_memory=8388608");
  both("DELETE FROM t");
  deferred(MANY("10007"), 4);
  both("DELETE FROM t");
  same(MANY("3900"));
  end("memory");
}

/* The n-th allocation, write, or call of the progress handler fails, in a statement that succeeds and in one
** that begins again */
static void testFaults(void){
  static const char zSum[] = "SELECT count(*)*1000000+total(k%7+length(e)) FROM t NOT INDEXED";
  static const char *const azSql[] = {
    "INSERT INTO t SELECT v, k, c, d, e FROM s WHERE v>200 AND v<350",
    "INSERT INTO t SELECT v, k, c, d, CASE v WHEN 330 THEN (SELECT e FROM t WHERE id=3) ELSE e END FROM s WHERE v>200 AND v<350",
  };
  int iSql, k, n;
  for(k=0; k<4; k++){
    if( k==1 ) failMemory(1);
    if( k>=2 ) failWrites(1);
    for(iSql=0; iSql<2; iSql++){
      sqlite3_int64 iBefore;
      int rc = SQLITE_ERROR;
      int nFailed = 0;
      begin(k==2 ? "PRAGMA cache_size=5" : k==3 ? "PRAGMA journal_mode=wal; PRAGMA cache_size=5" : "", 0);
      execute(adb[0], "PRAGMA synchronous=normal");
      iBefore = integer(&ours, adb[0], zSum);
      for(n=0; (rc!=SQLITE_OK && rc!=SQLITE_CONSTRAINT) || fault.nFailed;
          n+=(n<30 || longRun() ? 1 : 1+n/16)){
        sqlite3 *db = adb[0];
        sqlite3_int64 iAfter;
        int bBegin = n & 1;
        if( bBegin ) execute(db, "BEGIN");
        if( k==0 ) stopAt(db, 300, n);
        else failAfter(n, n%2);
        rc = sqlite3_exec(db, azSql[iSql], 0, 0, 0);
        fault.nLeft = -1;
        (void)stopEnd(db);
        nFailed += rc!=SQLITE_OK && rc!=SQLITE_CONSTRAINT;
        if( bBegin && sqlite3_get_autocommit(db)==0 ) execute(db, "COMMIT");
        checkIntegrity(&ours, db, azSql[iSql]);
        iAfter = integer(&ours, db, zSum);
        check((iAfter!=iBefore)==(rc==SQLITE_OK), "%s %d: error %d, the table has %s", azSql[iSql], n, rc,
              iAfter==iBefore ? "not changed" : "changed");
        check((rc==SQLITE_OK)<=(iSql==0), "%s %d: it succeeds", azSql[iSql], n);
        execute(db, "DELETE FROM t WHERE id>200");
      }
      check(nFailed>5, "%s failed %d times (%d)", azSql[iSql], nFailed, k);
      end("faults");
    }
    if( k==1 ) failMemory(0);
    if( k>=2 ) failWrites(0);
  }
}

/* Statements at random, in transactions and out of them */
static unsigned iRandom;
static unsigned dice(unsigned n){
  iRandom = iRandom*1103515245 + 12345;
  return (iRandom>>12)%n;
}
static void testStorm(void){
  static const char *const azOr[] = { "", "", "", "", " OR FAIL", " OR ROLLBACK", " OR IGNORE", " OR REPLACE" };
  int nRound = longRun() ? 60 : 8;
  sqlite3_int64 nOrder = 0;
  int i, k;
  for(i=0; i<nRound; i++){
    iRandom = 1234+i;
    begin(i%3==0 ? "PRAGMA cache_size=5" : i%3==1 ? "PRAGMA journal_mode=wal" : "PRAGMA auto_vacuum=full; VACUUM",
          i%N_TABLE);
    for(k=0; k<40; k++){
      Text sql = {0,0,0};
      unsigned n = 20+dice(200), v = dice(700), m = 1+dice(20);
      switch( dice(9) ){
        case 0:
          textAppend(&sql, sqlite3_get_autocommit(adb[0]) ? "BEGIN" : dice(2) ? "COMMIT" : dice(2) ? "ROLLBACK" : "SAVEPOINT s");
          break;
        case 1:
          textAppend(&sql, "DELETE FROM t WHERE k%%%u=%u", m, dice(m));
          break;
        case 2:
          textAppend(&sql, "UPDATE OR IGNORE t SET k=k+%u, e=e||%u WHERE id%%%u=0", dice(50), dice(50), m);
          break;
        default:
          textAppend(&sql, "INSERT%s INTO t SELECT v+%u, k+%u, c||%s, d+%u/4.0, e||%s FROM s WHERE v BETWEEN %u AND %u",
                     azOr[dice(8)], dice(3)*700, dice(4)*20011, dice(2) ? "''" : "v%40", dice(4)*40000,
                     dice(3) ? "v" : "v%100", v, v+n);
          break;
      }
      same(sql.z);
      textClear(&sql);
    }
    if( sqlite3_get_autocommit(adb[0])==0 ) both("COMMIT");
    nOrder += counted(adb[0], zInOrder);
    end("storm");
  }
  check(nOrder>nRound*5, "%d indexes were written in order", (int)nOrder);
}

int main(int argc, char **argv){
  static const Test aTest[] = {
    { "same", testSame }, { "conflicts", testConflicts }, { "which", testWhich }, { "seen", testSeen },
    { "limits", testLimits }, { "memory", testMemory }, { "faults", testFaults }, { "storm", testStorm },
  };
  if( argc<2 || pairLoad(argv[1]) ){
    fprintf(stderr, "usage: unique STOCK [NAME]\n");
    return 2;
  }
  if( !hasEngine() ) return finish();
  azFile[0] = temporaryFile("unique-ours.db");
  azFile[1] = temporaryFile("unique-stock.db");
  runTests(aTest, sizeof(aTest)/sizeof(aTest[0]), argc<3 ? 0 : argv[2]);
  return finish();
}
