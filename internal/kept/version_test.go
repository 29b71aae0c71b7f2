package kept_test

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"

	"github.com/wavetank/wavetank/internal/kept"
)

// odd is a type with all that a decoder treats in a special way.
type odd struct {
	metav1.TypeMeta `json:",inline"`
	Any             any             `json:"any"`
	Anys            map[string]any  `json:"anys,omitempty"`
	Same            *odd            `json:"same,omitempty"`
	All             []odd           `json:"all"`
	Pointers        []*odd          `json:"pointers,omitempty"`
	Named           map[string]*odd `json:"named,omitempty"`
	Pair            [2][]int        `json:"pair"`
	Bytes           []byte          `json:"bytes"`
	Text            string          `json:"text"`
	Time            metav1.Time     `json:"time"`
	Since           *metav1.Time    `json:"since"`
	Left            string          `json:"-"`
	Number          int             `json:",omitempty"`
	Quoted          struct {
		Number int `json:"number,string"`
	} `json:"quoted"`
	Shut  shut               `json:"shut"`
	Twice struct{ Text int } `json:"twice"`
}

// shut is a type whose values cannot be copied.
type shut struct{ at *int }

func (s *shut) UnmarshalJSON([]byte) error {
	s.at = new(int)
	return nil
}

// A version that was decoded with the help of another one is what client-go and encoding/json
// decode from its text. Its copies are equal and own all their parts.
func TestVersionsAreWhatIsDecoded(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, random, serializer.NewCodecFactory(clientgoscheme.Scheme)).MaxDepth(9)
	exact := func(text []byte, into any) error { return kjson.UnmarshalCaseSensitivePreserveInts(text, into) }
	types := []reflect.Type{
		reflect.TypeFor[corev1.Pod](), reflect.TypeFor[appsv1.Deployment](), reflect.TypeFor[corev1.ConfigMap](),
		reflect.TypeFor[corev1.PersistentVolumeClaim](), reflect.TypeFor[appsv1.StatefulSetList](),
		reflect.TypeFor[corev1.Node](), reflect.TypeFor[networkingv1.NetworkPolicy](),
		reflect.TypeFor[batchv1.CronJob](),
		reflect.TypeFor[autoscalingv2.HorizontalPodAutoscaler](), reflect.TypeFor[eventsv1.Event](),
	}
	for _, of := range types {
		texts := [][]byte{[]byte(`{}`), []byte(`{"metadata":null,"spec":null,"Kind":"x","unknown":[1]}`)}
		for range 3 {
			o := reflect.New(of).Interface()
			fill.Fill(o)
			text, err := json.Marshal(o)
			if err != nil {
				t.Fatal(of, err)
			}
			texts = append(texts, text)
		}
		for range 6 {
			a, b := texts[random.Intn(len(texts))], texts[random.Intn(len(texts))]
			texts = append(texts, mixed(random, a, b))
		}
		checkVersions(t, of, texts, exact)
		checkVersions(t, of, texts, json.Unmarshal)
	}
	checkVersions(t, reflect.TypeFor[odd](), [][]byte{
		[]byte(`{"any":1,"all":[],"pair":[[1],[2]],"bytes":"YQ==","time":"2024-01-01T00:00:00Z","since":null}`),
		[]byte(`{"any":{"a":[1.5,null]},"all":[{"text":"x"},{"any":2}],"same":{"all":null},"kind":"K","Text":"X"}`),
		[]byte(`{"quoted":{"number":"4"},"any":{"a":[1.5,2]},"all":[{"text":"x"},null,{"any":3}],"same":{"same":{}}}`),
		[]byte(`{"all":[{"text":"y"},{"text":"z"}],"pointers":[{"text":"p"},null],"named":{"a":{"Number":3}}}`),
		[]byte(`{"all":[{"text":"y","text":"z"}],"pointers":[{"text":"q"},{}],"named":{"a":{"Number":4},"b":null}}`),
		[]byte(`{"same":{"text":"1"},"same":{"Number":2}}`), []byte(`{"quoted":{"number":"3"},"twice":{"text":4}}`),
		[]byte(`{"anys":{"a":{"b":[true]}},"same":null,"all":null,"since":"2024-01-01T00:00:00Z"}`),
		[]byte(`{"all":[{"text":1}]}`), []byte(`{"text":{}}`), []byte(`[]`), []byte(`null`), []byte(`{"time":3}`),
	}, exact, json.Unmarshal)
	hidden, err := kept.Decode(reflect.TypeFor[odd](), []byte(`{"shut":1}`), nil, exact)
	if _, ok := hidden.Copy(); ok || err != nil {
		t.Error("what cannot be seen was copied")
	}
}

// mixed takes each part of an object from one of two.
func mixed(random *rand.Rand, a, b []byte) []byte {
	x, ok := kept.Members(a)
	y, both := kept.Members(b)
	if !ok || !both {
		return [][]byte{a, b}[random.Intn(2)]
	}
	out := map[string]json.RawMessage{}
	for name, v := range x {
		if w, there := y[name]; there {
			out[name] = mixed(random, v, w)
		} else if random.Intn(2) == 0 {
			out[name] = v
		}
	}
	text, _ := json.Marshal(out)
	return text
}

// checkVersions decodes each text after each other one.
func checkVersions(t *testing.T, of reflect.Type, texts [][]byte, decoders ...func([]byte, any) error) {
	t.Helper()
	for _, decode := range decoders {
		for _, before := range texts {
			was, err := kept.Decode(of, before, nil, decode)
			if err != nil {
				continue // it would not be kept
			}
			for _, text := range texts {
				want := reflect.New(of).Interface()
				fails := decode(text, want)
				got, err := kept.Decode(of, text, was, decode)
				if (err == nil) != (fails == nil) {
					t.Fatalf("%s after %s: %v, want %v", text, before, err, fails)
				}
				if err == nil {
					checkCopy(t, got, want, text, decode)
				}
			}
			if again, _ := kept.Decode(of, before, nil, decode); !reflect.DeepEqual(again.Shared(), was.Shared()) {
				t.Fatalf("%s has changed", before)
			}
		}
	}
}

func checkCopy(t *testing.T, got *kept.Version, want any, text []byte, decode func([]byte, any) error) {
	t.Helper()
	first, ok := got.Copy()
	if !ok || !reflect.DeepEqual(first, want) || !reflect.DeepEqual(got.Shared(), want) {
		t.Fatalf("%s is decoded as\n%+v, want\n%+v", text, first, want)
	}
	spoil(reflect.ValueOf(first))
	if second, _ := got.Copy(); !reflect.DeepEqual(second, want) {
		t.Fatalf("a copy of %s shares a part", text)
	}
}

// spoil changes everything that can be reached from a value.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			spoil(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			spoil(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			spoil(v.Index(i))
		}
	case reflect.Map:
		for each := v.MapRange(); each.Next(); {
			spoil(each.Value())
		}
		if !v.IsNil() && v.CanInterface() {
			v.Clear()
		}
	}
	if v.CanSet() && v.Type() != reflect.TypeFor[time.Time]() {
		v.SetZero()
	}
}
