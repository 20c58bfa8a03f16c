// The editor of a lab, its buttons, and a line for each task. `data` is { lab, files, sizes, starter, run_s, language, words }.

const made = (tag, set = {}, ...children) => { const one = Object.assign(document.createElement(tag), set); one.append(...children); return one; };
const kept = (lab) => `shardlab-lab-${lab}`;

function stored(lab) {
  try { return localStorage.getItem(kept(lab)); } catch { return null; } // nothing is kept, or nothing may be
}

function store(lab, text) {
  try { localStorage.setItem(kept(lab), text); return true; } catch { return false; }
}

class Solver {
  constructor(root, data, tell) {
    Object.assign(this, { root, data, tellPage: tell });
    const { words } = data;
    this.judge = new Judge(data.files, (told) => this.hear(told));
    this.place = made('div', { className: 'editor' });
    const button = (name, act, kind = '') => made('button', { type: 'button', textContent: words[name], onclick: act, className: kind });
    this.runs = button('run', () => this.run(), 'primary');
    this.brings = made('input', { type: 'file', accept: '.py', hidden: true });
    this.brings.onchange = () => this.bring();
    this.says = made('p', { className: 'says' });
    this.says.setAttribute('role', 'status');
    this.list = made('ol');
    this.receipt = made('div', { className: 'receipt', hidden: true });
    const buttons = made('div', { className: 'buttons' }, this.runs, button('take', () => this.take()), button('bring', () => this.brings.click()), button('anew', () => this.anew()), this.brings);
    root.append(this.place, made('p', { className: 'hint', textContent: words.hint }), buttons, this.says, this.list, this.receipt);
    // the page's shortcuts are no business of whoever writes
    for (const kind of ['keydown', 'keyup', 'keypress']) root.addEventListener(kind, (event) => event.stopPropagation());
    this.open();
  }

  async open() {
    const { lab, files, starter, words } = this.data;
    this.says.textContent = words.opening;
    const { open } = await import(at(files, 'editor.js'));
    this.editor = open(this.place, stored(lab) ?? starter, words.label, (text) => {
      if (!store(lab, text)) this.says.textContent = words.not_kept;
    }, () => this.run());
    this.says.textContent = '';
  }

  run() {
    if (!this.editor || this.judge.asked) return;
    const { lab, sizes, run_s: mostS, language } = this.data;
    this.runs.disabled = true;
    this.judge.run(lab, this.editor.text(), sizes, mostS, language);
  }

  hear(told) {
    const { words } = this.data;
    this.says.textContent = { loading: words.loading, running: words.running, overran: words.overran, broke: words.broke, judged: '' }[told.is];
    if (told.is === 'broke' && told.text) this.says.textContent += ` (${told.text.slice(0, 200)})`;
    if (told.is === 'loading' || told.is === 'running') return;
    this.runs.disabled = false;
    this.list.replaceChildren();
    this.receipt.hidden = true;
    if (told.is === 'judged') this.show(told.verdict);
    else this.tellPage('[]');
  }

  show({ tasks, rows, receipt }) {
    const { words } = this.data;
    const fill = (text, fields) => text.replace(/\{(\w+)\}/g, (_, name) => fields[name]);
    const done = tasks.filter((task) => task.passed === task.tests).length;
    this.says.textContent = fill(done === tasks.length ? words.all : words.some, { done, tasks: tasks.length });
    this.list.replaceChildren(...tasks.map((task) => {
      const right = task.passed === task.tests;
      const head = fill(words.task, { number: task.number, passed: task.passed, tests: task.tests });
      const line = made('li', { className: right ? 'right' : 'wrong' }, made('span', { className: 'sign', textContent: right ? '✓' : '✗' }), made('code', { textContent: task.name }), ` ${head}`);
      line.firstChild.setAttribute('aria-hidden', 'true');
      if (task.said) line.append(made('p', { textContent: task.said }));
      return line;
    }));
    if (done === tasks.length) {
      this.receipt.hidden = false;
      this.receipt.replaceChildren(made('p', { textContent: words.receipt }), made('code', { textContent: receipt }));
    }
    this.tellPage(JSON.stringify(rows));
  }

  take() {
    const link = made('a', { href: URL.createObjectURL(new Blob([this.editor.text()], { type: 'text/x-python' })), download: 'starter.py' });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
  }

  async bring() {
    const [file] = this.brings.files;
    if (file) this.editor.put(await file.text());
    this.brings.value = '';
  }

  anew() {
    if (window.confirm(this.data.words.sure)) this.editor.put(this.data.starter);
  }
}

export default function solve({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector('.solve');
  if (!root.solver) root.solver = new Solver(root, data, (rows) => root.solver.tell(rows));
  root.solver.data = data;
  root.solver.tell = (rows) => setTriggerValue('tried', rows);
}
