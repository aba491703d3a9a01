/*
** See callback.h.
*/
#include "callback.h"
#include "_cgo_export.h"
#include <stdlib.h>
#include <string.h>

/* Not in every library. */
#define WEAK __attribute__((weak))
WEAK void *sqlite3_preupdate_hook(sqlite3*,
    void(*)(void*,sqlite3*,int,char const*,char const*,
            sqlite3_int64,sqlite3_int64), void*);
WEAK int sqlite3_preupdate_old(sqlite3*, int, sqlite3_value**);
WEAK int sqlite3_preupdate_new(sqlite3*, int, sqlite3_value**);
WEAK int sqlite3_preupdate_count(sqlite3*);
WEAK int sqlite3_preupdate_depth(sqlite3*);
WEAK int sqlite3_preupdate_blobwrite(sqlite3*);

#define DB(X)    ((sqlite3*)(uintptr_t)(X))
#define CTX(X)   ((sqlite3_context*)(uintptr_t)(X))
#define ID(X)    ((uint64_t)(uintptr_t)(X))
#define FAILED(P) __atomic_load_n(&(P)->bFailed, __ATOMIC_SEQ_CST)
#define CLEAR(P)  __atomic_store_n(&(P)->bFailed, 0, __ATOMIC_SEQ_CST)

/* Return 0 if memory ran out. */
static int readValue(sqlite3_value *pVal, hpgo_value *p){
  double r;
  p->type = (uint32_t)sqlite3_value_type(pVal);
  p->n = 0;
  p->v = 0;
  p->p = ID(pVal);
  switch( p->type ){
    case SQLITE_INTEGER:
      p->v = (uint64_t)sqlite3_value_int64(pVal);
      break;
    case SQLITE_FLOAT:
      r = sqlite3_value_double(pVal);
      memcpy(&p->v, &r, sizeof(r));
      break;
    case SQLITE_TEXT:
    case SQLITE_BLOB:
      p->v = p->type==SQLITE_TEXT ? ID(sqlite3_value_text(pVal))
                                  : ID(sqlite3_value_blob(pVal));
      p->n = (uint32_t)sqlite3_value_bytes(pVal);
      return p->v!=0 || (p->n==0 && p->type==SQLITE_BLOB);
  }
  return 1;
}

static void giveResult(sqlite3_context *pCtx, hpgo_call *p){
  double r;
  switch( p->type ){
    case HPGO_INT:
      sqlite3_result_int64(pCtx, (sqlite3_int64)p->v);
      break;
    case HPGO_FLOAT:
      memcpy(&r, &p->v, sizeof(r));
      sqlite3_result_double(pCtx, r);
      break;
    case HPGO_TEXT:
      sqlite3_result_text64(pCtx, p->aShort, p->n, SQLITE_TRANSIENT,
                            SQLITE_UTF8);
      break;
    case HPGO_BLOB:
      sqlite3_result_blob64(pCtx, p->aShort, p->n, SQLITE_TRANSIENT);
      break;
    case HPGO_FAR_TEXT:
      sqlite3_result_text64(pCtx, (char*)(uintptr_t)p->v, p->n, sqlite3_free,
                            SQLITE_UTF8);
      break;
    case HPGO_FAR_BLOB:
      sqlite3_result_blob64(pCtx, (void*)(uintptr_t)p->v, p->n, sqlite3_free);
      break;
    case HPGO_ZEROBLOB:
      if( sqlite3_result_zeroblob64(pCtx, p->v)!=SQLITE_OK ){
        sqlite3_result_error_toobig(pCtx);
      }
      break;
    case HPGO_ARGUMENT:
      sqlite3_result_value(pCtx, (sqlite3_value*)(uintptr_t)p->v);
      break;
    case HPGO_ERROR:
      sqlite3_result_error(pCtx, p->aShort, (int)p->n);
      sqlite3_result_error_code(pCtx, (int)p->v);
      return;
    default:
      sqlite3_result_null(pCtx);
      break;
  }
  if( p->subtype ) sqlite3_result_subtype(pCtx, p->subtype);
}

static void call(sqlite3_context *pCtx, int op, int nArg, sqlite3_value **apArg){
  hpgo_value aFew[8], *aArg = aFew;
  hpgo_call x;
  int i;
  x.ctx = ID(pCtx);
  x.pState = 0;
  x.nArg = nArg;
  x.op = op;
  x.type = HPGO_NULL;
  x.n = 0;
  x.v = 0;
  x.subtype = 0;
  if( op!=HPGO_CALL ){
    x.pState = sqlite3_aggregate_context(pCtx, sizeof(uint64_t));
    if( x.pState==0 ){
      sqlite3_result_error_nomem(pCtx);
      return;
    }
  }
  if( nArg>(int)(sizeof(aFew)/sizeof(aFew[0])) ){
    aArg = sqlite3_malloc64(sizeof(*aArg)*(sqlite3_uint64)nArg);
    if( aArg==0 ){
      sqlite3_result_error_nomem(pCtx);
      return;
    }
  }
  x.aArg = aArg;
  for(i=0; i<nArg && readValue(apArg[i], &aArg[i]); i++){}
  if( i<nArg ){
    sqlite3_result_error_nomem(pCtx);
  }else{
    hpgoFunction(ID(sqlite3_user_data(pCtx)), &x);
    if( op==HPGO_CALL || op==HPGO_VALUE || op==HPGO_FINAL
     || x.type==HPGO_ERROR ){
      giveResult(pCtx, &x);
    }
  }
  if( aArg!=aFew ) sqlite3_free(aArg);
}

