// Clicks at given times: one voice a row, high at the left and low at the right. Nothing sounds before it is asked for, and
// nothing is fetched: a click is a short tone that dies away.

const CLICK_S = 0.03, LOUD = 0.3, SILENT = 0.001;
const VOICES = [{ hertz: 1600, side: -0.6 }, { hertz: 500, side: 0.6 }];
const SOON_S = 0.05; // a browser's sound needs so long to begin

class Clicks {
  // Only within a press may a browser begin to sound.
  ready() {
    this.context ??= new window.AudioContext();
    this.context.resume();
  }

  // `rows` are the times of each voice's clicks, in seconds from now.
  play(rows) {
    this.stop();
    if (!this.context) return;
    this.all = this.context.createGain();
    this.all.connect(this.context.destination);
    const begin = this.context.currentTime + SOON_S;
    rows.forEach((times, row) => times.forEach((time) => this.click(VOICES[row], begin + time)));
  }

  click({ hertz, side }, at) {
    const [tone, gain, pan] = [this.context.createOscillator(), this.context.createGain(), this.context.createStereoPanner()];
    tone.frequency.value = hertz;
    pan.pan.value = side;
    gain.gain.setValueAtTime(LOUD, at);
    gain.gain.exponentialRampToValueAtTime(SILENT, at + CLICK_S);
    tone.connect(gain).connect(pan).connect(this.all);
    tone.start(at);
    tone.stop(at + CLICK_S);
  }

  stop() {
    this.all?.disconnect();
    this.all = null;
  }

  leave() {
    this.stop();
    this.context?.close();
    this.context = null;
  }
}
