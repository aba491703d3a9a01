/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** From a tree of operators to a plan (prepare time).
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPPHYS_H
#define HPPHYS_H

/* A table of fewer leaf pages is scanned by stock's code: the buffers of the
** executor would cost more than they save.  32 leaves of 4096 bytes are about
** a thousand rows, or 200 microseconds of stock's time. */
#define HP_MIN_LEAF      32

/* Nor is one whose rows are found piece by piece, if it has fewer */
#define HP_MIN_PIECES    128

/* Rows that SQLite looks up by an index are not to be had by a scan of the
** table for less if they are on fewer leaves of the index */
#define HP_MIN_SEARCH    8

/* Long executions are those of more instructions, on average */
#define HP_LONG_STEPS    10000

/* A search for which the planner expects fewer rows is left to SQLite before
** anything is compiled, unless it looks rows up and has no statistics.  A
** LogEst: 1000. */
#define HP_MIN_OUT       99

/* Nor is a range of fewer rowids worth looking at */
#define HP_MIN_ROWIDS    2000

/* A join that stock begins with another table is left to it if the planner
** thinks that it costs less.  A LogEst: 100,000. */
#define HP_MIN_COST      166

/* A leaf has about so many rows */
#define HP_LEAF_ROWS     100

typedef struct HpOutput HpOutput;
/*
** What an output is lowered to.  hp_lower.c says when each function is called.
** All return a result code; SQLITE_ERROR refuses the query.
*/
#define HP_IN(E)        (1<<(E))
struct HpOutput {
  u8 mIn;                /* HP_IN() of the inputs that it can have */
  u8 mTrait;             /* HP_OUT_xxx */
  u8 eNo;                /* HP_NO_xxx, where there is no other reason */
  int (*xBegin)(HpCompile*);
  int (*xWhere)(HpCompile*, Expr*);
  int (*xSink)(HpCompile*);
  int (*xEnd)(HpCompile*);
};
#define HP_OUT_SUB      1  /* Filters may have sub-selects of one value */
#define HP_OUT_LARGE    2  /* A range of literals is looked at: is it large? */
#define HP_OUT_THREADS  4  /* Pipes that only one thread can run are refused */
#define HP_OUT_OWN      8  /* The application's functions are not called */

/* State of a compilation */
struct HpCompile {
  Parse *pParse;
  HpLop *pTop;           /* The tree that is lowered, or NULL */
  const HpOutput *pOut;  /* The functions of its output */
  AggInfo *pAggInfo;     /* Of the query */
  Table *pTab;           /* The one table */
  Index *pIdx;           /* The index scanned instead of it, or NULL */
  int iCur;              /* Cursor of the table */
  HpPlan *pPlan;         /* The plan that is being made */
  HpPipePlan *pPipe;     /* The pipe of it that is being compiled */
  int nSelf;             /* Generated columns around the expression */
  u8 bJump;              /* Stock codes the expression as jumps */
  u8 bNoSub;             /* Subtypes of functions would be lost */
  u8 eNo;                /* HP_NO_xxx: why it was refused, or 0 */
  int (*xExpr)(HpCompile*, Expr*);  /* hpCompileExpr(), for what it calls */
  int (*xOther)(HpCompile*, Expr*, int);  /* A join: the vector of an expression
                         ** of another table's columns, or -2.  Else NULL */
  HpJoin *pJoin;         /* For xOther */
  int (*xSub)(HpCompile*, Expr*);   /* The vector of a sub-select, or of an IN
                         ** of one, or -1.  NULL: they are refused */
  Select *pArm;          /* The arm of a UNION ALL, or NULL: hp_union.c */
  int iArms;             /* The cursor of the UNION ALL */
  Bitmask mGiven;        /* All rows of a group have one row of these terms
                         ** of FROM */
  int nRangeTerm;        /* Terms that are filters already: hpRangeFilter() */
  Expr *apRangeTerm[HP_MX_EQ+2];
};

