/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** What becomes of the rows that pass: groups, rows found, rows sorted.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPSINK_H
#define HPSINK_H

/* The first rows of partitions are looked for in a table of so many leaves: a
** guess costs little there. */
#define HP_PART_LEAF   128

/* Calls of a step function for the rows of a group (hp_aggcall.c) */
struct HpAggCall {
  HpWorker *pWorker;     /* Who makes them */
  const HpAggDef *pDef;
  Mem aMem[HP_MX_ARG];   /* The arguments */
  Mem out;               /* What is wrong with them */
  u64 aSpace[(sizeof(sqlite3_context)+HP_MX_ARG*sizeof(sqlite3_value*)+7)/8];
  u32 nCall;
  u8 bAhead;             /* Errors are none yet */
};
#define HP_CALL_OPS  3   /* Opcodes that stock runs for a call */

/* State of HP_AGG_LOG in a group: the arguments of its rows (hp_agglog.c) */
struct HpAggLog {
  u8 *pFree;             /* Where the next row goes */
  u8 *pEnd;              /* The end of that piece */
  HpLogPiece *pFirst, *pLast;    /* All pieces; or, if nPart>0, the first ones of all parts */
  u32 nPart;             /* Number of complete parts */
  u32 iRun;              /* The run of the last row */
  u64 nCall;             /* Rows */
  u64 nByte;             /* Bytes of all pieces */
  Mem *pDone;            /* The context, if it has been made already */
};

/* State of HP_AGG_ORDER in a group: a list of entries (hp_aggorder.c) */
struct HpAggOrder {
  u8 *pFree;             /* Where the next entry goes */
  u32 nFree;             /* So many have room there */
  u32 nEntry;            /* Entries in all */
  HpList *pFirst, *pLast;    /* They are in these pieces; or, as soon as they
                         ** are sorted, in these parts */
  u32 nPart;             /* Number of sorted parts */
  i64 nText;             /* Bytes of their texts */
  Mem *pDone;            /* The context, if it has been made already */
};

/* The sum of the entries of an index: of their hash values, which are of two
** kinds */
typedef struct HpCheckSum HpCheckSum;
struct HpCheckSum {
  u64 n;                 /* Entries */
  u64 aSum[2];
};

/* What all pipes of PRAGMA integrity_check, for one table, have found */
#define HP_CHECK_KEYS  8
struct HpCheckAll {
  u64 aKey[2][HP_CHECK_KEYS];  /* Keys of the hash functions, drawn for it */
  int nSum;
  HpCheckSum *aSum;      /* Of each index, what the table says, ... */
  HpCheckSum *aOwn;      /* ... and what it holds */
};

#define HP_MX_ORDERED  64     /* Up to so many groups rows are ordered by group */
#define HP_MX_CACHED   256    /* Up to so many groups are in L1 or L2 anyway */

/* A value that is kept */
typedef struct HpKept HpKept;
struct HpKept {
  HpVal val;             /* z points to aBuf */
  u8 *aBuf;              /* Space for text or blob, from an arena */
  u32 n;                 /* Bytes of text or blob */
  u32 nAlloc;            /* Bytes of aBuf, eight more aside */
  u8 tag;                /* HP_xxx, or 0 if there is none yet */
};

/* A sum of reals: sum, error, and the largest size of a sum so far */
typedef struct HpSumReal HpSumReal;
struct HpSumReal {
  double rSum, rErr, mx;
};

/* State of sum, total and avg: stock's SumCtx in less space */
typedef struct HpSum HpSum;
struct HpSum {
  union {
    struct {             /* Integers only: */
      i64 iSum;            /* low 64 bits of the sum, */
      u64 mAbs;            /* OR of hpAbsBits() of the values, */
      i64 iCarry;          /* and the sum is iSum + 2^64*iCarry */
    } i;
    HpSumReal r;         /* HP_SUM_REAL */
  } u;
  i64 n;                 /* HP_SUM_ONE times the number of values, plus flags */
};
#define HP_ABS_MINUS ((u64)1<<63)    /* HpSum.u.i.mAbs: some values are negative */
#define HP_SUM_REAL  1   /* SumCtx.approx */
#define HP_SUM_OVRFL 2   /* HpQuery.bExact: SumCtx.ovrfl.  Else: while there were
                         ** integers only, some partial sum had more than 64
                         ** bits, or may have in scan order */
