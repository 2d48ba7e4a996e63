import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { signal } from '@preact/signals'
import { Text, Button } from './form'

export const toast = signal<{ text: string; bad?: boolean } | null>(null)
let fade = 0

export function say(text: string, bad = false) {
  toast.value = { text, bad }
  clearTimeout(fade)
  fade = window.setTimeout(
    () => {
      toast.value = null
    },
    bad ? 7000 : 3500,
  )
}

export const Toast = () => (
  <div class={`toast ${toast.value?.bad ? 'bad' : ''}`} role="status" aria-live="polite" hidden={!toast.value}>
    {toast.value?.text}
  </div>
)

export function Dialog({
  title,
  open,
  onClose,
  children,
}: {
  title: string
  open: boolean
  onClose: () => void
  children: ComponentChildren
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const d = ref.current!
    if (open && !d.open) d.showModal()
    if (!open && d.open) d.close()
  }, [open])
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {open && children}
    </dialog>
  )
}

type Question = {
  title: string
  text?: ComponentChildren
  yes: string
  danger?: boolean
  label?: string
  value?: string
  answer: (v: string | null) => void
}

const question = signal<Question | null>(null)

// ask puts a question; null when the person would rather not. With a label it asks for a text.
export const ask = (q: Omit<Question, 'answer'>) =>
  new Promise<string | null>(answer => {
    question.value = { ...q, answer }
  })

export const sure = (title: string, yes: string, text?: ComponentChildren) => ask({ title, text, yes, danger: true })

export function Asking() {
  const q = question.value
  const [value, set] = useState('')
  useEffect(() => set(q?.value ?? ''), [q])
  const answer = (v: string | null) => {
    question.value = null
    q?.answer(v)
  }
  return (
    <Dialog title={q?.title ?? ''} open={!!q} onClose={() => answer(null)}>
      <form
        onSubmit={e => {
          e.preventDefault()
          answer(value)
        }}
      >
        {q?.text && <p>{q.text}</p>}
        {q?.label && <Text label={q.label} value={value} onInput={set} autofocus />}
        <div class="actions end">
          <Button onClick={() => answer(null)}>Cancel</Button>
          <Button kind={q?.danger ? 'danger' : 'primary'} type="submit">
            {q?.yes}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
