// Written by go test ./api -update from the OpenAPI document: what a field of an assistant may be.
export type Bound = {
  min?: number
  max?: number
  whole?: true
  length?: number
  options?: string[]
  modes?: string[] // those in which the field has an effect; none = all
  empty?: true
}

export const bounds: { [field: string]: Bound } = {
  ambient_sound: { options: ['off', 'office', 'city', 'forest', 'crowded_room', 'cafe', 'nature'] },
  ambient_sound_volume: { min: 0, max: 1 },
  chat_llm_fallback_id: { modes: ['multimodal', 'dualplex'], empty: true },
  conversation_ended_webhook_url: { empty: true },
  conversation_inactivity_timeout: { min: 1, max: 1440, whole: true, empty: true },
  endpoint_sensitivity: { min: 0, max: 5 },
  endpoint_type: { options: ['vad', 'ai'] },
  filler_config: { modes: ['pipeline'] },
  fillers: { modes: ['pipeline'] },
  folder_id: { empty: true },
  initial_message: { length: 200 },
  interrupt_sensitivity: { min: 0, max: 5 },
  knowledgebase_id: { empty: true },
  knowledgebase_mode: { options: ['function_call', 'prompt'] },
  llm_model_id: { modes: ['pipeline'], empty: true },
  llm_temperature: { min: 0, max: 1 },
  max_duration: { min: 20, max: 1200, whole: true },
  max_initial_silence_duration: { min: 1, max: 120, whole: true, empty: true },
  max_silence_duration: { min: 1, max: 360, whole: true },
  min_interrupt_words: { min: 0, max: 10, whole: true, empty: true },
  mode: { options: ['pipeline', 'multimodal', 'dualplex'] },
  multimodal_model_id: { modes: ['multimodal', 'dualplex'], empty: true },
  name: { length: 255 },
  phone_number_id: { empty: true },
  reengagement_interval: { min: 7, max: 600, whole: true },
  reengagement_prompt: { length: 1000, empty: true },
  ringing_time: { min: 1, max: 60, whole: true },
  speech_speed: { min: 0.7, max: 1.2 },
  status: { options: ['active', 'inactive'] },
  synthesizer_provider_id: { modes: ['pipeline', 'dualplex'], empty: true },
  system_prompt: { length: 100000 },
  transcriber_provider_id: { modes: ['pipeline'], empty: true },
  turn_detection_threshold: { min: 0, max: 1, modes: ['multimodal', 'dualplex'], empty: true },
  type: { options: ['inbound', 'outbound'] },
  voice_mail_message: { length: 1000, empty: true },
  voice_similarity: { min: 0, max: 1, modes: ['pipeline', 'dualplex'] },
  voice_stability: { min: 0, max: 1, modes: ['pipeline', 'dualplex'] },
  webhook_url: { empty: true },
}
