// This file tests that a torn sharded record is refused, and that the driver of a holder tears
// none.

package release

import (
	"encoding/base64"
	"errors"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"
)

var errDead = errors.New("the process is dead")

// newChunked is a driver over the Secrets of a fake cluster. Only the first *left of its writes
// succeed; negative is no limit.
func newChunked(careful bool) (c *Chunked, left *int) {
	set, left := fake.NewClientset(), ptr.To(-2)
	set.PrependReactor("*", "secrets", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.GetVerb() == "get" || a.GetVerb() == "list" {
			return false, nil, nil
		}
		if *left--; *left == -1 {
			*left = 0
			return true, nil, errDead
		}
		several, ok := a.(clienttesting.DeleteCollectionAction)
		if !ok {
			return false, nil, nil
		}
		// The fake cluster would delete everything.
		all, err := set.Tracker().List(a.GetResource(), corev1.SchemeGroupVersion.WithKind("Secret"), "ns")
		if err != nil {
			return true, nil, err
		}
		for _, s := range all.(*corev1.SecretList).Items {
			if several.GetListRestrictions().Labels.Matches(labels.Set(s.Labels)) {
				err = errors.Join(err, set.Tracker().Delete(a.GetResource(), "ns", s.Name))
			}
		}
		return true, nil, err
	})
	c = &Chunked{Secrets: set.CoreV1().Secrets("ns"), Owner: "test", Size: 100}
	if careful {
		c.holder.Name = "a"
	}
	return c, left
}

func record(version int, status helmrelease.Status) *helmrelease.Release {
	about := &chart.Metadata{Name: "c", Version: "1.0.0", Description: strings.Repeat("something to compress ", 3)}
	r := &helmrelease.Release{
		Name: "r", Namespace: "ns", Version: version, Manifest: "kind: ConfigMap\n# " + time.Duration(version).String(),
		Chart:  &chart.Chart{Metadata: about},
		Labels: map[string]string{"bundle": "registry.example/r@sha256:1", HolderKey: "a"},
	}
	r.Info = &helmrelease.Info{Status: status, Description: "as it was made"}
	return r
}

func TestRecordsComeBackAsTheyWere(t *testing.T) {
	for _, careful := range []bool{false, true} {
		c, _ := newChunked(careful)
		s := storage.Init(c)
		for v, status := range []helmrelease.Status{
			helmrelease.StatusSuperseded, helmrelease.StatusDeployed, helmrelease.StatusPendingUpgrade,
		} {
			if err := s.Create(record(v+1, status)); err != nil {
				t.Fatal(err)
			}
		}
		last, err := s.Last("r")
		if err != nil || last.Version != 3 || last.Labels["bundle"] != "registry.example/r@sha256:1" {
			t.Fatalf("last is %+v: %v", last, err)
		}
		if d, err := s.Deployed("r"); err != nil || d.Version != 2 {
			t.Errorf("deployed is %+v: %v", d, err)
		}
		if err := s.Create(last); !errors.Is(err, driver.ErrReleaseExists) {
			t.Errorf("a record was made twice: %v", err)
		}
		last.SetStatus(helmrelease.StatusDeployed, "complete")
		if err := s.Update(last); err != nil {
			t.Fatal(err)
		}
		again, err := s.Get("r", 3)
		if d := cmp.Diff(last.Info.Description, again.Info.Description); err != nil || d != "" {
			t.Errorf("it came back otherwise: %v\n%s", err, d)
		}
		if _, err := s.Delete("r", 3); err != nil {
			t.Fatal(err)
		}
		of := labels.Set{keyLabel: "sh.helm.release.v1.r.v3"}
		list, err := c.Secrets.List(t.Context(), metav1.ListOptions{LabelSelector: of.String()})
		if err != nil || len(list.Items) > 0 {
			t.Errorf("%d Secrets are left of a deleted record: %v", len(list.Items), err)
		}
	}
}

