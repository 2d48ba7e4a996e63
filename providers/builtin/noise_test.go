package builtin

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"parley/audio"
	"parley/providers/providertest"
	"parley/voice"
)

// noises are what callers have around them.
func noises(t testing.TB, n int) map[string][]int16 {
	random := rand.New(rand.NewPCG(1, 7))
	pink, street, babble := make([]int16, n), make([]int16, n), make([]int32, n)
	var rows [12]float64
	y := 0.0
	for i := range n {
		sum := 0.0
		for r := range rows {
			if i%(1<<r) == 0 {
				rows[r] = random.NormFloat64()
			}
			sum += rows[r]
		}
		pink[i] = audio.Clip(int32(1200 * sum))
		y += 0.15 * (random.NormFloat64() - y)
		street[i] = audio.Clip(int32(9000 * (0.75 + 0.25*math.Sin(2*math.Pi*float64(i)/32000)) * y))
	}
	for i, who := range []string{"rms", "awb", "slt", "kal16", "awb", "rms"} {
		for at := -random.IntN(8000); at < n; {
			u := overPhone(t, practice[random.IntN(len(practice))], who, 8000).PCM
			for j, v := range u {
				if k := at + j; k >= 0 && k < n {
					babble[k] += int32(v) / 3
				}
			}
			at += len(u)
		}
		_ = i
	}
	talk := make([]int16, n)
	for i, v := range babble {
		talk[i] = audio.Clip(v)
	}
	return map[string][]int16{"pink": pink, "street": street, "babble": talk}
}

// BenchmarkNoisyListening reports word errors in noise, with and without noise suppression before the recogniser.
func BenchmarkNoisyListening(b *testing.B) {
	l := telephone8k
	if err := engines.Warm(b.Context(), l); err != nil {
		b.Fatal(err)
	}
	around := noises(b, 20*8000)
	for _, kind := range []string{"clean", "pink", "street", "babble"} {
		for _, db := range []float64{15, 10, 5} {
			if kind == "clean" && db < 15 {
				continue
			}
			for _, clean := range []bool{false, true} {
				b.Run(strings.Join([]string{kind, map[float64]string{15: "15", 10: "10", 5: "5"}[db], map[bool]string{false: "as-it-is", true: "suppressed"}[clean]}, "/"), func(b *testing.B) {
					wrong, all := 0, 0
					for b.Loop() {
						for i, text := range callers {
							u := overPhone(b, text, []string{"rms", "awb", "slt", "kal16"}[i%4], 8000)
							if kind != "clean" {
								u.PCM = slices.Concat(make([]int16, 8000), u.PCM)
								n := slices.Clone(around[kind][:len(u.PCM)])
								audio.NewGain(audio.Level(u.PCM[8000:]) - db - audio.Level(n)).Apply(n)
								audio.Mix(u.PCM, n)
							}
							wrong += noisyErrors(b, l, u, clean)
							all += len(strings.Fields(u.Words))
						}
					}
					b.ReportMetric(100*float64(wrong)/float64(all), "%wrong-words")
				})
			}
		}
	}
}

func noisyErrors(b *testing.B, l voice.Transcription, u providertest.Utterance, clean bool) int {
	tr, err := engines.Transcriber(b.Context(), l)
	if err != nil {
		b.Fatal(err)
	}
	defer tr.Close()
	d := audio.NewDenoiser(8000)
	for pcm := range slices.Chunk(u.PCM, 160) {
		if clean {
			d.Process(pcm)
		}
		if err := tr.Write(pcm); err != nil {
			b.Fatal(err)
		}
	}
	drained(tr)
	return providertest.Errors(u.Words, finalText(b, tr))
}