#define HP_SUM_ONE   4
#define hpSumIsReal(S)  (((S)->n & HP_SUM_REAL)!=0)
#define hpSumCount(S)   ((S)->n>>2)

/* State of min and max */
typedef struct HpBest HpBest;
struct HpBest {
  HpKept copy;           /* The best value so far */
  u64 iPos;              /* Position of its row plus one.  As long as there is no
                         ** value: of the last row, or 0 */
};

/* The values that DISTINCT has seen, each with its group: hp_distinct.c */
typedef struct HpSet HpSet;
struct HpSet {
  struct HpSetPack {
    const HpHead *pHead;   /* The group; NULL: no entry */
    HpPack x;              /* The value */
  } *aPack;              /* Hash table of numbers and short texts */
  u32 mPack;             /* Number of its entries, less one */
  u32 nPack;             /* Entries in use */
  struct HpSetKey {
    const HpHead *pHead;
    u64 hash;              /* Of the value alone */
    const u8 *z;           /* Its normalized key, in the arena, ... */
    u32 n;                 /* ... and the bytes of that */
  } *aKey;               /* Hash table of others */
  u32 mKey;              /* Number of its entries, less one */
  u32 nKey;              /* Entries in use */
  u8 *aAgain;            /* For each entry of both: another worker has it, too */
};

/*
** How the rows of a batch find their groups: hp_assign.c.
*/
struct HpAssigner {
  /* The group of each selected row, which may be new: HpAgg.aiGroup */
  int (*xRows)(HpAgg*, HpFrame*);
};

/*
** Where the values of rows are added up: hp_agg.c.
*/
struct HpAccumulator {
  /* The selected rows, whose groups are known */
  int (*xRows)(HpAgg*, HpFrame*);
  /* Put all that is not in the states of groups there.  NULL: nothing is not.
  ** See hpAggSettle() */
  void (*xSettle)(HpAgg*);
};

/*
** Where groups stay: hp_rare.c.
*/
typedef struct HpHolder HpHolder;
struct HpHolder {
  /* The selected rows have been added.  NULL: nothing to do */
  int (*xBatch)(HpAgg*, const HpFrame*);
  u8 bRuns;              /* In sorted runs */
};

/* Whether most rows begin a group: hp_rare.c */
typedef struct HpRare HpRare;
struct HpRare {
  u32 nCheck;            /* Number of groups at which to ask.  0: not set yet */
  u64 nLeafRow;          /* Rows up to the last run of leaves that is done, */
  i64 nLeaf;             /* and leaves of the runs that are */
  u64 *aBit;             /* Bits for some of the keys of the runs */
  u32 nBit;              /* Number of bits that are set */
  u64 nGroup;            /* Groups of all runs */
  u32 nLastBit;          /* nBit when it was counted last how many are new */
  u64 nLastGroup;        /* ... and nGroup */
};

/* Groups whose late functions are done before they are delivered:
** hp_aggahead.c */
typedef struct HpAggAhead HpAggAhead;
struct HpAggAhead {
  u8 **apGroup;          /* The groups */
  u32 nGroup;            /* Number of groups */
  u32 iNext;             /* The next one that no worker has taken */
  Mem *aMem;             /* HpGroupPlan.nLate contexts of each.  NULL: none */
  u64 nCost;             /* Calls that the next time may take */
};

/* Which groups a LIMIT wants: hp_topgroup.c */
typedef struct HpTopWanted HpTopWanted;
struct HpTopWanted {
  i64 nTop;              /* Number of groups.  0: all */
  int iFold;             /* The worker whose groups go into those of workers
                         ** before it */
  int bNot;              /* They cannot be found without order.  Atomic */
  HpTopGroup *pBest;     /* The best of those delivered.  NULL: all are wanted
                         ** that come */
};

