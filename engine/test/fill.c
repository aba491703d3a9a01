/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** CREATE TABLE AS SELECT and INSERT INTO an empty table SELECT (hp_fill.c,
** hp_spool.c): rowids, values and records are those of stock, to the byte, and
** so are changes(), errors, and what these leave; stock finds nothing wrong
** with the table, goes on to insert into it, and deletes from it.
**
**    fill STOCK [NAME]     STOCK is the unpatched library; only test NAME
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tree.h"

static const char zFilled[] = "tables filled by a scan";

/* The table that is read: a column of each affinity, and values of all types in
** each, those that an affinity changes, and those that it nearly changes */
static const char zTable[] =
  "CREATE TABLE s(id INTEGER PRIMARY KEY, a, i INT, r REAL, t TEXT, n NUMERIC, b BLOB, w TEXT);"
  "CREATE TABLE v(k INTEGER PRIMARY KEY, x);"
  "INSERT INTO v(x) VALUES(NULL),(0),(1),(-1),(127),(-129),(32768),(8388608),(2147483648),"
  " (140737488355327),(140737488355328),(-140737488355328),(-140737488355329),(9223372036854775807),"
  " (-9223372036854775807-1),(9007199254740993),(0.0),(-0.0),(1.0),(2.5),(-3.0),(1e15),(1e18),(1e19),"
  " (140737488355327.0),(140737488355328.0),(-140737488355328.0),(-140737488355329.0),(1e300),(9e999),(-9e999),"
  " ('12'),('-7'),('1.5'),('3.0'),('1e3'),(' 8 '),('0x1F'),('9223372036854775808'),('abc'),(''),('1x'),"
  " (x''),(x'3132'),(x'00ff'),('Inf'),('nan'),('-0'),('0.0');";
static const char zRows[] =
  "INSERT INTO s(a,i,r,t,n,b,w) SELECT x, x, x, x, x, x,"
  " CASE value%11 WHEN 0 THEN printf('%.*c',value%900,'x') WHEN 5 THEN NULL ELSE value||'y' END"
  " FROM " SERIES("40") ", v;"
  "INSERT INTO s(a,i,r,t,n,b,w) SELECT value*1.5, value, value/4.0, value||'t', value*7919, value, printf('%.*c',"
  " CASE WHEN value%100 THEN value%50 ELSE 9000 END,'z') FROM " SERIES("700");

/* Two new databases.  zBegin is for the empty ones */
static void begin(const char *zBegin){
  int i;
  for(i=0; i<2; i++){
    removeDb(azFile[i]);
    adb[i] = openDb(apLib[i], azFile[i], 0);
  }
  both(zBegin);
  both("PRAGMA synchronous=OFF");
  both("BEGIN");
  both(zTable);
  both(zRows);
  both("DELETE FROM s WHERE id%50=7");
  both("COMMIT");
  execute(adb[0], "PRAGMA hp_offload=force");
}

/* Run zSql on both.  Ours is to fill the table by a scan if bFilled */
static void fill(const char *zSql, int bFilled){
  sqlite3_int64 n = counted(adb[0], zFilled);
  pairSame(zSql);
  check(counted(adb[0], zFilled)==n+bFilled, "%s: %staken over", zSql, bFilled ? "not " : "");
  pairSame("SELECT changes(), total_changes(), last_insert_rowid()");
}

/* Close both.  The tables x.. are the same in both files, and that of ours is sound; of the two it is open
** with stock then */
static void endSame(const char *zWhat){
  Text names = {0,0,0};
  char *z;
  int i;
  pairSame("SELECT name, sql FROM sqlite_schema");
  for(i=0; i<2; i++) check(apLib[i]->close(adb[i])==SQLITE_OK, "%s: a statement is left", zWhat);
  adb[1] = openDb(&stock, azFile[0], 0);
  checkIntegrity(&stock, adb[1], zWhat);
  answer(&stock, adb[1], "SELECT CAST(substr(name,2) AS INT) FROM sqlite_schema WHERE name GLOB 'x[0-9]*'", &names);
  stock.close(adb[1]);
  for(z=names.z; z && *z; z=strchr(z, '\n')+1){
    Text a = {0,0,0}, b = {0,0,0};
    char zName[20];
    int nOurs, nStock, k, m;
    snprintf(zName, sizeof(zName), "x%d", atoi(z));
    tree(azFile[0], zName, 1, &a, &nOurs);
    tree(azFile[1], zName, 1, &b, &nStock);
    for(m=k=0; m<a.n && m<b.n && a.z[m]==b.z[m]; m++) if( a.z[m]=='\n' ) k = m+1;
    check(a.n==b.n && m==a.n, "%s: rows of %s differ:\n%.100s\n%.100s", zWhat, zName,
          m<a.n ? &a.z[k] : "", m<b.n ? &b.z[k] : "");
    check(nOurs<=nStock+nStock/50+1, "%s: %s has %d pages, stock's %d", zWhat, zName, nOurs, nStock);
    textClear(&a);
    textClear(&b);
  }
  textClear(&names);
  adb[1] = openDb(&stock, azFile[0], 0);
}

