/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_deferrable: may changes of an index wait until the statement ends?
**
**    hpDeferrableNew()       if those of a cursor's index may: none so far
**    hpDeferrableLooks()     does a statement look at an index?
**    hpDeferrableIsShort()   are the rows that it changes bounded by its text?
**    hpDeferrableIsHooked()  does the application hear of each row?
**    hpDeferrableIndex()     the index of a b-tree
**
** They may if nobody looks at the index before.  Who could, is in the
** statement's program, or on the connection:
**
**    another cursor at the b-tree     BTCF_Multiple, and instructions that
**                                     open one
**    the cursor itself                an instruction that moves it or reads by
**                                     it: of the loop of a DELETE; of a UNIQUE
**                                     index, but for OP_NoConflict (below)
**    scans of ours                    sources of plans
**    triggers, virtual tables         refused; but for json_each()
**    functions and collations of the  refused: they may run statements
**    application
**    another statement                none is active; and rows that are
**                                     returned meanwhile would let one begin
**    a transaction that fails         PRAGMA journal_mode=off: rows remain, and
**                                     what waits would be forgotten
**
** Hooks may not use the connection, but that of sessions does: none waits with
** one.  The progress handler may not.
**
** So each instruction of the program is looked at, once.  Those that are not
** known here are refused.
**
** UNIQUE.  OP_NoConflict looks whether an entry may be inserted.  Where it may
** not the statement fails, so it is taken for granted that it may, and looked
** for when the entries are written (HpDefer.bUnique).  If it may not after all,
** the statement begins again.  So only one waits that can be taken back without
** anybody who hears of it, and whose program gives the same the next time.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* What P1 of an instruction is */
#define HP_P1_OTHER   0      /* It is not known, or refused */
#define HP_P1_NONE    1      /* Nothing that matters */
#define HP_P1_CURSOR  2      /* A cursor */

