-- +goose Up
CREATE TABLE jobs (
    id           {{id}},
    queue        TEXT NOT NULL,
    kind         TEXT NOT NULL,
    args         TEXT NOT NULL,                  -- JSON
    unique_key   TEXT,                           -- at most one unfinished job has it
    priority     INTEGER NOT NULL DEFAULT 0,     -- lower runs first
    run_at       BIGINT NOT NULL,                -- durable time: not before
    again_at     BIGINT,                         -- added again while it ran: run once more at
    attempt      BIGINT NOT NULL DEFAULT 0,      -- fencing token: a number that only grows
    failures     INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER NOT NULL,
    node         TEXT,                           -- who runs it; NULL while it waits
    lease_until  BIGINT NOT NULL DEFAULT 0,      -- real time: whose node is silent past it may be claimed anew
    error        TEXT,                           -- of the last failure
    created_at   BIGINT NOT NULL,
    done_at      BIGINT,
    failed       BOOLEAN NOT NULL DEFAULT FALSE  -- gave up
);
CREATE INDEX jobs_ready ON jobs (queue, priority, run_at) WHERE done_at IS NULL;
CREATE UNIQUE INDEX jobs_unique ON jobs (unique_key) WHERE done_at IS NULL AND unique_key IS NOT NULL;
CREATE INDEX jobs_done ON jobs (done_at) WHERE done_at IS NOT NULL;

-- One row per periodic job; moving next_at on is the right to run it.
CREATE TABLE periodic (
    kind    TEXT PRIMARY KEY,
    next_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE periodic;
DROP TABLE jobs;
