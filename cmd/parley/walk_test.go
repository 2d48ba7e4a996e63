package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"parley/console/browsertest"
)

// walk is a person at the console of a fresh server; the customer's program beside it looks on.
type walk struct {
	client
	*browsertest.Browser
	url string
}

// A walk through the console by mouse and keyboard, from the one-time link on: buying a number, a WhatsApp template to a
// customer who answers and is answered, listening in to a call, and a campaign of 50 leads to its end. The funnel adds up,
// and what the calls cost is what the ledger says. With -shots DIR it leaves pictures.
//
// Contract: 5.2 6.4 10.3 11.5 16.2 18.3
func TestWalk(t *testing.T) {
	data := t.TempDir()
	server := startServer(t, data, []string{"PARLEY_CLOCK_MODE=manual", sureWords}, "--dev")
	link := regexp.MustCompile(`http://\S+/welcome\?token=\S+`).FindString(server.banner)
	w := walk{client{server, t, ran(t, nil, "keys", "create", "--data", data, "--name", "walk")}, browsertest.New(t, []string{server.url}), server.url + "/console"}
	w.Do(chromedp.Navigate(link))
	w.Shows("Talk to your assistant")
	w.Shot("walk-talk")
	w.buysNumber()
	w.writesToCustomer()
	w.listensIn()
	w.runsCampaign()
	w.Complaints()
}

func (w walk) menu(page string) {
	w.t.Helper()
	w.Click(page)
	w.Settle()
}

func (w walk) buysNumber() {
	w.menu("Numbers")
	w.Click("Search and buy")
	w.Choose("Country", "United States")
	w.Fill("Contains", "100")
	w.Click("Search")
	w.Click("Buy +1…")
	w.Click("Buy this number")
	w.Shows("The phone number is now yours.")
	w.Click("Owned")
	w.Shows("+1415555")
	w.Shot("walk-numbers")
}

func (w walk) writesToCustomer() {
	w.menu("Simulator")
	w.Click("WhatsApp customer")
	w.Click("Make a sender and a template")
	w.Shows("The phone of a customer of Shop")
	w.menu("WhatsApp")
	w.Fill("Write to a number", "+491701234567")
	w.Click("Open")
	w.Shows("window closed")
	w.Click("Send a template")
	w.Fill("name", "Mia")
	w.Fill("order", "17")
	w.Until(`document.querySelector('dialog .bubble')?.textContent === 'Hello Mia, your order 17 is ready.'`)
	w.Shot("walk-template")
	w.Click("Send to +491701234567")
	w.Until(`[...document.querySelectorAll('main .lines li')].some(l => l.textContent.includes('your order 17 is ready.'))`)

	w.menu("Simulator")
	w.Click("WhatsApp customer")
	w.Shows("Hello Mia, your order 17 is ready.")
	w.Fill("The customer writes", "What are your opening hours?")
	w.Click("Send")
	w.Until(`[...document.querySelectorAll('main .lines li.human')].some(l => l.textContent.includes('opening hours'))`)
	w.passes("+ 5 minutes") // the assistant waits for more
	w.menu("WhatsApp")
	w.Click("Mia")
	w.Until(`[...document.querySelectorAll('main .lines li')].some(l => l.textContent.includes('from nine in the morning'))`)
	w.Shows("min left")
	w.Shows("min left")
	w.Shot("walk-inbox")
}

// passes lets time pass on the clock of the simulator.
func (w walk) passes(button string) {
	w.t.Helper()
	w.menu("Simulator")
	w.Click("Clock")
	w.Click(button)
	w.UntilFor(90*time.Second, `document.body.innerText.includes('Time has passed.')`) // what falls due meanwhile is worked off first
}

