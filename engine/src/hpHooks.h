/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** What SQLite's own code knows of ours.
**
** The patches (engine/patches) put calls of functions named sqlite3HpXxx()
** into SQLite's files, and a few fields into its structures.  This header
** declares all of them, by the files that they are in; what a function does
** is said where it is defined.  The build puts this header into sqliteInt.h,
** after the headers that name SQLite's types and before its structures.
**
** With SQLITE_OMIT_HP every call becomes a macro that does nothing, or what
** SQLite did before the patch, and the fields are gone: what is compiled is
** SQLite.  So each declaration stands beside the macro it becomes then.  What
** else differs has an #ifdef in the patches: one assert() of SQLite's that does
** not hold with us.
*/
#ifndef HPHOOKS_H
#define HPHOOKS_H

/* With this, double is a macro that names an integer type */
#if defined(SQLITE_OMIT_FLOATING_POINT) && !defined(SQLITE_OMIT_HP)
# define SQLITE_OMIT_HP 1
#endif

/* Fields of ours in a structure of SQLite's */
#ifndef SQLITE_OMIT_HP
# define HP_FIELDS(X) X
#else
# define HP_FIELDS(X)
#endif

/* Compilers with C11's atomic types, thread-local variables and attributes */
#if defined(__GNUC__) && (__GNUC__>=5 || defined(__clang__))
# define HP_GNUC 1
#endif

/* Systems that have pread() and pwrite().  SQLite knows that of Linux and of
** Apple's, and wants to be told of the others.  HP_NO_PREAD: none, for tests of
** the code that is for systems without */
#if defined(HP_NO_PREAD)
#elif defined(__APPLE__) || defined(__linux__)
# define HP_PREAD 1
#elif !defined(SQLITE_OMIT_HP) && (defined(__FreeBSD__) || defined(__NetBSD__) \
 || defined(__OpenBSD__) || defined(__DragonFly__) || defined(__sun) \
 || defined(__HAIKU__) || defined(__QNX__))
# define HP_PREAD 1
#endif

/* Memory is counted by hp_memory.c */
#if !defined(SQLITE_OMIT_HP) && defined(SQLITE_SYSTEM_MALLOC) \
 && !defined(SQLITE_MEMDEBUG) && !defined(SQLITE_OMIT_WSD) \
 && SQLITE_PTRSIZE>4 && defined(HP_GNUC)
# define HP_COUNT_MEMORY 1
#endif

/* Limits of memory, of 8 bytes, are read without SQLite's mutex.  With 32 bits
** that would take libatomic, on old processors; there plain reads do, as limits
** below 4 GiB change one half only */
#if SQLITE_PTRSIZE>4
# define hpLimitLoad(P)    AtomicLoad(P)
# define hpLimitStore(P,X) AtomicStore(P,X)
#else
# define hpLimitLoad(P)    (*(P))
# define hpLimitStore(P,X) (*(P) = (X))
#endif

/* The parser of the amalgamation knows no ORDER BY and LIMIT on UPDATE and
** DELETE: see hp_updatelimit.c. */
#if defined(SQLITE_ENABLE_UPDATE_DELETE_LIMIT) && !defined(SQLITE_OMIT_HP) \
 && !defined(SQLITE_OMIT_SUBQUERY) && !defined(SQLITE_UDL_CAPABLE_PARSER)
# define HP_UPDATE_DELETE_LIMIT 1
#endif

/*
** Types of our fields
*/
#ifndef SQLITE_OMIT_HP

/* sqlite3.hp: settings of a connection */
typedef struct HpSettings HpSettings;
struct HpSettings {
  u8 eOffload;              /* PRAGMA hp_offload */
  u8 bSet;                  /* True once that was set */
  u8 bNoAhead;              /* PRAGMA hp_readahead = off */
  u8 nThread;               /* PRAGMA hp_threads.  0: auto */
  u8 bKeep;                 /* A statement is prepared again in the midst of an execution:
                            ** that it was interrupted is not to be forgotten */
  u8 bLog;                  /* PRAGMA hp_log = on */
  i64 nMemory;              /* PRAGMA hp_memory.  0: default */
  int nExtent;              /* PRAGMA hp_extent.  0: auto, -1: off */
  i64 nColumns;             /* PRAGMA hp_columns.  0: auto, -1: off */
  u8 bNoTurn;               /* PRAGMA hp_turn = off */
  u8 bNoCheckpoint;         /* PRAGMA hp_checkpoint = off */
  u32 nDefrag;              /* Pages that a slice of hp_defrag may write */
  i64 tDefrag;              /* Microseconds that its commits took of late */
  u8 nDefragLost;           /* Pictures of the file that came to nothing */
  int nBusy;                /* busyHandler.nBusy when the next one was set */
  i64 tWaited;              /* Nanoseconds waited in this step, ... */
  i64 nWaited;              /* ... and in all: hp_turn.c */
  struct Wal *pBase;        /* This log has a commit that is not synced, which
                            ** the connection knows: hp_sync.c */
  u32 aLong[64];            /* Statements that took SQLite long: hp_race.c */
  struct HpDefer *pPending; /* Changes of indexes that wait: hp_pending.c */
  u32 iPending;             /* How often another index had some */
  u32 nDefer;               /* Changes of indexes by this transaction */
  u32 aStat[43];            /* PRAGMA hp_stats */
};

