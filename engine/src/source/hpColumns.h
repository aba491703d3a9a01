/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Columns in memory: the structures that hp_columns.c, hp_columnrun.c,
** hp_columnfile.c and hp_columnscan.c share.  To all others they are opaque.
**
**    HpColumnFile  ->  HpColumnRun, by the first leaf of each
**        |                 |-- HpColumnSet, one a column
**        |                 |       `-- HpSegment, one a batch
**        |                 `-- number, rows and staleness of each leaf
**        |-- HpColumnInner, by the number of a page above leaves
**        `-- HpSlab, the memory of segments
**
**    HpColumnScan: one scan, and the state of the file that it reads
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPCOLUMNS_H
#define HPCOLUMNS_H

#ifdef HP_SHARED

#define HP_MIN_SLAB  16384     /* Least bytes of a slab, ... */
#define HP_MX_SLAB   (8*1024*1024-4096)    /* ... and most: a mapping of whole
                               ** huge pages */
#define HP_SLAB_SHARE 128      /* It has such a part of the bytes of the file */
#define HP_SLAB_LARGE 16       /* What is larger than such a part of a slab lies
                               ** in none */
#define HP_SOME      3         /* One run in so many is kept at first */
#define HP_UNUSED    8         /* Scans that pass over a run before it may go */
#define HP_IDLE      64        /* Scans of others after which a file is idle */
#define HP_TINY      60000     /* columns=tiny: bytes of runs of a file */
#define HP_INNERS    256       /* Slots of pages above leaves */
#define HP_NOTES     1024      /* Columns noted, a power of two */
#define HP_MX_WAIT   64        /* Most scans of one state that are waited for */
#define HP_MX_STALE  4         /* A run is dropped when a leaf in so many has
                               ** changed */
#define HP_PAYS      3         /* To keep a run takes as long as so many finds
                               ** save */

/* A run of leaves */
struct HpColumnRun {
  HpColumnRun *pNext;    /* In a slot of the hash table, or of those dropped */
  u64 iBorn;             /* State of the file that it was read in */
  u32 iUsed;             /* HpColumnFile.iScan when it was used last */
  Pgno iFirst;           /* Its first leaf, ... */
  Pgno iMin, iMax;       /* ... the smallest and the largest */
  i64 nByte;             /* Bytes of all of it, ... */
  i64 nSegment;          /* ... and of its segments, which other runs may have,
                         ** too */
  int nChunk;            /* Batches */
  u16 *anRow;            /* Rows of each */
  int nCol;              /* Columns */
  struct HpColumnSet *aCol;
  struct HpColumnArray *pArray;  /* Memory of their arrays of segments */
  u8 bSound;             /* Each record is sound: hpRecordIsSound() */
  u8 bWhole;             /* It is a whole unit */
  Pgno iInner;           /* Its leaves are children of this page, from ... */
  int iChild;            /* ... this one on: ... */
  u64 iInnerBorn;        /* ... from this state on, ... */
  u64 iInnerStale;       /* ... and before this one, in which the page has
                         ** changed, unless 0 */
  int nPage;
  int nStale;            /* Leaves that have changed since */
  u32 nTaken;            /* How often it was taken when there were such
                         ** leaves */
  u8 bIndex;             /* Its leaves are those of an index */
  u64 *aStale;           /* The state in which each leaf has changed.  0: it has
                         ** not */
  Pgno *aPg;             /* Its number */
  u32 *aRow;             /* Rows up to its end */
};

/* Pointers to the segments of some columns of a run, column by column */
struct HpColumnArray {
  struct HpColumnArray *pNext;
  HpSegment *apSeg[1];
};

/* What is kept of a file.  Fields marked (m) are protected by
** SQLITE_MUTEX_STATIC_LRU, and those from iScan on by pMutex. */
typedef struct HpColumnFile HpColumnFile;
struct HpColumnFile {
  HpFileState *pState;   /* The file, and what has changed */
  sqlite3_mutex *pMutex; /* That of pState */
  HpColumnFile *pNext, *pPrev;   /* (m) In hpColumnFileList */
  int nRef;              /* (m) Pagers and scans that use it */
  u32 iClock;            /* hpColumnFileClock when it was scanned last.
                         ** Atomic */
  u32 iScan;             /* Scans so far, ... */
  u32 iReset;            /* ... and when all runs were dropped */
  u32 nWait;             /* Keep nothing in so many scans after that */
  i64 nKept, nFound;     /* Runs kept, and runs found, since then */
  i64 nByte;             /* Bytes of runs, and of slabs, ... */
  i64 nSlab;             /* ... of slabs, ... */
  i64 nInSlab;           /* ... and of the segments of runs in them */
  int nScan;             /* Scans that run */
  u32 nSlot, nRun;       /* Hash table of runs by their first leaf */
  HpColumnRun **apRun;
  HpColumnInner *apInner[HP_INNERS];  /* Hash table of the pages above by their
                                      ** number */
  HpSlab *pSlab;         /* Slabs that are not full, and that no scan has */
  HpColumnRun *pDead;    /* Runs, ... */
  HpColumnInner *pDeadInner;   /* ... and such pages, to be freed when no scan
                               ** runs */
  u64 aNote[HP_NOTES];   /* Columns that have been read, or 0, ... */
  u8 aTimes[HP_NOTES];   /* ... and how often: 3 if more often */
};

/* A scan that uses columns */
struct HpColumnScan {
  HpColumnFile *pFile;
  const HpSourcePlan *pPlan;
  u64 iState;            /* What it reads */
  i64 nLimit;            /* Bytes that the file's runs may take, if it adds to
                         ** them */
  u8 bCount;             /* It only wants the number of rows */
  u8 bKeep;              /* Some column is to be kept, and there is memory */
  u8 bSome;              /* ... of every HP_SOME-th run */
  u8 bSound;             /* Records have to be sound */
  u8 bShort;             /* What there may be for all files is used up */
  u8 aKeep[HP_MX_COL];   /* Which columns */
  i64 szSlab;            /* Bytes of a new slab */
  HpSlab *pSlab;         /* Slabs that its workers have, or had */
};

#endif /* HP_SHARED */
#endif /* HPCOLUMNS_H */
#endif /* SQLITE_OMIT_HP */
