package stores

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
)

// crowd is a store of one folder.
type crowd int

func (crowd) stat(context.Context, string) (object, error) { return object{}, fs.ErrNotExist }

func (crowd) open(context.Context, object, int64, int64) (io.ReadCloser, error) {
	return nil, fs.ErrNotExist
}

func (n crowd) list(_ context.Context, key string, limit int) ([]object, error) {
	all := make([]object, 0, min(int(n), limit))
	for i := range min(int(n), limit) {
		all = append(all, object{key: fmt.Sprintf("%s/%06d", key, i)})
	}
	return all, nil
}

func TestFolderThatHoldsTooMuch(t *testing.T) {
	for n, ok := range map[crowd]bool{maxEntries: true, maxEntries + 1: false} {
		all, err := objectFS{t.Context(), n, "s3:/bucket"}.ReadDir("folder")
		if (err == nil) != ok || ok && len(all) != int(n) || !ok && !strings.Contains(err.Error(), "more than 10000 entries") {
			t.Errorf("%d entries of %d, %v", len(all), n, err)
		}
	}
}
