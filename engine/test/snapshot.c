/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** What a connection has in its page cache after others have committed is what the file has:
** the rules of hp_snapshot.c.
**
** Several connections change one file in WAL mode by all means that SQLite has, some of them in
** processes of their own, which die at times.  After each change one of the others must see what a
** connection sees that has just been opened.  All of it is read by SQLite's own code, page by page.
*/
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

static const char zKept[] = "page cache kept: another connection had committed";
static const char zDropped[] = "page cache dropped: another connection had committed";
static const char *zSelf;

/* Everything that a file of these tests holds, found by the tables and by their indexes */
static const char *const azAll[] = {
  "SELECT group_concat(rowid || '=' || ifnull(a, 'null') || quote(substr(b, 1, 20)) || length(b)) FROM"
  " (SELECT * FROM t ORDER BY rowid)",
  "SELECT group_concat(a || '/' || rowid) FROM (SELECT a, rowid FROM t INDEXED BY ta ORDER BY a, rowid)",
  "SELECT group_concat(name || rootpage || sql) FROM sqlite_schema",
  "SELECT sum(length(c)) || min(c) || max(c) FROM u",
  "PRAGMA integrity_check",
  "PRAGMA page_count",
  "PRAGMA freelist_count",
};
#define N_ALL ((int)(sizeof(azAll)/sizeof(azAll[0])))

static unsigned iSeed;
static int chance(int n){
  iSeed = iSeed*1103515245u + 12345u;
  return (int)((iSeed>>16)%(unsigned)n);
}

static sqlite3 *opened(const char *zFile){
  sqlite3 *db = openDb(&ours, zFile, 0);
  sqlite3_busy_timeout(db, 10000);
  execute(db, "PRAGMA hp_offload=off");
  return db;
}

static sqlite3 *made(const char *zFile, const char *zPragmas){
  return freshDb(opened, zFile, zPragmas,
      "PRAGMA journal_mode=wal; CREATE TABLE t(a, b); CREATE INDEX ta ON t(a);"
      "CREATE TABLE u(c); INSERT INTO u VALUES(zeroblob(9000)), ('some'), (1.5);"
      "INSERT INTO t SELECT value%97, hex(zeroblob(value%150)) FROM " SERIES("1500"));
}

/* All of a file, as db sees it */
static void all(sqlite3 *db, Text *pOut){
  int i;
  for(i=0; i<N_ALL; i++) answer(&ours, db, azAll[i], pOut);
}

/* Does db see what a connection sees that is opened now? */
static void same(sqlite3 *db, const char *zFile, const char *zWhat){
  Text seen = {0,0,0};
  Text right = {0,0,0};
  sqlite3 *dbNew = opened(zFile);
  all(db, &seen);
  all(dbNew, &right);
  check(strcmp(seen.z, right.z)==0, "after %s a cache is stale:\n %.300s\n %.300s", zWhat, seen.z, right.z);
  sqlite3_close(dbNew);
  textClear(&seen);
  textClear(&right);
}

/* Changes that one connection makes; %d are small random numbers */
static const char *const azChange[] = {
  "INSERT INTO t SELECT %d+value, hex(zeroblob(%d)) FROM " SERIES("20"),
  "INSERT INTO t VALUES(%d, %d)",
  "DELETE FROM t WHERE a=%d AND rowid%%3=%d%%3",
  "DELETE FROM t WHERE rowid%%40=%d",
  "UPDATE t SET b=b||'x' WHERE a=%d",
  "UPDATE t SET a=a+%d WHERE rowid%%50=%d",
  "UPDATE u SET c=zeroblob(%d*100) WHERE typeof(c)='blob'",
  "BEGIN; DELETE FROM t WHERE rowid%%9=%d; ROLLBACK",
  "BEGIN; UPDATE t SET a=%d; SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; UPDATE t SET a=rowid%%97; COMMIT",
  "BEGIN; DELETE FROM t WHERE rowid>400+%d; INSERT INTO t SELECT value, 'again' FROM " SERIES("50") "; COMMIT",
  "CREATE TABLE IF NOT EXISTS v%d(x); INSERT INTO v%d VALUES(1)",
  "DROP TABLE IF EXISTS v%d",
  "REINDEX ta",
  "PRAGMA incremental_vacuum(%d)",
  "PRAGMA wal_checkpoint(passive)",
  "PRAGMA wal_checkpoint(restart)",
  "PRAGMA wal_checkpoint(truncate)",
  "PRAGMA cache_size=%d",
  "PRAGMA user_version=%d",
  "PRAGMA shrink_memory",
  "SELECT count(*) FROM t WHERE a=%d",
};
#define N_CHANGE ((int)(sizeof(azChange)/sizeof(azChange[0])))

