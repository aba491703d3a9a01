/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_find: OP_HpFind, which looks up the group of a correlated sub-select.
**
**    sqlite3HpFind()    OP_HpFind
**
** The sub-select is a scan of a whole table for each row around it (hp_codefind.c).
** The first of these scans are SQLite's: what it would never have come to we do not
** do.  When it has gone through as many rows as the table has, about, in this
** statement, the table is scanned once, grouped by the inner sides of the keys, and
** from then on a hash table has the group of each row.  So at most twice SQLite's
** time is spent where it stops soon after.
**
** Where SQLite searches an index for each row, and so goes through few, the
** loops around have to go on for longer than the scan takes (hp_progress.c).
** If that is not known as much time has to have passed as three scans take.
** That may be the application's, between rows: so as many instructions have to
** have been done as take so long if all of them are slow (HP_FIND_STEP).  A
** statement without parameters of which that was so makes its groups at once
** for a while (hpRaceNote()).
**
** EXISTS has groups without aggregates.
**
** Groups hold as long as nobody writes to the table (hp_guard.c).  Then, and if the
** groups take more than hp_memory, or the scan declines, the sub-select is SQLite's
** until the statement ends.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_FIND_LEFT 2         /* The loops around go on for so many times what
                               ** groups take, ... */
#define HP_FIND_OURS   3       /* ... or, if that is not known, have taken so
                               ** many times that */
#define HP_FIND_MORE 2000      /* Instructions from one look to the next */
#define HP_FIND_STEP 1000      /* An instruction takes no longer than so many nanoseconds, on average */

/*
** Scan the table of p, which is new, and enter its groups into a hash table.
*/
static int hpFindMake(HpQuery *p, const HpPlan *pPlan, Mem *aMem, int bExact){
  int rc = hpFinderNew(p, &pPlan->aPipe[0].source);
  if( rc==SQLITE_OK ) rc = hpQueryRun(p, pPlan, aMem, bExact ? 1 : hpThreads(p->db), bExact);
  if( rc==SQLITE_OK ){
    sqlite3BeginBenignMalloc();
    rc = hpFinderFill(p);
    sqlite3EndBenignMalloc();
  }
  if( rc==SQLITE_OK && p->db->mallocFailed ) rc = SQLITE_NOMEM;
  assert( rc || (p->pPieces==0 && p->pPipe->pShown->top.nTop==0) );
  if( rc==SQLITE_OK ) hpQueryDone(p, pPlan);
  return rc;
}

/* How many sub-selects of v, pOp among them, have no groups yet? */
static int hpFindCount(const Vdbe *v, const Mem *aMem){
  int n = 0;
  int i;
  for(i=0; i<v->nOp; i++){
    if( v->aOp[i].opcode==OP_HpFind
     && (aMem[v->aOp[i].p1].flags & MEM_Dyn)==0 ){
      n++;
    }
  }
  return MAX(1, n);
}

/*
** OP_HpFind pOp may scan its table, which takes as long as pPlan->rFind says,
** and nStep instructions have been done.  Is that worth it, as far as can be
** told?  As many nanoseconds for each such sub-select have to be before the
** loops around, or if that is not known HP_FIND_OURS times have to be behind.
*/
static int hpFindPays(Vdbe *v, const VdbeOp *pOp, const Mem *aMem, i64 tNow){
  HpPlan *pPlan = (HpPlan*)pOp->p4.pMem->z;
  int bAll;
  double rLeft = hpProgressLeft(v, &pPlan->progress, (int)(pOp - v->aOp), 1,
                                v->nOp, tNow, &bAll);
  assert( pPlan->bGuess && pOp->opcode==OP_HpFind );
  if( rLeft>=0 && rLeft>pPlan->rFind*HP_FIND_LEFT*hpFindCount(v, aMem) ){
    return 1;
  }
  return (rLeft<0 || !bAll)
      && (double)(tNow - pPlan->tFind)>=pPlan->rFind*HP_FIND_OURS;
}

