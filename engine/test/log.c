/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** The write-ahead log as those see it who copy it: each page by which a
** transaction makes the database larger has a frame in that transaction, as in
** SQLite, whatever b-trees reserve (hp_extent.c).  With a rollback journal each of
** them is written to the file.
**
**    log STOCK        STOCK is the unpatched library
**
** After every statement the log is read as a stranger reads it: frames count as
** long as their salts are the header's and their checksums add up.
*/
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

static Lib stock;
static const char *zFile;          /* The database that is tested */
static const char *zOther;         /* A copy of it */
static unsigned iLockByte = 0x40000000;

/* What a reader of the log remembers, from one look to the next */
typedef struct Reader Reader;
struct Reader {
  unsigned aSalt[2];     /* Which log it was */
  unsigned nFirst;       /* Pages of the database when that log began */
  unsigned nPage;        /* Pages of it at the last look */
  unsigned nGrown;       /* Pages by which it has grown, in all */
};

static unsigned iRandom = 1;
static unsigned rnd(unsigned n){
  iRandom = iRandom*1664525 + 1013904223;
  return (iRandom>>8)%n;
}

/* An integer of the log's checksums: in the byte order that its magic tells */
static unsigned word(const unsigned char *a, int bBig){
  return bBig ? get4(a)
              : a[0] | a[1]<<8 | a[2]<<16 | (unsigned)a[3]<<24;
}

static void checksum(
  const unsigned char *a, int n, int bBig,
  unsigned *pS1, unsigned *pS2
){
  int i;
  for(i=0; i<n; i+=8){
    *pS1 += word(&a[i], bBig) + *pS2;
    *pS2 += word(&a[i+4], bBig) + *pS1;
  }
}

/*
** Read the log.  The pages by which each of its transactions makes the database
** larger have frames in that transaction.  Return true if so.
*/
static int readLog(Reader *p, const char *zWhat){
  static unsigned aSeen[1<<20];    /* The last transaction with a frame for page i */
  static unsigned iTransaction = 0;
  char zWal[300];
  unsigned char *a;
  unsigned s1 = 0, s2 = 0, szPage, nPage, iPg;
  unsigned iGap = 0;
  int n = 0, i, bBig;
  snprintf(zWal, sizeof(zWal), "%s-wal", zFile);
  if( access(zWal, F_OK) ) return 1;
  a = readFile(zWal, &n);
  if( n<32 ){
    free(a);
    return 1;
  }
  bBig = get4(a)&1;
  szPage = get4(&a[8]);
  if( get4(&a[16])!=p->aSalt[0] || get4(&a[20])!=p->aSalt[1] ){
    p->aSalt[0] = get4(&a[16]);
    p->aSalt[1] = get4(&a[20]);
    p->nFirst = p->nPage;
  }
  checksum(a, 24, bBig, &s1, &s2);
  nPage = p->nFirst;
  iTransaction++;
  for(i=32; i+24+(int)szPage<=n && iGap==0; i+=24+szPage){
    const unsigned char *aFrame = &a[i];
    const unsigned nAfter = get4(&aFrame[4]);
    if( memcmp(&aFrame[8], &a[16], 8)!=0 ) break;
    checksum(aFrame, 8, bBig, &s1, &s2);
    checksum(&aFrame[24], (int)szPage, bBig, &s1, &s2);
    if( s1!=get4(&aFrame[16]) || s2!=get4(&aFrame[20]) ) break;
    iPg = get4(aFrame);
    if( iPg>=sizeof(aSeen)/sizeof(aSeen[0]) ) exit(2);
    aSeen[iPg] = iTransaction;
    if( nAfter==0 ) continue;
    for(iPg=nPage+1; iPg<=nAfter; iPg++){
      if( aSeen[iPg]!=iTransaction && iPg!=iLockByte/szPage+1 ) iGap = iPg;
    }
    iTransaction++;
    nPage = nAfter;
  }
  free(a);
  check(iGap==0, "%s: page %u has no frame in the transaction that adds it",
        zWhat, iGap);
  if( nPage>p->nPage ) p->nGrown += nPage - p->nPage;
  p->nPage = nPage;
  return iGap==0;
}

