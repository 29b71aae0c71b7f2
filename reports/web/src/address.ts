// Links to a step. Several events may happen in one step: #step=44 is the first of them, #step=44.2 the third; side=b is
// the second of two runs.

import type { Run } from './model.ts';

export interface Address { side: number; event: number }

export function addressOf(runs: Run[], side: number, event: number): string {
  const events = runs[side]!.events;
  const step = events[event]!.s;
  let first = event;
  while (first > 0 && events[first - 1]!.s === step) first--;
  return `#step=${step}${event > first ? `.${event - first}` : ''}${side ? '&side=b' : ''}`;
}

export function readAddress(runs: Run[], fragment: string): Address | undefined {
  const parts = new URLSearchParams(fragment.replace(/^#/, ''));
  const m = /^(\d+)(?:\.(\d+))?$/.exec(parts.get('step') ?? '');
  if (!m) return undefined;
  const side = parts.get('side') === 'b' && runs.length > 1 ? 1 : 0;
  const events = runs[side]!.events;
  const first = events.findIndex((e) => e.s === Number(m[1]));
  if (first < 0) return undefined;
  const event = Math.min(first + Number(m[2] ?? 0), events.length - 1);
  return { side, event: events[event]!.s === Number(m[1]) ? event : first };
}
