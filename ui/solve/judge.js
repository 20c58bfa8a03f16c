// The worker that judges: it is started by the first run, kept for the next, and ended when a run takes too long.

// A server's visitors find the files at an address of it; where the app runs in the tab, beside the page.
const at = (files, name) => new URL(name, files ? new URL(files, location.href) : window.shardlab_base);

class Judge {
  constructor(files, tell) {
    this.files = files;
    this.tell = tell;
    this.asked = null;
  }

  start() {
    this.worker = new Worker(at(this.files, `lab_worker.js${this.files && '#alone'}`));
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = (event) => { event.preventDefault(); this.end('broke', event.message); };
  }

  run(lab, source, sizes, mostS, language) {
    if (!this.worker) this.start();
    this.asked = { lab, mostS };
    this.tell({ is: 'loading' });
    this.worker.postMessage({ lab, source, sizes, language });
  }

  hear(told) {
    if (told.is === 'running') {
      this.tell({ is: 'running' });
      this.timer = setTimeout(() => this.end('overran', ''), 1e3 * this.asked.mostS);
    } else if (told.is === 'judged') {
      clearTimeout(this.timer);
      this.asked = null;
      this.tell({ is: 'judged', verdict: JSON.parse(told.verdict) });
    } else if (told.is === 'broke') this.end('broke', told.text);
  }

  // A worker that was ended, or that broke, is not asked again: the next run gets a new one.
  end(why, text) {
    clearTimeout(this.timer);
    this.worker?.terminate();
    this.worker = null;
    this.asked = null;
    this.tell({ is: why, text });
  }
}