/*
** Is it time to scan the table, for OP_HpFind pOp?  Its register is empty at first; then it has the
** number of rows that SQLite had gone through by then, and the register behind it that of the table.
** Where it searches an index (HpPlan.bGuess) instructions are counted, of which nDone have been done
** since v->aCounter[] was set.
*/
static int hpFindTime(Vdbe *v, VdbeOp *pOp, Mem *aMem, u64 nDone){
  HpPlan *pPlan = (HpPlan*)pOp->p4.pMem->z;
  Mem *pReg = &aMem[pOp->p1];
  int iLoop = (int)(pOp - v->aOp);
  u32 nStep = v->aCounter[SQLITE_STMTSTATUS_FULLSCAN_STEP];
  i64 nLeaf, nRow;
  assert( (pReg->flags & MEM_Dyn)==0 && pPlan->nPipe>=1 );
  if( pPlan->bGuess ) nStep = v->aCounter[SQLITE_STMTSTATUS_VM_STEP] + (u32)nDone;
  if( hpConfigOffload(v->db)==HP_OFFLOAD_FORCE ) return 1;
  if( (pReg->flags & MEM_Int)==0 ){
    sqlite3VdbeMemSetInt64(pReg, nStep);
    if( pPlan->bGuess ){
      double rOurs;
      if( hpRaceIsLong(v, iLoop) ) return 1;
      if( hpGateFind(v->db, &pPlan->aPipe[0], aMem, &rOurs) ) rOurs = 0;
      nRow = rOurs>0 ? (i64)(rOurs/HP_FIND_STEP) : HP_ROWS_ALL;
      pPlan->tFind = hpRaceClock(nStep);
      pPlan->rFind = rOurs;
      hpProgressBegin(&pPlan->progress);
      (void)hpFindPays(v, pOp, aMem, pPlan->tFind);
    }else if( hpSizeOfPlan(v->db, &pPlan->aPipe[0].source, aMem, &nLeaf, &nRow)
     || nLeaf<HP_MIN_LEAF
    ){
      nRow = HP_ROWS_ALL;
    }
    sqlite3VdbeMemSetInt64(&pReg[1], nRow);
    return 0;
  }
  assert( pReg[1].flags & MEM_Int );
  if( (u32)(nStep - (u32)pReg->u.i)<pReg[1].u.i ) return 0;
  if( pPlan->bGuess && !hpFindPays(v, pOp, aMem, hpRaceClock(nStep)) ){
    /* Ask again after a while */
    pReg[1].u.i += pReg[1].u.i/4 + HP_FIND_MORE;
    return 0;
  }
  if( pPlan->bGuess ) hpRaceNote(v, iLoop);
  return 1;
}

/* From now on the sub-select is SQLite's */
static void hpFindOff(Mem *pReg){
  sqlite3VdbeMemSetInt64(pReg, 0);
  sqlite3VdbeMemSetInt64(&pReg[1], HP_ROWS_ALL);
}

/*
** OP_HpFind, after nStep instructions: load the group of the outer sides in registers P3 and on.
** HP_DECLINE: stock's code is to answer.
*/
SQLITE_PRIVATE int sqlite3HpFind(Vdbe *v, VdbeOp *pOp, Mem *aMem, u64 nStep){
  sqlite3 *db = v->db;
  const HpPlan *pPlan = (const HpPlan*)pOp->p4.pMem->z;
  Mem *pReg = &aMem[pOp->p1];
  HpQuery *p;
  int rc;
  assert( pOp->opcode==OP_HpFind && pPlan->pKeyed!=0 );
  if( (pReg->flags & MEM_Dyn)==0 ){
    if( (pReg->flags & MEM_Int) && pReg[1].u.i==HP_ROWS_ALL ) return HP_DECLINE;
    if( hpQueryMayNot(v) || !hpFindTime(v, pOp, aMem, nStep) ) return HP_DECLINE;
    p = hpQueryNew(v, pPlan);
    rc = p ? hpFindMake(p, pPlan, aMem, 0) : HP_DECLINE;
    if( rc==HP_SERIAL ){
      hpConfigStat(db, HP_STAT_SERIAL);
      hpQueryFree(p);
      p = hpQueryNew(v, pPlan);
      rc = p ? hpFindMake(p, pPlan, aMem, 1) : HP_DECLINE;
    }
    if( rc ){
      rc = hpQueryFailed(p, db, rc);
      hpQueryFree(p);
      hpFindOff(pReg);
      return rc;
    }
    sqlite3VdbeMemSetNull(pReg);
    sqlite3VdbeMemSetPointer(pReg, p, "hp", hpQueryFree);
  }
  p = (HpQuery*)pReg->z;
  assert( p->v==v && p->pPipe!=0 );
  if( !hpFinderHolds(p->pFinder) ){
    hpFindOff(pReg);
    return HP_DECLINE;
  }
  return hpFinderLoad(p, pPlan->pKeyed, &aMem[pOp->p3], aMem);
}
#endif /* SQLITE_OMIT_HP */
