/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Functions and collations of the application in queries that are taken over:
** called in the application's thread, for the rows that SQLite would call them
** for, with its errors, and with what they keep by sqlite3_set_auxdata().  They
** may change the database under the scan that calls them.
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hptest.h"

static pthread_t mainThread;
static int nCall;                  /* Calls of what is under test */
static int nOther;                 /* ... from another thread */
static int nMade;                  /* Auxiliary data made */
static int nFreed;                 /* ... and freed */

static void called(void){
  nCall++;
  if( !pthread_equal(pthread_self(), mainThread) ) nOther++;
}

/* strict(X): X, or an error if X is 7 */
static void strictFunc(sqlite3_context *ctx, int nArg, sqlite3_value **apArg){
  (void)nArg;
  called();
  if( sqlite3_value_int(apArg[0])==7 ){
    sqlite3_result_error(ctx, "seven", -1);
  }else{
    sqlite3_result_value(ctx, apArg[0]);
  }
}

static void auxFree(void *p){
  nFreed++;
  free(p);
}

/* keeps(K,X): K times X, where K is looked at once if it is a constant */
static void keepsFunc(sqlite3_context *ctx, int nArg, sqlite3_value **apArg){
  int *p = sqlite3_get_auxdata(ctx, 0);
  (void)nArg;
  called();
  if( p==0 ){
    p = malloc(sizeof(*p));
    if( p==0 ) exit(2);
    *p = sqlite3_value_int(apArg[0]);
    nMade++;
    sqlite3_set_auxdata(ctx, 0, p, auxFree);
    p = sqlite3_get_auxdata(ctx, 0);
    if( p==0 ){
      sqlite3_result_error_nomem(ctx);
      return;
    }
  }
  sqlite3_result_int64(ctx, (sqlite3_int64)*p * sqlite3_value_int64(apArg[1]));
}

/* joined(X): an aggregate function, the values one after the other.  A 7 is an
** error of the step function, nothing but a 5 one in the end. */
typedef struct { char *z; } Joined;
static void joinedStep(sqlite3_context *ctx, int nArg, sqlite3_value **apArg){
  Joined *p = sqlite3_aggregate_context(ctx, sizeof(*p));
  const char *z = (const char*)sqlite3_value_text(apArg[0]);
  (void)nArg;
  called();
  if( p==0 ) return;
  if( sqlite3_value_int(apArg[0])==7 ){
    sqlite3_result_error(ctx, "seven", -1);
  }else{
    char *zNew = sqlite3_mprintf("%s%s%s;", p->z ? p->z : "", z ? z : "NULL",
                                 sqlite3_value_subtype(apArg[0]) ? "J" : "");
    sqlite3_free(p->z);
    p->z = zNew;
  }
}
static void joinedFinal(sqlite3_context *ctx){
  Joined *p = sqlite3_aggregate_context(ctx, 0);
  called();
  if( p==0 ){
    sqlite3_result_text(ctx, "none", -1, SQLITE_STATIC);
  }else if( p->z && strcmp(p->z, "5;")==0 ){
    sqlite3_result_error(ctx, "five", -1);
    sqlite3_free(p->z);
  }else{
    sqlite3_result_text(ctx, p->z, -1, sqlite3_free);
  }
  if( p ) p->z = 0;
}

/* always(X,Y): true; in place of LIKE */
static void alwaysFunc(sqlite3_context *ctx, int nArg, sqlite3_value **apArg){
  (void)nArg;
  (void)apArg;
  sqlite3_result_int(ctx, 1);
}

/* Text backwards */
static int backwards(void *p, int n1, const void *z1, int n2, const void *z2){
  const unsigned char *a = z1, *b = z2;
  (void)p;
  called();
  while( n1>0 && n2>0 ){
    n1--;
    n2--;
    if( a[n1]!=b[n2] ) return a[n1]<b[n2] ? -1 : 1;
  }
  return n1-n2;
}

