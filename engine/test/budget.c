/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** budget: what a statement has in memory at most, against PRAGMA hp_memory.
**
** Each query needs many times what it may have: a million groups, rows to be
** sorted, values of DISTINCT, first rows of partitions.  It runs in a process of
** its own, whose largest resident size the kernel tells.  What the same process
** takes for a query that keeps one group is subtracted: the library, SQLite's page
** cache, the buffers of the workers.  The rest has to be within the limit and what
** a batch may take beyond it.
**
** What is kept of files for later statements is an eighth of what the process may use,
** as the control groups say that it is in and all above them, and nothing where little
** memory is left.  That is asked of files as the kernel has them, in a folder.
**
** This one is linked with the library as it is installed: sanitizers need memory of
** their own.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

#define N_LIMIT (16*1024*1024)
#define N_ROW   1000000

static const char *zFile;

/* A query; what it does once it has used its memory up */
static const struct Case {
  const char *zSql;
  enum { SPILLS, DECLINES, EITHER } eEnd;
} aCase[] = {
  { "SELECT count(*) FROM (SELECT k, sum(id), min(id) FROM t GROUP BY k)", SPILLS },
  { "SELECT count(*) FROM (SELECT s, count(*), max(k) FROM t GROUP BY s)", SPILLS },
  { "SELECT count(*) FROM (SELECT k, s, avg(id) FROM t GROUP BY s, k)", SPILLS },
  { "SELECT count(*) FROM (SELECT k/4, group_concat(s ORDER BY id DESC) FROM t"
    " GROUP BY k/4)", EITHER },
  { "SELECT count(DISTINCT s) FROM t", DECLINES },
  { "SELECT k, s FROM t ORDER BY s DESC, k", SPILLS },
  { "SELECT * FROM (SELECT s, row_number() OVER (PARTITION BY k ORDER BY id) AS n"
    " FROM t) WHERE n<=1", SPILLS },
  { "SELECT DISTINCT s FROM t", EITHER },
  { "SELECT s FROM t ORDER BY k LIMIT 90000", EITHER },
};
#define N_CASE ((int)(sizeof(aCase)/sizeof(aCase[0])))

/*
** In a process of its own: make the table.
*/
static void fill(void){
  sqlite3 *db = openDb(&ours, zFile, SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE);
  char *zSql = sqlite3_mprintf(
      "PRAGMA synchronous=off;"
      "CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, s TEXT);"
      "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<%d)"
      " INSERT INTO t SELECT x, x*7919%%%d, 'key '||(x*104729%%%d) FROM c;",
      N_ROW, N_ROW+1, N_ROW+9);
  execute(db, zSql);
  sqlite3_free(zSql);
  sqlite3_close(db);
}

/*
** In a process of its own: run zSql with nThread workers.  Returns 0 if all went
** as pCase says.
*/
static int query(const char *zSql, int nThread, const struct Case *pCase){
  sqlite3 *db = openDb(&ours, zFile, SQLITE_OPEN_READWRITE);
  sqlite3_stmt *pStmt;
  char zPragma[100];
  int nSpill, nDeclined;
  snprintf(zPragma, sizeof(zPragma), "PRAGMA hp_memory=%d; PRAGMA hp_threads=%d;"
           " PRAGMA temp_store=file", N_LIMIT, nThread);
  execute(db, zPragma);
  pStmt = prepared(db, zSql);
  while( sqlite3_step(pStmt)==SQLITE_ROW ){}
  if( sqlite3_finalize(pStmt) ) return 1;
  nSpill = (int)counted(db, "wrote to a file");
  nDeclined = (int)counted(db, "given back: other");
  sqlite3_close(db);
  if( pCase==0 || pCase->eEnd==EITHER ) return 0;
  return pCase->eEnd==SPILLS ? nSpill==0 || nDeclined!=0 : nDeclined==0;
}

