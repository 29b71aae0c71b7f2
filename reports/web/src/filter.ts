// Which rows are shown, and which of them a search means.

import { actor, nameOf } from './model.ts';
import type { Run } from './model.ts';

export interface Filter {
  lane: number;      // -1 for all
  object: number;    // place in refs; 0 for all
  kind: string;      // '' for all
  chatter: boolean;
  chain: boolean;    // only what led to the failure
}

export const everything: Filter = { lane: -1, object: 0, kind: '', chatter: false, chain: false };

/** kinds are what the filter by kind offers, with the test that each stands for. */
export const kinds: [string, string][] = [
  ['', 'everything'], ['write', 'writes'], ['request', 'requests'], ['reconcile', 'reconciles'], ['deliver', 'watch deliveries'],
  ['late', 'late deliveries'], ['stale', 'stale reads'], ['fault', 'faults and crashes'], ['effect', 'effects outside'],
];

/** onChain are the events of the chain that led to the failure. */
export function onChain(run: Run): Set<number> {
  return new Set((run.chain ?? []).flatMap((l) => [l.from, l.to]));
}

/** passing makes the test that a filter stands for. Marks that concern the whole world always pass, but for the chain. */
export function passing(run: Run, f: Filter): (i: number) => boolean {
  const chain = onChain(run);
  return (i) => {
    const e = run.events[i]!;
    if (f.chain) return chain.has(i);
    if (e.c && !f.chatter && !(f.kind === 'deliver' && e.k === 'deliver')) return false;
    if (e.k === 'violation') return true;
    if (f.lane >= 0 && e.l !== f.lane && e.to !== f.lane) return e.k === 'heal' || e.k === 'settled';
    if (f.object && e.o !== f.object && !e.ch?.some((c) => c.o === f.object) && !e.seen?.some((s) => s[0] === f.object) &&
      !(e.n !== undefined && touches(run, i, f.object))) return false;
    switch (f.kind) {
      case '': return true;
      case 'write': return !!e.ch?.length;
      case 'request': return e.k === 'request';
      case 'reconcile': return e.k === 'dequeue' || e.k === 'done';
      case 'deliver': return e.k === 'deliver';
      case 'late': return e.k === 'deliver' && !!e.late;
      case 'stale': return !!e.seen?.length;
      case 'fault': return e.k === 'fault' || e.k === 'crash' || e.k === 'heal' || (e.k === 'reply' && !!e.note);
      case 'effect': return !!e.fx?.length;
    }
    return true;
  };
}

/** columns are the places of the lanes, from the left. A filter hides lanes (-1) in which nothing is shown. */
export function columns(run: Run, f: Filter): number[] {
  if (f.lane < 0 && !f.object && !f.kind && !f.chain) return run.lanes.map((_, i) => i);
  const used = new Set<number>();
  const passes = passing(run, f);
  run.events.forEach((e, i) => {
    if (!passes(i)) return;
    used.add(e.l).add(e.to);
    if (e.k === 'deliver' && e.p) used.add(run.events[e.p - 1]!.to);
  });
  let next = 0;
  const out = run.lanes.map((_, i) => (used.has(i) ? next++ : -1));
  return next > 0 ? out : run.lanes.map((_, i) => i);
}

/** touches reports whether a reconcile is of an object, by its name. */
function touches(run: Run, i: number, object: number): boolean {
  const name = run.refs?.[object - 1]?.name;
  return !!name && ` ${run.events[i]!.n ?? ''} `.includes(` ${name} `);
}

/** search finds the events whose words, object, cause or note hold all words of a query. */
export function search(run: Run, query: string): number[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const out: number[] = [];
  run.events.forEach((e, i) => {
    const lane = actor(run, e);
    const text = `${lane} ${e.x} ${e.o ? nameOf(run, e.o) : ''} ${e.n ?? ''} ${e.note ?? ''} step ${e.s}`.toLowerCase();
    if (words.every((w) => text.includes(w))) out.push(i);
  });
  return out;
}
