package scaffold

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// maxKeys limits how many keys are on one line.
const maxKeys = 3

// users writes what users do. Controllers that act by the clock get their samples when the scenario
// of auto has ended, because the world does not become quiescent with them.
func (w *writer) users(b *strings.Builder, process string, up func(string) string) {
	clocked, others := w.byTheClock()
	files, lacking := w.project.samplesFor(others)
	if len(others) > 0 {
		samples := make([]string, len(files))
		for i, f := range files {
			samples[i] = fmt.Sprintf("%q", up(f))
		}
		options := w.samples(strings.Join(samples, ", "), lacking)
		if len(clocked) > 0 {
			options += fmt.Sprintf(", auto.Kinds(%s)", strings.Join(w.kinds(others), ", "))
		}
		if keys := w.project.approvals.keys(); len(keys) > 0 {
			between := `", "`
			if len(keys) > maxKeys {
				between = "\",\n\""
			}
			options += fmt.Sprintf(", auto.Approvals(\"%s\")", strings.Join(keys, between))
		}
		fmt.Fprintf(b, "%s.Scenario(w%s)\n", w.use(modulePath+"/sim/auto", ""), options)
	}
	if len(clocked) == 0 {
		return
	}
	due, _ := w.project.samplesFor(clocked)
	watched := watchedFor(w.project.Root, due, clocked)
	var samples, names []string
	for _, f := range due {
		if !slices.Contains(files, f) || len(others) == 0 || hasSampleFor(w.project.Samples, f, clocked) {
			samples = append(samples, fmt.Sprintf("%q", up(f)))
		}
	}
	for _, c := range clocked {
		names = append(names, c.Name)
	}
	w.guess("with robfig/cron %s acts by the clock and never becomes quiescent, so it is watched for %v",
		strings.Join(names, ", "), watched)
	times := w.use("time", "")
	if len(others) == 0 { // auto injects faults of its own
		fmt.Fprintf(b, "w.Inject(%s.StaleCache(30*%s.Second), %[1]s.Crash(%[3]q), %[1]s.LostReply())\n",
			w.use(modulePath+"/sim/fault", ""), times, process)
	}
	fmt.Fprintf(b, "w.ApplyFiles(%s)\nw.Sleep(%s)\n", strings.Join(samples, ", "), inUnits(watched, times))
}

// byTheClock divides the controllers into those that act by the clock and the others. All are the
// clock's if the others have no kind that auto could write.
func (w *writer) byTheClock() (clocked, others []Controller) {
	all := w.process.Controllers
	for _, c := range all {
		if c.actsByTheClock() {
			clocked = append(clocked, c)
		} else {
			others = append(others, c)
		}
	}
	if _, lacking := w.project.samplesFor(clocked); len(lacking) == len(clocked) { // nothing begins a period
		return nil, all
	}
	if !slices.ContainsFunc(others, func(c Controller) bool { return c.Kind != "" }) {
		return all, nil
	}
	return clocked, others
}

// kinds are an object of each kind that controllers reconcile, as Go expressions.
func (w *writer) kinds(of []Controller) (out []string) {
	for _, c := range of {
		if c.Kind != "" {
			out = append(out, fmt.Sprintf("&%s{}", w.qualified(c.kindPath, schemeAlias(c.kindPath), c.Kind)))
		}
	}
	return out
}

// actsByTheClock reports whether a file with methods of the controller imports a library of
// schedules. Such a controller never stops creating objects.
func (c Controller) actsByTheClock() bool {
	for _, file := range c.Package.Syntax {
		if !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
			return strings.Contains(i.Path.Value, "github.com/robfig/cron")
		}) {
			continue
		}
		for _, d := range file.Decls {
			for name := range parts(d) {
				if name == c.Name || name == c.Setup {
					return true
				}
			}
		}
	}
	return false
}

// samples is what users write, as options of the scenario. Files are those with samples, and
// lacking are the controllers of whose kind no file has an object.
func (w *writer) samples(files string, lacking []Controller) string {
	out := ""
	if files != "" {
		out = fmt.Sprintf(", auto.Samples(%s)", files)
	}
	var unknown, drawn []string
	for _, c := range lacking {
		switch {
		case c.Kind == "":
			unknown = append(unknown, c.Name)
		case strings.HasPrefix(c.kindPath, "k8s.io/api/") || w.project.Definitions == "":
			w.guess("no file below config/samples has a %s, so users make an empty one", c.Kind)
			meta := w.use("k8s.io/apimachinery/pkg/apis/meta/v1", "metav1")
			kind := w.qualified(c.kindPath, schemeAlias(c.kindPath), c.Kind)
			namespace := "Namespace: \"default\", "
			if c.isClusterScoped() {
				namespace = ""
			}
			out += fmt.Sprintf(", auto.Objects(&%s{ObjectMeta: %s.ObjectMeta{%sName: \"sample\"}})", kind, meta,
				namespace)
		default:
			drawn = append(drawn, c.Kind)
		}
	}
	if len(drawn) > 0 {
		slices.Sort(drawn)
		w.guess("no file below config/samples has an object of kind %s, so users write what the definition allows",
			sentence(slices.Compact(drawn)))
	}
	if len(unknown) > 0 {
		w.guess("the builder's For of %s was not seen: give what is reconciled to auto.Objects", sentence(unknown))
	}
	return out
}