/*
** What is P1 of an instruction?
*/
static int hpDeferOperand(u8 opcode){
  switch( opcode ){
    case OP_Transaction:  case OP_Init:       case OP_Goto:
    case OP_Gosub:        case OP_InitCoroutine:  case OP_Yield:
    case OP_MustBeInt:    case OP_Jump:       case OP_Once:
    case OP_If:           case OP_IfNot:      case OP_Not:
    case OP_Or:           case OP_And:        case OP_RowSetRead:
    case OP_RowSetTest:   case OP_FkIfZero:   case OP_IsNull:
    case OP_NotNull:      case OP_Ne:         case OP_Eq:
    case OP_Gt:           case OP_Le:         case OP_Lt:
    case OP_Ge:           case OP_ElseEq:     case OP_IfPos:
    case OP_IfNotZero:    case OP_DecrJumpZero:  case OP_Filter:
    case OP_PureFunc:     case OP_Function:   case OP_Return:
    case OP_EndCoroutine: case OP_HaltIfNull: case OP_Halt:
    case OP_Integer:      case OP_Int64:      case OP_String:
    case OP_BeginSubrtn:  case OP_Null:       case OP_SoftNull:
    case OP_Blob:         case OP_Variable:   case OP_Move:
    case OP_Copy:         case OP_SCopy:      case OP_IntCopy:
    case OP_FkCheck:      case OP_CollSeq:    case OP_AddImm:
    case OP_RealAffinity: case OP_Cast:       case OP_Permutation:
    case OP_Compare:      case OP_IsTrue:     case OP_ZeroOrNull:
    case OP_TypeCheck:    case OP_Affinity:   case OP_MakeRecord:
    case OP_BitAnd:       case OP_BitOr:      case OP_ShiftLeft:
    case OP_ShiftRight:   case OP_Add:        case OP_Subtract:
    case OP_Multiply:     case OP_Divide:     case OP_Remainder:
    case OP_Concat:       case OP_BitNot:     case OP_String8:
    case OP_SeekScan:     case OP_Real:       case OP_RowSetAdd:
    case OP_FkCounter:    case OP_MemMax:     case OP_OffsetLimit:
    case OP_AggInverse:   case OP_AggStep:    case OP_AggStep1:
    case OP_AggValue:     case OP_AggFinal:   case OP_TableLock:
    case OP_ClrSubtype:   case OP_GetSubtype: case OP_SetSubtype:
    case OP_FilterAdd:    case OP_Trace:      case OP_CursorHint:
    case OP_ReleaseReg:   case OP_Noop:       case OP_Explain:
    case OP_Abortable:    case OP_Expire:     case OP_HpScan:
    case OP_HpNext:
      return HP_P1_NONE;
    case OP_IsType:       case OP_IfNullRow:  case OP_SeekLT:
    case OP_SeekLE:       case OP_SeekGE:     case OP_SeekGT:
    case OP_IfNoHope:     case OP_NoConflict: case OP_NotFound:
    case OP_Found:        case OP_SeekRowid:  case OP_NotExists:
    case OP_Last:         case OP_IfSizeBetween:  case OP_SorterSort:
    case OP_Sort:         case OP_Rewind:     case OP_IfEmpty:
    case OP_SorterNext:   case OP_Prev:       case OP_Next:
    case OP_IdxLE:        case OP_IdxGT:      case OP_IdxLT:
    case OP_IdxGE:        case OP_Offset:     case OP_Column:
    case OP_Count:        case OP_OpenRead:   case OP_OpenWrite:
    case OP_OpenAutoindex:  case OP_OpenEphemeral:  case OP_SorterOpen:
    case OP_OpenPseudo:   case OP_Close:      case OP_ColumnsUsed:
    case OP_SeekHit:      case OP_Sequence:   case OP_SequenceTest:
    case OP_NewRowid:     case OP_Insert:     case OP_Delete:
    case OP_SorterCompare:  case OP_SorterData:   case OP_RowData:
    case OP_Rowid:        case OP_NullRow:    case OP_SeekEnd:
    case OP_SorterInsert: case OP_DeferredSeek:   case OP_IdxRowid:
    case OP_FinishSeek:   case OP_ResetSorter:    case OP_ReopenIdx:
    case OP_IdxInsert:    case OP_IdxDelete:  case OP_CursorLock:
    case OP_CursorUnlock: case OP_VOpen:      case OP_VFilter:
    case OP_VNext:        case OP_VColumn:    case OP_HpRow:
      return HP_P1_CURSOR;
  }
  return HP_P1_OTHER;
}

/* Are all collations of pInfo SQLite's own? */
static int hpDeferCollations(const KeyInfo *pInfo){
  int i;
  for(i=0; i<pInfo->nAllField; i++){
    if( pInfo->aColl[i] && !hpVecCollIsOwn(pInfo->aColl[i]) ) return 0;
  }
  return 1;
}

/*
** Is what P4 of pOp names, and the instruction may call, SQLite's own?
*/
static int hpDeferIsOwn(const VdbeOp *pOp){
  const FuncDef *pFunc;
  switch( pOp->p4type ){
    case P4_COLLSEQ:
      return pOp->p4.pColl==0 || hpVecCollIsOwn(pOp->p4.pColl);
    case P4_KEYINFO:
      return hpDeferCollations(pOp->p4.pKeyInfo);
    case P4_FUNCDEF:
    case P4_FUNCCTX:
      pFunc = pOp->p4type==P4_FUNCDEF ? pOp->p4.pFunc : pOp->p4.pCtx->pFunc;
      return (pFunc->funcFlags & SQLITE_FUNC_BUILTIN)!=0
          && sqlite3StrICmp(pFunc->zName, "load_extension")!=0;
    case P4_VTAB:
#if !defined(SQLITE_OMIT_JSON) && !defined(SQLITE_OMIT_VIRTUALTABLE)
      return pOp->p4.pVtab->pMod->pModule==&jsonEachModule;
#else
      return 0;
#endif
  }
  return 1;
}

