// Package promotion is the scenario of "usually once" promotions, with each variant of the operator
// in controllers/promotion.
//
// The world has a forge, the operator, and a pipeline shop/web through several environments.
// [World.Runs] acts as Flux, which reports what an environment runs, and [World.Deliver] as the
// people who merge pull requests. [Record] reads a run's history. README.md shows the results of
// [Table]; LESSON.md counts the effects after a crash.
package promotion
