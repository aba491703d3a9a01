# Litestream beside the writer; sourced by run. Wants $litestream, which prepare_litestream builds
# from Go's module proxy, checked against go.sum.
prepare_litestream() {
  local version program=github.com/benbjohnson/litestream/cmd/litestream
  version=$(sed -n 's|^\tgithub.com/benbjohnson/litestream \(v[^ ]*\).*|\1|p' "$here/go.mod")
  litestream=$cache/litestream-$version
  [ ! -x "$litestream" ] || return 0
  want_go "$(sed -n 's/^go //p' "$here/go.mod")" || return 1
  # What the program needs, and not what go.mod names for the tests of modules.
  go -C "$here" list -deps "$program" >"$logs/download.log" 2>&1 || {
    missing="go could not download Litestream: $(tail -n 1 "$logs/download.log" | cut -c1-300)"
    return 1
  }
  say "building Litestream $version, once"
  CGO_ENABLED=0 go -C "$here" build -trimpath -mod=readonly -o "$litestream.new" "$program" >"$logs/build.log" 2>&1 ||
    die "Litestream does not build: $(tail -n 5 "$logs/build.log")"
  mv "$litestream.new" "$litestream"
}

# What is started does not hold the gate (descriptor 7) when run has closed it.
begin_writing() {
  LD_LIBRARY_PATH=$work/$part "$work/writer" write "$db" ${pragmas[@]+"${pragmas[@]}"} >>"$dir/committed" 2>>"$dir/writer.log" 7>&- &
  writing=$!
}
begin_replicating() {
  touch "$dir/begun"
  "$litestream" replicate -config "$dir/litestream.yml" >>"$dir/litestream.log" 2>&1 7>&- &
  replicating=$!
}
kill_writing() { kill -9 "$writing"; wait "$writing" 2>/dev/null; writing=; }
kill_replicating() { close_gate; kill -9 "$replicating"; wait "$replicating" 2>/dev/null; replicating=; }
# While the gate is closed the writer does no checkpoint.
close_gate() { exec 7>"$db.gate" && flock 7; }
open_gate() { flock -u 7 && exec 7>&-; }
# What it copies after it has begun shows that it has its read transaction.
wait_replicating() {
  local n
  for ((n = 0; n < 600; n++)); do
    [ -z "$(find "$dir/replica/ltx/0" -name '*.ltx' -newer "$dir/begun" -print -quit 2>/dev/null)" ] || return 0
    sleep 0.05
  done
  fail "$part, round $round: Litestream has copied nothing for 30 s: $(tail -n 1 "$dir/litestream.log")"
}
committed() { grep -E '^[0-9]+$' "$dir/committed" 2>/dev/null | tail -n 1 | grep . || echo 0; }
# One that has ended before it was killed has failed.
alive() { # WHO PID
  kill -0 "$2" 2>/dev/null || fail "$part, round $round: $1 has ended: $(tail -n 1 "$dir/$1.log")"
}

# restored WHAT: restore to a new file, and let the judge say WHAT of it, in $found
restored() {
  local log=$dir/restore.log
  rm -f "$dir"/restored.db*
  "$litestream" restore -config "$dir/litestream.yml" -o "$dir/restored.db" "$db" >"$log" 2>&1 7>&- &&
    found=$(judge "$1" "$dir/restored.db" 2>>"$log" 7>&-)
}

# A part of what was committed: all of the first transactions, and nothing of later ones.
check_prefix() {
  local most
  if ! restored check; then
    fail "$part, round $round: restored: $(tail -n 1 "$dir/restore.log")"
    [ ! -e "$dir/restored.db" ] || mv "$dir/restored.db" "$dir/restored-in-round-$round.db"
    return
  fi
  most=$(committed)
  # The last number may not have been printed when the writer was killed.
  if [ "$found" -le $((most + 1)) ]; then pass; else fail "$part, round $round: $found transactions restored, $most committed"; fi
}

replicate() { # PART ROUNDS
  local part=$1 last=$2 round=0 dir=$work/$1/files found source n errors what counts=
  local db=$dir/test.db
  mkdir "$dir"
  RANDOM=$seed
  # Everything often, so that much happens: syncs, compactions, snapshots, checkpoints. The writer
  # may hold the write lock for as long as a VACUUM takes: to wait for it is no error.
  cat >"$dir/litestream.yml" <<CONFIG
levels:
  - interval: 1s
  - interval: 5s
snapshot:
  interval: 7s
dbs:
  - path: $db
    monitor-interval: 20ms
    checkpoint-interval: 1s
    min-checkpoint-page-count: 200
    busy-timeout: 20s
    replica:
      type: file
      path: $dir/replica
      sync-interval: 20ms
CONFIG
  close_gate
  begin_writing
  begin_replicating
  wait_replicating
  open_gate
  for ((round = 1; round <= last; round++)); do
    sleep "$((RANDOM % 5 / 4)).$((RANDOM % 9 + 1))"
    alive writer "$writing"
    alive litestream "$replicating"
    case $((RANDOM % 5)) in
      0 | 1) kill_writing ;;
      2 | 3) kill_replicating ;;
      4) kill_writing; kill_replicating ;;
    esac
    [ $((round % 4)) != 0 ] || check_prefix
    # In either order.
    if [ -z "$replicating" ]; then
      begin_replicating
      [ -n "$writing" ] || begin_writing
      wait_replicating
      open_gate
    fi
    [ -n "$writing" ] || begin_writing
  done
  # On a slow machine as well, tables are to have extents, and everything is to happen.
  for ((n = 0; n < 120; n++)); do
    [ "$(committed)" -lt 320 ] || break
    sleep 0.5
  done
  sleep 1
  kill_writing
  # It ends when it has brought everything to the replica.
  kill "$replicating"
  if wait "$replicating"; then pass; else fail "$part: Litestream failed at its end: $(tail -n 1 "$dir/litestream.log")"; fi
  replicating=

  if ! source=$(judge digest "$db" 2>&1); then
    fail "$part: the database: $source"
  elif [ "${source% *}" -lt "$(committed)" ]; then
    fail "$part: the database has $source, and $(committed) were committed"
  elif ! restored digest; then
    fail "$part: the restored database: $(tail -n 1 "$dir/restore.log")"
  elif [ "$found" != "$source" ]; then
    fail "$part: transactions and hash of the database are $source, of the restored one $found"
  else
    pass
  fi
  n=$(judge pages "$db")
  if [ "$n" -ge 32 ]; then pass; else fail "$part: a table has only $n pages: this has shown nothing"; fi
  for what in large vacuum passive full restart truncate; do
    errors=$(grep -c "^did $what$" "$dir/committed")
    counts+=", $errors $what"
    [ "$errors" -gt 0 ] || fail "$part: the writer has done nothing of the kind '$what': this has shown nothing"
  done
  errors=$(grep -c -e level=ERROR -e 'read database page' -e EOF "$dir/litestream.log")
  if [ "$errors" = 0 ]; then
    pass
  else
    fail "$part: $errors errors in Litestream's log, the first:" \
      "$(grep -m 1 -e level=ERROR -e 'read database page' -e EOF "$dir/litestream.log")"
  fi
  if [ -s "$dir/writer.log" ]; then fail "$part: the writer: $(head -n 1 "$dir/writer.log")"; else pass; fi
  cp "$dir/litestream.log" "$logs/$part.log"
  say "$part: $last rounds from seed $seed, transactions and hash ${found:-none}, the smallest table has $n pages;" \
    "the writer has done${counts#,}"
}

run_stock() { replicate stock $(((rounds + 3) / 4)); }
run_ours() { replicate ours "$rounds"; }
