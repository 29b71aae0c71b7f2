// Package migration is a model of data that lives outside the cluster and is changed by whatever
// runs in it: datasets, each with a level, and workloads that lift a dataset to their own level as
// soon as they are applied. There is no way down.
//
// A workload is a Deployment with the annotations [Dataset] and [Level]. One with the annotation
// [Together] can only work with datasets that are all at one level, and of which none is being
// migrated or was left half migrated.
//
// A workload with one of the annotations [Takes], [Fails] and [Ready] migrates when its time has
// passed, or not at all, and is ready after that. The model writes the status of such a Deployment,
// as the Deployment controller would. Others migrate as soon as they are applied, and have no
// status. A workload that is replaced or removed while it migrates leaves its dataset half
// migrated, until another migration of it is done.
//
// The model records effects in the run's history, by [history.AddEffect]. The effect [Migrated] is
// a dataset that is lifted, and [Failed] a migration that has failed. The effects [Apart] and
// [Outdated] are workloads that meet data that they cannot work with.
//
// What it does not do: pods, and data itself.
package migration

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// Annotations of a workload.
const (
	// Dataset is the name of the dataset that it works on.
	Dataset = "migration.example/dataset"
	// Level is the level that it lifts the dataset to; 0 or absent leaves it where it is.
	Level = "migration.example/level"
	// Together is "true" for a workload that needs all datasets to be at one level.
	Together = "migration.example/together"
	// Takes is how long a migration takes, whether it succeeds or fails, as "5m".
	Takes = "migration.example/takes"
	// Fails is how often a migration fails before it succeeds, or [Always]. A failed one begins
	// again.
	Fails = "migration.example/fails"
	// Ready is how long after its migration a workload is ready, as "30s".
	Ready = "migration.example/ready"
	// Always is the value of [Fails] for a migration that never succeeds.
	Always = "always"
)

// The kinds of ledger entries.
const (
	// Migrated says that a dataset was lifted. The key is "dataset/level".
	Migrated = "migrated"
	// Failed says that a migration of a dataset has failed. The key is "dataset/level".
	Failed = "migration failed"
	// Apart says that a workload which needs all datasets at one level is there while they are not.
	Apart = "apart"
	// Outdated says that a workload was applied whose dataset had been lifted above its level.
	Outdated = "outdated"
)

// Datasets is the model. It is a built-in controller of the world; make one with New for each run.
type Datasets struct {
	ctx     context.Context
	cluster actor.Cluster
	levels  map[string]int
	names   []string
	needy   []history.Ref // workloads that need all datasets at one level
	slow    map[history.Ref]*running
	half    map[string]string // by dataset: who migrates it, or left it half migrated
}

// New returns datasets that are all at level 0. They exist when the first workload names them.
// Effects go to the ledger of the context, see [history.WithLedger].
func New(ctx context.Context) *Datasets {
	return &Datasets{ctx: ctx, levels: map[string]int{}, slow: map[history.Ref]*running{},
		half: map[string]string{}}
}

// LevelOf is the level of a dataset.
func (d *Datasets) LevelOf(dataset string) int { return d.levels[dataset] }

// Name implements actor.Actor.
func (*Datasets) Name() string { return "datasets" }

// Begin implements actor.Actor.
func (d *Datasets) Begin(c actor.Cluster) { d.cluster = c }

// Observe implements actor.Actor.
func (d *Datasets) Observe(c apiserver.Change) {
	if c.Group != "apps" || c.Resource != "deployments" {
		return
	}
	var o metav1.PartialObjectMetadata
	if !actor.Decode(c.Object, &o) {
		panic("a stored deployment cannot be decoded")
	}
	ref := history.Ref{Group: "apps", Kind: "Deployment", Namespace: o.Namespace, Name: o.Name}
	d.needy = slices.DeleteFunc(d.needy, func(r history.Ref) bool { return r == ref })
	dataset := o.Annotations[Dataset]
	if c.Type == "DELETED" || dataset == "" {
		d.replaced(ref)
		return
	}
	if o.Annotations[Together] == "true" {
		d.needy = append(d.needy, ref)
	}
	next := newSlowWorkload(ref, &o)
	if next == nil || *next != d.slow[ref].wanted() {
		d.replaced(ref)
		if next != nil {
			d.begins(next)
		} else {
			d.apply(ref, dataset, o.Annotations[Level])
		}
	}
	d.look()
}

// levelOf is the level of a dataset, which exists from then on.
func (d *Datasets) levelOf(dataset string) int {
	was, known := d.levels[dataset]
	if !known {
		d.names = append(d.names, dataset)
		slices.Sort(d.names)
		d.levels[dataset] = 0
	}
	return was
}

// apply lifts a dataset.
func (d *Datasets) apply(ref history.Ref, dataset, level string) {
	was := d.levelOf(dataset)
	to, err := strconv.Atoi(level)
	if err != nil || to == was {
		return
	}
	if to == 0 {
		return
	}
	if to < was {
		history.AddEffect(d.ctx, history.Effect{Kind: Outdated, Key: fmt.Sprintf("%s/%d", dataset, to),
			Detail: fmt.Sprintf("%s works at level %d, and dataset %s is at level %d", ref, to, dataset, was)})
		return
	}
	d.levels[dataset] = to
	delete(d.half, dataset)
	history.AddEffect(d.ctx, history.Effect{Kind: Migrated, Key: fmt.Sprintf("%s/%d", dataset, to),
		Detail: fmt.Sprintf("%s migrates dataset %s from level %d to %d", ref, dataset, was, to)})
}

// look finds workloads that cannot work with what is there.
func (d *Datasets) look() {
	var at []string
	equal := true
	for _, name := range d.names {
		at = append(at, fmt.Sprintf("%s is at level %d", name, d.levels[name]))
		if half := d.half[name]; half != "" {
			at[len(at)-1] += ", " + half
			equal = false
		}
		equal = equal && d.levels[name] == d.levels[d.names[0]]
	}
	if equal || len(d.needy) == 0 {
		return
	}
	history.AddEffect(d.ctx, history.Effect{Kind: Apart, Key: strings.Join(at, ", "),
		Detail: fmt.Sprintf("%s needs all datasets at one level, but %s", d.needy[0], strings.Join(at, " and "))})
}

// AtOneLevel is a property: no workload that needs all datasets at one level ever meets them at
// several.
func (*Datasets) AtOneLevel(h *history.History) error { return none(h, Apart) }

// NotOutdated is a property: no workload is applied to a dataset that has been lifted above its
// level.
func (*Datasets) NotOutdated(h *history.History) error { return none(h, Outdated) }

func none(h *history.History, kind string) error {
	if e := h.Effects(kind); len(e) > 0 {
		return fmt.Errorf("at %s %s", history.Clock(e[0].At), e[0].Detail)
	}
	return nil
}
