/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_aggorder: aggregate functions with ORDER BY inside, as in
** group_concat(name, ',' ORDER BY price DESC).
**
**    hpAggOrderAdd()      add a row's entry to its group
**    hpAggOrderSort()     put a worker's entries in order (in its thread)
**    hpAggOrderMerge()    add one part of a group to another
**    hpAggOrderSize()     bytes of the entries of a group in a file, ...
**    hpAggOrderWrite()    ... write them, ...
**    hpAggOrderPointers() ... and make sense of what was read
**    hpAggOrderCost()     what reading the entries takes
**    hpAggOrderPrefetch() ask for the memory of entries that come soon
**    hpAggOrderCalls()    read them: call the step function in order
**
** Stock puts the rows of a group into a b-tree, ordered by the ORDER BY terms
** and the number of the row, and when the group is complete it calls the step
** function for each.  Here a group keeps a list of entries, each an array of
** 64-bit words:
**
**    0    what the first ORDER BY term begins with, as a number that is less if
**         the value comes first.  All of it if that is NULL or a number
**         below 2^53; the double below it for other numbers, and six bytes of
**         text and blobs
**    1    its info, or the address of more, plus one, if there are more terms or
**         word 0 does not tell all
**    ...  a word for each argument: the number, or the address of its text.
**         Not there if the only term is the only argument: word 0 or more tells
**
**    info 24 bits number of the run, 24 bits row within it, and from bit 1 on
**         three bits for the type of each argument
**    more info, and then the normalized keys (hp_key.c) as a text; or, if the only
**         term is the only argument, this number, or 0 and this text
**    text 4 bytes length, a byte subtype plus one, the bytes, and a zero byte,
**         a multiple of 8 in all
**
** So the order of most entries is that of the first two words.  Each
** worker adds entries in scan order, which stable sorts keep.  A list is made of
** pieces that grow with the group.  When the worker has come to the end (or has
** to write its groups to a file) it sorts each group's entries: as many as stay in
** the cache, HP_ORDER_PART, together, and what is more as several sorted parts.
** The groups of several workers, whose parts are just put one after the other,
** need no more than a merge of their parts when they are delivered.
**
** DISTINCT by the value that is also the only ORDER BY term: stock's b-tree keeps
** the last of equal values, and so does the merge.  Other DISTINCTs have been
** dealt with when entries are added (hp_agg.c).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_ORDER_PART  65536   /* Most entries sorted together */
#define HP_ORDER_SLOT  32      /* Entries of a slot: see hpAggOrderSpread() */
#define HP_ORDER_FIRST 8       /* Entries of the first pieces of a list ... */
#define HP_ORDER_LIST  4096    /* ... and of the last */
#define HP_ORDER_COST  64      /* So many bytes of texts are as much work as a call */
#define HP_TEXT_HEAD   5       /* Bytes before those of a text */
#define HP_MX_TEXT     1024    /* Longer ones look at the budget themselves */

/* A piece of a list of entries.  The entries follow. */
struct HpList {
  HpList *pNext;         /* The next piece, of the same part */
  HpList *pPart;         /* First piece of a sorted part: that of the next part */
  u32 n, nAlloc;         /* Entries, and for so many there is room */
};
#define hpListEntry(L) ((u64*)(size_t)&(L)[1])
#define hpListPrefetch(L) { \
  hpPrefetch(L); \
  hpPrefetch((u8*)(L)+64); \
  hpPrefetch((u8*)(L)+128); \
}

/* What is read when parts are merged */
typedef struct HpCursor HpCursor;
struct HpCursor {
  const u64 *a;          /* Current entry */
  const u64 *aEnd;       /* End of the entries of pList */
  const HpList *pList;
};

/* Types in an info, and the tags that they stand for */
#define HP_TYPE_NULL   0
#define HP_TYPE_INT    1
#define HP_TYPE_REAL   2
#define HP_TYPE_ZERO   3       /* -0.0 */
#define HP_TYPE_TEXT   4
#define HP_TYPE_BLOB   5
static const u8 aHpTypeTag[8] = {
  HP_NULL, HP_INT, HP_REAL, HP_REAL, HP_TEXT, HP_BLOB
};
#define hpAggOrderType(INFO,K)  ((int)((INFO)>>(3*(K)+1)) & 7)

static SQLITE_INLINE u64 hpTypeOf(u8 tag, HpVal v){
  switch( tag ){
    case HP_NULL: return HP_TYPE_NULL;
    case HP_INT:  return HP_TYPE_INT;
    case HP_REAL: return v.u==(u64)1<<63 ? HP_TYPE_ZERO : HP_TYPE_REAL;
    case HP_TEXT: return HP_TYPE_TEXT;
  }
  return HP_TYPE_BLOB;
}

/* What word 1 of entry A says, and what there is more */
#define hpAggOrderIsMore(A)  ((A)[1] & 1)
#define hpAggOrderPtr(X)     ((u8*)(size_t)(X))
#define hpAggOrderMore(A)    ((u64*)hpAggOrderPtr((A)[1]-1))
#define hpAggOrderInfo(A)    (hpAggOrderIsMore(A) ? *hpAggOrderMore(A) : (A)[1])

