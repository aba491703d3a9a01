/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_exec: running a plan, and the settings.
**
**    sqlite3HpScan()   OP_HpScan: the whole query up to its groups
**    sqlite3HpNext()   OP_HpNext: the next group into registers
**    sqlite3HpPragma() PRAGMA hp_offload, hp_memory
**    hpConfig()        switches from the environment
**
** OP_HpScan runs from the first leaf to the sorted groups without giving
** control back, so nothing else can happen in this connection meanwhile but
** the progress handler, which is called as often as stock's loop of about
** HP_STEPS opcodes a row would call it.  sqlite3_interrupt() is looked at after
** each batch.
**
** Environment variables, read once a process:
**
**    HPSQLITE=off          nothing is taken over, whatever a PRAGMA says
**    HPSQLITE_TEST=LIST    for tests: a comma-separated list of
**                             force       default of hp_offload is force
**                             batch=N     rows a batch, 1 to HP_BATCH
**                             hash=0      all hash values are equal
**                             simd=off    plain C
**                             source=pager   never read the file directly
**                             memory=N    default of hp_memory, bytes
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif
#include <stdlib.h>

/* Opcodes a row that the progress handler is told about */
#define HP_STEPS 8

/* Memory blocks of an arena */
struct HpBlock { struct HpBlock *pPrev; };
#define HP_MX_BLOCK (1024*1024)

/*
** Return n bytes, 8-byte aligned, that live until hpArenaClear(), or NULL.
** Blocks double from 4 KiB to 1 MiB, so that small queries stay small.
*/
static void *hpArenaAlloc(HpArena *pArena, i64 n){
  u8 *pOut;
  n = ROUND8(n);
  if( n>(i64)pArena->nFree ){
    i64 nBlock = MIN(HP_MX_BLOCK, MAX(4096, pArena->nTotal));
    struct HpBlock *pNew;
    if( nBlock<n+(i64)sizeof(*pNew) ) nBlock = n+sizeof(*pNew);
    if( nBlock>0x7fffff00 ) return 0;
    pNew = sqlite3_malloc64(nBlock);
    if( pNew==0 ) return 0;
    pNew->pPrev = pArena->pBlock;
    pArena->pBlock = pNew;
    pArena->nTotal += nBlock;
    pArena->pFree = (u8*)&pNew[1];
    pArena->nFree = (u32)(nBlock-sizeof(*pNew));
  }
  pOut = pArena->pFree;
  pArena->pFree += n;
  pArena->nFree -= (u32)n;
  return pOut;
}

static void hpArenaClear(HpArena *pArena){
  struct HpBlock *pBlock = pArena->pBlock;
  while( pBlock ){
    struct HpBlock *pPrev = pBlock->pPrev;
    sqlite3_free(pBlock);
    pBlock = pPrev;
  }
  memset(pArena, 0, sizeof(*pArena));
}

/*
** The switches of this process.  Threads that come here first at the same
** time all compute the same.
*/
static const HpConfig *hpConfig(void){
  static HpConfig cfg;
  if( AtomicLoad(&cfg.bInit)==0 ){
    HpConfig x;
    const char *z;
    memset(&x, 0, sizeof(x));
    x.nBatch = HP_BATCH;
    x.nMemory = HP_MEMORY;
    z = getenv("HPSQLITE");
    x.bOff = z!=0 && sqlite3StrICmp(z, "off")==0;
    for(z=getenv("HPSQLITE_TEST"); z && z[0]; ){
      int n = (int)strcspn(z, ",");
      if( n==5 && strncmp(z, "force", 5)==0 ) x.bForce = 1;
      if( n==6 && strncmp(z, "hash=0", 6)==0 ) x.bHash0 = 1;
      if( n==8 && strncmp(z, "simd=off", 8)==0 ) x.bNoSimd = 1;
      if( n==12 && strncmp(z, "source=pager", 12)==0 ) x.bPager = 1;
      if( strncmp(z, "batch=", 6)==0 ){
        x.nBatch = MAX(1, MIN(HP_BATCH, atoi(&z[6])));
      }
      if( strncmp(z, "memory=", 7)==0 ) x.nMemory = atoi(&z[7]);
      z += n;
      if( z[0]==',' ) z++;
    }
    cfg.bOff = x.bOff;
    cfg.bForce = x.bForce;
    cfg.bHash0 = x.bHash0;
    cfg.bNoSimd = x.bNoSimd;
    cfg.bPager = x.bPager;
    cfg.nBatch = x.nBatch;
    cfg.nMemory = x.nMemory;
    AtomicStore(&cfg.bInit, 1);
  }
  return &cfg;
}

