import { useEffect } from 'preact/hooks'
import { get } from '../../api'
import { Empty, Loaded, useLoad } from '../../ui'
import type { Schemas } from '../../../openapi'

type Message = Schemas['callMessage']

// Signalling is the ladder of SIP messages: theirs from the left, ours from the right; each opens to the whole message.
export function Signalling({ id, live, status }: { id: number; live: boolean; status: string }) {
  const list = useLoad(() => get<{ data: Message[] }>(`/user/calls/${id}/signalling`), [id, status])
  useEffect(() => {
    if (!live) return
    const t = setInterval(list.reload, 3000)
    return () => clearInterval(t)
  }, [live])
  return (
    <Loaded of={list}>
      {({ data }) =>
        data.length ? (
          <>
            <div class="ladder-ends" aria-hidden="true">
              <span>{data[0].remote}</span>
              <span>parley</span>
            </div>
            <ol class="ladder" aria-label="SIP messages">
              {data.map((m, i) => (
                <li class={m.sent ? 'sent' : 'got'}>
                  <details>
                    <summary>
                      <span class="num small muted">{(m.ms / 1000).toFixed(3)}</span>
                      <span class="arrow">
                        <span class="what">{m.title}</span>
                      </span>
                      <span class="small muted gap">{i > 0 && `+${m.ms - data[i - 1].ms} ms`}</span>
                      <span class="hide">{m.sent ? 'sent' : 'received'}</span>
                    </summary>
                    <pre tabIndex={0}>{m.text}</pre>
                  </details>
                </li>
              ))}
            </ol>
          </>
        ) : (
          <Empty title="No signalling">A call from a browser has none; neither has one that never left.</Empty>
        )
      }
    </Loaded>
  )
}