/*
** zSql gives the same with the offload forced and off, is taken over, and
** calls what is under test as often (0 <= nExtra: up to so many times more).
*/
static void same(sqlite3 *db, const char *zSql, int nExtra){
  Text a = {0,0,0}, b = {0,0,0};
  int nOurs;
  check(isTaken(db, zSql), "not taken over: %s", zSql);
  nCall = nOther = 0;
  answer(&ours, db, zSql, &a);
  nOurs = nCall;
  check(nOther==0, "%d calls in another thread: %s", nOther, zSql);
  execute(db, "PRAGMA hp_offload=off");
  nCall = 0;
  answer(&ours, db, zSql, &b);
  execute(db, "PRAGMA hp_offload=force");
  check(strcmp(a.z, b.z)==0, "%s gives %s, stock's code %s", zSql, a.z, b.z);
  if( nExtra>=0 ){
    check(nOurs<=nCall+nExtra, "%s: %d calls, stock's code %d", zSql, nOurs,
          nCall);
  }
  textClear(&a);
  textClear(&b);
}

/*
** Functions that change what the query reads, when first called.  Then the
** answer is what stock's code gives, which reads all of it after that.
*/
static const char *zMeddle;        /* What to do then, or NULL: it was done */
static sqlite3_stmt *pHalfway;     /* A statement that has not ended */
static void meddle(sqlite3 *db){
  const char *z = zMeddle;
  zMeddle = 0;
  if( z==0 ) return;
  if( strcmp(z, "blob")==0 ){
    /* Column v of row 2900 becomes ten times '7' */
    sqlite3_blob *pBlob;
    check(sqlite3_blob_open(db, "main", "m", "v", 2900, 1, &pBlob)==SQLITE_OK
          && sqlite3_blob_write(pBlob, "7777777777", 10, 0)==SQLITE_OK
          && sqlite3_blob_close(pBlob)==SQLITE_OK, "blob: %s",
          sqlite3_errmsg(db));
  }else if( strcmp(z, "halfway")==0 ){
    pHalfway = prepared(db, "DELETE FROM m WHERE id>2000 RETURNING id");
    check(sqlite3_step(pHalfway)==SQLITE_ROW, "RETURNING");
  }else{
    execute(db, z);
  }
}
static void meddleFunc(sqlite3_context *ctx, int nArg, sqlite3_value **apArg){
  (void)nArg;
  meddle(sqlite3_context_db_handle(ctx));
  sqlite3_result_value(ctx, apArg[0]);
}
static void meddleStep(sqlite3_context *ctx, int nArg, sqlite3_value **apArg){
  sqlite3_int64 *p = sqlite3_aggregate_context(ctx, sizeof(*p));
  (void)nArg;
  (void)apArg;
  meddle(sqlite3_context_db_handle(ctx));
  if( p ) ++*p;
}
static void meddleFinal(sqlite3_context *ctx){
  sqlite3_int64 *p = sqlite3_aggregate_context(ctx, 0);
  sqlite3_result_int64(ctx, p ? *p : 0);
}
static int meddleCompare(void *p, int n1, const void *z1, int n2, const void *z2){
  int c = memcmp(z1, z2, n1<n2 ? n1 : n2);
  meddle((sqlite3*)p);
  return c ? c : n1-n2;
}

/* Table m has rows 1 to 3000 behind free pages that vacuuming takes away, which
** moves most of m.  Nothing of it is in the page cache but for what zBefore
** changes. */
static sqlite3 *meddleOpen(const char *zFile, const char *zBefore, int bForce){
  const int flags = SQLITE_UTF8|SQLITE_DETERMINISTIC;
  sqlite3 *db;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  execute(db, "PRAGMA page_size=1024; PRAGMA auto_vacuum=incremental;"
    "PRAGMA hp_extent=off; CREATE TABLE junk(x); CREATE TABLE m(id INTEGER"
    " PRIMARY KEY, v, w); INSERT INTO junk VALUES(zeroblob(100000));"
    "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<3000)"
    " INSERT INTO m SELECT x, '1234567890', 'filler filler filler filler' FROM c;"
    "DELETE FROM junk");
  sqlite3_close(db);
  db = openDb(&ours, zFile, 0);
  execute(db, bForce ? "PRAGMA hp_offload=force" : "PRAGMA hp_offload=off");
  sqlite3_create_function(db, "meddle", 1, flags, 0, meddleFunc, 0, 0);
  sqlite3_create_function(db, "meddled", 1, flags, 0, 0, meddleStep, meddleFinal);
  sqlite3_create_collation(db, "meddler", SQLITE_UTF8, db, meddleCompare);
  if( zBefore ) execute(db, zBefore);
  return db;
}

