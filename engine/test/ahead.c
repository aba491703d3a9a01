/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Reading ahead: what the operating system is asked for, and that it never
** changes an answer.
**
** posix_fadvise() is replaced here, and pread() through xSetSystemCall, so what
** is asked for and what is read is known byte by byte.  With
** HPSQLITE_TEST=disk=cold all reads seem slow to the engine, with disk=warm none,
** with disk=single those of look-ups: the test runs once with each.
**
**    cold   a scan asks for each page that it reads, before it does so, but the
**           first few; and for what lies between them, if they are half of it;
**           it does not run far ahead of a LIMIT; look-ups of single rows, a
**           table that lies in order, also with overflow pages that are read,
**           a table in memory and PRAGMA hp_readahead=off ask for nothing;
**           look-ups all over a small file ask for all of it.
**    warm   nothing asks.
**    single reads seem slow that no scan makes: look-ups ask for what is around
**           the page that was read, in the file; with
**           hp_readahead=off for nothing.
**
** On databases with broken interior pages, with failing allocations and with
** failing reads the answers with hp_readahead on are those with it off.
*/
#define _FILE_OFFSET_BITS 64       /* As in sqlite3.c: see posix_fadvise() */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hptest.h"

#define PAGE_SIZE 1024
#define MX_PAGE   20000            /* Most pages of a file here */
#define MX_FD     100
#define BLOCK     (256*1024)       /* What is asked for around a page */

static int bCold;                  /* Reads seem slow */
static int bReadsFail;             /* fails() says which reads do */

/* What happened to each page of each file: the database and its WAL */
static unsigned char aAsked[MX_FD][MX_PAGE];   /* Times it was asked for */
static unsigned char aRead[MX_FD][MX_PAGE];    /* Times it was read */
static int nRequest;               /* Requests */
static int nAsked;                 /* Pages asked for */
static int nRead;                  /* Pages read */
static int nWanted;                /* Pages read that had been asked for */
static int nAgain;                 /* Pages asked for twice */
static int nLate;                  /* Pages asked for after they were read */
static int nWal;                   /* Pages asked for in a WAL */
static int iLast;                  /* The page read last, from 0 on */
static int nAside;                 /* Requests without it, or not in one block */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  /* Guards all this */

/* Is fd that of a WAL? */
static int isWal(int fd){
  char zLink[50], zName[600];
  int n;
  snprintf(zLink, sizeof(zLink), "/proc/self/fd/%d", fd);
  n = (int)readlink(zLink, zName, sizeof(zName));
  return n>4 && memcmp(&zName[n-4], "-wal", 4)==0;
}

static void forget(void){
  memset(aAsked, 0, sizeof(aAsked));
  memset(aRead, 0, sizeof(aRead));
  nRequest = nAsked = nRead = nWanted = nAgain = nLate = nWal = nAside = 0;
}

int posix_fadvise(int fd, off_t iOfst, off_t n, int eAdvice){
  int bWal = isWal(fd);
  int sz = bWal ? PAGE_SIZE+24 : PAGE_SIZE;
  int i;
  if( bWal ) iOfst -= 32;
  if( eAdvice!=POSIX_FADV_WILLNEED || fd<3 || fd>=MX_FD || n<=0 || n%sz
   || iOfst<0 || iOfst%sz || iOfst+n>MX_PAGE*(off_t)sz
  ){
    check(0, "advice %d about %lld bytes at %lld of %d", eAdvice, (long long)n,
          (long long)iOfst, fd);
    return 0;
  }
  pthread_mutex_lock(&mutex);
  nRequest++;
  nAside += iLast<iOfst/sz || iLast>=(iOfst+n)/sz || iOfst%BLOCK || n>BLOCK;
  for(i=(int)(iOfst/sz); i<(int)((iOfst+n)/sz); i++){
    nAsked++;
    nWal += bWal;
    nAgain += aAsked[fd][i]>0;
    nLate += aRead[fd][i]>0;
    aAsked[fd][i] = 1;
  }
  pthread_mutex_unlock(&mutex);
  return 0;
}

