/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_merge: the groups of all workers, in key order.
**
**    hpSortGroups()    put a worker's groups in key order (in its thread)
**    hpSpillGroups()   write them to a file and forget them (likewise)
**    hpSortRun()       HP_SINK_SORT: a sorted run of a worker's rows so far
**    hpSpillRuns()     HP_SINK_SORT: write these runs to a file as one
**    hpMergeOpen()     when all workers are done: ready to deliver
**    hpMergeNext()     the next group
**    hpMergeClose()    free everything
**
** A sorted run is a sequence of groups whose normalized keys increase: what a
** worker has in memory in the end, and whatever it had to write to its
** temporary file before, because of its share of hp_memory.  The answer is the
** merge of all runs, in which groups of equal keys become one
** (hpGroupMerge).  This gives key order, puts the workers' parts together, and
** bounds memory, all by one mechanism: each spilled group is written once and
** read once.
**
** Sorting looks at eight bytes of each normalized key, those after the bytes
** that all keys begin with: a radix sort by those bytes that differ at all.
** Stretches that are still equal are sorted likewise by what follows, short
** ones by merging.  Groups lie anywhere in memory, so whoever walks through them
** in key order asks for those some steps ahead.
**
** Rows to be sorted (HP_SINK_SORT) are many, and each is touched for every step.
** So they are put in order while still in the processor's cache, a megabyte at
** a time, and copied to a run in memory that has the form of the file.  The runs
** are read from beginning to end when they are merged: all at once in the end,
** or before that those of one worker, to be written to its file.
**
** Without spilled runs the merge is done in hpMergeOpen(), so that there is
** still a way back if parts of a group cannot be added up (HP_SERIAL).  Many
** groups are merged in several parts, each a range of keys that it finds in all
** runs, and workers take one part after the other.  With spilled runs groups are
** merged as they are delivered.  Then such doubts have to be ruled out before:
** hpSpillSigns() looks at each part when it is sorted.
**
** A record in the file is
**
**    u64       bytes of the record, a multiple of 8
**    group     HpPlan.szGroup bytes.  Pointers in it mean nothing
**    entries   of aggregates with ORDER BY inside (hp_order.c)
**    key       the key record, HpHead.nRec bytes
**    texts     of the best values and bare columns, in their order
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MIN_RADIX   256     /* Fewer entries are sorted by merging alone */
#define HP_MX_DEPTH    40      /* Levels of sorting by eight bytes each */
#define HP_SPILL_BUF   (128*1024)    /* Bytes held before they are written */
#define HP_SPILL_IO    (64*1024)     /* Bytes written or read at once: the unix
                                     ** VFS does not expect 128 KiB or more */
#define HP_MX_RUN      2000    /* Most sorted runs of a scan */
#define HP_POLL        65536   /* Groups between looks at the interrupt flag */
#define HP_MIN_PART    8192    /* Fewer groups are not merged in parts */

/* The temporary file of a worker */
struct HpSpill {
  sqlite3_file *pFd;
  i64 nByte;             /* Bytes written */
  u64 mxRecord;          /* Bytes of the largest record */
  int nRun;              /* Sorted runs in the file */
  int nRunAlloc;
  i64 *aEnd;             /* Where each run ends */
};

/* Reads a sorted run */
typedef struct HpRunReader HpRunReader;
struct HpRunReader {
  u8 *aGroup;            /* The current group, or NULL at the end */
  u64 prefix;            /* HP_SINK_SORT: first bytes of its key */
  const HpAgg *pAgg;     /* In memory: whose groups, ... */
  u32 iNext, n;          /* ... the next one, and where to stop */
  sqlite3_file *pFd;     /* In a file: which (NULL: aBuf has all of it), ... */
  i64 iOfst, iEnd;       /* ... what is still to be read, ... */
  u8 *aBuf;              /* ... bytes read before, ... */
  u32 iBuf, nBuf, nAlloc;    /* ... place in them, number, size of aBuf */
};

struct HpMerge {
  int nReader;
  HpRunReader *aReader;
  int nHeap;             /* Readers that are not at their end */
  HpRunReader **apHeap;  /* The one with the smallest key first */
  HpRunReader **apUsed;  /* Those whose groups were delivered last */
  int nUsed;
  u8 **apGroup;          /* Without a file: all groups, merged */
  u32 nGroup, iGroup;    /* Their number, and the next one */
  u64 nIn;               /* Groups of all readers */
  u32 iAhead;            /* Up to here hpOrderAhead() has looked */
  HpCount count;         /* HpPlan.pPart: numbers of rows */
};

/*
** Compare the normalized keys of two groups.  Those of HP_SINK_SORT are rows:
** of equal ones, and no row is compared with itself, the one scanned first
** comes first.
*/
static SQLITE_INLINE int hpGroupCompare(
  const HpPlan *pPlan,
  const u8 *aA,
  const u8 *aB
){
  const HpHead *a = hpGroupHead(pPlan, aA);
  const HpHead *b = hpGroupHead(pPlan, aB);
  u32 n = MIN(a->nNorm, b->nNorm);
  int c;
  if( pPlan->bIntKey && (a->z==0 || b->z==0) ){
    u8 aBuf[2*HP_SZ_NUMBER];
    const u8 *zA, *zB;
    u32 nA, nB;
    if( a->z==b->z ){
      i64 x = (i64)hpGroupPack(aA)->a;
      i64 y = (i64)hpGroupPack(aB)->a;
      c = x<y ? -1 : x>y;
      return (pPlan->aKeySort[0] & KEYINFO_ORDER_DESC) ? -c : c;
    }
    zA = hpGroupKey(pPlan, aA, aBuf, &nA);
    zB = hpGroupKey(pPlan, aB, &aBuf[HP_SZ_NUMBER], &nB);
    return memcmp(zA, zB, MIN(nA, nB));
  }
  /* No normalized key is the beginning of another */
  c = n ? memcmp(a->z, b->z, n) : 0;
  if( c==0 && pPlan->eSink==HP_SINK_SORT ) c = a->iPos<b->iPos ? -1 : 1;
  return c;
}

