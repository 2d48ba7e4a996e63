package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/lines/media"
)

// planeMetrics tells how the media plane keeps up.
type planeMetrics struct{ plane *media.Plane }

var (
	mediaStreams = prometheus.NewDesc("parley_media_streams", "Live audio streams.", nil, nil)
	mediaSkipped = prometheus.NewDesc("parley_media_skipped_frames_total", "Frames of 20 ms that were not caught up with after a stall.", nil,
		nil)
	mediaLate = prometheus.NewDesc("parley_media_late_seconds", "Worst lateness of the media plane since the last scrape.", nil, nil)
)

// Describe implements prometheus.Collector.
func (planeMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- mediaStreams
	to <- mediaSkipped
	to <- mediaLate
}

// Collect implements prometheus.Collector.
func (m planeMetrics) Collect(to chan<- prometheus.Metric) {
	l := m.plane.Load()
	to <- prometheus.MustNewConstMetric(mediaStreams, prometheus.GaugeValue, float64(l.Streams))
	to <- prometheus.MustNewConstMetric(mediaSkipped, prometheus.CounterValue, float64(l.Skipped))
	to <- prometheus.MustNewConstMetric(mediaLate, prometheus.GaugeValue, l.Late.Seconds())
}
