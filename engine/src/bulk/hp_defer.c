/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_defer: the entries of an index are put in order before they are written.
**
**    sqlite3HpDefer()      OP_IdxInsert and OP_IdxDelete: does the change wait?
**    sqlite3HpDeferEnd()   OP_Halt: the statement has succeeded, or fails
**    sqlite3HpDeferAgain() it fails: does it begin again?
**    sqlite3HpDeferHalt()  it ends, with or without an error
**
** A statement that inserts, deletes or updates many rows changes each index in
** an order that is random to it.  So each change looks for its leaf, and once
** the index is larger than the page cache, it reads a page and writes one: a
** million rows take minutes.  In the order of keys each leaf is changed once.
**
** So after HP_DEFER_AFTER changes of an index by one statement, those that
** follow are kept in memory, sorted, and written when the statement ends, or
** before if they take too much memory (hp_deferwrite.c).  That is done only
** where nobody can tell: hp_deferrable.c.  The table is written row by row as
** ever.  So rowids, hooks and the count of changes are SQLite's.
**
** UNIQUE.  While insertions into such an index wait, OP_NoConflict jumps as if
** there were no conflict (sqlite3HpDeferAssumes()), and as they are written
** each is looked for.  If one is there, or the statement fails for another
** reason, that is not the error to give: SQLite might have failed at a row
** before.  So what the statement did is rolled back, and it begins again with
** SQLite's code alone (sqlite3HpDeferAgain()).  That is why only statements
** wait that a conflict ends.
**
** Changes that come in the order of the index already gain nothing.  So the
** first HP_DEFER_LOOK of them are looked at, and if most are in order they are
** written, and those that follow go to the b-tree as they come.
**
** States.  Changes belong to a statement that runs, and die with it:
**
**    it succeeds               written, before the transaction may commit
**    it fails, and SQLite      forgotten: the table has not changed either
**    rolls back what it did
**    it fails, and what it     written: OR FAIL; an error of an expression,
**    did remains               where there is no statement journal
**    writing them fails        the error of the statement; what it did is
**                              rolled back, if need be with the transaction
**    it fails while some have  rolled back as a statement, or in autocommit
**    to be unique              with its transaction; it begins again.  Not if
**                              memory is short, the disk full or failing, or it
**                              was interrupted
**
** An error that SQLite would have met while it changed the index (a full disk,
** a damaged page, an entry that is missing) comes at the end of the statement.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* The part of the memory of a statement that its changes may take */
#define HP_DEFER_PART  2

/* No change of this cursor waits any more */
#define HP_DEFER_NEVER  (-0x7fffffff)

/*
** Changes by way of cursor iCsr of statement v, which was moved last by
** OP_IdxInsert or OP_IdxDelete, are to wait.  Returns NULL if they may not.
*/
static HpDefer *hpDeferNew(Vdbe *v, int iCsr){
  VdbeCursor *pCsr = v->apCsr[iCsr];
  HpDefer *p = hpDeferrableNew(v, iCsr, HP_DEFER_PART, 1);
  assert( pCsr->pHpDefer==0 );
  if( p==0 ) return 0;
  p->pCsr = pCsr;
  p->pNext = v->pHpDefer;
  v->pHpDefer = p;
  pCsr->pHpDefer = p;
  return p;
}

/*
** Write the changes of p, which belong to statement v.
*/
static int hpDeferFlush(Vdbe *v, HpDefer *p){
  VdbeCursor *pCsr = p->pCsr;
  int rc = hpDeferWrite(p, pCsr->uc.pCursor,
                        hpDeferrableIndex(v->db, pCsr->iDb, pCsr->pgnoRoot));
  if( rc ){
    /* Table and index do not agree: nothing may remain, OR FAIL or not.  If
    ** there is no journal of the statement, nothing of the transaction */
    v->errorAction = v->iStatement ? OE_Abort : OE_Rollback;
  }
  return rc;
}