/*
** Which groups are shown, and how.
*/
struct HpShown {
  HpLiteral aHaving[HP_MX_HAVING];   /* Constants of HpGroupPlan.aHaving */
  HpTopWanted top;       /* Which groups a LIMIT wants */
  HpAggAhead ahead;      /* Groups that are done ahead */
};

/*
** The groups of a worker.  Three strategies say how rows come to them: pAssigner
** finds the group of a row, pAccum adds the row to it, pHolder says where the
** groups are when the batch is done.  Each is a table of functions, called once
** a batch, that puts another one in its place when rows turn out to be others
** than it is for.
*/
struct HpAgg {
  HpRuns runs;           /* The groups, by number */
  const HpGroupPlan *pPlan;
  const HpAssigner *pAssigner;
  const HpAccumulator *pAccum;
  const HpHolder *pHolder;
  u64 nRow;              /* Rows so far */
  int nHot;              /* Bytes of a group that are used for each row */
  u32 *aSlot;            /* Hash table: salt, number of the group plus one.  Empty
                         ** while HpRuns.bOrdered */
  u32 mSlot;             /* Number of its entries, less one */
  u8 bFull;              /* It should be larger, but may not */
  HpRare rare;           /* Do groups recur? */
  HpTally *pTally;       /* Sums in arrays beside the groups: hp_tally.c; or NULL */
  HpDirect *pDirect;     /* Groups by numbers of their keys: hp_direct.c; or NULL */
  HpPack *aGroupPack;    /* Packed keys of the first HP_MX_CACHED groups; b is 0,
                         ** as in no pack, where there is none */
  u8 *aFew;              /* Which of them was last seen, by hpFewSlot() */
  u8 bLanes;             /* Some sums were added up side by side */
  struct HpSign {        /* What is known of the parts of a sum */
    u64 mAbs;              /* OR of HpSum.mAbs */
    u8 bReal;              /* Some are real */
    u8 bMinus, bPlus;      /* Some are negative, some positive */
    u8 bUnsound;           /* Some are not sound */
  } *aSign;              /* One for each aggregate */
  HpSet *aSet;           /* HpGroupPlan.nSet sets */
  HpTopGroup *pTop;      /* The best groups that this worker has seen: hp_topgroup.c */
  HpArena scratch;       /* Memory of what follows, and of what is not in the groups */
  /* Scratch for a frame, in selection order */
  HpPack *aPack;         /* Packed keys */
  u64 *aHash;            /* Hash values */
  HpBuf norm;            /* Normalized keys of rows that have no pack, ... */
  u32 *aNorm;            /* ... and where each begins */
  u32 *aiGroup;          /* Number of the group of each selected row */
  u16 *aNew;             /* Those of them of which pDirect does not know it, ... */
  u32 *aiNew;            /* ... and their groups */
  u8 **apGroup;          /* That group */
  u16 *aRow;             /* Selected rows in order of their groups */
  u16 *aPart;            /* Rows that pass FILTER and DISTINCT, ... */
  u8 **apPart;           /* ... and their groups */
};

/* Let the states of all groups be what their rows come to */
#define hpAggSettle(P) if( (P)->pAccum->xSettle ) (P)->pAccum->xSettle(P)

/* Bytes behind the record of a row: HpSortPlan.nPrefix */
#define HP_SZ_PREFIX   4

/* The rows of a worker that are to be sorted */
typedef struct HpSort HpSort;
struct HpSort {
  HpRuns runs;           /* Rows, as entries that have no aggregates */
  const HpSortPlan *pPlan;
  struct HpPartitions *pParts;  /* Partitions; or NULL: keep all rows */
};

/* Where the pack, the head, a bare column, and the state of an aggregate are
** in a group */
#define hpGroupPack(G)          hpEntryPack(G)
#define hpGroupHead(PLAN,G)     hpEntryHead(&(PLAN)->entry, G)
#define hpGroupBare(BARE,G)     ((HpKept*)&(G)[(BARE)->iOff])
#define hpGroupRow(BARE,G)      ((u64*)&(G)[(BARE)->iOff])
#define hpGroupState(DEF,G)     ((void*)&(G)[(DEF)->iOff])

