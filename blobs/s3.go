package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket is a Store in an S3 bucket.
type bucket struct {
	client *minio.Client
	name   string
	prefix string
}

// openS3 reads s3://bucket/prefix?endpoint=…&region=…&access_key=…&secret_key=…&create=true
// The endpoint is HOST:PORT or an http or https address, Amazon's when left out. Without keys they are those of the
// environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), the AWS files or the machine's role. With create, a bucket that is
// not there is made.
func openS3(ctx context.Context, u *url.URL) (Store, error) {
	q := u.Query()
	endpoint, secure := q.Get("endpoint"), true
	if endpoint == "" {
		endpoint = "s3.amazonaws.com"
	}
	if rest, ok := strings.CutPrefix(endpoint, "http://"); ok {
		endpoint, secure = rest, false
	}
	endpoint = strings.TrimSuffix(strings.TrimPrefix(endpoint, "https://"), "/")
	keys := credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{},
		&credentials.IAM{}})
	if id := q.Get("access_key"); id != "" {
		keys = credentials.NewStaticV4(id, q.Get("secret_key"), "")
	}
	client, err := minio.New(endpoint, &minio.Options{Creds: keys, Secure: secure, Region: q.Get("region")})
	if err != nil {
		return nil, fmt.Errorf("blobs.url: %w", err)
	}
	b := bucket{client: client, name: u.Host, prefix: strings.Trim(u.Path, "/")}
	if b.prefix != "" {
		b.prefix += "/"
	}
	there, err := client.BucketExists(ctx, b.name)
	if err == nil && !there && q.Get("create") == "true" {
		if err = client.MakeBucket(ctx, b.name,
			minio.MakeBucketOptions{Region: q.Get("region")}); err != nil { // another process may have made it
			if exists, _ := client.BucketExists(ctx, b.name); exists {
				err = nil
			}
		}
		there = err == nil
	}
	if err != nil {
		return nil, fmt.Errorf("blobs.url: bucket %s at %s: %w", b.name, endpoint, err)
	}
	if !there {
		return nil, fmt.Errorf("blobs.url: there is no bucket %s at %s", b.name, endpoint)
	}
	return b, nil
}

// partSize bounds the memory of one upload whose length is not known; 10,000 parts make 80 GB.
const partSize = 8 << 20

func (b bucket) Put(ctx context.Context, key string, r io.Reader, contentType string) error {
	if err := check(key); err != nil {
		return err
	}
	if contentType == "" {
		contentType = byName(key)
	}
	_, err := b.client.PutObject(ctx, b.name, b.prefix+key, r, -1, minio.PutObjectOptions{ContentType: contentType, PartSize: partSize})
	return err
}

func (b bucket) Open(ctx context.Context, key string) (io.ReadSeekCloser, Info, error) {
	if check(key) != nil {
		return nil, Info{}, ErrNone
	}
	o, err := b.client.GetObject(ctx, b.name, b.prefix+key, minio.GetObjectOptions{})
	if err != nil {
		return nil, Info{}, err
	}
	stat, err := o.Stat()
	if err != nil {
		if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
			err = ErrNone
		}
		return nil, Info{}, errors.Join(err, o.Close())
	}
	return o, Info{stat.Size, stat.ContentType, stat.LastModified}, nil
}

func (b bucket) list(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for o := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true}) {
			if !yield(strings.TrimPrefix(o.Key, b.prefix), o.Err) || o.Err != nil {
				return
			}
		}
	}
}

func (b bucket) Delete(ctx context.Context, key string) error {
	if err := check(key); err != nil {
		return err
	}
	return b.client.RemoveObject(ctx, b.name, b.prefix+key, minio.RemoveObjectOptions{})
}
