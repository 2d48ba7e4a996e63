// Every page of the console and where it lives. Pages without a name are reached from others.
import type { ComponentType } from 'preact'
import { Talk } from './pages/talk'
import { Calls } from './pages/calls'
import { Call } from './pages/call'

export const pages: { path: string; name?: string; page: ComponentType<any> }[] = [
  { path: '/console', name: 'Talk', page: Talk },
  { path: '/console/calls', name: 'Calls', page: Calls },
  { path: '/console/calls/:id', page: Call },
]
