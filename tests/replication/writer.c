/*
** The program that writes while a database is replicated, and the judge of
** what the replica is. It calls whichever SQLite the loader gives it.
**
**   writer write FILE PRAGMA...   commit transactions until it is killed, and
**                         print the number of each when it is committed, and
**                         "did WHAT" for what else has been done
**   writer check FILE     the file is whole and holds the first N transactions,
**                         all of each and nothing of others: print N
**   writer digest FILE    the same, and print a hash of all rows
**   writer hash FILE      the file is whole, whatever it holds: print how many pages
**                         it has, and the hash
**   writer pages FILE     print how many leaf pages the smallest table has
**   writer library FILE   print SQLite's source id
**
** What a transaction does follows from its number alone, so check needs no
** notes. Transaction N inserts nRow(N,T) rows into each of six tables, whose
** sizes go from a few bytes to several pages, and each 16th deletes what
** transaction N-40 has inserted into one of them. Tables and their indexes so
** grow next to one another, some far faster than others, and pages are freed
** and used again.
**
** One in 64 is large: 20 MB, ten times the page cache, so most of its pages go
** to the log before the COMMIT. Transaction N+32 deletes what it inserted. What
** comes between transactions follows from the number as well: an incremental
** vacuum, every 128th time a VACUUM that brings another mode of auto_vacuum
** (unless a PRAGMA of the command has set one), and each 8th time a checkpoint
** of one of the four modes.
**
** A checkpoint is done only while the writer can lock FILE.gate, which `run`
** locks while Litestream is down. A log from which all pages have gone into the
** database begins anew with the next transaction, and takes frames away that
** Litestream has not seen. Litestream 0.5.18 does not always find that out, with
** stock SQLite either, and what it restores is then no database. While it
** runs, its read transaction keeps the log from beginning anew. Automatic
** checkpoints are off, as its manual asks of programs that write much.
*/
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/file.h>
#include <sqlite3.h>

#define N_TABLE 6
#define MS_BUSY 20000
typedef sqlite3_int64 i64;
typedef sqlite3_uint64 u64;

static sqlite3 *db;

static void fail(const char *zWhat){
  fprintf(stderr, "writer: %s: %s\n", zWhat, sqlite3_errmsg(db));
  exit(1);
}

static void run(const char *zSql){
  if( sqlite3_exec(db, zSql, 0, 0, 0)!=SQLITE_OK ) fail(zSql);
}

static sqlite3_stmt *prepare(const char *zSql){
  sqlite3_stmt *p = 0;
  if( sqlite3_prepare_v2(db, zSql, -1, &p, 0)!=SQLITE_OK ) fail(zSql);
  return p;
}

/* The integer that a query without parameters gives. */
static i64 number(const char *zSql){
  sqlite3_stmt *p = prepare(zSql);
  i64 v = -1;
  if( sqlite3_step(p)==SQLITE_ROW ) v = sqlite3_column_int64(p, 0);
  if( sqlite3_finalize(p)!=SQLITE_OK ) fail(zSql);
  return v;
}

/* A number that looks random and is always the same. */
static u64 mix(u64 a, u64 b, u64 c){
  u64 h = a*0x9E3779B97F4A7C15u ^ (b+1)*0xC2B2AE3D27D4EB4Fu ^ (c+1)*0x165667B19E3779F9u;
  h ^= h>>29; h *= 0xBF58476D1CE4E5B9u;
  h ^= h>>32; h *= 0x94D049BB133111EBu;
  return h ^ (h>>31);
}

static int isLarge(i64 n){ return n%64==32; }

static int nRow(i64 n, int t){
  return isLarge(n) ? 6000>>t : 1 + (int)(mix(n,t,1) % (1 + (16>>t)));
}

/* Bytes of row i: one of 50 is several pages long. */
static int nByte(i64 n, int t, int i){
  u64 h = mix(n, t, 100+i);
  return (int)((h>>8) % (h%50==0 ? 20000 : isLarge(n) ? 3500 : 700));
}

