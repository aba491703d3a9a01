package hpsqlite

import (
	"testing"

	"github.com/hpsqlite/hpsqlite/drivers/go/bench"
)

func Test(t *testing.T) { bench.Test(t, Drivers) }

func BenchmarkSelectByID(b *testing.B) { bench.SelectByID(b, Drivers) }

func BenchmarkSelectAll(b *testing.B) { bench.SelectAll(b, Drivers) }

func BenchmarkWorkload(b *testing.B) { bench.Workload(b, Drivers) }
