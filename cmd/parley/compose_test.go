package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"parley/blobs/blobstest"
	"parley/db/dbtest"
)

const composeFile = "../../docs/compose.yaml"

// composition is the file, as far as it is about processes; a key that is not named here fails the test.
type composition struct {
	Name     string
	Parley   any `yaml:"x-parley"`
	Healthy  any `yaml:"x-healthy"`
	Shared   any `yaml:"x-shared"`
	Services map[string]*service
	Volumes  map[string]struct{}
}

type service struct {
	Build       struct{ Context, Dockerfile string }
	Image       string
	Restart     string
	Command     []string
	Environment map[string]string
	Ports       []string
	Volumes     []string
	Network     string                                `yaml:"network_mode"`
	Memory      string                                `yaml:"shm_size"`
	Grace       time.Duration                         `yaml:"stop_grace_period"`
	After       map[string]struct{ Condition string } `yaml:"depends_on"`
	Health      struct {
		Test              []string
		Interval, Timeout time.Duration
		Begin             time.Duration `yaml:"start_period"`
		Retries           int
	} `yaml:"healthcheck"`
}

// envFile is the file .env.
var envFile = map[string]string{"POSTGRES_PASSWORD": "pw0", "STORE_PASSWORD": "pw1", "PUBLIC_NAME": "calls.example.com", "PUBLIC_IP": "127.0.0.1",
	"PARLEY_SECRETS_KEY": base64.StdEncoding.EncodeToString(make([]byte, 32))}

// readCompose reads the file as docker compose does: variables first.
func readCompose(t *testing.T) (c composition) {
	t.Helper()
	text, err := os.ReadFile(composeFile)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	text = regexp.MustCompile(`\$\{(\w+):\?\}`).ReplaceAllFunc(text, func(b []byte) []byte {
		name := string(b[2 : len(b)-3])
		used[name] = true
		if envFile[name] == "" || !strings.Contains(string(text[:bytes.Index(text, []byte("\nname:"))]), name) {
			t.Errorf("%s is not explained", name)
		}
		return []byte(envFile[name])
	})
	if len(used) != len(envFile) || bytes.Contains(text, []byte("${")) {
		t.Errorf("the variables are %v", used)
	}
	in := yaml.NewDecoder(bytes.NewReader(text))
	in.KnownFields(true)
	if err := in.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

// yard is where the services run: what the file's host names, ports and volumes are here.
type yard struct {
	t        *testing.T
	database string
	store    *url.URL
	volumes  map[string]string
	ports    map[string]string // by service and port
}

// port is a free one of this machine in place of the service's.
func (y *yard) port(service, port string) string {
	y.t.Helper()
	at := service + ":" + port
	if y.ports[at] == "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			y.t.Fatal(err)
		}
		_, y.ports[at], _ = net.SplitHostPort(l.Addr().String())
		l.Close()
	}
	return y.ports[at]
}

// args are those of a command of a service, with its address and its folder here.
func (y *yard) args(name string, s *service, command []string) (args []string) {
	y.t.Helper()
	for i, a := range command {
		switch {
		case i > 0 && command[i-1] == "--listen":
			_, port, err := net.SplitHostPort(a)
			if err != nil {
				y.t.Fatal(err)
			}
			a = "127.0.0.1:" + y.port(name, port)
		case strings.HasPrefix(a, "/data"):
			volume, _, _ := strings.Cut(s.Volumes[0], ":")
			a = y.volumes[volume] + strings.TrimPrefix(a, "/data")
		}
		args = append(args, a)
	}
	return args
}

var anyPort = regexp.MustCompile(`0\.0\.0\.0:\d+`)

// env is the environment of a service, with the addresses of this machine.
func (y *yard) env(name string, s *service) (env []string) {
	y.t.Helper()
	host := func(known string) string {
		if s.Network == "host" {
			return "127.0.0.1"
		}
		return known
	}
	for key, value := range s.Environment {
		switch key {
		case "PARLEY_DATABASE_URL":
			if want := "postgres://parley:pw0@" + host("database") + ":5432/parley"; value != want {
				y.t.Errorf("%s has the database %s, want %s", name, value, want)
			}
			value = y.database
		case "PARLEY_BLOBS_URL":
			there := "endpoint=http://" + host("store") + ":9000&"
			if !strings.Contains(value, there) {
				y.t.Errorf("%s has the store %s", name, value)
			}
			value = strings.Replace(value, there, "endpoint="+y.store.String()+"&", 1)
		case "PARLEY_SIP_LISTEN", "PARLEY_WEBRTC_LISTEN":
			value = anyPort.ReplaceAllString(value, "127.0.0.1:0")
		case "PARLEY_RTP_PORTS":
			value = "45000-45999"
		}
		env = append(env, key+"="+value)
	}
	return env
}

