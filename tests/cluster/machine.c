/*
** A machine with a slow disk and a clock that is wrong, for LD_PRELOAD.
**
** MACHINE names a file with two numbers, which is read at each call: so many
** milliseconds each fsync() takes longer, and so many seconds the clock of the
** day is fast.  Without the file the machine is in order.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void machine(long *slow, long *fast){
  const char *path = getenv("MACHINE");
  FILE *file = path ? fopen(path, "r") : 0;
  *slow = *fast = 0;
  if( file ){
    if( fscanf(file, "%ld %ld", slow, fast)!=2 ) *slow = *fast = 0;
    fclose(file);
  }
}

static void wait_for_disk(void){
  long slow, fast;
  machine(&slow, &fast);
  if( slow ) usleep(slow*1000);
}

int fsync(int fd){
  int (*real)(int) = (int(*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_for_disk();
  return real(fd);
}

int fdatasync(int fd){
  int (*real)(int) = (int(*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_for_disk();
  return real(fd);
}

int clock_gettime(clockid_t clock, struct timespec *at){
  int (*real)(clockid_t, struct timespec*) =
    (int(*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  int rc = real(clock, at);
  if( rc==0 && clock==CLOCK_REALTIME ){
    long slow, fast;
    machine(&slow, &fast);
    at->tv_sec += fast;
  }
  return rc;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone){
  struct timespec now;
  (void)zone;
  if( clock_gettime(CLOCK_REALTIME, &now) ) return -1;
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec/1000;
  return 0;
}
