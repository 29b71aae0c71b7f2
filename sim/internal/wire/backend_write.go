package wire

import (
	"sync"
	"time"

	"github.com/wavetank/wavetank/models/apiserver"
)

// backendWrites are the writes that a backend has not answered, and the webhooks that it waits for.
// Both happen on goroutines of their own, and are taken in on the scheduling goroutine.
type backendWrites struct {
	*webhooks
	writes, asked int

	mu   sync.Mutex
	news []func()
}

// patience is how long a backend may take until it has answered or calls a webhook.
const patience = 5 * time.Second

// perform performs a write that may have to wait for webhooks.
func (b *backendWrites) perform(call *Call, then func()) {
	b.writes++
	go func() {
		resp := b.backend.Do(&call.Request)
		b.arrive(func() {
			b.writes--
			call.Response = resp
			then()
		})
	}()
	b.await()
}

// ask calls a webhook that a backend waits for. Its answer is a step, and what the
// backend does then belongs to that step.
func (b *backendWrites) ask(hook *apiserver.WebhookCall, done func(apiserver.WebhookAnswer)) {
	b.arrive(func() {
		b.asked++
		b.webhooks.ask(hook, func(answer apiserver.WebhookAnswer) {
			b.asked--
			done(answer)
			b.await()
		})
	})
}

// arrive takes in news of the backend, at the next quiet moment at the latest.
func (b *backendWrites) arrive(news func()) {
	b.mu.Lock()
	b.news = append(b.news, news)
	b.mu.Unlock()
	b.Sched.Note("backend", b.takeIn)
}

func (b *backendWrites) takeIn() {
	b.mu.Lock()
	all := b.news
	b.news = nil
	b.mu.Unlock()
	for _, news := range all {
		news()
	}
}

// await waits until each write has been answered or waits for a webhook.
func (b *backendWrites) await() {
	for began := time.Now(); b.writes > b.asked && time.Since(began) < patience; {
		b.takeIn()
		time.Sleep(time.Millisecond)
	}
}
