package builtin

import (
	"bytes"
	"io/fs"
	"time"
)

// files is a flat read-only folder in memory, from which a module reads its models.
type files map[string][]byte

func (f files) Open(name string) (fs.File, error) {
	if name == "." {
		return &openFile{info: fileInfo{name, 0, fs.ModeDir | 0o555}}, nil
	}
	data, ok := f[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &openFile{*bytes.NewReader(data), fileInfo{name, int64(len(data)), 0o444}}, nil
}

type openFile struct {
	bytes.Reader
	info fileInfo
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFile) Close() error               { return nil }

type fileInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i fileInfo) Name() string      { return i.name }
func (i fileInfo) Size() int64       { return i.size }
func (i fileInfo) Mode() fs.FileMode { return i.mode }
func (fileInfo) ModTime() time.Time  { return time.Time{} }
func (i fileInfo) IsDir() bool       { return i.mode.IsDir() }
func (fileInfo) Sys() any            { return nil }