/* SrcItem.hp: what sqlite3HpAccept() found */
typedef struct HpChoice HpChoice;
struct HpChoice {
  Index *pIdx;              /* The index to scan, or NULL for the table */
  Index *pVia;              /* SQLite looks rows up by this one, and pIdx is NULL; or NULL */
  Index *pSearch;           /* The same if it is searched between bounds */
  u16 nEq;                  /* Bounds: equality for so many of its columns */
  u8 bLower;                /*   and a lower bound */
  u8 bUpper;                /*   and an upper bound for the next one */
  u8 eOrder;                /* HP_ORDER_xxx: the order of the groups it gives */
  u32 mDesc;                /*   by these terms it is descending */
  u8 bLiteral;              /* The bounds are literals */
  u8 bUnlikely;             /* Perhaps there is little between the bounds */
  char *zKey;               /* EXPLAIN QUERY PLAN: the key it is looked up by */
  u8 iLevel;                /* Its loop: 1 is the outermost, 0: it has none */
  u8 iStock;                /* The same, of SQLite's plan: bMoved changes
                            ** iLevel */
  u8 bPlain;                /* Its terms are tested in the order of the WHERE
                            ** clause */
  const Expr *pAccess;      /* The one term by which its rows are found, or
                            ** NULL */
  u8 bRoot;                 /* Of loop 1: it can be the scan of a join */
  u8 bWhole;                /* Of loop 1: it is the scan of a whole table */
  u8 bByRowid;              /* Its loop gives rows in the order of their rowids */
  u8 bBuild;                /* Its loop makes an index first */
  u8 bMoved;                /* A join scans it though its loop is another one */
  u8 bArm;                  /* It can be the scan of an arm of a UNION ALL, ... */
  u8 bPays;                 /* ... and is large enough by itself */
  u8 bFill;                 /* It can be the scan that fills a table */
  LogEst nShare;            /* About one in so many rows is between them */
  LogEst nCost;             /* Of loop 1: what the planner thinks all loops cost, if
                            ** another table may be scanned instead; else 0 */
  LogEst nCostRow;          /* ... if the table at this root has so many rows; 0: it */
  Pgno iCostRoot;           /* knows how many */
  u8 bGuess;                /* ... nCost says little: there are no statistics */
  u8 bFind;                 /* A sub-select that finds its rows by an index each time */
};

/* What has been seen of loops that SQLite runs.  See hp_progress.c */
#define HP_PROGRESS_LOOPS 3
typedef struct HpProgress HpProgress;
struct HpProgress {
  int nFirst, nLast;        /* Loops at the first look, at the last one.  0:
                            ** there was none */
  i64 tFirst, tLast;        /* When that was */
  double aFirst[HP_PROGRESS_LOOPS];    /* Where their cursors stood, the
                                       ** outermost one's first */
  double aLast[HP_PROGRESS_LOOPS];
};

/* Vdbe.hpRace: SQLite's loops run, but may be given up.  See hp_race.c */
typedef struct HpRace HpRace;
struct HpRace {
  u64 nLook;                /* Look at them after so many instructions of this call of
                            ** sqlite3VdbeExec().  LARGEST_UINT64: never */
  struct HpPlan *pPlan;     /* What may come in their place.  NULL: nothing yet */
  i64 tStart;               /* When the execution began, in nanoseconds.  0: not asked yet */
  i64 tAgain;               /* ... when it began again last */
  i64 tBegin;               /* When they began, ... */
  i64 tEnd;                 /* ... when they are given up, if nobody knows how
                            ** long they will go
                            ** on.  0: that is not known yet */
  i64 tOurs;                /* What ours takes */
  i64 tLook;                /* When to find out how long they will go on */
  HpProgress progress;
  u8 bClose;                /* SQLite had won before, but by little */
  u8 bMay;                  /* If executions are long there would be a plan */
  u8 bLong;                 /* One was so long that the statement is prepared again */
  u8 nAgain;                /* So often this execution has begun again */
};

/* A statement that was left to SQLite because a table was small, or few rows were expected, is
** prepared again after so many instructions: some milliseconds. */
#define HP_AGAIN_STEPS   500000

/* SQLite's loops are looked at for the first time after so many: 0.1 ms */
#define HP_RACE_FIRST    4000

/* Select.pHp: which rows of a window are wanted.  See hp_partition.c */
typedef struct HpWanted HpWanted;

/* Parse.hpTail: the ORDER BY and LIMIT of an UPDATE or DELETE */
typedef struct HpTail HpTail;
struct HpTail {
  const char *z;            /* Their text, or NULL */
  i64 n;                    /* Bytes of z[] */
  const char *zSeen;        /* Looked at up to here, or NULL */
  int nParen;               /* Parentheses that are open there */
  u8 eVerb;                 /* HP_TAIL_xxx: what the statement is */
  Parse *pOuter;            /* This one parses z[] of pOuter, or NULL */
  ExprList *pOrderBy;       /* The ORDER BY clause, or NULL */
  Expr *pLimit;             /* The LIMIT clause, or NULL */
};

/* Pager.hp: the store of pages, and of columns.  See hp_store.c, hp_columns.c */
typedef struct HpPagerPart HpPagerPart;
struct HpPagerPart {
  struct HpStore *pStore;   /* Pages shared with other connections */
  u8 bUse;                  /* True to use them */
  u8 nWait;                 /* How long to wait before joining a store */
  int nMiss;                /* Pages read since the last store */
  i64 nGain;                /* Pages found in the store, less pages added */
  u32 nChange;              /* Changes of pages so far: sqlite3HpChanged() */
  u32 nTrip;                /* How often all cursors became invalid, and ... */
  int rcTrip;               /* ... the error that they give since */
  u32 aSeen[2];             /* iDataVersion, and sum of the wal-index header */
  u8 nCheck;                /* Read transactions so far */
  struct HpColumnFile *pColumns;   /* Columns shared with other connections */
  u8 bWrites;               /* sqlite3HpWriteBegin() was called */
};

/* Wal.hp: what a connection knows of its log.  Headers of the wal-index are
** WalIndexHdr, which only wal.c knows: as many bytes */
struct WalIndexHdr;
typedef struct HpWalPart HpWalPart;
struct HpWalPart {
  int bSize;                /* See sqlite3HpFileSize(): the rest is set, ... */
  u32 iVersion;             /* ... while Pager.iDataVersion is this ... */
  u32 aHdr[12];             /* ... and the header is like this ... */
  i64 szFile;               /* ... the database file has this size */
  u32 aHdrWas[12];          /* See sqlite3HpSnapshotKeeps() */
  struct WalIndexHdr *pLive;   /* In place of the header of the wal-index: see
                            ** hp_sync.c, as for the rest */
  u64 iBase;                /* The commit that it goes on from, or 0 */
  sqlite3 *db;
  u8 bAlone;                /* Its commit is synced by itself, ... */
  u8 bSchema;               /* ... or changes the schema */
  u8 bReady;                /* The two are set */
  u8 bDrop;                 /* Cached pages may be of a commit that failed */
};

