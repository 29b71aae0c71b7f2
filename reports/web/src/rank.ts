// Which classes of bugs a search finds, and in which order.

export interface Entry { title: string; words: string; text: string }

/** fold makes words alike that people write in different ways: back-off, backoff and Back-off. */
const fold = (text: string): string => text.toLowerCase().replace(/-/g, '');

/** terms are the words of a query, without the s of a plural. */
const terms = (query: string): string[] => fold(query).split(/[\s,]+/).filter(Boolean).map((t) => (t.length > 3 ? t.replace(/s$/, '') : t));

/** rank lists the entries that have every word of a query, first those that have them in their title or index words. */
export function rank(entries: Entry[], query: string): number[] {
  const wanted = terms(query);
  const found = entries.flatMap((e, at) => {
    const head = fold(`${e.title} ${e.words}`), all = `${head} ${fold(e.text)}`;
    return wanted.every((t) => all.includes(t)) ? [{ at, deep: wanted.filter((t) => !head.includes(t)).length }] : [];
  });
  return found.sort((a, b) => a.deep - b.deep || a.at - b.at).map((f) => f.at);
}