/* For each aggregate of group G whose eAgg is WHICH, such as ==HP_AGG_LOG: what it is, pDef, and its
** state, a TYPE */
#define HP_EACH_STATE(PLAN,G,WHICH,TYPE,...) { \
  int k_; \
  for(k_=0; k_<(PLAN)->nAgg; k_++){ \
    const HpAggDef *pDef = &(PLAN)->aAgg[k_]; \
    if( pDef->eAgg WHICH ){ \
      TYPE *pState = hpGroupState(pDef, G); \
      __VA_ARGS__ \
    } \
  } \
}

/* Behind the head of a group that has sets of DISTINCT: a hash of its keys */
#define hpHeadHash(HEAD)        ((u64*)&(HEAD)[1])

/* True if the only key of group G is an integer, which its pack holds */
#define hpGroupIsInt(PLAN,G)    hpEntryIsInt(&(PLAN)->entry, G)

/* The plan of groups whose entries' plan is P */
#define hpGroupOf(P)            ((const HpGroupPlan*)(P))

#define HP_MX_BOUND    7      /* Last column of a record that HpBound tests */

/*
** Places of rows that a worker found; after the scan, in that of the first
** worker, of all.
*/
typedef struct HpFound HpFound;
struct HpFound {
  HpWorker *pWorker;
  const HpFindPlan *pPlan;
  i64 *aPlace;           /* Places of the rows found: HP_PLACE().  Or their rowids,
                         ** as iLast: HpFindPlan.bByRowid */
  i64 nPlace;            /* Entries of aPlace */
  i64 nAlloc;            /* Entries allocated */
  i64 iNext;             /* Next entry to deliver */
  i64 iLast;             /* Place of the last row of the last run */
  i64 iFound;            /* Place of the row found last, */
  Pgno iPgFound;         /* ... or delivered last, and its page */
  HpKept *aTie;          /* Of each place HpFindPlan.nTie values */
  u16 *aWay;             /* The ways to all runs: hpSourceWays() */
  int nLevel;            /* Children on each way */
  u8 bLast;              /* True if iLast is set */
  u8 bBegun;             /* Some row has been delivered */
  u8 bForce;             /* For tests: do not stop */
  HpArena arena;         /* Keys, and their text */
  i64 nTable;            /* Bytes of hash tables */
  HpBound bound;         /* What the filters say about HpReader.bound */
  int nBoundOff;         /* So many more runs without HpReader.bound */
  i64 nTableRow;         /* About so many rows in the table.  0: unknown */
  double rFirst;         /* Share of rows found in the first run */
  i64 nLeaf;             /* Leaves scanned */
  u64 nScanned;          /* HpWorker.nScanned when the run began, */
  u64 nSkipped;          /* HpReader.nSkipped, */
  i64 nBefore;           /* and nPlace */
};

/* Largest LIMIT plus OFFSET.  So many rows are kept with their keys. */
#define HP_MX_TOP      100000
#define HP_TOP_SHARE   60     /* LIMIT is small if below one row in so many */

/* The first rows of an order */
typedef struct HpTop HpTop;
struct HpTop {
  HpFound found;
  u16 *aCand;            /* Rows of a frame that may be better */
  i64 mxTop;             /* Rows wanted */
  i64 nTop;              /* Rows kept */
  u8 **apTop;            /* A heap of the best rows, the worst one on top: */
                         /*   its place, and the keys as HpKept */
  int iKey;              /* Rows are compared from this key on */
};

/* A row for each combination of values */
typedef struct HpFirst HpFirst;
struct HpFirst {
  HpFound found;
  u64 *aHash;            /* Hash values of a frame */
  u32 *aSlot;            /* Hash table: salt, index into aKey plus one */
  u32 mSlot;             /* Number of its entries, less one */
  u32 nKey;              /* Entries of aKey */
  u32 nKeyAlloc;         /* Entries allocated */
  HpKept *aKey;          /* Values seen, HpKeys.n a row */
};

