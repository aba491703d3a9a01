# For suites that count cases; sourced. Wants of who sources it: say, which prints a line.
passed=0 failed=0 skipped=0
pass() { say "ok: $*"; passed=$((passed + 1)); }
fail() { say "FAILED: $*"; failed=$((failed + 1)); }
skip() { say "skipped: $*"; skipped=$((skipped + 1)); }

# finish: ends the suite with its result
finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ]
  exit
}

# check NAME COMMAND...: it must succeed; what it prints tells why it did not
check() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    pass "$name"
  else
    fail "$name"
    printf '%s\n' "$output" | head -n 12 | sed 's/^/    /'
  fi
}

# What a check is made of: each says what it expected, and what it found
is() { # WHAT EXPECTED FOUND
  [ "$2" = "$3" ] || { printf '%s: expected\n%s\nfound\n%s\n' "$1" "$2" "$3"; return 1; }
}
has() { # TEXT PART
  case $1 in *"$2"*) ;; *) printf 'expected "%s" in\n%s\n' "$2" "$1"; return 1 ;; esac
}
# fails_so STATUS PART COMMAND...: with one line that says why
fails_so() {
  local status=$1 part=$2 said code
  shift 2
  said=$("$@" 2>&1)
  code=$?
  is "exit status" "$status" "$code" && has "$said" "$part" && is "lines" 1 "$(grep -c . <<<"$said")"
}
