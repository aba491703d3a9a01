/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Writers are killed.
**
** One to three processes, of ours or of stock, write to one database in turn,
** each the next transaction of load.c.  Before each commit and after it they
** write its number to a pipe, which outlives them.  Some other process reads
** at the same time and writes down what it saw.  At a random moment one of
** them or all are killed (SIGKILL), and when none is left stock looks at the
** file: integrity_check says ok; it holds the last transaction whose commit
** had returned, or one that was about to be committed; and it holds exactly
** what stock, in memory, has after the same number of transactions.  What the
** reader saw is compared in the same way.  Then the next writers go on with
** the same file.
**
** Spoiled, the writers keep no journal.  No process outlives its parent.
*/
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>
#include "crash.h"

#define N_ROUND    12        /* Kills of one database */
#define MX_CHILD   4
#define MX_SEEN    4000      /* Most states that a reader may see in a round */

/* What is written to the pipe: short enough to come in one piece */
typedef struct Log Log;
struct Log {
  int eWhat;                 /* LOG_COMMIT, LOG_DONE or LOG_SEEN */
  i64 k;                     /* Transaction */
  u64 iDigest;               /* What the database holds, if it was read */
};
#define LOG_SEEN  's'

static int fdLog;            /* Where a child writes them */
static i64 kCommit;          /* Greatest number that was about to be committed */
static i64 kDone;            /* Greatest number that was */
static Log aSeen[MX_SEEN];
static int nSeen;

static void writeLog(int eWhat, i64 k, u64 iDigest){
  Log log;
  memset(&log, 0, sizeof(log));
  log.eWhat = eWhat;
  log.k = k;
  log.iDigest = iDigest;
  if( write(fdLog, &log, sizeof(log))!=sizeof(log) ) _exit(3);
}
static void onLog(int eWhat, i64 k){
  writeLog(eWhat, k, 0);
}

/*
** A child gives up.
*/
static void giveUp(const Db *p, const Setup *pSetup){
  setupPrint(stdout, pSetup);
  failed("%s", p->zErr);
  _exit(3);
}

/*
** A process that writes until it is killed.
*/
static void writer(const Lib *pLib, const Setup *pSetup, const char *zFile){
  pid_t parent = getppid();
  Db db;
  int rc;
  do{
    rc = loadOpen(&db, pLib, pSetup, zFile, 0);
    if( rc && (rc&0xff)!=SQLITE_BUSY ) giveUp(&db, pSetup);
    if( rc ) dbClose(&db);
  }while( rc );
  if( args.bSpoil ) dbRun(&db, "PRAGMA journal_mode=off");
  while( getppid()==parent ){
    rc = loadStep(&db, pSetup, onLog);
    if( rc==SQLITE_OK ) rc = loadAfter(&db, pSetup, loadCount(&db));
    if( rc ) giveUp(&db, pSetup);
  }
  _exit(3);
}

/*
** A process that reads until it is killed.
*/
static void reader(const Lib *pLib, const Setup *pSetup, const char *zFile){
  pid_t parent = getppid();
  Db db;
  int n;
  if( dbOpen(&db, pLib, zFile, 0) ) giveUp(&db, pSetup);
  for(n=0; getppid()==parent; n++){
    u64 iDigest;
    i64 k;
    int rc = dbRun(&db, "PRAGMA cache_size=%d; BEGIN", n%3 ? 10 : -2000);
    if( rc ) giveUp(&db, pSetup);
    k = loadCount(&db);
    rc = k<0 ? db.pLib->extended_errcode(db.db) : dbDigest(&db, &iDigest);
    if( rc==SQLITE_OK && n%5==0 ) rc = dbCheck(&db);
    if( rc==SQLITE_OK ) writeLog(LOG_SEEN, k, iDigest);
    else if( (rc&0xff)!=SQLITE_BUSY ) giveUp(&db, pSetup);
    dbUndo(&db);
    usleep(1000*(n%20));
  }
  _exit(3);
}

