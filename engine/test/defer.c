/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Statements that change many rows (engine/src/bulk): tables and indexes are
** what stock makes of them, whatever the statement, whether it succeeds or not;
** what can be told of an index before the statement ends lets it be written row
** by row.
**
**    defer STOCK [NAME]     STOCK is the unpatched library; only test NAME
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pair.h"

static const char zInOrder[] = "indexes whose entries were written in order";

/* Rows of all types, with equal values, NULLs, what collations take for equal,
** and texts that need overflow pages.  Their order is that of no index */
#define ROWS(T,FROM) \
  "INSERT INTO " T "(a,b,c,d,e) SELECT" \
  " CASE value%7 WHEN 0 THEN NULL WHEN 1 THEN value%90*1.5 WHEN 2 THEN value%90" \
  "   WHEN 3 THEN (value*7919)%1000*1000003 WHEN 4 THEN -value" \
  "   WHEN 5 THEN 'text'||(value%50) ELSE CAST(x'00ff'||(value%40) AS BLOB) END," \
  " (value*7919)%997," \
  " CASE value%3 WHEN 0 THEN 'Abc'||(value%20) WHEN 1 THEN 'aBC'||(value%20)" \
  "   ELSE 'abc'||(value%20)||'  ' END," \
  " CASE value%5 WHEN 0 THEN value%31 WHEN 1 THEN value%60/4.0 WHEN 2 THEN -0.0" \
  "   WHEN 3 THEN 1e15+value%9 ELSE NULL END," \
  " CASE value%11 WHEN 0 THEN printf('%.*c',value%900,'x') ELSE (value*31%300)||'y' END" \
  " FROM " FROM

static const char *const azTable[] = {
  "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b INT, c TEXT, d REAL, e);",
  "CREATE TABLE t(a, b INT, c TEXT COLLATE nocase, d REAL, e);",
  "CREATE TABLE t(id INTEGER DEFAULT (random()), a, b INT, c TEXT, d REAL, e,"
  " PRIMARY KEY(id, b)) WITHOUT ROWID;",
};
#define N_TABLE ((int)(sizeof(azTable)/sizeof(azTable[0])))

/* Indexes of them, three at a time */
static const char *const azIndex[] = {
  "CREATE INDEX i1 ON t(a); CREATE INDEX i2 ON t(b DESC, c); CREATE INDEX i3 ON t(e);",
  "CREATE INDEX i1 ON t(c COLLATE nocase, b); CREATE INDEX i2 ON t(d DESC, a DESC, b);"
  "CREATE INDEX i3 ON t(c COLLATE rtrim DESC);",
  "CREATE INDEX i1 ON t(b) WHERE b%3=0; CREATE INDEX i2 ON t(e, c, b, a, d);"
  "CREATE INDEX i3 ON t(a) WHERE a IS NOT NULL;",
  "CREATE INDEX i1 ON t(abs(b)%10, c||e); CREATE INDEX i2 ON t(d*1.0, +d);"
  "CREATE INDEX i3 ON t(lower(c), b);",
};
#define N_INDEX ((int)(sizeof(azIndex)/sizeof(azIndex[0])))

/* Databases with table iTable, indexes iIndex and nRow rows */
static void begin(const char *zBegin, int iTable, int iIndex, int nRow){
  Text sql = {0,0,0};
  textAppend(&sql, "%s %s", azTable[iTable], azIndex[iIndex]);
  pairTables(sql.z, "PRAGMA recursive_triggers=on");
  textClear(&sql);
  both(zBegin);
  if( nRow ){
    textAppend(&sql, "(SELECT value FROM (WITH RECURSIVE k(value) AS (SELECT 1 UNION ALL SELECT"
               " value+1 FROM k WHERE value<%d) SELECT value FROM k))", nRow);
    { Text all = {0,0,0};
      textAppend(&all, "%s%s", ROWS("t", ""), sql.z);
      both(all.z);
      textClear(&all);
    }
    textClear(&sql);
  }
  execute(adb[0], "PRAGMA hp_offload=force");
}

/* Run zSql on both.  Is what both say and have the same, and is ours sound?  Where
** stock meets an error of the index rowids have gone further in ours */
static int bRowid = 1;
static void same(const char *zSql){
  int bPlans = bNoPlans;
  bNoPlans = 1;
  pairSame(zSql);
  pairSame("SELECT changes(), total_changes()");
  if( bRowid ) pairSame("SELECT last_insert_rowid()");
  pairSame("SELECT b, quote(a), c, d, e FROM t ORDER BY +b, +quote(a), +c, +d, +e");
  execute(adb[0], "PRAGMA hp_offload=off");
  checkIntegrity(&ours, adb[0], zSql);
  execute(adb[0], "PRAGMA hp_offload=force");
  bNoPlans = bPlans;
}

/* The same; so many indexes of ours are to be written in order, -1: no matter */
static void deferred(const char *zSql, int nIndex){
  sqlite3_int64 n = counted(adb[0], zInOrder);
  same(zSql);
  n = counted(adb[0], zInOrder) - n;
  check(nIndex<0 || n==nIndex, "%s: %d indexes were written in order, not %d", zSql,
        (int)n, nIndex);
}

/* Statements of all kinds on all tables and indexes */
static const char *const azChange[] = {
  "INSERT INTO t(a,b,c,d,e) SELECT a, b+1, c||'z', d, e FROM t WHERE b%3=1",
  "DELETE FROM t WHERE b%5=0",
  "UPDATE t SET b=b+1000, a=b WHERE b%4=1",
  "UPDATE t SET c=upper(c), e=substr(e,1,300)||'w'",
  "UPDATE t SET d=d",
  "UPDATE t SET d=-d, b=-b WHERE b%2",
  "INSERT OR REPLACE INTO t(a,b,c,d,e) SELECT e, b, a, d, c FROM t WHERE b%6<2",
  "REPLACE INTO t SELECT * FROM t WHERE b%7=1",
  "INSERT OR IGNORE INTO t(a,b,c,d,e) SELECT a, b, c, d, e FROM t WHERE b%9=1",
  "DELETE FROM t WHERE b IN (SELECT b+1 FROM t WHERE b%3=0)",
  "UPDATE t SET e=(SELECT max(x.e) FROM t x WHERE x.b=t.b-1) WHERE b%11=3",
  "DELETE FROM t WHERE b>990",
  "DELETE FROM t WHERE e>'2' AND b%2",
  "UPDATE t SET b=b+1 WHERE b>500",
  "DELETE FROM t",
};
#define N_CHANGE ((int)(sizeof(azChange)/sizeof(azChange[0])))

