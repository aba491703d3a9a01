"""DuckDB for the benchmark lab: a request on each line of standard input, an answer on each of standard output.

Statements go through DuckDB's C API, which its Python package exports, and the clock stops at
the last chunk of rows: no time goes into making Python objects. Requests and answers are JSON;
an answer with "failed" tells why, one with "late" that the limit was over.
"""

import ctypes
import glob
import json
import os
import resource
import sys
import threading
import time

OLD = "DuckDB's Python module has no C API here, which version 2 has: python3 -m pip install --upgrade duckdb"


class Result(ctypes.Structure):
    """duckdb_result of duckdb.h; only its size matters here."""

    _fields_ = [("counts", ctypes.c_uint64 * 3), ("pointers", ctypes.c_void_p * 3)]


class Missing(Exception):
    pass


class DuckDB:
    def __init__(self):
        try:
            import duckdb
        except ImportError:
            raise Missing("DuckDB is not installed for this Python: python3 -m pip install duckdb")
        self.version = duckdb.__version__
        folder = os.path.dirname(os.path.abspath(duckdb.__file__))
        files = glob.glob(os.path.join(os.path.dirname(folder), "_duckdb*.so")) + glob.glob(os.path.join(folder, "*.so"))
        if not files:
            raise Missing(OLD)
        lib = self.lib = ctypes.CDLL(files[0])
        try:
            lib.duckdb_fetch_chunk.argtypes = [Result]
            lib.duckdb_fetch_chunk.restype = ctypes.c_void_p
            lib.duckdb_data_chunk_get_size.argtypes = [ctypes.c_void_p]
            lib.duckdb_data_chunk_get_size.restype = ctypes.c_uint64
            lib.duckdb_result_error.restype = ctypes.c_char_p
        except AttributeError:
            raise Missing(OLD)
        self.module = duckdb
        self.db = self.connection = self.own = None

    def prepare(self, path, read_only):
        """Opens a database for `rows`, through Python's interface."""
        try:
            self.own = self.module.connect(path, read_only=read_only)
            self.own.execute("SET enable_progress_bar=false")
        except self.module.Error as e:
            raise RuntimeError(str(e))
        return {}

    def rows(self, sql):
        """All rows, as text."""
        try:
            rows = self.own.execute(sql).fetchall()
        except self.module.Error as e:
            raise RuntimeError(str(e))
        return {"rows": [[None if v is None else str(v) for v in row] for row in rows]}

    def open(self, path, threads):
        """Opens a database for `run`, for reading."""
        self.close()
        config, error = ctypes.c_void_p(), ctypes.c_char_p()
        self.lib.duckdb_create_config(ctypes.byref(config))
        self.lib.duckdb_set_config(config, b"access_mode", b"READ_ONLY")
        if threads and self.lib.duckdb_set_config(config, b"threads", threads.encode()):
            raise RuntimeError(f"threads={threads}: DuckDB refuses that")
        db = ctypes.c_void_p()
        state = self.lib.duckdb_open_ext(path.encode(), ctypes.byref(db), config, ctypes.byref(error))
        self.lib.duckdb_destroy_config(ctypes.byref(config))
        if state:
            raise RuntimeError(f"cannot open {path}: {(error.value or b'').decode()}")
        self.db, self.connection = db, ctypes.c_void_p()
        if self.lib.duckdb_connect(self.db, ctypes.byref(self.connection)):
            raise RuntimeError(f"cannot connect to {path}")
        return {}

    def close(self):
        if self.db is not None:
            self.lib.duckdb_disconnect(ctypes.byref(self.connection))
            self.lib.duckdb_close(ctypes.byref(self.db))
        self.db = None
        return {}

    def query(self, sql):
        """The result; it has to be destroyed."""
        result = Result()
        if self.lib.duckdb_query(self.connection, sql.encode(), ctypes.byref(result)):
            error = (self.lib.duckdb_result_error(ctypes.byref(result)) or b"").decode()
            self.lib.duckdb_destroy_result(ctypes.byref(result))
            raise RuntimeError(error)
        return result

    def timed(self, sql):
        """Seconds to the last chunk, and the number of rows."""
        rows = 0
        start = time.perf_counter()
        result = self.query(sql)
        while chunk := self.lib.duckdb_fetch_chunk(result):
            chunk = ctypes.c_void_p(chunk)
            rows += self.lib.duckdb_data_chunk_get_size(chunk)
            self.lib.duckdb_destroy_data_chunk(ctypes.byref(chunk))
        seconds = time.perf_counter() - start
        self.lib.duckdb_destroy_result(ctypes.byref(result))
        return seconds, rows

    def run(self, sql, repeat):
        total = 0.0
        before = resource.getrusage(resource.RUSAGE_SELF)
        for _ in range(repeat):
            seconds, rows = self.timed(sql)
            total += seconds
        after = resource.getrusage(resource.RUSAGE_SELF)
        user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
        return {"seconds": total, "user": user, "system": system, "count": rows}


def answer(duck, request):
    do, limit = request.pop("do"), request.pop("limit", None)
    late = threading.Event()

    def interrupt():
        late.set()
        duck.own.interrupt() if duck.own else duck.lib.duckdb_interrupt(duck.connection)

    timer = threading.Timer(limit, interrupt) if limit else None
    if timer:
        timer.start()
    try:
        return getattr(duck, do)(**request)
    except RuntimeError as e:
        return {"late": True} if late.is_set() else {"failed": str(e)}
    finally:
        if timer:
            timer.cancel()


def main():
    # DuckDB prints what it likes, such as a progress bar, where answers are expected.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(value):
        print(json.dumps(value), file=answers, flush=True)

    try:
        duck = DuckDB()
    except Missing as e:
        return say({"missing": str(e)})
    say({"version": duck.version})
    for line in sys.stdin:
        say(answer(duck, json.loads(line)))
    duck.close()


main()
