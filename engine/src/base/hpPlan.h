/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** A plan: what is to be done for a query.  Made by the floor phys, read by
** all others, never changed at run time.
**
**    HpPlan          the query: pipes, run one after the other
**    HpPipePlan      source -> filters and expressions -> sink
**    HpSourcePlan    the b-tree, and the columns of it
**    HpProg          filters, keys, arguments
**    HpGroupPlan, HpSortPlan, HpFindPlan    what the sink needs: one of them
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPPLAN_H
#define HPPLAN_H

#define HP_MX_COL        64    /* Most columns a plan reads */
#define HP_MX_OP         400   /* Most operations of a program */
#define HP_MX_AROUND      120   /* Most sides around an operation */
#define HP_MX_LIST       250   /* Most arguments of an operation */
#define HP_MX_VEC        8000  /* Most vectors (constants and results) */

#define HP_MX_ARG        4     /* Most arguments of an aggregate function */
#define HP_MX_NODE       32    /* Most terms of FROM of a join, and sub-selects */
#define HP_MX_PIPE (2*HP_MX_NODE)  /* Most pipes */
#define HP_MX_HAVING     4     /* Most terms of HAVING that are looked at */

/* A column that the plan reads */
struct HpCol {
  int iStore;            /* Position in the record; -1 for the key of a table */
  u8 bReal;              /* REAL affinity: integers are to be shown as reals */
  u8 bHead;              /* Of a text or a blob only the type is wanted */
  u8 dfltTag;            /* Value if the record is too short: type, ... */
  HpVal dflt;            /* ... value (text is in aDflt), ... */
  u32 nDflt;             /* ... and length */
  u8 *aDflt;             /* Memory for the text, or NULL */
};

/* Operations of a vector program */
#define HP_OP_COLUMN   1   /* out = column a */
#define HP_OP_ARITH    2   /* out = a op b.          op: TK_PLUS ... TK_REM */
#define HP_OP_COMPARE  3   /* out = a op b.          op: TK_NE ... TK_GE, TK_IS */
#define HP_OP_AND      4   /* out = a AND b */
#define HP_OP_OR       5   /* out = a OR b */
#define HP_OP_NOT      6   /* out = NOT a */
#define HP_OP_ISNULL   7   /* out = a IS NULL        op: TK_ISNULL, TK_NOTNULL */
#define HP_OP_IN       8   /* out = a IN (b, b+1, ... b+n-1: constants) */
#define HP_OP_LIKE     9   /* out = b LIKE a         a: constant pattern */
#define HP_OP_TRUTH    10  /* out = a IS [NOT] TRUE/FALSE.  See HpOp.b */
#define HP_OP_BOOL     10  /* Up to here the result is a truth value */
#define HP_OP_BIT      11  /* out = a op b.          op: TK_BITAND ... */
#define HP_OP_BITNOT   12  /* out = ~a */
#define HP_OP_CONCAT   13  /* out = a || b */
#define HP_OP_CAST     14  /* out = CAST(a AS aff) */
#define HP_OP_AFFINITY 15  /* out = a with affinity aff */
#define HP_OP_CASE     16  /* out = arg 1 if arg 0, 3 if 2, ..., else the last */
#define HP_OP_COALESCE 17  /* out = the first arg that is not NULL */
#define HP_OP_FUNC     18  /* out = pInfo(args) */
#define HP_OP_LOOKUP   19  /* out = where relation a has the key args, or 0.
                           ** pInfo: HpLookup.  Without the relation: 1 */
#define HP_OP_ROW      20  /* out = row of relation a, from what _LOOKUP gave */
#define HP_OP_GATHER   21  /* out = column b of relation a, in row arg 0.  op: the
                           ** row may be 0, of NULLs */
#define HP_OP_SET      22  /* out = is arg 0 in set a?  pInfo: HpLookup */

