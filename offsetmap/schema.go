package offsetmap

import _ "embed"

//go:embed schema/plan.json
var planSchema string

// PlanSchema returns the JSON schema (draft 2020-12) of plan files. It knows
// the form of a plan; that the rows follow the rules, and that the digest is
// right, only ReadPlan knows.
func PlanSchema() []byte { return []byte(planSchema) }
