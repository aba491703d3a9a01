/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_slab: large pieces of memory for small things that live long.
**
**    hpSlabNew()     a slab, with one user
**    hpSlabTake()    bytes of it, whose owner is one user more
**    hpSlabLeave()   one user less
**    hpSlabRoom()    bytes that are left
**
** Thousands of small allocations that are filled once take longer to make than to
** fill: malloc() asks the system for a page or two at a time, and the first touch of each takes
** two microseconds on a virtual machine.  A large slab has huge pages (hp_arena.c).
**
** Things are taken from a slab one behind the other, by one thread at a time.  Any thread may
** leave it.  It is freed as a whole, when the last of its users has left.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

/* A slab of nByte bytes, or NULL */
static HpSlab *hpSlabNew(i64 nByte){
  HpSlab *p = hpArenaMalloc(nByte);
  assert( nByte>(i64)ROUND8(sizeof(*p)) );
  if( p ){
    memset(p, 0, sizeof(*p));
    p->nByte = nByte;
    p->nUsed = ROUND8(sizeof(*p));
    p->nUser = 1;
  }
  return p;
}

static i64 hpSlabRoom(const HpSlab *p){ return p->nByte - p->nUsed; }

/* n bytes of *p, a multiple of 8, for which there is room, until hpSlabLeave() */
static void *hpSlabTake(HpSlab *p, i64 n){
  u8 *pNew = (u8*)p + p->nUsed;
  assert( (n & 7)==0 && n<=hpSlabRoom(p) );
  p->nUsed += n;
  __atomic_add_fetch(&p->nUser, 1, __ATOMIC_RELAXED);
  return pNew;
}

/*
** A user of *p leaves, of which nKept bytes are in the account of what is kept (hp_budget.c).
** Returns the bytes to be taken off that: those of all users, when the last has left.
*/
static i64 hpSlabLeave(HpSlab *p, i64 nKept){
  assert( nKept>=0 && nKept<=p->nByte );
  if( nKept ) __atomic_add_fetch(&p->nKept, nKept, __ATOMIC_RELAXED);
  if( __atomic_sub_fetch(&p->nUser, 1, __ATOMIC_ACQ_REL) ) return 0;
  nKept = p->nKept;
  sqlite3_free(p);
  return nKept;
}
#endif /* HP_SHARED */
#endif /* SQLITE_OMIT_HP */
