// Package throttle is the scenario of the 422 hot loop: what becomes of an object whose progress
// cannot be written down, and of its neighbours, with each variant of the operator in
// controllers/throttle.
//
// [Begin] sets the scene: the kind, the operator and its handlers. [Record] reads the run's history
// and judges it; its methods are the properties, one sentence each. What happens is in
// workloads.go. [Columns] asks it of every variant, and README.md says what came of it, with the
// story of every fall, which is kept under testdata/catalogue.
//
// Every call of a handler is entered in a call log outside the cluster, see call_log.go: a child
// with a fixed name would hide the second call, and a crash must not undo the first.
//
// What is refused is refused by the API server's own rules: names of annotations longer than 63
// characters, more than 256 KiB of annotations, more than 3 MiB in a request, a schema that has
// come to forbid what the object or its status says; or by a webhook that denies it, or that nobody
// answers at. See rejections.go.
package throttle
