package scaffold

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"sigs.k8s.io/yaml"
)

func isKustomization(file string) bool {
	return slices.Contains([]string{"kustomization.yaml", "kustomization.yml"}, path.Base(file))
}

// kustomization notes which files a kustomization names.
func (p *Project) kustomization(file, text string) {
	var k struct {
		Resources []string
		Namespace string
	}
	if err := yaml.Unmarshal([]byte(text), &k); err != nil {
		if strings.HasSuffix(path.Dir(file), "samples") {
			p.note("%s cannot be read (%v): every sample next to it is used", file, err)
		}
		return
	}
	if k.Namespace != "" {
		p.deployed.namespaces[path.Dir(file)] = k.Namespace
	}
	for _, r := range k.Resources {
		_, err := os.Stat(filepath.Join(p.Root, filepath.FromSlash(path.Dir(file)), r))
		if err != nil && strings.HasSuffix(path.Dir(file), "samples") {
			p.note("%s names %s, which is left out: there is no such file", file, r)
		}
		p.deployed.lacking = p.deployed.lacking || err != nil
		p.kustomized[path.Dir(file)] = append(p.kustomized[path.Dir(file)], path.Join(path.Dir(file), r))
	}
}

// refused matches the names of samples that show what is refused.
var refused = regexp.MustCompile(`(?i)(^|[-_.])(fail(s|ed|ing|ure)?|invalid|refused|bad|broken)([-_.]|$)`)

// selectSamples leaves out the samples that the kustomization next to them does not name, and those
// whose names say that they fail.
func (p *Project) selectSamples() {
	var out []Sample
	for _, s := range p.Samples {
		named := p.kustomized[path.Dir(s.File)]
		switch {
		case slices.Contains(named, s.File):
		case len(named) > 0:
			p.note("%s is left out, because the kustomization.yaml next to it does not name it", s.File)
			continue
		case refused.MatchString(path.Base(s.File)):
			p.note("%s is left out, because it fails by its name", s.File)
			continue
		}
		out = append(out, s)
	}
	p.Samples = out
}

// samplesIn are the objects of a file.
func samplesIn(file, text string) (out []Sample, err error) {
	for doc := range strings.SplitSeq("\n"+text, "\n---") {
		var o struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			return nil, err
		}
		if o.Kind != "" && o.Kind != "Kustomization" {
			out = append(out, Sample{file, o.Kind, o.APIVersion})
		}
	}
	return out, nil
}

// samplesFor are the files with what users write for controllers: objects of kinds that no other
// controller here has or that they watch, and one of each own kind, in the version that the
// controller reads if there is one. Lacking are the controllers without such a file.
func (p *Project) samplesFor(cs []Controller) (files []string, lacking []Controller) {
	var owns []string
	for _, c := range cs {
		own, exact := "", false
		for _, s := range p.Samples {
			group, version, _ := strings.Cut(s.APIVersion, "/")
			if s.Kind != c.Kind || c.group != "" && c.group != group {
				continue
			}
			if is := version == path.Base(c.kindPath); own == "" || is && !exact {
				own, exact = s.File, is
			}
		}
		if own == "" {
			lacking = append(lacking, c)
		} else if !slices.Contains(owns, own) {
			owns = append(owns, own)
		}
	}
	for _, s := range p.Samples {
		others := slices.ContainsFunc(p.Controllers, func(o Controller) bool {
			return (o.Kind == s.Kind || o.Kind == "") && !slices.ContainsFunc(cs, func(c Controller) bool {
				return slices.Contains(c.watches, s.Kind)
			})
		})
		if !others && !slices.Contains(files, s.File) && !slices.Contains(owns, s.File) {
			files = append(files, s.File)
		}
	}
	return append(files, owns...), lacking
}

// hasSampleFor reports whether a file has an object that one of the controllers reconciles.
func hasSampleFor(all []Sample, file string, cs []Controller) bool {
	return slices.ContainsFunc(all, func(s Sample) bool {
		return s.File == file && slices.ContainsFunc(cs, func(c Controller) bool { return c.Kind == s.Kind })
	})
}

var schedule = regexp.MustCompile(`(?m)^\s*schedule:[ \t]*["']?([^"'#\n]+)`)

// watched limits how long an operator with a schedule is watched.
const (
	watchedLeast = 10 * time.Minute
	watchedMost  = 7 * 24 * time.Hour
)

// watchedFor is how long an operator that acts by the clock is watched: three of the longest
// periods in its samples and of those after which its controllers want to be called again.
func watchedFor(root string, files []string, of []Controller) (d time.Duration) {
	for _, c := range of {
		d = max(d, 3*c.period())
	}
	for _, file := range files {
		text, _ := os.ReadFile(path.Join(root, file))
		for _, m := range schedule.FindAllSubmatch(text, -1) {
			if s, err := cron.ParseStandard(strings.TrimSpace(string(m[1]))); err == nil {
				first := s.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) // as runs begin
				d = max(d, 3*s.Next(first).Sub(first))
			}
		}
	}
	return min(max(d, watchedLeast), watchedMost)
}

// period is the longest constant RequeueAfter in the controller's methods; 0 if there is none.
func (c Controller) period() (d time.Duration) {
	if c.typ == nil {
		return 0
	}
	for _, file := range c.Package.Syntax {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || parts(f)[c.typ.Obj().Name()] == nil || f.Recv == nil {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if kv, ok := n.(*ast.KeyValueExpr); ok && types.ExprString(kv.Key) == "RequeueAfter" {
					if v := c.Package.TypesInfo.Types[kv.Value].Value; v != nil {
						n, _ := constant.Int64Val(constant.ToInt(v))
						d = max(d, time.Duration(n))
					}
				}
				return true
			})
		}
	}
	return d
}

// inUnits is a duration as Go source.
func inUnits(d time.Duration, pkg string) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%d * %s.Hour", d/time.Hour, pkg)
	}
	return fmt.Sprintf("%d * %s.Minute", (d+time.Minute-1)/time.Minute, pkg)
}

// isClusterScoped reports whether the type of the controller's kind is marked as one without
// namespaces, for a client generator or for controller-gen.
func (c Controller) isClusterScoped() bool {
	text, _ := os.ReadFile(c.kindFile)
	before, _, found := strings.Cut(string(text), "\ntype "+c.Kind+" struct")
	markers := before[strings.LastIndex(before, "\n}\n")+1:]
	return found && (strings.Contains(markers, "+genclient:nonNamespaced") ||
		strings.Contains(markers, "scope=Cluster"))
}
