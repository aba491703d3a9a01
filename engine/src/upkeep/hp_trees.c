/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_trees: the b-trees of a file, all pages of them: OP_IntegrityCk.
**
**    sqlite3HpTrees()    are they sound?
**
** PRAGMA integrity_check and quick_check begin with all pages of all b-trees,
** which SQLite reads one by one.  Here workers do that, around the page cache.
** If nothing is wrong the numbers of entries are there, as SQLite counts them,
** and no message.  If anything is, or only seems so, nothing is said:
** SQLite's code begins from its first line, so that messages, their order and
** their number are SQLite's.
**
**    1. The caller looks at the list of free pages, reads the pointer maps of a
**       file that has some, and goes down from each root, level by level, to
**       the lowest interior pages.  These are one in 100 or fewer: the units.
**    2. Workers take units.  Of each they check the page, read its leaves in
**       runs (hp_leafread.c), check them, and follow the chains of overflow
**       pages that begin in them (hp_chain.c), of which all that matters is
**       which page comes next.
**    3. The caller puts the workers' bits together: a page that two of them
**       have seen is named twice.  Of a whole file no page may be left over.
**
** Leaves have the same depth, since those of a tree are read at one level.  A
** table that is a single page is checked by the caller.
**
** The file, and the log under the read mark, say what the page cache would say
** if no page in it is dirty.  Else, and for other than the built-in VFS, for
** databases in memory, and for files of a few pages it is left to SQLite.
**
** Steps.  Each page is one for the progress handler, as it is for SQLite.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifndef SQLITE_OMIT_INTEGRITY_CHECK

#define HP_TREES_MIN    100    /* A file of fewer pages is left to SQLite */
#define HP_TREES_AHEAD  4      /* Units whose pages are asked for ahead */

/* A lowest interior page */
typedef struct HpTreeUnit HpTreeUnit;
struct HpTreeUnit {
  Pgno iPg;
  int iRoot;             /* Its b-tree: HpTrees.aRoot[] */
  u8 bTable;             /* That of a table */
  HpTreeBound bound;     /* Rowids under it */
};

/* All of it */
typedef struct HpTrees HpTrees;
struct HpTrees {
  HpQuery query;         /* The statement, and how it is stopped */
  HpPipe pipe;           /* Workers, and how they are stopped */
  BtShared *pBt;
  const Pgno *aRoot;     /* Root pages */
  int nRoot;
  u32 nPage;             /* Pages of the file */
  int nMax;              /* Most leaves a run */
  u8 *aMap;              /* Memory of the pointer maps, ... */
  u8 **apMap;            /* ... and each of them */
  HpTreeUnit *aUnit;     /* Units, ... */
  int nUnit, nUnitAlloc;
  int iUnit;             /* ... and the next one to be taken */
  HpSource source;       /* How leaves are read.  bCold is of all workers */
  sqlite3 *pNobody;      /* The connection of all workers but the first */
};

/* What a worker has: HpWorker.pSink */
typedef struct HpTreeWorker HpTreeWorker;
struct HpTreeWorker {
  HpTrees *pAll;
  HpTreeLook look;
  i64 *aCnt;             /* Entries that it has seen, of each b-tree */
  HpTreeBound *aBound;   /* Of each leaf of the run */
  u8 *aInner;            /* The page of the unit */
  u8 *aSkip;             /* Overflow pages, which nobody looks at */
  HpArena mem;
};

/*
** Read the pages of the worker's run, whose numbers are there.
*/
static int hpTreesRead(HpWorker *p){
  HpTreeWorker *pSelf = (HpTreeWorker*)p->pSink;
  HpSource *pSrc = &pSelf->pAll->source;
  int rc;
  assert( p->pRead->run.nPage>0 && p->pRead->run.nPage<=pSelf->pAll->nMax );
  memset(p->pRead->run.aFrame, 0, sizeof(u32)*p->pRead->run.nPage);
  hpThreadLock(p->pPipe);
  rc = hpLeafReadFrames(pSrc, &p->pRead->run);
#ifdef HP_READAHEAD
  if( rc==SQLITE_OK && p->pRead->run.nAhead>0
   && hpAheadFrames(pSrc->pPager, p->pRead->run.aAhead,
                    p->pRead->run.aAheadFrame,
                    p->pRead->run.nAhead)
  ){
    p->pRead->run.nAhead = 0;
  }
#endif
  hpThreadUnlock(p->pPipe);
  if( rc==SQLITE_OK ) rc = hpLeafReadFile(pSrc, &p->pRead->run);
  p->pRead->run.nAhead = 0;
  return rc;
}

