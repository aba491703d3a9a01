/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_lowerunion: the pipes of the arms of a UNION ALL (prepare time).
**
**    hpLowerUnionEnter()    go on with an arm: compile for its pipe
**    hpLowerUnionWhere()    its filters
**
** A column of the sub-select is, in the pipe of an arm, what that arm has for
** it (hp_union.c).  SQLite computes the columns of all rows that pass the arm's
** own WHERE clause.  So they must not fail, unless there are no other filters.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** HpCompile.xOther: the vector of pExpr if that is a column of the sub-select,
** else -2.
*/
static int hpLowerUnionColumn(HpCompile *pC, Expr *pExpr, int bJump){
  u8 bNoSub = pC->bNoSub;
  const Column *pCol;
  Expr *pOwn;
  int iVec;
  UNUSED_PARAMETER(bJump);
  assert( pC->pArm!=0 && pC->nSelf==0 );
  if( (pExpr->op!=TK_COLUMN && pExpr->op!=TK_AGG_COLUMN)
   || pExpr->iTable!=pC->iArms
  ){
    return -2;
  }
  if( ExprHasProperty(pExpr, EP_FixedCol)
   && sqlite3ExprIsConstant(pC->pParse, pExpr)
  ){
    return -2;
  }
  if( pExpr->iColumn<0 || pExpr->iColumn>=pC->pArm->pEList->nExpr ){
    return hpCompileNo(pC, HP_NO_COLUMN);
  }
  pOwn = pC->pArm->pEList->a[pExpr->iColumn].pExpr;
  pCol = &pExpr->y.pTab->aCol[pExpr->iColumn];
  /* SQLite drops a subtype between the two */
  if( sqlite3ExprCanReturnSubtype(pC->pParse, pOwn) ){
    return hpCompileNo(pC, HP_NO_OTHER);
  }
  /* ... and computes the column whatever is done with it */
  pC->bNoSub = 0;
  iVec = hpCompileExpr(pC, pOwn);
  pC->bNoSub = bNoSub;
  if( iVec<0 || pCol->affinity!=SQLITE_AFF_REAL ) return iVec;
  /* SQLite shows integers of such a column as reals */
  if( sqlite3ExprAffinity(pOwn)==SQLITE_AFF_REAL ) return iVec;
  if( sqlite3ExprDataType(pOwn) & 0x06 ) return hpCompileNo(pC, HP_NO_COLUMN);
  return hpCompileAff(pC, HP_OP_CAST, SQLITE_AFF_REAL, iVec);
}

/*
** From now on compile for pipe iPipe, which scans the table of arm p of pItem.
*/
static void hpLowerUnionEnter(HpCompile *pC, const SrcItem *pItem, Select *p,
                              int iPipe){
  const SrcItem *pOwn = &p->pSrc->a[0];
  HpPipePlan *pPipe = &pC->pPlan->aPipe[iPipe];
  assert( iPipe>=0 && iPipe<pC->pPlan->nPipe && p->pSrc->nSrc==1 );
  assert( hpUnionIsPlain(p) && (iPipe==0)==(p->pPrior==0) );
  hpCompileSource(pC->pParse, pPipe, pOwn->pSTab, pOwn->hp.pIdx);
  hpCompileFor(pC, pPipe, pOwn->pSTab, pOwn->hp.pIdx, pOwn->iCursor);
  pPipe->bMore = iPipe<pC->pPlan->nPipe-1;
  pPipe->bAdds = iPipe>0;
  pC->pArm = p;
  pC->iArms = pItem->iCursor;
  pC->xOther = hpLowerUnionColumn;
  pC->nRangeTerm = 0;
}

/*
** Compile the WHERE clause of the arm of now, then pOuter, that of the query
** around it.
*/
static int hpLowerUnionWhere(HpCompile *pC, Expr *pOuter){
  Select *p = pC->pArm;
  SrcItem *pOwn = &p->pSrc->a[0];
  ExprList *pEList = p->pEList;
  int i;
  assert( pC->pPipe->prog.nFilter==0 && pC->nRangeTerm==0 );
  if( !hpSafe(pC->pParse, 0, pEList, pOuter ? 0 : HP_SAFE_EACH) ){
    hpCompileNo(pC, HP_NO_OTHER);
    return SQLITE_ERROR;
  }
  if( hpRangeCompile(pC, pOwn, p->pWhere) || hpCompileExprWhere(pC, p->pWhere)
  ){
    return SQLITE_ERROR;
  }
  for(i=0; pOuter==0 && i<pEList->nExpr; i++){
    Expr *pExpr = pEList->a[i].pExpr;
    if( hpSafe(pC->pParse, pExpr, 0, 0) ) continue;
    if( hpCompileExpr(pC, pExpr)<0 ) return SQLITE_ERROR;
  }
  return hpCompileExprWhere(pC, pOuter);
}
#endif /* SQLITE_OMIT_HP */
