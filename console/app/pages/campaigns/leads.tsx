import { useState } from 'preact/hooks'
import { post, request } from '../../api'
import { attempt, Button, Choice, Field, say, Switch, Table, Text } from '../../ui'

// AddLeads takes one number, or a CSV file whose first rows are shown before anything is stored.
export function AddLeads({ campaign, done }: { campaign: number; done: () => void }) {
  const [phone, setPhone] = useState('')
  const [file, setFile] = useState<File>()
  const [rows, setRows] = useState<string[][]>([])
  const [column, setColumn] = useState('')
  const [again, setAgain] = useState(false)
  const choose = async (f?: File) => {
    setFile(f)
    const r = f ? csv(await f.text()) : []
    setRows(r)
    setColumn(r[0]?.find(h => /phone|number|mobile|tel/i.test(h)) ?? r[0]?.[0] ?? '')
  }
  const load = () =>
    attempt(async () => {
      const form = new FormData()
      form.set('file', file!)
      form.set('campaign_id', String(campaign))
      form.set('phone_column', column)
      form.set('allow_dupplicate', again ? '1' : '0')
      const { data } = await request<{
        data: { created: number; skipped: number; errors: { row: number; error: string }[] }
      }>('POST', '/user/leads/import', form)
      say(
        `${data.created} added, ${data.skipped} left out. ${data.errors
          .slice(0, 3)
          .map(e => `Row ${e.row}: ${e.error}`)
          .join(' ')}`,
        data.errors.length > 0,
      )
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
          <p class="muted small">{rows.length - 1} rows. The other columns become variables.</p>
          <Table label="Preview" heads={rows[0]} rows={rows.slice(1, 6)} />
          <Switch label="Also numbers that are in the campaign already" value={again} onInput={setAgain} />
          <Button kind="primary" onClick={load}>
            Import {rows.length - 1} leads
          </Button>
        </>
      )}
    </>
  )
}

// csv reads comma or semicolon separated text with quotes (RFC 4180) for the preview; the server reads the file itself.
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
