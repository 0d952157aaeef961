package flinkstate

// Type codes of java.io.ObjectStreamConstants.
const (
	javaNull         = 0x70
	javaReference    = 0x71
	javaClassDesc    = 0x72
	javaObjectCode   = 0x73
	javaString       = 0x74
	javaEndBlockData = 0x78
	javaEnum         = 0x7e

	javaFirstHandle    = 0x7e0000
	javaWriteMethod    = 0x01
	javaSerializable   = 0x02
	javaExternalizable = 0x04
)

// javaWalker finds the end of a Java serialization stream by its grammar. It
// makes no object and keeps no value: it only tells a whole stream from one
// that was cut off.
type javaWalker struct {
	*cursor
	what    string
	handles []*javaClass // nil for whatever is no class description
	unknown bool         // something was met that is not followed
}

// javaClass is a class description: the types of its own fields and its
// superclass.
type javaClass struct {
	fields []byte
	flags  int8
	super  *javaClass
}

// javaObject skips one serialized object. A stream that ends before its object
// does is corrupt; one that uses parts of the grammar which Flink's
// CheckpointProperties do not need is taken as it is.
func (c *cursor) javaObject(what string) {
	if magic := c.take(4, what); magic != nil && string(magic) != "\xac\xed\x00\x05" {
		c.corrupt(c.off-4, what, "%x does not start a Java serialization stream", magic)
	}
	w := javaWalker{cursor: c, what: what}
	w.content(0)
	if w.unknown {
		c.off = len(c.buf)
	}
}

// goOn bounds the walk: real properties hold a dozen objects, three deep.
func (w *javaWalker) goOn(depth int) bool {
	w.unknown = w.unknown || depth > 4*maxDepth || len(w.handles) > 1024
	return w.err == nil && !w.unknown
}

func (w *javaWalker) content(depth int) {
	if !w.goOn(depth) {
		return
	}
	switch w.i8(w.what) {
	case javaNull:
	case javaReference:
		w.i32(w.what)
	case javaString:
		w.handles = append(w.handles, nil)
		w.raw(w.what)
	case javaEnum:
		w.classDesc(depth + 1)
		w.handles = append(w.handles, nil)
		w.content(depth + 1)
	case javaObjectCode:
		class := w.classDesc(depth + 1)
		w.handles = append(w.handles, nil)
		w.fields(class, depth+1)
	default:
		w.unknown = w.err == nil
	}
}

func (w *javaWalker) classDesc(depth int) *javaClass {
	if !w.goOn(depth) {
		return nil
	}
	switch w.i8(w.what) {
	case javaNull:
		return nil
	case javaReference:
		i := int(w.i32(w.what)) - javaFirstHandle
		if w.err == nil && i >= 0 && i < len(w.handles) && w.handles[i] != nil {
			return w.handles[i]
		}
		w.unknown = w.err == nil
		return nil
	case javaClassDesc:
	default:
		w.unknown = w.err == nil
		return nil
	}
	class := &javaClass{}
	w.raw(w.what)
	w.i64(w.what)
	w.handles = append(w.handles, class)
	class.flags = w.i8(w.what)
	for range int(uint16(w.i16(w.what))) {
		if w.err != nil || w.unknown {
			return nil
		}
		t := byte(w.i8(w.what))
		w.raw(w.what)
		if t == 'L' || t == '[' {
			w.content(depth + 1)
		}
		class.fields = append(class.fields, t)
	}
	if end := w.i8(w.what); end != javaEndBlockData {
		w.unknown = w.err == nil
		return nil
	}
	class.super = w.classDesc(depth + 1)
	return class
}

// fields skips the values of an object, those of its superclass first.
func (w *javaWalker) fields(class *javaClass, depth int) {
	if class == nil || !w.goOn(depth) {
		return
	}
	if class.flags&javaExternalizable != 0 || class.flags&javaSerializable == 0 {
		w.unknown = true
		return
	}
	w.fields(class.super, depth+1)
	for _, t := range class.fields {
		switch t {
		case 'B', 'Z':
			w.take(1, w.what)
		case 'C', 'S':
			w.take(2, w.what)
		case 'F', 'I':
			w.take(4, w.what)
		case 'D', 'J':
			w.take(8, w.what)
		case 'L', '[':
			w.content(depth + 1)
		default:
			w.unknown = w.err == nil
		}
	}
	if class.flags&javaWriteMethod != 0 && w.i8(w.what) != javaEndBlockData {
		w.unknown = w.err == nil
	}
}
