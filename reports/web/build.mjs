// Builds the pages' script and style into ../dist, which is committed and embedded; with --tests, the tests into .tests.
// The stamp is a hash of what the output was made of: go test compares it with the sources, so that a stale build is
// noticed without Node.

import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const here = new URL('.', import.meta.url).pathname;
if (process.argv.includes('--tests')) {
  rmSync(here + '.tests', { recursive: true, force: true });
  await build({
    entryPoints: [here + 'test/pages.test.ts', here + 'browser/browser.test.ts'],
    bundle: true, platform: 'node', format: 'esm', packages: 'external', outdir: here + '.tests', entryNames: '[name]', outExtension: { '.js': '.mjs' }, logLevel: 'warning',
  });
} else {
  const out = here + '../dist/';
  mkdirSync(out, { recursive: true });
  const target = ['chrome100', 'firefox113', 'safari16.4'];
  await build({
    entryPoints: { page: here + 'src/main.ts', classes: here + 'src/classes.ts' },
    bundle: true, minify: true, format: 'iife', target, charset: 'ascii', outdir: out, legalComments: 'none', logLevel: 'warning',
  });
  await build({ entryPoints: [here + 'src/style.css'], bundle: true, minify: true, target, outfile: out + 'page.css', logLevel: 'warning' });
  writeFileSync(out + 'page.html', readFileSync(here + 'src/page.html'));
  const sources = ['build.mjs', 'package-lock.json', ...readdirSync(here + 'src').map((f) => `src/${f}`)].sort();
  const hash = createHash('sha256');
  for (const f of sources) hash.update(`${f}\n`).update(readFileSync(here + f));
  writeFileSync(out + 'STAMP', `${hash.digest('hex')}\n`);
}
