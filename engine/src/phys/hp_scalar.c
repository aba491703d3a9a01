/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_scalar: sub-selects that have one value, or one set of values, for all
** rows (prepare time).
**
**    hpScalarSub()    compile either (HpCompile.xSub); hp_deliver.c codes it
**
** Which these are is said in hp_subselect.c.  SQLite's code of one is a
** subroutine, so ours calls that before the scan: whoever comes second takes
** the result.
**
** The values of IN (SELECT ...) SQLite puts into a table of its own, unless an
** index has them.  hp_set.c reads that when it is made.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The pipe of a set: all values of cursor iCsr, under collation pColl.
*/
static int hpScalarPipe(HpCompile *pC, HpPipePlan *pPipe, int iCsr,
                        CollSeq *pColl){
  HpPlan *pPlan = pC->pPlan;
  HpSourcePlan *pSource = &pPipe->source;
  HpRelPlan *pRel = hpCompileAlloc(pPlan, sizeof(*pRel));
  HpOp op;
  int iVec;
  assert( pPlan->nSet<HP_MX_SET && pPipe==&pPlan->aSet[pPlan->nSet].pipe );
  pPipe->prog.pMem = &pPlan->mem;
  pPipe->pSink = &hpSinkRel;
  pPipe->bSerial = 1;
  pPipe->pRel = pRel;
  pSource->pType = &hpSetType;
  pSource->iCsr = iCsr;
  pSource->nCol = 1;
  pSource->aCol = hpCompileAlloc(pPlan, sizeof(HpCol));
  memset(&op, 0, sizeof(op));
  op.eOp = HP_OP_COLUMN;
  iVec = hpProgOp(&pPipe->prog, &op);
  if( pRel==0 || pSource->aCol==0 || iVec<0
   || hpCompileKeys(pPlan, &pRel->key.keys, 1)
  ){
    return SQLITE_NOMEM;
  }
  pRel->bSemi = 1;
  pRel->iRel = 2*(pPlan->nPipe-1) + pPlan->nSet;
  pRel->key.aNever = hpCompileAlloc(pPlan, 1);
  pRel->key.keys.n = 1;
  pRel->key.keys.aVec[0] = (u16)iVec;
  pRel->key.keys.aSort[0] = 0;
  pRel->key.keys.aColl[0] = pColl;
  return pRel->key.aNever ? SQLITE_OK : SQLITE_NOMEM;
}

/*
** The vector of pExpr, an IN of which hpSubselectIsSet() is true, or -1.
*/
static int hpScalarSet(HpCompile *pC, Expr *pExpr){
  HpPlan *pPlan = pC->pPlan;
  Parse *pParse = pC->pParse;
  Expr *pLeft = pExpr->pLeft;
  Expr *pRight = pExpr->x.pSelect->pEList->a[0].pExpr;
  u8 aff = (u8)sqlite3CompareAffinity(pRight, sqlite3ExprAffinity(pLeft));
  HpLookup *pKey = hpCompileAlloc(pPlan, sizeof(*pKey));
  CollSeq *pColl;
  u16 aArg[1];
  HpOp x;
  int a, i;
  if( pPlan->aSet==0 ) pPlan->aSet = hpCompileAlloc(pPlan,
      HP_MX_SET*sizeof(HpSetPlan));
  if( pKey==0 || pPlan->aSet==0 || hpCompileKeys(pPlan, &pKey->keys, 1) ){
    return hpCompileNo(pC, HP_NO_LIMIT);
  }
  if( !hpCompileCollOk(sqlite3BinaryCompareCollSeq(pParse, pLeft, pRight),
                       &pColl) ){
    return hpCompileNo(pC, HP_NO_COLLATION);
  }
  a = hpCompileExpr(pC, pLeft);
  if( a>=0 && aff>SQLITE_AFF_BLOB ) a = hpCompileAff(pC, HP_OP_AFFINITY, aff,
                                                     a);
  if( a<0 ) return -1;
  for(i=0; i<pPlan->nSet && pPlan->aSet[i].pExpr!=pExpr; i++){}
  if( i==pPlan->nSet ){
    if( i==HP_MX_SET
     || hpScalarPipe(pC, &pPlan->aSet[i].pipe, pExpr->iTable, pColl)
    ){
      return hpCompileNo(pC, HP_NO_LIMIT);
    }
    pPlan->aSet[pPlan->nSet++].pExpr = pExpr;
  }
  pKey->keys.n = 1;
  pKey->keys.aVec[0] = aArg[0] = (u16)a;
  pKey->keys.aSort[0] = 0;
  pKey->keys.aColl[0] = pColl;
  memset(&x, 0, sizeof(x));
  x.eOp = HP_OP_SET;
  x.a = (u16)i;
  x.pInfo = pKey;
  return hpCompileArgs(pC, &x, aArg, 1);
}

/*
** The vector of pExpr, a sub-select or an IN of one, or -1.
*/
static int hpScalarSub(HpCompile *pC, Expr *pExpr){
  int a;
  if( pExpr->op==TK_AGG_FUNCTION ) return hpCompileNo(pC, HP_NO_OTHER);
  if( pExpr->op==TK_IN ){
    if( hpSubselectIsSet(pC->pParse, pExpr) ) return hpScalarSet(pC, pExpr);
  }else if( hpSubselectIsConst(pC->pParse, pExpr) ){
    a = hpCompileConst(pC, pExpr);
    return a<0 ? hpCompileNo(pC, HP_NO_LIMIT) : a;
  }
  return hpCompileNo(pC, HP_NO_SUBQUERY);
}
#endif /* SQLITE_OMIT_HP */
