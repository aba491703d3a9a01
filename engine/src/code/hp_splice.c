/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_splice: the code that SQLite has generated is read and changed here
** (prepare time).
**
**    What SQLite has coded:
**    hpSpliceReset()        what resets the accumulators of aggregates
**    hpSpliceIsNull()       is that an OP_Null?
**    hpSpliceSort()         where groups are sorted
**    hpSpliceArms()         number of the arms of a UNION ALL
**    hpSpliceSet()          the loops that make the set of an IN
**    hpSpliceScan()         a loop over a whole b-tree
**    hpSpliceNext()         the end of that
**    hpSpliceIn()           the loop over the values of an IN
**    hpSpliceSearch()       a loop over entries of an index
**    hpSpliceSorted()       the output loop behind a sorter
**    hpSpliceUnique()       where an index turns out not to be unique
**    hpSplicePlan()         the plan of an OP_HpTask
**    hpSpliceLine()         a line of EXPLAIN QUERY PLAN
**
**    Changing it:
**    hpSpliceLineSet(), hpSpliceLineDrop()    that line
**    hpSpliceOpen()         open a table of SQLite's here, too
**    hpSpliceRow()          OP_Next becomes OP_HpRow
**    hpSpliceBranch(), hpSpliceRejoin()    in place of an instruction: jump to
**                           our code, and back
**    hpSpliceDetour(), hpSpliceReturn()    the same, but our code begins with
**                           that instruction
**    hpSpliceMove()         an instruction comes here; a jump takes its place
**
** SQLite's code is generated in any case.  Where ours takes over is found out
** when SQLite's is there, by the instructions that it consists of.  Of logic/,
** phys/, code/ and task/ this is the only module that reads them: no other one
** calls sqlite3VdbeGetOp().
** Each form that is known has a function, with a drawing of the instructions
** and the name of the function of SQLite's that emits them.  It returns
** addresses, cursors and registers, or 0 if the code has another form: then the
** statement is left to SQLite.
**
** When memory has run out, SQLite's program is empty, and
** sqlite3VdbeGetOp() returns an instruction that is none.
**
** Our code (hp_deliver.c) stands behind SQLite's, and a jump to it takes the
** place of one of SQLite's instructions, iFrom:
**
**            Goto ours          iFrom: what was here is copied
**            ...                SQLite's code
**            Goto done          HpBranch.addrSkip
**    ours:   ...                constants into registers
**            HpScan  P1=r P2=x
**            ...                what is done with its rows
**    x:      the copy           it declined
**            Goto iFrom+1
**    done:
**
** That is hpSpliceBranch() with hpSpliceRejoin().  With hpSpliceDetour() the
** copy is the first instruction of our code, and hpSpliceReturn() makes P2 of
** OP_HpScan iFrom+1.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** What resets the accumulators of an aggregate query, before its loops are
** coded, in sqlite3Select():
**
**           Gosub reset           GROUP BY, or
**           Null                  without: resetAccumulator()
**           OpenEphemeral ...     of that: tables of DISTINCT and ORDER BY
**           Explain ...
**
** Returns the address of OP_Gosub or OP_Null, or 0 if there is none.
*/
static int hpSpliceReset(Vdbe *v){
  int i;
  assert( v!=0 );
  for(i=sqlite3VdbeCurrentAddr(v)-1; i>0; i--){
    switch( sqlite3VdbeGetOp(v, i)->opcode ){
      case OP_Null: case OP_Gosub:
        return i;
      case OP_OpenEphemeral: case OP_Explain:
        break;
      default:
        return 0;
    }
  }
  return 0;
}

/*
** Is the instruction at iReset, which comes from hpSpliceReset(), an OP_Null?
*/
static int hpSpliceIsNull(Vdbe *v, int iReset){
  const VdbeOp *pOp = sqlite3VdbeGetOp(v, iReset);
  assert( pOp->opcode==OP_Null || pOp->opcode==OP_Gosub
       || v->db->mallocFailed );
  return pOp->opcode==OP_Null;
}

