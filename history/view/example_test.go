package view_test

import (
	"fmt"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
)

// A property that reads a view: a backup that is done stays done.
func Example() {
	type backup struct {
		Status struct{ Phase string }
	}
	v := view.New()
	backups := view.Follow[backup](v, history.Ref{Kind: "Backup"})
	staysDone := func(h *history.History) error {
		v.Read(h)
		for _, b := range backups.All() {
			was := b.Previous()
			if was != nil && was.Value.Status.Phase == "Done" && b.Value().Status.Phase != "Done" {
				return fmt.Errorf("%s was done and is %s at %s", b.Ref, b.Value().Status.Phase,
					history.Clock(b.Latest().At))
			}
		}
		return nil
	}

	h := &history.History{}
	for i, phase := range []string{"Running", "Done", "Failed"} {
		h.Add(history.Event{At: time.Duration(i) * time.Second, Changes: []history.Change{{
			Type: "MODIFIED", UID: "1", Ref: history.Ref{Kind: "Backup", Namespace: "shop", Name: "daily"},
			Object: fmt.Appendf(nil, `{"status":{"phase":%q}}`, phase),
		}}})
		if err := staysDone(h); err != nil {
			fmt.Println(err)
		}
	}
	// Output: Backup shop/daily was done and is Failed at 00:02.000
}