/* How far a compilation has come */
typedef struct HpMark HpMark;
struct HpMark {
  HpProg prog;
  HpSourcePlan source;
  u8 bSerial, bUser, bDeep;
  int nSet;
};

/* hp_cost.c */
static int hpCostExpr(Parse*, Expr*);
static void hpCostList(Parse*, const ExprList*, int, int*);
static int hpCostAlone(int);
static int hpCostIsSide(int, int, int);

/* hp_sane.c */
#ifdef SQLITE_DEBUG
static int hpSanePipe(const HpPipePlan*);
static int hpSanePlan(const Parse*, const HpPlan*);
#endif

/* hp_compile.c */
static int hpCompileNo(HpCompile*, u8);
static int hpCompileNoFunc(HpCompile*, const Expr*, u8);
static int hpCompileNoUser(HpCompile*);
static void hpCompileFree(void*);
static void *hpCompileAlloc(HpPlan*, i64);
static int hpCompileKeys(HpPlan*, HpKeys*, int);
static HpGroupPlan *hpCompileGroups(HpCompile*, int, int);
static void hpCompileSource(Parse*, HpPipePlan*, Table*, Index*);
static void hpCompileFor(HpCompile*, HpPipePlan*, Table*, Index*, int);
static HpPlan *hpCompileEmpty(void);
static HpPlan *hpCompileNew(HpCompile*, Parse*, const SrcItem*, int);
static void hpCompileMark(const HpCompile*, HpMark*);
static void hpCompileBack(HpCompile*, const HpMark*);
static void hpCompileSortColumns(HpPipePlan*);
static void hpCompileSmall(Parse*);
static void hpCompileLong(Parse*);
static int hpCompileCollOk(CollSeq*, CollSeq**);
static void hpCompileColl(HpCompile*, CollSeq*, HpOp*);
static int hpCompileIsConst(HpCompile*, Expr*);
static int hpCompileConst(HpCompile*, Expr*);
static int hpCompileLiteral(HpCompile*, int, const char*);
static int hpCompileOp(HpCompile*, u8, u8, int, int);
static int hpCompileAff(HpCompile*, u8, u8, int);
static int hpCompileTruth(HpCompile*, int, int, int);
static int hpCompileArgs(HpCompile*, HpOp*, const u16*, int);
static int hpCompileList(HpCompile*, u8, const u16*, int);
static int hpCompileStored(HpCompile*, int);

/* hp_compileside.c */
static int hpCompileSideIf(HpCompile*, int, int, u8, const u16*, int, int*);
static int hpCompileSideEnd(HpCompile*, int, int);
static int hpCompileSideJoin(HpCompile*, u8, int, int, int);
static int hpCompileSideChoice(HpCompile*, u8, const u16*, int, int);
static int hpCompileSideIsSafe(Parse*, Expr*);

/* hp_compilecompare.c */
static int hpCompileCompare(HpCompile*, u8, Expr*, Expr*, CollSeq*);
static int hpCompileCompareAs(HpCompile*, u8, Expr*, Expr*, CollSeq*, u8);
static int hpCompileCompareRows(HpCompile*, u8, Expr*, Expr*, int);
static int hpCompileCompareBetween(HpCompile*, Expr*, int);
static int hpCompileCompareHalf(HpCompile*, Expr*, int);
static int hpCompileCompareIn(HpCompile*, Expr*);

/* hp_compilearms.c */
static int hpCompileArmsLogic(HpCompile*, Expr*, int);
static int hpCompileArmsCase(HpCompile*, Expr*, ExprList*);
static int hpCompileArmsCoalesce(HpCompile*, ExprList*);

/* hp_compileexpr.c */
static int hpCompileExpr(HpCompile*, Expr*);
static int hpCompileExprColumn(HpCompile*, int);
static int hpCompileExprWhere(HpCompile*, Expr*);
static int hpCompileExprLosesSubtype(HpCompile*, Expr*);

