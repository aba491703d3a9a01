/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_spill: groups and rows written to a temporary file as sorted runs.
**
**    hpSpillGroups()    write a worker's groups
**    hpSpillOpen(), hpSpillNote(), hpSpillWrite()   the file
**    hpSpillSize(), hpSpillRecord()    a group or row as a record
**    hpSpillBytes(), hpSpillHead()     the size of one; where its group begins
**    hpSpillPointers()  make a record that was read a group again
**    hpSpillSigns(), hpSpillDoubt()   can parts of sums be put together later?
**    hpSpillClose()     remove the file, free everything
**
** A record in the file is
**
**    u64       bytes of the record, a multiple of 8
**    group     HpGroupPlan.szGroup bytes.  Pointers in it mean nothing
**    entries   of aggregates with ORDER BY inside (hp_aggorder.c)
**    logs      of those that depend on the order of rows (hp_agglog.c)
**    key       the key record, HpHead.nRec bytes
**    texts     of the best values and bare columns, in their order
**
** That of an entry that is a key and a record is itself (HpPair).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_SPILL_BUF   (128*1024)    /* Bytes held before they are written */
#define HP_SPILL_IO    (64*1024)     /* Bytes written or read at once: the unix
                                     ** VFS does not expect 128 KiB or more */
#define HP_MX_RUN      2000    /* Most sorted runs of a scan */

/* The temporary file of a worker */
struct HpSpill {
  sqlite3_file *pFd;
  i64 nByte;             /* Bytes written */
  u64 mxRecord;          /* Bytes of the largest record */
  int nRun;              /* Sorted runs in the file */
  int nRunAlloc;
  struct HpSpillRun {
    i64 iEnd;              /* Where it ends */
    u64 mxRecord;          /* Bytes of its largest record */
  } *aRun;
};

/* Texts of a group: call XXX(copy) for each HpKept */
#define HP_EACH_COPY(PLAN,G,XXX) if( (PLAN)->bKept ){ \
  int k_; \
  for(k_=0; k_<(PLAN)->nAgg; k_++){ \
    const HpAggDef *pDef_ = &(PLAN)->aAgg[k_]; \
    if( pDef_->eAgg==HP_AGG_MIN || pDef_->eAgg==HP_AGG_MAX ){ \
      XXX(&((HpBest*)hpGroupState(pDef_, G))->copy) \
    } \
  } \
  for(k_=0; k_<(PLAN)->nBare; k_++){ \
    const struct HpBare *pBare_ = &(PLAN)->aBare[k_]; \
    if( pBare_->iKey<0 && pBare_->iRel<0 ) XXX(hpGroupBare(pBare_, G)) \
  } \
}

/* Where in a record the group begins */
static u8 hpSpillHead(const HpGroupPlan *pPlan){ return pPlan->bWhole ? 0 : 8; }

/* Bytes of the record that begins at a, of which 8 bytes are there */
static u64 hpSpillBytes(const HpGroupPlan *pPlan, const u8 *a){
  u64 n;
  if( pPlan->bWhole ) return hpPairSize((const HpPair*)a);
  memcpy(&n, a, 8);
  return n;
}

/*
** Bytes of the record of a group.
*/
static u64 hpSpillSize(const HpGroupPlan *pPlan, const u8 *aGroup){
  u64 n;
  if( pPlan->bWhole ) return hpPairSize((const HpPair*)aGroup);
  n = 8 + pPlan->szGroup + (u64)hpGroupHead(pPlan, aGroup)->nRec;
#define HP_TEXT_SIZE(C) { \
    const HpKept *c_ = (C); \
    if( c_->tag & HP_STR ) n += c_->n; \
  }
  HP_EACH_COPY(pPlan, aGroup, HP_TEXT_SIZE)
#undef HP_TEXT_SIZE
  if( pPlan->nLate ){
    n += hpAggOrderSize(pPlan, aGroup) + hpAggLogSize(pPlan, (u8*)aGroup);
  }
  return ROUND8(n);
}

/*
** Append the record of a group to pBuf.
*/
static int hpSpillRecord(const HpGroupPlan *pPlan, const u8 *aGroup, HpBuf *pBuf){
  const HpHead *pHead = hpGroupHead(pPlan, aGroup);
  u64 n = hpSpillSize(pPlan, aGroup);
  u8 *a, *aBase;
  if( n>SQLITE_MAX_LENGTH || hpBufRoom(pBuf, (u32)n) ) return HP_DECLINE;
  a = &pBuf->a[pBuf->n];
  assert( (pBuf->n & 7)==0 && n>=8+(u64)pPlan->szGroup );
  pBuf->n += (u32)n;
  if( pPlan->bWhole ){
    memcpy(a, aGroup, n);
    return SQLITE_OK;
  }
  memset(&a[n-8], 0, 8);
  memcpy(a, &n, 8);
  aBase = &a[8];
  memcpy(aBase, aGroup, pPlan->szGroup);
  a = &aBase[pPlan->szGroup];
  if( pPlan->nLate ){
    a = hpAggOrderWrite(pPlan, aGroup, a, aBase);
    a = hpAggLogWrite(pPlan, aBase, a);
  }
  if( pHead->nRec ) memcpy(a, pHead->z, pHead->nRec);
  a += pHead->nRec;
#define HP_TEXT_COPY(C) { \
    const HpKept *c_ = (C); \
    if( (c_->tag & HP_STR) && c_->n ){ \
      memcpy(a, c_->val.z, c_->n); \
      a += c_->n; \
    } \
  }
  HP_EACH_COPY(pPlan, aGroup, HP_TEXT_COPY)
