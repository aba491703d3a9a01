/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** What a statement asks for: a tree of logical operators (prepare time).
**
** A query that may be taken over is a short tree.  An output says what is made
** of the rows of its input, an input where they come from:
**
**    SELECT n_name, sum(x) FROM lineitem, orders, ... GROUP BY n_name
**
**       GROUP             output: keys, aggregates
**         JOIN            input: terms of WHERE, keys
**           lineitem      drives: it is scanned
**           orders        INNER, by l_orderkey
**           ...
**
**    SELECT * FROM t WHERE a>5 ORDER BY b LIMIT 10
**
**       TOP               output: keys, LIMIT
**         SCAN t          input: terms of WHERE, bounds
**
** Rules and properties are files of this folder; none knows pipes or bytecode.
** hp_lower.c makes pipes of a tree.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPLOGIC_H
#define HPLOGIC_H

typedef struct HpEdge HpEdge;
typedef struct HpInput HpInput;
typedef struct HpJoin HpJoin;
typedef struct HpLop HpLop;
typedef struct HpReduce HpReduce;
typedef struct HpConjunct HpConjunct;

/* HpLop.eOp of inputs ... */
#define HP_LOP_SCAN     0  /* Rows of a b-tree, in order */
#define HP_LOP_JOIN     1  /* Rows of its driving table, with partners */
#define HP_LOP_UNION    2  /* Rows of the arms of a UNION ALL, in turn */
/* ... and of outputs: */
#define HP_LOP_GROUP    3  /* Groups with aggregates */
#define HP_LOP_SET      4  /* The set of IN: groups without aggregates */
#define HP_LOP_SORT     5  /* Records, in the order of pList */
#define HP_LOP_TOP      6  /* Places of the first rows in that order */
#define HP_LOP_DISTINCT 7  /* Places of rows that differ in pList */
#define HP_LOP_FILTER   8  /* Places of the rows that pass */
#define HP_LOP_KEYED    9  /* Groups that rows around a sub-select look up */
#define HP_LOP_FILL    10  /* Records that fill a table */

/* A logical operator */
struct HpLop {
  u8 eOp;                /* HP_LOP_xxx */
  u8 bByRowid;           /* FILTER: rows are written to, and found by rowid */
  u8 bTry;               /* A refusal is not counted: there is another tree */
  HpLop *pIn;            /* The input of an output.  NULL: it is an input */
  SrcItem *pItem;        /* SCAN, UNION: the term of FROM.  JOIN: that of the
                         ** driving table */
  Expr *pWhere;          /* An input: the rows for which that is true */
  HpJoin *pJoin;         /* JOIN: its inputs and terms.  Else NULL */
  Select *pSelect;       /* An output: the query.  NULL: UPDATE, DELETE */
  SrcList *pSrc;         /* FILTER: the FROM clause */
  ExprList *pList;       /* What rows are ordered by, or differ in */
  AggInfo *pAggInfo;     /* Aggregates, or NULL */
  KeyInfo *pKeyInfo;     /* GROUP: collation and order of GROUP BY, or NULL */
  int eDest;             /* SORT: SRT_xxx, where the records go */
  const char *zAff;      /* SET: affinities of its columns */
  void *pMore;           /* FILL: HpFillTo */
};

/* SrcItem.hp.eOrder: does the scan that the planner chose give groups in
** order? */
#define HP_ORDER_NONE    0     /* No */
#define HP_ORDER_ROWID   1     /* Yes, of rowids */
#define HP_ORDER_INDEX   2     /* Yes, and it is the scan that is taken over */
#define HP_ORDER_LOOKUP  3     /* Yes, looking up rows: the table is read */
#define HP_ORDER_ROWS    4     /* No, but of rows: likewise */

/* Does SQLite give groups as its scan comes to them? */
#define hpOrderIsGiven(E) ((E)>=HP_ORDER_ROWID && (E)<=HP_ORDER_LOOKUP)

#define HP_MX_TERM   100   /* Most terms of WHERE */
#define HP_MX_REDUCE 16    /* Most HpReduce of a join */

