/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_bounds: the ends of a scan, as keys to look for.
**
**    hpBoundsKey()      the first or the last key, from registers
**    hpBoundsCompare()  compare a cell of an interior page to it
**    hpBoundsClear()    free it
**    hpBoundsFree()     free the bounds of a plan (HpRange)
**    hpBoundsConstant() columns that have one value in range
**
** A bound may be too wide, but never too narrow: filters hold the exact ones.  A
** constant that is not simple (NULL, or for a rowid anything but a number) is
** declined.  Stock's code then most often finds nothing, at once.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

static void hpBoundsFree(HpRange *p){
  if( p ) sqlite3KeyInfoUnref(p->pKeyInfo);
}

/* The number of columns of the index, from the first one on, that have one value each */
static int hpBoundsConstant(const HpRange *p){
  return p->nIn ? p->iIn : p->nEq;
}

/*
** Set *pKey to the first key in range, or, if bLast, to the last one; if that
** is only known not to be NULL, to NULL, and set pKey->bNull.  aMem[] holds
** the constants.  *pKey is to be freed with hpBoundsClear(), even on error.
*/
static int hpBoundsKey(
  sqlite3 *db,
  const HpRange *p,
  Mem *aMem,
  int bLast,
  HpBoundKey *pKey
){
  int n = p->nEq + (p->aEnd[bLast].iReg!=0);
  int i;
  memset(pKey, 0, offsetof(HpBoundKey, aMem));
  assert( n>=0 && n<=HP_MX_EQ+1 && (p->pKeyInfo || n<=1) );
  if( p->pKeyInfo && n==p->nEq && p->aEnd[!bLast].iReg ){
    /* No value that passes is NULL.  The NULLs stand first, or last. */
    pKey->bNull = bLast==((p->pKeyInfo->aSortFlags[n]&KEYINFO_ORDER_DESC)!=0);
    n += pKey->bNull;
  }
  pKey->bOn = n>0;
  if( n==0 ) return SQLITE_OK;
  pKey->rec.pKeyInfo = p->pKeyInfo;
  pKey->rec.aMem = pKey->aMem;
  for(i=0; i<n; i++){
    const struct HpEnd *pEnd = i<p->nEq ? &p->aEq[i] : &p->aEnd[bLast];
    Mem *pTo = &pKey->aMem[i];
    sqlite3VdbeMemInit(pTo, db, MEM_Null);
    pKey->rec.nField = (u16)(i+1);
    if( i==p->nEq && pKey->bNull ) break;
    sqlite3VdbeMemShallowCopy(pTo, &aMem[pEnd->iReg], MEM_Static);
    if( pTo->flags & MEM_Zero ) return HP_DECLINE;
    sqlite3ValueApplyAffinity(pTo, pEnd->aff, SQLITE_UTF8);
    if( db->mallocFailed ) return SQLITE_NOMEM_BKPT;
    if( pTo->flags & MEM_Null ) return HP_DECLINE;
    if( p->pKeyInfo==0 ){
      if( pTo->flags & (MEM_Int|MEM_IntReal) ){
        pKey->iRowid = pTo->u.i;
      }else if( (pTo->flags & MEM_Real)!=0
             && pTo->u.r>-9.2e18 && pTo->u.r<9.2e18
      ){
        /* Towards zero: one further out */
        pKey->iRowid = (i64)pTo->u.r + (bLast ? 1 : -1);
      }else{
        return HP_DECLINE;
      }
    }
  }
  return SQLITE_OK;
}

static void hpBoundsClear(HpBoundKey *pKey){
  int i;
  for(i=0; i<pKey->rec.nField; i++) sqlite3VdbeMemRelease(&pKey->aMem[i]);
  pKey->rec.nField = 0;
}

/*
** Set *pc to a number less than, equal to, or greater than zero as the key of
** an interior cell is before, at, or after *pKey.  z is the cell without the
** number of its child, aEnd the end of its page.  Of an index all keys that
** begin with *pKey are equal to it.
*/
static int hpBoundsCompare(
  HpBoundKey *pKey,
  BtShared *pBt,
  const u8 *z,
  const u8 *aEnd,
  int *pc
){
  assert( pKey->bOn );
  if( pKey->rec.pKeyInfo==0 ){
    i64 iRowid;
    if( &z[sqlite3GetVarint(z, (u64*)&iRowid)]>aEnd ) return HP_DECLINE;
    *pc = iRowid<pKey->iRowid ? -1 : iRowid>pKey->iRowid;
  }else{
    HpRecord rec;
    int rc = hpPageRecord(pBt, z, aEnd, &rec);
    if( rc ) return rc;
    if( rec.nLocal<rec.nByte ) return HP_DECLINE;
    *pc = sqlite3VdbeRecordCompare((int)rec.nByte, rec.z, &pKey->rec);
    if( pKey->rec.errCode ) return HP_DECLINE;
  }
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
