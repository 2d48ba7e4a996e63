package pickup

import (
	"strings"

	"parley/english"
)

// phrases are what is said to callers in one language. A stroke joins ways to say the same. A phrase of sure counts twice.
type phrases struct {
	tone      []string // a tone is to come: machines, and services that ask for a name
	sure      []string // only machines
	maybe     []string // machines more than people
	human     []string // people
	asks      []string // for name, for purpose: services that screen calls, and people at a reception
	behalf    []string // speaks for the one who was called: services, and people at a reception
	screening []string // only such services
}

// unmistakable is the sum of machine phrases that needs no further evidence.
const unmistakable = 2

// signs are what a text tells.
type signs struct {
	machine, human, asks, behalf, screening, words int

	tone bool // counts as 2 in machine
}

// scan counts the phrases in a text, each once.
func scan(lists []phrases, text string) (s signs) {
	tokens := english.Tokens(text)
	s.words = len(tokens)
	line := uniform.Replace(" " + strings.Join(tokens, " ") + " ")
	for _, p := range lists {
		if count(p.tone, line) > 0 && !s.tone {
			s.tone = true
			s.machine += 2
		}
		s.machine += 2*count(p.sure, line) + count(p.maybe, line)
		s.human += count(p.human, line)
		s.asks += count(p.asks, line)
		s.behalf += count(p.behalf, line)
		s.screening += count(p.screening, line)
	}
	return s
}

// uniform writes alike what is said alike; english.Tokens has taken the apostrophes out. An offer to take a message is what
// people make.
var uniform = strings.NewReplacer(
	" can not ", " cant ", " cannot ", " cant ", " unable to ", " cant ", " voice mail ", " voicemail ", " mail box ", " mailbox ",
	" you have ", " youve ", " i am ", " im ", " i will ", " ill ", " it is ", " its ", " who is ", " whos ", " you are ", " youre ",
	" like to leave ", " offer ", " want to leave ", " offer ", " wanna leave ", " offer ", " can i leave ", " offer ", " could i leave ",
	" offer ", " may i leave ", " offer ")

func count(list []string, line string) (n int) {
	for _, p := range list {
		for way := range strings.SplitSeq(p, "|") {
			if strings.Contains(line, " "+way+" ") {
				n++
				break
			}
		}
	}
	return n
}

func phrasesOf(languages []string) []phrases {
	out := []phrases{spoken["en"]}
	for _, l := range languages {
		if p, ok := spoken[l]; ok && l != "en" {
			out = append(out, p)
		}
	}
	return out
}

