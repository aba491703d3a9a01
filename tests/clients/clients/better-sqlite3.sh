# better-sqlite3: its mocha tests, for Node. The package has no tests; those of its release 7.4.3 are
# in the package better-sqlite3-with-prebuilds, and run on 12.11.1 (7.4.3 itself does not compile for
# a Node of today). They expect 7.4.3's own SQLite in a few places, which then fail on stock too. The
# addon is compiled with our header and an empty sqlite3.c, and linked with libsqlite3.so.0.
version=12.11.1

prepare() {
  want 'command -v node && command -v npm' nodejs npm || return 1
  want 'command -v g++ && command -v make && command -v python3' g++ make python3 || return 1
  if ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; then
    missing="it needs Node 20 or later, and $(command -v node) is $(node --version)"
    return 1
  fi
  local node_root
  node_root=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
  want "test -e '$node_root/include/node/node.h'" libnode-dev || return 1
  in_cache "$(better_sqlite3_folder)" build_better_sqlite3 "$node_root"
}
# Named by all that it is made of
better_sqlite3_folder() {
  echo "better-sqlite3-$version-$(cat "$here"/clients/better-sqlite3/package-lock.json "$dist/include/sqlite3.h" <(node --version) | cksum | cut -d' ' -f1)"
}
build_better_sqlite3() { # NODE FOLDER
  cp "$here"/clients/better-sqlite3/package*.json "$2"
  cd "$2"
  fetching npm ci --ignore-scripts --no-audit --no-fund
  cd node_modules/better-sqlite3
  cp "$dist/include/sqlite3.h" "$dist/include/sqlite3ext.h" deps/sqlite3
  : >deps/sqlite3/sqlite3.c
  # Some tests load this extension.
  CXXFLAGS=-O1 LDFLAGS="-L$work/stock -Wl,--no-as-needed -lsqlite3" \
    npm rebuild --build-from-source --nodedir="$1" --prefix "$2" better-sqlite3
  test -e build/Release/better_sqlite3.node
  rm -rf test build/Release/obj* build/Release/.deps
  cp -r ../better-sqlite3-with-prebuilds/test .
}

tests() {
  local folder
  folder=$cache/$(better_sqlite3_folder)
  # The tests ask for "../." and write beside themselves.
  cp -r "$folder/node_modules" .
  cd node_modules/better-sqlite3 || return 1
  # A line a test. Tests of one name are numbered by the comparison, in the order of their run.
  cat >lines.js <<'PROGRAM'
const { appendFileSync } = require('fs');
const say = (...parts) => appendFileSync(process.env.RESULTS, parts.join('\t') + '\n');
const line = (text) => String(text).replace(/\s+/g, ' ');
module.exports = function (runner) {
  let n = 0, expected = 0;
  const report = (test, result) => (n++, say(line(test.fullTitle()), result));
  runner.once('start', () => { expected = runner.total; });
  runner.on('pass', (test) => report(test, 'ok'));
  runner.on('pending', (test) => report(test, 'SKIP: pending'));
  runner.on('fail', (test, error) => report(test, 'FAIL: ' + line(error.message).slice(0, 500)));
  runner.once('end', () => {
    say('@source_id', require('.')(':memory:').prepare('SELECT sqlite_source_id()').pluck().get());
    say('@end', expected);
  });
};
PROGRAM
  RESULTS=$results node ../mocha/bin/mocha.js --reporter ./lines.js --exit --timeout=20000
}
