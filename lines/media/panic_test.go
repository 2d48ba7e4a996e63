package media

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/audio"
	"parley/audio/rtp"
	"parley/safe"
)

// faulty is every part of a leg: it counts its work, and panics where it is told to from the fifth time on.
type faulty struct {
	l16
	where                            string
	encoded, decoded, heard, written atomic.Int64
	sent, closed                     atomic.Int64
}

func (f *faulty) work(where string, n *atomic.Int64) {
	if n.Add(1) >= 5 && f.where == where {
		panic(where)
	}
}

func (f *faulty) Encode(dst []byte, pcm []int16) (int, error) {
	f.work("encoder", &f.encoded)
	return f.l16.Encode(dst, pcm)
}

func (f *faulty) Decode(pcm []int16, payload []byte) (int, error) {
	f.work("decoder", &f.decoded)
	return f.l16.Decode(pcm, payload)
}

func (f *faulty) WriteRTP([]byte) error { f.work("transport", &f.sent); return nil }
func (f *faulty) Window() int           { return 512 }
func (f *faulty) Reset()                {}

func (f *faulty) Speech([]int16) float32 {
	f.work("detector", &f.heard)
	return 0
}

func (f *faulty) Write(b []byte) (int, error) {
	f.work("recorder", &f.written)
	return len(b), nil
}

func (f *faulty) Close() error {
	f.closed.Add(1)
	if f.where == "end of the recording" {
		panic(f.where)
	}
	return nil
}

// grouped detectors are asked together. What fails in one of them fails in all that are asked with it.
type grouped struct{ *faulty }

func (g grouped) Together(audio.Detector) bool { return true }

func (g grouped) SpeechAll(all []audio.Detector, windows [][]int16, p []float32) {
	for i, d := range all {
		d := d.(grouped)
		if d.where == "group" {
			panic(d.where)
		}
		p[i] = d.Speech(windows[i])
	}
}

// A part of one leg panics, wherever among its neighbours that leg is: its owner is told once, or it goes on without the part,
// the other legs of the pacer go on with all their parts, and nothing is left over.
func TestPanicEndsOneLeg(t *testing.T) {
	const legs = 8 // two in each slot
	for where, ends := range map[string]bool{"encoder": true, "decoder": true, "transport": true, "detector": true,
		"group": false, "recorder": false, "end of the recording": false} {
		for _, together := range []bool{false, true} {
			for bad := range legs {
				synctest.Test(t, func(t *testing.T) {
					before := safe.Panics()
					all := make([]faulty, legs)
					all[bad].where = where
					next := 0
					p, err := New(Options{PortMin: 20000, PortMax: 20010, Pacers: 1, Detector: func(int) audio.Detector {
						f := &all[next]
						if next++; together {
							return grouped{f}
						}
						return f
					}})
					if err != nil {
						t.Fatal(err)
					}
					streams, told := open(t, p, all)
					talk := func() {
						for range 50 {
							speak(streams)
							time.Sleep(audio.FrameDur)
						}
					}
					talk()
					was := make([][4]int64, legs)
					for i := range all {
						was[i] = all[i].parts()
					}
					talk()
					for i := range all {
						gone := i == bad && ends
						if n := told[i].Load(); gone != (n == 1) || n > 1 {
							t.Errorf("%s of leg %d panics: leg %d is told %d times that it ended", where, bad, i, n)
						}
						for part, n := range all[i].parts() {
							if more := n > was[i][part]; more == gone {
								t.Errorf("%s of leg %d panics: leg %d, part %d: %d, then %d", where, bad, i, part, was[i][part], n)
							}
						}
						streams[i].Close()
					}
					if n := p.Load().Streams; n != 0 {
						t.Errorf("%d streams left", n)
					}
					p.Close()
					for i := range all {
						if n := all[i].closed.Load(); n != 1 {
							t.Errorf("%s of leg %d panics: the recording of leg %d is closed %d times", where, bad, i, n)
						}
					}
					if reached := safe.Panics() > before; reached != (where != "group" || together) {
						t.Errorf("%s: %d panics", where, safe.Panics()-before)
					}
				})
			}
		}
	}
}

// open opens a stream on each leg; told counts the ends their owners hear of.
func open(t *testing.T, p *Plane, all []faulty) (streams []*Stream, told []atomic.Int64) {
	t.Helper()
	told = make([]atomic.Int64, len(all))
	for i := range all {
		f := &all[i]
		s, err := p.OpenTransport(f, Config{Codec: Opus, Encoder: f, Decoder: f, OnTimeout: func(err error) {
			if !errors.Is(err, errBroken) {
				t.Error(err)
			}
			told[i].Add(1)
		}})
		if err != nil {
			t.Fatal(err)
		}
		s.Record(f)
		streams = append(streams, s)
	}
	return streams, told
}

// speak lets all far ends say a frame at once.
func speak(streams []*Stream) {
	packet, loud, at := make([]byte, rtp.HeaderLen+640), make([]int16, 320), time.Now()
	audio.GenSignal(loud, 16000, 0, audio.Tone{Hz: 440, Level: 0.3})
	_, _ = l16{}.Encode(packet[rtp.HeaderLen:], loud)
	n := at.UnixMilli() / audio.FrameDur.Milliseconds()
	rtp.Header{PayloadType: 111, SSRC: 7, Sequence: uint16(n), Timestamp: uint32(n * 960)}.Put(packet)
	for _, s := range streams {
		s.Receive(packet, at)
	}
}

func (f *faulty) parts() [4]int64 {
	return [4]int64{f.encoded.Load(), f.decoded.Load(), f.sent.Load(), f.heard.Load()}
}
