// The picture beside the rows, as SVG: lanes, reconciles as bars, requests as arrows, deliveries as slanted lines. It is
// made anew for the rows in sight only.

import { span } from './model.ts';
import type { Event, Run } from './model.ts';
import type { Edge, Layout } from './layout.ts';

export interface Scene {
  run: Run;
  layout: Layout;
  edges: Edge[];
  lives: [number, number][];
  laneWidth: number;
  /** columns are the places of the lanes, from the left; -1 for a lane that is hidden. */
  columns: number[];
  /** selected is an event, -1 for none. */
  selected: number;
}

export const margin = 10;

/** x is the middle of a lane. */
export const x = (scene: Scene, lane: number): number => margin + (scene.columns[lane]! + 0.5) * scene.laneWidth;

export const width = (scene: Scene): number => 2 * margin + scene.columns.filter((c) => c >= 0).length * scene.laneWidth;

const hidden = (scene: Scene, ...lanes: number[]): boolean => lanes.some((l) => l >= 0 && scene.columns[l]! < 0);

const escape = (s: string) => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** hue is what a lane's colour is called in the style. */
export const hue = (run: Run, lane: number): string => {
  const l = run.lanes[lane];
  return l ? (l.group === 'process' ? `process-${((l.incarnation ?? 1) - 1) % 4}` : l.group) : 'world';
};

/** picture draws what lies between top and bottom. */
export function picture(scene: Scene, top: number, bottom: number): string {
  const { layout } = scene;
  const height = Math.max(0, bottom - top);
  const w = width(scene);
  const out = [`<svg width="${w}" height="${height}" viewBox="0 ${top} ${w} ${height}" aria-hidden="true" focusable="false">`];
  lanes(scene, top, bottom, out);
  const [first, after] = layout.window(top, bottom);
  for (let i = first; i < after; i++) fold(scene, i, out);
  const seen = (e: Edge) => Math.min(layout.y(e.from), layout.y(e.to)) <= bottom && Math.max(layout.y(e.from), layout.y(e.to)) >= top;
  const order: Edge['kind'][] = ['down', 'span', 'wait', 'reply', 'deliver', 'missing', 'late', 'lost'];
  const visible = scene.edges.filter(seen);
  const words: string[] = [];
  for (const kind of order) for (const e of visible) if (e.kind === kind) edge(scene, e, out, words);
  chain(scene, top, bottom, out);
  for (let i = first; i < after; i++) mark(scene, layout.rows[i]!.event, out);
  out.push(...words, '</svg>');
  return out.join('');
}

function lanes(scene: Scene, top: number, bottom: number, out: string[]): void {
  scene.run.lanes.forEach((l, i) => {
    if (hidden(scene, i)) return;
    const at = x(scene, i);
    out.push(`<line class="lane" x1="${at}" x2="${at}" y1="${top}" y2="${bottom}"/>`);
    if (l.group !== 'process') {
      out.push(`<line class="lane alive ${hue(scene.run, i)}" x1="${at}" x2="${at}" y1="${top}" y2="${bottom}"/>`);
      return;
    }
    const [from, to] = scene.lives[i]!;
    const y1 = Math.max(top, scene.layout.y(from));
    const y2 = Math.min(bottom, to === scene.run.events.length - 1 ? bottom : scene.layout.y(to));
    if (y2 > y1) out.push(`<line class="lane alive ${hue(scene.run, i)}" x1="${at}" x2="${at}" y1="${y1}" y2="${y2}"/>`);
  });
}

function fold(scene: Scene, row: number, out: string[]): void {
  const r = scene.layout.rows[row]!;
  if (!r.fold) return;
  const y = r.y - scene.layout.sizes.fold / 2;
  const w = width(scene);
  let d = `M0 ${y}`;
  for (let at = 0, up = true; at < w; at += 6, up = !up) d += ` l6 ${up ? -4 : 4}`;
  out.push(`<rect class="fold-room" x="0" y="${y - 5}" width="${w}" height="10"/><path class="fold-line" d="${d}"/>`);
}

