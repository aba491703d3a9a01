# Three machines and a fourth, as docs/cluster.md has them: network namespaces with an address each, which
# a bridge in a namespace of its own connects. Sourced by `run`, in its folder for work.

net=hpsqlite-$$
machines="1 2 3 4"
address() { echo "10.213.71.$1"; }
# on MACHINE COMMAND...: on one of them; 0 is where the bridge is, with a user of the cluster
on() { ip netns exec "$net-$1" "${@:2}"; }
at() { on "$1" "$cluster" --dir "$work/m/$1" "${@:2}" </dev/null; }
user() { at 0 "$@"; }

join_network() {
  local i
  ip netns add "$net-0" && ip -n "$net-0" link add bridge type bridge && ip -n "$net-0" link set bridge up &&
    ip -n "$net-0" link set lo up && ip -n "$net-0" addr add "$(address 9)/24" dev bridge || return 1
  for i in $machines; do
    ip netns add "$net-$i" && ip -n "$net-0" link add "to$i" type veth peer name net netns "$net-$i" &&
      ip -n "$net-0" link set "to$i" master bridge up && ip -n "$net-$i" link set lo up &&
      ip -n "$net-$i" addr add "$(address "$i")/24" dev net && ip -n "$net-$i" link set net up || return 1
  done
}
# The process of a machine's node, which a check may have started in a shell of its own
process() { cat "$work/m/$1/node-$1/process" 2>/dev/null; }
leave_network() {
  local i
  for i in $machines; do [ -z "$(process "$i")" ] || kill -9 "$(process "$i")" 2>/dev/null; done
  for i in 0 $machines; do ip netns del "$net-$i" 2>/dev/null; done
}

# describe COUNT: the file that all machines have
describe() {
  local i
  echo 'secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
database = "app.db"
tls = "automatic"'
  for ((i = 1; i <= $1; i++)); do printf '[[node]]\nid = %s\nhost = "%s"\nport = 7100\n' "$i" "$(address "$i")"; done
}
give_file() { # COUNT MACHINE...
  local i count=$1
  shift
  for i; do mkdir -p "m/$i" && describe "$count" >"m/$i/cluster.toml" && chmod 600 "m/$i/cluster.toml" || return 1; done
}
# What a service does; its disk and clock are what the file machine-N says.
serve_on() { # MACHINE
  MACHINE=$work/machine-$1 LD_PRELOAD=$work/machine.so ip netns exec "$net-$1" \
    "$cluster" --dir "$work/m/$1" node "$1" >>"m/$1/said" 2>&1 </dev/null &
}
# The node that leads; status fails where one does not answer.
leader() { user status | sed -n 's/^ *\([0-9]*\)  leader .*/\1/p' || true; }
leads_without() { # LOST
  local now
  now=$(leader)
  [ -n "$now" ] && [ "$now" != "$1" ]
}
has_ended() { ! kill -0 "$(process "$1")"; }
all_work() { user status; }
same_rows() { # MACHINE...
  local i wanted
  # A node that has just come back may still have lost its connection to the leader.
  until_so 20 user sql --consistent "SELECT 1" || return 1
  wanted=$(user sql --consistent "SELECT count(*), sum(id) FROM w") || return 1
  for i; do until_so 20 is "machine $i" "$wanted" "$(at "$i" sql --node "$i" "SELECT count(*), sum(id) FROM w")" || return 1; done
}

begin() {
  give_file 3 0 1 2 3 && serve_on 1 && serve_on 2 && serve_on 3 && until_so 60 all_work &&
    user sql "CREATE TABLE w(id INTEGER PRIMARY KEY, x)"
}

# Writes numbers from FIRST on until the file `enough` is there, and notes the acknowledged ones.
write_from() {
  local id=$1
  rm -f enough acknowledged
  while [ ! -e enough ]; do
    user sql --bind "$id" "INSERT INTO w VALUES(?1, 'x')" >/dev/null 2>&1 && echo "$id" >>acknowledged
    id=$((id + 1))
  done
}
stop_writing() { touch enough; wait "$1"; }
# Every acknowledged number, on each machine
all_there() {
  local i lost
  sort acknowledged >wanted
  for i; do
    lost=$(at "$i" sql --node "$i" "SELECT id FROM w" | sort | comm -13 - wanted | wc -l)
    is "lost on machine $i" 0 "$lost" || return 1
  done
  [ -s wanted ]
}

