// Every page of the console and where it lives. Pages without a name are reached from others.
import type { ComponentType } from 'preact'
import { AssistantPage } from './pages/assistant/assistant'
import { Assistants } from './pages/assistants'
import { Call } from './pages/call/call'
import { Calls } from './pages/calls'
import { Conversations } from './pages/conversations'
import { CampaignPage } from './pages/campaigns/campaign'
import { Campaigns } from './pages/campaigns/campaigns'
import { Developers } from './pages/developers'
import { Knowledge, KnowledgeBase } from './pages/knowledge'
import { Numbers } from './pages/numbers/numbers'
import { People } from './pages/people'
import { Providers } from './pages/providers'
import { Reference } from './pages/reference'
import { Settings } from './pages/settings'
import { Simulator } from './pages/simulator/simulator'
import { Talk } from './pages/talk'
import { Tools } from './pages/tools'
import { Usage } from './pages/usage'
import { WhatsApp } from './pages/whatsapp/whatsapp'

export const pages: { path: string; name?: string; page: ComponentType<any> }[] = [
  { path: '/console', name: 'Talk', page: Talk },
  { path: '/console/assistants', name: 'Assistants', page: Assistants },
  { path: '/console/assistants/:id', page: AssistantPage },
  { path: '/console/calls', name: 'Calls', page: Calls },
  { path: '/console/calls/:id', page: Call },
  { path: '/console/conversations', name: 'Conversations', page: Conversations },
  { path: '/console/whatsapp', name: 'WhatsApp', page: WhatsApp },
  { path: '/console/campaigns', name: 'Campaigns', page: Campaigns },
  { path: '/console/campaigns/:id', page: CampaignPage },
  { path: '/console/numbers', name: 'Numbers', page: Numbers },
  { path: '/console/knowledge', name: 'Knowledge', page: Knowledge },
  { path: '/console/knowledge/:id', page: KnowledgeBase },
  { path: '/console/tools', name: 'Tools', page: Tools },
  { path: '/console/developers', name: 'Developers', page: Developers },
  { path: '/console/reference', page: Reference },
  { path: '/console/people', name: 'People', page: People },
  { path: '/console/providers', name: 'Providers', page: Providers },
  { path: '/console/usage', name: 'Usage', page: Usage },
  { path: '/console/simulator', name: 'Simulator', page: Simulator },
  { path: '/console/settings', name: 'Settings', page: Settings },
]
