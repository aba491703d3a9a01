/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_load: rows made by several threads, and appended to a table by one.
**
**    hp_load_new()    from a prepared INSERT, which does nothing but put its
**                     parameters into a row; NULL if it does more
**    hp_load_row()    make a row of values, in any thread
**    hp_load_rows()   append such rows to the table
**    hp_load_free()   free it
**
** A program that fills a table binds values to an INSERT and steps it.  For a
** row of 105 columns SQLite copies each value into a register, applies the
** column's affinity, which for numbers in texts means to read them, adds up
** sizes, and writes the record.  To put the record into the b-tree takes an
** eighth of the time.  All that comes before depends on nothing but the values
** and on what the columns are, so threads do it here, and the connection is
** asked for the rest alone.
**
** Which INSERT.  The program of the statement is read, from OP_Init to OP_Halt:
**
**         Transaction, TableLock, Null
**         OpenWrite
**         Variable, Null, SoftNull                 a register gets a value
**         NewRowid, or
**           Variable, NotNull, NewRowid,
**           MustBeInt, NotExists, Halt             INTEGER PRIMARY KEY
**         HaltIfNull                               NOT NULL
**         TypeCheck                                STRICT
**         MakeRecord, Insert
**         Halt
**
** Whatever else there may be, an index, a trigger, a CHECK, a column that is
** generated, a foreign key, a default value, AUTOINCREMENT, OR REPLACE, has
** other instructions, and hp_load_new() returns NULL.
**
** Which rows.  hp_load_row() has no errors.  Of a row that SQLite would refuse
** (a NULL, a type, a key that is no integer, a size), or whose conversion needs
** memory (100 bytes or more that might be a number), it says that it makes
** none.  hp_load_rows() stops before a row whose key is not greater than all
** keys in the table.  Such rows are to be inserted by the statement: their
** errors are SQLite's.
**
** Values are converted by SQLite's code, or by what is plainly the same: a text
** stays one if a look at its bytes tells that it is no number.
**
** Appending.  Whether the statement is still what it was, and the connection
** lets it write unseen, is asked once a call.  Then a cursor goes to the last
** row, and sqlite3BtreeInsert() puts each row behind it.  What an error leaves
** is what it would leave in the INSERT of that row.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Texts of fewer bytes are read as numbers here */
#define HP_LOAD_NUMBER 100

/* Rows between looks at the interrupt flag and the progress handler */
#define HP_LOAD_POLL   64

/* Most bytes of the number of bytes of a record's header, and of a type */
#define HP_LOAD_SIZE   3
#define HP_LOAD_TYPE   5

/* Where a register has its value from, if it is not a parameter */
#define HP_LOAD_NULL   (-1)
#define HP_LOAD_UNSET  (-2)

/* A value, as hpsqlite.h describes it */
typedef struct HpLoadValue HpLoadValue;
struct HpLoadValue {
  HpVal v;
  u32 n;                 /* Bytes of a text or a blob */
  u32 eType;             /* SQLITE_INTEGER .. SQLITE_NULL */
};

/* What stands before the record of a row */
typedef struct HpLoadHead HpLoadHead;
struct HpLoadHead {
  i64 iKey;              /* The rowid, */
  u32 bKey;              /* ... if it is given */
  u32 nRecord;           /* Bytes of the record */
};

/* A column of the table */
typedef struct HpLoadColumn HpLoadColumn;
struct HpLoadColumn {
  i16 iParam;            /* Its parameter, from 0; or HP_LOAD_NULL */
  u8 eAff;               /* SQLITE_AFF_xxx */
  u8 mType;              /* HP_xxx that it may have */
};

/* A register while the program is read */
typedef struct HpLoadRegister HpLoadRegister;
struct HpLoadRegister {
  i16 iParam;            /* Or HP_LOAD_NULL, HP_LOAD_UNSET */
  u8 bNotNull;           /* OP_HaltIfNull */
};

