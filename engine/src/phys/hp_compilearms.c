/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_compilearms: AND, OR, CASE, COALESCE: lists of terms that SQLite computes
** as far as it needs them (prepare time).
**
**    hpCompileArmsLogic()     AND and OR
**    hpCompileArmsCase()      CASE and iif()
**    hpCompileArmsCoalesce()  COALESCE() and ifnull()
**
** Terms are compiled by HpCompile.xExpr.
**
** A list is compiled from left to right.  The rest of it becomes a side
** (hp_compileside.c) of the rows that are not decided yet if it is dear enough,
** or if a function in it may fail.  The rest is then compiled by a call of the
** same function within that side, and this list ends with it.  So sides nest,
** and a row that is decided is out of all of them.  Otherwise the next term is
** computed for all rows that are here.  THEN and ELSE may be sides of their
** own, for the rows that take them.  With sides in brackets, f() a function:
**
**    a OR b OR f(c) OR d       Or(Or(a, b), [ f(c) OR d ])
**
**    CASE WHEN a THEN x WHEN f(b) THEN f(y) ELSE z END
**                              Case(a, x, [ Case(f(b), [f(y)], z) ])
**
** aCost[i] is what the terms from i on cost together.  From it hpCostIsSide()
** knows what the lists around have computed before, too.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The vector of terms i to nTerm-1, which pExpr->op connects.  aCost[k] is what
** terms k and later cost.  bMust: those after the first may fail, and stock
** does not come to them where it is decided.  bMay: they may be left out there.
*/
static int hpCompileTerms(
  HpCompile *pC,
  Expr **apTerm,
  const int *aCost,
  int i,
  int nTerm,
  int bOr,
  int bJump,             /* Stock codes them as jumps */
  int bMay
){
  u8 eOp = bOr ? HP_OP_OR : HP_OP_AND;
  int iFirst = i;
  int a = -1;
  assert( i>=0 && i<nTerm && nTerm<=HP_MX_LIST );
  assert( aCost[i]>=aCost[nTerm] && aCost[nTerm]==0 );
  for(; i<nTerm; i++){
    u16 aVec[1];
    int bMust = 0;
    int iSide = 0;
    int b, k;
    if( i>iFirst && bMay ){
      for(k=i; bJump && k<nTerm && bMust==0; k++){
        bMust = hpSafeHasCall(pC->pParse, apTerm[k]);
      }
      aVec[0] = (u16)a;
      if( hpCompileSideIf(pC,
              hpCostIsSide(aCost[0]-aCost[iFirst], aCost[iFirst]-aCost[i],
                           aCost[i]),
              bMust, bOr ? HP_NEED_NOT_TRUE : HP_NEED_NOT_FALSE, aVec, 1,
                &iSide)
      ){
        return -1;
      }
    }
    if( iSide ){
      b = hpCompileTerms(pC, apTerm, aCost, i, nTerm, bOr, bJump, bMay);
      return hpCompileSideJoin(pC, eOp, a, b, hpCompileSideEnd(pC, iSide, b));
    }
    pC->bJump = (u8)bJump;
    b = pC->xExpr(pC, apTerm[i]);
    a = i==iFirst ? b : hpCompileOp(pC, eOp, 0, a, b);
    if( a<0 ) return -1;
  }
  return a;
}

