/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** From columns to vectors: a scan, its workers, and their programs.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPEXEC_H
#define HPEXEC_H

/*
** One execution of a plan: what its workers share.  Kept in a register by
** OP_HpScan.
*/
struct HpScan {
  sqlite3 *db;           /* The connection */
  Vdbe *v;               /* The statement */
  const HpPlan *pPlan;
  const HpConfig *pCfg;
  const HpSinkType *pSink;   /* What is done with the rows that pass */
  HpArena arena;         /* Memory of the source */
  HpSource *pSource;     /* Leaf pages */
  sqlite3_mutex *pMutex; /* Guards pSource and the pager.  NULL: one worker */
  HpCrew *pCrew;         /* The threads of its workers, while there are some */
  u32 nChange;           /* hpScanChanges() when it began */
  u32 nTrip;             /* Pager.hp.nTrip when it began */
  u8 bExact;             /* Add up row by row, as stock does */
  u8 bSmall;             /* Declined because the table is small */
  i64 mxRow;             /* HpPlan.pPart: rows wanted.  0: all of them */
  int bStop;             /* Some worker failed: all stop.  Atomic */
  int bInterrupt;        /* The progress handler said stop.  Atomic */
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
  u32 nStep;             /* Opcodes that stock would have run.  Atomic */
  u32 nTold;             /* nStep when it was last looked at.  Atomic */
  HpArena vec;           /* Memory of vectors and scratch */
  HpAgg *pAgg;           /* Groups, or ... */
  HpRows *pRows;         /* ... rows found */
  HpParts *pParts;       /* HpPlan.pPart: partitions, or NULL: keep all rows */
  u8 bInRange;           /* HpProg.nRange>0: a row in range was seen, */
  u64 iInRange;          /* the last one at this position, ... */
  u64 iOutRange;         /* ... and one behind them, or HP_NO_POS */
  HpBound bound;         /* Rows that need not be looked at */
  HpGuess guess;         /* Are overflow pages adjacent? */
  u64 nSkipped;          /* So many were not */
  int bAvx2;             /* Use the AVX2 routines */
};

#define HP_NO_POS (~(u64)0)   /* A position that no row has */

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

/* hp_compare.c */
static void hpOpCompare(HpExec*, const HpOp*);

/* hp_in.c */
static int hpInOpen(HpExec*, const HpOp*, void**);
static void hpOpIn(HpExec*, const HpOp*, const HpInSet*);
static void hpOpInAffinity(HpExec*, const HpOp*);

/* hp_arith.c */
static void hpOpArith(HpExec*, const HpOp*, HpVec*);
static void hpOpBit(HpExec*, const HpOp*, HpVec*);

/* hp_text.c */
static void hpOpConcat(HpExec*, const HpOp*, HpVec*);
static void hpVecCopy(HpExec*, HpVec*, const HpVec*);
static void hpOpCast(HpExec*, const HpOp*, HpVec*);

/* hp_func.c */
static void hpFuncRun(HpExec*, int);
static int hpFuncOpen(HpExec*, int);
static void hpFuncClose(HpExec*);
static int hpLikeOpen(HpExec*, const HpOp*, void**);
static void hpLikeRun(HpExec*, const HpOp*, const void*);

/* hp_expr.c */
static int hpExprOpen(HpExec*);
static void hpExprClose(HpExec*);
static int hpExprFilter(HpExec*);
static int hpExprRest(HpExec*);
static int hpExprRangeIsWhole(const HpScan*);

/* hp_key.c */
static u32 hpTrimmed(const u8*, u32);
static int hpPackRows(HpExec*, HpPack*);
static u32 hpKeyNumber(u8*, u8, HpVal);
static u32 hpKeyInt(u8*, i64, u8);
static int hpKeyValue(HpBuf*, const HpVec*, int, CollSeq*, u8);
static int hpKeyNorm(HpExec*, int, HpBuf*);
static int hpKeyShow(HpExec*, int, HpBuf*);
static void hpMemStr(Mem*, u8, const u8*, u32);
static void hpMemPoint(Mem*, u8, const u8*, u32);
static void hpKeyToMem(const HpPlan*, const u8*, u32, Mem*, HpBuf*);

#endif /* HPEXEC_H */
#endif /* SQLITE_OMIT_HP */