static void testSame(void){
  int iTable, iIndex, i;
  sqlite3_int64 n = 0;
  for(iTable=0; iTable<N_TABLE; iTable++){
    for(iIndex=0; iIndex<N_INDEX; iIndex++){
      int bReplace = iTable==0;
      if( iTable==2 && (iIndex & 1) && !longRun() ) continue;
      begin(iIndex%2 ? "PRAGMA cache_size=10" : "PRAGMA journal_mode=wal", iTable, iIndex,
            iTable==2 ? 0 : 900);
      if( iTable==2 ){
        both("CREATE TABLE s(value); INSERT INTO s SELECT value FROM " SERIES("900"));
        same("INSERT INTO t(id,a,b,c,d,e) SELECT value*7919%100003, value%9, value*31%997,"
             " 'Abc'||value%20, value/4.0, printf('%.*c', value%60*(value%7), 'x') FROM s");
      }
      for(i=0; i<N_CHANGE; i++){
        int bId = strstr(azChange[i], "(a,b,")!=0;
        /* Random keys differ */
        if( iTable==2 && bId ) continue;
        if( iTable==1 && strncmp(azChange[i], "REPLACE", 7)==0 ) continue;
        if( bReplace || i<N_CHANGE ) deferred(azChange[i], -1);
      }
      n += counted(adb[0], zInOrder);
      end("same");
    }
  }
  check(n>100, "only %d indexes were written in order", (int)n);
}

/* What is taken over, and what is not */
static void lookAt(sqlite3_context *p, int n, sqlite3_value **ap){
  (void)n;
  sqlite3_result_value(p, ap[0]);
}
static int reverse(void *p, int n, const void *a, int m, const void *b){
  int c = memcmp(b, a, n<m ? n : m);
  (void)p;
  return c ? c : m-n;
}
static void testWhich(void){
  sqlite3_int64 n;
  begin("PRAGMA foreign_keys=on", 0, 0, 900);
  deferred("DELETE FROM t WHERE +b%5=0", 3);
  deferred("UPDATE t SET e=e||'1' WHERE +b%3=0", 1);
  deferred("UPDATE t SET a=1, b=b+1, e=3 WHERE +b%3=1", 3);
  deferred("INSERT INTO t(a,b,c,d,e) SELECT b,e,c,d,a FROM t WHERE +b%3=2", 3);
  deferred("INSERT INTO t(a,b,c,d,e) SELECT b,e,c,d,a FROM t ORDER BY c LIMIT 100", 3);
  /* An index that rows are found by */
  deferred("DELETE FROM t INDEXED BY i2 WHERE b BETWEEN 10 AND 300", 2);
  deferred("UPDATE t INDEXED BY i2 SET a=a||'x', e=1 WHERE b BETWEEN 300 AND 400", 2);
  deferred("INSERT INTO t(a,b) SELECT a, b FROM t INDEXED BY i2 WHERE b<500", 2);
  /* Few rows */
  deferred("UPDATE t SET e=5 WHERE id IN (SELECT id FROM t LIMIT 10)", 0);
  /* UNIQUE: rows that an UPDATE changes are looked up (unique.c) */
  both("CREATE UNIQUE INDEX u ON t(b, id)");
  deferred("INSERT INTO t(a,b) SELECT a, b FROM t WHERE +b<500", 4);
  deferred("DELETE FROM t WHERE +b%4=0", 4);
  both("DROP INDEX u; CREATE TABLE n(x INT NOT NULL, y INT NOT NULL);"
       "CREATE UNIQUE INDEX nu ON n(x,y); CREATE INDEX ny ON n(y);"
       "INSERT INTO n SELECT value*7919%1009, value*31%1009 FROM " SERIES("1000"));
  deferred("DELETE FROM n WHERE rowid%3=0", 2);
  same("SELECT * FROM n ORDER BY x, y");
  /* Rows that are returned */
  deferred("UPDATE t SET e=e||'2' WHERE +b%3=0 RETURNING id, b", 0);
  /* Foreign keys: parents that are looked up, not children of others */
  both("CREATE TABLE p(k INTEGER PRIMARY KEY, v); CREATE INDEX pv ON p(v);"
       "INSERT INTO p SELECT value, value*7919%1009 FROM " SERIES("700") ";"
       "CREATE TABLE h(id INTEGER PRIMARY KEY, k REFERENCES p, z); CREATE INDEX hk ON h(k); CREATE INDEX hz ON h(z);");
  deferred("INSERT INTO h SELECT value, 1+value*7919%700, value*31%1009 FROM " SERIES("800"), 2);
  deferred("DELETE FROM h WHERE k%3=0", 2);
  deferred("DELETE FROM p WHERE k%3=0", 1);
  deferred("UPDATE p SET v=v+1, k=k+1000 WHERE k%3=1", -1);
  same("SELECT * FROM p ORDER BY k");
  deferred("DELETE FROM p WHERE k%3=2", -1);
  both("PRAGMA foreign_keys=off");
  /* A parent and child in one table */
  both("CREATE TABLE s(id INTEGER PRIMARY KEY, up REFERENCES s ON DELETE CASCADE, q);"
       "CREATE INDEX su ON s(up); CREATE INDEX sq ON s(q);"
       "INSERT INTO s SELECT value, nullif(value/2,0), value*7919%1009 FROM " SERIES("600") ";"
       "PRAGMA foreign_keys=on");
  deferred("DELETE FROM s WHERE id>200 AND id%5=0", 0);
  same("SELECT * FROM s ORDER BY id");
  /* Triggers */
  both("CREATE TRIGGER g AFTER UPDATE ON t BEGIN INSERT INTO n SELECT count(*), new.b FROM t WHERE e=new.e; END");
  deferred("UPDATE t SET e=9 WHERE +b%50=0", 0);
  both("DROP TRIGGER g");
  /* What is the application's */
  sqlite3_create_function(adb[0], "lookat", 1, SQLITE_UTF8, 0, lookAt, 0, 0);
  sqlite3_create_collation(adb[0], "reverse", SQLITE_UTF8, 0, reverse);
  {
    n = counted(adb[0], zInOrder);
    execute(adb[0], "UPDATE t SET e=lookat(e)||'3' WHERE +b%3=0");
    check(counted(adb[0], zInOrder)==n, "a function of the application was called meanwhile");
    execute(adb[0], "CREATE INDEX r ON t(c COLLATE reverse, b);"
                    "DELETE FROM t WHERE +b%3=0");
    check(counted(adb[0], zInOrder)==n, "a collation of the application was called meanwhile");
    execute(adb[0], "DROP INDEX r; DELETE FROM t WHERE +b%3=2");
    check(counted(adb[0], zInOrder)==n+3, "nothing of the application is called");
    checkIntegrity(&ours, adb[0], "the application's functions");
  }
  end("which");
  /* Off, and by row number: an index in the order of rows gains nothing */
  begin("", 0, 0, 900);
  n = counted(adb[0], zInOrder);
  execute(adb[0], "PRAGMA hp_offload=off");
  pairSame("DELETE FROM t WHERE +b%5=0");
  check(counted(adb[0], zInOrder)==n, "it is off");
  execute(adb[0], "PRAGMA hp_offload=force");
  both("CREATE TABLE o(x); CREATE INDEX ox ON o(x);");
  deferred("INSERT INTO o SELECT value FROM " SERIES("6000"), 0);
  deferred("INSERT INTO o SELECT value*7919%10007 FROM " SERIES("6000"), 1);
  same("SELECT count(*), sum(x) FROM o INDEXED BY ox WHERE x>0");
  /* Another statement that has begun to read the index */
  {
    sqlite3_stmt *p = prepared(adb[0], "SELECT b FROM t INDEXED BY i2 WHERE b>5");
    n = counted(adb[0], zInOrder);
    sqlite3_step(p);
    execute(adb[0], "DELETE FROM t WHERE +b%5=1");
    check(counted(adb[0], zInOrder)==n, "another statement reads the index");
    sqlite3_finalize(p);
    runOn(&stock, adb[1], "DELETE FROM t WHERE +b%5=1");
    same("SELECT count(*) FROM t");
  }
  end("off");
}