/* Stock recovers a copy of the file and its log, and finds nothing wrong */
static void recoverCopy(const char *zWhat){
  Text sh = {0,0,0};
  sqlite3 *db;
  removeDb(zOther);
  textAppend(&sh, "cp %s %s; cp %s-wal %s-wal", zFile, zOther, zFile, zOther);
  if( system(sh.z) ) exit(2);
  db = openDb(&stock, zOther, 0);
  checkIntegrity(&stock, db, zWhat);
  stock.close(db);
  removeDb(zOther);
  textClear(&sh);
}

/* What is written in one statement, or in one part of a transaction */
static void writeSome(Text *p, int nTree, int iStep){
  const int t = rnd(nTree);
  switch( rnd(10) ){
    case 0:
      textAppend(p, "DELETE FROM t%d WHERE id%%%d=1;", t, 2+rnd(9));
      break;
    case 1:
      textAppend(p, "UPDATE t%d SET b=zeroblob(%d) WHERE id%%%d=0;", t,
                 rnd(3000), 20+rnd(90));
      break;
    case 2:
      textAppend(p, "INSERT INTO t%d(a,b) VALUES(%d,zeroblob(%d));", t, iStep,
                 rnd(60000));
      break;
    case 3: case 4: case 5:
      textAppend(p, "INSERT INTO t%d(a,b) VALUES(%d,hex(zeroblob(%d)));", t,
                 rnd(100000), rnd(60));
      break;
    default:
      textAppend(p, "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1"
         " FROM n WHERE k<%d) INSERT INTO t%d(a,b) SELECT (k*7919)%%1000,"
         " hex(zeroblob(%d)) FROM n;", 1+rnd(400), t, 1+rnd(60));
  }
}

/* A transaction, with savepoints of which some are rolled back */
static void writeTransaction(Text *p, int nTree, int iStep){
  int n = 1+rnd(8), bOpen = 0;
  textAppend(p, "BEGIN IMMEDIATE;");
  while( n-->0 ){
    if( bOpen==0 && rnd(4)==0 ){
      textAppend(p, "SAVEPOINT s;");
      bOpen = 1;
    }
    writeSome(p, nTree, iStep);
    if( bOpen && rnd(3)==0 ){
      textAppend(p, "ROLLBACK TO s;");
    }else if( bOpen && rnd(3)==0 ){
      textAppend(p, "RELEASE s;");
      bOpen = 0;
    }
  }
  textAppend(p, rnd(5)==0 ? "ROLLBACK;" : "COMMIT;");
}

/*
** A process of its own, with either library, writes a transaction.  With bKill
** it is killed before it commits, when a part is in the log.
*/
static void otherProcess(const Lib *pLib, int nTree, int iStep, int bKill){
  const unsigned iSeed = rnd(1<<20);
  int status;
  pid_t pid;
  fflush(stdout);
  pid = fork();
  if( pid==0 ){
    Text sql = {0,0,0};
    sqlite3 *db = openDb(pLib, zFile, 0);
    iRandom = iSeed;
    runOn(pLib, db, "PRAGMA synchronous=off");
    if( bKill ){
      int i;
      textAppend(&sql, "PRAGMA cache_size=10; BEGIN IMMEDIATE;");
      for(i=0; i<5; i++) writeSome(&sql, nTree, iStep);
    }else{
      writeTransaction(&sql, nTree, iStep);
    }
    runOn(pLib, db, sql.z);
    if( bKill ) kill(getpid(), SIGKILL);
    pLib->close(db);
    _exit(0);
  }
  if( waitpid(pid, &status, 0)!=pid || (status!=0)!=bKill ) exit(2);
}

