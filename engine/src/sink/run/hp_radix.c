/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_radix: sorting groups and rows by their normalized keys.
**
**    hpRadixHeld()  put a worker's groups in key order (in its thread)
**    hpRadixAt()   the group at a place in that order
**    hpRadixCompare() the order of two groups
**    hpRadixAhead(), hpRadixPrefetch()    ask for the memory of groups to come
**    hpRadixMerge()   sort few groups by merging
**    hpRadixSort()    put any groups in key order
**    hpRadixPairs()   ... pairs, of which it is known how their keys begin
**    hpRadixPass()    sort numbers of 64 bits with what belongs to them
**
** Sorting looks at eight bytes of each normalized key, those after the bytes
** that all keys begin with: a radix sort by those bits that differ at all.
** Stretches that are still equal are sorted likewise by what follows, short
** ones by merging.  Entries lie anywhere in memory, so whoever walks through
** them in key order asks for those some steps ahead.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MIN_RADIX   256     /* Fewer entries are sorted by merging alone */
#define HP_MX_DEPTH    40      /* Levels of sorting by eight bytes each */
#define HP_RADIX_DIGIT 11      /* Bits of a digit: 2,048 counters, ... */
#define HP_RADIX_WIDE  2048    /* ... if there are so many entries; else 8 */
#define HP_RADIX_TOP   3       /* So many digits tell most entries apart */
#define HP_RADIX_FEW   16      /* So many are put in order one by one */

/*
** Compare the normalized keys of two groups.  Of rows
** with equal ones, and no row is compared with itself, the one scanned first
** comes first.
*/
static SQLITE_INLINE int hpRadixCompare(
  const HpEntryPlan *pPlan,
  const u8 *aA,
  const u8 *aB
){
  const HpHead *a, *b;
  u32 n;
  int c;
  if( pPlan->bWhole ){
    u32 nA, nB;
    const u8 *zA = hpEntryKey(pPlan, aA, &nA);
    const u8 *zB = hpEntryKey(pPlan, aB, &nB);
    c = memcmp(zA, zB, MIN(nA, nB));
    /* Equal ones are of a damaged table */
    return c ? c : aA<aB ? -1 : 1;
  }
  a = hpEntryHead(pPlan, aA);
  b = hpEntryHead(pPlan, aB);
  n = MIN(a->nNorm, b->nNorm);
  if( pPlan->bIntKey && (a->z==0 || b->z==0) ){
    u8 aBuf[2*HP_SZ_NUMBER];
    const u8 *zA, *zB;
    u32 nA, nB;
    if( a->z==b->z ){
      i64 x = (i64)hpEntryPack(aA)->a;
      i64 y = (i64)hpEntryPack(aB)->a;
      c = x<y ? -1 : x>y;
      return (pPlan->eSort & KEYINFO_ORDER_DESC) ? -c : c;
    }
    zA = hpHeldKey(pPlan, aA, aBuf, &nA);
    zB = hpHeldKey(pPlan, aB, &aBuf[HP_SZ_NUMBER], &nB);
    return memcmp(zA, zB, MIN(nA, nB));
  }
  /* No normalized key is the beginning of another */
  c = n ? memcmp(a->z, b->z, n) : 0;
  assert( !pPlan->bRows || c || a->iPos!=b->iPos );
  if( c==0 && pPlan->bRows ) c = a->iPos<b->iPos ? -1 : 1;
  return c;
}

/*
** Sort a[0..n-1] with scratch aTmp.  LESS(X,Y) is true if *X may stand before *Y.
** A merge sort, which takes what is in order already as it is.
*/
#define HP_RADIX_MERGE(A,TMP,N,LESS) { \
  struct HpSorted *aFrom = A; \
  struct HpSorted *aTo = TMP; \
  u32 nRun, i; \
  for(nRun=1; nRun<N; nRun*=2){ \
    struct HpSorted *aSwap = aFrom; \
    for(i=0; i<N; i+=2*nRun){ \
      u32 x = i, y = MIN(i+nRun, N), k = i; \
      u32 mxX = y, mxY = MIN(y+nRun, N); \
      if( y<mxY && !LESS(&aFrom[y-1], &aFrom[y]) ){ \
        while( x<mxX && y<mxY ){ \
          aTo[k++] = LESS(&aFrom[x], &aFrom[y]) ? aFrom[x++] : aFrom[y++]; \
        } \
      } \
      while( x<mxX ) aTo[k++] = aFrom[x++]; \
      while( y<mxY ) aTo[k++] = aFrom[y++]; \
    } \
    aFrom = aTo; \
    aTo = aSwap; \
  } \
  if( aFrom!=A ) memcpy(A, aFrom, sizeof(*aFrom)*(size_t)(N)); \
}

