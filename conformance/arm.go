package conformance

// An arm is a server to which rows are sent. There are two: model.go and real.go.

import (
	"context"

	"k8s.io/client-go/rest"
)

// Arm is one of the two servers.
type Arm interface {
	// Name is for reports.
	Name() string
	// Config reaches the server. Rows copy it before they change anything.
	Config() *rest.Config
	// Compact forgets the store's history up to now, as etcd does every few minutes.
	Compact(ctx context.Context) error
}
