/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** See hptest.h.  Nothing here allocates through SQLite behind a test's
** back, so that a test of allocation failures sees SQLite's own calls only.
*/
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hptest.h"

const Lib ours = {
  sqlite3_open_v2, sqlite3_close, sqlite3_exec, sqlite3_prepare_v2,
  sqlite3_step, sqlite3_finalize, sqlite3_column_count, sqlite3_column_type,
  sqlite3_column_int64, sqlite3_column_double, sqlite3_column_blob,
  sqlite3_column_bytes, sqlite3_extended_errcode, sqlite3_errmsg,
  sqlite3_test_control, sqlite3_limit
};

/*
** Three of them are not in the first cut (the order of rowids, a lone max(),
** ||).  t: rows short and long, all types in all columns, keys of few and of many
** values.  big: more rows of numbers.  far: an index leads to rows far apart.  The queries cover: no GROUP BY; keys
** of each type; many groups; lone and several min and max; bare columns;
** filters of each kind; sums that overflow; long values; the first rows of
** partitions; the first rows, and all in order, of those that an index finds.
*/
const char *const azQuery[] = {
  "SELECT count(*), sum(i), total(r), avg(i), min(s), max(s) FROM t",
  "SELECT g, count(*), sum(i), avg(r) FROM t GROUP BY g",
  "SELECT s, count(*), max(i), s FROM t GROUP BY s",
  "SELECT r, count(*), min(i) FROM t WHERE r IS NOT NULL GROUP BY r",
  "SELECT i%7, g, count(*), sum(r), min(s), max(s) FROM t GROUP BY i%7, g",
  "SELECT id, sum(i) FROM t GROUP BY id ORDER BY sum(i) DESC, id LIMIT 5",
  "SELECT g, min(i), s, r FROM t GROUP BY g",
  "SELECT max(r), id, s FROM t",
  "SELECT g, count(x), min(x), max(x) FROM t GROUP BY g",
  "SELECT x, count(*) FROM t GROUP BY x",
  "SELECT count(*), sum(i) FROM t WHERE i BETWEEN 10 AND 50 AND g<>'c'",
  "SELECT g, count(*) FROM t WHERE s LIKE '%1%' OR s IN ('k2','k3') GROUP BY g",
  "SELECT g, sum(i*2+1), avg(r-i) FROM t WHERE NOT (i<20) GROUP BY g"
    " HAVING count(*)>2 ORDER BY 2 DESC",
  "SELECT g||s, count(*) FROM t WHERE x IS NULL GROUP BY g||s",
  "SELECT sum(h) FROM t",
  "SELECT g, sum(h) FROM t GROUP BY g",
  "SELECT sum(i) FROM t WHERE i>1000000",
  "SELECT upper(s)||'-'||g, count(*), max(substr(x,2,3)) FROM t"
    " GROUP BY upper(s)||'-'||g",
  "SELECT sum(CASE WHEN s LIKE 'k1%' THEN length(x) ELSE coalesce(i,0) END),"
    " max(printf('%d',i)), min(json_array(i,json_array(g))) FROM t",
  "SELECT i IN (1,2.5,'a',4,5,6,7), count(*), max(CAST(r AS TEXT)) FROM t"
    " WHERE (i,g)>(5,'a') AND x GLOB '*[gw]*' GROUP BY 1",
  "SELECT g, json_group_array(i ORDER BY i DESC), group_concat(s, x ORDER BY"
    " s COLLATE nocase, r) FROM t GROUP BY g",
  "SELECT group_concat(DISTINCT s ORDER BY s), sum(r ORDER BY x, i) FILTER"
    " (WHERE i>3) FROM t",
  "SELECT a, json_group_array(b ORDER BY c, b) FROM big GROUP BY a",
  "SELECT c, group_concat(b, a), json_group_array(a) FROM big GROUP BY c",
  "SELECT a, count(*), sum(b), min(c), max(c) FROM big GROUP BY a",
  "SELECT c, count(*), sum(b) FROM big GROUP BY c ORDER BY c DESC LIMIT 3",
  "SELECT c, a, count(DISTINCT b) FROM big GROUP BY c, a ORDER BY 3 DESC, c LIMIT 3",
  "SELECT c, a, count(*), sum(b) FROM big GROUP BY c, a ORDER BY c LIMIT 3",
  "SELECT c||' as long as it takes', count(*) FROM big GROUP BY 1 ORDER BY 2, -c LIMIT 3",
  "SELECT count(*), avg(b) FROM big WHERE a IN (1,2,3) AND c>=100",
  "SELECT * FROM (SELECT g, x, row_number() OVER (PARTITION BY s ORDER BY x DESC)"
    " AS n FROM t WHERE i>3) WHERE n<=2",
  "SELECT * FROM (SELECT id, dense_rank() OVER (PARTITION BY g ORDER BY i, s) AS n"
    " FROM t) WHERE n=1",
  "SELECT * FROM (SELECT b, rank() OVER (ORDER BY c) AS n FROM big) WHERE n<3",
  "SELECT id, x FROM t WHERE i<9",
  "SELECT a, b FROM big WHERE c BETWEEN 100 AND 103 LIMIT 7",
  "SELECT id, k, s FROM far WHERE k=3 AND s<>'w2' ORDER BY s DESC LIMIT 4",
  "SELECT id, d FROM far WHERE d BETWEEN 10 AND 60 ORDER BY s, k LIMIT 6",
  "SELECT s, d, id FROM far WHERE d>50 ORDER BY s",
  "SELECT big.b, t.id FROM big LEFT JOIN t ON t.id=big.c WHERE a=4 AND t.g IS NULL",
};
const int nQuery = sizeof(azQuery)/sizeof(azQuery[0]);

