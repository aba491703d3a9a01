/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_explain: lines of EXPLAIN QUERY PLAN that say what we do (prepare time).
**
**    hpExplain()      change the lines of a statement from an address on
**    hpExplainJoin()  note by which key each input of a join is looked up
**    hpExplainSort()  the nearest line of a scan: it is ours
**    hpExplainFind()  the scan of a sub-select is a look-up, or may become one
**
** SQLite has written its lines by then: an OP_Explain for each loop, in the
** order of the loops.  Those of loops that are taken over are changed in place:
**
**    SCAN t                        SCAN t VECTORIZED
**    SCAN t USING INDEX i          SCAN t VECTORIZED, if the table is read
**    SEARCH t USING INDEX i (...)  the same, OR VECTORIZED SCAN
**    SEARCH u ...                  SEARCH u USING HASH TABLE (key), in a join
**    USE TEMP B-TREE FOR GROUP BY  USE HASH TABLE FOR GROUP BY
**
** A line tells its table by the name or alias after the first word only.  Lines
** of sub-selects that say already what becomes of them stay as they are.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Length of "SCAN " or "SEARCH ", which line z begins with, or 0 */
static int hpExplainVerb(const char *z){
  assert( z!=0 );
  return strncmp(z, "SCAN ", 5)==0 ? 5 : strncmp(z, "SEARCH ", 7)==0 ? 7 : 0;
}

/*
** The term of pSrc that z begins with, as EXPLAIN QUERY PLAN shows it, or NULL.
*/
static const SrcItem *hpExplainItem(
  Parse *pParse,
  const SrcList *pSrc,
  const char *z
){
  int i;
  assert( pParse->explain==2 && pSrc->nSrc>0 );
  for(i=0; i<pSrc->nSrc; i++){
    char *zName = sqlite3MPrintf(pParse->db, "%S", &pSrc->a[i]);
    int n = sqlite3Strlen30(zName);
    int bSame = zName!=0 && strncmp(z, zName, n)==0 && (z[n]==' ' || z[n]==0);
    sqlite3DbFree(pParse->db, zName);
    if( bSame ) return &pSrc->a[i];
  }
  return 0;
}

/* The table of pSrc, which may be NULL, that is scanned if stock's loops take
** long; or NULL */
static const SrcItem *hpExplainLater(const SrcList *pSrc){
  int i;
  for(i=0; pSrc && i<pSrc->nSrc; i++){
    if( pSrc->a[i].hp.bMoved && pSrc->a[i].hp.bGuess ) return &pSrc->a[i];
  }
  return 0;
}

/*
** In EXPLAIN QUERY PLAN say what we do, from address iFrom on.  bLookup: the
** table is read instead of an index.  pSrc: the tables of a join, or NULL.
*/
static void hpExplain(
  Parse *pParse,
  int iFrom,
  int bLookup,
  const SrcList *pSrc
){
  Vdbe *v = pParse->pVdbe;
  int nOp = sqlite3VdbeCurrentAddr(v);
  const SrcItem *pLater = hpExplainLater(pSrc);
  int i;
  assert( iFrom>=0 );
  if( pParse->explain!=2 ) return;
  assert( pLater==0 || pLater->hp.iLevel==1 );    /* It is the root */
  if( hpConfigOffload(pParse->db)==HP_OFFLOAD_FORCE ) pLater = 0;
  for(i=iFrom; i<nOp; i++){
    const char *z = hpSpliceLine(v, i);
    const SrcItem *pItem = 0;
    char *zNew = 0;
    int nVerb;
    if( z==0 ) continue;
    /* Of a sub-select: it says so itself */
    if( strstr(z, " VECTORIZED") || strstr(z, " USING HASH TABLE (") ) continue;
    if( pSrc && strncmp(z, "BLOOM FILTER ON ", 16)==0
     && hpExplainItem(pParse, pSrc, &z[16])
    ){
      hpSpliceLineDrop(v, i);
      continue;
    }
    nVerb = hpExplainVerb(z);
    if( pSrc && nVerb ) pItem = hpExplainItem(pParse, pSrc, &z[nVerb]);
    /* What is scanned is not looked up */
    assert( pItem==0 || pItem->hp.bMoved==0 || pItem->hp.zKey==0 );
    if( pLater ){
      if( pItem==0 ) continue;
      nOp = i;           /* The outermost loop: no line more is changed */
      zNew = sqlite3MPrintf(pParse->db, "%s OR, IF LONG, VECTORIZED SCAN OF %S",
                            z, pLater);
    }else if( pItem && pItem->hp.zKey ){
      zNew = sqlite3MPrintf(pParse->db, "SEARCH %S%s USING HASH TABLE (%s)%s",
          pItem, pItem->fg.fromExists ? " EXISTS" : "", pItem->hp.zKey,
          (pItem->fg.jointype & JT_LEFT) ? " LEFT-JOIN" : "");
    }else if( pItem && pItem->hp.bMoved ){
      zNew = sqlite3MPrintf(pParse->db, "SCAN %S VECTORIZED", pItem);
    }else if( nVerb==5 && bLookup && strstr(z, " USING INDEX ") ){
      zNew = sqlite3MPrintf(pParse->db, "%.*s VECTORIZED",
                            (int)(strstr(z, " USING INDEX ")-z), z);
    }else if( nVerb==7 && strstr(z, " USING INDEX ") ){
      zNew = sqlite3MPrintf(pParse->db, "%s OR VECTORIZED SCAN", z);
    }else if( nVerb ){
      /* Stock calls the scan for a min() or max() a SEARCH */
      zNew = sqlite3MPrintf(pParse->db, "%s VECTORIZED", z);
    }else if( strncmp(z, "USE TEMP B-TREE FOR ", 20)==0
           && strstr(z, "(ORDER BY)")==0
    ){
      zNew = sqlite3MPrintf(pParse->db, "USE HASH TABLE FOR %s", &z[20]);
    }
    hpSpliceLineSet(v, i, zNew);
  }
}

