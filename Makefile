# parley: `make run` starts it, `make help` lists everything else.
PACKAGES := postgresql chromium sip-tester baresip-core kamailio kamailio-tls-modules
GOLDEN    = $(shell grep -rl 'flag.Bool("update"' --include='*_test.go' . | xargs -rn1 dirname | sort -u)
FUZZTIME ?= 30s
FUZZ     ?= .
ALL       = $(shell go list ./...)
# These hold calls in real time over real sockets, with processes of their own: after the rest, one at a time, so that
# nothing competes with them for the cores.
REALTIME := parley/lines/sip parley/cmd/parley
VULN     := go tool -modfile=.ci/tools/go.mod govulncheck
SLOW     := parley/api parley/cmd/parley parley/console parley/providers/builtin
STATIC   := CGO_ENABLED=0 go build -trimpath -ldflags='-s -w'

.PHONY: build run test quick aimock spec types deps assets check vuln race bench bench-talk bench-parts fuzz golden postgres help

build: assets ## one static binary: bin/parley
	$(STATIC) -o bin/parley ./cmd/parley

run: build ## start with all defaults
	bin/parley serve

test: deps assets aimock spec types ## all tests, on SQLite and PostgreSQL, each once
	@$(MAKE) --no-print-directory fuzz FUZZ="./lines ./audio" FUZZTIME=1000x # what strangers send
	@go test -timeout 20m $(filter-out $(REALTIME),$(ALL)); status=$$?; \
	go test -timeout 20m -p 1 $(REALTIME) && exit $$status

quick: assets ## the fast tests: all but those with processes, browsers, every route and the built-in engines
	@go test $(filter-out $(SLOW),$(ALL))

aimock: ## the OpenAI-compatible client against an independent fake of npm, its faults included
	@[ -d node_modules/@copilotkit/aimock ] || npm install --no-save --no-audit --no-fund --silent @copilotkit/aimock@1.43.0
	go test -tags aimock ./providers/openai

spec: ## the OpenAPI document with an independent validator of npm
	@[ -d node_modules/.openapi/node_modules ] || npm install --no-save --no-audit --no-fund --silent --prefix node_modules/.openapi @seriousme/openapi-schema-validator@2.11.0
	node node_modules/.openapi/node_modules/@seriousme/openapi-schema-validator/bin/validate-api-cli.js api/openapi.json

types: ## types and layout of the console's sources
	@[ -d node_modules/.types/node_modules ] || npm install --no-save --no-audit --no-fund --silent --prefix node_modules/.types \
		typescript@7.0.2 prettier@3.10.1 preact@11.2.0 @preact/signals@2.11.4 preact-iso@2.12.2 wavesurfer.js@8.0.1
	node_modules/.types/node_modules/.bin/tsc -p console
	node_modules/.types/node_modules/.bin/prettier --check --log-level warn 'console/app/**/*.{ts,tsx}'

deps: ## what tests need from Debian: PostgreSQL, Chromium, sipp, baresip
	@dpkg -s $(PACKAGES) >/dev/null 2>&1 && exit 0; \
	as=; [ "$$(id -u)" = 0 ] || as="sudo -n"; \
	if ! $$as true 2>/dev/null; then echo "Some of these are missing; as root: apt-get install -y $(PACKAGES)" >&2; exit 1; fi; \
	$$as apt-get update -qq && $$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(PACKAGES)

assets: ## voices, models and scripts from the manifest, checked by sum; what is there stays
	@go run ./assets/fetch

check: vuln ## vet, staticcheck, gofmt, rooms, known vulnerabilities, builds for other machines
	go vet ./...
	go tool -modfile=.ci/tools/go.mod staticcheck ./...
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "gofmt: $$out"; exit 1; }
	go test -run 'TestRooms|TestSpec' . ./api
	GOOS=linux GOARCH=arm64 $(STATIC) -o /dev/null ./cmd/parley
	GOOS=darwin GOARCH=arm64 $(STATIC) -o /dev/null ./cmd/parley

vuln: ## known vulnerabilities in what is called; says so where the database cannot be reached
	@out=$$($(VULN) ./fault 2>&1) || case "$$out" in *"fetching vulnerabilities"*) \
		echo "govulncheck: its database cannot be reached from here; nothing was checked"; exit 0;; esac; \
	$(VULN) ./...

race: assets ## tests under the race detector; SQLite itself without it, which would be 40 times slower
	go test -race -timeout 40m -gcflags='modernc.org/...=-race=false' ./...

bench: bench-talk bench-parts ## everything that is measured, with its targets

bench-talk: build ## media plane, conversations and turn taking, in about five minutes
	go run ./lines/media/bench
	go run ./cmd/bench
	go test -count=1 -v -run 'TestTurnTaking|TestConditions' ./cmd/bench -args -all

bench-parts: assets ## API, lists, dialler, jobs, knowledge, and single functions
	go test -run '^$$' -bench . -benchmem ./...

fuzz: assets ## every fuzzer below FUZZ (.) for FUZZTIME (30s)
	@for pkg in $$(grep -rl 'func Fuzz' --include='*_test.go' $(FUZZ) | xargs -rn1 dirname | sort -u); do \
		for f in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$f"; go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; done; done

golden: ## rewrite the golden files
	go test $(GOLDEN) ./api -update

postgres: ## a private PostgreSQL for development; prints its URL
	@.ci/postgres

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10
