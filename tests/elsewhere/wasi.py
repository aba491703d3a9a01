"""Runs a program for WASI: wasi.py MODULE FOLDER ARGUMENT..., with FOLDER as its current folder."""

import sys

from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig

module, folder, *arguments = sys.argv[1:]
engine = Engine()
linker = Linker(engine)
linker.define_wasi()
config = WasiConfig()
config.argv = ["smoke", *arguments]
config.inherit_stdout()
config.inherit_stderr()
config.preopen_dir(folder, ".")
store = Store(engine)
store.set_wasi(config)
start = linker.instantiate(store, Module.from_file(engine, module)).exports(store)["_start"]
try:
    start(store)
except ExitTrap as trap:
    sys.exit(trap.code)