/*
** In EXPLAIN QUERY PLAN the table of pInput is looked up by zKey, unless that
** says so.
*/
static void hpExplainSub(
  Parse *pParse,
  const HpInput *pInput,
  const char *zKey
){
  Vdbe *v = pParse->pVdbe;
  char *zName = sqlite3MPrintf(pParse->db, "%S", pInput->pItem);
  int n = sqlite3Strlen30(zName);
  int i;
  for(i=sqlite3VdbeCurrentAddr(v)-1; zName && i>0; i--){
    const char *z = hpSpliceLine(v, i);
    int nVerb;
    if( z==0 ) continue;
    nVerb = hpExplainVerb(z);
    if( nVerb==0 || strncmp(&z[nVerb], zName, n)!=0
     || (z[nVerb+n]!=0 && z[nVerb+n]!=' ') || strstr(z, " USING HASH TABLE (")
    ){
      continue;
    }
    hpSpliceLineSet(v, i, sqlite3MPrintf(pParse->db,
        "SEARCH %s USING HASH TABLE (%s)", zName, zKey));
    break;
  }
  sqlite3DbFree(pParse->db, zName);
}

/*
** For EXPLAIN QUERY PLAN: note by which key each table is looked up.
*/
static void hpExplainJoin(Parse *pParse, const HpJoin *p){
  int i, k;
  if( pParse->explain!=2 ) return;
  for(i=0; i<p->nIn; i++){
    const HpInput *pInput = &p->aIn[i];
    const Table *pTab = pInput->pItem->pSTab;
    char *z = 0;
    pInput->pItem->hp.zKey = 0;
    for(k=0; k<pInput->nKey; k++){
      int iColumn = sqlite3ExprSkipCollate(pInput->aKey[k].pOwn)->iColumn;
      z = sqlite3MPrintf(pParse->db, "%z%s%s=?", z, k ? " AND " : "",
              iColumn<0 || iColumn==pTab->iPKey ? "rowid"
                                                : pTab->aCol[iColumn].zCnName);
    }
    if( z && pInput->pSub ){
      hpExplainSub(pParse, pInput, z);
      sqlite3DbFree(pParse->db, z);
      continue;
    }
    if( z && sqlite3ParserAddCleanup(pParse, sqlite3DbFree, z) ){
      pInput->pItem->hp.zKey = z;
    }
  }
}

/*
** In EXPLAIN QUERY PLAN say what we do: the nearest line before iRewind.
*/
static void hpExplainSort(Parse *pParse, int iRewind){
  int i;
  if( pParse->explain!=2 ) return;
  for(i=iRewind; i>0; i--){
    const char *z = hpSpliceLine(pParse->pVdbe, i);
    if( z && hpExplainVerb(z) && strstr(z, " VECTORIZED")==0 ){
      int bSearch = z[1]=='E' && strstr(z, " USING INDEX ")!=0;
      hpSpliceLineSet(pParse->pVdbe, i, sqlite3MPrintf(pParse->db,
          bSearch ? "%s OR VECTORIZED SCAN" : "%s VECTORIZED", z));
      return;
    }
  }
}

/* In EXPLAIN QUERY PLAN: the scan of pItem, before address iTo, is a
** look-up, or may become one */
static void hpExplainFind(
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
#endif /* SQLITE_OMIT_HP */
