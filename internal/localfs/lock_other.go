//go:build !unix

package localfs

import (
	"errors"
	"os"
)

// Locks says that TryLock can lock files on this system.
const Locks = false

// TryLock is an error on this system.
func TryLock(f *os.File) (bool, error) {
	return false, &os.PathError{Op: "flock", Path: f.Name(), Err: errors.ErrUnsupported}
}
