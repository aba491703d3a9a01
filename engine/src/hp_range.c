/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_range: bounds of a scan, from the WHERE clause.
**
**    hpRangeCompile()   prepare time: find the bounds
**    hpRangeSeemsLarge()  prepare time: do literals say that there is much?
**    hpRangeFree()      let go of them
**    hpRangeKey()       run time: the first or the last key, ...
**    hpKeyCompare()     ... compare a cell of an interior page to it ...
**    hpKeyClear()       ... and free it
**
** Where the planner searches a b-tree instead of scanning it,
**
**    SEARCH t USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
**    SEARCH t USING COVERING INDEX i (a=? AND b>?)
**
** the same terms are looked for in the WHERE clause: equality with a constant
** for each of the first columns of the index, bounds for the next one.  All
** of the WHERE clause is also a filter, so a bound may be too wide but never
** too narrow.  It is never too narrow if the term compares as the index is
** sorted: with the same collation, and with an affinity that the column's
** values have already.
**
** A constant that is not simple (NULL, for a rowid anything but a number) is
** declined: stock's code then most often finds nothing, at once.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* What hpRangeTerm() looks for */
typedef struct HpRangeFind HpRangeFind;
struct HpRangeFind {
  HpCompile *pC;
  int iColumn;           /* Column of the table; -1: rowid */
  const char *zColl;     /* Collation of the index; NULL: rowid */
  u8 aff;                /* Affinity of the column */
  struct HpEnd aFound[3];  /* Lower bound, upper bound, equality */
};

/*
** pLeft op pRight is true for all rows that matter.  Note what it says about the
** column.
*/
static int hpRangeCompare(
  HpRangeFind *pFind,
  Expr *pExpr,           /* The comparison, or a BETWEEN */
  u8 op,
  Expr *pLeft,
  Expr *pRight
){
  Parse *pParse = pFind->pC->pParse;
  HpProg *pProg = &pFind->pC->pPlan->prog;
  struct HpEnd *pEnd;
  Expr *pCol = sqlite3ExprSkipCollate(pLeft);
  Expr *pConst = pRight;
  CollSeq *pColl;
  int iVec, i;
  u8 aff;
  if( pCol->op!=TK_COLUMN || pCol->iTable!=pFind->pC->iCur ){
    static const u8 aSwap[] = { TK_LT, TK_GE, TK_GT, TK_LE };
    pCol = sqlite3ExprSkipCollate(pRight);
    pConst = pLeft;
    if( op>=TK_GT && op<=TK_GE ) op = aSwap[op-TK_GT];
    if( pCol->op!=TK_COLUMN || pCol->iTable!=pFind->pC->iCur ) return SQLITE_OK;
  }
  if( ExprHasProperty(pCol, EP_FixedCol) ) return SQLITE_OK;
  if( pCol->iColumn!=pFind->iColumn
   && (pFind->iColumn>=0 || pCol->iColumn!=pFind->pC->pTab->iPKey)
  ){
    return SQLITE_OK;
  }
  if( sqlite3ExprIsVector(pConst) ) return SQLITE_OK;
  if( !sqlite3ExprIsConstant(pParse, pConst) ) return SQLITE_OK;
  aff = binaryCompareP5(pLeft, pRight, 0) & SQLITE_AFF_MASK;
  if( aff>=SQLITE_AFF_NUMERIC ? pFind->aff<SQLITE_AFF_NUMERIC
                              : aff==SQLITE_AFF_TEXT && pFind->aff!=aff ){
    return SQLITE_OK;
  }
  if( pFind->zColl ){
    if( pExpr->op==TK_BETWEEN ){
      pColl = sqlite3BinaryCompareCollSeq(pParse, pLeft, pRight);
    }else{
      pColl = sqlite3ExprCompareCollSeq(pParse, pExpr);
    }
    if( pColl==0 ) pColl = pParse->db->pDfltColl;
    if( sqlite3StrICmp(pColl->zName, pFind->zColl)!=0 ) return SQLITE_OK;
  }
  switch( op ){
    case TK_GT: case TK_GE:  pEnd = &pFind->aFound[0]; break;
    case TK_LT: case TK_LE:  pEnd = &pFind->aFound[1]; break;
    default:                 pEnd = &pFind->aFound[2]; break;
  }
  if( pEnd->iReg ) return SQLITE_OK;
  iVec = hpCompileConst(pFind->pC, pConst);
  if( iVec<0 ) return SQLITE_ERROR;
  for(i=0; pProg->aConst[i].iVec!=iVec; i++){}
  pEnd->iReg = pProg->aConst[i].iReg;
  pEnd->aff = aff;
  return SQLITE_OK;
}

