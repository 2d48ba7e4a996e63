import { get } from '../../api'
import { bounds } from '../../bounds'
import type { Assistant, Named, Voice } from '../assistants'

export type Refs = {
  voices: Voice[]
  languages: Named[]
  llm: Named[]
  realtime: Named[]
  bases: Named[]
  tools: Named[]
  numbers: (Named & { phone_number: string; is_available: boolean })[]
  synthesizers: Named[]
  transcribers: Named[]
}

export const loadRefs = async (a: Assistant): Promise<Refs> => {
  const [voices, languages, llm, realtime, bases, tools, numbers, synthesizers, transcribers] = await Promise.all([
    get<Voice[]>('/user/assistants/voices'),
    get<Named[]>('/user/assistants/languages'),
    get<Named[]>('/user/assistants/models'),
    get<Named[]>('/user/assistants/models', { type: a.mode === 'pipeline' ? 'multimodal' : a.mode }),
    get<{ data: Named[] }>('/user/knowledgebases').then(r => r.data),
    get<Named[]>('/user/tools'),
    get<Refs['numbers']>('/user/assistants/phone-numbers'),
    get<Named[]>('/user/assistants/synthesizer-providers'),
    get<Named[]>('/user/assistants/transcriber-providers'),
  ])
  return { voices, languages, llm, realtime, bases, tools, numbers, synthesizers, transcribers }
}

type Kind = 'text' | 'long' | 'number' | 'switch' | 'json' | 'choice' | ((a: Assistant, r: Refs) => [number, string][])

// What a field may be is in bounds, from the API's description; this is where it stands and how it is said.
export type Spec = {
  key: keyof Assistant & string
  label: string
  kind: Kind
  hint?: string
  said?: Record<string, string> // what people read for the options of a choice
  needed?: true // where it is shown it cannot be empty, although in other modes it is
}

const named = (l: Named[]): [number, string][] => l.map(x => [x.id, x.name])

// choices are the options of a field with what people read for each.
export const choices = (s: Spec): [string, string][] =>
  bounds[s.key].options!.map(x => [x, s.said?.[x] ?? x.replaceAll('_', ' ')])

// hintOf says the bounds of a field, and what else there is to say.
export function hintOf(s: Spec) {
  const b = bounds[s.key] ?? {}
  return [
    b.min !== undefined && `${b.min} to ${b.max}.`,
    b.length && `Up to ${b.length} characters.`,
    s.hint ?? (b.min !== undefined && b.empty && 'Empty: off.'),
  ]
    .filter(Boolean)
    .join(' ')
}

// whyNot says in which modes a field has an effect, where it has none.
export function whyNot(s: Spec, mode: string) {
  const modes = bounds[s.key]?.modes
  return modes && !modes.includes(mode) && `only in ${modes.join(' and ')} ${modes.length > 1 ? 'modes' : 'mode'}`
}

