/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_outkeyed: output KEYED: groups that rows around a sub-select look up
** (prepare time).
**
**    hpOutKeyed()    the plan of a correlated sub-select
**
** The keys are the inner sides of the equalities that tie the sub-select to the
** rows around it.  hp_codefind.c says where it stands, hp_find.c what is done
** at run time.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* What a side of a term names: columns of the table scanned, of others */
#define HP_SIDE_INNER  1
#define HP_SIDE_OUTER  2

static int hpOutKeyedWalkExpr(Walker *pWalker, Expr *pExpr){
  switch( pExpr->op ){
    case TK_COLUMN:
      pWalker->eCode |= pExpr->iTable==pWalker->u.iCur ? HP_SIDE_INNER
          : HP_SIDE_OUTER;
      break;
    case TK_AGG_COLUMN: case TK_AGG_FUNCTION: case TK_TRIGGER: case TK_REGISTER:
    case TK_IF_NULL_ROW:
      pWalker->eCode |= HP_SIDE_OUTER;
      break;
    case TK_SELECT: case TK_EXISTS:
      pWalker->eCode |= HP_SIDE_INNER|HP_SIDE_OUTER;
      return WRC_Abort;
  }
  return WRC_Continue;
}

/* HP_SIDE_xxx of pExpr; both if it has a sub-select */
static int hpOutKeyedSide(const HpCompile *pC, Expr *pExpr){
  Walker w;
  memset(&w, 0, sizeof(w));
  w.pParse = pC->pParse;
  w.xExprCallback = hpOutKeyedWalkExpr;
  w.xSelectCallback = sqlite3SelectWalkFail;
  w.u.iCur = pC->iCur;
  if( sqlite3WalkExpr(&w, pExpr)==WRC_Abort ){
    return HP_SIDE_INNER|HP_SIDE_OUTER;
  }
  return w.eCode;
}

/* May pExpr be computed when SQLite would not?  A column of a query that
** aggregates may, if nothing is made of it. */
static int hpOutKeyedIsSafe(const HpCompile *pC, Expr *pExpr){
  return sqlite3ExprSkipCollate(pExpr)->op==TK_AGG_COLUMN
      || hpSafe(pC->pParse, pExpr, 0, 0);
}

/*
** Make a key of the equality pTerm between something of the table and something
** of others.
*/
static int hpOutKeyedKey(HpCompile *pC, Expr *pTerm){
  HpKeyed *pKeyed = pC->pPlan->pKeyed;
  HpGroupPlan *pGroup = pC->pPipe->pGroup;
  int k = pKeyed->nKey;
  Expr *pOwn = pTerm->pLeft;
  Expr *pOther = pTerm->pRight;
  CollSeq *pColl;
  u8 aff;
  char affOwn;
  int iVec;
  assert( k==pGroup->keys.n );
  if( (pTerm->op!=TK_EQ && pTerm->op!=TK_IS) || k>=HP_MX_EQ ){
    return SQLITE_ERROR;
  }
  if( sqlite3ExprIsVector(pOwn) || sqlite3ExprIsVector(pOther) ){
    return SQLITE_ERROR;
  }
  pColl = sqlite3ExprCompareCollSeq(pC->pParse, pTerm);
  aff = (u8)binaryCompareP5(pOwn, pOther, 0) & SQLITE_AFF_MASK;
  if( hpOutKeyedSide(pC, pOwn)!=HP_SIDE_INNER ) SWAP(Expr*, pOwn, pOther);
  if( hpOutKeyedSide(pC, pOwn)!=HP_SIDE_INNER
   || hpOutKeyedSide(pC, pOther)!=HP_SIDE_OUTER
   || !hpOutKeyedIsSafe(pC, pOwn) || !hpOutKeyedIsSafe(pC, pOther)
   || !hpCompileCollOk(pColl, &pGroup->keys.aColl[k])
  ){
    return SQLITE_ERROR;
  }
  affOwn = sqlite3ExprAffinity(pOwn);
  iVec = hpCompileExpr(pC, pOwn);
  if( aff>=SQLITE_AFF_NUMERIC ){
    aff = SQLITE_AFF_NUMERIC;
    if( affOwn<SQLITE_AFF_NUMERIC ) iVec = hpCompileAff(pC, HP_OP_AFFINITY, aff,
                                                        iVec);
  }else if( aff==SQLITE_AFF_TEXT && affOwn!=SQLITE_AFF_TEXT ){
    /* Numbers would be compared with numbers as they are */
    return SQLITE_ERROR;
  }
  if( iVec<0 ) return SQLITE_ERROR;
  pGroup->keys.aVec[k] = (u16)iVec;
  pGroup->keys.aSort[k] = 0;
  pKeyed->aKey[k].pExpr = pOther;
  pKeyed->aKey[k].pOwn = pOwn;
  pKeyed->aKey[k].aff = aff;
  pKeyed->aKey[k].bNull = pTerm->op==TK_IS;
  pGroup->keys.n = ++pKeyed->nKey;
  return SQLITE_OK;
}

