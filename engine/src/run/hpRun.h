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

/* hp_pipe.c */
static int hpPipeRun(HpQuery*, const HpPipePlan*, Mem*, int);
static void hpPipeClose(HpQuery*);

/* hp_query.c */
static void hpQueryFree(void*);
static int hpQueryRun(Vdbe*, const HpPlan*, Mem*, int, int, HpQuery**);

#endif /* HPRUN_H */
#endif /* SQLITE_OMIT_HP */