/* The setting of PRAGMA hp_offload that is in force */
static int hpOffload(sqlite3 *db){
  const HpConfig *pCfg = hpConfig();
  if( pCfg->bOff ) return HP_OFFLOAD_OFF;
  if( db->hp.eOffload==HP_OFFLOAD_ON && pCfg->bForce && !db->hp.bSet ){
    return HP_OFFLOAD_FORCE;
  }
  return db->hp.eOffload;
}

/* The budget for groups, in bytes.  A hard heap limit of the process leaves
** no more than half of what is still free. */
static i64 hpMemory(sqlite3 *db){
  i64 n = db->hp.nMemory ? db->hp.nMemory : hpConfig()->nMemory;
  if( mem0.hardLimit>0 ){
    i64 nFree = (mem0.hardLimit - sqlite3_memory_used())/2;
    n = MIN(n, MAX(0, nFree));
  }
  return n;
}

/*
** PRAGMA hp_offload and hp_memory: called for a PRAGMA that SQLite does not
** know.  zLeft is its name, zRight the value or NULL.  Returns true if it is
** ours; then code is generated that returns the value as it is now.  A value
** that makes no sense leaves the setting as it is, as with other PRAGMAs.
*/
SQLITE_PRIVATE int sqlite3HpPragma(
  Parse *pParse,
  const char *zLeft,
  const char *zRight
){
  static const char *azOffload[] = { "on", "off", "force" };
  sqlite3 *db = pParse->db;
  Vdbe *v;
  if( sqlite3StrNICmp(zLeft, "hp_", 3)!=0 ) return 0;
  v = sqlite3GetVdbe(pParse);
  if( v==0 ) return 1;
  if( sqlite3StrICmp(zLeft, "hp_offload")==0 ){
    if( zRight ){
      int i;
      for(i=0; i<ArraySize(azOffload); i++){
        if( sqlite3StrICmp(zRight, azOffload[i])==0 ) break;
      }
      if( i==ArraySize(azOffload) && (zRight[0]=='0' || zRight[0]=='1')
       && zRight[1]==0
      ){
        i = zRight[0]=='1' ? HP_OFFLOAD_ON : HP_OFFLOAD_OFF;
      }
      if( i<ArraySize(azOffload) ){
        db->hp.eOffload = (u8)i;
        db->hp.bSet = 1;
        sqlite3ExpirePreparedStatements(db, 0);
      }
    }
    sqlite3VdbeSetNumCols(v, 1);
    sqlite3VdbeSetColName(v, 0, COLNAME_NAME, "hp_offload", SQLITE_STATIC);
    pParse->nMem = MAX(pParse->nMem, 1);
    returnSingleText(v, azOffload[hpOffload(db)]);
    return 1;
  }
  if( sqlite3StrICmp(zLeft, "hp_memory")==0 ){
    i64 n;
    if( zRight && sqlite3DecOrHexToI64(zRight, &n)==0 && n>=0 ){
      db->hp.nMemory = n;
    }
    sqlite3VdbeSetNumCols(v, 1);
    sqlite3VdbeSetColName(v, 0, COLNAME_NAME, "hp_memory", SQLITE_STATIC);
    pParse->nMem = MAX(pParse->nMem, 1);
    returnSingleInt(v, db->hp.nMemory ? db->hp.nMemory : hpConfig()->nMemory);
    return 1;
  }
  return 0;
}

