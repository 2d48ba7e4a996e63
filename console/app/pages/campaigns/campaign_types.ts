// What a campaign and its leads are, and when it may call.
export type Campaign = {
  id: number
  name: string
  status: string
  assistant_id: number | null
  timezone: string
  max_calls_in_parallel: number
  allowed_hours_start_time: string
  allowed_hours_end_time: string
  allowed_days: string[]
  max_retries: number
  retry_interval: number
  stop_reason: string | null
  retry_on_voicemail: boolean
  retry_on_goal_incomplete: boolean
  goal_completion_variable: string | null
  mark_complete_when_no_leads: boolean
  phone_number_ids: number[]
  leads_count: { total: number; open: number; completed: number; failed: number }
}
export type Lead = {
  id: number
  phone_number: string
  variables: Record<string, unknown>
  status: string
  attempts: number
  next_attempt_at: string | null
  last_call_id: number | null
  secondary_contacts: { phone_number: string }[]
}
export const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
export const short = (d: string[]) =>
  d.length === 7
    ? 'every day'
    : days
        .filter(x => d.includes(x))
        .map(x => x[0].toUpperCase() + x.slice(1, 3))
        .join(' ')
export const hours = (c: Campaign) =>
  `${c.allowed_hours_start_time.slice(0, 5)}–${c.allowed_hours_end_time.slice(0, 5)}`

// windowOf tells whether calls may start now, by the clock of the campaign's zone. A window over midnight counts to the day it began.
export function windowOf(c: Campaign) {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en-GB', { timeZone: c.timezone, weekday: 'long', hour: '2-digit', minute: '2-digit' })
      .formatToParts(new Date())
      .map(p => [p.type, p.value]),
  )
  const now = `${parts.hour}:${parts.minute}`,
    today = days.indexOf(parts.weekday.toLowerCase())
  const [from, to] = [c.allowed_hours_start_time.slice(0, 5), c.allowed_hours_end_time.slice(0, 5)]
  const began = (d: number) => c.allowed_days.includes(days[(d + 7) % 7])
  const open =
    from < to
      ? began(today) && from <= now && now <= to
      : (began(today) && now >= from) || (began(today - 1) && now <= to)
  return { open, now: `${parts.weekday.slice(0, 3)} ${now}` }
}
