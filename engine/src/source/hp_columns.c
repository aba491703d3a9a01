/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_columns: columns of leaf pages that the connections of a process share.
**
** A scan copies each leaf out of the file, finds its cells, and decodes the columns
** that are wanted.  What has been decoded may stay in memory, as segments
** (hp_segment.c), for the scans that come after.  The file remains the truth.
**
**    hpColumnsOpen()     A scan begins: may it use columns, and of which state?
**    hpColumnsInner(), hpColumnsInnerAdd()   What is known of a page above leaves.
**    hpColumnsQuick()    Columns of a run that it is about to take, ...
**    hpColumnsNext()     ... and of those after it.
**    hpColumnsFind()     Columns of the run of leaves that it has just taken.
**    hpColumnsRows()     Rows of one of its batches.
**    hpColumnsLeafRows(), hpColumnsChunks()   Rows of one of its leaves; how many batches.
**    hpColumnsInOrder()  Are its rowids in order, as a range of rowids wants them?
**    hpColumnsSets()     Its columns, those that the scan does not read, too.
**    hpColumnsMended()   Leaves of it that had changed have been read (hp_mend.c).
**    hpColumnsWanted()   Is this column to be kept?
**    hpColumnsSlab(), hpColumnsSlabMost()   Memory for its segments.
**    hpColumnsAdd()      Columns of a run that it has read.
**    hpColumnsPlace()    The place of a row of a run (hp_place.c).
**    hpColumnsClose()    The scan ends.
**    hpColumnsSeemKept() Before there is a scan: will it find its columns?
**    sqlite3HpWalBegun()     The WAL is begun anew by this process.
**    sqlite3HpCommitBegin()  With a journal: pages are about to be written, ...
**    sqlite3HpCommitEnd()    ... and that was committed, or not.
**    sqlite3HpCacheLeave()   Memory is to be given back, or the pager is closed.
**    sqlite3HpCacheForget()  SQLITE_FCNTL_RESET_CACHE; the pager leaves WAL mode.
**
** What is kept.  The unit is a whole run: up to HP_RUN_BYTES of leaves of a table under one
** interior page, from a child on whose number is a multiple (hp_source.c).  A scan that begins
** or ends within a unit finds its part of it.
** A run is known by the numbers of its leaves, and by nothing else: what a
** segment holds depends on the bytes of these leaves, and on the place of the column in
** their records.  Interior pages are read by each scan, from its own state of the file,
** so it does not matter what became of the tree above, nor whose table it is.  Where neither a leaf
** nor the page above has changed since, the number of the first leaf says which the others are; and
** the numbers of the first leaves under a page are kept, too (HpColumnInner), so that it need not be
** read.  Values
** that lie on overflow pages, or are missing at the end of a record, are not in the leaf:
** such a column of a run is not kept.
**
** Which state.  States of the file are numbered (HpColumnFile.iNow).  A run is true of
** the state that it was read in (iBorn) and of all later ones, but for leaves that have
** changed (aStale).  A scan of state V uses runs with iBorn<=V.  If leaves are stale by then it
** reads these, and puts their values into a copy of the run, for all columns that are kept
** (hp_mend.c).  The copy takes the run's place, if V is the newest state, and has segments in
** common with it.  A run is dropped when a fourth of its leaves are stale, since to read it again
** would take as long.
** How a scan learns of its state, and of what has changed:
**
**   1.  With a rollback journal, from what SQLite itself goes by when it keeps the pages
**       in its cache: the 16 bytes of page 1 with the change counter (Pager.dbFileVers).
**       If they are others than last time all runs are dropped.  But a connection of this
**       process notes the pages that it commits (sqlite3HpCommitBegin(), _End()), so that the
**       next scan knows which ones have changed.  While a scan reads, its shared lock keeps
**       the file in one state.
**   2.  With a WAL, by the salts and the number of frames that the transaction sees.  Each
**       frame is a state.  The pages of frames that have come since are listed in the
**       wal-index, and become stale.  Checkpoints change nothing.  When the WAL is
**       begun anew by this process (sqlite3HpWalBegun()) the numbers go on.  When another
**       one has done that, which new salts tell, they go on if the wal-index has counted as
**       many commits since as the new WAL has; else some were missed, and all runs are
**       dropped.  A transaction
**       that sees fewer frames, because it has begun before, is of an earlier state.
**
** A transaction that has written, or may, uses no columns and keeps none: what it sees is
** no state of the file.
**
** Where only the number of rows is asked for that is kept, without columns; of an index, too.
**
** When.  A column is kept when it is read again (HpColumnFile.aNote): of every third run
** the second time, of the others the third time.  A program that asks once pays for a look
** at that.  To keep a run costs a part of what it costs to scan it, so it must pay: where most runs
** had to be dropped before they had been found HP_PAYS times, more and more scans are waited
** for that drop nothing (nWait).  So a program pays once or twice if another process writes
** between its scans, with a rollback journal.
**
** Bounds.  Where hp_store.c may keep no pages there are no columns (hpStoreAllowed()), and
** both have one account (hpBudgetKeep()).  PRAGMA hp_columns may set less for what the
** scans of a connection add to.  When there is no more room, runs go that HP_UNUSED scans of
** the file have passed over; if there are none, nothing more is kept.
**
** Segments lie in slabs (hp_slab.c), of which each worker has one at a time, and the scans that
** come after go on with those that are not full.  Those that go leave holes until their neighbours
** go, too.  So it is whole slabs that count as kept, and where there is no room, and most of what is
** kept are holes, all runs are dropped.  Segments that are mended have memory of their own.
**
** Threads.  A file has a mutex, held to take a run and to add one, never while values are
** read.  What is dropped while scans run is freed when the last of them ends.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

#define HP_MIN_SLAB  16384     /* Least bytes of a slab, ... */
#define HP_MX_SLAB   (8*1024*1024-4096)    /* ... and most: a mapping of whole huge pages */
#define HP_SLAB_SHARE 128      /* It has such a part of the bytes of the file */
#define HP_SLAB_LARGE 16       /* What is larger than such a part of a slab lies in none */
#define HP_SOME      3         /* One run in so many is kept at first */
#define HP_UNUSED    8         /* Scans that pass over a run before it may go */
#define HP_TINY      60000     /* columns=tiny: bytes that runs of a file may take */
#define HP_INNERS    256       /* Slots of pages above leaves */
#define HP_NOTES     1024      /* Columns noted, a power of two */
#define HP_MX_FRAMES 1000000   /* Frames since the last scan that are looked at */
#define HP_MX_PAGES  1000000   /* Pages of commits since the last scan that are noted */
#define HP_MX_HEADERS 4096     /* Frames whose headers are read to count commits */
#define HP_MX_WAIT   64        /* Most scans of one state that are waited for */
#define HP_MX_STALE  4         /* A run is dropped when a leaf in so many has changed */
#define HP_PAYS      3         /* To keep a run takes as long as so many finds save */

/* Values of HpColumnFile.eMode */
#define HP_STATE_NONE     0    /* No state is known: there are no runs */
#define HP_STATE_JOURNAL  1
#define HP_STATE_WAL      2

/* A run of leaves */
struct HpColumnRun {
  HpColumnRun *pNext;    /* In a slot of the hash table, or of those dropped */
  u64 iBorn;             /* State of the file that it was read in */
  u32 iUsed;             /* HpColumnFile.iScan when it was used last */
  Pgno iFirst;           /* Its first leaf, ... */
  Pgno iMin, iMax;       /* ... the smallest and the largest */
  i64 nByte;             /* Bytes of all of it, ... */
  i64 nSegment;          /* ... and of its segments, which other runs may have, too */
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
  u64 iInnerStale;       /* ... and before this one, in which the page has changed, unless 0 */
  int nPage;
  int nStale;            /* Leaves that have changed since */
  u32 nTaken;            /* How often it was taken when there were such leaves */
  u8 bIndex;             /* Its leaves are those of an index */
  u64 *aStale;           /* The state in which each leaf has changed.  0: it has not */
  Pgno *aPg;             /* Its number */
  u32 *aRow;             /* Rows up to its end */
};

/* Pointers to the segments of some columns of a run, column by column */
struct HpColumnArray {
  struct HpColumnArray *pNext;
  HpSegment *apSeg[1];
};

/* What is kept of a file.  Fields marked (m) are protected by SQLITE_MUTEX_STATIC_LRU,
** and those from eMode on by pMutex. */
typedef struct HpColumnFile HpColumnFile;
struct HpColumnFile {
  unixInodeInfo *pInode; /* The file.  It is open as long as nRef>0 */
  HpColumnFile *pNext;   /* (m) In hpColumnsList */
  int nRef;              /* (m) Pagers and scans that use it */
  int bJoin;             /* (m) It is in hpColumnsList */
  sqlite3_mutex *pMutex;
  u8 eMode;              /* HP_STATE_xxx */
  u8 aVers[16];          /* _JOURNAL: Pager.dbFileVers, with ... */
  struct HpColumnPages {
    Pgno *a;
    int n, nAlloc;
  } changed, commit;     /* ... these pages changed since iNow, and those of a commit */
  u8 bCommit;            /* It has begun: if it is made these have changed, and no others */
  u32 aSalt[2];          /* _WAL: salts, ... */
  u32 mxFrame;           /* ... and the last frame that has been looked at, ... */
  u32 aCksum[2];         /* ... its checksum, ... */
  u32 iChange;           /* ... and the number of commits by then */
  int szPage;
  u64 iNow;              /* The state that these tell.  States before have lower numbers */
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
  HpColumnInner *apInner[HP_INNERS];  /* Hash table of the pages above by their number */
  HpSlab *pSlab;         /* Slabs that are not full, and that no scan has */
  HpColumnRun *pDead;    /* Runs, ... */
  HpColumnInner *pDeadInner;   /* ... and such pages, to be freed when no scan runs */
  u64 aNote[HP_NOTES];   /* Columns that have been read, or 0, ... */
  u8 aTimes[HP_NOTES];   /* ... and how often: 3 if more often */
};

