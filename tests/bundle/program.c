/* Prints hp_version() and the file of the library, or "none" where SQLite is linked into the program. */
#include <stdio.h>
#include <string.h>
#include "sqlite3.h"

int main(void){
  sqlite3 *db;
  sqlite3_stmt *stmt;
  char line[4096];
  const char *file = "none";
  FILE *maps;
  if( sqlite3_open(":memory:", &db)!=SQLITE_OK
   || sqlite3_prepare_v2(db, "SELECT hp_version()", -1, &stmt, 0)!=SQLITE_OK
   || sqlite3_step(stmt)!=SQLITE_ROW ){
    fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    return 1;
  }
  maps = fopen("/proc/self/maps", "r");
  while( maps && fgets(line, sizeof(line), maps) ){
    if( strstr(line, "/libsqlite3.so") ){
      line[strcspn(line, "\n")] = 0;
      file = strchr(line, '/');
      break;
    }
  }
  printf("%s %s\n", (const char*)sqlite3_column_text(stmt, 0), file);
  sqlite3_finalize(stmt);
  return sqlite3_close(db)!=SQLITE_OK;
}
