import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, readAddress } from '../src/address.ts';
import { beliefs } from '../src/belief.ts';
import { diff, parse, without, yaml } from '../src/diff.ts';
import { columns, everything, passing, search } from '../src/filter.ts';
import { edges, gap, Layout, lifetimes } from '../src/layout.ts';
import { actor, clock, span } from '../src/model.ts';
import type { Event, Run } from '../src/model.ts';
import { objectLane, picture } from '../src/draw.ts';
import type { Scene } from '../src/draw.ts';
import { rank } from '../src/rank.ts';

const at = (e: Partial<Event>): Event => ({ s: 1, t: 0, k: 'request', l: 0, to: -1, x: '', ...e });

/** A write that the cache learns of late, a stale reconcile in between, a crash, and the verdict. */
const run: Run = {
  title: 'a run',
  lanes: [{ name: 'user', group: 'user' }, { name: 'API server', group: 'server' }, { name: 'p/1', group: 'process', incarnation: 1 }],
  refs: [{ kind: 'Pod', name: 'n/a' }, { kind: 'Pod', name: 'n/b' }],
  events: [
    at({ k: 'start', l: 2, x: 'starts' }),
    at({ k: 'deliver', l: 2, v: 'LIST', o: 1, holds: [[1, 5]], x: 'cache is filled', s: 2, t: 1e6 }),
    at({ l: 0, to: 1, o: 1, ch: [{ t: 'MODIFIED', o: 1, rv: 6 }], x: 'patch Pod n/a', s: 3, t: 2e6 }),
    at({ k: 'dequeue', l: 2, n: 'pods n/a #1', r: 4, p: 5, seen: [[1, 5, 6]], x: 'reconciles pods n/a #1', s: 3, t: 2e6 }),
    at({ k: 'done', l: 2, r: 4, out: 'ok', x: 'ends: ok', s: 4, t: 3e6 }),
    at({ k: 'deliver', l: 2, v: 'MODIFIED', o: 1, rv: 6, p: 3, late: 5e9, x: 'learns of Pod n/a', s: 5, t: 5e9 + 2e6 }),
    at({ l: 2, to: 1, o: 2, c: true, x: 'list Pod', s: 6, t: 6e9 }),
    at({ k: 'crash', l: 2, x: 'is killed', s: 7, t: 6e9 }),
    at({ k: 'violation', l: -1, x: 'broke', s: 7, t: 6e9 }),
  ],
  chain: [{ from: 2, to: 3, why: 'not in its cache yet' }, { from: 3, to: 8, why: 'broke' }],
};
const sizes = { row: 20, fold: 30 };

test('classes are found by words of a reviewer, those with the word in front first', () => {
  const classes = [{ title: 'Nobody wakes it', words: 'watch', text: 'It holds a finalizer.' }, { title: 'It is stuck', words: 'finalizer, RBAC', text: 'And its back-off.' }];
  assert.deepEqual(rank(classes, ''), [0, 1]);
  assert.deepEqual(rank(classes, 'Finalizers'), [1, 0]);
  for (const words of ['backoff', 'back-off', 'BACK-OFF rbac']) assert.deepEqual(rank(classes, words), [1], words);
  assert.deepEqual(rank(classes, 'watch rbac'), [], 'each word must be there');
});

test('time is written as in the stories', () => {
  assert.equal(clock(180_017_000_000), '03:00.017');
  assert.equal(clock(3_600_000_000_001), '1:00:00.000000001');
  assert.equal(span(5e6), '5 ms');
  assert.equal(span(179_800_000_000), '3 min');
  assert.equal(span(3_725e9), '1 h 2 min 5 s');
});

test('chatter is hidden, quiet is folded, and rows are found again by their height', () => {
  const l = new Layout(run, sizes, passing(run, everything));
  assert.equal(l.rows.length, run.events.length - 1);
  assert.equal(l.rows[5]!.fold, 5e9 - 1e6);
  assert.equal(l.rows.filter((r) => r.fold).length, 1);
  for (const [i, r] of l.rows.entries()) assert.equal(l.search(r.y), i);
  assert.deepEqual(l.window(0, l.height), [0, l.rows.length]);
  assert.equal(l.y(6), l.y(7), 'a hidden event stands where the next one is');
  assert.ok(gap(1e3, 30) === 0 && gap(5e7, 30) > 0 && gap(2e9, 30) === 30);
});

test('a late delivery and a reconcile become lines', () => {
  const all = edges(run);
  assert.deepEqual(all.map((e) => [e.kind, e.from, e.to]), [['span', 3, 4], ['late', 2, 5]]);
  assert.deepEqual(lifetimes(run)[2], [0, 7]);
  const cut: Run = { ...run, events: run.events.filter((_, i) => i !== 5) };
  assert.deepEqual(edges(cut).map((e) => e.kind), ['span', 'missing'], 'what was never delivered is drawn, too');
});

test('the picture holds what is in sight and nothing else', () => {
  const layout = new Layout(run, sizes, passing(run, everything));
  const scene = { run, layout, edges: edges(run), lives: lifetimes(run), laneWidth: 60, columns: [0, 1, 2], selected: -1 };
  const all = picture(scene, 0, layout.height);
  for (const what of ['class="late"', 'class="span ok"', 'class="pin"', 'class="killed"', 'class="stale"', 'class="fold-line"']) assert.ok(all.includes(what), what);
  assert.ok(!picture(scene, 0, 30).includes('class="pin"'));
});

