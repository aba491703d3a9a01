/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** The same transactions by ours and by stock, each on a file of its own.
**
** After each the answers to all statements must have been the same, and both
** files hold the same.  Now and then stock looks at the file of ours with
** integrity_check, in another process.  Between the transactions, at random:
** both are closed and opened again; they change files, so that each goes on
** with what the other wrote; VACUUM INTO; a backup to a new file while
** transactions go on, and one from the file of stock over that of ours.
**
** Half of the cases are on the VFS of power.c.  There the disk is full or a
** request fails in the middle of a transaction: then the file must hold what
** it held before, or if the commit failed perhaps what it would hold after.
**
** With hp_extent=off, and then hp_offload=off, since VACUUM lays large b-trees
** bottom up, or while no b-tree has as many pages as one that
** reserves, each b-tree has the very pages in both files.
**
** In the end both get rows until max_page_count stops them.
**
** Spoiled, ours changes one row in secret.
*/
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "crash.h"

#define N_STEP      70       /* Transactions of a case: a period of load.c */
#define MIN_EXTENT  32       /* A b-tree of fewer pages reserves nothing */

typedef struct Twin Twin;
struct Twin {
  Setup setup;
  const char *zVfs;          /* "power", or NULL for real files */
  char azFile[2][400];       /* Names of the two files */
  Db a;                      /* Ours, which has azFile[iOurs] */
  Db b;                      /* Stock, which has the other */
  int iOurs;
  int bSame;                 /* Each b-tree has the same pages in both */
  Rng r;
  int nFault;                /* Transactions that were made to fail */
  double rSize;              /* Greatest size of ours over that of stock */
};

static int openTwins(Twin *p){
  int rc = loadOpen(&p->a, &ours, &p->setup, p->azFile[p->iOurs], p->zVfs);
  if( rc==SQLITE_OK ){
    rc = loadOpen(&p->b, &stock, &p->setup, p->azFile[!p->iOurs], p->zVfs);
  }
  return rc;
}

static int closeTwins(Twin *p){
  int rc = dbClose(&p->a);
  return rc ? rc : dbClose(&p->b);
}

static int report(Twin *p, const char *zWhat, i64 k){
  setupPrint(stdout, &p->setup);
  return failed("%s after transaction %lld (%s)\n  %s\n  %s\n"
     "  repeat: --seed %llu --cases 1", zWhat, (long long)k,
     p->zVfs ? "in memory" : "real files", p->a.zErr, p->b.zErr,
     (unsigned long long)p->setup.iSeed);
}

/*
** Stock looks at a file: 0 if it is sound and has the digest wanted.
*/
static int inspect(Twin *p, const char *zFile, u64 iWant){
  u64 iDigest = 0;
  Db db;
  int rc = dbOpen(&db, &stock, zFile, p->zVfs);
  if( rc==SQLITE_OK ) rc = dbCheck(&db);
  if( rc==SQLITE_OK ) rc = dbDigest(&db, &iDigest);
  if( rc ) printf("  stock says: %s\n", db.zErr);
  else if( iDigest!=iWant ) printf("  stock finds other contents\n");
  dbClose(&db);
  fflush(stdout);
  return rc || iDigest!=iWant;
}

/*
** The same in another process: the file is open here.
*/
static int inspectOurs(Twin *p, u64 iWant){
  int status;
  pid_t pid;
  fflush(stdout);
  pid = fork();
  if( pid==0 ) _exit(inspect(p, p->azFile[p->iOurs], iWant));
  waitpid(pid, &status, 0);
  return status!=0;
}

/*
** Are both files alike?  Returns the number of failures.
*/
static int compareTwins(Twin *p, i64 k, int bInspect){
  u64 iA, iB;
  if( p->a.iAnswer!=p->b.iAnswer ) return report(p, "other answers", k);
  if( dbDigest(&p->a, &iA) || dbDigest(&p->b, &iB) ){
    return report(p, "a file cannot be read", k);
  }
  if( iA!=iB ) return report(p, "other contents", k);
  if( bInspect && inspectOurs(p, iA) ){
    return report(p, "the file is not sound", k);
  }
  return 0;
}