/* The table that transaction n deletes from, or -1. */
static int deletesFrom(i64 n){ return n%16==0 && n>40 ? (int)(n/16)%N_TABLE : -1; }

/* True if none of transaction n's rows in table t is left after nDone of them. */
static int isGone(i64 n, int t, i64 nDone){
  if( isLarge(n) ) return n+32<=nDone;
  return n%16==8 && n+40<=nDone && deletesFrom(n+40)==t;
}

static void createTables(void){
  char zSql[300];
  int t;
  run("BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS done(n INTEGER PRIMARY KEY)");
  for(t=0; t<N_TABLE; t++){
    snprintf(zSql, sizeof(zSql),
      "CREATE TABLE IF NOT EXISTS t%d(id INTEGER PRIMARY KEY, txn, k TEXT, v BLOB);"
      "CREATE INDEX IF NOT EXISTS t%dtxn ON t%d(txn);", t, t, t);
    run(zSql);
    if( t%2==0 ){
      snprintf(zSql, sizeof(zSql),
        "CREATE INDEX IF NOT EXISTS t%dk ON t%d(k, txn)", t, t);
      run(zSql);
    }
  }
  run("COMMIT");
}

static void writeTransaction(i64 n, sqlite3_stmt **apInsert){
  static unsigned char aByte[20000];
  char zKey[20], zSql[80];
  int t, i, j;
  run("BEGIN IMMEDIATE");
  /* A row to each table, and again: they grow together. */
  for(i=0; i<nRow(n, 0) || i<17; i++){
    for(t=0; t<N_TABLE; t++){
      u64 key = mix(n, t, i);
      int nB = nByte(n, t, i);
      if( i>=nRow(n, t) ) continue;
      for(j=0; j<nB; j++) aByte[j] = (unsigned char)(key >> (j%8*8));
      snprintf(zKey, sizeof(zKey), "%016llx", key);
      sqlite3_bind_int64(apInsert[t], 1, n);
      sqlite3_bind_text(apInsert[t], 2, zKey, -1, SQLITE_STATIC);
      sqlite3_bind_blob(apInsert[t], 3, aByte, nB, SQLITE_STATIC);
      sqlite3_step(apInsert[t]);
      if( sqlite3_reset(apInsert[t])!=SQLITE_OK ) fail("INSERT");
    }
  }
  if( deletesFrom(n)>=0 ){
    snprintf(zSql, sizeof(zSql), "DELETE FROM t%d WHERE txn=%lld", deletesFrom(n), n-40);
    run(zSql);
  }
  for(t=0; t<N_TABLE && n>32 && isLarge(n-32); t++){
    snprintf(zSql, sizeof(zSql), "DELETE FROM t%d WHERE txn=%lld", t, n-32);
    run(zSql);
  }
  snprintf(zSql, sizeof(zSql), "INSERT INTO done VALUES(%lld)", n);
  run(zSql);
  run("COMMIT");
}

static void did(const char *zWhat){
  printf("did %s\n", zWhat);
  fflush(stdout);
}

/* A checkpoint, if the gate is open. A reader may keep it from doing all it
** would: that is no error. */
static void checkpoint(i64 n, int fdGate){
  static const char *azMode[] = { "passive", "full", "restart", "truncate" };
  int eMode = (int)(n/8 % 4);
  int rc;
  if( flock(fdGate, LOCK_EX|LOCK_NB)!=0 ) return;
  sqlite3_busy_timeout(db, 50);
  rc = sqlite3_wal_checkpoint_v2(db, 0, SQLITE_CHECKPOINT_PASSIVE+eMode, 0, 0);
  sqlite3_busy_timeout(db, MS_BUSY);
  flock(fdGate, LOCK_UN);
  if( rc!=SQLITE_OK && rc!=SQLITE_BUSY ) fail("checkpoint");
  did(azMode[eMode]);
}

