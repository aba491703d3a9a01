/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** The ground floor: values, vectors, memory, settings, threads.  All floors
** stand on it.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPBASE_H
#define HPBASE_H
#include <float.h>

#define HP_VERSION "0.1.0"

/* Not an error: let stock's code answer.  Never leaves OP_HpScan.  The value
** is a code that no SQLite interface used here returns. */
#define HP_DECLINE     SQLITE_DONE

/* Nor this: run again with one worker, the parts cannot be put together */
#define HP_SERIAL      SQLITE_ROW

/* Values of Vdbe.eHpRun */
#define HP_RUN_DONE   1    /* OP_HpScan has run */
#define HP_RUN_AGAIN  2    /* It is not to run: sqlite3HpRestart() */

/* Values of sqlite3.hp.eOffload, the setting of PRAGMA hp_offload */
#define HP_OFFLOAD_ON     0    /* Take over tables of HP_MIN_LEAF leaves or more */
#define HP_OFFLOAD_OFF    1    /* Take over nothing */
#define HP_OFFLOAD_FORCE  2    /* Take over tables of any size */

/* True if the compiler computes doubles with more precision than they have, or
** does not say: x87 and 68k.  See hpConfigOffload().  On 32-bit x86 that is so with
** -mfpmath=sse as well: GCC converts an integer of 64 bits to a double and back
** within the x87, which rounds nothing. */
#ifdef __FLT_EVAL_METHOD__
# define HP_EVAL_METHOD __FLT_EVAL_METHOD__
#elif defined(FLT_EVAL_METHOD)
# define HP_EVAL_METHOD FLT_EVAL_METHOD
#else
# define HP_EVAL_METHOD 0
#endif
#if HP_EVAL_METHOD==2 || HP_EVAL_METHOD<0 || defined(__i386__) \
 || defined(_M_IX86)
# define HP_EXCESS 1
#else
# define HP_EXCESS 0
#endif

/* Value of sqlite3.hp.nExtent, the setting of PRAGMA hp_extent.  0: as the size
** of a b-tree suggests.  A positive number: so many pages. */
#define HP_EXTENT_OFF    (-1)
#define HP_MX_EXTENT     65536   /* Largest number of pages */

#define HP_BATCH         1024  /* Most rows a batch */
#define HP_SLACK         64    /* Readable bytes after every buffer */
#define HP_MEMORY        (256*1024*1024)  /* Least default of PRAGMA hp_memory */
#define HP_MX_THREAD     64    /* Most workers of a scan */
#define HP_DFLT_THREAD   8     /* Most workers unless PRAGMA hp_threads asks */

#define HP_MX_PART       32    /* Most parts that groups are merged in */

/*
** Types of a value in a vector.  Bits, so that the types that occur in a
** vector are the OR of its tags.
*/
#define HP_NULL  0x01
#define HP_INT   0x02
#define HP_REAL  0x04
#define HP_TEXT  0x08
#define HP_BLOB  0x10
#define HP_NUM   (HP_INT|HP_REAL)
#define HP_STR   (HP_TEXT|HP_BLOB)

