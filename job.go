package flinkmm2

import (
	"fmt"
	"strconv"
)

// JobIdentity names the Kubernetes Job and the pod that act, beside the person or
// the operating system's user.
type JobIdentity struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Pod       string `json:"pod,omitempty"`
	UID       string `json:"uid,omitempty"`   // of the pod: a retry has another
	Index     *int   `json:"index,omitempty"` // the completion index of an Indexed Job; nil in others
}

// The environment variables of JobFromEnv. Kubernetes sets the last in the pods of
// an Indexed Job; the others are fields of the downward API in the pod's template:
// metadata.namespace, metadata.name, metadata.uid, and metadata.labels['job-name'].
const (
	EnvNamespace = "POD_NAMESPACE"
	EnvPod       = "POD_NAME"
	EnvPodUID    = "POD_UID"
	EnvJob       = "JOB_NAME"
	EnvIndex     = "JOB_COMPLETION_INDEX"
)

// JobFromEnv returns the Job that the environment names, nil when it names none.
// An index that is no number is an error.
func JobFromEnv(getenv func(string) string) (*JobIdentity, error) {
	j := JobIdentity{Namespace: getenv(EnvNamespace), Name: getenv(EnvJob), Pod: getenv(EnvPod), UID: getenv(EnvPodUID)}
	if text := getenv(EnvIndex); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s is %q: want the completion index of an Indexed Job, a number from 0", EnvIndex, text)
		}
		j.Index = &n
	}
	if j == (JobIdentity{}) {
		return nil, nil
	}
	return &j, nil
}

// equal compares what both point to.
func (j *JobIdentity) equal(o *JobIdentity) bool {
	if j == nil || o == nil {
		return j == o
	}
	a, b := *j, *o
	a.Index, b.Index = nil, nil
	return a == b && (j.Index == nil) == (o.Index == nil) && (j.Index == nil || *j.Index == *o.Index)
}
