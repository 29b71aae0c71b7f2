// The page of a timeline, or of two side by side.

import { addressOf, readAddress } from './address.ts';
import { Chart } from './chart.ts';
import { detail, h } from './detail.ts';
import { everything, kinds, search } from './filter.ts';
import type { Filter } from './filter.ts';
import { clock, nameOf } from './model.ts';
import type { Page, Run } from './model.ts';

/** unpack reads what reports/page.go has packed: JSON, gzip, base64. */
async function unpack<T>(id: string): Promise<T> {
  const packed = document.getElementById(id)!.textContent!;
  const bytes = Uint8Array.from(atob(packed.slice(packed.indexOf('"') + 1, packed.lastIndexOf('"'))), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text()) as T;
}

/** Bodies are unpacked when the first of them is wanted. */
class Bodies {
  private list: string[] = [];
  private loading: Promise<string[]> | undefined;

  load(): Promise<string[]> {
    this.loading ??= unpack<string[]>('bodies').then((list) => (this.list = list));
    return this.loading;
  }

  at = (place: number | undefined): string | undefined => (place ? this.list[place - 1] : undefined);
}

class App {
  private readonly bodies = new Bodies();
  private readonly charts: Chart[];
  private side = 0;
  private filter: Filter = everything;
  private hits: { side: number; event: number }[] = [];
  private hit = -1;
  private readonly panel = h('aside', { class: 'panel', 'aria-label': 'The selected step', 'aria-live': 'polite' });
  private readonly found = h('output', { class: 'found' });
  private readonly query = h('input', { type: 'search', placeholder: 'search  /', 'aria-label': 'Search the steps' }) as HTMLInputElement;
  private readonly count = h('output', { class: 'count' });
  private readonly controls: { lane: HTMLSelectElement; object: HTMLSelectElement; kind: HTMLSelectElement; chatter: HTMLInputElement; chain: HTMLInputElement };
  private readonly help = helpDialog();

  constructor(private readonly page: Page, root: HTMLElement) {
    this.charts = page.runs.map((run, i) => new Chart(run, `row-${i ? 'b' : 'a'}`, this.filter, page.parts, (e) => this.select(i, e)));
    this.controls = this.makeControls();
    const { lane, object, kind, chatter, chain } = this.controls;
    const more = h('button', { type: 'button', class: 'round', 'aria-label': 'Keyboard shortcuts', title: 'Keyboard shortcuts (?)' }, '?');
    more.addEventListener('click', () => this.help.showModal());
    const theme = h('button', { type: 'button', class: 'round', 'aria-label': 'Light or dark', title: 'Light or dark (d)' }, '◐');
    theme.addEventListener('click', () => this.toggleTheme());
    const hasChain = page.runs.some((r) => r.chain?.length);
    const bar = h('div', { class: 'bar', role: 'search', 'aria-label': 'Filter and search' }, lane, object, kind,
      hasChain && h('label', { class: 'check' }, chain, 'only what led to it'), h('label', { class: 'check' }, chatter, 'chatter'),
      h('span', { class: 'searching' }, this.query, this.found), this.count, h('span', { class: 'spring' }), theme, more);
    root.replaceChildren(this.header(), bar, h('main', { class: page.runs.length > 1 ? 'two' : 'one' },
      ...this.charts.map((c, i) => (page.runs.length > 1 ? h('div', { class: 'half' }, this.halfHead(i), c.root) : c.root)), this.panel), this.help);
    this.listen();
  }

  private header(): HTMLElement {
    if (this.page.runs.length > 1) return this.compareHeader();
    const run = this.page.runs[0]!;
    const verdict = run.property || run.message ? h('div', { class: 'verdict' }, h('p', { class: 'sentence' }, h('span', { class: 'kind' }, run.kind ?? ''), ` ${run.property || 'the run failed'}`),
      h('pre', { class: 'message' }, run.message ?? ''), h('p', { class: 'site' }, run.site ? `declared at ${run.site}` : ''),
      run.why?.length ? h('div', { class: 'reasons' }, ...run.why.map((sentence) => h('p', {}, sentence))) : undefined) : h('p', { class: 'held' }, 'Every property held in this run.');
    return h('header', { class: 'top' }, h('p', { class: 'crumbs' }, 'Wavetank timeline'), h('h1', {}, run.title.replaceAll('_', ' ')), verdict, this.replay(run), this.facts(run));
  }