/* Make nTree tables, with an index for every other one, in one transaction */
static void makeTables(const Lib *pLib, sqlite3 *db, int nTree){
  Text sql = {0,0,0};
  int i;
  textAppend(&sql, "BEGIN;");
  for(i=0; i<nTree; i++){
    textAppend(&sql, "CREATE TABLE t%d(id INTEGER PRIMARY KEY, a, b);", i);
    if( i%2==0 ) textAppend(&sql, "CREATE INDEX i%d ON t%d(a,b);", i, i);
  }
  textAppend(&sql, "COMMIT;");
  runOn(pLib, db, sql.z);
  textClear(&sql);
}

/*
** nTree tables are written in every way, by two connections of pLib and by
** processes with either library, some of which are killed.
*/
static void testRandom(
  const Lib *pLib,
  const char *zPragmas,
  int nTree,
  int nStep
){
  const char *zLib = pLib==&ours ? "ours" : "stock";
  Reader reader = {{0,0},0,0,0};
  sqlite3 *adb[2];
  Text sql = {0,0,0};
  char zWhat[250];
  int i, bGood;
  removeDb(zFile);
  snprintf(zWhat, sizeof(zWhat), "%s, %s, %d tables", zLib, zPragmas, nTree);
  for(i=0; i<2; i++){
    adb[i] = openDb(pLib, zFile, 0);
    runOn(pLib, adb[i], zPragmas);
    runOn(pLib, adb[i], "PRAGMA journal_mode=wal; PRAGMA synchronous=off");
  }
  makeTables(pLib, adb[0], nTree);
  bGood = readLog(&reader, zWhat);
  for(i=0; bGood && i<nStep; i++){
    sqlite3 *db = adb[rnd(3)==0];
    textClear(&sql);
    switch( rnd(20) ){
      case 0:
        textAppend(&sql, "PRAGMA incremental_vacuum(%d);", rnd(300));
        break;
      case 1:
        if( rnd(6)==0 ) textAppend(&sql, "VACUUM;");
        break;
      case 2:
        textAppend(&sql, "PRAGMA wal_checkpoint%s;",
                   rnd(3) ? "" : rnd(2) ? "(restart)" : "(truncate)");
        break;
      case 3:
        otherProcess(rnd(2) ? &ours : &stock, nTree, i, rnd(2));
        break;
      case 4: case 5: case 6: case 7:
        writeSome(&sql, nTree, i);
        break;
      default:
        writeTransaction(&sql, nTree, i);
    }
    if( sql.n ) runOn(pLib, db, sql.z);
    bGood = readLog(&reader, zWhat);
    if( i%50==49 ) recoverCopy(zWhat);
  }
  check(reader.nGrown>100, "%s: only %u pages", zWhat, reader.nGrown);
  checkIntegrity(pLib, adb[0], zWhat);
  for(i=0; i<2; i++) pLib->close(adb[i]);
  textClear(&sql);
}

/*
** Eight tables that grow, some rows to a transaction: pages are reserved, and
** they have frames, and the file that stock copies from the log is sound.
*/
static void testGrowth(const char *zPragmas, int nRow, int nCommit){
  Reader reader = {{0,0},0,0,0};
  sqlite3 *db;
  Text sql = {0,0,0};
  char zWhat[200];
  int i, nReserved = 0;
  int bGood = 1;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  runOn(&ours, db, zPragmas);
  runOn(&ours, db, "PRAGMA journal_mode=wal; PRAGMA synchronous=off");
  makeTables(&ours, db, 8);
  snprintf(zWhat, sizeof(zWhat), "%s, %d rows a commit", zPragmas, nCommit);
  for(i=0; bGood && i<nRow; i++){
    if( i%nCommit==0 ) textAppend(&sql, "BEGIN;");
    textAppend(&sql, "INSERT INTO t%d(a,b) VALUES(%d,zeroblob(90));", i%8, i);
    if( i%nCommit!=nCommit-1 ) continue;
    textAppend(&sql, "COMMIT;");
    runOn(&ours, db, sql.z);
    textClear(&sql);
    bGood = readLog(&reader, zWhat);
    nReserved += integer(&ours, db, "PRAGMA freelist_count")>0;
  }
  check(nReserved>3, "%s: pages were reserved %d times", zWhat, nReserved);
  recoverCopy(zWhat);
  sqlite3_close(db);
}