typedef struct HpAccumulator HpAccumulator;
typedef struct HpAgg HpAgg;
typedef struct HpBudget HpBudget;
typedef struct HpBuf HpBuf;
typedef struct HpAggDef HpAggDef;
typedef struct HpArena HpArena;
typedef struct HpAssigner HpAssigner;
typedef struct HpBatch HpBatch;
typedef struct HpBits HpBits;
typedef struct HpBound HpBound;
typedef struct HpCheckAll HpCheckAll;
typedef struct HpCol HpCol;
typedef struct HpColumnRun HpColumnRun;
typedef struct HpColumnInner HpColumnInner;
typedef struct HpColumnScan HpColumnScan;
typedef struct HpCompile HpCompile;
typedef struct HpConfig HpConfig;
typedef struct HpNumber HpNumber;
typedef struct HpCrew HpCrew;
typedef struct HpDelivery HpDelivery;
typedef struct HpWorker HpWorker;
typedef struct HpEntryPlan HpEntryPlan;
typedef struct HpEntryType HpEntryType;
typedef struct HpField HpField;
typedef struct HpFindPlan HpFindPlan;
typedef struct HpDirect HpDirect;
typedef struct HpFrame HpFrame;
typedef struct HpGroupPlan HpGroupPlan;
typedef struct HpInner HpInner;
typedef struct HpKeeper HpKeeper;
typedef struct HpKeys HpKeys;
typedef struct HpBoundKey HpBoundKey;
typedef struct HpList HpList;
typedef struct HpLogPiece HpLogPiece;
typedef struct HpLookup HpLookup;
typedef struct HpLiteral HpLiteral;
typedef struct HpMender HpMender;
typedef struct HpMerge HpMerge;
typedef struct HpSlices HpSlices;
typedef struct HpTally HpTally;
typedef struct HpOp HpOp;
typedef struct HpAggCall HpAggCall;
typedef struct HpAggLog HpAggLog;
typedef struct HpAggOrder HpAggOrder;
typedef struct HpPack HpPack;
typedef struct HpPipe HpPipe;
typedef struct HpPipePlan HpPipePlan;
typedef struct HpPlan HpPlan;
typedef struct HpProg HpProg;
typedef struct HpRange HpRange;
typedef struct HpReader HpReader;
typedef struct HpRecord HpRecord;
typedef struct HpRel HpRel;
typedef struct HpRelPlan HpRelPlan;
typedef struct HpPart HpPart;
typedef struct HpPrefixPlan HpPrefixPlan;
typedef struct HpPieces HpPieces;
typedef struct HpFinder HpFinder;
typedef struct HpRun HpRun;
typedef struct HpRuns HpRuns;
typedef struct HpQuery HpQuery;
typedef struct HpSegment HpSegment;
typedef struct HpShown HpShown;
typedef struct HpSegmentMaker HpSegmentMaker;
typedef struct HpSinkType HpSinkType;
typedef struct HpSlab HpSlab;
typedef struct HpSortPlan HpSortPlan;
typedef struct HpSource HpSource;
typedef struct HpStash HpStash;
typedef struct HpSourcePlan HpSourcePlan;
typedef struct HpSourceType HpSourceType;
typedef struct HpTerm HpTerm;
typedef struct HpTopAgg HpTopAgg;
typedef struct HpTopGroup HpTopGroup;
typedef struct HpAround HpAround;
typedef struct HpVec HpVec;
typedef union HpVal HpVal;
typedef struct HpValues HpValues;

/* One value without its type */
union HpVal {
  i64 i;                 /* HP_INT */
  double r;              /* HP_REAL */
  const u8 *z;           /* HP_TEXT, HP_BLOB: n bytes, not terminated; at least
                         ** 8 more bytes are readable */
  u64 u;                 /* The bits */
};

/*
** A vector: one value for each row of the batch, or one constant.  Only the
** rows of the selection that it was computed under are defined; selections
** only get narrower.  mIdx is 0 for a constant and all ones otherwise, so
** that aVal[i & mIdx] serves both.
**
** Float form: a vector of integers and reals mixed, as columns of prices
** are, may hold its integers as doubles, aTag still saying which they are.
** All of them are below HP_MX_FLOAT then, so nothing is lost, arithmetic is
** that of doubles, and sum() adds what it would have added.  hpVecExact()
** turns them back.
*/
struct HpVec {
  u8 *aTag;              /* HP_xxx of each row */
  HpVal *aVal;           /* Value of each row */
  u32 *aLen;             /* Bytes of HP_TEXT and HP_BLOB.  NULL if none can be */
  u32 mIdx;              /* 0: constant.  0xffff: one value a row */
  u8 mType;              /* OR of the tags (may name types that no longer occur) */
  u8 bFloat;             /* In float form */
  u8 bCodes;             /* It has no values yet: see hp_codes.c */
  u8 *aSub;              /* Subtype of each row plus one, 0 if none; or NULL */
  u16 nDepth;            /* Sides around its operation: HpFrame.aAround */
  u8 bLate;              /* Not materialised: types and segment only (hp_codes.c) */
  const HpSegment *pSeg; /* A column in memory: its values are of this segment; or NULL.  ... */
  const u8 *aCode;       /* ... DICT: which entry each row is.  NULL: the only one */
};
#define HP_MX_FLOAT 4503599627370496.0   /* 2^52: sum() splits larger ones */