  private replay(run: Run): HTMLElement | undefined {
    if (!run.replay) return undefined;
    const copy = h('button', { type: 'button' }, 'copy');
    copy.addEventListener('click', () => void navigator.clipboard?.writeText(run.replay!).then(() => (copy.textContent = 'copied')));
    return h('div', { class: 'replay' }, h('span', {}, 'replay'), h('code', { tabindex: '0' }, run.replay), copy);
  }

  private facts(run: Run): HTMLElement | undefined {
    if (!run.facts?.length && !run.choices?.length) return undefined;
    return h('details', { class: 'facts' }, h('summary', {}, `${run.events.length} events, ${run.choices?.length ?? 0} choices that were not the default`),
      h('dl', {}, ...(run.facts ?? []).flatMap(([k, v]) => [h('dt', {}, k), h('dd', {}, v)]), run.file && h('dt', {}, 'story'), run.file && h('dd', {}, run.file),
        ...(run.choices?.length ? [h('dt', {}, 'choices'), h('dd', {}, ...run.choices.map((t) => h('div', { class: 'choice' }, t)))] : [])));
  }

  private compareHeader(): HTMLElement {
    const [a, b] = this.page.runs as [Run, Run];
    const at = this.page.parts;
    const words = at < 0 ? 'The two runs are the same from beginning to end.' :
      `The same choices, the same first ${at} events; they part at ${clock((a.events[at] ?? b.events[at])!.t)}, step ${(a.events[at] ?? b.events[at])!.s}.`;
    const button = h('button', { type: 'button' }, 'show where they part');
    button.addEventListener('click', () => this.showParting());
    return h('header', { class: 'top' }, h('p', { class: 'crumbs' }, 'Wavetank side by side'), h('h1', {}, a.property || a.title),
      h('p', { class: 'parting' }, words, at >= 0 ? h('span', {}, ' ', button) : undefined), this.replay(a));
  }

  private halfHead(i: number): HTMLElement {
    const run = this.page.runs[i]!;
    return h('div', { class: `half-head ${run.message ? 'bad' : 'good'}` }, h('h2', {}, run.title.replaceAll('_', ' ')), h('p', {}, run.message?.split('\n')[0] ?? 'every property held'));
  }

  private makeControls() {
    const pick = (label: string, options: [string, string][]) => {
      const s = h('select', { 'aria-label': label }, ...options.map(([v, t]) => h('option', { value: v }, t))) as HTMLSelectElement;
      s.addEventListener('change', () => this.refilter());
      return s;
    };
    const box = (label: string) => {
      const b = h('input', { type: 'checkbox', 'aria-label': label }) as HTMLInputElement;
      b.addEventListener('change', () => this.refilter());
      return b;
    };
    const run = this.page.runs[0]!;
    const objects = (run.refs ?? []).map((_, i): [string, string] => [String(i + 1), nameOf(run, i + 1)]).filter(([i]) => run.refs![Number(i) - 1]!.name)
      .sort((a, b) => (a[1] < b[1] ? -1 : 1));
    return {
      lane: pick('Who', [['-1', 'everybody'], ...run.lanes.map((l, i): [string, string] => [String(i), l.name])]),
      object: pick('Object', [['0', 'every object'], ...objects]),
      kind: pick('What', kinds),
      chatter: box('Show chatter: leases, lists, replies that arrived'),
      chain: box('Only what led to the failure'),
    };
  }

  private refilter(): void {
    const { lane, object, kind, chatter, chain } = this.controls;
    this.filter = { lane: Number(lane.value), object: Number(object.value), kind: kind.value, chatter: chatter.checked, chain: chain.checked };
    this.charts.forEach((c, i) => c.show(i === 0 ? this.filter : this.translate(i)));
    this.counted();
  }

  /** translate says a filter in the tables of another run. */
  private translate(i: number): Filter {
    const a = this.page.runs[0]!, b = this.page.runs[i]!;
    const lane = this.filter.lane < 0 ? -1 : b.lanes.findIndex((l) => l.name === a.lanes[this.filter.lane]!.name);
    const object = this.filter.object ? (b.refs ?? []).findIndex((_, r) => nameOf(b, r + 1) === nameOf(a, this.filter.object)) + 1 : 0;
    return { ...this.filter, lane, object, chain: this.filter.chain && !!b.chain?.length };
  }

