// Package falco tests a released operator as it comes from the module proxy: the instance operator
// of Falco 0.4.1, which deploys Falco and protects what its rules refer to. The module has a path
// below that of the operator, because main uses its internal packages.
package falco
