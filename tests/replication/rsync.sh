# sqlite3_rsync copies a database that is written meanwhile; sourced by run.

# It needs the table sqlite_dbpage, which libraries rarely have, so its two programs are compiled
# together with our sqlite3.c and with stock's, as SQLite's makefile does.
prepare_rsync() {
  local upstream=${XDG_CACHE_HOME:-$HOME/.cache}/hpsqlite/upstream/scripts/tool/sqlite3_rsync.c source tarball
  source=$cache/sqlite3_rsync.c
  # tests/upstream has it in SQLite's source, if it has run here.
  if [ -r "$upstream" ]; then
    cp "$upstream" "$source"
  elif [ ! -r "$source" ]; then
    want 'command -v xz' xz-utils || return 1
    say "fetching sqlite3_rsync.c (Debian source package sqlite3)"
    tarball=$("$here/../upstream/debian-source" sqlite3 unstable "$cache" 2>"$logs/source.log") || {
      missing=$(tail -n 1 "$logs/source.log")
      return 1
    }
    tar xOf "$tarball" --wildcards '*/tool/sqlite3_rsync.c' >"$source.new" ||
      die "Debian's source package sqlite3 has no tool/sqlite3_rsync.c"
    mv "$source.new" "$source"
    rm -f "$tarball"
  fi
  build_rsync stock "$(pinned_folder)/sqlite3.c" "$source" && build_rsync ours "$dist/src/sqlite3.c" "$source"
}
# build_rsync LIBRARY SQLITE3.C SOURCE: a program is kept, and named by what it is made of. Not
# optimised: the compiler takes half the time, and copies of this size are fast.
build_rsync() {
  local program
  [ -r "$2" ] || die "there is no $2: run 'make' first"
  program=$cache/sqlite3_rsync-$1-$(cat "$2" "$3" - <<<"$(declare -f build_rsync) $(${CC:-cc} --version)" | sha256sum | cut -c1-16)
  if [ ! -x "$program" ]; then
    say "compiling sqlite3_rsync with $1, once"
    rm -f "$cache/sqlite3_rsync-$1-"*
    "${CC:-cc}" -O0 -w -DSQLITE_ENABLE_DBPAGE_VTAB -I"$(dirname "$2")" "$3" "$2" -lm -ldl -lpthread -o "$program.new.$$" \
      >"$logs/rsync-$1.log" 2>&1 || die "sqlite3_rsync does not compile: $(head -n 3 "$logs/rsync-$1.log")"
    mv "$program.new.$$" "$program"
  fi
  mkdir -p "$work/rsync"
  ln -sf "$program" "$work/rsync/sqlite3_rsync-$1"
}

# rsync TO: replaces a subshell. The origin's library is $part, and that of the replica TO. Where both
# are the same it is told of no host, else of one, and a program that runs the command here is its ssh.
rsync() {
  local program=$work/rsync/sqlite3_rsync-$part to=$dir/replica-$1.db
  exec >>"$dir/rsync-$1.log" 2>&1
  if [ "$part" = "$1" ]; then exec "$program" "$db" "$to" --wal-only; fi
  exec "$program" "$db" "here:$to" --wal-only --ssh "$work/rsync/ssh" --exe "$work/rsync/sqlite3_rsync-$1"
}
# judged WHAT TO: what the judge and our library say of the replica, to $found
judged() {
  local again
  found=$(judge "$1" "$dir/replica-$2.db" 2>>"$dir/judge.log") &&
    again=$(writer ours "$1" "$dir/replica-$2.db" 2>>"$dir/judge.log") || return 1
  [ "$found" = "$again" ] || { echo "stock says $found, ours $again" >>"$dir/judge.log"; return 1; }
}

