# DBD::SQLite: its tests in t/, for Perl. Debian's package of the module loads libsqlite3.so.0, and
# has no tests; these come from Debian's source package of the same version. A test is one
# assertion. Without its developers' variables it skips what needs their machines.
version=1.72

prepare() {
  want 'perl -MDBD::SQLite -MTest::More -e 1' libdbd-sqlite3-perl perl-modules || return 1
  local have
  have=$(perl -MDBD::SQLite -e 'print $DBD::SQLite::VERSION')
  if [ "$have" != "$version" ]; then
    missing="Debian's DBD::SQLite is $have here, and the tests are those of $version"
    return 1
  fi
  want 'command -v dpkg-source' dpkg-dev || return 1
  debian_client "dbi-$version" libdbd-sqlite3-perl \
    5ca41e61eb52b52bd862a3088b912a75fe70910ac789b9a9983e0a449e94f551 bookworm
}

tests() {
  cp -r "$cache/dbi-$version/source/t" .
  perl -MDBI -e 'print "\@source_id\t", DBI->connect("dbi:SQLite:dbname=:memory:")->selectrow_array("SELECT sqlite_source_id()"), "\n"' >>"$results"
  # Verbose TAP with names of files; the summary counts what ran.
  prove -v -I. t/*.t 2>&1 | tee output
  awk -v results="$results" '
    /^t\/[^ ]*\.t \.+ *$/ { file = $1; sub(/^t\//, "", file); next }
    /^(not )?ok [0-9]+/ {
      line = $0
      failed = sub(/^not /, "", line)
      number = line; sub(/^ok /, "", number); number += 0
      # "# SKIP why"; a test that is to do may fail
      if (line ~ /# *[sS][kK][iI][pP]/) result = "SKIP: " substr(line, index(line, "#") + 1)
      else if (failed && line !~ /# *TODO/) result = "FAIL: " line
      else result = "ok"
      print file " " number "\t" result >> results
    }
    # A file whose program ends badly, or runs other tests than it planned
    /^Dubious, |^Parse errors: / { ended++; print file " ends\tFAIL: " $0 >> results; next }
    /^Files=[0-9]+, Tests=[0-9]+,/ { split($2, part, "[=,]"); print "@end\t" part[2] + ended >> results }
  ' output
}
