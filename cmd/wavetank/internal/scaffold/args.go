package scaffold

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"
)

// givenFlag is a flag in the arguments of a container. It has a value of its own (--name=value), or
// the next argument is its value unless the flag is a bool.
type givenFlag struct {
	value, next string
	own         bool
}

// arguments are the flags that a container gives its program, by their names.
type arguments map[string][]givenFlag

var variableReference = regexp.MustCompile(`\$\((\w+)\)`)

// addArguments notes the flags of the manager's container. Leader election stays as main has it by
// default: the test runs one replica.
func (d *deployment) addArguments(c container, environment map[string]string) {
	words := slices.Concat(c.Command, c.Args)
	for i, word := range words {
		name, ok := strings.CutPrefix(word, "-")
		if !ok || strings.Contains(name, "leader") {
			continue
		}
		a := givenFlag{}
		name, a.value, a.own = strings.Cut(strings.TrimPrefix(name, "-"), "=")
		if i+1 < len(words) && !a.own && !strings.HasPrefix(words[i+1], "-") {
			a.next = words[i+1]
		}
		known := true
		for _, text := range []*string{&a.value, &a.next} {
			*text = variableReference.ReplaceAllStringFunc(*text, func(s string) string {
				value, ok := environment[s[2:len(s)-1]]
				known = known && ok
				return value
			})
		}
		if known {
			d.arguments[name] = append(d.arguments[name], a)
		}
	}
}

// manager is the container that runs the manager.
func (w *workload) manager() container {
	all := w.Spec.Template.Spec.Containers
	i := slices.IndexFunc(all, func(c container) bool { return c.Name == "manager" })
	if i < 0 && len(all) == 0 {
		return container{}
	}
	return all[max(i, 0)]
}

// flagName is the name of a flag, if an expression is constant.
func flagName(pkg *packages.Package, x ast.Expr) string {
	if v := pkg.TypesInfo.Types[x].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v)
	}
	return ""
}

// given is the value that the operator's Deployment gives a flag of a type, as Go source. It is not
// ok if there is none, or if the value is of another type.
func (r *reader) given(flag string, t types.Type) (source string, ok bool) {
	all := r.w.arguments[flag]
	if len(all) == 0 || t == nil {
		return "", false
	}
	last := all[len(all)-1]
	value := cmp.Or(last.value, last.next)
	if typeName(t) == "time.Duration" {
		d, err := time.ParseDuration(value)
		if err != nil {
			return "", false
		}
		if r.t == nil {
			return "0", true
		}
		return durationSource(d, r.t.use("time", "")), true
	}
	if s, isSlice := t.(*types.Slice); isSlice && s.Elem().String() == "string" {
		var parts []string
		for _, a := range all {
			for part := range strings.SplitSeq(cmp.Or(a.value, a.next), ",") {
				parts = append(parts, strconv.Quote(part))
			}
		}
		return "[]string{" + strings.Join(parts, ", ") + "}", true
	}
	b, isBasic := t.(*types.Basic)
	if !isBasic {
		return "", false
	}
	var err error
	switch {
	case b.Info()&types.IsString != 0:
		return strconv.Quote(value), last.own || value != ""
	case b.Info()&types.IsBoolean != 0:
		on, err := strconv.ParseBool(cmp.Or(last.value, "true"))
		return strconv.FormatBool(on), err == nil
	case b.Info()&types.IsInteger != 0:
		_, err = strconv.ParseInt(value, 0, 64)
	default:
		_, err = strconv.ParseFloat(value, 64)
	}
	return value, err == nil
}

// flagValue writes the value of a flag: what the Deployment gives, or else the default x.
func (r *reader) flagValue(flag string, t types.Type, x ast.Expr) {
	if source, ok := r.given(flag, t); ok {
		r.replace(x, source)
		return
	}
	if all := r.w.arguments[flag]; len(all) > 0 && r.t != nil {
		r.t.lost(flag, cmp.Or(all[0].value, all[0].next))
	}
	ast.Inspect(x, r.visit)
}

// ofOwnType reads the declaration of a flag with a type of its own: the test leaves out what the
// Deployment gives it.
func (r *reader) ofOwnType(call *ast.CallExpr) {
	for _, arg := range call.Args {
		all := r.w.arguments[flagName(r.in, arg)]
		if len(all) == 0 {
			continue
		}
		if r.mayChange(call); r.t != nil {
			r.t.lost(flagName(r.in, arg), cmp.Or(all[0].value, all[0].next))
		}
	}
}

// lost guesses that a flag has its default.
func (r *remarks) lost(flag, value string) {
	g := fmt.Sprintf("--%s=%s of the Deployment could not be read as the flag's type, so the flag has its default: "+
		"write its value", flag, value)
	r.guess("%s", g)
}

// durationSource is a duration as Go source.
func durationSource(d time.Duration, pkg string) string {
	for _, unit := range []struct {
		d    time.Duration
		name string
	}{{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"}} {
		if d%unit.d == 0 {
			return fmt.Sprintf("%d * %s.%s", d/unit.d, pkg, unit.name)
		}
	}
	return fmt.Sprintf("%s.Duration(%d)", pkg, d)
}
