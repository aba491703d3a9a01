/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** The plans of all statements of a test, as text.
**
** Linked with a test program by --wrap=sqlite3_prepare_v2 --wrap=sqlite3_exec: what
** the program prepares on our library comes here first.  With PLANS=FILE in the
** environment, and HPSQLITE_TEST=tree=show, FILE gets a paragraph for each statement
** that reads a table or an index:
**
**    SELECT g, count(*) FROM t GROUP BY g            it is taken over: the pipes of
**      PIPE 0: t columns 1 -> groups keys 1 ...      its plans (hp_show.c)
**
**    SELECT random() FROM t -- the function ...      it is not: why, in the words of
**                                                    PRAGMA hp_log
**
** Of one that is taken over in part both are told.  The same paragraph is written
** once.  Statements are looked at as they are prepared, with the tables that are there
** then; not those with a fault ahead (failAfter()), since looking would meet it, none of
** connections that take nothing over, and none while bNoPlans is set.  Of those that are
** not taken over and differ in numbers only the first is shown.
**
** So that a text is the same on each machine, the folder of temporary files is called
** DIR in it, and bytes that are not ASCII are shown in hex.  Of a long statement the
** beginning is shown.
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plans.h"

int __real_sqlite3_prepare_v2(sqlite3*, const char*, int, sqlite3_stmt**,
                              const char**);
int __real_sqlite3_exec(sqlite3*, const char*,
                        int(*)(void*,int,char**,char**), void*, char**);

#define MX_SQL 400                 /* Bytes that are shown of a statement, ... */
#define MX_REFUSED 200             /* ... and of one that is not taken over */
#define N_SEEN (1<<16)             /* Places for hash values, a power of two */

static const char *zPlans;         /* The file, or NULL */
static FILE *pPlans;
static unsigned long long aSeen[N_SEEN];
static int nSeen;
static int bShowing;               /* What is prepared is asked for here */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static Text note = {0,0,0};        /* What stands in the way of the next refusal */
static Text reason = {0,0,0};      /* Why SELECTs of the statement are refused */

/* Append what is not in *p yet */
static void addReason(Text *p, const char *z){
  if( p->z && strstr(p->z, z) ) return;
  textAppend(p, "%s%s", p->n ? "; " : "", z);
}

/* What the engine says while a statement is prepared */
static void logged(void *pArg, int rc, const char *z){
  (void)pArg;
  (void)rc;
  if( !bShowing ) return;
  if( strncmp(z, "hp note: ", 9)==0 ){
    addReason(&note, &z[9]);
  }else if( strncmp(z, "hp refused: ", 12)==0 ){
    addReason(&reason, note.n ? note.z : &z[12]);
    textClear(&note);
  }else if( strncmp(z, "hp taken over", 13)==0 ){
    textClear(&note);
  }
}

/* Before any connection: the log is ours */
__attribute__((constructor)) static void begin(void){
  zPlans = getenv("PLANS");
  if( zPlans==0 ) return;
  pPlans = fopen(zPlans, "a");
  if( pPlans==0 || sqlite3_config(SQLITE_CONFIG_LOG, logged, (void*)0) ){
    fprintf(stderr, "error: cannot write %s\n", zPlans);
    exit(2);
  }
}

/* Does z begin with the word zWord? */
static int beginsWith(const char *z, const char *zWord){
  int n = (int)strlen(zWord);
  return sqlite3_strnicmp(z, zWord, n)==0;
}

/* May the statement read many rows?  To ask of all would take long */
static int mayRead(const char *z){
  static const char *const azAll[] = {
    "SELECT", "WITH", "UPDATE", "DELETE", "CREATE INDEX", "CREATE UNIQUE",
    "REINDEX", "ANALYZE", "PRAGMA integrity_check", "PRAGMA quick_check",
    "PRAGMA foreign_key_check",
  };
  static const char *const azSelect[] = {
    "INSERT", "REPLACE", "CREATE TABLE", "CREATE TEMP",
  };
  unsigned i;
  for(i=0; i<sizeof(azAll)/sizeof(azAll[0]); i++){
    if( beginsWith(z, azAll[i]) ) return 1;
  }
  for(i=0; i<sizeof(azSelect)/sizeof(azSelect[0]); i++){
    if( beginsWith(z, azSelect[i]) ) return strstr(z, "SELECT")!=0;
  }
  return 0;
}

