/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Work on whole b-trees in place of SQLite's loops: the plans (prepare time).
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPTASK_H
#define HPTASK_H

/* hp_taskplan.c */
static int hpTaskPlanMay(Parse*);
static int hpTaskPlanEnd(HpCompile*, int);
#ifdef HP_TASK_SCAN
static int hpTaskPlanColumn(HpCompile*, HpKeys*, int);
static int hpTaskPlanCode(HpCompile*, int, int);
#endif

/* hp_indexplan.c */
static int hpIndexPlanVec(HpCompile*, const Index*, int, CollSeq**);

#endif /* HPTASK_H */
#endif /* SQLITE_OMIT_HP */
