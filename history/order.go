package history

// Order is a digest of which events came before which: for each actor its events in order, each
// with the writes that had been made by then to what it reads or writes. Runs that differ only in
// how long things took have the same digest. So have runs that differ in the order of events which
// do not depend on one another: they have no actor, object or host outside in common.
//
// [History.Trace] is finer: it distinguishes runs that may continue differently, as times may
// decide.
func (h *History) Order() uint64 {
	actors, written := map[string]digest{}, map[Ref]digest{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Ref.Chatter() {
			continue
		}
		actor := e.Actor()
		d := actors[actor].then(written[e.Ref])
		d.strings(string(e.Kind), e.Reconcile.Controller, e.Reconcile.Namespace, e.Reconcile.Name, e.Verb,
			e.Ref.Kind, e.Ref.Namespace, e.Ref.Name, e.Sub, e.Host, e.Path, string(e.Outcome.Kind))
		d = d.then(digest(e.Code)).then(digest(len(e.Seen)))
		if e.Injection != nil {
			d.strings(e.Injection.Class)
		}
		for j := range e.Changes {
			c := &e.Changes[j]
			w := written[c.Ref].then(written[e.Ref])
			w.strings(actor, c.Type)
			written[c.Ref] = w
			all := Ref{Cluster: c.Ref.Cluster, Group: c.Ref.Group, Kind: c.Ref.Kind} // of lists
			written[all] += w
			all.Namespace = c.Ref.Namespace
			written[all] += w
		}
		if e.Host != "" && e.Kind == Request {
			outside := Ref{Cluster: e.Host}
			d = d.then(written[outside])
			written[outside] = d
		}
		actors[actor] = d
	}
	var sum digest
	for name, d := range actors {
		d.strings(name)
		sum += d // in whatever order
	}
	return uint64(sum)
}

// then continues with another digest.
func (d digest) then(other digest) digest {
	d = (d*1099511628211 ^ other) * 0xff51afd7ed558ccd // both constants mix all bits well
	d = (d ^ d>>33) * 0xc4ceb9fe1a85ec53
	return d ^ d>>33
}

// strings continues with strings, each with its end.
func (d *digest) strings(all ...string) {
	x := uint64(*d)
	for _, s := range all {
		for i := range len(s) {
			x = (x ^ uint64(s[i])) * 1099511628211
		}
		x = (x ^ 0xff) * 1099511628211
	}
	*d = digest(x).then(0)
}