typedef struct hp_load hp_load;
struct hp_load {
  Vdbe *v;               /* The statement, */
  const Op *aOp;         /* ... and its program when it was read */
  BtCursor *pCur;        /* Room for a cursor */
  int iDb;
  Pgno iRoot;
  u32 iCookie;           /* The schema then: OP_Transaction */
  int iGeneration;
  i64 nMost;             /* Bytes of a record, most */
  int nOp;               /* Instructions for each row */
  u32 nPoll;             /* Rows since the last look */
  int iKey;              /* The parameter that is the rowid; HP_LOAD_NULL */
  int nColumn;
  HpLoadColumn *aColumn;
};

/* What may a column of a STRICT table have? */
static u8 hpLoadStrict(const Column *pCol){
  switch( pCol->eCType ){
    case COLTYPE_INT:
    case COLTYPE_INTEGER: return HP_NULL|HP_INT;
    case COLTYPE_REAL:    return HP_NULL|HP_NUM;
    case COLTYPE_TEXT:    return HP_NULL|HP_TEXT;
    case COLTYPE_BLOB:    return HP_NULL|HP_BLOB;
  }
  return HP_NULL|HP_NUM|HP_STR;
}

/*
** OP_MakeRecord: which register becomes which column?  pCheck is the
** OP_TypeCheck before it, or NULL.
*/
static int hpLoadColumns(
  hp_load *p,
  const VdbeOp *pMake,
  const VdbeOp *pCheck,
  const HpLoadRegister *aReg
){
  const char *zAff = pMake->p4.z;
  const Table *pTab = 0;
  int i;
  assert( pMake->opcode==OP_MakeRecord && pMake->p2==p->nColumn );
  if( pCheck ){
    pTab = pCheck->p4.pTab;
    if( pCheck->p1!=pMake->p1 || pCheck->p2!=pMake->p2 || pCheck->p3!=0 ){
      return 0;
    }
    if( zAff || (pTab->tabFlags & TF_HasGenerated) || pTab->nCol!=p->nColumn ){
      return 0;
    }
  }
  for(i=0; i<p->nColumn; i++){
    HpLoadColumn *pCol = &p->aColumn[i];
    const HpLoadRegister *pReg = &aReg[pMake->p1+i];
    if( pReg->iParam==HP_LOAD_UNSET ) return 0;
    pCol->iParam = pReg->iParam;
    pCol->eAff = SQLITE_AFF_BLOB;
    pCol->mType = HP_NULL|HP_NUM|HP_STR;
    if( pTab ){
      pCol->eAff = (u8)pTab->aCol[i].affinity;
      pCol->mType = hpLoadStrict(&pTab->aCol[i]);
    }else if( zAff && zAff[0] ){
      pCol->eAff = (u8)*zAff++;
    }
    if( pReg->bNotNull ) pCol->mType &= ~HP_NULL;
  }
  return 1;
}

