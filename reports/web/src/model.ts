// What reports/model.go writes into a page. Places in tables are counted from 1 where 0 or absent means none.

export type Kind =
  | 'start' | 'stop' | 'crash' | 'request' | 'reply' | 'deliver' | 'dequeue' | 'done' | 'fault' | 'heal' | 'settled' | 'violation';

export interface Lane {
  name: string;
  group: 'user' | 'server' | 'process' | 'builtin' | 'outside';
  incarnation?: number; // absent where all incarnations of a process share the lane
}

export interface Change { t: string; o: number; rv: number; a?: number; b?: number }

export interface Event {
  s: number;        // step
  t: number;        // virtual time, nanoseconds
  k: Kind;
  l: number;        // lane of who acts; -1 for the whole world
  to: number;       // lane that is asked; -1 for none
  x: string;        // in words
  w?: string;       // who acts, where several incarnations share the lane
  c?: boolean;      // chatter
  o?: number;       // object
  r?: number;       // its reconcile's dequeue
  p?: number;       // what it belongs to: request of a reply, write of a delivery, end of a reconcile, next incarnation of a crash
  late?: number;    // nanoseconds between write and delivery
  v?: string;       // verb
  code?: number;
  rv?: number;
  sv?: number;
  n?: string;       // name of the reconcile that begins here
  cause?: string;
  out?: string;
  wait?: number;
  since?: number;   // end of the reconcile that asked to wait
  note?: string;
  seen?: [number, number, number][];
  holds?: [number, number][];
  ch?: Change[];
  fx?: string[];
  rd?: string[];    // what was read from the cache before
  sent?: number;
  recv?: number;
}

export interface Link { from: number; to: number; why: string }

/** Share says how many continuations of a run violate its property, from a step on. */
export interface Share { s: number; n: number; of: number; r?: boolean } // r: the share rises at the step before

export interface Ref { kind?: string; name: string; cluster?: string }

export interface Run {
  title: string;
  kind?: string;
  property?: string;
  site?: string;
  message?: string;
  replay?: string;
  file?: string;
  why?: string[];   // the paragraph that explains the violation
  facts?: [string, string][];
  shares?: Share[];
  choices?: string[];
  lanes: Lane[];
  refs: Ref[] | null;
  events: Event[];
  chain?: Link[];
}

export interface Page { runs: Run[]; parts: number }

/** actor is who acts in an event, as people write it. */
export function actor(run: Run, e: Event): string { return e.w ?? run.lanes[e.l]?.name ?? ''; }

/** nameOf is an object as people write it. */
export function nameOf(run: Run, place: number): string {
  const r = run.refs?.[place - 1];
  return r ? `${r.kind ?? ''} ${r.name}${r.cluster ? ` in ${r.cluster}` : ''}`.trim() : '';
}

/** clock is a virtual time as [h:]mm:ss.mmm, with smaller parts only where there are any. */
export function clock(ns: number): string {
  const total = Math.floor(ns / 1e9);
  const two = (n: number) => String(n).padStart(2, '0');
  const h = Math.floor(total / 3600);
  let s = `${two(Math.floor(total / 60) % 60)}:${two(total % 60)}.${String(ns % 1e9).padStart(9, '0')}`;
  if (h > 0) s = `${h}:${s}`;
  for (let i = 0; i < 2 && s.endsWith('000'); i++) s = s.slice(0, -3);
  return s;
}

/** span is a stretch of time in the unit that people would choose. */
export function span(ns: number): string {
  const cut = (n: number, digits: number) => String(Number(n.toFixed(digits)));
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${cut(ns / 1e3, 1)} µs`;
  if (ns < 1e9) return `${cut(ns / 1e6, 1)} ms`;
  if (ns < 60e9) return `${cut(ns / 1e9, 2)} s`;
  const s = Math.round(ns / 1e9);
  const h = Math.floor(s / 3600), m = Math.floor((s % 3600) / 60);
  return [h && `${h} h`, m && `${m} min`, s % 60 && `${s % 60} s`].filter(Boolean).join(' ');
}