/* BtShared.hpGuess: are overflow pages adjacent?  See hp_chain.c */
typedef struct HpGuess HpGuess;
struct HpGuess {
  u8 nRun;                  /* Expect so many.  0: nothing is known */
  u8 nWait;                 /* They are not: after so many chains try again, */
  u8 nSkip;                 /* ... the next time after so many */
};

/* BtShared.hpTicket: a place in the line of those who wait for a file.  See
** hp_turn.c.  The first part is protected by its mutex, the rest is of its
** thread alone. */
typedef struct HpTicket HpTicket;
struct HpTicket {
  HpTicket *pNext;          /* The next one in line */
  i64 tJoin;                /* Since when it has waited, ... */
  i64 tEnd;                 /* ... and when its timeout is over */
  u32 bGo;                  /* Look again.  Atomic, and slept on */
  u8 eLine;                 /* HP_LINE_xxx: where it stands */
  u8 bAside;                /* It was first for long, and tries by itself now */

  u8 bWriter;               /* A transaction is to begin, and to write */
  u8 bShares;               /* It may have the lock on loan: hp_sync.c */
  u8 bJoined;               /* It has stood in line since */
  u8 nPoll;                 /* Attempts while another process has the lock */
};

/* BtCursor.hpLeaf and .hpRow, IntegrityCk.hpLeaf: what is kept of a scan in
** order to read ahead.  See hp_ahead.c */
typedef struct HpAhead HpAhead;
struct HpAhead {
  u16 nWait;                /* Steps until the scan is looked at again */
  u16 nDepth;               /* Pages to be asked for ahead */
  u16 iNext, iAsked, nNext; /* Where it is, up to where pages are asked for */
  u16 nStep;                /* Steps from the last look to the next one */
  u16 nChain;               /* Overflow pages read since the last look */
  i8 iDir, iLevel;          /* Its direction, the level above the leaves */
  u8 bAsk, bEnd, bInner, bOrder, bWhole;  /* What goes on */
  u8 nIdle;                 /* Steps from look to look, if nothing does */
  Pgno iPg, iNextPg;        /* The page it is in, and the one that comes next */
  u32 nSlow;                /* Pager.nHpSlow at the last look */
};

#endif /* SQLITE_OMIT_HP */

/*
** Called from select.c, update.c, delete.c, build.c, insert.c, expr.c,
** func.c and pragma.c.
*/
#ifndef SQLITE_OMIT_HP
SQLITE_PRIVATE int sqlite3HpBegin(Parse*, Select*);
SQLITE_PRIVATE int sqlite3HpAccept(int, WhereInfo*, int);
SQLITE_PRIVATE void sqlite3HpCodeRow(Parse*, Select*, AggInfo*, int);
SQLITE_PRIVATE void sqlite3HpCodeGroups(Parse*, Select*, SelectDest*,
    AggInfo*, int, KeyInfo*, int, int, int, int, int, int);
SQLITE_PRIVATE int sqlite3HpRowsAccept(Parse*, Select*, WhereInfo*, ExprList*,
    int, SelectDest*);
SQLITE_PRIVATE int sqlite3HpCodeRows(Parse*, Select*, ExprList*, int,
    SelectDest*, int);
SQLITE_PRIVATE void sqlite3HpCoroutine(const Select*, const SelectDest*,
    SelectDest*);
SQLITE_PRIVATE void sqlite3HpCodeSorted(Parse*, int, int);
SQLITE_PRIVATE int sqlite3HpLoopAccept(Parse*, WhereInfo*, Expr*, ExprList*);
SQLITE_PRIVATE void sqlite3HpCodeLoop(Parse*, SrcList*, Expr*, int);
SQLITE_PRIVATE void sqlite3HpExplainCount(Parse*, int, Pgno, int);
SQLITE_PRIVATE void sqlite3HpWanted(Parse*, Select*, int);
SQLITE_PRIVATE int sqlite3HpWindow(Parse*, Select*, WhereInfo*, int, int);
SQLITE_PRIVATE int sqlite3HpRefillBegin(Parse*, Index*, int, int);
SQLITE_PRIVATE void sqlite3HpRefillEnd(Parse*, int);
SQLITE_PRIVATE int sqlite3HpCopyBegin(Parse*, Table*, Index*, int, int);
SQLITE_PRIVATE int sqlite3HpFillBegin(Parse*, Table*, Select*, const int*, int,
    int);
SQLITE_PRIVATE int sqlite3HpCheckBegin(Parse*, Table*, int, int);
SQLITE_PRIVATE void sqlite3HpTaskEnd(Parse*, int);
# define sqlite3HpWantAll(S) ((S)->pHp = 0)
SQLITE_PRIVATE void sqlite3HpRegisterFunctions(void);
SQLITE_PRIVATE int sqlite3HpPragma(Parse*, const char*, const char*);
SQLITE_PRIVATE int sqlite3HpDefrag(Parse*, const char*, const char*, int);
#else
# define sqlite3HpBegin(A,B) 0
# define sqlite3HpAccept(A,B,C) 0
# define sqlite3HpCodeRow(A,B,C,D) ((void)(D))
# define sqlite3HpCodeGroups(A,B,C,D,E,F,G,H,I,J,K,L) ((void)(E))
# define sqlite3HpRowsAccept(A,B,C,D,E,F) 0
# define sqlite3HpCodeRows(A,B,C,D,E,F) ((void)(F), 0)
# define sqlite3HpCoroutine(A,B,C)
# define sqlite3HpCodeSorted(A,B,C) ((void)(B))
# define sqlite3HpLoopAccept(A,B,C,D) 0
# define sqlite3HpCodeLoop(A,B,C,D) ((void)(D))
# define sqlite3HpExplainCount(A,B,C,D)
# define sqlite3HpWanted(A,B,C)
# define sqlite3HpWindow(A,B,C,D,E) 0
# define sqlite3HpRefillBegin(A,B,C,D) 0
# define sqlite3HpRefillEnd(A,B) ((void)(B))
# define sqlite3HpCopyBegin(A,B,C,D,E) 0
# define sqlite3HpFillBegin(A,B,C,D,E,F) 0
# define sqlite3HpCheckBegin(A,B,C,D) 0
# define sqlite3HpTaskEnd(A,B) ((void)(B))
# define sqlite3HpWantAll(S)
# define sqlite3HpRegisterFunctions()
# define sqlite3HpPragma(A,B,C) 0
# define sqlite3HpDefrag(A,B,C,D) 0
#endif

