// Package perses tests a released operator as it comes from the module proxy: the controller of
// Perses servers of perses-operator 0.5.0. The module has a path below that of the operator,
// because main uses its internal packages. The controllers of dashboards and datasources are left
// out: they send HTTP requests to the servers' Pods through a transport of their own.
package perses
