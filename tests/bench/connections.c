/*
** Look-ups by key on many connections, each in a thread of its own.
**
**   connections LIBRARY make DB ROWS        make the database, in WAL mode
**   connections LIBRARY MODE THREADS DB LOOKUPS SEED
**
** MODE is "auto" (each look-up is a transaction) or "read" (all of a thread
** are in one).  Prints for one measurement, after as many look-ups that do not
** count: nanoseconds of wall time a look-up of a thread, look-ups a second of
** all threads, nanoseconds of processor time a look-up (user and system), and
** a checksum of what was read.
**
** LIBRARY is loaded with dlopen().  One program measures one library, as two
** copies of SQLite in one process would drop each other's locks on the file.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
static struct {
  int (*open_v2)(const char*, sqlite3**, int, const char*);
  int (*exec)(sqlite3*, const char*, int(*)(void*,int,char**,char**), void*,
              char**);
  int (*prepare_v2)(sqlite3*, const char*, int, sqlite3_stmt**, const char**);
  int (*bind_int64)(sqlite3_stmt*, int, int64_t);
  int (*step)(sqlite3_stmt*);
  const void *(*column_blob)(sqlite3_stmt*, int);
  int (*column_bytes)(sqlite3_stmt*, int);
  int (*reset)(sqlite3_stmt*);
  int (*finalize)(sqlite3_stmt*);
  int (*close)(sqlite3*);
  const char *(*errmsg)(sqlite3*);
} api;

static void die(const char *what, sqlite3 *db){
  fprintf(stderr, "connections: %s: %s\n", what, db ? api.errmsg(db) : "");
  exit(1);
}

static void load(const char *zLib){
  void *lib = dlopen(zLib, RTLD_NOW);
  if( !lib ) die(dlerror(), 0);
#define LOAD(F) if( !(*(void**)&api.F = dlsym(lib, "sqlite3_" #F)) ) die(#F, 0)
  LOAD(open_v2); LOAD(exec); LOAD(prepare_v2); LOAD(bind_int64); LOAD(step);
  LOAD(column_blob); LOAD(column_bytes); LOAD(reset); LOAD(finalize);
  LOAD(close); LOAD(errmsg);
}

static sqlite3 *openDb(const char *zDb){
  sqlite3 *db;
  if( api.open_v2(zDb, &db, 2|4, 0) ) die(zDb, db);
  return db;
}

static void run(sqlite3 *db, const char *zSql){
  if( api.exec(db, zSql, 0, 0, 0) ) die(zSql, db);
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
    api.bind_int64(p, 1, (int64_t)(x % (uint64_t)nRow) + 1);
    if( api.step(p)!=100 || api.column_bytes(p, 0)!=100 ) die("step", db);
    z = api.column_blob(p, 0);
    sum = sum*31 + z[0] + z[99];
    if( api.reset(p) ) die("reset", db);
  }
  *pX = x;
  return sum;
}

static void *thread(void *pArg){
  struct Thread *t = pArg;
  sqlite3 *db = openDb(zDb);
  sqlite3_stmt *p;
  uint64_t x = (seed*1000003u + (unsigned)t->i + 1) * 0x9e3779b97f4a7c15u;
  if( api.prepare_v2(db, "SELECT v FROM t WHERE id=?", -1, &p, 0) ){
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
  api.finalize(p);
  if( !bAuto ) run(db, "COMMIT");
  api.close(db);
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
  if( argc<5 ) die("see the top of connections.c", 0);
  load(argv[1]);
  if( strcmp(argv[2], "make")==0 ){
    char *zSql;
    db = openDb(argv[3]);
    run(db, "PRAGMA journal_mode=WAL;"
            "CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB)");
    if( asprintf(&zSql, "WITH s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s "
        "LIMIT %ld) INSERT INTO t SELECT i, randomblob(100) FROM s",
        atol(argv[4]))<0 ) die("memory", 0);
    run(db, zSql);
    run(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    free(zSql);
    return api.close(db);
  }
  if( argc!=7 ) die("see the top of connections.c", 0);
  bAuto = strcmp(argv[2], "auto")==0;
  n = atoi(argv[3]);
  zDb = argv[4];
  nLookup = atol(argv[5]);
  seed = strtoul(argv[6], 0, 10);
  db = openDb(zDb);
  if( api.exec(db, "SELECT max(id) FROM t", oneInt, &nRow, 0) ) die("max", db);
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
  api.close(db);
  free(a);
  return 0;
}