#define HP_MX_WANTED   1000   /* Most rows wanted of a partition: they are kept
                              ** in an array in order */

/* A row that is kept */
typedef struct HpPartitionKept HpPartitionKept;
struct HpPartitionKept {
  u64 iPos;              /* Its position */
  HpPartitionKept *pNext;    /* The next one whose memory is free */
  u8 *aRec;              /* HpPartitions.bRecord: its record, ... */
  u32 nRec, nRecAlloc;   /* ... bytes of that, and of its memory */
  HpKept aVal[1];        /* HpPartitions.nVal values */
};

/* ... in its partition */
typedef struct HpPartitionRow HpPartitionRow;
struct HpPartitionRow {
  u64 iOrder;            /* hpPartitionNumber() of the first ORDER BY term */
  HpPartitionKept *pKept;
};

/* What is known of a partition: behind the pack of its group */
typedef struct HpPartition HpPartition;
struct HpPartition {
  HpPartitionRow *aRow;  /* Rows kept, in order */
  u32 nRow;              /* Their number */
  u32 nAlloc;            /* Entries of aRow */
  u32 nKey;              /* HP_NUMBER_DENSE: different keys among them */
  u8 bFull;              /* No more rows are wanted */
};

/* The partitions of a worker */
typedef struct HpPartitions HpPartitions;
struct HpPartitions {
  HpAgg *pAgg;           /* Their groups */
  i64 mxRow;             /* Rows wanted of each */
  u64 *aOrder;           /* Scratch: numbers of the rows of a batch */
  u16 *aCand;            /* Scratch: selected rows that are within limits */
  u64 *aLimit;           /* Of each partition: no row with a larger number is wanted */
  u32 nLimit, nLimitAlloc;   /* Entries set, and allocated */
  i64 nSeen;             /* Rows so far */
  i64 nKept;             /* Rows kept, and ... */
  i64 nSince;            /* ... rows since partitions were forgotten */
  i64 nCheck;            /* When to look whether it is worth it, and ... */
  u32 nPart;             /* ... partitions when that was last done */
  double rRow;           /* About so many rows in the b-tree, or 0 */
  u16 *aiVal;            /* The vectors of which rows keep the values: first the ORDER BY terms, ... */
  int nVal;              /* ... and their number */
  u8 bRecord;            /* The record is kept, too, as not all of it is in vectors */
  HpVec *aVec;           /* Those vectors, with one row: to make its record of */
  HpArena kept;          /* Rows kept */
  HpPartitionKept *pFree;    /* Memory for rows */
};

/* A row.  Its record follows: nLocal bytes, and the number of an overflow page */
typedef struct HpStashRow HpStashRow;
struct HpStashRow {
  i64 iRowid;
  u32 nByte;             /* HpRecord.nByte, */
  u32 nLocal;            /* HpRecord.nLocal */
};

/* The rows of a run of leaves */
typedef struct HpStashRun HpStashRun;
struct HpStashRun {
  u32 iSeq;              /* The run */
  i64 n;                 /* Rows */
  HpStashRow **apRow;    /* They are here */
};

/* What a worker has put aside */
typedef struct HpStashPart HpStashPart;
struct HpStashPart {
  HpArena mem;           /* Rows */
  u8 *pFree, *pEnd;      /* Where the next one goes */
  i64 nRow, nRowAlloc;
  HpStashRow **apRow;    /* All of them */
  i64 nRun, nRunAlloc;
  HpStashRun *aRun;      /* Runs that have some */
};

struct HpStash {
  i64 mxRow;             /* No more rows than that */
  int bFull;             /* There are more, or no memory for them.  Atomic */
  i64 nRow;              /* Rows */
  HpStashRow **apRow;    /* All of them, in scan order */
  i64 iNext;             /* The next row to be taken up, */
  u32 iSeq;              /* ... in a run of this number */
  u64 nScanned;          /* So many were read */
  HpStashPart aPart[HP_MX_THREAD];
};

#define hpGroupPartition(G)  ((HpPartition*)&(G)[sizeof(HpPack)])

