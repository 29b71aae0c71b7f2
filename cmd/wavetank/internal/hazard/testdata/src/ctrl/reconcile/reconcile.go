// Package reconcile stands for controller-runtime's.
package reconcile

// Request is the key of an object.
type Request struct{ Name string }
