import { useEffect, useRef, useState } from 'preact/hooks'
import { curl, get, post } from '../../api'
import { attempt, Button, Card, Request, say, Text } from '../../ui'
import type { Schemas } from '../../../openapi'

// Listen plays the running call in this browser: both voices, receive only.
export function Listen({ id }: { id: number }) {
  const [pc, set] = useState<RTCPeerConnection>()
  const player = useRef<HTMLAudioElement>(null)
  useEffect(() => () => pc?.close(), [pc])
  const stop = () => {
    pc?.close()
    set(undefined)
  }
  const start = () =>
    attempt(async () => {
      const c = new RTCPeerConnection()
      c.addTransceiver('audio', { direction: 'recvonly' })
      c.ontrack = e => {
        player.current!.srcObject = new MediaStream([e.track])
      }
      c.onconnectionstatechange = () => {
        if (['failed', 'closed', 'disconnected'].includes(c.connectionState)) {
          c.close()
          set(undefined)
        }
      }
      try {
        await c.setLocalDescription(await c.createOffer())
        await new Promise<void>(done => {
          if (c.iceGatheringState === 'complete') done()
          else c.onicegatheringstatechange = () => c.iceGatheringState === 'complete' && done()
        })
        const { sdp } = await post<{ sdp: string }>(`/user/calls/${id}/listen`, { sdp: c.localDescription!.sdp })
        await c.setRemoteDescription({ type: 'answer', sdp })
        set(c)
        say('You hear the call. Nobody hears you.')
      } catch (e) {
        c.close()
        throw e
      }
    })
  return (
    <>
      <audio ref={player} autoplay hidden />
      {pc ? (
        <Button kind="listening" onClick={stop}>
          Stop listening
        </Button>
      ) : (
        <Button onClick={start}>Listen in</Button>
      )}
    </>
  )
}

export function Whisper({ id }: { id: number }) {
  const [text, set] = useState('')
  const path = `/user/calls/${id}/whisper`
  return (
    <Card title="Whisper">
      <form
        class="row"
        onSubmit={e => {
          e.preventDefault()
          attempt(() => post(path, { text }), 'The assistant has your hint.').then(ok => ok && set(''))
        }}
      >
        <Text
          label="A hint for the assistant"
          value={text}
          onInput={set}
          hint="The caller does not hear it; the next answer follows it."
          autocomplete="off"
        />
        <Button type="submit" disabled={!text.trim()}>
          Whisper
        </Button>
      </form>
      <Request command={curl('POST', path, { text: text || 'Offer ten percent.' })} />
    </Card>
  )
}

export type Cost = Schemas['costOut']

// useCost follows what a call costs until that is final.
export function useCost(id: number, status: string) {
  const [cost, set] = useState<Cost>()
  useEffect(() => {
    let over = false,
      timer = 0
    const load = () =>
      get<Cost>(`/user/calls/${id}/cost`).then(
        c => {
          if (over) return
          set(c)
          if (!c.final) timer = window.setTimeout(load, 1000)
        },
        () => {},
      )
    load()
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [id, status])
  return cost
}

// money shows an amount with as many decimals as it takes to see it move.
export const money = (n: number, currency: string) =>
  n.toLocaleString([], { style: 'currency', currency, minimumFractionDigits: 2, maximumFractionDigits: 4 })
