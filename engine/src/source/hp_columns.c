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
** This module keeps it; what one scan sees of that is in hp_columnscan.c, and
** whether the file has changed since in hp_filestate.c.
**
**    hpColumnsJoin()     What is kept of the file of a pager, with a reference
**                        more.
**    hpColumnsUnref()    A reference less.
**    hpColumnsLeave()    Memory is to be given back, or the pager is closed.
**    hpColumnsState()    The state that a transaction sees.  What does not hold
**                        any more is dropped.
**    hpColumnsTick()     A scan of a file begins.
**    hpColumnsIdle()     One had no room: let the columns of an idle file go.
**    hpColumnsInner(), hpColumnsInnerAdd()   What is known of a page above leaves.
**    hpColumnsSlot(), hpColumnsLook(), hpColumnsSame(), hpColumnsSameKind(),
**    hpColumnsSet()      Runs, and columns of one.
**    hpColumnsRows()     Rows of one of the batches of a run.
**    hpColumnsLeafRows(), hpColumnsChunks()   Rows of one of its leaves; how many batches.
**    hpColumnsInOrder()  Are its rowids in order, as a range of rowids wants them?
**    hpColumnsSets()     Its columns, those that the scan does not read, too.
**    hpColumnsPlace()    The place of a row of a run (hp_place.c).
**    hpColumnsAbove()    The page above its leaves is as the scan sees it.
**    hpColumnsSlab(), hpColumnsSlabMost()   Memory for segments.
**    hpColumnsLeaveSlabs()   Slabs that are not used any more.
**    hpColumnsAdd()      Columns of a run that a scan has read.
**    hpColumnsMendRun()  A copy of a run, some of whose leaves have been read
**                        anew (hp_mend.c).
**    hpColumnsInsert(), hpColumnsDrop(), hpColumnsRetire(),
**    hpColumnsFreeRun()  A run comes, or goes.
**    hpColumnsBury()     Free what was dropped, if no scan runs.
**    sqlite3HpCacheLeave()   Memory is to be given back, or the pager is closed.
**    sqlite3HpCacheForget()  SQLITE_FCNTL_RESET_CACHE; the pager leaves WAL mode.
**    sqlite3HpMemoryWanted() A heap limit is met, or memory is wanted back.
**    hpColumnsGiveBack()     The same of one file, as the machine is short of
**                            it.
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
** Where only the number of rows is asked for that is kept, without columns; of an index, too.
**
** Which state.  A run is true of the state that it was read in (iBorn) and of
** all later ones, but for leaves that have changed (aStale); what is known of a
** page above leaves, until it changes.  A run is dropped when a fourth of its
** leaves are stale, since to read it again would take as long.
**
** There is one HpColumnFile for a file as long as anybody has it
** (HpFileState.pColumns): whoever gives up what is kept drops it for all.
**
** Bounds.  hp_store.c and this module have one account (hpBudgetKeep()).
** PRAGMA hp_columns may set less for what the scans of a connection add to, and
** so does a page cache that is smaller than the default (hpStoreShare()).  When
** there is no more room, runs go that HP_UNUSED scans of the file have passed
** over; if there are none, nothing more is kept.  A scan that had no room as
** other files have it ends with dropping what is kept of an idle one: the next
** has room.
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
#define HP_IDLE      64        /* Scans of others after which a file is idle */
#define HP_TINY      60000     /* columns=tiny: bytes that runs of a file may take */
#define HP_INNERS    256       /* Slots of pages above leaves */
#define HP_NOTES     1024      /* Columns noted, a power of two */
#define HP_MX_WAIT   64        /* Most scans of one state that are waited for */
#define HP_MX_STALE  4         /* A run is dropped when a leaf in so many has changed */
#define HP_PAYS      3         /* To keep a run takes as long as so many finds save */

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
  u32 nTaken;            /* How often it was taken when there were such
                         ** leaves */
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
** and those from iScan on by pMutex. */
typedef struct HpColumnFile HpColumnFile;
struct HpColumnFile {
  HpFileState *pState;   /* The file, and what has changed */
  sqlite3_mutex *pMutex; /* That of pState */
  HpColumnFile *pNext, *pPrev;   /* (m) In hpColumnsList */
  int nRef;              /* (m) Pagers and scans that use it */
  u32 iClock;            /* hpColumnsClock when it was scanned last.  Atomic */
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
  u8 bShort;             /* What there may be for all files is used up */
  u8 aKeep[HP_MX_COL];   /* Which columns */
  i64 szSlab;            /* Bytes of a new slab */
  HpSlab *pSlab;         /* Slabs that its workers have, or had */
};