/* hp_version(): the version of High Performance SQLite */
static void hpVersionFunc(sqlite3_context *ctx, int nArg, sqlite3_value **apArg){
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

/*
** Free an execution: destructor of the pointer in the register of OP_HpScan.
*/
static void hpExecFree(void *pArg){
  HpExec *p = (HpExec*)pArg;
  if( p ){
    hpSourceClose(p->pSource);
    hpAggClose(p->pAgg);
    hpArenaClear(&p->batch.side);
    hpArenaClear(&p->vec);
    sqlite3_free(p);
  }
}

/*
** Allocate what a scan needs and read the constants from registers aMem[].
*/
static int hpExecInit(HpExec *p, Mem *aMem){
  const HpPlan *pPlan = p->pPlan;
  const HpProg *pProg = &pPlan->prog;
  int n, i, rc;

  rc = hpSourceOpen(p, &p->pSource);
  if( rc ) return rc;
  rc = hpBatchInit(p);
  if( rc ) return rc;
  n = p->batch.nAlloc;
  p->aSel = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)n);
  p->aAll = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)n);
  p->aBool = hpArenaAlloc(&p->vec, n);
  p->aVec = hpArenaAlloc(&p->vec, sizeof(HpVec)*(i64)(pProg->nVec+1));
  if( p->aSel==0 || p->aAll==0 || p->aBool==0 || p->aVec==0 ){
    return HP_DECLINE;
  }
  memset(p->aVec, 0, sizeof(HpVec)*(i64)(pProg->nVec+1));
  for(i=0; i<n; i++) p->aAll[i] = (u16)i;
  for(i=0; i<pProg->nConst; i++){
    HpVec *pVec = &p->aVec[pProg->aConst[i].iVec];
    rc = hpVecInit(p, pVec, 1);
    if( rc ) return rc;
    hpVecConst(p, pVec, &aMem[pProg->aConst[i].iReg]);
    if( pVec->mType==0 ) return HP_DECLINE;
  }
  for(i=0; i<pProg->nOp; i++){
    const HpOp *pOp = &pProg->aOp[i];
    rc = hpVecInit(p, &p->aVec[pOp->iOut], n);
    if( rc ) return rc;
    if( pOp->eOp==HP_OP_IN ) hpOpInAffinity(p, pOp);
    if( pOp->eOp==HP_OP_LIKE
     && (int)p->aVec[pOp->a].aLen[0]
              >p->db->aLimit[SQLITE_LIMIT_LIKE_PATTERN_LENGTH]
    ){
      return HP_DECLINE;
    }
  }
  return hpAggOpen(p, &p->pAgg);
}

/*
** After a batch: has anybody asked to stop?
*/
static int hpExecPoll(HpExec *p, int nRow){
  sqlite3 *db = p->db;
  p->nScanned += nRow;
  if( AtomicLoad(&db->u1.isInterrupted) ) return SQLITE_INTERRUPT;
#ifndef SQLITE_OMIT_PROGRESS_CALLBACK
  if( db->xProgress ){
    p->nProgress += (u64)nRow*HP_STEPS;
    while( db->xProgress && p->nProgress>=db->nProgressOps ){
      p->nProgress -= db->nProgressOps;
      if( db->xProgress(db->pProgressArg) ) return SQLITE_INTERRUPT;
      if( AtomicLoad(&db->u1.isInterrupted) ) return SQLITE_INTERRUPT;
    }
  }
#endif
  return SQLITE_OK;
}

/*
** Filter and aggregate the rows of the batch, and empty it.
*/
static int hpExecBatch(HpExec *p){
  int nRow = p->batch.nRow;
  int rc;
  if( nRow==0 ) return SQLITE_OK;
  rc = hpExecFilter(p);
  if( rc==SQLITE_OK && p->nSel>0 ){
    rc = hpExecRest(p);
    if( rc==SQLITE_OK ) rc = hpAggStep(p);
  }
  hpBatchEmpty(&p->batch);
  if( rc==SQLITE_OK ) rc = hpExecPoll(p, nRow);
  return rc;
}