static void finishPair(void){
  stock.close(adb[1]);
  removeDb(azFile[0]);
  removeDb(azFile[1]);
  check(sqlite3_memory_used()==0, "%lld bytes are left", sqlite3_memory_used());
}

/* Stock inserts into table x1 of ours, and deletes from it, until little is left */
static void storm(const char *zWhat){
  sqlite3 *db = adb[1];
  int i;
  runOn(&stock, db, "PRAGMA synchronous=OFF");
  for(i=0; i<5; i++){
    Text sql = {0,0,0};
    textAppend(&sql, "INSERT INTO x1 SELECT * FROM x1 WHERE rowid%%5=%d;"
               "DELETE FROM x1 WHERE rowid%%4=%d;"
               "INSERT OR IGNORE INTO x1(rowid) SELECT rowid*3+1 FROM x1 WHERE rowid%%7=%d;"
               "UPDATE x1 SET w=w||'more' WHERE rowid%%3=%d;", i%5, i%4, i, i%3);
    runOn(&stock, db, sql.z);
    checkIntegrity(&stock, db, zWhat);
    textClear(&sql);
  }
  runOn(&stock, db, "DELETE FROM x1 WHERE rowid>5");
  checkIntegrity(&stock, db, zWhat);
}

/* Statements that are taken over; the tables that they need are there before */
static const char *const azFill[] = {
  "CREATE TABLE x1 AS SELECT * FROM s",
  "CREATE TABLE x2 AS SELECT a, i+1 AS j, t||'x' AS u, r*2, CAST(a AS TEXT) c, CAST(a AS REAL) d FROM s WHERE i%3",
  "CREATE TABLE x3 AS SELECT r, n, +r, b, a, r, 1.0, 3, 'x', NULL, r AS z FROM s WHERE id>50 AND id<1900",
  "CREATE TABLE x4 AS SELECT a, w, length(w), upper(w), w IS NULL FROM s WHERE w LIKE '%1%' OR a IS NULL",
  "CREATE TABLE x5 AS SELECT * FROM s WHERE 0",
  "CREATE TABLE x6 AS SELECT rowid, r+0.0 AS r, i, i AS i2 FROM s WHERE a IN (1,2.5,'abc',x'3132',3)",
  "CREATE TABLE x7 AS SELECT * FROM (SELECT t AS q, r, id FROM s WHERE id%2) WHERE id%3",
  "CREATE TABLE x8 AS SELECT CASE WHEN i>0 THEN r ELSE t END c, coalesce(a,w) d, a=i, a||b FROM s",
  "CREATE TABLE x9 AS SELECT type, name, sql FROM sqlite_schema",
  "INSERT INTO x10 SELECT a,a,a,a,a,a FROM s",
  "INSERT INTO x11 SELECT r,r,r,r,r,r FROM s",
  "INSERT INTO x12 SELECT t,t,t,t,t,t FROM s",
  "INSERT INTO x13 SELECT n,i,n,i,n,i FROM s",
  "INSERT INTO x14 SELECT b,b,b,b,b,b FROM s WHERE id%2",
  "INSERT INTO x15(f,a,c) SELECT i+1, w, r FROM s",
  "INSERT INTO x16(b) SELECT t FROM s WHERE id>100",
  "INSERT INTO x17 SELECT id, w, r FROM s",
  "INSERT INTO x18 SELECT NULL, w, r FROM s",
  "INSERT INTO x19(v, k) SELECT w, id*2+1 FROM s",
  "INSERT INTO x20(v) SELECT a FROM s WHERE a IS NOT NULL",
  "INSERT INTO x21 SELECT id, i FROM s WHERE i IS NOT NULL",
  "INSERT OR REPLACE INTO x22 SELECT t, a FROM s",
  "INSERT OR IGNORE INTO x23(rowid, a) SELECT id, r FROM s",
  "INSERT INTO x24 SELECT k, x, k, k, 1.5, '2.0' FROM v",
};
static const char zTargets[] =
  "CREATE TABLE x10(a INT, b TEXT, c REAL, d NUMERIC, e BLOB, f);"
  "CREATE TABLE x11(a INT, b TEXT, c REAL, d NUMERIC, e BLOB, f);"
  "CREATE TABLE x12(a INT, b TEXT, c REAL, d NUMERIC, e BLOB, f);"
  "CREATE TABLE x13(a INT, b TEXT, c REAL, d NUMERIC, e BLOB, f);"
  "CREATE TABLE x14(a INT, b TEXT, c REAL, d NUMERIC, e BLOB, f);"
  "CREATE TABLE x15(a TEXT, b REAL DEFAULT 7, c, d TEXT DEFAULT 12, e DEFAULT (1+2), f INT, g DEFAULT -0.5);"
  "CREATE TABLE x16(a NUMERIC DEFAULT '12', b, c NOT NULL DEFAULT x'00', d REAL DEFAULT '3');"
  "CREATE TABLE x17(k INTEGER PRIMARY KEY, w TEXT, r REAL);"
  "CREATE TABLE x18(k INTEGER PRIMARY KEY, w TEXT, r REAL);"
  "CREATE TABLE x19(v, k INTEGER PRIMARY KEY);"
  "CREATE TABLE x20(k INTEGER PRIMARY KEY, v NOT NULL);"
  "CREATE TABLE x21(id INT NOT NULL, i REAL NOT NULL);"
  "CREATE TABLE x22(t, a);"
  "CREATE TABLE x23(a TEXT);"
  "CREATE TABLE x24(k TEXT, x INT, c, d REAL, e INT, f INT);";

