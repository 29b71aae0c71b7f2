package user_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/user"
)

// server answers a client in the caller's goroutine. Before is what another client does before a
// request takes effect.
type server struct {
	*apiserver.Server
	before func(*http.Request)
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	if s.before != nil {
		s.before(r)
	}
	resp := s.Handle(&apiserver.Request{Method: r.Method, URL: r.URL, Header: r.Header, Body: body, User: "user"})
	return &http.Response{StatusCode: resp.Code, Header: resp.Header, Body: io.NopCloser(bytes.NewReader(resp.Body)),
		Request: r}, nil
}

func newClient() (*user.User, *server) {
	s := &server{Server: apiserver.New(apiserver.Options{Now: time.Now, Seed: 1})}
	return user.New("cluster", s, s.Mapper()), s
}

func configMap(data ...string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{}}
	for i := 0; i < len(data); i += 2 {
		cm.Data[data[i]] = data[i+1]
	}
	return cm
}

func stored(t *testing.T, u *user.User) *corev1.ConfigMap {
	t.Helper()
	cm := &corev1.ConfigMap{}
	if err := u.Get(context.Background(), client.ObjectKeyFromObject(configMap()), cm); err != nil {
		t.Fatal(err)
	}
	return cm
}

// As kubectl apply does, a second Apply takes away what the first one had, and leaves alone what
// others have added.
func TestApplyTakesBackItsOwn(t *testing.T) {
	ctx := context.Background()
	u, _ := newClient()
	if err := u.ApplyClientSide(ctx, configMap("mine", "1", "kept", "1")); err != nil {
		t.Fatal(err)
	}
	cm := stored(t, u)
	cm.Data["theirs"] = "1"
	cm.Finalizers = []string{"example.com/hold"}
	if err := u.Update(ctx, cm); err != nil {
		t.Fatal(err)
	}
	if err := u.ApplyClientSide(ctx, configMap("kept", "2")); err != nil {
		t.Fatal(err)
	}
	cm = stored(t, u)
	if len(cm.Data) != 2 || cm.Data["kept"] != "2" || cm.Data["theirs"] != "1" || len(cm.Finalizers) != 1 {
		t.Errorf("%v with finalizers %v", cm.Data, cm.Finalizers)
	}
	before := cm.ResourceVersion
	if err := u.ApplyClientSide(ctx, configMap("kept", "2")); err != nil || stored(t, u).ResourceVersion != before {
		t.Errorf("applying the same wrote something (%v)", err)
	}
	err := u.ApplyServerSide(ctx, configMap("kept", "3", "server", "side"))
	if data := stored(t, u).Data; err != nil || data["server"] != "side" {
		t.Errorf("%v, %v", err, data)
	}
}

// An object that disappears between the read and the write is created again.
func TestApplyMeetsADeletion(t *testing.T) {
	ctx := context.Background()
	u, s := newClient()
	if err := u.ApplyClientSide(ctx, configMap("a", "1")); err != nil {
		t.Fatal(err)
	}
	other := user.New("cluster", s, s.Mapper())
	s.before = func(r *http.Request) {
		if r.Method == http.MethodPatch {
			s.before = nil
			if err := other.Delete(ctx, configMap()); err != nil {
				t.Error(err)
			}
		}
	}
	if err := u.ApplyClientSide(ctx, configMap("a", "2")); err != nil || stored(t, u).Data["a"] != "2" {
		t.Errorf("%v", err)
	}
}

// What cannot be applied is refused with what to write instead.
func TestApplyRefuses(t *testing.T) {
	u, _ := newClient()
	unnamed := configMap()
	unnamed.Name, unnamed.GenerateName = "", "a-"
	if err := u.ApplyClientSide(context.Background(), unnamed); err == nil ||
		!strings.Contains(err.Error(), "w.Client().Create takes a generateName") {
		t.Error(err)
	}
	err := u.ApplyClientSide(context.Background(), &thing{})
	if err == nil || !strings.Contains(user.SchemeHint(err), "sim.Options(ctrl.Options{Scheme: scheme})") {
		t.Error(err)
	}
}

type thing struct{ corev1.ConfigMap }

// An object goes to the client whose scheme knows it, and the scheme that was added last is asked
// first.
func TestSchemes(t *testing.T) {
	u, s := newClient()
	if _, err := u.GroupVersionKindFor(&thing{}); err == nil {
		t.Fatal("no scheme should know it")
	}
	theirs := runtime.NewScheme()
	theirs.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}, &thing{})
	other := user.New("other", s, s.Mapper())
	other.Know(theirs)
	u.KnowAsWell(other.Client)
	if gvk, err := u.GroupVersionKindFor(&thing{}); err != nil || gvk.Kind != "Thing" {
		t.Errorf("%v, %v", gvk, err)
	}
	if got := u.Describe(configMap()); got != "ConfigMap default/a" {
		t.Error(got)
	}
}

// What was applied is remembered in order, once for each object, until it is removed.
func TestWhatWasApplied(t *testing.T) {
	u, _ := newClient()
	b := configMap()
	b.Name = "b"
	u.Remember(configMap("k", "1"), false, 3)
	u.Remember(b, true, 4)
	u.Remember(configMap("k", "2"), true, 5)
	got := u.Applied()
	if len(got) != 2 || got[0].Object.(*corev1.ConfigMap).Data["k"] != "2" || got[0].Event != 5 || !got[1].ServerSide {
		t.Errorf("%+v", got)
	}
	u.Forget(b)
	if got := u.Applied(); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// Files are read in order, without what is no object, and what names no namespace gets one.
func TestObjectsOfFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"kustomization.yaml": "resources: [a.yaml]\n",
		"b.yaml":             "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n",
		"a.yaml": "---\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n---\n" +
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, namespace: team}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	u, _ := newClient()
	objs, err := u.Objects(dir)
	var got []string
	for _, o := range objs {
		got = append(got, client.ObjectKeyFromObject(o).String())
	}
	if want := []string{"default/one", "team/two", "/team"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, not %v (%v)", got, want, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bad"), 0o777); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"nowhere": "no such file", "empty": "has no object",
		"kustomization.yaml": "has no object", "junk.yaml": "junk.yaml",
		"thing.yaml": "w.Install its definition first"} {
		path := filepath.Join(dir, "bad", file)
		switch file {
		case "empty":
			err = os.MkdirAll(path, 0o777)
		case "thing.yaml":
			err = os.WriteFile(path, []byte("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n"), 0o666)
		case "junk.yaml":
			err = os.WriteFile(path, []byte("\tno"), 0o666)
		case "kustomization.yaml":
			path = filepath.Join(dir, file)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.Objects(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
