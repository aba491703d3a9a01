/*
** ORDER BY and LIMIT on UPDATE and DELETE, as in Debian's SQLite: prints what
** differs from what is expected.
*/
#include <stdio.h>
#include <string.h>
#include "sqlite3.h"

static sqlite3 *db;

/* Run zSql with its parameters bound to 1, 2, 3...  Its rows, or its error,
** separated by blanks must be zExpect. */
static void check(const char *zSql, const char *zExpect){
  char zGot[400] = "";
  sqlite3_stmt *pStmt = 0;
  int i;
  int rc = sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0);
  for(i=1; i<=sqlite3_bind_parameter_count(pStmt); i++){
    sqlite3_bind_int(pStmt, i, i);
  }
  while( rc==SQLITE_OK || rc==SQLITE_ROW ){
    rc = sqlite3_step(pStmt);
    for(i=0; rc==SQLITE_ROW && i<sqlite3_column_count(pStmt); i++){
      size_t n = strlen(zGot);
      snprintf(&zGot[n], sizeof(zGot)-n, "%s%s", n ? " " : "",
               (const char*)sqlite3_column_text(pStmt, i));
    }
  }
  if( rc!=SQLITE_DONE ) snprintf(zGot, sizeof(zGot), "%s", sqlite3_errmsg(db));
  sqlite3_finalize(pStmt);
  if( strcmp(zGot, zExpect) ){
    printf("%s\n  expected: %s\n  found:    %s\n", zSql, zExpect, zGot);
  }
}

/* Ten rows, a from 1 to 10, b = a%3, in three kinds of table. */
static void reset(void){
  sqlite3_exec(db,
    "DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS w; DROP VIEW IF EXISTS v;"
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b);"
    "CREATE INDEX tb ON t(b);"
    "CREATE TABLE w(a, b, PRIMARY KEY(b, a)) WITHOUT ROWID;"
    "CREATE VIEW v AS SELECT a, b FROM t;"
    "CREATE TRIGGER tv INSTEAD OF DELETE ON v BEGIN"
    "  DELETE FROM t WHERE a=old.a; END;"
    "WITH n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<10)"
    "  INSERT INTO t SELECT i, i%3 FROM n;"
    "INSERT INTO w SELECT * FROM t;", 0, 0, 0);
}

