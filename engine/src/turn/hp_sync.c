/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_sync: one sync of the log for the commits of several connections.
**
** With synchronous=FULL or EXTRA a commit in WAL mode writes its frames, syncs
** the log, and shows the frames to others by a new header of the wal-index.
** The lock of writers is held all that time, so commits follow one another at
** the speed of the disk.  Here the lock is lent to the next writer of the
** process while the log is being synced, and the next sync is for all commits
** since.
**
**    sqlite3HpSyncJoin()     Called before a transaction begins to write: it
**                            may go on from a commit that is not synced yet.
**    sqlite3HpSyncLeave()    Called when it could not begin.
**    sqlite3HpSyncPrepare()  Called before a commit: may it be synced with
**                            others?
**    sqlite3HpSyncFrames()   Called when the frames of a commit are written:
**                            all that is left of walFrames().
**    sqlite3HpSyncDurable()  Wait until what a connection has seen is synced.
**    sqlite3HpSyncClosed()   A connection ends its use of a log.
**    hpSyncOwns()            Has a chain the lock?
**    hpSyncLends()           Has the connection the lock on loan?
**    hpSyncReturns()         It gives it back.
**    hpSyncFree()            The last connection leaves the file.
**
** WHAT ANOTHER PROCESS OR A READER CAN SEE IS SYNCED, AND WHAT AN APPLICATION
** IS TOLD IS SYNCED.
**
** A chain.  A commit that finds others waiting for the lock opens one: the lock
** is the chain's from now on (HpSync.bOpen), not the connection's.  It puts the
** header that its frames lead to into HpSync.aHdr[], beside the wal-index,
** whose header stays as it is.  One transaction at a time may follow: it has
** the lock on loan, and Wal.hp.pLive leads it to that header wherever wal.c
** looks at the one of the wal-index.  It sees the commits before it, appends
** its frames to theirs, and in turn leaves its header there.
**
** Whoever has committed syncs the log if nobody else does just now, for all
** commits that there are then, and shows them: it writes the last header into
** the wal-index.  Else it waits for that.  The lock is given back when all
** commits are shown and nobody has it on loan.
**
**        A  wwwwSSSSSSSSSSSSp
**        B      wwww........SSSSSSSSSSSSp
**        C          wwww................p
**        D              wwww............p
**
**        w writes, S syncs, p: it is shown
**
** Who follows?  A connection that stands in line (hp_turn.c), with the same
** setting of synchronous, one statement that runs, no other database written
** to, and no hook that would look at the data.  A chain takes no more followers
** after HP_SYNC_TIME, or HP_SYNC_MOST commits, so that whoever cannot follow
** has its turn; and if another process uses the file, or a connection that does
** not stand in line has found it locked, nobody tries for the lock for a while
** after that, who could follow.
**
** Who opens a chain?  Not the first commit of a log, which syncs more than its
** frames, nor one whose frames were written in part before; nor where frames
** are padded (psow=0); nor a transaction that writes to two files; nor the
** first commit of a connection, which syncs the name of the log.  One that
** has changed the schema lets nobody follow until it is synced: whoever finds
** another schema reads it anew, by the header of the wal-index.
**
** What a follower tells.  A row, an error, that there is no row: all of it may
** come from a commit that is not synced yet.  So sqlite3_step() waits for that
** sync before it returns, and so do sqlite3_changes() and its like.  Not so the
** end of a statement within a transaction that returns no rows: what it has
** done is not committed, and the COMMIT waits.
**
** Read marks.  A follower takes one of up to the header of the wal-index, and
** none beyond it, which another process could not understand.  It has never
** mark 0, as the log has frames that are not copied, so it never begins the log
** anew.
**
** A sync that fails fails all commits that it was for, and those that follow
** them.  Each has its transaction rolled back by SQLite as after an error of
** its own; the chain keeps the lock until all are (HpSync.nUndo), as that looks
** at the header of the wal-index.  As pages in its cache may come from frames
** that are no more, it forgets them (Wal.hp.bDrop).  Whoever has the lock at
** last makes the wal-index forget the frames behind its header.  No chain is
** opened until all know of it.  A transaction that has begun with such a commit
** is rolled back by its next statement that tells something.
**
** A process that is killed: before the header is in the wal-index its frames
** are overwritten by others, or found by a recovery, as with SQLite between the
** sync and the header.  A power failure: each frame's checksum goes on from
** that of the one before, so what is left of a log are its first commits.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SYNC
#include <pthread.h>

