/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Columns in memory and shared pages hold in every state of a file, or are dropped:
** the rules of hp_filestate.c.
**
** Run with HPSQLITE_TEST=force,columns=force, so that each scan keeps what it reads,
** and with columns=tiny, where few pages of commits can be noted.  Each query is run
** by the executor and by SQLite's code in the same transaction.  Other processes
** are this program, called with a file and SQL.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

static const char *zSelf;
static const char zKept[] = "runs of leaves whose columns were in memory";

/* Are columns kept later than at once, or only some of them? */
static int isTiny(void){
  const char *z = getenv("HPSQLITE_TEST");
  return z==0 || strstr(z, "columns=force")==0;
}

static const char zTable[] =
  "CREATE TABLE t(x INTEGER, s TEXT);"
  "CREATE TABLE u(y, z);"
  "INSERT INTO u VALUES(1, 2);"
  "INSERT INTO t SELECT 1000000+value, printf('%050d', value) FROM " SERIES("20000") ";";

static const char *const azScan[] = {
  "SELECT count(x), sum(x), max(s) FROM t",
  "SELECT count(x), sum(x) FROM t WHERE rowid>=1",
  "SELECT count(*), max(x), min(x) FROM t WHERE x>1",
  "SELECT count(*) FROM t",
};
#define N_SCAN ((int)(sizeof(azScan)/sizeof(azScan[0])))

/* In another process: do zSql.  "pads": with sectors that a power failure may damage.
** "die": end without closing anything */
static int child(const char *zFile, const char *zHow, const char *zSql){
  char zUri[500];
  sqlite3 *db;
  int rc;
  sqlite3_snprintf(sizeof(zUri), zUri, "file:%s?psow=%d", zFile,
                   strcmp(zHow, "pads")!=0);
  db = openDb(&ours, zUri, SQLITE_OPEN_URI);
  sqlite3_busy_timeout(db, 5000);
  rc = sqlite3_exec(db, zSql, 0, 0, 0);
  if( rc ) fprintf(stderr, "%s: %s\n", zSql, sqlite3_errmsg(db));
  if( strcmp(zHow, "die")==0 ) _exit(rc!=0);
  sqlite3_close(db);
  return rc!=0;
}
static void other(const char *zFile, const char *zHow, const char *zSql){
  int status = -1;
  pid_t pid = fork();
  if( pid==0 ){
    execl(zSelf, zSelf, zFile, zHow, zSql, (char*)0);
    _exit(3);
  }
  waitpid(pid, &status, 0);
  check(status==0, "another process fails with %d: %s", status, zSql);
}

static sqlite3 *opened(const char *zFile){
  sqlite3 *db = openDb(&ours, zFile, SQLITE_OPEN_URI);
  sqlite3_busy_timeout(db, 5000);
  return db;
}

/* A fresh file with the table, and a connection to it */
static sqlite3 *made(const char *zFile, const char *zPragmas){
  return freshDb(opened, zFile, zPragmas, zTable);
}

/* Query i gives nTimes what SQLite's code gives */
static void sameScan(
  sqlite3 *db,
  int i,
  int nTimes,
  const char *zMode,
  const char *zWhat
){
  char z[300];
  sqlite3_snprintf(sizeof(z), z, "%s, %s", zMode, zWhat);
  sameAnswer(db, azScan[i], nTimes, z);
}

/* All of them, now and once more */
static void same(sqlite3 *db, const char *zMode, const char *zWhat){
  int i;
  execute(db, "BEGIN");
  for(i=0; i<N_SCAN; i++) sameScan(db, i, 2, zMode, zWhat);
  execute(db, "ROLLBACK");
}

/* How many runs does the first query find? */
static sqlite3_int64 found(sqlite3 *db){
  sqlite3_int64 n = counted(db, zKept);
  integer(&ours, db, azScan[0]);
  return counted(db, zKept)-n;
}

