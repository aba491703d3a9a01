/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** A thread checkpoints (hp_checkpoint.c): the log stays short, and whoever does
** not ask for the thread does not notice it.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "hptest.h"

static const char zLeft[] = "checkpoints left to a thread";

/* A short log, so that there is a checkpoint every few commits */
#define SHORT "PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=20;"

static sqlite3 *opened(const char *zFile){
  sqlite3 *db = openDb(&ours, zFile, 0);
  sqlite3_busy_timeout(db, 30000);
  execute(db, "PRAGMA wal_autocheckpoint=20; PRAGMA hp_threads=4");
  return db;
}
static sqlite3 *made(const char *zFile, const char *zPragmas){
  return freshDb(opened, zFile, zPragmas, "CREATE TABLE t(id INTEGER PRIMARY KEY, who, v)");
}

/* Bytes of a file with the name of a database and an end; -1: there is none */
static sqlite3_int64 sizeOf(const char *zFile, const char *zEnd){
  char zName[400];
  struct stat buf;
  sqlite3_snprintf(sizeof(zName), zName, "%s%s", zFile, zEnd);
  return stat(zName, &buf) ? -1 : (sqlite3_int64)buf.st_size;
}
/* Frames that the log has room for */
static int framesOf(const char *zFile){
  return (int)(sizeOf(zFile, "-wal")/4120);
}

/* Threads of this process */
static int threads(void){
  char zLine[200];
  int n = -1;
  FILE *in = fopen("/proc/self/status", "r");
  while( in && fgets(zLine, sizeof(zLine), in) ){
    if( strncmp(zLine, "Threads:", 8)==0 ) n = atoi(&zLine[8]);
  }
  if( in ) fclose(in);
  return n;
}

/* With a thread there may be others, of a sanitizer: those are there from now on */
static void *nothing(void *p){ return p; }
static void settle(void){
  pthread_t thread;
  pthread_create(&thread, 0, nothing, 0);
  pthread_join(thread, 0);
}

/* n commits of one row */
static void commits(sqlite3 *db, int n){
  sqlite3_stmt *pStmt = prepared(db, "INSERT INTO t(v) VALUES(randomblob(300))");
  int i, rc = SQLITE_DONE;
  for(i=0; i<n && rc==SQLITE_DONE; i++){
    rc = sqlite3_step(pStmt);
    sqlite3_reset(pStmt);
  }
  check(rc==SQLITE_DONE, "commit %d of %d: %s", i, n, sqlite3_errmsg(db));
  sqlite3_finalize(pStmt);
}

/* One connection: the first checkpoint is SQLite's, the others the thread's; the
** log is gone when it is closed, and so is the thread. */
static void testOne(void){
  const char *zFile = temporaryFile("one.db");
  sqlite3 *db = made(zFile, SHORT);
  int n = threads();
  commits(db, 6);
  check(counted(db, zLeft)==0 && threads()==n, "no thread before the second checkpoint");
  commits(db, 3000);
  check(counted(db, zLeft)>0 && threads()==n+1, "the thread checkpoints: %d", (int)counted(db, zLeft));
  check(framesOf(zFile)<=2*20+10, "the log has %d frames", framesOf(zFile));
  check(integer(&ours, db, "SELECT count(*) FROM t")==3006, "all rows are there");
  checkIntegrity(&ours, db, "one connection");
  sqlite3_close(db);
  check(threads()==n, "the thread has ended: %d", threads());
  check(sizeOf(zFile, "-wal")<0 && sizeOf(zFile, "-shm")<0, "the last one removes the log");
  db = opened(zFile);
  check(integer(&ours, db, "SELECT count(*) FROM t")==3006, "all rows are in the file");
  sqlite3_close(db);
}

