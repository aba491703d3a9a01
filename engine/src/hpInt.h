/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** The house: which file does what, and who may call whom.
**
** The executor answers analytic queries over a table, an index, or a join, inside
** a single sqlite3_step(): from the first leaf page to groups, to the places of
** the rows that matter, or to sorted records.  Storage and look-ups help all of
** SQLite's code.  Each floor is a folder, and stands on those below it:
**
**    task       statement ->  HpPlan       CREATE INDEX and its like
**    code       HpPlan    ->  program      may we?  where it branches to ours
**    phys       HpLop     ->  HpPlan       a tree of operators becomes pipes
**    logic      SELECT    ->  HpLop        the tree, its rules and properties
**    upkeep     b-tree    ->  b-tree       OP_HpTask: CREATE INDEX and its like
**    bulk       changes   ->  b-tree       entries of an index, in order
**    run        HpPlan    ->  registers    OP_HpScan, OP_HpNext, OP_HpRow
**    sink       HpFrame   ->  HpAgg        group: a worker's groups
**               HpFrame   ->  HpSort       sort: rows in order
**               HpRuns    ->  HpMerge      run: both, as sorted runs
**               HpFrame   ->  HpFound      place: places of rows
**               HpFrame   ->  HpRel        rel: rows that later pipes look up
**    exec       HpBatch   ->  HpFrame      filters, arguments, keys
**    source     b-tree    ->  HpBatch      runs of leaves, cut into columns
**    lookup     key       ->  row          rows by rowid, shared pages
**    storage    b-trees   ->  file         pages in order, in large pieces
**    base       values, memory, settings, threads, pages
**    sqlite     SQLite's own code made quicker: mutexes, numbers, windows
**
** A module calls functions of modules that stand before it in ORDER and of no
** others.  A test holds that (crates/hpsqlite-engine/src/floors.rs).  The plan's
** structures are in base/hpPlan.h, and what runs a plan is in base/hpQuery.h,
** since all floors read both.
**
** The execution of a plan (HpQuery) runs pipes (HpPipe), one after the other,
** each from a source through filters and expressions to a sink (run/hp_pipe.c).
** Sources and sinks are tables of functions that are called once a batch.  A
** pipe has one or more workers (HpWorker), each with a thread of its own but
** the first, which is the caller.  They take runs of leaves from the one source
** and keep their own groups; what they share is read-only or behind
** HpPipe.pMutex.
**
** The functions called from SQLite's own code, sqlite3HpXxx(), and our fields
** in its structures are declared in hpHooks.h.
**
** The return code HP_DECLINE travels up through all stages and means: this
** executor does not want the query after all (a damaged page, a value it
** cannot place, memory used up).  Nothing has been shown to anybody by
** then, so OP_HpScan frees what it has and jumps to the code that stock
** SQLite generated for the same query, which stands in the same program
** and gives stock's answer, or stock's error.  When in doubt, decline.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPINT_H
#define HPINT_H

#include "base/hpBase.h"
#include "base/hpPlan.h"
#include "base/hpQuery.h"
#include "storage/hpStorage.h"
#include "lookup/hpLookup.h"
#include "source/hpSource.h"
#include "source/hpColumns.h"
#include "source/hpScan.h"
#include "exec/hpExec.h"
#include "sink/run/hpRuns.h"
#include "sink/hpSink.h"
#include "run/hpRun.h"
#include "bulk/hpBulk.h"
#include "upkeep/hpUpkeep.h"
#include "upkeep/hpCheck.h"
#include "upkeep/hpDefrag.h"
#include "logic/hpLogic.h"
#include "phys/hpPhys.h"
#include "code/hpCode.h"
#include "task/hpTask.h"

#endif /* HPINT_H */
#endif /* SQLITE_OMIT_HP */