#define HP_SYNC_TIME   ((i64)20*1000000)    /* Nanoseconds, see above */
#define HP_SYNC_MOST   64
#define HP_SYNC_RECENT ((i64)1000*1000000)  /* Somebody has waited since */
#define HP_SYNC_PAUSE  ((i64)1000000)       /* For another process, at least */

/* Who waits for a sync.  On its stack */
typedef struct HpSyncWait HpSyncWait;
struct HpSyncWait {
  HpSyncWait *pNext;
  u32 bGo;
};

/*
** The chain of a file: unixInodeInfo.pHpSync.  Made when one may be opened for
** the first time, freed with the inode.  The mutex protects all fields but
** those that are atomic.  Commits are numbered from 1 on, of all chains.
*/
struct HpSync {
  sqlite3_mutex *pMutex;
  HpSyncWait *pWait;
  WalIndexHdr aHdr[2];   /* Where the last commit leads to, twice */
  u64 iCommit;           /* The last commit */
  u64 iShown;            /* The last one that is synced, and in the wal-index */
  u64 iFail;             /* Commits behind iShown up to this one have failed,
                         ** ... */
  u64 iFailFrom;         /* ... from this one on */
  int rcFail;            /* ... with this error */
  u32 nMember;           /* Connections that are to learn what became of one */
  u32 nUndo;             /* ... and that have failed, and roll back */
  const unixFile *pFollower;   /* Has the lock on loan, or may.  Atomic */
  Wal *pWal;             /* Its log */
  u8 bOpen;              /* The chain has the lock.  Atomic */
  u8 bSyncs;             /* Some member syncs */
  u8 bFailed;            /* A sync has failed */
  u8 bShut;              /* Nobody is to follow any more */
  u8 syncFlags;          /* WAL_SYNC_FLAGS() of all */
  int nCommit;           /* Commits of this chain */
  i64 tOpen;             /* When it was opened */
  i64 tPause;            /* Until then nobody tries for the lock */
  pid_t pid;
};

#ifdef SQLITE_DEBUG
/* Is the chain consistent?  The mutex is held */
static int hpChainIsSane(const HpSync *p){
  if( p->iShown>p->iCommit || (p->iFail>0 && p->iFailFrom>p->iFail) ) return 0;
  if( (p->pFollower==0)!=(p->pWal==0) ) return 0;
  if( !p->bOpen ) return p->pFollower==0 && !p->bSyncs && !p->bFailed;
  /* What is not shown yet is somebody's who waits, or has failed */
  return p->iShown==p->iCommit || p->nMember>0 || p->bFailed;
}
#endif

static HpSync *hpSyncOf(const unixInodeInfo *pInode){
  return __atomic_load_n(&pInode->pHpSync, __ATOMIC_ACQUIRE);
}

static void hpSyncDelete(HpSync *p){
  if( p==0 ) return;
  sqlite3_mutex_free(p->pMutex);
  sqlite3_free(p);
}

