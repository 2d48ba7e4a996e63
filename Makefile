# parley: `make run` starts it, `make help` lists everything else.
PACKAGES := postgresql chromium sip-tester baresip-core
GOLDEN    = $(shell grep -rl 'flag.Bool("update"' --include='*_test.go' . | xargs -rn1 dirname | sort -u)
FUZZTIME ?= 30s
FUZZ     ?= .
STATIC   := CGO_ENABLED=0 go build -trimpath -ldflags='-s -w'

.PHONY: build run test quick aimock spec types deps assets check race bench bench-talk bench-parts fuzz golden postgres help

build: assets ## one static binary: bin/parley
	$(STATIC) -o bin/parley ./cmd/parley

run: build ## start with all defaults
	bin/parley serve

# Calls are tested in real time; a machine that was busy for a moment deserves a second, quieter look at what failed.
test: deps assets aimock spec types ## all tests, on SQLite and PostgreSQL
	@$(MAKE) --no-print-directory fuzz FUZZ="./lines ./audio" FUZZTIME=1000x # what strangers send
	@go test -timeout 20m ./... >test.log 2>&1; status=$$?; cat test.log; [ $$status -eq 0 ] && exit 0; \
	again=$$(awk '/^FAIL\t/ {print $$2}' test.log | sort -u); [ -n "$$again" ] || exit 1; \
	echo "once more, one package at a time: $$again"; go test -count=1 -p 1 -timeout 20m $$again

quick: assets ## the fast tests: all but those with processes, browsers, every route and the built-in engines
	@go test $$(go list ./... | grep -vE '/(api|cmd/parley|console|providers/builtin)$$')

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

check: ## vet, staticcheck, gofmt, rooms, builds for other machines
	go vet ./...
	go tool -modfile=.ci/tools/go.mod staticcheck ./...
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "gofmt: $$out"; exit 1; }
	go test -run 'TestRooms|TestSpec' . ./api
	GOOS=linux GOARCH=arm64 $(STATIC) -o /dev/null ./cmd/parley
	GOOS=darwin GOARCH=arm64 $(STATIC) -o /dev/null ./cmd/parley

race: assets ## tests under the race detector; SQLite itself without it, which would be 40 times slower
	go test -race -timeout 40m -gcflags='modernc.org/...=-race=false' ./...

bench: bench-talk bench-parts ## everything that is measured, with its targets

bench-talk: build ## media plane, conversations and turn taking, in about five minutes
	go run ./lines/media/bench
	go run ./cmd/bench
	go test -count=1 -v -run TestTurnTaking ./cmd/bench -args -all

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