/* Everything, in files of all kinds */
static void testSame(void){
  static const char *const azBegin[] = {
    "PRAGMA page_size=512",
    "PRAGMA page_size=1024; PRAGMA journal_mode=WAL",
    "PRAGMA page_size=512; PRAGMA auto_vacuum=full",
    "PRAGMA page_size=4096; PRAGMA auto_vacuum=incremental; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=2",
    "PRAGMA page_size=65536",
    "PRAGMA page_size=512; PRAGMA cache_size=10; PRAGMA secure_delete=on",
    "PRAGMA page_size=1024; PRAGMA temp_store=memory; PRAGMA locking_mode=exclusive; PRAGMA journal_mode=off",
  };
  unsigned i, k;
  for(i=0; i<sizeof(azBegin)/sizeof(azBegin[0]); i++){
    begin(azBegin[i]);
    both(zTargets);
    for(k=0; k<sizeof(azFill)/sizeof(azFill[0]); k++) fill(azFill[k], 1);
    pairSame("SELECT rowid, * FROM x15 WHERE rowid%10=1");
    endSame(azBegin[i]);
    storm(azBegin[i]);
    finishPair();
  }
}

/* What is left to SQLite */
static void lowerX(sqlite3_context *p, int n, sqlite3_value **ap){
  (void)n;
  sqlite3_result_value(p, ap[0]);
}
static void countRows(void *p, int op, const char *zDb, const char *zTab, sqlite3_int64 id){
  (void)op;
  (void)zDb;
  (void)zTab;
  *(sqlite3_int64*)p += id;
}
static void testRefused(void){
  static const char *const azTo[] = {
    "CREATE TABLE x1(a, w); CREATE INDEX y ON x1(a)",
    "CREATE TABLE x1(a, w UNIQUE)",
    "CREATE TABLE x1(a, w CHECK(length(w)<10000))",
    "CREATE TABLE x1(a, w, g AS (a+1))",
    "CREATE TABLE x1(a, w, g TEXT AS (a||1) STORED)",
    "CREATE TABLE x1(a ANY, w TEXT) STRICT",
    "CREATE TABLE x1(a, w, k INTEGER PRIMARY KEY AUTOINCREMENT)",
    "CREATE TABLE x1(a, w); CREATE TABLE z(c); CREATE TRIGGER y AFTER INSERT ON x1 BEGIN INSERT INTO z VALUES(new.a); END",
    "CREATE TABLE x1(a, w REFERENCES v(k)); PRAGMA foreign_keys=on",
    "CREATE TABLE x1(a, w); INSERT INTO x1 VALUES(1,2)",
    "CREATE TABLE x1(a, w); PRAGMA count_changes=on",
    "CREATE TABLE x1(a, w NOT NULL)",
    "CREATE VIEW x1 AS SELECT a, w FROM s",
    "CREATE TABLE x1(a, w); CREATE TABLE z(c); CREATE TRIGGER y AFTER INSERT ON z BEGIN INSERT INTO x1 SELECT a, w FROM s; END;"
      "INSERT INTO z VALUES(1)",
    "CREATE TABLE x1(a, w, d DEFAULT CURRENT_TIMESTAMP)",
  };
  static const char *const azFrom[] = {
    "INSERT INTO x1 SELECT a, w FROM s LIMIT 100",
    "INSERT INTO x1 SELECT a, w FROM s ORDER BY w, id",
    "INSERT INTO x1 SELECT DISTINCT a, w FROM s",
    "INSERT INTO x1 SELECT a, count(*) FROM s GROUP BY a",
    "INSERT INTO x1 SELECT a, w FROM s, v WHERE k=id",
    "INSERT INTO x1 SELECT a, w FROM s UNION ALL SELECT k, x FROM v",
    "INSERT INTO x1 SELECT a, row_number() OVER (ORDER BY id) FROM s",
    "INSERT INTO x1 SELECT a, abs(random())>=0 FROM s",
    "INSERT INTO x1 SELECT a, (SELECT max(k) FROM v WHERE k<i) FROM s",
    "INSERT INTO x1 SELECT a, w FROM x1",
    "INSERT INTO x1 SELECT w, a FROM s WHERE id NOT IN (SELECT rowid FROM x1)",
    "INSERT INTO x1 SELECT a, w FROM s WHERE 1 RETURNING a",
    "INSERT INTO x1 SELECT a, w FROM s WHERE 1 ON CONFLICT DO NOTHING",
    "INSERT INTO x1 VALUES(1,2),(3,4)",
    "INSERT INTO x1 SELECT abs(CASE WHEN id=1500 THEN -9223372036854775808 ELSE i END), w FROM s",
    "INSERT INTO x1 SELECT json_extract(t,'$.x'), w FROM s",
    "INSERT INTO x1(rowid,a) SELECT -id, w FROM s",
    "INSERT INTO x1(rowid,a) SELECT id/3, w FROM s WHERE id%2",
    "INSERT INTO x1(rowid,a) SELECT id*1.0, w FROM s",
    "INSERT INTO x1(rowid,a) SELECT CASE WHEN id<>900 THEN id END, w FROM s",
    "INSERT INTO x1(rowid,a) SELECT t, w FROM s",
    "INSERT INTO x1 SELECT a, w FROM s WHERE i=1",
  };
  unsigned i;
  sqlite3_int64 nHook = 0, n;
  for(i=0; i<sizeof(azTo)/sizeof(azTo[0]); i++){
    begin("PRAGMA page_size=1024");
    both(azTo[i]);
    check(counted(adb[0], zFilled)==0, "%s: filled by a scan", azTo[i]);
    fill("INSERT INTO x1(a,w) SELECT a, w FROM s WHERE id<>5", 0);
    if( i+1<sizeof(azTo)/sizeof(azTo[0]) ) pairSame("SELECT * FROM x1");
    pairSame("SELECT count(*), count(a) FROM x1");
    both("PRAGMA count_changes=off; DROP TABLE s");
    checkIntegrity(&ours, adb[0], azTo[i]);
    sqlite3_close(adb[0]);
    finishPair();
  }
  begin("PRAGMA page_size=1024");
  both("CREATE TABLE x1(a,w); CREATE INDEX si ON s(i)");
  for(i=0; i<sizeof(azFrom)/sizeof(azFrom[0]); i++){
    fill(azFrom[i], 0);
    pairSame("SELECT rowid, * FROM x1");
    both("DELETE FROM x1");
  }
  n = counted(adb[0], zFilled);
  sqlite3_create_function(adb[0], "lower_x", 1, SQLITE_UTF8|SQLITE_DETERMINISTIC, 0, lowerX, 0, 0);
  execute(adb[0], "INSERT INTO x1 SELECT lower_x(a), w FROM s; DELETE FROM x1");
  runOn(&stock, adb[1], "INSERT INTO x1 SELECT a, w FROM s; DELETE FROM x1");
  check(counted(adb[0], zFilled)==n, "code of the application is called by workers");
  sqlite3_update_hook(adb[0], countRows, &nHook);
  fill("CREATE TABLE x2 AS SELECT a, w FROM s", 1);
  check(nHook==0, "a hook is told of rows of CREATE TABLE");
  fill("INSERT INTO x1 SELECT a, w FROM s WHERE id<>5", 0);
  check(nHook>0, "the hook was not called");
  both("DELETE FROM x1");
  sqlite3_update_hook(adb[0], 0, 0);
  execute(adb[0], "PRAGMA hp_offload=off");
  fill("INSERT INTO x1 SELECT a, w FROM s WHERE 1", 0);
  execute(adb[0], "PRAGMA hp_offload=force");
  /* Rows in the order in which SQLite reads them: that of an index */
  both("CREATE TABLE x3(a,b); CREATE TABLE x4(a,b); CREATE INDEX siw ON s(t,i)");
  fill("INSERT INTO x3 SELECT i, t FROM s", 1);
  pairSame("SELECT rowid, * FROM x3");
  both("PRAGMA reverse_unordered_selects=on");
  fill("INSERT INTO x4 SELECT a, w FROM s", 0);
  pairSame("SELECT rowid, * FROM x4");
  sqlite3_close(adb[0]);
  finishPair();
  begin("PRAGMA encoding=utf16");
  fill("CREATE TABLE x1 AS SELECT * FROM s", 0);
  pairSame("SELECT rowid, * FROM x1");
  sqlite3_close(adb[0]);
  finishPair();
}