/*
** Word 0 for a value, the first ORDER BY term.  *pbMore is set if it does not
** tell all.  Texts and blobs come after all numbers: above infinity there is
** room among what would be NaNs.
*/
static SQLITE_INLINE u64 hpAggOrderKey(
  const HpTerm *pTerm,
  u8 tag, HpVal v, u32 n,
  int *pbMore
){
  u64 x;
  switch( tag ){
    case HP_NULL:
      x = (pTerm->flags & KEYINFO_ORDER_BIGNULL) ? ~(u64)0 : 0;
      break;
    case HP_INT:
    case HP_REAL: {
      double r = tag==HP_INT ? (double)v.i : v.r;
      if( fabs(r)<9007199254740992.0 ){
        v.r = r==0.0 ? 0.0 : r;            /* -0.0 is equal */
        x = v.u ^ ((v.u>>63) ? ~(u64)0 : (u64)1<<63);
      }else{
        u8 aKey[16];
        hpKeyNumber(aKey, tag, v);
        x = hpLoad8(&aKey[1]);
        *pbMore = 1;
      }
      break;
    }
    default: {
      u8 aFirst[8];
      u32 i;
      assert( tag!=HP_TEXT || pTerm->pColl==0
           || hpVecCollIsOwn(pTerm->pColl) );
      memset(aFirst, 0, sizeof(aFirst));
      aFirst[0] = 0xff;
      aFirst[1] = tag==HP_TEXT ? 0xf1 : 0xf2;
      if( tag==HP_TEXT && pTerm->pColl!=0 ){
        if( pTerm->pColl->xCmp==nocaseCollatingFunc ){
          for(i=0; i<n && i<6 && v.z[i]; i++){
            aFirst[2+i] = sqlite3UpperToLower[v.z[i]];
          }
          n = 0;
        }else{
          n = hpKeyTrimmed(v.z, n);
        }
      }
      if( n ) memcpy(&aFirst[2], v.z, MIN(n, 6));
      x = hpLoad8(aFirst);
      *pbMore = 1;
      break;
    }
  }
  return (pTerm->flags & KEYINFO_ORDER_DESC) ? ~x : x;
}

/*
** Bytes of a text of n bytes.
*/
static SQLITE_INLINE u64 hpTextSize(u32 n){
  return ROUND8((u64)n+HP_TEXT_HEAD+1);
}

/*
** Write a text to a.
*/
static void hpTextWrite(u8 *a, const u8 *z, u32 n, u8 sub){
  memcpy(a, &n, 4);
  a[4] = sub;
  if( n ) memcpy(&a[HP_TEXT_HEAD], z, n);
  memset(&a[HP_TEXT_HEAD+n], 0, (size_t)(hpTextSize(n)-HP_TEXT_HEAD-n));
}

/* Length of a text */
static SQLITE_INLINE u32 hpTextLen(const u8 *a){
  u32 n;
  memcpy(&n, a, 4);
  return n;
}

/*
** n bytes for texts of pOrder, or NULL.
*/
static u8 *hpAggOrderAlloc(HpRuns *pRuns, HpAggOrder *pOrder, u64 n){
  assert( (n & 7)==0 );              /* The lowest bit of an address is free */
  if( n>HP_MX_TEXT && !hpHeldMay(pRuns, 0, HP_FINISH) ) return 0;
  pOrder->nText += (i64)n;
  return hpArenaAlloc(&pRuns->arena, (i64)n);
}

/*
** Make room for another entry in pOrder.
*/
static int hpAggOrderGrow(HpRuns *pRuns, const HpAggDef *pDef, HpAggOrder *pOrder){
  u32 n = MAX(HP_ORDER_FIRST, MIN(HP_ORDER_LIST, pOrder->nEntry/2));
  HpList *pNew;
  assert( pOrder->nFree==0 && (pOrder->nEntry==0)==(pOrder->pFirst==0) );
  if( pOrder->nEntry>0x7fffffff-n || !hpHeldMay(pRuns, 0, HP_FINISH) ){
    return HP_DECLINE;
  }
  pNew = hpArenaAlloc(&pRuns->arena, sizeof(*pNew)+(i64)n*pDef->szEntry);
  if( pNew==0 ) return HP_DECLINE;
  memset(pNew, 0, sizeof(*pNew));
  pNew->nAlloc = n;
  if( pOrder->pLast ){
    pOrder->pLast->n = pOrder->pLast->nAlloc;
    pOrder->pLast->pNext = pNew;
  }else{
    pOrder->pFirst = pNew;
  }
  pOrder->pLast = pNew;
  pOrder->pFree = (u8*)hpListEntry(pNew);
  pOrder->nFree = n;
  return SQLITE_OK;
}

