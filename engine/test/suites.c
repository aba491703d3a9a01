/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** suites SCHEMA...: the plans of statements of a benchmark, as text.
** suites queries: those of azQuery, which many tests run (hptest.c).
**
** Standard input has the statements, each behind a line "@ NAME".  PLANS=FILE in the
** environment says where the text goes; HPSQLITE_TEST=tree=show is needed for it.
**
** A SCHEMA makes tables and indexes.  Behind a line "-- statistics" it says what ANALYZE
** finds at full size.  Each table gets as many rows as it has at full size, but not more
** than a few thousand, on pages that are so small that it has as many leaves as it takes
** to be a large table.  So the engine plans as for large tables, of which it knows
**
**    nothing       there are no statistics, and the connection is as it is opened
**    statistics    it knows those of full size
**    forced        nothing, and all that can be taken over is: PRAGMA hp_offload=force.
**                  What is prepared again after it has taken long is planned like that
**
** Where the three have one plan it is shown once.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plans.h"

#define MX_ROW 4000                /* Rows of a table */
#define MX_STEP 200                /* Statements */
#define N_WAY 3

static const char *const azWay[N_WAY] = { "nothing", "statistics", "forced" };

/* A statement and its plans */
static struct Step {
  char *zName;
  char *zSql;
  Text aPlan[N_WAY];
} aStep[MX_STEP];
static int nStep;

/* All of a stream, with a zero byte behind it */
static char *readAll(FILE *f, const char *zName){
  Text text = {0,0,0};
  char z[4096];
  size_t n;
  if( f==0 ){
    fprintf(stderr, "error: cannot read %s\n", zName);
    exit(2);
  }
  textAppend(&text, "");
  while( (n = fread(z, 1, sizeof(z), f))>0 ) textAppend(&text, "%.*s", (int)n, z);
  return text.z;
}

/* Take statements apart */
static void readSteps(char *z){
  while( (z = strchr(z, '@'))!=0 ){
    struct Step *p = &aStep[nStep++];
    if( nStep>MX_STEP ) exit(2);
    p->zName = &z[2];
    z = strchr(z, '\n');
    if( z==0 ) exit(2);
    *z++ = 0;
    p->zSql = z;
    z = strstr(z, "\n@");
    if( z==0 ) return;
    *z++ = 0;
  }
}

/* A value for row k of a column */
static void value(Text *pOut, const char *zType, int bKey, int iCol){
  if( bKey ){
    textAppend(pOut, "k");
  }else if( strcmp(zType, "DATE")==0 ){
    textAppend(pOut, "date('1992-01-01', '+'||(k*%d%%2400)||' days')", 7+iCol);
  }else if( strstr(zType, "INT") || strstr(zType, "DEC") || strstr(zType, "REAL") ){
    textAppend(pOut, "k*%d%%1000", 7919+iCol);
  }else{
    textAppend(pOut, "'text '||(k*%d%%97)", 7+iCol);
  }
}

/* Put nRow rows into a table */
static void fill(sqlite3 *db, const char *zTable, int nRow){
  sqlite3_stmt *p;
  Text sql = {0,0,0};
  int n = 0;
  textAppend(&sql, "SELECT type, pk FROM pragma_table_info('%s')", zTable);
  p = prepared(db, sql.z);
  textClear(&sql);
  textAppend(&sql, "WITH RECURSIVE n(k) AS (VALUES(1) UNION ALL SELECT k+1 FROM n"
             " WHERE k<%d) INSERT INTO \"%s\" SELECT", nRow, zTable);
  while( sqlite3_step(p)==SQLITE_ROW ){
    textAppend(&sql, n ? ", " : " ");
    value(&sql, (const char*)sqlite3_column_text(p, 0), sqlite3_column_int(p, 1), n++);
  }
  sqlite3_finalize(p);
  textAppend(&sql, " FROM n");
  execute(db, sql.z);
  textClear(&sql);
}

/* Put rows into all tables, as many as there are said to be */
static void fillAll(sqlite3 *db){
  sqlite3_stmt *p = prepared(db, "SELECT tbl, max(CAST(stat AS INTEGER)) FROM"
                             " sqlite_stat1 GROUP BY tbl ORDER BY tbl");
  while( sqlite3_step(p)==SQLITE_ROW ){
    int n = sqlite3_column_int(p, 1);
    fill(db, (const char*)sqlite3_column_text(p, 0), n<MX_ROW ? n : MX_ROW);
  }
  sqlite3_finalize(p);
}

