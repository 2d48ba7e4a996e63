// Package blobstest is an S3-compatible store for tests.
package blobstest

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// s3 is as much of the protocol as a store with one bucket needs.
type s3 struct {
	bucket, key string // key = whose it is

	mu      sync.Mutex
	there   bool // the bucket
	objects map[string]object
	parts   map[string]map[int][]byte // of uploads under way
}

type object struct {
	body []byte
	kind string
	at   time.Time
}

// S3 starts a store for the time of a test and gives the URL of its bucket for blobs.Open.
func S3(t testing.TB) string {
	s := &s3{bucket: "attic", key: "id", there: true}
	return "s3://attic/shelf?endpoint=" + s.start(t) + "&access_key=id&secret_key=secret"
}

// Empty starts a store in which a bucket can be made by the holder of an access key, and gives its address.
func Empty(t testing.TB, bucket, accessKey string) string {
	return (&s3{bucket: bucket, key: accessKey}).start(t)
}

func (s *s3) start(t testing.TB) string {
	s.objects, s.parts = map[string]object{}, map[string]map[int][]byte{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return server.URL
}

func (s *s3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Connection", "close")
	q := r.URL.Query()
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	id := q.Get("uploadId")
	switch {
	case !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+s.key+"/"):
		fail(w, 403, "AccessDenied")
	case bucket != s.bucket:
		fail(w, 404, "NoSuchBucket")
	case key == "" && r.Method == "PUT":
		if s.there {
			fail(w, 409, "BucketAlreadyOwnedByYou")
		}
		s.there = true
	case !s.there && !q.Has("location"):
		fail(w, 404, "NoSuchBucket")
	case q.Has("location"):
		fmt.Fprint(w, `<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`)
	case key == "" && q.Has("list-type"):
		s.list(w, q.Get("prefix"))
	case key == "":
		w.WriteHeader(200)
	case r.Method == "POST" && q.Has("uploads"):
		id = strconv.Itoa(len(s.parts) + 1)
		s.parts[id] = map[int][]byte{0: []byte(r.Header.Get("Content-Type"))}
		fmt.Fprintf(w, `<InitiateMultipartUploadResult><Bucket>%s</Bucket><Key>%s</Key><UploadId>%s</UploadId></InitiateMultipartUploadResult>`,
			bucket, key, id)
	case r.Method == "PUT":
		body, err := payload(r)
		if err != nil {
			fail(w, 400, "IncompleteBody")
			return
		}
		w.Header().Set("ETag", etag(body))
		if n, _ := strconv.Atoi(q.Get("partNumber")); n > 0 {
			s.parts[id][n] = body
			return
		}
		s.objects[key] = object{body, r.Header.Get("Content-Type"), time.Now()}
	case r.Method == "POST" && id != "":
		s.complete(w, r, key, id)
	case r.Method == "DELETE" && id != "":
		delete(s.parts, id)
		w.WriteHeader(204)
	case r.Method == "DELETE":
		delete(s.objects, key)
		w.WriteHeader(204)
	default:
		o, ok := s.objects[key]
		if !ok {
			fail(w, 404, "NoSuchKey")
			return
		}
		w.Header().Set("Content-Type", o.kind)
		w.Header().Set("ETag", etag(o.body))
		http.ServeContent(w, r, "", o.at, bytes.NewReader(o.body))
	}
}

// list answers with all objects at once.
func (s *s3) list(w http.ResponseWriter, prefix string) {
	fmt.Fprintf(w, `<ListBucketResult><Name>%s</Name><IsTruncated>false</IsTruncated>`, s.bucket)
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if strings.HasPrefix(key, prefix) {
			fmt.Fprintf(w, `<Contents><Key>%s</Key><Size>%d</Size></Contents>`, key, len(s.objects[key].body))
		}
	}
	fmt.Fprint(w, `</ListBucketResult>`)
}

func (s *s3) complete(w http.ResponseWriter, r *http.Request, key, id string) {
	var list struct {
		Part []struct{ PartNumber int }
	}
	if err := xml.NewDecoder(r.Body).Decode(&list); err != nil {
		fail(w, 400, "MalformedXML")
		return
	}
	var body []byte
	for _, p := range list.Part {
		body = append(body, s.parts[id][p.PartNumber]...)
	}
	s.objects[key] = object{body, string(s.parts[id][0]), time.Now()}
	delete(s.parts, id)
	fmt.Fprintf(w, `<CompleteMultipartUploadResult><Bucket>%s</Bucket><Key>%s</Key><ETag>%s</ETag></CompleteMultipartUploadResult>`,
		s.bucket, key, etag(body))
}

// payload is the body without the signed chunks around it.
func payload(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	in := bufio.NewReader(r.Body)
	var out []byte
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if err != nil || n == 0 {
			return out, err
		}
		out = slices.Grow(out, int(n))
		if _, err := io.ReadFull(in, out[len(out):len(out)+int(n)]); err != nil {
			return nil, err
		}
		out = out[:len(out)+int(n)]
		if _, err := in.Discard(2); err != nil {
			return nil, err
		}
	}
}

func etag(b []byte) string {
	sum := md5.Sum(b)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<Error><Code>%s</Code><Message>%s</Message></Error>`, code, code)
}
