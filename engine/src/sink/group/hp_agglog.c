/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_agglog: aggregate functions that depend on the order of rows, such as
** group_concat() and json_group_array(), by several workers.
**
**    hpAggLogAdd()       write a row's arguments into the log of its group
**    hpAggLogRows()      ... those of several rows
**    hpAggLogMerge()     add the log of one part of a group to that of another
**    hpAggLogSize()      bytes of the logs of a group in a file, ...
**    hpAggLogWrite()     ... write them, ...
**    hpAggLogPointers()  ... and make sense of what was read
**    hpAggLogCost()      what reading a log takes
**    hpAggLogPrefetch()  ask for the memory of a log that comes soon
**    hpAggLogCalls()     read it: call the step function for each row
**    hpAggLogNumbers()   read it as numbers, in any order
**
** Stock calls the step function in the order of the scan.  Here a worker has not
** all rows of a group, and if it called the function for those that it has, contexts
** of two workers could not be put together: they are the function's own.  So each
** group keeps the arguments of its rows, as bytes that are written one after the
** other:
**
**    head     three bits for the type, HP_LOG_xxx.  Above them, of a number how many
**             bytes follow; of a text its length, or 31 and four bytes for it
**    subtype  a byte, if the type says that there is one
**    bytes    an integer, big-endian, without bytes that its sign tells; eight bytes of a real;
**             or the bytes of a text and a zero after them
**
** A value is what it takes: 2 bytes for a small integer, 2 more than itself for a short
** text.  Before the first row of each run of leaves (HpFrame.iPos) there is its position,
** and logs of several workers are read alternately by those.  Of one run a worker has
** all rows, though they may be in two logs, if it had to write the first of them to a
** file: then the position says which one comes first.
**
** A log has pieces, each half as large as all before it.  No row is in two of them.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MIN_PIECE  64      /* Bytes of the first piece, */
#define HP_MX_PIECE   65536   /* ... and most bytes of later ones that hold more than a row */
#define HP_LOG_SLACK  8       /* Bytes after those of a piece: numbers are read as eight */
#define HP_MX_CURSOR  8       /* Logs of a group read without asking for memory */
#define HP_LOG_COST   16      /* So many bytes are as much work as a call */

/* Types in heads.  With HP_LOG_SUB a byte follows that is the subtype */
#define HP_LOG_NULL   0
#define HP_LOG_INT    1
#define HP_LOG_REAL   2
#define HP_LOG_TEXT   3
#define HP_LOG_BLOB   4
#define HP_LOG_SUB    2       /* Added to one of the last two */
#define HP_LOG_AT     7       /* No argument: eight bytes of a position follow */
#define HP_LOG_LONG   31      /* In place of a length: that comes next */

/* A piece of a log.  Its bytes follow. */
struct HpLogPiece {
  HpLogPiece *pNext;        /* The next one of the same log */
  HpLogPiece *pPart;        /* In the first one: that of the log of another part */
  u64 n;                 /* Bytes; not yet known of the piece that is written */
};
#define hpLogBytes(P)  ((u8*)&(P)[1])

/* A log that is read */
typedef struct HpLogCursor HpLogCursor;
struct HpLogCursor {
  const HpLogPiece *pPiece; /* The piece, ... */
  const u8 *a, *aEnd;    /* ... what of it has not been read */
  u64 iPos;              /* Position of the rows that come next */
};

/*
** Room for n bytes in pLog, or NULL.
*/
static u8 *hpAggLogRoom(HpRuns *pRuns, HpAggLog *pLog, u64 n){
  HpLogPiece *pNew;
  u64 nByte;
  assert( n>(u64)(pLog->pEnd-pLog->pFree) );
  /* There might be no room for log and context, when rows have been delivered already */
  if( hpBudgetIsLimited() ) return 0;
  if( !hpHeldMay(pRuns, n>HP_MX_PIECE ? (i64)n : 0, HP_FINISH) ) return 0;
  nByte = MIN(MAX(HP_MIN_PIECE, pLog->nByte/2), HP_MX_PIECE);
  nByte = MAX(nByte, sizeof(*pNew)+HP_LOG_SLACK+n);
  pNew = hpArenaAlloc(&pRuns->arena, (i64)ROUND8(nByte));
  if( pNew==0 ) return 0;
  pNew->pNext = pNew->pPart = 0;
  if( pLog->pLast ){
    pLog->pLast->n = (u64)(pLog->pFree - hpLogBytes(pLog->pLast));
    pLog->pLast->pNext = pNew;
  }else{
    pLog->pFirst = pNew;
  }
  pLog->pLast = pNew;
  pLog->nByte += nByte;
  pLog->pFree = hpLogBytes(pNew);
  pLog->pEnd = (u8*)pNew + nByte - HP_LOG_SLACK;
  assert( n<=(u64)(pLog->pEnd-pLog->pFree) );
  return pLog->pFree;
}

