// Where things stand. Time runs downwards, one row for each event that passes the filter; quiet stretches are folded. Of
// 50,000 rows only those in sight are drawn, so this file answers which ones these are.

import type { Event, Run } from './model.ts';

export interface Row { event: number; y: number; fold: number }

/** Sizes are those of rows, folds, and each further line of a row whose words need several. */
export interface Sizes { row: number; fold: number; line?: number }

/** quiet is the stretch of virtual time, in nanoseconds, from which a fold is written out. */
export const quiet = 1e9;

/** gap is the room above a row for the time that passed: nothing for a millisecond, a little more for each power of ten. */
export function gap(ns: number, fold: number): number {
  if (ns >= quiet) return fold;
  return ns <= 1e6 ? 0 : Math.round(Math.min(fold / 2, 4 * Math.log10(ns / 1e6)));
}

export type EdgeKind = 'span' | 'missing' | 'wait' | 'deliver' | 'late' | 'lost' | 'reply' | 'down';

/** Edge joins two events; it is drawn between their rows. */
export interface Edge { kind: EdgeKind; from: number; to: number; lane: number; slot: number }

export class Layout {
  readonly rows: Row[] = [];
  /** place of each event's row; of a hidden one that of the next shown, so that lines still end somewhere. */
  readonly place: Int32Array;
  readonly shown: Uint8Array;
  height = 0;

  constructor(readonly run: Run, readonly sizes: Sizes, passes: (i: number) => boolean, lines: (i: number) => number = () => 1) {
    const n = run.events.length;
    this.place = new Int32Array(n);
    this.shown = new Uint8Array(n);
    let before = -1;
    for (let i = 0; i < n; i++) {
      this.place[i] = this.rows.length;
      if (!passes(i)) continue;
      const e = run.events[i]!;
      const passed = before < 0 ? 0 : e.t - before;
      this.shown[i] = 1;
      this.height += gap(passed, sizes.fold);
      this.rows.push({ event: i, y: this.height, fold: passed >= quiet ? passed : 0 });
      this.height += sizes.row + (lines(i) - 1) * (sizes.line ?? 0);
      before = e.t;
    }
  }

  /** y is the middle of an event's row. */
  y(event: number): number {
    const row = this.rows[Math.min(this.place[event]!, this.rows.length - 1)];
    return row ? row.y + this.sizes.row / 2 : 0;
  }

  /** window is the range of rows that touch the stretch from top to bottom, as [first, after the last]. */
  window(top: number, bottom: number): [number, number] {
    return [this.search(top - this.sizes.row), this.search(bottom)];
  }

  /** search is the first row at or below y. */
  search(y: number): number {
    let lo = 0, hi = this.rows.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (this.rows[mid]!.y < y) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  }
}

/** edges are all lines of a run, in the order of their beginnings' events as far as possible. */
export function edges(run: Run): Edge[] {
  const out: Edge[] = [];
  const writes = new Map<string, number>();          // cluster and revision → request
  const commit = (object: number, rv: number) => `${run.refs?.[object - 1]?.cluster ?? ''} ${rv}`;
  const delivered = new Set<string>();               // lane and request
  const missing = new Map<string, [number, number]>(); // lane and request that a reconcile should have known of
  const open = new Map<number, number[]>(); // lane → ends of the reconciles in its slots
  run.events.forEach((e, i) => {
    const add = (kind: EdgeKind, from: number, to: number, slot = 0) => out.push({ kind, from, to, lane: e.l, slot });
    for (const c of e.ch ?? []) writes.set(commit(c.o, c.rv), i);
    for (const [object, , server] of e.seen ?? []) {
      const w = writes.get(commit(object, server));
      if (w !== undefined) missing.set(`${e.l} ${w}`, [w, e.l]);
    }
    if (e.k === 'deliver' && e.p) delivered.add(`${e.l} ${e.p - 1}`);
    switch (e.k) {
      case 'dequeue': {
        const slots = open.get(e.l) ?? [];
        open.set(e.l, slots);
        const end = e.p ? e.p - 1 : cutOff(run, i);
        let slot = slots.findIndex((until) => until < i);
        if (slot < 0) slot = slots.length;
        slots[slot] = end;
        add('span', i, end, slot);
        if (e.since) add('wait', e.since - 1, i);
        break;
      }
      case 'deliver':
        if (e.p) add(e.late ? 'late' : 'deliver', e.p - 1, i);
        break;
      case 'reply':
        if (e.p) add(e.note ? 'lost' : 'reply', e.p - 1, i);
        break;
      case 'crash':
        if (e.p) add('down', i, e.p - 1);
        break;
    }
  });
  for (const [key, [from, lane]] of missing) {
    if (!delivered.has(key)) out.push({ kind: 'missing', from, to: run.events.length - 1, lane, slot: 0 });
  }
  return out;
}

/** cutOff is where a reconcile without an end stops: with its incarnation, or with the run. */
function cutOff(run: Run, from: number): number {
  const lane = run.events[from]!.l;
  for (let i = from + 1; i < run.events.length; i++) {
    const e = run.events[i]!;
    if (e.l === lane && (e.k === 'crash' || e.k === 'stop')) return i;
  }
  return run.events.length - 1;
}

/** lifetimes are from where to where a lane is alive, in events. A lane of several incarnations is so from the first to the last. */
export function lifetimes(run: Run): [number, number][] {
  const started = new Set<number>();
  const out: [number, number][] = run.lanes.map(() => [0, run.events.length - 1]);
  run.events.forEach((e: Event, i) => {
    const l = out[e.l];
    if (!l || run.lanes[e.l]!.group !== 'process') return;
    if (e.k === 'start' && !started.has(e.l)) l[0] = i;
    if (e.k === 'start') started.add(e.l);
    if (e.k === 'crash' || e.k === 'stop') l[1] = i;
    else if (e.k === 'start') l[1] = run.events.length - 1;
  });
  return out;
}