/* Constraints that are violated: the error, and what is left, are SQLite's */
static void testNull(void){
  static const char *const azSql[] = {
    "INSERT INTO x1 SELECT id, CASE WHEN id<>1800 THEN w||'' ELSE NULL END FROM s WHERE w IS NOT NULL",
    "INSERT OR FAIL INTO x1 SELECT id, CASE WHEN id<>1800 THEN w||'' END FROM s WHERE w IS NOT NULL",
    "INSERT OR IGNORE INTO x1 SELECT id, w FROM s",
    "INSERT OR REPLACE INTO x1 SELECT id, w FROM s",
    "INSERT OR ROLLBACK INTO x1 SELECT id, w FROM s",
    "INSERT INTO x1(a) SELECT id FROM s WHERE 1",
    "INSERT INTO x2(rowid,a) SELECT id/3, w FROM s",
    "INSERT OR FAIL INTO x2(rowid,a) SELECT id/4, w FROM s WHERE id%2=0",
    "INSERT OR FAIL INTO x2(rowid,a) SELECT 7, w FROM s WHERE id>2",
    "INSERT INTO x2(rowid,a) SELECT 'x'||id, w FROM s",
  };
  unsigned i;
  begin("PRAGMA page_size=512");
  both("CREATE TABLE x1(a, w NOT NULL); CREATE TABLE x2(a); CREATE TABLE y(z)");
  for(i=0; i<sizeof(azSql)/sizeof(azSql[0]); i++){
    both("BEGIN; INSERT INTO y VALUES(1); SAVEPOINT p");
    fill(azSql[i], 0);
    pairSame("SELECT rowid, * FROM x1");
    pairSame("SELECT rowid, * FROM x2");
    pairSame("COMMIT");
    pairSame("SELECT count(*) FROM y");
    both("DELETE FROM x1; DELETE FROM x2");
  }
  fill("INSERT INTO x1 SELECT id, w FROM s WHERE w IS NOT NULL", 1);
  both("CREATE TABLE y1 AS SELECT * FROM s LIMIT 1");
  endSame("null");
  finishPair();
}