/*
** Look at the terms of pWhere that AND connects.
*/
static int hpRangeTerm(HpRangeFind *pFind, Expr *pWhere){
  int rc = SQLITE_OK;
  if( pWhere==0 ) return rc;
  switch( pWhere->op ){
    case TK_AND:
      rc = hpRangeTerm(pFind, pWhere->pLeft);
      if( rc==SQLITE_OK ) rc = hpRangeTerm(pFind, pWhere->pRight);
      break;
    case TK_EQ: case TK_IS:
    case TK_GT: case TK_LE: case TK_LT: case TK_GE:
      rc = hpRangeCompare(pFind, pWhere, pWhere->op, pWhere->pLeft,
                          pWhere->pRight);
      break;
    case TK_BETWEEN: {
      ExprList *pList = pWhere->x.pList;
      rc = hpRangeCompare(pFind, pWhere, TK_GE, pWhere->pLeft, pList->a[0].pExpr);
      if( rc==SQLITE_OK ){
        rc = hpRangeCompare(pFind, pWhere, TK_LE, pWhere->pLeft,
                            pList->a[1].pExpr);
      }
      break;
    }
  }
  return rc;
}

/*
** Prepare *pFind for column i of the index, or for the rowid.  Returns false
** if it has none of use.
*/
static int hpRangeColumn(HpRangeFind *pFind, HpCompile *pC, int i){
  Index *pIdx = pC->pIdx;
  memset(pFind, 0, sizeof(*pFind));
  pFind->pC = pC;
  pFind->iColumn = -1;
  pFind->aff = SQLITE_AFF_INTEGER;
  if( pIdx ){
    CollSeq *pColl;
    if( i>=pIdx->nKeyCol || pIdx->aiColumn[i]<XN_ROWID ) return 0;
    pFind->iColumn = pIdx->aiColumn[i];
    if( pFind->iColumn>=0 ){
      pFind->aff = pC->pTab->aCol[pFind->iColumn].affinity;
    }
    pFind->zColl = pIdx->azColl[i];
    pColl = sqlite3FindCollSeq(pC->pParse->db, SQLITE_UTF8, pFind->zColl, 0);
    if( pColl==0 || !hpCollOk(pColl, &pColl) ) return 0;
  }
  return 1;
}

