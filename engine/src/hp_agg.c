/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_agg: the groups of one worker and their aggregates.
**
**    hpAggOpen()     an empty table of groups
**    hpAggStep()     add the selected rows of a batch
**    hpGroupMerge()  add one worker's part of a group to another's
**    hpGroupLoad()   copy a group into the registers of AggInfo
**    hpAggReset()    no groups any more
**    hpAggClose()    free everything
**
** Groups are numbered as they appear.  A group is HpPlan.szGroup bytes: the
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
** What has ORDER BY inside keeps a list of entries (hp_order.c).
** hpGroupLoad() copies the states into aggregate contexts, and stock's
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
** which row came first.  Sums of integers are exact unless some partial sum
** in row order overflows; an upper bound of what was added tells that none
** can.  Sums of reals are pairs of sum and error (Kahan, Babuska, Neumaier),
** which rounded give the exact sum's double, in whatever order they were
** added, unless large terms cancel: the largest sum on the way is kept to see
** that.  So a worker may also add up four sums side by side.  Where one of
** that is in doubt HP_SERIAL says so, and the scan runs again with one worker
** that adds up row by row.
**
** When memory is short the groups are written to a file and forgotten
** (hp_merge.c), at the end of a batch.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_CHUNK       128    /* Groups a chunk */
#define HP_MX_ORDERED  64     /* Up to so many groups rows are ordered by group */
#define HP_MX_CACHED   256    /* Up to so many groups are in L1 or L2 anyway */
#define HP_FEW_SLOT    4096   /* Entries of HpAgg.aFew */
#define HP_MIN_MEMORY  (1024*1024)  /* So much a batch may take in any case */
#define HP_MIN_LANES   16     /* So many values are summed side by side */
#define HP_MIN_SLOT    1024   /* Entries of a new hash table */
#define HP_MX_DIRECT   (256*1024)  /* Largest range of HpAgg.aDirect */
#define HP_MN_DIRECT   8      /* Its range is at most so many times the groups */
#define HP_MX_SLOT     (4*HP_BATCH)  /* So many it may have in any case */
#define HP_MIN_ORDERED 8      /* ... if there are so many rows for each of them */

/* A copy of a value in memory of its own: a bare column, or a best value */
typedef struct HpCopy HpCopy;
struct HpCopy {
  HpVal val;             /* z points to aBuf */
  u8 *aBuf;              /* Space for text, from the arena */
  u32 n;                 /* Bytes of text */
  u32 nAlloc;            /* Bytes of aBuf */
  u8 tag;                /* HP_xxx, or 0 if there is none yet */
};

/* State of sum, total and avg: stock's SumCtx in less space */
typedef struct HpSum HpSum;
struct HpSum {
  union {
    struct { i64 iSum; u64 mAbs; } i;    /* Integers only: sum, OR of sizes */
    struct { double rSum, rErr; } r;     /* HP_SUM_REAL: sum and error */
  } u;
  double mx;             /* HP_SUM_REAL: the largest size of a sum so far */
  i64 n;                 /* HP_SUM_ONE times the number of values, plus flags */
};
#define HP_SUM_REAL  1   /* SumCtx.approx */
#define HP_SUM_OVRFL 2   /* SumCtx.ovrfl */
#define HP_SUM_ONE   4
#define hpSumIsReal(S)  (((S)->n & HP_SUM_REAL)!=0)
#define hpSumCount(S)   ((S)->n>>2)

/* State of min and max */
typedef struct HpBest HpBest;
struct HpBest {
  HpCopy copy;           /* The best value so far */
  u64 iPos;              /* Position of its row plus one.  As long as there is no
                         ** value: of the last row, or 0 */
};

/* What every group has */
typedef struct HpHead HpHead;
struct HpHead {
  u64 iPos;              /* Position of its first row, or HP_NO_POS */
  const u8 *z;           /* Its key record; NULL: see hpGroupIsInt() */
  u32 nNorm;             /* Bytes of the normalized keys, and ... */
  u32 nRec;              /* ... of the whole record */
};
#define HP_NO_POS (~(u64)0)

/* The values that DISTINCT has seen, each after the number of its group */
typedef struct HpSet HpSet;
struct HpSet {
  const u8 **apSlot;     /* Hash table: entries in the arena, or NULL */
  u32 mSlot;             /* Number of its entries, less one */
  u32 nUsed;             /* Entries in use */
};

struct HpAgg {
  const HpPlan *pPlan;
  u32 *aSlot;            /* Hash table: salt, number of the group plus one */
  u32 mSlot;             /* Number of its entries, less one */
  u32 nGroup;            /* Groups so far */
  u8 bOrdered;           /* Their keys increase; the hash table is empty */
  u8 bRecord;            /* Some of them have key records */
  u32 nSame;             /* Bytes that all normalized keys begin with */
  u8 bNoDirect;          /* The only key is no integer of a small range */
  u32 nDirect;           /* The only key: integers from iDirect on, so many, ... */
  i64 iDirect;
  u32 *aDirect;          /* ... number plus one of each one's group; 0: look */
  u8 **apChunk;          /* Chunks of groups */
  u32 nChunkAlloc;       /* Size of apChunk */
  HpPack *aGroupPack;    /* Packed keys of the first HP_MX_CACHED groups; b is 0,
                         ** as in no pack, where there is none */
  u8 *aFew;              /* Which of them was last seen, by hpFewSlot() */
  HpArena arena;         /* Chunks, keys, copies */
  i64 nTable;            /* Bytes of aSlot, apChunk, and sets */
  HpSet *aSet;           /* HpPlan.nSet sets */
  /* Scratch for a batch, in selection order */
  HpPack *aPack;         /* Packed keys */
  u64 *aHash;            /* Hash values */
  HpBuf norm;            /* Normalized keys of rows that have no pack, ... */
  u32 *aNorm;            /* ... and where each begins */
  u32 *aiGroup;          /* Number of the group of each selected row */
  u8 **apGroup;          /* That group */
  u16 *aRow;             /* Selected rows in order of their groups */
  u16 *aPart;            /* Rows that pass FILTER and DISTINCT, ... */
  u8 **apPart;           /* ... and their groups */
  HpBuf key;             /* Scratch for a key record */
  /* hp_merge.c */
  struct HpSign {        /* What is known of the parts of a sum */
    u64 mAbs;              /* OR of HpSum.mAbs */
    u8 bReal;              /* Some are real */
    u8 bMinus, bPlus;      /* Some are negative, some positive */
    u8 bOdd;               /* Some are not sound */
  } *aSign;              /* One for each aggregate */
  struct HpSorted { u64 prefix; u8 *aGroup; } *aSorted;
  u32 nSortedAlloc;      /* Entries allocated */
  i64 nRowByte;          /* HP_SINK_SORT: bytes of rows not yet in a run, ... */
  HpBuf *aMemRun;        /* ... sorted runs in memory, ... */
  int nMemRun, nMemRunAlloc;
  i64 nMemByte;          /* ... and their bytes */
  u8 bLanes;             /* Some sums were added up side by side */
  struct HpSpill *pSpill;  /* Runs of groups in a temporary file, or NULL */
};

/* Where the pack, the head, a bare column, and the state of an aggregate are
** in a group */
#define hpGroupPack(G)          ((HpPack*)(G))
#define hpGroupHead(PLAN,G)     ((HpHead*)&(G)[(PLAN)->iHeadOff])
#define hpGroupBare(BARE,G)     ((HpCopy*)&(G)[(BARE)->iOff])
#define hpGroupState(DEF,G)     ((void*)&(G)[(DEF)->iOff])

/* True if the only key of group G is an integer, which its pack holds */
#define hpGroupIsInt(PLAN,G)    ((PLAN)->bIntKey && hpGroupHead(PLAN,G)->z==0)

/*
** The normalized key of a group, and in *pn its length.  aBuf is scratch.
*/
static const u8 *hpGroupKey(
  const HpPlan *pPlan,
  const u8 *aGroup,
  u8 *aBuf,              /* HP_SZ_NUMBER bytes */
  u32 *pn
){
  const HpHead *pHead = hpGroupHead(pPlan, aGroup);
  if( hpGroupIsInt(pPlan, aGroup) ){
    *pn = hpKeyInt(aBuf, (i64)hpGroupPack(aGroup)->a, pPlan->aKeySort[0]);
    return aBuf;
  }
  *pn = pHead->nNorm;
  return pHead->z;
}

