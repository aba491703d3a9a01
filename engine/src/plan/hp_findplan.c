/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_findplan: a correlated sub-select looks its group up (prepare time).
**
**    sqlite3HpCodeRow()    an aggregate without GROUP BY: look groups up, or
**                          leave it to hpPlanCodeRow()
**    hpFindPlanExists()    EXISTS: look groups up
**
** SQLite runs the loop of a correlated sub-select anew for each row around it.  If
** that is a scan of a whole table, and all that ties it to the row are equalities,
**
**    (SELECT sum(v) FROM t WHERE t.k=outer.x AND t.w>5)
**
** then one scan, grouped by the inner sides, here t.k, has the answers for all rows:
** hp_find.c.  Stock's code for the sub-select stays, with a branch before its loop:
** hpDeliverFind() has a drawing.
**
** Where stock finds the rows by an index each time, that is done only if executions are long, since
** most are for few rows around it (hpCompileLong()).
**
** So a missing group is what stock makes of no rows.  Of EXISTS the noted instruction
** is the OP_Rewind of the loop, and OP_HpFind sets the result.
**
** It is for all statements, whatever is around the sub-select.  What may not be done
** for rows that SQLite would not have come to, or more often, is refused: functions
** that fail or are the application's, on either side.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* What a side of a term names: columns of the table scanned, of others */
#define HP_SIDE_INNER  1
#define HP_SIDE_OUTER  2