static ssize_t (*xPread)(int, void*, size_t, off_t);
static ssize_t testPread(int fd, void *a, size_t n, off_t iOfst){
  if( bReadsFail && fails() ){
    errno = EIO;
    return -1;
  }
  if( (n>=PAGE_SIZE || n==8) && fd<MX_FD ){
    int bWal = isWal(fd);
    int sz = bWal ? PAGE_SIZE+24 : PAGE_SIZE;
    off_t i, iPage = (bWal ? iOfst-56 : iOfst)/sz;
    int k = n<PAGE_SIZE ? 1 : (int)(n/PAGE_SIZE);
    pthread_mutex_lock(&mutex);
    for(i=iPage; i<iPage+k && i<MX_PAGE; i++){
      nRead++;
      nWanted += aAsked[fd][i]>0 && aRead[fd][i]==0;
      aRead[fd][i] = 1;
    }
    iLast = (int)iPage;
    pthread_mutex_unlock(&mutex);
  }
  return xPread(fd, a, n, iOfst);
}

static const char *zFile;

/* A connection with an empty cache, offload off */
static sqlite3 *fresh(const char *zPragma){
  sqlite3 *db = openDb(&ours, zFile, 0);
  execute(db, "PRAGMA hp_offload=off");
  execute(db, "PRAGMA hp_threads=1");
  execute(db, "SELECT count(*) FROM sqlite_schema");
  if( zPragma ) execute(db, zPragma);
  forget();
  return db;
}

static sqlite3_int64 asked(sqlite3 *db){
  return counted(db, "pages asked for ahead");
}

/*
** Run zSql on a cold cache.  The answer has to be that without reading
** ahead.  Leave the counts of what was asked for.
*/
static void run(const char *zPragma, const char *zSql){
  Text with = {0,0,0}, without = {0,0,0};
  int n;
  sqlite3 *db = fresh(zPragma);
  execute(db, "PRAGMA hp_readahead=off");
  answer(&ours, db, zSql, &without);
  check(nAsked==0 && asked(db)==0, "%d asked for with hp_readahead=off: %s",
        nAsked, zSql);
  sqlite3_close(db);
  db = fresh(zPragma);
  answer(&ours, db, zSql, &with);
  n = (int)asked(db);
  check(strcmp(with.z, without.z)==0, "%s\n with    %s without %s", zSql, with.z,
        without.z);
  check(n==nAsked, "%s: %d in hp_stats, %d asked for", zSql, n, nAsked);
  if( !bCold ) check(nAsked==0, "%s: asked for %d though cached", zSql, nAsked);
  sqlite3_close(db);
  textClear(&with);
  textClear(&without);
}

/*
** Run a query that reads many pages: it has to ask for nearly all of them, and,
** as they are in one request with what lies between, for no more than twice as
** many.
*/
static void scan(const char *zPragma, const char *zSql, int nFirst){
  run(zPragma, zSql);
  if( !bCold ) return;
  check(nWanted>=nRead-nFirst, "%s: %d of %d pages asked for", zSql, nWanted,
        nRead);
  check(nAsked<=2*nWanted+2, "%s: of %d asked for %d read", zSql, nAsked,
        nWanted);
  check(nAgain<=nAsked/10, "%s: of %d asked for %d again", zSql, nAsked, nAgain);
  check(nLate<=nAsked/10, "%s: of %d asked for %d after reading them", zSql,
        nAsked, nLate);
}

/* By the executor, with one worker: which pages are read before any is asked for
** does not depend on how threads are scheduled then */
static const char zAlone[] = "PRAGMA hp_offload=force; PRAGMA hp_threads=1";

static const char zScan[] = "SELECT sum(length(x)), count(*) FROM t2";
static const char zBack[] =
  "SELECT sum(length(x)) FROM (SELECT x FROM t2 ORDER BY id DESC LIMIT -1)";
