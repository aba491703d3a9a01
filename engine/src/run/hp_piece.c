/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_piece: a table is scanned piece by piece, and between the pieces SQLite's own
** loop runs.
**
**    hpPieceNew()     OP_HpScan: begin
**    hpPieceMay()     may a piece begin where SQLite's loop is?
**    hpPieceRun()     find the rows of the next piece
**    hpPieceLost()    may what was found no longer hold?
**    hpPieceEnd()     the rows of the piece have been delivered, or do not hold
**    hpPieceFree()    free everything
**
** This is how the outermost loop of any statement leaves out the rows that do not
** pass its WHERE clause, if nothing better is known to do (hp_driverplan.c).  Rows are
** delivered while it runs: to the application, to loops further in, to a statement
** that writes.
**
**           Rewind -> Goto hp        the noted instruction
**    body:  ...                      stock: filter, loops further in, output
**           Next -> HpRow body       next row found; or as Next
**    end:   Goto skip
**    hp:    ...                      constants into registers
**           HpScan  P1=r P2=stock    is the table large?  If not jump to stock
**    stock: Rewind halt              the copy
**           Goto body
**    skip:
**
** SQLite's loop begins in any case, and goes through the first HP_PIECE_ROWS rows
** as ever: the first row comes as early as it does in SQLite, and a statement that
** ends soon pays nothing.  Then, each time that the cursor is at the last row of a
** leaf, a piece of the leaves that follow is scanned, by several workers if it is
** large, and the loop goes from row found to row found.  At the end of a piece the
** cursor stands on its last row.  Each piece is twice as long as the one before, up
** to HP_PIECE_MAX: as a scan takes a fraction of the time that SQLite's loop would
** have taken, no row comes later than it would have, by more than the first piece
** takes.  What is read in vain by a statement that ends early is less than what
** was read before.
**
** Where more rows pass than it is worth SQLite's loop goes on by itself, for a
** while: HP_PIECE_WAIT times as many rows as were tried, four times as many the
** next time.  So it costs little where all rows pass, and it is seen where only the
** first ones did.
**
** What is found holds as long as nobody writes to the table (hp_guard.c).  Then what was
** found is forgotten and SQLite's loop goes on from its row, as it would have.
**
** UPDATE and DELETE in one pass write to the row that they are at, and to no other
** row of the table.  There is no guard, then, and rows are found again by rowid,
** since cells move.  The rowids of such a scan have to be in order, and the pages above
** its leaves have to lead to them.
**
** An error or a page that is not what it should be ends the scan for good.  SQLite's
** loop meets it where it always did.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_PIECE_ROWS   512    /* SQLite's loop goes through so many rows first, */
#define HP_PIECE_AGAIN   64    /* ... and through so many after a change */
#define HP_PIECE_MIN     32    /* Leaves of the first piece, ... */
#define HP_PIECE_MAX  16384    /* ... and of the largest one */
#define HP_PIECE_WAIT    64    /* Rows left to SQLite after one that was tried in vain */

struct HpPieces {
  HpPart part;           /* The piece: its first leaf, and its size */
  i64 nWait;             /* HP_PIECE_WAIT, or more where that was tried before */
  u8 bMany;              /* Too many rows of this piece were found */
  u8 bRan;               /* Some piece was scanned */
  BtCursor *pGuard;      /* On the same b-tree, or NULL */
};

/*
** Scan the table of p piece by piece.  Returns the number of rows that SQLite's loop is
** to go through first.  p->pPieces is NULL if that failed.
*/
static i64 hpPieceNew(HpQuery *p){
  HpPieces *pNew;
  int bForce = hpConfigOffload(p->db)==HP_OFFLOAD_FORCE;
  sqlite3BeginBenignMalloc();
  pNew = sqlite3MallocZero(sizeof(*pNew));
  sqlite3EndBenignMalloc();
  if( pNew==0 ) return 0;
  pNew->part.nLeaf = bForce ? 1 : HP_PIECE_MIN;
  pNew->nWait = HP_PIECE_WAIT;
  p->pPieces = pNew;
  p->pPart = &pNew->part;
  p->pPart->bSearch = p->pPipe->pFind->bByRowid;
  return bForce ? 0 : HP_PIECE_ROWS;
}

