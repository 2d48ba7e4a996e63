package media

import (
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"parley/audio"
	"parley/safe"
)

const (
	slots    = 4
	slotDur  = audio.FrameDur / slots
	maxStall = 3 * audio.FrameDur // a longer one is not caught up with
)

// pacer gives each of its streams a turn every 20 ms. Its goroutine owns the streams.
type pacer struct {
	plane    *Plane
	realtime bool // phones: its own thread, precise sleep
	epoch    time.Time
	cname    string
	commands chan command
	quit     chan struct{}
	gone     chan struct{}
	size     atomic.Int32 // streams, those on their way included

	slot    [slots][]*Stream
	at      int   // the slot whose turn it is
	frame   int64 // 20 ms periods since the start
	seed    uint32
	packet  [maxPacket]byte
	pcm     [maxFrame]int16
	group   group
	skipped atomic.Int64 // frames not caught up with
	late    atomic.Int64 // worst lateness in nanoseconds since it was last read
}

// command adds a stream to the pacer, takes it away, or says that it has something to say for the first time.
type command struct {
	stream     *Stream
	add, hurry bool
}

func newPacer(plane *Plane, realtime bool) *pacer {
	p := &pacer{
		plane: plane, realtime: realtime, epoch: time.Now(), cname: plane.cname, seed: uint32(time.Now().UnixNano()) | 1,
		commands: make(chan command, 256), quit: make(chan struct{}), gone: make(chan struct{}),
	}
	safe.Go("media pacer", p.run)
	return p
}

// tell hands a command over; after the end of the pacer nothing happens.
func (p *pacer) tell(c command) bool {
	select {
	case p.commands <- c:
		return true
	case <-p.gone:
		return false
	}
}

// suggest hands over a command that can be done without.
func (p *pacer) suggest(c command) {
	select {
	case p.commands <- c:
	default:
	}
}

