/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Work on whole b-trees that SQLite does row by row: OP_HpTask.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPUPKEEP_H
#define HPUPKEEP_H

/* hp_taskscan.c */
static int hpTaskScanIsLarge(sqlite3*, Btree*, Pgno, int, int*);
static int hpTaskScanRun(Vdbe*, const HpPlan*, Mem*, HpQuery**);

/* hp_copy.c */
static int hpCopyIsEmpty(BtCursor*);
static void hpCopyLeave(Vdbe*, BtCursor*, int);
static int hpCopyRun(Vdbe*, const HpPlan*, const VdbeOp*, Mem*, int*);

/* hp_refill.c */
static int hpRefillRun(Vdbe*, const HpPlan*, const VdbeOp*, Mem*, int*);

/* hp_fill.c */
static int hpFillRun(Vdbe*, const HpPlan*, const VdbeOp*, Mem*, int*);

/* hp_analyze.c */
#ifdef HP_ANALYZE
static int hpAnalyzeRun(Vdbe*, const HpPlan*, const VdbeOp*, Mem*, int*);
#endif

/* hp_orphans.c */
#ifdef HP_ORPHANS
static int hpOrphansRun(Vdbe*, const HpPlan*, const VdbeOp*, Mem*, int*);
#endif

#endif /* HPUPKEEP_H */
#endif /* SQLITE_OMIT_HP */