func (w walk) listensIn() {
	w.menu("Assistants")
	w.Click("Demo…") // answers the number from now on
	w.Settle()
	w.Click("Number")
	w.Until(`document.querySelector('[role=tabpanel] select')?.options.length > 1`)
	w.Choose("Phone number", browsertest.JS[string](w.Browser, `document.querySelector('[role=tabpanel] select').options[1].text`))
	w.Click("Save")
	w.Shows("Saved.")
	w.menu("Simulator")
	w.Fill("What the caller says, one turn a line", "What are your opening hours?\nThank you.\nAre you open on Sunday?\nThank you.")
	w.Click("Call")
	w.Shows("The phone rings.")
	w.menu("Calls")
	w.Until(`!!document.querySelector('td a')`)
	w.Click(browsertest.JS[string](w.Browser, `document.querySelector('td a').innerText`))
	w.Click("Listen in")
	w.Shows("You hear the call. Nobody hears you.")
	loud := browsertest.JS[bool](w.Browser, `new Promise(done => {
		const ctx = new AudioContext(), node = ctx.createAnalyser(), buf = new Float32Array(2048), end = Date.now() + 20000
		ctx.createMediaStreamSource(document.querySelector('audio').srcObject).connect(node)
		const look = () => { node.getFloatTimeDomainData(buf); const on = buf.some(v => Math.abs(v) > 0.01); on || Date.now() > end ? done(on) : setTimeout(look, 50) }
		look()
	})`)
	if !loud {
		w.t.Error("nothing was heard of the call")
	}
	w.Fill("A hint for the assistant", "Be kind.")
	w.Click("Whisper")
	w.Shows("The assistant has your hint.")
	w.Until(`document.querySelectorAll('.lines .bot').length > 1`) // the greeting, and an answer
	w.Shot("walk-call-live")
	w.Click("Hang up")
	w.Shows("by the system")
	w.Until(`!!document.querySelector('audio[aria-label=Recording]')`)
	w.Click("Signalling")
	w.Until(`['INVITE', '180 Ringing', '200 OK', 'ACK', 'BYE'].every(m => document.querySelector('.ladder')?.textContent.includes(m))`)
	w.Shot("walk-call")
}

// outcomes are how the 50 people of the campaign take the call.
var outcomes = []struct {
	phone   string // what the simulated phone does
	people  int
	answers bool
}{
	{`{"behaviour":"answer","ring_ms":50,"script":[{"say":"Hello?"},{"wait_for":"speech_end","timeout_ms":9000},{"hangup":true}]}`, 34, true},
	{`{"behaviour":"busy"}`, 6, false},
	{`{"behaviour":"no_answer"}`, 5, false},
	{`{"behaviour":"decline"}`, 3, false},
	{`{"behaviour":"invalid"}`, 2, false},
}

func (w walk) runsCampaign() {
	w.menu("Assistants")
	w.Click("New assistant")
	w.Fill("Name", "Caller")
	w.Choose("What it does", "Places calls")
	w.Fill("First sentence", "Hello.")
	w.Click("Save")
	w.Until(`document.querySelector('h1')?.textContent === 'Caller'`)
	w.Click("Turn taking")
	w.Set("Ringing time (seconds)", "1")
	w.Click("Save")
	w.Shows("Saved.")

	w.menu("Campaigns")
	w.Click("New campaign")
	w.Fill("Name", "Autumn maps")
	w.Set("From", "00:00")
	w.Set("To", "23:59")
	w.Click("sat")
	w.Click("sun")
	w.Set("Calls at once", "5")
	w.Set("Retries", "2")
	w.Click("Save as a draft")
	w.Until(`document.querySelector('h1')?.textContent === 'Autumn maps'`)
	id := atoi(w.t, browsertest.JS[string](w.Browser, `location.pathname.split('/').at(-1)`))
	w.Click("Add leads")
	w.people()
	w.Click("Import 50 leads")
	w.Shows("50 added, 0 left out.")
	before := w.balance()
	w.Click("Start")
	w.Shows("The campaign is now running.")
	w.Until(`document.querySelector('.slots .on') !== null`)
	w.Shot("walk-campaign-running")
	for range 6 {
		if w.rests(id) {
			break
		}
		w.passes("+ 1 hour")
	}
	w.menu("Campaigns")
	w.Click("Autumn maps")
	w.Until(`document.querySelector('.page-head .badge')?.textContent === 'completed'`)
	w.Settle()
	w.Shot("walk-campaign")
	w.addsUp(id, before)
}

// people chooses a file of 50 people for the import, whose telephones are set up beforehand.
func (w walk) people() {
	var csv strings.Builder
	csv.WriteString("phone,customer_name\n")
	n := 0
	for _, o := range outcomes {
		for range o.people {
			n++
			phone := fmt.Sprintf("+1415556%04d", n)
			w.want(200, "PUT", "/sim/phones/"+phone, o.phone)
			fmt.Fprintf(&csv, "%s,Person %d\n", phone, n)
		}
	}
	w.Until(`!!document.querySelector('dialog[open] input[type=file]')`)
	browsertest.JS[bool](w.Browser, fmt.Sprintf(`(e => { const d = new DataTransfer(); d.items.add(new File([%s], 'people.csv', { type: 'text/csv' })); e.files = d.files
		return e.dispatchEvent(new Event('change', { bubbles: true })) })(document.querySelector('dialog[open] input[type=file]'))`, strconv.Quote(csv.String())))
	w.Until(`document.querySelectorAll('dialog[open] tbody tr').length === 5`)
	w.Shot("walk-import")
}

