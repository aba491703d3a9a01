#!/bin/sh
# Installs the files of this folder below a prefix, and takes them away again. It writes down what it
# has installed: no other file is ever overwritten or removed. It is installed with the rest.
set -eu
umask 022
unset CDPATH
LC_ALL=C
export LC_ALL
# ldconfig is not on every user's PATH.
PATH=$PATH:/usr/sbin:/sbin
here=$(cd "$(dirname "$0")" && pwd)
kept=share/hpsqlite
# What the files are linked with: gnu or musl
libc=@LIBC@

usage() {
  cat <<'END'
usage: install.sh [--prefix DIR] [--force]
       install.sh --uninstall [--prefix DIR]

  --prefix DIR  where to (default: /usr/local, or where this script is installed)
  --force       overwrite files that this script has not installed
  --uninstall   remove what it has installed; files changed since are left

Exit status: 0 done; 1 refused or failed; 2 wrong call.
END
}
fail() { # STATUS SENTENCE...
  status=$1
  shift
  printf 'install.sh: %s\n' "$*" >&2
  exit "$status"
}

prefix=/usr/local
case $here in */"$kept") prefix=${here%/"$kept"} ;; esac
force= uninstall=
while [ $# -gt 0 ]; do
  case $1 in
    --prefix)
      [ $# -ge 2 ] && [ -n "$2" ] || fail 2 "--prefix needs a folder"
      prefix=$2
      shift
      ;;
    --prefix=?*) prefix=${1#--prefix=} ;;
    --force) force=1 ;;
    --uninstall) uninstall=1 ;;
    -h | --help) usage; exit 0 ;;
    *) fail 2 "unknown argument $1 (see --help)" ;;
  esac
  shift
