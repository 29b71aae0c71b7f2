// This file exists to hold what was foretold of the story against what its cells say, and the scenarios that were wanted against
// the questions that tell them: FORETOLD.md.

package reposync

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/scenarios/internal/verdicts"
	"github.com/wavetank/wavetank/sim/story"
)

const foretoldPage = "FORETOLD.md"

// predictions are what the dossier derived from reading the code, without having seen it happen.
var predictions = []struct {
	says    string
	column  string
	variant reposync.Variant
	falls   bool
}{
	{"whether a namespace that is deleted goes depends on the order of its types, and it may never go", "namespace finishes", reposync.V0, true},
	{"where the manager hears of the RoleBinding first it wants to make it anew, is refused, says so and tries again",
		"no binding is made anew where the namespace goes", reposync.V0, true},
	{"what was merged reads the namespace from a cache: where its news come after the RepoSync's, nothing wakes the manager again",
		"namespace finishes, its news trail", reposync.V2, true},
	{"that is so, too, of the first namespace that the manager asks about", "namespace finishes, its news trail, it is the first", reposync.V2, true},
	{"reading the namespace live and coming back helps against that", "namespace finishes, its news trail", reposync.V2w, false},
}

// wanted are the scenarios that the dossier lists beyond its table, and the questions and tests that tell them.
var wanted = []struct {
	scenario string
	columns  []string
	test     string
	unless   string // why nothing tells it
}{
	{scenario: "all orders of types, or some of them", columns: []string{"namespace finishes", "order among all, namespace deleted"}, test: "TestEveryOrder"},
	{scenario: "the user's own RoleBinding among them", columns: []string{"namespace finishes, rights inside"}},
	{scenario: "a namespace is deleted with a RootSync present", columns: []string{"a declared namespace comes back"}},
	{scenario: "the RoleBinding is deleted by hand", columns: []string{"rights come back", "RepoSync goes, rights deleted by hand"}},
	{scenario: "the namespace is deleted while the RepoSync is", columns: []string{"namespace finishes, RepoSync deleted before"}},
	{scenario: "the reconciler's Deployment is deleted before and after the step with the finalizer", columns: []string{
		"RepoSync goes, Deployment deleted by hand", "namespace finishes, Deployment deleted by hand"}},
	{scenario: "its ServiceAccount goes", columns: []string{"RepoSync goes, ServiceAccount deleted by hand", "namespace finishes, ServiceAccount deleted by hand"}},
	{scenario: "its node is down", columns: []string{"RepoSync goes, reconciler dead", "namespace finishes, reconciler dead"}},
	{scenario: "two RepoSyncs share the binding, one is deleted", columns: []string{"siblings"}},
	{scenario: "another's finalizer takes no time, a minute, for ever", columns: []string{"every fault", "finalizer honoured", "gone is gone, held for ever"}},
	{scenario: "A depends on B, and B on C", columns: []string{"order among all, namespace deleted", "order among all, RepoSync deleted"}},
	{scenario: "news of the namespace come later than those of the RepoSync", columns: []string{"namespace finishes, its news trail"}},
	{scenario: "the manager starts again amid it all", columns: []string{"namespace finishes, manager dies", "every fault"}},
	{scenario: "the manager is away for ten minutes", columns: []string{"namespace finishes, manager away"}},
	{scenario: "the webhook is away, under either policy", columns: []string{"namespace finishes, webhook away, Fail", "namespace finishes, webhook away, Ignore"}},
	{scenario: "something depends on what nobody manages", columns: []string{
		"order among all, on what nobody manages", "namespace finishes, something depends on what nobody manages"}},
	{scenario: "the policy is switched during the deletion", columns: []string{
		"finalizer off once", "finalizer off once, orphaned at first", "what is to stay stays"}},
	{scenario: "a namespace and a RepoSync of the same name, at once", columns: []string{"a namesake"}},
	{scenario: "a RootSync selects namespaces that go", columns: []string{"nothing in vain, namespaces selected"}},
	{scenario: "a RootSync manages the namespace that holds the RepoSync", columns: []string{"RootSync goes", "gone is gone, RootSync", "RootSync goes, RepoSync depends on its rights"}},
	{scenario: "the system namespace is deleted", unless: "every program of the operator ends with it, and nobody is left of whom to ask anything; while they " +
		"are away is told above, of each of them"},
	{scenario: "the manager is gone for good", unless: "its own finalizer is on every RepoSync, in every variant, so that none goes"},
}

// foretold writes the page, or holds it against the table, which the tests hold against the runs.
func foretold(t *testing.T) {
	if verdicts.Replaying() {
		t.Skip("a story is being replayed")
	}
	page := renderForetold(t)
	if flag.Lookup("verdicts.write").Value.String() == "true" {
		if err := os.WriteFile(foretoldPage, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(foretoldPage)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(page, string(got)); d != "" {
		t.Errorf("%s is stale; run make verdicts STORY=reposync (-runs +page)\n%s", foretoldPage, d)
	}
}

func renderForetold(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# What was foretold of reposync\n\nThis page is written by `make verdicts STORY=reposync`; do not edit it. `go test ./scenarios/reposync` fails when it is stale.\n\n" +
		"Predictions from reading the code, before anything ran, and what the cells of [VERDICTS.md](VERDICTS.md) say of them:\n\n" +
		"| prediction | cell | | story |\n|---|---|---|---|\n")
	told := catalogued(t)
	for _, p := range predictions {
		verdict, column := "confirmed", Table().Column(p.column)
		if slices.Contains(column.Caught, p.variant) != p.falls {
			verdict = "refuted"
			if why := column.Because[p.variant]; why != "" {
				verdict += ": " + why
			}
		}
		fmt.Fprintf(&b, "| %s | %s: %s | %s | %s |\n", p.says, p.column, p.variant, verdict, told[test(p.column, p.variant)])
	}
	b.WriteString("\nThe first of them is more than a matter of order: where the namespace controller is as fast as it can be, every order is fatal, and\n" +
		"where it takes seconds for a type, those in which the RoleBinding goes first (`TestOrdersOfThePairsThatMatter`).\n\n" +
		"Scenarios that were wanted beyond the table of variants, and what tells them:\n\n| scenario | told by |\n|---|---|\n")
	for _, w := range wanted {
		var by []string
		for _, column := range w.columns {
			by = append(by, Table().Column(column).Name)
		}
		if w.test != "" {
			by = append(by, "`"+w.test+"`")
		}
		if w.unless != "" {
			by = append(by, "not told: "+w.unless)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", w.scenario, strings.Join(by, "; "))
	}
	return b.String()
}

// test is the name of a cell's test.
func test(column string, v reposync.Variant) string {
	return "TestVerdicts/" + strings.ReplaceAll(column, " ", "_") + "/" + string(v)
}

// catalogued are links to the stories that are kept, by test.
func catalogued(t *testing.T) map[string]string {
	paths, err := story.List("testdata/catalogue")
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{}
	for _, path := range paths {
		s, err := story.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		links[s.Test] = fmt.Sprintf("[%s](%s)", s.Name(), path)
	}
	return links
}

// The tests that the page names are there.
func TestForetoldNamesTests(t *testing.T) {
	suite, err := os.ReadFile("reposync_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wanted {
		if w.test != "" && !strings.Contains(string(suite), "func "+w.test+"(") {
			t.Errorf("%q is told by %s, which is not there", w.scenario, w.test)
		}
		if told := len(w.columns) > 0 || w.test != ""; told == (w.unless != "") {
			t.Errorf("%q is told: %v, and why it is not: %q", w.scenario, told, w.unless)
		}
	}
}
