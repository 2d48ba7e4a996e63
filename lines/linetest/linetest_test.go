package linetest_test

import (
	"net/netip"
	"testing"

	"go.uber.org/goleak"

	"parley/lines/linetest"
	"parley/lines/media"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The media plane itself, without signalling.
func TestMedia(t *testing.T) {
	for _, codec := range []media.Codec{media.PCMU, media.G722} {
		t.Run(codec.String(), func(t *testing.T) {
			t.Parallel()
			plane, err := media.New(media.Options{PortMin: 38000, PortMax: 38999})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(plane.Close)
			host := netip.MustParseAddr("127.0.0.1")
			var port [2]*media.Port
			var stream [2]*media.Stream
			for i := range port {
				if port[i], err = plane.Allocate(host); err != nil {
					t.Fatal(err)
				}
			}
			for i := range stream {
				stream[i], err = plane.Open(port[i], media.Config{
					Codec: codec, DTMFPayload: 101, Remote: netip.AddrPortFrom(host, uint16(port[1-i].LocalPort())),
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			linetest.Streams(t, stream[0], stream[1], linetest.Options{})
			stream[0].Close()
			linetest.Ended(t, stream[0])
		})
	}
}