/* The same, made if need be; NULL without memory */
static HpSync *hpSyncMake(unixInodeInfo *pInode){
  HpSync *p = hpSyncOf(pInode);
  HpSync *pWas = 0;
  if( p ) return p;
  sqlite3BeginBenignMalloc();
  p = sqlite3MallocZero(sizeof(*p));
  if( p ) p->pMutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
  sqlite3EndBenignMalloc();
  if( p==0 || p->pMutex==0 ){
    hpSyncDelete(p);
    return 0;
  }
  p->pid = osGetpid(0);
  if( !__atomic_compare_exchange_n(&pInode->pHpSync, &pWas, p, 0,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ){
    hpSyncDelete(p);
    p = pWas;
  }
  return p;
}

static void hpSyncFree(unixInodeInfo *pInode){
  assert( unixMutexHeld() );
  hpSyncDelete(hpSyncOf(pInode));
}

/* Has the chain the lock, and the connection of pFile on loan? */
static int hpSyncOwns(const unixInodeInfo *pInode){
  const HpSync *p = hpSyncOf(pInode);
  return p!=0 && AtomicLoad(&p->bOpen);
}
static int hpSyncLends(const unixFile *pFile){
  const HpSync *p = hpSyncOf(pFile->pInode);
  return p!=0
      && __atomic_load_n(&p->pFollower, __ATOMIC_RELAXED)==pFile;
}

/* All who wait look again.  The mutex is held */
static void hpSyncWake(HpSync *p){
  assert( sqlite3_mutex_held(p->pMutex) );
  while( p->pWait ){
    HpSyncWait *pNext = p->pWait->pNext;
    /* Its stack may be gone when it is awake */
    hpParkWake(&p->pWait->bGo);
    p->pWait = pNext;
  }
}

/* Wait until hpSyncWake() is called.  The mutex is held, but not meanwhile */
static void hpSyncSleep(HpSync *p){
  HpSyncWait w;
  HpSyncWait **pp;
  assert( sqlite3_mutex_held(p->pMutex) );
  w.bGo = 0;
  w.pNext = p->pWait;
  p->pWait = &w;
  sqlite3_mutex_leave(p->pMutex);
  hpParkSleep(&w.bGo, HP_SYNC_RECENT);
  sqlite3_mutex_enter(p->pMutex);
  for(pp=&p->pWait; *pp && *pp!=&w; pp=&(*pp)->pNext){}
  if( *pp ) *pp = w.pNext;
}

/* May a transaction follow?  If all commits are shown the lock is given back.
** The mutex is held */
static int hpSyncMayFollow(const HpSync *p){
  assert( sqlite3_mutex_held(p->pMutex) );
  return p->bOpen && p->pFollower==0 && !p->bFailed && !p->bShut
      && p->iShown<p->iCommit
      && p->nCommit<HP_SYNC_MOST && hpParkNow()-p->tOpen<HP_SYNC_TIME;
}

/*
** The lock has been given back, or a commit was added: let somebody follow, or
** give the lock back to everybody if that was all.  pFile is that of a member.
** The mutex is held.
*/
static void hpSyncNext(HpSync *p, unixFile *pFile){
  unixShmNode *pNode = pFile->pInode->pShmNode;
  assert( hpChainIsSane(p) && sqlite3_mutex_held(p->pMutex) );
  if( !p->bOpen || p->pFollower ) return;
  if( hpSyncMayFollow(p) ){
    hpTurnOffer(pFile->pInode, 1);
    return;
  }
  hpTurnOffer(pFile->pInode, 0);
  if( p->bSyncs || p->nUndo || (p->iShown<p->iCommit && !p->bFailed) ) return;
  p->iShown = p->iCommit;
  p->bFailed = p->bShut = 0;
  if( p->nCommit>1
   && (hpTurnAsked(pFile->pInode) || hpCheckpointIsWatched(pNode))
  ){
    i64 tNow = hpParkNow();
    p->tPause = tNow+MAX(HP_SYNC_PAUSE, (tNow-p->tOpen)/8);
  }
  sqlite3_mutex_enter(pNode->pShmMutex);
  (void)unixShmSystemLock(pFile, F_UNLCK, UNIX_SHM_BASE+WAL_WRITE_LOCK, 1);
  AtomicStore(&p->bOpen, 0);
  __atomic_store_n(&pNode->aLock[WAL_WRITE_LOCK], 0, __ATOMIC_RELEASE);
  sqlite3_mutex_leave(pNode->pShmMutex);
  hpCheckpointFreed(pFile);
  hpTurnFreed(pFile->pInode, 1);
}

/*
** Nobody but this connection has the lock, and the frames behind the header of
** the wal-index are no more.
*/
static void hpSyncClean(Wal *pWal){
  volatile u32 *aIndex;
  assert( pWal->hp.pLive==0 );
  if( walIndexPage(pWal, 0, &aIndex)!=SQLITE_OK || aIndex==0 ) return;
  memcpy(&pWal->hdr, (void*)walIndexHdr(pWal), sizeof(WalIndexHdr));
  /* Without it they are cleaned up by whoever adds the next ones */
  if( walIndexPage(pWal, walFramePage(pWal->hdr.mxFrame), &aIndex)==SQLITE_OK
   && aIndex
  ){
    walCleanupHash(pWal);
  }
}

/*
** The connection of pFile has no use for the lock any more, which it has on
** loan; or its commit has failed, and is undone.
*/
static void hpSyncReturns(unixFile *pFile){
  HpSync *p = hpSyncOf(pFile->pInode);
  if( p==0 ) return;
  sqlite3_mutex_enter(p->pMutex);
  if( p->pFollower==pFile ){
    Wal *pWal = p->pWal;
    assert( p->bOpen && pWal->hp.pLive==p->aHdr );
    pWal->hp.pLive = 0;
    if( p->bFailed ){
      u8 bWas = pWal->writeLock;
      pWal->writeLock = 1;         /* For an assert() of SQLite's */
      SEH_TRY { hpSyncClean(pWal); } SEH_EXCEPT( ; )
      pWal->writeLock = bWas;
      pWal->hp.bDrop = 1;
    }
    __atomic_store_n(&p->pFollower, 0, __ATOMIC_RELAXED);
    p->pWal = 0;
    hpSyncNext(p, pFile);
  }else if( p->nUndo>0 ){
    assert( p->bOpen && p->bFailed );
    p->nUndo--;
    hpSyncNext(p, pFile);
  }
  sqlite3_mutex_leave(p->pMutex);
}

/* The first commit of a connection syncs the name of the log too.  If who opens
** a chain has done so, it is done for all: nobody removes the log meanwhile */
static int hpSyncIsNew(const Wal *pWal){
  return (((const unixFile*)pWal->pWalFd)->ctrlFlags & UNIXFILE_DIRSYNC)!=0;
}

/*
** May the transaction that is about to begin follow others?  It need not find
** any.
*/
SQLITE_PRIVATE int sqlite3HpSyncMay(BtShared *pBt){
  sqlite3 *db = pBt->db;
  const Pager *pPager = pBt->pPager;
  const Wal *pWal = pPager->pWal;
  int i;
  if( pWal==0 || WAL_SYNC_FLAGS(pPager->walSyncFlags)==0
   || pWal->exclusiveMode!=WAL_NORMAL_MODE || pWal->readOnly
   || pWal->padToSectorBoundary || pWal->bShmUnreliable || db->nVdbeActive!=1
   || pPager->exclusiveMode || db->mTrace || db->xRollbackCallback
   || db->xCommitCallback || db->xUpdateCallback || db->xAutovacPages
#ifdef SQLITE_ENABLE_PREUPDATE_HOOK
   || db->xPreUpdateCallback
#endif
#ifdef SQLITE_ENABLE_SNAPSHOT
   || pWal->pSnapshot
#endif
   || db->hp.pBase || pPager->pBackup || hpTurnInode(pBt)==0
   || hpTurnOf(((unixFile*)pPager->fd)->pInode)==0
  ){
    return 0;
  }
  for(i=0; i<db->nDb; i++){
    Btree *pBtree = db->aDb[i].pBt;
    if( pBtree && pBtree->inTrans==TRANS_WRITE ) return 0;
  }
  return 1;
}

SQLITE_PRIVATE void sqlite3HpSyncJoin(BtShared *pBt){
  Pager *pPager = pBt->pPager;
  unixFile *pFile = (unixFile*)pPager->fd;
  Wal *pWal = pPager->pWal;
  HpSync *p;
  u32 bGo = 0;
  if( !pBt->hpTicket.bShares || pWal==0 ) return;
  p = hpSyncOf(pFile->pInode);
  if( p==0 || hpSyncLends(pFile) ) return;
  sqlite3_mutex_enter(p->pMutex);
  if( p->tPause ){
    i64 tNow = hpParkNow();
    i64 nPause = MIN(p->tPause-tNow, hpTurnLeft(pBt));
    sqlite3_mutex_leave(p->pMutex);
    if( nPause>0 ){
      hpParkSleep(&bGo, nPause);
      hpTurnWaited(pBt, hpParkNow()-tNow);
    }
    sqlite3_mutex_enter(p->pMutex);
    p->tPause = 0;
  }
  if( hpSyncMayFollow(p) && p->pid==osGetpid(0)
   && p->syncFlags==WAL_SYNC_FLAGS(pPager->walSyncFlags)
  ){
    assert( pWal->hp.pLive==0 && pWal->hp.iBase==0 );
    __atomic_store_n(&p->pFollower, pFile, __ATOMIC_RELAXED);
    p->pWal = pWal;
    p->nMember++;
    pWal->hp.pLive = p->aHdr;
    pWal->hp.iBase = p->iCommit;
    pWal->hp.db = pBt->db;
    pWal->hp.bReady = 0;
    pBt->db->hp.pBase = pWal;
    hpTurnOffer(pFile->pInode, 0);
  }
  sqlite3_mutex_leave(p->pMutex);
}

/* The base of pWal is known to be synced, or not to be any more.  The mutex is
** held */
static void hpSyncKnown(HpSync *p, Wal *pWal){
  assert( sqlite3_mutex_held(p->pMutex) );
  if( pWal->hp.iBase==0 ) return;
  assert( p->nMember>0 );
  p->nMember--;
  pWal->hp.iBase = 0;
}

SQLITE_PRIVATE void sqlite3HpSyncLeave(BtShared *pBt){
  unixFile *pFile = (unixFile*)pBt->pPager->fd;
  Wal *pWal = pBt->pPager->pWal;
  HpSync *p;
  if( pWal==0 || pWal->hp.iBase==0 || pBt->inTransaction!=TRANS_NONE ) return;
  p = hpSyncOf(pFile->pInode);
  assert( p!=0 && pBt->db->hp.pBase==pWal );
  if( hpSyncLends(pFile) ) hpSyncReturns(pFile);
  sqlite3_mutex_enter(p->pMutex);
  hpSyncKnown(p, pWal);
  sqlite3_mutex_leave(p->pMutex);
  /* Its pages may be of a commit that comes to nothing */
  pWal->hp.bDrop = 1;
  pBt->db->hp.pBase = 0;
}

SQLITE_PRIVATE void sqlite3HpSyncClosed(Wal *pWal){
  HpSync *p;
  if( pWal->hp.iBase==0 ) return;
  p = hpSyncOf(((unixFile*)pWal->pDbFd)->pInode);
  sqlite3_mutex_enter(p->pMutex);
  assert( pWal->hp.pLive==0 );
  hpSyncKnown(p, pWal);
  sqlite3_mutex_leave(p->pMutex);
}

/*
** What became of commit i, which a connection waits for?  SQLITE_DONE: nothing
** yet.  The mutex is held.
*/
static int hpSyncResult(const HpSync *p, u64 i){
  assert( sqlite3_mutex_held(p->pMutex) );
  assert( i>0 && i<=p->iCommit );
  if( i>=p->iFailFrom && i<=p->iFail ) return p->rcFail;
  return i<=p->iShown ? SQLITE_OK : SQLITE_DONE;
}

SQLITE_PRIVATE int sqlite3HpSyncDurable(sqlite3 *db){
  Wal *pWal = db->hp.pBase;
  HpSync *p;
  int rc;
  assert( sqlite3_mutex_held(db->mutex) );
  if( pWal==0 ) return SQLITE_OK;
  p = hpSyncOf(((unixFile*)pWal->pDbFd)->pInode);
  sqlite3_mutex_enter(p->pMutex);
  while( (rc = hpSyncResult(p, pWal->hp.iBase))==SQLITE_DONE ) hpSyncSleep(p);
  if( rc!=SQLITE_OK ) pWal->hp.bDrop = 1;
  /* A transaction that goes on from what is no more fails as often as it
  ** asks */
  if( rc==SQLITE_OK || pWal->hp.pLive==0 ){
    hpSyncKnown(p, pWal);
    db->hp.pBase = 0;
  }
  sqlite3_mutex_leave(p->pMutex);
  return rc;
}

/*
** A statement has run: it returned SQLITE_ROW, SQLITE_DONE, or failed.  If what
** it tells may come from a commit that is not synced yet, wait for that.
** Returns what to return from sqlite3_step().
*/
SQLITE_PRIVATE int sqlite3HpSyncStep(Vdbe *v, int rc){
  sqlite3 *db = v->db;
  int rcSync;
  if( rc==SQLITE_DONE && db->autoCommit==0 && !v->readOnly ) return rc;
  rcSync = sqlite3HpSyncDurable(db);
  if( rcSync==SQLITE_OK ) return rc;
  v->rc = rcSync;
  if( v->eVdbeState==VDBE_RUN_STATE ) (void)sqlite3VdbeHalt(v);
  if( db->hp.pBase ){
    /* As after an error of the disk in SQLite */
    sqlite3RollbackAll(db, SQLITE_ABORT_ROLLBACK);
    sqlite3CloseSavepoints(db);
    db->autoCommit = 1;
    (void)sqlite3HpSyncDurable(db);
    assert( db->hp.pBase==0 );
  }
  v->rc = rcSync;
  return SQLITE_ERROR;
}

SQLITE_PRIVATE void sqlite3HpSyncPrepare(BtShared *pBt){
  sqlite3 *db = pBt->db;
  Wal *pWal = pBt->pPager->pWal;
  int i, n = 0;
  assert( pBt->inTransaction==TRANS_WRITE );
  if( pWal==0 || WAL_SYNC_FLAGS(pBt->pPager->walSyncFlags)==0 ) return;
  for(i=0; i<db->nDb; i++){
    Btree *pBtree = db->aDb[i].pBt;
    n += pBtree!=0 && pBtree->inTrans==TRANS_WRITE;
  }
  pWal->hp.bAlone = n!=1 || hpTurnInode(pBt)==0;
  pWal->hp.bSchema = (db->mDbFlags & DBFLAG_SchemaChange)!=0;
  pWal->hp.db = db;
  pWal->hp.bReady = 1;
}

/*
** May a commit open a chain?
*/
static int hpSyncMayOpen(Wal *pWal, u32 iFirst){
  unixFile *pFile = (unixFile*)pWal->pDbFd;
  return pWal->hp.bReady && !pWal->hp.bAlone && !pWal->hp.bSchema
      && iFirst==0 && !hpSyncIsNew(pWal)
      && pWal->iReCksum==0 && !pWal->truncateOnCommit
      && !pWal->padToSectorBoundary && pWal->exclusiveMode==WAL_NORMAL_MODE
      && pFile->pMethod==&posixIoMethods && pWal->readLock>0
      && hpTurnWaitedSince(pFile->pInode, HP_SYNC_RECENT);
}

/*
** Put a commit at the end of the chain; return its number.  The mutex is held.
*/
static u64 hpSyncAdd(HpSync *p, Wal *pWal, int bFollows){
  unixFile *pFile = (unixFile*)pWal->pDbFd;
  unixShmNode *pNode = pFile->pInode->pShmNode;
  assert( sqlite3_mutex_held(p->pMutex) && pWal->readLock>0 );
  sqlite3_mutex_enter(pNode->pShmMutex);
  assert( pFile->pShm->exclMask & (1<<WAL_WRITE_LOCK) );
  pFile->pShm->exclMask &= ~(1<<WAL_WRITE_LOCK);
  if( !bFollows ) AtomicStore(&p->bOpen, 1);
  sqlite3_mutex_leave(pNode->pShmMutex);
  if( bFollows ){
    assert( p->bOpen && p->pFollower==pFile && p->pWal==pWal );
    pWal->hp.pLive = 0;
    __atomic_store_n(&p->pFollower, 0, __ATOMIC_RELAXED);
    p->pWal = 0;
    p->bShut |= pWal->hp.bSchema || !pWal->hp.bReady;
    hpSyncKnown(p, pWal);
    pWal->hp.db->hp.pBase = 0;
  }else{
    assert( p->iShown==p->iCommit && p->nMember==0 );
    p->nCommit = 0;
    p->tOpen = hpParkNow();
  }
  p->nCommit++;
  p->nMember++;
  p->aHdr[0] = p->aHdr[1] = pWal->hdr;
  return ++p->iCommit;
}

/*
** Sync the log for all commits up to now, and show them.  The mutex is held,
** but not meanwhile.
*/
static void hpSyncAll(HpSync *p, Wal *pWal){
  WalIndexHdr own = pWal->hdr;
  WalIndexHdr hdr = p->aHdr[0];
  u64 iCommit = p->iCommit;
  int rc;
#ifndef __ANDROID__          /* Which cancels no threads */
  int eWas;
#endif
  assert( !p->bSyncs && pWal->hp.pLive==0 );
  p->bSyncs = 1;
  sqlite3_mutex_leave(p->pMutex);
#ifndef __ANDROID__
  /* The others have no timeout */
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &eWas);
#endif
  rc = sqlite3OsSync(pWal->pWalFd, p->syncFlags);
#ifndef __ANDROID__
  pthread_setcancelstate(eWas, &eWas);
#endif
  sqlite3_mutex_enter(p->pMutex);
  /* Meanwhile commits may have come, but nobody has shown any */
  assert( p->bOpen && p->iShown<iCommit && iCommit<=p->iCommit );
  p->bSyncs = 0;
  if( rc==SQLITE_OK ){
    pWal->hdr = hdr;
    walIndexWriteHdr(pWal);
    pWal->hdr = own;
    p->iShown = iCommit;
  }else{
    p->bFailed = 1;
    p->rcFail = rc;
    p->iFailFrom = p->iShown+1;
    p->iFail = p->iCommit;
    p->nUndo = (u32)(p->iFail-p->iShown);
    if( p->pFollower==0 ) hpSyncClean(pWal);
  }
  hpSyncWake(p);
}

