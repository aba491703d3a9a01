/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_pragma: the settings of a connection, as SQL shows them.
**
**    sqlite3HpPragma()             PRAGMA hp_offload, hp_threads, hp_readahead,
**                                  hp_extent, hp_memory, hp_columns, hp_turn,
**                                  hp_checkpoint, hp_log, hp_stats
**    sqlite3HpRegisterFunctions()  the SQL function hp_version()
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** PRAGMA hp_stats: a row for each thing that became of queries so far; with
** hp_stats=full also for what did not happen.
*/
static void hpPragmaStats(Parse *pParse, int bFull){
  Vdbe *v = pParse->pVdbe;
  int i;
  pParse->nMem = MAX(pParse->nMem, 2);
  sqlite3VdbeSetNumCols(v, 2);
  sqlite3VdbeSetColName(v, 0, COLNAME_NAME, "what", SQLITE_STATIC);
  sqlite3VdbeSetColName(v, 1, COLNAME_NAME, "count", SQLITE_STATIC);
  for(i=1; i<=HP_STAT_MX; i++){
    u32 n = pParse->db->hp.aStat[i];
    if( n || bFull ) sqlite3VdbeMultiLoad(v, 1, "si", azHpStat[i], (int)n);
  }
}

/*
** Settings.  hpSetXxx() takes the value of a PRAGMA; one that makes no sense
** leaves the setting as it is, as with other PRAGMAs.  hpShowXxx() codes the
** row that says what is in force now.
*/
static const char *const azHpOffload[] = { "on", "off", "force" };

static void hpSetOffload(sqlite3 *db, const char *z){
  int i;
  assert( ArraySize(azHpOffload)==HP_OFFLOAD_FORCE+1 );
  assert( sqlite3StrICmp(azHpOffload[HP_OFFLOAD_OFF], "off")==0 );
  for(i=0; i<ArraySize(azHpOffload); i++){
    if( sqlite3StrICmp(z, azHpOffload[i])==0 ) break;
  }
  if( i==ArraySize(azHpOffload) && (z[0]=='0' || z[0]=='1') && z[1]==0 ){
    i = z[0]=='1' ? HP_OFFLOAD_ON : HP_OFFLOAD_OFF;
  }
  if( i<ArraySize(azHpOffload) ){
    db->hp.eOffload = (u8)i;
    db->hp.bSet = 1;
    sqlite3ExpirePreparedStatements(db, 0);
  }
}
static void hpShowOffload(Vdbe *v, sqlite3 *db){
  returnSingleText(v, azHpOffload[hpConfigOffload(db)]);
}

/* The number from 0 to mx that z is, or -1 */
static i64 hpSetNumber(const char *z, i64 mx){
  i64 n;
  return sqlite3DecOrHexToI64(z, &n)==0 && n>=0 && n<=mx ? n : -1;
}

static void hpSetThreads(sqlite3 *db, const char *z){
  i64 n = sqlite3StrICmp(z, "auto")==0 ? 0 : hpSetNumber(z, HP_MX_THREAD);
  assert( HP_MX_THREAD<=0xff );    /* Or sqlite3.hp.nThread is too small */
  if( n>=0 ) db->hp.nThread = (u8)n;
}
static void hpShowThreads(Vdbe *v, sqlite3 *db){
  returnSingleInt(v, hpThreads(db));
}

static void hpSetReadahead(sqlite3 *db, const char *z){
  db->hp.bNoAhead = !sqlite3GetBoolean(z, !db->hp.bNoAhead);
}
static void hpShowReadahead(Vdbe *v, sqlite3 *db){
  returnSingleText(v, db->hp.bNoAhead || hpConfig()->bOff ? "off" : "on");
}