/*
** Of a chain of overflow pages page iPg is the next one, and nPage of it are
** still to come.  Read some, and return their number, or 0: they are not to be
** had.  *piNext becomes what comes after them.
*/
static u32 hpTreesChainRead(HpWorker *p, Pgno iPg, u32 nPage, Pgno *piNext){
  HpTreeWorker *pSelf = (HpTreeWorker*)p->pSink;
  BtShared *pBt = pSelf->pAll->pBt;
  DbPage *pDb;
  u32 n = 0;
#ifdef HP_PREADV
  u32 szData = pBt->usableSize-4;
  int bWal = pSelf->pAll->source.bWal;
  assert( nPage<=SQLITE_MAX_LENGTH/szData+1 );
  if( bWal ) hpThreadLock(p->pPipe);
  n = hpChainRead(pBt, &p->pRead->guess, HP_CHAIN_SINGLE|HP_CHAIN_FRAMES, iPg,
                  0, 0,
                  nPage*szData, pSelf->aSkip, piNext);
  if( bWal ) hpThreadUnlock(p->pPipe);
  if( n>0 ) return n;
#else
  UNUSED_PARAMETER(nPage);
#endif
  hpThreadLock(p->pPipe);
  if( sqlite3PagerGet(pBt->pPager, iPg, &pDb, PAGER_GET_READONLY)==SQLITE_OK ){
    *piNext = get4byte((const u8*)sqlite3PagerGetData(pDb));
    sqlite3PagerUnrefNotNull(pDb);
    n = 1;
  }
  hpThreadUnlock(p->pPipe);
  return n;
}

/*
** Follow a chain of overflow pages to its end.
*/
static int hpTreesChain(HpWorker *p, const HpTreeChain *pChain){
  HpTreeWorker *pSelf = (HpTreeWorker*)p->pSink;
  HpTreeLook *pLook = &pSelf->look;
  Pgno iPg = pChain->iPg;
  Pgno iPrev = 0;        /* The page before, in the chain */
  u32 nLeft = pChain->nPage;
  while( nLeft>0 ){
    Pgno iNext;
    u32 n, i;
    if( iPg<2 || iPg>pLook->nPage ) return HP_DECLINE;
    n = hpTreesChainRead(p, iPg, nLeft, &iNext);
    if( n==0 ) return HP_DECLINE;
    assert( n<=nLeft );
    for(i=0; i<n; i++){
      u8 eType = iPrev ? PTRMAP_OVERFLOW2 : PTRMAP_OVERFLOW1;
      if( hpTreePageRef(pLook, iPg+i)
       || hpTreePageMap(pLook, iPg+i, eType, iPrev ? iPrev : pChain->iParent)
      ){
        return HP_DECLINE;
      }
      iPrev = iPg+i;
    }
    nLeft -= n;
    iPg = iNext;
    if( nLeft>0 && hpThreadStopped(p->pPipe) ) return HP_DECLINE;
  }
  return iPg==0 ? SQLITE_OK : HP_DECLINE;
}

/* Follow the chains that the pages have which were checked last */
static int hpTreesChains(HpWorker *p){
  HpTreeLook *pLook = &((HpTreeWorker*)p->pSink)->look;
  int rc = SQLITE_OK;
  int i;
  for(i=0; i<pLook->nChain && rc==SQLITE_OK; i++){
    rc = hpTreesChain(p, &pLook->aChain[i]);
  }
  pLook->nChain = 0;
  return rc;
}

/*
** Read and check the leaves whose numbers are in the worker's run.
*/
static int hpTreesLeaves(HpWorker *p, const HpTreeUnit *pUnit){
  HpTreeWorker *pSelf = (HpTreeWorker*)p->pSink;
  u8 eType = pUnit->bTable ? PTF_INTKEY|PTF_LEAFDATA|PTF_LEAF
                           : PTF_ZERODATA|PTF_LEAF;
  int rc, i;
  assert( pSelf->look.nChain==0 && p->pRead->run.nPage>0 );
  rc = hpTreesRead(p);
  for(i=0; i<p->pRead->run.nPage && rc==SQLITE_OK; i++){
    const u8 *aPage = &p->pRead->run.aBuf[(i64)i*p->pRead->run.szPage];
    rc = hpTreePage(&pSelf->look, p->pRead->run.aLeaf[i], aPage, eType, 0,
                    &pSelf->aBound[i]);
    pSelf->aCnt[pUnit->iRoot] += get2byte(&aPage[3]);
  }
  if( rc==SQLITE_OK ) rc = hpTreesChains(p);
  if( rc==SQLITE_OK ) rc = hpThreadProgress(p, (u32)p->pRead->run.nPage);
  p->pRead->run.nPage = 0;
  return rc;
}