int main(void){
  const char *zT = "SELECT group_concat(a,',') FROM (SELECT a FROM t ORDER BY a)";
  const char *zW = "SELECT group_concat(a,',') FROM (SELECT a FROM w ORDER BY a)";
  sqlite3_open(":memory:", &db);

  reset();
  check("DELETE FROM t LIMIT 2", "");
  check(zT, "3,4,5,6,7,8,9,10");
  check("DELETE FROM t WHERE b=1 ORDER BY a DESC LIMIT 1;", "");
  check(zT, "3,4,5,6,7,8,9");
  check("DELETE FROM t ORDER BY a LIMIT 2 OFFSET 1 -- comment", "");
  check(zT, "3,6,7,8,9");
  check("DELETE FROM t ORDER BY a LIMIT 1, 2", "");
  check(zT, "3,8,9");
  check("DELETE FROM w WHERE a>2 ORDER BY a LIMIT 3", "");
  check(zW, "1,2,6,7,8,9,10");
  check("UPDATE t SET b=-1 ORDER BY a DESC LIMIT 2", "");
  check("SELECT a, b FROM t ORDER BY a", "3 0 8 -1 9 -1");

  /* Parameters are numbered as they stand */
  reset();
  check("DELETE FROM t WHERE b=? LIMIT ?", "");
  check(zT, "2,3,5,6,7,8,9,10");
  check("UPDATE t SET b=?+10 WHERE b=? ORDER BY ?, a LIMIT 1", "");
  check("SELECT a FROM t WHERE b=11", "2");

  /* With the other clauses that these statements have */
  reset();
  check("DELETE FROM t WHERE b=2 RETURNING a ORDER BY a LIMIT 1", "2");
  check("WITH x(y) AS (SELECT a FROM t ORDER BY a LIMIT 5)"
        " DELETE FROM t WHERE a IN (SELECT y FROM x) ORDER BY a DESC LIMIT 2", "");
  check(zT, "1,3,4,7,8,9,10");
  check("DELETE FROM t INDEXED BY tb WHERE b=1 LIMIT 2", "");
  check(zT, "3,7,8,9,10");
  check("DELETE FROM v WHERE b=1 ORDER BY a LIMIT 1", "");
  check(zT, "3,8,9,10");
  check("UPDATE t SET b=w.b+100 FROM w WHERE w.a=t.a ORDER BY t.a LIMIT 2", "");
  check("SELECT a FROM t WHERE b>=100 ORDER BY a", "3 8");
  check("DELETE FROM t ORDER BY (SELECT max(a) FROM w), a"
        " LIMIT (SELECT 1 FROM w LIMIT 1)", "");
  check(zT, "8,9,10");
  check("INSERT INTO t(a) VALUES(8) ON CONFLICT(a) DO UPDATE SET b=7", "");

  /* After subqueries that have these clauses, too */
  reset();
  check("WITH x(y) AS (SELECT a FROM t ORDER BY a LIMIT 3),"
        " z AS (SELECT y FROM x LIMIT (SELECT max(y) FROM x LIMIT 1))"
        " DELETE FROM t WHERE (SELECT y FROM z ORDER BY y LIMIT 1)=1"
        " AND a IN (SELECT y FROM z ORDER BY y) ORDER BY a DESC LIMIT 2", "");
  check(zT, "1,4,5,6,7,8,9,10");
  check("/**/;; UPDATE t SET b=(SELECT a FROM w ORDER BY a LIMIT 1)+30"
        " WHERE a>(SELECT 4 LIMIT 1) ORDER BY a LIMIT 1, 2", "");
  check("SELECT group_concat(a) FROM t WHERE b=31", "6,7");
  check("DELETE FROM t WHERE a<0 AND a IN (SELECT 8 LIMIT 1", "incomplete input");
  reset();
  check("DELETE FROM t WHERE a<8", "");

  /* What is no such tail */
  check("DELETE FROM t ORDER BY a", "ORDER BY without LIMIT on DELETE");
  check("UPDATE t SET b=1 ORDER BY a", "ORDER BY without LIMIT on UPDATE");
  check("DELETE FROM t LIMIT", "incomplete input");
  check("DELETE FROM t LIMIT;", "near \";\": syntax error");
  check("DELETE FROM t LIMIT 1 LIMIT 2", "near \"LIMIT\": syntax error");
  check("DELETE FROM t LIMIT 1 RETURNING a", "near \"RETURNING\": syntax error");
  check("DELETE FROM t LIMIT 1)", "near \")\": syntax error");
  check("DELETE FROM t LIMIT #1", "near \"#1\": syntax error");
  check("DELETE FROM t LIMIT 1 @", "unrecognized token: \"@\"");
  check("DELETE FROM t LIMIT none", "no such column: none");
  check("DELETE FROM t WHERE (a=1 LIMIT 1", "near \"LIMIT\": syntax error");
  check("INSERT INTO t(a) VALUES(8) ON CONFLICT(a) DO UPDATE SET b=1 LIMIT 5",
        "near \"LIMIT\": syntax error");
  check("PRAGMA journal_mode=DELETE LIMIT 5", "near \"LIMIT\": syntax error");
  check("ALTER TABLE t ADD COLUMN z REFERENCES w ON DELETE CASCADE LIMIT 5",
        "near \"LIMIT\": syntax error");
  check("CREATE TRIGGER tr AFTER INSERT ON t BEGIN"
        " DELETE FROM t ORDER BY a LIMIT 1; END", "near \"ORDER\": syntax error");
  check(zT, "8,9,10");
  return sqlite3_close(db);
}
