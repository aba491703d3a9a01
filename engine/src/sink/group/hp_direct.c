/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_direct: groups found by small numbers that stand for their keys.
**
**    hpDirectRows()   the groups of the rows whose numbers are known
**    hpDirectSet()    the group of a row that was not
**    hpDirectIsOn()   are groups found so now?
**    hpDirectClear()  groups have been forgotten
**    hpDirectClose()
**
** Integers of a small range, and texts of dictionaries (columns in memory, HpVec.pSeg) get numbers.
** Those of all keys of a row, put together, are the place in an array that tells its group:
**
**        country   'ch' 1, 'de' 2, 'fr' 3 ...            3 bits
**        year      1999 to 2029: 1 to 31                 5 bits
**        group of 'de', 2026:  HpDirect.aGroup[2 + (28<<3)]
**
** So no key is hashed, packed, or compared.  Texts are looked up once for each entry of a segment's
** dictionary.  NULL is number 0.  Equal numbers mean equal bytes, so they mean equal keys whatever
** the collation; keys with other numbers may still be equal, and have the same group.
**
** The array knows nothing at first.  What it does not know the hash table finds (hp_assign.c).  When
** a key needs more bits it begins anew.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MX_DIRECT   (256*1024)  /* Most entries of the array */
#define HP_MN_DIRECT   1024        /* So many it may have in any case */
#define HP_DIRECT_TIMES 8          /* It is at most so many times the groups */
#define HP_MX_TRIES    100         /* Batches without groups enough for it */
#define HP_MX_DIRECT_KEY 4         /* Most keys */
#define HP_MX_WORD     4096        /* Most texts of a key, ... */
#define HP_MX_WORD_LEN 64          /* ... and their bytes */

/* Numbers of a key */
typedef struct HpDirectKey HpDirectKey;
struct HpDirectKey {
  u8 eKind;              /* HP_INT or HP_TEXT; 0: all were NULL so far */
  int nBit;              /* They have so many bits, ... */
  int iShift;            /* ... and stand so far to the left */
  i64 iMin, iMax;        /* Integers that have occurred.  Number 1 ... */
  i64 iBase;             /* ... is this */
  struct HpDirectWord {  /* Texts by number less one */
    u64 k;                 /* The first eight bytes */
    const u8 *z;
    u32 n;
  } *aWord;
  int nWord, nWordAlloc;
  u16 *aSlot;            /* Hash table: a number, or 0 */
  u32 mSlot;             /* Its slots, less one */
  u16 aLast[256];        /* Numbers of the entries of the dictionary before, or 0 */
};

struct HpDirect {
  HpDirectKey aKey[HP_MX_DIRECT_KEY];
  HpArena words;         /* Texts */
  int nBit;              /* Bits of all numbers */
  u32 *aGroup;           /* For each number of a row its group plus one; 0: not known.  NULL: none */
  int nTry;              /* Batches that had too few groups for it */
  u32 *aNumber;          /* Numbers of the rows of a batch */
};

/* Bits that numbers up to n take */
static int hpDirectBits(u64 n){
  int i = 1;
  while( n>>i ) i++;
  return i;
}

/* Forget what the array knows, as groups have been forgotten */
static void hpDirectClear(HpAgg *pAgg){
  HpDirect *p = pAgg->pDirect;
  assert( pAgg->runs.nEntry==0 );
  if( p && p->aGroup ) memset(p->aGroup, 0, sizeof(u32)<<p->nBit);
}

/* Let go of the array */
static void hpDirectDrop(HpAgg *pAgg){
  HpDirect *p = pAgg->pDirect;
  if( p->aGroup ) pAgg->runs.nTable -= (i64)sizeof(u32)<<p->nBit;
  sqlite3_free(p->aGroup);
  p->aGroup = 0;
  assert( pAgg->runs.nTable>=0 );
}

/* Are groups found by numbers, without a look at them? */
static int hpDirectIsOn(const HpAgg *pAgg){
  return pAgg->pDirect && pAgg->pDirect->aGroup;
}

static void hpDirectClose(HpAgg *pAgg){
  HpDirect *p = pAgg->pDirect;
  int k;
  if( p==0 ) return;
  for(k=0; k<HP_MX_DIRECT_KEY; k++){
    sqlite3_free(p->aKey[k].aWord);
    sqlite3_free(p->aKey[k].aSlot);
  }
  hpArenaClear(&p->words);
  hpDirectDrop(pAgg);
  pAgg->pDirect = 0;
}

