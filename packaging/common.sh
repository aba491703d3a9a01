# What the Debian package and the release bundle have in common; sourced by their build scripts,
# which set $name for messages. Goes to the checkout's top folder.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
umask 022
# The order of files must not depend on who builds.
export LC_ALL=C.UTF-8

fail() {
  printf '%s: %s\n' "$name" "$*" >&2
  exit 1
}

# Programs that are stripped, libraries that are stripped of what linking does not need, and data
programs=(bin/hpsqlite bin/sqlite3)
libraries=(lib/libsqlite3.so.0 libexec/hpsqlite/libsqlite3-stock.so libexec/hpsqlite/hpsqlite-loaded.so)
data=(lib/libsqlite3.a lib/pkgconfig/sqlite3.pc include/sqlite3.h include/sqlite3ext.h include/hpsqlite.h)

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version *= *"\(.*\)"/\1/p' Cargo.toml)
[ -n "$version" ] || fail "Cargo.toml has no version below [workspace.package]"

# The same commit gives the same files, to the byte: no time of the build goes into them.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.toml)}

for tool in strip install; do
  command -v "$tool" >/dev/null || fail "$tool is missing (Debian: apt-get install binutils coreutils)"
done
for file in "${programs[@]}" "${libraries[@]}" "${data[@]}"; do
  [ -e "dist/$file" ] || fail "dist/$file is missing: run make first"
done

# stage FOLDER [LIBRARY]: dist/ in the layout in which the tool finds its libraries beside itself,
# with LIBRARY in the place of ours
stage() {
  local to=$1 library=${2:-dist/lib/libsqlite3.so.0} file
  for file in "${programs[@]}" "${libraries[@]}"; do
    install -D -m 755 "dist/$file" "$to/$file"
  done
  # ldconfig makes the link of the soname by itself, and complains where a file has its name.
  rm "$to/lib/libsqlite3.so.0"
  install -m 755 "$library" "$to/lib/libsqlite3.so.0.8.6"
  ln -s libsqlite3.so.0.8.6 "$to/lib/libsqlite3.so.0"
  ln -s libsqlite3.so.0 "$to/lib/libsqlite3.so"
  for file in "${data[@]}"; do
    install -D -m 644 "dist/$file" "$to/$file"
  done
  strip --strip-unneeded --remove-section=.comment --remove-section=.note \
    "$to"/bin/* "$to/lib/libsqlite3.so.0.8.6" "$to"/libexec/hpsqlite/*.so
  strip --strip-debug --enable-deterministic-archives "$to/lib/libsqlite3.a"
}

# same_time FOLDER: every file below gets the time of the commit
same_time() {
  find "$1" -print0 | xargs -0 touch --no-dereference --date="@$epoch"
}
