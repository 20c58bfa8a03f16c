# The static site, built once for its tests: its parts come from npm and PyPI, by their hashes.
sudo=$([ "$(id -u)" = 0 ] || echo sudo)
has() { command -v "$1" >/dev/null; }
has node && has npm || { $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null; } \
  || { echo "the site cannot be built here: there is no node with npm, and none can be installed"; exit 1; }
python -m scripts.static_site --out "$1/site" || { echo "the site cannot be built here: npm and PyPI have to be reached"; exit 1; }
