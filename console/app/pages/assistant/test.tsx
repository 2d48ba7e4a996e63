import { useState } from 'preact/hooks'
import { post } from '../../api'
import { attempt, Button, Card, Text } from '../../ui'

// Test is always open beside the settings: a chat with the assistant as it is saved.
export function Test({ assistant, saved }: { assistant: string; saved: boolean }) {
  const [lines, set] = useState<
    { role: string; content: string; function_calls?: { name: string; arguments: object; result: object }[] }[]
  >([])
  const [id, setId] = useState<string>()
  const [text, setText] = useState('')
  const begin = async () => {
    const c = await post<{ conversation_id: string; history: typeof lines }>('/conversations', {
      assistant_id: assistant,
      type: 'test',
    })
    setId(c.conversation_id)
    set(c.history)
    return c.conversation_id
  }
  const send = () =>
    attempt(async () => {
      const message = text
      setText('')
      const to = id ?? (await begin())
      set(l => [...l, { role: 'user', content: message }])
      const r = await post<{ message: string; function_calls: [] }>(`/conversations/${to}/messages`, { message })
      set(l => [...l, { role: 'assistant', content: r.message, function_calls: r.function_calls }])
    })
  return (
    <Card title="Try it">
      {!saved && <p class="muted small">Unsaved changes are not in this conversation.</p>}
      <ol class="lines" aria-live="polite" aria-label="Test conversation">
        {lines.map(l => (
          <li class={l.role === 'user' ? 'human' : ''}>
            {l.function_calls?.map(f => (
              <small title={JSON.stringify(f.result)}>
                {f.name}({JSON.stringify(f.arguments)})
              </small>
            ))}
            {l.content}
          </li>
        ))}
      </ol>
      <form
        class="row"
        style={{ marginTop: '.8rem' }}
        onSubmit={e => {
          e.preventDefault()
          if (text.trim()) send()
        }}
      >
        <Text label="Message" value={text} onInput={setText} autocomplete="off" />
        <Button type="submit">Send</Button>
        <Button kind="quiet" onClick={() => attempt(begin)}>
          Start over
        </Button>
      </form>
    </Card>
  )
}
