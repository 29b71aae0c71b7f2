package release

import (
	"io"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	kubefake "helm.sh/helm/v3/pkg/kube/fake"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
)

// shop is a chart with two dependencies: one that gives it values, and one that is off.
func shop() *chart.Chart {
	child := func(name string) *chart.Chart {
		text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
		return &chart.Chart{
			Metadata:  &chart.Metadata{APIVersion: "v2", Name: name, Version: "1.0.0"},
			Values:    map[string]any{"port": 80},
			Templates: []*chart.File{{Name: "templates/c.yaml", Data: []byte(text)}},
		}
	}
	ch := child("shop")
	ch.Values = map[string]any{"extra": map[string]any{"enabled": false}}
	ch.Metadata.Dependencies = []*chart.Dependency{
		{Name: "cart", Version: "1.0.0", ImportValues: []any{map[string]any{"child": "port", "parent": "cart"}}},
		{Name: "extra", Version: "1.0.0", Condition: "extra.enabled"},
	}
	ch.AddDependency(child("cart"), child("extra"))
	return ch
}

// nowhere is a client without a cluster.
func nowhere() *Client {
	return &Client{Name: "r", Namespace: "ns", Config: &action.Configuration{
		Releases: storage.Init(driver.NewMemory()), KubeClient: &kubefake.PrintingKubeClient{Out: io.Discard},
		Capabilities: chartutil.DefaultCapabilities, Log: func(string, ...any) {}}}
}

// A chart and its digest are the same after Helm has rendered it, so that several users may share
// it.
func TestHelmDoesNotChangeItsChart(t *testing.T) {
	given := map[string]any{"size": 3}
	ch := shop()
	before := Digest(ch, given)
	c := nowhere()
	if _, err := c.DryInstall(ch, given); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Install(ch, given); err != nil {
		t.Fatal(err)
	}
	made, err := c.Upgrade(ch, given)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.NeedsUpgrade(made, ch, given); err != nil {
		t.Fatal(err)
	}
	if after := Digest(ch, given); after != before || len(ch.Dependencies()) != 2 {
		t.Errorf("the digest was %s and is %s; there are %d dependencies", before, after, len(ch.Dependencies()))
	}
	if n := len(made.Chart.Dependencies()); n != 1 {
		t.Errorf("Helm kept %d dependencies of its own copy, so this shows nothing", n)
	}
	if Digest(shop(), given) != before || Digest(shop(), nil) == before {
		t.Error("a digest is not that of the chart and the values")
	}
}

// Values that are removed are gone for a holder. Helm would keep those of the release.
func TestValuesAreReset(t *testing.T) {
	for holder, reset := range map[string]bool{"": false, "a": true} {
		c := nowhere()
		c.Holder.Name = holder
		if _, err := c.Install(shop(), map[string]any{"size": 3}); err != nil {
			t.Fatal(err)
		}
		made, err := c.Upgrade(shop(), map[string]any{})
		if err != nil {
			t.Fatal(err)
		}
		if _, left := made.Config["size"]; left == reset {
			t.Errorf("reset: %t; the values are %v", reset, made.Config)
		}
	}
}
