import { get, put } from '../../api'
import { attempt, Badge, Card, Choice, Loaded, Switch, useLoad, when } from '../../ui'
import type { Assistant } from '../assistants'
import type { Schemas } from '../../../openapi'

export type Sender = Schemas['senderOut']

export function Senders({ list, reload }: { list: Sender[]; reload: () => unknown }) {
  const assistants = useLoad(() => get<Assistant[]>('/user/assistants'), [])
  const save = (s: Sender, change: object) =>
    attempt(() => put(`/user/whatsapp/senders/${s.id}`, change), 'Saved.').then(reload)
  return (
    <Loaded of={assistants}>
      {all => (
        <div class="grid">
          {list.map(s => (
            <Card title={s.display_name}>
              <p>
                <strong>{s.phone_number}</strong> <Badge>{s.status}</Badge> <Badge>{s.quality_rating}</Badge>
              </p>
              <p class="muted small">
                {s.messaging_limit_formatted} · {s.status_detail} · synchronised {when(s.last_synced_at)}
              </p>
              <Choice
                label="Assistant"
                value={s.assistant_id}
                onInput={v => save(s, { assistant_id: v ? Number(v) : null })}
                options={[['', 'none'], ...all.map(a => [a.id, a.name] as [number, string])]}
              />
              <Switch
                label="The assistant answers"
                value={s.ai_enabled}
                onInput={ai_enabled => save(s, { ai_enabled })}
              />
            </Card>
          ))}
        </div>
      )}
    </Loaded>
  )
}
