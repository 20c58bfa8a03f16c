// A player's scripts are joined into one module after the kit's: what one declares at its top, the others may use.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import js from '@eslint/js';

const KIT = join('ui', 'players', 'kit');
const BROWSER = 'window document location innerWidth innerHeight navigator getComputedStyle matchMedia performance requestAnimationFrame setTimeout clearTimeout setInterval clearInterval '
  + 'fetch URL BroadcastChannel Blob Image FileReader TextDecoder ResizeObserver MutationObserver CustomEvent XMLSerializer DOMMatrix CSS CSSFontFaceRule Element Event Node SVGElement atob localStorage sessionStorage history NodeFilter Worker';

const paths = readdirSync('ui', { recursive: true }).filter((path) => path.endsWith('.js')).map((path) => join('ui', path));
const text = Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')]));
const declared = (path) => text[path].split('\n').flatMap((line) => line.match(/^(?:class|(?:async )?function|const|let) (\w+)/)?.[1] ?? []);
const readable = (names) => Object.fromEntries(names.map((name) => [name, 'readonly']));

// A player that draws with another's scripts as well.
const BORROWS = { [join('ui', 'players', 'journey_player')]: join('ui', 'players', 'ring_player') };

// The scripts a script is joined with: its own folder's and the kit's, and what it borrows; with the kit's, everybody's.
const joined = (path) => paths.filter((other) => other !== path && (dirname(path) === KIT || [dirname(path), KIT, BORROWS[dirname(path)]].includes(dirname(other))));
const used = (path) => declared(path).filter((name) => joined(path).some((other) => new RegExp(`\\b${name}\\b`).test(text[other])));

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, sourceType: 'module', globals: readable(BROWSER.split(' ')) },
    rules: { 'prefer-const': 'error', 'no-var': 'error', eqeqeq: 'error', 'no-shadow': 'error', 'max-len': ['error', { code: 240 }] },
  },
  ...paths.map((path) => ({
    files: [path],
    languageOptions: { globals: readable(joined(path).flatMap(declared)) },
    rules: { 'no-unused-vars': ['error', { varsIgnorePattern: `^(${used(path).join('|')})$` }] },
  })),
];