/*
** Read the program of the statement.  Returns false if there is anything in it
** that is not known.
*/
static int hpLoadProgram(hp_load *p, HpLoadRegister *aReg){
  const Vdbe *v = p->v;
  const VdbeOp *pMake = 0;        /* OP_MakeRecord, */
  const VdbeOp *pCheck = 0;       /* ... and OP_TypeCheck, */
  int bInserted = 0;              /* ... and there was OP_Insert */
  int iCsr = -1;                  /* OP_OpenWrite */
  int iRowid = 0;                 /* OP_NewRowid */
  int pc = v->aOp[0].p2;
  int i;
  if( v->aOp[0].opcode!=OP_Init ) return 0;
  for(p->nOp=1; p->nOp<=v->nOp; p->nOp++){
    const VdbeOp *pOp = &v->aOp[pc++];
    assert( pc>0 && pc<=v->nOp );
    switch( pOp->opcode ){
      case OP_Transaction:
        if( pOp->p2==0 ) return 0;
        p->iDb = pOp->p1;
        p->iCookie = (u32)pOp->p3;
        p->iGeneration = pOp->p4.i;
        break;
      case OP_TableLock:
        /* It is locked in hpLoadHolds() */
        if( pOp->p1!=p->iDb ) return 0;
        break;
      case OP_Goto:
        pc = pOp->p2;
        break;
      case OP_OpenWrite:
        if( iCsr>=0 || pOp->p4type==P4_KEYINFO || pOp->p2<=SCHEMA_ROOT
         || pOp->p3!=p->iDb || (pOp->p5 & OPFLAG_P2ISREG)
        ){
          return 0;
        }
        iCsr = pOp->p1;
        p->iRoot = (Pgno)pOp->p2;
        break;
      case OP_Variable:
        aReg[pOp->p2].iParam = (i16)(pOp->p1-1);
        break;
      case OP_Null:
        if( pOp->p1 ) return 0;
        for(i=pOp->p2; i<=MAX(pOp->p2, pOp->p3); i++){
          aReg[i].iParam = HP_LOAD_NULL;
        }
        break;
      case OP_SoftNull:
        aReg[pOp->p1].iParam = HP_LOAD_NULL;
        break;
      case OP_NotNull:
        /* The key may be NULL, and then it is a new one */
        if( pOp->p2!=pc+1 || v->aOp[pc].opcode!=OP_NewRowid
         || v->aOp[pc].p2!=pOp->p1 || aReg[pOp->p1].iParam<0
        ){
          return 0;
        }
        break;
      case OP_NewRowid:
        if( pOp->p1!=iCsr || pOp->p3!=0 || iRowid ) return 0;
        iRowid = pOp->p2;
        if( aReg[iRowid].iParam==HP_LOAD_UNSET ){
          aReg[iRowid].iParam = HP_LOAD_NULL;
        }else if( v->aOp[pc-2].opcode!=OP_NotNull ){
          return 0;
        }
        break;
      case OP_MustBeInt:
        if( pOp->p1!=iRowid || pOp->p2!=0 ) return 0;
        break;
      case OP_NotExists:
        if( pOp->p1!=iCsr || pOp->p2!=pc+1 || pOp->p3!=iRowid
         || v->aOp[pc].opcode!=OP_Halt || v->aOp[pc].p1==SQLITE_OK
        ){
          return 0;
        }
        pc = pOp->p2;
        break;
      case OP_HaltIfNull:
        aReg[pOp->p3].bNotNull = 1;
        break;
      case OP_TypeCheck:
        if( pCheck ) return 0;
        pCheck = pOp;
        break;
      case OP_MakeRecord:
        /* P5: SQLITE_ENABLE_NULL_TRIM */
        if( pMake || pOp->p2!=p->nColumn || pOp->p5 ) return 0;
        pMake = pOp;
        if( !hpLoadColumns(p, pMake, pCheck, aReg) ) return 0;
        break;
      case OP_Insert:
        if( bInserted || pMake==0 || iRowid==0 || pOp->p1!=iCsr
         || pOp->p2!=pMake->p3 || pOp->p3!=iRowid
         || (pOp->p5 & OPFLAG_NCHANGE)==0 || (pOp->p5 & OPFLAG_LASTROWID)==0
         || (pOp->p5 & (OPFLAG_ISUPDATE|OPFLAG_ISNOOP|OPFLAG_PREFORMAT))
        ){
          return 0;
        }
        p->iKey = aReg[iRowid].iParam;
        bInserted = 1;
        break;
      case OP_Noop:
      case OP_ReleaseReg:
      case OP_Abortable:
        break;
      case OP_Halt:
        return bInserted && pOp->p1==SQLITE_OK;
      default:
        return 0;
    }
  }
  return 0;
}

/*
** Can a statement of db be done without here, if it is plain?
*/
static int hpLoadMay(sqlite3 *db){
  return hpConfigOffload(db)!=HP_OFFLOAD_OFF
      && !hpDeferrableIsHooked(db) && db->mTrace==0
      && ENC(db)==SQLITE_UTF8 && db->mallocFailed==0;
}

