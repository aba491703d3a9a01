# SQLAlchemy: the tests of its SQLite dialect and the suite that every dialect must pass, and of
# engine, sql and orm those that ask a database (--backend-only). The source distribution has them.
version=2.0.58

prepare() {
  want_python && python_client "sqlalchemy-$version" sqlalchemy "$version" \
    2acdcec9836b7c1514a9ad426e7731669a1186d96481a2e82c50bf2aebb49061 \
    pytest==8.4.2 pluggy==1.6.0 iniconfig==2.1.0 packaging==25.0 pygments==2.19.2 typing_extensions==4.15.0 greenlet==3.2.4
}

tests() {
  # Its conftest.py takes SQLAlchemy from lib/ beside it, and setup.cfg names databases.
  cp -r "$cache/sqlalchemy-$version/source/." .
  RESULTS=$results PYTHONPATH=$here "$cache/sqlalchemy-$version/venv/bin/python" -B -m pytest -p results_pytest -p no:cacheprovider \
    -q --no-header --maxfail=0 --db sqlite --backend-only test/dialect/sqlite test/dialect/test_suite.py test/dialect/test_all.py \
    test/engine test/sql test/orm
}
