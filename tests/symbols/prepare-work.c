/*
** How the work of preparing grows with the SQL: prints each kind of statement
** whose work grows faster than its length.
**
** Work is counted, not timed: the library is compiled with
** -fsanitize-coverage=trace-pc, which calls a function in every basic block.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sqlite3.h"

static sqlite3_int64 nBlock;      /* Basic blocks executed */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void){ nBlock++; }

/* Statements with many subqueries: zBegin, zRepeat again and again, zEnd */
static const struct {
  const char *zBegin, *zRepeat, *zEnd;
} aKind[] = {
  /* An ORDER or a LIMIT may be the tail of the statement or not */
  { "UPDATE t SET b=1 WHERE a IN(0", ",(SELECT 1 LIMIT 1)", ")" },
  { "UPDATE t SET b=a IN(0", ",(SELECT 1 LIMIT 1)", ") LIMIT 1" },
  { "DELETE FROM t WHERE a IN(0", ",(SELECT 1 ORDER BY 1)", ") LIMIT 1" },
  { "DELETE FROM t LIMIT 1 IN(0", ",(SELECT 1 LIMIT 1)", ")" },
  { "EXPLAIN DELETE FROM t WHERE a IN(0", "/**/,(SELECT 1 LIMIT 1)", ")" },
  { "WITH c AS(SELECT 1 IN(0", ",(SELECT 1 LIMIT 1)", ")) DELETE FROM t" },
  { "WITH c AS(SELECT 1 IN(0", ",(SELECT 1 LIMIT 1)", ")) SELECT * FROM c" },
  { "REPLACE INTO t SELECT 1, 2 IN(0", ",(SELECT 1 LIMIT 1)", ")" },
  { "/**/ SELECT a IN(0", ",(SELECT 1 LIMIT 1)", ") FROM t" },
  { ";;;; SELECT a IN(0", ",(SELECT 1 LIMIT 1)", ") FROM t" },
};
#define N_KIND ((int)(sizeof(aKind)/sizeof(aKind[0])))

/* Basic blocks executed to prepare a statement with nRepeat subqueries.  It
** begins with as many blank lines, which the parser reads, too. */
static sqlite3_int64 work(sqlite3 *db, int iKind, int nRepeat){
  sqlite3_str *pSql = sqlite3_str_new(db);
  sqlite3_stmt *pStmt = 0;
  char *zSql;
  int i;
  sqlite3_str_appendchar(pSql, nRepeat, '\n');
  sqlite3_str_appendall(pSql, aKind[iKind].zBegin);
  for(i=0; i<nRepeat; i++) sqlite3_str_appendall(pSql, aKind[iKind].zRepeat);
  sqlite3_str_appendall(pSql, aKind[iKind].zEnd);
  zSql = sqlite3_str_finish(pSql);
  nBlock = 0;
  if( sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0)!=SQLITE_OK ){
    printf("%s...: %s\n", aKind[iKind].zBegin, sqlite3_errmsg(db));
  }
  sqlite3_finalize(pStmt);
  sqlite3_free(zSql);
  return nBlock;
}

int main(void){
  sqlite3 *db;
  int iKind;
  sqlite3_open(":memory:", &db);
  sqlite3_exec(db, "CREATE TABLE t(a INTEGER PRIMARY KEY, b)", 0, 0, 0);
  work(db, 0, 1);                  /* Things done once */
  for(iKind=0; iKind<N_KIND; iKind++){
    sqlite3_int64 nShort = work(db, iKind, 400);
    sqlite3_int64 nLong = work(db, iKind, 1600);
    if( nShort==0 || nLong>nShort*5 ){
      printf("%s...%s: %lld blocks for 400 subqueries, %lld for 1600\n",
             aKind[iKind].zBegin, aKind[iKind].zEnd, nShort, nLong);
    }
  }
  return sqlite3_close(db);
}