struct HpOp {
  u8 eOp;                /* HP_OP_xxx */
  u8 op;                 /* TK_xxx */
  u8 aff;                /* Affinity of a comparison, SQLITE_AFF_xxx */
  u8 bFilter;            /* Only a filter reads the result: leave it in aBool */
  u8 bUser;              /* Comparison by a collation of the application */
  u8 bConst;             /* Computed once, when the scan begins */
  u8 bOnlyFilters;       /* HP_OP_COLUMN: only filters read it, ... */
  u8 bOnlyKeys;          /* ... or only filters and the keys of groups */
  u8 bSub;               /* HP_OP_FUNC: the result may have a subtype; or
                         ** HP_SUB_DECLINE: and must not */
  u16 iOut;              /* Vector to write */
  u16 a, b;              /* Vectors to read, or a column number.  HP_OP_TRUTH:
                         ** b is what NULL counts as, plus 2 for "not" */
  u16 n;                 /* HP_OP_IN: number of constants.  HP_OP_COMPARE: 0, or
                         ** vector b as text, plus 1.  Else of arguments */
  u16 iArg;              /* Arguments are HpProg.aArg[iArg..iArg+n-1] */
  u8 bSide;              /* HP_OP_AND and _OR, _CASE, _COALESCE: some operand is
                         ** only there where it is needed */
  u16 iSide;             /* Only computed in this side.  0: in all rows */
  CollSeq *pColl;        /* Collation of a comparison; NULL is BINARY */
  void *pInfo;           /* HP_OP_LIKE: struct compareInfo.  _FUNC: FuncDef.
                         ** _LOOKUP: HpLookup */
};
#define HP_NO_VEC 0xffff
#define HP_SUB_DECLINE 2

/*
** A side: operations iFrom to iTo-1 are run only for the rows of the side
** around it that need them.  If there are none, they are not run at all.
** Side 0 is what stands in no side.  Operations of a side are known by the
** first one that selects the same rows (iSame).
*/
typedef struct HpSide HpSide;
struct HpSide {
  u16 iFrom, iTo;
  u16 iSame;             /* First side with these rows */
  u16 iAround;           /* iSame of the side around it */
  u16 nDepth;            /* Sides around it, and itself */
  u8 eNeed;              /* HP_NEED_xxx: rows where that is so ... */
  u16 iArg, n;           /* ... of vectors HpProg.aArg[iArg..iArg+n-1], of
                         ** all */
};
#define HP_NEED_TRUE      0    /* True */
#define HP_NEED_NOT_TRUE  1    /* False or NULL */
#define HP_NEED_NOT_FALSE 2    /* True or NULL */
#define HP_NEED_NULL      3    /* NULL */
#define HP_NEED_FIRST     4    /* The last one true, and none before */

/*
** A vector program.  Operation i reads only vectors of operations before it.
** Equal operations are merged when the program is made.  The operations of
** the first filter come first, then those that only the second filter needs,
** and so on, and last what only keys and arguments need: they run under the
** selection that the filters left.
*/
struct HpProg {
  HpArena *pMem;         /* Memory: that of the plan */
  int nVec;              /* Vectors in all */
  int nOp, nOpAlloc;     /* Operations */
  HpOp *aOp;
  u16 *aArg;             /* Arguments of operations that have a list */
  int nArg, nArgAlloc;
  int nConst;            /* Constants: vectors 0..nConst-1 of aConst */
  int nConstAlloc;
  struct HpConst {
    u16 iVec;              /* Its vector */
    u8 bList;              /* A value of an IN list, which affinity may change */
    int iReg;              /* Register that holds the value */
    Expr *pExpr;           /* Only while the plan is made: what to code */
  } *aConst;
  int nFilter;           /* Conjuncts of WHERE, */
  int nRange;            /* ... of which the first ones are those of pRange */
  int nFilterAlloc;
  struct HpFilter {
    u16 iVec;              /* Its truth value */
    u16 nOp;               /* Operations to have run before it is read */
  } *aFilter;
  int nSide, nSideAlloc; /* Sides, by iFrom, those around others first ... */
  HpSide *aSide;         /* ... aSide[0] is no side; or NULL */
  u16 iSide;             /* While it is made: the side that operations are in */
  u16 mxDepth;           /* Most sides around an operation */
};

