# sqlite-jdbc: its JUnit tests, for Java. They cannot be had from an ordinary source, so the client is
# skipped. Where they are not:
#
#   Maven Central    has the classes and, as the classifier `sources`, src/main; the classifiers
#                    `tests` and `test-sources` do not exist
#   apt-get source   Debian lists the source package xerial-sqlite-jdbc in bookworm, trixie and sid,
#                    but not every mirror has its .orig.tar.xz
#   git              the repository is larger than 900 MB
#
# The driver finds a native library by org.sqlite.lib.path, so where the tests are to be had it can be
# compiled from NativeDB.c and linked with libsqlite3.so.0 as the other clients are.
version=none

prepare() {
  missing="its tests are in no Maven artifact, and Debian's mirror lacks the archive of xerial-sqlite-jdbc"
  return 1
}
