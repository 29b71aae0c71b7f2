package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Manifest is the PROJECT file that kubebuilder and operator-sdk keep.
type Manifest struct {
	Domain      string     `json:"domain"`
	ProjectName string     `json:"projectName"`
	Multigroup  bool       `json:"multigroup"`
	Resources   []Resource `json:"resources"`
}

// Resource is a kind that PROJECT knows.
type Resource struct {
	Group, Domain, Version, Kind string
	Path                         string // of the package with its Go type
	Controller                   bool
	Webhooks                     struct{ Conversion, Defaulting, Validation bool }
}

// group is the API group of a resource.
func (r Resource) group() string {
	switch {
	case r.Group == "":
		return r.Domain
	case r.Domain == "":
		return r.Group
	}
	return r.Group + "." + r.Domain
}

// manifest reads PROJECT, if there is one.
func (p *Project) manifest() error {
	file := filepath.Join(p.Root, "PROJECT")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		p.note("there is no PROJECT file in %s: what is said here is read from the code and from config", p.Root)
		return nil
	}
	if err != nil {
		return err
	}
	p.Manifest = &Manifest{}
	if err := yaml.Unmarshal(data, p.Manifest); err != nil {
		return fmt.Errorf("%s cannot be read (%w): correct it, or move it away to have only the code read", file, err)
	}
	return nil
}

// complete gives controllers what PROJECT says and the code did not show, and notes what PROJECT
// promises and nothing was found of.
func (p *Project) complete() {
	if p.Manifest == nil {
		return
	}
	for _, r := range p.Manifest.Resources {
		if r.Domain == "" {
			r.Domain = p.Manifest.Domain
		}
		found := false
		for i := range p.Controllers {
			c := &p.Controllers[i]
			if c.Kind == "" && strings.TrimSuffix(c.Name, "Reconciler") == r.Kind && r.Path != "" {
				c.Kind, c.kindPath = r.Kind, r.Path
			}
			if c.Kind == r.Kind && (c.kindPath == r.Path || r.Path == "") {
				c.group, found = r.group(), true
			}
			// The package may have moved since, or its controller uses another version.
			found = found || c.Kind == r.Kind && c.group == ""
		}
		if r.Controller && !found {
			p.note("PROJECT has a controller of %s, and no exported type with Reconcile and SetupWithManager has "+
				"For(&%[1]s{}): write its test by hand, %s", r.Kind, byHand)
		}
		if r.Webhooks.Conversion {
			p.conversion("PROJECT has a conversion webhook for " + r.Kind)
		}
		hooked := slices.Contains(p.hooked, r.Kind)
		if (r.Webhooks.Defaulting || r.Webhooks.Validation) && (!hooked || p.Webhooks == "") {
			p.note("PROJECT has a webhook for %s, and there is no config/webhook with its configuration, or no "+
				"function such as Setup%[1]sWebhookWithManager(ctrl.Manager) error: the test has no webhook; run make "+
				"manifests", r.Kind)
		}
	}
}

// conversion notes what is not modelled of conversion.
func (p *Project) conversion(what string) {
	p.note("%s. Conversion webhooks are not modelled: objects of other versions get the other apiVersion and are "+
		"pruned, no more. Apply objects of the version that is stored, and test ConvertTo and ConvertFrom in a "+
		"unit test", what)
}

// build reads what kustomize builds in a directory, and notes where it does not.
func (p *Project) build(dir string) {
	if err := p.deployed.build(p.Root, dir); err != nil {
		p.note("kustomize does not build %s (%v): flags and environment are those of its single files", dir,
			strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), p.Root+"/", "")), " "))
	}
}

// files finds definitions, webhook configurations, samples and the environment of the manager.
func (p *Project) files() error {
	most := map[string]int{}
	converts := map[string]string{}
	err := filepath.WalkDir(p.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(p.Root, path)
		if d.IsDir() {
			others := []string{"vendor", "testdata", "bin", "node_modules"}
			hidden := strings.HasPrefix(d.Name(), ".") && rel != "."
			if hidden || slices.Contains(others, d.Name()) || strings.Count(rel, string(filepath.Separator)) > 5 {
				return filepath.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, rel, dir := string(data), filepath.ToSlash(rel), filepath.ToSlash(filepath.Dir(rel))
		p.manifests.see(rel, text)
		switch {
		case strings.Contains(text, "{{"): // a template of a chart
			p.deployed.add(rel, p.deployed.withoutTemplates(p.Root, rel, text))
		case isKustomization(rel):
			p.kustomization(rel, text)
		case strings.Contains(text, "kind: CustomResourceDefinition\n"):
			if strings.Contains("\n"+text, "\nkind: CustomResourceDefinition\n") && !strings.HasSuffix(dir, "patches") {
				most[dir]++
			}
			if strings.Contains(text, "strategy: Webhook\n") {
				converts[dir] = rel
			}
		case strings.Contains(text, "kind: ValidatingWebhookConfiguration\n"),
			strings.Contains(text, "kind: MutatingWebhookConfiguration\n"):
			if p.Webhooks == "" && dir == "config/webhook" {
				p.Webhooks = dir
			}
		case strings.HasSuffix(dir, "samples"):
			found, err := samplesIn(rel, text)
			if err != nil {
				p.note("%s is left out, because it cannot be read (%v): correct it", rel, err)
			}
			p.Samples = append(p.Samples, found...)
		default:
			p.deployed.add(rel, text)
		}
		return nil
	})
	for dir, n := range most {
		was, usual := p.Definitions, "config/crd/bases"
		better := dir == usual || n > most[was] || n == most[was] && dir < was
		if was == "" || was != usual && better {
			p.Definitions = dir
		}
	}
	p.selectSamples()
	p.Rights, p.withoutRights = p.manifests.rights(p.Root, p.kustomized)
	if dir := p.manifests.toBuild(p.Rights); dir != "" && !p.deployed.lacking {
		p.build(dir)
	}
	p.Environment, p.guessed = p.deployed.environment(p.reads)
	if file := converts[p.Definitions]; file != "" {
		p.conversion(file + " has spec.conversion.strategy Webhook, which w.Install refuses where there are several " +
			"versions: install a copy without spec.conversion")
	}
	return err
}