/*
** Called from tokenize.c, parse.y and build.c.
*/
#ifdef HP_UPDATE_DELETE_LIMIT
SQLITE_PRIVATE i64 sqlite3HpTailFind(Parse*, const char*);
SQLITE_PRIVATE void sqlite3HpTailParse(Parse*);
SQLITE_PRIVATE int sqlite3HpTailTake(Parse*, Select*);
# define HP_TAIL(P,F) (P)->hpTail.F
# define HP_TAIL_FIELD(X) X
/* The token at Z, of type T and N bytes, may begin a tail: then go past it, in
** the text at Z of which MX bytes may be left */
# define sqlite3HpTailSkip(P,T,N,Z,MX) \
    (((T)==TK_ORDER || (T)==TK_LIMIT) && sqlite3HpTailFind(P,Z)>0 \
     && ((MX) -= (P)->hpTail.n - (N), (Z) += (P)->hpTail.n, 1))
#else
# define HP_TAIL_FIELD(X)
# define sqlite3HpTailSkip(P,T,N,Z,MX) 0
# define sqlite3HpTailParse(A)
# define sqlite3HpTailTake(A,B) 0
# define HP_TAIL(P,F) 0
#endif

/*
** Our opcodes, for opcodes.h, opcodes.c and vdbe.c.  They follow SQLite's last
** one.
**
** HpScan P1 P2 * P4 *   Synopsis: vectorised scan to groups in r[P1]
**   P4 is the plan of an aggregate query over one table.  Run it, up to the
**   groups in their order, and store the execution in register P1.  If the
**   vectorised executor declines jump to P2, where code stands that does the
**   same work.
**
** HpNext P1 P2 * * *   Synopsis: next group of r[P1]
**   Load the next group of the OP_HpScan of register P1 into the registers
**   that its plan names: GROUP BY terms, columns, and the contexts of aggregate
**   functions.  If there is none jump to P2.
**
** HpRow P1 P2 P3 * P5   Synopsis: next row found by r[P3]
**   As long as register P3+1 is positive decrease it, and do as OP_Next does.
**   Otherwise move cursor P1 to the next row that the OP_HpScan of register P3
**   found and jump to P2, or fall through if there is none.
**   In place of OP_SorterNext, before P2 an OP_SorterData: load the next record
**   of sorter P1, or of the OP_HpScan, into the register named there.
**
** HpFind P1 P2 P3 P4 *   Synopsis: group of the key r[P3..] in r[P1]
**   P4 is the plan of a correlated sub-select: groups by what is inside of it.
**   Load the aggregates of the group whose key is in registers P3 and on, if
**   there is one, or say whether there is (EXISTS).  Register P1 has the
**   groups, once it is worth it.  Until then, or if it cannot be done, jump to P2.
**
** HpTask P1 P2 P3 P4 *   Synopsis: the work of the loop up to P2
**   P4 is the plan of what the instructions from here to P2 do.  Do it, and go
**   on at P2, or where they would have gone; or, if it is to be left to them,
**   fall through.
*/
#define OP_HpScan        191
#define OP_HpNext        192
#define OP_HpRow         193
#define OP_HpFind        194
#define OP_HpTask        195
#if OP_Abortable+1!=OP_HpScan
# error "SQLite has other opcodes than those that ours follow"
#endif
/* All may jump to P2: OPFLG_JUMP */
#define HP_OPCODE_FLAGS 0x01, 0x01, 0x01, 0x01, 0x01,
#define HP_OPCODE_NAMES \
    "HpScan"           OpHelp("vectorised scan to groups in r[P1]"), \
    "HpNext"           OpHelp("next group of r[P1]"), \
    "HpRow"            OpHelp("next row found by r[P3]"), \
    "HpFind"           OpHelp("group of the key r[P3..] in r[P1]"), \
    "HpTask"           OpHelp("the work of the loop up to P2"),

/* Their cases in sqlite3VdbeExec().  SQLITE_DONE: jump to P2 */
#ifndef SQLITE_OMIT_HP
# define HP_CASE(OP,CALL) \
    case OP: { \
      rc = CALL; \
      if( rc==SQLITE_DONE ){ \
        rc = SQLITE_OK; \
        goto jump_to_p2; \
      } \
      if( rc ) goto abort_due_to_error; \
      break; \
    }
/* If the call sets bDone jump to P2.  An application's function may fail with
** any code, SQLITE_DONE included */
# define HP_CASE_DONE(OP,CALL) \
    case OP: { \
      int bDone; \
      rc = CALL; \
      if( rc ) goto abort_due_to_error; \
      if( bDone ) goto jump_to_p2; \
      break; \
    }
/* Do as OP_Next does with cursor P1 */
# define HP_CASE_NEXT(OP,CALL) \
    case OP: { \
      pC = p->apCsr[pOp->p1]; \
      rc = CALL; \
      goto next_tail; \
    }
/* Go on at iNext, which the call sets */
# define HP_CASE_TASK(OP,CALL) \
    case OP: { \
      int iNext; \
      rc = CALL; \
      if( rc ) goto abort_due_to_error; \
      pOp = &aOp[iNext-1]; \
      break; \
    }
#else
# define HP_CASE(OP,CALL)
# define HP_CASE_DONE(OP,CALL)
# define HP_CASE_NEXT(OP,CALL)
# define HP_CASE_TASK(OP,CALL)
#endif