/*
** One table grows, and nothing beside it: no leaf is reserved, so the log has
** the frames that stock's has.
*/
static void testAlone(void){
  const Lib *const apLib[2] = { &stock, &ours };
  sqlite3_int64 anPage[2], anByte[2];
  int k;
  for(k=0; k<2; k++){
    const Lib *pLib = apLib[k];
    sqlite3 *db;
    Text sql = {0,0,0};
    char zWal[300];
    int i, n;
    removeDb(zFile);
    db = openDb(pLib, zFile, 0);
    runOn(pLib, db, "PRAGMA page_size=1024; PRAGMA journal_mode=wal;"
                    "PRAGMA synchronous=off; PRAGMA wal_autocheckpoint=0;"
                    "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);");
    for(i=0; i<20000; i++){
      if( i%50==0 ) textAppend(&sql, "BEGIN;");
      textAppend(&sql, "INSERT INTO t(a,b) VALUES(%d,zeroblob(90));", i);
      if( i%50!=49 ) continue;
      textAppend(&sql, "COMMIT;");
      runOn(pLib, db, sql.z);
      textClear(&sql);
    }
    anPage[k] = integer(pLib, db, "PRAGMA page_count");
    snprintf(zWal, sizeof(zWal), "%s-wal", zFile);
    free(readFile(zWal, &n));
    anByte[k] = n;
    pLib->close(db);
  }
  /* The first extents, and some interior pages */
  check(anPage[1]<=anPage[0]+16, "alone: %lld pages, stock has %lld", anPage[1],
        anPage[0]);
  check(anByte[1]<=anByte[0]*102/100, "alone: log of %lld bytes, stock's has %lld",
        anByte[1], anByte[0]);
}

/*
** With a rollback journal no page by which the file grows is left out, if the file
** seems to be in a file system of user space (HPSQLITE_TEST=fs=fuse): it has no
** holes, where the file system tells.
*/
static void testHoles(const char *zPragmas){
  sqlite3 *db;
  Text sql = {0,0,0};
  int i, fd, nReserved = 0;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  runOn(&ours, db, zPragmas);
  makeTables(&ours, db, 8);
  for(i=0; i<40; i++){
    textClear(&sql);
    writeTransaction(&sql, 8, i);
    writeSome(&sql, 8, i);
    runOn(&ours, db, sql.z);
    nReserved += integer(&ours, db, "PRAGMA freelist_count")>0;
  }
  check(nReserved>3, "%s: pages were reserved %d times", zPragmas, nReserved);
  fd = open(zFile, O_RDONLY);
  if( fd<0 ) exit(2);
  check(lseek(fd, 0, SEEK_HOLE)==lseek(fd, 0, SEEK_END), "%s: a hole at %lld",
        zPragmas, (sqlite3_int64)lseek(fd, 0, SEEK_HOLE));
  close(fd);
  checkIntegrity(&ours, db, zPragmas);
  sqlite3_close(db);
  textClear(&sql);
}

