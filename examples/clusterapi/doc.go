// Package clusterapi tests a released operator as it comes from the module proxy: the controllers
// of Cluster API 1.13.5 for MachineDeployments, MachineSets, Machines and MachineHealthChecks. The
// module has a path below that of the operator, because main uses its internal packages.
package clusterapi