// Records of one, two and ten Secrets come back, one of eleven is refused; and one that has become
// smaller leaves no chunk behind.
func TestRecordsOfAnySize(t *testing.T) {
	// noise hardly gets smaller when it is compressed.
	noise := func(n int) string {
		b := make([]byte, n)
		rand.New(rand.NewSource(1)).Read(b)
		return base64.StdEncoding.EncodeToString(b)
	}
	for _, careful := range []bool{false, true} {
		for _, c := range []struct{ bytes, secrets, after int }{{0, 1, 1}, {900, 2, 1}, {8700, 10, 1}, {9900, 0, 0}} {
			d, _ := newChunked(careful)
			d.Size = 1000
			r := record(1, helmrelease.StatusPendingUpgrade)
			r.Manifest = noise(c.bytes)
			secrets := func() int {
				list, err := d.Secrets.List(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return len(list.Items)
			}
			if err := d.Create("r", r); (err != nil) != (c.secrets == 0) || secrets() != c.secrets {
				t.Errorf("%d bytes are in %d Secrets, not %d: %v", c.bytes, secrets(), c.secrets, err)
			}
			if c.secrets == 0 {
				continue
			}
			if got, err := d.Get("r"); err != nil || got.Manifest != r.Manifest {
				t.Errorf("%d bytes did not come back: %v", c.bytes, err)
			}
			r.Manifest = ""
			if err := d.Update("r", r); err != nil || secrets() != c.after {
				t.Errorf("%d bytes that became fewer are in %d Secrets, not %d: %v", c.bytes, secrets(), c.after, err)
			}
		}
	}
}

// Whatever number of writes a process has made when it dies, a careful driver has the old record or
// the new one.
func TestTornRecords(t *testing.T) {
	for _, careful := range []bool{false, true} {
		torn := 0
		for limit := range 12 {
			c, left := newChunked(careful)
			s := storage.Init(c)
			old := record(1, helmrelease.StatusPendingUpgrade)
			if err := s.Create(old); err != nil {
				t.Fatal(err)
			}
			*left = limit
			made := record(1, helmrelease.StatusDeployed)
			made.Manifest = "kind: Secret"
			_ = s.Update(made)
			_ = s.Create(record(2, helmrelease.StatusPendingUpgrade))
			*left = -2
			all, err := s.History("r")
			switch {
			case err != nil:
				torn++
			case all[0].Info.Status == helmrelease.StatusPendingUpgrade && all[0].Manifest == old.Manifest:
			case all[0].Info.Status == helmrelease.StatusDeployed && all[0].Manifest == made.Manifest:
			default:
				t.Errorf("after %d writes it is neither the old nor the new one: %+v", limit, all[0])
			}
		}
		if (torn > 0) == careful {
			t.Errorf("careful: %v, torn: %d", careful, torn)
		}
	}
}

func TestOnlyTheHolderWrites(t *testing.T) {
	mine, _ := newChunked(true)
	s := storage.Init(mine)
	r := record(1, helmrelease.StatusPendingUpgrade)
	now := time.Now()
	r.Labels[UntilKey] = now.Add(time.Minute).UTC().Format(time.RFC3339Nano)
	if err := s.Create(r); err != nil {
		t.Fatal(err)
	}
	other := *mine
	other.holder = Holder{"b", now.Add(time.Hour)}
	index, err := other.Index("sh.helm.release.v1.r.v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := storage.Init(&other).Update(r); !errors.Is(err, ErrNotMine) {
		t.Errorf("another one wrote it: %v", err)
	}
	var wait Later
	if _, err := other.holder.Hold(other.Secrets, index, nil); !errors.As(err, &wait) || wait <= 0 {
		t.Errorf("another one took it while its holder may write: %v", err)
	}
	index.Annotations[UntilKey] = now.Add(-time.Hour).Format(time.RFC3339Nano)
	held, err := other.holder.Hold(other.Secrets, index, map[string]string{"n": "1"})
	if err != nil || held.Annotations["n"] != "1" || held.Annotations[HolderKey] != "b" {
		t.Errorf("the time of its holder is over, and it could not be taken: %v", err)
	}
	if err := s.Update(r); !errors.Is(err, ErrNotMine) {
		t.Errorf("who has lost it wrote it: %v", err)
	}
	// Its next attempt:
	next := Chunked{Secrets: other.Secrets, Owner: other.Owner, Size: other.Size, holder: other.holder}
	if err := storage.Init(&next).Update(r); err != nil {
		t.Error(err)
	}
}

// A careful driver writes no record after it has failed to write another, whatever its caller makes
// of the failure.
func TestNothingIsWrittenAfterAFailure(t *testing.T) {
	for _, careful := range []bool{false, true} {
		c, _ := newChunked(careful)
		s := storage.Init(c)
		old, begun := record(1, helmrelease.StatusDeployed), record(2, helmrelease.StatusPendingUpgrade)
		for _, r := range []*helmrelease.Release{old, begun} {
			if err := s.Create(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Update(record(7, helmrelease.StatusSuperseded)); err == nil {
			t.Fatal("a record that is not there was written")
		}
		begun.SetStatus(helmrelease.StatusDeployed, "complete")
		if err := s.Update(begun); (err == nil) == careful {
			t.Errorf("careful: %v; the next record was written: %v", careful, err)
		}
	}
}
