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

/* Nor is one whose rows are found piece by piece, if it has fewer */
#define HP_MIN_PIECES    128

/* Rows that SQLite looks up by an index are not to be had by a scan of the table for less if
** they are on fewer leaves of the index */
#define HP_MIN_SEARCH    8

/* Long executions are those of more instructions, on average */
#define HP_LONG_STEPS    10000

/* A search for which the planner expects fewer rows is left to SQLite before
** anything is compiled, unless it looks rows up and has no statistics.  A LogEst: 1000. */
#define HP_MIN_OUT       99

/* Nor is a range of fewer rowids worth looking at */
#define HP_MIN_ROWIDS    2000

/* A join that stock begins with another table is left to it if the planner thinks
** that it costs less.  A LogEst: 100,000. */
#define HP_MIN_COST      166

/* A leaf has about so many rows */
#define HP_LEAF_ROWS     100

/* SrcItem.hp.eOrder: does the scan that the planner chose give groups in order? */
#define HP_ORDER_NONE    0     /* No */
#define HP_ORDER_ROWID   1     /* Yes, of rowids */
#define HP_ORDER_INDEX   2     /* Yes, and it is the scan that is taken over */
#define HP_ORDER_LOOKUP  3     /* Yes, looking up rows: read the table instead */
#define HP_ORDER_ROWS    4     /* No, but of rows: likewise */

/* Does SQLite give groups as its scan comes to them? */
#define hpOrderIsGiven(E) ((E)>=HP_ORDER_ROWID && (E)<=HP_ORDER_LOOKUP)

/*
** A join as a tree: see hp_graph.c.
*/
#define HP_MX_TERM   100   /* Most terms of WHERE */

/* HpNode.eNode */
#define HP_NODE_ROOT   0
#define HP_NODE_INNER  1
#define HP_NODE_LEFT   2
#define HP_NODE_SEMI   3
#define HP_NODE_NONE   4
#define HP_NODE_EXISTS 5   /* A sub-select: hp_subplan.c */
#define HP_NODE_GROUP  6   /* One, or the right table of a LEFT JOIN: hpNodeIsMany() */
#define hpNodeIsSub(P) ((P)->eNode>=HP_NODE_EXISTS)
#define hpNodeIsMany(P) ((P)->eNode==HP_NODE_GROUP && (P)->pSub==0)
#define hpNodeHasGroups(P) ((P)->eNode==HP_NODE_GROUP || (P)->bSpan)
#define hpNodeIsLate(P) (hpNodeIsSub(P) || (P)->bSpan)

/* An equality by which a row is found */
typedef struct HpEdge HpEdge;
struct HpEdge {
  Expr *pTerm;           /* pOwn=pOther or the other way round */
  Expr *pOwn;            /* A column of the table */
  Expr *pOther;          /* Something of others, ... */
  Bitmask m;             /* ... these */
  int iTerm;             /* HpGraph.aTerm[] that it is */
  u8 op;                 /* pOwn op pOther: TK_EQ, or of HpNode.span another */
  u8 aff;                /* Affinity of the comparison */
  CollSeq *pColl;        /* Collation of the comparison */
};

/* A term of FROM */
typedef struct HpNode HpNode;
struct HpNode {
  SrcItem *pItem;
  u8 eNode;              /* HP_NODE_xxx */
  int iHome;             /* It is looked up in the pipe of this one */
  int nKey;              /* By so many equalities: */
  HpEdge aKey[HP_MX_EQ];
  int iPipe;             /* Its pipe, and the number of its relation */
  int iScan;             /* The pipe that scans it: the same, or that before */
  Index *pIdx;           /* What its pipe scans; NULL: the table */
  int iLookup;           /* In its home: vector of its HP_OP_LOOKUP, or -1 */
  int iRow;              /* In its home: vector of its row's number, or -1 */
  int iKept;             /* Column of its home's relation that has that, or -1 */
  HpRelPlan *pWant;      /* The relation of the keys that its home wants, or NULL */
  const Expr *pSub;      /* A sub-select: that, ... */
  AggInfo *pAggInfo;     /* ... HP_NODE_GROUP: its aggregates, ... */
  u8 bSpan;              /* An EXISTS with one term, ... */
  HpEdge span;           /* ... this, that is no equality */
  int iTwin;             /* Its groups are made by the pipe of this node, too; or -1 */
  int iAgg;              /* Number of the first of its aggregates in a group, ... */
  int nAgg;              /* ... and that of those of all its twins, its own included */
  int iOnly;             /* Of twins: vector of its own filters, or -1 */
  u8 bAll;               /* All its rows are read, so that what fails does */
};

