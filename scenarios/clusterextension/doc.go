// Package clusterextension is the scenario of releases that do not survive an interruption: the
// operator dies within one of Helm's actions, the release record stays pending forever, and
// whatever is done about that may be worse than the fault. The operator is that of
// controllers/clusterextension, with the real Helm SDK and its records in shards.
//
// [Begin] makes the world: a catalog with three versions of a package and the edges between them,
// data outside the cluster that version 2 migrates and version 3 needs at one level, one or two
// replicas of the operator. A [Workload] is what happens. [Record] reads the run's history and
// judges it. [Table] says which variant fails which case, and README.md what the runs showed.
package clusterextension