/* Does a scan of ours read the b-tree at iRoot of database iDb? */
static int hpDeferScans(const HpPlan *pPlan, int iDb, Pgno iRoot){
  int i;
  for(i=0; i<pPlan->nPipe; i++){
    const HpSourcePlan *p = &pPlan->aPipe[i].source;
    if( p->iRoot==iRoot && p->iDb==iDb ) return 1;
  }
  for(i=0; i<pPlan->nSet; i++){
    const HpSourcePlan *p = &pPlan->aSet[i].pipe.source;
    if( p->iRoot==iRoot && p->iDb==iDb ) return 1;
  }
  return pPlan->pSearch
      && pPlan->pSearch->iRoot==iRoot && pPlan->pSearch->iDb==iDb;
}

/*
** May changes of the b-tree at root iRoot of database iDb wait as far as
** instruction pOp goes?  They are those by way of cursor iCsr.
*/
static int hpDeferOp(const VdbeOp *pOp, int iCsr, int iDb, int iRoot){
  int eOperand = hpDeferOperand(pOp->opcode);
  if( eOperand==HP_P1_OTHER || !hpDeferIsOwn(pOp) ) return 0;
  switch( pOp->opcode ){
    case OP_OpenRead:
    case OP_OpenWrite:
    case OP_ReopenIdx:
      if( pOp->p5 & OPFLAG_P2ISREG ) return 0;
      return pOp->p1==iCsr
          || pOp->p2!=iRoot || pOp->p3!=iDb;
    case OP_IdxInsert:
      return pOp->p1!=iCsr || (pOp->p5 & ~OPFLAG_USESEEKRESULT)==0;
    case OP_IdxDelete:
      return pOp->p1!=iCsr || pOp->p3==0;
    case OP_DeferredSeek:
      return pOp->p1!=iCsr && pOp->p3!=iCsr;
    case OP_HpScan:
      return pOp->p4type==P4_MEM
          && !hpDeferScans((const HpPlan*)pOp->p4.pMem->z, iDb, (Pgno)iRoot);
  }
  return eOperand==HP_P1_NONE || pOp->p1!=iCsr;
}

/*
** The index of the b-tree at root iRoot of database iDb, or NULL.
*/
static Index *hpDeferrableIndex(sqlite3 *db, int iDb, Pgno iRoot){
  HashElem *pElem;
  assert( iDb>=0 && iDb<db->nDb );
  pElem = sqliteHashFirst(&db->aDb[iDb].pSchema->idxHash);
  for(; pElem; pElem=sqliteHashNext(pElem)){
    Index *p = (Index*)sqliteHashData(pElem);
    if( p->tnum==iRoot ) return p;
  }
  return 0;
}

/*
** Does statement v look at the b-tree at root iRoot of database iDb, or might
** it let anybody do so?  To insert and to delete entries is not to look.
*/
static int hpDeferrableLooks(const Vdbe *v, int iDb, Pgno iRoot){
  int iCsr = -1;
  int i;
  for(i=0; i<v->nOp; i++){
    const VdbeOp *pOp = &v->aOp[i];
    /* PRAGMA writable_schema: the index may become another one */
    if( pOp->opcode==OP_OpenWrite && pOp->p2==SCHEMA_ROOT ) return 1;
    if( pOp->opcode==OP_OpenWrite && pOp->p2==(int)iRoot && pOp->p3==iDb ){
      if( iCsr>=0 && iCsr!=pOp->p1 ) return 1;
      iCsr = pOp->p1;
    }
  }
  for(i=0; i<v->nOp; i++){
    const VdbeOp *pOp = &v->aOp[i];
    /* What others see of a statement that reads, they see by statements of
    ** their own */
    if( v->readOnly && pOp->opcode==OP_ResultRow ) continue;
    if( !hpDeferOp(pOp, iCsr, iDb, (int)iRoot) ) return 1;
  }
  return 0;
}

