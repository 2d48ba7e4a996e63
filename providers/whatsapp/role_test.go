package whatsapp

import (
	"testing"

	"parley/messaging"
	"parley/providers/providertest"
)

func TestGatewayRole(t *testing.T) {
	const send = "POST /v23.0/100/messages"
	c := graph(t,
		exchange{"GET /v23.0/100?fields=display_phone_number,verified_name,quality_rating,messaging_limit_tier,status", "", "", `{"display_phone_number":"+1 415-555-0123","status":"CONNECTED"}`},
		exchange{"GET /v23.0/200/message_templates?fields=id%2Cname%2Clanguage%2Cstatus%2Ccategory%2Cparameter_format%2Crejected_reason%2Ccomponents&limit=100", "", "",
			`{"data":[{"id":"1","name":"ready","language":"de","status":"APPROVED","category":"MARKETING","components":[{"type":"BODY","text":"Hi {{1}}."}]}]}`},
		exchange{send, "", "", `{"messages":[{"id":"wamid.1"}]}`},
		exchange{send, "", "", `{"messages":[{"id":"wamid.2"}]}`},
		exchange{send, "", "400", `{"error":{"message":"(#132001) Template name does not exist in the translation","code":132001}}`},
	)
	providertest.Gateway(t, c, sender, messaging.Template{Name: "ready", Language: "de", CarrierRef: "1"}, messaging.Template{Name: "none", Language: "de", CarrierRef: "none"}, []string{"Mia"})
}
