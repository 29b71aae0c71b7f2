// Package bundledeployment is the reference scenario of failures that do not settle: the server
// refuses a part of a bundle with a namespace in it, what was made of the bundle is undone, and
// what is being undone is in the way of the next attempt. The operator is that of
// controllers/bundledeployment, with the real Helm SDK.
//
// [Begin] makes the world: the operator, a slow namespace controller, and the controller that
// unpacks bundles. [Record] reads the run's history and judges it. What happens is in workloads.go,
// and [Table] has it happen to every variant. README.md shows the results.
package bundledeployment
