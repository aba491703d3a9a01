/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Mutexes: one thread at a time, whoever waits gets in, and nothing is touched
** that may be gone.
**
**    nested     the owner may enter again, and has to leave as often
**    one        threads that enter, nested, try, sleep inside: what they count is exact
**    last       whoever leaves last frees the mutex, while another is still leaving it
**    begun      a thread that begins while the mutex is entered, when there was one thread
**    forked     what was entered before fork() is left after it, in both processes: SQLite's
**               own mutexes cannot do that
**    own        methods of an application around ours see every call
**
** Runs under ThreadSanitizer, too.
*/
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

#define N_THREAD 6

/* All kinds: two that are made, and one that is always there */
static const int aKind[] = {
  SQLITE_MUTEX_RECURSIVE, SQLITE_MUTEX_FAST, SQLITE_MUTEX_STATIC_APP2
};

static sqlite3_mutex *mutexNew(int iKind){
  sqlite3_mutex *p = sqlite3_mutex_alloc(aKind[iKind]);
  check(p!=0, "no mutex of kind %d", aKind[iKind]);
  if( p==0 ) exit(finish());
  return p;
}

static void *tries(void *pArg){
  int rc = sqlite3_mutex_try((sqlite3_mutex*)pArg);
  if( rc==SQLITE_OK ) sqlite3_mutex_leave((sqlite3_mutex*)pArg);
  return rc==SQLITE_OK ? pArg : 0;
}

/* Can another thread enter p? */
static int isFree(sqlite3_mutex *p){
  pthread_t thread;
  void *pOut = 0;
  pthread_create(&thread, 0, tries, p);
  pthread_join(thread, &pOut);
  return pOut!=0;
}

static void nested(void){
  sqlite3_mutex *p = mutexNew(0);
  int i;
  for(i=0; i<5; i++){
    if( i%2 ){
      check(sqlite3_mutex_try(p)==SQLITE_OK, "its owner cannot enter it again");
    }else{
      sqlite3_mutex_enter(p);
    }
    check(!isFree(p), "entered %d times, and another thread can enter", i+1);
  }
  for(i=5; i>0; i--){
    check(!isFree(p), "%d times are left, and another thread can enter", i);
    sqlite3_mutex_leave(p);
  }
  check(isFree(p), "left as often as entered, and another thread cannot enter");
  check(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1)
        ==sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1), "two static mutexes of one name");
  check(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1)
        !=sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP3), "one static mutex of two names");
  sqlite3_mutex_free(p);
}

/* What several threads do with one mutex */
typedef struct Work Work;
struct Work {
  sqlite3_mutex *p;
  int bNested;           /* It is recursive */
  int nStep;
  int n;                 /* Counted inside, in two places */
  int m;
  atomic_int nDone;      /* Counted outside */
};

static void *worker(void *pArg){
  Work *w = pArg;
  unsigned seed = (unsigned)(size_t)&seed;
  int i;
  for(i=0; i<w->nStep; i++){
    int k;
    seed = seed*1664525 + 1013904223;
    k = (int)(seed>>24);
    if( k<40 ){
      while( sqlite3_mutex_try(w->p)!=SQLITE_OK ) sched_yield();
    }else{
      sqlite3_mutex_enter(w->p);
    }
    w->n++;
    if( w->bNested && k%3==0 ){
      sqlite3_mutex_enter(w->p);
      w->m++;
      sqlite3_mutex_leave(w->p);
    }else{
      w->m++;
    }
    if( k==255 ) usleep(k*4);
    if( k==254 ) sched_yield();
    sqlite3_mutex_leave(w->p);
    atomic_fetch_add(&w->nDone, 1);
    if( k==253 ) usleep(100);
  }
  return 0;
}

static void one(int iKind){
  Work w = { mutexNew(iKind), iKind==0, 3000, 0, 0, 0 };
  pthread_t aThread[N_THREAD];
  int i;
  for(i=0; i<N_THREAD; i++) pthread_create(&aThread[i], 0, worker, &w);
  for(i=0; i<N_THREAD; i++) pthread_join(aThread[i], 0);
  check(w.n==w.m && w.n==atomic_load(&w.nDone) && w.n==N_THREAD*w.nStep,
        "kind %d: %d, %d and %d of %d", aKind[iKind], w.n, w.m, atomic_load(&w.nDone),
        N_THREAD*w.nStep);
  check(isFree(w.p), "kind %d: still entered", aKind[iKind]);
  if( iKind<2 ) sqlite3_mutex_free(w.p);
}

/* Something with a mutex of its own, and two users */
typedef struct Shared Shared;
struct Shared {
  sqlite3_mutex *p;
  int nUser;
};

