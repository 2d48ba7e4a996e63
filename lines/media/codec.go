package media

import "parley/audio"

// codec turns payloads into samples at the stream's rate and back.
type codec struct {
	kind    Codec
	frame   int // samples of 20 ms at the codec's rate
	encoder Encoder
	decoder Decoder
	g722    *g722
	in, out *audio.Resampler // between the codec's rate and the stream's; nil when they are equal
	held    []int16          // resampled samples that wait for a whole frame
}

type g722 struct {
	enc audio.G722Encoder
	dec audio.G722Decoder
}

func (c *codec) init(cfg *Config, rate int) {
	own := cfg.Codec.Rate()
	*c = codec{kind: cfg.Codec, frame: own / 50, encoder: cfg.Encoder, decoder: cfg.Decoder}
	if c.kind == G722 {
		c.g722 = new(g722)
		c.g722.enc.Reset()
		c.g722.dec.Reset()
	}
	if own != rate {
		c.in, c.out = audio.NewResampler(own, rate), audio.NewResampler(rate, own)
		c.held = make([]int16, 0, 4*c.frame)
	}
}

// decode makes samples of one payload in buf; the result may be another slice, valid until the next call.
func (c *codec) decode(buf []int16, payload []byte) []int16 {
	n := len(payload)
	switch c.kind {
	case PCMU:
		audio.DecodeMuLaw(buf, payload)
	case PCMA:
		audio.DecodeALaw(buf, payload)
	case G722:
		n = c.g722.dec.Decode(buf, payload)
	case Opus:
		var err error
		if n, err = c.decoder.Decode(buf, payload); err != nil {
			n = 0
		}
	}
	if c.in != nil {
		return c.in.Process(buf[:n])
	}
	return buf[:n]
}

// conceals tells whether the codec makes up lost packets itself.
func (c *codec) conceals() bool { return c.kind == Opus && c.in == nil }

// encode makes one payload of 20 ms and returns its length.
func (c *codec) encode(dst []byte, pcm []int16) int {
	if c.out != nil {
		pcm = c.whole(c.out.Process(pcm))
	}
	switch c.kind {
	case PCMU:
		audio.EncodeMuLaw(dst, pcm)
	case PCMA:
		audio.EncodeALaw(dst, pcm)
	case G722:
		return c.g722.enc.Encode(dst, pcm)
	case Opus:
		n, err := c.encoder.Encode(dst, pcm)
		if err != nil {
			return 0
		}
		return n
	}
	return len(pcm)
}

// whole makes frames of what the resampler gives; it begins with the silence the filter holds back.
func (c *codec) whole(pcm []int16) []int16 {
	if missing := c.frame - len(c.held) - len(pcm); missing > 0 {
		c.held = append(c.held, silence[:missing]...)
	}
	c.held = append(c.held, pcm...)
	frame := c.held[:c.frame]
	c.held = c.held[c.frame:]
	if cap(c.held) < 2*c.frame {
		c.held = append(make([]int16, 0, 64*c.frame), c.held...)
	}
	return frame
}
