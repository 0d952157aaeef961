package flinkmm2

import _ "embed"

var (
	//go:embed schema/positions.json
	positionsSchema string
	//go:embed schema/boundary.json
	boundarySchema string
	//go:embed schema/proof.json
	proofSchema string
	//go:embed schema/checkpoint.json
	checkpointSchema string
	//go:embed schema/restartmark.json
	restartMarkSchema string
	//go:embed schema/preflight.json
	preflightSchema string
	//go:embed schema/inventory.json
	inventorySchema string
	//go:embed schema/connect-offsets.json
	connectOffsetsSchema string
	//go:embed schema/acceptance-list.json
	acceptanceListSchema string
	//go:embed schema/evidence.json
	evidenceSchema string
	//go:embed schema/audit.json
	auditSchema string
	//go:embed schema/status.json
	statusSchema string
)

// PositionsSchema returns the JSON schema (draft 2020-12) of Positions files: of
// those of a savepoint, and of those of a consumer group.
func PositionsSchema() []byte { return []byte(positionsSchema) }

// BoundarySchema returns the JSON schema (draft 2020-12) of Boundary files. It
// knows their form; that partitions are sorted, each once, only ReadBoundary
// knows.
func BoundarySchema() []byte { return []byte(boundarySchema) }

// OffsetsBackupSchema returns the JSON schema (draft 2020-12) of OffsetsBackup files.
// It knows their form; that the content has the digest only ReadOffsetsBackup knows.
func OffsetsBackupSchema() []byte { return []byte(connectOffsetsSchema) }

// ProofSchema returns the JSON schema (draft 2020-12) of Proof files.
func ProofSchema() []byte { return []byte(proofSchema) }

// CheckpointSchema returns the JSON schema (draft 2020-12) of what Watch keeps in
// a CheckpointStore.
func CheckpointSchema() []byte { return []byte(checkpointSchema) }

// RestartMarkSchema returns the JSON schema (draft 2020-12) of RestartMark files.
func RestartMarkSchema() []byte { return []byte(restartMarkSchema) }

// StatusSchema returns the JSON schema (draft 2020-12) of a Status.
func StatusSchema() []byte { return []byte(statusSchema) }

// PreflightSchema returns the JSON schema (draft 2020-12) of a judgement, as the program
// runbook prints it in preflight and keeps it beside the plan that is made by it.
func PreflightSchema() []byte { return []byte(preflightSchema) }

// InventorySchema returns the JSON schema (draft 2020-12) of what a savepoint or
// checkpoint holds, as the program runbook prints it in inspect.
func InventorySchema() []byte { return []byte(inventorySchema) }

// AcceptanceListSchema returns the JSON schema (draft 2020-12) of AcceptanceList files.
func AcceptanceListSchema() []byte { return []byte(acceptanceListSchema) }

// EvidenceSchema returns the JSON schema (draft 2020-12) of the list of contents that an
// evidence bundle begins with.
func EvidenceSchema() []byte { return []byte(evidenceSchema) }

// AuditSchema returns the JSON schema (draft 2020-12) of AuditReport files.
func AuditSchema() []byte { return []byte(auditSchema) }
