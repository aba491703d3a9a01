/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** From a plan to the statement's program, and who offers us a query (prepare
** time).
**
** SQLite calls sqlite3HpXxx() while it codes a statement: before its planner
** has run, after that, and when its loops are coded.  In this order it is
** decided
**
**    1. what is refused at once (sqlite3HpBegin(), hpCodeLoopAccept(), ...)
**    2. what the planner chose,
    and whether a scan may stand for it (hp_choice.c)
**    3. which table drives a join (hp_root.c), and whether its scan is worth it
**       as far as can be told now (hp_worth.c)
**    4. the tree (logic/), the plan (phys/)
**    5. where the program branches to ours: hp_splice.c finds the place,
**       hp_deliver.c codes OP_HpScan and what is done with its rows
**
** Any step may refuse the query.  Then nothing has been coded.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPCODE_H
#define HPCODE_H

/* Loops that SQLite has coded, as hp_splice.c finds them: over a b-tree, or
** over the entries of an index that a search finds */
typedef struct HpScanLoop HpScanLoop;
struct HpScanLoop {
  int iCur;              /* Its cursor; of a search that of the index */
  int iFrom;             /* OP_Rewind; of a search where ours is to begin */
  int iRow;              /* Where the code for a row begins */
  int iNext;             /* OP_Next.  0: not known */
  int iEnd;              /* Behind it, or a label for that */
  u8 bIn;                /* Of a search: a loop over the values of an IN is
                         ** around it, from iFrom to iEnd */
};

/* An output loop behind a sorter */
typedef struct HpSortLoop HpSortLoop;
struct HpSortLoop {
  int iCur;              /* The pseudo-table that it reads */
  int regRecord;         /* The register that has its record */
  int nField;            /* Number of its columns */
  int iRow;              /* Where the code for a record begins */
  int iNext;             /* OP_SorterNext */
  int iEnd;              /* Behind it, or a label for that */
};

/* Where the program branches to ours */
typedef struct HpBranch HpBranch;
struct HpBranch {
  int iFrom;             /* A jump is there ... */
  VdbeOp op;             /* ... in place of this */
  int addrSkip;          /* The jump over our code */
};

/* Where sqlite3Select() takes groups */
typedef struct HpGroupsTo HpGroupsTo;
struct HpGroupsTo {
  int regKey;            /* First register of the GROUP BY terms */
  int regUse;            /* Register: there is a group to output */
  int regAbort;          /* Register: the output wants no more */
  int addrAbort;         /* The program goes on here if it does not */
  int regReturn;         /* Return address of the output subroutine */
  int addrOutput;        /* The output subroutine */
};

/* hp_splice.c */
static int hpSpliceReset(Vdbe*);
static int hpSpliceIsNull(Vdbe*, int);
static int hpSpliceSort(Vdbe*, int, int, int);
static int hpSpliceArms(Vdbe*, const Subquery*);
static int hpSpliceSet(Vdbe*, int);
static int hpSpliceScan(Vdbe*, int, HpScanLoop*);
static int hpSpliceNext(Vdbe*, HpScanLoop*);
static int hpSpliceIn(Vdbe*, const WhereInfo*);
static int hpSpliceSearch(Vdbe*, int, int, HpScanLoop*);
static int hpSpliceSorted(Vdbe*, int, int, HpSortLoop*);
static int hpSpliceUnique(Vdbe*, int);
static HpPlan *hpSplicePlan(Vdbe*, int);
static const char *hpSpliceLine(Vdbe*, int);
static void hpSpliceLineSet(Vdbe*, int, char*);
static void hpSpliceLineDrop(Vdbe*, int);
static void hpSpliceOpen(Vdbe*, int, int);
static void hpSpliceRow(Vdbe*, int, int);
static void hpSpliceBranch(Parse*, HpBranch*, int);
static void hpSpliceRejoin(Parse*, const HpBranch*, int);
static void hpSpliceMove(Parse*, int);
static void hpSpliceDetour(Parse*, HpBranch*, int);
static void hpSpliceReturn(Parse*, const HpBranch*, int);

/* hp_show.c */
static void hpShowPlan(Parse*, HpPlan*);

/* hp_worth.c */
static int hpWorthWasLong(const Vdbe*);
static int hpWorthChildren(BtShared*, Pgno, int, Pgno*);
static int hpWorthMayBeLarge(Btree*, Pgno, int, int);
static int hpWorthMayPay(Parse*, SrcItem*, int);
static int hpWorthIt(Parse*, SrcItem*, int);
static int hpWorthArms(Parse*, const SrcItem*);


/* hp_choice.c */
static int hpChoiceArms(Parse*, const SrcItem*);
static int hpChoiceIsSearch(const WhereInfo*);
static void hpChoiceArm(Parse*, const Select*, WhereInfo*, const SelectDest*);
static void hpChoiceFill(Parse*, const Select*, WhereInfo*, const SelectDest*);
static void hpChoiceNote(WhereInfo*, int, LogEst, u8);


/* hp_root.c */
static HpJoin *hpRootAnyJoin(Parse*, Select*);
static int hpRootChoose(Parse*, Select*, AggInfo*, HpJoin**);


/* hp_explain.c */
static void hpExplain(Parse*, int, int, const SrcList*);
static void hpExplainJoin(Parse*, const HpJoin*);
static void hpExplainSort(Parse*, int);
static void hpExplainFind(Parse*, const HpPlan*, const SrcItem*, int);


/* hp_deliver.c */
static int hpDeliverTask(Parse*, HpPlan*, int, int);
static void hpDeliverAggs(Parse*, HpPlan*, AggInfo*, int);
static void hpDeliverGroups(Parse*, HpPlan*, AggInfo*, int,
                            const HpGroupsTo*);
static void hpDeliverSet(Parse*, HpPlan*, int, int, const SelectDest*);
static void hpDeliverPlaces(Parse*, HpPlan*, const HpScanLoop*);
static void hpDeliverEntries(Parse*, HpPlan*, const HpScanLoop*);
static int hpDeliverRecords(Parse*, HpPlan*, int, Expr*);
static void hpDeliverFind(Parse*, HpPlan*, AggInfo*, int);
static void hpDeliverExists(Parse*, HpPlan*, const HpScanLoop*, int);


/* hp_codegroup.c */
static void hpCodeGroupRow(Parse*, Select*, AggInfo*, int);

/* hp_codeset.c */
static int hpCodeSetAccept(Parse*, const Select*, WhereInfo*, const SelectDest*,
                           int);
static int hpCodeSet(Parse*, Select*, const SelectDest*);

/* hp_codefind.c */
static int hpCodeFindExists(Parse*, Select*, int, int);

/* What is known of a loop whose rows are found piece by piece */
#define HP_LOOP_SOME   0   /* The application may stop after any row */
#define HP_LOOP_ALL    1   /* All rows are asked for */
#define HP_LOOP_WRITES 2   /* And it writes to the row that it is at */

/* hp_codeloop.c */
static int hpCodeLoopAccept(Parse*, WhereInfo*, const Expr*);
static int hpCodeLoopMay(Vdbe*, const WhereInfo*);
static void hpCodeLoop(Parse*, SrcList*, Expr*, int, u8);

#endif /* HPCODE_H */
#endif /* SQLITE_OMIT_HP */
