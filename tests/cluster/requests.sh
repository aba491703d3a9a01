# Requests with ids: written once and answered alike, whatever happens between. Sourced by `run`, while the
# cluster in its folder works.

# post NODE SQL [ID]: the answer of a node and, behind a space, its status
post() {
  local id=${3:+, \"id\": \"$3\"}
  curl -s -w ' %{http_code}' -H "Authorization: Bearer $secret" -H "Content-Type: application/json" \
    -d "{\"sql\": \"$2\"$id}" "http://127.0.0.1:$((7499 + 3 * $1))/sql"
}
# The id that a node gives out
new_id() {
  curl -s -H "Authorization: Bearer $secret" "http://127.0.0.1:$((7499 + 3 * $1))/request" |
    sed -n 's/^{"id":"\([0-9a-f]*-[0-9]*-[0-9a-f]*\)"}$/\1/p'
}
leads() {
  local i now
  for i in $(seq 100); do
    now=$(c status | sed -n 's/^ *\([0-9]*\)  leader .*/\1/p')
    [ -z "$now" ] || { echo "$now"; return; }
    sleep 0.1
  done
  return 1
}
count() { sql --consistent "SELECT count(*) FROM r WHERE $1"; }

written_once() {
  local id node
  id=$(new_id 2) && [ -n "$id" ] && c sql "CREATE TABLE r(a INTEGER PRIMARY KEY, b)" || return 1
  for node in 2 3 1 2; do
    is "node $node" '[{"changes":2},{"changes":0},{"changes":1}] 200' \
      "$(post $node "INSERT INTO r VALUES(1,0),(2,0); CREATE TABLE r2(x); UPDATE r SET b=b+1 WHERE a=1" "$id")" || return 1
  done
  is b 1 "$(sql --consistent "SELECT sum(b) FROM r")" &&
    has "$(post 1 "INSERT INTO r VALUES(3,0)" "$id")" "was for another statement" &&
    has "$(post 1 "INSERT INTO r VALUES(3,0)" "$id")" " 409" && is rows 2 "$(count 1)"
}
# The row that was in the way is gone when the same is asked again.
same_error() {
  local id first
  id=$(new_id 3)
  first=$(post 3 "INSERT INTO r VALUES(10,0),(1,0)" "$id")
  has "$first" "UNIQUE constraint failed: r.a" && has "$first" " 400" && c sql "DELETE FROM r WHERE a=1" &&
    is again "$first" "$(post 2 "INSERT INTO r VALUES(10,0),(1,0)" "$id")" && is rows 0 "$(count "a IN (1,10)")"
}
# A statement that cannot be prepared, and then can
same_refusal() {
  local id first
  id=$(new_id 3)
  first=$(post 3 "INSERT INTO r3 VALUES(1)" "$id")
  has "$first" "no such table: r3" && has "$first" " 400" && c sql "CREATE TABLE r3(a)" &&
    is again "$first" "$(post 1 "INSERT INTO r3 VALUES(1)" "$id")"
}
at_once() {
  local id i
  id=$(new_id 1)
  for i in $(seq 12); do post $((i % 3 + 1)) "INSERT INTO r(b) VALUES('at once')" "$id" >"said.$i" & done
  wait $(jobs -p)
  for i in $(seq 12); do is "client $i" '[{"changes":1}] 200' "$(<"said.$i")" || return 1; done
  is rows 1 "$(count "b='at once'")"
}
given_up() {
  local i id
  for i in $(seq 20); do
    id=$(new_id $((i % 3 + 1)))
    curl -s -m "0.00$((i % 8 + 1))" -o /dev/null -H "Authorization: Bearer $secret" -H "Content-Type: application/json" \
      -d "{\"sql\": \"INSERT INTO r(b) VALUES('given up $i')\", \"id\": \"$id\"}" "http://127.0.0.1:7505/sql"
    is "client $i" '[{"changes":1}] 200' "$(post 3 "INSERT INTO r(b) VALUES('given up $i')" "$id")" || return 1
  done
  is rows 20 "$(count "b LIKE 'given up %'")"
}
wrong_ids() {
  has "$(post 1 "DELETE FROM r" "nonsense")" "is no id of a request" && has "$(post 1 "DELETE FROM r" "nonsense")" " 400" &&
    has "$(post 1 "DELETE FROM r" "00000000-0-x")" "is not of this cluster" && has "$(post 1 "DELETE FROM r" "00000000-0-x")" " 410" &&
    has "$(post 2 "DELETE FROM r" "$(new_id 1 | sed 's/-[0-9]*-/-99999999-/')")" "no node has given out" && is rows 1 "$(count "a=2")"
}
# after_loss SIGNAL: the write that comes next is answered, though it may be sent to the lost node first
after_loss() {
  local lost node
  for node in "" 1 2 3; do
    lost=$(leads) || return 1
    kill "-$1" "$(node_process "$lost")"
    if [ "$node" != "$lost" ]; then
      c sql ${node:+--node "$node"} "INSERT INTO r(b) VALUES('$1 $node')" || return 1
      is rows 1 "$(count "b='$1 $node'")" || return 1
    fi
    [ "$1" != STOP ] || kill -CONT "$(node_process "$lost")"
    c start >/dev/null && c status >/dev/null || return 1
  done
}
# Two of three are dead: no answer, but an id. With it the answer comes when they live again.
without_most() {
  local leader other said id
  leader=$(leads) || return 1
  for other in 1 2 3; do [ "$other" = "$leader" ] || kill -9 "$(node_process "$other")"; done
  said=$(sql "INSERT INTO r(b) VALUES('later')")
  has "$said" "may have been written, or not" || return 1
  id=$(sed -n 's/.*--id \([0-9a-z-]*\) .*/\1/p' <<<"$said")
  c start && c sql --id "$id" "INSERT INTO r(b) VALUES('later')" && c sql --id "$id" "INSERT INTO r(b) VALUES('later')" &&
    is rows 1 "$(count "b='later'")"
}
# The node that is asked dies while all nodes do what takes seconds, so that it is sent again. `--consistent`
# asks for no id of its own, and must not write twice for it.
consistent_write() {
  c sql --consistent "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<6000000)
    INSERT INTO r(b) SELECT 'consistent' FROM n WHERE i=1" &
  local writer=$!
  sleep 1
  kill -0 $writer 2>/dev/null || { echo "it was written before the node could die"; return 1; }
  kill -9 "$(node_process 1)"
  wait $writer && c start >/dev/null && is rows 1 "$(count "b='consistent'")"
}
# All of a node's requests. Row 0 has no `what` and no answer, and NULL would leave the row out. `what` is any
# integer of 64 bits, so that its sum overflows: an error, in which all nodes agree.
requests="SELECT count(*), sum(number), group_concat(number||' '||hex(id)||' '||ifnull(what,'')||' '||ifnull(answer,''), ';'
  ORDER BY number) FROM _hpsqlite_requests"
