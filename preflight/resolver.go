package preflight

import (
	"context"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// ReachedBy returns a resolver that connects to the addresses under the config's
// key, such as "source.cluster.bootstrap.servers", and asks for the cluster id.
// The options say how to connect (TLS, SASL, dialer); the credentials of the
// config itself are not used, since they may be references that only the worker
// resolves.
//
// The addresses are taken as this process resolves them, which need not be how
// the worker does.
func ReachedBy(key string, opts ...kgo.Opt) Resolver {
	return func(ctx context.Context, config connectrest.Config) (string, error) {
		value, set, err := settings{config}.get(key)
		switch {
		case err != nil:
			return "", err
		case !set:
			return "", fmt.Errorf("%s is not set", key)
		}
		seeds := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		// The last SeedBrokers counts.
		id, err := ClusterID(ctx, append(append([]kgo.Opt{}, opts...), kgo.SeedBrokers(seeds...))...)
		if err != nil {
			return "", fmt.Errorf("%s %s: %w", key, strings.Join(seeds, ","), err)
		}
		return id, nil
	}
}