/*
** Sort a[0..n-1] by prefix and normalized key, with scratch aTmp.
*/
static void hpRadixMerge(
  const HpEntryPlan *pPlan,
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n
){
#define hpSortedLess(X,Y) ((X)->prefix!=(Y)->prefix ? (X)->prefix<(Y)->prefix \
                           : hpRadixCompare(pPlan, (X)->aEntry, (Y)->aEntry)<=0)
  HP_RADIX_MERGE(a, aTmp, n, hpSortedLess)
#undef hpSortedLess
}

#ifdef SQLITE_DEBUG
/* Do the prefixes of a[0..n-1] increase, or stay the same? */
static int hpRadixIsByPrefix(const struct HpSorted *a, u32 n){
  u32 i;
  for(i=1; i<n && a[i-1].prefix<=a[i].prefix; i++){}
  return i>=n;
}
#endif

/* Sort a few of a[0..n-1] by prefix alone, with scratch aTmp */
static void hpRadixFew(struct HpSorted *a, struct HpSorted *aTmp, u32 n){
#define hpPrefixLess(X,Y) ((X)->prefix<=(Y)->prefix)
  if( n>HP_RADIX_FEW ){
    HP_RADIX_MERGE(a, aTmp, n, hpPrefixLess)
  }else{
    u32 i;
    for(i=1; i<n; i++){
      struct HpSorted x = a[i];
      u32 k = i;
      for(; k>0 && a[k-1].prefix>x.prefix; k--) a[k] = a[k-1];
      a[k] = x;
    }
  }
#undef hpPrefixLess
  assert( hpRadixIsByPrefix(a, n) );
}

/* The number of bits of x */
static int hpRadixBits(u64 x){
  int n = 0;
  for(; x>=256; x>>=8) n += 8;
  for(; x; x>>=1) n++;
  return n;
}

/*
** Sort a[0..n-1] by nBit bits of what its prefixes are larger than iMin, from
** bit iFirst on, with scratch aTmp.  One pass for each digit, from the last one
** on.
*/
static void hpRadixDigits(
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n,
  u64 iMin,
  int iFirst,
  int nBit
){
  int mxDigit = n>=HP_RADIX_WIDE ? HP_RADIX_DIGIT : 8;
  int nPass = (nBit+mxDigit-1)/mxDigit;
  int nDigit = (nBit+nPass-1)/nPass;
  u32 mask = ((u32)1<<nDigit)-1;
  struct HpSorted *aFrom = a;
  struct HpSorted *aTo = aTmp;
  int shift;
  u32 i;
  assert( nBit>0 && iFirst+nBit<=64 && nDigit<=HP_RADIX_DIGIT );
  for(shift=iFirst; shift<iFirst+nBit; shift+=nDigit){
    u32 aStart[(1<<HP_RADIX_DIGIT)+1];
    struct HpSorted *aSwap = aFrom;
    memset(aStart, 0, sizeof(u32)*((size_t)mask+2));
    for(i=0; i<n; i++) aStart[(((aFrom[i].prefix-iMin)>>shift) & mask)+1]++;
    for(i=1; i<=mask; i++) aStart[i] += aStart[i-1];
    for(i=0; i<n; i++){
      aTo[aStart[((aFrom[i].prefix-iMin)>>shift) & mask]++] = aFrom[i];
    }
    aFrom = aTo;
    aTo = aSwap;
  }
  if( aFrom!=a ) memcpy(a, aFrom, sizeof(*a)*(size_t)n);
}