/* A run of leaves of an index, as hp_prefix.c has it */
typedef struct HpPrefixRun HpPrefixRun;
struct HpPrefixRun {
  HpPrefixRun *pNext;    /* The worker's next one */
  u32 iSeq;              /* Its number, in key order */
  i64 nRow;              /* Rows */
  i64 nNull;             /* bUnique: NULLs that it begins with */
  HpBuf first, last;     /* Its first row and its last one: hpPrefixPut() */
};

/* What a worker has counted */
typedef struct HpPrefix HpPrefix;
struct HpPrefix {
  HpArena mem;           /* Memory of runs */
  HpPrefixRun *pFirst, *pLast;   /* Runs, in key order */
  i64 nByte;             /* Bytes of the rows kept */
  u64 *anChange;         /* Changes of each prefix, within runs */
  u8 *aSame;             /* Scratch: has a row the prefix of the one before? */
};

/* hp_kept.c */
static int hpKeptSet(HpArena*, HpKept*, const HpVec*, int);

/* hp_sum.c */
static int hpSumIsSound(const HpSum*);
static int hpSumIsSmall(u64, u64);
static double hpSumLost(u64, u64);
static int hpSumIsSafe(const HpSum*, int);
static void hpSumCtx(const HpSum*, SumCtx*);
static void hpSumRange(HpAgg*, HpFrame*, HpSum*, const HpVec*, const u16*, int);
static void hpSumScattered(HpAgg*, HpFrame*, int, const HpVec*, const u16*,
                           u8**, int);
static u64 hpSumBits(const HpFrame*, const HpVec*);
static int hpSumMerge(HpSum*, const HpSum*);

/* hp_tally.c */
static int hpTallyIsOn(const HpAgg*);
static int hpTallyHas(const HpAgg*, const HpAggDef*);
static int hpTallyBegin(HpAgg*, const HpFrame*, const HpAccumulator*);
static int hpTallyRows(HpAgg*, const HpFrame*);
static void hpTallySettle(HpAgg*);
static void hpTallyClose(HpAgg*);

/* hp_group.c */
#ifdef SQLITE_DEBUG
static int hpGroupIsSane(const HpGroupPlan*, const u8*);
#endif

/* hp_sign.c */
static int hpSignNote(HpRuns*, int);
static int hpSignDoubt(const HpPipe*);

/* hp_layout.c */
static int hpLayoutGroup(HpGroupPlan*);

/* hp_aggcall.c */
static void hpAggCallBegin(HpAggCall*, HpWorker*, const HpAggDef*, Mem*, int);
static int hpAggCallStep(HpAggCall*);
static void hpAggCallEnd(HpAggCall*);
static int hpAggCallRow(const HpFrame*, const HpAggDef*, Mem*, int);

/* hp_agglog.c */
static int hpAggLogRows(HpRuns*, HpFrame*, const HpAggDef*, const u16*, u8**, int);
static int hpAggLogAdd(HpRuns*, HpFrame*, const HpAggDef*, HpAggLog*, int);
static void hpAggLogMerge(HpAggLog*, HpAggLog*);
static u64 hpAggLogSize(const HpGroupPlan*, u8*);
static u8 *hpAggLogWrite(const HpGroupPlan*, u8*, u8*);
static u8 *hpAggLogPointers(const HpGroupPlan*, u8*, u8*);
static u64 hpAggLogCost(const HpAggLog*);
static void hpAggLogPrefetch(const HpAggLog*, int);
static int hpAggLogCalls(HpWorker*, const HpAggDef*, HpAggLog*, Mem*, int, u32*);

#ifdef SQLITE_ENABLE_PERCENTILE
static int hpAggLogNumbers(const HpAggDef*, HpAggLog*, double*, u64*, double*);

/* hp_percentile.c */
static int hpPercentileMake(HpWorker*, const HpAggDef*, HpAggLog*, Mem*);
#endif