var spoken = map[string]phrases{
	"en": {
		tone: []string{"after the tone|at the tone|after the beep|at the beep|hear the tone|hear the beep|wait for the tone|wait for the beep|after the signal|at the signal|hear the signal"},
		sure: []string{"record your message|record a message|leave your message|leave me a message|leave a message after|leave a message and|leave a short message|leave a brief message|leave a detailed message|leave us a message",
			"leave your name|leave your number|leave us your name|leave me your name|leave your contact",
			"voicemail of|my voicemail|your voicemail box|voicemail system|voicemail is full|answering machine|voice messaging system",
			"mailbox is full|mailbox of|mailbox has not|accept any messages|accept messages",
			"cant take your call|cant answer your call|cant come to the phone|cant answer the phone|cant get to the phone",
			"not available to take your call|not available to answer|is not available please|not available at the tone",
			"your call has been forwarded|forwarded to an automated",
			"the number youve dialed|the number youve reached|number you dialed|the number youve called|the number you called has",
			"cant be reached|reached at the moment", "not in service|has been disconnected|cant be completed as dialed|circuits are busy",
			"the subscriber|the customer youre calling|wireless customer|mobile customer|the person youre trying to reach|the person youre calling is not",
			"press one|press two|press three|press four|press five|press zero|press pound|press the pound key|press star|press hash|followed by the pound|followed by the hash", "our office is closed|our office is currently closed|we are currently closed",
			"all of our agents|all our agents|agents are busy|lines are busy|operators are busy|representatives are busy",
			"order it was received|order they were received|order received|in the queue|estimated wait",
			"call may be recorded|call will be recorded|calls may be recorded|calls are recorded"},
		maybe: []string{"leave a message|leave him a message|leave her a message|leave some|leave your", "youve reached|youve called",
			"not available|unavailable|not here right now|not at home|nobody is home|no one is home|away from my desk|away from the phone|on the other line|out of the office|on vacation|on holiday", "get back to you|right back to you|call you back|ill return your call|will return your call",
			"as soon as i can|as soon as possible", "im sorry i missed|sorry i missed your call|missed your call|afraid i missed you",
			"voicemail|mailbox", "try again later|try your call again|call back later|call again",
			"your name and number|your name and your number|your name and phone",
			"opening hours|office hours|business hours", "switched off|turned off",
			"text me|send me a text|send a text|send me an email|send an email", "at this time", "please enter|enter your",
			"stay on the line|please hold", "goodbye|good bye", "an emergency dial|emergency call", "our website", "important to us",
			"contact my colleague|please contact", "speak after|talk after|speak now"},
		human: []string{"speaking", "how can i help|how may i help|may i help|can i help|can i do for you|how can i direct your call",
			"whos this|whos there", "whos calling|who am i speaking", "good morning|good afternoon|good evening", "can you hear me",
			"offer|take a message for", "hold on|one moment|just a moment|just a second|one second|hang on",
			"may i have|can i have|could i have|can i get", "do you want|do you have|shall i|should i", "anybody there|anyone there"},
		asks: []string{"your name|who you are|who are you|whos calling",
			"name and reason|name and the reason|name and the purpose|reason for your call|reason for calling|reason of your call|purpose of your call|purpose of this call|reason youre calling|why youre calling|why are you calling|why you called|youre calling about|call is about|is this call about|call regarding|its about|like to talk about|and purpose"},
		behalf: []string{"before i connect you|before i try to connect|before i put you through|connect you|put you through|put your call through", "person you called|person youre calling|party youre calling|this person|to reach this|owner of this|taking calls for|phone of", "virtual assistant|digital assistant|automated assistant|im the assistant|an assistant|their assistant",
			"let them know|find out if|see if they|see if he|see if she|check if they|is available|are available|asked to pick up",
			"only accepts calls|accepts calls|known callers|does not recognize|doesnt recognize|not recognize|does not know your number|not know your number", "stay on the line|please hold|then wait|hold the line"},
		screening: []string{"screening service|call screening|screening this call|screening calls|using a screening|screens calls|being screened|are screened|is screened|screened by", "record your name and|record your name",
			"go ahead and say your name|say your name and why|say your name and what|say your name and the reason",
			"ill see if this person is available|see if this person is available", "wants to know whos calling|would like to know whos calling"}},
	"de": {
		tone: []string{"nach dem ton|nach dem signalton|nach dem piepton|nach dem piep"},
		sure: []string{"hinterlassen sie|hinterlasse|sprechen sie nach|nachricht hinterlassen|ihre nachricht",
			"anrufbeantworter|mailbox|sprachbox",
			"die gewählte rufnummer|die von ihnen gewählte|der gewünschte gesprächspartner|kein anschluss unter dieser nummer|teilnehmer ist",
			"drücken sie"},
		maybe: []string{"nicht erreichbar|nicht zu erreichen|momentan nicht da|nicht persönlich",
			"rufe sie zurück|rufe zurück|melde mich|rufen sie zurück", "so bald wie möglich|schnellstmöglich",
			"sie haben die|hier ist der anschluss", "außerhalb unserer|öffnungszeiten"},
		human: []string{"am apparat", "was kann ich für sie tun|wie kann ich ihnen helfen|wie kann ich helfen", "wer ist da|wer spricht",
			"einen moment|moment bitte"},
		asks:      []string{"nennen sie ihren namen|sagen sie ihren namen", "grund ihres anrufs|grund für ihren anruf|warum sie anrufen"},
		screening: []string{"anrufprüfung|anruffilter"}},
	"fr": {
		tone: []string{"après le bip|après le signal|après le bip sonore"},
		sure: []string{"laissez un message|laissez moi un message|laisser un message|laissez votre message", "messagerie|répondeur|boîte vocale",
			"le numéro que vous avez|votre correspondant", "appuyez sur|tapez"},
		maybe: []string{"pas disponible|ne suis pas disponible|absent|pas joignable", "vous rappellerai|vous rappelle|rappellerai",
			"dès que possible", "vous êtes bien"},
		human: []string{"à l appareil|à lappareil", "que puis je faire|comment puis je vous aider", "qui est à|cest qui",
			"ne quittez pas|un instant"},
		asks: []string{"dites votre nom|indiquez votre nom|donnez votre nom",
			"raison de votre appel|motif de votre appel|pourquoi vous appelez"},
		screening: []string{"filtrage"}},
	"es": {
		tone: []string{"después del tono|después de la señal|al oír la señal|tras la señal"},
		sure: []string{"deje un mensaje|deje su mensaje|deja un mensaje|dejar un mensaje|deja tu mensaje|grabe su mensaje",
			"buzón de voz|buzón|contestador",
			"el número que ha marcado|el número marcado|el teléfono al que llama|el abonado", "pulse|marque"},
		maybe: []string{"no está disponible|no estoy disponible|no puedo atender|no podemos atender|no puedo contestar",
			"te llamaré|le llamaré|devolveré la llamada|devolveremos", "lo antes posible", "ha llamado a|se ha comunicado con"},
		human: []string{"al habla|al aparato", "en qué puedo ayudar|en qué le puedo ayudar|en qué puedo ayudarle",
			"quién es|quién habla|de parte de quién", "un momento"},
		asks:      []string{"diga su nombre|di tu nombre|indique su nombre", "motivo de su llamada|motivo de la llamada|por qué llama"},
		screening: []string{"filtro de llamadas|filtrado de llamadas"}},
	"it": {
		tone: []string{"dopo il segnale|dopo il bip|dopo il tono|segnale acustico"},
		sure: []string{"lasciate un messaggio|lascia un messaggio|lasciare un messaggio|lasci un messaggio",
			"segreteria telefonica|segreteria|casella vocale",
			"il numero da lei|il numero selezionato|lutente da lei|il cliente da lei|utente", "prema|premere"},
		maybe: []string{"non è disponibile|non sono disponibile|non è raggiungibile|non posso rispondere|non possiamo rispondere",
			"richiamerò|richiameremo|ricontatterò", "appena possibile|al più presto"},
		human:     []string{"mi dica|come posso aiutarla|posso aiutarla", "chi parla|chi è", "un attimo|un momento"},
		asks:      []string{"dica il suo nome|pronunci il suo nome", "motivo della chiamata|motivo della sua chiamata|perché chiama"},
		screening: []string{"filtro chiamate"}},
	"pt": {
		tone: []string{"após o sinal|depois do sinal|após o bip|depois do bip"},
		sure: []string{"deixe uma mensagem|deixe a sua mensagem|deixe sua mensagem|deixe o seu recado|deixe seu recado|grave a sua mensagem",
			"caixa postal|caixa de mensagens|correio de voz|atendedor",
			"o número que marcou|o número chamado|o número para o qual|o assinante", "pressione|digite|marque"},
		maybe: []string{"não está disponível|não posso atender|não podemos atender|não estou disponível|indisponível",
			"retornarei|ligarei|retorno a ligação", "assim que possível|logo que possível"},
		human:     []string{"em que posso ajudar|como posso ajudar|posso ajudar", "quem fala|quem é", "um momento|só um minuto"},
		asks:      []string{"diga o seu nome|diga seu nome", "motivo da chamada|motivo da ligação|motivo da sua"},
		screening: []string{"filtro de chamadas"}},
	"ro": {
		tone: []string{"după semnalul|după ton|după bip|după semnal"},
		sure: []string{"lăsați un mesaj|lasă un mesaj|lăsa un mesaj|lăsați mesajul", "mesageria vocală|căsuța vocală|robot telefonic",
			"numărul apelat|numărul format|abonatul", "apăsați"},
		maybe: []string{"nu este disponibil|nu sunt disponibil|nu pot răspunde|nu putem răspunde|nu poate fi contactat",
			"vă voi suna|te sun|revin cu un apel", "cât mai curând"},
		human:     []string{"cu ce vă pot ajuta|cu ce pot să vă ajut", "cine este|cine sunteți|cine e", "un moment"},
		asks:      []string{"spuneți numele|spuneți vă numele", "motivul apelului|de ce sunați"},
		screening: []string{"filtrarea apelurilor"}},
	"da": {
		tone: []string{"efter tonen|efter bippet|efter klartonen"},
		sure: []string{"læg en besked|lægge en besked|indtal en besked|læg besked|indtal din besked",
			"telefonsvarer|telefonsvareren|mobilsvar|voicemail",
			"det nummer du har|abonnenten|personen du ringer", "tryk"},
		maybe: []string{"ikke tage telefonen|kan ikke træffes|ikke til stede|træffes ikke", "ringer tilbage|ringer dig op|vender tilbage",
			"hurtigst muligt|så snart"},
		human:     []string{"hvad kan jeg hjælpe|kan jeg hjælpe", "hvem taler jeg med|hvem er det", "et øjeblik"},
		asks:      []string{"sig dit navn|oplys dit navn", "hvorfor du ringer|grunden til dit opkald"},
		screening: []string{"opkaldsscreening"}},
	"lt": {
		tone: []string{"po signalo|po garsinio signalo|po pyptelėjimo"},
		sure: []string{"palikite žinutę|palikite pranešimą|palik žinutę", "balso paštas|autoatsakiklis|balso pašto",
			"abonentas|numeris kuriuo|jūsų surinktas", "paspauskite|spauskite"},
		maybe: []string{"negali atsiliepti|negaliu atsiliepti|nepasiekiamas|šiuo metu negalime", "perskambinsiu|perskambinsime",
			"kuo greičiau|kai tik galėsiu"},
		human:     []string{"kuo galiu padėti|kuo galėčiau padėti", "kas skambina|kas čia", "minutėlę|palaukite"},
		asks:      []string{"pasakykite savo vardą", "skambučio priežastį|kodėl skambinate"},
		screening: []string{"skambučių tikrinimas"}},
	"ar": {
		tone: []string{"بعد الصافرة|بعد سماع الصافرة|بعد النغمة|بعد سماع النغمة"},
		sure: []string{"اترك رسالة|اترك رسالتك|ترك رسالة|اترك لي رسالة", "البريد الصوتي|المجيب الآلي",
			"الرقم الذي طلبته|الرقم المطلوب|المشترك", "اضغط"},
		maybe:     []string{"غير متاح|غير متوفر|لا أستطيع الرد|لا يمكن الاتصال", "سأعاود الاتصال|سأتصل بك", "في أقرب وقت"},
		human:     []string{"كيف يمكنني مساعدتك|كيف أساعدك", "من معي|من المتحدث|مين معي", "لحظة"},
		screening: []string{"اذكر اسمك|قل اسمك", "سبب الاتصال|سبب اتصالك|لماذا تتصل"}},
}