/* Without busy handler nobody finds a lock taken by the thread: neither who begins
** to write, nor who has read before, nor who checkpoints. */
static void testNobodyBusy(const char *zSync, int bThread){
  static const char *const azMode[] = { "PASSIVE", "FULL", "RESTART", "TRUNCATE" };
  const char *zFile = temporaryFile("busy.db");
  sqlite3 *db = made(zFile, SHORT);
  int i, nRound = longRun() ? 20000 : 3000;
  sqlite3_busy_timeout(db, 0);
  execute(db, zSync);
  for(i=0; i<nRound; i++){
    if( i%3==0 ){
      execute(db, "BEGIN; SELECT count(*) FROM t WHERE id<5; INSERT INTO t(v) VALUES(randomblob(5000)); COMMIT");
    }else if( i%3==1 ){
      execute(db, "BEGIN IMMEDIATE; UPDATE t SET v=randomblob(400) WHERE id=(SELECT max(id) FROM t); COMMIT");
    }else{
      execute(db, "DELETE FROM t WHERE id%7=1; INSERT INTO t(v) VALUES(zeroblob(9000))");
    }
    if( i%41==0 ){
      char zSql[100];
      sqlite3_stmt *pStmt;
      sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA wal_checkpoint(%s)", azMode[i/41%4]);
      pStmt = prepared(db, zSql);
      check(sqlite3_step(pStmt)==SQLITE_ROW && sqlite3_column_int(pStmt, 0)==0,
            "%s: busy in round %d", zSql, i);
      check(sqlite3_column_int(pStmt, 1)==sqlite3_column_int(pStmt, 2), "%s: the whole log, in round %d", zSql, i);
      sqlite3_finalize(pStmt);
    }
    if( i%97==0 ){
      execute(db, "PRAGMA journal_mode=delete; INSERT INTO t(v) VALUES(1); PRAGMA journal_mode=wal");
    }
    if( i%113==50 ){
      execute(db, "PRAGMA locking_mode=exclusive; INSERT INTO t(v) VALUES(1); PRAGMA locking_mode=normal;"
                  " INSERT INTO t(v) VALUES(1)");
    }
    if( i%211==0 ) execute(db, "VACUUM");
  }
  check((counted(db, zLeft)>0)==bThread, "the thread has checkpointed, with %s", zSync);
  checkIntegrity(&ours, db, "nobody is busy");
  sqlite3_close(db);
  check(sizeOf(zFile, "-wal")<0, "the log is gone");
}

/* Writers and short readers: the log stays within about twice its limit. */
typedef struct Load Load;
struct Load {
  const char *zFile;
  int *pbEnd;
  int bWrites;
  int nUs;               /* Microseconds that a reader reads */
  int n;                 /* Transactions */
};
static void *load(void *pArg){
  Load *p = (Load*)pArg;
  sqlite3 *db = opened(p->zFile);
  execute(db, "PRAGMA synchronous=normal");
  while( !__atomic_load_n(p->pbEnd, __ATOMIC_SEQ_CST) ){
    if( p->bWrites ){
      execute(db, "BEGIN IMMEDIATE; INSERT INTO t(v) VALUES(randomblob(300)); COMMIT");
    }else{
      sqlite3_stmt *pStmt = prepared(db, "SELECT id FROM t");
      if( sqlite3_step(pStmt)==SQLITE_ROW ) usleep((useconds_t)p->nUs);
      sqlite3_finalize(pStmt);
    }
    p->n++;
  }
  sqlite3_close(db);
  return 0;
}
static void testLength(int nWriter, int nReader, int nUs, int nMost){
  const char *zFile = temporaryFile("length.db");
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=200; PRAGMA journal_size_limit=0");
  int i, bEnd = 0, nLong = 0, n = nWriter+nReader;
  pthread_t aThread[8];
  Load aLoad[8];
  for(i=0; i<n; i++){
    Load x = { zFile, &bEnd, i<nWriter, nUs, 0 };
    aLoad[i] = x;
    pthread_create(&aThread[i], 0, load, &aLoad[i]);
  }
  for(i=0; i<(longRun() ? 1000 : 150); i++){
    int k = framesOf(zFile);
    if( k>nLong ) nLong = k;
    usleep(10000);
  }
  __atomic_store_n(&bEnd, 1, __ATOMIC_SEQ_CST);
  for(i=0; i<n; i++) pthread_join(aThread[i], 0);
  check(nLong<=nMost, "%d writers, %d readers of %d us: %d frames", nWriter, nReader, nUs, nLong);
  for(i=0; i<n; i++) check(aLoad[i].n>5, "thread %d of %d has %d transactions", i, n, aLoad[i].n);
  checkIntegrity(&ours, db, "writers and readers");
  sqlite3_close(db);
  check(sizeOf(zFile, "-wal")<0, "the log is gone");
}

