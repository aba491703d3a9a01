/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_graph: FROM and WHERE of a join as a tree of look-ups (prepare time).
**
**    hpGraphRoot()    the table that is scanned
**    hpGraphNew()     the graph of a SELECT, or NULL if it is none of ours
**    hpGraphNode()    the term of FROM that a cursor belongs to
**    hpGraphMask()    which terms of FROM an expression names
**    hpGraphMeet()    the pipe in which terms of FROM are known together
**    hpGraphFilters() does anything leave rows of a table out?
**    hpGraphMaySearch() might SQLite search an index of it?
**    hpGraphGiven()   which tables' rows does a value determine?
**    hpGraphSame()    do two expressions name the same column?
**    hpGraphOneRow()  has each group one row of the root?
**    hpGraphIsRowid() is an expression the rowid of a table?
**    hpGraphFree()    free it
**
** One table is scanned, the root: the outermost loop that the planner chose, or
** another one if the order of rows does not show (hpRootChoose()).
** It must reach all others through unique keys, so that each of its rows has
** one partner at most in each of them.  Then the rows of the join are rows of
** the root, in its order, and each other table is a relation that is looked up
** (hp_rel.c):
**
**    SELECT n_name, sum(l_price) FROM lineitem, orders, customer, nation
**     WHERE o_orderkey=l_orderkey AND c_custkey=o_custkey
**       AND n_nationkey=c_nationkey AND o_orderdate>'1995-01-01'
**     GROUP BY n_name
**
**    lineitem --l_orderkey-> orders --o_custkey-> customer --c_nationkey-> nation
**    the root               home: lineitem       home: orders
**
** The home of a table is where its key is known: the table that has the
** columns, or, if several have, the one whose pipe meets all of them.  A
** table's relation is made before its home's, by a pipe that looks up the
** tables whose home it is. So orders has in its relation only rows that have a
** customer, with the number of the customer's row; and lineitem looks up
** nothing but orders.
**
** Terms of FROM are
**
**    HP_NODE_INNER   rows without a partner are left out
**    HP_NODE_LEFT    they stay, with row 0 of the relation.  The terms of its
**                    ON clause decide about the partner, those of WHERE come
**                    after; so it is no home of others, and is known where its
**                    own home is
**    HP_NODE_SEMI    from EXISTS: only whether there is a partner; any key
**    HP_NODE_NONE    the planner has left it out
**
** and correlated sub-selects of WHERE are terms, too (hp_subplan.c):
**
**    HP_NODE_EXISTS  only whether there is a partner is asked; any key
**    HP_NODE_GROUP   what an aggregate of the partners comes to; any key
**
** So may be one LEFT JOIN whose key is not unique (hpNodeIsMany()): hp_manyplan.c.
**
** The terms of their own WHERE clauses are like those of an ON clause.  Where only asked is
** whether there is a partner, one term may be another comparison than an equality: the
** smallest and the largest value of a key tell (HpNode.bSpan).
**
** A term of WHERE belongs to the pipe where all its tables meet.  OR has parts
** that belong elsewhere: what all its sides contain may be a key or a filter, and
** if each side says something about one table, rows of it that no side wants are
** left out at once.  OR itself stays.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* What hpGraphMask() looks for */
typedef struct HpGraphWalk HpGraphWalk;
struct HpGraphWalk {
  const HpGraph *pGraph;
  Bitmask m;             /* Terms of FROM that are named */
};

/* The term of FROM that has cursor iCur, or -1 */
static int hpGraphNode(const HpGraph *p, int iCur){
  int i;
  for(i=0; i<p->nNode; i++){
    if( p->aNode[i].pItem->iCursor==iCur ) return i;
  }
  return -1;
}

static int hpGraphWalkExpr(Walker *pWalker, Expr *pExpr){
  HpGraphWalk *pWalk = (HpGraphWalk*)pWalker->u.pNC;
  int i;
  switch( pExpr->op ){
    case TK_COLUMN: case TK_AGG_COLUMN:
      if( ExprHasProperty(pExpr, EP_FixedCol)
       && sqlite3ExprIsConstant(pWalker->pParse, pExpr)
      ){
        return WRC_Prune;
      }
      i = hpGraphNode(pWalk->pGraph, pExpr->iTable);
      if( i<0 ) break;
      pWalk->m |= MASKBIT(i);
      return WRC_Continue;
    case TK_SELECT: case TK_EXISTS:
      i = hpSubPlanFind(pWalk->pGraph, pExpr);
      if( i>=0 ) pWalk->m |= MASKBIT(i);
      if( i>=0 || hpScalarIsConst(pWalk->pGraph->pParse, pExpr) ) return WRC_Prune;
      pWalker->eCode = 1;
      return WRC_Abort;
    case TK_IN:
      if( !ExprUseXSelect(pExpr) ) return WRC_Continue;
      if( !hpScalarIsSet(pWalk->pGraph->pParse, pExpr) ) break;
      return sqlite3WalkExpr(pWalker, pExpr->pLeft)==WRC_Abort ? WRC_Abort : WRC_Prune;
    case TK_IF_NULL_ROW: case TK_REGISTER:
      break;
    default:
      return WRC_Continue;
  }
  pWalker->eCode = 1;
  return WRC_Abort;
}