  private counted(): void {
    const n = this.charts.reduce((sum, c) => sum + c.count, 0), all = this.charts.reduce((sum, c) => sum + c.steps, 0);
    this.count.textContent = `${n} of ${all}`;
  }

  private find(): void {
    const query = this.query.value;
    this.hits = this.charts.flatMap((c, side) => {
      const hits = search(c.run, query).filter((e) => c.scene.layout.shown[e]);
      c.mark(hits);
      return hits.map((event) => ({ side, event }));
    });
    this.hit = -1;
    this.found.textContent = query ? `${this.hits.length} found` : '';
  }

  private nextHit(by: number): void {
    if (this.hits.length === 0) return;
    this.hit = (this.hit + by + this.hits.length) % this.hits.length;
    const { side, event } = this.hits[this.hit]!;
    this.found.textContent = `${this.hit + 1} of ${this.hits.length}`;
    this.select(side, event);
  }

  select(side: number, event: number, write = true): void {
    if (event < 0) return;
    const c = this.charts[side]!;
    if (!c.scene.layout.shown[event]) this.unhide(side, event);
    this.side = side;
    c.select(event);
    if (write) history.replaceState(null, '', addressOf(this.page.runs, side, event));
    void this.bodies.load().then(() => {
      if (this.side !== side || c.scene.selected !== event) return; // another step was selected while bodies were unpacked
      const context = { run: c.run, body: this.bodies.at, go: (e: number) => this.select(side, e) };
      const close = h('button', { class: 'close', type: 'button', 'aria-label': 'Close' }, '✕');
      close.addEventListener('click', () => this.close());
      this.panel.replaceChildren(close, ...detail(context, event));
      this.panel.scrollTop = 0;
      if (!document.body.classList.contains('open')) {
        document.body.classList.add('open');
        this.charts.forEach((each) => each.resize());
        c.reveal(event);
      }
    });
  }

  private close(): void {
    document.body.classList.remove('open');
    this.panel.replaceChildren();
    this.charts.forEach((c) => c.resize());
    this.charts[this.side]!.focus();
  }

  /** unhide changes the filter so that an event that is linked to can be seen. */
  private unhide(side: number, event: number): void {
    const { lane, object, kind, chatter, chain } = this.controls;
    lane.value = '-1';
    object.value = '0';
    kind.value = '';
    chain.checked = false;
    chatter.checked ||= !!this.page.runs[side]!.events[event]!.c;
    this.refilter();
  }

  private showParting(): void {
    this.charts.forEach((c) => this.page.parts < c.run.events.length && c.select(this.page.parts));
  }

  private toggleTheme(): void {
    const root = document.documentElement;
    const dark = root.dataset['theme'] ? root.dataset['theme'] === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset['theme'] = dark ? 'light' : 'dark';
    this.charts.forEach((c) => c.repaint());
  }

