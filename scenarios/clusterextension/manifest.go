// This file exists to read what a release record says should be there, without the operator's code.

package clusterextension

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/wavetank/wavetank/history"
)

// manifest is what a record says of each object.
func (b *Record) manifest(record *record) (map[history.Ref]map[string]any, error) {
	index := record.secret.Value().Data
	data := bytes.NewBuffer(bytes.Clone(index["chunk"]))
	var chunks []string
	if err := json.Unmarshal(index["extraChunks"], &chunks); err != nil {
		return nil, fmt.Errorf("the names of the chunks of %s: %w", record.secret.Ref, err)
	}
	for _, name := range chunks {
		ref := record.secret.Ref
		ref.Name = name
		if chunk := b.secrets.Named(ref); chunk != nil && chunk.Exists() {
			data.Write(chunk.Value().Data["chunk"])
		}
	}
	var release helmrelease.Release
	z, err := gzip.NewReader(data)
	if err == nil {
		err = json.NewDecoder(z).Decode(&release)
	}
	if err != nil {
		return nil, fmt.Errorf("record %s cannot be read: %w", record.secret.Ref, err)
	}
	out := map[history.Ref]map[string]any{}
	for d := yaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(release.Manifest), 1024); ; {
		var u unstructured.Unstructured
		if err := d.Decode(&u); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("the manifest in %s: %w", record.secret.Ref, err)
		}
		kind := u.GroupVersionKind()
		out[history.Ref{Group: kind.Group, Kind: kind.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}] = u.Object
	}
}

// contains says whether an object has all that it should; it may have more, but not in a list.
func contains(is, should any) bool {
	switch should := should.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		for k, v := range should {
			ok = ok && contains(is[k], v)
		}
		return ok
	case []any:
		is, ok := is.([]any)
		ok = ok && len(is) == len(should)
		for i := 0; ok && i < len(should); i++ {
			ok = contains(is[i], should[i])
		}
		return ok
	}
	return reflect.DeepEqual(is, should)
}