/*
** The bounds of child i of interior page *pIn, whose own are pAround.
*/
static int hpTreesBound(
  const HpInner *pIn,
  int i,
  const HpTreeBound *pAround,
  HpTreeBound *pBound
){
  const u8 *z;
  assert( i>=0 && i<=pIn->nCell );
  *pBound = *pAround;
  if( i>0 ){
    z = hpPageCell(pIn, i-1);
    if( z==0 ) return HP_DECLINE;
    sqlite3GetVarint(&z[4], (u64*)&pBound->iLow);
    pBound->mOn |= 1;
  }
  if( i<pIn->nCell ){
    z = hpPageCell(pIn, i);
    if( z==0 ) return HP_DECLINE;
    sqlite3GetVarint(&z[4], (u64*)&pBound->iHigh);
    pBound->mOn |= 2;
  }
  return SQLITE_OK;
}

/*
** Check the interior page of a unit, which is in pSelf->aInner.
*/
static int hpTreesInner(
  HpTreeWorker *pSelf,
  const HpTreeUnit *pUnit,
  HpInner *pIn
){
  u8 eType = pUnit->bTable ? PTF_INTKEY|PTF_LEAFDATA : PTF_ZERODATA;
  int bRoot = pUnit->iPg==pSelf->pAll->aRoot[pUnit->iRoot];
  int rc;
  assert( pSelf->look.nChain==0 );
  rc = hpTreePage(&pSelf->look, pUnit->iPg, pSelf->aInner, eType, bRoot,
                      &pUnit->bound);
  if( rc ) return rc;
  hpPageInner(pIn, pSelf->pAll->pBt, pSelf->aInner, pUnit->iPg);
  if( pUnit->bTable==0 ) pSelf->aCnt[pUnit->iRoot] += pIn->nCell;
  return SQLITE_OK;
}

#ifdef HP_READAHEAD
/*
** Reads are slow.  Note in the worker's run that the leaves of the unit are to
** be asked for, and the pages of some units to come; unless the leaves are in
** order, where the operating system reads ahead by itself.
*/
static void hpTreesAhead(HpWorker *p, const HpInner *pIn, int iUnit){
  const HpTrees *pAll = ((HpTreeWorker*)p->pSink)->pAll;
  HpRun *pRun = &p->pRead->run;
  int nNear = 0;
  int n = 0;
  int i;
  Pgno iLast = 0;
  for(i=0; i<=pIn->nCell && n<HP_AHEAD_LEAVES-HP_TREES_AHEAD; i++){
    Pgno iPg = hpPageChild(pIn, i);
    if( iPg<2 || iPg>pAll->nPage ) continue;
    nNear += hpAheadNear(iLast, iPg);
    iLast = iPg;
    pRun->aAhead[n++] = iPg;
  }
  if( nNear>=n-n/8 ) n = 0;
  for(i=1; i<=HP_TREES_AHEAD && iUnit+i<pAll->nUnit; i++){
    pRun->aAhead[n++] = pAll->aUnit[iUnit+i].iPg;
  }
  assert( n<=HP_AHEAD_LEAVES );
  pRun->nAhead = n;
  pRun->nSpan = 1;
  hpPageSort(pRun->aAhead, (u32)n);
}
#endif

