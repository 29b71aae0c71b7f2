package auto

import (
	"encoding/base64"
	"strings"
)

const certificateBegins = "-----BEGIN CERTIFICATE-----\n"

// otherCertificates are two certificates of authorities, valid from 1990 to 2100. A user who
// replaces a certificate writes another one: a text that is none changes nothing in many operators.
var otherCertificates = []string{
	certificateBegins + `MIIBTjCB9aADAgECAgEBMAoGCCqGSM49BAMCMA4xDDAKBgNVBAMTA29uZTAgFw05
MDAxMDEwMDAwMDBaGA8yMTAwMDEwMTAwMDAwMFowDjEMMAoGA1UEAxMDb25lMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEfxZ0IrQxQmwlqcXekU+C0NS8HOjbpA3O
A497pHAZgzk6zUJf9RaW0yqMV+WLhRHQJ8ggky2/wJhHFz996xBcMqNCMEAwDgYD
VR0PAQH/BAQDAgIEMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFPKPCEntws8e
QUf8ZhbuAJy9BcCkMAoGCCqGSM49BAMCA0gAMEUCIQC6f/6TRYNpCJChJTIcdzt7
A4Q20D3JAQN4cxbMS1AsowIgbK4sRY+N7hGZoqR84JGN7ERRMpJa5J6CgjviHAqp
ch0=
-----END CERTIFICATE-----
`,
	certificateBegins + `MIIBTjCB9aADAgECAgECMAoGCCqGSM49BAMCMA4xDDAKBgNVBAMTA3R3bzAgFw05
MDAxMDEwMDAwMDBaGA8yMTAwMDEwMTAwMDAwMFowDjEMMAoGA1UEAxMDdHdvMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEcXFlzoy5yux4Lum1VQ2TR7lTeSVtccB2
mU9Y3Jun9EYjYJGDXAmMzhO0rcCFuK4gsFGc1AgCV2OuFyDE5Cqn06NCMEAwDgYD
VR0PAQH/BAQDAgIEMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFNYK14nebQ38
9XNlid+QqpY1BXx7MAoGCCqGSM49BAMCA0gAMEUCIQCspHMQYCoC0PebTtJDk2cs
EpPTqbuynS75SXWCX0NPEAIgT4XlVMqBcv13RFxjC92biJfHgbX3BghSp50xDl1X
yBI=
-----END CERTIFICATE-----
`,
}

// isCertificate reports whether the value of a sample is a certificate.
func isCertificate(text string, secret bool) bool {
	if secret {
		data, err := base64.StdEncoding.DecodeString(text)
		return err == nil && isCertificate(string(data), false)
	}
	return strings.HasPrefix(strings.TrimSpace(text), strings.TrimSpace(certificateBegins))
}
