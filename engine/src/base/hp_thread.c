/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_thread: the threads of a scan, and how it is stopped.
**
**    hpThreads()       the most workers that a scan may have
**    hpThreadMutexes() are there mutexes that lock?
**    hpThreadProcessors()  processors that this process may use
**    hpThreadsFit()    is a thread's stack large enough for a scan?
**    hpThreadMake()      a thread that blocks all signals
**    hpThreadEach()      let all workers do something, each in its thread
**    hpThreadEnter()     a mutex that is held for a short time
**    hpThreadLock(), hpThreadUnlock()    guard what workers share
**    hpThreadNext()      the next piece of work, by its number
**    hpThreadIsLocked()  for asserts: may this thread use it?
**    hpThreadYield()     let other threads run
**    hpThreadStopped()   is the scan to stop?
**    hpThreadPager(), hpThreadBt()    the pager, the file that is scanned
**    hpThreadChanges(), hpThreadChanged()    has application code changed the
**                                            database?
**    hpThreadTripped()   have cursors on the file become invalid?
**    hpThreadSteps()     so many opcodes' work is done: the progress handler
**    hpThreadProgress()  the same by a worker
**
** The thread that called sqlite3_step() is the first worker.  The others are
** made by hpThreadEach() and joined before it returns, so there is nothing to
** break at fork(), dlclose() or exit().  (The one that checkpoints lives
** longer: see hp_checkpoint.c.)  They block all signals.  Only the
** first worker calls the application.
**
** A worker whose thread cannot be made is run by the caller after the first
** one: it finds no work left.
**
** Mutexes.  Workers allocate memory and take runs of leaves under SQLite's
** mutexes, so there are threads only where those are hp_mutex.c's, or the pthread
** mutexes of mutex_unix.c, and are in use.  An application that is single threaded may
** have replaced them by methods that do nothing (SQLITE_CONFIG_MUTEX), or
** have switched them off (SQLITE_CONFIG_SINGLETHREAD, SQLITE_THREADSAFE=0).
**
** Stacks.  What SQLite's functions need of the stack depends on the data:
** patternCompare() calls itself once a wildcard of the pattern, JSON
** functions once a level.  The caller's stack usually has 8 MiB, while a
** thread gets 128 KiB from musl, and from glibc whatever RLIMIT_STACK was
** when the process began, 2 MiB if there is no limit.  So threads are made
** with a stack as large as the limit of the main thread's, and of HP_STACK at
** least.  A plan that calls such functions has one worker, the caller, if
** compile options allow patterns or JSON too deep for that.  Functions of the
** application are called in the caller's thread anyway.
**
** Steps.  The progress handler is called once in N opcodes.  Applications
** use it for limits of time and of work, so the number of calls must be about
** what it is in stock, whatever the number of workers: each row scanned counts
** as HP_STEPS opcodes.  Every worker counts its own (HpWorker.nStep).  The
** caller adds up what all of them have counted and calls the handler as often
** as that asks for: after each batch of its own, while it waits for the
** others, and when all have ended.  What is left then, fewer than N, is kept
** in the statement (Vdbe.nHpStepLeft), as stock keeps it in
** SQLITE_STMTSTATUS_VM_STEP: many short scans in one statement are a long
** one.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif
#if defined(__linux__)
# include <sched.h>
#endif

/* Are there threads?  Those of a scan read through one descriptor, which has
** one place to read from: so not where SQLite has to set it first.  Nor where
** an atomic operation on 64 bits is a call of libatomic */
#if SQLITE_OS_UNIX && !defined(SQLITE_WASI) \
 && SQLITE_THREADSAFE>0 && SQLITE_MAX_WORKER_THREADS>0 \
 && defined(SQLITE_MUTEX_PTHREADS) && defined(SQLITE_ATOMIC_INTRINSICS) \
 && (defined(USE_PREAD) || defined(USE_PREAD64))
# if SQLITE_ATOMIC_INTRINSICS && __GCC_ATOMIC_LLONG_LOCK_FREE==2
#  define HP_THREADS 1
# endif
#endif

#ifdef HP_THREADS
# include <sched.h>
#endif

#define HP_SPIN      300       /* Looks at a mutex before a thread waits for it */