/* A reader of an old snapshot keeps seeing it; when it is gone the log is copied. */
static void testReader(void){
  const char *zFile = temporaryFile("reader.db");
  sqlite3 *db = made(zFile, SHORT), *db2 = opened(zFile);
  commits(db, 50);
  execute(db2, "BEGIN");
  check(integer(&ours, db2, "SELECT count(*) FROM t")==50, "50 rows");
  commits(db, 2000);
  check(integer(&ours, db2, "SELECT count(*) FROM t")==50, "still 50 rows");
  check(framesOf(zFile)>2000, "the log could not begin anew");
  execute(db2, "COMMIT");
  check(integer(&ours, db2, "SELECT count(*) FROM t")==2050, "2050 rows");
  sqlite3_close(db2);
  execute(db, "PRAGMA journal_size_limit=0");
  commits(db, 500);
  usleep(300000);
  commits(db, 500);
  check(framesOf(zFile)<200, "the log has begun anew: %d", framesOf(zFile));
  sqlite3_close(db);
}

/* fork() at any moment: the child opens the same file, and another one, and both
** processes go on. */
static void testFork(void){
  const char *zFile = temporaryFile("forked.db");
  const char *zOther = temporaryFile("child.db");
  sqlite3 *db = made(zFile, SHORT);
  int i, n = longRun() ? 300 : 40;
  for(i=0; i<n; i++){
    pid_t pid;
    int iStatus = 0;
    commits(db, 17+i);
    fflush(stdout);
    pid = fork();
    if( pid==0 ){
      int k, rc = SQLITE_OK;
      alarm(60);
      for(k=0; k<80 && rc==SQLITE_OK; k+=40){
        sqlite3 *db2 = k ? opened(zFile) : made(zOther, SHORT);
        int j;
        for(j=0; j<(k ? 1 : 60) && rc==SQLITE_OK; j++){
          rc = sqlite3_exec(db2, "INSERT INTO t(v) VALUES(randomblob(300))", 0, 0, 0);
        }
        if( rc==SQLITE_OK ) rc = sqlite3_close(db2);
      }
      _exit(rc);
    }
    commits(db, 20);
    while( waitpid(pid, &iStatus, 0)<0 && errno==EINTR ){}
    check(WIFEXITED(iStatus) && WEXITSTATUS(iStatus)==0, "child %d ends with %x", i, iStatus);
  }
  check(counted(db, zLeft)>0, "the thread has checkpointed");
  checkIntegrity(&ours, db, "fork");
  sqlite3_close(db);
}

/* n threads, half of them of xOne, for a while: none stands still */
static void together(const char *zFile, int n, void *(*xOne)(void*), void *(*xTwo)(void*)){
  int i, bEnd = 0;
  pthread_t aThread[4];
  Load aLoad[4];
  for(i=0; i<n; i++){
    Load x = { zFile, &bEnd, 1, 0, 0 };
    aLoad[i] = x;
    pthread_create(&aThread[i], 0, i*2<n ? xOne : xTwo, &aLoad[i]);
  }
  alarm(100);
  usleep(longRun() ? 20000000 : 1500000);
  __atomic_store_n(&bEnd, 1, __ATOMIC_SEQ_CST);
  for(i=0; i<n; i++) pthread_join(aThread[i], 0);
  alarm(0);
  for(i=0; i<n; i++) check(aLoad[i].n>5, "%s: thread %d of %d: %d times", zFile, i, n, aLoad[i].n);
}

