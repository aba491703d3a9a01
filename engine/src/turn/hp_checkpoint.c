/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_checkpoint: a thread copies the log into the database file.
**
** In WAL mode the transaction whose commit makes the log too long checkpoints,
** and its application waits: for a thousand pages that are written, and for two
** syncs.  Here the commit only notes that a checkpoint is due, and a thread of
** the library does it.
**
**    sqlite3HpCheckpoint()        Called by SQLite's own WAL hook when one is
**                                 due.  Returns false: do it as ever.
**    sqlite3HpCheckpointLeave()   Called before the application checkpoints:
**                                 the thread leaves the file.
**    sqlite3HpCheckpointAlone()   The same before the file is locked for one
**                                 connection alone.
**    sqlite3HpCheckpointOpened()  A connection has begun to use a log, ...
**    sqlite3HpCheckpointClosed()  ... and ends that: the last one of a file
**                                 makes the thread leave it, and the last one
**                                 of all files makes it end.
**    hpCheckpointGate()           Called before a transaction begins to write.
**    hpCheckpointLocks()          Called when a lock of the wal-index is taken,
**    hpCheckpointHas()            ... was not free: has the thread it?  ...
**    hpCheckpointBusy()           ... then wait for that, ...
**    hpCheckpointFreed()          ... or was given back.
**    hpCheckpointFree()           The last connection leaves the file.
**    hpCheckpointIsWatched()      Does another process use the log?
**
** Which files?  Those of the VFS "unix" in WAL mode, without exclusive locking,
** whose first checkpoint in this process SQLite has done: a program that ends
** soon never has a thread.  No thread where scans have one worker only
** (hpThreads()), with a hard limit of memory, in FUSE, and with PRAGMA
** hp_checkpoint=off.  Nor while another process uses the log: its writers would
** find the lock of the last round taken, and sleep.  Nor with synchronous=OFF,
** as a run that is noted then may copy what is to be synced by the time it does
** so.  An application's own sqlite3_wal_hook() takes the place of ours as it
** takes that of SQLite's.
**
** What the thread holds.  No connection: to open one runs the automatic
** extensions of the application.  It opens the file by its name, which must
** still be that of the same inode, takes a shared lock, opens the log, and
** calls sqlite3WalCheckpoint(): no page is copied by code of ours.  After that
** it closes all.
**
** A run (hpCheckpointRun()):
**
**    1.  Mode PASSIVE, again while others add more than HP_CKPT_FEW frames, at
**        most HP_CKPT_ROUNDS times.  If readers are in the way: later again.
**    2.  SQLite begins the log anew only where all of it has been copied, and
**        writers who never pause would never let that be.  So what is left is
**        copied in mode FULL, while nobody writes.  The file is synced before,
**        so the sync at its end has little to do.
**    3.  If the log is HP_CKPT_LONG times its limit nonetheless, readers of
**        different ages follow one another without a gap.  Then mode RESTART:
**        it waits until those who read the log are gone; new ones read the
**        file.
**
** 2 and 3 take SQLite's lock for writers, for HP_CKPT_TIME at most until it
** begins to copy.  A connection of this process must not find it taken because
** of that: it might have no busy handler, and be the only one.  So transactions
** that begin to write wait at a gate, and whoever comes to the lock all the
** same waits for it there.  They wait for the thread only, which waits for no
** writer then, and gives up mode RESTART if one who reads already is among
** them.
**
** How long may the log become?  A commit that finds it HP_CKPT_LONG times as
** long as its limit waits for the run that was noted before, or checkpoints
** itself if there is none, as with SQLite.  One that notes a run, because its
** own transaction has made the log that long, does not wait, unless the last
** run failed: the next one does, if the thread has not come so far.
**
** States of a file (HpCheckpoint): noted (in HpCopier.pWanted), running
** (HpCopier.pRunning), both, or neither.  All is protected by HpCopier.mutex,
** but for the fields that say so.  No mutex of SQLite's is entered while that
** one is held; it may be entered while those of the VFS are.
**
** Errors.  SQLite's WAL hook heeds none either.  The log stays, and grows,
** until a commit checkpoints itself.  The thread says nothing to sqlite3_log():
** what is called there may be waiting for it.
**
** fork() waits for the run that goes on, so that a child finds no locks of a
** thread that it does not have; and so does closing the last connection to a
** file.  Neither takes longer than the checkpoint would have.
**
** Descriptors.  The thread has two, for the file and its log, in a run.  That
** of the file is kept in between, as SQLite keeps those that it must not close.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#if defined(HP_SYNC) || defined(HP_CHECKPOINT)
/* Does another process use the wal-index? */
static int hpCheckpointIsWatched(const unixShmNode *pNode){
  struct flock f;
  memset(&f, 0, sizeof(f));
  f.l_type = F_WRLCK;
  f.l_whence = SEEK_SET;
  f.l_start = UNIX_SHM_DMS;
  f.l_len = 1;
  return osFcntl(pNode->hShm, F_GETLK, &f)!=0 || f.l_type!=F_UNLCK;
}
#endif

#ifdef HP_CHECKPOINT
#include <pthread.h>