/* A number (or something else, which tag says) with its type */
struct HpLiteral {
  u8 tag;
  HpVal val;
};

/* All keys of a row in one, if they fit */
struct HpPack {
  u64 a;
  u64 b;                 /* HP_UNPACKED: they do not fit */
};
#define HP_UNPACKED (~(u64)0)
#define HP_SZ_NUMBER 11  /* Most bytes of the normalized key of a number */
#define HP_PACK_INT 2    /* HpPack.b of a single key that is the integer a */

/* A piece of memory that many have some of: hp_slab.c */
struct HpSlab {
  HpSlab *pNext;         /* In a list of who has it open */
  i64 nByte;             /* Bytes of all of it, ... */
  i64 nUsed;             /* ... and of what has been taken */
  u32 nUser;             /* Atomic: who has not left */
};

/* A set of integers, with a bit for each number of its range: hp_bits.c */
struct HpBits {
  i64 iMin;              /* The integer of the first bit */
  u64 nBit;              /* Number of bits, behind which there is one more, of
                         ** 0.  0: there is no set */
  u64 *aBit;             /* The bits */
  u32 *aRank;            /* Of each element of aBit, the number of integers
                         ** before it */
};

/* A linked list of memory blocks that live and die together */
struct HpArena {
  struct HpBlock *pBlock;  /* Current block, linked to earlier ones */
  u8 *pFree;             /* Next free byte of the current block */
  u32 nFree;             /* Free bytes of the current block */
  i64 nTotal;            /* Bytes of blocks in use */
  i64 mxBlock;           /* Blocks double up to this size.  0: HP_MX_BLOCK */
  struct HpBlock *pSpare;  /* Blocks not in use, ... */
  i64 nSpare;            /* ... and their bytes */
};

/* The memory of a statement: see hp_budget.c */
struct HpBudget {
  i64 nLimit;            /* Bytes that all workers together may hold */
  i64 nShare;            /* Bytes that each of them may hold in any case */
};

/* How badly memory is needed */
#define HP_WISH   0        /* Something can be done instead */
#define HP_KEEP   1        /* Without it the query is declined */
#define HP_FINISH 2        /* The batch has to be finished */
#define HP_MIN_MEMORY  (1024*1024)  /* So much a batch may take in any case */
#define HP_MIN_LENGTH  (16*1024*1024) /* SQLITE_LIMIT_LENGTH below: stock's code runs */

/* Bytes that grow */
struct HpBuf {
  u8 *a;                 /* sqlite3_malloc() */
  u32 n, nAlloc;
};

/*
** What is selected around a side while that is run: see hp_side.c.
*/
struct HpAround {
  u16 *aSel;             /* HpFrame.aSel, ... */
  int nSel;
  u8 bDense;
  u16 iSide;             /* HpSide.iSame of the side that is run ... */
  u16 *aNeed;            /* ... and memory for the rows that need it */
};