static int nPass = 0;
static int nFail = 0;

Fault fault = { -1, 0, 0 };
int bNoPlans = 0;

/*
** Count one request.  Is it to fail?
*/
int fails(void){
  if( fault.nLeft<0 ) return 0;
  if( fault.nLeft>0 ){
    fault.nLeft--;
    return 0;
  }
  if( !fault.bForEver && fault.nFailed>0 ) return 0;
  fault.nFailed++;
  return 1;
}

/*
** From now on one request fails, after nLeft others, or with bForEver all after
** these.
*/
void failAfter(int nLeft, int bForEver){
  fault.nLeft = nLeft;
  fault.bForEver = bForEver;
  fault.nFailed = 0;
}

static sqlite3_mem_methods base;   /* The real allocator */

static void *faultyMalloc(int n){
  return fails() ? 0 : base.xMalloc(n);
}
static void *faultyRealloc(void *p, int n){
  return fails() ? 0 : base.xRealloc(p, n);
}

/*
** From now on ask fails() about each request for memory, or no more.  No
** connection may be open.
*/
void failMemory(int bOn){
  sqlite3_mem_methods m;
  sqlite3_shutdown();
  if( base.xMalloc==0 ) sqlite3_config(SQLITE_CONFIG_GETMALLOC, &base);
  m = base;
  if( bOn ){
    m.xMalloc = faultyMalloc;
    m.xRealloc = faultyRealloc;
  }
  sqlite3_config(SQLITE_CONFIG_MALLOC, &m);
}

/*
** Let the unix VFS call xNew in place of the system call zName.  Return what
** it has called until now.
*/
sqlite3_syscall_ptr replaceCall(const char *zName, sqlite3_syscall_ptr xNew){
  sqlite3_vfs *pVfs = sqlite3_vfs_find("unix");
  sqlite3_syscall_ptr xOld = pVfs->xGetSystemCall(pVfs, zName);
  if( xOld==0 || pVfs->xSetSystemCall(pVfs, zName, xNew) ){
    fprintf(stderr, "error: the VFS does not call %s\n", zName);
    exit(2);
  }
  return xOld;
}

static ssize_t (*xRealRead)(int, void*, size_t, off_t);
static ssize_t (*xRealWrite)(int, const void*, size_t);
static ssize_t (*xRealPwrite)(int, const void*, size_t, off_t);
static ssize_t faultyRead(int fd, void *a, size_t n, off_t i){
  return fails() ? -1 : xRealRead(fd, a, n, i);
}
static ssize_t faultyWrite(int fd, const void *a, size_t n){
  return fails() ? -1 : xRealWrite(fd, a, n);
}
static ssize_t faultyPwrite(int fd, const void *a, size_t n, off_t i){
  return fails() ? -1 : xRealPwrite(fd, a, n, i);
}