#define HP_CKPT_ROUNDS  4        /* Times in mode PASSIVE */
#define HP_CKPT_FEW     64       /* So many frames are copied at once */
#define HP_CKPT_LONG    2        /* So many times its limit the log is long */
#define HP_CKPT_LAST(LIMIT) ((u32)(LIMIT)+(LIMIT)/2)   /* ... to pause others */
#define HP_CKPT_TIME    ((i64)20*1000000)    /* Nanoseconds, see above */
#define HP_CKPT_LOOK    ((i64)500*1000)      /* From look to look at others */
#define HP_CKPT_AGAIN   ((i64)2*1000000)     /* After readers were in the
                                             ** way, */
#define HP_CKPT_MX_AGAIN ((i64)256*1000000)  /* ... and at most */
#define HP_CKPT_STACK   (256*1024)

/* Slots of the wal-index whose locks others wait for: WAL_WRITE_LOCK and
** WAL_CKPT_LOCK */
#define HP_CKPT_SLOTS   3

/*
** What a run needs to know of its file.
*/
typedef struct HpCkptJob HpCkptJob;
struct HpCkptJob {
  unixInodeInfo *pInode;
  sqlite3_vfs *pVfs;
  char *pNames;          /* An allocation with ... */
  char *zDb;             /* ... its name, between zeros, as SQLite wants it, */
  char *zWal;            /* ... and that of its log */
  int szPage;
  int nLimit;            /* Frames that the log may have */
  int syncFlags;         /* Pager.walSyncFlags */
  int szChunk;           /* unixFile.szChunk */
  u16 mCtrl;             /* UNIXFILE_PSOW or 0 */
};

/*
** A file: unixInodeInfo.pHpCheckpoint.  Made when its first checkpoint is due,
** freed with the inode.
*/
struct HpCheckpoint {
  HpCkptJob job;         /* As it was noted last */
  HpCheckpoint *pNext;   /* In HpCopier.pWanted, if bWanted */
  u32 iGen;              /* HpCopier.iGen when bWanted was set */
  u32 nLeave;            /* Threads that want it left alone */
  u8 bWanted;
  u8 bBusy;              /* bWanted, or running.  Atomic */
  u8 bFirst;             /* SQLite has done the first one */
  u8 bNamed;             /* The name of the log was synced */
  u8 bFailed;            /* The last run could not checkpoint, or runs.
                         ** Atomic */
  i64 tNext;             /* Not before, because of readers, ... */
  i64 nAgain;            /* ... for which that was waited last */
  u32 nFrom;             /* The next run is from so many frames on.  Atomic */
  u32 nDrain;            /* Mode RESTART from so many frames on */
  unixFile *pFile;       /* The file of the thread, while it has it.  Atomic */
  u32 mHeld;             /* Slots that the thread has locked.  Atomic */
  u8 bShut;              /* Nobody is to begin to write.  Atomic */
  u32 nBlocked;          /* Threads that wait for mHeld */
  u32 bGo;               /* Slept on by the thread, for the lock of writers */
};

/*
** The thread.  It exists from the first file that is noted until no connection
** uses a log.
*/
static struct HpCopier {
  pthread_mutex_t mutex;
  pthread_cond_t cond;   /* A run has ended, or some lock was given back */
  pthread_t thread;
  u8 bThread;            /* It exists */
  u8 bStop;              /* It is to end */
  u8 bAtFork;            /* fork() was told of it */
  u32 nFork;             /* Threads that are about to fork(): no run begins */
  u32 iGen;              /* So many fork()s from the first process */
  u32 nRun;              /* Runs up to now */
  u32 bGo;               /* Slept on when there is nothing to do */
  u32 nWal;              /* Logs that connections use */
  HpCheckpoint *pWanted;
  unixInodeInfo *pRunning;    /* The file of this run.  Only to be compared */
} hpCopier = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
               0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

/* This thread is the one that checkpoints */
static __thread u8 hpCopierSelf = 0;

static void hpCopierLock(void){
  pthread_mutex_lock(&hpCopier.mutex);
}
static void hpCopierUnlock(void){
  pthread_mutex_unlock(&hpCopier.mutex);
}

/* Threads that are cancelled are so in SQLite's own calls of the system, not
** here, where that would leave a mutex or a state behind */
static int hpCopierCancel(int bMay){
  int eWas = 0;
#ifndef __ANDROID__          /* Which cancels no threads */
  pthread_setcancelstate(bMay, &eWas);
#endif
  return eWas;
}
#ifdef __ANDROID__
# define HP_NO_CANCEL 0
#else
# define HP_NO_CANCEL PTHREAD_CANCEL_DISABLE
#endif

/* Wait until something ends */
static void hpCopierWait(void){
  int eWas = hpCopierCancel(HP_NO_CANCEL);
  pthread_cond_wait(&hpCopier.cond, &hpCopier.mutex);
  (void)hpCopierCancel(eWas);
}

#ifdef SQLITE_DEBUG
/* The mutex is held */
static int hpCopierIsSane(void){
  const HpCheckpoint *p;
  for(p=hpCopier.pWanted; p; p=p->pNext){
    if( !p->bWanted || p->job.zDb==0 || p->job.pInode==0 ) return 0;
    if( p->job.pInode->pHpCheckpoint!=p ) return 0;
  }
  return hpCopier.bThread || hpCopier.pRunning==0;
}
#endif

