package offsetmap_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Secrets never leave; references to config providers are none.
func ExampleRedactConfig() {
	config := offsetmap.RedactConfig(map[string]string{
		"topics":                                    "orders",
		"source.cluster.sasl.jaas.config":           `PlainLoginModule required username="mm2" password="hunter2";`,
		"target.cluster.ssl.keystore.password":      "${file:/opt/secrets/target.properties:keystore}",
		"value.converter.schema.registry.url":       "https://mm2:hunter2@registry:8081",
		"producer.override.ssl.truststore.location": "/opt/certs/truststore.jks",
	})
	for _, k := range slices.Sorted(maps.Keys(config)) {
		fmt.Printf("%s=%s\n", k, config[k])
	}
	// Output:
	// producer.override.ssl.truststore.location=/opt/certs/truststore.jks
	// source.cluster.sasl.jaas.config=<secret>
	// target.cluster.ssl.keystore.password=${file:/opt/secrets/target.properties:keystore}
	// topics=orders
	// value.converter.schema.registry.url=https://<secret>@registry:8081
}