/* hp_aggorder.c */
static int hpAggOrderAdd(HpRuns*, HpFrame*, const HpAggDef*, HpAggOrder*, int);
static int hpAggOrderSort(HpRuns*);
static void hpAggOrderMerge(HpAggOrder*, const HpAggOrder*);
static u64 hpAggOrderSize(const HpGroupPlan*, const u8*);
static u8 *hpAggOrderWrite(const HpGroupPlan*, const u8*, u8*, const u8*);
static u8 *hpAggOrderPointers(const HpGroupPlan*, u8*, u8*);
static u64 hpAggOrderCost(const HpAggOrder*);
static void hpAggOrderPrefetch(const HpAggOrder*, int);
static int hpAggOrderCalls(HpWorker*, const HpAggDef*, const HpAggOrder*, Mem*, int);

/* hp_aggahead.c */
static int hpAggAheadLoad(HpPipe*, u8*, const HpAggDef*, Mem*);
static int hpAggAheadNext(HpPipe*, HpMerge*);
static void hpAggAheadClose(HpPipe*);

/* hp_result.c */
static int hpResultMerge(const HpGroupPlan*, u8*, const u8*);
static int hpResultFails(const HpGroupPlan*, const u8*);
static int hpResultWanted(const HpGroupPlan*, const u8*, const HpLiteral*);
static u8 hpResultValue(const HpAggDef*, const u8*, HpVal*, u32*);
static int hpResultLoad(HpPipe*, u8*, Mem*, HpBuf*);

/* hp_direct.c */
static int hpDirectRows(HpAgg*, HpFrame*, int*);
static void hpDirectSet(HpAgg*, int, u32);
static void hpDirectClear(HpAgg*);
static int hpDirectIsOn(const HpAgg*);
static void hpDirectClose(HpAgg*);

/* hp_table.c */
static u8 *hpTableNew(HpAgg*);
static int hpTableOpen(HpFrame*, const HpGroupPlan*, HpAgg**);
static void hpTableClose(HpAgg*);
static void hpTableReset(HpAgg*, i64);
static int hpTableSpill(HpAgg*);
static int hpTableLoad(HpAgg*, HpFrame*, u8*, int);

/* hp_assign.c */
static void hpAssignOpen(HpAgg*, int);
#ifdef SQLITE_DEBUG
static int hpAssignIsRight(const HpAgg*, const HpFrame*);
#endif

/* hp_distinct.c */
static int hpDistinctFull(const HpRuns*);
static int hpDistinctAdd(HpAgg*, HpFrame*, const HpAggDef*, const HpHead*, int, int*);
static void hpDistinctAhead(const HpAgg*, const HpFrame*, const HpAggDef*, const HpHead*, int);
static void hpDistinctBegin(const HpGroupPlan*, u8*);
static void hpDistinctFree(HpSet*);
static int hpDistinctCombine(HpPipe*);

/* hp_rare.c */
static void hpRareOpen(HpAgg*);
static void hpRareLeaves(HpWorker*);

/* hp_agg.c */
static int hpAggOpen(HpWorker*);
static int hpAggStep(HpAgg*, HpFrame*);

/* hp_topgroup.c */
static i64 hpTopGroupMost(const HpGroupPlan*, const Mem*);
static void hpTopGroupBegin(HpPipe*);
static int hpTopGroupMerge(HpPipe*);
static int hpTopGroupNext(HpPipe*, u8**);
static void hpTopGroupEnd(HpPipe*);

/* hp_regroup.c */
static void hpRegroupKeep(HpPipe*, HpPipe*);
static void hpRegroupForget(HpPipe*);

/* hp_sort.c */
static int hpSortOpen(HpWorker*);
static void hpSortClose(HpSort*);
static int hpSortRecord(const HpSortPlan*, const HpFrame*, int, HpBuf*);
static int hpSortPut(HpSort*, u32, u32, u64);
static u32 hpSortPrefix(const u8*);
static void hpSortExact(const HpSortPlan*, HpFrame*);
static int hpSortLoad(const HpSortPlan*, HpFrame*);
static int hpSortLoadOne(const HpSortPlan*, HpFrame*, int);
static int hpSortStep(HpSort*, HpFrame*, int);