/*
** Set word 1 of entry a to the address of more: the normalized ORDER BY terms of
** row i.
*/
static int hpAggOrderNorm(
  HpRuns *pRuns,
  HpFrame *p,
  const HpAggDef *pDef,
  HpAggOrder *pOrder,
  int i,
  u64 info,
  u64 *a
){
  HpBuf *pKey = &pRuns->key;
  u64 *aMore;
  int k;
  assert( pDef->bSelf==0 );
  pKey->n = 0;
  for(k=0; k<pDef->nTerm; k++){
    const HpTerm *pTerm = &pDef->aTerm[k];
    if( hpKeyValue(pKey, &p->aVec[pTerm->iVec], i, pTerm->pColl,
                   pTerm->flags)
    ){
      return HP_DECLINE;
    }
  }
  aMore = (u64*)hpAggOrderAlloc(pRuns, pOrder, 8+hpTextSize(pKey->n));
  if( aMore==0 ) return HP_DECLINE;
  aMore[0] = info;
  hpTextWrite((u8*)&aMore[1], pKey->a, pKey->n, 0);
  a[1] = (u64)(size_t)aMore + 1;
  return SQLITE_OK;
}

/*
** The same if the only term is the only argument, of type (tag, v, n, sub).
*/
static int hpAggOrderSelf(
  HpRuns *pRuns,
  HpAggOrder *pOrder,
  u8 tag, HpVal v, u32 n, u8 sub,
  u64 info,
  u64 *a
){
  u64 nByte = 16 + ((tag & HP_STR) ? hpTextSize(n) : 0);
  u64 *aMore = (u64*)hpAggOrderAlloc(pRuns, pOrder, nByte);
  if( aMore==0 ) return HP_DECLINE;
  assert( ((uptr)aMore & 7)==0 );
  aMore[0] = info;
  aMore[1] = (tag & HP_STR) ? 0 : v.u;
  if( tag & HP_STR ) hpTextWrite((u8*)&aMore[2], v.z, n, sub);
  a[1] = (u64)(size_t)aMore + 1;
  return SQLITE_OK;
}

/*
** Add row i of the batch to the entries pOrder.
*/
static int hpAggOrderAdd(
  HpRuns *pRuns,
  HpFrame *p,
  const HpAggDef *pDef,
  HpAggOrder *pOrder,
  int i
){
  const HpTerm *pTerm = &pDef->aTerm[0];
  const HpVec *pVec = &p->aVec[pTerm->iVec];
  u64 iRow = (p->iPos & 0xffffffff) + i;
  u64 info;
  u64 *a;
  int bMore = pDef->nTerm>1;
  int j = i & pVec->mIdx;
  int k;
  assert( pDef->eAgg==HP_AGG_ORDER && pDef->nTerm>0 && pOrder->nPart==0 );
  if( (p->iPos>>32)>=(1<<24) || iRow>=(1<<24) ) return HP_DECLINE;
  if( pOrder->nFree==0 && hpAggOrderGrow(pRuns, pDef, pOrder) ) return HP_DECLINE;
  assert( pDef->szEntry==8*(2+(pDef->bSelf ? 0 : (u32)pDef->nArg)) );
  a = (u64*)pOrder->pFree;
  a[0] = hpAggOrderKey(pTerm, pVec->aTag[j], pVec->aVal[j],
                       (pVec->aTag[j] & HP_STR) ? pVec->aLen[j] : 0, &bMore);
  info = ((p->iPos>>32)<<40) | (iRow<<16);
  for(k=0; k<pDef->nArg; k++){
    u8 tag, sub;
    u32 n;
    pVec = &p->aVec[pDef->aArg[k]];
    j = i & pVec->mIdx;
    tag = pVec->aTag[j];
    n = (tag & HP_STR) ? pVec->aLen[j] : 0;
    sub = pDef->bKeepSub && pVec->aSub ? pVec->aSub[j] : 0;
    if( sub && (tag & HP_STR)==0 ) return HP_DECLINE;
    info |= hpTypeOf(tag, pVec->aVal[j])<<(3*k+1);
    if( pDef->bSelf ){
      if( bMore
       && hpAggOrderSelf(pRuns, pOrder, tag, pVec->aVal[j], n, sub, info, a)
      ){
        return HP_DECLINE;
      }
    }else if( tag & HP_STR ){
      u8 *z = hpAggOrderAlloc(pRuns, pOrder, hpTextSize(n));
      if( z==0 ) return HP_DECLINE;
      hpTextWrite(z, pVec->aVal[j].z, n, sub);
      a[2+k] = (u64)(size_t)z;
    }else{
      a[2+k] = pVec->aVal[j].u;
    }
  }
  if( bMore==0 ){
    a[1] = info;
  }else if( pDef->bSelf==0 && hpAggOrderNorm(pRuns, p, pDef, pOrder, i, info, a) ){
    return HP_DECLINE;
  }
  pOrder->pFree += pDef->szEntry;
  pOrder->nFree--;
  pOrder->nEntry++;
  return SQLITE_OK;
}