/*
** Set *pm to the terms of FROM that pExpr names.  Returns false if there are
** others.
*/
static int hpGraphMask(const HpGraph *p, Expr *pExpr, Bitmask *pm){
  Walker w;
  HpGraphWalk walk;
  memset(&w, 0, sizeof(w));
  walk.pGraph = p;
  walk.m = 0;
  w.pParse = p->pParse;
  w.xExprCallback = hpGraphWalkExpr;
  w.xSelectCallback = sqlite3SelectWalkFail;
  w.u.pNC = (NameContext*)&walk;

  if( sqlite3WalkExpr(&w, pExpr)==WRC_Abort || w.eCode ) return 0;
  assert( (walk.m>>p->nNode)==0 );
  *pm = walk.m;
  return 1;
}

/*
** Add the terms of pExpr that AND connects.  Returns false if one is not ours, unless
** that may be left out (HpGraph.bPart).
*/
static int hpGraphTerms(HpGraph *p, Expr *pExpr, u8 bImplied){
  HpGraphTerm *pTerm;
  if( pExpr==0 || (p->bPart && ExprHasProperty(pExpr, EP_OuterON)) ) return 1;
  if( pExpr->op==TK_AND ){
    return hpGraphTerms(p, pExpr->pLeft, bImplied)
        && hpGraphTerms(p, pExpr->pRight, bImplied);
  }
  if( p->nTerm>=HP_MX_TERM ) return p->bPart;
  pTerm = &p->aTerm[p->nTerm];
  memset(pTerm, 0, sizeof(*pTerm));
  pTerm->pExpr = pExpr;
  pTerm->iOuter = -1;
  pTerm->bImplied = bImplied;
  if( !hpGraphMask(p, pExpr, &pTerm->m) ) return p->bPart;
  if( ExprHasProperty(pExpr, EP_OuterON) ){
    pTerm->iOuter = hpGraphNode(p, pExpr->w.iJoin);
    if( pTerm->iOuter<0 ) return 0;
  }
  p->nTerm++;
  return 1;
}

/* Is pExpr one of the terms of pList that AND connects? */
static int hpGraphHas(const Expr *pList, const Expr *pExpr){
  if( pList->op==TK_AND ){
    return hpGraphHas(pList->pLeft, pExpr) || hpGraphHas(pList->pRight, pExpr);
  }
  return sqlite3ExprCompare(0, pList, pExpr, -1)==0;
}

/* Do all sides of pOr contain pExpr? */
static int hpGraphAllHave(const Expr *pOr, const Expr *pExpr){
  if( pOr->op==TK_OR ){
    return hpGraphAllHave(pOr->pLeft, pExpr) && hpGraphAllHave(pOr->pRight, pExpr);
  }
  return hpGraphHas(pOr, pExpr);
}

/*
** Add the terms of pSide, which AND connects, that all sides of pOr have.
*/
static int hpGraphCommon(HpGraph *p, const Expr *pOr, Expr *pSide){
  if( pSide->op==TK_AND ){
    return hpGraphCommon(p, pOr, pSide->pLeft)
        && hpGraphCommon(p, pOr, pSide->pRight);
  }
  return !hpGraphAllHave(pOr, pSide) || hpGraphTerms(p, pSide, 1);
}

/*
** Is term pTerm a comparison of column iColumn of node i (any column if that is
** below -1) with something that node i is not in?  Then fill in *pEdge.
*/
static int hpGraphCompare(
  const HpGraph *p,
  const HpGraphTerm *pTerm,
  int i,
  int iColumn,
  HpEdge *pEdge
){
  Expr *pExpr = pTerm->pExpr;
  int k;
  if( pExpr->op<TK_NE || pExpr->op>TK_GE || (pTerm->m & MASKBIT(i))==0 ) return 0;
  if( sqlite3ExprIsVector(pExpr->pLeft) ) return 0;
  for(k=0; k<2; k++){
    Expr *pOwn = k ? pExpr->pRight : pExpr->pLeft;
    Expr *pOther = k ? pExpr->pLeft : pExpr->pRight;
    Expr *pCol = sqlite3ExprSkipCollate(pOwn);
    Bitmask m;
    if( pCol->op!=TK_COLUMN || ExprHasProperty(pCol, EP_FixedCol)
     || pCol->iTable!=p->aNode[i].pItem->iCursor
    ){
      continue;
    }
    if( iColumn>=-1 && pCol->iColumn!=iColumn ) continue;
    if( !hpGraphMask(p, pOther, &m) || (m & MASKBIT(i))!=0 ) continue;
    assert( (m & ~pTerm->m)==0 );    /* A part names what the whole does */
    pEdge->pTerm = pExpr;
    pEdge->pOwn = pOwn;
    pEdge->pOther = pOther;
    pEdge->m = m;
    pEdge->op = pExpr->op;
    if( k && pEdge->op>=TK_GT ) pEdge->op = ((pEdge->op-TK_GT)^2) + TK_GT;
    pEdge->aff = binaryCompareP5(pExpr->pLeft, pExpr->pRight, 0)
                     & SQLITE_AFF_MASK;
    pEdge->pColl = sqlite3ExprCompareCollSeq(p->pParse, pExpr);
    if( pEdge->pColl==0 ) pEdge->pColl = p->pParse->db->pDfltColl;
    return 1;
  }
  return 0;
}

/* Is it an equality? */
static int hpGraphEdge(
  const HpGraph *p,
  const HpGraphTerm *pTerm,
  int i,
  int iColumn,
  HpEdge *pEdge
){
  return pTerm->pExpr->op==TK_EQ && hpGraphCompare(p, pTerm, i, iColumn, pEdge);
}

