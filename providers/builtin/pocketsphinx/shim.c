/* The door between Go and pocketsphinx: one decoder per module instance, strings as NUL-terminated bytes in memory. */
#include <stdlib.h>
#include <string.h>

#include <pocketsphinx.h>
#include <sphinxbase/cmn.h>
#include <sphinxbase/err.h>
#include <sphinxbase/ngram_model.h>
#include "pocketsphinx_internal.h"

#define EXPORT(name) __attribute__((export_name(name)))

static ps_decoder_t *ps;
static ngram_model_t *generic;

EXPORT("alloc") void *shim_alloc(int n) { return malloc(n); }
EXPORT("release") void shim_release(void *p) { free(p); }

/* open makes the decoder from n arguments that follow each other in memory, each ended by NUL. */
EXPORT("open") int shim_open(char *args, int n)
{
    char **argv = calloc(n + 1, sizeof *argv);
    for (int i = 0; i < n; i++, args += strlen(args) + 1)
        argv[i] = strdup(args);
    err_set_logfp(NULL);
    cmd_ln_t *config = cmd_ln_parse_r(NULL, ps_args(), n, argv, TRUE);
    if (config == NULL)
        return -1;
    ps_default_search_args(config);
    ps = ps_init(config);
    return ps == NULL ? -2 : 0;
}

/* generic loads the language model that every search is mixed with. */
EXPORT("generic") int shim_generic(char *file)
{
    generic = ngram_model_read(ps_get_config(ps), file, NGRAM_AUTO, ps_get_logmath(ps));
    return generic == NULL ? -1 : 0;
}

/* language searches with the model in the file, which has the given share, and the generic one, which has the rest. */
EXPORT("language") int shim_language(char *file, float share)
{
    static char *names[] = {"generic", "own"};
    float32 weights[] = {1 - share, share};
    cmd_ln_t *config = ps_get_config(ps);
    ngram_model_t *own = ngram_model_read(config, file, NGRAM_AUTO, ps_get_logmath(ps));
    if (own == NULL)
        return -1;
    ngram_model_t *parts[] = {generic, own};
    ngram_model_t *mix = ngram_model_set_init(config, parts, names, weights, 2);
    if (mix == NULL || ngram_model_set_interp(mix, NULL, NULL) == NULL)
        return -2;
    if (ps_set_lm(ps, "call", mix) != 0 || ps_set_search(ps, "call") != 0)
        return -3;
    return 0;
}

EXPORT("word") int shim_word(char *word, char *phones, int last) { return ps_add_word(ps, word, phones, last); }
EXPORT("begin") int shim_begin(void) { return ps_start_utt(ps); }
EXPORT("hear") int shim_hear(int16 *pcm, int n) { return ps_process_raw(ps, pcm, n, FALSE, FALSE); }
EXPORT("end") int shim_end(void) { return ps_end_utt(ps); }
EXPORT("speech") int shim_speech(void) { return ps_get_in_speech(ps); }
EXPORT("frames") int shim_frames(void) { return ps_get_n_frames(ps); }

/* text is what was recognised since begin, NULL when nothing was. */
EXPORT("text") char const *shim_text(void)
{
    int32 score;
    return ps_get_hyp(ps, &score);
}

/* segments writes word, frames and posterior of the recognised words, one line each. */
EXPORT("segments") char const *shim_segments(void)
{
    static char buf[16384];
    int n = 0, from, to;
    int32 ac, lm, back, prob;
    for (ps_seg_t *s = ps_seg_iter(ps); s != NULL; s = ps_seg_next(s)) {
        ps_seg_frames(s, &from, &to);
        prob = ps_seg_prob(s, &ac, &lm, &back);
        int k = snprintf(buf + n, sizeof buf - n, "%s %d %d %d\n", ps_seg_word(s), from, to,
                         (int)(1000 * logmath_exp(ps_get_logmath(ps), prob)));
        if (k < 0 || k >= (int)sizeof buf - n) {
            ps_seg_free(s);
            break;
        }
        n += k;
    }
    buf[n] = 0;
    return buf;
}

/* cepstra is where the running mean of the cepstra lies: means, sums (13 floats each) and the count of frames. */
EXPORT("cepstral_mean") float *shim_cepstral_mean(void) { return ps->acmod->fcb->cmn_struct->cmn_mean; }
EXPORT("cepstral_sum") float *shim_cepstral_sum(void) { return ps->acmod->fcb->cmn_struct->sum; }
EXPORT("cepstral_frames") int *shim_cepstral_frames(void) { return &ps->acmod->fcb->cmn_struct->nframe; }

static inline void put(char *to, const char *from, size_t width)
{
    if (width == sizeof(int))
        *(int *)to = *(const int *)from;
    else
        memcpy(to, from, width);
}

/* merge_runs joins two sorted neighbours; the host is told each time it is entered. */
__attribute__((noinline)) void merge_runs(char *to, char *from, size_t left, size_t n, size_t width,
                                          int (*compare)(const void *, const void *))
{
    size_t i = 0, j = left;
    for (; i < left || j < n; to += width) {
        size_t *k = j >= n || (i < left && compare(from + i * width, from + j * width) <= 0) ? &i : &j;
        put(to, from + (*k)++ * width, width);
    }
}

/* qsort as a merge sort. The C library's smoothsort compares five times as often, and the 72 thousand words of the
 * generic language model are sorted for every conversation. */
void qsort(void *base, size_t n, size_t width, int (*compare)(const void *, const void *))
{
    enum { SHORT = 16 };
    char *room = malloc((n + 1) * width), *from = base, *to = room;
    for (size_t at = 0; at < n; at += SHORT) { /* short runs by insertion */
        for (size_t i = at + 1; i < n && i < at + SHORT; i++) {
            size_t j = i;
            put(room, from + i * width, width);
            for (; j > at && compare(from + (j - 1) * width, room) > 0; j--)
                put(from + j * width, from + (j - 1) * width, width);
            put(from + j * width, room, width);
        }
    }
    for (size_t run = SHORT; run < n; run *= 2) {
        for (size_t at = 0; at < n; at += 2 * run) {
            size_t left = n - at < run ? n - at : run, both = n - at < 2 * run ? n - at : 2 * run;
            merge_runs(to + at * width, from + at * width, left, both, width, compare);
        }
        char *done = to;
        to = from;
        from = done;
    }
    if (from != base)
        memcpy(base, from, n * width);
    free(room);
}