/* The statements of azQuery, and their tables */
static void beginQueries(const char *zFile){
  sqlite3 *db;
  int i;
  fixture(zFile, "PRAGMA page_size=512", 600);
  for(i=0; i<nQuery; i++){
    aStep[i].zName = aStep[i].zSql = (char*)azQuery[i];
  }
  nStep = nQuery;
  db = openDb(&ours, zFile, 0);
  execute(db, "ANALYZE");
  sqlite3_close(db);
}

/* The statements of a benchmark, and the tables that files make.  The statistics of full
** size are appended to *pStatistics */
static void beginSuite(const char *zFile, char **azSchema, int nSchema, Text *pStatistics){
  Text schema = {0,0,0};
  sqlite3 *db;
  int i;
  for(i=0; i<nSchema; i++){
    char *z = readAll(fopen(azSchema[i], "r"), azSchema[i]);
    char *zStat = strstr(z, "-- statistics\n");
    if( zStat ){
      textAppend(pStatistics, "%s", zStat);
      *zStat = 0;
    }
    textAppend(&schema, "%s", z);
    free(z);
  }
  readSteps(readAll(stdin, "statements"));
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  execute(db, "PRAGMA page_size=512; PRAGMA synchronous=off; BEGIN");
  execute(db, schema.z);
  execute(db, pStatistics->z);
  fillAll(db);
  execute(db, "COMMIT");
  sqlite3_close(db);
  textClear(&schema);
}

/* The plans of all statements, in one way */
static void showAll(const char *zFile, int iWay){
  sqlite3 *db;
  int i, n;
  if( sqlite3_open(zFile, &db) ) exit(2);
  if( iWay==2 ) execute(db, "PRAGMA hp_offload=force");
  for(i=0; i<nStep; i++){
    struct Step *p = &aStep[i];
    Plan plan;
    planOf(db, p->zSql, &plan, &n);
    textAppend(&p->aPlan[iWay], "");
    if( plan.rc ) textAppend(&p->aPlan[iWay], "  error: %s\n", sqlite3_errmsg(db));
    if( plan.pipes.n ) textAppend(&p->aPlan[iWay], "%s", plan.pipes.z);
    if( plan.reason.n ){
      textAppend(&p->aPlan[iWay], "  %s%s\n", plan.pipes.n ? "but " : "", plan.reason.z);
    }else if( plan.pipes.n==0 && plan.rc==0 ){
      textAppend(&p->aPlan[iWay], "  SQLite's\n");
    }
    planClear(&plan);
  }
  sqlite3_close(db);
}

/* Write all plans; those of ways that have the same together */
static void writeAll(FILE *f){
  int i, j, k;
  for(i=0; i<nStep; i++){
    struct Step *p = &aStep[i];
    int bOne = strcmp(p->aPlan[0].z, p->aPlan[1].z)==0 && strcmp(p->aPlan[0].z, p->aPlan[2].z)==0;
    fprintf(f, "\n%s\n", p->zName);
    for(j=0; j<N_WAY; j++){
      int nSame = 0;
      if( p->aPlan[j].z==0 ) continue;
      for(k=j; k<N_WAY; k++){
        if( p->aPlan[k].z==0 || strcmp(p->aPlan[k].z, p->aPlan[j].z) ) continue;
        if( !bOne ) fprintf(f, "%s%s", nSame++ ? ", " : " ", azWay[k]);
        if( k>j ) textClear(&p->aPlan[k]);
      }
      fprintf(f, "%s%s", nSame ? "\n" : "", p->aPlan[j].z);
    }
  }
}

int main(int argc, char **argv){
  const char *zFile = temporaryFile("suites.db");
  const char *zPlans = getenv("PLANS");
  Text statistics = {0,0,0};
  FILE *f;
  sqlite3 *db;
  if( zPlans==0 || argc<2 ){
    fprintf(stderr, "usage: PLANS=FILE suites SCHEMA... <STATEMENTS\n"
                    "       PLANS=FILE suites queries\n");
    return 2;
  }
  bNoPlans = 1;
  if( strcmp(argv[1], "queries")==0 ){
    beginQueries(zFile);
  }else{
    beginSuite(zFile, &argv[1], argc-1, &statistics);
  }
  showAll(zFile, 1);
  db = openDb(&ours, zFile, 0);
  execute(db, "DELETE FROM sqlite_stat1");
  sqlite3_close(db);
  showAll(zFile, 0);
  showAll(zFile, 2);
  f = fopen(zPlans, "a");
  if( f==0 ) return 2;
  writeAll(f);
  textClear(&statistics);
  return fclose(f)!=0;
}
