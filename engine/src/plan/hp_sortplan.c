/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_sortplan: ORDER BY whose rows the executor sorts (prepare time).
**
**    hpSortPlanCode()             can the rows of a query be made as records?
**    hpSortPlanKeys()             the ORDER BY terms as keys of a plan
**    hpSortPlanTies()             which of equal rows comes first where SQLite searches an index
**    hpSortPlanNew(), hpSortPlanField()    a field of the records
**    hpSortPlanExplain()          say it in EXPLAIN QUERY PLAN
**
** hp_sort.c says what is done at run time, with a drawing of the program.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Fill in keys: the values that are compared.  bBytes: only their bytes are.  There is room for
** nMore further ones.
*/
static int hpSortPlanKeys(
  HpCompile *pC,
  HpKeys *pKeys,
  ExprList *pList,
  int bBytes,
  int nMore
){
  int n = pList->nExpr;
  KeyInfo *pKeyInfo;
  int i;
  int rc = SQLITE_OK;
  assert( n>0 && pKeys->n==0 );
  if( hpCompileKeys(pC->pPlan, pKeys, n+nMore) ) return SQLITE_NOMEM;
  pKeyInfo = sqlite3KeyInfoFromExprList(pC->pParse, pList, 0, 0);
  if( pKeyInfo==0 ) return SQLITE_NOMEM;
  for(i=0; i<n && rc==SQLITE_OK; i++){
    int iVec = hpCompileExpr(pC, pList->a[i].pExpr);
    if( iVec<0 ){
      rc = SQLITE_ERROR;
      break;
    }
    pKeys->aVec[i] = (u16)iVec;
    pKeys->aSort[i] = pKeyInfo->aSortFlags[i];
    pKeys->aColl[i] = 0;
    if( !bBytes
     && !hpCompileCollOk(pKeyInfo->aColl[i], &pKeys->aColl[i])
    ){
      hpCompileNo(pC, HP_NO_COLLATION);
      rc = SQLITE_ERROR;
    }
  }
  pKeys->n = n;
  sqlite3KeyInfoUnref(pKeyInfo);
  return rc;
}

/*
** SQLite searches an index, so of equal rows those come first that do so there.  Make the columns of the
** index further keys, but for those that have one value: HP_MX_EQ at most.
*/
static int hpSortPlanTies(HpCompile *pC, HpKeys *pKeys, SrcList *pSrc){
  sqlite3 *db = pC->pParse->db;
  const Index *pIdx = pSrc->a[0].hp.pSearch;
  Bitmask mUsed = pSrc->a[0].colUsed;
  int i;
  if( pIdx->nKeyCol>HP_MX_EQ ) return SQLITE_ERROR;
  assert( pKeys->n>0 && pIdx->pTable==pSrc->a[0].pSTab );
  for(i=hpBoundsConstant(pC->pPlan->pSearch->pRange); i<pIdx->nKeyCol; i++){
    int n = pKeys->n;
    CollSeq *pColl = sqlite3FindCollSeq(db, SQLITE_UTF8, pIdx->azColl[i], 0);
    Expr *pExpr;
    int iVec;
    if( pIdx->aiColumn[i]<0 || pColl==0 ) return SQLITE_ERROR;
    pExpr = sqlite3CreateColumnExpr(db, pSrc, 0, pIdx->aiColumn[i]);
    iVec = pExpr ? hpCompileExpr(pC, pExpr) : -1;
    sqlite3ExprDelete(db, pExpr);
    pSrc->a[0].colUsed = mUsed;
    if( iVec<0 || !hpCompileCollOk(pColl, &pKeys->aColl[n]) ) return SQLITE_ERROR;
    pKeys->aVec[n] = (u16)iVec;
    pKeys->aSort[n] = pIdx->aSortOrder[i];
    pKeys->n++;
  }
  return SQLITE_OK;
}

/*
** In EXPLAIN QUERY PLAN say what we do: the nearest line before iRewind.
*/
static void hpSortPlanExplain(Parse *pParse, int iRewind){
  int i;
  if( pParse->explain!=2 ) return;
  for(i=iRewind; i>0; i--){
    const char *z = hpSpliceLine(pParse->pVdbe, i);
    if( z && (strncmp(z, "SCAN ", 5)==0 || strncmp(z, "SEARCH ", 7)==0)
     && strstr(z, " VECTORIZED")==0
    ){
      int bSearch = z[1]=='E' && strstr(z, " USING INDEX ")!=0;
      hpSpliceLineSet(pParse->pVdbe, i, sqlite3MPrintf(pParse->db,
          bSearch ? "%s OR VECTORIZED SCAN" : "%s VECTORIZED", z));
      return;
    }
  }
}

