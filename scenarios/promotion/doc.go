// Package promotion tells the story of "usually once" promotions: what happens to each variant of the operator in
// controllers/promotion when its cache lags, its process dies, and its replies are lost.
//
// [Begin] sets the scene: a forge, the operator, a pipeline shop/web through a row of environments. [Story.Runs] plays
// the part of Flux, which reports what an environment runs, and [Story.Deliver] the part of the people who merge pull
// requests. [Books] reads the run's history and judges it; its methods are the properties, one sentence each.
package promotion
