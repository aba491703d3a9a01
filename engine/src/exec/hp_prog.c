/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_prog: making a vector program (prepare time).
**
**    hpProgConst()    add a constant
**    hpProgOp()       add an operation, or find an equal one
**    hpProgIsConst()  does a vector depend on no row?
**    hpProgFilter()   a truth value that rows have to pass
**    hpProgSide(), hpProgSideEnd()    operations that fewer rows need
**    hpProgSees()     can a vector be read here?
**
** Equal operations are merged, and those with constant operands are marked: they
** run once, when the scan begins.  Operations of the first filter come first,
** then those that only the second needs, and so on.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Add a constant to the program: the value of pExpr, which does not depend
** on the row and will be in register iReg.  bList tells that it stands in an
** IN list.  Returns its vector, or -1 if there is no room.
*/
static int hpProgConst(HpProg *pProg, int iReg, Expr *pExpr, int bList){
  struct HpConst *pConst;
  assert( iReg>0 && pExpr!=0 );
  if( pProg->nVec>=HP_MX_VEC
   || hpArenaGrow(pProg->pMem, &pProg->aConst, &pProg->nConstAlloc, pProg->nConst,
             sizeof(*pConst))
  ){
    return -1;
  }
  pConst = &pProg->aConst[pProg->nConst++];
  pConst->iVec = (u16)pProg->nVec++;
  pConst->iReg = iReg;
  pConst->bList = (u8)bList;
  pConst->pExpr = pExpr;
  return pConst->iVec;
}

/* True if pOp computes a truth value in p->aBool.  (A look-up computes a number as
** well, whether or not a filter reads the truth.) */
static int hpOpIsBool(const HpOp *pOp){
  return (pOp->eOp>=HP_OP_COMPARE && pOp->eOp<=HP_OP_BOOL)
      || pOp->eOp==HP_OP_LOOKUP;
}

/*
** True if vector iVec has the same value for all rows.
*/
static int hpProgIsConst(const HpProg *pProg, int iVec){
  int i;
  for(i=0; i<pProg->nOp; i++){
    if( pProg->aOp[i].iOut==iVec ) return pProg->aOp[i].bConst;
  }
  return 1;
}

/* Has what side iSide computes been computed for the rows of the side of
** now? */
static int hpProgIsIn(const HpProg *pProg, u16 iSide){
  u16 i = pProg->iSide;
  while( i!=iSide && i!=0 ) i = pProg->aSide[i].iAround;
  return i==iSide;
}

/*
** Can operations of now read vector iVec?  Not if only another side has it.
*/
static int hpProgSees(const HpProg *pProg, int iVec){
  int i;
  for(i=0; i<pProg->nOp; i++){
    if( pProg->aOp[i].iOut==iVec ){
      return hpProgIsIn(pProg, pProg->aOp[i].iSide);
    }
  }
  return 1;
}

/*
** Begin a side: operations that follow are needed only where eNeed is so of all
** vectors aVec[0..n-1].  Sets *pi, for hpProgSideEnd().  Returns SQLITE_ERROR
** if there is no room.
*/
static int hpProgSide(HpProg *pProg, u8 eNeed, const u16 *aVec, int n, int *pi){
  HpSide *p;
  int i;
  int iArg = pProg->nArg;
  int nDepth = 1;
  assert( n>0 && eNeed<=HP_NEED_FIRST );
  if( pProg->iSide ) nDepth += pProg->aSide[pProg->iSide].nDepth;
  if( nDepth>HP_MX_AROUND ) return SQLITE_ERROR;
  for(i=0; i<n; i++){
    if( pProg->nArg>=0xffff
     || hpArenaGrow(pProg->pMem, &pProg->aArg, &pProg->nArgAlloc, pProg->nArg,
                    sizeof(u16))
    ){
      return SQLITE_ERROR;
    }
    pProg->aArg[pProg->nArg++] = aVec[i];
  }
  do{
    if( pProg->nSide>=0xffff
     || hpArenaGrow(pProg->pMem, &pProg->aSide, &pProg->nSideAlloc,
                    pProg->nSide,
                    sizeof(*p))
    ){
      return SQLITE_ERROR;
    }
    p = &pProg->aSide[pProg->nSide++];
    memset(p, 0, sizeof(*p));
  }while( pProg->nSide==1 );
  p->iFrom = p->iTo = (u16)pProg->nOp;
  p->iAround = pProg->iSide;
  p->nDepth = (u16)nDepth;
  p->eNeed = eNeed;
  p->iArg = (u16)iArg;
  p->n = (u16)n;
  for(i=1; i<pProg->nSide-1; i++){
    const HpSide *pOld = &pProg->aSide[i];
    if( pOld->iAround==p->iAround && pOld->eNeed==eNeed && pOld->n==n
     && memcmp(&pProg->aArg[pOld->iArg], aVec, sizeof(u16)*n)==0
    ){
      break;
    }
  }
  p->iSame = (u16)i;
  /* Sides of the same rows stand in the same side */
  assert( p->iSame>p->iAround && p->iSame<pProg->nSide );
  assert( pProg->aSide[i].nDepth==p->nDepth );
  *pi = pProg->nSide-1;
  pProg->iSide = p->iSame;
  pProg->mxDepth = MAX(pProg->mxDepth, p->nDepth);
  return SQLITE_OK;
}

