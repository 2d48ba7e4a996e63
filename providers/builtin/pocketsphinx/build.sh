#!/bin/sh
# Builds pocketsphinx.wasm from Debian's source packages with Debian's clang-16, lld-16, wasi-libc and
# libclang-rt-16-dev-wasm32. Usage: ./build.sh [folder with the unpacked sphinxbase and pocketsphinx sources]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
src=${1:-}
if [ -z "$src" ]; then
    src=$work/src
    mkdir -p "$src" "$work/lists/partial" "$work/sources"
    cat > "$work/sources/src.sources" <<END
Types: deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
    apt="-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$work/sources -o Dir::State::lists=$work/lists"
    cd "$src"
    apt-get $apt -qq update
    apt-get $apt -qq source --download-only sphinxbase=0.8+5prealpha+1-16 pocketsphinx=0.8+5prealpha+1-15
    for p in sphinxbase pocketsphinx; do dpkg-source --no-check -x $p*.dsc "$src/$p"; done
fi

b=$src/sphinxbase
p=$src/pocketsphinx
cat > "$work/config.h" <<'END'
#define HAVE_UNISTD_H 1
#define HAVE_LONG_LONG 1
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
END
cp "$work/config.h" "$work/sphinx_config.h"
cat > "$work/setjmp.h" <<'END'
#include <stdlib.h>
typedef int jmp_buf[1];
#define setjmp(b) 0
#define longjmp(b, n) abort()
END
# WASI has no processes and no memory-mapped files: profiling, pipes and mmap are left out.
cat > "$work/none.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sphinxbase/mmio.h>
#include <sphinxbase/profile.h>
FILE *popen(const char *c, const char *m) { return NULL; }
int pclose(FILE *f) { return -1; }
mmio_file_t *mmio_file_read(const char *name) { return NULL; }
void mmio_file_unmap(mmio_file_t *m) {}
void *mmio_file_ptr(mmio_file_t *m) { return NULL; }
void ptmr_init(ptmr_t *t) { *t = (ptmr_t){0}; }
void ptmr_start(ptmr_t *t) {}
void ptmr_stop(ptmr_t *t) {}
void ptmr_reset(ptmr_t *t) {}
END
files=$(find "$b/src/libsphinxbase" "$p/src/libpocketsphinx" -name '*.c' \
    ! -name profile.c ! -name sbthread.c ! -name mmio.c ! -name fixlog.c | LC_ALL=C sort)
PATH=/usr/bin:/bin clang-16 --target=wasm32-wasi -mexec-model=reactor -O3 -msimd128 -fno-math-errno -flto \
    -ffile-prefix-map="$src"=. -ffile-prefix-map="$work"=. -ffile-prefix-map="$here"=. -DHAVE_CONFIG_H -DMODELDIR='""' -w \
    -I"$work" -I"$b/include" -I"$b/src/libsphinxbase/fe" -I"$b/src/libsphinxbase/lm" -I"$p/include" -I"$p/src/libpocketsphinx" \
    $files "$work/none.c" "$here/shim.c" \
    -Wl,--strip-debug -Wl,--gc-sections -Wl,-z,stack-size=1048576 -o "$here/pocketsphinx.wasm"
ls -l "$here/pocketsphinx.wasm"
