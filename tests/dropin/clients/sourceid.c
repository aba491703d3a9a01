/*
** Answers sqlite3_sourceid() with the text of the environment variable
** SOURCEID. Preloaded into Debian's sqlite3 shell, which compares the library's
** source id with that of the header it was compiled with, it shows that this
** check is all that keeps the shell from running on another build.
*/
#include <stdlib.h>

const char *sqlite3_sourceid(void){
  return getenv("SOURCEID");
}
