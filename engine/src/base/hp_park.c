/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_park: a thread sleeps until another one wakes it, or for some time.
**
**    hpParkNow()     nanoseconds of a clock that nobody sets
**    hpParkSleep()   sleep until a word is not 0, at most for so long
**    hpParkWake()    make a word 1, and wake the thread that sleeps on it
**
** The word belongs to the thread that sleeps.  It makes it 0 before it looks at
** what it waits for, so what another thread wakes it for between the look and
** the sleep ends that sleep at once.
**
** On Linux the word is a futex.  Elsewhere, and with pointers of 32 bits, where
** a futex may have times of another size than the C library, all threads that
** sleep share a condition variable.  Sleeping is no cancellation point: a
** thread that is cancelled is so by SQLite's own calls of the system.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_TURN
#if defined(__linux__) && SQLITE_PTRSIZE>4
# define HP_PARK_FUTEX 1
# include <sys/syscall.h>
/* As <linux/futex.h> has them, which not every compiler for Linux finds */
# define HP_PARK_WAIT  (0|128)     /* FUTEX_WAIT_PRIVATE */
# define HP_PARK_WAKE  (1|128)     /* FUTEX_WAKE_PRIVATE */
#else
# include <pthread.h>
static pthread_mutex_t hpParkMutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t hpParkOnce = PTHREAD_ONCE_INIT;
static pthread_cond_t hpParkCond;

/* The clock of the condition variable is one that nobody sets; Apple's cannot
** be chosen, but told how long, not until when */
static void hpParkInit(void){
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
#ifndef __APPLE__
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
#endif
  pthread_cond_init(&hpParkCond, &attr);
  pthread_condattr_destroy(&attr);
}
#endif
#include <time.h>

#define HP_SECOND 1000000000   /* Nanoseconds */

static i64 hpParkNow(void){
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (i64)t.tv_sec*HP_SECOND + t.tv_nsec;
}

/*
** Sleep until *pWord is not 0, at most so many nanoseconds.  It may end
** earlier:  whoever calls this looks again.
*/
static void hpParkSleep(u32 *pWord, i64 nNano){
  struct timespec t;
  assert( nNano>0 );
#ifdef HP_PARK_FUTEX
  t.tv_sec = (time_t)(nNano/HP_SECOND);
  t.tv_nsec = (long)(nNano%HP_SECOND);
  syscall(SYS_futex, pWord, HP_PARK_WAIT, 0, &t, 0, 0);
#else
  pthread_once(&hpParkOnce, hpParkInit);
#ifndef __APPLE__
  clock_gettime(CLOCK_MONOTONIC, &t);
  nNano += t.tv_nsec;
  t.tv_sec += (time_t)(nNano/HP_SECOND);
#else
  t.tv_sec = (time_t)(nNano/HP_SECOND);
#endif
  t.tv_nsec = (long)(nNano%HP_SECOND);
  pthread_mutex_lock(&hpParkMutex);
  if( __atomic_load_n(pWord, __ATOMIC_ACQUIRE)==0 ){
#ifndef __ANDROID__          /* Which cancels no threads */
    int eWas;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &eWas);
#endif
#ifndef __APPLE__
    pthread_cond_timedwait(&hpParkCond, &hpParkMutex, &t);
#else
    pthread_cond_timedwait_relative_np(&hpParkCond, &hpParkMutex, &t);
#endif
#ifndef __ANDROID__
    pthread_setcancelstate(eWas, &eWas);
#endif
  }
  pthread_mutex_unlock(&hpParkMutex);
#endif
}

/*
** Make *pWord 1.  What it is part of has to exist until this returns.
*/
static void hpParkWake(u32 *pWord){
  assert( __atomic_load_n(pWord, __ATOMIC_RELAXED)<=1 );
#ifdef HP_PARK_FUTEX
  __atomic_store_n(pWord, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, pWord, HP_PARK_WAKE, 1, 0, 0, 0);
#else
  pthread_once(&hpParkOnce, hpParkInit);
  pthread_mutex_lock(&hpParkMutex);
  __atomic_store_n(pWord, 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&hpParkCond);
  pthread_mutex_unlock(&hpParkMutex);
#endif
}
#endif /* HP_TURN */
#endif /* SQLITE_OMIT_HP */
