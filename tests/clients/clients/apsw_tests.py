"""APSW's own tests, with a line a test."""

import unittest

import apsw
import apsw.tests.__main__ as tests
from results_unittest import Result, facts

tests.setup()
suite = unittest.defaultTestLoader.loadTestsFromModule(tests)
result = unittest.TextTestRunner(resultclass=Result, verbosity=2).run(suite)
facts(result, apsw.sqlite3_sourceid())
