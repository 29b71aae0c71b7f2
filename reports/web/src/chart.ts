// One run on screen: the lanes' heads, the picture, and the rows beside it, which are a list that can be read, too. Only
// rows in sight exist in the document.

import { h } from './detail.ts';
import { hue, picture, width, x } from './draw.ts';
import type { Scene } from './draw.ts';
import { columns, onChain, passing } from './filter.ts';
import type { Filter } from './filter.ts';
import { edges, Layout, lifetimes } from './layout.ts';
import { actor, clock, span } from './model.ts';
import type { Run } from './model.ts';
import { Overview } from './overview.ts';
import { Shares } from './shares.ts';

const ahead = 400; // pixels drawn beyond what is in sight
const letter = 7.1; // pixels of an average letter in a name
const bold = 8.2; // of one in a row, with what is left at the ends of lines, which is more of short ones
const mostLines = 12; // of a row
const tilt = Math.sin((38 * Math.PI) / 180); // of heads that stand close

export class Chart {
  readonly root: HTMLElement;
  readonly scene: Scene;
  private readonly scroller: HTMLElement;
  private readonly canvas: HTMLElement;
  private readonly heads: HTMLElement;
  private readonly list: HTMLElement;
  private readonly overview: Overview;
  private readonly shares: Shares | undefined;
  private readonly chain: Set<number>;
  private hits = new Set<number>();
  private drawn: [number, number] = [-1, -1];
  private waiting = false;
  filter: Filter;

  constructor(readonly run: Run, readonly id: string, filter: Filter, readonly parts: number, private readonly onSelect: (event: number) => void) {
    this.filter = filter;
    this.chain = onChain(run);
    this.heads = h('div', { class: 'heads', 'aria-hidden': 'true' });
    this.canvas = h('div', { class: 'graph' });
    this.list = h('div', { class: 'list', role: 'listbox', tabindex: '0', 'aria-label': `Steps of ${run.title}` });
    const sheet = h('div', { class: 'sheet' }, this.canvas, this.list);
    this.scroller = h('div', { class: 'scroller' }, this.heads, sheet);
    this.overview = new Overview((y) => this.scrollTo(y));
    this.shares = run.shares?.length ? new Shares(run.shares) : undefined;
    this.root = h('section', { class: 'chart', 'aria-label': run.title }, this.shares?.root, this.overview.canvas, this.scroller);
    this.scene = { run, layout: new Layout(run, { row: 0, fold: 0 }, () => false), edges: edges(run), lives: lifetimes(run), laneWidth: 40, columns: columns(run, filter), selected: -1 };
    this.scroller.addEventListener('scroll', () => this.soon(), { passive: true });
    this.list.addEventListener('click', (ev) => {
      const row = (ev.target as Element).closest<HTMLElement>('[data-event]');
      if (row) this.onSelect(Number(row.dataset['event']));
    });
    this.canvas.addEventListener('click', (ev) => this.clickAt(ev));
  }

  private get narrow(): boolean { return window.innerWidth < 700; }

  private lay(): Layout {
    const sizes = this.narrow ? { row: 46, fold: 30, line: 18 } : { row: 28, fold: 34, line: 19 };
    return new Layout(this.run, sizes, passing(this.run, this.filter), (i) => this.lines(i));
  }

  /** letters are how many of a row's words fit into a line. */
  private letters = 1000;

  /** lines are how many lines a row's words need. */
  private lines(i: number): number {
    return Math.min(mostLines, Math.max(1, Math.ceil(this.run.events[i]!.x.length / this.letters)));
  }

  /** resize lays everything out anew: the filter or the window has changed. */
  resize(): void {
    const keep = this.scene.selected;
    const room = this.root.clientWidth || window.innerWidth;
    this.scene.columns = columns(this.run, this.filter);
    const n = this.scene.columns.filter((c) => c >= 0).length;
    this.scene.laneWidth = Math.max(this.narrow ? 12 : 16, Math.min(104, (room * (this.narrow || room < 1000 ? 0.36 : 0.42)) / n));
    const names = this.run.lanes.filter((l) => l.group !== 'server' && l.group !== 'outside').map((l) => l.name.length);
    const who = Math.min(room < 1200 ? 16 : 30, Math.max(...names, 4)) * 7.6;
    this.root.style.setProperty('--who', `${who}px`);
    this.root.style.setProperty('--graph', `${width(this.scene)}px`);
    this.letters = Math.max(12, (room - width(this.scene) - (this.narrow ? 20 : 92 + who + 50)) / (this.narrow ? 1.2 * bold : bold));
    this.scene.layout = this.lay();
    this.list.style.height = this.canvas.style.height = `${this.scene.layout.height + 24}px`;
    this.head();
    this.overview.lay(this.scene);
    this.shares?.lay(this.scene, room);
    this.drawn = [-1, -1];
    this.draw();
    if (keep >= 0) this.reveal(keep);
  }

  private head(): void {
    const shown = this.run.lanes.filter((_, i) => this.scene.columns[i]! >= 0);
    const longest = Math.min(this.narrow ? 98 : 190, Math.max(...shown.map((l) => l.name.length * letter)));
    const tight = longest > this.scene.laneWidth - 4;
    this.heads.className = `heads${tight ? ' tight' : ''}`;
    this.root.style.setProperty('--name', `${longest + 4}px`);
    this.root.style.setProperty('--heads', `${Math.max(34, longest * tilt + 16)}px`);
    this.heads.replaceChildren(...this.run.lanes.flatMap((l, i) => {
      if (this.scene.columns[i]! < 0) return [];
      const el = h('span', { class: `head ${hue(this.run, i)}`, title: l.name }, ...name(l.name));
      el.style.left = `${x(this.scene, i)}px`;
      return [el];
    }));
  }