/* A scan that uses columns */
struct HpColumnScan {
  HpColumnFile *pFile;
  const HpSourcePlan *pPlan;
  u64 iState;            /* What it reads */
  i64 nLimit;            /* Bytes that the file's runs may take, if it adds to them */
  u8 bCount;             /* It only wants the number of rows */
  u8 bKeep;              /* Some column is to be kept, and there is memory */
  u8 bSome;              /* ... of every HP_SOME-th run */
  u8 bSound;             /* Records have to be sound */
  u8 aKeep[HP_MX_COL];   /* Which columns */
  i64 szSlab;            /* Bytes of a new slab */
  HpSlab *pSlab;         /* Slabs that its workers have, or had */
};

static HpColumnFile *hpColumnsList = 0;    /* (m) */

/* So many bytes of slabs are free */
static void hpColumnsSlabFreed(HpColumnFile *pFile, i64 n){
  pFile->nByte -= n;
  pFile->nSlab -= n;
  hpBudgetKept(n);
  assert( pFile->nSlab>=0 && pFile->nByte>=pFile->nSlab );
}

/* Bytes of a segment that are in no slab */
static i64 hpColumnsOwn(const HpSegment *p){ return p->pSlab ? 0 : p->nByte; }

/* Free a run of pFile, of which nothing is in use */
static void hpColumnsFreeRun(HpColumnFile *pFile, HpColumnRun *p){
  i64 nByte = p->nByte - p->nSegment;
  int i, k;
  for(k=0; k<p->nCol; k++){
    HpSegment **ap = p->aCol[k].apSeg;
    for(i=0; ap && i<p->nChunk; i++){
      if( ap[i]->pSlab ){
        if( ap[i]->nRef==1 ) pFile->nInSlab -= ap[i]->nByte;
        hpColumnsSlabFreed(pFile, hpSegmentFree(ap[i]));
      }else{
        nByte += hpSegmentFree(ap[i]);
      }
    }
  }
  hpBudgetKept(nByte);
  while( p->pArray ){
    struct HpColumnArray *pArray = p->pArray;
    p->pArray = pArray->pNext;
    sqlite3_free(pArray);
  }
  sqlite3_free(p->aCol);
  sqlite3_free(p);
}

/* Let go of the slabs of a list.  They go when their last segment does */
static void hpColumnsLeaveSlabs(HpColumnFile *pFile, HpSlab **pp){
  while( *pp ){
    HpSlab *p = *pp;
    *pp = p->pNext;
    hpColumnsSlabFreed(pFile, hpSlabLeave(p));
  }
}

/* Bytes of what is known of a page above leaves */
static i64 hpColumnsInnerSize(int nCell, int szUnit){
  return sizeof(HpColumnInner) + (i64)sizeof(Pgno)*(nCell/szUnit);
}

/* Forget what *pp points to */
static void hpColumnsInnerDrop(HpColumnFile *pFile, HpColumnInner **pp){
  HpColumnInner *p = *pp;
  *pp = p->pNext;
  p->pNext = pFile->pDeadInner;
  pFile->pDeadInner = p;
  pFile->nByte -= hpColumnsInnerSize(p->nCell, p->szUnit);
}

/* Free the runs that have been dropped, unless a scan may have some of them */
static void hpColumnsBury(HpColumnFile *pFile){
  while( pFile->nScan==0 && pFile->pDead ){
    HpColumnRun *p = pFile->pDead;
    pFile->pDead = p->pNext;
    hpColumnsFreeRun(pFile, p);
  }
  while( pFile->nScan==0 && pFile->pDeadInner ){
    HpColumnInner *p = pFile->pDeadInner;
    pFile->pDeadInner = p->pNext;
    hpBudgetKept(hpColumnsInnerSize(p->nCell, p->szUnit));
    sqlite3_free(p);
  }
  if( pFile->nScan==0 && pFile->nRun==0 ) hpColumnsLeaveSlabs(pFile, &pFile->pSlab);
}

static HpColumnRun **hpColumnsSlot(const HpColumnFile *pFile, Pgno iLeaf){
  assert( pFile->nSlot>0 && (pFile->nSlot & (pFile->nSlot-1))==0 );
  return &pFile->apRun[(iLeaf*0x9e3779b1u >> 7) & (pFile->nSlot-1)];
}

/* No scan to come finds run p any more, which is in no slot */
static void hpColumnsRetire(HpColumnFile *pFile, HpColumnRun *p){
  p->pNext = pFile->pDead;
  pFile->pDead = p;
  pFile->nByte -= p->nByte;
  assert( pFile->nByte>=0 );
}

/* Drop the run that *pp points to */
static void hpColumnsDrop(HpColumnFile *pFile, HpColumnRun **pp){
  HpColumnRun *p = *pp;
  *pp = p->pNext;
  pFile->nRun--;
  hpColumnsRetire(pFile, p);
}

/* Drop runs: all, if nUnused is 0, or those that so many scans have passed over */
static void hpColumnsDropSome(HpColumnFile *pFile, u32 nUnused){
  u32 i;
  assert( sqlite3_mutex_held(pFile->pMutex) );
  for(i=0; i<pFile->nSlot; i++){
    HpColumnRun **pp = &pFile->apRun[i];
    while( *pp ){
      if( nUnused && pFile->iScan-(*pp)->iUsed<=nUnused ){
        pp = &(*pp)->pNext;
      }else{
        hpColumnsDrop(pFile, pp);
      }
    }
  }
  for(i=0; i<HP_INNERS && nUnused==0; i++){
    while( pFile->apInner[i] ) hpColumnsInnerDrop(pFile, &pFile->apInner[i]);
  }
  hpColumnsBury(pFile);
}

/* The first of aPage[0..nPage-1], which are in order, that is not less than iPg */
static int hpColumnsFirst(const Pgno *aPage, int nPage, Pgno iPg){
  int iLow = 0, iHigh = nPage;
  while( iLow<iHigh ){
    int iMid = (iLow+iHigh)/2;
    if( aPage[iMid]<iPg ) iLow = iMid+1; else iHigh = iMid;
  }
  return iLow;
}

/* Put aPage[0..n-1] in order, with as much scratch: a merge sort from the bottom up */
static void hpColumnsSort(Pgno *aPage, Pgno *aTmp, u32 n){
  u32 k;
  for(k=1; k<n; k*=2){
    u32 iTo = 0;
    u32 iRun;
    for(iRun=0; iRun<n; iRun+=2*k){
      u32 a = iRun, b = MIN(iRun+k, n);
      u32 aEnd = b, bEnd = MIN(iRun+2*k, n);
      while( a<aEnd || b<bEnd ){
        int bA = b>=bEnd || (a<aEnd && aPage[a]<=aPage[b]);
        aTmp[iTo++] = bA ? aPage[a++] : aPage[b++];
      }
    }
    memcpy(aPage, aTmp, n*sizeof(Pgno));
  }
}

/* All runs, or most, have been dropped: did it pay to keep them? */
static void hpColumnsLost(HpColumnFile *pFile){
  if( pFile->nKept ){
    int bPaid = pFile->nFound>=HP_PAYS*pFile->nKept;
    pFile->nWait = bPaid ? 0 : MIN(2*pFile->nWait+2, HP_MX_WAIT);
    pFile->nKept = pFile->nFound = 0;
  }
  pFile->iReset = pFile->iScan;
}

/* Leaf k of run p has changed in state iState */
static void hpColumnsStaleLeaf(HpColumnRun *p, int k, u64 iState){
  if( p->aStale[k]==0 ){
    p->aStale[k] = iState;
    p->nStale++;
  }
}

/*
** The pages aPage[0..nPage-1] have changed in state iState.  They are put in order, with aTmp as
** scratch, and become stale in the runs that have them as leaves.
*/
static void hpColumnsStale(
  HpColumnFile *pFile,
  Pgno *aPage,
  Pgno *aTmp,
  int nPage,
  u64 iState
){
  u32 nRun = pFile->nRun;
  u32 i;
  assert( sqlite3_mutex_held(pFile->pMutex) );
  hpColumnsSort(aPage, aTmp, (u32)nPage);
  for(i=0; i<pFile->nSlot; i++){
    HpColumnRun **pp = &pFile->apRun[i];
    while( *pp ){
      HpColumnRun *p = *pp;
      int iLow = hpColumnsFirst(aPage, nPage, p->iMin);
      int iHigh = iLow + hpColumnsFirst(&aPage[iLow], nPage-iLow, p->iMax+1);
      int k;
      if( iHigh-iLow<p->nPage ){
        /* A damaged b-tree may have a leaf in several places */
        for(; iLow<iHigh; iLow++){
          for(k=0; k<p->nPage; k++){
            if( p->aPg[k]==aPage[iLow] ) hpColumnsStaleLeaf(p, k, iState);
          }
        }
      }else{
        for(k=0; k<p->nPage; k++){
          int iAt = iLow + hpColumnsFirst(&aPage[iLow], iHigh-iLow, p->aPg[k]);
          if( iAt<iHigh && aPage[iAt]==p->aPg[k] ) hpColumnsStaleLeaf(p, k, iState);
        }
      }
      if( p->iInnerStale==0 ){
        int iAt = hpColumnsFirst(aPage, nPage, p->iInner);
        if( iAt<nPage && aPage[iAt]==p->iInner ) p->iInnerStale = iState;
      }
      if( p->nStale*HP_MX_STALE>p->nPage ) hpColumnsDrop(pFile, pp); else pp = &p->pNext;
    }
  }
  for(i=0; i<HP_INNERS; i++){
    HpColumnInner **pp = &pFile->apInner[i];
    while( *pp ){
      int iAt = hpColumnsFirst(aPage, nPage, (*pp)->iPg);
      if( iAt<nPage && aPage[iAt]==(*pp)->iPg ) hpColumnsInnerDrop(pFile, pp); else pp = &(*pp)->pNext;
    }
  }
  hpColumnsBury(pFile);
  if( 2*pFile->nRun<nRun ) hpColumnsLost(pFile);
}

