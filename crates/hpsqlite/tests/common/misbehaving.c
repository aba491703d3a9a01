/* A SQLite library with one fault. Everything that is not defined here comes
** from the real library, of which this one is a client. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef WRONG_LAST_DIGIT
double sqlite3_column_double(void *pStmt, int i){
  double (*x)(void*,int) = (double(*)(void*,int))dlsym(RTLD_NEXT, "sqlite3_column_double");
  double r = x(pStmt, i);
  return r==42.5 ? nextafter(r, 43.0) : r;
}
#elif defined(WRONG_BYTE)
/* The 30th value that is read has another byte in its middle. */
const void *sqlite3_column_blob(void *pStmt, int i){
  const void *(*x)(void*,int) = (const void*(*)(void*,int))dlsym(RTLD_NEXT, "sqlite3_column_blob");
  int (*xBytes)(void*,int) = (int(*)(void*,int))dlsym(RTLD_NEXT, "sqlite3_column_bytes");
  static unsigned char aCopy[1000];
  static int nCall = 0;
  const void *p = x(pStmt, i);
  int n = xBytes(pStmt, i);
  if( ++nCall!=30 || n>(int)sizeof(aCopy) ) return p;
  memcpy(aCopy, p, n);
  aCopy[n/2] ^= 1;
  return aCopy;
}
#elif defined(TENTH_SLOWER)
/* Each step takes a tenth longer than it would. */
int sqlite3_step(void *pStmt){
  static int (*x)(void*) = 0;
  struct timespec t0, t1, t;
  long long nWait;
  int rc;
  if( x==0 ) x = (int(*)(void*))dlsym(RTLD_NEXT, "sqlite3_step");
  clock_gettime(CLOCK_MONOTONIC, &t0);
  rc = x(pStmt);
  clock_gettime(CLOCK_MONOTONIC, &t1);
#define NS(a,b) (((b).tv_sec-(a).tv_sec)*1000000000LL + (b).tv_nsec-(a).tv_nsec)
  nWait = NS(t0, t1)/10;
  do{
    clock_gettime(CLOCK_MONOTONIC, &t);
  }while( NS(t1, t)<nWait );
  return rc;
}
#else
int sqlite3_step(void *pStmt){
  int (*x)(void*) = (int(*)(void*))dlsym(RTLD_NEXT, "sqlite3_step");
#if defined(CRASHES)
  static int nCall = 0;
  if( nCall++>100 ) abort();
#elif defined(FAILS_MIDWAY)
  int (*xType)(void*,int) = (int(*)(void*,int))dlsym(RTLD_NEXT, "sqlite3_column_int");
  int rc = x(pStmt);
  return rc==100 && xType(pStmt, 0)==2000 ? 11 : rc;
#elif defined(SLOW)
  struct timespec delay = {0, 10*1000*1000};
  nanosleep(&delay, 0);
#endif
  return x(pStmt);
}
#endif
