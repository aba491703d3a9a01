/*
** Linked into testfixture on our library with --wrap=sqlite3_close and
** --wrap=sqlite3_close_v2: when a connection is closed the rows of its PRAGMA
** hp_stats are added to the file that the environment variable HP_STATS names.
** Without that variable nothing happens.
*/
#include <stdio.h>
#include <stdlib.h>
#include "sqlite3.h"

int __real_sqlite3_close(sqlite3*);
int __real_sqlite3_close_v2(sqlite3*);

static void note(sqlite3 *db){
  const char *zFile = getenv("HP_STATS");
  sqlite3_stmt *pStmt = 0;
  FILE *f;
  if( zFile==0 || db==0 ) return;
  f = fopen(zFile, "a");
  if( f==0 ) return;
  if( sqlite3_prepare_v2(db, "PRAGMA hp_stats", -1, &pStmt, 0)==SQLITE_OK ){
    while( sqlite3_step(pStmt)==SQLITE_ROW ){
      int n = sqlite3_column_int(pStmt, 1);
      if( n ) fprintf(f, "%d %s\n", n, (const char*)sqlite3_column_text(pStmt, 0));
    }
  }
  sqlite3_finalize(pStmt);
  fclose(f);
}

int __wrap_sqlite3_close(sqlite3 *db){
  /* Otherwise it is refused, and called again */
  if( getenv("HP_STATS") && db && sqlite3_next_stmt(db, 0)==0 ) note(db);
  return __real_sqlite3_close(db);
}

int __wrap_sqlite3_close_v2(sqlite3 *db){
  note(db);
  return __real_sqlite3_close_v2(db);
}
