# What has to be fetched for the other parts: a lighter browser, and bare environments.
sudo=$([ "$(id -u)" = 0 ] || echo sudo -n)
shell=chromium-headless-shell
command -v $shell >/dev/null || { $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends $shell >/dev/null; } \
  || echo "$shell cannot be had here: the whole browser takes a sixth more"

# an environment of an interpreter without a pip of its own, which takes longer than what it would install
bare() {
  "$1" -m venv --without-pip "$2"
  python -m pip --python "$2/bin/python" install -qq --no-compile "${@:3}"
}
# the interpreter of a version, wherever it was installed; nothing where there is none
python_of() { command -v "$HOME"/.pyenv/versions/"$1".*/bin/python || { "python$1" -V >/dev/null 2>&1 && echo "python$1"; }; }

for version in 3.12 3.13; do
  if python="$(python_of "$version" | head -1)" && [ -n "$python" ]; then
    bare "$python" "$1/$version" $(grep -hE '^(numpy|pytest|hypothesis)==' requirements.txt requirements-dev.txt)
  else
    echo "there is no Python $version on this machine"
  fi
done