/* In the midst of transactions: rows that are not in the file, savepoints, a statement that is run again */
static void testTransactions(void){
  sqlite3_stmt *pStmt;
  int i;
  begin("PRAGMA page_size=512; PRAGMA journal_mode=WAL");
  both("CREATE TABLE x2(a, b)");
  both("BEGIN; UPDATE s SET w=w||'!', i=i+1 WHERE id%10=0; DELETE FROM s WHERE id%50=3;"
       "INSERT INTO s(a,w) SELECT i, 'new'||w FROM s WHERE id%20=1; SAVEPOINT p");
  fill("CREATE TABLE x1 AS SELECT * FROM s WHERE id%9", 1);
  fill("INSERT INTO x2 SELECT w, r FROM s", 1);
  pairSame("SELECT rowid, * FROM x1");
  both("ROLLBACK TO p");
  pairSame("SELECT name FROM sqlite_schema");
  pairSame("SELECT count(*) FROM x2");
  checkIntegrity(&ours, adb[0], "rolled back to a savepoint");
  fill("CREATE TABLE x1 AS SELECT * FROM s", 1);
  both("RELEASE p; DELETE FROM s WHERE id<20; COMMIT");
  pStmt = prepared(adb[0], "INSERT INTO x2 SELECT t, ?1+id FROM s WHERE id>?2");
  for(i=0; i<4; i++){
    char zSql[200];
    sqlite3_bind_int(pStmt, 1, i);
    sqlite3_bind_int(pStmt, 2, i*100);
    check(sqlite3_step(pStmt)==SQLITE_DONE, "run again");
    sqlite3_reset(pStmt);
    snprintf(zSql, sizeof(zSql), "INSERT INTO x2 SELECT t, %d+id FROM s WHERE id>%d", i, i*100);
    runOn(&stock, adb[1], zSql);
    pairSame("SELECT rowid, * FROM x2");
    if( i!=1 ) both("DELETE FROM x2");
  }
  sqlite3_finalize(pStmt);
  both("BEGIN");
  fill("INSERT INTO x2 SELECT w, r FROM s", 1);
  both("INSERT INTO x2 SELECT a, b FROM x2 WHERE rowid%7=0; ROLLBACK");
  pairSame("SELECT count(*) FROM x2");
  fill("INSERT INTO x2 SELECT w, r FROM s", 1);
  fill("INSERT INTO x2 SELECT r, w FROM s", 0);
  endSame("transactions");
  storm("transactions");
  finishPair();
}

