package scaffold

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/deployed"
)

// manifests are the places in a project that may say with which rights the operator is deployed.
type manifests struct {
	kustomizations, charts, bundles, plain []string // directories, from the root
}

var binding = regexp.MustCompile(`(?m)^kind:\s*(Cluster)?RoleBinding\s*$`)

// aside are directories whose manifests and programs are for something else than the operator.
var aside = []string{"docs", "e2e", "example", "examples", "hack", "test", "tests"}

// isAside reports whether a file, from the root, is below one of them.
func isAside(file string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"),
		func(part string) bool { return slices.Contains(aside, part) })
}

// see notes a file of YAML.
func (m *manifests) see(file, text string) {
	dir := path.Dir(file)
	if isAside(file) {
		return
	}
	add := func(to *[]string) {
		if !slices.Contains(*to, dir) {
			*to = append(*to, dir)
		}
	}
	switch {
	case isKustomization(file):
		add(&m.kustomizations)
	case path.Base(file) == "Chart.yaml":
		add(&m.charts)
	case strings.Contains(text, "kind: ClusterServiceVersion\n"):
		if !strings.HasPrefix(dir, "config/manifests") { // it has no rights yet
			add(&m.bundles)
		}
	case binding.MatchString(text) && !strings.Contains("/"+dir+"/", "/templates/"):
		add(&m.plain)
	}
}

const usualRights = "config/default"

// rights is the directory with which the operator is deployed, or why there is none. If the usual
// manifests cannot be read, no others are taken. Kustomized are the files that kustomizations name.
func (m *manifests) rights(root string, kustomized map[string][]string) (dir, without string) {
	var named []string
	for _, files := range kustomized {
		named = append(named, files...)
	}
	var roots []string
	for _, dir := range m.kustomizations {
		if !slices.Contains(named, dir) {
			roots = append(roots, dir)
		}
	}
	slices.Sort(roots)
	if slices.Contains(m.kustomizations, usualRights) { // overlays may be made of it
		roots = append([]string{usualRights}, roots...)
	}
	var why error
	for _, dir := range slices.Concat(roots, m.plain, m.charts, m.bundles) {
		_, err := deployed.Read("", filepath.Join(root, filepath.FromSlash(dir)))
		if err == nil {
			return dir, ""
		}
		if !errors.Is(err, deployed.ErrNoAccount) && why == nil {
			why = errors.New(strings.ReplaceAll(err.Error(), root+string(filepath.Separator), ""))
		}
		if why != nil && dir == usualRights {
			break
		}
	}
	if why != nil {
		return "", why.Error()
	}
	return "", "no kustomization (config/default), Helm chart, OLM bundle or file with a ClusterRoleBinding " +
		"says with which rights it is deployed"
}

// toBuild is the kustomization that deploys the operator: the one with its rights, or the usual
// one, which kustomize may build though its rights are not read; "" if there is none.
func (m *manifests) toBuild(rights string) string {
	for _, dir := range []string{rights, usualRights} {
		if slices.Contains(m.kustomizations, dir) {
			return dir
		}
	}
	return ""
}

// rights is the option with which the test runs the operator as its own ServiceAccount.
func (w *writer) rights(up func(string) string) string {
	if w.project.Rights == "" {
		w.guess("the operator runs as cluster administrator, so no missing RBAC rule is found: %s; give w.Start "+
			"sim.AsDeployed(paths) to change that", w.project.withoutRights)
		return ""
	}
	return fmt.Sprintf(", sim.AsDeployed(%q)", up(w.project.Rights))
}