/*
** Scan the table from end to end.
*/
static int hpExecScan(HpExec *p){
  HpRun run;
  int rc;
  int i;
  while( (rc = hpSourceNext(p->pSource, &run))==SQLITE_OK && run.nPage>0 ){
    for(i=0; i<run.nPage; i++){
      int iCell = 0;
      while( iCell>=0 ){
        rc = hpRecordLeaf(p, &run, i, &iCell);
        if( rc ) return rc;
        if( p->batch.nRow==p->batch.nAlloc ){
          rc = hpExecBatch(p);
          if( rc ) return rc;
        }
      }
    }
    /* The next run overwrites the pages that the batch points into */
    rc = hpExecBatch(p);
    if( rc ) return rc;
  }
  return rc;
}

/*
** OP_HpScan.  Run the plan of pOp->p4.  SQLITE_OK: OP_HpNext delivers the
** groups.  HP_DECLINE: stock's code is to answer.  Else an error.
*/
SQLITE_PRIVATE int sqlite3HpScan(Vdbe *v, VdbeOp *pOp, Mem *aMem){
  sqlite3 *db = v->db;
  const HpPlan *pPlan = (const HpPlan*)pOp->p4.pMem->z;
  Mem *pReg = &aMem[pOp->p1];
  HpExec *p;
  int rc;

  sqlite3VdbeMemSetNull(pReg);
  if( db->hp.eOffload==HP_OFFLOAD_OFF ) return HP_DECLINE;
  /* Below the usual limit stock may fail on records of its sorter */
  if( db->aLimit[SQLITE_LIMIT_LENGTH]<SQLITE_MAX_LENGTH ) return HP_DECLINE;
  if( hpOffload(db)!=HP_OFFLOAD_FORCE ){
    int bLarge;
    rc = hpSourceIsLarge(db->aDb[pPlan->iDb].pBt, pPlan->iRoot, &bLarge);
    if( rc ) return rc;
    if( !bLarge ) return HP_DECLINE;
  }

  /* Running out of memory here is no error: stock needs less */
  sqlite3BeginBenignMalloc();
  p = sqlite3_malloc64(sizeof(*p));
  if( p==0 ){
    sqlite3EndBenignMalloc();
    return HP_DECLINE;
  }
  memset(p, 0, sizeof(*p));
  p->db = db;
  p->pPlan = pPlan;
  p->pCfg = hpConfig();
  p->nMemory = hpMemory(db);
#ifdef HP_AVX2
  p->bAvx2 = !p->pCfg->bNoSimd && __builtin_cpu_supports("avx2");
#endif
  rc = hpExecInit(p, aMem);
  sqlite3EndBenignMalloc();
  if( rc==SQLITE_OK ) rc = hpExecScan(p);
  if( rc==SQLITE_OK ) rc = hpAggSort(p);
  if( rc ){
    hpExecFree(p);
    return rc;
  }
  hpSourceClose(p->pSource);
  p->pSource = 0;
  hpArenaClear(&p->vec);
  if( p->nScanned ) v->aCounter[SQLITE_STMTSTATUS_FULLSCAN_STEP] +=
      (u32)(p->nScanned-1);
  if( pPlan->nKey ) v->aCounter[SQLITE_STMTSTATUS_SORT]++;
  sqlite3VdbeMemSetPointer(pReg, p, "hp", hpExecFree);
  return SQLITE_OK;
}

/*
** OP_HpNext.  Copy the next group of the OP_HpScan with the same P1 into
** registers.  *pbDone is set when there is none.
*/
SQLITE_PRIVATE int sqlite3HpNext(Vdbe *v, VdbeOp *pOp, Mem *aMem, int *pbDone){
  HpExec *p = (HpExec*)aMem[pOp->p1].z;
  int rc = hpAggNext(p, aMem);
  UNUSED_PARAMETER(v);
  *pbDone = rc==SQLITE_DONE;
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}
#endif /* SQLITE_OMIT_HP */
