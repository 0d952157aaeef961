//go:build !linux

package lab

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// procAttr: only Linux ends a child with its parent. Elsewhere an interrupt reaches the JVMs by the terminal, whose
// foreground group they share with the tests.
func procAttr() *syscall.SysProcAttr { return nil }

// reservePort returns a port that was free a moment ago. A start that loses it to somebody else is repeated with
// another one.
func reservePort() (port int, release func(), err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, nil, fmt.Errorf("looking for a free port: %w", err)
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, nil, errors.Join(fmt.Errorf("a TCP listener has the address type %T", l.Addr()), l.Close())
	}
	return addr.Port, func() {}, l.Close()
}
