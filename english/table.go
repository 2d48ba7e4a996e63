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
	somebody anybody nobody everybody around along
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
	"far distance distant walk near nearby nearest",
	"arrive arrival checkin check come move",
	"depart departure checkout leave last out",
	"lost lose forget forgot missing found left",
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

	// people
	"child son daughter boy girl toddler infant teenager pupil junior",
	"child creche nursery kindergarten daycare babysitter childcare",
	"adult grownup",
	"parent mother father mum mom dad",
	"partner wife husband spouse fiance",
	"grandmother grandfather grandparent senior elderly pensioner old",
	"brother sister sibling relative family",
	"beginner novice newcomer new starter first",
	"member membership join subscribe subscription enrol enroll register signup",
	"teach teacher tutor instructor coach lesson course class school training learn",
	"student pupil university college",

	// animals
	"dog puppy hound labrador poodle terrier",
	"cat kitten",
	"horse pony mare",
	"bird parrot chicken",

	// body and clothes
	"foot feet shoe boot sandal trainer slipper footwear",
	"head hat helmet cap",
	"hand glove finger",
	"eye glasses lens spectacles optician sight vision",
	"tooth teeth dental dentist toothache filling",
	"hair haircut hairdresser cut trim colour dye",
	"clothes wear clothing dress outfit put uniform blazer jacket coat swimwear swimsuit bikini bathrobe robe",
	"christmas xmas december",
	"easter april",
	"skin face facial cosmetic beauty",
	"ill fever cough cold flu pain ache hurt sick",
	"injury injured wound accident hurt",
	"emergency urgent urgently accident immediately once",
	"walk wheelchair crutches mobility",

	// food
	"gluten celiac coeliac wheat flour",
	"nut peanut hazelnut almond walnut",
	"allergy allergic intolerant intolerance allergen",
	"milk dairy lactose cheese",
	"drink beverage coffee tea water beer wine",
	"cake pie dessert bake bakery pastry tart",
	"parcel package packet shipment post",
	"broken smashed cracked damaged destroyed torn",
	"bread roll loaf baguette toast",
	"breakfast roll bread egg",
	"birthday party celebration celebrate wedding anniversary",

	// money
	"price euro dollar pound spend money afford worth",
	"free gratis complimentary costless nothing",
	"deposit security bond prepayment advance",
	"card visa mastercard amex",
	"minimum least lowest smallest",
	"maximum most highest largest limit",
	"wallet purse stolen theft steal robbed rob lost",
	"instalment installment part split",
	"salary wage income earn",
	"tax return declaration",
	"loyalty regular bonus point reward",

	// time
	"daily every everyday",
	"hour minute lesson session",
	"late overdue delay delayed behind",
	"night overnight evening tonight",
	"today sameday same",
	"weekday workday",
	"annual annually yearly year",
	"monthly month",
	"next following upcoming",

	// things done
	"try trial test sample taster exam exams assessment assess",
	"quit cancel terminate resign end",
	"borrow lend loan keep rent hire",
	"renew extend prolong longer",
	"bring deliver return",
	"arrive deliver come get",
	"photo photograph picture camera film",
	"tour guide guided show showing visit excursion",
	"watch see view look spectator",
	"buy ticket entry entrance admission",
	"install fit mount set assemble",
	"clean cleaning wash laundry hygiene",
	"heat heated heating warm boiler radiator",
	"noise noisy loud quiet silence",
	"inform informed notify notification news newsletter update tell",
	"wait queue waiting",
	"confirm confirmation confirmed",
	"damage scratch dent scratched crash",
	"outage down disruption offline fault failure",
	"router modem",
	"restart reboot reset",
	"document form paper certificate",
	"contract agreement",
	"sign signature signed",

	// places and travel
	"house home flat apartment door",
	"shuttle bus coach tram transport",
	"airport plane terminal departure",
	"tent caravan camper motorhome pitch camp camping campsite",
	"shop store supermarket kiosk",
	"outdoor outside outdoors garden terrace",
	"toilet bathroom restroom wc",
	"shower bath bathroom",
	"floor storey level",
	"office building headquarters premises",
	"country abroad foreign international worldwide",
	"novel book magazine literature",
	"computer machine robot bot",
	"drive driver driving",
}

var synonyms = func() map[string][]string {
	m := map[string][]string{}
	for _, g := range groups {
		var stems []string
		for _, w := range strings.Fields(g) {
			for _, s := range []string{Stem(w), base(w)} {
				if !slices.Contains(stems, s) {
					stems = append(stems, s)
				}
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

// irregular forms of common words
var irregular = func() map[string]string {
	m := map[string]string{}
	for pair := range strings.FieldsSeq(`children:child people:person men:man women:woman feet:foot teeth:tooth mice:mouse wives:wife
		came:come took:take taken:take brought:bring bought:buy sold:sell paid:pay lost:lose broke:break broken:break went:go gone:go sent:send found:find
		kept:keep stole:steal stolen:steal held:hold began:begin begun:begin wore:wear worn:wear drove:drive driven:drive ate:eat eaten:eat taught:teach
		met:meet spoke:speak spoken:speak wrote:write written:write gave:give given:give chose:choose chosen:choose hurt:hurt fell:fall fallen:fall
		forgot:forget forgotten:forget built:build caught:catch grew:grow knew:know made:make ran:run rode:ride sang:sing slept:sleep swam:swim
		threw:throw understood:understand woke:wake won:win`) {
		form, word, _ := strings.Cut(pair, ":")
		m[form] = word
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
