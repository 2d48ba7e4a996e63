import { useEffect, useRef } from 'preact/hooks'
import WaveSurfer from 'wavesurfer.js'

// tone is the colour a variable stands for where el is; canvases know neither variables nor light-dark().
function tone(el: HTMLElement, variable: string) {
  const probe = el.appendChild(document.createElement('i'))
  probe.style.color = `var(${variable})`
  const color = getComputedStyle(probe).color
  probe.remove()
  return color
}

// Player shows both channels of a recording, as wide as the axis above it. seek.current jumps to a moment in ms.
export function Player({
  url,
  onTime,
  onLength,
  seek,
}: {
  url: string
  onTime: (ms: number) => void
  onLength: (ms: number) => void
  seek: { current?: (ms: number) => void }
}) {
  const box = useRef<HTMLDivElement>(null)
  const audio = useRef<HTMLAudioElement>(null)
  const src = new URL(url, location.href).pathname
  useEffect(() => {
    const wave = WaveSurfer.create({
      container: box.current!,
      media: audio.current!,
      height: 36,
      barWidth: 2,
      barGap: 1,
      normalize: true,
      cursorColor: tone(box.current!, '--bad'),
      splitChannels: [
        { waveColor: tone(box.current!, '--caller') },
        { waveColor: tone(box.current!, '--assistant') },
      ] as any,
    })
    wave.on('timeupdate', s => onTime(s * 1000))
    wave.on('ready', s => onLength(s * 1000))
    seek.current = ms => {
      audio.current!.currentTime = ms / 1000
      audio.current!.play().catch(() => {})
    }
    return () => {
      seek.current = undefined
      wave.destroy()
    }
  }, [url])
  return (
    <div class="player">
      <div ref={box} />
      <div class="row">
        <audio ref={audio} src={src} controls preload="metadata" aria-label="Recording" />
        <a class="button" href={src} download>
          Download
        </a>
      </div>
    </div>
  )
}
