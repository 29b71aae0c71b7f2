#!/bin/sh
# sh hack/demo.sh searches the reference scenarios. What they share is compiled once, and those without the Helm SDK run
# while that is compiled.
set -e
light="promotion reposync throttle" helm="bundledeployment clusterextension"

# show SCENARIO... runs the demos of scenarios, two at a time. Each row names its scenario.
show() {
	make --no-print-directory -j2 --output-sync=none $(printf 'demo-%s ' "$@")
}

sh hack/build.sh bin/demo $(printf './scenarios/%s ' $light)
echo "The scenarios are searched two at a time, and a row is printed for each variant."
sh hack/build.sh bin/demo $(printf './scenarios/%s ' $helm) &
compiling=$!
show $light
wait $compiling
show $helm
echo
echo "everything that this did, on one page: $PWD/reports/out/demo/index.html"