/*
** Write integer i to a, of which 8 bytes may change.  Returns how many bytes it has.
*/
static SQLITE_INLINE int hpAggLogInt(u8 *a, i64 i){
  u64 x = ((u64)i ^ (u64)(i>>63))<<1 | (i<0);      /* One bit for the sign */
  int n = 0;
  while( x ){
    x >>= 8;
    n++;
  }
  if( n ){
    x = (u64)i<<(64-8*n);
    x = hpLoad8((const u8*)&x);      /* Big-endian */
    memcpy(a, &x, 8);
  }
  return n;
}

/*
** Add row i of the batch to the log of its group.
*/
static int hpAggLogAdd(
  HpRuns *pRuns,
  HpFrame *p,
  const HpAggDef *pDef,
  HpAggLog *pLog,
  int i
){
  u32 iRun = (u32)(p->iPos>>32);
  u64 nMost = 9;
  u8 *a;
  int k;
  assert( pDef->eAgg==HP_AGG_LOG && pLog->nPart==0 );
  assert( pLog->nCall==0 || pLog->iRun<=iRun );
  for(k=0; k<pDef->nArg; k++){
    const HpVec *pVec = &p->aVec[pDef->aArg[k]];
    int j = i & pVec->mIdx;
    nMost += 9;
    if( pVec->aTag[j] & HP_STR ) nMost += pVec->aLen[j];
  }
  a = pLog->pFree;
  if( nMost>(u64)(pLog->pEnd-a) ){
    a = hpAggLogRoom(pRuns, pLog, nMost);
    if( a==0 ) return HP_DECLINE;
  }
  if( pLog->nCall==0 || pLog->iRun!=iRun ){
    u64 iPos = (u64)p->iPos + i;
    *a++ = HP_LOG_AT;
    memcpy(a, &iPos, 8);
    a += 8;
    pLog->iRun = iRun;
  }
  for(k=0; k<pDef->nArg; k++){
    const HpVec *pVec = &p->aVec[pDef->aArg[k]];
    int j = i & pVec->mIdx;
    u8 sub = pVec->aSub ? pVec->aSub[j] : 0;
    switch( pVec->aTag[j] ){
      case HP_NULL:
        *a++ = HP_LOG_NULL;
        break;
      case HP_INT: {
        int n = hpAggLogInt(&a[1], pVec->aVal[j].i);
        a[0] = (u8)(HP_LOG_INT | n<<3);
        a += 1+n;
        break;
      }
      case HP_REAL:
        *a++ = HP_LOG_REAL;
        memcpy(a, &pVec->aVal[j], 8);
        a += 8;
        break;
      default: {
        u32 n = pVec->aLen[j];
        u8 eType = pVec->aTag[j]==HP_TEXT ? HP_LOG_TEXT : HP_LOG_BLOB;
        if( sub ) eType += HP_LOG_SUB;
        *a++ = (u8)(eType | MIN(n, HP_LOG_LONG)<<3);
        if( sub ) *a++ = (u8)(sub-1);
        sub = 0;
        if( n>=HP_LOG_LONG ){
          memcpy(a, &n, 4);
          a += 4;
        }
        if( n ) memcpy(a, pVec->aVal[j].z, n);
        a += n;
        *a++ = 0;
        break;
      }
    }
    if( sub ) return HP_DECLINE;     /* Of a number: no function of SQLite's gives one */
  }
  assert( a<=pLog->pEnd );
  pLog->pFree = a;
  pLog->nCall++;
  return SQLITE_OK;
}

