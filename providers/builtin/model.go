package builtin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"parley/assets"
)

// baseWords is how many of the most frequent words of English the transcriber always knows, beside those of the phrases
// and of the conversation's own sentences. Each further thousand costs time and, past here, helps no more.
const baseWords = 8000

// band is how the transcriber hears at one sample rate.
type band struct {
	rate  int
	feats string // feature parameters that differ from the model's own
	mean  string // where the running mean of the cepstra begins, measured on speech of this band
}

// bands lists what audio may be written in: wideband and telephone.
func bands(rate int) (band, bool) {
	switch rate {
	case 16000:
		return band{16000, "-nfilt 25\n-upperf 6800\n", "56,7,7,23,0,-1,4,-7,-3,-3,9,1,3"}, true
	case 8000:
		return band{8000, fmt.Sprintf("-nfilt %d\n-upperf %.2f\n", narrowBands, narrowTop()), "45,1,12,0,2,3,-14,6,8,-1,2,-6,11"}, true
	}
	return band{}, false
}

// modelFiles are the files a decoder of this band loads.
func (b band) modelFiles(base []string) (files, error) {
	f := files{}
	for _, name := range []string{"mdef", "means", "variances", "sendump", "transition_matrices", "noisedict", "lm.bin", "dict"} {
		data, err := assets.Read("en-us/" + name)
		if err != nil {
			return nil, err
		}
		f[name] = data
	}
	if b.rate == 8000 {
		var err error
		if f["means"], f["variances"], err = narrow(f["means"], f["variances"]); err != nil {
			return nil, err
		}
	}
	// What stands in feat.params wins over arguments, so it is written anew.
	f["feat.params"] = []byte("-lowerf 130\n-transform dct\n-lifter 22\n-feat 1s_c_d_dd\n-svspec 0-12/13-25/26-38\n" +
		"-agc none\n-cmn current\n-varnorm no\n-model ptm\n" + b.feats + "-cmninit " + b.mean + "\n")
	frequent, err := frequentWords(f["lm.bin"], baseWords)
	if err != nil {
		return nil, err
	}
	f["dict"] = dictionary(f["dict"]).only(append(frequent, base...))
	return f, nil
}

// dictionary is the text of a pronunciation dictionary: a word and its phones on each line, variants as word(2).
type dictionary []byte

// only keeps the lines of the given words.
func (d dictionary) only(words []string) []byte {
	want := map[string]bool{}
	for _, w := range words {
		want[w] = true
	}
	var kept []byte
	for line := range bytes.Lines(d) {
		word, _, _ := bytes.Cut(line, []byte(" "))
		word, _, _ = bytes.Cut(word, []byte("("))
		if want[string(word)] {
			kept = append(kept, line...)
		}
	}
	return kept
}

// phones finds the pronunciations of words; a word it does not have is not in the result.
func (d dictionary) phones(words []string) map[string][]string {
	found := map[string][]string{}
	for line := range bytes.Lines(d.only(words)) {
		word, said, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		word, _, _ = strings.Cut(word, "(")
		found[word] = append(found[word], said)
	}
	return found
}

// frequentWords reads the n most probable words from a language model in pocketsphinx's trie format: a title, the order,
// the counts per order, tables of quantised values, the unigrams, the longer n-grams, and the words in the unigrams' order.
func frequentWords(lm []byte, n int) ([]string, error) {
	const title = "Trie Language Model"
	const tables = 3 * (1 << 16) * 4 // bigrams have two, trigrams one, of 65536 floats
	bad := errors.New("en-us/lm.bin is no trigram model")
	head := len(title) + 1 + 3*4 + 4
	if !bytes.HasPrefix(lm, []byte(title+"\x03")) || len(lm) < head {
		return nil, bad
	}
	count := int(binary.LittleEndian.Uint32(lm[len(title)+1:]))
	unigrams := head + tables
	if len(lm) < unigrams+12*count {
		return nil, bad
	}
	words := make([]string, count)
	end := len(lm) - 1 // the NUL of the last word
	for i := count - 1; i >= 0; i-- {
		begin := bytes.LastIndexByte(lm[:end], 0) + 1
		if i == 0 {
			begin = max(begin, end-64) // the first word follows a length, which may end in no NUL
			for begin < end && (lm[begin] < ' ' || lm[begin] > '~') {
				begin++
			}
		}
		if begin > end || begin < unigrams {
			return nil, bad
		}
		words[i] = string(lm[begin:end])
		end = begin - 1
	}
	order := make([]int, count)
	for i := range order {
		order[i] = i
	}
	prob := func(i int) float32 {
		return math.Float32frombits(binary.LittleEndian.Uint32(lm[unigrams+12*i:]))
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch pa, pb := prob(a), prob(b); {
		case pa > pb:
			return -1
		case pa < pb:
			return 1
		}
		return 0
	})
	top := make([]string, 0, n)
	for _, i := range order[:min(n, count)] {
		top = append(top, words[i])
	}
	return top, nil
}
