// What the cache of an incarnation held at some moment, and what the server held then. It is worked out from what was delivered:
// an initial list says what a cache begins with, each delivery after that changes one object.

import type { Run } from './model.ts';

export interface Belief { object: number; cache: number; server: number }

/** beliefs compares the cache of a lane with the server just before an event; 0 means that the object is not there. */
export function beliefs(run: Run, lane: number, at: number): Belief[] {
  const server = new Map<number, number>();
  const cache = new Map<number, number>();
  const known = new Set<number>();
  const kinds = new Set<string>();
  const kindOf = (object: number) => run.refs?.[object - 1]?.kind ?? '';
  for (let i = 0; i < at; i++) {
    const e = run.events[i]!;
    for (const c of e.ch ?? []) {
      known.add(c.o);
      if (c.t === 'DELETED') server.delete(c.o);
      else server.set(c.o, c.rv);
    }
    if (e.k === 'start' && e.l === lane) cache.clear();
    if (e.k !== 'deliver' || e.l !== lane || e.v === 'BOOKMARK') continue;
    if (e.v === 'LIST') {
      const kind = e.o ? kindOf(e.o) : '';
      kinds.add(kind);
      for (const object of cache.keys()) if (kindOf(object) === kind) cache.delete(object);
      for (const [object, rv] of e.holds ?? []) {
        cache.set(object, rv);
        if (!known.has(object)) server.set(object, rv); // it was there before the record begins
      }
    } else if (e.o) {
      kinds.add(kindOf(e.o));
      if (e.v === 'DELETED') cache.delete(e.o);
      else cache.set(e.o, e.rv ?? 0);
    }
  }
  const objects = new Set([...server.keys(), ...cache.keys()]);
  return [...objects].filter((o) => kinds.has(kindOf(o))).sort((a, b) => a - b)
    .map((object) => ({ object, cache: cache.get(object) ?? 0, server: server.get(object) ?? 0 }));
}
