//go:build !race

package flinkmm2_test

const raceEnabled = false
