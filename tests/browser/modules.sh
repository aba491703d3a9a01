# What tests and formatter take from npm; sourced, after ../packages.sh and with what that wants.

# modules: puts the packages of package-lock.json into $cache/node_modules, once for each lock file,
# or gives the reason why it cannot in $missing: 1 without a Node, 2 if npm failed
modules() {
  local here
  here=$(dirname "${BASH_SOURCE[0]}")
  want 'command -v node && command -v npm' nodejs npm || return 1
  node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || {
    missing="needs Node 20 or later, and $(command -v node) is $(node --version)"
    return 1
  }
  cmp -s "$here/package-lock.json" "$cache/node_modules/.for-lock" && return 0
  say "installing what package-lock.json has"
  cp "$here/package.json" "$here/package-lock.json" "$cache"
  (cd "$cache" && npm ci --no-audit --no-fund) >"$cache/npm.log" 2>&1 || {
    missing="npm could not install what package-lock.json has: see $cache/npm.log, and check the network and npm's settings"
    return 2
  }
  cp "$here/package-lock.json" "$cache/node_modules/.for-lock"
}