static void change(char *zSql, int nSql){
  const char *z = azChange[chance(N_CHANGE)];
  int n = 1+chance(96);
  sqlite3_snprintf(nSql, zSql, z, n, n);
}

/* This program, called to do SQL in a process of its own, which ends without closing anything if
** bDie, and is killed at some time if bKill */
static void other(const char *zFile, const char *zSql, int bDie, int bKill){
  int status = -1;
  pid_t pid = fork();
  if( pid==0 ){
    execl(zSelf, zSelf, zFile, bDie ? "die" : "end", zSql, (char*)0);
    _exit(3);
  }
  if( bKill ){
    usleep(2000+500*chance(100));
    kill(pid, SIGKILL);
  }
  waitpid(pid, &status, 0);
  check(bKill || status==0, "another process fails with %d: %s", status, zSql);
}
static int child(const char *zFile, const char *zHow, const char *zSql){
  sqlite3 *db = opened(zFile);
  int rc = sqlite3_exec(db, zSql, 0, 0, 0);
  if( rc ) fprintf(stderr, "%s: %s\n", zSql, sqlite3_errmsg(db));
  if( strcmp(zHow, "die")==0 ) _exit(rc!=0);
  sqlite3_close(db);
  return rc!=0;
}

/*
** Changes of all kinds by five connections, of which three have a cache for the whole file, and by
** other processes.
*/
static void testChanges(int iRun, const char *zPragmas){
  const char *zFile = temporaryFile("changes.db");
  sqlite3 *aDb[5];
  sqlite3_int64 nKept = 0, nDropped = 0;
  int i;
  iSeed = (unsigned)iRun;
  aDb[0] = made(zFile, zPragmas);
  for(i=1; i<5; i++) aDb[i] = opened(zFile);
  execute(aDb[3], "PRAGMA cache_size=12");
  execute(aDb[4], "PRAGMA cache_size=40; PRAGMA cache_spill=5");
  for(i=0; i<(longRun() ? 1500 : 150); i++){
    char zSql[300];
    int k = chance(5);
    int bOther = chance(12)==0;
    change(zSql, sizeof(zSql));
    if( bOther ){
      other(zFile, zSql, chance(2), 0);
    }else if( chance(40)==0 ){
      execute(aDb[k], "VACUUM");
    }else{
      int rc = sqlite3_exec(aDb[k], zSql, 0, 0, 0);
      check(rc==SQLITE_OK, "%s: %s", zSql, sqlite3_errmsg(aDb[k]));
    }
    same(aDb[chance(5)], zFile, zSql);
    if( chance(4)==0 ) same(aDb[k], zFile, zSql);
  }
  for(i=0; i<5; i++){
    same(aDb[i], zFile, "all changes");
    nKept += counted(aDb[i], zKept);
    nDropped += counted(aDb[i], zDropped);
    sqlite3_close(aDb[i]);
  }
  check(nKept>20 && nDropped>5, "%s: caches are kept %lld times, and dropped %lld times", zPragmas,
        nKept, nDropped);
}

