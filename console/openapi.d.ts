// Written by go test ./api -update from the OpenAPI document.
export interface Schemas {
  Apidata_blockedOut: {
    data: Schemas['blockedOut']
  }
  Apidata_senderOut: {
    data: Schemas['senderOut']
  }
  AssistantTransfer: {
    assistant_id: unknown
    description: string | null
    message_before_transfer: string | null
    speak_transfer_greeting: boolean | null
  }
  Attachment: {
    filename: string
    type: string
    url: string
  }
  BookingField: {
    label: string
    options: Array<string> | null
    required: boolean | null
    slug: string
    type: string
  }
  CalendarIntegration: {
    calendar_api_key: string
    calendar_booking_fields: Array<Schemas['BookingField']> | null
    calendar_custom_endpoint: string | null
    calendar_endpoint: 'us' | 'eu' | 'custom' | null
    calendar_event_slug: string
    calendar_team_slug: string | null
    description: string | null
  }
  Call: {
    answered_by: string
    assistant_id: number
    assistant_phone: string | null
    assistant_uuid: string
    campaign: unknown
    created_at: string
    customer_phone: string | null
    duration: number
    ended_reason: string
    event: string
    extracted_variables: { [key: string]: string | number | boolean | null }
    finished_at: string
    formatted_transcript: string
    id: number
    input_variables: { [key: string]: string | number | boolean | null }
    lead: unknown
    recording_url?: string | null
    status: string
    test?: boolean
    total_cost: number
    transcript: string
    transcript_entries: Array<Schemas['TranscriptEntry']>
    type: string
    uuid: string
    variables: { [key: string]: string | number | boolean | null }
  }
  CallTransfer: {
    custom: boolean | null
    description: string | null
    phone_number: string
    timezone: string | null
    warm_transfer: boolean | null
    warm_transfer_message: string | null
  }
  CollectKeypad: {
    stop_key: '#' | '*' | null
    timeout: number | null
  }
  Conversation: {
    assistant_id: string
    attachments: Array<Schemas['WebhooksAttachment']>
    conversation_id: string
    created_at: string
    customer_name: string | null
    customer_phone: string | null
    end_reason: string
    ended_at: string
    event: string
    extracted_variables: { [key: string]: string | number | boolean | null }
    formatted_transcript: string
    id: number
    input_variables: { [key: string]: string | number | boolean | null }
    message_count: number
    sender: Schemas['Sender'] | null
    status: string
    test?: boolean
    transcript: Array<Schemas['Line']>
    type: string
  }
  Counts: {
    completed: number
    failed: number
    open: number
    total: number
  }
  CursorPage_auditOut: {
    data: Array<Schemas['auditOut']>
    next_cursor: string | null
    next_page_url: string | null
    path: string
    per_page: number
    prev_cursor: string | null
    prev_page_url: string | null
  }
  CursorPage_conversationItem: {
    data: Array<Schemas['conversationItem']>
    next_cursor: string | null
    next_page_url: string | null
    path: string
    per_page: number
    prev_cursor: string | null
    prev_page_url: string | null
  }
  CursorPage_deliveryOut: {
    data: Array<Schemas['deliveryOut']>
    next_cursor: string | null
    next_page_url: string | null
    path: string
    per_page: number
    prev_cursor: string | null
    prev_page_url: string | null
  }
  DTMFInput: {
    description: string | null
  }
  EndCall: {
    description: string | null
  }
  Field: {
    description: string
    name: string
    type: string
    value: unknown
  }
  FillerConfig: {
    negative?: Array<string>
    neutral?: Array<string>
    positive?: Array<string>
    question?: Array<string>
  }
  Header: {
    name: string
    value: string
  }
  ICEServer: {
    credential?: string
    urls: Array<string>
    username?: string
  }
  ImportError: {
    error: string
    row: number
  }
  Item: {
    created_at: string
    id: number
    initial_message: string
    is_webhook_active: boolean
    language_id: number
    mode: string
    name: string
    status: string
    system_prompt: string
    timezone: string
    type: string
    updated_at: string
    user_id: number
    uuid: string
    variables: { [key: string]: string | number | boolean | null }
    voice_id: number
    webhook_url: string | null
  }
  Line: {
    content: string
    role: string
    timestamp: string
    timestamp_unix: number
  }
  Message: {
    message: string
  }
  PageLink: {
    active: boolean
    label: string
    url: string | null
  }
  Page_Record: {
    current_page: number
    data: Array<Schemas['Record']>
    first_page_url: string
    from: number | null
    last_page: number
    last_page_url: string
    links: Array<Schemas['PageLink']>
    next_page_url: string | null
    path: string
    per_page: number
    prev_page_url: string | null
    to: number | null
    total: number
  }
  Page_callOut: {
    current_page: number
    data: Array<Schemas['callOut']>
    first_page_url: string
    from: number | null
    last_page: number
    last_page_url: string
    links: Array<Schemas['PageLink']>
    next_page_url: string | null
    path: string
    per_page: number
    prev_page_url: string | null
    to: number | null
    total: number
  }
  Page_groupOut: {
    current_page: number
    data: Array<Schemas['groupOut']>
    first_page_url: string
    from: number | null
    last_page: number
    last_page_url: string
    links: Array<Schemas['PageLink']>
    next_page_url: string | null
    path: string
    per_page: number
    prev_page_url: string | null
    to: number | null
    total: number
  }
  Page_leadOut: {
    current_page: number
    data: Array<Schemas['leadOut']>
    first_page_url: string
    from: number | null
    last_page: number
    last_page_url: string
    links: Array<Schemas['PageLink']>
    next_page_url: string | null
    path: string
    per_page: number
    prev_page_url: string | null
    to: number | null
    total: number
  }
  Param: {
    description: string
    name: string
    required: boolean
    type: 'string' | 'number' | 'float' | 'integer' | 'boolean'
  }
  Passage: {
    document: string
    document_id: number
    score: number
    text: string
  }
  Record: {
    allow_interruptions: boolean
    ambient_sound: 'off' | 'office' | 'city' | 'forest' | 'crowded_room' | 'cafe' | 'nature'
    ambient_sound_volume: number
    chat_llm_fallback_id: number | null
    conversation_ended_retrigger: boolean
    conversation_ended_webhook_url: string | null
    conversation_inactivity_timeout: number | null
    created_at: string
    deleted_at: string | null
    enable_noise_cancellation: boolean
    end_call_on_voicemail: boolean
    endpoint_sensitivity: number
    endpoint_type: 'vad' | 'ai'
    filler_config: Schemas['FillerConfig']
    fillers: boolean
    folder_id: number | null
    id: number
    inbound_webhook_url: string | null
    include_recording_in_webhook: boolean
    initial_message: string
    interrupt_sensitivity: number
    is_webhook_active: boolean
    knowledgebase_id: number | null
    knowledgebase_mode: 'function_call' | 'prompt'
    label_ids: Array<number>
    language: string
    language_id: number
    llm_model_id: number | null
    llm_temperature: number
    max_duration: number
    max_initial_silence_duration: number | null
    max_silence_duration: number
    min_interrupt_words: number | null
    mode: 'pipeline' | 'multimodal' | 'dualplex'
    multimodal_model_id: number | null
    name: string
    phone_number_id: number | null
    post_call_evaluation: boolean
    post_call_schema: Array<Schemas['SchemaItem']>
    record: boolean
    reengagement_interval: number
    reengagement_prompt: string | null
    ringing_time: number
    secondary_language_ids: Array<number>
    send_webhook_only_on_completed: boolean
    speech_speed: number
    status: 'active' | 'inactive'
    synthesizer_provider_id: number | null
    system_prompt: string
    timezone: string
    tool_ids: Array<number>
    tools: Array<{
      custom: boolean | null
      data: Schemas['CallTransfer']
      description: string | null
      phone_number: string
      timezone: string | null
      type: 'call_transfer'
      warm_transfer: boolean | null
      warm_transfer_message: string | null
    } | {
      briefing_initial_message: string | null
      caller_id_mode: 'outbound_number' | 'customer_number' | 'custom' | null
      connected_message: string | null
      custom_caller_id: string | null
      custom_sip: boolean | null
      data: Schemas['WarmCallTransfer']
      description: string
      hold_message: string | null
      hold_music: 'hold_music' | 'none' | null
      hold_music_volume: number | null
      outbound_phone_id: number
      summary_instructions: string | null
      supervisor_phone: string
      type: 'warm_call_transfer'
    } | {
      data: Schemas['EndCall']
      description: string | null
      type: 'end_call'
    } | {
      data: Schemas['DTMFInput']
      description: string | null
      type: 'dtmf_input'
    } | {
      data: Schemas['CollectKeypad']
      stop_key: '#' | '*' | null
      timeout: number | null
      type: 'collect_keypad'
    } | {
      calendar_api_key: string
      calendar_booking_fields: Array<Schemas['BookingField']> | null
      calendar_custom_endpoint: string | null
      calendar_endpoint: 'us' | 'eu' | 'custom' | null
      calendar_event_slug: string
      calendar_team_slug: string | null
      data: Schemas['CalendarIntegration']
      description: string | null
      type: 'calendar_integration'
    } | {
      assistant_id: unknown
      data: Schemas['AssistantTransfer']
      description: string | null
      message_before_transfer: string | null
      speak_transfer_greeting: boolean | null
      type: 'assistant_transfer'
    }>
    transcriber_provider_id: number | null
    tts_emotion_enabled: boolean
    turn_detection_threshold: number | null
    type: 'inbound' | 'outbound'
    updated_at: string
    user_id: number
    uuid: string
    variables: { [key: string]: string | number | boolean | null }
    voice_id: number
    voice_mail_message: string | null
    voice_similarity: number
    voice_stability: number
    wait_for_customer: boolean
    webhook_url: string | null
    widget_settings: Schemas['WidgetSettings']
  }
  SchemaItem: {
    description: string
    name: string
    type: 'string' | 'number' | 'bool'
  }
  Sender: {
    display_name: string
    phone_number: string
  }
  Static: {
    key: string
    value: unknown
  }
  Status: {
    assistant_id: string | null
    conversation_id: string
    direction: string
    error_code: string | null
    error_description: string | null
    error_message: string | null
    event: string
    from: string
    message_sid: string | null
    provider_message_id: string | null
    provider_timestamp: string
    sender: Schemas['StatusSender']
    status: string
    timestamp: string
    to: string
    whatsapp_message_id: number
  }
  StatusSender: {
    display_name: string
    id: number
    phone_number: string
  }
  TranscriptEntry: {
    interrupted: boolean
    sender: string
    text: string
    timestamp: number
    type: string
  }
  Trial: {
    body: string
    duration_ms: number
    error: string | null
    request: Schemas['TrialRequest']
    status_code: number | null
    success: boolean
  }
  TrialRequest: {
    body: string | null
    method: string
    url: string
  }
  ValidationErrors: {
    errors: { [key: string]: Array<string> }
    message: string
  }
  WarmCallTransfer: {
    briefing_initial_message: string | null
    caller_id_mode: 'outbound_number' | 'customer_number' | 'custom' | null
    connected_message: string | null
    custom_caller_id: string | null
    custom_sip: boolean | null
    description: string
    hold_message: string | null
    hold_music: 'hold_music' | 'none' | null
    hold_music_volume: number | null
    outbound_phone_id: number
    summary_instructions: string | null
    supervisor_phone: string
  }
  Warning: {
    field: string
    message: string
  }
  WebhooksAttachment: {
    filename: string
    type: string
    url: string
  }
  WidgetSettings: {
    allowed_origins: Array<string>
    button_main_text: string | null
    button_sub_text: string | null
    color: string | null
    enabled: boolean
    header_subtitle: string | null
    header_title: string | null
    modal_description: string | null
    modal_title: string | null
    position: string | null
    start_button_text: string | null
    voice_enabled: boolean
  }
  aiOut: {
    ai_enabled: boolean
    status: boolean
  }
  apiKey: {
    created_at: string
    expires_at?: string | null
    id: number
    last_address?: string | null
    last_used_at: string | null
    made_by?: string | null
    name: string
    scopes?: Array<string>
  }
  apiKeys: {
    api_keys: Array<Schemas['apiKey']>
  }
  assistantBrief: {
    id: number
    mode: string
    name: string
    status: string
    type: string
  }
  assistantOut: {
    data: Schemas['Record']
  }
  attachableOut: {
    country_code: string
    id: number
    is_available: boolean
    phone_number: string
    type_label: string
  }
  attemptOut: {
    at: string
    duration_ms: number
    error: string | null
    response: string | null
    status_code: number | null
  }
  auditOut: {
    action: string
    actor: string
    address: string
    at: string
    changes: unknown
    id: number
    key_id: number | null
    request_id: string
    subject: string
    user_id: number | null
  }
  authMethods: {
    oidc: Schemas['oidcName'] | null
    password: boolean
  }
  autoOut: {
    amount: number
    below: number
    enabled: boolean
    last_error: string | null
  }
  baseOut: {
    assistants_count: number
    created_at: string
    description: string | null
    documents_count: number
    id: number
    name: string
    status: string
    status_label: string
    updated_at: string
  }
  basesOut: {
    data: Array<Schemas['baseOut']>
  }
  begunOut: {
    conversation_id: string
    history: Array<Schemas['opening']>
    status: boolean
  }
  billingData: {
    auto_topup: Schemas['autoOut']
    currency: string
    payment_method: Schemas['methodOut'] | null
  }
  billingOut: {
    data: Schemas['billingData']
  }
  blockedOut: {
    created_at: string
    id: number
    phone_number: string
    reason: string | null
  }
  boughtNumber: {
    data: {
      country_code: string
      id: number
      phone_number: string
      sms_capable: boolean
      type: string
    }
    message: string
  }
  callEvent: {
    at: string
    data: unknown
    ms: number
    seq: number
    type: string
  }
  callEvents: {
    data: Array<Schemas['callEvent']>
  }
  callMessage: {
    at: string
    ms: number
    remote: string
    sent: boolean
    text: string
    title: string
  }
  callOut: {
    ai_cost: number
    answered_at: string | null
    answered_by: string
    assistant_id: number | null
    assistant_name: string
    assistant_phone_number: string | null
    campaign_id: number | null
    campaign_name: string | null
    carrier_cost: number
    client_phone_number: string | null
    created_at: string
    currency: string
    duration: number
    ended_at: string | null
    ended_by: string | null
    ended_reason: string | null
    evaluation: { [key: string]: string | number | boolean | null }
    evaluation_fields: Array<Schemas['Field']>
    id: number
    input_variables: { [key: string]: string | number | boolean | null }
    lead_id: number | null
    recording_url?: string | null
    status: string
    total_cost: number
    transcript: string
    transcript_entries: Array<Schemas['transcriptEntry']>
    type: string
    updated_at: string
    uuid: string
    variables: { [key: string]: string | number | boolean | null }
    vendor_costs?: Array<Schemas['vendorCost']>
    webhook_response: unknown
  }
  campaignOut: {
    allowed_days: Array<string>
    allowed_hours_end_time: string
    allowed_hours_start_time: string
    assistant_id: number | null
    created_at: string
    goal_completion_variable: string | null
    id: number
    leads_count: Schemas['Counts']
    mark_complete_when_no_leads: boolean
    max_calls_in_parallel: number
    max_retries: number
    name: string
    phone_number_ids: Array<number>
    retry_interval: number
    retry_on_goal_incomplete: boolean
    retry_on_voicemail: boolean
    status: string
    stop_reason: string | null
    timezone: string
    updated_at: string
  }
  campaignSaved: {
    data: Schemas['campaignOut']
    message: string
  }
  campaignState: {
    campaign_id: number
    status: string
  }
  campaignSwitched: {
    data: Schemas['campaignState']
    message: string
    success: boolean
  }
  changeOut: {
    from: unknown
    to: unknown
  }
  chatReplyOut: {
    ai_disabled?: boolean
    function_calls: Array<Schemas['functionOut']>
    message: string
    status: boolean
  }
  contactOut: {
    created_at: string
    id: number
    phone_number: string
    status: string
    updated_at: string
    variables: { [key: string]: string | number | boolean | null }
  }
  conversationItem: {
    ai_enabled: boolean
    assistant_id: string | null
    assistant_name: string | null
    conversation_id: number
    created_at: string
    customer?: Schemas['party'] | null
    external_identifier?: string | null
    id: string
    message_count: number
    state: string
    total_cost: number
    type: string
    updated_at: string
    variables: { [key: string]: string | number | boolean | null } | null
    whatsapp_sender?: Schemas['party'] | null
  }
  conversationOut: {
    ai_enabled: boolean
    customer?: Schemas['party'] | null
    external_identifier?: string | null
    history: Array<Schemas['entryOut']>
    state: string
    status: boolean
    type: string
    variables: { [key: string]: string | number | boolean | null } | null
    whatsapp_sender?: Schemas['party'] | null
  }
  costOut: {
    ai_cost: number
    carrier_cost: number
    currency: string
    final: boolean
    total_cost: number
  }
  data_blockedOut: {
    data: Array<Schemas['blockedOut']>
  }
  data_callMessage: {
    data: Array<Schemas['callMessage']>
  }
  data_campaignOut: {
    data: Schemas['campaignOut']
  }
  data_invitedOut: {
    data: Schemas['invitedOut']
  }
  data_leadOut: {
    data: Schemas['leadOut']
  }
  data_memberOut: {
    data: Schemas['memberOut']
  }
  data_senderOut: {
    data: Array<Schemas['senderOut']>
  }
  data_templateOut: {
    data: Array<Schemas['templateOut']>
  }
  deliveryOut: {
    attempts: Array<Schemas['attemptOut']>
    created_at: string
    event: string
    id: number
    next_attempt_at: string | null
    payload: unknown
    status: string
    url: string
    webhook_id: string
  }
  documentOut: {
    chunks_count: number | null
    created_at: string
    description: string | null
    error: string | null
    id: number
    name: string
    pages_count: number | null
    size_bytes: number | null
    source: unknown
    status: string
    status_label: string
    type: string
    type_label: string
    updated_at: string
  }
  documentsOut: {
    data: Array<Schemas['documentOut']>
  }
  entryOut: {
    attachments?: Array<Schemas['Attachment']>
    content: string
    created_at: string
    function_calls?: Array<Schemas['functionOut']>
    role: string
  }
  freeformOut: {
    conversation_id: number
    conversation_uuid: string
    message_id: number
    message_sid: string
    session_status: Schemas['windowOut']
    status: string
    success: boolean
    whatsapp_message_id: number
  }
  functionOut: {
    arguments: { [key: string]: unknown }
    name: string
    result: { [key: string]: unknown }
  }
  generatedOut: {
    ai_disabled: boolean
    conversation_id: string
    customer_identifier: string
    function_calls: Array<Schemas['functionOut']>
    reply: string | null
    success: boolean
  }
  groupOut: {
    assistants_count: number
    color: string | null
    id: number
    name: string
  }
  importData: {
    created: number
    errors: Array<Schemas['ImportError']>
    skipped: number
  }
  imported: {
    data: Schemas['importData']
    message: string
  }
  invitedOut: {
    email: string
    id: number
    invitation_url: string
    invited: boolean
    last_seen_at: string | null
    name: string
    recordings: boolean
    role: 'owner' | 'admin' | 'agent' | 'viewer'
    two_factor: boolean
  }
  keyWithToken: {
    created_at: string
    id: number
    name: string
    token: string
  }
  languageOut: {
    id: number
    iso_2: string
    name: string
  }
  leadCampaign: {
    id: number
    name: string
  }
  leadOut: {
    attempts: number
    campaign: Schemas['leadCampaign']
    campaign_id: number
    created_at: string
    id: number
    last_call_id: number | null
    next_attempt_at: string | null
    phone_number: string
    secondary_contacts: Array<Schemas['contactOut']>
    status: string
    updated_at: string
    variables: { [key: string]: string | number | boolean | null }
  }
  leadSaved: {
    data: Schemas['leadOut']
    message: string
  }
  listenOut: {
    ice_servers: Array<Schemas['ICEServer']>
    sdp: string
  }
  madeCall: {
    call_id: number
    message: string
    status: string
  }
  me: {
    account_kind: 'direct' | 'tenant'
    available_balance: number
    balance_unit: 'minutes' | 'credits'
    currency: string
    email: string
    id: number
    name: string
    timezone: string
    total_balance: number
  }
  memberList: {
    data: Array<Schemas['memberOut']>
  }
  memberOut: {
    email: string
    id: number
    invited: boolean
    last_seen_at: string | null
    name: string
    recordings: boolean
    role: 'owner' | 'admin' | 'agent' | 'viewer'
    two_factor: boolean
  }
  methodOut: {
    expires: string | null
    label: string
    ready: boolean
  }
  modelOut: {
    code?: string | null
    id: number
    is_healthy: boolean
    name: string
  }
  newKey: {
    api_key: Schemas['keyWithToken']
    message: string
  }
  numberList: {
    data: Array<Schemas['numberOut']>
  }
  numberOut: {
    assistant_ids: Array<number>
    country_code: string
    created_at: string
    has_active_subscription: boolean
    id: number
    nickname: string | null
    phone_number: string
    region: string | null
    release_at: string | null
    sms_capable: boolean
    status: string
    type: string
    type_label: string
  }
  offerList: {
    data: Array<Schemas['offerOut']>
  }
  offerOut: {
    address_requirements: string
    billing_price_id: string
    country_code: string
    phone_number: string
    phone_number_formatted: string
    price: number
    sms_capable: boolean
  }
  oidcName: {
    name: string
  }
  oneBaseOut: {
    data: Schemas['baseOut']
  }
  oneDocumentOut: {
    data: Schemas['documentOut']
  }
  opening: {
    content: string
    role: string
  }
  party: {
    name: string | null
    phone: string | null
  }
  passagesOut: {
    data: Array<Schemas['Passage']>
  }
  payPage: {
    url: string
  }
  pendingCallerID: {
    data: {
      id: number
      phone_number: string
      status: string
    }
    message: string
  }
  planData: {
    assistants: Schemas['planLimit']
    campaigns: Schemas['planLimit']
    currency: string
    daily_outbound: Schemas['planLimit']
    minute_price: number
    parallel_calls: Schemas['planLimit']
    parallel_per_campaign: number
    tools: Schemas['planLimit']
  }
  planLimit: {
    most: number | null
    used: number
  }
  planOut: {
    data: Schemas['planData']
  }
  profileOut: {
    data: Schemas['me']
    message: string
  }
  providerOut: {
    code: string
    id: number
    is_healthy: boolean
    name: string
  }
  registeredTrunk: {
    data: Schemas['trunkState']
  }
  renamedNumber: {
    data: {
      country_code: string
      id: number
      nickname: string | null
      phone_number: string
      type: string
    }
    message: string
  }
  savedAssistant: {
    data: Schemas['assistantBrief']
    message: string
    warnings?: Array<Schemas['Warning']>
  }
  savedBase: {
    data: Schemas['baseOut']
    message: string
  }
  savedDocument: {
    data: Schemas['documentOut']
    message: string
  }
  savedGroup: {
    data: Schemas['groupOut']
    message: string
  }
  savedTool: {
    data: Schemas['toolOut']
    message: string
  }
  savedTrunk: {
    data: Schemas['trunkOut']
    message: string
  }
  secretOut: {
    secret: string
  }
  senderOut: {
    ai_enabled: boolean
    assistant_id: number | null
    display_name: string
    id: number
    last_synced_at: string | null
    messaging_limit: number | null
    messaging_limit_formatted: string
    phone_number: string
    quality_rating: string
    status: string
    status_detail: string
  }
  sentOut: {
    conversation_id: number
    conversation_uuid: string
    message_id: number
    message_sid: string
    status: string
    success: boolean
    whatsapp_message_id: number
  }
  sessionOut: {
    conversation_id?: number | null
    customer_name?: string | null
    has_conversation: boolean
    last_customer_message_at?: string | null
    session_status: Schemas['windowOut']
    success: boolean
  }
  smsOut: {
    body: string
    cost: number
    currency: string
    from: string
    segments: number
    sms_id: string
    status: string
    to: string
  }
  smsSent: {
    data: Schemas['smsOut']
    message: string
  }
  statusOut: {
    status: boolean
  }
  switched: {
    data: Array<{
    }>
    message: string
  }
  templateOut: {
    body_text: string
    category: string
    has_variables: boolean
    id: number
    language: string
    last_synced_at: string | null
    name: string
    rejected_reason: string | null
    status: string
    status_detail: string
    variables: Array<string>
  }
  templateSaved: {
    data: Schemas['templateOut']
    message: string
  }
  toolOut: {
    body_format: string
    created_at: string
    description: string
    endpoint: string
    headers: Array<Schemas['Header']>
    id: number
    method: string
    name: string
    schema: Array<Schemas['Param']>
    static_fields: Array<Schemas['Static']>
    timeout: number
    type: string
    updated_at: string
  }
  transcriptEntry: {
    interrupted: boolean
    sender: string
    text: string
    timestamp: number
    type: string
  }
  triedWebhook: {
    body: string
    status_code: number
    success: boolean
  }
  trunkData: {
    data: Schemas['trunkOut']
  }
  trunkItem: {
    allowed_inbound_ips: Array<string>
    codecs: Array<string>
    country_code: string
    created_at: string
    dtmf: string
    id: number
    inbound_authorization_type: string
    media_networks: Array<string>
    media_source: string
    nickname: string | null
    outbound_proxy: boolean
    phone_number: string
    port: number
    register: boolean
    registration: string
    registration_error: string | null
    sip_address: string
    sip_calling_format: string
    sip_trunk_type: string
    sip_username: string
    srtp: string
    tls_ca_set: boolean
    transfer_method: string | null
    transport: string
    updated_at: string
  }
  trunkList: {
    data: Array<Schemas['trunkItem']>
  }
  trunkOut: {
    allowed_inbound_ips: Array<string>
    codecs: Array<string>
    country_code: string
    created_at: string
    dtmf: string
    id: number
    inbound_authorization_type: string
    inbound_trunk_id: string
    media_networks: Array<string>
    media_source: string
    nickname: string | null
    outbound_proxy: boolean
    outbound_trunk_id: string
    phone_number: string
    port: number
    register: boolean
    registration: string
    registration_error: string | null
    sip_address: string
    sip_calling_format: string
    sip_trunk_type: string
    sip_username: string
    srtp: string
    tls_ca_set: boolean
    transfer_method: string | null
    transport: string
    updated_at: string
  }
  trunkState: {
    registration: string
    registration_error: string | null
  }
  usageLine: {
    amount: number
    assistant: string | null
    assistant_id: number | null
    cost: number
    count: number
    day: string | null
    kind: string | null
  }
  usageOut: {
    currency: string
    data: Array<Schemas['usageLine']>
    unit: string
  }
  vendorCost: {
    cost: number | null
    model: string
    provider: string
    stage: string
    units: { [key: string]: number }
  }
  vendorFieldOut: {
    name: string
    secret: boolean
    set: boolean
  }
  vendorList: {
    data: Array<Schemas['vendorOut']>
  }
  vendorOut: {
    checked_at: string | null
    code: string
    configured: boolean
    fields: Array<Schemas['vendorFieldOut']>
    healthy: boolean
    last_error: string | null
    name: string
    roles: Array<string>
    source: string | null
  }
  vendorSaved: {
    data: Schemas['vendorOut']
  }
  vendorTest: {
    message: string
    ms: number
    ok: boolean
  }
  verifiedCallerID: {
    data: Schemas['numberOut']
    message: string
  }
  versionOut: {
    author: string | null
    changes: { [key: string]: Schemas['changeOut'] }
    created_at: string
    data: Schemas['Record']
    version: number
  }
  versionsOut: {
    data: Array<Schemas['versionOut']>
  }
  voiceOut: {
    accent: string | null
    age: string | null
    gender: string | null
    id: number
    language_id: number
    modes: Array<string>
    name: string
    preview_url: string
    synthesizer_provider_id: number | null
  }
  webCallOut: {
    call_id: string
    ice_servers: Array<Schemas['ICEServer']>
    sdp: string
    status: boolean
    token: string
  }
  windowOut: {
    can_send_freeform: boolean
    expired_at?: string | null
    expires_at?: string | null
    is_open: boolean
    message: string
    minutes_remaining?: number | null
    requires_template: boolean
  }
}