/*
** Rows between two steps: what expressions, keys and functions work on, and what
** a sink takes.  A program has computed vectors of them, under a selection that
** its filters left.
*/
struct HpFrame {
  HpWorker *pWorker;     /* Who works on it */
  const HpSourceType *pSource;   /* What gives the values of its columns */
  sqlite3 *db;           /* What values and SQLite's functions take for their
                         ** connection: see HpWorker.db */
  const HpConfig *pCfg;
  const HpProg *pProg;   /* The program */
  int nRow;              /* Rows */
  int nAlloc;            /* Most rows */
  u64 iPos;              /* Position of the first one: the run's number, then 32
                         ** bits for the row within the run */
  HpVec *aVec;           /* The vectors of the program */
  u16 *aSel;             /* Selection vector: rows that passed the filters */
  int nSel;
  u16 *aAll;             /* The selection of all rows: 0, 1, 2, ... */
  u8 (*aWhich)[9];       /* For each eight bits which are set: hpExprSelect() */
  u8 bDense;             /* Most rows are selected: compute all of them */
  int nDepth;            /* Sides that are being run, one in the other ... */
  HpAround *aAround;     /* ... and what was selected around each */
  int iNextSide;         /* HpProg.aSide[] that begins next */
  u8 bFiltering;         /* Filters are being run */
  int nCodes;            /* Vectors with HpVec.bCodes */
  u8 bAvx2;              /* Use the AVX2 routines */
  u8 *aBool;             /* Truth of each row: 0 false, 1 true, 2 NULL */
  u16 *aPick;            /* Scratch: a choice for each row */
  void **apState;        /* What operations keep: patterns, sets, contexts */
  Vdbe *pFuncVdbe;       /* What SQL functions take for their statement */
  HpArena vec;           /* Memory of vectors and scratch */
  HpArena text;          /* Text computed for these rows */
  HpArena textConst;     /* Text of constants */
  int rcOp;              /* HP_DECLINE or an error if an operation gave up */
  u8 *aText;             /* Scratch: text with a zero byte after it */
  u32 nText;             /* Bytes of aText */
  HpBuf key;             /* Scratch: a normalized key */
  u8 bInRange;           /* HpProg.nRange>0: a row in range was seen, */
  u64 iInRange;          /* the last one at this position, ... */
  u64 iOutRange;         /* ... and one behind them, or HP_NO_POS */
};
#define HP_NO_POS (~(u64)0)   /* A position that no row has */

/* Values of HpConfig.eDisk: are reads slow? */
#define HP_DISK_REAL  0    /* That is measured */
#define HP_DISK_COLD  1    /* disk=cold: all of them */
#define HP_DISK_WARM  2    /* disk=warm: none is */
#define HP_DISK_SINGLE 3   /* disk=single: those that no scan makes are */

/* Values of HpConfig.eCheckpoint */
#define HP_CKPT_NOW    1     /* ckpt=now: the thread makes all, with a wait */
#define HP_CKPT_LATER  2     /* ckpt=later: the thread makes all */

/* Values of HpConfig.eColumns */
#define HP_COLUMNS_FORCE 1   /* columns=force */
#define HP_COLUMNS_TINY  2   /* columns=tiny */

/* Switches for tests, read once from the environment: see hp_config.c */
struct HpConfig {
  int bInit;             /* True when the rest is set */
  u8 bOff;               /* HPSQLITE=off */
  u8 bForce;             /* force: default of hp_offload is force */
  u8 bHash0;             /* hash=0: all hash values are equal */
  u8 bNoSimd;            /* simd=off: plain C */
  u8 bPager;             /* source=pager: never read the file directly */
  u8 eDisk;              /* HP_DISK_xxx: what reading seems to take */
  u8 bAnyVfs;            /* vfs=any: reserve pages whatever the file's VFS is */
  u8 bFuse;              /* fs=fuse: files seem to be in such a file system */
  u8 bDirHash;           /* dir=hash: relations have hash tables, no bits */
  u8 bStash;             /* stash=all: rows are put aside wherever they can */
  u8 bShow;              /* tree=show: EXPLAIN QUERY PLAN shows pipes */
  u8 bSteps;             /* clock=steps: time is the number of SQLite's
                         ** instructions */
  u8 eColumns;           /* columns=force, =tiny: each scan keeps columns, and reads them */
  u8 bHere;              /* system=here: the kernel's files are there */
  u8 eCheckpoint;        /* ckpt=now, =later: a thread makes all checkpoints */
  int nBatch;            /* batch=N: rows a batch */
  int nThread;           /* threads=N: workers, however small the table; or 0 */
  int nRun;              /* run=N: leaves a run; or 0 */
  int nRace;             /* race=N: instructions until SQLite's loops are given up; or 0 */
  int nRare;             /* rare=N: groups of a sorted run, however often they recur; or 0 */
  int nEnd;              /* end=N: one run of leaves in N ends a search for
                         ** rows; or 0 */
  int nTally;            /* tally=N: sums are in arrays from so many groups on; or 0 */
  int nExtent;           /* extent=N: pages that each b-tree reserves; or 0 */
  i64 nMemory;           /* memory=N: default of hp_memory; or 0 */
};