// start runs a service of parley until its health check is content.
func (y *yard) start(name string, s *service) *serving {
	cmd := program(y.t, y.args(name, s, s.Command)...)
	cmd.Env = append(cmd.Env, y.env(name, s)...)
	p := start(y.t, cmd)
	p.url = "http://" + y.args(name, s, s.Command)[len(s.Command)-1] // what it prints is the address of the proxy
	if s.Health.Test[0] != "CMD" || s.Health.Test[1] != "/parley" {
		y.t.Fatalf("the health check of %s is %q", name, s.Health.Test)
	}
	for end := time.Now().Add(s.Health.Begin + time.Duration(s.Health.Retries)*s.Health.Interval); ; time.Sleep(100 * time.Millisecond) {
		check := program(y.t, y.args(name, s, s.Health.Test[2:])...)
		check.Env = append(check.Env, y.env(name, s)...)
		out, err := check.CombinedOutput()
		if err == nil {
			return p
		}
		if time.Now().After(end) {
			y.t.Errorf("%s is not healthy: %v %s", name, err, out)
			return p
		}
	}
}

// The example of docs/compose.yaml: each service of parley as a process with the command, the environment and the health
// check of the file, all started at once on an empty database and an empty store. A browser's call goes in over one and is
// read over another.
func TestCompose(t *testing.T) {
	t.Parallel()
	c := readCompose(t)
	y := &yard{t: t, database: dbtest.PostgresEmptyURL(t), volumes: map[string]string{}, ports: map[string]string{}}
	y.store, _ = url.Parse(blobstest.Empty(t, "parley", "parley"))
	for v := range c.Volumes {
		y.volumes[v] = t.TempDir()
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	nodes := map[string]client{}
	for name, s := range c.Services {
		c.sound(t, name, s)
		if s.Image != "parley" {
			continue
		}
		y.args(name, s, s.Command) // chooses the port before they start beside each other
		all.Go(func() {
			p := y.start(name, s)
			mu.Lock()
			defer mu.Unlock()
			nodes[name] = client{serving: p, t: t}
		})
	}
	all.Wait()
	if t.Failed() || len(nodes) != 3 {
		t.Fatalf("%d processes", len(nodes))
	}
	api := c.Services["api"]
	key := ran(t, y.env("api", api), y.args("api", api, strings.Fields("keys create --data /data --name first"))...)
	for name, n := range nodes {
		n.key = key
		nodes[name] = n
	}
	callOver(t, nodes["api"], nodes["work"])
	for name, n := range nodes {
		began := time.Now()
		n.stop(t)
		if took := time.Since(began); took > c.Services[name].Grace {
			t.Errorf("%s took %v to stop", name, took)
		}
	}
	if err := ready("127.0.0.1:" + y.port("api", "8080")); err == nil {
		t.Error("healthy after its end")
	}
}

// callOver has a browser's call over one process, and reads it over another.
func callOver(t *testing.T, api, work client) {
	t.Helper()
	api.want(201, "POST", "/user/assistant", `{"name":"Desk","voice_id":2,"language_id":1,"type":"inbound","mode":"pipeline","timezone":"UTC",
		"initial_message":"Map shop.","system_prompt":"You sell maps.","llm_model_id":1,"record":true}`)
	api.want(404, "POST", "/sim/calls", `{}`) // no pretend telephones on a machine of the open Internet
	call := api.browser()
	events := work.stream(t.Context(), call.id)
	work.sees(events, `turn.assistant {"text":"Map shop."`)
	call.hears(t)
	api.want(200, "DELETE", fmt.Sprintf("/web-calls/%s?token=%s", call.uuid, call.token), "")
	one := work.until(call.id, final)
	if one.Type != "web" || one.Status != "completed" || *one.Reason != "customer_hangup" || one.Transcript != "Assistant: Map shop." {
		t.Errorf("%+v", one)
	}
	path, ok := strings.CutPrefix(one.Recording, "https://calls.example.com/")
	if !ok {
		t.Fatalf("recording %q", one.Recording)
	}
	res, err := http.Get(api.url + "/" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if wav, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 200 || len(wav) < 8000 {
		t.Errorf("recording: %s, %d bytes, %v", res.Status, len(wav), err)
	}
}

// sound checks what running the processes does not show.
func (c composition) sound(t *testing.T, name string, s *service) {
	t.Helper()
	if s.Restart != "unless-stopped" || len(s.Volumes) != 1 {
		t.Errorf("%s: restart %q, volumes %v", name, s.Restart, s.Volumes)
	}
	volume, at, _ := strings.Cut(s.Volumes[0], ":")
	if _, ok := c.Volumes[volume]; !ok || s.Image == "parley" && at != "/data" {
		t.Errorf("%s: there is no volume %s, or it is not the data folder", name, s.Volumes[0])
	}
	for _, p := range s.Ports {
		if !strings.HasPrefix(p, "127.0.0.1:") {
			t.Errorf("%s is open to everybody: %s", name, p)
		}
	}
	if s.Image != "parley" {
		if _, tag, ok := strings.Cut(s.Image, ":"); !ok || tag == "latest" {
			t.Errorf("%s has no version: %s", name, s.Image)
		}
		return
	}
	for other := range s.After {
		if c.Services[other] == nil || len(c.Services[other].Health.Test) == 0 || s.After[other].Condition != "service_healthy" {
			t.Errorf("%s waits for %s", name, other)
		}
	}
	dockerfile, err := os.ReadFile("../../docs/" + s.Build.Context + "/" + s.Build.Dockerfile)
	if err != nil || !bytes.Contains(dockerfile, []byte("\nENTRYPOINT [\"/parley\"]\n")) || !bytes.Contains(dockerfile, []byte("\nVOLUME /data\n")) {
		t.Errorf("%s is built by a file that makes something else: %v", name, err)
	}
}
