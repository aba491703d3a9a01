/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** From columns to vectors: a query, its workers, and their programs.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPEXEC_H
#define HPEXEC_H

/*
** What a pipe notes of its run: one pass over its source.  hpPipeRun() clears
** it, so that no pipe takes for its own what the one before has noted.
*/
typedef struct HpPass HpPass;
struct HpPass {
  int bStop;             /* Some worker failed: all stop.  Atomic */
  int bEnd;              /* Take no more runs: SQLite reads on.  Atomic */
  int bAll;              /* All runs have been taken.  Atomic */
  u8 bSetNull;           /* The set of IN that is read has a NULL */
  u8 bSmall;             /* Declined because the table is small */
  u8 bNone;              /* No row is wanted: nothing is read */
  u8 bAlone;             /* Only the first worker may read the source */
  u64 nScanned;          /* Rows read */
};

/*
** One execution of a plan: what its workers share.  Kept in a register by
** OP_HpScan.
*/
struct HpQuery {
  sqlite3 *db;           /* The connection */
  Vdbe *v;               /* The statement */
  const HpPipePlan *pPipe;   /* The pipe that runs; in the end, the last one */
  HpPass pass;           /* What that has noted of its run */
  const HpEntryPlan *pEntry;   /* What its runs consist of, if it makes some */
  const HpConfig *pCfg;
  HpBudget budget;       /* Memory that its workers may hold */
  HpArena arena;         /* Memory of the source */
  HpSource *pSource;     /* Leaf pages */
  HpPart *pPart;         /* Those of them that are read now, or NULL: all, ... */
  HpPieces *pPieces;     /* ... as part of what: hp_piece.c */
  HpFinder *pFinder;     /* Groups by key, or NULL: hp_finder.c */
  HpQuery *pGroups;      /* The groups of the pipe before, or NULL: hp_regroup.c */
  sqlite3_mutex *pMutex; /* Guards pSource and the pager.  NULL: one worker */
  HpCrew *pCrew;         /* The threads of its workers, while there are some */
  u32 nChange;           /* hpThreadChanges() when it began */
  u32 nTrip;             /* Pager.hp.nTrip when it began */
  u8 bExact;             /* Add up row by row, as stock does */
  int nSample;           /* Read about so many leaves only.  0: all */
  u8 bFirst;             /* ... the first ones, instead of some of everywhere */
  i64 mxRow;             /* HpSortPlan.pPart: rows wanted.  0: all of them */
  u32 mxStored;          /* Most bytes of the columns read of one row, ... */
  u32 mxText;            /* ... and of a text that is computed: hpQueryLengths() */
  int bInterrupt;        /* The progress handler said stop.  Atomic */
  int nWorker;
  int nMost;             /* So many there may be */
  HpWorker *apWorker[HP_MX_THREAD];
  HpRel **apRel;         /* The relations that earlier pipes have made, then those
                         ** of keys that they are to have, ... */
  int nRel;              /* ... room for so many, ... */
  int nSet;              /* ... and then the sets of IN, ... */
  i64 nRelByte;          /* ... and what they and rows put aside hold */
  const HpRel *pWanted;  /* Only rows with these rowids are wanted, or NULL: all, ... */
  int (*xWanted)(const HpRel*, i64, i64);  /* ... is one greater than the first, but
                         ** not than the second?, ... */
  i64 nWanted;           /* ... and how many there are */
  u32 iRun;              /* The number of its first run: arms before have the others */
  i64 *aMxStash;         /* So many rows each pipe may put aside; mostly none.  And ... */
  i64 *aMxLate;          /* ... when its look-ups can be done: for sub-selects */
  HpStash **apStash;     /* Those that it has, or NULL */
  HpStash *pStash;       /* ... and of the pipe that runs */
  HpLiteral aHaving[HP_MX_HAVING];   /* Constants of HpGroupPlan.aHaving */
  i64 nTop;              /* Only so many groups are wanted: HpTopAgg.  0: all */
  int iFold;             /* Groups of this worker go into those before */
  int bTopNot;           /* ... that are wanted cannot be found without order.  Atomic */
  HpTopGroup *pTopGroup; /* The best of those delivered, if few are wanted, or NULL */
  HpMerge *apMerge[HP_MX_PART];  /* All groups: parts, in key order */
  int nMerge;            /* Number of parts */
  int iMerge;            /* The part that is taken next or delivered */
  HpSlices *pSlices;     /* While groups of many runs are put together: hp_slice.c */
  HpBuf buf;             /* Scratch for delivering them */
  struct HpCheckAll *pCheck; /* What pipes with HpPipePlan.pCheck have found */
  u8 **apAhead;          /* hpAggAhead(): groups being done ahead, ... */
  u32 nAhead, iAhead;    /* ... their number, the next that nobody does, ... */
  Mem *aAhead;           /* ... nLate contexts for each, ... */
  u64 nAheadCost;        /* ... and what they may cost, in calls */
};