/*
** Where the loops of a query with GROUP BY end, in sqlite3Select().  If the
** rows are sorted:
**
**    iFrom: ...                   the loops, which insert into sorter iSort
**           SorterSort P1=iSort
**           ...                   a loop over the sorted rows
**    iTo:
**
** Returns the address of OP_SorterSort, or iTo if there is none.
*/
static int hpSpliceSort(Vdbe *v, int iFrom, int iTo, int iSort){
  int i;
  assert( iFrom<iTo || v->db->mallocFailed );
  for(i=iFrom+1; i<iTo; i++){
    const VdbeOp *pOp = sqlite3VdbeGetOp(v, i);
    if( pOp->opcode==OP_SorterSort && pOp->p1==iSort ) return i;
  }
  return iTo;
}

/*
** The arms of a UNION ALL that is the co-routine of pSubq, as sqlite3Select()
** and multiSelect() code it:
**
**           InitCoroutine r
**    fill:  ...                   a loop
**           Yield r               its rows: of each arm there is one
**           ...                   the next loop
**           Yield r
**           EndCoroutine r
**
** Returns how often there is an OP_Yield, or 0 if the end is missing.
*/
static int hpSpliceArms(Vdbe *v, const Subquery *pSubq){
  int nOp = sqlite3VdbeCurrentAddr(v);
  int n = 0;
  int i;
  assert( pSubq->addrFillSub>0 );
  for(i=pSubq->addrFillSub; i<nOp; i++){
    const VdbeOp *pOp = sqlite3VdbeGetOp(v, i);
    if( pOp->p1!=pSubq->regReturn ) continue;
    if( pOp->opcode==OP_EndCoroutine ) return n;
    n += pOp->opcode==OP_Yield;
  }
  return 0;
}

/*
** The loops of a SELECT whose rows are the values of set iSet, as
** sqlite3CodeRhsOfIN() and sqlite3Select() code it:
**
**           OpenEphemeral P1=iSet
**           Blob                  the set's Bloom filter, if it has one
**           OpenEphemeral, Null   if the SELECT is DISTINCT
**           Explain ...
**    loops: OpenRead
**           ...
**
** Returns the address of the OP_OpenRead, or 0 if something else comes first.
*/
static int hpSpliceSet(Vdbe *v, int iSet){
  int n = sqlite3VdbeCurrentAddr(v);
  int i;
  assert( iSet>=0 );
  for(i=n-1; i>0; i--){
    const VdbeOp *pOp = sqlite3VdbeGetOp(v, i);
    if( pOp->opcode==OP_OpenEphemeral && pOp->p1==iSet ) break;
  }
  while( i>0 && ++i<n ){
    switch( sqlite3VdbeGetOp(v, i)->opcode ){
      case OP_OpenRead:
        return i;
      case OP_Explain: case OP_Blob: case OP_OpenEphemeral: case OP_Null:
        break;
      default:
        return 0;
    }
  }
  return 0;
}

/*
** A loop over all of a b-tree, as sqlite3WhereCodeOneLoopStart() and
** sqlite3WhereEnd() code it:
**
**    iRewind:  Rewind P1=cursor -> end
**              ...
**              Next P1=cursor -> iRewind+1
**    end:
**
** Note it in *pLoop, but for the OP_Next, and return true, if there is an
** OP_Rewind at iRewind.
*/
static int hpSpliceScan(Vdbe *v, int iRewind, HpScanLoop *pLoop){
  const VdbeOp *pOp = sqlite3VdbeGetOp(v, iRewind);
  assert( iRewind>0 );
  memset(pLoop, 0, sizeof(*pLoop));
  if( pOp->opcode!=OP_Rewind ) return 0;
  pLoop->iFrom = iRewind;
  pLoop->iRow = iRewind+1;
  pLoop->iCur = pOp->p1;
  pLoop->iEnd = pOp->p2;
  return 1;
}

/*
** Find the OP_Next of the loop that hpSpliceScan() has noted.  Returns false if
** there is none, or one that may end early (P3).
*/
static int hpSpliceNext(Vdbe *v, HpScanLoop *pLoop){
  int i;
  assert( pLoop->iFrom>0 && pLoop->iNext==0 );
  for(i=sqlite3VdbeCurrentAddr(v)-1; i>pLoop->iFrom; i--){
    const VdbeOp *pOp = sqlite3VdbeGetOp(v, i);
    if( pOp->opcode==OP_Next && pOp->p1==pLoop->iCur && pOp->p2==pLoop->iRow ){
      if( pOp->p3==0 ) pLoop->iNext = i;
      break;
    }
  }
  return pLoop->iNext>0;
}

