/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Does a database survive?  What the programs of this folder share:
**
**    lib.c      both libraries by their paths; statements, digests of all
**               that a database holds, PRAGMA integrity_check
**    load.c     random transactions that follow from a seed and their number
**    power.c    a VFS in memory that knows which writes were synced
**
**    kill.c     writers that are killed                     crash kill
**    outage.c   the power fails, on that VFS                crash power
**    twin.c     the same writes by both libraries           crash twin
**    storm.c    long-lived connections in all states        crash storm
**    actor.c    ... and the processes that have them
**    big.c      a file past 1 GiB, filled up files          crash big
**    main.c     arguments
**
** Everything a case does follows from its seed, so that one command repeats
** it (but for the moments of the kills).
**
** Stock is the judge everywhere: it replays the same transactions, and it
** opens what ours has left.  The two libraries never have the same real file
** open in one process: closing a descriptor drops the locks that the process
** holds on that file.
*/
#ifndef CRASH_H
#define CRASH_H

#include <stdint.h>
#include <stdio.h>
#include "sqlite3.h"

typedef uint64_t u64;
typedef sqlite3_int64 i64;

/*************************** lib.c: both libraries ************************/

/* The functions that are used of a library */
#define LIB_API(X) \
  X(open_v2) X(close) X(prepare_v2) X(step) X(finalize) X(errmsg) \
  X(extended_errcode) X(extended_result_codes) X(busy_timeout) \
  X(get_autocommit) X(column_count) X(column_type) X(column_int64) \
  X(column_double) X(column_blob) X(column_text) X(column_bytes) \
  X(create_function) X(value_int64) X(result_int64) X(result_blob) \
  X(blob_open) X(blob_bytes) X(blob_read) X(blob_write) X(blob_close) \
  X(backup_init) X(backup_step) X(backup_finish) X(initialize) \
  X(vfs_register) X(test_control)

typedef struct Lib Lib;
struct Lib {
  const char *zName;         /* "stock" or "ours" */
#define LIB_FIELD(x) __typeof__(sqlite3_##x) *x;
  LIB_API(LIB_FIELD)
#undef LIB_FIELD
};
extern Lib stock, ours;

/* A connection */
typedef struct Db Db;
struct Db {
  const Lib *pLib;           /* The library that it is of */
  sqlite3 *db;               /* NULL while closed */
  u64 iAnswer;               /* Hash of all rows that were returned */
  char zErr[400];            /* The last error, with its statement */
};

void libLoad(const char *zStock, const char *zOurs);
int dbOpen(Db*, const Lib*, const char *zFile, const char *zVfs);
int dbClose(Db*);
int dbRun(Db*, const char *zFormat, ...)
    __attribute__((format(printf,2,3)));
i64 dbInt(Db*, const char *zFormat, ...)
    __attribute__((format(printf,2,3)));
int dbDigest(Db*, u64 *pDigest);
int dbCheck(Db*);
void dbUndo(Db*);

/* Random numbers */
typedef struct Rng Rng;
struct Rng {
  u64 s;
};
Rng rngSeed(u64 a, u64 b);
u64 rngNext(Rng*);
int rngBelow(Rng*, int n);
u64 hashBytes(u64 h, const void*, int n);

/************************** load.c: random writes *************************/

/* What a database is made with */
typedef struct Setup Setup;
struct Setup {
  u64 iSeed;                 /* All else follows from it */
  int szPage;                /* PRAGMA page_size */
  int eVacuum;               /* PRAGMA auto_vacuum */
  const char *zJournal;      /* PRAGMA journal_mode */
  const char *zSync;         /* PRAGMA synchronous */
  const char *zSecure;       /* PRAGMA secure_delete */
  const char *zExtent;       /* PRAGMA hp_extent */
  int nCache;                /* PRAGMA cache_size */
  int nTable;                /* Tables that grow */
  int nRow;                  /* Most rows a table, nearly */
  int nBlob;                 /* Longest blob, in bytes */
  int nBulk;                 /* Most rows a transaction, nearly */
  int bVacuum;               /* VACUUM now and then */
  i64 iLock;                 /* Where the lock-byte page is; 0: at 1 GiB */
};

void setupInit(Setup*, u64 iSeed);
void setupPrint(FILE*, const Setup*);
void setupLockByte(const Setup*);
int loadOpen(Db*, const Lib*, const Setup*, const char *zFile,
             const char *zVfs);
int loadCreate(Db*);
int loadStep(Db*, const Setup*, void (*xLog)(int eWhat, i64 k));
int loadAfter(Db*, const Setup*, i64 k);
i64 loadCount(Db*);

/* What xLog of loadStep() is told about transaction k */
#define LOG_COMMIT  'c'      /* It is about to be committed */
#define LOG_DONE    'd'      /* Commit has returned */

/************************ power.c: a VFS in memory ************************/

void powerRegister(const Lib*);
void powerClear(void);
extern struct Power {
  int szSector;              /* Sector size */
  int bSafe;                 /* Bytes beside those written stay as they were */
  int bLie;                  /* Syncs do nothing */
  int bForget;               /* There will be no outage */
  i64 nLimit;                /* Bytes on the disk; 0: any number */
  int nFail;                 /* The nFail-th request from now on fails once */
  int nFailed;               /* Requests that failed */
  i64 nEvent;                /* Writes, syncs, ... that there were */
  void (*xEvent)(void);      /* Called before each of them, if not NULL */
} power;
void powerOutage(Rng*, const char *zFrom, const char *zTo);
i64 powerBytes(void);

/******************************* the programs *****************************/

/* Arguments of the command line */
typedef struct Args Args;
struct Args {
  u64 iSeed;                 /* First seed */
  int nCase;                 /* How many cases */
  int nSecond;               /* No further case after N seconds */
  int nJob;                  /* Processes at a time */
  i64 iPoint;                /* Only this moment of an outage; 0: many */
  int bSpoil;                /* Break it, so that there must be failures */
  int bVerbose;
  const char *zDir;          /* Folder for files */
  const char *zStock, *zOurs;    /* Both libraries */
};
extern Args args;

int killCase(u64 iSeed);
int outageCase(u64 iSeed);
int twinCase(u64 iSeed);
int bigCase(u64 iSeed);
int stormCase(u64 iSeed);
int actorMain(const char *zLib);

int failed(const char *zFormat, ...) __attribute__((format(printf,1,2)));
const char *fileName(const char *zName);
void removeDb(const char *zFile);
double now(void);

#endif /* CRASH_H */
