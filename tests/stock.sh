# For suites that compile SQLite as it is published; sourced, in the checkout's top folder or with
# $top set to it.

# pinned_folder: the folder of the pinned sqlite3.c, as the build has fetched it.
pinned_folder() {
  local root=${top:-.} sum
  sum=$(sed -n 's/^file *sqlite3\/sqlite3\.c *//p' "$root/engine/UPSTREAM")
  echo "${CARGO_TARGET_DIR:-$root/target}/engine/upstream/${sum:0:12}"
}

# pinned_with_defaults OURS: the text of the pinned sqlite3.c with the default options of OURS.
pinned_with_defaults() {
  sed '/^#endif .* HP_NO_DEFAULT_OPTIONS/q' "$1"
  cat "$(pinned_folder)/sqlite3.c"
}
