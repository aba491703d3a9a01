# Django: the tests of its backends, and of what asks a database most: aggregation, annotations,
# queries, expressions, look-ups, functions. The source distribution has them.
version=5.2.19
labels=(backends aggregation aggregation_regress annotations queries expressions expressions_case
  expressions_window lookup ordering db_functions dates datetimes distinct_on_fields many_to_many
  null_queries or_lookups xor_lookups raw_query select_related filtered_relation update delete
  bulk_create introspection inspectdb schema indexes constraints transactions)

prepare() {
  want_python && python_client "django-$version" Django "$version" \
    ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1 asgiref==3.10.0 sqlparse==0.5.3
}

tests() {
  cp -r "$cache/django-$version/source/." .
  cp "$here/clients/django_settings.py" tests
  cd tests || return 1
  RESULTS=$results PYTHONPATH=$PWD/..:$here "$cache/django-$version/venv/bin/python" -B runtests.py \
    --settings=django_settings --parallel=1 --noinput --verbosity=1 "${labels[@]}"
}
