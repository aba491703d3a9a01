/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_guard: a cursor of our own that notices whoever writes to a table.
**
**    hpGuardSet()     put it onto the table of the query
**    hpGuardHolds()   has nobody written since?
**    hpGuardFree()    close it
**
** Whoever writes to a b-tree saves the positions of all other cursors on it first
** (saveAllCursors()); so do blob writes and rollbacks.  A cursor that is still valid
** stands on a b-tree that is as it was.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Put *ppGuard onto the first row of the table that pSource scans.  If it is
** NULL it is made.  On a table without rows it does not hold.
*/
static int hpGuardSet(
  sqlite3 *db,
  const HpSourcePlan *pSource,
  BtCursor **ppGuard
){
  int bEmpty;
  assert( sqlite3_mutex_held(db->mutex) );
  if( *ppGuard==0 ){
    BtCursor *pNew;
    int rc;
    sqlite3BeginBenignMalloc();
    pNew = sqlite3_malloc64(sqlite3BtreeCursorSize());
    sqlite3EndBenignMalloc();
    if( pNew==0 ) return HP_DECLINE;
    sqlite3BtreeCursorZero(pNew);
    rc = sqlite3BtreeCursor(db->aDb[pSource->iDb].pBt, pSource->iRoot, 0, 0,
                            pNew);
    if( rc ){
      sqlite3_free(pNew);
      return rc;
    }
    *ppGuard = pNew;
  }
  assert( (*ppGuard)->pgnoRoot==pSource->iRoot );
  if( hpGuardHolds(*ppGuard) ) return SQLITE_OK;
  return sqlite3BtreeFirst(*ppGuard, &bEmpty);
}

/*
** Has nobody written to the table since hpGuardSet()?
*/
static int hpGuardHolds(const BtCursor *pGuard){
  return pGuard->eState==CURSOR_VALID;
}

/*
** Close pGuard, which may be NULL.
*/
static void hpGuardFree(BtCursor *pGuard){
  if( pGuard==0 ) return;
  sqlite3BtreeCloseCursor(pGuard);
  sqlite3_free(pGuard);
}
#endif /* SQLITE_OMIT_HP */
