import { useEffect, useState } from 'preact/hooks'
import { post, request } from '../../api'
import { attempt, Button, Choice, Field, say, Switch, Table, Text } from '../../ui'
import type { Schemas } from '../../../openapi'

// Import is what the server says of a file: before anything is stored, or afterwards.
type Import = Schemas['importData']

const reasons = (i: Import) =>
  i.errors
    .slice(0, 3)
    .map(e => `Row ${e.row}: ${e.error}.`)
    .join(' ')

// AddLeads takes one number, or a CSV file whose first rows are shown before anything is stored.
export function AddLeads({ campaign, done }: { campaign: number; done: () => void }) {
  const [phone, setPhone] = useState('')
  const [file, setFile] = useState<File>()
  const [rows, setRows] = useState<string[][]>([])
  const [column, setColumn] = useState('')
  const [again, setAgain] = useState(false)
  const [preview, setPreview] = useState<Import>()
  const choose = async (f?: File) => {
    setFile(f)
    const r = f ? csv(await f.text()) : []
    setRows(r)
    setColumn(r[0]?.find(h => /phone|number|mobile|tel/i.test(h)) ?? r[0]?.[0] ?? '')
  }
  const send = async (look: boolean) => {
    const form = new FormData()
    form.set('file', file!)
    form.set('campaign_id', String(campaign))
    form.set('phone_column', column)
    form.set('allow_dupplicate', again ? '1' : '0')
    form.set('preview', look ? '1' : '0')
    return (await request<{ data: Import }>('POST', '/user/leads/import', form)).data
  }
  useEffect(() => {
    let late = false
    setPreview(undefined)
    if (file && column)
      attempt(async () => {
        const seen = await send(true)
        if (!late) setPreview(seen)
      })
    return () => {
      late = true
    }
  }, [file, column, again])
  const load = () =>
    attempt(async () => {
      const made = await send(false)
      say(`${made.created} added, ${made.skipped} left out. ${reasons(made)}`, made.errors.length > 0)
      done()
    })
  return (
    <>
      <form
        class="row"
        onSubmit={e => {
          e.preventDefault()
          attempt(() => post('/user/lead', { campaign_id: campaign, phone_number: phone }), 'Added.').then(
            ok => ok && done(),
          )
        }}
      >
        <Text label="One number" value={phone} onInput={setPhone} placeholder="+491701234567" />
        <Button type="submit">Add</Button>
      </form>
      <hr />
      <Field label="Or a CSV file with a header row">
        {ids => (
          <input {...ids} type="file" accept=".csv,text/csv" onChange={e => choose(e.currentTarget.files?.[0])} />
        )}
      </Field>
      {rows.length > 0 && (
        <>
          <Choice
            label="Column with the phone number"
            value={column}
            onInput={setColumn}
            options={rows[0].map(h => [h, h])}
          />
          <p class="muted small">The other columns become variables.</p>
          <Table label="Preview" heads={rows[0]} rows={rows.slice(1, 6)} />
          <Switch label="Also numbers that are in the campaign already" value={again} onInput={setAgain} />
          {preview && (
            <p class="small" role="status">
              {preview.created} to add, {preview.skipped} in the campaign or the file already, {preview.errors.length}{' '}
              that are no leads. {reasons(preview)}
            </p>
          )}
          <Button kind="primary" onClick={load} disabled={!preview?.created}>
            Import {preview?.created ?? ''} leads
          </Button>
        </>
      )}
    </>
  )
}

// csv reads comma or semicolon separated text with quotes (RFC 4180), to show its first rows; the server reads and counts
// the file itself.
function csv(text: string): string[][] {
  const mark = text.split('\n', 1)[0].includes(';') && !text.split('\n', 1)[0].includes(',') ? ';' : ','
  const rows: string[][] = [[]]
  let cell = '',
    quoted = false
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (quoted) {
      if (c !== '"') cell += c
      else if (text[i + 1] === '"') {
        cell += '"'
        i++
      } else quoted = false
    } else if (c === '"') quoted = true
    else if (c === mark || c === '\n') {
      rows.at(-1)!.push(cell.trim())
      cell = ''
      if (c === '\n') rows.push([])
    } else cell += c
  }
  rows.at(-1)!.push(cell.trim())
  return rows.filter(r => r.some(Boolean))
}
