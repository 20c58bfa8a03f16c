// Colours as the page has them now: the theme's own properties, and fills mixed so that numbers read on them at 7:1.

const channels = (colour) => (colour.startsWith('#')
  ? [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16))
  : colour.match(/[\d.]+/g).slice(0, 3).map(Number));
const luminance = (colour) => channels(colour).reduce((sum, c, i) => sum + (c / 255) ** 2.2 * [0.2126, 0.7152, 0.0722][i], 0);

// `share` of one colour over another.
function mix(top, below, share) {
  const under = channels(below);
  return `#${channels(top).map((c, i) => Math.round(c * share + under[i] * (1 - share)).toString(16).padStart(2, '0')).join('')}`;
}

const ROLES = ['muted', 'axis', 'hairline', 'hatch', 'hatch-ground', 'compute', 'off', 'latency', 'latency-text', 'bandwidth', 'bandwidth-text'];

// Every role by its name, and of a rank its solid, its fill and its outline; whether they are `whole`: the browser's part
// of another theme comes before the server's.
function readTheme(figure) {
  const css = getComputedStyle(figure);
  const read = (name) => css.getPropertyValue(`--${name}`).trim();
  const [ground, text] = [read('st-background-color'), read('st-text-color')];
  const dark = luminance(ground) < 0.2, sheet = read('shard-ground');
  const solids = read('st-chart-categorical-colors').split(',').map((colour) => colour.trim());
  const fills = solids.map((solid, i) => mix(solid, dark ? ground : '#ffffff', dark ? (i % 4 === 3 ? 0.26 : 0.34) : 0.42));
  const ofRank = (colours) => (rank) => colours[rank % colours.length];
  const roles = Object.fromEntries(ROLES.map((role) => [role.replace(/-(\w)/, (_, letter) => letter.toUpperCase()), read(role)]));
  return {
    ...roles, ground, text, dark, whole: !sheet || luminance(sheet) < 0.2 === dark, font: css.fontFamily, primary: read('st-primary-color'),
    solid: ofRank(solids), fill: ofRank(fills), edge: dark ? ofRank(solids) : () => text,
  };
}
