module github.com/hpsqlite/hpsqlite/drivers/go

go 1.24
