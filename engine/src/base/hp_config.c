/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_config: what is switched on, and what came of it.
**
**    hpConfig()         switches of the process, from the environment
**    hpConfigOffload()  the setting of PRAGMA hp_offload that is in force
**    hpConfigStat()     count what became of a query
**    hpConfigLog()      tell the error log, if PRAGMA hp_log is on
**    hpConfigRan()      count a scan, for `hpsqlite exec`
**
** Environment variables, read once a process.  One with other rights than those
** of its caller, such as a set-user-id program, heeds none of them:
**
**    HPSQLITE_LOADED=FILE  `hpsqlite exec` wants to know how many queries were
**                          taken over: at the end "#PID N" is appended
**    HPSQLITE=off          nothing is taken over, whatever a PRAGMA says; the
**                          same with 0, no and false
**    HPSQLITE_TEST=LIST    for tests: a comma-separated list of
**                             force       default of hp_offload is force
**                             batch=N     rows a batch, 1 to HP_BATCH
**                             hash=0      all hash values are equal
**                             simd=off    plain C
**                             source=pager   never read the file directly
**                             disk=cold|warm|single   all reads, or none, or
**                                         those that no scan makes, seem slow
**                             memory=N    default of hp_memory, bytes
**                             threads=N   workers, however small the table
**                             run=N       leaves a run
**                             extent=N    each b-tree reserves N pages
**                             vfs=any     pages are reserved in files of any VFS
**                             fs=fuse     all files seem to be in a FUSE
**                             dir=hash    relations have hash tables, no bits
**                             stash=all   rows that look others up are put
**                                         aside first, wherever they can be,
**                                         and leaves chosen by what they want
**                             race=N      SQLite's code begins, and is given up
**                                         after N instructions
**                             clock=steps SQLite's code takes the time of its
**                                         instructions, all alike
**                             rare=N      a sorted run of each N groups
**                             tally=N     sums in arrays from N groups on
**                             system=here     files of /proc and /sys are those
**                                         in the current folder
**                             ckpt=now|later  a thread makes all checkpoints,
**                                         and is waited for, or not
**                             columns=force   each scan keeps the columns that it
**                                         reads, and reads those that are kept
**                             columns=tiny    the same, and there is room for a
**                                         few of them: they go all the time
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#include <stdlib.h>
#if defined(__linux__)
# include <sys/auxv.h>
#elif SQLITE_OS_UNIX && !defined(SQLITE_WASI)
# include <unistd.h>
#endif

/*
** The value of an environment variable, or 0 where the process has other rights
** than who started it, who could have set it.  That is secure_getenv(), which
** only some C libraries have, and declare only for _GNU_SOURCE; AT_SECURE is
** what it asks.  Elsewhere users and groups tell.
*/
static const char *hpConfigEnv(const char *zName){
#if defined(__linux__)
  if( getauxval(AT_SECURE) ) return 0;
#elif SQLITE_OS_UNIX && !defined(SQLITE_WASI)
  if( getuid()!=geteuid() || getgid()!=getegid() ) return 0;
#endif
  return getenv(zName);
}

/*
** What may stand in HPSQLITE_TEST.  A word that ends in '=' is followed by a
** number, which is put between the two bounds; any other word stands for iMin.
*/
static const struct HpSwitch {
  const char *zWord;
  u8 iField;             /* Offset in HpConfig, and ... */
  u8 szField;            /* ... size of the field */
  i64 iMin, iMax;
} aHpSwitch[] = {
#define HP_SWITCH(WORD, FIELD, MIN, MAX) \
  { WORD, (u8)offsetof(HpConfig, FIELD), (u8)sizeof(((HpConfig*)0)->FIELD), \
    MIN, MAX }
  HP_SWITCH("force",        bForce,  1, 0),
  HP_SWITCH("hash=0",       bHash0,  1, 0),
  HP_SWITCH("simd=off",     bNoSimd, 1, 0),
  HP_SWITCH("source=pager", bPager,  1, 0),
  HP_SWITCH("disk=cold",    eDisk,   HP_DISK_COLD, 0),
  HP_SWITCH("disk=warm",    eDisk,   HP_DISK_WARM, 0),
  HP_SWITCH("disk=single",  eDisk,   HP_DISK_SINGLE, 0),
  HP_SWITCH("vfs=any",      bAnyVfs, 1, 0),
  HP_SWITCH("fs=fuse",      bFuse,   1, 0),
  HP_SWITCH("dir=hash",     bDirHash, 1, 0),
  HP_SWITCH("stash=all",    bStash,  1, 0),
  HP_SWITCH("tree=show",    bShow,   1, 0),
  HP_SWITCH("clock=steps",  bSteps,  1, 0),
  HP_SWITCH("columns=force", eColumns, HP_COLUMNS_FORCE, 0),
  HP_SWITCH("columns=tiny", eColumns, HP_COLUMNS_TINY, 0),
  HP_SWITCH("system=here",  bHere,   1, 0),
  HP_SWITCH("ckpt=now",     eCheckpoint, HP_CKPT_NOW, 0),
  HP_SWITCH("ckpt=later",   eCheckpoint, HP_CKPT_LATER, 0),
  HP_SWITCH("batch=",       nBatch,  1, HP_BATCH),
  HP_SWITCH("memory=",      nMemory, 0, 0x7fffffff),
  HP_SWITCH("threads=",     nThread, 1, HP_MX_THREAD),
  HP_SWITCH("run=",         nRun,    1, 0x7fffffff),
  HP_SWITCH("race=",        nRace,   1, 0x7fffffff),
  HP_SWITCH("rare=",        nRare,   1, 0x7fffffff),
  HP_SWITCH("end=",         nEnd,    1, 0x7fffffff),
  HP_SWITCH("tally=",       nTally,  1, 0x7fffffff),
  HP_SWITCH("extent=",      nExtent, 0, 0x7fffffff),
#undef HP_SWITCH
};