static void hpSetExtent(sqlite3 *db, const char *z){
  i64 n = hpSetNumber(z, HP_MX_EXTENT);
  if( sqlite3StrICmp(z, "auto")==0 ){
    db->hp.nExtent = 0;
  }else if( n==0 || sqlite3StrICmp(z, "off")==0 ){
    db->hp.nExtent = HP_EXTENT_OFF;
  }else if( n>0 ){
    db->hp.nExtent = (int)n;
  }
  assert( db->hp.nExtent>=HP_EXTENT_OFF && db->hp.nExtent<=HP_MX_EXTENT );
}
static void hpShowExtent(Vdbe *v, sqlite3 *db){
  if( hpConfig()->bOff || db->hp.nExtent==HP_EXTENT_OFF ){
    returnSingleText(v, "off");
  }else if( db->hp.nExtent==0 ){
    returnSingleText(v, "auto");
  }else{
    returnSingleInt(v, db->hp.nExtent);
  }
}

static void hpSetMemory(sqlite3 *db, const char *z){
  i64 n = sqlite3StrICmp(z, "auto")==0 ? 0 : hpSetNumber(z, LARGEST_INT64);
  if( n>=0 ) db->hp.nMemory = n;
}
static void hpShowMemory(Vdbe *v, sqlite3 *db){
  returnSingleInt(v, hpBudgetSetting(db));
}

static void hpSetColumns(sqlite3 *db, const char *z){
  i64 n = hpSetNumber(z, LARGEST_INT64);
  if( sqlite3StrICmp(z, "auto")==0 ){
    db->hp.nColumns = 0;
  }else if( n==0 || sqlite3StrICmp(z, "off")==0 ){
    db->hp.nColumns = -1;
  }else if( n>0 ){
    db->hp.nColumns = n;
  }
}
/*
** Why the columns of the main database are not kept in memory, as far as can be
** said without reading it; or NULL.
*/
static const char *hpColumnsOff(sqlite3 *db){
#ifdef HP_SHARED
  const HpConfig *pCfg = hpConfig();
  Btree *pBtree = db->aDb[0].pBt;
  Pager *pPager = pBtree ? sqlite3BtreePager(pBtree) : 0;
  if( pCfg->bOff ) return "off: HPSQLITE in the environment is off";
  if( db->hp.nColumns<0 && pCfg->eColumns==0 ){
    return "off: PRAGMA hp_columns is off";
  }
  if( hpConfigOffload(db)==HP_OFFLOAD_OFF ){
    return "off: PRAGMA hp_offload is off";
  }
  if( !hpMemoryDefault() && !pCfg->bForce ){
    return "off: the application has an allocator of its own";
  }
  if( sqlite3GlobalConfig.pPage || !hpMemoryPcacheDefault() ){
    return "off: the application has a page cache of its own";
  }
  if( !hpBudgetMayKeep() ) return "off: memory is limited or short";
  if( pPager==0 || pPager->memDb ) return "off: the database is in memory";
  if( pPager->noLock ) return "off: the file is opened without locks";
  if( pPager->tempFile ) return "off: the file is temporary";
  if( !hpPageFile(pCfg, pPager) ) return "off: the file has another VFS";
  return 0;
#else
  UNUSED_PARAMETER(db);
  return "off: this library was compiled without them";
#endif
}
static void hpShowColumns(Vdbe *v, sqlite3 *db){
  const char *zOff = hpColumnsOff(db);
  if( zOff ){
    returnSingleText(v, zOff);
  }else if( db->hp.nColumns<=0 ){
    returnSingleText(v, "auto");
  }else{
    returnSingleInt(v, db->hp.nColumns);
  }
}

static void hpSetTurn(sqlite3 *db, const char *z){
  db->hp.bNoTurn = !sqlite3GetBoolean(z, !db->hp.bNoTurn);
}
static void hpShowTurn(Vdbe *v, sqlite3 *db){
  int bOff = db->hp.bNoTurn || hpConfig()->bOff;
#ifndef HP_TURN
  bOff = 1;
#endif
  returnSingleText(v, bOff ? "off" : "on");
}

