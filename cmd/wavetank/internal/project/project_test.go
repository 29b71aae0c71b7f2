package project_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/project"
	"github.com/wavetank/wavetank/cmd/wavetank/internal/scaffold"
)

// controllers are the reconcilers of each project.
var controllers = map[string]string{
	"bucket": "Bucket", "busybox": "Busybox", "configdeployment": "ConfigDeployment", "cronjob": "CronJob",
	"dnsrecord": "Record", "memcached": "Memcached", "multigroup": "Captain Frigate", "multiversion": "Shelf",
	"sdkmemcached": "Memcached", "webapp": "Database WebApp",
}

func TestInitReadsEachProject(t *testing.T) {
	t.Setenv("GOWORK", "off")
	if names := slices.Sorted(maps.Keys(controllers)); !slices.Equal(names, project.Names()) {
		t.Fatalf("the projects are %q, want %q", project.Names(), names)
	}
	for name, want := range controllers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := project.Write(dir, name); err != nil {
				t.Fatal(err)
			}
			p, err := scaffold.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, process := range p.Processes {
				test, err := p.Test(process)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(test.Source), "no call of AddToScheme was seen") {
					t.Errorf("the test of %s does not have the scheme of main:\n%s", process.Name, test.Source)
				}
			}
			for _, c := range p.Controllers {
				kinds = append(kinds, c.Kind)
			}
			slices.Sort(kinds)
			if got := strings.Join(kinds, " "); got != want {
				t.Errorf("controllers of %q, want %q", got, want)
			}
		})
	}
}

// A project with everything that is generated: deep copies, a definition, a role, webhooks.
//
//make:campaigns
func TestGenerate(t *testing.T) {
	checkout, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := project.Write(dir, "multiversion"); err != nil {
		t.Fatal(err)
	}
	if err := project.Generate(context.Background(), checkout, dir); err != nil {
		t.Fatal(err)
	}
	for path, part := range map[string]string{
		"api/v2/zz_generated.deepcopy.go":                 "func (in *Shelf) DeepCopyObject() runtime.Object",
		"config/crd/bases/books.example.com_shelves.yaml": "name: v2",
		"config/rbac/role.yaml":                           "shelves/status",
		"config/webhook/manifests.yaml":                   "validate-books-example-com-v1-shelf",
	} {
		if data, err := os.ReadFile(filepath.Join(dir, path)); err != nil || !strings.Contains(string(data), part) {
			t.Errorf("%s does not have %q (%v):\n%s", path, part, err, data)
		}
	}
	p, err := scaffold.Read(dir)
	if err != nil || p.Rights != "config/default" {
		t.Errorf("the rights that ship are in %q (%v)", p.Rights, err)
	}
}

func TestUnknownProject(t *testing.T) {
	if err := project.Write(t.TempDir(), "other"); err == nil || !strings.Contains(err.Error(), `no project "other"`) {
		t.Errorf("%v", err)
	}
}
