"""Stands in for setuptools while pip downloads a source distribution.

pip asks the build backend for the metadata of what it downloads. That needs the packages with which
the project is built, and runs its code: APSW's fetches SQLite from its home page. The answer is in
the archive already, in PKG-INFO; this backend gives that.
"""

import os
import shutil


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    with open("PKG-INFO", encoding="utf-8") as file:
        facts = dict(line.rstrip("\n").split(": ", 1) for line in file if line.startswith(("Name: ", "Version: ")))
    folder = f"{facts['Name'].replace('-', '_')}-{facts['Version']}.dist-info"
    os.mkdir(os.path.join(metadata_directory, folder))
    shutil.copy("PKG-INFO", os.path.join(metadata_directory, folder, "METADATA"))
    return folder


class __legacy__:
    get_requires_for_build_wheel = staticmethod(get_requires_for_build_wheel)
    prepare_metadata_for_build_wheel = staticmethod(prepare_metadata_for_build_wheel)
