package object

// What a mutating webhook leaves in a custom object that its schema does not know. A real server
// writes it to its store as it is and prunes it whenever it reads the object, so no client
// sees it. It still counts as a change: of the object, which gets another generation, and of what
// the store holds (apiextensions-apiserver's customresource_handler.go, schemaCoercingDecoder;
// storage/etcd3/store.go, GuaranteedUpdate).

import (
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// Decode reads an object that the server itself has encoded.
func Decode(raw []byte) (content map[string]any) {
	_ = kjson.UnmarshalCaseSensitivePreserveInts(raw, &content)
	return content
}

// UnprunedDraft makes a draft from what a webhook has made of another one, and takes over the
// content.
func (d Decoder) UnprunedDraft(content map[string]any, before *Object, ver *Version) (*Object, error) {
	o := &Object{Version: ver, unpruned: true}
	if o.SentKind, _ = content["kind"].(string); o.SentKind == "" {
		return nil, runtime.NewMissingKindErr(string(appendJSON(nil, content)))
	}
	o.SentVersion, _ = content["apiVersion"].(string)
	meta, unknown, err := d.readMeta(content)
	if err != nil {
		return nil, err
	}
	o.Meta = meta
	o.HiddenMeta = before.HiddenMeta || len(unknown) > 0 || hasEmpty(content["metadata"])
	if ver.Schema.compile() == nil {
		ver.Schema.fillDefaults(content)
	}
	delete(content, "kind")
	delete(content, "apiVersion")
	delete(content, "metadata")
	o.Rest = content
	return o, nil
}

// hasEmpty reports whether metadata says something that is left out when it is written from its
// type. The server sets the time of creation itself.
func hasEmpty(metadata any) bool {
	fields, _ := metadata.(map[string]any)
	for name, value := range fields {
		switch value := value.(type) {
		case nil:
			if name != "creationTimestamp" {
				return true
			}
		case map[string]any:
			if len(value) == 0 {
				return true
			}
		case []any:
			if len(value) == 0 {
				return true
			}
		}
	}
	return false
}