/*
** While nothing is reserved both files have the same pages.
*/
static int comparePages(Twin *p, i64 k){
  static const char zPages[] =
    "SELECT name, path, pageno, pagetype FROM dbstat ORDER BY pageno";
  i64 nPage = dbInt(&p->a, "PRAGMA page_count");
  i64 nStock = dbInt(&p->b, "PRAGMA page_count");
  u64 aHash[2];
  int i;
  if( nStock>1000 && (double)nPage/nStock>p->rSize ){
    p->rSize = (double)nPage/nStock;
  }
  if( strcmp(p->setup.zExtent, "auto")==0
   && dbInt(&p->a, "SELECT count(*) FROM dbstat GROUP BY name"
                   " ORDER BY 1 DESC")>=MIN_EXTENT
  ){
    p->bSame = 0;
  }
  if( !p->bSame ) return 0;
  for(i=0; i<2; i++){
    Db *pDb = i ? &p->b : &p->a;
    pDb->iAnswer = 0;
    if( dbRun(pDb, zPages) ) return report(p, "no dbstat", k);
    aHash[i] = pDb->iAnswer;
  }
  if( aHash[0]!=aHash[1] || nPage!=nStock ){
    return report(p, "other pages than stock's", k);
  }
  return 0;
}

/*
** The next transaction of both.
*/
static int stepBoth(Twin *p, i64 k){
  p->a.iAnswer = p->b.iAnswer = 0;
  if( loadStep(&p->a, &p->setup, 0) || loadAfter(&p->a, &p->setup, k)
   || loadStep(&p->b, &p->setup, 0) || loadAfter(&p->b, &p->setup, k)
  ){
    return report(p, "an error", k);
  }
  return 0;
}

/*
** Let a request of ours fail in the middle of a transaction, or the disk be
** full.  It may have been done all the same; if not, do it again.
*/
static int stepFaulty(Twin *p, i64 k){
  u64 iBefore, iAfter;
  i64 kNow;
  int rc;
  if( dbDigest(&p->a, &iBefore) ) return report(p, "an error", k);
  if( rngBelow(&p->r, 2) ){
    power.nLimit = powerBytes() + 1 + rngBelow(&p->r, 20*p->setup.szPage);
  }else{
    power.nFail = 1 + rngBelow(&p->r, rngBelow(&p->r, 2) ? 30 : 1000);
  }
  power.nFailed = 0;
  rc = loadStep(&p->a, &p->setup, 0);
  if( rc==SQLITE_OK ) rc = loadAfter(&p->a, &p->setup, k);
  if( rc && power.nFailed==0 ) return report(p, "an error without a fault", k);
  p->nFault += power.nFailed>0;
  power.nLimit = power.nFail = 0;
  dbUndo(&p->a);
  if( rngBelow(&p->r, 3)==0 ){
    if( closeTwins(p) || openTwins(p) ) return report(p, "cannot reopen", k);
  }
  kNow = loadCount(&p->a);
  if( kNow==k && dbDigest(&p->a, &iAfter)==SQLITE_OK && iAfter!=iBefore ){
    return report(p, "a failure was not undone", k);
  }
  if( kNow==k ) rc = loadStep(&p->a, &p->setup, 0);
  else rc = kNow==k+1 ? SQLITE_OK : SQLITE_ERROR;
  if( rc || loadStep(&p->b, &p->setup, 0) ){
    return report(p, "an error after a failure", k);
  }
  p->a.iAnswer = p->b.iAnswer = 0;
  p->bSame = 0;              /* Unless ours had to take the same way */
  return 0;
}

