// The search box of the page of classes. Without script the page shows every class and the index by word.

import { rank } from './rank.ts';

const box = document.querySelector<HTMLFormElement>('.finder')!;
const query = box.querySelector('input')!, found = box.querySelector('output')!;
const sections = [...document.querySelectorAll<HTMLElement>('section.class')];
const entries = sections.map((s) => ({
  title: s.querySelector('h2')!.textContent!, words: s.querySelector('.words')!.textContent!, text: s.querySelector('.about')!.textContent!,
}));
const titles = new Map([...document.querySelectorAll<HTMLAnchorElement>('.titles a')].map((a) => [a.hash.slice(1), a.parentElement!]));

/** find shows the classes that a query finds, the best first; all of them if it is empty. */
function find(): void {
  const hits = rank(entries, query.value);
  for (const s of sections) s.hidden = titles.get(s.id)!.hidden = true;
  for (const at of hits) {
    const s = sections[at]!, title = titles.get(s.id)!;
    s.hidden = title.hidden = false;
    s.parentElement!.append(s);
    title.parentElement!.append(title);
  }
  found.textContent = hits.length > 0 ? `${hits.length} of ${sections.length} classes` :
    `No class has “${query.value.trim()}”. Try fewer words, or the index by word.`;
}

/** follow obeys the address: #search=back-off searches, and the name of a class that is hidden ends the search. */
function follow(): void {
  const asked = /^#search=(.*)$/.exec(location.hash);
  const named = document.getElementById(location.hash.slice(1));
  if (asked) query.value = decodeURIComponent(asked[1]!);
  else if (named?.hidden) query.value = '';
  else return;
  find();
  if (!asked) named!.scrollIntoView();
}

query.addEventListener('input', () => {
  find();
  window.scrollTo(0, 0); // to the best class
  history.replaceState(null, '', query.value.trim() ? `#search=${encodeURIComponent(query.value.trim())}` : location.href.split('#')[0]!);
});
box.addEventListener('submit', (e) => {
  e.preventDefault(); // Enter goes to the best class
  document.querySelector<HTMLElement>('section.class:not([hidden]) h2')?.focus();
});
document.addEventListener('keydown', (e) => {
  if (e.key !== '/' || e.target === query || e.ctrlKey || e.metaKey || e.altKey) return;
  e.preventDefault();
  query.focus();
  query.select();
});
window.addEventListener('hashchange', follow);
box.hidden = false;
find();
follow();
