// Package bundledeployment is the reference scenario of failures that do not settle. The server
// refuses an object of a bundle that contains a namespace. The operator undoes the install, and the
// next attempt fails because the namespace is still terminating. The operator is that of
// controllers/bundledeployment, with the real Helm SDK.
//
// [Begin] makes the world: the operator, a slow namespace controller, and the controller that
// unpacks bundles. [Record] reads the run's history and judges it. workloads.go holds the actions
// of users, and [Table] the cases for every variant. README.md shows the results.
package bundledeployment
