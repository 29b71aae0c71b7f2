package sim

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/user"
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

// unheeded is how many objects of such a kind a run made, and whether somebody watched the kind, or wrote a subresource of it, as only
// those do who play the controller's part.
type unheeded struct {
	kind    history.Ref
	made    int
	watched bool
	cure    bool // a package of models would act upon them
}

// models is where the built-in controllers are whose deeds are known.
const models = "github.com/wavetank/wavetank/models/"

// unheeded counts them. Where a controller that is not of ours is built in, nobody knows what that acts upon; and of a run that
// forgets, nobody knows what was watched.
func (w *World) unheeded() (out []unheeded) {
	var have []string
	for _, b := range w.builtins.all {
		t := reflect.TypeOf(b.actor)
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if !strings.HasPrefix(t.PkgPath(), models) {
			return nil
		}
		have = append(have, b.actor.Name())
	}
	if w.settings.window > 0 {
		return nil
	}
	made, watched := map[history.Ref]int{}, map[history.Ref]bool{}
	for i := range w.history.Events {
		e := &w.history.Events[i]
		if e.Kind != history.Request {
			continue
		}
		of := history.Ref{Cluster: e.Ref.Cluster, Group: e.Ref.Group, Kind: e.Ref.Kind}
		if e.Verb == "watch" || e.Verb == "list" && e.Process != user.Name || e.Sub != "" { // a scenario may write a status itself
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
			out = append(out, unheeded{of, made[of], watched[of], heeds[of] != nil})
		}
	}
	slices.SortFunc(out, func(a, b unheeded) int { return strings.Compare(a.kind.String(), b.kind.String()) })
	return out
}

// addUnheeded takes what a run has of a kind into a campaign.
func addUnheeded(all []unheeded, u unheeded) []unheeded {
	at := slices.IndexFunc(all, func(have unheeded) bool { return have.kind == u.kind })
	if at < 0 {
		return append(all, u)
	}
	all[at].made, all[at].watched = max(all[at].made, u.made), all[at].watched || u.watched
	return all
}

// warning says, in a sentence, that nothing acted upon objects that were made; "" if somebody did, or may have done.
func (u unheeded) warning() string {
	if u.made == 0 || u.watched {
		return ""
	}
	objects, them := fmt.Sprintf("up to %d objects of kind %s were", u.made, u.kind.Kind), "them"
	if u.made == 1 {
		objects, them = fmt.Sprintf("1 object of kind %s was", u.kind.Kind), "it"
	}
	s := fmt.Sprintf("%s made in a run, and nothing in this world acts upon %s, though a cluster would", objects, them)
	switch {
	case !u.cure:
		return s + ": that is not modelled"
	case u.kind.Kind == "Pod":
		return s + ": w.Builtin(kubelet.New()...)"
	}
	return s + ": w.Builtin(workload.New()...)"
}
