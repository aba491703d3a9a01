/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_subselect: rule: sub-selects of a query that is taken over (prepare time).
**
**    hpSubselectIsTable()  is a term of FROM a table of the file?
**    hpSubselectIsConst()  has it one value for all rows?
**    hpSubselectIsSet()    IN: has it one set of values for all rows?
**    hpSubselectIsStrict() do all rows that get to an expression need its
**                          sub-selects?
**    hpSubselectAny()      has a WHERE clause a correlated sub-select?
**    hpSubselectFind()     the input of a join that a sub-select is
**    hpSubselectInputs()   the correlated sub-selects of a WHERE clause become
**                          inputs of the join
**    hpSubselectAggs()     number of aggregates that an input has in a group
**
** SQLite would run the loop of a correlated sub-select for each row around it.
** If all that ties it to them are equalities it is a table like others of a
** join, whose key need not be unique:
**
**    EXISTS (SELECT 1 FROM orders WHERE o_custkey=c_custkey AND o_totalprice>9)
**      HP_JOIN_MARK: a hash table of the keys.  Is c_custkey in it?
**
**    EXISTS (SELECT 1 FROM line WHERE l_orderkey=o_orderkey
**                                 AND l_suppkey<>s_suppkey)
**      HpInput.bSpan: groups with min(l_suppkey) and max(l_suppkey).  Is one of
**      them another than s_suppkey?
**
**    x > (SELECT 0.2*avg(y) FROM line WHERE l_partkey=p_partkey)
**      HP_JOIN_SINGLE: groups by l_partkey, and a hash table of these.  The
**      aggregates are columns of it; what is made of them is computed for the
**      rows around
**
** The pipes of these are hp_lowersub.c.
**
** A sub-select without columns of the query around it has one value, or one set
** of values, for all rows.  SQLite evaluates it once, when the first row gets
** to it; we do before the scan.  So it must not fail, nor call the application:
** an integer sum that overflows would be an error that SQLite does not raise.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Is pItem, a term of FROM, a table of the file? */
static int hpSubselectIsTable(const SrcItem *pItem){
  return pItem->fg.isSubquery==0 && pItem->fg.viaCoroutine==0
      && IsOrdinaryTable(pItem->pSTab)
          && (pItem->pSTab->tabFlags & TF_Ephemeral)==0;
}

/* Is pExpr, a sub-select or an IN of one, not correlated, a subroutine, and
** safe? */
static int hpSubselectIsSafe(Parse *pParse, const Expr *pExpr){
  assert( ExprUseXSelect(pExpr) );
  return !ExprHasProperty(pExpr, EP_VarSelect)
      && ExprHasProperty(pExpr, EP_Subrtn)
      && pExpr->x.pSelect->pEList->nExpr==1
          && hpSafeSelect(pParse, pExpr->x.pSelect);
}

/*
** May the value of sub-select pExpr be a constant of a program?  SQLite's code
** for the query has been made.
*/
static int hpSubselectIsConst(Parse *pParse, Expr *pExpr){
  assert( pExpr->op==TK_SELECT || pExpr->op==TK_EXISTS );
  return pExpr->iTable>0 && hpSubselectIsSafe(pParse, pExpr);
}

/*
** Are all sub-selects in pExpr evaluated for all rows that get to it?  Only
** then is that before the first row is given, and the application may change
** what they read.
*/
static int hpSubselectIsStrict(const Expr *pExpr){
  if( pExpr==0 || !ExprHasProperty(pExpr, EP_Subquery) ) return 1;
  switch( pExpr->op ){
    case TK_SELECT:
      return 1;
    case TK_IN:
      return !ExprHasProperty(pExpr->pLeft, EP_Subquery);
    case TK_NE: case TK_EQ: case TK_GT: case TK_LE: case TK_LT: case TK_GE:
    case TK_PLUS: case TK_MINUS: case TK_STAR: case TK_SLASH: case TK_NOT:
      return hpSubselectIsStrict(pExpr->pLeft)
          && hpSubselectIsStrict(pExpr->pRight);
  }
  return 0;
}

/*
** May the right side of pExpr, an IN, be a set of a plan?
*/
static int hpSubselectIsSet(Parse *pParse, const Expr *pExpr){
  assert( pExpr->op==TK_IN );
  return ExprUseXSelect(pExpr) && hpSubselectIsSafe(pParse, pExpr)
      && !sqlite3ExprIsVector(pExpr->pLeft);
}

/* Is pExpr a correlated sub-select, but for IN? */
static int hpSubselectIsOne(const Expr *pExpr){
  return (pExpr->op==TK_SELECT || pExpr->op==TK_EXISTS)
      && ExprHasProperty(pExpr, EP_VarSelect);
}

/* Walker callback: stop at such a sub-select */
static int hpSubselectWalkAny(Walker *pWalker, Expr *pExpr){
  if( !hpSubselectIsOne(pExpr) ) return WRC_Continue;
  pWalker->eCode = 1;
  return WRC_Abort;
}

