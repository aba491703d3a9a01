/*
** 2026-11-26
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** rights: a program with other rights than its caller's, such as one that is
** set-user-id, heeds none of the variables that its caller has set.
**
** The program copies itself, gives the copy another owner and the mark, and
** runs itself and the copy with each variable.  A child says as its exit status
** what became of a query, and whether the kernel gave it other rights: it does
** not in a file system that is mounted nosuid, nor are there owners to give
** away without being root.  Then nothing is tested, and it says so.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

/* Bits of a child's exit status */
#define TAKEN   1         /* A query was taken over */
#define MEMORY  2         /* hp_memory is what HPSQLITE_TEST said */
#define SECURE  4         /* It has other rights than its caller */

static const struct Case {
  const char *zVariable;
  int mHeeded;            /* What a child says that heeds it.  Else: TAKEN */
} aCase[] = {
  { "HPSQLITE=off",                0 },
  { "HPSQLITE_TEST=memory=20000",  TAKEN|MEMORY },
};

static int child(void){
  static const char zQuery[] = "SELECT a, sum(b) FROM t GROUP BY a";
  sqlite3 *db = openDb(&ours, ":memory:", SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE);
  int rc = 0;
  execute(db, "PRAGMA hp_offload=force");
  execute(db, "CREATE TABLE t(a, b)");
  if( isTaken(db, zQuery) ) rc |= TAKEN;
  if( integer(&ours, db, "PRAGMA hp_memory")==20000 ) rc |= MEMORY;
  if( getauxval(AT_SECURE) ) rc |= SECURE;
  sqlite3_close(db);
  return rc;
}

static int run(const char *zFile, const struct Case *p){
  int status;
  pid_t pid = fork();
  if( pid==0 ){
    char *azArg[] = { (char*)zFile, "child", 0 };
    char *azEnv[] = { (char*)p->zVariable, 0 };
    execve(zFile, azArg, azEnv);
    _exit(99);
  }
  if( pid<0 || waitpid(pid, &status, 0)!=pid || !WIFEXITED(status) ) return 99;
  return WEXITSTATUS(status);
}

int main(int argc, char **argv){
  const char *zCopy = temporaryFile("rights-copy");
  unsigned char *a;
  int i, n;
  if( argc==2 ) return child();
  a = readFile("/proc/self/exe", &n);
  writeFile(zCopy, a, n);
  free(a);
  if( chown(zCopy, 65534, (gid_t)-1) || chmod(zCopy, 04755)
   || (run(zCopy, &aCase[0]) & SECURE)==0
  ){
    remove(zCopy);
    printf("skip  only root can make a program with other rights, and only "
           "where the file system allows it: %s\n", zCopy);
    printf("0 passed, 0 failed, 1 skipped\n");
    return 0;
  }
  for(i=0; i<(int)(sizeof(aCase)/sizeof(aCase[0])); i++){
    const struct Case *p = &aCase[i];
    int rc = run(argv[0], p);
    check(rc==p->mHeeded, "%s, ordinary rights: exit status %d", p->zVariable, rc);
    rc = run(zCopy, p);
    check(rc==(SECURE|TAKEN), "%s, other rights: exit status %d", p->zVariable, rc);
  }
  remove(zCopy);
  return finish();
}
