/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_checkplan: what the rows of a table, and the entries of its indexes, have
** to be (prepare time).
**
**    sqlite3HpCheckBegin()   before SQLite's loop over the table: OP_HpTask
**
** PRAGMA integrity_check and quick_check say in pragma.c, for each table, what
** is looked at in each row.  The plan says the same: a pipe for each index, and
** the last one for the table.
**
**    table   the types that each column may have, NOT NULL, CHECK; the whole
**            header of each record, since the last column is among those that
**            are read; of each index the entry that the row has to have there,
**            if the index is partial only where that is so; of a table WITHOUT
**            ROWID its order
**    index   the order of the entries, and none twice; UNIQUE
**
** quick_check is about the table alone, and not about its order.
**
** REAL columns.  In the file what is an integer is stored as such, in the table
** as in an index, and these are what SQLite compares.  The table's are read as
** doubles, which is the same up to 2 to the 53rd; beyond that the row is
** declined (HpCheckSlot.bReal).  An index is read as it is.
**
** If anything is not understood all is left to SQLite: virtual columns of
** STRICT tables, functions and collations of the application, UTF-16.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The types that values of column pCol of pTab may not have, as OP_IsType looks
** for them in pragma.c.  *pbNumber is set if text is one of them only where it
** could be a number.
*/
static u8 hpCheckPlanBad(const Table *pTab, const Column *pCol, u8 *pbNumber){
  u8 mBad = pCol->notNull ? HP_NULL : 0;
  *pbNumber = 0;
  if( pTab->tabFlags & TF_Strict ){
    switch( pCol->eCType ){
      case COLTYPE_BLOB:
        return mBad | HP_INT|HP_REAL|HP_TEXT;
      case COLTYPE_INT:
      case COLTYPE_INTEGER:
        return mBad | HP_REAL|HP_TEXT|HP_BLOB;
      case COLTYPE_REAL:
        return mBad | HP_TEXT|HP_BLOB;
      case COLTYPE_TEXT:
        return mBad | HP_INT|HP_REAL|HP_BLOB;
    }
    return mBad;
  }
  if( pCol->affinity==SQLITE_AFF_TEXT ) return mBad | HP_INT|HP_REAL;
  if( pCol->affinity>=SQLITE_AFF_NUMERIC ){
    *pbNumber = 1;
    return mBad | HP_TEXT;
  }
  return mBad;
}

/* Types of the columns of the table */
static int hpCheckPlanTypes(HpCompile *pC, Table *pTab){
  HpCheckPlan *p = pC->pPipe->pCheck;
  int i;
  p->aType = hpCompileAlloc(pC->pPlan, sizeof(p->aType[0])*(i64)pTab->nCol);
  if( p->aType==0 ) return SQLITE_NOMEM;
  for(i=0; i<pTab->nCol; i++){
    struct HpCheckType *pType = &p->aType[p->nType];
    int iVec;
    assert( pTab->aCol[i].affinity>=SQLITE_AFF_BLOB );
    pType->mBad = hpCheckPlanBad(pTab, &pTab->aCol[i], &pType->bNumber);
    if( i==pTab->iPKey || pType->mBad==0 ) continue;
    iVec = hpCompileExprColumn(pC, i);
    if( iVec<0 ) return SQLITE_ERROR;
    pType->iVec = (u16)iVec;
    pType->bComputed = (pTab->aCol[i].colFlags & COLFLAG_VIRTUAL)!=0;
    p->nType++;
  }
  return SQLITE_OK;
}

/* CHECK constraints */
static int hpCheckPlanTrue(HpCompile *pC, Table *pTab){
  HpCheckPlan *p = pC->pPipe->pCheck;
  ExprList *pList = pTab->pCheck;
  int i;
  if( pList==0 || (pC->pParse->db->flags & SQLITE_IgnoreChecks)!=0 ){
    return SQLITE_OK;
  }
  p->aTrue = hpCompileAlloc(pC->pPlan, sizeof(u16)*(i64)pList->nExpr);
  if( p->aTrue==0 ) return SQLITE_NOMEM;
  for(i=0; i<pList->nExpr; i++){
    /* A copy: constants of it are coded, and those of the schema may not be */
    Expr *pExpr = sqlite3ExprDup(pC->pParse->db, pList->a[i].pExpr, 0);
    int iVec;
    if( pExpr==0 || sqlite3ExprDeferredDelete(pC->pParse, pExpr) ){
      return SQLITE_NOMEM;
    }
    pC->nSelf++;
    iVec = hpCompileExpr(pC, pExpr);
    pC->nSelf--;
    if( iVec<0 ) return SQLITE_ERROR;
    p->aTrue[p->nTrue++] = (u16)iVec;
  }
  assert( p->nTrue==pList->nExpr );
  return SQLITE_OK;
}