test('a lane of many incarnations is alive from the first to the last, and its cache begins empty each time', () => {
  const lane = 2;
  const more = [
    at({ k: 'start', l: lane, w: 'p/2', x: 'starts', s: 8, t: 7e9 }),
    at({ k: 'deliver', l: lane, v: 'ADDED', o: 2, rv: 3, x: 'learns of Pod n/b', s: 9, t: 8e9 }),
  ];
  const events = [...run.events.slice(0, -1), ...more];
  const folded: Run = { ...run, lanes: run.lanes.map((l, i) => (i === lane ? { name: 'p/1–2', group: 'process' } : l)), events };
  assert.deepEqual(lifetimes(folded)[lane], [0, events.length - 1]);
  assert.equal(actor(folded, events.at(-2)!), 'p/2');
  assert.equal(actor(folded, events[0]!), 'p/1–2');
  assert.deepEqual(beliefs(folded, lane, events.length).find((b) => b.object === 1)?.cache, 0);
});

test('filters by who, object, kind and chain', () => {
  const count = (f: object) => run.events.filter((_, i) => passing(run, { ...everything, ...f })(i)).length;
  assert.equal(count({ chatter: true }), run.events.length);
  assert.equal(count({ lane: 0 }), 2, 'the write, and the verdict, which is everybody\'s');
  assert.equal(count({ kind: 'stale' }), 2);
  assert.equal(count({ kind: 'fault' }), 2);
  assert.equal(count({ object: 1 }), 5);
  assert.equal(count({ chain: true }), 3);
  assert.deepEqual(search(run, 'LEARNS pod'), [5]);
  assert.deepEqual(search(run, ' '), []);
});

test('what the cache held against the server', () => {
  assert.deepEqual(beliefs(run, 2, 3), [{ object: 1, cache: 5, server: 6 }]);
  assert.deepEqual(beliefs(run, 2, 6), [{ object: 1, cache: 6, server: 6 }]);
});

test('differences are named field by field, items of lists by their names', () => {
  const before = { spec: { n: 1, gone: true, list: [{ type: 'Ready', status: 'False' }] } };
  const after = { spec: { n: 2, list: [{ type: 'Ready', status: 'True' }, { type: 'New', status: 'x' }] } };
  assert.deepEqual(diff(before, after).map((l) => l.sign + l.text), [
    '-spec.n: 1', '+spec.n: 2', '-spec.list[Ready].status: False', '+spec.list[Ready].status: True',
    '+spec.list[New]:', '+  type: New', '+  status: x', '-spec.gone: true']);
  assert.deepEqual(diff(after, after), []);
  assert.deepEqual(yaml({ a: [], b: { c: 'x: y' }, d: [{ e: 1, f: 'true' }] }), ['a: []', 'b:', '  c: "x: y"', 'd:', '  - e: 1', '    f: "true"']);
  assert.equal(parse('no json'), 'no json');
  assert.deepEqual(without({ metadata: { name: 'a', managedFields: [] } }), { metadata: { name: 'a' } });
});

test('every event has an address that leads back to it', () => {
  run.events.forEach((_, event) => assert.deepEqual(readAddress([run], addressOf([run], 0, event)), { side: 0, event }));
  assert.deepEqual(readAddress([run, run], '#step=3.1&side=b'), { side: 1, event: 3 });
  assert.equal(addressOf([run], 0, 3), '#step=3.1');
  for (const bad of ['', '#step=x', '#step=99', '#other']) assert.equal(readAddress([run], bad), undefined);
});

const sceneOf = (r: Run, filter = everything): Scene => ({ run: r, layout: new Layout(r, sizes, passing(r, filter)), edges: edges(r), lives: lifetimes(r), laneWidth: 40, columns: columns(r, filter), selected: -1 });

test('a filter hides the lanes in which nothing is shown', () => {
  assert.deepEqual(columns(run, everything), [0, 1, 2]);
  assert.deepEqual(columns(run, { ...everything, lane: 2 }), [-1, 0, 1]);
  assert.deepEqual(columns(run, { ...everything, kind: 'effect' }), [0, 1, 2], 'where nothing is shown at all, nothing moves');
  assert.ok(!picture(sceneOf(run, { ...everything, lane: 2 }), 0, 1000).includes('NaN'));
  assert.ok(!/x\d?="-\d/.test(picture(sceneOf(run, { ...everything, lane: 2 }), 0, 1000)), 'nothing is drawn on a hidden lane');
});

test('the marker of a violation and the cross of a lost reply stand on the lane of their object', () => {
  const lost: Run = { ...run, events: [...run.events.slice(0, 8), at({ k: 'reply', l: 2, to: 1, p: 3, note: 'lost', x: 'no reply', s: 7, t: 6e9 }), run.events[8]!], chain: [{ from: 2, to: 9, why: 'the last change' }] };
  assert.equal(objectLane(lost, 9), 1);
  const drawn = picture(sceneOf(lost), 0, 1000);
  const server = 10 + 1.5 * 40;
  assert.match(drawn, new RegExp(`class="pin" d="M${server} `));
  assert.match(drawn, new RegExp(`class="cross" d="M${server - 4} `));
});

test('a row whose words need several lines is higher', () => {
  const l = new Layout(run, { row: 20, fold: 30, line: 10 }, passing(run, everything), (i) => (i === 0 ? 3 : 1));
  assert.equal(l.rows[1]!.y - l.rows[0]!.y, 40);
  assert.equal(l.y(0), 10, 'its sign stands at the first line');
});
