package scaffold_test

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/scaffold"
)

// Users set the annotations and labels that the code reads, with the value that it compares them
// with, and none that it writes itself or selects objects by.
func TestApprovals(t *testing.T) {
	const reads = `package mail

const Approved, yes = "mail.example/approved", "yes"

type letter struct{ Annotations, Labels map[string]string }

func (l *letter) GetAnnotations() map[string]string { return l.Annotations }
func (l *letter) GetLabels() map[string]string      { return l.Labels }

func (l *letter) ready() bool {
	if _, ok := l.GetLabels()["mail.example/paused"]; ok {
		return false
	}
	if l.Labels["mail.example/owner"] != "" || l.Labels["app.kubernetes.io/name"] == "x" || l.Labels["plain"] == "x" {
		return false
	}
	all := l.GetAnnotations()
	all["mail.example/sent"] = all["mail.example/sent"] + "x"
	l.Labels = map[string]string{"mail.example/owner": "me"}
	other := map[string]string{}
	return all[Approved] == yes && other["mail.example/other"] == "x"
}
`
	files := map[string]string{"cmd/main.go": program, "internal/mail/mail.go": mail, "internal/mail/reads.go": reads}
	p, err := scaffold.Read(project(t, files))
	if err != nil {
		t.Fatal(err)
	}
	test, err := p.Test(p.Processes[0])
	if err != nil {
		t.Fatal(err)
	}
	const want = `, auto.Approvals("mail.example/approved=yes", "mail.example/paused"))`
	if !strings.Contains(string(test.Source), want) {
		t.Errorf("it has no %s:\n%s", want, test.Source)
	}
}
