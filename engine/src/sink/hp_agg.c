/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_agg: the groups of one worker.
**
**    hpAggOpen()     an empty table of groups
**    hpAggFind()     the group of each selected row
**    hpAggStep()     find it, and add the row to it
**    hpAggReset()    forget all groups
**    hpAggClose()    free everything
**
** Groups are numbered as they appear.  A group is HpGroupPlan.szGroup bytes: the
** state of each aggregate, where its key record is (hp_key.c), and a copy of
** its bare columns; groups lie in chunks that never move.  They are found
** through a hash table of 8-byte entries, the upper half of the hash value
** beside the number of the group, with linear probing, at most half full.
** Two rows are of one group if their packs are equal or, where the keys do not
** fit into a pack, their normalized keys.  The group remembers the keys as its
** first row had them, which is what stock shows, in a key record; but an integer
** that is the only key is in the pack already and needs none (HpHead.z==0).
**
** The state of sum, total and avg is that of stock's SumCtx, stepped as sumStep()
** does it, in scan order; count and the best value of min and max likewise;
** every other aggregate function is called itself, for each row.
** What has ORDER BY inside keeps a list of entries (hp_aggorder.c).
** hpResultLoad() copies the states into aggregate contexts, and stock's
** OP_AggFinal then finishes them.  So rounding and errors are stock's.
**
** Keys often come in order: a table filled by day, the lines of one invoice
** after the other, a scan of an index.  As long as each new key of a worker is
** greater than all before it (HpAgg.bOrdered), a row belongs to the last group
** or begins the next, there is no hash table, and nothing to sort in the end.
** The first key that is not puts all groups so far into the hash table.
**
** A single integer key of a small range needs no hash value: an array tells
** the group of each (HpAgg.aDirect).  What it does not know yet the hash table
** does.
**
** Where there are few groups the rows of a batch are first put in order of
** their group.  Each aggregate then runs down one group's rows with its state
** in registers, instead of from memory to memory for each row.
**
** Several workers.  The parts of a group add up to what one worker would have
** found, with the help of the rows' positions for everything that depends on
** which row came first.  Of sums hp_sum.c says when that is so.  Where it is in
** doubt HP_SERIAL says so, and the scan runs again with one worker that adds up
** row by row.
**
** When memory is short the groups are written to a file and forgotten
** (hp_spill.c), at the end of a batch.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MX_ORDERED  64     /* Up to so many groups rows are ordered by group */
#define HP_FEW_SLOT    4096   /* Entries of HpAgg.aFew */
#define HP_MIN_SLOT    1024   /* Entries of a new hash table */
#define HP_MX_DIRECT   (256*1024)  /* Largest range of HpAgg.aDirect */
#define HP_MN_DIRECT   8      /* Its range is at most so many times the groups */
#define HP_MX_SLOT     (4*HP_BATCH)  /* So many it may have in any case */
#define HP_MIN_ORDERED 8      /* ... if there are so many rows for each of them */

/*
** Create a group, all states empty, and return it, or NULL.
*/
static u8 *hpAggNewGroup(HpAgg *pAgg){
  u32 iGroup = pAgg->runs.nGroup;
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
        hpArenaAlloc(&pAgg->runs.arena, (i64)nFirst*pAgg->pPlan->szGroup);
    if( pAgg->runs.apChunk[iChunk]==0 ) return 0;
  }
  pAgg->runs.nGroup++;
  aGroup = hpGroupAt(&pAgg->runs, iGroup);
  memset(aGroup, 0, pAgg->pPlan->szGroup);
  hpGroupHead(pAgg->pPlan, aGroup)->iPos = HP_NO_POS;
  return aGroup;
}

/*
** Release the contexts of aggregate functions that have not been finished.
*/
static void hpAggRelease(HpAgg *pAgg){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  u32 i;
  int k;
  for(k=0; k<pPlan->nAgg; k++){
    if( pPlan->aAgg[k].eAgg!=HP_AGG_CALL ) continue;
    for(i=0; i<pAgg->runs.nGroup; i++){
      Mem *pMem = hpGroupState(&pPlan->aAgg[k], hpGroupAt(&pAgg->runs, i));
      if( pMem->db ) sqlite3VdbeMemRelease(pMem);
    }
  }
}

/*
** Open the groups of pAgg->pPlan.
*/
static int hpAggOpen(HpFrame *p, const HpGroupPlan *pPlan, HpAgg **ppAgg){
  int n = p->nAlloc;
  HpAgg *pAgg;

  *ppAgg = pAgg = sqlite3_malloc64(sizeof(*pAgg));
  if( pAgg==0 ) return HP_DECLINE;
  memset(pAgg, 0, sizeof(*pAgg));
  pAgg->pPlan = pPlan;
  pAgg->runs.pPlan = pPlan;
  pAgg->runs.pWorker = p->pWorker;
  hpBudgetArena(p->pWorker->pScan, &pAgg->runs.arena);
  pAgg->aPart = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)n);
  /* Sets and opaque states are never put aside, nor is this arena cleared */
  pAgg->aSet = hpArenaAlloc(&pAgg->runs.arena, sizeof(HpSet)*(i64)(pPlan->nSet+1));
  pAgg->runs.aSign = hpArenaAlloc(&p->vec,
                                  sizeof(struct HpSign)*(i64)(pPlan->nAgg+1));
  if( pAgg->aPart==0 || pAgg->aSet==0 || pAgg->runs.aSign==0 ) return HP_DECLINE;
  memset(pAgg->runs.aSign, 0, sizeof(pAgg->runs.aSign[0])*(pPlan->nAgg+1));
  memset(pAgg->aSet, 0, sizeof(HpSet)*(pPlan->nSet+1));
  if( pPlan->keys.n==0 ) return hpAggNewGroup(pAgg) ? SQLITE_OK : HP_DECLINE;
  pAgg->apPart = hpArenaAlloc(&p->vec, sizeof(u8*)*(i64)n);
  pAgg->aiGroup = hpArenaAlloc(&p->vec, sizeof(u32)*(i64)n);
  pAgg->apGroup = hpArenaAlloc(&p->vec, sizeof(u8*)*(i64)n);
  pAgg->aRow = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)n);
  pAgg->aPack = hpArenaAlloc(&p->vec, sizeof(HpPack)*(i64)n);
  pAgg->aGroupPack = hpArenaAlloc(&p->vec, sizeof(HpPack)*HP_MX_CACHED);
  pAgg->aFew = hpArenaAlloc(&p->vec, HP_FEW_SLOT);
  pAgg->aHash = hpArenaAlloc(&p->vec, sizeof(u64)*(i64)n);
  pAgg->aNorm = hpArenaAlloc(&p->vec, sizeof(u32)*(i64)(n+1));
  pAgg->mSlot = HP_MIN_SLOT-1;
  pAgg->runs.nTable = 2*sizeof(u32)*(i64)(pAgg->mSlot+1);
  pAgg->aSlot = sqlite3_malloc64(pAgg->runs.nTable);
  if( pAgg->apPart==0 || pAgg->aiGroup==0 || pAgg->apGroup==0 || pAgg->aRow==0
   || pAgg->aPack==0 || pAgg->aGroupPack==0 || pAgg->aHash==0
   || pAgg->aFew==0
   || pAgg->aNorm==0 || pAgg->aSlot==0
  ){
    return HP_DECLINE;
  }
  memset(pAgg->aSlot, 0, pAgg->runs.nTable);
  pAgg->runs.bOrdered = 1;
  memset(pAgg->aFew, 0, HP_FEW_SLOT);
  memset(pAgg->aGroupPack, 0, sizeof(HpPack)*HP_MX_CACHED);
  return SQLITE_OK;
}