static const char zIndex[] =
  "SELECT sum(length(y)) FROM t2 INDEXED BY t2y WHERE y>''";
static const char zIndexBack[] =
  "SELECT group_concat(substr(y,1,1),'') FROM"
  " (SELECT y FROM t2 INDEXED BY t2y WHERE y>'' ORDER BY y DESC)";
static const char zRowid[] = "SELECT sum(length(k)), count(*) FROM w2";
static const char zCount[] = "SELECT count(*) FROM t2";
static const char zCheck[] = "PRAGMA integrity_check";
static const char zLookup[] =
  "SELECT sum(length(x)) FROM t2 INDEXED BY t2r WHERE r BETWEEN 2000 AND 8000";
static const char zLookupBack[] =
  "SELECT sum(length(x)) FROM (SELECT x FROM t2 INDEXED BY t2r"
  " WHERE r BETWEEN 2000 AND 8000 ORDER BY r DESC LIMIT -1)";

/*
** The database: four tables that grow in turn, so that their leaves are
** scattered, indexes, one table in order.
*/
static void makeDb(const char *zPragma){
  sqlite3 *db;
  int i;
  char z[2000];
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  execute(db, "PRAGMA page_size=1024; PRAGMA synchronous=off");
  execute(db, "PRAGMA hp_extent=off");
  execute(db, zPragma);
  for(i=0; i<4; i++){
    snprintf(z, sizeof(z), "CREATE TABLE t%d(id INTEGER PRIMARY KEY, r INTEGER, "
      "y TEXT, x TEXT); CREATE INDEX t%dr ON t%d(r);"
      "CREATE INDEX t%dy ON t%d(y);"
      "CREATE TABLE w%d(k TEXT PRIMARY KEY) WITHOUT ROWID", i, i, i, i, i, i);
    execute(db, z);
  }
  execute(db, "BEGIN");
  execute(db, "CREATE TEMP TABLE n AS WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL"
    " SELECT k+1 FROM n WHERE k<3000) SELECT k, k*7919%10007 AS r,"
    " printf('%05d%.40c', k, 'y') AS y, printf('%.200c', 'x') AS x FROM n");
  for(i=0; i<3000; i+=4){
    int j;
    /* With asserts each statement looks at all pages changed before it */
    if( i%200==0 ) execute(db, "COMMIT; BEGIN");
    for(j=0; j<4; j++){
      snprintf(z, sizeof(z),
        "INSERT INTO t%d SELECT k, r, y, x FROM n WHERE rowid>%d LIMIT 4;"
        "INSERT INTO w%d SELECT y||y FROM n WHERE rowid>%d LIMIT 4", j, i, j, i);
      execute(db, z);
    }
  }
  execute(db, "CREATE TABLE runs(id INTEGER PRIMARY KEY, x TEXT);"
    "CREATE TABLE other(x TEXT)");
  for(i=0; i<3000; i+=60){
    snprintf(z, sizeof(z), "INSERT INTO runs SELECT k, x||x FROM n"
      " WHERE k>%d LIMIT 60; INSERT INTO other SELECT x FROM n LIMIT 60", i);
    execute(db, z);
  }
  execute(db, "CREATE TABLE ordered(id INTEGER PRIMARY KEY, x TEXT);"
    "INSERT INTO ordered SELECT k, x FROM n; DROP TABLE temp.n; COMMIT");
  sqlite3_close(db);
}

/* All kinds of scans */
static void testScans(const char *zPragma){
  scan(zPragma, zScan, 16);
  scan(zPragma, zBack, 16);
  scan(zPragma, zIndex, 16);
  scan(zPragma, zIndexBack, 16);
  scan(zPragma, zRowid, 16);
  scan(zPragma, zCount, 16);
  run(zPragma, zLookup);
  if( bCold ) check(nWanted>nRead*3/4 && nAgain<nRead/4, "look-ups: %d of %d"
                    " read, %d asked for again", nWanted, nRead, nAgain);
  run(zPragma, zLookupBack);
  if( bCold ) check(nWanted>nRead*3/4, "look-ups backwards: %d of %d", nWanted,
                    nRead);
}