/* An application checkpoints while commits wait for the thread to do so: what the
** thread has yet to begin is not wanted any more, and nobody waits for it. */
static void *checkpointer(void *pArg){
  Load *p = (Load*)pArg;
  sqlite3 *db = opened(p->zFile);
  while( !__atomic_load_n(p->pbEnd, __ATOMIC_SEQ_CST) ){
    sqlite3_exec(db, "PRAGMA wal_checkpoint(restart)", 0, 0, 0);
    p->n++;
  }
  sqlite3_close(db);
  return 0;
}
static void *often(void *pArg){
  Load *p = (Load*)pArg;
  sqlite3 *db = opened(p->zFile);
  execute(db, "PRAGMA synchronous=normal; PRAGMA wal_autocheckpoint=2");
  while( !__atomic_load_n(p->pbEnd, __ATOMIC_SEQ_CST) ){
    execute(db, "UPDATE t SET v=v+1 WHERE id%500=7");
    p->n++;
  }
  sqlite3_close(db);
  return 0;
}
static void testForgotten(void){
  const char *zFile = temporaryFile("forgotten.db");
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=2");
  execute(db, "INSERT INTO t(v) SELECT value FROM " SERIES("3000"));
  together(zFile, 4, checkpointer, often);
  checkIntegrity(&ours, db, "two that checkpoint");
  sqlite3_close(db);
}

/* Many connections are opened and closed while others write. */
static void *opener(void *pArg){
  Load *p = (Load*)pArg;
  while( !__atomic_load_n(p->pbEnd, __ATOMIC_SEQ_CST) ){
    sqlite3 *db = opened(p->zFile);
    execute(db, "PRAGMA synchronous=normal");
    commits(db, 1 + p->n%30);
    sqlite3_close(db);
    p->n++;
  }
  return 0;
}
static void testOpening(int nThread){
  const char *zFile = temporaryFile("opening.db");
  sqlite3 *db = made(zFile, SHORT);
  sqlite3_close(db);
  together(zFile, nThread, opener, opener);
  db = opened(zFile);
  checkIntegrity(&ours, db, "opening and closing");
  sqlite3_close(db);
}

static void isSet(sqlite3 *db, const char *zSql, const char *zWant){
  sqlite3_stmt *pStmt = prepared(db, zSql);
  int bOk = sqlite3_step(pStmt)==SQLITE_ROW && strcmp((const char*)sqlite3_column_text(pStmt, 0), zWant)==0;
  check(bOk, "%s is %s", zSql, zWant);
  sqlite3_finalize(pStmt);
}

