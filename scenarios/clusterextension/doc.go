// Package clusterextension is the scenario of releases that do not survive an interruption: the
// operator dies within one of Helm's actions, the release record stays pending for ever, and
// whatever is done about that may be worse than the fault. The operator is that of
// controllers/clusterextension, with the real Helm SDK and its records in shards.
//
// [Begin] sets the scene: a catalog with three versions of a package and the edges between them,
// data outside the cluster that version 2 migrates and version 3 needs at one level, one or two
// replicas of the operator. [Record] reads the run's history and judges it. A [Workload] is what
// happens, [Table] the table of which variant fails which question, and README.md what was
// observed.
//
// # What the runs showed
//
// As reported (V0), every death between the first write of a record and its last wedges the
// extension, and the status says for ever that another operation is in progress.
//
// The proposals trade that wedge for others. To roll back (V1) writes an old version over migrated
// data, and a rollback that is interrupted itself is followed by one to the half of version 2,
// which is then called deployed: what was expected to stay valid, edges and no orphans,
// does not with two interruptions. Its uninstall can be interrupted as well, and leaves a record
// that says uninstalling, which is not pending and which nothing gets past. To forget the record
// (V2, V2b, V4) or to call it failed (V3) lets version 3 in over a half of version 2, with the data
// at two levels. To call it deployed (V3b) does the same, and orphans what an interrupted upgrade
// had still to delete.
//
// To finish first (V5) holds all that. What it lacks shows where two replicas overlap, where a
// record is torn between two shards, and where version 2 is not interrupted but refused: then it,
// too, lets version 3 in. V6 adds the fence, records that cannot be torn, and the rule for
// failures. Helm only logs it when it cannot write that a record is superseded, and then two of
// them say deployed; the driver of V6 writes nothing more after such a failure, so that the upgrade
// has failed and is finished like any other. One habit is left in all variants: a status that says
// what is installed goes on to name version 1 while version 2 takes its place.
//
// To forget a record (V2, V2b, V4) also gives its number away: the next record is revision 2 again.
//
// To wait for a minute before a record counts as that of a dead process (V2-waits) helps against a
// second leader for a minute, and against nothing else. To give up after three interruptions
// (V3-limit) ends the attempts of an operator that was only unlucky.
//
// # What is healthy
//
// A version is whole when all of it is there, its record says deployed, and its Deployments are
// rolled out, where the chart says that they have to be. Nobody but V6 looks at the last: all
// others let version 3 in while the migrations of version 2 still run. The page says what remains
// at risk.
//
// # What takes the time
//
// BenchmarkSettledInstall with a CPU profile: half of the CPU time is Helm's (rendering, decoding
// of YAML, building of objects), a sixth the steps of the simulator, a tenth its API server;
// release records are 4 %, discovery 3 %.
//
// # What upstream ships
//
// Neither pull request was merged. The default path is V0: it keeps most of the safety there is, by
// not moving, and gives up progress. Behind a feature gate another engine keeps the oldest
// unfinished revision as the target, and does not ask the catalog meanwhile: the rule of V5 and V6.
package clusterextension
