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
**    hpPieceLook()    make the relations that its rows are looked up in, when it is time
**    hpPieceRun()     find the rows of the next piece
**    hpPieceLost()    may what was found no longer hold?
**    hpPieceIsByRowid()  are rows found again by rowid?
**    hpPieceEnd()     the rows of the piece have been delivered, or do not hold
**    hpPieceFree()    free everything
**
** This is how the outermost loop of any statement leaves out the rows that do not
** pass its WHERE clause, if nothing better is known to do (hp_codeloop.c).  Rows are
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
** Of a join, rows may be looked up in relations of other tables (hp_codeloop.c).  Where all
** rows are asked for these are made before the first piece; else when SQLite's loop has
** gone on for some times as long as that takes.  They hold as long as nobody writes to
** those tables.
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

#define HP_PIECE_LOOK     4    /* SQLite's loop goes on for so many times what relations
                               ** take to be made, unless all rows are asked for */

/* HpPieces.eLook: are rows looked up in relations? */
#define HP_LOOK_OFF    0       /* No */
#define HP_LOOK_WAIT   1       /* It is to be seen whether that is worth it */
#define HP_LOOK_DUE    2       /* It is, and they are made next time */
#define HP_LOOK_ON     3       /* Yes */

struct HpPieces {
  const HpPlan *pPlan;
  u8 eLook;              /* HP_LOOK_xxx */
  const HpPipePlan *pPipe;   /* What finds rows: the last pipe, or own */
  i64 nByte;             /* HpQuery.nHeld without relations */
  HpPipePlan own;        /* HP_LOOK_OFF, of a join: the pipe without look-ups */
  BtCursor **apGuard;    /* On the tables of relations */
  HpPart part;           /* The piece: its first leaf, and its size */
  i64 nWait;             /* HP_PIECE_WAIT, or more where that was tried before */
  u8 bMany;              /* Too many rows of this piece were found */
  u8 bRan;               /* Some piece was scanned */
  BtCursor *pGuard;      /* On the same b-tree, or NULL */
};