/*
** From now on ask fails() about each pread(), or no more.
*/
void failReads(int bOn){
  if( bOn ){
    xRealRead = (void*)replaceCall("pread", (sqlite3_syscall_ptr)faultyRead);
  }else{
    replaceCall("pread", (sqlite3_syscall_ptr)xRealRead);
  }
}

/*
** The same of each write() and pwrite().
*/
void failWrites(int bOn){
  if( bOn ){
    xRealWrite = (void*)replaceCall("write", (sqlite3_syscall_ptr)faultyWrite);
    xRealPwrite = (void*)replaceCall("pwrite",
                                     (sqlite3_syscall_ptr)faultyPwrite);
  }else{
    replaceCall("write", (sqlite3_syscall_ptr)xRealWrite);
    replaceCall("pwrite", (sqlite3_syscall_ptr)xRealPwrite);
  }
}

static int iStop;                  /* Calls until it stops; negative: never */
static int nStopCall;              /* Calls so far */
static int stopHandler(void *p){
  (void)p;
  nStopCall++;
  return iStop>=0 && iStop--==0;
}

/*
** Let the progress handler of db, which is called after each nOp instructions,
** stop the statement at call iCall, counted from 0.
*/
void stopAt(sqlite3 *db, int nOp, int iCall){
  iStop = iCall;
  nStopCall = 0;
  sqlite3_progress_handler(db, nOp, stopHandler, 0);
}

/*
** No progress handler any more.  Returns how often it was called.
*/
int stopEnd(sqlite3 *db){
  sqlite3_progress_handler(db, 0, 0, 0);
  return nStopCall;
}

/*
** Run the test that is called zName, or all of them if that is NULL.
*/
void runTests(const Test *aTest, int nTest, const char *zName){
  int nRun = 0;
  int i;
  for(i=0; i<nTest; i++){
    if( zName && strcmp(zName, aTest[i].zName) ) continue;
    aTest[i].x();
    nRun++;
  }
  if( nRun==0 ){
    fprintf(stderr, "error: no test is called %s\n", zName ? zName : "");
    exit(2);
  }
}

/*
** Count one check, of any thread.  Only failures are printed.
*/
void check(int bOk, const char *zFormat, ...){
  va_list ap;
  if( bOk ){
    __atomic_add_fetch(&nPass, 1, __ATOMIC_RELAXED);
    return;
  }
  __atomic_add_fetch(&nFail, 1, __ATOMIC_RELAXED);
  va_start(ap, zFormat);
  printf("FAILED: ");
  vprintf(zFormat, ap);
  printf("\n");
  fflush(stdout);
  va_end(ap);
}

/*
** The last line of a test program, and its exit status.
*/
int finish(void){
  printf("%d passed, %d failed, 0 skipped\n", nPass, nFail);
  return nFail>0;
}

/*
** Make room for n more bytes and a NUL.
*/
static void textGrow(Text *p, int n){
  if( p->n+n+1<=p->nAlloc ) return;
  p->nAlloc = (p->n+n+1)*2;
  p->z = realloc(p->z, p->nAlloc);
  if( p->z==0 ) abort();
}

void textAppend(Text *p, const char *zFormat, ...){
  va_list ap;
  int n;
  textGrow(p, 40);
  va_start(ap, zFormat);
  n = vsnprintf(&p->z[p->n], p->nAlloc-p->n, zFormat, ap);
  va_end(ap);
  if( n>=p->nAlloc-p->n ){
    textGrow(p, n);
    va_start(ap, zFormat);
    vsnprintf(&p->z[p->n], n+1, zFormat, ap);
    va_end(ap);
  }
  p->n += n;
}

/*
** Append n bytes in hex.  Answers have megabytes of them, for which printf()
** takes longer than the query.
*/
void textHex(Text *p, const unsigned char *a, int n){
  static const char zDigit[] = "0123456789abcdef";
  char *z;
  int i;
  textGrow(p, 2*n);
  z = &p->z[p->n];
  for(i=0; i<n; i++){
    *z++ = zDigit[a[i]>>4];
    *z++ = zDigit[a[i]&15];
  }
  *z = 0;
  p->n += 2*n;
}

void textClear(Text *p){
  free(p->z);
  memset(p, 0, sizeof(*p));
}