// hold are words of those who put a call through: nothing to answer.
var hold = []string{"please hold", "hold on", "hold the line", "stay on the line", "one moment", "just a moment", "please wait",
	"please stand by", "try to connect", "connecting you", "connect you now",
	"einen moment", "bleiben sie", "bitte warten", "ne quittez pas", "un instant", "un momento", "espere", "attenda", "resti in linea",
	"aguarde", "um momento", "un moment", "așteptați", "et øjeblik", "vent venligst", "palaukite", "لحظة"}

// OnHold reports that text only asks to wait.
func OnHold(text string) bool {
	line := " " + strings.Join(english.Tokens(text), " ") + " "
	return len(strings.Fields(line)) <= 14 && count(hold, line) > 0
}

// Sentences are what a transcriber had better expect of those who answer calls in a language; nil where we have none.
func Sentences(language string) []string {
	if language != "en" {
		return nil
	}
	return expected
}

var expected = []string{
	"You have reached the voice mail of", "You have reached my voicemail.", "Please leave a message after the tone.",
	"Please leave your message after the beep.",
	"I can't take your call right now.", "I cannot come to the phone right now.", "I am not available right now.",
	"We are not available to take your call.",
	"Please leave your name and number and I will call you back as soon as I can.", "At the tone please record your message.",
	"When you have finished recording you may hang up.",
	"The person you are calling is not available.", "Your call has been forwarded to an automated voice messaging system.",
	"The number you have dialed is not in service.",
	"Please check the number and dial again.", "Sorry I missed your call.", "Leave a message and I will get back to you.",
	"Our office is currently closed.",
	"Nobody is at home.", "Speak after the beep.", "I am on the other line or away from my desk.",
	"The mailbox is full and can not accept any messages.",
	"The mobile customer you are calling is not available.", "The number you have called is switched off.",
	"The number you have called has changed.",
	"All of our agents are busy.", "Your call will be answered in the order it was received.", "This call may be recorded.",
	"For sales press one.", "For all other questions press two.", "Please enter your number followed by the pound key.",
	"Our opening hours are Monday to Friday from nine to five.",
	"The person you are calling is using a screening service.", "Please state your name and the reason for your call.",
	"Go ahead and say your name and why you are calling.",
	"If you record your name and reason for calling I will see if this person is available.", "Thank you. Please hold.",
	"Please stay on the line.",
	"I am the virtual assistant of the person you called.", "This call is being screened.", "Calls to this number are screened.",
	"Please say your name after the tone.",
	"Who is calling?", "What is your name?", "Who are you?", "What is this call about?", "Why are you calling?",
	"What is the purpose of your call?",
	"Tell me who you are and why you are calling.", "I will find out if they are available.", "I will let them know.",
	"Please wait while I connect you.",
	"The person you called does not recognize this number.",
	"Thank you for calling.", "How can I help you?", "This is Susan speaking.",
}
