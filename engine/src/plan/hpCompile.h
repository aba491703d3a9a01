/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** From SELECT to plan (prepare time).
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPCOMPILE_H
#define HPCOMPILE_H

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

/* SrcItem.hp.eOrder: does the scan that the planner chose give groups in order? */
#define HP_ORDER_NONE    0     /* No */
#define HP_ORDER_INDEX   1     /* Yes, and it is the scan that is taken over */
#define HP_ORDER_LOOKUP  2     /* Yes, looking up rows: read the table instead */

/* State of a compilation */
struct HpCompile {
  Parse *pParse;
  AggInfo *pAggInfo;     /* Of the query */
  Table *pTab;           /* The one table */
  Index *pIdx;           /* The index scanned instead of it, or NULL */
  int iCur;              /* Cursor of the table */
  HpPlan *pPlan;         /* What is being made, ... */
  HpPipePlan *pPipe;     /* ... and the pipe of it */
  int nColAlloc;         /* Size of pPipe->source.aCol */
  int nSelf;             /* Generated columns around the expression */
  u16 iGuard;            /* Functions are needed where this is true */
  u8 bJump;              /* Stock codes the expression as jumps */
  u8 bNoSub;             /* Subtypes of functions would be lost */
  u8 eNo;                /* HP_NO_xxx: why it was refused, or 0 */
  int nRangeTerm;        /* Terms that are filters already: hpRangeFilter() */
  Expr *apRangeTerm[HP_MX_EQ+2];
};

/* hp_compile.c */
static int hpCompileNo(HpCompile*, u8);
static void hpCompileFree(void*);
static int hpCompileCollOk(CollSeq*, CollSeq**);
static int hpCompileIsConst(HpCompile*, Expr*);
static int hpCompileConst(HpCompile*, Expr*);
static int hpCompileExpr(HpCompile*, Expr*);
static int hpCompileStored(HpCompile*, int);
static int hpCompileLosesSubtype(HpCompile*, Expr*);
static int hpCompileWhere(HpCompile*, Expr*);
static void hpCompileSortColumns(HpPipePlan*);
static HpPlan *hpCompileNew(HpCompile*, Parse*, Select*);
static void *hpCompileAlloc(HpPlan*, i64);
static int hpCompileKeys(HpPlan*, HpKeys*, int);
static void hpCompileSmall(Parse*);
static u8 hpCompileNumber(const Expr*);
static int hpCompileSafe(Parse*, Expr*, ExprList*, int);

/* hp_range.c */
static int hpRangeCompile(HpCompile*, SrcItem*, Expr*);
static int hpRangeSeemsLarge(HpCompile*);

/* hp_compileagg.c */
static HpPlan *hpCompileAggPlan(Parse*, Select*, AggInfo*, KeyInfo*);

/* hp_plan.c */
static int hpPlanMayBeLarge(Btree*, Pgno, int, int);
static int hpPlanWorthIt(Parse*, Select*, int);
static void hpPlanExplain(Parse*, int, int);
static int hpPlanCode(Parse*, HpPlan*, int);

/* hp_partitionplan.c */
static int hpPartitionPlan(HpPlan*, HpSortPlan*, const HpWanted*);

/* hp_sortplan.c */
static int hpSortPlanKeys(HpCompile*, HpKeys*, ExprList*, int);
static void hpSortPlanExplain(Parse*, int);
static int hpSortPlanCode(Parse*, Select*, ExprList*, int, int);

#endif /* HPCOMPILE_H */
#endif /* SQLITE_OMIT_HP */
