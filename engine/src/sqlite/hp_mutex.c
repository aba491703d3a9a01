/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_mutex: mutexes of one atomic instruction.
**
**    sqlite3HpMutex()    the methods of SQLite's mutexes, in place of the default ones
**
** Every function of the API enters the connection's mutex and leaves it, so a program that steps
** through a million rows of eight columns does that some ten million times, nearly always with
** nobody else there.  A recursive pthread mutex takes two atomic instructions for it, which are most of
** its 11 ns; glibc leaves them out as long as the process has had one thread only, and a scan that
** makes workers ends that.  Here entering takes one, and leaving none (6 ns), and neither of them any
** in a process of one thread (2 ns).
**
** Leaving is a look at the number of waiters, then a store, and nothing after it: as soon as the mutex
** can be entered, another thread may enter it, leave it and free it.  A thread that begins to wait
** between the two is not woken.  So no sleep is without an end: a thread looks again after
** HP_MUTEX_NAP, then after twice that, and so on.  Whoever leaves later sees that it waits, and wakes
** it.
**
** The owner is known by the address that its thread pointer holds, which no two threads that live have
** in common, and which the thread that called fork() has in both processes.
**
** Linux on x86-64 and AArch64.  Elsewhere, and with HPSQLITE=off, the methods are SQLite's; and
** sqlite3_config(SQLITE_CONFIG_MUTEX) replaces these as it does those.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#if defined(__linux__) && defined(HP_GNUC) && defined(SQLITE_MUTEX_PTHREADS) \
 && (defined(__x86_64__) || defined(__aarch64__)) && SQLITE_PTRSIZE>4 \
 && !defined(SQLITE_HOMEGROWN_RECURSIVE_MUTEX)
# define HP_MUTEX 1
#endif

#ifdef HP_MUTEX
#include <sys/syscall.h>
#include <time.h>
/* zig has the header for older ones, too, where there is no such symbol */
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
# if __GLIBC_PREREQ(2,32)
#  include <sys/single_threaded.h>
#  define hpMutexAlone() (__libc_single_threaded!=0)
# endif
#endif
#ifndef hpMutexAlone
# define hpMutexAlone() 0
#endif

/* As <linux/futex.h> has them, which not every compiler for Linux finds */
#define HP_FUTEX_WAIT  (0|128)     /* FUTEX_WAIT_PRIVATE */
#define HP_FUTEX_WAKE  (1|128)     /* FUTEX_WAKE_PRIVATE */

#define HP_MUTEX_SPIN  50          /* Looks at a mutex before a thread sleeps */
#define HP_MUTEX_NAP   1000000     /* Nanoseconds of its first sleep, ... */
#define HP_MUTEX_DOZE  128000000   /* ... and of the longest one */
#define HP_MUTEX_STATIC  (SQLITE_MUTEX_STATIC_VFS3-SQLITE_MUTEX_STATIC_MAIN+1)

typedef struct HpMutex HpMutex;
struct HpMutex {
  int bEntered;          /* Atomic.  What threads sleep on */
  int nWaiter;           /* Threads that want to enter, and sleep.  Atomic */
  uptr iOwner;           /* The thread that has entered, or 0.  Atomic */
  int nEnter;            /* How often it has: for the owner only */
};

/* Mutexes that always exist.  Each has a cache line, and the one that is fetched with it */
static union { HpMutex mutex; u8 a[128]; } aHpMutex[HP_MUTEX_STATIC]
    __attribute__((aligned(128)));

/* This thread */
static SQLITE_INLINE uptr hpMutexSelf(void){
  uptr x;
#ifdef __x86_64__
  __asm__("mov %%fs:0, %0" : "=r"(x));
#else
  __asm__("mrs %0, tpidr_el0" : "=r"(x));
#endif
  return x;
}

/* Is it the owner?  Only that thread itself ever stores its number */
static SQLITE_INLINE int hpMutexIsMine(const HpMutex *p, uptr iSelf){
  return __atomic_load_n(&p->iOwner, __ATOMIC_RELAXED)==iSelf;
}