/*
** The loop over the values of an IN, around the search of an index that is the
** outermost loop of pWInfo, as codeINTerm() codes it:
**
**           Rewind values -> end      or Last
**    top:   Column, IsNull            InLoop.addrInTop
**           ...                       the search
**           Next values -> top        or Prev
**    end:
**
** Returns the address of the first instruction.  0: there is no IN; -1: there
** are several, or a loop of another form.
*/
static int hpSpliceIn(Vdbe *v, const WhereInfo *pWInfo){
  const WhereLevel *pLevel = &pWInfo->a[0];
  int addr;
  assert( pWInfo->nLevel>0 );
  if( (pLevel->pWLoop->wsFlags & WHERE_COLUMN_IN)==0 ) return 0;
  if( pLevel->u.in.nIn!=1 ) return -1;
  addr = pLevel->u.in.aInLoop[0].addrInTop-1;
  if( addr<1 ) return -1;
  switch( sqlite3VdbeGetOp(v, addr)->opcode ){
    case OP_Rewind: case OP_Last:  return addr;
  }
  return -1;
}

/* Is pOp an instruction in front of a search, or at its begin, that
** hpSpliceMove() may move? */
static int hpSpliceMayMove(const VdbeOp *pOp){
  switch( pOp->opcode ){
    case OP_Integer: case OP_Int64: case OP_Real: case OP_String8:
    case OP_String: case OP_Null: case OP_Blob: case OP_Variable:
    case OP_Copy: case OP_SCopy: case OP_Affinity: case OP_IsNull:
    case OP_OpenRead: case OP_Explain: case OP_Noop:
      return 1;
  }
  return 0;
}

/*
** The loop that ends with the OP_Next at pLoop->iNext searches an index, and
** looks rows of cursor iTabCur up.  sqlite3WhereCodeOneLoopStart() codes:
**
**    iFrom: ...                       the first key, in registers
**           SeekGE idx -> end         or SeekGT; no first key: Rewind
**           ...                       the last key, unless they are the same
**    iRow:  IdxGT idx -> end          or IdxGE; none if there is no last key
**           DeferredSeek idx, table
**           ...
**           Next idx -> iRow
**
** Return the address of the last instruction that sets the first key, or 0 if
** the loop is not as we know it.  OP_SeekGE may look at what follows it, so it
** stays where it is.
*/
static int hpSpliceKeys(Vdbe *v, int iTabCur, const HpScanLoop *pLoop){
  const VdbeOp *aOp = sqlite3VdbeGetOp(v, 0);
  int iCur = pLoop->iCur;
  int iTop = pLoop->iRow;
  int iRow = iTop;
  int iFrom = iTop-1;
  if( iTop<3 || iTop+1>=pLoop->iNext ) return 0;
  if( aOp[iTop].opcode==OP_IdxGT || aOp[iTop].opcode==OP_IdxGE ){
    if( aOp[iTop].p1!=iCur ) return 0;
    iRow++;
  }
  if( aOp[iFrom].opcode==OP_SeekGE || aOp[iFrom].opcode==OP_SeekGT
   || aOp[iFrom].opcode==OP_Rewind
  ){
    if( aOp[iFrom].p1!=iCur ) return 0;
    iFrom--;
  }
  if( aOp[iRow].opcode!=OP_DeferredSeek || aOp[iRow].p1!=iCur
   || aOp[iRow].p3!=iTabCur || !hpSpliceMayMove(&aOp[iFrom])
  ){
    return 0;
  }
  assert( iFrom>0 && iFrom<iTop && iTop<=iRow && iRow<pLoop->iNext );
  return iFrom;
}