/* Has the key numbers for all integers from iMin to iMax? */
static int hpDirectIsIn(const HpDirectKey *p, i64 iMin, i64 iMax){
  return p->eKind==HP_INT && iMin>=p->iBase && (u64)iMax-(u64)p->iBase<((u64)1<<p->nBit)-1;
}

/*
** Selected rows of *pVec, all integers or NULL: let the key have numbers for them.  Returns false if
** their range is too large.
*/
static int hpDirectRange(HpDirectKey *pKey, const HpFrame *p, const HpVec *pVec){
  const HpVal *aVal = pVec->aVal;
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  i64 iMin = LARGEST_INT64, iMax = SMALLEST_INT64;
  u64 nWant, nSpare;
  int ii;
  assert( (pVec->mType & ~HP_NULL)==HP_INT && pVec->bFloat==0 );
  if( pVec->pSeg && pVec->pSeg->eForm==HP_FORM_INT
   && hpDirectIsIn(pKey, pVec->pSeg->iBase, pVec->pSeg->iMax)
  ){
    return 1;
  }
  if( pVec->mType==HP_INT ){
    for(ii=0; ii<nSel; ii++){
      i64 x = aVal[aSel[ii]].i;
      iMin = MIN(iMin, x);
      iMax = MAX(iMax, x);
    }
  }else{
    for(ii=0; ii<nSel; ii++){
      i64 x = aVal[aSel[ii]].i;
      if( pVec->aTag[aSel[ii]]!=HP_INT ) continue;
      iMin = MIN(iMin, x);
      iMax = MAX(iMax, x);
    }
    if( iMin>iMax ) return 1;
  }
  if( pKey->eKind==HP_INT ){
    iMin = MIN(iMin, pKey->iMin);
    iMax = MAX(iMax, pKey->iMax);
  }
  nWant = (u64)iMax-(u64)iMin;
  if( nWant>=HP_MX_DIRECT ) return 0;
  nWant++;
  if( !hpDirectIsIn(pKey, iMin, iMax) ){
    pKey->nBit = hpDirectBits(nWant+nWant/4);
    nSpare = ((u64)1<<pKey->nBit)-1-nWant;
    pKey->iBase = iMin<SMALLEST_INT64+HP_MX_DIRECT ? iMin : iMin-(i64)(nSpare/2);
    pKey->iShift = -1;
  }
  pKey->eKind = HP_INT;
  pKey->iMin = iMin;
  pKey->iMax = iMax;
  assert( hpDirectIsIn(pKey, iMin, iMax) );
  return 1;
}

/* A hash of text z of n bytes: its first eight, which are k, its last eight and its length */
static SQLITE_INLINE u32 hpDirectHash(u64 k, const u8 *z, u32 n){
  return (u32)(hpHashWord(k, n>8 ? (u64)hpRaw8(&z[n-8]) : 0, n)>>40);
}

/* Twice as many places for texts, and a hash table of twice as many slots as there are */
static int hpDirectGrow(HpDirectKey *pKey){
  int nNew = MAX(64, 2*pKey->nWordAlloc);
  struct HpDirectWord *aNew = sqlite3_realloc64(pKey->aWord, sizeof(aNew[0])*(u64)nNew);
  u16 *aSlot = sqlite3_malloc64(sizeof(u16)*(u64)nNew*2);
  int i;
  if( aNew ) pKey->aWord = aNew;
  if( aNew==0 || aSlot==0 ){
    sqlite3_free(aSlot);
    return 0;
  }
  sqlite3_free(pKey->aSlot);
  memset(aSlot, 0, sizeof(u16)*(size_t)nNew*2);
  pKey->aSlot = aSlot;
  pKey->mSlot = (u32)nNew*2-1;
  pKey->nWordAlloc = nNew;
  assert( nNew<=0xffff && 2*pKey->nWord<=(int)pKey->mSlot+1 );
  for(i=0; i<pKey->nWord; i++){
    const struct HpDirectWord *pWord = &pKey->aWord[i];
    u32 j = hpDirectHash(pWord->k, pWord->z, pWord->n) & pKey->mSlot;
    while( aSlot[j] ) j = (j+1) & pKey->mSlot;
    aSlot[j] = (u16)(i+1);
  }
  return 1;
}