/*
** If the planner found bounds for pItem find them as well: fill in
** pC->pPlan->pRange.
*/
static int hpRangeCompile(HpCompile *pC, SrcItem *pItem, Expr *pWhere){
  HpRangeFind find;
  HpRange *p;
  int nEq = pItem->hp.nEq;
  int bBound = pItem->hp.bLower || pItem->hp.bUpper;
  int i;
  if( nEq==0 && !bBound ) return SQLITE_OK;
  if( nEq>HP_MX_EQ ) return SQLITE_ERROR;
  pC->pPlan->pRange = p = hpArenaAlloc(&pC->pPlan->mem, sizeof(*p));
  if( p==0 ) return SQLITE_NOMEM;
  memset(p, 0, sizeof(*p));
  for(i=0; i<nEq+bBound; i++){
    if( !hpRangeColumn(&find, pC, i) ) return SQLITE_ERROR;
    if( hpRangeTerm(&find, pWhere) ) return SQLITE_ERROR;
    if( i<nEq ){
      p->aEq[i] = find.aFound[2];
      if( p->aEq[i].iReg==0 ) return SQLITE_ERROR;
    }else{
      int bDesc = pC->pIdx && pC->pIdx->aSortOrder[i]==SQLITE_SO_DESC;
      if( pItem->hp.bLower && find.aFound[0].iReg==0 ) return SQLITE_ERROR;
      if( pItem->hp.bUpper && find.aFound[1].iReg==0 ) return SQLITE_ERROR;
      p->aEnd[bDesc] = find.aFound[0];
      p->aEnd[!bDesc] = find.aFound[1];
    }
  }
  p->nEq = nEq;
  if( pC->pIdx ){
    p->pKeyInfo = sqlite3KeyInfoOfIndex(pC->pParse, pC->pIdx);
    if( p->pKeyInfo==0 ) return SQLITE_NOMEM;
  }
  return SQLITE_OK;
}

/*
** Point *pEnd to a register of aMem[] that holds its constant, if that is a
** literal.  Returns false if it is not.
*/
static int hpRangeLiteral(
  HpCompile *pC,
  struct HpEnd *pEnd,
  sqlite3_value **apVal, /* Values to free */
  Mem *aMem,
  int *pnMem             /* Registers of aMem[] in use */
){
  const HpProg *pProg = &pC->pPlan->prog;
  int n = *pnMem;
  int i;
  if( pEnd->iReg==0 ) return 1;
  for(i=0; pProg->aConst[i].iReg!=pEnd->iReg; i++){}
  if( sqlite3ValueFromExpr(pC->pParse->db, pProg->aConst[i].pExpr, SQLITE_UTF8,
                           SQLITE_AFF_BLOB, &apVal[n])
   || apVal[n]==0
  ){
    return 0;
  }
  aMem[n] = *(Mem*)apVal[n];
  pEnd->iReg = n;
  *pnMem = n+1;
  return 1;
}

/*
** The range has been compiled.  Do literals and the page cache say that it is
** large?
*/
static int hpRangeSeemsLarge(HpCompile *pC){
  sqlite3 *db = pC->pParse->db;
  const HpPlan *pPlan = pC->pPlan;
  sqlite3_value *apVal[HP_MX_EQ+3];
  Mem aMem[HP_MX_EQ+3];
  HpPlan plan;
  HpRange range;
  int nMem = 1;          /* Register 0 means none */
  int bLarge = pPlan->pRange!=0;
  int i;
  if( !bLarge ) return 0;
  memset(apVal, 0, sizeof(apVal));
  range = *pPlan->pRange;
  for(i=0; bLarge && i<range.nEq; i++){
    bLarge = hpRangeLiteral(pC, &range.aEq[i], apVal, aMem, &nMem);
  }
  for(i=0; bLarge && i<2; i++){
    bLarge = hpRangeLiteral(pC, &range.aEnd[i], apVal, aMem, &nMem);
  }
  if( bLarge ){
    Btree *pBtree = db->aDb[pPlan->iDb].pBt;
    memset(&plan, 0, sizeof(plan));
    plan.iDb = pPlan->iDb;
    plan.iRoot = pPlan->iRoot;
    plan.bIndex = pPlan->bIndex;
    plan.pRange = &range;
    plan.bCached = 1;
    sqlite3BtreeEnter(pBtree);
    bLarge = hpSourceRangeSeemsLarge(db, &plan, aMem);
    sqlite3BtreeLeave(pBtree);
  }
  for(i=0; i<ArraySize(apVal); i++) sqlite3ValueFree(apVal[i]);
  return bLarge;
}

static void hpRangeFree(HpRange *p){
  if( p ) sqlite3KeyInfoUnref(p->pKeyInfo);
}