/*
** Note in *pLoop the last loop that searches an index and looks rows of cursor
** iTabCur up, and return true, if it is as hpSpliceKeys() knows it.  With the
** loop over the values of an IN around it, which begins at iIn, that comes
** first, and rows begin behind OP_IdxGT:
**
**    iFrom: Rewind values -> end      hpSpliceIn()
**           ...
**           SeekGE idx, IdxGT idx
**    iRow:  DeferredSeek idx, table
**           ...
**           Next idx                  iNext
**           Next values
**    end:                             iEnd
*/
static int hpSpliceSearch(Vdbe *v, int iTabCur, int iIn, HpScanLoop *pLoop){
  const VdbeOp *aOp = sqlite3VdbeGetOp(v, 0);
  int nOp = sqlite3VdbeCurrentAddr(v);
  int i = nOp-1;
  memset(pLoop, 0, sizeof(*pLoop));
  if( v->db->mallocFailed ) return 0;
  while( i>0 && (aOp[i].opcode!=OP_DeferredSeek || aOp[i].p3!=iTabCur) ) i--;
  pLoop->iCur = aOp[i].p1;
  while( i>0 && i<nOp && (aOp[i].opcode!=OP_Next || aOp[i].p1!=pLoop->iCur) ){
    i++;
  }
  if( i==0 || i==nOp ) return 0;
  pLoop->iNext = i;
  pLoop->iRow = aOp[i].p2;
  pLoop->iEnd = i+1;
  if( iIn ){
    pLoop->bIn = 1;
    pLoop->iFrom = iIn;
    pLoop->iEnd = aOp[iIn].p2;
    while( pLoop->iRow<i && aOp[pLoop->iRow].opcode!=OP_DeferredSeek ){
      pLoop->iRow++;
    }
    /* The OP_DeferredSeek is there; and the loop around ends behind */
    assert( iIn<pLoop->iRow && pLoop->iRow<i && i<pLoop->iEnd );
  }else{
    pLoop->iFrom = hpSpliceKeys(v, iTabCur, pLoop);
  }
  return pLoop->iFrom>0;
}

/*
** The output loop of sorter iSorter, whose work the OP_HpScan at addrScan does,
** as generateSortTail() codes it:
**
**           HpScan r                 addrScan
**           ...
**           OpenPseudo P1=cursor P2=record
**           SorterSort P1=sorter P2=end
**           SorterData P1=sorter P2=record
**    iRow:  ...                       columns of the pseudo-table, output
**           SorterNext P1=sorter      iNext
**    end:                             iEnd
**
** Note it in *pLoop, and return r.
*/
static int hpSpliceSorted(
  Vdbe *v,
  int addrScan,
  int iSorter,
  HpSortLoop *pLoop
){
  const VdbeOp *aOp = sqlite3VdbeGetOp(v, 0);
  int nOp = sqlite3VdbeCurrentAddr(v);
  int i;
  assert( aOp[addrScan].opcode==OP_HpScan && aOp[addrScan].p3==HP_SCAN_SORT );
  memset(pLoop, 0, sizeof(*pLoop));
  for(i=addrScan+4; i<nOp; i++){
    const VdbeOp *pOp = &aOp[i];
    switch( pOp->opcode ){
      case OP_OpenPseudo:
        pLoop->iCur = pOp->p1;
        pLoop->regRecord = pOp->p2;
        pLoop->nField = pOp->p3;
        break;
      case OP_SorterSort:
        assert( pOp->p1==iSorter );
        pLoop->iEnd = pOp->p2;
        break;
      case OP_SorterData:
        assert( pOp->p1==iSorter );
        pLoop->iRow = i+1;
        break;
      case OP_SorterNext:
        assert( pOp->p1==iSorter );
        pLoop->iNext = i;
        break;
    }
  }
  UNUSED_PARAMETER(iSorter);
  assert( pLoop->regRecord>0 && pLoop->iRow>addrScan );
  assert( pLoop->iNext>pLoop->iRow && aOp[pLoop->iNext].p2==pLoop->iRow-1 );
  return aOp[addrScan].p1;
}