/*
** Check the interior page of unit iUnit, and the leaves under it.
*/
static int hpTreesUnit(HpWorker *p, int iUnit){
  HpTreeWorker *pSelf = (HpTreeWorker*)p->pSink;
  HpTrees *pAll = pSelf->pAll;
  const HpTreeUnit *pUnit = &pAll->aUnit[iUnit];
  HpRun *pRun = &p->pRead->run;
  HpInner in;
  int rc, i;
  pRun->aLeaf[0] = pUnit->iPg;
  pRun->nPage = 1;
  rc = hpTreesRead(p);
  pRun->nPage = 0;
  if( rc ) return rc;
  memcpy(pSelf->aInner, pRun->aBuf, pAll->source.szPage);
  rc = hpTreesInner(pSelf, pUnit, &in);
  if( rc==SQLITE_OK ) rc = hpTreesChains(p);
  if( rc==SQLITE_OK ) rc = hpThreadProgress(p, 1);
#ifdef HP_READAHEAD
  if( rc==SQLITE_OK && pRun->aAhead && AtomicLoad(&pAll->source.bCold) ){
    hpTreesAhead(p, &in, iUnit);
  }
#endif
  for(i=0; i<=in.nCell && rc==SQLITE_OK; i++){
    Pgno iPg = hpPageChild(&in, i);
    if( hpTreePageChild(&pSelf->look, iPg, pUnit->iPg) ) return HP_DECLINE;
    pSelf->aBound[pRun->nPage] = pUnit->bound;
    if( pUnit->bTable ){
      rc = hpTreesBound(&in, i, &pUnit->bound, &pSelf->aBound[pRun->nPage]);
      if( rc ) return rc;
    }
    pRun->aLeaf[pRun->nPage++] = iPg;
    if( pRun->nPage==pAll->nMax || i==in.nCell ) rc = hpTreesLeaves(p, pUnit);
  }
  return rc;
}

/*
** What a worker does in its thread: unit after unit.
*/
static void hpTreesWork(HpWorker *p){
  HpTrees *pAll = ((HpTreeWorker*)p->pSink)->pAll;
  assert( p->rc==SQLITE_OK && p->pPipe==&pAll->pipe );
  while( p->rc==SQLITE_OK ){
    int i = hpThreadNext(&pAll->pipe, &pAll->iUnit);
    if( i>=pAll->nUnit ) return;
    p->rc = hpThreadStopped(&pAll->pipe);
    if( p->rc==SQLITE_OK ) p->rc = hpTreesUnit(p, i);
  }
  AtomicStore(&pAll->pipe.pass.bStop, 1);
}

/* Copy page iPg, as the pager has it, to aTo[] */
static int hpTreesFetch(const HpTrees *p, Pgno iPg, u8 *aTo){
  DbPage *pDb;
  int rc = sqlite3PagerGet(p->pBt->pPager, iPg, &pDb, PAGER_GET_READONLY);
  if( rc ) return rc;
  memcpy(aTo, sqlite3PagerGetData(pDb), p->source.szPage);
  sqlite3PagerUnrefNotNull(pDb);
  return SQLITE_OK;
}

/* One more unit */
static int hpTreesAdd(HpTrees *p, const HpTreeUnit *pUnit){
  if( hpBufGrow(&p->aUnit, &p->nUnitAlloc, p->nUnit, sizeof(*pUnit)) ){
    return HP_DECLINE;
  }
  p->aUnit[p->nUnit++] = *pUnit;
  return SQLITE_OK;
}

/*
** Units from iFrom on are a level of a b-tree.  Are their children leaves?
** *pbLow says so.
*/
static int hpTreesIsLow(HpTrees *p, HpTreeWorker *pSelf, int iFrom, int *pbLow){
  HpInner in;
  int rc = hpTreesFetch(p, p->aUnit[iFrom].iPg, pSelf->aInner);
  Pgno iPg;
  assert( iFrom<p->nUnit );
  *pbLow = 0;
  if( rc ) return rc;
  hpPageInner(&in, p->pBt, pSelf->aInner, p->aUnit[iFrom].iPg);
  if( in.nCell>(int)MX_CELL(p->pBt) ) return HP_DECLINE;
  iPg = hpPageChild(&in, 0);
  if( iPg<2 || iPg>p->nPage ) return HP_DECLINE;
  rc = hpTreesFetch(p, iPg, pSelf->aInner);
  if( rc==SQLITE_OK ) *pbLow = (pSelf->aInner[0] & PTF_LEAF)!=0;
  return rc;
}

