/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_readlock: short read transactions of many threads.
**
** In WAL mode a read transaction of one look-up costs more than the look-up.
** What another process can see of it, the lock on a read mark, stays as it is:
** taken and given back by the same calls at the same moments, unless the
** application wants it to linger.  This file spares what nobody needs:
**
**    sqlite3HpFileSize()   Called where a transaction wants the size of the
**                          database file: ask the system only if it may have
**                          changed.
**    sqlite3HpBarrier()    Called for a memory barrier: is the instruction
**                          enough?  SQLite takes a global mutex as well.
**    sqlite3HpShmLock()    Called to lock or unlock bytes of the wal-index:
**                          connections of one process share a lock without a
**                          mutex.
**    sqlite3HpShmUnmap()   Called when a connection ends its use of it.
**    sqlite3HpNoneWaits()  Called at the end of a transaction: is there no
**                          connection that waits for another one to end, for
**                          sqlite3_unlock_notify()?  SQLite takes a global
**                          mutex to find out.
**
**    hp_linger()           Called by an application that has a timer: locks on
**                          read marks are given back when it is up, not at the
**                          end of each transaction.
*/
#if !defined(SQLITE_OMIT_HP) && !defined(SQLITE_OMIT_WAL)
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* As in hpsqlite.h */
#define HP_LINGER_OFF 0
#define HP_LINGER_ON  1
#define HP_LINGER_END 2
#define HP_LINGER_ASK 3

/* Times to try for the mutex of a wal-index before the thread goes to sleep.
** Who has it is in one system call, a quarter of a microsecond. */
#define HP_SHM_SPIN 40

/*
** Store the size of the database file in *pSize.
**
** While the wal-index header is the same no transaction was committed, so
** there was nothing to checkpoint and nobody had a reason to change the size
** of the file: SQLite keeps its cached pages for the same reason.  Nobody can
** have left WAL mode either, as this connection holds a lock on the file.  But
** a wal-index that had to be recovered may look as before while the file is
** another: then SQLite forgets its pages, and iVersion is a new one.
*/
SQLITE_PRIVATE int sqlite3HpFileSize(
  Wal *pWal,
  sqlite3_file *fd,
  u32 iVersion,          /* Pager.iDataVersion */
  i64 *pSize
){
  int rc;
  int bKeep = pWal && pWal->readLock>=0 && pWal->exclusiveMode==WAL_NORMAL_MODE
           && pWal->bShmUnreliable==0 && hpConfig()->bOff==0;
  if( bKeep && pWal->hp.bSize && pWal->hp.iVersion==iVersion
   && memcmp(pWal->hp.aHdr, &pWal->hdr, sizeof(WalIndexHdr))==0
  ){
    *pSize = pWal->hp.szFile;
    return SQLITE_OK;
  }
  rc = sqlite3OsFileSize(fd, pSize);
  if( pWal ){
    pWal->hp.bSize = bKeep && rc==SQLITE_OK;
    pWal->hp.iVersion = iVersion;
    memcpy(pWal->hp.aHdr, &pWal->hdr, sizeof(WalIndexHdr));
    pWal->hp.szFile = *pSize;
  }
  return rc;
}

#if SQLITE_OS_UNIX && !defined(SQLITE_WASI)
/*
** Return true if sqlite3MemoryBarrier() is a barrier.
*/
SQLITE_PRIVATE int sqlite3HpBarrier(void){
#ifdef __GNUC__
  return hpConfig()->bOff==0;
#else
  return 0;
#endif
}
#endif

#ifdef SQLITE_ENABLE_UNLOCK_NOTIFY
/*
** Return true if no connection waits for another one.  A connection that has
** come to wait for this one did so while it had the mutex of the shared cache,
** before this one released the lock it wants, with the same mutex: so what is
** read here is not too old.
*/
SQLITE_PRIVATE int sqlite3HpNoneWaits(const void *ppBlocked){
  sqlite3 *const*pp = ppBlocked;
  return AtomicLoad(pp)==0 && hpConfig()->bOff==0;
}
#endif

#ifndef sqlite3HpShmLock  /* hpHooks.h: a macro where this cannot be done */
/*
** The locks of a process on the bytes of a wal-index are counted in
** unixShmNode.aLock[]: so many connections share the lock, or -1 if one has it
** for itself.  Only the first and the last of those that share it call the
** system.  They do that with the mutex; only with the mutex does a count
** become 0, or anything else than 0.  Others just count, with no mutex.
**
** When the last one leaves, it first makes the count 0 and then gives the lock
** back.  Who comes in between waits for the mutex and gets the lock anew.
*/

