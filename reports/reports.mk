# The pages of reports: what is made of web/ and embedded, and the tests that look at pages in a real browser. Go users
# need none of this; node and chromium are wanted only here.

WEB := reports/web
OUT := reports/out

.PHONY: web
web: # Build the pages' script and style anew, check its types, run its tests; needs node.
	cd $(WEB) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && npx tsc && npm test --silent && npm run build --silent

# Timelines are those that make reprove has left. For others the page has the commands that make them.
.PHONY: classes
classes: # Write the page of the classes of bugs, with a search, and the catalogue's: reports/out/catalogue/classes.html.
	@WAVETANK_PAGES=$(CURDIR)/$(OUT) go test -timeout $(TIMEOUT) -count=1 ./scenarios/internal/catalogue -run '^TestWriteTheCatalogue$$'
	@echo "the classes of bugs: $(CURDIR)/$(OUT)/catalogue/classes.html"

# What is committed must be what the sources give. Every page that make demo and make reprove
# left is opened; where they left none, they are run first.
.PHONY: pages
pages: page-tools web ## Build the pages and look at them in headless Chromium.
	git diff --exit-code --stat -- reports/dist
	@test -f $(OUT)/demo/index.html || $(MAKE) demo
	@test -d $(OUT)/catalogue || $(MAKE) reprove PROVE=3
	@$(MAKE) --no-print-directory classes
	WAVETANK_PAGES=$(CURDIR)/$(OUT) go test -timeout $(TIMEOUT) -count=1 ./reports -run '^TestWritePagesForTheBrowser$$'
	cd $(WEB) && CHROMIUM=$$(command -v chromium || command -v chromium-browser || command -v google-chrome) PAGES=$(CURDIR)/$(OUT) npm run browser --silent
	@echo "screenshots: $(OUT)/screens"

.PHONY: page-tools
page-tools:
	@command -v node >/dev/null && command -v npm >/dev/null || { apt-get update -qq && apt-get install -qq -y --no-install-recommends nodejs npm; }
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; }
