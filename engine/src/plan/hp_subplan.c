/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_subplan: correlated sub-selects of a query that is taken over (prepare time).
**
**    hpSubPlanNodes()     the sub-selects of a WHERE clause that are like a table that
**                         is looked up
**    hpSubPlanFind()      the one that an expression is
**    hpSubPlanAny()       has it a correlated sub-select?
**    hpSubPlanGroups()    groups: the sink of the pipe that scans its table, ...
**    hpSubPlanAggs()      ... with such aggregates, ...
**    hpSubPlanAggCount()  ... so many
**    hpSubPlanRegroup()   and the pipe behind that, which makes a relation
**    hpSubPlanMissing()   what the aggregate of no rows is
**    hpSubPlanSpan()      does a group have such a value?
**    hpSubPlanExplain()   say that in EXPLAIN QUERY PLAN
**
** SQLite would run the loop of such a sub-select for each row around it.  If all that
** ties it to them are equalities it is a table like others of a join (hp_graph.c), whose
** key need not be unique:
**
**    EXISTS (SELECT 1 FROM orders WHERE o_custkey=c_custkey AND o_totalprice>9)
**      HP_NODE_EXISTS: a relation of the keys.  Is c_custkey in it?
**
**    EXISTS (SELECT 1 FROM line WHERE l_orderkey=o_orderkey AND l_suppkey<>s_suppkey)
**      HpNode.bSpan: groups with min(l_suppkey) and max(l_suppkey).  Is one of them
**      another than s_suppkey?
**
**    x > (SELECT 0.2*avg(y) FROM line WHERE l_partkey=p_partkey)
**      HP_NODE_GROUP: groups by l_partkey, and a relation of these.  The aggregates are
**      columns of it; what is made of them is computed for the rows around
**
** So a row without a partner has the NULL row of the relation: of count and total that
** is another value.
**
** Sub-selects of one table by the same key are twins: one scan makes groups that have the
** aggregates of both, each with its own WHERE clause as FILTER (HpNode.iTwin).
**
** A LEFT JOIN to many rows becomes groups, too: hp_manyplan.c.
**
** We read rows in the order of rowids.  If SQLite would find them in the order of an index
** that has more columns than the key, aggregates must not show it.
**
** Errors are those of a join: what fails declines.  Whether SQLite scans the table of the
** sub-select or searches an index is known, since its code has been made
** (SrcItem.hp.bWhole); but it may scan an index, too.  Which of these is better hp_gate.c says.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Is pExpr a correlated sub-select, but for IN? */
static int hpSubPlanIsOne(const Expr *pExpr){
  return (pExpr->op==TK_SELECT || pExpr->op==TK_EXISTS)
      && ExprHasProperty(pExpr, EP_VarSelect);
}

/* Walker callback: stop at such a sub-select */
static int hpSubPlanWalkAny(Walker *pWalker, Expr *pExpr){
  if( !hpSubPlanIsOne(pExpr) ) return WRC_Continue;
  pWalker->eCode = 1;
  return WRC_Abort;
}

/*
** Has pWhere a correlated sub-select?
*/
static int hpSubPlanAny(Expr *pWhere){
  Walker w;
  if( pWhere==0 || !ExprHasProperty(pWhere, EP_Subquery) ) return 0;
  memset(&w, 0, sizeof(w));
  w.xExprCallback = hpSubPlanWalkAny;
  sqlite3WalkExpr(&w, pWhere);
  return w.eCode;
}

/* Walker callback: note the AggInfo of aggregate functions */
static int hpSubPlanWalkAgg(Walker *pWalker, Expr *pExpr){
  if( pExpr->op!=TK_AGG_FUNCTION ) return WRC_Continue;
  pWalker->u.pNC = (NameContext*)pExpr->pAggInfo;
  return WRC_Prune;
}

/*
** The aggregates of sub-select pSelect, whose code has been made, or NULL: there are
** none, or they are not of one query.
*/
static AggInfo *hpSubPlanAggInfo(Select *pSelect){
  Walker w;
  memset(&w, 0, sizeof(w));
  w.xExprCallback = hpSubPlanWalkAgg;
  sqlite3WalkExprList(&w, pSelect->pEList);
  return (AggInfo*)w.u.pNC;
}

/*
** Is sub-select pExpr of a form that we do, as far as its clauses tell?
*/
static int hpSubPlanIsPlain(const Expr *pExpr){
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
   || pItem->pSTab==0 || !hpCompileIsTable(pItem)
  ){
    return 0;
  }
  if( pExpr->op==TK_EXISTS ) return (p->selFlags & SF_Aggregate)==0;
  return (p->selFlags & SF_Aggregate)!=0 && (p->selFlags & SF_Distinct)==0
      && p->pOrderBy==0 && p->pEList->nExpr==1;
}

