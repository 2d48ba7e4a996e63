package api

import (
	"parley/fault"
	"parley/wire"
)

// The areas word their failures differently; routes.go says which route belongs to which.
var (
	// messages is {"message":…}: assistants, calls, campaigns, leads, tools, SMS, keys, folders, labels.
	messages = wire.Area{Name: "messages", Fields: true, Shape: func(f *fault.Fault) any { return wire.Message{Message: f.Message} }}

	// errorsOnly is {"error":…}: knowledgebases, documents, phone numbers, trunks.
	errorsOnly = wire.Area{Name: "errors", Fields: true, Shape: func(f *fault.Fault) any { return errorShape{f.Message} }}

	// whatsapp is {"success":false,"error":…,"error_code":…}: WhatsApp and the AI reply.
	whatsapp = wire.Area{Name: "whatsapp", Fields: true, Says: dataInvalid, Shape: func(f *fault.Fault) any {
		return codedShape{false, f.Message, f.Code}
	}}

	// switches is {"message":…,"success":false}: campaign start and stop.
	switches = wire.Area{Name: "switches", Fields: true, Shape: func(f *fault.Fault) any { return switchShape{f.Message, false} }}

	// conversations is {"status":false,"error":…}, for failed rules too: keyless chat and web calls.
	conversations = wire.Area{Name: "conversations", Phrase: fault.Terse, Shape: func(f *fault.Fault) any {
		return statusShape{false, f.Message}
	}}
)

// Top-level messages of validation answers, for areas that use one: messages.Saying(validationFailed).
const (
	validationFailed = "Validation failed"           // assistant create and update, tool update
	dataInvalid      = "The given data was invalid." // webhook switches, campaign create, trunks, make call, WhatsApp
)

type (
	errorShape struct {
		Error string `json:"error"`
	}
	codedShape struct {
		Success bool   `json:"success"`
		Error   string `json:"error"`
		Code    string `json:"error_code"`
	}
	switchShape struct {
		Message string `json:"message"`
		Success bool   `json:"success"`
	}
	statusShape struct {
		Status bool   `json:"status"`
		Error  string `json:"error"`
	}
)
