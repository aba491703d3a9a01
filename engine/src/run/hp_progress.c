/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_progress: how long will loops that SQLite runs go on?
**
**    hpProgressBegin()   nothing has been seen yet
**    hpProgressLeft()    the time that is left, or as much of it as can be told
**
** What a loop costs a row, and how many rows there are, is hard to know before.
** While it runs both can be seen: the cursor of a loop stands at a place of its
** b-tree, a number from 0 to 1, and the place where it will end is known, too,
** as the instruction that ends it has the key in registers.  So two looks tell
** how fast the loop goes, and how long it will go on if it stays so.
**
** Loops lie within each other.  The outermost one that has passed
** HP_PROGRESS_ROWS entries between the two looks tells.  Where that is not the
** first one, what the loops around it have before them is not known: then the
** time that is left is that or more.  But the values of an IN, if they are the
** outermost loop, take about as long each.
**
** All this is about instructions that SQLite makes for WHERE clauses.  What
** looks otherwise is not known.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_PROGRESS_ROWS 8     /* So many entries tell how fast a loop is */

/* A loop that is running */
typedef struct HpLoop HpLoop;
struct HpLoop {
  int iCsr;              /* Its cursor */
  int iFirst, iLast;     /* Its body, with the instruction that goes back */
  u8 bBack;              /* It goes backwards */
};

/*
** Set aLoop[] to the loops of v around instruction iAddr, the outermost one
** first, between iFrom and iEnd.  Returns their number.
*/
static int hpProgressLoops(
  const Vdbe *v,
  int iAddr,
  int iFrom,
  int iEnd,
  HpLoop *aLoop
){
  int n = 0;
  int i, k;
  for(i=iAddr; i<iEnd && i<v->nOp; i++){
    const VdbeOp *pOp = &v->aOp[i];
    if( pOp->opcode!=OP_Next && pOp->opcode!=OP_Prev && pOp->opcode!=OP_HpRow ){
      continue;
    }
    if( pOp->p2<iFrom || pOp->p2>iAddr || pOp->p1>=v->nCursor ) continue;
    for(k=0; k<n && aLoop[k].iCsr!=pOp->p1; k++){}
    if( k<n ) continue;
    for(k=0; k<n && aLoop[k].iFirst<=pOp->p2; k++){}
    if( k==HP_PROGRESS_LOOPS ) continue;
    if( n<HP_PROGRESS_LOOPS ) n++;
    memmove(&aLoop[k+1], &aLoop[k], sizeof(*aLoop)*(size_t)(n-1-k));
    aLoop[k].iCsr = pOp->p1;
    aLoop[k].iFirst = pOp->p2;
    aLoop[k].iLast = i;
    aLoop[k].bBack = pOp->opcode==OP_Prev;
  }
  assert( n<=HP_PROGRESS_LOOPS );
  /* One lies within the other */
  assert( n<2 || aLoop[n-2].iFirst<=aLoop[n-1].iFirst );
  return n;
}

/* Set *prPlace to where pCur stands in its b-tree, and *prWidth to what an
** entry takes of that */
static int hpProgressPlace(
  const BtCursor *pCur,
  double *prPlace,
  double *prWidth
){
  double rPlace = 0;
  double rWidth = 1;
  int i;
  if( pCur->eState!=CURSOR_VALID ) return 0;
  for(i=0; i<=pCur->iPage; i++){
    const MemPage *pPage = i<pCur->iPage ? pCur->apPage[i] : pCur->pPage;
    int iCell = i<pCur->iPage ? pCur->aiIdx[i] : pCur->ix;
    if( pPage->nCell==0 ) return 0;
    rWidth /= pPage->nCell + !pPage->leaf;
    rPlace += rWidth*MIN(iCell, pPage->nCell);
  }
  if( !pCur->pPage->leaf ){
    /* Of an index, behind that child */
    rPlace += rWidth;
    rWidth /= pCur->pPage->nCell + 1;
  }
  assert( rPlace>=0 && rPlace<=1+1e-9 && rWidth>0 && rWidth<=1 );
  *prPlace = rPlace;
  *prWidth = rWidth;
  return 1;
}