function edge(scene: Scene, e: Edge, out: string[], words: string[]): void {
  const { run, layout } = scene;
  const a = run.events[e.from]!, b = run.events[e.to]!;
  const other = ['deliver', 'late', 'missing'].includes(e.kind) ? a.to : ['lost', 'reply'].includes(e.kind) ? b.to : -1;
  if (hidden(scene, e.lane, other)) return;
  const y1 = layout.y(e.from), y2 = layout.y(e.to);
  const at = x(scene, e.lane);
  const visible = layout.shown[e.from] || layout.shown[e.to];
  switch (e.kind) {
    case 'span': {
      if (!visible) return;
      const end = layout.shown[e.to] ? y2 : Math.max(y1 + 6, y2 - layout.sizes.row / 2);
      const how = outcome(b);
      out.push(`<rect class="span ${how}" x="${at - 5 + e.slot * 7}" y="${y1 - 6}" width="10" height="${Math.max(12, end - y1 + 12)}" rx="5"/>`);
      return;
    }
    case 'wait': {
      if (!visible) return;
      out.push(`<line class="wait" x1="${at}" x2="${at}" y1="${y1 + 7}" y2="${y2 - 7}"/>`);
      if (y2 - y1 > 34 && b.wait && scene.laneWidth > 30) plate(at, (y1 + y2) / 2, span(b.wait), words, 'wait-text');
      return;
    }
    case 'deliver':
    case 'late': {
      if (e.kind === 'deliver' && !layout.shown[e.to]) return;
      if (!visible) return;
      const from = x(scene, a.to);
      out.push(`<line class="${e.kind}" x1="${from}" y1="${y1}" x2="${at}" y2="${y2}"/>`);
      if (e.kind === 'late') {
        out.push(`<rect class="behind" x="${at + (from < at ? 7 : -11)}" y="${y1}" width="4" height="${Math.max(2, y2 - y1)}"/>`);
        if (b.late && b.late >= 1e6 && y2 - y1 > 40 && scene.laneWidth > 30) {
          plate((from + at) / 2, (y1 + y2) / 2, `${span(b.late)} late`, words);
        }
      }
      return;
    }
    case 'missing': {
      const from = x(scene, a.to);
      out.push(`<line class="missing" x1="${from}" y1="${y1}" x2="${at}" y2="${y2}"/><rect class="behind" x="${at + (from < at ? 7 : -11)}" y="${y1}" width="4" height="${y2 - y1}"/>`);
      if (y2 - y1 > 60 && scene.laneWidth > 40) plate(from < at ? Math.min((from + at) / 2, at - 70) : Math.max((from + at) / 2, at + 70), (y1 + y2) / 2, 'not delivered yet', words);
      return;
    }
    case 'lost':
    case 'reply': {
      if (!layout.shown[e.to]) return;
      const from = x(scene, b.to);
      if (e.kind === 'lost') return lose(from, at, y2, out); // the reply never leaves the lane of its object
      out.push(`<line class="reply" x1="${from}" y1="${y1}" x2="${at}" y2="${y2}"/>`);
      return;
    }
    case 'down':
      out.push(`<rect class="down" x="${at - 7}" y="${y1}" width="14" height="${Math.max(4, y2 - y1)}"/>`);
  }
}

function plate(cx: number, cy: number, words: string, out: string[], style = 'late-text'): void {
  const half = words.length * 2.9 + 5;
  out.push(`<rect class="plate" x="${cx - half}" y="${cy - 8}" width="${2 * half}" height="16" rx="8"/><text class="${style}" x="${cx}" y="${cy + 3.5}">${words}</text>`);
}

function outcome(e: Event): string {
  if (e.k !== 'done') return 'cut';
  if (e.out === 'ok') return 'ok';
  return e.out?.includes('error') ? 'error' : 'again';
}

/** lose draws what got lost between whom it was sent to and its sender, with the cross at the former. */
function lose(from: number, to: number, y: number, out: string[]): void {
  out.push(`<line class="lost" x1="${from}" x2="${to}" y1="${y}" y2="${y}"/>`);
  cross(from, y, out);
}

function cross(cx: number, cy: number, out: string[]): void {
  out.push(`<path class="cross" d="M${cx - 4} ${cy - 4}l8 8m0 -8l-8 8"/>`);
}

/** objectLane is where the object of a violation is: whom the last request was sent to that led to it; -1 for nowhere. */
export function objectLane(run: Run, violation: number): number {
  const sent = (run.chain ?? []).filter((l) => l.to === violation && run.events[l.from]!.k === 'request').map((l) => l.from);
  return sent.length ? run.events[Math.max(...sent)]!.to : -1;
}

/** anchor is where a link of the chain begins or ends: a write with whom it was made at, everything else with who acts. */
function anchor(scene: Scene, i: number, mine: boolean): [number, number] {
  const e = scene.run.events[i]!;
  const y = scene.layout.y(i);
  if (e.l < 0) {
    const lane = e.k === 'violation' ? objectLane(scene.run, i) : -1;
    return [lane >= 0 && !hidden(scene, lane) ? x(scene, lane) : width(scene) - margin, y];
  }
  return [x(scene, e.k === 'request' && !mine && (e.ch?.length || e.fx?.length) ? e.to : e.l), y];
}

