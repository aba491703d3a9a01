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
**    hpSlabRoom()    bytes that are left, of an empty one all
**
** Thousands of small allocations that are filled once take longer to make than to
** fill: malloc() asks the system for a page or two at a time, and the first touch of each takes
** two microseconds on a virtual machine.  A large slab has huge pages (hp_arena.c).
**
** Whoever makes a slab is its first user, and each thing that is taken from it one more.  Things are
** taken one behind the other, by one thread at a time; any thread may leave.  When only the first
** user is left the slab is empty, and is begun anew; when nobody is, it is freed as a whole.
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

/* Bytes that are left, for the thread that takes from *p.  If it is empty it is begun anew */
static i64 hpSlabRoom(HpSlab *p){
  if( __atomic_load_n(&p->nUser, __ATOMIC_ACQUIRE)==1 ) p->nUsed = ROUND8(sizeof(*p));
  return p->nByte - p->nUsed;
}

/* n bytes of *p, a multiple of 8, for which there is room, until hpSlabLeave() */
static void *hpSlabTake(HpSlab *p, i64 n){
  u8 *pNew = (u8*)p + p->nUsed;
  assert( (n & 7)==0 && n<=p->nByte-p->nUsed );
  p->nUsed += n;
  VVA_ONLY( n = ) __atomic_add_fetch(&p->nUser, 1, __ATOMIC_RELAXED);
  assert( n>1 );                     /* Whoever takes is a user already */
  return pNew;
}

/* A user of *p leaves.  Returns the bytes that are free now: none, unless it was the last */
static i64 hpSlabLeave(HpSlab *p){
  i64 nByte = p->nByte;
  if( __atomic_sub_fetch(&p->nUser, 1, __ATOMIC_ACQ_REL) ) return 0;
  sqlite3_free(p);
  return nByte;
}
#endif /* HP_SHARED */
#endif /* SQLITE_OMIT_HP */