// Every field of an assistant and where a person looks for it.
export const tabs: Record<string, Spec[]> = {
  Prompt: [
    { key: 'name', label: 'Name', kind: 'text' },
    {
      key: 'status',
      label: 'Status',
      kind: 'choice',
      hint: 'A paused (inactive) assistant refuses live traffic.',
    },
    {
      key: 'type',
      label: 'What it does',
      kind: 'choice',
      said: { inbound: 'Answers calls to its number', outbound: 'Places calls' },
    },
    {
      key: 'mode',
      label: 'Engine',
      kind: 'choice',
      hint: 'Changing it resets the settings that belong to the engine.',
    },
    {
      key: 'initial_message',
      label: 'First sentence',
      kind: 'text',
      hint: 'Placeholders such as {{customer_name}} are filled in.',
    },
    { key: 'system_prompt', label: 'Instructions', kind: 'long' },
    { key: 'llm_model_id', label: 'Model', kind: (_, r) => named(r.llm), needed: true },
    {
      key: 'multimodal_model_id',
      label: 'Realtime model',
      kind: (_, r) => named(r.realtime),
      needed: true,
    },
    {
      key: 'chat_llm_fallback_id',
      label: 'Text model for tools and chats',
      kind: (_, r) => named(r.llm),
    },
    { key: 'llm_temperature', label: 'Temperature', kind: 'number' },
    { key: 'timezone', label: 'Time zone', kind: 'text' },
    { key: 'variables', label: 'Variables', kind: 'json', hint: 'Default values of placeholders.' },
  ],
  Voice: [
    { key: 'language_id', label: 'Language', kind: (_, r) => named(r.languages) },
    { key: 'voice_id', label: 'Voice', kind: (a, r) => named(r.voices.filter(v => v.modes.includes(a.mode))) },
    { key: 'speech_speed', label: 'Speed', kind: 'number' },
    {
      key: 'synthesizer_provider_id',
      label: 'Speech provider',
      kind: (_, r) => named(r.synthesizers),
    },
    {
      key: 'transcriber_provider_id',
      label: 'Recognition provider',
      kind: (_, r) => named(r.transcribers),
    },
    { key: 'tts_emotion_enabled', label: 'Expressive speech', kind: 'switch' },
    {
      key: 'voice_stability',
      label: 'Stability',
      kind: 'number',
    },
    {
      key: 'voice_similarity',
      label: 'Similarity',
      kind: 'number',
    },
    {
      key: 'ambient_sound',
      label: 'Background sound',
      kind: 'choice',
    },
    { key: 'ambient_sound_volume', label: 'Background volume', kind: 'number' },
  ],
  'Turn taking': [
    { key: 'wait_for_customer', label: 'Let the caller speak first', kind: 'switch' },
    {
      key: 'endpoint_type',
      label: 'End of the caller’s turn',
      kind: 'choice',
      said: { vad: 'by silence', ai: 'by silence and sense' },
    },
    { key: 'endpoint_sensitivity', label: 'Silence that ends a turn (seconds)', kind: 'number' },
    { key: 'allow_interruptions', label: 'The caller may interrupt', kind: 'switch' },
    { key: 'interrupt_sensitivity', label: 'Speech that interrupts (seconds)', kind: 'number' },
    { key: 'min_interrupt_words', label: 'Words that interrupt', kind: 'number', hint: 'Empty: no word gate.' },
    { key: 'turn_detection_threshold', label: 'Turn detection threshold', kind: 'number' },
    { key: 'enable_noise_cancellation', label: 'Noise cancellation', kind: 'switch' },
    { key: 'fillers', label: 'Filler words while thinking', kind: 'switch' },
    { key: 'filler_config', label: 'Filler phrases', kind: 'json' },
    { key: 'reengagement_interval', label: 'Ask again after (seconds of quiet)', kind: 'number' },
    { key: 'reengagement_prompt', label: 'How to ask', kind: 'text' },
    { key: 'max_silence_duration', label: 'Hang up after (seconds of quiet)', kind: 'number' },
    {
      key: 'max_initial_silence_duration',
      label: 'Hang up when nothing is said at first (seconds)',
      kind: 'number',
    },
    { key: 'max_duration', label: 'Longest call (seconds)', kind: 'number' },
    { key: 'ringing_time', label: 'Ringing time (seconds)', kind: 'number' },
    { key: 'end_call_on_voicemail', label: 'Hang up on voicemail', kind: 'switch' },
    { key: 'voice_mail_message', label: 'Message for voicemail', kind: 'text' },
  ],
  'Its tools': [],
  Knowledge: [
    { key: 'knowledgebase_id', label: 'Knowledgebase', kind: (_, r) => named(r.bases) },
    {
      key: 'knowledgebase_mode',
      label: 'When it is searched',
      kind: 'choice',
      said: { function_call: 'when the model asks', prompt: 'before every answer' },
    },
  ],
  'After the call': [
    { key: 'record', label: 'Record calls', kind: 'switch' },
    { key: 'post_call_evaluation', label: 'Evaluate calls', kind: 'switch' },
    {
      key: 'post_call_schema',
      label: 'What to find out',
      kind: 'json',
      hint: 'A list of {"name","type","description"}; type is string, number or bool.',
    },
    { key: 'conversation_inactivity_timeout', label: 'End quiet chats after (minutes)', kind: 'number' },
    { key: 'conversation_ended_retrigger', label: 'A new message reopens an ended chat', kind: 'switch' },
  ],
  Webhooks: [
    { key: 'is_webhook_active', label: 'Send the post-call webhook', kind: 'switch' },
    { key: 'webhook_url', label: 'Post-call webhook', kind: 'text' },
    { key: 'send_webhook_only_on_completed', label: 'Only for completed calls', kind: 'switch' },
    { key: 'include_recording_in_webhook', label: 'With the recording’s address', kind: 'switch' },
    { key: 'conversation_ended_webhook_url', label: 'Conversation-ended webhook', kind: 'text' },
  ],
  Number: [
    {
      key: 'phone_number_id',
      label: 'Phone number',
      kind: (_, r) => r.numbers.map(n => [n.id, n.phone_number]),
    },
  ],
  Embed: [
    { key: 'widget_settings', label: 'Widget', kind: 'json', hint: 'Texts, colour, position and allowed origins.' },
  ],
}
