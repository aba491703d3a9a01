/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_outsort: output SORT: rows in order, as records of a sorter (prepare
** time).
**
**    hpOutSort()       the plan of a query whose rows SQLite would sort
**    hpOutSortKeys()   ORDER BY terms as keys of a plan
**    hpOutSortTies()   which of equal rows comes first where SQLite searches an
**                      index
**    hpOutSortNew(), hpOutSortField()    a field of the records
**
** If only the first rows of each partition of a window are wanted
** (hp_wanted.c), the partitions are the groups of a second plan.  hp_sort.c and
** hp_partition.c say what is done at run time, with a drawing of the program.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Fill in keys: the values that are compared.  bBytes: only their bytes are.
** There is room for nMore further ones.
*/
static int hpOutSortKeys(
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
** SQLite searches an index, so of equal rows those come first that do so
** there.  Make the columns of the index further keys, but for those that have
** one value: HP_MX_EQ at most.
*/
static int hpOutSortTies(HpCompile *pC, HpKeys *pKeys, SrcList *pSrc){
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
    if( iVec<0 || !hpCompileCollOk(pColl, &pKeys->aColl[n]) ){
      return SQLITE_ERROR;
    }
    pKeys->aVec[n] = (u16)iVec;
    pKeys->aSort[n] = pIdx->aSortOrder[i];
    pKeys->n++;
  }
  return SQLITE_OK;
}

/*
** Add a field to the records.
*/
static HpField *hpOutSortNew(HpCompile *pC, int *pnAlloc, u8 eField){
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
** Add a field with the value of pExpr to the records.  bVec: it is in a vector
** in any case, so take it from there.
*/
static int hpOutSortField(HpCompile *pC, int *pnAlloc, Expr *pExpr, int bVec){
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
    pField = hpOutSortNew(pC, pnAlloc, HP_FIELD_RAW);
    if( pField==0 ) return SQLITE_NOMEM;
    pField->iStore = iStore;
    return SQLITE_OK;
  }
  iVec = hpCompileExpr(pC, pExpr);
  if( iVec<0 ) return SQLITE_ERROR;
  pField = hpOutSortNew(pC, pnAlloc, HP_FIELD_VEC);
  if( pField==0 ) return SQLITE_NOMEM;
  pField->iVec = (u16)iVec;
  return SQLITE_OK;
}

/* Is pExpr one of the terms of pOrderBy? */
static int hpOutSortIsTerm(const ExprList *pOrderBy, const Expr *pExpr){
  int k;
  for(k=0; k<pOrderBy->nExpr; k++){
    if( sqlite3ExprCompareSkip(pOrderBy->a[k].pExpr, (Expr*)pExpr, -1)==0 ){
      return 1;
    }
  }
  return 0;
}

/*
** Say what the records are made of, as pushOntoSorter() does: the ORDER BY
** terms and then the result columns that are not one of them.  A table of
** results gets them all, as one record within the record.
** Rows of which the first ones of each partition are wanted are kept as values
** of vectors as long as they can be (hp_partition.c): terms are, so they are
** not taken from the record.
*/
static int hpOutSortFields(
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
      rc = hpOutSortField(pC, &nAlloc, pOrderBy->a[k].pExpr, p->pHp!=0);
    }else if( hpOutSortNew(pC, &nAlloc, HP_FIELD_NULL)==0 ){
      rc = SQLITE_NOMEM;
    }
  }
  for(i=0; i<pEList->nExpr && rc==SQLITE_OK; i++){
    if( pPlan->nNested || pEList->a[i].u.x.iOrderByCol==0 ){
      Expr *pExpr = pEList->a[i].pExpr;
      rc = hpOutSortField(pC, &nAlloc, pExpr, p->pHp
       && hpOutSortIsTerm(pOrderBy, pExpr));
    }
  }
  return rc;
}

/*
** The plan, which has its keys already, sorts rows for a window, and *pWanted
** is known.
*/
static int hpOutSortPart(
  HpPlan *pPlan,
  HpSortPlan *pSort,
  const HpWanted *pWanted
){
  const HpKeys *pKeys = &pSort->row.keys;
  HpGroupPlan *pPart;
  int n = sizeof(HpPack) + ROUND8(sizeof(HpPartition));
  assert( pWanted->nPart<=pKeys->n );
  assert( pSort->pPart==0 && pWanted->nLimit>=-1 );
  assert( pWanted->eNumber>=HP_NUMBER_ROWS
       && pWanted->eNumber<=HP_NUMBER_DENSE );
  pSort->pPart = pPart = hpCompileAlloc(pPlan, sizeof(*pPart));
  if( pPart==0 ) return SQLITE_NOMEM;
  pPart->keys = *pKeys;
  pPart->keys.n = pWanted->nPart;
  pSort->bPrefix = 1;
  pSort->nPrefix = pWanted->nPart;
  pPart->entry.bIntKey = pPart->keys.n==1 && pPart->keys.aColl[0]==0;
  if( pPart->entry.bIntKey ) pPart->entry.eSort = pPart->keys.aSort[0];
  pPart->entry.iHeadOff = (u16)n;
  pPart->entry.szEntry = n + sizeof(HpHead);
  pSort->eNumber = pWanted->eNumber;
  pSort->nLimit = pWanted->nLimit;
  return SQLITE_OK;
}

static int hpOutSortBegin(HpCompile *pC){
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
static int hpOutSortSink(HpCompile *pC){
  const HpLop *pTop = pC->pTop;
  Select *p = pTop->pSelect;
  HpSortPlan *pSort = pC->pPipe->pSort;
  int rc = hpOutSortKeys(pC, &pSort->row.keys, pTop->pList, 0, HP_MX_EQ);
  if( rc==SQLITE_OK && pC->pPlan->pSearch ){
    rc = hpOutSortTies(pC, &pSort->row.keys, p->pSrc);
  }
  if( rc==SQLITE_OK ) rc = hpOutSortFields(pC, p, pTop->pList, pTop->eDest);
  if( rc==SQLITE_OK && p->pHp ) rc = hpOutSortPart(pC->pPlan, pSort, p->pHp);
  pC->pPipe->bUser = pC->pPipe->bSerial;
  return rc;
}

static const HpOutput hpOutSortType = {
  HP_IN(HP_LOP_SCAN),    /* Of a join, rows would have to have all columns */
  0, HP_NO_OTHER,
  hpOutSortBegin, 0, hpOutSortSink, 0
};

/* The plan of query p, or NULL if it is refused */
static HpPlan *hpOutSort(
  Parse *pParse,
  Select *p,
  ExprList *pOrderBy,
  int eDest
){
  HpLop in, top;
  assert( p->pSrc->nSrc==1 && pOrderBy!=0 );
  hpLopTree(&top, HP_LOP_SORT, p, &in, &p->pSrc->a[0], p->pWhere, 0);
  top.pList = pOrderBy;
  top.eDest = eDest;
  return hpLower(pParse, &top, &hpOutSortType);
}
#endif /* SQLITE_OMIT_HP */