/* Become the owner, unless the mutex is entered */
static SQLITE_INLINE int hpMutexTake(HpMutex *p, uptr iSelf){
  int bWas = 0;
  if( hpMutexAlone() ){
    if( __atomic_load_n(&p->bEntered, __ATOMIC_RELAXED) ) return 0;
    __atomic_store_n(&p->bEntered, 1, __ATOMIC_RELAXED);
  }else if( !__atomic_compare_exchange_n(&p->bEntered, &bWas, 1, 0,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
  ){
    return 0;
  }
  __atomic_store_n(&p->iOwner, iSelf, __ATOMIC_RELAXED);
  p->nEnter = 1;
  return 1;
}

/* Wait until the mutex can be entered, and enter it */
static SQLITE_NOINLINE void hpMutexWait(HpMutex *p, uptr iSelf){
  struct timespec nap;
  int i;
  for(i=0; i<HP_MUTEX_SPIN; i++){
    hpPause();
    if( __atomic_load_n(&p->bEntered, __ATOMIC_RELAXED)==0 && hpMutexTake(p, iSelf) ) return;
  }
  __atomic_fetch_add(&p->nWaiter, 1, __ATOMIC_SEQ_CST);
  nap.tv_sec = 0;
  nap.tv_nsec = HP_MUTEX_NAP;
  while( !hpMutexTake(p, iSelf) ){
    syscall(SYS_futex, &p->bEntered, HP_FUTEX_WAIT, 1, &nap, 0, 0);
    nap.tv_nsec = MIN(2*nap.tv_nsec, HP_MUTEX_DOZE);
  }
  __atomic_fetch_sub(&p->nWaiter, 1, __ATOMIC_RELAXED);
}

static void hpMutexEnter(sqlite3_mutex *pMutex){
  HpMutex *p = (HpMutex*)pMutex;
  uptr iSelf = hpMutexSelf();
  if( hpMutexIsMine(p, iSelf) ){
    p->nEnter++;
  }else if( !hpMutexTake(p, iSelf) ){
    hpMutexWait(p, iSelf);
  }
}

static int hpMutexTry(sqlite3_mutex *pMutex){
  HpMutex *p = (HpMutex*)pMutex;
  uptr iSelf = hpMutexSelf();
  if( hpMutexIsMine(p, iSelf) ){
    p->nEnter++;
    return SQLITE_OK;
  }
  /* Whoever tries again and again must not take the cache line from the owner each time */
  if( __atomic_load_n(&p->bEntered, __ATOMIC_RELAXED) ) return SQLITE_BUSY;
  return hpMutexTake(p, iSelf) ? SQLITE_OK : SQLITE_BUSY;
}

static void hpMutexLeave(sqlite3_mutex *pMutex){
  HpMutex *p = (HpMutex*)pMutex;
  int *pEntered = &p->bEntered;
  int bWake;
  assert( hpMutexIsMine(p, hpMutexSelf()) && p->nEnter>0 );
  if( --p->nEnter>0 ) return;
  bWake = __atomic_load_n(&p->nWaiter, __ATOMIC_RELAXED)>0;
  __atomic_store_n(&p->iOwner, 0, __ATOMIC_RELAXED);
  __atomic_store_n(pEntered, 0, __ATOMIC_RELEASE);
  /* *p may be gone now.  Of another mutex at the same place a thread wakes for nothing */
  if( bWake ) syscall(SYS_futex, pEntered, HP_FUTEX_WAKE, 1, 0, 0, 0);
}

static sqlite3_mutex *hpMutexAlloc(int eType){
  int i = eType-SQLITE_MUTEX_STATIC_MAIN;
  if( eType==SQLITE_MUTEX_FAST || eType==SQLITE_MUTEX_RECURSIVE ){
    return sqlite3MallocZero(sizeof(HpMutex));
  }
  return i>=0 && i<HP_MUTEX_STATIC ? (sqlite3_mutex*)&aHpMutex[i].mutex : 0;
}

static void hpMutexFree(sqlite3_mutex *pMutex){
  assert( ((HpMutex*)pMutex)->iOwner==0 );
  if( !SQLITE_WITHIN(pMutex, aHpMutex, &aHpMutex[HP_MUTEX_STATIC]) ) sqlite3_free(pMutex);
}

/* There is nothing to do before the first one, and after the last one */
static int hpMutexInit(void){ return SQLITE_OK; }

#ifdef SQLITE_DEBUG
static int hpMutexHeld(sqlite3_mutex *p){
  return hpMutexIsMine((HpMutex*)p, hpMutexSelf());
}
static int hpMutexNotheld(sqlite3_mutex *p){ return !hpMutexHeld(p); }
#endif
#endif /* HP_MUTEX */

#if SQLITE_THREADSAFE
/*
** The methods of mutexes that are to be used where the application has none of its own: ours, or
** pDefault, which are SQLite's.
*/
SQLITE_PRIVATE const sqlite3_mutex_methods *sqlite3HpMutex(
  const sqlite3_mutex_methods *pDefault
){
#ifdef HP_MUTEX
  static const sqlite3_mutex_methods ours = {
    hpMutexInit,
    hpMutexInit,
    hpMutexAlloc,
    hpMutexFree,
    hpMutexEnter,
    hpMutexTry,
    hpMutexLeave,
#ifdef SQLITE_DEBUG
    hpMutexHeld,
    hpMutexNotheld
#else
    0,
    0
#endif
  };
  if( !hpConfig()->bOff ) return &ours;
#endif
  return pDefault;
}
#endif
#endif /* SQLITE_OMIT_HP */
