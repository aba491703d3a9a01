package hpsqlite

import (
	"strings"
	"time"
)

// TimeFormat is how a time.Time is stored: as a text that SQLite's date functions
// read and that sorts by time within one zone. Config.TimeUTC stores all in UTC.
const TimeFormat = "2006-01-02 15:04:05.999999999-07:00"

// Forms that columns of times are read in. The zone is UTC where none is given.
var timeForms = []string{
	"2006-01-02 15:04:05.999999999-07:00",
	"2006-01-02T15:04:05.999999999-07:00",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04-07:00",
	"2006-01-02T15:04-07:00",
	"2006-01-02 15:04",
	"2006-01-02T15:04",
	"2006-01-02",
	"2006-01-02 15:04:05.999999999 -0700 MST",
}

func (cfg *Config) appendTime(b []byte, t time.Time) []byte {
	// The format has no seconds in the offset, which zones had until about 1920.
	if _, offset := t.Zone(); cfg.TimeUTC || offset%60 != 0 {
		t = t.UTC()
	}
	return t.AppendFormat(b, TimeFormat)
}

// parseTime reads a text of a column that is declared to hold times.
func parseTime(text string, loc *time.Location) (time.Time, bool) {
	text = strings.TrimSuffix(text, "Z")
	if at := strings.Index(text, " m="); at >= 0 {
		text = text[:at]
	}
	for _, form := range timeForms {
		if t, err := time.ParseInLocation(form, text, time.UTC); err == nil {
			return inZone(t, loc), true
		}
	}
	return time.Time{}, false
}

// unixTime reads an integer: seconds since 1970, or milliseconds if seconds would be
// after the year 5138.
func unixTime(n int64, loc *time.Location) time.Time {
	if n > 1e11 || n < -1e11 {
		return inZone(time.UnixMilli(n).UTC(), loc)
	}
	return inZone(time.Unix(n, 0).UTC(), loc)
}

func inZone(t time.Time, loc *time.Location) time.Time {
	if loc == nil {
		return t
	}
	return t.In(loc)
}
