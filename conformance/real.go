package conformance

// The real arm: etcd and kube-apiserver, compiled from the Go module proxy (hack/envtest) and
// started once for a suite.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Real is a running control plane.
type Real struct {
	env  *envtest.Environment
	cfg  *rest.Config
	etcd *url.URL
}

// controlPlane is one that has not been started, with definitions.
func controlPlane(crds []*apiextensionsv1.CustomResourceDefinition) (*envtest.Environment, error) {
	assets, err := findAssets()
	if err != nil {
		return nil, err
	}
	env := &envtest.Environment{
		BinaryAssetsDirectory:    assets,
		CRDs:                     crds,
		ControlPlaneStartTimeout: time.Minute,
		ControlPlaneStopTimeout:  20 * time.Second,
	}
	// Any address will do, but without one a machine that has no default route is refused.
	env.ControlPlane.GetAPIServer().Configure().Set("advertise-address", "192.0.2.1")
	// The range that kubeadm gives, and the model.
	env.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.96.0.0/12")
	return env, nil
}

// StartReal starts the control plane, or says what to do.
func StartReal() (*Real, error) {
	env, err := controlPlane(CRDs())
	if err != nil {
		return nil, err
	}
	cfg, err := env.Start()
	if err != nil {
		_ = env.Stop()
		return nil, fmt.Errorf("starting the control plane from %s: %w", env.BinaryAssetsDirectory, err)
	}
	r := &Real{env: env, cfg: cfg, etcd: env.ControlPlane.Etcd.URL}
	if err := r.settle(); err != nil {
		return nil, fmt.Errorf("starting: %w", errors.Join(err, env.Stop()))
	}
	return r, nil
}

// findAssets says where the binaries are. Nothing is skipped when they are absent: a conformance
// run that compares nothing must not look like one that agrees.
func findAssets() (string, error) {
	dir := os.Getenv("KUBEBUILDER_ASSETS")
	if dir == "" {
		dir, _ = filepath.Abs(filepath.Join("..", "bin", "envtest"))
	}
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("no %s in %s: run `make envtest-assets`, "+
				"which compiles the control plane from the Go "+
				"module proxy (five to ten minutes of CPU, once), or set KUBEBUILDER_ASSETS to a folder that has "+
				"both", name, dir)
		}
	}
	return dir, nil
}

// settle creates one object of each custom kind: a kind's path is there some time after its
// definition is established, and the first creates are held back for two seconds, which would
// otherwise be some row's time.
func (r *Real) settle() error {
	client, err := rest.HTTPClientFor(r.cfg)
	if err != nil {
		return err
	}
	for _, name := range []string{"widget", "gadget", "realm"} {
		k := kinds[name]
		p, _, _ := path(name, "default")
		body := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"settle"}}`, k.apiVersion, k.kind)
		for tries := 0; ; tries++ {
			resp, err := client.Post(strings.TrimSuffix(r.cfg.Host, "/")+p, "application/json",
				bytes.NewReader([]byte(body)))
			if err != nil {
				return err
			}
			data, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusCreated {
				break
			}
			if tries > 100 {
				return fmt.Errorf("creating the first %s: %s: %s", k.kind, resp.Status, data)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return nil
}

// Name implements [Arm].
func (*Real) Name() string { return "kube-apiserver" }

// Config implements [Arm].
func (r *Real) Config() *rest.Config {
	cfg := rest.CopyConfig(r.cfg)
	cfg.QPS = -1
	return cfg
}

// Stop ends the control plane.
func (r *Real) Stop() error { return r.env.Stop() }

// Compact implements [Arm] through etcd's JSON gateway, which saves an etcd client.
func (r *Real) Compact(ctx context.Context) error {
	var head struct {
		Header struct {
			Revision string `json:"revision"`
		} `json:"header"`
	}
	if err := r.call(ctx, "/v3/kv/range", `{"key":"AA=="}`, &head); err != nil {
		return err
	}
	return r.call(ctx, "/v3/kv/compaction", fmt.Sprintf(`{"revision":%q}`, head.Header.Revision), nil)
}

func (r *Real) call(ctx context.Context, path, body string, into any) error {
	u := *r.etcd
	u.Path = path
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd: %s: %s", path, resp.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
