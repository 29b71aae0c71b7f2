package realserver

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/ptr"

	"github.com/wavetank/wavetank/models/apiserver"
)

// The real server calls the webhooks of a world on the loopback interface. Clients read the
// configuration that they have written.
func TestWebhooksAreReached(t *testing.T) {
	s := &listener{}
	var asked *apiserver.WebhookCall
	answer := apiserver.WebhookAnswer{Code: http.StatusOK, Body: []byte("allowed")}
	s.AskWebhooks(func(c *apiserver.WebhookCall, done func(apiserver.WebhookAnswer)) { asked = c; done(answer) })
	written := admissionregv1.ValidatingWebhookConfiguration{Webhooks: []admissionregv1.ValidatingWebhook{
		{Name: "a.example", ClientConfig: admissionregv1.WebhookClientConfig{CABundle: []byte("x"),
			Service: &admissionregv1.ServiceReference{Namespace: "op", Name: "hooks", Path: ptr.To("/validate")}}},
		{Name: "b.example", ClientConfig: admissionregv1.WebhookClientConfig{URL: ptr.To("https://policy.example/b")}},
	}}
	text, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := s.redirect(apiserver.Info{Group: admissionregv1.GroupName,
		Resource: "validatingwebhookconfigurations"}, text)
	if err != nil {
		t.Fatal(err)
	}
	defer s.http.Close()
	var stored, read admissionregv1.ValidatingWebhookConfiguration
	if err := errors.Join(json.Unmarshal(sent, &stored), json.Unmarshal(s.restore(sent), &read)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(written, read); diff != "" {
		t.Errorf("written (-) and read (+):\n%s", diff)
	}
	for i, want := range []string{
		"https://hooks.op.svc:443/validate?timeout=7s", "https://policy.example/b?timeout=7s",
	} {
		c := stored.Webhooks[i].ClientConfig
		trusted := x509.NewCertPool()
		trusted.AppendCertsFromPEM(c.CABundle)
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
		call := func() (*http.Response, error) {
			return client.Post(*c.URL+"?timeout=7s", "application/json", bytes.NewReader([]byte("review")))
		}
		resp, err := call()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(got) != "allowed" || string(asked.Body) != "review" ||
			asked.Name != read.Webhooks[i].Name {
			t.Errorf("%s is asked %q and answers %q, %v", asked.Name, asked.Body, got, err)
		}
		if asked.Address() != want {
			t.Errorf("asked at %s, want %s", asked.Address(), want)
		}
		answer.Err = errors.New("refused")
		if resp, err := call(); err == nil {
			resp.Body.Close()
			t.Error("a webhook that is down answers")
		}
		answer.Err = nil
	}
}