/* Two files of a VFS that knows no inodes */
static void testTwoFiles(const char *zVfs){
  sqlite3 *aDb[2];
  int i, k;
  for(i=0; i<2; i++){
    char zUri[400], zSql[60];
    const char *zFile = temporaryFile(i ? "two1.db" : "two2.db");
    removeDb(zFile);
    sqlite3_snprintf(sizeof(zUri), zUri, "file:%s?vfs=%s", zFile, zVfs);
    aDb[i] = opened(zUri);
    execute(aDb[i], zTable);
    sqlite3_snprintf(sizeof(zSql), zSql, "UPDATE t SET x=x+%d", 1+i*1000000);
    execute(aDb[i], zSql);
  }
  for(k=0; k<3; k++){
    for(i=0; i<2; i++) same(aDb[i], zVfs, "one of two files");
  }
  check(found(aDb[0])==0, "%s: nothing is kept", zVfs);
  execute(aDb[0], "PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal");
  for(k=0; k<3; k++){
    execute(aDb[0], "UPDATE t SET x=x+1 WHERE rowid%99=5");
    same(aDb[0], zVfs, "with a WAL and an exclusive lock");
  }
  for(i=0; i<2; i++) sqlite3_close(aDb[i]);
}

/* With an exclusive lock, in all journal modes: commits, rollbacks, spilled pages */
static void testExclusive(const char *zMode, int bFirst){
  const char *zFile = temporaryFile("exclusive.db");
  int bOff = strcmp(zMode, "off")==0;
  char zSql[80];
  sqlite3 *db = made(zFile, "PRAGMA page_size=1024");
  int k;
  if( bFirst ) execute(db, "PRAGMA locking_mode=exclusive");
  sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA journal_mode=%s", zMode);
  execute(db, zSql);
  same(db, zMode, "as made");
  execute(db, "PRAGMA locking_mode=exclusive");
  execute(db, "UPDATE u SET y=2");
  same(db, zMode, "exclusive now");
  if( !bOff ){
    execute(db, "UPDATE t SET x=x+1 WHERE rowid=777");
    check(found(db)>0 || isTiny(), "%s: an exclusive lock keeps columns", zMode);
  }
  for(k=0; k<3; k++){
    execute(db, "UPDATE t SET x=x+1 WHERE rowid%50=7");
    same(db, zMode, "some rows");
    execute(db, "BEGIN; UPDATE t SET x=x+5; ROLLBACK");
    same(db, zMode, "rolled back");
    execute(db, "INSERT INTO t SELECT x+20000, s FROM t WHERE rowid%7=1");
    same(db, zMode, "appended");
    if( !bOff ){
      execute(db, "BEGIN; UPDATE t SET x=x+1 WHERE rowid%60=1; SAVEPOINT a;"
                  "DELETE FROM t WHERE rowid%5=1; ROLLBACK TO a; COMMIT");
      same(db, zMode, "a savepoint");
    }
    execute(db, "UPDATE t SET x=x+1");
    same(db, zMode, "all rows");
    if( k==0 ) execute(db, "PRAGMA cache_size=10");
    if( k==1 ) execute(db, "VACUUM");
  }
  if( strcmp(zMode, "wal")==0 ){
    execute(db, "PRAGMA wal_checkpoint(truncate); UPDATE t SET x=x+1 WHERE rowid=5");
    same(db, zMode, "after a checkpoint");
  }
  execute(db, "PRAGMA locking_mode=normal; SELECT count(*) FROM u");
  same(db, zMode, "normal again");
  execute(db, "UPDATE t SET x=x+1");
  same(db, zMode, "normal again, all rows");
  sqlite3_close(db);
}

/* Commits that nobody looks at before the lock is given back.  They are not counted */
static void testUnseen(const char *zMode){
  const char *zFile = temporaryFile("unseen.db");
  char zSql[80];
  sqlite3 *db = made(zFile, "PRAGMA page_size=1024");
  sqlite3 *db2 = opened(zFile);
  sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA journal_mode=%s", zMode);
  same(db, zMode, "as made");
  same(db2, zMode, "as made, another connection");
  execute(db, "PRAGMA locking_mode=exclusive");
  execute(db, zSql);
  execute(db, "PRAGMA cache_size=20; UPDATE u SET y=2; UPDATE t SET x=x+1");
  execute(db, "PRAGMA locking_mode=normal; SELECT count(*) FROM u");
  same(db2, zMode, "what an exclusive lock has hidden, another connection");
  same(db, zMode, "what an exclusive lock has hidden");
  sqlite3_close(db2);
  sqlite3_close(db);
}