/* Statements that fail, in all states: what remains is what remains in stock */
static void testFails(void){
  static const char *const azFail[] = {
    "INSERT INTO t(a,b,c,d,e) SELECT a, b+1, c, d, CASE WHEN b=77 THEN NULL ELSE e END FROM t",
    "INSERT OR FAIL INTO t(a,b,c,d,e) SELECT a, b+1, c, d, CASE WHEN b=77 THEN NULL ELSE e END FROM t",
    "INSERT OR IGNORE INTO t(a,b,c,d,e) SELECT a, b+1, c, d, CASE WHEN b%9=7 THEN NULL ELSE e END FROM t",
    "INSERT OR ROLLBACK INTO t(a,b,c,d,e) SELECT a, b+1, c, d, CASE WHEN b=77 THEN NULL ELSE e END FROM t",
    "UPDATE t SET a=1, e=CASE WHEN b=33 THEN NULL ELSE 'u'||e END",
    "UPDATE OR FAIL t SET a=1, e=CASE WHEN b=33 THEN NULL ELSE 'u'||e END",
    "UPDATE t SET b=abs(CASE WHEN b=33 THEN -9223372036854775807-1 ELSE b+3 END), a=3",
    "INSERT INTO t(a,b,c,d,e) SELECT a, abs(CASE WHEN b=33 THEN -9223372036854775807-1 ELSE b+3 END), c, d, e FROM t",
    "DELETE FROM t WHERE +b%2 AND abs(CASE WHEN b=33 THEN -9223372036854775807-1 ELSE b+3 END)",
    "INSERT INTO t(id,a,b,e) SELECT CASE WHEN b=500 THEN 3 ELSE 100000+id END, b, b, e FROM t",
    "INSERT OR FAIL INTO t(id,a,b,e) SELECT CASE WHEN b=500 THEN 3 ELSE 100000+id END, b, b, e FROM t",
    "INSERT OR REPLACE INTO t(id,a,b,e) SELECT CASE WHEN b%50=0 THEN 3 ELSE 100000+id END, b, b, e FROM t",
  };
  static const char *const azBefore[] = { "", "BEGIN", "BEGIN; UPDATE t SET d=d+1; SAVEPOINT s; DELETE FROM t WHERE b<9" };
  static const char *const azAfter[] = { "", "COMMIT", "ROLLBACK TO s; COMMIT" };
  int i, k;
  for(k=0; k<3; k++){
    begin("", 0, k, 900);
    both("CREATE TABLE old AS SELECT * FROM t; DROP TABLE t;"
         "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b INT, c TEXT, d REAL, e NOT NULL)");
    both(azIndex[k]);
    both("INSERT INTO t SELECT * FROM old");
    for(i=0; i<(int)(sizeof(azFail)/sizeof(azFail[0])); i++){
      int j;
      if( azBefore[k][0] ) both(azBefore[k]);
      same(azFail[i]);
      for(j=0; j<2; j++){
        if( azAfter[k][0] ) apLib[j]->exec(adb[j], azAfter[k], 0, 0, 0);
        apLib[j]->exec(adb[j], "ROLLBACK", 0, 0, 0);
      }
      same("DELETE FROM t WHERE id>1100 OR e LIKE 'uuu%'");
      both("INSERT OR IGNORE INTO t SELECT * FROM old");
    }
    check(counted(adb[0], zInOrder)>20, "few indexes were written in order");
    end("fails");
  }
}