/* Other databases of the connection; columns that were added later have defaults */
static void testElsewhere(void){
  begin("PRAGMA page_size=1024");
  both("ATTACH ':memory:' AS m; ATTACH '' AS f; CREATE TABLE m.v2(a, b REAL); CREATE TABLE f.v3(a INTEGER PRIMARY KEY, b);"
       "CREATE TEMP TABLE w2(a INT, b)");
  fill("CREATE TABLE m.v1 AS SELECT * FROM s", 1);
  fill("CREATE TEMP TABLE w1 AS SELECT * FROM m.v1 WHERE id%2", 1);
  fill("INSERT INTO m.v2 SELECT w, n FROM temp.w1", 1);
  fill("INSERT INTO temp.w2 SELECT b, a FROM m.v2", 1);
  fill("INSERT INTO f.v3 SELECT id, w FROM s", 1);
  fill("CREATE TABLE x2 AS SELECT * FROM f.v3", 1);
  pairSame("SELECT rowid, * FROM w1");
  pairSame("SELECT rowid, * FROM w2");
  pairSame("SELECT rowid, * FROM v2");
  pairSame("SELECT rowid, * FROM v3");
  pairSame("PRAGMA m.integrity_check");
  pairSame("PRAGMA f.integrity_check");
  pairSame("PRAGMA temp.integrity_check");
  both("ALTER TABLE s ADD COLUMN z REAL DEFAULT 2; ALTER TABLE s ADD COLUMN y DEFAULT 'long';"
       "ALTER TABLE s ADD COLUMN q DEFAULT 2.0; UPDATE s SET z=z+0.5 WHERE id%2");
  fill("CREATE TABLE x3 AS SELECT * FROM s", 1);
  both("CREATE TABLE x4(a, b, c); ALTER TABLE x4 ADD COLUMN d REAL DEFAULT 9; ALTER TABLE x4 DROP COLUMN b;"
       "CREATE TABLE wr(k TEXT PRIMARY KEY, u, r REAL) WITHOUT ROWID; INSERT INTO wr SELECT id||'k', a, r FROM s");
  fill("INSERT INTO x4(c,a) SELECT q, z FROM s", 1);
  fill("CREATE TABLE x5 AS SELECT r, u, k FROM wr WHERE k>'5'", 1);
  /* A file of an older format has no serial types 8 and 9 */
  endSame("elsewhere");
  finishPair();
  begin("PRAGMA legacy_file_format=on");
  both("VACUUM");
  fill("CREATE TABLE x1 AS SELECT * FROM s", integer(&ours, adb[0], "PRAGMA schema_version")>0);
  endSame("older");
  finishPair();
}

/* Sixty columns and more: headers of records at the border between one byte for their size and two */
static void testWide(void){
  int n, k;
  for(n=60; n<=66; n++){
    Text t = {0,0,0}, row = {0,0,0}, sql = {0,0,0}, order = {0,0,0};
    begin("PRAGMA page_size=4096");
    for(k=0; k<n; k++){
      textAppend(&t, "%sc%d%s", k ? ", " : "", k, k%3==0 ? " TEXT" : "");
      textAppend(&row, "%sprintf('%%.*c', %s, 'w')", k ? ", " : "", k==0 ? "58" : "58+id%5");
    }
    textAppend(&sql, "CREATE TABLE y(%s); INSERT INTO y SELECT %s FROM s LIMIT 50;"
               "INSERT INTO y SELECT * FROM y WHERE 1; UPDATE y SET c1='' WHERE rowid%%3=1; UPDATE y SET c2=1, c4=NULL WHERE rowid%%7=1",
               t.z, row.z);
    both(sql.z);
    fill("CREATE TABLE x1 AS SELECT * FROM y", n<=64);
    textAppend(&order, "SELECT %s FROM y ORDER BY c5, rowid", t.z);
    for(k=0; (size_t)k<strlen(order.z); k++) if( strncmp(&order.z[k], " TEXT", 5)==0 ) memset(&order.z[k], ' ', 5);
    pairSame(order.z);
    pairSame("SELECT * FROM x1");
    endSame("wide");
    finishPair();
    textClear(&t);
    textClear(&row);
    textClear(&sql);
    textClear(&order);
  }
}

/* Values and rows that are longer than SQLITE_LIMIT_LENGTH allows */
static void testLimit(void){
  int i;
  begin("PRAGMA page_size=65536");
  both("CREATE TABLE y(a, b TEXT, c); INSERT INTO y SELECT id, w, 1 FROM s; CREATE TABLE x2(a, b TEXT, c);"
       "UPDATE y SET b=printf('%.*c',10000000,'l') WHERE a=1000;"
       "UPDATE y SET c=printf('%.*c',7000000,'m') WHERE a IN (1000,1001)");
  for(i=0; i<2; i++) apLib[i]->limit(adb[i], SQLITE_LIMIT_LENGTH, 17000100);
  pairSame("CREATE TABLE x1 AS SELECT * FROM y");
  pairSame("SELECT count(*), sum(length(b)), sum(length(c)) FROM x1");
  for(i=0; i<2; i++) apLib[i]->limit(adb[i], SQLITE_LIMIT_LENGTH, 16900000);
  fill("CREATE TABLE x3 AS SELECT * FROM y", 0);
  fill("INSERT INTO x2 SELECT a+1, b, c FROM y", 0);
  fill("INSERT INTO x2 SELECT a, b||b, c FROM y", 0);
  pairSame("INSERT INTO x2 SELECT a, b, 1 FROM y");
  endSame("limit");
  finishPair();
}

