package property_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/property"
	reported "github.com/wavetank/wavetank/sim/result"
)

// tried plays a scene many times.
func tried(t *testing.T, s scene, flawed bool) *reported.Failure {
	return sim.Explore(t, func(w *sim.World) { s.play(w, flawed) }, sim.Runs(30), sim.For(0), sim.Verify(0),
		sim.Shrink(0)).Failure
}

// Each property breaks on the operator that has the flaw it is for, under its own sentence, and
// holds on the sound version.
func TestPropertiesTellFlawedFromSound(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.property+"/"+s.flaw, func(t *testing.T) {
			switch f := tried(t, s, true); {
			case f == nil:
				t.Error("the flawed operator passes")
			case f.Property != s.property:
				t.Errorf("the flawed operator breaks something else: %s", f.Text())
			default:
				t.Log(f.Message)
				if strings.Contains(f.Message, "\n") || !strings.Contains(f.Message, ":") {
					t.Errorf("the message is not one sentence with a time: %q", f.Message)
				}
			}
			if f := tried(t, s, false); f != nil {
				t.Errorf("the sound version breaks: %s", f.Text())
			}
		})
	}
}

// rules are all rules by which the properties decide, as their source has them.
func rules(t *testing.T) (out []string) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		file, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "breaks" {
					rule, err := strconv.Unquote(call.Args[0].(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, rule)
				}
			}
			return true
		})
	}
	return out
}

// Each rule matters: a property whose rule never finds anything lets a flawed operator pass, one
// whose rule always does breaks on a sound one. So the scenes would notice if a rule were lost or
// turned round.
func TestEveryRuleMatters(t *testing.T) {
	all := rules(t)
	if len(all) < 18 {
		t.Fatalf("found only the rules %q", all)
	}
	for _, rule := range all {
		name, _, _ := strings.Cut(rule, ":")
		for _, to := range []bool{false, true} {
			back := property.Turn(rule, to)
			noticed, scenesTried := false, 0
			for _, s := range scenes {
				if s.property != name && !(name == "AtMostOnce" && s.property == "ExactlyOnce") {
					continue
				}
				scenesTried++
				f := tried(t, s, !to)
				noticed = noticed || (f != nil && f.Property == s.property) == to
			}
			back()
			if !noticed {
				t.Errorf("the rule %q may always say %v, and none of %d scenes notices", rule, to, scenesTried)
			}
		}
	}
}