/* Statements at random, one after the other, in transactions and out of them */
static unsigned iRandom;
static unsigned dice(unsigned n){
  iRandom = iRandom*1103515245 + 12345;
  return (iRandom>>12)%n;
}
static void testStorm(void){
  int nRound = longRun() ? 40 : 6;
  sqlite3_int64 nOrder = 0;
  int i, k;
  for(i=0; i<nRound; i++){
    int nOpen = 0;
    iRandom = 77+i;
    begin(i%3==0 ? "PRAGMA cache_size=5" : i%3==1 ? "PRAGMA journal_mode=wal" : "PRAGMA auto_vacuum=full; VACUUM",
          0, i%N_INDEX, 300);
    bNoPlans = 1;
    for(k=0; k<40; k++){
      Text sql = {0,0,0};
      unsigned m = 2+dice(7), r = dice(m);
      switch( dice(11) ){
        case 0: case 1: case 2:
          textAppend(&sql, "INSERT INTO t(a,b,c,d,e) SELECT %s, b*%u%%991, %s, d+%u, e FROM t WHERE b%%%u=%u LIMIT 900",
                     dice(2) ? "a" : "e", 1+dice(50), dice(2) ? "c" : "c||b", dice(3), m, r);
          break;
        case 3: case 4:
          textAppend(&sql, "DELETE FROM t WHERE %sb%%%u=%u", dice(2) ? "+" : "", m, r);
          break;
        case 5:
          textAppend(&sql, "UPDATE t SET b=b+%u, e=e||'%u' WHERE b%%%u=%u", dice(30), dice(9), m, r);
          break;
        case 6:
          textAppend(&sql, "UPDATE OR REPLACE t SET id=id+%u, d=NULL WHERE b%%%u=%u", 1+dice(3), m, r);
          break;
        case 7:
          textAppend(&sql, "REPLACE INTO t SELECT id+%u, e, b, c, d, a FROM t WHERE b%%%u=%u LIMIT 500", dice(9), m, r);
          break;
        case 8:
          textAppend(&sql, "DELETE FROM t WHERE b BETWEEN %u AND %u", dice(400), 300+dice(600));
          break;
        case 9:
          if( nOpen==0 ) textAppend(&sql, "BEGIN");
          else if( dice(2) ) textAppend(&sql, "SAVEPOINT s");
          else textAppend(&sql, dice(3) ? "COMMIT" : "ROLLBACK");
          if( sql.z[0]=='B' ) nOpen = 1;
          if( sql.z[0]=='C' || sql.z[0]=='R' ) nOpen = 0;
          break;
        default:
          textAppend(&sql, "UPDATE t SET c=c||'%u', a=d", dice(9));
          break;
      }
      same(sql.z);
      textClear(&sql);
    }
    bNoPlans = 0;
    if( nOpen ) both("COMMIT");
    nOrder += counted(adb[0], zInOrder);
    for(k=0; k<2; k++) apLib[k]->close(adb[k]);
    /* Stock goes on with the file of ours */
    adb[0] = openDb(&ours, azFile[1], 0);
    adb[1] = openDb(&stock, azFile[0], 0);
    checkIntegrity(&stock, adb[1], "a storm");
    runOn(&stock, adb[1], "DELETE FROM t WHERE b%3=0; UPDATE t SET b=b+1, e='q'||e; DELETE FROM t WHERE b%2");
    checkIntegrity(&stock, adb[1], "after a storm");
    end("storm");
  }
  check(nOrder>nRound*20, "%d indexes were written in order", (int)nOrder);
}

/* A statement of few rows, at random.  It may fail */
static void single(Text *p){
  unsigned b = dice(997), id = 1+dice(1200);
  const char *zOr = dice(6) ? "" : dice(2) ? " OR REPLACE" : dice(2) ? " OR IGNORE" : " OR FAIL";
  switch( dice(18) ){
    case 14:
      textAppend(p, "INSERT%s INTO p VALUES(%u,%u)", zOr, 1+dice(60), b);
      break;
    case 15:
      textAppend(p, "INSERT%s INTO h(k,z) VALUES(%u,%u)", zOr, 1+dice(70), b);
      break;
    case 16:
      if( dice(2) ) textAppend(p, "DELETE FROM p WHERE k=%u", 1+dice(70));
      else textAppend(p, "DELETE FROM h WHERE id=%u", 1+dice(200));
      break;
    case 17:
      textAppend(p, "UPDATE%s p SET k=k+%u, v=%u WHERE k=%u", zOr, dice(3), b, 1+dice(60));
      break;
    case 0: case 1: case 2: case 3: case 4:
      textAppend(p, "INSERT%s INTO t(a,b,c,d,e) VALUES(%s, %u, 'Abc%u', %u/4.0, printf('%%.*c', %u, 'x'))", zOr,
                 dice(3) ? "NULL" : "-7", b, dice(30), dice(99), dice(8) ? dice(9) : dice(900));
      break;
    case 5:
      textAppend(p, "INSERT%s INTO t(id,a,b,e) VALUES(%u,%u,%u,%s)", zOr, id, dice(9), b, dice(5) ? "'e'" : "NULL");
      break;
    case 6:
      textAppend(p, "INSERT%s INTO t(id,b,e) VALUES(NULL,%u,'m'),(NULL,%u,'n'),(%u,%u,%s),(NULL,3,'p')", zOr,
                 b, b/2, id, b/3, dice(3) ? "'o'" : "NULL");
      break;
    case 7: case 8:
      textAppend(p, "DELETE FROM t WHERE id=%u", id);
      break;
    case 9: case 10:
      textAppend(p, "UPDATE%s t SET b=%u, a=%s, e=%s WHERE id=%u", zOr, b, dice(2) ? "a" : "e",
                 dice(9) ? "e||'+'" : "NULL", id);
      break;
    case 11:
      textAppend(p, "INSERT INTO t(id,b,e) VALUES(%u,%u,'up') ON CONFLICT(id) DO UPDATE SET b=b+1, e=excluded.e||e",
                 id, b);
      break;
    case 12:
      textAppend(p, "UPDATE t SET id=id+%u WHERE id=%u", dice(3), id);
      break;
    default:
      textAppend(p, "SELECT * FROM t WHERE id=%u", id);
      break;
  }
}