/*
** Sort a[0..n-1] by prefix, with scratch aTmp.  mDiff has the bits in which
** prefixes differ.
**
** Of what they are larger than the least one only some bits matter: those from
** the first that is in mDiff to the last one of the largest.  If these are
** many, as those of texts, three digits tell most of them apart, and the few
** that agree in these are sorted behind that.
*/
static void hpRadixPass(
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n,
  u64 mDiff
){
  u64 iMin, iMax;
  u32 i, j;
  int iFirst, nBit, nTop;
  if( mDiff==0 || n<2 ) return;
  iMin = iMax = a[0].prefix;
  for(i=1; i<n; i++){
    iMin = MIN(iMin, a[i].prefix);
    iMax = MAX(iMax, a[i].prefix);
  }
  for(iFirst=0; ((mDiff>>iFirst) & 1)==0; iFirst++){}
  nBit = hpRadixBits((iMax-iMin)>>iFirst);
  assert( iMin<iMax && nBit>0 );
  nTop = HP_RADIX_TOP*(n>=HP_RADIX_WIDE ? HP_RADIX_DIGIT : 8);
  if( nBit<=nTop ){
    hpRadixDigits(a, aTmp, n, iMin, iFirst, nBit);
  }else{
    int shift = iFirst+nBit-nTop;
    hpRadixDigits(a, aTmp, n, iMin, shift, nTop);
    for(i=0; i<n; i=j){
      u64 x = (a[i].prefix-iMin)>>shift;
      for(j=i+1; j<n && (a[j].prefix-iMin)>>shift==x; j++){}
      if( j-i<HP_MIN_RADIX ){
        if( j-i>1 ) hpRadixFew(&a[i], aTmp, j-i);
      }else{
        hpRadixDigits(&a[i], aTmp, j-i, iMin, iFirst, shift-iFirst);
      }
    }
  }
  assert( hpRadixIsByPrefix(a, n) );
}

/*
** Ask for a group that is needed soon (iStep 0), and somewhat later for its key
** (iStep 1).
*/
static SQLITE_INLINE void hpRadixAhead(
  const HpEntryPlan *pPlan,
  const u8 *aEntry,
  int iStep
){
  const HpHead *pHead = hpEntryHead(pPlan, aEntry);
  if( iStep==0 ){
    hpPrefetch(aEntry);
    hpPrefetch(pHead);
  }else if( pPlan->bWhole ){
    hpPrefetch(aEntry+64);
  }else{
    hpPrefetch(pHead->z);
    hpPrefetch(pHead->z+64);
  }
}
#define HP_AHEAD_ENTRY  24     /* Steps from asking for a group to its use */
#define HP_AHEAD_KEY    12     /* The same for its key */
#define hpRadixPrefetch(PLAN,A,I,N) \
  if( (I)+HP_AHEAD_ENTRY<(N) ){ \
    hpRadixAhead(PLAN, (A)[(I)+HP_AHEAD_ENTRY].aEntry, 0); \
    hpRadixAhead(PLAN, (A)[(I)+HP_AHEAD_KEY].aEntry, 1); \
  }

static int hpRadixLevel(const HpRuns*,struct HpSorted*,struct HpSorted*,u32,u32,int);