/*
** Kilobytes that a process which runs zSql has in memory at most.
*/
static long peak(const char *zSql, int nThread, const struct Case *pCase){
  struct rusage usage;
  int status;
  pid_t pid = fork();
  if( pid==0 ) _exit(query(zSql, nThread, pCase));
  wait4(pid, &status, 0, &usage);
  check(WIFEXITED(status) && WEXITSTATUS(status)==0,
        "%d workers: not as it should be: %s", nThread, zSql);
  return usage.ru_maxrss;
}

/* Write z to zDir/zName, with the folders in between */
static void put(const char *zDir, const char *zName, const char *z){
  char zPath[600];
  int i;
  snprintf(zPath, sizeof(zPath), "%s/%s", zDir, zName);
  for(i=(int)strlen(zDir)+1; zPath[i]; i++){
    if( zPath[i]=='/' ){
      zPath[i] = 0;
      mkdir(zPath, 0700);
      zPath[i] = '/';
    }
  }
  writeFile(zPath, (const unsigned char*)z, (int)strlen(z));
}

/*
** In a process of its own: what scans of zFile keep, in kilobytes, where the kernel's files are those
** of zDir; and with zThen, after they say that.
*/
static int keeps(const char *zDir, const char *zThen){
  int aPipe[2], n = -1, i;
  pid_t pid;
  if( pipe(aPipe) ) return -1;
  pid = fork();
  if( pid==0 ){
    sqlite3 *db;
    sqlite3_int64 nUsed;
    setenv("HPSQLITE_TEST", "system=here", 1);
    if( chdir(zDir) ) _exit(1);
    db = openDb(&ours, zFile, SQLITE_OPEN_READWRITE);
    integer(&ours, db, "SELECT sum(k) FROM t");
    sqlite3_db_release_memory(db);
    nUsed = sqlite3_memory_used();
    for(i=0; i<5; i++) integer(&ours, db, "SELECT count(*), sum(k), max(s) FROM t WHERE k>5");
    if( zThen ) put(zDir, "proc/meminfo", zThen);
    for(i=0; i<2; i++) integer(&ours, db, "SELECT count(*), sum(k), max(s) FROM t WHERE k>5");
    sqlite3_exec(db, "PRAGMA cache_size=0", 0, 0, 0);
    n = (int)((sqlite3_memory_used()-nUsed)/1024);
    if( write(aPipe[1], &n, sizeof(n))!=sizeof(n) ) _exit(1);
    _exit(0);
  }
  close(aPipe[1]);
  if( read(aPipe[0], &n, sizeof(n))!=sizeof(n) ) n = -1;
  close(aPipe[0]);
  waitpid(pid, &i, 0);
  return n;
}