/* A process that commits is killed, so the wal-index has to be made anew at times */
static void testKilled(void){
  const char *zFile = temporaryFile("killed.db");
  sqlite3 *db = made(zFile, "PRAGMA page_size=1024");
  sqlite3 *db2 = opened(zFile);
  int i;
  iSeed = 5;
  for(i=0; i<(longRun() ? 200 : 15); i++){
    other(zFile, "WITH RECURSIVE k(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM k WHERE x<300)"
          " SELECT x FROM k; UPDATE t SET a=a+1 WHERE rowid%7=1; UPDATE t SET a=a+1 WHERE rowid%7=2;"
          "UPDATE t SET b=b||'k' WHERE rowid%7=3; UPDATE t SET a=a+1 WHERE rowid%7=4;"
          "INSERT INTO t SELECT value, 'killed' FROM " SERIES("30") "; DELETE FROM t WHERE rowid%31=5;"
          "UPDATE t SET a=a+1 WHERE rowid%7=1; UPDATE t SET a=a+1 WHERE rowid%7=2;", 0, 1);
    same(db, zFile, "a process was killed");
    if( i%3==0 ) execute(db2, "UPDATE t SET a=a+1 WHERE rowid%50=7");
    same(db2, zFile, "a process was killed, second connection");
  }
  sqlite3_close(db2);
  sqlite3_close(db);
}

/* Kept where it pays, and only where it is right */
static void testKept(void){
  static const struct { const char *zPragmas, *zChange; int bKept; } aCase[] = {
    { "", "UPDATE t SET a=5 WHERE rowid=7", 1 },
    { "", "INSERT INTO u VALUES(1)", 1 },
    { "", "DELETE FROM t WHERE rowid>1400", 1 },
    { "PRAGMA auto_vacuum=full", "DELETE FROM t WHERE rowid>900", 1 },
    { "", "VACUUM", 1 },
    { "", "PRAGMA wal_checkpoint(truncate); UPDATE t SET a=5 WHERE rowid=7", 0 },
    { "PRAGMA page_size=512", "UPDATE t SET b=b||zeroblob(200000) WHERE rowid<90", 0 },
  };
  int i, k;
  for(i=0; i<(int)(sizeof(aCase)/sizeof(aCase[0])); i++){
    const char *zFile = temporaryFile("kept.db");
    sqlite3 *db = made(zFile, aCase[i].zPragmas);
    sqlite3 *db2 = opened(zFile);
    sqlite3_int64 iVersion = integer(&ours, db2, "PRAGMA data_version");
    same(db2, zFile, "making it");
    execute(db, aCase[i].zChange);
    same(db2, zFile, aCase[i].zChange);
    check((counted(db2, zKept)>0)==aCase[i].bKept, "%s: the cache is %s", aCase[i].zChange,
          aCase[i].bKept ? "kept" : "dropped");
    check(integer(&ours, db2, "PRAGMA data_version")!=iVersion, "%s shows in data_version", aCase[i].zChange);
    sqlite3_close(db2);
    sqlite3_close(db);
  }
  for(k=0; k<3; k++){
    static const char *const azOff[] = { "PRAGMA mmap_size=1000000000", "PRAGMA cache_size=0", "" };
    const char *zFile = temporaryFile("off.db");
    sqlite3 *db = made(zFile, "");
    sqlite3 *db2;
    if( k==2 ) execute(db, "PRAGMA journal_mode=delete");
    db2 = opened(zFile);
    execute(db2, azOff[k]);
    same(db2, zFile, "making it");
    execute(db, "UPDATE t SET a=5 WHERE rowid=7");
    same(db2, zFile, azOff[k]);
    check(counted(db2, zKept)==0, "nothing is kept with %s", k==2 ? "a rollback journal" : azOff[k]);
    sqlite3_close(db2);
    sqlite3_close(db);
  }
}