  show(filter: Filter): void {
    this.filter = filter;
    this.resize();
  }

  /** mark highlights what a search has found. */
  mark(hits: number[]): void {
    this.hits = new Set(hits);
    this.drawn = [-1, -1];
    this.draw();
  }

  get count(): number { return this.scene.layout.rows.length; }
  get steps(): number { return this.run.events.length; }

  private soon(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  draw(all = false): void {
    const top = this.scroller.scrollTop, bottom = top + this.scroller.clientHeight;
    this.overview.sight(top, bottom);
    if (!all && this.drawn[0] <= Math.max(0, top - ahead / 2) && this.drawn[1] >= Math.min(this.scene.layout.height, bottom + ahead / 2)) return;
    const from = all ? 0 : Math.max(0, top - ahead), to = Math.min(this.scene.layout.height + 24, all ? Infinity : bottom + ahead);
    this.drawn = [from, to];
    this.canvas.innerHTML = picture(this.scene, from, to);
    (this.canvas.firstElementChild as SVGElement).style.top = `${from}px`;
    const [first, after] = this.scene.layout.window(from, to);
    const rows: HTMLElement[] = [];
    for (let i = first; i < after; i++) rows.push(...this.row(i));
    this.list.replaceChildren(...rows);
    const selected = this.rowId(this.scene.selected);
    if (this.list.querySelector(`#${selected}`)) this.list.setAttribute('aria-activedescendant', selected);
    else this.list.removeAttribute('aria-activedescendant');
  }

  private rowId(event: number): string { return `${this.id}-${event}`; }

  private row(i: number): HTMLElement[] {
    const { event, y, fold } = this.scene.layout.rows[i]!;
    const e = this.run.events[event]!;
    const classes = ['row', e.k, e.l >= 0 ? hue(this.run, e.l) : 'world'];
    if (this.chain.has(event)) classes.push('on-chain');
    if (this.hits.has(event)) classes.push('hit');
    if (event === this.parts) classes.push('parts');
    if (e.r && !['dequeue', 'done'].includes(e.k)) classes.push('inside');
    if (e.late) classes.push('late');
    if (e.k === 'reply' && e.note) classes.push('lost');
    if ((e.ch?.length || e.fx?.length) && e.k === 'request') classes.push('wrote');
    if (this.lines(event) > 1) classes.push('tall');
    const lane = this.run.lanes[e.l];
    const el = h('div', {
      class: classes.join(' '), id: this.rowId(event), role: 'option', 'aria-selected': String(event === this.scene.selected),
      'aria-posinset': String(i + 1), 'aria-setsize': String(this.scene.layout.rows.length), 'data-event': String(event), title: e.x,
    }, h('time', {}, clock(e.t).replace(/(\.\d{3})\d+$/, '$1')), h('span', { class: 'who' }, ...(lane ? name(actor(this.run, e)) : [])), h('span', { class: 'what' }, e.x));
    el.style.top = `${y}px`;
    const { row, line } = this.scene.layout.sizes;
    if (this.lines(event) > 1) el.style.height = `${row + (this.lines(event) - 1) * (line ?? 0)}px`;
    if (!fold) return [el];
    const quiet = h('div', { class: 'quiet', role: 'presentation' }, `${span(fold)} of quiet`);
    quiet.style.top = `${y - this.scene.layout.sizes.fold}px`;
    return [quiet, el];
  }

  private clickAt(ev: MouseEvent): void {
    const y = ev.clientY - this.canvas.getBoundingClientRect().top;
    const row = this.scene.layout.rows[Math.max(0, this.scene.layout.search(y + 1) - 1)];
    if (row) this.onSelect(row.event);
  }

  select(event: number): void {
    this.scene.selected = event;
    this.drawn = [-1, -1];
    this.reveal(event);
    this.draw();
  }

  /** reveal scrolls so that an event is in sight, not at the very edge. */
  reveal(event: number): void {
    const y = this.scene.layout.y(event);
    const top = this.scroller.scrollTop, room = this.scroller.clientHeight - this.heads.offsetHeight;
    if (y < top + 40 || y > top + room - 60) this.scroller.scrollTop = Math.max(0, y - room / 2.4);
    this.draw();
  }

  private scrollTo(y: number): void {
    this.scroller.scrollTop = Math.max(0, y - this.scroller.clientHeight / 2);
  }

  /** neighbour is the event of the row by away from the selected one. */
  neighbour(by: number): number {
    const { layout, selected } = this.scene;
    if (layout.rows.length === 0) return -1;
    const at = selected < 0 ? (by > 0 ? -1 : layout.rows.length) : layout.place[selected]!;
    return layout.rows[Math.max(0, Math.min(layout.rows.length - 1, at + by))]!.event;
  }

  focus(): void { this.list.focus({ preventScroll: true }); }
  repaint(): void { this.overview.lay(this.scene); this.drawn = [-1, -1]; this.draw(); }
}

/** name is a lane's, which loses its middle where there is no room: the end tells one incarnation from the next. */
function name(text: string): HTMLElement[] {
  const [, process, incarnation] = /^(.*?)(\/[\d–]+)?$/.exec(text)!;
  return [h('span', { class: 'short' }, process!), h('span', {}, incarnation ?? '')];
}
