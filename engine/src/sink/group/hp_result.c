/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_result: the results of a group.
**
**    hpResultMerge()   add one worker's part of a group to another's
**    hpResultMixed()   were values added up in another order than SQLite's?
**    hpResultDoubt()   does a sum of a group depend on the order of rows?
**    hpResultFails()   does finishing a group raise an error?
**    hpResultWanted()  does the group pass those terms of HAVING that we look at?
**    hpResultValue()   what an aggregate of a group comes to
**    hpResultLoad()    copy a group into the registers of AggInfo
**
** hpResultLoad() copies a state into an aggregate context, and stock's OP_AggFinal finishes it, so that
** rounding and errors are stock's.  Of counts and numbers the result itself is there at once, computed as
** the finalizer does, which saves the context: OP_AggFinal leaves it alone (patch 0029).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Add the part aFrom of a group to the part aTo.  Values stay where aFrom has
** them.  HP_SERIAL: that is not possible.
*/
static int hpResultMerge(const HpGroupPlan *pPlan, u8 *aTo, const u8 *aFrom){
  HpHead *pTo = hpGroupHead(pPlan, aTo);
  const HpHead *pFrom = hpGroupHead(pPlan, aFrom);
  int bEarlier = pFrom->iPos<pTo->iPos;
  int bTake = pPlan->bLoadFirst && bEarlier;
  int k, rc;

  assert( pPlan->entry.bRows==0 && pPlan->bOpaque==0 );
  assert( aTo!=aFrom && hpGroupSame(pPlan, aTo, aFrom) );
  if( pFrom->iPos==HP_NO_POS ) return SQLITE_OK;
  if( pTo->iPos==HP_NO_POS ){
    memcpy(aTo, aFrom, pPlan->entry.szEntry);
    return SQLITE_OK;
  }
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    if( pDef->bShared ) continue;
    switch( pDef->eAgg ){
      case HP_AGG_COUNT:
        *(i64*)hpGroupState(pDef, aTo) += *(const i64*)hpGroupState(pDef, aFrom);
        break;
      case HP_AGG_SUM:
        rc = hpSumMerge(hpGroupState(pDef, aTo), hpGroupState(pDef, aFrom));
        if( rc ) return rc;
        break;
      case HP_AGG_ORDER:
        hpAggOrderMerge(hpGroupState(pDef, aTo), hpGroupState(pDef, aFrom));
        break;
      case HP_AGG_LOG:
        hpAggLogMerge(hpGroupState(pDef, aTo), hpGroupState(pDef, (u8*)aFrom));
        break;
      default: {
        HpBest *a = hpGroupState(pDef, aTo);
        const HpBest *b = hpGroupState(pDef, aFrom);
        int bFrom;
        assert( pDef->eAgg!=HP_AGG_CALL );
        if( a->copy.tag==0 || b->copy.tag==0 ){
          bFrom = a->copy.tag==b->copy.tag ? b->iPos>a->iPos : a->copy.tag==0;
        }else{
          int c = hpVecValCompare(a->copy.tag, a->copy.val, a->copy.n,
                                  b->copy.tag, b->copy.val, b->copy.n, pDef->pColl);
          if( pDef->eAgg==HP_AGG_MAX ) c = -c;
          bFrom = c>0 || (c==0 && b->iPos<a->iPos);
        }
        if( bFrom ) *a = *b;
        if( pDef->bLoad ) bTake = bFrom;
        break;
      }
    }
  }
  for(k=0; k<pPlan->nBare && bTake; k++){
    const struct HpBare *pBare = &pPlan->aBare[k];
    if( pBare->iKey>=0 ) continue;
    if( pBare->iRel>=0 ){
      *hpGroupRow(pBare, aTo) = *hpGroupRow(pBare, aFrom);
    }else{
      *hpGroupBare(pBare, aTo) = *hpGroupBare(pBare, aFrom);
    }
  }
  if( bEarlier ) *pTo = *pFrom;
  assert( pTo->iPos<=pFrom->iPos );
  return SQLITE_OK;
}

/*
** The result of sum(), total() or avg(), pFunc, as its finalizer computes it:
** returns its type and sets *pVal.  0: leave that to the finalizer.
*/
static u8 hpResultSum(const HpSum *pSum, const FuncDef *pFunc, HpVal *pVal){
  if( pSum->n & HP_SUM_OVRFL ) return 0;
  assert( hpSumIsReal(pSum) || pSum->u.i.iCarry==0 );
  if( hpSumCount(pSum)==0 && pFunc->xFinalize!=totalFinalize ) return HP_NULL;
  if( pFunc->xFinalize==sumFinalize && !hpSumIsReal(pSum) ){
    pVal->i = pSum->u.i.iSum;
    return HP_INT;
  }
  pVal->r = hpSumIsReal(pSum) ? pSum->u.r.rSum+pSum->u.r.rErr
                              : (double)pSum->u.i.iSum;
  if( pFunc->xFinalize==avgFinalize ) pVal->r /= (double)hpSumCount(pSum);
  return sqlite3IsOverflow(pVal->r) ? 0 : HP_REAL;
}