static void hpAggClose(HpAgg *pAgg){
  if( pAgg ){
    int i;
    if( pAgg->pPlan->bOpaque ) hpAggRelease(pAgg);
    for(i=0; pAgg->aSet && i<pAgg->pPlan->nSet; i++){
      sqlite3_free(pAgg->aSet[i].apSlot);
    }
    hpSpillClose(&pAgg->runs);
    sqlite3_free(pAgg->norm.a);
    sqlite3_free(pAgg->aSlot);
    sqlite3_free(pAgg->aDirect);
    sqlite3_free(pAgg);
  }
}

#ifdef SQLITE_DEBUG
/*
** The hash table has a power of two of entries, and one is free.  Each group is in
** it once, and nothing else; while keys come in order it is empty.
*/
static int hpAggIsSane(const HpAgg *pAgg){
  u32 i, n = 0;
  if( (pAgg->mSlot & (pAgg->mSlot+1))!=0 ) return 0;
  for(i=0; i<=pAgg->mSlot; i++){
    u32 iGroup = pAgg->aSlot[2*i+1];
    if( iGroup>pAgg->runs.nGroup ) return 0;
    n += iGroup!=0;
  }
  if( n>pAgg->mSlot ) return 0;
  return pAgg->runs.bOrdered ? n==0 : n<=pAgg->runs.nGroup;
}
#endif

/*
** Double the hash table, unless that would take more memory than allowed: then
** it fills up until the end of the batch.
*/
static int hpAggGrow(HpAgg *pAgg, HpFrame *p){
  u32 mOld = pAgg->mSlot;
  u32 mNew = mOld*2+1;
  i64 nByte = 2*sizeof(u32)*((i64)mNew+1);
  u32 *aOld = pAgg->aSlot;
  u32 *aNew;
  u32 i;
  if( mNew>=0x7fffffff
   || (mNew>=HP_MX_SLOT && !hpGroupMay(&pAgg->runs, nByte, HP_WISH))
  ){
    pAgg->bFull = 1;
    return pAgg->runs.nGroup>mOld-mOld/8 ? HP_DECLINE : SQLITE_OK;
  }
  aNew = hpArenaMalloc(nByte);
  if( aNew==0 ) return HP_DECLINE;
  memset(aNew, 0, nByte);
  for(i=0; i<=mOld; i++){
    u32 iGroup = aOld[2*i+1];
    if( iGroup ){
      u32 j = aOld[2*i] & mNew;
      while( aNew[2*j+1] ) j = (j+1) & mNew;
      aNew[2*j] = aOld[2*i];
      aNew[2*j+1] = iGroup;
    }
  }
  pAgg->runs.nTable += nByte - 2*sizeof(u32)*((i64)mOld+1);
  sqlite3_free(aOld);
  pAgg->aSlot = aNew;
  pAgg->mSlot = mNew;
  assert( hpAggIsSane(pAgg) );
  return SQLITE_OK;
}

