//go:build linux

package main

// What decides is judged by texts and voices that nobody tuned anything with: tuning hears kal16 and rms say turnsSaid, the held-out
// figures hear awb and slt say these.
var heldTurns = []utterance{
	{kind: whole, script: "is the museum open on public holidays"},
	{kind: pauses, script: "I am calling because {600} my heating does not work"},
	{kind: dictation, script: "you can reach me at {500} two one two {500} five five five {600} zero one nine eight"},
	{kind: whole, script: "what would a new set of tyres cost me"},
	{kind: pauses, script: "so we {500} we wanted to come on {700} Saturday evening"},
	{kind: dictation, script: "nine eight {450} one seven {450} three three {500} six"},
	{kind: whole, script: "no that was everything"},
	{kind: pauses, script: "do you have {800} anything in the afternoon"},
	{kind: dictation, script: "that is S {400} C {400} H {400} U {400} L {400} Z"},
	{kind: whole, script: "I would like to speak with your manager"},
	{kind: pauses, script: "my daughter has a fever {550} and she cannot sleep"},
	{kind: dictation, script: "my customer number is {600} six one {500} seven seven {500} two zero nine"},
	{kind: whole, script: "Tuesday at ten works for me"},
	{kind: pauses, script: "can you check {650} whether my parcel has arrived"},
	{kind: dictation, script: "it is john {450} dot miller {450} at mail {450} dot org"},
	{kind: whole, script: "please move my appointment to next week"},
	{kind: pauses, script: "the last time I was there {500} I paid in cash"},
	{kind: dictation, script: "born on the {400} fifth of {450} March {500} nineteen eighty two"},
	{kind: whole, script: "how long does the delivery take"},
	{kind: pauses, script: "I need the one with {900} with the blue cover"},
	{kind: dictation, script: "five five five {700} eight four two {700} one one nine six"},
	{kind: whole, script: "great see you tomorrow then"},
	{kind: pauses, script: "uh {700} give me a second {800} I think it was the seventh"},
	{kind: dictation, script: "plus four four {500} twenty {500} seven nine four six {600} zero eight eight one"},
	{kind: whole, script: "where can I leave my bags"},
	{kind: pauses, script: "there is another thing {600} could you also change my address"},
	{kind: dictation, script: "the licence plate is K {400} nine {400} four {400} T {400} X"},
	{kind: whole, script: "I did not get the invoice"},
	{kind: pauses, script: "it would be for {750} five adults and a baby"},
	{kind: dictation, script: "the last four digits are {600} three eight {500} zero two"},
}

var heldObjections = []utterance{
	{script: "sorry I did not understand that"},
	{script: "no no that is the wrong address"},
	{script: "wait can you say the price again"},
	{script: "I already did that last week"},
	{script: "hang on my phone is ringing"},
	{script: "please stop reading all of this"},
	{script: "that does not help me at all"},
	{script: "actually I want to change the date"},
}

var heldBackChannels = []utterance{
	{script: "okay"}, {script: "mm hm"}, {script: "yes"}, {script: "right"}, {script: "I see"}, {script: "sure"}, {script: "uh huh"}, {script: "good"},
}