static void xCall(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg){
  call(pCtx, HPGO_CALL, nArg, apArg);
}
static void xStep(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg){
  call(pCtx, HPGO_STEP, nArg, apArg);
}
static void xInverse(sqlite3_context *pCtx, int nArg, sqlite3_value **apArg){
  call(pCtx, HPGO_INVERSE, nArg, apArg);
}
static void xValue(sqlite3_context *pCtx){ call(pCtx, HPGO_VALUE, 0, 0); }
static void xFinal(sqlite3_context *pCtx){ call(pCtx, HPGO_FINAL, 0, 0); }
static void xDestroy(void *pArg){ hpgoRelease(ID(pArg)); }

static int xCompare(void *pArg, int n1, const void *z1, int n2, const void *z2){
  return hpgoCompare(ID(pArg), n1, (void*)z1, n2, (void*)z2);
}

int hpgo_create_function(uint64_t db, const char *zName, int nArg, int flags,
                         uint64_t id){
  return sqlite3_create_function_v2(DB(db), zName, nArg, SQLITE_UTF8|flags,
                                    (void*)(uintptr_t)id, xCall, 0, 0, xDestroy);
}

int hpgo_create_aggregate(uint64_t db, const char *zName, int nArg, int flags,
                          uint64_t id, int bWindow){
  return sqlite3_create_window_function(DB(db), zName, nArg, SQLITE_UTF8|flags,
      (void*)(uintptr_t)id, xStep, xFinal, bWindow ? xValue : 0,
      bWindow ? xInverse : 0, xDestroy);
}

int hpgo_remove_function(uint64_t db, const char *zName, int nArg){
  return sqlite3_create_function_v2(DB(db), zName, nArg, SQLITE_UTF8,
                                    0, 0, 0, 0, 0);
}

void hpgo_set_aux(uint64_t ctx, int i, uint64_t id){
  sqlite3_set_auxdata(CTX(ctx), i, (void*)(uintptr_t)id, xDestroy);
}

uint64_t hpgo_get_aux(uint64_t ctx, int i){
  return ID(sqlite3_get_auxdata(CTX(ctx), i));
}

static void xUpdate(void *pArg, int op, const char *zDb, const char *zTable,
                    sqlite3_int64 iRow){
  hpgo_hooks *p = pArg;
  hpgoUpdate(p->aId[HPGO_UPDATE], op, (char*)zDb, (char*)zTable, iRow);
}

static int xCommit(void *pArg){
  hpgo_hooks *p = pArg;
  if( FAILED(p) ){
    CLEAR(p);
    return 1;
  }
  return p->aId[HPGO_COMMIT]!=0 && hpgoCommit(p->aId[HPGO_COMMIT])!=0;
}

static void xRollback(void *pArg){
  hpgo_hooks *p = pArg;
  CLEAR(p);
  if( p->aId[HPGO_ROLLBACK] ) hpgoRollback(p->aId[HPGO_ROLLBACK]);
}

/* SQLite's own checkpoints are made by a WAL hook, of which there is one. */
static int xWal(void *pArg, sqlite3 *db, const char *zDb, int nPage){
  hpgo_hooks *p = pArg;
  int rc = hpgoWAL(p->aId[HPGO_WAL], (char*)zDb, nPage);
  if( rc==SQLITE_OK && p->nCheckpoint>0 && nPage>=p->nCheckpoint ){
    sqlite3_wal_checkpoint(db, zDb);
  }
  return rc;
}

static void xPreupdate(void *pArg, sqlite3 *db, int op, char const *zDb,
                       char const *zTable, sqlite3_int64 iOld,
                       sqlite3_int64 iNew){
  hpgo_hooks *p = pArg;
  hpgo_preupdate_row x;
  x.db = ID(db);
  x.op = op;
  x.nCol = sqlite3_preupdate_count(db);
  x.depth = sqlite3_preupdate_depth(db);
  x.iBlob = sqlite3_preupdate_blobwrite ? sqlite3_preupdate_blobwrite(db) : -1;
  x.zDb = zDb;
  x.zTable = zTable;
  x.iOld = iOld;
  x.iNew = iNew;
  hpgoPreupdate(p->aId[HPGO_PREUPDATE], &x);
}

int hpgo_preupdate_value(uint64_t db, int bNew, int i, hpgo_value *pOut){
  sqlite3_value *pVal = 0;
  int rc = bNew ? sqlite3_preupdate_new(DB(db), i, &pVal)
                : sqlite3_preupdate_old(DB(db), i, &pVal);
  if( rc!=SQLITE_OK ) return rc;
  return readValue(pVal, pOut) ? SQLITE_OK : SQLITE_NOMEM;
}

