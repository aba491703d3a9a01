# A thin front of cargo and the engine's build.

PREFIX  ?= /usr/local
DESTDIR ?=
DIST    ?= dist
STRIP   ?= -s
TARGET  := $(or $(CARGO_TARGET_DIR),target)
ENGINE  := $(TARGET)/release/hpsqlite-engine
SUITES  := cargo symbols compilers differential engine crash dropin python debian bundle rust node pages upstream browser go replication

# The oldest Rust that compiles it all
RUST    := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
# What `make release` and `make wheel` make: packaging/cross/targets
TARGETS ?= $(shell packaging/cross/build --list)
# Suites that take too long, or too much from the network, for each change
NIGHTLY := release clients java cluster elsewhere container

# What `make install` copies from dist/. The amalgamation in dist/src is for
# embedders to take by hand.
PROGRAMS  := bin/sqlite3 bin/hpsqlite
LIBRARIES := lib/libsqlite3.so.0 libexec/hpsqlite/libsqlite3-stock.so \
             libexec/hpsqlite/hpsqlite-loaded.so
DATA      := lib/libsqlite3.a lib/pkgconfig/sqlite3.pc include/sqlite3.h include/sqlite3ext.h \
             include/hpsqlite.h

# The program $(1) of the crate $(2), with a word before the first build, which takes a while. What
# $(3) names runs cargo: nice, or nothing.
define cargo_build
@test -x $(TARGET)/release/$(1) || echo "building the program $(1)"
@$(3) cargo build --quiet --release -p $(2) || { \
  echo "error: cargo could not build $(1); if it could not download a crate," \
       "check the network and cargo's registry settings and run make again" >&2; exit 1; }
endef

# A program as dist/bin has it, if it has changed; $(2) is a folder of its own in cargo's, or nothing.
define to_dist
@mkdir -p dist/bin
@cmp -s $(TARGET)/$(2)release/$(1) dist/bin/$(1) || { \
  cp $(TARGET)/$(2)release/$(1) dist/bin/$(1).tmp && mv dist/bin/$(1).tmp dist/bin/$(1); }
endef

## all: build everything into dist/ (the default)
all: engine tool

## engine: only the C side: libraries, headers, amalgamation, shell
engine: builder
	@$(ENGINE) build

builder: toolcheck
	$(call cargo_build,hpsqlite-engine,hpsqlite-engine)

tool: toolcheck
	$(call cargo_build,hpsqlite,hpsqlite)
	$(call to_dist,hpsqlite)

toolcheck:
	@command -v cargo >/dev/null || { \
	  echo "error: cargo is not to be found: install Rust (rustup), then run make again" >&2; exit 1; }
	@have=$$(cargo --version | cut -d' ' -f2); printf '%s\n' $(RUST) "$$have" | sort -CV || { \
	  echo "error: Rust $(RUST) or later is needed, and this is $$have: install it with rustup," \
	       "then run make again" >&2; exit 1; }

## demo: run analytic queries on stock SQLite and on ours, and show the times
demo:
	@$(MAKE) --no-print-directory -j2 engine quick
	@dist/bin/hpsqlite-demo

# The demo in a program of its own, which is built beside the libraries and in a third of the time
# that the whole tool takes. It is nice to them: our library is the longest job of all.
quick: builder
	$(call cargo_build,hpsqlite-demo,hpsqlite-compare,nice)
	$(call to_dist,hpsqlite-demo)

## test: every suite, with a summary line each
test: all
	@tests/run-suites $(SUITES)

## test-SUITE: one suite of cargo, symbols, compilers, differential, engine, crash, dropin, python, debian, bundle, rust, node, pages, upstream, browser, go, replication
$(SUITES:%=test-%): test-%: all
	@tests/run-suites $*

## nightly: every suite at full length, and those that `make test` has not, for hours
nightly: all release wheel cluster
	@FULL=1 SUITE_SECONDS=14400 tests/run-suites $(SUITES) $(NIGHTLY)

## fuzz: random queries on both libraries until stopped
fuzz: all
	@tests/differential/run fuzz

