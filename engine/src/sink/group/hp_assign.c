/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_assign: which group a row belongs to.
**
**    hpAssignOpen()      choose how rows find their groups at first
**    hpAssignIsRight()   for asserts: is that the group?
**
** There are four ways, each a table HpAssigner.  HpAgg.pAssigner is the one in
** use:
**
**    hpAssignOne        no keys: one group, that of all rows
**    hpAssignByOrder    keys come in order.  Once they do not:
**    hpAssignByNumber   small numbers stand for keys.  If there are too many:
**    hpAssignByKey      by packs or hash values of keys
**
** Keys often come in order: a table filled by day, the lines of one invoice
** after the other, a scan of an index.  As long as each new key of a worker is
** greater than all before it (HpRuns.bOrdered), a row belongs to the last group
** or begins the next, there is no hash table, and nothing to sort in the end.
** The first key that is not puts all groups so far into the hash table.
**
** Keys that small numbers stand for need no hash value: an array tells the group (hp_direct.c).
** What it does not know yet the hash table does.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MX_SLOT     (4*HP_BATCH)  /* So many it may have in any case */

/*
** Double the hash table, unless that would take more memory than allowed: then
** it fills up until the end of the batch.
*/
static int hpAssignGrow(HpAgg *pAgg){
  u32 mOld = pAgg->mSlot;
  u32 mNew = mOld*2+1;
  i64 nByte = 2*sizeof(u32)*((i64)mNew+1);
  u32 *aOld = pAgg->aSlot;
  u32 *aNew;
  assert( pAgg->runs.bOrdered==0 && pAgg->runs.nEntry<=mOld );
  if( mNew>=0x7fffffff
   || (mNew>=HP_MX_SLOT && !hpHeldMay(&pAgg->runs, nByte, HP_WISH))
  ){
    pAgg->bFull = 1;
    return pAgg->runs.nEntry>mOld-mOld/8 ? HP_DECLINE : SQLITE_OK;
  }
  aNew = hpArenaMalloc(nByte);
  if( aNew==0 ) return HP_DECLINE;
  memset(aNew, 0, nByte);
  hpHashMove(aOld, mOld, aNew, mNew);
  pAgg->runs.nTable += nByte - 2*sizeof(u32)*((i64)mOld+1);
  sqlite3_free(aOld);
  pAgg->aSlot = aNew;
  pAgg->mSlot = mNew;
  assert( hpTableIsSane(pAgg) );
  return SQLITE_OK;
}

/*
** Create the group of selected row ii.  bNorm: its normalized key is in
** pAgg->runs.key.
*/
static int hpAssignNew(HpAgg *pAgg, HpFrame *p, int ii, int bNorm){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  int row = p->aSel[ii];
  HpHead *pHead;
  u8 *aGroup;
  u8 *z;

  assert( ii<p->nSel && (bNorm==0 || pAgg->runs.bOrdered) );
  /* It is at the end of the batch that groups can be put aside */
  if( !hpHeldMay(&pAgg->runs, 0, HP_FINISH) ) return HP_DECLINE;
  aGroup = hpTableNew(pAgg);
  if( aGroup==0 ) return HP_DECLINE;
  *hpGroupPack(aGroup) = pAgg->aPack[ii];
  if( pAgg->runs.nEntry<=HP_MX_CACHED && pAgg->aPack[ii].b!=HP_UNPACKED ){
    pAgg->aGroupPack[pAgg->runs.nEntry-1] = pAgg->aPack[ii];
  }
  pHead = hpGroupHead(pPlan, aGroup);
  pHead->iPos = p->iPos + row;
  if( pPlan->entry.bIntKey && pAgg->aPack[ii].b==HP_PACK_INT ){
    const HpVec *pVec = &p->aVec[pPlan->keys.aVec[0]];
    if( pVec->aTag[row & pVec->mIdx]==HP_INT ){
      if( pPlan->nSet ) hpDistinctBegin(pPlan, aGroup);
      return pPlan->bLoadFirst ? hpTableLoad(pAgg, p, aGroup, row) : SQLITE_OK;
    }
  }
  pAgg->runs.bRecord = 1;
  if( !bNorm ){
    pAgg->runs.key.n = 0;
    if( pAgg->runs.bOrdered || pAgg->aPack[ii].b!=HP_UNPACKED ){
      if( hpKeyNorm(p, &pPlan->keys, row, &pAgg->runs.key) ) return HP_DECLINE;
    }else{
      /* hpAssignHash() has computed it */
      u32 i = pAgg->aNorm[ii];
      u32 n = pAgg->aNorm[ii+1] - i;
      if( hpBufAppend(&pAgg->runs.key, &pAgg->norm.a[i], n) ) return HP_DECLINE;
    }
  }
  pHead->nNorm = pAgg->runs.key.n;
  if( hpKeyShow(p, &pAgg->pPlan->keys, row, &pAgg->runs.key) ) return HP_DECLINE;
  pHead->nRec = pAgg->runs.key.n;
  assert( pHead->nNorm>0 && pHead->nRec>=pHead->nNorm+(u32)pPlan->keys.n );
  pHead->z = z = hpArenaAlloc(&pAgg->runs.arena, pHead->nRec);
  if( z==0 ) return HP_DECLINE;
  memcpy(z, pAgg->runs.key.a, pHead->nRec);
  if( pPlan->nSet ) hpDistinctBegin(pPlan, aGroup);
  if( pAgg->runs.nEntry==1 ){
    pAgg->runs.nSame = pHead->nNorm;
  }else if( !pPlan->entry.bIntKey ){
    const u8 *zFirst = hpGroupHead(pPlan, hpHeldAt(&pAgg->runs, 0))->z;
    u32 n = MIN(pAgg->runs.nSame, pHead->nNorm);
    u32 i;
    for(i=0; i<n && z[i]==zFirst[i]; i++){}
    pAgg->runs.nSame = i;
  }
  return pPlan->bLoadFirst ? hpTableLoad(pAgg, p, aGroup, row) : SQLITE_OK;
}

