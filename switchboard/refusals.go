package switchboard

import "parley/fault"

// Why a call is not placed, beside a fault.TooMany when some ceiling is reached.
var (
	ErrPhone       = fault.New(fault.Malformed, "", "This phone number cannot be dialled. Write it in E.164 form, for example +1234567890.")
	ErrNoAssistant = fault.New(fault.NotFound, "", "No assistant with this id exists in your account.")
	ErrNotOutbound = fault.New(fault.Invalid, "", "Assistant is not an outbound assistant.")
	ErrPaused      = fault.New(fault.Invalid, "", "Assistant is inactive.")
	ErrLanguage    = fault.New(fault.Invalid, "", "No configured engine supports this language.")
	ErrNoNumber    = fault.New(fault.Invalid, "", "Assistant has no phone number to call from.")
	ErrDoNotCall   = fault.New(fault.Invalid, "", "This phone number is on the do-not-call list.")
	ErrDestination = fault.New(fault.Invalid, "", "Calls to this destination are not allowed.")
	ErrNoFunds     = fault.New(fault.Invalid, "", "Your balance does not cover this call. Add funds, then try again.")
)
