// This file exists for the people at the forge: what is left open for them to merge.

package promotion

import (
	"fmt"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/forge"
)

// open are the pull requests of a pipeline's environment that somebody could merge.
func (b *Record) open(uid, env string) (out []forge.PullRequest) {
	for _, pr := range b.git.PullRequests() {
		if pr.State == forge.Open && pr.Order.PipelineUID == uid && pr.Order.Environment == env {
			out = append(out, pr)
		}
	}
	return out
}

// OneOpen: people find at most one open pull request for each environment.
func (b *Record) OneOpen(h *history.History) error {
	b.read(h)
	return b.eachPipeline(func(uid string, p *version) error {
		for _, env := range p.Spec.Environments {
			if open := b.open(uid, env.Name); len(open) > 1 {
				return fmt.Errorf("%d pull requests for %s are open, the first to %s and the last to %s",
					len(open), env.Name, open[0].Order.Revision, open[len(open)-1].Order.Revision)
			}
		}
		return nil
	})
}

// NoneBack: where an environment runs what the first one runs, no pull request to anything else is
// open.
func (b *Record) NoneBack(h *history.History) error {
	b.read(h)
	return b.eachPipeline(func(uid string, p *version) error {
		behind, revision, _ := b.behind(p)
		if revision == "" {
			return nil
		}
		for _, env := range p.Spec.Environments[1:] {
			if behind != nil && behind.Name == env.Name {
				return nil
			}
			for _, pr := range b.open(uid, env.Name) {
				if pr.Order.Revision != revision {
					return fmt.Errorf("%s runs %s, as it should, and pull request %d to %s is open", env.Name,
						revision, pr.Number, pr.Order.Revision)
				}
			}
		}
		return nil
	})
}
