package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListIsReadAsItIsWritten(t *testing.T) {
	want := testList{".": {"TestB": true, "TestA": true, "TestA/x_y": true}, "a/b": {"ExampleC": true}}
	text := want.String()
	if diff := cmp.Diff(listHead+"\n.\n\tTestA\n\tTestA/x_y\n\tTestB\n\na/b\n\tExampleC\n", text); diff != "" {
		t.Error(diff)
	}
	got, err := parseList(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestListThatAMergeHasBrokenIsRefused(t *testing.T) {
	const head = listHead + "\n"
	for name, c := range map[string]struct{ text, place string }{
		"tests unsorted":       {head + "a\n\tTestB\n\tTestA\n", `line 5: "\tTestB`},
		"a test twice":         {head + "a\n" + strings.Repeat("\tTestA\n", 2), `line 6: "\tTestA`},
		"packages unsorted":    {head + "b\n\tTestB\n\na\n\tTestA\n", `line 4: "b`},
		"a mark of git":        {head + "<<<<<<< HEAD\na\n\tTestA\n", `line 4: "<<<<<<< HEAD`},
		"a package of none":    {head + "a\n\nb\n\tTestB\n", `line 4: "a`},
		"no package":           {head + "\tTestA\n", `line 4: "\tTestA`},
		"spaces for a tab":     {head + "a\n    TestA\n", `line 3: "\n"`},
		"no head":              {"\na\n\tTestA\n", `line 1: "`},
		"no end of line":       {head + "a\n\tTestA", `line 5: "\tTestA`},
		"something at the end": {head + "a\n\tTestA\n\n", `line 6: "`},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := parseList(c.text)
			if err == nil || !strings.Contains(err.Error(), c.place) {
				t.Errorf("%v, %v; want %s", l, err, c.place)
			}
		})
	}
}
