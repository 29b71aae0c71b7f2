// Objects as people read them: as YAML, and as the list of fields in which two states of one object differ.

export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

export interface Line { sign: ' ' | '-' | '+'; text: string }

/** parse reads a body; what is not JSON stays text. */
export function parse(body: string | undefined): Value | undefined {
  if (body === undefined) return undefined;
  try {
    return JSON.parse(body) as Value;
  } catch {
    return body;
  }
}

const isMap = (v: Value | undefined): v is { [key: string]: Value } => typeof v === 'object' && v !== null && !Array.isArray(v);

function scalar(v: Value): string {
  if (typeof v !== 'string') return JSON.stringify(v);
  return v === '' || /^[\s\-?:,[\]{}#&*!|>'"%@`]|[:#]\s|\s$|\n|^(true|false|null|yes|no|~)$|^[\d.+-]+$/.test(v) ? JSON.stringify(v) : v;
}

/** yaml writes a value, two spaces a level. */
export function yaml(v: Value, indent = ''): string[] {
  if (Array.isArray(v) && v.length > 0) {
    return v.flatMap((item) => {
      const lines = yaml(item, indent + '  ');
      return [`${indent}- ${lines[0]!.trimStart()}`, ...lines.slice(1)];
    });
  }
  if (isMap(v) && Object.keys(v).length > 0) {
    return Object.entries(v).flatMap(([k, item]) => {
      const nested = (Array.isArray(item) && item.length > 0) || (isMap(item) && Object.keys(item).length > 0);
      return nested ? [`${indent}${k}:`, ...yaml(item, indent + '  ')] : [`${indent}${k}: ${scalar(item)}`];
    });
  }
  return [indent + scalar(v)];
}

/** without leaves out what a server keeps for itself, which hides what matters. */
export function without(v: Value | undefined): Value | undefined {
  if (!isMap(v) || !isMap(v['metadata'])) return v;
  const { managedFields: _, ...metadata } = v['metadata'];
  return { ...v, metadata };
}

/** identify is what an item of a list is found again by; undefined where place is all there is. */
function identify(v: Value): string | undefined {
  if (!isMap(v)) return undefined;
  for (const k of ['name', 'type', 'uid', 'key', 'id']) {
    if (typeof v[k] === 'string') return v[k];
  }
  return undefined;
}

function byIdentity(list: Value[]): Map<string, Value> | undefined {
  const out = new Map<string, Value>();
  for (const v of list) {
    const id = identify(v);
    if (id === undefined || out.has(id)) return undefined;
    out.set(id, v);
  }
  return out;
}

/** diff lists what differs, a line for each field, in the order of the newer state. */
export function diff(before: Value | undefined, after: Value | undefined, path = ''): Line[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isMap(before) && isMap(after)) {
    const keys = [...Object.keys(after), ...Object.keys(before).filter((k) => !(k in after))];
    return keys.flatMap((k) => diff(before[k], after[k], path ? `${path}.${k}` : k));
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const b = byIdentity(before), a = byIdentity(after);
    if (a && b) {
      const ids = [...a.keys(), ...[...b.keys()].filter((id) => !a.has(id))];
      return ids.flatMap((id) => diff(b.get(id), a.get(id), `${path}[${id}]`));
    }
    const n = Math.max(before.length, after.length);
    return Array.from({ length: n }, (_, i) => diff(before[i], after[i], `${path}[${i}]`)).flat();
  }
  return [...lines('-', path, before), ...lines('+', path, after)];
}

function lines(sign: '-' | '+', path: string, v: Value | undefined): Line[] {
  if (v === undefined) return [];
  const nested = yaml(v, '  ');
  if (nested.length === 1 && !isMap(v)) return [{ sign, text: `${path}: ${nested[0]!.trim()}` }];
  return [{ sign, text: `${path}:` }, ...nested.map((text): Line => ({ sign, text }))];
}
