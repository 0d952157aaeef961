package preflight

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Deadline is a moment until which something is possible, and what sets it.
type Deadline struct {
	// At is the moment up to which nothing that was looked at stands in the way. What
	// deletes may do so somewhat later: ages are known in steps, and brokers delete whole
	// segments.
	At offsetmap.Time
	// Why says what happens then, and Scope is the partition or topic that it happens to;
	// empty where it is none.
	Why, Scope string
	// Estimated says that At stands on how fast the partition grows now.
	Estimated bool
	// Unknown says of what it could not be found out, which may come sooner. Empty where
	// all is known.
	Unknown string
}

// deadlines gathers the earliest of several.
type deadlines struct {
	first *Deadline
	errs  []error
}

func (d *deadlines) add(at time.Time, scope, why string, estimated bool) {
	if d.first == nil || at.Before(d.first.At.Time) {
		d.first = &Deadline{At: offsetmap.At(at), Why: why, Scope: scope, Estimated: estimated}
	}
}

func (d *deadlines) unknown(err error) { d.errs = append(d.errs, err) }

// mostUnknown bounds how many reasons a deadline lists.
const mostUnknown = 5

func (d *deadlines) fact() offsetmap.Fact[Deadline] {
	texts := []string{}
	for _, err := range d.errs {
		texts = append(texts, oneLine(err.Error()))
	}
	if more := len(texts) - mostUnknown; more > 0 {
		texts = append(texts[:mostUnknown], fmt.Sprintf("and %d more", more))
	}
	text := strings.Join(texts, "; ")
	switch {
	case d.first != nil:
		out := *d.first
		out.Unknown = text
		return offsetmap.Known(out)
	case text != "":
		return offsetmap.NotKnown[Deadline](errors.New(text))
	default:
		return offsetmap.Absent[Deadline]()
	}
}

// bisections are how often the step of the countdown in which the first record goes is
// halved.
const bisections = 4

// countDown asks about further moments, so that it is known more closely when the first
// of the records from C on goes: about the spans of the probe, and between the two of
// all in which it does.
func (p Probe) countDown(ctx context.Context, f Facts, s *Surroundings, configs map[string]Settings) {
	retention := map[string]int64{}
	for topic, config := range configs {
		rule, err := config.cleanup()
		if err == nil && rule.delete && rule.ms >= 0 {
			retention[topic] = rule.ms
		}
	}
	s.spans = slices.Clone(margins[:])
	ask := func(span time.Duration) {
		if span <= 0 || slices.Contains(s.spans, span) {
			return
		}
		wanted := moments{}
		for topic, ms := range retention {
			if moment, ok := before(f.At.Add(span), ms); ok {
				wanted.add(moment, topic)
				for asked := range s.ages[moment].byTopic {
					wanted.add(moment, asked)
				}
			}
		}
		maps.Copy(s.ages, readAges(ctx, p.Source, wanted))
		s.spans = append(s.spans, span)
		slices.Sort(s.spans)
	}
	for _, span := range p.Spans {
		ask(span)
	}
	c := Case{Facts: f, Question: Question{Positions: p.Positions}}
	for range bisections {
		i := slices.IndexFunc(s.spans, func(span time.Duration) bool { return c.goes(s.ages, retention, span) })
		if i <= 0 {
			return
		}
		ask((s.spans[i-1] + (s.spans[i]-s.spans[i-1])/2).Truncate(time.Second))
	}
}

// goes reports whether any record from C on reaches its topic's age within the span.
func (c *Case) goes(ages recordAges, retention map[string]int64, span time.Duration) bool {
	for topic, ms := range retention {
		moment, ok := before(c.Facts.At.Add(span), ms)
		if !ok {
			continue
		}
		for _, at := range c.places(topic) {
			if _, old, _ := ages.older(at.TopicPartition, at.next, moment); old {
				return true
			}
		}
	}
	return false
}

// latestStart is how long the records from C on are surely there, and those that are
// written from now on.
func (c *Case) latestStart() offsetmap.Fact[Deadline] {
	var d deadlines
	c.addRecords(&d)
	return d.fact()
}

func (c *Case) addRecords(d *deadlines) {
	s := c.Facts.Surroundings
	if s == nil {
		d.unknown(errors.New("what the brokers keep was not looked at"))
		return
	}
	configs, ok := s.SourceConfigs.Get()
	if !ok {
		d.unknown(fmt.Errorf("settings of the source's topics: %w", s.SourceConfigs.Err()))
		return
	}
	for _, topic := range c.Facts.Topics {
		config := configs[topic]
		if config == nil {
			continue // source/topic-missing
		}
		rule, err := config.cleanup()
		if err != nil {
			d.unknown(fmt.Errorf("topic %s: %w", topic, err))
			continue
		}
		c.addTopic(d, s, topic, rule)
	}
}

func (c *Case) addTopic(d *deadlines, s *Surroundings, topic string, rule cleanup) {
	now := c.Facts.At
	_, ends := before(now, rule.ms)
	if ends && rule.delete {
		d.add(now.Add(time.Duration(rule.ms)*time.Millisecond), topic, fmt.Sprintf("%s is %s, also for records that are written from now on", keyRetention, spell(rule.ms)), false)
	}
	for _, at := range c.places(topic) {
		if !at.unread() {
			continue
		}
		if ends && rule.delete {
			atLeast, err := s.atLeast(now, rule.ms, at)
			if err != nil {
				d.unknown(fmt.Errorf("%s: %w", at, err))
			} else {
				d.add(now.Add(atLeast), at.String(), fmt.Sprintf("the records from C = %s reach the age of %s = %s", at.next, keyRetention, spell(rule.ms)), false)
			}
		}
		if rule.bytes < 0 {
			continue
		}
		switch size, err := s.sizeOf(at, rule.bytes); {
		case err != nil:
			d.unknown(fmt.Errorf("%s: %s is %d: %w", at, keyRetentionBytes, rule.bytes, err))
		case size.ends:
			d.add(now.Add(size.left), at.String(), size.text, true)
		}
	}
}

// atLeast returns for how long none of the records from C on reaches the age.
func (s *Surroundings) atLeast(now time.Time, retention int64, at place) (time.Duration, error) {
	var least time.Duration
	for _, span := range s.spans {
		moment, ok := before(now.Add(span), retention)
		if !ok {
			continue
		}
		_, old, err := s.ages.older(at.TopicPartition, at.next, moment)
		if old || err != nil {
			return least, err
		}
		least = span
	}
	return least, nil
}