/*
** Compare entries of equal words 0, which have more: by all ORDER BY terms.
*/
static int hpAggOrderCompare(const HpAggDef *pDef, const u64 *a, const u64 *b){
  const u64 *aA = hpAggOrderMore(a);
  const u64 *aB = hpAggOrderMore(b);
  assert( hpAggOrderIsMore(a) && hpAggOrderIsMore(b) );
  if( pDef->bSelf ){
    u8 tA = aHpTypeTag[hpAggOrderType(aA[0], 0)];
    u8 tB = aHpTypeTag[hpAggOrderType(aB[0], 0)];
    u32 nA = 0, nB = 0;
    HpVal vA, vB;
    int c;
    vA.u = aA[1];
    vB.u = aB[1];
    if( tA & HP_STR ){
      nA = hpTextLen((u8*)&aA[2]);
      vA.z = (u8*)&aA[2] + HP_TEXT_HEAD;
    }
    if( tB & HP_STR ){
      nB = hpTextLen((u8*)&aB[2]);
      vB.z = (u8*)&aB[2] + HP_TEXT_HEAD;
    }
    c = hpVecValCompare(tA, vA, nA, tB, vB, nB, pDef->aTerm[0].pColl);
    return (pDef->aTerm[0].flags & KEYINFO_ORDER_DESC) ? -c : c;
  }else{
    /* No normalized key is the beginning of another */
    const u8 *zA = (u8*)&aA[1];
    const u8 *zB = (u8*)&aB[1];
    return memcmp(&zA[HP_TEXT_HEAD], &zB[HP_TEXT_HEAD],
                  MIN(hpTextLen(zA), hpTextLen(zB)));
  }
}

/* Does a come before b?  No entry is compared with itself. */
static SQLITE_INLINE int hpAggOrderLess(
  const HpAggDef *pDef,
  const u64 *a,
  const u64 *b
){
  assert( a!=b );
  if( a[0]!=b[0] ) return a[0]<b[0];
  /* Where words 0 are equal both have more, or none */
  assert( hpAggOrderIsMore(a)==hpAggOrderIsMore(b) );
  if( hpAggOrderIsMore(a) ){
    int c = hpAggOrderCompare(pDef, a, b);
    if( c ) return c<0;
    return *hpAggOrderMore(a)<*hpAggOrderMore(b);
  }
  return a[1]<b[1];
}

/*
** Sort a[0..n-1] by prefix with scratch aTmp, entries of equal prefix as they
** come: few of them.  Which of two is the smaller nobody can foresee, so the
** merge has no branch that depends on it.
*/
static void hpAggOrderFew(struct HpSorted *a, struct HpSorted *aTmp, u32 n){
  struct HpSorted *aFrom = a;
  struct HpSorted *aTo = aTmp;
  u32 nRun, i, j, k;
  assert( n>1 && n<HP_MIN_RADIX );
  for(i=0; i<n; i+=8){
    u32 mx = MIN(i+8, n);
    for(j=i+1; j<mx; j++){
      struct HpSorted x = a[j];
      for(k=j; k>i && a[k-1].prefix>x.prefix; k--) a[k] = a[k-1];
      a[k] = x;
    }
  }
  for(nRun=8; nRun<n; nRun*=2){
    struct HpSorted *aSwap = aFrom;
    for(i=0; i<n; i+=2*nRun){
      u32 x = i, y = MIN(i+nRun, n);
      u32 mxX = y, mxY = MIN(y+nRun, n);
      k = i;
      while( x<mxX && y<mxY ){
        u32 bY = aFrom[y].prefix<aFrom[x].prefix;
        aTo[k++] = aFrom[bY ? y : x];
        y += bY;
        x += 1-bY;
      }
      while( x<mxX ) aTo[k++] = aFrom[x++];
      while( y<mxY ) aTo[k++] = aFrom[y++];
    }
    aFrom = aTo;
    aTo = aSwap;
  }
  if( aFrom!=a ) memcpy(a, aFrom, sizeof(*a)*(size_t)n);
}

/*
** The same, where prefixes are spread over the range from mn to mx: most entries are put near their
** places at once, in one of twice as many slots as there are entries.  Returns false, with
** a[] as it was, if too many come into one slot.
*/
static int hpAggOrderSpread(
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n,
  u64 mn,
  u64 mx
){
  u16 aEnd[2*HP_MIN_RADIX];
  int shift = 0;
  u32 nSlot, nMost = 0;
  u32 i, k;
  assert( n<HP_MIN_RADIX && mn<=mx );
  while( (mx-mn)>>shift >= 2*n ) shift++;
  nSlot = (u32)((mx-mn)>>shift) + 1;
  assert( nSlot<=ArraySize(aEnd) );
  memset(aEnd, 0, sizeof(aEnd[0])*nSlot);
  for(i=0; i<n; i++) aEnd[(a[i].prefix-mn)>>shift]++;
  for(i=k=0; i<nSlot; i++){
    nMost = MAX(nMost, aEnd[i]);
    k += aEnd[i];
    aEnd[i] = (u16)k;
  }
  assert( k==n );
  if( nMost>HP_ORDER_SLOT ) return 0;
  /* From the end, so that equal ones stay in their order */
  for(i=n; i>0; i--) aTmp[--aEnd[(a[i-1].prefix-mn)>>shift]] = a[i-1];
  for(i=0; i<n; i++){
    struct HpSorted x = aTmp[i];
    for(k=i; k>0 && a[k-1].prefix>x.prefix; k--) a[k] = a[k-1];
    a[k] = x;
  }
  return 1;
}

