/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_zone: what a filter says about the values of one column.
**
**    hpZoneOf()       bounds from a filter that compares a column with a constant
**    hpZoneNarrow()   both are to hold
**    hpZoneIsSafe()   may rows be left out that another filter would have seen?
**
** Such bounds (HpBound) let rows be passed over before filters see them: single
** records (hp_record.c), and whole segments of columns (hp_keep.c).  They may be wider
** than the filter, never narrower.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** A function may fail, and then has to for each row that stock calls it for.
*/
static int hpZoneIsSafe(const HpProg *pProg){
  int i;
  for(i=0; i<pProg->nOp; i++){
    if( pProg->aOp[i].eOp==HP_OP_FUNC ) return 0;
  }
  return 1;
}

/* The operation of pProg that gives vector iVec, or NULL */
static const HpOp *hpZoneOp(const HpProg *pProg, u16 iVec){
  int k;
  for(k=0; k<pProg->nOp; k++){
    if( pProg->aOp[k].iOut==iVec ) return &pProg->aOp[k];
  }
  return 0;
}

/*
** Set *pBound to what filter iFilter of p says about a column of the plan, and return the
** column.  -1: it says nothing of the kind.
**
** Integers below 2^52 compare with integers and reals as doubles do, whichever way a column
** of REAL affinity stores them.  Of two texts compared by bytes the one is less whose first
** eight bytes are, as a number, with zeros for those that it does not have.
*/
static int hpZoneOf(const HpWorker *p, int iFilter, HpBound *pBound){
  const HpProg *pProg = &p->pPlan->prog;
  const HpOp *pOp = hpZoneOp(pProg, pProg->aFilter[iFilter].iVec);
  const HpOp *pCol;
  const HpVec *pVec;
  int bLow, bHigh;
  if( pOp==0 || pOp->eOp!=HP_OP_COMPARE ) return -1;
  pCol = hpZoneOp(pProg, pOp->a);
  if( pCol==0 || pCol->eOp!=HP_OP_COLUMN ) return -1;
  assert( pCol->a<p->pPlan->source.nCol );
  pVec = &p->frame.aVec[pOp->b];
  if( pVec->mIdx!=0 ) return -1;
  memset(pBound, 0, sizeof(*pBound));
  pBound->iStore = p->pPlan->source.aCol[pCol->a].iStore;
  pBound->iMin = SMALLEST_INT64;
  pBound->iMax = LARGEST_INT64;
  pBound->rMin = -INFINITY;
  pBound->rMax = INFINITY;
  pBound->mxText = ~(u64)0;
  pBound->bNull = pOp->op==TK_IS || pOp->op==TK_ISNOT;
  bLow = pOp->op==TK_EQ || pOp->op==TK_GT || pOp->op==TK_GE;
  bHigh = pOp->op==TK_EQ || pOp->op==TK_LT || pOp->op==TK_LE;
  if( pVec->aTag[0] & HP_NUM ){
    double r = pVec->aTag[0]==HP_INT ? (double)pVec->aVal[0].i : pVec->aVal[0].r;
    i64 x;
    if( !(fabs(r)<HP_MX_FLOAT) ) return -1;
    x = (i64)r;                    /* Towards zero: never too narrow */
    pBound->bOn = 1;
    if( bLow ){
      pBound->iMin = x;
      pBound->rMin = r;
    }
    if( bHigh ){
      pBound->iMax = x;
      pBound->rMax = r;
    }
    return pCol->a;
  }
  if( pVec->aTag[0]==HP_TEXT && sqlite3IsBinary(pOp->pColl)
   && pOp->aff<SQLITE_AFF_NUMERIC
  ){
    u64 x = hpZonePrefix(pVec->aVal[0].z, pVec->aLen[0]);
    pBound->bText = 1;
    if( bLow ) pBound->mnText = x;
    if( bHigh ) pBound->mxText = x;
    return pCol->a;
  }
  return -1;
}

/* Let *pBound be what it and *pOther say, about the same column and kind of values */
static void hpZoneNarrow(HpBound *pBound, const HpBound *pOther){
  assert( pBound->iStore==pOther->iStore && pBound->bOn==pOther->bOn );
  pBound->bNull |= pOther->bNull;
  pBound->iMin = MAX(pBound->iMin, pOther->iMin);
  pBound->iMax = MIN(pBound->iMax, pOther->iMax);
  pBound->rMin = MAX(pBound->rMin, pOther->rMin);
  pBound->rMax = MIN(pBound->rMax, pOther->rMax);
}
#endif /* SQLITE_OMIT_HP */