/*
** Make the columns of p, and read its program.  Returns false if it is not
** plain, or there is no memory.
*/
static int hpLoadRead(hp_load *p){
  const Vdbe *v = p->v;
  HpLoadRegister *aReg;
  int i, bOk;
  for(i=0; i<v->nOp && v->aOp[i].opcode!=OP_MakeRecord; i++){}
  if( i==v->nOp ) return 0;
  p->nColumn = v->aOp[i].p2;
  p->aColumn = sqlite3_malloc64(p->nColumn*sizeof(HpLoadColumn));
  p->pCur = sqlite3_malloc64(sqlite3BtreeCursorSize());
  aReg = sqlite3_malloc64((v->nMem+1)*sizeof(HpLoadRegister));
  if( p->aColumn==0 || p->pCur==0 || aReg==0 ){
    sqlite3_free(aReg);
    return 0;
  }
  for(i=0; i<=v->nMem; i++){
    aReg[i].iParam = HP_LOAD_UNSET;
    aReg[i].bNotNull = 0;
  }
  bOk = hpLoadProgram(p, aReg);
  sqlite3_free(aReg);
  return bOk && v->db->aDb[p->iDb].pSchema->file_format>=4;
}

/*
** See hpsqlite.h.
*/
SQLITE_API void hp_load_free(hp_load *p){
  if( p==0 ) return;
  sqlite3_free(p->aColumn);
  sqlite3_free(p->pCur);
  sqlite3_free(p);
}

/*
** See hpsqlite.h.
*/
SQLITE_API hp_load *hp_load_new(sqlite3_stmt *pStmt){
  Vdbe *v = (Vdbe*)pStmt;
  hp_load *p = 0;
  sqlite3 *db;
  if( v==0 || v->db==0 ) return 0;
  db = v->db;
  sqlite3_mutex_enter(db->mutex);
  if( hpLoadMay(db) && v->expired==0 && v->explain==0 && v->nOp>1 ){
    p = sqlite3MallocZero(sizeof(*p));
  }
  if( p ){
    p->v = v;
    p->aOp = v->aOp;
    p->nMost = db->aLimit[SQLITE_LIMIT_LENGTH];
    if( !hpLoadRead(p) ){
      hp_load_free(p);
      p = 0;
    }
  }
  assert( p==0 || (p->nColumn>0 && p->iRoot>SCHEMA_ROOT) );
  sqlite3_mutex_leave(db->mutex);
  return p;
}

/*
** Is a text plainly no number?  Then affinity leaves it as it is.  In a number
** there are digits, a point, an exponent and spaces, and no sign that follows a
** digit.  SQLite stops at a byte of zero.
*/
static int hpLoadIsNoNumber(const u8 *z, u32 n){
  int bDigit = 0;
  u32 i;
  for(i=0; i<n; i++){
    u8 c = z[i];
    if( sqlite3Isdigit(c) ){
      bDigit = 1;
      continue;
    }
    if( c==0 ) return 0;
    if( c=='-' || c=='+' ){
      if( bDigit ) return 1;
    }else if( c!='.' && c!='e' && c!='E' && !sqlite3Isspace(c) ){
      return 1;
    }
    bDigit = 0;
  }
  return n==0;
}

