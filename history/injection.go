package history

// Injection is one occurrence of a fault.
type Injection struct {
	Class     string `json:"class"`               // name of the fault's constructor, for example "StaleCache"
	Arguments string `json:"arguments,omitempty"` // for example "operator, 30s"
	How       string `json:"how,omitempty"`       // for example "before", or "for 30s, before"
	// Verb and Ref are those of the request at which it was injected, and Of is the request in
	// words.
	Verb string `json:"verb,omitempty"`
	Ref  Ref    `json:"ref,omitzero"`
	Of   string `json:"of,omitempty"`
	// Lasting is set for a further effect of an injection that has an event already.
	Lasting bool `json:"lasting,omitempty"`
}

// Fault is the fault with its arguments, for example "StaleCache(30s)". It is empty for nil.
func (i *Injection) Fault() string {
	switch {
	case i == nil:
		return ""
	case i.Arguments == "":
		return i.Class
	}
	return i.Class + "(" + i.Arguments + ")"
}

// Is reports whether it is an occurrence of a fault of this class. Nil is none.
func (i *Injection) Is(class string) bool { return i != nil && i.Class == class }

// String is the injection in words. It is empty for nil.
func (i *Injection) String() string {
	if i == nil {
		return ""
	}
	s := i.Fault() + ": " + i.How
	if i.Of != "" {
		s += " " + i.Of
	}
	return s
}
