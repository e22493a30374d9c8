# Sourced by the scripts of the tour: a directory of their own with the charter in it, and a child
# pawl to kill.
set -eu

pawl=$PAWL_PROGRAM    # the very program that runs this tool
stage=$(mktemp -d)
child=
trap '[ -z "$child" ] || kill -9 "$child" 2>/dev/null || :; rm -rf "$stage"' EXIT
cp tour/pay.yaml tour/pay.script.yaml tour/charge.sh "$stage"
cd "$stage"
exec 3<"$pawl"        # stays usable even if the file is replaced meanwhile
pawl=/proc/self/fd/3

on_the_stage() { "$pawl" --data "$stage/data" "$@"; }

start_child() {
  "$pawl" --data "$stage/data" run pay.yaml --id customer-42 >child.log 2>&1 &
  child=$!
}

kill_child() {
  kill -9 "$child"
  wait "$child" 2>/dev/null || :
  child=
}

# wait_for COMMAND...: until it succeeds, or ten seconds have passed.
wait_for() {
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -gt 200 ]; then
      echo "waited in vain for: $*"
      cat child.log
      exit 1
    fi
    sleep 0.05
  done
}

charges_recorded() { [ "$(on_the_stage logs customer-42 | grep -c tool_finished)" -ge "$1" ]; }
charges_booked() { [ -e ledger.txt ] && [ "$(wc -l <ledger.txt)" -ge "$1" ]; }

show_ledger() {
  echo "The bank's ledger (key of the call, amount):"
  cut -c 1-12,65- ledger.txt | sed 's/^/    /'
}

# Every key once, and both charges.
check_ledger() {
  if [ "$(wc -l <ledger.txt)" -eq 2 ] && [ -z "$(cut -d ' ' -f 1 ledger.txt | sort | uniq -d)" ]
  then
    echo "Two charges, two different keys: nothing was charged twice."
  else
    echo "THE LEDGER IS WRONG."
    exit 1
  fi
}
