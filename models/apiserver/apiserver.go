// Package apiserver is an in-process model of kube-apiserver and the store beneath it.
//
// It speaks the Kubernetes wire protocol in JSON: discovery, every verb, patches, watches. It is
// synchronous: no goroutine, no clock and no randomness of its own. One call of [Server.Handle] is
// one atomic request. A watch is a cursor over an append-only history, which its owner advances.
// Delivery, lag, loss and expiry of watch events are therefore the owner's decisions.
//
// What the model does not know it refuses with a Kubernetes status error that names what is
// missing; it never guesses.
//
// # How it is laid out
//
// Four layers, each of which imports only those before it:
//
//   - internal/store is the storage: one revision counter, ordered tables, an append-only history
//     and one write path.
//   - internal/object holds what objects are: types and versions, decoding and encoding,
//     conversion and views, patches, and who owns which field.
//   - internal/registry holds the kinds that are served and the rules for their objects. Each
//     built-in kind has a file there. Custom kinds are made from their definitions.
//   - This package is the server. A request is authorized (exchange.go), and finds its kind and its
//     verb (route.go) and the form of its reply (negotiate.go). Each verb has a file and is a
//     function of the request (request.go), which does not change. Verbs that write go through
//     admission (admission.go). Only commit.go changes the store.
//
// Stored objects are immutable and shared; their encodings are made once.
//
// # Who owns which field
//
// Server-side apply and metadata.managedFields are apimachinery's own (internal/object). A real
// server works ownership out on every write. That costs several times as much as the write, and
// most worlds never ask. So an object is tracked from the first apply to it on, or from the first
// write that itself speaks of managedFields.
//
// Until then its clients see no managedFields, and each write leaves a note. The notes are replayed
// when the object becomes tracked. Conflicts, owners and their times are then those that a real
// server would have. Before that, a write that changes nothing but ownership is no write.
// [Options.TrackFields] tracks everything from the start. The schemas of built-in types are read
// when the first built-in object is tracked, once per process.
//
// # Who may write what
//
// A server authorizes every request until it is given an [Authorizer] (models/rbac) and an
// [Admission] (models/admission). A write that calls webhooks waits: [Server.Begin]
// returns the calls to make. Other requests may be served meanwhile, and the write continues when
// the webhooks have answered. If the object that it had read has changed by then, it starts again.
//
// # What is different
//
//   - A definition is established by the change that stores it. When it is deleted, its instances
//     go in the same request.
//   - Events do not expire. Services get addresses and node ports in order.
//   - No namespace controller, garbage collector or quota runs in here: they are models of their
//     own.
//   - Of the admission plugins that are on by default, these are built in: NamespaceLifecycle,
//     Priority (without priority classes), DefaultTolerationSeconds, TaintNodesByCondition and
//     StorageObjectInUseProtection. The others, ServiceAccount among them, are not.
//   - Errors that a real server reports in the random order of a Go map come sorted.
//   - Reads are current. resourceVersion=0 makes them stale only where the owner says so
//     ([Request.AsOf]): lag is for the owner.
//
// # What is refused
//
//   - Tables of most built-in types. Their columns are code inside the Kubernetes tree
//     (pkg/printers/internalversion) that no module ships, so only those of the plainest types are
//     made. For the others kubectl gets 406 and prints names and ages.
//   - CBOR, and protobuf for watches and metadata. A client that offers JSON as well gets that.
//   - OpenAPI v2. kubectl asks for it for `explain --output=plaintext-openapiv2` alone. It takes
//     all else from OpenAPI v3, which is made (openapi_builtin.go says what is missing there).
//   - Conversion webhooks, and autoscaling/v1.
//   - The subresources of pods but status, binding and eviction, and certificate approval.
//   - The types in the list Unmodelled (internal/registry/registry.go).
//
// Validation of pods, volumes and other large built-in types covers names, required and immutable
// fields, not every rule.
package apiserver

import (
	"time"
)

// Options configure a [Server].
type Options struct {
	// Now is the clock for creationTimestamp and deletionTimestamp. Required.
	Now func() time.Time
	// Seed makes UIDs and generateName suffixes: the same seed and the same requests give the same
	// names.
	Seed uint64
	// TrackFields keeps metadata.managedFields from the first write of every object on, as a real
	// server does. Otherwise an object has them from the first apply to it on, and what was written
	// before is worked out then.
	TrackFields bool
	// RefuseDeleteOfTerminating answers the DELETE of a namespace that is being deleted already
	// with 409 Conflict, as old servers did. Present ones answer 200 and change nothing.
	RefuseDeleteOfTerminating bool
}

// Change is one committed change of one object: what the store's history records and watches
// deliver.
type Change struct {
	Type      string // ADDED, MODIFIED or DELETED
	Group     string
	Version   string
	Kind      string
	Resource  string
	Namespace string
	Name      string
	UID       string
	Revision  int64
	Time      time.Time
	Object    []byte // JSON after the change (for DELETED: the last state, at the revision of the deletion)
	Previous  []byte // JSON before the change; nil for ADDED
}

// Frame is one watch event on the wire.
type Frame struct {
	Type      string // ADDED, MODIFIED, DELETED, BOOKMARK or ERROR
	Revision  int64  // revision of the change (of the stream's position for BOOKMARK)
	Namespace string
	Name      string
	Initial   bool   // part of the initial events (watch-list), its closing bookmark included
	Object    []byte // the JSON of the object in Data; nil for BOOKMARK and ERROR
	Data      []byte // the JSON frame, newline-terminated; shared between watchers, not to be changed
}

// Object is one stored object, for reading without a request.
type Object struct {
	Namespace string
	Name      string
	UID       string
	Revision  int64
	JSON      []byte // in the storage version; not to be changed
}