done
case $prefix in /*) ;; *) prefix=$(pwd)/$prefix ;; esac
while [ "$prefix" != "${prefix%/}" ]; do prefix=${prefix%/}; done
manifest=$prefix/$kept/manifest

# A line of the manifest: what the file is, a space, its name below the prefix. A folder that was
# made is "folder". A name may have two lines while one version replaces another.
what() { # FILE
  if [ -L "$1" ]; then
    echo "link:$(readlink "$1")"
  elif [ -f "$1" ]; then
    set -- "$(sha256sum <"$1")"
    echo "${1%% *}"
  fi
}
known() { # FILE-BELOW-PREFIX: is it just what a line of the manifest says?
  [ -f "$manifest" ] && grep -qxF -e "$(what "$prefix/$1") $1" "$manifest"
}
# there FILE-BELOW-PREFIX: a file or a link, of whatever target
there() { [ -e "$prefix/$1" ] || [ -L "$prefix/$1" ]; }

# searched: does the dynamic linker look into the prefix without being told?
searched() {
  case $libc in
    # It keeps no cache; where Alpine has no /etc/ld-musl-*.path, these are its folders.
    musl) case $prefix in '' | /usr | /usr/local) true ;; *) false ;; esac ;;
    *) ldconfig -v -N 2>/dev/null | cut -d: -f1 | grep -qxF -e "$prefix/lib" ;;
  esac
}
# refresh: after a change in a folder that is searched
refresh() { [ "$libc" = musl ] || ldconfig; }

# remove: the files named on standard input; prints those that have changed and are left
remove() {
  while read -r file; do
    # Of an installation that was killed
    rm -f "$prefix/$file.new"
    there "$file" || continue
    if known "$file"; then
      rm -f "$prefix/$file"
    else
      echo "$file"
    fi
  done
}
# From below upwards; a folder that others use too is not empty, and stays.
remove_folders() {
  sed -n 's/^folder //p' "$1" | sort -r | while read -r folder; do
    rmdir "$prefix/$folder" 2>/dev/null || :
  done
}
names() { sed -n '/^folder /!s/^[^ ]* //p' "$1" | sort -u; }

if [ -n "$uninstall" ]; then
  [ -f "$manifest" ] || fail 1 "nothing is installed in $prefix by this script: $manifest is missing"
  [ -w "$prefix/$kept" ] || fail 1 "there is no permission to write in $prefix: run it as root; nothing is changed"
  left=$(names "$manifest" | remove)
  folders=$(mktemp)
  cp "$manifest" "$folders"
  rm -f "$manifest"
  remove_folders "$folders"
  rm -f "$folders"
  echo "uninstalled from $prefix"
  [ -z "$left" ] || { printf 'changed since, and left there:\n'; printf '%s\n' "$left" | sed "s|^|  $prefix/|"; }
  if [ "$(id -u)" = 0 ] && searched; then refresh; fi
  exit 0
fi

[ -f "$here/FILES" ] || fail 2 "the files to install are not beside this script: unpack the archive and run it there"
# The dynamic linker says in one line what a library misses.
misses=$(cd "$here" && LD_PRELOAD=./lib/libsqlite3.so.0 /bin/true 2>&1 | head -n 1)
[ -z "$misses" ] || fail 1 "the library does not load on this machine, so nothing is installed: $misses"

# Names below the prefix, and where each comes from
targets() {
  cat "$here/FILES"
  echo "$kept/install.sh"
}
origin() {
  case $1 in "$kept/install.sh") echo "$here/install.sh" ;; *) echo "$here/$1" ;; esac
}
if [ -z "$force" ]; then
  foreign=$(targets | while read -r file; do if there "$file" && ! known "$file"; then echo "$prefix/$file"; fi; done)
  [ -z "$foreign" ] || fail 1 "$(printf '%s\n' "$foreign" | wc -l) file(s) are there that this script has not installed," \
    "$(printf '%s\n' "$foreign" | head -n 1) first: choose another --prefix, or overwrite them with --force; nothing is changed"
fi

# Folders that do not exist yet, with those above them, but not the prefix's own
new_folders() {
  { targets; echo "$manifest"; } | while read -r file; do
    folder=${file#"$prefix"/}
    while case $folder in */*) true ;; *) false ;; esac; do
      folder=${folder%/*}
      [ -d "$prefix/$folder" ] || echo "folder $folder"
    done
  done | sort -u
}
made=$(mktemp)
trap 'rm -f "$made"' EXIT
new_folders >"$made"
targets | while read -r file; do echo "$(what "$(origin "$file")") $file"; done >>"$made"
if [ -f "$manifest" ]; then sed -n '/^folder /p' "$manifest" >>"$made"; fi
mkdir -p "$prefix/$kept" 2>/dev/null && [ -w "$prefix/$kept" ] ||
  fail 1 "there is no permission to write in $prefix: run it as root, or choose a --prefix"

# What was there before and what comes stand in the manifest together until all is in place: then an
# installation that was interrupted can be taken away, or finished.
old=$(if [ -f "$manifest" ]; then cat "$manifest"; fi)
rm -f "$manifest.new"
{ cat "$made"; [ -z "$old" ] || printf '%s\n' "$old"; } | sort -u >"$manifest.new"
mv "$manifest.new" "$manifest"
targets | while read -r file; do
  # Whoever unpacked the archive may have had a narrow umask; what lies at the temporary name, such
  # as a link, is not written through.
  { mkdir -p "$prefix/$(dirname "$file")" &&
    cp -P --remove-destination "$(origin "$file")" "$prefix/$file.new" &&
    { [ -L "$prefix/$file.new" ] || chmod u+w,a+rX "$prefix/$file.new"; } &&
    mv -fT "$prefix/$file.new" "$prefix/$file"; } 2>/dev/null || {
    rm -f "$prefix/$file.new"
    fail 1 "$prefix/$file could not be written, so only a part is installed: make room for it and run this again," \
      "or run it with --uninstall"
  }
done
# Files of an older version that are not in this one
names "$manifest" | while read -r file; do
  grep -q " $file\$" "$made" || echo "$file"
done | remove >/dev/null
sort -u "$made" >"$manifest.new"
mv "$manifest.new" "$manifest"

echo "installed in $prefix"
if searched; then
  if [ "$libc" = musl ]; then
    echo "Programs that link libsqlite3.so.0 use it from their next start, if no /lib/libsqlite3.so.0 comes before it."
  elif [ "$(id -u)" = 0 ]; then
    refresh
    echo "Programs that link libsqlite3.so.0 use it from their next start, if $prefix/lib comes first in 'ldconfig -p'."
  else
    echo "Run ldconfig as root: then programs that link libsqlite3.so.0 use it from their next start."
  fi
else
  echo "Run one program on it:        $prefix/bin/hpsqlite exec -- PROGRAM"
  echo "All programs of a session:    export LD_LIBRARY_PATH=$prefix/lib"
fi
echo "Compile a program with it:    PKG_CONFIG_PATH=$prefix/lib/pkgconfig"
echo "Take it away again:           sh $prefix/$kept/install.sh --uninstall"
