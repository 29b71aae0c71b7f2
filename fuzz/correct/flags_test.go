package correct

import "flag"

var correctRuns = flag.Int("correct.runs", 4, "runs of each operator")
