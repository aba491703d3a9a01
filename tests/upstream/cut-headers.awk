# Takes SQLite's internal headers out of an amalgamation, one file each, into
# the folder DIR (awk -v DIR=folder -f cut-headers.awk sqlite3.c).
#
# Upstream's test programs include them by name, but the amalgamation is all
# that we have. It marks where each header begins and ends, and comments out
# every #include of a header that it holds already.
#
#   nested header      replaced by an #include, so each text stands once
#   part of sqlite3.h  (session, rtree, fts5) just includes sqlite3.h, which
#                      is the file beside the amalgamation, not cut out here
#   SQLITE_PRIVATE x;  is a definition once SQLITE_PRIVATE is empty: extern

/^\/\*+ Begin file [^ ]+ \*+\/$/ {
  name = $0
  sub(/^\/\*+ Begin file /, "", name)
  sub(/ .*/, "", name)
  isHeader = name ~ /\.h$/
  public = depth && (open[depth] == "sqlite3.h" || inPublic[depth])
  if (isHeader && public) print "#include \"sqlite3.h\"" > (DIR "/" name)
  else if (isHeader && depth && cut[depth])
    print "#include \"" name "\"" > (DIR "/" open[depth])
  depth++
  open[depth] = name
  inPublic[depth] = public
  cut[depth] = isHeader && !public && name != "sqlite3.h"
  next
}
/^\/\*+ End of [^ ]+ \*+\/$/ {
  if (depth) depth-- # the last one ends the amalgamation itself
  next
}
depth && cut[depth] {
  line = $0
  if (line ~ /^\/\* #include "[A-Za-z0-9_]+\.h" \*\/$/) gsub(/^\/\* | \*\/$/, "", line)
  if (line ~ /^SQLITE_PRIVATE [^(=]*;/) line = "extern " line
  print line > (DIR "/" open[depth])
}
END {
  if (depth) {
    print "cut-headers: " open[depth] " has no end" > "/dev/stderr"
    exit 1
  }
}