static void testKept(void){
  static const char zPlenty[] = "MemTotal: 900000000 kB\nMemFree: 1 kB\nMemAvailable:   800000000 kB\n";
  static const char zLittle[] = "MemTotal: 900000000 kB\nMemFree: 900000 kB\nMemAvailable:   100 kB\n";
  static const char zVersion2[] = "1:name=systemd:/other\n0::/a.slice/b.service/c\n";
  static const char zVersion1[] = "12:memory:/a/b\n11:cpu,cpuacct:/\n0::/\n";
  static const struct {
    const char *zGroup, *zName, *zLimit;
    int bLess;
  } aCase[] = {
    { zVersion2, "sys/fs/cgroup/a.slice/memory.max", "max\n", 0 },
    { zVersion2, "sys/fs/cgroup/a.slice/memory.max", "16777216\n", 1 },
    { zVersion2, "sys/fs/cgroup/a.slice/b.service/memory.max", "16777216\n", 1 },
    { zVersion2, "sys/fs/cgroup/a.slice/b.service/c/memory.high", "16777216\n", 1 },
    { zVersion2, "sys/fs/cgroup/memory.max", "16777216\n", 1 },
    { zVersion2, "sys/fs/cgroup/other/memory.max", "16777216\n", 0 },
    { "0::/../../x\n", "sys/fs/cgroup/memory.max", "16777216\n", 1 },
    { zVersion1, "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "16777216\n", 1 },
    { zVersion1, "sys/fs/cgroup/memory/memory.limit_in_bytes", "16777216\n", 1 },
    { "3:cpu,memory:/z\n", "sys/fs/cgroup/memory/z/memory.limit_in_bytes", "16777216\n", 1 },
    { zVersion1, "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n", 0 },
    { "\n:::\n0:", "sys/fs/cgroup/memory.max", "99999999999999999999\n", 0 },
  };
  char zDir[500], zCommand[700];
  unsigned i;
  int n;
  snprintf(zDir, sizeof(zDir), "%s.system", zFile);
  snprintf(zCommand, sizeof(zCommand), "rm -rf '%s'; mkdir '%s'", zDir, zDir);
  for(i=0; i<sizeof(aCase)/sizeof(aCase[0]); i++){
    check(system(zCommand)==0, "%s", zCommand);
    put(zDir, "proc/meminfo", zPlenty);
    put(zDir, "proc/self/cgroup", aCase[i].zGroup);
    put(zDir, aCase[i].zName, aCase[i].zLimit);
    n = keeps(zDir, 0);
    check(aCase[i].bLess ? n<3000 : n>5000, "%s, %s: %d kB are kept", aCase[i].zGroup, aCase[i].zName, n);
  }
  /* A group whose memory is in use, and one that has files cached */
  check(system(zCommand)==0, "%s", zCommand);
  put(zDir, "proc/meminfo", zPlenty);
  put(zDir, "proc/self/cgroup", zVersion2);
  put(zDir, "sys/fs/cgroup/a.slice/memory.max", "1000000000\n");
  put(zDir, "sys/fs/cgroup/a.slice/memory.current", "900000000\n");
  put(zDir, "sys/fs/cgroup/a.slice/memory.stat", "anon 800000000\ninactive_file 1000000\nactive_file 2000000\n");
  n = keeps(zDir, 0);
  check(n<3000, "%d kB are kept where a group has no memory left", n);
  put(zDir, "sys/fs/cgroup/a.slice/memory.stat", "anon 80000000\ninactive_file 700000000\nactive_file 2000000\n");
  n = keeps(zDir, 0);
  check(n>5000, "%d kB are kept beside cached files", n);
  n = keeps(zDir, zLittle);
  check(n<3000, "%d kB are kept when the machine gets short of memory", n);
  put(zDir, "proc/meminfo", zLittle);
  n = keeps(zDir, 0);
  check(n<3000, "%d kB are kept where little is available", n);
  put(zDir, "proc/meminfo", "nothing\n");
  n = keeps(zDir, 0);
  check(n>5000, "%d kB are kept where nothing is known", n);
  snprintf(zCommand, sizeof(zCommand), "rm -rf '%s'", zDir);
  check(system(zCommand)==0, "%s", zCommand);
}

int main(void){
  pid_t pid;
  int status, i, nThread;
  zFile = temporaryFile("budget.db");
  removeDb(zFile);
  pid = fork();
  if( pid==0 ){
    fill();
    _exit(0);
  }
  waitpid(pid, &status, 0);
  check(status==0, "the table was not made");
  testKept();
  for(nThread=1; nThread<=4; nThread*=2){
    long nBase = peak("SELECT count(*), sum(k), max(s) FROM t", nThread, 0);
    for(i=0; i<N_CASE; i++){
      long n = peak(aCase[i].zSql, nThread, &aCase[i]) - nBase;
      if( getenv("SHOW") ) printf("%d: %6ld kB  %s\n", nThread, n, aCase[i].zSql);
      check(n<=N_LIMIT/1024*5/4 + 4096*(nThread+1),
            "%d workers: %ld kB of %d: %s", nThread, n, N_LIMIT/1024,
            aCase[i].zSql);
    }
  }
  removeDb(zFile);
  return finish();
}
