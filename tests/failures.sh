#!/usr/bin/env bash
# tests/failures.sh LOG: the lines of a suite's output that say what failed and
# why, 40 at most; its last lines if there is none.
#
# It knows how the suites say so: 'FAIL' and 'FAILED' of our own, panics and
# failed tests of cargo, Go's and Node's, reports of sanitizers, asserts, what
# compilers and make call an error, programs that a signal ended.
set -u
awk '
  function show(line){
    if( n++<40 ) print "  " substr(line, 1, 300)
  }
  # A name that says "error" is not one.
  / \.\.\. ok$/ || /^ *(✔|ℹ) / || /skipped: / || /^ *--- (PASS|SKIP): / || /[0-9]+ passed, .* skipped$/ { next }
  # What a Go test says stands before the line that it failed.
  /^ *[a-z0-9_]+_test\.go:[0-9]+: / { said[++nSaid] = $0; next }
  /--- FAIL: / {
    for(i = nSaid>3 ? nSaid-2 : 1; i<=nSaid; i++) show(said[i])
    nSaid = 0
  }
  # The first lines behind these say why.
  /panicked at |ERROR: [A-Za-z]*Sanitizer|WARNING: ThreadSanitizer|WARNING: DATA RACE|^panic: |^fatal error: / {
    show($0)
    more = 5
    next
  }
  /^ *✖ / && !/failing tests:$/ { show($0); more = 3; next }
  /^FAIL  / || /FAILED: / { show($0); more = 3; next }
  /FAILED|^FAIL|FAIL: |: runtime error: |Assertion .* failed|SUMMARY: [A-Za-z]*Sanitizer|[Ss]egmentation fault|Aborted|exit status [1-9]|signal: |(^|[ :])(fatal )?error(\[E[0-9]+\])?: |[1-9][0-9]* failed/ {
    show($0)
    more = 0
    next
  }
  more>0 && NF { show($0); more-- }
  END {
    if( n>40 ) print "  ... and " n-40 " more lines"
    exit n==0
  }' "$1" || tail -n 15 "$1" | cut -c1-300 | sed 's/^/  /'
