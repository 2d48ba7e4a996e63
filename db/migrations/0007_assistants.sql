-- +goose Up
CREATE TABLE folders (
    id         {{id}},
    account_id BIGINT NOT NULL REFERENCES accounts(id),
    name       TEXT   NOT NULL,
    color      TEXT,
    UNIQUE (account_id, name)
);

CREATE TABLE labels (
    id         {{id}},
    account_id BIGINT NOT NULL REFERENCES accounts(id),
    name       TEXT   NOT NULL,
    color      TEXT,
    UNIQUE (account_id, name)
);

-- A deleted assistant leaves its row: calls and conversations remember its name.
CREATE TABLE assistants (
    id                  {{id}},
    account_id          BIGINT  NOT NULL REFERENCES accounts(id),
    uuid                TEXT    NOT NULL UNIQUE,
    name                TEXT    NOT NULL,
    type                TEXT    NOT NULL CHECK (type IN ('inbound', 'outbound')),
    mode                TEXT    NOT NULL,
    status              TEXT    NOT NULL CHECK (status IN ('active', 'inactive')),
    paused              BOOLEAN NOT NULL DEFAULT FALSE,
    phone_number_id     BIGINT REFERENCES phone_numbers(id) ON DELETE SET NULL,
    knowledgebase_id    BIGINT REFERENCES knowledgebases(id) ON DELETE SET NULL,
    folder_id           BIGINT REFERENCES folders(id) ON DELETE SET NULL,
    inbound_webhook_url TEXT,
    settings            TEXT    NOT NULL, -- JSON of all configurable fields; the columns above win over it
    created_at          BIGINT  NOT NULL,
    updated_at          BIGINT  NOT NULL,
    deleted_at          BIGINT
);

CREATE INDEX assistants_account ON assistants (account_id, id);
CREATE INDEX assistants_knowledgebase ON assistants (knowledgebase_id) WHERE knowledgebase_id IS NOT NULL;
CREATE INDEX assistants_number ON assistants (phone_number_id) WHERE phone_number_id IS NOT NULL;
CREATE INDEX assistants_folder ON assistants (folder_id) WHERE folder_id IS NOT NULL;
CREATE UNIQUE INDEX assistants_inbound_number ON assistants (phone_number_id) WHERE type = 'inbound' AND phone_number_id IS NOT NULL;

CREATE TABLE assistant_tools (
    assistant_id BIGINT  NOT NULL REFERENCES assistants(id) ON DELETE CASCADE,
    tool_id      BIGINT  NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    PRIMARY KEY (assistant_id, tool_id)
);
CREATE INDEX assistant_tools_tool ON assistant_tools (tool_id);

CREATE TABLE assistant_labels (
    assistant_id BIGINT  NOT NULL REFERENCES assistants(id) ON DELETE CASCADE,
    label_id     BIGINT  NOT NULL REFERENCES labels(id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    PRIMARY KEY (assistant_id, label_id)
);
CREATE INDEX assistant_labels_label ON assistant_labels (label_id);

CREATE TABLE assistant_versions (
    assistant_id        BIGINT  NOT NULL REFERENCES assistants(id) ON DELETE CASCADE,
    n                   INTEGER NOT NULL,
    created_at          BIGINT  NOT NULL,
    made_by             TEXT    NOT NULL,
    changed             TEXT    NOT NULL,
    settings            TEXT    NOT NULL,
    inbound_webhook_url TEXT,
    PRIMARY KEY (assistant_id, n)
);

-- +goose Down
DROP TABLE assistant_versions;
DROP TABLE assistant_labels;
DROP TABLE assistant_tools;
DROP TABLE assistants;
DROP TABLE labels;
DROP TABLE folders;
