// The editor, bundled from npm into one module: open(place, text, label, changed, run) returns { text(), put(text) }.

import { indentWithTab } from '@codemirror/commands';
import { python } from '@codemirror/lang-python';
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup } from 'codemirror';

const TELLS_AFTER_MS = 300;

// The page's own colors, which are read in the light and in the dark.
const COLORS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--st-violet-text-color)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--st-green-text-color)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--st-red-text-color)' },
  { tag: tags.comment, color: 'var(--st-gray-text-color)', fontStyle: 'italic' },
]);

export function open(place, text, label, changed, run) {
  let soon = 0;
  const tell = (view) => { clearTimeout(soon); soon = setTimeout(() => changed(view.state.doc.toString()), TELLS_AFTER_MS); };
  const look = EditorView.theme({
    '&': { maxHeight: '34rem', fontSize: '0.84rem' },
    '.cm-scroller': { overflow: 'auto', fontFamily: 'var(--st-code-font), monospace' },
    '.cm-gutters': { background: 'transparent', color: 'var(--st-gray-text-color)', borderColor: 'var(--st-border-color)' },
    '.cm-activeLine, .cm-activeLineGutter': { background: 'color-mix(in srgb, currentColor 7%, transparent)', color: 'inherit' },
    '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': { background: 'color-mix(in srgb, currentColor 20%, transparent)' },
    '.cm-content': { caretColor: 'currentColor' },
    '.cm-cursor': { borderLeftColor: 'currentColor' },
  });
  const view = new EditorView({
    parent: place,
    root: place.getRootNode(),
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([{ key: 'Mod-Enter', run: () => { run(); return true; } }, indentWithTab]),
        syntaxHighlighting(COLORS), basicSetup, python(), indentUnit.of('    '), look,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of((update) => { if (update.docChanged) tell(update.view); }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    put: (whole) => { view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: whole } }); view.focus(); },
  };
}
