# Every target works on all modules of the repository. Tools and jars go to $FLINKMM2_CACHE, else ~/.cache/flinkmm2.
FUZZTIME ?= 30s
FUZZPACKAGES ?=
FUZZLIMIT ?= 131072
TESTFLAGS ?=
BENCHFLAGS ?=
WORKERFLAGS ?=
VERSIONS ?= 3.9.2,4.3.1
CONNECT_VERSIONS ?= 3.5.1,3.6.2,3.7.2,3.8.1,3.9.2,4.0.2,4.1.2,4.3.1
CONNECT_TABLE ?= docs/connect-conformance.md
CONNECT_WORKER ?= 4.3.1
FLINK ?= 1.20.5
SCENARIOS ?= all
STATE ?= /flink
MUTATE ?= offsetmap internal/engine
MUTATEFLAGS ?=
OUT ?=

.PHONY: help test race jvm versions conformance fixtures test-list fuzz fuzz-corpus bench bench-flink bench-connect bench-proof faults lint mutate quickstart
.DEFAULT_GOAL := help

help: ## show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

test: ## all tests; ends with what could not run here, and why
	@go run ./scripts/gotest -- -timeout 20m $(TESTFLAGS)

race: ## the same with the race detector
	@go run ./scripts/gotest -- -timeout 20m -race $(TESTFLAGS)

jvm: ## only the packages that start real brokers and workers (Java 17, Maven); fails where they cannot
	@FLINKMM2_REQUIRE=jvm,flink,browser go run ./scripts/gotest -packages lab -no-skips -- -timeout 20m -p 1 $(TESTFLAGS)

versions: ## the whole cutover suite on brokers and workers of VERSIONS (3.9.2,4.3.1), and what it counted
	@figures=$$(mktemp) && trap 'rm -f "$$figures"' EXIT && FLINKMM2_REQUIRE=jvm go test ./internal/cutover -count=1 -timeout 30m \
		-run '^TestJVM$$' -cutover.versions $(VERSIONS) -cutover.figures "$$figures" $(TESTFLAGS); status=$$?; cat "$$figures"; exit $$status

fixtures: ## savepoints of real jobs of FLINK (1.20.5) into OUT: SCENARIOS (all), each read and compared with Flink's own reading
	@test -d "$(OUT)" || { echo 'make fixtures: OUT="$(OUT)" is no folder: say OUT=FOLDER' >&2; exit 2; }
	@FLINKMM2_REQUIRE=jvm,flink go test ./internal/flinklab -run '^TestSavepointsOfRealJobs$$' -count=1 -v -timeout 60m -flinklab.release '$(FLINK)' \
		-flinklab.scenarios '$(SCENARIOS)' -flinklab.out '$(abspath $(OUT))' -flinklab.state '$(STATE)' $(TESTFLAGS)

conformance: ## connecttest and real workers of CONNECT_VERSIONS held to the same cases; writes the table of docs/connect-conformance.md
	@FLINKMM2_REQUIRE=jvm nice go test ./connectrest/connecttest -count=1 -timeout 60m -run '^TestConformance$$' -conformance.versions $(CONNECT_VERSIONS) \
		-conformance.table "$(abspath $(CONNECT_TABLE))" $(TESTFLAGS)

test-list: ## run all tests and write the names of those that passed to .ci/tests.txt (needs what jvm needs)
	@go run ./scripts/gotest -packages plain -no-skips -update-list -- -timeout 20m
	@FLINKMM2_REQUIRE=jvm,flink,browser go run ./scripts/gotest -packages lab -no-skips -update-list -- -timeout 20m -p 1

fuzz: ## every fuzz target for FUZZTIME (30s, or total=1h to share it), of FUZZPACKAGES alone where given
	@nice -n 19 scripts/fuzz.sh $(FUZZTIME) $(FUZZPACKAGES)

fuzz-corpus: ## keep in testdata/fuzz of FUZZPACKAGES what fuzzing found and what reaches more, up to FUZZLIMIT bytes each
	@test -n "$(FUZZPACKAGES)" || { echo 'make fuzz-corpus FUZZPACKAGES=flinkstate: say of which packages' >&2; exit 2; }
	@for package in $(FUZZPACKAGES); do nice -n 19 go run ./scripts/fuzzcorpus -limit $(FUZZLIMIT) ./$$package || exit; done

bench: ## every benchmark, with allocations
	@go test -run '^$$' -bench . -benchmem ./...

bench-flink: ## reading savepoints beside Flink's own reading, in one run (Java 17, Maven): the tables of docs/reading-speed.md
	@go run ./scripts/benchflink $(BENCHFLAGS)

bench-proof: ## the proof beside a bare consumer of the same topics, in one run: the table of docs/proof-speed.md; fails below 80 %
	@go run ./scripts/benchproof $(BENCHFLAGS)

bench-connect: ## altering offsets beside curl, and in parts of several sizes on a real worker: the tables of docs/connect-overhead.md
	@go run ./scripts/benchconnect $(BENCHFLAGS)
	@FLINKMM2_REQUIRE=jvm go test ./scripts/benchconnect -run '^$$' -bench '^BenchmarkRealWorker$$' -benchtime 1x -timeout 60m -worker $(CONNECT_WORKER) $(WORKERFLAGS)

mutate: ## change each comparison of MUTATE (offsetmap, internal/engine) and ask the tests; writes the table of docs/mutations.md
	@nice -n 19 go run ./scripts/mutate -allowed .ci/mutants.txt $(if $(filter file,$(origin MUTATE)),-table docs/mutations.md) $(MUTATEFLAGS) $(MUTATE)

FAULTS ?= .
faults: ## every cell of the fault matrix (or those like FAULTS) on real brokers and workers, their records, and the table
	@FLINKMM2_REQUIRE=jvm nice go test ./faults -count=1 -timeout 180m -run '^TestMatrix$$' -faults.cells '$(FAULTS)' \
		-faults.record "$(abspath docs/faults)" $(TESTFLAGS) && go run ./faults/cmd/faultmatrix

lint: ## linters, formatting, vet, tidy modules, known vulnerabilities
	@scripts/lint.sh

quickstart: ## the whole line on embedded brokers, with nothing installed but Go
	@go run ./examples/quickstart
