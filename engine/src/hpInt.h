/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Internal interface of the vectorised executor ("hp").
**
** The executor answers one kind of work: an aggregate query over one rowid
** table, from the first page read to the last group, inside a single
** sqlite3_step().  Data flows one way, and each stage is one file:
**
**    hp_plan    SELECT            ->  may we? emit the opcodes (prepare time)
**    hp_compile Expr trees        ->  HpPlan       (prepare time)
**    hp_source  b-tree of leaves  ->  HpRun        runs of leaf pages
**    hp_record  leaf pages        ->  HpBatch      rows cut into columns
**    hp_expr    HpBatch, HpProg   ->  HpVec        filter and arguments
**    hp_func    HpVec             ->  HpVec        SQL functions, LIKE
**    hp_key     HpVec             ->  HpPack, keys that memcmp() compares
**    hp_agg     HpVec             ->  HpAgg        a worker's groups
**    hp_merge   HpAgg             ->  HpMerge      all groups, in key order
**    hp_order   HpVec             ->  HpOrder      f(X ORDER BY Y), in its order
**    hp_exec    HpMerge           ->  registers    OP_HpScan, OP_HpNext
**
** or, where few rows matter, to rowids in place of groups:
**
**    hp_rows    HpVec             ->  HpRows       OP_HpScan, OP_HpRow
**
** or to sorted records:
**
**    hp_part    HpVec             ->  HpParts      rows that a window wants
**    hp_sort    HpVec             ->  HpMerge      OP_HpScan, OP_HpRow
**
** A scan (HpScan) is shared by one or more workers (HpExec), each with a
** thread of its own but the first, which is the caller.  Workers take runs of
** leaves from the one source and keep their own groups; what they share is
** read-only or behind HpScan.pMutex.
**
** The functions called from SQLite's own code, sqlite3HpXxx(), and our fields
** in its structures are declared in hpHooks.h.
**
** The return code HP_DECLINE travels up through all stages and means: this
** executor does not want the query after all (an odd page, a value it
** cannot place, memory used up).  Nothing has been shown to anybody by
** then, so OP_HpScan frees what it has and jumps to the code that stock
** SQLite generated for the same query, which stands in the same program
** and gives stock's answer, or stock's error.  When in doubt, decline.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPINT_H
#define HPINT_H

#define HP_VERSION "0.1.0"

/* Not an error: let stock's code answer.  Never leaves OP_HpScan.  The value
** is a code that no SQLite interface used here returns. */
#define HP_DECLINE     SQLITE_DONE

/* Nor this: run again with one worker, the parts cannot be put together */
#define HP_SERIAL      SQLITE_ROW

/* Values of sqlite3.hp.eOffload, the setting of PRAGMA hp_offload */
#define HP_OFFLOAD_ON     0    /* Take over tables of HP_MIN_LEAF leaves or more */
#define HP_OFFLOAD_OFF    1    /* Take over nothing */
#define HP_OFFLOAD_FORCE  2    /* Take over tables of any size */

/* Value of sqlite3.hp.nExtent, the setting of PRAGMA hp_extent.  0: as the size
** of a b-tree suggests.  A positive number: so many pages. */
#define HP_EXTENT_OFF    (-1)
#define HP_MX_EXTENT     65536   /* Largest number of pages */

/* A table of fewer leaf pages is scanned by stock's code: the buffers of the
** executor would cost more than they save.  32 leaves of 4096 bytes are about
** a thousand rows, or 200 microseconds of stock's time. */
#define HP_MIN_LEAF      32

/* A statement that was left to SQLite because a table was small is prepared
** again after so many instructions: some milliseconds. */
#define HP_AGAIN_STEPS   500000

/* Long executions are those of more instructions, on average */
#define HP_LONG_STEPS    10000

/* A search for which the planner expects fewer rows is left to SQLite before
** anything is compiled.  A LogEst: 1000. */
#define HP_MIN_OUT       99

/* Nor is a range of fewer rowids worth looking at */
#define HP_MIN_ROWIDS    2000

#define HP_BATCH         1024  /* Most rows a batch */
#define HP_RUN_BYTES     (256*1024)  /* Bytes of leaves held at once: fits L2 */
#define HP_SLACK         64    /* Readable bytes after every buffer */
#define HP_MEMORY        (256*1024*1024)  /* Default of PRAGMA hp_memory */
#define HP_MX_COL        64    /* Most columns a plan reads */
#define HP_MX_OP         400   /* Most operations of a program */
#define HP_MX_LIST       250   /* Most arguments of an operation */
#define HP_MX_VEC        8000  /* Most vectors (constants and results) */
#define HP_MX_THREAD     64    /* Most workers of a scan */
#define HP_DFLT_THREAD   8     /* Most workers unless PRAGMA hp_threads asks */

#define HP_MX_PART       32    /* Most parts that groups are merged in */

/* A table of fewer leaf pages is scanned by one worker: a thread costs about
** 30 microseconds to make and to join, as much as 50 leaves. */
#define HP_MIN_PARALLEL  256

