/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_indexplan: the entries of an index as rows to be sorted (prepare time).
**
**    sqlite3HpRefillBegin()   before SQLite's loop over the table: OP_HpTask
**    sqlite3HpRefillEnd()     behind SQLite's code
**    hpIndexPlanVec()         a column of an index
**
** An entry is what sqlite3GenerateIndexKey() makes: the columns of the index,
** expressions among them, and the rowid, or what is missing of the primary key.
** All of them are keys, in the order and the collations of the index, and the
** record has them without affinity.  Of a REAL column it has what the table
** stores, which is an integer or a real where both are equal (HP_FIELD_REAL).
** A partial index is a filter.
**
** Columns of expressions and of the WHERE clause belong to cursor -1, as those
** of generated columns do: HpCompile.nSelf.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The vector of column i of the index, or -1.  *ppColl becomes its collation,
** NULL for BINARY.
*/
static int hpIndexPlanVec(
  HpCompile *pC,
  const Index *pIndex,
  int i,
  CollSeq **ppColl
){
  int iCol = pIndex->aiColumn[i];
  CollSeq *pColl;
  int iVec;
  assert( i>=0 && i<pIndex->nColumn && pIndex->pTable==pC->pTab );
  if( iCol==XN_EXPR ){
    Expr *pExpr = pIndex->aColExpr->a[i].pExpr;
    pC->nSelf++;
    iVec = hpCompileExpr(pC, pExpr);
    pC->nSelf--;
  }else{
    iVec = hpCompileExprColumn(pC, iCol);
  }
  if( iVec<0 ) return -1;
  pColl = sqlite3FindCollSeq(pC->pParse->db, SQLITE_UTF8, pIndex->azColl[i], 0);
  if( pColl==0 || !hpCompileCollOk(pColl, ppColl) ){
    return hpCompileNo(pC, HP_NO_COLLATION);
  }
  return iVec;
}

/*
** Add column i of the index to the keys and to the record.
*/
static int hpIndexPlanColumn(HpCompile *pC, Index *pIndex, int i){
  HpSortPlan *pSort = pC->pPipe->pSort;
  HpKeys *pKeys = &pSort->row.keys;
  HpField *pField = &pSort->aField[i];
  int iCol = pIndex->aiColumn[i];
  Table *pTab = pIndex->pTable;
  int iVec = hpIndexPlanVec(pC, pIndex, i, &pKeys->aColl[i]);
  if( iVec<0 ) return SQLITE_ERROR;
  pKeys->aVec[i] = (u16)iVec;
  pKeys->aSort[i] = pIndex->aSortOrder[i] ? KEYINFO_ORDER_DESC : 0;
  assert( pKeys->n==i && pSort->nField==i );
  pKeys->n++;
  pSort->nField++;
  pField->n = 1;
  if( iCol>=0 && iCol!=pTab->iPKey
   && (pTab->aCol[iCol].colFlags & COLFLAG_VIRTUAL)==0
   && pTab->aCol[iCol].affinity==SQLITE_AFF_REAL
  ){
    int iStored = hpCompileStored(pC, iCol);
    if( iStored<0 ) return SQLITE_ERROR;
    pField->eField = HP_FIELD_REAL;
    pField->iStore = pC->pPipe->source.aCol[iStored].iStore;
    pC->pPipe->source.bStored = 1;
  }else{
    pField->eField = HP_FIELD_VEC;
  }
  pField->iVec = (u16)iVec;
  return SQLITE_OK;
}

/*
** Reals of REAL columns are stored as integers where they are some, but those
** of expressions are not.  In a virtual column of REAL affinity, and in one
** without affinity that the index has as such, it depends on the instructions
** that SQLite codes: these are left to it.
*/
static int hpIndexPlanHasReal(const Index *pIndex){
  const Table *pTab = pIndex->pTable;
  int bReal = 0;
  int i;
  assert( IsOrdinaryTable(pTab) );
  for(i=0; i<pTab->nCol; i++){
    if( pTab->aCol[i].affinity!=SQLITE_AFF_REAL ) continue;
    bReal = 1;
    if( pTab->aCol[i].colFlags & COLFLAG_VIRTUAL ) return 1;
  }
  for(i=0; i<pIndex->nColumn && bReal; i++){
    int iCol = pIndex->aiColumn[i];
    if( iCol>=0 && (pTab->aCol[iCol].colFlags & COLFLAG_VIRTUAL)!=0
     && pTab->aCol[iCol].affinity<SQLITE_AFF_TEXT
    ){
      return 1;
    }
  }
  return 0;
}

