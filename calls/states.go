package calls

import "slices"

// Status of a call, contract 14.5.
type Status string

// The ten statuses.
const (
	Initiated        Status = "initiated"
	Ringing          Status = "ringing"
	InProgress       Status = "in-progress"
	EndedByCustomer  Status = "ended_by_customer"  // short: costs and evaluation are on their way
	EndedByAssistant Status = "ended_by_assistant" // likewise
	Ended            Status = "ended"              // likewise, ended otherwise
	Completed        Status = "completed"
	Busy             Status = "busy"
	NoAnswer         Status = "no-answer"
	Failed           Status = "failed"
)

// Statuses are all of them, in the order of the contract.
var Statuses = []Status{Initiated, Ringing, InProgress, EndedByCustomer, EndedByAssistant, Ended, Completed, Busy, NoAnswer, Failed}

// Live reports a call that goes on.
func (s Status) Live() bool { return s == Initiated || s == Ringing || s == InProgress }

// Final reports a state that is never left.
func (s Status) Final() bool { return s == Completed || s == Busy || s == NoAnswer || s == Failed }

// Step is one allowed transition. docs/states.md is generated from the steps and the reasons.
type Step struct {
	From    []Status
	Trigger string
	To      []Status
	Also    string
}

// Steps are all transitions of a call.
var Steps = []Step{
	{nil, "make call, campaign, web call accepted, inbound INVITE accepted for processing", []Status{Initiated}, "hold placed"},
	{[]Status{Initiated}, "provisional answer of the far end (inbound: at once)", []Status{Ringing}, ""},
	{[]Status{Initiated, Ringing}, "answered", []Status{InProgress}, "duration starts"},
	{[]Status{Initiated, Ringing}, "ended before the answer, see the reasons", []Status{Busy, NoAnswer, Failed}, "final; hold freed"},
	{[]Status{InProgress}, "hang-up by customer, by assistant, otherwise", []Status{EndedByCustomer, EndedByAssistant, Ended},
		"transcript closed, evaluation, costs"},
	{[]Status{EndedByCustomer, EndedByAssistant, Ended}, "work after the call done, at the latest 60 s later", []Status{Completed},
		"final; webhooks queued"},
	{[]Status{InProgress}, "engine lost beyond recovery", []Status{Failed}, "final"},
}

// May reports whether a call may go from one status to another.
func May(from, to Status) bool {
	return slices.ContainsFunc(Steps, func(s Step) bool { return slices.Contains(s.From, from) && slices.Contains(s.To, to) })
}

// Reason is why a call ended, the ended_reason of the contract.
type Reason string

// The reasons.
const (
	CustomerHangup       Reason = "customer_hangup"
	AssistantHangup      Reason = "assistant_hangup"
	MaxDuration          Reason = "max_duration"
	SilenceTimeout       Reason = "silence_timeout"
	InitialSilence       Reason = "initial_silence_timeout"
	VoicemailDetected    Reason = "voicemail_detected"
	VoicemailMessageLeft Reason = "voicemail_message_left"
	FaxDetected          Reason = "fax_detected"
	Transferred          Reason = "transferred"
	WarmTransferred      Reason = "warm_transferred"
	APIHangup            Reason = "api_hangup"
	CampaignStopped      Reason = "campaign_stopped"
	BalanceExhausted     Reason = "balance_exhausted"
	AccountSuspended     Reason = "account_suspended"
	ServerShutdown       Reason = "server_shutdown"
	MediaTimeout         Reason = "media_timeout"
	NoAnswerReason       Reason = "no_answer"
	CallerAbandoned      Reason = "caller_abandoned"
	BusyReason           Reason = "busy"
	Declined             Reason = "declined"
	InvalidNumber        Reason = "invalid_number"
	NumberBlocked        Reason = "number_blocked"
	CarrierRejected      Reason = "carrier_rejected"
	CarrierError         Reason = "carrier_error"
	NoCommonCodec        Reason = "no_common_codec"
	NoRoute              Reason = "no_route"
	ConcurrencyLimit     Reason = "concurrency_limit"
	InsufficientBalance  Reason = "insufficient_balance"
	AssistantInactive    Reason = "assistant_inactive"
	EngineFailure        Reason = "engine_failure"
	ServerRestart        Reason = "server_restart"
)

// By is who ended a call.
type By string

// The three parties.
const (
	ByCustomer  By = "customer"
	ByAssistant By = "assistant"
	BySystem    By = "system"
)

// ReasonInfo says what a reason leads to.
type ReasonInfo struct {
	Reason     Reason
	Meaning    string
	Answered   Status // final status of a call that had been answered
	Unanswered Status // and of one that had not
	By         By
	Lead       string // what it means for a campaign's lead
}

