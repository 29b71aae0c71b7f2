package scaffold

import (
	"fmt"
	"go/types"
	"strings"
)

// filler sets up a controller that no main starts. It owns the values of its fields and of the
// arguments of its setup function, which follow from their types.
type filler struct {
	*imports
	*remarks
}

// setup is the setup function of a controller that no main starts.
func (f *filler) setup(c Controller, process string) string {
	args := f.arguments(c)
	call := ""
	if c.typ == nil {
		call = f.qualified(c.Package.PkgPath, "", c.Setup) + "(" + args + ")"
	} else {
		literal := f.qualified(c.Package.PkgPath, "", c.Name)
		call = fmt.Sprintf("(&%s).%s(%s)", composite(literal, f.fields(c, process)), c.Setup, args)
	}
	return fmt.Sprintf("func(mgr ctrl.Manager) error {\nreturn %s\n}", call)
}

// fields fills a controller in by the types of its fields.
func (f *filler) fields(c Controller, process string) (out []string) {
	s := c.typ.Underlying().(*types.Struct)
	for v := range s.Fields() {
		if !v.Exported() {
			continue
		}
		if value := f.byType(v.Type(), process); value != "" {
			out = append(out, v.Name()+": "+value)
			continue
		}
		switch v.Type().Underlying().(type) {
		case *types.Pointer, *types.Interface, *types.Map, *types.Signature, *types.Chan:
			why := fmt.Sprintf("%s of %s was left nil: no main was seen that sets it", v.Name(), c.Name)
			f.empty = append(f.empty, Empty{v.Name(), why})
			f.guess("%s of %s is left nil, because no main was seen that sets it: write its value", v.Name(), c.Name)
		}
	}
	return out
}

// arguments are those of the setup function: the manager, and what is empty of every other type.
func (f *filler) arguments(c Controller) string {
	var out []string
	for p := range c.params.Variables() {
		if isManager(p.Type()) {
			out = append(out, "mgr")
			continue
		}
		value := f.zero(p.Type())
		out = append(out, value)
		if typeName(p.Type()) != "context.Context" {
			f.guess("%s gets %s as %s", c.Setup, value, p.Name())
		}
	}
	return strings.Join(out, ", ")
}

// zero is the zero value of a type, or a context.
func (f *filler) zero(t types.Type) string {
	if typeName(t) == "context.Context" {
		return f.use("context", "") + ".Background()"
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return types.TypeString(t, f.qualify) + "{}"
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
func (f *filler) byType(t types.Type, process string) string {
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
		f.guess("a field is an HTTP client; it reaches what f.External declares, and nothing else")
		return "sim.HTTPClient(mgr)"
	}
	return ""
}