/* Append the pages of a commit to the wal-index, and let pWal->hdr be the
** header that leads to them */
static int hpSyncIndex(Wal *pWal, PgHdr *pList, Pgno nTruncate){
  u32 iFrame = pWal->hdr.mxFrame;
  int szPage = (int)pWal->szPage;
  PgHdr *p;
  assert( pWal->writeLock && nTruncate>0 );
  for(p=pList; p; p=p->pDirty){
    int rc;
    if( (p->flags & PGHDR_WAL_APPEND)==0 ) continue;
    iFrame++;
    rc = walIndexAppend(pWal, iFrame, p->pgno);
    if( rc!=SQLITE_OK ) return rc;
  }
  pWal->hdr.szPage = (u16)((szPage&0xff00) | (szPage>>16));
  pWal->hdr.mxFrame = iFrame;
  pWal->hdr.iChange++;
  pWal->hdr.nPage = nTruncate;
  pWal->hdr.isInit = 1;
  pWal->hdr.iVersion = WALINDEX_MAX_VERSION;
  walChecksumBytes(1, (u8*)&pWal->hdr, offsetof(WalIndexHdr, aCksum), 0,
                   pWal->hdr.aCksum);
  return SQLITE_OK;
}

static int hpSyncFrames(
  Wal *pWal,
  PgHdr *pList,
  Pgno nTruncate,        /* Pages of the database now */
  int syncFlags,         /* As for walFrames() */
  u32 iFirst             /* First frame that was written before, or 0 */
){
  unixFile *pFile = (unixFile*)pWal->pDbFd;
  int bFollows = pWal->hp.pLive!=0;
  WalIndexHdr was = pWal->hdr;
  HpSync *p;
  u64 i;
  int rc;
  if( WAL_SYNC_FLAGS(syncFlags)==0 ) return SQLITE_DONE;
  if( !bFollows && !hpSyncMayOpen(pWal, iFirst) ) return SQLITE_DONE;
  p = hpSyncMake(pFile->pInode);
  if( p==0 ) return SQLITE_DONE;
  sqlite3_mutex_enter(p->pMutex);
  if( bFollows ? p->bFailed : p->nMember>0 ){
    rc = bFollows ? p->rcFail : SQLITE_DONE;
    sqlite3_mutex_leave(p->pMutex);
    return rc;
  }
  if( !bFollows ){
    p->pid = osGetpid(0);
    p->syncFlags = (u8)WAL_SYNC_FLAGS(syncFlags);
  }
  sqlite3_mutex_leave(p->pMutex);
  rc = hpSyncIndex(pWal, pList, nTruncate);
  if( rc!=SQLITE_OK ) return rc;
  sqlite3_mutex_enter(p->pMutex);
  if( bFollows && p->bFailed ){
    pWal->hdr = was;
    rc = p->rcFail;
    sqlite3_mutex_leave(p->pMutex);
    return rc;
  }
  i = hpSyncAdd(p, pWal, bFollows);
  hpSyncNext(p, pFile);
  if( p->bSyncs ) pWal->hp.db->hp.aStat[HP_STAT_SYNCED]++;
  while( (rc = hpSyncResult(p, i))==SQLITE_DONE ){
    if( p->bSyncs ){
      hpSyncSleep(p);
    }else{
      hpSyncAll(p, pWal);
    }
  }
  assert( p->nMember>0 && (rc==SQLITE_OK || p->nUndo>0) );
  p->nMember--;
  if( rc==SQLITE_OK ){
    pWal->iCallback = pWal->hdr.mxFrame;
  }else{
    /* The chain keeps the lock until all have rolled back, which ends when they
    ** give it back each */
    unixShmNode *pNode = pFile->pInode->pShmNode;
    memcpy(&pWal->hdr, (void*)walIndexHdr(pWal), sizeof(WalIndexHdr));
    pWal->hp.bDrop = 1;
    sqlite3_mutex_enter(pNode->pShmMutex);
    pFile->pShm->exclMask |= 1<<WAL_WRITE_LOCK;
    sqlite3_mutex_leave(pNode->pShmMutex);
  }
  hpSyncNext(p, pFile);
  sqlite3_mutex_leave(p->pMutex);
  return rc;
}

/*
** The frames of a commit, which are those of pList, have been written.  Returns
** SQLITE_DONE if walFrames() is to go on as ever, which syncs them.
*/
SQLITE_PRIVATE int sqlite3HpSyncFrames(
  Wal *pWal,
  PgHdr *pList,
  Pgno nTruncate,
  int syncFlags,
  u32 iFirst
){
  int rc = hpSyncFrames(pWal, pList, nTruncate, syncFlags, iFirst);
  /* What was found out of this commit says nothing of the next one, which may
  ** be made without sqlite3HpSyncPrepare(): a backup's */
  pWal->hp.bReady = 0;
  return rc;
}
#endif /* HP_SYNC */
#endif /* SQLITE_OMIT_HP */
