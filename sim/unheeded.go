package sim

import (
	"reflect"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// This file tells of objects that a real cluster would act upon, and nobody in this world does.

// heeds are the built-in kinds that a real cluster acts upon, each with the built-in controllers of which one has to be in a world
// for that; none where nothing models it.
var heeds = map[history.Ref][]string{
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
	{Kind: "ResourceQuota"}:                                 nil,
	{Kind: "LimitRange"}:                                    nil,
}

// models is where the built-in controllers are whose deeds are known.
const models = "github.com/wavetank/wavetank/models/"

// ignoredObjects counts them. Where a controller that is not of ours is built in, nobody knows what that acts upon; and of a run that
// forgets, nobody knows what was watched.
func (w *World) ignoredObjects() (out []run.Ignored) {
	var have []string
	for _, b := range w.builtins {
		t := reflect.TypeOf(b.actor)
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if !strings.HasPrefix(t.PkgPath(), models) {
			return nil
		}
		have = append(have, b.actor.Name())
	}
	if w.settings.Window > 0 {
		return nil
	}
	made, watched := map[history.Ref]int{}, map[history.Ref]bool{}
	for i := range w.history.Events {
		e := &w.history.Events[i]
		if e.Kind != history.Request {
			continue
		}
		of := history.Ref{Cluster: e.Ref.Cluster, Group: e.Ref.Group, Kind: e.Ref.Kind}
		if e.Verb == "watch" || e.Verb == "list" && e.Process != userName || e.Sub != "" { // a scenario may write a status itself
			if _, ok := heeds[of]; ok {
				watched[of] = true
			}
		}
		for j := range e.Changes {
			if c := &e.Changes[j]; c.Type == "ADDED" {
				of := history.Ref{Cluster: c.Ref.Cluster, Group: c.Ref.Group, Kind: c.Ref.Kind}
				if by, ok := heeds[of]; ok && !slices.ContainsFunc(by, func(name string) bool { return slices.Contains(have, name) }) {
					made[of]++
				}
			}
		}
	}
	for of := range heeds {
		if made[of] > 0 || watched[of] {
			out = append(out, run.Ignored{Kind: of, Made: made[of], Watched: watched[of], Modelled: heeds[of] != nil})
		}
	}
	slices.SortFunc(out, func(a, b run.Ignored) int { return strings.Compare(a.Kind.String(), b.Kind.String()) })
	return out
}
