package simtest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Mailer sends one mail for each [Source] and then annotates it as sent. Even without one of its
// flaws it sends the mail twice if a fault comes in between.
type Mailer struct {
	Forgetful bool          // it neither writes nor reads the annotation
	Hasty     time.Duration // it gives up on the mail server after this time
	Trusting  bool          // it takes any answer for a success
}

// Setup is the setup function of the mailer.
func (m Mailer) Setup(mgr ctrl.Manager) error {
	c, out := mgr.GetClient(), sim.HTTPClient(mgr)
	mail := func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		var cm corev1.ConfigMap
		if err := c.Get(ctx, req.NamespacedName, &cm); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		if cm.Annotations["sent"] != "" && !m.Forgetful {
			return reconcile.Result{}, nil
		}
		if err := m.Send(ctx, out, req.Name); err != nil || m.Forgetful {
			return reconcile.Result{}, err
		}
		patch := client.MergeFrom(cm.DeepCopy())
		if cm.Annotations == nil {
			cm.Annotations = map[string]string{}
		}
		cm.Annotations["sent"] = "yes"
		return reconcile.Result{}, c.Patch(ctx, &cm, patch)
	}
	return ctrl.NewControllerManagedBy(mgr).Named("mailer").For(&corev1.ConfigMap{}, Role("source")).
		Complete(reconcile.Func(mail))
}

// Send sends one mail to the host mail.example.
func (m Mailer) Send(ctx context.Context, out *http.Client, name string) error {
	if m.Hasty > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.Hasty)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://mail.example/"+name,
		strings.NewReader("hello"))
	if err != nil {
		return err
	}
	resp, err := out.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices && !m.Trusting {
		return fmt.Errorf("the mail server answers %s", resp.Status)
	}
	return nil
}

// Post is the model of mail.example. It delivers every mail.
func Post(_ http.ResponseWriter, r *http.Request) {
	history.AddEffect(r.Context(), history.Effect{Kind: "mail", Key: strings.TrimPrefix(r.URL.Path, "/")})
}

// SentOnce is the sentence of [OnceEach] in [Mailing].
const SentOnce = "each mail is sent at most once"

// OnceEach reports the first mail that was sent twice.
func OnceEach(h *history.History) error {
	seen := map[string]int{}
	for i, e := range h.Effects("mail") {
		if j, ok := seen[e.Key]; ok {
			return fmt.Errorf("mail %s was sent as effect %d and again as effect %d", e.Key, j+1, i+1)
		}
		seen[e.Key] = i
	}
	return nil
}

// AllSent reports the first [Source] without a mail.
func AllSent(h *history.History) error {
	sent := map[string]bool{}
	for _, e := range h.Effects("mail") {
		sent[e.Key] = true
	}
	for _, o := range h.Objects("", "ConfigMap") {
		if name := o.Ref.Name; strings.HasPrefix(name, "src") && !sent[name] {
			return fmt.Errorf("no mail was sent for %s", name)
		}
	}
	return nil
}

// Mailing returns a scenario of a mailer and one source that is changed soon after it was created.
func Mailing(m Mailer, faults ...func() fault.Fault) func(*sim.World) {
	return func(w *sim.World) {
		w.External("mail.example", http.HandlerFunc(Post))
		w.Start("mailer", m.Setup)
		inject(w, faults)
		w.Always(SentOnce, OnceEach)
		w.Eventually("every mail is sent", AllSent)
		w.Apply(Source("src-a", "k", "1"))
		touch := client.RawPatch(types.MergePatchType, []byte(`{"data":{"k":"2"}}`))
		if err := w.Client().Patch(w.Context(), ConfigMap("src-a"), touch); err != nil {
			panic(err)
		}
		w.Settle()
	}
}

// SendsTwice is [Mailing] under faults that make the mailer send twice.
func SendsTwice(w *sim.World) {
	Mailing(Mailer{},
		func() fault.Fault { return fault.Crash("mailer") }, func() fault.Fault { return fault.LostReply() },
		func() fault.Fault { return fault.StaleCache(30 * time.Second) },
		func() fault.Fault { return fault.ServerError() }, func() fault.Fault { return fault.RacingRequeue() },
	)(w)
}