/*
** Units from iFrom on are a level of a b-tree whose children are no leaves.
** Check them, and put their children in their place.
*/
static int hpTreesDown(HpTrees *p, HpWorker *pWorker, int iFrom){
  HpTreeWorker *pSelf = (HpTreeWorker*)pWorker->pSink;
  int nOld = p->nUnit;
  int rc = SQLITE_OK;
  int i, k;
  assert( iFrom<nOld && p->pipe.nWorker==1 );
  for(k=iFrom; k<nOld && rc==SQLITE_OK; k++){
    HpTreeUnit around = p->aUnit[k];
    HpTreeUnit x = around;
    HpInner in;
    rc = hpTreesFetch(p, around.iPg, pSelf->aInner);
    if( rc==SQLITE_OK ) rc = hpTreesInner(pSelf, &around, &in);
    if( rc==SQLITE_OK ) rc = hpTreesChains(pWorker);
    if( rc==SQLITE_OK ) rc = hpThreadProgress(pWorker, 1);
    for(i=0; rc==SQLITE_OK && i<=in.nCell; i++){
      x.iPg = hpPageChild(&in, i);
      if( hpTreePageChild(&pSelf->look, x.iPg, around.iPg) ) return HP_DECLINE;
      if( around.bTable ) rc = hpTreesBound(&in, i, &around.bound, &x.bound);
      if( rc==SQLITE_OK ) rc = hpTreesAdd(p, &x);
    }
  }
  if( rc==SQLITE_OK ){
    p->nUnit -= nOld-iFrom;
    memmove(&p->aUnit[iFrom], &p->aUnit[nOld],
            sizeof(HpTreeUnit)*(p->nUnit-iFrom));
  }
  return rc;
}

/*
** Go from root iRoot down to the lowest interior pages, which become units.
*/
static int hpTreesRoot(HpTrees *p, HpWorker *pWorker, int iRoot){
  HpTreeWorker *pSelf = (HpTreeWorker*)pWorker->pSink;
  Pgno iPg = p->aRoot[iRoot];
  int iFrom = p->nUnit;
  HpTreeUnit x;
  int rc, nLevel;
  u8 eType;
  memset(&x, 0, sizeof(x));
  x.iPg = iPg;
  x.iRoot = iRoot;
  if( hpTreePageRef(&pSelf->look, iPg) ) return HP_DECLINE;
  if( p->aRoot[0]!=0 && iPg>1
   && hpTreePageMap(&pSelf->look, iPg, PTRMAP_ROOTPAGE, 0)
  ){
    return HP_DECLINE;
  }
  rc = hpTreesFetch(p, iPg, pSelf->aInner);
  if( rc ) return rc;
  eType = pSelf->aInner[iPg==1 ? 100 : 0];
  switch( eType ){
    case PTF_INTKEY|PTF_LEAFDATA|PTF_LEAF:
    case PTF_ZERODATA|PTF_LEAF:
      rc = hpTreePage(&pSelf->look, iPg, pSelf->aInner, eType, 1, &x.bound);
      pSelf->aCnt[iRoot] += get2byte(&pSelf->aInner[(iPg==1 ? 100 : 0)+3]);
      if( rc==SQLITE_OK ) rc = hpTreesChains(pWorker);
      if( rc==SQLITE_OK ) rc = hpThreadProgress(pWorker, 1);
      return rc;
    case PTF_INTKEY|PTF_LEAFDATA:
      x.bTable = 1;
      break;
    case PTF_ZERODATA:
      break;
    default:
      return HP_DECLINE;
  }
  rc = hpTreesAdd(p, &x);
  /* The leaves are a level more, and SQLite takes BTCURSOR_MAX_DEPTH */
  for(nLevel=1; rc==SQLITE_OK && nLevel<BTCURSOR_MAX_DEPTH-1; nLevel++){
    int bLow;
    rc = hpTreesIsLow(p, pSelf, iFrom, &bLow);
    if( rc || bLow ) return rc;
    rc = hpTreesDown(p, pWorker, iFrom);
  }
  return rc ? rc : HP_DECLINE;
}

/*
** The list of free pages.
*/
static int hpTreesFree(HpTrees *p, HpWorker *pWorker){
  HpTreeWorker *pSelf = (HpTreeWorker*)pWorker->pSink;
  HpTreeLook *pLook = &pSelf->look;
  const u8 *aOne = p->pBt->pPage1->aData;
  Pgno iPg = get4byte(&aOne[32]);
  u32 nLeft = get4byte(&aOne[36]);
  assert( p->pipe.pCrew==0 && p->nUnit==0 );
  while( iPg!=0 ){
    u32 n, i;
    if( nLeft==0 || hpTreePageRef(pLook, iPg)
     || hpTreePageMap(pLook, iPg, PTRMAP_FREEPAGE, 0)
     || hpTreesFetch(p, iPg, pSelf->aInner)
    ){
      return HP_DECLINE;
    }
    nLeft--;
    n = get4byte(&pSelf->aInner[4]);
    if( n>p->pBt->usableSize/4-2 || n>nLeft ) return HP_DECLINE;
    nLeft -= n;
    for(i=0; i<n; i++){
      Pgno iLeaf = get4byte(&pSelf->aInner[8+4*i]);
      if( hpTreePageRef(pLook, iLeaf)
       || hpTreePageMap(pLook, iLeaf, PTRMAP_FREEPAGE, 0)
      ){
        return HP_DECLINE;
      }
    }
    iPg = get4byte(pSelf->aInner);
    if( hpThreadStopped(&p->pipe) ) return HP_DECLINE;
  }
  return nLeft==0 ? SQLITE_OK : HP_DECLINE;
}

