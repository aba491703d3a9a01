/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_finder: groups that are found by their keys.
**
**    hpFinderNew()      none yet, and a cursor on the table that they come from
**    hpFinderFill()     enter the groups of a scan that is done
**    hpFinderHolds()    has nobody written to the table since?
**    hpFinderLoad()     the group of a key into registers
**    hpFinderFree()     free them
**
** A hash table of all groups, by their normalized keys.  Groups stay where the scan has
** left them, so they have to be in memory: those in temporary files decline.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Groups by key */
struct HpFinder {
  u8 **apGroup;          /* All groups */
  u32 nGroup, nAlloc;
  u32 *aSlot;            /* Hash table: number of a group plus one */
  u32 mSlot;             /* Number of its entries, less one */
  HpBuf key;             /* Scratch: a normalized key */
  BtCursor *pGuard;      /* On the table */
};

/*
** Free *p, which may be NULL.
*/
static void hpFinderFree(HpFinder *p){
  if( p==0 ) return;
  hpGuardFree(p->pGuard);
  sqlite3_free(p->apGroup);
  sqlite3_free(p->aSlot);
  sqlite3_free(p->key.a);
  sqlite3_free(p);
}

/* The slot of the group whose normalized key is z[0..n-1], or an empty one */
static u32 hpFinderSlot(const HpQuery *p, const u8 *z, u32 n){
  const HpFinder *pFinder = p->pFinder;
  u8 aBuf[HP_SZ_NUMBER];
  u32 j = (u32)hpHashBytes(z, n) & pFinder->mSlot;
  /* No more than half full, so there is an empty one */
  assert( 2*(u64)pFinder->nGroup<=(u64)pFinder->mSlot+1 );
  while( pFinder->aSlot[j] ){
    const u8 *aGroup = pFinder->apGroup[pFinder->aSlot[j]-1];
    u32 nKey;
    const u8 *zKey = hpHeldKey(p->pPipe->pEntry, aGroup, aBuf, &nKey);
    if( nKey==n && memcmp(zKey, z, n)==0 ) break;
    j = (j+1) & pFinder->mSlot;
  }
  return j;
}

/*
** The scan is done: enter its groups into a hash table.
*/
static int hpFinderFill(HpQuery *p){
  HpFinder *pFinder = p->pFinder;
  HpPipe *pPipe = p->pPipe;
  u8 *aGroup;
  u64 nSlot = 16;
  u32 i;
  assert( pFinder->nGroup==0 && pFinder->aSlot==0 && pPipe->pCrew==0 );
  for(i=0; i<(u32)pPipe->nWorker; i++){
    if( pPipe->apWorker[i]->pRuns->pSpill ) return HP_DECLINE;
  }
  while( 1 ){
    int rc = hpMergeNext(pPipe, &aGroup);
    if( rc ) return rc;
    if( aGroup==0 ) break;
    if( pFinder->nGroup==pFinder->nAlloc ){
      u32 nNew = MAX(64, 2*pFinder->nAlloc);
      u8 **apNew;
      if( !hpBudgetMay(pPipe->apWorker[0], (i64)nNew*20, HP_KEEP) ){
        return HP_DECLINE;
      }
      apNew = sqlite3_realloc64(pFinder->apGroup, sizeof(u8*)*(u64)nNew);
      if( apNew==0 ) return HP_DECLINE;
      pFinder->apGroup = apNew;
      pFinder->nAlloc = nNew;
    }
    /* They come in key order, and stay */
    assert( pFinder->nGroup==0 || hpRadixCompare(pPipe->pEntry,
                pFinder->apGroup[pFinder->nGroup-1], aGroup)<0 );
    pFinder->apGroup[pFinder->nGroup++] = aGroup;
    if( pFinder->nGroup%HP_POLL==0 && hpThreadStopped(pPipe) ){
      return SQLITE_INTERRUPT;
    }
  }
  while( nSlot<2*(u64)pFinder->nGroup ) nSlot *= 2;
  pFinder->aSlot = sqlite3MallocZero(sizeof(u32)*nSlot);
  if( pFinder->aSlot==0 ) return HP_DECLINE;
  pFinder->mSlot = (u32)(nSlot-1);
  for(i=0; i<pFinder->nGroup; i++){
    u8 aBuf[HP_SZ_NUMBER];
    u32 n;
    const u8 *z = hpHeldKey(p->pPipe->pEntry, pFinder->apGroup[i], aBuf, &n);
    u32 j = hpFinderSlot(p, z, n);
    assert( pFinder->aSlot[j]==0 );
    pFinder->aSlot[j] = i+1;
  }
  return SQLITE_OK;
}