/*
** Might SQLite search an index for rows of node i, a sub-select, or find them by rowid?
** Only if a term of its WHERE clause is about the first column of that; and its code may
** say that it does not.
*/
static int hpGraphMaySearch(const HpGraph *p, int i){
  const Table *pTab = p->aNode[i].pItem->pSTab;
  const Index *pIdx;
  HpEdge edge;
  int iColumn, k;
  assert( p->aNode[i].eNode!=HP_NODE_NONE && p->aNode[i].nKey>0 );
  if( p->aNode[i].pItem->hp.bWhole ) return 0;
  for(k=0; k<p->nTerm; k++){
    const HpGraphTerm *pTerm = &p->aTerm[k];
    if( (pTerm->m & MASKBIT(i))==0 ) continue;
    if( hpNodeIsSub(&p->aNode[i]) && pTerm->iOuter!=i ) continue;
    if( !hpGraphCompare(p, pTerm, i, -2, &edge) ){
      if( pTab->pIndex ) return 1;
      continue;
    }
    iColumn = sqlite3ExprSkipCollate(edge.pOwn)->iColumn;
    if( iColumn<0 || iColumn==pTab->iPKey ) return 1;
    for(pIdx=pTab->pIndex; pIdx; pIdx=pIdx->pNext){
      if( pIdx->aiColumn[0]<-1 || pIdx->aiColumn[0]==iColumn ) return 1;
    }
  }
  return 0;
}

/*
** Let node i, an EXISTS, test pTerm by the smallest and the largest value of its column.
** These compare with others as SQLite would if nothing has to be converted.
*/
static int hpGraphSpan(HpGraph *p, const HpGraphTerm *pTerm, int i){
  HpNode *pNode = &p->aNode[i];
  HpEdge *pSpan = &pNode->span;
  char affOwn, affOther;
  assert( pTerm>=p->aTerm && pTerm<&p->aTerm[p->nTerm] );
  if( pNode->bSpan || pNode->eNode==HP_NODE_GROUP ) return 0;
  if( !hpGraphCompare(p, pTerm, i, -2, pSpan) ) return 0;
  affOwn = sqlite3ExprAffinity(pSpan->pOwn);
  affOther = sqlite3ExprAffinity(pSpan->pOther);
  if( (affOwn<SQLITE_AFF_NUMERIC || affOther<SQLITE_AFF_NUMERIC)
   && (affOwn!=SQLITE_AFF_TEXT || affOther!=SQLITE_AFF_TEXT)
  ){
    return 0;
  }
  if( sqlite3ExprSkipCollate(pSpan->pOther)->op!=TK_COLUMN ) return 0;
  pSpan->iTerm = (int)(pTerm - p->aTerm);
  pNode->bSpan = 1;
  return 1;
}

/*
** Find an edge for column iColumn of node i to nodes that are done.
*/
static int hpGraphFindEdge(
  const HpGraph *p,
  int i,
  int iColumn,
  const char *zColl,     /* Collation of a unique index; NULL: a rowid */
  HpEdge *pEdge
){
  int iOuter = p->aNode[i].eNode==HP_NODE_LEFT ? i : -1;
  int k;
  assert( (p->mDone & MASKBIT(i))==0 );
  for(k=0; k<p->nTerm; k++){
    if( p->aTerm[k].iOuter!=iOuter ) continue;
    if( !hpGraphEdge(p, &p->aTerm[k], i, iColumn, pEdge) ) continue;
    if( (pEdge->m & ~p->mDone)!=0 ) continue;
    if( zColl && sqlite3StrICmp(pEdge->pColl->zName, zColl)!=0 ) continue;
    pEdge->iTerm = k;
    return 1;
  }
  return 0;
}

/*
** Is there an equality for each column of unique index pIdx, or for the rowid
** if that is NULL?  Then these are the key of node i.
*/
static int hpGraphKey(HpGraph *p, int i, Index *pIdx){
  HpNode *pNode = &p->aNode[i];
  Table *pTab = pNode->pItem->pSTab;
  int n = pIdx ? pIdx->nKeyCol : 1;
  int k;
  assert( pIdx ? IsUniqueIndex(pIdx) && pIdx->pTable==pTab : HasRowid(pTab) );
  if( n>HP_MX_EQ ) return 0;
  for(k=0; k<n; k++){
    int iColumn = pIdx ? pIdx->aiColumn[k] : -1;
    if( iColumn<-1 ) return 0;
    if( !hpGraphFindEdge(p, i, iColumn, pIdx ? pIdx->azColl[k] : 0,
                         &pNode->aKey[k])
     && (pIdx || pTab->iPKey<0
         || !hpGraphFindEdge(p, i, pTab->iPKey, 0, &pNode->aKey[k]))
    ){
      return 0;
    }
  }
  pNode->nKey = n;
  return 1;
}

/* Where node i is known: its pipe, or its home if it has no rows of its own */
static int hpGraphHome(const HpGraph *p, int i){
  u8 eNode = p->aNode[i].eNode;
  return eNode==HP_NODE_ROOT || eNode==HP_NODE_INNER ? i : p->aNode[i].iHome;
}

/* How far node i is from the root */
static int hpGraphDepth(const HpGraph *p, int i){
  int n = 0;
  for(; i!=p->iRoot; i=p->aNode[i].iHome) n++;
  assert( n<p->nNode );        /* Homes are no circle */
  return n;
}

