package scaffold

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// simulated are the options of a manager that a simulation heeds, beside the scheme.
var simulated = []string{"Cache", "NewCache", "Client", "NewClient", "Controller", "MapperProvider",
	"GracefulShutdownTimeout"}

// election are the options of a leader election.
var election = []string{"LeaderElection", "LeaderElectionID", "LeaderElectionNamespace",
	"LeaderElectionReleaseOnCancel", "LeaseDuration", "RenewDeadline", "RetryPeriod"}

// options are those of main, as far as a simulation heeds them.
func (w *writer) options() string {
	main, names, out := w.project.main.options, slices.Clone(simulated), []string{"Scheme: " + w.schemeName()}
	if x := main.fields["LeaderElection"]; x != nil {
		if text, _ := w.ofMain(main.in, x, false); text == "true" {
			names = append(names, election...)
		}
	}
	for _, name := range names {
		x := main.fields[name]
		if x == nil {
			continue
		}
		text, why := w.ofMain(main.in, x, false)
		if why != "" {
			w.guess("main sets %s of ctrl.Options to %s; it depends on %s, and the test leaves it out", name,
				oneLine(types.ExprString(x)), why)
			continue
		}
		out = append(out, name+": "+text)
	}
	elects, chosen := slices.Contains(out, "LeaderElection: true"), main.fields["LeaderElectionNamespace"] != nil
	if elects && !chosen && w.project.Rights == "" { // else it is that of the account
		w.guess("the namespace of the leader election is that of the manager's Pod, here default")
		out = append(out, `LeaderElectionNamespace: "default"`)
	}
	return composite("ctrl.Options", out)
}

// setup is the call of the setup method, on a controller made as main makes it.
func (w *writer) setup(process string) string {
	call := w.project.main.setups[w.c.fullName]
	args := w.arguments(call)
	if w.c.typ == nil {
		return w.qualified(w.c.Package.PkgPath, "", w.c.Setup) + "(" + args + ")"
	}
	if made, ok := w.made(call); ok {
		return fmt.Sprintf("%s.%s(%s)", made, w.c.Setup, args)
	}
	literal := w.qualified(w.c.Package.PkgPath, "", w.c.Name)
	return fmt.Sprintf("(&%s).%s(%s)", composite(literal, w.fields(process)), w.c.Setup, args)
}

// made is what main calls the setup method on, if a function makes that.
func (w *writer) made(s setup) (string, bool) {
	x := s.receiver
	if id, ok := x.(*ast.Ident); ok {
		x = w.project.main.locals[s.in.TypesInfo.Uses[id]].value
	}
	if call, ok := x.(*ast.CallExpr); ok {
		text, why := w.ofMain(s.in, call, true)
		return text, why == ""
	}
	return "", false
}

// fields fills the controller in as main does. What depends on more than the manager is left out,
// or made of the field's type.
func (w *writer) fields(process string) []string {
	var out []string
	main := w.project.main.filled[fullName(w.c.typ)]
	s := w.c.typ.Underlying().(*types.Struct)
	for f := range s.Fields() {
		if !f.Exported() {
			continue
		}
		set, isSet := main.fields[f.Name()]
		value, why := "", ""
		if isSet {
			value, why = w.ofMain(main.in, set, true)
		}
		switch value = cmp.Or(value, w.byType(f.Type(), process)); {
		case value != "":
			out = append(out, f.Name()+": "+value)
		case isSet:
			w.guess("main sets %s.%s to %s; it depends on %s, and the test leaves it empty", w.c.Name, f.Name(),
				oneLine(types.ExprString(set)), why)
		}
	}
	return out
}

// composite is a literal of a struct, on one line if that is not long.
func composite(of string, fields []string) string {
	if line := strings.Join(fields, ", "); len(line) < 90 {
		return of + "{" + line + "}"
	}
	return of + "{\n" + strings.Join(fields, ",\n") + ",\n}"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// arguments are those of the setup function: the manager, what main gives it, and what is empty of
// every other type.
func (w *writer) arguments(main setup) string {
	var out []string
	i := -1
	for p := range w.c.params.Variables() {
		i++
		if isManager(p.Type()) {
			out = append(out, "mgr")
			continue
		}
		if i < len(main.args) && len(main.args) == w.c.params.Len() {
			if text, why := w.ofMain(main.in, main.args[i], true); why == "" {
				out = append(out, text)
				continue
			}
		}
		value := w.empty(p.Type())
		out = append(out, value)
		if typeName(p.Type()) != "context.Context" {
			w.guess("%s gets %s as %s", w.c.Setup, value, p.Name())
		}
	}
	return strings.Join(out, ", ")
}

// empty is the zero value of a type, or a context.
func (w *writer) empty(t types.Type) string {
	if typeName(t) == "context.Context" {
		return w.use("context", "") + ".Background()"
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return types.TypeString(t, func(p *types.Package) string { return w.use(p.Path(), p.Name()) }) + "{}"
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return `""`
		case u.Info()&types.IsBoolean != 0:
			return "false"
		}
		return "0"
	}
	return "nil"
}

// byType is what a field of a type gets from the manager; "" for other types.
func (w *writer) byType(t types.Type, process string) string {
	switch typeName(t) {
	case "sigs.k8s.io/controller-runtime/pkg/client.Client", "sigs.k8s.io/controller-runtime/pkg/client.WithWatch":
		return "mgr.GetClient()"
	case "sigs.k8s.io/controller-runtime/pkg/client.Reader":
		return "mgr.GetAPIReader()"
	case "*k8s.io/apimachinery/pkg/runtime.Scheme":
		return "mgr.GetScheme()"
	case "k8s.io/client-go/tools/record.EventRecorder":
		return fmt.Sprintf("mgr.GetEventRecorderFor(%q)", process)
	case "k8s.io/client-go/tools/events.EventRecorder":
		return fmt.Sprintf("mgr.GetEventRecorder(%q)", process)
	case "github.com/go-logr/logr.Logger":
		return "mgr.GetLogger()"
	case "*k8s.io/client-go/rest.Config":
		return "mgr.GetConfig()"
	case "k8s.io/apimachinery/pkg/api/meta.RESTMapper":
		return "mgr.GetRESTMapper()"
	case "*net/http.Client":
		w.guess("a field is an HTTP client; it reaches what w.External declares, and nothing else")
		return "sim.HTTPClient(mgr)"
	}
	return ""
}