/*
** Lingering: when a connection leaves a read mark, in a thread that wants so, it
** stays counted, and unixShm.hpIdle says for which slot: 1 for the first, 0 for
** none.  When it comes back it takes that number away, which nobody else looks at
** meanwhile: so threads with a connection each do not even write to the same
** memory.  Others take the number away too, always with the mutex, and whoever
** has done so has the place.  It ends
**
**   * when a connection of this process wants the slot for itself,
**   * when hp_linger(HP_LINGER_END) is called,
**   * when the connection leaves another slot, in which it lingers then,
**   * and with the connection's use of the wal-index.
**
** Other processes see a reader that stays for some milliseconds: their
** checkpoints go as far as its snapshot.
**
** They want more of it once the log has been copied back, or some of it: then
** a writer waits for a moment in which nobody uses slots 1 to 4, to begin the
** log anew.  Connections that come back every millisecond would leave no such
** moment, and the log would grow.  So nothing comes to linger in these slots
** while WalCkptInfo.nBackfill is not 0; and what does already ends when its
** connection comes back, or with the next HP_LINGER_END.  (Slot 0 is in the way of
** copying back only, and who comes when there is something to copy does not use
** it.)
*/
static __thread int hpLingerOn = 0;   /* What this thread leaves lingers */
static int hpLingerAny = 0;           /* Since the last HP_LINGER_END some lock does */

/*
** Take away the number of the slot that p lingers in, if it is among these.
** Return it, or 0.
*/
static int hpShmIdle(unixShm *p, u16 mask){
  int i = __atomic_load_n(&p->hpIdle, __ATOMIC_RELAXED);
  assert( i>=0 && i<=SQLITE_SHM_NLOCK );
  if( i==0 || ((mask>>(i-1)) & 1)==0
   || !__atomic_compare_exchange_n(&p->hpIdle, &i, 0, 0,
                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)
  ){
    return 0;
  }
  return i;
}

#ifdef SQLITE_DEBUG
/*
** Is a slot counted -1 if some connection of this process has it for itself, and
** only then?  The mutex is held: others may come and go as sharers meanwhile,
** but none takes a slot for itself or gives it back.
*/
static int hpShmIsSane(unixShmNode *pNode){
  const unixShm *p;
  u16 mask = 0;
  int i;
  if( pNode->pShmMutex && !sqlite3_mutex_held(pNode->pShmMutex) ) return 0;
  for(p=pNode->pFirst; p; p=p->pNext){
    int mFree = hpSyncOwns(pNode->pInode) ? 1<<WAL_WRITE_LOCK : 0;
    if( (mask & p->exclMask & ~mFree)!=0 ) return 0;
    mask |= p->exclMask;
  }
  if( hpSyncOwns(pNode->pInode) ) mask |= 1<<WAL_WRITE_LOCK;
  for(i=0; i<SQLITE_SHM_NLOCK; i++){
    int n = __atomic_load_n(&pNode->aLock[i], __ATOMIC_RELAXED);
    if( n<-1 || (n<0)!=((mask>>i) & 1) ) return 0;
  }
  return 1;
}
#endif

/*
** Give back the locks of these slots that p lingers in.  The mutex is held.
*/
static void hpShmLeave(unixShm *p, u16 mask){
  unixShmNode *pNode = p->pShmNode;
  int i = hpShmIdle(p, mask);
  assert( sqlite3_mutex_held(pNode->pShmMutex) );
  assert( i==0 || pNode->aLock[i-1]>0 );     /* It was counted */
  if( i && __atomic_sub_fetch(&pNode->aLock[i-1], 1, __ATOMIC_ACQ_REL)==0
   && pNode->hShm>=0
  ){
    struct flock f;
    memset(&f, 0, sizeof(f));
    f.l_type = F_UNLCK;
    f.l_whence = SEEK_SET;
    f.l_start = UNIX_SHM_BASE + i - 1;
    f.l_len = 1;
    (void)osFcntl(pNode->hShm, F_SETLK, &f);
  }
}
static void hpShmLeaveAll(unixShmNode *pNode, u16 mask){
  unixShm *p;
  for(p=pNode->pFirst; p; p=p->pNext) hpShmLeave(p, mask);
}

