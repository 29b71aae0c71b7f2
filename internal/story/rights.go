package story

import (
	"cmp"
	"slices"
	"strings"
)

// Right is one verb with one resource that a role gives an operator.
type Right struct {
	Role     string `json:"role"` // with its kind
	Group    string `json:"group,omitempty"`
	Resource string `json:"resource"`
	Verb     string `json:"verb"`
}

// Rights are those with which an operator is deployed.
type Rights struct {
	// Unused are those that no run has used.
	Unused []Right `json:"unused,omitempty"`
}

// And are the rights that neither of two records has used. A record that is nil knows of no
// rights.
func (r *Rights) And(o *Rights) *Rights {
	if r == nil || o == nil {
		return cmp.Or(r, o)
	}
	out := &Rights{}
	for _, right := range r.Unused {
		if slices.Contains(o.Unused, right) {
			out.Unused = append(out.Unused, right)
		}
	}
	return out
}

// Words are the unused rights, a line for each role.
func (r *Rights) Words() (lines []string) {
	if r == nil {
		return nil
	}
	type resource struct{ role, name string }
	var roles []string
	verbs, resources := map[resource][]string{}, map[string][]string{}
	for _, right := range r.Unused {
		of := resource{right.Role, strings.TrimSuffix(right.Resource+"."+right.Group, ".")}
		if !slices.Contains(roles, of.role) {
			roles = append(roles, of.role)
		}
		if verbs[of] == nil {
			resources[of.role] = append(resources[of.role], of.name)
		}
		verbs[of] = append(verbs[of], right.Verb)
	}
	for _, role := range roles {
		var parts []string
		for _, name := range resources[role] {
			parts = append(parts, strings.Join(verbs[resource{role, name}], "/")+" "+name)
		}
		lines = append(lines, role+": "+strings.Join(parts, ", "))
	}
	return lines
}