static HpColumnFile *hpColumnsList = 0;    /* (m) */
static u32 hpColumnsClock = 0;             /* Scans of all files.  Atomic */

/* Something more is kept of the file, or less.  The mutex is held; others only
** look */
static void hpColumnsHolds(HpColumnFile *pFile, int n){
  HpFileState *p = pFile->pState;
  assert( sqlite3_mutex_held(p->pMutex) && (n>0 || p->nHeld>0) );
  AtomicStore(&p->nHeld, p->nHeld+n);
}

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
  hpColumnsHolds(pFile, -1);
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
  hpColumnsHolds(pFile, -1);
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

/* Nothing that is kept holds any more */
static void hpColumnsNone(HpColumnFile *pFile){
  hpColumnsDropSome(pFile, 0);
  hpColumnsLost(pFile);
}

static u64 hpColumnsState(HpColumnFile *pFile, Pager *pPager){
  HpFileState *p = pFile->pState;
  u64 iState = hpFileStateNow(p, pPager);
  if( p->bLost ){
    hpColumnsNone(pFile);
  }else if( p->changed.n ){
    Pgno *aTmp = sqlite3_malloc64(sizeof(Pgno)*(u64)p->changed.n);
    if( aTmp ){
      hpColumnsStale(pFile, p->changed.a, aTmp, p->changed.n, p->iTold+1);
      sqlite3_free(aTmp);
    }else{
      hpFileStateLost(p);
      hpColumnsNone(pFile);
      iState = 0;
    }
  }
  hpFileStateTold(p);
  return iState;
}

static void hpColumnsFree(HpColumnFile *p){
  assert( p->nRef==0 && p->nScan==0 );
  if( p->apRun ){
    hpThreadEnter(p->pMutex);
    hpColumnsDropSome(p, 0);
    assert( p->nByte==0 );
    sqlite3_mutex_leave(p->pMutex);
  }
  sqlite3_free(p->apRun);
  sqlite3_free(p);
}

static HpColumnFile *hpColumnsNew(HpFileState *pState){
  HpColumnFile *p = sqlite3MallocZero(sizeof(*p));
  if( p==0 ) return 0;
  p->pState = pState;
  p->pMutex = pState->pMutex;
  p->nSlot = 64;
  p->apRun = sqlite3MallocZero(p->nSlot*sizeof(p->apRun[0]));
  if( p->apRun==0 ){
    hpColumnsFree(p);
    return 0;
  }
  return p;
}