/*
** The last column that the records of the table have is to be read: then their
** headers are looked at as a whole.
*/
static int hpCheckPlanLast(HpCompile *pC, Table *pTab, int *piVec){
  int i, iLast;
  if( pC->pIdx ){
    iLast = pC->pIdx->nColumn-1;
    i = pC->pIdx->aiColumn[iLast];
    if( i<0 ) return SQLITE_ERROR;
    *piVec = hpCompileExprColumn(pC, i);
    return *piVec<0 ? SQLITE_ERROR : SQLITE_OK;
  }
  iLast = pTab->nNVCol-1;
  if( iLast==pTab->iPKey ) iLast--;
  *piVec = 0;
  if( iLast<0 ) return SQLITE_OK;
  for(i=0; i<pTab->nCol; i++){
    if( pTab->aCol[i].colFlags & COLFLAG_VIRTUAL ) continue;
    if( sqlite3TableColumnToStorage(pTab, (i16)i)==iLast ) break;
  }
  /* A rowid that virtual columns stand before */
  if( i==pTab->nCol || i==pTab->iPKey ) return SQLITE_ERROR;
  *piVec = hpCompileExprColumn(pC, i);
  return *piVec<0 ? SQLITE_ERROR : SQLITE_OK;
}

/* The slot of vector iVec.  There is room for as many as all indexes have
** columns */
static int hpCheckPlanSlot(HpCheckPlan *p, int iVec, int bReal){
  int i;
  assert( iVec>=0 && (bReal==0 || bReal==1) );
  for(i=0; i<p->nSlot; i++){
    if( p->aSlot[i].iVec==iVec && p->aSlot[i].bReal==bReal ) return i;
  }
  p->aSlot[i].iVec = (u16)iVec;
  p->aSlot[i].bReal = (u8)bReal;
  p->nSlot++;
  return i;
}

/*
** What the table says of index pIdx, number iSum.
*/
static int hpCheckPlanEntry(HpCompile *pC, const Index *pIdx, int iSum){
  HpCheckPlan *p = pC->pPipe->pCheck;
  struct HpCheckIndex *pSum = &p->aSum[p->nSum];
  const Table *pTab = pC->pTab;
  int i;
  assert( pIdx->pTable==pTab && pIdx!=pC->pIdx );
  pSum->iSum = iSum;
  pSum->iWhere = HP_NO_VEC;
  pSum->aiSlot = hpCompileAlloc(pC->pPlan, pIdx->nColumn);
  if( pSum->aiSlot==0 ) return SQLITE_NOMEM;
  if( pIdx->pPartIdxWhere ){
    int iVec;
    pC->nSelf++;
    iVec = hpCompileExpr(pC, pIdx->pPartIdxWhere);
    pC->nSelf--;
    if( iVec<0 ) return SQLITE_ERROR;
    pSum->iWhere = (u16)iVec;
  }
  for(i=0; i<pIdx->nColumn; i++){
    int iCol = pIdx->aiColumn[i];
    int bReal = iCol>=0 && iCol!=pTab->iPKey
             && (pTab->aCol[iCol].colFlags & COLFLAG_VIRTUAL)==0
             && pTab->aCol[iCol].affinity==SQLITE_AFF_REAL;
    CollSeq *pColl;
    int iSlot;
    int iVec = hpIndexPlanVec(pC, pIdx, i, &pColl);
    if( iVec<0 ) return SQLITE_ERROR;
    iSlot = hpCheckPlanSlot(p, iVec, bReal);
    if( iSlot>0xff ) return SQLITE_ERROR;
    pSum->aiSlot[i] = (u8)iSlot;
  }
  pSum->n = pIdx->nColumn;
  p->nSum++;
  return SQLITE_OK;
}

