//go:build unix

package localfs

import (
	"errors"
	"os"
	"syscall"
)

// Locks says that TryLock can lock files on this system.
const Locks = true

// TryLock takes the exclusive lock of an open file (flock), which is given back when
// the file is closed or the process ends, however that ends. It reports false when
// another open file holds it, in this process or elsewhere. A file system that has
// no locks is an error.
func TryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