static int xAuthorize(void *pArg, int op, const char *z1, const char *z2,
                      const char *z3, const char *z4){
  hpgo_hooks *p = pArg;
  return hpgoAuthorize(p->aId[HPGO_AUTHORIZER], op, (char*)z1, (char*)z2,
                       (char*)z3, (char*)z4);
}

static int xProgress(void *pArg){
  hpgo_hooks *p = pArg;
  return hpgoProgress(p->aId[HPGO_PROGRESS]);
}

static int xTrace(unsigned event, void *pArg, void *pP, void *pX){
  hpgo_hooks *p = pArg;
  sqlite3_stmt *pStmt = pP;
  const char *zSql = sqlite3_sql(pStmt);
  sqlite3_int64 ns = 0;
  if( event==SQLITE_TRACE_STMT ){
    /* A trigger is a comment that names it. */
    const char *zX = pX;
    if( zX && zX[0]=='-' && zX[1]=='-' ) zSql = zX;
  }else if( event==SQLITE_TRACE_PROFILE ){
    ns = *(sqlite3_int64*)pX;
  }
  hpgoTrace(p->aId[HPGO_TRACE], (int)event, ID(pStmt), (char*)zSql, ns);
  return 0;
}

static int xBusy(void *pArg, int n){
  hpgo_hooks *p = pArg;
  if( __atomic_load_n(&p->pConn->bStop, __ATOMIC_SEQ_CST) ) return 0;
  return hpgoBusy(p->aId[HPGO_BUSY], n)
      && !__atomic_load_n(&p->pConn->bStop, __ATOMIC_SEQ_CST);
}

hpgo_hooks *hpgo_hooks_new(hpgo_conn *pConn){
  hpgo_hooks *p = calloc(1, sizeof(*p));
  if( p ){
    p->pConn = pConn;
    p->db = pConn->db;
  }
  return p;
}

/* Whoever cannot fail needs the commit hook, see bFailed. */
static void watchEnds(hpgo_hooks *p){
  sqlite3_commit_hook(DB(p->db), xCommit, p);
  sqlite3_rollback_hook(DB(p->db), xRollback, p);
}

/* Take all hooks away. */
void hpgo_hooks_free(hpgo_hooks *p){
  int i;
  for(i=0; i<HPGO_HOOKS; i++){
    if( p->aId[i] ) hpgo_set_hook(p, i, 0, i==HPGO_WAL ? p->nCheckpoint : 0);
  }
  sqlite3_commit_hook(DB(p->db), 0, 0);
  sqlite3_rollback_hook(DB(p->db), 0, 0);
  free(p);
}

int hpgo_set_hook(hpgo_hooks *p, int iHook, uint64_t id, int arg){
  sqlite3 *db = DB(p->db);
  if( iHook==HPGO_PREUPDATE && sqlite3_preupdate_hook==0 ) return SQLITE_ERROR;
  /* What follows may call the hook that was. */
  if( id ) p->aId[iHook] = id;
  switch( iHook ){
    case HPGO_UPDATE:
      sqlite3_update_hook(db, id ? xUpdate : 0, p);
      break;
    case HPGO_WAL:
      if( id ){
        p->nCheckpoint = arg;
        sqlite3_wal_hook(db, xWal, p);
      }else{
        sqlite3_wal_autocheckpoint(db, arg);
      }
      break;
    case HPGO_PREUPDATE:
      sqlite3_preupdate_hook(db, id ? xPreupdate : 0, p);
      break;
    case HPGO_AUTHORIZER:
      sqlite3_set_authorizer(db, id ? xAuthorize : 0, p);
      break;
    case HPGO_PROGRESS:
      sqlite3_progress_handler(db, arg, id ? xProgress : 0, p);
      break;
    case HPGO_TRACE:
      sqlite3_trace_v2(db, (unsigned)arg, id ? xTrace : 0, p);
      break;
    case HPGO_BUSY:
      if( id ) sqlite3_busy_handler(db, xBusy, p);
      else hpgo_busy_timeout(p->pConn, p->pConn->msBusy);
      break;
  }
  p->aId[iHook] = id;
  watchEnds(p);
  return SQLITE_OK;
}

/* Undo a transaction in which a callback has failed, as SQLite does when it is
** interrupted while it writes. Return whether it is still there: then a
** statement that was interrupted as well has not ended yet. */
int hpgo_rollback(uint64_t db){
  if( !sqlite3_get_autocommit(DB(db)) ) sqlite3_exec(DB(db), "ROLLBACK", 0, 0, 0);
  return sqlite3_txn_state(DB(db), 0)==SQLITE_TXN_WRITE;
}

/* A collation cannot fail, so that a commit hook has to see to it. */
int hpgo_create_collation(hpgo_hooks *p, const char *zName, uint64_t id){
  int rc = sqlite3_create_collation_v2(DB(p->db), zName, SQLITE_UTF8,
                                       (void*)(uintptr_t)id, id ? xCompare : 0,
                                       id ? xDestroy : 0);
  if( rc==SQLITE_OK ) watchEnds(p);
  return rc;
}
