// Package conformance holds the API model (models/apiserver) against a real kube-apiserver.
//
// It exists because a simulation is only as credible as the API server in it: a verdict reached on a server that forgets
// a conflict, a 410 or a DELETED event is a verdict about that server and not about the controller.
//
// A [Row] is one small question, written once and put to both arms with the same client code: the model, and a
// kube-apiserver under envtest. What comes back (status codes, headers, bodies, watch frames) is normalised only where two
// honest servers must differ (UIDs, clocks, revisions, generated names, allocated addresses) and then compared. The real
// server's answers are kept in testdata/recorded, so that a plain `go test` holds the model against them without a control
// plane, and `make conformance` (build tag conformance) holds both against the living server and finds out when a
// recording has grown old. Beside the table, a differential property test draws whole sequences of operations.
//
// Accepted differences are rows too: each carries its reason, is asserted to be still different, and is printed in
// models/apiserver/FIDELITY.md.
//
// The package does not judge controllers, does not measure speed, and is imported by nothing.
package conformance