update() { # TO
  local before
  before=$(committed)
  if ! (rsync "$1"); then
    fail "rsync, $part to $1, update $round: $(tail -n 1 "$dir/rsync-$1.log")"
  elif ! judged check "$1"; then
    fail "rsync, $part to $1, update $round: $(tail -n 1 "$dir/judge.log")"
    cp "$dir/replica-$1.db" "$dir/replica-$1-in-update-$round.db"
  elif [ "$found" -lt "$before" ] || [ "$found" -gt $(($(committed) + 1)) ]; then
    fail "rsync, $part to $1, update $round: $found transactions copied, $before committed before, $(committed) after"
  else
    pass
  fi
}
# has_ended TO: no process has the replica as an argument
has_ended() {
  local file words
  for file in /proc/[0-9]*/cmdline; do
    { mapfile -d '' -t words <"$file"; } 2>/dev/null
    [[ " ${words[*]} " != *" $dir/replica-$1.db "* ]] || return 1
  done
}
# Killed at any moment, the replica is what it was, or the copy.
cut_short() { # TO
  local pid
  rsync "$1" &
  pid=$!
  sleep "0.0$((RANDOM % 10))"
  kill -9 "$pid" 2>/dev/null
  wait "$pid" 2>/dev/null
  within 20 "rsync, $part to $1: the other side does not end" has_ended "$1" || return
  if judged check "$1"; then pass; else fail "rsync, $part to $1, killed in update $round: $(tail -n 1 "$dir/judge.log")"; fi
}

copy() { # LIBRARY AUTO_VACUUM UPDATES
  local part=$1 last=$3 round to found source n began=$SECONDS dir=$work/rsync/$1-$2
  local db=$dir/test.db pragmas=("auto_vacuum=$2" ${pragmas[@]+"${pragmas[@]}"})
  mkdir "$dir"
  RANDOM=$seed
  begin_writing
  until [ "$(committed)" -gt 0 ]; do sleep 0.1; done
  for ((round = 1; round <= last; round++)); do
    for to in ours stock; do
      sleep "0.$((RANDOM % 9 + 1))"
      update "$to"
      cut_short "$to"
    done
    alive writer "$writing"
  done
  for ((n = 0; n < 120; n++)); do
    [ "$(committed)" -lt 320 ] || break
    sleep 0.5
  done
  kill_writing
  for to in ours stock; do
    if ! (rsync "$to"); then
      fail "rsync, $part to $to, the last update: $(tail -n 1 "$dir/rsync-$to.log")"
    elif ! source=$(judge digest "$db" 2>&1); then
      fail "rsync, $part: the database: $source"
    elif ! judged digest "$to"; then
      fail "rsync, $part to $to: the replica: $(tail -n 1 "$dir/judge.log")"
    elif [ "$found" != "$source" ]; then
      fail "rsync, $part to $to: transactions and hash of the database are $source, of the replica $found"
    else
      pass
    fi
  done
  n=$(judge pages "$db")
  if [ "$n" -ge 32 ]; then pass; else fail "rsync, $part: a table has only $n pages: this has shown nothing"; fi
  if [ -s "$dir/writer.log" ]; then fail "rsync, $part: the writer: $(head -n 1 "$dir/writer.log")"; else pass; fi
  say "rsync: $part writes with auto_vacuum=$2, $last updates of each replica, transactions and hash ${found:-none}, the smallest table has $n pages," \
    "in $((SECONDS - began)) s"
}

run_rsync() {
  # It has ssh's arguments: -e none HOST COMMAND, and a shell on the other side reads the command.
  printf '#!/bin/sh\nshift 3\nexec sh -c "$*"\n' >"$work/rsync/ssh" && chmod +x "$work/rsync/ssh"
  # A database that goes from auto_vacuum=full to none is not copied, with stock SQLite either: the
  # replica's COMMIT moves pages as if the old mode were still on. So each mode stays.
  local modes=(none full incremental) mode
  if [ -z "${FULL:-}" ]; then
    copy ours "${modes[seed % 3]}" 4
    return
  fi
  for mode in "${modes[@]}"; do copy ours "$mode" 12; done
  copy stock "${modes[seed % 3]}" 12
}
