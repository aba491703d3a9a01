/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_orphanplan: rows whose parent is missing, as a scan (prepare time).
**
**    sqlite3HpOrphansBegin()   before SQLite's loop over a table: OP_HpTask
**
** The plan has a pipe for each foreign key of the table, which makes a relation
** of the parent's keys, and one that scans the table.  That has one filter:
**
**       (c1 IS NOT NULL AND c2 IS NOT NULL AND NOT lookup(c1, c2))
**    OR the same of the next foreign key
**
** A parent is found by its rowid, or by a UNIQUE index, the one that SQLite
** searches: with its collations, and the affinities of its columns applied to
** those of the table.  So equal keys are those that OP_Found finds.  A rowid is
** searched by OP_SeekRowid, which converts reals in a way of its own near the
** ends of the range of integers.  So there no key may be left a real.
**
** Where there is no table of that name every key is an orphan.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_ORPHANS
/*
** Let pipe iPipe make a relation of the keys of pParent: those of its index
** pIdx, or rowids.
*/
static int hpOrphanPlanParent(
  HpCompile *pC,
  int iPipe,
  Table *pParent,
  Index *pIdx
){
  HpPlan *pPlan = pC->pPlan;
  HpPipePlan *pPipe = &pPlan->aPipe[iPipe];
  HpRelPlan *pRel = hpCompileAlloc(pPlan, sizeof(*pRel));
  int n = pIdx ? pIdx->nKeyCol : 1;
  int rc = SQLITE_OK;
  int i;
  assert( iPipe<pPlan->nPipe-1 && n<=HP_MX_EQ );
  hpCompileSource(pC->pParse, pPipe, pParent, pIdx);
  hpCompileFor(pC, pPipe, pParent, pIdx, 0);
  if( pRel==0 || hpCompileKeys(pPlan, &pRel->key.keys, n) ) return SQLITE_NOMEM;
  pRel->key.aNever = hpCompileAlloc(pPlan, n);
  if( pRel->key.aNever==0 ) return SQLITE_NOMEM;
  pRel->iRel = iPipe;
  pRel->bSemi = 1;
  pPipe->pSink = &hpSinkRel;
  pPipe->pRel = pRel;
  for(i=0; pIdx && i<n && rc==SQLITE_OK; i++){
    rc = hpTaskPlanColumn(pC, &pRel->key.keys, i);
  }
  if( pIdx==0 ){
    int iVec = hpCompileExprColumn(pC, -1);
    if( iVec<0 ) return SQLITE_ERROR;
    /* A search does not find rowids that are out of order */
    pPipe->source.bOrder = 1;
    pRel->key.keys.n = 1;
    pRel->key.keys.aVec[0] = (u16)iVec;
    pRel->key.keys.aColl[0] = 0;
    pRel->key.keys.aSort[0] = 0;
  }
  return rc;
}

/*
** In the pipe of the table: the vector of whether the key of pFK is not in the
** relation of pipe iPipe; or if that is negative, of whether there is a key.
** The key is columns aiCol[], or those of pFK if that is NULL.  -1: refused.
*/
static int hpOrphanPlanChild(
  HpCompile *pC,
  const FKey *pFK,
  Index *pIdx,
  const int *aiCol,
  int iPipe
){
  HpPlan *pPlan = pC->pPlan;
  HpLookup *pKey = hpCompileAlloc(pPlan, sizeof(*pKey));
  const char *zAff = 0;
  int iAnd = -1;
  HpOp x;
  int a, i;
  assert( pC->pPipe==hpPlanLast(pPlan) && iPipe<pPlan->nPipe-1 );
  /* A key of the child has a column for each of the parent's */
  assert( iPipe<0 || pPlan->aPipe[iPipe].pRel->key.keys.n==pFK->nCol );
  if( pKey==0 || hpCompileKeys(pPlan, &pKey->keys, pFK->nCol) ) return -1;
  pKey->aNever = hpCompileAlloc(pPlan, pFK->nCol);
  if( pKey->aNever==0 ) return -1;
  if( pIdx ){
    zAff = sqlite3IndexAffinityStr(pC->pParse->db, pIdx);
    if( zAff==0 ) return -1;
  }else{
    pKey->aNever[0] = HP_REAL;
  }
  pKey->keys.n = pFK->nCol;
  for(i=0; i<pFK->nCol; i++){
    u8 aff = zAff ? (u8)zAff[i] : SQLITE_AFF_NUMERIC;
    a = hpCompileExprColumn(pC, aiCol ? aiCol[i] : pFK->aCol[i].iFrom);
    if( a<0 ) return -1;
    if( aff>SQLITE_AFF_BLOB ){
      int b = hpCompileAff(pC, HP_OP_AFFINITY, aff, a);
      if( b<0 ) return -1;
      pKey->keys.aVec[i] = (u16)b;
    }else{
      pKey->keys.aVec[i] = (u16)a;
    }
    pKey->keys.aSort[i] = 0;
    if( iPipe>=0 ){
      pKey->keys.aColl[i] = pPlan->aPipe[iPipe].pRel->key.keys.aColl[i];
    }
    a = hpCompileOp(pC, HP_OP_ISNULL, TK_NOTNULL, a, a);
    iAnd = i==0 ? a : hpCompileOp(pC, HP_OP_AND, 0, iAnd, a);
    if( iAnd<0 ) return -1;
  }
  if( iPipe<0 ) return iAnd;
  memset(&x, 0, sizeof(x));
  x.eOp = HP_OP_LOOKUP;
  x.a = (u16)iPipe;
  x.pInfo = pKey;
  a = hpCompileArgs(pC, &x, pKey->keys.aVec, pKey->keys.n);
  a = hpCompileOp(pC, HP_OP_NOT, 0, a, a);
  return hpCompileOp(pC, HP_OP_AND, 0, iAnd, a);
}