/* An interior page of a b-tree */
struct HpInner {
  const u8 *aData;       /* Its first byte */
  const u8 *aHdr;        /* Its b-tree header */
  const u8 *aEnd;        /* Its end */
  int nCell;             /* Its cells: it has nCell+1 children */
};

/* A record in its page */
struct HpRecord {
  const u8 *z;           /* The part that lies in the page */
  u32 nLocal;            /* Bytes of that part */
  u32 nByte;             /* Bytes in all */
};

/*
** What became of the queries of a connection: places in sqlite3.hp.aStat, and
** of those from HP_NO_LIMIT to HP_NO_OTHER why an expression is refused, in
** HpCompile.eNo.  PRAGMA hp_stats shows them.
*/
#define HP_NO_LIMIT         1  /* Too many columns, constants, operations */
#define HP_NO_SUBQUERY      2
#define HP_NO_NONDETERM     3  /* A function that is not deterministic */
#define HP_NO_FUNCTION      4  /* A function that needs its place in the VDBE */
#define HP_NO_WINDOW        5
#define HP_NO_ROWVALUE      6
#define HP_NO_COLLATION     7  /* Grouping by an application's collation */
#define HP_NO_COLUMN        8  /* A column of something else, or not stored */
#define HP_NO_OTHER         9
#define HP_NO_SHAPE        10  /* Not ordinary tables; UTF-16 */
#define HP_NO_AGGREGATE    11  /* ORDER BY inside an aggregate function, of what
                               ** becomes an integer in SQLite's sorter */
#define HP_NO_PLAN         12  /* The planner found a search or a useful order */
#define HP_NO_ORDER        13  /* An index gives the order, which shows */
#define HP_NO_SMALL        14  /* The table is small, when prepared */
#define HP_NO_JOIN         15  /* Not by unique keys from the table scanned */
#define HP_STAT_TAKEN      16  /* Prepared with code of ours */
#define HP_STAT_RUN        17  /* Run to the end */
#define HP_STAT_SMALL      18  /* Given back: the table is small */
#define HP_STAT_DECLINED   19  /* Given back for another reason */
#define HP_STAT_SERIAL     20  /* Run again with one worker */
#define HP_STAT_SPILLED    21  /* Wrote groups to a file */
#define HP_STAT_CHAIN      22  /* Runs of overflow pages read */
#define HP_STAT_AHEAD      23  /* Pages that were asked for ahead */
#define HP_STAT_COLUMNS     24  /* Runs of leaves whose columns were in memory */
#define HP_STAT_MENDED     25  /* ... of which some leaves had to be read again */
#define HP_STAT_LATE       26  /* SQLite's loops were given up */
#define HP_STAT_RUNS       27  /* Put groups together slice by slice */
#define HP_STAT_KEPT       28  /* Page caches that outlived a commit of
                               ** another */
#define HP_STAT_DROPPED    29  /* ... and that did not */
#define HP_STAT_WAITS      30  /* Waits for a file, in line */
#define HP_STAT_WAITED     31  /* ... and how long they took: milliseconds */
#define HP_STAT_TURNS      32  /* Transactions that came after one of another
                               ** connection while somebody waited */
#define HP_STAT_CHECKPOINTS 33 /* Checkpoints that a thread was to make */
#define HP_STAT_SYNCED     34  /* Commits that another one has synced */
#define HP_STAT_REFILLED   35  /* Indexes made of sorted runs */
#define HP_STAT_COPIED     36  /* B-trees copied cell by cell */
#define HP_STAT_ANALYZED   37  /* Indexes whose statistics a scan made */
#define HP_STAT_ORPHANS    38  /* Tables without orphans: foreign_key_check */
#define HP_STAT_TREES      39  /* Files whose b-trees were checked */
#define HP_STAT_CHECKED    40  /* Tables whose rows and indexes were checked */
#define HP_STAT_DEFERRED   41  /* Indexes whose changes were put in order */
#define HP_STAT_FILLED     42  /* Tables filled with the rows of a scan */
#define HP_STAT_MX         42