#undef HP_TEXT_COPY
  /* It is as long as hpSpillSize() says, which is a multiple of 8 */
  assert( a<=&aBase[n-8] && a>&aBase[n-16] );
  return SQLITE_OK;
}

/*
** Set the pointers of a group that was read from a file.
*/
static void hpSpillPointers(const HpGroupPlan *pPlan, u8 *aGroup){
  HpHead *pHead = hpGroupHead(pPlan, aGroup);
  u8 *a = &aGroup[pPlan->szGroup];
  if( pPlan->bWhole ) return;
  if( pPlan->nLate ){
    a = hpAggOrderPointers(pPlan, aGroup, a);
    a = hpAggLogPointers(pPlan, aGroup, a);
  }
  pHead->z = pHead->nRec ? a : 0;
  a += pHead->nRec;
#define HP_TEXT_POINT(C) { \
    HpKept *c_ = (C); \
    if( c_->tag & HP_STR ){ \
      c_->val.z = a; \
      a += c_->n; \
    } \
  }
  HP_EACH_COPY(pPlan, aGroup, HP_TEXT_POINT)
#undef HP_TEXT_POINT
}

/*
** Note in pRuns->aSign what hpMergeDoubt() has to know of these groups.
*/
static void hpSpillSigns(HpRuns *pRuns){
  const HpGroupPlan *pPlan = pRuns->pPlan;
  u32 i;
  int k;
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    struct HpSign *pSign = &pRuns->aSign[k];
    if( pDef->eAgg!=HP_AGG_SUM || pDef->bShared ) continue;
    for(i=0; i<pRuns->nGroup; i++){
      const HpSum *pSum = hpGroupState(pDef, hpGroupAt(pRuns, i));
      if( hpSumCount(pSum)==0 ) continue;
      if( hpSumIsReal(pSum) ){
        double r = fabs(pSum->u.r.rSum);
        pSign->bReal = 1;
        if( pSum->u.r.rSum<0.0 ) pSign->bMinus = 1;
        if( pSum->u.r.rSum>0.0 ) pSign->bPlus = 1;
        /* Stricter than hpSumIsSound(), so that it holds for merged parts too */
        if( (pSum->n & HP_SUM_OVRFL)
         || !(r<=1e300/HP_MX_RUN)
         || !(fabs(pSum->u.r.rErr)<=r*(1.0/(1<<21)))
         || !(pSum->u.r.mx<=r*(1<<20))
        ){
          pSign->bUnsound = 1;
        }
      }else{
        pSign->mAbs |= pSum->u.i.mAbs;
        if( pSum->u.i.iSum<0 ) pSign->bMinus = 1;
        if( pSum->u.i.iSum>0 ) pSign->bPlus = 1;
      }
    }
  }
}

/*
** May some sums of pDef, of nRow rows at most, not be what one worker would have
** found once they are merged?
**
** Integers are safe if even the sum of all sizes of all rows has 63 bits or, where
** sum() is not wanted, what stock loses has 53.  Reals are if all parts are
** sound and none has another sign than another.
*/
static int hpSpillDoubt(
  const HpAggDef *pDef,
  const struct HpSign *pSign,
  u64 nRow
){
  assert( pDef->eAgg==HP_AGG_SUM && pDef->bShared==0 );
  if( pSign->bUnsound || (pSign->bReal && pSign->bMinus && pSign->bPlus) ) return 1;
  if( hpSumIsSmall(pSign->mAbs, nRow) ) return 0;
  return pSign->bReal || pDef->bOvrfl
      || hpSumLost(pSign->mAbs, nRow)>HP_MX_LOST;
}

/* The run being written has a record of n bytes */
static void hpSpillNote(struct HpSpill *pSpill, u64 n){
  struct HpSpillRun *pRun = &pSpill->aRun[pSpill->nRun];
  assert( (n & 7)==0 && pSpill->nRun<pSpill->nRunAlloc );
  pRun->mxRecord = MAX(pRun->mxRecord, n);
  pSpill->mxRecord = MAX(pSpill->mxRecord, n);
}

/*
** Write the bytes of pBuf to the end of the file, and empty it.
*/
static int hpSpillWrite(struct HpSpill *pSpill, HpBuf *pBuf){
  int rc = SQLITE_OK;
  u32 i;
  assert( (pBuf->n & 7)==0 && pSpill->nRun<pSpill->nRunAlloc );
  for(i=0; i<pBuf->n && rc==SQLITE_OK; i+=HP_SPILL_IO){
    u32 n = MIN(HP_SPILL_IO, pBuf->n-i);
    rc = sqlite3OsWrite(pSpill->pFd, &pBuf->a[i], (int)n, pSpill->nByte+i);
  }
  pSpill->nByte += pBuf->n;
  pBuf->n = 0;
  return rc;
}