/*
** The pipe in which all nodes of m are known: that of the root if m is empty.
*/
static int hpGraphMeet(const HpGraph *p, Bitmask m){
  int iMeet = -1;
  int i;
  assert( (m & ~p->mDone)==0 );    /* Others have no home */
  for(i=0; i<p->nNode; i++){
    int k;
    if( (m & MASKBIT(i))==0 ) continue;
    k = hpGraphHome(p, i);
    if( iMeet<0 ) iMeet = k;
    while( iMeet!=k ){
      if( hpGraphDepth(p, iMeet)>=hpGraphDepth(p, k) ){
        iMeet = p->aNode[iMeet].iHome;
      }else{
        k = p->aNode[k].iHome;
      }
    }
  }
  return iMeet<0 ? p->iRoot : iMeet;
}

/*
** Try to find a key of node i, all of it known at nodes that are done.
*/
static int hpGraphAttach(HpGraph *p, int i){
  HpNode *pNode = &p->aNode[i];
  Table *pTab = pNode->pItem->pSTab;
  Bitmask m = 0;
  Index *pIdx;
  int bRefused = 0;
  int k;
  /* As at first, if that was tried before in vain */
  assert( i!=p->iRoot && pNode->nKey==0 && pNode->bSpan==0 );
  if( pNode->eNode==HP_NODE_SEMI || hpNodeIsSub(pNode) ){
    for(k=0; k<p->nTerm; k++){
      HpGraphTerm *pTerm = &p->aTerm[k];
      if( hpNodeIsSub(pNode) && pTerm->iOuter!=i ) continue;
      if( (pTerm->m & MASKBIT(i))==0 || pTerm->m==MASKBIT(i) ) continue;
      if( pTerm->bImplied ) continue;
      if( pNode->nKey<HP_MX_EQ
       && hpGraphEdge(p, pTerm, i, -2, &pNode->aKey[pNode->nKey])
       && (pNode->aKey[pNode->nKey].m & ~p->mDone)==0
      ){
        pNode->aKey[pNode->nKey++].iTerm = k;
      }else if( !hpGraphSpan(p, pTerm, i) || (pNode->span.m & ~p->mDone)!=0 ){
        bRefused = 1;
        break;
      }
    }
    if( bRefused || pNode->nKey==0 ){
      pNode->nKey = 0;
      pNode->bSpan = 0;
      return 0;
    }
    if( pNode->bSpan ) m |= pNode->span.m;
  }else{
    int bFound = HasRowid(pTab) && hpGraphKey(p, i, 0);
    for(pIdx=pTab->pIndex; pIdx && !bFound; pIdx=pIdx->pNext){
      if( !IsUniqueIndex(pIdx) || pIdx->pPartIdxWhere || pIdx->bHasExpr ) continue;
      bFound = hpGraphKey(p, i, pIdx);
    }
    if( !bFound ) return 0;
  }
  for(k=0; k<pNode->nKey; k++) m |= pNode->aKey[k].m;
  if( pNode->eNode==HP_NODE_LEFT || hpNodeIsMany(pNode) ){
    for(k=0; k<p->nTerm; k++){
      if( p->aTerm[k].iOuter==i ) m |= p->aTerm[k].m & ~MASKBIT(i);
    }
    if( (m & ~p->mDone)!=0 ){
      pNode->nKey = 0;
      return 0;
    }
  }
  pNode->iHome = hpGraphMeet(p, m);
  assert( pNode->iHome!=i && (p->mDone & MASKBIT(pNode->iHome))!=0 );
  assert( pNode->nKey>0 && pNode->nKey<=HP_MX_EQ );
  for(k=0; k<pNode->nKey; k++){
    HpGraphTerm *pTerm = &p->aTerm[pNode->aKey[k].iTerm];
    if( !pTerm->bImplied ) pTerm->bKey = 1;
  }
  if( pNode->bSpan ) p->aTerm[pNode->span.iTerm].bKey = 1;
  p->mDone |= MASKBIT(i);
  return 1;
}

/* Is the relation of node iTo needed, at once or by way of others, by node i? */
static int hpGraphNeeds(const HpGraph *p, int i, int iTo){
  int k;
  if( i==iTo ) return 1;
  for(k=0; k<p->nNode; k++){
    if( k!=p->iRoot && p->aNode[k].eNode!=HP_NODE_NONE && p->aNode[k].iHome==i
     && hpGraphNeeds(p, k, iTo)
    ){
      return 1;
    }
  }
  for(k=0; k<p->nReduce; k++){
    if( p->aReduce[k].iNode==i && hpGraphNeeds(p, p->aReduce[k].iRel, iTo) ){
      return 1;
    }
  }
  return 0;
}

