-- +goose Up
-- The signalling of a call, kept once it is over.
CREATE TABLE call_signalling (
    call_id  BIGINT NOT NULL PRIMARY KEY REFERENCES calls (id) ON DELETE CASCADE,
    messages TEXT   NOT NULL                         -- JSON, oldest first, without secrets
);

-- +goose Down
DROP TABLE call_signalling;
