/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Both libraries in one program, and what is asked of their connections.
*/
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "crash.h"

Lib stock, ours;

static void load(Lib *p, const char *zName, const char *zFile){
  void *pHandle = dlopen(zFile, RTLD_NOW|RTLD_LOCAL);
  if( pHandle==0 ){
    fprintf(stderr, "error: %s\n", dlerror());
    exit(2);
  }
  p->zName = zName;
#define LIB_FIND(x) \
  p->x = (__typeof__(p->x))dlsym(pHandle, "sqlite3_" #x); \
  if( p->x==0 ){ fprintf(stderr, "error: %s\n", dlerror()); exit(2); }
  LIB_API(LIB_FIND)
#undef LIB_FIND
  p->initialize();
}

void libLoad(const char *zStock, const char *zOurs){
  load(&stock, "stock", zStock);
  load(&ours, "ours", zOurs);
}

/***************************** random numbers *****************************/

static u64 mix(u64 x){
  x ^= x>>30; x *= 0xbf58476d1ce4e5b9ull;
  x ^= x>>27; x *= 0x94d049bb133111ebull;
  return x ^ (x>>31);
}

Rng rngSeed(u64 a, u64 b){
  Rng r;
  r.s = mix(mix(a + 0x9e3779b97f4a7c15ull) + b);
  return r;
}

u64 rngNext(Rng *p){
  p->s += 0x9e3779b97f4a7c15ull;
  return mix(p->s);
}

int rngBelow(Rng *p, int n){
  return n>0 ? (int)(rngNext(p)>>33)%n : 0;
}

u64 hashBytes(u64 h, const void *p, int n){
  const unsigned char *a = p;
  u64 x;
  for(; n>=8; n-=8, a+=8){
    memcpy(&x, a, 8);
    h = (h ^ x)*0x9e3779b97f4a7c15ull;
    h ^= h>>29;
  }
  x = n;
  while( n>0 ) x = x<<8 | a[--n];
  return mix(h ^ x);
}

/****************************** SQL functions *****************************/

/*
** mix(X) is an integer that follows from X, and fill(X,N) a blob of N bytes
** that does.
*/
static void mixFunc(const Lib *p, sqlite3_context *pCtx, sqlite3_value **ap){
  p->result_int64(pCtx, mix(p->value_int64(ap[0]) + 1)>>2);
}
static void fillFunc(const Lib *p, sqlite3_context *pCtx, sqlite3_value **ap){
  Rng r = rngSeed(p->value_int64(ap[0]), 77);
  i64 n = p->value_int64(ap[1]);
  u64 *a = malloc(n + 8);
  i64 i;
  if( a==0 ) abort();
  for(i=0; i*8<n; i++) a[i] = rngNext(&r);
  p->result_blob(pCtx, a, n, free);
}
#define FUNCTIONS(L) \
static void L##Mix(sqlite3_context *pCtx, int n, sqlite3_value **ap){ \
  (void)n; \
  mixFunc(&L, pCtx, ap); \
} \
static void L##Fill(sqlite3_context *pCtx, int n, sqlite3_value **ap){ \
  (void)n; \
  fillFunc(&L, pCtx, ap); \
}
FUNCTIONS(stock)
FUNCTIONS(ours)

/******************************* connections ******************************/

static int error(Db *p, int rc, const char *zSql){
  snprintf(p->zErr, sizeof(p->zErr), "%s: error %d (%s) in: %.200s",
           p->pLib->zName, rc, p->db ? p->pLib->errmsg(p->db) : "?", zSql);
  return rc;
}

int dbOpen(Db *p, const Lib *pLib, const char *zFile, const char *zVfs){
  static const int flags = SQLITE_UTF8|SQLITE_DETERMINISTIC;
  int isOurs = pLib==&ours;
  int rc;
  memset(p, 0, sizeof(*p));
  p->pLib = pLib;
  rc = pLib->open_v2(zFile, &p->db, SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE|SQLITE_OPEN_URI,
                     zVfs);
  if( rc ) return error(p, rc, zFile);
  pLib->extended_result_codes(p->db, 1);
  pLib->busy_timeout(p->db, 60000);
  pLib->create_function(p->db, "mix", 1, flags, 0,
                        isOurs ? oursMix : stockMix, 0, 0);
  pLib->create_function(p->db, "fill", 2, flags, 0,
                        isOurs ? oursFill : stockFill, 0, 0);
  return SQLITE_OK;
}

int dbClose(Db *p){
  int rc = p->db ? p->pLib->close(p->db) : SQLITE_OK;
  if( rc ) return error(p, rc, "close");
  p->db = 0;
  return rc;
}

/*
** Undo a transaction that did not succeed, if it is still open.
*/
void dbUndo(Db *p){
  sqlite3_stmt *pStmt = 0;
  if( p->pLib->get_autocommit(p->db) ) return;
  p->pLib->prepare_v2(p->db, "ROLLBACK", -1, &pStmt, 0);
  p->pLib->step(pStmt);
  p->pLib->finalize(pStmt);
}