/*
** Copy pFrom to a new file, a few pages at a time, while transactions go on.
*/
static int backupWhileWriting(Twin *p, const char *zTo, i64 *pk){
  sqlite3_backup *pBackup;
  Db to;
  int rc, nBad = 0, nStep = 0;
  u64 iDigest;
  if( dbOpen(&to, &ours, zTo, p->zVfs) ) return report(p, to.zErr, *pk);
  pBackup = ours.backup_init(to.db, "main", p->a.db, "main");
  if( pBackup==0 ) return report(p, "no backup", *pk);
  do{
    rc = ours.backup_step(pBackup, 1 + rngBelow(&p->r, 40));
    /* It may have to begin again after a transaction: let it end */
    if( rc==SQLITE_OK && nStep<6 && rngBelow(&p->r, 3)==0 ){
      nStep++;
      nBad = stepBoth(p, *pk);
      ++*pk;
    }
  }while( rc==SQLITE_OK && nBad==0 );
  ours.backup_finish(pBackup);
  dbClose(&to);
  if( nBad ) return nBad;
  if( rc!=SQLITE_DONE || dbDigest(&p->a, &iDigest) ){
    return report(p, "a backup fails", *pk);
  }
  return inspect(p, zTo, iDigest) ? report(p, "a bad backup", *pk) : 0;
}

/*
** Copy the file of stock over that of ours, with ours.
*/
static int backupOver(Twin *p, i64 k){
  sqlite3_backup *pBackup;
  Db from;
  int rc;
  dbClose(&p->b);
  rc = dbOpen(&from, &ours, p->azFile[!p->iOurs], p->zVfs);
  if( rc==SQLITE_OK ){
    pBackup = ours.backup_init(p->a.db, "main", from.db, "main");
    if( pBackup==0 ) return report(p, "no backup", k);
    while( (rc = ours.backup_step(pBackup, 50))==SQLITE_OK ){}
    ours.backup_finish(pBackup);
  }
  dbClose(&from);
  if( rc!=SQLITE_DONE || dbClose(&p->a) || openTwins(p) ){
    return report(p, "a backup over ours fails", k);
  }
  return 0;
}

static void removeFile(Twin *p, const char *zFile){
  if( p->zVfs==0 ) removeDb(zFile);
}

/*
** One of the things that happen between transactions.
*/
static int between(Twin *p, i64 *pk){
  char zNew[440];
  u64 iDigest;
  int nBad = 0;
  snprintf(zNew, sizeof(zNew), "%s-new%lld", p->azFile[0], (long long)*pk);
  switch( rngBelow(&p->r, 24) ){
    case 0: case 1: case 2:
      if( closeTwins(p) || openTwins(p) ) return report(p, "cannot open", *pk);
      break;
    case 3:
      if( strcmp(p->setup.zExtent, "off")!=0 ) p->bSame = 0;
      if( closeTwins(p) ) return report(p, "cannot close", *pk);
      p->iOurs = !p->iOurs;
      if( openTwins(p) ) return report(p, "cannot open", *pk);
      break;
    case 4:
      if( dbRun(&p->a, "VACUUM INTO '%s'", zNew) || dbDigest(&p->a, &iDigest) ){
        return report(p, "VACUUM INTO fails", *pk);
      }
      if( inspect(p, zNew, iDigest) ) nBad = report(p, "VACUUM INTO", *pk);
      removeFile(p, zNew);
      break;
    case 5:
      nBad = backupWhileWriting(p, zNew, pk);
      removeFile(p, zNew);
      break;
    case 6:
      nBad = backupOver(p, *pk);
      break;
  }
  return nBad;
}

/*
** How many rows go in before max_page_count stops them?  -1 on another error.
*/
static i64 fillUp(Db *p, i64 nMost, int nTable){
  i64 n;
  if( dbInt(p, "PRAGMA max_page_count=%lld", (long long)nMost)!=nMost ) return -1;
  for(n=0; n<100000; n++){
    int rc = n%50==0 ? dbRun(p, n ? "COMMIT; BEGIN" : "BEGIN") : SQLITE_OK;
    if( rc==SQLITE_OK ) rc = dbRun(p, "INSERT INTO full%d VALUES(fill(%lld,mix(%lld)%%900))",
                   (int)(n%nTable), (long long)n, (long long)n);
    if( rc ) dbUndo(p);
    if( rc ) return rc==SQLITE_FULL ? n : -1;
  }
  return -1;
}

