-- +goose Up
-- What operators set of vendors, sealed; the version tells other processes of a change.
CREATE TABLE vendor_settings (
    code     TEXT PRIMARY KEY,
    settings TEXT NOT NULL,
    version  BIGINT NOT NULL
);

-- +goose Down
DROP TABLE vendor_settings;
