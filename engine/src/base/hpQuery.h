/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** What runs a plan, by life time:
**
**    HpQuery     one execution of a statement: HpPlan
**    HpPipe      a pipe of it that runs: HpPipePlan
**    HpWorker    one of those that share a pipe's work
**
** A query has one pipe at a time.  A pipe owns its workers, the scan of its
** source, and its result: the last pipe of a plan stays until the result has
** been delivered.  A pipe that reads the groups of the one before owns it.
**
** What other floors add is behind pointers: HpSource and HpReader of the floor
** source, HpDelivery of the floor sink.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPQUERY_H
#define HPQUERY_H

/*
** What a pipe notes of its run: one pass over its source.
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
  u64 nScanned;          /* Number of rows read */
};

/*
** Which part of its source a pipe is to read.  All of it, if everything is 0.
*/
typedef struct HpPortion HpPortion;
struct HpPortion {
  HpPart *pPart;         /* Only these leaves: hp_piece.c.  Or NULL */
  int nSample;           /* Number of leaves of a sample.  0: none is taken */
  u8 bFirst;             /* The sample is the first leaves, not some of
                         ** everywhere */
  const HpBits *pWanted; /* Only rows with these rowids.  Or NULL */
  i64 nWanted;           /* Number of these rowids */
  u32 iRun;              /* Number of the first run: earlier arms have those
                         ** before it */
};

/*
** One execution of a plan.  Kept in a register by OP_HpScan.
*/
struct HpQuery {
  sqlite3 *db;           /* The connection */
  Vdbe *v;               /* The statement */
  const HpConfig *pCfg;
  HpPipe *pPipe;         /* The pipe that runs, or has run last.  NULL: none */
  HpArena arena;         /* Memory of plans that are made while it runs */
  int iDb;               /* The database that is read.  Negative: several may
                         ** be */
  u32 nChange;           /* hpThreadChanges() when it began */
  int bInterrupt;        /* The progress handler said stop.  Atomic */
  u8 bExact;             /* Add up row by row, as stock does */
  u32 mxStored;          /* Most bytes of the columns read of one row:
                         ** hpQueryLengths() */
  u32 mxText;            /* Most bytes of a text that is computed */
  HpRel **apRel;         /* Relations that pipes make, by number; behind them
                         ** sets of IN */
  int nRel;              /* Number of relations: each pipe's but the last one's,
                         ** then of keys that each is to have */
  int nSet;              /* Number of sets */
  i64 nHeld;             /* Bytes that relations, sets, stashes and the groups
                         ** of earlier pipes hold */
  HpStash **apStash;     /* Rows of each pipe that were put aside, or NULL */
  i64 *aMxStash;         /* Most rows that each pipe may put aside; mostly 0 */
  i64 *aMxLate;          /* Most rows that it may put aside for sub-selects,
                         ** when its other look-ups can be done */
  HpPieces *pPieces;     /* The state of a scan piece by piece: hp_piece.c */
  HpFinder *pFinder;     /* Groups by key: hp_finder.c.  Or NULL */
  HpCheckAll *pCheck;    /* What pipes with HpPipePlan.pCheck have found */
};

/*
** A pipe that runs, or has run: what its workers share.
*/
struct HpPipe {
  HpQuery *pQuery;       /* The execution that it is part of */
  const HpPipePlan *pPlan;   /* What it does.  Arms of a UNION ALL: the arm that
                             ** is read now */
  const HpEntryPlan *pEntry; /* What an entry of its runs is.  NULL: it makes
                             ** no runs */
  HpPass pass;           /* What it has noted of its run */
  HpBudget budget;       /* Memory that its workers may hold */
  sqlite3_mutex *pMutex; /* Guards pSource and the pager.  NULL: one worker */
  HpCrew *pCrew;         /* The threads of its workers, while there are some */
  BtShared *pBt;         /* The file that is read.  Kept, since others may be
                         ** detached between two groups that are shown */
  u32 nTrip;             /* Pager.hp.nTrip when it began */
  int mxWorker;          /* Most workers that it may have */
  int nWorker;           /* Number of workers */
  HpWorker *apWorker[HP_MX_THREAD];
  HpArena arena;         /* Memory of the source */
  HpPortion portion;     /* Which part of the source is read */
  HpSource *pSource;     /* The scan of its b-tree.  NULL: before and after */
  HpStash *pStash;       /* Rows put aside, as the sink or as the source */
  HpPipe *pGroups;       /* The pipe whose groups are the source: hp_regroup.c.
                         ** Or NULL */
  HpDelivery *pOut;      /* How the entries of all workers become a result:
                         ** hpRuns.h */
  HpShown *pShown;       /* Which groups of that are shown: hpSink.h */
};

/*
** One of those that share the work of a pipe.
*/
struct HpWorker {
  HpPipe *pPipe;         /* What it shares with the others */
  const HpPipePlan *pPlan;   /* What it does: that of the pipe, or its own in
                         ** hp_mend.c */
  sqlite3 *db;           /* What values and SQLite's functions get as their
                         ** connection.  First worker, which runs in the thread
                         ** that called sqlite3_step(): the real one.  Others: a
                         ** copy without lookaside memory (hp_pipe.c) */
  const HpConfig *pCfg;
  void (*xRun)(HpWorker*);   /* What its thread does */
  int rc;                /* The result of that */
  u32 nStep;             /* Opcodes that stock would have run.  Atomic */
  u32 nTold;             /* nStep when it was last looked at.  Atomic */
  i64 nHeld;             /* Bytes that its sink holds */
  u32 nHeldTold;         /* The same in kilobytes, for others.  Atomic */
  u64 nScanned;          /* Number of rows read */
  u64 nPassed;           /* Number of rows given to the sink */
  HpReader *pRead;       /* What it reads of the source: hpSource.h */
  HpArena vec;           /* Memory of what it reads, and of what the sink has */
  HpArena side;          /* Payloads of the batch from overflow pages */
  HpFrame frame;         /* The rows of the batch as vectors */
  void *pSink;           /* What the sink has: HpAgg, HpSort, HpFound */
  HpRuns *pRuns;         /* Its sorted runs, or NULL */
};

/*
** A sink: what is done with the rows that pass.  See hp_sinks.c.
*/
struct HpSinkType {
  int (*xBegin)(HpPipe*, Mem*);
  int (*xOpen)(HpWorker*, Mem*);
  void (*xMore)(HpWorker*);
  int (*xRows)(HpWorker*, HpFrame*);
  void (*xRunEnd)(HpWorker*);
  int (*xFinish)(HpWorker*);
  int (*xCombine)(HpPipe*);
  void (*xClose)(HpWorker*);
  u8 eRecords;           /* HP_RECORDS_xxx: what it looks at beside values */
};

#define HP_RECORDS_NOT    0    /* Nothing; or hp_raw.c does */
#define HP_RECORDS_PLACES 1    /* Places of rows: hpPlaceOf() */
#define HP_RECORDS_SOUND  2    /* The same, and whether records are sound */

#endif /* HPQUERY_H */
#endif /* SQLITE_OMIT_HP */
