-- +goose Up
-- How many rows a list has, by everything it is filtered by. Triggers add a line for every row that comes, goes or changes in
-- that; lines are only added, so nobody waits for anybody, and are folded into list_counts again and again.
CREATE TABLE list_changes (
    id           {{id}},
    list         TEXT   NOT NULL, -- the table
    account_id   BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    campaign_id  BIGINT,
    assistant_id BIGINT,
    folder_id    BIGINT,
    type         TEXT,
    status       TEXT,
    ended_by     TEXT,
    n            BIGINT NOT NULL,           -- rows more, or fewer
    amount       BIGINT NOT NULL DEFAULT 0, -- of the ledger: the sum of the rows, 1e-8 of the account's unit
    money        BIGINT NOT NULL DEFAULT 0  -- and 1e-8 of the currency
);
CREATE INDEX list_changes_list ON list_changes (list, account_id);

-- What a list is not filtered by is 0 or empty.
CREATE TABLE list_counts (
    id           {{id}},
    daily        BOOLEAN NOT NULL, -- by day; else of all days together
    list         TEXT    NOT NULL,
    account_id   BIGINT  NOT NULL,
    created_at   BIGINT  NOT NULL, -- start of the day, UTC; else 0
    campaign_id  BIGINT  NOT NULL,
    assistant_id BIGINT  NOT NULL,
    folder_id    BIGINT  NOT NULL,
    type         TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    ended_by     TEXT    NOT NULL,
    n            BIGINT  NOT NULL,
    amount       BIGINT  NOT NULL,
    money        BIGINT  NOT NULL,
    UNIQUE (list, account_id, daily, campaign_id, assistant_id, folder_id, type, status, ended_by, created_at)
);
CREATE INDEX list_counts_days ON list_counts (list, account_id, created_at) WHERE daily;

-- Calls are counted here once they are over: the others are few, and move.
{{sqlite}} CREATE TRIGGER calls_come AFTER INSERT ON calls WHEN NEW.status IN ('completed', 'busy', 'no-answer', 'failed') BEGIN
{{sqlite}}     INSERT INTO list_changes (list, account_id, created_at, campaign_id, assistant_id, type, status, ended_by, n)
{{sqlite}}     VALUES ('calls', NEW.account_id, NEW.created_at, NEW.campaign_id, NEW.assistant_id, NEW.type, NEW.status, NEW.ended_by, 1); END;
{{sqlite}} CREATE TRIGGER calls_go AFTER DELETE ON calls WHEN OLD.status IN ('completed', 'busy', 'no-answer', 'failed') BEGIN
{{sqlite}}     INSERT INTO list_changes (list, account_id, created_at, campaign_id, assistant_id, type, status, ended_by, n)
{{sqlite}}     VALUES ('calls', OLD.account_id, OLD.created_at, OLD.campaign_id, OLD.assistant_id, OLD.type, OLD.status, OLD.ended_by, -1); END;
{{sqlite}} CREATE TRIGGER calls_change AFTER UPDATE OF campaign_id, assistant_id, type, status, ended_by ON calls
{{sqlite}}     WHEN OLD.status IN ('completed', 'busy', 'no-answer', 'failed') OR NEW.status IN ('completed', 'busy', 'no-answer', 'failed') BEGIN
{{sqlite}}     INSERT INTO list_changes (list, account_id, created_at, campaign_id, assistant_id, type, status, ended_by, n)
{{sqlite}}     SELECT 'calls', OLD.account_id, OLD.created_at, OLD.campaign_id, OLD.assistant_id, OLD.type, OLD.status, OLD.ended_by, -1
{{sqlite}}         WHERE OLD.status IN ('completed', 'busy', 'no-answer', 'failed')
{{sqlite}}     UNION ALL SELECT 'calls', NEW.account_id, NEW.created_at, NEW.campaign_id, NEW.assistant_id, NEW.type, NEW.status, NEW.ended_by, 1
{{sqlite}}         WHERE NEW.status IN ('completed', 'busy', 'no-answer', 'failed'); END;
{{postgres}} CREATE FUNCTION count_calls() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
{{postgres}}     IF TG_OP <> 'INSERT' AND OLD.status IN ('completed', 'busy', 'no-answer', 'failed') THEN
{{postgres}}         INSERT INTO list_changes (list, account_id, created_at, campaign_id, assistant_id, type, status, ended_by, n)
{{postgres}}         VALUES ('calls', OLD.account_id, OLD.created_at, OLD.campaign_id, OLD.assistant_id, OLD.type, OLD.status, OLD.ended_by, -1)
{{postgres}}     ; END IF ; IF TG_OP <> 'DELETE' AND NEW.status IN ('completed', 'busy', 'no-answer', 'failed') THEN
{{postgres}}         INSERT INTO list_changes (list, account_id, created_at, campaign_id, assistant_id, type, status, ended_by, n)
{{postgres}}         VALUES ('calls', NEW.account_id, NEW.created_at, NEW.campaign_id, NEW.assistant_id, NEW.type, NEW.status, NEW.ended_by, 1)
{{postgres}}     ; END IF ; RETURN NULL ; END $$;
{{postgres}} CREATE TRIGGER calls_come AFTER INSERT ON calls FOR EACH ROW
{{postgres}}     WHEN (NEW.status IN ('completed', 'busy', 'no-answer', 'failed')) EXECUTE FUNCTION count_calls();
{{postgres}} CREATE TRIGGER calls_go AFTER DELETE ON calls FOR EACH ROW
{{postgres}}     WHEN (OLD.status IN ('completed', 'busy', 'no-answer', 'failed')) EXECUTE FUNCTION count_calls();
{{postgres}} CREATE TRIGGER calls_change AFTER UPDATE OF campaign_id, assistant_id, type, status, ended_by ON calls FOR EACH ROW
{{postgres}}     WHEN (OLD.status IN ('completed', 'busy', 'no-answer', 'failed') OR NEW.status IN ('completed', 'busy', 'no-answer', 'failed'))
{{postgres}}     EXECUTE FUNCTION count_calls();

