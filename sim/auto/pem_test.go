package auto

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"testing"
	"time"
)

// Users replace a certificate by another one, and also by a text that is none.
func TestCertificatesAreReplaced(t *testing.T) {
	sample := otherCertificates[1]
	for secret, text := range map[bool]string{false: sample, true: base64.StdEncoding.EncodeToString([]byte(sample))} {
		valid := map[string]bool{}
		for variant := range variants {
			got := another(text, secret, variant).(string)
			if secret {
				data, err := base64.StdEncoding.DecodeString(got)
				if err != nil {
					t.Fatal(err)
				}
				got = string(data)
			}
			block, _ := pem.Decode([]byte(got))
			if block == nil {
				continue
			}
			c, err := x509.ParseCertificate(block.Bytes)
			start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of a run
			if err != nil || c.NotBefore.After(start) || c.NotAfter.Before(start.AddDate(90, 0, 0)) {
				t.Fatalf("variant %d (%v): %+v", variant, err, c)
			}
			valid[got] = true
		}
		if len(valid) != 2 {
			t.Errorf("secret %v: %d of %d values are certificates", secret, len(valid), variants)
		}
	}
	if got := another("none", false, 0); got != "1" {
		t.Errorf("a text becomes %v", got)
	}
}