static u8 *hpAggGroup(const HpAgg *pAgg, u32 iGroup){
  return pAgg->apChunk[iGroup/HP_CHUNK]
         + (size_t)(iGroup%HP_CHUNK)*pAgg->pPlan->szGroup;
}

/*
** Lay out a group: fills the offsets in pPlan and returns the size of a group.
** sum(X), total(X) and avg(X) keep one state.  What is touched for each row
** comes first.
*/
static int hpAggLayout(HpPlan *pPlan){
  int n = pPlan->nKey ? sizeof(HpPack) : 0;
  int i, j;
  pPlan->bIntKey = pPlan->nKey==1 && pPlan->aKeyColl[0]==0;
  for(i=0; i<pPlan->nAgg; i++){
    HpAggDef *pDef = &pPlan->aAgg[i];
    for(j=0; j<i && pDef->eAgg==HP_AGG_SUM && pDef->iSet<0; j++){
      const HpAggDef *pOther = &pPlan->aAgg[j];
      if( pOther->eAgg==HP_AGG_SUM && pOther->iVec==pDef->iVec
       && pOther->iFilter==pDef->iFilter && pOther->iSet<0
      ){
        pDef->bShared = 1;
        pDef->iOff = pPlan->aAgg[j].iOff;
        break;
      }
    }
    if( pDef->bShared ) continue;
    pDef->iOff = (u16)n;
    switch( pDef->eAgg ){
      case HP_AGG_COUNT:  n += sizeof(i64);     break;
      case HP_AGG_SUM:    n += sizeof(HpSum);   break;
      case HP_AGG_CALL:   n += ROUND8(sizeof(Mem));  break;
      case HP_AGG_ORDER:  n += sizeof(HpOrder);      break;
      default:            n += sizeof(HpBest);  break;
    }
  }
  pPlan->iHeadOff = (u16)n;
  n += sizeof(HpHead);
  for(i=0; i<pPlan->nBare; i++){
    if( pPlan->aBare[i].iKey>=0 ) continue;
    pPlan->aBare[i].iOff = (u16)n;
    n += sizeof(HpCopy);
  }
  return n;
}

/* Bytes of memory in use, and what sorting the groups would take */
static i64 hpAggMemory(const HpAgg *pAgg){
  return pAgg->arena.nTotal + pAgg->nTable
       + 2*(i64)sizeof(struct HpSorted)*pAgg->nGroup;
}

/*
** Create a group, all states empty, and return it, or NULL.
*/
static u8 *hpAggNewGroup(HpAgg *pAgg){
  u32 iGroup = pAgg->nGroup;
  u8 *aGroup;
  if( iGroup%HP_CHUNK==0 ){
    u32 iChunk = iGroup/HP_CHUNK;
    int nFirst = pAgg->pPlan->nKey ? HP_CHUNK : 1;
    if( iChunk>=pAgg->nChunkAlloc ){
      u32 nNew = pAgg->nChunkAlloc ? pAgg->nChunkAlloc*2 : 16;
      u8 **apNew = sqlite3_realloc64(pAgg->apChunk, sizeof(u8*)*(u64)nNew);
      if( apNew==0 ) return 0;
      pAgg->nTable += sizeof(u8*)*(i64)(nNew-pAgg->nChunkAlloc);
      pAgg->apChunk = apNew;
      pAgg->nChunkAlloc = nNew;
    }
    pAgg->apChunk[iChunk] =
        hpArenaAlloc(&pAgg->arena, (i64)nFirst*pAgg->pPlan->szGroup);
    if( pAgg->apChunk[iChunk]==0 ) return 0;
  }
  pAgg->nGroup++;
  aGroup = hpAggGroup(pAgg, iGroup);
  memset(aGroup, 0, pAgg->pPlan->szGroup);
  hpGroupHead(pAgg->pPlan, aGroup)->iPos = HP_NO_POS;
  return aGroup;
}

/*
** Release the contexts of aggregate functions that have not been finished.
*/
static void hpAggRelease(HpAgg *pAgg){
  const HpPlan *pPlan = pAgg->pPlan;
  u32 i;
  int k;
  for(k=0; k<pPlan->nAgg; k++){
    if( pPlan->aAgg[k].eAgg!=HP_AGG_CALL ) continue;
    for(i=0; i<pAgg->nGroup; i++){
      Mem *pMem = hpGroupState(&pPlan->aAgg[k], hpAggGroup(pAgg, i));
      if( pMem->db ) sqlite3VdbeMemRelease(pMem);
    }
  }
}

/*
** Open the groups of p->pPlan.
*/
static int hpAggOpen(HpExec *p, HpAgg **ppAgg){
  const HpPlan *pPlan = p->pPlan;
  int n = p->batch.nAlloc;
  HpAgg *pAgg;

  *ppAgg = pAgg = sqlite3_malloc64(sizeof(*pAgg));
  if( pAgg==0 ) return HP_DECLINE;
  memset(pAgg, 0, sizeof(*pAgg));
  pAgg->pPlan = pPlan;
  pAgg->aPart = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)n);
  /* Sets and opaque states are never put aside, nor is this arena cleared */
  pAgg->aSet = hpArenaAlloc(&pAgg->arena, sizeof(HpSet)*(i64)(pPlan->nSet+1));
  pAgg->aSign = hpArenaAlloc(&p->vec, sizeof(pAgg->aSign[0])*(i64)(pPlan->nAgg+1));
  if( pAgg->aPart==0 || pAgg->aSet==0 || pAgg->aSign==0 ) return HP_DECLINE;
  memset(pAgg->aSign, 0, sizeof(pAgg->aSign[0])*(pPlan->nAgg+1));
  memset(pAgg->aSet, 0, sizeof(HpSet)*(pPlan->nSet+1));
  if( pPlan->nKey==0 ) return hpAggNewGroup(pAgg) ? SQLITE_OK : HP_DECLINE;
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
  pAgg->nTable = 2*sizeof(u32)*(i64)(pAgg->mSlot+1);
  pAgg->aSlot = sqlite3_malloc64(pAgg->nTable);
  if( pAgg->apPart==0 || pAgg->aiGroup==0 || pAgg->apGroup==0 || pAgg->aRow==0
   || pAgg->aPack==0 || pAgg->aGroupPack==0 || pAgg->aHash==0
   || pAgg->aFew==0
   || pAgg->aNorm==0 || pAgg->aSlot==0
  ){
    return HP_DECLINE;
  }
  memset(pAgg->aSlot, 0, pAgg->nTable);
  pAgg->bOrdered = 1;
  memset(pAgg->aFew, 0, HP_FEW_SLOT);
  memset(pAgg->aGroupPack, 0, sizeof(HpPack)*HP_MX_CACHED);
  return SQLITE_OK;
}

/*
** Forget all groups.  Their states have been written to a file.
*/
static void hpAggReset(HpAgg *pAgg){
  assert( pAgg->pPlan->bOpaque==0 && pAgg->pPlan->nKey>0 );
  hpArenaRecycle(&pAgg->arena);
  pAgg->nGroup = 0;
  if( pAgg->nDirect ) memset(pAgg->aDirect, 0, sizeof(u32)*pAgg->nDirect);
  memset(pAgg->aSlot, 0, 2*sizeof(u32)*((size_t)pAgg->mSlot+1));
  memset(pAgg->aGroupPack, 0, sizeof(HpPack)*HP_MX_CACHED);
}

static void hpAggClose(HpAgg *pAgg){
  if( pAgg ){
    int i;
    if( pAgg->pPlan->bOpaque ) hpAggRelease(pAgg);
    for(i=0; pAgg->aSet && i<pAgg->pPlan->nSet; i++){
      sqlite3_free(pAgg->aSet[i].apSlot);
    }
    hpSpillClose(pAgg);
    hpRunsFree(pAgg);
    sqlite3_free(pAgg->aMemRun);
    hpArenaClear(&pAgg->arena);
    sqlite3_free(pAgg->norm.a);
    sqlite3_free(pAgg->key.a);
    sqlite3_free(pAgg->aSlot);
    sqlite3_free(pAgg->aDirect);
    sqlite3_free(pAgg->apChunk);
    sqlite3_free(pAgg->aSorted);
    sqlite3_free(pAgg);
  }
}

