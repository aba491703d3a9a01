/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** PRAGMA integrity_check and quick_check on all processors.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPCHECK_H
#define HPCHECK_H

/* Rowids that a page may have: greater than iLow if mOn has bit 1, and not
** greater than iHigh if it has bit 2 */
typedef struct HpTreeBound HpTreeBound;
struct HpTreeBound {
  i64 iLow, iHigh;
  u8 mOn;
};

/* A chain of overflow pages that is to be followed */
typedef struct HpTreeChain HpTreeChain;
struct HpTreeChain {
  Pgno iPg;              /* The first one */
  u32 nPage;             /* So many there are to be */
  Pgno iParent;          /* The page of the b-tree that names the first */
};

/* What it takes to look at pages.  Each worker has one */
typedef struct HpTreeLook HpTreeLook;
struct HpTreeLook {
  const BtShared *pBt;
  u32 nPage;             /* Pages of the file */
  u8 **apMap;            /* auto_vacuum: the pointer maps; or NULL */
  u32 *aRef;             /* A bit for each page: it is in use */
  u64 *aCover;           /* Scratch: a bit for each byte of a page */
  HpTreeChain *aChain;   /* Chains that are still to be followed */
  int nChain, nChainAlloc;
};

/* hp_treepage.c */
static SQLITE_INLINE int hpTreePageRef(HpTreeLook*, Pgno);
static int hpTreePageMap(const HpTreeLook*, Pgno, u8, Pgno);
static int hpTreePageChild(HpTreeLook*, Pgno, Pgno);
static int hpTreePage(HpTreeLook*, Pgno, const u8*, u8, int,
                      const HpTreeBound*);

/* hp_checktask.c */
static int hpCheckTaskRun(Vdbe*, const HpPlan*, const VdbeOp*, Mem*, int*);

#endif /* HPCHECK_H */
#endif /* SQLITE_OMIT_HP */