/* Little memory: records go to a file */
static void testSpill(void){
  int i;
  for(i=0; i<2; i++){
    begin(i ? "PRAGMA page_size=1024; PRAGMA temp_store=memory" : "PRAGMA page_size=1024");
    both("INSERT INTO s(a,i,r,t,n,b,w) SELECT a,i,r,t,n,b,w||value FROM s, " SERIES("12")
         "; INSERT INTO s(w) SELECT zeroblob(300000)");
    both("CREATE TABLE x2(k INTEGER PRIMARY KEY, a, w)");
    execute(adb[0], "PRAGMA hp_memory=100000");
    fill("CREATE TABLE x1 AS SELECT * FROM s", !i);
    fill("INSERT INTO x2 SELECT id, a, w FROM s WHERE id%4=1", !i);
    check((counted(adb[0], "wrote to a file")>0)==!i, "%swritten to a file", i ? "" : "nothing was ");
    endSame("spill");
    storm("spill");
    finishPair();
  }
}

/* Stopped by the progress handler at its n-th call */
static void testStop(void){
  int n, nCall = 0;
  int rc = SQLITE_INTERRUPT;
  sqlite3 *db;
  begin("PRAGMA page_size=512");
  db = adb[0];
  for(n=0; rc==SQLITE_INTERRUPT; n+=(n<10 ? 1 : 5)){
    stopAt(db, 500, n);
    rc = sqlite3_exec(db, "CREATE TABLE x1 AS SELECT * FROM s", 0, 0, 0);
    nCall = stopEnd(db);
    check(rc==SQLITE_OK || rc==SQLITE_INTERRUPT, "stopped at call %d: error %d", n, rc);
    checkIntegrity(&ours, db, "stopped");
  }
  check(nCall>=2500*8/500, "the progress handler was called %d times", nCall);
  check(counted(db, zFilled)==1, "filled %d times", (int)counted(db, zFilled));
  runOn(&stock, adb[1], "CREATE TABLE x1 AS SELECT * FROM s");
  endSame("stop");
  finishPair();
}

/* Each request for memory fails, once or from then on; with room for records, and without */
static void testMemory(void){
  int k, n;
  failMemory(1);
  for(k=0; k<4; k++){
    int rc = SQLITE_NOMEM;
    begin("PRAGMA page_size=512");
    both("DELETE FROM s WHERE id%4; CREATE TABLE x2(k INTEGER PRIMARY KEY, a TEXT NOT NULL, w REAL)");
    if( k>1 ) execute(adb[0], "PRAGMA hp_memory=1000");
    for(n=0; rc==SQLITE_NOMEM || fault.nFailed>0; n+=(n<100 || longRun() ? 1 : 5)){
      sqlite3 *db = adb[0];
      failAfter(n, k%2);
      rc = sqlite3_exec(db, n%2 ? "INSERT INTO x2 SELECT id, w||'', a FROM s WHERE w>''" : "CREATE TABLE x1 AS SELECT * FROM s", 0, 0, 0);
      fault.nLeft = -1;
      check(rc==SQLITE_OK || rc==SQLITE_NOMEM, "allocation %d: error %d", n, rc);
      checkIntegrity(&ours, db, "an allocation failed");
      check(rc==SQLITE_OK || integer(&ours, db, "SELECT count(*) FROM x2")==0, "allocation %d: rows are left", n);
      execute(db, "DROP TABLE IF EXISTS x1; DELETE FROM x2");
    }
    check(n>20, "only %d allocations", n);
    pairSame("CREATE TABLE x1 AS SELECT * FROM s");
    endSame("memory");
    finishPair();
  }
  failMemory(0);
}

/* The file may not grow: after each number of pages */
static void testFull(void){
  int n, nFailed = 0;
  int rc = SQLITE_FULL;
  begin("PRAGMA page_size=512; PRAGMA auto_vacuum=incremental");
  both("CREATE TABLE x1(a,w)");
  for(n=0; rc==SQLITE_FULL; n+=(n<20 ? 1 : 37)){
    char zSql[100];
    sqlite3_int64 nPage = integer(&ours, adb[0], "PRAGMA page_count");
    snprintf(zSql, sizeof(zSql), "PRAGMA max_page_count=%lld", nPage+n);
    execute(adb[0], zSql);
    rc = sqlite3_exec(adb[0], "INSERT INTO x1 SELECT a, w FROM s WHERE 1", 0, 0, 0);
    nFailed += rc==SQLITE_FULL;
    check(rc==SQLITE_OK || rc==SQLITE_FULL, "%d pages: error %d", n, rc);
    checkIntegrity(&ours, adb[0], "full");
    check(rc==SQLITE_OK || integer(&ours, adb[0], "SELECT count(*) FROM x1")==0, "rows are left");
    check(rc==SQLITE_OK || nPage==integer(&ours, adb[0], "PRAGMA page_count"), "pages are left");
  }
  check(nFailed>5, "failed %d times only", nFailed);
  runOn(&stock, adb[1], "INSERT INTO x1 SELECT a, w FROM s WHERE 1");
  endSame("full");
  finishPair();
}

