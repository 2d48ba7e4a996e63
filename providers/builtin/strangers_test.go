package builtin

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"parley/assets"
	"parley/audio"
	"parley/audio/opus"
)

var say = flag.Bool("say", false, "have the held-out answers said again: needs espeak-ng, festival, festvox-kdlpc16k, festvox-us-slt-hts, sox and opus-tools")

const kept = "testdata/strangers.zip"

// strangerSays is what was said in a voice that is not built in, at 16 kHz.
func strangerSays(t testing.TB, text string, c condition) (audio.Frame, error) {
	files, err := keptSpeech()
	if err != nil {
		return audio.Frame{}, err
	}
	f, err := files.Open(c.file(text))
	if err != nil {
		return audio.Frame{}, err
	}
	defer f.Close()
	return opusDecoder().ReadOgg(t.Context(), f, 20*16000)
}

var keptSpeech = sync.OnceValues(func() (*zip.ReadCloser, error) { return zip.OpenReader(kept) })

var opusDecoder = sync.OnceValue(func() *opus.Library {
	return opus.New(func() ([]byte, error) { return assets.Read("opus.wasm") })
})

// file names what is said in one way.
func (c condition) file(text string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %.2f %s", c.who, c.speed, text))
	return fmt.Sprintf("%x.ogg", sum[:6])
}

// Everything that strangers say is kept.
func TestStrangersAreKept(t *testing.T) {
	if *say {
		if err := keepSpeech(t); err != nil {
			t.Fatal(err)
		}
	}
	files, err := keptSpeech()
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{}
	for i, a := range heldOut {
		for _, s := range a.sounds {
			if s.say == "" {
				continue
			}
			name := strangers[i%len(strangers)].file(s.say)
			wanted[name] = true
			if f, err := files.Open(name); err != nil {
				t.Errorf("%q is not there: say it with -say", s.say)
			} else if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if len(files.File) != len(wanted) {
		t.Errorf("%d files of %d are used", len(wanted), len(files.File))
	}
}

func keepSpeech(t *testing.T) error {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	done := map[string]bool{}
	for i, a := range heldOut {
		c := strangers[i%len(strangers)]
		for _, s := range a.sounds {
			name := c.file(s.say)
			if s.say == "" || done[name] {
				continue
			}
			done[name] = true
			ogg, err := c.speak(t.TempDir(), s.say)
			if err != nil {
				return fmt.Errorf("%s: %q: %w", c.who, s.say, err)
			}
			f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err == nil {
				_, err = f.Write(ogg)
			}
			if err != nil {
				return err
			}
		}
	}
	return errors.Join(w.Close(), os.WriteFile(kept, buf.Bytes(), 0o644))
}

// speak has a text said by a program, without the silence around it, as loud as the built-in voices, as Ogg Opus.
func (c condition) speak(dir, text string) ([]byte, error) {
	wav, trimmed := filepath.Join(dir, "said.wav"), filepath.Join(dir, "trimmed.wav")
	program, who, _ := strings.Cut(c.who, " ")
	who, child := strings.CutSuffix(who, " child")
	var err error
	if program == "espeak" {
		err = run(nil, "espeak-ng", "-v", language(text, who), "-s", strconv.Itoa(int(160*c.speed)), "-w", wav, text)
	} else {
		err = run(strings.NewReader(text), "text2wave", "-eval", "(voice_"+who+")", "-eval", fmt.Sprintf("(Parameter.set 'Duration_Stretch %.2f)", 1/c.speed), "-o", wav)
	}
	if err != nil {
		return nil, err
	}
	edit := []string{wav, "-r", "16000", "-c", "1", trimmed, "silence", "1", "0.01", "0.5%", "reverse", "silence", "1", "0.01", "0.5%", "reverse", "gain", "-n", "-6"}
	if child {
		edit = append(edit, "pitch", "450")
	}
	if err := run(nil, "sox", edit...); err != nil {
		return nil, err
	}
	ogg := filepath.Join(dir, "said.ogg")
	if err := run(nil, "opusenc", "--quiet", "--bitrate", "16", "--comp", "10", "--serial", "1", "--discard-comments", "--padding", "0", trimmed, ogg); err != nil {
		return nil, err
	}
	return os.ReadFile(ogg)
}

// language is the voice of a text in another language than the voice's own.
func language(text, who string) string {
	variant := ""
	if i := strings.Index(who, "+"); i > 0 {
		variant = who[i:]
	}
	switch {
	case strings.Contains(text, "guten") || strings.Contains(text, "Guten"):
		return "de" + variant
	case strings.Contains(text, "bonjour") || strings.Contains(text, "Bonjour"):
		return "fr-fr" + variant
	}
	return who
}

func run(in io.Reader, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdin = in
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}