/* Tables that grew in turn by some rows at a time: their leaves are in runs */
static void testRuns(void){
  scan(0, "SELECT sum(length(x)), count(*) FROM runs", 120);
  scan(0, "SELECT sum(length(x)) FROM"
          " (SELECT x FROM runs ORDER BY id DESC LIMIT -1)", 40);
}

/* Another database: long grows with short, third0 with third1 and third2 */
static void makeLong(void){
  sqlite3 *db;
  char z[300];
  int i;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  execute(db, "PRAGMA page_size=1024; PRAGMA synchronous=off;"
    "PRAGMA hp_extent=off; BEGIN;"
    "CREATE TABLE long(id INTEGER PRIMARY KEY, r INTEGER, x TEXT);"
    "CREATE TABLE short(x TEXT);"
    "CREATE TABLE third0(x TEXT); CREATE TABLE third1(x TEXT);"
    "CREATE TABLE third2(x TEXT)");
  for(i=0; i<400; i++){
    snprintf(z, sizeof(z), "INSERT INTO long VALUES(NULL, %d, printf('%%.*c',"
      " 1500+%d, 'q')); INSERT INTO short VALUES(printf('%%.200c', 'x'))",
      i, i*997%2000);
    execute(db, z);
  }
  for(i=0; i<600; i++){
    execute(db, "INSERT INTO third0 VALUES(printf('%.700c', 'x'));"
      "INSERT INTO third1 VALUES(printf('%.700c', 'x'));"
      "INSERT INTO third2 VALUES(printf('%.700c', 'x'))");
  }
  execute(db, "COMMIT");
  sqlite3_close(db);
}

/*
** Rows with overflow pages, in a table that grew together with another one.
**
** Who reads all of them, in order, leaves that to the operating system.  The
** executor, which reads leaves first and chains then, asks for whole stretches.
** Who reads the leaves alone asks for these, and not for what lies between.
*/
static void testOverflow(void){
  static const char zAll[] = "SELECT count(*) FROM long WHERE x LIKE '%qq%'";
  static const char zLength[] = "SELECT sum(length(x)) FROM long";
  static const char zLeaves[] = "SELECT sum(id+r) FROM long";
  run(0, zAll);
  check(nAsked<=nRead/20, "all, by SQLite: asked for %d of %d", nAsked, nRead);
  run(0, "SELECT count(*) FROM"
         " (SELECT x FROM long ORDER BY id DESC LIMIT -1) WHERE x LIKE '%qq%'");
  if( bCold ) check(nWanted>nRead*2/3 && nRequest<nRead/8 && nAsked<2*nRead,
      "all, backwards: asked for %d of %d in %d", nWanted, nRead, nRequest);
  run(zAlone, zAll);
  if( bCold ) check(nWanted>nRead*3/4 && nRequest<nRead/50 && nAsked<2*nRead,
      "all: asked for %d of %d in %d", nWanted, nRead, nRequest);
  run(zAlone, zLength);
  if( bCold ) check(nWanted>nRead*3/4 && nRequest<nRead/50 && nAsked<2*nRead,
      "length: asked for %d of %d in %d", nWanted, nRead, nRequest);
  scan(0, zLeaves, 16);
  scan(zAlone, zLeaves, 80);
}

/* Each third page is a leaf of the table: that is not in order */
static void testThird(void){
  scan(0, "SELECT sum(length(x)) FROM third0", 16);
  scan(zAlone, "SELECT sum(length(x)) FROM third0", 80);
}