// rests waits until nobody is called any more, and reports whether the campaign is over.
func (w walk) rests(id int) (over bool) {
	w.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		waiting := 0
		for _, status := range []string{"created", "scheduled", "processing"} {
			waiting += int(w.id(w.want(200, "GET", fmt.Sprintf("/user/leads?campaign_id=%d&status=%s", id, status), ""), "total"))
		}
		if waiting == 0 {
			return strings.Contains(w.want(200, "GET", fmt.Sprintf("/user/campaigns/%d", id), ""), `"status":"completed"`)
		}
	}
	w.t.Fatal("the campaign does not come to rest")
	return false
}

func (w walk) balance() (total float64) {
	w.t.Helper()
	var me struct {
		Total float64 `json:"total_balance"`
	}
	w.decode(w.want(200, "GET", "/user/me", ""), &me)
	return me.Total
}

func (w walk) decode(answer string, into any) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(answer), into); err != nil {
		w.t.Fatal(err)
	}
}

// addsUp compares what the page shows with the records of the calls, and their costs with the ledger.
func (w walk) addsUp(id int, before float64) {
	shows := map[string]int{}
	for _, name := range []string{"All", "Still open", "Completed", "Given up"} {
		shows[name] = atoi(w.t, browsertest.JS[string](w.Browser, fmt.Sprintf(`[...document.querySelectorAll('.stages .small')].find(e => e.textContent.startsWith(%q)).querySelector('strong').textContent`, name)))
	}
	cost, talked := w.records(id)
	never := 0 // people who never pick up
	for _, o := range outcomes {
		if !o.answers {
			never += o.people
		}
	}
	if shows["All"] != 50 || shows["Still open"] != 0 || shows["Completed"]+shows["Given up"] != 50 || shows["Completed"] != talked || talked == 0 || shows["Given up"] < never {
		w.t.Errorf("the funnel shows %v, %d people were talked to, %d never pick up", shows, talked, never)
	}
	spent := exact(before - w.balance())
	// A direct account is billed in minutes at 0.10 each.
	if cost == 0 || spent != 10*cost {
		w.t.Errorf("the calls cost %d, the ledger says %d", cost, spent/10)
	}
	w.menu("Usage")
	w.Choose("By", "kind")
	w.Until(`[...document.querySelectorAll('tbody td')].some(e => e.textContent === 'call carrier')`)
	shown := func(of string) string {
		return browsertest.JS[string](w.Browser, `String(Math.round(1e4 * parseFloat(`+of+`.textContent.replaceAll(',', ''))))`)
	}
	left, spentOnAll := shown(`document.querySelector('.tiles dd')`), shown(`document.querySelectorAll('tfoot td')[1]`)
	if a, b := atoi(w.t, left), atoi(w.t, spentOnAll); a+b != 10000*1e4 {
		w.t.Errorf("the page shows %s left and %s spent of 10000 minutes", left, spentOnAll)
	}
	w.Shot("walk-usage")
}

// records are what the calls of a campaign cost, in the smallest unit there is, and how many people were talked to.
func (w walk) records(id int) (cost int64, talked int) {
	w.t.Helper()
	people := map[int64]bool{}
	for page := 1; ; page++ {
		var got struct {
			Data []struct {
				Lead   int64   `json:"lead_id"`
				Status string  `json:"status"`
				Total  float64 `json:"total_cost"`
			}
			Last int `json:"last_page"`
		}
		w.decode(w.want(200, "GET", fmt.Sprintf("/user/calls?campaign_id=%d&per_page=100&page=%d", id, page), ""), &got)
		for _, c := range got.Data {
			cost += exact(c.Total)
			if c.Status == "completed" {
				people[c.Lead] = true
			}
		}
		if page >= got.Last {
			return cost, len(people)
		}
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// exact is an amount in the smallest unit there is.
func exact(amount float64) int64 { return int64(amount*1e8 + 0.5) }
