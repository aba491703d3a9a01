/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_arena: memory that is freed as a whole.
**
**    hpArenaMalloc()    memory that will be filled: of huge pages if it is large
**    hpArenaAlloc()     some bytes of an arena
**    hpArenaReset()     forget them, keep about as much memory in one block
**    hpArenaRecycle()   forget them, keep blocks for what comes
**    hpArenaClear()     free all
**    hpArenaGrow()      an array in an arena becomes larger
**
** An arena is a list of blocks.  Allocating takes the next bytes of the current
** block.  Nothing is freed alone.  Each thread has arenas of its own, so none
** needs a mutex.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#if defined(__linux__)
# include <sys/mman.h>
#endif

/*
** The same for an array of a plan, whose memory comes from *pMem.
*/
static int hpArenaGrow(
  HpArena *pMem,
  void *ppEntry,
  int *pnAlloc,
  int nUsed,
  int sz
){
  void **pp = (void**)ppEntry;
  assert( nUsed>=0 && nUsed<=*pnAlloc && (nUsed==0 || *pp!=0) );
  if( nUsed>=*pnAlloc ){
    int n = *pnAlloc ? *pnAlloc*2 : 4;
    void *pNew = hpArenaAlloc(pMem, (i64)n*sz);
    if( pNew==0 ) return SQLITE_NOMEM;
    if( nUsed ) memcpy(pNew, *pp, (size_t)nUsed*sz);
    *pp = pNew;
    *pnAlloc = n;
  }
  return SQLITE_OK;
}

/* Memory blocks of an arena */
struct HpBlock { struct HpBlock *pPrev; i64 nByte; };
#define HP_MX_BLOCK (8*1024*1024)
#define HP_MX_KEPT  (1024*1024)    /* Most bytes that hpArenaReset() keeps */

/*
** sqlite3_malloc64() for what will be filled.  Large memory is made of huge
** pages where the system has them: on a virtual machine the first touch of a
** page takes two microseconds, and groups are visited in no order.
*/
#define HP_HUGE ((uptr)2*1024*1024)
#define HP_MX_HEADER 64           /* Bytes of malloc() in front of what it returns */
static void *hpArenaMalloc(i64 n){
  u8 *p = sqlite3_malloc64(n);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if( p && n>=2*(i64)HP_HUGE && hpMemoryDefault() ){
    /* malloc() has a header in front of it, and the rest of a page behind it, in a mapping that may
    ** begin and end with huge pages.  Only a hint: it does not matter whether it is heeded */
    uptr iFirst = ((uptr)p-HP_MX_HEADER+HP_HUGE-1) & ~(HP_HUGE-1);
    uptr iEnd = (((uptr)p+(uptr)n+4095) & ~(uptr)4095) & ~(HP_HUGE-1);
    madvise((void*)iFirst, iEnd-iFirst, MADV_HUGEPAGE);
  }
#endif
  return p;
}

#ifdef SQLITE_DEBUG
/* Are its counters those of its blocks? */
static int hpArenaIsSane(const HpArena *p){
  const struct HpBlock *pBlock;
  i64 n = 0;
  for(pBlock=p->pBlock; pBlock; pBlock=pBlock->pPrev) n += pBlock->nByte;
  if( n!=p->nTotal ) return 0;
  for(pBlock=p->pSpare, n=0; pBlock; pBlock=pBlock->pPrev) n += pBlock->nByte;
  if( n!=p->nSpare ) return 0;
  if( p->pBlock==0 ) return p->nFree==0;
  return p->pFree>=(u8*)&p->pBlock[1]
      && p->pFree+p->nFree==(u8*)p->pBlock+p->pBlock->nByte;
}
#endif