/* The first rows of partitions are looked for in a table of so many leaves: a
** guess costs little there. */
#define HP_PART_LEAF   128

#define HP_MX_ARG        4     /* Most arguments of an aggregate function */
#define HP_MX_HAVING     4     /* Most terms of HAVING that are looked at */

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

typedef struct HpAgg HpAgg;
typedef struct HpBuf HpBuf;
typedef struct HpAggDef HpAggDef;
typedef struct HpArena HpArena;
typedef struct HpBatch HpBatch;
typedef struct HpBound HpBound;
typedef struct HpCol HpCol;
typedef struct HpCompile HpCompile;
typedef struct HpConfig HpConfig;
typedef struct HpCount HpCount;
typedef struct HpExec HpExec;
typedef struct HpField HpField;
typedef struct HpInner HpInner;
typedef struct HpKey HpKey;
typedef struct HpList HpList;
typedef struct HpLiteral HpLiteral;
typedef struct HpMerge HpMerge;
typedef struct HpOp HpOp;
typedef struct HpOrder HpOrder;
typedef struct HpPack HpPack;
typedef struct HpParts HpParts;
typedef struct HpPlan HpPlan;
typedef struct HpProg HpProg;
typedef struct HpRange HpRange;
typedef struct HpRecord HpRecord;
typedef struct HpRows HpRows;
typedef struct HpRun HpRun;
typedef struct HpScan HpScan;
typedef struct HpSource HpSource;
typedef struct HpTerm HpTerm;
typedef struct HpVec HpVec;
typedef union HpVal HpVal;

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
  u8 *aSub;              /* Subtype of each row plus one, 0 if none; or NULL */
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

/* A linked list of memory blocks that live and die together */
struct HpArena {
  struct HpBlock *pBlock;  /* Current block, linked to earlier ones */
  u8 *pFree;             /* Next free byte of the current block */
  u32 nFree;             /* Free bytes of the current block */
  i64 nTotal;            /* Bytes of blocks in use */
  struct HpBlock *pSpare;  /* Blocks not in use */
};

/* Bytes that grow */
struct HpBuf {
  u8 *a;                 /* sqlite3_malloc() */
  u32 n, nAlloc;
};

/* Values of HpConfig.eDisk: are reads slow? */
#define HP_DISK_REAL  0    /* That is measured */
#define HP_DISK_COLD  1    /* disk=cold: all of them */
#define HP_DISK_WARM  2    /* disk=warm: none is */

/* Switches for tests, read once from the environment: see hp_exec.c */
struct HpConfig {
  int bInit;             /* True when the rest is set */
  u8 bOff;               /* HPSQLITE=off */
  u8 bForce;             /* force: default of hp_offload is force */
  u8 bHash0;             /* hash=0: all hash values are equal */
  u8 bNoSimd;            /* simd=off: plain C */
  u8 bPager;             /* source=pager: never read the file directly */
  u8 eDisk;              /* HP_DISK_xxx: what reading seems to take */
  int nBatch;            /* batch=N: rows a batch */
  int nThread;           /* threads=N: workers, however small the table; or 0 */
  int nRun;              /* run=N: leaves a run; or 0 */
  int nExtent;           /* extent=N: pages that each b-tree reserves; or 0 */
  i64 nMemory;           /* memory=N: default of hp_memory */
};

/* A column that the plan reads */
struct HpCol {
  int iStore;            /* Position in the record; -1 for the key of a table */
  u8 bReal;              /* REAL affinity: integers are to be shown as reals */
  u8 dfltTag;            /* Value if the record is too short: type, ... */
  HpVal dflt;            /* ... value (text is in aDflt), ... */
  u32 nDflt;             /* ... and length */
  u8 *aDflt;             /* Memory for the text, or NULL */
};

/* Operations of a vector program */
#define HP_OP_COLUMN   1   /* out = column a */
#define HP_OP_ARITH    2   /* out = a op b.          op: TK_PLUS ... TK_REM */
#define HP_OP_COMPARE  3   /* out = a op b.          op: TK_NE ... TK_GE, TK_IS */
#define HP_OP_AND      4   /* out = a AND b */
#define HP_OP_OR       5   /* out = a OR b */
#define HP_OP_NOT      6   /* out = NOT a */
#define HP_OP_ISNULL   7   /* out = a IS NULL        op: TK_ISNULL, TK_NOTNULL */
#define HP_OP_IN       8   /* out = a IN (b, b+1, ... b+n-1: constants) */
#define HP_OP_LIKE     9   /* out = b LIKE a         a: constant pattern */
#define HP_OP_TRUTH    10  /* out = a IS [NOT] TRUE/FALSE.  See HpOp.b */
#define HP_OP_BOOL     10  /* Up to here the result is a truth value */
#define HP_OP_BIT      11  /* out = a op b.          op: TK_BITAND ... */
#define HP_OP_BITNOT   12  /* out = ~a */
#define HP_OP_CONCAT   13  /* out = a || b */
#define HP_OP_CAST     14  /* out = CAST(a AS aff) */
#define HP_OP_AFFINITY 15  /* out = a with affinity aff */
#define HP_OP_CASE     16  /* out = arg 1 if arg 0, 3 if 2, ..., else the last */
#define HP_OP_COALESCE 17  /* out = the first arg that is not NULL */
#define HP_OP_FUNC     18  /* out = pInfo(args) */

