// Package serve puts the API model behind a real listener.
//
// It exists for people and for programs that need a socket: kubectl, a script, an operator in a
// process of its own. It stands outside any bubble: real time passes, requests take effect in the
// order in which they arrive, and watch events are delivered at once. Nothing in a simulation uses
// it.
package serve

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Server is an [http.Handler] in front of one model. It serialises requests. Meanwhile the model
// may be used only through [Server.Do].
type Server struct {
	mu    sync.Mutex
	model *apiserver.Server
	// moved is closed and replaced whenever watches may have something to deliver.
	moved chan struct{}

	listener net.Listener
	server   *http.Server
}

// New is a server for a model, not yet listening.
func New(model *apiserver.Server) *Server {
	return &Server{model: model, moved: make(chan struct{})}
}

// Do calls a function that may use the model, between requests.
func (s *Server) Do(use func(*apiserver.Server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	use(s.model)
	s.wake()
}

func (s *Server) wake() {
	close(s.moved)
	s.moved = make(chan struct{})
}

// Start listens on a free port of the loopback interface until [Server.Stop].
func (s *Server) Start() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.listener = l
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(l) }()
	return nil
}

// Stop closes the listener and every open watch.
func (s *Server) Stop() error { return s.server.Close() }

// Config reaches the server.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: "http://" + s.listener.Addr().String(), QPS: -1}
}

// WriteKubeconfig writes a file that kubectl can use.
func (s *Server) WriteKubeconfig(path string) error {
	const name = "wavetank"
	c := clientcmdapi.NewConfig()
	c.Clusters[name] = &clientcmdapi.Cluster{Server: s.Config().Host}
	c.AuthInfos[name] = &clientcmdapi.AuthInfo{}
	c.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	c.CurrentContext = name
	raw, err := clientcmd.Write(*c)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	header, body, err := apiserver.JSONBody(req.Header, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	r := s.model.Handle(&apiserver.Request{
		Method: req.Method, URL: req.URL, Header: header, Body: body,
		User: "admin", Groups: []string{"system:masters", "system:authenticated"},
	})
	s.wake()
	s.mu.Unlock()
	for name, values := range r.Header {
		w.Header()[name] = values
	}
	contentType, body := r.Sent()
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(r.Code)
	if r.Watch != nil {
		s.follow(req.Context(), w, r.Watch)
		return
	}
	_, _ = w.Write(body)
}

// follow streams a watch until its client is gone, its time is up or it has failed.
func (s *Server) follow(ctx context.Context, w http.ResponseWriter, watch *apiserver.Watch) {
	if d := watch.Timeout(); d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	out := http.NewResponseController(w)
	_ = out.Flush()
	for {
		s.mu.Lock()
		frame, ok := watch.Next()
		moved := s.moved
		s.mu.Unlock()
		if ok {
			if _, err := w.Write(frame.Data); err != nil || frame.Type == "ERROR" {
				break
			}
			_ = out.Flush()
			continue
		}
		select {
		case <-moved:
			continue
		case <-ctx.Done():
		}
		break
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	watch.Close()
}