/* The b-tree cursor of loop p, or NULL */
static BtCursor *hpProgressCursor(const Vdbe *v, const HpLoop *p){
  const VdbeCursor *pCsr = v->apCsr[p->iCsr];
  if( pCsr==0 || pCsr->eCurType!=CURTYPE_BTREE || pCsr->nullRow
   || pCsr->deferredMoveto ){
    return 0;
  }
  return pCsr->uc.pCursor;
}

/*
** Set *prPlace to where loop p of v will end, which instruction pOp tests.
** Returns 0 if that cannot be told.
*/
static int hpProgressEndOf(
  Vdbe *v,
  const HpLoop *p,
  const VdbeOp *pOp,
  double *prPlace
){
  BtCursor *pCur = hpProgressCursor(v, p);
  const VdbeCursor *pCsr = v->apCsr[p->iCsr];
  BtCursor *pNew;
  UnpackedRecord rec;
  double rWidth;
  int c = 0;
  int bOk = 0;
  int rc;
  assert( p->iFirst<p->iLast && p->iLast<v->nOp );
  if( pCsr->isEphemeral ) return 0;
  sqlite3BeginBenignMalloc();
  pNew = sqlite3_malloc64(sqlite3BtreeCursorSize());
  sqlite3EndBenignMalloc();
  if( pNew==0 ) return 0;
  sqlite3BtreeCursorZero(pNew);
  rc = sqlite3BtreeCursor(pCur->pBtree, pCur->pgnoRoot, 0, pCsr->pKeyInfo,
                          pNew);
  if( rc==SQLITE_OK && pCsr->pKeyInfo==0 ){
    const Mem *pEnd = &v->aMem[pOp->p1];
    if( pEnd->flags & MEM_Int ){
      rc = sqlite3BtreeTableMoveto(pNew, pEnd->u.i, 0, &c);
    }
    else rc = SQLITE_MISMATCH;
  }else if( rc==SQLITE_OK ){
    memset(&rec, 0, sizeof(rec));
    rec.pKeyInfo = pCsr->pKeyInfo;
    rec.nField = (u16)pOp->p4.i;
    rec.default_rc = pOp->opcode==OP_IdxGT || pOp->opcode==OP_IdxLE ? -1 : 1;
    rec.aMem = &v->aMem[pOp->p3];
    rc = sqlite3BtreeIndexMoveto(pNew, &rec, &c);
    if( rec.errCode ) rc = SQLITE_CORRUPT;
  }
  if( rc==SQLITE_OK ) bOk = hpProgressPlace(pNew, prPlace, &rWidth);
  if( bOk && c<0 ) *prPlace += rWidth;
  sqlite3BtreeCloseCursor(pNew);
  sqlite3_free(pNew);
  return bOk;
}

/* The same; without such an instruction it is the end of the b-tree */
static int hpProgressEnd(Vdbe *v, const HpLoop *p, double *prPlace){
  int i;
  for(i=p->iFirst; i<p->iLast; i++){
    const VdbeOp *pOp = &v->aOp[i];
    switch( pOp->opcode ){
      case OP_IdxGT: case OP_IdxGE: case OP_IdxLT: case OP_IdxLE:
        if( pOp->p1==p->iCsr ) return hpProgressEndOf(v, p, pOp, prPlace);
        break;
      case OP_Rowid:
        if( pOp->p1==p->iCsr && pOp[1].opcode>=OP_Gt && pOp[1].opcode<=OP_Ge
         && pOp[1].p3==pOp->p2 && i==p->iFirst
        ){
          return hpProgressEndOf(v, p, &pOp[1], prPlace);
        }
        break;
    }
  }
  *prPlace = p->bBack ? 0 : 1;
  return 1;
}

