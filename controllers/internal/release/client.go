// This file holds what the library does around Helm's own actions, above all when one of them
// fails.

package release

import (
	"context"
	"errors"
	"fmt"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/postrender"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
)

// Client performs Helm's actions on one release. Fill in the fields, or take it from [Clients.For].
type Client struct {
	// Config is Helm's own.
	Config *action.Configuration
	// Name and Namespace of the release; the namespace is where its records are.
	Name, Namespace string
	// Marks is run over the rendered manifests; may be nil.
	Marks postrender.PostRenderer
	// Labels are added to the records of installs and upgrades.
	Labels map[string]string
	// MaxHistory is how many records are kept; 0 keeps all of them.
	MaxHistory int
	// Confirm has an install fail whose end could not be written down. Helm only logs that.
	Confirm bool
	// Timeout is how long the hooks of an install or upgrade may take; 0 is for ever, as with Helm.
	Timeout time.Duration
	// ResetValues has an upgrade without values take those of the chart. Helm would take those of
	// the release.
	ResetValues bool
	// CleanUp says what is done after an action has failed.
	CleanUp CleanUp
}

// CleanUp is what is done with what a failed action leaves behind.
type CleanUp struct {
	// Off leaves it there: neither an uninstall after a failed install nor a rollback after a
	// failed upgrade.
	Off bool
	// Wait is how long to wait for the end of an uninstall or rollback; zero does not wait. For an
	// uninstall Helm waits for the objects to be gone, for a rollback only for the restored ones to
	// be ready. Helm looks every two seconds.
	Wait time.Duration
}

// For is the client of a release whose records are plain Helm's, in Secrets of the namespace;
// written as held, if that is not nil.
func (c *Clients) For(ctx context.Context, name, namespace string, marks Marks, held *Held) (*Client, error) {
	secrets, err := c.Secrets(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if held != nil {
		held.SecretInterface = secrets
		secrets = held
	}
	config, err := c.Configuration(ctx, namespace, driver.NewSecrets(OwnedSecrets(secrets, marks.Owner)))
	if err != nil {
		return nil, err
	}
	return &Client{Config: config, Name: name, Namespace: namespace, Marks: marks}, nil
}

// State is what a release needs next.
type State string

// The states, in the library's words.
const (
	NeedsInstall State = "NeedsInstall"
	NeedsUpgrade State = "NeedsUpgrade"
	Unchanged    State = "Unchanged"
)

// State compares the newest record with what the chart renders now, by an upgrade that Helm only
// pretends to make. The record is nil if the release needs an install.
func (c *Client) State(ch *chart.Chart, values map[string]any) (*release.Release, State, error) {
	current, err := c.Get()
	if err != nil || current == nil {
		return nil, NeedsInstall, err
	}
	desired, err := c.DryRun(ch, values)
	if err != nil {
		return current, "", err
	}
	s := current.Info.Status
	if desired.Manifest != current.Manifest || s == release.StatusFailed || s == release.StatusSuperseded {
		return current, NeedsUpgrade, nil
	}
	return current, Unchanged, nil
}

// Get is the newest record, whatever its status; nil if there is none.
func (c *Client) Get() (*release.Release, error) {
	current, err := action.NewGet(c.Config).Run(c.Name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, nil
	}
	return current, err
}

// DryRun is the release that an upgrade would make. Helm refuses to pretend, too, while the newest
// record is pending.
func (c *Client) DryRun(ch *chart.Chart, values map[string]any) (*release.Release, error) {
	u := c.upgrade()
	u.DryRun = true
	return u.Run(c.Name, own(ch), values)
}

// Install installs the chart. If that fails once the record is there it cleans up by an uninstall,
// and returns the error of the install, with that of the uninstall if there is one.
func (c *Client) Install(ch *chart.Chart, values map[string]any) (*release.Release, error) {
	i := action.NewInstall(c.Config)
	i.ReleaseName, i.Namespace, i.PostRenderer, i.Labels = c.Name, c.Namespace, c.Marks, c.Labels
	i.DisableOpenAPIValidation, i.Timeout = true, c.Timeout
	made, err := i.Run(own(ch), values)
	if err == nil && c.Confirm {
		err = c.confirm(made)
	}
	if err == nil {
		return made, nil
	}
	if made != nil && !c.CleanUp.Off {
		if undo := c.uninstall(); undo != nil && !errors.Is(undo, driver.ErrReleaseNotFound) {
			err = fmt.Errorf("uninstall failed: %v: original install error: %w", undo, err)
		}
	}
	return nil, err
}

// Upgrade upgrades to the chart. If that fails once the record is there it cleans up by a forced
// rollback, and returns the error of the upgrade, with that of the rollback if there is one.
func (c *Client) Upgrade(ch *chart.Chart, values map[string]any) (*release.Release, error) {
	made, err := c.upgrade().Run(c.Name, own(ch), values)
	if err == nil {
		return made, nil
	}
	if made != nil && !c.CleanUp.Off {
		if undo := c.rollback(); undo != nil {
			err = fmt.Errorf("rollback failed: %v: original upgrade error: %w", undo, err)
		}
	}
	return nil, err
}

// confirm is an error unless the newest record says that what was made is deployed.
func (c *Client) confirm(made *release.Release) error {
	newest, err := c.Get()
	switch {
	case err != nil:
		return err
	case newest == nil || newest.Version != made.Version || newest.Info.Status != release.StatusDeployed:
		return fmt.Errorf("revision %d was applied, and its record does not say so", made.Version)
	}
	return nil
}

func (c *Client) upgrade() *action.Upgrade {
	u := action.NewUpgrade(c.Config)
	u.Namespace, u.PostRenderer, u.Labels, u.MaxHistory = c.Namespace, c.Marks, c.Labels, c.MaxHistory
	u.DisableOpenAPIValidation, u.ResetValues, u.Timeout = true, c.ResetValues, c.Timeout
	return u
}

func (c *Client) uninstall() error {
	u := action.NewUninstall(c.Config)
	u.Wait, u.Timeout = c.CleanUp.Wait > 0, c.CleanUp.Wait
	_, err := u.Run(c.Name)
	return err
}

func (c *Client) rollback() error {
	r := action.NewRollback(c.Config)
	r.Force, r.MaxHistory = true, c.MaxHistory
	r.Wait, r.Timeout = c.CleanUp.Wait > 0, c.CleanUp.Wait
	return r.Run(c.Name)
}
