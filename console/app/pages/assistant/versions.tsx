import { get, post } from '../../api'
import { attempt, Button, Loaded, useLoad, when } from '../../ui'
import type { Schemas } from '../../../openapi'

type Version = Schemas['versionOut']

export function Versions({ id, reload }: { id: number; reload: () => unknown }) {
  const list = useLoad(() => get<{ data: Version[] }>(`/user/assistants/${id}/versions`), [id])
  return (
    <Loaded of={list}>
      {({ data }) => (
        <ol class="lines">
          {data.map((v, i) => (
            <li style={{ maxWidth: '100%' }}>
              <small>
                Version {v.version} · {when(v.created_at)}
                {v.author ? ` · ${v.author}` : ''}
              </small>
              {Object.entries(v.changes ?? {}).map(([k, c]) => (
                <div class="small">
                  <strong>{k}</strong>: <del class="muted">{JSON.stringify(c.from)}</del> → {JSON.stringify(c.to)}
                </div>
              ))}
              {i > 0 && (
                <Button
                  onClick={() =>
                    attempt(() => post(`/user/assistants/${id}/versions/${v.version}/restore`), 'Restored.').then(
                      reload,
                    )
                  }
                >
                  Return to this
                </Button>
              )}
            </li>
          ))}
        </ol>
      )}
    </Loaded>
  )
}