/* HpInput.eJoin: how an input is joined.  hp_lop.c says more */
#define HP_JOIN_DRIVES 0   /* It is scanned */
#define HP_JOIN_INNER  1
#define HP_JOIN_LEFT   2
#define HP_JOIN_SEMI   3
#define HP_JOIN_NONE   4   /* The planner has left it out */
#define HP_JOIN_MARK   5   /* EXISTS as a value: hp_subselect.c */
#define HP_JOIN_SINGLE 6   /* Groups: of a sub-select, or hpInputIsMany() */
#define hpInputIsSub(P) ((P)->eJoin>=HP_JOIN_MARK)
#define hpInputIsMany(P) ((P)->eJoin==HP_JOIN_SINGLE && (P)->pSub==0)

/* Is it GROUP over SCAN, or SCAN alone? */
#define hpInputHasGroups(P) ((P)->eJoin==HP_JOIN_SINGLE || (P)->bSpan)

/* Is it looked up behind those that leave rows out? */
#define hpInputIsLate(P) (hpInputIsSub(P) || (P)->bSpan)

/* An equality by which a row is found */
struct HpEdge {
  Expr *pTerm;           /* pOwn=pOther or the other way round */
  Expr *pOwn;            /* A column of the table */
  Expr *pOther;          /* An expression of other inputs */
  Bitmask m;             /* The inputs that pOther names */
  int iTerm;             /* HpJoin.aTerm[] that it is */
  u8 op;                 /* pOwn op pOther: TK_EQ, or of HpInput.span another */
  u8 aff;                /* Affinity of the comparison */
  CollSeq *pColl;        /* Collation of the comparison */
};

/* An input of a join: a term of FROM, or a correlated sub-select of WHERE */
struct HpInput {
  SrcItem *pItem;        /* The table */
  u8 eJoin;              /* HP_JOIN_xxx */
  u8 bSpan;              /* An EXISTS that has HpInput.span */
  u8 bAll;               /* All its rows are read, so that what fails does */
  int iHome;             /* The input in whose pipe it is looked up */
  int nKey;              /* Number of equalities by which it is looked up */
  HpEdge aKey[HP_MX_EQ];
  HpEdge span;           /* The one comparison that is no equality */
  const Expr *pSub;      /* The sub-select.  NULL: a term of FROM */
  AggInfo *pAggInfo;     /* HP_JOIN_SINGLE: aggregates of the groups */
  int iTwin;             /* The input whose pipe makes its groups, too, or -1 */
  int iAgg;              /* Number of the first of its aggregates in a group */
  int nAgg;              /* Number of aggregates of it and all its twins */
  /* hp_lowerjoin.c has where it is: */
  int iPipe;             /* Its pipe, and the number of its hash table */
  int iScan;             /* The pipe that scans it: iPipe, or the one before */
  Index *pIdx;           /* The index that its pipe scans; NULL: the table */
  int iLookup;           /* In its home: vector of its HP_OP_LOOKUP, or -1 */
  int iRow;              /* In its home: vector of its row's number, or -1 */
  int iKept;             /* Column of its home's hash table with that, or -1 */
  int iOnly;             /* Of twins: vector of its own filters, or -1 */
  HpRelPlan *pWant;      /* The keys that its home wants, or NULL */
};

/* A term of WHERE */
struct HpConjunct {
  Expr *pExpr;
  Bitmask m;             /* The inputs that it names */
  int iOuter;            /* The LEFT JOIN whose ON clause it is in, or the
                         ** sub-select whose WHERE clause; or -1 */
  u8 bImplied;           /* It is part of an OR that is another term */
  u8 bKey;               /* A look-up tests it */
  u8 bFails;             /* It may fail: hp_errors.c */
};

/* Input iIn leaves out rows for which input iRel has no partner by this edge */
struct HpReduce {
  int iIn;
  int iRel;
  HpEdge edge;
};

