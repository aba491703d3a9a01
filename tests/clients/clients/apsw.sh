# APSW: `python -m apsw.tests`, for Python. The source distribution has the tests. The extension is
# compiled against our header, with the options that the library under test reports, and linked with
# libsqlite3.so.0 in place of the SQLite that the build would download.
version=3.54.1.0

prepare() {
  want_python && want 'command -v gcc && compgen -G "/usr/include/python3*/Python.h"' gcc libc6-dev python3-dev || return 1
  python_client "apsw-$version" apsw "$version" d9fd64ed76dc0f3d2265d4aeedb74d678c2ac7dffbd4e8ba05bf9a87aa7c34d3 setuptools==80.9.0 || return 1
  in_cache "apsw-$version-$(cksum <"$dist/include/sqlite3.h" | cut -d' ' -f1)" build_apsw
}
build_apsw() { # FOLDER
  cp -r "$cache/apsw-$version/source/." "$1"
  cd "$1"
  # It says that SQLite is to be downloaded.
  rm setup.apsw
  mkdir sqlite3
  cp "$dist/include/sqlite3.h" "$dist/include/sqlite3ext.h" "$stock" sqlite3
  ln -s "${stock##*/}" sqlite3/libsqlite3.so.0
  ln -s "${stock##*/}" sqlite3/libsqlite3.so
  CFLAGS=-O1 LD_LIBRARY_PATH=$PWD/sqlite3 "$cache/apsw-$version/venv/bin/python" setup.py build_ext --use-system-sqlite-config --inplace
}

tests() {
  cp -r "$cache/apsw-$version-$(cksum <"$dist/include/sqlite3.h" | cut -d' ' -f1)/." .
  rm -r sqlite3
  RESULTS=$results PYTHONPATH=$PWD:$here "$cache/apsw-$version/venv/bin/python" -B "$here/clients/apsw_tests.py"
}
