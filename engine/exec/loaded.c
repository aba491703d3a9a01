/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** loaded: says which files a process loads.
**
** `hpsqlite exec` names this library in LD_AUDIT, so that the dynamic linker
** (glibc 2.35 or later; older ones would make every call slower) loads it into
** the program and whatever that starts, and calls la_objopen() for the program
** and each library, also those that dlopen() loads.  For each a line is appended
** to the file that HPSQLITE_LOADED names:
**
**    PID PATH
**    PID =PATH      the program itself, which comes first
**
** Which of these files have SQLite inside is found out by hpsqlite afterwards.
** The program notices nothing: nothing stays open, and what cannot be written
** is not.
**
** There is no C library here.  A second one would be loaded for it, since what
** LD_AUDIT names lives in a namespace of its own; so four system calls are made
** by hand, and the environment is read from /proc.
*/
#include <link.h>
#include <fcntl.h>
#include <sys/syscall.h>

#define LOADED_PATH  4096         /* Longer names are not told */
#define LOADED_NAME  "HPSQLITE_LOADED="

static char zLog[LOADED_PATH];    /* The file to append to.  Empty: none */

static long loadedCall(long nCall, long a, long b, long c, long d){
#if defined(__x86_64__)
  register long r10 __asm__("r10") = d;
  long rc;
  __asm__ volatile("syscall" : "=a"(rc)
      : "a"(nCall), "D"(a), "S"(b), "d"(c), "r"(r10)
      : "rcx", "r11", "memory");
  return rc;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = nCall;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
#else
  (void)nCall; (void)a; (void)b; (void)c; (void)d;
  return -1;                      /* Nothing is told on other processors */
#endif
}

static long loadedOpen(const char *zPath, int flags){
  return loadedCall(SYS_openat, AT_FDCWD, (long)zPath, flags|O_CLOEXEC, 0);
}

static long loadedReadlink(const char *zLink, char *z, int n){
  return loadedCall(SYS_readlinkat, AT_FDCWD, (long)zLink, (long)z, n);
}

/* Set zLog by the environment that the process began with. */
static void loadedEnvironment(void){
  static const char zName[] = LOADED_NAME;
  char aBuf[4096];
  int iName = 0;       /* Bytes of zName seen.  -1: this is another variable */
  int iLog = 0;
  long fd = loadedOpen("/proc/self/environ", O_RDONLY);
  long n, i;
  if( fd<0 ) return;
  while( (n = loadedCall(SYS_read, fd, (long)aBuf, sizeof(aBuf), 0))>0 ){
    for(i=0; i<n; i++){
      if( iName==(int)sizeof(zName)-1 ){
        if( iLog==LOADED_PATH-1 ) zLog[iLog=0] = 0, iName = -1;
        else if( (zLog[iLog++] = aBuf[i])==0 ) goto done;
      }else if( aBuf[i]==0 ){
        iName = 0;
      }else if( iName>=0 ){
        iName = aBuf[i]==zName[iName] ? iName+1 : -1;
      }
    }
  }
done:
  loadedCall(SYS_close, fd, 0, 0, 0);
}

/* Append the line of a file: the program's own where there is no name.  One
** that does not begin with a slash is seen from the working directory; the
** kernel's, which is no file, has none. */
static void loadedTell(const char *zName){
  char zLine[2*LOADED_PATH+32];
  char zDigit[24];
  long pid = loadedCall(SYS_getpid, 0, 0, 0, 0);
  long n = 0, i = 0, m, fd;
  while( zName[i] && zName[i]!='/' ) i++;
  if( i>0 && zName[i]==0 ) return;
  i = 0;
  do{ zDigit[i++] = (char)('0' + pid%10); }while( (pid /= 10)>0 );
  while( i>0 ) zLine[n++] = zDigit[--i];
  zLine[n++] = ' ';
  if( zName[0]==0 ) zLine[n++] = '=';
  if( zName[0]!='/' ){
    const char *zLink = zName[0] ? "/proc/self/cwd" : "/proc/self/exe";
    m = loadedReadlink(zLink, &zLine[n], LOADED_PATH);
    if( m<=0 ) return;
    n += m;
    if( zName[0] ) zLine[n++] = '/';
  }
  for(i=0; zName[i] && i<LOADED_PATH; i++) zLine[n++] = zName[i];
  zLine[n++] = '\n';
  fd = loadedOpen(zLog, O_WRONLY|O_APPEND|O_NONBLOCK);
  if( fd<0 ) return;
  loadedCall(SYS_write, fd, (long)zLine, n, 0);
  loadedCall(SYS_close, fd, 0, 0, 0);
}

/* The linker asks first.  0 makes it go on without us. */
__attribute__((visibility("default")))
unsigned int la_version(unsigned int iVersion){
  loadedEnvironment();
  return zLog[0] ? iVersion : 0;
}

/* Something has been loaded.  0: its calls are none of our business.  iSpace is
** an Lmid_t, which the headers of musl do not have. */
__attribute__((visibility("default")))
unsigned int la_objopen(struct link_map *pMap, long iSpace, uintptr_t *pCookie){
  (void)iSpace;
  (void)pCookie;
  loadedTell(pMap->l_name ? pMap->l_name : "");
  return 0;
}
