package realserver

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/util/cert"

	"github.com/wavetank/wavetank/models/apiserver"
)

// This file lets the real server call the webhooks of a world. The server's configurations name a
// listener on the loopback interface in place of a Service or a URL. The path has the webhook as
// its client has written it, and clients read that.

// webhook is what a path of the listener stands for.
type webhook struct {
	Name   string
	Client admissionregv1.WebhookClientConfig
}

// listener listens for calls of webhooks.
type listener struct {
	mu   sync.Mutex // guards what follows
	http *http.Server
	url  string
	ca   []byte

	ask func(*apiserver.WebhookCall, func(apiserver.WebhookAnswer))
}

// AskWebhooks implements wire.Backend.
func (l *listener) AskWebhooks(ask func(*apiserver.WebhookCall, func(apiserver.WebhookAnswer))) {
	l.ask = ask
}

// Admits implements wire.Backend.
func (l *listener) Admits() bool { return l.address() != "" }

// address is the beginning of the URLs of the listener; "" if it has not started.
func (l *listener) address() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.url
}

// listen starts the listener, with a certificate of its own, unless it has started.
func (l *listener) listen() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.url != "" {
		return nil
	}
	ca, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(ca, key)
	if err != nil {
		return err
	}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	l.url, l.ca = "https://"+at.Addr().String()+"/", ca
	// A call on a connection that is closed would be repeated, so each has its own.
	l.http = &http.Server{Handler: l, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}},
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, ReadHeaderTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0)}
	l.http.SetKeepAlivesEnabled(false)
	go func() { _ = l.http.ServeTLS(at, "", "") }()
	return nil
}

// ServeHTTP implements http.Handler. A webhook that does not answer closes the connection.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var hook webhook
	body, err := io.ReadAll(r.Body)
	if err != nil || hook.decode(r.URL.Path[1:]) != nil {
		http.NotFound(w, r)
		return
	}
	call := &apiserver.WebhookCall{Name: hook.Name, Body: body}
	call.Timeout, _ = time.ParseDuration(r.URL.Query().Get("timeout"))
	call.At(hook.Client)
	answers := make(chan apiserver.WebhookAnswer, 1)
	l.ask(call, func(a apiserver.WebhookAnswer) { answers <- a })
	select {
	case a := <-answers:
		if a.Err != nil {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.Code)
		_, _ = w.Write(a.Body)
	case <-r.Context().Done():
	}
}

func (w *webhook) decode(path string) error {
	text, err := base64.RawURLEncoding.DecodeString(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, w)
}

// redirect lets the webhooks of a configuration that is written name the listener.
func (l *listener) redirect(info apiserver.Info, body []byte) ([]byte, error) {
	if len(body) == 0 || info.Group != admissionregv1.GroupName ||
		!strings.HasSuffix(info.Resource, "webhookconfigurations") {
		return body, nil
	}
	return eachWebhook(body, func(hook map[string]any) error {
		if err := l.listen(); err != nil {
			return err
		}
		text, err := json.Marshal(map[string]any{"Name": hook["name"], "Client": hook["clientConfig"]})
		hook["clientConfig"] = map[string]any{"caBundle": l.ca,
			"url": l.url + base64.RawURLEncoding.EncodeToString(text)}
		return err
	})
}

// restore is a body with the webhooks as its client has written them.
func (l *listener) restore(body []byte) []byte {
	url := l.address()
	if url == "" || !bytes.Contains(body, []byte(url)) {
		return body
	}
	out, err := eachWebhook(body, func(hook map[string]any) error {
		client := hook["clientConfig"].(map[string]any)
		at, _ := client["url"].(string)
		path, ours := strings.CutPrefix(at, url)
		if !ours {
			return nil
		}
		var was webhook
		err := was.decode(path)
		hook["clientConfig"] = was.Client
		return err
	})
	if err != nil {
		return body
	}
	return out
}

// eachWebhook changes all webhooks in a body that say who is called.
func eachWebhook(body []byte, change func(map[string]any) error) ([]byte, error) {
	var root any
	if err := json.Unmarshal(body, &root); err != nil {
		return nil, err
	}
	var walk func(any) error
	walk = func(at any) error {
		switch at := at.(type) {
		case map[string]any:
			if _, ok := at["clientConfig"].(map[string]any); ok {
				return change(at)
			}
			for _, v := range at {
				if err := walk(v); err != nil {
					return err
				}
			}
		case []any:
			for _, v := range at {
				if err := walk(v); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := walk(root); err != nil {
		return nil, err
	}
	return json.Marshal(root)
}