/* Aggregate functions */
#define HP_AGG_COUNT   1   /* count(*), count(X) */
#define HP_AGG_SUM     2   /* sum, total, avg: all keep a SumCtx */
#define HP_AGG_MIN     3
#define HP_AGG_MAX     4
#define HP_AGG_CALL    5   /* Others, by their own xStep for each row */
#define HP_AGG_ORDER   6   /* Any with ORDER BY inside: hp_aggorder */
#define HP_AGG_LOG     7   /* One of SQLite's that depends on the order of rows: hp_agglog */

/* A term of such an ORDER BY */
struct HpTerm {
  u16 iVec;              /* Its vector */
  u8 flags;              /* KEYINFO_ORDER_xxx */
  CollSeq *pColl;        /* Its collation, NULL for BINARY */
};

struct HpAggDef {
  u8 eAgg;               /* HP_AGG_xxx */
  u8 bLoad;              /* The min or max whose row the bare columns show */
  u8 bShared;            /* An earlier function keeps the same state */
  u8 bOvrfl;             /* The state, shared or not, is one of some sum() */
  u8 bWeigh;             /* HP_AGG_COUNT: weighted, adds the argument */
  u16 iVec;              /* Argument; HP_NO_VEC: none */
  u16 iFilter;           /* FILTER clause, or HP_NO_VEC */
  u16 iOff;              /* Offset of the state in a group */
  i16 iSet;              /* DISTINCT: number of its set of values; else -1 */
  u8 nArg;               /* HP_AGG_CALL, _ORDER, _LOG: arguments */
  u16 *aArg;             /* ... their vectors */
  u8 bParallel;          /* HP_AGG_ORDER, _LOG: several workers may call the step function */
  int nTerm;             /* HP_AGG_ORDER: terms, ... */
  HpTerm *aTerm;
  u32 szEntry;           /* ... bytes of an entry */
  u8 bSelf;              /* ... the only term is the only argument */
  u8 bUnique;            /* ... of equal ones only the last counts */
  u8 bKeepSub;           /* ... subtypes of arguments are kept */
  FuncDef *pFunc;        /* Stock's function: finishes the state */
  CollSeq *pColl;        /* Collation of min and max, and of DISTINCT */
};

/*
** Bounds of a scan by the key of its b-tree: rowids, or the first columns of an
** index.  They are wider than what the filters say if in doubt.
*/
#define HP_MX_EQ 8       /* Most columns of an index with equality */
#define HP_MX_SMALL 15   /* Most ranges that are not looked at */
#define HP_MX_IN 64      /* Most values of an IN among the equalities */
struct HpRange {
  KeyInfo *pKeyInfo;     /* Order of the index.  NULL: rowids */
  int nSmall;            /* Greater if the last ranges were small */
  int nSkip;             /* Do not look at so many more */
  int nEq;               /* Columns with equality */
  struct HpEnd {
    int iReg;              /* Register of the constant.  0: none */
    u8 aff;                /* Affinity of the comparison */
  } aEq[HP_MX_EQ],       /* Of the first columns */
    aEnd[2];             /* Of the next one: the first key, the last key */
  int nIn;               /* HpPlan.pSearch: so many values, ... */
  int iIn;               /* ... of aEq[iIn], ... */
  int *aInReg;           /* ... in these registers */
};

/* Values of which not all is wanted: HpSourcePlan.eTypeOnly */
#define HP_ONLY_TYPE   1   /* The type or the size */
#define HP_ONLY_LENGTH 2   /* The length: for that of a text all is read */

/* Consecutive fields of the records of a sort */
#define HP_FIELD_NULL  0   /* NULLs: keys that nobody reads */
#define HP_FIELD_VEC   1   /* A vector */
#define HP_FIELD_RAW   2   /* Columns of the table, as they are stored */
#define HP_FIELD_REAL  3   /* A vector of a REAL column: integers as stored */
#define HP_FIELD_WHOLE 5   /* A vector for a REAL column: whole numbers become
                           ** integers, as OP_MakeRecord stores them */
struct HpField {
  u8 eField;             /* HP_FIELD_xxx */
  u16 n;                 /* Fields */
  u16 iVec;              /* HP_FIELD_VEC, _REAL, _WHOLE: the vector */
  int iStore;            /* HP_FIELD_RAW, _REAL: first column of the record, */
  int iCol;              /* ... and of the plan */
};
#define hpFieldIsVec(P) ((P)->eField & 1)

