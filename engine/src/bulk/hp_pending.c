/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_pending: the same over the statements of a transaction.
**
**    hpPendingPut()          does a change of a statement wait beyond its end?
**    hpPendingHalt()         a statement ends: do its changes remain?
**    hpPendingRollback()     roll back all transactions
**    sqlite3HpPendingStart() a statement begins: may they wait on?
**    sqlite3HpPendingDrop()  all transactions of the connection roll back
**    sqlite3HpPendingWrite() write all changes
**
** BEGIN; INSERT, a million times; COMMIT is how most rows get into a database.
** Each statement changes each index once.  So after HP_PENDING_AFTER changes of
** indexes by a transaction, those that follow belong to the connection, and
** wait until somebody might look at the index:
**
**    a statement begins that         its program says so (hp_deferrable.c), or
**    reads the index, or might       is not known well enough: COMMIT,
**                                    SAVEPOINT, PRAGMA, CREATE, virtual tables
**    ... that writes in a loop       its own changes wait for themselves alone:
**                                    hp_defer.c
**    ... that writes beside          what that one reads is not known
**    another that has not ended
**    they take HP_PENDING_PART of    when the next statement begins
**    the memory of a statement
**
** They are written before the statement begins, and so never inside its own
** savepoint: if it fails they do not go with it.
**
** States.  The connection has changes only within BEGIN and COMMIT:
**
**    a statement fails, and is       its changes are forgotten, those before it
**    rolled back                     are not (nBefore)
**    the transaction rolls back      sqlite3HpPendingDrop()
**    writing them fails              the transaction is rolled back: rows of
**                                    statements that have ended have no entries
**    ROLLBACK TO                     is a statement that begins: they are
**                                    written, and taken back as pages
**    PRAGMA hp_offload=off           those that wait go on
**    memory is short                 SQLITE_NOMEM for the statement
**
** Which statements look at none of the indexes is asked once for each, and is
** known until there are changes of another index (Vdbe.iHpPure); so is by which
** cursors changes cannot wait (mHpDirect).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Changes of indexes by a transaction before others wait, and the same where
** PRAGMA hp_offload=force */
#define HP_PENDING_AFTER  10000
#define HP_PENDING_FORCE  40

/* Fewer changes than that were hardly worth it: wait with the next ones */
#define HP_PENDING_FEW    64

/* The part of the memory of a statement that they may take */
#define HP_PENDING_PART   4

/* Cursors of a statement that are thought of */
#define HP_PENDING_CURSOR 32

#ifdef SQLITE_DEBUG
/* Are the changes of a connection those of a transaction that writes? */
static int hpPendingIsSane(sqlite3 *db){
  const HpDefer *p;
  for(p=db->hp.pPending; p; p=p->pNext){
    if( db->autoCommit && p->run.nEntry>0 ) return 0;
    if( p->nBefore>p->run.nEntry ) return 0;
    if( p->run.nEntry>0 && p->pBtree->inTrans!=TRANS_WRITE ) return 0;
  }
  return 1;
}
#endif

/* The number of the database now.  That of another one may have gone */
static int hpPendingDb(const HpDefer *p){
  int i;
  for(i=0; i<p->db->nDb-1 && p->db->aDb[i].pBt!=p->pBtree; i++){}
  assert( p->db->aDb[i].pBt==p->pBtree );
  return i;
}

/*
** All transactions of db roll back, or its changes have been written: forget
** them.
*/
SQLITE_PRIVATE void sqlite3HpPendingDrop(sqlite3 *db){
  HpDefer *p;
  assert( sqlite3_mutex_held(db->mutex) );
  while( (p = db->hp.pPending)!=0 ){
    db->hp.pPending = p->pNext;
    hpChangeFree(p);
  }
}