/*
** Key i of the order is column i of pIdx, which is vector iVec.
*/
static int hpCheckPlanKey(HpCompile *pC, const Index *pIdx, int i, int iVec){
  HpKeys *pKeys = &pC->pPipe->pCheck->order;
  CollSeq *pColl = sqlite3FindCollSeq(pC->pParse->db, SQLITE_UTF8,
                                      pIdx->azColl[i], 0);
  assert( pKeys->n==i && iVec>=0 );
  if( pColl==0 || !hpCompileCollOk(pColl, &pKeys->aColl[i]) ){
    hpCompileNo(pC, HP_NO_COLLATION);
    return SQLITE_ERROR;
  }
  pKeys->aVec[i] = (u16)iVec;
  pKeys->aSort[i] = pIdx->aSortOrder[i] ? KEYINFO_ORDER_DESC : 0;
  pKeys->n++;
  return SQLITE_OK;
}

/*
** The pipe that scans pIdx, number iSum.  Columns are those of its entries, as
** they are stored.
*/
static int hpCheckPlanIndex(HpCompile *pC, Index *pIdx, int iSum){
  HpPlan *pPlan = pC->pPlan;
  HpPipePlan *pPipe = pC->pPipe;
  HpSourcePlan *pSource = &pPipe->source;
  HpCheckPlan *p = pPipe->pCheck;
  int n = pIdx->nColumn;
  int i;
  assert( pSource->bIndex && pSource->nCol==0 && pC->pIdx==pIdx );
  if( n>HP_MX_COL || pIdx->bAscKeyBug ) return SQLITE_ERROR;
  p->aSlot = hpCompileAlloc(pPlan, sizeof(p->aSlot[0])*(i64)n);
  p->aSum = hpCompileAlloc(pPlan, sizeof(p->aSum[0]));
  pSource->aCol = hpCompileAlloc(pPlan, sizeof(HpCol)*(i64)n);
  if( p->aSlot==0 || p->aSum==0 || pSource->aCol==0
   || hpCompileKeys(pPlan, &p->order, n)
   || (p->aSum[0].aiSlot = hpCompileAlloc(pPlan, n))==0
  ){
    return SQLITE_NOMEM;
  }
  pSource->nColAlloc = n;
  pSource->bIdxRowid = HasRowid(pC->pTab)!=0;
  for(i=0; i<n; i++){
    HpOp op;
    int iVec;
    pSource->aCol[i].iStore = i;
    pSource->nCol++;
    memset(&op, 0, sizeof(op));
    op.eOp = HP_OP_COLUMN;
    op.a = (u16)i;
    iVec = hpProgOp(&pPipe->prog, &op);
    if( iVec<0 || hpCheckPlanKey(pC, pIdx, i, iVec) ) return SQLITE_ERROR;
    p->aSum[0].aiSlot[i] = (u8)hpCheckPlanSlot(p, iVec, 0);
  }
  assert( pSource->nCol==n && p->order.n==n );
  p->aSum[0].iSum = iSum;
  p->aSum[0].iWhere = HP_NO_VEC;
  p->aSum[0].n = n;
  p->nSum = 1;
  p->bOwn = 1;
  p->bShort = pSource->bIdxRowid==0;
  if( IsUniqueIndex(pIdx) ) p->nUnique = pIdx->nKeyCol;
  return SQLITE_OK;
}

