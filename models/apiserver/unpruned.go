package apiserver

// What a mutating webhook leaves in a custom object that its schema does not know. A real server writes it to its store as it
// is and prunes it whenever it reads the object, so nobody is shown it. It counts as a change all the same: of the object,
// which gets another generation, and of what the store holds (apiextensions-apiserver's customresource_handler.go,
// schemaCoercingDecoder; storage/etcd3/store.go, GuaranteedUpdate).

import (
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// decodedObject reads an object that the server itself has encoded.
func decodedObject(raw []byte) (content map[string]any) {
	_ = kjson.UnmarshalCaseSensitivePreserveInts(raw, &content)
	return content
}

// unprunedDraft makes a draft from what a webhook has made of another one, and takes over the content.
func (d *decoder) unprunedDraft(content map[string]any, before *object, ver *version) (*object, error) {
	o := &object{ver: ver, unpruned: true}
	if o.sentKind, _ = content["kind"].(string); o.sentKind == "" {
		return nil, runtime.NewMissingKindErr(string(appendJSON(nil, content)))
	}
	o.sentVersion, _ = content["apiVersion"].(string)
	meta, unknown, err := d.readMeta(content)
	if err != nil {
		return nil, err
	}
	o.meta = meta
	o.oddMeta = before.oddMeta || len(unknown) > 0 || hasEmpty(content["metadata"])
	if ver.schema.compile() == nil {
		ver.schema.fillDefaults(content)
	}
	delete(content, "kind")
	delete(content, "apiVersion")
	delete(content, "metadata")
	o.rest = content
	return o, nil
}

// hasEmpty says whether metadata says something that is left out when it is written from its type. The server sets the
// time of creation itself.
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
