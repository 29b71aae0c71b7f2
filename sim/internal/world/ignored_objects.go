package world

import (
	"reflect"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// actedUpon are the built-in kinds that a real cluster acts upon. Each has the built-in controllers
// of which a world needs one for that; none where nothing models it.
var actedUpon = map[history.Ref][]string{
	{Kind: "Pod"}:                                           {"scheduler", "kubelet"},
	{Kind: "PersistentVolumeClaim"}:                         {"persistentvolume-binder-controller"},
	{Group: "apps", Kind: "Deployment"}:                     {"deployment-controller"},
	{Group: "apps", Kind: "ReplicaSet"}:                     {"replicaset-controller"},
	{Group: "apps", Kind: "StatefulSet"}:                    {"statefulset-controller"},
	{Group: "apps", Kind: "DaemonSet"}:                      {"daemonset-controller"},
	{Group: "batch", Kind: "Job"}:                           {"job-controller"},
	{Group: "batch", Kind: "CronJob"}:                       {"cronjob-controller"},
	{Group: "policy", Kind: "PodDisruptionBudget"}:          {"disruption-controller"},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: nil,
	{Kind: "ReplicationController"}:                         nil,
	{Kind: "ResourceQuota"}:                                 {"resourcequota-controller"},
	{Kind: "LimitRange"}:                                    {"resourcequota-controller"},
}

// models is the path of the built-in controllers of which it is known what they act upon.
const models = "github.com/wavetank/wavetank/models/"

// names are the names of the controllers. known is false if one of them is not from package models.
func (b *builtins) names() (names []string, known bool) {
	for _, one := range b.all {
		t := reflect.TypeOf(one.actor)
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if !strings.HasPrefix(t.PkgPath(), models) {
			return nil, false
		}
		names = append(names, one.actor.Name())
	}
	return names, true
}

// ignoredObjects counts the objects that a real cluster would act upon and nothing in this world
// does. It is nil if that is not known: if the world has a controller that is not from package
// models, or if the run forgets what was watched.
func (b *builtins) ignoredObjects() (out []run.Ignored) {
	names, known := b.names()
	if !known || b.settings.Window > 0 {
		return nil
	}
	made, watched := map[history.Ref]int{}, map[history.Ref]bool{}
	for i := range b.history.Events {
		e := &b.history.Events[i]
		if e.Kind != history.Request {
			continue
		}
		// A scenario may list objects, and write a status itself.
		if e.Verb == "watch" || e.Verb == "list" && e.Process != run.User || e.Sub != "" {
			watched[kindOf(e.Ref)] = true
		}
		for j := range e.Changes {
			if c := &e.Changes[j]; c.Type == "ADDED" {
				made[kindOf(c.Ref)]++
			}
		}
	}
	for kind, by := range actedUpon {
		if slices.ContainsFunc(by, func(name string) bool { return slices.Contains(names, name) }) {
			delete(made, kind)
		}
		if made[kind] > 0 || watched[kind] {
			out = append(out, run.Ignored{Kind: kind, Made: made[kind], Watched: watched[kind], Modelled: by != nil})
		}
	}
	slices.SortFunc(out, func(a, b run.Ignored) int { return strings.Compare(a.Kind.String(), b.Kind.String()) })
	return out
}

// kindOf is a reference to a kind.
func kindOf(r history.Ref) history.Ref {
	return history.Ref{Cluster: r.Cluster, Group: r.Group, Kind: r.Kind}
}