/* Look-ups all over a small file: they ask for all of it at once */
static void testWhole(void){
  sqlite3 *db;
  int nPage;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  execute(db, "PRAGMA page_size=1024; PRAGMA synchronous=off;"
    "CREATE TABLE t(id INTEGER PRIMARY KEY, r INTEGER, x TEXT);"
    "WITH n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n WHERE k<1200)"
    " INSERT INTO t SELECT k, k*7919%10007, printf('%.300c', 'x') FROM n;"
    "CREATE INDEX tr ON t(r)");
  nPage = (int)integer(&ours, db, "PRAGMA page_count");
  sqlite3_close(db);
  run(0, "SELECT sum(length(x)) FROM t INDEXED BY tr WHERE r<8000");
  if( bCold ) check(nWanted>nRead/2 && nAsked>=nPage && nAsked<2*nPage
      && nRequest<nPage/5, "of %d pages asked for %d, in %d requests", nPage,
      nAsked, nRequest);
  run(0, "SELECT sum(length(x)) FROM t INDEXED BY tr WHERE r<300");
  check(nAsked<nPage/2, "%d asked for, for some rows", nAsked);
}

/* The vectorised executor's own reads */
static void testSource(void){
  /* Pages of a memory map have no reference counts */
  run("PRAGMA mmap_size=100000000; PRAGMA hp_offload=force", zScan);
  run("PRAGMA mmap_size=100000000; PRAGMA hp_offload=force", zRowid);
  scan(zAlone, zScan, 300);
  scan(zAlone, zRowid, 300);
  /* Each worker may be reading a run before the first one asks */
  scan("PRAGMA hp_offload=force; PRAGMA hp_threads=3", zScan, 900);
  scan(zAlone, zCount, 300);
}

/* What does more than to read.  The database is the same afterwards. */
static void testStatements(void){
  sqlite3 *db;
  run(0, zCheck);
  if( bCold ) check(nWanted>nRead/3, "integrity_check: %d of %d",
                    nWanted, nRead);
  db = fresh(0);
  execute(db, "CREATE INDEX new ON t3(x, r)");
  check(bCold ? nWanted>200 : nAsked==0, "CREATE INDEX: %d", nWanted);
  execute(db, "DROP INDEX new");
  sqlite3_close(db);
  db = fresh(0);
  execute(db, "VACUUM INTO ''");
  check(bCold ? nWanted>1000 : nAsked==0, "VACUUM: %d", nWanted);
  sqlite3_close(db);
}

/* What must not ask for anything, or not for much */
static void testLittle(void){
  sqlite3 *db = fresh(0);
  char z[200];
  int i;
  for(i=1; i<3000; i+=longRun() ? 7 : 21){
    snprintf(z, sizeof(z), "SELECT x FROM t1 WHERE id=%d", i*7919%3000);
    execute(db, z);
    snprintf(z, sizeof(z), "SELECT x FROM t1 WHERE r=%d", i);
    execute(db, z);
    snprintf(z, sizeof(z), "SELECT x FROM t1 WHERE y BETWEEN '%05d' AND '%05d'",
             i, i+4);
    execute(db, z);
  }
  check(nAsked==0, "look-ups ask for %d pages", nAsked);
  sqlite3_close(db);
  run(0, "SELECT sum(a.r) FROM t0 AS a CROSS JOIN t1 AS b ON b.id=a.r%97"
         " WHERE a.id<40");
  check(nAsked<=32, "a join asks for %d pages", nAsked);
  for(i=1; i<600; i=i*3/2+1){
    snprintf(z, sizeof(z), "SELECT length(x) FROM t2 LIMIT %d", i);
    run(0, z);
    check(nAsked<=2*nRead+32, "%s: read %d, asked for %d", z, nRead, nAsked);
    snprintf(z, sizeof(z), "SELECT length(x) FROM t2 WHERE r>3000 LIMIT %d", i);
    run(0, z);
    check(nAsked<=2*nRead+32, "%s: read %d, asked for %d", z, nRead, nAsked);
  }
  run(0, "SELECT sum(length(x)) FROM ordered");
  check(nAsked<nRead/20, "in order: read %d, asked for %d", nRead, nAsked);
  db = openDb(&ours, ":memory:", 0);
  execute(db, "CREATE TABLE t(x); WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL"
    " SELECT k+1 FROM n WHERE k<9000) INSERT INTO t SELECT hex(zeroblob(99))"
    " FROM n");
  forget();
  execute(db, "SELECT sum(length(x)) FROM t; SELECT x FROM t ORDER BY x");
  check(nAsked==0, "in memory: asked for %d", nAsked);
  sqlite3_close(db);
}

