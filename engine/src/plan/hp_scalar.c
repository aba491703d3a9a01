/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_scalar: sub-selects that have one value for all rows (prepare time).
**
**    hpScalarIsConst()    may its value be a constant of a program?
**    hpScalarCode()       code that
**
** SQLite evaluates such a sub-select once, when the first row gets to it.  Its code is a
** subroutine, so ours calls that before the scan: whoever comes second takes the result.
** But then it is evaluated even if no row gets to it.  So it must not fail, nor call
** the application: an integer sum that overflows would be an error that SQLite does not
** raise.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Can the aggregate function pExpr not fail? */
static int hpScalarAggregate(const Expr *pExpr){
  const FuncDef *pDef;
  const Expr *pArg;
  if( pExpr->pAggInfo==0 ) return 0;
  pDef = pExpr->pAggInfo->aFunc[pExpr->iAgg].pFunc;
  if( (pDef->funcFlags & SQLITE_FUNC_BUILTIN)==0 ) return 0;
  if( pDef->xFinalize==countFinalize || pDef->xFinalize==avgFinalize
   || pDef->xFinalize==totalFinalize || pDef->xFinalize==minMaxFinalize
  ){
    return 1;
  }
  if( pDef->xFinalize!=sumFinalize || pExpr->x.pList==0 ) return 0;
  /* Of a REAL column there are no integers */
  pArg = sqlite3ExprSkipCollate(pExpr->x.pList->a[0].pExpr);
  return (pArg->op==TK_COLUMN || pArg->op==TK_AGG_COLUMN) && pArg->iColumn>=0
      && pArg->y.pTab!=0 && pArg->y.pTab->aCol[pArg->iColumn].affinity==SQLITE_AFF_REAL;
}

static int hpScalarWalkExpr(Walker *pWalker, Expr *pExpr){
  switch( pExpr->op ){
    case TK_AGG_FUNCTION:
      if( ExprHasProperty(pExpr, EP_WinFunc) || !hpScalarAggregate(pExpr) ) break;
      return WRC_Continue;
    case TK_AGG_COLUMN: case TK_SELECT: case TK_EXISTS:
      return WRC_Continue;
    default:
      return hpCompileSafeExpr(pWalker, pExpr);
  }
  pWalker->eCode = 0;
  return WRC_Abort;
}

/* Virtual tables may do anything */
static int hpScalarWalkSelect(Walker *pWalker, Select *p){
  int i;
  for(i=0; p->pSrc && i<p->pSrc->nSrc; i++){
    const SrcItem *pItem = &p->pSrc->a[i];
    if( pItem->fg.isSubquery==0 && !IsOrdinaryTable(pItem->pSTab) ){
      pWalker->eCode = 0;
      return WRC_Abort;
    }
  }
  return WRC_Continue;
}

/*
** May the value of sub-select pExpr be a constant of a program?  SQLite's code for the
** query has been made.
*/
static int hpScalarIsConst(Parse *pParse, Expr *pExpr){
  Walker w;
  assert( pExpr->op==TK_SELECT || pExpr->op==TK_EXISTS );
  if( ExprHasProperty(pExpr, EP_VarSelect) || !ExprHasProperty(pExpr, EP_Subrtn)
   || pExpr->x.pSelect->pEList->nExpr!=1 || pExpr->iTable<=0
  ){
    return 0;
  }
  memset(&w, 0, sizeof(w));
  w.pParse = pParse;
  w.eCode = 1;
  w.xExprCallback = hpScalarWalkExpr;
  w.xSelectCallback = hpScalarWalkSelect;
  sqlite3WalkSelect(&w, pExpr->x.pSelect);
  return w.eCode;
}

/*
** Code the value of sub-select pExpr into register iReg.
*/
static void hpScalarCode(Parse *pParse, const Expr *pExpr, int iReg){
  Vdbe *v = pParse->pVdbe;
  assert( ExprHasProperty(pExpr, EP_Subrtn) && pExpr->iTable>0 );
  sqlite3VdbeAddOp2(v, OP_Gosub, pExpr->y.sub.regReturn, pExpr->y.sub.iAddr);
  sqlite3VdbeAddOp2(v, OP_Copy, pExpr->iTable, iReg);
}
#endif /* SQLITE_OMIT_HP */
