// What a campaign and its leads are, and when it may call.
import type { Schemas } from '../../../openapi'
export type Campaign = Schemas['campaignOut']
export type Lead = Schemas['leadOut']
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
