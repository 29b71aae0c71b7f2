package fault

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// WebhookDown makes an admission webhook unreachable for windows of up to d, wherever it is served.
// Its failurePolicy decides what happens to writes that would call it: they fail with 500, or pass
// without it. [Named] narrows the fault to one webhook, by its name in the webhook configuration.
// w.Apply and w.Remove try again every second; after ten minutes there are no more faults.
func WebhookDown(d time.Duration, scopes ...Named) Fault {
	return declare("WebhookDown", d.String(), scopes, func(c core) inject.Fault { return &webhookDown{newLasting(c)} }).
		upTo(d)
}

type webhookDown struct{ lasting } // by webhook

// Webhook implements [inject.WebhookCaller].
func (w *webhookDown) Webhook(c *wire.Call) wire.Ruling {
	if w.scope.name != "" && w.scope.name != c.Webhook {
		return wire.Ruling{}
	}
	if w.remaining(c.Webhook) == 0 {
		v := w.injected(story.Label{What: c.Webhook}, len(lengths), 12, 3)
		if v == 0 {
			return wire.Ruling{}
		}
		how := fmt.Sprintf("webhook %s does not answer for %v", c.Webhook, w.begin(c.Webhook, v))
		w.env.Note(history.Event{Kind: history.Fault, Process: c.Port.Process, Injection: w.injection(how)})
		w.observed()
	}
	return wire.Ruling{Lose: refused()}
}

// SlowNamespace delays each step of the namespace controller by up to d, and so the end of a
// namespace.
func SlowNamespace(d time.Duration, scopes ...Named) Fault {
	return declare("SlowNamespace", d.String(), scopes,
		func(c core) inject.Fault { return &slowNamespace{c} }).upTo(d)
}

type slowNamespace struct{ core }

// StepDelay implements [inject.StepDelayer]. The key of a step ends with the namespace's name.
func (s *slowNamespace) StepDelay(actor, key string) time.Duration {
	named := s.scope.name
	if actor != "namespace-controller" || named != "" && key != named && !strings.HasSuffix(key, " "+named) {
		return 0
	}
	v := s.injected(story.Label{What: key}, len(lags), 6, 2)
	if v == 0 {
		return 0
	}
	s.observed()
	return s.share(lags, v)
}

// FailedPod lets the containers of a Pod end with exit code 1, or with 137 because they are out of
// memory, in worlds with kubelet.New. Each start of a Pod is chosen separately. So is each Job: all
// its Pods may fail until the Job has failed, even if faults end meanwhile. [Named] narrows the
// fault to one Pod, or to the Pods of one controller, such as a Job. kubelet.Plans may overrule it.
func FailedPod(scopes ...Named) Fault {
	return declare("FailedPod", "", scopes, func(c core) inject.Fault { return &failedPod{c, map[types.UID]int32{}} })
}

type failedPod struct {
	core
	jobs map[types.UID]int32 // the exit codes of their Pods
}

// exitCodes are the alternatives. The first stands for no failure.
var exitCodes = []int32{0, 1, 137}

// PodExit implements [inject.PodExiter].
func (f *failedPod) PodExit(p *corev1.Pod, class string) int32 {
	ref := history.Ref{Kind: "Pod", Namespace: p.Namespace, Name: p.Name}
	of := ptr.Deref(metav1.GetControllerOf(p), metav1.OwnerReference{})
	owner := history.Ref{Kind: of.Kind, Namespace: p.Namespace, Name: of.Name}
	if !f.scope.covers("", "", "", ref) && !f.scope.covers("", "", "", owner) {
		return 0
	}
	if _, known := f.jobs[of.UID]; of.Kind == "Job" && !known {
		f.jobs[of.UID] = f.exit(owner.String(), owner, "every Pod ends with %d:")
	}
	if code := f.jobs[of.UID]; code != 0 {
		return code
	}
	return f.exit("Pod "+class, ref, "ends with %d:")
}

// exit is the code that is chosen for a Pod, or for all Pods of a Job.
func (f *failedPod) exit(what string, ref history.Ref, how string) int32 {
	code := exitCodes[f.injected(story.Label{What: what}, len(exitCodes), 48, 12)]
	if code != 0 {
		in := f.injection(fmt.Sprintf(how, code))
		in.Ref, in.Of = ref, ref.String()
		f.env.Note(history.Event{Kind: history.Fault, Process: "kubelet", Injection: in})
		f.observed()
	}
	return code
}

// NodeDown takes nodes away for up to d, in worlds with kubelet.Lifecycle: a node and its Pods
// report nothing. It begins when a Pod on the node has become ready. After 50 s the node is not
// ready, and five minutes later its Pods are deleted and stay Terminating. So d should be ten
// minutes or more. A node that is lost stays so for its time, even if faults end meanwhile. [Named]
// narrows the fault to one node.
func NodeDown(d time.Duration, scopes ...Named) Fault {
	return declare("NodeDown", d.String(), scopes,
		func(c core) inject.Fault { return &nodeDown{c} }).upTo(d)
}

type nodeDown struct{ core }

// NodeDown implements [inject.NodeTaker].
func (n *nodeDown) NodeDown(node string) time.Duration {
	ref := history.Ref{Kind: "Node", Name: node}
	if !n.scope.covers("", "", "", ref) {
		return 0
	}
	v := n.injected(story.Label{What: "Node " + node}, len(lags), 12, 4)
	if v == 0 {
		return 0
	}
	d := n.share(lags, v)
	in := n.injection(fmt.Sprintf("for %v:", d))
	in.Ref, in.Of = ref, ref.String()
	n.env.Note(history.Event{Kind: history.Fault, Process: "kubelet", Injection: in})
	n.observed()
	return d
}
