// The theme of this window by a key, for a room's light. Where nobody has chosen one in its menu Streamlit takes the
// system's, and asks for that again once a page was printed: so it is told another system's.

const TURNED = 'shardlab-theme';
const OF_SYSTEM = '(prefers-color-scheme: dark)';
const askSystem = window.matchMedia.bind(window);

window.matchMedia = (query) => {
  const asked = askSystem(query), turned = sessionStorage.getItem(TURNED);
  if (query === OF_SYSTEM && turned) Object.defineProperty(asked, 'matches', { value: turned === 'dark' });
  return asked;
};

const askAgain = () => window.dispatchEvent(new Event('afterprint'));
if (sessionStorage.getItem(TURNED)) askAgain();

function turnTheme(toDark) {
  if (toDark === askSystem(OF_SYSTEM).matches) sessionStorage.removeItem(TURNED);
  else sessionStorage.setItem(TURNED, toDark ? 'dark' : 'light');
  const chosen = Object.keys(localStorage).filter((name) => name.startsWith('stActiveTheme') && /Light|Dark/.test(localStorage[name]));
  if (!chosen.length) return askAgain();
  chosen.forEach((name) => localStorage.removeItem(name));
  return location.reload();
}