static void testMeddling(void){
  static const struct { const char *zBefore, *zMeddle; } aCase[] = {
    { 0, "PRAGMA incremental_vacuum" },
    { 0, "BEGIN; DELETE FROM m WHERE id>2000; ROLLBACK" },
    { 0, "BEGIN; DELETE FROM m WHERE id>2000" },
    { 0, "DELETE FROM m WHERE id>2000; PRAGMA incremental_vacuum" },
    { 0, "blob" },
    { 0, "halfway" },
    { "BEGIN", "PRAGMA incremental_vacuum" },
    { "BEGIN; DELETE FROM m WHERE id>2000", "ROLLBACK" },
    { "BEGIN; DELETE FROM m WHERE id>2000", "COMMIT; PRAGMA incremental_vacuum" },
    { "BEGIN; INSERT INTO m SELECT id+3000, v, w FROM m", "ROLLBACK" },
    { "BEGIN; INSERT INTO m SELECT id+3000, v, w FROM m", "blob" },
    { "SAVEPOINT a; INSERT INTO m SELECT id+3000, v, w FROM m", "ROLLBACK TO a" },
    { "BEGIN; SAVEPOINT a; DELETE FROM m WHERE id>2000; SAVEPOINT b;"
      " INSERT INTO m SELECT id+3000, v, w FROM m", "ROLLBACK TO b" },
    { "BEGIN; CREATE TABLE x(y)", "ROLLBACK" },
    { "BEGIN; CREATE TABLE x(y); DELETE FROM m WHERE id>2000", "ROLLBACK" },
    { "SAVEPOINT a; CREATE INDEX i ON m(v)", "ROLLBACK TO a" },
    { "PRAGMA journal_mode=memory", "PRAGMA journal_mode=truncate" },
    { "PRAGMA journal_mode=wal; BEGIN; INSERT INTO m SELECT id+3000, v, w FROM m",
      "ROLLBACK" },
    { "PRAGMA journal_mode=wal; SAVEPOINT a; INSERT INTO m SELECT id+3000, v, w"
      " FROM m", "ROLLBACK TO a" },
    { "PRAGMA journal_mode=wal", "PRAGMA incremental_vacuum" },
  };
  static const char *const azSql[] = {
    "SELECT count(*), sum(id), sum(v) FROM m WHERE meddle(id)>0",
    "SELECT v, count(*), sum(id) FROM m WHERE meddle(id)>0 GROUP BY v",
    "SELECT meddled(id), sum(v), max(id) FROM m",
    "SELECT count(*), sum(v), max(id) FROM m WHERE v<'x' COLLATE meddler",
    "SELECT id, v FROM m WHERE meddle(id)>0 ORDER BY w, v",
    "SELECT sum(v), count(*) FROM m WHERE id>meddle(1)",
  };
  const char *zFile = temporaryFile("functions-meddle.db");
  int i, j, k;
  for(i=0; i<(int)(sizeof(aCase)/sizeof(aCase[0])); i++){
    for(j=0; j<(int)(sizeof(azSql)/sizeof(azSql[0])); j++){
      Text aText[2] = {{0,0,0}, {0,0,0}};
      for(k=0; k<2; k++){
        sqlite3 *db = meddleOpen(zFile, aCase[i].zBefore, k);
        check(k==0 || isTaken(db, azSql[j]), "not taken over: %s", azSql[j]);
        zMeddle = aCase[i].zMeddle;
        answer(&ours, db, azSql[j], &aText[k]);
        check(zMeddle==0, "not called: %s", azSql[j]);
        sqlite3_finalize(pHalfway);
        pHalfway = 0;
        textAppend(&aText[k], "then %lld\n",
                   integer(&ours, db, "SELECT sum(id) FROM m"));
        check(sqlite3_close(db)==SQLITE_OK, "a statement is left");
      }
      check(strcmp(aText[0].z, aText[1].z)==0,
            "%s; %s in %s\nours:  %sstock: %s", aCase[i].zBefore,
            aCase[i].zMeddle, azSql[j], aText[1].z, aText[0].z);
      textClear(&aText[0]);
      textClear(&aText[1]);
    }
  }
  removeDb(zFile);
}