/*
** Apply affinity eAff to a value, with SQLite's code, and change it to what
** that gives.  A text that it becomes is in zBuf.  Returns its type, HP_xxx; or
** 0 if it is left to SQLite.
*/
static u8 hpLoadConvert(HpLoadValue *pVal, u8 eAff, char *zBuf){
  Mem sMem;
  memset(&sMem, 0, sizeof(sMem));
  sMem.enc = SQLITE_UTF8;
  switch( pVal->eType ){
    case SQLITE_NULL:
      return HP_NULL;
    case SQLITE_BLOB:
      return HP_BLOB;
    case SQLITE_INTEGER:
      if( eAff!=SQLITE_AFF_TEXT ) return HP_INT;
      sMem.u.i = pVal->v.i;
      sMem.flags = MEM_Int;
      break;
    case SQLITE_FLOAT:
      if( IsNaN(pVal->v.u) ) return HP_NULL;
      sMem.u.r = pVal->v.r;
      sMem.flags = MEM_Real;
      break;
    case SQLITE_TEXT:
      if( eAff<SQLITE_AFF_NUMERIC ) return HP_TEXT;
      if( hpLoadIsNoNumber(pVal->v.z, pVal->n) ) return HP_TEXT;
      if( pVal->n>=HP_LOAD_NUMBER ) return 0;
      memcpy(zBuf, pVal->v.z, pVal->n);
      zBuf[pVal->n] = 0;
      sMem.z = zBuf;
      sMem.n = (int)pVal->n;
      sMem.flags = MEM_Str|MEM_Term|MEM_Static;
      break;
    default:
      return 0;
  }
  if( eAff!=SQLITE_AFF_TEXT ){
    applyAffinity(&sMem, (char)eAff, SQLITE_UTF8);
  }else{
    vdbeMemRenderNum(HP_LOAD_NUMBER, zBuf, &sMem);
    pVal->v.z = (const u8*)zBuf;
    pVal->n = (u32)sMem.n;
    return HP_TEXT;
  }
  assert( sMem.szMalloc==0 && (sMem.flags & (MEM_Dyn|MEM_IntReal))==0 );
  if( sMem.flags & MEM_Int ){
    pVal->v.i = sMem.u.i;
    return HP_INT;
  }
  if( sMem.flags & MEM_Real ){
    pVal->v.r = sMem.u.r;
    return HP_REAL;
  }
  return HP_TEXT;
}

/*
** The value of an INTEGER PRIMARY KEY: *piKey.  Returns -1 if it is NULL, and 0
** if it is no integer.  See OP_MustBeInt.
*/
static int hpLoadKey(const HpLoadValue *pValue, i64 *piKey){
  char zBuf[HP_LOAD_NUMBER];
  HpLoadValue sVal = *pValue;
  switch( hpLoadConvert(&sVal, SQLITE_AFF_INTEGER, zBuf) ){
    case HP_NULL:
      return -1;
    case HP_INT:
      *piKey = sVal.v.i;
      return 1;
  }
  return 0;
}

