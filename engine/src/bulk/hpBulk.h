/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Statements that change many rows: the entries of an index in order.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPBULK_H
#define HPBULK_H

/*
** Changes of one index that its b-tree has not seen yet.  Each is an HpPair: a
** normalized key, which ends with a number of HP_SZ_CHANGE bytes, and the
** record.  The number counts changes, twice, plus 1 if the entry is deleted:
** so those of one entry stay in their order, and no two keys are equal.  The
** entries that the b-tree has may be put among them, with number 0.
**
** If entries have to be unique (bUnique), there are insertions alone, and
** behind each record HP_SZ_PREFIX bytes say how much of the key may be there
** once.
*/
#define HP_SZ_CHANGE  4
struct HpDefer {
  HpDefer *pNext;        /* Those of another index of the same owner */
  sqlite3 *db;
  KeyInfo *pInfo;        /* Of the index: what its keys are */
  int nColumn, nKeyCol;  /* Columns of an entry; those that have to be unique */
  VdbeCursor *pCsr;      /* Owned by a statement: its cursor at the index, which
                         ** stands nowhere */
  /* Owned by the connection (hp_pending.c): */
  Btree *pBtree;         /* The database, ... */
  Pgno iRoot;            /* ... and the root page of the index in it */
  u32 nBefore;           /* ... changes before this statement, ... */
  u8 bNever;             /* ... or none waits: they come in order, or most of
                         ** them take back an earlier one; */
  u8 bLooked;            /* ... that is known */
  /* While changes are written: */
  BtCursor *pCur;        /* A cursor at the index */
  Index *pIndex;         /* The index; NULL if the schema has none */
  u32 nCounted;          /* Changes that were counted, those written too */
  u32 nAhead;            /* ... whose key was greater than all before */
  u8 bPart;              /* Deletions name the key columns alone */
  u8 bUnique;            /* Inserted, and whether it is unique is seen when it
                         ** is written */
  i64 nMost;             /* Most bytes: then they are written */
  i64 nByte;             /* Bytes of all changes, with what sorting needs, */
  i64 nRecord;           /* ... and of their records alone */
  HpBuf key;             /* A key that is being made, */
  int nField;            /* ... of so many columns, */
  u32 nPrefix;           /* ... bUnique: so many bytes of it may be there once.
                         ** 0: there is a NULL */
  HpBuf last;            /* ... the greatest one, while their order is of
                         ** interest, */
  HpBuf record;          /* ... and the record of a deletion */
  HpEntryPlan plan;      /* For hp_radix.c: pairs */
  HpRuns run;            /* aSorted: nEntry changes, and room for as many */
};

/* hp_change.c.  So many changes of an index are looked at for their order */
#define HP_DEFER_LOOK  4096
static HpDefer *hpChangeMake(sqlite3*, const Index*, KeyInfo*, i64, int);
static int hpChangeOp(HpDefer*, const VdbeOp*, Mem*);
static int hpChangeIsOrdered(const HpDefer*);
static void hpChangeFree(HpDefer*);
static int hpChangeKey(HpDefer*, const u8*, u32);
static int hpChangePut(HpDefer*, u32, const u8*, u32);
static int hpChangeSort(HpDefer*);
static void hpChangeForget(HpDefer*, u32);
static int hpChangeRepeats(HpDefer*);
static u32 hpChangeNumber(const HpPair*);
static int hpChangeIsSame(const HpPair*, const HpPair*);
static int hpChangeIsTwice(const HpPair*, const HpPair*);
static const u8 *hpChangeEntry(const HpDefer*, const HpPair*, u32*);

/* hp_deferrable.c */
static HpDefer *hpDeferrableNew(Vdbe*, int, int, int);
static Index *hpDeferrableIndex(sqlite3*, int, Pgno);
static int hpDeferrableLooks(const Vdbe*, int, Pgno);
static int hpDeferrableIsShort(const Vdbe*);
static int hpDeferrableIsHooked(const sqlite3*);

/* hp_deferwrite.c */
static int hpDeferWrite(HpDefer*, BtCursor*, Index*);

/* hp_pending.c */
static int hpPendingPut(Vdbe*, const VdbeOp*, Mem*, int*);
static void hpPendingHalt(Vdbe*, int);
static void hpPendingRollback(sqlite3*);

#endif /* HPBULK_H */
#endif /* SQLITE_OMIT_HP */
