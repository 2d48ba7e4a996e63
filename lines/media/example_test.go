package media_test

import (
	"context"
	"fmt"
	"net/netip"

	"parley/audio"
	"parley/lines/media"
)

// Two streams on loopback: one plays a tone, the other hears it.
func Example() {
	plane, err := media.New(media.Options{PortMin: 34000, PortMax: 34999})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer plane.Close()
	host := netip.MustParseAddr("127.0.0.1")
	ours, _ := plane.Allocate(host) // its LocalPort goes into the SDP
	theirs, _ := plane.Allocate(host)
	caller, _ := plane.Open(theirs, media.Config{Codec: media.PCMU, Remote: netip.AddrPortFrom(host, uint16(ours.LocalPort()))})
	stream, _ := plane.Open(ours, media.Config{Codec: media.PCMU, Remote: netip.AddrPortFrom(host, uint16(theirs.LocalPort()))})

	tone := make([]int16, 8000)
	audio.GenSignal(tone, 8000, 0, audio.Tone{Hz: 440, Level: 0.3})
	_, _ = stream.Play(context.Background(), tone)
	for buf := make([]int16, 800); ; {
		for n := 0; n < len(buf); {
			k, err := caller.Hear(context.Background(), buf[n:])
			if err != nil {
				return
			}
			n += k
		}
		if audio.FindSignal(buf, 8000, 440)[0].Level > 0.25 {
			fmt.Println("heard 440 Hz")
			return
		}
	}
	// Output: heard 440 Hz
}