/*
** Return n bytes, 8-byte aligned, that live until hpArenaClear(), or NULL.
** Blocks double from 4 KiB to 8 MiB or HpArena.mxBlock, so that small queries stay
** small, and little of what is counted is not used.
*/
static void *hpArenaAlloc(HpArena *pArena, i64 n){
  u8 *pOut;
  assert( n>=0 );
  n = ROUND8(n);
  if( n>(i64)pArena->nFree ){
    i64 mxBlock = pArena->mxBlock ? pArena->mxBlock : HP_MX_BLOCK;
    i64 nBlock = MIN(mxBlock, MAX(4096, pArena->nTotal));
    struct HpBlock *pNew = pArena->pSpare;
    if( nBlock<n+(i64)sizeof(*pNew) ) nBlock = n+sizeof(*pNew);
    if( nBlock>0x7fffff00 ) return 0;
    /* The smallest come first.  One that is too small would be in the way */
    while( pNew && pNew->nByte<n+(i64)sizeof(*pNew) ){
      pArena->pSpare = pNew->pPrev;
      pArena->nSpare -= pNew->nByte;
      sqlite3_free(pNew);
      pNew = pArena->pSpare;
    }
    if( pNew ){
      pArena->pSpare = pNew->pPrev;
      pArena->nSpare -= pNew->nByte;
      nBlock = pNew->nByte;
    }else{
      pNew = hpArenaMalloc(nBlock);
      if( pNew==0 ) return 0;
      pNew->nByte = nBlock;
    }
    pNew->pPrev = pArena->pBlock;
    pArena->pBlock = pNew;
    pArena->nTotal += nBlock;
    pArena->pFree = (u8*)&pNew[1];
    pArena->nFree = (u32)(nBlock-sizeof(*pNew));
    assert( hpArenaIsSane(pArena) );
  }
  assert( ((uptr)pArena->pFree & 7)==0 && n<=(i64)pArena->nFree );
  pOut = pArena->pFree;
  pArena->pFree += n;
  pArena->nFree -= (u32)n;
  return pOut;
}

/* Free a list of blocks */
static void hpBlockFree(struct HpBlock *pBlock){
  while( pBlock ){
    struct HpBlock *pPrev = pBlock->pPrev;
    sqlite3_free(pBlock);
    pBlock = pPrev;
  }
}

/*
** Forget what was allocated, but keep up to nKeep bytes of the memory for what
** comes: the first touch of new memory costs more than all that is done with it.
*/
static void hpArenaRecycle(HpArena *pArena, i64 nKeep){
  struct HpBlock *pSpare = pArena->pSpare;
  assert( hpArenaIsSane(pArena) );
  while( pArena->pBlock ){
    struct HpBlock *pBlock = pArena->pBlock;
    pArena->pBlock = pBlock->pPrev;
    if( pArena->nSpare+pBlock->nByte>nKeep ){
      sqlite3_free(pBlock);
      continue;
    }
    pArena->nSpare += pBlock->nByte;
    pBlock->pPrev = pSpare;
    pSpare = pBlock;
  }
  pArena->pFree = 0;
  pArena->nFree = 0;
  pArena->nTotal = 0;
  pArena->pSpare = pSpare;
}

static void hpArenaClear(HpArena *pArena){
  assert( hpArenaIsSane(pArena) );
  hpBlockFree(pArena->pBlock);
  hpBlockFree(pArena->pSpare);
  pArena->pBlock = pArena->pSpare = 0;
  pArena->pFree = 0;
  pArena->nFree = 0;
  pArena->nTotal = pArena->nSpare = 0;
}

/*
** Forget what was allocated, but keep one block of about as much memory.
*/
static void hpArenaReset(HpArena *pArena){
  if( pArena->pBlock==0 ) return;
  if( pArena->pBlock->pPrev ){
    i64 n = MIN(HP_MX_KEPT, pArena->nTotal);
    hpArenaClear(pArena);
    if( hpArenaAlloc(pArena, n-(i64)sizeof(struct HpBlock))==0 ) return;
  }
  pArena->pFree = (u8*)&pArena->pBlock[1];
  pArena->nFree = (u32)(pArena->nTotal - (i64)sizeof(struct HpBlock));
  assert( pArena->pBlock->pPrev==0 && hpArenaIsSane(pArena) );
}
#endif /* SQLITE_OMIT_HP */
