// The curve above the strip: which share of the continuations of a run violate its property, from left to right as the run
// does. It jumps where the violation became inevitable.

import type { Scene } from './draw.ts';
import type { Share } from './model.ts';

const high = 40, edge = 3; // pixels
const space = 'http://www.w3.org/2000/svg';

function element(kind: string, attributes: Record<string, string>, text = ''): SVGElement {
  const e = document.createElementNS(space, kind) as SVGElement;
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text) e.textContent = text;
  return e;
}

/** points are where the curve bends: a share holds from its step until the next one that was measured. */
export function points(shares: Share[], at: (step: number) => number, end: number): [number, number][] {
  const out: [number, number][] = [];
  let before = 0;
  for (const share of shares) {
    const y = high - edge - (share.n / share.of) * (high - 2 * edge);
    out.push([at(share.s), out.length ? before : y], [at(share.s), y]);
    before = y;
  }
  return [...out, [end, before]];
}

export class Shares {
  readonly root = element('svg', { class: 'shares', role: 'img', height: String(high), preserveAspectRatio: 'none' });

  constructor(private readonly shares: Share[]) {}

  lay(scene: Scene, wide: number): void {
    const { run, layout } = scene;
    const at = (step: number) => {
      const event = run.events.findIndex((e) => e.s >= step);
      return event < 0 ? wide : (layout.y(event) / Math.max(1, layout.height)) * wide;
    };
    const bends = points(this.shares, at, wide).map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`);
    const last = this.shares[this.shares.length - 1]!;
    this.root.setAttribute('viewBox', `0 0 ${wide} ${high}`);
    this.root.setAttribute('width', String(wide));
    this.root.setAttribute('aria-label', `The share of continuations that violate the property: at first ${this.shares[0]!.n} of ${this.shares[0]!.of}, at the end ${last.n} of ${last.of}`);
    const marks = this.shares.filter((s) => s.r).map((s) => {
      const mark = element('circle', { class: 'rise', cx: at(s.s).toFixed(1), cy: (high - edge - (s.n / s.of) * (high - 2 * edge)).toFixed(1), r: '4' });
      mark.append(element('title', {}, `here the share rises to ${s.n} of ${s.of}`));
      return mark;
    });
    this.root.replaceChildren(
      element('polygon', { class: 'under', points: [`${bends[0]!.split(',')[0]},${high}`, ...bends, `${wide},${high}`].join(' ') }),
      element('polyline', { class: 'curve', points: bends.join(' ') }),
      ...marks, element('text', { x: '8', y: '13' }, 'continuations that violate the property'));
  }
}