/* Reads of single pages: what is around them is asked for */
static void testSingle(void){
  static const char *const azPragma[] = { 0, "PRAGMA hp_readahead=off" };
  int k, i;
  for(k=0; k<2; k++){
    sqlite3 *db = fresh(azPragma[k]);
    for(i=1; i<3000; i+=7){
      char z[100];
      snprintf(z, sizeof(z), "SELECT x FROM t1 WHERE id=%d", i*7919%3000);
      execute(db, z);
    }
    check(k ? nRequest==0 : nRequest>nRead/2,
          "of %d reads %d asked for what is around (%d)", nRead, nRequest, k);
    check(nAside==0 && nWal==0, "%d requests elsewhere, %d pages of the WAL",
          nAside, nWal);
    sqlite3_close(db);
  }
}

/* The setting */
static void testPragma(void){
  sqlite3 *db = openDb(&ours, ":memory:", 0);
  static const char *const azStep[] = {
    "", "on", "=off", "off", "=1", "on", "=0", "off", "=true", "on",
    "=nonsense", "on", "=off", "off", "=nonsense", "off",
  };
  int i;
  for(i=0; i<(int)(sizeof(azStep)/sizeof(azStep[0])); i+=2){
    char z[100];
    sqlite3_stmt *pStmt = 0;
    const char *zGot = "nothing";
    snprintf(z, sizeof(z), "PRAGMA hp_readahead%s", azStep[i]);
    sqlite3_prepare_v2(db, z, -1, &pStmt, 0);
    if( sqlite3_step(pStmt)==SQLITE_ROW ){
      zGot = (const char*)sqlite3_column_text(pStmt, 0);
    }
    check(strcmp(zGot, azStep[i+1])==0, "%s: %s", z, zGot);
    sqlite3_finalize(pStmt);
  }
  sqlite3_close(db);
}

static const char *const azAll[] = {
  zScan, zBack, zIndex, zIndexBack, zRowid, zCount, zLookup, zLookupBack, zCheck
};
#define N_ALL ((int)(sizeof(azAll)/sizeof(azAll[0])))

/* Broken interior pages: the same answers, and no page that does not exist */
static void testMalformed(void){
  static unsigned char aPage[PAGE_SIZE];
  unsigned int iRandom = 1;
  int fd = open(zFile, O_RDWR);
  int nPage = (int)(lseek(fd, 0, SEEK_END)/PAGE_SIZE);
  int i, k, nDone = 0;
  for(i=1; nDone<(longRun() ? 60 : 24); i++){
    unsigned char aSaved[PAGE_SIZE];
    unsigned int iPg;
    int iOfst;
    iRandom = iRandom*1103515245 + 12345;
    iPg = (iRandom>>8)%nPage;
    if( pread(fd, aPage, PAGE_SIZE, (off_t)iPg*PAGE_SIZE)!=PAGE_SIZE ) break;
    if( iPg==0 || (aPage[0]!=2 && aPage[0]!=5) ) continue;
    memcpy(aSaved, aPage, PAGE_SIZE);
    nDone++;
    iRandom = iRandom*1103515245 + 12345;
    k = (int)(iRandom>>8)%(aPage[3]*256+aPage[4]);
    iOfst = aPage[12+2*k]*256 + aPage[13+2*k];
    switch( nDone%8 ){
      case 0: memset(&aPage[iOfst], 0, 4); break;         /* No page */
      case 1: memset(&aPage[iOfst], 0xff, 4); break;      /* Far outside */
      case 2: memset(&aPage[iOfst], 0, 2);                /* Itself */
              aPage[iOfst+2] = (iPg+1)>>8; aPage[iOfst+3] = (iPg+1)&0xff; break;
      case 3: aPage[iOfst+3] ^= 1; break;                 /* Some other page */
      case 4: memset(&aPage[8], 0x7f, 4); break;          /* The last child */
      case 5: memset(&aPage[12+2*k], 0xff, 2); break;     /* The cell is not there */
      case 6: memset(&aPage[iOfst+4], 0xff, 9); break;    /* Its key is long */
      default: aPage[3] = 0xff; break;                    /* Too many cells */
    }
    if( pwrite(fd, aPage, PAGE_SIZE, (off_t)iPg*PAGE_SIZE)<0 ) break;
    for(k=0; k<N_ALL; k++) run(0, azAll[k]);
    run("PRAGMA hp_offload=force", zScan);
    if( pwrite(fd, aSaved, PAGE_SIZE, (off_t)iPg*PAGE_SIZE)<0 ) break;
  }
  check(nDone>=24, "%d pages broken", nDone);
  close(fd);
}

