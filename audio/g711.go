package audio

// G.711 companding. Encoding works on the 14 (µ-law) or 13 (A-law) leading bits of a sample, as ITU-T G.191 does, so that a
// table of that many entries is exact.
var (
	muToLinear [256]int16
	muFrom14   [1 << 14]byte
	aToLinear  [256]int16
	aFrom12    [1 << 12]byte
)

// MuLawSilence and ALawSilence are the codes of the sample 0.
const (
	MuLawSilence = 0xFF
	ALawSilence  = 0xD5
)

func init() {
	for i := range muToLinear {
		muToLinear[i] = expandMu(byte(i))
		aToLinear[i] = expandA(byte(i))
	}
	for i := range muFrom14 {
		muFrom14[i] = compressMu(int16(i << 2))
	}
	for i := range aFrom12 {
		aFrom12[i] = compressA(int16(i << 4))
	}
}

func expandMu(code byte) int16 {
	code = ^code
	v := (int(code&0x0F)<<3+0x84)<<(code>>4&7) - 0x84
	if code&0x80 != 0 {
		v = -v
	}
	return int16(v)
}

func compressMu(s int16) byte {
	v, sign := int(s)>>2, byte(0x80)
	if v < 0 {
		v, sign = ^v, 0
	}
	v = min(v+33, 0x1FFF)
	segment := 0
	for v>>(segment+6) != 0 {
		segment++
	}
	return sign | ^byte(segment<<4|v>>(segment+1)&0x0F)&0x7F
}

func expandA(code byte) int16 {
	code ^= 0x55
	v := int(code&0x0F)<<4 + 8
	if segment := code >> 4 & 7; segment > 0 {
		v = (v + 0x100) << (segment - 1)
	}
	if code&0x80 == 0 {
		v = -v
	}
	return int16(v)
}

func compressA(s int16) byte {
	v, sign := int(s)>>4, byte(0x80)
	if v < 0 {
		v, sign = ^v, 0
	}
	if v > 15 {
		segment := 1
		for v > 31 {
			v >>= 1
			segment++
		}
		v += segment<<4 - 16
	}
	return (sign | byte(v)) ^ 0x55
}

// DecodeMuLaw expands G.711 µ-law codes into dst, which must be at least as long as src.
func DecodeMuLaw(dst []int16, src []byte) {
	dst = dst[:len(src)]
	for i, c := range src {
		dst[i] = muToLinear[c]
	}
}

// EncodeMuLaw compresses samples to G.711 µ-law; dst must be at least as long as src.
func EncodeMuLaw(dst []byte, src []int16) {
	dst = dst[:len(src)]
	for i, s := range src {
		dst[i] = muFrom14[uint16(s)>>2]
	}
}

// DecodeALaw expands G.711 A-law codes into dst, which must be at least as long as src.
func DecodeALaw(dst []int16, src []byte) {
	dst = dst[:len(src)]
	for i, c := range src {
		dst[i] = aToLinear[c]
	}
}

// EncodeALaw compresses samples to G.711 A-law; dst must be at least as long as src.
func EncodeALaw(dst []byte, src []int16) {
	dst = dst[:len(src)]
	for i, s := range src {
		dst[i] = aFrom12[uint16(s)>>4]
	}
}
