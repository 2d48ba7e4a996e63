-- +goose Up
CREATE TABLE catalog_ids (
    kind TEXT   NOT NULL, -- synthesizer, transcriber, voice, model
    code TEXT   NOT NULL,
    id   BIGINT NOT NULL,
    PRIMARY KEY (kind, code),
    UNIQUE (kind, id)
);

-- +goose Down
DROP TABLE catalog_ids;