/*
** Called from vdbe.c and vdbeapi.c.
**
** Vdbe.eHpSmall is 1 if a table of the statement was small when it was
** prepared, and 2 if moreover nHpStep is set: SQLITE_STMTSTATUS_VM_STEP when
** the statement was first run.  Vdbe.nHpStepLeft are steps of scans that the
** progress handler has not been called for: fewer than it is to be called for.
** Vdbe.eHpRun: see sqlite3HpRestart().  Vdbe.iHpAgain is the execution that has
** begun again, of a statement that writes: SQLITE_STMTSTATUS_RUN.  Vdbe.hpRace:
** see hp_race.c.
*/
#ifndef SQLITE_OMIT_HP
SQLITE_PRIVATE int sqlite3HpScan(Vdbe*, VdbeOp*, Mem*, u64);
SQLITE_PRIVATE int sqlite3HpLate(Vdbe*, const VdbeOp*, u64);
SQLITE_PRIVATE int sqlite3HpStays(Vdbe*, int);
# define sqlite3HpKeeps(DB) ((DB)->hp.bKeep)
# define sqlite3HpKept(DB) ((DB)->hp.bKeep && ((DB)->hp.bKeep = 0, 1))
/* An execution that begins again counts once */
# define sqlite3HpOneRun(V) ((V)->aCounter[SQLITE_STMTSTATUS_RUN]--)
# define sqlite3HpPrepares(V) \
    if( (V)->hpRace.bLong ){ (V)->db->hp.bKeep = 1; sqlite3HpOneRun(V); }
# define sqlite3HpNoRace(V) ((V)->hpRace.pPlan = 0, (V)->hpRace.tStart = 0, \
    (V)->hpRace.progress.nFirst = (V)->hpRace.progress.nLast = 0, \
    (V)->hpRace.bLong = (V)->db->hp.bKeep = 0, \
    (V)->hpRace.nLook = (V)->hpRace.bMay ? HP_RACE_FIRST : LARGEST_UINT64)
# define sqlite3HpIsLate(V,OP,N) \
    ((N)>=(V)->hpRace.nLook ? sqlite3HpLate(V,OP,N) : SQLITE_OK)
SQLITE_PRIVATE int sqlite3HpNext(Vdbe*, VdbeOp*, Mem*, int*);
SQLITE_PRIVATE int sqlite3HpRow(Vdbe*, VdbeOp*, Mem*);
/* The next row for cursor C: OP_Next's as long as some are left to that */
# define sqlite3HpNextRow(V,OP,MEM,C) ((MEM)[(OP)->p3+1].u.i>0 \
    ? ((MEM)[(OP)->p3+1].u.i--, sqlite3BtreeNext((C)->uc.pCursor, 0)) \
    : sqlite3HpRow(V, OP, MEM))
SQLITE_PRIVATE int sqlite3HpFind(Vdbe*, VdbeOp*, Mem*, u64);
SQLITE_PRIVATE int sqlite3HpTask(Vdbe*, const VdbeOp*, Mem*, int*);
#ifndef SQLITE_OMIT_INTEGRITY_CHECK
SQLITE_PRIVATE int sqlite3HpTrees(Vdbe*, const VdbeOp*, Mem*, int*);
#endif
/* Changes of an index by one statement before others may wait */
# define HP_DEFER_AFTER 1000
# define HP_DEFER_ASK   16
typedef struct HpDefer HpDefer;
struct VdbeCursor;
SQLITE_PRIVATE int sqlite3HpDefer(Vdbe*, struct VdbeCursor*, const VdbeOp*,
    Mem*, int*);
SQLITE_PRIVATE int sqlite3HpDeferEnd(Vdbe*, int);
SQLITE_PRIVATE int sqlite3HpDeferAgain(Vdbe*, int*);
SQLITE_PRIVATE void sqlite3HpDeferHalt(Vdbe*);
# define sqlite3HpDefers(V,C,OP,M,RC) \
    ((((C)->nHpDefer>=0 && ++(C)->nHpDefer>HP_DEFER_ASK) \
      || (V)->db->autoCommit==0) \
      && sqlite3HpDefer(V,C,OP,M,RC))
/* OP_NoConflict: is it taken for granted? */
# define sqlite3HpDeferAssumes(C) ((C)->pHpDefer!=0 && (C)->nHpDefer>0)
# define sqlite3HpDeferFails(V,OP,RC) ((V)->pHpDefer!=0 \
    && ((RC) = sqlite3HpDeferEnd(V, (OP)->p1))!=SQLITE_OK)
# define sqlite3HpDeferClose(V) \
    if( (V)->pHpDefer || (V)->db->hp.pPending ) sqlite3HpDeferHalt(V)
SQLITE_PRIVATE int sqlite3HpPendingStart(Vdbe*);
SQLITE_PRIVATE void sqlite3HpPendingDrop(sqlite3*);
SQLITE_PRIVATE int sqlite3HpPendingWrite(sqlite3*);
# define sqlite3HpPendingFails(V,RC) ((V)->db->hp.pPending!=0 \
    && ((RC) = sqlite3HpPendingStart(V))!=SQLITE_OK)
# define sqlite3HpPendingBegins(DB) ((DB)->hp.nDefer = 0)
SQLITE_PRIVATE int sqlite3HpCount(Vdbe*, int, BtCursor*, i64*);
SQLITE_PRIVATE int sqlite3HpAgain(Vdbe*);
SQLITE_PRIVATE int sqlite3HpRestart(Vdbe*, int*);
# define sqlite3HpRestarts(V,RC) (sqlite3HpRestart(V,RC) \
    || ((V)->pHpDefer!=0 && sqlite3HpDeferAgain(V,RC)))