-- Leads without secondary contacts. A campaign's start changes them all in one statement, which PostgreSQL counts as one.
{{sqlite}} CREATE TRIGGER leads_come AFTER INSERT ON leads WHEN NEW.parent_id IS NULL BEGIN
{{sqlite}}     INSERT INTO list_changes (list, account_id, created_at, campaign_id, status, n)
{{sqlite}}     VALUES ('leads', NEW.account_id, NEW.created_at, NEW.campaign_id, NEW.status, 1); END;
{{sqlite}} CREATE TRIGGER leads_go AFTER DELETE ON leads WHEN OLD.parent_id IS NULL BEGIN
{{sqlite}}     INSERT INTO list_changes (list, account_id, created_at, campaign_id, status, n)
{{sqlite}}     VALUES ('leads', OLD.account_id, OLD.created_at, OLD.campaign_id, OLD.status, -1); END;
{{sqlite}} CREATE TRIGGER leads_change AFTER UPDATE OF campaign_id, status ON leads
{{sqlite}}     WHEN NEW.parent_id IS NULL AND (OLD.status <> NEW.status OR OLD.campaign_id <> NEW.campaign_id) BEGIN
{{sqlite}}     INSERT INTO list_changes (list, account_id, created_at, campaign_id, status, n)
{{sqlite}}     VALUES ('leads', OLD.account_id, OLD.created_at, OLD.campaign_id, OLD.status, -1),
{{sqlite}}         ('leads', NEW.account_id, NEW.created_at, NEW.campaign_id, NEW.status, 1); END;
{{postgres}} CREATE FUNCTION count_leads() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
{{postgres}}     IF TG_OP = 'INSERT' THEN INSERT INTO list_changes (list, account_id, created_at, campaign_id, status, n)
{{postgres}}         SELECT 'leads', account_id, created_at / 86400000000 * 86400000000, campaign_id, status, count(*)
{{postgres}}         FROM come WHERE parent_id IS NULL GROUP BY 2, 3, 4, 5
{{postgres}}     ; ELSIF TG_OP = 'DELETE' THEN INSERT INTO list_changes (list, account_id, created_at, campaign_id, status, n)
{{postgres}}         SELECT 'leads', account_id, created_at / 86400000000 * 86400000000, campaign_id, status, -count(*)
{{postgres}}         FROM gone WHERE parent_id IS NULL GROUP BY 2, 3, 4, 5
{{postgres}}     ; ELSE INSERT INTO list_changes (list, account_id, created_at, campaign_id, status, n)
{{postgres}}         SELECT 'leads', account_id, created_at / 86400000000 * 86400000000, campaign_id, status, sum(n)
{{postgres}}         FROM (SELECT *, 1 AS n FROM come UNION ALL SELECT *, -1 FROM gone) AS changed WHERE parent_id IS NULL
{{postgres}}         GROUP BY 2, 3, 4, 5 HAVING sum(n) <> 0
{{postgres}}     ; END IF ; RETURN NULL ; END $$;
{{postgres}} CREATE TRIGGER leads_come AFTER INSERT ON leads REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION count_leads();
{{postgres}} CREATE TRIGGER leads_go AFTER DELETE ON leads REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_leads();
{{postgres}} CREATE TRIGGER leads_change AFTER UPDATE ON leads REFERENCING OLD TABLE AS gone NEW TABLE AS come
{{postgres}}     FOR EACH STATEMENT EXECUTE FUNCTION count_leads();