/*
** Has pWhere a correlated sub-select?
*/
static int hpSubselectAny(Expr *pWhere){
  Walker w;
  if( pWhere==0 || !ExprHasProperty(pWhere, EP_Subquery) ) return 0;
  memset(&w, 0, sizeof(w));
  w.xExprCallback = hpSubselectWalkAny;
  sqlite3WalkExpr(&w, pWhere);
  return w.eCode;
}

/* Walker callback: note the AggInfo of aggregate functions */
static int hpSubselectWalkAgg(Walker *pWalker, Expr *pExpr){
  if( pExpr->op!=TK_AGG_FUNCTION ) return WRC_Continue;
  pWalker->u.pNC = (NameContext*)pExpr->pAggInfo;
  return WRC_Prune;
}

/*
** The aggregates of sub-select pSelect, whose code has been made, or NULL:
** there are none, or they are not of one query.
*/
static AggInfo *hpSubselectAggInfo(Select *pSelect){
  Walker w;
  memset(&w, 0, sizeof(w));
  w.xExprCallback = hpSubselectWalkAgg;
  sqlite3WalkExprList(&w, pSelect->pEList);
  return (AggInfo*)w.u.pNC;
}

/*
** Is sub-select pExpr of a form that we do, as far as its clauses tell?
*/
static int hpSubselectIsPlain(const Expr *pExpr){
  const Select *p = pExpr->x.pSelect;
  const SrcItem *pItem;
  int n;
  if( p->pPrior || p->pGroupBy || p->pHaving || p->pWin || p->pWhere==0
   || p->pSrc==0 || p->pSrc->nSrc!=1 || p->pLimit==0 || p->pLimit->pRight
   || !sqlite3ExprIsInteger(p->pLimit->pLeft, &n, 0, 0) || n!=1
  ){
    return 0;
  }
  pItem = &p->pSrc->a[0];
  if( pItem->fg.isRecursive || pItem->fg.isIndexedBy
   || pItem->pSTab==0 || !hpSubselectIsTable(pItem)
  ){
    return 0;
  }
  if( pExpr->op==TK_EXISTS ) return (p->selFlags & SF_Aggregate)==0;
  return (p->selFlags & SF_Aggregate)!=0 && (p->selFlags & SF_Distinct)==0
      && p->pOrderBy==0 && p->pEList->nExpr==1;
}

/*
** The input of sub-select pExpr, or -1.
*/
static int hpSubselectFind(const HpJoin *p, const Expr *pExpr){
  int i;
  for(i=0; i<p->nIn; i++){
    if( p->aIn[i].pSub==pExpr ) return i;
  }
  return -1;
}

/* Walker callback: make inputs of correlated sub-selects */
static int hpSubselectWalkInputs(Walker *pWalker, Expr *pExpr){
  HpJoin *p = (HpJoin*)pWalker->u.pNC;
  HpInput *pInput;
  if( !hpSubselectIsOne(pExpr) || hpSubselectFind(p, pExpr)>=0 ){
    return WRC_Continue;
  }
  assert( p->nTerm==0 );       /* Inputs are made before terms name them */
  pWalker->eCode = 1;
  if( p->nIn>=HP_MX_NODE || ExprHasProperty(pExpr, EP_OuterON)
   || !hpSubselectIsPlain(pExpr)
  ){
    return WRC_Abort;
  }
  pInput = &p->aIn[p->nIn];
  pInput->pItem = &pExpr->x.pSelect->pSrc->a[0];
  pInput->pSub = pExpr;
  pInput->eJoin = HP_JOIN_MARK;
  if( pExpr->op==TK_SELECT ){
    pInput->eJoin = HP_JOIN_SINGLE;
    pInput->pAggInfo = hpSubselectAggInfo(pExpr->x.pSelect);
    if( pInput->pAggInfo==0 || pInput->pAggInfo->nAccumulator ){
      return WRC_Abort;
    }
  }
  pInput->iPipe = pInput->iScan = pInput->iHome = -1;
  pInput->iLookup = pInput->iRow = pInput->iKept = -1;
  pInput->iTwin = pInput->iOnly = -1;
  p->nIn++;
  pWalker->eCode = 0;
  return WRC_Prune;
}

/*
** Add inputs for the correlated sub-selects of pWhere to p.  Returns false if
** one is none of ours.
*/
static int hpSubselectInputs(HpJoin *p, Expr *pWhere){
  Walker w;
  if( pWhere==0 || !ExprHasProperty(pWhere, EP_Subquery) ) return 1;
  memset(&w, 0, sizeof(w));
  w.pParse = p->pParse;
  w.xExprCallback = hpSubselectWalkInputs;
  w.u.pNC = (NameContext*)p;
  sqlite3WalkExpr(&w, pWhere);
  return w.eCode==0;
}

/* Number of the aggregates that pInput has in a group */
static int hpSubselectAggs(const HpInput *pInput){
  return pInput->pAggInfo ? pInput->pAggInfo->nFunc : 2;
}
#endif /* SQLITE_OMIT_HP */
