# For suites that run a page of docs/; sourced after checks.sh.
pages_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# add_page PAGE FOLDER: runs the page in the folder, and adds its counts to the suite's
add_page() {
  local log=$2.log p=0 f=1 s=0
  python3 "$pages_folder/page.py" "$1" "$2" >"$log" 2>&1
  grep -vE '^[0-9]+ passed, ' "$log" | while IFS= read -r line; do say "${1##*/}: $line"; done
  read -r p _ f _ s _ < <(grep -E '^[0-9]+ passed, ' "$log" || echo 0 passed, 1 failed, 0 skipped)
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}