/*
** More pages than are noted, without a change of the counter: with columns=tiny these are 500, and
** columns of the last rows of t have room.  Between two scans there are one or two commits: the last
** one changes rows of t.
*/
static void testMany(const char *zFirst, const char *zSecond){
  static const char zLast[] = "SELECT count(x), sum(x) FROM t WHERE rowid>17000";
  const char *zFile = temporaryFile("many.db");
  sqlite3 *db = made(zFile, "PRAGMA page_size=512; PRAGMA journal_mode=truncate");
  sqlite3_int64 n = 0;
  int k;
  execute(db, "CREATE TABLE b(x, s); INSERT INTO b SELECT * FROM t");
  same(db, "many pages", "as made");
  execute(db, "PRAGMA locking_mode=exclusive; UPDATE u SET y=2");
  for(k=0; k<6; k++){
    n = counted(db, zKept);
    integer(&ours, db, zLast);
  }
  check(counted(db, zKept)>n, "many pages: there are columns that the commits change");
  execute(db, zFirst);
  execute(db, zSecond);
  sameAnswer(db, zLast, 2, zSecond);
  for(k=0; k<4; k++){
    execute(db, zFirst);
    execute(db, zSecond);
  }
  execute(db, "PRAGMA locking_mode=normal");
  same(db, "many pages", "after them");
  sqlite3_close(db);
}

/*
** Without memory to note the pages of a commit, or in the scan that comes after it.  Each time with a
** new connection: what is known of the file has no memory for that yet.
*/
static void testFaults(const char *zMode){
  const char *zFile = temporaryFile("faults.db");
  char zSql[80];
  sqlite3 *db;
  int bFull = longRun();
  int i, nNone = 0;
  failMemory(1);
  fault.nLeft = -1;
  db = made(zFile, "PRAGMA page_size=1024");
  sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA journal_mode=%s", zMode);
  execute(db, zSql);
  execute(db, "DELETE FROM t WHERE rowid>4000");
  for(i=0; i<800 && nNone<4; i++){
    sqlite3_close(db);
    db = opened(zFile);
    execute(db, zSql);
    execute(db, "PRAGMA locking_mode=exclusive");
    integer(&ours, db, azScan[1]);
    fault.nFailed = 0;
    fault.bForEver = bFull && i%4>1;
    if( i%2==0 ) fault.nLeft = i/(bFull ? 4 : 2);
    sqlite3_exec(db, "UPDATE t SET x=x+1 WHERE rowid%90=1", 0, 0, 0);
    fault.nLeft = -1;
    if( !sqlite3_get_autocommit(db) ) execute(db, "ROLLBACK");
    if( i%2 ) fault.nLeft = i/(bFull ? 4 : 2);
    sqlite3_exec(db, azScan[1], 0, 0, 0);
    fault.nLeft = -1;
    nNone = fault.nFailed ? 0 : nNone+1;
    sameScan(db, 1, 1, zMode, "after a fault");
  }
  same(db, zMode, "after all faults");
  check(i>20 && i<800, "%s: all allocations have failed once: %d", zMode, i);
  sqlite3_close(db);
  failMemory(0);
}

/*
** journal_mode=OFF: a ROLLBACK leaves what was written, as the table does not fit into the page
** cache.  The counter stays, so other connections keep their pages: they are not asked.
*/
static void testOff(void){
  const char *zFile = temporaryFile("off.db");
  sqlite3 *db = made(zFile, "PRAGMA page_size=1024");
  sqlite3 *db2;
  execute(db, "INSERT INTO t SELECT x+20000, s FROM t; INSERT INTO t SELECT x+40000, s FROM t");
  same(db, "off", "as made");
  execute(db, "PRAGMA journal_mode=off; BEGIN; UPDATE t SET x=x+1; ROLLBACK");
  same(db, "off", "rolled back");
  db2 = opened(zFile);
  same(db2, "off", "rolled back, another connection");
  execute(db, "UPDATE t SET x=x+1");
  same(db2, "off", "committed");
  sqlite3_close(db2);
  sqlite3_close(db);
}

/* What is known of a page above leaves goes with it, though no runs are there any more */
static void testInner(const char *zMode){
  const char *zFile = temporaryFile("inner.db");
  char zSql[80];
  sqlite3 *db;
  sqlite3_int64 n;
  int k;
  removeDb(zFile);
  db = opened(zFile);
  sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA journal_mode=%s", zMode);
  execute(db, zSql);
  execute(db, "CREATE TABLE t(x INTEGER, s TEXT);"
      "INSERT INTO t SELECT value, printf('%0900d', value) FROM " SERIES("2829"));
  for(k=0; k<5; k++) integer(&ours, db, azScan[0]);
  execute(db, "UPDATE t SET x=x+1");
  integer(&ours, db, azScan[0]);
  execute(db, "INSERT INTO t SELECT value, printf('%0900d', value) FROM " SERIES("40"));
  for(k=0; k<5; k++) integer(&ours, db, azScan[1]);
  same(db, zMode, "leaves were appended");
  n = counted(db, "given back: other");
  for(k=0; k<4; k++){
    execute(db, "UPDATE t SET x=x+1");
    integer(&ours, db, azScan[0]);
    execute(db, "INSERT INTO t SELECT value, printf('%0900d', value) FROM " SERIES("90"));
    integer(&ours, db, azScan[0]);
    integer(&ours, db, azScan[0]);
  }
  check(counted(db, "given back: other")==n, "%s: no scan is given back", zMode);
  same(db, zMode, "many leaves were appended");
  sqlite3_close(db);
}