/*
** See hpsqlite.h.
*/
SQLITE_API sqlite3_int64 hp_load_row(
  const hp_load *p,
  const void *pValues,
  unsigned char *aTo,
  sqlite3_int64 nTo
){
  static const HpLoadValue sNull = { {0}, 0, SQLITE_NULL };
  const HpLoadValue *aValue = (const HpLoadValue*)pValues;
  const HpLoadColumn *pCol = p->aColumn;
  const HpLoadColumn *pEnd = &p->aColumn[p->nColumn];
  char zBuf[HP_LOAD_NUMBER];
  HpLoadHead sHead;
  u8 *aRecord = &aTo[sizeof(sHead)];
  u8 *pType = &aRecord[1];       /* Where the next type goes, */
  u8 *aData, *pData;             /* ... and the next value, ... */
  u8 *pDataEnd = &aTo[nTo];      /* ... which may go as far */
  u32 nHdr;
  int nSize;                     /* Bytes of the header's size */
  i64 nRecord;

  assert( p->nColumn>0 );
  memset(&sHead, 0, sizeof(sHead));
  if( p->iKey>=0 ){
    int bKey = hpLoadKey(&aValue[p->iKey], &sHead.iKey);
    if( bKey==0 ) return 0;
    sHead.bKey = bKey>0;
  }
  nRecord = HP_LOAD_SIZE + HP_LOAD_TYPE*(i64)p->nColumn;
  if( nTo-(i64)sizeof(sHead)<nRecord ) return 0;
  aData = pData = &aRecord[nRecord];
  for(; pCol<pEnd; pCol++){
    const HpLoadValue *pVal = &sNull;
    HpVal v;
    u32 n, t;
    u8 eTag;
    if( pCol->iParam>=0 ) pVal = &aValue[pCol->iParam];
    v = pVal->v;
    n = pVal->n;
    if( pVal->eType==SQLITE_INTEGER && pCol->eAff!=SQLITE_AFF_TEXT ){
      eTag = HP_INT;
      t = hpSerialInt(v.i);
    }else{
      if( pVal->eType==SQLITE_TEXT && pCol->eAff<SQLITE_AFF_NUMERIC ){
        eTag = HP_TEXT;
      }else{
        HpLoadValue sVal = *pVal;
        eTag = hpLoadConvert(&sVal, pCol->eAff, zBuf);
        v = sVal.v;
        n = sVal.n;
      }
      if( (eTag & HP_STR) && n>p->nMost ) return 0;
      t = hpSerialType(eTag, v, n);
    }
    if( (eTag & pCol->mType)==0 ) return 0;
    if( t==6 && pCol->eAff==SQLITE_AFF_REAL ){
      /* It takes no fewer bytes as an integer */
      v.r = (double)v.i;
      t = 7;
    }
    if( pDataEnd-pData<8+(t<12 ? 0 : (i64)n) ) return 0;
    pType += hpSerialHead(pType, t);
    pData += hpSerialPut(pData, t, v, n);
  }
  nHdr = (u32)(pType - &aRecord[1]);
  if( nHdr<=126 ){
    nHdr++;
    nSize = 1;
  }else{
    nSize = sqlite3VarintLen(nHdr);
    nHdr += nSize;
    if( nSize<sqlite3VarintLen(nHdr) ){
      nHdr++;
      nSize++;
    }
    memmove(&aRecord[nSize], &aRecord[1], nHdr-nSize);
  }
  assert( nSize<=HP_LOAD_SIZE && &aRecord[nHdr]<=aData );
  putVarint32(aRecord, nHdr);
  memmove(&aRecord[nHdr], aData, pData-aData);
  nRecord = nHdr + (pData-aData);
  if( nRecord>p->nMost ) return 0;
  sHead.nRecord = (u32)nRecord;
  memcpy(aTo, &sHead, sizeof(sHead));
  return (i64)sizeof(sHead) + nRecord;
}

/*
** Is the statement still what it was, and may rows be appended unseen?
*/
static int hpLoadHolds(const hp_load *p){
  const Vdbe *v = p->v;
  sqlite3 *db = v->db;
  Btree *pBt = db->aDb[p->iDb].pBt;
  int iCookie = 0;
  if( v->aOp!=p->aOp || v->expired || v->eVdbeState==VDBE_RUN_STATE
   || !hpLoadMay(db) || db->autoCommit || (db->flags & SQLITE_QueryOnly)
   || pBt==0 || sqlite3BtreeTxnState(pBt)!=SQLITE_TXN_WRITE
   || db->aDb[p->iDb].pSchema->iGeneration!=p->iGeneration
  ){
    return 0;
  }
  /* As OP_Transaction does: there may be a savepoint that it has not seen */
  if( sqlite3BtreeBeginTrans(pBt, 1, &iCookie) ) return 0;
  if( iCookie!=(int)p->iCookie ) return 0;
#ifndef SQLITE_OMIT_SHARED_CACHE
  if( sqlite3BtreeLockTable(pBt, (int)p->iRoot, 1) ) return 0;
#endif
  return 1;
}