has_requests() { is "node $1" "$2" "$(sql --node "$1" "$requests")"; }
# The answer is there after all nodes have died, in a node that has lost its folder, and on all alike.
kept() {
  local id node table
  id=$(new_id 1)
  is first '[{"changes":1}] 200' "$(post 1 "INSERT INTO r(b) VALUES('kept')" "$id")" || return 1
  for node in 1 2 3; do kill -9 "$(node_process $node)"; done
  sleep 0.3
  rm -rf c/node-2
  c start && is again '[{"changes":1}] 200' "$(post 2 "INSERT INTO r(b) VALUES('kept')" "$id")" && is rows 1 "$(count "b='kept'")" || return 1
  table=$(c sql --consistent "$requests") && has "$table" ";" || return 1
  for node in 1 2 3; do until_so 10 has_requests $node "$table" || return 1; done
  # A new cluster that begins with a copy of this one
  c backup requests.db && "$cluster" --dir copied start --nodes 1 --port 7580 --from requests.db &&
    has "$("$cluster" --dir copied sql --id "$id" "INSERT INTO r(b) VALUES('kept')" 2>&1)" "is not of this cluster"
  local status=$?
  "$cluster" --dir copied stop
  return $status
}

requests_run() {
  local secret
  secret=$(sed -n 's/^secret = "\(.*\)"/\1/p' c/cluster.toml)
  check "a request is written once, and answered alike by each node" written_once
  check "an error stays the answer when its cause is gone" same_error
  check "so does one that the statement's text has" same_refusal
  check "one id from twelve clients at once is one write" at_once
  check "a client that gave up gets the answer of what it had sent" given_up
  check "ids that no node gave out are refused" wrong_ids
  check "a write after the leader was killed" after_loss KILL
  check "a write after the leader was frozen" after_loss STOP
  check "a write while most nodes are dead, asked for again when they live" without_most
  check "a write with --consistent is written once, though the node that is asked dies" consistent_write
  check "answers outlive all nodes, and are of one cluster" kept
  check "the tables of these checks are dropped" c sql "DROP TABLE r; DROP TABLE r2; DROP TABLE r3"
}