/*
** Node i is found by pEdge, by a number.  If another node has an equality with the
** same column it can do without the rows that have no partner, too:
**
**    s_nationkey=n_nationkey AND c_nationkey=s_nationkey
**
** leaves out customers of nations that nation's own filters leave out.
*/
static void hpGraphReduce(HpGraph *p, int i){
  const HpEdge *pEdge = &p->aNode[i].aKey[0];
  const Expr *pCol = pEdge->pOther;
  int k, j;
  if( p->aNode[i].eNode!=HP_NODE_INNER || p->aNode[i].nKey!=1 ) return;
  assert( pEdge->op==TK_EQ && p->nPipe==0 );
  if( pCol->op!=TK_COLUMN || pEdge->aff<SQLITE_AFF_NUMERIC ) return;
  if( sqlite3ExprAffinity(pCol)<SQLITE_AFF_NUMERIC
   || sqlite3ExprAffinity(pEdge->pOwn)<SQLITE_AFF_NUMERIC
   || !hpGraphFilters(p, i)
  ){
    return;
  }
  for(k=0; k<p->nTerm && p->nReduce<HP_MX_REDUCE; k++){
    const HpGraphTerm *pTerm = &p->aTerm[k];
    Expr *pOther = pTerm->pExpr->pRight;
    if( pTerm->iOuter>=0 || pTerm->bImplied || pTerm->pExpr->op!=TK_EQ ) continue;
    if( pTerm->pExpr==pEdge->pTerm ) continue;
    if( !sqlite3IsBinary(sqlite3ExprCompareCollSeq(p->pParse, pTerm->pExpr)) ) continue;
    if( sqlite3ExprCompare(0, pTerm->pExpr->pLeft, pCol, -1)!=0 ){
      pOther = pTerm->pExpr->pLeft;
      if( sqlite3ExprCompare(0, pTerm->pExpr->pRight, pCol, -1)!=0 ) continue;
    }
    if( pOther->op!=TK_COLUMN || ExprHasProperty(pOther, EP_FixedCol)
     || sqlite3ExprAffinity(pOther)<SQLITE_AFF_NUMERIC
    ){
      continue;
    }
    j = hpGraphNode(p, pOther->iTable);
    if( j<0 || p->aNode[j].eNode!=HP_NODE_INNER || hpGraphNeeds(p, j, i)
     || hpGraphNeeds(p, i, j)
    ){
      continue;
    }
    p->aReduce[p->nReduce].iNode = j;
    p->aReduce[p->nReduce].iRel = i;
    p->aReduce[p->nReduce].edge = *pEdge;
    p->aReduce[p->nReduce].edge.pOther = pOther;
    p->nReduce++;
  }
}

/*
** Are nodes i and j groups of one table, by the same columns, which are looked up by the
** same values?  And would SQLite find the rows of both in the same way?
*/
static int hpGraphAreTwins(const HpGraph *p, int i, int j){
  const HpNode *pA = &p->aNode[i];
  const HpNode *pB = &p->aNode[j];
  int k;
  assert( i<j && j<p->nNode );
  if( !hpNodeHasGroups(pA) || !hpNodeHasGroups(pB) || hpNodeIsMany(pA) || hpNodeIsMany(pB)
   || pA->pItem->pSTab!=pB->pItem->pSTab || pA->iHome!=pB->iHome || pA->nKey!=pB->nKey
   || hpGraphMaySearch(p, i)!=hpGraphMaySearch(p, j)
  ){
    return 0;
  }
  for(k=0; k<pA->nKey; k++){
    const HpEdge *pX = &pA->aKey[k];
    const HpEdge *pY = &pB->aKey[k];
    if( sqlite3ExprSkipCollate(pX->pOwn)->iColumn!=sqlite3ExprSkipCollate(pY->pOwn)->iColumn
     || !hpGraphSame(sqlite3ExprSkipCollate(pX->pOther), sqlite3ExprSkipCollate(pY->pOther))
     || pX->aff!=pY->aff || pX->pColl!=pY->pColl
    ){
      return 0;
    }
  }
  return 1;
}

/*
** Find the twins among the nodes.
*/
static void hpGraphTwins(HpGraph *p){
  int i, j;
  for(i=0; i<p->nNode; i++) p->aNode[i].nAgg = hpSubPlanAggCount(&p->aNode[i]);
  for(j=1; j<p->nNode; j++){
    for(i=0; i<j && p->aNode[j].iTwin<0; i++){
      if( p->aNode[i].iTwin>=0 || !hpGraphAreTwins(p, i, j) ) continue;
      p->aNode[j].iTwin = i;
      p->aNode[j].iAgg = p->aNode[i].nAgg;
      assert( p->aNode[j].iAgg>0 && p->aNode[i].iAgg==0 );
      p->aNode[i].nAgg += hpSubPlanAggCount(&p->aNode[j]);
    }
  }
}

/*
** Number pipes: those of relations before those that look them up.
*/
static void hpGraphNumber(HpGraph *p, int i){
  int iTwin = p->aNode[i].iTwin;
  int k;
  if( p->aNode[i].iPipe>=0 ) return;
  if( iTwin>=0 ){
    hpGraphNumber(p, iTwin);
    p->aNode[i].iPipe = p->aNode[iTwin].iPipe;
    p->aNode[i].iScan = p->aNode[iTwin].iScan;
    return;
  }
  for(k=0; k<p->nReduce; k++){
    if( p->aReduce[k].iNode==i ) hpGraphNumber(p, p->aReduce[k].iRel);
  }
  for(k=0; k<p->nNode; k++){
    if( k!=i && p->aNode[k].eNode!=HP_NODE_NONE && k!=p->iRoot
     && p->aNode[k].iHome==i
    ){
      hpGraphNumber(p, k);
    }
  }
  assert( p->nPipe+hpNodeHasGroups(&p->aNode[i])<HP_MX_PIPE );
  if( hpNodeHasGroups(&p->aNode[i]) ) p->aOrder[p->nPipe++] = (u8)i;
  p->aOrder[p->nPipe] = (u8)i;
  p->aNode[i].iPipe = p->nPipe++;
  p->aNode[i].iScan = p->aNode[i].iPipe - hpNodeHasGroups(&p->aNode[i]);
}

