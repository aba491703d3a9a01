/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** The power fails.
**
** Ours carries out transactions on the VFS of power.c.  Its writes,
** truncations, syncs and deletions are numbered; at up to N_COPY of those of
** each transaction the database is copied as an outage at that moment might
** leave it.  Each copy is opened by one library or the other, which recovers
** it, and looked at by stock: integrity_check says ok, and it holds exactly
** what stock has in memory after the same transactions: all whose commit had
** returned, and perhaps the one that was under way.
**
** Where synchronous promises less, less is asked for: with WAL and NORMAL any
** number of the last ones may be missing, and with FULL and a journal that is
** deleted the last one, since the folder is not synced.
*/
#include <stdlib.h>
#include <string.h>
#include "crash.h"

#define N_COPY     10        /* Most copies of one transaction */
#define N_STEP     70        /* Transactions of a case: a period of load.c */

/* A copy that waits to be looked at */
typedef struct Copy Copy;
struct Copy {
  i64 iEvent;                /* When it was made */
  i64 kLeast;                /* Transactions that it must have */
};
static Copy aCopy[N_COPY];
static int nCopy;            /* Copies of this transaction */
static i64 nSeen;            /* Its events */
static i64 kDone;            /* Last transaction whose commit has returned */
static i64 nBehind;          /* How many of the last ones may be missing */
static u64 iCase;            /* Seed of the case */
static Rng choice;           /* Which events are chosen */

/*
** Called before each event: each is chosen with equal probability, and all of
** them if there are no more than N_COPY.
*/
static void onEvent(void){
  char zTo[40];
  Rng r;
  int i;
  if( args.iPoint ){
    if( power.nEvent!=args.iPoint ) return;
    i = 0;
  }else{
    i = nSeen<N_COPY ? (int)nSeen : rngBelow(&choice, (int)nSeen+1);
    nSeen++;
    if( i>=N_COPY ) return;
  }
  if( i>=nCopy ) nCopy = i+1;
  snprintf(zTo, sizeof(zTo), "copy%d", i);
  /* From the number of the event, so that it is the same copy if it is made
  ** alone */
  r = rngSeed(iCase, 3000000000u + power.nEvent);
  powerOutage(&r, "db", zTo);
  aCopy[i].iEvent = power.nEvent;
  aCopy[i].kLeast = kDone>nBehind ? kDone - nBehind : 0;
}

static void onLog(int eWhat, i64 k){
  if( eWhat==LOG_DONE ) kDone = k;
}

/*
** Recover copy i and look at it.  aDigest[k] is what it must hold after k
** transactions, up to nDigest.
*/
static int checkCopy(const Setup *pSetup, int i, const u64 *aDigest, int nDigest){
  const Copy *p = &aCopy[i];
  char zFile[40];
  u64 iDigest = 0;
  i64 k = -1;
  Db db;
  int rc = SQLITE_OK, nBad = 0;
  snprintf(zFile, sizeof(zFile), "copy%d", i);
  if( p->iEvent%2 ){
    rc = dbOpen(&db, &ours, zFile, "power");
    if( rc==SQLITE_OK && loadCount(&db)<0 ) rc = SQLITE_ERROR;
    dbClose(&db);
  }
  if( rc==SQLITE_OK ) rc = dbOpen(&db, &stock, zFile, "power");
  if( rc==SQLITE_OK ){
    k = loadCount(&db);
    rc = k<0 ? SQLITE_ERROR : dbCheck(&db);
    if( rc==SQLITE_OK ) rc = dbDigest(&db, &iDigest);
  }
  dbClose(&db);
  if( rc || k<p->kLeast || k>=nDigest || iDigest!=aDigest[k] ){
    setupPrint(stdout, pSetup);
    nBad = failed("outage at event %lld: %s: transaction %lld, at least %lld"
        " of %d expected, %s\n  repeat: --seed %llu --point %lld",
        (long long)p->iEvent, rc ? db.zErr : "sound", (long long)k,
        (long long)p->kLeast, nDigest-1,
        k>=0 && k<nDigest && iDigest==aDigest[k] ? "as it was" : "changed",
        (unsigned long long)iCase, (long long)p->iEvent);
  }
  return nBad;
}

/*
** One case.  Returns the number of failures.
*/
int outageCase(u64 iSeed){
  u64 aDigest[N_STEP+2];
  Setup setup;
  Db db, twin;
  i64 nCheck = 0;
  int i, k, rc, nBad = 0;
  powerClear();
  setupInit(&setup, iSeed);
  /* Many events need many transactions rather than large ones */
  if( setup.nRow>1000 ) setup.nRow = 1000;
  if( setup.nBlob>20000 ) setup.nBlob = 20000;
  if( setup.nBulk>300 ) setup.nBulk = 300;
  setupLockByte(&setup);
  iCase = iSeed;
  choice = rngSeed(iSeed, 2);
  kDone = 0;
  power.szSector = rngBelow(&choice, 3) ? 512 : 4096;
  power.bSafe = rngBelow(&choice, 3)!=0;
  nBehind = 0;
  if( strcmp(setup.zJournal, "wal")==0 ){
    if( strcmp(setup.zSync, "normal")==0 ) nBehind = N_STEP;
  }else if( strcmp(setup.zJournal, "delete")==0 ){
    if( strcmp(setup.zSync, "full")==0 ) nBehind = 1;
  }
  powerRegister(&stock);
  powerRegister(&ours);
  rc = dbOpen(&twin, &stock, ":memory:", 0);
  if( rc==SQLITE_OK ) rc = loadCreate(&twin);
  if( rc==SQLITE_OK ) rc = dbDigest(&twin, &aDigest[0]);
  if( rc ) return failed("%s", twin.zErr);
  rc = loadOpen(&db, &ours, &setup, "db", "power");
  if( rc==SQLITE_OK ) rc = loadCreate(&db);
  if( rc==SQLITE_OK ) rc = dbRun(&db, "PRAGMA wal_checkpoint");
  power.bLie = args.bSpoil;
  for(k=0; k<N_STEP && rc==SQLITE_OK && nBad==0; k++){
    nCopy = 0;
    nSeen = 0;
    power.xEvent = onEvent;
    rc = loadStep(&db, &setup, onLog);
    if( rc==SQLITE_OK ) rc = loadAfter(&db, &setup, k);
    power.xEvent = 0;
    if( rc==SQLITE_OK ){
      if( loadStep(&twin, &setup, 0) || dbDigest(&twin, &aDigest[k+1]) ){
        return failed("%s", twin.zErr);
      }
    }
    i64 nEvent = power.nEvent;
    for(i=0; i<nCopy && rc==SQLITE_OK; i++, nCheck++){
      nBad += checkCopy(&setup, i, aDigest, k+2);
    }
    power.nEvent = nEvent;
  }
  if( rc ) nBad += failed("seed %llu: %s", (unsigned long long)iSeed, db.zErr);
  if( args.bVerbose ){
    setupPrint(stdout, &setup);
    printf("  %d transactions, %lld events, %lld outages, %d failures\n", k,
           (long long)power.nEvent, (long long)nCheck, nBad);
  }
  dbClose(&db);
  dbClose(&twin);
  return nBad;
}
