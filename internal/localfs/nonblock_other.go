//go:build !unix

package localfs

const nonblock = 0