/* One that looks at indexes, or is not known */
static void other(Text *p){
  unsigned b = dice(900);
  static const char *const az[] = {
    "SELECT count(*), sum(id) FROM t INDEXED BY i2 WHERE b>5", "PRAGMA page_count >= 0", "PRAGMA data_version > 0",
    "CREATE INDEX IF NOT EXISTS extra ON t(d)", "DROP INDEX IF EXISTS extra", "ANALYZE t", "REINDEX i1",
    "CREATE TABLE IF NOT EXISTS u(x)", "SELECT count(*) FROM sqlite_schema", "INSERT INTO t(b,e) SELECT b+1, e FROM t WHERE id%40=1",
    "DELETE FROM t WHERE e='up' OR e IS NULL",
  };
  if( dice(2) ) textAppend(p, "SELECT id FROM t WHERE b BETWEEN %u AND %u ORDER BY b, id", b, b+dice(90));
  else textAppend(p, "%s", az[dice(sizeof(az)/sizeof(az[0]))]);
}

/* Transactions of many statements */
static void testSingles(void){
  int nRound = longRun() ? 60 : 8;
  sqlite3_int64 n = 0;
  int i, k;
  for(i=0; i<nRound; i++){
    int nOpen = 0;
    iRandom = 1077+i;
    begin(i%3==0 ? "PRAGMA cache_size=5" : i%3==1 ? "PRAGMA journal_mode=wal" : "PRAGMA auto_vacuum=full; VACUUM",
          0, i%2 ? 0 : i%N_INDEX, 0);
    if( i%2 ) both("DROP TABLE t; CREATE TABLE t(id INTEGER PRIMARY KEY, a, b INT, c TEXT, d REAL, e NOT NULL)"), both(azIndex[0]);
    if( i%4==3 ) both("CREATE UNIQUE INDEX u1 ON t(b, id)");
    if( i%N_INDEX ) both("DROP INDEX IF EXISTS i2; CREATE INDEX i2 ON t(b DESC, c)");
    both("CREATE TABLE p(k INTEGER PRIMARY KEY, v); CREATE INDEX pv ON p(v);"
         "CREATE TABLE h(id INTEGER PRIMARY KEY, k REFERENCES p, z); CREATE INDEX hz ON h(z);");
    if( i%3!=1 ) both("PRAGMA foreign_keys=on");
    if( i%5==4 ) both("CREATE INDEX hk ON h(k)");
    bNoPlans = 1;
    for(k=0; k<1500; k++){
      Text sql = {0,0,0};
      unsigned r = dice(300);
      if( nOpen==0 ){
        textAppend(&sql, dice(2) ? "BEGIN" : "SAVEPOINT top");
        nOpen = sql.z[0]=='B' ? 1 : 2;
      }else if( r==0 ){
        textAppend(&sql, nOpen==1 || dice(2) ? "COMMIT" : "RELEASE top");
        nOpen = 0;
      }else if( r==1 ){
        textAppend(&sql, "ROLLBACK");
        nOpen = 0;
      }else if( r<5 ){
        textAppend(&sql, "SAVEPOINT s");
      }else if( r<8 ){
        textAppend(&sql, dice(2) ? "ROLLBACK TO s" : "RELEASE s");
      }else if( r<12 ){
        other(&sql);
      }else{
        single(&sql);
      }
      pairSame(sql.z);
      if( r%9==0 ) pairSame("SELECT changes(), total_changes(), last_insert_rowid()");
      textClear(&sql);
      check(sqlite3_get_autocommit(adb[0])==(nOpen==0), "%d: in a transaction or not", i);
      if( k%200==199 ) same("SELECT * FROM p LEFT JOIN h USING(k) ORDER BY k, id");
    }
    bNoPlans = 0;
    if( nOpen ) both("COMMIT");
    same("SELECT count(*) FROM t");
    n += counted(adb[0], zInOrder);
    for(k=0; k<2; k++) apLib[k]->close(adb[k]);
    adb[0] = openDb(&ours, azFile[1], 0);
    adb[1] = openDb(&stock, azFile[0], 0);
    checkIntegrity(&stock, adb[1], "single statements");
    runOn(&stock, adb[1], "DELETE FROM t WHERE b%3=0; UPDATE t SET b=b+1, e='q'||e; DELETE FROM t WHERE b%2");
    checkIntegrity(&stock, adb[1], "after single statements");
    end("singles");
  }
  check(n>nRound*15, "%d indexes were written in order", (int)n);
}

