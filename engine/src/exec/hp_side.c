/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_side: operations that only some of the selected rows need.
**
**    hpSideOpen()     memory for what is selected around sides
**    hpSideBegin()    select the rows that need a side
**    hpSideEnd()      select again what was selected around it
**    hpSideSkip()     pass over a side that no row needs
**
** Of  a OR b  the right side matters where the left one is not true, of a CASE
** each arm where its WHEN is true and none before, of COALESCE each argument
** where all before are NULL.  SQLite jumps over the rest.  Where that costs
** more than to select rows (hp_cost.c), or may fail, the compiler puts its
** operations into a side (HpSide): while they run HpFrame.aSel is narrower.
** Sides nest.  In a chain the rest is a side of the first, and its rest one of
** that, so a row that is decided leaves the selection for good:
**
**    a OR b OR c OR d      a  [not true: b  [not true: c  [not true: d  ] ] ]
**
** A vector of a side has values for the rows of the side only.  The operation
** that puts sides together (HP_OP_OR and _AND, _CASE, _COALESCE) reads no
** others, and what it computes has values for all rows around.  Later sides of
** the same rows (HpSide.iSame) read its vectors, too.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Allocate what sides of p need */
static int hpSideOpen(HpFrame *p){
  i64 n = p->pProg->mxDepth;
  i64 i;
  if( n==0 ) return SQLITE_OK;
  p->aAround = hpArenaAlloc(&p->vec, n*sizeof(HpAround));
  if( p->aAround==0 ) return HP_DECLINE;
  memset(p->aAround, 0, n*sizeof(HpAround));
  for(i=0; i<n; i++){
    p->aAround[i].aNeed = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)p->nAlloc);
    if( p->aAround[i].aNeed==0 ) return HP_DECLINE;
  }
  return SQLITE_OK;
}

/* Of rows aSel[0..n-1] put those into aNeed[] for which vector pVec is as eNeed
** says.  Both may be the same array.  Returns their number. */
static int hpSideRows(
  HpFrame *p,
  u8 eNeed,
  HpVec *pVec,
  const u16 *aSel,
  int n,
  u16 *aNeed
){
  /* By truth, where 2 is NULL */
  static const u8 aaNeed[4][3] = { {0,1,0}, {1,0,1}, {0,1,1}, {0,0,1} };
  const u8 *aIs = aaNeed[eNeed];
  const u8 *aTag = pVec->aTag;
  const HpVal *aVal = pVec->aVal;
  u32 m = pVec->mIdx;
  int nNeed = 0;
  int ii;
  if( eNeed==HP_NEED_NULL ){
    for(ii=0; ii<n; ii++){
      u16 i = aSel[ii];
      aNeed[nNeed] = i;
      nNeed += aTag[i & m]==HP_NULL;
    }
    return nNeed;
  }
  hpVecExact(p, pVec);
  if( (pVec->mType & ~(HP_INT|HP_NULL))==0 ){
    for(ii=0; ii<n; ii++){
      u16 i = aSel[ii];
      u8 b = aTag[i & m]==HP_NULL ? 2 : aVal[i & m].i!=0;
      aNeed[nNeed] = i;
      nNeed += aIs[b];
    }
  }else{
    for(ii=0; ii<n; ii++){
      u16 i = aSel[ii];
      aNeed[nNeed] = i;
      nNeed += aIs[hpVecTruth(p, pVec, i)];
    }
  }
  return nNeed;
}

/*
** Select the rows that need pSide.  Returns their number: if it is 0 nothing
** has changed.  Most of all rows are computed as all of them are.
*/
static int hpSideBegin(HpFrame *p, const HpSide *pSide){
  const u16 *aArg = &p->pProg->aArg[pSide->iArg];
  HpAround *pAround = &p->aAround[p->nDepth];
  const u16 *aSel = p->aSel;
  u8 eNeed = pSide->eNeed;
  int nArg = pSide->n;
  int n = p->nSel;
  int k;
  assert( p->nDepth<p->pProg->mxDepth && p->nDepth+1==pSide->nDepth );
  for(k=0; k<pSide->n; k++){
    if( p->aVec[aArg[k]].bCodes ) hpCodesNow(p, 0);
  }
  if( pSide->eNeed==HP_NEED_FIRST ){
    eNeed = HP_NEED_NOT_TRUE;
    nArg--;
    n = hpSideRows(p, HP_NEED_TRUE, &p->aVec[aArg[nArg]], aSel, n,
                   pAround->aNeed);
    aSel = pAround->aNeed;
  }
  for(k=0; k<nArg && n>0; k++){
    n = hpSideRows(p, eNeed, &p->aVec[aArg[k]], aSel, n, pAround->aNeed);
    aSel = pAround->aNeed;
  }
  if( n==0 ) return 0;
  pAround->aSel = p->aSel;
  pAround->nSel = p->nSel;
  pAround->bDense = p->bDense;
  pAround->iSide = pSide->iSame;
  p->aSel = pAround->aNeed;
  p->nSel = n;
  p->bDense = p->bDense && (i64)n*4>=(i64)p->nRow*3;
  p->nDepth++;
  assert( hpVecIsSelection(p) );
  return n;
}

/*
** The operations of pSide have been run.  What stands around them takes its
** vectors for exact ones.
*/
static void hpSideEnd(HpFrame *p, const HpSide *pSide){
  const HpProg *pProg = p->pProg;
  int i;
  /* Nobody has selected anything else meanwhile */
  assert( p->aSel==p->aAround[p->nDepth-1].aNeed );
  assert( p->aAround[p->nDepth-1].iSide==pSide->iSame );
  assert( p->nDepth==pSide->nDepth );
  for(i=pSide->iFrom; i<pSide->iTo && p->rcOp==0; i++){
    const HpOp *pOp = &pProg->aOp[i];
    if( pOp->iSide==pSide->iSame ) hpVecExact(p, &p->aVec[pOp->iOut]);
  }
  p->nDepth--;
  p->aSel = p->aAround[p->nDepth].aSel;
  p->nSel = p->aAround[p->nDepth].nSel;
  p->bDense = p->aAround[p->nDepth].bDense;
}

/* No row needs pSide: its vectors have no type */
static void hpSideSkip(HpFrame *p, const HpSide *pSide){
  const HpProg *pProg = p->pProg;
  int i;
  assert( p->nDepth+1==pSide->nDepth );
  for(i=pSide->iFrom; i<pSide->iTo; i++){
    HpVec *pVec = &p->aVec[pProg->aOp[i].iOut];
    if( pProg->aOp[i].bConst ) continue;
    assert( pVec->bCodes==0 && pVec->nDepth>p->nDepth );
    pVec->mType = 0;
    pVec->bFloat = 0;
  }
  while( p->iNextSide<pProg->nSide
      && pProg->aSide[p->iNextSide].iFrom<pSide->iTo
  ){
    p->iNextSide++;
  }
}
#endif /* SQLITE_OMIT_HP */
