package history

import "strconv"

// Key is one object of one controller, as its work queue knows it.
type Key struct {
	Controller string `json:"controller,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
}

// String is "controller namespace/name". It is empty for the zero value.
func (k Key) String() string {
	if k == (Key{}) {
		return ""
	}
	return k.Controller + " " + k.Namespace + "/" + k.Name
}

// Reconcile is the N-th reconcile of a key in one incarnation, counted from 1. The zero value is no
// reconcile.
type Reconcile struct {
	Key
	N int `json:"n,omitempty"`
}

// String is "controller namespace/name #n". It is empty for the zero value.
func (r Reconcile) String() string {
	if r.None() {
		return ""
	}
	return r.Key.String() + " #" + strconv.Itoa(r.N)
}

// None reports whether it is no reconcile.
func (r Reconcile) None() bool { return r == Reconcile{} }

// ReconcileID is a reconcile of one incarnation, and names it in the whole run.
type ReconcileID struct {
	Actor string
	Reconcile
}

// KeyID is a key in one incarnation.
type KeyID struct {
	Actor string
	Key
}

// ReconcileID names the reconcile that the event belongs to, in the whole run.
func (e *Event) ReconcileID() ReconcileID { return ReconcileID{e.Actor(), e.Reconcile} }

// KeyID names the key of the reconcile that the event belongs to, in its incarnation.
func (e *Event) KeyID() KeyID { return KeyID{e.Actor(), e.Reconcile.Key} }