/* Changes wait beyond the end of statements, and until when */
static sqlite3_int64 nSeen;
static int seen(int bWritten, const char *zSql){
  sqlite3_int64 n = counted(adb[0], zInOrder);
  check((n>nSeen)==bWritten, "%s: entries were %swritten", zSql, n>nSeen ? "" : "not ");
  nSeen = n;
  return 0;
}
static void rows(int n, int iFirst){
  int i;
  for(i=0; i<n; i++){
    Text sql = {0,0,0};
    textAppend(&sql, "INSERT INTO t(a,b,c,e) VALUES(%d,%d,'c%d','e%d')", (i+iFirst)*7919%1009,
               (i+iFirst)*31%997, i, (i+iFirst)*17%1009);
    both(sql.z);
    textClear(&sql);
  }
}
static void testPending(void){
  static const struct {
    const char *zSql;
    int bWritten;
  } aStep[] = {
    { "SELECT * FROM t WHERE id=5", 0 },
    { "SELECT count(*) FROM o", 0 },
    { "INSERT INTO o VALUES(1)", 0 },
    { "UPDATE t SET d=1 WHERE id=7", 0 },
    { "DELETE FROM t WHERE id=9", 0 },
    { "SELECT id FROM t INDEXED BY i2 WHERE b=5", 1 },
    { "SELECT count(*) FROM t NOT INDEXED WHERE c>'a'", 0 },
    { "UPDATE t SET d=2 WHERE d=1", 1 },
    { "PRAGMA integrity_check", 1 },
    { "SAVEPOINT s", 1 },
    { "RELEASE s", 1 },
    { "CREATE INDEX x ON o(v)", 1 },
    { "SELECT x FROM (SELECT sum(v) AS x FROM o)", 0 },
    { "ROLLBACK", 0 },
  };
  unsigned i;
  int k;
  begin("", 0, 0, 0);
  both("CREATE TABLE o(v)");
  bNoPlans = 1;
  for(i=0; i<sizeof(aStep)/sizeof(aStep[0]); i++){
    both("BEGIN");
    rows(200, i*200);
    nSeen = counted(adb[0], zInOrder);
    pairSame(aStep[i].zSql);
    seen(aStep[i].bWritten, aStep[i].zSql);
    for(k=0; k<2; k++) apLib[k]->exec(adb[k], "COMMIT", 0, 0, 0);
    same("SELECT count(*) FROM t");
  }
  both("DROP INDEX IF EXISTS x");
  /* Few changes at a time: they wait with more */
  both("BEGIN");
  rows(200, 1);
  for(i=0; i<30; i++){
    rows(1, i);
    pairSame("SELECT id FROM t INDEXED BY i2 WHERE b=5");
  }
  both("COMMIT");
  same("SELECT count(*) FROM t");
  /* Beside a statement that has not ended */
  {
    sqlite3_stmt *p = prepared(adb[0], "SELECT d FROM t");
    both("BEGIN");
    rows(300, 3);
    nSeen = counted(adb[0], zInOrder);
    sqlite3_step(p);
    seen(0, "SELECT d FROM t");
    rows(1, 5);
    seen(1, "a row beside a SELECT that has not ended");
    rows(50, 8);
    sqlite3_finalize(p);
    pairSame("SELECT id FROM t INDEXED BY i2 WHERE b=5");
    both("COMMIT");
    same("SELECT count(*) FROM t");
  }
  /* Off: those that wait go on.  A second file, whose transaction begins meanwhile */
  both("BEGIN");
  rows(100, 4);
  execute(adb[0], "PRAGMA hp_offload=off");
  rows(100, 4);
  both("DELETE FROM t WHERE id=(SELECT max(id) FROM t); UPDATE t SET b=b+1 WHERE id=5");
  execute(adb[0], "PRAGMA hp_offload=force");
  both("CREATE TEMP TABLE w(x); CREATE INDEX wx ON w(x)");
  rows(100, 9);
  both("INSERT INTO w VALUES(1); DELETE FROM t WHERE id=5");
  rows(3, 11);
  both("DELETE FROM t WHERE id=6; DELETE FROM t WHERE id=(SELECT max(id) FROM t)");
  both("COMMIT; DROP TABLE w");
  same("SELECT count(*) FROM t");
  /* AUTOINCREMENT */
  both("CREATE TABLE n(id INTEGER PRIMARY KEY AUTOINCREMENT, x); CREATE INDEX nx ON n(x); BEGIN");
  nSeen = counted(adb[0], zInOrder);
  for(i=0; i<100; i++){
    Text sql = {0,0,0};
    textAppend(&sql, "INSERT INTO n(x) VALUES(%u)", i*7919%1009);
    both(sql.z);
    textClear(&sql);
  }
  both("COMMIT");
  seen(1, "AUTOINCREMENT");
  same("SELECT * FROM n ORDER BY x");
  /* Two files, and one before them goes */
  both("ATTACH ':memory:' AS first; ATTACH ':memory:' AS m; CREATE TABLE m.v(x, y); CREATE INDEX m.vx ON v(x)");
  both("BEGIN");
  rows(100, 1);
  for(i=0; i<200; i++){
    Text sql = {0,0,0};
    textAppend(&sql, "INSERT INTO m.v VALUES(%u,%u)", i*7919%1009, i);
    both(sql.z);
    textClear(&sql);
    if( i==100 ) pairSame("DETACH first");
  }
  pairSame("SELECT y FROM m.v INDEXED BY vx WHERE x BETWEEN 100 AND 200 ORDER BY x");
  both("COMMIT");
  same("SELECT count(*) FROM v");
  pairSame("PRAGMA m.integrity_check");
  bNoPlans = 0;
  /* The connection is closed within the transaction, as pending as they are */
  both("BEGIN");
  rows(300, 1);
  for(k=0; k<2; k++){
    apLib[k]->close(adb[k]);
    adb[k] = openDb(apLib[k], azFile[k], 0);
  }
  same("SELECT count(*) FROM t");
  end("pending");
}

/* Writing what waits fails: the transaction is rolled back, whoever was to begin */
static void testPendingFails(void){
  static const char *const azNext[] = {
    "COMMIT", "SELECT id FROM t INDEXED BY i2 WHERE b=5", "SAVEPOINT s", "INSERT INTO t(b) SELECT b FROM t WHERE b<90",
  };
  int nFailed = 0;
  int i, n, rc;
  /* Of the second half memory runs out */
  for(i=0; i<8; i++){
    sqlite3_int64 nRow;
    if( i==4 ) failMemory(1);
    begin("PRAGMA cache_size=5", 0, 0, 300);
    nRow = integer(&ours, adb[0], "SELECT count(*) FROM t");
    for(n=0, rc=SQLITE_ERROR; n<400; n+=(n<60 || longRun() ? 1 : 13)){
      sqlite3 *db = adb[0];
      int bOver;
      bNoPlans = 1;
      execute(db, "BEGIN");
      for(int k=0; k<60; k++){
        Text sql = {0,0,0};
        textAppend(&sql, "INSERT INTO t(a,b,c,e) VALUES(%d,%d,'c%d','e%d')", k*7919%1009, k*31%997, k, k*17%1009);
        execute(db, sql.z);
        textClear(&sql);
      }
      if( i<4 && i%2==0 ) stopAt(db, 1, n);
      if( i<4 && i%2 ) execute(db, n%2 ? "PRAGMA max_page_count=1" : "PRAGMA max_page_count=100000");
      if( i>=4 ) failAfter(n, n%2);
      rc = sqlite3_exec(db, azNext[i%4], 0, 0, 0);
      fault.nLeft = -1;
      nFailed += rc!=SQLITE_OK;
      (void)stopEnd(db);
      execute(db, "PRAGMA max_page_count=100000");
      bOver = sqlite3_get_autocommit(db);
      check(rc==SQLITE_OK || rc==SQLITE_INTERRUPT || rc==SQLITE_FULL || (i>=4 && rc==SQLITE_NOMEM),
            "%s: error %d", azNext[i%4], rc);
      if( rc && bOver ){
        sqlite3_int64 x = integer(&ours, db, "SELECT count(*) FROM t");
        /* SQLite may ask the progress handler after it has committed */
        check(x==nRow || (i==0 && x==nRow+60), "%s %d: error %d, %d rows remain, not %d", azNext[i%4], n, rc,
              (int)x, (int)nRow);
      }
      checkIntegrity(&ours, db, azNext[i%4]);
      if( !bOver ) execute(db, "ROLLBACK");
      execute(db, "DELETE FROM t WHERE id>300");
    }
    check(nFailed>(i>=4 ? 20 : i%2 ? -1 : 1), "%s failed %d times", azNext[i%4], nFailed);
    nFailed = 0;
    end("pending fails");
  }
  failMemory(0);
}