/*
** Sort a[0..n-1], whose normalized keys agree in their first nSame bytes, with
** scratch aTmp.  nDepth is how often hpRadixLevel() may be called in turn.
*/
static int hpRadixFrom(
  const HpRuns *pRuns,
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n,
  u32 nSame,
  int nDepth
){
  const HpEntryPlan *pPlan = pRuns->pPlan;
  u64 mDiff = 0;
  int bSorted = 1;
  const u8 *z;
  u32 i, j, nKey;
  int rc = SQLITE_OK;

  assert( n>0 && nDepth>=0 );
  hpEntryKey(pPlan, a[0].aEntry, &nKey);
  assert( nSame<=nKey );
  /* Rows of equal keys are in scan order, and stay so */
  if( nSame==nKey ) return SQLITE_OK;
  for(i=0; i<n; i++){
    hpRadixPrefetch(pPlan, a, i, n)
    z = hpEntryKey(pPlan, a[i].aEntry, &nKey);
    assert( nKey>=nSame );
    if( nKey-nSame>=8 ){
      a[i].prefix = hpLoad8(&z[nSame]);
    }else{
      u8 aByte[8];
      memset(aByte, 0, sizeof(aByte));
      for(j=nSame; j<nKey; j++) aByte[j-nSame] = z[j];
      a[i].prefix = hpLoad8(aByte);
    }
    mDiff |= a[i].prefix ^ a[0].prefix;
    if( i>0 && a[i].prefix<=a[i-1].prefix ) bSorted = 0;
  }
  if( bSorted ) return SQLITE_OK;
  if( n<HP_MIN_RADIX || nDepth==0 ){
    hpRadixMerge(pPlan, a, aTmp, n);
    return SQLITE_OK;
  }
  hpRadixPass(a, aTmp, n, mDiff);
  for(i=0; i<n && rc==SQLITE_OK; i=j){
    for(j=i+1; j<n && a[j].prefix==a[i].prefix; j++){}
    if( j-i>1 ) rc = hpRadixLevel(pRuns, &a[i], aTmp, j-i, nSame+8, nDepth-1);
    if( rc==SQLITE_OK && j-i>HP_POLL && pRuns->pWorker ){
      rc = hpThreadStopped(pRuns->pWorker->pPipe);
    }
  }
  return rc;
}

/*
** The same where they agree in their first iFrom bytes at least.
*/
static int hpRadixLevel(
  const HpRuns *pRuns,
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n,
  u32 iFrom,
  int nDepth
){
  const HpEntryPlan *pPlan = pRuns->pPlan;
  u32 nSame;             /* Bytes that all keys begin with */
  const u8 *zFirst = hpEntryKey(pPlan, a[0].aEntry, &nSame);
  u32 i, j;

  for(i=0; i<n && nSame>iFrom; i++){
    const u8 *z;
    u32 nMax;
    hpRadixPrefetch(pPlan, a, i, n)
    z = hpEntryKey(pPlan, a[i].aEntry, &nMax);
    nMax = MIN(nSame, nMax);
    for(j=iFrom; j<nMax && z[j]==zFirst[j]; j++){}
    nSame = j;
  }
  return hpRadixFrom(pRuns, a, aTmp, n, nSame, nDepth);
}

/*
** Sort groups a[0..n-1], the keys of which are integers in their packs, with
** scratch aTmp.
*/
static void hpRadixInts(
  const HpEntryPlan *pPlan,
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n
){
  /* Turned so that they sort as unsigned numbers */
  u64 mask = (pPlan->eSort & KEYINFO_ORDER_DESC)
                 ? (u64)LARGEST_INT64 : (u64)1<<63;
  u64 mDiff = 0;
  u32 i;
  for(i=0; i<n; i++){
    if( i+HP_AHEAD_ENTRY<n ) hpPrefetch(a[i+HP_AHEAD_ENTRY].aEntry);
    assert( hpEntryIsInt(pPlan, a[i].aEntry) );
    a[i].prefix = hpEntryPack(a[i].aEntry)->a ^ mask;
    mDiff |= a[i].prefix ^ a[0].prefix;
  }
  if( n<HP_MIN_RADIX ){
    hpRadixMerge(pPlan, a, aTmp, n);
  }else{
    hpRadixPass(a, aTmp, n, mDiff);
  }
}

/*
** Give key records to those of groups a[0..n-1] that have an integer in their pack instead.
*/
static int hpRadixRecords(HpRuns *pRuns, struct HpSorted *a, u32 n){
  u32 i;
  for(i=0; i<n; i++){
    u8 *aEntry = a[i].aEntry;
    HpHead *pHead = hpEntryHead(pRuns->pPlan, aEntry);
    u8 *z;
    if( pHead->z ) continue;
    assert( hpEntryPack(aEntry)->b==HP_PACK_INT );
    z = hpArenaAlloc(&pRuns->arena, HP_SZ_NUMBER+1);
    if( z==0 ) return HP_DECLINE;
    hpHeldKey(pRuns->pPlan, aEntry, z, &pHead->nNorm);
    z[pHead->nNorm] = HP_INT;
    pHead->nRec = pHead->nNorm+1;
    pHead->z = z;
  }
  return SQLITE_OK;
}

