package history

import "slices"

// current owns the present state of all objects, and which of them a property has looked at.
type current struct {
	objects map[Ref]*state
	kinds   map[Ref][]*state // the objects of each kind, in order
	reading bool             // read is kept
	read    []*Ref           // what was looked at
}

// apply makes a change the state of its object.
func (c *current) apply(change *Change) {
	kind := Ref{Cluster: change.Ref.Cluster, Group: change.Ref.Group, Kind: change.Ref.Kind}
	all := c.kinds[kind]
	at, exists := slices.BinarySearchFunc(all, change.Ref, func(s *state, ref Ref) int { return s.Ref.Compare(ref) })
	if change.Type == "DELETED" {
		delete(c.objects, change.Ref)
		if exists {
			all = slices.Delete(all, at, at+1)
		}
	} else {
		s := &state{Change: change}
		if old := c.objects[change.Ref]; old != nil {
			s.decoded.Store(old.decoded.Load())
		}
		c.objects[change.Ref] = s
		if exists {
			all[at] = s
		} else {
			all = slices.Insert(all, at, s)
		}
	}
	if len(all) == 0 {
		delete(c.kinds, kind)
	} else {
		c.kinds[kind] = all
	}
}

// Object returns the current server-side state of one object, and whether it exists.
func (c *current) Object(group, kind, namespace, name string) (Object, bool) {
	return c.Find(Ref{Group: group, Kind: kind, Namespace: namespace, Name: name})
}

// Find is [History.Object] in any cluster.
func (c *current) Find(ref Ref) (Object, bool) {
	s, ok := c.objects[ref]
	if !ok {
		if c.reading {
			absent := ref // only this copy escapes
			c.read = append(c.read, &absent)
		}
		return Object{}, false
	}
	if c.reading {
		c.read = append(c.read, &s.Ref)
	}
	return s.show(), true
}

// Objects returns the current server-side objects of one kind, ordered by namespace and name.
func (c *current) Objects(group, kind string) []Object { return c.ObjectsIn("", group, kind) }

// ObjectsIn is [History.Objects] in any cluster.
func (c *current) ObjectsIn(cluster, group, kind string) []Object {
	all := c.kinds[Ref{Cluster: cluster, Group: group, Kind: kind}]
	if len(all) == 0 {
		return nil
	}
	out := make([]Object, len(all))
	for i, s := range all {
		out[i] = s.show()
		if c.reading {
			c.read = append(c.read, &s.Ref)
		}
	}
	return out
}

// Live returns the current server-side objects that a function selects, ordered by cluster, group,
// kind, namespace and name.
func (c *current) Live(wanted func(Ref) bool) []Object {
	var out []Object
	for ref, s := range c.objects {
		if wanted(ref) {
			out = append(out, s.show())
		}
	}
	slices.SortFunc(out, func(a, b Object) int { return a.Ref.Compare(b.Ref) })
	for i := 0; c.reading && i < len(out); i++ {
		c.read = append(c.read, &out[i].state.Ref)
	}
	return out
}

// Reads calls f. If f returns an error, Reads returns it with the objects that f looked at with the
// methods above, whether they exist or not.
func (c *current) Reads(f func() error) ([]Ref, error) {
	c.reading, c.read = true, c.read[:0]
	defer func() { c.reading = false }()
	err := f()
	if err == nil {
		return nil, nil
	}
	refs := make([]Ref, len(c.read))
	for i, ref := range c.read {
		refs[i] = *ref
	}
	return refs, err
}
