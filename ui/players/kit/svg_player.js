// A player whose figure is one SVG and flows with its clock: its model is the payload as it came. It extends this with
// `drawn()`, a pen that has drawn the figure as it stands.

class SvgPlayer extends Player {
  flows = true;

  read(model) {
    return model;
  }

  load() {
    this.label();
    super.load();
  }

  label() {
    this.stage.setAttribute('aria-label', this.model.words.keys);
    this.find('.stage svg').setAttribute('aria-label', this.model.alt);
  }

  draw() {
    const svg = this.find('.stage svg');
    svg.setAttribute('viewBox', `0 0 ${this.layout.width} ${Math.ceil(this.layout.height)}`);
    svg.innerHTML = this.drawn().parts.join('');
  }

  saved() {
    const { width, height } = this.layout;
    return { name: `${this.model.name}.svg`, file: svgFile(this.drawn().document(width, Math.ceil(height))) };
  }
}