/*
** Is any row of node i left out, by its own terms or by nodes that it looks up?
*/
static int hpGraphFilters(const HpGraph *p, int i){
  int k;
  if( p->aNode[i].eNode==HP_NODE_SEMI ) return 1;
  for(k=0; k<p->nTerm; k++){
    const HpGraphTerm *pTerm = &p->aTerm[k];
    if( pTerm->m==MASKBIT(i) && pTerm->iOuter<0 && !pTerm->bKey ) return 1;
  }
  for(k=0; k<p->nNode; k++){
    if( k!=i && k!=p->iRoot && p->aNode[k].iHome==i
     && (p->aNode[k].eNode==HP_NODE_INNER || p->aNode[k].eNode==HP_NODE_SEMI)
     && hpGraphFilters(p, k)
    ){
      return 1;
    }
  }
  return 0;
}

/* Do both name the same column? */
static int hpGraphSame(const Expr *pA, const Expr *pB){
  return (pA->op==TK_COLUMN || pA->op==TK_AGG_COLUMN)
      && (pB->op==TK_COLUMN || pB->op==TK_AGG_COLUMN)
      && pA->iTable==pB->iTable && pA->iColumn==pB->iColumn;
}

/* Is pExpr the rowid of pItem? */
static int hpGraphIsRowid(const SrcItem *pItem, const Expr *pExpr){
  return (pExpr->op==TK_COLUMN || pExpr->op==TK_AGG_COLUMN)
      && pExpr->iTable==pItem->iCursor && HasRowid(pItem->pSTab)
      && (pExpr->iColumn<0 || pExpr->iColumn==pItem->pSTab->iPKey);
}

/* Is column iColumn of the root one of pGroupBy, where values differ that differ under
** collation zColl? */
static int hpGraphHasColumn(
  const HpGraph *p,
  const ExprList *pGroupBy,
  int iColumn,
  const char *zColl
){
  int iCursor = p->aNode[p->iRoot].pItem->iCursor;
  int i;
  for(i=0; i<pGroupBy->nExpr; i++){
    const Expr *pTerm = pGroupBy->a[i].pExpr;
    const Expr *pExpr = sqlite3ExprSkipCollate((Expr*)pTerm);
    CollSeq *pColl = sqlite3ExprNNCollSeq(p->pParse, pTerm);
    if( (pExpr->op==TK_COLUMN || pExpr->op==TK_AGG_COLUMN)
     && pExpr->iTable==iCursor && pExpr->iColumn==iColumn && pColl
     && (sqlite3IsBinary(pColl) || sqlite3StrICmp(pColl->zName, zColl)==0)
    ){
      return 1;
    }
  }
  return 0;
}

/*
** Does each group of pGroupBy, which may be NULL, have one row of the root?
*/
static int hpGraphOneRow(const HpGraph *p, const ExprList *pGroupBy){
  const SrcItem *pRoot = p->aNode[p->iRoot].pItem;
  const Table *pTab = pRoot->pSTab;
  const Index *pIdx;
  int i;
  for(i=0; pGroupBy && i<pGroupBy->nExpr; i++){
    if( hpGraphIsRowid(pRoot, sqlite3ExprSkipCollate(pGroupBy->a[i].pExpr)) ) return 1;
  }
  for(pIdx=pTab->pIndex; pGroupBy && pIdx; pIdx=pIdx->pNext){
    if( !IsUniqueIndex(pIdx) || pIdx->pPartIdxWhere || pIdx->bHasExpr ) continue;
    for(i=0; i<pIdx->nKeyCol; i++){
      int iColumn = pIdx->aiColumn[i];
      if( iColumn<0 || pTab->aCol[iColumn].notNull==0 ) break;
      if( !hpGraphHasColumn(p, pGroupBy, iColumn, pIdx->azColl[i]) ) break;
    }
    if( i==pIdx->nKeyCol ) return 1;
  }
  return 0;
}

/*
** Rows of a group have one row of each node of m, and equal values of pExpr under
** pColl.  Returns all nodes of which they have one row.
*/
static Bitmask hpGraphGiven(
  const HpGraph *p,
  Bitmask m,
  const Expr *pExpr,
  CollSeq *pColl
){
  Bitmask mOld;
  int i, k;
  if( hpGraphIsRowid(p->aNode[p->iRoot].pItem, pExpr) ) m |= MASKBIT(p->iRoot);
  for(i=0; i<p->nNode; i++){
    const HpEdge *pEdge = &p->aNode[i].aKey[0];
    if( p->aNode[i].eNode!=HP_NODE_INNER || p->aNode[i].nKey!=1 ) continue;
    if( !hpGraphSame(pExpr, pEdge->pOwn) && !hpGraphSame(pExpr, pEdge->pOther) ){
      continue;
    }
    /* 3 and 3.0 are equal, but not as texts */
    if( pEdge->aff==SQLITE_AFF_TEXT && sqlite3ExprAffinity(pExpr)!=SQLITE_AFF_TEXT ){
      continue;
    }
    if( sqlite3IsBinary(pColl) || pColl==pEdge->pColl ) m |= MASKBIT(i);
  }
  do{
    mOld = m;
    for(i=0; i<p->nNode; i++){
      Bitmask mKey = 0;
      if( p->aNode[i].eNode!=HP_NODE_INNER ) continue;
      for(k=0; k<p->aNode[i].nKey; k++) mKey |= p->aNode[i].aKey[k].m;
      if( (mKey & ~m)==0 && mKey ) m |= MASKBIT(i);
    }
  }while( m!=mOld );
  assert( (m>>p->nNode)==0 );
  return m;
}