/* Nothing has been seen yet */
static void hpProgressBegin(HpProgress *p){
  p->nFirst = p->nLast = 0;
}

/*
** Return the time that the n loops of v have before them, in nanoseconds, if at
** tThen they stood at aThen[], and now, at tNow, at aNow[]; or -1.  *pbAll is
** set if that is all.
*/
static double hpProgressSince(
  Vdbe *v,
  const HpLoop *aLoop,
  int n,
  const double *aNow,
  const double *aWidth,
  i64 tNow,
  const double *aThen,
  i64 tThen,
  int *pbAll
){
  double rEnd, rDone, rLeft;
  int k;
  assert( n>0 && n<=HP_PROGRESS_LOOPS );
  for(k=0; k<n && aNow[k]==aThen[k]; k++){}
  if( k==n ) return -1;
  rDone = aLoop[k].bBack ? aThen[k]-aNow[k] : aNow[k]-aThen[k];
  if( rDone<aWidth[k]*HP_PROGRESS_ROWS || !hpProgressEnd(v, &aLoop[k], &rEnd) ){
    return -1;
  }
  assert( rDone>0 );                 /* What is left is divided by it */
  rLeft = aLoop[k].bBack ? aNow[k]-rEnd : rEnd-aNow[k];
  *pbAll = k==0;
  return MAX(rLeft, 0)*(double)(tNow-tThen)/rDone;
}

/*
** Return how long the loops of v around instruction iAddr, between iFrom and
** iEnd, will go on from now, tNow, in nanoseconds, or -1 if that cannot be
** told.  *pbAll is set unless it may be more.  What has been seen is in *p.
*/
static double hpProgressLeft(
  Vdbe *v,
  HpProgress *p,
  int iAddr,
  int iFrom,
  int iEnd,
  i64 tNow,
  int *pbAll
){
  HpLoop aLoop[HP_PROGRESS_LOOPS];
  double aNow[HP_PROGRESS_LOOPS];
  double aWidth[HP_PROGRESS_LOOPS];
  double rLeft = -1;
  int n = hpProgressLoops(v, iAddr, iFrom, iEnd, aLoop);
  int k;
  *pbAll = 0;
  for(k=0; k<n; k++){
    const BtCursor *pCur = hpProgressCursor(v, &aLoop[k]);
    if( pCur==0 || !hpProgressPlace(pCur, &aNow[k], &aWidth[k]) ) break;
  }
  n = k;
  if( n==0 ) return -1;
  if( p->nFirst ){
    rLeft = hpProgressSince(v, aLoop, MIN(n, p->nFirst), aNow, aWidth, tNow,
                            p->aFirst, p->tFirst, pbAll);
  }
  if( rLeft<0 && p->nLast ){
    rLeft = hpProgressSince(v, aLoop, MIN(n, p->nLast), aNow, aWidth, tNow,
                            p->aLast, p->tLast, pbAll);
  }
  if( !*pbAll && p->nFirst && p->aFirst[0]==0 && aNow[0]>0 && aLoop[0].bBack==0
   && v->apCsr[aLoop[0].iCsr]->isEphemeral
  ){
    /* The values of an IN, one of which takes about as long as another: half of
    ** this one is done */
    double rDone = aNow[0] + aWidth[0]/2;
    rLeft = (double)(tNow - p->tFirst)*MAX(0, 1-rDone)/rDone;
    *pbAll = 1;
  }
  if( p->nFirst==0 ){
    p->nFirst = n;
    p->tFirst = tNow;
    memcpy(p->aFirst, aNow, sizeof(double)*(size_t)n);
  }
  assert( p->nFirst>0 && p->nFirst<=HP_PROGRESS_LOOPS );
  p->nLast = n;
  p->tLast = tNow;
  memcpy(p->aLast, aNow, sizeof(double)*(size_t)n);
  return rLeft;
}
#endif /* SQLITE_OMIT_HP */