/*
** Set *pKey to the first key in range, or, if bLast, to the last one; if that
** is only known not to be NULL, to NULL, and set pKey->bNull.  aMem[] holds
** the constants.  *pKey is to be freed with hpKeyClear(), even on error.
*/
static int hpRangeKey(
  sqlite3 *db,
  const HpRange *p,
  Mem *aMem,
  int bLast,
  HpKey *pKey
){
  int n = p->nEq + (p->aEnd[bLast].iReg!=0);
  int i;
  memset(pKey, 0, offsetof(HpKey, aMem));
  if( p->pKeyInfo && n==p->nEq && p->aEnd[!bLast].iReg ){
    /* No value that passes is NULL.  The NULLs stand first, or last. */
    pKey->bNull = bLast==((p->pKeyInfo->aSortFlags[n]&KEYINFO_ORDER_DESC)!=0);
    n += pKey->bNull;
  }
  pKey->bOn = n>0;
  if( n==0 ) return SQLITE_OK;
  pKey->rec.pKeyInfo = p->pKeyInfo;
  pKey->rec.aMem = pKey->aMem;
  for(i=0; i<n; i++){
    const struct HpEnd *pEnd = i<p->nEq ? &p->aEq[i] : &p->aEnd[bLast];
    Mem *pTo = &pKey->aMem[i];
    sqlite3VdbeMemInit(pTo, db, MEM_Null);
    pKey->rec.nField = (u16)(i+1);
    if( i==p->nEq && pKey->bNull ) break;
    sqlite3VdbeMemShallowCopy(pTo, &aMem[pEnd->iReg], MEM_Static);
    if( pTo->flags & MEM_Zero ) return HP_DECLINE;
    sqlite3ValueApplyAffinity(pTo, pEnd->aff, SQLITE_UTF8);
    if( db->mallocFailed ) return SQLITE_NOMEM_BKPT;
    if( pTo->flags & MEM_Null ) return HP_DECLINE;
    if( p->pKeyInfo==0 ){
      if( pTo->flags & (MEM_Int|MEM_IntReal) ){
        pKey->iRowid = pTo->u.i;
      }else if( (pTo->flags & MEM_Real)!=0
             && pTo->u.r>-9.2e18 && pTo->u.r<9.2e18
      ){
        /* Towards zero: one further out */
        pKey->iRowid = (i64)pTo->u.r + (bLast ? 1 : -1);
      }else{
        return HP_DECLINE;
      }
    }
  }
  return SQLITE_OK;
}

static void hpKeyClear(HpKey *pKey){
  int i;
  for(i=0; i<pKey->rec.nField; i++) sqlite3VdbeMemRelease(&pKey->aMem[i]);
  pKey->rec.nField = 0;
}

/*
** Set *pc to a number less than, equal to, or greater than zero as the key of
** an interior cell is before, at, or after *pKey.  z is the cell without the
** number of its child, aEnd the end of its page.  Of an index all keys that
** begin with *pKey are equal to it.
*/
static int hpKeyCompare(
  HpKey *pKey,
  BtShared *pBt,
  const u8 *z,
  const u8 *aEnd,
  int *pc
){
  if( pKey->rec.pKeyInfo==0 ){
    i64 iRowid;
    if( &z[sqlite3GetVarint(z, (u64*)&iRowid)]>aEnd ) return HP_DECLINE;
    *pc = iRowid<pKey->iRowid ? -1 : iRowid>pKey->iRowid;
  }else{
    HpRecord rec;
    int rc = hpCellRecord(pBt, z, aEnd, &rec);
    if( rc ) return rc;
    if( rec.nLocal<rec.nByte ) return HP_DECLINE;
    *pc = sqlite3VdbeRecordCompare((int)rec.nByte, rec.z, &pKey->rec);
    if( pKey->rec.errCode ) return HP_DECLINE;
  }
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
