module github.com/wavetank/wavetank/cmd/wavetank

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/kballard/go-shellquote v0.0.0-20180428030007-95032a82bc51
	github.com/schollz/progressbar/v3 v3.19.1
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	github.com/wavetank/wavetank v0.1.0
	golang.org/x/mod v0.29.0
	golang.org/x/term v0.44.0
	golang.org/x/tools v0.38.0
	sigs.k8s.io/yaml v1.6.0
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/robfig/cron/v3 v3.0.1
	go.yaml.in/yaml/v2 v2.4.3 // indirect
	golang.org/x/sync v0.18.0 // indirect
	golang.org/x/sys v0.46.0 // indirect
)
