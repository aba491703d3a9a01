#include "cloop.h"
#include <stdio.h>
#include <string.h>

int cloop_open(const char *zPath, sqlite3 **ppDb){
  return sqlite3_open_v2(zPath, ppDb, SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE
                                      |SQLITE_OPEN_NOMUTEX, 0);
}

int cloop_exec(sqlite3 *db, const char *zSql){
  return sqlite3_exec(db, zSql, 0, 0, 0);
}

/* Insert monsters 1 to nRow, as bench.Monster() has them, in one transaction. */
int cloop_insert(sqlite3 *db, const char *zSql, int64_t nRow){
  sqlite3_stmt *p = 0;
  int64_t i;
  int rc = cloop_exec(db, "BEGIN");
  if( rc==SQLITE_OK ) rc = sqlite3_prepare_v2(db, zSql, -1, &p, 0);
  for(i=0; i<nRow && rc==SQLITE_OK; i++){
    char z[32];
    int n = snprintf(z, sizeof(z), "monster %07lld", (long long)(i+1));
    sqlite3_bind_int64(p, 1, i+1);
    sqlite3_bind_text(p, 2, z, n, SQLITE_STATIC);
    sqlite3_bind_int64(p, 3, 10 + i*7%990);
    sqlite3_bind_int64(p, 4, 1 + i*13%100);
    sqlite3_step(p);
    rc = sqlite3_reset(p);
  }
  sqlite3_finalize(p);
  return rc==SQLITE_OK ? cloop_exec(db, "COMMIT") : rc;
}

/* Run a query so many times, each to its end, with a key from 1 to nKey as its
** parameter if it has one, and add up what its columns hold. */
int cloop_select(sqlite3 *db, const char *zSql, int64_t nTime, int64_t nKey,
                 sums *pSums){
  sqlite3_stmt *p = 0;
  int64_t i;
  int rc = sqlite3_prepare_v2(db, zSql, -1, &p, 0);
  memset(pSums, 0, sizeof(*pSums));
  for(i=0; i<nTime && rc==SQLITE_OK; i++){
    if( nKey ) sqlite3_bind_int64(p, 1, i*617%nKey + 1);
    while( sqlite3_step(p)==SQLITE_ROW ){
      const unsigned char *z = sqlite3_column_text(p, 1);
      int n = sqlite3_column_bytes(p, 1);
      pSums->nRow++;
      pSums->iSum += sqlite3_column_int64(p, 0) + sqlite3_column_int64(p, 2)
                   + sqlite3_column_int64(p, 3);
      pSums->nByte += n + (n>0 && z[n-1]==0);
    }
    rc = sqlite3_reset(p);
  }
  sqlite3_finalize(p);
  return rc;
}
