// The editor, bundled from npm into one module: open(place, text, label, changed, run) returns { text(), put(text) }.

import { indentWithTab } from '@codemirror/commands';
import { python } from '@codemirror/lang-python';
import { indentUnit } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { basicSetup } from 'codemirror';

const TELLS_AFTER_MS = 300;

export function open(place, text, label, changed, run) {
  let soon = 0;
  const tell = (view) => { clearTimeout(soon); soon = setTimeout(() => changed(view.state.doc.toString()), TELLS_AFTER_MS); };
  const look = EditorView.theme({
    '&': { maxHeight: '34rem', fontSize: '0.84rem' },
    '.cm-scroller': { overflow: 'auto', fontFamily: 'var(--st-code-font), monospace' },
    '.cm-gutters': { background: 'transparent' },
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
        basicSetup, python(), indentUnit.of('    '), look,
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
