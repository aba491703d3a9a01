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
  if( x.bConst ) x.iGuard = HP_NO_VEC;
  for(i=0; i<pProg->nOp; i++){
    HpOp *p = &pProg->aOp[i];
    if( p->bFilter ) continue;
    if( p->eOp==x.eOp && p->op==x.op && p->aff==x.aff
     && p->a==x.a && p->b==x.b && p->n==x.n && p->iGuard==x.iGuard
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
  assert( iVec>=0 && iVec<pProg->nVec );
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