/* Mix the bits of x */
static SQLITE_INLINE u64 hpMix(u64 x){
  x ^= x>>32;
  x *= ((u64)0x9e3779b9<<32)|0x7f4a7c15;
  x ^= x>>29;
  return x;
}

/* A hash of n bytes */
static u64 hpHashBytes(const u8 *z, u32 n){
  u64 h = n;
  u64 x = 0;
  while( n>=8 ){
    h = hpMix(h ^ hpLoad8(z));
    z += 8;
    n -= 8;
  }
  memcpy(&x, z, n);
  return hpMix(h ^ x);
}

/*
** Double the hash table, unless that would take more memory than allowed: then
** it fills up until the end of the batch.
*/
static int hpAggGrow(HpExec *p, HpAgg *pAgg){
  u32 mOld = pAgg->mSlot;
  u32 mNew = mOld*2+1;
  i64 nByte = 2*sizeof(u32)*((i64)mNew+1);
  u32 *aOld = pAgg->aSlot;
  u32 *aNew;
  u32 i;
  if( mNew>=0x7fffffff
   || (mNew>=HP_MX_SLOT && hpAggMemory(pAgg)+nByte>p->nMemory)
  ){
    return pAgg->nGroup>mOld-mOld/8 ? HP_DECLINE : SQLITE_OK;
  }
  aNew = hpMalloc(nByte);
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
  pAgg->nTable += nByte - 2*sizeof(u32)*((i64)mOld+1);
  sqlite3_free(aOld);
  pAgg->aSlot = aNew;
  pAgg->mSlot = mNew;
  return SQLITE_OK;
}

/*
** Copy row i of pVec into *pCopy.
*/
static int hpCopySet(HpAgg *pAgg, HpCopy *pCopy, const HpVec *pVec, int i){
  i &= pVec->mIdx;
  pCopy->tag = pVec->aTag[i];
  pCopy->val = pVec->aVal[i];
  if( pCopy->tag & HP_STR ){
    u32 n = pVec->aLen[i];
    if( n>=pCopy->nAlloc ){
      u32 nAlloc = pCopy->nAlloc ? MAX(n, 2*pCopy->nAlloc) : n;
      u8 *aBuf = hpArenaAlloc(&pAgg->arena, (i64)nAlloc+8);
      if( aBuf==0 ) return HP_DECLINE;
      pCopy->aBuf = aBuf;
      pCopy->nAlloc = nAlloc;
    }
    memcpy(pCopy->aBuf, pCopy->val.z, n);
    memset(&pCopy->aBuf[n], 0, 8);
    pCopy->val.z = pCopy->aBuf;
    pCopy->n = n;
  }
  return SQLITE_OK;
}

