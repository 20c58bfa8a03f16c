# On each other Python that there is all of core is loaded, and the labs run with numpy and pytest alone; on the newest
# also the tests of what they are built of and graded by. Mutants of a lab are killed on one Python alone.
ground="--sample 20 $(printf 'tests/core/%s ' collectives comm_cost models pipeline_bubble sharding_math two_way_tp)"
load='import core, importlib, pkgutil
for module in pkgutil.walk_packages(core.__path__, "core."): importlib.import_module(module.name)'
for version in 3.13 3.12; do
  [ -x "$1/$version/bin/python" ] || { echo "not run: there is no Python $version on this machine"; continue; }
  echo "Python $version"
  "$1/$version/bin/python" - <<<"$load"
  # shellcheck disable=SC2086
  "$1/$version/bin/python" -m pytest -q $ground labs -m "not gpu" -p no:cacheprovider --ignore-glob '*_mutants_*'
  ground=
done