/*
** Add a field to the records.
*/
static HpField *hpSortPlanNew(HpCompile *pC, int *pnAlloc, u8 eField){
  HpSortPlan *pPlan = pC->pPipe->pSort;
  HpField *pNew;
  if( hpArenaGrow(&pC->pPlan->mem, &pPlan->aField, pnAlloc, pPlan->nField,
                  sizeof(HpField))
  ){
    return 0;
  }
  assert( pPlan->nField<*pnAlloc );
  pNew = &pPlan->aField[pPlan->nField++];
  memset(pNew, 0, sizeof(*pNew));
  pNew->eField = eField;
  pNew->n = 1;
  return pNew;
}

/*
** Add a field with the value of pExpr to the records.  bVec: it is in a vector in any case, so
** take it from there.
*/
static int hpSortPlanField(HpCompile *pC, int *pnAlloc, Expr *pExpr, int bVec){
  HpSortPlan *pPlan = pC->pPipe->pSort;
  Table *pTab = pC->pTab;
  HpField *pField;
  int iVec;
  pExpr = sqlite3ExprSkipCollate(pExpr);
  if( pExpr && !bVec && pExpr->op==TK_COLUMN && pExpr->y.pTab==pTab
   && pExpr->iTable==pC->iCur && !ExprHasProperty(pExpr, EP_FixedCol)
   && pExpr->iColumn>=0 && pExpr->iColumn!=pTab->iPKey
   && (pTab->aCol[pExpr->iColumn].colFlags & COLFLAG_VIRTUAL)==0
   && pTab->aCol[pExpr->iColumn].affinity!=SQLITE_AFF_REAL
  ){
    int iStore;
    int iCol = hpCompileStored(pC, pExpr->iColumn);
    if( iCol<0 ) return SQLITE_ERROR;
    iStore = pC->pPipe->source.aCol[iCol].iStore;
    if( pPlan->nField>0 ){
      pField = &pPlan->aField[pPlan->nField-1];
      if( pField->eField==HP_FIELD_RAW && pField->iStore+pField->n==iStore ){
        pField->n++;
        return SQLITE_OK;
      }
    }
    pField = hpSortPlanNew(pC, pnAlloc, HP_FIELD_RAW);
    if( pField==0 ) return SQLITE_NOMEM;
    pField->iStore = iStore;
    return SQLITE_OK;
  }
  iVec = hpCompileExpr(pC, pExpr);
  if( iVec<0 ) return SQLITE_ERROR;
  pField = hpSortPlanNew(pC, pnAlloc, HP_FIELD_VEC);
  if( pField==0 ) return SQLITE_NOMEM;
  pField->iVec = (u16)iVec;
  return SQLITE_OK;
}

/* Is pExpr one of the terms of pOrderBy? */
static int hpSortPlanIsTerm(const ExprList *pOrderBy, const Expr *pExpr){
  int k;
  for(k=0; k<pOrderBy->nExpr; k++){
    if( sqlite3ExprCompareSkip(pOrderBy->a[k].pExpr, (Expr*)pExpr, -1)==0 ) return 1;
  }
  return 0;
}