/*
** Take what is in the pipe.
*/
static void readLogs(int fd){
  Log log;
  while( read(fd, &log, sizeof(log))==sizeof(log) ){
    if( log.eWhat==LOG_COMMIT && log.k>kCommit ) kCommit = log.k;
    if( log.eWhat==LOG_DONE && log.k>kDone ) kDone = log.k;
    if( log.eWhat==LOG_SEEN && nSeen<MX_SEEN ) aSeen[nSeen++] = log;
  }
}

/*
** For so many seconds, empty the pipe, or until a child has ended.
*/
static int waitWhile(int fd, double seconds){
  double end = now() + seconds;
  do{
    struct pollfd p = { fd, POLLIN, 0 };
    siginfo_t info;
    poll(&p, 1, 2);
    readLogs(fd);
    info.si_pid = 0;
    waitid(P_ALL, 0, &info, WEXITED|WNOHANG|WNOWAIT);
    if( info.si_pid ) return 1;
  }while( now()<end );
  return 0;
}

/*
** Start some processes and kill them.  Returns the number of those that ended
** by themselves, which is wrong.
*/
static int oneRound(const Setup *pSetup, const char *zFile, Rng *r){
  static const double aTime[] = { 0.02, 0.1, 0.3, 0.6 };
  pid_t aChild[MX_CHILD];
  int nChild = 1 + rngBelow(r, 3), nWriter = nChild, nEarly = 0;
  int aFd[2], i;
  double seconds = aTime[rngBelow(r, 4)]*(1 + rngBelow(r, 100))/100;
  if( pipe(aFd) || fcntl(aFd[0], F_SETFL, O_NONBLOCK) ) abort();
  if( rngBelow(r, 3)==0 ) nChild++;
  fflush(stdout);
  for(i=0; i<nChild; i++){
    /* The first is ours, the others are of either */
    const Lib *pLib = i==0 || rngBelow(r, 2) ? &ours : &stock;
    Setup setup = *pSetup;
    Setup other;
    setupInit(&other, rngNext(r));
    setup.zExtent = other.zExtent;
    setup.nCache = other.nCache;
    setup.zSecure = other.zSecure;
    if( strcmp(setup.zJournal, "wal")!=0 && strcmp(other.zJournal, "wal")!=0 ){
      setup.zJournal = other.zJournal;
    }
    aChild[i] = fork();
    if( aChild[i]<0 ) abort();
    if( aChild[i]==0 ){
      close(aFd[0]);
      fdLog = aFd[1];
      if( i<nWriter ) writer(pLib, &setup, zFile);
      else reader(pLib, &setup, zFile);
    }
  }
  close(aFd[1]);
  if( waitWhile(aFd[0], seconds)==0 && rngBelow(r, 2) ){
    /* One dies; those that are left find what it left */
    kill(aChild[0], SIGKILL);
    waitpid(aChild[0], 0, 0);
    aChild[0] = 0;
    waitWhile(aFd[0], seconds);
  }
  for(i=0; i<nChild; i++) if( aChild[i] ) kill(aChild[i], SIGKILL);
  for(i=0; i<nChild; i++){
    int status = 0;
    if( aChild[i]==0 ) continue;
    waitpid(aChild[i], &status, 0);
    if( !WIFSIGNALED(status) || WTERMSIG(status)!=SIGKILL ){
      if( WIFSIGNALED(status) ) failed("ended by signal %d", WTERMSIG(status));
      nEarly++;
    }
  }
  readLogs(aFd[0]);
  close(aFd[0]);
  return nEarly;
}

