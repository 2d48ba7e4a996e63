import { get } from '../../api'
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

type Kind =
  | 'text'
  | 'long'
  | 'number'
  | 'switch'
  | 'json'
  | 'nullnumber'
  | ((a: Assistant, r: Refs) => [string | number, string][])

export type Spec = {
  key: string
  label: string
  kind: Kind
  hint?: string
  modes?: string[]
  why?: string
  null?: boolean
}

const named = (l: Named[]): [number, string][] => l.map(x => [x.id, x.name])

export const set =
  (...v: string[]) =>
  () =>
    v.map(x => [x, x.replaceAll('_', ' ')] as [string, string])

const pipelineOnly = { modes: ['pipeline'], why: 'only in pipeline mode' }

const realtimeOnly = { modes: ['multimodal', 'dualplex'], why: 'only in multimodal and dualplex modes' }

// Every field of an assistant and where a person looks for it.
export const tabs: Record<string, Spec[]> = {
  Prompt: [
    { key: 'name', label: 'Name', kind: 'text' },
    {
      key: 'status',
      label: 'Status',
      kind: set('active', 'inactive'),
      hint: 'A paused (inactive) assistant refuses live traffic.',
    },
    {
      key: 'type',
      label: 'What it does',
      kind: () => [
        ['inbound', 'Answers calls to its number'],
        ['outbound', 'Places calls'],
      ],
    },
    {
      key: 'mode',
      label: 'Engine',
      kind: set('pipeline', 'multimodal', 'dualplex'),
      hint: 'Changing it resets the settings that belong to the engine.',
    },
    {
      key: 'initial_message',
      label: 'First sentence',
      kind: 'text',
      hint: 'Up to 200 characters. Placeholders such as {{customer_name}} are filled in.',
    },
    { key: 'system_prompt', label: 'Instructions', kind: 'long' },
    { key: 'llm_model_id', label: 'Model', kind: (_, r) => named(r.llm), ...pipelineOnly },
    { key: 'multimodal_model_id', label: 'Realtime model', kind: (_, r) => named(r.realtime), ...realtimeOnly },
    {
      key: 'chat_llm_fallback_id',
      label: 'Text model for tools and chats',
      kind: (_, r) => named(r.llm),
      null: true,
      ...realtimeOnly,
    },
    { key: 'llm_temperature', label: 'Temperature', kind: 'number', hint: '0 to 1' },
    { key: 'timezone', label: 'Time zone', kind: 'text' },
    { key: 'variables', label: 'Variables', kind: 'json', hint: 'Default values of placeholders.' },
  ],
  Voice: [
    { key: 'language_id', label: 'Language', kind: (_, r) => named(r.languages) },
    { key: 'voice_id', label: 'Voice', kind: (a, r) => named(r.voices.filter(v => v.modes.includes(a.mode))) },
    { key: 'speech_speed', label: 'Speed', kind: 'number', hint: '0.7 to 1.2' },
    {
      key: 'synthesizer_provider_id',
      label: 'Speech provider',
      kind: (_, r) => named(r.synthesizers),
      null: true,
      modes: ['pipeline', 'dualplex'],
      why: 'not in multimodal mode',
    },
    {
      key: 'transcriber_provider_id',
      label: 'Recognition provider',
      kind: (_, r) => named(r.transcribers),
      null: true,
      ...pipelineOnly,
    },
    { key: 'tts_emotion_enabled', label: 'Expressive speech', kind: 'switch' },
    {
      key: 'voice_stability',
      label: 'Stability',
      kind: 'number',
      modes: ['pipeline', 'dualplex'],
      why: 'not in multimodal mode',
    },
    {
      key: 'voice_similarity',
      label: 'Similarity',
      kind: 'number',
      modes: ['pipeline', 'dualplex'],
      why: 'not in multimodal mode',
    },
    {
      key: 'ambient_sound',
      label: 'Background sound',
      kind: set('off', 'office', 'city', 'forest', 'crowded_room', 'cafe', 'nature'),
    },
    { key: 'ambient_sound_volume', label: 'Background volume', kind: 'number', hint: '0 to 1' },
  ],
  'Turn taking': [
    { key: 'wait_for_customer', label: 'Let the caller speak first', kind: 'switch' },
    {
      key: 'endpoint_type',
      label: 'End of the caller’s turn',
      kind: () => [
        ['vad', 'by silence'],
        ['ai', 'by silence and sense'],
      ],
    },
    { key: 'endpoint_sensitivity', label: 'Silence that ends a turn (seconds)', kind: 'number', hint: '0 to 5' },
    { key: 'allow_interruptions', label: 'The caller may interrupt', kind: 'switch' },
    { key: 'interrupt_sensitivity', label: 'Speech that interrupts (seconds)', kind: 'number', hint: '0 to 5' },
    { key: 'min_interrupt_words', label: 'Words that interrupt', kind: 'nullnumber', hint: 'Empty: no word gate.' },
    { key: 'turn_detection_threshold', label: 'Turn detection threshold', kind: 'nullnumber', ...realtimeOnly },
    { key: 'enable_noise_cancellation', label: 'Noise cancellation', kind: 'switch' },
    { key: 'fillers', label: 'Filler words while thinking', kind: 'switch', ...pipelineOnly },
    { key: 'filler_config', label: 'Filler phrases', kind: 'json', ...pipelineOnly },
    { key: 'reengagement_interval', label: 'Ask again after (seconds of quiet)', kind: 'number' },
    { key: 'reengagement_prompt', label: 'How to ask', kind: 'text', null: true },
    { key: 'max_silence_duration', label: 'Hang up after (seconds of quiet)', kind: 'number' },
    {
      key: 'max_initial_silence_duration',
      label: 'Hang up when nothing is said at first (seconds)',
      kind: 'nullnumber',
    },
    { key: 'max_duration', label: 'Longest call (seconds)', kind: 'number' },
    { key: 'ringing_time', label: 'Ringing time (seconds)', kind: 'number' },
    { key: 'end_call_on_voicemail', label: 'Hang up on voicemail', kind: 'switch' },
    { key: 'voice_mail_message', label: 'Message for voicemail', kind: 'text', null: true },
  ],
  'Its tools': [],
  Knowledge: [
    { key: 'knowledgebase_id', label: 'Knowledgebase', kind: (_, r) => named(r.bases), null: true },
    {
      key: 'knowledgebase_mode',
      label: 'When it is searched',
      kind: () => [
        ['function_call', 'when the model asks'],
        ['prompt', 'before every answer'],
      ],
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
    { key: 'conversation_inactivity_timeout', label: 'End quiet chats after (minutes)', kind: 'nullnumber' },
    { key: 'conversation_ended_retrigger', label: 'A new message reopens an ended chat', kind: 'switch' },
  ],
  Webhooks: [
    { key: 'is_webhook_active', label: 'Send the post-call webhook', kind: 'switch' },
    { key: 'webhook_url', label: 'Post-call webhook', kind: 'text', null: true },
    { key: 'send_webhook_only_on_completed', label: 'Only for completed calls', kind: 'switch' },
    { key: 'include_recording_in_webhook', label: 'With the recording’s address', kind: 'switch' },
    { key: 'conversation_ended_webhook_url', label: 'Conversation-ended webhook', kind: 'text', null: true },
  ],
  Number: [
    {
      key: 'phone_number_id',
      label: 'Phone number',
      kind: (_, r) => r.numbers.map(n => [n.id, n.phone_number]),
      null: true,
    },
  ],
  Embed: [
    { key: 'widget_settings', label: 'Widget', kind: 'json', hint: 'Texts, colour, position and allowed origins.' },
  ],
}