struct HpOp {
  u8 eOp;                /* HP_OP_xxx */
  u8 op;                 /* TK_xxx */
  u8 aff;                /* Affinity of a comparison, SQLITE_AFF_xxx */
  u8 bFilter;            /* Only a filter reads the result: leave it in aBool */
  u8 bUser;              /* Comparison by a collation of the application */
  u8 bConst;             /* Computed once, when the scan begins */
  u8 bSub;               /* HP_OP_FUNC: the result may have a subtype; or
                         ** HP_SUB_DECLINE: and must not */
  u16 iOut;              /* Vector to write */
  u16 a, b;              /* Vectors to read, or a column number.  HP_OP_TRUTH:
                         ** b is what NULL counts as, plus 2 for "not" */
  u16 n;                 /* HP_OP_IN: number of constants.  HP_OP_COMPARE: 0, or
                         ** vector b as text, plus 1.  Else of arguments */
  u16 iArg;              /* Arguments are HpProg.aArg[iArg..iArg+n-1] */
  u16 iGuard;            /* HP_OP_FUNC, bUser: needed only where this is true,
                         ** or HP_NO_VEC: everywhere */
  CollSeq *pColl;        /* Collation of a comparison; NULL is BINARY */
  void *pInfo;           /* HP_OP_LIKE: struct compareInfo.  _FUNC: FuncDef */
};
#define HP_NO_VEC 0xffff

/* SrcItem.hp.eOrder: does the scan that the planner chose give groups in order? */
#define HP_ORDER_NONE    0     /* No */
#define HP_ORDER_INDEX   1     /* Yes, and it is the scan that is taken over */
#define HP_ORDER_LOOKUP  2     /* Yes, looking up rows: read the table instead */
#define HP_SUB_DECLINE 2

/*
** A vector program.  Operation i reads only vectors of operations before it.
** Equal operations are merged when the program is made.  The operations of
** the first filter come first, then those that only the second filter needs,
** and so on, and last what only keys and arguments need: they run under the
** selection that the filters left.
*/
struct HpProg {
  HpArena *pMem;         /* Memory: that of the plan */
  int nVec;              /* Vectors in all */
  int nOp, nOpAlloc;     /* Operations */
  HpOp *aOp;
  u16 *aArg;             /* Arguments of operations that have a list */
  int nArg, nArgAlloc;
  int nConst;            /* Constants: vectors 0..nConst-1 of aConst */
  int nConstAlloc;
  struct HpConst {
    u16 iVec;              /* Its vector */
    u8 bList;              /* A value of an IN list, which affinity may change */
    int iReg;              /* Register that holds the value */
    Expr *pExpr;           /* Only while the plan is made: what to code */
  } *aConst;
  int nFilter;           /* Conjuncts of WHERE */
  int nFilterAlloc;
  struct HpFilter {
    u16 iVec;              /* Its truth value */
    u16 nOp;               /* Operations to have run before it is read */
  } *aFilter;
};

/* Aggregate functions */
#define HP_AGG_COUNT   1   /* count(*), count(X) */
#define HP_AGG_SUM     2   /* sum, total, avg: all keep a SumCtx */
#define HP_AGG_MIN     3
#define HP_AGG_MAX     4
#define HP_AGG_CALL    5   /* Any other, by its own xStep */
#define HP_AGG_ORDER   6   /* Any with ORDER BY inside: hp_order */

/* A term of such an ORDER BY */
struct HpTerm {
  u16 iVec;              /* Its vector */
  u8 flags;              /* KEYINFO_ORDER_xxx */
  CollSeq *pColl;        /* Its collation, NULL for BINARY */
};

struct HpAggDef {
  u8 eAgg;               /* HP_AGG_xxx */
  u8 bLoad;              /* The min or max whose row the bare columns show */
  u8 bShared;            /* An earlier function keeps the same state */
  u16 iVec;              /* Argument; HP_NO_VEC: none */
  u16 iFilter;           /* FILTER clause, or HP_NO_VEC */
  u16 iOff;              /* Offset of the state in a group */
  i16 iSet;              /* DISTINCT: number of its set of values; else -1 */
  u8 nArg;               /* HP_AGG_CALL, _ORDER: arguments */
  u16 *aArg;             /* HP_AGG_CALL, _ORDER: their vectors */
  int nTerm;             /* HP_AGG_ORDER: terms, ... */
  HpTerm *aTerm;
  u32 szEntry;           /* ... bytes of an entry */
  u8 bSelf;              /* ... the only term is the only argument */
  u8 bUnique;            /* ... of equal ones only the last counts */
  u8 bKeepSub;           /* ... subtypes of arguments are kept */
  u8 bParallel;          /* ... several workers may call the step function */
  FuncDef *pFunc;        /* Stock's function: finishes the state */
  CollSeq *pColl;        /* Collation of min and max, and of DISTINCT */
};