/*
** Load the library zFile beside ours.
*/
int loadStock(Lib *p, const char *zFile){
  static const char *const azName[] = {
    "open_v2", "close", "exec", "prepare_v2", "step", "finalize",
    "column_count", "column_type", "column_int64", "column_double",
    "column_blob", "column_bytes", "extended_errcode", "errmsg", "test_control",
    "limit"
  };
  void *pHandle = dlopen(zFile, RTLD_NOW|RTLD_LOCAL);
  void *aFunc[sizeof(azName)/sizeof(azName[0])];
  unsigned i;
  if( pHandle==0 ){
    fprintf(stderr, "error: %s\n", dlerror());
    return 1;
  }
  for(i=0; i<sizeof(azName)/sizeof(azName[0]); i++){
    char zName[40];
    snprintf(zName, sizeof(zName), "sqlite3_%s", azName[i]);
    aFunc[i] = dlsym(pHandle, zName);
    if( aFunc[i]==0 ){
      fprintf(stderr, "error: %s\n", dlerror());
      return 1;
    }
  }
  if( aFunc[0]==(void*)sqlite3_open_v2 ){
    fprintf(stderr, "error: %s is the library under test\n", zFile);
    return 1;
  }
  memcpy(p, aFunc, sizeof(aFunc));
  return 0;
}

/*
** Open a database with the offload forced, or exit.
*/
sqlite3 *openDb(const Lib *pLib, const char *zFile, int flags){
  sqlite3 *db = 0;
  int rc;
  flags |= SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE|SQLITE_OPEN_URI;
  rc = pLib->open(zFile, &db, flags, 0);
  if( rc ){
    fprintf(stderr, "error: cannot open %s: %d\n", zFile, rc);
    exit(2);
  }
  pLib->exec(db, "PRAGMA hp_offload=force", 0, 0, 0);
  return db;
}

/*
** A fresh file, after settings and with tables, and the connection to it that xOpen opens.
*/
sqlite3 *freshDb(
  sqlite3 *(*xOpen)(const char*),
  const char *zFile,
  const char *zPragmas,
  const char *zTables
){
  sqlite3 *db;
  removeDb(zFile);
  db = xOpen(zFile);
  execute(db, zPragmas);
  execute(db, zTables);
  return db;
}

/*
** Run statements that must not fail.
*/
void execute(sqlite3 *db, const char *zSql){
  char *zErr = 0;
  if( sqlite3_exec(db, zSql, 0, 0, &zErr) ){
    fprintf(stderr, "error: %s in: %s\n", zErr ? zErr : "?", zSql);
    exit(2);
  }
}

/*
** The same with either library.
*/
void runOn(const Lib *pLib, sqlite3 *db, const char *zSql){
  if( pLib->exec(db, zSql, 0, 0, 0) ){
    fprintf(stderr, "error: %d in: %s\n", pLib->errcode(db), zSql);
    exit(2);
  }
}

/*
** A statement that must be valid.
*/
sqlite3_stmt *prepared(sqlite3 *db, const char *zSql){
  sqlite3_stmt *pStmt = 0;
  if( sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0) ){
    fprintf(stderr, "error: %s in: %s\n", sqlite3_errmsg(db), zSql);
    exit(2);
  }
  return pStmt;
}

/*
** The single integer that zSql gives, or -1 if it gives none.
*/
sqlite3_int64 integer(const Lib *pLib, sqlite3 *db, const char *zSql){
  sqlite3_stmt *pStmt = 0;
  sqlite3_int64 i = -1;
  if( pLib->prepare(db, zSql, -1, &pStmt, 0)==SQLITE_OK
   && pLib->step(pStmt)==SQLITE_ROW
  ){
    i = pLib->int64(pStmt, 0);
  }
  pLib->finalize(pStmt);
  return i;
}