/* hp_scalar.c */
static int hpScalarSub(HpCompile*, Expr*);

/* hp_lowersub.c */
static HpGroupPlan *hpLowerSubGroups(HpCompile*, const HpLookup*, int);
static int hpLowerSubAggs(HpCompile*, const HpInput*);
static int hpLowerSubRegroup(HpCompile*, HpPipePlan*, const HpPipePlan*,
                             const HpLookup*, int);
static int hpLowerSubSpan(HpCompile*, const HpInput*, int, int);
static int hpLowerSubMissing(HpCompile*, const struct AggInfo_func*, int, int);

/* hp_lowerjoin.c */
static int hpLowerJoinPipes(HpCompile*, HpJoin*, Expr*);
static int hpLowerJoinTerms(HpCompile*, const ExprList*, const KeyInfo*);
static int hpLowerJoinIsGiven(HpCompile*, Expr*);
static int hpLowerJoinLate(HpCompile*, Expr*, struct HpBare*);
static int hpLowerJoinAgg(HpCompile*, int, HpAggDef*);

/* hp_range.c */
static int hpRangeSafe(const HpCompile*, const SrcItem*, Expr*);
static int hpRangeCompile(HpCompile*, SrcItem*, Expr*);
static int hpRangeSeemsLarge(HpCompile*);
static int hpRangeIsOfIndex(SrcItem*, Expr*, ExprList*);
static int hpRangeSearchMayBeLarge(Parse*, Index*, const WhereLoop*);

/* hp_compileagg.c */
static int hpCompileAgg(HpCompile*, struct AggInfo_func*, HpAggDef*);
static int hpCompileAggOf(HpCompile*, const struct AggInfo_func*, int,
                          HpAggDef*);
static int hpCompileAggAnyOrder(HpCompile*, const Expr*, const HpAggDef*);
static int hpCompileAggUniform(HpCompile*, Expr*);

/* hp_lowerunion.c */
static void hpLowerUnionEnter(HpCompile*, const SrcItem*, Select*, int);
static int hpLowerUnionWhere(HpCompile*, Expr*);

/* hp_live.c */
static int hpLiveOpReads(const HpProg*, const HpOp*, u16);
static void hpLivePlan(HpPlan*);

/* hp_lower.c */
static HpPlan *hpLower(Parse*, HpLop*, const HpOutput*);

/* hp_outgroup.c */
static HpPlan *hpOutGroup(Parse*, Select*, AggInfo*, KeyInfo*, HpJoin*);

/* hp_outsort.c */
static int hpOutSortKeys(HpCompile*, HpKeys*, ExprList*, int, int);
static int hpOutSortTies(HpCompile*, HpKeys*, SrcList*);
static HpField *hpOutSortNew(HpCompile*, int*, u8);
static int hpOutSortField(HpCompile*, int*, Expr*, int);
static HpPlan *hpOutSort(Parse*, Select*, ExprList*, int);

/* hp_outtop.c */
static HpPlan *hpOutTop(Parse*, Select*, ExprList*, const HpSinkType*);

/* hp_outfilter.c */
static HpPlan *hpOutFilter(Parse*, SrcList*, SrcItem*, Expr*, int);

/* hp_outset.c */
static HpPlan *hpOutSet(Parse*, Select*, const char*, HpJoin*);

/* hp_outkeyed.c */
static HpPlan *hpOutKeyed(Parse*, Select*, AggInfo*);

/* What is filled: the arguments of sqlite3HpFillBegin() */
typedef struct HpFillTo HpFillTo;
struct HpFillTo {
  Table *pTab;           /* The table */
  const int *aiFrom;     /* Of each column the result column for it, plus one;
                         ** 0: its default.  NULL: in order */
  int iKey;              /* The result column that is the rowid, or -1 */
};

/* hp_outfill.c */
static HpPlan *hpOutFill(Parse*, HpFillTo*, Select*);

#endif /* HPPHYS_H */
#endif /* SQLITE_OMIT_HP */