/*
** Sort a[0..n-1] with scratch aTmp.  LESS(X,Y) is true if *X may stand before *Y.
** A merge sort, which takes what is in order already as it is.
*/
#define HP_SORT_MERGE(A,TMP,N,LESS) { \
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
static void hpSortMerge(
  const HpPlan *pPlan,
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n
){
#define hpSortedLess(X,Y) ((X)->prefix!=(Y)->prefix ? (X)->prefix<(Y)->prefix \
                           : hpGroupCompare(pPlan, (X)->aGroup, (Y)->aGroup)<=0)
  HP_SORT_MERGE(a, aTmp, n, hpSortedLess)
#undef hpSortedLess
}

/*
** Sort a[0..n-1] by the bytes of the prefix that mDiff has bits in, with
** scratch aTmp.
*/
static void hpSortRadix(
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n,
  u64 mDiff
){
  struct HpSorted *aFrom = a;
  struct HpSorted *aTo = aTmp;
  u32 i;
  int shift;
  for(shift=0; shift<64; shift+=8){
    u32 aStart[257];
    struct HpSorted *aSwap = aFrom;
    if( ((mDiff>>shift) & 0xff)==0 ) continue;
    memset(aStart, 0, sizeof(aStart));
    for(i=0; i<n; i++) aStart[((aFrom[i].prefix>>shift) & 0xff)+1]++;
    for(i=1; i<256; i++) aStart[i] += aStart[i-1];
    for(i=0; i<n; i++){
      aTo[aStart[(aFrom[i].prefix>>shift) & 0xff]++] = aFrom[i];
    }
    aFrom = aTo;
    aTo = aSwap;
  }
  if( aFrom!=a ) memcpy(a, aFrom, sizeof(*a)*(size_t)n);
}

/*
** Ask for a group that is needed soon (iStep 0), and somewhat later for its key
** (iStep 1).
*/
static SQLITE_INLINE void hpSortAhead(
  const HpPlan *pPlan,
  const u8 *aGroup,
  int iStep
){
  const HpHead *pHead = hpGroupHead(pPlan, aGroup);
  if( iStep==0 ){
    hpPrefetch(aGroup);
    hpPrefetch(pHead);
  }else{
    hpPrefetch(pHead->z);
    hpPrefetch(pHead->z+64);
  }
}
#define HP_AHEAD_GROUP  24     /* Steps from asking for a group to its use */
#define HP_AHEAD_KEY    12     /* The same for its key */
#define hpSortPrefetch(PLAN,A,I,N) \
  if( (I)+HP_AHEAD_GROUP<(N) ){ \
    hpSortAhead(PLAN, (A)[(I)+HP_AHEAD_GROUP].aGroup, 0); \
    hpSortAhead(PLAN, (A)[(I)+HP_AHEAD_KEY].aGroup, 1); \
  }

static int hpSortLevel(HpExec*,struct HpSorted*,struct HpSorted*,u32,u32,int);

/*
** Sort a[0..n-1], whose normalized keys agree in their first nSame bytes, with
** scratch aTmp.  nDepth is how often hpSortLevel() may be called in turn.
*/
static int hpSortFrom(
  HpExec *p,
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n,
  u32 nSame,
  int nDepth
){
  const HpPlan *pPlan = p->pPlan;
  u64 mDiff = 0;
  int bSorted = 1;
  u32 i, j;
  int rc = SQLITE_OK;

  /* Rows of equal keys are in scan order, and stay so */
  if( nSame==hpGroupHead(pPlan, a[0].aGroup)->nNorm ) return SQLITE_OK;
  for(i=0; i<n; i++){
    const HpHead *pHead;
    hpSortPrefetch(pPlan, a, i, n)
    pHead = hpGroupHead(pPlan, a[i].aGroup);
    if( pHead->nNorm-nSame>=8 ){
      a[i].prefix = hpLoad8(&pHead->z[nSame]);
    }else{
      u8 aByte[8];
      memset(aByte, 0, sizeof(aByte));
      for(j=nSame; j<pHead->nNorm; j++) aByte[j-nSame] = pHead->z[j];
      a[i].prefix = hpLoad8(aByte);
    }
    mDiff |= a[i].prefix ^ a[0].prefix;
    if( i>0 && a[i].prefix<=a[i-1].prefix ) bSorted = 0;
  }
  if( bSorted ) return SQLITE_OK;
  if( n<HP_MIN_RADIX || nDepth==0 ){
    hpSortMerge(pPlan, a, aTmp, n);
    return SQLITE_OK;
  }
  hpSortRadix(a, aTmp, n, mDiff);
  for(i=0; i<n && rc==SQLITE_OK; i=j){
    for(j=i+1; j<n && a[j].prefix==a[i].prefix; j++){}
    if( j-i>1 ) rc = hpSortLevel(p, &a[i], aTmp, j-i, nSame+8, nDepth-1);
    if( rc==SQLITE_OK && j-i>HP_POLL ) rc = hpScanStopped(p->pScan);
  }
  return rc;
}

/*
** The same where they agree in their first iFrom bytes at least.
*/
static int hpSortLevel(
  HpExec *p,
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n,
  u32 iFrom,
  int nDepth
){
  const HpPlan *pPlan = p->pPlan;
  const HpHead *pFirst = hpGroupHead(pPlan, a[0].aGroup);
  u32 nSame = pFirst->nNorm;       /* Bytes that all keys begin with */
  u32 i, j;

  for(i=0; i<n && nSame>iFrom; i++){
    const HpHead *pHead;
    u32 nMax;
    hpSortPrefetch(pPlan, a, i, n)
    pHead = hpGroupHead(pPlan, a[i].aGroup);
    nMax = MIN(nSame, pHead->nNorm);
    for(j=iFrom; j<nMax && pHead->z[j]==pFirst->z[j]; j++){}
    nSame = j;
  }
  return hpSortFrom(p, a, aTmp, n, nSame, nDepth);
}

/*
** Sort groups a[0..n-1], the keys of which are integers in their packs, with
** scratch aTmp.
*/
static void hpSortInts(
  const HpPlan *pPlan,
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n
){
  /* Turned so that they sort as unsigned numbers */
  u64 mask = (pPlan->aKeySort[0] & KEYINFO_ORDER_DESC)
                 ? (u64)LARGEST_INT64 : (u64)1<<63;
  u64 mDiff = 0;
  u32 i;
  for(i=0; i<n; i++){
    if( i+HP_AHEAD_GROUP<n ) hpPrefetch(a[i+HP_AHEAD_GROUP].aGroup);
    a[i].prefix = hpGroupPack(a[i].aGroup)->a ^ mask;
    mDiff |= a[i].prefix ^ a[0].prefix;
  }
  if( n<HP_MIN_RADIX ){
    hpSortMerge(pPlan, a, aTmp, n);
  }else{
    hpSortRadix(a, aTmp, n, mDiff);
  }
}