/* Is *pWord text z of n bytes, of which k are the first eight? */
static SQLITE_INLINE int hpDirectIs(const struct HpDirectWord *pWord, u64 k, const u8 *z, u32 n){
  return pWord->k==k && pWord->n==n && (n<=8 || memcmp(pWord->z, z, n)==0);
}

/*
** The number of text z of n bytes, of which k are the first eight.  It gets one if it has none.  -1:
** there are too many, or there is no memory.
*/
static int hpDirectWord(HpDirect *p, HpDirectKey *pKey, u64 k, const u8 *z, u32 n){
  struct HpDirectWord *pWord;
  u8 *zCopy;
  u32 j;
  if( n>HP_MX_WORD_LEN ) return -1;
  if( pKey->nWord==pKey->nWordAlloc && !hpDirectGrow(pKey) ) return -1;
  j = hpDirectHash(k, z, n) & pKey->mSlot;
  for(; pKey->aSlot[j]; j=(j+1) & pKey->mSlot){
    if( hpDirectIs(&pKey->aWord[pKey->aSlot[j]-1], k, z, n) ) return pKey->aSlot[j];
  }
  if( pKey->nWord>=HP_MX_WORD ) return -1;
  zCopy = hpArenaAlloc(&p->words, n+HP_SLACK);
  if( zCopy==0 ) return -1;
  memcpy(zCopy, z, n);
  memset(&zCopy[n], 0, HP_SLACK);
  pWord = &pKey->aWord[pKey->nWord++];
  pWord->k = k;
  pWord->z = zCopy;
  pWord->n = n;
  assert( pKey->nWord<=pKey->nWordAlloc && pKey->aSlot[j]==0 );
  pKey->aSlot[j] = (u16)pKey->nWord;
  return pKey->nWord;
}

/*
** Let the key have numbers for all texts of dictionary pDict: aNumber[].  Returns false if there are
** too many.  What was the same entry of the dictionary before is not searched for.
*/
static int hpDirectWords(HpDirect *p, HpDirectKey *pKey, const HpSegment *pDict, u32 *aNumber){
  int i;
  assert( pDict->nEntry<=ArraySize(pKey->aLast) );
  for(i=0; i<pDict->nEntry; i++){
    u32 n = pDict->aEntry[i].n;
    const u8 *z = &pDict->aText[pDict->aEntry[i].iOfst];
    u64 k = n>=8 ? (u64)hpRaw8(z) : hpLoadBytes(z, n);
    int x = pKey->aLast[i];
    if( x==0 || !hpDirectIs(&pKey->aWord[x-1], k, z, n) ){
      x = hpDirectWord(p, pKey, k, z, n);
      if( x<0 ) return 0;
      pKey->aLast[i] = (u16)x;
    }
    aNumber[i] = (u32)x;
  }
  pKey->eKind = HP_TEXT;
  if( pKey->nWord>=1<<pKey->nBit ){
    pKey->nBit = hpDirectBits((u64)pKey->nWord+pKey->nWord/4);
    pKey->iShift = -1;
  }
  assert( pKey->nWord>>pKey->nBit==0 );
  return 1;
}

/*
** Some key needs more bits: make an array for the numbers as they are now, if that is worth it with
** nSel rows at a time.
*/
static int hpDirectArray(HpAgg *pAgg, int nSel){
  HpDirect *p = pAgg->pDirect;
  int nKey = pAgg->pPlan->keys.n;
  i64 nByte;
  int k;
  hpDirectDrop(pAgg);
  p->nBit = 0;
  for(k=0; k<nKey; k++){
    p->aKey[k].iShift = p->nBit;
    p->nBit += p->aKey[k].nBit;
  }
  if( p->nBit>30 || (1<<p->nBit)>HP_MX_DIRECT ) return 0;
  if( (1<<p->nBit)>HP_MN_DIRECT
   && ((u32)1<<p->nBit)>HP_DIRECT_TIMES*(pAgg->runs.nEntry+(u32)nSel)
  ){
    return ++p->nTry<HP_MX_TRIES;
  }
  nByte = (i64)sizeof(u32)<<p->nBit;
  if( (1<<p->nBit)>HP_MN_DIRECT && !hpHeldMay(&pAgg->runs, nByte, HP_WISH) ) return 0;
  p->aGroup = hpArenaMalloc(nByte);
  if( p->aGroup==0 ) return 0;
  memset(p->aGroup, 0, nByte);
  pAgg->runs.nTable += nByte;
  return 1;
}