/* Keys of rows: terms of GROUP BY or ORDER BY, columns of DISTINCT */
struct HpKeys {
  int n;
  u16 *aVec;             /* Their vectors */
  CollSeq **aColl;       /* Their collations, NULL for BINARY */
  u8 *aSort;             /* KEYINFO_ORDER_xxx */
};

/* How rows are looked up: by which vectors of a pipe */
struct HpLookup {
  HpKeys keys;           /* The key, in the order of the relation's */
  u8 *aNever;            /* Types that a key must not have: decline */
};

/* A table whose rows are looked up: what is kept of those that pass */
struct HpRelPlan {
  HpLookup key;          /* By what; no two rows have the same, but if bSemi */
  int iRel;              /* Its number: that of its pipe; or HpPipePlan.iWant */
  u8 bSemi;              /* Only asked whether there is a row */
  u8 bWant;              /* It says which keys another relation is to have */
  int nCol, nColAlloc;   /* Columns that are kept */
  u16 *aVec;             /* Their vectors */
};

/* A b-tree to scan, and what is wanted of it */
struct HpSourcePlan {
  const HpSourceType *pType;   /* How it is read */
  int iDb;               /* Database of the table */
  Pgno iRoot;            /* Root page of the b-tree */
  u8 bIndex;             /* It is an index, or a WITHOUT ROWID table */
  u8 bIdxRowid;          /* Column mxCol is the rowid at the end of an entry */
  u8 bRowid;             /* Some column is the rowid */
  int iCsr;              /* hpSetType: the cursor of the table to read */
  u8 bPlaces;            /* Places of rows are wanted: hpFoundPlace() */
  u8 bOrder;             /* Rowids are to be in order, as by a search for them */
  u8 bStored;            /* Values are copied as stored: no columns kept */
  u8 bCached;            /* Prepare time: only look at pages in the cache */
  u8 eTypeOnly;          /* HP_ONLY_xxx: decline values on overflow pages that
                          ** stock may not have to read */
  HpRange *pRange;       /* Bounds of the scan; NULL: all of the b-tree */
  int nCol;              /* Columns used */
  int nColAlloc;         /* Size of aCol */
  HpCol *aCol;
  int mxCol;             /* Largest HpCol.iStore; -1: none */
};

/* ORDER BY and LIMIT: which groups are wanted */
struct HpTopAgg {
  int iLimitReg;         /* Register of LIMIT plus OFFSET; 0: all groups are wanted */
  int iAgg;              /* The first ones by this aggregate, ... */
  u8 bDesc;              /* ... or the last ones.  iAgg<0: the first ones by key */
  u8 bKeys;              /* Among equal ones, the first ones by key */
};

/*
** What the entries of sorted runs are (HpRuns): groups, rows to be sorted, or
** pairs of a key and a record (HpPair).
*/
struct HpEntryPlan {
  const HpEntryType *pType;  /* What entries are beside keys and records.  NULL:
                         ** no more than that */
  int szEntry;           /* Bytes of an entry.  Its key record is elsewhere */
  u16 iHeadOff;          /* Offset of HpHead in it */
  u8 bRows;              /* Entries of equal keys stay apart */
  u8 bWhole;             /* They are pairs */
  u8 bIntKey;            /* One key, which may be an integer: HpPack at offset 0
                         ** stands for the key record */
  u8 eSort;              /* bIntKey: its order, KEYINFO_ORDER_xxx */
};

