#!/bin/sh
# Says what became of the call with this key, as a service would that can be asked.
while read -r key input; do
  if [ "$key" = "$PAWL_KEY" ]; then
    echo '{"outcome": "done", "result": "found"}'
    exit 0
  fi
done 2>/dev/null <ledger.reconcilable
echo '{"outcome": "absent"}'
