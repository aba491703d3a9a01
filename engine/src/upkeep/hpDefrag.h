/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** PRAGMA hp_defrag: where the pages of a file are, and where they are to be.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPDEFRAG_H
#define HPDEFRAG_H

/* What a page is: HpDefrag.aKind[].  Some of it is a flag */
#define HP_DEFRAG_FIXED  1     /* Stays: page 1, a root, a pointer map, ... */
#define HP_DEFRAG_INNER  2     /* Interior page of a b-tree, not its root */
#define HP_DEFRAG_LEAF   3     /* Leaf of a b-tree, not its root */
#define HP_DEFRAG_HEAD   4     /* First page of an overflow chain */
#define HP_DEFRAG_CHAIN  5     /* Another page of one */
#define HP_DEFRAG_TRUNK  6     /* Trunk of the free list */
#define HP_DEFRAG_FREE   7     /* Leaf of the free list */
#define HP_DEFRAG_KIND   7
#define HP_DEFRAG_KEEP   8     /* It is well where it is */
#define HP_DEFRAG_WRONG  16    /* It was not where it is to be */
#define hpDefragIs(P,I)  ((P)->aKind[I] & HP_DEFRAG_KIND)

/* A level on the way down a b-tree */
typedef struct HpDefragLevel HpDefragLevel;
struct HpDefragLevel {
  Pgno iPg;              /* The interior page */
  int iChild;            /* Its child that comes next */
};

/*
** The picture of a file.  A page is called by its number when the picture was
** made (its id), wherever it is now.  All arrays are in one allocation, so
** that whoever has the picture can free it.
*/
struct HpDefrag {
  u32 iVersion;          /* Pager.iDataVersion that this is true for */
  Pgno nPage;            /* Pages of the file */
  u8 eStep;              /* HP_DEFRAG_TREES, ..: what is being done */
  u8 bQuick;             /* Leave out HP_DEFRAG_LEAVES if that may be */
  u8 *aKind;             /* What page id is */
  Pgno *aParent;         /* The id of the page that names it */
  Pgno *aPlace, *aWho;   /* Where page id is; which page is at a place */
  Pgno *aSeq;            /* Pages of b-trees, in the order in which they are */
  Pgno nSeq;             /*   to be.  Roots are not in it */
  Pgno *aNew;            /* The order that is being made from it */
  Pgno nNew;
  Pgno nUnknown;         /* Pages that nobody has named yet */
  Pgno *aRoot;           /* Roots, ... */
  Pgno *aFirst;          /* ... and where in aSeq[] their pages begin */
  int nRoot, iRoot;      /* Their number, and the one that comes next */
  Pgno iTrunk, iPrev;    /* Trunk that comes next, and the one before it */
  HpDefragLevel aLevel[BTCURSOR_MAX_DEPTH];   /* Way to where we are */
  int nLevel, nDepth;    /* Its length, and levels above the leaves */
  u8 eInner;             /* Type of interior pages */
  Pgno nInner;           /* Interior pages so far: aNew[] */
  Pgno iIn;              /* Of aSeq[]: page that comes next */
  int iCell;             /*   its cell that comes next */
  Pgno iChain, nChain;   /*   its chain: last page seen, pages to come */
  Pgno iSeq, iTo;        /* The move that comes next: aSeq[iSeq] goes to iTo */
  Pgno iAsked;           /* Up to here pages have been asked for ahead */
  Pgno nLeft;            /* Pages that are still to be moved */
  Pgno iEnd;             /* No page of a b-tree but roots is behind this one */
  Pgno nFin;             /* So many pages the file will have */
};

/* HpDefrag.eStep */
#define HP_DEFRAG_LIST   0     /* The free list is read */
#define HP_DEFRAG_TREES  1     /* Interior pages are read */
#define HP_DEFRAG_LEAVES 2     /* Leaves are read, for their overflow pages */
#define HP_DEFRAG_PLAN   3     /* Which pages move? */
#define HP_DEFRAG_MOVE   4     /* They do */

/* hp_defragmap.c */
static HpDefrag *hpDefragMapNew(sqlite3*, int, int*);
static int hpDefragMapStep(HpDefrag*, BtShared*);
static void hpDefragMapAhead(HpDefrag*, BtShared*, Pgno);
static int hpDefragMapCell(MemPage*, int, u8**, Pgno*);
static u8 *hpDefragMapChild(MemPage*, int);

#endif /* HPDEFRAG_H */
#endif /* SQLITE_OMIT_HP */