/*
** Sort a[0..n-1], entries of equal prefix, by all ORDER BY terms, with scratch
** aTmp.
*/
static void hpAggOrderTies(
  const HpAggDef *pDef,
  struct HpSorted *a,
  struct HpSorted *aTmp,
  u32 n
){
#define hpTieLess(X,Y) hpAggOrderLess(pDef, (u64*)(X)->aEntry, (u64*)(Y)->aEntry)
  HP_RADIX_MERGE(a, aTmp, n, hpTieLess)
#undef hpTieLess
}

/*
** Sort the n entries of the pieces from pList on: one sorted part.  a and aCopy
** are scratch for 2*n entries to sort, and for n entries.
*/
static void hpAggOrderPart(
  const HpAggDef *pDef,
  HpList *pList,
  u32 n,
  struct HpSorted *a,
  u8 *aCopy
){
  u32 sz = pDef->szEntry;
  u64 mDiff = 0;
  u64 mMore = 0;
  u64 mn = ~(u64)0, mx = 0;
  int bSorted = 1;       /* Prefixes increase */
  int bMoved = 0;        /* Entries are not where they belong */
  HpList *pTo;
  u32 i = 0, j;
  for(pTo=pList; pTo; pTo=pTo->pNext){
    u8 *z = (u8*)hpListEntry(pTo);
    if( pTo->pNext ) hpListPrefetch(pTo->pNext)
    for(j=0; j<pTo->n; j++, i++, z+=sz){
      a[i].prefix = ((u64*)z)[0];
      a[i].aEntry = z;
      mMore |= ((u64*)z)[1];
      mDiff |= a[i].prefix ^ a[0].prefix;
      mn = MIN(mn, a[i].prefix);
      mx = MAX(mx, a[i].prefix);
      if( i>0 && a[i].prefix<=a[i-1].prefix ){
        bSorted = 0;
        bMoved |= a[i].prefix<a[i-1].prefix;
      }
    }
  }
  assert( i==n );
  if( bSorted ) return;
  if( bMoved ){
    if( n<HP_MIN_RADIX ){
      if( !hpAggOrderSpread(a, &a[n], n, mn, mx) ) hpAggOrderFew(a, &a[n], n);
    }else{
      hpRadixPass(a, &a[n], n, mDiff);
    }
  }
  if( mMore & 1 ){
    bMoved = 1;
    for(i=0; i<n; i=j){
      for(j=i+1; j<n && a[j].prefix==a[i].prefix; j++){}
      if( j-i>1 ) hpAggOrderTies(pDef, &a[i], &a[n], j-i);
    }
  }
  if( bMoved==0 ) return;
  if( sz==16 ){
    for(i=0; i<n; i++) memcpy(&aCopy[(size_t)i*16], a[i].aEntry, 16);
  }else{
    for(i=0; i<n; i++) memcpy(&aCopy[(size_t)i*sz], a[i].aEntry, sz);
  }
  for(pTo=pList; pTo; pTo=pTo->pNext){
    memcpy(hpListEntry(pTo), aCopy, (size_t)sz*pTo->n);
    aCopy += (size_t)sz*pTo->n;
  }
}

#ifdef SQLITE_DEBUG
/* Do the entries of the part that begins with pList come in order? */
static int hpAggOrderIsSorted(const HpAggDef *pDef, const HpList *pList){
  const u64 *aPrior = 0;
  u32 i;
  for(; pList; pList=pList->pNext){
    const u64 *a = hpListEntry(pList);
    for(i=0; i<pList->n; i++, a+=pDef->szEntry/8){
      if( aPrior && !hpAggOrderLess(pDef, aPrior, a) ) return 0;
      aPrior = a;
    }
  }
  return 1;
}

/* Are the counts of pOrder, which has been sorted, those of its parts? */
static int hpAggOrderIsWhole(const HpAggOrder *pOrder){
  const HpList *pPart, *pList;
  const HpList *pLast = 0;
  u32 nPart = 0;
  u32 n = 0;
  for(pPart=pOrder->pFirst; pPart; pPart=pPart->pPart){
    pLast = pPart;
    nPart++;
    for(pList=pPart; pList; pList=pList->pNext) n += pList->n;
  }
  return nPart==pOrder->nPart && n==pOrder->nEntry && pLast==pOrder->pLast;
}
#endif