/*
** The node of sub-select pExpr, or -1.
*/
static int hpSubPlanFind(const HpGraph *p, const Expr *pExpr){
  int i;
  for(i=0; i<p->nNode; i++){
    if( p->aNode[i].pSub==pExpr ) return i;
  }
  return -1;
}

/* Walker callback: make nodes of correlated sub-selects */
static int hpSubPlanWalkNodes(Walker *pWalker, Expr *pExpr){
  HpGraph *p = (HpGraph*)pWalker->u.pNC;
  HpNode *pNode;
  if( !hpSubPlanIsOne(pExpr) || hpSubPlanFind(p, pExpr)>=0 ) return WRC_Continue;
  assert( p->nTerm==0 );       /* Nodes are made before terms name them */
  pWalker->eCode = 1;
  if( p->nNode>=HP_MX_NODE || ExprHasProperty(pExpr, EP_OuterON)
   || !hpSubPlanIsPlain(pExpr)
  ){
    return WRC_Abort;
  }
  pNode = &p->aNode[p->nNode];
  pNode->pItem = &pExpr->x.pSelect->pSrc->a[0];
  pNode->pSub = pExpr;
  pNode->eNode = HP_NODE_EXISTS;
  if( pExpr->op==TK_SELECT ){
    pNode->eNode = HP_NODE_GROUP;
    pNode->pAggInfo = hpSubPlanAggInfo(pExpr->x.pSelect);
    if( pNode->pAggInfo==0 || pNode->pAggInfo->nAccumulator ) return WRC_Abort;
  }
  pNode->iPipe = pNode->iScan = pNode->iHome = -1;
  pNode->iLookup = pNode->iRow = pNode->iKept = -1;
  pNode->iTwin = pNode->iOnly = -1;
  p->nNode++;
  pWalker->eCode = 0;
  return WRC_Prune;
}

/*
** Add nodes for the correlated sub-selects of pWhere to p.  Returns false if one is
** none of ours.
*/
static int hpSubPlanNodes(HpGraph *p, Expr *pWhere){
  Walker w;
  if( pWhere==0 || !ExprHasProperty(pWhere, EP_Subquery) ) return 1;
  memset(&w, 0, sizeof(w));
  w.pParse = p->pParse;
  w.xExprCallback = hpSubPlanWalkNodes;
  w.u.pNC = (NameContext*)p;
  sqlite3WalkExpr(&w, pWhere);
  return w.eCode==0;
}

/*
** The smallest and the largest value of the column of pNode->span.
*/
static int hpSubPlanBoth(HpCompile *pC, const HpNode *pNode, HpAggDef *aAgg){
  int iVec = hpCompileExpr(pC, pNode->span.pOwn);
  CollSeq *pColl;
  int i;
  assert( pNode->bSpan && pNode->nAgg>=2 );
  if( iVec<0 ) return SQLITE_ERROR;
  if( !hpCompileCollOk(pNode->span.pColl, &pColl) ){
    hpCompileNo(pC, HP_NO_COLLATION);
    return SQLITE_ERROR;
  }
  for(i=0; i<2; i++){
    aAgg[i].eAgg = i ? HP_AGG_MAX : HP_AGG_MIN;
    aAgg[i].iVec = (u16)iVec;
    aAgg[i].iFilter = HP_NO_VEC;
    aAgg[i].iSet = -1;
    aAgg[i].pColl = pColl;
  }
  return SQLITE_OK;
}

/* Number of the aggregates that pNode has in a group */
static int hpSubPlanAggCount(const HpNode *pNode){
  return pNode->pAggInfo ? pNode->pAggInfo->nFunc : 2;
}

/*
** Let the sink of the pipe of now be groups by pKey, with nAgg aggregates: those of one
** node or of several.
*/
static HpGroupPlan *hpSubPlanGroups(HpCompile *pC, const HpLookup *pKey, int nAgg){
  HpPlan *pPlan = pC->pPlan;
  HpGroupPlan *pGroup = hpCompileAlloc(pPlan, sizeof(*pGroup));
  assert( pC->pPipe->pSink==0 && pC->pPipe->pGroup==0 );
  assert( pKey->keys.n>0 && nAgg>0 );
  pC->pPipe->pSink = &hpSinkGroups;
  pC->pPipe->pGroup = pGroup;
  if( pGroup==0 ) return 0;
  pGroup->keys = pKey->keys;
  pGroup->nAgg = nAgg;
  pGroup->aAgg = hpCompileAlloc(pPlan, sizeof(HpAggDef)*(i64)nAgg);
  pGroup->aBare = hpCompileAlloc(pPlan, 0);
  return pGroup->aAgg && pGroup->keys.n+nAgg<=HP_MX_COL ? pGroup : 0;
}