/* hp_spool.c */
static int hpSpoolOpen(HpWorker*, Mem*);
static int hpSpoolRows(HpWorker*, HpFrame*);
static int hpSpoolFinish(HpWorker*);
static int hpSpoolCombine(HpPipe*);
static int hpSpoolGive(HpPipe*, int (*)(void*, const u8*, u32), void*);
static SQLITE_INLINE const u8 *hpSpoolEntry(const HpFillPlan*, const u8**, u32*,
                                            i64*);
static void hpSpoolClose(HpWorker*);

/* hp_stash.c */
static HpStash *hpStashNew(i64);
static int hpStashOpen(HpWorker*);
static int hpStashRows(HpWorker*, HpFrame*);
static int hpStashCombine(HpPipe*);
static void hpStashClose(HpWorker*);
static u64 hpStashScanned(const HpStash*);
static void hpStashRewind(HpStash*);
static int hpStashIsFull(const HpStash*);
static void hpStashFree(HpStash*);

/* hp_partition.c */
static i64 hpPartitionLimit(const HpSortPlan*, const Mem*);
static int hpPartitionWorthIt(const HpPipe*);
static int hpPartitionOpen(HpWorker*);
static void hpPartitionClose(HpSort*);
static int hpPartitionSort(HpSort*);
static int hpPartitionStep(HpSort*, HpFrame*);

/* hp_found.c */
static int hpFoundOpen(HpWorker*, int);
static int hpFoundIsLarge(const HpFound*);
static int hpFoundReserve(HpFound*, i64);
static i64 hpFoundPlace(HpFound*, int, int);
static void hpFoundEnough(const HpFound*);
static int hpFoundKnows(const HpFound*);
static void hpFoundRun(HpWorker*, int (*)(const HpFound*, i64));
static int hpFoundMerge(HpPipe*);
static void hpFoundClose(HpWorker*);

/* hp_top.c */
static int hpTopOpen(HpWorker*, Mem*);
static int hpTopRows(HpWorker*, HpFrame*);
static void hpTopRun(HpWorker*);
static int hpTopMerge(HpPipe*);

/* hp_first.c */
static int hpFirstOpen(HpWorker*, Mem*);
static int hpFirstRows(HpWorker*, HpFrame*);
static void hpFirstRun(HpWorker*);
static int hpFirstMerge(HpPipe*);
static void hpFirstClose(HpWorker*);

/* hp_rowids.c */
static int hpRowidsOpen(HpWorker*, Mem*);
static int hpRowidsRows(HpWorker*, HpFrame*);
static void hpRowidsRun(HpWorker*);
static int hpRowidsCost(const HpPipe*, i64, i64, i64);

/* hp_prefix.c */
#ifdef HP_ANALYZE
static int hpPrefixOpen(HpWorker*, Mem*);
static int hpPrefixPut(HpWorker*, const u8*, const HpVal*, const u32*, HpBuf*);
static SQLITE_INLINE int hpPrefixSame(u8, HpVal, u32, u8, HpVal, u32, CollSeq*);
static HpPrefixRun *hpPrefixBegin(HpWorker*, u32);
static int hpPrefixRows(HpWorker*, HpFrame*);
static void hpPrefixClose(HpWorker*);
static i64 hpPrefixCounts(const HpPipe*, u64*);
#endif

/* hp_build.c */
static int hpBuildOpen(HpWorker*, Mem*);
static int hpBuildRows(HpWorker*, HpFrame*);
static int hpBuildCombine(HpPipe*);
static void hpBuildClose(HpWorker*);

/* hp_checkrows.c */
static int hpCheckRowsOpen(HpWorker*, Mem*);
static int hpCheckRowsBatch(HpWorker*, HpFrame*);
static void hpCheckRowsRun(HpWorker*);
static int hpCheckRowsFinish(HpWorker*);
static int hpCheckRowsCombine(HpPipe*);
static void hpCheckRowsClose(HpWorker*);

#endif /* HPSINK_H */
#endif /* SQLITE_OMIT_HP */