/*
** Scan the table of p, whose plan is pPlan, piece by piece.  Returns the number of rows that
** SQLite's loop is to go through first.  p->pPieces is NULL if that failed.
*/
static i64 hpPieceNew(HpQuery *p, const HpPlan *pPlan){
  HpPieces *pNew;
  int bForce = hpConfigOffload(p->db)==HP_OFFLOAD_FORCE;
  assert( p->pPieces==0 && p->pPipe==0 );
  assert( hpPlanLast(pPlan)->pFind->bPieces );
  sqlite3BeginBenignMalloc();
  pNew = sqlite3MallocZero(sizeof(*pNew) + sizeof(BtCursor*)*(u64)(pPlan->nPipe-1));
  sqlite3EndBenignMalloc();
  if( pNew==0 ) return 0;
  pNew->pPlan = pPlan;
  pNew->apGuard = (BtCursor**)&pNew[1];
  pNew->eLook = pPlan->nPipe>1 ? HP_LOOK_WAIT : HP_LOOK_OFF;
  pNew->pPipe = hpPlanLast(pPlan);
  pNew->part.nLeaf = bForce ? 1 : HP_PIECE_MIN;
  pNew->nWait = HP_PIECE_WAIT;
  p->pPieces = pNew;
  pNew->part.bSearch = pNew->pPipe->pFind->bByRowid;
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
** Are rows found again by rowid?
*/
static int hpPieceIsByRowid(const HpPieces *p){
  assert( p->pPipe->pFind->bPieces );
  return p->pPipe->pFind->bByRowid;
}

/* Rows are looked up no more, and only tested by the table's own terms */
static void hpPieceLookOff(HpQuery *p){
  HpPieces *pPieces = p->pPieces;
  HpProg *pProg = &pPieces->own.prog;
  int i;
  assert( p->pPipe==0 && pPieces->eLook!=HP_LOOK_OFF );
  pPieces->own = *hpPlanLast(pPieces->pPlan);
  pProg->nFilter = pPieces->own.nOwn;
  pProg->nOp = pProg->nFilter ? pProg->aFilter[pProg->nFilter-1].nOp : 0;
  pPieces->pPipe = &pPieces->own;
  for(i=0; i<pPieces->pPlan->nPipe-1; i++){
    hpGuardFree(pPieces->apGuard[i]);
    pPieces->apGuard[i] = 0;
    hpRelFree(p->apRel[i]);
    p->apRel[i] = 0;
  }
  if( pPieces->eLook==HP_LOOK_ON ) p->nHeld = pPieces->nByte;
  pPieces->eLook = HP_LOOK_OFF;
}

/* Make the relations */
static int hpPieceRelations(HpQuery *p, Mem *aMem){
  HpPieces *pPieces = p->pPieces;
  const HpPlan *pPlan = pPieces->pPlan;
  int rc = SQLITE_OK;
  int i;
  pPieces->nByte = p->nHeld;
  for(i=0; i<pPlan->nPipe-1 && rc==SQLITE_OK; i++){
    const HpPipePlan *pPipe = &pPlan->aPipe[i];
    assert( p->pPipe==0 && p->apRel[i]==0 );
    rc = hpGuardSet(p->db, &pPipe->source, &pPieces->apGuard[i]);
    if( rc==SQLITE_OK && !hpGuardHolds(pPieces->apGuard[i]) ) rc = HP_DECLINE;
    p->nChange = hpThreadChanges(p);
    if( rc==SQLITE_OK ) rc = hpPipeNew(p, pPipe);
    if( rc==SQLITE_OK ) rc = hpPipeRun(p->pPipe, aMem, hpThreads(p->db));
    if( rc==SQLITE_OK && p->db->mallocFailed ) rc = SQLITE_NOMEM;
    hpPipeClose(p);
  }
  return rc;
}

/*
** A piece is to begin.  If it is time make the relations that its rows are looked up in.
** Set *pnStock to a number of rows that SQLite's loop is to go through before.
*/
static int hpPieceLook(HpQuery *p, Mem *aMem, i64 *pnStock){
  HpPieces *pPieces = p->pPieces;
  const HpPipePlan *pPipe = pPieces->pPipe;
  int rc = SQLITE_OK;
  int bTake;
  *pnStock = 0;
  if( pPieces->eLook!=HP_LOOK_WAIT && pPieces->eLook!=HP_LOOK_DUE ) return SQLITE_OK;
  assert( p->pPipe==0 && pPipe==hpPlanLast(pPieces->pPlan) );
  if( pPieces->eLook==HP_LOOK_WAIT ){
    rc = hpGateLook(p, pPieces->pPlan, aMem, pnStock, &bTake);
    pPieces->eLook = HP_LOOK_DUE;
    *pnStock = pPipe->pFind->bAll || !bTake ? 0 : *pnStock*HP_PIECE_LOOK;
  }else{
    bTake = 1;
  }
  if( rc==SQLITE_OK && bTake && *pnStock==0 ){
    pPieces->eLook = HP_LOOK_ON;
    rc = hpPieceRelations(p, aMem);
  }
  assert( p->pPipe==0 );
  if( rc || !bTake ) hpPieceLookOff(p);
  return rc==HP_DECLINE ? SQLITE_OK : rc;
}

/*
** Scan the piece after the leaf that pCur is on, and keep what was found.  Constants
** are in aMem[].  If that fails, whyever, there is no piece and pCur has not moved.
*/
static int hpPieceRun(HpQuery *p, const BtCursor *pCur, Mem *aMem){
  HpPieces *pPieces = p->pPieces;
  HpPart *pPart = &pPieces->part;
  sqlite3 *db = p->db;
  const HpPipePlan *pPlan = pPieces->pPipe;
  const HpFound *pFound;
  HpPipe *pPipe;
  int rc = SQLITE_OK;
  assert( p->pPipe==0 && pCur->eState==CURSOR_VALID && pCur->iPage>0 );
  if( pPieces->eLook==HP_LOOK_OFF && pPlan->nOwn==0
   && pPieces->pPlan->nPipe>1
  ){
    return HP_DECLINE;     /* There is nothing to test */
  }
  assert( pPieces->eLook!=HP_LOOK_DUE );
  pPart->nLevel = pCur->iPage;
  memcpy(pPart->aChild, pCur->aiIdx, sizeof(u16)*pCur->iPage);
  pPart->bMore = 0;
  if( pPlan->pFind->bByRowid==0 ){
    rc = hpGuardSet(db, &pPlan->source, &pPieces->pGuard);
  }
  p->nChange = hpThreadChanges(p);
  if( rc==SQLITE_OK ) rc = hpPipeNew(p, pPlan);
  pPipe = p->pPipe;
  if( rc==SQLITE_OK ){
    pPipe->portion.pPart = pPart;
    rc = hpPipeRun(pPipe, aMem, hpThreads(db));
  }
  if( rc==SQLITE_OK && db->mallocFailed ) rc = SQLITE_NOMEM;
  if( rc ){
    hpPieceEnd(p, 0);
    return rc;
  }
  pPart->bLater = 1;
  if( pPart->bMore ) pPipe->pass.bAll = 0;
  pFound = pPipe->apWorker[0]->pSink;
  assert( pFound->pPlan==pPlan->pFind && pFound->iNext==0 );
  pPieces->bMany = pFound->bForce==0
      && (pPipe->pass.bEnd
          || hpRowidsCost(pPipe, pFound->nPlace, pPipe->pass.nScanned,
                          pPipe->pSource->nTaken));
  hpPipeDone(pPipe);
  if( pPieces->bRan==0 ){
    pPieces->bRan = 1;
    hpConfigStat(db, HP_STAT_RUN);
    hpConfigRan();
    p->v->eHpRun = HP_RUN_DONE;
  }
  p->v->aCounter[SQLITE_STMTSTATUS_FULLSCAN_STEP] += (u32)pPipe->pass.nScanned;
  return SQLITE_OK;
}

/* Has somebody written to a table whose rows are looked up? */
static int hpPieceLookLost(const HpPieces *p){
  int i;
  assert( p->eLook<=HP_LOOK_ON );
  for(i=0; p->eLook==HP_LOOK_ON && i<p->pPlan->nPipe-1; i++){
    if( !hpGuardHolds(p->apGuard[i]) ) return 1;
  }
  return 0;
}

/*
** Has somebody written to the table, or to one whose rows are looked up, so that what was
** found may no longer hold?
*/
static int hpPieceLost(const HpPieces *p){
  return (p->pGuard!=0 && !hpGuardHolds(p->pGuard)) || hpPieceLookLost(p);
}

/*
** The rows of the piece have been delivered.  If bLost they do not hold any more.
** Returns the number of rows that SQLite's loop is to go through now.
*/
static i64 hpPieceEnd(HpQuery *p, int bLost){
  HpPieces *pPieces = p->pPieces;
  HpPart *pPart = &pPieces->part;
  i64 nRow = p->pPipe ? (i64)p->pPipe->pass.nScanned : 0;
  hpPipeClose(p);
  if( hpPieceLookLost(pPieces) ) hpPieceLookOff(p);
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
  assert( pPart->nLeaf>=1 && pPart->nLeaf<=HP_PIECE_MAX );
  pPart->nLeaf = MIN(2*pPart->nLeaf, HP_PIECE_MAX);
  return 0;
}

/*
** Free *p, which may be NULL.
*/
static void hpPieceFree(HpPieces *p){
  int i;
  if( p==0 ) return;
  for(i=0; i<p->pPlan->nPipe-1; i++) hpGuardFree(p->apGuard[i]);
  hpGuardFree(p->pGuard);
  sqlite3_free(p);
}
#endif /* SQLITE_OMIT_HP */
