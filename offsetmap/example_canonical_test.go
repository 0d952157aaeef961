package offsetmap_test

import (
	"fmt"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// However a JSON text is written, its canonical form is one.
func ExampleCanonical() {
	out, err := offsetmap.Canonical([]byte(`{ "topic": "orders", "owner": "Zoë", "offset": 9007199254740993 }`))
	fmt.Println(string(out), err)

	_, err = offsetmap.Canonical([]byte(`{"rows": [{"next": 1e3}]}`))
	fmt.Println(err)
	// Output:
	// {"offset":9007199254740993,"owner":"Zo\u00eb","topic":"orders"} <nil>
	// rows[0].next: number 1e3 is not an integer of 64 bits
}