/*
** The vector of pExpr, an AND or OR.  Terms that one operator connects are a
** chain:  what it has decided for a row leaves the selection.
**
** As jumps stock comes to a term where those before do not decide.  Only a term
** without a sub-select may come before those that have one, in all rows.
** Otherwise stock computes all terms, so that those which may fail have to be
** computed in all rows.
*/
static int hpCompileArmsLogic(HpCompile *pC, Expr *pExpr, int bJump){
  Parse *pParse = pC->pParse;
  Expr **apTerm;
  int *aCost;
  int bMay = 1;
  int bSub = 0;
  int n = 1;
  int i;
  u8 op = pExpr->op;
  Expr *p;
  assert( op==TK_AND || op==TK_OR );
  for(p=pExpr; p->op==op && n<HP_MX_LIST; p=p->pLeft) n++;
  /* Expressions nest deeply: not on the stack */
  apTerm = hpCompileAlloc(pC->pPlan, (i64)n*sizeof(Expr*));
  aCost = hpCompileAlloc(pC->pPlan, ((i64)n+1)*sizeof(int));
  if( apTerm==0 || aCost==0 ) return hpCompileNo(pC, HP_NO_LIMIT);
  for(i=n-1, p=pExpr; i>0; i--, p=p->pLeft) apTerm[i] = p->pRight;
  apTerm[0] = p;
  for(aCost[n]=0, i=n-1; i>=0; i--){
    aCost[i] = aCost[i+1] + hpCostExpr(pParse, apTerm[i]);
  }
  assert( p->op!=op || n==HP_MX_LIST );
  for(i=0; i<n; i++){
    int bHas = ExprHasProperty(apTerm[i], EP_Subquery)!=0;
    if( i>0 && (bJump==0 || (bSub && bHas==0))
     && !hpCompileSideIsSafe(pParse, apTerm[i])
    ){
      bMay = 0;
    }
    bSub |= bHas;
  }
  return hpCompileTerms(pC, apTerm, aCost, 0, n, op==TK_OR, bJump, bMay);
}

/* The last expression of pList that may fail, or -1.  bCase: of its WHENs */
static int hpArmsLastCall(HpCompile *pC, const ExprList *pList, int bCase){
  int i = pList->nExpr-1;
  if( bCase ) i = i%2 ? i-1 : i-2;
  while( i>=0 && !hpSafeHasCall(pC->pParse, pList->a[i].pExpr) ){
    i -= bCase ? 2 : 1;
  }
  assert( bCase==0 || i<0 || i%2==0 );     /* WHENs stand there */
  return i;
}

/*
** The vector of CASE pBase WHEN ... with or without pBase, from item i of pList
** on.  aCost[k] is what items k and later cost, and iFunc the last WHEN that
** may fail.
*/
static int hpCompileArms(
  HpCompile *pC,
  Expr *pBase,
  ExprList *pList,
  int i,
  const int *aCost,
  int iFunc
){
  int nExpr = pList->nExpr;
  u16 *aVec = hpCompileAlloc(pC->pPlan, ((i64)nExpr-i+1)*sizeof(u16));
  u16 *aWhen = hpCompileAlloc(pC->pPlan, ((i64)nExpr-i+1)*sizeof(u16));
  int iFirst = i;
  int bSide = 0;
  int nVec = 0;
  int nWhen = 0;
  int iSide = 0;
  int a;
  assert( i%2==0 && i<nExpr-1 && iFunc<nExpr );    /* A WHEN */
  assert( pBase==0 || !sqlite3ExprIsVector(pBase) );
  if( aVec==0 || aWhen==0 ) return hpCompileNo(pC, HP_NO_LIMIT);
  while( i<nExpr && iSide==0 ){
    Expr *pItem = pList->a[i].pExpr;
    u8 eNeed = HP_NEED_NOT_TRUE;       /* ELSE, or all that is left */
    if( nWhen>0 && i<nExpr-1
     && hpCompileSideIf(pC,
            hpCostIsSide(aCost[0]-aCost[iFirst], aCost[iFirst]-aCost[i],
                         aCost[i]),
            iFunc>=i, HP_NEED_NOT_TRUE, aWhen, nWhen, &iSide)
    ){
      return -1;
    }
    if( iSide ){
      a = hpCompileArms(pC, pBase, pList, i, aCost, iFunc);
      bSide |= hpCompileSideEnd(pC, iSide, a);
      if( a<0 ) return -1;
      aVec[nVec++] = (u16)a;
      break;
    }
    if( i<nExpr-1 ){
      if( pBase ){
        a = hpCompileCompare(pC, TK_EQ, pBase, pItem,
                sqlite3BinaryCompareCollSeq(pC->pParse, pBase, pItem));
      }else{
        pC->bJump = 1;
        a = pC->xExpr(pC, pItem);
      }
      if( a<0 ) return -1;
      aVec[nVec++] = aWhen[nWhen++] = (u16)a;
      pItem = pList->a[++i].pExpr;
      eNeed = HP_NEED_FIRST;
    }
    /* THEN, or ELSE */
    if( hpCompileSideIf(pC, hpCostIsSide(0, 0, hpCostExpr(pC->pParse, pItem)),
            hpSafeHasCall(pC->pParse, pItem), eNeed, aWhen, nWhen, &iSide)
    ){
      return -1;
    }
    a = pC->xExpr(pC, pItem);
    bSide |= hpCompileSideEnd(pC, iSide, a);
    iSide = 0;
    if( a<0 ) return -1;
    aVec[nVec++] = (u16)a;
    i++;
  }
  assert( nVec<=nExpr-iFirst+1 && nWhen<nVec );
  return hpCompileSideChoice(pC, HP_OP_CASE, aVec, nVec, bSide);
}

