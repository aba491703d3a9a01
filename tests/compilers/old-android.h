/* What Android's C library has from API 24 on only, so that its use before is an error */
#define _GNU_SOURCE 1
#include <string.h>
#include <sys/uio.h>
#pragma GCC poison preadv pwritev strchrnul
