// What is shown of the step that was clicked: what was asked and answered, what changed, the reconcile that it belongs to,
// what the cache held, and what made it happen.

import { beliefs } from './belief.ts';
import { diff, parse, without, yaml } from './diff.ts';
import type { Line } from './diff.ts';
import { actor, clock, nameOf, span } from './model.ts';
import type { Event, Run } from './model.ts';

type Child = Node | string | undefined | false;

/** h makes an element. Text is always text: nothing from a run is ever read as markup. */
export function h(tag: string, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElement {
  const el = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) el.setAttribute(k, v);
  el.append(...children.filter((c): c is Node | string => c !== undefined && c !== false && c !== ''));
  return el;
}

export interface Context {
  run: Run;
  body: (place: number | undefined) => string | undefined;
  go: (event: number) => void;
}

/** detail is the panel for one event. */
export function detail(c: Context, i: number): HTMLElement[] {
  const { run } = c;
  const e = run.events[i]!;
  const who = actor(run, e) || 'the world';
  return [
    h('p', { class: 'where' }, h('b', {}, who), ` · step ${e.s} · ${clock(e.t)}`),
    h('h2', {}, e.x),
    ...why(c, i), ...seen(c, e), ...reads(e), ...changes(c, e), ...exchange(c, i), ...reconcile(c, i), ...belief(c, i),
  ];
}

function jump(c: Context, to: number, label: string): HTMLElement {
  const b = h('button', { class: 'jump', type: 'button' }, label);
  b.addEventListener('click', () => c.go(to));
  return b;
}

const line = (c: Context, i: number) => `${clock(c.run.events[i]!.t)}  ${actor(c.run, c.run.events[i]!)}  ${c.run.events[i]!.x}`;

function why(c: Context, i: number): HTMLElement[] {
  const items = (c.run.chain ?? []).flatMap((l) => {
    if (l.to === i) return [h('li', {}, h('span', { class: 'why' }, `← ${l.why}`), jump(c, l.from, line(c, l.from)))];
    if (l.from === i) return [h('li', {}, h('span', { class: 'why' }, `→ ${l.why}`), jump(c, l.to, line(c, l.to)))];
    return [];
  });
  return items.length ? [h('section', { class: 'card chain' }, h('h3', {}, 'On the way to the failure'), h('ul', {}, ...items))] : [];
}

const held = (rv: number) => (rv ? `rv ${rv}` : 'nothing');

function seen(c: Context, e: Event): HTMLElement[] {
  if (!e.seen?.length) return [];
  return [h('section', { class: 'card stale' }, h('h3', {}, 'Stale when this reconcile began'),
    table(['object', 'cache', 'server'], e.seen.map(([o, cache, server]) => [nameOf(c.run, o), held(cache), held(server)])))];
}

function reads(e: Event): HTMLElement[] {
  if (!e.rd?.length) return [];
  return [h('section', { class: 'card reads' }, h('h3', {}, 'Read from the cache before'), h('ul', {}, ...e.rd.map((r) => h('li', {}, r))))];
}