/*
** Make p->pFinder, without groups, and put its cursor on the table that pSource
** scans.
*/
static int hpFinderNew(HpQuery *p, const HpSourcePlan *pSource){
  int rc;
  assert( p->pFinder==0 );
  sqlite3BeginBenignMalloc();
  p->pFinder = sqlite3MallocZero(sizeof(*p->pFinder));
  sqlite3EndBenignMalloc();
  if( p->pFinder==0 ) return HP_DECLINE;
  rc = hpGuardSet(p->db, pSource, &p->pFinder->pGuard);
  return rc==SQLITE_OK && !hpFinderHolds(p->pFinder) ? HP_DECLINE : rc;
}

/*
** Has nobody written to the table?
*/
static int hpFinderHolds(const HpFinder *p){
  return hpGuardHolds(p->pGuard);
}

/*
** Append outer side k of the keys, which is in register pMem, to the normalized key.
** *pbNull is set if it is a NULL that equals nothing.
*/
static int hpFinderKey(
  HpQuery *p,
  const HpKeyed *pKeyed,
  int k,
  Mem *pMem,
  int *pbNull
){
  const HpKeys *pKeys = &hpGroupOf(p->pPipe->pEntry)->keys;
  HpVec vec;
  HpVal val;
  u32 n = 0;
  u8 tag;
  int rc = SQLITE_OK;
  if( pKeyed->aKey[k].aff>=SQLITE_AFF_TEXT ){
    sqlite3ValueApplyAffinity(pMem, pKeyed->aKey[k].aff, SQLITE_UTF8);
  }
  val.i = 0;
  if( pMem->flags & MEM_Null ){
    tag = HP_NULL;
    *pbNull |= pKeyed->aKey[k].bNull==0;
  }else if( pMem->flags & MEM_Int ){
    tag = HP_INT;
    val.i = pMem->u.i;
  }else if( pMem->flags & (MEM_Real|MEM_IntReal) ){
    tag = HP_REAL;
    val.r = (pMem->flags & MEM_Real) ? pMem->u.r : (double)pMem->u.i;
  }else{
    tag = (pMem->flags & MEM_Str) ? HP_TEXT : HP_BLOB;
    rc = ExpandBlob(pMem);
    val.z = (u8*)pMem->z;
    n = (u32)pMem->n;
  }
  if( rc ) return rc;
  memset(&vec, 0, sizeof(vec));
  vec.mType = tag;
  vec.aTag = &tag;
  vec.aVal = &val;
  vec.aLen = &n;
  return hpKeyValue(&p->pFinder->key, &vec, 0, pKeys->aColl[k], pKeys->aSort[k]);
}

/*
** Look up the group of the outer sides in registers aKey[] of p, and load it into the
** registers aMem[] of its plan.
*/
static int hpFinderLoad(HpQuery *p, const HpKeyed *pKeyed, Mem *aKey, Mem *aMem){
  HpFinder *pFinder = p->pFinder;
  u32 iGroup = 0;
  int bNull = 0;
  int k;
  assert( pKeyed->nKey==hpGroupOf(p->pPipe->pEntry)->keys.n );
  pFinder->key.n = 0;
  for(k=0; k<pKeyed->nKey; k++){
    int rc = hpFinderKey(p, pKeyed, k, &aKey[k], &bNull);
    if( rc ) return rc==HP_DECLINE ? SQLITE_NOMEM_BKPT : rc;
  }
  if( !bNull ){
    iGroup = pFinder->aSlot[hpFinderSlot(p, pFinder->key.a, pFinder->key.n)];
  }
  assert( iGroup<=pFinder->nGroup );
  if( pKeyed->iExistsReg ){
    sqlite3VdbeMemSetInt64(&aMem[pKeyed->iExistsReg], iGroup>0);
    return SQLITE_OK;
  }
  if( iGroup==0 ) return SQLITE_OK;
  return hpResultLoad(p->pPipe, pFinder->apGroup[iGroup-1], aMem,
                      &p->pPipe->pOut->buf);
}

#endif /* SQLITE_OMIT_HP */