/* Have the workers of p added up values in another order than SQLite does? */
static int hpResultMixed(const HpPipe *p){
  int i;
  if( hpGroupOf(p->pEntry)->bAnyOrder ) return 1;
  for(i=0; i<p->nWorker && ((HpAgg*)p->apWorker[i]->pRuns)->bLanes==0; i++){}
  return i<p->nWorker;
}

/*
** HP_SERIAL if some sum in group aGroup depends on the order in which values
** were added.  bCheck: that of reals was not that of the scan.
*/
static int hpResultDoubt(const HpGroupPlan *pPlan, const u8 *aGroup, int bCheck){
  int k;
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    const HpSum *pSum = (const HpSum*)&aGroup[pDef->iOff];
    if( pDef->eAgg!=HP_AGG_SUM || pDef->bShared || hpSumCount(pSum)==0 ){
      continue;
    }
    if( hpSumIsReal(pSum)
         ? bCheck && ((pSum->n & HP_SUM_OVRFL) || !hpSumIsSound(pSum))
         : (pPlan->bAnyOrder || (pSum->n & HP_SUM_OVRFL))
            && !hpSumIsSafe(pSum, pDef->bOvrfl)
    ){
      return HP_SERIAL;
    }
  }
  return SQLITE_OK;
}

/* Does finishing aGroup raise an error?  Then SQLite has to see it, wanted or not */
static int hpResultFails(const HpGroupPlan *pPlan, const u8 *aGroup){
  int k;
  for(k=0; k<pPlan->nAgg; k++){
    const HpSum *pSum = (const HpSum*)&aGroup[pPlan->aAgg[k].iOff];
    if( pPlan->aAgg[k].eAgg==HP_AGG_SUM && (pSum->n & HP_SUM_OVRFL) ) return 1;
  }
  return 0;
}

/*
** False if HAVING is known not to be true of a group.  aConst has the constants
** that its terms compare with.
*/
static int hpResultWanted(
  const HpGroupPlan *pPlan,
  const u8 *aGroup,
  const HpLiteral *aConst
){
  int k;
  if( pPlan->nHaving==0 || hpResultFails(pPlan, aGroup) ) return 1;
  for(k=0; k<pPlan->nHaving; k++){
    const struct HpHaving *pHaving = &pPlan->aHaving[k];
    const HpAggDef *pDef = &pPlan->aAgg[pHaving->iAgg];
    const void *pState = &aGroup[pDef->iOff];
    HpVal v;
    u8 tag = HP_INT;
    int c, bTrue;
    if( (aConst[k].tag & HP_NUM)==0 ) return 1;
    if( pDef->eAgg==HP_AGG_COUNT ){
      v.i = *(const i64*)pState;
    }else{
      tag = hpResultSum(pState, pDef->pFunc, &v);
      if( tag==0 ) return 1;
      if( tag==HP_NULL ) return 0;
    }
    c = hpVecValCompare(tag, v, 0, aConst[k].tag, aConst[k].val, 0, 0);
    switch( pHaving->op ){
      case TK_GT:  bTrue = c>0;   break;
      case TK_GE:  bTrue = c>=0;  break;
      case TK_LT:  bTrue = c<0;   break;
      case TK_LE:  bTrue = c<=0;  break;
      case TK_EQ:  bTrue = c==0;  break;
      default:
        assert( pHaving->op==TK_NE );
        bTrue = c!=0;
        break;
    }
    if( !bTrue ) return 0;
  }
  return 1;
}

/*
** The result of aggregate pDef of group aGroup: returns its type, and sets *pVal and, of
** a text, *pn.  0: it is not known, or an error.  Texts stay in the group.
*/
static u8 hpResultValue(
  const HpAggDef *pDef,
  const u8 *aGroup,
  HpVal *pVal,
  u32 *pn
){
  const void *pState = &aGroup[pDef->iOff];
  pVal->i = 0;
  switch( pDef->eAgg ){
    case HP_AGG_COUNT:
      pVal->i = *(const i64*)pState;
      return HP_INT;
    case HP_AGG_SUM:
      return hpResultSum(pState, pDef->pFunc, pVal);
    case HP_AGG_MIN: case HP_AGG_MAX: {
      const HpKept *pBest = &((const HpBest*)pState)->copy;
      if( pBest->tag==0 ) return HP_NULL;
      assert( pBest->tag!=HP_NULL );  /* They pass NULLs over */
      *pVal = pBest->val;
      if( pBest->tag & HP_STR ) *pn = pBest->n;
      return pBest->tag;
    }
  }
  return 0;
}

