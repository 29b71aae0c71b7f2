// Package strategy names the strategies by which a campaign makes choice sequences.
package strategy

// Names are the names of the strategies, as -sim.strategy takes them.
var Names = []string{"portfolio", "burst", "aimed", "sweep", "swarm", "random", "storm", "exhaustive", "rapid"}