/* Append statement z[0..n-1] as one line, or the first nMost bytes of it */
static void appendSql(Text *pOut, const char *z, int n, int nMost){
  const char *zDir = getenv("TEST_DIR");
  int nDir = zDir ? (int)strlen(zDir) : 0;
  int iFirst = pOut->n;
  int i;
  for(i=0; i<n; i++){
    if( nDir && i+nDir<=n && memcmp(&z[i], zDir, nDir)==0 ){
      textAppend(pOut, "DIR");
      i += nDir-1;
    }else if( z[i]=='\n' || z[i]=='\t' ){
      textAppend(pOut, " ");
    }else if( z[i]<' ' || z[i]>'~' ){
      textAppend(pOut, "\\x%02x", z[i] & 0xff);
    }else{
      textAppend(pOut, "%c", z[i]);
    }
    if( pOut->n-iFirst>nMost ){
      textAppend(pOut, "...");
      break;
    }
  }
}

/* Is c part of a name or a number? */
static int isWord(char c){
  return (c>='0' && c<='9') || (c>='a' && c<='z') || (c>='A' && c<='Z') || c=='_';
}

/*
** Has a text been shown?  It has from now on.  With bAlike texts are the same that
** differ in numbers only: of statements that are not taken over there are many.
*/
static int isSeen(const char *z, int bAlike){
  unsigned long long h = 0xcbf29ce484222325ull;
  char cBefore = ' ';
  unsigned i;
  for(; *z; cBefore=*z++){
    char c = *z;
    if( bAlike && c>='0' && c<='9' && !isWord(cBefore) ){
      while( z[1]>='0' && z[1]<='9' ) z++;
      c = '0';
    }
    h = (h ^ (unsigned char)c) * 0x100000001b3ull;
  }
  if( h==0 ) h = 1;
  for(i=(unsigned)h; ; i++){
    unsigned long long *p = &aSeen[i & (N_SEEN-1)];
    if( *p==h ) return 1;
    if( *p==0 ){
      if( nSeen++>=N_SEEN/2 ){
        fprintf(stderr, "error: too many plans\n");
        exit(2);
      }
      *p = h;
      return 0;
    }
  }
}

/* Does the engine take nothing over, since the connection says so? */
static int isOff(sqlite3 *db){
  sqlite3_stmt *pStmt = 0;
  int bOff = 1;
  if( __real_sqlite3_prepare_v2(db, "PRAGMA hp_offload", -1, &pStmt, 0)==SQLITE_OK
   && sqlite3_step(pStmt)==SQLITE_ROW
  ){
    bOff = strcmp((const char*)sqlite3_column_text(pStmt, 0), "off")==0;
  }
  sqlite3_finalize(pStmt);
  return bOff;
}

/* How the first statement of zSql is done.  *pnByte: bytes of it */
void planOf(sqlite3 *db, const char *zSql, Plan *p, int *pnByte){
  sqlite3_stmt *pStmt = 0;
  const char *zTail = 0;
  Text sql = {0,0,0};
  memset(p, 0, sizeof(*p));
  textAppend(&sql, "EXPLAIN QUERY PLAN %s", zSql);
  bShowing = 1;
  __real_sqlite3_exec(db, "PRAGMA hp_log=on", 0, 0, 0);
  p->rc = __real_sqlite3_prepare_v2(db, sql.z, -1, &pStmt, &zTail);
  while( pStmt && sqlite3_step(pStmt)==SQLITE_ROW ){
    const char *z = (const char*)sqlite3_column_text(pStmt, 3);
    if( z==0 ) continue;
    if( strncmp(z, "TREE: ", 6)==0 || strncmp(z, "PIPE ", 5)==0
     || strncmp(z, "SET ", 4)==0
    ){
      textAppend(&p->pipes, "  %s\n", z);
    }
    p->nScan += strncmp(z, "SCAN ", 5)==0 ? strcmp(z, "SCAN CONSTANT ROW")!=0
              : strncmp(z, "SEARCH ", 7)==0;
  }
  if( pStmt ) *pnByte = (int)(zTail - sql.z) - (sql.n - (int)strlen(zSql));
  sqlite3_finalize(pStmt);
  __real_sqlite3_exec(db, "PRAGMA hp_log=off", 0, 0, 0);
  bShowing = 0;
  p->reason = reason;
  memset(&reason, 0, sizeof(reason));
  textClear(&note);
  textClear(&sql);
}