/*
** Write the changes of p.
*/
static int hpPendingWrite(HpDefer *p){
  sqlite3 *db = p->db;
  BtCursor *pCur;
  int rc;
  if( p->run.nEntry==0 ) return SQLITE_OK;
  pCur = sqlite3_malloc(sqlite3BtreeCursorSize());
  if( pCur==0 ) return SQLITE_NOMEM_BKPT;
  memset(pCur, 0, sqlite3BtreeCursorSize());
  sqlite3BtreeCursorZero(pCur);
  rc = sqlite3BtreeCursor(p->pBtree, p->iRoot, BTREE_WRCSR, p->pInfo, pCur);
  if( rc==SQLITE_OK ){
    rc = hpDeferWrite(p, pCur, hpDeferrableIndex(db, hpPendingDb(p), p->iRoot));
    sqlite3BtreeCloseCursor(pCur);
    hpConfigStat(db, HP_STAT_DEFERRED);
  }
  sqlite3_free(pCur);
  return rc;
}

/*
** Roll back all transactions of db, with the changes that wait, as SQLite does
** where a statement fails and cannot be taken back alone.
*/
static void hpPendingRollback(sqlite3 *db){
  sqlite3RollbackAll(db, SQLITE_ABORT_ROLLBACK);
  sqlite3CloseSavepoints(db);
  db->autoCommit = 1;
  assert( db->hp.pPending==0 );
}

/*
** Write all changes of the connection, and forget them.  If that fails its
** transactions are rolled back.
*/
static int hpPendingFlush(sqlite3 *db){
  HpDefer *p;
  u32 n = 0;
  int rc = SQLITE_OK;
  sqlite3BtreeEnterAll(db);
  assert( hpPendingIsSane(db) );
  for(p=db->hp.pPending; p && rc==SQLITE_OK; p=p->pNext){
    n = MAX(n, p->run.nEntry);
    rc = hpPendingWrite(p);
  }
  sqlite3BtreeLeaveAll(db);
  if( rc ) hpPendingRollback(db);
  if( n<HP_PENDING_FEW ) db->hp.nDefer = 0;
  return rc;
}

/*
** A collation of db is about to be replaced: write all changes while it is what
** they were sorted by.  An error is left in db.
*/
SQLITE_PRIVATE int sqlite3HpPendingWrite(sqlite3 *db){
  int rc = db->hp.pPending ? hpPendingFlush(db) : SQLITE_OK;
  sqlite3HpPendingDrop(db);
  if( rc ) sqlite3Error(db, rc);
  return rc;
}

/* Is statement v ROLLBACK? */
static int hpPendingIsRollback(const Vdbe *v){
  int i;
  for(i=0; i<v->nOp; i++){
    if( v->aOp[i].opcode==OP_AutoCommit ) return v->aOp[i].p2!=0;
  }
  return 0;
}

/*
** Must the changes of p be written before statement v runs, whatever it reads?
*/
static int hpPendingIsDue(HpDefer *p){
  if( p->bNever ) return 0;
  if( p->nCounted>=HP_DEFER_LOOK ) p->bNever = hpChangeIsOrdered(p);
  if( p->run.nEntry>=HP_DEFER_LOOK && p->bLooked==0 ){
    p->bLooked = 1;
    p->bNever |= hpChangeRepeats(p);
  }
  return p->bNever || p->nByte>=p->nMost;
}

/*
** Statement v begins, and the connection has changes of indexes.  May they wait
** on?  Else they are written.
*/
SQLITE_PRIVATE int sqlite3HpPendingStart(Vdbe *v){
  sqlite3 *db = v->db;
  HpDefer **pp;
  HpDefer *p;
  int bDue = 0;          /* Changes have to be written, ... */
  int bLooks = 0;        /* ... because of what the statement does */
  int rc;
  assert( db->hp.pPending!=0 && v->eVdbeState==VDBE_RUN_STATE );
  /* All that is left behind COMMIT is what is known of indexes */
  if( db->autoCommit ) sqlite3HpPendingDrop(db);
  for(p=db->hp.pPending; p && p->bNever; p=p->pNext){}
  if( p==0 || v->pFrame || hpPendingIsRollback(v) ) return SQLITE_OK;
  if( v->readOnly==0 && (db->nVdbeActive>1 || !hpDeferrableIsShort(v)
   || hpDeferrableIsHooked(db)) ){
    bLooks = 1;
  }
  for(p=db->hp.pPending; p && !bLooks; p=p->pNext){
    p->nBefore = p->run.nEntry;
    bDue |= hpPendingIsDue(p);
    if( v->iHpPure!=db->hp.iPending && p->bNever==0 ){
      bLooks = hpDeferrableLooks(v, hpPendingDb(p), p->iRoot);
    }
  }
  if( !bLooks ) v->iHpPure = db->hp.iPending;
  if( !bLooks && !bDue ) return SQLITE_OK;
  rc = hpPendingFlush(db);
  pp = &db->hp.pPending;
  while( (p = *pp)!=0 ){
    p->nBefore = 0;
    if( !bLooks && rc==SQLITE_OK ){
      pp = &p->pNext;
    }else{
      *pp = p->pNext;
      hpChangeFree(p);
    }
  }
  return rc;
}

