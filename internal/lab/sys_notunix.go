//go:build !unix

package lab

import "syscall"

// Such a system has neither signal; sending one is an error there.
const (
	sigStop = syscall.Signal(-1)
	sigCont = syscall.Signal(-2)
)