/* The file is in a state that nothing is known of */
static void hpColumnsReset(HpColumnFile *pFile, u8 eMode){
  hpColumnsDropSome(pFile, 0);
  hpColumnsLost(pFile);
  pFile->changed.n = 0;
  pFile->bCommit = 0;
  pFile->eMode = eMode;
  pFile->iNow += 1+(u64)HP_MX_FRAMES;
}

static void hpColumnsFree(HpColumnFile *p){
  assert( p->nRef==0 && p->nScan==0 && p->bJoin==0 );
  if( p->apRun ){
    hpThreadEnter(p->pMutex);
    hpColumnsDropSome(p, 0);
    sqlite3_mutex_leave(p->pMutex);
  }
  sqlite3_mutex_free(p->pMutex);
  sqlite3_free(p->changed.a);
  sqlite3_free(p->commit.a);
  sqlite3_free(p->apRun);
  sqlite3_free(p);
}

static HpColumnFile *hpColumnsNew(unixInodeInfo *pInode){
  HpColumnFile *p = sqlite3MallocZero(sizeof(*p));
  if( p==0 ) return 0;
  p->pInode = pInode;
  p->nSlot = 64;
  p->apRun = sqlite3MallocZero(p->nSlot*sizeof(p->apRun[0]));
  p->pMutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
  p->iNow = 1+(u64)HP_MX_FRAMES;
  if( p->apRun==0 || (p->pMutex==0 && sqlite3GlobalConfig.bCoreMutex) ){
    hpColumnsFree(p);
    return 0;
  }
  return p;
}

/* Nobody joins p any more.  The mutex (m) is held. */
static void hpColumnsUnlink(HpColumnFile *p){
  HpColumnFile **pp;
  if( p->bJoin==0 ) return;
  for(pp=&hpColumnsList; *pp!=p; pp=&(*pp)->pNext){}
  *pp = p->pNext;
  p->bJoin = 0;
}