func (p *pacer) run() {
	defer close(p.gone)
	if p.realtime {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	for !safe.Run("media pacer", p.pace) { // what is left of a panic in it that was no stream's
		time.Sleep(slotDur)
	}
	safe.Run("media pacer", p.end)
}

// pace gives the streams their turns until the pacer has to stop.
func (p *pacer) pace() {
	for p.busy() || p.idle() {
		deadline := time.Now()
		for slot := 0; p.busy(); slot = (slot + 1) % slots {
			deadline = p.wait(deadline.Add(slotDur))
			p.at = slot
			p.obey()
			if slot == 0 {
				p.frame++
			}
			p.turn(p.slot[slot], time.Now())
		}
	}
}

// idle waits while there is no stream. It is false when the pacer has to stop.
func (p *pacer) idle() bool {
	select {
	case c := <-p.commands:
		p.do(c)
		return true
	case <-p.quit:
		return false
	}
}

func (p *pacer) busy() bool {
	select {
	case <-p.quit:
		return false
	default:
	}
	for _, s := range p.slot {
		if len(s) > 0 {
			return true
		}
	}
	return false
}

// wait sleeps until the deadline. After a long stall it returns a later one, so that whole frames are skipped and each
// stream keeps its phase.
func (p *pacer) wait(deadline time.Time) time.Time {
	d := time.Until(deadline)
	if d > 0 {
		if p.realtime {
			sleep(d)
		} else {
			time.Sleep(d)
		}
		d = time.Until(deadline)
	}
	if late := int64(-d); late > p.late.Load() {
		p.late.Store(late)
	}
	if -d > maxStall {
		frames := int64(-d / audio.FrameDur)
		p.frame += frames
		p.skipped.Add(frames)
		deadline = deadline.Add(time.Duration(frames) * audio.FrameDur)
	}
	return deadline
}

// turn is one slot: all packets first, then the detectors, then what others wait for.
func (p *pacer) turn(streams []*Stream, now time.Time) {
	for _, s := range streams {
		s.alone(func() {
			s.reconfigure(now)
			s.receive(p, now)
			s.send(p, now)
		})
	}
	p.group.listen(streams)
	for _, s := range streams {
		s.alone(func() {
			if (p.frame+s.first)%25 == 0 {
				s.hearRTCP(p, now)
				s.report(p, now, false)
			}
			s.handOver()
		})
	}
}

// errBroken ends a stream that cannot go on.
var errBroken = errors.New("the media stream failed")

// alone runs what concerns one stream. A panic ends that stream: it is left out from then on, and its owner is told.
func (s *Stream) alone(work func()) {
	if !s.broken && !safe.Run("media stream", work) {
		s.fail()
	}
}

func (s *Stream) fail() {
	s.broken = true
	if tell := s.cfg.OnTimeout; tell != nil {
		safe.Go("media stream", func() { tell(errBroken) })
	}
}

// group are streams whose windows are worked on together.
type group struct {
	n        int
	apart    bool // together they fail, though none does alone
	streams  [audio.GroupSize]*Stream
	detector [audio.GroupSize]audio.Detector
	window   [audio.GroupSize][]int16
	p        [audio.GroupSize]float32
}

// listen runs the detectors over every full window, several streams at a time where they can work together.
func (g *group) listen(streams []*Stream) {
	for more := true; more; {
		more = false
		for _, s := range streams {
			full, fits := false, false
			s.alone(func() {
				if s.ear.full() {
					s.ear.rest(s.speechThreshold(), s.post)
				}
				full, fits = s.ear.full(), g.n > 0 && g.takes(s)
			})
			if !full {
				continue
			}
			if !fits {
				g.run()
			}
			g.add(s)
			more = true
		}
		g.run()
	}
}

func (g *group) takes(s *Stream) bool {
	first, ok := g.detector[0].(audio.GroupDetector)
	return ok && !g.apart && g.n < audio.GroupSize && first.Together(s.ear.detector)
}

func (g *group) add(s *Stream) {
	g.streams[g.n], g.detector[g.n], g.window[g.n] = s, s.ear.detector, s.ear.next()
	g.n++
}

// run works on the windows. When that panics each stream is worked on alone, so that only the one at fault ends.
func (g *group) run() {
	n := g.n
	g.n = 0
	together := n > 1 && safe.Run("voice detection", func() {
		g.detector[0].(audio.GroupDetector).SpeechAll(g.detector[:n], g.window[:n], g.p[:n])
	})
	failed := 0
	for i, s := range g.streams[:n] {
		s.alone(func() {
			if !together {
				g.p[i] = g.detector[i].Speech(g.window[i])
			}
			s.ear.heard(g.p[i], s.speechThreshold(), s.post)
		})
		if s.broken {
			failed++
		}
		g.streams[i] = nil
	}
	g.apart = g.apart || n > 1 && !together && failed == 0
}

func (p *pacer) obey() {
	for {
		select {
		case c := <-p.commands:
			p.do(c)
		default:
			return
		}
	}
}

func (p *pacer) do(c command) {
	switch now := time.Now(); {
	case c.add:
		p.add(c.stream, now)
	case c.hurry:
		p.hurry(c.stream)
	default:
		p.remove(c.stream, now)
	}
}

// hurry moves a stream to the slot whose turn it is, unless that is crowded: its first sound, which the other side waits for,
// does not wait up to 20 ms.
func (p *pacer) hurry(s *Stream) {
	if s.slot == p.at || len(p.slot[p.at]) > len(p.slot[s.slot])*5/4+2 || !p.take(s) {
		return
	}
	s.slot = p.at
	p.slot[p.at] = append(p.slot[p.at], s)
}

// take takes a stream out of its slot; false when it is not there any more.
func (p *pacer) take(s *Stream) bool {
	list := p.slot[s.slot]
	i := slices.Index(list, s)
	if i < 0 {
		return false
	}
	p.slot[s.slot] = slices.Delete(list, i, i+1)
	return true
}

func (p *pacer) add(s *Stream, now time.Time) {
	s.slot = 0
	for i := range p.slot {
		if len(p.slot[i]) < len(p.slot[s.slot]) {
			s.slot = i
		}
	}
	s.first, s.out.skipped = p.frame, p.skipped.Load()
	s.in.alive = now
	s.out.nextRTCP = now.Add(time.Second)
	p.slot[s.slot] = append(p.slot[s.slot], s)
}

func (p *pacer) remove(s *Stream, now time.Time) {
	p.take(s)
	p.size.Add(-1)
	safe.Run("media stream", func() { s.finish(p, now) })
}

// end closes what is left.
func (p *pacer) end() {
	p.obey()
	now := time.Now()
	for i := range p.slot {
		for len(p.slot[i]) > 0 {
			p.remove(p.slot[i][0], now)
		}
	}
}

// random is a small generator (xorshift) for report intervals.
func (p *pacer) random(below uint32) uint32 {
	p.seed ^= p.seed << 13
	p.seed ^= p.seed >> 17
	p.seed ^= p.seed << 5
	return p.seed % below
}
