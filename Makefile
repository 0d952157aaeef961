# Every target works on all modules of the repository. Tools and jars go to $FLINKMM2_CACHE, else ~/.cache/flinkmm2.
FUZZTIME ?= 30s
TESTFLAGS ?=

.PHONY: help test race jvm test-list fuzz bench lint quickstart
.DEFAULT_GOAL := help

help: ## show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

test: ## all tests; ends with what could not run here, and why
	@go run ./scripts/gotest -- -timeout 20m $(TESTFLAGS)

race: ## the same with the race detector
	@go run ./scripts/gotest -- -timeout 20m -race $(TESTFLAGS)

jvm: ## only the packages that start real brokers and workers (Java 17, Maven); fails where they cannot
	@FLINKMM2_REQUIRE=jvm,flink go run ./scripts/gotest -packages lab -no-skips -- -timeout 20m -p 1 $(TESTFLAGS)

test-list: ## run all tests and write the names of those that passed to .ci/tests.txt (needs what jvm needs)
	@go run ./scripts/gotest -packages plain -no-skips -update-list -- -timeout 20m
	@FLINKMM2_REQUIRE=jvm,flink go run ./scripts/gotest -packages lab -no-skips -update-list -- -timeout 20m -p 1

fuzz: ## every fuzz target for FUZZTIME (30s)
	@scripts/fuzz.sh $(FUZZTIME)

bench: ## every benchmark, with allocations
	@go test -run '^$$' -bench . -benchmem ./...

lint: ## linters, formatting, vet, tidy modules, known vulnerabilities
	@scripts/lint.sh

quickstart: ## the whole line on embedded brokers, with nothing installed but Go
	@go run ./examples/quickstart