cut_off() {
  local lost writer
  write_from 1000 &
  writer=$!
  sleep 1
  lost=$(leader)
  ip -n "$net-0" link set "to$lost" down
  local begun=$SECONDS
  # Asking who leads takes two seconds while one does not answer.
  if ! until_so 8 leads_without "$lost"; then
    stop_writing $writer
    ip -n "$net-0" link set "to$lost" up
    return 1
  fi
  sleep 3
  # It cannot know yet, or knows: either way nothing that it is told is acknowledged.
  ! at "$lost" sql --node "$lost" "INSERT INTO w VALUES(-1, 'lost')" >cut 2>&1 &&
    at "$lost" sql --node "$lost" "SELECT count(*) FROM w" >/dev/null &&
    ! at "$lost" sql --consistent "SELECT count(*) FROM w" >>cut 2>&1
  local status=$?
  ip -n "$net-0" link set "to$lost" up
  until_so 30 all_work || status=1
  stop_writing $writer
  [ $status = 0 ] || { cat cut; return 1; }
  say "the leader cut off for $((SECONDS - begun)) s, $(wc -l <acknowledged) rows acknowledged"
  same_rows 1 2 3 && all_there 1 2 3 &&
    is "rows of who was cut off" 0 "$(user sql --consistent "SELECT count(*) FROM w WHERE id<0")"
}

slow_disk() { # MACHINE MILLISECONDS
  local id status=0
  echo "$2 0" >"machine-$1"
  for id in 1 2 3 4 5; do user sql "INSERT INTO w VALUES($((2000000000 + $1 * 1000 + $2 * 10 + id)), 'slow')" || status=1; done
  rm "machine-$1"
  until_so 30 all_work && same_rows 1 2 3 && return $status
}
slow_disks() {
  local first other
  first=$(leader)
  other=$((first % 3 + 1))
  slow_disk "$other" 400 && slow_disk "$first" 400
}

# An hour fast, and an hour slow, while rows are written
clock_jumps() {
  local writer status=0 first
  write_from 50000 &
  writer=$!
  first=$(leader)
  sleep 0.5; echo "0 3600" >"machine-$first"
  sleep 2; echo "0 -3600" >"machine-$first"
  sleep 2; rm "machine-$first"
  all_work >/dev/null || status=1
  stop_writing $writer
  is "leader" "$first" "$(leader)" && same_rows 1 2 3 && all_there 1 2 3 && return $status
}

machine_more() {
  give_file 4 0 1 2 3 4 && serve_on 4 && until_so 60 all_work && same_rows 1 2 3 4
}

machine_lost() {
  kill -9 "$(process 2)"
  until_so 5 has_ended 2
  rm -rf m/2/node-2
  until_so 30 user sql "INSERT OR REPLACE INTO w VALUES(3000000000, 'meanwhile')" && serve_on 2 && until_so 60 all_work && same_rows 1 2 3 4
}

# Its services end as a system ends them
machines_stop() {
  local i
  for i in $machines; do kill "$(process "$i")" || return 1; done
  for i in $machines; do until_so 40 has_ended "$i" || return 1; done
}

machines_run() {
  ${CC:-cc} -O1 -Wall -Wextra -shared -fPIC "$here/machine.c" -o machine.so -ldl || { fail "machine.c compiles"; return; }
  check "three machines, each with its node, encrypted" begin
  check "the leader cut off: what it is told is not acknowledged, nothing is lost" cut_off
  check "slow disks, of a follower and of the leader" slow_disks
  check "a clock that jumps" clock_jumps
  check "a machine more" machine_more
  check "a machine whose disk is gone" machine_lost
  check "services end in order" machines_stop
}