/*
** SQLite's code behind the OP_HpTask at addrTask makes an index, as
** sqlite3RefillIndex() does:
**
**           HpTask
**           ...                       entries into a sorter
**           SorterCompare             if the index is unique
**           Halt                      two entries are the same
**           ...                       entries into the index
**
** Returns the address of the OP_Halt, or 0 if there is none.
*/
static int hpSpliceUnique(Vdbe *v, int addrTask){
  int i;
  assert( sqlite3VdbeGetOp(v, addrTask)->opcode==OP_HpTask );
  for(i=sqlite3VdbeCurrentAddr(v)-1; i>addrTask; i--){
    if( sqlite3VdbeGetOp(v, i)->opcode==OP_Halt ) return i;
  }
  return 0;
}

/*
** The plan of the OP_HpTask at addrTask.
*/
static HpPlan *hpSplicePlan(Vdbe *v, int addrTask){
  const VdbeOp *pOp = sqlite3VdbeGetOp(v, addrTask);
  assert( pOp->opcode==OP_HpTask && pOp->p4type==P4_MEM );
  return (HpPlan*)pOp->p4.pMem->z;
}

/*
** The text of the instruction at addr if that is a line of EXPLAIN QUERY PLAN,
** as sqlite3VdbeExplain() codes it, else NULL.
*/
static const char *hpSpliceLine(Vdbe *v, int addr){
  const VdbeOp *pOp = sqlite3VdbeGetOp(v, addr);
  assert( v->pParse->explain==2 );
  return pOp->opcode==OP_Explain && pOp->p4type==P4_DYNAMIC ? pOp->p4.z : 0;
}

/*
** Let line addr be zNew from now on.  NULL: there was no memory for that.
*/
static void hpSpliceLineSet(Vdbe *v, int addr, char *zNew){
  VdbeOp *pOp = sqlite3VdbeGetOp(v, addr);
  assert( hpSpliceLine(v, addr)!=0 || v->db->mallocFailed );
  if( zNew==0 ) return;
  sqlite3DbFree(v->db, pOp->p4.z);
  pOp->p4.z = zNew;
}

/* There is no line addr from now on */
static void hpSpliceLineDrop(Vdbe *v, int addr){
  assert( hpSpliceLine(v, addr)!=0 || v->db->mallocFailed );
  sqlite3VdbeChangeToNoop(v, addr);
}

/*
** Behind iFrom resetAccumulator() opens a table of an aggregate with ORDER BY
** inside, as cursor iTab:
**
**           Null
**           OpenEphemeral P1=iTab P2=columns P4=keys
**
** Open it here as well.
*/
static void hpSpliceOpen(Vdbe *v, int iFrom, int iTab){
  int nOp = sqlite3VdbeCurrentAddr(v);
  int i;
  for(i=iFrom+1; i<nOp; i++){
    const VdbeOp *pOp = sqlite3VdbeGetOp(v, i);
    if( pOp->opcode==OP_OpenEphemeral && pOp->p1==iTab ){
      KeyInfo *pKeyInfo = sqlite3KeyInfoRef(pOp->p4.pKeyInfo);
      sqlite3VdbeAddOp4(v, OP_OpenEphemeral, iTab, pOp->p2, 0,
                        (char*)pKeyInfo, P4_KEYINFO);
      return;
    }
  }
  assert( v->db->mallocFailed );
}

/*
** Let the end of a loop, at iNext, go to the next row of the OP_HpScan with
** register regExec.  Of OP_SorterNext OP_HpRow loads the record, as the
** OP_SorterData does that it jumps to.
*/
static void hpSpliceRow(Vdbe *v, int iNext, int regExec){
  VdbeOp *pOp = sqlite3VdbeGetOp(v, iNext);
  assert( pOp->opcode==OP_Next || pOp->opcode==OP_SorterNext
       || v->db->mallocFailed );
  if( pOp->opcode==OP_SorterNext ) pOp->p2++;
  pOp->opcode = OP_HpRow;
  pOp->p3 = regExec;
}

/* In place of pOp there is a jump to addr.  Its P4 has gone elsewhere. */
static void hpSpliceGoto(VdbeOp *pOp, int addr){
  assert( addr>0 );
  pOp->p4type = P4_NOTUSED;
  pOp->p4.p = 0;
  pOp->p5 = 0;
  pOp->opcode = OP_Goto;
  pOp->p1 = pOp->p3 = 0;
  pOp->p2 = addr;
}