/*
** True if p may linger in slot i of the wal-index.  What its memory is at is
** asked once, with the mutex: the list of its regions may move, they do not.
*/
static int hpShmMayLinger(unixShm *p, int i){
  assert( i>=0 && i<SQLITE_SHM_NLOCK );
  if( !hpLingerOn ) return 0;
  if( i<=WAL_READ_LOCK(0) ) return 1;
  if( p->hpIndex==0 ){
    unixShmNode *pNode = p->pShmNode;
    sqlite3_mutex_enter(pNode->pShmMutex);
    if( pNode->nRegion>0 ) p->hpIndex = (u32*)pNode->apRegion[0];
    sqlite3_mutex_leave(pNode->pShmMutex);
    if( p->hpIndex==0 ) return 0;
  }
  return AtomicLoad(&p->hpIndex[2*sizeof(WalIndexHdr)/sizeof(u32)])==0;
}

/*
** A connection is about to end its use of the wal-index.  The mutex is held.
*/
SQLITE_PRIVATE void sqlite3HpShmUnmap(unixShm *p){
  hpShmLeave(p, 0xffff);
  assert( p->hpIdle==0 );
}

/*
** See hpsqlite.h.
*/
SQLITE_API int hp_linger(int op){
  unixInodeInfo *pInode;
  switch( op ){
    case HP_LINGER_OFF:
    case HP_LINGER_ON:
      hpLingerOn = op==HP_LINGER_ON;
      break;
    case HP_LINGER_END:
      /* First the flag: a lock that comes to linger after that sets it. */
      __atomic_store_n(&hpLingerAny, 0, __ATOMIC_SEQ_CST);
      unixEnterMutex();
      for(pInode=inodeList; pInode; pInode=pInode->pNext){
        unixShmNode *pNode = pInode->pShmNode;
        if( pNode==0 ) continue;
        sqlite3_mutex_enter(pNode->pShmMutex);
        hpShmLeaveAll(pNode, 0xffff);
        sqlite3_mutex_leave(pNode->pShmMutex);
      }
      unixLeaveMutex();
      break;
  }
  return __atomic_load_n(&hpLingerAny, __ATOMIC_RELAXED);
}

/*
** Enter the mutex, or return false if meanwhile slot *pLock can be shared
** by counting, from iMin on, which has then been done.
*/
static int hpShmEnter(unixShmNode *pNode, int *pLock, int iMin, int iAdd){
  int nTry;
  /* Without the mutex a count neither becomes 0 nor anything else than 0 */
  assert( (iMin==1 && iAdd==1) || (iMin==2 && iAdd==-1) );
  assert( sqlite3_mutex_notheld(pNode->pShmMutex) );
  for(nTry=0; ; nTry++){
    int n = __atomic_load_n(pLock, __ATOMIC_RELAXED);
    while( n>=iMin ){
      if( __atomic_compare_exchange_n(pLock, &n, n+iAdd, 0,
                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) ){
        return 0;
      }
    }
    if( nTry>=HP_SHM_SPIN ) break;
    if( sqlite3_mutex_try(pNode->pShmMutex)==SQLITE_OK ) return 1;
    hpPause();
  }
  sqlite3_mutex_enter(pNode->pShmMutex);
  return 1;
}

