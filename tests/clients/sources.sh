# How the clients come here: by pip, npm, cargo, and apt-get source; sourced by tests/clients/run.
# Wants of who sources it: $here, $work, $cache; $install, empty if nothing may be fetched; say.
# Each function gives the reason why it failed in $missing. A download that fails is a reason to skip
# the client; for any other, such as a wrong sha256 or a build that fails, $broken is set. What is complete has its final name, and
# is not fetched again; each archive is compared with the sha256 that the client's file pins.

# in_cache FOLDER COMMAND...: makes $cache/FOLDER, unless it is there, by COMMAND, which fills the
# folder that is its last argument. Log: $cache/FOLDER.log
in_cache() {
  local folder=$cache/$1
  shift
  # An environment of Python is made in its final place, so the folder alone says nothing.
  [ ! -e "$folder/.complete" ] || return 0
  [ -n "$install" ] || { missing="$folder is not there, and --no-install is given"; return 1; }
  say "making ${folder##*/}"
  rm -rf "$folder.new"
  mkdir -p "$folder.new"
  # In a shell of its own: behind an `if` or a `||`, bash would go on after a command that fails.
  { declare -p here root work cache dist stock version; declare -f; echo '"$@"'; } >"$work/make.sh"
  bash -e -o pipefail "$work/make.sh" "$@" "$folder.new" >"$folder.log" 2>&1 </dev/null
  local status=$?
  if [ "$status" != 0 ]; then
    [ "$status" = 75 ] || broken=1
    missing="${folder##*/} cannot be made: see $folder.log: $(grep -v '^ *$' "$folder.log" | tail -n 1 | cut -c1-200)"
    return 1
  fi
  touch "$folder.new/.complete"
  rm -rf "$folder"
  mv "$folder.new" "$folder"
}

# fetching COMMAND...: a failure is one of the network, or of what it reaches
fetching() { "$@" || exit 75; }

is_sha256() { # FILE SUM
  echo "$2  $1" | sha256sum --check --status && return
  echo "$1 has the sha256 $(sha256sum "$1" | cut -d' ' -f1), not $2"
  return 1
}

# want_python: /usr/bin/python3 can make environments. It is Debian's, whose sqlite3 loads
# libsqlite3.so.0; Pythons of other origin may have a SQLite inside.
want_python() {
  want "/usr/bin/python3 -c 'import ensurepip, sqlite3'" python3 python3-venv
}

# python_client FOLDER NAME VERSION SHA256 PACKAGE...: FOLDER/source is the source distribution,
# FOLDER/venv an environment with the packages.
python_client() {
  local folder=$1
  shift
  in_cache "$folder" make_python "$@"
}
make_python() { # NAME VERSION SHA256 PACKAGE... FOLDER
  local name=$1 version=$2 sum=$3 folder=${!#}
  # An environment knows its own place.
  local venv=${folder%.new}/venv
  set -- "${@:4:$#-4}"
  rm -rf "${folder%.new}"
  /usr/bin/python3 -m venv "$venv"
  [ $# = 0 ] || fetching "$venv/bin/python" -m pip install --no-cache-dir --only-binary=:all: "$@"
  PYTHONPATH=$here/sdist fetching "$venv/bin/python" -m pip download --no-deps --no-binary=:all: --use-pep517 \
    --no-build-isolation --no-cache-dir --dest "$folder/archive" "$name==$version"
  is_sha256 "$folder"/archive/*.tar.gz "$sum"
  mkdir "$folder/source"
  tar xf "$folder"/archive/*.tar.gz -C "$folder/source" --strip-components=1
  mv "$venv" "$folder/venv"
}

# debian_client FOLDER PACKAGE SHA256 SUITE: FOLDER/source is Debian's upstream tarball.
debian_client() { in_cache "$1" make_debian "$2" "$3" "$4"; }
make_debian() { # PACKAGE SHA256 SUITE FOLDER
  local tarball
  tarball=$(fetching "$here/../upstream/debian-source" "$1" "$3" "$4")
  is_sha256 "$tarball" "$2"
  mkdir "$4/source"
  tar xf "$tarball" -C "$4/source" --strip-components=1
  rm "$tarball"
}

codename() { (. /etc/os-release && echo "${VERSION_CODENAME:-unstable}"); }