/*
** Let the bare columns of a group show row i.
*/
static int hpAggLoad(HpExec *p, u8 *aGroup, int i){
  const HpPlan *pPlan = p->pPlan;
  int k, rc;
  for(k=0; k<pPlan->nBare; k++){
    const struct HpBare *pBare = &pPlan->aBare[k];
    if( pBare->iKey>=0 ) continue;
    rc = hpCopySet(p->pAgg, hpGroupBare(pBare, aGroup),
                   &p->aVec[pBare->iVec], i);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}

/*
** Create the group of selected row ii.  bNorm: its normalized key is in
** pAgg->key.
*/
static int hpAggInsert(HpExec *p, int ii, int bNorm){
  const HpPlan *pPlan = p->pPlan;
  HpAgg *pAgg = p->pAgg;
  int row = p->aSel[ii];
  HpHead *pHead;
  u8 *aGroup;
  u8 *z;

  /* It is at the end of the batch that groups can be put aside */
  if( hpAggMemory(pAgg)>2*p->nMemory+HP_MIN_MEMORY ) return HP_DECLINE;
  aGroup = hpAggNewGroup(pAgg);
  if( aGroup==0 ) return HP_DECLINE;
  *hpGroupPack(aGroup) = pAgg->aPack[ii];
  if( pAgg->nGroup<=HP_MX_CACHED && pAgg->aPack[ii].b!=HP_UNPACKED ){
    pAgg->aGroupPack[pAgg->nGroup-1] = pAgg->aPack[ii];
  }
  pHead = hpGroupHead(pPlan, aGroup);
  pHead->iPos = p->iPos + row;
  if( pPlan->bIntKey && pAgg->aPack[ii].b==HP_PACK_INT ){
    const HpVec *pVec = &p->aVec[pPlan->aKey[0]];
    if( pVec->aTag[row & pVec->mIdx]==HP_INT ){
      return pPlan->bLoadFirst ? hpAggLoad(p, aGroup, row) : SQLITE_OK;
    }
  }
  pAgg->bRecord = 1;
  if( !bNorm ){
    pAgg->key.n = 0;
    if( pAgg->bOrdered || pAgg->aPack[ii].b!=HP_UNPACKED ){
      if( hpKeyNorm(p, row, &pAgg->key) ) return HP_DECLINE;
    }else{
      /* hpAggHashAll() has computed it */
      u32 i = pAgg->aNorm[ii];
      u32 n = pAgg->aNorm[ii+1] - i;
      if( hpBufRoom(&pAgg->key, n) ) return HP_DECLINE;
      memcpy(pAgg->key.a, &pAgg->norm.a[i], n);
      pAgg->key.n = n;
    }
  }
  pHead->nNorm = pAgg->key.n;
  if( hpKeyShow(p, row, &pAgg->key) ) return HP_DECLINE;
  pHead->nRec = pAgg->key.n;
  pHead->z = z = hpArenaAlloc(&pAgg->arena, pHead->nRec);
  if( z==0 ) return HP_DECLINE;
  memcpy(z, pAgg->key.a, pHead->nRec);
  if( pAgg->nGroup==1 ){
    pAgg->nSame = pHead->nNorm;
  }else if( !pPlan->bIntKey ){
    const u8 *zFirst = hpGroupHead(pPlan, hpAggGroup(pAgg, 0))->z;
    u32 n = MIN(pAgg->nSame, pHead->nNorm);
    u32 i;
    for(i=0; i<n && z[i]==zFirst[i]; i++){}
    pAgg->nSame = i;
  }
  return pPlan->bLoadFirst ? hpAggLoad(p, aGroup, row) : SQLITE_OK;
}

/* The hash value of packed keys */
#define hpHashPack(P)  hpMix((P)->a ^ hpMix((P)->b))

/*
** Hash values of the selected rows, and normalized keys of those that have no
** pack.  bAll: all have one.
*/
static int hpAggHashAll(HpExec *p, int bAll){
  HpAgg *pAgg = p->pAgg;
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
        if( hpKeyNorm(p, p->aSel[ii], &pAgg->norm) ) return HP_DECLINE;
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
static SQLITE_INLINE int hpAggIsGroup(HpExec *p, const u8 *aGroup, int ii){
  HpAgg *pAgg = p->pAgg;
  const HpPack *pPack = &pAgg->aPack[ii];
  const HpHead *pHead;
  u32 i, n;
  if( pPack->b!=hpGroupPack(aGroup)->b || pPack->a!=hpGroupPack(aGroup)->a ){
    return 0;
  }
  if( pPack->b!=HP_UNPACKED ) return 1;
  pHead = hpGroupHead(p->pPlan, aGroup);
  i = pAgg->aNorm[ii];
  n = pAgg->aNorm[ii+1] - i;
  return n==pHead->nNorm && memcmp(pHead->z, &pAgg->norm.a[i], n)==0;
}

/*
** Find or create the group of selected row ii: pAgg->aiGroup[ii].
*/
static int hpAggFindRow(HpExec *p, int ii){
  HpAgg *pAgg = p->pAgg;
  u32 salt = (u32)(pAgg->aHash[ii]>>16);
  u32 j = salt & pAgg->mSlot;
  u32 iGroup;
  int rc;
  while( (iGroup = pAgg->aSlot[2*j+1])!=0 ){
    if( pAgg->aSlot[2*j]==salt
     && hpAggIsGroup(p, hpAggGroup(pAgg, iGroup-1), ii)
    ){
      break;
    }
    j = (j+1) & pAgg->mSlot;
  }
  if( iGroup==0 ){
    rc = hpAggInsert(p, ii, 0);
    if( rc ) return rc;
    iGroup = pAgg->nGroup;
    pAgg->aSlot[2*j] = salt;
    pAgg->aSlot[2*j+1] = iGroup;
    if( pAgg->nGroup>pAgg->mSlot/2 ){
      rc = hpAggGrow(p, pAgg);
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
static int hpAggFindFew(HpExec *p, int bAll){
  HpAgg *pAgg = p->pAgg;
  u32 mFew = p->pCfg->bHash0 ? 0 : HP_FEW_SLOT-1;
  int nSel = p->nSel;
  int ii;
  for(ii=0; (ii = hpAggFindKnown(pAgg, ii, nSel, mFew))<nSel; ii++){
    const HpPack *pPack = &pAgg->aPack[ii];
    int rc;
    if( bAll ) pAgg->aHash[ii] = mFew ? hpHashPack(pPack) : 0;
    rc = hpAggFindRow(p, ii);
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
static int hpAggFindMany(HpExec *p){
  HpAgg *pAgg = p->pAgg;
  const u64 *aHash = pAgg->aHash;
  int nHot = p->pPlan->iHeadOff;   /* Bytes of a group that are used a row */
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
      u8 *aGroup = hpAggGroup(pAgg, iGroup-1);
      for(k=0; k<nHot; k+=64) hpPrefetch(&aGroup[k]);
    }
  }
  for(ii=0; ii<nSel; ii++){
    u32 iGroup = pAgg->aiGroup[ii];
    if( iGroup==0xffffffff ){
      pAgg->aiGroup[ii] = pAgg->aiGroup[ii-1];
    }else if( iGroup && hpAggIsGroup(p, hpAggGroup(pAgg, iGroup-1), ii) ){
      pAgg->aiGroup[ii] = iGroup-1;
    }else{
      rc = hpAggFindRow(p, ii);
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
static int hpAggFindOrdered(HpExec *p, int *pnDone){
  const HpPlan *pPlan = p->pPlan;
  HpAgg *pAgg = p->pAgg;
  const HpPack *aPack = pAgg->aPack;
  int bPlain = pPlan->nKey==1 && pPlan->aKeySort[0]==0;
  int nSel = p->nSel;
  HpPack last;           /* Keys of the last group */
  int ii, rc;

  last.a = last.b = HP_UNPACKED;
  if( pAgg->nGroup ) last = *hpGroupPack(hpAggGroup(pAgg, pAgg->nGroup-1));
  *pnDone = 0;
  for(ii=0; ii<nSel; ii++){
    const HpPack *pPack = &aPack[ii];
    if( pPack->a!=last.a || pPack->b!=last.b || last.b==HP_UNPACKED ){
      int bNorm = 0;
      int c = 1;
      if( pAgg->nGroup==0 ){
        /* The first row */
      }else if( bPlain && pPack->b==HP_PACK_INT && last.b==HP_PACK_INT ){
        c = (i64)pPack->a>(i64)last.a ? 1 : -1;
      }else{
        u8 aBuf[HP_SZ_NUMBER];
        u32 n;
        const u8 *z =
            hpGroupKey(pPlan, hpAggGroup(pAgg, pAgg->nGroup-1), aBuf, &n);
        pAgg->key.n = 0;
        if( hpKeyNorm(p, p->aSel[ii], &pAgg->key) ) return HP_DECLINE;
        bNorm = 1;
        /* No normalized key is the beginning of another */
        c = memcmp(pAgg->key.a, z, MIN(pAgg->key.n, n));
      }
      if( c<0 ) return SQLITE_OK;
      if( c>0 ){
        rc = hpAggInsert(p, ii, bNorm);
        if( rc ) return rc;
      }
      last = *pPack;
    }
    pAgg->aiGroup[ii] = pAgg->nGroup-1;
    *pnDone = ii+1;
  }
  return SQLITE_OK;
}

/*
** Keys do not come in order any more: put all groups into the hash table or, if
** it would not fit into memory, into a file.
*/
static int hpAggUnordered(HpExec *p){
  HpAgg *pAgg = p->pAgg;
  u32 mNew = pAgg->mSlot;
  i64 nByte;
  u32 i;
  int rc;
  while( pAgg->nGroup>mNew/2 ) mNew = mNew*2+1;
  nByte = 2*sizeof(u32)*((i64)mNew+1);
  if( mNew>pAgg->mSlot ){
    u32 *aNew;
    if( mNew>=HP_MX_SLOT && hpAggMemory(pAgg)+nByte>p->nMemory ){
      rc = hpSpillGroups(p);
      pAgg->bOrdered = 0;
      return rc;
    }
    aNew = hpMalloc(nByte);
    if( aNew==0 ) return HP_DECLINE;
    pAgg->nTable += nByte - 2*sizeof(u32)*((i64)pAgg->mSlot+1);
    sqlite3_free(pAgg->aSlot);
    pAgg->aSlot = aNew;
    pAgg->mSlot = mNew;
  }
  pAgg->bOrdered = 0;
  memset(pAgg->aSlot, 0, nByte);
  for(i=0; i<pAgg->nGroup; i++){
    const u8 *aGroup = hpAggGroup(pAgg, i);
    const HpHead *pHead = hpGroupHead(p->pPlan, aGroup);
    u64 h = hpGroupPack(aGroup)->b!=HP_UNPACKED ? hpHashPack(hpGroupPack(aGroup))
                                  : hpHashBytes(pHead->z, pHead->nNorm);
    u32 salt = p->pCfg->bHash0 ? 0 : (u32)(h>>16);
    u32 j = salt & mNew;
    while( pAgg->aSlot[2*j+1] ) j = (j+1) & mNew;
    pAgg->aSlot[2*j] = salt;
    pAgg->aSlot[2*j+1] = i+1;
  }
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
static int hpAggDirect(HpExec *p, i64 iMin, i64 iMax){
  HpAgg *pAgg = p->pAgg;
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
  if( nWant>HP_MN_DIRECT*((u64)pAgg->nGroup+p->nSel) ) return SQLITE_OK;
  for(nNew=HP_MIN_SLOT; nNew<nWant+nWant/2; nNew*=2){}
  nByte = (i64)(sizeof(u32)*nNew);
  if( nNew>HP_MIN_SLOT && hpAggMemory(pAgg)+nByte>p->nMemory ){
    pAgg->bNoDirect = 1;
    return SQLITE_OK;
  }
  aNew = hpMalloc(nByte);
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
  pAgg->nTable += nByte - (i64)(sizeof(u32)*pAgg->nDirect);
  pAgg->aDirect = aNew;
  pAgg->nDirect = (u32)nNew;
  pAgg->iDirect = iNew;
  return SQLITE_OK;
}

/*
** Find or create the groups of the selected rows if their only key is an integer
** of a small range, and set *pbDone.
*/
static int hpAggFindDirect(HpExec *p, int *pbDone){
  HpAgg *pAgg = p->pAgg;
  const HpVal *aVal = p->aVec[p->pPlan->aKey[0]].aVal;
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int nHot = pAgg->nGroup>=HP_MX_CACHED ? p->pPlan->iHeadOff : 0;
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
    rc = hpAggDirect(p, iMin, iMax);
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
      rc = hpAggFindRow(p, ii);
      if( rc ) return rc;
      *piGroup = pAgg->aiGroup[ii]+1;
    }
    pAgg->aiGroup[ii] = *piGroup-1;
    if( nHot ){
      const u8 *aGroup = hpAggGroup(pAgg, *piGroup-1);
      for(k=0; k<nHot; k+=64) hpPrefetch(&aGroup[k]);
    }
  }
  *pbDone = 1;
  return SQLITE_OK;
}

/*
** Find or create the group of each selected row: pAgg->aiGroup.
*/
static int hpAggFind(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  HpAgg *pAgg = p->pAgg;
  const HpVec *pKey = &p->aVec[pPlan->aKey[0]];
  int bAll;              /* All rows have packs */
  int bFew;              /* Groups are few */
  int rc;
  if( pPlan->bIntKey && pKey->mType==HP_INT && pKey->mIdx!=0
   && !pAgg->bOrdered && !pAgg->bNoDirect
  ){
    int bDone;
    rc = hpAggFindDirect(p, &bDone);
    if( rc || bDone ) return rc;
  }
  bAll = hpPackRows(p, pAgg->aPack);
  if( pAgg->bOrdered ){
    int nDone;
    rc = hpAggFindOrdered(p, &nDone);
    if( rc || nDone==p->nSel ) return rc;
    rc = hpAggUnordered(p);
    if( rc ) return rc;
  }
  bFew = pAgg->nGroup<HP_MX_CACHED;
  if( !bAll || !bFew ){
    rc = hpAggHashAll(p, bAll);
    if( rc ) return rc;
  }
  return bFew ? hpAggFindFew(p, bAll) : hpAggFindMany(p);
}

/* One step of sum() with a real.  As kahanBabuskaNeumaierStep(). */
static SQLITE_INLINE void hpSumReal(HpSum *pSum, double r){
  double s = pSum->u.r.rSum;
  double t = s + r;
  if( fabs(s) > fabs(r) ){
    pSum->u.r.rErr += (s - t) + r;
  }else{
    pSum->u.r.rErr += (r - t) + s;
  }
  pSum->u.r.rSum = t;
  if( !(fabs(t)<=pSum->mx) ) pSum->mx = fabs(t);
}

/*
** True if the sum may be added to others in any order: it is finite, and no sum
** on the way was so much larger that what was lost there, and in the sum of
** what was lost, could show now.
*/
static int hpSumIsSound(const HpSum *pSum){
  double s = fabs(pSum->u.r.rSum);
  return s<=1e300 && pSum->mx<=s*(1<<20) && fabs(pSum->u.r.rErr)*(1<<20)<=s;
}

/* The bits of the size of x, or of one less */
#define hpAbsBits(X)  ((u64)((X) ^ ((X)>>63)))

/* The first real turns the integer sum into a real one */
static void hpSumApprox(HpSum *pSum){
  SumCtx ctx;
  pSum->mx = fabs((double)pSum->u.i.iSum);
  kahanBabuskaNeumaierInit(&ctx, pSum->u.i.iSum);
  pSum->u.r.rSum = ctx.rSum;
  pSum->u.r.rErr = ctx.rErr;
  pSum->n |= HP_SUM_REAL;
}

/*
** Write the sum as stock has it to *pCtx.
*/
static void hpSumCtx(const HpSum *pSum, SumCtx *pCtx){
  memset(pCtx, 0, sizeof(*pCtx));
  pCtx->cnt = hpSumCount(pSum);
  pCtx->approx = hpSumIsReal(pSum);
  pCtx->ovrfl = (pSum->n & HP_SUM_OVRFL)!=0;
  if( pCtx->approx ){
    pCtx->rSum = pSum->u.r.rSum;
    pCtx->rErr = pSum->u.r.rErr;
  }else{
    pCtx->iSum = pSum->u.i.iSum;
  }
}

/*
** One step of sum() with row i of pVec.  As sumStep().
*/
static SQLITE_INLINE void hpSumValue(
  HpExec *p,
  HpSum *pSum,
  const HpVec *pVec,
  int i
){
  u8 tag;
  i64 iVal = 0;
  double r = 0.0;
  i &= pVec->mIdx;
  tag = pVec->aTag[i];
  if( tag==HP_NULL ) return;
  if( tag==HP_INT ){
    iVal = pVec->bFloat ? (i64)pVec->aVal[i].r : pVec->aVal[i].i;
  }else if( tag==HP_REAL ){
    r = pVec->aVal[i].r;
  }else{
    Mem m;
    hpVecToMem(p, pVec, i, &m);
    if( sqlite3_value_numeric_type((sqlite3_value*)&m)==SQLITE_INTEGER ){
      tag = HP_INT;
      iVal = sqlite3_value_int64((sqlite3_value*)&m);
    }else{
      r = sqlite3_value_double((sqlite3_value*)&m);
    }
    sqlite3VdbeMemRelease(&m);
  }
  pSum->n += HP_SUM_ONE;
  if( tag==HP_INT ){
    if( !hpSumIsReal(pSum) ){
      i64 x = pSum->u.i.iSum;
      pSum->u.i.mAbs |= hpAbsBits(iVal);
      if( sqlite3AddInt64(&x, iVal)==0 ){
        pSum->u.i.iSum = x;
        return;
      }
      pSum->n |= HP_SUM_OVRFL;
      hpSumApprox(pSum);
    }
    if( iVal<4503599627370496LL && iVal>-4503599627370496LL ){
      hpSumReal(pSum, (double)iVal);
    }else{
      SumCtx ctx;
      hpSumCtx(pSum, &ctx);
      kahanBabuskaNeumaierStepInt64(&ctx, iVal);
      pSum->u.r.rSum = ctx.rSum;
      pSum->u.r.rErr = ctx.rErr;
      pSum->mx = MAX(pSum->mx, fabs(ctx.rSum));
    }
  }else{
    if( !hpSumIsReal(pSum) ){
      hpSumApprox(pSum);
    }else{
      pSum->n &= ~(i64)HP_SUM_OVRFL;
    }
    hpSumReal(pSum, r);
  }
}

#ifdef HP_AVX2
/*
** Add rows aRow[0..n-1] of aVal to a sum of reals: four sums side by side, put
** together in the end.  n is a multiple of 4.  What an addition lost comes from
** Knuth's way, without a comparison: the same as hpSumReal() computes, as long
** as nothing overflows, and if something does the sum is not sound.
*/
__attribute__((target("avx2")))
static void hpSumAvx2(HpSum *pSum, const HpVal *aVal, const u16 *aRow, int n){
  const __m256d mAbs = _mm256_castsi256_pd(_mm256_set1_epi64x(LARGEST_INT64));
  __m256d s = _mm256_setr_pd(pSum->u.r.rSum, 0.0, 0.0, 0.0);
  __m256d e = _mm256_setr_pd(pSum->u.r.rErr, 0.0, 0.0, 0.0);
  __m256d mx = _mm256_set1_pd(pSum->mx);
  double aS[4], aE[4], aMx[4];
  int i;
  for(i=0; i<n; i+=4){
    __m256d r = _mm256_setr_pd(aVal[aRow[i]].r, aVal[aRow[i+1]].r,
                               aVal[aRow[i+2]].r, aVal[aRow[i+3]].r);
    __m256d t = _mm256_add_pd(s, r);
    __m256d x = _mm256_sub_pd(t, s);
    e = _mm256_add_pd(e, _mm256_add_pd(
            _mm256_sub_pd(s, _mm256_sub_pd(t, x)), _mm256_sub_pd(r, x)));
    s = t;
    mx = _mm256_max_pd(mx, _mm256_and_pd(t, mAbs));
  }
  _mm256_storeu_pd(aS, s);
  _mm256_storeu_pd(aE, e);
  _mm256_storeu_pd(aMx, mx);
  pSum->u.r.rSum = aS[0];
  pSum->u.r.rErr = aE[0];
  pSum->mx = MAX(MAX(aMx[0], aMx[1]), MAX(aMx[2], aMx[3]));
  for(i=1; i<4; i++){
    pSum->u.r.rErr += aE[i];
    hpSumReal(pSum, aS[i]);
  }
}
#endif

/*
** Sum the values of pVec in rows aRow[0..n-1], which all belong to one group.
*/
static void hpSumRange(
  HpExec *p,
  HpSum *pSum,
  const HpVec *pVec,
  const u16 *aRow,
  int n
){
  const HpVal *aVal = pVec->aVal;
  int ii = 0;
  if( pVec->mIdx!=0 && pVec->mType==HP_INT && !hpSumIsReal(pSum) ){
    i64 iSum = pSum->u.i.iSum;
    u64 mAbs = pSum->u.i.mAbs;
    for(; ii<n; ii++){
      i64 v = aVal[aRow[ii]].i;
      i64 x = iSum;
      if( sqlite3AddInt64(&x, v) ) break;
      iSum = x;
      mAbs |= hpAbsBits(v);
    }
    pSum->u.i.mAbs = mAbs;
    pSum->u.i.iSum = iSum;
    pSum->n += (i64)ii*HP_SUM_ONE;
  }else if( pVec->mIdx!=0 && (pVec->mType==HP_REAL || pVec->bFloat) ){
    /* Stock's sum is one of integers until the first real.  From there on,
    ** unless it had overflowed, integers and reals take the same step. */
    while( ii<n && (pSum->n & (HP_SUM_REAL|HP_SUM_OVRFL))!=HP_SUM_REAL ){
      hpSumValue(p, pSum, pVec, aRow[ii++]);
    }
#ifdef HP_AVX2
    if( p->bAvx2 && n-ii>=HP_MIN_LANES && p->pScan->bExact==0 ){
      int nLane = (n-ii) & ~3;
      hpSumAvx2(pSum, aVal, &aRow[ii], nLane);
      pSum->n += (i64)nLane*HP_SUM_ONE;
      ii += nLane;
      p->pAgg->bLanes = 1;
    }
#endif
    if( ii<n ){
      HpSum sum = *pSum;
      sum.n += (i64)(n-ii)*HP_SUM_ONE;
      for(; ii<n; ii++) hpSumReal(&sum, aVal[aRow[ii]].r);
      *pSum = sum;
    }
  }
  for(; ii<n; ii++) hpSumValue(p, pSum, pVec, aRow[ii]);
}

/*
** Add the value of pVec in each row aSel[0..nSel-1] to the sum at iOff of its
** own group.
*/
static void hpSumScattered(
  HpExec *p,
  int iOff,
  const HpVec *pVec,
  const u16 *aSel,
  u8 **apGroup,
  int nSel
){
  int ii;
  if( pVec->mIdx==0
   || (pVec->mType!=HP_INT && pVec->mType!=HP_REAL && !pVec->bFloat)
  ){
    for(ii=0; ii<nSel; ii++){
      hpSumValue(p, (HpSum*)&apGroup[ii][iOff], pVec, aSel[ii]);
    }
  }else if( pVec->mType==HP_INT ){
    for(ii=0; ii<nSel; ii++){
      HpSum *pSum = (HpSum*)&apGroup[ii][iOff];
      i64 v = pVec->aVal[aSel[ii]].i;
      i64 x = pSum->u.i.iSum;
      if( hpSumIsReal(pSum) || sqlite3AddInt64(&x, v) ){
        hpSumValue(p, pSum, pVec, aSel[ii]);
      }else{
        pSum->u.i.mAbs |= hpAbsBits(v);
        pSum->u.i.iSum = x;
        pSum->n += HP_SUM_ONE;
      }
    }
  }else{
    for(ii=0; ii<nSel; ii++){
      HpSum *pSum = (HpSum*)&apGroup[ii][iOff];
      if( (pSum->n & (HP_SUM_REAL|HP_SUM_OVRFL))!=HP_SUM_REAL ){
        hpSumValue(p, pSum, pVec, aSel[ii]);
      }else{
        pSum->n += HP_SUM_ONE;
        hpSumReal(pSum, pVec->aVal[aSel[ii]].r);
      }
    }
  }
}

/*
** One step of min() or max().  Sets *pbSkip if stock would not load the bare
** columns from this row.
*/
static int hpBestValue(
  HpExec *p,
  const HpAggDef *pDef,
  HpBest *pState,
  int row,
  int *pbSkip
){
  const HpVec *pVec = &p->aVec[pDef->iVec];
  HpCopy *pBest = &pState->copy;
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
      c = hpValCompare(pBest->tag, pBest->val, pBest->n,
                       tag, pVec->aVal[i], (tag&HP_STR) ? pVec->aLen[i] : 0,
                       pDef->pColl);
    }
    if( pDef->eAgg==HP_AGG_MAX ? c>=0 : c<=0 ){
      *pbSkip = 1;
      return SQLITE_OK;
    }
  }
  pState->iPos = p->iPos+row+1;
  return hpCopySet(p->pAgg, pBest, pVec, i);
}

/*
** Add the value of pDef's argument in row i, for the group with key record
** pHead, to the set of values seen.  *pbNew tells whether it was not there.
*/
static int hpSetAdd(
  HpExec *p,
  const HpAggDef *pDef,
  const HpHead *pHead,
  int i,
  int *pbNew
){
  HpAgg *pAgg = p->pAgg;
  HpSet *pSet = &pAgg->aSet[pDef->iSet];
  const HpVec *pVec = &p->aVec[pDef->iVec];
  HpBuf *pKey = &pAgg->key;
  const u8 *z = 0;
  u8 *zNew;
  u32 j;

  if( pSet->nUsed>=pSet->mSlot/2 ){
    u32 mNew = pSet->mSlot ? pSet->mSlot*2+1 : HP_MIN_SLOT-1;
    i64 nByte = sizeof(u8*)*((i64)mNew+1);
    const u8 **apNew;
    if( mNew>=0x7fffffff || hpAggMemory(pAgg)+nByte>p->nMemory+HP_MIN_MEMORY ){
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
    if( pSet->apSlot ) pAgg->nTable -= sizeof(u8*)*((i64)pSet->mSlot+1);
    pAgg->nTable += nByte;
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
  if( hpAggMemory(pAgg)>p->nMemory+HP_MIN_MEMORY ) return HP_DECLINE;
  zNew = hpArenaAlloc(&pAgg->arena, pKey->n);
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
  HpExec *p,
  const HpAggDef *pDef,
  u8 *aGroup,
  u8 **apGroup,
  const u16 *aRow,
  int *pn
){
  HpAgg *pAgg = p->pAgg;
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
      rc = hpSetAdd(p, pDef, hpGroupHead(p->pPlan, aTo), i, &bNew);
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
static int hpAggCall(HpExec *p, const HpAggDef *pDef, Mem *pState, int i){
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
  pCtx->pVdbe = p->pScan->v;
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
  HpExec *p,
  const HpAggDef *pDef,
  u8 *aGroup,
  const u16 *aRow,
  int n
){
  void *pState = hpGroupState(pDef, aGroup);
  const HpVec *pVec = pDef->iVec==HP_NO_VEC ? 0 : &p->aVec[pDef->iVec];
  int ii, rc, bSkip;
  if( pDef->iFilter!=HP_NO_VEC || pDef->iSet>=0 ){
    rc = hpAggPart(p, pDef, aGroup, 0, aRow, &n);
    if( rc ) return rc;
    aRow = p->pAgg->aPart;
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
      hpSumRange(p, pState, pVec, aRow, n);
      break;
    case HP_AGG_CALL:
      for(ii=0; ii<n; ii++){
        rc = hpAggCall(p, pDef, pState, aRow[ii]);
        if( rc ) return rc;
      }
      break;
    case HP_AGG_ORDER:
      for(ii=0; ii<n; ii++){
        rc = hpOrderAdd(p, pDef, pState, aRow[ii]);
        if( rc ) return rc;
      }
      break;
    default:
      for(ii=0; ii<n; ii++){
        rc = hpBestValue(p, pDef, pState, aRow[ii], &bSkip);
        if( rc==SQLITE_OK && pDef->bLoad && !bSkip ){
          rc = hpAggLoad(p, aGroup, aRow[ii]);
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
static int hpAggOrdered(HpExec *p, u32 iFirstGroup){
  const HpPlan *pPlan = p->pPlan;
  HpAgg *pAgg = p->pAgg;
  const u32 *aiGroup = pAgg->aiGroup;
  const u16 *aSel = p->aSel;
  u16 *aRow = pAgg->aRow;
  u16 aaAt[4][HP_MX_ORDERED];      /* Number, then place of the next row, of
                                   ** each quarter of the rows and group */
  u16 aEnd[HP_MX_ORDERED];         /* Where the rows of each group end */
  int nGroup = (int)(pAgg->nGroup-iFirstGroup);
  int n4 = p->nSel/4;
  int n = 0;
  int ii, k, g, rc;

  /* Each quarter of the rows has places of its own, so that rows of one group
  ** do not wait for each other */
  memset(aaAt, 0, sizeof(aaAt));
#define HP_COUNT(K,I)  aaAt[K][aiGroup[I]-iFirstGroup]++;
  for(ii=0; ii<n4; ii++){
    HP_COUNT(0, ii) HP_COUNT(1, n4+ii) HP_COUNT(2, 2*n4+ii) HP_COUNT(3, 3*n4+ii)
  }
  for(ii=4*n4; ii<p->nSel; ii++) HP_COUNT(3, ii)
  for(g=0; g<nGroup; g++){
    for(k=0; k<4; k++){
      int nPart = aaAt[k][g];
      aaAt[k][g] = (u16)n;
      n += nPart;
    }
    aEnd[g] = (u16)n;
  }
#define HP_PLACE(K,I)  aRow[aaAt[K][aiGroup[I]-iFirstGroup]++] = aSel[I];
  for(ii=0; ii<n4; ii++){
    HP_PLACE(0, ii) HP_PLACE(1, n4+ii) HP_PLACE(2, 2*n4+ii) HP_PLACE(3, 3*n4+ii)
  }
  for(ii=4*n4; ii<p->nSel; ii++) HP_PLACE(3, ii)
  for(k=0; k<pPlan->nAgg; k++){
    int iFirst = 0;
    if( pPlan->aAgg[k].bShared ) continue;
    for(g=0; g<nGroup; g++){
      if( aEnd[g]>iFirst ){
        rc = hpAggRange(p, &pPlan->aAgg[k], hpAggGroup(pAgg, iFirstGroup+g),
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
static int hpAggScattered(HpExec *p, const HpAggDef *pDef){
  HpAgg *pAgg = p->pAgg;
  const HpVec *pVec = pDef->iVec==HP_NO_VEC ? 0 : &p->aVec[pDef->iVec];
  const u16 *aRow = p->aSel;
  u8 **apGroup = pAgg->apGroup;
  int n = p->nSel;
  int ii, rc, bSkip;
  if( pDef->iFilter!=HP_NO_VEC || pDef->iSet>=0 ){
    rc = hpAggPart(p, pDef, 0, apGroup, aRow, &n);
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
      hpSumScattered(p, pDef->iOff, pVec, aRow, apGroup, n);
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
          hpPrefetch(((HpOrder*)hpGroupState(pDef, apGroup[ii+8]))->pFree);
        }
        rc = hpOrderAdd(p, pDef, hpGroupState(pDef, apGroup[ii]), aRow[ii]);
        if( rc ) return rc;
      }
      break;
    default:
      for(ii=0; ii<n; ii++){
        rc = hpBestValue(p, pDef, hpGroupState(pDef, apGroup[ii]), aRow[ii],
                         &bSkip);
        if( rc==SQLITE_OK && pDef->bLoad && !bSkip ){
          rc = hpAggLoad(p, apGroup[ii], aRow[ii]);
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
static int hpAggStep(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  HpAgg *pAgg = p->pAgg;
  u32 iFirst = 0;        /* No row belongs to a group before this one */
  int rc = SQLITE_OK;
  int k;

  if( p->nSel==0 ) return SQLITE_OK;
  for(k=0; k<pPlan->nKey; k++) hpVecExact(p, &p->aVec[pPlan->aKey[k]]);
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
  if( pPlan->nKey ){
    rc = hpAggFind(p);
    if( rc ) return rc;
    if( pAgg->bOrdered ) iFirst = pAgg->aiGroup[0];
  }else{
    HpHead *pHead = hpGroupHead(pPlan, hpAggGroup(pAgg, 0));
    if( pHead->iPos==HP_NO_POS ){
      pHead->iPos = p->iPos + p->aSel[0];
      if( pPlan->bLoadFirst ){
        rc = hpAggLoad(p, hpAggGroup(pAgg, 0), p->aSel[0]);
        if( rc ) return rc;
      }
    }
  }
  if( pPlan->nKey && pAgg->nGroup-iFirst<=HP_MX_ORDERED
   && (u32)p->nSel>=(pAgg->nGroup-iFirst)*HP_MIN_ORDERED
  ){
    rc = hpAggOrdered(p, iFirst);
  }else{
    for(k=0; k<p->nSel && pPlan->nKey; k++){
      pAgg->apGroup[k] = hpAggGroup(pAgg, pAgg->aiGroup[k]);
    }
    for(k=0; k<pPlan->nAgg && rc==SQLITE_OK; k++){
      const HpAggDef *pDef = &pPlan->aAgg[k];
      if( pDef->bShared ) continue;
      if( pPlan->nKey ){
        rc = hpAggScattered(p, pDef);
      }else{
        rc = hpAggRange(p, pDef, hpAggGroup(pAgg, 0), p->aSel, p->nSel);
      }
    }
  }
  if( rc==SQLITE_OK && hpAggMemory(pAgg)>p->nMemory ){
    if( pPlan->nKey==0 || pPlan->bOpaque ) return HP_DECLINE;
    rc = hpSpillGroups(p);
  }
  if( rc==SQLITE_OK && p->db->mallocFailed ) rc = SQLITE_NOMEM;
  return rc;
}

/* Number of bits of x */
static int hpBits(u64 x){
  int n = 0;
  for(; x; x>>=1) n++;
  return n;
}

/*
** Add sum pFrom to pTo.
*/
static int hpSumMerge(HpSum *pTo, const HpSum *pFrom){
  HpSum from = *pFrom;
  i64 nCnt = hpSumCount(pTo) + hpSumCount(&from);
  if( hpSumCount(&from)==0 ) return SQLITE_OK;
  if( hpSumCount(pTo)==0 ){
    *pTo = from;
    return SQLITE_OK;
  }
  if( (pTo->n|from.n) & HP_SUM_OVRFL ) return HP_SERIAL;
  if( !hpSumIsReal(pTo) && !hpSumIsReal(&from) ){
    pTo->u.i.mAbs |= from.u.i.mAbs;
    if( hpBits(pTo->u.i.mAbs)+hpBits((u64)nCnt)>63 ) return HP_SERIAL;
    pTo->u.i.iSum += from.u.i.iSum;
    pTo->n = nCnt*HP_SUM_ONE;
    return SQLITE_OK;
  }
  if( !hpSumIsReal(pTo) ) hpSumApprox(pTo);
  if( !hpSumIsReal(&from) ) hpSumApprox(&from);
  pTo->u.r.rErr += from.u.r.rErr;
  pTo->mx = MAX(pTo->mx, from.mx);
  hpSumReal(pTo, from.u.r.rSum);
  pTo->n = nCnt*HP_SUM_ONE + HP_SUM_REAL;
  return hpSumIsSound(pTo) ? SQLITE_OK : HP_SERIAL;
}

/*
** Add the part aFrom of a group to the part aTo.  Values stay where aFrom has
** them.  HP_SERIAL: that is not possible.
*/
static int hpGroupMerge(const HpPlan *pPlan, u8 *aTo, const u8 *aFrom){
  HpHead *pTo = hpGroupHead(pPlan, aTo);
  const HpHead *pFrom = hpGroupHead(pPlan, aFrom);
  int bEarlier = pFrom->iPos<pTo->iPos;
  int bTake = pPlan->bLoadFirst && bEarlier;
  int k, rc;

  if( pFrom->iPos==HP_NO_POS ) return SQLITE_OK;
  if( pTo->iPos==HP_NO_POS ){
    memcpy(aTo, aFrom, pPlan->szGroup);
    return SQLITE_OK;
  }
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    if( pDef->bShared ) continue;
    switch( pDef->eAgg ){
      case HP_AGG_COUNT:
        *(i64*)hpGroupState(pDef, aTo) += *(const i64*)hpGroupState(pDef, aFrom);
        break;
      case HP_AGG_SUM:
        rc = hpSumMerge(hpGroupState(pDef, aTo), hpGroupState(pDef, aFrom));
        if( rc ) return rc;
        break;
      case HP_AGG_ORDER:
        hpOrderMerge(hpGroupState(pDef, aTo), hpGroupState(pDef, aFrom));
        break;
      default: {
        HpBest *a = hpGroupState(pDef, aTo);
        const HpBest *b = hpGroupState(pDef, aFrom);
        int bFrom;
        assert( pDef->eAgg!=HP_AGG_CALL );
        if( a->copy.tag==0 || b->copy.tag==0 ){
          bFrom = a->copy.tag==b->copy.tag ? b->iPos>a->iPos : a->copy.tag==0;
        }else{
          int c = hpValCompare(a->copy.tag, a->copy.val, a->copy.n,
                               b->copy.tag, b->copy.val, b->copy.n, pDef->pColl);
          if( pDef->eAgg==HP_AGG_MAX ) c = -c;
          bFrom = c>0 || (c==0 && b->iPos<a->iPos);
        }
        if( bFrom ) *a = *b;
        if( pDef->bLoad ) bTake = bFrom;
        break;
      }
    }
  }
  for(k=0; k<pPlan->nBare && bTake; k++){
    const struct HpBare *pBare = &pPlan->aBare[k];
    if( pBare->iKey<0 ) *hpGroupBare(pBare, aTo) = *hpGroupBare(pBare, aFrom);
  }
  if( bEarlier ) *pTo = *pFrom;
  return SQLITE_OK;
}

/*
** The result of sum(), total() or avg(), pFunc, as its finalizer computes it:
** returns its type and sets *pVal.  0: leave that to the finalizer.
*/
static u8 hpSumResult(const HpSum *pSum, const FuncDef *pFunc, HpVal *pVal){
  if( pSum->n & HP_SUM_OVRFL ) return 0;
  if( hpSumCount(pSum)==0 && pFunc->xFinalize!=totalFinalize ) return HP_NULL;
  if( pFunc->xFinalize==sumFinalize && !hpSumIsReal(pSum) ){
    pVal->i = pSum->u.i.iSum;
    return HP_INT;
  }
  pVal->r = hpSumIsReal(pSum) ? pSum->u.r.rSum+pSum->u.r.rErr
                              : (double)pSum->u.i.iSum;
  if( pFunc->xFinalize==avgFinalize ) pVal->r /= (double)hpSumCount(pSum);
  return sqlite3IsOverflow(pVal->r) ? 0 : HP_REAL;
}

/*
** False if HAVING is known not to be true of a group.  aConst has the constants
** that its terms compare with.
*/
static int hpGroupWanted(
  const HpPlan *pPlan,
  const u8 *aGroup,
  const HpLiteral *aConst
){
  int k;
  if( pPlan->nHaving==0 ) return 1;
  for(k=0; k<pPlan->nAgg; k++){
    const HpSum *pSum = (const HpSum*)&aGroup[pPlan->aAgg[k].iOff];
    /* An error that finishing the group raises comes before HAVING */
    if( pPlan->aAgg[k].eAgg==HP_AGG_SUM && (pSum->n & HP_SUM_OVRFL) ) return 1;
  }
  for(k=0; k<pPlan->nHaving; k++){
    const struct HpHaving *pHaving = &pPlan->aHaving[k];
    const HpAggDef *pDef = &pPlan->aAgg[pHaving->iAgg];
    const void *pState = &aGroup[pDef->iOff];
    HpVal v;
    u8 tag = HP_INT;
    int c, bTrue;
    if( (aConst[k].tag & HP_NUM)==0 ) return 1;
    if( pDef->eAgg==HP_AGG_COUNT ){
      v.i = *(const i64*)pState;
    }else{
      tag = hpSumResult(pState, pDef->pFunc, &v);
      if( tag==0 ) return 1;
      if( tag==HP_NULL ) return 0;
    }
    c = hpValCompare(tag, v, 0, aConst[k].tag, aConst[k].val, 0, 0);
    switch( pHaving->op ){
      case TK_GT:  bTrue = c>0;   break;
      case TK_GE:  bTrue = c>=0;  break;
      case TK_LT:  bTrue = c<0;   break;
      case TK_LE:  bTrue = c<=0;  break;
      case TK_EQ:  bTrue = c==0;  break;
      default:     bTrue = c!=0;  break;
    }
    if( !bTrue ) return 0;
  }
  return 1;
}

/* Set register pMem to a value */
static void hpMemSet(Mem *pMem, u8 tag, HpVal v, u32 n){
  switch( tag ){
    case HP_INT:
      sqlite3VdbeMemSetInt64(pMem, v.i);
      break;
    case HP_REAL:
      sqlite3VdbeMemSetDouble(pMem, v.r);
      break;
    case HP_TEXT:
    case HP_BLOB:
      hpMemStr(pMem, tag, v.z, n);
      break;
    default:
      sqlite3VdbeMemSetNull(pMem);
      break;
  }
}

/*
** Make register pMem an aggregate context of nByte zero bytes, as
** sqlite3_aggregate_context() would, and return them, or NULL.
*/
static void *hpMemAgg(Mem *pMem, FuncDef *pFunc, int nByte){
  if( sqlite3VdbeMemClearAndResize(pMem, nByte) ) return 0;
  pMem->flags = MEM_Agg;
  pMem->u.pDef = pFunc;
  memset(pMem->z, 0, nByte);
  return pMem->z;
}

/*
** Copy a group into the registers aMem[].  pBuf is scratch.
*/
static int hpGroupLoad(HpScan *p, u8 *aGroup, Mem *aMem, HpBuf *pBuf){
  const HpPlan *pPlan = p->pPlan;
  const HpHead *pHead = hpGroupHead(pPlan, aGroup);
  int k;
  if( hpGroupIsInt(pPlan, aGroup) ){
    sqlite3VdbeMemSetInt64(&aMem[pPlan->iKeyReg], (i64)hpGroupPack(aGroup)->a);
  }else if( pPlan->nKey ){
    hpKeyToMem(pPlan, pHead->z, pHead->nNorm, &aMem[pPlan->iKeyReg], pBuf);
  }
  for(k=0; k<pPlan->nBare; k++){
    const struct HpBare *pBare = &pPlan->aBare[k];
    Mem *pMem = &aMem[pPlan->iBareReg+k];
    if( pBare->iKey>=0 ){
      sqlite3VdbeMemShallowCopy(pMem, &aMem[pPlan->iKeyReg+pBare->iKey],
                                MEM_Ephem);
    }else{
      const HpCopy *pCopy = hpGroupBare(pBare, aGroup);
      hpMemSet(pMem, pCopy->tag, pCopy->val, pCopy->n);
    }
  }
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    Mem *pMem = &aMem[pPlan->iFuncReg+k];
    void *pState = hpGroupState(pDef, aGroup);
    switch( pDef->eAgg ){
      case HP_AGG_COUNT: {
        CountCtx *pCtx = hpMemAgg(pMem, pDef->pFunc, sizeof(*pCtx));
        if( pCtx ) pCtx->n = *(i64*)pState;
        break;
      }
      case HP_AGG_SUM: {
        SumCtx *pCtx = hpMemAgg(pMem, pDef->pFunc, sizeof(*pCtx));
        if( pCtx ) hpSumCtx(pState, pCtx);
        break;
      }
      case HP_AGG_CALL: {
        Mem *pFrom = pState;
        if( pFrom->db ){
          sqlite3VdbeMemMove(pMem, pFrom);
        }else{
          sqlite3VdbeMemSetNull(pMem);
        }
        break;
      }
      case HP_AGG_ORDER: {
        int rc = hpOrderLoad(p, pDef, pState, pMem);
        if( rc ) return rc;
        break;
      }
      default: {
        const HpCopy *pBest = &((HpBest*)pState)->copy;
        Mem *pCtx = hpMemAgg(pMem, pDef->pFunc, sizeof(*pCtx));
        if( pCtx && pBest->tag ){
          sqlite3VdbeMemInit(pCtx, p->db, MEM_Null);
          hpMemSet(pCtx, pBest->tag, pBest->val, pBest->n);
        }
        break;
      }
    }
  }
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