/* State of HP_AGG_ORDER in a group: a list of entries (hp_order.c) */
struct HpOrder {
  u8 *pFree;             /* Where the next entry goes */
  u32 nFree;             /* So many have room there */
  u32 nEntry;            /* Entries in all */
  HpList *pFirst, *pLast;    /* They are in these pieces; or, as soon as they
                         ** are sorted, in these parts */
  u32 nPart;             /* Number of sorted parts */
  i64 nText;             /* Bytes of their texts */
  Mem *pDone;            /* The context, if it has been made already */
};

/*
** Bounds of a scan by the key of its b-tree: rowids, or the first columns of an
** index.  They are wider than what the filters say if in doubt.
*/
#define HP_MX_EQ 8       /* Most columns of an index with equality */
#define HP_MX_SMALL 15   /* Most ranges that are not looked at */
struct HpRange {
  KeyInfo *pKeyInfo;     /* Order of the index.  NULL: rowids */
  int nSmall;            /* Greater if the last ranges were small */
  int nSkip;             /* Do not look at so many more */
  int nEq;               /* Columns with equality */
  struct HpEnd {
    int iReg;              /* Register of the constant.  0: none */
    u8 aff;                /* Affinity of the comparison */
  } aEq[HP_MX_EQ],       /* Of the first columns */
    aEnd[2];             /* Of the next one: the first key, the last key */
};

/* A key to search for */
struct HpKey {
  int bOn;               /* False: there is no bound */
  int bNull;             /* What is searched for is next to the key */
  i64 iRowid;            /* Rowid, of a table */
  UnpackedRecord rec;    /* Beginning of a key, of an index */
  Mem aMem[HP_MX_EQ+1];
};

/* What is done with the rows that pass the filters: HpPlan.eSink */
#define HP_SINK_GROUPS 0   /* Groups and their aggregates: hp_agg */
#define HP_SINK_TOP    1   /* The first rows in some order: hp_rows */
#define HP_SINK_FIRST  2   /* The first row of each combination of keys */
#define HP_SINK_ROWS   3   /* All of them */
#define HP_SINK_COUNT  4   /* No filters: their number is wanted: hp_count */
#define HP_SINK_SORT   5   /* All of them, in some order, as records: hp_sort */

/* Consecutive fields of the records of HP_SINK_SORT */
#define HP_FIELD_NULL  0   /* NULLs: keys that nobody reads */
#define HP_FIELD_VEC   1   /* A vector */
#define HP_FIELD_RAW   2   /* Columns of the table, as they are stored */
struct HpField {
  u8 eField;             /* HP_FIELD_xxx */
  u16 n;                 /* Fields */
  u16 iVec;              /* HP_FIELD_VEC: the vector */
  int iStore;            /* HP_FIELD_RAW: first column of the record, ... */
  int iCol;              /* ... and of the plan */
};

/* What to do for a query.  Made by sqlite3HpCode, owned by P4 of OP_HpScan,
** read-only at run time. */
struct HpPlan {
  HpArena mem;           /* The memory of the plan, itself included */
  sqlite3 *db;           /* For memory */
  int iDb;               /* Database of the table */
  Pgno iRoot;            /* Root page of the b-tree to scan */
  u8 bIndex;             /* It is an index, or a WITHOUT ROWID table */
  u8 bIdxRowid;          /* Column mxCol is the rowid at the end of an entry */
  HpRange *pRange;       /* Bounds of the scan; NULL: all of the b-tree */
  u8 bCached;            /* Prepare time: only look at pages in the cache */
  int nCol;              /* Columns used */
  HpCol *aCol;
  int mxCol;             /* Largest HpCol.iStore; -1: none */
  u8 bRowid;             /* Some column is the rowid */
  u8 eSink;              /* HP_SINK_xxx */
  int iLimitReg;         /* HP_SINK_TOP: register of LIMIT plus OFFSET.  pPart:
                         ** of a parameter, or 0 */
  HpProg prog;           /* Filters, keys, arguments */
  int nKey;              /* GROUP BY terms; 0: one group, always there.
                         ** HP_SINK_TOP: ORDER BY terms; _FIRST: columns */
  u16 *aKey;             /* Their vectors */
  CollSeq **aKeyColl;    /* Their collations */
  u8 *aKeySort;          /* KEYINFO_ORDER_xxx */
  int nAgg;              /* Aggregate functions */
  int nSet;              /* Those of them with DISTINCT */
  int nOrder;            /* Those of them with ORDER BY */
  HpAggDef *aAgg;
  int nBare;             /* Columns outside of aggregate functions */
  struct HpBare {
    u16 iVec;              /* Vector */
    i16 iKey;              /* The key that shows the same, or -1 */
    u16 iOff;              /* Offset of the copy in a group, if iKey<0 */
  } *aBare;
  int nHaving;           /* Terms of HAVING that groups can be tested by */
  struct HpHaving {
    u8 op;                 /* TK_NE ... TK_GE: function op constant */
    u16 iAgg;              /* Count, sum, total or avg */
    u16 iVec;              /* The constant */
  } aHaving[HP_MX_HAVING];
  u8 bIntKey;            /* One key, which may be an integer */
  u8 bLoadFirst;         /* Bare columns show the first row of the group */
  u8 bSerial;            /* One worker: application code, or scan order */
  u8 bOpaque;            /* Groups hold states that cannot be spilled */
  u8 bUser;              /* Application code is called */
  u8 bTypeOnly;          /* Decline values on overflow pages: stock may not
                         ** have to read them */
  u8 bAnyOrder;          /* Rows are not read in the order that stock reads them
                         ** in: decline if some sum depends on that */
  int szGroup;           /* Bytes a group */
  u16 iHeadOff;          /* Offset of HpHead in a group */
  int iKeyReg;           /* First register of the keys; 0 if nKey==0 */
  int iBareReg;          /* First register of bare columns */
  int iFuncReg;          /* First register of aggregate functions */
  int nField;            /* HP_SINK_SORT: what the records are made of */
  HpField *aField;
  u8 bNested;            /* ... The record is a blob after nKey NULLs */
  HpPlan *pPart;         /* ... Not NULL: only the first rows of each partition are
                         ** wanted.  Its groups are the partitions: hp_part */
  u8 eNumber;            /* ... HP_NUMBER_xxx */
  int nLimit;            /* ... So many rows, and what iLimitReg says */
};