/*
** Read the pointer maps, if the file has some, and check what the header says
** about vacuum.
*/
static int hpTreesMaps(HpTrees *p, HpTreeLook *pLook){
  const u8 *aOne = p->pBt->pPage1->aData;
#ifndef SQLITE_OMIT_AUTOVACUUM
  if( p->pBt->autoVacuum ){
    Pgno mx = 0;
    int i;
    u32 nMapped = p->pBt->usableSize/5 + 1;
    int nMap = (int)((p->nPage+nMapped-1)/nMapped) + 1;
    int rc = SQLITE_OK;
    p->aMap = sqlite3MallocZero((i64)nMap*p->source.szPage);
    p->apMap = sqlite3MallocZero((i64)nMap*sizeof(u8*));
    if( p->aMap==0 || p->apMap==0 ) return HP_DECLINE;
    for(i=0; i<nMap && rc==SQLITE_OK; i++){
      Pgno iMap = hpPagePtrmap(p->pBt, (Pgno)i*nMapped+2);
      p->apMap[i] = &p->aMap[(i64)i*p->source.szPage];
      if( iMap<=p->nPage ) rc = hpTreesFetch(p, iMap, p->apMap[i]);
    }
    if( rc ) return rc;
    pLook->apMap = p->apMap;
    for(i=0; i<p->nRoot; i++) mx = MAX(mx, p->aRoot[i]);
    if( p->aRoot[0] && mx!=get4byte(&aOne[52]) ) return HP_DECLINE;
    return SQLITE_OK;
  }
#endif
  UNUSED_PARAMETER(pLook);
  return p->aRoot[0] && get4byte(&aOne[64])!=0 ? HP_DECLINE : SQLITE_OK;
}

/*
** Memory for worker i.
*/
static int hpTreesOpen(HpTrees *p, int i){
  HpWorker *pWorker;
  HpTreeWorker *pSelf;
  HpRun *pRun;
  i64 szPage = p->source.szPage;
  i64 nByte = szPage*p->nMax;
  i64 nRef = sizeof(u32)*((i64)p->nPage/32+1);
  HpArena *pMem;
  p->pipe.apWorker[i] = pWorker
      = sqlite3MallocZero(sizeof(*pWorker) + sizeof(HpReader));
  if( pWorker==0 ) return HP_DECLINE;
  pWorker->pRead = (HpReader*)&pWorker[1];
  pWorker->pPipe = &p->pipe;
  pWorker->pCfg = p->query.pCfg;
  pWorker->db = i ? p->pNobody : p->query.db;
  pWorker->pSink = pSelf = sqlite3MallocZero(sizeof(*pSelf));
  if( pSelf==0 ) return HP_DECLINE;
  pMem = &pSelf->mem;
  pSelf->pAll = p;
  pSelf->aInner = hpArenaAlloc(pMem, szPage+HP_SLACK);
  pSelf->aSkip = hpArenaAlloc(pMem, szPage);
  pSelf->aBound = hpArenaAlloc(pMem, sizeof(HpTreeBound)*(i64)p->nMax);
  pSelf->aCnt = hpArenaAlloc(pMem, sizeof(i64)*(i64)p->nRoot);
  pSelf->look.pBt = p->pBt;
  pSelf->look.nPage = p->nPage;
  pSelf->look.apMap = p->apMap;
  pSelf->look.aRef = hpArenaAlloc(pMem, nRef);
  pSelf->look.aCover = hpArenaAlloc(pMem, (szPage+63)/64*sizeof(u64));
  pRun = &pWorker->pRead->run;
  pRun->szPage = (int)szPage;
  pRun->aLeaf = hpArenaAlloc(pMem, sizeof(Pgno)*(i64)p->nMax);
  pRun->aFrame = hpArenaAlloc(pMem, sizeof(u32)*(i64)p->nMax);
  pRun->aBuf = hpArenaAlloc(pMem, nByte+HP_SLACK);
  if( pSelf->aInner==0 || pSelf->aSkip==0 || pSelf->aBound==0
   || pSelf->aCnt==0 || pSelf->look.aRef==0 || pSelf->look.aCover==0
   || pRun->aLeaf==0 || pRun->aFrame==0 || pRun->aBuf==0
  ){
    return HP_DECLINE;
  }
#ifdef HP_READAHEAD
  if( hpAheadOn(p->query.db, p->pBt) ){
    pRun->aAhead = hpArenaAlloc(pMem, sizeof(Pgno)*HP_AHEAD_LEAVES);
    pRun->aAheadFrame = hpArenaAlloc(pMem, sizeof(u32)*HP_AHEAD_LEAVES);
    if( pRun->aAhead==0 || pRun->aAheadFrame==0 ) return HP_DECLINE;
  }
#endif
  memset(&pSelf->aInner[szPage], 0, HP_SLACK);
  memset(&pRun->aBuf[nByte], 0, HP_SLACK);
  memset(pSelf->aBound, 0, sizeof(HpTreeBound)*p->nMax);
  memset(pSelf->aCnt, 0, sizeof(i64)*p->nRoot);
  memset(pSelf->look.aRef, 0, nRef);
  return SQLITE_OK;
}

