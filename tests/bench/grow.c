/*
** Eight tables that grow together, a row to each in turn:
**
**    grow DATABASE ROWS COMMIT SQL
**
** ROWS rows in all, COMMIT rows a transaction; SQL is executed first (PRAGMAs).
** Prints the seconds from the first row to the last commit. The rows follow
** from their numbers, so that two libraries store the same.
*/
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "sqlite3.h"

#define N_TABLE 8
#define N_TEXT 65536    /* Places where a text may begin */

static sqlite3 *db;

static void stop(const char *zWhat){
  fprintf(stderr, "error: %s: %s\n", zWhat, sqlite3_errmsg(db));
  exit(1);
}

static void execute(const char *zSql){
  if( sqlite3_exec(db, zSql, 0, 0, 0) ) stop(zSql);
}

static sqlite3_stmt *prepare(const char *zSql){
  sqlite3_stmt *pStmt;
  if( sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0) ) stop(zSql);
  return pStmt;
}

static void finish(sqlite3_stmt *pStmt){
  sqlite3_step(pStmt);
  if( sqlite3_reset(pStmt) ) stop(sqlite3_sql(pStmt));
}

static double now(void){
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec/1e9;
}

static uint64_t mix(uint64_t x){
  x ^= x>>30; x *= 0xbf58476d1ce4e5b9ull;
  x ^= x>>27; x *= 0x94d049bb133111ebull;
  return x ^ (x>>31);
}

int main(int argc, char **argv){
  sqlite3_stmt *aInsert[N_TABLE], *pBegin, *pCommit;
  static char aText[N_TEXT+200];
  char zSql[200];
  double start;
  long i, nRow, nCommit;
  int j;
  if( argc!=5 ){
    fprintf(stderr, "usage: grow DATABASE ROWS COMMIT SQL\n");
    return 2;
  }
  nRow = atol(argv[2]);
  nCommit = atol(argv[3]);
  if( sqlite3_open(argv[1], &db) ) stop(argv[1]);
  execute(argv[4]);
  for(j=0; j<N_TABLE; j++){
    sprintf(zSql, "CREATE TABLE t%d(id INTEGER PRIMARY KEY, k INTEGER, v REAL,"
                  " s TEXT)", j);
    execute(zSql);
    sprintf(zSql, "INSERT INTO t%d(k,v,s) VALUES(?,?,?)", j);
    aInsert[j] = prepare(zSql);
  }
  /* Made before, so that it takes no part of the time */
  for(j=0; j<(int)sizeof(aText); j++) aText[j] = 'a' + mix(j+1)%26;
  pBegin = prepare("BEGIN");
  pCommit = prepare("COMMIT");
  start = now();
  for(i=0; i<nRow; i++){
    sqlite3_stmt *p = aInsert[i%N_TABLE];
    uint64_t r = mix(i+1);
    int n = 104 + (int)(r%80);
    if( nCommit>1 && i%nCommit==0 ) finish(pBegin);
    sqlite3_bind_int64(p, 1, (sqlite3_int64)(mix(r)%10000000));
    sqlite3_bind_double(p, 2, (double)(r%100000)/8);
    sqlite3_bind_text(p, 3, &aText[(r>>8)%N_TEXT], n, SQLITE_STATIC);
    finish(p);
    if( nCommit>1 && (i%nCommit==nCommit-1 || i==nRow-1) ) finish(pCommit);
  }
  printf("%.4f\n", now() - start);
  sqlite3_finalize(pBegin);
  sqlite3_finalize(pCommit);
  for(j=0; j<N_TABLE; j++) sqlite3_finalize(aInsert[j]);
  if( sqlite3_close(db) ) stop("close");
  return 0;
}
