// This file exists for what leaves the cluster: an entry in a call log for every call of a handler,
// which no name of a child can hide and no crash can undo.

package throttle

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/history"
)

// callLogHost is where the call log is kept.
const callLogHost = "ledger.example"

// serveCallLog puts the call log into the world.
func (s *World) serveCallLog() {
	s.External(callLogHost, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		history.AddEffect(r.Context(), history.Effect{Kind: "call", Key: strings.TrimPrefix(r.URL.Path, "/")})
	}))
}

// enter writes a call into the call log: of which handler, for which generation of which object.
func enter(ctx context.Context, config *rest.Config, object *unstructured.Unstructured, serial int) error {
	url := fmt.Sprintf("http://%s/%s/%d/%d", callLogHost, object.GetUID(), object.GetGeneration(), serial)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return err
	}
	res, err := (&http.Client{Transport: config.Transport}).Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("the call log says %s", res.Status)
	}
	return nil
}

// entry reads what enter has written.
func entry(path string) (uid string, c change) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(parts) != 3 {
		panic(fmt.Sprintf("%q is no entry of the call log", path))
	}
	return parts[0], changeOf(parts[1], parts[2])
}

func changeOf(generation, serial string) change {
	g, err := strconv.ParseInt(generation, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("%q is no generation", generation))
	}
	return change{g, serial}
}

// provision is a handler that writes its call into the call log, makes its child, and returns as
// much as the object's spec.output asks for.
func provision(config *rest.Config, serial int, echo bool) func(context.Context, throttle.Task) (any, error) {
	do := throttle.Provision(serial, echo)
	return func(ctx context.Context, t throttle.Task) (any, error) {
		if err := enter(ctx, config, t.Object, serial); err != nil {
			return nil, err
		}
		result, err := do(ctx, t)
		if n, _, _ := unstructured.NestedInt64(t.Object.Object, "spec", "output"); n > 0 && err == nil {
			result = strings.Repeat("x", int(n))
		}
		return result, err
	}
}