/*
** Let the program go on from instruction iFrom, which is not run then, with the
** code that follows: a jump takes its place.  What is coded so far does not
** come here.
*/
static void hpSpliceBranch(Parse *pParse, HpBranch *p, int iFrom){
  Vdbe *v = pParse->pVdbe;
  VdbeOp *pOp;
  assert( iFrom>0 && iFrom<sqlite3VdbeCurrentAddr(v) );
  p->iFrom = iFrom;
  p->addrSkip = sqlite3VdbeAddOp0(v, OP_Goto);
  pOp = sqlite3VdbeGetOp(v, iFrom);
  p->op = *pOp;
  hpSpliceGoto(pOp, sqlite3VdbeCurrentAddr(v));
}

/*
** When the instruction at addrScan declines the program goes on as it did, with
** a copy of the instruction that the jump has replaced.  Our code ends here.
*/
static void hpSpliceRejoin(Parse *pParse, const HpBranch *p, int addrScan){
  Vdbe *v = pParse->pVdbe;
  int addr;
  /* hpSpliceBranch() has been called, and then our code has been made */
  assert( pParse->db->mallocFailed
       || (p->iFrom<p->addrSkip && p->addrSkip<addrScan) );
  assert( pParse->db->mallocFailed
       || sqlite3VdbeGetOp(v, p->iFrom)->p2==p->addrSkip+1 );
  sqlite3VdbeJumpHere(v, addrScan);
  addr = sqlite3VdbeAddOp3(v, p->op.opcode, p->op.p1, p->op.p2, p->op.p3);
  if( pParse->db->mallocFailed ){
    freeP4(pParse->db, p->op.p4type, p->op.p4.p);
  }else{
    VdbeOp *pOp = sqlite3VdbeGetOp(v, addr);
    pOp->p4type = p->op.p4type;
    pOp->p4 = p->op.p4;
    pOp->p5 = p->op.p5;
  }
  sqlite3VdbeAddOp2(v, OP_Goto, 0, p->iFrom+1);
  sqlite3VdbeJumpHere(v, p->addrSkip);
}

/*
** Move instruction iFrom here: a jump takes its place.
*/
static void hpSpliceMove(Parse *pParse, int iFrom){
  Vdbe *v = pParse->pVdbe;
  VdbeOp *pOp = sqlite3VdbeGetOp(v, iFrom);
  int addr = sqlite3VdbeAddOp3(v, pOp->opcode, pOp->p1, pOp->p2, pOp->p3);
  if( pParse->db->mallocFailed ) return;
  pOp = sqlite3VdbeGetOp(v, addr);
  /* Behind the code that it jumps out of */
  assert( iFrom>0 && iFrom<addr );
  *pOp = *sqlite3VdbeGetOp(v, iFrom);
#ifdef SQLITE_ENABLE_EXPLAIN_COMMENTS
  pOp->zComment = 0;     /* That stays there */
#endif
  hpSpliceGoto(sqlite3VdbeGetOp(v, iFrom), addr);
}

/*
** As hpSpliceBranch(), but the code that follows begins with instruction iFrom.
*/
static void hpSpliceDetour(Parse *pParse, HpBranch *p, int iFrom){
  Vdbe *v = pParse->pVdbe;
  assert( iFrom>0 && iFrom<sqlite3VdbeCurrentAddr(v) );
  p->iFrom = iFrom;
  p->addrSkip = sqlite3VdbeAddOp0(v, OP_Goto);
  hpSpliceMove(pParse, iFrom);
}

/*
** When the instruction at addrScan declines the program goes on behind the one
** that hpSpliceDetour() has moved.  Our code ends here.
*/
static void hpSpliceReturn(Parse *pParse, const HpBranch *p, int addrScan){
  Vdbe *v = pParse->pVdbe;
  assert( p->addrSkip<addrScan || pParse->db->mallocFailed );
  sqlite3VdbeChangeP2(v, addrScan, p->iFrom+1);
  sqlite3VdbeJumpHere(v, p->addrSkip);
}
#endif /* SQLITE_OMIT_HP */
