import { useState } from 'preact/hooks'
import { curl, get, post, put } from '../../api'
import { account } from '../../session'
import { Button, Choice, errorsOf, Loaded, Request, say, Switch, Text, useLoad, type Errors } from '../../ui'
import type { Assistant } from '../assistants'
import { days, type Campaign } from './campaign_types'
import type { Schemas } from '../../../openapi'

type Owned = Schemas['numberOut']
const fresh = {
  name: '',
  max_calls_in_parallel: 3,
  allowed_hours_start_time: '09:00',
  allowed_hours_end_time: '18:00',
  allowed_days: days.slice(0, 5),
  max_retries: 3,
  retry_interval: 60,
  retry_on_voicemail: false,
  retry_on_goal_incomplete: false,
  goal_completion_variable: null as string | null,
  mark_complete_when_no_leads: true,
  phone_number_ids: [] as number[],
}

// CampaignForm makes a campaign, or changes one.
export function CampaignForm({ was, done }: { was?: Campaign; done: (id: number) => void }) {
  const refs = useLoad(
    () =>
      Promise.all([
        get<Assistant[]>('/user/assistants').then(all => all.filter(a => a.type === 'outbound')),
        get<{ data: Owned[] }>('/user/phone-numbers/all'),
      ]),
    [],
  )
  const [f, set] = useState<Record<string, any>>({
    timezone: account.value!.timezone,
    ...fresh,
    ...(was && {
      ...Object.fromEntries(Object.keys(fresh).map(k => [k, (was as any)[k]])),
      timezone: was.timezone,
      assistant_id: was.assistant_id,
      allowed_hours_start_time: was.allowed_hours_start_time.slice(0, 5),
      allowed_hours_end_time: was.allowed_hours_end_time.slice(0, 5),
    }),
  })
  const [errors, setErrors] = useState<Errors>({})
  const edit = (k: string) => (v: unknown) => set(x => ({ ...x, [k]: v }))
  const field = (k: string, label: string, type = 'text', more: object = {}) => (
    <Text
      label={label}
      type={type}
      value={f[k]}
      onInput={v => edit(k)(type === 'number' ? Number(v) : v)}
      error={errors[k]}
      {...more}
    />
  )
  const pick = (k: string, v: unknown, on: boolean) => edit(k)(on ? [...f[k], v] : f[k].filter((x: unknown) => x !== v))
  return (
    <Loaded of={refs}>
      {([all, { data: owned }]) => {
        if (!all.length)
          return (
            <p>
              A campaign needs an assistant that places calls. <a href="/console/assistants">Make one</a> of the type
              “Places calls”.
            </p>
          )
        const body: Record<string, any> = { ...f, assistant_id: f.assistant_id ?? all[0].id }
        if (was?.status === 'in-progress') delete body.assistant_id
        const path = was ? `/user/campaigns/${was.id}` : '/user/campaigns',
          numbers = owned.filter(n => n.status === 'active' && n.type !== 'caller_id')
        const save = async () => {
          try {
            done(
              (await (was ? put<{ data: { id: number } }>(path, body) : post<{ data: { id: number } }>(path, body)))
                .data.id,
            )
            if (was) say('Saved.')
          } catch (e) {
            setErrors(errorsOf(e))
            say((e as Error).message, true)
          }
        }
        return (
          <form
            onSubmit={e => {
              e.preventDefault()
              save()
            }}
          >
            {field('name', 'Name', 'text', { autofocus: true })}
            {was?.status === 'in-progress' ? (
              <p class="muted small">The assistant can be changed once the campaign has stopped.</p>
            ) : (
              <Choice
                label="Assistant"
                value={body.assistant_id}
                onInput={v => edit('assistant_id')(Number(v))}
                options={all.map(a => [a.id, a.name])}
                error={errors.assistant_id}
              />
            )}
            <div class="row">
              {field('allowed_hours_start_time', 'From', 'time')}
              {field('allowed_hours_end_time', 'To', 'time')}
              {field('timezone', 'Time zone', 'text', { list: 'zones' })}
            </div>
            <datalist id="zones">
              {Intl.supportedValuesOf('timeZone').map(z => (
                <option value={z} />
              ))}
            </datalist>
            <fieldset>
              <legend>Days</legend>
              {days.map(d => (
                <label class="check">
                  <input
                    type="checkbox"
                    checked={f.allowed_days.includes(d)}
                    onChange={e => pick('allowed_days', d, e.currentTarget.checked)}
                  />
                  {d.slice(0, 3)}
                </label>
              ))}
              {errors.allowed_days && <p class="error small">{errors.allowed_days[0]}</p>}
            </fieldset>
            <div class="row">
              {field('max_calls_in_parallel', 'Calls at once', 'number', { min: 1, max: 10 })}
              {field('max_retries', 'Retries', 'number', { min: 1, max: 5 })}
              {field('retry_interval', 'Minutes between', 'number', { min: 10, max: 4320 })}
            </div>
            <details
              open={
                f.retry_on_goal_incomplete ||
                f.retry_on_voicemail ||
                f.phone_number_ids.length > 0 ||
                !f.mark_complete_when_no_leads
              }
            >
              <summary>More</summary>
              <Switch
                label="Call again after a voicemail"
                value={f.retry_on_voicemail}
                onInput={edit('retry_on_voicemail')}
              />
              <Switch
                label="Call again while the goal is not reached"
                value={f.retry_on_goal_incomplete}
                onInput={edit('retry_on_goal_incomplete')}
              />
              {field(
                'goal_completion_variable',
                'The goal, by the name of a yes-or-no value of the assistant',
                'text',
                {
                  hint: 'Empty: “status”, when the assistant has it.',
                  onInput: (v: string) => edit('goal_completion_variable')(v || null),
                },
              )}
              <Switch
                label="Done when no lead is open"
                value={f.mark_complete_when_no_leads}
                onInput={edit('mark_complete_when_no_leads')}
                hint="Otherwise it waits for new leads."
              />
              {numbers.length > 0 && (
                <fieldset>
                  <legend>Caller numbers, in turn</legend>
                  {numbers.map(n => (
                    <label class="check">
                      <input
                        type="checkbox"
                        checked={f.phone_number_ids.includes(n.id)}
                        onChange={e => pick('phone_number_ids', n.id, e.currentTarget.checked)}
                      />
                      {n.phone_number}
                    </label>
                  ))}
                  {errors.phone_number_ids && <p class="error small">{errors.phone_number_ids[0]}</p>}
                </fieldset>
              )}
            </details>
            <div class="actions end">
              <Button kind="primary" type="submit">
                {was ? 'Save' : 'Save as a draft'}
              </Button>
            </div>
            <Request command={curl(was ? 'PUT' : 'POST', path, body)} />
          </form>
        )
      }}
    </Loaded>
  )
}
