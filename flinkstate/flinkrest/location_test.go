package flinkrest

import "testing"

func TestMatchLocation(t *testing.T) {
	const flink = "file:/flink/sp/savepoint-97296f-b07d3066dea6"
	for _, tc := range []struct {
		flink, location string
		want            Match
	}{
		{flink, "/flink/sp/savepoint-97296f-b07d3066dea6", MatchPath},
		{flink, "/flink/sp/savepoint-97296f-b07d3066dea6/", MatchPath},
		{flink, "/flink/sp/savepoint-97296f-b07d3066dea6/_metadata", MatchPath},
		{flink, "file:///flink/sp/savepoint-97296f-b07d3066dea6", MatchPath},
		{flink, "file://localhost/flink/sp/savepoint-97296f-b07d3066dea6", MatchPath},
		{flink, "/copies/savepoint-97296f-b07d3066dea6", MatchName},
		{flink, "savepoint-97296f-b07d3066dea6", MatchName},
		{flink, "s3://bucket/savepoint-97296f-b07d3066dea6", MatchName},
		{flink, "/flink/sp/savepoint-97296f-000000000000", MatchNone},
		{flink, "/flink/sp", MatchNone},
		{flink, "", MatchNone},
		{"", "", MatchNone},
		{"s3a://bucket/a/savepoint-1-2", "s3://bucket/a/savepoint-1-2/_metadata", MatchPath},
		{"s3://bucket/a/savepoint-1-2", "s3://other/a/savepoint-1-2", MatchName},
		{"s3://bucket/a b/savepoint-1-2", "s3://bucket/a%20b/savepoint-1-2", MatchPath},
		{"hdfs://nn:8020/a/savepoint-1-2", "hdfs://nn:8020/a/savepoint-1-2", MatchPath},
		// Two jobs both have a chk-7.
		{"file:/a/chk-7", "/b/chk-7", MatchNone},
		{"file:/a/chk-7", "/a/chk-7", MatchPath},
	} {
		if got := MatchLocation(tc.flink, tc.location); got != tc.want {
			t.Errorf("%q and %q: %s, want %s", tc.flink, tc.location, got, tc.want)
		}
	}
}