void planClear(Plan *p){
  textClear(&p->pipes);
  textClear(&p->reason);
}

/* Write the plan of the first statement of zSql */
static void showFirst(sqlite3 *db, const char *zSql){
  Text out = {0,0,0};
  Plan plan;
  int n = 0;
  planOf(db, zSql, &plan, &n);
  if( plan.rc==SQLITE_OK && (plan.pipes.n || plan.reason.n || plan.nScan) ){
    const char *zWhy = plan.reason.n ? plan.reason.z : "SQLite's";
    while( n>0 && strchr("; \n\t", zSql[n-1]) ) n--;
    textAppend(&out, "\n");
    appendSql(&out, zSql, n, plan.pipes.n ? MX_SQL : MX_REFUSED);
    if( plan.pipes.n==0 ){
      textAppend(&out, " -- %s\n", zWhy);
    }else{
      textAppend(&out, "\n%s", plan.pipes.z);
      if( plan.reason.n ) textAppend(&out, "  but %s\n", zWhy);
    }
    if( !isSeen(out.z, plan.pipes.n==0) && (fputs(out.z, pPlans)<0 || fflush(pPlans)) ){
      fprintf(stderr, "error: cannot write %s\n", zPlans);
      exit(2);
    }
  }
  planClear(&plan);
  textClear(&out);
}

static void show(sqlite3 *db, const char *z){
  if( pPlans==0 || bNoPlans || fault.nLeft>=0 || z==0 ) return;
  while( *z && strchr(" \n\t;", *z) ) z++;
  if( !mayRead(z) || isOff(db) ) return;
  pthread_mutex_lock(&mutex);
  showFirst(db, z);
  pthread_mutex_unlock(&mutex);
}

int __wrap_sqlite3_prepare_v2(
  sqlite3 *db,
  const char *zSql,
  int nByte,
  sqlite3_stmt **ppStmt,
  const char **pzTail
){
  if( nByte<0 ) show(db, zSql);
  return __real_sqlite3_prepare_v2(db, zSql, nByte, ppStmt, pzTail);
}

/* Statement by statement: each is looked at when those before it have run */
int __wrap_sqlite3_exec(
  sqlite3 *db,
  const char *zSql,
  int (*x)(void*,int,char**,char**),
  void *pArg,
  char **pzErr
){
  const char *z = zSql;
  const char *zSemi;
  int rc = SQLITE_OK;
  if( pPlans==0 || bNoPlans || zSql==0 ){
    return __real_sqlite3_exec(db, zSql, x, pArg, pzErr);
  }
  for(zSemi=strchr(z, ';'); zSemi && rc==SQLITE_OK; zSemi=strchr(&zSemi[1], ';')){
    Text one = {0,0,0};
    textAppend(&one, "%.*s", (int)(&zSemi[1]-z), z);
    if( sqlite3_complete(one.z) ){
      show(db, one.z);
      rc = __real_sqlite3_exec(db, one.z, x, pArg, pzErr);
      z = &zSemi[1];
    }
    textClear(&one);
  }
  if( rc==SQLITE_OK && (*z || z==zSql) ){
    show(db, z);
    rc = __real_sqlite3_exec(db, z, x, pArg, pzErr);
  }
  return rc;
}
