package scaffold_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/wavetank/wavetank/internal/deployed"
)

// What a test applies of a kustomization is what kustomize builds.
func TestKustomizationsAreBuiltAsByKustomize(t *testing.T) {
	archives, err := filepath.Glob("testdata/kustomize/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(err, len(archives))
	}
	for _, archive := range archives {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			files, _ := projectFiles(t, archive)
			dir := filepath.Join(unpacked(t, files), "config", "default")
			built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
			if err != nil {
				t.Fatal(err)
			}
			account, want := "", map[string]any{}
			for _, r := range built.Resources() {
				var o deployed.Object
				data, err := r.MarshalJSON()
				if err := errors.Join(err, json.Unmarshal(data, &o)); err != nil {
					t.Fatal(err)
				}
				if o.Kind() == "Deployment" {
					account = o.Namespace() + "/" + o.RunsAs()
					continue
				}
				want[o.String()] = compared(o)
			}
			d, err := deployed.Read("", dir)
			if err != nil {
				t.Fatal(err)
			}
			if d.Account != account {
				t.Errorf("account %s, want %s", d.Account, account)
			}
			got := map[string]any{}
			for _, o := range d.Objects {
				if _, isThere := want[o.String()]; isThere || o.Kind() != "Namespace" {
					got[o.String()] = compared(o)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// compared is an object without its labels.
func compared(o deployed.Object) map[string]any {
	o["metadata"] = []string{o.Namespace(), o.Name()}
	return o
}