/*
** In the end.  Nothing is reserved in a file after VACUUM, and what is
** reserved later is used before the file is said to be full.
*/
static int fillBoth(Twin *p, i64 k){
  i64 aPage[2], aRow[2], nEach, nMost = 0;
  int i, j, nTable = 1 + rngBelow(&p->r, 5);
  for(i=0; i<2; i++){
    Db *pDb = i ? &p->b : &p->a;
    if( dbRun(pDb, "VACUUM") ) return report(p, "VACUUM", k);
    aPage[i] = dbInt(pDb, "PRAGMA page_count");
    for(j=0; j<nTable; j++){
      if( dbRun(pDb, "CREATE TABLE full%d(x)", j) ) return report(p, "?", k);
    }
    nEach = dbInt(pDb, "PRAGMA page_count");
    if( nEach>nMost ) nMost = nEach;
  }
  nMost += 50 + rngBelow(&p->r, p->setup.szPage>8192 ? 20 : 1000);
  for(i=0; i<2; i++){
    Db *pDb = i ? &p->b : &p->a;
    aRow[i] = fillUp(pDb, nMost, nTable);
  }
  if( aPage[0]!=aPage[1] || aRow[0]!=aRow[1] || aRow[0]<0 ){
    char zWhat[200];
    snprintf(zWhat, sizeof(zWhat), "ours has %lld pages after VACUUM, stock"
       " %lld; it takes %lld rows until it is full, stock %lld",
       (long long)aPage[0], (long long)aPage[1], (long long)aRow[0],
       (long long)aRow[1]);
    return report(p, zWhat, k);
  }
  p->a.iAnswer = p->b.iAnswer = 0;
  return compareTwins(p, k, 1);
}

/*
** One case.  Returns the number of failures.
*/
int twinCase(u64 iSeed){
  Twin t;
  int nBad = 0;
  i64 k = 0;
  memset(&t, 0, sizeof(t));
  powerClear();
  setupInit(&t.setup, iSeed);
  t.r = rngSeed(iSeed, 4);
  setupLockByte(&t.setup);
  powerRegister(&stock);
  powerRegister(&ours);
  if( rngBelow(&t.r, 2) ){
    t.zVfs = "power";
    power.szSector = 512;
    power.bSafe = 1;
    power.bForget = 1;
    strcpy(t.azFile[0], "one");
    strcpy(t.azFile[1], "two");
  }else{
    strcpy(t.azFile[0], fileName("one.db"));
    strcpy(t.azFile[1], fileName("two.db"));
    t.setup.zSync = "off";
    removeDb(t.azFile[0]);
    removeDb(t.azFile[1]);
  }
  t.bSame = strcmp(t.setup.zExtent, "auto")==0
         || strcmp(t.setup.zExtent, "off")==0;
  if( openTwins(&t) || loadCreate(&t.a) || loadCreate(&t.b) ){
    return report(&t, "cannot make it", 0);
  }
  while( k<N_STEP && nBad==0 ){
    if( t.zVfs && rngBelow(&t.r, 4)==0 ) nBad = stepFaulty(&t, k);
    else nBad = stepBoth(&t, k);
    k++;
    if( args.bSpoil && k==5 ) dbRun(&t.a, "UPDATE t0 SET a=1 WHERE a<9999");
    if( nBad==0 ) nBad = compareTwins(&t, k, rngBelow(&t.r, 5)==0);
    if( nBad==0 ) nBad = comparePages(&t, k);
    if( nBad==0 ) nBad = between(&t, &k);
  }
  if( nBad==0 ) nBad = fillBoth(&t, k);
  if( args.bVerbose ){
    setupPrint(stdout, &t.setup);
    printf("  %s, %lld transactions, %d failing, size %.3f of stock's"
      " at most, %s pages, %d failures\n", t.zVfs ? "in memory" : "real files",
      (long long)k, t.nFault, t.rSize, t.bSame ? "the same" : "other", nBad);
  }
  closeTwins(&t);
  removeFile(&t, t.azFile[0]);
  removeFile(&t, t.azFile[1]);
  return nBad;
}