/* Compile the terms of pWhere: filters and keys */
static int hpOutKeyedWhere(HpCompile *pC, Expr *pWhere){
  if( pWhere==0 ) return SQLITE_OK;
  if( pWhere->op==TK_AND ){
    if( hpOutKeyedWhere(pC, pWhere->pLeft) ) return SQLITE_ERROR;
    return hpOutKeyedWhere(pC, pWhere->pRight);
  }
  if( hpOutKeyedSide(pC, pWhere) & HP_SIDE_OUTER ){
    return hpOutKeyedKey(pC, pWhere);
  }
  return hpSafe(pC->pParse, pWhere, 0, 0) ? hpCompileExprWhere(pC, pWhere)
                                                 : SQLITE_ERROR;
}

static int hpOutKeyedBegin(HpCompile *pC){
  const AggInfo *pAggInfo = pC->pAggInfo;
  HpPlan *pPlan = pC->pPlan;
  HpGroupPlan *pGroup = hpCompileGroups(pC, pAggInfo ? pAggInfo->nFunc : 0, 0);
  pPlan->pKeyed = hpCompileAlloc(pPlan, sizeof(*pPlan->pKeyed));
  if( pGroup==0 || pPlan->pKeyed==0 ) return SQLITE_NOMEM;
  return hpCompileKeys(pPlan, &pGroup->keys, HP_MX_EQ);
}

/* The aggregates of a group; its keys are terms of the WHERE clause */
static int hpOutKeyedSink(HpCompile *pC){
  HpGroupPlan *pGroup = pC->pPipe->pGroup;
  int i;
  if( pGroup->keys.n==0 ) return SQLITE_ERROR;
  for(i=0; i<pGroup->nAgg; i++){
    if( hpCompileAgg(pC, &pC->pAggInfo->aFunc[i], &pGroup->aAgg[i])
     || pGroup->aAgg[i].eAgg>=HP_AGG_CALL || pGroup->aAgg[i].iSet>=0
    ){
      return SQLITE_ERROR;
    }
  }
  assert( pGroup->nBare==0 && pGroup->nSet==0 && pGroup->nLate==0 );
  pGroup->entry.szEntry = hpLayoutGroup(pGroup);
  return SQLITE_OK;
}

static const HpOutput hpOutKeyedType = {
  HP_IN(HP_LOP_SCAN),    /* Of joins the outer sides would have to be told */
  HP_OUT_THREADS, HP_NO_SUBQUERY,
  hpOutKeyedBegin, hpOutKeyedWhere, hpOutKeyedSink, 0
};

/*
** The plan of correlated sub-select p, with the aggregates of pAggInfo, or
** NULL: EXISTS.  Returns NULL if it is refused.
*/
static HpPlan *hpOutKeyed(Parse *pParse, Select *p, AggInfo *pAggInfo){
  SrcItem *pItem = &p->pSrc->a[0];
  u8 bFind = pItem->hp.bFind;
  HpLop in, top;
  HpPlan *pPlan;
  assert( p->pSrc->nSrc==1 && p->pGroupBy==0 && HasRowid(pItem->pSTab) );
  memset(&pItem->hp, 0, sizeof(pItem->hp));
  pItem->hp.bWhole = pItem->hp.bByRowid = 1;
  pItem->hp.bPlain = bFind==0;
  hpLopTree(&top, HP_LOP_KEYED, p, &in, pItem, p->pWhere, 0);
  top.pAggInfo = pAggInfo;
  pPlan = hpLower(pParse, &top, &hpOutKeyedType);
  if( pPlan ) pPlan->bGuess = bFind;
  return pPlan;
}
#endif /* SQLITE_OMIT_HP */
