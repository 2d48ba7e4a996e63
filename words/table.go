package words

import (
	"slices"
	"strings"
)

var stop = set(`a about after again all also am an and any anybody anyone are arent as at be because been before being but by can cant could couldnt
	did didnt do does doesnt doing dont down each few for from further get give go got had has hasnt have having he her here hers him his
	how i id if ill im in into is isnt it its ive just kindly know let like ll look me more most my myself need no nor not now of off
	oh ok okay on once one only or other our ours out over own please re really s same say see shall she should so some
	something such sure t tell than thank thanks that thats the their theirs them then there theres these they theyre this those to
	too under until up us ve very want wanted wants was wasnt we well were what whats which while will with wont would wouldnt
	yeah yes you youre your yours hello hi hey good day um uh er hm hmm maybe may might much many someone
	think thing things anything everything use uses used using tool function caller callers customer customers user users asks ask asked happen happens happened
	call calls said says wonder wondering`)

// groups of words that callers and documents use for each other
var groups = []string{
	"price cost fee charge rate tariff pay expensive cheap",
	"open opening hour hours time when schedule",
	"close closing closed",
	"address location located where place find directions",
	"phone telephone mobile cell number",
	"email mail",
	"buy purchase order",
	"book reserve reservation booking appointment",
	"cancel cancellation revoke withdraw",
	"refund reimburse money back return",
	"deliver delivery ship shipping shipment send",
	"doctor physician dentist",
	"park parking car garage",
	"child children kid kids baby",
	"staff employee worker team people",
	"begin start commence",
	"end finish stop",
	"fast quick soon long duration take",
	"broken defect defective faulty damaged repair fix",
	"warranty guarantee",
	"invoice bill receipt",
	"discount rebate offer sale coupon",
	"holiday vacation leave",
	"dog cat pet animal",
	"wifi internet wlan wireless",
	"breakfast meal food lunch dinner eat",
	"vegan vegetarian",
	"wheelchair accessible accessibility disabled barrier",
	"job career vacancy hiring position",
	"change modify alter update move reschedule",
	"password login account signin",
	"card credit cash payment method",
	"luggage baggage bag suitcase",
	"room suite bed",
	"speak talk human person agent representative operator",
	"company firm business",
	"size large small big",
	"complaint complain unhappy dissatisfied",
	"weekend saturday sunday",
	"age old years minimum",
	"insurance insured cover",
	"gym fitness training",
	"swim pool",
}

var synonyms = func() map[string][]string {
	m := map[string][]string{}
	for _, g := range groups {
		var stems []string
		for _, w := range strings.Fields(g) {
			if s := Stem(w); !slices.Contains(stems, s) {
				stems = append(stems, s)
			}
		}
		for _, s := range stems {
			for _, other := range stems {
				if other != s && !slices.Contains(m[s], other) {
					m[s] = append(m[s], other)
				}
			}
		}
	}
	return m
}()

func set(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}
