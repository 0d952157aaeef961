package offsetmap_test

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// TestRecheck is PC03, round two, and PC04: the world moved between plan and
// apply, or between apply and start.
func TestRecheck(t *testing.T) {
	row := func(c int64, r offsetmap.Range) offsetmap.Row {
		p := at("orders-0", c)
		rows, findings := one(r, offsetmap.ReadUncommitted, &p)
		if err := offsetmap.Blocked(findings); err != nil {
			t.Fatal(err)
		}
		return rows[0]
	}
	thousand := row(1000, log(900, 2000))
	for _, c := range []struct {
		name   string
		row    offsetmap.Row
		now    offsetmap.Measured
		want   []string
		detail string
	}{
		{"nothing moved", thousand, measured("orders-0", log(900, 2000)), nil, ""},
		{"more was written", thousand, measured("orders-0", log(900, 9000)), nil, ""},
		{"expired up to C", thousand, measured("orders-0", log(1000, 2000)), nil, ""},
		{"one expired", thousand, measured("orders-0", log(1001, 2000)), []string{"block source/offset-expired orders-0 never"}, "1 offsets from C = 1000 to 1000 are gone"},
		{"200 expired", thousand, measured("orders-0", log(1200, 2000)), []string{"block source/offset-expired orders-0 never"}, "200 offsets from C = 1000 to 1199 are gone since the plan was made: the log starts at 1200 now, it started at 900"},
		{"cut by one", thousand, measured("orders-0", log(900, 1999)), []string{"block source/log-truncated orders-0 never"}, "the log ends at 1999 now, it ended at 2000"},
		{"expired and cut", thousand, measured("orders-0", log(1200, 1300)), []string{"block source/offset-expired orders-0 never", "block source/log-truncated orders-0 never"}, ""},
		{"C = 0, still at 0", row(0, log(0, 5)), measured("orders-0", log(0, 5)), nil, ""},
		{"C = 0, no longer at 0", row(0, log(0, 5)), measured("orders-0", log(1, 5)), []string{"block source/offset-expired orders-0 never"}, "1 offsets from C = 0 to 0"},
		{"at the end", row(2000, log(900, 2000)), measured("orders-0", log(2000, 2000)), nil, ""},
		{"created again with C inside", thousand, func() offsetmap.Measured {
			m := measured("orders-0", log(0, 8000))
			m.TopicID = offsetmap.TopicID{9}
			return m
		}(), []string{"block source/topic-recreated orders-0 never"}, "its id is CQAAAAAAAAAAAAAAAAAAAA, the plan has AQID-gAAAAAAAAAAAAAAAA"},
		{"no id any more", thousand, func() offsetmap.Measured {
			m := measured("orders-0", log(900, 2000))
			m.TopicID = offsetmap.TopicID{}
			return m
		}(), []string{"block source/topic-recreated orders-0 never"}, ""},
		{"start unknown", thousand, measured("orders-0", offsetmap.Range{End: next(2000)}), []string{"block source/range-unknown orders-0 never unmade"}, "log start none and log end 2000"},
		{"end unknown", thousand, measured("orders-0", offsetmap.Range{Start: next(900)}), []string{"block source/range-unknown orders-0 never unmade"}, "log start 900 and log end none"},
		{"another partition", thousand, measured("orders-1", log(900, 2000)), []string{"block source/range-unknown orders-0 never unmade"}, "orders-1 was measured instead"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.row.Recheck(c.now)
			diff(t, c.want, lines(got))
			if len(got) > 0 && !strings.Contains(got[0].Detail, c.detail) {
				t.Errorf("got %q, want %q in it", got[0].Detail, c.detail)
			}
		})
	}
}

