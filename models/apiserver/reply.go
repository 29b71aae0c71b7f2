package apiserver

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// replyForm is the form of a reply: what is shown of objects, and whether in a table.
type replyForm struct {
	object.View
	table    *printer // nil for none
	protobuf bool     // for objects that have such a form
}

// object is the reply that carries one object.
func (r *replyForm) object(code int, o *object.Object) *Response {
	if r.table != nil {
		return r.table.print(metav1.ListMeta{ResourceVersion: o.Meta.ResourceVersion}, []*object.Object{o})
	}
	e := o.As(r.View)
	resp := jsonResponse(code, e.JSON)
	resp.shown = shown{objects: []*object.Encoded{e}}
	if r.protobuf {
		resp.protobuf = e.Protobuf
	}
	return resp
}

// listPage is a part of a collection, complete or not.
type listPage struct {
	objects   []*object.Object
	revision  int64
	next      string
	remaining *int64
}

// list encodes a page by joining the encoded objects.
func (r *replyForm) list(p *listPage) *Response {
	if r.table != nil {
		meta := metav1.ListMeta{ResourceVersion: object.RevisionText(p.revision), Continue: p.next,
			RemainingItemCount: p.remaining}
		return r.table.print(meta, p.objects)
	}
	v := r.View
	size := 160
	for _, o := range p.objects {
		size += len(o.JSON) + 1
	}
	b := make([]byte, 0, size)
	if v.Partial {
		b = append(b, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{`...)
	} else {
		b = append(b, `{"kind":"`+v.Version.Type.List+`","apiVersion":"`+v.Version.APIVersion()+`","metadata":{`...)
	}
	b = append(strconv.AppendInt(append(b, `"resourceVersion":"`...), p.revision, 10), '"')
	if p.next != "" || !v.Version.Type.Builtin && !v.Partial {
		b = append(append(append(b, `,"continue":"`...), p.next...), '"')
	}
	if p.remaining != nil {
		b = strconv.AppendInt(append(b, `,"remainingItemCount":`...), *p.remaining, 10)
	}
	b = append(b, `},"items":[`...)
	items := make([]*object.Encoded, len(p.objects))
	for i, o := range p.objects {
		if i > 0 {
			b = append(b, ',')
		}
		items[i] = o.As(v)
		b = items[i].Item(b)
	}
	resp := jsonResponse(http.StatusOK, append(b, ']', '}'))
	resp.shown = shown{items, true}
	if r.protobuf {
		meta := &metav1.ListMeta{ResourceVersion: object.RevisionText(p.revision), Continue: p.next,
			RemainingItemCount: p.remaining}
		resp.protobuf = func() []byte {
			return object.ProtobufList(v.Version.APIVersion(), v.Version.Type.List, meta, items)
		}
	}
	return resp
}

func encodeContinue(revision int64, start string) string {
	raw, err := json.Marshal(continueToken{Version: "meta.k8s.io/v1", Revision: revision, Start: start})
	if err != nil {
		panic("apiserver: a continue token that cannot be encoded: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// continueToken is the documented content of a continue parameter
// (staging/src/k8s.io/apiserver/pkg/storage/continue.go).
type continueToken struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	Start    string `json:"start"`
}
