/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** A scan of the leaves of a b-tree: the structure that hp_descent.c, hp_walk.c,
** hp_leafahead.c, hp_leafread.c, hp_source.c and hp_size.c share.  Others look
** at the number of leaves (nLeaf, nTaken), szPage and bWay, and change nothing.
**
** A scan has a way from the root to the leaf that comes next: for each level of
** interior pages the page, and the children in it that are still to be visited.
** Where it says what is ahead it has a second one.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPSCAN_H
#define HPSCAN_H

/* In HpRun.aFrame: the leaf is in memory already */
#define HP_FRAME_HERE 0xffffffff

/* Most leaves asked for ahead */
#define HP_AHEAD_LEAVES   512

struct HpSource {
  BtShared *pBt;         /* The b-tree's file */
  Pager *pPager;         /* Its pager */
  int szPage;            /* Bytes a page */
  u8 bDirect;            /* Way 1 or 2; otherwise way 3 */
  u8 bWal;               /* Some leaves may be in the WAL */
  u8 bDirty;             /* bDirect: some may be newer in the page cache */
  u8 bRootLeaf;          /* The root is the only leaf.  2: it has been read */
  u8 bIndex;             /* The b-tree of an index */
  u8 bCached;            /* Only look at pages in the cache */
  u8 bKept;              /* Columns of the run before were in memory, or of
                         ** most of its leaves */
  HpColumnScan *pColumns;  /* Columns in memory, or NULL: only leaves */
  HpArena *pCopy;        /* Memory for copies of interior pages, or NULL */
  u8 bOrder;             /* Rowids are to be in order */
  u8 bWay;               /* Keep the ways to all runs: */
  u16 *aWay;             /* the number of a child for each level and run */
  i64 nWayAlloc;         /* Entries allocated */
  int nLevel;            /* Interior levels */
  i64 nLeaf;             /* About so many leaves in all */
  int nUnit;             /* Leaves under one page are cut into runs of so
                         ** many */
  int nMax;              /* Most leaves a run, if they are read: its memory */
  HpPart *pPart;         /* Only these leaves, or NULL: all */
  int iThin, nThin;      /* A sample: after a leaf go on by so many at this
                         ** level */
  const HpBits *pWanted; /* Only rows with these rowids.  Or NULL */
  i64 iPassed;           /* Leaves up to this rowid have been passed */
  int rc;                /* Taking a run failed: there are no more */
  u32 iSeq;              /* Number of the next run */
  Pgno iRoot;            /* Root page */
  i64 nTaken;            /* Leaves taken so far, */
  i64 nChain;            /* and overflow pages read of their rows */
  int bCold;             /* Ask for leaves ahead.  Atomic */
  i64 nAsked;            /* Leaves before this one have been asked for */
  Pgno iLast;            /* The leaf taken last, */
  int nInOrder;          /* and how many before it were in the file's order */
  Pgno iLastAsked;       /* The same of the leaf before nAsked */
  int nAskedInOrder;
  struct HpLevel *aAhead;  /* The way to the next one, or NULL: never ask */
  struct HpLevel {       /* The way from the root to the current leaves */
    Pgno iPg;              /* Interior page, or 0 */
    DbPage *pDb;           /* It is referenced, or ... */
    u8 *aCopy;             /* ... copied to here, or ... */
    const HpColumnInner *pKnown;  /* ... has not been read: hpWalkKnown() */
    HpInner in;            /* What it holds */
    int iChild;            /* Next child to visit */
    int iLast;             /* Last child to visit */
    u8 bEnd;               /* It stands on the way to the last leaf */
  } aLevel[BTCURSOR_MAX_DEPTH];
  int nEnd;              /* Entries of aEnd.  0: the scan ends with the tree */
  int aEnd[BTCURSOR_MAX_DEPTH];  /* Children on the way to the last leaf */
};

#endif /* HPSCAN_H */
#endif /* SQLITE_OMIT_HP */
