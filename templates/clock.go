package templates

import (
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"time"
)

// moment is a time as a text receives it, together with the current time. It names the day
// unless that is today, and the year unless it is the current one. It names UTC too: a
// machine whose zone nobody has set is rarely where its owner is.
type moment struct{ at, now time.Time }

// String is used by texts that show the field as it stands.
func (m moment) String() string { return m.at.Format(time.DateOnly) + " " + m.clock() }

func (m moment) today() bool {
	return m.at.Year() == m.now.Year() && m.at.YearDay() == m.now.YearDay()
}

func (m moment) clock() string {
	if name, offset := m.at.Zone(); offset == 0 && name == "UTC" {
		return m.at.Format("15:04 UTC")
	}
	return m.at.Format("15:04")
}

func (m moment) year() string {
	if m.at.Year() == m.now.Year() {
		return ""
	}
	return " " + strconv.Itoa(m.at.Year())
}

// functions returns the functions that templates of a language can call, to format times
// and counts.
func functions(lang Lang) template.FuncMap {
	f := template.FuncMap{
		// at is when something happened: "at 14:05", "on 3 November at 14:05".
		"at": func(m moment) string {
			if m.today() {
				return "at " + m.clock()
			}
			return m.at.Format("on 2 January") + m.year() + " at " + m.clock()
		},
		// by is a deadline: "by 14:05".
		"by": func(m moment) string {
			if m.today() {
				return "by " + m.clock()
			}
			return m.at.Format("by 2 January") + m.year() + ", " + m.clock()
		},
		// until is the end of a period: "until 14:05".
		"until": func(m moment) string {
			if m.today() {
				return "until " + m.clock()
			}
			return m.at.Format("until 2 January") + m.year() + ", " + m.clock()
		},
		// since is the beginning of a period: "since 14:05".
		"since": func(m moment) string {
			if m.today() {
				return "since " + m.clock()
			}
			return m.at.Format("since 2 January") + m.year() + ", " + m.clock()
		},
		// clock is the bare time, for lists.
		"clock": func(m moment) string {
			if m.today() {
				return m.clock()
			}
			return m.at.Format("2 Jan") + m.year() + ", " + m.clock()
		},
		// date is clock, but always with the day, for what is read again on another day.
		"date": func(m moment) string { return m.at.Format("2 Jan") + m.year() + ", " + m.clock() },
		// plural formats a count. English and Italian use the singular for one and the
		// plural for everything else, zero included.
		"plural": func(n int, one, many string) string { return counted(n, ",", one, many) },
	}
	if lang == Italian {
		italian(f)
	}
	return f
}

// italian replaces the functions that Italian says differently.
func italian(f template.FuncMap) {
	f["at"] = func(m moment) string {
		if m.today() {
			return "alle " + m.clock()
		}
		return m.giorno() + " alle " + m.clock()
	}
	f["by"] = func(m moment) string {
		if m.today() {
			return "entro le " + m.clock()
		}
		return "entro " + m.giorno() + " alle " + m.clock()
	}
	f["until"] = func(m moment) string {
		if m.today() {
			return "fino alle " + m.clock()
		}
		// "il 3" becomes "al 3", and "l’8" becomes "all’8".
		return "fino al" + strings.TrimPrefix(m.giorno(), "il") + " alle " + m.clock()
	}
	f["since"] = func(m moment) string {
		if m.today() {
			return "dalle " + m.clock()
		}
		// "il 3" becomes "dal 3", and "l’8" becomes "dall’8".
		return "dal" + strings.TrimPrefix(m.giorno(), "il") + " alle " + m.clock()
	}
	f["clock"] = func(m moment) string {
		if m.today() {
			return m.clock()
		}
		return fmt.Sprintf("%d %s%s, %s", m.at.Day(), mese(m.at.Month())[:3], m.year(), m.clock())
	}
	f["date"] = func(m moment) string {
		return fmt.Sprintf("%d %s%s, %s", m.at.Day(), mese(m.at.Month())[:3], m.year(), m.clock())
	}
	f["plural"] = func(n int, one, many string) string { return counted(n, ".", one, many) }
}

// Number formats a number with the language's thousands separator.
func (t *Texts) Number(n int) string {
	if t.lang == Italian {
		return grouped(n, ".")
	}
	return grouped(n, ",")
}

// Weekday formats the day of the week in three letters.
func (t *Texts) Weekday(at time.Time) string {
	at = at.In(t.zone)
	if t.lang == Italian {
		return [...]string{"dom", "lun", "mar", "mer", "gio", "ven", "sab"}[at.Weekday()]
	}
	return at.Format("Mon")
}

// Day formats the day and month, whatever day it is now.
func (t *Texts) Day(at time.Time) string {
	at = at.In(t.zone)
	if t.lang == Italian {
		return at.Format("2 ") + mese(at.Month())[:3]
	}
	return at.Format("2 Jan")
}

// Year formats the year.
func (t *Texts) Year(at time.Time) string { return at.In(t.zone).Format("2006") }

// Clock formats the time of day, and names the zone if it is UTC.
func (t *Texts) Clock(at time.Time) string { return moment{at: at.In(t.zone)}.clock() }

// giorno returns the day with its article: "il 3 novembre", "l’8 novembre".
func (m moment) giorno() string {
	day := "il " + strconv.Itoa(m.at.Day())
	switch m.at.Day() {
	case 1:
		day = "il 1º"
	case 8, 11:
		day = "l’" + strconv.Itoa(m.at.Day())
	}
	return day + " " + mese(m.at.Month()) + m.year()
}

func mese(m time.Month) string {
	return [...]string{
		"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno",
		"luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre",
	}[m-1]
}

// counted formats a count and the noun in the matching number. The count stands before the words or where they have a #.
func counted(n int, apart, one, many string) string {
	words := many
	if n == 1 {
		words = one
	}
	if strings.Contains(words, "#") {
		return strings.Replace(words, "#", grouped(n, apart), 1)
	}
	return grouped(n, apart) + " " + words
}

// grouped formats a number with apart between groups of thousands.
func grouped(n int, apart string) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + apart + digits[i:]
	}
	return digits
}
