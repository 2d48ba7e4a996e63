-- +goose Up
-- Who did what, when and from where. Rows are added and, when their time is over, removed; never changed.
CREATE TABLE audit (
    id         {{id}},
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    at         BIGINT NOT NULL,
    actor      TEXT NOT NULL,                 -- address of a person, or name of a key
    user_id    BIGINT,
    key_id     BIGINT,
    address    TEXT NOT NULL,                 -- of the client, of IPv6 the /64
    action     TEXT NOT NULL,
    subject    TEXT NOT NULL,                 -- path of the record
    changes    TEXT NOT NULL,                 -- JSON: {"field":{"before":…,"after":…}}
    request_id TEXT NOT NULL
);
CREATE INDEX audit_account ON audit (account_id, id);
CREATE INDEX audit_at ON audit (at);

-- +goose Down
DROP TABLE audit;
