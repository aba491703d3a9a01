# rusqlite: the tests in its source and in tests/, for Rust. The crate has them. It is built with its
# own Cargo.lock, with all features but two, and linked with libsqlite3.so.0.
# Documentation tests are left out: each is a program of its own, linked on its own.
version=0.41.0

prepare() {
  command -v cargo >/dev/null || { missing="cargo is not to be found: install Rust (rustup)"; return 1; }
  want 'command -v cc' gcc libc6-dev || return 1
  in_cache "rusqlite-$version" fetch_rusqlite 9c026b4444579e8d754556c6c75d040d69c4a44283cdb648ab8a8d5965c2cfa8 &&
    in_cache "rusqlite-$version-$(cksum <"$dist/include/sqlite3.h" | cut -d' ' -f1)" build_rusqlite
}
fetch_rusqlite() { # SHA256 FOLDER
  cd "$2"
  mkdir src
  touch src/lib.rs
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\nrusqlite = { version = "=%s", default-features = false }\n' "$version" >Cargo.toml
  fetching cargo fetch
  # Cargo has compared the crate with its index; this sum is ours.
  grep -qF "checksum = \"$1\"" Cargo.lock || { echo "rusqlite $version has not the checksum $1"; return 1; }
  cp -rL "$(cargo metadata --offline --format-version 1 | python3 -c 'import json, os, sys
print(*[os.path.dirname(p["manifest_path"]) for p in json.load(sys.stdin)["packages"] if p["name"] == "rusqlite"])')" source
}

build_rusqlite() { # FOLDER
  # modern-full; preupdate_hook and session make bindings with libclang, and are left out
  local features=array,backup,blob,cache,chrono,collation,column_decltype,column_metadata,csvtab,extra_check,functions
  features+=,hooks,i128_blob,jiff,limits,load_extension,modern_sqlite,serde_json,serialize,series
  features+=,time,trace,unlock_notify,url,uuid,vtab,wal,window
  cp -r "$cache/rusqlite-$version/source" "$1/source"
  cd "$1/source"
  printf '\n[workspace]\n[profile.dev]\ndebug = false\n[[test]]\nname = "source_id"\n' >>Cargo.toml
  cat >tests/source_id.rs <<'PROGRAM'
#[test]
fn source_id() {
    let db = rusqlite::Connection::open_in_memory().unwrap();
    let id: String = db.query_row("SELECT sqlite_source_id()", [], |row| row.get(0)).unwrap();
    println!("@source_id\t{id}");
}
PROGRAM
  # Its tests use a macro of newer Rusts than CONTRIBUTING.md asks for.
  sed -i '/^ *use std::assert_matches;$/d' src/*.rs
  cat >src/assert_matches.rs <<'PROGRAM'
#[allow(unused_macros)]
macro_rules! assert_matches {
    ($value:expr, $pattern:pat $(if $guard:expr)? $(, $($message:tt)*)?) => {
        assert!(matches!($value, $pattern $(if $guard)?))
    };
}
PROGRAM
  sed -i '0,/^pub use fallible_iterator;\|^use /s//#[macro_use]\nmod assert_matches;\n&/' src/lib.rs
  # Each line of JSON that names a program of tests: its name and its file.
  SQLITE3_LIB_DIR=$work/stock SQLITE3_INCLUDE_DIR=$dist/include CARGO_TARGET_DIR=$1/target \
    cargo test --locked --no-run --lib --tests --features "$features" --message-format=json >"$1/messages" ||
    { grep -o '"rendered":"error[^"]*' "$1/messages"; false; }
  mkdir "$1/tests"
  python3 - "$1" <<'PROGRAM'
import json, pathlib, shutil, sys
folder = pathlib.Path(sys.argv[1])
for line in (folder / "messages").read_text().splitlines():
    message = json.loads(line)
    if message.get("executable") and message["profile"]["test"]:
        shutil.copy(message["executable"], folder / "tests" / message["target"]["name"])
PROGRAM
  test -x "$1/tests/rusqlite"
  test -x "$1/tests/source_id"
  rm -rf "$1/target" "$1/messages"
}

tests() {
  local folder program name status counted=0
  folder=$cache/rusqlite-$version-$(cksum <"$dist/include/sqlite3.h" | cut -d' ' -f1)
  cp -r "$folder/source/." .
  for program in "$folder"/tests/*; do
    name=${program##*/}
    echo "=== $name"
    if [ "$name" = config_log ]; then
      # It has no test harness: it succeeds or fails as a whole.
      if "$program"; then status=ok; else status='FAIL: see the log'; fi
      printf '%s\t%s\n' "$name" "$status" >>"$results"
      counted=$((counted + 1))
      continue
    fi
    if [ "$name" = source_id ]; then
      "$program" --nocapture | sed -n 's/^.*@source_id/@source_id/p' >>"$results"
      continue
    fi
    "$program" --test-threads=1 2>&1 | tee output
    # A line "test NAME ... ok", with what the test itself prints before the last word
    awk -v program="$name" '
      /^test .* \.\.\. / { name = $2; waiting = 1 }
      waiting && /(^|\.\.\. |[^a-z])(ok|FAILED|ignored.*)$/ {
        print program "::" name "\t" (/ok$/ ? "ok" : /FAILED$/ ? "FAIL: see the log" : "SKIP: ignored")
        waiting = 0
      }' output >>"$results"
    counted=$((counted + $(sed -n 's/^running \([0-9]*\) tests\{0,1\}$/\1/p' output | head -n 1)))
  done
  printf '@end\t%s\n' "$counted" >>"$results"
}