function chain(scene: Scene, top: number, bottom: number, out: string[]): void {
  const { run } = scene;
  for (const l of run.chain ?? []) {
    const own = run.events[l.from]!.k === 'dequeue' && run.events[l.to]!.r === l.from + 1;
    if (hidden(scene, run.events[l.from]!.l, run.events[l.from]!.to, run.events[l.to]!.l, run.events[l.to]!.to)) continue;
    const [x1, y1] = anchor(scene, l.from, own), [x2, y2] = anchor(scene, l.to, own);
    if (Math.max(y1, y2) < top || Math.min(y1, y2) > bottom) continue;
    const bow = Math.min(own ? 12 : 30, Math.abs(y2 - y1) / 4);
    const d = x1 === x2 ? `M${x1} ${y1} C${x1 - bow} ${y1 + (y2 - y1) / 3} ${x2 - bow} ${y2 - (y2 - y1) / 3} ${x2} ${y2}` : `M${x1} ${y1} L${x2} ${y2}`;
    const near = scene.selected === l.from || scene.selected === l.to;
    const how = l.why.startsWith('not in its cache') ? ' unseen' : '';
    out.push(`<path class="chain${how}${near ? ' near' : ''}" d="${d}"><title>${escape(l.why)}</title></path>`);
  }
}

function mark(scene: Scene, i: number, out: string[]): void {
  const e = scene.run.events[i]!;
  if (hidden(scene, e.l, e.to)) return;
  const y = scene.layout.y(i);
  const at = e.l >= 0 ? x(scene, e.l) : 0;
  const who = hue(scene.run, e.l);
  switch (e.k) {
    case 'request': {
      const to = x(scene, e.to);
      const how = (e.code ?? 0) >= 400 ? 'refused' : e.ch?.length || e.fx?.length ? 'write' : 'read';
      const tip = to > at ? to - 6 : to + 6;
      out.push(`<line class="request ${how} ${who}" x1="${at}" y1="${y}" x2="${tip}" y2="${y}"/>`);
      out.push(`<path class="tip ${how} ${who}" d="M${tip} ${y}l${to > at ? '-6' : '6'} -3.5v7z"/>`);
      out.push(`<circle class="at ${how} ${who}" cx="${to}" cy="${y}" r="${how === 'write' ? 5 : 3.5}"/>`);
      if (e.fx?.length) out.push(`<path class="effect" d="M${to} ${y - 8}l2.2 5 5.4 .5-4.1 3.6 1.2 5.3-4.7-2.8-4.7 2.8 1.2-5.3-4.1-3.6 5.4-.5z"/>`);
      return;
    }
    case 'deliver':
      out.push(`<circle class="learn ${e.late ? 'tardy' : ''} ${who}" cx="${at}" cy="${y}" r="3.5"/>`);
      return;
    case 'dequeue':
      out.push(`<circle class="begin ${who}" cx="${at}" cy="${y}" r="5"/>`);
      if (e.seen?.length) out.push(`<circle class="stale" cx="${at}" cy="${y}" r="8.5"/>`);
      return;
    case 'done':
      out.push(`<circle class="end ${outcome(e)}" cx="${at}" cy="${y}" r="3.5"/>`);
      return;
    case 'fault':
      out.push(`<path class="bolt" d="M${at + 1} ${y - 9}l-6 10h4.5l-1.5 8 6.5-10.5h-4.5z"/>`);
      return;
    case 'crash':
      cross(at, y, out);
      out.push(`<circle class="killed" cx="${at}" cy="${y}" r="8"/>`);
      return;
    case 'reply': {
      if (!e.p && e.note) lose(x(scene, e.to), at, y, out); // a request that got lost on its way there
      return;
    }
    case 'start':
    case 'stop':
      out.push(`<rect class="start ${who}" x="${at - 5}" y="${y - 5}" width="10" height="10" rx="2"/>`);
      return;
    case 'heal':
    case 'settled':
      out.push(`<line class="rule ${e.k}" x1="0" x2="${width(scene)}" y1="${y}" y2="${y}"/>`);
      return;
    case 'violation': {
      const lane = objectLane(scene.run, i), w = width(scene);
      const pin = lane >= 0 && !hidden(scene, lane) ? x(scene, lane) : w - margin;
      out.push(`<line class="broke" x1="0" x2="${w}" y1="${y}" y2="${y}"/><path class="pin" d="M${pin} ${y + 9}c-9 -10 -9 -19 0 -19s9 9 0 19z"/><circle class="pinhole" cx="${pin}" cy="${y - 3.5}" r="2.6"/>`);
    }
  }
}