/*
** SQLite's loop is at pCur: on the last row of a leaf?
*/
static int hpPieceMay(const BtCursor *pCur){
  return pCur->eState==CURSOR_VALID && pCur->iPage>0
      && pCur->ix+1==pCur->pPage->nCell;
}

/*
** Scan the piece after the leaf that pCur is on, and keep what was found.  Constants
** are in aMem[].  If that fails, whyever, there is no piece and pCur has not moved.
*/
static int hpPieceRun(HpQuery *p, const BtCursor *pCur, Mem *aMem){
  HpPieces *pPieces = p->pPieces;
  HpPart *pPart = &pPieces->part;
  sqlite3 *db = p->db;
  const HpFound *pFound;
  int rc = SQLITE_OK;
  assert( p->nWorker==0 && pCur->eState==CURSOR_VALID && pCur->iPage>0 );
  pPart->nLevel = pCur->iPage;
  memcpy(pPart->aChild, pCur->aiIdx, sizeof(u16)*pCur->iPage);
  pPart->bMore = 0;
  p->bStop = p->bEnd = p->bAll = 0;
  if( p->pPipe->pFind->bByRowid==0 ) rc = hpGuardSet(p, &pPieces->pGuard);
  p->nChange = hpThreadChanges(p);
  if( rc==SQLITE_OK ) rc = hpPipeRun(p, p->pPipe, aMem, hpThreads(db));
  if( rc==SQLITE_OK && db->mallocFailed ) rc = SQLITE_NOMEM;
  if( rc ){
    hpPieceEnd(p, 0);
    return rc;
  }
  if( pPart->bMore ) p->bAll = 0;
  pFound = p->apWorker[0]->pSink;
  pPieces->bMany = pFound->bForce==0
      && (p->bEnd || hpRowidsCost(p, pFound->nPlace, p->nScanned, p->pSource->nTaken));
  hpPipeDone(p);
  if( pPieces->bRan==0 ){
    pPieces->bRan = 1;
    hpConfigStat(db, HP_STAT_RUN);
    hpConfigRan();
    p->v->eHpRun = HP_RUN_DONE;
  }
  p->v->aCounter[SQLITE_STMTSTATUS_FULLSCAN_STEP] += (u32)p->nScanned;
  return SQLITE_OK;
}

/*
** Has somebody written to the table, so that what was found may no longer hold?
*/
static int hpPieceLost(const HpPieces *p){
  return p->pGuard!=0 && !hpGuardHolds(p->pGuard);
}

/*
** The rows of the piece have been delivered.  If bLost they do not hold any more.
** Returns the number of rows that SQLite's loop is to go through now.
*/
static i64 hpPieceEnd(HpQuery *p, int bLost){
  HpPieces *pPieces = p->pPieces;
  HpPart *pPart = &pPieces->part;
  i64 nRow = (i64)p->nScanned;
  hpPipeClose(p);
  hpArenaClear(&p->arena);
  if( bLost ){
    pPart->nLeaf = HP_PIECE_MIN;
    return HP_PIECE_AGAIN;
  }
  if( pPieces->bMany ){
    i64 nWait = pPieces->nWait;
    pPieces->nWait = MIN(4*nWait, (i64)1<<24);
    pPart->nLeaf = HP_PIECE_MIN;
    return nRow*nWait;
  }
  pPart->nLeaf = MIN(2*pPart->nLeaf, HP_PIECE_MAX);
  return 0;
}

/*
** Free *p, which may be NULL.
*/
static void hpPieceFree(HpPieces *p){
  if( p==0 ) return;
  hpGuardFree(p->pGuard);
  sqlite3_free(p);
}
#endif /* SQLITE_OMIT_HP */