/* A backup that is under way copies what others change, and ends with the file as it is */
static void testBackup(void){
  const char *zFile = temporaryFile("source.db");
  const char *zCopy = temporaryFile("copy.db");
  sqlite3 *db = made(zFile, ""), *db2 = opened(zFile), *dbCopy;
  sqlite3_backup *pBackup;
  Text a = {0,0,0}, b = {0,0,0};
  int i;
  removeDb(zCopy);
  dbCopy = opened(zCopy);
  all(db2, &a);
  pBackup = sqlite3_backup_init(dbCopy, "main", db2, "main");
  for(i=0; i<5; i++){
    sqlite3_backup_step(pBackup, 20);
    execute(db, "UPDATE t SET a=a+1 WHERE rowid%50=3");
    integer(&ours, db2, "SELECT count(*) FROM t WHERE a=5");
  }
  check(sqlite3_backup_step(pBackup, -1)==SQLITE_DONE, "a backup ends");
  sqlite3_backup_finish(pBackup);
  textClear(&a);
  all(db2, &a);
  all(dbCopy, &b);
  check(strcmp(a.z, b.z)==0, "a backup is what its source is");
  textClear(&a);
  textClear(&b);
  sqlite3_close(dbCopy);
  sqlite3_close(db2);
  sqlite3_close(db);
}

/*
** Threads move money between accounts.  All of it together stays the same, found by the table and by the
** index; and the log begins anew again and again, while others read what it lists.
*/
static int nAccountThread;
static void *accounts(void *pFile){
  sqlite3 *db = opened((const char*)pFile);
  int iThread = __atomic_fetch_add(&nAccountThread, 1, __ATOMIC_SEQ_CST);
  unsigned x = (unsigned)iThread*77u+1;
  int i;
  if( iThread%2 ) execute(db, "PRAGMA wal_autocheckpoint=20");
  for(i=0; i<(longRun() ? 4000 : 400); i++){
    char zSql[300];
    x = x*1103515245u + 12345u;
    sqlite3_snprintf(sizeof(zSql), zSql, "BEGIN IMMEDIATE; UPDATE account SET n=n-1 WHERE id=%d;"
        "UPDATE account SET n=n+1 WHERE id=%d; COMMIT", (x>>16)%3000, (x>>8)%3000);
    if( iThread<3 ) execute(db, zSql);
    if( iThread==0 && i%25==0 ) sqlite3_exec(db, "PRAGMA wal_checkpoint(restart)", 0, 0, 0);
    check(integer(&ours, db, "SELECT sum(n) FROM account NOT INDEXED")==300000, "all accounts together");
    if( i%3==0 ){
      check(integer(&ours, db, "SELECT sum(n) FROM account INDEXED BY an")==300000, "the same by the index");
    }
  }
  sqlite3_close(db);
  return 0;
}
static void testAccounts(void){
  const char *zFile = temporaryFile("accounts.db");
  pthread_t aThread[5];
  sqlite3 *db;
  int i;
  removeDb(zFile);
  db = opened(zFile);
  execute(db, "PRAGMA page_size=1024; PRAGMA journal_mode=wal; PRAGMA synchronous=off;"
              "CREATE TABLE account(id INTEGER PRIMARY KEY, n); CREATE INDEX an ON account(n);"
              "INSERT INTO account SELECT value-1, 100 FROM " SERIES("3000"));
  for(i=0; i<5; i++) pthread_create(&aThread[i], 0, accounts, (void*)zFile);
  for(i=0; i<5; i++) pthread_join(aThread[i], 0);
  checkIntegrity(&ours, db, "accounts");
  sqlite3_close(db);
}

/* snapshot [threads]: only the test with threads */
int main(int argc, char **argv){
  int i;
  if( argc==4 ) return child(argv[1], argv[2], argv[3]);
  zSelf = argv[0];
  if( argc==1 ){
    testKept();
    testBackup();
    for(i=1; i<=(longRun() ? 40 : 3); i++){
      testChanges(i, "");
      testChanges(i+100, "PRAGMA page_size=512; PRAGMA auto_vacuum=incremental");
      testChanges(i+200, "PRAGMA page_size=1024; PRAGMA auto_vacuum=full");
    }
    testKilled();
  }
  testAccounts();
  return finish();
}
