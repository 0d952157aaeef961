package connecttest

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
)

// offsetEntry is one entry of PATCH offsets. A nil partition is the null one; a
// nil offset deletes.
type offsetEntry struct {
	partition, offset javaMap
}

// validateFormat is OffsetUtils.validateFormat: Connect stores flat maps only.
func validateFormat(m javaMap) *restError {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		var holds string
		switch m[k].(type) {
		case *big.Int:
			holds = "class java.math.BigInteger"
		case javaMap:
			holds = "MAP"
		case []any:
			holds = "ARRAY"
		default:
			continue
		}
		return internalError("Offsets may only contain primitive types as values, but field %s contains %s", k, holds)
	}
	return nil
}

// checkMirrorSource is MirrorSourceConnector.alterOffsets (KAFKA-15177). It does
// not ask whether an offset makes sense: any alias, topic and number passes.
func (e offsetEntry) checkMirrorSource() *restError {
	if e.offset == nil {
		return nil // anything may be deleted, so that garbage can be cleaned up
	}
	if e.partition == nil {
		return internalError("Source partitions may not be null")
	}
	for _, key := range []string{"cluster", "topic"} {
		v, ok := e.partition[key]
		if !ok {
			return e.partitionError("is missing the '%s' key, which is required", key)
		}
		if _, ok := v.(string); !ok {
			return e.partitionError("has an invalid value %s for the '%s' key, which must be a string", javaString(v), key)
		}
	}
	v, ok := e.partition["partition"]
	if !ok {
		return e.partitionError("is missing the 'partition' key, which is required")
	}
	n, ok := v.(int64)
	if !ok || n > math.MaxInt32 {
		return e.partitionError("has an invalid value %s for the 'partition' key, which must be an integer", javaString(v))
	}
	if int32(n) < 0 { // Number.intValue wraps around, so -2^32 passes
		return e.partitionError("has an invalid value %d for the 'partition' key, which cannot be negative", n)
	}
	v, ok = e.offset["offset"]
	if !ok {
		return e.offsetError("is missing the 'offset' key, which is required")
	}
	n, ok = v.(int64)
	if !ok {
		return e.offsetError("has an invalid value %s for the 'offset' key, which must be an integer", javaString(v))
	}
	if n < 0 {
		return e.offsetError("has an invalid value %d for the 'offset' key, which cannot be negative", n)
	}
	return nil
}

// maxRecord is max.request.size of the worker's producer, and recordOverhead what
// it adds to key and value (AbstractRecords.estimateSizeInBytesUpperBound).
const (
	maxRecord      = 1 << 20
	recordOverhead = 82
)

// isTooLarge reports that the producer refuses the entry's record, which it finds
// out when the entries before it are on their way.
func (e offsetEntry) isTooLarge(connector string) bool {
	size := len(encodeJSON([]any{connector, e.partition})) + recordOverhead
	if e.offset != nil {
		size += len(encodeJSON(e.offset))
	}
	return size > maxRecord
}

func (e offsetEntry) partitionError(format string, args ...any) *restError {
	return internalError("Source partition %s %s", e.partition, fmt.Sprintf(format, args...))
}

func (e offsetEntry) offsetError(format string, args ...any) *restError {
	return internalError("Source offset %s for source partition %s %s", e.offset, e.partition, fmt.Sprintf(format, args...))
}