/*
** Append to *pOut the rows of zSql, values by type and in full, then the
** error if there was one, with the message of a constraint.  Return the
** extended error code, or SQLITE_OK.
*/
int answer(const Lib *pLib, sqlite3 *db, const char *zSql, Text *pOut){
  sqlite3_stmt *pStmt = 0;
  int rc = pLib->prepare(db, zSql, -1, &pStmt, 0);
  textAppend(pOut, "");
  if( rc==SQLITE_OK ){
    while( (rc = pLib->step(pStmt))==SQLITE_ROW ){
      int i, n = pLib->count(pStmt);
      for(i=0; i<n; i++){
        const unsigned char *a;
        switch( pLib->type(pStmt, i) ){
          case SQLITE_INTEGER:
            textAppend(pOut, "%lld|", (long long)pLib->int64(pStmt, i));
            break;
          case SQLITE_FLOAT:
            textAppend(pOut, "%.17gr|", pLib->real(pStmt, i));
            break;
          case SQLITE_NULL:
            textAppend(pOut, "NULL|");
            break;
          default:
            textAppend(pOut, pLib->type(pStmt, i)==SQLITE_TEXT ? "t'" : "x'");
            a = pLib->blob(pStmt, i);
            textHex(pOut, a, pLib->bytes(pStmt, i));
            textAppend(pOut, "'|");
        }
      }
      textAppend(pOut, "\n");
    }
  }
  rc = rc==SQLITE_DONE ? SQLITE_OK : pLib->errcode(db);
  if( rc ){
    int bText = (rc & 0xff)==SQLITE_CONSTRAINT;
    textAppend(pOut, "error %d %s\n", rc, bText ? pLib->errmsg(db) : "");
  }
  pLib->finalize(pStmt);
  return rc;
}

/*
** Check that the database is sound.
*/
void checkIntegrity(const Lib *pLib, sqlite3 *db, const char *zWhat){
  Text got = {0,0,0};
  answer(pLib, db, "PRAGMA integrity_check", &got);
  check(strcmp(got.z, "t'6f6b'|\n")==0, "%s: integrity_check: %s", zWhat,
        got.z);
  textClear(&got);
}

/*
** Check that query zSql of ours gives nTimes what SQLite's code gives for it.
** zWhat says what that shows.
*/
void sameAnswer(
  sqlite3 *db,
  const char *zSql,
  int nTimes,
  const char *zWhat
){
  Text stock = {0,0,0};
  int k;
  execute(db, "PRAGMA hp_offload=off");
  answer(&ours, db, zSql, &stock);
  execute(db, "PRAGMA hp_offload=force");
  for(k=0; k<nTimes; k++){
    Text our = {0,0,0};
    answer(&ours, db, zSql, &our);
    check(strcmp(our.z, stock.z)==0, "%s, time %d: %s gives\n%.300s\nnot\n%.300s", zWhat, k,
          zSql, our.z, stock.z);
    textClear(&our);
  }
  textClear(&stock);
}

/*
** Does the library under test take this query over?
*/
int isTaken(sqlite3 *db, const char *zSql){
  sqlite3_stmt *pStmt = 0;
  Text sql = {0,0,0};
  int bTaken = 0;
  textAppend(&sql, "EXPLAIN QUERY PLAN %s", zSql);
  if( sqlite3_prepare_v2(db, sql.z, -1, &pStmt, 0)==SQLITE_OK ){
    while( sqlite3_step(pStmt)==SQLITE_ROW ){
      const char *z = (const char*)sqlite3_column_text(pStmt, 3);
      if( z && strstr(z, "VECTORIZED") ) bTaken = 1;
    }
  }
  sqlite3_finalize(pStmt);
  textClear(&sql);
  return bTaken;
}

/*
** Is there an engine in the library, or is it a stand-in?
*/
int hasEngine(void){
  sqlite3 *db = openDb(&ours, ":memory:", 0);
  int rc = sqlite3_exec(db, "SELECT hp_version()", 0, 0, 0);
  sqlite3_close(db);
  return rc==SQLITE_OK;
}

/*
** Unless the environment asks for other ways, races of SQLite's loops with ours
** end in the same way however busy the machine is.  Before the first call of the
** library.
*/
void stepClock(void){
  const char *z = getenv("HPSQLITE_TEST");
  if( z==0 || z[0]==0 ) setenv("HPSQLITE_TEST", "clock=steps", 1);
}

/*
** Shall every case be tried, as FULL in the environment asks?  Else one of a few
** that differ in little but their number.
*/
int longRun(void){
  const char *z = getenv("FULL");
  return z && z[0];
}

