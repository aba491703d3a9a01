#!/bin/sh
# Starts the program of the wheel. It lies with its libraries in a folder of its own: a
# libsqlite3.so.0 in lib/ itself would reach programs that nobody named.
here=$(dirname "$(readlink -f "$0")")
exec "$here/../lib/hpsqlite-wheel/bin/hpsqlite" "$@"
