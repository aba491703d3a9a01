# The statements of a suite of the benchmark lab (crates/hpsqlite/src/bench/suites), for
# engine/test/suites.c: "@ NAME", then the statement.
/^\[\[/ { of_step = $0=="[[step]]" }
/^name = "/ && of_step { name = substr($0, 9, length($0)-9) }
/^sql = """/ && of_step { print "@ " name; text = 1; next }
/^sql = "/ && of_step { print "@ " name; print substr($0, 8, length($0)-8) }
/^"""/ { text = 0 }
text { gsub(/[{]joined[}]/, "250000"); gsub(/[{]sf[}]/, "1"); print }
