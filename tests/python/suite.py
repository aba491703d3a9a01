"""What the wheel promises, one function each; `run` calls it."""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = (ROOT / os.environ.get("TARGET", "target")).resolve()
VERSION = subprocess.run([ROOT / "packaging/version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()

# What a program sees of the library that its sqlite3 uses, as JSON.
LOOK = """
import sqlite3, json
c = sqlite3.connect(":memory:")
try: hp = c.execute("SELECT hp_version()").fetchone()[0]
except sqlite3.OperationalError: hp = None
maps = sorted({l.split()[-1] for l in open("/proc/self/maps") if "libsqlite3" in l})
print(json.dumps([hp, maps]))
"""


class Skip(Exception):
    pass


class Done:
    """What a process said."""

    def __init__(self, command: list[object], **options: object) -> None:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment.update(options.pop("env", {}))
        options.setdefault("cwd", WORK)
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment,
                              stdin=subprocess.DEVNULL, timeout=100, **options)
        self.status, self.out, self.err = done.returncode, done.stdout.strip(), done.stderr.strip()

    def good(self) -> "Done":
        assert self.status == 0, f"status {self.status}: {self.err or self.out}"
        return self

    def silent(self) -> "Done":
        self.good()
        assert self.err == "", f"said {self.err}"
        return self


class Venv:
    """A fresh environment of the Python that runs this."""

    def __init__(self, name: str, *install: object) -> None:
        self.folder = WORK / name
        if not self.folder.exists():
            Done([sys.executable, "-m", "venv", self.folder]).good()
            if install:
                self.pip("install", *install).good()
        self.python = self.folder / "bin/python"
        self.site = Path(sysconfig.get_path("purelib", "posix_prefix", vars={"base": str(self.folder)}))

    def pip(self, *arguments: object) -> Done:
        return Done([self.folder / "bin/python", "-m", "pip", "--disable-pip-version-check", *arguments])

    def run(self, *arguments: object, **options: object) -> Done:
        return Done([self.python, *arguments], **options)

    def code(self, text: str, **options: object) -> Done:
        return self.run("-c", text, **options)

    def files(self) -> set[str]:
        return {str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if "__pycache__" not in p.parts}


def looked(done: Done) -> tuple[str | None, list[str]]:
    hp, maps = json.loads(done.good().out.splitlines()[-1])
    return hp, maps


def on_ours(done: Done) -> None:
    hp, maps = looked(done)
    assert hp == VERSION and len(maps) == 1, f"hp_version {hp}, loaded {maps}"


def on_stock(done: Done) -> None:
    hp, maps = looked(done)
    assert hp is None, f"hp_version {hp}, loaded {maps}"


def has(text: str, *parts: str) -> None:
    for part in parts:
        assert part in text, f"no {part!r} in: {text}"


def shared() -> Venv:
    """The environment of tests that change nothing in it."""
    return Venv("shared", WHEEL)


# ---- the wheel

def the_wheel_is_whole_and_pip_content() -> None:
    for tool in list(TARGET.glob("wheel/*venv/bin/wheel"))[:1]:
        # Compares every file with RECORD.
        Done([tool, "unpack", "--dest", WORK / "unpacked", WHEEL]).good()
    has(shared().pip("check").good().out, "No broken requirements")
    with zipfile.ZipFile(WHEEL) as file:
        names = file.namelist()
    assert len(names) == len(set(names)), "a name is twice in the wheel"
    for licence in ("pysqlite3/LICENSE", "THIRD-PARTY-LICENCES"):
        assert any(name.endswith(f"licenses/{licence}") for name in names), names


def pip_refuses_the_wheel_on_musl_and_on_another_processor() -> None:
    for platform in ("musllinux_1_2_x86_64", "manylinux_2_28_aarch64"):
        done = shared().pip("install", "--platform", platform, "--only-binary=:all:", "--target", WORK / "no", WHEEL)
        assert done.status != 0, f"installed for {platform}"
        has(done.err, "not a supported wheel")
        assert not (WORK / "no").exists() or not any((WORK / "no").iterdir())


# ---- import

def imported_first_sqlite3_runs_on_ours() -> None:
    on_ours(shared().code("import hpsqlite" + LOOK).silent())
    on_stock(shared().code(LOOK))


def status_tells_file_version_and_reason() -> None:
    code = "import hpsqlite, sqlite3; s = hpsqlite.status(); print(s.file, s.version == sqlite3.sqlite_version, s.hp_version, s.reason, sep='|')"
    file, version, hp, reason = shared().code(code).silent().out.split("|")
    assert file == str((shared().site / "hpsqlite/libsqlite3.so.0").resolve()), file
    assert (version, hp) == ("True", VERSION)
    has(reason, "before sqlite3 was imported")
    lines = shared().run("-m", "hpsqlite", "status").silent().out.splitlines()
    has(lines[0], f"not enabled: programs of {shared().folder} ")
    has(lines[1], "this process: SQLite 3.", f"hpsqlite {VERSION}")
    assert lines[2] == f"file: {file}" and lines[3].startswith("why: ") and len(lines) == 4, lines


def status_tells_that_queries_are_left_to_sqlite() -> None:
    for word in ("off", "0", "no", "FALSE"):
        status = shared().run("-m", "hpsqlite", "status", env={"HPSQLITE": word}).silent().out
        has(status.splitlines()[1], f"hpsqlite {VERSION}, off by HPSQLITE={word}")
    for word in ("on", "1", ""):
        assert "off by" not in shared().run("-m", "hpsqlite", "status", env={"HPSQLITE": word}).silent().out, word


def imported_too_late_it_warns_and_changes_nothing() -> None:
    done = shared().code("import sqlite3, hpsqlite" + LOOK)
    on_stock(done)
    has(done.err, "RuntimeWarning", "sqlite3 was imported before hpsqlite")
    assert len(done.err.splitlines()) <= 2, done.err
    status = shared().code("import sqlite3, hpsqlite; print(hpsqlite.status())").good().out
    has(status, "not hpsqlite", "sqlite3 was imported before hpsqlite")
    _, maps = looked(shared().code(LOOK))
    has(status, f"file: {maps[0]}")


def another_sqlite_in_the_process_is_left_alone_with_a_warning() -> None:
    stock = DIST / "libexec/hpsqlite/libsqlite3-stock.so"
    done = shared().code(f"import ctypes; ctypes.CDLL({str(stock)!r}); import hpsqlite" + LOOK)
    assert looked(done) == (None, [str(stock)]), done.out
    has(done.err, "already loaded another SQLite", str(stock))


def a_copy_of_the_same_version_is_as_good() -> None:
    ours = DIST / "lib/libsqlite3.so.0"
    done = shared().code(f"import ctypes; ctypes.CDLL({str(ours)!r}); import hpsqlite" + LOOK).silent()
    assert looked(done) == (VERSION, [str(ours)]), done.out


def of_two_versions_of_ours_the_first_stays_with_a_warning() -> None:
    site = copied("newer")
    preload = site / "_hpsqlite_preload.py"
    preload.write_text(preload.read_text().replace(f'VERSION = "{VERSION}"', 'VERSION = "9.9.9"'))
    ours = DIST / "lib/libsqlite3.so.0"
    done = shared().code(f"import ctypes; ctypes.CDLL({str(ours)!r}); import hpsqlite" + LOOK, env={"PYTHONPATH": str(site)})
    assert looked(done) == (VERSION, [str(ours)]), done.out
    has(done.err, f"already runs hpsqlite {VERSION} from {ours}", "this wheel is 9.9.9")


def copied(name: str) -> Path:
    """The package in a folder of its own, to break it."""
    site = WORK / name
    shutil.copytree(shared().site / "hpsqlite", site / "hpsqlite")
    shutil.copy(shared().site / "_hpsqlite_preload.py", site)
    return site


def a_library_of_another_processor_gives_one_sentence_and_sqlite3_as_it_was() -> None:
    site = copied("foreign")
    library = site / "hpsqlite/libsqlite3.so.0"
    content = bytearray(library.read_bytes())
    content[18] = 183  # e_machine: aarch64
    library.write_bytes(content)
    done = shared().code("import hpsqlite" + LOOK, env={"PYTHONPATH": str(site)})
    on_stock(done)
    has(done.err, "sqlite3 stays as it was: the wheel's library cannot be loaded")
    # As os.confstr is on musl.
    musl = "import os\ndef confstr(name): raise ValueError\nos.confstr = confstr\n"
    done = shared().code(musl + "import hpsqlite" + LOOK, env={"PYTHONPATH": str(site)})
    on_stock(done)
    has(done.err, "this wheel is for Linux on x86-64 with glibc", "musl")
    has(shared().code("import hpsqlite.dbapi2", env={"PYTHONPATH": str(site)}).err, "ImportError: hpsqlite.dbapi2: the wheel's library")


def a_module_with_another_sqlite_inside_keeps_it() -> None:
    site = WORK / "other"
    build_extension(site / "other")
    code = (
        "import hpsqlite, sqlite3, other._sqlite3 as other\n"
        "c = other.connect(':memory:'); print(c.execute('SELECT count(*) FROM (SELECT 1 UNION SELECT 2)').fetchone())\n"
        "try: c.execute('SELECT hp_version()'); print('ours inside')\n"
        "except other.OperationalError: print('its own')" + LOOK
    )
    done = shared().code(code, env={"PYTHONPATH": str(site)}).silent()
    has(done.out, "(2,)", "its own")
    on_ours(done)


def a_python_whose_module_has_a_sqlite_inside_keeps_it() -> None:
    site = WORK / "own"
    build_extension(site)
    done = shared().code("import hpsqlite" + LOOK, env={"PYTHONPATH": str(site)})
    assert looked(done) == (None, []), done.out
    has(done.err, "RuntimeWarning", "has a SQLite of its own inside", "use hpsqlite.dbapi2")


# ---- run

PROGRAM = """
import os, sys
import __main__
print(sys.argv, __name__, __file__, __spec__ and __spec__.name, __package__, sys.path[0], __main__.HERE_I_AM if "HERE_I_AM" in globals() else "")
HERE_I_AM = 1
print(__main__.HERE_I_AM, sorted(k for k in globals()), sorted(k for k in os.environ))
import pickle
class Thing: pass
pickle.dumps(Thing())
"""


def run_runs_a_program_as_python_would() -> None:
    folder = WORK / "programs"
    (folder / "tool").mkdir(parents=True)
    (folder / "app.py").write_text(PROGRAM + LOOK + "sys.exit(7)")
    (folder / "beside.py").write_text("")
    (folder / "tool/__init__.py").write_text("")
    (folder / "tool/__main__.py").write_text(PROGRAM + LOOK + "sys.exit(7)")
    for command in (["app.py", "-x", "two words"], [str(folder / "app.py")], ["-m", "tool", "--help"], ["tool"]):
        plain = shared().run(*command, cwd=folder)
        done = shared().run("-m", "hpsqlite", "run", *command, cwd=folder)
        assert plain.status == done.status == 7, f"{command}: {plain.status} and {done.status}: {done.err}"
        assert plain.out.splitlines()[:-1] == done.out.splitlines()[:-1], f"{command}:\n{plain.out}\n{done.out}"
        assert json.loads(done.out.splitlines()[-1])[0] == VERSION, done.out
        assert json.loads(plain.out.splitlines()[-1])[0] is None, plain.out


def run_refuses_what_is_not_there() -> None:
    for command, part in ((["nothing.py"], "cannot open 'nothing.py'"), ([], "run needs a file"), (["-m"], "run needs a file")):
        done = shared().run("-m", "hpsqlite", "run", *command)
        assert done.status != 0 and len(done.err.splitlines()) == 1, done.err
        has(done.err, part)
    for command in (["unknown"], [], ["status", "more"]):
        done = shared().run("-m", "hpsqlite", *command)
        assert done.status == 2 and len(done.err.splitlines()) == 1, done.err


# ---- enable and disable

def enable_reaches_new_processes_until_disable() -> None:
    venv = Venv("enabled", WHEEL)
    before = venv.files()
    on_stock(venv.code(LOOK))
    has(venv.run("-m", "hpsqlite", "enable").silent().out, "enabled")
    on_ours(venv.code(LOOK).silent())
    has(venv.run("-m", "hpsqlite", "enable").silent().out, "was enabled before")
    assert venv.run("-m", "hpsqlite", "status").silent().out.startswith(f"enabled: every Python program of {venv.folder} ")
    assert {f for f in venv.files() - before} == {str((venv.site / "hpsqlite-enabled.pth").relative_to(venv.folder))}
    on_stock(shared().code(LOOK))
    has(venv.run("-m", "hpsqlite", "disable").silent().out, "disabled")
    on_stock(venv.code(LOOK).silent())
    assert venv.files() == before
    has(venv.run("-m", "hpsqlite", "disable").silent().out, "was not enabled")
    assert venv.run("-m", "hpsqlite", "status").silent().out.startswith("not enabled: ")


def enable_and_disable_leave_a_file_of_others_alone() -> None:
    venv = Venv("enabled", WHEEL)
    path = venv.site / "hpsqlite-enabled.pth"
    path.write_text("# mine\n")
    for command in ("enable", "disable"):
        done = venv.run("-m", "hpsqlite", command)
        assert done.status == 1 and path.read_text() == "# mine\n", done.out
        has(done.err, "nothing was changed", "other contents")
    path.unlink()


def a_read_only_site_packages_is_a_clear_error() -> None:
    venv = Venv("enabled", WHEEL)
    command: list[object] = [venv.python, "-m", "hpsqlite", "enable"]
    if os.getuid() == 0:
        script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 99; shift; exec "$@"'
        command = ["unshare", "-m", "sh", "-c", script, "sh", venv.site, *command]
    else:
        venv.site.chmod(0o555)
    try:
        done = Done(command)
    except OSError as error:
        raise Skip(f"cannot make a folder read-only: {error}")
    finally:
        venv.site.chmod(0o755)
    if done.status == 99 or "unshare" in done.err:
        raise Skip(f"cannot make a folder read-only: {done.err}")
    assert done.status == 1 and len(done.err.splitlines()) == 1, done.err
    has(done.err, "nothing was changed", "cannot be written")
    on_stock(venv.code(LOOK))


def status_of_a_python_without_sqlite3_is_one_sentence() -> None:
    hidden = "import sys; sys.modules['_sqlite3'] = None\nimport hpsqlite; print(hpsqlite.status())"
    has(shared().code(hidden).silent().out, "this process: no SQLite\n", "why: ", "_sqlite3")


def enable_refuses_a_package_that_is_not_in_site_packages() -> None:
    done = shared().run("-m", "hpsqlite", "enable", env={"PYTHONPATH": str(copied("path"))})
    assert done.status == 1, done.out
    has(done.err, "no site-packages folder", "install it there with pip")


def uninstalling_leaves_nothing_even_if_enabled() -> None:
    venv = Venv("leaving")
    before = venv.files()
    venv.pip("install", WHEEL).good()
    venv.run("-m", "hpsqlite", "enable").silent()
    venv.pip("uninstall", "-y", "hpsqlite").good()
    assert venv.files() == before, venv.files() ^ before
    on_stock(venv.code(LOOK).silent())


def a_pth_that_outlives_the_package_says_nothing() -> None:
    venv = Venv("outlived", WHEEL)
    venv.run("-m", "hpsqlite", "enable").silent()
    shutil.rmtree(venv.site / "hpsqlite")
    on_stock(venv.code(LOOK).silent())
    (venv.site / "_hpsqlite_preload.py").unlink()
    on_stock(venv.code(LOOK).silent())
    assert (venv.site / "hpsqlite-enabled.pth").exists()


# ---- dbapi2

def dbapi2_has_the_names_of_sqlite3() -> None:
    code = """
import hpsqlite.dbapi2 as ours, sqlite3
for module, other in ((sqlite3, ours), (sqlite3.Connection, ours.Connection), (sqlite3.Cursor, ours.Cursor), (sqlite3.Row, ours.Row)):
    print(*sorted(n for n in set(dir(module)) - set(dir(other)) if not n.startswith("_")))
print(*(n for n in dir(sqlite3) if n.startswith("SQLITE_") and getattr(sqlite3, n) != getattr(ours, n)))
"""
    lines = shared().code(code).good().out.split("\n")
    documented = set(re.findall(r"`(\w+)`", section("Names that `hpsqlite.dbapi2` lacks")))
    lacking = {name for line in lines[:4] for name in line.split()}
    assert lacking <= documented, f"lacks {sorted(lacking - documented)}, which docs/python.md does not say"
    assert "".join(lines[4:]).strip() == "", f"other values: {lines[4:]}"


def dbapi2_works_with_one_sqlite_in_the_process() -> None:
    code = """
import hpsqlite.dbapi2 as sqlite3, sys
c = sqlite3.connect(":memory:", detect_types=sqlite3.PARSE_DECLTYPES)
c.execute("CREATE TABLE t(a INTEGER, d date, b BLOB)")
import datetime
c.execute("INSERT INTO t VALUES(1, ?, zeroblob(3))", (datetime.date(2024, 2, 29),))
assert c.execute("SELECT d FROM t").fetchone()[0] == datetime.date(2024, 2, 29)
with c.blobopen("t", "b", 1) as blob: assert blob.read() == bytes(3) and isinstance(blob, sqlite3.Blob)
assert any("INSERT INTO" in line for line in c.iterdump())
try: c.execute("SELEC")
except sqlite3.OperationalError as e: assert isinstance(e, sqlite3.Error)
sys.modules["sqlite3"] = sys.modules["sqlite3.dbapi2"] = sqlite3
from sqlite3 import dbapi2
assert dbapi2 is sqlite3 and "_sqlite3" not in sys.modules
""" + LOOK
    on_ours(shared().code(code).silent())


def dbapi2_says_for_which_python_it_was_not_built() -> None:
    site = copied("bare")
    for file in (site / "hpsqlite").glob("_sqlite3*"):
        file.unlink()
    done = shared().code("import hpsqlite.dbapi2", env={"PYTHONPATH": str(site)})
    assert done.status == 1
    has(done.err.splitlines()[-1], "ImportError: hpsqlite.dbapi2: this wheel has no extension for cpython", "%d.%d" % sys.version_info[:2])


def dbapi2_refuses_where_another_library_has_the_name() -> None:
    done = shared().code("import sqlite3, hpsqlite.dbapi2")
    assert done.status == 1
    has(done.err.splitlines()[-1], "ImportError: hpsqlite.dbapi2: the process has already loaded another SQLite")


# ---- a Python that has a SQLite inside

def static_python() -> Path:
    """In an environment of its own; Python finds that beside the program."""
    venv = Venv("static", WHEEL)
    program = venv.folder / "bin/static-python"
    if not program.exists():
        library = sysconfig.get_config_var("LIBDIR")
        name = "python" + sysconfig.get_config_var("LDVERSION")
        done = Done(["cc", "-w", "-O1", *module_flags("sqlite3"), "-DSTATIC", *module_sources(), stock_object(), "-rdynamic",
                     f"-L{library}", f"-L{sysconfig.get_config_var('LIBPL')}", f"-Wl,-rpath,{library}", f"-l{name}", "-lm", "-ldl", "-o", program])
        if done.status != 0:
            raise Skip(f"this Python cannot be embedded: {done.err[-300:]}")
    return program


def static(code: str) -> Done:
    return Done([static_python(), "-c", code])


def module_flags(name: str) -> list[str]:
    return [f'-DMODULE_NAME="{name}"', "-I" + sysconfig.get_path("include"), f"-I{DIST}/include"]


def module_sources() -> list[Path]:
    """Objects of pysqlite3, and what makes a standard module of them."""
    source = next((TARGET / "wheel").glob("pysqlite3-*/src"), None)
    if source is None:
        raise Skip("needs the source of pysqlite3, which packaging/python/build fetches")
    folder = WORK / "stand-in"
    if not folder.exists():
        folder.mkdir()
        Done(["cc", "-w", "-fPIC", "-O0", *module_flags("sqlite3"), "-DPyInit__sqlite3=stand_in", "-c", *sorted(source.glob("*.c"))],
             cwd=folder).good()
    return [HERE / "stand_in.c", *folder.glob("*.o")]


def stock_object() -> Path:
    """SQLite without our modules."""
    target = WORK / "stock.o"
    if not target.exists():
        Done(["cc", "-w", "-O0", "-fPIC", "-DSQLITE_OMIT_HP", "-c", DIST / "src/sqlite3.c", "-o", target]).good()
    return target


def build_extension(folder: Path) -> None:
    """A module _sqlite3 with a SQLite inside that exports its symbols."""
    folder.mkdir(parents=True)
    Done(["cc", "-w", "-shared", "-fPIC", *module_flags("sqlite3"), *module_sources(), stock_object(), "-lm",
          "-o", folder / ("_sqlite3" + sysconfig.get_config_var("EXT_SUFFIX"))]).good()


def a_static_python_keeps_its_sqlite_and_warns_when_it_is_used() -> None:
    on_stock(static(LOOK).silent())
    static("import hpsqlite").silent()
    done = static("import hpsqlite" + LOOK)
    assert looked(done) == (None, []), done.out
    has(done.err, "RuntimeWarning: sqlite3 stays as it was", "has a SQLite of its own inside", "use hpsqlite.dbapi2")
    status = Done([static_python(), "-m", "hpsqlite", "status"]).silent().out
    has(status, "not hpsqlite", f"file: {static_python()}", "has a SQLite of its own inside")


def a_static_python_cannot_be_enabled() -> None:
    done = Done([static_python(), "-m", "hpsqlite", "enable"])
    assert done.status == 1 and len(done.err.splitlines()) == 1, done.err
    has(done.err, "nothing was changed", "hpsqlite.dbapi2")


def dbapi2_runs_on_ours_in_a_static_python() -> None:
    code = """
import sys, hpsqlite.dbapi2
sys.modules["sqlite3"] = sys.modules["sqlite3.dbapi2"] = hpsqlite.dbapi2
""" + LOOK + """
c.executescript("CREATE TABLE t(a); WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT i FROM n")
assert c.execute("SELECT count(*), sum(a) FROM t").fetchone() == (5000, 12502500)
import hpsqlite
s = hpsqlite.status()
assert s.hp_version and s.file == maps[0] and "hpsqlite.dbapi2" in s.reason, s
print(json.dumps([hp, maps]))
"""
    on_ours(static(code).silent())


def two_sqlites_in_one_process_are_never_silent() -> None:
    for code in ("import hpsqlite.dbapi2, sqlite3", "import sqlite3, hpsqlite.dbapi2"):
        done = static(code).good()
        has(done.err, "RuntimeWarning", "sqlite3 stays as it was", "hpsqlite.dbapi2")
        has(done.err, "can be damaged")


# ---- the program

def the_program_comes_along_and_finds_its_libraries() -> None:
    venv = shared()
    program = venv.folder / "bin/hpsqlite"
    has(Done([program, "--version"]).silent().out, VERSION)
    link = WORK / "link"
    link.symlink_to(program)
    on_ours(Done([link, "exec", "--", venv.python, "-c", LOOK]).silent())
    # Both ways at once are one library, and exec sees it as its own.
    on_ours(Done([program, "exec", "--", venv.python, "-c", "import hpsqlite" + LOOK]).silent())
    database = WORK / "a.db"
    venv.code(f"import sqlite3; c = sqlite3.connect({str(database)!r}); c.execute('CREATE TABLE t AS SELECT 1 a'); c.commit()").good()
    has(Done([program, "compare", database, "SELECT a, count(*) FROM t GROUP BY a"]).good().out, "same")


# ---- the libraries that people use

def libraries() -> Venv:
    if not INSTALL:
        raise Skip("the library comes from PyPI, and --no-install is given")
    return Venv("libraries", WHEEL, "--only-binary=:all:", "-r", HERE / "requirements.txt")


def same_on_ours(name: str) -> None:
    app = HERE / "apps" / f"{name}_app.py"
    venv = libraries()
    plain = venv.run("-B", app).good().out.splitlines()
    ours = venv.run("-B", "-m", "hpsqlite", "run", app).silent().out.splitlines()
    assert plain[-1] == "hp_version none" and ours[-1] == f"hp_version {VERSION}", (plain[-1], ours[-1])
    assert plain[:-1] == ours[:-1] and "n" in plain[0], (plain, ours)


def django_groups_on_ours() -> None:
    same_on_ours("django")


def sqlalchemy_groups_on_ours() -> None:
    same_on_ours("sqlalchemy")


def pandas_groups_on_ours() -> None:
    same_on_ours("pandas")


# ---- docs/python.md

def section(title: str) -> str:
    text = (ROOT / "docs/python.md").read_text()
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert found, f"docs/python.md has no section '{title}'"
    return found.group(1)


def the_page_for_python_users_is_true() -> None:
    venv = Venv("page", WHEEL)
    folder = WORK / "page-files"
    folder.mkdir()
    page = (ROOT / "docs/python.md").read_text()
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", page, re.M | re.S)
    assert sum(kind == "python" for kind, _ in blocks) >= 2 and sum(kind == "console" for kind, _ in blocks) >= 3
    environment = {"PATH": f"{venv.folder}/bin:{os.environ['PATH']}"}
    for kind, text in blocks:
        if kind == "python":
            (folder / "report.py").write_text(text)
            venv.run("report.py", cwd=folder).silent()
            continue
        for command, expected in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", text, re.M):
            if command.startswith("pip install"):
                continue
            done = Done(["sh", "-c", command], cwd=folder, env=environment).good()
            for line in expected.splitlines():
                pattern = line.replace("[", "[[]").replace("…", "*")
                assert any(fnmatch.fnmatchcase(got, pattern) for got in done.out.splitlines()), f"{command}: no {line!r} in:\n{done.out}"


TESTS: list[Callable[[], None]] = [
    value for name, value in list(globals().items())
    if callable(value) and getattr(value, "__annotations__", None) == {"return": "None"} and name != "main"
]


def main() -> None:
    passed = failed = skipped = 0
    for test in TESTS:
        name = test.__name__.replace("_", " ")
        if WORDS and not any(word in name for word in WORDS):
            continue
        try:
            test()
        except Skip as reason:
            print(f"python: skipped: {name}: {reason}", flush=True)
            skipped += 1
        except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired) as error:
            print(f"python: FAILED: {name}: {str(error)[:2000]}", flush=True)
            failed += 1
        else:
            print(f"python: ok: {name}", flush=True)
            passed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


parser = argparse.ArgumentParser()
parser.add_argument("--dist", type=Path, required=True)
parser.add_argument("--wheel", type=Path, required=True)
parser.add_argument("--work", type=Path, required=True)
parser.add_argument("--install", action="store_true")
parser.add_argument("words", nargs="*")
given = parser.parse_args()
DIST, WHEEL, WORK, INSTALL, WORDS = given.dist.resolve(), given.wheel, given.work.resolve(), given.install, given.words
main()