/*
** Hash values of the selected rows, and normalized keys of those that have no
** pack.  bAll: all have one.
*/
static int hpAssignHash(HpAgg *pAgg, HpFrame *p, int bAll){
  const HpKeys *pKeys = &pAgg->pPlan->keys;
  const HpPack *aPack = pAgg->aPack;
  u64 *aHash = pAgg->aHash;
  int nSel = p->nSel;
  int ii;
  assert( nSel>0 && nSel<=p->nAlloc );
  if( bAll ){
    for(ii=0; ii<nSel; ii++) aHash[ii] = hpHashPack(aPack[ii]);
  }else{
    pAgg->norm.n = 0;
    for(ii=0; ii<nSel; ii++){
      u32 n = pAgg->norm.n;
      pAgg->aNorm[ii] = n;
      if( aPack[ii].b!=HP_UNPACKED ){
        aHash[ii] = hpHashPack(aPack[ii]);
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
static SQLITE_INLINE int hpAssignIs(
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
static int hpAssignRow(HpAgg *pAgg, HpFrame *p, int ii){
  u32 salt = (u32)(pAgg->aHash[ii]>>16);
  u32 j = salt & pAgg->mSlot;
  u32 iGroup;
  int rc;
  assert( pAgg->runs.nEntry<=pAgg->mSlot );  /* Some slot is empty */
  while( (iGroup = pAgg->aSlot[2*j+1])!=0 ){
    if( pAgg->aSlot[2*j]==salt
     && hpAssignIs(pAgg, hpHeldAt(&pAgg->runs, iGroup-1), ii)
    ){
      break;
    }
    j = (j+1) & pAgg->mSlot;
  }
  if( iGroup==0 ){
    rc = hpAssignNew(pAgg, p, ii, 0);
    if( rc ) return rc;
    iGroup = pAgg->runs.nEntry;
    pAgg->aSlot[2*j] = salt;
    pAgg->aSlot[2*j+1] = iGroup;
    if( pAgg->runs.nEntry>pAgg->mSlot/2 ){
      rc = hpAssignGrow(pAgg);
      if( rc ) return rc;
    }
  }
  assert( iGroup<=pAgg->runs.nEntry && !pAgg->runs.bOrdered );
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
static SQLITE_NOINLINE int hpAssignKnown(
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
    assert( iGroup<pAgg->runs.nEntry );
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
static int hpAssignFew(HpAgg *pAgg, HpFrame *p, int bAll){
  u32 mFew = p->pCfg->bHash0 ? 0 : HP_FEW_SLOT-1;
  int nSel = p->nSel;
  int ii;
  for(ii=0; (ii = hpAssignKnown(pAgg, ii, nSel, mFew))<nSel; ii++){
    const HpPack *pPack = &pAgg->aPack[ii];
    int rc;
    if( bAll ) pAgg->aHash[ii] = mFew ? hpHashPack(*pPack) : 0;
    rc = hpAssignRow(pAgg, p, ii);
    if( rc ) return rc;
    pAgg->aFew[hpFewSlot(pPack) & mFew] = (u8)pAgg->aiGroup[ii];
  }
  return SQLITE_OK;
}

/*
** The same where groups are many and each step is a cache miss, so in two
** passes: the first reads the hash table, whose lines were asked for some rows
** before, and asks for the group that the salt names; the second compares
** keys.  Where some have no pack, which bAll denies, there is one between, that asks for
** the keys that are compared.
*/
static int hpAssignMany(HpAgg *pAgg, HpFrame *p, int bAll){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  const u64 *aHash = pAgg->aHash;
  /* Bytes of a group that are used a row */
  int nHot = bAll ? MAX(pAgg->nHot, (int)sizeof(HpPack))
                  : pPlan->entry.iHeadOff + (int)sizeof(HpHead);
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
      u8 *aGroup = hpHeldAt(&pAgg->runs, iGroup-1);
      for(k=0; k<nHot; k+=64) hpPrefetch(&aGroup[k]);
    }
  }
  for(ii=0; ii<nSel && !bAll; ii++){
    u32 iGroup = pAgg->aiGroup[ii];
    if( iGroup && pAgg->aPack[ii].b==HP_UNPACKED ){
      hpPrefetch(hpGroupHead(pPlan, hpHeldAt(&pAgg->runs, iGroup-1))->z);
    }
  }
  for(ii=0; ii<nSel; ii++){
    u32 iGroup = pAgg->aiGroup[ii];
    if( iGroup==0xffffffff ){
      assert( ii>0 );
      pAgg->aiGroup[ii] = pAgg->aiGroup[ii-1];
    }else if( iGroup
           && hpAssignIs(pAgg, hpHeldAt(&pAgg->runs, iGroup-1), ii)
    ){
      pAgg->aiGroup[ii] = iGroup-1;
    }else{
      rc = hpAssignRow(pAgg, p, ii);
      if( rc ) return rc;
    }
  }
  return SQLITE_OK;
}

/*
** Find or create the groups of the selected rows, whose keys have packs or
** normalized keys.
*/
static int hpAssignKeys(HpAgg *pAgg, HpFrame *p, int bAll){
  int bFew = pAgg->runs.nEntry<HP_MX_CACHED;
  if( !bAll || !bFew ){
    int rc = hpAssignHash(pAgg, p, bAll);
    if( rc ) return rc;
  }
  return bFew ? hpAssignFew(pAgg, p, bAll) : hpAssignMany(pAgg, p, bAll);
}

/* Packs of the keys of the selected rows.  Returns true if all have one */
static int hpAssignPacks(HpAgg *pAgg, HpFrame *p){
  const HpKeys *pKeys = &pAgg->pPlan->keys;
  int k;
  assert( p->nSel>0 && pAgg->runs.pWorker==p->pWorker );
  for(k=0; k<pKeys->n; k++) hpCodesValues(p, pKeys->aVec[k]);
  return hpPackRows(p, pKeys, pAgg->aPack);
}

/* HpAssigner.xRows: by packs, or by hash values in the table */
static int hpAssignKeyRows(HpAgg *pAgg, HpFrame *p){
  assert( pAgg->runs.bOrdered==0 );
  return hpAssignKeys(pAgg, p, hpAssignPacks(pAgg, p));
}
static const HpAssigner hpAssignByKey = { hpAssignKeyRows };

/*
** HpRuns.bOrdered: find or create the groups of the selected rows as long as
** their keys are not smaller than the last group's.  Returns the number of rows
** done in *pnDone.
*/
static int hpAssignOrdered(HpAgg *pAgg, HpFrame *p, int *pnDone){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  HpRuns *pRuns = &pAgg->runs;
  const HpPack *aPack = pAgg->aPack;
  int bPlain = pPlan->keys.n==1 && pPlan->keys.aSort[0]==0;
  int nSel = p->nSel;
  HpPack last;           /* Keys of the last group */
  int ii, rc;

  last.a = last.b = HP_UNPACKED;
  if( pRuns->nEntry ) last = *hpGroupPack(hpHeldAt(pRuns, pRuns->nEntry-1));
  *pnDone = 0;
  for(ii=0; ii<nSel; ii++){
    const HpPack *pPack = &aPack[ii];
    if( pPack->a!=last.a || pPack->b!=last.b || last.b==HP_UNPACKED ){
      int bNorm = 0;
      int c = 1;
      if( pAgg->runs.nEntry==0 ){
        /* The first row */
      }else if( bPlain && pPack->b==HP_PACK_INT && last.b==HP_PACK_INT ){
        c = (i64)pPack->a>(i64)last.a ? 1 : -1;
      }else{
        u8 aBuf[HP_SZ_NUMBER];
        u32 n;
        const u8 *z =
            hpHeldKey(pRuns->pPlan, hpHeldAt(pRuns, pRuns->nEntry-1), aBuf, &n);
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
        rc = hpAssignNew(pAgg, p, ii, bNorm);
        if( rc ) return rc;
      }
      last = *pPack;
    }
    assert( pAgg->runs.nEntry>0 );
    pAgg->aiGroup[ii] = pAgg->runs.nEntry-1;
    *pnDone = ii+1;
  }
  return SQLITE_OK;
}

/*
** Keys do not come in order any more: put all groups into the hash table or, if
** it would not fit into memory, into a file.
*/
static int hpAssignUnordered(HpAgg *pAgg, HpFrame *p){
  u32 mNew = pAgg->mSlot;
  i64 nByte;
  u32 i;
  int rc;
  while( pAgg->runs.nEntry>mNew/2 ) mNew = mNew*2+1;
  nByte = 2*sizeof(u32)*((i64)mNew+1);
  if( mNew>pAgg->mSlot ){
    u32 *aNew;
    if( mNew>=HP_MX_SLOT && !hpHeldMay(&pAgg->runs, nByte, HP_WISH) ){
      rc = hpTableSpill(pAgg);
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
  assert( pAgg->runs.bOrdered && pAgg->runs.nEntry<=pAgg->mSlot/2 );
  pAgg->runs.bOrdered = 0;
  memset(pAgg->aSlot, 0, nByte);
  for(i=0; i<pAgg->runs.nEntry; i++){
    const u8 *aGroup = hpHeldAt(&pAgg->runs, i);
    u32 salt = p->pCfg->bHash0 ? 0 : (u32)(hpGroupHash(pAgg->pPlan, aGroup)>>16);
    u32 j = salt & mNew;
    while( pAgg->aSlot[2*j+1] ) j = (j+1) & mNew;
    pAgg->aSlot[2*j] = salt;
    pAgg->aSlot[2*j+1] = i+1;
  }
  assert( hpTableIsSane(pAgg) );
  return SQLITE_OK;
}

/*
** Find or create the groups of the nNew rows of pAgg->aNew, places in the selection, of which
** pAgg->pDirect does not know them.
*/
static int hpAssignNewRows(HpAgg *pAgg, HpFrame *p, int nNew){
  u16 *aSel = p->aSel;
  int nSel = p->nSel;
  u8 bDense = p->bDense;
  u32 *aiGroup = pAgg->aiGroup;
  int i, rc;
  assert( nNew>0 && nNew<=nSel && pAgg->runs.bOrdered==0 );
  for(i=0; i<nNew; i++) pAgg->aRow[i] = aSel[pAgg->aNew[i]];
  /* For a moment they are the selection */
  p->aSel = pAgg->aRow;
  p->nSel = nNew;
  p->bDense = 0;
  pAgg->aiGroup = pAgg->aiNew;
  rc = hpAssignHash(pAgg, p, hpPackRows(p, &pAgg->pPlan->keys, pAgg->aPack));
  for(i=0; i<nNew && rc==SQLITE_OK; i++) rc = hpAssignRow(pAgg, p, i);
  p->aSel = aSel;
  p->nSel = nSel;
  p->bDense = bDense;
  pAgg->aiGroup = aiGroup;
  for(i=0; i<nNew && rc==SQLITE_OK; i++){
    aiGroup[pAgg->aNew[i]] = pAgg->aiNew[i];
    hpDirectSet(pAgg, pAgg->aNew[i], pAgg->aiNew[i]);
  }
  return rc;
}

/* HpAssigner.xRows: those of keys whose numbers are known first */
static int hpAssignNumberRows(HpAgg *pAgg, HpFrame *p){
  int nNew;
  int eDirect = hpDirectRows(pAgg, p, &nNew);
  int k;
  assert( p->nSel>0 && pAgg->runs.pWorker==p->pWorker );
  if( eDirect<=0 ){
    if( eDirect<0 ) pAgg->pAssigner = &hpAssignByKey;
    return hpAssignKeyRows(pAgg, p);
  }
  if( nNew==0 ) return SQLITE_OK;
  for(k=0; k<pAgg->pPlan->keys.n; k++){
    hpCodesValues(p, pAgg->pPlan->keys.aVec[k]);
  }
  return hpAssignNewRows(pAgg, p, nNew);
}
static const HpAssigner hpAssignByNumber = { hpAssignNumberRows };

/* HpAssigner.xRows: as long as keys come in order */
static int hpAssignOrderRows(HpAgg *pAgg, HpFrame *p){
  int bAll = hpAssignPacks(pAgg, p);
  int nDone;
  int rc = hpAssignOrdered(pAgg, p, &nDone);
  assert( pAgg->runs.bOrdered );
  if( rc || nDone==p->nSel ) return rc;
  /* Of a damaged index: stock gives a group more than once */
  if( pAgg->pPlan->bInOrder ) return HP_DECLINE;
  rc = hpAssignUnordered(pAgg, p);
  if( rc ) return rc;
  pAgg->pAssigner = &hpAssignByNumber;
  return hpAssignKeys(pAgg, p, bAll);
}
static const HpAssigner hpAssignByOrder = { hpAssignOrderRows };

/* HpAssigner.xRows: all are of one group, which is there already */
static int hpAssignOneRows(HpAgg *pAgg, HpFrame *p){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  u8 *aGroup = hpHeldAt(&pAgg->runs, 0);
  HpHead *pHead = hpGroupHead(pPlan, aGroup);
  assert( pHead->iPos==HP_NO_POS || pHead->iPos<p->iPos+p->aSel[0] );
  if( pHead->iPos!=HP_NO_POS ) return SQLITE_OK;
  pHead->iPos = p->iPos + p->aSel[0];
  if( pPlan->bLoadFirst==0 ) return SQLITE_OK;
  return hpTableLoad(pAgg, p, aGroup, p->aSel[0]);
}
static const HpAssigner hpAssignOne = { hpAssignOneRows };

/*
** Choose how the first rows find their groups.  bOrder: perhaps keys come in
** order, and groups may be put aside.
*/
static void hpAssignOpen(HpAgg *pAgg, int bOrder){
  assert( pAgg->runs.nEntry==(pAgg->pPlan->keys.n==0) );
  if( pAgg->pPlan->keys.n==0 ){
    pAgg->pAssigner = &hpAssignOne;
  }else if( bOrder ){
    pAgg->runs.bOrdered = 1;
    pAgg->pAssigner = &hpAssignByOrder;
  }else{
    pAgg->pAssigner = &hpAssignByNumber;
  }
}

#ifdef SQLITE_DEBUG
/*
** Has each selected row the pack of its group?  While keys come in order groups
** do.  Of keys that have not been decoded, nothing but the number is known.
*/
static int hpAssignIsRight(const HpAgg *pAgg, const HpFrame *p){
  const HpKeys *pKeys = &pAgg->pPlan->keys;
  HpPack aPack[HP_BATCH];
  int bPack = p->nRow<=HP_BATCH;
  int ii, k;
  for(k=0; k<pKeys->n; k++) if( p->aVec[pKeys->aVec[k]].bLate ) bPack = 0;
  if( bPack ) hpPackRows((HpFrame*)p, pKeys, aPack);
  for(ii=0; ii<p->nSel; ii++){
    u32 iGroup = pAgg->aiGroup[ii];
    const HpPack *pPack;
    if( iGroup>=pAgg->runs.nEntry ) return 0;
    if( pAgg->runs.bOrdered && ii>0 && iGroup<pAgg->aiGroup[ii-1] ) return 0;
    pPack = hpGroupPack(hpHeldAt(&pAgg->runs, iGroup));
    if( bPack && (pPack->a!=aPack[ii].a || pPack->b!=aPack[ii].b) ) return 0;
  }
  return 1;
}
#endif
#endif /* SQLITE_OMIT_HP */
