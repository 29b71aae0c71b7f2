//go:build conformance

package conformance

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// The manifest of a campaign, as docs/scale-out.md shows it, is one that a real kube-apiserver
// takes: every field known, nothing said twice.
func TestCampaignJobIsAccepted(t *testing.T) {
	manifest, err := os.ReadFile("../docs/campaign-job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	body, err := yaml.YAMLToJSONStrict(manifest)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(real.cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body []byte
		want int
	}{
		{body, http.StatusCreated},
		// strict validation refuses these
		{bytes.Replace(body, []byte("backoffLimitPerIndex"), []byte("backOffLimitPerIndex"), 1), http.StatusBadRequest},
		{bytes.Replace(body, []byte(`"Indexed"`), []byte(`"NonIndexed"`), 1), http.StatusUnprocessableEntity},
	} {
		const jobs = "/apis/batch/v1/namespaces/default/jobs?dryRun=All&fieldValidation=Strict"
		address := strings.TrimSuffix(real.cfg.Host, "/") + jobs
		resp, err := client.Post(address, "application/json", bytes.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("the server answers %d, want %d: %s", resp.StatusCode, c.want, answer)
		}
	}
}