/*
** Put the entries of all groups of worker p in order.
*/
static int hpAggOrderSort(HpRuns *pRuns){
  const HpGroupPlan *pPlan = hpGroupOf(pRuns->pPlan);
  u32 nGroup = pRuns->nEntry;
  HpBuf buf;             /* Scratch */
  u32 nDone = 0;
  u32 i;
  int k;
  int rc = SQLITE_OK;
  memset(&buf, 0, sizeof(buf));
  for(k=0; k<pPlan->nAgg && rc==SQLITE_OK; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    if( pDef->eAgg!=HP_AGG_ORDER ) continue;
    for(i=0; i<nGroup && rc==SQLITE_OK; i++){
      HpAggOrder *pOrder = hpGroupState(pDef, hpHeldAt(pRuns, i));
      HpList *pList = pOrder->pFirst;
      assert( pOrder->nPart==0 );  /* They are sorted once */
      if( i+2<nGroup ){
        /* Groups lie one after the other, but their entries do not */
        HpAggOrder *pNext = hpGroupState(pDef, hpHeldAt(pRuns, i+2));
        if( pNext->pFirst ) hpListPrefetch(pNext->pFirst)
      }
      if( pList ) pOrder->pLast->n = pOrder->pLast->nAlloc - pOrder->nFree;
      pOrder->nFree = 0;
      while( pList && rc==SQLITE_OK ){
        HpList *pEnd = pList;      /* The last piece of the part */
        HpList *pNext;
        u32 n = pOrder->nEntry;
        u64 nByte;
        if( n<=HP_ORDER_PART ){
          pNext = 0;
        }else{
          n = pList->n;
          while( (pNext = pEnd->pNext)!=0 && n+pNext->n<=HP_ORDER_PART ){
            n += pNext->n;
            pEnd = pNext;
          }
          pEnd->pNext = 0;
        }
        pOrder->pLast = pList;
        pOrder->nPart++;
        pList->pPart = pNext;
        nByte = (2*sizeof(struct HpSorted) + (u64)pDef->szEntry)*n;
        buf.n = 0;
        if( hpBufRoom(&buf, (u32)nByte) ){
          rc = HP_DECLINE;
          break;
        }
        hpAggOrderPart(pDef, pList, n, (struct HpSorted*)buf.a,
                       &buf.a[2*sizeof(struct HpSorted)*(size_t)n]);
        assert( hpAggOrderIsSorted(pDef, pList) );
        pList = pNext;
        nDone += n;
        if( nDone>=HP_ORDER_PART ){
          nDone = 0;
          rc = hpThreadStopped(pRuns->pWorker->pPipe);
        }
      }
    }
  }
  sqlite3_free(buf.a);
  return rc;
}

/*
** Add the entries of pFrom, which are sorted, to those of pTo.
*/
static void hpAggOrderMerge(HpAggOrder *pTo, const HpAggOrder *pFrom){
  assert( (pFrom->nPart==0)==(pFrom->pFirst==0) );
  assert( (pTo->nPart==0)==(pTo->pFirst==0) );
  assert( hpAggOrderIsWhole(pTo) && hpAggOrderIsWhole(pFrom) );
  if( pFrom->pFirst==0 ) return;
  if( pTo->pFirst==0 ){
    *pTo = *pFrom;
    return;
  }
  pTo->pLast->pPart = pFrom->pFirst;
  pTo->pLast = pFrom->pLast;
  pTo->nPart += pFrom->nPart;
  pTo->nEntry += pFrom->nEntry;
  pTo->nText += pFrom->nText;
}

/* For each piece of the sorted entries pOrder */
#define HP_EACH_PIECE(ORDER,...) { \
  const HpList *pPart; \
  const HpList *pList; \
  for(pPart=(ORDER)->pFirst; pPart; pPart=pPart->pPart){ \
    for(pList=pPart; pList; pList=pList->pNext) __VA_ARGS__ \
  } \
}

/*
** Bytes that the entries of group aGroup take in a file.
*/
static u64 hpAggOrderSize(const HpGroupPlan *pPlan, const u8 *aGroup){
  u64 n = 0;
  HP_EACH_STATE(pPlan, (u8*)aGroup, ==HP_AGG_ORDER, HpAggOrder, {
    HP_EACH_PIECE(pState, {
      n += sizeof(*pList) + (u64)pDef->szEntry*pList->n;
    })
    n += (u64)pState->nText;
  })
  return n;
}

/*
** Bytes of what there is more of an entry of pDef.
*/
static u64 hpMoreSize(const HpAggDef *pDef, const u64 *aMore){
  if( pDef->bSelf==0 ) return 8 + hpTextSize(hpTextLen((const u8*)&aMore[1]));
  if( hpAggOrderType(aMore[0], 0)<HP_TYPE_TEXT ) return 16;
  return 16 + hpTextSize(hpTextLen((const u8*)&aMore[2]));
}