#if defined(HP_THREADS) || defined(HP_TURN)
/* Are the mutexes SQLite's own, and do they lock? */
static int hpThreadMutexes(void){
  const sqlite3_mutex_methods *pUsed = &sqlite3GlobalConfig.mutex;
  const sqlite3_mutex_methods *pOwn = sqlite3HpMutex(sqlite3DefaultMutex());
  return sqlite3GlobalConfig.bCoreMutex
      && pUsed->xMutexAlloc==pOwn->xMutexAlloc
      && pUsed->xMutexFree==pOwn->xMutexFree
      && pUsed->xMutexEnter==pOwn->xMutexEnter
      && pUsed->xMutexTry==pOwn->xMutexTry
      && pUsed->xMutexLeave==pOwn->xMutexLeave;
}

/* Processors that this process may use */
static int hpThreadProcessors(void){
  int n = 1;
#if defined(__linux__) && defined(CPU_COUNT)
  cpu_set_t set;
  if( sched_getaffinity(0, sizeof(set), &set)==0 ) return CPU_COUNT(&set);
#endif
#if defined(_SC_NPROCESSORS_ONLN)
  n = (int)sysconf(_SC_NPROCESSORS_ONLN);
#endif
  return n;
}
#endif

#ifdef HP_THREADS
# include <pthread.h>
# include <signal.h>
# include <sys/resource.h>

/* Bytes of a thread's stack: at least, and at most, whatever the limit is */
#define HP_STACK     ((i64)8*1024*1024)
#define HP_MX_STACK  (sizeof(void*)<8 ? HP_STACK : 8*HP_STACK)

/* Bytes of stack that SQLite's functions take, generously: a level of JSON, and
** a byte of a pattern.  A level of patternCompare() is two bytes or more. */
#define HP_STACK_JSON     1024
#define HP_STACK_PATTERN  128
#ifndef JSON_MAX_DEPTH
# define JSON_MAX_DEPTH 0
#endif

/*
** The threads that hpThreadEach() has made.
*/
struct HpCrew {
  pthread_mutex_t mutex;
  pthread_cond_t cond;   /* A thread has ended, or has counted nWake steps */
  int nBusy;             /* Threads that have not ended */
  u32 nWake;             /* 0: the caller does not wait.  Atomic */
};

/* Bytes that the stack of a worker's thread has */
static i64 hpStackSize(void){
  struct rlimit lim;
  i64 n = HP_STACK;
  if( getrlimit(RLIMIT_STACK, &lim)==0 ){
    if( lim.rlim_cur==RLIM_INFINITY || lim.rlim_cur>(rlim_t)HP_MX_STACK ){
      n = HP_MX_STACK;
    }else if( (i64)lim.rlim_cur>n ){
      n = (i64)lim.rlim_cur;
    }
  }
  n &= ~(i64)0xffff;
  assert( n>=HP_STACK && n<=(i64)HP_MX_STACK );
  return n;
}

#else
# define hpThreadMake(T,N,X,P) ((void)(X), 0)
#endif /* HP_THREADS */

/*
** The most workers that a scan of db may have.  One, unless more are asked for,
** if memory is not the C library's: without SQLITE_CONFIG_MEMSTATUS nobody else
** keeps two threads out of the application's allocator, and it may know its
** threads.
*/
static int hpThreads(sqlite3 *db){
#ifdef HP_THREADS
  if( !hpThreadMutexes() ) return 1;
  if( db->hp.nThread ) return db->hp.nThread;
  if( hpConfig()->nThread ) return hpConfig()->nThread;
  if( !hpMemoryDefault() ) return 1;
  return MAX(1, MIN(HP_DFLT_THREAD, hpThreadProcessors()));
#else
  UNUSED_PARAMETER(db);
  return 1;
#endif
}

/*
** True if whatever SQLite's functions need of the stack fits into that of a
** thread.
*/
static int hpThreadsFit(const HpPipe *p){
#ifdef HP_THREADS
  i64 nPattern = p->pQuery->db->aLimit[SQLITE_LIMIT_LIKE_PATTERN_LENGTH];
  assert( nPattern>=0 && p->nWorker<=1 );   /* Threads are made after this */
  if( p->pPlan->bDeep==0 ) return 1;
  return (i64)JSON_MAX_DEPTH*HP_STACK_JSON + nPattern*HP_STACK_PATTERN
      <= hpStackSize();
#else
  UNUSED_PARAMETER(p);
  return 0;
#endif
}

