// Package deployed reads how an operator is deployed: the ServiceAccount that it runs as, and the
// objects that give this account its rights. It reads plain YAML, kustomizations, Helm charts whose
// templates are plain YAML, and the ClusterServiceVersion of an OLM bundle.
//
// Of a kustomization it does what changes these objects: resources, components, patches,
// namespace, namePrefix and nameSuffix. What else may change them it refuses to read.
package deployed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Deployment is how an operator is deployed.
type Deployment struct {
	// Account is the ServiceAccount that the operator runs as, as "namespace/name".
	Account string
	// Objects are namespaces, accounts, roles and bindings, in an order in which they can be
	// created. They may be shared, so they must not be changed.
	Objects []Object
}

// kinds are the kinds of objects, in the order in which they are created.
var kinds = []string{"Namespace", "ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"}

// workloads are the kinds that say as which account the operator runs.
var workloads = []string{"Deployment", "StatefulSet", "DaemonSet"}

// ErrNoAccount says that manifests do not tell how an operator is deployed.
var ErrNoAccount = errors.New("no Deployment and no binding names a ServiceAccount")

// reading is what was read from some paths, or is being read.
type reading struct {
	once sync.Once
	Deployment
	err error
}

var readings sync.Map // of *reading, by paths and account

// Read reads files and directories of YAML. A directory with a kustomization is built, one with a
// Chart.yaml has its objects in templates, and of any other each file is read. If several accounts
// run something there, account says which is meant, as "namespace/name"; it may be "". Files are
// read once, however many runs ask.
func Read(account string, paths ...string) (*Deployment, error) {
	key := account
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		key += "\x00" + abs
	}
	v, _ := readings.LoadOrStore(key, &reading{})
	r := v.(*reading)
	r.once.Do(func() { r.err = r.read(account, paths) })
	return &r.Deployment, r.err
}

func (d *Deployment) read(account string, paths []string) error {
	var all set
	for _, path := range paths {
		found, err := readPath(path)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	for _, o := range all {
		o.defaultNamespace()
	}
	if err := d.choose(account, all); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(paths, ", "), err)
	}
	namespace, name, _ := strings.Cut(d.Account, "/")
	if !all.has("ServiceAccount", namespace, name) {
		if name != "default" {
			return fmt.Errorf("%s: the operator runs as ServiceAccount %s, and there is no such account",
				strings.Join(paths, ", "), d.Account)
		}
		all = append(all, newObject("v1", "ServiceAccount", namespace, name))
	}
	for _, o := range slices.Clone(all) {
		if in := o.Namespace(); in != "" && !all.has("Namespace", "", in) {
			all = append(all, newObject("v1", "Namespace", "", in))
		}
	}
	for _, kind := range kinds {
		for _, o := range all {
			if o.Kind() == kind {
				d.Objects = append(d.Objects, o.Object)
			}
		}
	}
	return nil
}

// choose finds the account that the operator runs as: that of its workload, or the only one that a
// binding names.
func (d *Deployment) choose(account string, all set) error {
	var running, bound []string
	for _, o := range all {
		switch {
		case slices.Contains(workloads, o.Kind()):
			running = add(running, o.Namespace()+"/"+o.RunsAs())
		case strings.HasSuffix(o.Kind(), "Binding"):
			for _, s := range o.accounts() {
				bound = add(bound, at[string](s, "namespace")+"/"+at[string](s, "name"))
			}
		}
	}
	candidates := running
	if len(running) != 1 {
		candidates = slices.DeleteFunc(slices.Clone(bound), func(a string) bool {
			return len(running) > 0 && !slices.Contains(running, a)
		})
	}
	switch {
	case account != "":
		d.Account = account
	case len(candidates) == 1:
		d.Account = candidates[0]
	case len(candidates) == 0:
		return ErrNoAccount
	default:
		return fmt.Errorf("several ServiceAccounts run something there: %s; say with sim.As which is the operator's",
			strings.Join(candidates, ", "))
	}
	return nil
}

func add(to []string, s string) []string {
	if slices.Contains(to, s) {
		return to
	}
	return append(to, s)
}

// readPath reads a file or a directory.
func readPath(path string) (set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return readFile(path)
	}
	if file := kustomizationIn(path); file != "" {
		out, err := build(file, nil)
		out.refer()
		return out, err
	}
	if _, err := os.Stat(filepath.Join(path, "Chart.yaml")); err == nil {
		path = filepath.Join(path, "templates")
	}
	var out set
	err = filepath.WalkDir(path, func(file string, d os.DirEntry, err error) error {
		if ext := filepath.Ext(file); err != nil || d.IsDir() || ext != ".yaml" && ext != ".yml" && ext != ".json" {
			return err
		}
		found, err := readFile(file)
		out = append(out, found...)
		return err
	})
	return out, err
}
