# What the Debian package and the archives have in common; sourced by their build scripts, which
# set $name for messages. Goes to the checkout's top folder.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
umask 022
# The order of files must not depend on who builds.
export LC_ALL=C.UTF-8

fail() {
  printf '%s: %s\n' "$name" "$*" >&2
  exit 1
}

version=$(packaging/version)

# The same commit gives the same files, to the byte: no time of the build goes into them.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.toml)}

for tool in strip make; do
  command -v "$tool" >/dev/null || fail "$tool is missing (Debian: apt-get install binutils make)"
done

# stage FOLDER [DIST]: what `make install` installs, of DIST (default: dist). Another DIST is that of a
# target of packaging/cross, which is linked without symbols, and which this machine's strip does not know.
stage() {
  local to=$1 dist=${2:-} strip=-s
  [ -z "$dist" ] || strip=
  # Not as a part of the make that called us, whose variables would win.
  env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory install DESTDIR= PREFIX="$to" DIST="${dist:-dist}" \
    STRIP="$strip" >/dev/null
  # ldconfig makes the link of the soname by itself, and complains where a file has its name.
  rm "$to/lib/libsqlite3.so.0.8.6"
  mv "$to/lib/libsqlite3.so.0" "$to/lib/libsqlite3.so.0.8.6"
  ln -s libsqlite3.so.0.8.6 "$to/lib/libsqlite3.so.0"
  [ -z "$dist" ] || return 0
  strip --strip-unneeded --remove-section=.comment --remove-section=.note \
    "$to"/bin/* "$to/lib/libsqlite3.so.0.8.6" "$to"/libexec/hpsqlite/*.so
  strip --strip-debug --enable-deterministic-archives "$to/lib/libsqlite3.a"
}

# same_time FOLDER: every file below gets the time of the commit
same_time() {
  find "$1" -print0 | xargs -0 touch --no-dereference --date="@$epoch"
}
