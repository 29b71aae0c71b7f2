package process

import (
	"context"
	"reflect"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim/internal/wire"
)

// readsReplies reports whether a transport or a client of the program may read what the server
// sends. Then nothing is passed to a [wire.Receiver].
func (i *Incarnation) readsReplies(cfg *rest.Config, o *ctrl.Options) bool {
	own := reflect.ValueOf(i.wrap).Pointer()
	return cfg.WrapTransport == nil || reflect.ValueOf(cfg.WrapTransport).Pointer() != own ||
		o.NewCache != nil || o.NewClient != nil || o.Cache.HTTPClient != nil || o.Client.HTTPClient != nil
}

// newReceivingClient makes a manager's client.
func newReceivingClient(cfg *rest.Config, o client.Options) (client.Client, error) {
	c, err := client.New(cfg, o)
	return receivingClient{c}, err
}

// receivingClient is a client whose writes return objects that the network has decoded.
type receivingClient struct{ client.Client }

// received calls write, and replaces the stub that it may have written into the object.
func received(ctx context.Context, o client.Object, write func(context.Context) error) error {
	r := wire.NewReceiver(o)
	if r == nil {
		return write(ctx)
	}
	err := write(wire.WithReceiver(ctx, r))
	if p, ok := r.Take(o); ok {
		reflect.ValueOf(o).Elem().Set(reflect.ValueOf(p.Object).Elem())
	}
	return err
}

// Create implements client.Client.
func (r receivingClient) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	return received(ctx, o, func(ctx context.Context) error { return r.Client.Create(ctx, o, opts...) })
}

// Update implements client.Client.
func (r receivingClient) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	return received(ctx, o, func(ctx context.Context) error { return r.Client.Update(ctx, o, opts...) })
}

// Patch implements client.Client.
func (r receivingClient) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return received(ctx, o, func(ctx context.Context) error { return r.Client.Patch(ctx, o, p, opts...) })
}

// Status implements client.Client.
func (r receivingClient) Status() client.SubResourceWriter {
	return receivingStatus{r.Client.Status()}
}

type receivingStatus struct{ client.SubResourceWriter }

// Update implements client.SubResourceWriter.
func (r receivingStatus) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	write := func(ctx context.Context) error { return r.SubResourceWriter.Update(ctx, o, opts...) }
	if (&client.SubResourceUpdateOptions{}).ApplyOptions(opts).SubResourceBody != nil {
		return write(ctx)
	}
	return received(ctx, o, write)
}

// Patch implements client.SubResourceWriter.
func (r receivingStatus) Patch(
	ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption,
) error {
	write := func(ctx context.Context) error { return r.SubResourceWriter.Patch(ctx, o, p, opts...) }
	if (&client.SubResourcePatchOptions{}).ApplyOptions(opts).SubResourceBody != nil {
		return write(ctx)
	}
	return received(ctx, o, write)
}