# define sqlite3HpGrown(V) ((V)->eHpSmall && sqlite3HpAgain(V))
#else
# define sqlite3HpDefers(V,C,OP,M,RC) 0
# define sqlite3HpDeferFails(V,OP,RC) 0
# define sqlite3HpDeferAssumes(C) 0
# define sqlite3HpDeferClose(V)
# define sqlite3HpPendingFails(V,RC) 0
# define sqlite3HpPendingBegins(DB)
# define sqlite3HpPendingDrop(DB)
# define sqlite3HpPendingWrite(DB) SQLITE_OK
# define sqlite3HpCount(A,B,C,D) SQLITE_DONE
# define sqlite3HpTrees(A,B,C,D) SQLITE_DONE
# define sqlite3HpGrown(V) 0
# define sqlite3HpStays(V,RC) 0
# define sqlite3HpKeeps(DB) 0
# define sqlite3HpKept(DB) 0
# define sqlite3HpOneRun(V)
# define sqlite3HpPrepares(V)
# define sqlite3HpNoRace(V)
# define sqlite3HpIsLate(V,OP,N) SQLITE_OK
# define sqlite3HpRestarts(A,B) 0
#endif

/*
** Called from analyze.c and pragma.c.
*/
#if !defined(SQLITE_OMIT_HP) && !defined(SQLITE_OMIT_ANALYZE) \
 && !defined(SQLITE_ENABLE_STAT4)
# define HP_ANALYZE 1
SQLITE_PRIVATE int sqlite3HpAnalyzeBegin(Parse*, Index*, int, int, int);
#else
# define sqlite3HpAnalyzeBegin(A,B,C,D,E) 0
#endif
#if !defined(SQLITE_OMIT_HP) && !defined(SQLITE_OMIT_FOREIGN_KEY) \
 && !defined(SQLITE_OMIT_TRIGGER) && !defined(SQLITE_OMIT_PRAGMA)
# define HP_ORPHANS 1
SQLITE_PRIVATE int sqlite3HpOrphansBegin(Parse*, Table*);
#else
# define sqlite3HpOrphansBegin(A,B) 0
#endif
#if defined(HP_ANALYZE) || defined(HP_ORPHANS)
# define HP_TASK_SCAN 1
#endif

/*
** Called from btree.c and backup.c.
**
** BTALLOC_LEAF and _INTERIOR are, beside those of btree.c, modes of
** allocateBtreePage(): any page, for this use in the b-tree being written.
*/
#ifndef SQLITE_OMIT_HP
SQLITE_PRIVATE int sqlite3HpSeek(BtCursor*, i64, int, int*, int*);
SQLITE_PRIVATE int sqlite3HpChain(BtCursor*, int*, Pgno*, u32*, u32*, u8**);
struct MemPage;
# define BTALLOC_LEAF     4
# define BTALLOC_INTERIOR 5
# define sqlite3HpRoot(CUR) ((CUR)->pBt->iHpRoot = (CUR)->pgnoRoot)
SQLITE_PRIVATE int sqlite3HpAllocate(BtShared*, struct MemPage**, Pgno*, Pgno,
    u8*);
SQLITE_PRIVATE void sqlite3HpExtentForget(BtShared*);
SQLITE_PRIVATE void sqlite3HpExtentFree(BtShared*);
SQLITE_PRIVATE int sqlite3HpExtentCommit(BtShared*);
SQLITE_PRIVATE void sqlite3HpTripped(Btree*, int);
#else
# define sqlite3HpSeek(A,B,C,D,E) 0
# define sqlite3HpChain(A,B,C,D,E,F) 0
# define BTALLOC_LEAF     BTALLOC_ANY
# define BTALLOC_INTERIOR BTALLOC_ANY
# define sqlite3HpRoot(CUR)
# define sqlite3HpAllocate(A,B,C,D,E) SQLITE_DONE
# define sqlite3HpExtentForget(A)
# define sqlite3HpExtentFree(A)
# define sqlite3HpExtentCommit(A) SQLITE_OK
# define sqlite3HpTripped(A,B)
#endif

/*
** Called from btree.c, pager.c and vdbe.c, to read ahead.
*/
#ifndef SQLITE_OMIT_HP
struct IntegrityCk;
SQLITE_PRIVATE void sqlite3HpAheadStep(BtCursor*, int);
SQLITE_PRIVATE void sqlite3HpAheadCheck(struct IntegrityCk*, struct MemPage*,
    int);
SQLITE_PRIVATE void sqlite3HpAheadRow(BtCursor*, BtCursor*);
SQLITE_PRIVATE int sqlite3HpAheadRead(DbPage*);
# define sqlite3HpAheadZero(C) ((C)->hpLeaf.nWait = (C)->hpRow.nWait = 0, \
    (C)->hpLeaf.iDir = (C)->hpRow.iDir = (C)->hpLeaf.iLevel = 0, \
    (C)->hpLeaf.nStep = (C)->hpLeaf.nChain = 0, (C)->hpRow.iPg = 0)
# define sqlite3HpAhead(P,CALL) if( (P)->nWait ) (P)->nWait--; else CALL
# define readDbPageHp(P) \
    ((P)->pPager->nHpTime \
      || AtomicLoad(&(P)->pPager->nHpFast)<HP_AROUND_READS \
        ? sqlite3HpAheadRead(P) : readDbPage(P))
/* Reads that have to be fast, one after the other, until they are no longer
** timed and nothing is asked for around them */
# define HP_AROUND_READS 64
#else
# define sqlite3HpAheadZero(C)
# define sqlite3HpAhead(P,CALL)
# define readDbPageHp(P) readDbPage(P)
#endif