## bench: every suite of the benchmark lab, and docs/benchmarks.md written from the results
bench: all
	@tests/bench/lab

## floors: what the figures rest on: floors, stages, what must not get slower
floors: all
	@tests/bench/run

## lab-check: the benchmark lab in real time, on a library that is a tenth slower
lab-check: all
	@cargo test --quiet --release -p hpsqlite --test lab -- --ignored --nocapture

## install: copy dist/ to PREFIX (default /usr/local), below DESTDIR if given
install:
	@for file in $(PROGRAMS) $(LIBRARIES) $(DATA); do \
	  test -e $(DIST)/$$file || { echo "error: $(DIST)/$$file is missing: run make first" >&2; exit 1; }; \
	done
	@set -e; for file in $(PROGRAMS); do \
	  install -D $(STRIP) -m 755 $(DIST)/$$file "$(DESTDIR)$(PREFIX)/$$file"; \
	done; for file in $(LIBRARIES); do \
	  install -D -m 755 $(DIST)/$$file "$(DESTDIR)$(PREFIX)/$$file"; \
	done; for file in $(DATA); do \
	  install -D -m 644 $(DIST)/$$file "$(DESTDIR)$(PREFIX)/$$file"; \
	done; for link in libsqlite3.so libsqlite3.so.0.8.6; do \
	  ln -sf libsqlite3.so.0 "$(DESTDIR)$(PREFIX)/lib/$$link"; \
	done
	@echo "installed in $(DESTDIR)$(PREFIX); if programs do not find the library there, run ldconfig"

## release: release/hpsqlite-VERSION-TARGET.tar.gz for each of TARGETS (default: x86-64 and aarch64, glibc and musl)
release: engine
	@set -e; for target in $(TARGETS); do \
	  ENGINE="$(ENGINE)" TARGET="$(TARGET)" packaging/bundle/build "$$target"; \
	done

## wheel: a wheel for pip for each of TARGETS
wheel: builder
	@ENGINE="$(ENGINE)" TARGET="$(TARGET)" packaging/python/build $(TARGETS)

## wheel-native: a wheel of dist/ as it is, for this machine alone, in seconds
wheel-native: all
	@TARGET="$(TARGET)" packaging/python/build --native

## deb: release/hpsqlite_VERSION_ARCHITECTURE.deb, which lies beside Debian's SQLite
deb: all
	@packaging/debian/build

## bundle: release/hpsqlite-VERSION-ARCHITECTURE-native.tar.gz: the same for this machine alone, in seconds
bundle: all
	@packaging/bundle/build

## rust: release/rust, libsqlite3-sys with our SQLite, for rusqlite, sqlx and diesel
rust: engine
	@packaging/rust/build

## npm: release/hpsqlite-VERSION.tgz, which builds better-sqlite3 and sqlite3 on our SQLite
npm: engine
	@packaging/node/build

## container: the image hpsqlite:VERSION, whose shell, Python and Node are on our SQLite
container: deb npm
	@packaging/container/build

## java: release/java, the native library of sqlite-jdbc with our SQLite
java: engine
	@packaging/java/build

## cluster: dist/bin/hpsqlite-cluster, for `hpsqlite cluster`: a replicated cluster, in four minutes
cluster: engine
	@test -x $(TARGET)/cluster/release/hpsqlite-cluster || echo "building the program hpsqlite-cluster"
	@cluster/build || { \
	  echo "error: cargo could not build hpsqlite-cluster; if it could not download a crate," \
	       "check the network and cargo's registry settings and run make again" >&2; exit 1; }
	$(call to_dist,hpsqlite-cluster,cluster/)

## lint: formatting and lints, as CI wants them
lint: toolcheck
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	tests/go/run --no-install format $(if $(wildcard dist/src/sqlite3.c),vet)
	tests/browser/format --no-install

## clean: remove everything that make made
clean:
	rm -rf dist release
	cargo clean --quiet

## help: list the targets
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

.PHONY: all engine builder tool quick toolcheck demo test nightly fuzz bench floors lab-check install release wheel wheel-native deb bundle rust npm container java cluster lint clean help $(SUITES:%=test-%)
