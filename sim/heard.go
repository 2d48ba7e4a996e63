package sim

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"

	"parley/voice"
)

// report turns the recording into a file and recognises what was heard.
func (p *phone) report(ctx context.Context, id int64, key, file string) {
	var heard []HeardText
	if file == "" {
		key = ""
	} else {
		defer os.Remove(file)
		raw, err := os.ReadFile(file)
		if err == nil {
			err = p.n.deps.Files.Put(ctx, key, bytes.NewReader(wav(raw, p.media.Rate())), "audio/wav")
		}
		if err != nil {
			slog.Error("recording of a simulated call lost", "error", err)
			key = ""
		}
		heard = p.recognise(ctx, leftOf(raw))
	}
	if err := p.n.sim.finishCall(ctx, id, "ended", p.steps, heard, key); err != nil {
		slog.Error("simulated call not saved", "error", err)
	}
}

// leftOf is the far end's channel of an interleaved recording.
func leftOf(raw []byte) []int16 {
	pcm := make([]int16, len(raw)/4)
	for i := range pcm {
		pcm[i] = int16(uint16(raw[4*i]) | uint16(raw[4*i+1])<<8)
	}
	return pcm
}

func wav(raw []byte, rate int) []byte {
	var b bytes.Buffer
	put := func(v uint32, n int) {
		for range n {
			b.WriteByte(byte(v))
			v >>= 8
		}
	}
	b.WriteString("RIFF")
	put(uint32(36+len(raw)), 4)
	b.WriteString("WAVEfmt ")
	put(16, 4)
	put(1, 2)
	put(2, 2)
	put(uint32(rate), 4)
	put(uint32(rate*4), 4)
	put(4, 2)
	put(16, 2)
	b.WriteString("data")
	put(uint32(len(raw)), 4)
	b.Write(raw)
	return b.Bytes()
}

// recognise puts words to the spans in which the far end spoke, joined where the pause was short.
func (p *phone) recognise(ctx context.Context, pcm []int16) []HeardText {
	if p.n.deps.Hear == nil {
		return nil
	}
	rate := p.media.Rate()
	length := int64(len(pcm)) * 1000 / int64(rate)
	var joined []HeardText
	p.mu.Lock()
	for _, s := range p.spans {
		if s.ToMS == 0 {
			s.ToMS = length
		}
		if last := len(joined) - 1; last >= 0 && s.FromMS-joined[last].ToMS < 700 {
			joined[last].ToMS = s.ToMS
			continue
		}
		joined = append(joined, s)
	}
	p.mu.Unlock()
	for i, s := range joined {
		from, to := max(0, s.FromMS-200), min(length, s.ToMS+300)
		text, err := p.words(ctx, pcm[from*int64(rate)/1000:to*int64(rate)/1000])
		if err != nil {
			slog.Warn("simulated phone does not understand", "error", err)
			continue
		}
		joined[i].Text = text
	}
	return joined
}

func (p *phone) words(ctx context.Context, pcm []int16) (string, error) {
	t, err := p.n.deps.Hear(ctx, voice.Transcription{Rate: p.media.Rate(), Languages: []string{"en"}})
	if err != nil {
		return "", err
	}
	text, err := voice.Transcribe(t, pcm)
	if err != nil {
		return "", fmt.Errorf("recognise: %w", err)
	}
	return text, nil
}