/* A term of WHERE */
typedef struct HpGraphTerm HpGraphTerm;
struct HpGraphTerm {
  Expr *pExpr;
  Bitmask m;             /* Terms of FROM that it names */
  int iOuter;            /* The LEFT JOIN whose ON clause it is in, or the sub-select
                         ** whose WHERE clause; or -1 */
  u8 bImplied;           /* An OR that is another term implies it */
  u8 bKey;               /* A look-up tests it */
  u8 bFails;             /* It may fail: hp_safe.c */
};

/* Node iNode leaves out rows for which node iRel has no partner by this edge */
typedef struct HpReduce HpReduce;
struct HpReduce {
  int iNode;
  int iRel;
  HpEdge edge;
};
#define HP_MX_REDUCE 16

typedef struct HpGraph HpGraph;
struct HpGraph {
  Parse *pParse;
  int nNode;
  int iRoot;             /* The node that is scanned */
  int iNow;              /* The node whose pipe is being compiled */
  int iMany;             /* The node that hpNodeIsMany() is true of, or -1 */
  u8 bPart;              /* SQLite tests all terms again: some may be left out */
  Bitmask mDone;         /* Nodes whose keys have been found */
  int nPipe;             /* Pipes; that of the root is the last one */
  u8 aOrder[HP_MX_PIPE]; /* The node of each */
  int nTerm;
  int nReduce;
  HpReduce aReduce[HP_MX_REDUCE];
  HpNode aNode[HP_MX_NODE];
  HpGraphTerm aTerm[HP_MX_TERM];
};

/*
** A logical operator: see hp_lower.c.  Inputs give rows, ...
*/
#define HP_LOP_SCAN     0  /* Those of a b-tree, in order */
#define HP_LOP_JOIN     1  /* Those of its driving table, with partners */
#define HP_LOP_UNION    2  /* Those of the arms of a UNION ALL, in turn */
/* ... and outputs are made of them: */
#define HP_LOP_GROUP    3  /* Groups with aggregates */
#define HP_LOP_SET      4  /* The set of IN: groups without */
#define HP_LOP_SORT     5  /* Records, in the order of pList */
#define HP_LOP_TOP      6  /* Places of the first rows in that order */
#define HP_LOP_DISTINCT 7  /* Places of rows that differ in pList */
#define HP_LOP_FILTER   8  /* Places of the rows that pass */
#define HP_LOP_KEYED    9  /* Groups that rows around a sub-select look up */
#define HP_LOP_FILL    10  /* Records that fill a table */
typedef struct HpLop HpLop;
typedef struct HpOutput HpOutput;
struct HpLop {
  u8 eOp;                /* HP_LOP_xxx */
  u8 bByRowid;           /* FILTER: rows are written to, and found by rowid */
  HpLop *pIn;            /* The input of an output.  NULL: it is an input */
  SrcItem *pItem;        /* SCAN, UNION: the term of FROM.  JOIN: that of the
                         ** driving table */
  Expr *pWhere;          /* An input: the rows for which that is true */
  HpGraph *pGraph;       /* JOIN: its tables and keys.  Else NULL */
  const HpOutput *pOut;  /* An output: its functions */
  Select *pSelect;       /* An output: the query.  NULL: UPDATE, DELETE */
  SrcList *pSrc;         /* FILTER: the FROM clause */
  ExprList *pList;       /* What rows are ordered by, or differ in */
  AggInfo *pAggInfo;     /* Aggregates, or NULL */
  KeyInfo *pKeyInfo;     /* GROUP: collation and order of GROUP BY, or NULL */
  int eDest;             /* SORT: SRT_xxx, where the records go */
  const char *zAff;      /* SET: affinities of its columns */
  void *pMore;           /* FILL: HpFillTo */
};

