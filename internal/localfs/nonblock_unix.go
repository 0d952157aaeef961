//go:build unix

package localfs

import "syscall"

const nonblock = syscall.O_NONBLOCK
