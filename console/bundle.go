package console

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"parley/assets"
)

// bundle compiles one entry of app/ with everything it imports into one script and one style sheet. The application is a
// module; the widget is a classic script, which can see the element that loads it.
func bundle(entry string, format api.Format) (script, style []byte, err error) {
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{entry},
		Bundle:      true,
		Outdir:      "out",
		Format:      format,
		Target:      api.ES2022,
		JSX:         api.JSXAutomatic, JSXImportSource: "preact",
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true,
		LegalComments: api.LegalCommentsNone,
		LogLevel:      api.LogLevelSilent,
		Plugins:       []api.Plugin{fromBinary},
	})
	for _, m := range result.Errors {
		where := ""
		if m.Location != nil {
			where = fmt.Sprintf("%s:%d:%d: ", m.Location.File, m.Location.Line, m.Location.Column)
		}
		err = errors.Join(err, fmt.Errorf("console: %s%s", where, m.Text))
	}
	for _, f := range result.OutputFiles {
		switch path.Ext(f.Path) {
		case ".js":
			script = f.Contents
		case ".css":
			style = f.Contents
		}
	}
	return script, style, err
}

// fromBinary resolves our own sources from the embedded folder and everything else from the embedded assets.
var fromBinary = api.Plugin{Name: "binary", Setup: func(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: `.*`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		switch {
		case a.Kind == api.ResolveEntryPoint:
			return api.OnResolveResult{Path: "app/" + a.Path, Namespace: "app"}, nil
		case strings.HasPrefix(a.Path, "."):
			p, err := source(path.Join(path.Dir(a.Importer), a.Path))
			return api.OnResolveResult{Path: p, Namespace: "app"}, err
		default:
			return api.OnResolveResult{Path: a.Path, Namespace: "asset"}, nil
		}
	})
	b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "app"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		return contents(sources.ReadFile(a.Path))(path.Ext(a.Path))
	})
	b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "asset"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		return contents(assets.Read(a.Path))(path.Ext(a.Path))
	})
}}

// source finds the file an import without extension means.
func source(p string) (string, error) {
	for _, ext := range []string{".tsx", ".ts", ""} {
		if f, err := sources.Open(p + ext); err == nil {
			f.Close()
			return p + ext, nil
		}
	}
	return "", fmt.Errorf("no source %s", p)
}

func contents(body []byte, err error) func(ext string) (api.OnLoadResult, error) {
	return func(ext string) (api.OnLoadResult, error) {
		if err != nil {
			return api.OnLoadResult{}, err
		}
		text := string(body)
		loader := map[string]api.Loader{".tsx": api.LoaderTSX, ".ts": api.LoaderTS, ".css": api.LoaderCSS}[ext]
		if loader == api.LoaderNone {
			loader = api.LoaderJS
		}
		return api.OnLoadResult{Contents: &text, Loader: loader}, nil
	}
}