/*
** The changes so far have been written, and those that follow are not to wait.
*/
static void hpDeferStop(HpDefer *p){
  assert( p->run.nEntry==0 );
  p->pCsr->nHpDefer = HP_DEFER_NEVER;
  hpArenaClear(&p->run.arena);
  sqlite3_free(p->run.aSorted);
  p->run.aSorted = 0;
  p->run.nSortedAlloc = 0;
}

/*
** Statement v changes an index by way of cursor pCsr, P1 of pOp, and has done
** so some times.  Returns true if the change waits, or if there is an error:
** *pRc.  Else it is to be made now.
*/
SQLITE_PRIVATE int sqlite3HpDefer(
  Vdbe *v,
  VdbeCursor *pCsr,
  const VdbeOp *pOp,
  Mem *aMem,
  int *pRc
){
  HpDefer *p = pCsr->pHpDefer;
  int eOffload = hpConfigOffload(v->db);
  int bStop, rc;
  assert( pCsr==v->apCsr[pOp->p1] && *pRc==SQLITE_OK );
  if( v->db->autoCommit==0 && p==0 && hpPendingPut(v, pOp, aMem, pRc) ){
    return 1;
  }
  /* hpDeferStop(), or it may not wait */
  if( pCsr->nHpDefer<0 ) return 0;
  if( p==0 ){
    if( pCsr->nHpDefer<HP_DEFER_AFTER && eOffload!=HP_OFFLOAD_FORCE ){
      return 0;
    }
    if( eOffload!=HP_OFFLOAD_OFF ) p = hpDeferNew(v, pOp->p1);
    if( p==0 ){
      pCsr->nHpDefer = HP_DEFER_NEVER;
      return 0;
    }
  }
  pCsr->nHpDefer = HP_DEFER_AFTER;
  rc = hpChangeOp(p, pOp, aMem);
  pCsr->cacheStatus = CACHE_STALE;
  pCsr->seekResult = 0;
  if( rc && p->bUnique ){
    /* Nobody has looked whether it is there: the statement begins again */
    *pRc = SQLITE_CONSTRAINT_UNIQUE;
    return 1;
  }
  /* What is not among those that wait comes behind them, and is made now */
  bStop = rc || (p->nCounted==HP_DEFER_LOOK && hpChangeIsOrdered(p));
  if( !bStop && p->nByte<p->nMost ) return 1;
  *pRc = hpDeferFlush(v, p);
  if( bStop && *pRc==SQLITE_OK ) hpDeferStop(p);
  return rc==SQLITE_OK || *pRc!=SQLITE_OK;
}

/*
** Write all changes of statement v.
*/
static int hpDeferAll(Vdbe *v){
  HpDefer *p;
  int rc = SQLITE_OK;
  for(p=v->pHpDefer; p && rc==SQLITE_OK; p=p->pNext){
    if( p->pCsr->nHpDefer>0 ) hpConfigStat(v->db, HP_STAT_DEFERRED);
    rc = hpDeferFlush(v, p);
  }
  return rc;
}

/* Changes of statement v that wait and have to be unique, or NULL */
static const HpDefer *hpDeferAssumes(const Vdbe *v){
  const HpDefer *p;
  for(p=v->pHpDefer; p; p=p->pNext){
    if( p->bUnique && p->pCsr->nHpDefer>0 ) return p;
  }
  return 0;
}

/*
** Statement v has come to OP_Halt with code rcHalt.  Returns the error that it
** ends with instead, or SQLITE_OK.
*/
SQLITE_PRIVATE int sqlite3HpDeferEnd(Vdbe *v, int rcHalt){
  int rc;
  assert( v->eVdbeState==VDBE_RUN_STATE && v->pHpDefer!=0 );
  if( rcHalt ) return hpDeferAssumes(v) ? SQLITE_CONSTRAINT_UNIQUE : SQLITE_OK;
  rc = hpDeferAll(v);
  if( rc==SQLITE_OK ) sqlite3HpDeferHalt(v);
  return rc;
}

/* Free the changes of statement v, which have been written or are forgotten */
static void hpDeferFree(Vdbe *v){
  HpDefer *p;
  while( (p = v->pHpDefer)!=0 ){
    v->pHpDefer = p->pNext;
    p->pCsr->pHpDefer = 0;
    hpChangeFree(p);
  }
  assert( v->pHpDefer==0 );
}

