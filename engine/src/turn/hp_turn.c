/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_turn: those who wait for a file stand in line.
**
** SQLite's waiters sleep 1 to 100 milliseconds between two attempts.  Whoever
** had the lock takes it again meanwhile, and the others find it taken: one of
** eight threads that commit in a loop does nearly all of it, and the least
** lucky one waits until its timeout is over.  Here the waiters of a process
** stand in line for each file, in the order in which they came, and are woken
** when the lock is free.
**
**    sqlite3HpTurnGate()   Called before each attempt to begin a transaction:
**                          one that writes stands in line if others do.
**    sqlite3HpTurnBusy()   Called in place of the busy handler: stand in line,
**                          and return when it is time to try again.
**    sqlite3HpTurnEnd()    Called when the transaction has begun, or cannot.
**    hpTurnFreed()         Called when a lock was given back: wake who is next.
**    hpTurnOffer()         The same when it can be had on loan: hp_sync.c.
**    hpTurnWaitedSince()   Has anybody waited of late?
**    hpTurnAsked()         Has anybody who takes no part?
**    sqlite3HpTurnUnlocked()   The same, of a lock on the file.
**    hpTurnInode()         The file of a connection that takes part.
**    hpTurnOf()            Those who wait for a file.
**    hpTurnLeft()          What is left of its timeout in this step?
**    hpTurnWaited()        It has waited so long.
**    sqlite3HpTurnFree()   The last connection of the process leaves the file.
**
** THE LINE ONLY DECIDES WHO TRIES WHEN; SQLITE'S LOCK ALONE DECIDES WHO WRITES.
** A mistake here costs time.  Therefore everybody who sees the line stand still
** for HP_TURN_STALE tries by itself, as with SQLite, and if no thread of this
** process has the lock, whoever is first steps aside.
**
** Who takes part?  Connections whose busy handler is that of
** sqlite3_busy_timeout(), on files of the VFS "unix", and with the sleep of
** that VFS.  Everybody else runs SQLite's code: an application's own handler is
** called when and as often as ever, and may take the lock whenever it is free.
**
** Writers.  A writer comes to the gate before it takes any lock or snapshot, so
** it holds nothing of the file while it stands in line: it is no reader that
** the commit ahead has to wait for, and its snapshot cannot be stale when its
** turn comes.  A transaction that has read already never waits: SQLITE_BUSY at
** once, as with SQLite.
**
** Two ways.  To hand the lock over costs a wake, 5 to 50 microseconds and more
** where the processors are busy, and the caches of another processor, which is
** more than a short transaction takes: if everybody stood in line all would
** wait for the scheduler, again and again.  So until the first in line has been
** first for HP_TURN_PATIENCE, whoever comes may go past, and the first one
** looks at the lock every HP_TURN_NAP.  It is woken when the lock is given back
** if there may be a processor without work: if fewer connections are not in
** line than there are processors.  Once its patience is over the line is
** strict: it is woken by whoever gives the lock back, and nobody goes past, but
** that short transactions go on until it is awake, so that the lock is never
** idle.  With N connections that write in a loop the longest wait is about N
** times HP_TURN_PATIENCE, or N transactions if these take longer.
**
** Other processes.  The lock is taken and given back for each transaction, so
** they have the chances that they have beside one thread of SQLite's.  If it is
** they who have it, the first in line polls, after 1, 2, 4, 8, 16 and then
** every 25 milliseconds; the others sleep.  Each attempt is in the way of
** whoever has the lock, as the system counts locks in a list: more of them cost
** commits.
**
** Readers, and who waits for readers to end: with a rollback journal, and for
** checkpoints.  They are in no order: all are woken when any lock is given
** back, and poll at growing intervals.
**
** Timeouts are kept by the clock: no step waits longer than
** sqlite3_busy_timeout() says.  (SQLite adds up what it meant to sleep.)  Waits
** in one step, ours and SQLite's, share the time: db->busyHandler.nBusy, from
** which SQLite reckons what is left, is set accordingly.
**
** Deadlocks.  Who waits for a write lock holds nothing of this file.  Over two
** files there are the same cycles as with SQLite, and the timeout ends them.
**
** fork().  The line of the parent is none of the child's: the tickets are of
** threads that it does not have.  Who comes to the line sees that by the
** process id, and empties it.
**
** Cost where nobody waits: a look at a pointer when a transaction begins, and
** one when a lock is given back.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_TURN