/*
** The pipe that scans the table.
*/
static int hpCheckPlanTable(HpCompile *pC, Table *pTab, int isQuick){
  HpPlan *pPlan = pC->pPlan;
  HpCheckPlan *p = pC->pPipe->pCheck;
  Index *pIdx;
  i64 nSlot = 1;
  int nSum = 0;
  int iVec;
  int rc, i;
  rc = hpCheckPlanLast(pC, pTab, &iVec);
  if( rc==SQLITE_OK ) rc = hpCheckPlanTypes(pC, pTab);
  if( rc==SQLITE_OK ) rc = hpCheckPlanTrue(pC, pTab);
  if( rc || isQuick ) return rc;
  for(pIdx=pTab->pIndex; pIdx; pIdx=pIdx->pNext){
    nSlot += pIdx->nColumn;
    nSum++;
  }
  p->aSlot = hpCompileAlloc(pPlan, sizeof(p->aSlot[0])*nSlot);
  p->aSum = hpCompileAlloc(pPlan, sizeof(p->aSum[0])*(i64)MAX(1, nSum));
  if( p->aSlot==0 || p->aSum==0 ) return SQLITE_NOMEM;
  nSum = 0;
  for(pIdx=pTab->pIndex; pIdx && rc==SQLITE_OK; pIdx=pIdx->pNext){
    if( pIdx!=pC->pIdx ) rc = hpCheckPlanEntry(pC, pIdx, nSum++);
  }
  assert( rc || p->nSum==nSum );       /* Each index is added up */
  if( rc==SQLITE_OK && pC->pIdx ){
    const Index *pPk = pC->pIdx;
    if( hpCompileKeys(pPlan, &p->order, pPk->nKeyCol) ) return SQLITE_NOMEM;
    for(i=0; i<pPk->nKeyCol && rc==SQLITE_OK; i++){
      CollSeq *pColl;
      iVec = hpIndexPlanVec(pC, pPk, i, &pColl);
      rc = iVec<0 ? SQLITE_ERROR : hpCheckPlanKey(pC, pPk, i, iVec);
    }
  }
  return rc;
}

/* Does anything but a look at its type need the value in vector iVec? */
static int hpCheckPlanNeeds(const HpPipePlan *pPipe, u16 iVec){
  const HpCheckPlan *p = pPipe->pCheck;
  int i;
  for(i=0; i<pPipe->prog.nOp; i++){
    if( hpLiveOpReads(&pPipe->prog, &pPipe->prog.aOp[i], iVec) ) return 1;
  }
  for(i=0; i<p->nType; i++){
    if( p->aType[i].iVec==iVec && p->aType[i].bNumber ) return 1;
  }
  for(i=0; i<p->nTrue; i++) if( p->aTrue[i]==iVec ) return 1;
  for(i=0; i<p->nSlot; i++) if( p->aSlot[i].iVec==iVec ) return 1;
  for(i=0; i<p->nSum; i++) if( p->aSum[i].iWhere==iVec ) return 1;
  for(i=0; i<p->order.n; i++) if( p->order.aVec[i]==iVec ) return 1;
  return 0;
}

/*
** Texts and blobs of columns that are only looked at for their types are not
** read from overflow pages: SQLite does not read them either.
*/
static void hpCheckPlanHeads(HpPipePlan *pPipe){
  HpSourcePlan *pSource = &pPipe->source;
  int i;
  for(i=0; i<pPipe->prog.nOp; i++){
    const HpOp *pOp = &pPipe->prog.aOp[i];
    if( pOp->eOp!=HP_OP_COLUMN ) continue;
    assert( pOp->a<pSource->nCol );
    pSource->aCol[pOp->a].bHead = !hpCheckPlanNeeds(pPipe, pOp->iOut);
  }
}