/* What comes behind transaction n. */
static void between(i64 n, int fdGate, int bKeep){
  if( isLarge(n) ){
    int nSpill = 0, nHighest;
    sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_SPILL, &nSpill, &nHighest, 1);
    if( nSpill==0 ) fail("a large transaction has spilled no page");
    did("large");
  }
  if( n%64==4 ) run("PRAGMA incremental_vacuum(500)");
  if( n%128==0 ){
    char zSql[60];
    snprintf(zSql, sizeof(zSql), "PRAGMA auto_vacuum=%d", 2 - (int)((n/128+2)%3));
    if( !bKeep ) run(zSql);
    run("VACUUM");
    did("vacuum");
  }
  if( n%8==5 ) checkpoint(n, fdGate);
}

static void writeAll(const char *zFile, int bKeep, int msPause){
  sqlite3_stmt *apInsert[N_TABLE];
  struct timespec pause;
  char *zGate = sqlite3_mprintf("%s.gate", zFile);
  int fdGate = open(zGate, O_RDWR|O_CREAT|O_CLOEXEC, 0600);
  i64 n;
  int t;
  if( fdGate<0 ) fail(zGate);
  run("PRAGMA journal_mode=wal; PRAGMA synchronous=normal;"
      "PRAGMA wal_autocheckpoint=0");
  createTables();
  for(t=0; t<N_TABLE; t++){
    char zSql[80];
    snprintf(zSql, sizeof(zSql), "INSERT INTO t%d(txn,k,v) VALUES(?,?,?)", t);
    apInsert[t] = prepare(zSql);
  }
  pause.tv_sec = 0;
  pause.tv_nsec = msPause*1000000L;
  for(n=number("SELECT ifnull(max(n),0) FROM done")+1;; n++){
    writeTransaction(n, apInsert);
    printf("%lld\n", n);
    fflush(stdout);
    between(n, fdGate, bKeep);
    nanosleep(&pause, 0);
  }
}

static void wrong(const char *zWhat, i64 n, int t, i64 found, i64 expected){
  fprintf(stderr, "writer: transaction %lld, table t%d: %lld %s, not %lld\n",
          n, t, found, zWhat, expected);
  exit(1);
}

static void checkWhole(void){
  sqlite3_stmt *p = prepare("PRAGMA integrity_check");
  int i;
  for(i=0; sqlite3_step(p)==SQLITE_ROW; i++){
    if( i==0 && strcmp((const char*)sqlite3_column_text(p, 0), "ok")==0 ) break;
    fprintf(stderr, "writer: integrity_check: %s\n", sqlite3_column_text(p, 0));
  }
  if( i>0 ) exit(1);
  if( sqlite3_finalize(p)!=SQLITE_OK ) fail("integrity_check");
}

/* Return the number of transactions. */
static i64 check(void){
  sqlite3_stmt *p;
  i64 nDone, n;
  int t, i;
  checkWhole();
  /* Killed before its first transaction */
  if( number("SELECT count(*) FROM sqlite_schema WHERE name='done'")==0 ) return 0;
  nDone = number("SELECT count(*) FROM done");
  if( number("SELECT ifnull(max(n),0) FROM done")!=nDone ){
    fprintf(stderr, "writer: there are gaps in the numbers of transactions\n");
    exit(1);
  }
  for(t=0; t<N_TABLE; t++){
    char zSql[200];
    snprintf(zSql, sizeof(zSql), "SELECT count(*), ifnull(sum(length(v)),0),"
        " ifnull(group_concat(k,''),'') FROM (SELECT * FROM t%d WHERE txn=? ORDER BY id)", t);
    p = prepare(zSql);
    for(n=1; n<=nDone; n++){
      i64 nR = nRow(n, t), nB = 0;
      const char *zKey;
      char zWant[20];
      if( isGone(n, t, nDone) ) nR = 0;
      for(i=0; i<nR; i++) nB += nByte(n, t, i);
      sqlite3_bind_int64(p, 1, n);
      if( sqlite3_step(p)!=SQLITE_ROW ) fail(zSql);
      if( sqlite3_column_int64(p,0)!=nR ) wrong("rows", n, t, sqlite3_column_int64(p,0), nR);
      if( sqlite3_column_int64(p,1)!=nB ) wrong("bytes", n, t, sqlite3_column_int64(p,1), nB);
      zKey = (const char*)sqlite3_column_text(p, 2);
      for(i=0; i<nR; i++){
        snprintf(zWant, sizeof(zWant), "%016llx", mix(n, t, i));
        if( strncmp(&zKey[16*i], zWant, 16)!=0 ) wrong("is the row of another key", n, t, i, i);
      }
      sqlite3_reset(p);
    }
    sqlite3_finalize(p);
    snprintf(zSql, sizeof(zSql), "SELECT count(*) FROM t%d WHERE txn NOT BETWEEN 1 AND %lld", t, nDone);
    if( number(zSql)!=0 ) wrong("rows of other transactions", nDone, t, number(zSql), 0);
  }
  return nDone;
}