/*
** Take back what statement v did.  If that fails its transactions are rolled
** back, as in sqlite3VdbeHalt().
*/
static int hpDeferUndo(Vdbe *v){
  sqlite3 *db = v->db;
  u64 flags = db->flags & SQLITE_DeferFKs;
  int rc = SQLITE_OK;
  assert( db->nVdbeActive==1 );
  if( v->iStatement ){
    rc = sqlite3VdbeCloseStatement(v, SAVEPOINT_ROLLBACK);
    if( rc==SQLITE_OK ) return SQLITE_OK;
    hpPendingRollback(db);
  }else{
    assert( db->autoCommit && db->xRollbackCallback==0 );
    sqlite3RollbackAll(db, SQLITE_OK);
    db->flags |= flags;
  }
  return rc;
}

/*
** Statement v fails with error *pRc.  If entries wait of which it is not known
** whether they are unique, SQLite might have failed before.  Make v ready to
** begin again without ours, set *pRc so that sqlite3Step() runs it, and return
** true.
*/
SQLITE_PRIVATE int sqlite3HpDeferAgain(Vdbe *v, int *pRc){
  sqlite3 *db = v->db;
  const HpDefer *p = hpDeferAssumes(v);
  int rc = *pRc & 0xff;
  assert( v->pHpDefer!=0 && *pRc!=SQLITE_OK );
  if( v->eVdbeState!=VDBE_RUN_STATE || db->mallocFailed || p==0 ) return 0;
  if( rc==SQLITE_NOMEM || rc==SQLITE_IOERR || rc==SQLITE_INTERRUPT ) return 0;
  if( rc==SQLITE_FULL ){
    /* PRAGMA max_page_count and the largest rowid are no full disk */
    if( p->pCsr->uc.pCursor->pBt->pPager->errCode ) return 0;
  }
  hpDeferFree(v);
  if( db->hp.pPending ) hpPendingHalt(v, 0);
  hpQueryAgain(v);
  v->iHpAgain = v->aCounter[SQLITE_STMTSTATUS_RUN];
  v->errorAction = OE_Abort;
  v->nChange = 0;
  v->nFkConstraint = 0;
  rc = hpDeferUndo(v);
  *pRc = rc ? rc : SQLITE_EMPTY;
  if( rc==SQLITE_OK ) hpConfigStat(db, HP_STAT_DECLINED);
  return rc==SQLITE_OK;
}

/*
** Does what statement v did remain, as it ends?  As in sqlite3VdbeHalt(), which
** has still to look for foreign keys that are violated.
*/
static int hpDeferRemains(const Vdbe *v){
  int rc = v->rc & 0xff;
  int eAction = v->errorAction;
  if( rc==SQLITE_NOMEM || rc==SQLITE_IOERR || rc==SQLITE_INTERRUPT
   || rc==SQLITE_FULL
  ){
    return 0;
  }
  if( rc==SQLITE_OK || eAction==OE_Fail ){
    /* sqlite3VdbeHalt() is about to call sqlite3VdbeCheckFkImmediate() */
    if( v->nFkConstraint==0 ) return 1;
    eAction = OE_Abort;
  }
  return eAction==OE_Abort
      && v->db->autoCommit==0 && v->iStatement==0;
}

/*
** Statement v ends.  Free all that belongs to changes that have waited.
*/
SQLITE_PRIVATE void sqlite3HpDeferHalt(Vdbe *v){
  int bRemains = hpDeferRemains(v);
  int bWrite = 0;
  HpDefer *p;
  for(p=v->pHpDefer; p; p=p->pNext) bWrite |= p->run.nEntry>0;
  if( bWrite && bRemains ){
    int rc;
    sqlite3VdbeEnter(v);
    rc = hpDeferAll(v);
    sqlite3VdbeLeave(v);
    if( rc ) v->rc = rc;
  }
  hpDeferFree(v);
  if( v->db->hp.pPending ) hpPendingHalt(v, bRemains);
}
#endif /* SQLITE_OMIT_HP */