/*
** Every n-th request for memory, or read, fails: the right answer, or an
** error after rows that begin it.
*/
static void testFaults(int bRead, int nStep){
  int i;
  bReadsFail = bRead;
  failMemory(!bRead);
  for(i=0; i<N_ALL; i++){
    Text right = {0,0,0};
    int n, bMore = 1;
    sqlite3 *db = fresh(0);
    answer(&ours, db, azAll[i], &right);
    sqlite3_close(db);
    for(n=0; bMore; n+=1+n/(longRun() ? nStep : 2)){
      Text got = {0,0,0};
      int rc;
      db = fresh("PRAGMA cache_size=20");
      fault.nLeft = n;
      fault.bForEver = n&1;
      fault.nFailed = 0;
      rc = answer(&ours, db, azAll[i], &got);
      bMore = fault.nFailed>0;
      fault.nLeft = -1;
      if( rc ) *strstr(got.z, "error") = 0;
      /* integrity_check reports an error as a row */
      check(strncmp(got.z, right.z, strlen(got.z))==0
            || (bMore && azAll[i]==zCheck),
            "%s %d: %s\n got  %s right %s", bRead ? "read" : "allocation", n,
            azAll[i], got.z, right.z);
      check(rc==SQLITE_OK || bMore, "%s: error %d", azAll[i], rc);
      textClear(&got);
      textClear(&right);
      answer(&ours, db, azAll[i], &right);
      sqlite3_close(db);
    }
    textClear(&right);
  }
  bReadsFail = 0;
  failMemory(0);
}

int main(void){
  const char *zTest = getenv("HPSQLITE_TEST");
  sqlite3 *db;
  bCold = zTest && strstr(zTest, "disk=cold")!=0;
  zFile = temporaryFile("ahead.db");
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
  xPread = (ssize_t(*)(int,void*,size_t,off_t))
      replaceCall("pread", (sqlite3_syscall_ptr)testPread);
  if( zTest && strstr(zTest, "disk=single") ){
    makeDb("PRAGMA journal_mode=delete");
    testSingle();
    removeDb(zFile);
    return finish();
  }
  testPragma();
  makeLong();
  testOverflow();
  testThird();
  testWhole();
  makeDb("PRAGMA journal_mode=delete");
  testScans(0);
  testRuns();
  testSource();
  testStatements();
  testLittle();
  if( bCold ){
    testMalformed();
    testFaults(0, 5);
    testFaults(1, 8);
  }
  /* The same with most pages in the WAL, which a second connection keeps there */
  makeDb("PRAGMA journal_mode=wal");
  db = openDb(&ours, zFile, 0);
  execute(db, "PRAGMA wal_autocheckpoint=0; UPDATE t2 SET r=r+1 WHERE id%3==0;"
              "UPDATE t2 SET r=r-1 WHERE id%3==0");
  testScans(0);
  check(bCold==(nWal>0), "%d pages asked for in the WAL", nWal);
  testSource();
  check(bCold==(nWal>0), "%d pages asked for in the WAL", nWal);
  sqlite3_close(db);
  removeDb(zFile);
  return finish();
}
