package responder

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// parseDate reads a day: today, tomorrow, a weekday to come, "March 3rd", "the third of March", 2027-03-03, "in two weeks".
func parseDate(said string, now time.Time) (time.Time, bool) {
	low := digitsForOrdinals(strings.ToLower(said))
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	if m := isoDate.FindStringSubmatch(low); m != nil {
		return calendarDay(m[1], m[2], m[3])
	}
	if m := dayMonth.FindStringSubmatch(low); m != nil {
		return yearly(today, m[3], m[2], m[1])
	}
	if m := monthDay.FindStringSubmatch(low); m != nil {
		return yearly(today, m[3], m[1], m[2])
	}
	switch {
	case strings.Contains(low, "day after tomorrow"):
		return today.AddDate(0, 0, 2), true
	case strings.Contains(low, "tomorrow"):
		return today.AddDate(0, 0, 1), true
	case hasWord(low, "today") || hasWord(low, "tonight"):
		return today, true
	case strings.Contains(low, "next week"):
		return today.AddDate(0, 0, 7), true
	}
	if in, unit, ok := strings.Cut(low, " week"); ok && strings.Contains(in, "in ") && unit != "day" {
		if n, ok := parseNumber(in[strings.LastIndex(in, "in ")+3:]); ok {
			return today.AddDate(0, 0, 7*int(n)), true
		}
	}
	if in, _, ok := strings.Cut(low, " day"); ok && strings.Contains(in, "in ") {
		if n, ok := parseNumber(in[strings.LastIndex(in, "in ")+3:]); ok {
			return today.AddDate(0, 0, int(n)), true
		}
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.Contains(low, strings.ToLower(d.String())) {
			ahead := (int(d)-int(today.Weekday())+6)%7 + 1
			return today.AddDate(0, 0, ahead), true
		}
	}
	return time.Time{}, false
}

func digitsForOrdinals(low string) string {
	fields := strings.Fields(strings.NewReplacer(",", "", "-", "-").Replace(low))
	for i, w := range fields {
		bare := strings.TrimRight(w, ".?!")
		if n, ok := ordinals[bare]; ok {
			if i > 0 && (fields[i-1] == "twenty" || fields[i-1] == "thirty") { // twenty first
				tensValue := tens[fields[i-1]]
				unit, _ := strconv.Atoi(n)
				fields[i-1], n = "", strconv.Itoa(int(tensValue)+unit)
			}
			fields[i] = n
		}
		if t, u, ok := strings.Cut(bare, "-"); ok { // twenty-first
			if n, ok := ordinals[u]; ok && tens[t] > 0 {
				unit, _ := strconv.Atoi(n)
				fields[i] = strconv.Itoa(int(tens[t]) + unit)
			}
		}
	}
	return strings.Join(strings.Fields(strings.Join(fields, " ")), " ")
}

func calendarDay(y, m, d string) (time.Time, bool) {
	t, err := time.Parse("2006-1-2", y+"-"+m+"-"+d)
	return t, err == nil
}

// yearly is the day in the stated year, or else the next time it comes.
func yearly(today time.Time, year, month, day string) (time.Time, bool) {
	stated := year != ""
	if !stated {
		year = strconv.Itoa(today.Year())
	}
	t, err := time.Parse("2006 January 2", year+" "+month+" "+day)
	if err == nil && !stated && t.Before(today) {
		t = t.AddDate(1, 0, 0)
	}
	return t, err == nil
}

var clockText = regexp.MustCompile(`\b(\d{1,2})(?::(\d{2})| ?h ?(\d{2})?)?\s*(a\.?m\.?|p\.?m\.?|o'?clock)?(?:\b|$)`)

// parseTime reads a time of day: 19:30, 7 pm, half past seven, quarter to eight, noon, seven thirty.
// bare accepts a lone number as an hour.
func parseTime(said string, bare bool) (h, m int, ok bool) {
	low := numerals(strings.ToLower(said))
	pm := regexpPM.MatchString(low) || strings.Contains(low, "evening") || strings.Contains(low, "afternoon") ||
		strings.Contains(low, "tonight")
	am := regexpAM.MatchString(low) || strings.Contains(low, "morning")
	switch {
	case hasWord(low, "noon") || hasWord(low, "midday"):
		return 12, 0, true
	case hasWord(low, "midnight"):
		return 0, 0, true
	}
	if p := pastTo.FindStringSubmatch(low); p != nil {
		h, _ = strconv.Atoi(p[3])
		m = map[string]int{"half": 30, "quarter": 15}[p[1]]
		if m == 0 {
			m, _ = strconv.Atoi(p[1])
		}
		if p[2] == "to" {
			h, m = h-1, 60-m
		}
		return halfDay(h, m, am, pm)
	}
	for _, c := range clockText.FindAllStringSubmatch(low, -1) {
		marked := c[2] != "" || c[4] != "" || strings.Contains(low, "at "+c[1]) || am || pm
		if !marked && !bare {
			continue
		}
		h, _ = strconv.Atoi(c[1])
		m, _ = strconv.Atoi(c[2] + c[3])
		return halfDay(h, m, am, pm)
	}
	return 0, 0, false
}

func halfDay(h, m int, am, pm bool) (int, int, bool) {
	if pm && h < 12 {
		h += 12
	}
	if am && h == 12 {
		h = 0
	}
	if h == 24 {
		h = 0
	}
	return h, m, h >= 0 && h < 24 && m >= 0 && m < 60
}

// numerals writes number words as digits, one run at a time, so that "seven thirty" becomes 7:30.
func numerals(low string) string {
	var out []string
	for _, w := range strings.Fields(low) {
		bare := strings.Trim(w, ".,?!")
		if u, ok := units[bare]; ok && bare != "oh" {
			if n := len(out); n > 0 && tensDigit[out[n-1]] && u > 0 && u < 10 {
				t, _ := strconv.Atoi(out[n-1])
				out[n-1] = strconv.Itoa(t + int(u))
				continue
			}
			out = append(out, strconv.Itoa(int(u)))
			continue
		}
		if t, ok := tens[bare]; ok {
			out = append(out, strconv.Itoa(int(t)))
			continue
		}
		out = append(out, strings.TrimRight(w, ",?!"))
	}
	return spaced.ReplaceAllString(strings.Join(out, " "), "$1:$2")
}

var tensDigit = map[string]bool{"20": true, "30": true, "40": true, "50": true}

func spokenTime(h, m int) string {
	half, h12 := "a.m.", h%12
	if h >= 12 {
		half = "p.m."
	}
	if h12 == 0 {
		h12 = 12
	}
	if m == 0 {
		return fmt.Sprintf("%d %s", h12, half)
	}
	return fmt.Sprintf("%d:%02d %s", h12, m, half)
}
