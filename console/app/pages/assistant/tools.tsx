// The form of the built-in tools, drawn from the schema that the server gives for them: a tool that the server learns
// needs nothing here.
import { useState } from 'preact/hooks'
import { get } from '../../api'
import { Button, Choice, Loaded, Switch, Text, useLoad, type Errors } from '../../ui'
import { Json } from './inputs'

type Schema = {
  type?: string | string[]
  const?: string
  title?: string
  description?: string
  default?: unknown
  enum?: (string | null)[]
  minimum?: number
  maximum?: number
  maxLength?: number
  required?: string[]
  properties?: Record<string, Schema>
}
type Tool = Record<string, unknown> & { type: string }

const loadForms = async () => {
  const doc = await get<any>('/openapi.json')
  const body = doc.paths['/user/assistant/{id}'].put.requestBody.content['application/json'].schema
  return body.properties.tools.items.oneOf as Schema[]
}

const spaced = (name: string) => name[0].toUpperCase() + name.slice(1).replaceAll('_', ' ')
const mustBeGiven = (s: Schema) => s.default === undefined && ![s.type].flat().includes('null')
const fieldsOf = (form: Schema) =>
  Object.entries(form.properties ?? {})
    .filter(([key]) => key !== 'type' && key !== 'data')
    .sort(([, a], [, b]) => Number(mustBeGiven(b)) - Number(mustBeGiven(a)))
const fresh = (form: Schema): Tool => ({
  type: form.title!,
  ...Object.fromEntries(fieldsOf(form).flatMap(([key, s]) => (s.default === undefined ? [] : [[key, s.default]]))),
})
const flat = ({ data, ...tool }: Tool): Tool => tool

export function ToolForms({ value, errors, onInput }: { value: Tool[]; errors: Errors; onInput: (v: Tool[]) => void }) {
  const forms = useLoad(loadForms, [])
  const [next, choose] = useState('')
  const set = (i: number, tool: Tool) => onInput(value.map((t, j) => flat(i === j ? tool : t)))
  return (
    <Loaded of={forms}>
      {all => (
        <>
          {value.map((tool, i) => (
            <fieldset key={i}>
              <legend>{spaced(tool.type)}</legend>
              {errors[`tools.${i}.type`] && <p class="error">{errors[`tools.${i}.type`][0]}</p>}
              {fieldsOf(all.find(f => f.title === tool.type) ?? {}).map(([key, schema]) => (
                <Part
                  label={spaced(key)}
                  schema={schema}
                  value={tool[key]}
                  error={errors[`tools.${i}.${key}`]}
                  onInput={v => set(i, { ...tool, [key]: v })}
                />
              ))}
              <Button kind="danger" onClick={() => onInput(value.filter((_, j) => j !== i).map(flat))}>
                Remove this tool
              </Button>
            </fieldset>
          ))}
          <Choice
            label="Add a tool"
            value={next}
            options={[['', 'choose'], ...all.map(f => [f.title!, spaced(f.title!)] as [string, string])]}
            onInput={type => {
              const form = all.find(f => f.title === type)
              if (form) onInput([...value.map(flat), fresh(form)])
              choose('')
            }}
          />
        </>
      )}
    </Loaded>
  )
}

function Part({
  label,
  schema: s,
  value,
  error,
  onInput,
}: {
  label: string
  schema: Schema
  value: unknown
  error?: string[]
  onInput: (v: unknown) => void
}) {
  const types = [s.type].flat()
  const nullable = types.includes('null')
  const emptied = (v: string) => (nullable && v === '' ? null : v)
  if (s.enum)
    return (
      <Choice
        label={label}
        value={(value ?? '') as string}
        options={s.enum.map(v => [v ?? '', v === null ? 'none' : spaced(v)])}
        onInput={v => onInput(emptied(v))}
        hint={s.description}
        error={error}
      />
    )
  if (types.includes('boolean'))
    return <Switch label={label} value={!!value} onInput={onInput} hint={error?.[0] ?? s.description} />
  if (types.includes('array')) return <Json label={label} value={value ?? []} onInput={onInput} error={error} />
  const number = types[0] === 'integer' || types[0] === 'number'
  return (
    <Text
      label={label}
      value={value as string}
      type={number ? 'number' : 'text'}
      min={s.minimum}
      max={s.maximum}
      rows={!number && (s.maxLength ?? 0) >= 500 ? 3 : undefined}
      onInput={v => onInput(number && v !== '' ? Number(v) : emptied(v))}
      hint={s.description}
      error={error}
    />
  )
}
