/* A module _sqlite3 with another SQLite inside: pysqlite3's, under the name that CPython's has. With
   STATIC it is a Python that has the module inside and exports SQLite's symbols, as some builds are. */
#include <Python.h>
PyObject *stand_in(void);  /* pysqlite3's PyInit__sqlite3, renamed by the compiler's options */
PyMODINIT_FUNC PyInit__sqlite3(void) {
  PyObject *module = stand_in();
  /* Python 3.12 and later want it. */
  if (module) PyModule_AddStringConstant(module, "_deprecated_version", "2.6.0");
  return module;
}
#ifdef STATIC
int main(int argc, char **argv) {
  PyImport_AppendInittab("_sqlite3", PyInit__sqlite3);
  return Py_BytesMain(argc, argv);
}
#endif