/*
** Add rows aRow[0..n-1], each to the log of its group.
*/
static int hpAggLogRows(
  HpRuns *pRuns,
  HpFrame *p,
  const HpAggDef *pDef,
  const u16 *aRow,
  u8 **apGroup,
  int n
){
  const HpVec *pVec = &p->aVec[pDef->aArg[0]];
  int bReal = pDef->nArg==1 && pVec->mType==HP_REAL && pVec->mIdx!=0 && pVec->aSub==0;
  u32 iRun = (u32)(p->iPos>>32);
  int ii;
  for(ii=0; ii<n; ii++){
    HpAggLog *pLog = hpGroupState(pDef, apGroup[ii]);
    if( ii+8<n ) hpPrefetch(((HpAggLog*)hpGroupState(pDef, apGroup[ii+8]))->pFree);
    if( bReal && pLog->nCall && pLog->iRun==iRun && pLog->pEnd-pLog->pFree>=9 ){
      *pLog->pFree = HP_LOG_REAL;
      memcpy(&pLog->pFree[1], &pVec->aVal[aRow[ii]], 8);
      pLog->pFree += 9;
      pLog->nCall++;
    }else{
      int rc = hpAggLogAdd(pRuns, p, pDef, pLog, aRow[ii]);
      if( rc ) return rc;
    }
  }
  return SQLITE_OK;
}

/*
** pLog is complete: pLast is now the first piece of its last part.
*/
static void hpAggLogSeal(HpAggLog *pLog){
  if( pLog->nPart || pLog->pFirst==0 ) return;
  pLog->pLast->n = (u64)(pLog->pFree - hpLogBytes(pLog->pLast));
  pLog->pLast = pLog->pFirst;
  pLog->nPart = 1;
}

/*
** Add the rows of pFrom to those of pTo.
*/
static void hpAggLogMerge(HpAggLog *pTo, HpAggLog *pFrom){
  hpAggLogSeal(pTo);
  hpAggLogSeal(pFrom);
  if( pFrom->nPart==0 ) return;
  if( pTo->nPart==0 ){
    *pTo = *pFrom;
    return;
  }
  pTo->pLast->pPart = pFrom->pFirst;
  pTo->pLast = pFrom->pLast;
  pTo->nPart += pFrom->nPart;
  pTo->nCall += pFrom->nCall;
  pTo->nByte += pFrom->nByte;
  assert( pTo->pLast->pPart==0 );
}

/* Bytes of a part, whose first piece is PART, in a file: one piece */
static u64 hpAggLogPart(const HpLogPiece *pPart){
  u64 n = sizeof(*pPart) + HP_LOG_SLACK;
  for(; pPart; pPart=pPart->pNext) n += pPart->n;
  return ROUND8(n);
}

/*
** Bytes that the logs of group aGroup take in a file.
*/
static u64 hpAggLogSize(const HpGroupPlan *pPlan, u8 *aGroup){
  u64 n = 0;
  HP_EACH_STATE(pPlan, aGroup, ==HP_AGG_LOG, HpAggLog, {
    const HpLogPiece *pPart;
    hpAggLogSeal(pState);
    for(pPart=pState->pFirst; pPart; pPart=pPart->pPart) n += hpAggLogPart(pPart);
  })
  return n;
}

/*
** Write the logs of group aGroup to a: each as one piece.  Returns where that ends.
*/
static u8 *hpAggLogWrite(const HpGroupPlan *pPlan, u8 *aGroup, u8 *a){
  HP_EACH_STATE(pPlan, aGroup, ==HP_AGG_LOG, HpAggLog, {
    const HpLogPiece *pPart;
    for(pPart=pState->pFirst; pPart; pPart=pPart->pPart){
      u64 n = hpAggLogPart(pPart);
      HpLogPiece *pTo = (HpLogPiece*)a;
      const HpLogPiece *pFrom;
      memset(pTo, 0, sizeof(*pTo));
      for(pFrom=pPart; pFrom; pFrom=pFrom->pNext){
        memcpy(&hpLogBytes(pTo)[pTo->n], hpLogBytes(pFrom), (size_t)pFrom->n);
        pTo->n += pFrom->n;
      }
      assert( sizeof(*pTo)+pTo->n+HP_LOG_SLACK<=n && pFrom==0 );
      a += n;
      memset(&hpLogBytes(pTo)[pTo->n], 0, (size_t)(a-&hpLogBytes(pTo)[pTo->n]));
    }
  })
  return a;
}

/*
** Set the addresses in the logs of group aGroup, which has been read with them: they begin at
** a.  Returns where they end.
*/
static u8 *hpAggLogPointers(const HpGroupPlan *pPlan, u8 *aGroup, u8 *a){
  HP_EACH_STATE(pPlan, aGroup, ==HP_AGG_LOG, HpAggLog, {
    u32 i;
    assert( pState->pDone==0 );      /* Nothing is made before it is written */
    pState->pFirst = pState->pLast = 0;
    for(i=0; i<pState->nPart; i++){
      HpLogPiece *pPiece = (HpLogPiece*)a;
      if( pState->pLast ){
        pState->pLast->pPart = pPiece;
      }else{
        pState->pFirst = pPiece;
      }
      pState->pLast = pPiece;
      a += hpAggLogPart(pPiece);
    }
  })
  return a;
}

