// This file holds what the library does around Helm's own actions, for example when one fails.

package release

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mitchellh/copystructure"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
)

// Client performs Helm's actions on one release. [Clients.For] makes it.
type Client struct {
	// Name and Namespace of the release.
	Name, Namespace string
	// Marks are put on all objects.
	Marks Marks
	// Labels are added to the records of installs and upgrades.
	Labels map[string]string
	// MaxHistory is how many records are kept; 0 keeps all of them.
	MaxHistory int
	// CleanUp says what is done after an action has failed.
	CleanUp CleanUp
	// Holder, if it has a name, is the process that may write. Nothing is written after its time,
	// and hooks have no more time than that. Plain Helm does not limit them. Two other things
	// differ from Helm: an install fails if its end could not be recorded, which Helm only logs,
	// and an upgrade without values uses those of the chart instead of those of the release.
	Holder Holder

	// Config is Helm's own.
	Config  *action.Configuration
	timeout time.Duration // of hooks
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

// Get is the newest record, whatever its status; nil if there is none.
func (c *Client) Get() (*release.Release, error) {
	current, err := action.NewGet(c.Config).Run(c.Name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, nil
	}
	return current, err
}

// NeedsUpgrade compares the newest record with what the chart renders now, by a dry run of an
// upgrade. Helm refuses the dry run, too, while the newest record is pending.
func (c *Client) NeedsUpgrade(newest *release.Release, ch *chart.Chart, values map[string]any) (bool, error) {
	u := c.upgrade()
	u.DryRun = true
	desired, err := u.Run(c.Name, own(ch), values)
	if err != nil {
		return false, err
	}
	s := newest.Info.Status
	return desired.Manifest != newest.Manifest || s == release.StatusFailed || s == release.StatusSuperseded, nil
}

// DryInstall returns the release that an install would make, even if there are records of that
// name.
func (c *Client) DryInstall(ch *chart.Chart, values map[string]any) (*release.Release, error) {
	i := c.install()
	i.DryRun, i.DryRunOption = true, "server"
	return i.Run(own(ch), values)
}

// Install installs the chart. If that fails once the record is there it cleans up by an uninstall,
// and returns the error of the install, with that of the uninstall if there is one.
func (c *Client) Install(ch *chart.Chart, values map[string]any) (*release.Release, error) {
	made, err := c.install().Run(own(ch), values)
	if err == nil && c.Holder.Name != "" {
		err = c.confirm(made)
	}
	return c.cleanUp(made, err, c.uninstall, "uninstall failed: %v: original install error: %w")
}

// Upgrade upgrades to the chart. If that fails once the record is there it cleans up by a forced
// rollback, and returns the error of the upgrade, with that of the rollback if there is one.
func (c *Client) Upgrade(ch *chart.Chart, values map[string]any) (*release.Release, error) {
	made, err := c.upgrade().Run(c.Name, own(ch), values)
	return c.cleanUp(made, err, c.rollback, "rollback failed: %v: original upgrade error: %w")
}

func (c *Client) cleanUp(made *release.Release, err error, undo func() error, both string) (*release.Release, error) {
	if err == nil {
		return made, nil
	}
	if made != nil && !c.CleanUp.Off {
		if failed := undo(); failed != nil && !errors.Is(failed, driver.ErrReleaseNotFound) {
			err = fmt.Errorf(both, failed, err)
		}
	}
	return nil, err
}

// Undo takes back what a pending record began: an install by an uninstall, anything else by a
// rollback to the revision before.
func (c *Client) Undo(pending *release.Release) error {
	if pending.Info.Status == release.StatusPendingInstall {
		return c.uninstall()
	}
	return c.rollback()
}

// confirm is an error unless the newest record says that what was made is deployed.
func (c *Client) confirm(made *release.Release) error {
	newest, err := c.Get()
	if err == nil && (newest == nil || newest.Version != made.Version || newest.Info.Status != release.StatusDeployed) {
		err = fmt.Errorf("revision %d was applied, and its record does not say so", made.Version)
	}
	return err
}

func (c *Client) install() *action.Install {
	i := action.NewInstall(c.Config)
	i.ReleaseName, i.Namespace, i.PostRenderer, i.Labels = c.Name, c.Namespace, c.Marks, c.Labels
	i.DisableOpenAPIValidation, i.Timeout = true, c.timeout
	return i
}

func (c *Client) upgrade() *action.Upgrade {
	u := action.NewUpgrade(c.Config)
	u.Namespace, u.PostRenderer, u.Labels, u.MaxHistory = c.Namespace, c.Marks, c.Labels, c.MaxHistory
	u.DisableOpenAPIValidation, u.ResetValues, u.Timeout = true, c.Holder.Name != "", c.timeout
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

// Digest identifies a chart with all its content and values, in a form that fits the value of a
// label. The chart is not rendered, because a chart with a random password or the time renders
// something else each time.
func Digest(ch *chart.Chart, values map[string]any) string {
	data, err := json.Marshal(struct {
		*chart.Chart
		Given map[string]any
	}{ch, values})
	if err != nil {
		panic(fmt.Sprintf("a chart and values that were read as YAML cannot be written as JSON: %v", err))
	}
	for _, dependency := range ch.Dependencies() {
		data = append(data, Digest(dependency, nil)...)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// own returns a copy of a chart that Helm may change. Its actions remove disabled dependencies from
// the chart that they are given, and merge the values of the others into it.
func own(ch *chart.Chart) *chart.Chart {
	out := *ch // templates and files are not written to
	out.Metadata = copystructure.Must(copystructure.Copy(ch.Metadata)).(*chart.Metadata)
	out.Values = copystructure.Must(copystructure.Copy(ch.Values)).(map[string]any)
	out.SetDependencies()
	for _, dependency := range ch.Dependencies() {
		out.AddDependency(own(dependency))
	}
	return &out
}

// maxMessage is how long the message of a condition may be, as metav1.Condition has it.
const maxMessage = 32768

// Said cuts a message to the length that a condition may have. The server refuses a status with a
// longer message.
func Said(message string) string {
	return strings.ToValidUTF8(message[:min(len(message), maxMessage)], "") // without half a character at the end
}