static void hpTreesClose(HpTrees *p){
  int i;
  for(i=0; i<p->pipe.nWorker; i++){
    HpWorker *pWorker = p->pipe.apWorker[i];
    HpTreeWorker *pSelf = pWorker ? (HpTreeWorker*)pWorker->pSink : 0;
    if( pSelf ){
      p->query.db->hp.aStat[HP_STAT_AHEAD] += pWorker->pRead->run.nAsked;
      sqlite3_free(pSelf->look.aChain);
      hpArenaClear(&pSelf->mem);
      sqlite3_free(pSelf);
    }
    sqlite3_free(pWorker);
  }
  sqlite3_mutex_free(p->pipe.pMutex);
  sqlite3_free(p->pNobody);
  sqlite3_free(p->aUnit);
  sqlite3_free(p->apMap);
  sqlite3_free(p->aMap);
  sqlite3_free(p);
}

/*
** All workers have ended, and nothing was wrong.  Has no page been seen by two
** of them, and of a whole file none by nobody?
*/
static int hpTreesWhole(HpTrees *p){
  u32 *aAll = ((HpTreeWorker*)p->pipe.apWorker[0]->pSink)->look.aRef;
  u32 nWord = p->nPage/32+1;
  u32 bad = 0;
  Pgno iPg;
  u32 k;
  int i;
  assert( p->pipe.pCrew==0 && p->iUnit>=p->nUnit );
  for(i=1; i<p->pipe.nWorker; i++){
    const u32 *a = ((HpTreeWorker*)p->pipe.apWorker[i]->pSink)->look.aRef;
    for(k=0; k<nWord; k++){
      bad |= aAll[k] & a[k];
      aAll[k] |= a[k];
    }
  }
  if( bad ) return HP_DECLINE;
  if( p->aRoot[0]==0 ) return SQLITE_OK;
  for(iPg=1; iPg<=p->nPage; iPg++){
    int bSeen = (aAll[iPg>>5]>>(iPg & 31)) & 1;
    if( bSeen==hpPageIsPtrmap(p->pBt, iPg) ) return HP_DECLINE;
  }
  return SQLITE_OK;
}

/*
** May the trees of pBtree be read around its page cache?
*/
static int hpTreesMay(Vdbe *v, Btree *pBtree){
  sqlite3 *db = v->db;
  const HpConfig *pCfg = hpConfig();
  int eOffload = hpConfigOffload(db);
  Pager *pPager;
  if( pBtree==0 || hpQueryMayNot(v) || eOffload==HP_OFFLOAD_OFF ) return 0;
  pPager = sqlite3BtreePager(pBtree);
  if( pBtree->pBt->inTransaction!=TRANS_READ
   || pPager->pPCache->pDirty!=0 || !hpPageFile(pCfg, pPager)
  ){
    return 0;
  }
  return eOffload==HP_OFFLOAD_FORCE
      || btreePagecount(pBtree->pBt)>=HP_TREES_MIN;
}