/*
** Groups and their aggregates; and so what an entry of HpRuns is: rows to be
** sorted are entries without aggregates.
*/
struct HpGroupPlan {
  HpEntryPlan entry;     /* What sorted runs have to know of a group.  The first
                         ** member: hpGroupOf() */
  HpKeys keys;           /* GROUP BY terms; none: one group, always there.  Of rows:
                         ** ORDER BY terms */
  int nAgg;              /* Aggregate functions */
  int nSet;              /* Those of them with DISTINCT */
  int nLate;             /* Those of them with eAgg>=HP_AGG_ORDER */
  HpAggDef *aAgg;
  int nBare;             /* Columns outside of aggregate functions */
  struct HpBare {
    u16 iVec;              /* Vector */
    i16 iKey;              /* The key that shows the same, or -1 */
    u16 iOff;              /* Offset of the copy in a group, if iKey<0 */
    i16 iRel;              /* If not -1: the vector has rows of this relation, ... */
    u16 iRelCol;           /* ... of which this column is shown in the end */
  } *aBare;
  int nHaving;           /* Terms of HAVING that groups can be tested by */
  struct HpHaving {
    u8 op;                 /* TK_NE ... TK_GE: function op constant */
    u16 iAgg;              /* Count, sum, total or avg */
    u16 iVec;              /* The constant */
  } aHaving[HP_MX_HAVING];
  HpGroupPlan *pNext;    /* The groups of the next arm: laid out alike */
  HpTopAgg top;          /* The groups that are wanted */
  u8 bInOrder;           /* The index gives the groups in order */
  u8 bLoadFirst;         /* Bare columns show the first row of the group */
  u8 bKept;              /* Groups hold values with memory of their own: HpKept */
  u8 bOpaque;            /* Groups hold states that cannot be spilled */
  u8 bStream;            /* Stock reads a group when it is asked for it */
  u8 bNoSort;            /* ... or does not sort rows for other reasons */
  u8 bAnyOrder;          /* Rows are not read in the order that stock reads them
                         ** in: decline if some sum depends on that, or if equal
                         ** values are not alike (hpAggAlike()) */
  u8 bAlike;             /* Keys are shown by any row: decline if equal ones are not alike */
  int iKeyReg;           /* First register of the keys; 0 if there are none */
  int iBareReg;          /* First register of bare columns */
  int iFuncReg;          /* First register of aggregate functions */
};

/* Rows in some order, as records of a sorter */
struct HpSortPlan {
  HpGroupPlan row;       /* A row: HpHead, its key, its record */
  int nField;            /* What the records are made of */
  HpField *aField;
  int nNested;           /* The record is a blob after so many NULLs, one for each ORDER BY
                         ** term.  0: it is not */
  u8 bPrefix;            /* Of each row it is kept how many bytes the ... */
  int nPrefix;           /* ... first so many terms of its key take */
  u8 eNumber;            /* pPart: HP_NUMBER_xxx */
  HpGroupPlan *pPart;    /* Not NULL: only the first rows of each partition are
                         ** wanted.  Its groups are the partitions */
  int nLimit;            /* pPart: so many rows, ... */
  int iLimitReg;         /* ... and what this register says, or 0 */
};

/* Rows that fill a table, as records in the order of the scan */
typedef struct HpFillPlan HpFillPlan;
struct HpFillPlan {
  HpSortPlan rows;       /* The records: without keys */
  u16 iKey;              /* Vector of the rowids.  HP_NO_VEC: 1, 2, 3 ... */
  u8 bCount;             /* They count as changes */
  int nNotNull;          /* So many vectors must not be NULL: */
  u16 *aNotNull;
};

/* Places of rows: the first ones of an order, or of each combination of values */
struct HpFindPlan {
  HpKeys keys;           /* ORDER BY terms; columns */
  int iLimitReg;         /* Register of LIMIT plus OFFSET */
  u8 bPieces;            /* The table is scanned piece by piece: hp_piece.c */
  u8 bAll;               /* bPieces: all rows are asked for */
  u8 bByRowid;           /* Rows are found again by rowid: the loop writes to them */
  const HpRange *pRange; /* The loop searches an index for this: hp_entry.c.  Or NULL */
  int nTie;              /* ... and the last so many keys are columns of the index */
  int iCur, iIdxCur;     /* ... by cursor iIdxCur, and iCur is that of the table */
};

/* Rows in key order, of which it is counted how often prefixes change */
struct HpPrefixPlan {
  HpKeys keys;
  u8 bUnique;            /* There is one key, and only NULLs are equal */
  int nCol, nKeyCol;     /* What stat_init() is told of the index */
};