/* FNV-1a over every value of every table, and over the schema. */
static u64 digest(void){
  sqlite3_stmt *pTable = prepare("SELECT name FROM sqlite_schema WHERE type='table'"
                                 " UNION ALL SELECT 'sqlite_schema' ORDER BY 1");
  u64 h = 0xCBF29CE484222325u;
  while( sqlite3_step(pTable)==SQLITE_ROW ){
    char *zSql = sqlite3_mprintf("SELECT * FROM \"%w\" ORDER BY rowid", sqlite3_column_text(pTable, 0));
    sqlite3_stmt *p = prepare(zSql);
    int bSchema = strcmp((const char*)sqlite3_column_text(pTable, 0), "sqlite_schema")==0;
    while( sqlite3_step(p)==SQLITE_ROW ){
      int i, j;
      for(i=0; i<sqlite3_column_count(p); i++){
        const unsigned char *a = sqlite3_column_blob(p, i);
        int n = sqlite3_column_bytes(p, i);
        if( bSchema && i==3 ) continue;        /* rootpage */
        h = (h ^ (u64)sqlite3_column_type(p, i)) * 0x100000001B3u;
        h = (h ^ (u64)n) * 0x100000001B3u;
        for(j=0; j<n; j++) h = (h ^ a[j]) * 0x100000001B3u;
      }
    }
    if( sqlite3_finalize(p)!=SQLITE_OK ) fail(zSql);
    sqlite3_free(zSql);
  }
  if( sqlite3_finalize(pTable)!=SQLITE_OK ) fail("the schema");
  return h;
}

int main(int argc, char **argv){
  const char *zWhat = argc>=3 ? argv[1] : "";
  int bWrite = strcmp(zWhat, "write")==0;
  int i;
  if( argc<3 || (argc>3 && !bWrite) ){
    fprintf(stderr, "usage: writer write|check|digest|hash|pages|library FILE\n");
    return 2;
  }
  if( sqlite3_open_v2(argv[2], &db, bWrite ? SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE
                                           : SQLITE_OPEN_READWRITE, 0)!=SQLITE_OK ){
    fail(argv[2]);
  }
  sqlite3_busy_timeout(db, MS_BUSY);
  if( bWrite ){
    int bKeep = 0;
    for(i=3; i<argc; i++){
      char *zSql = sqlite3_mprintf("PRAGMA %s", argv[i]);
      run(zSql);
      sqlite3_free(zSql);
      bKeep |= strncmp(argv[i], "auto_vacuum=", 12)==0;
    }
    writeAll(argv[2], bKeep, 25);
  }else if( strcmp(zWhat, "check")==0 ){
    printf("%lld\n", check());
  }else if( strcmp(zWhat, "digest")==0 ){
    i64 n = check();
    printf("%lld %016llx\n", n, digest());
  }else if( strcmp(zWhat, "hash")==0 ){
    checkWhole();
    printf("%lld %016llx\n", number("PRAGMA page_count"), digest());
  }else if( strcmp(zWhat, "pages")==0 ){
    printf("%lld\n", number("SELECT min(n) FROM (SELECT count(*) AS n FROM dbstat"
        " WHERE name GLOB 't[0-9]' AND pagetype='leaf' GROUP BY name)"));
  }else if( strcmp(zWhat, "library")==0 ){
    puts(sqlite3_sourceid());
  }
  return sqlite3_close(db)==SQLITE_OK ? 0 : 1;
}
