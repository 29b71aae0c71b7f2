package scaffold

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/tools/go/packages"
)

// Process is what one main starts: controllers that share a manager. A controller that no main
// starts is a process of its own.
type Process struct {
	Name        string // as a part of a Go name
	Controllers []Controller

	wiring *wiring // nil for a controller that no main starts
	pkg    *packages.Package
	dir    string
	units  map[*unit]bool // that set the controllers up
	notes  []string       // guesses that concern the wiring
}

// processes finds out which controllers are started together.
func (p *Project) processes(loaded []*packages.Package) {
	wirings := p.wirings(loaded)
	var started []string
	for _, w := range wirings {
		process := &Process{wiring: w, pkg: w.pkg, dir: filepath.Dir(w.pkg.Fset.Position(w.made).Filename)}
		process.units = w.setups(func(u *unit, why string) {
			process.notes = append(process.notes, line(p.Root, u.in, u.stmt.Pos())+" is left out: "+why)
		})
		process.Controllers = w.start(process.units, p.Controllers)
		at := line(p.Root, w.pkg, w.made)
		if len(process.Controllers) == 0 {
			p.note("the manager that %s makes sets up no controller that was found here%s", at,
				strings.Join(append([]string{""}, process.notes...), "; "))
			continue
		}
		for _, c := range process.Controllers {
			started = append(started, c.fullName)
		}
		process.Name = p.nameOf(process.Controllers)
		if slices.ContainsFunc(p.Processes, func(o *Process) bool { return o.Name == process.Name }) {
			process.Name += camel(filepath.Base(process.dir))
		}
		p.Processes = append(p.Processes, process)
	}
	for _, c := range p.Controllers {
		if slices.Contains(started, c.fullName) {
			continue
		}
		alone := &Process{Name: p.nameOf([]Controller{c}), Controllers: []Controller{c}, pkg: c.Package, dir: c.Dir}
		if len(wirings) > 0 {
			alone.notes = []string{"no manager was seen to start " + c.Name + ", so it is alone in its process"}
		} else {
			alone.notes = []string{"no call of ctrl.NewManager was seen in package main or what it imports, so " +
				c.Name + " is alone in its process"}
		}
		p.Processes = append(p.Processes, alone)
	}
}

// nameOf is the name of a process: that of its only controller, or that of the project.
func (p *Project) nameOf(of []Controller) string {
	if len(of) == 1 {
		c := of[0]
		short := strings.TrimSuffix(strings.TrimSuffix(c.Name, "Reconciler"), "Controller")
		return cmp.Or(short, c.Kind, camel(c.Package.Name))
	}
	name := filepath.Base(p.Module)
	if p.Manifest != nil && p.Manifest.ProjectName != "" {
		name = p.Manifest.ProjectName
	}
	return camel(name)
}

// camel is a name as a part of a Go name.
func camel(s string) string {
	up := true
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			up = true
			return -1
		}
		if up {
			up, r = false, unicode.ToUpper(r)
		}
		return r
	}, s)
}