/*
** Compile the plan of the entries of pIndex.  iTab is the cursor of its table.
** Returns NULL if it is refused.
*/
static HpPlan *hpIndexPlanCompile(Parse *pParse, Index *pIndex, int iTab){
  HpCompile c;
  HpSortPlan *pSort;
  SrcItem x;
  HpPlan *pPlan;
  int rc = SQLITE_OK;
  int i;
  memset(&x, 0, sizeof(x));
  x.pSTab = pIndex->pTable;
  x.iCursor = iTab;
  if( !HasRowid(x.pSTab) ) x.hp.pIdx = sqlite3PrimaryKeyIndex(x.pSTab);
  pPlan = hpCompileNew(&c, pParse, &x, 1);
  if( pPlan==0 ) return 0;
  pPlan->xTask = hpRefillRun;
  c.pPipe->pSink = &hpSinkSort;
  c.pPipe->pSort = pSort = hpCompileAlloc(pPlan, sizeof(*pSort));
  if( pSort==0
   || hpCompileKeys(pPlan, &pSort->row.keys, pIndex->nColumn)
   || (pSort->aField = hpCompileAlloc(pPlan,
                           sizeof(HpField)*(i64)pIndex->nColumn))==0
  ){
    rc = SQLITE_NOMEM;
  }else{
    pSort->row.entry.bRows = 1;
    pSort->row.entry.bWhole = 1;
    pSort->row.entry.szEntry = sizeof(HpPair);
    pSort->bPrefix = IsUniqueIndex(pIndex);
    pSort->nPrefix = pIndex->nKeyCol;
  }
  if( rc==SQLITE_OK && pIndex->pPartIdxWhere ){
    c.nSelf++;
    rc = hpCompileExprWhere(&c, pIndex->pPartIdxWhere);
    c.nSelf--;
  }
  for(i=0; i<pIndex->nColumn && rc==SQLITE_OK; i++){
    rc = hpIndexPlanColumn(&c, pIndex, i);
  }
  if( hpTaskPlanEnd(&c, rc) ) return 0;
  assert( pSort->row.keys.n==pIndex->nColumn );
  /* SQLite reads all values that entries have, whatever WHERE asks */
  c.pPipe->source.eTypeOnly = 0;
  return pPlan;
}

/*
** SQLite is about to code the loop that reads the table of pIndex, open as
** cursor iTab, into a sorter.  The root page of the index is in register
** regRoot, or, if that is negative, Index.tnum, and the index is to be emptied.
** Returns the address of OP_HpTask, or 0 if it is left to SQLite.
*/
SQLITE_PRIVATE int sqlite3HpRefillBegin(
  Parse *pParse,
  Index *pIndex,
  int iTab,
  int regRoot
){
  Table *pTab = pIndex->pTable;
  HpPlan *pPlan;
  int nMem = pParse->nMem;
  if( !hpTaskPlanMay(pParse) ) return 0;
  if( pIndex->bAscKeyBug || !IsOrdinaryTable(pTab) ) return 0;
  if( hpIndexPlanHasReal(pIndex) ) return 0;
  pPlan = hpIndexPlanCompile(pParse, pIndex, iTab);
  if( pPlan==0 ){
    pParse->nMem = nMem;
    return 0;
  }
  assert( regRoot<=nMem && (regRoot>=0 || pIndex->tnum>1) );
  return regRoot>=0 ? hpDeliverTask(pParse, pPlan, 0, regRoot)
                    : hpDeliverTask(pParse, pPlan, (int)pIndex->tnum, 0);
}

/*
** Behind all code of SQLite's loops.  addrTask comes from
** sqlite3HpRefillBegin(): 0 if there is nothing.
*/
SQLITE_PRIVATE void sqlite3HpRefillEnd(Parse *pParse, int addrTask){
  Vdbe *v = pParse->pVdbe;
  HpPlan *pPlan;
  if( addrTask==0 || pParse->db->mallocFailed ) return;
  sqlite3VdbeJumpHere(v, addrTask);
  pPlan = hpSplicePlan(v, addrTask);
  /* What SQLite does when two entries are not unique */
  pPlan->iLoop = hpSpliceUnique(v, addrTask);
  assert( hpPlanLast(pPlan)->pSort->bPrefix==0 || pPlan->iLoop>addrTask );
}
#endif /* SQLITE_OMIT_HP */