/*
** Lock or unlock n bytes from ofst on, as unixShmLock() does, and store the
** result code in *pRc.  Return false, having done nothing, if hp is switched
** off.
*/
SQLITE_PRIVATE int sqlite3HpShmLock(
  unixFile *pFile,       /* The database file */
  int ofst, int n,       /* Which bytes */
  int flags,             /* SQLITE_SHM_xxx */
  int *pRc               /* OUT: Result code */
){
  unixShm *p = pFile->pShm;
  unixShmNode *pNode = p->pShmNode;
  u16 mask = (1<<(ofst+n)) - (1<<ofst);
  int *aLock = pNode->aLock;
  int rc = SQLITE_OK;
  int bCopier = 0;       /* The thread of hp_checkpoint.c has them */
  int i;
  assert( n>0 && ofst>=0 && ofst+n<=SQLITE_SHM_NLOCK );
  if( hpConfig()->bOff ) return 0;
  *pRc = SQLITE_OK;
  if( flags==(SQLITE_SHM_LOCK|SQLITE_SHM_SHARED) ){
    assert( n==1 && ((p->sharedMask|p->exclMask) & mask)==0 );
    if( hpShmIdle(p, mask) ){
      /* It is still counted. */
    }else if( hpShmEnter(pNode, &aLock[ofst], 1, +1) ){
      i = __atomic_load_n(&aLock[ofst], __ATOMIC_RELAXED);
      assert( hpShmIsSane(pNode) );
      if( i<0 ){
        rc = SQLITE_BUSY;
      }else if( i==0 ){
        rc = unixShmSystemLock(pFile, F_RDLCK, ofst+UNIX_SHM_BASE, 1);
      }
      if( rc==SQLITE_OK ){
        (void)__atomic_add_fetch(&aLock[ofst], 1, __ATOMIC_ACQ_REL);
      }
      bCopier = rc==SQLITE_BUSY && hpCheckpointHas(pFile, mask);
      sqlite3_mutex_leave(pNode->pShmMutex);
    }
    if( rc==SQLITE_OK ) p->sharedMask |= mask;
  }else if( flags==(SQLITE_SHM_UNLOCK|SQLITE_SHM_SHARED) ){
    assert( n==1 && (p->sharedMask & mask)!=0 && (p->exclMask & mask)==0 );
    assert( __atomic_load_n(&aLock[ofst], __ATOMIC_RELAXED)>0 );
    /* The slot to leave: this one, or that in which p has lingered up to now. */
    if( hpShmMayLinger(p, ofst) ){
      i = __atomic_exchange_n(&p->hpIdle, ofst+1, __ATOMIC_SEQ_CST) - 1;
      if( !__atomic_load_n(&hpLingerAny, __ATOMIC_SEQ_CST) ){
        __atomic_store_n(&hpLingerAny, 1, __ATOMIC_SEQ_CST);
      }
    }else{
      i = ofst;
      if( __atomic_load_n(&p->hpIdle, __ATOMIC_RELAXED) ){
        sqlite3_mutex_enter(pNode->pShmMutex);
        hpShmLeave(p, 0xffff);
        sqlite3_mutex_leave(pNode->pShmMutex);
      }
    }
    if( i>=0 && hpShmEnter(pNode, &aLock[i], 2, -1) ){
      int bLast = __atomic_sub_fetch(&aLock[i], 1, __ATOMIC_ACQ_REL)==0;
      if( bLast ){
        rc = unixShmSystemLock(pFile, F_UNLCK, i+UNIX_SHM_BASE, 1);
        if( rc!=SQLITE_OK ){
          __atomic_store_n(&aLock[i], 1, __ATOMIC_RELEASE);
        }
      }
      sqlite3_mutex_leave(pNode->pShmMutex);
      if( bLast ) hpTurnFreed(pFile->pInode, 0);
    }
    if( rc==SQLITE_OK ) p->sharedMask &= ~mask;
  }else{
    int bLock = (flags & SQLITE_SHM_LOCK)!=0;
    int bLoan = ofst==WAL_WRITE_LOCK
             && (bLock ? hpSyncLends(pFile) : hpSyncOwns(pFile->pInode));
    sqlite3_mutex_enter(pNode->pShmMutex);
    assert( hpShmIsSane(pNode) && (p->sharedMask & mask)==0 );
    assert( (p->exclMask & mask)==(bLock ? 0 : mask) );
    if( bLock ) hpShmLeaveAll(pNode, mask);
    for(i=ofst; bLock && !bLoan && i<ofst+n; i++){
      if( __atomic_load_n(&aLock[i], __ATOMIC_RELAXED) ) rc = SQLITE_BUSY;
    }
    if( rc==SQLITE_OK && !bLoan ){
      rc = unixShmSystemLock(pFile, bLock ? F_WRLCK : F_UNLCK,
                             ofst+UNIX_SHM_BASE, n);
    }
    if( rc==SQLITE_OK ){
      for(i=ofst; i<ofst+n && !bLoan; i++){
        __atomic_store_n(&aLock[i], bLock ? -1 : 0, __ATOMIC_RELEASE);
      }
      p->exclMask = bLock ? (p->exclMask | mask) : (p->exclMask & ~mask);
      hpCheckpointLocks(pFile, p->exclMask);
    }
    assert( hpShmIsSane(pNode) );
    bCopier = rc==SQLITE_BUSY && hpCheckpointHas(pFile, mask);
    sqlite3_mutex_leave(pNode->pShmMutex);
    if( bLoan && !bLock ){
      hpSyncReturns(pFile);
    }else if( !bLock ){
      hpCheckpointFreed(pFile);
      hpTurnFreed(pFile->pInode, ofst==WAL_WRITE_LOCK);
    }
  }
  *pRc = rc;
  if( !bCopier ) return 1;
  hpCheckpointBusy(pFile, mask);
  return sqlite3HpShmLock(pFile, ofst, n, flags, pRc);
}
#else

SQLITE_API int hp_linger(int op){
  (void)op;
  return 0;
}
#endif

#endif /* !SQLITE_OMIT_HP && !SQLITE_OMIT_WAL */
