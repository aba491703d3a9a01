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

/* hp_gate.c */
static int hpGateJoin(HpQuery*, HpPlan*, Mem*, int, int*);
static void hpGateLost(HpPlan*);

/* hp_query.c */
static void hpQueryFree(void*);
static HpQuery *hpQueryNew(Vdbe*, const HpPlan*);
static int hpQueryRun(HpQuery*, const HpPlan*, Mem*, int, int);

#endif /* HPRUN_H */
#endif /* SQLITE_OMIT_HP */
