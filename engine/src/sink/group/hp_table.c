/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_table: the groups of one worker.
**
**    hpTableOpen()    no groups
**    hpTableNew()     one more
**    hpTableLoad()    let its bare columns show a row
**    hpTableSpill()   write all to a file, and forget them
**    hpTableReset()   forget them
**    hpTableIsSane()  for asserts
**    hpTableClose()   free everything
**
** Groups are numbered as they appear.  A group is HpEntryPlan.szEntry bytes: the
** state of each aggregate, where its key record is (hp_key.c), and a copy of
** its bare columns; groups lie in chunks that never move.  They are found
** through a hash table of 8-byte entries, the upper half of the hash value
** beside the number of the group, with linear probing, at most half full.
** Two rows are of one group if their packs are equal or, where the keys do not
** fit into a pack, their normalized keys.  The group remembers the keys as its
** first row had them, which is what stock shows, in a key record; but an integer
** that is the only key is in the pack already and needs none (HpHead.z==0).
**
** When memory is short the groups are written to a file and forgotten
** (hp_spill.c), at the end of a batch.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_FEW_SLOT    4096   /* Entries of HpAgg.aFew */
#define HP_MIN_SLOT    1024   /* Entries of a new hash table */

/*
** Create a group, all states empty, and return it, or NULL.
*/
static u8 *hpTableNew(HpAgg *pAgg){
  u32 iGroup = pAgg->runs.nEntry;
  u8 *aGroup;
  if( iGroup%HP_CHUNK==0 ){
    u32 iChunk = iGroup/HP_CHUNK;
    int nFirst = pAgg->pPlan->keys.n ? HP_CHUNK : 1;
    if( iChunk>=pAgg->runs.nChunkAlloc ){
      u32 nNew = pAgg->runs.nChunkAlloc ? pAgg->runs.nChunkAlloc*2 : 16;
      u8 **apNew = sqlite3_realloc64(pAgg->runs.apChunk, sizeof(u8*)*(u64)nNew);
      if( apNew==0 ) return 0;
      pAgg->runs.nTable += sizeof(u8*)*(i64)(nNew-pAgg->runs.nChunkAlloc);
      pAgg->runs.apChunk = apNew;
      pAgg->runs.nChunkAlloc = nNew;
    }
    pAgg->runs.apChunk[iChunk] =
        hpArenaAlloc(&pAgg->runs.arena, (i64)nFirst*pAgg->pPlan->entry.szEntry);
    if( pAgg->runs.apChunk[iChunk]==0 ) return 0;
  }
  assert( iGroup/HP_CHUNK<pAgg->runs.nChunkAlloc );
  pAgg->runs.nEntry++;
  aGroup = hpHeldAt(&pAgg->runs, iGroup);
  memset(aGroup, 0, pAgg->pPlan->entry.szEntry);
  hpGroupHead(pAgg->pPlan, aGroup)->iPos = HP_NO_POS;
  return aGroup;
}

/*
** Release the contexts of aggregate functions that have not been finished.
*/
static void hpTableRelease(HpAgg *pAgg){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  u32 i;
  int k;
  /* Contexts are those of one worker, in the application's thread */
  assert( pAgg->runs.pWorker->db==pAgg->runs.pWorker->pPipe->pQuery->db );
  for(k=0; k<pPlan->nAgg; k++){
    if( pPlan->aAgg[k].eAgg!=HP_AGG_CALL ) continue;
    for(i=0; i<pAgg->runs.nEntry; i++){
      Mem *pMem = hpGroupState(&pPlan->aAgg[k], hpHeldAt(&pAgg->runs, i));
      if( pMem->db ) sqlite3VdbeMemRelease(pMem);
    }
  }
}