/*
** Are no indexes changed from instruction iFrom to iTo, nor rows given to who
** might change some?
*/
static int hpDeferIsQuiet(const Vdbe *v, int iFrom, int iTo){
  int i;
  assert( iTo<v->nOp );
  for(i=iFrom; i<=iTo; i++){
    switch( v->aOp[i].opcode ){
      case OP_IdxInsert:  case OP_IdxDelete:  case OP_Yield:
      case OP_Gosub:      case OP_Program:
        return 0;
    }
  }
  return iFrom<=iTo;
}

/*
** Does statement v change indexes for no more rows than its text has?  Its
** loops may only look something up, as the last number of AUTOINCREMENT.
*/
static int hpDeferrableIsShort(const Vdbe *v){
  int i;
  for(i=0; i<v->nOp; i++){
    switch( v->aOp[i].opcode ){
      case OP_VNext:    case OP_HpScan:     case OP_HpNext:
      case OP_HpRow:    case OP_RowSetRead:
        return 0;
      case OP_Next:     case OP_Prev:       case OP_SorterNext:
        if( !hpDeferIsQuiet(v, v->aOp[i].p2, i) ) return 0;
        break;
      case OP_Goto:
        /* The loop of a recursive query */
        if( v->aOp[i].p2<i && v->aOp[v->aOp[i].p2].opcode==OP_Rewind ) return 0;
        break;
    }
  }
  return 1;
}

/*
** Is somebody called for each row?  Sessions run statements then.
*/
static int hpDeferrableIsHooked(const sqlite3 *db){
#ifdef SQLITE_ENABLE_PREUPDATE_HOOK
  if( db->xPreUpdateCallback ) return 1;
#endif
  return db->xUpdateCallback!=0;
}

/*
** Does a function of pOp tell what the connection did last?  A statement that
** begins again would hear of its own rows.
*/
static int hpDeferTells(const VdbeOp *pOp){
  const FuncDef *pFunc;
  if( pOp->p4type==P4_FUNCDEF ) pFunc = pOp->p4.pFunc;
  else if( pOp->p4type==P4_FUNCCTX ) pFunc = pOp->p4.pCtx->pFunc;
  else return 0;
  return pFunc->xSFunc==last_insert_rowid || pFunc->xSFunc==changes
      || pFunc->xSFunc==total_changes;
}

/*
** Does instruction pOp of statement v look whether a row may be inserted into
** table iRoot of database iDb?
*/
static int hpDeferIsCheck(
  const Vdbe *v,
  const VdbeOp *pOp,
  int iDb,
  Pgno iRoot
){
  const VdbeCursor *pCsr;
  if( pOp->opcode==OP_NoConflict ) return 1;
  if( pOp->opcode!=OP_NotExists ) return 0;
  pCsr = v->apCsr[pOp->p1];
  return pCsr && pCsr->eCurType==CURTYPE_BTREE
      && pCsr->iDb==iDb && pCsr->pgnoRoot==iRoot
      && (pCsr->uc.pCursor->curFlags & BTCF_WriteFlag)!=0;
}

/*
** Statement v inserts into pIndex, by way of cursor iCsr, what has to be
** unique.  Can it begin again if it turns out not to be?  A conflict of each
** kind has to end it: a row that is passed over because of another one is not
** inserted into this index, where SQLite might have found it first.
*/
static int hpDeferMayAssume(const Vdbe *v, const Index *pIndex, int iCsr){
  const sqlite3 *db = v->db;
  int iDb = v->apCsr[iCsr]->iDb;
  int i;
  if( hpQueryMayNot(v) || v->iStatement+db->autoCommit==0 ) return 0;
  /* ROLLBACK is seen by the hook; of a statement alone it is not */
  if( db->autoCommit && db->xRollbackCallback ) return 0;
  for(i=0; i+1<v->nOp; i++){
    const VdbeOp *pOp = &v->aOp[i];
    if( hpDeferTells(pOp) ) return 0;
    if( pOp->opcode==OP_IdxDelete && pOp->p1==iCsr ) return 0;
    if( hpDeferIsCheck(v, pOp, iDb, pIndex->pTable->tnum)
     && (pOp[1].opcode!=OP_Halt || pOp[1].p1==SQLITE_OK)
    ){
      return 0;    /* OR IGNORE, OR REPLACE, ON CONFLICT: some are expected */
    }
  }
  return 1;
}

