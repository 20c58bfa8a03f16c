# The labs with numpy and pytest alone; the arithmetic on the other Pythons that there are: every test, of its cases some.
"$1/labs/bin/python" -m pytest -q labs -m "not gpu" -p no:cacheprovider
for version in 3.12 3.13; do
  [ -x "$1/$version/bin/python" ] || { echo "not run: there is no Python $version on this machine"; continue; }
  echo "Python $version"
  "$1/$version/bin/python" -m pytest -q tests/core labs -p no:cacheprovider --sample 20
done
