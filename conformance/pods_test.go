//go:build conformance

package conformance

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// localPods runs the Pods of a namespace as a scheduler and a kubelet would: each container is a
// process of this machine. Its root is a directory with the files of its image. Those of a
// PersistentVolumeClaim lie below a directory of its name in claims.
type localPods struct {
	client client.Client
	unpack func() (root string, err error) // an image
	claims string

	mu      sync.Mutex
	started map[types.UID]*process
}

// process is the container of a Pod.
type process struct {
	index  string // of the Pod in its Job
	cmd    *exec.Cmd
	output strings.Builder
	ended  chan struct{}
}

// run looks after the Pods until the context is done. Then it ends their processes.
func (l *localPods) run(ctx context.Context, t *testing.T) {
	defer func() {
		for _, c := range l.started {
			_ = c.cmd.Process.Kill() // it may have ended
			<-c.ended
		}
	}()
	for ctx.Err() == nil {
		var list corev1.PodList
		if err := l.client.List(ctx, &list, client.InNamespace("default")); err != nil {
			if ctx.Err() == nil {
				t.Errorf("listing Pods: %v", err)
			}
			return
		}
		for i := range list.Items {
			if err := l.sync(ctx, &list.Items[i]); client.IgnoreNotFound(err) != nil && ctx.Err() == nil {
				t.Errorf("Pod %s: %v", list.Items[i].Name, err)
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (l *localPods) sync(ctx context.Context, pod *corev1.Pod) error {
	l.mu.Lock()
	c := l.started[pod.UID]
	l.mu.Unlock()
	switch {
	case pod.DeletionTimestamp != nil:
		if c != nil {
			_ = c.cmd.Process.Kill() // it may have ended
			<-c.ended
		}
		return l.client.Delete(ctx, pod, client.GracePeriodSeconds(0))
	case pod.Spec.NodeName == "":
		return l.client.SubResource("binding").Create(ctx, pod,
			&corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "here"}})
	case pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		return nil
	case c == nil:
		if err := l.start(pod); err != nil {
			return err
		}
		return l.report(ctx, pod, corev1.PodRunning, corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()},
		})
	}
	select {
	case <-c.ended:
	default:
		return nil
	}
	code, phase := c.cmd.ProcessState.ExitCode(), corev1.PodSucceeded
	if code < 0 {
		code = 137 // by SIGKILL
	}
	if code != 0 {
		phase = corev1.PodFailed
	}
	return l.report(ctx, pod, phase, corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(code), FinishedAt: metav1.Now()},
	})
}

func (l *localPods) report(
	ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, state corev1.ContainerState,
) error {
	before := client.MergeFrom(pod.DeepCopy())
	pod.Status.Phase = phase
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: state}}
	return l.client.Status().Patch(ctx, pod, before)
}

// start starts the process of a Pod with one container.
func (l *localPods) start(pod *corev1.Pod) error {
	root, err := l.unpack()
	if err != nil {
		return err
	}
	of := pod.Spec.Containers[0]
	c := &process{index: pod.Labels["batch.kubernetes.io/job-completion-index"], ended: make(chan struct{})}
	c.cmd = exec.Command(l.path(pod, root, of.Command[0]), of.Command[1:]...)
	c.cmd.Dir = l.path(pod, root, of.WorkingDir)
	c.cmd.Stdout, c.cmd.Stderr = &c.output, &c.output
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	for _, e := range of.Env {
		value := e.Value
		if e.ValueFrom != nil {
			value = ofField(pod, e.ValueFrom.FieldRef.FieldPath)
		}
		if strings.HasPrefix(value, "/") {
			value = l.path(pod, root, value)
		}
		c.cmd.Env = append(c.cmd.Env, e.Name+"="+value)
	}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	l.mu.Lock()
	l.started[pod.UID] = c
	l.mu.Unlock()
	go func() {
		_ = c.cmd.Wait() // the state of the process has the outcome
		close(c.ended)
	}()
	return nil
}

// path is where a file of a container lies on this machine.
func (l *localPods) path(pod *corev1.Pod, root, file string) string {
	for _, mount := range pod.Spec.Containers[0].VolumeMounts {
		for _, v := range pod.Spec.Volumes {
			if rest, ok := strings.CutPrefix(file, mount.MountPath); ok && v.Name == mount.Name {
				return filepath.Join(l.claims, v.PersistentVolumeClaim.ClaimName, rest)
			}
		}
	}
	return filepath.Join(root, file)
}

// downward matches the path of a label or an annotation.
var downward = regexp.MustCompile(`^metadata\.(labels|annotations)\['(.*)'\]$`)

func ofField(pod *corev1.Pod, path string) string {
	m := downward.FindStringSubmatch(path)
	switch {
	case m == nil:
		return ""
	case m[1] == "labels":
		return pod.Labels[m[2]]
	}
	return pod.Annotations[m[2]]
}

// of are the processes that Pods with an index of a Job have had so far.
func (l *localPods) of(index string) (out []*process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.started {
		if c.index == index {
			out = append(out, c)
		}
	}
	return out
}