/* Each write fails */
static void testWrites(void){
  int k;
  for(k=0; k<3; k++){
    int n, rc = SQLITE_IOERR;
    begin(k==1 ? "PRAGMA page_size=512; PRAGMA journal_mode=WAL; PRAGMA cache_size=10"
               : "PRAGMA page_size=512; PRAGMA cache_size=10");
    if( k==2 ) execute(adb[0], "PRAGMA hp_memory=1000");
    failWrites(1);
    for(n=0; rc; n+=(n<20 || longRun() ? 1 : 23)){
      failAfter(n, n%2);
      rc = sqlite3_exec(adb[0], "CREATE TABLE x1 AS SELECT * FROM s", 0, 0, 0);
      fault.nLeft = -1;
      if( rc==SQLITE_OK && fault.nFailed ) rc = SQLITE_IOERR;
      check(rc==SQLITE_OK || rc==SQLITE_IOERR || rc==SQLITE_FULL, "write %d: error %d", n, rc);
      checkIntegrity(&ours, adb[0], "a write failed");
      execute(adb[0], "DROP TABLE IF EXISTS x1");
    }
    failWrites(0);
    fill("CREATE TABLE x1 AS SELECT * FROM s", 1);
    endSame("writes");
    finishPair();
  }
}

/* The free list is damaged: no page is left that belongs to nothing */
static void testDamaged(void){
  static const char *const azSql[] = {
    "INSERT INTO x1 SELECT a, w FROM s WHERE 1", "INSERT INTO x2 SELECT id, w FROM s WHERE id>5", "CREATE TABLE x3 AS SELECT * FROM s",
    "INSERT INTO x4 SELECT * FROM x5",
  };
  unsigned char *aFile;
  unsigned i;
  int n;
  begin("PRAGMA page_size=512");
  both("CREATE TABLE x1(a, w); CREATE TABLE x2(k INTEGER PRIMARY KEY, w NOT NULL); CREATE TABLE x4(a, w); CREATE TABLE x5(a, w);"
       "INSERT INTO x5 SELECT a, w FROM s; CREATE TABLE y AS SELECT * FROM s; DROP TABLE y");
  for(i=0; i<2; i++) apLib[i]->close(adb[i]);
  aFile = readFile(azFile[0], &n);
  put4(&aFile[32], 0x7fffff);
  writeFile(azFile[0], aFile, n);
  free(aFile);
  for(i=0; i<sizeof(azSql)/sizeof(azSql[0]); i++){
    int rc;
    adb[0] = openDb(&ours, azFile[0], 0);
    execute(adb[0], "PRAGMA hp_offload=force; BEGIN; UPDATE s SET i=7777 WHERE id=1");
    rc = sqlite3_exec(adb[0], azSql[i], 0, 0, 0);
    check(rc==SQLITE_CORRUPT, "%s: error %d", azSql[i], rc);
    /* Two of them have a statement journal */
    check(sqlite3_get_autocommit(adb[0])==(i==0 || i==3), "%s: the transaction", azSql[i]);
    check(integer(&ours, adb[0], "SELECT (SELECT count(*) FROM x1)+(SELECT count(*) FROM x2)+(SELECT count(*) FROM x4)")==0,
          "%s: rows are left", azSql[i]);
    sqlite3_close(adb[0]);
  }
  adb[1] = openDb(&stock, azFile[1], 0);
  finishPair();
}

int main(int argc, char **argv){
  static const Test aTest[] = {
    { "same", testSame }, { "refused", testRefused }, { "null", testNull },
    { "transactions", testTransactions }, { "elsewhere", testElsewhere },
    { "wide", testWide }, { "limit", testLimit }, { "spill", testSpill }, { "stop", testStop },
    { "memory", testMemory }, { "full", testFull }, { "writes", testWrites }, { "damaged", testDamaged },
  };
  if( argc<2 || pairLoad(argv[1]) ){
    fprintf(stderr, "usage: fill STOCK [NAME]\n");
    return 2;
  }
  if( !hasEngine() ) return finish();
  azFile[0] = temporaryFile("fill-ours.db");
  azFile[1] = temporaryFile("fill-stock.db");
  runTests(aTest, sizeof(aTest)/sizeof(aTest[0]), argc<3 ? 0 : argv[2]);
  return finish();
}
