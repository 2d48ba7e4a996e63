package messaging

import (
	"strings"
	"unicode/utf16"
)

// The GSM 7-bit default alphabet and its extension table, whose characters take two places (3GPP TS 23.038 §6.2.1).
const (
	gsmBasic    = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsmExtended = "\f^{}\\[~]|€"
)

// Segments is how many SMS a text takes: 160 places in one or 153 in each of several in the basic alphabet, otherwise
// 70 or 67 UTF-16 units. A character of two places is never torn apart.
func Segments(text string) int {
	var widths []int
	one, many := 160, 153
	for _, r := range text {
		switch {
		case strings.ContainsRune(gsmBasic, r):
			widths = append(widths, 1)
		case strings.ContainsRune(gsmExtended, r):
			widths = append(widths, 2)
		default:
			one, many, widths = 70, 67, nil
			for _, r := range text {
				widths = append(widths, utf16.RuneLen(r))
			}
			return pack(widths, one, many)
		}
	}
	return pack(widths, one, many)
}

func pack(widths []int, one, many int) int {
	total := 0
	for _, w := range widths {
		total += w
	}
	if total <= one {
		return 1
	}
	n, used := 1, 0
	for _, w := range widths {
		if used+w > many {
			n, used = n+1, 0
		}
		used += w
	}
	return n
}