/* One user less */
static void hpColumnsUnref(HpColumnFile *p, int bUnlink){
  MUTEX_LOGIC( sqlite3_mutex *pMutex = sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  int bFree;
  sqlite3_mutex_enter(pMutex);
  assert( p->nRef>0 );
  bFree = --p->nRef==0;
  if( bFree || bUnlink ) hpColumnsUnlink(p);
  sqlite3_mutex_leave(pMutex);
  if( bFree ) hpColumnsFree(p);
}

/* Let go of the columns of pPager; with bUnlink nobody else comes to them */
static void hpColumnsLeave(Pager *pPager, int bUnlink){
  HpColumnFile *p = pPager->hp.pColumns;
  pPager->hp.pColumns = 0;
  if( p ) hpColumnsUnref(p, bUnlink);
}

/* What is kept of the file, or NULL.  The mutex (m) is held. */
static HpColumnFile *hpColumnsByInode(const unixInodeInfo *pInode){
  HpColumnFile *p = hpColumnsList;
  while( p && p->pInode!=pInode ) p = p->pNext;
  return p;
}

/*
** The columns of the file of pPager, for the pager, if it has none yet, and for a scan.
** NULL without memory.
*/
static HpColumnFile *hpColumnsJoin(Pager *pPager){
  MUTEX_LOGIC( sqlite3_mutex *pMutex = sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  HpColumnFile *p = pPager->hp.pColumns;
  if( p==0 ){
    unixInodeInfo *pInode = ((unixFile*)pPager->fd)->pInode;
    HpColumnFile *pNew = hpColumnsNew(pInode);
    if( pNew==0 ) return 0;
    sqlite3_mutex_enter(pMutex);
    p = hpColumnsByInode(pInode);
    if( p==0 ){
      p = pNew;
      pNew = 0;
      p->bJoin = 1;
      p->pNext = hpColumnsList;
      hpColumnsList = p;
    }
    p->nRef++;
    sqlite3_mutex_leave(pMutex);
    if( pNew ) hpColumnsFree(pNew);
    pPager->hp.pColumns = p;
  }
  sqlite3_mutex_enter(pMutex);
  p->nRef++;
  sqlite3_mutex_leave(pMutex);
  return p;
}

/*
** Frames from iFirst to iLast: their pages have changed.  False: these cannot be told.
**
** Should the WAL be begun anew meanwhile, the numbers read here are overwritten: hpColumnsIsLive()
** then says that they mean nothing.
*/
static int hpColumnsFrames(HpColumnFile *pFile, Wal *pWal, u32 iFirst, u32 iLast){
  Pgno *aPage;
  u32 n = iLast-iFirst+1;
  u32 i;
  if( pFile->nRun==0 ) return 1;
  if( n>HP_MX_FRAMES ) return 0;
  aPage = sqlite3_malloc64(2*(u64)n*sizeof(Pgno));
  if( aPage==0 ) return 0;
  for(i=0; i<n; i++){
    WalHashLoc loc;
    if( walHashGet(pWal, walFramePage(iFirst+i), &loc) || loc.aPgno==0 ) break;
    aPage[i] = loc.aPgno[iFirst+i-loc.iZero-1];
  }
  if( i==n ) hpColumnsStale(pFile, aPage, &aPage[n], (int)n, pFile->iNow+1);
  sqlite3_free(aPage);
  return i==n;
}

/*
** The WAL has other salts than last time.  Is it the next one after that, which was empty or has
** got no more frames?
**
** The wal-index counts commits, so those of the new WAL have to be all.  Should the count have begun
** anew, as it does when a process dies while it writes there, frames of the old WAL may still
** stand behind those of the new one.
*/
static int hpColumnsIsNext(const HpColumnFile *pFile, Wal *pWal){
  const WalIndexHdr *pHdr = &pWal->hdr;
  u32 nCommit = pHdr->iChange-pFile->iChange;
  u32 iBehind = MAX(pHdr->mxFrame, pFile->mxFrame)+1;
  u8 aFrame[WAL_FRAME_HDRSIZE];
  u32 i;
  if( pFile->eMode!=HP_STATE_WAL || pFile->szPage!=(int)pWal->szPage ) return 0;
  if( pFile->mxFrame>0
   && sqlite3Get4byte((const u8*)&pHdr->aSalt[0])
        !=sqlite3Get4byte((const u8*)&pFile->aSalt[0])+1
  ){
    return 0;
  }
  if( sqlite3OsRead(pWal->pWalFd, aFrame, sizeof(aFrame), walFrameOffset(iBehind, pWal->szPage))
        ==SQLITE_OK
   && memcmp(&aFrame[8], pFile->aSalt, sizeof(pFile->aSalt))==0
  ){
    return 0;
  }
  /* It has at least one commit if it has a frame */
  if( nCommit<=1 && nCommit==(u32)(pHdr->mxFrame>0) ) return 1;
  if( nCommit==0 || pHdr->mxFrame>HP_MX_HEADERS ) return 0;
  for(i=1; i<=pHdr->mxFrame; i++){
    if( sqlite3OsRead(pWal->pWalFd, aFrame, sizeof(aFrame), walFrameOffset(i, pWal->szPage)) ){
      return 0;
    }
    nCommit -= sqlite3Get4byte(&aFrame[4])!=0;
  }
  return nCommit==0;
}

/* Are these the salts that other processes see in the wal-index? */
static int hpColumnsIsLive(Wal *pWal, const u32 *aSalt){
  volatile WalIndexHdr *pLive = walIndexHdr(pWal);
  walShmBarrier(pWal);
  return pLive->aSalt[0]==aSalt[0] && pLive->aSalt[1]==aSalt[1];
}

/*
** The state that a transaction of pPager sees, with a WAL; 0: none that can be told.
*/
static u64 hpColumnsWal(HpColumnFile *pFile, Pager *pPager){
  Wal *pWal = pPager->pWal;
  const WalIndexHdr *pHdr = &pWal->hdr;
  if( pWal->readLock<0 || pWal->exclusiveMode!=WAL_NORMAL_MODE || pWal->bShmUnreliable
   || pPager->fd->pMethods->xShmLock!=unixShmLock
  ){
    return 0;
  }
  if( pFile->eMode!=HP_STATE_WAL || pFile->szPage!=(int)pPager->pageSize
   || memcmp(pFile->aSalt, pHdr->aSalt, sizeof(pFile->aSalt))
   || (pFile->mxFrame==pHdr->mxFrame && pFile->mxFrame>0
        && memcmp(pFile->aCksum, pHdr->aFrameCksum, sizeof(pFile->aCksum)))
  ){
    /* Other salts: are they newer ones, or has this transaction begun before? */
    if( !hpColumnsIsLive(pWal, pHdr->aSalt) ) return 0;
    if( hpColumnsIsNext(pFile, pWal) ){
      memcpy(pFile->aSalt, pHdr->aSalt, sizeof(pFile->aSalt));
      pFile->mxFrame = 0;
    }else{
      hpColumnsReset(pFile, HP_STATE_WAL);
      pFile->szPage = (int)pPager->pageSize;
      pFile->mxFrame = pHdr->mxFrame;
    }
  }
  if( pFile->mxFrame<pHdr->mxFrame ){
    /* A transaction that reads the file only does not keep the WAL from being begun anew;
    ** the salts change before the list of pages does. */
    if( !hpColumnsFrames(pFile, pWal, pFile->mxFrame+1, pHdr->mxFrame) ){
      hpColumnsReset(pFile, HP_STATE_WAL);
    }else if( !hpColumnsIsLive(pWal, pHdr->aSalt) ){
      hpColumnsReset(pFile, HP_STATE_NONE);
      return 0;
    }else{
      pFile->iNow += pHdr->mxFrame-pFile->mxFrame;
    }
  }else if( pHdr->mxFrame<pFile->mxFrame ){
    u64 nBack = pFile->mxFrame-pHdr->mxFrame;
    return nBack<pFile->iNow ? pFile->iNow-nBack : 0;
  }
  memcpy(pFile->aSalt, pHdr->aSalt, sizeof(pFile->aSalt));
  memcpy(pFile->aCksum, pHdr->aFrameCksum, sizeof(pFile->aCksum));
  pFile->mxFrame = pHdr->mxFrame;
  pFile->iChange = pHdr->iChange;
  return pFile->iNow;
}

/*
** The state that a transaction of pPager sees; 0: none that can be told.
*/
static u64 hpColumnsState(HpColumnFile *pFile, Pager *pPager){
  assert( sqlite3_mutex_held(pFile->pMutex) );
  if( pagerUseWal(pPager) ){
    Wal *pWal = pPager->pWal;
    u64 iState = 0;
    SEH_TRY { iState = hpColumnsWal(pFile, pPager); } SEH_EXCEPT( iState = 0; )
    (void)pWal;            /* For these macros */
    return iState;
  }
  if( pPager->eLock!=SHARED_LOCK ) return 0;
  if( pFile->eMode!=HP_STATE_JOURNAL || pFile->szPage!=(int)pPager->pageSize
   || memcmp(pFile->aVers, pPager->dbFileVers, sizeof(pFile->aVers))
  ){
    hpColumnsReset(pFile, HP_STATE_JOURNAL);
    pFile->szPage = (int)pPager->pageSize;
    memcpy(pFile->aVers, pPager->dbFileVers, sizeof(pFile->aVers));
  }else if( pFile->changed.n ){
    struct HpColumnPages *pPages = &pFile->changed;
    Pgno *aTmp = sqlite3_malloc64(sizeof(Pgno)*(u64)pPages->n);
    if( aTmp==0 ){
      hpColumnsReset(pFile, HP_STATE_JOURNAL);
    }else{
      hpColumnsStale(pFile, pPages->a, aTmp, pPages->n, ++pFile->iNow);
      pPages->n = 0;
      sqlite3_free(aTmp);
    }
  }
  return pFile->iNow;
}

/* What is kept of the file pFd, with a reference more, or NULL */
static HpColumnFile *hpColumnsOf(const sqlite3_file *pFd){
  MUTEX_LOGIC( sqlite3_mutex *pMutex = sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  HpColumnFile *p;
  if( AtomicLoad(&hpColumnsList)==0 || pFd->pMethods==0
   || pFd->pMethods->xShmLock!=unixShmLock
  ){
    return 0;
  }
  sqlite3_mutex_enter(pMutex);
  p = hpColumnsByInode(((const unixFile*)pFd)->pInode);
  if( p ) p->nRef++;
  sqlite3_mutex_leave(pMutex);
  return p;
}

/* One page more.  False: there are too many, or there is no memory */
static int hpColumnsPage(struct HpColumnPages *p, Pgno iPg){
  if( p->n==p->nAlloc ){
    int nNew = 2*p->n+64;
    Pgno *aNew = p->n<HP_MX_PAGES ? sqlite3_realloc64(p->a, sizeof(Pgno)*(u64)nNew) : 0;
    if( aNew==0 ) return 0;
    p->a = aNew;
    p->nAlloc = nNew;
  }
  p->a[p->n++] = iPg;
  return 1;
}

/*
** Let *p be the pages that the transaction of pPager has changed.  False: that is not known.
*/
static int hpColumnsChanged(struct HpColumnPages *p, Pager *pPager){
  const PgHdr *pPg;
  Pgno i;
  p->n = 0;
  if( pPager->eState==PAGER_WRITER_CACHEMOD ){
    pPg = sqlite3PcacheDirtyList(pPager->pPCache);
    while( pPg && hpColumnsPage(p, pPg->pgno) ) pPg = pPg->pDirty;
    return pPg==0;
  }
  /* As memory was short some have been written, and are not dirty any more */
  if( pPager->pInJournal==0 ) return 0;
  for(i=1; i<=MAX(pPager->dbSize, pPager->dbOrigSize); i++){
    if( (i>pPager->dbOrigSize || sqlite3BitvecTestNotNull(pPager->pInJournal, i))
     && !hpColumnsPage(p, i)
    ){
      return 0;
    }
  }
  return 1;
}

/*
** The dirty pages of pPager are about to be written, as a commit with a rollback journal.  No
** other connection can begin one.
*/
SQLITE_PRIVATE void sqlite3HpCommitBegin(Pager *pPager){
  HpColumnFile *p;
  if( pPager->tempFile ) return;
  p = hpColumnsOf(pPager->fd);
  if( p==0 ) return;
  hpThreadEnter(p->pMutex);
  p->bCommit = 0;
  if( p->eMode==HP_STATE_JOURNAL && p->nRun
   && memcmp(p->aVers, pPager->dbFileVers, sizeof(p->aVers))==0
  ){
    p->bCommit = pPager->hp.bCommit = (u8)hpColumnsChanged(&p->commit, pPager);
  }
  sqlite3_mutex_leave(p->pMutex);
  hpColumnsUnref(p, 0);
}

/*
** The transaction of pPager ends, and it still has its locks.  bDone: it has been committed.
** What is not noted here shows as a state of the file that nothing is known of.
*/
SQLITE_PRIVATE void sqlite3HpCommitEnd(Pager *pPager, int bDone){
  HpColumnFile *p;
  int i = 0;
  if( pPager->hp.bCommit==0 ) return;
  pPager->hp.bCommit = 0;
  p = hpColumnsOf(pPager->fd);
  if( p==0 ) return;
  hpThreadEnter(p->pMutex);
  if( bDone && p->bCommit ){
    while( i<p->commit.n && hpColumnsPage(&p->changed, p->commit.a[i]) ) i++;
    if( i==p->commit.n ) memcpy(p->aVers, pPager->dbFileVers, sizeof(p->aVers));
  }
  p->bCommit = 0;
  sqlite3_mutex_leave(p->pMutex);
  hpColumnsUnref(p, 0);
}

/*
** A WAL is begun anew: pWal->hdr tells of it, but nobody has seen that yet, and *pOld of the
** one before, which has been copied into the file as a whole, or has no frames.  pWal has the
** write lock.
*/
SQLITE_PRIVATE void sqlite3HpWalBegun(Wal *pWal, const WalIndexHdr *pOld){
  HpColumnFile *p = hpColumnsOf(pWal->pDbFd);
  if( p==0 ) return;
  hpThreadEnter(p->pMutex);
  assert( pWal->writeLock && pWal->hdr.mxFrame==0 );
  if( p->eMode==HP_STATE_WAL
   && memcmp(p->aSalt, pOld->aSalt, sizeof(p->aSalt))==0
   && p->mxFrame<=pOld->mxFrame
   && (p->mxFrame==pOld->mxFrame
        || hpColumnsFrames(p, pWal, p->mxFrame+1, pOld->mxFrame))
  ){
    p->iNow += pOld->mxFrame-p->mxFrame;
    memcpy(p->aSalt, pWal->hdr.aSalt, sizeof(p->aSalt));
    p->mxFrame = 0;
    p->iChange = pOld->iChange;
  }else{
    hpColumnsReset(p, HP_STATE_NONE);
  }
  sqlite3_mutex_leave(p->pMutex);
  hpColumnsUnref(p, 0);
}

/* May connection db use columns of the file of pPager, as far as settings go? */
static int hpColumnsAllowed(const sqlite3 *db, Pager *pPager){
  const HpConfig *pCfg = hpConfig();
  return (db->hp.nColumns>=0 || pCfg->eColumns)
      && !pCfg->bOff
      && pPager->eState==PAGER_READER
      && pPager->tempFile==0 && pPager->noLock==0
      && hpStoreAllowed(pPager)
      && (hpMemoryDefault() || pCfg->bForce)
      && hpPageFile(pCfg, pPager);
}

/* Column pCol of the table at iRoot, as it is noted; without pCol, that its rows are counted */
static u64 hpColumnsNoteOf(Pgno iRoot, const HpCol *pCol){
  return ((u64)iRoot<<32) | (pCol ? (u32)(pCol->iStore+2)<<1 | pCol->bReal : 0);
}

/* The place of note x, or one where it can be: that of another one if there is no room */
static u32 hpColumnsNoteAt(const HpColumnFile *pFile, u64 x){
  u32 i = (u32)((x*(((u64)0x9e3779b9<<32)|0x7f4a7c15))>>40);
  u32 k;
  for(k=0; k<8; k++){
    u32 iAt = (i+k) & (HP_NOTES-1);
    if( pFile->aNote[iAt]==0 || pFile->aNote[iAt]==x ) return iAt;
  }
  return (i + pFile->iScan%8) & (HP_NOTES-1);
}

/*
** Note that a column is read; without pCol, that rows are counted.  How often has it been
** read by now?  3: or more often.  If bLater this scan has been noted before.
*/
static int hpColumnsNote(HpColumnFile *pFile, Pgno iRoot, const HpCol *pCol, int bLater){
  u64 x = hpColumnsNoteOf(iRoot, pCol);
  u32 iAt = hpColumnsNoteAt(pFile, x);
  if( pFile->aNote[iAt]==x ){
    if( pFile->aTimes[iAt]<3 && !bLater ) pFile->aTimes[iAt]++;
    return pFile->aTimes[iAt];
  }
  if( bLater ) return 1;
  pFile->aNote[iAt] = x;
  pFile->aTimes[iAt] = 1;
  return 1;
}

/*
** Does it seem that a scan of pPlan will find its columns, where its table has nLeaf leaves?  They
** have been read before, and there are so many runs.
*/
static int hpColumnsSeemKept(const sqlite3 *db, const HpSourcePlan *pPlan, i64 nLeaf){
  Pager *pPager = sqlite3BtreePager(db->aDb[pPlan->iDb].pBt);
  HpColumnFile *pFile = pPager->hp.pColumns;
  int i, n = 3;
  if( pFile==0 || !hpColumnsAllowed(db, pPager) ) return 0;
  hpThreadEnter(pFile->pMutex);
  /* Three in four, since nLeaf is a guess */
  if( (i64)pFile->nRun*4*MAX(1, HP_RUN_BYTES/pPager->pageSize)<nLeaf*3 ) n = 0;
  for(i=0; i<pPlan->nCol && n==3; i++){
    u64 x = hpColumnsNoteOf(pPlan->iRoot, &pPlan->aCol[i]);
    u32 iAt = hpColumnsNoteAt(pFile, x);
    n = pFile->aNote[iAt]==x ? pFile->aTimes[iAt] : 0;
  }
  sqlite3_mutex_leave(pFile->pMutex);
  return n==3;
}

/*
** A scan of p begins.  NULL: without columns.  bSome: it could do with some of the leaves, and
** reads all of them only if columns are to be kept or have been.
*/
static HpColumnScan *hpColumnsOpen(HpQuery *p, Pager *pPager, int bSome){
  const HpPipePlan *pPipe = p->pPipe;
  int bCount = pPipe->pSink->xRows==0;
  int bLater = p->pPart && p->pPart->bLater;
  HpColumnScan *pScan;
  HpColumnFile *pFile;
  int i;
  assert( bCount==0 || pPipe->source.nCol==0 );
  if( pPipe->source.pType->bColumns==0 || pPipe->bUser
   || (bCount && pPipe->source.pRange)
   || (bCount==0 && (pPipe->source.bIndex || pPipe->source.nCol==0))
   || p->nSample || p->pass.bNone
  ){
    return 0;
  }
  if( !hpColumnsAllowed(p->db, pPager) ){
    if( pPager->eState==PAGER_READER ) hpColumnsLeave(pPager, 0);
    return 0;
  }
  pScan = hpArenaAlloc(&p->arena, sizeof(*pScan));
  pFile = pScan ? hpColumnsJoin(pPager) : 0;
  if( pFile==0 ) return 0;
  memset(pScan, 0, sizeof(*pScan));
  pScan->pFile = pFile;
  pScan->pPlan = &pPipe->source;
  pScan->bCount = (u8)bCount;
  pScan->bSound = pPipe->pSink->eRecords==HP_RECORDS_SOUND;
  pScan->nLimit = p->db->hp.nColumns>0 ? p->db->hp.nColumns
                : p->pCfg->eColumns==HP_COLUMNS_TINY ? HP_TINY : LARGEST_INT64;
  pScan->szSlab = MIN((i64)pPager->dbSize*pPager->pageSize, pScan->nLimit)/HP_SLAB_SHARE;
  pScan->szSlab = MAX(pScan->szSlab, MIN(HP_MIN_SLAB, pScan->nLimit/HP_SLAB_LARGE));
  pScan->szSlab = MIN(pScan->szSlab, HP_MX_SLAB);
  hpThreadEnter(pFile->pMutex);
  pScan->iState = hpColumnsState(pFile, pPager);
  if( pScan->iState ){
    pFile->nScan++;
    if( !bLater ) pFile->iScan++;
    for(i=0; i<MAX(pPipe->source.nCol, bCount); i++){
      int n = hpColumnsNote(pFile, pPipe->source.iRoot,
                            bCount ? 0 : &pPipe->source.aCol[i], bLater);
      if( p->pCfg->eColumns ) n = 4;
      pScan->aKeep[i] = n>3 || (n>1 && pFile->iScan-pFile->iReset>pFile->nWait);
      pScan->bSome |= n==2 || (n==3 && pFile->iScan-pFile->iReset==1);
      pScan->bKeep |= pScan->aKeep[i];
    }
    if( bSome && pScan->bKeep==0 ){
      pFile->nScan--;
      pScan->iState = 0;
    }
  }
  sqlite3_mutex_leave(pFile->pMutex);
  if( pScan->iState==0 ){
    hpColumnsUnref(pFile, 0);
    return 0;
  }
  return pScan;
}

/* Are the nPage leaves of p from iFirst on those of aPage[]? */
static int hpColumnsSame(const HpColumnRun *p, int iFirst, const Pgno *aPage, int nPage){
  return p->nPage>=iFirst+nPage && memcmp(&p->aPg[iFirst], aPage, sizeof(Pgno)*nPage)==0;
}

/* Is run p of a b-tree of the kind that the scan reads?  A damaged file may have a page in both */
static int hpColumnsSameKind(const HpColumnScan *pScan, const HpColumnRun *p){
  return p->bIndex==pScan->pPlan->bIndex;
}

/* The run with the leaves of pRun, or the end of its slot.  The mutex is held. */
static HpColumnRun **hpColumnsLook(const HpColumnScan *pScan, const HpRun *pRun){
  HpColumnRun **pp = hpColumnsSlot(pScan->pFile, pRun->aLeaf[0]);
  for(; *pp; pp=&(*pp)->pNext){
    const HpColumnRun *p = *pp;
    if( p->nPage==pRun->nPage && hpColumnsSame(p, 0, pRun->aLeaf, p->nPage)
     && hpColumnsSameKind(pScan, p)
    ){
      break;
    }
  }
  return pp;
}

/* Has leaf i of p changed by the state that the scan reads? */
static int hpColumnsIsStale(const HpColumnScan *pScan, const HpColumnRun *p, int i){
  return p->nStale>0 && p->aStale[i]!=0 && p->aStale[i]<=pScan->iState;
}

/* The column of run p that pCol is, or NULL */
static struct HpColumnSet *hpColumnsSet(const HpColumnRun *p, const HpCol *pCol){
  int i;
  for(i=0; i<p->nCol; i++){
    if( p->aCol[i].iStore==pCol->iStore && p->aCol[i].bReal==pCol->bReal ){
      return &p->aCol[i];
    }
  }
  return 0;
}

/* May the scan use run p, as far as its leaves have not changed? */
static int hpColumnsMayUse(const HpColumnScan *pScan, const HpColumnRun *p){
  return p->iBorn<=pScan->iState && p->bSound>=pScan->bSound
      && hpColumnsSameKind(pScan, p)
      && (p->nChunk>0 || pScan->bCount);
}

/* The run, of the unit of pRun, that has its leaves; or NULL.  The mutex is held. */
static HpColumnRun *hpColumnsPart(const HpColumnScan *pScan, const HpRun *pRun){
  HpColumnRun *p = *hpColumnsSlot(pScan->pFile, pRun->iUnit);
  for(; p; p=p->pNext){
    if( p->iFirst==pRun->iUnit && hpColumnsMayUse(pScan, p)
     && hpColumnsSame(p, pRun->iInUnit, pRun->aLeaf, pRun->nPage)
    ){
      break;
    }
  }
  return p;
}

/* Has p all columns that are wanted?  apKept[], pRun's or of one for later, gets those that it has */
static int hpColumnsHas(
  const HpColumnScan *pScan,
  const HpColumnRun *p,
  HpRun *pRun,
  HpSegment ***apKept
){
  const HpSourcePlan *pPlan = pScan->pPlan;
  int bAll = 1;
  int i;
  for(i=0; i<pPlan->nCol; i++){
    const struct HpColumnSet *pSet = hpColumnsSet(p, &pPlan->aCol[i]);
    apKept[i] = pSet ? pSet->apSeg : 0;
    if( apKept[i]==0 ) bAll = 0;
    /* What cannot be kept makes the others useless for this plan */
    if( pSet && pSet->apSeg==0 ) pRun->bKeep = 0;
  }
  return bAll;
}

/* Let pRun read p, whose leaves from iFirst on it has */
static void hpColumnsTake(const HpColumnRun *p, int iFirst, HpRun *pRun){
  u32 iRow = iFirst ? p->aRow[iFirst-1] : 0;
  pRun->pKept = p;
  pRun->bKeep = 0;
  pRun->iInUnit = iFirst;
  pRun->iKeptRow = iRow;
  pRun->iKeptEnd = p->aRow[iFirst+pRun->nPage-1];
  pRun->nKeptRow = 0;
  for(pRun->iKept=0; pRun->iKept<p->nChunk && iRow>=p->anRow[pRun->iKept]; pRun->iKept++){
    iRow -= p->anRow[pRun->iKept];
  }
  pRun->iKeptFrom = iRow;
  pRun->nKept++;
}

/* The scan uses run p.  The mutex is held */
static void hpColumnsUsed(HpColumnScan *pScan, HpColumnRun *p){
  p->iUsed = pScan->pFile->iScan;
  pScan->pFile->nFound++;
}

/* The leaves of run p are those of pRun, as the scan sees the page above them */
static void hpColumnsAbove(const HpColumnScan *pScan, HpColumnRun *p, const HpRun *pRun){
  p->iInner = pRun->iInner;
  p->iChild = pRun->iChild;
  p->bWhole = pRun->bWhole;
  p->iInnerBorn = pScan->iState;
  p->iInnerStale = 0;
}

/*
** The run of the leaves under page iInner from child iChild on, nMost at most, the first of which is
** iLeaf, if none of them has changed, nor has the page, and it has all columns: see hpColumnsHas().  Or
** NULL.  The mutex is held.  A table that has become smaller has smaller units than its runs may have.
*/
static HpColumnRun *hpColumnsWhole(
  const HpColumnScan *pScan,
  HpRun *pRun,
  int iChild,
  Pgno iLeaf,
  int nMost,
  HpSegment ***apKept
){
  HpColumnRun *p = *hpColumnsSlot(pScan->pFile, iLeaf);
  for(; p; p=p->pNext){
    if( p->iFirst==iLeaf && p->iInner==pRun->iInner && p->iChild==iChild
     && p->bWhole && p->nPage<=nMost && p->nStale==0 && p->iInnerBorn<=pScan->iState
     && (p->iInnerStale==0 || p->iInnerStale>pScan->iState)
     && hpColumnsMayUse(pScan, p) && hpColumnsHas(pScan, p, pRun, apKept)
    ){
      break;
    }
  }
  return p;
}

/*
** pRun is about to take the leaves under page pRun->iInner from child pRun->iChild on, of which there
** are nMost, up to nUnit of them, the first of which is pRun->aLeaf[0].  If there is a run of such
** leaves, none of which have changed, nor has the page, take it, without a look at the numbers of the
** others; and up to nMore of the runs after it, whose first leaves are in aMore[], for
** hpColumnsNext(): two workers that take one at a time wait for each other more than they work.
** Returns how many leaves they are, or 0.
*/
static int hpColumnsQuick(
  HpColumnScan *pScan,
  HpRun *pRun,
  int nUnit,
  int nMost,
  const Pgno *aMore,
  int nMore
){
  HpColumnFile *pFile = pScan->pFile;
  int nCol = pScan->pPlan->nCol;
  HpColumnRun *p;
  int n = 0;
  assert( nMore<=HP_MX_QUICK );
  hpThreadEnter(pFile->pMutex);
  p = hpColumnsWhole(pScan, pRun, pRun->iChild, pRun->aLeaf[0], MIN(nUnit, nMost), pRun->apKept);
  if( p ){
    n = pRun->nPage = p->nPage;
    hpColumnsUsed(pScan, p);
    hpColumnsTake(p, 0, pRun);
    pRun->aLeaf[n-1] = p->aPg[n-1];
  }
  pRun->iQuick = pRun->nQuick = 0;
  while( p && pRun->nQuick<nMore ){
    int i = pRun->nQuick;
    p = hpColumnsWhole(pScan, pRun, pRun->iChild+n, aMore[i], MIN(nUnit, nMost-n),
                       &pRun->apQuickKept[i*nCol]);
    if( p ){
      n += p->nPage;
      hpColumnsUsed(pScan, p);
      pRun->apQuick[pRun->nQuick++] = p;
    }
  }
  sqlite3_mutex_leave(pFile->pMutex);
  return n;
}

/* Let pRun go on with a run that was taken together with the one of now.  False: there is none. */
static int hpColumnsNext(HpColumnScan *pScan, HpRun *pRun){
  int nCol = pScan->pPlan->nCol;
  const HpColumnRun *p;
  if( pRun->iQuick>=pRun->nQuick ) return 0;
  p = pRun->apQuick[pRun->iQuick];
  memcpy(pRun->apKept, &pRun->apQuickKept[pRun->iQuick*nCol], sizeof(pRun->apKept[0])*nCol);
  pRun->iQuick++;
  pRun->iSeq++;
  pRun->iChild += pRun->nPage;
  pRun->nPage = p->nPage;
  pRun->aLeaf[0] = p->iFirst;
  pRun->aLeaf[p->nPage-1] = p->aPg[p->nPage-1];
  hpColumnsTake(p, 0, pRun);
  return 1;
}

/*
** The leaves of pRun have just been taken.  If all columns that the plan wants are kept of them, set
** pRun->pKept and apKept; or, if some leaves have changed since, pRun->pMend and aChanged.  Otherwise,
** and if mending fails, pRun->bKeep says whether to keep some, and apKept has those that are kept of it.
*/
static void hpColumnsFind(HpColumnScan *pScan, HpRun *pRun){
  HpColumnFile *pFile = pScan->pFile;
  HpColumnRun *p;
  int i, nChanged;
  int nCol = pScan->pPlan->nCol;
  pRun->pKept = 0;
  if( nCol ) memset(pRun->apKept, 0, sizeof(pRun->apKept[0])*(size_t)nCol);
  hpThreadEnter(pFile->pMutex);
  pRun->bKeep = pRun->bWhole && pScan->bKeep && (pScan->bSome==0 || pRun->iSeq%HP_SOME==0);
  p = hpColumnsPart(pScan, pRun);
  if( p ) p->iUsed = pFile->iScan;
  if( p && hpColumnsHas(pScan, p, pRun, pRun->apKept) ){
    if( p->nStale ) p->nTaken++;
    for(i=nChanged=0; i<pRun->nPage; i++){
      pRun->aChanged[i] = (u8)hpColumnsIsStale(pScan, p, pRun->iInUnit+i);
      nChanged += pRun->aChanged[i];
    }
    if( nChanged==0 ){
      if( pRun->iInUnit==0 && pRun->nPage==p->nPage && pFile->iNow==pScan->iState ){
        hpColumnsAbove(pScan, p, pRun);
      }
      hpColumnsUsed(pScan, p);
      hpColumnsTake(p, pRun->iInUnit, pRun);
    }else if( pRun->iInUnit==0 && pRun->nPage==p->nPage && nChanged<p->nPage ){
      pRun->pMend = p;
    }
  }
  if( p && nCol && pRun->pKept==0 && (p->nStale || pRun->nPage!=p->nPage) ){
    /* If it is read and kept, then anew */
    memset(pRun->apKept, 0, sizeof(pRun->apKept[0])*(size_t)nCol);
  }
  sqlite3_mutex_leave(pFile->pMutex);
}

static int hpColumnsWanted(const HpColumnScan *p, int iCol){ return p->aKeep[iCol]; }
static int hpColumnsRows(const HpColumnRun *p, int i){
  assert( i>=0 && i<p->nChunk );
  return p->anRow[i];
}
static u32 hpColumnsLeafRows(const HpColumnRun *p, int i){
  return p->aRow[i] - (i>0 ? p->aRow[i-1] : 0);
}
static int hpColumnsChunks(const HpColumnRun *p){ return p->nChunk; }

/*
** Of pRun, whose columns are in memory, column iCol has the rowids, and none of its batches has been
** given yet.  Are they in order, and within the bounds of each leaf: HpRun.iLow and aHigh?
*/
static int hpColumnsInOrder(const HpRun *pRun, int iCol){
  const HpColumnRun *p = pRun->pKept;
  HpSegment **apSeg = pRun->apKept[iCol];
  i64 iLast = pRun->iLow;
  int bLast = (pRun->mBound & 1)!=0;
  int iLeaf = pRun->iInUnit;
  int iChunk = pRun->iKept;
  int iFrom = (int)pRun->iKeptFrom;
  u32 iRow = pRun->iKeptRow;
  while( iRow<pRun->iKeptEnd ){
    int n = (int)MIN(p->aRow[iLeaf]-iRow, (u32)(p->anRow[iChunk]-iFrom));
    if( n>0 ){
      if( !hpSegmentAscends(apSeg[iChunk], iFrom, n, bLast, &iLast) ) return 0;
      if( iLast>pRun->aHigh[iLeaf-pRun->iInUnit] ) return 0;
      bLast = 1;
    }
    iRow += (u32)n;
    iFrom += n;
    if( iRow==p->aRow[iLeaf] ) iLeaf++;
    if( iFrom==p->anRow[iChunk] ){
      iChunk++;
      iFrom = 0;
    }
  }
  return 1;
}

/*
** Set aSet[] to the columns of p, up to nAlloc of them, and *pbSound to whether its records are known
** to be sound.  Returns how many columns there are.
*/
static int hpColumnsSets(
  HpColumnScan *pScan,
  const HpColumnRun *p,
  struct HpColumnSet *aSet,
  int nAlloc,
  u8 *pbSound
){
  int n;
  hpThreadEnter(pScan->pFile->pMutex);
  n = p->nCol;
  *pbSound = p->bSound;
  if( nAlloc>0 ) memcpy(aSet, p->aCol, sizeof(aSet[0])*(size_t)MIN(n, nAlloc));
  sqlite3_mutex_leave(pScan->pFile->pMutex);
  return n;
}

/* May the runs of the file take n bytes more? */
static int hpColumnsMay(HpColumnScan *pScan, i64 n){
  HpColumnFile *pFile = pScan->pFile;
  if( pFile->nByte+n>pScan->nLimit || !hpBudgetKeep(n) ) return 0;
  pFile->nByte += n;
  return 1;
}

/* Of pRun, whose columns are in memory: the place of row iRow of its unit */
static i64 hpColumnsPlace(const HpRun *pRun, u32 iRow){
  const u32 *aRow = pRun->pKept->aRow;
  int iLow = pRun->iInUnit, iHigh = pRun->iInUnit+pRun->nPage-1;
  assert( iRow<aRow[iHigh] && (iLow==0 || iRow>=aRow[iLow-1]) );
  while( iLow<iHigh ){
    int iMid = (iLow+iHigh)/2;
    if( aRow[iMid]<=iRow ) iLow = iMid+1; else iHigh = iMid;
  }
  return HP_PLACE(pRun->iSeq, iLow-pRun->iInUnit, iRow-(iLow ? aRow[iLow-1] : 0));
}

/*
** What is known of page iPg above leaves, which has not changed since, and whose leaves are cut into
** units of szUnit; or NULL.  It is there until the scan ends.
*/
static const HpColumnInner *hpColumnsInner(HpColumnScan *pScan, Pgno iPg, int szUnit){
  HpColumnFile *pFile = pScan->pFile;
  HpColumnInner *p;
  hpThreadEnter(pFile->pMutex);
  p = pFile->apInner[iPg%HP_INNERS];
  while( p && (p->iPg!=iPg || p->szUnit!=szUnit || p->iBorn>pScan->iState) ) p = p->pNext;
  sqlite3_mutex_leave(pFile->pMutex);
  return p;
}

/* Page iPg is *pIn, and stands above leaves.  Remember that */
static void hpColumnsInnerAdd(HpColumnScan *pScan, Pgno iPg, const HpInner *pIn, int szUnit){
  HpColumnFile *pFile = pScan->pFile;
  i64 nByte = hpColumnsInnerSize(pIn->nCell, szUnit);
  HpColumnInner **pp = &pFile->apInner[iPg%HP_INNERS];
  HpColumnInner *p;
  int i;
  hpThreadEnter(pFile->pMutex);
  for(p=*pp; p && (p->iPg!=iPg || p->szUnit!=szUnit); p=p->pNext){}
  if( p==0 && pFile->iNow==pScan->iState && (p = sqlite3_malloc64((u64)nByte))!=0 ){
    if( hpColumnsMay(pScan, nByte) ){
      p->iPg = iPg;
      p->iBorn = pScan->iState;
      p->nCell = pIn->nCell;
      p->szUnit = szUnit;
      for(i=0; i<=pIn->nCell/szUnit; i++) p->aFirst[i] = hpPageChild(pIn, i*szUnit);
      p->pNext = *pp;
      *pp = p;
    }else{
      sqlite3_free(p);
    }
  }
  sqlite3_mutex_leave(pFile->pMutex);
}

/*
** A run without columns, with the leaves of pRun and the batches of anRow[].  It has aRow[i] rows up
** to the end of leaf i; without aRow, what the leaves say that have been read.
*/
static HpColumnRun *hpColumnsNewRun(
  HpColumnScan *pScan,
  const HpRun *pRun,
  int nChunk,
  const u16 *anRow,
  const u32 *aRow
){
  u64 nByte = sizeof(HpColumnRun) + (sizeof(u64)+sizeof(Pgno)+sizeof(u32))*(u64)pRun->nPage
            + sizeof(u16)*(u64)nChunk;
  HpColumnRun *p = sqlite3_malloc64(nByte);
  u32 nRow = 0;
  int i;
  if( p==0 || !hpColumnsMay(pScan, (i64)nByte) ){
    sqlite3_free(p);
    return 0;
  }
  memset(p, 0, nByte);
  p->nByte = (i64)nByte;
  p->nChunk = nChunk;
  p->nPage = pRun->nPage;
  p->aStale = (u64*)&p[1];
  p->aPg = (Pgno*)&p->aStale[p->nPage];
  p->aRow = (u32*)&p->aPg[p->nPage];
  p->anRow = (u16*)&p->aRow[p->nPage];
  if( nChunk ) memcpy(p->anRow, anRow, sizeof(u16)*nChunk);
  p->iBorn = pScan->iState;
  p->iUsed = pScan->pFile->iScan;
  p->bIndex = pScan->pPlan->bIndex;
  hpColumnsAbove(pScan, p, pRun);
  p->iFirst = p->iMin = p->iMax = pRun->aLeaf[0];
  for(i=0; i<p->nPage; i++){
    assert( pRun->iHdr==0 );
    if( aRow ) nRow = aRow[i]; else nRow += get2byte(&pRun->aBuf[(i64)i*pRun->szPage+3]);
    p->aPg[i] = pRun->aLeaf[i];
    p->aRow[i] = nRow;
    p->iMin = MIN(p->iMin, pRun->aLeaf[i]);
    p->iMax = MAX(p->iMax, pRun->aLeaf[i]);
  }
  return p;
}

/* Put *p into the slot of its first leaf */
static void hpColumnsLink(const HpColumnFile *pFile, HpColumnRun *p){
  HpColumnRun **pp = hpColumnsSlot(pFile, p->iFirst);
  p->pNext = *pp;
  *pp = p;
}

/* Twice as many slots, if there is memory */
static void hpColumnsGrow(HpColumnFile *pFile){
  HpColumnRun **apOld = pFile->apRun;
  u32 nOld = pFile->nSlot;
  HpColumnRun **apNew = sqlite3MallocZero(2*(u64)nOld*sizeof(apNew[0]));
  u32 i;
  if( apNew==0 ) return;
  pFile->apRun = apNew;
  pFile->nSlot = 2*nOld;
  for(i=0; i<nOld; i++){
    while( apOld[i] ){
      HpColumnRun *p = apOld[i];
      apOld[i] = p->pNext;
      hpColumnsLink(pFile, p);
    }
  }
  sqlite3_free(apOld);
}

/*
** There is no room for what pScan keeps.  Let runs go that no scan uses; or all, if most of what is
** kept are holes in slabs, which those that go leave between the others.  If there are none, keep nothing
** more.
*/
static void hpColumnsNoRoom(HpColumnScan *pScan){
  HpColumnFile *pFile = pScan->pFile;
  u32 nRun = pFile->nRun;
  int bAll = hpConfig()->eColumns==HP_COLUMNS_TINY || 2*(pFile->nSlab-pFile->nInSlab)>pFile->nByte;
  hpColumnsDropSome(pFile, bAll ? 0 : HP_UNUSED);
  if( pFile->nRun==nRun ) pScan->bKeep = 0;
}

/*
** A slab with room for nByte bytes, NULL without memory.  It is for one worker until it is full, or
** the scan ends.
*/
static HpSlab *hpColumnsSlab(HpColumnScan *pScan, i64 nByte){
  HpColumnFile *pFile = pScan->pFile;
  HpSlab *p;
  hpThreadEnter(pFile->pMutex);
  do{
    p = pFile->pSlab;
    if( p ){
      pFile->pSlab = p->pNext;
    }else if( pScan->bKeep ){
      if( hpColumnsMay(pScan, pScan->szSlab) ){
        pFile->nSlab += pScan->szSlab;
        p = hpSlabNew(pScan->szSlab);
        if( p==0 ) hpColumnsSlabFreed(pFile, pScan->szSlab);
      }else{
        hpColumnsNoRoom(pScan);
      }
    }
    if( p ){
      p->pNext = pScan->pSlab;
      pScan->pSlab = p;
    }
  }while( p && hpSlabRoom(p)<nByte );
  sqlite3_mutex_leave(pFile->pMutex);
  return p;
}

/* Bytes of what goes into slabs, at most: they are left with less room than that */
static i64 hpColumnsSlabMost(const HpColumnScan *pScan){ return pScan->szSlab/HP_SLAB_LARGE; }

/* Bytes of an HpColumnArray of nCol columns of a run of nChunk batches */
static i64 hpColumnsArraySize(int nCol, int nChunk){
  return offsetof(struct HpColumnArray, apSeg) + (i64)sizeof(HpSegment*)*nCol*nChunk;
}

/* Room for so many pointers of run p, or NULL without memory */
static HpSegment **hpColumnsArray(HpColumnRun *p, int nCol, int nChunk){
  struct HpColumnArray *pNew = sqlite3_malloc64((u64)hpColumnsArraySize(nCol, nChunk));
  if( pNew==0 ) return 0;
  pNew->pNext = p->pArray;
  p->pArray = pNew;
  return pNew->apSeg;
}

/* Is column k of the plan, which the scan has kept unless aHas[] says otherwise, new to run p? */
static int hpColumnsIsNew(const HpColumnScan *pScan, const HpColumnRun *p, const u8 *aHas, int k){
  return pScan->aKeep[k] && aHas[k]==0 && hpColumnsSet(p, &pScan->pPlan->aCol[k])==0;
}

/*
** Add to run p the columns that pScan keeps, but those of aHas[]: apSeg[i*nCol+k] is the segment of
** column k of the plan, of batch i; NULL instead of the first: it cannot be kept.  Returns
** false without memory.  The segments are p's if they are set to NULL.
*/
static int hpColumnsAddSets(
  HpColumnScan *pScan,
  HpColumnRun *p,
  HpSegment **apSeg,
  const u8 *aHas
){
  const HpSourcePlan *pPlan = pScan->pPlan;
  int nStep = pPlan->nCol;
  int nNew = 0, nFull = 0;
  i64 nSegment = 0;
  i64 nInSlab = 0;
  i64 nByte;
  struct HpColumnSet *aNew;
  HpSegment **apNew;
  int i, k;
  for(k=0; k<pPlan->nCol; k++){
    if( !hpColumnsIsNew(pScan, p, aHas, k) ) continue;
    nNew++;
    nFull += apSeg[k]!=0;
    for(i=0; apSeg[k] && i<p->nChunk; i++){
      nSegment += hpColumnsOwn(apSeg[i*nStep+k]);
      nInSlab += apSeg[i*nStep+k]->nByte - hpColumnsOwn(apSeg[i*nStep+k]);
    }
  }
  if( nNew==0 ) return 1;
  nByte = nSegment + (i64)sizeof(*aNew)*nNew + hpColumnsArraySize(nFull, p->nChunk);
  aNew = sqlite3_realloc64(p->aCol, sizeof(*aNew)*(u64)(p->nCol+nNew));
  if( aNew==0 ) return 0;
  p->aCol = aNew;
  if( !hpColumnsMay(pScan, nByte) ) return 0;
  apNew = hpColumnsArray(p, nFull, p->nChunk);
  if( apNew==0 ){
    pScan->pFile->nByte -= nByte;
    hpBudgetKept(nByte);
    return 0;
  }
  p->nByte += nByte;
  p->nSegment += nSegment;
  pScan->pFile->nInSlab += nInSlab;
  for(k=0; k<pPlan->nCol; k++){
    if( !hpColumnsIsNew(pScan, p, aHas, k) ) continue;
    aNew[p->nCol].iStore = pPlan->aCol[k].iStore;
    aNew[p->nCol].bReal = pPlan->aCol[k].bReal;
    aNew[p->nCol].apSeg = apSeg[k] ? apNew : 0;
    for(i=0; apSeg[k] && i<p->nChunk; i++){
      *apNew++ = apSeg[i*nStep+k];
      if( i ) apSeg[i*nStep+k] = 0;
    }
    apSeg[k] = 0;
    p->nCol++;
  }
  return 1;
}

/* A new run of the file */
static void hpColumnsInsert(HpColumnScan *pScan, HpColumnRun *p){
  HpColumnFile *pFile = pScan->pFile;
  if( pFile->nRun>=pFile->nSlot ) hpColumnsGrow(pFile);
  hpColumnsLink(pFile, p);
  pFile->nRun++;
}

/*
** A copy of pRun->pMend with the nSet columns of aSet[], batches of anRow[] rows, and aRow[i] rows up
** to the end of leaf i, whose records are sound if bSound.  Batch i of column k is
** apNew[k*nChunk+i], or if that is NULL, as before.  The mutex is held.  NULL without memory.
*/
static HpColumnRun *hpColumnsMendRun(
  HpColumnScan *pScan,
  const HpRun *pRun,
  const u16 *anRow,
  const u32 *aRow,
  int bSound,
  const struct HpColumnSet *aSet,
  int nSet,
  HpSegment **apNew
){
  HpColumnFile *pFile = pScan->pFile;
  const HpColumnRun *pOld = pRun->pMend;
  int nChunk = pOld->nChunk;
  HpColumnRun *p = hpColumnsNewRun(pScan, pRun, nChunk, anRow, aRow);
  i64 nOwn = sizeof(aSet[0])*(i64)nSet + hpColumnsArraySize(nSet, nChunk);
  i64 nShared = 0;
  HpSegment **apTo = 0;
  int i, k;
  if( p==0 ) return 0;
  p->bSound = (u8)bSound;
  p->aCol = sqlite3_malloc64(sizeof(aSet[0])*(u64)nSet);
  if( p->aCol ) apTo = hpColumnsArray(p, nSet, nChunk);
  for(k=0; apTo && k<nSet; k++){
    struct HpColumnSet *pSet = &p->aCol[k];
    *pSet = aSet[k];
    if( pSet->apSeg==0 ) continue;
    pSet->apSeg = apTo;
    for(i=0; i<nChunk; i++){
      HpSegment *pNew = apNew[k*nChunk+i];
      if( pNew ) nOwn += hpColumnsOwn(pNew); else nShared += hpColumnsOwn(aSet[k].apSeg[i]);
      *apTo++ = pNew ? pNew : aSet[k].apSeg[i];
    }
  }
  if( apTo==0 || !hpColumnsMay(pScan, nOwn) ){
    pFile->nByte -= p->nByte;
    hpColumnsFreeRun(pFile, p);
    return 0;
  }
  p->nCol = nSet;
  p->nByte += nOwn+nShared;
  pFile->nByte += nShared;
  for(k=0; k<nSet; k++){
    for(i=0; p->aCol[k].apSeg && i<nChunk; i++){
      HpSegment **ppNew = &apNew[k*nChunk+i];
      p->nSegment += hpColumnsOwn(p->aCol[k].apSeg[i]);
      if( *ppNew==0 ) p->aCol[k].apSeg[i]->nRef++;
      *ppNew = 0;
    }
  }
  return p;
}

/*
** The leaves of pRun that had changed since pRun->pMend was read have been read.  pRun reads columns
** of the copy of it that hpColumnsMendRun() makes, and so do the scans to come, unless the file has
** another state by now.  Segments that are taken over become NULL.  Returns false if there is no
** memory, or if a column that the scan wants cannot be kept any more.
*/
static int hpColumnsMended(
  HpColumnScan *pScan,
  HpRun *pRun,
  const u16 *anRow,
  const u32 *aRow,
  int bSound,
  const struct HpColumnSet *aSet,
  int nSet,
  HpSegment **apNew
){
  HpColumnFile *pFile = pScan->pFile;
  HpColumnRun *p;
  HpColumnRun **pp;
  int bDone;
  hpThreadEnter(pFile->pMutex);
  p = hpColumnsMendRun(pScan, pRun, anRow, aRow, bSound, aSet, nSet, apNew);
  bDone = p && hpColumnsMayUse(pScan, p) && hpColumnsHas(pScan, p, pRun, pRun->apKept);
  if( p ){
    /* Another scan may have mended it, or dropped it */
    pp = hpColumnsSlot(pFile, p->iFirst);
    while( *pp && *pp!=pRun->pMend ) pp = &(*pp)->pNext;
    if( *pp && pFile->iNow==pScan->iState ){
      HpColumnRun *pOld = *pp;
      hpColumnsDrop(pFile, pp);
      hpColumnsInsert(pScan, p);
      if( pFile->nScan==1 && pOld->nTaken==1 ){
        /* This worker reads the copy, there is no other scan, and none of its other workers
        ** has the old run, as it may if the leaves are in a damaged b-tree twice */
        assert( pFile->pDead==pOld );
        pFile->pDead = pOld->pNext;
        hpColumnsFreeRun(pFile, pOld);
      }
    }else{
      hpColumnsRetire(pFile, p);
    }
    if( bDone ){
      hpColumnsUsed(pScan, p);
      hpColumnsTake(p, 0, pRun);
    }
  }
  sqlite3_mutex_leave(pFile->pMutex);
  return bDone;
}

/*
** The leaves of pRun have been read, in nChunk batches of anRow[] rows; none, if they have
** only been counted.  apSeg[i*nCol+k] is
** the segment of column k of the plan, of batch i; NULL where it is not kept, in all
** batches alike, or in aHas[]: the run has had it.  Those that are taken over become NULL.  If
** the file has another state by now, nothing is kept.  bSound: all records have been looked at, and
** are sound.
*/
static void hpColumnsAdd(
  HpColumnScan *pScan,
  const HpRun *pRun,
  int nChunk,
  const u16 *anRow,
  HpSegment **apSeg,
  const u8 *aHas,
  int bSound
){
  HpColumnFile *pFile = pScan->pFile;
  HpColumnRun **pp;
  int bRoom = 1;
  hpThreadEnter(pFile->pMutex);
  if( pFile->iNow==pScan->iState ){
    pp = hpColumnsLook(pScan, pRun);
    /* Columns of one run are of one state */
    if( *pp && ((*pp)->nStale || (nChunk
     && ((*pp)->nChunk!=nChunk || memcmp((*pp)->anRow, anRow, sizeof(u16)*nChunk)))
    )){
      hpColumnsDrop(pFile, pp);
      pp = hpColumnsLook(pScan, pRun);
    }
    if( *pp==0 ){
      HpColumnRun *pNew = hpColumnsNewRun(pScan, pRun, nChunk, anRow, 0);
      if( pNew ){
        hpColumnsInsert(pScan, pNew);
        pFile->nKept++;
      }
      pp = hpColumnsLook(pScan, pRun);
      bRoom = pNew!=0;
    }
    if( *pp ) (*pp)->bSound |= (u8)bSound;
    if( bRoom && nChunk ) bRoom = hpColumnsAddSets(pScan, *pp, apSeg, aHas);
    if( bRoom==0 ) hpColumnsNoRoom(pScan);
  }else{
    pScan->bKeep = 0;
  }
  sqlite3_mutex_leave(pFile->pMutex);
}

/*
** The scan ends: what it found is no longer in use.
*/
static void hpColumnsClose(HpColumnScan *pScan){
  HpColumnFile *pFile = pScan->pFile;
  HpSlab *pFull = 0;
  hpThreadEnter(pFile->pMutex);
  assert( pFile->nScan>0 );
  pFile->nScan--;
  while( pScan->pSlab ){
    HpSlab *p = pScan->pSlab;
    HpSlab **ppTo = hpSlabRoom(p)<hpColumnsSlabMost(pScan) ? &pFull : &pFile->pSlab;
    pScan->pSlab = p->pNext;
    p->pNext = *ppTo;
    *ppTo = p;
  }
  hpColumnsLeaveSlabs(pFile, &pFull);
  hpColumnsBury(pFile);
  sqlite3_mutex_leave(pFile->pMutex);
  hpColumnsUnref(pFile, 0);
}

#else

static HpColumnScan *hpColumnsOpen(HpQuery *p, Pager *pPager, int bSome){
  UNUSED_PARAMETER2(p, pPager);
  UNUSED_PARAMETER(bSome);
  return 0;
}
static void hpColumnsFind(HpColumnScan *p, HpRun *pRun){ UNUSED_PARAMETER2(p, pRun); }
static int hpColumnsQuick(
  HpColumnScan *p,
  HpRun *pRun,
  int nUnit,
  int nMost,
  const Pgno *aMore,
  int nMore
){
  UNUSED_PARAMETER2(p, pRun);
  UNUSED_PARAMETER2(nUnit, nMost);
  UNUSED_PARAMETER(aMore);
  UNUSED_PARAMETER(nMore);
  return 0;
}
static int hpColumnsNext(HpColumnScan *p, HpRun *pRun){
  UNUSED_PARAMETER2(p, pRun);
  return 0;
}
static const HpColumnInner *hpColumnsInner(HpColumnScan *p, Pgno iPg, int szUnit){
  UNUSED_PARAMETER2(p, iPg);
  UNUSED_PARAMETER(szUnit);
  return 0;
}
static void hpColumnsInnerAdd(HpColumnScan *p, Pgno iPg, const HpInner *pIn, int szUnit){
  UNUSED_PARAMETER2(p, iPg);
  UNUSED_PARAMETER2(pIn, szUnit);
}
static i64 hpColumnsPlace(const HpRun *pRun, u32 iRow){
  return HP_PLACE(pRun->iSeq, 0, iRow);
}
static void hpColumnsClose(HpColumnScan *p){ UNUSED_PARAMETER(p); }
static int hpColumnsSeemKept(const sqlite3 *db, const HpSourcePlan *pPlan, i64 nLeaf){
  UNUSED_PARAMETER2(db, pPlan);
  UNUSED_PARAMETER(nLeaf);
  return 0;
}
static void hpColumnsLeave(Pager *p, int bUnlink){ UNUSED_PARAMETER2(p, bUnlink); }
SQLITE_PRIVATE void sqlite3HpCommitBegin(Pager *p){ UNUSED_PARAMETER(p); }
SQLITE_PRIVATE void sqlite3HpCommitEnd(Pager *p, int bDone){ UNUSED_PARAMETER2(p, bDone); }
# ifndef SQLITE_OMIT_WAL
SQLITE_PRIVATE void sqlite3HpWalBegun(Wal *pWal, const WalIndexHdr *pOld){
  UNUSED_PARAMETER2(pWal, pOld);
}
# endif
#endif /* HP_SHARED */

/*
** Memory is to be given back, or the pager is closed: leave what is shared.
*/
SQLITE_PRIVATE void sqlite3HpCacheLeave(Pager *pPager){
  hpStoreLeave(pPager);
  hpColumnsLeave(pPager, 0);
}

/*
** The content of the file may be another than is known: forget all.
*/
SQLITE_PRIVATE void sqlite3HpCacheForget(Pager *pPager){
  hpStoreForget(pPager);
  hpColumnsLeave(pPager, 1);
}
#endif /* SQLITE_OMIT_HP */