/* Nothing is reserved in a file of a VFS that the application brought */
static int otherOpen(
  sqlite3_vfs *p, const char *zName, sqlite3_file *pFile, int flags, int *pFlags
){
  sqlite3_vfs *pReal = p->pAppData;
  return pReal->xOpen(pReal, zName, pFile, flags, pFlags);
}
static void testOtherVfs(void){
  sqlite3_vfs *pReal = sqlite3_vfs_find(0);
  sqlite3_vfs vfs = *pReal;
  int k;
  vfs.zName = "other";
  vfs.pAppData = pReal;
  vfs.xOpen = otherOpen;
  sqlite3_vfs_register(&vfs, 0);
  for(k=0; k<2; k++){
    sqlite3 *db = 0;
    int i;
    sqlite3_int64 n;
    removeDb(zFile);
    sqlite3_open_v2(zFile, &db, SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE,
                    k ? "other" : 0);
    runOn(&ours, db, "PRAGMA page_size=1024; PRAGMA journal_mode=wal;"
                      "PRAGMA hp_extent=20");
    makeTables(&ours, db, 4);
    for(i=0; i<4; i++){
      runOn(&ours, db, "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1"
        " FROM n WHERE k<1000) INSERT INTO t1(a,b) SELECT k,zeroblob(60) FROM n;"
        "INSERT INTO t3(a,b) SELECT a,b FROM t1");
    }
    n = integer(&ours, db, "PRAGMA freelist_count");
    check(k ? n==0 : n>0, "%s VFS: %lld free pages", k ? "other" : "own", n);
    sqlite3_close(db);
  }
  sqlite3_vfs_unregister(&vfs);
}

int main(int argc, char **argv){
  static const char *const azPragmas[] = {
    "PRAGMA page_size=512; PRAGMA auto_vacuum=incremental",
    "PRAGMA page_size=1024; PRAGMA cache_size=10",
    "PRAGMA page_size=1024; PRAGMA auto_vacuum=incremental;"
      "PRAGMA cache_size=10; PRAGMA wal_autocheckpoint=20",
    "PRAGMA page_size=4096",
    "PRAGMA page_size=4096; PRAGMA hp_extent=50; PRAGMA wal_autocheckpoint=0",
    "PRAGMA page_size=1024; PRAGMA hp_extent=7; PRAGMA auto_vacuum=incremental",
    "PRAGMA page_size=16384; PRAGMA hp_extent=5",
    "PRAGMA page_size=65536; PRAGMA hp_extent=3; PRAGMA cache_size=20",
    "PRAGMA page_size=1024; PRAGMA auto_vacuum=full",
  };
  unsigned i;
  if( argc!=2 || loadStock(&stock, argv[1]) ){
    fprintf(stderr, "usage: log STOCK\n");
    return 2;
  }
  zFile = temporaryFile("log.db");
  zOther = temporaryFile("log-other.db");
  testGrowth("PRAGMA page_size=512; PRAGMA wal_autocheckpoint=50", 3000, 1);
  testGrowth("PRAGMA page_size=1024; PRAGMA wal_autocheckpoint=20", 12000, 10);
  testGrowth("PRAGMA page_size=4096; PRAGMA cache_size=10", 24000, 600);
  testGrowth("PRAGMA page_size=1024; PRAGMA locking_mode=exclusive", 12000, 40);
  for(i=0; i<sizeof(azPragmas)/sizeof(azPragmas[0]); i++){
    testRandom(&ours, azPragmas[i], 1 + (i*3)%8, 150);
  }
  testRandom(&stock, azPragmas[0], 8, 60);
  testAlone();
  testHoles("PRAGMA page_size=4096; PRAGMA hp_extent=40");
  testHoles("PRAGMA page_size=8192; PRAGMA hp_extent=20; PRAGMA cache_size=10");
  testHoles("PRAGMA page_size=4096; PRAGMA auto_vacuum=incremental;"
            "PRAGMA synchronous=off; PRAGMA journal_mode=persist");
  testOtherVfs();
  /* The page of the lock byte is moved down among the others */
  iLockByte = 300*1024;
  ours.control(SQLITE_TESTCTRL_PENDING_BYTE, iLockByte);
  stock.control(SQLITE_TESTCTRL_PENDING_BYTE, iLockByte);
  testRandom(&ours, azPragmas[1], 5, 100);
  testHoles("PRAGMA page_size=1024; PRAGMA hp_extent=50");
  removeDb(zFile);
  return finish();
}