{{sqlite}} CREATE TRIGGER assistants_come AFTER INSERT ON assistants WHEN NEW.deleted_at IS NULL BEGIN
{{sqlite}}     INSERT INTO list_changes (list, account_id, created_at, folder_id, n) VALUES ('assistants', NEW.account_id, NEW.created_at, NEW.folder_id, 1); END;
{{sqlite}} CREATE TRIGGER assistants_go AFTER DELETE ON assistants WHEN OLD.deleted_at IS NULL BEGIN
{{sqlite}}     INSERT INTO list_changes (list, account_id, created_at, folder_id, n) VALUES ('assistants', OLD.account_id, OLD.created_at, OLD.folder_id, -1); END;
{{sqlite}} CREATE TRIGGER assistants_change AFTER UPDATE OF folder_id, deleted_at ON assistants BEGIN
{{sqlite}}     INSERT INTO list_changes (list, account_id, created_at, folder_id, n)
{{sqlite}}     SELECT 'assistants', OLD.account_id, OLD.created_at, OLD.folder_id, -1 WHERE OLD.deleted_at IS NULL
{{sqlite}}     UNION ALL SELECT 'assistants', NEW.account_id, NEW.created_at, NEW.folder_id, 1 WHERE NEW.deleted_at IS NULL; END;
{{postgres}} CREATE FUNCTION count_assistants() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
{{postgres}}     IF TG_OP <> 'INSERT' AND OLD.deleted_at IS NULL THEN
{{postgres}}         INSERT INTO list_changes (list, account_id, created_at, folder_id, n) VALUES ('assistants', OLD.account_id, OLD.created_at, OLD.folder_id, -1)
{{postgres}}     ; END IF ; IF TG_OP <> 'DELETE' AND NEW.deleted_at IS NULL THEN
{{postgres}}         INSERT INTO list_changes (list, account_id, created_at, folder_id, n) VALUES ('assistants', NEW.account_id, NEW.created_at, NEW.folder_id, 1)
{{postgres}}     ; END IF ; RETURN NULL ; END $$;
{{postgres}} CREATE TRIGGER assistants_count AFTER INSERT OR DELETE OR UPDATE OF folder_id, deleted_at ON assistants
{{postgres}}     FOR EACH ROW EXECUTE FUNCTION count_assistants();

