package english

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
	"invoice bill receipt invoiced",
	"discount rebate offer sale coupon code promo",
	"holiday vacation leave",
	"dog cat pet animal",
	"wifi internet wlan wireless online web network",
	"breakfast morning",
	"lunch noon midday",
	"dinner supper evening",
	"food meal eat dish menu restaurant",
	"vegan vegetarian meat",
	"smoke smoking smoker cigarette tobacco",
	"train railway rail station",
	"flight airport plane fly",
	"taxi cab ride drive",
	"far distance distant walk near nearby nearest close next",
	"arrive arrival checkin check come move",
	"depart departure checkout leave last out",
	"lost lose forget forgot missing found",
	"voucher gift coupon",
	"valid validity expire expiry run",
	"language english german french spanish",
	"medicine pharmacy drug pill prescription medication tablet",
	"ill sick illness sickness disease unwell",
	"meeting conference event seminar",
	"guest visitor person people seat",
	"sauna spa wellness relax",
	"help support assistance",
	"miss missed show noshow absent",
	"bring take carry",
	"fee charge fine",
	"bike bicycle cycle",
	"result report finding",
	"vaccination vaccine shot injection jab",
	"battery accumulator",
	"part component piece",
	"towel sheet linen",
	"lift elevator",
	"cancel withdraw storno",
	"cot crib bed",
	"machine device appliance tool",
	"wheelchair accessible accessibility disabled barrier",
	"job career vacancy hiring position",
	"change modify alter update move reschedule",
	"password login account signin",
	"card credit debit cash cheque payment paying",
	"luggage baggage bag suitcase",
	"room suite",
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
