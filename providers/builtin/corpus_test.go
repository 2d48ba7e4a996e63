package builtin

import (
	"slices"
	"testing"

	"parley/audio"
	"parley/providers/providertest"
	"parley/voice"
)

// callers are sentences as callers of a dental practice say them. None of them is in phrases.txt or in practice.
var callers = []string{
	"could you tell me how much a dental cleaning costs",
	"I need to cancel my reservation for tomorrow evening",
	"my phone number is five five five oh one nine nine",
	"can you tell me when you are open on Saturday",
	"is there parking near the practice",
	"I would like to book an appointment for Tuesday afternoon",
	"no thank you I do not need anything else",
	"I want to talk to a real person please",
	"my name is Robert Johnson",
	"do you take patients from Maple Street",
	"the order number is four seven two nine one",
	"I am calling about an invoice I received last week",
	"what is the price of the monthly plan",
	"please send me a confirmation by email",
	"a table for four people at seven thirty",
	"I have a problem with my internet connection",
	"when will the technician arrive",
	"does a filling hurt very much",
	"how long does the treatment take",
	"goodbye and have a nice day",
}

// practice is what the assistant of that practice is made of.
var practice = []string{
	"Good morning, this is Maple Dental, how can I help you?",
	"You are the friendly receptionist of Maple Dental at 12 Maple Street. Book appointments, answer questions about opening hours and prices, and take messages for the dentist.",
	"We are open Monday to Friday from 8:30 to 17:00 and on Saturday from 9am to 1pm. Closed on Sunday.",
	"A dental cleaning costs $120 and takes 45 minutes. A filling costs from $180. Invoices are sent by email and payable within 14 days.",
	"There is parking behind the building. The nearest bus stop is Maple Street/Oak Avenue.",
}

// overPhone is a sentence as it arrives: spoken by one of the voices, at 8 kHz through G.711, or at 16 kHz untouched.
func overPhone(t testing.TB, text, who string, rate int) providertest.Utterance {
	t.Helper()
	f, err := engines.Render(t.Context(), voice.Speech{Text: text, Voice: who, Stability: 1, Similarity: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := audio.NewResampler(f.Rate, rate)
	pcm := slices.Clone(r.Process(f.PCM))
	pcm = append(pcm, r.Flush()...)
	pcm = slices.Concat(make([]int16, rate/5), pcm, make([]int16, rate*2/5))
	if rate == 8000 {
		coded := make([]byte, len(pcm))
		audio.EncodeMuLaw(coded, pcm)
		audio.DecodeMuLaw(pcm, coded)
	}
	return providertest.Utterance{PCM: pcm, Words: join(wordings(text))}
}

func join(sentences [][]string) (s string) {
	for _, words := range sentences {
		for _, w := range words {
			s += w + " "
		}
	}
	return s
}