/* An entry that is missing in the index, and writable_schema, which lets it pass */
static void testMissing(void){
  int i;
  for(i=0; i<3; i++){
    begin("", 0, 0, 900);
    both("PRAGMA writable_schema=on;"
         "UPDATE sqlite_schema SET rootpage=(SELECT rootpage FROM sqlite_schema WHERE name='i3') WHERE name='i1';"
         "UPDATE sqlite_schema SET sql='CREATE INDEX i1 ON t(e)' WHERE name='i1';"
         "DELETE FROM sqlite_schema WHERE name='i3'");
    for(int k=0; k<2; k++){
      apLib[k]->close(adb[k]);
      adb[k] = openDb(apLib[k], azFile[k], 0);
    }
    execute(adb[0], "PRAGMA hp_offload=force");
    both("PRAGMA writable_schema=on; UPDATE sqlite_schema SET sql='CREATE INDEX i1 ON t(d)' WHERE name='i1'");
    for(int k=0; k<2; k++){
      apLib[k]->close(adb[k]);
      adb[k] = openDb(apLib[k], azFile[k], 0);
    }
    execute(adb[0], "PRAGMA hp_offload=force");
    if( i==1 ) both("BEGIN");
    if( i==2 ) both("PRAGMA writable_schema=on");
    pairSame("DELETE FROM t WHERE +b%3=0");
    pairSame("SELECT changes()");
    pairSame("SELECT count(*), sum(id) FROM t NOT INDEXED");
    end("missing");
  }
}

/* Little memory: entries are written several times in a statement */
static void testMemory(void){
  begin("", 0, 0, 10);
  execute(adb[0], "PRAGMA hp_memory=8388608");
  deferred("INSERT INTO t(a,b,c,d,e) SELECT value*7919%10007, value*31%50021, 'x'||value, value,"
           " printf('%.*c%d', value%200, 'y', value*17%5003) FROM " SERIES("30000"), 3);
  deferred("DELETE FROM t WHERE +b%3=1", 3);
  execute(adb[0], "PRAGMA hp_memory=1000000");
  deferred("UPDATE t SET a=b, b=a, e=a", 0);
  end("memory");
}

/* Hooks are called as often, with the same rows */
static void countRow(void *p, int op, const char *zDb, const char *zTab, sqlite3_int64 id){
  sqlite3_uint64 *pn = p;
  (void)zDb;
  (void)zTab;
  *pn = *pn*31 + (unsigned)op + (sqlite3_uint64)id;
}
static void testHooks(void){
  sqlite3_uint64 an[2];
  sqlite3_int64 n;
  int i;
  begin("", 0, 0, 900);
  n = counted(adb[0], zInOrder);
  for(i=0; i<2; i++){
    an[i] = 0;
    sqlite3_update_hook(adb[0], countRow, &an[i]);
    execute(adb[0], i ? "PRAGMA hp_offload=off" : "PRAGMA hp_offload=force");
    execute(adb[0], "BEGIN; DELETE FROM t WHERE +b%3=0; UPDATE t SET e=id, b=1-b; REPLACE INTO t SELECT id+1,a,b,c,d,e FROM t;"
                    "INSERT INTO t(a,b) SELECT e, a FROM t; ROLLBACK");
  }
  check(an[0]==an[1], "the update hook saw other rows");
  check(counted(adb[0], zInOrder)==n, "they were written in order, beside a hook");
  sqlite3_update_hook(adb[0], 0, 0);
  end("hooks");
}

/* Is the table as it was, or as it is to be; and does the index agree? */
static void allOrNothing(sqlite3 *db, const char *zWhat, int n, int rc, sqlite3_int64 iBefore, sqlite3_int64 iAfter){
  sqlite3_int64 x;
  fault.nLeft = -1;
  checkIntegrity(&ours, db, zWhat);
  x = integer(&ours, db, "SELECT count(*)*1000000+total(length(e)+b%7) FROM t NOT INDEXED");
  check(x==(rc ? iBefore : iAfter), "%s %d: error %d, and the table is %s", zWhat, n, rc,
        x==iBefore ? "as before" : x==iAfter ? "changed" : "something else");
}

static const char *const azFaulty[] = {
  "INSERT INTO t(a,b,c,d,e) SELECT e, b*7%991, c, d, a||'5' FROM t WHERE +b%3=1",
  "DELETE FROM t WHERE +b%3=0",
  "UPDATE t SET a=e, b=b*31%997, e=a||'4'",
};

/* The n-th allocation, write, or call of the progress handler fails */
static void testFaults(void){
  int iStatement, k, n;
  for(k=0; k<4; k++){
    if( k==1 ) failMemory(1);
    if( k>=2 ) failWrites(1);
    for(iStatement=0; iStatement<3; iStatement++){
      sqlite3_int64 iBefore, iAfter;
      int rc = SQLITE_ERROR;
      int nFailed = 0;
      static const char zSum[] = "SELECT count(*)*1000000+total(length(e)+b%7) FROM t NOT INDEXED";
      begin(k==2 ? "PRAGMA cache_size=5" : k==3 ? "PRAGMA journal_mode=wal; PRAGMA cache_size=5" : "", 0, 0, 300);
      execute(adb[0], "PRAGMA synchronous=normal");
      iBefore = integer(&ours, adb[0], zSum);
      execute(adb[0], "BEGIN");
      execute(adb[0], azFaulty[iStatement]);
      iAfter = integer(&ours, adb[0], zSum);
      execute(adb[0], "ROLLBACK");
      for(n=0; rc || fault.nFailed; n+=(n<30 || longRun() ? 1 : 1+n/16)){
        sqlite3 *db = adb[0];
        if( k==0 ) stopAt(db, 300, n);
        else failAfter(n, n%2);
        rc = sqlite3_exec(db, "BEGIN", 0, 0, 0);
        if( rc==SQLITE_OK ) rc = sqlite3_exec(db, azFaulty[iStatement], 0, 0, 0);
        fault.nLeft = -1;
        (void)stopEnd(db);
        nFailed += rc!=SQLITE_OK;
        if( rc==SQLITE_OK ) allOrNothing(db, azFaulty[iStatement], n, rc, iBefore, iAfter);
        sqlite3_exec(db, "ROLLBACK", 0, 0, 0);
        allOrNothing(db, azFaulty[iStatement], n, 1, iBefore, iAfter);
      }
      check(nFailed>5, "%s failed %d times (%d)", azFaulty[iStatement], nFailed, k);
      apLib[0]->close(adb[0]);
      adb[0] = openDb(&ours, azFile[1], 0);
      apLib[1]->close(adb[1]);
      adb[1] = openDb(&stock, azFile[0], 0);
      checkIntegrity(&stock, adb[1], azFaulty[iStatement]);
      end("faults");
    }
    if( k==1 ) failMemory(0);
    if( k>=2 ) failWrites(0);
  }
}

