package flinkstate

// Type codes and flags of java.io.ObjectStreamConstants.
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

	javaMaxHandles = 1024
	javaMaxDepth   = 4 * maxDepth
)

// javaObject is an object of a Java serialization stream as the grammar shows
// it. Nothing of Java is run or looked up: names and values are bytes.
type javaObject struct {
	class  string // of an object or an enum constant; empty for a string
	text   string // of a string, or the name of an enum constant
	fields []javaField
}

// javaField is a field that holds an object. Those that hold numbers or null
// are left out.
type javaField struct {
	name  string
	value *javaObject
}

// field returns the object that a field holds, nil when there is none. A class
// that hides a field of its superclass has its own read last.
func (o *javaObject) field(name string) *javaObject {
	var value *javaObject
	for _, f := range o.fields {
		if f.name == name {
			value = f.value
		}
	}
	return value
}

// javaClass is a class description: its own fields and its superclass.
type javaClass struct {
	name   string
	fields []javaFieldDesc
	flags  int8
	super  *javaClass
}

type javaFieldDesc struct {
	code byte
	name string
}

// javaHandle is what a later reference can point at: a class or an object.
type javaHandle struct {
	class  *javaClass
	object *javaObject
}

// javaReader reads a Java serialization stream by its grammar (Java Object
// Serialization Specification, chapter 6), as far as Flink's
// CheckpointProperties make use of it.
type javaReader struct {
	*cursor
	what    string
	handles []javaHandle
	unknown bool // something was met that is not followed
}

// javaStream reads the one object of a serialization stream. A stream that ends
// before its object does is corrupt. Of one that uses parts of the grammar which
// are not followed, all bytes are taken and no object is returned.
func (c *cursor) javaStream(what string) *javaObject {
	if magic := c.take(4, what); magic != nil && string(magic) != "\xac\xed\x00\x05" {
		c.corrupt(c.off-4, what, "%x does not start a Java serialization stream", magic)
	}
	r := javaReader{cursor: c, what: what}
	o := r.content(0)
	if r.unknown {
		c.off = len(c.buf)
		return nil
	}
	return o
}

// goOn bounds the work: real properties hold a dozen objects, three deep.
func (r *javaReader) goOn(depth int) bool {
	r.unknown = r.unknown || depth > javaMaxDepth || len(r.handles) > javaMaxHandles
	return r.err == nil && !r.unknown
}

func (r *javaReader) giveUp() { r.unknown = r.unknown || r.err == nil }

func (r *javaReader) text() string { return string(r.raw(r.what)) }

// content reads an object, nil for a null or when the reader gave up.
func (r *javaReader) content(depth int) *javaObject {
	if !r.goOn(depth) {
		return nil
	}
	switch r.i8(r.what) {
	case javaNull:
	case javaReference:
		return r.reference().object
	case javaString:
		o := &javaObject{}
		r.handles = append(r.handles, javaHandle{object: o})
		o.text = r.text()
		return o
	case javaEnum:
		o := &javaObject{}
		if class := r.classDesc(depth + 1); class != nil {
			o.class = class.name
		}
		r.handles = append(r.handles, javaHandle{object: o})
		if name := r.content(depth + 1); name != nil {
			o.text = name.text
		}
		return o
	case javaObjectCode:
		o := &javaObject{}
		class := r.classDesc(depth + 1)
		r.handles = append(r.handles, javaHandle{object: o})
		if class == nil {
			r.giveUp()
			return nil
		}
		o.class = class.name
		r.fields(o, class, depth+1)
		return o
	default:
		r.giveUp()
	}
	return nil
}

// reference returns what a handle stands for.
func (r *javaReader) reference() javaHandle {
	i := int(r.i32(r.what)) - javaFirstHandle
	if r.err != nil || i < 0 || i >= len(r.handles) {
		r.giveUp()
		return javaHandle{}
	}
	return r.handles[i]
}

func (r *javaReader) classDesc(depth int) *javaClass {
	if !r.goOn(depth) {
		return nil
	}
	switch r.i8(r.what) {
	case javaNull:
		return nil
	case javaReference:
		class := r.reference().class
		if class == nil {
			r.giveUp()
		}
		return class
	case javaClassDesc:
	default:
		r.giveUp()
		return nil
	}
	class := &javaClass{name: r.text()}
	r.i64(r.what) // serialVersionUID
	r.handles = append(r.handles, javaHandle{class: class})
	class.flags = r.i8(r.what)
	for range int(uint16(r.i16(r.what))) {
		if r.err != nil || r.unknown {
			return nil
		}
		f := javaFieldDesc{code: byte(r.i8(r.what)), name: r.text()}
		if f.code == 'L' || f.code == '[' {
			r.content(depth + 1) // the name of the field's type
		}
		class.fields = append(class.fields, f)
	}
	if r.i8(r.what) != javaEndBlockData {
		r.giveUp()
		return nil
	}
	class.super = r.classDesc(depth + 1)
	return class
}

// fields reads the values of an object, those of its superclass first.
func (r *javaReader) fields(o *javaObject, class *javaClass, depth int) {
	if class == nil || !r.goOn(depth) {
		return
	}
	if class.flags&javaExternalizable != 0 || class.flags&javaSerializable == 0 {
		r.giveUp()
		return
	}
	r.fields(o, class.super, depth+1)
	for _, f := range class.fields {
		if r.err != nil || r.unknown {
			return
		}
		switch f.code {
		case 'B', 'Z':
			r.take(1, r.what)
		case 'C', 'S':
			r.take(2, r.what)
		case 'F', 'I':
			r.take(4, r.what)
		case 'D', 'J':
			r.take(8, r.what)
		case 'L', '[':
			if v := r.content(depth + 1); v != nil {
				o.fields = append(o.fields, javaField{f.name, v})
			}
		default:
			r.giveUp()
		}
	}
	if class.flags&javaWriteMethod != 0 && r.i8(r.what) != javaEndBlockData {
		r.giveUp()
	}
}
