package builtin

import (
	"time"

	"parley/voice/pickup"
)

// heldOut are answers in other words, on which no rule was adjusted: what becomes of them shows how the rules do with
// strangers. Nobody looks into what is missed here to mend it; new answers take their place when somebody did.
var heldOut = []answer{
	{pickup.Human, []sound{says("Mm, go ahead.")}},
	{pickup.Human, []sound{says("Hey you, I was about to ring you.")}},
	{pickup.Human, []sound{says("Who is it?")}},
	{pickup.Human, []sound{says("Sales desk, Martin here.")}},
	{pickup.Human, []sound{says("Doctor Webb's surgery, which patient is it about?")}},
	{pickup.Human, []sound{says("Yep.")}},
	{pickup.Human, []sound{says("Hi there, sorry for the noise, we are on the train.")}},
	{pickup.Human, []sound{says("Pizzeria Bella, pickup or delivery?")}},
	{pickup.Human, []sound{says("Hello?"), waits(1400 * time.Millisecond), says("Is anybody there?")}},
	{pickup.Human, []sound{says("Front desk, good day, do you have a booking with us?")}},
	{pickup.Human, []sound{says("Morning!"), waits(2200 * time.Millisecond), says("Right, and could you tell me the purpose of your call? I have to ask everybody.")}},
	{pickup.Human, []sound{says("Wilson household, this is Betty, the children are out at the moment.")}},

	{pickup.Machine, recorded("It's Joe's phone. You know what to do.", 1050, 400)},
	{pickup.Machine, recorded("Dave and Lucy are out enjoying the sun. Talk to us once the machine peeps.", 800, 300)},
	{pickup.Machine, recorded("Thanks for ringing Northern Plumbing. Nobody is in the workshop before eight. Tell us your number and somebody rings you.", 700, 500)},
	{pickup.Machine, []sound{says("The mobile phone you wish to speak to is switched off. Please send a text instead.")}},
	{pickup.Machine, []sound{says("Welcome to the tax office. All our lines are busy. You are number seven in the queue.")}},
	{pickup.Machine, []sound{says("Sorry, this inbox is full and takes no more recordings. Goodbye.")}},
	{pickup.Machine, append([]sound{says("Hello, Anna here."), waits(time.Second)}, recorded("Ha, got you. Speak now.", 1250, 250)...)},
	{pickup.Machine, recorded("The Carter family is travelling until Sunday. Say who you are and we shall ring you.", 600, 350)},

	{pickup.Screening, []sound{says("Hello. The owner of this phone does not know your number. Say who is calling and what it is about, and I will let them know.")}},
	{pickup.Screening, []sound{says("This call is being screened by an assistant. Who are you, and why do you want to speak to them?")}},

	{pickup.Fax, []sound{waits(1500 * time.Millisecond), {hz: []float64{2100}, each: 2500 * time.Millisecond, phased: true}}},
	{pickup.Machine, []sound{tones(330*time.Millisecond, 985, 1428, 1777), waits(300 * time.Millisecond), says("All circuits are occupied. Please hang up.")}},
}
