# For suites that need programs of other packages; sourced. Wants of who sources it: $cache, a
# folder for the log; $install, empty if nothing may be installed; say, which prints a line.

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
  {
    { [ -n "$updated" ] || apt-get update; } &&
      DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
  } >"$cache/apt.log" 2>&1
  updated=1
  if sh -c "$test" >/dev/null 2>&1; then return 0; fi
  missing="'apt-get install $*' did not help: see $cache/apt.log"
  return 1
}