/*
** Append the rows of aRow[0..nByte-1] to the table that pCur is at, as far as
** their keys go up.  *pnRow is their number.
*/
static int hpLoadAppend(
  hp_load *p,
  const u8 *aRow, i64 nByte,
  i64 *pnRow
){
  sqlite3 *db = p->v->db;
  BtCursor *pCur = p->pCur;
  HpLoadHead sHead;
  BtreePayload x;
  i64 iLast = 0;
  int bEmpty = 0;
  int rc = sqlite3BtreeLast(pCur, &bEmpty);
  memset(&x, 0, sizeof(x));
  if( rc==SQLITE_OK && !bEmpty ) iLast = sqlite3BtreeIntegerKey(pCur);
  while( rc==SQLITE_OK && nByte>=(i64)sizeof(sHead) ){
    memcpy(&sHead, aRow, sizeof(sHead));
    aRow += sizeof(sHead);
    nByte -= sizeof(sHead);
    assert( sHead.nRecord<=nByte && sHead.nRecord<=p->nMost );
    if( sHead.bKey ){
      if( !bEmpty && sHead.iKey<=iLast ) break;
      iLast = sHead.iKey;
    }else{
      /* SQLite draws one by chance */
      if( iLast==LARGEST_INT64 ) break;
      iLast = bEmpty ? 1 : iLast+1;
    }
    if( ++p->nPoll==HP_LOAD_POLL ){
      p->nPoll = 0;
      if( hpThreadSteps(p->v, HP_LOAD_POLL*(u64)p->nOp)
       || AtomicLoad(&db->u1.isInterrupted)
      ){
        rc = SQLITE_INTERRUPT;
        break;
      }
    }
    x.nKey = iLast;
    x.pData = aRow;
    x.nData = (int)sHead.nRecord;
    /* On the last row, the new one comes behind it */
    rc = sqlite3BtreeInsert(pCur, &x, BTREE_APPEND, bEmpty ? 0 : -1);
    if( rc ) break;
    (*pnRow)++;
    aRow += sHead.nRecord;
    nByte -= sHead.nRecord;
    db->lastRowid = iLast;
    bEmpty = 0;
    if( nByte>0 && pCur->eState!=CURSOR_VALID ){
      rc = sqlite3BtreeLast(pCur, &bEmpty);
      assert( rc || bEmpty==0 );
    }
  }
  if( *pnRow ){
    db->nChange = 1;
    db->nTotalChange += *pnRow;
  }
  return rc;
}

/*
** See hpsqlite.h.
*/
SQLITE_API int hp_load_rows(
  hp_load *p,
  const unsigned char *aRow,
  sqlite3_int64 nByte,
  sqlite3_int64 *pnRow
){
  sqlite3 *db;
  int rc = SQLITE_OK;
  *pnRow = 0;
  if( p==0 ) return SQLITE_OK;
  db = p->v->db;
  sqlite3_mutex_enter(db->mutex);
  sqlite3VdbeEnter(p->v);
  if( hpLoadHolds(p) ){
    /* As when a statement begins */
    if( db->nVdbeActive==0 ) AtomicStore(&db->u1.isInterrupted, 0);
    sqlite3BtreeCursorZero(p->pCur);
    rc = sqlite3BtreeCursor(db->aDb[p->iDb].pBt, p->iRoot, BTREE_WRCSR, 0,
                            p->pCur);
    if( rc==SQLITE_OK ){
      rc = hpLoadAppend(p, aRow, nByte, pnRow);
      sqlite3BtreeCloseCursor(p->pCur);
    }
  }
  sqlite3VdbeLeave(p->v);
  if( rc ){
    int mrc = rc & 0xff;
    /* See sqlite3VdbeHalt() */
    if( mrc==SQLITE_NOMEM || mrc==SQLITE_IOERR || mrc==SQLITE_FULL
     || mrc==SQLITE_INTERRUPT
    ){
      hpPendingRollback(db);
    }
    sqlite3Error(db, rc);
  }
  rc = sqlite3ApiExit(db, rc);
  sqlite3_mutex_leave(db->mutex);
  return rc;
}
#endif /* SQLITE_OMIT_HP */
