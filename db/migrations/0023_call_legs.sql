-- +goose Up
-- The further legs of calls: people that callers were transferred to. Moments are those of the wall clock.
CREATE TABLE call_legs (
    id            {{id}},
    call_id       BIGINT  NOT NULL REFERENCES calls (id) ON DELETE CASCADE,
    target        TEXT    NOT NULL,           -- E.164 number, extension or sip: URI
    shown         TEXT    NOT NULL,           -- the caller number
    trunk_id      BIGINT,                     -- NULL = the installation's own line
    placed_real   BIGINT  NOT NULL,
    answered_real BIGINT,
    joined_real   BIGINT,                     -- the two parties hear each other
    ended_real    BIGINT
);
CREATE INDEX call_legs_call ON call_legs (call_id);
CREATE INDEX call_legs_ringing ON call_legs (target) WHERE ended_real IS NULL;

-- +goose Down
DROP TABLE call_legs;
