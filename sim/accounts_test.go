package sim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

func account(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// granted is a Role of the namespace default and a binding that gives it to an account.
func granted(name string, rules ...rbacv1.PolicyRule) []client.Object {
	m := metav1.ObjectMeta{Namespace: "default", Name: name}
	return []client.Object{
		&rbacv1.Role{ObjectMeta: m, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: m,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: name}},
		},
	}
}

var readsMaps = rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""},
	Resources: []string{"configmaps"}}

// reader asks for a ConfigMap once a minute and keeps the answers.
func reader(answers *[]string) func(context.Context, *rest.Config) error {
	return func(ctx context.Context, cfg *rest.Config) error {
		c, err := client.New(cfg, client.Options{})
		if err != nil {
			return err
		}
		for ctx.Err() == nil {
			err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, &corev1.ConfigMap{})
			said := "found"
			if err != nil {
				said = string(apierrors.ReasonForError(err))
			}
			*answers = append(*answers, said)
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
			}
		}
		return nil
	}
}

func TestRightsCountAtOnce(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		var answers []string
		expect := func(when, want string) {
			w.Sleep(time.Minute)
			if got := answers[len(answers)-1]; got != want {
				t.Errorf("%s: %s, want %s", when, got, want)
			}
		}
		w.Run("reader", reader(&answers), sim.As("default/reader"))
		expect("before the account exists", "Unauthorized")
		w.Apply(account("reader"), simtest.ConfigMap("a"))
		expect("without rights", "Forbidden")
		rights := granted("reader", readsMaps)
		w.Apply(rights...)
		expect("with rights", "found")
		rights[1].SetFinalizers([]string{"example.org/hold"})
		w.Remove(rights[1])
		expect("without the binding", "Forbidden")
		w.Apply(rights[1])
		expect("with it again", "found")
		w.Remove(rights[1])
		expect("while a finalizer holds the binding", "found")
		w.Remove(account("reader"))
		expect("without the account", "Unauthorized")
	}, sim.Runs(3), sim.Verify(1))
}

func TestRecreatedAccountNeedsANewToken(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		var answers []string
		w.Apply(account("reader"), simtest.ConfigMap("a"))
		w.Apply(granted("reader", readsMaps)...)
		w.Run("reader", reader(&answers), sim.As("default/reader"))
		w.Sleep(30 * time.Second)
		w.Remove(account("reader"))
		w.Apply(account("reader"))
		w.Sleep(time.Minute)
		w.Stop("reader") // the next incarnation gets a token for the new account
		w.Sleep(time.Minute)
		if got := strings.Join(answers, " "); got != "found Unauthorized found" &&
			got != "found Unauthorized found found" {
			t.Errorf("the reader got: %s", got)
		}
	}, sim.Runs(3), sim.Verify(1))
}

// A program that acts for others takes on their accounts, as far as it may.
func TestImpersonationNeedsRights(t *testing.T) {
	var answers []string
	simtest.Holds(t, func(w *sim.World) {
		answers = nil
		w.Apply(account("tenant"), account("operator"), simtest.ConfigMap("a"))
		w.Apply(granted("tenant", readsMaps)...)
		w.Apply(granted("operator", rbacv1.PolicyRule{
			Verbs: []string{"impersonate"}, APIGroups: []string{""}, Resources: []string{"serviceaccounts"},
			ResourceNames: []string{"tenant"},
		})...)
		w.Run("operator", func(ctx context.Context, cfg *rest.Config) error {
			var mapper meta.RESTMapper // of the first, because discovery would be refused too
			for _, name := range []string{"", "tenant", "operator"} {
				as := rest.CopyConfig(cfg)
				if name != "" {
					as.Impersonate.UserName = "system:serviceaccount:default:" + name
				}
				c, err := client.New(as, client.Options{Mapper: mapper})
				if err != nil {
					return err
				}
				mapper = c.RESTMapper()
				said := "found"
				if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"},
					&corev1.ConfigMap{}); err != nil {
					said = err.Error()
				}
				answers = append(answers, said)
			}
			<-ctx.Done()
			return nil
		}, sim.As("default/operator"))
		w.Sleep(time.Minute)
	}, sim.Runs(1))
	want := []string{
		`configmaps "a" is forbidden: User "system:serviceaccount:default:operator" ` +
			`cannot get resource "configmaps" in API group "" in the namespace "default"`,
		"found",
		`configmaps "a" is forbidden: User "system:serviceaccount:default:operator" cannot ` +
			`impersonate-on:serviceaccount:get resource "configmaps" in API group "" in the namespace "default"`,
	}
	if strings.Join(answers, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(answers, "\n"), strings.Join(want, "\n"))
	}
}