/*
** Add the row that pStmt stands on to a hash.
*/
static u64 hashRow(const Lib *pLib, sqlite3_stmt *pStmt, u64 h){
  int i, n = pLib->column_count(pStmt);
  for(i=0; i<n; i++){
    int eType = pLib->column_type(pStmt, i);
    h = mix(h + eType);
    switch( eType ){
      case SQLITE_INTEGER: {
        i64 v = pLib->column_int64(pStmt, i);
        h = hashBytes(h, &v, sizeof(v));
        break;
      }
      case SQLITE_FLOAT: {
        double v = pLib->column_double(pStmt, i);
        h = hashBytes(h, &v, sizeof(v));
        break;
      }
      case SQLITE_NULL:
        break;
      default: {
        const void *a = pLib->column_blob(pStmt, i);
        h = hashBytes(h, a, pLib->column_bytes(pStmt, i));
      }
    }
  }
  return mix(h + 99);
}

/*
** Run statements.  If piFirst is not NULL the first column of the first row
** goes there.
*/
static int run(Db *p, const char *zSql, i64 *piFirst){
  const Lib *pLib = p->pLib;
  const char *z = zSql;
  while( z[0] ){
    sqlite3_stmt *pStmt = 0;
    int rc = pLib->prepare_v2(p->db, z, -1, &pStmt, &z);
    if( rc ) return error(p, rc, zSql);
    if( pStmt==0 ) break;
    while( (rc = pLib->step(pStmt))==SQLITE_ROW ){
      if( piFirst ){
        *piFirst = pLib->column_int64(pStmt, 0);
        piFirst = 0;
      }
      p->iAnswer = hashRow(pLib, pStmt, p->iAnswer);
    }
    if( rc!=SQLITE_DONE ){
      error(p, rc, zSql);
      pLib->finalize(pStmt);
      return rc;
    }
    pLib->finalize(pStmt);
  }
  return SQLITE_OK;
}

int dbRun(Db *p, const char *zFormat, ...){
  char zSql[4000];
  va_list ap;
  va_start(ap, zFormat);
  vsnprintf(zSql, sizeof(zSql), zFormat, ap);
  va_end(ap);
  return run(p, zSql, 0);
}

/*
** One number.  -1 if there is none, -2 on an error.
*/
i64 dbInt(Db *p, const char *zFormat, ...){
  char zSql[1000];
  i64 i = -1;
  va_list ap;
  va_start(ap, zFormat);
  vsnprintf(zSql, sizeof(zSql), zFormat, ap);
  va_end(ap);
  return run(p, zSql, &i) ? -2 : i;
}

/*
** A hash of the schema and of all rows of all tables, in the order of their
** keys.  The indexes are left to PRAGMA integrity_check.
*/
int dbDigest(Db *p, u64 *pDigest){
  static const char zTables[] =
    "SELECT name, sql FROM sqlite_schema WHERE type='table' ORDER BY name";
  const Lib *pLib = p->pLib;
  sqlite3_stmt *pList = 0;
  u64 iSave = p->iAnswer;
  int rc = pLib->prepare_v2(p->db, zTables, -1, &pList, 0);
  if( rc ) return error(p, rc, zTables);
  p->iAnswer = 1;
  while( (rc = pLib->step(pList))==SQLITE_ROW ){
    const char *zName = (const char*)pLib->column_text(pList, 0);
    p->iAnswer = hashRow(pLib, pList, p->iAnswer);
    rc = dbRun(p, "SELECT * FROM %s NOT INDEXED", zName);
    if( rc ) break;
  }
  if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  else if( p->zErr[0]==0 ) error(p, rc, zTables);
  pLib->finalize(pList);
  *pDigest = p->iAnswer;
  p->iAnswer = iSave;
  return rc;
}

/*
** PRAGMA integrity_check says ok?  If not, zErr tells what it says.
*/
int dbCheck(Db *p){
  static const char zSql[] = "PRAGMA integrity_check(3)";
  const Lib *pLib = p->pLib;
  sqlite3_stmt *pStmt = 0;
  int rc = pLib->prepare_v2(p->db, zSql, -1, &pStmt, 0);
  if( rc==SQLITE_OK ) rc = pLib->step(pStmt);
  if( rc!=SQLITE_ROW ){
    rc = error(p, rc, zSql);
  }else{
    const char *z = (const char*)pLib->column_text(pStmt, 0);
    rc = strcmp(z, "ok")==0 ? SQLITE_OK : SQLITE_CORRUPT;
    snprintf(p->zErr, sizeof(p->zErr), "integrity_check: %.300s", z);
  }
  pLib->finalize(pStmt);
  return rc;
}