/*
** Open the groups of pAgg->pPlan.
*/
static int hpTableOpen(HpFrame *p, const HpGroupPlan *pPlan, HpAgg **ppAgg){
  int n = p->nAlloc;
  HpAgg *pAgg;

  assert( n>0 && pPlan->entry.szEntry>=(int)sizeof(HpHead) && pPlan->entry.bRows==0 );
  *ppAgg = pAgg = sqlite3_malloc64(sizeof(*pAgg));
  if( pAgg==0 ) return HP_DECLINE;
  memset(pAgg, 0, sizeof(*pAgg));
  pAgg->pPlan = pPlan;
  pAgg->nHot = pPlan->entry.iHeadOff;
  hpHeldInit(&pAgg->runs, &pPlan->entry, p->pWorker);
  pAgg->aPart = hpArenaAlloc(&pAgg->scratch, sizeof(u16)*(i64)n);
  /* Sets and opaque states are never put aside, nor is this arena cleared */
  pAgg->aSet = hpArenaAlloc(&pAgg->runs.arena, sizeof(HpSet)*(i64)(pPlan->nSet+1));
  pAgg->aSign = hpArenaAlloc(&pAgg->scratch,
                                  sizeof(struct HpSign)*(i64)(pPlan->nAgg+1));
  if( pAgg->aSet ) memset(pAgg->aSet, 0, sizeof(HpSet)*(pPlan->nSet+1));
  if( pAgg->aPart==0 || pAgg->aSet==0 || pAgg->aSign==0 ) return HP_DECLINE;
  memset(pAgg->aSign, 0, sizeof(pAgg->aSign[0])*(pPlan->nAgg+1));
  if( pPlan->keys.n==0 ) return hpTableNew(pAgg) ? SQLITE_OK : HP_DECLINE;
  pAgg->apPart = hpArenaAlloc(&pAgg->scratch, sizeof(u8*)*(i64)n);
  pAgg->aiGroup = hpArenaAlloc(&pAgg->scratch, sizeof(u32)*(i64)n);
  pAgg->aNew = hpArenaAlloc(&pAgg->scratch, sizeof(u16)*(i64)n);
  pAgg->aiNew = hpArenaAlloc(&pAgg->scratch, sizeof(u32)*(i64)n);
  pAgg->apGroup = hpArenaAlloc(&pAgg->scratch, sizeof(u8*)*(i64)n);
  pAgg->aRow = hpArenaAlloc(&pAgg->scratch, sizeof(u16)*(i64)n);
  pAgg->aPack = hpArenaAlloc(&pAgg->scratch, sizeof(HpPack)*(i64)n);
  pAgg->aGroupPack = hpArenaAlloc(&pAgg->scratch, sizeof(HpPack)*HP_MX_CACHED);
  pAgg->aFew = hpArenaAlloc(&pAgg->scratch, HP_FEW_SLOT);
  pAgg->aHash = hpArenaAlloc(&pAgg->scratch, sizeof(u64)*(i64)n);
  pAgg->aNorm = hpArenaAlloc(&pAgg->scratch, sizeof(u32)*(i64)(n+1));
  pAgg->mSlot = HP_MIN_SLOT-1;
  pAgg->runs.nTable = 2*sizeof(u32)*(i64)(pAgg->mSlot+1);
  pAgg->aSlot = sqlite3_malloc64(pAgg->runs.nTable);
  if( pAgg->apPart==0 || pAgg->aiGroup==0 || pAgg->apGroup==0 || pAgg->aRow==0
   || pAgg->aPack==0 || pAgg->aGroupPack==0 || pAgg->aHash==0
   || pAgg->aFew==0 || pAgg->aNew==0 || pAgg->aiNew==0
   || pAgg->aNorm==0 || pAgg->aSlot==0
  ){
    return HP_DECLINE;
  }
  memset(pAgg->aSlot, 0, pAgg->runs.nTable);
  memset(pAgg->aFew, 0, HP_FEW_SLOT);
  memset(pAgg->aGroupPack, 0, sizeof(HpPack)*HP_MX_CACHED);
  return SQLITE_OK;
}

