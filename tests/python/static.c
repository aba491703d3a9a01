/* A Python with the module _sqlite3 and a SQLite inside, whose symbols it exports, as some builds are. */
#include <Python.h>
PyMODINIT_FUNC PyInit__sqlite3(void);
int main(int argc, char **argv) {
  PyImport_AppendInittab("_sqlite3", PyInit__sqlite3);
  return Py_BytesMain(argc, argv);
}
