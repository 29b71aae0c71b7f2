// This file tests what is no reason to try again, and what users do to an extension other than
// asking for versions.

package clusterextension

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/sim"
)

// A refusal that says something else each time is tried again no sooner than any other.
func TestRefusalsThatVary(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := deployed(w, Setting{Variant: clusterextension.V6})
		asked := 0
		s.refuses("deployments", func() string { asked++; return "at " + time.Now().Format("15:04:05.000000") })
		s.Offers(two)
		w.Sleep(30 * time.Minute)
		if asked < 2*15 || asked > 2*20 { // two Deployments in an attempt; the back-off has 19 in half an hour
			t.Errorf("it was asked %d times in half an hour", asked)
		}
	}, sim.Runs(3), sim.For(0), sim.Verify(1))
}

// What the operator can make nothing of the schema refuses: no catalog, and another namespace or
// package for what is installed.
func TestWhatTheSchemaRefuses(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := Begin(w, Setting{Variant: clusterextension.V6})
		none := extension()
		none.Spec.Source.Catalog = nil
		if err := s.Client().Create(s.Context(), none); !apierrors.IsInvalid(err) {
			t.Errorf("an extension without a catalog is not refused: %v", err)
		}
		s.Wants("", "")
		w.Settle()
		for what, patch := range map[string]string{"namespace": `{"namespace":"elsewhere"}`,
			"packageName": `{"source":{"catalog":{"packageName":"other"}}}`} {
			err := s.Client().Patch(s.Context(), extension(),
				client.RawPatch(types.MergePatchType, []byte(`{"spec":`+patch+`}`)))
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), what+" is immutable") {
				t.Errorf("a change of %s is not refused: %v", what, err)
			}
		}
	}, sim.Runs(1), sim.For(0), sim.Verify(0))
}

// A refusal that says more than a status can hold is said as far as it fits.
func TestALongStoryIsCutShort(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := deployed(w, Setting{Variant: clusterextension.V6})
		s.refuses("deployments", func() string { return cause + strings.Repeat(" and so on", 4000) })
		s.Offers(two)
		w.Sleep(time.Minute)
		if err := s.says(v1.ReasonRetrying, cause)(w.History()); err != nil {
			t.Error(err)
		}
	}, sim.Runs(1), sim.For(0), sim.Verify(0))
}

// refuses has a webhook deny updates of a resource, for a reason that it is asked for each time.
func (s *World) refuses(resource string, why func() string) {
	const host = "policy.example"
	s.External(host, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		review := &admissionv1.AdmissionReview{}
		data, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(data, review)
		}
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID,
			Result: &metav1.Status{Message: why()}}
		_ = json.NewEncoder(rw).Encode(review)
	}))
	s.Apply(&admissionregv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "policy"},
		Webhooks: []admissionregv1.ValidatingWebhook{{
			Name:         "shop.policy.example",
			ClientConfig: admissionregv1.WebhookClientConfig{URL: ptr.To("https://" + host)},
			Rules: []admissionregv1.RuleWithOperations{{
				Operations: []admissionregv1.OperationType{admissionregv1.Update},
				Rule: admissionregv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"},
					Resources: []string{resource}}}},
			FailurePolicy: ptr.To(admissionregv1.Fail), SideEffects: ptr.To(admissionregv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}},
	})
}

// A chart that is rendered differently each time is applied once.
func TestChartsThatVary(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		s := Begin(w, Setting{Variant: clusterextension.V6})
		s.Withdraws(one)
		s.Offers(restless)
		s.Wants("", "")
		for range 5 {
			w.Sleep(time.Minute)
			s.resolved()
		}
		s.read(w.History())
		if n, r := len(s.records()), s.deployed(); r == nil || n != 1 {
			t.Errorf("there are %d records, and deployed is %+v", n, r)
		}
	}, sim.Runs(3), sim.For(0), sim.Verify(1))
}

// An extension that is deleted and made again under its name is installed again, however much is
// left of the first one.
//
//make:campaigns
func TestMadeAgain(t *testing.T) {
	s := Setting{Variant: clusterextension.V6, ChunkSize: small}
	sim.Check(t, remakes.in(s, []string{installed, noOrphans}, crash()...), sim.Runs(60), sim.For(0), sim.Verify(1))
}

// Only the user can repair a broken record of a bundle that the catalog no longer has. The status
// says so.
func TestBrokenAndWithdrawn(t *testing.T) {
	for _, givesUp := range []bool{false, true} {
		sim.Check(t, func(w *sim.World) {
			s := Begin(w, Setting{Variant: clusterextension.V0, ChunkSize: small})
			s.helm.left = 2 // the index of its record, and one chunk
			s.Wants("", "")
			w.Sleep(time.Second)
			s.Withdraws(one)
			s.Setting.Variant = clusterextension.V6
			s.Stop(Operator)
			w.Sleep(10 * time.Minute)
			s.read(w.History())
			for _, part := range []string{"interrupted", "broken", bundleName(one), "restore the bundle"} {
				if !strings.Contains(s.status.message, part) {
					t.Errorf("the status does not say %q: %s", part, s.status)
				}
			}
			if givesUp {
				s.Offers(two)
				s.Wants("", v1.PolicySelfCertified)
			} else {
				s.Offers(one)
			}
			s.declare(installed)
			w.Sleep(20 * time.Minute)
			w.Settle()
		}, sim.Runs(3), sim.For(0), sim.Verify(1))
	}
}
