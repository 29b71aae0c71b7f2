// Package promotion is the scenario of "usually once" promotions: what happens to each variant of
// the operator in controllers/promotion when its cache lags, its process dies, and its replies are
// lost.
//
// [Begin] sets the scene: a forge, the operator, a pipeline shop/web through a row of environments.
// [World.Runs] plays the part of Flux, which reports what an environment runs, and [World.Deliver]
// the part of the people who merge pull requests. [Record] reads the run's history and judges it;
// its methods are the properties, one sentence each.
//
// What happens is in workloads.go; in triggers.go, what may wake the operator before its cache
// knows what it did; in remote.go, environments in other clusters; in edges.go, odd corners and a
// CI that is told by Events. [Columns] asks it of every variant, and README.md says what came of
// it, with the story of every fall, which is kept under testdata/catalogue. LESSON.md counts what
// the variants make of a crash. The tests hold all of it; make demo shows the essence of it, and
// make hold tries the fixed variant for as long as one likes.
//
// How often a promotion is attempted is asked only where neither a crash nor a lost reply may
// strike: after one of these an operator that must not forget has to ask again. How often it takes
// effect is asked everywhere.
package promotion
