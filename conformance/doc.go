// Package conformance compares the API model (models/apiserver) with a real kube-apiserver.
//
// A simulation is only as credible as its API server. If the server loses a conflict, a 410 or a
// DELETED event, a result is about that server and not about the controller.
//
// A [Row] is one small case. The same client code sends it to the model and to a kube-apiserver
// under envtest. Replies (status codes, headers, bodies, watch frames) are normalised only where
// two correct servers must differ: UIDs, clocks, revisions, generated names, allocated addresses.
// Then they are compared.
//
// The real server's replies are recorded in testdata/recorded. A plain go test compares the model
// with them and needs no control plane. make conformance (build tag conformance) compares both with
// the live server, and finds recordings that are out of date. In addition, a differential
// property test generates sequences of operations.
//
// Accepted differences are rows, too. Each has its reason, is asserted to differ still, and is
// printed in models/apiserver/FIDELITY.md.
//
// The package does not judge controllers, does not measure speed, and is imported by nothing.
package conformance