/* Another process commits with padding frames, and begins the WAL anew */
static void testPadding(void){
  const char *zFile = temporaryFile("padding.db");
  sqlite3 *db = made(zFile, "PRAGMA page_size=4096; PRAGMA journal_mode=wal");
  sqlite3_int64 n;
  execute(db, "PRAGMA wal_checkpoint(truncate)");
  other(zFile, "pads", "PRAGMA synchronous=full; UPDATE u SET y=2; UPDATE u SET y=3");
  same(db, "padding", "as made");
  other(zFile, "pads", "PRAGMA synchronous=full; UPDATE t SET x=x+1000 WHERE rowid=777;"
                   "PRAGMA wal_checkpoint; INSERT INTO u SELECT s, 1 FROM t LIMIT 400");
  same(db, "padding", "a commit that nobody has seen");
  other(zFile, "pads", "PRAGMA synchronous=full; UPDATE t SET x=x+1000 WHERE rowid=888;"
                   "UPDATE t SET x=x+1000 WHERE rowid=888;"
                   "PRAGMA wal_checkpoint; INSERT INTO u SELECT s, 2 FROM t LIMIT 400;"
                   "UPDATE u SET y=5 WHERE rowid<3; UPDATE u SET y=6 WHERE rowid<3");
  same(db, "padding", "several ones");
  /* Commits of one page that are not the same are counted */
  execute(db, "PRAGMA wal_checkpoint");
  n = found(db);
  other(zFile, "pads", "PRAGMA synchronous=normal; UPDATE u SET y=7 WHERE rowid=1;"
                   "UPDATE u SET y=8 WHERE rowid=1; UPDATE u SET y=9 WHERE rowid=1");
  check(found(db)>=n || isTiny(), "padding: nothing was missed, %lld were found", n);
  same(db, "padding", "commits of the same page");
  sqlite3_close(db);
}

/* A process dies with the header of a new WAL written, and the wal-index is made anew */
static void testRecovered(void){
  const char *zFile = temporaryFile("recovered.db");
  const char *zShm = temporaryFile("recovered.db-shm");
  sqlite3 *db;
  FILE *pShm;
  unsigned char a[96];
  size_t n;
  sqlite3_close(made(zFile, "PRAGMA page_size=1024; PRAGMA journal_mode=wal"));
  db = opened(zFile);
  same(db, "recovered", "nothing has been counted");
  other(zFile, "die", "UPDATE t SET x=x+7 WHERE rowid=777; PRAGMA wal_checkpoint;"
                      "PRAGMA cache_size=5; BEGIN; UPDATE t SET x=x+9 WHERE rowid>9000");
  /* As if it had died while it wrote the header of the wal-index */
  pShm = fopen(zShm, "r+b");
  n = pShm ? fread(a, 1, sizeof(a), pShm) : 0;
  check(n==sizeof(a), "there is a wal-index");
  a[20] ^= 0x55;
  if( pShm ){
    rewind(pShm);
    fwrite(a, 1, sizeof(a), pShm);
    fclose(pShm);
  }
  other(zFile, "", "UPDATE t SET s=s||'!' WHERE rowid>15000");
  same(db, "recovered", "a commit was missed, and the count began anew");
  sqlite3_close(db);
}

/* The sum of x of rows that SQLite's code looks up one by one, twice: their pages
** are shared */
static sqlite3_int64 lookedUp(sqlite3 *db){
  static const char zSql[] = "SELECT sum((SELECT x FROM t WHERE rowid=value)) FROM "
                             SERIES("9000");
  sqlite3_int64 n;
  execute(db, "PRAGMA hp_offload=off; PRAGMA cache_size=10");
  n = integer(&ours, db, zSql);
  check(integer(&ours, db, zSql)==n, "the same rows again");
  execute(db, "PRAGMA hp_offload=force");
  return n;
}