/*
** One worker.  db is what values and SQLite's functions get as their
** connection: the real one for the first worker, which runs in the thread
** that called sqlite3_step(), and a copy of it without lookaside memory for the
** others (hp_pipe.c).
*/
struct HpWorker {
  sqlite3 *db;
  HpQuery *pQuery;
  const HpPipePlan *pPipe;
  const HpConfig *pCfg;
  i64 nHeld;             /* Bytes that its sink holds, ... */
  u32 nHeldTold;         /* ... and in kilobytes, for others.  Atomic */
  void (*xRun)(HpWorker*); /* What its thread does */
  int rc;                /* How that ended */
  HpRun run;             /* Leaves being worked on */
  HpBatch batch;         /* Rows being worked on */
  HpFrame frame;         /* The same rows as vectors */
  u64 nScanned;          /* Rows read so far */
  u64 nPassed;           /* Rows given to the sink so far */
  u32 nStep;             /* Opcodes that stock would have run.  Atomic */
  u32 nTold;             /* nStep when it was last looked at.  Atomic */
  HpArena vec;           /* Memory of the run and the batch */
  void *pSink;           /* What the sink has: HpAgg, HpSort, HpFound */
  HpRuns *pRuns;         /* Its sorted runs, or NULL */
  HpBound bound;         /* Rows that need not be looked at */
  HpGuess guess;         /* Are overflow pages adjacent? */
  u64 nSkipped;          /* So many were not */
  HpValues *pValues;     /* Values of a batch: hp_values.c */
  HpKeeper *pKeeper;     /* Columns being kept: hp_keep.c */
  HpMender *pMender;     /* ... and mended: hp_mend.c */
  HpVec *aRaw;           /* Values that go into records: hp_raw.c */
};

/*
** A relation: rows of a table, found by their key.  See hp_rel.c.
*/
typedef struct HpRelCol HpRelCol;
struct HpRelCol {
  u8 sz;                 /* Bytes a value.  Less than 8: all are integers, ... */
  i64 iBase;             /* ... kept as what each is more than this */
  HpVal *aVal;           /* Value of each row, from row 0 on, or u8, u16, u32 */
  u8 *aTag;              /* Its type; NULL: mType, in all rows but 0 */
  u32 *aLen;             /* Its length; NULL: there is no text and no blob */
  u8 mType;              /* Types that occur */
};
typedef struct HpRelKey HpRelKey;
struct HpRelKey {
  const u8 *z;           /* A normalized key */
  u32 n;
};
struct HpRel {
  u32 nRow;              /* Rows, but for row 0 */
  u8 bNull;              /* A set of IN: there is a NULL, too */
  u64 nBit;              /* Bits: so many, or 0 */
  i64 iMin;              /* ... the integer of the first one */
  u64 *aBit;             /* ... one more, which is 0 */
  u32 *aRank;            /* ... bits before each 64 of them */
  u32 mSlot;             /* Hash: slots less one */
  u64 *aSlot;            /* ... salt and row of each; row 0: empty */
  HpPack *aPack;         /* ... pack of each row */
  HpRelKey *aKey;        /* ... and its key, where there is no pack; or NULL */
  HpRelCol *aCol;        /* Its columns */
  HpArena mem;           /* Memory of all of that, ... */
  HpArena *aText;        /* ... and of texts: nText arenas */
  int nText;
};

/* Run BODY for each row i to compute: all rows or the selected ones */
#define HP_ROWS(P,...) \
  if( (P)->bDense ){ \
    int i, n_ = (P)->nRow; \
    for(i=0; i<n_; i++) __VA_ARGS__ \
  }else{ \
    int ii_, n_ = (P)->nSel; \
    const u16 *aSel_ = (P)->aSel; \
    for(ii_=0; ii_<n_; ii_++){ int i = aSel_[ii_]; __VA_ARGS__ } \
  }

/* Run BODY for the rows to compute, from row IFROM on if all are computed */
#define HP_ROWS_FROM(P,IFROM,...) \
  if( (P)->bDense ){ \
    int i, n_ = (P)->nRow; \
    for(i=(IFROM); i<n_; i++) __VA_ARGS__ \
  }else{ \
    HP_ROWS(P, __VA_ARGS__) \
  }