/* Whoever wants SQLite's way has it. */
static void testOff(void){
  const char *zFile = temporaryFile("off.db");
  sqlite3 *db = made(zFile, SHORT);
  int n = threads(), bLocks;
  isSet(db, "PRAGMA hp_checkpoint", "auto");
  isSet(db, "PRAGMA hp_checkpoint=off", "off");
  commits(db, 500);
  check(threads()==n && counted(db, zLeft)==0, "off: no thread");
  execute(db, "PRAGMA hp_checkpoint=auto; PRAGMA hp_threads=1");
  commits(db, 500);
  check(threads()==n && counted(db, zLeft)==0, "one worker: no thread");
  execute(db, "PRAGMA hp_threads=4; PRAGMA wal_autocheckpoint=0");
  commits(db, 500);
  check(threads()==n && counted(db, zLeft)==0, "no automatic checkpoint: no thread");
  check(framesOf(zFile)>400, "and the log grows");
  execute(db, "PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite3_hard_heap_limit64(1<<30);
  execute(db, "PRAGMA wal_autocheckpoint=20");
  commits(db, 500);
  check(threads()==n && counted(db, zLeft)==0, "a hard limit of memory: no thread");
  sqlite3_hard_heap_limit64(0);
  execute(db, "PRAGMA locking_mode=exclusive");
  commits(db, 500);
  check(threads()==n && counted(db, zLeft)==0, "exclusive: no thread");
  execute(db, "PRAGMA locking_mode=normal");
  commits(db, 500);
  bLocks = counted(db, zLeft)>0;
  check(bLocks && threads()==n+1, "and at last there is one");
  sqlite3_close(db);
  check(threads()==n, "which ends");
}

/* The file is renamed, and another one takes its name: the thread leaves both
** alone. */
static void testRenamed(void){
  const char *zFile = temporaryFile("renamed.db");
  const char *zOther = temporaryFile("moved.db");
  char zWal[400];
  sqlite3 *db = made(zFile, SHORT), *db2;
  commits(db, 300);
  removeDb(zOther);
  check(rename(zFile, zOther)==0, "the file is renamed");
  sqlite3_snprintf(sizeof(zWal), zWal, "%s-wal", zFile);
  unlink(zWal);
  db2 = openDb(&ours, zFile, 0);
  execute(db2, "PRAGMA journal_mode=delete; CREATE TABLE other(x); INSERT INTO other VALUES(1)");
  commits(db, 300);
  check(integer(&ours, db, "SELECT count(*) FROM t")==600, "600 rows");
  check(integer(&ours, db2, "SELECT count(*) FROM other")==1, "one row");
  checkIntegrity(&ours, db2, "the file that took its name");
  sqlite3_close(db2);
  sqlite3_close(db);
}

/* The thread cannot open the log, as there are no descriptors left: commits
** checkpoint themselves, and the log stays short. */
static int (*xOpen)(const char*, int, int);
static int failingOpen(const char *zName, int flags, int mode){
  size_t n = strlen(zName);
  if( n>4 && strcmp(&zName[n-4], "-wal")==0 ){ errno = EMFILE; return -1; }
  return xOpen(zName, flags, mode);
}
static void testNoLog(void){
  const char *zFile = temporaryFile("nolog.db");
  sqlite3 *db = made(zFile, SHORT);
  sqlite3_syscall_ptr xOld;
  commits(db, 10);
  xOld = replaceCall("open", (sqlite3_syscall_ptr)failingOpen);
  xOpen = (int(*)(const char*, int, int))xOld;
  commits(db, 1000);
  check(framesOf(zFile)<=200, "the log has %d frames", framesOf(zFile));
  replaceCall("open", xOld);
  commits(db, 1000);
  check(framesOf(zFile)<=200, "and then %d frames", framesOf(zFile));
  check(counted(db, zLeft)>0, "the thread checkpoints again");
  checkIntegrity(&ours, db, "no log");
  sqlite3_close(db);
}

/* The application has closed its standard input, and the thread opens files: it
** must not get a descriptor that SQLite would close, as that ends all locks. */
static void testDescriptors(void){
  const char *zFile = temporaryFile("descriptors.db");
  sqlite3 *db = made(zFile, SHORT);
  int fd = dup(0), iStatus = -1;
  pid_t pid;
  close(0);
  commits(db, 2000);
  usleep(20000);
  fflush(stdout);
  pid = fork();
  if( pid==0 ){
    /* Another process, which takes the log away if nobody seems to use it */
    execl("/proc/self/exe", "checkpoint", "beside", zFile, (char*)0);
    _exit(9);
  }
  waitpid(pid, &iStatus, 0);
  check(WIFEXITED(iStatus) && WEXITSTATUS(iStatus)==0, "the other process ends with %x", iStatus);
  check(sizeOf(zFile, "-wal")>=0, "the log is still there");
  commits(db, 10);
  dup2(fd, 0);
  close(fd);
  sqlite3_close(db);
  db = opened(zFile);
  check(integer(&ours, db, "SELECT count(*) FROM t")==2011, "no row is lost");
  sqlite3_close(db);
}
static int beside(const char *zFile){
  sqlite3 *db = opened(zFile);
  commits(db, 1);
  return sqlite3_close(db);
}

/* While another process uses the log, commits checkpoint themselves: its writers would
** find the lock of the thread's last round taken. */
static void testWatched(void){
  const char *zFile = temporaryFile("watched.db");
  sqlite3 *db = made(zFile, SHORT);
  int aIn[2], aOut[2];
  sqlite3_int64 n;
  char c;
  pid_t pid;
  commits(db, 500);
  n = counted(db, zLeft);
  check(n>0, "the thread checkpoints");
  if( pipe(aIn) || pipe(aOut) ) exit(2);
  fflush(stdout);
  pid = fork();
  if( pid==0 ){
    dup2(aIn[0], 0);
    dup2(aOut[1], 1);
    close(aIn[1]);
    close(aOut[0]);
    execl("/proc/self/exe", "checkpoint", "holds", zFile, (char*)0);
    _exit(9);
  }
  close(aIn[0]);
  close(aOut[1]);
  check(read(aOut[0], &c, 1)==1, "the other process has the file open");
  commits(db, 10);
  n = counted(db, zLeft);
  commits(db, 500);
  check(counted(db, zLeft)==n, "%d checkpoints by the thread, beside another process", (int)(counted(db, zLeft)-n));
  close(aIn[1]);
  waitpid(pid, 0, 0);
  close(aOut[0]);
  commits(db, 500);
  check(counted(db, zLeft)>n, "the thread checkpoints again");
  checkIntegrity(&ours, db, "watched");
  sqlite3_close(db);
}
static int holds(const char *zFile){
  sqlite3 *db = opened(zFile);
  char c;
  integer(&ours, db, "SELECT count(*) FROM t");
  if( write(1, "x", 1)!=1 || read(0, &c, 1)!=0 ) return 1;
  return sqlite3_close(db);
}

/* Calls of the system fail, in the thread or in a commit: nothing is lost.  This
** fdatasync() is in the way of the C library's. */
static int bFailSync = 0;
int fdatasync(int fd){
  static int (*xSync)(int) = 0;
  if( xSync==0 ) *(void**)&xSync = dlsym(RTLD_NEXT, "fdatasync");
  if( bFailSync && fails() ){ errno = EIO; return -1; }
  return xSync(fd);
}
static ssize_t (*xWrite)(int, const void*, size_t, off_t);
static ssize_t failingWrite(int fd, const void *p, size_t n, off_t i){
  if( fails() ){ errno = ENOSPC; return -1; }
  return xWrite(fd, p, n, i);
}
static void testFaults(const char *zCall){
  const char *zFile = temporaryFile("faults.db");
  sqlite3 *db = made(zFile, SHORT);
  sqlite3_stmt *pStmt = prepared(db, "INSERT INTO t(v) VALUES(randomblob(300))");
  sqlite3_syscall_ptr xOld = 0;
  int i, k, nRow = 0;
  bFailSync = strcmp(zCall, "fdatasync")==0;
  if( !bFailSync ){
    xOld = replaceCall(zCall, (sqlite3_syscall_ptr)failingWrite);
    xWrite = (ssize_t(*)(int, const void*, size_t, off_t))xOld;
  }
  for(i=0; i<(longRun() ? 400 : 60); i++){
    fault.nLeft = i;
    fault.nFailed = fault.bForEver = 0;
    for(k=0; k<60; k++){
      if( sqlite3_step(pStmt)==SQLITE_DONE ) nRow++;
      sqlite3_reset(pStmt);
    }
    fault.nLeft = -1;
    check(integer(&ours, db, "SELECT count(*) FROM t")==nRow, "%s %d: %d rows", zCall, i, nRow);
  }
  bFailSync = 0;
  if( xOld ) replaceCall(zCall, xOld);
  sqlite3_finalize(pStmt);
  checkIntegrity(&ours, db, zCall);
  sqlite3_close(db);
  db = opened(zFile);
  check(integer(&ours, db, "SELECT count(*) FROM t")==nRow, "%s: %d rows afterwards", zCall, nRow);
  sqlite3_close(db);
}

/* No thread can be made, at the first attempts: the commits checkpoint. */
static int nNoThread = 0;
static int noThread(int i){ return i==200 && nNoThread-->0; }
static void testNoThread(void){
  const char *zFile = temporaryFile("nothread.db");
  sqlite3 *db = made(zFile, SHORT);
  int n = threads();
  nNoThread = 5;
  sqlite3_test_control(SQLITE_TESTCTRL_FAULT_INSTALL, noThread);
  commits(db, 1000);
  sqlite3_test_control(SQLITE_TESTCTRL_FAULT_INSTALL, 0);
  check(threads()==n+1 && framesOf(zFile)<60, "there is one at last, and %d frames", framesOf(zFile));
  sqlite3_close(db);
}

/* The library is unloaded after the last connection was closed. */
static void testUnload(const char *zLib){
  int i;
  for(i=0; i<20; i++){
    int (*xOpen)(const char*, sqlite3**);
    int (*xExec)(sqlite3*, const char*, void*, void*, char**);
    int (*xClose)(sqlite3*);
    const char *zFile = temporaryFile("unload.db");
    void *pDl = dlopen(zLib, RTLD_NOW|RTLD_LOCAL);
    sqlite3 *db = 0;
    int k, rc = SQLITE_OK;
    check(pDl!=0, "%s is a library", zLib);
    if( pDl==0 ) return;
    *(void**)&xOpen = dlsym(pDl, "sqlite3_open");
    *(void**)&xExec = dlsym(pDl, "sqlite3_exec");
    *(void**)&xClose = dlsym(pDl, "sqlite3_close");
    rc = xOpen(zFile, &db);
    if( rc==SQLITE_OK ){
      rc = xExec(db, SHORT "PRAGMA hp_threads=4; CREATE TABLE IF NOT EXISTS t(v)", 0, 0, 0);
    }
    for(k=0; k<200 && rc==SQLITE_OK; k++){
      rc = xExec(db, "INSERT INTO t VALUES(randomblob(300))", 0, 0, 0);
    }
    check(rc==SQLITE_OK && xClose(db)==SQLITE_OK && dlclose(pDl)==0, "round %d: %d", i, rc);
    usleep(2000);
  }
}

/* A thread of the application is cancelled in a commit: the others go on. */
static void *cancelled(void *pArg){
  sqlite3 *db = *(sqlite3**)pArg;
  for(;;) execute(db, "INSERT INTO t(v) VALUES(randomblob(300))");
  return 0;
}
static void testCancelled(void){
  const char *zFile = temporaryFile("going.db");
  sqlite3 *db = made(zFile, SHORT);
  int i, n = longRun() ? 100 : 10;
  for(i=0; i<n; i++){
    const char *zLost = temporaryFile("cancelled.db");
    sqlite3 *db2 = made(zLost, SHORT);
    pthread_t thread;
    pthread_create(&thread, 0, cancelled, &db2);
    usleep((useconds_t)(3000+100*i));
    pthread_cancel(thread);
    pthread_join(thread, 0);
    /* Its connection is lost, perhaps within a transaction */
    commits(db, 200);
  }
  check(counted(db, zLeft)>n, "the thread goes on");
  checkIntegrity(&ours, db, "cancelled");
}

int main(int argc, char **argv){
  const char *zWhat = argc>1 ? argv[1] : "";
  if( argc>2 && strcmp(zWhat, "beside")==0 ) return beside(argv[2]);
  if( argc>2 && strcmp(zWhat, "holds")==0 ) return holds(argv[2]);
  settle();
  if( argc>2 && strcmp(zWhat, "unload")==0 ){
    testUnload(argv[2]);
    return finish();
  }
  if( strcmp(zWhat, "cancelled")==0 ){
    testCancelled();
    return finish();
  }
  testOne();
  testReader();
  testNobodyBusy("PRAGMA synchronous=full", 1);
  testNobodyBusy("PRAGMA synchronous=off", 0);
  testLength(1, 0, 0, 500);
  testLength(3, 0, 0, 1000);
  testLength(2, 2, 1000, 8000);
  testOpening(1);
  testOpening(4);
  testForgotten();
  testOff();
  testRenamed();
  testNoThread();
  if( strcmp(zWhat, "threads")!=0 ){
    testFork();
    testDescriptors();
    testNoLog();
    testWatched();
    testFaults("fdatasync");
    testFaults("pwrite");
  }
  return finish();
}
