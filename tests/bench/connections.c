/*
** Look-ups by key on many connections, each in a thread of its own.
**
**   connections make DB ROWS        make the database, in WAL mode
**   connections MODE THREADS DB LOOKUPS SEED
**
** MODE is "auto" (each look-up is a transaction) or "read" (all of a thread
** are in one).  Prints for one measurement, after as many look-ups that do not
** count: nanoseconds of wall time a look-up of a thread, look-ups a second of
** all threads, nanoseconds of processor time a look-up (user and system), and
** a checksum of what was read.
*/
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "sqlite3.h"

static void die(const char *what, sqlite3 *db){
  fprintf(stderr, "connections: %s: %s\n", what, db ? sqlite3_errmsg(db) : "");
  exit(1);
}

static sqlite3 *openDb(const char *zDb){
  sqlite3 *db;
  if( sqlite3_open(zDb, &db) ) die(zDb, db);
  return db;
}

static void run(sqlite3 *db, const char *zSql){
  if( sqlite3_exec(db, zSql, 0, 0, 0) ) die(zSql, db);
}

static double now(clockid_t clock){
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + t.tv_nsec*1e-9;
}

static const char *zDb;
static int bAuto;
static long nLookup;
static int64_t nRow;
static unsigned long seed;
static pthread_barrier_t barrier;

struct Thread {
  pthread_t id;
  int i;
  double wall, cpu;
  uint64_t sum;
};

static uint64_t lookups(sqlite3 *db, sqlite3_stmt *p, uint64_t *pX, long n){
  uint64_t sum = 0, x = *pX;
  long i;
  for(i=0; i<n; i++){
    const unsigned char *z;
    x ^= x<<13; x ^= x>>7; x ^= x<<17;
    sqlite3_bind_int64(p, 1, (int64_t)(x % (uint64_t)nRow) + 1);
    if( sqlite3_step(p)!=SQLITE_ROW || sqlite3_column_bytes(p, 0)!=100 ){
      die("step", db);
    }
    z = sqlite3_column_blob(p, 0);
    sum = sum*31 + z[0] + z[99];
    if( sqlite3_reset(p) ) die("reset", db);
  }
  *pX = x;
  return sum;
}

static void *thread(void *pArg){
  struct Thread *t = pArg;
  sqlite3 *db = openDb(zDb);
  sqlite3_stmt *p;
  uint64_t x = (seed*1000003u + (unsigned)t->i + 1) * 0x9e3779b97f4a7c15u;
  if( sqlite3_prepare_v2(db, "SELECT v FROM t WHERE id=?", -1, &p, 0) ){
    die("prepare", db);
  }
  if( !bAuto ) run(db, "BEGIN");
  t->sum = lookups(db, p, &x, nLookup);
  pthread_barrier_wait(&barrier);
  t->wall = now(CLOCK_MONOTONIC);
  t->cpu = now(CLOCK_THREAD_CPUTIME_ID);
  t->sum ^= lookups(db, p, &x, nLookup);
  t->wall = now(CLOCK_MONOTONIC) - t->wall;
  t->cpu = now(CLOCK_THREAD_CPUTIME_ID) - t->cpu;
  pthread_barrier_wait(&barrier);
  sqlite3_finalize(p);
  if( !bAuto ) run(db, "COMMIT");
  sqlite3_close(db);
  return 0;
}

static int oneInt(void *p, int n, char **az, char **azName){
  (void)n; (void)azName;
  *(int64_t*)p = az[0] ? atoll(az[0]) : 0;
  return 0;
}

int main(int argc, char **argv){
  struct Thread *a;
  double start, wall = 0, cpu = 0;
  uint64_t sum = 0;
  int n, i;
  sqlite3 *db;
  if( argc==4 && strcmp(argv[1], "make")==0 ){
    char *zSql;
    db = openDb(argv[2]);
    run(db, "PRAGMA journal_mode=WAL;"
            "CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB)");
    zSql = sqlite3_mprintf("WITH s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s"
        " LIMIT %ld) INSERT INTO t SELECT i, randomblob(100) FROM s",
        atol(argv[3]));
    run(db, zSql);
    run(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite3_free(zSql);
    return sqlite3_close(db);
  }
  if( argc!=6 ) die("see the top of connections.c", 0);
  bAuto = strcmp(argv[1], "auto")==0;
  n = atoi(argv[2]);
  zDb = argv[3];
  nLookup = atol(argv[4]);
  seed = strtoul(argv[5], 0, 10);
  db = openDb(zDb);
  if( sqlite3_exec(db, "SELECT max(id) FROM t", oneInt, &nRow, 0) ){
    die("max", db);
  }
  a = calloc(n, sizeof(*a));
  pthread_barrier_init(&barrier, 0, n+1);
  for(i=0; i<n; i++){
    a[i].i = i;
    if( pthread_create(&a[i].id, 0, thread, &a[i]) ) die("thread", 0);
  }
  pthread_barrier_wait(&barrier);
  start = now(CLOCK_MONOTONIC);
  pthread_barrier_wait(&barrier);
  start = now(CLOCK_MONOTONIC) - start;
  for(i=0; i<n; i++){
    pthread_join(a[i].id, 0);
    wall += a[i].wall;
    cpu += a[i].cpu;
    sum ^= a[i].sum;
  }
  printf("%.0f %.0f %.0f %016llx\n", wall*1e9/n/nLookup, n*(double)nLookup/start,
         cpu*1e9/n/nLookup, (unsigned long long)sum);
  sqlite3_close(db);
  free(a);
  return 0;
}