#ifdef SQLITE_DEBUG
/* May this thread use what workers share?  One worker alone always may. */
static int hpThreadIsLocked(const HpPipe *p){
  return p->pMutex==0 || sqlite3_mutex_held(p->pMutex);
}
#endif

/*
** Enter a mutex that is held for less than a microsecond, mostly: to sleep and to be woken would take
** ten times as long.
*/
static void hpThreadEnter(sqlite3_mutex *pMutex){
  int i;
  assert( sqlite3_mutex_notheld(pMutex) );
  for(i=0; i<HP_SPIN && sqlite3_mutex_try(pMutex)!=SQLITE_OK; i++){
    hpPause();
  }
  if( i==HP_SPIN ) sqlite3_mutex_enter(pMutex);
  UNUSED_PARAMETER(pMutex);      /* Where mutexes are macros for nothing */
}

/* The mutex of a scan with several workers */
static void hpThreadLock(const HpPipe *p){ hpThreadEnter(p->pMutex); }
static void hpThreadUnlock(const HpPipe *p){
  assert( hpThreadIsLocked(p) );
  UNUSED_PARAMETER(p);
  sqlite3_mutex_leave(p->pMutex);
}

/* *piNext, which becomes one more: no two threads get the same */
static int hpThreadNext(const HpPipe *p, int *piNext){
  int i;
  hpThreadLock(p);
  i = (*piNext)++;
  hpThreadUnlock(p);
  return i;
}

/* Let other threads run: what this one waits for takes a fraction of a
** millisecond */
static void hpThreadYield(void){
#ifdef HP_THREADS
  sched_yield();
#endif
}

/* Not SQLITE_OK if the scan is to stop: sqlite3_interrupt(), the progress
** handler, or a worker failed */
static int hpThreadStopped(const HpPipe *p){
  if( AtomicLoad(&p->pQuery->db->u1.isInterrupted) ) return SQLITE_INTERRUPT;
  if( AtomicLoad(&p->pQuery->bInterrupt) ) return SQLITE_INTERRUPT;
  return AtomicLoad(&p->pass.bStop) ? HP_DECLINE : SQLITE_OK;
}

/* The file of the database that is scanned, and its pager */
static SQLITE_INLINE BtShared *hpThreadBt(const HpPipe *p){
  assert( p->pBt!=0 );         /* hpPipeBegin() */
  return p->pBt;
}
static Pager *hpThreadPager(const HpPipe *p){
  return hpThreadBt(p)->pPager;
}

/*
** The changes so far: of pages (sqlite3HpChanged() counts them), and of rows of the
** connection.  One table is in one database; what an earlier pipe has read may be
** in any of them: HpQuery.iDb.
*/
static u32 hpThreadChanges(const HpQuery *p){
  u32 n = (u32)p->db->nTotalChange;
  int i;
  assert( sqlite3_mutex_held(p->db->mutex) );
  if( p->iDb>=0 ){
    return sqlite3BtreePager(p->db->aDb[p->iDb].pBt)->hp.nChange + n;
  }
  for(i=0; i<p->db->nDb; i++){
    Btree *pBt = p->db->aDb[i].pBt;
    if( pBt ) n += sqlite3BtreePager(pBt)->hp.nChange;
  }
  return n;
}

/*
** In the caller's thread: true if application code that the scan has called
** has written, vacuumed or rolled back, so that what the scan has read may be
** out of date.
*/
static int hpThreadChanged(const HpQuery *p){
  return hpThreadChanges(p)!=p->nChange;
}

/*
** True if a ROLLBACK of a changed schema has made all cursors invalid since
** the scan began, so that stock's would give an error.
*/
static int hpThreadTripped(const HpPipe *p){
  assert( sqlite3_mutex_held(p->pQuery->db->mutex) );
  return hpThreadPager(p)->hp.nTrip!=p->nTrip;
}

