// Package promotion is the scenario of "usually once" promotions: what becomes of each variant of
// the operator in controllers/promotion when its cache lags, its process dies, and its replies are
// lost.
//
// The world has a forge, the operator, and a pipeline shop/web through a row of environments.
// [World.Runs] plays the part of Flux, which reports what an environment runs, and [World.Deliver]
// the part of the people who merge pull requests. [Record] reads a run's history.
//
// [Table] has the cases of every variant, and README.md says what came of them. LESSON.md counts
// what the variants make of a crash.
package promotion