/* Set in *pCfg what the word z[0..n-1] says */
static void hpConfigSet(HpConfig *pCfg, const char *z, int n){
  int i;
  for(i=0; i<ArraySize(aHpSwitch); i++){
    const struct HpSwitch *p = &aHpSwitch[i];
    u8 *pField = (u8*)pCfg + p->iField;
    int nWord = sqlite3Strlen30(p->zWord);
    int bNumber = p->zWord[nWord-1]=='=';
    i64 x = p->iMin;
    /* bInit, which stands first, is no switch; and offsets are bytes */
    assert( p->iField>=sizeof(pCfg->bInit) && sizeof(*pCfg)<256 );
    assert( p->iField+p->szField<=(int)sizeof(*pCfg) );
    assert( bNumber ? p->iMin<=p->iMax : p->iMax==0 );
    if( n<nWord || (n>nWord && !bNumber) || memcmp(z, p->zWord, nWord)!=0 ){
      continue;
    }
    if( bNumber ) x = MAX(p->iMin, MIN(p->iMax, atoi(&z[nWord])));
    switch( p->szField ){
      case sizeof(u8):   *pField = (u8)x;        break;
      case sizeof(int):  *(int*)pField = (int)x; break;
      default:           *(i64*)pField = x;      break;
    }
    return;
  }
}

/*
** The switches of this process.  Threads that come here first at the same
** time all compute the same.
*/
static const HpConfig *hpConfig(void){
  static HpConfig cfg;
  if( AtomicLoad(&cfg.bInit)==0 ){
    HpConfig x;
    const char *z;
    memset(&x, 0, sizeof(x));
    x.nBatch = HP_BATCH;
    z = hpConfigEnv("HPSQLITE");
    x.bOff = z!=0 && !sqlite3GetBoolean(z, 1);
    for(z=hpConfigEnv("HPSQLITE_TEST"); z && z[0]; ){
      int n = (int)strcspn(z, ",");
      hpConfigSet(&x, z, n);
      z += n;
      if( z[0]==',' ) z++;
    }
    assert( offsetof(HpConfig, bInit)==0 && x.bInit==0 );
    assert( x.nBatch>=1 && x.nBatch<=HP_BATCH && x.nThread<=HP_MX_THREAD );
    /* All but bInit, which stands first */
    memcpy((u8*)&cfg+sizeof(cfg.bInit), (u8*)&x+sizeof(x.bInit),
           sizeof(x)-sizeof(x.bInit));
    AtomicStore(&cfg.bInit, 1);
  }
  return &cfg;
}

/* Scans of this process that ran to the end.  Atomic. */
static int nHpRun;
#if defined(__GNUC__) && defined(__linux__) && SQLITE_OS_UNIX
# define hpConfigRan() ((void)__atomic_fetch_add(&nHpRun, 1, __ATOMIC_RELAXED))

/* The process ends: tell `hpsqlite exec`, if it asks. */
__attribute__((destructor)) static void hpTell(void){
  const char *zFile = hpConfigEnv("HPSQLITE_LOADED");
  char zLine[40];
  int fd;
  if( zFile==0 ) return;
  fd = open(zFile, O_WRONLY|O_APPEND|O_NONBLOCK);
  if( fd<0 ) return;
  sqlite3_snprintf(sizeof(zLine), zLine, "#%d %d\n", (int)getpid(),
                   __atomic_load_n(&nHpRun, __ATOMIC_RELAXED));
  if( write(fd, zLine, strlen(zLine))<0 ){ /* Nobody is asked any more */ }
  close(fd);
}
#else
# define hpConfigRan() ((void)nHpRun)
#endif

/* The setting of PRAGMA hp_offload that is in force.  Where doubles are computed
** with more than 53 bits until they are stored in memory, as by the x87, what a
** sum or a comparison gives depends on what the compiler keeps in registers; so
** nothing can be promised there. */
static int hpConfigOffload(sqlite3 *db){
  const HpConfig *pCfg = hpConfig();
  assert( db->hp.eOffload<=HP_OFFLOAD_FORCE );
  if( pCfg->bOff || HP_EXCESS ) return HP_OFFLOAD_OFF;
  if( db->hp.eOffload==HP_OFFLOAD_ON && pCfg->bForce && !db->hp.bSet ){
    return HP_OFFLOAD_FORCE;
  }
  return db->hp.eOffload;
}