/* One user less */
static void hpColumnsUnref(HpColumnFile *p){
  MUTEX_LOGIC( sqlite3_mutex *pMutex = sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  HpFileState *pState = p->pState;
  int bFree;
  sqlite3_mutex_enter(pMutex);
  assert( p->nRef>0 && pState->pColumns==p );
  bFree = --p->nRef==0;
  if( bFree ){
    pState->pColumns = 0;
    if( p->pNext ) p->pNext->pPrev = p->pPrev;
    if( p->pPrev ) p->pPrev->pNext = p->pNext; else hpColumnsList = p->pNext;
  }
  sqlite3_mutex_leave(pMutex);
  if( bFree ){
    hpColumnsFree(p);
    hpFileStateUnref(pState);
  }
}

/* Let go of the columns of pPager */
static void hpColumnsLeave(Pager *pPager){
  HpColumnFile *p = pPager->hp.pColumns;
  pPager->hp.pColumns = 0;
  if( p ) hpColumnsUnref(p);
}

/* There may be less than is kept: drop all runs of the file of pPager, whoever
** else has it open */
static void hpColumnsGiveBack(Pager *pPager){
  HpColumnFile *p = pPager->hp.pColumns;
  if( p==0 ) return;
  hpThreadEnter(p->pMutex);
  hpColumnsDropSome(p, 0);
  hpColumnsLost(p);
  sqlite3_mutex_leave(p->pMutex);
}

/*
** Drop the runs of all files that are not being scanned.  This is called when
** memory is allocated, by a thread that may have the mutex of a file: never
** while it goes through the runs, unless it scans.
*/
SQLITE_PRIVATE void sqlite3HpMemoryWanted(void){
  MUTEX_LOGIC( sqlite3_mutex *pMutex; )
  HpColumnFile *p;
  if( AtomicLoad(&hpColumnsList)==0 ) return;
  MUTEX_LOGIC( pMutex = sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  if( sqlite3_mutex_try(pMutex)!=SQLITE_OK ) return;
  for(p=hpColumnsList; p; p=p->pNext){
    if( sqlite3_mutex_try(p->pMutex)!=SQLITE_OK ) continue;
    if( p->nRun && p->nScan==0 ){
      hpColumnsDropSome(p, 0);
      hpColumnsLost(p);
    }
    sqlite3_mutex_leave(p->pMutex);
  }
  sqlite3_mutex_leave(pMutex);
}

/*
** Scans have had no room, as other files have it.  Drop what is kept of the one
** that has not been scanned for the longest time, if that was so long ago that
** it is idle.  No mutex is held.
*/
static void hpColumnsIdle(void){
  MUTEX_LOGIC( sqlite3_mutex *pMutex = sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  u32 iClock = AtomicLoad(&hpColumnsClock);
  u32 nMost = HP_IDLE;
  HpColumnFile *pIdle = 0;
  HpColumnFile *p;
  sqlite3_mutex_enter(pMutex);
  for(p=hpColumnsList; p; p=p->pNext){
    u32 nAge = iClock - AtomicLoad(&p->iClock);
    if( nAge>nMost && AtomicLoad(&p->pState->nHeld)>0 ){
      nMost = nAge;
      pIdle = p;
    }
  }
  if( pIdle ) pIdle->nRef++;
  sqlite3_mutex_leave(pMutex);
  if( pIdle ){
    hpThreadEnter(pIdle->pMutex);
    hpColumnsDropSome(pIdle, 0);
    sqlite3_mutex_leave(pIdle->pMutex);
    hpColumnsUnref(pIdle);
  }
}

/* A scan of the file begins */
static void hpColumnsTick(HpColumnFile *p){
  AtomicStore(&p->iClock, __atomic_add_fetch(&hpColumnsClock, 1,
                                             __ATOMIC_RELAXED));
}

/*
** What is kept of the file of *ppState, of which this takes over the reference,
** with one user more.  NULL without memory.
*/
static HpColumnFile *hpColumnsOf(HpFileState **ppState){
  MUTEX_LOGIC( sqlite3_mutex *pMutex = sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  HpFileState *pState = *ppState;
  HpColumnFile *pNew = hpColumnsNew(pState);
  HpColumnFile *p;
  sqlite3_mutex_enter(pMutex);
  p = pState->pColumns;
  if( p==0 && pNew ){
    p = pNew;
    pNew = 0;
    *ppState = 0;
    pState->pColumns = p;
    p->pNext = hpColumnsList;
    if( hpColumnsList ) hpColumnsList->pPrev = p;
    hpColumnsList = p;
  }
  if( p ) p->nRef++;
  sqlite3_mutex_leave(pMutex);
  if( pNew ) hpColumnsFree(pNew);
  return p;
}

/*
** The columns of the file of pPager, for the pager, if it has none yet, and for
** a scan.  NULL without memory.
*/
static HpColumnFile *hpColumnsJoin(Pager *pPager){
  MUTEX_LOGIC( sqlite3_mutex *pMutex = sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  HpColumnFile *p = pPager->hp.pColumns;
  if( p==0 ){
    HpFileState *pState = hpFileStateJoin(pPager->fd);
    if( pState==0 ) return 0;
    p = hpColumnsOf(&pState);
    if( pState ) hpFileStateUnref(pState);
    if( p==0 ) return 0;
    pPager->hp.pColumns = p;
  }
  sqlite3_mutex_enter(pMutex);
  p->nRef++;
  sqlite3_mutex_leave(pMutex);
  return p;
}

/* May the runs of the file take n bytes more? */
static int hpColumnsMay(HpColumnScan *pScan, i64 n){
  HpColumnFile *pFile = pScan->pFile;
  if( pFile->nByte+n>pScan->nLimit ) return 0;
  if( !hpBudgetKeep(n) ){
    pScan->bShort = 1;
    return 0;
  }
  pFile->nByte += n;
  return 1;
}

/* Are the nPage leaves of p from iFirst on those of aPage[]? */
static int hpColumnsSame(const HpColumnRun *p, int iFirst, const Pgno *aPage, int nPage){
  return p->nPage>=iFirst+nPage && memcmp(&p->aPg[iFirst], aPage, sizeof(Pgno)*nPage)==0;
}

/* Is run p of a b-tree of the kind that the scan reads?  A damaged file may
** have a page in both */
static int hpColumnsSameKind(const HpColumnScan *pScan, const HpColumnRun *p){
  return p->bIndex==pScan->pPlan->bIndex;
}

/* The run with the leaves of pRun, or the end of its slot.  The mutex is held. */
static HpColumnRun **hpColumnsLook(
  const HpColumnScan *pScan,
  const HpRun *pRun
){
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

/* The leaves of run p are those of pRun, as the scan sees the page above them */
static void hpColumnsAbove(const HpColumnScan *pScan, HpColumnRun *p, const HpRun *pRun){
  p->iInner = pRun->iInner;
  p->iChild = pRun->iChild;
  p->bWhole = pRun->bWhole;
  p->iInnerBorn = pScan->iState;
  p->iInnerStale = 0;
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
  hpColumnsHolds(pFile, +1);
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
** What is known of page iPg above leaves, which has not changed since, and
** whose leaves are cut into units of szUnit; or NULL.  It is there until the
** scan ends.
*/
static const HpColumnInner *hpColumnsInner(
  HpColumnScan *pScan,
  Pgno iPg,
  int szUnit
){
  HpColumnFile *pFile = pScan->pFile;
  HpColumnInner *p;
  hpThreadEnter(pFile->pMutex);
  p = pFile->apInner[iPg%HP_INNERS];
  while( p && (p->iPg!=iPg || p->szUnit!=szUnit || p->iBorn>pScan->iState) ){
    p = p->pNext;
  }
  sqlite3_mutex_leave(pFile->pMutex);
  return p;
}

/* Page iPg is *pIn, and stands above leaves.  Remember that */
static void hpColumnsInnerAdd(
  HpColumnScan *pScan,
  Pgno iPg,
  const HpInner *pIn,
  int szUnit
){
  HpColumnFile *pFile = pScan->pFile;
  i64 nByte = hpColumnsInnerSize(pIn->nCell, szUnit);
  HpColumnInner **pp = &pFile->apInner[iPg%HP_INNERS];
  HpColumnInner *p;
  int i;
  hpThreadEnter(pFile->pMutex);
  for(p=*pp; p && (p->iPg!=iPg || p->szUnit!=szUnit); p=p->pNext){}
  if( p==0 && pFile->pState->iNow==pScan->iState
   && (p = sqlite3_malloc64((u64)nByte))!=0 ){
    if( hpColumnsMay(pScan, nByte) ){
      p->iPg = iPg;
      p->iBorn = pScan->iState;
      p->nCell = pIn->nCell;
      p->szUnit = szUnit;
      for(i=0; i<=pIn->nCell/szUnit; i++){
        p->aFirst[i] = hpPageChild(pIn, i*szUnit);
      }
      p->pNext = *pp;
      *pp = p;
      hpColumnsHolds(pFile, +1);
    }else{
      sqlite3_free(p);
    }
  }
  sqlite3_mutex_leave(pFile->pMutex);
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
  if( pFile->pState->iNow==pScan->iState ){
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

static int hpColumnsRows(const HpColumnRun *p, int i){
  assert( i>=0 && i<p->nChunk );
  return p->anRow[i];
}

static u32 hpColumnsLeafRows(const HpColumnRun *p, int i){
  return p->aRow[i] - (i>0 ? p->aRow[i-1] : 0);
}

static int hpColumnsChunks(const HpColumnRun *p){ return p->nChunk; }

/*
** Of pRun, whose columns are in memory, column iCol has the rowids, and none of
** its batches has been given yet.  Are they in order, and within the bounds of
** each leaf: HpRun.iLow and aHigh?
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
** Set aSet[] to the columns of p, up to nAlloc of them, and *pbSound to whether
** its records are known to be sound.  Returns how many columns there are.
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

/* Of pRun, whose columns are in memory: the place of row iRow of its unit */
static i64 hpColumnsPlace(const HpRun *pRun, u32 iRow){
  const u32 *aRow = pRun->pKept->aRow;
  int iLow = pRun->iInUnit, iHigh = pRun->iInUnit+pRun->nPage-1;
  assert( iRow<aRow[iHigh] && (iLow==0 || iRow>=aRow[iLow-1]) );
  while( iLow<iHigh ){
    int iMid = (iLow+iHigh)/2;
    if( aRow[iMid]<=iRow ) iLow = iMid+1; else iHigh = iMid;
  }
  return HP_PLACE(pRun->iSeq, iLow-pRun->iInUnit,
                  iRow-(iLow ? aRow[iLow-1] : 0));
}

#else

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
static void hpColumnsLeave(Pager *p){ UNUSED_PARAMETER(p); }
SQLITE_PRIVATE void sqlite3HpMemoryWanted(void){}
#endif /* HP_SHARED */

SQLITE_PRIVATE void sqlite3HpCacheLeave(Pager *pPager){
  hpStoreLeave(pPager);
  hpColumnsLeave(pPager);
}

/*
** The content of the file may be another than is known: forget all.
*/
SQLITE_PRIVATE void sqlite3HpCacheForget(Pager *pPager){
  hpStoreForget(pPager);
#ifdef HP_SHARED
  hpFileStateForget(pPager->fd);
#endif
  hpColumnsLeave(pPager);
}
#endif /* SQLITE_OMIT_HP */
