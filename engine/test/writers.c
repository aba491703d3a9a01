/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Another process writes, and in WAL mode checkpoints, while queries run.
**
** Each transaction of the writer keeps two promises: the sum of column v is
** 0, and every group of g has as many rows as every other.  Whatever a query
** sees must keep them too.  Within a read transaction two runs, one of them
** by stock's code, must give one answer, whatever is written meanwhile.
*/
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "hptest.h"

#define N_SECOND 3     /* How long the writer writes, for each journal mode */

static void writer(const char *zFile){
  sqlite3 *db = openDb(&ours, zFile, 0);
  unsigned i = 0;
  pid_t parent = getppid();
  sqlite3_busy_timeout(db, 10000);
  execute(db, "PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=30;");
  while( getppid()==parent ){
    Text sql = {0,0,0};
    i++;
    textAppend(&sql, "BEGIN IMMEDIATE;"
      "UPDATE a SET v=v+%u WHERE rowid=%u; UPDATE a SET v=v-%u WHERE rowid=%u;",
      i, 1+i%1000, i, 1+i*7%1000);
    if( i%5==0 ){
      textAppend(&sql, "INSERT INTO a(g,v,s) SELECT g, 0, hex(zeroblob(%u))"
                       " FROM a WHERE rowid<=10;", i%300);
    }
    if( i%50==0 ) textAppend(&sql, "DELETE FROM a WHERE rowid>2000;");
    textAppend(&sql, "COMMIT;");
    sqlite3_exec(db, sql.z, 0, 0, 0);
    if( sqlite3_get_autocommit(db)==0 ) sqlite3_exec(db, "ROLLBACK", 0, 0, 0);
    if( i%40==0 ) sqlite3_exec(db, "PRAGMA wal_checkpoint(truncate)", 0, 0, 0);
    textClear(&sql);
  }
  exit(0);
}

static void tryMode(const char *zMode){
  const char *zFile = temporaryFile("writers.db");
  static const char zGroups[] =
    "SELECT g, count(*), sum(v), max(s) FROM a GROUP BY g";
  sqlite3 *db;
  time_t end;
  int nRun = 0, nChanged = 0;
  Text sql = {0,0,0}, last = {0,0,0};
  pid_t pid;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  textAppend(&sql, "PRAGMA page_size=1024; PRAGMA journal_mode=%s;"
    "CREATE TABLE a(g, v INTEGER, s);"
    "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n WHERE k<1000)"
    " INSERT INTO a SELECT k%%10, 0, 'x' FROM n;", zMode);
  execute(db, sql.z);
  sqlite3_close(db);
  fflush(stdout);
  pid = fork();
  if( pid==0 ) writer(zFile);
  db = openDb(&ours, zFile, 0);
  sqlite3_busy_timeout(db, 10000);
  /* Longer on a machine so slow that nothing would have been shown */
  end = time(0) + N_SECOND;
  for(; time(0)<end || (nChanged<=3 && time(0)<end+60); nRun++){
    Text a = {0,0,0}, b = {0,0,0}, c = {0,0,0};
    Text sums = {0,0,0};
    int rc;
    rc = answer(&ours, db, "SELECT sum(v), count(*)%10 FROM a", &sums);
    check(rc==SQLITE_OK && strcmp(sums.z, "0|0|\n")==0,
          "%s: the sum and the rest of the count are %s", zMode, sums.z);
    if( sqlite3_exec(db, "BEGIN", 0, 0, 0)==SQLITE_OK ){
      rc = answer(&ours, db, zGroups, &a);
      if( rc==SQLITE_OK ){
        answer(&ours, db, zGroups, &b);
        execute(db, "PRAGMA hp_offload=off");
        answer(&ours, db, zGroups, &c);
        execute(db, "PRAGMA hp_offload=force");
        check(strcmp(a.z, b.z)==0, "%s: a transaction sees two states", zMode);
        check(strcmp(a.z, c.z)==0, "%s: stock's code sees another state\n"
              "%s\n%s", zMode, a.z, c.z);
        nChanged += last.z==0 || strcmp(a.z, last.z)!=0;
        textClear(&last);
        textAppend(&last, "%s", a.z);
      }
      sqlite3_exec(db, "COMMIT", 0, 0, 0);
    }
    textClear(&a);
    textClear(&b);
    textClear(&c);
    textClear(&sums);
  }
  check(nChanged>3, "%s: %d states seen in %d runs", zMode, nChanged, nRun);
  kill(pid, SIGKILL);
  waitpid(pid, 0, 0);
  /* The writer was killed in the middle: what it left must still be sound. */
  textClear(&last);
  answer(&ours, db, "SELECT sum(v), count(*)%10 FROM a", &last);
  check(strcmp(last.z, "0|0|\n")==0, "%s: after a kill %s", zMode, last.z);
  sqlite3_close(db);
  removeDb(zFile);
  textClear(&sql);
  textClear(&last);
}

int main(void){
  tryMode("wal");
  tryMode("delete");
  return finish();
}