/* The operator JOIN: its inputs, and the terms that tie them */
struct HpJoin {
  Parse *pParse;
  int nIn;
  int iRoot;             /* The input that is scanned */
  int iNow;              /* The input whose pipe is being compiled */
  int iMany;             /* The input that hpInputIsMany() is true of, or -1 */
  u8 bPart;              /* SQLite tests all terms again: some may be left
                         ** out */
  Bitmask mDone;         /* Inputs whose keys have been found */
  int nPipe;             /* Number of pipes; that of iRoot is the last one */
  u8 aOrder[HP_MX_PIPE]; /* The input of each pipe */
  int nTerm;
  int nReduce;
  HpReduce aReduce[HP_MX_REDUCE];
  HpInput aIn[HP_MX_NODE];
  HpConjunct aTerm[HP_MX_TERM];
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
static u8 hpSafeNumber(const Expr*);
static int hpSafeColl(Parse*, Expr*);
static int hpSafeHasCall(Parse*, Expr*);
static int hpSafe(Parse*, Expr*, ExprList*, int);
static int hpSafeSelect(Parse*, Select*);
static int hpSafeAggregate(sqlite3*, const Expr*);

/* hp_subselect.c */
static int hpSubselectIsTable(const SrcItem*);
static int hpSubselectIsConst(Parse*, Expr*);
static int hpSubselectIsStrict(const Expr*);
static int hpSubselectIsSet(Parse*, const Expr*);
static int hpSubselectAny(Expr*);
static int hpSubselectFind(const HpJoin*, const Expr*);
static int hpSubselectInputs(HpJoin*, Expr*);
static int hpSubselectAggs(const HpInput*);

/* hp_term.c */
static int hpTermInput(const HpJoin*, int);
static int hpTermMask(const HpJoin*, Expr*, Bitmask*);
static int hpTermAdd(HpJoin*, Expr*, u8);
static int hpTermFactor(HpJoin*);
static int hpTermCompare(const HpJoin*, const HpConjunct*, int, int, HpEdge*);
static int hpTermEdge(const HpJoin*, const HpConjunct*, int, int, HpEdge*);
static int hpTermSame(const Expr*, const Expr*);

/* hp_prop.c */
static int hpPropMaySearch(const HpJoin*, int);
static int hpPropFilters(const HpJoin*, int);
static int hpPropIsRowid(const SrcItem*, const Expr*);
static int hpPropOneRow(const HpJoin*, const ExprList*);
static Bitmask hpPropGiven(const HpJoin*, Bitmask, const Expr*, CollSeq*);

/* hp_inputkey.c */
static int hpInputKeyMeet(const HpJoin*, Bitmask);
static void hpInputKeyAll(HpJoin*);

/* hp_many.c */
static void hpManyFind(HpJoin*);
static int hpManyGroups(HpJoin*, AggInfo*, const ExprList*);

/* hp_reduce.c */
static void hpReduceAll(HpJoin*);
static void hpReducePrune(HpJoin*);

/* hp_twin.c */
static void hpTwinAll(HpJoin*);

/* hp_errors.c */
static int hpErrorsKept(HpJoin*);

/* What the query around a SELECT with a window wants of it */
struct HpWanted {
  Expr *pLimit;          /* A parameter: rows with a larger number are not
                         ** wanted.  Or NULL: nLimit is the number */
  int nLimit;            /* To be added to the value of pLimit */
  int nPart;             /* PARTITION BY terms of the window */
  u8 eNumber;            /* HP_NUMBER_xxx: how rows are numbered */
};

/* hp_union.c */
static int hpUnionCount(const SrcItem*);
static Select *hpUnionFirst(const SrcItem*);
static Select *hpUnionNext(const Select*);

/* hp_lop.c */
static void hpLopTree(HpLop*, u8, Select*, HpLop*, SrcItem*, Expr*, HpJoin*);
static SrcItem *hpLopRoot(SrcList*);
static HpJoin *hpLopJoin(Parse*, SrcList*, Expr*, int);
static void hpLopFree(HpJoin*);

/* hp_lopshow.c */
static void hpLopShow(Parse*, const HpLop*);

#endif /* HPLOGIC_H */
#endif /* SQLITE_OMIT_HP */