/*
** Write the entries of group aGroup to a: each piece of a list, and after it
** what its entries have the addresses of.  Returns where that ends.  Addresses
** become offsets from aBase, where the group begins.
*/
static u8 *hpAggOrderWrite(
  const HpGroupPlan *pPlan,
  const u8 *aGroup,
  u8 *a,
  const u8 *aBase
){
  HP_EACH_STATE(pPlan, (u8*)aGroup, ==HP_AGG_ORDER, HpAggOrder, {
    HP_EACH_PIECE(pState, {
      size_t n = sizeof(*pList) + (size_t)pDef->szEntry*pList->n;
      u64 *aEntry = hpListEntry((HpList*)a);
      u32 i;
      memcpy(a, pList, n);
      a += n;
      for(i=0; i<pList->n; i++, aEntry+=pDef->szEntry/8){
        u64 info = hpAggOrderInfo(aEntry);
        int k;
        if( hpAggOrderIsMore(aEntry) ){
          const u64 *aMore = hpAggOrderMore(aEntry);
          n = (size_t)hpMoreSize(pDef, aMore);
          memcpy(a, aMore, n);
          aEntry[1] = (u64)(a-aBase) + 1;
          a += n;
        }
        for(k=0; k<pDef->nArg && pDef->bSelf==0; k++){
          if( hpAggOrderType(info, k)>=HP_TYPE_TEXT ){
            const u8 *z = hpAggOrderPtr(aEntry[2+k]);
            n = (size_t)hpTextSize(hpTextLen(z));
            memcpy(a, z, n);
            aEntry[2+k] = (u64)(a-aBase);
            a += n;
          }
        }
      }
    })
  })
  return a;
}

/*
** Set the addresses in the entries of group aGroup, which has been read with
** them: they begin at a.  Returns where they end.
*/
static u8 *hpAggOrderPointers(const HpGroupPlan *pPlan, u8 *aGroup, u8 *a){
  HP_EACH_STATE(pPlan, aGroup, ==HP_AGG_ORDER, HpAggOrder, {
    u32 n = 0;
    HpList *pPrior = 0;  /* The piece before, of the same part */
    pState->pFirst = pState->pLast = 0;
    while( n<pState->nEntry ){
      HpList *pList = (HpList*)a;
      u64 *aEntry = hpListEntry(pList);
      u32 i;
      a += sizeof(*pList) + (size_t)pDef->szEntry*pList->n;
      for(i=0; i<pList->n; i++, aEntry+=pDef->szEntry/8){
        u64 info;
        int k;
        if( hpAggOrderIsMore(aEntry) ){
          assert( a==&aGroup[aEntry[1]-1] );
          aEntry[1] = (u64)(size_t)a + 1;
          a += hpMoreSize(pDef, (u64*)a);
        }
        info = hpAggOrderInfo(aEntry);
        for(k=0; k<pDef->nArg && pDef->bSelf==0; k++){
          if( hpAggOrderType(info, k)>=HP_TYPE_TEXT ){
            assert( a==&aGroup[aEntry[2+k]] );
            aEntry[2+k] = (u64)(size_t)a;
            a += hpTextSize(hpTextLen(a));
          }
        }
      }
      n += pList->n;
      if( pPrior ){
        pPrior->pNext = pList;
      }else if( pState->pLast ){
        pState->pLast->pPart = pList;
      }else{
        pState->pFirst = pList;
      }
      if( pPrior==0 ) pState->pLast = pList;
      pList->pPart = 0;
      /* Of the last piece of a part it was and is NULL */
      pPrior = pList->pNext ? pList : 0;
    }
    assert( pPrior==0 && hpAggOrderIsWhole(pState) );
  })
  return a;
}

/*
** Set pMem to argument k of entry a.
*/
static SQLITE_INLINE void hpAggOrderToMem(
  const HpAggDef *pDef,
  const u64 *a,
  int k,
  Mem *pMem
){
  int eType = hpAggOrderType(hpAggOrderInfo(a), k);
  const u8 *z = 0;
  HpVal v;
  assert( k<pDef->nArg && (pDef->bSelf==0 || k==0) );
  if( pDef->bSelf==0 ){
    v.u = a[2+k];
    if( eType>=HP_TYPE_TEXT ) z = hpAggOrderPtr(v.u);
  }else if( hpAggOrderIsMore(a) ){
    v.u = hpAggOrderMore(a)[1];
    z = (const u8*)&hpAggOrderMore(a)[2];
  }else{
    /* Back from word 0 */
    v.u = (pDef->aTerm[0].flags & KEYINFO_ORDER_DESC) ? ~a[0] : a[0];
    v.u ^= (v.u>>63) ? (u64)1<<63 : ~(u64)0;
    if( eType==HP_TYPE_INT ) v.i = (i64)v.r;
  }
  switch( eType ){
    case HP_TYPE_NULL:
      sqlite3VdbeMemSetNull(pMem);
      break;
    case HP_TYPE_INT:
      sqlite3VdbeMemSetInt64(pMem, v.i);
      break;
    case HP_TYPE_REAL:
      sqlite3VdbeMemSetDouble(pMem, v.r);
      break;
    case HP_TYPE_ZERO:
      sqlite3VdbeMemSetDouble(pMem, -0.0);
      break;
    default:
      hpKeyMemPoint(pMem, eType==HP_TYPE_TEXT ? HP_TEXT : HP_BLOB,
                    &z[HP_TEXT_HEAD], hpTextLen(z));
      if( z[4] ){
        pMem->flags |= MEM_Subtype;
        pMem->eSubtype = z[4]-1;
      }
      break;
  }
}