/* Window functions that number the rows of a partition: HpPlan.eNumber */
#define HP_NUMBER_ROWS  1      /* row_number() */
#define HP_NUMBER_RANK  2      /* rank() */
#define HP_NUMBER_DENSE 3      /* dense_rank() */

/* Numbers rows that come in order: hpPartSkip() */
struct HpCount {
  HpBuf norm;            /* The key of the last row */
  u32 nPrefix;           /* Bytes of it that are its partition's */
  u8 bOff;               /* Leave out nothing any more */
  i64 nRow;              /* Rows of the partition so far */
  i64 iNumber;           /* The number of the last one */
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

/* A run of leaf pages in memory, all to be consumed before the next one.
** Each worker has one. */
struct HpRun {
  u32 iSeq;              /* Number of the run: 0, 1, 2, ... in key order */
  Pgno *aLeaf;           /* Page numbers of its leaves */
  u32 *aFrame;           /* WAL frame of each leaf; 0: the database file */
  Pgno *aAhead;          /* Pages to ask for ahead, ... */
  u32 *aAheadFrame;      /* ... the WAL frame of each, or 0, ... */
  int nAhead;            /* ... and their number */
  u32 nAsked;            /* So many were asked for so far */
  int nPage;             /* Leaves in this run; 0: the end */
  int szPage;            /* Bytes kept of a page: all of it, or the header */
  u8 *aBuf;              /* Leaf i is at aBuf + i*szPage, HP_SLACK bytes follow */
  HpRecord *aSep;        /* Index: entry i comes after leaf i.  z==0: none */
  u8 *aSepBuf;           /* Index: their bytes */
  u8 bRoot;              /* The leaf is the root: it may be empty */
  u8 iHdr;               /* Offset of the b-tree header (100 on page 1) */
};

/*
** Rows cut into columns: input of a vector program.  Column k of the plan has,
** in row i, serial type aType[k*nStride+i] and begins at
** apRec[i]+aOfst[k*nStride+i], unless the type is HP_SER_SLOW: then
** aSlow[i*nCol+k] tells about it.
*/
struct HpBatch {
  int nRow;              /* Rows in the batch */
  int nAlloc;            /* Rows allocated */
  int nSkip;             /* Rows left out before the batch: HpExec.bound */
  int nCol;              /* Columns: those of the plan, or 1 */
  int nStride;           /* From one column to the next in aType and aOfst */
  u8 *aType;             /* Serial types */
  u16 *aOfst;            /* Offsets of values */
  const u8 **apRec;      /* Records */
  i64 *aRowid;           /* Rowids, if HpPlan.bRowid */
  u8 *aMin, *aMax;       /* Range of types of column k: the smallest and the
                         ** largest of 32 bytes from 32*k on */
  struct HpSlow {
    u32 type;              /* Serial type, or HP_SER_NONE */
    const u8 *z;           /* The value */
  } *aSlow;              /* Allocated when first used */
  HpArena side;          /* Payloads put together from overflow pages */
};
#define HP_SER_SLOW  0xff        /* In aType: see aSlow */
#define HP_SER_NONE  0xffffffff  /* In aSlow: the record ends before */

/*
** What a row needs to be looked at: a column whose value, if it is a number or
** NULL, lies within bounds.  A test on the bytes of the record, for queries
** that reject nearly all rows.
*/
struct HpBound {
  u8 bOn;                /* False: look at all rows */
  u8 bNull;              /* Rows with NULL are looked at */
  int iStore;            /* Position of the column in the record */
  i64 iMin, iMax;        /* Bounds of integers */
  double rMin, rMax;     /* Bounds of reals */
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
#define HP_NO_SHAPE        10  /* Not one ordinary table; UTF-16 */
#define HP_NO_AGGREGATE    11  /* ORDER BY inside an aggregate function, of what
                               ** becomes an integer in SQLite's sorter */
#define HP_NO_PLAN         12  /* The planner found a search or a useful order */
#define HP_NO_ORDER        13  /* An index gives the order, which shows */
#define HP_NO_SMALL        14  /* The table is small, when prepared */
#define HP_STAT_TAKEN      15  /* Prepared with code of ours */
#define HP_STAT_RUN        16  /* Run to the end */
#define HP_STAT_SMALL      17  /* Given back: the table is small */
#define HP_STAT_DECLINED   18  /* Given back for another reason */
#define HP_STAT_SERIAL     19  /* Run again with one worker */
#define HP_STAT_SPILLED    20  /* Wrote groups to a file */
#define HP_STAT_CHAIN      21  /* Runs of overflow pages read */
#define HP_STAT_AHEAD      22  /* Pages that were asked for ahead */
#define HP_STAT_MX         22

/*
** One execution of a plan: what its workers share.  Kept in a register by
** OP_HpScan.
*/
struct HpScan {
  sqlite3 *db;           /* The connection */
  Vdbe *v;               /* The statement */
  const HpPlan *pPlan;
  const HpConfig *pCfg;
  HpArena arena;         /* Memory of the source */
  HpSource *pSource;     /* Leaf pages */
  sqlite3_mutex *pMutex; /* Guards pSource and the pager.  NULL: one worker */
  i64 nChange;           /* Rows changed in the connection, at the start */
  u8 bExact;             /* Add up row by row, as stock does */
  u8 bSmall;             /* Declined because the table is small */
  i64 mxRow;             /* HpPlan.pPart: rows wanted.  0: all of them */
  int bStop;             /* Some worker failed: all stop.  Atomic */
  int bEnd;              /* Take no more runs: stock reads on.  Atomic */
  int bAll;              /* All runs have been taken.  Atomic */
  u64 nScanned;          /* Rows read */
  int nWorker;
  HpExec *apWorker[HP_MX_THREAD];
  HpLiteral aHaving[HP_MX_HAVING];   /* Constants of HpPlan.aHaving */
  HpMerge *apMerge[HP_MX_PART];  /* All groups: parts, in key order */
  int nMerge;            /* Number of parts */
  int iMerge;            /* The part that is taken next or delivered */
  HpBuf buf;             /* Scratch for delivering them */
  u8 **apAhead;          /* hpOrderAhead(): groups being done ahead, ... */
  u32 nAhead, iAhead;    /* ... their number, the next that nobody does, ... */
  Mem *aAhead;           /* ... nOrder contexts for each, ... */
  u64 nAheadCost;        /* ... and what they may cost, in entries */
};

/*
** One worker.  db is what values and SQLite's functions get as their
** connection: the real one for the first worker, which runs in the thread
** that called sqlite3_step(), and a copy of it without lookaside memory for the
** others (hp_exec.c).
*/
struct HpExec {
  sqlite3 *db;
  HpScan *pScan;
  const HpPlan *pPlan;
  const HpConfig *pCfg;
  i64 nMemory;           /* Budget for groups, bytes */
  void (*xRun)(HpExec*); /* What its thread does */
  int rc;                /* How that ended */
  HpRun run;             /* Leaves being worked on */
  HpBatch batch;         /* Rows being worked on */
  u64 iPos;              /* Position of the first row of the batch: the run's
                         ** number, then 32 bits for the row within the run */
  HpVec *aVec;           /* The vectors of the program */
  u16 *aSel;             /* Selection vector: rows that passed the filters */
  int nSel;
  u16 *aAll;             /* The selection of all rows: 0, 1, 2, ... */
  u8 bDense;             /* Most rows are selected: compute all of them */
  u8 *aBool;             /* Truth of each row: 0 false, 1 true, 2 NULL */
  u16 *aPick;            /* Scratch: a choice for each row */
  void **apState;        /* What operations keep: patterns, sets, contexts */
  Vdbe *pFuncVdbe;       /* What SQL functions take for their statement */
  HpArena text;          /* Text computed for this batch */
  HpArena textConst;     /* Text of constants */
  int rcOp;              /* HP_DECLINE or an error if an operation gave up */
  u8 *aText;             /* Scratch: text with a zero byte after it */
  u32 nText;             /* Bytes of aText */
  u64 nScanned;          /* Rows read so far */
  u64 nProgress;         /* VM steps not yet told to the progress handler */
  HpArena vec;           /* Memory of vectors and scratch */
  HpAgg *pAgg;           /* Groups, or ... */
  HpRows *pRows;         /* ... rows found, if eSink is not HP_SINK_GROUPS */
  HpParts *pParts;       /* HpPlan.pPart: partitions, or NULL: keep all rows */
  HpBound bound;         /* Rows that need not be looked at */
  HpGuess guess;         /* Are overflow pages adjacent? */
  u64 nSkipped;          /* So many were not */
  int bAvx2;             /* Use the AVX2 routines */
};

/* hp_source.c */
static int hpSourceOpen(HpScan*, Mem*);
static int hpSourceParallel(const HpSource*, int);
static int hpSourceNext(HpExec*);
static int hpRunInit(HpExec*);
static void hpSourceClose(HpSource*);
static int hpSourceIsLarge(Btree*, Pgno, int, int, int*);
static int hpSourceRangeIsLarge(sqlite3*, const HpPlan*, Mem*, int*);
static int hpSourceRangeSeemsLarge(sqlite3*, const HpPlan*, Mem*);
static int hpSourceCountIsLarge(sqlite3*, const HpPlan*, int*);
static int hpSourceDirect(const HpConfig*, Pager*);
static int hpCellRecord(BtShared*, const u8*, const u8*, HpRecord*);

/* hp_chain.c */
#if SQLITE_OS_UNIX && defined(__linux__) \
 && (defined(USE_PREAD) || defined(USE_PREAD64))
# define HP_PREADV 1
# include <sys/uio.h>
static int hpChainRead(BtShared*, HpGuess*, int, Pgno, u32, u8*, u32, u8*,
                       Pgno*);
#endif
#define HP_CHAIN_SINGLE 1    /* Read single pages as well */
#define HP_CHAIN_FRAMES 2    /* Read frames of the WAL as well */

/* hp_ahead.c */
#define HP_AHEAD_BYTES (8*1024*1024)  /* Most bytes asked for */
static int hpInnerInit(HpInner*, const BtShared*, const u8*, Pgno);
static const u8 *hpInnerCell(const HpInner*, int);
static Pgno hpInnerChild(const HpInner*, int);
static int hpAheadNear(Pgno, Pgno);
static int hpAheadFile(const sqlite3_file*);
static int hpAheadOn(const sqlite3*, const BtShared*);
#if SQLITE_OS_UNIX && defined(POSIX_FADV_WILLNEED) && defined(CLOCK_MONOTONIC)
# define HP_READAHEAD 1
static i64 hpAheadClock(void);
static int hpAheadSlow(i64, i64);
static int hpAheadMissing(Pager*, Pgno);
static int hpAheadFrames(Pager*, const Pgno*, u32*, int);
static int hpAheadAsk(Pager*, const Pgno*, const u32*, int);
#endif

/* hp_range.c */
static int hpRangeCompile(HpCompile*, SrcItem*, Expr*);
static int hpRangeSeemsLarge(HpCompile*);
static void hpRangeFree(HpRange*);
static int hpRangeKey(sqlite3*, const HpRange*, Mem*, int, HpKey*);
static void hpKeyClear(HpKey*);
static int hpKeyCompare(HpKey*, BtShared*, const u8*, const u8*, int*);

/* hp_record.c */
static int hpBatchInit(HpExec*);
static int hpRecordLeaf(HpExec*, int, int*);
static void hpRecordColumn(HpExec*, int, HpVec*);
static i64 hpRecordRowid(const HpExec*, int);

/* hp_expr.c */
static int hpPlanGrow(HpArena*, void*, int*, int, int);
static int hpProgConst(HpProg*, int, Expr*, int);
static int hpProgOp(HpProg*, const HpOp*);
static int hpProgFilter(HpProg*, int);
static int hpExecFilter(HpExec*);
static int hpExecRest(HpExec*);
static int hpVecInit(HpExec*, HpVec*, int);
static void hpVecConst(HpExec*, HpVec*, Mem*);
static void hpVecExact(HpExec*, HpVec*);
static void hpVecToMem(const HpExec*, const HpVec*, int, Mem*);
static int hpExprOpen(HpExec*);
static int hpSelGuard(HpExec*, const HpOp*, const u16**);
static void hpExprClose(HpExec*);
static u8 *hpTextAlloc(HpExec*, u32);
static void hpVecSetMem(HpExec*, HpVec*, int, Mem*);

/* hp_func.c */
static int hpFuncOpen(HpExec*, int);
static void hpFuncRun(HpExec*, int);
static void hpFuncClose(HpExec*);
static int hpLikeOpen(HpExec*, const HpOp*, void**);
static void hpLikeRun(HpExec*, const HpOp*, const void*);

/* hp_key.c */
static int hpPackRows(HpExec*, HpPack*);
static int hpKeyValue(HpBuf*, const HpVec*, int, CollSeq*, u8);
static int hpKeyNorm(HpExec*, int, HpBuf*);
static int hpKeyShow(HpExec*, int, HpBuf*);
static u32 hpKeyInt(u8*, i64, u8);
static void hpKeyToMem(const HpPlan*, const u8*, u32, Mem*, HpBuf*);
static int hpBufRoom(HpBuf*, u32);

/* hp_agg.c */
static int hpAggLayout(HpPlan*);
static int hpAggOpen(HpExec*, HpAgg**);
static int hpAggStep(HpExec*);
static void hpAggReset(HpAgg*);
static void hpAggClose(HpAgg*);
static u8 *hpAggGroup(const HpAgg*, u32);
static int hpGroupMerge(const HpPlan*, u8*, const u8*);
static int hpGroupWanted(const HpPlan*, const u8*, const HpLiteral*);
static int hpGroupLoad(HpScan*, u8*, Mem*, HpBuf*);

/* hp_merge.c */
static int hpSortGroups(HpExec*);
static int hpSpillGroups(HpExec*);
static int hpSortRun(HpExec*);
static int hpSpillRuns(HpExec*);
static void hpRunsFree(HpAgg*);
static void hpSpillClose(HpAgg*);
static int hpMergeOpen(HpScan*);
static int hpMergeNext(HpScan*, u8**);
static void hpMergeClose(HpScan*);

/* hp_order.c */
static int hpOrderAdd(HpExec*, const HpAggDef*, HpOrder*, int);
static int hpOrderSort(HpExec*);
static void hpOrderMerge(HpOrder*, const HpOrder*);
static u64 hpOrderSize(const HpPlan*, const u8*);
static u8 *hpOrderWrite(const HpPlan*, const u8*, u8*, const u8*);
static u8 *hpOrderPointers(const HpPlan*, u8*, u8*);
static int hpOrderLoad(HpScan*, const HpAggDef*, HpOrder*, Mem*);
static int hpOrderAhead(HpScan*, u8**, u32, u32*);
static void hpOrderPrefetch(const HpPlan*, u8**);
static void hpOrderClose(HpScan*);

/* hp_count.c */
static int hpCountRuns(HpExec*);

/* hp_rows.c */
static int hpRowsOpen(HpExec*, Mem*);
static int hpRowsStep(HpExec*);
static void hpRowsRun(HpExec*);
static int hpRowsMerge(HpScan*);
static void hpRowsClose(HpRows*);

static int hpRowsSafe(Parse*, Expr*, ExprList*, int);
static int hpRowsOnLeaf(const HpSource*);

/* hp_part.c */
static u8 hpPartFunc(const Expr*);
static int hpPartCompile(HpPlan*, const HpWanted*);
static i64 hpPartLimit(const HpPlan*, const Mem*);
static int hpPartWorthIt(const HpScan*);
static int hpPartOpen(HpExec*);
static int hpPartStep(HpExec*, int*);
static int hpPartRows(HpExec*);
static int hpPartSkip(const HpScan*, HpCount*, const u8*);
static void hpPartClose(HpExec*);

/* hp_sort.c */
static int hpSortCode(Parse*, Select*, ExprList*, int, int);
static int hpSortIsSmall(const HpScan*);
static int hpSortOpen(HpExec*);
static int hpSortKey(HpExec*, int, HpBuf*, u32*);
static int hpSortTail(HpExec*, int, HpBuf*, u32);
static int hpSortStep(HpExec*);
static int hpSortRow(Vdbe*, const VdbeOp*, Mem*);

/* hp_plan.c */
static int hpStat(sqlite3*, int);
static void hpPlanSmall(Parse*);

/* hp_exec.c */
static const HpConfig *hpConfig(void);
static void *hpMalloc(i64);
static void *hpArenaAlloc(HpArena*, i64);
static void hpArenaClear(HpArena*);
static void hpArenaReset(HpArena*);
static void hpArenaRecycle(HpArena*);
static int hpOffload(sqlite3*);
static void hpScanLock(const HpScan*);
static void hpScanUnlock(const HpScan*);
static int hpScanStopped(const HpScan*);
static int hpScanEach(HpScan*, void (*)(HpExec*));
static int hpExecProgress(HpExec*, u64);

/* Run BODY for each row i to compute: all rows or the selected ones */
#define HP_ROWS(P,...) \
  if( (P)->bDense ){ \
    int i, n_ = (P)->batch.nRow; \
    for(i=0; i<n_; i++) __VA_ARGS__ \
  }else{ \
    int ii_, n_ = (P)->nSel; \
    const u16 *aSel_ = (P)->aSel; \
    for(ii_=0; ii_<n_; ii_++){ int i = aSel_[ii_]; __VA_ARGS__ } \
  }

/* Run BODY for the rows to compute, from row IFROM on if all are computed */
#define HP_ROWS_FROM(P,IFROM,...) \
  if( (P)->bDense ){ \
    int i, n_ = (P)->batch.nRow; \
    for(i=(IFROM); i<n_; i++) __VA_ARGS__ \
  }else{ \
    HP_ROWS(P, __VA_ARGS__) \
  }

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
# define HP_AVX2 1
# include <immintrin.h>
#endif

#endif /* HPINT_H */
#endif /* SQLITE_OMIT_HP */