/*
** The only key is a text without NULLs, whose entries have the numbers aNumber[].  If the groups of all
** of them are known set pAgg->aiGroup[], and return true.
*/
static int hpDirectOne(const HpAgg *pAgg, const HpFrame *pFrame, const HpVec *pVec, u32 *aNumber){
  const HpDirect *p = pAgg->pDirect;
  const u16 *aSel = pFrame->aSel;
  const u8 *aCode = pVec->aCode;
  u32 *aiGroup = pAgg->aiGroup;
  int nSel = pFrame->nSel;
  u32 aGroup[256];
  int ii, i;
  for(i=0; i<pVec->pSeg->nEntry; i++){
    aGroup[i] = p->aGroup[aNumber[i]]-1;
    if( aGroup[i]==0xffffffff ) return 0;
    assert( aGroup[i]<pAgg->runs.nEntry );
  }
  if( aCode==0 ){
    for(ii=0; ii<nSel; ii++) aiGroup[ii] = aGroup[0];
  }else if( nSel==pFrame->nRow ){
    for(ii=0; ii<nSel; ii++) aiGroup[ii] = aGroup[aCode[ii]];
  }else{
    for(ii=0; ii<nSel; ii++) aiGroup[ii] = aGroup[aCode[aSel[ii]]];
  }
  return 1;
}

/* What keys need numbers for: the memory for that, or NULL */
static HpDirect *hpDirectNew(HpAgg *pAgg, HpFrame *pFrame){
  HpDirect *p = hpArenaAlloc(&pAgg->scratch, sizeof(*p));
  if( p==0 ) return 0;
  memset(p, 0, sizeof(*p));
  p->aNumber = hpArenaAlloc(&pAgg->scratch, sizeof(u32)*(i64)pFrame->nAlloc);
  return p->aNumber ? p : 0;
}

/* Put the numbers of key k, F(I) of row I, into those of the rows, aTo[] */
#define HP_DIRECT_PUT(F) \
  if( k==0 ){ \
    for(ii=0; ii<nSel; ii++){ int i = aSel[ii]; aTo[ii] = F(i); } \
  }else{ \
    for(ii=0; ii<nSel; ii++){ int i = aSel[ii]; aTo[ii] |= F(i); } \
  }

/* Number of row I of a dictionary; and of an integer */
#define HP_NUMBER_CODE(I)   aNumber[aCode[I]]
#define HP_NUMBER_INT(I)    ((u32)(aVal[I].u-iBase)<<iShift)
/* The same where some rows are NULL */
#define HP_NUMBER_CODE0(I)  (aTag[I]==HP_NULL ? 0 : HP_NUMBER_CODE(I))
#define HP_NUMBER_INT0(I)   (aTag[I]==HP_NULL ? 0 : HP_NUMBER_INT(I))