static int hpFindWalkExpr(Walker *pWalker, Expr *pExpr){
  switch( pExpr->op ){
    case TK_COLUMN:
      pWalker->eCode |= pExpr->iTable==pWalker->u.iCur ? HP_SIDE_INNER : HP_SIDE_OUTER;
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
static int hpFindSide(const HpCompile *pC, Expr *pExpr){
  Walker w;
  memset(&w, 0, sizeof(w));
  w.pParse = pC->pParse;
  w.xExprCallback = hpFindWalkExpr;
  w.xSelectCallback = sqlite3SelectWalkFail;
  w.u.iCur = pC->iCur;
  if( sqlite3WalkExpr(&w, pExpr)==WRC_Abort ) return HP_SIDE_INNER|HP_SIDE_OUTER;
  return w.eCode;
}

/* May pExpr be computed when SQLite would not?  A column of a query that aggregates
** may, if nothing is made of it. */
static int hpFindIsSafe(const HpCompile *pC, Expr *pExpr){
  return sqlite3ExprSkipCollate(pExpr)->op==TK_AGG_COLUMN
      || hpSafe(pC->pParse, pExpr, 0, 0);
}

/*
** Make a key of the equality pTerm between something of the table and something of
** others.
*/
static int hpFindKey(HpCompile *pC, Expr *pTerm){
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
  if( (pTerm->op!=TK_EQ && pTerm->op!=TK_IS) || k>=HP_MX_EQ ) return SQLITE_ERROR;
  if( sqlite3ExprIsVector(pOwn) || sqlite3ExprIsVector(pOther) ) return SQLITE_ERROR;
  pColl = sqlite3ExprCompareCollSeq(pC->pParse, pTerm);
  aff = (u8)binaryCompareP5(pOwn, pOther, 0) & SQLITE_AFF_MASK;
  if( hpFindSide(pC, pOwn)!=HP_SIDE_INNER ) SWAP(Expr*, pOwn, pOther);
  if( hpFindSide(pC, pOwn)!=HP_SIDE_INNER || hpFindSide(pC, pOther)!=HP_SIDE_OUTER
   || !hpFindIsSafe(pC, pOwn) || !hpFindIsSafe(pC, pOther)
   || !hpCompileCollOk(pColl, &pGroup->keys.aColl[k])
  ){
    return SQLITE_ERROR;
  }
  affOwn = sqlite3ExprAffinity(pOwn);
  iVec = hpCompileExpr(pC, pOwn);
  if( aff>=SQLITE_AFF_NUMERIC ){
    aff = SQLITE_AFF_NUMERIC;
    if( affOwn<SQLITE_AFF_NUMERIC ) iVec = hpCompileAff(pC, HP_OP_AFFINITY, aff, iVec);
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
static int hpFindWhere(HpCompile *pC, Expr *pWhere){
  if( pWhere==0 ) return SQLITE_OK;
  if( pWhere->op==TK_AND ){
    if( hpFindWhere(pC, pWhere->pLeft) ) return SQLITE_ERROR;
    return hpFindWhere(pC, pWhere->pRight);
  }
  if( hpFindSide(pC, pWhere) & HP_SIDE_OUTER ) return hpFindKey(pC, pWhere);
  return hpSafe(pC->pParse, pWhere, 0, 0) ? hpCompileExprWhere(pC, pWhere)
                                                 : SQLITE_ERROR;
}

static int hpFindBegin(HpCompile *pC){
  const AggInfo *pAggInfo = pC->pAggInfo;
  HpPlan *pPlan = pC->pPlan;
  HpGroupPlan *pGroup = hpCompileAlloc(pPlan, sizeof(*pGroup));
  pC->pPipe->pSink = &hpSinkGroups;
  pC->pPipe->pGroup = pGroup;
  pPlan->pKeyed = hpCompileAlloc(pPlan, sizeof(*pPlan->pKeyed));
  if( pGroup==0 || pPlan->pKeyed==0 ) return SQLITE_NOMEM;
  pGroup->nAgg = pAggInfo ? pAggInfo->nFunc : 0;
  pGroup->aAgg = hpCompileAlloc(pPlan, sizeof(HpAggDef)*(i64)pGroup->nAgg);
  pGroup->aBare = hpCompileAlloc(pPlan, 0);
  if( pGroup->aAgg==0 || pGroup->aBare==0 ) return SQLITE_NOMEM;
  return hpCompileKeys(pPlan, &pGroup->keys, HP_MX_EQ);
}

/* The aggregates of a group; its keys are terms of the WHERE clause */
static int hpFindSink(HpCompile *pC){
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

static const HpOutput hpFindOutput = {
  HP_IN(HP_LOP_SCAN),    /* Of joins the outer sides would have to be told */
  HP_OUT_THREADS, HP_NO_SUBQUERY,
  hpFindBegin, hpFindWhere, hpFindSink, 0
};

/*
** The plan of correlated sub-select p, with the aggregates of pAggInfo, or NULL:
** EXISTS.  Returns NULL if it is refused.
*/
static HpPlan *hpFindCompile(Parse *pParse, Select *p, AggInfo *pAggInfo){
  SrcItem *pItem = &p->pSrc->a[0];
  u8 bFind = pItem->hp.bFind;
  HpLop in, top;
  HpPlan *pPlan;
  assert( p->pSrc->nSrc==1 && p->pGroupBy==0 && HasRowid(pItem->pSTab) );
  memset(&pItem->hp, 0, sizeof(pItem->hp));
  pItem->hp.bWhole = pItem->hp.bByRowid = 1;
  pItem->hp.bPlain = bFind==0;
  memset(&in, 0, sizeof(in));
  memset(&top, 0, sizeof(top));
  in.eOp = HP_LOP_SCAN;
  in.pItem = pItem;
  in.pWhere = p->pWhere;
  top.eOp = HP_LOP_KEYED;
  top.pIn = &in;
  top.pSelect = p;
  top.pAggInfo = pAggInfo;
  pPlan = hpLower(pParse, &top, &hpFindOutput);
  if( pPlan ) pPlan->bGuess = bFind;
  return pPlan;
}

/* In EXPLAIN QUERY PLAN: the scan of pItem, before address iTo, is a look-up, or may become one */
static void hpFindExplain(
  Parse *pParse,
  const HpPlan *pPlan,
  const SrcItem *pItem,
  int iTo
){
  sqlite3 *db = pParse->db;
  const HpKeyed *pKeyed = pPlan->pKeyed;
  char *zScan, *zKey = 0;
  int bLater = pPlan->bGuess && hpConfigOffload(db)!=HP_OFFLOAD_FORCE;
  int i;
  if( pParse->explain!=2 ) return;
  for(i=0; i<pKeyed->nKey; i++){
    const Expr *p = sqlite3ExprSkipCollate(pKeyed->aKey[i].pOwn);
    const char *z = "<expr>";
    if( p->op==TK_COLUMN || p->op==TK_AGG_COLUMN ){
      z = p->iColumn<0 ? "rowid" : pItem->pSTab->aCol[p->iColumn].zCnName;
    }
    zKey = sqlite3MPrintf(db, "%z%s%s=?", zKey, i ? " AND " : "", z);
  }
  assert( iTo>0 && iTo<sqlite3VdbeCurrentAddr(pParse->pVdbe) );
  zScan = sqlite3MPrintf(db, "SCAN %S", pItem);
  for(i=iTo; zScan && zKey && i>0; i--){
    const char *z = hpSpliceLine(pParse->pVdbe, i);
    int n = sqlite3Strlen30(&zScan[5]);
    if( z && (strcmp(z, zScan)==0
         /* Stock calls the scan for a min() or max() so */
         || (strncmp(z, "SEARCH ", 7)==0 && strncmp(&z[7], &zScan[5], n)==0
             && (z[7+n]==0 || (pPlan->bGuess && z[7+n]==' '))))
    ){
      hpSpliceLineSet(pParse->pVdbe, i, bLater
          ? sqlite3MPrintf(db, "%s OR, IF LONG, HASH TABLE (%s)", z, zKey)
          : sqlite3MPrintf(db, "SEARCH %S USING HASH TABLE (%s)", pItem, zKey));
      break;
    }
  }
  sqlite3DbFree(db, zScan);
  sqlite3DbFree(db, zKey);
}

/* Are the functions of pAggInfo, at a glance, ones that groups can be found of? */
static int hpFindMayAgg(const AggInfo *pAggInfo){
  int i;
  for(i=0; i<pAggInfo->nFunc; i++){
    const struct AggInfo_func *p = &pAggInfo->aFunc[i];
    if( p->iDistinct>=0 || p->iOBTab>=0 ) return 0;
    if( p->pFunc->xSFunc!=countStep && p->pFunc->xSFunc!=sumStep && p->pFunc->xSFunc!=minmaxStep ){
      return 0;
    }
  }
  return 1;
}

/*
** Correlated sub-select p, an aggregate without GROUP BY, has been coded up to the end
** of its loop.  iHp is the address of the instruction that resets the accumulators.
** Returns true if groups are looked up.
*/
static int hpFindRow(Parse *pParse, Select *p, AggInfo *pAggInfo, int iHp){
  Vdbe *v = pParse->pVdbe;
  HpPlan *pPlan;
  assert( (p->selFlags & SF_Correlated)!=0 && p->pGroupBy==0 );
  if( p->pSrc->nSrc!=1 || pAggInfo->nAccumulator || !hpSpliceIsNull(v, iHp)
   || (p->pSrc->a[0].hp.bWhole==0 && p->pSrc->a[0].hp.bFind==0)
   || !hpWorthIt(pParse, &p->pSrc->a[0], HP_MIN_LEAF)
  ){
    return 0;
  }
  if( p->pSrc->a[0].hp.bFind && p->pSrc->a[0].hp.bUnlikely ){
    if( hpFindMayAgg(pAggInfo) ) hpCompileLong(pParse);
    return hpConfigStat(pParse->db, HP_NO_PLAN);
  }
  pPlan = hpFindCompile(pParse, p, pAggInfo);
  if( pPlan==0 ) return 0;
  hpFindExplain(pParse, pPlan, &p->pSrc->a[0], sqlite3VdbeCurrentAddr(v)-1);
  hpDeliverFind(pParse, pPlan, pAggInfo, iHp);
  return 1;
}

/*
** Code an aggregate query without GROUP BY.  Called after stock's loop, before
** the aggregates are finished.  iHp comes from sqlite3HpAccept().
*/
SQLITE_PRIVATE void sqlite3HpCodeRow(
  Parse *pParse,
  Select *p,
  AggInfo *pAggInfo,
  int iHp
){
  int bFind = p->pSrc->a[0].hp.bFind;
  if( iHp==0 || pParse->nErr ) return;
  if( ((p->selFlags & SF_Correlated)==0 || !hpFindRow(pParse, p, pAggInfo, iHp)) && !bFind ){
    hpPlanCodeRow(pParse, p, pAggInfo, iHp);
  }
}

/*
** The loop of correlated sub-select p has been coded, its OP_Rewind at iRewind.  If
** there is a row register iResult is to be 1.  Returns true if that is looked up.
*/
static int hpFindPlanExists(Parse *pParse, Select *p, int iRewind, int iResult){
  HpScanLoop loop;
  HpPlan *pPlan;
  int n;
  assert( (p->selFlags & SF_Correlated)!=0 && p->pGroupBy==0 );
  assert( iResult>0 && iResult<=pParse->nMem );
  if( p->pSrc->nSrc!=1 || p->iOffset
   || !hpSpliceScan(pParse->pVdbe, iRewind, &loop)
   || !sqlite3ExprIsInteger(p->pLimit->pLeft, &n, 0, 0) || n!=1
   || !hpWorthIt(pParse, &p->pSrc->a[0], HP_MIN_LEAF)
   || !hpSafe(pParse, 0, p->pEList, 0)
  ){
    return 0;
  }
  pPlan = hpFindCompile(pParse, p, 0);
  if( pPlan==0 ) return 0;
  hpFindExplain(pParse, pPlan, &p->pSrc->a[0], iRewind);
  hpDeliverExists(pParse, pPlan, &loop, iResult);
  return 1;
}
#endif /* SQLITE_OMIT_HP */
