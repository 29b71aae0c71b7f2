// The whole run in one strip, from left to right, with what is in sight framed: for finding one's way in long runs.

import { hue } from './draw.ts';
import type { Scene } from './draw.ts';

/** highest is the greatest height of the strip in pixels. */
const highest = 180;

export class Overview {
  readonly canvas: HTMLCanvasElement;
  private readonly still = document.createElement('canvas');
  private height = 0;
  private total = 1;

  constructor(private readonly go: (y: number) => void) {
    this.canvas = document.createElement('canvas');
    this.canvas.className = 'overview';
    this.canvas.setAttribute('role', 'img');
    let dragging = false;
    const to = (ev: PointerEvent) => this.go(((ev.clientX - this.canvas.getBoundingClientRect().left) / this.canvas.clientWidth) * this.total);
    this.canvas.addEventListener('pointerdown', (ev) => {
      dragging = true;
      this.canvas.setPointerCapture(ev.pointerId);
      to(ev);
    });
    this.canvas.addEventListener('pointermove', (ev) => dragging && to(ev));
    this.canvas.addEventListener('pointerup', () => (dragging = false));
  }

  /** lay paints the whole run once; what is in sight is framed over it. */
  lay(scene: Scene): void {
    const ratio = window.devicePixelRatio || 1;
    const w = this.canvas.clientWidth || 600;
    const lanes = scene.run.lanes.length;
    const lane = Math.min(Math.max(6, Math.min(13, 84 / lanes)), highest / lanes);
    this.height = Math.round(lane * scene.run.lanes.length + 12);
    this.total = Math.max(1, scene.layout.height);
    this.canvas.style.height = `${this.height}px`;
    this.canvas.setAttribute('aria-label', `The whole run from left to right: ${scene.run.events.length} events in ${scene.run.lanes.length} lanes`);
    for (const c of [this.canvas, this.still]) {
      c.width = Math.round(w * ratio);
      c.height = Math.round(this.height * ratio);
    }
    const g = this.still.getContext('2d')!;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint(g, scene, w, lane, this.total);
    this.sight(0, 0);
  }

  sight(top: number, bottom: number): void {
    const g = this.canvas.getContext('2d')!;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, this.canvas.width, this.canvas.height);
    g.drawImage(this.still, 0, 0);
    if (bottom <= top || bottom - top >= this.total) return;
    const scale = this.canvas.width / this.total;
    const style = getComputedStyle(document.documentElement);
    const from = top * scale, wide = Math.max(4, (bottom - top) * scale);
    g.globalAlpha = 0.13;
    g.fillStyle = style.getPropertyValue('--ink');
    g.fillRect(from, 0, wide, this.canvas.height);
    g.globalAlpha = 0.7;
    g.strokeStyle = style.getPropertyValue('--ink');
    g.strokeRect(from + 0.5, 0.5, wide - 1, this.canvas.height - 1);
    g.globalAlpha = 1;
  }
}

function paint(g: CanvasRenderingContext2D, scene: Scene, w: number, lane: number, total: number): void {
  const { run, layout } = scene;
  const style = getComputedStyle(document.documentElement);
  const known = new Map<string, string>();
  const color = (name: string) => known.get(name) ?? known.set(name, style.getPropertyValue(`--${name}`).trim() || '#888').get(name)!;
  const colors = run.lanes.map((_, i) => color(hue(run, i)));
  const ty = (l: number) => 6 + (l + 0.5) * lane;
  const tx = (event: number) => (layout.y(event) / total) * w;
  g.clearRect(0, 0, w, 1000);
  g.lineWidth = 1;
  run.lanes.forEach((_, l) => {
    g.globalAlpha = 0.35;
    g.strokeStyle = colors[l]!;
    g.beginPath();
    g.moveTo(0, ty(l));
    g.lineTo(w, ty(l));
    g.stroke();
  });
  // Of a long run many marks fall into one pixel: what is there already is not painted again.
  const until = new Float64Array(run.lanes.length).fill(-1);
  for (const e of scene.edges) {
    const x1 = tx(e.from), x2 = tx(e.to);
    if (e.kind === 'span') {
      const end = Math.max(x1 + 1.5, x2);
      if (end <= until[e.lane]! + 0.4) continue;
      until[e.lane] = end;
      g.globalAlpha = 0.55;
      g.fillStyle = colors[e.lane] ?? '#888';
      g.fillRect(x1, ty(e.lane) - lane * 0.3, end - x1, lane * 0.6);
    } else if ((e.kind === 'late' || e.kind === 'missing') && x2 - x1 > 1) {
      g.globalAlpha = 0.9;
      g.strokeStyle = color('late');
      g.beginPath();
      g.moveTo(x1, ty(run.events[e.from]!.to));
      g.lineTo(x2, ty(e.lane));
      g.stroke();
    }
  }
  g.globalAlpha = 1;
  until.fill(-1);
  for (const r of layout.rows) {
    const e = run.events[r.event]!;
    const at = (r.y / total) * w;
    if (r.fold) {
      g.fillStyle = color('line');
      g.fillRect(Math.round(((r.y - layout.sizes.fold / 2) / total) * w), 0, 1, 1000);
    }
    if (e.k === 'request' && (e.ch?.length || e.fx?.length)) {
      if (at - until[e.to]! < 0.4) continue;
      until[e.to] = at;
      g.fillStyle = colors[e.l] ?? color('ink');
      g.fillRect(at - 0.75, ty(e.to) - lane * 0.35, 1.5, lane * 0.7);
    } else if (e.k === 'fault' || e.k === 'crash') {
      g.fillStyle = color('fault');
      g.fillRect(at - 1, Math.max(0, ty(e.l) - lane / 2), 2.5, lane);
    } else if (e.k === 'violation') {
      g.fillStyle = color('broke');
      g.fillRect(at - 1.5, 0, 3, 1000);
    }
  }
}