/*
** Give key records to those groups of pAgg that have an integer in their pack
** instead.
*/
static int hpSortRecords(HpAgg *pAgg){
  u32 i;
  for(i=0; i<pAgg->nGroup; i++){
    u8 *aGroup = hpAggGroup(pAgg, i);
    HpHead *pHead = hpGroupHead(pAgg->pPlan, aGroup);
    u8 *z;
    if( pHead->z ) continue;
    z = hpArenaAlloc(&pAgg->arena, HP_SZ_NUMBER+1);
    if( z==0 ) return HP_DECLINE;
    hpGroupKey(pAgg->pPlan, aGroup, z, &pHead->nNorm);
    z[pHead->nNorm] = HP_INT;
    pHead->nRec = pHead->nNorm+1;
    pHead->z = z;
  }
  return SQLITE_OK;
}

/*
** Put the groups of worker p in key order: pAgg->aSorted.
*/
static int hpSortGroups(HpExec *p){
  HpAgg *pAgg = p->pAgg;
  u32 n = pAgg->nGroup;
  struct HpSorted *a;
  u32 i;

  if( n==0 || pAgg->bOrdered ) return SQLITE_OK;
  if( p->pPlan->eSink==HP_SINK_SORT ){
    /* The rows are in there */
    a = sqlite3_realloc64(pAgg->aSorted, 2*sizeof(*a)*(u64)n);
    if( a==0 ) return HP_DECLINE;
    pAgg->aSorted = a;
    pAgg->nSortedAlloc = 2*n;
    return hpSortLevel(p, a, &a[n], n, 0, HP_MX_DEPTH);
  }
  if( pAgg->nSortedAlloc<2*n ){
    sqlite3_free(pAgg->aSorted);
    pAgg->nSortedAlloc = 0;
    pAgg->aSorted = hpMalloc(2*(i64)sizeof(*a)*n);
    if( pAgg->aSorted==0 ) return HP_DECLINE;
    pAgg->nSortedAlloc = 2*n;
  }
  a = pAgg->aSorted;
  for(i=0; i<n; i++) a[i].aGroup = hpAggGroup(pAgg, i);
  if( p->pPlan->bIntKey ){
    if( pAgg->bRecord==0 ){
      hpSortInts(p->pPlan, a, &a[n], n);
      return SQLITE_OK;
    }
    if( hpSortRecords(pAgg) ) return HP_DECLINE;
    return hpSortLevel(p, a, &a[n], n, 0, HP_MX_DEPTH);
  }
  return hpSortFrom(p, a, &a[n], n, pAgg->nSame, HP_MX_DEPTH);
}

/* The groups of a worker in key order: number i of them */
static u8 *hpSortedGroup(const HpAgg *pAgg, u32 i){
  return pAgg->bOrdered ? hpAggGroup(pAgg, i) : pAgg->aSorted[i].aGroup;
}

/* Texts of a group: call XXX(copy) for each HpCopy */
#define HP_EACH_COPY(PLAN,G,XXX) { \
  int k_; \
  for(k_=0; k_<(PLAN)->nAgg; k_++){ \
    const HpAggDef *pDef_ = &(PLAN)->aAgg[k_]; \
    if( pDef_->eAgg==HP_AGG_MIN || pDef_->eAgg==HP_AGG_MAX ){ \
      XXX(&((HpBest*)hpGroupState(pDef_, G))->copy) \
    } \
  } \
  for(k_=0; k_<(PLAN)->nBare; k_++){ \
    if( (PLAN)->aBare[k_].iKey<0 ) XXX(hpGroupBare(&(PLAN)->aBare[k_], G)) \
  } \
}

/*
** Append the record of a group to pBuf.
*/
static int hpSpillRecord(const HpPlan *pPlan, const u8 *aGroup, HpBuf *pBuf){
  const HpHead *pHead = hpGroupHead(pPlan, aGroup);
  u64 n = 8 + pPlan->szGroup + pHead->nRec;
  u8 *a, *aBase;
#define HP_TEXT_SIZE(C) { \
    const HpCopy *c_ = (C); \
    if( c_->tag & HP_STR ) n += c_->n; \
  }
  HP_EACH_COPY(pPlan, aGroup, HP_TEXT_SIZE)
#undef HP_TEXT_SIZE
  if( pPlan->nOrder ) n += hpOrderSize(pPlan, aGroup);
  n = ROUND8(n);
  if( n>SQLITE_MAX_LENGTH || hpBufRoom(pBuf, (u32)n) ) return HP_DECLINE;
  a = &pBuf->a[pBuf->n];
  pBuf->n += (u32)n;
  memset(&a[n-8], 0, 8);
  memcpy(a, &n, 8);
  aBase = &a[8];
  memcpy(aBase, aGroup, pPlan->szGroup);
  a = &aBase[pPlan->szGroup];
  if( pPlan->nOrder ) a = hpOrderWrite(pPlan, aGroup, a, aBase);
  if( pHead->nRec ) memcpy(a, pHead->z, pHead->nRec);
  a += pHead->nRec;
#define HP_TEXT_COPY(C) { \
    const HpCopy *c_ = (C); \
    if( (c_->tag & HP_STR) && c_->n ){ \
      memcpy(a, c_->val.z, c_->n); \
      a += c_->n; \
    } \
  }
  HP_EACH_COPY(pPlan, aGroup, HP_TEXT_COPY)
#undef HP_TEXT_COPY
  return SQLITE_OK;
}

/*
** Set the pointers of a group that was read from a file.
*/
static void hpSpillPointers(const HpPlan *pPlan, u8 *aGroup){
  HpHead *pHead = hpGroupHead(pPlan, aGroup);
  u8 *a = &aGroup[pPlan->szGroup];
  if( pPlan->nOrder ) a = hpOrderPointers(pPlan, aGroup, a);
  pHead->z = pHead->nRec ? a : 0;
  a += pHead->nRec;
#define HP_TEXT_POINT(C) { \
    HpCopy *c_ = (C); \
    if( c_->tag & HP_STR ){ \
      c_->val.z = a; \
      a += c_->n; \
    } \
  }
  HP_EACH_COPY(pPlan, aGroup, HP_TEXT_POINT)
