package flinkmm2

import "github.com/flinkmm2/flinkmm2/preflight"

// WithPrincipals says as whom the brokers know the clients of connector and worker, for
// checks source/rights and target/rights, which hold it against the ACLs.
// By default, it comes from the connector's config where a PLAIN or SCRAM login stands in
// it, and a plan says what of the rights is not proven.
func WithPrincipals(p preflight.Principals) Option {
	return func(m *Migration) { m.principals = p }
}

// WithConnectTopics names the topics in which the workers keep their state, for check
// worker/internal-topics.
// By default, none is named, and a plan says that nothing of them is proven.
func WithConnectTopics(t preflight.ConnectTopics) Option {
	return func(m *Migration) { m.connectTopics = t }
}
