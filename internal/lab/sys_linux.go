package lab

import (
	"fmt"
	"os"
	"syscall"
)

// procAttr lets the kernel kill a JVM whose test binary is gone, whatever ended it.
func procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// reservePort returns a free port that stays ours until release. The socket is bound and never listens: the kernel
// then gives the port to nobody who asks for any port, neither to listen on nor to connect from, while a JVM, which
// sets SO_REUSEADDR as the socket does, may listen on it by number. So a broker finds its port free after a restart.
func reservePort() (port int, release func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, os.NewSyscallError("socket", err)
	}
	release = func() { _ = syscall.Close(fd) }
	defer func() {
		if err != nil {
			release()
		}
	}()
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, nil, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, nil, os.NewSyscallError("bind", err)
	}
	addr, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, nil, os.NewSyscallError("getsockname", err)
	}
	inet4, ok := addr.(*syscall.SockaddrInet4)
	if !ok {
		return 0, nil, fmt.Errorf("getsockname: an IPv4 socket has the address type %T", addr)
	}
	return inet4.Port, release, nil
}
