//go:build race

package connectrest_test

const raceEnabled = true