/*
** Say what the records are made of, as pushOntoSorter() does: the ORDER BY
** terms and then the result columns that are not one of them.  A table of
** results gets them all, as one record within the record.
** Rows of which the first ones of each partition are wanted are kept as values of vectors as long
** as they can be (hp_partition.c): terms are, so they are not taken from the record.
*/
static int hpSortPlanFields(
  HpCompile *pC,
  Select *p,
  ExprList *pOrderBy,
  int eDest
){
  HpSortPlan *pPlan = pC->pPipe->pSort;
  ExprList *pEList = p->pEList;
  int nAlloc = 0;
  int rc = SQLITE_OK;
  int i, k;
  assert( pPlan->nField==0 && pPlan->row.keys.n>=pOrderBy->nExpr );
  pPlan->nNested = eDest==SRT_EphemTab ? pOrderBy->nExpr : 0;
  for(k=0; k<pOrderBy->nExpr && !pPlan->nNested && rc==SQLITE_OK; k++){
    for(i=0; i<pEList->nExpr && pEList->a[i].u.x.iOrderByCol!=k+1; i++){}
    if( i<pEList->nExpr ){
      rc = hpSortPlanField(pC, &nAlloc, pOrderBy->a[k].pExpr, p->pHp!=0);
    }else if( hpSortPlanNew(pC, &nAlloc, HP_FIELD_NULL)==0 ){
      rc = SQLITE_NOMEM;
    }
  }
  for(i=0; i<pEList->nExpr && rc==SQLITE_OK; i++){
    if( pPlan->nNested || pEList->a[i].u.x.iOrderByCol==0 ){
      Expr *pExpr = pEList->a[i].pExpr;
      rc = hpSortPlanField(pC, &nAlloc, pExpr, p->pHp && hpSortPlanIsTerm(pOrderBy, pExpr));
    }
  }
  return rc;
}

static int hpSortPlanBegin(HpCompile *pC){
  HpSortPlan *pSort = hpCompileAlloc(pC->pPlan, sizeof(*pSort));
  assert( pC->pPipe->pSink==0 );
  if( pSort==0 ) return SQLITE_NOMEM;
  pC->pPipe->pSink = &hpSinkSort;
  pC->pPipe->pSort = pSort;
  pSort->row.entry.bRows = 1;
  pSort->row.entry.szEntry = sizeof(HpHead);
  return SQLITE_OK;
}

/* The keys of the records, and what they are made of */
static int hpSortPlanSink(HpCompile *pC){
  const HpLop *pTop = pC->pTop;
  Select *p = pTop->pSelect;
  HpSortPlan *pSort = pC->pPipe->pSort;
  int rc = hpSortPlanKeys(pC, &pSort->row.keys, pTop->pList, 0, HP_MX_EQ);
  if( rc==SQLITE_OK && pC->pPlan->pSearch ){
    rc = hpSortPlanTies(pC, &pSort->row.keys, p->pSrc);
  }
  if( rc==SQLITE_OK ) rc = hpSortPlanFields(pC, p, pTop->pList, pTop->eDest);
  if( rc==SQLITE_OK && p->pHp ) rc = hpPartitionPlan(pC->pPlan, pSort, p->pHp);
  pC->pPipe->bUser = pC->pPipe->bSerial;
  return rc;
}

static const HpOutput hpSortPlanOutput = {
  HP_IN(HP_LOP_SCAN), 0, HP_NO_OTHER,
  hpSortPlanBegin, 0, hpSortPlanSink, 0
};

/* The plan of query p, or NULL if it is refused */
static HpPlan *hpSortPlan(
  Parse *pParse,
  Select *p,
  ExprList *pOrderBy,
  int eDest
){
  HpLop in, top;
  memset(&in, 0, sizeof(in));
  memset(&top, 0, sizeof(top));
  assert( p->pSrc->nSrc==1 && pOrderBy!=0 );
  in.eOp = HP_LOP_SCAN;
  in.pItem = &p->pSrc->a[0];
  in.pWhere = p->pWhere;
  top.eOp = HP_LOP_SORT;
  top.pIn = &in;
  top.pSelect = p;
  top.pList = pOrderBy;
  top.eDest = eDest;
  return hpLower(pParse, &top, &hpSortPlanOutput);
}

/*
** Code query p, whose loop begins at iFrom: HpScanLoop.iFrom.  Returns the
** address of OP_HpScan, or 0 if the query is refused.
*/
static int hpSortPlanCode(
  Parse *pParse,
  Select *p,
  ExprList *pOrderBy,
  int eDest,
  int iFrom
){
  HpSortPlan *pSort;
  HpPlan *pPlan = hpSortPlan(pParse, p, pOrderBy, eDest);
  if( pPlan==0 ) return 0;
  pSort = pPlan->aPipe[0].pSort;
  assert( pPlan->nPipe==1 && (pSort->pPart==0 || p->pHp!=0) );
  hpSortPlanExplain(pParse, iFrom);
  return hpDeliverRecords(pParse, pPlan, iFrom,
                          pSort->pPart ? p->pHp->pLimit : 0);
}
#endif /* SQLITE_OMIT_HP */