// Reasons are all reasons in the order of the contract.
var Reasons = []ReasonInfo{
	{CustomerHangup, "far end hung up", Completed, NoAnswer, ByCustomer, "reached"},
	{AssistantHangup, "end_call", Completed, Failed, ByAssistant, "reached"},
	{MaxDuration, "longest duration of the assistant", Completed, Failed, BySystem, "reached if the customer ever spoke, else retry"},
	{SilenceTimeout, "nobody made a sound for too long", Completed, Failed, BySystem, "reached if the customer ever spoke, else retry"},
	{InitialSilence, "the customer never made a sound", Completed, Failed, BySystem, "reached if the customer ever spoke, else retry"},
	{VoicemailDetected, "an answering machine, hung up", Completed, Failed, ByAssistant, "machine"},
	{VoicemailMessageLeft, "an answering machine, message left", Completed, Failed, ByAssistant, "machine"},
	{FaxDetected, "fax tone", Completed, Failed, BySystem, "number wrong"},
	{Transferred, "call_transfer", Completed, Failed, BySystem, "reached"},
	{WarmTransferred, "warm_call_transfer", Completed, Failed, BySystem, "reached"},
	{APIHangup, "ended over the API", Completed, Failed, BySystem, "reached"},
	{CampaignStopped, "its campaign was stopped", Completed, Failed, BySystem, "not counted"},
	{BalanceExhausted, "the paid time was over", Completed, Failed, BySystem, "retry"},
	{AccountSuspended, "the account was suspended", Completed, Failed, BySystem, "retry"},
	{ServerShutdown, "the server was stopped", Completed, Failed, BySystem, "retry"},
	{MediaTimeout, "30 s without media", Completed, Failed, BySystem, "retry when under 10 s"},
	{NoAnswerReason, "ringing time over; 408, 480, 3xx that is not followed", NoAnswer, NoAnswer, BySystem, "retry"},
	{CallerAbandoned, "inbound caller left before the answer", NoAnswer, NoAnswer, ByCustomer, "–"},
	{BusyReason, "486, 600", Busy, Busy, BySystem, "retry"},
	{Declined, "603", Busy, Busy, BySystem, "retry"},
	{InvalidNumber, "404, 410, 484, 604", Failed, Failed, BySystem, "number wrong"},
	{NumberBlocked, "do-not-call list", Failed, Failed, BySystem, "blacklisted"},
	{CarrierRejected, "401, 403, 407, 606", Failed, Failed, BySystem, "retry"},
	{CarrierError, "5xx, no answer to signalling", Failed, Failed, BySystem, "retry"},
	{NoCommonCodec, "488", Failed, Failed, BySystem, "retry"},
	{NoRoute, "refused here (inbound: 480)", Failed, Failed, BySystem, "retry"},
	{ConcurrencyLimit, "refused here (inbound: 486)", Failed, Failed, BySystem, "retry"},
	{InsufficientBalance, "refused here (inbound: 480)", Failed, Failed, BySystem, "retry"},
	{AssistantInactive, "refused here (inbound: 480)", Failed, Failed, BySystem, "retry"},
	{EngineFailure, "an engine was lost beyond recovery", Failed, Failed, BySystem, "retry"},
	{ServerRestart, "the server was lost", Completed, Failed, BySystem, "retry"},
}

// Info is what the reason leads to. An unknown one is a failure of ours.
func (r Reason) Info() ReasonInfo {
	for _, i := range Reasons {
		if i.Reason == r {
			return i
		}
	}
	return ReasonInfo{Reason: r, Answered: Failed, Unanswered: Failed, By: BySystem}
}

// end is the status a live call goes to when it ends: final, or a short state until the work after the call is done.
func (r Reason) end(answered bool) Status {
	i := r.Info()
	switch {
	case !answered:
		return i.Unanswered
	case i.Answered != Completed:
		return i.Answered
	case i.By == ByCustomer:
		return EndedByCustomer
	case i.By == ByAssistant:
		return EndedByAssistant
	}
	return Ended
}

// ReasonForCode is what the SIP status of a refused outbound INVITE means; 0 is no answer to signalling at all.
func ReasonForCode(code int) Reason {
	switch code {
	case 300, 301, 302, 305, 380, 408, 480, 487: // moved: not here, and not to where we may follow
		return NoAnswerReason
	case 486, 600:
		return BusyReason
	case 603:
		return Declined
	case 404, 410, 484, 604:
		return InvalidNumber
	case 401, 403, 407, 606:
		return CarrierRejected
	case 488:
		return NoCommonCodec
	}
	return CarrierError
}