/* Whether a table is sound, and each row in its indexes: hp_checkrows.c */
typedef struct HpCheckPlan HpCheckPlan;
struct HpCheckPlan {
  int nType;             /* Columns that may not have values of all types */
  struct HpCheckType {
    u16 iVec;              /* The column */
    u8 mBad;               /* HP_xxx that it may not have */
    u8 bNumber;            /* ... text, only if it could be a number */
    u8 bComputed;          /* It is not stored */
  } *aType;
  int nTrue;             /* CHECK constraints: not false */
  u16 *aTrue;
  int nSlot;             /* Vectors that entries of indexes consist of */
  struct HpCheckSlot {
    u16 iVec;
    u8 bReal;              /* A REAL column of the table: see hp_checkplan.c */
  } *aSlot;
  int nSum;              /* Indexes whose entries are added up */
  struct HpCheckIndex {
    int iSum;              /* Its HpCheckSum, of the table or of the index */
    u16 iWhere;            /* Rows that have an entry, or HP_NO_VEC: all */
    int n;                 /* Columns of an entry, ... */
    u8 *aiSlot;            /* ... each a slot */
  } *aSum;
  HpKeys order;          /* Rows come strictly in this order.  n==0: in any */
  int nUnique;           /* No two agree in so many columns of it without NULL.
                         ** 0: they may */
  u8 bOwn;               /* It scans the index that aSum[0] is about */
  u8 bShort;             /* Entries may lack columns: these have no type */
};

/* HpPipePlan.eWant: what is the key? */
#define HP_WANT_KEY    1   /* Texts, or several columns */
#define HP_WANT_NUMBER 2   /* A column of numbers */
#define HP_WANT_ROWID  3   /* The rowid: leaves are chosen by it */

/* HpPipePlan.eEach: what does SQLite do for each row around a sub-select? */
#define HP_EACH_SCAN   1   /* Read all of it */
#define HP_EACH_SEARCH 2   /* Search an index */
#define HP_EACH_JOIN   3   /* Join: it goes through all partners, ... */
#define HP_EACH_BUILD  4   /* ... by an index that it makes first */
#define hpEachIsJoin(P) ((P)->eEach>=HP_EACH_JOIN)

/* From a source to a sink */
struct HpPipePlan {
  HpSourcePlan source;
  HpProg prog;           /* Filters, keys, arguments */
  const HpSinkType *pSink;   /* What is done with the rows that pass */
  HpGroupPlan *pGroup;   /* What the sink needs: groups, ... */
  HpSortPlan *pSort;     /* ... sorted records, ... */
  HpFillPlan *pFill;     /* ... or, with it, what fills a table, ... */
  HpFindPlan *pFind;     /* ... places, ... */
  HpRelPlan *pRel;       /* ... a relation, ... */
  HpCheckPlan *pCheck;   /* ... what rows have to be like, ... */
  HpPrefixPlan *pPrefix; /* ... or prefixes of keys.  None: no row may pass */
  int nOwn;              /* The first so many filters are about its own rows only */
  int nWant;             /* Relations whose keys depend on these rows only.  Of each
                         ** aWant[] is the relation of the keys that are wanted; ... */
  int nWantAlloc;
  HpRelPlan **aWant;
  int nWantOp;           /* ... so many operations give all of them */
  int nLook;             /* The first so many filters do not need sub-selects.  Of these
                         ** aSubWant[] is the relation of the keys wanted, ... */
  int nSubWant, nSubWantAlloc;
  HpRelPlan **aSubWant;
  int nSubWantOp;        /* ... which so many operations give */
  u8 eWant;              /* HP_WANT_xxx: by what the first filter looks itself up in
                         ** such a relation, if there is one, ... */
  int iWant;             /* ... of this number */
  u8 eEach;              /* Of a sub-select, or groups of a join: HP_EACH_xxx, ... */
  u8 nEach;              /* ... so many have these groups, ... */
  int iAround;           /* ... and the pipe that looks it up */
  HpRelPlan *pProbe;     /* HP_EACH_SCAN that ends with the first partner: a relation of
                         ** its keys, with which hp_gate.c sees how soon.  Or NULL */
  u8 bIndexed;           /* Of a join's root: something is looked up by an index */
  u8 bConstant;          /* ... some filter names no column */
  u8 bSerial;            /* One worker: application code, or scan order */
  u8 bMore;              /* Rows of the next pipe go to its groups, too, ... */
  u8 bAdds;              /* ... and its rows to those of the pipe before: hp_union.c */
  u8 bUser;              /* Application code is called */
  u8 bDeep;              /* Functions that may need a large stack are called */
};

