/* A SQLite library with one fault. Everything that is not defined here comes
** from the real library, of which this one is a client. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#ifdef WRONG_LAST_DIGIT
double sqlite3_column_double(void *pStmt, int i){
  double (*x)(void*,int) = (double(*)(void*,int))dlsym(RTLD_NEXT, "sqlite3_column_double");
  double r = x(pStmt, i);
  return r==42.5 ? nextafter(r, 43.0) : r;
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