/* Nanoseconds */
#define HP_TURN_US      ((i64)1000)
#define HP_TURN_MS      ((i64)1000000)
#define HP_TURN_PATIENCE (2*HP_TURN_MS)
#define HP_TURN_NAP     (500*HP_TURN_US)
#define HP_TURN_SHORT   (200*HP_TURN_US)   /* Such a transaction is short */
#define HP_TURN_LATE    (10*HP_TURN_MS)    /* Whoever was woken has to be
                                           ** there */
#define HP_TURN_SPIN    (50*HP_TURN_US)    /* Looks at a lock before it
                                           ** sleeps */
#define HP_TURN_POLL    (250*HP_TURN_US)   /* First interval of readers, ... */
#define HP_TURN_MX_POLL (5*HP_TURN_MS)     /* ... and the longest one */
#define HP_TURN_FAR     HP_TURN_MS         /* First one while another process
                                           ** has the lock, ... */
#define HP_TURN_MX_FAR  (25*HP_TURN_MS)    /* ... and the longest one */
#define HP_TURN_STALE   (100*HP_TURN_MS)

/* Values of HpTicket.eLine */
#define HP_LINE_NONE    0
#define HP_LINE_WRITER  1      /* In HpTurn.pFirst ... */
#define HP_LINE_OTHER   2      /* In HpTurn.pOther */

/*
** Those who wait for a file: unixInodeInfo.pHpTurn.  Made when somebody waits
** for the first time, freed with the inode.  All but nWait is protected by the
** mutex, which is held for less than a microsecond, or a system call that wakes
** somebody.
*/
struct HpTurn {
  u32 nWait;             /* Tickets.  Atomic */
  sqlite3_mutex *pMutex;
  HpTicket *pFirst;      /* Writers in line, the next one first */
  HpTicket *pOther;      /* Who else waits, in no order */
  const BtShared *pHolder;  /* Had the lock last, as far as it was looked at.
                            ** Not to be followed: it may be gone */
  i64 tBegun;            /* When its transaction began, ... */
  i64 tFreed;            /* ... and when it gave the lock back.  0: not yet */
  u8 bHere;              /* The first in line was woken and wants the lock,
                         ** ... */
  u8 bSpin;              /* ... and looks at it all the time */
  i64 tWoken;            /* When it was woken for good.  0: not yet */
  u8 bAsked;             /* Somebody who takes no part found it taken.
                         ** Atomic */
  u8 bOffer;             /* The lock may be had on loan.  Atomic */
  i64 tJoined;           /* When somebody came to wait last */
  u32 nMoved;            /* How often another one has become first, ... */
  i64 tMoved;            /* ... and when that was last */
  int nProcessor;        /* Processors of this process */
  pid_t pid;             /* Of the process whose threads wait */
};

#ifdef SQLITE_DEBUG
/* The mutex is held */
static int hpTurnIsSane(const HpTurn *p){
  const HpTicket *pT;
  u32 n = 0;
  for(pT=p->pFirst; pT; pT=pT->pNext){
    if( pT->eLine!=HP_LINE_WRITER ) return 0;
    n++;
  }
  for(pT=p->pOther; pT; pT=pT->pNext){
    if( pT->eLine!=HP_LINE_OTHER ) return 0;
    n++;
  }
  return n==__atomic_load_n(&p->nWait, __ATOMIC_RELAXED);
}
#endif