/* An output: when each function is called is said in hp_lower.c.  They return a
** result code; SQLITE_ERROR refuses */
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
#define HP_OUT_SUB      1  /* Filters may have sub-selects without outer columns */
#define HP_OUT_LARGE    2  /* A range of literals is looked at: is it large? */
#define HP_OUT_THREADS  4  /* Pipes that only one thread can run are refused */
#define HP_OUT_OWN      8  /* The application's functions are not called */

/* State of a compilation */
struct HpCompile {
  Parse *pParse;
  HpLop *pTop;           /* The tree that is lowered, or NULL */
  AggInfo *pAggInfo;     /* Of the query */
  Table *pTab;           /* The one table */
  Index *pIdx;           /* The index scanned instead of it, or NULL */
  int iCur;              /* Cursor of the table */
  HpPlan *pPlan;         /* What is being made, ... */
  HpPipePlan *pPipe;     /* ... and the pipe of it */
  int nSelf;             /* Generated columns around the expression */
  u8 bJump;              /* Stock codes the expression as jumps */
  u8 bNoSub;             /* Subtypes of functions would be lost */
  u8 eNo;                /* HP_NO_xxx: why it was refused, or 0 */
  int (*xExpr)(HpCompile*, Expr*);  /* hpCompileExpr(), for what it calls */
  int (*xOther)(HpCompile*, Expr*, int);  /* A join: the vector of an expression of
                         ** another table's columns, or -2.  Else NULL */
  HpGraph *pGraph;       /* For xOther */
  int (*xSub)(HpCompile*, Expr*);   /* The vector of a sub-select, or of an IN of one,
                         ** or -1.  NULL: they are refused */
  Select *pArm;          /* An arm of a UNION ALL, or NULL: hp_armplan.c, ... */
  int iArms;             /* ... which is cursor iArms */
  Bitmask mGiven;        /* All rows of a group have one row of these terms of FROM */
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

/* Where the program branches to ours */
typedef struct HpBranch HpBranch;
struct HpBranch {
  int iFrom;             /* A jump is there ... */
  VdbeOp op;             /* ... in place of this */
  int addrSkip;          /* The jump over our code */
};

/* hpSafe(): what is known of an expression that may be evaluated for fewer
** rows */
#define HP_SAFE_EACH   1   /* It is evaluated for all rows that matter */
#define HP_SAFE_OPEN   2   /* Calls with constants are made when the scan
                           ** begins */
#define HP_SAFE_SELECT 4   /* Look into sub-selects and aggregates */
#define HP_SAFE_KNOWN  8   /* Sub-selects do not matter */
#define HP_SAFE_GROUP  16  /* Aggregates have been computed */

/* hp_safe.c */
static u8 hpSafeNumberOf(const FuncDef*);
static u8 hpSafeNumber(const Expr*);
static int hpSafeColl(Parse*, Expr*);
static int hpSafeHasCall(Parse*, Expr*);
static int hpSafe(Parse*, Expr*, ExprList*, int);
static int hpSafeSelect(Parse*, Select*);
static int hpSafeSearch(const HpCompile*, const SrcItem*, Expr*);
static int hpSafeJoin(HpGraph*);
/* hp_cost.c */
static int hpCostExpr(Parse*, Expr*);
static void hpCostList(Parse*, const ExprList*, int, int*);
static int hpCostAlone(int);
static int hpCostIsSide(int, int, int);

/* hp_sane.c */
#ifdef SQLITE_DEBUG
static int hpSanePlan(const Parse*, const HpPlan*);
#endif

/* hp_show.c */
static void hpShowPlan(Parse*, HpPlan*);

/* hp_compile.c */
static int hpCompileNo(HpCompile*, u8);
static int hpCompileNoFunc(HpCompile*, const Expr*, u8);
static int hpCompileNoUser(HpCompile*);
static void hpCompileFree(void*);
static void *hpCompileAlloc(HpPlan*, i64);
static int hpCompileKeys(HpPlan*, HpKeys*, int);
static void hpCompileSource(Parse*, HpPipePlan*, Table*, Index*);
static void hpCompileFor(HpCompile*, HpPipePlan*, Table*, Index*, int);
static HpPlan *hpCompileEmpty(void);
static HpPlan *hpCompileNew(HpCompile*, Parse*, const SrcItem*, int);
static void hpCompileMark(const HpCompile*, HpMark*);
static void hpCompileBack(HpCompile*, const HpMark*);
static void hpCompileSortColumns(HpPipePlan*);
static void hpCompileSmall(Parse*);
static void hpCompileLong(Parse*);
static int hpCompileIsTable(const SrcItem*);
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
static int hpScalarIsConst(Parse*, Expr*);
static void hpScalarCode(Parse*, const Expr*, int);
static int hpScalarIsSet(Parse*, const Expr*);
static int hpScalarIsStrict(const Expr*);
static int hpScalarSub(HpCompile*, Expr*);
static void hpScalarCodeSets(Parse*, HpPlan*);

/* hp_subplan.c */
static int hpSubPlanAny(Expr*);
static int hpSubPlanFind(const HpGraph*, const Expr*);
static int hpSubPlanNodes(HpGraph*, Expr*);
static HpGroupPlan *hpSubPlanGroups(HpCompile*, const HpLookup*, int);
static int hpSubPlanAggs(HpCompile*, const HpNode*);
static int hpSubPlanAggCount(const HpNode*);
static int hpSubPlanSpan(HpCompile*, const HpNode*, int, int);
static int hpSubPlanRegroup(HpCompile*, HpPipePlan*, const HpPipePlan*, const HpLookup*, int);
static void hpSubPlanExplain(Parse*, const HpNode*, const char*);
static int hpSubPlanMissing(HpCompile*, const struct AggInfo_func*, int, int);

/* hp_graph.c */
static SrcItem *hpGraphRoot(SrcList*);
static HpGraph *hpGraphNew(Parse*, SrcList*, Expr*, int);
static int hpGraphNode(const HpGraph*, int);
static int hpGraphMask(const HpGraph*, Expr*, Bitmask*);
static int hpGraphMeet(const HpGraph*, Bitmask);
static int hpGraphFilters(const HpGraph*, int);
static int hpGraphMaySearch(const HpGraph*, int);
static int hpGraphSame(const Expr*, const Expr*);
static int hpGraphOneRow(const HpGraph*, const ExprList*);
static int hpGraphIsRowid(const SrcItem*, const Expr*);
static Bitmask hpGraphGiven(const HpGraph*, Bitmask, const Expr*, CollSeq*);
static void hpGraphFree(HpGraph*);

/* hp_manyplan.c */
static int hpManyPlan(HpGraph*, AggInfo*, const ExprList*);

/* hp_joinplan.c */
static int hpJoinPlan(HpCompile*, HpGraph*, Expr*);
static void hpJoinPlanEnd(HpCompile*);
static int hpJoinPlanTerms(HpCompile*, const ExprList*, const KeyInfo*);
static int hpJoinPlanIsGiven(HpCompile*, Expr*);
static int hpJoinPlanLate(HpCompile*, Expr*, struct HpBare*);
static int hpJoinPlanAgg(HpCompile*, int, HpAggDef*);

/* hp_range.c */
static int hpRangeCompile(HpCompile*, SrcItem*, Expr*);
static int hpRangeSeemsLarge(HpCompile*);
static int hpRangeSearchMayBeLarge(Parse*, Index*, const WhereLoop*);

/* hp_compileagg.c */
static int hpCompileAgg(HpCompile*, struct AggInfo_func*, HpAggDef*);
static int hpCompileAggOf(HpCompile*, const struct AggInfo_func*, int, HpAggDef*);
static int hpCompileAggAnyOrder(HpCompile*, const Expr*, const HpAggDef*);
static int hpCompileAggUniform(HpCompile*, Expr*);

/* hp_armplan.c */
static int hpArmPlanCount(Parse*, const SrcItem*);
static Select *hpArmPlanFirst(const SrcItem*);
static Select *hpArmPlanNext(const Select*);
static void hpArmPlanEnter(HpCompile*, const SrcItem*, Select*, int);
static int hpArmPlanWhere(HpCompile*, Expr*);

/* hp_lower.c */
static HpPlan *hpLower(Parse*, HpLop*);
static HpPlan *hpLowerSilent(Parse*, HpLop*);

/* hp_aggplan.c */
static HpPlan *hpAggPlan(Parse*, Select*, AggInfo*, KeyInfo*, HpGraph*);

/* hp_worth.c */
static int hpWorthWasLong(const Vdbe*);
static int hpWorthChildren(BtShared*, Pgno, int, Pgno*);
static int hpWorthMayBeLarge(Btree*, Pgno, int, int);
static int hpWorthMayPay(Parse*, SrcItem*, int);
static int hpWorthIt(Parse*, SrcItem*, int);
static int hpWorthArms(Parse*, const SrcItem*);

/* hp_choice.c */
static int hpChoiceIsSearch(const WhereInfo*);
static void hpChoiceArm(Parse*, const Select*, WhereInfo*, const SelectDest*);
static void hpChoiceFill(Parse*, const Select*, WhereInfo*, const SelectDest*);
static void hpChoiceNote(WhereInfo*, int, LogEst, u8);

/* hp_root.c */
static HpGraph *hpRootAnyGraph(Parse*, Select*);
static int hpRootChoose(Parse*, Select*, AggInfo*, HpGraph**);

/* hp_explain.c */
static void hpExplain(Parse*, int, int, const SrcList*);

/* hp_emit.c */
static int hpEmitTask(Parse*, HpPlan*);
static int hpEmitScan(Parse*, HpPlan*, int);
static int hpEmitOpReads(const HpProg*, const HpOp*, u16);
static void hpEmitBranch(Parse*, HpBranch*, int);
static void hpEmitRejoin(Parse*, const HpBranch*, int);
static void hpEmitDetour(Parse*, int);

/* hp_plan.c */
static void hpPlanCodeRow(Parse*, Select*, AggInfo*, int);

/* hp_setplan.c */
static int hpSetPlanAccept(Parse*, const Select*, WhereInfo*, const SelectDest*, int);
static int hpSetPlanCode(Parse*, Select*, const SelectDest*);

/* hp_findplan.c */
static int hpFindPlanExists(Parse*, Select*, int, int);

/* What is known of a loop whose rows are found piece by piece */
#define HP_LOOP_SOME   0   /* The application may stop after any row */
#define HP_LOOP_ALL    1   /* All rows are asked for */
#define HP_LOOP_WRITES 2   /* And it writes to the row that it is at */

/* hp_driverplan.c */
static int hpDriverPlanAccept(Parse*, WhereInfo*, const Expr*);
static int hpDriverPlanNext(Vdbe*, int);
static void hpDriverPlanLoop(Parse*, HpPlan*, int, int);
static void hpDriverPlanCode(Parse*, SrcList*, Expr*, int, u8);

/* hp_partitionplan.c */
static int hpPartitionPlan(HpPlan*, HpSortPlan*, const HpWanted*);

/* hp_taskplan.c */
static int hpTaskPlanMay(Parse*);
static int hpTaskPlanEnd(HpCompile*, int);
#ifdef HP_TASK_SCAN
static int hpTaskPlanColumn(HpCompile*, HpKeys*, int);
static int hpTaskPlanCode(HpCompile*, int);
#endif

/* hp_indexplan.c */
static int hpIndexPlanVec(HpCompile*, const Index*, int, CollSeq**);

/* hp_sortplan.c */
static int hpSortPlanKeys(HpCompile*, HpKeys*, ExprList*, int, int);
static int hpRangeIsOfIndex(SrcItem*, Expr*, ExprList*);
static int hpSortPlanTies(HpCompile*, HpKeys*, SrcList*);
static void hpSortPlanExplain(Parse*, int);
static HpField *hpSortPlanNew(HpCompile*, int*, u8);
static int hpSortPlanField(HpCompile*, int*, Expr*, int);
static int hpSortPlanCode(Parse*, Select*, ExprList*, int, int);

#endif /* HPCOMPILE_H */
#endif /* SQLITE_OMIT_HP */