function table(head: string[], rows: string[][]): HTMLElement {
  return h('table', {}, h('thead', {}, h('tr', {}, ...head.map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', {}, ...rows.map((r) => h('tr', {}, ...r.map((t) => h('td', {}, t))))));
}

function changes(c: Context, e: Event): HTMLElement[] {
  const out = (e.ch ?? []).map((ch) => {
    const before = without(parse(c.body(ch.b))), after = without(parse(c.body(ch.a)));
    const added = ch.t === 'ADDED' || before === undefined;
    const lines: Line[] = added ? yaml(after ?? null).map((text) => ({ sign: '+', text })) :
      ch.t === 'DELETED' ? yaml(before ?? after ?? null).map((text) => ({ sign: '-', text })) : diff(before, after);
    return h('section', { class: 'card' }, h('h3', {}, `${ch.t.toLowerCase()} ${nameOf(c.run, ch.o)} → rv ${ch.rv}`), code(lines));
  });
  const effects = e.fx?.length ? [h('section', { class: 'card effect' }, h('h3', {}, 'Left the cluster'), h('ul', {}, ...e.fx.map((f) => h('li', {}, f))))] : [];
  return [...effects, ...out];
}

function code(lines: Line[]): HTMLElement {
  const names = { ' ': 'same', '+': 'plus', '-': 'minus' };
  return h('pre', { class: 'code', tabindex: '0' }, ...lines.map((l) => h('span', { class: names[l.sign] }, `${l.sign} ${l.text}\n`)));
}

function text(v: string | undefined): HTMLElement {
  const value = without(parse(v));
  const lines = value === undefined ? [] : typeof value === 'string' ? value.split('\n') : yaml(value);
  return h('pre', { class: 'code', tabindex: '0' }, lines.join('\n'));
}

function exchange(c: Context, i: number): HTMLElement[] {
  const e = c.run.events[i]!;
  const request = e.k === 'reply' && e.p ? c.run.events[e.p - 1]! : e;
  const out: HTMLElement[] = [];
  if (request.sent) out.push(h('details', { class: 'card' }, h('summary', {}, 'Request'), text(c.body(request.sent))));
  if (request.recv) out.push(h('details', { class: 'card', ...((request.code ?? 0) >= 400 ? { open: '' } : {}) }, h('summary', {}, `Reply${request.code ? `, ${request.code}` : ''}`), text(c.body(request.recv))));
  if (e.k === 'request') {
    const reply = c.run.events.findIndex((r, j) => j > i && r.k === 'reply' && r.p === i + 1);
    const what = reply < 0 ? 'its reply never reached the caller' : c.run.events[reply]!.note ? `the caller saw: ${c.run.events[reply]!.note}` :
      `its reply reached the caller ${c.run.events[reply]!.t === e.t ? 'at once' : `${span(c.run.events[reply]!.t - e.t)} later`}`;
    out.push(h('p', { class: 'note' }, what));
  }
  if (e.k === 'deliver' && e.p) {
    out.push(h('section', { class: 'card' }, h('h3', {}, e.late ? `Written ${span(e.late)} before` : 'Written at the same time'), jump(c, e.p - 1, line(c, e.p - 1))));
  }
  return out;
}

function reconcile(c: Context, i: number): HTMLElement[] {
  const begin = c.run.events[i]!.r;
  if (!begin) return [];
  const start = c.run.events[begin - 1]!;
  const end = start.p ? c.run.events[start.p - 1]! : undefined;
  const steps = c.run.events.flatMap((e, j) => (e.r === begin && (e.k === 'request' || e.k === 'fault') ? [h('li', j === i ? { class: 'here' } : {}, jump(c, j, e.x))] : []));
  const facts: string[][] = [['because of', start.cause ?? '']];
  if (start.wait) facts.push(['after waiting', span(start.wait)]);
  facts.push(['took', end ? span(end.t - start.t) : 'never ended'], ['ended', end?.out ?? 'cut off']);
  return [h('section', { class: 'card' }, h('h3', {}, `Reconcile ${start.n ?? ''}`),
    h('table', { class: 'facts' }, h('tbody', {}, ...facts.map(([k, v]) => h('tr', {}, h('th', { scope: 'row' }, k!), h('td', {}, v!))))),
    h('ul', { class: 'steps' }, h('li', {}, jump(c, begin - 1, 'begins')), ...steps, start.p ? h('li', {}, jump(c, start.p - 1, 'ends')) : undefined))];
}

function belief(c: Context, i: number): HTMLElement[] {
  const e = c.run.events[i]!;
  if (c.run.lanes[e.l]?.group !== 'process') return [];
  const all = beliefs(c.run, e.l, i);
  if (all.length === 0) return [];
  const stale = all.filter((b) => b.cache !== b.server);
  const rows = (list: typeof all) => table(['object', 'cache', 'server'], list.map((b) => [nameOf(c.run, b.object), held(b.cache), held(b.server)]));
  const summary = stale.length ? `Its cache at this moment: ${stale.length} of ${all.length} behind` : `Its cache at this moment: all ${all.length} as the server has them`;
  return [h('details', { class: `card${stale.length ? ' stale' : ''}`, ...(stale.length ? { open: '' } : {}) }, h('summary', {}, summary), rows(stale.length ? [...stale, ...all.filter((b) => b.cache === b.server)].slice(0, 200) : all.slice(0, 200)))];
}
