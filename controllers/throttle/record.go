// This file is what the operator writes down of a handler, and under which name.

package throttle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Domain is the prefix of all annotations of the operator.
const Domain = "kopf.zalando.org"

// Record is a handler's progress, as it stands in an annotation.
type Record struct {
	// Change is the generation of the object that the handler was called for.
	Change int64 `json:"change"`
	// Started, Stopped and Delayed are times; until the last the handler is not called again.
	Started string `json:"started,omitempty"`
	Stopped string `json:"stopped,omitempty"`
	Delayed string `json:"delayed,omitempty"`
	Retries int    `json:"retries,omitempty"`
	// Attempts are counted before the handler is called, where that is persisted; Retries after it
	// has failed.
	Attempts int  `json:"attempts,omitempty"`
	Success  bool `json:"success,omitempty"`
	Failure  bool `json:"failure,omitempty"`
	// Message is the last error; Result what a successful handler returned.
	Message string `json:"message,omitempty"`
	Result  any    `json:"result,omitempty"`
}

func now() string { return later(0) }

func later(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339Nano) }

// about says whether there is a record of the object's present generation.
func (r *Record) about(body *unstructured.Unstructured) bool {
	return r != nil && r.Change == body.GetGeneration()
}

func (r *Record) done() bool { return r.Success || r.Failure }

// wait is how long the handler must not be called again.
func (r *Record) wait() time.Duration {
	if r == nil || r.Delayed == "" {
		return 0
	}
	until, err := time.Parse(time.RFC3339Nano, r.Delayed)
	if err != nil {
		return 0
	}
	return time.Until(until)
}

// take writes down what a call of the handler came to, by the handler's own policy of retries.
func (r *Record) take(h *Handler, result any, err error) {
	r.Message, r.Delayed = "", ""
	var permanent *PermanentError
	switch {
	case err == nil:
		r.Success, r.Result, r.Stopped = true, result, now()
		return
	case errors.As(err, &permanent) || h.Retries > 0 && r.Retries+1 >= h.Retries:
		r.Failure, r.Stopped = true, now()
	default:
		r.Delayed = later(h.retry())
	}
	r.Retries++
	r.Message = err.Error()
}

// recall reads what the operator wrote on the object, by handler.
func (k *keeper) recall(body *unstructured.Unstructured) (map[string]*Record, error) {
	records := map[string]*Record{}
	for i := range k.Handlers {
		id := k.Handlers[i].ID
		data, ok := body.GetAnnotations()[k.policy.key(id)]
		if !ok {
			continue
		}
		r := &Record{}
		if err := json.Unmarshal([]byte(data), r); err != nil {
			return nil, fmt.Errorf("metadata.annotations[%s] cannot be read: %w", k.policy.key(id), err)
		}
		records[id] = r
	}
	return records, nil
}

// plainKey takes the handler's name as it is.
func plainKey(handler string) string { return Domain + "/" + handler }

// legalKey shortens a name that is too long, and puts a hash of the whole in the place of the rest.
func legalKey(handler string) string {
	if len(validation.IsQualifiedName(plainKey(handler))) == 0 {
		return plainKey(handler)
	}
	hash := sha256.Sum256([]byte(handler))
	legal := strings.Map(func(r rune) rune {
		if r < 128 &&
			(r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '-'
	}, handler)
	return Domain + "/h-" + legal[:min(len(legal), 40)] + "-" + hex.EncodeToString(hash[:5])
}

// token names what a handler makes for one generation of one object: the same, however often it is
// called.
func token(body *unstructured.Unstructured, h *Handler) string {
	hash := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", body.GetUID(), h.ID, body.GetGeneration()))
	return hex.EncodeToString(hash[:5])
}