/* Connections of one process share pages and columns of a file: hp_store.c, hp_columns.c */
#if SQLITE_OS_UNIX && !defined(SQLITE_WASI) && !defined(SQLITE_OMIT_WAL) \
 && defined(HP_GNUC) \
 && defined(SQLITE_SYSTEM_MALLOC) && SQLITE_MAX_MMAP_SIZE>0
# define HP_SHARED 1
#endif

/* This thread looks again and again for what another one does */
#if defined(HP_GNUC) && (defined(__x86_64__) || defined(__i386__))
# define hpPause()  __builtin_ia32_pause()
#else
# define hpPause()
#endif

/* preadv() and pwritev().  Android has them from API 24 on */
#if SQLITE_OS_UNIX && defined(__linux__) \
 && (defined(USE_PREAD) || defined(USE_PREAD64)) \
 && (!defined(__ANDROID__) || __ANDROID_API__>=24)
# define HP_PREADV 1
# include <sys/uio.h>
#endif

/* GCC for Windows puts 32-byte values in stack slots as if these were aligned,
** which Windows does not promise (its bug 54412); clang aligns them itself */
#if defined(HP_GNUC) && defined(__x86_64__) \
 && (!defined(_WIN32) || defined(__clang__))
# define HP_AVX2 1
# include <immintrin.h>
#endif
#if defined(HP_GNUC) && defined(__SSE2__)
# define HP_SSE2 1
# include <emmintrin.h>
#endif

#if defined(__GNUC__)
# define hpPrefetch(X) __builtin_prefetch(X)
#else
# define hpPrefetch(X)
#endif

/* Eight bytes at z as a big-endian number */
static SQLITE_INLINE u64 hpLoad8(const u8 *z){
  u64 x;
  memcpy(&x, z, 8);
#if SQLITE_BYTEORDER==1234
  x = sqlite3BSwap64(x);
#elif SQLITE_BYTEORDER!=4321
  x = sqlite3Get8byte(z);
#endif
  return x;
}

/* The first n<=8 bytes at z, where 8 are readable, as a number: of two of the same
** length it sorts as they do */
static SQLITE_INLINE u64 hpLoadBytes(const u8 *z, u32 n){
  return n ? hpLoad8(z) >> (64-8*n) : 0;
}

/* Eight bytes at z, not swapped */
static SQLITE_INLINE i64 hpRaw8(const u8 *z){
  i64 x;
  memcpy(&x, z, 8);
  return x;
}

/* Integers up to this size are the same as doubles */
#define HP_MX_EXACT  (((i64)1)<<53)
#define hpIsExact(X) ((X)<=HP_MX_EXACT && (X)>=-HP_MX_EXACT)

/* hp_config.c */
static const HpConfig *hpConfig(void);
static int hpConfigOffload(sqlite3*);
static int hpConfigStat(sqlite3*, int);
static void hpConfigLog(sqlite3*, const char*, ...);

/* hp_budget.c */
static void hpBudgetOomUndo(sqlite3*);
static int hpBudgetIsLimited(void);
static i64 hpBudgetUsable(void);
static i64 hpBudgetSetting(sqlite3*);
static void hpBudgetOpen(HpPipe*);
static void hpBudgetArena(const HpPipe*, HpArena*);
static void hpBudgetHold(HpWorker*, i64);
static int hpBudgetMay(const HpWorker*, i64, int);
#ifdef HP_SHARED
static i64 hpBudgetKeepMost(void);
static int hpBudgetMayKeep(void);
static void hpBudgetLook(void);
static int hpBudgetKeep(i64);
static void hpBudgetKept(i64);
#endif