/*
** The values of an IN list of three or more: a hash table with linear probing,
** at most half full.  Numbers are there by value, so that 3 finds 3.0.
*/
typedef struct HpInSet HpInSet;
struct HpInSet {
  u32 mask;              /* Slots less one */
  struct HpInSlot {
    u64 code;              /* Integer, bits of a real, hash of a string */
    u16 iVec;              /* Vector of the constant */
    u8 tag;                /* HP_INT for 3.0.  0: empty */
  } *aSlot;
};

/* hp_prog.c */
static int hpProgConst(HpProg*, int, Expr*, int);
static int hpProgIsConst(const HpProg*, int);
static int hpProgOp(HpProg*, const HpOp*);
static int hpProgFilter(HpProg*, int);
static int hpProgSide(HpProg*, u8, const u16*, int, int*);
static int hpProgSideEnd(HpProg*, int);
static int hpProgSees(const HpProg*, int);

/* hp_compare.c */
static void hpCompareRun(HpFrame*, const HpOp*);

/* hp_in.c */
static int hpInOpen(HpFrame*, const HpOp*, void**);
static void hpInRun(HpFrame*, const HpOp*, const HpInSet*);
static void hpInAffinity(HpFrame*, const HpOp*);

/* hp_arith.c */
static void hpArithRun(HpFrame*, const HpOp*, HpVec*);
static void hpArithBit(HpFrame*, const HpOp*, HpVec*);

/* hp_text.c */
static void hpTextConcat(HpFrame*, const HpOp*, HpVec*);
static void hpTextCopy(HpFrame*, HpVec*, const HpVec*);
static void hpTextCast(HpFrame*, const HpOp*, HpVec*);

/* hp_like.c */
static int hpLikeOpen(HpFrame*, const HpOp*, void**);
static void hpLikeRun(HpFrame*, const HpOp*, const void*);

/* hp_codes.c */
static int hpCodesLater(HpFrame*, int);
static int hpCodesRun(HpFrame*, int);
static void hpCodesNow(HpFrame*, int);
static int hpCodesLate(HpFrame*, const HpOp*);
static void hpCodesValues(HpFrame*, u16);

/* hp_func.c */
static void hpFuncRun(HpFrame*, int);
static int hpFuncOpen(HpFrame*, int);
static void hpFuncClose(HpFrame*);

/* hp_side.c */
static int hpSideOpen(HpFrame*);
static int hpSideBegin(HpFrame*, const HpSide*);
static void hpSideEnd(HpFrame*, const HpSide*);
static void hpSideSkip(HpFrame*, const HpSide*);

/* hp_expr.c */
static int hpExprOpen(HpFrame*, Mem*);
static void hpExprClose(HpFrame*);
static int hpExprFilter(HpFrame*);
static int hpExprRest(HpFrame*);
static int hpExprRangeIsWhole(const HpQuery*);

/* hp_key.c */
static u32 hpKeyTrimmed(const u8*, u32);
static u32 hpKeyNumber(u8*, u8, HpVal);
static u32 hpKeyInt(u8*, i64, u8);
static int hpKeyValue(HpBuf*, const HpVec*, int, CollSeq*, u8);
static int hpKeyNorm(HpFrame*, const HpKeys*, int, HpBuf*);
static int hpKeyShow(HpFrame*, const HpKeys*, int, HpBuf*);
static void hpKeyMemStr(Mem*, u8, const u8*, u32);
static void hpKeyMemPoint(Mem*, u8, const u8*, u32);
static void hpKeyToMem(const HpKeys*, const u8*, u32, Mem*, HpBuf*);

/* hp_pack.c */
static SQLITE_INLINE HpPack hpPackOne(u8, HpVal, u32);
static int hpPackRows(HpFrame*, const HpKeys*, HpPack*);

/* hp_rel.c */
static int hpRelNever(const HpFrame*, const HpLookup*);
static void hpRelLookup(HpFrame*, const HpOp*, const HpRel*, HpPack*, HpVec*);
static void hpRelIn(HpFrame*, const HpOp*, const HpRel*, HpPack*, HpVec*);
static void hpRelRow(HpFrame*, const HpRel*, const HpVec*, HpVec*);
static void hpRelGather(HpFrame*, const HpRelCol*, const HpVec*, int, HpVec*);
static int hpRelAny(const HpRel*, i64, i64);
static u8 hpRelValue(const HpRelCol*, u32, HpVal*, u32*);
static void hpRelFree(HpRel*);
#ifdef SQLITE_DEBUG
static int hpRelHasRows(const HpFrame*, const HpRel*, const HpVec*, u32);
#endif

#endif /* HPEXEC_H */
#endif /* SQLITE_OMIT_HP */
