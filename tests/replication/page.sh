# docs/replication.md, run as it stands there; sourced by run. Wants what litestream.sh and rsync.sh
# prepare.
prepare_page() {
  want 'command -v python3' python3 && prepare_litestream && prepare_rsync
}
run_page() {
  local dir=$work/page programs=$work/programs
  mkdir "$dir" "$programs"
  ln -s "$litestream" "$programs/litestream"
  ln -s "$(readlink -f "$work/rsync/sqlite3_rsync-ours")" "$programs/sqlite3_rsync"
  PATH=$programs:$PATH add_page "$top/docs/replication.md" "$dir"
  # If a command has failed, Litestream still runs.
  if [ -s "$dir/litestream.pid" ]; then kill -9 "$(cat "$dir/litestream.pid")" 2>/dev/null; fi
}