/*
** Make the database zFile anew: zPragmas, then the tables of azQuery with
** nRow rows in t and ten times as many in big.
*/
void fixture(const char *zFile, const char *zPragmas, int nRow){
  sqlite3 *db;
  Text sql = {0,0,0};
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  execute(db, "PRAGMA synchronous=OFF");
  execute(db, zPragmas);
  textAppend(&sql,
    "CREATE TABLE t(id INTEGER PRIMARY KEY, g, i INTEGER, r REAL, s TEXT, h, x);"
    "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n WHERE k<%d)"
    " INSERT INTO t SELECT k, char(97+k%%5), k*37%%101, k*0.25, 'k'||(k%%13),"
    "  CASE WHEN k%%2 THEN 9223372036854775800 ELSE -1 END,"
    "  CASE k%%11 WHEN 0 THEN NULL WHEN 1 THEN k WHEN 2 THEN k*0.5"
    "   WHEN 3 THEN zeroblob(700+k) WHEN 4 THEN 'long'||hex(zeroblob(400+k))"
    "   ELSE 'w'||(k%%3) END FROM n;"
    "CREATE TABLE big(a INTEGER, b REAL, c INTEGER);"
    "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n WHERE k<%d)"
    " INSERT INTO big SELECT k%%10, k*1.1, k%%701 FROM n;"
    "CREATE TABLE far(id INTEGER PRIMARY KEY, k INTEGER, d REAL, s TEXT);"
    "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n WHERE k<%d)"
    " INSERT INTO far SELECT k, k%%4, k*37%%101*0.5, 'w'||(k%%3) FROM n;"
    "CREATE INDEX fark ON far(k); CREATE INDEX fard ON far(d DESC, s);", nRow, nRow*10, nRow);
  execute(db, "BEGIN");
  execute(db, sql.z);
  execute(db, "COMMIT");
  sqlite3_close(db);
  textClear(&sql);
}

/*
** What PRAGMA hp_stats of our library counts under zWhat, or -1.
*/
sqlite3_int64 counted(sqlite3 *db, const char *zWhat){
  sqlite3_stmt *pStmt;
  sqlite3_int64 n = -1;
  if( sqlite3_prepare_v2(db, "PRAGMA hp_stats=full", -1, &pStmt, 0) ) return -1;
  while( sqlite3_step(pStmt)==SQLITE_ROW ){
    if( strcmp((const char*)sqlite3_column_text(pStmt, 0), zWhat)==0 ){
      n = sqlite3_column_int64(pStmt, 1);
    }
  }
  sqlite3_finalize(pStmt);
  return n;
}

/*
** The name of a file in the folder for temporary files: TEST_DIR, which the
** script `run` makes and removes, else the current one.
*/
const char *temporaryFile(const char *zName){
  static char aName[8][500];
  static int i = 0;
  const char *zDir = getenv("TEST_DIR");
  char *z = aName[i++ % 8];
  snprintf(z, sizeof(aName[0]), "%s/%s", zDir ? zDir : ".", zName);
  return z;
}

void removeDb(const char *zFile){
  static const char *const azSuffix[] = { "", "-journal", "-wal", "-shm" };
  int i;
  for(i=0; i<4; i++){
    char zName[600];
    snprintf(zName, sizeof(zName), "%s%s", zFile, azSuffix[i]);
    unlink(zName);
  }
}

/*
** All of a file, its *pn bytes from malloc(3).
*/
unsigned char *readFile(const char *zFile, int *pn){
  unsigned char *a;
  FILE *f = fopen(zFile, "rb");
  if( f==0 || fseek(f, 0, SEEK_END) ) exit(2);
  *pn = (int)ftell(f);
  rewind(f);
  a = malloc(*pn);
  if( a==0 || fread(a, 1, *pn, f)!=(size_t)*pn ) exit(2);
  fclose(f);
  return a;
}

void writeFile(const char *zFile, const unsigned char *a, int n){
  FILE *f = fopen(zFile, "wb");
  if( f==0 || fwrite(a, 1, n, f)!=(size_t)n || fclose(f) ) exit(2);
}

unsigned get2(const unsigned char *a){
  return a[0]<<8 | a[1];
}
unsigned get4(const unsigned char *a){
  return get2(a)<<16 | get2(&a[2]);
}
void put2(unsigned char *a, unsigned v){
  a[0] = (unsigned char)(v>>8);
  a[1] = (unsigned char)v;
}
void put4(unsigned char *a, unsigned v){
  put2(a, v>>16);
  put2(&a[2], v);
}
