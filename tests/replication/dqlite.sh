# dqlite, as Debian ships it: three nodes of its demo program on our library. Sourced by run.
prepare_dqlite() {
  want 'command -v dqlite-demo && command -v dqlite' go-dqlite && want 'command -v curl' curl
}

# begin_node N: the first that has been there joins none, the others join the first
begin_node() {
  local n=$1 join=()
  [ "$n" = 1 ] || join=(--join "127.0.0.1:${raft[1]}")
  LD_LIBRARY_PATH=$work/$library dqlite-demo --api "127.0.0.1:${api[n]}" --db "127.0.0.1:${raft[n]}" \
    --dir "$dir" --verbose ${join[@]+"${join[@]}"} >>"$dir/node-$n.log" 2>&1 &
  nodes[n]=$!
}
kill_node() { kill -9 "${nodes[$1]}"; wait "${nodes[$1]}" 2>/dev/null; unset "nodes[$1]"; }

# Six adjacent ports of loopback that nothing answers at
find_ports() {
  local first n used
  while :; do
    first=$(shuf -i 20000-29990 -n 1) used=
    for n in 0 1 2 3 4 5; do
      if (: <"/dev/tcp/127.0.0.1/$((first + n))") 2>/dev/null; then used=1; fi
    done
    [ -n "$used" ] || break
  done
  for n in 1 2 3; do api[n]=$((first + n - 1)) raft[n]=$((first + n + 2)); done
}

put() { curl -s -m 10 -X PUT -d "$3" "http://127.0.0.1:${api[$1]}/$2"; } # NODE KEY VALUE
get() { curl -s -m 10 "http://127.0.0.1:${api[$1]}/$2"; }                 # NODE KEY
# The statements go to the leader, wherever it is.
sql() { dqlite -s "127.0.0.1:${raft[1]},127.0.0.1:${raft[2]},127.0.0.1:${raft[3]}" demo "$1"; }

writes() { [ "$(put "$1" "$2" "$3")" = 'done' ]; }
reads() { [ "$(get "$1" "$2")" = "$3" ]; }
# Every node that runs has each of the values.
have_values() {
  local n k
  for n in "${!nodes[@]}"; do
    for ((k = 1; k <= values; k++)); do
      [ "$(get "$n" "key-$k")" = "value $k" ] || { fail "dqlite on $library: node $n says of value $k: $(get "$n" "key-$k")"; return 1; }
    done
  done
  pass
}

# Six tables grow together, so that on a file they would have extents, past the 1,000 frames at
# which dqlite does a checkpoint.
grow() {
  local t k statements=
  for t in 0 1 2 3 4 5; do statements+="CREATE TABLE IF NOT EXISTS t$t(id INTEGER PRIMARY KEY, k TEXT UNIQUE, v BLOB);"; done
  for k in $(seq "$1"); do
    for t in 0 1 2 3 4 5; do
      statements+="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<$((20 * (t + 1))))
        INSERT INTO t$t(k, v) SELECT hex(randomblob(8)), randomblob(700) FROM n;"
    done
  done
  for t in 0 3; do statements+="DELETE FROM t$t WHERE id%3=0;"; done
  sql "${statements%;}" >>"$dir/shell.log" 2>&1
}

# same_dumps: the database of each node, written to a file, is whole for stock SQLite, and like the
# others. What they are is in $found.
same_dumps() {
  local n hash
  found=()
  for n in 1 2 3; do
    rm -rf "$dir/dump-$n"
    mkdir "$dir/dump-$n" &&
      (cd "$dir/dump-$n" && sql ".dump 127.0.0.1:${raft[n]} demo" >>"$dir/shell.log" 2>&1) &&
      hash=$(judge hash "$dir/dump-$n/demo" 2>>"$dir/shell.log") || return 1
    found+=("$hash")
  done
  [ "${found[0]%% *}" -gt 500 ] && [ "${found[1]}" = "${found[0]}" ] && [ "${found[2]}" = "${found[0]}" ]
}

run_on() { # LIBRARY
  local library=$1 dir=$work/dqlite-$1 api=() raft=() n leader other found=() first=none values=20 began=$SECONDS
  mkdir "$dir"
  find_ports
  for n in 1 2 3; do
    begin_node "$n"
    # The demo's first statement waits until there is a leader.
    within 30 "dqlite on $library: node $n does not answer: $(tail -n 1 "$dir/node-$n.log")" curl -s -m 2 -o "$dir/said" "http://127.0.0.1:${api[n]}/x" || return
    grep -qF "$(readlink -f "$work/$library/libsqlite3.so.0")" "/proc/${nodes[n]}/maps" ||
      fail "dqlite on $library: node $n does not run on this library"
  done
  for ((n = 1; n <= values; n++)); do
    writes $((n % 3 + 1)) "key-$n" "value $n" || fail "dqlite on $library: value $n: $(put $((n % 3 + 1)) "key-$n" "value $n")"
  done
  have_values
  if grow 20; then pass; else fail "dqlite on $library: the tables do not grow: $(tail -n 1 "$dir/shell.log")"; fi

  # The leader is lost.
  leader=$(sql .leader)
  for n in 1 2 3; do [ "$leader" != "127.0.0.1:${raft[n]}" ] || leader=$n; done
  [[ $leader == [123] ]] || { fail "dqlite on $library: the leader is $leader"; return; }
  other=$((leader % 3 + 1))
  kill_node "$leader"
  within 60 "dqlite on $library: no value is written after the leader is lost" writes "$other" later 'a value' || return
  have_values
  if grow 4; then pass; else fail "dqlite on $library: the tables do not grow: $(tail -n 1 "$dir/shell.log")"; fi
  begin_node "$leader"
  within 60 "dqlite on $library: the node that was lost does not get the value" reads "$leader" later 'a value' || return
  have_values

  # All are lost.
  for n in 1 2 3; do kill_node "$n"; done
  for n in 1 2 3; do begin_node "$n"; done
  for n in 1 2 3; do within 60 "dqlite on $library: node $n has lost a value" reads "$n" later 'a value' || return; done
  have_values
  # A follower applies its log again when the leader's next entry says how far it is valid.
  within 60 "dqlite on $library: no value is written after all were lost" writes 1 last 'a value' || return

  if within 30 "dqlite on $library: the databases of the nodes are not whole, or not the same" same_dumps; then first=${found[0]}; fi
  for n in 1 2 3; do
    alive_node "$n"
    kill_node "$n"
  done
  say "dqlite on $library: $values values, pages and hash $first, in $((SECONDS - began)) s"
}
alive_node() { kill -0 "${nodes[$1]}" 2>/dev/null || fail "dqlite on $library: node $1 has ended: $(tail -n 1 "$dir/node-$1.log")"; }

run_dqlite() {
  [ -z "${FULL:-}" ] || run_on stock
  run_on ours

}
