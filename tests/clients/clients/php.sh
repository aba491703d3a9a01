# PHP: the phpt tests of its extensions sqlite3 and pdo_sqlite, run by its run-tests.php. Debian's PHP
# loads libsqlite3.so.0 and has no tests; these come from Debian's source package of its series.
version=8.2.32

prepare() {
  want 'php -n -d extension=pdo.so -d extension=pdo_sqlite.so -d extension=sqlite3.so -m | grep -qx sqlite3' php-cli php-sqlite3 || return 1
  local have
  have=$(php -n -r 'echo PHP_MAJOR_VERSION . "." . PHP_MINOR_VERSION;')
  if [ "$have" != "${version%.*}" ]; then
    missing="the PHP here is $have, and the tests are those of ${version%.*}"
    return 1
  fi
  want 'command -v dpkg-source' dpkg-dev || return 1
  debian_client "php-$version" "php${version%.*}" e02aa173c236c12791696254d607da680e6d5516f8f5c2339642de7c4f944bd2 bookworm
}

tests() {
  local source=$cache/php-$version/source
  mkdir -p ext
  cp -r "$source/run-tests.php" .
  cp -r "$source/ext/sqlite3" "$source/ext/pdo_sqlite" "$source/ext/pdo" ext
  php -n -d extension=sqlite3.so -r 'echo "@source_id\t", (new SQLite3(":memory:"))->querySingle("SELECT sqlite_source_id()"), "\n";' >>"$results"
  # run-tests.php loads what a test asks for, and does not know that pdo_sqlite needs pdo before it.
  printf '#!/bin/sh\nexec %s -n -d extension=pdo.so -d extension=pdo_sqlite.so -d extension=sqlite3.so "$@"\n' "$(command -v php)" >php
  chmod +x php
  NO_INTERACTION=1 TEST_PHP_EXECUTABLE=$PWD/php ./php run-tests.php -n -q -W outcome --no-clean --show-diff \
    ext/sqlite3 ext/pdo_sqlite 2>&1 | tee output
  # "PASSED<tab>FILE"; what is expected to fail, or warns, is as it is on stock or is not
  awk -F'\t' '
    { result = $1 == "PASSED" || $1 == "XFAILED" ? "ok" : $1 ~ /^SKIP/ ? "SKIP: " $1 : "FAIL: " $1 ", see the log"
      sub(/^.*\/ext\//, "ext/", $2)
      print $2 "\t" result }' outcome | sort >>"$results"
  printf '@end\t%s\n' "$(sed -n 's/^Number of tests *: *\([0-9]*\) .*/\1/p' output)" >>"$results"
}