/* Another file is copied over this one.  It has the same counter */
static void testOverwritten(const char *zMode, int bAlike){
  const char *zFile = temporaryFile("live.db");
  const char *zNew = temporaryFile("new.db");
  sqlite3_int64 nSum, nNew, nNewLook;
  unsigned char *a;
  char zSql[80];
  sqlite3 *db, *db2;
  FILE *p;
  int n;
  sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA page_size=1024; PRAGMA journal_mode=%s", zMode);
  db = made(zNew, zSql);
  execute(db, bAlike ? "UPDATE t SET x=x+1000" : "INSERT INTO t SELECT x+1000, s FROM t");
  nNew = integer(&ours, db, "SELECT sum(x) FROM t");
  nNewLook = lookedUp(db);
  sqlite3_close(db);
  db = made(zFile, zSql);
  execute(db, bAlike ? "UPDATE t SET x=x+1" : "INSERT INTO t SELECT x+1, s FROM t");
  execute(db, "PRAGMA wal_checkpoint(truncate)");
  nSum = integer(&ours, db, "SELECT sum(x) FROM t");
  same(db, zMode, "a file that is going to be replaced");
  check((lookedUp(db)!=nNewLook)==bAlike, "%s: other rows", zMode);
  check(nNew!=nSum, "%s: they are different", zMode);
  usleep(30000);         /* The clock that files have goes in steps */
  a = readFile(zNew, &n);
  p = fopen(zFile, "r+b");
  check(p!=0 && fwrite(a, 1, (size_t)n, p)==(size_t)n, "%s: it is overwritten", zMode);
  if( p ) fclose(p);
  free(a);
  db2 = opened(zFile);
  check(integer(&ours, db2, "SELECT sum(x) FROM t")==nNew, "%s: a new connection sees the new file", zMode);
  check(lookedUp(db2)==nNewLook, "%s: a new connection looks up the new rows", zMode);
  check(integer(&ours, db, "SELECT sum(x)+0 FROM t")==nNew, "%s: an old one, too", zMode);
  check(integer(&ours, db2, "SELECT sum(x)+0 FROM t")==nNew, "%s: and again", zMode);
  sqlite3_close(db2);
  sqlite3_close(db);
}

/* Somebody forgets what is kept of a file that others use */
static void testForgotten(const char *zMode){
  const char *zFile = temporaryFile("forgotten.db");
  char zSql[80];
  sqlite3 *db, *db2;
  sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA page_size=1024; PRAGMA journal_mode=%s", zMode);
  db = made(zFile, zSql);
  db2 = opened(zFile);
  same(db, zMode, "as made");
  same(db2, zMode, "as made, another connection");
  check(sqlite3_file_control(db2, "main", SQLITE_FCNTL_RESET_CACHE, 0)==SQLITE_OK, "the cache is reset");
  check(found(db)==0, "%s: nothing is left", zMode);
  execute(db2, "UPDATE t SET x=x+1 WHERE rowid%90=1");
  same(db, zMode, "and then written");
  same(db2, zMode, "and read by others");
  execute(db, "UPDATE t SET x=x+1 WHERE rowid=77");
  check(found(db2)>0 || isTiny(), "%s: all have the same again", zMode);
  sqlite3_close(db2);
  sqlite3_close(db);
}

int main(int argc, char **argv){
  zSelf = argv[0];
  if( argc==4 ) return child(argv[1], argv[2], argv[3]);
  testTwoFiles("unix-dotfile");
  testTwoFiles("unix-none");
  testExclusive("delete", 0);
  testExclusive("truncate", 1);
  testExclusive("persist", 0);
  testExclusive("memory", 0);
  testExclusive("off", 0);
  testExclusive("wal", 0);
  testExclusive("wal", 1);
  testUnseen("off");
  testUnseen("delete");
  /* One commit, two together, and one of another table */
  testMany("", "UPDATE t SET x=x+1 WHERE rowid%7=1");
  testMany("UPDATE b SET x=x+1 WHERE rowid%60=1", "UPDATE t SET x=x+1 WHERE rowid%60=7");
  testMany("UPDATE b SET x=x+1", "UPDATE t SET x=x+1 WHERE rowid%300=7");
  testFaults("delete");
  testFaults("off");
  testFaults("wal");
  testOff();
  testInner("delete");
  testInner("wal");
  testPadding();
  testRecovered();
  testOverwritten("delete", 0);
  testOverwritten("delete", 1);
  testOverwritten("wal", 1);
  testForgotten("delete");
  testForgotten("wal");
  return finish();
}