/*
** The file of a connection that takes part, or NULL.
*/
static unixInodeInfo *hpTurnInode(const BtShared *pBt){
  const sqlite3 *db = pBt->db;
  const unixFile *pFile = (const unixFile*)sqlite3PagerFile(pBt->pPager);
  if( db->busyHandler.xBusyHandler!=sqliteDefaultBusyCallback
   || db->busyTimeout<=0 || db->hp.bNoTurn
   || db->pVfs->xSleep!=unixSleep || pFile->pMethod!=&posixIoMethods
   || hpConfig()->bOff || !hpThreadMutexes()
   || (pBt->pPager->vfsFlags & SQLITE_OPEN_SHAREDCACHE)!=0
   || pFile->pInode->bProcessLock
  ){
    return 0;
  }
  return pFile->pInode;
}

/* Those who wait for a file, if anybody has waited yet */
static HpTurn *hpTurnOf(unixInodeInfo *pInode){
  return __atomic_load_n(&pInode->pHpTurn, __ATOMIC_ACQUIRE);
}
static int hpTurnWaiters(HpTurn *p){
  return __atomic_load_n(&p->nWait, __ATOMIC_RELAXED)!=0;
}

static void hpTurnDelete(HpTurn *p){
  if( p==0 ) return;
  sqlite3_mutex_free(p->pMutex);
  sqlite3_free(p);
}

