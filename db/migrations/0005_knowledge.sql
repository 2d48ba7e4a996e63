-- +goose Up
CREATE TABLE knowledgebases (
    id          {{id}},
    account_id  BIGINT NOT NULL REFERENCES accounts(id),
    name        TEXT   NOT NULL,
    description TEXT,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX knowledgebases_account ON knowledgebases (account_id, id);

-- edition counts the times a document is read; live is the edition whose passages are found, 0 = none.
CREATE TABLE documents (
    id               {{id}},
    knowledgebase_id BIGINT  NOT NULL REFERENCES knowledgebases(id) ON DELETE CASCADE,
    name             TEXT    NOT NULL,
    description      TEXT,
    type             TEXT    NOT NULL CHECK (type IN ('website', 'pdf', 'txt', 'docx')),
    status           TEXT    NOT NULL CHECK (status IN ('processing', 'active', 'failed')),
    error            TEXT,
    url              TEXT,
    links            TEXT    NOT NULL, -- JSON
    link_limit       INTEGER NOT NULL,
    filename         TEXT,
    blob             TEXT,             -- key of the uploaded file
    pages            INTEGER,
    chunks           INTEGER,
    size             BIGINT,           -- bytes
    edition          BIGINT  NOT NULL,
    live             BIGINT  NOT NULL,
    created_at       BIGINT  NOT NULL,
    updated_at       BIGINT  NOT NULL
);
CREATE INDEX documents_knowledgebase ON documents (knowledgebase_id, id);

CREATE TABLE passages (
    id               {{id}},
    knowledgebase_id BIGINT  NOT NULL,
    document_id      BIGINT  NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    edition          BIGINT  NOT NULL,
    title            TEXT    NOT NULL, -- of the page or section it stands in
    text             TEXT    NOT NULL,
    vector           {{bytes}},        -- float32, little endian
    model            TEXT              -- that made the vector
);
CREATE INDEX passages_document ON passages (document_id, edition);
CREATE INDEX passages_vector ON passages (knowledgebase_id, id) WHERE vector IS NOT NULL;

-- The terms of each passage. On SQLite rowid is the passage's id.
{{sqlite}} CREATE VIRTUAL TABLE passage_terms USING fts5(terms, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0');
{{postgres}} CREATE TABLE passage_terms (id BIGINT PRIMARY KEY REFERENCES passages(id) ON DELETE CASCADE, terms tsvector NOT NULL);
{{postgres}} CREATE INDEX passage_terms_terms ON passage_terms USING gin (terms);

-- +goose Down
DROP TABLE passage_terms;
DROP TABLE passages;
DROP TABLE documents;
DROP TABLE knowledgebases;
