package hpsqlite_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTheManualsExamplesCompile looks for each piece of Go of README.md in the
// examples, which are compiled and run.
func TestTheManualsExamplesCompile(t *testing.T) {
	flat := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	lines := func(text string) string {
		var out []string
		for _, line := range strings.Split(text, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				out = append(out, line)
			}
		}
		return strings.Join(out, "\n")
	}
	var all string
	for _, path := range []string{"examples/first/main.go", "example_test.go",
		"example_functions_test.go", "pool/example_test.go"} {
		all += lines(flat(path)) + "\n"
	}
	pieces := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(flat("README.md"), -1)
	if len(pieces) < 8 {
		t.Fatalf("%d pieces of Go", len(pieces))
	}
	for _, p := range pieces {
		if !strings.Contains(all, lines(p[1])) {
			t.Errorf("this is in no example:\n%s", p[1])
		}
	}
}