/* The term of FROM that the outermost loop scans, as sqlite3HpAccept() has noted */
static SrcItem *hpGraphRoot(SrcList *pSrc){
  int i;
  assert( pSrc->nSrc>0 );
  for(i=0; i<pSrc->nSrc-1 && pSrc->a[i].hp.iLevel!=1; i++){}
  return &pSrc->a[i];
}

/*
** Add the terms of the WHERE clause of node i, a sub-select.  Each is about its table,
** or ties it to others: hpGraphAttach().
*/
static int hpGraphSub(HpGraph *p, int i){
  int k = p->nTerm;
  assert( hpNodeIsSub(&p->aNode[i]) && !p->bPart );
  if( !hpGraphTerms(p, p->aNode[i].pSub->x.pSelect->pWhere, 0) ) return 0;
  for(; k<p->nTerm; k++){
    Bitmask m = p->aTerm[k].m;
    if( p->aTerm[k].iOuter>=0 || (m!=0 && (m & MASKBIT(i))==0) ) return 0;
    p->aTerm[k].iOuter = i;
  }
  return 1;
}

/* Free p, which may be NULL */
static void hpGraphFree(HpGraph *p){
  if( p ) sqlite3DbFree(p->pParse->db, p);
}

/*
** Find keys of nodes, as long as there are any.
*/
static void hpGraphAttachAll(HpGraph *p){
  int i, n;
  do{
    n = 0;
    for(i=0; i<p->nNode; i++){
      if( (p->mDone & MASKBIT(i))==0 && p->aNode[i].eNode!=HP_NODE_NONE
       && hpGraphAttach(p, i)
      ){
        n++;
      }
    }
  }while( n );
}

/*
** If a LEFT JOIN has no unique key, and no terms but those of its ON clause are about its
** table, let that be groups.
*/
static void hpGraphMany(HpGraph *p){
  int i, k;
  assert( p->iMany<0 && !p->bPart );
  for(i=0; i<p->nNode; i++){
    if( (p->mDone & MASKBIT(i))==0 && p->aNode[i].eNode==HP_NODE_LEFT ) break;
  }
  if( i==p->nNode ) return;
  for(k=0; k<p->nTerm; k++){
    if( (p->aTerm[k].m & MASKBIT(i)) && p->aTerm[k].iOuter!=i ) return;
  }
  p->iMany = i;
  p->aNode[i].eNode = HP_NODE_GROUP;
}

/*
** Of a part of a join: leave out what leaves no rows of the root out.
*/
static void hpGraphPrune(HpGraph *p){
  Bitmask mKeep = MASKBIT(p->iRoot);
  Bitmask mOld;
  int i, k;
  for(i=0; i<p->nNode; i++){
    if( (p->mDone & MASKBIT(i)) && hpGraphFilters(p, i) ) mKeep |= MASKBIT(i);
  }
  do{
    mOld = mKeep;
    for(i=0; i<p->nNode; i++){
      if( i==p->iRoot || (mKeep & MASKBIT(i))==0 ) continue;
      assert( (p->mDone & MASKBIT(i))!=0 );
      mKeep |= MASKBIT(p->aNode[i].iHome);
      for(k=0; k<p->aNode[i].nKey; k++) mKeep |= p->aNode[i].aKey[k].m;
    }
  }while( mKeep!=mOld );
  for(i=0; i<p->nNode; i++){
    if( (mKeep & MASKBIT(i))==0 ) p->aNode[i].eNode = HP_NODE_NONE;
  }
  p->mDone &= mKeep;
}

#ifdef SQLITE_DEBUG
/*
** Is p a tree, whose pipes come in an order in which they can run?  Each node
** but the root has keys, a home on the way to the root, and a pipe that is
** done when that of its home begins.
*/
static int hpGraphIsSane(const HpGraph *p){
  int i, k, n;
  if( p->iRoot<0 || p->iRoot>=p->nNode || p->nNode>HP_MX_NODE ) return 0;
  if( p->nPipe<1 || p->nPipe>HP_MX_PIPE ) return 0;
  if( p->aNode[p->iRoot].iPipe!=p->nPipe-1 ) return 0;
  for(i=0; i<p->nNode; i++){
    const HpNode *pNode = &p->aNode[i];
    int bTwin = pNode->iTwin>=0;
    if( pNode->eNode==HP_NODE_NONE || i==p->iRoot ) continue;
    if( pNode->nKey<1 || pNode->nKey>HP_MX_EQ ) return 0;
    if( pNode->iScan<0 || pNode->iScan>pNode->iPipe ) return 0;
    if( p->aOrder[pNode->iPipe]!=(bTwin ? pNode->iTwin : i) ) return 0;
    for(k=i, n=0; k!=p->iRoot; k=p->aNode[k].iHome){
      if( k<0 || n++>=p->nNode ) return 0;
    }
    if( pNode->iPipe>=p->aNode[pNode->iHome].iScan ) return 0;
    for(k=0; k<pNode->nKey; k++){
      if( pNode->aKey[k].m & ~p->mDone ) return 0;
    }
  }
  for(i=0; i<p->nReduce; i++){
    const HpReduce *pReduce = &p->aReduce[i];
    int iPipe = p->aNode[pReduce->iRel].iPipe;
    if( iPipe>=p->aNode[pReduce->iNode].iScan ) return 0;
  }
  return 1;
}
#endif

