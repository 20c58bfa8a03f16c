# The static site, built once for its tests: its parts come from npm and PyPI, by their hashes.
command -v node >/dev/null && command -v npm >/dev/null || { ${SUDO:-} apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null; }
python -m scripts.static_site --out "$1/site"