/* hp_arena.c */
static int hpArenaGrow(HpArena*, void*, int*, int, int);
static void *hpArenaAlloc(HpArena*, i64);
static void *hpArenaMalloc(i64);
static void hpArenaRecycle(HpArena*, i64);
static void hpArenaClear(HpArena*);
static void hpArenaReset(HpArena*);

/* hp_slab.c */
#ifdef HP_SHARED
static HpSlab *hpSlabNew(i64);
static void *hpSlabTake(HpSlab*, i64);
static i64 hpSlabLeave(HpSlab*);
static i64 hpSlabRoom(HpSlab*);
#endif

/* hp_buf.c */
static int hpBufRoom(HpBuf*, u32);
static int hpBufAppend(HpBuf*, const u8*, u32);
static int hpBufGrow(void*, int*, int, int);

/* hp_bits.c */
static SQLITE_INLINE u32 hpBitsCount(u64);
static int hpBitsAny(const HpBits*, i64, i64);

/* hp_hash.c */
static u64 hpHashBytes(const u8*, u32);
static void hpHashMove(const u32*, u32, u32*, u32);

/* hp_page.c */
#ifndef SQLITE_OMIT_AUTOVACUUM
static Pgno hpPagePtrmap(const BtShared*, Pgno);
#endif
static int hpPageIsPtrmap(const BtShared*, Pgno);
static void hpPageSort(Pgno*, u32);
static int hpPageRecord(BtShared*, const u8*, const u8*, HpRecord*);
static int hpPageFile(const HpConfig*, Pager*);
#ifdef HP_PREADV
static int hpPageDirect(const HpConfig*, Pager*);
#endif
static int hpPageInner(HpInner*, const BtShared*, const u8*, Pgno);
static const u8 *hpPageCell(const HpInner*, int);
static Pgno hpPageChild(const HpInner*, int);

/* hp_thread.c */
static int hpThreads(sqlite3*);
static int hpThreadsFit(const HpPipe*);
#ifdef SQLITE_DEBUG
static int hpThreadIsLocked(const HpPipe*);
#endif
static void hpThreadEnter(sqlite3_mutex*);
static void hpThreadLock(const HpPipe*);
static void hpThreadUnlock(const HpPipe*);
static void hpThreadYield(void);
static int hpThreadStopped(const HpPipe*);
static SQLITE_INLINE BtShared *hpThreadBt(const HpPipe*);
static Pager *hpThreadPager(const HpPipe*);
static u32 hpThreadChanges(const HpQuery*);
static int hpThreadChanged(const HpQuery*);
static int hpThreadTripped(const HpPipe*);
#ifndef SQLITE_OMIT_PROGRESS_CALLBACK
static int hpThreadSteps(Vdbe*, u64);
#endif
static int hpThreadProgress(HpWorker*, u32);
static int hpThreadEach(HpPipe*, void (*)(HpWorker*));

/* hp_vec.c */
static int hpVecInit(HpFrame*, HpVec*, int);
static void hpVecConst(HpFrame*, HpVec*, Mem*);
static void hpVecExact(HpFrame*, HpVec*);
static int hpVecCollIsOwn(const CollSeq*);
static void hpVecToMem(const HpFrame*, const HpVec*, int, Mem*);
static u8 *hpVecText(HpFrame*, u32);
static void hpVecSetMem(HpFrame*, HpVec*, int, Mem*);
static int hpVecValCompare(u8, HpVal, u32, u8, HpVal, u32, CollSeq*);
static int hpVecMemCompare(const HpFrame*, const HpVec*, const HpVec*, int, u8,
                           CollSeq*);
static void hpVecFromBool(HpFrame*, HpVec*);
static u8 hpVecTruth(const HpFrame*, const HpVec*, int);
static void hpVecScope(HpFrame*, int, HpAround*);
static void hpVecBack(HpFrame*, const HpAround*);
static void hpVecFill(HpFrame*, HpVec*);
#ifdef SQLITE_DEBUG
static int hpVecIsSelection(const HpFrame*);
#endif

#endif /* HPBASE_H */
#endif /* SQLITE_OMIT_HP */