#undef HP_TEXT_POINT
}

/*
** Note in pAgg->aSign what hpMergeDoubt() has to know of the groups of p.
*/
static void hpSpillSigns(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  HpAgg *pAgg = p->pAgg;
  u32 i;
  int k;
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    struct HpSign *pSign = &pAgg->aSign[k];
    if( pDef->eAgg!=HP_AGG_SUM || pDef->bShared ) continue;
    for(i=0; i<pAgg->nGroup; i++){
      const HpSum *pSum = hpGroupState(pDef, hpAggGroup(pAgg, i));
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
         || !(pSum->mx<=r*(1<<20))
        ){
          pSign->bOdd = 1;
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
** May some sums, once merged, not be what one worker would have found?  Then
** return HP_DECLINE: when groups are delivered it will be too late.
**
** Integers are safe if even the sum of all sizes of all rows has 63 bits, reals
** if all parts are sound and none has another sign than another.
*/
static int hpMergeDoubt(const HpScan *p){
  const HpPlan *pPlan = p->pPlan;
  int k, i;
  for(k=0; k<pPlan->nAgg; k++){
    struct HpSign all;
    if( pPlan->aAgg[k].eAgg!=HP_AGG_SUM || pPlan->aAgg[k].bShared ) continue;
    memset(&all, 0, sizeof(all));
    for(i=0; i<p->nWorker; i++){
      const struct HpSign *pSign = &p->apWorker[i]->pAgg->aSign[k];
      all.mAbs |= pSign->mAbs;
      all.bReal |= pSign->bReal;
      all.bMinus |= pSign->bMinus;
      all.bPlus |= pSign->bPlus;
      all.bOdd |= pSign->bOdd;
    }
    if( all.bOdd || (all.bReal && all.bMinus && all.bPlus) ) return HP_DECLINE;
    if( hpBits(all.mAbs)+hpBits(p->nScanned)>63 ) return HP_DECLINE;
  }
  return SQLITE_OK;
}

/*
** Write the bytes of pBuf to the end of the file, and empty it.
*/
static int hpSpillWrite(struct HpSpill *pSpill, HpBuf *pBuf){
  int rc = SQLITE_OK;
  u32 i;
  for(i=0; i<pBuf->n && rc==SQLITE_OK; i+=HP_SPILL_IO){
    u32 n = MIN(HP_SPILL_IO, pBuf->n-i);
    rc = sqlite3OsWrite(pSpill->pFd, &pBuf->a[i], (int)n, pSpill->nByte+i);
  }
  pSpill->nByte += pBuf->n;
  pBuf->n = 0;
  return rc;
}

/*
** Get ready to write one more run to the file of worker p.
*/
static int hpSpillOpen(HpExec *p){
  struct HpSpill *pSpill = p->pAgg->pSpill;
  /* PRAGMA temp_store=memory: there is no file to write to */
  if( sqlite3TempInMemory(p->pScan->db) ) return HP_DECLINE;
  if( pSpill==0 ){
    p->pAgg->pSpill = pSpill = sqlite3_malloc64(sizeof(*pSpill));
    if( pSpill==0 ) return HP_DECLINE;
    memset(pSpill, 0, sizeof(*pSpill));
    if( vdbeSorterOpenTempFile(p->db, 0, &pSpill->pFd) ) return HP_DECLINE;
  }
  if( pSpill->nRun>=HP_MX_RUN
   || hpGrow(&pSpill->aEnd, &pSpill->nRunAlloc, pSpill->nRun, sizeof(i64))
  ){
    return HP_DECLINE;
  }
  return SQLITE_OK;
}

/*
** Write the groups of worker p as a sorted run to its file, and forget them.
** Whatever goes wrong, stock's code may still do without.
*/
static int hpSpillGroups(HpExec *p){
  HpAgg *pAgg = p->pAgg;
  struct HpSpill *pSpill;
  HpBuf buf;
  u32 i;
  int rc;

  if( pAgg->nGroup==0 ) return SQLITE_OK;
  if( p->pPlan->bOpaque || hpSpillOpen(p) ) return HP_DECLINE;
  pSpill = pAgg->pSpill;
  hpSpillSigns(p);
  rc = hpSortGroups(p);
  if( rc==SQLITE_OK && p->pPlan->nOrder ) rc = hpOrderSort(p);
  memset(&buf, 0, sizeof(buf));
  if( rc==SQLITE_OK ) rc = hpBufRoom(&buf, HP_SPILL_BUF);
  for(i=0; i<pAgg->nGroup && rc==SQLITE_OK; i++){
    u32 nBefore = buf.n;
    if( !pAgg->bOrdered ){
      hpSortPrefetch(p->pPlan, pAgg->aSorted, i, pAgg->nGroup)
    }
    rc = hpSpillRecord(p->pPlan, hpSortedGroup(pAgg, i), &buf);
    if( buf.n-nBefore>pSpill->mxRecord ) pSpill->mxRecord = buf.n-nBefore;
    if( rc==SQLITE_OK && buf.n>=HP_SPILL_BUF && hpSpillWrite(pSpill, &buf) ){
      rc = HP_DECLINE;
    }
    if( rc==SQLITE_OK && i%HP_POLL==HP_POLL-1 ) rc = hpScanStopped(p->pScan);
  }
  if( rc==SQLITE_OK && buf.n && hpSpillWrite(pSpill, &buf) ) rc = HP_DECLINE;
  sqlite3_free(buf.a);
  pSpill->aEnd[pSpill->nRun++] = pSpill->nByte;
  /* Each run will have one record in memory.  The entries of large groups would
  ** be too much */
  if( rc==SQLITE_OK && p->pPlan->nOrder
   && pSpill->nRun*pSpill->mxRecord
                        >(u64)p->nMemory+pSpill->nRun*(u64)HP_SPILL_BUF
  ){
    rc = HP_DECLINE;
  }
  if( rc==SQLITE_OK ) hpAggReset(pAgg);
  return rc;
}

static void hpSpillClose(HpAgg *pAgg){
  if( pAgg->pSpill ){
    if( pAgg->pSpill->pFd ) sqlite3OsCloseFree(pAgg->pSpill->pFd);
    sqlite3_free(pAgg->pSpill->aEnd);
    sqlite3_free(pAgg->pSpill);
    pAgg->pSpill = 0;
  }
}

/*
** Make nWant bytes readable at pReader->aBuf[pReader->iBuf].
*/
static int hpReaderFill(HpRunReader *pReader, u64 nWant){
  u32 nRest = pReader->nBuf - pReader->iBuf;
  u32 nRead, i;
  int rc;
  if( nRest>=nWant ) return SQLITE_OK;
  if( nWant>(u64)(pReader->iEnd-pReader->iOfst)+nRest ){
    return SQLITE_CORRUPT_BKPT;
  }
  if( nWant>pReader->nAlloc ){
    u32 nNew = (u32)MAX(nWant, HP_SPILL_BUF);
    u8 *aNew = sqlite3_malloc64(nNew);
    if( aNew==0 ) return SQLITE_NOMEM_BKPT;
    if( nRest ) memcpy(aNew, &pReader->aBuf[pReader->iBuf], nRest);
    sqlite3_free(pReader->aBuf);
    pReader->aBuf = aNew;
    pReader->nAlloc = nNew;
  }else if( nRest ){
    memmove(pReader->aBuf, &pReader->aBuf[pReader->iBuf], nRest);
  }
  pReader->iBuf = 0;
  nRead = (u32)MIN((i64)(pReader->nAlloc-nRest), pReader->iEnd-pReader->iOfst);
  for(i=0, rc=SQLITE_OK; i<nRead && rc==SQLITE_OK; i+=HP_SPILL_IO){
    rc = sqlite3OsRead(pReader->pFd, &pReader->aBuf[nRest+i],
                       (int)MIN(HP_SPILL_IO, nRead-i), pReader->iOfst+i);
  }
  pReader->iOfst += nRead;
  pReader->nBuf = nRest + nRead;
  return rc==SQLITE_IOERR_SHORT_READ ? SQLITE_IOERR_READ : rc;
}

/*
** Go to the next group of a run.
*/
static int hpReaderNext(const HpPlan *pPlan, HpRunReader *pReader){
  u64 n = 8;
  int rc;
  pReader->aGroup = 0;
  if( pReader->pAgg ){
    if( pReader->iNext<pReader->n ){
      if( !pReader->pAgg->bOrdered ){
        hpSortPrefetch(pPlan, pReader->pAgg->aSorted, pReader->iNext, pReader->n)
      }
      pReader->aGroup = hpSortedGroup(pReader->pAgg, pReader->iNext++);
    }
    return SQLITE_OK;
  }
  if( pReader->iBuf==pReader->nBuf && pReader->iOfst==pReader->iEnd ){
    return SQLITE_OK;
  }
  rc = hpReaderFill(pReader, n);
  if( rc ) return rc;
  memcpy(&n, &pReader->aBuf[pReader->iBuf], 8);
  rc = hpReaderFill(pReader, n);
  if( rc ) return rc;
  pReader->aGroup = &pReader->aBuf[pReader->iBuf+8];
  pReader->iBuf += (u32)n;
  hpSpillPointers(pPlan, pReader->aGroup);
  if( pPlan->eSink==HP_SINK_SORT ){
    /* At least eight bytes are readable: a record has that many */
    const HpHead *pHead = hpGroupHead(pPlan, pReader->aGroup);
    pReader->prefix = hpLoad8(pHead->z);
    if( pHead->nNorm<8 ) pReader->prefix &= ~(u64)0 << (64-8*pHead->nNorm);
  }
  return SQLITE_OK;
}

/*
** Add a reader to the heap, unless it is at its end.
*/
static void hpHeapAdd(const HpPlan *pPlan, HpMerge *pMerge, HpRunReader *pNew){
  int i;
  if( pNew->aGroup==0 ) return;
  for(i=pMerge->nHeap++; i>0; i=(i-1)/2){
    HpRunReader *pUp = pMerge->apHeap[(i-1)/2];
    if( hpGroupCompare(pPlan, pUp->aGroup, pNew->aGroup)<=0 ) break;
    pMerge->apHeap[i] = pUp;
  }
  pMerge->apHeap[i] = pNew;
}

/*
** Remove the first reader from the heap.
*/
static HpRunReader *hpHeapRemove(const HpPlan *pPlan, HpMerge *pMerge){
  HpRunReader *pOut = pMerge->apHeap[0];
  HpRunReader *pLast = pMerge->apHeap[--pMerge->nHeap];
  int n = pMerge->nHeap;
  int i = 0;
  for(;;){
    int j = 2*i+1;
    if( j>=n ) break;
    if( j+1<n && hpGroupCompare(pPlan, pMerge->apHeap[j+1]->aGroup,
                                pMerge->apHeap[j]->aGroup)<0 ){
      j++;
    }
    if( hpGroupCompare(pPlan, pLast->aGroup, pMerge->apHeap[j]->aGroup)<=0 ){
      break;
    }
    pMerge->apHeap[i] = pMerge->apHeap[j];
    i = j;
  }
  pMerge->apHeap[i] = pLast;
  return pOut;
}

/*
** The next group of all runs, its parts merged, or NULL: *paGroup.  It is valid
** until the next call.
*/
static int hpMergeStep(const HpPlan *pPlan, HpMerge *pMerge, u8 **paGroup){
  HpRunReader *pFirst;
  int rc;
  *paGroup = 0;
  while( pMerge->nUsed>0 ){
    HpRunReader *pReader = pMerge->apUsed[--pMerge->nUsed];
    rc = hpReaderNext(pPlan, pReader);
    if( rc ) return rc;
    hpHeapAdd(pPlan, pMerge, pReader);
  }
  if( pMerge->nHeap==0 ) return SQLITE_OK;
  pFirst = hpHeapRemove(pPlan, pMerge);
  pMerge->apUsed[pMerge->nUsed++] = pFirst;
  while( pMerge->nHeap>0
      && hpGroupCompare(pPlan, pMerge->apHeap[0]->aGroup, pFirst->aGroup)==0
  ){
    HpRunReader *pReader = hpHeapRemove(pPlan, pMerge);
    pMerge->apUsed[pMerge->nUsed++] = pReader;
    rc = hpGroupMerge(pPlan, pFirst->aGroup, pReader->aGroup);
    if( rc ) return rc;
  }
  *paGroup = pFirst->aGroup;
  return SQLITE_OK;
}

/*
** HP_SERIAL if some sum in group aGroup depends on the order in which values
** were added.
*/
static int hpGroupAnyOrder(const HpPlan *pPlan, const u8 *aGroup){
  int k;
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    const HpSum *pSum = (const HpSum*)&aGroup[pDef->iOff];
    if( pDef->eAgg!=HP_AGG_SUM || hpSumCount(pSum)==0 ) continue;
    if( hpSumIsReal(pSum)
         ? (pSum->n & HP_SUM_OVRFL) || !hpSumIsSound(pSum)
         : hpBits(pSum->u.i.mAbs)+hpBits((u64)hpSumCount(pSum))>63
    ){
      return HP_SERIAL;
    }
  }
  return SQLITE_OK;
}

/*
** HP_SINK_SORT: is the row of pA the first?
*/
static SQLITE_INLINE int hpReaderLess(
  const HpPlan *pPlan,
  const HpRunReader *pA,
  const HpRunReader *pB
){
  if( pA->prefix!=pB->prefix ) return pA->prefix<pB->prefix;
  return hpGroupCompare(pPlan, pA->aGroup, pB->aGroup)<0;
}

/*
** HP_SINK_SORT: the next row, or NULL: *paGroup.  It is valid until the next
** call.
**
** The reader that was first goes on, and finds its new place in the heap: the
** hole that it leaves moves down to a leaf, which is where most of them belong,
** and then it moves up from there.
*/
static int hpMergeRow(const HpPlan *pPlan, HpMerge *pMerge, u8 **paGroup){
  HpRunReader **ap = pMerge->apHeap;
  *paGroup = 0;
  if( pMerge->nUsed ){
    HpRunReader *pNew = ap[0];
    int i = 0;
    int j, n;
    int rc = hpReaderNext(pPlan, pNew);
    if( rc ) return rc;
    if( pNew->aGroup==0 ) pNew = ap[--pMerge->nHeap];
    n = pMerge->nHeap;
    while( (j = 2*i+1)<n ){
      if( j+1<n ) j += hpReaderLess(pPlan, ap[j+1], ap[j]);
      ap[i] = ap[j];
      i = j;
    }
    while( i>0 && hpReaderLess(pPlan, pNew, ap[(i-1)/2]) ){
      ap[i] = ap[(i-1)/2];
      i = (i-1)/2;
    }
    ap[i] = pNew;
  }
  pMerge->nUsed = pMerge->nHeap>0;
  if( pMerge->nHeap ) *paGroup = ap[0]->aGroup;
  return SQLITE_OK;
}

/*
** The same, but leave out rows that a window does not want.
*/
static int hpMergeWanted(const HpScan *p, HpMerge *pMerge, u8 **paGroup){
  int rc;
  do{
    rc = hpMergeRow(p->pPlan, pMerge, paGroup);
  }while( rc==SQLITE_OK && p->pPlan->pPart && *paGroup
       && hpPartSkip(p, &pMerge->count, *paGroup) );
  return rc;
}

static void hpMergeFree(HpMerge *pMerge){
  if( pMerge ){
    int i;
    for(i=0; i<pMerge->nReader; i++){
      if( pMerge->aReader[i].pFd ) sqlite3_free(pMerge->aReader[i].aBuf);
    }
    sqlite3_free(pMerge->aReader);
    sqlite3_free(pMerge->apHeap);
    sqlite3_free(pMerge->apUsed);
    sqlite3_free(pMerge->apGroup);
    sqlite3_free(pMerge->count.norm.a);
    sqlite3_free(pMerge);
  }
}

static void hpMergeClose(HpScan *p){
  int i;
  for(i=0; i<p->nMerge; i++) hpMergeFree(p->apMerge[i]);
}

/*
** A merge of up to nReader runs, or NULL.
*/
static HpMerge *hpMergeNew(int nReader){
  HpMerge *pMerge = sqlite3_malloc64(sizeof(*pMerge));
  u64 n = (u64)nReader+1;
  if( pMerge==0 ) return 0;
  memset(pMerge, 0, sizeof(*pMerge));
  pMerge->aReader = sqlite3_malloc64(sizeof(HpRunReader)*n);
  pMerge->apHeap = sqlite3_malloc64(sizeof(HpRunReader*)*n);
  pMerge->apUsed = sqlite3_malloc64(sizeof(HpRunReader*)*n);
  if( pMerge->aReader==0 || pMerge->apHeap==0 || pMerge->apUsed==0 ){
    hpMergeFree(pMerge);
    return 0;
  }
  memset(pMerge->aReader, 0, sizeof(HpRunReader)*n);
  return pMerge;
}

/*
** Let pMerge read the runs that pAgg has in memory.
*/
static void hpMergeRuns(HpMerge *pMerge, const HpAgg *pAgg){
  int i;
  for(i=0; i<pAgg->nMemRun; i++){
    HpRunReader *pReader = &pMerge->aReader[pMerge->nReader++];
    pReader->aBuf = pAgg->aMemRun[i].a;
    pReader->nBuf = pAgg->aMemRun[i].n;
  }
}

/*
** Go to the first group of each run.
*/
static int hpMergeFirst(const HpPlan *pPlan, HpMerge *pMerge){
  int i;
  for(i=0; i<pMerge->nReader; i++){
    HpRunReader *pReader = &pMerge->aReader[i];
    int rc = hpReaderNext(pPlan, pReader);
    if( rc ) return rc;
    hpHeapAdd(pPlan, pMerge, pReader);
  }
  return SQLITE_OK;
}

/*
** HP_SINK_SORT: make a sorted run in memory of the rows of worker p, in the form
** that they would have in the file.
*/
static int hpSortRun(HpExec *p){
  HpAgg *pAgg = p->pAgg;
  HpBuf *pBuf;
  u64 n = 0;
  u32 i;
  int rc;
  if( p->pParts ){
    rc = hpPartRows(p);
    if( rc ) return rc;
  }
  if( pAgg->nGroup==0 ) return SQLITE_OK;
  if( hpGrow(&pAgg->aMemRun, &pAgg->nMemRunAlloc, pAgg->nMemRun,
             sizeof(HpBuf))
  ){
    return HP_DECLINE;
  }
  rc = hpSortGroups(p);
  if( rc ) return rc;
  for(i=0; i<pAgg->nGroup; i++){
    const HpHead *pHead = hpGroupHead(p->pPlan, pAgg->aSorted[i].aGroup);
    n += ROUND8(8 + p->pPlan->szGroup + (u64)pHead->nRec);
  }
  pBuf = &pAgg->aMemRun[pAgg->nMemRun];
  memset(pBuf, 0, sizeof(*pBuf));
  if( n>SQLITE_MAX_LENGTH || hpBufRoom(pBuf, (u32)n) ) return HP_DECLINE;
  pAgg->nMemRun++;
  for(i=0; i<pAgg->nGroup; i++){
    if( hpSpillRecord(p->pPlan, pAgg->aSorted[i].aGroup, pBuf) ){
      return HP_DECLINE;
    }
  }
  assert( pBuf->n==n );
  pAgg->nMemByte += pBuf->nAlloc;
  pAgg->nGroup = 0;
  pAgg->nRowByte = 0;
  hpArenaReset(&pAgg->arena);
  return SQLITE_OK;
}

/*
** Forget the runs in memory.
*/
static void hpRunsFree(HpAgg *pAgg){
  int i;
  for(i=0; i<pAgg->nMemRun; i++) sqlite3_free(pAgg->aMemRun[i].a);
  pAgg->nMemRun = 0;
  pAgg->nMemByte = 0;
}

/*
** HP_SINK_SORT: merge the runs that worker p has in memory, write them to the
** file as one, and forget them.
*/
static int hpSpillRuns(HpExec *p){
  HpAgg *pAgg = p->pAgg;
  HpMerge *pMerge;
  HpBuf buf;
  u8 *aGroup;
  u32 i;
  int rc;
  if( pAgg->nMemRun==0 ) return SQLITE_OK;
  if( hpSpillOpen(p) ) return HP_DECLINE;
  pMerge = hpMergeNew(pAgg->nMemRun);
  if( pMerge==0 ) return HP_DECLINE;
  hpMergeRuns(pMerge, pAgg);
  memset(&buf, 0, sizeof(buf));
  rc = hpMergeFirst(p->pPlan, pMerge);
  for(i=1; rc==SQLITE_OK; i++){
    rc = hpMergeWanted(p->pScan, pMerge, &aGroup);
    if( rc || aGroup==0 ) break;
    rc = hpSpillRecord(p->pPlan, aGroup, &buf);
    if( rc==SQLITE_OK && buf.n>=HP_SPILL_BUF
     && hpSpillWrite(pAgg->pSpill, &buf)
    ){
      rc = HP_DECLINE;
    }
    if( rc==SQLITE_OK && i%HP_POLL==0 ) rc = hpScanStopped(p->pScan);
  }
  if( rc==SQLITE_OK && buf.n && hpSpillWrite(pAgg->pSpill, &buf) ){
    rc = HP_DECLINE;
  }
  sqlite3_free(buf.a);
  hpMergeFree(pMerge);
  pAgg->pSpill->aEnd[pAgg->pSpill->nRun++] = pAgg->pSpill->nByte;
  hpRunsFree(pAgg);
  return rc;
}

/*
** The first of the sorted groups of pAgg whose key is not smaller than that of
** aGroup.
*/
static u32 hpSortedFind(const HpAgg *pAgg, const u8 *aGroup){
  u32 iFirst = 0;
  u32 n = pAgg->nGroup;
  while( iFirst<n ){
    u32 iMid = iFirst + (n-iFirst)/2;
    if( hpGroupCompare(pAgg->pPlan, hpSortedGroup(pAgg, iMid), aGroup)<0 ){
      iFirst = iMid+1;
    }else{
      n = iMid;
    }
  }
  return iFirst;
}

/*
** Groups that are all in memory: make part i of n of their merge.  Parts begin at
** keys that divide the largest run, that of worker iLarge, evenly.
*/
static int hpMergePart(HpScan *p, int iLarge, int i, int n){
  const HpAgg *pLarge = p->apWorker[iLarge]->pAgg;
  HpMerge *pMerge = hpMergeNew(p->nWorker);
  int k;
  if( pMerge==0 ) return HP_DECLINE;
  p->apMerge[p->nMerge++] = pMerge;
  for(k=0; k<p->nWorker; k++){
    const HpAgg *pAgg = p->apWorker[k]->pAgg;
    HpRunReader *pReader = &pMerge->aReader[pMerge->nReader];
    u32 aBound[2];
    int j;
    if( pAgg->nGroup==0 ) continue;
    for(j=0; j<2; j++){
      u32 iBound = (u32)((u64)pLarge->nGroup*(i+j)/n);
      aBound[j] = i+j==0 ? 0 : i+j==n ? pAgg->nGroup :
          hpSortedFind(pAgg, hpSortedGroup(pLarge, iBound));
    }
    pReader->pAgg = pAgg;
    pReader->iNext = aBound[0];
    pReader->n = aBound[1];
    pMerge->nIn += aBound[1]-aBound[0];
    pMerge->nReader++;
  }
  pMerge->apGroup = hpMalloc(sizeof(u8*)*(i64)(pMerge->nIn+1));
  return pMerge->apGroup ? SQLITE_OK : HP_DECLINE;
}

/*
** Merge the groups of a part, and keep those that HAVING may want.
*/
static int hpMergeAll(HpScan *p, HpMerge *pMerge, int bCheck){
  const HpPlan *pPlan = p->pPlan;
  u32 n = 0;
  int rc = hpMergeFirst(pPlan, pMerge);
  while( rc==SQLITE_OK ){
    u8 *aGroup;
    rc = hpMergeStep(pPlan, pMerge, &aGroup);
    if( rc || aGroup==0 ) break;
    if( bCheck ) rc = hpGroupAnyOrder(pPlan, aGroup);
    if( hpGroupWanted(pPlan, aGroup, p->aHaving) ){
      pMerge->apGroup[pMerge->nGroup++] = aGroup;
    }
    if( rc==SQLITE_OK && ++n%HP_POLL==0 ) rc = hpScanStopped(p);
  }
  return rc;
}

/*
** What a worker does for the merge: one part after the other.
*/
static void hpMergeRun(HpExec *p){
  HpScan *pScan = p->pScan;
  int bCheck = pScan->pPlan->bAnyOrder;    /* Sums may depend on the order */
  int i;
  for(i=0; i<pScan->nWorker; i++) bCheck |= pScan->apWorker[i]->pAgg->bLanes;
  while( p->rc==SQLITE_OK ){
    hpScanLock(pScan);
    i = pScan->iMerge++;
    hpScanUnlock(pScan);
    if( i>=pScan->nMerge ) break;
    p->rc = hpMergeAll(pScan, pScan->apMerge[i], bCheck);
  }
  if( p->rc ) AtomicStore(&pScan->bStop, 1);
}

/*
** The merge of runs some of which are in files, or of one run, or of rows
** (HP_SINK_SORT): hpMergeNext() does it.
*/
static int hpMergeStream(HpScan *p, int nReader){
  HpMerge *pMerge = hpMergeNew(nReader);
  int i, j;
  if( pMerge==0 ) return HP_DECLINE;
  p->apMerge[p->nMerge++] = pMerge;
  for(i=0; i<p->nWorker; i++){
    const HpAgg *pAgg = p->apWorker[i]->pAgg;
    const struct HpSpill *pSpill = pAgg->pSpill;
    if( pAgg->nGroup>0 ){
      HpRunReader *pReader = &pMerge->aReader[pMerge->nReader++];
      pReader->pAgg = pAgg;
      pReader->n = pAgg->nGroup;
    }
    hpMergeRuns(pMerge, pAgg);
    for(j=0; pSpill && j<pSpill->nRun; j++){
      HpRunReader *pReader = &pMerge->aReader[pMerge->nReader++];
      pReader->pFd = pSpill->pFd;
      pReader->iOfst = j ? pSpill->aEnd[j-1] : 0;
      pReader->iEnd = pSpill->aEnd[j];
    }
  }
  return hpMergeFirst(p->pPlan, pMerge);
}

/*
** All workers are done and their groups are sorted: make p->apMerge, ready for
** hpMergeNext().
*/
static int hpMergeOpen(HpScan *p){
  const HpPlan *pPlan = p->pPlan;
  u64 nGroup = 0;
  int nReader = 0;
  int nPart = 1;
  int bSpill = 0;
  int bMerge = pPlan->bAnyOrder;       /* Look at all groups before the first */
  int iLarge = 0;
  int i, rc;

  for(i=0; i<p->nWorker; i++){
    const HpAgg *pAgg = p->apWorker[i]->pAgg;
    nGroup += pAgg->nGroup;
    nReader += (pAgg->nGroup>0) + pAgg->nMemRun;
    bMerge |= pAgg->bLanes;
    if( pAgg->nGroup>p->apWorker[iLarge]->pAgg->nGroup ) iLarge = i;
    if( pAgg->pSpill ){
      nReader += pAgg->pSpill->nRun;
      bSpill = 1;
    }
  }
  if( nReader>HP_MX_RUN ) return HP_DECLINE;
  if( nReader>1 || pPlan->nOrder ) bMerge = 1;
  if( bSpill || pPlan->eSink==HP_SINK_SORT || bMerge==0 ){
    rc = hpMergeStream(p, nReader);
    if( rc || bSpill==0 ) return rc;
    hpStat(p->db, HP_STAT_SPILLED);
    for(i=0; i<p->nWorker; i++){
      const struct HpSpill *pSpill = p->apWorker[i]->pAgg->pSpill;
      if( pSpill ) p->db->nSpill += pSpill->nByte;
    }
    for(i=0; i<p->nWorker; i++) hpSpillSigns(p->apWorker[i]);
    return hpMergeDoubt(p);
  }
  if( p->nWorker>1 && (nGroup>=HP_MIN_PART || p->pCfg->nThread>1) ){
    nPart = (int)MIN((u64)MIN(HP_MX_PART, 4*p->nWorker), MAX(nGroup, 1));
  }
  for(i=0; i<nPart; i++){
    rc = hpMergePart(p, iLarge, i, nPart);
    if( rc ) return rc;
  }
  if( nPart>1 ){
    rc = hpScanEach(p, hpMergeRun);
  }else{
    hpMergeRun(p->apWorker[0]);
    rc = p->apWorker[0]->rc;
  }
  p->iMerge = 0;
  return rc;
}

/*
** The next group: *paGroup is NULL if there is none.
*/
static int hpMergeNext(HpScan *p, u8 **paGroup){
  const HpPlan *pPlan = p->pPlan;
  HpMerge *pMerge;
  if( p->apMerge[0]->apGroup==0 ){
    u32 n = 0;
    if( pPlan->eSink==HP_SINK_SORT ){
      return hpMergeWanted(p, p->apMerge[0], paGroup);
    }
    for(;;){
      int rc = hpMergeStep(pPlan, p->apMerge[0], paGroup);
      if( rc || *paGroup==0 || hpGroupWanted(pPlan, *paGroup, p->aHaving) ){
        return rc;
      }
      if( ++n%HP_POLL==0 && AtomicLoad(&p->db->u1.isInterrupted) ){
        return SQLITE_INTERRUPT;
      }
    }
  }
  *paGroup = 0;
  while( p->iMerge<p->nMerge ){
    pMerge = p->apMerge[p->iMerge];
    if( pMerge->iGroup<pMerge->nGroup ){
      if( pPlan->nOrder && p->nWorker>1 && pMerge->iGroup==pMerge->iAhead ){
        u32 n;
        int rc = hpOrderAhead(p, &pMerge->apGroup[pMerge->iGroup],
                              pMerge->nGroup-pMerge->iGroup, &n);
        pMerge->iAhead += n;
        if( rc ) return rc;
      }
      if( pPlan->nOrder && pMerge->iGroup+2<pMerge->nGroup ){
        hpOrderPrefetch(pPlan, &pMerge->apGroup[pMerge->iGroup+1]);
      }
      if( pMerge->iGroup+HP_AHEAD_GROUP<pMerge->nGroup ){
        u8 **apNext = &pMerge->apGroup[pMerge->iGroup];
        hpSortAhead(pPlan, apNext[HP_AHEAD_GROUP], 0);
        hpSortAhead(pPlan, apNext[HP_AHEAD_KEY], 1);
      }
      *paGroup = pMerge->apGroup[pMerge->iGroup++];
      break;
    }
    p->iMerge++;
  }
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