/* The same, made if need be; NULL without memory */
static HpTurn *hpTurnMake(unixInodeInfo *pInode){
  HpTurn *p = hpTurnOf(pInode);
  HpTurn *pWas = 0;
  if( p ) return p;
  sqlite3BeginBenignMalloc();
  p = sqlite3MallocZero(sizeof(*p));
  if( p ) p->pMutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
  sqlite3EndBenignMalloc();
  if( p==0 || p->pMutex==0 ){
    hpTurnDelete(p);
    return hpTurnOf(pInode);
  }
  p->pid = osGetpid(0);
  p->nProcessor = hpThreadProcessors();
  if( !__atomic_compare_exchange_n(&pInode->pHpTurn, &pWas, p, 0,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ){
    hpTurnDelete(p);
    p = pWas;
  }
  return p;
}

/* After fork() the line is of threads that this process does not have.  The
** mutex is held */
static void hpTurnOwn(HpTurn *p){
  pid_t pid = osGetpid(0);
  assert( sqlite3_mutex_held(p->pMutex) );
  if( p->pid==pid ) return;
  p->pFirst = p->pOther = 0;
  p->pHolder = 0;
  p->pid = pid;
  __atomic_store_n(&p->nWait, 0, __ATOMIC_SEQ_CST);
}

/* Somebody else is first in line, or another connection has the lock.  The
** mutex is held */
static void hpTurnNext(HpTurn *p){
  p->bHere = p->bSpin = 0;
  p->tWoken = 0;
}

/*
** Stand in line.  The mutex is held.
*/
static void hpTurnJoin(
  HpTurn *p,
  HpTicket *pT,
  u8 eLine,              /* HP_LINE_xxx */
  i64 tNow,
  i64 tEnd               /* When its timeout is over */
){
  HpTicket **pp = &p->pOther;
  assert( pT->eLine==HP_LINE_NONE );
  hpTurnOwn(p);
  if( p->pFirst==0 && p->pOther==0 ){
    /* Up to now nobody has looked at who has the lock */
    p->pHolder = 0;
    p->tBegun = p->tFreed = 0;
    hpTurnNext(p);
  }
  if( eLine==HP_LINE_WRITER ){
    for(pp=&p->pFirst; *pp; pp=&(*pp)->pNext){}
    pT->pNext = 0;
  }else{
    pT->pNext = *pp;
  }
  *pp = pT;
  pT->eLine = eLine;
  pT->tJoin = p->tJoined = tNow;
  pT->tEnd = tEnd;
  __atomic_store_n(&pT->bGo, 0, __ATOMIC_RELAXED);
  __atomic_add_fetch(&p->nWait, 1, __ATOMIC_SEQ_CST);
  assert( hpTurnIsSane(p) );
}

/*
** Leave the line.  The mutex is held.
*/
static void hpTurnLeave(HpTurn *p, HpTicket *pT){
  HpTicket **pp = pT->eLine==HP_LINE_WRITER ? &p->pFirst : &p->pOther;
  assert( pT->eLine!=HP_LINE_NONE );
  assert( sqlite3_mutex_held(p->pMutex) );
  while( *pp && *pp!=pT ) pp = &(*pp)->pNext;
  pT->eLine = HP_LINE_NONE;
  if( *pp==0 ) return;                       /* It was its parent's */
  if( pp==&p->pFirst ){
    p->nMoved++;
    p->tMoved = hpParkNow();
    hpTurnNext(p);
  }
  *pp = pT->pNext;
  __atomic_sub_fetch(&p->nWait, 1, __ATOMIC_SEQ_CST);
  /* The next one has to look after the lock now */
  if( pp==&p->pFirst && p->pFirst ) hpParkWake(&p->pFirst->bGo);
  assert( hpTurnIsSane(p) );
}

/*
** The first in line does not get the lock though no other thread has it: for a
** reason of its own, such as an exclusive lock that it wants while others have
** the file open; or its thread was cancelled; or another process has it, for
** long.  It steps aside, and tries by itself.  The mutex is held.
*/
static void hpTurnAside(HpTurn *p){
  HpTicket *pT = p->pFirst;
  if( pT==0 ) return;
  pT->bAside = 1;
  hpTurnLeave(p, pT);
  hpParkWake(&pT->bGo);
}

/* Does this process have the lock that a writer wants? */
static int hpTurnIsLocal(const BtShared *pBt){
  unixFile *pFile = (unixFile*)sqlite3PagerFile(pBt->pPager);
  unixInodeInfo *pInode = pFile->pInode;
  int eLock;
  if( pFile->pShm ){
    const HpTurn *p = hpTurnOf(pInode);
    if( pBt->hpTicket.bShares && p && AtomicLoad(&p->bOffer) ) return 0;
    return __atomic_load_n(&pFile->pShm->pShmNode->aLock[WAL_WRITE_LOCK],
                           __ATOMIC_RELAXED)!=0;
  }
  sqlite3_mutex_enter(pInode->pLockMutex);
  eLock = pInode->eFileLock;
  sqlite3_mutex_leave(pInode->pLockMutex);
  return eLock>SHARED_LOCK;
}

/*
** Is the line strict?  The first one has no patience any more, which begins
** when the one before has got the lock, or somebody's timeout is over soon.
** The mutex is held.
*/
static int hpTurnIsStrict(const HpTurn *p, i64 tNow){
  const HpTicket *pT = p->pFirst;
  assert( sqlite3_mutex_held(p->pMutex) );
  if( pT && tNow-MAX(pT->tJoin, p->tMoved)>=HP_TURN_PATIENCE ) return 1;
  for(; pT; pT=pT->pNext){
    if( pT->tEnd-tNow<HP_TURN_PATIENCE ) return 1;
  }
  return 0;
}

/*
** How long to sleep until the first in line looks again, and *pbTry: will it
** then try for the lock, whatever it sees?  0: try at once.  The mutex is held.
*/
static i64 hpTurnNap(HpTurn *p, BtShared *pBt, i64 tNow, int *pbTry){
  HpTicket *pT = &pBt->hpTicket;
  assert( p->pFirst==pT && pT->nPoll<=8 );
  *pbTry = 0;
  if( hpTurnIsLocal(pBt) ){
    return hpTurnIsStrict(p, tNow) ? HP_TURN_STALE : HP_TURN_NAP;
  }
  *pbTry = 1;
  if( pT->nPoll==0 ){
    pT->nPoll = 1;
    return 0;
  }
  if( pT->nPoll<8 ) pT->nPoll++;
  return MIN(HP_TURN_FAR<<(pT->nPoll-2), HP_TURN_MX_FAR);
}

/*
** The first in line is awake and wants the lock, which another thread has: it
** looks at it for a while.  Returns true if the lock is free then.  The mutex
** is held, but not meanwhile.
*/
static int hpTurnSpin(HpTurn *p, BtShared *pBt){
  i64 tEnd = hpParkNow()+HP_TURN_SPIN;
  int bLocal = 1;
  int i;
  assert( p->pFirst==&pBt->hpTicket && p->bHere );
  if( ((unixFile*)sqlite3PagerFile(pBt->pPager))->pShm==0 ) return 0;
  p->bSpin = 1;
  sqlite3_mutex_leave(p->pMutex);
  do{
    for(i=0; i<64 && bLocal; i++){
      hpPause();
      bLocal = hpTurnIsLocal(pBt);
    }
  }while( bLocal && hpParkNow()<tEnd );
  sqlite3_mutex_enter(p->pMutex);
  if( p->pFirst==&pBt->hpTicket ) p->bSpin = 0;
  return !bLocal;
}

/*
** A writer with a ticket waits until it is to try: the first in line when the
** lock is free, or may be; any other one when its time is up, or when the line
** has not moved.  tEnd: when its timeout is over.
*/
static void hpTurnPark(HpTurn *p, BtShared *pBt, i64 tEnd){
  HpTicket *pT = &pBt->hpTicket;
  i64 tNow = hpParkNow();
  i64 tStale = tNow+HP_TURN_STALE;
  u32 nMoved;
  sqlite3_mutex_enter(p->pMutex);
  assert( pT->eLine==HP_LINE_WRITER || pT->bAside );
  assert( hpTurnIsSane(p) );
  nMoved = p->nMoved;
  pT->tEnd = tEnd;
  while( tNow<tEnd && !pT->bAside ){
    i64 nNap = HP_TURN_STALE;
    int bTry = 0;
    int bGo = (int)__atomic_exchange_n(&pT->bGo, 0, __ATOMIC_ACQUIRE);
    if( p->pFirst==pT ){
      if( p->tWoken && !p->bHere ){
        p->bHere = 1;
        if( hpTurnIsLocal(pBt) && hpTurnSpin(p, pBt) ) break;
      }
      nNap = hpTurnNap(p, pBt, tNow, &bTry);
      if( bGo && bTry ) break;
    }
    if( nNap==0 ) break;
    nNap = MIN(nNap, MAX(tStale-tNow, 1));
    sqlite3_mutex_leave(p->pMutex);
    hpParkSleep(&pT->bGo, MIN(nNap, tEnd-tNow));
    tNow = hpParkNow();
    sqlite3_mutex_enter(p->pMutex);
    if( bTry || pT->bAside ) break;
    if( p->nMoved!=nMoved ){
      nMoved = p->nMoved;
      tStale = tNow+HP_TURN_STALE;
    }else if( tNow>=tStale ){
      if( p->pFirst!=pT && !hpTurnIsLocal(pBt) ) hpTurnAside(p);
      break;
    }
  }
  __atomic_store_n(&pT->bGo, 0, __ATOMIC_RELAXED);
  sqlite3_mutex_leave(p->pMutex);
}

/*
** Somebody who is no writer in line waits: for so long as it has waited
** already, about, or until a lock is given back.  That may have been so before
** it has a ticket, and what it waits for may be in another process: so not for
** long.
*/
static void hpTurnDoze(HpTurn *p, BtShared *pBt, i64 tNow, i64 tEnd){
  HpTicket *pT = &pBt->hpTicket;
  i64 nNap = MAX(pBt->db->hp.tWaited/2, HP_TURN_POLL);
  nNap = MIN(nNap, HP_TURN_MX_POLL);
  nNap = MIN(nNap, tEnd-tNow);
  if( nNap<=0 ) return;
  sqlite3_mutex_enter(p->pMutex);
  if( pT->eLine!=HP_LINE_NONE ) hpTurnLeave(p, pT);
  hpTurnJoin(p, pT, HP_LINE_OTHER, tNow, tEnd);
  sqlite3_mutex_leave(p->pMutex);
  hpParkSleep(&pT->bGo, nNap);
  sqlite3_mutex_enter(p->pMutex);
  /* Only writers are put aside by others */
  assert( pT->eLine==HP_LINE_OTHER );
  hpTurnLeave(p, pT);
  sqlite3_mutex_leave(p->pMutex);
}

/*
** Milliseconds that sqliteDefaultBusyCallback() has slept after n calls, and
** the number of calls after which it has slept so many: 1 at least, as 0 means
** that nobody has waited yet.
*/
static i64 hpTurnBusyTotal(int n){
  static const u8 aTotal[] = { 0, 1, 3, 8, 18, 33, 53, 78, 103, 128, 178, 228 };
  int nMost = ArraySize(aTotal)-1;
  assert( n>=0 );
  return n<=nMost ? aTotal[n] : aTotal[nMost] + 100*((i64)n-nMost);
}
static int hpTurnBusyCount(i64 nMs){
  int n = 1;
  assert( nMs>=0 );
  if( nMs>1000 ) n = (int)MIN(nMs/100, 0x3fffffff);
  while( hpTurnBusyTotal(n)<nMs ) n++;
  assert( n==1 || hpTurnBusyTotal(n-1)<nMs );
  return n;
}

/*
** Begin to wait: what is left of the timeout of this step, in nanoseconds?  If
** SQLite's code has waited in it before, for another file, that counts.
*/
static i64 hpTurnLeft(BtShared *pBt){
  sqlite3 *db = pBt->db;
  int nBusy = db->busyHandler.nBusy;
  assert( sqlite3_mutex_held(db->mutex) && db->busyTimeout>0 );
  if( nBusy==0 || nBusy!=db->hp.nBusy ){
    db->hp.tWaited = hpTurnBusyTotal(nBusy)*HP_TURN_MS;
  }
  return db->busyTimeout*HP_TURN_MS - db->hp.tWaited;
}
static void hpTurnWaited(BtShared *pBt, i64 nNano){
  sqlite3 *db = pBt->db;
  assert( nNano>=0 );
  db->hp.tWaited += nNano;
  db->hp.nBusy = hpTurnBusyCount(db->hp.tWaited/HP_TURN_MS);
  db->busyHandler.nBusy = db->hp.nBusy;
  db->hp.aStat[HP_STAT_WAITS]++;
  db->hp.nWaited += nNano;
  db->hp.aStat[HP_STAT_WAITED] = (u32)(db->hp.nWaited/HP_TURN_MS);
}

/*
** May a connection go past the line?  The line is not strict, or whoever comes
** next was woken and is not there yet, and transactions are short.  The mutex
** is held.
*/
static int hpTurnMayPass(const HpTurn *p, i64 tNow){
  if( !hpTurnIsStrict(p, tNow) ) return 1;
  return p->tWoken!=0 && !p->bHere && tNow-p->tWoken<HP_TURN_LATE
      && p->tBegun!=0 && p->tFreed-p->tBegun<HP_TURN_SHORT;
}

/* A writer that has not tried yet goes to the end of the line, if it may not go
** past it */
static void hpTurnLine(BtShared *pBt){
  HpTicket *pT = &pBt->hpTicket;
  unixInodeInfo *pInode;
  HpTurn *p;
  i64 tNow, nLeft;
  int bPark;
  assert( pBt->inTransaction==TRANS_NONE );
  if( pT->bWriter ) return;                  /* It was woken, and tries */
  assert( pT->eLine==HP_LINE_NONE && !pT->bJoined );
  pT->bWriter = 1;
  pT->bAside = 0;
  pT->nPoll = 0;
  pInode = hpTurnInode(pBt);
  p = pInode ? hpTurnOf(pInode) : 0;
  if( p==0 || !hpTurnWaiters(p) ) return;
  tNow = hpParkNow();
  nLeft = hpTurnLeft(pBt);
  if( nLeft<=0 ) return;
  sqlite3_mutex_enter(p->pMutex);
  hpTurnOwn(p);
  bPark = p->pFirst!=0 && !hpTurnMayPass(p, tNow);
  if( bPark ){
    hpTurnJoin(p, pT, HP_LINE_WRITER, tNow, tNow+nLeft);
    pT->bJoined = 1;
  }
  bPark = bPark && p->pFirst!=pT;
  sqlite3_mutex_leave(p->pMutex);
  if( bPark ){
    hpTurnPark(p, pBt, tNow+nLeft);
    hpTurnWaited(pBt, hpParkNow()-tNow);
  }
}

/* It holds nothing yet, and may have stood in line: only now it looks whether
** the thread that checkpoints wants writers to pause */
SQLITE_PRIVATE void sqlite3HpTurnGate(BtShared *pBt){
  hpTurnLine(pBt);
  hpCheckpointGate((unixFile*)sqlite3PagerFile(pBt->pPager));
}

/* A connection that takes no part has found the lock taken */
static void hpTurnAsk(const BtShared *pBt){
  const unixFile *pFile = (const unixFile*)sqlite3PagerFile(pBt->pPager);
  HpTurn *p = pFile->pMethod==&posixIoMethods ? hpTurnOf(pFile->pInode) : 0;
  if( p ) AtomicStore(&p->bAsked, 1);
}

/*
** Wait, in place of the busy handler.  Returns true to try again.
*/
SQLITE_PRIVATE int sqlite3HpTurnBusy(BtShared *pBt){
  HpTicket *pT = &pBt->hpTicket;
  BusyHandler *pHandler = &pBt->db->busyHandler;
  unixInodeInfo *pInode = hpTurnInode(pBt);
  HpTurn *p = pInode ? hpTurnMake(pInode) : 0;
  i64 tNow, tEnd, nLeft;
  int bDoze, bAgain = 0;
  if( p==0 || pHandler->nBusy<0 ){
    hpTurnAsk(pBt);
    return sqlite3InvokeBusyHandler(pHandler);
  }
  tNow = hpParkNow();
  nLeft = hpTurnLeft(pBt);
  tEnd = tNow+nLeft;
  if( nLeft<=0 ){
    pHandler->nBusy = -1;
    return 0;
  }
  sqlite3_mutex_enter(p->pMutex);
  assert( pT->bWriter || pT->eLine==HP_LINE_NONE );
  /* No writer, or one that has its lock and waits for readers to end */
  bDoze = !pT->bWriter || pT->bAside
      || ((unixFile*)sqlite3PagerFile(pBt->pPager))->eFileLock>SHARED_LOCK;
  if( !bDoze && pT->eLine==HP_LINE_NONE ){
    hpTurnJoin(p, pT, HP_LINE_WRITER, tNow, tEnd);
    pT->bJoined = 1;
    bAgain = p->pFirst==pT;
  }
  sqlite3_mutex_leave(p->pMutex);
  /* The lock may have been given back before anybody stood in line */
  if( bAgain ) return 1;
  if( bDoze ){
    hpTurnDoze(p, pBt, tNow, tEnd);
  }else{
    hpTurnPark(p, pBt, tEnd);
  }
  hpTurnWaited(pBt, hpParkNow()-tNow);
  return 1;
}

/*
** A writer has begun its transaction, or gives up.
*/
SQLITE_PRIVATE void sqlite3HpTurnEnd(BtShared *pBt, int bBegun){
  HpTicket *pT = &pBt->hpTicket;
  int bJoined = pT->bJoined;
  unixInodeInfo *pInode;
  HpTurn *p;
  assert( pT->bWriter );
  pT->bWriter = pT->bJoined = 0;
  /* A ticket is taken out whatever has become of the settings since */
  pInode = bJoined ? ((unixFile*)sqlite3PagerFile(pBt->pPager))->pInode
                   : hpTurnInode(pBt);
  p = pInode ? hpTurnOf(pInode) : 0;
  assert( p!=0 || !bJoined );
  if( p==0 || (!bJoined && !hpTurnWaiters(p)) ) return;
  sqlite3_mutex_enter(p->pMutex);
  hpTurnOwn(p);
  assert( pT->eLine!=HP_LINE_OTHER );
  if( pT->eLine!=HP_LINE_NONE ) hpTurnLeave(p, pT);
  if( bBegun ){
    if( p->pHolder!=pBt ){
      p->pHolder = pBt;
      pBt->db->hp.aStat[HP_STAT_TURNS]++;
    }
    p->tBegun = hpParkNow();
    p->tFreed = 0;
  }
  sqlite3_mutex_leave(p->pMutex);
}

/* About how many connections to the file do not wait?  A number that is just
** being changed does no harm */
static SQLITE_NOINLINE int hpTurnOthers(
  const unixInodeInfo *pInode,
  const HpTurn *p
){
  return __atomic_load_n(&pInode->nRef, __ATOMIC_RELAXED)
       - (int)__atomic_load_n(&p->nWait, __ATOMIC_RELAXED);
}

/*
** A lock was given back: that of a writer, or another one.
*/
static void hpTurnFreed(unixInodeInfo *pInode, int bWriter){
  HpTurn *p = hpTurnOf(pInode);
  HpTicket *pT;
  if( p==0 ) return;
  /* Whoever comes to wait adds to nWait, and looks at the lock after that: so
  ** either it finds the lock free, or it is found here */
  if( __atomic_add_fetch(&p->nWait, 0, __ATOMIC_SEQ_CST)==0 ) return;
  sqlite3_mutex_enter(p->pMutex);
  if( bWriter || p->pOther ) hpTurnOwn(p);
  for(pT=p->pOther; pT; pT=pT->pNext) hpParkWake(&pT->bGo);
  if( bWriter ){
    i64 tNow = hpParkNow();
    p->tFreed = tNow;
    pT = p->pFirst;
    if( pT==0 || p->bSpin ){
      /* There is nobody to wake */
    }else if( !hpTurnIsStrict(p, tNow) ){
      if( hpTurnOthers(pInode, p)<p->nProcessor ) hpParkWake(&pT->bGo);
    }else if( p->tWoken==0 || p->bHere ){
      if( p->tWoken==0 ) p->tWoken = tNow;
      hpParkWake(&pT->bGo);
    }
  }
  sqlite3_mutex_leave(p->pMutex);
}

#ifdef HP_SYNC
/*
** The lock can be had on loan, or not any more: hp_sync.c.
*/
static void hpTurnOffer(unixInodeInfo *pInode, int bOffer){
  HpTurn *p = hpTurnOf(pInode);
  if( p==0 ) return;
  AtomicStore(&p->bOffer, (u8)bOffer);
  if( !bOffer || __atomic_add_fetch(&p->nWait, 0, __ATOMIC_SEQ_CST)==0 ) return;
  sqlite3_mutex_enter(p->pMutex);
  hpTurnOwn(p);
  if( p->pFirst && AtomicLoad(&p->pFirst->bShares) ){
    hpParkWake(&p->pFirst->bGo);
  }
  sqlite3_mutex_leave(p->pMutex);
}

/* Has a connection that takes no part found the lock taken since last time? */
static int hpTurnAsked(unixInodeInfo *pInode){
  HpTurn *p = hpTurnOf(pInode);
  return p!=0 && __atomic_exchange_n(&p->bAsked, 0, __ATOMIC_RELAXED);
}

/* Does somebody wait for the file, or did so within so many nanoseconds? */
static int hpTurnWaitedSince(unixInodeInfo *pInode, i64 nNano){
  HpTurn *p = hpTurnOf(pInode);
  int bWaits;
  if( p==0 ) return 0;
  sqlite3_mutex_enter(p->pMutex);
  bWaits = p->tJoined!=0 && hpParkNow()-p->tJoined<nNano;
  sqlite3_mutex_leave(p->pMutex);
  return bWaits || hpTurnWaiters(p);
}
#endif

SQLITE_PRIVATE void sqlite3HpTurnUnlocked(unixFile *pFile){
  hpTurnFreed(pFile->pInode, pFile->eFileLock>SHARED_LOCK);
}

SQLITE_PRIVATE void sqlite3HpTurnFree(unixInodeInfo *pInode){
  HpTurn *p = hpTurnOf(pInode);
  assert( unixMutexHeld() && pInode->nRef==0 );
  hpTurnDelete(p);
  hpCheckpointFree(pInode);
  hpSyncFree(pInode);
}
#endif /* HP_TURN */
#endif /* SQLITE_OMIT_HP */