-- Of the ledger, which only grows, type is the kind and status the entry.
{{sqlite}} CREATE TRIGGER ledger_come AFTER INSERT ON ledger BEGIN
{{sqlite}}     INSERT INTO list_changes (list, account_id, created_at, assistant_id, type, status, n, amount, money)
{{sqlite}}     VALUES ('ledger', NEW.account_id, NEW.created_at, NEW.assistant_id, NEW.kind, NEW.entry, 1, NEW.amount, NEW.money); END;
{{postgres}} CREATE FUNCTION count_ledger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
{{postgres}}     INSERT INTO list_changes (list, account_id, created_at, assistant_id, type, status, n, amount, money)
{{postgres}}     VALUES ('ledger', NEW.account_id, NEW.created_at, NEW.assistant_id, NEW.kind, NEW.entry, 1, NEW.amount, NEW.money)
{{postgres}}     ; RETURN NULL ; END $$;
{{postgres}} CREATE TRIGGER ledger_come AFTER INSERT ON ledger FOR EACH ROW EXECUTE FUNCTION count_ledger();

-- Every filter of a list finds its page without reading the rest.
CREATE INDEX calls_status ON calls (account_id, status, id) WHERE status IN ('completed', 'busy', 'no-answer', 'failed');
CREATE INDEX calls_ended ON calls (account_id, ended_by, id) WHERE status IN ('completed', 'ended', 'ended_by_customer', 'ended_by_assistant');
CREATE INDEX calls_type ON calls (account_id, type, id);
CREATE INDEX calls_created ON calls (account_id, created_at, id);
CREATE INDEX leads_status ON leads (account_id, status, id) WHERE parent_id IS NULL;
CREATE INDEX leads_campaign_status ON leads (campaign_id, status, id) WHERE parent_id IS NULL;
CREATE INDEX leads_created ON leads (account_id, created_at, id) WHERE parent_id IS NULL;
CREATE INDEX conversations_assistant ON conversations (assistant_id, updated_at, id);
CREATE INDEX conversations_type ON conversations (account_id, type, updated_at, id);
CREATE INDEX conversations_customer ON conversations (account_id, customer_phone, updated_at, id) WHERE customer_phone <> '';
CREATE INDEX conversations_sender_phone ON conversations (account_id, sender_phone, updated_at, id) WHERE sender_phone <> '';
CREATE INDEX conversations_identifier ON conversations (account_id, external_identifier, updated_at, id) WHERE external_identifier IS NOT NULL;
CREATE INDEX webhook_deliveries_status ON webhook_deliveries (account_id, status, id);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (account_id, event, id);
CREATE INDEX webhook_deliveries_conversation ON webhook_deliveries (conversation_id, id) WHERE conversation_id IS NOT NULL;
CREATE INDEX assistants_listed ON assistants (account_id, id) WHERE deleted_at IS NULL;

-- +goose Down
DROP INDEX assistants_listed;
DROP INDEX webhook_deliveries_conversation;
DROP INDEX webhook_deliveries_event;
DROP INDEX webhook_deliveries_status;
DROP INDEX conversations_identifier;
DROP INDEX conversations_sender_phone;
DROP INDEX conversations_customer;
DROP INDEX conversations_type;
DROP INDEX conversations_assistant;
DROP INDEX leads_created;
DROP INDEX leads_campaign_status;
DROP INDEX leads_status;
DROP INDEX calls_created;
DROP INDEX calls_type;
DROP INDEX calls_ended;
DROP INDEX calls_status;
{{sqlite}} DROP TRIGGER ledger_come;
{{sqlite}} DROP TRIGGER assistants_change;
{{sqlite}} DROP TRIGGER assistants_go;
{{sqlite}} DROP TRIGGER assistants_come;
{{sqlite}} DROP TRIGGER leads_change;
{{sqlite}} DROP TRIGGER leads_go;
{{sqlite}} DROP TRIGGER leads_come;
{{sqlite}} DROP TRIGGER calls_change;
{{sqlite}} DROP TRIGGER calls_go;
{{sqlite}} DROP TRIGGER calls_come;
{{postgres}} DROP FUNCTION count_ledger() CASCADE;
{{postgres}} DROP FUNCTION count_assistants() CASCADE;
{{postgres}} DROP FUNCTION count_leads() CASCADE;
{{postgres}} DROP FUNCTION count_calls() CASCADE;
DROP TABLE list_counts;
DROP TABLE list_changes;