/*
** Check the trees.  Returns HP_DECLINE if something is wrong, or seems so.
*/
static int hpTreesRun(HpTrees *p, int nWorker){
  HpWorker *pFirst;
  HpTreeLook *pLook;
  int rc = SQLITE_OK;
  int i;
  p->pipe.nWorker = 1;
  rc = hpTreesOpen(p, 0);
  if( rc ) return rc;
  pFirst = p->pipe.apWorker[0];
  pLook = &((HpTreeWorker*)pFirst->pSink)->look;
  rc = hpTreesMaps(p, pLook);
  i = PENDING_BYTE_PAGE(p->pBt);
  if( rc==SQLITE_OK && (Pgno)i<=p->nPage ) rc = hpTreePageRef(pLook, i);
  assert( p->aRoot[0]!=0 || p->nRoot>1 );
  if( rc==SQLITE_OK && (p->aRoot[0]!=0 || p->aRoot[1]==1) ){
    rc = hpTreesFree(p, pFirst);
  }
  for(i=0; i<p->nRoot && rc==SQLITE_OK; i++){
    if( p->aRoot[i] ) rc = hpTreesRoot(p, pFirst, i);
  }
  if( rc ) return rc;
  if( nWorker>1 && (p->nPage>=HP_MIN_PARALLEL || p->query.pCfg->nThread>1) ){
    p->pipe.pMutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
    p->pNobody = sqlite3MallocZero(sizeof(sqlite3));
    if( p->pipe.pMutex==0 || p->pNobody==0 ) return HP_DECLINE;
    for(i=1; i<nWorker && rc==SQLITE_OK; i++){
      p->pipe.nWorker++;
      rc = hpTreesOpen(p, i);
    }
    if( rc ) return rc;
  }
  sqlite3EndBenignMalloc();
  rc = hpThreadEach(&p->pipe, hpTreesWork);
  sqlite3BeginBenignMalloc();
  return rc ? rc : hpTreesWhole(p);
}

/*
** OP_IntegrityCk.  SQLITE_DONE: SQLite's code is to do it.  SQLITE_OK: nothing
** is wrong, and registers from P3 on have the number of entries of each b-tree.
** Else an error; *pnErr is not 0 then.
*/
SQLITE_PRIVATE int sqlite3HpTrees(
  Vdbe *v,
  const VdbeOp *pOp,
  Mem *aMem,
  int *pnErr
){
  sqlite3 *db = v->db;
  Btree *pBtree = db->aDb[pOp->p5].pBt;
  HpTrees *p;
  int rc, i, k;
  assert( pOp->opcode==OP_IntegrityCk && sqlite3_mutex_held(db->mutex) );
  *pnErr = 0;
  if( !hpTreesMay(v, pBtree) ) return SQLITE_DONE;
  assert( sqlite3BtreeHoldsMutex(pBtree) );
  sqlite3BeginBenignMalloc();
  p = sqlite3MallocZero(sizeof(*p));
  if( p==0 ){
    sqlite3EndBenignMalloc();
    return SQLITE_DONE;
  }
  p->pipe.pQuery = &p->query;
  p->query.db = db;
  p->query.v = v;
  p->query.pCfg = hpConfig();
  p->pBt = pBtree->pBt;
  p->aRoot = (const Pgno*)&pOp->p4.ai[1];
  p->nRoot = pOp->p2;
  p->nPage = btreePagecount(p->pBt);
  p->source.pBt = p->pBt;
  p->source.pPager = p->pBt->pPager;
  p->source.szPage = (int)p->pBt->pageSize;
  p->source.bDirect = 1;
#ifndef SQLITE_OMIT_WAL
  p->source.bWal = pagerUseWal(p->source.pPager);
#endif
  p->nMax = MAX(1, HP_RUN_BYTES/p->source.szPage);
  p->source.nUnit = p->source.nMax = p->nMax;
  rc = hpTreesRun(p, hpThreads(db));
  for(i=0; i<p->nRoot && rc==SQLITE_OK; i++){
    i64 n = 0;
    for(k=0; k<p->pipe.nWorker; k++){
      n += ((HpTreeWorker*)p->pipe.apWorker[k]->pSink)->aCnt[i];
    }
    sqlite3MemSetArrayInt64(&aMem[pOp->p3], i, n);
  }
  hpTreesClose(p);
  sqlite3EndBenignMalloc();
  if( rc==SQLITE_OK ) hpConfigStat(db, HP_STAT_TREES);
  if( rc==SQLITE_INTERRUPT ){
    *pnErr = 1;
  }else if( rc ){
    hpConfigStat(db, HP_STAT_DECLINED);
    rc = SQLITE_DONE;
  }
  return rc;
}
#endif /* SQLITE_OMIT_INTEGRITY_CHECK */
#endif /* SQLITE_OMIT_HP */
