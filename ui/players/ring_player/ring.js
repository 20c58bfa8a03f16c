// The ring player: the stopwatch runs freely, and a step goes from arrival to arrival.

const ROUND_MS = 550;
const SHORTEST_MS = 2500;
const LONGEST_MS = 9000;

class RingPlayer extends Player {
  flows = true;

  read(model) {
    return model;
  }

  load() {
    const { stops, courses, words, alt } = this.model;
    this.stops = stops.map((stop) => stop.at);
    this.lasts = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, ROUND_MS * Math.max(...courses.map((course) => course.rounds.length))));
    this.stage.setAttribute('aria-label', words.keys);
    this.find('.stage svg').setAttribute('aria-label', alt);
    super.load();
  }

  layOut(width) {
    return layOut(this.model, width);
  }

  draw() {
    const svg = this.find('.stage svg');
    svg.setAttribute('viewBox', `0 0 ${this.layout.width} ${Math.ceil(this.layout.height)}`);
    svg.innerHTML = this.drawn().parts.join('');
  }

  drawn() {
    const pen = svgPen(this.theme);
    drawFigure(pen, this.model, this.layout, this.theme, this.at);
    return pen;
  }

  position() {
    const { stops, words } = this.model;
    return filled(words.position, { now: stops[this.index].text, all: stops[stops.length - 1].text });
  }

  spoken() {
    const rounds = this.model.courses.map((course) => filled(this.model.words.rounds, { title: course.title, done: roundsDone(course, this.at), all: course.rounds.length }));
    return `${this.position()}. ${rounds.join(', ')}.`;
  }

  saved() {
    const { width, height } = this.layout;
    return { name: `${this.model.name}.svg`, file: svgFile(this.drawn().document(width, Math.ceil(height))) };
  }
}

export default mountAs(RingPlayer);
