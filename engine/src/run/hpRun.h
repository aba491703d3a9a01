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
static int hpPipeRun(HpScan*, const HpPipePlan*, Mem*, int);
static void hpPipeFree(HpScan*, int);

/* hp_exec.c */
static void hpScanFree(void*);
static int hpScanRun(Vdbe*, const HpPlan*, Mem*, int, int, HpScan**);

#endif /* HPRUN_H */
#endif /* SQLITE_OMIT_HP */