/*
** Called from pager.c and wal.c.
*/
#ifndef SQLITE_OMIT_HP
SQLITE_PRIVATE int sqlite3HpWritePages(Pager*, PgHdr*);
SQLITE_PRIVATE int sqlite3HpWriteGap(Pager*, Pgno);
SQLITE_PRIVATE int sqlite3HpWriteRecord(Pager*, i64, Pgno, const void*, u32);
SQLITE_PRIVATE void sqlite3HpSpill(Pager*, PgHdr*);
SQLITE_PRIVATE void sqlite3HpSpilled(Pager*, PgHdr*);
typedef int (*PagerGetter)(Pager*, Pgno, DbPage**, int);
SQLITE_PRIVATE PagerGetter sqlite3HpGetter(PagerGetter);
SQLITE_PRIVATE void sqlite3HpCacheCheck(Pager*);
SQLITE_PRIVATE void sqlite3HpCacheForget(Pager*);
SQLITE_PRIVATE void sqlite3HpCacheLeave(Pager*);
SQLITE_PRIVATE void sqlite3HpWriteBegin(Pager*);
SQLITE_PRIVATE void sqlite3HpCommitBegin(Pager*);
SQLITE_PRIVATE void sqlite3HpCommitEnd(Pager*, int bDone);
# define sqlite3HpReadBegins(P) if( (P)->hp.pStore ) sqlite3HpCacheCheck(P)
# define sqlite3HpChanged(P) ((P)->hp.nChange++)
# define sqlite3HpRelease(P) \
    (((P)->flags & PGHDR_HP) && ((P)->flags ^= PGHDR_HP))
#else
# define sqlite3HpWritePages(A,B) 0
# define sqlite3HpWriteGap(A,B) SQLITE_OK
# define sqlite3HpWriteRecord(A,B,C,D,E) 0
# define sqlite3HpSpill(A,B)
# define sqlite3HpSpilled(A,B)
# define sqlite3HpGetter(X) X
# define sqlite3HpCacheForget(A)
# define sqlite3HpCacheLeave(A)
# define sqlite3HpWriteBegin(A)
# define sqlite3HpCommitBegin(A)
# define sqlite3HpCommitEnd(A,B)
# define sqlite3HpReadBegins(P)
# define sqlite3HpChanged(P)
# define sqlite3HpRelease(P) 0
#endif
#if !defined(SQLITE_OMIT_HP) && !defined(SQLITE_OMIT_WAL)
struct Wal;
struct WalWriter;
SQLITE_PRIVATE int sqlite3HpFileSize(struct Wal*, sqlite3_file*, u32, i64*);
struct WalIndexHdr;
SQLITE_PRIVATE void sqlite3HpWalBegun(struct Wal*, const struct WalIndexHdr*);
SQLITE_PRIVATE void sqlite3HpSnapshotNote(struct Wal*);
SQLITE_PRIVATE int sqlite3HpSnapshotKeeps(Pager*);
SQLITE_PRIVATE int sqlite3HpWriteFrame(struct WalWriter*, const u8*,
    const void*, i64);
SQLITE_PRIVATE int sqlite3HpWriteFrames(struct WalWriter*, PgHdr*, int, u32,
    i64);
#else
# define sqlite3HpFileSize(A,B,C,D) sqlite3OsFileSize(B,D)
# define sqlite3HpWalBegun(A,B)
# define sqlite3HpSnapshotNote(A)
# define sqlite3HpSnapshotKeeps(A) 0
# define sqlite3HpWriteFrame(A,B,C,D) 0
# define sqlite3HpWriteFrames(A,B,C,D,E) 0
#endif

/*
** Called from btree.c and os_unix.c.
*/
#if !defined(SQLITE_OMIT_HP) && !defined(SQLITE_OMIT_WAL) && SQLITE_OS_UNIX \
 && !defined(SQLITE_WASI) && defined(HP_GNUC) && SQLITE_THREADSAFE \
 && !defined(SQLITE_ENABLE_SETLK_TIMEOUT)
# define HP_TURN 1
struct unixFile;
struct unixInodeInfo;
SQLITE_PRIVATE void sqlite3HpTurnGate(BtShared*);
SQLITE_PRIVATE int sqlite3HpTurnBusy(BtShared*);
/* In place of the busy handler.  Nobody waits while it has a lock on loan */
# define sqlite3HpTurnWait(B) (sqlite3HpSyncLeave(B), sqlite3HpTurnBusy(B))
SQLITE_PRIVATE void sqlite3HpTurnEnd(BtShared*, int bBegun);
SQLITE_PRIVATE void sqlite3HpTurnUnlocked(struct unixFile*);
SQLITE_PRIVATE void sqlite3HpTurnFree(struct unixInodeInfo*);
/* A transaction is about to begin, which writes if W: before each attempt */
# define sqlite3HpTurnBegin(B,W) \
    if( (W) && (B)->inTransaction==TRANS_NONE ){ \
      AtomicStore(&(B)->hpTicket.bShares, (u8)sqlite3HpSyncMay(B)); \
      sqlite3HpTurnGate(B); \
      sqlite3HpSyncJoin(B); \
    }
# define sqlite3HpTurnBegun(B,RC) \
    if( (B)->hpTicket.bWriter ){ \
      sqlite3HpTurnEnd(B, (RC)==SQLITE_OK); \
      if( (RC)!=SQLITE_OK ) sqlite3HpSyncLeave(B); \
    }
#else
# define sqlite3HpTurnWait(B) sqlite3InvokeBusyHandler(&(B)->db->busyHandler)
# define sqlite3HpTurnUnlocked(F)
# define sqlite3HpTurnFree(I)
# define sqlite3HpTurnBegin(B,W)
# define sqlite3HpTurnBegun(B,RC)
#endif

/*
** Called from btree.c, main.c, vdbeapi.c and wal.c.
*/
#if defined(HP_TURN) && SQLITE_PTRSIZE>4
# define HP_SYNC 1
struct Wal;
SQLITE_PRIVATE int sqlite3HpSyncMay(BtShared*);
SQLITE_PRIVATE void sqlite3HpSyncJoin(BtShared*);
SQLITE_PRIVATE void sqlite3HpSyncLeave(BtShared*);
SQLITE_PRIVATE void sqlite3HpSyncPrepare(BtShared*);
SQLITE_PRIVATE int sqlite3HpSyncFrames(struct Wal*, PgHdr*, Pgno, int, u32);
SQLITE_PRIVATE int sqlite3HpSyncStep(Vdbe*, int);
SQLITE_PRIVATE int sqlite3HpSyncDurable(sqlite3*);
SQLITE_PRIVATE void sqlite3HpSyncClosed(struct Wal*);
/* What a statement tells is synced, ... */
# define sqlite3HpSyncTells(V,RC) \
    ((V)->db->hp.pBase ? sqlite3HpSyncStep(V, RC) : (RC))
