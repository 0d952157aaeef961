package cutover

import (
	"context"
	"testing"
)

func TestTwoWavesUnderLoad(t *testing.T) {
	t.Parallel()
	stage, _ := embedded(t)
	w := newWorld(t, stage)
	defer w.stop(context.WithoutCancel(t.Context()))
	if err := twoWaves(t.Context(), w); err != nil {
		t.Error(err)
	}
}
