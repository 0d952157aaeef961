package offsetmap_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func TestTopicPartitionSplitsAtTheLastDash(t *testing.T) {
	longest := strings.Repeat("x", 249)
	for in, want := range map[string]offsetmap.TopicPartition{
		"orders-0":              {Topic: "orders", Partition: 0},
		"orders-2024-01-0":      {Topic: "orders-2024-01", Partition: 0},
		"orders-0-12":           {Topic: "orders-0", Partition: 12},
		"a.b_c-3":               {Topic: "a.b_c", Partition: 3},
		"a_b.c-3":               {Topic: "a_b.c", Partition: 3},
		"orders--0":             {Topic: "orders-", Partition: 0},
		"--1":                   {Topic: "-", Partition: 1},
		"...-1":                 {Topic: "...", Partition: 1},
		"azAZ09-5":              {Topic: "azAZ09", Partition: 5},
		"__audit-7":             {Topic: "__audit", Partition: 7},
		"pay.internal-2":        {Topic: "pay.internal", Partition: 2},
		longest + "-2147483647": {Topic: longest, Partition: math.MaxInt32},
	} {
		got, err := offsetmap.ParseTopicPartition(in)
		if err != nil || got != want {
			t.Errorf("ParseTopicPartition(%q) = %+v, %v, want %+v", in, got, err, want)
		}
		if got.String() != in {
			t.Errorf("%+v prints as %q, was read from %q", got, got.String(), in)
		}
	}
}

func TestTopicPartitionRefusesWhatKafkaWouldNotWrite(t *testing.T) {
	for in, topicIsWrong := range map[string]bool{
		"": false, "5": false, "orders": false, "orders-": false, "orders-x": false, "orders-0 ": false,
		"orders-+1": false, "orders-01": false, "orders-2147483648": false,
		"orders-0x1": false, "orders-1_0": false, "orders-٣": false, "orders_0": false,
		"-0": true, ".-0": true, "..-0": true, "or ders-0": true, "bestellungen-ü-0": true,
		"or/ders-0": true, "orders\x00-0": true, "orders\xff-0": true, "or\nders-0": true,
		strings.Repeat("x", 250) + "-0": true,
	} {
		got, err := offsetmap.ParseTopicPartition(in)
		if err == nil {
			t.Errorf("ParseTopicPartition(%q) = %+v, want an error", in, got)
			continue
		}
		if errors.Is(err, offsetmap.ErrTopicName) != topicIsWrong {
			t.Errorf("ParseTopicPartition(%q): %v, ErrTopicName %t is wrong", in, err, !topicIsWrong)
		}
		if got != (offsetmap.TopicPartition{}) {
			t.Errorf("ParseTopicPartition(%q) gives %+v beside the error", in, got)
		}
	}
}

func TestRefusalsSayWhatAndWhy(t *testing.T) {
	for in, want := range map[string]string{
		"orders":                        `topic partition "orders": want TOPIC-PARTITION`,
		"orders-x1":                     `topic partition "orders-x1": "x1" is not a partition number`,
		"or ders-0":                     `topic partition "or ders-0": not a legal topic name: "or ders" has ' ' at byte 2`,
		"größe-0":                       `topic partition "größe-0": not a legal topic name: "größe" has 'ö' at byte 2`,
		"-0":                            `topic partition "-0": not a legal topic name: it is empty`,
		strings.Repeat("y", 250) + "-0": `"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"... has 250 bytes, at most 249 are allowed`,
	} {
		if _, err := offsetmap.ParseTopicPartition(in); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestNegativePartitionCannotExist(t *testing.T) {
	p := offsetmap.TopicPartition{Topic: "orders", Partition: -1}
	if err := p.Validate(); err == nil || errors.Is(err, offsetmap.ErrTopicName) {
		t.Errorf("got %v, want an error about the partition", err)
	}
}

func TestPartitionsSortByNumberNotByText(t *testing.T) {
	var got []offsetmap.TopicPartition
	for _, s := range []string{"b-0", "a-10", "a-2", "a-b-0", "a-0", "a.b-1", "a_b-0"} {
		got = append(got, tp(s))
	}
	slices.SortFunc(got, offsetmap.TopicPartition.Compare)
	var names []string
	for _, p := range got {
		names = append(names, p.String())
	}
	diff(t, []string{"a-0", "a-2", "a-10", "a-b-0", "a.b-1", "a_b-0", "b-0"}, names)
}

func FuzzParseTopicPartition(f *testing.F) {
	for _, s := range []string{"orders-0", "orders-2024-01-0", "a.b_c-3", "-0", "x--1", "x-00", "x-2147483648", "\xff-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := offsetmap.ParseTopicPartition(s)
		if err != nil {
			return
		}
		if p.String() != s {
			t.Errorf("%q was read as %q", s, p.String())
		}
		if err := p.Validate(); err != nil {
			t.Errorf("%q was read as %+v, which is not valid: %v", s, p, err)
		}
	})
}
