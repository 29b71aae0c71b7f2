// Package wavetank has no code. Scenarios are written with package
// [github.com/wavetank/wavetank/sim]; docs/README.md is the index of the documentation.
package wavetank