/*
** Set pAgg->aiGroup[] for those of the selected rows whose keys have numbers that are known, and
** pAgg->aNew[] to the places of the others in the selection, *pnNew in number.  Returns 0 if the keys
** have no numbers in this batch, and -1 if there will be none in later ones.
*/
static int hpDirectRows(HpAgg *pAgg, HpFrame *pFrame, int *pnNew){
  const HpKeys *pKeys = &pAgg->pPlan->keys;
  HpDirect *p;
  const u16 *aSel = pFrame->aSel;
  int nSel = pFrame->nSel;
  u32 aaNumber[HP_MX_DIRECT_KEY][256];
  u32 *aiGroup = pAgg->aiGroup;
  int nHot = 0;          /* Bytes of a group that the aggregates use, if it is not in the cache */
  int nNew = 0;
  int bArray = 0;
  int ii, i, k;
  u32 *aTo;
  assert( !pAgg->runs.bOrdered && nSel>0 );
  if( pAgg->pDirect==0 && pKeys->n<=HP_MX_DIRECT_KEY ) pAgg->pDirect = hpDirectNew(pAgg, pFrame);
  p = pAgg->pDirect;
  if( p==0 ) goto no_direct;
  for(k=0; k<pKeys->n; k++){
    const HpVec *pVec = &pFrame->aVec[pKeys->aVec[k]];
    u8 m = pVec->mType & ~HP_NULL;
    if( pVec->mIdx==0 ) goto no_direct;
    if( m==HP_INT ){
      if( p->aKey[k].eKind==HP_TEXT || !hpDirectRange(&p->aKey[k], pFrame, pVec) ) goto no_direct;
    }else if( m!=0 ){
      /* Values of leaves are of no dictionary, nor are those of some segments */
      if( pVec->pSeg==0 || pVec->pSeg->eForm!=HP_FORM_DICT || m!=HP_TEXT ) return 0;
      /* To look up more entries than rows would take longer */
      if( pVec->pSeg->nEntry>nSel ) return 0;
      if( p->aKey[k].eKind==HP_INT || !hpDirectWords(p, &p->aKey[k], pVec->pSeg, aaNumber[k]) ){
        goto no_direct;
      }
    }
    bArray |= p->aKey[k].iShift<0;
  }
  if( (bArray || p->aGroup==0) && !hpDirectArray(pAgg, nSel) ) goto no_direct;
  if( p->aGroup==0 ) return 0;
  *pnNew = 0;
  if( pKeys->n==1 && pFrame->aVec[pKeys->aVec[0]].mType==HP_TEXT
   && hpDirectOne(pAgg, pFrame, &pFrame->aVec[pKeys->aVec[0]], aaNumber[0])
  ){
    return 1;
  }

  if( pAgg->runs.nEntry>=HP_MX_CACHED && pAgg->pPlan->nAgg>0 ){
    nHot = pAgg->nHot;
  }
  aTo = p->aNumber;
  for(k=0; k<pKeys->n; k++){
    const HpVec *pVec = &pFrame->aVec[pKeys->aVec[k]];
    const HpVal *aVal = pVec->aVal;
    const u8 *aTag = pVec->aTag;
    u8 m = pVec->mType & ~HP_NULL;
    int iShift = p->aKey[k].iShift;
    int bNull = m!=pVec->mType;
    if( m==HP_INT ){
      u64 iBase = (u64)p->aKey[k].iBase-1;
      if( bNull ){
        HP_DIRECT_PUT(HP_NUMBER_INT0)
      }else{
        HP_DIRECT_PUT(HP_NUMBER_INT)
      }
    }else{
      u32 *aNumber = aaNumber[k];
      const u8 *aCode = m ? pVec->aCode : 0;
      for(i=0; m && i<pVec->pSeg->nEntry; i++) aNumber[i] <<= iShift;
      if( aCode==0 ){
        /* One text, or NULL */
        for(ii=0; ii<nSel; ii++){
          u32 x = m==0 || (bNull && aTag[aSel[ii]]==HP_NULL) ? 0 : aNumber[0];
          aTo[ii] = k==0 ? x : aTo[ii] | x;
        }
      }else if( bNull ){
        HP_DIRECT_PUT(HP_NUMBER_CODE0)
      }else{
        HP_DIRECT_PUT(HP_NUMBER_CODE)
      }
    }
  }

  for(ii=0; ii<nSel; ii++){
    u32 iGroup;
    assert( aTo[ii]>>p->nBit==0 );
    iGroup = p->aGroup[aTo[ii]];
    assert( iGroup<=pAgg->runs.nEntry );
    aiGroup[ii] = iGroup-1;
    if( iGroup==0 ){
      pAgg->aNew[nNew++] = (u16)ii;
    }else if( nHot ){
      const u8 *aGroup = hpHeldAt(&pAgg->runs, iGroup-1);
      for(k=0; k<nHot; k+=64) hpPrefetch(&aGroup[k]);
    }
  }
  *pnNew = nNew;
  return 1;

no_direct:
  hpDirectClose(pAgg);
  return -1;
}

/* Selected row ii, whose number was not known, is of this group */
static void hpDirectSet(HpAgg *pAgg, int ii, u32 iGroup){
  assert( iGroup<pAgg->runs.nEntry );
  assert( pAgg->pDirect->aNumber[ii]>>pAgg->pDirect->nBit==0 );
  pAgg->pDirect->aGroup[pAgg->pDirect->aNumber[ii]] = iGroup+1;
}
#endif /* SQLITE_OMIT_HP */
