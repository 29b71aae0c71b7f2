// This file is about what the fixed variant remembers of objects, and when it comes back to them.

package throttle

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// remembered are the objects that an incarnation knows.
func (k *keeper) remembered() []types.UID {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.objects))
}

func TestWhatHasVanishedIsForgotten(t *testing.T) {
	for name, meet := range map[string]func(context.Context, *keeper){
		"when it is written to": func(ctx context.Context, k *keeper) { k.event(ctx, thing("one")) },
		"when it is come back to": func(ctx context.Context, k *keeper) {
			o := newObject()
			k.objects["one"] = o
			k.comeBack(ctx, o, thing("one"), time.Second)
		},
		"when a list does not have it": func(ctx context.Context, k *keeper) {
			k.objects["one"], k.objects["another"] = newObject(), newObject()
			k.objects["another"].queued = true
			_ = k.listAndWatch(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				list := `{"apiVersion":"kopf.dev/v1","kind":"KopfExampleList","metadata":{"resourceVersion":"1"},` +
					`"items":[` + encoded(t, thing("another")) + `]}`
				k := newKeeper(t, func(r *http.Request) (int, string) {
					switch {
					case r.URL.Query().Get("watch") != "":
						return http.StatusForbidden, `{}`
					case strings.HasSuffix(r.URL.Path, "/kopfexamples"):
						return http.StatusOK, list
					}
					return http.StatusNotFound, notFound(noThing)
				})
				meet(ctx, k)
				time.Sleep(time.Minute)
				if slices.Contains(k.remembered(), "one") {
					t.Error("it is remembered")
				}
				cancel()
				k.all.Wait()
			})
		})
	}
}

// Who was asked what is newest of an object may hear of its end while the answer is on its way.
func TestWhatIsForgottenIsNotLearntAgainFromAnOldAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		k := newKeeper(t, func(*http.Request) (int, string) {
			time.Sleep(time.Second)
			return http.StatusOK, encoded(t, thing("one"))
		})
		o := newObject()
		k.objects["one"] = o
		k.comeBack(ctx, o, thing("one"), time.Second)
		time.Sleep(1500 * time.Millisecond)
		k.forget("one")
		time.Sleep(550 * time.Millisecond)
		if all := k.remembered(); len(all) > 0 {
			t.Errorf("%v is remembered", all)
		}
		cancel()
		k.all.Wait()
	})
}

func TestWhatIsForgottenIsNotReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper(t, func(*http.Request) (int, string) {
			t.Error("it is read")
			return http.StatusNotFound, notFound(noThing)
		})
		o := newObject()
		k.objects["one"] = o
		k.comeBack(t.Context(), o, thing("one"), time.Minute)
		k.forget("one")
		time.Sleep(time.Hour)
		k.all.Wait()
	})
}

// An attempt that the operator does not outlive is repeated after the delay that its number has.
func TestAnIntentStatesWhenTheNextAttemptMayFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const before = 7
		want, intent := time.Now().Add(delay(before)).UTC().Format(time.RFC3339), ""
		k := newKeeper(t, func(r *http.Request) (int, string) {
			data, _ := io.ReadAll(r.Body)
			intent = string(data)
			return http.StatusOK, encoded(t, thing("one"))
		})
		h := &Handler{ID: "provision", Do: func(context.Context, Task) (any, error) {
			if !strings.Contains(intent, fmt.Sprintf(`\"delayed\":\"%s\"`, want)) {
				t.Errorf("the intent is %s, which is not delayed until %s", intent, want)
			}
			return nil, nil
		}}
		o := newObject()
		o.kept = map[string]*Record{}
		if err := k.handle(t.Context(), o, thing("one"), h, &Record{Change: 1, Attempts: before}); err != nil {
			t.Error(err)
		}
	})
}
