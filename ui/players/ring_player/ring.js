// The ring player: the stopwatch runs freely, and a step goes from arrival to arrival.

const ROUND_MS = 550;
const SHORTEST_MS = 2500;
const LONGEST_MS = 9000;

class RingPlayer extends SvgPlayer {
  load() {
    const { stops, courses } = this.model;
    this.figure.dataset.named = courses[0].names.length > 0;
    this.stops = stops.map((stop) => stop.at);
    this.lasts = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, ROUND_MS * Math.max(...courses.map((course) => course.rounds.length))));
    super.load();
  }

  layOut(width) {
    return layOut(this.model, width);
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

  // Of one ring with numbers, what each rank holds now; of several, how far each has come.
  spoken() {
    const { courses: [first], words } = this.model;
    if (first.numbers.length) {
      const held = first.numbers[roundsDone(first, this.at)].map((numbers, rank) => filled(words.holds, { rank, numbers: numbers.join(' ') }));
      return `${this.position()}. ${held.join(', ')}.`;
    }
    const rounds = this.model.courses.map((course) => filled(this.model.words.rounds, { title: course.title, done: roundsDone(course, this.at), all: course.rounds.length }));
    return `${this.position()}. ${rounds.join(', ')}.`;
  }
}

export default mountAs(RingPlayer);
