/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_task: OP_HpTask, work in place of a loop of SQLite's programs.
**
**    sqlite3HpTask()    do it, and say where the program goes on
**
** CREATE INDEX and its like are loops over all rows of a b-tree, an opcode for
** each step.  OP_HpTask stands before such a loop, behind the locks, the
** authorizer and the open cursors, and P4 is the plan of the same work:
**
**            HpTask  P2=end       done, or an error that ends the statement
**            Rewind               it declined: SQLite's loop
**            ...
**    end:
**
** HpPlan.xTask does it.  Nothing is shown or changed before it is known to
** succeed, or to fail as SQLite's loop would, so declining is always right.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** OP_HpTask, instruction pOp of statement v.  *piNext is set to the instruction
** that comes next: P2 if the work is done, the one behind pOp if SQLite's loop
** is to do it.
*/
SQLITE_PRIVATE int sqlite3HpTask(
  Vdbe *v,
  const VdbeOp *pOp,
  Mem *aMem,
  int *piNext
){
  const HpPlan *pPlan = (const HpPlan*)pOp->p4.pMem->z;
  int iSelf = (int)(pOp - v->aOp);
  int rc = HP_DECLINE;
  assert( pOp->opcode==OP_HpTask && pPlan->xTask!=0 && pOp->p2>iSelf );
  assert( sqlite3_mutex_held(v->db->mutex) );
  *piNext = pOp->p2;
  if( !hpQueryMayNot(v) ) rc = pPlan->xTask(v, pPlan, pOp, aMem, piNext);
  if( rc==HP_DECLINE ){
    *piNext = iSelf+1;
    rc = SQLITE_OK;
  }
  assert( *piNext>iSelf && *piNext<v->nOp );
  return rc;
}
#endif /* SQLITE_OMIT_HP */