/* Set register pMem to a value */
static void hpResultSet(Mem *pMem, u8 tag, HpVal v, u32 n){
  switch( tag ){
    case HP_INT:
      sqlite3VdbeMemSetInt64(pMem, v.i);
      break;
    case HP_REAL:
      sqlite3VdbeMemSetDouble(pMem, v.r);
      break;
    case HP_TEXT:
    case HP_BLOB:
      hpKeyMemStr(pMem, tag, v.z, n);
      break;
    default:
      sqlite3VdbeMemSetNull(pMem);
      break;
  }
}

/*
** Make register pMem an aggregate context of nByte zero bytes, as
** sqlite3_aggregate_context() would, and return them, or NULL.
*/
static void *hpResultCall(Mem *pMem, FuncDef *pFunc, int nByte){
  if( sqlite3VdbeMemClearAndResize(pMem, nByte) ) return 0;
  pMem->flags = MEM_Agg;
  pMem->u.pDef = pFunc;
  memset(pMem->z, 0, nByte);
  return pMem->z;
}

/*
** Copy a group into the registers aMem[].  pBuf is scratch.
*/
static int hpResultLoad(HpPipe *p, u8 *aGroup, Mem *aMem, HpBuf *pBuf){
  const HpGroupPlan *pPlan = hpGroupOf(p->pEntry);
  const HpHead *pHead = hpGroupHead(pPlan, aGroup);
  int k;
  assert( pPlan->entry.bRows==0 && hpGroupIsSane(pPlan, aGroup) );
  if( hpGroupIsInt(pPlan, aGroup) ){
    sqlite3VdbeMemSetInt64(&aMem[pPlan->iKeyReg], (i64)hpGroupPack(aGroup)->a);
  }else if( pPlan->keys.n ){
    hpKeyToMem(&pPlan->keys, pHead->z, pHead->nNorm, &aMem[pPlan->iKeyReg], pBuf);
  }
  for(k=0; k<pPlan->nBare; k++){
    const struct HpBare *pBare = &pPlan->aBare[k];
    Mem *pMem = &aMem[pPlan->iBareReg+k];
    if( pBare->iKey>=0 ){
      sqlite3VdbeMemShallowCopy(pMem, &aMem[pPlan->iKeyReg+pBare->iKey],
                                MEM_Ephem);
    }else if( pBare->iRel>=0 ){
      HpVal v;
      u32 n;
      assert( *hpGroupRow(pBare, aGroup)<=p->pQuery->apRel[pBare->iRel]->nRow );
      u8 tag = hpRelValue(&p->pQuery->apRel[pBare->iRel]->aCol[pBare->iRelCol],
                          (u32)*hpGroupRow(pBare, aGroup), &v, &n);
      hpResultSet(pMem, tag, v, n);
    }else{
      const HpKept *pCopy = hpGroupBare(pBare, aGroup);
      hpResultSet(pMem, pCopy->tag, pCopy->val, pCopy->n);
    }
  }
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    Mem *pMem = &aMem[pPlan->iFuncReg+k];
    void *pState = hpGroupState(pDef, aGroup);
    HpVal val;
    u32 n = 0;
    u8 tag = hpResultValue(pDef, aGroup, &val, &n);
    if( tag & HP_NUM ){
      hpResultSet(pMem, tag, val, 0);
      continue;
    }
    switch( pDef->eAgg ){
      case HP_AGG_SUM: {
        SumCtx *pCtx = hpResultCall(pMem, pDef->pFunc, sizeof(*pCtx));
        if( pCtx ) hpSumCtx(pState, pCtx);
        break;
      }
      case HP_AGG_CALL: {
        Mem *pFrom = pState;
        if( pFrom->db ){
          sqlite3VdbeMemMove(pMem, pFrom);
        }else{
          sqlite3VdbeMemSetNull(pMem);
        }
        break;
      }
      case HP_AGG_ORDER:
      case HP_AGG_LOG: {
        int rc = hpAggAheadLoad(p, aGroup, pDef, pMem);
        if( rc ) return rc;
        break;
      }
      default: {
        const HpKept *pBest = &((HpBest*)pState)->copy;
        Mem *pCtx = hpResultCall(pMem, pDef->pFunc, sizeof(*pCtx));
        if( pCtx && pBest->tag ){
          sqlite3VdbeMemInit(pCtx, p->pQuery->db, MEM_Null);
          hpResultSet(pCtx, pBest->tag, pBest->val, pBest->n);
        }
        break;
      }
    }
  }
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