/*
** The vector of CASE pBase WHEN ... with or without pBase.
*/
static int hpCompileArmsCase(HpCompile *pC, Expr *pBase, ExprList *pList){
  int *aCost = hpCompileAlloc(pC->pPlan, ((i64)pList->nExpr+1)*sizeof(int));
  assert( pList->nExpr>=2 );    /* WHEN and THEN */
  if( aCost==0 || pList->nExpr>HP_MX_LIST ) return hpCompileNo(pC, HP_NO_LIMIT);
  if( pBase && sqlite3ExprIsVector(pBase) ){
    return hpCompileNo(pC, HP_NO_ROWVALUE);
  }
  hpCostList(pC->pParse, pList, 1, aCost);
  return hpCompileArms(pC, pBase, pList, 0, aCost,
                       hpArmsLastCall(pC, pList, 1));
}

/*
** The vector of COALESCE(list), from item i on.  aCost[] and iFunc are as
** above.
*/
static int hpCompileFirst(
  HpCompile *pC,
  ExprList *pList,
  int i,
  const int *aCost,
  int iFunc
){
  u16 *aVec = hpCompileAlloc(pC->pPlan, ((i64)pList->nExpr-i+1)*sizeof(u16));
  int iFirst = i;
  int nVec = 0;
  int iSide = 0;
  int bSide = 0;
  int a;
  assert( i<pList->nExpr && iFunc<pList->nExpr );
  if( aVec==0 ) return hpCompileNo(pC, HP_NO_LIMIT);
  while( i<pList->nExpr && iSide==0 ){
    if( i>iFirst
     && hpCompileSideIf(pC,
            hpCostIsSide(aCost[0]-aCost[iFirst], aCost[iFirst]-aCost[i],
                         aCost[i]),
            iFunc>=i, HP_NEED_NULL, aVec, nVec, &iSide)
    ){
      return -1;
    }
    if( iSide ){
      a = hpCompileFirst(pC, pList, i, aCost, iFunc);
      bSide = hpCompileSideEnd(pC, iSide, a);
    }else{
      a = pC->xExpr(pC, pList->a[i++].pExpr);
    }
    if( a<0 ) return -1;
    aVec[nVec++] = (u16)a;
  }
  assert( nVec>0 && nVec<=pList->nExpr-iFirst );
  if( nVec==1 ) return aVec[0];
  return hpCompileSideChoice(pC, HP_OP_COALESCE, aVec, nVec, bSide);
}

/*
** The vector of COALESCE(list).
*/
static int hpCompileArmsCoalesce(HpCompile *pC, ExprList *pList){
  int *aCost = hpCompileAlloc(pC->pPlan, ((i64)pList->nExpr+1)*sizeof(int));
  if( aCost==0 || pList->nExpr>HP_MX_LIST ) return hpCompileNo(pC, HP_NO_LIMIT);
  hpCostList(pC->pParse, pList, 0, aCost);
  return hpCompileFirst(pC, pList, 0, aCost, hpArmsLastCall(pC, pList, 0));
}
#endif /* SQLITE_OMIT_HP */