/*
** Get ready to write one more run to the file of a worker.
*/
static int hpSpillOpen(HpRuns *pRuns){
  const HpWorker *p = pRuns->pWorker;
  struct HpSpill *pSpill = pRuns->pSpill;
  /* PRAGMA temp_store=memory: there is no file to write to */
  if( sqlite3TempInMemory(p->pQuery->db) ) return HP_DECLINE;
  if( pSpill==0 ){
    pRuns->pSpill = pSpill = sqlite3_malloc64(sizeof(*pSpill));
    if( pSpill==0 ) return HP_DECLINE;
    memset(pSpill, 0, sizeof(*pSpill));
    if( vdbeSorterOpenTempFile(p->db, 0, &pSpill->pFd) ) return HP_DECLINE;
  }
  if( pSpill->nRun>=HP_MX_RUN
   || hpBufGrow(&pSpill->aRun, &pSpill->nRunAlloc, pSpill->nRun,
                sizeof(pSpill->aRun[0]))
  ){
    return HP_DECLINE;
  }
  pSpill->aRun[pSpill->nRun].mxRecord = 0;
  assert( pSpill->nRun==0 || pSpill->aRun[pSpill->nRun-1].iEnd==pSpill->nByte );
  return SQLITE_OK;
}

/*
** Write the groups of a worker as a sorted run to its file.  The caller forgets
** them.  Whatever goes wrong, stock's code may still do without.
*/
static int hpSpillGroups(HpRuns *pRuns){
  const HpGroupPlan *pPlan = pRuns->pPlan;
  const HpWorker *p = pRuns->pWorker;
  struct HpSpill *pSpill;
  HpBuf buf;
  u32 i;
  int k, rc;

  assert( pRuns->nGroup>0 );
  assert( pPlan->bOpaque==0 && pPlan->nSet==0 );
  if( hpSpillOpen(pRuns) ) return HP_DECLINE;
  pSpill = pRuns->pSpill;
  hpSpillSigns(pRuns);
  /* What hpMergeDoubt() will find need not be written */
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    if( pDef->eAgg==HP_AGG_SUM && !pDef->bShared
     && hpSpillDoubt(pDef, &pRuns->aSign[k], p->nScanned)
    ){
      return HP_DECLINE;
    }
  }
  rc = hpRadixGroups(pRuns);
  if( rc==SQLITE_OK && pPlan->nLate ) rc = hpAggOrderSort(pRuns);
  memset(&buf, 0, sizeof(buf));
  if( rc==SQLITE_OK ) rc = hpBufRoom(&buf, HP_SPILL_BUF);
  for(i=0; i<pRuns->nGroup && rc==SQLITE_OK; i++){
    u32 nBefore = buf.n;
    if( !pRuns->bOrdered ){
      hpRadixPrefetch(pPlan, pRuns->aSorted, i, pRuns->nGroup)
    }
    rc = hpSpillRecord(pPlan, hpRadixGroup(pRuns, i), &buf);
    hpSpillNote(pSpill, buf.n-nBefore);
    if( rc==SQLITE_OK && buf.n>=HP_SPILL_BUF && hpSpillWrite(pSpill, &buf) ){
      rc = HP_DECLINE;
    }
    if( rc==SQLITE_OK && i%HP_POLL==HP_POLL-1 ) rc = hpThreadStopped(p->pQuery);
  }
  if( rc==SQLITE_OK && buf.n && hpSpillWrite(pSpill, &buf) ) rc = HP_DECLINE;
  sqlite3_free(buf.a);
  pSpill->aRun[pSpill->nRun++].iEnd = pSpill->nByte;
  /* Each run will have one record in memory.  The entries of large groups would
  ** be too much */
  if( rc==SQLITE_OK && pPlan->nLate
   && pSpill->nRun*pSpill->mxRecord>pSpill->nRun*(u64)HP_SPILL_BUF
                                    +(u64)p->pQuery->budget.nShare
  ){
    rc = HP_DECLINE;
  }
  return rc;
}

/*
** Free all that pRuns has.
*/
static void hpSpillClose(HpRuns *pRuns){
  VVA_ONLY( const HpQuery *pQuery = pRuns->pWorker->pQuery; )
  /* Nobody reads them.  A worker may close its partitions in its own thread */
  assert( pQuery->pCrew==0 || pQuery->nMerge==0 );
  hpArenaClear(&pRuns->memRun);
  if( pRuns->pSpill ){
    if( pRuns->pSpill->pFd ) sqlite3OsCloseFree(pRuns->pSpill->pFd);
    sqlite3_free(pRuns->pSpill->aRun);
    sqlite3_free(pRuns->pSpill);
    pRuns->pSpill = 0;
  }
  sqlite3_free(pRuns->aMemRun);
  sqlite3_free(pRuns->aSorted);
  sqlite3_free(pRuns->apChunk);
  sqlite3_free(pRuns->key.a);
  hpArenaClear(&pRuns->arena);
}
#endif /* SQLITE_OMIT_HP */