#ifndef SQLITE_OMIT_PROGRESS_CALLBACK
/*
** Stock would have run nStep opcodes of statement v for what was done: call the
** progress handler as often as that asks for.  Returns true if it said stop.
*/
static int hpThreadSteps(Vdbe *v, u64 nStep){
  sqlite3 *db = v->db;
  u64 n = v->nHpStepLeft + nStep;
  int bStop = 0;
  assert( sqlite3_mutex_held(db->mutex) );
  while( db->xProgress && n>=db->nProgressOps
      && !bStop && AtomicLoad(&db->u1.isInterrupted)==0
  ){
    n -= db->nProgressOps;
    bStop = db->xProgress(db->pProgressArg)!=0;
  }
  v->nHpStepLeft = db->xProgress && n<db->nProgressOps ? (u32)n : 0;
  return bStop;
}

/*
** In the caller's thread: call the progress handler for the steps that the
** workers have counted.
*/
static void hpThreadTell(HpPipe *p){
  u64 n = 0;
  int i;
  /* Only the application's thread calls the application, and lets workers go on
  ** meanwhile */
  assert( p->pMutex==0 || sqlite3_mutex_notheld(p->pMutex) );
  for(i=0; i<p->nWorker; i++){
    HpWorker *pWorker = p->apWorker[i];
    u32 nStep = AtomicLoad(&pWorker->nStep);
    n += (u32)(nStep - pWorker->nTold);
    AtomicStore(&pWorker->nTold, nStep);
  }
  /* Once it has said stop it is not called again */
  if( AtomicLoad(&p->pQuery->bInterrupt)==0 && hpThreadSteps(p->pQuery->v, n) ){
    AtomicStore(&p->pQuery->bInterrupt, 1);
  }
}
#else
# define hpThreadSteps(V,N) 0
# define hpThreadTell(P)
#endif

/*
** Stock would have run nStep opcodes for what this worker has done.  Is the
** scan to stop?
*/
static int hpThreadProgress(HpWorker *p, u32 nStep){
  HpPipe *pPipe = p->pPipe;
  assert( p->db==pPipe->pQuery->db || p!=pPipe->apWorker[0] );
  AtomicStore(&p->nStep, p->nStep+nStep);
  if( p==pPipe->apWorker[0] ){
    hpThreadTell(pPipe);
#ifdef HP_THREADS
  }else if( pPipe->pCrew ){
    u32 nWake = AtomicLoad(&pPipe->pCrew->nWake);
    if( nWake && p->nStep-AtomicLoad(&p->nTold)>=nWake ){
      pthread_mutex_lock(&pPipe->pCrew->mutex);
      pthread_cond_signal(&pPipe->pCrew->cond);
      pthread_mutex_unlock(&pPipe->pCrew->mutex);
    }
#endif
  }
  return hpThreadStopped(pPipe);
}

#ifdef HP_THREADS
#ifdef SQLITE_DEBUG
/* Does this thread block the signals that an application may handle? */
static int hpThreadIsQuiet(void){
  sigset_t set;
  return pthread_sigmask(SIG_SETMASK, 0, &set)==0
      && sigismember(&set, SIGINT) && sigismember(&set, SIGALRM);
}
#endif

/* A worker in a thread of its own */
static void *hpThreadMain(void *pArg){
  HpWorker *p = (HpWorker*)pArg;
  HpCrew *pCrew = p->pPipe->pCrew;
  assert( p!=p->pPipe->apWorker[0] && p->db!=p->pPipe->pQuery->db );
  assert( p->pPipe->pMutex!=0 && hpThreadIsQuiet() );
  p->xRun(p);
  pthread_mutex_lock(&pCrew->mutex);
  pCrew->nBusy--;
  pthread_cond_signal(&pCrew->cond);
  pthread_mutex_unlock(&pCrew->mutex);
  return 0;
}

/*
** Make a thread with so many bytes of stack, which calls xMain(pArg) and blocks
** all signals.  Returns false if that fails.
*/
static int hpThreadMake(
  pthread_t *pThread,    /* OUT: The thread, to be joined */
  i64 nStack,
  void *(*xMain)(void*),
  void *pArg
){
  pthread_attr_t attr;
  sigset_t all;
  sigset_t old;
  int bMade;
  if( sqlite3FaultSim(200)!=SQLITE_OK || pthread_attr_init(&attr) ) return 0;
  bMade = pthread_attr_setstacksize(&attr, (size_t)nStack)==0;
  /* A thread begins with the signal mask of its maker */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  bMade = bMade && pthread_create(pThread, &attr, xMain, pArg)==0;
  pthread_sigmask(SIG_SETMASK, &old, 0);
  pthread_attr_destroy(&attr);
  return bMade;
}