/*
** Go to the next entry of a sorted part.  Returns false at its end.
*/
static SQLITE_INLINE int hpCursorNext(const HpAggDef *pDef, HpCursor *pCursor){
  pCursor->a += pDef->szEntry/8;
  if( pCursor->a<pCursor->aEnd ) return 1;
  pCursor->pList = pCursor->pList->pNext;
  if( pCursor->pList==0 ) return 0;
  if( pCursor->pList->pNext ) hpListPrefetch(pCursor->pList->pNext)
  pCursor->a = hpListEntry(pCursor->pList);
  pCursor->aEnd = pCursor->a + (size_t)pCursor->pList->n*(pDef->szEntry/8);
  return 1;
}

/*
** Make the heap aCursor[0..n-1] one again where only entry i may be too late for
** its place.
*/
static void hpCursorSift(const HpAggDef *pDef, HpCursor *aCursor, u32 n, u32 i){
  HpCursor x = aCursor[i];
  u32 j;
  while( (j = 2*i+1)<n ){
    if( j+1<n && hpAggOrderLess(pDef, aCursor[j+1].a, aCursor[j].a) ) j++;
    if( hpAggOrderLess(pDef, x.a, aCursor[j].a) ) break;
    aCursor[i] = aCursor[j];
    i = j;
  }
  aCursor[i] = x;
}

/*
** Are two entries, one after the other in the order, equal but for their rows?
*/
static int hpAggOrderSame(const HpAggDef *pDef, const u64 *a, const u64 *b){
  return a[0]==b[0] && (!hpAggOrderIsMore(a) || hpAggOrderCompare(pDef, a, b)==0);
}

/*
** Call the step function of pDef for all entries of pOrder in order.  pMem, which
** is NULL, becomes the context.  Worker p does it.  bAhead: an error is none yet.
*/
static int hpAggOrderCalls(
  HpWorker *p,
  const HpAggDef *pDef,
  const HpAggOrder *pOrder,
  Mem *pMem,
  int bAhead
){
  HpCursor aSmall[8];
  HpCursor *aCursor = aSmall;
  HpAggCall call;
  const HpList *pList;
  u32 n = pOrder->nPart;
  u32 i;
  int k, rc = SQLITE_OK;

  if( n>ArraySize(aSmall) ){
    aCursor = sqlite3_malloc64(sizeof(HpCursor)*(u64)n);
    if( aCursor==0 ) return SQLITE_NOMEM_BKPT;
  }
  i = 0;
  for(pList=pOrder->pFirst; pList; pList=pList->pPart){
    aCursor[i].pList = pList;
    aCursor[i].a = hpListEntry(pList);
    aCursor[i].aEnd = aCursor[i].a + (size_t)pList->n*(pDef->szEntry/8);
    i++;
  }
  assert( i==n && hpAggOrderIsWhole(pOrder) );
  for(i=n/2; i>0; i--) hpCursorSift(pDef, aCursor, n, i-1);

  hpAggCallBegin(&call, p, pDef, pMem, bAhead);
  while( n>0 && rc==SQLITE_OK ){
    /* Of two, which is the usual number, the smaller one; of more, the first of the heap */
    HpCursor *pFirst = aCursor;
    const u64 *a;
    if( n==2 && hpAggOrderLess(pDef, aCursor[1].a, aCursor[0].a) ) pFirst = &aCursor[1];
    a = pFirst->a;
    if( hpCursorNext(pDef, pFirst)==0 ) *pFirst = aCursor[--n];
    if( n>2 ) hpCursorSift(pDef, aCursor, n, 0);
    if( pDef->bUnique && n>0 && (hpAggOrderSame(pDef, a, aCursor[0].a)
     || (n==2 && hpAggOrderSame(pDef, a, aCursor[1].a)))
    ){
      continue;
    }
    for(k=0; k<pDef->nArg; k++) hpAggOrderToMem(pDef, a, k, &call.aMem[k]);
    rc = hpAggCallStep(&call);
  }
  hpAggCallEnd(&call);
  if( aCursor!=aSmall ) sqlite3_free(aCursor);
  return rc;
}

/*
** Ask for the first entries of pOrder.
*/
static void hpAggOrderPrefetch(const HpAggOrder *pOrder, int bFar){
  const HpList *pPart;
  if( bFar ){
    hpPrefetch(pOrder->pFirst);
    return;
  }
  for(pPart=pOrder->pFirst; pPart; pPart=pPart->pPart) hpListPrefetch(pPart)
}

/*
** What calling the step function for all of pOrder takes, in calls.
*/
static u64 hpAggOrderCost(const HpAggOrder *pOrder){
  return pOrder->nEntry + (u64)pOrder->nText/HP_ORDER_COST;
}
#endif /* SQLITE_OMIT_HP */