/*
** Forget all groups.
*/
static void hpAggReset(HpAgg *pAgg){
  i64 nByte = 2*sizeof(u32)*((i64)pAgg->mSlot+1);
  if( nByte>pAgg->runs.pWorker->pScan->budget.nShare/4 ){
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
  hpGroupReset(&pAgg->runs);
  pAgg->bFull = 0;
  if( pAgg->nDirect ) memset(pAgg->aDirect, 0, sizeof(u32)*pAgg->nDirect);
  memset(pAgg->aSlot, 0, nByte);
  memset(pAgg->aGroupPack, 0, sizeof(HpPack)*HP_MX_CACHED);
}

/*
** Write all groups to a file, and forget them.
*/
static int hpAggSpill(HpAgg *pAgg){
  int rc;
  if( pAgg->runs.nGroup==0 ) return SQLITE_OK;
  rc = hpSpillGroups(&pAgg->runs);
  if( rc==SQLITE_OK ) hpAggReset(pAgg);
  return rc;
}

/*
** Let the bare columns of a group show row i.
*/
static int hpAggLoad(HpAgg *pAgg, HpFrame *p, u8 *aGroup, int i){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  int k, rc;
  for(k=0; k<pPlan->nBare; k++){
    const struct HpBare *pBare = &pPlan->aBare[k];
    if( pBare->iKey>=0 ) continue;
    rc = hpKeptSet(&pAgg->runs.arena, hpGroupBare(pBare, aGroup),
                   &p->aVec[pBare->iVec], i);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}

/*
** Create the group of selected row ii.  bNorm: its normalized key is in
** pAgg->runs.key.
*/
static int hpAggInsert(HpAgg *pAgg, HpFrame *p, int ii, int bNorm){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  int row = p->aSel[ii];
  HpHead *pHead;
  u8 *aGroup;
  u8 *z;

  /* It is at the end of the batch that groups can be put aside */
  if( !hpGroupMay(&pAgg->runs, 0, HP_FINISH) ) return HP_DECLINE;
  aGroup = hpAggNewGroup(pAgg);
  if( aGroup==0 ) return HP_DECLINE;
  *hpGroupPack(aGroup) = pAgg->aPack[ii];
  if( pAgg->runs.nGroup<=HP_MX_CACHED && pAgg->aPack[ii].b!=HP_UNPACKED ){
    pAgg->aGroupPack[pAgg->runs.nGroup-1] = pAgg->aPack[ii];
  }
  pHead = hpGroupHead(pPlan, aGroup);
  pHead->iPos = p->iPos + row;
  if( pPlan->bIntKey && pAgg->aPack[ii].b==HP_PACK_INT ){
    const HpVec *pVec = &p->aVec[pPlan->keys.aVec[0]];
    if( pVec->aTag[row & pVec->mIdx]==HP_INT ){
      return pPlan->bLoadFirst ? hpAggLoad(pAgg, p, aGroup, row) : SQLITE_OK;
    }
  }
  pAgg->runs.bRecord = 1;
  if( !bNorm ){
    pAgg->runs.key.n = 0;
    if( pAgg->runs.bOrdered || pAgg->aPack[ii].b!=HP_UNPACKED ){
      if( hpKeyNorm(p, &pPlan->keys, row, &pAgg->runs.key) ) return HP_DECLINE;
    }else{
      /* hpAggHashAll() has computed it */
      u32 i = pAgg->aNorm[ii];
      u32 n = pAgg->aNorm[ii+1] - i;
      if( hpBufRoom(&pAgg->runs.key, n) ) return HP_DECLINE;
      memcpy(pAgg->runs.key.a, &pAgg->norm.a[i], n);
      pAgg->runs.key.n = n;
    }
  }
  pHead->nNorm = pAgg->runs.key.n;
  if( hpKeyShow(p, &pAgg->pPlan->keys, row, &pAgg->runs.key) ) return HP_DECLINE;
  pHead->nRec = pAgg->runs.key.n;
  pHead->z = z = hpArenaAlloc(&pAgg->runs.arena, pHead->nRec);
  if( z==0 ) return HP_DECLINE;
  memcpy(z, pAgg->runs.key.a, pHead->nRec);
  if( pAgg->runs.nGroup==1 ){
    pAgg->runs.nSame = pHead->nNorm;
  }else if( !pPlan->bIntKey ){
    const u8 *zFirst = hpGroupHead(pPlan, hpGroupAt(&pAgg->runs, 0))->z;
    u32 n = MIN(pAgg->runs.nSame, pHead->nNorm);
    u32 i;
    for(i=0; i<n && z[i]==zFirst[i]; i++){}
    pAgg->runs.nSame = i;
  }
  return pPlan->bLoadFirst ? hpAggLoad(pAgg, p, aGroup, row) : SQLITE_OK;
}

/* The hash value of packed keys */
#define hpHashPack(P)  hpHashMix((P)->a ^ hpHashMix((P)->b))

/*
** Hash values of the selected rows, and normalized keys of those that have no
** pack.  bAll: all have one.
*/
static int hpAggHashAll(HpAgg *pAgg, HpFrame *p, int bAll){
  const HpKeys *pKeys = &pAgg->pPlan->keys;
  const HpPack *aPack = pAgg->aPack;
  u64 *aHash = pAgg->aHash;
  int nSel = p->nSel;
  int ii;
  if( bAll ){
    for(ii=0; ii<nSel; ii++) aHash[ii] = hpHashPack(&aPack[ii]);
  }else{
    pAgg->norm.n = 0;
    for(ii=0; ii<nSel; ii++){
      u32 n = pAgg->norm.n;
      pAgg->aNorm[ii] = n;
      if( aPack[ii].b!=HP_UNPACKED ){
        aHash[ii] = hpHashPack(&aPack[ii]);
      }else{
        if( hpKeyNorm(p, pKeys, p->aSel[ii], &pAgg->norm) ) return HP_DECLINE;
        aHash[ii] = hpHashBytes(&pAgg->norm.a[n], pAgg->norm.n-n);
      }
    }
    pAgg->aNorm[ii] = pAgg->norm.n;
  }
  if( p->pCfg->bHash0 ) memset(aHash, 0, sizeof(u64)*nSel);
  return SQLITE_OK;
}

/*
** True if the keys of selected row ii are those of aGroup.
*/
static SQLITE_INLINE int hpAggIsGroup(
  const HpAgg *pAgg,
  const u8 *aGroup,
  int ii
){
  const HpPack *pPack = &pAgg->aPack[ii];
  const HpHead *pHead;
  u32 i, n;
  if( pPack->b!=hpGroupPack(aGroup)->b || pPack->a!=hpGroupPack(aGroup)->a ){
    return 0;
  }
  if( pPack->b!=HP_UNPACKED ) return 1;
  pHead = hpGroupHead(pAgg->pPlan, aGroup);
  i = pAgg->aNorm[ii];
  n = pAgg->aNorm[ii+1] - i;
  return n==pHead->nNorm && memcmp(pHead->z, &pAgg->norm.a[i], n)==0;
}

/*
** Find or create the group of selected row ii: pAgg->aiGroup[ii].
*/
static int hpAggFindRow(HpAgg *pAgg, HpFrame *p, int ii){
  u32 salt = (u32)(pAgg->aHash[ii]>>16);
  u32 j = salt & pAgg->mSlot;
  u32 iGroup;
  int rc;
  while( (iGroup = pAgg->aSlot[2*j+1])!=0 ){
    if( pAgg->aSlot[2*j]==salt
     && hpAggIsGroup(pAgg, hpGroupAt(&pAgg->runs, iGroup-1), ii)
    ){
      break;
    }
    j = (j+1) & pAgg->mSlot;
  }
  if( iGroup==0 ){
    rc = hpAggInsert(pAgg, p, ii, 0);
    if( rc ) return rc;
    iGroup = pAgg->runs.nGroup;
    pAgg->aSlot[2*j] = salt;
    pAgg->aSlot[2*j+1] = iGroup;
    if( pAgg->runs.nGroup>pAgg->mSlot/2 ){
      rc = hpAggGrow(pAgg, p);
      if( rc ) return rc;
    }
  }
  pAgg->aiGroup[ii] = iGroup-1;
  return SQLITE_OK;
}

/* Place in HpAgg.aFew of pack P */
#define hpFewSlot(P) \
  ((((P)->a + (P)->b*0x9e3779b1)*(((u64)0x9e3779b9<<32)|0x7f4a7c15))>>40)

/*
** From selected row ii on, find the groups of rows whose keys pAgg->aFew knows.
** Returns the first row where it does not, or nSel.
*/
static SQLITE_NOINLINE int hpAggFindKnown(
  const HpAgg *pAgg,
  int ii,
  int nSel,
  u32 mFew               /* Which places of aFew are used */
){
  const HpPack *aPack = pAgg->aPack;
  const HpPack *aGroupPack = pAgg->aGroupPack;
  const u8 *aFew = pAgg->aFew;
  u32 *aiGroup = pAgg->aiGroup;
  for(; ii<nSel; ii++){
    u32 iGroup = aFew[hpFewSlot(&aPack[ii]) & mFew];
    u64 a = aGroupPack[iGroup].a ^ aPack[ii].a;
    u64 b = aGroupPack[iGroup].b ^ aPack[ii].b;
    if( (a|b)!=0 ) break;
    aiGroup[ii] = iGroup;
  }
  return ii;
}

/*
** Find or create the group of each selected row where groups are few: a small
** table names the group that keys of this kind had last, and its pack tells
** whether they have it again.  So most rows are neither hashed nor looked up
** in the hash table, unless some keys have no pack: bAll is false.
*/
static int hpAggFindFew(HpAgg *pAgg, HpFrame *p, int bAll){
  u32 mFew = p->pCfg->bHash0 ? 0 : HP_FEW_SLOT-1;
  int nSel = p->nSel;
  int ii;
  for(ii=0; (ii = hpAggFindKnown(pAgg, ii, nSel, mFew))<nSel; ii++){
    const HpPack *pPack = &pAgg->aPack[ii];
    int rc;
    if( bAll ) pAgg->aHash[ii] = mFew ? hpHashPack(pPack) : 0;
    rc = hpAggFindRow(pAgg, p, ii);
    if( rc ) return rc;
    pAgg->aFew[hpFewSlot(pPack) & mFew] = (u8)pAgg->aiGroup[ii];
  }
  return SQLITE_OK;
}

/*
** The same where groups are many and each step is a cache miss, so in two
** passes: the first reads the hash table, whose lines were asked for some rows
** before, and asks for the group that the salt names; the second compares
** keys.
*/
static int hpAggFindMany(HpAgg *pAgg, HpFrame *p){
  const u64 *aHash = pAgg->aHash;
  int nHot = pAgg->pPlan->iHeadOff;   /* Bytes of a group that are used a row */
  int nSel = p->nSel;
  int ii, k, rc;
  for(ii=0; ii<nSel; ii++){
    u32 salt = (u32)(aHash[ii]>>16);
    u32 j = salt & pAgg->mSlot;
    u32 iGroup;
    if( ii>0 && pAgg->aPack[ii].b==pAgg->aPack[ii-1].b
     && pAgg->aPack[ii].a==pAgg->aPack[ii-1].a
     && pAgg->aPack[ii].b!=HP_UNPACKED
    ){
      pAgg->aiGroup[ii] = 0xffffffff;    /* As the row before */
      continue;
    }
    if( ii+16<nSel ){
      hpPrefetch(&pAgg->aSlot[2*((u32)(aHash[ii+16]>>16) & pAgg->mSlot)]);
    }
    while( (iGroup = pAgg->aSlot[2*j+1])!=0 && pAgg->aSlot[2*j]!=salt ){
      j = (j+1) & pAgg->mSlot;
    }
    pAgg->aiGroup[ii] = iGroup;
    if( iGroup ){
      u8 *aGroup = hpGroupAt(&pAgg->runs, iGroup-1);
      for(k=0; k<nHot; k+=64) hpPrefetch(&aGroup[k]);
    }
  }
  for(ii=0; ii<nSel; ii++){
    u32 iGroup = pAgg->aiGroup[ii];
    if( iGroup==0xffffffff ){
      pAgg->aiGroup[ii] = pAgg->aiGroup[ii-1];
    }else if( iGroup
           && hpAggIsGroup(pAgg, hpGroupAt(&pAgg->runs, iGroup-1), ii)
    ){
      pAgg->aiGroup[ii] = iGroup-1;
    }else{
      rc = hpAggFindRow(pAgg, p, ii);
      if( rc ) return rc;
    }
  }
  return SQLITE_OK;
}

/*
** HpAgg.bOrdered: find or create the groups of the selected rows as long as
** their keys are not smaller than the last group's.  Returns the number of rows
** done in *pnDone.
*/
static int hpAggFindOrdered(HpAgg *pAgg, HpFrame *p, int *pnDone){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  HpRuns *pRuns = &pAgg->runs;
  const HpPack *aPack = pAgg->aPack;
  int bPlain = pPlan->keys.n==1 && pPlan->keys.aSort[0]==0;
  int nSel = p->nSel;
  HpPack last;           /* Keys of the last group */
  int ii, rc;

  last.a = last.b = HP_UNPACKED;
  if( pRuns->nGroup ) last = *hpGroupPack(hpGroupAt(pRuns, pRuns->nGroup-1));
  *pnDone = 0;
  for(ii=0; ii<nSel; ii++){
    const HpPack *pPack = &aPack[ii];
    if( pPack->a!=last.a || pPack->b!=last.b || last.b==HP_UNPACKED ){
      int bNorm = 0;
      int c = 1;
      if( pAgg->runs.nGroup==0 ){
        /* The first row */
      }else if( bPlain && pPack->b==HP_PACK_INT && last.b==HP_PACK_INT ){
        c = (i64)pPack->a>(i64)last.a ? 1 : -1;
      }else{
        u8 aBuf[HP_SZ_NUMBER];
        u32 n;
        const u8 *z =
            hpGroupKey(pPlan, hpGroupAt(pRuns, pRuns->nGroup-1), aBuf, &n);
        pAgg->runs.key.n = 0;
        if( hpKeyNorm(p, &pPlan->keys, p->aSel[ii], &pRuns->key) ){
          return HP_DECLINE;
        }
        bNorm = 1;
        /* No normalized key is the beginning of another */
        c = memcmp(pAgg->runs.key.a, z, MIN(pAgg->runs.key.n, n));
      }
      if( c<0 ) return SQLITE_OK;
      if( c>0 ){
        rc = hpAggInsert(pAgg, p, ii, bNorm);
        if( rc ) return rc;
      }
      last = *pPack;
    }
    pAgg->aiGroup[ii] = pAgg->runs.nGroup-1;
    *pnDone = ii+1;
  }
  return SQLITE_OK;
}

/*
** Keys do not come in order any more: put all groups into the hash table or, if
** it would not fit into memory, into a file.
*/
static int hpAggUnordered(HpAgg *pAgg, HpFrame *p){
  u32 mNew = pAgg->mSlot;
  i64 nByte;
  u32 i;
  int rc;
  while( pAgg->runs.nGroup>mNew/2 ) mNew = mNew*2+1;
  nByte = 2*sizeof(u32)*((i64)mNew+1);
  if( mNew>pAgg->mSlot ){
    u32 *aNew;
    if( mNew>=HP_MX_SLOT && !hpGroupMay(&pAgg->runs, nByte, HP_WISH) ){
      rc = hpAggSpill(pAgg);
      pAgg->runs.bOrdered = 0;
      return rc;
    }
    aNew = hpArenaMalloc(nByte);
    if( aNew==0 ) return HP_DECLINE;
    pAgg->runs.nTable += nByte - 2*sizeof(u32)*((i64)pAgg->mSlot+1);
    sqlite3_free(pAgg->aSlot);
    pAgg->aSlot = aNew;
    pAgg->mSlot = mNew;
  }
  pAgg->runs.bOrdered = 0;
  memset(pAgg->aSlot, 0, nByte);
  for(i=0; i<pAgg->runs.nGroup; i++){
    const u8 *aGroup = hpGroupAt(&pAgg->runs, i);
    const HpHead *pHead = hpGroupHead(pAgg->pPlan, aGroup);
    u64 h = hpGroupPack(aGroup)->b!=HP_UNPACKED ? hpHashPack(hpGroupPack(aGroup))
                                  : hpHashBytes(pHead->z, pHead->nNorm);
    u32 salt = p->pCfg->bHash0 ? 0 : (u32)(h>>16);
    u32 j = salt & mNew;
    while( pAgg->aSlot[2*j+1] ) j = (j+1) & mNew;
    pAgg->aSlot[2*j] = salt;
    pAgg->aSlot[2*j+1] = i+1;
  }
  assert( hpAggIsSane(pAgg) );
  return SQLITE_OK;
}

/* True if HpAgg.aDirect has places for all integers from iMin to iMax */
static int hpAggIsDirect(const HpAgg *pAgg, i64 iMin, i64 iMax){
  return iMin>=pAgg->iDirect && (u64)iMax-(u64)pAgg->iDirect<pAgg->nDirect;
}

/*
** Let HpAgg.aDirect have places for all integers from iMin to iMax as well, if
** they are few enough for the number of rows.
*/
static int hpAggDirect(HpAgg *pAgg, HpFrame *p, i64 iMin, i64 iMax){
  u64 nWant, nNew;
  i64 iNew;
  i64 nByte;
  u32 *aNew;
  if( pAgg->nDirect ){
    iMin = MIN(iMin, pAgg->iDirect);
    iMax = MAX(iMax, pAgg->iDirect+(i64)(pAgg->nDirect-1));
  }
  nWant = (u64)iMax-(u64)iMin+1;
  if( nWant==0 || nWant>HP_MX_DIRECT ){
    pAgg->bNoDirect = 1;
    return SQLITE_OK;
  }
  if( nWant>HP_MN_DIRECT*((u64)pAgg->runs.nGroup+p->nSel) ) return SQLITE_OK;
  for(nNew=HP_MIN_SLOT; nNew<nWant+nWant/2; nNew*=2){}
  nByte = (i64)(sizeof(u32)*nNew);
  if( nNew>HP_MIN_SLOT && !hpGroupMay(&pAgg->runs, nByte, HP_WISH) ){
    pAgg->bNoDirect = 1;
    return SQLITE_OK;
  }
  aNew = hpArenaMalloc(nByte);
  if( aNew==0 ) return HP_DECLINE;
  memset(aNew, 0, nByte);
  iNew = MAX(iMin, SMALLEST_INT64+HP_MX_DIRECT) - (i64)((nNew-nWant)/2);
  iNew = MIN(iNew, LARGEST_INT64-(i64)(nNew-1));
  iNew = MIN(iNew, iMin);
  if( pAgg->nDirect ){
    memcpy(&aNew[(u64)pAgg->iDirect-(u64)iNew], pAgg->aDirect,
           sizeof(u32)*pAgg->nDirect);
  }
  sqlite3_free(pAgg->aDirect);
  pAgg->runs.nTable += nByte - (i64)(sizeof(u32)*pAgg->nDirect);
  pAgg->aDirect = aNew;
  pAgg->nDirect = (u32)nNew;
  pAgg->iDirect = iNew;
  return SQLITE_OK;
}

/*
** Find or create the groups of the selected rows if their only key is an integer
** of a small range, and set *pbDone.
*/
static int hpAggFindDirect(HpAgg *pAgg, HpFrame *p, int *pbDone){
  const HpVal *aVal = p->aVec[pAgg->pPlan->keys.aVec[0]].aVal;
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int nHot = pAgg->runs.nGroup>=HP_MX_CACHED ? pAgg->pPlan->iHeadOff : 0;
  i64 iMin = aVal[aSel[0]].i;
  i64 iMax = iMin;
  int ii, k, rc;
  for(ii=1; ii<nSel; ii++){
    i64 x = aVal[aSel[ii]].i;
    iMin = MIN(iMin, x);
    iMax = MAX(iMax, x);
  }
  *pbDone = 0;
  if( !hpAggIsDirect(pAgg, iMin, iMax) ){
    rc = hpAggDirect(pAgg, p, iMin, iMax);
    if( rc || !hpAggIsDirect(pAgg, iMin, iMax) ) return rc;
  }
  for(ii=0; ii<nSel; ii++){
    i64 x = aVal[aSel[ii]].i;
    u32 *piGroup = &pAgg->aDirect[(u64)x-(u64)pAgg->iDirect];
    if( *piGroup==0 ){
      HpPack *pPack = &pAgg->aPack[ii];
      pPack->a = (u64)x;
      pPack->b = HP_PACK_INT;
      pAgg->aHash[ii] = p->pCfg->bHash0 ? 0 : hpHashPack(pPack);
      rc = hpAggFindRow(pAgg, p, ii);
      if( rc ) return rc;
      *piGroup = pAgg->aiGroup[ii]+1;
    }
    pAgg->aiGroup[ii] = *piGroup-1;
    if( nHot ){
      const u8 *aGroup = hpGroupAt(&pAgg->runs, *piGroup-1);
      for(k=0; k<nHot; k+=64) hpPrefetch(&aGroup[k]);
    }
  }
  *pbDone = 1;
  return SQLITE_OK;
}

/*
** Find or create the group of each selected row: pAgg->aiGroup.
*/
static int hpAggFind(HpAgg *pAgg, HpFrame *p){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  const HpVec *pKey = &p->aVec[pPlan->keys.aVec[0]];
  int bAll;              /* All rows have packs */
  int bFew;              /* Groups are few */
  int rc;
  if( pPlan->bIntKey && pKey->mType==HP_INT && pKey->mIdx!=0
   && !pAgg->runs.bOrdered && !pAgg->bNoDirect
  ){
    int bDone;
    rc = hpAggFindDirect(pAgg, p, &bDone);
    if( rc || bDone ) return rc;
  }
  bAll = hpPackRows(p, &pAgg->pPlan->keys, pAgg->aPack);
  if( pAgg->runs.bOrdered ){
    int nDone;
    rc = hpAggFindOrdered(pAgg, p, &nDone);
    if( rc || nDone==p->nSel ) return rc;
    /* Of a damaged index: stock gives a group more than once */
    if( pPlan->bInOrder ) return HP_DECLINE;
    rc = hpAggUnordered(pAgg, p);
    if( rc ) return rc;
  }
  bFew = pAgg->runs.nGroup<HP_MX_CACHED;
  if( !bAll || !bFew ){
    rc = hpAggHashAll(pAgg, p, bAll);
    if( rc ) return rc;
  }
  return bFew ? hpAggFindFew(pAgg, p, bAll) : hpAggFindMany(pAgg, p);
}

/*
** One step of min() or max().  Sets *pbSkip if stock would not load the bare
** columns from this row.
*/
static int hpAggBest(
  HpAgg *pAgg,
  HpFrame *p,
  const HpAggDef *pDef,
  HpBest *pState,
  int row,
  int *pbSkip
){
  const HpVec *pVec = &p->aVec[pDef->iVec];
  HpKept *pBest = &pState->copy;
  int i = row & pVec->mIdx;
  u8 tag = pVec->aTag[i];
  *pbSkip = 0;
  if( tag==HP_NULL ){
    *pbSkip = pBest->tag!=0;
    if( pBest->tag==0 ) pState->iPos = p->iPos+row+1;
    return SQLITE_OK;
  }
  if( pBest->tag ){
    int c;
    if( (tag & pBest->tag)==HP_INT ){
      i64 a = pBest->val.i;
      i64 b = pVec->aVal[i].i;
      c = a<b ? -1 : a>b;
    }else{
      c = hpVecValCompare(pBest->tag, pBest->val, pBest->n,
                          tag, pVec->aVal[i], (tag&HP_STR) ? pVec->aLen[i] : 0,
                          pDef->pColl);
    }
    if( pDef->eAgg==HP_AGG_MAX ? c>=0 : c<=0 ){
      *pbSkip = 1;
      return SQLITE_OK;
    }
  }
  pState->iPos = p->iPos+row+1;
  return hpKeptSet(&pAgg->runs.arena, pBest, pVec, i);
}

/*
** Add the value of pDef's argument in row i, for the group with key record
** pHead, to the set of values seen.  *pbNew tells whether it was not there.
*/
static int hpAggSetAdd(
  HpAgg *pAgg,
  HpFrame *p,
  const HpAggDef *pDef,
  const HpHead *pHead,
  int i,
  int *pbNew
){
  HpSet *pSet = &pAgg->aSet[pDef->iSet];
  const HpVec *pVec = &p->aVec[pDef->iVec];
  HpBuf *pKey = &pAgg->runs.key;
  const u8 *z = 0;
  u8 *zNew;
  u32 j;

  if( pSet->nUsed>=pSet->mSlot/2 ){
    u32 mNew = pSet->mSlot ? pSet->mSlot*2+1 : HP_MIN_SLOT-1;
    i64 nByte = sizeof(u8*)*((i64)mNew+1);
    const u8 **apNew;
    if( mNew>=0x7fffffff || !hpGroupMay(&pAgg->runs, nByte, HP_KEEP) ){
      return HP_DECLINE;
    }
    apNew = sqlite3_malloc64(nByte);
    if( apNew==0 ) return HP_DECLINE;
    memset(apNew, 0, nByte);
    for(j=0; pSet->apSlot && j<=pSet->mSlot; j++){
      z = pSet->apSlot[j];
      if( z ){
        u32 iTo = (u32)sqlite3Get4byte(z) & mNew;
        while( apNew[iTo] ) iTo = (iTo+1) & mNew;
        apNew[iTo] = z;
      }
    }
    if( pSet->apSlot ) pAgg->runs.nTable -= sizeof(u8*)*((i64)pSet->mSlot+1);
    pAgg->runs.nTable += nByte;
    sqlite3_free(pSet->apSlot);
    pSet->apSlot = apNew;
    pSet->mSlot = mNew;
  }
  /* An entry: hash, length, group, normalized value */
  pKey->n = 0;
  if( hpBufRoom(pKey, 16) ) return HP_DECLINE;
  memcpy(&pKey->a[8], &pHead, sizeof(pHead));
  pKey->n = 8+sizeof(pHead);
  if( hpKeyValue(pKey, pVec, i, pDef->pColl, 0) ) return HP_DECLINE;
  sqlite3Put4byte(pKey->a, p->pCfg->bHash0 ? 0 :
      (u32)(hpHashBytes(&pKey->a[8], pKey->n-8)>>16));
  sqlite3Put4byte(&pKey->a[4], pKey->n);
  *pbNew = 0;
  j = sqlite3Get4byte(pKey->a) & pSet->mSlot;
  while( (z = pSet->apSlot[j])!=0 ){
    if( memcmp(z, pKey->a, 8)==0 && memcmp(z, pKey->a, pKey->n)==0 ){
      return SQLITE_OK;
    }
    j = (j+1) & pSet->mSlot;
  }
  if( !hpGroupMay(&pAgg->runs, 0, HP_KEEP) ) return HP_DECLINE;
  zNew = hpArenaAlloc(&pAgg->runs.arena, pKey->n);
  if( zNew==0 ) return HP_DECLINE;
  memcpy(zNew, pKey->a, pKey->n);
  pSet->apSlot[j] = zNew;
  pSet->nUsed++;
  *pbNew = 1;
  return SQLITE_OK;
}

/*
** Of the rows aRow[0..*pn-1] keep those that pass FILTER and DISTINCT of pDef,
** in pAgg->aPart and pAgg->apPart.  Row ii is of group apGroup[ii], or all of
** group aGroup.
*/
static int hpAggPart(
  HpAgg *pAgg,
  HpFrame *p,
  const HpAggDef *pDef,
  u8 *aGroup,
  u8 **apGroup,
  const u16 *aRow,
  int *pn
){
  int n = 0;
  int ii, rc;
  for(ii=0; ii<*pn; ii++){
    int i = aRow[ii];
    u8 *aTo = apGroup ? apGroup[ii] : aGroup;
    if( pDef->iFilter!=HP_NO_VEC
     && hpVecTruth(p, &p->aVec[pDef->iFilter], i)!=1
    ){
      continue;
    }
    if( pDef->iSet>=0 ){
      int bNew;
      rc = hpAggSetAdd(pAgg, p, pDef, hpGroupHead(pAgg->pPlan, aTo), i, &bNew);
      if( rc ) return rc;
      if( !bNew ) continue;
    }
    pAgg->aPart[n] = (u16)i;
    if( apGroup ) pAgg->apPart[n] = aTo;
    n++;
  }
  *pn = n;
  return SQLITE_OK;
}

/*
** Call the step function of pDef for row i.
*/
static int hpAggCall(
  const HpFrame *p,
  const HpAggDef *pDef,
  Mem *pState,
  int i
){
  sqlite3_context *pCtx;
  u8 aSpace[ROUND8(sizeof(sqlite3_context)+HP_MX_ARG*sizeof(sqlite3_value*))];
  Mem aMem[HP_MX_ARG];
  Mem out;
  int k, rc = SQLITE_OK;
  assert( pDef->nArg<=ArraySize(aMem) );
  if( pState->db==0 ) sqlite3VdbeMemInit(pState, p->db, MEM_Null);
  pCtx = (sqlite3_context*)aSpace;
  memset(aSpace, 0, sizeof(aSpace));
  sqlite3VdbeMemInit(&out, p->db, MEM_Null);
  for(k=0; k<pDef->nArg; k++){
    hpVecToMem(p, &p->aVec[pDef->aArg[k]], i, &aMem[k]);
    pCtx->argv[k] = &aMem[k];
  }
  pCtx->pOut = &out;
  pCtx->pFunc = pDef->pFunc;
  pCtx->pMem = pState;
  pCtx->pVdbe = p->pWorker->pScan->v;
  pCtx->enc = ENC(p->db);
  pCtx->argc = pDef->nArg;
  pState->n++;
  pDef->pFunc->xSFunc(pCtx, pDef->nArg, pCtx->argv);
  if( pCtx->isError ) rc = HP_DECLINE;
  for(k=0; k<pDef->nArg; k++) sqlite3VdbeMemRelease(&aMem[k]);
  sqlite3VdbeMemRelease(&out);
  return rc;
}

/*
** Run aggregate pDef over rows aRow[0..n-1] of group aGroup.
*/
static int hpAggRange(
  HpAgg *pAgg,
  HpFrame *p,
  const HpAggDef *pDef,
  u8 *aGroup,
  const u16 *aRow,
  int n
){
  void *pState = hpGroupState(pDef, aGroup);
  const HpVec *pVec = pDef->iVec==HP_NO_VEC ? 0 : &p->aVec[pDef->iVec];
  int ii, rc, bSkip;
  if( pDef->iFilter!=HP_NO_VEC || pDef->iSet>=0 ){
    rc = hpAggPart(pAgg, p, pDef, aGroup, 0, aRow, &n);
    if( rc ) return rc;
    aRow = pAgg->aPart;
  }
  switch( pDef->eAgg ){
    case HP_AGG_COUNT:
      if( pVec==0 || (pVec->mType & HP_NULL)==0 ){
        *(i64*)pState += n;
      }else{
        i64 nNull = 0;
        for(ii=0; ii<n; ii++) nNull += pVec->aTag[aRow[ii] & pVec->mIdx]==HP_NULL;
        *(i64*)pState += n - nNull;
      }
      break;
    case HP_AGG_SUM:
      hpSumRange(&pAgg->runs, p, pState, pVec, aRow, n);
      break;
    case HP_AGG_CALL:
      for(ii=0; ii<n; ii++){
        rc = hpAggCall(p, pDef, pState, aRow[ii]);
        if( rc ) return rc;
      }
      break;
    case HP_AGG_ORDER:
      for(ii=0; ii<n; ii++){
        rc = hpAggOrderAdd(&pAgg->runs, p, pDef, pState, aRow[ii]);
        if( rc ) return rc;
      }
      break;
    default:
      for(ii=0; ii<n; ii++){
        rc = hpAggBest(pAgg, p, pDef, pState, aRow[ii], &bSkip);
        if( rc==SQLITE_OK && pDef->bLoad && !bSkip ){
          rc = hpAggLoad(pAgg, p, aGroup, aRow[ii]);
        }
        if( rc ) return rc;
      }
      break;
  }
  return SQLITE_OK;
}

/*
** Put the selected rows, all of group iFirstGroup or later ones, in order of
** their groups, each group's rows in scan order, and run each aggregate group by
** group.
*/
static int hpAggOrdered(HpAgg *pAgg, HpFrame *p, u32 iFirstGroup){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  const u32 *aiGroup = pAgg->aiGroup;
  const u16 *aSel = p->aSel;
  u16 *aRow = pAgg->aRow;
  u16 aaAt[4][HP_MX_ORDERED];      /* Number, then place of the next row, of
                                   ** each quarter of the rows and group */
  u16 aEnd[HP_MX_ORDERED];         /* Where the rows of each group end */
  int nGroup = (int)(pAgg->runs.nGroup-iFirstGroup);
  int n4 = p->nSel/4;
  int n = 0;
  int ii, k, g, rc;

  /* Each quarter of the rows has places of its own, so that rows of one group
  ** do not wait for each other */
  memset(aaAt, 0, sizeof(aaAt));
#define HP_TALLY(K,I)  aaAt[K][aiGroup[I]-iFirstGroup]++;
  for(ii=0; ii<n4; ii++){
    HP_TALLY(0, ii) HP_TALLY(1, n4+ii) HP_TALLY(2, 2*n4+ii) HP_TALLY(3, 3*n4+ii)
  }
  for(ii=4*n4; ii<p->nSel; ii++) HP_TALLY(3, ii)
  for(g=0; g<nGroup; g++){
    for(k=0; k<4; k++){
      int nPart = aaAt[k][g];
      aaAt[k][g] = (u16)n;
      n += nPart;
    }
    aEnd[g] = (u16)n;
  }
#define HP_PUT(K,I)  aRow[aaAt[K][aiGroup[I]-iFirstGroup]++] = aSel[I];
  for(ii=0; ii<n4; ii++){
    HP_PUT(0, ii) HP_PUT(1, n4+ii) HP_PUT(2, 2*n4+ii) HP_PUT(3, 3*n4+ii)
  }
  for(ii=4*n4; ii<p->nSel; ii++) HP_PUT(3, ii)
#undef HP_TALLY
#undef HP_PUT
  for(k=0; k<pPlan->nAgg; k++){
    int iFirst = 0;
    if( pPlan->aAgg[k].bShared ) continue;
    for(g=0; g<nGroup; g++){
      if( aEnd[g]>iFirst ){
        rc = hpAggRange(pAgg, p, &pPlan->aAgg[k],
                        hpGroupAt(&pAgg->runs, iFirstGroup+g),
                        &pAgg->aRow[iFirst], aEnd[g]-iFirst);
        if( rc ) return rc;
      }
      iFirst = aEnd[g];
    }
  }
  return SQLITE_OK;
}

/*
** Run aggregate pDef over the selected rows, each with its own group.
*/
static int hpAggScattered(HpAgg *pAgg, HpFrame *p, const HpAggDef *pDef){
  const HpVec *pVec = pDef->iVec==HP_NO_VEC ? 0 : &p->aVec[pDef->iVec];
  const u16 *aRow = p->aSel;
  u8 **apGroup = pAgg->apGroup;
  int n = p->nSel;
  int ii, rc, bSkip;
  if( pDef->iFilter!=HP_NO_VEC || pDef->iSet>=0 ){
    rc = hpAggPart(pAgg, p, pDef, 0, apGroup, aRow, &n);
    if( rc ) return rc;
    aRow = pAgg->aPart;
    apGroup = pAgg->apPart;
  }
  switch( pDef->eAgg ){
    case HP_AGG_COUNT:
      for(ii=0; ii<n; ii++){
        *(i64*)hpGroupState(pDef, apGroup[ii]) +=
            pVec==0 || pVec->aTag[aRow[ii] & pVec->mIdx]!=HP_NULL;
      }
      break;
    case HP_AGG_SUM:
      hpSumScattered(&pAgg->runs, p, pDef->iOff, pVec, aRow, apGroup, n);
      break;
    case HP_AGG_CALL:
      for(ii=0; ii<n; ii++){
        rc = hpAggCall(p, pDef, hpGroupState(pDef, apGroup[ii]), aRow[ii]);
        if( rc ) return rc;
      }
      break;
    case HP_AGG_ORDER:
      for(ii=0; ii<n; ii++){
        if( ii+8<n ){
          hpPrefetch(((HpAggOrder*)hpGroupState(pDef, apGroup[ii+8]))->pFree);
        }
        rc = hpAggOrderAdd(&pAgg->runs, p, pDef,
                           hpGroupState(pDef, apGroup[ii]), aRow[ii]);
        if( rc ) return rc;
      }
      break;
    default:
      for(ii=0; ii<n; ii++){
        rc = hpAggBest(pAgg, p, pDef, hpGroupState(pDef, apGroup[ii]), aRow[ii],
                       &bSkip);
        if( rc==SQLITE_OK && pDef->bLoad && !bSkip ){
          rc = hpAggLoad(pAgg, p, apGroup[ii], aRow[ii]);
        }
        if( rc ) return rc;
      }
      break;
  }
  return SQLITE_OK;
}

/*
** Add the selected rows of the batch to their groups.
*/
static int hpAggStep(HpAgg *pAgg, HpFrame *p){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  u32 iFirst = 0;        /* No row belongs to a group before this one */
  int rc = SQLITE_OK;
  int k;

  if( p->nSel==0 ) return SQLITE_OK;
  for(k=0; k<pPlan->keys.n; k++) hpVecExact(p, &p->aVec[pPlan->keys.aVec[k]]);
  for(k=0; k<pPlan->nBare; k++) hpVecExact(p, &p->aVec[pPlan->aBare[k].iVec]);
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    int i;
    if( pDef->iFilter!=HP_NO_VEC ) hpVecExact(p, &p->aVec[pDef->iFilter]);
    if( pDef->iVec!=HP_NO_VEC && (pDef->eAgg>=HP_AGG_MIN || pDef->iSet>=0) ){
      hpVecExact(p, &p->aVec[pDef->iVec]);
    }
    for(i=0; i<pDef->nArg; i++) hpVecExact(p, &p->aVec[pDef->aArg[i]]);
    for(i=0; i<pDef->nTerm; i++) hpVecExact(p, &p->aVec[pDef->aTerm[i].iVec]);
  }
  if( pPlan->keys.n ){
    rc = hpAggFind(pAgg, p);
    if( rc ) return rc;
    if( pAgg->runs.bOrdered ) iFirst = pAgg->aiGroup[0];
  }else{
    HpHead *pHead = hpGroupHead(pPlan, hpGroupAt(&pAgg->runs, 0));
    if( pHead->iPos==HP_NO_POS ){
      pHead->iPos = p->iPos + p->aSel[0];
      if( pPlan->bLoadFirst ){
        rc = hpAggLoad(pAgg, p, hpGroupAt(&pAgg->runs, 0), p->aSel[0]);
        if( rc ) return rc;
      }
    }
  }
  if( pPlan->keys.n && pAgg->runs.nGroup-iFirst<=HP_MX_ORDERED
   && (u32)p->nSel>=(pAgg->runs.nGroup-iFirst)*HP_MIN_ORDERED
  ){
    rc = hpAggOrdered(pAgg, p, iFirst);
  }else{
    for(k=0; k<p->nSel && pPlan->keys.n; k++){
      pAgg->apGroup[k] = hpGroupAt(&pAgg->runs, pAgg->aiGroup[k]);
    }
    for(k=0; k<pPlan->nAgg && rc==SQLITE_OK; k++){
      const HpAggDef *pDef = &pPlan->aAgg[k];
      if( pDef->bShared ) continue;
      if( pPlan->keys.n ){
        rc = hpAggScattered(pAgg, p, pDef);
      }else{
        rc = hpAggRange(pAgg, p, pDef, hpGroupAt(&pAgg->runs, 0), p->aSel, p->nSel);
      }
    }
  }
  if( rc==SQLITE_OK
   && (pAgg->bFull || !hpGroupMay(&pAgg->runs, 0, HP_WISH))
  ){
    if( pPlan->keys.n==0 || pPlan->bOpaque ) return HP_DECLINE;
    rc = hpAggSpill(pAgg);
  }
  if( rc==SQLITE_OK && p->db->mallocFailed ) rc = SQLITE_NOMEM;
  return rc;
}
#endif /* SQLITE_OMIT_HP */