/*
** Compile the plan for pTab, whose cursor is iTab.  Returns NULL if it is
** refused.
*/
static HpPlan *hpCheckPlanCompile(
  Parse *pParse,
  Table *pTab,
  int iTab,
  int isQuick
){
  Index *pPk = HasRowid(pTab) ? 0 : sqlite3PrimaryKeyIndex(pTab);
  HpCompile c;
  SrcItem x;
  HpPlan *pPlan;
  Index *pIdx;
  int nIndex = 0;
  int rc = SQLITE_OK;
  int i = 0;
  assert( IsOrdinaryTable(pTab) && (pPk!=0 || HasRowid(pTab)) );
  for(pIdx=pTab->pIndex; pIdx && isQuick==0; pIdx=pIdx->pNext){
    nIndex += pIdx!=pPk;
  }
  if( nIndex>=HP_MX_PIPE ) return 0;
  memset(&x, 0, sizeof(x));
  x.pSTab = pTab;
  x.iCursor = iTab;
  x.hp.pIdx = pPk;
  pPlan = hpCompileNew(&c, pParse, &x, nIndex+1);
  if( pPlan==0 ) return 0;
  pPlan->xTask = hpCheckTaskRun;
  for(i=0; i<=nIndex; i++){
    pPlan->aPipe[i].pSink = &hpSinkCheck;
    pPlan->aPipe[i].pCheck = hpCompileAlloc(pPlan, sizeof(HpCheckPlan));
    if( pPlan->aPipe[i].pCheck==0 ) rc = SQLITE_NOMEM;
  }
  if( rc==SQLITE_OK ) rc = hpCheckPlanTable(&c, pTab, isQuick);
  i = 0;
  for(pIdx=pTab->pIndex; pIdx && isQuick==0 && rc==SQLITE_OK;
      pIdx=pIdx->pNext){
    if( pIdx==pPk ) continue;
    hpCompileSource(pParse, &pPlan->aPipe[i], pTab, pIdx);
    hpCompileFor(&c, &pPlan->aPipe[i], pTab, pIdx, iTab);
    rc = hpCheckPlanIndex(&c, pIdx, i);
    i++;
  }
  if( hpTaskPlanEnd(&c, rc) ) return 0;
  for(i=0; i<=nIndex; i++){
    hpCheckPlanHeads(&pPlan->aPipe[i]);
    /* To read more than SQLite would is no harm: if it fails SQLite reads */
    pPlan->aPipe[i].source.eTypeOnly = 0;
  }
  return pPlan;
}

/*
** May the table be large?  To compile a plan takes as long as it takes SQLite
** to check a table of a page, and a file may have hundreds of these.  So where
** the page cache does not know the root page, it is looked at in the file:
** without a lock, and an older version of it if there is a log.  It is a guess:
** if it is wrong SQLite checks the table, or OP_HpTask finds it small.
*/
static int hpCheckPlanMayBeLarge(sqlite3 *db, const Table *pTab){
  Btree *pBtree = db->aDb[sqlite3SchemaToIndex(db, pTab->pSchema)].pBt;
  int bIndex = !HasRowid(pTab);
  Pgno iRoot = bIndex ? sqlite3PrimaryKeyIndex((Table*)pTab)->tnum
                      : pTab->tnum;
  u8 a[12];
  int bMay = 1;
  if( hpConfigOffload(db)==HP_OFFLOAD_FORCE ) return 1;
  if( pBtree==0 || iRoot==0 ) return 0;
  sqlite3BtreeEnter(pBtree);
  if( !hpWorthMayBeLarge(pBtree, iRoot, bIndex, HP_MIN_LEAF) ){
    bMay = 0;
  }else{
    BtShared *pBt = pBtree->pBt;
    Pgno iChild;
    i64 iOfst = (i64)(iRoot-1)*pBt->pageSize + (iRoot==1 ? 100 : 0);
    assert( iOfst>=0 );
    if( hpWorthChildren(pBt, iRoot, bIndex, &iChild)<0
     && hpPageFile(hpConfig(), pBt->pPager)
     && sqlite3OsRead(pBt->pPager->fd, a, sizeof(a), iOfst)==SQLITE_OK
    ){
      bMay = (a[0] & PTF_LEAF)==0;
    }
  }
  sqlite3BtreeLeave(pBtree);
  return bMay;
}

/*
** SQLite is about to code the loop over the rows of pTab, which is open as
** cursor iTab.  Returns the address of OP_HpTask, or 0 if it is left to SQLite.
*/
SQLITE_PRIVATE int sqlite3HpCheckBegin(
  Parse *pParse,
  Table *pTab,
  int iTab,
  int isQuick
){
  HpPlan *pPlan;
  int nMem = pParse->nMem;
  if( !hpTaskPlanMay(pParse) || !IsOrdinaryTable(pTab) ) return 0;
  if( !hpCheckPlanMayBeLarge(pParse->db, pTab) ) return 0;
  pPlan = hpCheckPlanCompile(pParse, pTab, iTab, isQuick);
  if( pPlan==0 ){
    pParse->nMem = nMem;
    return 0;
  }
  return hpDeliverTask(pParse, pPlan, 0, 0);
}
#endif /* SQLITE_OMIT_HP */