/*
** Changes by way of cursor iCsr of statement v are to wait beyond its end.
** Returns NULL if they may not.
*/
static HpDefer *hpPendingNew(Vdbe *v, int iCsr){
  sqlite3 *db = v->db;
  const VdbeCursor *pCsr = v->apCsr[iCsr];
  HpDefer *p;
#ifndef SQLITE_DEBUG
  /* Others may look by way of the same page cache.  With SQLITE_DEBUG all
  ** caches are taken for such */
  if( pCsr->uc.pCursor->pBtree->sharable ) return 0;
#endif
  if( !hpDeferrableIsShort(v) ) return 0;
  p = hpDeferrableNew(v, iCsr, HP_PENDING_PART, 0);
  if( p==0 ) return 0;
  p->pBtree = pCsr->uc.pCursor->pBtree;
  p->iRoot = pCsr->pgnoRoot;
  p->pNext = db->hp.pPending;
  db->hp.pPending = p;
  db->hp.iPending++;
  return p;
}

/*
** Statement v changes an index by pOp, within BEGIN and COMMIT.  Returns true
** if the change waits for longer than the statement takes, or if there is an
** error: *pRc.
*/
static int hpPendingPut(Vdbe *v, const VdbeOp *pOp, Mem *aMem, int *pRc){
  sqlite3 *db = v->db;
  VdbeCursor *pCsr = v->apCsr[pOp->p1];
  u32 nAfter = HP_PENDING_AFTER;
  HpDefer *p;
  assert( db->autoCommit==0 && hpPendingIsSane(db) );
  db->hp.nDefer++;
  for(p=db->hp.pPending; p; p=p->pNext){
    if( p->iRoot==pCsr->pgnoRoot && p->pBtree==pCsr->uc.pCursor->pBtree ) break;
  }
  if( p==0 ){
    /* May it be the first one that waits? */
    int eOffload = hpConfigOffload(db);
    if( eOffload==HP_OFFLOAD_FORCE ) nAfter = HP_PENDING_FORCE;
    if( eOffload==HP_OFFLOAD_OFF || db->hp.nDefer<nAfter ) return 0;
    if( pOp->p1>=HP_PENDING_CURSOR || db->nVdbeActive!=1 ) return 0;
    if( v->mHpDirect & MASKBIT32(pOp->p1) ) return 0;
    p = hpPendingNew(v, pOp->p1);
    if( p==0 ) v->mHpDirect |= MASKBIT32(pOp->p1);
  }
  if( p==0 || p->bNever ) return 0;
  *pRc = hpChangeOp(p, pOp, aMem);
  /* It could only come behind those that wait, which must not be written now */
  if( *pRc==HP_DECLINE ) *pRc = SQLITE_NOMEM_BKPT;
  pCsr->cacheStatus = CACHE_STALE;
  pCsr->seekResult = 0;
  return 1;
}

/*
** Statement v ends.  What it did is rolled back unless bRemains.
*/
static void hpPendingHalt(Vdbe *v, int bRemains){
  HpDefer *p;
  for(p=v->db->hp.pPending; p; p=p->pNext){
    if( !bRemains && p->nBefore<p->run.nEntry ) hpChangeForget(p, p->nBefore);
    p->nBefore = p->run.nEntry;
  }
}
#endif /* SQLITE_OMIT_HP */