/* ... and what a function of the API tells */
# define sqlite3HpSyncKnown(DB) \
    if( (DB)->hp.pBase ) (void)sqlite3HpSyncDurable(DB)
/* The header that a transaction goes by, in place of that of the wal-index */
# define sqlite3HpSyncLive(W) ((W)->hp.pLive)
/* Its read mark is none that others do not know */
# define sqlite3HpSyncMark(W,N) \
    if( (W)->hp.pLive ) (N) = ((volatile WalIndexHdr*)(W)->apWiData[0])->mxFrame
#else
# define sqlite3HpSyncMay(B) 0
# define sqlite3HpSyncJoin(B)
# define sqlite3HpSyncLeave(B) ((void)0)
# define sqlite3HpSyncPrepare(B)
# define sqlite3HpSyncFrames(A,B,C,D,E) SQLITE_DONE
# define sqlite3HpSyncTells(V,RC) (RC)
# define sqlite3HpSyncKnown(DB)
# define sqlite3HpSyncClosed(W)
# define sqlite3HpSyncLive(W) ((WalIndexHdr*)0)
# define sqlite3HpSyncMark(W,N)
#endif

/*
** Called from main.c, os_unix.c, pager.c, printf.c and wal.c.
*/
#if defined(HP_TURN) && defined(__linux__)
# define HP_CHECKPOINT 1
struct unixFile;
struct Wal;
SQLITE_PRIVATE int sqlite3HpCheckpoint(sqlite3*, const char*, int, int);
SQLITE_PRIVATE void sqlite3HpCheckpointLeave(sqlite3_file*);
SQLITE_PRIVATE void sqlite3HpCheckpointAlone(struct unixFile*);
SQLITE_PRIVATE void sqlite3HpCheckpointOpened(void);
SQLITE_PRIVATE int sqlite3HpCheckpointQuiet(void);
SQLITE_PRIVATE void sqlite3HpCheckpointClosed(struct Wal*);
# define sqlite3HpCheckpointLock(F,LOCK) \
    if( (LOCK)==EXCLUSIVE_LOCK ) sqlite3HpCheckpointAlone(F)
#else
# define sqlite3HpCheckpoint(A,B,C,D) 0
# define sqlite3HpCheckpointLeave(F)
# define sqlite3HpCheckpointLock(F,LOCK)
# define sqlite3HpCheckpointOpened()
# define sqlite3HpCheckpointClosed(W)
# define sqlite3HpCheckpointQuiet() 0
#endif

/*
** Called from os_unix.c and notify.c.
*/
#if !defined(SQLITE_OMIT_HP) && !defined(SQLITE_OMIT_WAL)
# ifdef SQLITE_ENABLE_UNLOCK_NOTIFY
SQLITE_PRIVATE int sqlite3HpNoneWaits(const void*);
# endif
#else
# define sqlite3HpNoneWaits(A) 0
#endif
#if !defined(SQLITE_OMIT_HP) && !defined(SQLITE_OMIT_WAL) && SQLITE_OS_UNIX \
 && !defined(SQLITE_WASI)
SQLITE_PRIVATE int sqlite3HpBarrier(void);
#else
# define sqlite3HpBarrier() 0
#endif
#if !defined(SQLITE_OMIT_HP) && !defined(SQLITE_OMIT_WAL) && SQLITE_OS_UNIX \
 && !defined(SQLITE_WASI) && defined(HP_GNUC) \
 && !defined(SQLITE_ENABLE_SETLK_TIMEOUT)
struct unixFile;
struct unixShm;
SQLITE_PRIVATE int sqlite3HpShmLock(struct unixFile*, int, int, int, int*);
SQLITE_PRIVATE void sqlite3HpShmUnmap(struct unixShm*);
#else
# define sqlite3HpShmLock(A,B,C,D,E) 0
# define sqlite3HpShmUnmap(A)
#endif

/*
** Called from vdbemem.c and json.c.
*/
#ifndef SQLITE_OMIT_HP
SQLITE_PRIVATE int sqlite3HpMemReal(Mem*, char*);
#else
# define sqlite3HpMemReal(A,B) 0
#endif
#if !defined(SQLITE_OMIT_HP) && !defined(SQLITE_OMIT_JSON)
struct JsonString;
SQLITE_PRIVATE int sqlite3HpJsonReal(struct JsonString*, double);
#else
# define sqlite3HpJsonReal(A,B) 0
#endif

/*
** Called from mutex.c.
*/
#if !defined(SQLITE_OMIT_HP) && SQLITE_THREADSAFE
SQLITE_PRIVATE const sqlite3_mutex_methods *sqlite3HpMutex(
    const sqlite3_mutex_methods*);
#else
# define sqlite3HpMutex(X) (X)
#endif

/*
** Called from malloc.c, status.c and pcache1.c.
*/
#ifndef SQLITE_OMIT_HP
SQLITE_PRIVATE int sqlite3HpHeapIsTight(void);
SQLITE_PRIVATE void sqlite3HpMemoryWanted(void);
#else
# define sqlite3HpHeapIsTight() 0
# define sqlite3HpMemoryWanted()
#endif
#ifdef HP_COUNT_MEMORY
# define HP_ATOMIC _Atomic
SQLITE_PRIVATE int sqlite3HpMalloc(int, void**);
SQLITE_PRIVATE int sqlite3HpRealloc(void**, int, int, int);
SQLITE_PRIVATE int sqlite3HpFree(void*);
SQLITE_PRIVATE int sqlite3HpOverflow(int, int);
SQLITE_PRIVATE void sqlite3HpCounted(int);
#else
# define HP_ATOMIC
# define sqlite3HpMalloc(A,B) 0
# define sqlite3HpRealloc(A,B,C,D) 0
# define sqlite3HpFree(A) 0
# define sqlite3HpOverflow(A,B) 0
# define sqlite3HpCounted(A)
#endif

#endif /* HPHOOKS_H */