/*
** The pipe of now scans the table of pNode, and has groups.  Compile the aggregates that
** pNode wants of them.
*/
static int hpSubPlanAggs(HpCompile *pC, const HpNode *pNode){
  AggInfo *pOld = pC->pAggInfo;
  AggInfo *pAggInfo = pNode->pAggInfo;
  HpGroupPlan *pGroup = pC->pPipe->pGroup;
  HpAggDef *aAgg = &pGroup->aAgg[pNode->iAgg];
  int bAnyOrder = pAggInfo!=0 && pNode->pItem->hp.bByRowid==0;
  int rc = SQLITE_OK;
  int i;
  assert( pNode->iAgg+hpSubPlanAggCount(pNode)<=pGroup->nAgg );
  assert( pNode->iOnly<pC->pPipe->prog.nVec );
  if( bAnyOrder ) pGroup->bAnyOrder = 1;
  if( pAggInfo==0 ) rc = hpSubPlanBoth(pC, pNode, aAgg);
  pC->pAggInfo = pAggInfo;
  for(i=0; pAggInfo && i<pAggInfo->nFunc && rc==SQLITE_OK; i++){
    rc = hpCompileAgg(pC, &pAggInfo->aFunc[i], &aAgg[i]);
    if( aAgg[i].eAgg>=HP_AGG_CALL || aAgg[i].iSet>=0 ) rc = SQLITE_ERROR;
    if( rc==SQLITE_OK && bAnyOrder
     && !hpCompileAggAnyOrder(pC, pAggInfo->aFunc[i].pFExpr, &aAgg[i])
    ){
      hpCompileNo(pC, HP_NO_ORDER);
      rc = SQLITE_ERROR;
    }
  }
  pC->pAggInfo = pOld;
  for(i=0; pNode->iOnly>=0 && i<hpSubPlanAggCount(pNode) && rc==SQLITE_OK; i++){
    int iVec = pNode->iOnly;
    if( aAgg[i].iFilter!=HP_NO_VEC ){
      iVec = hpCompileOp(pC, HP_OP_AND, 0, iVec, aAgg[i].iFilter);
    }
    if( iVec<0 ) rc = SQLITE_ERROR;
    aAgg[i].iFilter = (u16)iVec;
  }
  return rc;
}

/*
** Let pPipe read the groups of pFrom, the pipe before, which has keys pKey, and make
** relation iRel of them: its columns are the aggregates.
*/
static int hpSubPlanRegroup(
  HpCompile *pC,
  HpPipePlan *pPipe,
  const HpPipePlan *pFrom,
  const HpLookup *pKey,
  int iRel
){
  HpPlan *pPlan = pC->pPlan;
  const HpGroupPlan *pGroup = pFrom->pGroup;
  HpSourcePlan *pSource = &pPipe->source;
  HpRelPlan *pRel = hpCompileAlloc(pPlan, sizeof(*pRel));
  int n = pKey->keys.n + pGroup->nAgg;
  int i;
  assert( pPipe==&pFrom[1] && pFrom->pSink==&hpSinkGroups && pGroup!=0 );
  assert( pGroup->keys.n==pKey->keys.n );
  assert( pPipe==&pPlan->aPipe[iRel] && pPipe->prog.nVec==0 );
  pSource->pType = &hpRegroupType;
  pSource->iDb = pFrom->source.iDb;
  pSource->aCol = hpCompileAlloc(pPlan, sizeof(HpCol)*(i64)n);
  pPipe->bSerial = 1;
  pPipe->pSink = &hpSinkRel;
  pPipe->pRel = pRel;
  if( pRel==0 || pSource->aCol==0 ) return SQLITE_NOMEM;
  pRel->iRel = iRel;
  pRel->key = *pKey;
  pRel->key.keys.aVec = hpCompileAlloc(pPlan, sizeof(u16)*(i64)pKey->keys.n);
  pRel->aVec = hpCompileAlloc(pPlan, sizeof(u16)*(i64)pGroup->nAgg);
  if( pRel->key.keys.aVec==0 || pRel->aVec==0 ) return SQLITE_NOMEM;
  for(i=0; i<n; i++){
    HpOp op;
    int iVec;
    memset(&op, 0, sizeof(op));
    op.eOp = HP_OP_COLUMN;
    op.a = (u16)i;
    iVec = hpProgOp(&pPipe->prog, &op);
    if( iVec<0 ) return SQLITE_NOMEM;
    pSource->aCol[i].iStore = i;
    pSource->nCol++;
    if( i<pKey->keys.n ){
      pRel->key.keys.aVec[i] = (u16)iVec;
    }else{
      pRel->aVec[pRel->nCol++] = (u16)iVec;
    }
  }
  return SQLITE_OK;
}