/*
** Make threads for all workers of p but the first.  aThread[i] is that of
** worker i, if aMade[i].
*/
static void hpCrewMake(HpPipe *p, pthread_t *aThread, u8 *aMade){
  int i;
  memset(aMade, 0, p->nWorker);
  assert( p->pCrew->nBusy==0 && sqlite3_mutex_held(p->pQuery->db->mutex) );
  for(i=1; i<p->nWorker; i++){
    pthread_mutex_lock(&p->pCrew->mutex);
    aMade[i] = (u8)hpThreadMake(&aThread[i], hpStackSize(), hpThreadMain,
                                p->apWorker[i]);
    p->pCrew->nBusy += aMade[i];
    pthread_mutex_unlock(&p->pCrew->mutex);
  }
}

/*
** Wait until all threads have ended, and call the progress handler meanwhile.
*/
static void hpCrewWait(HpPipe *p){
#ifndef SQLITE_OMIT_PROGRESS_CALLBACK
  HpCrew *pCrew = p->pCrew;
  const sqlite3 *db = p->pQuery->db;
  pthread_mutex_lock(&pCrew->mutex);
  while( pCrew->nBusy>0 && db->xProgress ){
    AtomicStore(&pCrew->nWake, MAX(1, db->nProgressOps/(u32)p->nWorker));
    pthread_cond_wait(&pCrew->cond, &pCrew->mutex);
    AtomicStore(&pCrew->nWake, 0);
    pthread_mutex_unlock(&pCrew->mutex);
    hpThreadTell(p);
    pthread_mutex_lock(&pCrew->mutex);
  }
  pthread_mutex_unlock(&pCrew->mutex);
#else
  UNUSED_PARAMETER(p);
#endif
}
#endif /* HP_THREADS */

/*
** Let all workers do xRun, each in its thread, and wait for them.
*/
static int hpThreadEach(HpPipe *p, void (*xRun)(HpWorker*)){
  int rc = SQLITE_OK;
  int i;
#ifdef HP_THREADS
  pthread_t aThread[HP_MX_THREAD];
  u8 aMade[HP_MX_THREAD];
  HpCrew crew;
  assert( p->nWorker>=1 && p->nWorker<=HP_MX_THREAD );
  assert( p->pCrew==0 && (p->pMutex!=0 || p->nWorker==1) );
  crew.nBusy = 0;
  crew.nWake = 0;
  pthread_mutex_init(&crew.mutex, 0);
  pthread_cond_init(&crew.cond, 0);
  p->pCrew = &crew;
  for(i=1; i<p->nWorker; i++) p->apWorker[i]->xRun = xRun;
  hpCrewMake(p, aThread, aMade);
#endif
  xRun(p->apWorker[0]);
#ifdef HP_THREADS
  for(i=1; i<p->nWorker; i++){
    if( aMade[i]==0 ) xRun(p->apWorker[i]);
  }
  hpCrewWait(p);
  for(i=1; i<p->nWorker; i++){
    if( aMade[i] ) pthread_join(aThread[i], 0);
  }
  assert( crew.nBusy==0 );
  p->pCrew = 0;
  pthread_cond_destroy(&crew.cond);
  pthread_mutex_destroy(&crew.mutex);
#endif
  hpThreadTell(p);
  for(i=0; i<p->nWorker; i++){
    HpWorker *pWorker = p->apWorker[i];
    int rcExec = pWorker->rc;
    /* Memory of a worker's own: stock needs less */
    if( i>0 && rcExec==SQLITE_NOMEM && pWorker->db->mallocFailed ){
      rcExec = HP_DECLINE;
    }
    if( rcExec && (rc==SQLITE_OK || rc==HP_DECLINE) ) rc = rcExec;
  }
  if( (rc==SQLITE_OK || rc==HP_DECLINE || rc==HP_SERIAL)
   && AtomicLoad(&p->pQuery->bInterrupt)
  ){
    rc = SQLITE_INTERRUPT;
  }
  return rc;
}
#endif /* SQLITE_OMIT_HP */