/*
** Replay transactions in memory up to number k, and compare what readers saw
** of those on the way.
*/
static int replay(Db *pTwin, const Setup *pSetup, i64 k){
  int i, nBad = 0;
  for(;;){
    i64 kTwin = loadCount(pTwin);
    for(i=0; i<nSeen; i++){
      u64 iDigest;
      if( aSeen[i].k!=kTwin ) continue;
      if( dbDigest(pTwin, &iDigest) || iDigest!=aSeen[i].iDigest ){
        nBad += failed("a reader saw another state after transaction %lld",
                       (long long)kTwin);
      }
    }
    if( kTwin>=k ) break;
    if( loadStep(pTwin, pSetup, 0) ) return nBad + failed("%s", pTwin->zErr);
  }
  for(i=0; i<nSeen; i++){
    if( aSeen[i].k>k ) nBad += failed("a reader saw transaction %lld, which is"
        " not there", (long long)aSeen[i].k);
  }
  return nBad;
}

/*
** Look at the file that was left, first with ours in another process, half of
** the time.
*/
static int checkFile(Db *pTwin, const Setup *pSetup, const char *zFile, int bOurs){
  u64 iDigest = 0, iWant = 0;
  i64 k;
  Db db;
  int rc, nBad;
  if( bOurs ){
    pid_t pid = fork();
    if( pid==0 ){
      if( dbOpen(&db, &ours, zFile, 0) || loadCount(&db)<0 ) giveUp(&db, pSetup);
      _exit(dbClose(&db));
    }
    waitpid(pid, &rc, 0);
    if( rc ) return failed("ours cannot recover it: status %d", rc);
  }
  rc = dbOpen(&db, &stock, zFile, 0);
  k = rc ? -1 : loadCount(&db);
  if( k>=0 ) rc = dbCheck(&db);
  if( k<0 || rc ){
    nBad = failed("after a kill: %s", db.zErr);
  }else if( k<kDone || k>kCommit ){
    nBad = failed("transaction %lld is the last; %lld was committed, %lld was"
                  " about to be", (long long)k, (long long)kDone,
                  (long long)kCommit);
  }else{
    nBad = replay(pTwin, pSetup, k);
    rc = dbDigest(&db, &iDigest);
    if( rc==SQLITE_OK ) rc = dbDigest(pTwin, &iWant);
    if( rc || iDigest!=iWant ){
      nBad += failed("after transaction %lld it holds something else (%d)",
                     (long long)k, rc);
    }
  }
  dbClose(&db);
  kDone = kCommit = k;
  return nBad;
}

/*
** One database.
*/
int killCase(u64 iSeed){
  Setup setup;
  Rng r = rngSeed(iSeed, 3);
  const char *zFile = fileName("kill.db");
  Db db, twin;
  int i, rc, nBad = 0;
  setupInit(&setup, iSeed);
  if( setup.nRow>4000 ) setup.nRow = 4000;
  if( rngBelow(&r, 2) ) setup.zSync = "off";   /* The system stays alive */
  setupLockByte(&setup);
  removeDb(zFile);
  rc = dbOpen(&twin, &stock, ":memory:", 0);
  if( rc==SQLITE_OK ) rc = loadCreate(&twin);
  if( rc ) return failed("%s", twin.zErr);
  rc = loadOpen(&db, &stock, &setup, zFile, 0);
  if( rc==SQLITE_OK ) rc = loadCreate(&db);
  if( rc ) return failed("%s", db.zErr);
  dbClose(&db);
  kDone = kCommit = 0;
  for(i=0; i<N_ROUND && nBad==0; i++){
    nSeen = 0;
    nBad += oneRound(&setup, zFile, &r);
    nBad += checkFile(&twin, &setup, zFile, rngBelow(&r, 2));
  }
  if( nBad || args.bVerbose ){
    setupPrint(stdout, &setup);
    printf("  %d kills, %lld transactions, %d failures\n", i,
           (long long)kDone, nBad);
  }
  dbClose(&twin);
  if( nBad==0 || args.bSpoil ) removeDb(zFile);
  else printf("  it is left in %s\n", zFile);
  return nBad;
}
