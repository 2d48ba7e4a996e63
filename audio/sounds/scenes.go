package sounds

import "math"

// office: air conditioning, keyboards, colleagues behind a wall, now and then a telephone.
func office(t *tape) {
	t.lay(1, t.hiss(60, 320, true))
	t.lay(0.5, t.hiss(600, 2800, true))
	t.talk(3, 0.5, 900)
	for at := 0.5; at < t.seconds()-1; at += t.between(0.8, 3) {
		where, strokes := t.between(0.5, 1.6), int(t.between(4, 18))
		for range strokes {
			t.put(at, where*t.between(0.6, 1.2), t.key())
			at += t.between(0.09, 0.26)
		}
	}
	for i := range 2 {
		for k := range 20 { // a telephone two rooms away
			t.put(6+3*float64(i)+0.06*float64(k), 0.35, bell(t.glide([]float64{980, 1230}[k%2], []float64{980, 1230}[k%2], 0.06)))
		}
	}
}

// key is one stroke on a keyboard.
func (t *tape) key() []float64 {
	click := t.decay(through(t.noise(0.05), bandpass(t.rate, t.between(1700, 3000), 1.2)), 0.0005, 0.006)
	for i, v := range t.decay(t.glide(210, 170, 0.05), 0.001, 0.012) {
		click[i] = 2*click[i] + 0.5*v
	}
	return click
}

// city: traffic far away, cars that pass, steps, a horn.
func city(t *tape) {
	t.lay(1, t.swell(t.hiss(40, 260, true), 0.6, 6))
	t.lay(0.2, t.hiss(500, 2000, true))
	for at := 0.0; at < t.seconds()-2; at += t.between(2.2, 3.6) {
		t.put(at, t.between(0.7, 1.4), t.car(t.between(2.5, 4)))
	}
	for k := range 9 { // somebody walks by
		step := t.decay(through(t.noise(0.08), bandpass(t.rate, 900, 1)), 0.001, 0.02)
		t.put(3+0.55*float64(k), 1.6*math.Exp(-math.Pow(float64(k)-4, 2)/8), step)
	}
	for _, at := range []float64{15, 15.4} {
		for _, hz := range []float64{415, 522, 1245} {
			t.put(at, 0.18*415/hz, bell(t.glide(hz, hz*0.985, 0.32)))
		}
	}
	t.talk(2, 0.25, 1500)
}

// car passes: tyres and an engine whose tone falls.
func (t *tape) car(seconds float64) []float64 {
	sound := through(t.noise(seconds), bandpass(t.rate, t.between(500, 900), 0.6), lowpass(t.rate, 1800))
	hz := t.between(70, 110)
	for harmonic := 1.0; harmonic < 8; harmonic++ {
		for i, v := range t.glide(hz*harmonic*1.05, hz*harmonic*0.93, seconds) {
			sound[min(i, len(sound)-1)] += 0.25 * v / harmonic
		}
	}
	return bell(bell(sound))
}

// forest: wind in the leaves, and birds.
func forest(t *tape) {
	t.lay(1, t.swell(t.hiss(150, 900, true), 0.45, 7))
	t.lay(0.45, t.swell(t.hiss(1500, 3600, false), 0.3, 5))
	t.birds(9, 2300, 3300, 0.9)
	t.birds(5, 1700, 2400, 0.7)
	for i := range 4 { // a cuckoo
		t.put(8+1.5*float64(i), 0.7, bell(t.glide(665, 655, 0.22)))
		t.put(8.42+1.5*float64(i), 0.7, bell(t.glide(530, 522, 0.32)))
	}
}

// birds sing a few strophes each: a bird repeats its own.
func (t *tape) birds(strophes int, low, high, gain float64) {
	type note struct{ from, to, long, pause float64 }
	song := make([]note, int(t.between(4, 9)))
	for i := range song {
		song[i] = note{t.between(low, high), t.between(low, high), t.between(0.05, 0.16), t.between(0.02, 0.09)}
	}
	for range strophes {
		at, far := t.between(0, t.seconds()), t.between(0.4, 1)
		for _, n := range song {
			t.put(at, gain*far, bell(t.glide(n.from, n.to, n.long)))
			at += n.long + n.pause
		}
	}
}

// crowdedRoom: many people talk at once, glasses.
func crowdedRoom(t *tape) {
	t.lay(0.5, t.hiss(100, 800, true))
	t.talk(9, 1.0, 1400)
	t.talk(5, 1.5, 3000)
	t.clinks(7, 0.6)
}

// cafe: a few tables, cups, the steam of the machine.
func cafe(t *tape) {
	t.lay(0.7, t.hiss(80, 600, true))
	t.talk(6, 1.1, 2200)
	t.clinks(14, 1.0)
	steam := bell(through(t.noise(2.6), highpass(t.rate, 1400), lowpass(t.rate, 3600)))
	t.put(11, 0.8, steam)
}

// clinks are cups and glasses: a few bars that ring out of tune with each other.
func (t *tape) clinks(n int, gain float64) {
	for range n {
		at, hz := t.between(0, t.seconds()), t.between(1300, 2100)
		for i, ratio := range []float64{1, 1.51, 1.83} {
			t.put(at, gain*t.between(0.5, 1)/float64(i+1), t.decay(t.glide(hz*ratio, hz*ratio, 0.35), 0.0005, 0.07/float64(i+1)))
		}
	}
}

// nature: a brook, crickets, a bird.
func nature(t *tape) {
	t.lay(0.7, t.swell(t.hiss(250, 1600, true), 0.8, 3))
	for at := 0.0; at < t.seconds(); at += t.between(0.002, 0.02) { // bubbles
		hz, long := t.between(420, 1700), t.between(0.02, 0.07)
		t.put(at, t.between(0.2, 1), t.decay(t.glide(hz, hz*1.15, long), 0.002, long/3))
	}
	for at := 0.0; at < t.seconds()-0.5; at += 0.72 {
		for k := range 3 {
			t.put(at+0.045*float64(k), 0.35, bell(t.glide(3150, 3150, 0.03)))
		}
	}
	t.birds(4, 2100, 3000, 0.8)
}

func ringback(t *tape) {
	tone := t.glide(425, 425, 1)
	edge := int(0.005 * t.rate)
	for i := range edge {
		tone[i] *= float64(i) / float64(edge)
		tone[len(tone)-1-i] *= float64(i) / float64(edge)
	}
	t.put(0, 1, tone)
}

func comfortNoise(t *tape) { t.lay(1, t.hiss(100, 3000, true)) }