/*
** The vector of whether pNode->span holds: the smallest and largest value are vectors
** iMin and iMax, NULL where there is none.
*/
static int hpSubPlanSpan(HpCompile *pC, const HpNode *pNode, int iMin, int iMax){
  const HpEdge *pSpan = &pNode->span;
  HpOp x;
  int iOther = iMin<0 || iMax<0 ? -1 : hpCompileExpr(pC, pSpan->pOther);
  int a;
  assert( pNode->bSpan && pSpan->op>=TK_NE && pSpan->op<=TK_GE );
  if( iOther<0 ) return -1;
  memset(&x, 0, sizeof(x));
  x.eOp = HP_OP_COMPARE;
  x.op = pSpan->op;
  x.a = (u16)(pSpan->op==TK_GT || pSpan->op==TK_GE ? iMax : iMin);
  x.b = (u16)iOther;
  if( !hpCompileCollOk(pSpan->pColl, &x.pColl) ) return hpCompileNo(pC, HP_NO_COLLATION);
  a = hpProgOp(&pC->pPipe->prog, &x);
  if( a>=0 && pSpan->op==TK_NE ){
    int b;
    x.a = (u16)iMax;
    b = hpProgOp(&pC->pPipe->prog, &x);
    a = b<0 ? -1 : hpCompileOp(pC, HP_OP_OR, 0, a, b);
  }
  if( a<0 ) return hpCompileNo(pC, HP_NO_LIMIT);
  return hpCompileTruth(pC, a, 0, 0);
}

/*
** The vector of aggregate function pF of a group, where a is what the relation has for
** it: NULL where there are no rows.  bOuter: then there is a row of NULLs.
*/
static int hpSubPlanMissing(
  HpCompile *pC,
  const struct AggInfo_func *pF,
  int a,
  int bOuter
){
  const FuncDef *pFunc = pF->pFunc;
  const ExprList *pList = pF->pFExpr->x.pList;
  u16 aVec[2];
  int b;
  if( a<0 ) return -1;
  assert( hpProgSees(&pC->pPipe->prog, a) );
  if( pFunc->xFinalize==countFinalize ){
    int bRow = bOuter && (pList==0 || pList->nExpr==0);
    b = hpCompileLiteral(pC, TK_INTEGER, bRow ? "1" : "0");
  }else if( pFunc->xFinalize==totalFinalize ){
    b = hpCompileLiteral(pC, TK_FLOAT, "0.0");
  }else{
    return a;
  }
  if( b<0 ) return -1;
  aVec[0] = (u16)a;
  aVec[1] = (u16)b;
  return hpCompileList(pC, HP_OP_COALESCE, aVec, 2);
}

/*
** In EXPLAIN QUERY PLAN the table of pNode is looked up by zKey, unless that says so.
*/
static void hpSubPlanExplain(Parse *pParse, const HpNode *pNode, const char *zKey){
  Vdbe *v = pParse->pVdbe;
  char *zName = sqlite3MPrintf(pParse->db, "%S", pNode->pItem);
  int n = sqlite3Strlen30(zName);
  int i;
  for(i=sqlite3VdbeCurrentAddr(v)-1; zName && i>0; i--){
    VdbeOp *pOp = sqlite3VdbeGetOp(v, i);
    const char *z = pOp->p4.z;
    char *zNew;
    int nVerb;
    if( pOp->opcode!=OP_Explain || pOp->p4type!=P4_DYNAMIC || z==0 ) continue;
    nVerb = strncmp(z, "SCAN ", 5)==0 ? 5 : strncmp(z, "SEARCH ", 7)==0 ? 7 : 0;
    if( nVerb==0 || strncmp(&z[nVerb], zName, n)!=0
     || (z[nVerb+n]!=0 && z[nVerb+n]!=' ') || strstr(z, " USING HASH TABLE (")
    ){
      continue;
    }
    zNew = sqlite3MPrintf(pParse->db, "SEARCH %s USING HASH TABLE (%s)", zName, zKey);
    if( zNew ){
      sqlite3DbFree(pParse->db, pOp->p4.z);
      pOp->p4.z = zNew;
    }
    break;
  }
  sqlite3DbFree(pParse->db, zName);
}
#endif /* SQLITE_OMIT_HP */