/*
** Statement v is about to change the index at cursor iCsr of its program.  May
** that wait?  Returns the index, or NULL.  *pbUnique: see HpDefer.
*/
static const Index *hpDeferIndex(Vdbe *v, int iCsr, int *pbUnique){
  sqlite3 *db = v->db;
  const VdbeCursor *pCsr = v->apCsr[iCsr];
  const BtCursor *pCur = pCsr->uc.pCursor;
  const Index *pIndex;
  int i;
  assert( pCsr->eCurType==CURTYPE_BTREE && pCsr->isTable==0 );
  if( v->pFrame || pCsr->isEphemeral || pCsr->pKeyInfo==0 ) return 0;
  if( db->nVdbeActive!=1 || ENC(db)!=SQLITE_UTF8 ) return 0;
  if( pCsr->iDb<0 || (db->mDbFlags & DBFLAG_Vacuum) ) return 0;
#ifndef SQLITE_OMIT_SHARED_CACHE
  if( pCur->pBt->nRef>1 ) return 0;
#endif
  if( (pCur->curFlags & BTCF_Multiple)
   || (pCur->curFlags & BTCF_WriteFlag)==0
  ){
    return 0;
  }
  if( hpDeferrableIsHooked(db) ) return 0;
  /* A statement that fails cannot be rolled back */
  if( sqlite3PagerGetJournalMode(pCur->pBt->pPager)==PAGER_JOURNALMODE_OFF ){
    return 0;
  }
  if( hpBudgetIsLimited() || sqlite3HpHeapIsTight() ) return 0;
  pIndex = hpDeferrableIndex(db, pCsr->iDb, pCsr->pgnoRoot);
  if( pIndex==0 || pIndex->bAscKeyBug ) return 0;
  if( IsPrimaryKeyIndex(pIndex) && !HasRowid(pIndex->pTable) ) return 0;
  if( pIndex->nColumn!=pCsr->pKeyInfo->nAllField
   || !hpDeferCollations(pCsr->pKeyInfo)
  ){
    return 0;
  }
  *pbUnique = 0;
  for(i=0; i<v->nOp; i++){
    const VdbeOp *pOp = &v->aOp[i];
    if( pOp->opcode==OP_NoConflict && pOp->p1==iCsr ){
      *pbUnique = 1;
    }else if( !hpDeferOp(pOp, iCsr, pCsr->iDb, (int)pCsr->pgnoRoot) ){
      return 0;
    }
  }
  return *pbUnique==0 || hpDeferMayAssume(v, pIndex, iCsr) ? pIndex : 0;
}

/*
** The changes that statement v makes by way of cursor iCsr, none so far, if
** they may wait; else NULL.  Those of all indexes of the table may take a part
** of the memory of a statement, one of nPart.  bEnds: they wait until v ends,
** and no longer.  The cursor stands nowhere then.
*/
static HpDefer *hpDeferrableNew(Vdbe *v, int iCsr, int nPart, int bEnds){
  VdbeCursor *pCsr = v->apCsr[iCsr];
  int bUnique = 0;
  const Index *pIndex = hpDeferIndex(v, iCsr, &bUnique);
  const Index *pOther;
  HpDefer *p;
  int n = 0;
  assert( nPart>0 );
  if( pIndex==0 || (bUnique && !bEnds) ) return 0;
  for(pOther=pIndex->pTable->pIndex; pOther; pOther=pOther->pNext) n++;
  p = hpChangeMake(v->db, pIndex, pCsr->pKeyInfo,
                   hpBudgetLimit(v->db)/nPart/n, bUnique);
  if( p ){
    btreeReleaseAllCursorPages(pCsr->uc.pCursor);
    pCsr->uc.pCursor->eState = CURSOR_INVALID;
  }
  return p;
}
#endif /* SQLITE_OMIT_HP */