static void *user(void *pArg){
  Shared *pShared = pArg;
  int bLast;
  sqlite3_mutex_enter(pShared->p);
  bLast = --pShared->nUser==0;
  sqlite3_mutex_leave(pShared->p);
  if( bLast ){
    sqlite3_mutex_free(pShared->p);
    sqlite3_free(pShared);
  }
  return 0;
}

static void last(void){
  int i;
  for(i=0; i<2000; i++){
    Shared *pShared = sqlite3_malloc(sizeof(*pShared));
    pthread_t thread;
    pShared->p = mutexNew(i%2);
    pShared->nUser = 2;
    pthread_create(&thread, 0, user, pShared);
    user(pShared);
    pthread_join(thread, 0);
  }
  check(1, "%d freed", i);
}

static void *adder(void *pArg){
  Work *w = pArg;
  sqlite3_mutex_enter(w->p);
  w->n++;
  sqlite3_mutex_leave(w->p);
  return 0;
}

static void begun(void){
  Work w = { mutexNew(0), 1, 0, 0, 0, 0 };
  int i;
  for(i=0; i<300; i++){
    pthread_t thread;
    int n;
    sqlite3_mutex_enter(w.p);
    pthread_create(&thread, 0, adder, &w);
    if( i%30==0 ) usleep(5000);
    n = w.n;
    sched_yield();
    check(w.n==n && n==i, "somebody else was in the mutex: %d of %d", w.n, i);
    sqlite3_mutex_leave(w.p);
    pthread_join(thread, 0);
  }
  check(w.n==i, "%d of %d threads have entered", w.n, i);
  sqlite3_mutex_free(w.p);
}

static void forked(void){
  sqlite3_mutex *p = mutexNew(0);
  pid_t pid;
  int status = -1;
  sqlite3_mutex_enter(p);
  sqlite3_mutex_enter(p);
  fflush(stdout);
  pid = fork();
  if( pid==0 ){
    sqlite3_mutex_leave(p);
    sqlite3_mutex_leave(p);
    sqlite3_mutex_enter(p);
    sqlite3_mutex_leave(p);
    _exit(sqlite3_mutex_try(p)==SQLITE_OK ? 0 : 1);
  }
  waitpid(pid, &status, 0);
  check(status==0, "the process that fork() made ends with status %d", status);
  sqlite3_mutex_leave(p);
  check(!isFree(p), "what another process has left is left here");
  sqlite3_mutex_leave(p);
  check(isFree(p), "still entered");
  sqlite3_mutex_free(p);
}

static sqlite3_mutex_methods methods;   /* Ours */
static int nEntered, nLeft;

static void countEnter(sqlite3_mutex *p){
  nEntered++;
  methods.xMutexEnter(p);
}
static void countLeave(sqlite3_mutex *p){
  nLeft++;
  methods.xMutexLeave(p);
}
static int countTry(sqlite3_mutex *p){
  int rc = methods.xMutexTry(p);
  nEntered += rc==SQLITE_OK;
  return rc;
}

static void own(void){
  sqlite3_mutex_methods mine;
  sqlite3 *db;
  int rc;
  sqlite3_initialize();
  rc = sqlite3_config(SQLITE_CONFIG_GETMUTEX, &methods);
  check(rc==SQLITE_MISUSE, "methods are given while they are in use: %d", rc);
  sqlite3_shutdown();
  rc = sqlite3_config(SQLITE_CONFIG_GETMUTEX, &methods);
  check(rc==SQLITE_OK && methods.xMutexEnter!=0, "there are no methods: %d", rc);
  mine = methods;
  mine.xMutexEnter = countEnter;
  mine.xMutexLeave = countLeave;
  mine.xMutexTry = countTry;
  rc = sqlite3_config(SQLITE_CONFIG_MUTEX, &mine);
  check(rc==SQLITE_OK, "methods are refused: %d", rc);
  db = openDb(&ours, ":memory:", SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE);
  execute(db, "CREATE TABLE t(a); INSERT INTO t VALUES(1),(2)");
  ours.close(db);
  check(nEntered>20 && nEntered==nLeft, "entered %d times, left %d", nEntered, nLeft);
  sqlite3_shutdown();
  sqlite3_config(SQLITE_CONFIG_MUTEX, &methods);
}

int main(void){
  int i;
  begun();       /* First: there has been one thread only */
  nested();
  for(i=0; i<(int)(sizeof(aKind)/sizeof(aKind[0])); i++) one(i);
  last();
  /* A pthread mutex has the number of a thread for its owner, which is another one in the child */
  if( getenv("HPSQLITE")==0 ) forked();
  own();
  return finish();
}