/*
** Compile what foreign key pFK takes.  Its parent is pParent, or NULL, and
** *piPipe is the pipe of that, which is counted up.  Returns the vector of
** whether the key of a row is an orphan, or -1.
*/
static int hpOrphanPlanKey(
  HpCompile *pC,
  FKey *pFK,
  Table *pParent,
  Index *pTabIdx,        /* What the pipe of the table scans, or NULL */
  int *piPipe
){
  Parse *pParse = pC->pParse;
  HpPipePlan *pPipe = hpPlanLast(pC->pPlan);
  Index *pIdx = 0;
  int *aiCol = 0;
  int iPipe = -1;
  int a = -1;
  assert( pPipe->pSink==&hpSinkNone );
  if( pFK->nCol>HP_MX_EQ ) return hpCompileNo(pC, HP_NO_LIMIT);
  if( pParent ){
    if( !IsOrdinaryTable(pParent) || pParent->pSchema!=pFK->pFrom->pSchema
     || (pParent->tabFlags & TF_Ephemeral)!=0
    ){
      return hpCompileNo(pC, HP_NO_SHAPE);
    }
    if( sqlite3FkLocateIndex(pParse, pParent, pFK, &pIdx, &aiCol) ){
      return hpCompileNo(pC, HP_NO_OTHER);
    }
    iPipe = (*piPipe)++;
    if( (pIdx==0 && !HasRowid(pParent))
     || hpOrphanPlanParent(pC, iPipe, pParent, pIdx)
    ){
      pPipe = 0;
    }
  }
  if( pPipe ){
    hpCompileFor(pC, pPipe, pFK->pFrom, pTabIdx, 0);
    a = hpOrphanPlanChild(pC, pFK, pIdx, aiCol, iPipe);
  }
  sqlite3DbFree(pParse->db, aiCol);
  return a<0 ? hpCompileNo(pC, HP_NO_OTHER) : a;
}

/*
** SQLite is about to code the loop over the rows of pTab, in which it looks the
** parents up.  Returns the address of OP_HpTask, or 0 if it is left to SQLite.
*/
SQLITE_PRIVATE int sqlite3HpOrphansBegin(Parse *pParse, Table *pTab){
  sqlite3 *db = pParse->db;
  const char *zDb;
  HpCompile c;
  HpPlan *pPlan;
  SrcItem x;
  FKey *pFK;
  int nMem = pParse->nMem;
  int nPipe = 1;
  int iPipe = 0;
  int iOr = -1;
  int rc = SQLITE_OK;
  int addr;
  assert( IsOrdinaryTable(pTab) && pTab->u.tab.pFKey!=0 );
  if( !hpTaskPlanMay(pParse) ) return 0;
  zDb = db->aDb[sqlite3SchemaToIndex(db, pTab->pSchema)].zDbSName;
  for(pFK=pTab->u.tab.pFKey; pFK; pFK=pFK->pNextFrom){
    nPipe += sqlite3FindTable(db, pFK->zTo, zDb)!=0;
  }
  if( nPipe>HP_MX_PIPE ) return 0;
  memset(&x, 0, sizeof(x));
  x.pSTab = pTab;
  if( !HasRowid(pTab) ) x.hp.pIdx = sqlite3PrimaryKeyIndex(pTab);
  pPlan = hpCompileNew(&c, pParse, &x, nPipe);
  if( pPlan==0 ) return 0;
  pPlan->xTask = hpOrphansRun;
  c.pPipe->pSink = &hpSinkNone;
  c.pPipe->pPrefix = hpCompileAlloc(pPlan, sizeof(HpPrefixPlan));
  if( c.pPipe->pPrefix==0 ) rc = SQLITE_NOMEM;
  for(pFK=pTab->u.tab.pFKey; pFK && rc==SQLITE_OK; pFK=pFK->pNextFrom){
    Table *pParent = sqlite3FindTable(db, pFK->zTo, zDb);
    int a = hpOrphanPlanKey(&c, pFK, pParent, x.hp.pIdx, &iPipe);
    iOr = iOr<0 || a<0 ? a : hpCompileOp(&c, HP_OP_OR, 0, iOr, a);
    if( iOr<0 ) rc = SQLITE_ERROR;
  }
  assert( rc || iPipe==nPipe-1 );      /* Each parent has its pipe */
  if( rc==SQLITE_OK ) rc = hpProgFilter(&hpPlanLast(pPlan)->prog, iOr);
  addr = hpTaskPlanCode(&c, rc, 0);
  if( addr==0 ) pParse->nMem = nMem;
  return addr;
}
#endif /* HP_ORPHANS */
#endif /* SQLITE_OMIT_HP */
