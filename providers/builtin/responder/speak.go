package responder

import (
	"regexp"
	"strings"

	"parley/agent"
	"parley/english"
)

func tokens(s string) []string { return english.Tokens(s) }

// withoutDates takes dates and times out of a sentence, so that their digits are not read as amounts.
func withoutDates(said string) string {
	low := numerals(digitsForOrdinals(strings.ToLower(said)))
	for _, re := range []*regexp.Regexp{isoDate, dayMonth, monthDay, pastTo, clockMark} {
		low = re.ReplaceAllString(low, " ")
	}
	return low
}

var clockMark = regexp.MustCompile(`\b\d{1,2}:\d{2}\b(?: ?[ap]\.?m\.?)?|\b\d{1,2} ?(?:[ap]\.?m\.?|o'?clock)|\bat \d{1,2}\b`)

func saysUnknown(said string) bool {
	all := " " + strings.Join(tokens(said), " ") + " "
	for _, p := range []string{" dont know ", " do not know ", " not sure ", " no idea ", " skip ", " rather not ", " dont have ",
		" do not have ", " none "} {
		if strings.Contains(all, p) {
			return true
		}
	}
	return false
}

var (
	tellThem  = regexp.MustCompile(`(?i)^tell (?:the )?(?:caller|customer|user|them|person|supervisor)(?: in (?:one|a) (?:short )?sentence)?,? that (.+?)[.]?$`)
	askThem   = regexp.MustCompile(`(?i)ask (?:the (?:caller|customer|user|person) |them )?(?:in (?:one|a) (?:short )?sentence )?(?:whether|if) they (are|have|want|need|would) (.+?)[.]?$`)
	sayThis   = regexp.MustCompile(`(?i)^say:?\s+(?:in (?:one|a) (?:short )?sentence )?(.+?)$`)
	closeNow  = regexp.MustCompile(`(?i)^close the conversation`)
	quotation = regexp.MustCompile(`["“]([^"”]+)["”]`)
)

// obey does what an instruction of the platform says, as far as it is one of a few forms.
func obey(instruction string) string {
	if m := quotation.FindStringSubmatch(instruction); m != nil {
		return sentence(m[1])
	}
	for line := range strings.SplitSeq(instruction, "\n") {
		for _, s := range sentencesOf(line) {
			if out := obeySentence(s); out != "" {
				return out
			}
		}
	}
	return "One moment, please."
}

func obeySentence(s string) string {
	if closeNow.MatchString(s) {
		return "I have to close our call now. Thank you, and goodbye."
	}
	if m := tellThem.FindStringSubmatch(s); m != nil {
		return sentence(upperFirst(firstPerson(m[1])))
	}
	if m := askThem.FindStringSubmatch(s); m != nil {
		switch verb := strings.ToLower(m[1]); verb {
		case "want", "need", "have":
			return "Do you " + verb + " " + secondPerson(m[2]) + "?"
		default:
			return upperFirst(verb) + " you " + secondPerson(m[2]) + "?"
		}
	}
	if strings.Contains(strings.ToLower(s), "goodbye") {
		return "Thank you. Goodbye."
	}
	if m := sayThis.FindStringSubmatch(s); m != nil {
		return sentence(upperFirst(m[1]))
	}
	return ""
}

var (
	asMe = strings.NewReplacer(" you are ", " I am ", " you will ", " I will ", " you have ", " I have ", " you ", " I ", " your ", " my ",
		" them ", " you ", " their ", " your ", " they are ", " you are ", " they ", " you ", " the caller ", " you ")
	asYou = strings.NewReplacer(" their ", " your ", " them ", " you ", " they ", " you ")
)

func firstPerson(s string) string  { return strings.TrimSpace(asMe.Replace(" " + s + " ")) }
func secondPerson(s string) string { return strings.TrimSpace(asYou.Replace(" " + s + " ")) }

// briefing tells a supervisor in two or three sentences who is calling, what for, and why a person is needed.
func briefing(msgs []agent.Message) string {
	who, want := "The caller", ""
	for _, m := range msgs {
		if m.Role != agent.RoleUser {
			continue
		}
		if n, ok := parseName(m.Text, false); ok {
			who = n
		}
		if want == "" && intentOf(m.Text) == none && len(english.Content(m.Text)) > 1 {
			want = strings.TrimRight(m.Text, ".!? ")
		}
	}
	if want == "" {
		return who + " is on the line and asked for a person."
	}
	return who + " is on the line and said: " + want + ". I could not settle it and they asked for a person."
}

var (
	pressFor = regexp.MustCompile(`(?i)press (\w+|\d+) (?:for|to) ([^.,;]+)`)
	forPress = regexp.MustCompile(`(?i)(?:for|to) ([^.,;]+?),? press (\w+|\d+)`)
)

// menu answers an automated phone menu when keys can be sent: the choice closest to the prompt, else the first.
func (d *dialog) menu(said string) bool {
	if find(d.tools, "send_dtmf") == nil {
		return false
	}
	about := english.Content(d.prompt)
	best, top := "", -1.0
	consider := func(key, label string) {
		digit := strings.Trim(numerals(strings.ToLower(key)), " ")
		if len(digit) != 1 {
			return
		}
		if s := english.Coverage(english.Content(label), about); s > top {
			best, top = digit, s
		}
	}
	for _, m := range pressFor.FindAllStringSubmatch(said, -1) {
		consider(m[1], m[2])
	}
	if best == "" {
		for _, m := range forPress.FindAllStringSubmatch(said, -1) {
			consider(m[2], m[1])
		}
	}
	if best == "" {
		return false
	}
	d.run("send_dtmf", map[string]any{"digits": best}, func(string) {})
	return true
}