/* The checkpoints of a file, if one has been due yet */
static HpCheckpoint *hpCheckpointOf(const unixFile *pFile){
  return __atomic_load_n(&pFile->pInode->pHpCheckpoint, __ATOMIC_ACQUIRE);
}

/* The same, made if need be; NULL without memory */
static HpCheckpoint *hpCheckpointMake(unixFile *pFile){
  HpCheckpoint *p = hpCheckpointOf(pFile);
  HpCheckpoint *pWas = 0;
  if( p ) return p;
  sqlite3BeginBenignMalloc();
  p = sqlite3MallocZero(sizeof(*p));
  sqlite3EndBenignMalloc();
  if( p && !__atomic_compare_exchange_n(&pFile->pInode->pHpCheckpoint, &pWas, p,
                              0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ){
    sqlite3_free(p);
    p = pWas;
  }
  return p;
}

/* It is not noted any more: whoever waits for its run looks again.  The mutex
** is held */
static void hpCheckpointForget(HpCheckpoint *p){
  HpCheckpoint **pp = &hpCopier.pWanted;
  assert( hpCopierIsSane() );
  if( p->iGen!=hpCopier.iGen ){
    /* It was noted before this process came to be */
    p->iGen = hpCopier.iGen;
    p->nLeave = p->nBlocked = 0;
    p->bWanted = 0;
    AtomicStore(&p->bBusy, 0);
  }
  if( !p->bWanted ) return;
  while( *pp!=p ) pp = &(*pp)->pNext;
  *pp = p->pNext;
  p->bWanted = 0;
  AtomicStore(&p->bBusy, 0);
  pthread_cond_broadcast(&hpCopier.cond);
}

static void hpCheckpointFree(unixInodeInfo *pInode){
  HpCheckpoint *p = pInode->pHpCheckpoint;
  assert( unixMutexHeld() );
  if( p==0 ) return;
  hpCopierLock();
  assert( p->pFile==0 );
  hpCheckpointForget(p);
  assert( !p->bWanted && !AtomicLoad(&p->bShut) );
  hpCopierUnlock();
  sqlite3_free(p->job.pNames);
  sqlite3_free(p);
}

/*
** A transaction is about to write to pFile, of which it holds nothing yet.
*/
static void hpCheckpointGate(const unixFile *pFile){
  HpCheckpoint *p;
  if( pFile->pMethod!=&posixIoMethods ) return;
  p = hpCheckpointOf(pFile);
  if( p==0 || !AtomicLoad(&p->bShut) ) return;
  assert( !hpCopierSelf );
  hpCopierLock();
  while( AtomicLoad(&p->bShut) ) hpCopierWait();
  hpCopierUnlock();
}

/*
** The connection of pFile has locked the slots of mask for itself, or has given
** them back.  It has the mutex of the wal-index.
*/
static void hpCheckpointLocks(const unixFile *pFile, u16 mask){
  HpCheckpoint *p = hpCheckpointOf(pFile);
  if( p==0 || __atomic_load_n(&p->pFile, __ATOMIC_RELAXED)!=pFile ) return;
  assert( hpCopierSelf );
  AtomicStore(&p->mHeld, mask & HP_CKPT_SLOTS);
}

/*
** Has the thread some slot of mask?  The connection of pFile, which found it
** taken, has the mutex of the wal-index.
*/
static int hpCheckpointHas(const unixFile *pFile, u16 mask){
  HpCheckpoint *p = hpCheckpointOf(pFile);
  return p!=0 && !hpCopierSelf && (AtomicLoad(&p->mHeld) & mask)!=0;
}

/*
** The same, which has no mutex any more, waits until it has not.  A writer
** reads the log already and does not go away for the thread, which need not
** wait for that.
*/
static void hpCheckpointBusy(const unixFile *pFile, u16 mask){
  HpCheckpoint *p = hpCheckpointOf(pFile);
  u32 nBlocked = (mask & (1<<WAL_WRITE_LOCK))!=0;
  assert( p!=0 && !hpCopierSelf );
  hpCopierLock();
  p->nBlocked += nBlocked;
  if( AtomicLoad(&p->bShut) ) hpParkWake(&p->bGo);
  while( AtomicLoad(&p->mHeld) & mask ) hpCopierWait();
  p->nBlocked -= nBlocked;
  hpCopierUnlock();
}

/*
** A lock on the wal-index was given back.
*/
static void hpCheckpointFreed(const unixFile *pFile){
  HpCheckpoint *p = hpCheckpointOf(pFile);
  if( p==0 ) return;
  if( hpCopierSelf ){
    hpCopierLock();
    pthread_cond_broadcast(&hpCopier.cond);
    hpCopierUnlock();
  }else if( AtomicLoad(&p->bShut) ){
    hpParkWake(&p->bGo);
  }
}

/*
** The busy handler of a checkpoint that wants all writers, or readers, to
** pause.
*/
typedef struct HpCkptBusy HpCkptBusy;
struct HpCkptBusy {
  HpCheckpoint *p;
  Wal *pWal;
  i64 tEnd;              /* When to give up */
  u8 bDrain;             /* Wait for readers too */
  u8 bBlocked;           /* One of them waits for this checkpoint */
};
static int hpCheckpointPause(void *pArg){
  HpCkptBusy *pBusy = (HpCkptBusy*)pArg;
  i64 nNap = pBusy->tEnd-hpParkNow();
  assert( hpCopierSelf && AtomicLoad(&pBusy->p->bShut) );
  if( nNap<=0 ) return 0;
  if( pBusy->pWal->writeLock ){
    if( !pBusy->bDrain ) return 0;
    hpCopierLock();
    pBusy->bBlocked = pBusy->p->nBlocked>0;
    hpCopierUnlock();
    if( pBusy->bBlocked ) return 0;
  }
  /* Who leaves, or has the lock, may be in another process */
  hpParkSleep(&pBusy->p->bGo, MIN(nNap, HP_CKPT_LOOK));
  __atomic_store_n(&pBusy->p->bGo, 0, __ATOMIC_SEQ_CST);
  return 1;
}

/*
** The last round: nobody writes, and with bDrain nobody reads the log.  Returns
** a result code; SQLITE_BUSY if somebody does.
*/
static int hpCheckpointLast(
  HpCheckpoint *p,
  const HpCkptJob *pJob,
  Wal *pWal,
  sqlite3 *db,
  u8 *aBuf,              /* Room for a page */
  int bDrain
){
  int eMode = bDrain ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_FULL;
  int nLog = 0, nDone = -1;
  int rc;
  HpCkptBusy busy;
  assert( hpCopierSelf && !AtomicLoad(&p->bShut) && p->pFile!=0 );
  busy.p = p;
  busy.pWal = pWal;
  busy.bDrain = (u8)bDrain;
  busy.bBlocked = 0;
  busy.tEnd = hpParkNow()+HP_CKPT_TIME;
  __atomic_store_n(&p->bGo, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&p->bShut, 1, __ATOMIC_SEQ_CST);
  rc = sqlite3WalCheckpoint(pWal, db, eMode, hpCheckpointPause, &busy,
                            pJob->syncFlags, pJob->szPage, aBuf, &nLog, &nDone);
  hpCopierLock();
  AtomicStore(&p->bShut, 0);
  pthread_cond_broadcast(&hpCopier.cond);
  hpCopierUnlock();
  /* All but to begin the log anew is done, which the next run tries again */
  if( rc==SQLITE_BUSY && busy.bBlocked && nDone==nLog ) rc = SQLITE_OK;
  return rc;
}

/* Sync the database file */
static int hpCheckpointSync(Wal *pWal, const HpCkptJob *pJob){
  int eSync = CKPT_SYNC_FLAGS(pJob->syncFlags);
  return eSync ? sqlite3OsSync(pWal->pDbFd, eSync) : SQLITE_OK;
}

/* Frames of the log as it is now */
static u32 hpCheckpointLive(Wal *pWal){
  u32 n = 0;
  SEH_TRY {
    n = AtomicLoad(&walIndexHdr(pWal)->mxFrame);
  }
  SEH_EXCEPT( n = 0; )
  return n;
}

/*
** The log is open: do what is to be done.  Returns false if readers were in the
** way.
*/
static int hpCheckpointRounds(
  HpCheckpoint *p,
  const HpCkptJob *pJob,
  Wal *pWal,
  u8 *aBuf               /* Room for a page */
){
  sqlite3 db;            /* As far as checkpoints know it */
  u32 nLive = 0, nLast = HP_CKPT_LAST(pJob->nLimit);
  int nLog = 0, nDone = 0;
  int i, rc = SQLITE_OK;
  assert( hpCopierSelf && pJob->nLimit>0 && pWal->writeLock==0 );
  memset(&db, 0, sizeof(db));
  AtomicStore(&p->nFrom, 0);
  if( hpCheckpointLive(pWal)<HP_CKPT_LONG*(u32)pJob->nLimit ) p->nDrain = 0;
  for(i=0; i<HP_CKPT_ROUNDS && rc==SQLITE_OK; i++){
    rc = sqlite3WalCheckpoint(pWal, &db, SQLITE_CHECKPOINT_PASSIVE, 0, 0,
        pJob->syncFlags, pJob->szPage, aBuf, &nLog, &nDone);
    if( rc!=SQLITE_OK ) return 1;
    AtomicStore(&p->bFailed, 0);
    /* If it has synced anything */
    p->bNamed = (((unixFile*)pWal->pWalFd)->ctrlFlags & UNIXFILE_DIRSYNC)==0;
    nLive = hpCheckpointLive(pWal);
    if( nDone<nLog ){
      if( nLive<HP_CKPT_LONG*(u32)pJob->nLimit || nLive<p->nDrain ) return 0;
      break;
    }
    if( nLive<=(u32)nLog ) break;
    if( nLive<nLast ){
      AtomicStore(&p->nFrom, nLast);
      return 1;
    }
    /* Most of what was copied is synced before the last round, in which nobody
    ** writes, and what has come since is copied once more */
    rc = hpCheckpointSync(pWal, pJob);
    nLive = hpCheckpointLive(pWal);
    if( nLive<(u32)nLog+HP_CKPT_FEW ) break;
  }
  if( rc==SQLITE_OK && nLive>=HP_CKPT_LONG*(u32)pJob->nLimit
   && nLive>=p->nDrain
  ){
    rc = hpCheckpointLast(p, pJob, pWal, &db, aBuf, 1);
    p->nDrain = rc==SQLITE_BUSY ? 2*nLive : 0;
  }else if( rc==SQLITE_OK && nLive>(u32)nLog ){
    rc = hpCheckpointLast(p, pJob, pWal, &db, aBuf, 0);
  }
  return rc!=SQLITE_BUSY;
}

/* Is the file still there, under its name, and does the system give no
** descriptor below 3 to the log, which SQLite would not take? */
static int hpCheckpointMayOpen(const HpCkptJob *pJob){
  struct stat buf;
  int i;
  for(i=0; i<SQLITE_MINIMUM_FILE_DESCRIPTOR; i++){
    if( osFcntl(i, F_GETFD)<0 ) return 0;
  }
  return osStat(pJob->zDb, &buf)==0;
}

/* Map the wal-index, which sqlite3WalCheckpoint() takes for done */
static int hpCheckpointMap(Wal *pWal){
  volatile u32 *aIndex;
  int rc = SQLITE_OK;
  SEH_TRY {
    rc = walIndexPage(pWal, 0, &aIndex);
  }
  SEH_EXCEPT( rc = SQLITE_IOERR_IN_PAGE; )
  return rc;
}

/*
** A run.  pFile has room for the file.
*/
static void hpCheckpointRun(const HpCkptJob *pJob, unixFile *pFile, u8 *aBuf){
  sqlite3_file *pFd = (sqlite3_file*)pFile;
  int eOpen = SQLITE_OPEN_READWRITE|SQLITE_OPEN_MAIN_DB;
  HpCheckpoint *p = 0;
  Wal *pWal = 0;
  int bFree = 1;
  assert( hpCopierSelf && pJob->szPage>=512 && pJob->zDb!=0 );
  memset(pFile, 0, pJob->pVfs->szOsFile);
  if( !hpCheckpointMayOpen(pJob)
   || sqlite3OsOpen(pJob->pVfs, pJob->zDb, pFd, eOpen, &eOpen)!=SQLITE_OK
  ){
    return;
  }
  /* The name may be that of another file by now, which may be another kind of
  ** file */
  if( pFd->pMethods==&posixIoMethods && pFile->pInode==pJob->pInode
   && (eOpen & SQLITE_OPEN_READWRITE)!=0 && pFile->pInode->pShmNode
  ){
    p = hpCheckpointOf(pFile);
  }
  if( p && sqlite3OsLock(pFd, SQLITE_LOCK_SHARED)==SQLITE_OK ){
    pFile->szChunk = pJob->szChunk;
    pFile->ctrlFlags = (pFile->ctrlFlags & ~UNIXFILE_PSOW) | pJob->mCtrl;
    __atomic_store_n(&p->pFile, pFile, __ATOMIC_SEQ_CST);
    if( sqlite3WalOpen(pJob->pVfs, pFd, pJob->zWal, 0, -1, &pWal)==SQLITE_OK ){
      /* To sync the name of the log once is enough */
      if( p->bNamed ){
        ((unixFile*)pWal->pWalFd)->ctrlFlags &= ~UNIXFILE_DIRSYNC;
      }
      if( hpCheckpointMap(pWal)==SQLITE_OK ){
        bFree = hpCheckpointRounds(p, pJob, pWal, aBuf);
      }
      (void)sqlite3WalClose(pWal, 0, 0, 0, 0);
    }
    hpCopierLock();
    assert( !p->bShut );
    /* Some lock is left where the system could not give it back, until now */
    AtomicStore(&p->mHeld, 0);
    pthread_cond_broadcast(&hpCopier.cond);
    __atomic_store_n(&p->pFile, 0, __ATOMIC_SEQ_CST);
    p->nAgain = bFree ? 0 : MAX(2*p->nAgain, HP_CKPT_AGAIN);
    p->nAgain = MIN(p->nAgain, HP_CKPT_MX_AGAIN);
    p->tNext = bFree ? 0 : hpParkNow()+p->nAgain;
    AtomicStore(&p->bBusy, p->bWanted);
    hpCopierUnlock();
    (void)sqlite3OsUnlock(pFd, SQLITE_LOCK_NONE);
  }
  (void)sqlite3OsClose(pFd);
}

/*
** What is to be done next: take it from the list, or return false and set
** *pnNap to the nanoseconds until then.  The mutex is held.
*/
static int hpCopierTake(HpCkptJob *pJob, i64 *pnNap){
  HpCheckpoint *p;
  i64 tNow = hpParkNow();
  assert( hpCopierIsSane() && hpCopier.pRunning==0 );
  *pnNap = (i64)3600*1000000000;
  if( hpCopier.nFork>0 ) return 0;
  for(p=hpCopier.pWanted; p && p->tNext>tNow; p=p->pNext){
    *pnNap = MIN(*pnNap, p->tNext-tNow);
  }
  if( p==0 ) return 0;
  hpCheckpointForget(p);
  AtomicStore(&p->bBusy, 1);
  AtomicStore(&p->bFailed, 1);
  *pJob = p->job;
  p->job.pNames = p->job.zDb = p->job.zWal = 0;
  hpCopier.pRunning = pJob->pInode;
  return 1;
}

static void *hpCopierMain(void *pUnused){
  HpCkptJob job;
  i64 nNap;
  UNUSED_PARAMETER(pUnused);
  hpCopierSelf = 1;
  hpCopierLock();
  while( !hpCopier.bStop ){
    if( hpCopierTake(&job, &nNap) ){
      u8 *a;
      hpCopierUnlock();
      sqlite3BeginBenignMalloc();
      a = sqlite3_malloc64(job.szPage + (u64)job.pVfs->szOsFile);
      if( a ) hpCheckpointRun(&job, (unixFile*)&a[job.szPage], a);
      sqlite3_free(a);
      sqlite3_free(job.pNames);
      sqlite3EndBenignMalloc();
      hpCopierLock();
      assert( hpCopier.pRunning==job.pInode );
      hpCopier.pRunning = 0;
      hpCopier.nRun++;
      pthread_cond_broadcast(&hpCopier.cond);
    }else{
      __atomic_store_n(&hpCopier.bGo, 0, __ATOMIC_SEQ_CST);
      hpCopierUnlock();
      hpParkSleep(&hpCopier.bGo, nNap);
      hpCopierLock();
    }
  }
  hpCopierUnlock();
  return 0;
}

/*
** Around fork().  No mutex is held from the first of these to the second: other
** handlers of fork() may want it.  The child has neither the thread nor
** anything to do for it; its files find that by iGen.
*/
static void hpCopierFork(void){
  if( hpCopierSelf ) return;
  hpCopierLock();
  hpCopier.nFork++;
  while( hpCopier.pRunning ) hpCopierWait();
  hpCopierUnlock();
}
static void hpCopierParent(void){
  if( hpCopierSelf ) return;
  hpCopierLock();
  hpCopier.nFork--;
  hpParkWake(&hpCopier.bGo);
  hpCopierUnlock();
}
static void hpCopierChild(void){
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  hpCopier.mutex = mutex;
  hpCopier.cond = cond;
  hpCopier.bThread = hpCopier.bStop = 0;
  hpCopier.pWanted = 0;
  hpCopier.pRunning = 0;
  hpCopier.nFork = 0;
  hpCopier.nWal = 0;
  hpCopier.iGen++;
}

/*
** Is there a thread, or can one be made?  The mutex is held.
*/
static int hpCopierStart(void){
  if( hpCopier.bThread ) return !hpCopier.bStop;
  if( !hpCopier.bAtFork ){
    if( pthread_atfork(hpCopierFork, hpCopierParent, hpCopierChild) ) return 0;
    hpCopier.bAtFork = 1;
  }
  hpCopier.bThread = (u8)hpThreadMake(&hpCopier.thread, HP_CKPT_STACK,
                                      hpCopierMain, 0);
  return hpCopier.bThread;
}

/*
** One connection less uses a log.  The last one lets the thread end.
*/
static void hpCopierEnd(void){
  int eWas = hpCopierCancel(HP_NO_CANCEL);
  pthread_t thread;
  hpCopierLock();
  /* A child's count is of its own connections */
  if( hpCopier.nWal>0 ) hpCopier.nWal--;
  if( hpCopier.nWal==0 && hpCopier.bThread && !hpCopier.bStop ){
    while( hpCopier.pWanted ) hpCheckpointForget(hpCopier.pWanted);
    hpCopier.bStop = 1;
    thread = hpCopier.thread;
    hpParkWake(&hpCopier.bGo);
    hpCopierUnlock();
    (void)pthread_join(thread, 0);
    hpCopierLock();
    /* Nothing is noted while it is to end: hpCopierStart() */
    assert( hpCopier.pWanted==0 && hpCopier.pRunning==0 );
    hpCopier.bThread = hpCopier.bStop = 0;
    pthread_cond_broadcast(&hpCopier.cond);
  }
  hpCopierUnlock();
  (void)hpCopierCancel(eWas);
}

SQLITE_PRIVATE void sqlite3HpCheckpointOpened(void){
  if( hpCopierSelf ) return;
  hpCopierLock();
  hpCopier.nWal++;
  hpCopierUnlock();
}

/* For sqlite3_log(): whom it tells may not expect this thread */
SQLITE_PRIVATE int sqlite3HpCheckpointQuiet(void){
  return hpCopierSelf;
}

/*
** The thread leaves the file.  With bFirst, its next checkpoint is SQLite's.
*/
static void hpCheckpointLeave(unixFile *pFile, int bFirst){
  HpCheckpoint *p = hpCheckpointOf(pFile);
  if( p==0 || hpCopierSelf ) return;
  hpCopierLock();
  hpCheckpointForget(p);
  p->nLeave++;
  while( hpCopier.pRunning==pFile->pInode ) hpCopierWait();
  assert( !p->bWanted && p->nLeave>0 );
  p->nLeave--;
  if( bFirst ) p->bFirst = p->bNamed = 0;
  hpCopierUnlock();
}

SQLITE_PRIVATE void sqlite3HpCheckpointLeave(sqlite3_file *pFd){
  if( pFd->pMethods!=&posixIoMethods ) return;
  hpCheckpointLeave((unixFile*)pFd, 0);
}

/*
** If no other connection of this process has the file locked, but that of the
** thread, and perhaps one that just closes it too, then the thread leaves it.
*/
SQLITE_PRIVATE void sqlite3HpCheckpointAlone(unixFile *pFile){
  int nShared;
  if( pFile->pMethod!=&posixIoMethods || hpCheckpointOf(pFile)==0 ) return;
  sqlite3_mutex_enter(pFile->pInode->pLockMutex);
  nShared = pFile->pInode->nShared;
  sqlite3_mutex_leave(pFile->pInode->pLockMutex);
  if( nShared<=3 ) hpCheckpointLeave(pFile, 1);
}

SQLITE_PRIVATE void sqlite3HpCheckpointClosed(Wal *pWal){
  if( hpCopierSelf ) return;
  sqlite3HpCheckpointAlone((unixFile*)pWal->pDbFd);
  hpCopierEnd();
}

/* Is the file in a file system that looks at each write? */
static int hpCheckpointIsSeen(sqlite3_file *pFd){
#ifdef HP_PREADV
  return hpWriteIsSeen(pFd);
#else
  UNUSED_PARAMETER(pFd);
  return 1;
#endif
}

/*
** May the thread checkpoint the file of pPager?
*/
static int hpCheckpointMay(sqlite3 *db, const Btree *pBt){
  const Pager *pPager = pBt->pBt->pPager;
  const unixFile *pFile = (const unixFile*)pPager->fd;
  const Wal *pWal;
  /* With a shared cache another thread may end the use of the log */
  if( pPager->vfsFlags & SQLITE_OPEN_SHAREDCACHE ) return 0;
  pWal = pPager->pWal;
  return pWal && pWal->exclusiveMode==WAL_NORMAL_MODE && !pWal->readOnly
      && CKPT_SYNC_FLAGS(pPager->walSyncFlags)!=0
      && !pWal->bShmUnreliable
      && pFile->pMethod==&posixIoMethods && !pFile->pInode->bProcessLock
      && pPager->pVfs->xOpen==unixOpen
      && !hpConfig()->bOff && !db->hp.bNoCheckpoint && hpThreads(db)>1;
}

/* Note in *pJob what a run needs to know.  Returns false without memory */
static int hpCheckpointDescribe(HpCkptJob *pJob, Pager *pPager, int nLimit){
  unixFile *pFile = (unixFile*)pPager->fd;
  int nDb = sqlite3Strlen30(pPager->zFilename);
  int nWal = sqlite3Strlen30(pPager->zWal);
  assert( pPager->pWal!=0 && nDb>0 && nWal>0 );
  sqlite3BeginBenignMalloc();
  pJob->pNames = sqlite3MallocZero(4 + nDb+2 + (u64)nWal+2);
  sqlite3EndBenignMalloc();
  if( pJob->pNames==0 ) return 0;
  pJob->zDb = &pJob->pNames[4];
  pJob->zWal = &pJob->zDb[nDb+2];
  memcpy(pJob->zDb, pPager->zFilename, nDb);
  memcpy(pJob->zWal, pPager->zWal, nWal);
  pJob->pInode = pFile->pInode;
  pJob->pVfs = pPager->pVfs;
  pJob->szPage = (int)pPager->pageSize;
  pJob->nLimit = MAX(nLimit, 1);
  pJob->syncFlags = pPager->walSyncFlags;
  pJob->szChunk = pFile->szChunk;
  pJob->mCtrl = pFile->ctrlFlags & UNIXFILE_PSOW;
  return 1;
}

/* Is it the first checkpoint of the file, which is SQLite's? */
static int hpCheckpointIsFirst(HpCheckpoint *p){
  int bFirst;
  hpCopierLock();
  bFirst = !p->bFirst;
  p->bFirst = 1;
  hpCopierUnlock();
  return bFirst;
}

/*
** The thread is to open the file, for which it needs a descriptor.  SQLite
** keeps those of files that were closed while there were locks, as to close one
** ends all locks of the process, and takes them again: let there be one.  So
** the thread opens none that is below 3, which SQLite would close.  Returns
** false if that cannot be done.
*/
static int hpCheckpointSpare(unixFile *pFile){
  unixInodeInfo *pInode = pFile->pInode;
  UnixUnusedFd *p, *pNew = 0;
  int fd = -1;
  assert( !hpCopierSelf && pInode->nShared>0 );
  sqlite3_mutex_enter(pInode->pLockMutex);
  p = pInode->pUnused;
  while( p && p->flags!=SQLITE_OPEN_READWRITE ) p = p->pNext;
  sqlite3_mutex_leave(pInode->pLockMutex);
  if( p ) return 1;
  sqlite3BeginBenignMalloc();
  pNew = sqlite3_malloc64(sizeof(*pNew));
  sqlite3EndBenignMalloc();
  if( pNew ) fd = osFcntl(pFile->h, F_DUPFD_CLOEXEC, 3);
  if( fd<0 ){
    sqlite3_free(pNew);
    return 0;
  }
  pNew->fd = fd;
  pNew->flags = SQLITE_OPEN_READWRITE;
  sqlite3_mutex_enter(pInode->pLockMutex);
  pNew->pNext = pInode->pUnused;
  pInode->pUnused = pNew;
  sqlite3_mutex_leave(pInode->pLockMutex);
  return 1;
}

/*
** Note that a file is to be checkpointed.  *pJob, which says how, is freed.
** Returns 0 if it is not noted, and 2 if the last run could not checkpoint, or
** readers were in its way and the next one will be later.
*/
static int hpCheckpointNote(HpCheckpoint *p, HpCkptJob *pJob){
  int eNoted;
  assert( !hpCopierSelf && pJob->pNames!=0 );
  hpCopierLock();
  if( p->iGen!=hpCopier.iGen ) hpCheckpointForget(p);
  if( AtomicLoad(&p->bBusy)==0 && p->nLeave==0 && hpCopierStart() ){
    SWAP(HpCkptJob, *pJob, p->job);
    p->bWanted = 1;
    AtomicStore(&p->bBusy, 1);
    p->pNext = hpCopier.pWanted;
    hpCopier.pWanted = p;
    hpParkWake(&hpCopier.bGo);
  }
  eNoted = AtomicLoad(&p->bBusy)==0 ? 0 : 1;
  if( eNoted && (AtomicLoad(&p->bFailed) || p->tNext>hpParkNow()) ) eNoted = 2;
  hpCopierUnlock();
  sqlite3_free(pJob->pNames);
  return eNoted;
}

/*
** Wait for the run that goes on, or the one that comes next.  Returns false if
** that could not checkpoint, or is not to be waited for: the thread has another
** file to do, or waits for readers.
*/
static int hpCheckpointAwait(HpCheckpoint *p, const unixInodeInfo *pInode){
  int bTest = hpConfig()->eCheckpoint==HP_CKPT_NOW;
  int bRuns, bSoon, bTaken = 0;
  u32 nRun;
  assert( !hpCopierSelf );
  hpCopierLock();
  if( p->iGen!=hpCopier.iGen ) hpCheckpointForget(p);
  if( bTest ){
    p->tNext = 0;
    hpParkWake(&hpCopier.bGo);
  }
  nRun = hpCopier.nRun;
  for(;;){
    bRuns = hpCopier.pRunning==pInode;
    bSoon = p->bWanted && hpCopier.bThread && !hpCopier.bStop
        && hpCopier.nFork==0
        && (bTest || (hpCopier.pRunning==0 && p->tNext<=hpParkNow()));
    if( (!bRuns && !bSoon) || (nRun!=hpCopier.nRun && !bTest) ) break;
    bTaken = 1;
    hpCopierWait();
  }
  /* A run that did not find the file leaves it busy */
  if( !bRuns ){
    AtomicStore(&p->bBusy, p->bWanted);
    bTaken = bTaken && !AtomicLoad(&p->bFailed);
  }
  hpCopierUnlock();
  return bTaken;
}

/*
** The log of database zDb has nFrame frames, and is to be checkpointed from
** nLimit on.  Returns true if the caller need not do that.
*/
SQLITE_PRIVATE int sqlite3HpCheckpoint(
  sqlite3 *db,
  const char *zDb,
  int nFrame,
  int nLimit
){
  int eTest = hpConfig()->eCheckpoint;
  int iDb = sqlite3FindDbName(db, zDb);
  unixInodeInfo *pInode;
  Pager *pPager;
  HpCheckpoint *p;
  HpCkptJob job;
  int bLong, bWait, bFirst, bTaken;
  assert( sqlite3_mutex_held(db->mutex) && !hpCopierSelf );
  if( iDb<0 ) return 0;
  pPager = sqlite3BtreePager(db->aDb[iDb].pBt);
  if( !hpCheckpointMay(db, db->aDb[iDb].pBt) ) return 0;
  pInode = ((unixFile*)pPager->fd)->pInode;
  p = hpCheckpointMake((unixFile*)pPager->fd);
  if( p==0 ) return 0;
  if( (u32)nFrame<MIN(AtomicLoad(&p->nFrom), HP_CKPT_LAST(nLimit))
   && eTest==0
  ){
    return 1;
  }
  if( hpCheckpointIsWatched(pInode->pShmNode) ){
    AtomicStore(&p->nFrom, 0);
    return 0;
  }
  bLong = nFrame/HP_CKPT_LONG>=nLimit;
  bWait = eTest==HP_CKPT_NOW;
  if( AtomicLoad(&p->bBusy)==0 ){
    int eNoted = 0;
    bFirst = eTest==0 && hpCheckpointIsFirst(p);
    if( bFirst || sqlite3_hard_heap_limit64(-1)>0
     || hpCheckpointIsSeen(pPager->fd)
     || !hpCheckpointSpare((unixFile*)pPager->fd)
     || !hpCheckpointDescribe(&job, pPager, nLimit)
     || (eNoted = hpCheckpointNote(p, &job))==0
    ){
      return 0;
    }
    bWait |= bLong && eNoted==2;
  }else{
    bWait |= bLong;
    if( !bWait ) return 1;
  }
  bTaken = !bWait || hpCheckpointAwait(p, pInode);
  db->hp.aStat[HP_STAT_CHECKPOINTS] += (u32)bTaken;
  return bTaken;
}
#endif /* HP_CHECKPOINT */
#endif /* SQLITE_OMIT_HP */
