# The static site, built once for its tests: its parts come from npm and PyPI, by their hashes. Where these cannot be
# reached the site's tests are skipped and say so; a build that fails with them at hand is an error.
sudo=$([ "$(id -u)" = 0 ] || echo sudo)
has() { command -v "$1" >/dev/null; }
has node && has npm || { $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null; } || true
reason=
has node && has npm || reason="there is no node with npm here, and none can be installed"
[ -n "$reason" ] || npm view pyodide version >/dev/null 2>&1 || reason="npm's registry cannot be reached"
[ -n "$reason" ] || python -m pip index versions numpy >/dev/null 2>&1 || reason="PyPI cannot be reached"
if [ -n "$reason" ]; then
  echo "$reason" | tee "$1/no-site"
else
  python -m scripts.static_site --out "$1/site"
fi