/*
** Put groups a[0..n-1] in key order, with n more entries of a as scratch.  Records are made in the
** memory of pRuns, whose thread this is.  bRecord: some have key records.
*/
static int hpRadixSort(HpRuns *pRuns, struct HpSorted *a, u32 n, int bRecord){
  if( pRuns->pPlan->bIntKey ){
    if( !bRecord ){
      hpRadixInts(pRuns->pPlan, a, &a[n], n);
      return SQLITE_OK;
    }
    if( hpRadixRecords(pRuns, a, n) ) return HP_DECLINE;
  }
  return hpRadixLevel(pRuns, a, &a[n], n, 0, HP_MX_DEPTH);
}

/*
** The same for pairs, whose keys agree in their first nSame bytes.
*/
static int hpRadixPairs(HpRuns *pRuns, struct HpSorted *a, u32 n, u32 nSame){
  assert( pRuns->pPlan->bWhole && n>0 );
  return hpRadixFrom(pRuns, a, &a[n], n, nSame, HP_MX_DEPTH);
}

/* The groups of a worker in key order: number i of them */
static u8 *hpRadixAt(const HpRuns *pRuns, u32 i){
  assert( i<pRuns->nEntry );
  return pRuns->bOrdered ? hpHeldAt(pRuns, i) : pRuns->aSorted[i].aEntry;
}

#ifdef SQLITE_DEBUG
/* Are the groups of pRuns in key order? */
static int hpRadixIsSorted(const HpRuns *pRuns){
  u32 i;
  for(i=1; i<pRuns->nEntry; i++){
    const u8 *a = hpRadixAt(pRuns, i-1);
    if( hpRadixCompare(pRuns->pPlan, a, hpRadixAt(pRuns, i))>=0 ) return 0;
  }
  return 1;
}
#endif

/*
** Put the groups or rows of a worker in key order: pRuns->aSorted.
*/
static int hpRadixHeld(HpRuns *pRuns){
  const HpEntryPlan *pPlan = pRuns->pPlan;
  u32 n = pRuns->nEntry;
  struct HpSorted *a;
  u32 i;
  int rc;

  assert( n==0 || !pRuns->bOrdered || hpRadixIsSorted(pRuns) );
  if( n==0 || pRuns->bOrdered ) return SQLITE_OK;
  if( pPlan->bRows ){
    /* The rows are in there */
    a = sqlite3_realloc64(pRuns->aSorted, 2*sizeof(*a)*(u64)n);
    if( a==0 ) return HP_DECLINE;
    pRuns->aSorted = a;
    pRuns->nSortedAlloc = 2*n;
    rc = hpRadixLevel(pRuns, a, &a[n], n, 0, HP_MX_DEPTH);
    assert( rc || hpRadixIsSorted(pRuns) );
    return rc;
  }
  if( pRuns->nSortedAlloc<2*n ){
    sqlite3_free(pRuns->aSorted);
    pRuns->nSortedAlloc = 0;
    pRuns->aSorted = hpArenaMalloc(2*(i64)sizeof(*a)*n);
    if( pRuns->aSorted==0 ) return HP_DECLINE;
    pRuns->nSortedAlloc = 2*n;
  }
  a = pRuns->aSorted;
  for(i=0; i<n; i++) a[i].aEntry = hpHeldAt(pRuns, i);
  if( pPlan->bIntKey ){
    rc = hpRadixSort(pRuns, a, n, pRuns->bRecord);
  }else{
    rc = hpRadixFrom(pRuns, a, &a[n], n, pRuns->nSame, HP_MX_DEPTH);
  }
  assert( rc || hpRadixIsSorted(pRuns) );
  return rc;
}
#endif /* SQLITE_OMIT_HP */
