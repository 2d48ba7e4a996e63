// A call from this browser: WebRTC to the server, microphone in, assistant out.
import { post, request } from './api'

export type BrowserCall = {
  id: string
  token: string
  level: () => number
  heard: () => number
  stop: () => Promise<void>
}

// The servers that help through firewalls come with the first answer, and are asked from the next call on.
let ice: RTCIceServer[] = []

// startCall asks for the microphone, connects and resolves once audio can flow. onEnd runs when either side ends it.
export async function startCall(assistant: string, kind: 'widget' | 'test', onEnd: () => void): Promise<BrowserCall> {
  const mic = await navigator.mediaDevices.getUserMedia({
    audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
  })
  const pc = new RTCPeerConnection({ iceServers: ice })
  const player = new Audio()
  player.autoplay = true
  const ctx = new AudioContext()
  const meter = (stream: MediaStream) => {
    const node = ctx.createAnalyser()
    node.fftSize = 512
    ctx.createMediaStreamSource(stream).connect(node)
    const buf = new Float32Array(node.fftSize)
    return () => {
      node.getFloatTimeDomainData(buf)
      return Math.sqrt(buf.reduce((s, v) => s + v * v, 0) / buf.length)
    }
  }
  let heard = () => 0
  let over = false
  const clean = () => {
    if (over) return
    over = true
    mic.getTracks().forEach(t => t.stop())
    pc.close()
    ctx.close()
    player.srcObject = null
    onEnd()
  }
  try {
    pc.ontrack = e => {
      const s = e.streams[0] ?? new MediaStream([e.track])
      player.srcObject = s
      heard = meter(s)
    }
    mic.getTracks().forEach(t => pc.addTrack(t, mic))
    await pc.setLocalDescription(await pc.createOffer())
    await new Promise<void>(done => {
      if (pc.iceGatheringState === 'complete') done()
      else pc.onicegatheringstatechange = () => pc.iceGatheringState === 'complete' && done()
    })
    const answer = await post<{ call_id: string; token: string; sdp: string; ice_servers: RTCIceServer[] }>(
      '/web-calls',
      {
        assistant_id: assistant,
        type: kind,
        sdp: pc.localDescription!.sdp,
      },
    )
    ice = answer.ice_servers
    await pc.setRemoteDescription({ type: 'answer', sdp: answer.sdp })
    await new Promise<void>((done, fail) => {
      pc.onconnectionstatechange = () => {
        if (pc.connectionState === 'connected') done()
        if (['failed', 'closed', 'disconnected'].includes(pc.connectionState)) {
          fail(new Error('The connection was lost.'))
          clean()
        }
      }
    })
    const stop = async () => {
      // the server is told before the connection goes, so that the record says who hung up
      if (!over)
        await request('DELETE', `/web-calls/${answer.call_id}?token=${encodeURIComponent(answer.token)}`).catch(
          () => {},
        )
      clean()
    }
    return { id: answer.call_id, token: answer.token, level: meter(mic), heard: () => heard(), stop }
  } catch (e) {
    clean()
    throw e
  }
}