/* What PRAGMA hp_stats calls the places of sqlite3.hp.aStat */
static const char *const azHpStat[HP_STAT_MX+1] = { 0,
  "refused: too many columns or operations",
  "refused: subquery",
  "refused: function not deterministic",
  "refused: function bound to its place",
  "refused: window function",
  "refused: row value",
  "refused: collation",
  "refused: column not stored",
  "refused: other expression",
  "refused: not one ordinary table",
  "refused: ORDER BY in an aggregate",
  "refused: the planner's search or order is better",
  "refused: order of rows shows",
  "refused: small table",
  "refused: join",
  "taken over",
  "run",
  "given back: small table",
  "given back: other",
  "run again with one worker",
  "wrote to a file",
  "overflow pages read in runs",
  "pages asked for ahead",
  "runs of leaves whose columns were in memory",
  "such runs with leaves that had changed",
  "begun by SQLite's loops and taken from them",
  "put groups together from sorted runs in memory",
  "page cache kept: another connection had committed",
  "page cache dropped: another connection had committed",
  "waits for a lock on the file",
  "milliseconds of such waits",
  "lock taken over from another connection",
  "checkpoints left to a thread",
  "commits synced together with another one",
  "indexes made from sorted runs",
  "b-trees copied bottom up",
  "indexes analyzed by a scan",
  "tables whose foreign keys a scan has checked",
  "files whose b-trees were checked by workers",
  "tables checked in one scan",
  "indexes whose entries were written in order",
  "tables filled by a scan",
};

/*
** For PRAGMA hp_log: why a query is refused, in words for who wrote it.  Where
** more is known a note goes before: a function, or a table, by its name.
*/
static const char *const azHpNo[HP_STAT_TAKEN] = { 0,
  "it has more columns, constants or operations than one scan may have",
  "a sub-select is neither run once nor looked up by a key",
  "a function gives another result each time it is called",
  "a function has to be called where SQLite's own loop stands",
  "a window function is none of row_number(), rank() and dense_rank()",
  "row values are compared",
  "a collation is the application's own",
  "a column is not stored in the table: it is generated, or of a sub-select",
  "an expression is of a kind that is not computed in batches",
  "FROM has something else than tables of the file, or the file is UTF-16",
  "ORDER BY in an aggregate function sorts what became an integer",
  "SQLite finds the rows by an index, in their order, or may stop early",
  "the answer shows in which order an index gives the rows",
  "the table is small: SQLite reads it as fast",
  "no table of the join reaches all others by unique keys",
};

/*
** Tell the error log (SQLITE_CONFIG_LOG), if PRAGMA hp_log is on:
**
**    hp note: TEXT         what stands in the way
**    hp refused: TEXT      a SELECT is left to SQLite, because of the notes
**                          before, or of TEXT if there are none
**    hp taken over         a SELECT has code of ours
**    hp given back: small  OP_HpScan declined: the table is small
**    hp given back: other  ... for another reason
**    hp begun again        SQLite's loops, which had begun, were given up for
**                          a scan: that it declined is no more
**    hp prepared again     ... and the statement is prepared for that: what was
**                          said of it is no more
**    hp step: ...          see hp_step.c
**
** So `hpsqlite why` knows, and `.log stderr` shows it in the shell.
*/
static void hpConfigLog(sqlite3 *db, const char *zFormat, ...){
  char zText[200];       /* sqlite3_log() has little more */
  va_list ap;
  if( db->hp.bLog==0 ) return;
  va_start(ap, zFormat);
  sqlite3_vsnprintf(sizeof(zText), zText, zFormat, ap);
  va_end(ap);
  sqlite3_log(SQLITE_NOTICE, "hp %s", zText);
}

/* Count what became of a query: HP_NO_xxx or HP_STAT_xxx.  Returns 0. */
static int hpConfigStat(sqlite3 *db, int eStat){
  assert( ArraySize(db->hp.aStat)==HP_STAT_MX+1 );
  assert( eStat>0 && eStat<=HP_STAT_MX );
  db->hp.aStat[eStat]++;
  if( db->hp.bLog==0 ) return 0;
  if( eStat<HP_STAT_TAKEN ){
    hpConfigLog(db, "refused: %s", azHpNo[eStat]);
  }else if( eStat==HP_STAT_TAKEN ){
    hpConfigLog(db, "taken over");
  }else if( eStat==HP_STAT_LATE ){
    hpConfigLog(db, "begun again");
  }else if( eStat==HP_STAT_SMALL || eStat==HP_STAT_DECLINED ){
    hpConfigLog(db, "given back: %s", eStat==HP_STAT_SMALL ? "small" : "other");
  }
  return 0;
}
#endif /* SQLITE_OMIT_HP */
