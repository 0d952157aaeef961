//go:build race

package measured

// Race says that the race detector is in this program.
const Race = true