/* A file that may not grow: nothing of the statement remains */
static void testFull(void){
  int i;
  for(i=0; i<2; i++){
    begin("", 0, 0, 900);
    both(i ? "BEGIN; DELETE FROM t WHERE b<5" : "PRAGMA user_version=3");
    execute(adb[0], "PRAGMA max_page_count=1");
    runOn(&stock, adb[1], "PRAGMA max_page_count=1");
    bRowid = 0;
    same("INSERT INTO t(a,b,c,d,e) SELECT e, b*7%991, c, d, a||'5' FROM t");
    same("UPDATE t SET a=e||e||e, b=b*31%997, e=a||'4'||e||e");
    bRowid = 1;
    if( i ) pairSame("COMMIT");
    end("full");
  }
}

/* States in which entries were lost, doubled or misplaced once */
static int always(void *p){
  (void)p;
  return 1;
}
static int backward(void *p, int n, const void *a, int m, const void *b){
  int c = memcmp(b, a, n<m ? n : m);
  (void)p;
  return c ? c : m-n;
}
static void testStates(void){
  int k;
  bNoPlans = 1;
  /* An immediate foreign key that fails when the statement ends */
  begin("PRAGMA foreign_keys=on", 0, 0, 0);
  both("CREATE TABLE o(p REFERENCES t(id)); INSERT INTO t(id,a,b) VALUES(100000,1,2);"
       "INSERT INTO o VALUES(100000); BEGIN");
  rows(200, 1);
  pairSame("DELETE FROM t WHERE id=100000");
  pairSame("UPDATE t SET id=5, a=7 WHERE id=100000");
  pairSame("SELECT id FROM t INDEXED BY i1 WHERE a=1");
  pairSame("COMMIT");
  same("SELECT count(*) FROM t");
  end("states");
  /* BINARY, spelled out, is not RTRIM */
  begin("", 0, 0, 0);
  both("CREATE INDEX i4 ON t(c COLLATE binary); CREATE INDEX i5 ON t(zeroblob(length(a)))");
  same("INSERT INTO t(a,b,c) SELECT value%9, value, 'p'||(value*7919%50)"
       "||substr('                    ',1,(value*7919>>3)%20) FROM " SERIES("20000"));
  pairSame("SELECT c, id FROM t INDEXED BY i4 WHERE c>''");
  /* A zeroblob in a register */
  both("BEGIN");
  rows(200, 1);
  pairSame("DELETE FROM t WHERE id=7");
  pairSame("UPDATE t SET a='long' WHERE id=8");
  both("COMMIT");
  same("SELECT count(*) FROM t");
  /* A query that is interrupted leaves the transaction alone */
  both("BEGIN");
  for(k=0; k<60; k++) rows(200, k*200);
  sqlite3_progress_handler(adb[0], 1, always, 0);
  sqlite3_exec(adb[0], "SELECT id FROM t INDEXED BY i2 WHERE b=5", 0, 0, 0);
  sqlite3_progress_handler(adb[0], 0, 0, 0);
  check(sqlite3_get_autocommit(adb[0])==0, "a query has rolled the transaction back");
  both("COMMIT");
  same("SELECT count(*) FROM t");
  /* Without a journal a rollback takes nothing back */
  both("ATTACH ':memory:' AS m; PRAGMA m.journal_mode=off; CREATE TABLE m.q(a, b); CREATE INDEX m.qb ON q(b); BEGIN");
  for(k=0; k<300; k++){
    Text sql = {0,0,0};
    textAppend(&sql, "INSERT INTO q VALUES(%d, %d)", k, k*7919%1009);
    both(sql.z);
    textClear(&sql);
  }
  both("ROLLBACK");
  pairSame("SELECT a FROM q INDEXED BY qb WHERE b>5");
  pairSame("PRAGMA m.integrity_check");
  both("DETACH m");
  /* The definition of an index changes */
  both("BEGIN");
  rows(200, 1);
  both("DELETE FROM t WHERE id=11");
  check(sqlite3_create_collation(adb[0], "NOCASE", SQLITE_UTF8, 0, backward)==0, "NOCASE");
  both("COMMIT");
  end("states");
}

int main(int argc, char **argv){
  static const Test aTest[] = {
    { "same", testSame }, { "which", testWhich }, { "fails", testFails }, { "storm", testStorm },
    { "singles", testSingles }, { "pending", testPending }, { "pendingfails", testPendingFails },
    { "missing", testMissing }, { "memory", testMemory }, { "hooks", testHooks },
    { "states", testStates },
    { "faults", testFaults }, { "full", testFull },
  };
  if( argc<2 || pairLoad(argv[1]) ){
    fprintf(stderr, "usage: defer STOCK [NAME]\n");
    return 2;
  }
  if( !hasEngine() ) return finish();
  azFile[0] = temporaryFile("defer-ours.db");
  azFile[1] = temporaryFile("defer-stock.db");
  runTests(aTest, sizeof(aTest)/sizeof(aTest[0]), argc<3 ? 0 : argv[2]);
  return finish();
}