int main(void){
  const char *zFile = temporaryFile("functions.db");
  const int flags = SQLITE_UTF8|SQLITE_DETERMINISTIC;
  sqlite3 *db;

  mainThread = pthread_self();
  fixture(zFile, "PRAGMA page_size=1024", 3000);
  db = openDb(&ours, zFile, 0);
  sqlite3_create_function(db, "strict", 1, flags, 0, strictFunc, 0, 0);
  sqlite3_create_function(db, "keeps", 2, flags, 0, keepsFunc, 0, 0);
  sqlite3_create_function(db, "joined", 1, flags, 0, 0, joinedStep, joinedFinal);
  sqlite3_create_function(db, "marked", 1, flags|SQLITE_SUBTYPE, 0, 0,
                          joinedStep, joinedFinal);
  sqlite3_create_collation(db, "backwards", SQLITE_UTF8, 0, backwards);
  if( !hasEngine() ) return finish();

  /* Every row, in the application's thread although the table is large */
  same(db, "SELECT g, sum(strict(id*100)) FROM t GROUP BY g", 0);
  same(db, "SELECT sum(strict(b)) FROM big WHERE c<>7 AND a>2", 0);

  /* Only rows that lead there: the others would be an error */
  same(db, "SELECT sum(CASE WHEN i<>7 THEN strict(i) END) FROM t", 0);
  same(db, "SELECT sum(iif(i=7, 0, strict(i))), count(*) FROM t", 0);
  same(db, "SELECT sum(coalesce(nullif(7,i)*0, strict(1))) FROM t", 0);
  same(db, "SELECT count(*) FROM t WHERE i=7 OR strict(i)>50", 0);
  same(db, "SELECT count(*) FROM t WHERE i<>7 AND strict(i)>50", 0);
  same(db, "SELECT sum(CASE WHEN i<>7 AND strict(i) THEN 1 END) FROM t", 0);

  /* Rows that lead there: errors.  As a value AND has both sides computed */
  same(db, "SELECT sum(strict(i)) FROM t", -1);
  same(db, "SELECT sum(i<>7 AND strict(i)) FROM t", -1);
  same(db, "SELECT sum(abs(h-9223372036854775807)) FROM t", -1);
  same(db, "SELECT sum(abs(CASE WHEN i=7 THEN -9223372036854775807-1 END))"
           " FROM t", -1);
  same(db, "SELECT max(json_extract(s,'$')) FROM t WHERE i=7", -1);
  same(db, "SELECT g, sum(CASE WHEN i>1000 THEN abs(-9223372036854775807-1)"
           " ELSE 1 END) FROM t GROUP BY g", -1);

  /* Auxiliary data: two calls do not mix theirs up, all of it is freed */
  nMade = nFreed = 0;
  same(db, "SELECT g, sum(keeps(3,i)), sum(keeps(5,i)) FROM t GROUP BY g", 0);
  check(nMade==nFreed, "%d made, %d freed", nMade, nFreed);
  check(nMade==4, "%d made where 4 would do", nMade);
  same(db, "SELECT sum(keeps(i,2)) FROM t", 0);
  check(nMade==nFreed, "%d made, %d freed", nMade, nFreed);

  /* Collations */
  same(db, "SELECT count(*) FROM t WHERE s<'k5' COLLATE backwards", 0);
  same(db, "SELECT sum(CASE WHEN i>50 THEN s='k5' COLLATE backwards END)"
           " FROM t WHERE g<>'c'", 0);
  same(db, "SELECT sum(s COLLATE backwards IN ('k5','k3','x')) FROM t", -1);
  same(db, "SELECT g, max(max(s, 'k5') COLLATE binary) FROM t GROUP BY g", -1);

  /* Subtypes reach a function, and aggregate functions */
  same(db, "SELECT max(length(json_array(json_array(i), i))) FROM t", -1);
  same(db, "SELECT json_array(min(json_array(i))) FROM t", -1);
  same(db, "SELECT json_array(CASE WHEN i>50 THEN json_array(i) ELSE i END)"
           " AS j, count(*) FROM t GROUP BY j", -1);

  same(db, "SELECT json_group_array(json_array(i) ORDER BY i, r) FROM t", -1);
  same(db, "SELECT json_group_array(DISTINCT json_array(i) ORDER BY"
           " json_array(i)) FROM t", -1);
  same(db, "SELECT g, joined(json_array(i) ORDER BY i DESC),"
           " marked(json_array(i) ORDER BY i DESC),"
           " marked(CASE WHEN i>50 THEN json_array(i) ELSE i END ORDER BY i)"
           " FROM t WHERE i>7 GROUP BY g", -1);

  /* ORDER BY in an aggregate function of the application: as many calls, in the
  ** same order, in the same thread.  Errors come with the group they are in */
  same(db, "SELECT g, joined(i ORDER BY r DESC) FROM t WHERE i<>7 GROUP BY g", 0);
  same(db, "SELECT joined(s ORDER BY s, i) FILTER (WHERE i>90) FROM t", 0);
  same(db, "SELECT joined(i ORDER BY r) FROM t WHERE id<0", 0);
  same(db, "SELECT g, joined(i ORDER BY r) FROM t GROUP BY g", 0);
  same(db, "SELECT g, joined(i ORDER BY r) FROM t WHERE i<>7 OR g='c' GROUP BY g"
           " ORDER BY g DESC", 0);
  same(db, "SELECT joined(i ORDER BY r) FROM t", 0);
  same(db, "SELECT i%10, joined(i ORDER BY r) FROM t WHERE i IN (1,22,5,33)"
           " AND id<102 GROUP BY 1", 0);
  same(db, "SELECT c%5, joined(b ORDER BY a, b) FROM big WHERE c>600 GROUP BY 1",
       0);

  /* SQLite's own errors, with the group they are in */
  same(db, "SELECT g, json_group_array(CASE WHEN g='d' THEN x'00ff' ELSE i END"
           " ORDER BY i) FROM t GROUP BY g", -1);
  same(db, "SELECT g, json_group_array(CASE WHEN g='d' THEN x'00ff' ELSE i END"
           " ORDER BY i) FROM t GROUP BY g HAVING sum(g='d')=0", -1);
  same(db, "SELECT c, json_group_array(CASE WHEN c=650 THEN x'00ff' ELSE b END"
           " ORDER BY b DESC) FROM big GROUP BY c", -1);
  same(db, "SELECT c, sum(CASE WHEN c>690 THEN 9223372036854775807 ELSE 1 END"
           " ORDER BY b DESC) FROM big GROUP BY c", -1);

  /* SQLite's own, redefined */
  same(db, "SELECT sum(s LIKE 'k1%'), sum(length(s)) FROM t", -1);
  sqlite3_create_function(db, "like", 2, flags, 0, alwaysFunc, 0, 0);
  sqlite3_create_function(db, "length", 1, flags, 0, strictFunc, 0, 0);
  same(db, "SELECT sum(s LIKE 'k1%'), sum(length(id*100)) FROM t", 0);

  sqlite3_close(db);
  testMeddling();
  removeDb(zFile);
  return finish();
}