/*
** End side i.  Returns whether it has operations: otherwise there is none.
*/
static int hpProgSideEnd(HpProg *pProg, int i){
  HpSide *p = &pProg->aSide[i];
  assert( i>0 && i<pProg->nSide && p->iSame==pProg->iSide );
  pProg->iSide = p->iAround;
  p->iTo = (u16)pProg->nOp;
  if( p->iFrom<p->iTo ) return 1;
  assert( i==pProg->nSide-1 );
  pProg->nSide--;
  return 0;
}

/*
** Add an operation, or find the same one.  pOp->iOut is not used.  Returns
** the vector of the result, or -1 if there is no room.
*/
static int hpProgOp(HpProg *pProg, const HpOp *pOp){
  int i, k;
  HpOp *pNew;
  HpOp x = *pOp;
  int nArg = x.eOp>=HP_OP_CASE ? x.n : 0;
  assert( x.eOp>=HP_OP_COLUMN && x.eOp<=HP_OP_SET );
  assert( x.iArg+nArg<=pProg->nArg );
  if( nArg || x.eOp==HP_OP_FUNC ){
    for(k=0; k<nArg && hpProgIsConst(pProg, pProg->aArg[x.iArg+k]); k++){}
    x.bConst = k==nArg;
  }else if( x.eOp!=HP_OP_COLUMN ){
    x.bConst = hpProgIsConst(pProg, x.a)
            && (x.eOp==HP_OP_IN || x.eOp==HP_OP_TRUTH
                || hpProgIsConst(pProg, x.b));
  }
  x.iSide = x.bConst ? 0 : pProg->iSide;
  for(i=0; i<pProg->nOp; i++){
    HpOp *p = &pProg->aOp[i];
    if( p->bFilter ) continue;
    if( p->eOp==x.eOp && p->op==x.op && p->aff==x.aff
     && p->a==x.a && p->b==x.b && p->n==x.n && hpProgIsIn(pProg, p->iSide)
     && p->pColl==x.pColl && p->pInfo==x.pInfo
     && (nArg==0 || memcmp(&pProg->aArg[p->iArg], &pProg->aArg[x.iArg],
                           nArg*sizeof(u16))==0)
    ){
      return p->iOut;
    }
  }
  if( pProg->nVec>=HP_MX_VEC || pProg->nOp>=HP_MX_OP
   || hpArenaGrow(pProg->pMem, &pProg->aOp, &pProg->nOpAlloc, pProg->nOp,
                  sizeof(*pNew))
  ){
    return -1;
  }
  pNew = &pProg->aOp[pProg->nOp++];
  *pNew = x;
  pNew->iOut = (u16)pProg->nVec++;
  assert( pProg->nVec<=HP_MX_VEC && pProg->nConst+pProg->nOp<=pProg->nVec );
  return pNew->iOut;
}

/*
** Make the truth of vector iVec, the result of operations so far, a filter.
*/
static int hpProgFilter(HpProg *pProg, int iVec){
  assert( pProg->nFilter==0
       || pProg->aFilter[pProg->nFilter-1].nOp<=pProg->nOp );
  assert( iVec>=0 && iVec<pProg->nVec && pProg->iSide==0 );
  if( hpArenaGrow(pProg->pMem, &pProg->aFilter, &pProg->nFilterAlloc, pProg->nFilter,
             sizeof(pProg->aFilter[0]))
  ){
    return SQLITE_NOMEM;
  }
  if( pProg->nOp>0 && pProg->aOp[pProg->nOp-1].iOut==iVec ){
    HpOp *pOp = &pProg->aOp[pProg->nOp-1];
    pOp->bFilter = hpOpIsBool(pOp) && pOp->bConst==0;
  }
  pProg->aFilter[pProg->nFilter].iVec = (u16)iVec;
  pProg->aFilter[pProg->nFilter].nOp = (u16)pProg->nOp;
  pProg->nFilter++;
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