/* For PRAGMA hp_log: a join cannot go from its root to a node */
static void hpGraphLog(const HpGraph *p, const HpNode *pNode){
  const SrcItem *pRoot = p->aNode[p->iRoot].pItem;
  const SrcItem *pItem = pNode->pItem;
  if( hpNodeIsSub(pNode) ){
    hpConfigLog(p->pParse->db, "note: a sub-select is looked up by no key");
    return;
  }
  hpConfigLog(p->pParse->db, "note: from %s the join reaches %s by no unique "
      "key: = has no value for all columns of a PRIMARY KEY or UNIQUE index",
      pRoot->zAlias ? pRoot->zAlias : pRoot->pSTab->zName,
      pItem->zAlias ? pItem->zAlias : pItem->pSTab->zName);
}

/*
** The graph of a join of pSrc with pWhere, whose levels hpChoiceNote() has noted, or NULL.
** bPart: only what leaves rows of the root out is wanted, and not all of that.
*/
static HpGraph *hpGraphNew(Parse *pParse, SrcList *pSrc, Expr *pWhere, int bPart){
  HpGraph *pNew;
  int i, nTerm;
  if( pSrc->nSrc>HP_MX_NODE ) return 0;
  pNew = sqlite3DbMallocZero(pParse->db, sizeof(*pNew));
  if( pNew==0 ) return 0;
  pNew->pParse = pParse;
  pNew->nNode = pSrc->nSrc;
  pNew->iRoot = pNew->iMany = -1;
  pNew->bPart = (u8)bPart;
  for(i=0; i<pSrc->nSrc; i++){
    SrcItem *pItem = &pSrc->a[i];
    HpNode *pNode = &pNew->aNode[i];
    pNode->pItem = pItem;
    pNode->iPipe = pNode->iScan = pNode->iHome = -1;
    pNode->iLookup = pNode->iRow = pNode->iKept = -1;
    pNode->iTwin = pNode->iOnly = -1;
    if( pItem->hp.iLevel==0 || !hpCompileIsTable(pItem)
     || (bPart && !HasRowid(pItem->pSTab))   /* hp_guard.c does not watch them */
    ){
      pNode->eNode = HP_NODE_NONE;
    }else if( pItem->fg.jointype & (JT_RIGHT|JT_LTORJ) ){
      hpConfigLog(pParse->db, "note: RIGHT and FULL JOIN are SQLite's");
      goto refused;
    }else if( pItem->hp.iLevel==1 ){
      if( pItem->fg.fromExists || (pItem->fg.jointype & JT_LEFT) ) goto refused;
      assert( pNew->iRoot<0 );     /* Levels differ: hpChoiceNote() */
      pNode->eNode = HP_NODE_ROOT;
      pNew->iRoot = i;
    }else if( pItem->fg.fromExists ){
      pNode->eNode = HP_NODE_SEMI;
    }else if( pItem->fg.jointype & JT_LEFT ){
      pNode->eNode = bPart ? HP_NODE_NONE : HP_NODE_LEFT;
    }else{
      pNode->eNode = HP_NODE_INNER;
    }
  }
  if( pNew->iRoot<0 ) goto refused;
  if( !bPart && !hpSubPlanNodes(pNew, pWhere) ) goto refused;
  if( !hpGraphTerms(pNew, pWhere, 0) ) goto refused;
  nTerm = pNew->nTerm;
  for(i=0; i<nTerm; i++){
    Expr *pOr = pNew->aTerm[i].pExpr;
    Expr *pSide = pOr;
    if( pOr->op!=TK_OR || pNew->aTerm[i].iOuter>=0 ) continue;
    while( pSide->op==TK_OR ) pSide = pSide->pLeft;
    if( !hpGraphCommon(pNew, pOr, pSide) ) goto refused;
  }
  for(i=pSrc->nSrc; i<pNew->nNode; i++){
    if( !hpGraphSub(pNew, i) ) goto refused;
  }
  assert( pNew->nNode>=pSrc->nSrc && pNew->nTerm<=HP_MX_TERM );
  pNew->mDone = MASKBIT(pNew->iRoot);
  hpGraphAttachAll(pNew);
  if( bPart ){
    hpGraphPrune(pNew);
  }else{
    hpGraphMany(pNew);
    if( pNew->iMany>=0 ) hpGraphAttachAll(pNew);
  }
  for(i=0; i<pNew->nNode; i++){
    if( (pNew->mDone & MASKBIT(i))==0 && pNew->aNode[i].eNode!=HP_NODE_NONE ){
      hpGraphLog(pNew, &pNew->aNode[i]);
      goto refused;
    }
  }
  for(i=0; i<pNew->nNode; i++) hpGraphReduce(pNew, i);
  hpGraphTwins(pNew);
  /* Of a part of a join nothing may fail: hpDriverLook() */
  if( !bPart && !hpSafeJoin(pNew) ) goto refused;
  hpGraphNumber(pNew, pNew->iRoot);
  assert( hpGraphIsSane(pNew) );
  return pNew;

refused:
  hpGraphFree(pNew);
  return 0;
}
#endif /* SQLITE_OMIT_HP */