/*
** Free pAgg, which may be NULL.
*/
static void hpTableClose(HpAgg *pAgg){
  if( pAgg ){
    int i;
    assert( pAgg->pTop==0 );
    if( pAgg->pPlan->bOpaque ) hpTableRelease(pAgg);
    for(i=0; pAgg->aSet && i<pAgg->pPlan->nSet; i++){
      hpDistinctFree(&pAgg->aSet[i]);
    }
    hpSpillClose(&pAgg->runs);
    hpTallyClose(pAgg);
    hpDirectClose(pAgg);
    hpArenaClear(&pAgg->scratch);
    sqlite3_free(pAgg->norm.a);
    sqlite3_free(pAgg->aSlot);
    sqlite3_free(pAgg);
  }
}

#ifdef SQLITE_DEBUG
/*
** The hash table has a power of two of entries, and one is free.  Each group is in
** it once, and nothing else; while keys come in order it is empty.
*/
static int hpTableIsSane(const HpAgg *pAgg){
  u32 i, n = 0;
  if( (pAgg->mSlot & (pAgg->mSlot+1))!=0 ) return 0;
  for(i=0; i<=pAgg->mSlot; i++){
    u32 iGroup = pAgg->aSlot[2*i+1];
    if( iGroup>pAgg->runs.nEntry ) return 0;
    n += iGroup!=0;
  }
  if( n>pAgg->mSlot ) return 0;
  return pAgg->runs.bOrdered ? n==0 : n<=pAgg->runs.nEntry;
}
#endif

/*
** Forget all groups.  A hash table of more than mxByte bytes becomes small again.
*/
static void hpTableReset(HpAgg *pAgg, i64 mxByte){
  i64 nByte = 2*sizeof(u32)*((i64)pAgg->mSlot+1);
  assert( !hpTallyIsOn(pAgg) );      /* Its sums are in the groups */
  if( nByte>mxByte ){
    i64 nNew = 2*sizeof(u32)*(i64)HP_MIN_SLOT;
    u32 *aNew = nNew<nByte ? sqlite3_malloc64(nNew) : 0;
    if( aNew ){
      sqlite3_free(pAgg->aSlot);
      pAgg->aSlot = aNew;
      pAgg->mSlot = HP_MIN_SLOT-1;
      pAgg->runs.nTable -= nByte-nNew;
      nByte = nNew;
    }
  }
  assert( nByte==2*(i64)sizeof(u32)*((i64)pAgg->mSlot+1) );
  hpHeldReset(&pAgg->runs);
  pAgg->bFull = 0;
  hpDirectClear(pAgg);
  memset(pAgg->aSlot, 0, nByte);
  memset(pAgg->aGroupPack, 0, sizeof(HpPack)*HP_MX_CACHED);
}

/*
** Write all groups to a file, and forget them.
*/
static int hpTableSpill(HpAgg *pAgg){
  int rc;
  if( pAgg->runs.nEntry==0 ) return SQLITE_OK;
  assert( hpTableIsSane(pAgg) );
  hpAggSettle(pAgg);
  rc = hpSpillHeld(&pAgg->runs);
  if( rc==SQLITE_OK ){
    hpTableReset(pAgg, pAgg->runs.pWorker->pPipe->budget.nShare/4);
  }
  return rc;
}

/*
** Let the bare columns of a group show row i.
*/
static int hpTableLoad(HpAgg *pAgg, HpFrame *p, u8 *aGroup, int i){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  int k, rc;
  assert( pAgg->runs.pWorker==p->pWorker && i<p->nRow );
  for(k=0; k<pPlan->nBare; k++){
    const struct HpBare *pBare = &pPlan->aBare[k];
    if( pBare->iKey>=0 ) continue;
    if( pBare->iRel>=0 ){
      const HpVec *pVec = &p->aVec[pBare->iVec];
      *hpGroupRow(pBare, aGroup) = pVec->aVal[i & pVec->mIdx].u;
      continue;
    }
    rc = hpKeptSet(&pAgg->runs.arena, hpGroupBare(pBare, aGroup),
                   &p->aVec[pBare->iVec], i);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