// TestRowsThatDoNotFollow changes one thing of a good row at a time.
func TestRowsThatDoNotFollow(t *testing.T) {
	rows, findings := offsetmap.Resolve(everyRule())
	if err := offsetmap.Blocked(findings); err != nil {
		t.Fatal(err)
	}
	by := map[string]offsetmap.Row{}
	for _, r := range rows {
		if err := r.Validate(); err != nil {
			t.Errorf("%v", err)
		}
		by[r.String()] = r
	}
	const (
		stored, marked, empty       = "orders-0", "orders-2", "orders-3"
		earliest, unnamed, expired  = "orders-4", "orders-5", "orders-6"
		zero, unstable              = "orders-1", "orders-7"
		follow, bound, outside, got = "does not follow", "a bound is missing", "lies outside the log", "lost is"
	)
	for name, c := range map[string]struct {
		row    string
		change func(*offsetmap.Row)
		want   string
	}{
		"another C":                     {stored, func(r *offsetmap.Row) { r.Next, r.Write = next(1001), source(1000).Restore() }, follow},
		"a smaller C":                   {stored, func(r *offsetmap.Row) { r.Next, r.Write = next(999), source(998).Restore() }, follow},
		"seek M":                        {stored, func(r *offsetmap.Row) { r.Write = source(1000).Restore() }, "write is set 1000, but C = 1000 asks for set 999"},
		"seek M+2":                      {stored, func(r *offsetmap.Row) { r.Write = source(998).Restore() }, "asks for set 999"},
		"clear for a number":            {stored, func(r *offsetmap.Row) { r.Write = noSource.Restore() }, "asks for set 999"},
		"no write":                      {stored, func(r *offsetmap.Row) { r.Write = offsetmap.Write{} }, "write is none"},
		"a number for a clear":          {zero, func(r *offsetmap.Row) { r.Write = source(0).Restore() }, "asks for clear"},
		"no C":                          {stored, func(r *offsetmap.Row) { r.Next = none }, "next: not an offset"},
		"no rule":                       {stored, func(r *offsetmap.Row) { r.Rule = "" }, `rule "" is not one of`},
		"an illegal topic":              {stored, func(r *offsetmap.Row) { r.Topic = "a b" }, "not a legal topic name"},
		"a negative partition":          {stored, func(r *offsetmap.Row) { r.Partition = -1 }, "is negative"},
		"a negative partition, unnamed": {empty, func(r *offsetmap.Row) { r.Partition = -1 }, "is negative"},
		"an illegal target":             {stored, func(r *offsetmap.Row) { r.TargetTopic = "" }, "targetTopic: not a legal topic name"},
		"no log start":                  {stored, func(r *offsetmap.Row) { r.LogStart = none }, bound},
		"no log end":                    {stored, func(r *offsetmap.Row) { r.LogEnd = none }, bound},
		"no stable end":                 {stored, func(r *offsetmap.Row) { r.LastStable = none }, bound},
		"no target end":                 {stored, func(r *offsetmap.Row) { r.TargetEnd = none }, bound},
		"start above C":                 {stored, func(r *offsetmap.Row) { r.LogStart = next(1001) }, outside},
		"end below C":                   {stored, func(r *offsetmap.Row) { r.LogEnd = next(999) }, outside},
		"stable below start":            {stored, func(r *offsetmap.Row) { r.LastStable = next(899) }, "lies below the log start"},
		"a loss":                        {stored, func(r *offsetmap.Row) { r.Lost = 1 }, got},
		"a negative loss":               {stored, func(r *offsetmap.Row) { r.Lost = -1 }, got},
		"nothing found":                 {stored, func(r *offsetmap.Row) { r.Found = nil }, follow},
		"found without content":         {stored, func(r *offsetmap.Row) { r.Found = &offsetmap.Found{} }, "found: position of orders-0"},
		"found a marker":                {stored, func(r *offsetmap.Row) { r.Found = &offsetmap.Found{Unread: offsetmap.Latest} }, follow},
		"found by the enumerator": {stored, func(r *offsetmap.Row) {
			r.Found, r.Origin = &offsetmap.Found{State: offsetmap.Unassigned}, offsetmap.FromNothing
		}, follow},
		"no origin":                       {stored, func(r *offsetmap.Row) { r.Origin = "" }, `origin "" does not fit`},
		"another origin":                  {stored, func(r *offsetmap.Row) { r.Origin = "guess" }, `origin "guess" does not fit`},
		"origin nothing":                  {stored, func(r *offsetmap.Row) { r.Origin = offsetmap.FromNothing }, `origin "none" does not fit`},
		"origin group, which has another": {stored, func(r *offsetmap.Row) { r.Origin = offsetmap.FromGroup }, "is not what the group holds, 990"},
		"origin group, which has none":    {marked, func(r *offsetmap.Row) { r.Origin = offsetmap.FromGroup }, "is not what the group holds, none"},
		"origin savepoint of an unread":   {unnamed, func(r *offsetmap.Row) { r.Origin = offsetmap.FromSavepoint }, "does not fit"},
		"expired as stored":               {expired, func(r *offsetmap.Row) { r.Rule, r.Lost = offsetmap.RuleStored, 0 }, follow},
		"another count lost":              {expired, func(r *offsetmap.Row) { r.Lost = 199 }, "lost is 199, what was found makes it 200"},
		"nothing lost":                    {expired, func(r *offsetmap.Row) { r.Lost = 0 }, "lost is 0, what was found makes it 200"},
		"expired, C above the log start":  {expired, func(r *offsetmap.Row) { r.Next, r.Write, r.Lost = next(301), source(300).Restore(), 201 }, follow},
		"stored as expired":               {stored, func(r *offsetmap.Row) { r.Rule, r.LogStart = offsetmap.RuleExpiredAccepted, next(1000) }, follow},
		"expired, C backwards":            {expired, func(r *offsetmap.Row) { r.Found.Next, r.Lost = next(301), -1 }, follow},
		"expired, marked":                 {marked, func(r *offsetmap.Row) { r.Rule = offsetmap.RuleExpiredAccepted }, follow},
		"marked, not empty":               {marked, func(r *offsetmap.Row) { r.LogStart = next(499) }, follow},
		"marked, C below the end":         {marked, func(r *offsetmap.Row) { r.Next, r.Write = next(499), source(498).Restore() }, follow},
		"marked, marker not understood":   {marked, func(r *offsetmap.Row) { r.Found.Unread = offsetmap.Unknown }, follow},
		"marked, stored": {stored, func(r *offsetmap.Row) {
			r.Rule, r.LogStart, r.LogEnd = offsetmap.RuleMarkedEmpty, next(1000), next(1000)
		}, follow},
		"marked by nobody":         {empty, func(r *offsetmap.Row) { r.Rule = offsetmap.RuleMarkedEmpty }, follow},
		"earliest with latest":     {earliest, func(r *offsetmap.Row) { r.Found.Unread = offsetmap.Latest }, follow},
		"earliest of an empty one": {earliest, func(r *offsetmap.Row) { r.LogEnd, r.LastStable = next(0), next(0) }, follow},
		"earliest above the start": {earliest, func(r *offsetmap.Row) { r.Next, r.Write = next(1), source(0).Restore() }, follow},
		"earliest of a stored":     {zero, func(r *offsetmap.Row) { r.Rule = offsetmap.RuleEarliestAccepted }, follow},
		"empty with records":       {empty, func(r *offsetmap.Row) { r.LogEnd, r.LastStable = next(1), next(1) }, follow},
		"empty above 0": {empty, func(r *offsetmap.Row) {
			r.LogStart, r.LogEnd, r.LastStable, r.Next, r.Write = next(1), next(1), next(1), next(1), source(0).Restore()
		}, follow},
		"empty although named":             {empty, func(r *offsetmap.Row) { r.Found, r.Origin = &offsetmap.Found{Next: next(0)}, offsetmap.FromSavepoint }, follow},
		"accepted although empty":          {empty, func(r *offsetmap.Row) { r.Rule = offsetmap.RuleUnnamedAccepted }, follow},
		"unnamed, C above the start":       {unnamed, func(r *offsetmap.Row) { r.Next, r.Write = next(21), source(20).Restore() }, follow},
		"unnamed although read":            {zero, func(r *offsetmap.Row) { r.Rule = offsetmap.RuleUnnamedAccepted }, follow},
		"found, start in a reader's split": {unstable, func(r *offsetmap.Row) { r.Found.Start = next(5) }, "starting offset 5"},
	} {
		t.Run(name, func(t *testing.T) {
			r := by[c.row]
			if r.Found != nil {
				f := *r.Found
				r.Found = &f
			}
			c.change(&r)
			if err := r.Validate(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), r.String()+": ") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestRowGivesItsRange(t *testing.T) {
	r := offsetmap.Row{LogStart: next(1), LogEnd: next(9), LastStable: next(5)}
	diff(t, openLog(1, 9, 5), r.Range())
}
