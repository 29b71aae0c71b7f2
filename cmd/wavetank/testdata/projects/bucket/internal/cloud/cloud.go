// Package cloud has what the operator needs of a provider of object storage.
package cloud

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Buckets makes and removes buckets.
type Buckets interface {
	Ensure(ctx context.Context, name, region string, versioning bool) error
	Remove(ctx context.Context, name string) error
}

// NewBuckets returns the buckets of an account.
func NewBuckets(endpoint, account string) Buckets {
	return &remote{endpoint: endpoint, account: account}
}

type remote struct{ endpoint, account string }

func (r *remote) Ensure(ctx context.Context, name, region string, versioning bool) error {
	q := url.Values{"region": {region}, "versioning": {fmt.Sprint(versioning)}}
	return r.send(ctx, http.MethodPut, name+"?"+q.Encode())
}

func (r *remote) Remove(ctx context.Context, name string) error {
	return r.send(ctx, http.MethodDelete, name)
}

func (r *remote) send(ctx context.Context, method, path string) error {
	req, err := http.NewRequestWithContext(ctx, method, r.endpoint+"/"+r.account+"/"+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 400 && resp.StatusCode != http.StatusNotFound {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return nil
}