  private key(ev: KeyboardEvent): void {
    const typing = ev.target instanceof HTMLInputElement && ev.target.type === 'search';
    if (ev.key === 'Escape') {
      if (typing) this.charts[this.side]!.focus();
      else if (document.body.classList.contains('open')) this.close();
      return;
    }
    if (typing) {
      if (ev.key === 'Enter') this.nextHit(ev.shiftKey ? -1 : 1);
      return;
    }
    if (ev.ctrlKey || ev.metaKey || ev.altKey || ev.target instanceof HTMLSelectElement) return;
    const c = this.charts[this.side]!;
    const move = (by: number) => this.select(this.side, c.neighbour(by));
    const keys: Record<string, () => void> = {
      j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1), PageDown: () => move(20), PageUp: () => move(-20),
      Home: () => move(-1e9), End: () => move(1e9), n: () => this.nextHit(1), N: () => this.nextHit(-1), '/': () => this.query.focus(),
      '?': () => this.help.showModal(), d: () => this.toggleTheme(), c: () => this.controls.chatter.click(), v: () => this.controls.chain.click(),
      b: () => this.broke(), ']': () => this.chainStep(1), '[': () => this.chainStep(-1), ArrowRight: () => this.across(1), ArrowLeft: () => this.across(-1),
    };
    const act = keys[ev.key];
    if (!act || (ev.target as Element).closest?.('.panel') && ev.key.startsWith('Arrow') || (ev.target as Element).closest?.('dialog')) return;
    ev.preventDefault();
    act();
  }

  private broke(): void {
    this.charts.some((c, side) => {
      const at = c.run.events.findIndex((e) => e.k === 'violation');
      if (at >= 0) this.select(side, at);
      return at >= 0;
    });
  }

  private chainStep(by: number): void {
    const c = this.charts[this.side]!;
    const all = [...new Set((c.run.chain ?? []).flatMap((l) => [l.from, l.to]))].sort((a, b) => a - b);
    const next = by > 0 ? all.find((e) => e > c.scene.selected) : all.reverse().find((e) => c.scene.selected < 0 || e < c.scene.selected);
    if (next !== undefined) this.select(this.side, next);
  }

  /** across goes to the other run, or along the reconcile: from its beginning to its end and back. */
  private across(by: number): void {
    if (this.charts.length > 1) {
      this.side = by > 0 ? 1 : 0;
      const c = this.charts[this.side]!;
      return this.select(this.side, c.scene.selected < 0 ? c.neighbour(1) : c.scene.selected);
    }
    const c = this.charts[0]!;
    const e = c.run.events[c.scene.selected];
    const begin = e?.r ? e.r - 1 : -1;
    if (begin >= 0) this.select(0, by < 0 ? begin : (c.run.events[begin]!.p ?? begin + 1) - 1);
  }

  private listen(): void {
    this.query.addEventListener('input', () => this.find());
    document.addEventListener('keydown', (ev) => this.key(ev));
    let timer = 0;
    window.addEventListener('resize', () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => this.charts.forEach((c) => c.resize()), 60);
    });
    window.addEventListener('hashchange', () => this.follow());
    window.addEventListener('beforeprint', () => this.charts.forEach((c) => c.count <= 3000 && c.draw(true)));
    window.addEventListener('afterprint', () => this.charts.forEach((c) => c.repaint()));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.charts.forEach((c) => c.repaint()));
  }

  private follow(): boolean {
    const a = readAddress(this.page.runs, location.hash);
    if (a) this.select(a.side, a.event, false);
    return !!a;
  }

  start(): void {
    this.charts.forEach((c) => c.resize());
    this.counted();
    if (this.follow()) return;
    if (this.page.runs.length > 1) {
      this.showParting();
      return;
    }
    const broke = this.page.runs[0]!.events.findIndex((e) => e.k === 'violation');
    if (broke >= 0) this.charts[0]!.reveal(broke);
  }
}

function helpDialog(): HTMLDialogElement {
  const keys: [string, string][] = [
    ['j k  ↓ ↑', 'next, previous step'], ['← →', 'begin, end of the reconcile; the other run'], ['[ ]', 'along what led to the failure'], ['b', 'where it broke'],
    ['/', 'search'], ['n N  Enter', 'next, previous find'], ['c', 'show chatter'], ['v', 'only what led to the failure'], ['d', 'light or dark'], ['Esc', 'close'],
  ];
  const legend: [string, string][] = [
    ['write', 'a write, who to whom'], ['read', 'a read'], ['deliver', 'a watch event, delivered at once'], ['late', 'a watch event, late: the steeper, the later'],
    ['span', 'a reconcile: ok, requested a requeue, failed'], ['behind', 'the cache is behind the server'], ['stale', 'a reconcile that begins with a stale cache'],
    ['fault', 'a fault is injected'], ['chain', 'what led to the failure'],
  ];
  const d = h('dialog', { class: 'help', 'aria-label': 'Help' }, h('h2', {}, 'Keys'),
    h('dl', {}, ...keys.flatMap(([k, v]) => [h('dt', {}, h('kbd', {}, k)), h('dd', {}, v)])), h('h2', {}, 'Signs'),
    h('dl', {}, ...legend.flatMap(([k, v]) => [h('dt', {}, h('span', { class: `sign ${k}` })), h('dd', {}, v)])),
    h('form', { method: 'dialog' }, h('button', {}, 'close'))) as HTMLDialogElement;
  return d;
}

void unpack<Page>('data').then((data) => {
  new App(data, document.getElementById('app')!).start();
  requestAnimationFrame(() => requestAnimationFrame(() => {
    document.documentElement.dataset['painted'] = String(Math.round(performance.now())); // for the browser's tests
  }));
});
