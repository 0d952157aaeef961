package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// storedCommand sets what a savepoint stores for a partition in its metadata: the
// starting offset of a KafkaSource's split, or the last offset of a
// FlinkKafkaConsumer.
func storedCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "stored FOLDER TOPIC-PARTITION NUMBER")
	topic, p := partition(ts, args[1])
	number, err := strconv.ParseInt(args[2], 10, 64)
	ts.Check(err)
	file := ts.MkAbs(args[0] + "/_metadata")
	b, err := os.ReadFile(file)
	ts.Check(err)
	at := afterSplit(b, topic, p)
	if at < 0 {
		at = afterKryo(b, topic, p)
	}
	if at < 0 {
		ts.Fatalf("%s stores nothing for %s", file, args[1])
	}
	binary.BigEndian.PutUint64(b[at:], uint64(number))
	ts.Check(os.WriteFile(file, b, 0o600))
}

// afterSplit finds a split: topic, partition, starting offset, and the stopping
// offset that says there is none, which an enumerator's entry does not have.
func afterSplit(b []byte, topic string, p int32) int {
	key := binary.BigEndian.AppendUint16(nil, uint16(len(topic)))
	key = binary.BigEndian.AppendUint32(append(key, topic...), uint32(p))
	noStop := []byte{0x80, 0, 0, 0, 0, 0, 0, 0}
	for at := 0; ; {
		i := bytes.Index(b[at:], key)
		if i < 0 {
			return -1
		}
		if at += i + len(key); len(b) >= at+16 && bytes.Equal(b[at+8:at+16], noStop) {
			return at
		}
	}
}

// afterKryo finds a partition as Kryo writes it: the number, and a name whose last
// byte has bit 7 set.
func afterKryo(b []byte, topic string, p int32) int {
	key := append([]byte{byte(2 * p), 1}, topic...)
	key[len(key)-1] |= 0x80
	i := bytes.Index(b, key)
	if i < 0 || len(b) < i+len(key)+8 {
		return -1
	}
	return i + len(key)
}

// respellCommand replaces each place of a text in a binary file by another of the
// same length, both as Go quotes them.
func respellCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "respell FILE OLD NEW")
	spelled := func(s string) []byte {
		text, err := strconv.Unquote(`"` + s + `"`)
		ts.Check(err)
		return []byte(text)
	}
	before, after := spelled(args[1]), spelled(args[2])
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(before) != len(after) || !bytes.Contains(b, before) {
		ts.Fatalf("%s: cannot put %q in the place of %q", args[0], after, before)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.ReplaceAll(b, before, after), 0o600))
}
