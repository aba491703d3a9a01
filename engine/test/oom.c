/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Memory runs out at every single allocation of a query that is taken over.
**
** A wrapper around SQLite's allocator lets the n-th request fail: once, or
** from then on.  For n=1,2,3,..., and behind the first 60 every second one unless
** there is time, each query is prepared and run; what it
** says must be the right answer, or rows that begin the right answer and
** then SQLITE_NOMEM.  The same connection must then give the right answer,
** and when it is closed no memory may be left.  n grows until a run needs
** fewer than n allocations.  The lookaside allocator is off, so that every
** request is seen.
*/
#include <stdio.h>
#include <string.h>
#include "hptest.h"

static int isNomem(int rc){
  return rc==SQLITE_NOMEM || rc==SQLITE_IOERR_NOMEM;
}

/*
** Try every n for one query, in one mode, on a fresh connection.  Return the
** number of failures that were injected.
*/
static int tryQuery(const char *zFile, const char *zSql, int bMode){
  sqlite3 *db = openDb(&ours, zFile, 0);
  Text right = {0,0,0};
  int n, nTotal = 0, bMore = 1;
  answer(&ours, db, zSql, &right);
  for(n=0; bMore; n+=(n<60 || longRun() ? 1 : 2)){
    Text got = {0,0,0};
    Text after = {0,0,0};
    int rc, bOk;
    fault.nLeft = n;
    fault.bForEver = bMode;
    fault.nFailed = 0;
    rc = answer(&ours, db, zSql, &got);
    bMore = fault.nFailed>0;
    nTotal += fault.nFailed>0;
    fault.nLeft = -1;
    if( isNomem(rc) ){
      char *zError = strstr(got.z, "error");
      bOk = strncmp(got.z, right.z, zError - got.z)==0;
    }else{
      bOk = strcmp(got.z, right.z)==0;
    }
    check(bOk, "allocation %d%s: %s\n got  %s right %s", n,
          bMode ? " and later" : "", zSql, got.z, right.z);
    answer(&ours, db, zSql, &after);
    check(strcmp(after.z, right.z)==0, "after allocation %d%s failed: %s\n"
          " got %s right %s", n, bMode ? " and later" : "", zSql, after.z,
          right.z);
    textClear(&got);
    textClear(&after);
  }
  check(sqlite3_close(db)==SQLITE_OK, "a statement is left: %s", zSql);
  check(sqlite3_memory_used()==0, "%lld bytes are left: %s",
        (long long)sqlite3_memory_used(), zSql);
  textClear(&right);
  return nTotal;
}

/* With an argument: only queries that contain it */
int main(int argc, char **argv){
  const char *zFile = temporaryFile("oom.db");
  int i, nTried = 0, nInjected = 0;
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
  failMemory(1);
  fixture(zFile, "PRAGMA page_size=1024", 60);
  if( hasEngine() ){
    sqlite3 *db = openDb(&ours, zFile, 0);
    int nTaken = 0;
    for(i=0; i<nQuery; i++) nTaken += isTaken(db, azQuery[i]);
    check(nTaken>=nQuery-3, "%d of %d queries are taken over", nTaken, nQuery);
    sqlite3_close(db);
  }
  for(i=0; i<nQuery; i++){
    if( argc>1 && strstr(azQuery[i], argv[1])==0 ) continue;
    nTried++;
    /* In one of the modes, unless there is time */
    if( longRun() || i%2 ) nInjected += tryQuery(zFile, azQuery[i], 0);
    if( longRun() || i%2==0 ) nInjected += tryQuery(zFile, azQuery[i], 1);
  }
  check(nTried>0 && nInjected>nTried*50, "only %d allocations failed", nInjected);
  sqlite3_shutdown();
  removeDb(zFile);
  return finish();
}
