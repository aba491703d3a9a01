/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** A scan from its first leaf to its result: the opcodes.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPRUN_H
#define HPRUN_H

/* More rows than a table has */
#define HP_ROWS_ALL ((i64)1<<62)

/* P3 of OP_HpScan: OP_HpRow follows, ... */
#define HP_SCAN_FIND  1        /* ... in place of OP_Next, or ... */
#define HP_SCAN_SORT  2        /* ... of OP_SorterNext */

/* What a pipe, and those before it that it adds to, have read and kept */
typedef struct HpStep HpStep;
struct HpStep {
  i64 t;                 /* When the pipe began, in microseconds */
  u64 nRow;              /* Rows read */
  u64 nPass;             /* Rows given to the sink */
  u64 nTaken;            /* Runs of leaves */
  u64 nKept;             /* ... whose columns were in memory */
};

/* hp_step.c */
static void hpStepTree(sqlite3*, const HpSourcePlan*, StrAccum*);
static void hpStepBegin(const HpPipe*, HpStep*);
static void hpStepEnd(const HpPipe*, const HpStep*);

/* hp_pipe.c */
static int hpPipeNew(HpQuery*, const HpPipePlan*);
static int hpPipeRun(HpPipe*, Mem*, int);
static int hpPipeMore(HpPipe*, const HpPipePlan*, Mem*);
static void hpPipeDone(HpPipe*);
static void hpPipeClose(HpQuery*);

/* hp_guard.c */
static int hpGuardSet(sqlite3*, const HpSourcePlan*, BtCursor**);
static int hpGuardHolds(const BtCursor*);
static void hpGuardFree(BtCursor*);

/* hp_piece.c */
static i64 hpPieceNew(HpQuery*, const HpPlan*);
static int hpPieceLook(HpQuery*, Mem*, i64*);
static int hpPieceMay(const BtCursor*);
static int hpPieceRun(HpQuery*, const BtCursor*, Mem*);
static int hpPieceIsByRowid(const HpPieces*);
static int hpPieceLost(const HpPieces*);
static i64 hpPieceEnd(HpQuery*, int);
static void hpPieceFree(HpPieces*);

/* hp_gate.c */
static int hpGateSearch(sqlite3*, const HpPlan*, Mem*, int, int, int*, double*);
static int hpGateJoin(HpQuery*, HpPlan*, Mem*, int, int, int, int*, double*);
static int hpGateFind(sqlite3*, const HpPipePlan*, Mem*, double*);
static int hpGateLook(HpQuery*, const HpPlan*, Mem*, i64*, int*);
static void hpGateLost(HpPlan*);

/* When hpGateJoin() is asked */
#define HP_GATE_FIRST_TIME 0   /* SQLite's loops have not begun */
#define HP_GATE_ASK        1   /* They run */
#define HP_GATE_LATE       2   /* They have been given up: see hp_race.c */

/* What hpRaceLook() says of SQLite's loops */
#define HP_RACE_ON   0         /* They go on */
#define HP_RACE_ASK  1         /* It is not known how long ours takes */
#define HP_RACE_LATE 2         /* They are to be given up */
#define HP_RACE_PREPARE 3      /* The statement is to be prepared again */

/* hp_progress.c */
static void hpProgressBegin(HpProgress*);
static double hpProgressLeft(Vdbe*, HpProgress*, int, int, int, i64, int*);

/* hp_race.c */
static i64 hpRaceClock(u64);
static void hpRaceNote(const Vdbe*, int);
static int hpRaceIsLong(const Vdbe*, int);
static int hpRaceMay(const Vdbe*, const HpPlan*);
static int hpRaceMayBegin(const Vdbe*, const HpPlan*);
static int hpRaceWasLost(const Vdbe*, const HpPlan*);
static int hpRaceWillBeLost(const Vdbe*, HpPlan*);
static void hpRaceStart(Vdbe*, u64);
static void hpRaceBegin(Vdbe*, HpPlan*, u64, double);
static int hpRaceLook(Vdbe*, const VdbeOp*, u64);
static void hpRaceKnow(Vdbe*, double);
static void hpRaceEnd(Vdbe*);

/* hp_finder.c */
static int hpFinderNew(HpQuery*, const HpSourcePlan*);
static int hpFinderFill(HpQuery*);
static int hpFinderHolds(const HpFinder*);
static int hpFinderLoad(HpQuery*, const HpKeyed*, Mem*, Mem*);
static void hpFinderFree(HpFinder*);

/* hp_query.c */
static int hpQueryMayNot(const Vdbe*);
static void hpQueryAgain(Vdbe*);
static void hpQueryDone(HpQuery*, const HpPlan*);
static void hpQueryFree(void*);
static HpQuery *hpQueryNew(Vdbe*, const HpPlan*);
static int hpQueryRun(HpQuery*, const HpPlan*, Mem*, int, int);
static int hpQueryFailed(HpQuery*, sqlite3*, int);

#endif /* HPRUN_H */
#endif /* SQLITE_OMIT_HP */