/*
** What calling the step function for all of pLog takes, in calls.
*/
static u64 hpAggLogCost(const HpAggLog *pLog){
  return pLog->nCall + pLog->nByte/HP_LOG_COST;
}

/*
** Ask for the beginnings of pLog.
*/
static void hpAggLogPrefetch(const HpAggLog *pLog, int bFar){
  const HpLogPiece *pPart;
  if( bFar ){
    hpPrefetch(pLog->pFirst);
    hpPrefetch((const u8*)pLog->pFirst+64);
    return;
  }
  for(pPart=pLog->pFirst; pPart; pPart=pPart->pPart){
    if( pPart!=pLog->pFirst ) hpPrefetch((const u8*)pPart+64);
    if( pPart->pNext ) hpPrefetch(pPart->pNext);
    if( pPart->pPart ) hpPrefetch(pPart->pPart);
  }
}

/*
** Go on to what comes next in *pCursor: false if that is its end.
*/
static SQLITE_INLINE int hpAggLogNext(HpLogCursor *pCursor){
  if( pCursor->a>=pCursor->aEnd ){
    pCursor->pPiece = pCursor->pPiece->pNext;
    if( pCursor->pPiece==0 ) return 0;
    if( pCursor->pPiece->pNext ) hpPrefetch(pCursor->pPiece->pNext);
    pCursor->a = hpLogBytes(pCursor->pPiece);
    pCursor->aEnd = pCursor->a + pCursor->pPiece->n;
  }
  return 1;
}

/*
** Set pMem to the argument that a begins with.  Returns where it ends.
*/
static SQLITE_INLINE const u8 *hpAggLogToMem(const u8 *a, Mem *pMem){
  u8 eType = *a & 7;
  u32 n = *a++>>3;
  switch( eType ){
    case HP_LOG_NULL:
      sqlite3VdbeMemSetNull(pMem);
      return a;
    case HP_LOG_INT: {
      i64 i = n ? (i64)hpLoad8(a)>>(64-8*n) : 0;
      sqlite3VdbeMemSetInt64(pMem, i);
      return a + n;
    }
    case HP_LOG_REAL: {
      double r;
      memcpy(&r, a, 8);
      sqlite3VdbeMemSetDouble(pMem, r);
      return a + 8;
    }
    default: {
      int sub = -1;
      assert( eType!=HP_LOG_AT );
      if( eType>HP_LOG_BLOB ){
        eType -= HP_LOG_SUB;
        sub = *a++;
      }
      if( n==HP_LOG_LONG ){
        memcpy(&n, a, 4);
        a += 4;
      }
      hpKeyMemPoint(pMem, eType==HP_LOG_TEXT ? HP_TEXT : HP_BLOB, a, n);
      if( sub>=0 ){
        pMem->flags |= MEM_Subtype;
        pMem->eSubtype = (u8)sub;
      }
      return a + n + 1;
    }
  }
}

