// Package kro tests a released operator, kro 0.9.4, as it comes from the module proxy: nothing in
// it knows of Wavetank.
//
// It is of another kind than most: from a definition it makes a new type while it runs, and whose
// objects it looks after not by controllers of controller-runtime but with informers and a work
// queue of its own.
package kro