/* The groups of a correlated sub-select: found by what is outside of it */
typedef struct HpKeyed HpKeyed;
struct HpKeyed {
  int nKey;              /* Keys, ... */
  struct HpKeyedBy {
    Expr *pExpr, *pOwn;    /* Only while the plan is made: the outer side, the inner */
    u8 aff;                /* Affinity of the comparison */
    u8 bNull;              /* NULL equals NULL: IS */
  } aKey[HP_MX_EQ];      /* ... in the order of HpGroupPlan.keys */
  int iExistsReg;        /* EXISTS: register of the result, else 0 */
};

/* A set of IN (SELECT ...): a pipe that makes a relation of it */
#define HP_MX_SET 4
typedef struct HpSetPlan HpSetPlan;
struct HpSetPlan {
  HpPipePlan pipe;
  Expr *pExpr;           /* Only while the plan is made: the IN */
};

/* What to do for a query.  Owned by P4 of OP_HpScan, read-only at run time but for
** what is kept from one execution to the next: the last four fields */
struct HpPlan {
  HpArena mem;           /* The memory of the plan, itself included */
  int nPipe;             /* Pipes, in the order in which they run */
  HpPipePlan *aPipe;     /* All but the last one make relations; that delivers.  Or
                         ** they are arms of one UNION ALL: hpPlanIsArms() */
  int nSet;              /* Sets, which are read before all pipes */
  HpSetPlan *aSet;
  HpSourcePlan *pSearch; /* SQLite searches this range of an index, and looks up the rows of
                         ** the table that is scanned.  Else NULL */
  u8 bNarrow;            /* ... but of entries that it finds to matter, it cannot be told how many */
  HpKeyed *pKeyed;       /* OP_HpFind: how groups are found.  Else NULL */
  LogEst nStock;         /* A join whose root is not stock's outermost loop: what the
                         ** planner thinks stock's loops cost.  Else 0 */
  LogEst nStockRow;      /* ... if the table at this root, which that loop scans, has so
                         ** many rows; 0: it knows how many */
  Pgno iStockRoot;
  u8 bSought;            /* SQLite may search the table that is scanned */
  int iLoop;             /* SQLite's loops begin at this instruction, ... */
  int iLoopEnd;          /* ... and this one is behind them.  0: they are not given up */
  u8 bGuess;             /* nStock says little; of OP_HpFind, SQLite searches an index */
  /* OP_HpTask: what is done.  Else NULL */
  int (*xTask)(Vdbe*, const HpPlan*, const VdbeOp*, Mem*, int*);
  u8 bNumber;            /* ... hp_copy.c: rows get new rowids, ... */
  u8 bCounted;           /* ... and each entry is a row that changes() counts */
  /* Written while the statement runs, by the thread that steps it: */
  int nLost;             /* A join: number of executions to skip next time */
  int nSkip;             /* Number of executions to skip now: hp_gate.c */
  i64 tFind;             /* OP_HpFind: when it came there first:
                         ** hpRaceClock() */
  double rFind;          /* Nanoseconds that it takes to make its groups */
  HpProgress progress;   /* How far the loops around it are */
  u8 bClose;             /* SQLite's loops won a race by little: hp_race.c */
  u32 iLate;             /* SQLite's loops have been given up in this execution, by its number:
                         ** hpRaceWasLost().  0: in none */
};
#define hpPlanLast(P) (&(P)->aPipe[(P)->nPipe-1])
#define hpPlanIsArms(P) (hpPlanLast(P)->bAdds)
#define hpPlanIsJoin(P) ((P)->nPipe>1 && !hpPlanIsArms(P))

/* Window functions that number the rows of a partition: HpSortPlan.eNumber */
#define HP_NUMBER_ROWS  1      /* row_number() */
#define HP_NUMBER_RANK  2      /* rank() */
#define HP_NUMBER_DENSE 3      /* dense_rank() */

#endif /* HPPLAN_H */
#endif /* SQLITE_OMIT_HP */
