package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/story"
)

func exportCommand() *cobra.Command {
	var scenario, pkg, to string
	cmd := &cobra.Command{
		Use:   "export story.txtar",
		Short: "Write a story as a plain Go test",
		Long: "Writes a Go test that contains the story and replays it, for a repository that keeps its regressions\n" +
			"as code. The scenario must be a function with a name, func(w *sim.World), in the package that the test\n" +
			"is written for.",
		Example: "  wavetank export testdata/sim/TestPromoteOnce/0ad58962.txtar \\\n" +
			"    --scenario promoteOnce --to promote_story_test.go",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := story.Read(args[0])
			if err != nil {
				return err
			}
			if scenario == "" {
				in := ""
				if scenario, in, err = scenarioOf(cmd, s); err != nil {
					return err
				}
				pkg = cmp.Or(pkg, in)
			}
			if pkg == "" {
				pkg = s.Package[strings.LastIndex(s.Package, "/")+1:] + "_test"
			}
			if !token.IsIdentifier(pkg) {
				return fmt.Errorf("--package %q is not a package name", pkg)
			}
			source, err := asTest(s, pkg, scenario)
			if err != nil {
				return err
			}
			if to == "" {
				_, err = cmd.OutOrStdout().Write(source)
				return err
			}
			if _, err := os.Stat(to); err == nil {
				return fmt.Errorf("%s exists; remove it first, or write to another file", to)
			}
			return atomicfile.Write(to, source)
		},
	}
	f := cmd.Flags()
	f.StringVar(&scenario, "scenario", "", "the scenario's function (default: found in the test's source)")
	f.StringVar(&pkg, "package", "", "package clause of the test (default: that of the scenario's file, "+
		"or the story's package with _test)")
	f.StringVar(&to, "to", "", "file to write (default: standard output)")
	return cmd
}

// scenarioOf finds the function that the story's test gives to sim.Check, and the package clause of
// its file.
func scenarioOf(cmd *cobra.Command, s *story.Story) (name, in string, err error) {
	unnamed := fmt.Errorf("the scenario of %s is not a function with a name; "+
		"make it one, func promoteOnce(w *sim.World), and pass --scenario promoteOnce", s.Test)
	packages, err := testPackages(cmd.Context(), []string{s.Package})
	if err != nil {
		return "", "", errors.Join(unnamed, err)
	}
	found, err := packages[0].scenarios()
	if err != nil {
		return "", "", err
	}
	test, _, _ := strings.Cut(s.Test, "/")
	for _, f := range found {
		if f.Test == test && f.Function != "" {
			if name != "" && name != f.Function {
				return "", "", fmt.Errorf("%s has more than one scenario (%s, %s); choose one with --scenario",
					s.Test, name, f.Function)
			}
			name, in = f.Function, f.In
		}
	}
	if name == "" {
		return "", "", unnamed
	}
	return name, in, nil
}

var exported = template.Must(template.New("test").Parse(`package {{.Package}}

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wavetank/wavetank/sim"
)

// {{.Name}} replays a run that once broke {{.What}}:
//
{{range .Message}}//	{{.}}
{{end}}func {{.Name}}(t *testing.T) {
	path := filepath.Join(t.TempDir(), "story.txtar")
	if err := os.WriteFile(path, []byte({{.Variable}}), 0o666); err != nil {
		t.Fatal(err)
	}
	sim.Check(t, {{.Scenario}}, sim.Replay(path))
}

const {{.Variable}} = {{.Story}}
`))

// asTest is the source of a test that replays the story.
func asTest(s *story.Story, pkg, scenario string) ([]byte, error) {
	what := fmt.Sprintf("%q", s.Property)
	if s.Property == "" {
		what = s.Kind
	}
	id := strings.TrimSuffix(s.Name(), filepath.Ext(s.Name()))
	data := string(s.Encode())
	quoted := "`" + data + "`"
	if strings.Contains(data, "`") || story.Printable(data) != data {
		quoted = fmt.Sprintf("%q", data)
	}
	var b bytes.Buffer
	err := exported.Execute(&b, map[string]any{
		"Package": pkg, "Name": "TestStory" + camel(s.Test) + "_" + id, "Variable": "story_" + id, "What": what,
		"Message": strings.Split(s.Message, "\n"), "Scenario": scenario, "Story": quoted,
	})
	if err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}

// camel makes a part of an identifier from the name of a test.
func camel(name string) string {
	name = strings.TrimPrefix(name, "Test")
	var b strings.Builder
	up := true
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			up = true
			continue
		}
		if up {
			r = unicode.ToUpper(r)
		}
		b.WriteRune(r)
		up = false
	}
	return b.String()
}
