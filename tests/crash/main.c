/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** crash STOCK OURS kill|power|twin|storm|big [OPTION...]
**
**   --seed N      the first case (default 1)
**   --cases N     how many (default: no end)
**   --seconds N   begin no further case after N (default 20), or half as long again
**                 where other programs take the processors
**   --jobs N      cases at a time (default 1)
**   --point N     power: only the outage at this event
**   --spoil       break it on purpose; the exit status is 0 if that is found
**   --verbose     tell about each case
**   --dir FOLDER  for files (default: the current one)
**
** kill, power, twin and storm run each case in a process of its own, so that a crash,
** or a case that does not end, is a failure of that case.
*/
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "crash.h"

#define MX_SECOND  600       /* Longest time for one case */

Args args = { 1, 1<<30, 20, 1, 0, 0, 0, ".", 0, 0 };

int failed(const char *zFormat, ...){
  va_list ap;
  va_start(ap, zFormat);
  printf("FAILED: ");
  vprintf(zFormat, ap);
  printf("\n");
  fflush(stdout);
  va_end(ap);
  return 1;
}

double now(void){
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec/1e9;
}

/*
** The name of a file of this process.
*/
const char *fileName(const char *zName){
  static char aName[8][400];
  static int i = 0;
  char *z = aName[i++ % 8];
  snprintf(z, sizeof(aName[0]), "%s/%d-%s", args.zDir, (int)getpid(), zName);
  return z;
}

void removeDb(const char *zFile){
  static const char *const azSuffix[] = { "", "-journal", "-wal", "-shm" };
  int i;
  for(i=0; i<4; i++){
    char zName[500];
    snprintf(zName, sizeof(zName), "%s%s", zFile, azSuffix[i]);
    unlink(zName);
  }
}

/*
** Is the time for cases over?  It is when the clock says so and the jobs have had
** that much of the processors, or half of it later.
*/
static int isOver(double begin){
  double elapsed = now() - begin;
  struct rusage used;
  if( elapsed<args.nSecond ) return 0;
  if( elapsed>=args.nSecond*1.5 || getrusage(RUSAGE_CHILDREN, &used) ) return 1;
  return used.ru_utime.tv_sec + used.ru_stime.tv_sec >= args.nSecond*args.nJob;
}

/*
** Run cases, each in a process of its own, some at a time.
*/
static int manyCases(int (*xCase)(u64), int *pnCase){
  struct { pid_t pid; u64 iSeed; } aJob[64];
  const double begin = now();
  int nJob = 0, nBad = 0, nRun = 0;
  memset(aJob, 0, sizeof(aJob));
  for(;;){
    int i, status;
    pid_t pid;
    while( nJob<args.nJob && nRun<args.nCase && !isOver(begin) ){
      u64 iSeed = args.iSeed + nRun++;
      fflush(stdout);
      pid = fork();
      if( pid==0 ){
        int n;
        alarm(MX_SECOND);
        n = xCase(iSeed);
        fflush(stdout);
        _exit(n>0);
      }
      if( pid<0 ) abort();
      for(i=0; aJob[i].pid; i++){}
      aJob[i].pid = pid;
      aJob[i].iSeed = iSeed;
      nJob++;
    }
    if( nJob==0 ) break;
    pid = wait(&status);
    for(i=0; aJob[i].pid!=pid; i++){}
    if( WIFSIGNALED(status) ){
      failed("seed %llu: ended by signal %d",
             (unsigned long long)aJob[i].iSeed, WTERMSIG(status));
    }
    nBad += status!=0;
    aJob[i].pid = 0;
    nJob--;
  }
  *pnCase = nRun;
  return nBad;
}

static long long number(const char *z){
  char *zEnd;
  long long n = z ? strtoll(z, &zEnd, 10) : -1;
  if( z==0 || *zEnd || n<0 ){
    fprintf(stderr, "error: not a number: %s\n", z ? z : "(nothing)");
    exit(2);
  }
  return n;
}

int main(int argc, char **argv){
  const char *zWhat;
  int i, nBad, nCase = 0;
  if( argc<4 ){
    fprintf(stderr, "usage: crash STOCK OURS kill|power|twin|storm|big [OPTION...]\n");
    return 2;
  }
  /* Pages are reserved in the VFS of power.c too */
  setenv("HPSQLITE_TEST", "vfs=any", 0);
  libLoad(argv[1], argv[2]);
  /* Processes of a storm are in other folders */
  args.zStock = realpath(argv[1], 0);
  args.zOurs = realpath(argv[2], 0);
  zWhat = argv[3];
  if( strcmp(zWhat, "actor")==0 && argc==5 ) return actorMain(argv[4]);
  for(i=4; i<argc; i++){
    const char *z = argv[i];
    const char *zNext = i+1<argc ? argv[i+1] : 0;
    if( strcmp(z, "--spoil")==0 ) args.bSpoil = 1;
    else if( strcmp(z, "--verbose")==0 ) args.bVerbose = 1;
    else{
      if( strcmp(z, "--seed")==0 ) args.iSeed = number(zNext);
      else if( strcmp(z, "--cases")==0 ) args.nCase = (int)number(zNext);
      else if( strcmp(z, "--seconds")==0 ) args.nSecond = (int)number(zNext);
      else if( strcmp(z, "--jobs")==0 ) args.nJob = (int)number(zNext);
      else if( strcmp(z, "--point")==0 ) args.iPoint = number(zNext);
      else if( strcmp(z, "--dir")==0 && zNext ) args.zDir = zNext;
      else{
        fprintf(stderr, "error: no such option: %s\n", z);
        return 2;
      }
      i++;
    }
  }
  if( args.nJob<1 ) args.nJob = 1;
  if( args.nJob>60 ) args.nJob = 60;
  if( args.iPoint ) args.nCase = 1;
  if( strcmp(zWhat, "kill")==0 ){
    nBad = manyCases(killCase, &nCase);
  }else if( strcmp(zWhat, "power")==0 ){
    nBad = manyCases(outageCase, &nCase);
  }else if( strcmp(zWhat, "twin")==0 ){
    nBad = manyCases(twinCase, &nCase);
  }else if( strcmp(zWhat, "storm")==0 ){
    nBad = manyCases(stormCase, &nCase);
  }else if( strcmp(zWhat, "big")==0 ){
    args.nCase = 1;
    nBad = manyCases(bigCase, &nCase);
  }else{
    fprintf(stderr, "error: no test is called %s\n", zWhat);
    return 2;
  }
  if( args.bSpoil ){
    printf("%s: %d of %d spoiled cases were found\n", zWhat, nBad, nCase);
    return nBad==0;
  }
  printf("%s: %d cases from seed %llu, %d failed\n", zWhat, nCase,
         (unsigned long long)args.iSeed, nBad);
  return nBad>0;
}