/*
** Call the step function of pDef for all rows of pLog, in the order of the scan.  pMem,
** which is NULL, becomes the context.  Worker p does it.  bAhead: an error is none yet.
** *pnCall is the number of calls that did not fail.
*/
static int hpAggLogCalls(
  HpWorker *p,
  const HpAggDef *pDef,
  HpAggLog *pLog,
  Mem *pMem,
  int bAhead,
  u32 *pnCall
){
  HpLogCursor aSmall[HP_MX_CURSOR];
  HpLogCursor *aCursor = aSmall;
  HpAggCall call;
  const HpLogPiece *pPart;
  u32 n = 0;
  u32 i;
  int k, rc = SQLITE_OK;

  *pnCall = 0;
  hpAggLogSeal(pLog);
  if( pLog->nPart>ArraySize(aSmall) ){
    aCursor = sqlite3_malloc64(sizeof(*aCursor)*(u64)pLog->nPart);
    if( aCursor==0 ) return SQLITE_NOMEM_BKPT;
  }
  for(pPart=pLog->pFirst; pPart; pPart=pPart->pPart, n++){
    aCursor[n].pPiece = pPart;
    aCursor[n].a = hpLogBytes(pPart);
    aCursor[n].aEnd = aCursor[n].a + pPart->n;
    assert( *aCursor[n].a==HP_LOG_AT );
    memcpy(&aCursor[n].iPos, &aCursor[n].a[1], 8);
    aCursor[n].a += 9;
  }
  assert( n==pLog->nPart );
  hpAggCallBegin(&call, p, pDef, pMem, bAhead);
  while( n>0 && rc==SQLITE_OK ){
    HpLogCursor *pCursor = aCursor;
    int bMore;
    for(i=1; i<n; i++){
      assert( aCursor[i].iPos!=pCursor->iPos );
      if( aCursor[i].iPos<pCursor->iPos ) pCursor = &aCursor[i];
    }
    while( (bMore = hpAggLogNext(pCursor))!=0 && *pCursor->a!=HP_LOG_AT ){
      for(k=0; k<pDef->nArg; k++) pCursor->a = hpAggLogToMem(pCursor->a, &call.aMem[k]);
      rc = hpAggCallStep(&call);
      if( rc ) break;
    }
    if( bMore==0 ){
      *pCursor = aCursor[--n];
    }else if( rc==SQLITE_OK ){
      memcpy(&pCursor->iPos, &pCursor->a[1], 8);
      pCursor->a += 9;
    }
  }
  *pnCall = call.nCall;
  assert( rc || call.nCall==(u32)pLog->nCall );
  hpAggCallEnd(&call);
  if( aCursor!=aSmall ) sqlite3_free(aCursor);
  return rc;
}

#ifdef SQLITE_ENABLE_PERCENTILE
/* Is a real infinite, or a negative zero, which equals another value but is not alike? */
static SQLITE_INLINE int hpAggLogIsOdd(HpVal v){
  return (v.u<<1)==0 ? v.u!=0 : ((v.u>>52) & 0x7ff)==0x7ff;
}

/*
** Set aNum[] to the first arguments of the rows of pLog that are not NULL, as doubles, in any order,
** and *pn to their number.  *prOther is the second one, if there are two: it has to be one and the same
** number in all rows.  False: there is something else, or what hpAggLogIsOdd() tells.
*/
static int hpAggLogNumbers(
  const HpAggDef *pDef,
  HpAggLog *pLog,
  double *aNum,          /* HpAggLog.nCall entries */
  u64 *pn,
  double *prOther
){
  const HpLogPiece *pPart, *pPiece;
  u64 nArg = 0;
  u64 n = 0;
  assert( pDef->nArg==1 || pDef->nArg==2 );
  hpAggLogSeal(pLog);
  for(pPart=pLog->pFirst; pPart; pPart=pPart->pPart){
    for(pPiece=pPart; pPiece; pPiece=pPiece->pNext){
      const u8 *a = hpLogBytes(pPiece);
      const u8 *aEnd = a + pPiece->n;
      while( a<aEnd ){
        u32 nByte;
        HpVal v;
        if( pDef->nArg==1 ){
          /* Mostly there is real after real */
          for(; a<aEnd && *a==HP_LOG_REAL; a+=9){
            memcpy(&v, &a[1], 8);
            if( hpAggLogIsOdd(v) ) return 0;
            aNum[n++] = v.r;
            nArg++;
          }
          if( a==aEnd ) break;
        }
        nByte = *a>>3;
        switch( *a++ & 7 ){
          case HP_LOG_AT:
            a += 8;
            continue;
          case HP_LOG_INT:
            v.r = (double)(nByte ? (i64)hpLoad8(a)>>(64-8*nByte) : 0);
            a += nByte;
            break;
          case HP_LOG_REAL:
            memcpy(&v, a, 8);
            a += 8;
            if( hpAggLogIsOdd(v) ) return 0;
            break;
          case HP_LOG_NULL:
            if( pDef->nArg==2 && (nArg & 1) ) return 0;
            nArg++;
            continue;
          default:
            return 0;
        }
        if( pDef->nArg==1 || (nArg & 1)==0 ){
          aNum[n++] = v.r;
        }else if( nArg==1 ){
          *prOther = v.r;
        }else if( v.r!=*prOther ){
          return 0;
        }
        nArg++;
      }
    }
  }
  assert( nArg==pLog->nCall*(u64)pDef->nArg );
  *pn = n;
  return 1;
}
#endif
#endif /* SQLITE_OMIT_HP */
