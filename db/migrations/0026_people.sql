-- +goose Up
-- People who sign in. What is owned belongs to accounts; a person is a member of some, with a role in each.
CREATE TABLE users (
    id         {{id}},
    email      TEXT NOT NULL,                 -- lower case
    name       TEXT NOT NULL,
    password   TEXT,                          -- argon2id, NULL: no sign-in by password
    operator   BOOLEAN NOT NULL DEFAULT FALSE,
    totp       TEXT,                          -- sealed secret, NULL: no second factor
    totp_new   TEXT,                          -- sealed secret that no code has confirmed yet
    totp_step  BIGINT NOT NULL DEFAULT 0,     -- the latest step that was used
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX users_email ON users (email);

-- Members of accounts, and those who are invited: user_id is NULL until the invitation is accepted.
CREATE TABLE members (
    id            {{id}},
    account_id    BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    user_id       BIGINT REFERENCES users (id) ON DELETE CASCADE,
    email         TEXT NOT NULL,              -- that was invited
    role          TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'agent', 'viewer')),
    recordings    BOOLEAN NOT NULL DEFAULT FALSE,
    invitation    {{bytes}},                  -- SHA-256 of the token
    invited_until BIGINT,
    last_seen_at  BIGINT,
    created_at    BIGINT NOT NULL
);
CREATE UNIQUE INDEX members_person ON members (account_id, user_id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX members_invited ON members (account_id, email) WHERE user_id IS NULL;
CREATE UNIQUE INDEX members_invitation ON members (invitation) WHERE invitation IS NOT NULL;
CREATE INDEX members_user ON members (user_id);

-- An account's address becomes its owner's. Of accounts that share one the first, or else the oldest, keeps it: that two
-- accounts gave the same address says nothing of who may see the other's.
INSERT INTO users (email, name, password, operator, created_at)
SELECT lower(trim(a.email)), a.name, a.password, a.is_first, a.created_at FROM accounts a
WHERE NOT EXISTS (SELECT 1 FROM accounts b WHERE lower(trim(b.email)) = lower(trim(a.email)) AND b.id <> a.id
    AND (b.is_first OR (b.id < a.id AND NOT a.is_first)));
INSERT INTO members (account_id, user_id, email, role, recordings, created_at)
SELECT a.id, u.id, u.email, 'owner', TRUE, a.created_at FROM accounts a JOIN users u ON u.email = lower(trim(a.email))
WHERE NOT EXISTS (SELECT 1 FROM accounts b WHERE lower(trim(b.email)) = lower(trim(a.email)) AND b.id <> a.id
    AND (b.is_first OR (b.id < a.id AND NOT a.is_first)));
ALTER TABLE accounts DROP COLUMN password;

-- Sessions and links are of people; those that were open end.
DROP TABLE sessions;
DROP TABLE welcome_links;
CREATE TABLE welcome_links (
    token      {{bytes}} PRIMARY KEY,         -- SHA-256
    user_id    BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL
);
CREATE TABLE sessions (
    id         {{id}},
    token      {{bytes}} NOT NULL,            -- SHA-256
    user_id    BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    address    TEXT NOT NULL,                 -- of the sign-in
    agent      TEXT NOT NULL,                 -- what the browser calls itself
    seen_at    BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX sessions_token ON sessions (token);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_account ON sessions (account_id);

CREATE TABLE recovery_codes (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    code    {{bytes}} NOT NULL,               -- SHA-256
    PRIMARY KEY (user_id, code)
);

-- How often a password was tried, by address of the person and by address of the client.
CREATE TABLE sign_in_tries (
    subject TEXT PRIMARY KEY,
    since   BIGINT NOT NULL,
    n       BIGINT NOT NULL
);

ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '*';       -- separated by blanks
ALTER TABLE api_keys ADD COLUMN role TEXT NOT NULL DEFAULT 'owner';     -- of who made it
ALTER TABLE api_keys ADD COLUMN made_by TEXT NOT NULL DEFAULT '';       -- address of who made it; empty: a key or the command line
ALTER TABLE api_keys ADD COLUMN last_address TEXT;
ALTER TABLE api_keys ADD COLUMN expires_at BIGINT;

-- +goose Down
ALTER TABLE api_keys DROP COLUMN expires_at;
ALTER TABLE api_keys DROP COLUMN last_address;
ALTER TABLE api_keys DROP COLUMN made_by;
ALTER TABLE api_keys DROP COLUMN role;
ALTER TABLE api_keys DROP COLUMN scopes;
DROP TABLE sign_in_tries;
DROP TABLE recovery_codes;
DROP TABLE sessions;
DROP TABLE welcome_links;
CREATE TABLE welcome_links (
    token      {{bytes}} PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL
);
CREATE TABLE sessions (
    token      {{bytes}} PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_account ON sessions (account_id);
ALTER TABLE accounts ADD COLUMN password TEXT;
DROP TABLE members;
DROP TABLE users;
