// Package v1 stands in for an API's types.
package v1

// EnvVar is one of them.
type EnvVar struct{ Name, Value string }
