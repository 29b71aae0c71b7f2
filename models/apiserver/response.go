package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/internal/kept"
	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Response is the answer to one [Request].
type Response struct {
	Code   int
	Header http.Header
	// Body is the complete JSON body; nil when Watch is set. [Response.Sent] is the form that the
	// client gets.
	Body []byte
	// Watch is set for a successful watch request: the stream to follow.
	Watch *Watch
	// Changes are the object changes that this request committed, in order.
	Changes []Change

	shown    shown
	protobuf func() []byte // the body in protobuf; nil unless the client asked for it
}

// shown are the stored objects that a body is made of. Built-in controllers read the same states
// again and again. So a state keeps what was decoded from it, until the next one comes.
type shown struct {
	objects []*object.Encoded
	list    bool
}

// Decode decodes the body into v, as encoding/json does. It is for built-in controllers, whose
// methods are called on one goroutine: a state of an object that was decoded before is copied.
func (r *Response) Decode(into any) error {
	if o, ok := copies(into); ok && len(r.shown.objects) == 1 && !r.shown.list {
		return r.shown.objects[0].Decode(false, o)
	}
	return Decode(r.Body, into)
}

// Decode decodes an object of any origin, as encoding/json does. What was decoded from the same
// bytes before is copied, if the type is one of Kubernetes' own.
func Decode(body []byte, into any) error {
	o, ok := copies(into)
	if !ok {
		return json.Unmarshal(body, into)
	}
	t := reflect.TypeOf(into)
	decode, ok := decoders.Load(t)
	if !ok {
		decode, _ = decoders.LoadOrStore(t, kept.Of(func(body []byte) decoded {
			o, _ := reflect.New(t.Elem()).Interface().(runtime.Object)
			return decoded{o, json.Unmarshal(body, o)}
		}))
	}
	before := decode.(func([]byte) decoded)(body)
	reflect.ValueOf(o).Elem().Set(reflect.ValueOf(before.object.DeepCopyObject()).Elem())
	return before.err
}

// decoders are what was decoded of each type: func([]byte) decoded by reflect.Type.
var decoders sync.Map

type decoded struct {
	object runtime.Object
	err    error
}

// DecodeItems decodes the items of a list, as Decode does.
func DecodeItems[T any](r *Response) ([]T, error) {
	var list struct {
		Items []T `json:"items"`
	}
	if _, ok := copies(new(T)); !ok || !r.shown.list {
		err := json.Unmarshal(r.Body, &list)
		return list.Items, err
	}
	list.Items = make([]T, len(r.shown.objects))
	for i, o := range r.shown.objects {
		item, _ := any(&list.Items[i]).(runtime.Object)
		if o.Decode(true, item) != nil {
			list.Items = nil
			err := json.Unmarshal(r.Body, &list) // what is right is decoded all the same
			return list.Items, err
		}
	}
	return list.Items, nil
}

// copies reports whether what is decoded into v may be kept and copied: v is zero, and its type is
// of Kubernetes' own, whose copies are generated.
func copies(v any) (runtime.Object, bool) {
	o, ok := v.(runtime.Object)
	if !ok {
		return nil, false
	}
	p := reflect.ValueOf(v)
	return o, p.Kind() == reflect.Pointer && !p.IsNil() && strings.HasPrefix(p.Type().Elem().PkgPath(), "k8s.io/") &&
		p.Elem().IsZero()
}

func encoded200(v any) *Response { return jsonResponse(http.StatusOK, object.Marshal(v)) }

// errorResponse is the reply for a failed request.
func errorResponse(err error) *Response {
	if plain := (*plainError)(nil); errors.As(err, &plain) {
		return &Response{
			Code:   plain.code,
			Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
			Body:   []byte(plain.text),
		}
	}
	status := statusOf(err)
	r := jsonResponse(int(status.Code), object.Marshal(status))
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		r.Header.Set("Retry-After", fmt.Sprint(status.Details.RetryAfterSeconds))
	}
	return r
}

func jsonResponse(code int, body []byte) *Response {
	return &Response{Code: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}
