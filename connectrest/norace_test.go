//go:build !race

package connectrest_test

const raceEnabled = false