static void hpSetCheckpoint(sqlite3 *db, const char *z){
  if( sqlite3StrICmp(z, "auto")==0 ){
    db->hp.bNoCheckpoint = 0;
  }else{
    db->hp.bNoCheckpoint = !sqlite3GetBoolean(z, !db->hp.bNoCheckpoint);
  }
}
static void hpShowCheckpoint(Vdbe *v, sqlite3 *db){
  int bOff = db->hp.bNoCheckpoint || hpConfig()->bOff || hpThreads(db)<2;
#ifndef HP_CHECKPOINT
  bOff = 1;
#endif
  returnSingleText(v, bOff ? "off" : "auto");
}

static void hpSetLog(sqlite3 *db, const char *z){
  db->hp.bLog = sqlite3GetBoolean(z, db->hp.bLog);
}
static void hpShowLog(Vdbe *v, sqlite3 *db){
  returnSingleText(v, db->hp.bLog ? "on" : "off");
}

static const struct HpPragma {
  const char *zName;
  void (*xSet)(sqlite3*, const char*);
  void (*xShow)(Vdbe*, sqlite3*);
} aHpPragma[] = {
  { "hp_offload",   hpSetOffload,   hpShowOffload },
  { "hp_threads",   hpSetThreads,   hpShowThreads },
  { "hp_readahead", hpSetReadahead, hpShowReadahead },
  { "hp_extent",    hpSetExtent,    hpShowExtent },
  { "hp_memory",    hpSetMemory,    hpShowMemory },
  { "hp_columns",   hpSetColumns,   hpShowColumns },
  { "hp_turn",      hpSetTurn,      hpShowTurn },
  { "hp_checkpoint", hpSetCheckpoint, hpShowCheckpoint },
  { "hp_log",       hpSetLog,       hpShowLog },
};

/*
** Called for a PRAGMA that SQLite does not know.  zLeft is its name, zRight the
** value or NULL.  Returns true if it is ours; then code is generated that
** returns the value as it is now.
*/
SQLITE_PRIVATE int sqlite3HpPragma(
  Parse *pParse,
  const char *zLeft,
  const char *zRight
){
  sqlite3 *db = pParse->db;
  Vdbe *v;
  int i;
  assert( sqlite3_mutex_held(db->mutex) );
  if( sqlite3StrNICmp(zLeft, "hp_", 3)!=0 ) return 0;
  v = sqlite3GetVdbe(pParse);
  if( v==0 ) return 1;
  if( sqlite3StrICmp(zLeft, "hp_stats")==0 ){
    hpPragmaStats(pParse, zRight!=0 && sqlite3StrICmp(zRight, "full")==0);
    return 1;
  }
  for(i=0; i<ArraySize(aHpPragma); i++){
    const struct HpPragma *p = &aHpPragma[i];
    if( sqlite3StrICmp(zLeft, p->zName)!=0 ) continue;
    if( zRight ) p->xSet(db, zRight);
    pParse->nMem = MAX(pParse->nMem, 1);
    sqlite3VdbeSetNumCols(v, 1);
    sqlite3VdbeSetColName(v, 0, COLNAME_NAME, p->zName, SQLITE_STATIC);
    p->xShow(v, db);
    return 1;
  }
  return 0;
}

/* hp_version(): the version of High Performance SQLite */
static void hpVersionFunc(
  sqlite3_context *ctx,
  int nArg,
  sqlite3_value **apArg
){
  UNUSED_PARAMETER2(nArg, apArg);
  sqlite3_result_text(ctx, HP_VERSION, -1, SQLITE_STATIC);
}

/*
** Register the SQL functions of this module, once a process.
*/
SQLITE_PRIVATE void sqlite3HpRegisterFunctions(void){
  static FuncDef aFunc[] = {
    FUNCTION(hp_version, 0, 0, 0, hpVersionFunc)
  };
  sqlite3InsertBuiltinFuncs(aFunc, ArraySize(aFunc));
}
#endif /* SQLITE_OMIT_HP */
